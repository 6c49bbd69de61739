//! Loss episodes: how an episode begins, and what each acknowledgement does to the episode in progress.
//!
//! With SACK, recovery is RFC 6675 over the scoreboard. Without SACK it is NewReno, RFC 6582: the [`reduction`](crate::reduction)
//! keeps the inflation, and the window itself stays at ssthresh. Either kind of episode ends when `recover` is acknowledged. A
//! timeout (RFC 6298, RFC 5681 3.1) replaces the episode by slow start over everything that is not SACKed.

use super::recovery::Phase;
use super::undo::Entry;
use super::{OFF, Sender};
use crate::controller::{Adjust, Cause, Congestion, Path};
use crate::detector::{Due, Finding, Outstanding};
use crate::event::{Event, Events};
use crate::judge::Episode;
use crate::reduction;
use crate::sample::AckSample;
use crate::scoreboard::Sent;
use crate::seq::Seq;
use crate::tcp::timestamps;
use crate::time::Instant;

impl Sender {
    /// Passes the sample of an acknowledgement to detector, judge, the episode in progress and controller, in this order.
    pub(super) fn on_sample(&mut self, sample: &mut AckSample, paths: &[Path], events: &mut Events) {
        let now = sample.now;
        self.recovery.count_duplicate(sample.duplicate);
        let mut outstanding = self.outstanding();
        (sample.srtt, sample.min_rtt) = (outstanding.srtt, outstanding.min_rtt);
        self.detect(sample, &outstanding);
        let lost = sample.lost;
        if let Some(rate) = &mut sample.rate {
            rate.lost += lost;
            rate.in_flight = self.in_flight();
        }
        // RFC 3465 2.3: the acknowledgement that ends the slow start after a timeout still belongs to it.
        sample.after_timeout = matches!(self.recovery.phase(), Phase::Loss { .. });
        let verdict = self.judge.on_ack(sample);
        let decided = self.on_verdict(verdict, sample, events);
        let fast = match self.recovery.phase() {
            Phase::Open => false,
            Phase::Cwr { recover } => {
                // CWR ends above `recover`, not at it: the ACK of exactly that window still carries ECE, because our CWR is still
                // on its way to the peer.
                if self.una > recover {
                    self.recovery.end();
                }
                false
            }
            Phase::Fast { recover, .. } => {
                self.on_fast_ack(sample, recover);
                if lost > 0 {
                    self.answer_lost_retransmission(now, paths, events);
                }
                true
            }
            Phase::Loss { recover, .. } => {
                if self.una >= recover {
                    self.recovery.end();
                }
                false
            }
        };
        // If the verdict set the window, this acknowledgement does not grow it as well.
        let grows = sample.acked > 0 && !decided && !fast && !matches!(self.recovery.phase(), Phase::Cwr { .. });
        self.grow(grows && !self.is_held(now), sample, paths);
        let open = matches!(self.recovery.phase(), Phase::Open | Phase::Cwr { .. });
        if !fast && open {
            // The verdict, or the end of the episode, may have changed these.
            (outstanding.duplicates, outstanding.recover) = (self.recovery.duplicates(), self.recovery.point());
            outstanding.recovering = false;
            let finding = self.detector.finding(sample, &self.board, &outstanding);
            if finding != Finding::Nothing {
                self.on_finding(finding, sample, paths, events);
            }
        }
        if lost > 0 {
            self.note_lost_segments(now);
        }
    }

    /// The controller hears of the acknowledgement; the window grows with it if `grows`.
    #[inline(always)]
    pub(super) fn grow(&mut self, grows: bool, sample: &mut AckSample, paths: &[Path]) {
        if grows {
            if !self.rules.byte_counting {
                // RFC 5681 3.1 (2): cwnd += min(N, SMSS). This also applies to (3), where acknowledgements are counted.
                sample.growth = sample.growth.min(u64::from(self.mss));
            }
            self.controller.on_ack(sample, paths, self.id);
        } else {
            sample.growth = 0;
            self.controller.on_other_ack(sample, paths, self.id);
        }
    }

    /// The detector marks what is lost, or finds that nothing was.
    fn detect(&mut self, sample: &mut AckSample, outstanding: &Outstanding) {
        let marked = self.board.marked();
        self.detector.on_ack(sample, &mut self.board, outstanding);
        sample.lost = self.board.marked() - marked;
        if sample.lost > 0 {
            self.controller.on_lost(sample.now, sample.lost);
        } else if self.rules.withholds && sample.acked > 0 {
            if let Some(before) = self.detector.take_reordered() {
                self.controller.adjust(Adjust::Reordered { flight: self.board.pipe(), before });
            }
        }
    }

    /// What the detector has found, given the state that the verdict may just have changed.
    fn on_finding(&mut self, finding: Finding, sample: &AckSample, paths: &[Path], events: &mut Events) {
        match finding {
            Finding::Nothing => {}
            Finding::Loss => self.enter_fast(sample.now, sample.delivered(), paths, events),
            Finding::Repaired if self.recovery.is_open() => {
                // RFC 8985 7.4.2: as for fast recovery, but there is nothing to recover; one cut a window.
                self.congest(sample.now, Cause::FastRetransmit, false, paths, events);
                self.recovery.begin_cwr(self.nxt);
            }
            Finding::Repaired => {}
        }
    }

    fn on_fast_ack(&mut self, sample: &AckSample, until: Seq) {
        let flight = self.flight_size();
        let held = self.is_held(sample.now);
        let Phase::Fast { retransmit_first, partial, rescued, .. } = self.recovery.phase_mut() else { return };
        // RFC 6675 5 (A), (B): beyond RecoveryPoint recovery ends, and before it goes on.
        if self.una >= until {
            // RFC 5681 3.2 step 6, 4.3: the episode ends with cwnd at ssthresh.
            self.recovery.end();
            self.reduction.on_exit();
            if !self.selective && !held {
                self.controller.adjust(Adjust::Deflate { flight });
            }
            return;
        }
        let window = self.controller.octets();
        self.reduction.on_ack(sample, window, self.board.pipe());
        if !self.selective && sample.acked > 0 {
            // RFC 6582 3.2 step 3: partial acknowledgement.
            let first_partial = !*partial;
            (*retransmit_first, *partial, *rescued) = (true, true, false);
            // "Impatient" variant: only the first partial acknowledgement restarts the timer.
            if !first_partial {
                self.rto_at = self.recovery.rto_before();
            }
            self.recovery.set_rto_before(self.rto_at);
        }
    }

    /// TCP-DOOR (1): the congestion response is suspended; window and retransmission timeout do not change.
    #[inline]
    pub fn is_held(&self, now: Instant) -> bool {
        self.recovery.is_held(now)
    }

    fn congest(&mut self, now: Instant, cause: Cause, repeated: bool, paths: &[Path], events: &mut Events) {
        if self.is_held(now) {
            // No congestion response, but the loss is retransmitted. The events report an episode that was judged spurious in
            // advance.
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
        let flight_size = match self.recovery.phase() {
            // After a timeout only what was sent since is in the network. A sender that goes back to SND.UNA (RFC 5681 3.1) would
            // count only that as its FlightSize.
            Phase::Loss { .. } => self.board.pipe(),
            // RFC 5681 3.2 step 2: octets sent by limited transmit do not count. With SACK, FlightSize may exceed the window.
            Phase::Fast { .. } if cause == Cause::FastRetransmit => self.flight_size().min(before as u64),
            Phase::Open if cause == Cause::Timeout => {
                (self.flight_size() - self.recovery.limited_sent()).min(before as u64)
            }
            _ => self.flight_size() - self.recovery.limited_sent(),
        };
        let nested = cause == Cause::Timeout && !self.recovery.is_open();
        self.controller.on_congestion(&Congestion { now, cause, flight_size, repeated, nested }, paths, self.id);
        // The minimum ssthresh, two segments, may exceed the previous window (one segment after a lost SYN). A reduction never
        // increases the window.
        self.controller.adjust(Adjust::AtMost(before));
        // RFC 3168 6.1.1, 6.1.2: CWR reports a window reduction for any reason.
        self.cwr = true;
        self.recovery.note_cut(self.nxt, now);
    }

    /// RFC 8985 9.3, RFC 5681 4.3: the loss of a retransmission that was sent after the last cut is another indication of congestion, unless
    /// the window comes down with what is delivered.
    fn answer_lost_retransmission(&mut self, now: Instant, paths: &[Path], events: &mut Events) {
        let (_, cut) = self.recovery.cut();
        let again = |s: &Sent| s.waits() && s.transmissions > 1 && s.sent_at >= cut;
        let fast = self.recovery.is_fast();
        if fast && !self.reduction.is_proportional() && self.board.iter().any(again) {
            self.congest(now, Cause::FastRetransmit, false, paths, events);
        }
    }

    /// Records a new episode in the undo ledger and tells the judge.
    fn begin_episode(&mut self, now: Instant, cause: Cause) {
        let window = self.controller.window();
        let pipe_prev =
            if window.ssthresh.is_finite() { window.ssthresh.max(self.flight_size() as f64) } else { window.ssthresh };
        let before = self.controller.snapshot();
        self.ledger.begin(Entry { at: now, cause, before, pipe_prev, rtt_prev: self.rtt.saved() });
        self.recovery.begin_count();
        // RFC 3522 3.2 step (2) stores the timestamp of the retransmission. If an earlier episode retransmitted the head segment
        // and that copy is still in flight, take the copy's timestamp: [`Sender::enter_fast`] sends no other.
        let on_its_way = cause == Cause::FastRetransmit && self.selective && self.board.front_is_retransmitted();
        let copy = self.board.front().filter(|_| on_its_way);
        self.judge.on_episode(&Episode {
            now,
            cause,
            snd_una: self.una,
            snd_nxt: self.nxt,
            timestamp: timestamps::clock(copy.map_or(now, |c| c.sent_at)),
            nested: self.recovery.is_repairing(),
        });
    }

    fn enter_fast(&mut self, now: Instant, delivered: u64, paths: &[Path], events: &mut Events) {
        // RFC 3168 6.1.2: a loss in a window that was already reduced for ECN does not reduce it again. RFC 5681 4.3: one in another window
        // does.
        if self.recovery.is_open() {
            self.congest(now, Cause::FastRetransmit, false, paths, events);
        }
        // After an undone episode a retransmission of the head segment may still be in flight.
        let retransmit_first = !(self.selective && self.board.front_is_retransmitted());
        self.recovery.begin_fast(self.nxt, retransmit_first);
        self.board.begin_episode(self.una);
        self.reduction.on_enter(&reduction::Entry {
            now,
            flight_size: self.flight_size(),
            pipe: self.board.pipe(),
            sacked: self.board.sacked_octets(),
            delivered,
            window: self.controller.octets(),
            mss: self.mss,
            sack: self.selective,
        });
        self.recovery.set_point(self.nxt);
        self.recovery.set_rto_before(OFF);
    }

    /// An ECN echo arrived (RFC 3168 6.1.2): respond as to a lost segment, once per window.
    pub(super) fn on_ecn_echo(&mut self, now: Instant, paths: &[Path], events: &mut Events) {
        // ECE for data below `cut_at` is ignored: the window was already reduced since, and our CWR follows that data.
        if self.recovery.is_open() && self.una > self.recovery.cut().0 && !self.is_held(now) {
            self.congest(now, Cause::Ecn, false, paths, events);
            self.recovery.begin_cwr(self.nxt);
        }
    }

    /// The retransmission timer expired with data outstanding (RFC 6298 5.4-5.6, RFC 5681 3.1).
    pub fn on_timeout(&mut self, now: Instant, paths: &[Path], events: &mut Events) {
        let repeated = self.retries > 1;
        self.congest(now, Cause::Timeout, repeated, paths, events);
        if self.is_held(now) {
            // TCP-DOOR (1): retransmit the head segment; window and retransmission timeout stay.
            self.due.held_timeout = true;
            self.rto_at = now + self.rtt.rto();
            self.recovery.set_rto_before(self.rto_at);
            return;
        }
        self.recovery.adapt_never();
        // RFC 2018 5: the head segment goes again, SACKed or not. If it is SACKed and not acknowledged, its receiver has it no more.
        if self.board.front().is_some_and(Sent::is_sacked) {
            self.board.forget_sacks();
        }
        let marked = self.board.marked();
        let outstanding = self.outstanding();
        self.detector.on_timeout(now, &mut self.board, &outstanding);
        let lost = self.board.marked() - marked;
        if lost > 0 {
            self.controller.on_lost(now, lost);
            self.note_lost_segments(now);
        }
        // RFC 6582 3.2 step 4.
        self.leave_fast();
        self.recovery.begin_loss(self.nxt);
        self.recovery.forget_limited();
        // RFC 6298 5.5. A segment that was a zero-window probe also keeps the interval that its probes had reached.
        for _ in 0..=core::mem::take(&mut self.probes) {
            self.rtt.back_off();
        }
        self.rto_at = now + self.rtt.rto();
        self.due.timeout = !self.has_room(self.mss);
    }

    /// Ends fast recovery, if it is in progress.
    pub(super) fn leave_fast(&mut self) {
        if self.recovery.is_fast() {
            self.reduction.on_exit();
        }
        self.recovery.forget_duplicates();
    }

    /// The detector's next deadline; [`OFF`] if it has none.
    #[inline]
    pub fn detector_deadline(&self) -> Instant {
        if self.rules.timed { self.detector.deadline().unwrap_or(OFF) } else { OFF }
    }

    /// The detector's deadline has passed, or the retransmission timer is about to expire. With the peer's window closed nothing is probed
    /// for loss: what is in flight is a probe of the window.
    pub fn on_detector_deadline(&mut self, now: Instant, window_closed: bool, paths: &[Path], events: &mut Events) {
        let marked = self.board.marked();
        let outstanding = self.outstanding();
        let due = self.detector.on_deadline(now, &mut self.board, &outstanding);
        let lost = self.board.marked() - marked;
        if lost > 0 {
            self.controller.on_lost(now, lost);
        }
        match due {
            Due::Loss if matches!(self.recovery.phase(), Phase::Open | Phase::Cwr { .. }) => {
                self.enter_fast(now, 0, paths, events);
            }
            Due::Probe if !window_closed => {
                self.due.tail_probe = true;
                // RFC 8985 7.3: the retransmission timer follows the probe.
                self.rto_at = now + self.rtt.rto();
            }
            _ if lost > 0 => self.answer_lost_retransmission(now, paths, events),
            _ => {}
        }
        if lost > 0 {
            self.note_lost_segments(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::undo::tests::Bench;
    use crate::controller::Adjust;
    use crate::event::Events;
    use crate::time::Instant;

    /// A retransmission is found lost while TCP-DOOR holds the response, and waits to leave again: a deadline that finds nothing more does
    /// not tell of it once more.
    #[test]
    fn a_deadline_that_finds_nothing_lost_tells_nothing() {
        let mut b = Bench::lived("uncoupled".parse().unwrap(), true);
        b.lose();
        let sender = &mut b.subflow.sender;
        sender.recovery.hold(Instant::FAR_FUTURE);
        let una = sender.una;
        sender.board.mark_lost(una);
        assert!(sender.board.front().is_some_and(|front| front.waits() && front.transmissions == 2));
        let mut events = Events::new();
        sender.on_detector_deadline(b.now, false, &b.paths, &mut events);
        assert!(events.is_empty());
    }

    /// The window was made smaller than the flight. The path has not proved to hold more than the window.
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
