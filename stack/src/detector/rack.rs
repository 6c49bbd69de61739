//! `rack`: detection by time (RACK, RFC 8985 6). A segment is lost if a segment sent after it has arrived, and it should itself
//! have arrived by now, plus a reordering window. That window is zero at first. Once reordering was seen it is a quarter of the
//! minimum round-trip time, and it grows with each round trip in which the receiver reports an unnecessary retransmission
//! (D-SACK; RFC 8985 3.3.2, 4).
//!
//! Retransmissions that are lost are found like anything else. After a timeout only what is late is lost. The last segments of a flight,
//! after which nothing arrives, are probed (TLP, section 7): two round trips after the last departure or acknowledgement a new segment, or
//! the last one again, draws an acknowledgement. If that copy turns out to have been needed, it has repaired the loss, and the congestion
//! response follows. Without SACK NewReno's rules hold (RFC 8985 4; RFC 6582), as with `rfc6675`, and nothing is probed.

use super::rfc6675::Rfc6675;
use super::{AckSample, DUP_THRESH, Detector, Due, Finding, Outstanding, Scoreboard, Sent};
use crate::registry::{Builtin, Info, Need};
use crate::seq::Seq;
use crate::time::{Duration, Instant};

pub(crate) static BUILTIN: Builtin<dyn Detector> = Builtin {
    info: Info::new("rack", "RACK-TLP: late by a reordering window against what was sent after it; the tail is probed")
        .source("RFC 8985")
        .needs(&[Need::Sack, Need::Scoreboard, Need::Departures, Need::Timer])
        .validated(
            "worked numbers: loss, reordering, windows; scripted: displacement, a lost retransmission, a timeout, the tail",
        ),
    make: |_, _| Box::<Rack>::default(),
};

/// How long the peer may delay an acknowledgement of a single segment (RFC 8985 7.2 TLP.max_ack_delay; Linux's longest delay).
const MAX_ACK_DELAY: Duration = Duration::from_millis(200);
/// The probe timeout before the first round-trip sample (RFC 8985 7.2).
const FIRST_PTO: Duration = Duration::from_secs(1);
/// How long a round-trip time counts for the least one (Linux: `tcp_min_rtt_wlen`).
const LEAST_RTT_WINDOW: Duration = Duration::from_secs(300);
/// Recoveries for which a widened window stays (RFC 8985 6.2 step 4).
const PERSIST: u32 = 16;

/// RFC 8985 6.2 step 1: the least of recent round-trip times, so that a path may grow: the least of a window, and the least since half
/// a window after that one, which succeeds it.
#[derive(Debug, Default)]
struct LeastRtt {
    /// The least of the whole connection, to see when it changes.
    ever: Duration,
    least: (Duration, Instant),
    next: (Duration, Instant),
}

impl LeastRtt {
    fn update(&mut self, now: Instant, ever: Duration, sample: Option<Duration>) {
        if ever != self.ever {
            self.ever = ever;
            (self.least, self.next) = ((ever, now), (ever, now));
            return;
        }
        let Some(rtt) = sample else { return };
        let age = now.since(self.least.1);
        if rtt <= self.least.0 {
            (self.least, self.next) = ((rtt, now), (rtt, now));
        } else if age > LEAST_RTT_WINDOW {
            (self.least, self.next) = (self.next, (rtt, now));
        } else if rtt <= self.next.0 || (self.next == self.least && age.0 > LEAST_RTT_WINDOW.0 / 2) {
            self.next = (rtt, now);
        }
    }
}

#[derive(Debug, Default)]
struct Rack {
    /// Of the segments that have arrived, the one sent last: RACK.xmit_ts, RACK.end_seq.
    newest: Option<(Instant, Seq)>,
    /// RACK.rtt.
    rtt: Duration,
    /// RACK.min_RTT.
    least: LeastRtt,
    /// RACK.fack.
    fack: Seq,
    reordering_seen: bool,
    /// RACK.reo_wnd.
    window: Duration,
    /// RACK.reo_wnd_mult, less one.
    widened: u32,
    persist: u32,
    /// RACK.dsack_round.
    dsack_round: Option<Seq>,
    recovering: bool,
    /// Deadline of the reordering timer (RFC 8985 6.2 step 5).
    at: Option<Instant>,
    /// Every segment below it is SACKed, or lost and waiting for its retransmission.
    settled: Seq,
    tail: Tail,
}

/// Tail loss probes (RFC 8985 7).
#[derive(Debug, Default)]
struct Tail {
    /// The probe timer.
    at: Option<Instant>,
    /// TLP.end_seq: SND.NXT after the probe that is out, and whether it is a retransmission (TLP.is_retrans).
    probe: Option<(Seq, bool)>,
    /// No round-trip sample was taken since the last probe.
    stale: bool,
    srtt: Duration,
    snd_una: Seq,
    /// Recovery is in progress, or something is SACKed: no probes.
    held: bool,
    /// A probe has repaired a loss, and nobody has been told.
    repaired: bool,
}

impl Tail {
    /// RFC 8985 7.2: the probe timeout counts from `now`; `single`: one segment is in flight, whose acknowledgement may be delayed.
    fn arm(&mut self, now: Instant, single: bool) {
        let pto = if self.srtt == Duration::ZERO { FIRST_PTO } else { self.srtt.saturating_mul(2) };
        self.at = Some(now + pto + if single { MAX_ACK_DELAY } else { Duration::ZERO });
    }

    /// RFC 8985 7.4.2: what an acknowledgement says of the probe; 7.2: the timer.
    fn on_ack(&mut self, ack: &AckSample, board: &Scoreboard, sender: &Outstanding) {
        (self.srtt, self.snd_una) = (sender.srtt, ack.snd_una);
        self.stale &= ack.rtt.is_none();
        if let Some((end, copy)) = self.probe.filter(|&(end, _)| ack.snd_una >= end) {
            let needless = ack.dsack.is_some_and(|(_, to)| to == end);
            let nothing = ack.acked == 0 && ack.sacked == 0 && ack.dsack.is_none();
            // In recovery the loss has had its response.
            self.repaired |= copy && !needless && ack.snd_una > end && !sender.recovering;
            if !copy || needless || ack.snd_una > end || nothing {
                self.probe = None;
            }
        }
        self.held = sender.recovering || board.sacked_segments() > 0 || board.has_lost();
        if self.held || ack.snd_una == ack.snd_nxt {
            self.at = None;
        } else if ack.acked > 0 {
            let single = board.front().is_some_and(|front| front.end() == ack.snd_nxt);
            self.arm(ack.now, single);
        }
    }
}

impl Rack {
    /// Steps 1 and 2: of the segments that have arrived, the one sent last, and its round-trip time.
    fn update(&mut self, ack: &AckSample) {
        let copy = ack.arrivals.copy.filter(|&(sent_at, _)| {
            // An acknowledgement that arrives too early for the retransmission, or echoes an older timestamp, is for the
            // original.
            let older = |ecr: u32| (ecr.wrapping_sub((sent_at.0 / 1_000_000) as u32) as i32) < 0;
            !ack.ts_ecr.is_some_and(older) && ack.now.since(sent_at) >= self.least.least.0
        });
        if let Some(newest) = ack.arrivals.original.max(copy) {
            self.rtt = ack.now.since(newest.0);
            self.newest = self.newest.max(Some(newest));
        }
    }

    /// Step 3: a segment that was never retransmitted has arrived below the highest one that arrived before.
    fn notice_reordering(&mut self, ack: &AckSample, board: &Scoreboard) {
        self.reordering_seen |= ack.arrivals.lowest.is_some_and(|(end, _)| end < self.fack);
        self.fack = self.fack.max(ack.snd_una).max(board.high_sacked());
    }

    /// Step 4: the reordering window.
    fn adapt(&mut self, ack: &AckSample, board: &Scoreboard, sender: &Outstanding) {
        if self.dsack_round.is_some_and(|round| ack.snd_una >= round) {
            self.dsack_round = None;
        }
        let left = self.recovering && !sender.recovering;
        self.recovering = sender.recovering;
        if self.dsack_round.is_none() && ack.dsack.is_some() {
            self.dsack_round = Some(ack.snd_nxt);
            self.widened += 1;
            self.persist = PERSIST;
        } else if left {
            self.persist = self.persist.saturating_sub(1);
            if self.persist == 0 {
                self.widened = 0;
            }
        }
        let sure = sender.recovering || board.sacked_segments() >= DUP_THRESH as usize;
        // RFC 8985 3.3.2: zero, or otherwise a quarter of the least round-trip time, times the reports, bounded by SRTT.
        self.window = if !self.reordering_seen && sure {
            Duration::ZERO
        } else {
            Duration(self.least.least.0.0 / 4).saturating_mul(u64::from(1 + self.widened)).min(sender.srtt)
        };
    }

    /// Step 5 (RFC 8985 9.2: by time, not by sequence): marks segments that were sent before the last-sent one that has arrived, and that are late.
    fn detect(&mut self, now: Instant, board: &mut Scoreboard) {
        self.at = None;
        let Some(newest) = self.newest else { return };
        let due = |s: &Sent| s.sent_at + Duration(self.rtt.0 + self.window.0);
        let mut late = Vec::new();
        let mut settled = None;
        for s in board.from(self.settled).filter(|s| !s.is_sacked() && !s.waits()) {
            if (s.sent_at, s.end()) >= newest {
                settled = settled.or(Some(s.seq));
                if s.transmissions == 1 {
                    // Segments above were sent later. Those that were retransmitted were sent later still.
                    break;
                }
            } else if due(s) <= now {
                late.push(s.seq);
            } else {
                settled = settled.or(Some(s.seq));
                self.at = self.at.max(Some(due(s)));
            }
        }
        self.settled = settled.unwrap_or(self.settled);
        late.into_iter().for_each(|seq| board.mark_lost(seq));
    }
}

impl Detector for Rack {
    fn on_sent(&mut self, now: Instant, sent: &Sent, srtt: Duration) {
        self.settled = self.settled.min(sent.seq);
        self.tail.srtt = srtt;
        if self.tail.snd_una == Seq::default() {
            // The first data: no acknowledgement has named SND.UNA yet.
            self.tail.snd_una = sent.seq;
        }
        if sent.transmissions == 1 && !self.tail.held {
            self.tail.arm(now, sent.seq == self.tail.snd_una);
        }
    }

    fn on_ack(&mut self, ack: &AckSample, board: &mut Scoreboard, sender: &Outstanding) {
        if sender.sack {
            self.least.update(ack.now, sender.min_rtt, ack.rtt);
            self.update(ack);
            self.notice_reordering(ack, board);
            self.adapt(ack, board, sender);
            // In order, what is outstanding was sent after what has arrived.
            let in_order = ack.sacked == 0 && !board.has_sacked() && !board.has_lost();
            if !in_order || self.at.is_some() || ack.arrivals.copy.is_some() {
                self.detect(ack.now, board);
            }
            self.tail.on_ack(ack, board, sender);
        } else {
            (self.tail.held, self.tail.at) = (true, None);
        }
    }

    fn finding(&mut self, ack: &AckSample, board: &Scoreboard, sender: &Outstanding) -> Finding {
        let repaired = std::mem::take(&mut self.tail.repaired);
        match () {
            () if !sender.sack => Rfc6675.finding(ack, board, sender),
            () if board.has_lost() => Finding::Loss,
            () if repaired => Finding::Repaired,
            () => Finding::Nothing,
        }
    }

    fn on_timeout(&mut self, now: Instant, board: &mut Scoreboard, sender: &Outstanding) {
        if !sender.sack {
            return Rfc6675.on_timeout(now, board, sender);
        }
        // 6.3: the first, and of the others what is late.
        (self.at, self.tail.at, self.tail.held) = (None, None, true);
        let (rtt, window) = (self.rtt.0, self.window.0);
        let late = |s: &Sent| s.seq == sender.snd_una || s.sent_at + Duration(rtt + window) <= now;
        let lost: Vec<Seq> = board.iter().filter(|s| !s.is_sacked() && late(s)).map(|s| s.seq).collect();
        lost.into_iter().for_each(|seq| board.mark_lost(seq));
        self.settled = sender.snd_una;
    }

    fn on_resume(&mut self) {
        self.settled = Seq::default();
    }

    fn limited_transmit(&self, duplicates: u32) -> u32 {
        Rfc6675.limited_transmit(duplicates)
    }

    fn rescues(&self) -> bool {
        false
    }

    fn deadline(&self) -> Option<Instant> {
        self.at.or(self.tail.at)
    }

    fn on_deadline(&mut self, now: Instant, board: &mut Scoreboard, sender: &Outstanding) -> Due {
        if self.at.is_some() {
            self.detect(now, board);
            if !board.has_lost() {
                return Due::Nothing;
            }
            (self.tail.at, self.tail.held) = (None, true);
            return Due::Loss;
        }
        // RFC 8985 7.3: one probe at a time, and not another before the round-trip time was sampled.
        let probes = self.tail.at.take().is_some() && self.tail.probe.is_none() && !self.tail.stale;
        if probes && sender.sack && sender.snd_una < sender.snd_nxt { Due::Probe } else { Due::Nothing }
    }

    fn on_probe(&mut self, snd_nxt: Seq, copy: bool) {
        self.tail.at = None;
        self.tail.probe = Some((snd_nxt, copy));
        self.tail.stale = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
