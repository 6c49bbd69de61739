//! Captures in: anybody's packets, measured with the instruments of a simulated run.
//!
//! The problem: a capture is seen from one place (or two), begins and ends anywhere, cuts packets short, loses some, and
//! mixes connections. The known analyzers of Multipath TCP read version 0 only. This one reads version 1 (RFC 8684), in one
//! pass, with memory for the connections that are open and nothing else.
//!
//! From the file to the figures, in reading order:
//!
//! - [`source`], [`container`]: pcap and pcapng, record by record, in place; [`link`]: from the frame to the IP packet
//! - [`packet`]: a TCP segment and its options, by the views of `stack::wire`
//! - here: files merged by time, packets dealt out to subflows, joins matched to connections by token
//! - [`subflow`]: its two ends, and where it was captured; [`connection`]: handshakes, keys, both data streams
//! - [`sender`]: retransmissions, round-trip times; [`mapping`]: places in the data stream, DSS checksums
//! - [`order`], [`stream`]: reassembly at the receiver, by arrivals seen or estimated; [`crossing`]: between two places
//! - [`sequence`]: data sequence numbers over time; [`report`]: the same fields as a run's summary
//! - [`write`]: the other way, from a run to pcapng files
//! - [`error`]: what cannot be analysed, in one sentence each
//!
//! Left out: IP fragments (counted), MPTCP version 0 (counted), connections without any MPTCP option (counted).

mod connection;
mod container;
mod crossing;
mod error;
mod link;
mod mapping;
mod order;
mod packet;
mod report;
mod sender;
mod sequence;
mod source;
mod stream;
mod subflow;
pub mod write;

use std::collections::HashMap;
use std::fs::File;
use std::ops::ControlFlow;

use anabranch_stack::mptcp::keys;
use anabranch_stack::segment::Flags;
use anabranch_stack::wire::mptcp::MptcpOption;

use connection::Connection;
use container::Reader;
pub use error::Error;
use packet::{Content, MixBuilder, Packet, Tap, Tuple};
use report::Report;
pub use report::{Capture, DETAILED, LISTED};
pub use sequence::{Sort, Span, Window};
use source::Source;
use subflow::{CLIENT, Opening, SERVER, Subflow};

/// Records between two questions whether to go on.
const POLL: u64 = 1 << 16;

/// A connection is looked at once more this long after it closed: late segments, lost acknowledgements. Nanoseconds.
const LINGER: u64 = 30_000_000_000;

/// A handshake without an answer is forgotten after this.
const HALF_OPEN: u64 = 120_000_000_000;

/// How far an analysis is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Octets read of all files.
    pub octets: u64,
    /// Packets read.
    pub packets: u64,
}

/// What was read, connection or not.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// Records.
    pub packets: u64,
    /// Of these, TCP segments.
    pub tcp: u64,
    /// Of these, with an MPTCP option.
    pub mptcp: u64,
    /// IP fragments.
    pub fragments: u64,
    /// Records of link types that cannot be taken apart.
    pub unknown_link: u64,
    /// Connections of MPTCP version 0.
    pub version_0: u64,
    /// Time of the first record, nanoseconds since the epoch.
    pub first: u64,
    /// Of the last.
    pub last: u64,
}

/// Analyses `files`; `poll` is asked now and then whether to go on. `-` is standard input.
///
/// # Errors
/// If a file cannot be read, is no capture, or there is no MPTCP in any.
pub fn analyze(files: &[String], poll: &mut dyn FnMut(&Progress) -> ControlFlow<()>) -> Result<Capture, Error> {
    let mut readers = Vec::new();
    for file in files {
        let unreadable = |error| Error::Unreadable { file: file.clone(), error };
        let (name, source) = if file == "-" {
            ("<stdin>", Source::new(Box::new(std::io::stdin())))
        } else {
            let metadata = std::fs::metadata(file).map_err(unreadable)?;
            if metadata.is_dir() {
                return Err(unreadable(std::io::Error::other("it is a directory; name the files in it")));
            }
            (file.as_str(), Source::new(Box::new(File::open(file).map_err(unreadable)?)))
        };
        readers.push(Reader::open(name, source)?);
    }
    analyze_readers(readers, poll)
}

/// Analyses captures in memory: names and octets.
///
/// # Errors
/// As [`analyze`].
pub fn analyze_octets(captures: &[(&str, &[u8])]) -> Result<Capture, Error> {
    let open = |(name, octets): &(&str, &[u8])| {
        Reader::open(name, Source::new(Box::new(std::io::Cursor::new(octets.to_vec()))))
    };
    let readers = captures.iter().map(open).collect::<Result<_, _>>()?;
    analyze_readers(readers, &mut |_| ControlFlow::Continue(()))
}

fn analyze_readers(
    mut readers: Vec<Reader>,
    poll: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<Capture, Error> {
    if readers.is_empty() {
        return Err(Error::NoFiles);
    }
    let mut analysis = Analysis::default();
    let mut stopped = false;
    let mut open = Vec::new();
    for (i, reader) in readers.iter_mut().enumerate() {
        if reader.advance()? {
            open.push(i);
        } else if let Some((at, what)) = reader.cut {
            return Err(Error::Damaged { file: reader.name.clone(), at, what });
        }
    }
    // The file whose record is earliest; at equal times the first one named.
    while let Some(&i) = open.iter().min_by_key(|i| readers[**i].head().time) {
        let reader = &mut readers[i];
        analysis.on_record(i as u32, reader);
        if !reader.advance()? {
            open.retain(|o| *o != i);
        }
        if analysis.counts.packets % POLL == 0 {
            let octets = readers.iter().map(Reader::position).sum();
            if poll(&Progress { octets, packets: analysis.counts.packets }).is_break() {
                stopped = true;
                break;
            }
        }
    }
    let counts = analysis.counts;
    if let (true, Some((file, link))) = (counts.packets == counts.unknown_link, analysis.unknown_link) {
        return Err(Error::LinkType { file: readers[file as usize].name.clone(), link });
    }
    if analysis.started == 0 {
        let files = readers.iter().map(|r| r.name.clone()).collect();
        let Counts { packets, tcp, version_0, .. } = counts;
        return Err(Error::NoMptcp { files, packets, tcp, version_0 });
    }
    Ok(analysis.finish(&readers, stopped))
}

/// The analysis in progress.
#[derive(Debug, Default)]
struct Analysis {
    counts: Counts,
    /// Open connections; closed ones leave a free place.
    connections: Vec<Option<Box<Connection>>>,
    free: Vec<usize>,
    started: u64,
    /// Connection and subflow of each 4-tuple.
    flows: HashMap<Tuple, (usize, usize), MixBuilder>,
    /// Connection of each token.
    tokens: HashMap<u32, usize, MixBuilder>,
    /// The 4-tuple looked up last: usually the next one, too.
    latest: Option<(Tuple, (usize, usize))>,
    swept: u64,
    unknown_link: Option<(u32, u32)>,
    report: Report,
}

impl Analysis {
    fn on_record(&mut self, file: u32, reader: &Reader) {
        let (head, frame) = (*reader.head(), reader.data());
        let c = &mut self.counts;
        if c.packets == 0 {
            c.first = head.time;
        }
        c.packets += 1;
        c.last = c.last.max(head.time);
        if !link::is_known(head.link) {
            c.unknown_link += 1;
            self.unknown_link.get_or_insert((file, head.link));
            return;
        }
        let Some(inside) = link::inside(head.link, frame) else { return };
        let tap = Tap { file, interface: head.interface, index: inside.index };
        let sent = head.sent.saturating_sub(inside.before) as usize;
        // Times before the first record (another interface's, a clock set back) count as its time.
        let time = head.time.max(c.first);
        match packet::parse(inside.ip, sent, time, tap) {
            Content::Tcp(p) => {
                c.tcp += 1;
                c.mptcp += u64::from(p.multipath);
                self.on_segment(&p);
            }
            Content::Fragment => c.fragments += 1,
            Content::Other => {}
        }
        if time >= self.swept + HALF_OPEN / 4 {
            self.sweep(time);
        }
    }

    #[inline]
    fn on_segment(&mut self, p: &Packet<'_>) {
        let tuple = Tuple::of(p.src, p.dst);
        let known = match self.latest {
            Some((latest, flow)) if latest == tuple => Some(flow),
            _ => self.flows.get(&tuple).copied(),
        };
        let opens = p.flags.has(Flags::SYN) && !p.flags.has(Flags::ACK);
        let flow = match known {
            Some(flow) if !opens || !self.is_reused(flow, p) => Some(flow),
            _ if p.multipath => self.on_stranger(tuple, p),
            Some(_) => {
                // A plain TCP connection took the 4-tuple over.
                self.flows.remove(&tuple);
                self.latest = None;
                None
            }
            None => None,
        };
        let Some((c, i)) = flow else { return };
        self.latest = Some((tuple, (c, i)));
        let Some(connection) = &mut self.connections[c] else { return };
        connection.on_packet(i, p);
        while let Some(token) = connection.tokens.pop() {
            self.tokens.insert(token, c);
        }
    }

    /// A SYN on a 4-tuple that is known opens a new connection, unless it is the same SYN again.
    fn is_reused(&self, (c, i): (usize, usize), p: &Packet<'_>) -> bool {
        let Some(connection) = &self.connections[c] else { return true };
        let sub = &connection.subflows[i];
        let s = sub.side(p);
        sub.halves[s].mapper.iss.is_none_or(|iss| iss.wire() != p.seq)
    }

    /// A segment with an MPTCP option on a 4-tuple that is not known: a connection begins, a join, or it was there before
    /// the capture.
    fn on_stranger(&mut self, tuple: Tuple, p: &Packet<'_>) -> Option<(usize, usize)> {
        let opens = p.flags.has(Flags::SYN) && !p.flags.has(Flags::ACK);
        let mut opening = (Opening::Unseen, None);
        for option in p.signals() {
            match option {
                MptcpOption::CapableSyn { version, .. }
                | MptcpOption::CapableSynAck { version, .. }
                | MptcpOption::CapableAck { version, .. } => {
                    if version == 0 {
                        self.counts.version_0 += u64::from(opens);
                        return None;
                    }
                    opening.0 = Opening::Capable;
                }
                MptcpOption::JoinSyn { token, .. } => opening = (Opening::Join, Some(token)),
                MptcpOption::JoinSynAck { .. } | MptcpOption::JoinAck { .. } => opening.0 = Opening::Join,
                _ => {}
            }
        }
        // Who opened it: the sender of the SYN, the receiver of the SYN/ACK; else likely the one with the higher port.
        let forward = match (opens, p.flags.has(Flags::SYN)) {
            (true, _) => true,
            (_, true) => false,
            _ => p.src.1 >= p.dst.1,
        };
        let mut ends = if forward { [p.src, p.dst] } else { [p.dst, p.src] };
        let (mut opener, mut home) = (CLIENT, None);
        if let Some(token) = opening.1 {
            home = self.tokens.get(&token).copied().filter(|c| self.connections[*c].is_some());
            // RFC 8684 3.2: the token is the receiver's. If that is the connection's client, its server opened the subflow.
            let of_client = home.and_then(|c| self.connections[c].as_ref()).and_then(|c| c.keys[CLIENT]);
            if of_client.is_some_and(|key| keys::token(key) == token) {
                ends.swap(CLIENT, SERVER);
                opener = SERVER;
            }
        }
        let c = home.unwrap_or_else(|| self.open(p.time, opening.0 == Opening::Capable));
        if let (None, Some(token)) = (home, opening.1) {
            // Its keys were not seen; further joins with this token belong to it all the same.
            self.tokens.insert(token, c);
        }
        let connection = self.connections[c].as_mut()?;
        let mut subflow = Subflow::new(ends, opening.0, opener, p.time);
        subflow.token = opening.1;
        connection.subflows.push(subflow);
        let flow = (c, connection.subflows.len() - 1);
        self.flows.insert(tuple, flow);
        Some(flow)
    }

    fn open(&mut self, now: u64, matched: bool) -> usize {
        let connection = Some(Box::new(Connection::new(self.started, now, self.counts.first, matched)));
        self.started += 1;
        match self.free.pop() {
            Some(c) => {
                self.connections[c] = connection;
                c
            }
            None => {
                self.connections.push(connection);
                self.connections.len() - 1
            }
        }
    }

    /// Closes what is over.
    #[cold]
    fn sweep(&mut self, now: u64) {
        self.swept = now;
        for c in 0..self.connections.len() {
            let Some(connection) = &self.connections[c] else { continue };
            let quiet = now.saturating_sub(connection.last);
            let half_open = connection.subflows.iter().all(|f| f.syn != [true; 2] && f.opening != Opening::Unseen);
            if (connection.is_closed() && quiet > LINGER) || (half_open && quiet > HALF_OPEN) {
                self.close(c);
            }
        }
    }

    fn close(&mut self, c: usize) {
        let Some(mut connection) = self.connections[c].take() else { return };
        connection.finish();
        for (i, sub) in connection.subflows.iter().enumerate() {
            let tuple = sub.tuple();
            if self.flows.get(&tuple) == Some(&(c, i)) {
                self.flows.remove(&tuple);
            }
        }
        let tokens = connection.keys.iter().flatten().map(|key| keys::token(*key));
        for token in tokens.chain(connection.subflows.iter().filter_map(|f| f.token)) {
            if self.tokens.get(&token) == Some(&c) {
                self.tokens.remove(&token);
            }
        }
        self.latest = None;
        self.free.push(c);
        self.report.add(*connection, self.counts.first);
    }

    fn finish(mut self, readers: &[Reader], stopped: bool) -> Capture {
        for c in 0..self.connections.len() {
            self.close(c);
        }
        self.report.finish(&self.counts, readers, stopped)
    }
}
