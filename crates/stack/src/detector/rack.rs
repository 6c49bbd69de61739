//! `rack`: detection by time (RACK, RFC 8985 6). A segment is lost if a segment sent after it has arrived, and it should itself
//! have arrived by now, plus a reordering window. That window is zero at first. Once reordering was seen it is a quarter of the
//! minimum round-trip time, and it grows with each round trip in which the receiver reports an unnecessary retransmission
//! (D-SACK; RFC 8985 3.3.2, 4).
//!
//! Retransmissions that are lost are found like anything else. After a timeout only what is late is lost. The last segments of a flight,
//! after which nothing arrives, are probed (TLP, section 7): two round trips after the last departure or acknowledgement a new segment, or
//! the last one again, draws an acknowledgement. If that copy turns out to have been needed, it has repaired the loss, and the congestion
//! response follows. Without SACK NewReno's rules hold (RFC 8985 4; RFC 6582), as with `rfc6675`, and nothing is probed.

mod order;

use order::Departures;

use super::rfc6675::Rfc6675;
use super::{AckSample, DUP_THRESH, Detector, Due, Finding, Outstanding, Scoreboard, Sent};
use crate::registry::{Builtin, Info, Need};
use crate::seq::Seq;
use crate::time::{Duration, Instant};

pub(crate) static BUILTIN: Builtin<dyn Detector> = Builtin {
    info: Info::new("rack", "RACK-TLP: a segment is lost if a later one arrived and a reordering window has passed; probes the tail")
        .label("RACK-TLP")
        .source("RFC 8985")
        .needs(&[Need::Sack, Need::Scoreboard, Need::Departures, Need::Timer])
        .validated(
            "hand-computed losses, reordering and windows; scripts: displacement, a lost retransmission, a timeout, a lost tail",
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
    /// Longest reordering so far: octets from the end of a late segment to RACK.fack.
    reordering: u64,
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
    departures: Departures,
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
        if let Some((end, _)) = ack.arrivals.lowest.filter(|&(end, _)| end < self.fack) {
            self.reordering_seen = true;
            self.reordering = self.reordering.max(self.fack - end);
        }
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
        let age = Duration(self.rtt.0 + self.window.0);
        self.departures.advance(board, newest);
        while let Some(seq) = self.departures.take_late(now, board, age) {
            board.mark_lost(seq);
        }
        self.at = self.departures.last_overtaken(board).map(|departed| departed + age);
    }
}

impl Detector for Rack {
    fn on_sent(&mut self, now: Instant, sent: &Sent, srtt: Duration) {
        self.departures.on_sent(now, sent);
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
            self.departures.forget();
        }
    }

    fn reordering(&self, mss: u32) -> u32 {
        let segments = self.reordering.div_ceil(mss.max(1).into()) + u64::from(self.reordering > 0);
        u32::try_from(segments).unwrap_or(u32::MAX).max(DUP_THRESH)
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
        self.departures.forget();
    }

    fn on_resume(&mut self) {
        self.departures.forget();
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
mod tests;
