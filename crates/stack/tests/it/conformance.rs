//! What must hold for every registered controller, judge and scheduler, whatever the network does.
//!
//! Nothing here knows a name: a new algorithm is covered by its line in the registry. Impairments, options and what the
//! applications do are drawn from a small deterministic generator; a failure prints the case that made it, which is all
//! that it takes to see it again.

use std::cell::RefCell;
use std::fmt::Debug;
use std::rc::Rc;

use anabranch_stack::config::{Acknowledgement, DelayedAck};
use anabranch_stack::controller::{Adjust, Cause, Congestion, Controller, Path};
use anabranch_stack::detector::Detector;
use anabranch_stack::event::{Event, SendKind, SubflowId};
use anabranch_stack::judge::{Judge, RESPONSES};
use anabranch_stack::reduction::Reduction;
use anabranch_stack::registry::{Choice, Setup};
use anabranch_stack::scheduler::Scheduler;
use anabranch_stack::segment::{Flags, OPTION_SPACE, Segment};
use anabranch_stack::seq::Seq;
use anabranch_stack::tcp::State;
use anabranch_stack::time::{Duration, Instant};
use anabranch_stack::{Config, Connection, testing};

use crate::pair::{Fate, Happening, Packet, Pair, Side, at, ms};
use anabranch_stack::testing::Rng;

/// One algorithm of each registry, in all combinations.
fn combinations() -> impl Iterator<Item = Config> {
    // Detectors and reductions in turn, so that each meets many others.
    let (detectors, reductions) = (Choice::<dyn Detector>::all(), Choice::<dyn Reduction>::all());
    algorithms().enumerate().map(move |(i, config)| {
        let (detector, reduction) =
            (&detectors[i % detectors.len()], &reductions[i / detectors.len() % reductions.len()]);
        config.detector(detector.clone()).reduction(reduction.clone())
    })
}

/// Every controller with every judge, and three schedulers in turn with each pair.
fn algorithms() -> impl Iterator<Item = Config> {
    let schedulers = Choice::<dyn Scheduler>::all();
    let pairs = Choice::<dyn Controller>::all()
        .into_iter()
        .flat_map(|controller| Choice::<dyn Judge>::all().into_iter().map(move |judge| (controller.clone(), judge)));
    pairs.enumerate().flat_map(move |(i, (controller, judge))| {
        let three = (0..3).map(|k| schedulers[(3 * i + k) % schedulers.len()].clone()).collect::<Vec<_>>();
        three.into_iter().map(move |scheduler| {
            let (controller, judge) = (controller.clone(), judge.clone());
            Config::classic().controller(controller).judge(judge).scheduler(scheduler)
        })
    })
}

/// Prints what was tried when a test fails in it.
struct Trying<T: Debug>(T);

impl<T: Debug> Drop for Trying<T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("the case: {:?}", self.0);
        }
    }
}

// ---- the case ----------------------------------------------------------------------------------------------------

/// What the network does to segments, in percent.
#[derive(Clone, Copy, Debug)]
struct Network {
    lost: u64,
    late: u64,
    twice: u64,
    /// Nothing passes between these times, in milliseconds.
    silent: (u64, u64),
    /// One-way delays of each path, in milliseconds.
    delays: [u64; 3],
}

/// What an application does.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Write(Side, u64),
    Close(Side),
    Pause(Side),
    Resume(Side),
    Read(Side, u64),
    /// A path takes that long from now on, in either direction.
    Delay(usize, u64),
    Open(usize),
}

#[derive(Clone, Debug)]
struct Case {
    seed: u64,
    client: Config,
    server: Config,
    network: Network,
    paths: usize,
    /// Milliseconds and deeds, in order.
    deeds: Vec<(u64, Deed)>,
}

/// Options of one side: whatever may be negotiated or chosen alone.
fn draw_config(rng: &mut Rng, base: &Config) -> Config {
    base.clone()
        .mss(rng.pick(&[1400, 536, 1000, 100, 9000]))
        .receive_buffer(rng.pick(&[None, None, Some(1_000_000), Some(60_000), Some(10_000)]))
        .send_buffer(rng.pick(&[None, None, Some(1_000_000), Some(20_000), Some(3_000)]))
        .initial_window(rng.pick(&[10, 1, 3, 20]))
        .min_rto(ms(rng.pick(&[200, 1000])))
        .sack(!rng.percent(30))
        .timestamps(!rng.percent(30))
        .ecn(rng.percent(30))
        .checksum(rng.percent(30))
        .nagle(!rng.percent(30))
        .delayed_ack(match rng.below(4) {
            0 => DelayedAck::Off,
            1 => DelayedAck::After(ms(500)),
            _ => DelayedAck::After(ms(40)),
        })
        // Patience enough to repeat anything as often as it takes.
        .max_retransmissions(1000)
        .time_wait(Duration::from_secs(2000))
        .max_rto(Duration::from_secs(60))
}

impl Case {
    /// A transfer of some size in both directions, closed when written, over a network that loses and reorders.
    fn transfer(seed: u64, base: &Config, paths: usize) -> Self {
        let mut rng = Rng::new(seed);
        let network = Network {
            lost: rng.pick(&[0, 1, 5, 20]),
            late: rng.pick(&[0, 2, 10]),
            twice: rng.pick(&[0, 1, 5]),
            silent: (0, 0),
            delays: [1 + rng.below(100), 1 + rng.below(100), 1 + rng.below(100)],
        };
        let mut deeds =
            vec![(0, Deed::Write(Side::A, rng.below(200_000))), (0, Deed::Write(Side::B, rng.pick(&[0, 100, 50_000])))];
        for path in 1..paths {
            deeds.push((200 + rng.below(400), Deed::Open(path)));
        }
        deeds.push((rng.below(1000), Deed::Close(Side::A)));
        deeds.push((rng.below(1000), Deed::Close(Side::B)));
        deeds.sort_by_key(|d| d.0);
        // The papers' receiver is one of several subflows.
        let coupled = rng.percent(30) && paths > 1;
        let acknowledgement = if coupled { Acknowledgement::Coupled } else { Acknowledgement::Independent };
        let base = &base.clone().response(rng.pick(RESPONSES).1).acknowledgement(acknowledgement);
        let client = draw_config(&mut rng, base);
        let server = draw_config(&mut rng, base);
        Self { seed, client, server, network, paths, deeds }
    }

    /// Any deeds in any order, over a network that also falls silent for up to three seconds and changes its delays.
    fn random(seed: u64, base: &Config, paths: usize) -> Self {
        let mut case = Self::transfer(seed, base, paths);
        let mut rng = Rng::new(seed ^ 0xdeed);
        let from = rng.below(6000);
        case.network.silent = (from, from + rng.below(3000));
        case.deeds.clear();
        for _ in 0..5 + rng.below(25) {
            let side = if rng.percent(50) { Side::A } else { Side::B };
            let deed = match rng.below(8) {
                0..=2 => {
                    let most = rng.pick(&[10, 2000, 60_000]);
                    Deed::Write(side, 1 + rng.below(most))
                }
                3 => Deed::Pause(side),
                4 => Deed::Resume(side),
                5 => Deed::Read(side, rng.below(20_000)),
                6 => Deed::Delay(rng.below(paths as u64) as usize, 1 + rng.below(300)),
                _ if paths > 1 => Deed::Open(1 + rng.below(paths as u64 - 1) as usize),
                _ => continue,
            };
            case.deeds.push((rng.below(8000), deed));
        }
        case.deeds.sort_by_key(|d| d.0);
        for side in [Side::A, Side::B] {
            // Half close early, in the midst of it; nothing is written after that.
            let when = if rng.percent(50) { rng.below(8000) } else { 8000 };
            case.deeds.retain(|(t, d)| !matches!(d, Deed::Write(s, _) if *s == side && *t >= when));
            case.deeds.push((when, Deed::Close(side)));
            case.deeds.push((9000, Deed::Resume(side)));
        }
        case.deeds.sort_by_key(|d| d.0);
        case
    }

    /// Runs it, checks all along and at the end. Returns how many windows came back.
    fn run(self) -> usize {
        let trying = Trying(self);
        let case = &trying.0;
        let delays: Vec<Duration> = case.network.delays[..case.paths].iter().map(|&d| ms(d)).collect();
        let mut pair = Pair::seeded(case.client.clone(), case.server.clone(), &delays, case.seed);
        pair.keep_log = false;
        pair.limit = Instant(1_000_000 * 1_000_000_000);
        let network = case.network;
        let mut rng = Rng::new(case.seed ^ 0x1057);
        pair.filter(move |p| {
            let silent = at(network.silent.0) <= p.at && p.at < at(network.silent.1);
            match rng.below(100) {
                // An attempt to connect is given up after three minutes: that is not what is tried here.
                _ if p.flow == 0 && p.has(Flags::SYN) && p.n >= 4 => Fate::Pass,
                _ if silent => Fate::Drop,
                n if n < network.lost => Fate::Drop,
                n if n < network.lost + network.late => Fate::Late(Duration(1_000_000 * (1 + rng.below(80)))),
                n if n < network.lost + network.late + network.twice => Fate::Twice(ms(rng.below(60))),
                _ => Fate::Pass,
            }
        });
        let watcher = Rc::new(RefCell::new(Watcher::new(&case.client, &case.server)));
        let mine = watcher.clone();
        pair.watch(move |now, side, c, what| mine.borrow_mut().see(now, side, c, what));
        let mut written = [0; 2];
        for &(time, deed) in &case.deeds {
            pair.run_until(at(time));
            match deed {
                Deed::Write(side, octets) => {
                    written[side as usize] += octets;
                    pair.write(side, octets);
                }
                Deed::Close(side) => pair.close(side),
                Deed::Pause(side) => pair[side].reads = false,
                Deed::Resume(side) => {
                    pair[side].reads = true;
                    if pair[side].is_there() {
                        pair.read(side, u64::MAX);
                    }
                }
                Deed::Read(side, octets) => {
                    if pair[side].is_there() {
                        pair.read(side, octets);
                    }
                }
                Deed::Delay(path, delay) => {
                    pair.paths[path].from_a = ms(delay);
                    pair.paths[path].from_b = ms(delay);
                }
                Deed::Open(path) => {
                    pair.open(Side::A, path, path as u8);
                }
            }
        }
        pair.run();
        for side in [Side::A, Side::B] {
            let end = &pair[side];
            // Every octet once: `read` counts what was next in the stream, `intact` says that it was the right one.
            assert_eq!(end.read, written[side.other() as usize], "read by {side:?}");
            let fresh: u64 = end
                .events
                .iter()
                .map(|(_, e)| if let Event::Arrived { fresh, .. } = e { u64::from(*fresh) } else { 0 })
                .sum();
            assert_eq!(fresh, end.read, "counted as new by {side:?}");
            assert!(end.events.iter().all(|(_, e)| !matches!(e, Event::Arrived { intact: false, .. })), "{side:?}");
            let ends = end.events.iter().filter(|(_, e)| {
                matches!(e, Event::SubflowEnded(..) | Event::Aborted(_) | Event::Closed | Event::EndOfStream)
            });
            let ends: Vec<_> = ends.map(|(t, e)| format!("{t} {e:?}")).collect();
            for once in [Event::Connected, Event::EndOfStream, Event::Closed] {
                assert_eq!(end.count(|e| *e == once), 1, "{once:?} of {side:?}: {ends:?}");
            }
            assert_eq!(end.count(|e| matches!(e, Event::Aborted(_))), 0, "{side:?}");
            assert_eq!(end.conn().outbound().unacknowledged(), 0, "{side:?}");
            assert!(end.conn().subflows().iter().all(|s| s.state() == State::Closed), "{side:?}");
            assert_eq!(end.conn().inbound().held(), (0, 0), "{side:?}");
        }
        // Quiet: no timer is armed, nothing wants to leave, and nothing does however long one waits.
        assert_eq!(pair.next(), None);
        for side in [Side::A, Side::B] {
            let later = pair.now + Duration::from_secs(100_000);
            let left = pair.with(side, |c| {
                c.handle_timeout(later);
                c.poll_transmit(later).map(|t| t.segment)
            });
            assert_eq!(left, None, "{side:?} after the end");
        }
        let restored = |side: Side| pair[side].count(|e| matches!(e, Event::Judged { restored: true, .. }));
        restored(Side::A) + restored(Side::B)
    }
}

// ---- what must hold at every moment ------------------------------------------------------------------------------

/// What one side has shown on one subflow, and what it has been shown.
#[derive(Clone, Debug, Default)]
struct Flow {
    /// This side's subflow: with joins that cross, the two sides count them differently.
    subflow: Option<SubflowId>,
    iss: Option<u32>,
    scale: Option<u8>,
    /// Relative to the initial sequence numbers, unwrapped.
    sent_to: u64,
    fin_at: Option<u64>,
    acked_to: u64,
    /// Right edge it promised, and was promised.
    own_edge: u64,
    peer_edge: u64,
    timestamp: u32,
    /// Since when a payload waits for its acknowledgement.
    owes: Option<Instant>,
}

struct Watcher {
    configs: [Config; 2],
    /// Least ssthresh of the controller in segments.
    floor: f64,
    flows: [Vec<Flow>; 2],
}

impl Watcher {
    fn new(client: &Config, server: &Config) -> Self {
        let floor = least_threshold(client);
        Self { configs: [client.clone(), server.clone()], floor, flows: Default::default() }
    }

    fn see(&mut self, now: Instant, side: Side, c: &Connection, what: Happening) {
        let config = &self.configs[side as usize];
        for s in c.subflows() {
            let mss = f64::from(s.mss());
            assert!(s.cwnd() >= mss && s.cwnd().is_finite(), "{now} {side:?}: cwnd {} of {mss}", s.cwnd());
            let rto = s.rto();
            assert!(config.min_rto <= rto && rto <= config.max_rto, "{now} {side:?}: timeout {rto}");
        }
        match what {
            Happening::Leaves(packet) => {
                self.know(packet.flow, side, packet.transmit.subflow);
                self.leaves(now, side, c, packet);
            }
            Happening::Arrived(flow, id, segment) => {
                self.know(flow, side, id);
                self.arrives(now, side, c, flow, segment);
            }
            Happening::Event(Event::Congestion { subflow, cause }) => {
                // RFC 5681 3.1 equation (4), or what else is the controller's least.
                let s = &c.subflows()[subflow];
                let least = self.floor * f64::from(s.mss());
                assert!(s.ssthresh() >= least, "{now} {side:?}: {cause:?} leaves ssthresh {} of {least}", s.ssthresh());
            }
            Happening::Timers | Happening::Event(_) => {}
        }
        self.acknowledges_in_time(now, side, c);
    }

    fn know(&mut self, flow: usize, side: Side, subflow: SubflowId) {
        for flows in &mut self.flows {
            if flows.len() <= flow {
                flows.resize(flow + 1, Flow::default());
            }
        }
        self.flows[side as usize][flow].subflow = Some(subflow);
    }

    fn leaves(&mut self, now: Instant, side: Side, c: &Connection, packet: &Packet) {
        let (which, id) = (packet.flow, packet.transmit.subflow);
        let s = packet.segment();
        let subflow = &c.subflows()[id];
        let at = || format!("{now} {side:?} subflow {id}: {s:?}");
        assert!(s.options.wire_len() <= OPTION_SPACE, "options too long: {}", at());
        if subflow.state() == State::Closed {
            return;
        }
        if s.flags.has(Flags::RST) {
            return;
        }
        let plain = !c.is_multipath();
        let scaled = self.flows.iter().all(|f| f[which].scale.is_some());
        let peer_iss = self.flows[side.other() as usize][which].iss;
        // The papers' receiver acknowledges each segment that a filled gap frees, with its own number, behind data that may
        // carry a later one; and it reports duplicates of what it holds at the acknowledgement.
        let coupled = self.configs[0].acknowledgement == Acknowledgement::Coupled;
        let flow = &mut self.flows[side as usize][which];
        if s.flags.has(Flags::SYN) {
            if flow.iss.is_some_and(|iss| iss != s.seq) {
                // A number is given again after a join that came to nothing.
                *flow = Flow::default();
            }
            flow.iss = Some(s.seq);
            flow.scale = s.options.window_scale;
        }
        let iss = flow.iss.expect("a SYN comes first");
        let start = relative(s.seq, iss, flow.sent_to);
        let end = start + s.seq_len();
        if s.flags.has(Flags::FIN) {
            let fin = end - 1;
            assert!(flow.fin_at.is_none_or(|f| f == fin), "the FIN moved: {}", at());
            assert!(fin >= flow.sent_to || flow.fin_at == Some(fin), "a FIN before data: {}", at());
            flow.fin_at = Some(fin);
        } else {
            assert!(flow.fin_at.is_none_or(|fin| end <= fin + 1), "beyond the FIN: {}", at());
        }
        if let (true, true) = (plain, s.payload.len > 0) {
            assert_eq!(s.payload.offset + 1, start, "payload and number: {}", at());
        }
        let fresh = end > flow.sent_to;
        match packet.transmit.kind {
            SendKind::New | SendKind::Reinjection => {
                // RFC 5681 2, RFC 6675 4: never more than cwnd by the estimate that the recovery in force defines; it is
                // that estimate through which limited transmit adds its two segments.
                assert!(fresh, "old data called new: {}", at());
                let (flight, cwnd) = (subflow.octets_in_flight(), subflow.allowed_in_flight() as f64);
                // (Under coupled acknowledgement the head of the line of a subflow that has ended asks no window.)
                let asks = !(coupled && packet.transmit.kind == SendKind::Reinjection);
                assert!(!asks || flight as f64 <= cwnd, "{flight} in flight of {cwnd}: {}", at());
                assert!(!plain || end <= flow.peer_edge, "beyond the window {}: {}", flow.peer_edge, at());
            }
            SendKind::Probe => assert!(!plain || end <= flow.peer_edge + 1, "beyond a probe: {}", at()),
            SendKind::TailProbe => {
                assert!(!plain || end <= flow.peer_edge, "beyond the window {}: {}", flow.peer_edge, at())
            }
            SendKind::Fast | SendKind::Timeout => assert!(!fresh, "new data called old: {}", at()),
            SendKind::Control => assert_eq!(s.payload.len, 0, "control with payload: {}", at()),
        }
        flow.sent_to = flow.sent_to.max(end);
        if let Some(ts) = s.options.timestamps {
            assert!(ts.val >= flow.timestamp, "the clock goes back: {}", at());
            flow.timestamp = ts.val;
        }
        let (true, Some(peer_iss)) = (s.flags.has(Flags::ACK), peer_iss) else { return };
        let ack = relative(s.ack, peer_iss, flow.acked_to);
        flow.owes = None;
        if coupled {
            // ... of which there is one, and no other block, since what is held may begin at the acknowledgement.
            assert!(s.options.sack.as_slice().len() <= 1, "more than a report: {}", at());
            return;
        }
        assert!(ack >= flow.acked_to, "the acknowledgement goes back: {}", at());
        flow.acked_to = ack;
        // RFC 9293 3.8.6: the right edge does not move back (but for the rounding of its scale, RFC 7323 2.4).
        let shift = if scaled && !s.flags.has(Flags::SYN) { flow.scale.unwrap_or(0).min(14) } else { 0 };
        let edge = ack + (u64::from(s.window) << shift);
        if plain && !s.flags.has(Flags::SYN) {
            assert!(edge + (1 << shift) > flow.own_edge, "the window shrinks from {}: {}", flow.own_edge, at());
            flow.own_edge = flow.own_edge.max(edge);
        }
        // RFC 2018 4: blocks lie above the acknowledgement, apart from each other; RFC 2883 4: the first may be a report.
        let blocks: Vec<_> = s
            .options
            .sack
            .as_slice()
            .iter()
            .map(|b| (relative(b.0, peer_iss, ack), relative(b.1, peer_iss, ack)))
            .collect();
        for (i, b) in blocks.iter().enumerate() {
            assert!(b.0 < b.1, "an empty block: {}", at());
            let others = blocks.iter().skip(1).enumerate().filter(|(j, _)| j + 1 != i);
            let apart = others.clone().all(|(_, o)| o.1 < b.0 || b.1 < o.0);
            let report = i == 0 && (b.1 <= ack || others.clone().any(|(_, o)| o.0 <= b.0 && b.1 <= o.1));
            assert!(report || (b.0 > ack && apart), "blocks {blocks:?} at {ack}: {}", at());
        }
    }

    fn arrives(&mut self, now: Instant, side: Side, c: &Connection, which: usize, s: &Segment) {
        let Some(subflow) = self.flows[side as usize][which].subflow else { return };
        let scaled = self.flows.iter().all(|f| f[which].scale.is_some());
        let peer = &self.flows[side.other() as usize][which];
        let (peer_scale, peer_iss) = (peer.scale, peer.iss);
        let flow = &mut self.flows[side as usize][which];
        if let (true, Some(iss)) = (s.flags.has(Flags::ACK) && !s.flags.has(Flags::RST), flow.iss) {
            let shift = if scaled && !s.flags.has(Flags::SYN) { peer_scale.unwrap_or(0).min(14) } else { 0 };
            let edge = relative(s.ack, iss, flow.sent_to) + (u64::from(s.window) << shift);
            flow.peer_edge = flow.peer_edge.max(edge);
        }
        let synchronized = !matches!(c.subflows()[subflow].state(), State::SynSent | State::Closed);
        if s.payload.len > 0 && peer_iss.is_some() && synchronized && !c.is_multipath() {
            flow.owes.get_or_insert(now);
        }
    }

    /// RFC 5681 4.2: within the delay configured, and never after more than half a second.
    fn acknowledges_in_time(&mut self, now: Instant, side: Side, c: &Connection) {
        let delay = match self.configs[side as usize].delayed_ack {
            DelayedAck::Off => Duration::ZERO,
            DelayedAck::After(delay) => delay,
        };
        for flow in &mut self.flows[side as usize] {
            let Some(s) = flow.subflow.map(|id| &c.subflows()[id]) else { continue };
            if s.state() == State::Closed {
                flow.owes = None;
            }
            if let Some(since) = flow.owes {
                assert!(now.since(since) <= delay, "{now} {side:?}: no acknowledgement since {since}");
            }
        }
    }
}

/// A sequence number relative to the initial one, unwrapped near `near`.
fn relative(wire: u32, iss: u32, near: u64) -> u64 {
    let origin = Seq::initial(iss);
    Seq::unwrap(wire, origin + near).0.wrapping_sub(origin.0)
}

/// The least ssthresh a controller sets, in segments.
fn least_threshold(config: &Config) -> f64 {
    let mut c = config.controller.make(&Setup::new(1000, 10));
    let cause = Congestion { now: at(1000), cause: Cause::Timeout, flight_size: 0, repeated: false, nested: false };
    c.adjust(Adjust::AtMost(1000.0));
    c.on_congestion(&cause, &[path(1000.0)], 0);
    c.window().ssthresh / 1000.0
}

fn path(cwnd: f64) -> Path {
    Path { established: true, cwnd, srtt: ms(50), ..Path::default() }
}

// ---- transfers ---------------------------------------------------------------------------------------------------

fn over_all(seeds: std::ops::Range<u64>, make: impl Fn(u64, &Config) -> Case) {
    for (i, base) in combinations().enumerate() {
        for seed in seeds.clone() {
            make(seed + 1_000_000 * i as u64, &base).run();
        }
    }
}

fn plain(base: &Config) -> Config {
    base.clone().mptcp(false)
}

#[test]
fn a_transfer_over_tcp_arrives_whole_and_ends() {
    over_all(0..30, |seed, base| Case::transfer(seed, &plain(base), 1));
}

#[test]
fn any_use_of_tcp_arrives_whole_and_ends() {
    over_all(0..30, |seed, base| Case::random(seed, &plain(base), 1));
}

#[test]
#[ignore = "long"]
fn very_many_transfers_over_tcp_arrive_whole_and_end() {
    over_all(1000..3000, |seed, base| Case::transfer(seed, &plain(base), 1));
    over_all(1000..3000, |seed, base| Case::random(seed, &plain(base), 1));
}

#[test]
fn a_transfer_over_several_paths_arrives_whole_and_ends() {
    over_all(0..20, |seed, base| Case::transfer(seed, base, 2 + (seed % 2) as usize));
}

/// Every receiver with every response to every recovery, for every controller: lossy, reordering paths, and as many options as
/// the recoveries need, so that none of them is idle.
fn crossed(seeds: std::ops::Range<u64>) -> [usize; 2] {
    let mut restored = [0; 2];
    let mut number = 0;
    for base in combinations() {
        for (i, acknowledgement) in [Acknowledgement::Independent, Acknowledgement::Coupled].into_iter().enumerate() {
            for &(_, response) in RESPONSES {
                for seed in seeds.clone() {
                    number += 1;
                    let mut case = Case::transfer(seed + 1_000_000 * number, &base, 2);
                    for c in [&mut case.client, &mut case.server] {
                        *c = c.clone().acknowledgement(acknowledgement).response(response).sack(true).timestamps(true);
                    }
                    case.network.late = 10;
                    case.network.lost = case.network.lost.min(5);
                    restored[i] += case.run();
                }
            }
        }
    }
    restored
}

#[test]
fn every_receiver_and_response_with_every_judge_and_controller_arrives_whole_and_ends() {
    // Windows that came back, so that this tries something: hundreds.
    let restored = crossed(0..1);
    assert!(restored.iter().all(|&n| n > 100), "{restored:?}");
}

#[test]
#[ignore = "long"]
fn very_many_of_every_receiver_and_response_arrive_whole_and_end() {
    crossed(1000..1050);
}

#[test]
fn any_use_of_several_paths_arrives_whole_and_ends() {
    over_all(0..20, |seed, base| Case::random(seed, base, 2 + (seed % 2) as usize));
}

#[test]
#[ignore = "long"]
fn very_many_transfers_over_several_paths_arrive_whole_and_end() {
    over_all(1000..2500, |seed, base| Case::transfer(seed, base, 2 + (seed % 2) as usize));
    over_all(1000..2500, |seed, base| Case::random(seed, base, 2 + (seed % 2) as usize));
}

/// One segment in flight at a time, a hundred of them: the window of ten segments is never used and stays. (One that models the path
/// takes its window from the model, and paces.)
#[test]
fn no_window_grows_that_the_application_does_not_use() {
    let models = |c: &Config| c.controller.make(&c.setup()).reduces_itself();
    for base in combinations().filter(|c| !models(c)) {
        let trying = Trying(plain(&base).delayed_ack(DelayedAck::Off));
        let mut pair = Pair::new(trying.0.clone(), trying.0.clone(), ms(20));
        for i in 0..100 {
            pair.run_until(at(100 + 50 * i));
            pair.write(Side::A, 1400);
        }
        pair.run_until(at(10_000));
        assert_eq!(pair[Side::B].read, 140_000);
        let subflow = &pair[Side::A].conn().subflows()[0];
        assert_eq!(subflow.cwnd(), 14_000.0);
    }
}

/// Segments late by 15 ms behind 30 others, nothing lost: whatever a recovery makes of it, the transfer ends in the time it
/// takes, with every retransmission in vain.
#[test]
fn reordering_alone_loses_nothing() {
    for base in combinations() {
        let trying = Trying(plain(&base));
        let mut pair = Pair::new(trying.0.clone(), trying.0.clone(), ms(20));
        pair.filter(|p| match p.data_n {
            Some(n) if n % 40 == 20 => Fate::Late(ms(15)),
            _ => Fate::Pass,
        });
        pair.write(Side::A, 1_000_000);
        pair.close(Side::A);
        pair.close(Side::B);
        pair.run();
        assert_eq!(pair[Side::B].read, 1_000_000);
        let timeouts = pair[Side::A].count(|e| matches!(e, Event::Congestion { cause: Cause::Timeout, .. }));
        assert_eq!(timeouts, 0);
        assert!(pair[Side::A].when(Event::Closed).is_some_and(|t| t < at(10_000)));
    }
}

// ---- each by itself ----------------------------------------------------------------------------------------------

#[test]
fn any_controller_keeps_within_its_bounds_and_is_undone_exactly() {
    Choice::all().iter().for_each(testing::controller);
}

#[test]
fn every_detector_keeps_what_detectors_keep() {
    Choice::all().iter().for_each(testing::detector);
}

#[test]
fn every_reduction_keeps_what_reductions_keep() {
    Choice::all().iter().for_each(testing::reduction);
}

#[test]
fn any_judge_says_no_more_than_there_is_to_say() {
    Choice::all().iter().for_each(testing::judge);
}

#[test]
fn any_scheduler_picks_what_can_send_and_never_waits_for_ever() {
    Choice::all().iter().for_each(testing::scheduler);
}
