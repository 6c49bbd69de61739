//! What is seen of a run from outside, record by record of its trace: who sent, heard and read what.
//!
//! It counts again what the accounts of the run count, by other means, and holds each record to what must hold at once:
//! octets are read in order and once; nothing is sent beyond the window that its sender has heard of, or beyond its congestion window;
//! congestion windows are numbers.

use std::cell::RefCell;
use std::rc::Rc;

use anabranch_sim::scenario::middlebox::{Kind as Does, Middlebox, Pattern};
use anabranch_sim::scenario::{Connection, Protocol, Scenario, Stack};
use anabranch_sim::sim::link::Drop;
use anabranch_sim::sim::packet::Packet;
use anabranch_sim::sim::trace::{Kind, Watch};
use anabranch_stack::event::SendKind;
use anabranch_stack::mptcp::keys;
use anabranch_stack::segment::{DataAck, Flags, Mptcp, Segment};

use super::flight::Flight;

/// What one direction of a connection has brought to the application.
#[derive(Clone, Copy, Debug, Default)]
pub struct Way {
    /// Octets read.
    pub read: u64,
    /// When the first and the last were read, and the longest time between two readings; nanoseconds.
    pub first: Option<u64>,
    /// When the last octet was read.
    pub last: u64,
    /// The longest time in which nothing was read.
    pub gap: u64,
}

/// One 4-tuple.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tuple {
    /// Segments with payload that were sent, by the client and by the server.
    pub segments: [u64; 2],
    /// Packets that queues dropped.
    pub queue_drops: u64,
    /// Packets that were too long for a link.
    pub mtu_drops: u64,
    /// When one of these four was counted last, and how many of each were then: segments of the client and of the server, and both drops.
    pub last: (u64, [u64; 4]),
    /// Segments of any kind that were sent.
    pub sent: u64,
    /// Of TCP: the right edge of the window as each host has heard it, relative to its first sequence number.
    edge: [Option<u32>; 2],
    /// The shift of the windows that each host sends.
    shift: [u8; 2],
    /// What the sender of the transfer has in flight.
    flight: Flight,
}

impl Tuple {
    fn note(&mut self, now: u64, what: usize, count: u64) {
        if count > 0 && self.last.0 != now {
            self.last = (now, [0; 4]);
        }
        self.last.1[what] += count;
    }

    /// How many of `what` were counted in the nanosecond `now`.
    pub fn within(&self, now: u64, what: usize) -> u64 {
        if self.last.0 == now { self.last.1[what] } else { 0 }
    }
}

/// One connection.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    protocol: Option<Protocol>,
    /// Which host sends the transfer, and tells its congestion windows.
    sender: usize,
    /// Its first window, and its largest segments, in octets.
    initial: f64,
    mss: f64,
    /// What the server has read, and what the client has.
    pub ways: [Way; 2],
    /// 4-tuples.
    pub tuples: Vec<Tuple>,
    /// The data sequence number of the first octet of each host, once it was seen.
    first: [Option<u64>; 2],
    /// The right edge of the peer's window as each host has heard it, as an offset in its stream; and its DATA_ACK.
    heard: [(u64, u64); 2],
    shift: [u8; 2],
    /// The sequence number of the client's SYN, and how many octets of its data the server took.
    fast: (u32, u32),
    /// It goes on without mappings: the window counts from the subflow's acknowledgement.
    fallen: bool,
}

/// What was seen of a run.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// Connections.
    pub flows: Vec<Flow>,
    /// The first thing that must not be: which invariant, when and what.
    pub fault: Option<(&'static str, String)>,
    /// Windows and options are what the hosts wrote: no middlebox on any path changes them.
    plain: bool,
}

impl Ledger {
    /// An empty ledger for a run of `scenario`.
    pub fn new(scenario: &Scenario) -> Self {
        let windows = scenario.stack == Stack::Anabranch;
        let flow = |c: &Connection| {
            let (protocol, mss) = (Some(c.protocol).filter(|_| windows), f64::from(c.config.mss));
            let (sender, initial) = (usize::from(!c.transfer.up), mss * f64::from(c.config.initial_window));
            Flow { protocol, sender, initial, mss, ..Flow::default() }
        };
        let flows = scenario.connections.iter().map(flow).collect();
        let leaves_alone = |b: &Middlebox| match b.kind {
            Does::Replay { .. } => true,
            Does::Acks { how, .. } => how != Pattern::Optimistic,
            _ => false,
        };
        let plain = scenario.links.iter().flat_map(|l| &l.middleboxes).all(leaves_alone);
        Self { flows, fault: None, plain }
    }

    fn note(&mut self, invariant: &'static str, what: impl FnOnce() -> String) {
        if self.fault.is_none() {
            self.fault = Some((invariant, what()));
        }
    }
}

/// A ledger that a run writes into and its caller reads.
#[derive(Clone, Debug)]
pub struct Shared(pub Rc<RefCell<Ledger>>);

/// Which host sends it: 0 is the client.
fn side(packet: &Packet) -> usize {
    usize::from(!packet.up)
}

impl Watch for Shared {
    fn segment(&mut self, now: u64, kind: Kind, packet: &Packet, dropped: Option<Drop>) {
        let ledger = &mut *self.0.borrow_mut();
        let flow = &mut ledger.flows[packet.connection as usize];
        let number = packet.tuple as usize;
        if flow.tuples.len() <= number {
            flow.tuples.resize(number + 1, Tuple::default());
        }
        let tuple = &mut flow.tuples[number];
        match kind {
            Kind::Send => {
                tuple.sent += 1;
                let data = u64::from(packet.segment.payload.len > 0);
                tuple.segments[side(packet)] += data;
                tuple.note(now, side(packet), data);
                if ledger.plain {
                    if let Some(beyond) = flow.leaves(packet) {
                        ledger.note("beyond the window", || format!("at {} s {beyond}", seconds(now)));
                    } else if let Some((flight, window)) = flow.flies(packet) {
                        ledger.note("flights", || {
                            format!(
                                "at {} s subflow {number} sends new data and has {flight} octets in flight, its congestion window is {window}",
                                seconds(now)
                            )
                        });
                    }
                }
            }
            Kind::Arrive if ledger.plain => flow.arrives(packet),
            Kind::Drop => {
                let queue = u64::from(matches!(dropped, Some(Drop::Queue | Drop::Age)));
                let mtu = u64::from(dropped == Some(Drop::Mtu));
                tuple.queue_drops += queue;
                tuple.mtu_drops += mtu;
                tuple.note(now, 2, queue);
                tuple.note(now, 3, mtu);
            }
            _ => {}
        }
    }

    fn deliver(&mut self, now: u64, connection: u32, up: bool, offset: u64, octets: u64) {
        let ledger = &mut *self.0.borrow_mut();
        let flow = &mut ledger.flows[connection as usize];
        let datagrams = flow.protocol == Some(Protocol::Udp);
        let way = &mut flow.ways[usize::from(!up)];
        let expected = way.read;
        match way.first {
            None => way.first = Some(now),
            Some(_) => way.gap = way.gap.max(now - way.last),
        }
        way.last = now;
        way.read += octets;
        if offset != expected && !datagrams {
            ledger.note("once and in order", || {
                format!("at {} s connection {connection} reads from {offset}, after {expected} octets", seconds(now))
            });
        }
    }

    fn window(&mut self, now: u64, connection: u32, tuple: u32, cwnd: f64, ssthresh: f64) {
        let flow = &mut self.0.borrow_mut().flows[connection as usize];
        if let Some(tuple) = flow.tuples.get_mut(tuple as usize) {
            tuple.flight.set_window(cwnd);
        }
        if !(cwnd > 0.0 && cwnd.is_finite() && ssthresh >= 0.0) {
            self.0.borrow_mut().note("windows", || {
                format!(
                    "at {} s connection {connection}, subflow {tuple} has cwnd {cwnd}, ssthresh {ssthresh}",
                    seconds(now)
                )
            });
        }
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

impl Flow {
    /// A segment leaves its host; says by how much it is beyond the window, if it is.
    fn leaves(&mut self, packet: &Packet) -> Option<String> {
        let (host, seg) = (side(packet), &packet.segment);
        // A host scales alike on all its subflows.
        if seg.flags.has(Flags::SYN) {
            self.shift[host] = seg.options.window_scale.unwrap_or(0);
            self.tuples[packet.tuple as usize].shift[host] = self.shift[host];
        }
        self.learn(host, &seg.options.mptcp);
        if host == 0 && packet.tuple == 0 && seg.flags.has(Flags::SYN) {
            self.fast.0 = seg.seq;
            if seg.payload.len > 0 {
                // RFC 7413 4.2.1: they leave before a window is known, and may be sent again beyond it (RFC 9293 3.8.6, MAY-7).
                self.heard[0].0 = seg.payload.len.into();
                self.tuples[0].edge[0] = Some(seg.seq.wrapping_add(1 + seg.payload.len));
                return None;
            }
        }
        if seg.payload.len == 0 {
            return None;
        }
        let beyond = u64::from(packet.kind != SendKind::New);
        match self.protocol? {
            Protocol::Udp => None,
            Protocol::Tcp => {
                let edge = self.tuples[packet.tuple as usize].edge[host]?;
                let end = seg.seq.wrapping_add(seg.payload.len);
                let over = end.wrapping_sub(edge) as i32;
                (over > beyond as i32).then(|| {
                    format!("subflow {} sends {over} octets beyond the window as {:?}", packet.tuple, packet.kind)
                })
            }
            Protocol::Mptcp => {
                let mapping = seg.dss().and_then(|dss| dss.mapping);
                self.fallen |= mapping.is_some_and(|m| m.len == 0);
                mapping.filter(|_| !self.fallen)?;
                let (end, heard) = (seg.payload.offset + u64::from(seg.payload.len), self.heard[host].0);
                (end > heard + beyond).then(|| {
                    format!(
                        "subflow {} sends up to {end} as {:?}, against a window up to {heard}",
                        packet.tuple, packet.kind
                    )
                })
            }
        }
    }

    /// A segment leaves its host; returns what is then in flight and the congestion window, if that is too much.
    fn flies(&mut self, packet: &Packet) -> Option<(u32, f64)> {
        let tcp = self.protocol.is_some_and(|protocol| protocol != Protocol::Udp);
        let flight = &mut self.tuples[packet.tuple as usize].flight;
        let sends = tcp && side(packet) == self.sender;
        sends.then(|| flight.sends(&packet.segment, packet.kind, self.initial, self.mss)).flatten()
    }

    /// The keys of a handshake say where data sequence numbers begin (RFC 8684 3.1).
    fn learn(&mut self, host: usize, option: &Mptcp) {
        let first = |key| Some(keys::initial_dsn(key).wrapping_add(1));
        match *option {
            Mptcp::CapableSynAck { key, .. } => self.first[host] = first(key),
            Mptcp::CapableAck { sender_key, .. } => {
                // RFC 8684 B.2: the data of the SYN have no data sequence numbers.
                self.first[host] = first(sender_key).map(|first| first.wrapping_sub(self.fast.1.into()));
            }
            _ => {}
        }
    }

    /// A segment arrives: what its receiver may send from now on.
    fn arrives(&mut self, packet: &Packet) {
        let (peer, seg) = (side(packet), &packet.segment);
        let host = 1 - peer;
        let shift = if seg.flags.has(Flags::SYN) { 0 } else { self.shift[peer] };
        let window = u64::from(seg.window) << shift;
        let tuple = &mut self.tuples[packet.tuple as usize];
        if host == self.sender {
            tuple.flight.hears(seg);
        }
        if seg.flags.has(Flags::ACK) {
            let edge = seg.ack.wrapping_add(window as u32);
            let later = tuple.edge[host].is_none_or(|before| edge.wrapping_sub(before) as i32 > 0);
            if later {
                tuple.edge[host] = Some(edge);
            }
        } else if seg.flags.has(Flags::SYN) {
            // The server answers, and may send so much.
            tuple.edge[host] = None;
        }
        if packet.tuple == 0 && host == 0 && seg.flags.has(Flags::SYN) && seg.flags.has(Flags::ACK) {
            self.fast.1 = seg.ack.wrapping_sub(self.fast.0).wrapping_sub(1);
            self.heard[host].1 = self.heard[host].1.max(self.fast.1.into());
        }
        let (edge, ack) = self.heard[host];
        let offset = self.data_ack(seg, host, ack).unwrap_or(if seg.flags.has(Flags::SYN) { ack } else { 0 });
        self.heard[host] = (edge.max(offset + window), ack.max(offset));
    }

    /// The DATA_ACK of a segment as an offset in the stream of `host`, near one that is known.
    fn data_ack(&self, seg: &Segment, host: usize, near: u64) -> Option<u64> {
        let Mptcp::Dss(dss) = &seg.options.mptcp else { return None };
        let first = self.first[host]?;
        let ahead = match dss.data_ack? {
            DataAck::Four(low) => i64::from(low.wrapping_sub((first as u32).wrapping_add(near as u32)) as i32),
            DataAck::Eight(dsn) => dsn.wrapping_sub(first.wrapping_add(near)) as i64,
        };
        Some(near.saturating_add_signed(ahead))
    }
}
