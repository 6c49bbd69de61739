//! Two endpoints in virtual time: one delay for each direction of each path, and a filter that decides each segment's fate.
//!
//! Nothing happens by chance. Segments that leave at one time arrive in that order; timers that are due when a segment
//! arrives run first. Rates and queues do not exist here: what a test wants to happen to a segment, its filter says.
//!
//! ```text
//! let mut pair = Pair::new(tcp(), tcp(), ms(10));
//! pair.filter(|p| if p.data_n == Some(3) { Fate::Drop } else { Fate::Pass });
//! pair.write(Side::A, 100_000);
//! pair.close(Side::A);
//! pair.close(Side::B);
//! pair.run();
//! assert_eq!(pair[Side::B].read, 100_000);
//! ```

use std::collections::BTreeMap;
use std::ops::{Index, IndexMut};

use anabranch_stack::event::{Event, SubflowId};
use anabranch_stack::mptcp::connection::reset_for;
use anabranch_stack::mptcp::keys::Entropy;
use anabranch_stack::segment::{Flags, Mptcp, Segment};
use anabranch_stack::tcp::State;
use anabranch_stack::time::{Duration, Instant};
use anabranch_stack::{Config, Connection, Transmit};

/// A plain TCP endpoint with full segments of 1000 octets: no timestamps, no delayed acknowledgements, NewReno's window.
pub fn tcp() -> Config {
    Config::classic()
        .mptcp(false)
        .controller("uncoupled".parse().unwrap())
        .mss(1000)
        .timestamps(false)
        .delayed_ack(anabranch_stack::config::DelayedAck::Off)
        .receive_buffer(None)
        .send_buffer(None)
}

/// `n` milliseconds.
pub const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// The instant `n` milliseconds after the origin.
pub const fn at(n: u64) -> Instant {
    Instant(n * 1_000_000)
}

/// A secret whose name is `n`.
pub fn entropy(n: u64) -> Entropy {
    let mut secret = [0; 32];
    secret[..8].copy_from_slice(&n.to_le_bytes());
    Entropy::new(secret)
}

/// One of the two endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// The client.
    A,
    /// The server.
    B,
}

impl Side {
    /// The other one.
    pub fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }
}

/// A segment that leaves.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// Who sent it.
    pub from: Side,
    /// When.
    pub at: Instant,
    /// The flow (4-tuple) it belongs to, in order of opening; flow 0 is the first subflow.
    pub flow: usize,
    /// The path it takes.
    pub path: usize,
    /// How many segments this side sent before in this flow.
    pub n: u64,
    /// How many segments with payload this side sent before in this flow; `None` without payload.
    pub data_n: Option<u64>,
    /// What `poll_transmit` gave.
    pub transmit: Transmit,
}

impl Packet {
    /// The segment.
    pub fn segment(&self) -> &Segment {
        &self.transmit.segment
    }

    /// All these flags are set.
    pub fn has(&self, flags: Flags) -> bool {
        self.segment().flags.has(flags)
    }
}

/// What becomes of a segment.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant)]
pub enum Fate {
    /// It arrives after the path's delay.
    Pass,
    /// It is lost.
    Drop,
    /// It arrives that much later, overtaken by others.
    Late(Duration),
    /// It arrives, and a second copy that much later.
    Twice(Duration),
    /// This arrives in its stead.
    As(Segment),
}

/// What a watcher is told.
#[derive(Clone, Copy, Debug)]
pub enum Happening<'a> {
    /// A segment leaves (before its fate is known).
    Leaves(&'a Packet),
    /// A segment of a flow arrived at a subflow (the two sides may count these differently) and was worked in; what it makes
    /// leave has not left yet.
    Arrived(usize, SubflowId, &'a Segment),
    /// The timers that were due have run.
    Timers,
    /// An event.
    Event(Event),
}

/// One path: how long a segment takes from A, and from B.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// Delay of what A sends.
    pub from_a: Duration,
    /// Delay of what B sends.
    pub from_b: Duration,
}

/// An endpoint.
#[derive(Debug)]
pub struct End {
    config: Config,
    secret: u64,
    connection: Option<Connection>,
    /// Flow of each subflow.
    flows: Vec<usize>,
    /// Octets its application has not written yet, for want of a connection or of room in the send buffer; and whether it wants to
    /// close after them.
    unwritten: u64,
    closes: bool,
    /// Read what becomes readable, at once.
    pub reads: bool,
    /// Octets read.
    pub read: u64,
    /// Events, with their times.
    pub events: Vec<(Instant, Event)>,
    sent: BTreeMap<usize, (u64, u64)>,
}

impl End {
    /// `flow` is the subflow `id`: a new one, or in place of a join that came to nothing.
    fn bind(&mut self, id: SubflowId, flow: usize) {
        match self.flows.get_mut(id) {
            Some(known) => *known = flow,
            None => {
                assert_eq!(self.flows.len(), id);
                self.flows.push(flow);
            }
        }
    }

    /// The connection. Panics before the SYN has come.
    pub fn conn(&self) -> &Connection {
        self.connection.as_ref().expect("the SYN has not come")
    }

    /// The connection. Panics before the SYN has come.
    pub fn conn_mut(&mut self) -> &mut Connection {
        self.connection.as_mut().expect("the SYN has not come")
    }

    /// It has a connection.
    pub fn is_there(&self) -> bool {
        self.connection.is_some()
    }

    /// When `event` happened first.
    pub fn when(&self, event: Event) -> Option<Instant> {
        self.events.iter().find(|e| e.1 == event).map(|e| e.0)
    }

    /// How many events satisfy `wanted`.
    pub fn count(&self, wanted: impl Fn(&Event) -> bool) -> usize {
        self.events.iter().filter(|e| wanted(&e.1)).count()
    }
}

#[derive(Clone, Copy, Debug)]
struct Flight {
    to: Side,
    flow: usize,
    segment: Segment,
}

type Filter = Box<dyn FnMut(&Packet) -> Fate>;
type Watch = Box<dyn FnMut(Instant, Side, &Connection, Happening)>;

/// Two endpoints and what lies between them.
pub struct Pair {
    /// The time.
    pub now: Instant,
    /// The paths; a client's subflow 0 takes path 0.
    pub paths: Vec<Path>,
    /// Every segment that left, whatever its fate.
    pub log: Vec<Packet>,
    /// Keep `log`.
    pub keep_log: bool,
    /// `run` gives up at this time.
    pub limit: Instant,
    ends: [End; 2],
    /// Path of each flow.
    flows: Vec<usize>,
    flights: BTreeMap<(Instant, u64), Flight>,
    inserted: u64,
    filter: Filter,
    watch: Option<Watch>,
}

impl Index<Side> for Pair {
    type Output = End;
    fn index(&self, side: Side) -> &End {
        &self.ends[side as usize]
    }
}

impl IndexMut<Side> for Pair {
    fn index_mut(&mut self, side: Side) -> &mut End {
        &mut self.ends[side as usize]
    }
}

impl Pair {
    /// A client that opens when the clock starts and a server that answers, joined by one path with `delay` each way.
    pub fn new(client: Config, server: Config, delay: Duration) -> Self {
        Self::seeded(client, server, &[delay], 1)
    }

    /// As [`Pair::new`], with a path for each of `delays` and the endpoints' secrets named by `seed`.
    pub fn seeded(client: Config, server: Config, delays: &[Duration], seed: u64) -> Self {
        let end = |config, secret| End {
            config,
            secret,
            connection: None,
            flows: Vec::new(),
            unwritten: 0,
            closes: false,
            reads: true,
            read: 0,
            events: Vec::new(),
            sent: BTreeMap::new(),
        };
        let mut a = end(client, 2 * seed);
        a.connection = Some(Connection::connect(a.config.clone(), entropy(a.secret)));
        a.flows.push(0);
        Self {
            now: Instant::ZERO,
            paths: delays.iter().map(|&d| Path { from_a: d, from_b: d }).collect(),
            log: Vec::new(),
            keep_log: true,
            limit: Instant(3_600_000_000_000),
            ends: [a, end(server, 2 * seed + 1)],
            flows: vec![0],
            flights: BTreeMap::new(),
            inserted: 0,
            filter: Box::new(|_| Fate::Pass),
            watch: None,
        }
    }

    /// Decides the fate of every segment from now on.
    pub fn filter(&mut self, filter: impl FnMut(&Packet) -> Fate + 'static) {
        self.filter = Box::new(filter);
    }

    /// Is told of everything from now on.
    pub fn watch(&mut self, watch: impl FnMut(Instant, Side, &Connection, Happening) + 'static) {
        self.watch = Some(Box::new(watch));
    }

    // ---- the application ---------------------------------------------------------------------------------------

    /// Writes now; a server that waits for its SYN writes when it has come.
    pub fn write(&mut self, side: Side, octets: u64) {
        self[side].unwritten += octets;
        self.flush(side);
    }

    /// Ends what `side` sends, now; a server that waits for its SYN does so when it has come.
    pub fn close(&mut self, side: Side) {
        self[side].closes = true;
        self.flush(side);
    }

    /// Reads now; returns octets.
    pub fn read(&mut self, side: Side, max: u64) -> u64 {
        let octets = self[side].conn_mut().read(max);
        self[side].read += octets;
        self.flush(side);
        octets
    }

    /// Anything else with a connection, now; what it wants to send leaves afterwards.
    pub fn with<T>(&mut self, side: Side, act: impl FnOnce(&mut Connection) -> T) -> T {
        let result = act(self[side].conn_mut());
        self.flush(side);
        result
    }

    /// Opens a further subflow on `path` from `side`; `None` if the connection does not let it.
    pub fn open(&mut self, side: Side, path: usize, local_id: u8) -> Option<SubflowId> {
        self.open_as(side, path, local_id, false)
    }

    /// As [`Pair::open`], as a backup or not.
    pub fn open_as(&mut self, side: Side, path: usize, local_id: u8, backup: bool) -> Option<SubflowId> {
        let id = self[side].conn_mut().open_subflow(local_id, local_id, backup)?;
        let flow = self.flows.len();
        self.flows.push(path);
        self[side].bind(id, flow);
        self.flush(side);
        Some(id)
    }

    /// Both endpoints are there and have closed in order.
    pub fn is_closed(&self) -> bool {
        self.ends.iter().all(|e| e.when(Event::Closed).is_some())
    }

    // ---- time --------------------------------------------------------------------------------------------------

    /// Lets a segment of `flow` arrive at `to`, `after` from now.
    pub fn inject(&mut self, to: Side, flow: usize, segment: Segment, after: Duration) {
        self.flights.insert((self.now + after, self.inserted), Flight { to, flow, segment });
        self.inserted += 1;
    }

    /// When something happens next.
    pub fn next(&self) -> Option<Instant> {
        let arrival = self.flights.keys().next().map(|k| k.0);
        let timers = self.ends.iter().filter_map(|e| e.connection.as_ref()?.poll_timeout());
        timers.chain(arrival).min()
    }

    /// Runs until nothing is left to happen: no segment on its way, no timer armed. Panics at `limit`.
    pub fn run(&mut self) {
        self.flush(Side::A);
        while let Some(at) = self.next() {
            assert!(at <= self.limit, "not quiet at {}", self.limit);
            self.step(at);
        }
    }

    /// Runs all that happens up to `until`, that moment included.
    pub fn run_until(&mut self, until: Instant) {
        self.flush(Side::A);
        while let Some(at) = self.next().filter(|&at| at <= until) {
            self.step(at);
        }
        self.now = self.now.max(until);
    }

    fn step(&mut self, at: Instant) {
        assert!(at >= self.now, "a timer in the past: {at} at {}", self.now);
        self.now = at;
        for side in [Side::A, Side::B] {
            let Some(c) = &mut self[side].connection else { continue };
            if c.poll_timeout().is_some_and(|due| due <= at) {
                c.handle_timeout(at);
                let left = self.tell(side, Happening::Timers);
                self.flush(side);
                let due = self[side].conn().poll_timeout();
                assert!(due.is_none_or(|due| due > at), "a timer that is due stays due at {at} {left:?}");
            }
        }
        while let Some(entry) = self.flights.first_entry().filter(|e| e.key().0 <= at) {
            let flight = entry.remove();
            self.arrive(flight);
        }
    }

    fn tell(&mut self, side: Side, what: Happening) -> Option<()> {
        let now = self.now;
        let connection = self.ends[side as usize].connection.as_ref()?;
        self.watch.as_mut()?(now, side, connection, what);
        Some(())
    }

    fn arrive(&mut self, flight: Flight) {
        let Flight { to, flow, segment } = flight;
        let now = self.now;
        let known = self[to].flows.iter().position(|&f| f == flow);
        let opens = segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK);
        if known.is_none() && opens && self.open_passively(to, flow, &segment) {
            self.flush(to);
            return;
        }
        match known {
            Some(id) if self[to].conn().subflows()[id].state() != State::Closed => {
                self[to].conn_mut().handle_segment(now, id, &segment);
                self.tell(to, Happening::Arrived(flow, id, &segment));
                self.flush(to);
            }
            // RFC 9293 3.10.7.1: a host without the connection answers with a reset.
            _ => {
                if let Some(reset) = reset_for(&segment) {
                    let delay = self.delay(to, flow);
                    self.inject(to.other(), flow, reset, delay);
                }
            }
        }
    }

    fn open_passively(&mut self, to: Side, flow: usize, syn: &Segment) -> bool {
        let path = self.flows[flow];
        let end = &mut self[to];
        let subflow;
        match &mut end.connection {
            None => {
                subflow = 0;
                end.connection = Some(Connection::accept(end.config.clone(), entropy(end.secret), syn));
            }
            Some(c) => {
                if !matches!(syn.options.mptcp, Mptcp::JoinSyn { .. }) {
                    return false;
                }
                let Ok(id) = c.accept_join(syn, path as u8, false) else { return false };
                subflow = id;
            }
        }
        end.bind(subflow, flow);
        true
    }

    fn delay(&self, from: Side, flow: usize) -> Duration {
        let path = self.paths[self.flows[flow]];
        match from {
            Side::A => path.from_a,
            Side::B => path.from_b,
        }
    }

    /// Lets out all that `side` wants to send, takes its events, reads.
    fn flush(&mut self, side: Side) {
        let now = self.now;
        loop {
            while let Some(event) = self[side].connection.as_mut().and_then(Connection::poll_event) {
                self[side].events.push((now, event));
                self.tell(side, Happening::Event(event));
            }
            let end = &mut self[side];
            let Some(c) = &mut end.connection else { return };
            if end.unwritten > 0 && c.writable() > 0 {
                end.unwritten -= c.write(end.unwritten);
            }
            if end.closes && end.unwritten == 0 {
                end.closes = false;
                c.shutdown_write();
            }
            if end.reads && c.inbound().readable() > 0 {
                end.read += c.read(u64::MAX);
            }
            let Some(transmit) = c.poll_transmit(now) else { break };
            self.depart(side, transmit);
        }
        while let Some(event) = self[side].connection.as_mut().and_then(Connection::poll_event) {
            self[side].events.push((now, event));
            self.tell(side, Happening::Event(event));
        }
    }

    fn depart(&mut self, from: Side, transmit: Transmit) {
        // RFC 9293: after the end only the reset that made it.
        let ended = self[from].conn().subflows()[transmit.subflow].state() == State::Closed;
        assert!(!ended || transmit.segment.flags.has(Flags::RST), "sent by a closed subflow: {:?}", transmit.segment);
        let flow = self[from].flows[transmit.subflow];
        let path = self.flows[flow];
        let counts = self[from].sent.entry(flow).or_default();
        let (n, data_n) = *counts;
        let has_data = transmit.segment.payload.len > 0;
        counts.0 += 1;
        counts.1 += u64::from(has_data);
        let packet = Packet { from, at: self.now, flow, path, n, data_n: has_data.then_some(data_n), transmit };
        self.tell(from, Happening::Leaves(&packet));
        if self.keep_log {
            self.log.push(packet);
        }
        let delay = self.delay(from, flow);
        let (to, segment) = (from.other(), transmit.segment);
        match (self.filter)(&packet) {
            Fate::Pass => self.inject(to, flow, segment, delay),
            Fate::Drop => {}
            Fate::Late(extra) => self.inject(to, flow, segment, delay + extra),
            Fate::Twice(extra) => {
                self.inject(to, flow, segment, delay);
                self.inject(to, flow, segment, delay + extra);
            }
            Fate::As(other) => self.inject(to, flow, other, delay),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SYN 0, SYN/ACK 10, data 20, closed on both sides; the fourth data segment is lost.
    #[test]
    fn a_lost_segment_is_sent_again_and_both_sides_close() {
        let mut pair = Pair::new(tcp(), tcp(), ms(10));
        pair.filter(|p| if p.data_n == Some(3) { Fate::Drop } else { Fate::Pass });
        pair.write(Side::A, 100_000);
        pair.close(Side::A);
        pair.close(Side::B);
        pair.run();
        assert_eq!(pair[Side::B].read, 100_000);
        assert!(pair.is_closed());
        assert_eq!(pair[Side::A].when(Event::Connected), Some(at(20)));
        assert_eq!(pair[Side::B].when(Event::Connected), Some(at(30)));
        // The client closed first and waits for old segments.
        assert!(pair.now > at(60_000));
    }

    /// Two paths, a join over the second one: both carry data.
    #[test]
    fn a_second_subflow_joins_over_the_second_path() {
        let config = tcp().mptcp(true);
        let mut pair = Pair::seeded(config.clone(), config, &[ms(10), ms(30)], 7);
        pair.write(Side::A, 10_000_000);
        pair.run_until(at(40));
        assert_eq!(pair.open(Side::A, 1, 1), Some(1));
        pair.close(Side::A);
        pair.close(Side::B);
        pair.run();
        assert_eq!(pair[Side::B].read, 10_000_000);
        assert!(pair.is_closed());
        assert!(pair.log.iter().any(|p| p.path == 1 && p.data_n.is_some()));
    }
}
