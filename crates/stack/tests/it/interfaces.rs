//! What the interfaces of algorithms promise, proven by algorithms that exist for these tests alone, in the shape of those of the
//! field: one that estimates blocking as BLEST does, one that counts what passes between losses as OLIA does, a constant window
//! that is paced, a scheduler that sends everything twice, one that sends the head of the line again, a detector by time, a reduction in
//! proportion.

use std::sync::{Arc, Mutex};

use anabranch_stack::Config;
use anabranch_stack::controller::{AckSample, Adjust, Congestion, Controller, Departure, Path, Window};
use anabranch_stack::detector::{Detector, Due, Finding, Outstanding, Scoreboard};
use anabranch_stack::event::{Event, SendKind};
use anabranch_stack::path::Recovery;
use anabranch_stack::reduction::{Entry, Reduction};
use anabranch_stack::registry::{Builtin, Choice, Factory, Info, Kind, Need, Setup, Values};
use anabranch_stack::scheduler::{Assignment, Decision, Offer, Scheduler, Subflows};
use anabranch_stack::segment::{Mptcp, Segment};
use anabranch_stack::testing;
use anabranch_stack::time::{Duration, Instant};

use crate::mptcp_bench::{PEER_KEY, Script, joined, mptcp};
use crate::pair::{Fate, Happening, Packet, Pair, Side, at, ms, tcp};

/// A factory from a closure, for algorithms that tell the test what they see.
struct Made<T: ?Sized, F>(Info, F, std::marker::PhantomData<fn() -> Box<T>>);

impl<T: ?Sized, F> std::fmt::Debug for Made<T, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.name)
    }
}

impl<T: ?Sized + Kind, F: Fn(&Setup) -> Box<T> + Send + Sync> Factory<T> for Made<T, F> {
    fn info(&self) -> &Info {
        &self.0
    }
    fn make(&self, setup: &Setup, _: &Values) -> Box<T> {
        (self.1)(setup)
    }
}

fn made<T: ?Sized + Kind>(info: Info, make: impl Fn(&Setup) -> Box<T> + Send + Sync + 'static) -> Choice<T> {
    Choice::new(Made(info, make, std::marker::PhantomData))
}

/// What an algorithm has seen.
type Seen<T> = Arc<Mutex<Vec<T>>>;

// ---- schedulers ---------------------------------------------------------------------------------

/// BLEST's estimate (Ferlin et al., IFIP Networking 2016, equations (1), (2)): what the fastest path will send during a round trip of
/// the slow one must still fit into the send window beside what the slow one has.
#[derive(Debug)]
struct Blocking {
    delta: f64,
}

impl Scheduler for Blocking {
    fn pick(&mut self, offer: &Offer<'_>) -> Decision {
        let best = (0..offer.paths.len()).filter(|&i| offer.paths[i].can_send).min_by_key(|&i| offer.paths[i].srtt);
        let (Some(best), Some(fast)) = (best, offer.fastest()) else { return Decision::Wait(None) };
        let (f, s) = (&offer.paths[fast], &offer.paths[best]);
        if best == fast || f.in_flight == 0 {
            // With nothing in flight there nothing would say when its wait is over.
            return Decision::Send(best);
        }
        let rtts = s.srtt.as_secs_f64() / f.srtt.as_secs_f64();
        let x = f64::from(f.mss) * (f.cwnd / f64::from(f.mss) + (rtts - 1.0) / 2.0) * rtts;
        let window = (offer.edge - offer.data_una) as f64;
        let taken = s.in_flight as f64 + f64::from(s.mss);
        if x * self.delta > window - taken { Decision::Wait(None) } else { Decision::Send(best) }
    }

    fn on_sent(&mut self, _: &Assignment) {}
}

/// The worked numbers of that paper's rule: 130 and 50 ms, a window of 30 segments on the fast path, which is full, ten segments of the
/// slow one in flight: X is 112,112 octets.
#[test]
fn an_offer_has_what_an_estimate_of_blocking_needs() {
    let fast =
        Path { established: true, mss: 1400, cwnd: 42_000.0, in_flight: 42_000, srtt: ms(50), ..Path::default() };
    let slow = Path { can_send: true, cwnd: 28_000.0, in_flight: 14_000, srtt: ms(130), ..fast };
    let paths = [fast, slow];
    let decide = |window: u64, delta: f64| {
        let mut offer = Offer::new(at(1000), &paths, 1_000_000);
        offer.edge = window;
        Blocking { delta }.pick(&offer)
    };
    assert_eq!(decide(262_144, 1.0), Decision::Send(1));
    assert_eq!(decide(131_072, 1.0), Decision::Send(1));
    assert_eq!(decide(131_072, 1.04), Decision::Wait(None));
    testing::scheduler(&made(Info::new("blocking", "waits for the fast path"), |_| {
        Box::new(Blocking { delta: 1.0 }) as _
    }));
}

/// 10 and 100 ms and a small receive buffer: who waits for the fast path leaves the slow one alone.
#[test]
fn a_scheduler_that_estimates_blocking_leaves_the_slow_path_alone() {
    let on_slow = |scheduler: Choice<dyn Scheduler>| {
        let config = mptcp().scheduler(scheduler).receive_buffer(Some(40_000));
        let mut pair = joined(config.clone(), config, &[10, 100], 1000);
        pair.run_until(at(2000));
        pair.write(Side::A, 400_000);
        pair.run_until(at(60_000));
        assert_eq!(pair[Side::B].read, 401_000);
        pair.log.iter().filter(|p| p.from == Side::A && p.path == 1 && p.data_n.is_some()).count()
    };
    let estimating = made(Info::new("blocking", "waits for the fast path"), |_| Box::new(Blocking { delta: 1.0 }) as _);
    let (patient, plain) = (on_slow(estimating), on_slow("min-rtt".parse().unwrap()));
    // (min-rtt puts its first window there.)
    assert!(plain >= 10 && patient == 0, "{patient} segments, min-rtt {plain}");
}

/// Everything on every path.
#[derive(Debug)]
struct Redundant;

impl Scheduler for Redundant {
    fn pick(&mut self, offer: &Offer<'_>) -> Decision {
        let all = (0..offer.paths.len()).filter(|&i| offer.paths[i].can_send);
        Decision::SendAll(all.fold(Subflows::default(), Subflows::with))
    }

    fn on_sent(&mut self, _: &Assignment) {}
}

fn redundant() -> Choice<dyn Scheduler> {
    made(Info::new("redundant", "everything on every path"), |_| Box::new(Redundant) as _)
}

/// 10 and 40 ms. From 1 s on the fast path delivers nothing: the copies on the other one do, at the moment they would have anyway.
#[test]
fn what_is_sent_on_several_paths_arrives_by_whichever_delivers() {
    let config = mptcp().scheduler(redundant());
    let mut pair = joined(config.clone(), config, &[10, 40], 1000);
    pair.run_until(at(1000));
    pair.filter(|p| if p.path == 0 { Fate::Drop } else { Fate::Pass });
    pair.write(Side::A, 3000);
    pair.run_until(at(1040));
    assert_eq!(pair[Side::B].read, 4000);
    let sent = |path| {
        let of = |p: &&Packet| p.from == Side::A && p.at >= at(1000) && p.path == path && p.data_n.is_some();
        pair.log.iter().filter(of).map(|p| (p.segment().payload.offset, p.transmit.kind)).collect::<Vec<_>>()
    };
    assert_eq!(sent(0), [1000, 2000, 3000].map(|o| (o, SendKind::New)));
    assert_eq!(sent(1), [1000, 2000, 3000].map(|o| (o, SendKind::Reinjection)));
    testing::scheduler(&redundant());
}

/// The lowest round-trip time; and what blocks the window is sent again on a path that can, whose sender is penalised (Raiciu et
/// al., NSDI 2012, 4.2).
#[derive(Debug)]
struct Opportunistic {
    again: Option<u64>,
    seen: Seen<Decision>,
}

impl Scheduler for Opportunistic {
    fn pick(&mut self, offer: &Offer<'_>) -> Decision {
        let best = (0..offer.paths.len()).filter(|&i| offer.paths[i].can_send).min_by_key(|&i| offer.paths[i].srtt);
        best.map_or(Decision::Wait(None), Decision::Send)
    }

    fn resends(&self) -> bool {
        true
    }

    fn pick_again(&mut self, offer: &Offer<'_>) -> Decision {
        let (Some(head), Some(on)) = (offer.head(), offer.fastest()) else { return Decision::Wait(None) };
        if head == on || offer.room() > 0 || offer.unsent == 0 || !offer.paths[on].can_send {
            return Decision::Wait(None);
        }
        let decision = match self.again {
            Some(una) if una == offer.data_una => Decision::Wait(None),
            // First the penalty, then the octets.
            Some(una) if una == u64::MAX - offer.data_una => {
                self.again = Some(offer.data_una);
                Decision::Resend { start: offer.data_una, end: offer.data_nxt, on }
            }
            _ => {
                self.again = Some(u64::MAX - offer.data_una);
                Decision::Penalise(head)
            }
        };
        if decision != Decision::Wait(None) {
            self.seen.lock().unwrap().push(decision);
        }
        decision
    }

    fn on_sent(&mut self, _: &Assignment) {}
}

/// 10 and 200 ms, room for twelve segments at the receiver: the slow path's first segment blocks all of it. It goes out on the fast
/// path, once, and the slow window is halved.
#[test]
fn the_head_of_the_line_can_be_sent_again_and_its_path_penalised() {
    let seen = Seen::default();
    let told = seen.clone();
    let scheduler = made(Info::new("opportunistic", "sends what blocks again"), move |_| {
        Box::new(Opportunistic { again: None, seen: told.clone() }) as _
    });
    let config = mptcp().scheduler(scheduler).receive_buffer(Some(12_000));
    let mut pair = joined(config.clone(), config, &[10, 200], 1000);
    pair.run_until(at(3000));
    seen.lock().unwrap().clear();
    let before = pair[Side::A].conn().subflows()[1].cwnd();
    pair.write(Side::A, 30_000);
    pair.run_until(at(3020));
    let halved = pair[Side::A].conn().subflows()[1].cwnd();
    let decisions = seen.lock().unwrap().clone();
    assert_eq!(decisions[0], Decision::Penalise(1));
    let Decision::Resend { start, on: 0, .. } = decisions[1] else { panic!("{decisions:?}") };
    assert_eq!(halved, before / 2.0);
    let again: Vec<_> = pair
        .log
        .iter()
        .filter(|p| p.from == Side::A && p.at >= at(3000) && p.transmit.kind == SendKind::Reinjection)
        .map(|p| (p.path, p.segment().payload.offset))
        .collect();
    assert_eq!(again, [(0, start)]);
    pair.run_until(at(10_000));
    assert_eq!(pair[Side::B].read, 31_000);
}

/// It notes each time that it is asked what to send again, and what has no DATA_ACK then.
#[derive(Debug)]
struct Asked(Seen<(u64, u64)>);

impl Scheduler for Asked {
    fn pick(&mut self, offer: &Offer<'_>) -> Decision {
        offer.fastest().map_or(Decision::Wait(None), Decision::Send)
    }
    fn on_sent(&mut self, _: &Assignment) {}
    fn resends(&self) -> bool {
        true
    }
    fn pick_again(&mut self, offer: &Offer<'_>) -> Decision {
        self.0.lock().unwrap().push((offer.data_una, offer.data_nxt));
        Decision::Wait(None)
    }
}

/// Nothing can be sent again before the peer has shown that it speaks Multipath TCP (RFC 8684 3.1, 3.7), nor behind a closed window with nothing
/// in flight. A window that is closed with something in flight is another matter.
#[test]
fn what_can_be_sent_again_is_asked_where_there_is_something() {
    let seen = Seen::default();
    let told = seen.clone();
    let scheduler = made(Info::new("asked", "notes when"), move |_| Box::new(Asked(told.clone())) as _);
    let mut s = Script::opening(mptcp().scheduler(scheduler));
    s.c.write(2000);
    let answer = s.syn_ack(Mptcp::CapableSynAck { no_join: false, checksum: false, key: PEER_KEY });
    s.give(0, Segment { window: 2000, ..answer });
    s.give(0, Segment { window: 0, ..s.dss(0, 1, 2001, Some(2000), None) });
    s.c.write(3000);
    assert!(s.poll().is_empty());
    assert_eq!(*seen.lock().unwrap(), []);
    assert_eq!(s.give(0, Segment { window: 1000, ..s.dss(0, 1, 2001, Some(2000), None) }).len(), 1);
    assert_eq!(seen.lock().unwrap().last(), Some(&(2000, 3000)));
}

/// What leaves again from 3 s on, in which way of data, and the second subflow's window before and after: paths of 10 and `slow` ms, a
/// receiver with room for twelve segments, any scheduler.
fn blocked(scheduler: &str, slow: u64, again: bool, penalised: bool) -> (Vec<(usize, u64)>, [f64; 2]) {
    let config = mptcp()
        .scheduler(scheduler.parse().unwrap())
        .opportunistic_retransmission(again)
        .penalisation(penalised)
        .receive_buffer(Some(12_000));
    let mut pair = joined(config.clone(), config, &[10, slow], 1000);
    pair.run_until(at(3000));
    let before = pair[Side::A].conn().subflows()[1].cwnd();
    pair.write(Side::A, 30_000);
    pair.run_until(at(3020));
    let after = pair[Side::A].conn().subflows()[1].cwnd();
    let resent = |p: &&Packet| p.from == Side::A && p.at >= at(3000) && p.transmit.kind == SendKind::Reinjection;
    let resent = pair.log.iter().filter(resent).map(|p| (p.path, p.segment().payload.offset)).collect();
    pair.run_until(at(20_000));
    assert_eq!(pair[Side::B].read, 31_000);
    (resent, [before, after])
}

/// Raiciu et al., NSDI 2012, 4.2, with the conditions of out-of-tree Linux. Round trips of 20 and 400 ms: 4 times 20 is less than 400, so the
/// segment that blocks leaves on the fast path once it has room, and the slow window, in its first slow start, is halved. At 70 ms it is
/// not sent again: 80 is more than 70.
#[test]
fn what_blocks_is_sent_again_and_its_sender_penalised() {
    for scheduler in ["min-rtt", "round-robin"] {
        assert_eq!(blocked(scheduler, 200, false, false), (vec![], [10_000.0; 2]), "{scheduler}");
        let (again, window) = blocked(scheduler, 200, true, false);
        assert_eq!((again.len(), again[0].0, window), (1, 0, [10_000.0; 2]), "{scheduler} {again:?}");
        let (again, window) = blocked(scheduler, 200, false, true);
        assert_eq!((again, window), (vec![], [10_000.0, 5000.0]), "{scheduler}");
        assert_eq!(blocked(scheduler, 35, true, false).0, vec![], "{scheduler}");
    }
}

/// What blocks is sent again on a backup where there are only backups (RFC 8684 3.3.8: it is used "only if there are no regular ones").
#[test]
fn what_blocks_is_sent_again_on_a_backup_if_there_is_nothing_else() {
    for (slow, paths) in [(true, vec![0]), (false, vec![])] {
        let config = mptcp().opportunistic_retransmission(true).receive_buffer(Some(12_000));
        let mut pair = joined(config.clone(), config, &[10, 200], 1000);
        pair.run_until(at(3000));
        pair[Side::A].conn_mut().set_backup(0, true);
        pair[Side::A].conn_mut().set_backup(1, slow);
        pair.write(Side::A, 30_000);
        pair.run_until(at(3020));
        let again = |p: &&Packet| p.from == Side::A && p.transmit.kind == SendKind::Reinjection;
        assert_eq!(pair.log.iter().filter(again).map(|p| p.path).collect::<Vec<_>>(), paths);
    }
}

/// The first segment is lost on the fast path, and so are the acknowledgements there: the slow path could send, but is no slower path's victim.
#[test]
fn a_faster_path_that_blocks_is_not_penalised() {
    let config = mptcp().penalisation(true).receive_buffer(Some(12_000));
    let mut pair = joined(config.clone(), config, &[10, 60], 1000);
    pair.run_until(at(3000));
    pair.filter(|p| match p.from {
        Side::A if p.path == 0 && p.segment().payload.offset == 1000 && p.segment().payload.len > 0 => Fate::Drop,
        Side::B if p.path == 0 => Fate::Drop,
        _ => Fate::Pass,
    });
    let windows = |pair: &Pair| [0, 1].map(|id: usize| pair[Side::A].conn().subflows()[id].cwnd());
    let before = windows(&pair);
    pair.write(Side::A, 30_000);
    pair.run_until(at(3180));
    let sent = pair.log.iter().filter(|p| p.from == Side::A && p.at >= at(3000)).map(|p| p.path);
    assert_eq!(sent.fold([0, 0], |mut n: [u32; 2], path| (n[path] += 1, n).1), [10, 2], "the window is full");
    assert_eq!(windows(&pair)[0], before[0]);
}

/// What is sent again, too, needs room in the window. The acknowledgements of the fastest path are lost, so that its window stays full: what blocks, on
/// the slowest, is sent again on the third.
#[test]
fn what_blocks_is_not_sent_again_beyond_the_window() {
    let mut again = Vec::new();
    for segments in 12..80 {
        let config = mptcp().opportunistic_retransmission(true).receive_buffer(Some(1000 * segments));
        let mut pair = joined(config.clone(), config, &[10, 200, 40], 1000);
        pair.run_until(at(3000));
        let late = |p: &Packet| p.from == Side::B && p.path == 0 && p.at < at(3190);
        pair.filter(move |p| if late(p) { Fate::Drop } else { Fate::Pass });
        pair.watch(|now, side, c, what| {
            if let (Side::A, Happening::Leaves(p)) = (side, what) {
                let (s, kind) = (&c.subflows()[p.transmit.subflow], p.transmit.kind);
                let flight = s.octets_in_flight();
                assert!(kind != SendKind::Reinjection || flight as f64 <= s.cwnd(), "{now}: {flight} of {}", s.cwnd());
            }
        });
        pair.write(Side::A, 100_000);
        pair.run_until(at(20_000));
        assert_eq!(pair[Side::B].read, 101_000);
        again.push(pair.log.iter().filter(|p| p.transmit.kind == SendKind::Reinjection).count());
    }
    assert!(again.iter().filter(|&&n| n > 0).count() > 20, "{again:?}");
}

#[test]
fn what_blocks_is_not_sent_again_under_coupled_acknowledgement() {
    let acknowledgement = anabranch_stack::config::Acknowledgement::Coupled;
    let refused = Config::default().acknowledgement(acknowledgement).opportunistic_retransmission(true).checked();
    let said = refused.unwrap_err().to_string();
    assert!(
        said.starts_with(
            "opportunistic_retransmission: true is out of range; allowed: false with coupled acknowledgement"
        ),
        "{said}"
    );
}

// ---- controllers --------------------------------------------------------------------------------

/// A window that stays as it is, at a rate; and what it is told.
#[derive(Clone, Debug)]
struct Constant {
    window: Window,
    rate: Option<f64>,
    samples: Seen<AckSample>,
    left: Seen<Departure>,
    lost: Seen<u64>,
    rows: Seen<Vec<Path>>,
}

impl Controller for Constant {
    fn window(&self) -> &Window {
        &self.window
    }
    fn adjust(&mut self, _: Adjust) {}
    fn on_ack(&mut self, ack: &AckSample, paths: &[Path], _: usize) {
        self.samples.lock().unwrap().push(*ack);
        self.rows.lock().unwrap().push(paths.to_vec());
    }
    fn on_other_ack(&mut self, ack: &AckSample, paths: &[Path], me: usize) {
        self.on_ack(ack, paths, me);
    }
    fn on_congestion(&mut self, _: &Congestion, _: &[Path], _: usize) {}
    fn on_sent(&mut self, departure: &Departure) {
        self.left.lock().unwrap().push(*departure);
    }
    fn on_lost(&mut self, _: Instant, octets: u64) {
        self.lost.lock().unwrap().push(octets);
    }
    fn pacing(&self) -> Option<f64> {
        self.rate
    }
}

impl Constant {
    /// A window of `segments` at `rate` octets a second.
    fn new(segments: f64, rate: Option<f64>) -> Self {
        let window = Window::new(&Setup::new(1000, segments as u32));
        Self {
            window,
            rate,
            samples: Seen::default(),
            left: Seen::default(),
            lost: Seen::default(),
            rows: Seen::default(),
        }
    }

    fn choice(&self) -> Choice<dyn Controller> {
        let it = self.clone();
        let info = Info::new("constant", "a constant window").needs(&[Need::DeliveryRate, Need::Departures]);
        made(info, move |_| Box::new(it.clone()) as _)
    }
}

/// 100 kB/s, segments of 1000 octets: one leaves every 10 ms, not two together and none late, and the delivery rate is found to be that.
#[test]
fn a_paced_window_sends_at_its_rate_and_measures_it() {
    let constant = Constant::new(40.0, Some(100_000.0));
    let config = tcp().controller(constant.choice());
    let mut pair = Pair::new(config.clone(), config, ms(50));
    pair.write(Side::A, 200_000);
    pair.run_until(at(5000));
    assert_eq!(pair[Side::B].read, 200_000);
    let times: Vec<u64> = pair.log.iter().filter(|p| p.data_n.is_some()).map(|p| p.at.0).collect();
    assert_eq!(times.len(), 200);
    assert!(times.windows(2).all(|w| w[1] - w[0] == 10_000_000), "{times:?}");
    let samples = constant.samples.lock().unwrap();
    let rates: Vec<f64> = samples.iter().filter_map(|s| s.rate).map(|r| r.rate()).collect();
    assert!(rates.len() > 150 && rates[20..].iter().all(|r| (r - 100_000.0).abs() < 1000.0), "{rates:?}");
    // Nothing was in flight but what a window of one round trip takes: 100 ms at 10 ms a segment.
    let rounds = samples.iter().filter(|s| s.round).count();
    assert!((18..=22).contains(&rounds), "{rounds} rounds of 100 ms in 2 s");
    let left = constant.left.lock().unwrap();
    assert!(left.iter().all(|d| d.len == 1000 && !d.again && d.in_flight <= 11_000));
}

/// draft-ietf-ccwg-bbr 4.1.1.4: what leaves while there is room and nothing more to send is limited by the application, and so are its samples; a full
/// window is not.
#[test]
fn rates_are_limited_by_the_application_that_has_no_more_data() {
    let constant = Constant::new(10.0, None);
    let config = tcp().controller(constant.choice());
    let mut pair = Pair::new(config.clone(), config, ms(50));
    let limited = |pair: &mut Pair, octets: u64| {
        constant.samples.lock().unwrap().clear();
        pair.write(Side::A, octets);
        pair.run_until(pair.now + ms(1000));
        let samples = constant.samples.lock().unwrap();
        samples.iter().filter_map(|s| s.rate).map(|r| r.app_limited).collect::<Vec<_>>()
    };
    limited(&mut pair, 1000);
    assert_eq!(limited(&mut pair, 3000), [true; 3]);
    let many = limited(&mut pair, 60_000);
    assert_eq!((many.len(), many[20..50].contains(&true)), (60, false), "{many:?}");
}

/// A loss: what is lost is told once, acknowledgements in recovery, too, and what was acknowledged before it is counted apart from what
/// comes after.
#[test]
fn a_controller_hears_of_losses_and_of_acknowledgements_in_recovery() {
    let constant = Constant::new(10.0, None);
    let config = tcp().controller(constant.choice());
    let mut pair = Pair::new(config.clone(), config, ms(50));
    pair.filter(|p| if p.data_n == Some(30) { Fate::Drop } else { Fate::Pass });
    pair.write(Side::A, 100_000);
    pair.run_until(at(5000));
    assert_eq!(pair[Side::B].read, 100_000);
    assert_eq!(constant.lost.lock().unwrap().as_slice(), [1000]);
    let samples = constant.samples.lock().unwrap();
    let duplicates = samples.iter().filter(|s| s.duplicate).count();
    // Nine that were in flight behind it, and two of limited transmit.
    assert_eq!((duplicates, samples.iter().map(|s| s.sacked).sum::<u64>()), (11, 11_000));
    assert_eq!(samples.iter().map(AckSample::delivered).sum::<u64>(), 100_000);
    let rows = constant.rows.lock().unwrap();
    let last = rows.last().unwrap()[0];
    // Segment 30 is lost: 30,000 octets are acknowledged before the episode. (The row is of the acknowledgement before.)
    assert_eq!(last.acked_since_loss, [69_000, 30_000]);
    assert!(rows.iter().any(|r| r[0].recovery == Recovery::Fast));
    let again = constant.left.lock().unwrap().iter().filter(|d| d.again).count();
    assert_eq!(again, 1);
}

/// OLIA's first term over the rows (Khalili et al., CoNEXT 2012): with one path it is the increase of a TCP; the second terms of all
/// paths add up to nothing.
#[test]
fn rows_have_what_olia_needs() {
    let row = |cwnd: f64, rtt: u64, acked_since_loss| Path {
        established: true,
        mss: 1,
        cwnd,
        srtt: ms(rtt),
        acked_since_loss,
        ..Path::default()
    };
    let olia = |paths: &[Path], me: usize| {
        let rtt = |p: &Path| p.srtt.as_secs_f64();
        let sum: f64 = paths.iter().map(|p| p.cwnd / rtt(p)).sum();
        let score = |p: &Path| *p.acked_since_loss.iter().max().unwrap() as f64 / (rtt(p) * rtt(p));
        let most = |of: &dyn Fn(&Path) -> f64| paths.iter().map(of).fold(0.0, f64::max);
        let (best, largest) = (most(&score), most(&|p| p.cwnd));
        let is_largest = |p: &Path| p.cwnd == largest;
        let collected = |p: &Path| score(p) == best && !is_largest(p);
        let n = paths.len() as f64;
        let count = |of: &dyn Fn(&Path) -> bool| paths.iter().filter(|p| of(p)).count() as f64;
        let p = &paths[me];
        let a = match (collected(p), is_largest(p), count(&collected)) {
            (true, ..) => 1.0 / (n * count(&collected)),
            (_, true, c) if c > 0.0 => -1.0 / (n * count(&is_largest)),
            _ => 0.0,
        };
        (p.cwnd / (rtt(p) * rtt(p)) / (sum * sum), a)
    };
    let (first, second) = olia(&[row(20.0, 50, [100, 300])], 0);
    assert!((first - 1.0 / 20.0).abs() < 1e-12 && second == 0.0);
    let paths = [row(20.0, 50, [100, 300]), row(5.0, 50, [4000, 0]), row(10.0, 200, [10, 10])];
    let sum: f64 = (0..3).map(|i| olia(&paths, i).1).sum();
    assert!(sum.abs() < 1e-12);
    assert!(olia(&paths, 1).1 > 0.0 && olia(&paths, 0).1 < 0.0);
}

// ---- detection and reduction --------------------------------------------------------------------

/// By time alone (after RFC 8985 6.2 steps 2 and 5): a segment is lost when one that was sent later has arrived and a quarter of a round
/// trip has passed since it should have.
#[derive(Debug)]
struct ByTime {
    newest: Instant,
    rtt: Duration,
    at: Option<Instant>,
}

impl ByTime {
    fn look(&mut self, now: Instant, board: &mut Scoreboard) {
        let mut lost = Vec::new();
        self.at = None;
        for s in board.iter().filter(|s| !s.is_sacked() && s.sent_at < self.newest) {
            let due = s.sent_at + Duration(self.rtt.0 + self.rtt.0 / 4);
            if due <= now {
                lost.push(s.seq);
            } else {
                self.at = self.at.max(Some(due));
            }
        }
        lost.into_iter().for_each(|seq| board.mark_lost(seq));
    }
}

impl Detector for ByTime {
    fn on_ack(&mut self, ack: &AckSample, board: &mut Scoreboard, sender: &Outstanding) {
        self.rtt = sender.min_rtt;
        if ack.delivered() > 0 {
            // Without reordering what has arrived was sent a round trip ago.
            self.newest = self.newest.max(Instant(ack.now.0.saturating_sub(self.rtt.0)));
        }
        self.look(ack.now, board);
    }
    fn finding(&mut self, _: &AckSample, board: &Scoreboard, sender: &Outstanding) -> Finding {
        if board.has_lost() && !sender.recovering { Finding::Loss } else { Finding::Nothing }
    }
    fn on_timeout(&mut self, _: Instant, board: &mut Scoreboard, sender: &Outstanding) {
        board.mark_all_lost(sender.snd_una, sender.snd_nxt);
    }
    fn limited_transmit(&self, _: u32) -> u32 {
        0
    }
    fn deadline(&self) -> Option<Instant> {
        self.at
    }
    fn on_deadline(&mut self, now: Instant, board: &mut Scoreboard, _: &Outstanding) -> Due {
        self.look(now, board);
        if board.has_lost() { Due::Loss } else { Due::Nothing }
    }
}

static BY_TIME: Builtin<dyn Detector> = Builtin {
    info: Info::new("by-time", "lost when it is late").needs(&[Need::Timer]),
    make: |_, _| Box::new(ByTime { newest: Instant::ZERO, rtt: Duration::ZERO, at: None }),
};

/// 20 ms each way, ten segments a window, at 1 ms each. One is displaced by 5 ms, behind five others: nothing is sent again. One is lost:
/// it is sent again 50 ms after it was, a round trip and a quarter, by the detector's own timer, and the window is cut once.
#[test]
fn a_detector_with_a_timer_of_its_own() {
    let config = tcp().detector(Choice::new(&BY_TIME));
    for (fate, expected) in [(Fate::Late(ms(5)), vec![]), (Fate::Drop, vec![at(1054)])] {
        let mut pair = Pair::new(config.clone(), config.clone(), ms(20));
        pair.run_until(at(1000));
        pair.filter(move |p| if p.data_n == Some(4) { fate } else { Fate::Pass });
        for t in 0..10 {
            pair.write(Side::A, 1000);
            pair.run_until(at(1001 + t));
        }
        pair.run_until(at(3000));
        assert_eq!(pair[Side::B].read, 10_000);
        let again = pair.log.iter().filter(|p| p.transmit.transmissions > 1);
        assert_eq!(again.map(|p| p.at).collect::<Vec<_>>(), expected);
        let cuts = pair[Side::A].count(|e| matches!(e, Event::Congestion { .. }));
        assert_eq!(cuts, expected.len());
    }
    testing::detector(&Choice::new(&BY_TIME));
}

/// In proportion to what is delivered (RFC 6937 3 without its bounds).
#[derive(Debug, Default)]
struct InProportion {
    recover_fs: u64,
    delivered: u64,
    out: u64,
    cwnd: u64,
}

impl Reduction for InProportion {
    fn on_enter(&mut self, entry: &Entry) {
        *self = Self { recover_fs: entry.flight_size, ..Self::default() };
        self.delivered = entry.delivered;
        self.cwnd = entry.pipe + u64::from(entry.mss);
    }
    fn on_ack(&mut self, ack: &AckSample, window: u64, in_flight: u64) {
        self.delivered += ack.delivered();
        let due = if in_flight > window {
            (self.delivered * window).div_ceil(self.recover_fs).saturating_sub(self.out)
        } else {
            ack.delivered().min(window - in_flight)
        };
        self.cwnd = in_flight + due;
    }
    fn on_sent(&mut self, octets: u32) {
        self.out += u64::from(octets);
    }
    fn on_exit(&mut self) {}
    fn allows(&self, _window: u64, _in_flight: u64) -> u64 {
        self.cwnd
    }
    fn inflation(&self) -> i64 {
        0
    }
}

static IN_PROPORTION: Builtin<dyn Reduction> =
    Builtin { info: Info::new("in-proportion", "one for two"), make: |_, _| Box::<InProportion>::default() };

/// Twenty segments in flight at 1 ms each, the first is lost. At once: silence until half has been delivered, then one for one. In
/// proportion: one for every two from the beginning on. Either way ten leave.
#[test]
fn a_reduction_decides_when_and_the_controller_how_much() {
    let sent = |reduction: Choice<dyn Reduction>| {
        let config = tcp().reduction(reduction).initial_window(20);
        let mut pair = Pair::new(config.clone(), config, ms(50));
        pair.run_until(at(1000));
        pair.filter(|p| if p.data_n == Some(0) { Fate::Drop } else { Fate::Pass });
        for t in 0..20 {
            pair.write(Side::A, 1000);
            pair.run_until(at(1001 + t));
        }
        pair.write(Side::A, 30_000);
        pair.run_until(at(1150));
        let of = |p: &&Packet| p.from == Side::A && p.at >= at(1100) && p.data_n.is_some();
        pair.log.iter().filter(of).map(|p| (p.at.0 - at(1100).0) / 1_000_000).collect::<Vec<_>>()
    };
    let at_once = sent("rfc6675".parse().unwrap());
    let in_proportion = sent(Choice::new(&IN_PROPORTION));
    // RFC 9937: 22 were in flight, 20 without the two SACKed before the third SACK, and ten are to remain: one for every two, until at
    // 19 ms 22 less 19 that arrived, less the lost one, with eight that left since, are ten.
    assert_eq!(sent("prr".parse().unwrap()), [1, 2, 3, 5, 7, 9, 11, 13, 15, 17]);
    // SACKs of segments 1 to 19 at 1 to 19 ms: two of limited transmit, with the third SACK the retransmission.
    assert_eq!((&at_once[..3], &in_proportion[..3]), (&[1, 2, 3][..], &[1, 2, 3][..]));
    assert!(at_once[3] >= 12, "silence: {at_once:?}");
    assert!(in_proportion[3] <= 8, "no silence: {in_proportion:?}");
    let beyond = |times: &[u64]| times.iter().filter(|&&t| (4..20).contains(&t)).count();
    assert!(
        (7..=9).contains(&beyond(&at_once)) && (7..=9).contains(&beyond(&in_proportion)),
        "{at_once:?} {in_proportion:?}"
    );
    testing::reduction(&Choice::new(&IN_PROPORTION));
}

// ---- what must not follow -----------------------------------------------------------------------

/// Sends what the head of the line holds again on the other path whenever it is asked.
#[derive(Debug)]
struct Insistent {
    lost: Seen<u64>,
}

impl Scheduler for Insistent {
    fn pick(&mut self, offer: &Offer<'_>) -> Decision {
        let able = (0..offer.paths.len()).find(|&i| offer.paths[i].can_send);
        match able {
            Some(on) if offer.data_una < offer.data_nxt => {
                Decision::Resend { start: offer.data_una, end: offer.data_nxt, on }
            }
            Some(on) => Decision::Send(on),
            None => Decision::Wait(None),
        }
    }

    fn resends(&self) -> bool {
        true
    }

    fn pick_again(&mut self, offer: &Offer<'_>) -> Decision {
        if offer.any() { self.pick(offer) } else { Decision::Wait(None) }
    }

    fn on_sent(&mut self, _: &Assignment) {}

    fn on_lost(&mut self, _: Instant, _: usize, octets: u64) {
        self.lost.lock().unwrap().push(octets);
    }
}

fn insistent(lost: &Seen<u64>) -> Choice<dyn Scheduler> {
    let lost = lost.clone();
    made(Info::new("insistent", "sends again and again"), move |_| Box::new(Insistent { lost: lost.clone() }) as _)
}

/// Each octet at most once more on a subflow; in plain TCP, where an octet has one sequence number, none.
#[test]
fn a_scheduler_that_resends_without_end_is_bounded() {
    let config = mptcp().scheduler(insistent(&Seen::default()));
    let mut pair = joined(config.clone(), config.clone(), &[10, 40], 1000);
    pair.run_until(at(1000));
    pair.write(Side::A, 20_000);
    pair.run_until(at(10_000));
    assert_eq!(pair[Side::B].read, 21_000);
    let again = pair.log.iter().filter(|p| p.transmit.kind == SendKind::Reinjection).count();
    assert!((1..=40).contains(&again), "{again} segments of 20 on two subflows");
    let mut pair = Pair::new(config.mptcp(false), tcp(), ms(10));
    pair.write(Side::A, 20_000);
    pair.run_until(at(10_000));
    let again = pair.log.iter().filter(|p| p.transmit.kind == SendKind::Reinjection).count();
    assert_eq!((pair[Side::B].read, again), (20_000, 0));
}

/// Five segments are lost, and the timer finds it.
#[test]
fn a_scheduler_hears_of_losses_that_the_timer_finds() {
    let lost = Seen::default();
    let config = tcp().scheduler(insistent(&lost));
    let mut pair = Pair::new(config.clone(), config, ms(10));
    pair.run_until(at(1000));
    pair.filter(|p| if p.at == at(1000) { Fate::Drop } else { Fate::Pass });
    pair.write(Side::A, 5000);
    pair.run_until(at(5000));
    assert_eq!((pair[Side::B].read, lost.lock().unwrap().iter().sum::<u64>()), (5000, 5000));
}

/// The subflow on path 1 is withdrawn at 1 s: from then on its row says that it is not there, to either side.
#[test]
fn the_row_of_a_subflow_that_has_ended_counts_for_nobody() {
    for side in [Side::A, Side::B] {
        let constant = Constant::new(10.0, None);
        let config = mptcp().controller(constant.choice()).scheduler("round-robin".parse().unwrap());
        let mut pair = joined(config.clone(), config, &[10, 10], 1000);
        pair.run_until(at(900));
        pair.write(Side::A, 200_000);
        pair.run_until(at(1000));
        assert!(constant.rows.lock().unwrap().last().unwrap()[1].established);
        pair.with(side, |c| c.withdraw(1));
        pair.run_until(at(1030));
        constant.rows.lock().unwrap().clear();
        pair.write(Side::A, 100_000);
        pair.run_until(at(5000));
        assert_eq!(pair[Side::B].read, 301_000);
        let rows = constant.rows.lock().unwrap();
        assert!(!rows.is_empty());
        for row in rows.iter().filter(|of| of.len() > 1).map(|of| of[1]) {
            assert!(
                !row.established && !row.can_send && row.oldest == (0, 0) && row.in_flight == 0,
                "{side:?} {row:?}"
            );
        }
    }
}

/// 100 kB/s on one path. The application writes while pacing holds the second segment back: it leaves when it may, not later.
#[test]
fn a_write_while_a_segment_is_paced_loses_no_time() {
    let constant = Constant::new(40.0, Some(100_000.0));
    let config = tcp().controller(constant.choice());
    let mut pair = Pair::new(config.clone(), config, ms(50));
    pair.run_until(at(1000));
    pair.write(Side::A, 2000);
    pair.run_until(at(1003));
    pair.write(Side::A, 1000);
    pair.run_until(at(2000));
    let times: Vec<u64> = pair.log.iter().filter(|p| p.data_n.is_some()).map(|p| p.at.0 / 1_000_000).collect();
    assert_eq!(times, [1000, 1010, 1020]);
}

/// The time of a paced segment comes with a write of the application, before the driver has run the timers: it leaves at once.
#[test]
fn a_write_at_the_time_of_a_paced_segment_lets_it_leave() {
    let constant = Constant::new(40.0, Some(100_000.0));
    let config = tcp().controller(constant.choice());
    let mut pair = Pair::new(config.clone(), config, ms(50));
    pair.run_until(at(1000));
    let left = pair.with(Side::A, |c| {
        c.write(2000);
        let first = [c.poll_transmit(at(1000)).is_some(), c.poll_transmit(at(1000)).is_some()];
        c.write(1000);
        (first, c.poll_transmit(at(1010)).is_some())
    });
    assert_eq!(left, ([true, false], true));
}

/// Who lists profiles learns whose behaviour each is, and from where.
#[test]
fn each_profile_says_whose_it_is() {
    use anabranch_stack::config::Profile;
    for (profile, whose, source) in [
        (Profile::Modern, "standards-track RFCs", "RFC 8985, RFC 9937"),
        (Profile::Classic, "version 0.1", "RFC 6675, RFC 6298"),
        (Profile::Linux61, "Linux 6.1", "docs/linux.md"),
        (Profile::Linux618, "Linux 6.18", "docs/linux.md"),
    ] {
        let (line, from) = profile.described();
        assert!(line.contains(whose) && from == source, "{line}: {from}");
    }
}
