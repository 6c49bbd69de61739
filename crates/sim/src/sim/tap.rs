//! Captures of a run: what goes through the interfaces of hosts, and over links that ask for it.
//!
//! An interface is a host's end of a link. Its capture has what the host sends, at the time it is sent (before the link's
//! queue, so a packet that the queue drops is there), and what reaches the host, damaged packets included, which have a wrong
//! TCP checksum. A link's capture has the packets of both directions when their transmission ends, those that are
//! lost on the wire included. Everything is in order of time, and at one time in the order of cause and effect.

use std::io;

use anabranch_pcap::write::{Output, Way, Writer};

use super::codec::Codec;
use super::packet::Packet;
use super::routes::DirectionId;
use anabranch_scenario::{Scenario, Stack};

/// The captures of a run.
#[derive(Debug)]
pub struct Taps {
    /// Of an end of a link: twice the link, plus one for its end `b`.
    interfaces: Vec<Option<Writer>>,
    links: Vec<Option<Writer>>,
    error: Option<io::Error>,
}

impl Taps {
    /// Begins all captures of `scenario`. `create` is given the name of each file: `HOST-K.pcapng` for the host's interface
    /// number K, `LINK.link.pcapng` for a link with `capture = true`.
    ///
    /// # Errors
    /// The first error of creating or writing a file; or that the scenario's packets have no bytes.
    pub fn new(scenario: &Scenario, create: &mut dyn FnMut(&str) -> io::Result<Output>) -> io::Result<Self> {
        if scenario.stack == Stack::Legacy2011 {
            let why = "the packets of the 2011 model have no bytes: remove stack = \"legacy-2011\" to capture";
            return Err(io::Error::new(io::ErrorKind::Unsupported, why));
        }
        let version = env!("CARGO_PKG_VERSION");
        let title = if scenario.title.is_empty() { "untitled" } else { &scenario.title };
        let about = format!("scenario \"{title}\", seed {}, anabranch {version}", scenario.seed);
        let mut open = |file: &str, interface: &str, what: &str| {
            let out = create(&format!("{file}.pcapng"))?;
            Writer::new(out, interface, &format!("anabranch {version}"), &format!("{about}; {what}"))
        };
        let mut taps = Self { interfaces: Vec::new(), links: Vec::new(), error: None };
        let mut counts = vec![0; scenario.nodes.len()];
        for link in &scenario.links {
            for end in [link.a, link.b] {
                let node = &scenario.nodes[end];
                let name = format!("{}-{}", node.name, counts[end]);
                counts[end] += 1;
                let what = format!("{}'s interface to link \"{}\"", node.name, link.name);
                taps.interfaces.push(if node.router { None } else { Some(open(&name, &name, &what)?) });
            }
            let file = format!("{}.link", link.name);
            let what = format!("link \"{}\"", link.name);
            taps.links.push(if link.capture { Some(open(&file, &link.name, &what)?) } else { None });
        }
        Ok(taps)
    }

    /// A host sends `packet` into direction `d`.
    pub fn on_send(&mut self, now: u64, d: DirectionId, packet: &Packet, path: usize, codec: &mut Codec) {
        let result = write(&mut self.interfaces[d], now, Way::Out, packet, path, codec);
        self.note(result);
    }

    /// Direction `d` brings `packet` to a host.
    pub fn on_arrival(&mut self, now: u64, d: DirectionId, packet: &Packet, path: usize, codec: &mut Codec) {
        let result = write(&mut self.interfaces[d ^ 1], now, Way::In, packet, path, codec);
        self.note(result);
    }

    /// The transmission of `packet` in direction `d` ends.
    pub fn on_transmitted(&mut self, now: u64, d: DirectionId, packet: &Packet, path: usize, codec: &mut Codec) {
        let result = write(&mut self.links[d / 2], now, Way::Either, packet, path, codec);
        self.note(result);
    }

    fn note(&mut self, result: io::Result<()>) {
        if let (Err(error), None) = (result, &self.error) {
            // After a failure nothing more is written: what is there stays a valid beginning.
            self.interfaces.iter_mut().chain(&mut self.links).for_each(|w| *w = None);
            self.error = Some(error);
        }
    }

    /// Returns true if a packet could not be written.
    pub fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    /// Ends the captures; the first error of writing them.
    ///
    /// # Errors
    /// That error.
    pub fn finish(mut self) -> io::Result<()> {
        for writer in self.interfaces.iter_mut().chain(&mut self.links).flatten() {
            let flushed = writer.flush();
            self.error = self.error.or(flushed.err());
        }
        self.error.map_or(Ok(()), Err)
    }
}

fn write(
    writer: &mut Option<Writer>,
    now: u64,
    way: Way,
    packet: &Packet,
    path: usize,
    codec: &mut Codec,
) -> io::Result<()> {
    let Some(writer) = writer else { return Ok(()) };
    let bytes = codec.emit(packet, path).map_err(io::Error::other)?;
    writer.packet(now, way, bytes)
}
