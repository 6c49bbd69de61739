//! A host under attack: [`Victim`], a server with a client that it has exchanged data with, and room for an attacker between them.
//!
//! - [`crate::attack_blind`]: who sees nothing of the connection and knows its addresses and ports
//! - [`crate::attack_signals`]: forged signals of Multipath TCP, blind and with all numbers right
//! - [`crate::attack_flood`]: SYNs, joins, tokens and addresses without end
//! - [`crate::attack_peer`]: a peer that lies about what it has, or makes work
//!
//! Which promise each test proves stands in `SECURITY.md`.

use anabranch_stack::event::Event;
use anabranch_stack::host::{Addresses, ConnectionId, Endpoint, Transmit};
use anabranch_stack::segment::{Flags, Segment};
use anabranch_stack::tcp::State;
use anabranch_stack::time::{Duration, Instant};
use anabranch_stack::{Config, Connection};

/// What the client has sent, and the server has read, before the attack.
pub const GREETING: &[u8] = b"what the client had to say";
/// What the server has answered.
pub const ANSWER: &[u8] = b"and what it was told";

/// Buffers as programs have them (the default of `Config` is without bound), and as much as a window without scaling can say. No
/// timestamps: with them, an attacker has to guess a recent one, too (RFC 7323 5.3; a segment without one is dropped).
pub fn config(mptcp: bool) -> Config {
    let buffer = Some(65_535);
    Config::classic().mptcp(mptcp).receive_buffer(buffer).send_buffer(buffer).nagle(false).timestamps(false)
}

/// A server, and a client of it on a path without delay.
pub struct Victim {
    /// The time.
    pub now: Instant,
    /// The client, and the server.
    pub ends: [Endpoint; 2],
    /// The connection at each.
    pub ids: [ConnectionId; 2],
    /// 4-tuple of the first subflow as the server sees it.
    pub addresses: Addresses,
    /// Events of the server.
    pub events: Vec<Event>,
    /// Sequence numbers of the client's and of the server's next octet, on the first subflow.
    next: [u32; 2],
}

/// What of a connection an attacker might want to change.
#[derive(Debug, PartialEq)]
pub struct Condition {
    multipath: bool,
    received: u64,
    held: (u64, u64),
    unacknowledged: u64,
    states: Vec<State>,
    windows: Vec<(f64, f64, u64)>,
    backups: Vec<bool>,
    addresses: usize,
}

impl Victim {
    /// Client and server have said their sentences, and nothing is under way.
    pub fn new(config: &Config) -> Self {
        let mut ends = [Endpoint::new([1; 32]), Endpoint::new([2; 32])];
        ends[1].listen(80, config.clone());
        let addresses = Addresses { local: ([10, 0, 0, 2], 80).into(), remote: ([10, 0, 0, 1], 1000).into() };
        let id = ends[0].connect(Instant::ZERO, addresses.reversed(), config.clone()).expect("it is free");
        let mut v = Self { now: Instant::ZERO, ends, ids: [id; 2], addresses, events: Vec::new(), next: [0; 2] };
        v.exchange();
        v.ids[1] = v.ends[1].connections().next().expect("it was accepted");
        for (side, text) in [(0, GREETING), (1, ANSWER)] {
            assert_eq!(v.ends[side].write(v.ids[side], text), Ok(text.len()));
            v.exchange();
            assert_eq!(v.read(1 - side), text);
        }
        v.wait(Duration::from_secs(10));
        v
    }

    /// All that both sides send reaches the other.
    pub fn exchange(&mut self) {
        loop {
            let mut quiet = true;
            for side in 0..2 {
                while let Some(t) = self.ends[side].poll_transmit(self.now) {
                    self.note(side, &t);
                    self.ends[1 - side].handle_packet(self.now, t.addresses.reversed(), &t.segment, &t.payload);
                    quiet = false;
                }
            }
            self.events.extend(std::iter::from_fn(|| self.ends[1].poll_event()).map(|(_, event)| event));
            if quiet {
                return;
            }
        }
    }

    fn note(&mut self, side: usize, t: &Transmit) {
        let has = |flag| u32::from(t.segment.flags.has(flag));
        if [t.addresses, t.addresses.reversed()].contains(&self.addresses) && !t.segment.flags.has(Flags::RST) {
            self.next[side] = t.segment.seq.wrapping_add(t.segment.payload.len + has(Flags::SYN) + has(Flags::FIN));
        }
    }

    /// Time passes; timers run, and what they send arrives.
    pub fn wait(&mut self, duration: Duration) {
        let until = self.now + duration;
        self.exchange();
        while let Some(at) = self.ends.iter().filter_map(Endpoint::poll_timeout).min().filter(|&at| at <= until) {
            self.now = at.max(self.now);
            self.ends.iter_mut().for_each(|end| end.handle_timeout(at));
            self.exchange();
        }
        self.now = until;
    }

    /// The number of the client's next octet, and of the server's: what an attacker would like to know.
    pub fn numbers(&self) -> (u32, u32) {
        (self.next[0], self.next[1])
    }

    /// A segment with both numbers right, a small window and nothing else.
    pub fn genuine(&self, flags: Flags) -> Segment {
        let (seq, ack) = self.numbers();
        Segment { seq, ack, flags, window: 1, ..Segment::default() }
    }

    /// The attacker's segment arrives at the server. What the server says to it does not reach anyone.
    pub fn forge(&mut self, segment: &Segment, octets: &[u8]) -> Vec<Transmit> {
        self.ends[1].handle_packet(self.now, self.addresses, segment, octets);
        self.answers()
    }

    /// What the server says now.
    pub fn answers(&mut self) -> Vec<Transmit> {
        let out: Vec<_> = std::iter::from_fn(|| self.ends[1].poll_transmit(self.now)).collect();
        self.events.extend(std::iter::from_fn(|| self.ends[1].poll_event()).map(|(_, event)| event));
        out
    }

    /// The server's connection.
    pub fn connection(&self) -> &Connection {
        self.ends[1].connection(self.ids[1]).expect("it is still there")
    }

    /// What the server's connection is like.
    pub fn condition(&self) -> Condition {
        let c = self.connection();
        let subflows = c.subflows();
        Condition {
            multipath: c.is_multipath(),
            received: c.inbound().received(),
            held: c.inbound().held(),
            unacknowledged: c.outbound().unacknowledged(),
            states: subflows.iter().map(|s| s.state()).collect(),
            windows: subflows.iter().map(|s| (s.cwnd(), s.ssthresh(), s.octets_in_flight())).collect(),
            backups: (0..subflows.len()).map(|id| c.is_backup(id)).collect(),
            addresses: c.peer_addresses().len(),
        }
    }

    /// All that an end can read.
    pub fn read(&mut self, side: usize) -> Vec<u8> {
        let mut octets = vec![0; 70_000];
        let n = self.ends[side].read(self.ids[side], &mut octets).expect("it is still there");
        octets.truncate(n);
        octets
    }

    /// The connection still carries what is written, both ways.
    pub fn works(&mut self) {
        for side in 0..2 {
            let text = format!("octets of end {side} at {}", self.now);
            assert_eq!(self.ends[side].write(self.ids[side], text.as_bytes()), Ok(text.len()));
            self.wait(Duration::from_secs(300));
            assert_eq!(String::from_utf8(self.read(1 - side)), Ok(text));
        }
    }
}
