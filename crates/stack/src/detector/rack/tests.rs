//! RACK-TLP step by step, by hand (RFC 8985 3.3.2, 4, 6.2, 6.3, 7.2).

use super::*;
use crate::scoreboard::Arrivals;

fn at(ms: u64) -> Instant {
    Instant(ms * 1_000_000)
}

/// A minimum holds for its window: at its end it is still the least, later the next one is.
#[test]
fn a_least_round_trip_holds_for_its_window() {
    let ms = Duration::from_millis;
    let mut l = LeastRtt::default();
    l.update(at(0), ms(40), None);
    l.update(at(1), ms(40), Some(ms(50)));
    let end = Instant::ZERO + LEAST_RTT_WINDOW;
    // In its second half a larger one is kept, to follow it.
    l.update(Instant(end.0 / 2), ms(40), Some(ms(45)));
    l.update(Instant(end.0 / 4 * 3), ms(40), Some(ms(50)));
    l.update(end, ms(40), Some(ms(60)));
    assert_eq!(l.least.0, ms(40));
    l.update(end + ms(1), ms(40), Some(ms(60)));
    assert_eq!(l.least.0, ms(50));
}

/// Segments of 100 octets, sent a millisecond apart over a path of 40 ms.
struct Bench {
    rack: Rack,
    board: Scoreboard,
    sender: Outstanding,
}

impl Bench {
    fn sent(segments: u64) -> Self {
        let mut b = Self { rack: Rack::default(), board: Scoreboard::default(), sender: Outstanding::default() };
        let ms = Duration::from_millis;
        (b.sender.sack, b.sender.mss, b.sender.min_rtt, b.sender.srtt) = (true, 100, ms(40), ms(45));
        b.rack.least.update(at(0), ms(40), None);
        for n in 0..segments {
            let seq = Seq(1000 + 100 * n);
            b.board.push(seq, 100, 100 * n, at(n), false);
            b.rack.on_sent(at(n), &Sent::first(seq, 100 * n, 100, at(n)), Duration::ZERO);
        }
        (b.sender.snd_una, b.sender.snd_nxt) = (Seq(1000), Seq(1000 + 100 * segments));
        b
    }

    /// Everything below `una` is acknowledged.
    fn acked(&mut self, una: u64, now: u64, arrivals: Arrivals) {
        let snd_una = Seq(una);
        let acked = self.board.acknowledge(snd_una).octets;
        self.sender.snd_una = snd_una;
        let ack =
            AckSample { now: at(now), snd_una, snd_nxt: self.sender.snd_nxt, acked, arrivals, ..AckSample::default() };
        self.rack.on_ack(&ack, &mut self.board, &self.sender);
    }

    /// The SACK of segment `n` arrives 40 ms after it was sent, if not said otherwise. Whether recovery begins.
    fn sack(&mut self, n: u64, now: u64) -> bool {
        let sacked = self.board.sack(Seq(1000 + 100 * n), Seq(1100 + 100 * n));
        let ack = AckSample {
            now: at(now),
            snd_una: self.sender.snd_una,
            snd_nxt: self.sender.snd_nxt,
            sacked: sacked.octets,
            arrivals: sacked.arrivals,
            sack: true,
            ..AckSample::default()
        };
        self.rack.on_ack(&ack, &mut self.board, &self.sender);
        self.rack.finding(&ack, &self.board, &self.sender) == Finding::Loss
    }
}

/// Five are sent at 0 to 4 ms and the first is lost. 41: the second is SACKed; the window is a quarter of 40 ms, so that the first
/// would be late at 0 + 40 + 10. 43: three are SACKed and no reordering was seen: no window, it is lost.
#[test]
fn three_sacks_without_reordering_are_enough() {
    let mut b = Bench::sent(5);
    assert!(!b.sack(1, 41));
    assert_eq!((b.rack.rtt, b.rack.deadline()), (Duration::from_millis(40), Some(at(50))));
    assert!(!b.sack(2, 42));
    assert!(b.sack(3, 43));
    assert!(b.board.front_is_lost());
    // A verdict takes the marks back; the next acknowledgement, of nothing new, finds the first as late as it was (6.2: with every one).
    b.board.unmark_lost();
    b.rack.on_resume();
    assert!(b.rack.at.is_none() && b.sack(3, 60));
}

/// RFC 8985 3.3.2: in recovery, without reordering, there is no window either: the first SACK beyond the first segment makes it lost.
#[test]
fn in_recovery_without_reordering_one_sack_is_enough() {
    let mut b = Bench::sent(5);
    b.sender.recovering = true;
    b.sack(1, 41);
    assert!(b.board.front_is_lost());
}

/// The same where reordering was seen: the timer finds it at 50.
/// RFC 8985 6.2.
#[test]
fn with_reordering_the_timer_decides() {
    let mut b = Bench::sent(5);
    b.rack.reordering_seen = true;
    assert!((1..5).all(|n| !b.sack(n, 40 + n)));
    assert_eq!(b.rack.deadline(), Some(at(50)));
    assert_eq!(b.rack.on_deadline(at(49), &mut b.board, &b.sender), Due::Nothing);
    assert_eq!(b.rack.on_deadline(at(50), &mut b.board, &b.sender), Due::Loss);
    assert!(b.board.front_is_lost());
    assert_eq!(b.rack.deadline(), None);
}

/// RFC 8985 6.2 step 1: a path of 40 ms that has 100 ms from the second second on; 90 ms were sampled once, after 200 s.
#[test]
fn the_least_round_trip_time_is_that_of_five_minutes() {
    let ms = Duration::from_millis;
    let mut least = LeastRtt::default();
    let mut of = |second: u64, sample: u64| {
        least.update(at(1000 * second), ms(40), Some(ms(sample)));
        least.least.0.0 / 1_000_000
    };
    assert_eq!((of(0, 40), of(1, 40)), (40, 40));
    assert!((2..200).all(|second| of(second, 100) == 40));
    assert_eq!(of(200, 90), 40);
    assert!((201..=301).all(|second| of(second, 100) == 40));
    assert!((302..=500).all(|second| of(second, 100) == 90), "five minutes after the last 40");
    assert_eq!(of(501, 100), 100);
    assert_eq!(of(502, 30), 30, "a shorter one counts at once");
    // The least of all changes without a sample, as at the handshake.
    least.update(at(503_000), ms(20), None);
    assert_eq!(least.least.0, ms(20));
}

/// 10, 20, 30, 40 ms, then the smoothed round-trip time: with a least of 40 ms, smoothed 45 ms.
#[test]
fn the_window_grows_with_reports_of_duplicates_up_to_a_round_trip() {
    let mut b = Bench::sent(100);
    b.rack.reordering_seen = true;
    let mut windows = Vec::new();
    for round in 0..6 {
        let dsack = (round > 0).then_some((Seq(1000), Seq(1100)));
        // Each in a round trip of its own.
        let snd_una = Seq(1000 + 100 * round);
        let ack = AckSample { now: at(100 + round), snd_una, snd_nxt: snd_una + 50, dsack, ..AckSample::default() };
        b.rack.adapt(&ack, &b.board, &b.sender);
        windows.push(b.rack.window.0 / 1_000_000);
    }
    assert_eq!(windows, [10, 20, 30, 40, 45, 45]);
    // Sixteen recoveries later it is what it was.
    for _ in 0..PERSIST {
        for recovering in [true, false] {
            b.sender.recovering = recovering;
            let ack = AckSample { snd_una: Seq(5000), snd_nxt: Seq(6000), ..AckSample::default() };
            b.rack.adapt(&ack, &b.board, &b.sender);
        }
    }
    assert_eq!(b.rack.window, Duration::from_millis(10));
}

/// A retransmission at 50 ms is lost, too. Segment 9, sent at 60 for the first time, is SACKed at 100: what was sent before, late.
#[test]
fn a_lost_retransmission_is_found() {
    let mut b = Bench::sent(5);
    assert!((1..4).fold(false, |_, n| b.sack(n, 40 + n)));
    let sent = b.board.retransmit(0, at(50));
    b.rack.on_sent(at(50), &sent, Duration::ZERO);
    b.sender.recovering = true;
    b.sack(4, 51);
    assert!(!b.board.has_lost(), "it is under way");
    b.board.push(Seq(1500), 100, 500, at(60), false);
    b.sender.snd_nxt = Seq(1600);
    b.sack(5, 100);
    assert!(b.board.has_lost() && b.board.front_is_lost());
}

/// Segment 1 is displaced by 5 ms and arrives in time: reordering is seen, and nothing is lost.
#[test]
fn what_is_displaced_by_less_than_the_window_is_not_lost() {
    let mut b = Bench::sent(5);
    assert!(!b.sack(2, 42) && !b.sack(3, 43));
    assert!(!b.rack.reordering_seen);
    assert!(!b.sack(1, 46));
    assert!(b.rack.reordering_seen && !b.board.has_lost());
}

/// RFC 8985 7.2: two smoothed round-trip times, and 200 ms more for a single segment, whose acknowledgement may be delayed; a second if there is
/// no round-trip time yet.
#[test]
fn the_probe_timeout_is_two_round_trips_or_a_second() {
    for (srtt, single, due) in [(45, false, 190), (45, true, 390), (0, false, 1100), (0, true, 1300)] {
        let mut tail = Tail { srtt: Duration::from_millis(srtt), ..Tail::default() };
        tail.arm(at(100), single);
        assert_eq!(tail.at, Some(at(due)));
    }
}

/// RFC 8985 6.3: at the timeout the first is lost, and what is late; what was sent a moment ago is not.
#[test]
fn a_timeout_takes_what_is_late() {
    let mut b = Bench::sent(3);
    b.sack(1, 41);
    b.board.push(Seq(1300), 100, 300, at(230), false);
    b.rack.on_timeout(at(250), &mut b.board, &b.sender);
    let waits: Vec<bool> = b.board.iter().map(Sent::waits).collect();
    assert_eq!(waits, [true, false, true, false]);
}

/// One random event at `now`; returns whether the detector looked. `una` and `end` bound what is outstanding.
fn step(b: &mut Bench, next: &mut impl FnMut(u64) -> u64, (una, end): (&mut u64, &mut u64), now: u64) -> bool {
    match next(10) {
        0..=3 if *una < *end => {
            // What is reported last may be reported again, and now and then what is acknowledged meanwhile.
            let n = *una + next(*end - *una);
            b.sack(n, now);
            true
        }
        4 if *una < *end => {
            *una += 1 + next(*end - *una).min(2);
            let arrivals = arrivals(b, *una);
            b.acked(1000 + 100 * *una, now, arrivals);
            true
        }
        5 | 6 => {
            if let Some(i) = b.board.next_lost() {
                let sent = b.board.retransmit(i, at(now));
                b.rack.on_sent(at(now), &sent, Duration::ZERO);
            }
            false
        }
        7 => {
            let seq = Seq(1000 + 100 * *end);
            b.board.push(seq, 100, 100 * *end, at(now), false);
            b.rack.on_sent(at(now), &Sent::first(seq, 100 * *end, 100, at(now)), Duration::ZERO);
            *end += 1;
            b.sender.snd_nxt = Seq(1000 + 100 * *end);
            false
        }
        8 if next(4) == 0 => {
            b.rack.on_timeout(at(now), &mut b.board, &b.sender);
            false
        }
        9 if next(4) == 0 => {
            b.board.unmark_lost();
            b.rack.on_resume();
            false
        }
        _ => {
            b.rack.detect(at(now), &mut b.board);
            true
        }
    }
}

/// What the acknowledgement of everything before segment `una` tells of.
fn arrivals(b: &Bench, una: u64) -> Arrivals {
    let before: Vec<Sent> = b.board.iter().copied().collect();
    let mut arrivals = Arrivals::default();
    for s in before.iter().filter(|s| s.end() <= Seq(1000 + 100 * una) && !s.is_sacked()) {
        let this = Some((s.sent_at, s.end()));
        if s.transmissions > 1 {
            arrivals.copy = arrivals.copy.max(this);
        } else {
            arrivals.original = this;
        }
    }
    arrivals
}

/// Random SACKs, acknowledgements, retransmissions, timeouts and verdicts: after each acknowledgement and deadline, exactly those segments
/// are lost that departed before one that has arrived, and long enough ago, and the timer waits for the last of the others.
/// RFC 8985 6.2 step 5.
#[test]
fn detection_agrees_with_its_definition() {
    let mut x = 11_u64;
    let mut next = |n: u64| {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (x >> 33) % n
    };
    let mut found = [0; 3];
    for life in 0..400_u64 {
        let mut b = Bench::sent(20);
        b.rack.reordering_seen = life % 2 == 0;
        let (mut una, mut end, mut now) = (0, 20, 40);
        for _ in 0..60 {
            now += next(8);
            let under_way: Vec<Sent> = b.board.iter().filter(|s| !s.is_sacked() && !s.waits()).copied().collect();
            let looked = step(&mut b, &mut next, (&mut una, &mut end), now);
            if !looked {
                continue;
            }
            b.rack.detect(at(now), &mut b.board);
            let age = Duration(b.rack.rtt.0 + b.rack.window.0);
            let overtaken = |s: &Sent| b.rack.newest.is_some_and(|newest| (s.sent_at, s.end()) < newest);
            let late = |s: &Sent| overtaken(s) && s.sent_at + age <= at(now);
            for s in &under_way {
                let Some(after) = b.board.ending_at(s.end()) else { continue };
                assert!(after.is_sacked() || after.waits() == late(s), "life {life} at {now}: {s:?} {:?}", b.rack);
                found[usize::from(after.waits())] += 1;
            }
            let waiting = b.board.iter().filter(|s| !s.is_sacked() && !s.waits() && overtaken(s));
            let last = waiting.map(|s| s.sent_at + age).max();
            assert_eq!(b.rack.at, last, "life {life} at {now}: {:?}", b.rack);
            found[2] += usize::from(last.is_some());
        }
    }
    assert!(found.iter().all(|&n| n > 1000), "{found:?}");
}

/// 6.2 step 5, "upon each ACK": the retransmission of the first, sent at 50 ms, arrives at 90, and of the three that were sent before, the last
/// would be late at 49 + 40 + 10. A timeout at 95 takes the others, and the timer. The acknowledgement of the second itself, at 96, starts it
/// again, with the round-trip time of that: 49 + 52 + 10.
#[test]
fn after_a_timeout_what_is_not_late_yet_is_waited_for() {
    let mut b = Bench::sent(1);
    for (n, sent) in [(1, 44), (2, 45), (3, 49)] {
        b.board.push(Seq(1000 + 100 * n), 100, 100 * n, at(sent), false);
    }
    b.sender.snd_nxt = Seq(1400);
    b.acked(1100, 90, Arrivals { copy: Some((at(50), Seq(1100))), ..Arrivals::default() });
    assert_eq!(b.rack.at, Some(at(99)));
    b.rack.on_timeout(at(95), &mut b.board, &b.sender);
    let waits: Vec<bool> = b.board.iter().map(Sent::waits).collect();
    assert_eq!((waits, b.rack.at), (vec![true, true, false], None));
    b.acked(1200, 96, Arrivals { original: Some((at(44), Seq(1200))), ..Arrivals::default() });
    assert_eq!(b.rack.at, Some(at(111)));
}
