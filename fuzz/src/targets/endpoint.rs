//! A client and a server, their applications and the network between them, all played by the input: segments are delivered,
//! dropped, repeated, kept back, damaged as bytes, or made up. Whatever happens, nothing panics and neither host talks without
//! end; what a host sends fits into a packet and survives its bytes; and as long as no octet was damaged or made up, nobody
//! receives more than was written, or reads what was not received.
//!
//! [`LIAR`] is the same with peers that know all numbers and keys, and lie: acknowledgements of what they do not have, split ones, old ones and
//! the same without end, blocks and DATA_ACKs of anything, addresses, priorities, failures and ends, windows of any size.

use std::collections::VecDeque;
use std::mem::discriminant;
use std::net::SocketAddr;

use anabranch_stack::config::{Acknowledgement, DelayedAck};
use anabranch_stack::event::SubflowId;
use anabranch_stack::mptcp::connection::reset_for;
use anabranch_stack::mptcp::keys::{self, Entropy};
use anabranch_stack::registry::{Choice, Kind};
use anabranch_stack::segment::{
    AddrId, AddrIds, Advertised, DataAck, Dss, Flags, Mapping, Mptcp, Payload, Segment, Signal,
};
use anabranch_stack::time::{Duration, Instant};
use anabranch_stack::wire::option::Iter;
use anabranch_stack::wire::segment::{Envelope, emit, parse, parse_options};
use anabranch_stack::{Config, Connection, Linger};

use super::kind;
use crate::Target;
use crate::input::{Input, Rng};

/// The target.
pub const TARGET: Target = Target {
    name: "endpoint",
    holds: "no segment makes a host panic or talk without end; what it sends survives its bytes; without forgery streams stay whole",
    run,
    seeds,
};

/// The same with liars.
pub const LIAR: Target = Target {
    name: "liar",
    holds: "as endpoint, with peers that know all numbers and keys, and lie",
    run: run_with_liars,
    seeds,
};

/// A scripted life: handshake, data both ways, a join, the end; then lives by chance.
fn seeds() -> Vec<Vec<u8>> {
    let mut rng = Rng(4);
    let calm: Vec<u8> = std::iter::repeat_n([0, 1, 0, 1, 10, 0, 1, 13, 0, 1, 0, 1, 9, 11], 12).flatten().collect();
    let mut seeds = vec![[&[0x0f, 0, 0, 0][..], &calm, &[12, 0, 1, 28, 0, 1, 9, 0, 1, 0, 1, 9, 0, 1]].concat()];
    for _ in 0..60 {
        let n = 40 + rng.below(300);
        seeds.push(rng.octets(n));
    }
    seeds
}

/// Segments a host may send at one moment: its window is far smaller.
const ENDLESS: usize = 20_000;
/// Steps of a script that are played.
const STEPS: usize = 500;

struct Host {
    endpoint: Option<Connection>,
    /// Subflow of each 4-tuple.
    subflows: Vec<Option<SubflowId>>,
    entropy: Entropy,
    written: u64,
    read: u64,
    closed: bool,
}

impl Host {
    /// `tuple` is `subflow`: a new one, or in place of a join that came to nothing.
    fn bind(&mut self, tuple: usize, subflow: SubflowId) {
        self.subflows.iter_mut().filter(|s| **s == Some(subflow)).for_each(|s| *s = None);
        self.subflows.resize(self.subflows.len().max(tuple + 1), None);
        self.subflows[tuple] = Some(subflow);
    }
}

struct World {
    config: Config,
    hosts: [Host; 2],
    /// What is under way from each host, with its 4-tuple.
    wires: [VecDeque<(Segment, usize)>; 2],
    tuples: usize,
    now: Instant,
    forged: bool,
    /// Segments are not made up, but lies.
    liars: bool,
    bytes: Vec<u8>,
    seen: u64,
}

fn nth<T: ?Sized + Kind>(n: usize) -> Choice<T> {
    let mut all = Choice::all();
    all.swap_remove(n % all.len())
}

fn config(i: &mut Input<'_>) -> Config {
    let switches = i.u8();
    let on = |bit: u8| switches & 1 << bit != 0;
    let choice = i.u8() as usize;
    let more = i.u8();
    Config::default()
        .mptcp(on(0))
        .sack(on(1))
        .timestamps(on(2))
        .nagle(on(3))
        .ecn(on(4))
        .checksum(on(5))
        .acknowledgement(if on(6) && on(7) { Acknowledgement::Coupled } else { Acknowledgement::Independent })
        .controller(nth(choice))
        .judge(nth(choice / 16))
        .scheduler(nth(usize::from(more)))
        .delayed_ack(if more & 16 != 0 { DelayedAck::Off } else { DelayedAck::After(Duration::from_millis(40)) })
        .receive_buffer((more & 32 != 0).then_some(5000))
        .mss([1400, 1, 536, 9000][usize::from(more >> 6)])
        .max_retransmissions(3)
}

fn run(octets: &[u8]) -> u64 {
    play(octets, false)
}

fn run_with_liars(octets: &[u8]) -> u64 {
    play(octets, true)
}

fn play(octets: &[u8], liars: bool) -> u64 {
    let mut i = Input(octets);
    let config = config(&mut i);
    let host = |n: u8| Host {
        endpoint: None,
        subflows: Vec::new(),
        entropy: Entropy::new([n; 32]),
        written: 0,
        read: 0,
        closed: false,
    };
    let mut world = World {
        config,
        hosts: [host(1), host(2)],
        wires: Default::default(),
        tuples: 1,
        now: Instant::ZERO,
        forged: false,
        liars,
        bytes: Vec::new(),
        seen: 0,
    };
    world.hosts[0].endpoint = Some(Connection::connect(world.config.clone(), world.hosts[0].entropy.clone()));
    world.hosts[0].subflows.push(Some(0));
    world.settle();
    for _ in 0..STEPS {
        if i.is_empty() {
            break;
        }
        world.step(&mut i);
        world.settle();
    }
    let count = |h: &Host| h.endpoint.as_ref().map_or(0, |e| e.subflows().len().min(4));
    kind((world.seen, world.hosts.iter().map(count).collect::<Vec<_>>()))
}

impl World {
    fn step(&mut self, i: &mut Input<'_>) {
        let op = i.u8();
        let (what, side, extra) = (op & 15, usize::from(op & 1), op >> 4);
        match what {
            0..=3 => {
                for _ in 0..=extra {
                    if let Some((segment, tuple)) = self.wires[side].pop_front() {
                        self.deliver(1 - side, tuple, &segment);
                        self.settle();
                    }
                }
            }
            4 | 5 => {
                if let Some(first) = self.wires[side].pop_front() {
                    match extra {
                        0..=5 => {}                                 // lost
                        6..=9 => self.wires[side].push_back(first), // overtaken
                        _ => {
                            self.wires[side].push_back(first); // twice
                            self.deliver(1 - side, first.1, &first.0);
                        }
                    }
                }
            }
            6 | 7 if self.liars => self.lie(side, extra, i),
            6 | 7 => self.forge(side, i),
            8 => self.pass(Duration::from_millis(1 << extra)),
            9 => {
                let next = |h: &Host| h.endpoint.as_ref().and_then(Connection::poll_timeout);
                if let Some(at) = self.hosts.iter().filter_map(next).min() {
                    self.pass(at.max(self.now) - self.now);
                }
            }
            10 | 11 => {
                let host = &mut self.hosts[side];
                if let (Some(endpoint), false) = (&mut host.endpoint, host.closed) {
                    let octets = 1 << extra;
                    endpoint.write(octets);
                    host.written += octets;
                }
            }
            12 => {
                let host = &mut self.hosts[usize::from(extra & 1)];
                if let Some(endpoint) = &mut host.endpoint {
                    match extra {
                        13 => endpoint.close(Linger::Deliver),
                        14 => endpoint.abort(),
                        15 => endpoint.fast_close(),
                        _ => endpoint.shutdown_write(),
                    }
                    host.closed = true;
                }
            }
            13 => {
                let id = extra & 3;
                if let Some(subflow) = self.hosts[0].endpoint.as_mut().and_then(|e| e.open_subflow(id, id, extra > 11))
                {
                    let tuple = self.tuples;
                    self.tuples += 1;
                    self.hosts[0].bind(tuple, subflow);
                }
            }
            14 => {
                let id = extra & 3;
                if let Some(endpoint) = &mut self.hosts[1].endpoint {
                    let addr = [10, 0, id, 2].into();
                    match extra >> 2 {
                        0 | 1 => endpoint.advertise(AddrId { id, addr }, None),
                        2 => endpoint.withdraw(id),
                        _ => {
                            if usize::from(id) < endpoint.subflows().len() {
                                endpoint.set_backup(id.into(), true);
                            }
                        }
                    }
                }
            }
            _ => {
                if let Some(endpoint) = &mut self.hosts[usize::from(extra & 1)].endpoint {
                    let octets = endpoint.read(1 << (extra >> 1));
                    self.hosts[usize::from(extra & 1)].read += octets;
                }
            }
        }
    }

    fn pass(&mut self, duration: Duration) {
        self.now += duration;
        for endpoint in self.hosts.iter_mut().filter_map(|h| h.endpoint.as_mut()) {
            endpoint.handle_timeout(self.now);
        }
    }

    /// A segment that is not what a host sent: its bytes damaged, or its options and numbers made up.
    fn forge(&mut self, side: usize, i: &mut Input<'_>) {
        let Some(&(mut segment, tuple)) = self.wires[side].front() else { return };
        self.forged = true;
        if i.flag() {
            self.wires[side].pop_front();
            self.bytes.clear();
            emit(&segment, &envelope(), None, |_| {}, &mut self.bytes).expect("hosts send what fits");
            for _ in 0..1 + i.below(8) {
                // Of the headers: the payload is nothing but zeros.
                let at = usize::from(i.u8()) % self.bytes.len().min(80);
                self.bytes[at] = i.u8();
            }
            match parse(&self.bytes) {
                Ok((damaged, ..)) => segment = damaged,
                Err(_) => return,
            }
        } else {
            let n = i.below(41);
            segment.options = parse_options(Iter::new(i.take(n)));
            segment.flags = Flags(i.u8());
            let step = |i: &mut Input<'_>| i32::from(i.u16() as i16) << (i.u8() % 17);
            segment.seq = segment.seq.wrapping_add_signed(step(i));
            segment.ack = segment.ack.wrapping_add_signed(step(i));
            segment.payload = Payload { sum: i.u16(), ..Payload::new(0, u32::from(i.u16()) >> i.below(16)) };
        }
        self.deliver(1 - side, tuple, &segment);
    }

    /// What host `side` has sent last is delivered, many times if need be, with numbers and signals that are not true. `what` says which.
    fn lie(&mut self, side: usize, what: u8, i: &mut Input<'_>) {
        let Some(&(mut segment, tuple)) = self.wires[side].back() else { return };
        self.forged = true;
        let keys = [1, 2].map(|n| Entropy::new([n; 32]).next_u64());
        let (own, peers) = (keys[side], keys[1 - side]);
        let first = keys::initial_dsn(peers).wrapping_add(1);
        let step = i32::from(i.u16() as i16) << (i.u8() % 17);
        let data_ack = DataAck::Eight(first.wrapping_add_signed(i64::from(step)));
        let address = AddrId { id: i.u8(), addr: [192, 0, 2, i.u8()].into() };
        let advertised = Advertised { address, port: None };
        let mut times = 1 + usize::from(i.u8());
        let mut stride = 0;
        match what {
            0 => segment.ack = segment.ack.wrapping_add_signed(step),
            1 => (segment.ack, stride) = (segment.ack.wrapping_sub(times as u32), 1), // split
            2 => segment.payload = Payload::new(0, 0),                                // the same without end
            3 => {
                for k in 0..4 {
                    let from = segment.ack.wrapping_add_signed(step).wrapping_add(k * 2000);
                    segment.options.sack.push(from, from.wrapping_add(u32::from(i.u16())));
                }
            }
            4 => segment.options.mptcp = Mptcp::Dss(Dss { data_ack: Some(data_ack), mapping: None, data_fin: false }),
            5 => {
                let dsn = keys::initial_dsn(own).wrapping_add(1).wrapping_add_signed(i64::from(step));
                let mapping =
                    Mapping { dsn, short: i.flag(), ssn: i.u32() >> i.below(32), len: i.u16(), checksum: None };
                let data_fin = i.flag();
                segment.options.mptcp = Mptcp::Dss(Dss { data_ack: None, mapping: Some(mapping), data_fin });
                segment.payload.len = u32::from(i.u8());
            }
            6 => {
                let hmac = keys::add_addr_hmac(own, peers, address.id, address.addr, 0);
                segment.options.signal = Signal::AddAddr { advertised, hmac };
            }
            7 => segment.options.signal = Signal::AddAddrEcho(advertised),
            8 => segment.options.signal = Signal::RemoveAddr(AddrIds::new(i.take(4))),
            9 => segment.options.signal = Signal::Prio { backup: i.flag() },
            10 => segment.options.signal = Signal::Fail { dsn: first.wrapping_add_signed(i64::from(step)) },
            11 => (segment.options.signal, times) = (Signal::Fastclose { key: peers }, 1),
            12 => segment.window = [0, 1, 2, 65_535][i.below(4)],
            13 => (segment.payload.len, stride) = (1, 0),
            14 => segment.flags = Flags(i.u8()),
            _ => segment.options.timestamps = None,
        }
        for _ in 0..times {
            self.deliver(1 - side, tuple, &segment);
            self.settle();
            segment.ack = segment.ack.wrapping_add(stride);
            if what == 13 {
                segment.seq = segment.seq.wrapping_add(2); // hole after hole
            }
        }
    }

    fn deliver(&mut self, side: usize, tuple: usize, segment: &Segment) {
        let config = self.config.clone();
        let host = &mut self.hosts[side];
        if let (Some(endpoint), Some(subflow)) = (&mut host.endpoint, host.subflows.get(tuple).copied().flatten()) {
            endpoint.handle_segment(self.now, subflow, segment);
            return;
        }
        let syn = segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK);
        let mut accepted = None;
        if side == 1 && syn {
            accepted = match (&mut host.endpoint, segment.options.mptcp) {
                (Some(endpoint), Mptcp::JoinSyn { .. }) => endpoint.accept_join(segment, tuple as u8, false).ok(),
                (none @ None, _) => {
                    *none = Some(Connection::accept(config, host.entropy.clone(), segment));
                    Some(0)
                }
                _ => None,
            };
        }
        match accepted {
            Some(subflow) => {
                host.bind(tuple, subflow);
            }
            None => {
                if let Some(reset) = reset_for(segment) {
                    self.wires[side].push_back((reset, tuple));
                }
            }
        }
    }

    /// Takes what the hosts have to say, and checks it.
    fn settle(&mut self) {
        for side in 0..2 {
            let host = &mut self.hosts[side];
            let Some(endpoint) = &mut host.endpoint else { continue };
            let mut sent = 0;
            while let Some(transmit) = endpoint.poll_transmit(self.now) {
                sent += 1;
                assert!(sent < ENDLESS, "host {side} sends without end");
                let tuple = host.subflows.iter().position(|s| *s == Some(transmit.subflow)).expect("it was bound");
                check(&transmit.segment, &mut self.bytes);
                self.seen |= 1 << (kind(discriminant(&transmit.segment.options.mptcp)) % 16);
                self.seen |= 1 << (16 + kind(discriminant(&transmit.segment.options.signal)) % 16);
                if self.wires[side].len() < 256 {
                    self.wires[side].push_back((transmit.segment, tuple));
                }
            }
            let mut events = 0;
            while let Some(event) = endpoint.poll_event() {
                events += 1;
                assert!(events < ENDLESS, "host {side} tells without end");
                self.seen |= 1 << (32 + kind(discriminant(&event)) % 32);
            }
            assert!(endpoint.inbound().readable() <= endpoint.inbound().received());
        }
        if !self.forged {
            for (a, b) in [(0, 1), (1, 0)] {
                let received = self.hosts[b].endpoint.as_ref().map_or(0, |c| c.inbound().received());
                let (written, read) = (self.hosts[a].written, self.hosts[b].read);
                assert!(read <= received && received <= written, "{read} read, {received} received, {written} written");
            }
        }
    }
}

fn envelope() -> Envelope {
    let end = |n: u8| SocketAddr::from(([10, 0, 0, n], 5001));
    Envelope { src: end(1), dst: end(2), id: 0 }
}

/// The segment fits into a packet, and its bytes say what it says.
fn check(segment: &Segment, bytes: &mut Vec<u8>) {
    bytes.clear();
    emit(segment, &envelope(), None, |_| {}, bytes).unwrap_or_else(|e| panic!("{e}: {segment:?}"));
    let (mut received, ..) = parse(bytes).unwrap_or_else(|e| panic!("{e}: {segment:?}"));
    received.payload.offset = segment.payload.offset;
    assert_eq!(received, *segment);
}
