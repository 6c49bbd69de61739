//! Loss episodes: how one begins, and what each acknowledgement does to the one in progress.
//!
//! With SACK: RFC 6675 over the scoreboard. Without: NewReno, RFC 6582, whose inflated window is the
//! [`reduction`](crate::reduction)'s beside a window that stays at ssthresh. Either way an episode ends when `recover` is
//! acknowledged, and a timeout (RFC 6298, RFC 5681 3.1) replaces it by slow start over everything that is not SACKed.

use super::undo::Entry;
use super::{OFF, Sender};
use crate::controller::{Adjust, Cause, Congestion, Path};
use crate::event::{Event, Events};
use crate::judge::Episode;
use crate::reduction;
use crate::sample::AckSample;
use crate::seq::Seq;
use crate::tcp::timestamps;
use crate::time::Instant;

/// The episode in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// None.
    Open,
    /// The window was cut for an ECN echo; one cut a window (RFC 3168 6.1.2).
    Cwr {
        /// snd_nxt at its beginning.
        recover: Seq,
    },
    /// Fast recovery.
    Fast {
        /// RFC 6582 2 `recover`, RFC 6675 2 RecoveryPoint.
        recover: Seq,
        /// The retransmission that opens the episode (or answers a partial acknowledgement of NewReno) is still to be
        /// sent; it does not ask the window.
        retransmit_first: bool,
        /// NewReno: the first partial acknowledgement has come (RFC 6582 3.2 step 3).
        partial: bool,
        /// RFC 6675 5 NextSeg rule (4): one rescue an episode.
        rescued: bool,
    },
    /// After a timeout.
    Loss {
        /// snd_nxt at the timeout: no fast retransmit below it (RFC 6675 5.1, RFC 6582 4).
        recover: Seq,
        /// F-RTO: new data goes out instead of retransmissions.
        probe: Probe,
    },
}

/// Whether a judge wants new data sent instead of retransmissions (RFC 5682 2.1 step 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probe {
    /// It does not.
    No,
    /// It does, and none has been sent.
    Wanted,
    /// Some has been sent; the next acknowledgement decides.
    Sent,
}

impl Sender {
    /// Loss recovery's part of an acknowledgement: detector, judge, episode, controller.
    pub(super) fn on_sample(&mut self, sample: &mut AckSample, paths: &[Path], events: &mut Events) {
        let now = sample.now;
        self.duplicates += u32::from(sample.duplicate);
        let marked = self.board.marked();
        let outstanding = self.outstanding();
        (sample.srtt, sample.min_rtt) = (outstanding.srtt, outstanding.min_rtt);
        self.detector.on_ack(sample, &mut self.board, &outstanding);
        sample.lost = self.board.marked() - marked;
        if sample.lost > 0 {
            self.controller.on_lost(now, sample.lost);
        }
        // RFC 3465 2.3: the acknowledgement that ends it still belongs to the slow start after a timeout.
        sample.after_timeout = matches!(self.phase, Phase::Loss { .. });
        let verdict = self.judge.on_ack(sample);
        let decided = self.on_verdict(verdict, sample, events);
        let fast = match self.phase {
            Phase::Open => false,
            Phase::Cwr { recover } => {
                // Above, not at it: the ACK of just that window still echoes, because the CWR is on its way.
                if self.una > recover {
                    self.phase = Phase::Open;
                }
                false
            }
            Phase::Fast { recover, .. } => {
                self.on_fast_ack(sample, recover);
                true
            }
            Phase::Loss { recover, .. } => {
                if self.una >= recover {
                    self.phase = Phase::Open;
                }
                false
            }
        };
        // The acknowledgement whose verdict set the window does not enlarge it as well.
        let grows = sample.acked > 0 && !decided && !fast && !matches!(self.phase, Phase::Cwr { .. });
        if grows && !self.is_held(now) {
            // RFC 5681 3.1 (2): cwnd += min (N, SMSS); (3) counts acknowledgements, too.
            let most = if self.byte_counting { u64::MAX } else { u64::from(self.mss) };
            sample.growth = sample.acked.min(most);
            self.controller.on_ack(sample, paths, self.id);
        } else {
            self.controller.on_other_ack(sample, paths, self.id);
        }
        let open = matches!(self.phase, Phase::Open | Phase::Cwr { .. });
        if !fast && open && self.begins(sample) {
            self.enter_fast(now, sample.delivered(), paths, events);
        }
    }

    /// The detector says that recovery is to begin. (What the verdict has changed counts.)
    fn begins(&self, sample: &AckSample) -> bool {
        self.detector.begins(sample, &self.board, &self.outstanding())
    }

    fn on_fast_ack(&mut self, sample: &AckSample, until: Seq) {
        let flight = self.flight_size();
        let held = self.is_held(sample.now);
        let Phase::Fast { retransmit_first, partial, rescued, .. } = &mut self.phase else { return };
        if self.una >= until {
            self.phase = Phase::Open;
            self.reduction.on_exit();
            if !self.selective && !held {
                self.controller.adjust(Adjust::Deflate { flight });
            }
            return;
        }
        let window = self.controller.window().octets();
        self.reduction.on_ack(sample, window, self.board.pipe());
        if !self.selective && sample.acked > 0 {
            // RFC 6582 3.2 step 3, partial acknowledgement.
            let first_partial = !*partial;
            (*retransmit_first, *partial, *rescued) = (true, true, false);
            // "Impatient": only the first partial acknowledgement restarts the timer.
            if !first_partial {
                self.rto_at = self.rto_before;
            }
            self.rto_before = self.rto_at;
        }
    }

    /// TCP-DOOR (1): the congestion response is disabled for a while, window and timer are held.
    #[inline]
    pub fn is_held(&self, now: Instant) -> bool {
        now < self.hold_until
    }

    fn congest(&mut self, now: Instant, cause: Cause, repeated: bool, paths: &[Path], events: &mut Events) {
        if self.is_held(now) {
            // What is lost is retransmitted all the same: an episode taken for spurious beforehand.
            if !repeated {
                events.push_back(Event::Congestion { subflow: self.id, cause });
                events.push_back(Event::Judged { subflow: self.id, spurious: true, restored: false });
            }
            return;
        }
        if !repeated {
            self.begin_episode(now, cause);
            events.push_back(Event::Congestion { subflow: self.id, cause });
        }
        let before = self.controller.window().cwnd;
        let flight_size = match self.phase {
            // Between a timeout and the end of its episode only what was sent since is in the network: a sender that went
            // back to snd_una (RFC 5681 3.1) would have nothing else in its FlightSize.
            Phase::Loss { .. } => self.board.pipe(),
            // RFC 5681 3.2 step 2: what limited transmit sent does not count. With SACK FlightSize may be more than the window.
            Phase::Open if cause == Cause::Timeout => (self.flight_size() - self.limited_sent).min(before as u64),
            _ => self.flight_size() - self.limited_sent,
        };
        let nested = cause == Cause::Timeout && self.phase != Phase::Open;
        self.controller.on_congestion(&Congestion { now, cause, flight_size, repeated, nested }, paths, self.id);
        // The least ssthresh, two segments, may be more than the window was (one segment after a lost SYN).
        self.controller.adjust(Adjust::AtMost(before));
        // RFC 3168 6.1.2: CWR tells of a reduction for any reason.
        self.cwr = true;
        self.cut_at = self.nxt;
    }

    /// The ledger and the judge hear of a new episode.
    fn begin_episode(&mut self, now: Instant, cause: Cause) {
        let window = self.controller.window();
        let pipe_prev =
            if window.ssthresh.is_finite() { window.ssthresh.max(self.flight_size() as f64) } else { window.ssthresh };
        let before = self.controller.snapshot();
        self.ledger.begin(Entry { at: now, cause, before, pipe_prev, rtt_prev: self.rtt.saved() });
        self.acked_since_loss = [0, self.acked_since_loss[0]];
        // RFC 3522 3.2 step (2): of the copy that is on its way already, if an earlier episode sent one of the oldest
        // segment ([`Sender::enter_fast`] then sends none).
        let on_its_way = cause == Cause::FastRetransmit && self.selective && self.board.front_is_retransmitted();
        let copy = self.board.front().filter(|_| on_its_way);
        self.judge.on_episode(&Episode {
            now,
            cause,
            snd_una: self.una,
            snd_nxt: self.nxt,
            timestamp: timestamps::clock(copy.map_or(now, |c| c.sent_at)),
            nested: matches!(self.phase, Phase::Fast { .. } | Phase::Loss { .. }),
        });
    }

    fn enter_fast(&mut self, now: Instant, delivered: u64, paths: &[Path], events: &mut Events) {
        // RFC 3168 6.1.2: a loss in a window already cut for ECN does not cut it again.
        if self.phase == Phase::Open {
            self.congest(now, Cause::FastRetransmit, false, paths, events);
        }
        // After an episode that was undone, a copy of the oldest segment may be on its way already.
        let retransmit_first = !(self.selective && self.board.front_is_retransmitted());
        self.phase = Phase::Fast { recover: self.nxt, retransmit_first, partial: false, rescued: false };
        self.board.begin_episode(self.una);
        self.reduction.on_enter(&reduction::Entry {
            flight_size: self.flight_size(),
            pipe: self.board.pipe(),
            sacked: self.board.sacked_octets(),
            delivered,
            window: self.controller.window().octets(),
            mss: self.mss,
            sack: self.selective,
        });
        self.recover = self.nxt;
        self.rto_before = OFF;
    }

    /// An ECN echo arrived (RFC 3168 6.1.2): once a window, as if a segment had been lost.
    pub(super) fn on_ecn_echo(&mut self, now: Instant, paths: &[Path], events: &mut Events) {
        // Nor for what still echoes marks of the window that was cut last, for whatever cause: CWR goes out behind it.
        if self.phase == Phase::Open && self.una > self.cut_at && !self.is_held(now) {
            self.congest(now, Cause::Ecn, false, paths, events);
            self.phase = Phase::Cwr { recover: self.nxt };
        }
    }

    /// The retransmission timer expired with data outstanding (RFC 6298 5.4-5.6, RFC 5681 3.1).
    pub fn on_timeout(&mut self, now: Instant, paths: &[Path], events: &mut Events) {
        let repeated = self.retries > 1;
        self.congest(now, Cause::Timeout, repeated, paths, events);
        if self.is_held(now) {
            // TCP-DOOR (1): the oldest segment goes out again, window and timer stay.
            self.held_timeout = true;
            self.rto_at = now + self.rtt.rto();
            self.rto_before = self.rto_at;
            return;
        }
        self.adapt = None;
        let marked = self.board.marked();
        let outstanding = self.outstanding();
        self.detector.on_timeout(now, &mut self.board, &outstanding);
        let lost = self.board.marked() - marked;
        if lost > 0 {
            self.controller.on_lost(now, lost);
        }
        self.leave_fast();
        self.phase = Phase::Loss { recover: self.nxt, probe: Probe::No };
        self.recover = self.nxt;
        self.limited_sent = 0;
        // What was a zero-window probe goes on at the interval it has reached.
        for _ in 0..=core::mem::take(&mut self.probes) {
            self.rtt.back_off();
        }
        self.rto_at = now + self.rtt.rto();
        self.timeout_due = !self.has_room(self.mss);
    }

    /// Whatever fast recovery was going on is over.
    pub(super) fn leave_fast(&mut self) {
        if matches!(self.phase, Phase::Fast { .. }) {
            self.reduction.on_exit();
        }
        self.duplicates = 0;
    }

    /// When the detector wants to be asked again; [`OFF`] if it does not.
    #[inline]
    pub fn detector_deadline(&self) -> Instant {
        self.detector.deadline().unwrap_or(OFF)
    }

    /// The detector's deadline has come.
    pub fn on_detector_deadline(&mut self, now: Instant, paths: &[Path], events: &mut Events) {
        let marked = self.board.marked();
        let outstanding = self.outstanding();
        let begins = self.detector.on_deadline(now, &mut self.board, &outstanding);
        let lost = self.board.marked() - marked;
        if lost > 0 {
            self.controller.on_lost(now, lost);
        }
        if begins && matches!(self.phase, Phase::Open | Phase::Cwr { .. }) {
            self.enter_fast(now, 0, paths, events);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::undo::tests::Bench;
    use crate::controller::Adjust;

    /// A window that was made smaller than what is in flight: the path has not been found to hold more than the window.
    #[test]
    fn a_timeout_takes_the_window_for_the_flight_if_it_is_smaller() {
        for (part, halves) in [(2.0, 4.0), (1.0, 2.0)] {
            let mut b = Bench::lived("uncoupled".parse().unwrap(), true);
            let flight = b.subflow.sender.flight_size() as f64;
            assert!(flight >= 10_000.0);
            b.subflow.sender.controller.adjust(Adjust::AtMost(flight / part));
            b.time_out();
            assert_eq!(b.subflow.ssthresh(), flight / halves);
        }
    }
}
