//! Loss detection and recovery of a subflow: what an acknowledgement or a timeout does to the episode in progress.
//!
//! With SACK: RFC 6675 over the scoreboard. Without: NewReno, RFC 6582, whose inflated window is kept as `inflation`
//! beside a window that stays at ssthresh. Either way an episode ends when `recover` is acknowledged, and a timeout
//! (RFC 6298, RFC 5681 3.1) replaces it by slow start over everything that is not SACKed.

use super::scoreboard::{Acked, DUP_THRESH, Sent};
use super::subflow::Subflow;
use super::undo::Entry;
use crate::controller::{Ack, Cause, Congestion, View};
use crate::event::{Event, Events, SendKind};
use crate::judge::{Episode, Evidence, Response, Verdict};
use crate::segment::Door;
use crate::seq::Seq;
use crate::time::{Duration, Instant};

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
    No,
    /// It does, and none has been sent.
    Wanted,
    /// Some has been sent; the next acknowledgement decides.
    Sent,
}

/// What an acknowledgement brought, as far as loss recovery needs it.
pub(crate) struct Feedback {
    pub acked: Acked,
    /// A duplicate acknowledgement by RFC 5681 2 (without SACK) or RFC 6675 2 (with SACK).
    pub duplicate: bool,
    pub dsack: Option<(Seq, Seq)>,
    /// With `dsack`: something outstanding had been SACKed before.
    pub sacked_before: bool,
    pub sacked_original: Option<Seq>,
    pub ack: Seq,
    pub una_before: Seq,
    /// It acknowledges less than an earlier one.
    pub old: bool,
    pub door: Door,
    pub ts_ecr: Option<u32>,
    /// The valid round-trip sample it gave.
    pub rtt: Option<Duration>,
    /// The congestion window was in use before this acknowledgement.
    pub cwnd_limited: bool,
    /// It echoes a congestion mark (RFC 3168 6.1.2).
    pub ece: bool,
}

impl Subflow {
    /// Octets in flight as the congestion window counts them.
    #[inline]
    pub(crate) fn in_flight(&self) -> u64 {
        if self.selective {
            return self.board.pipe();
        }
        let flight = self.flight_size();
        match self.phase {
            Phase::Loss { .. } => self.board.pipe(),
            // RFC 6582 3.2: the window is inflated by what has left the network.
            Phase::Fast { .. } => flight.saturating_add_signed(-self.inflation),
            // RFC 3042 2: limited transmit, one new segment for each of the first two duplicates.
            Phase::Open | Phase::Cwr { .. } => {
                flight.saturating_sub(u64::from(self.dupacks.min(DUP_THRESH - 1)) * u64::from(self.mss))
            }
        }
    }

    /// RFC 5681 2 FlightSize.
    #[inline]
    pub(crate) fn flight_size(&self) -> u64 {
        self.snd_nxt - self.snd_una
    }

    /// The window has room for `len` more octets.
    #[inline]
    pub(crate) fn has_room(&self, len: u32) -> bool {
        self.in_flight() + u64::from(len) <= self.controller.window().octets()
    }

    /// Loss recovery's part of an acknowledgement.
    pub(crate) fn on_feedback(&mut self, now: Instant, f: &Feedback, views: &[View], events: &mut Events) {
        if f.acked.octets > 0 {
            self.dupacks = 0;
            self.limited_sent = 0;
        }
        if f.duplicate {
            self.dupacks += 1;
        }
        if self.selective {
            self.board.update_lost(self.mss);
        }
        let verdict = self.judge.on_ack(&Evidence {
            now,
            ack: f.ack,
            una_before: f.una_before,
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
            acked: f.acked.octets,
            duplicate: f.duplicate,
            old: f.old,
            ts_ecr: f.ts_ecr,
            dsack: f.dsack,
            sacked_before: f.sacked_before,
            sacked_original: f.sacked_original,
            sack: self.selective,
            srtt: self.rtt.srtt().unwrap_or_default(),
            data_reordered: f.door.duplicate.is_some_and(|(_, reordered)| reordered),
            duplicate_number: f.door.duplicate.map(|(number, _)| number),
        });
        // RFC 3465 2.3: the acknowledgement that ends it still belongs to the slow start after a timeout.
        let after_timeout = matches!(self.phase, Phase::Loss { .. });
        let decided = self.on_verdict(now, verdict, f, events);
        match self.phase {
            Phase::Open => {}
            Phase::Cwr { recover } => {
                // Above, not at it: the ACK of just that window still echoes, because the CWR is on its way.
                if self.snd_una > recover {
                    self.phase = Phase::Open;
                }
            }
            Phase::Fast { recover, .. } => {
                self.on_fast_feedback(now, f, recover);
                return;
            }
            Phase::Loss { recover, .. } => {
                if self.snd_una >= recover {
                    self.phase = Phase::Open;
                }
            }
        }
        // The acknowledgement whose verdict set the window does not enlarge it as well.
        if f.acked.octets > 0 && !decided && !matches!(self.phase, Phase::Cwr { .. }) && !self.is_held(now) {
            // RFC 5681 3.1 (2): cwnd += min (N, SMSS); (3) counts acknowledgements, too.
            let most = if self.byte_counting { u64::MAX } else { u64::from(self.mss) };
            let ack = Ack {
                now,
                acked: f.acked.octets.min(most),
                rtt: f.rtt,
                cwnd_limited: f.cwnd_limited,
                after_timeout,
                snd_una: self.snd_una,
                snd_nxt: self.snd_nxt,
            };
            self.controller.on_ack(&ack, views, self.id);
        }
        if f.duplicate && matches!(self.phase, Phase::Open | Phase::Cwr { .. }) {
            // RFC 6675 5 (1), (2); RFC 5681 3.2 step 2 with RFC 6582 3.2 step 2.
            let enter = if self.selective {
                self.dupacks >= DUP_THRESH || self.board.front_is_lost()
            } else {
                self.dupacks >= DUP_THRESH && self.snd_una > self.recover
            };
            if enter {
                self.enter_fast(now, views, events);
            }
        }
    }

    fn on_fast_feedback(&mut self, now: Instant, f: &Feedback, recover: Seq) {
        let Phase::Fast { retransmit_first, partial, rescued, .. } = &mut self.phase else { return };
        let mss = i64::from(self.mss);
        if self.snd_una >= recover {
            let flight = self.snd_nxt - self.snd_una;
            self.phase = Phase::Open;
            self.inflation = 0;
            if !self.selective && !self.is_held(now) {
                // RFC 6582 3.2 step 3, full acknowledgement, option (1).
                let w = self.controller.window_mut();
                w.cwnd = w.ssthresh.min((flight as f64).max(w.mss) + w.mss);
            }
            return;
        }
        if self.selective {
            return;
        }
        if f.acked.octets > 0 {
            // RFC 6582 3.2 step 3, partial acknowledgement.
            let first_partial = !*partial;
            *retransmit_first = true;
            *partial = true;
            *rescued = false;
            self.inflation -= f.acked.octets as i64;
            if f.acked.octets >= u64::from(self.mss) {
                self.inflation += mss;
            }
            // "Impatient": only the first partial acknowledgement restarts the timer.
            if !first_partial {
                self.rto_at = self.rto_before;
            }
            self.rto_before = self.rto_at;
        } else if f.duplicate {
            self.inflation += mss;
        }
    }

    /// TCP-DOOR (1): the congestion response is disabled for a while, window and timer are held.
    #[inline]
    pub(super) fn is_held(&self, now: Instant) -> bool {
        now < self.hold_until
    }

    fn congest(&mut self, now: Instant, cause: Cause, repeated: bool, views: &[View], events: &mut Events) {
        if self.is_held(now) {
            // What is lost is retransmitted all the same: an episode taken for spurious beforehand.
            if !repeated {
                events.push_back(Event::Congestion { subflow: self.id, cause });
                events.push_back(Event::Judged { subflow: self.id, spurious: true, restored: false });
            }
            return;
        }
        if !repeated {
            let window = self.controller.window();
            self.ledger.begin(Entry {
                at: now,
                cause,
                before: self.controller.snapshot(),
                pipe_prev: if window.ssthresh.is_finite() {
                    window.ssthresh.max(self.flight_size() as f64)
                } else {
                    window.ssthresh
                },
                rtt_prev: self.rtt.saved(),
            });
            // RFC 3522 3.2 step (2): of the copy that is on its way already, if an earlier episode sent one of the oldest
            // segment ([`Subflow::enter_fast`] then sends none).
            let on_its_way = cause == Cause::FastRetransmit && self.selective && self.board.front_is_retransmitted();
            let copy = self.board.front().filter(|_| on_its_way);
            self.judge.on_episode(&Episode {
                now,
                cause,
                snd_una: self.snd_una,
                snd_nxt: self.snd_nxt,
                timestamp: Self::timestamp(copy.map_or(now, |c| c.sent_at)),
                nested: matches!(self.phase, Phase::Fast { .. } | Phase::Loss { .. }),
            });
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
        self.controller.on_congestion(&Congestion { now, cause, flight_size, repeated, nested }, views, self.id);
        // The least ssthresh, two segments, may be more than the window was (one segment after a lost SYN).
        let w = self.controller.window_mut();
        w.cwnd = w.cwnd.min(before);
        // RFC 3168 6.1.2: CWR tells of a reduction for any reason.
        self.send_cwr = self.ecn;
        self.cut_at = self.snd_nxt;
    }

    fn enter_fast(&mut self, now: Instant, views: &[View], events: &mut Events) {
        // RFC 3168 6.1.2: a loss in a window already cut for ECN does not cut it again.
        if self.phase == Phase::Open {
            self.congest(now, Cause::FastRetransmit, false, views, events);
        }
        // After an episode that was undone, a copy of the oldest segment may be on its way already.
        let retransmit_first = !(self.selective && self.board.front_is_retransmitted());
        self.phase = Phase::Fast { recover: self.snd_nxt, retransmit_first, partial: false, rescued: false };
        self.board.begin_episode(self.snd_una);
        self.inflation = i64::from(DUP_THRESH) * i64::from(self.mss);
        self.recover = self.snd_nxt;
        self.rto_before = Instant::FAR_FUTURE;
    }

    /// An ECN echo arrived (RFC 3168 6.1.2): once a window, as if a segment had been lost.
    pub(crate) fn on_ecn_echo(&mut self, now: Instant, views: &[View], events: &mut Events) {
        // Nor for what still echoes marks of the window that was cut last, for whatever cause: CWR goes out behind it.
        if self.phase == Phase::Open && self.snd_una > self.cut_at && !self.is_held(now) {
            self.congest(now, Cause::Ecn, false, views, events);
            self.phase = Phase::Cwr { recover: self.snd_nxt };
        }
    }

    /// The retransmission timer expired with data outstanding (RFC 6298 5.4-5.6, RFC 5681 3.1).
    pub(crate) fn on_data_timeout(&mut self, now: Instant, views: &[View], events: &mut Events) {
        let repeated = self.retries > 1;
        self.congest(now, Cause::Timeout, repeated, views, events);
        if self.is_held(now) {
            // TCP-DOOR (1): the oldest segment goes out again, window and timer stay.
            self.held_timeout = true;
            self.rto_at = now + self.rtt.rto();
            self.rto_before = self.rto_at;
            return;
        }
        self.adapt = None;
        self.board.mark_all_lost(self.snd_una, self.snd_nxt);
        self.phase = Phase::Loss { recover: self.snd_nxt, probe: Probe::No };
        self.recover = self.snd_nxt;
        self.dupacks = 0;
        self.limited_sent = 0;
        self.inflation = 0;
        // What was a zero-window probe goes on at the interval it has reached.
        for _ in 0..=core::mem::take(&mut self.probes) {
            self.rtt.back_off();
        }
        self.rto_at = now + self.rtt.rto();
    }

    /// What a judge's verdict leads to. True if it set the window.
    fn on_verdict(&mut self, now: Instant, verdict: Verdict, f: &Feedback, events: &mut Events) -> bool {
        match verdict {
            Verdict::Pending => false,
            Verdict::Probe => {
                if let Phase::Loss { probe, .. } = &mut self.phase {
                    *probe = Probe::Wanted;
                }
                false
            }
            Verdict::Genuine => {
                let probed = matches!(self.phase, Phase::Loss { probe: Probe::Wanted | Probe::Sent, .. });
                if probed {
                    // RFC 5682 2.1 step 3a: two round trips after the timeout slow start would have come as far.
                    let w = self.controller.window_mut();
                    w.cwnd = w.mss * 3.0;
                }
                self.stop_probing();
                events.push_back(Event::Judged { subflow: self.id, spurious: false, restored: false });
                probed
            }
            Verdict::Spurious => {
                let Some(entry) = self.ledger.take(Instant::ZERO) else { return false };
                self.respond(entry, f, events)
            }
            Verdict::Reordered { hold, undo } => {
                self.hold_until = self.hold_until.max(now + hold);
                let since = Instant(now.0.saturating_sub(undo.0));
                let Some(entry) = self.ledger.take(since) else { return false };
                self.respond(entry, f, events)
            }
        }
    }

    /// Nothing was lost: what counted as lost is in flight again, new data goes on (RFC 4015 3.2 step (8)). If something is
    /// missing after all, duplicates may start fast recovery for it (step (10)).
    fn resume(&mut self) {
        self.recover = Seq(self.snd_una.0 - 1);
        self.board.unmark_lost();
        self.phase = Phase::Open;
        self.dupacks = 0;
        self.inflation = 0;
    }

    /// F-RTO has its answer, or no new data to ask with: conventional recovery.
    pub(crate) fn stop_probing(&mut self) {
        if let Phase::Loss { probe, .. } = &mut self.phase {
            *probe = Probe::No;
        }
    }

    /// New data leaves: if a probe was wanted, that is one.
    pub(super) fn note_probe(&mut self) {
        if let Phase::Loss { probe: probe @ Probe::Wanted, .. } = &mut self.phase {
            *probe = Probe::Sent;
        }
    }

    /// A probe is wanted, the window has room, and yet none was sent: there is no new data (RFC 5682 2.1 step 2b).
    pub(crate) fn lacks_probe(&self) -> bool {
        matches!(self.phase, Phase::Loss { probe: Probe::Wanted, .. }) && self.has_room(self.mss)
    }

    /// The response to a spurious episode. True if a window came back.
    fn respond(&mut self, entry: Entry, f: &Feedback, events: &mut Events) -> bool {
        let response = match self.response {
            Response::Default => self.judge.default_response(),
            chosen => chosen,
        };
        let grown = self.controller.window().cwnd;
        match response {
            Response::Default | Response::None => {
                self.stop_probing();
                events.push_back(Event::Judged { subflow: self.id, spurious: true, restored: false });
                return false;
            }
            // RFC 9438 4.9.2: a window that has outgrown the saved one by now keeps its newer state.
            Response::Restore if grown > entry.before.window().cwnd => {}
            Response::Restore => self.controller = entry.before,
            Response::SlowStartToSaved => {
                let saved = entry.before.window().cwnd;
                let w = self.controller.window_mut();
                w.ssthresh = w.ssthresh.max(saved);
            }
            Response::Rfc4015 => {
                if entry.cause == Cause::Timeout {
                    self.adapt = Some((self.recover, entry.rtt_prev));
                }
                if f.ece {
                    // RFC 4015 3.2 step (9): the way is congested, the window stays cut, and is not cut once more.
                    self.resume();
                    self.phase = Phase::Cwr { recover: self.snd_nxt };
                    events.push_back(Event::Judged { subflow: self.id, spurious: true, restored: false });
                    return false;
                }
                // RFC 4015 3.2 step (9): in flight, plus what the ACK took out, at most the initial window.
                let flight = self.flight_size() as f64;
                self.controller = entry.before;
                let w = self.controller.window_mut();
                w.cwnd = (flight + (f.acked.octets as f64).min(w.initial)).max(w.mss);
                w.ssthresh = entry.pipe_prev;
            }
        }
        self.resume();
        self.ledger.count_undone();
        events.push_back(Event::Judged { subflow: self.id, spurious: true, restored: true });
        true
    }

    /// A round-trip sample of data that was first sent after a spurious timeout (RFC 4015 3.2, last step): the timer becomes
    /// as conservative as the path has shown to be necessary.
    pub(super) fn adapt_timer(&mut self, ack: Seq, sample: Option<Duration>) {
        if let (Some((beyond, saved)), Some(sample)) = (self.adapt, sample) {
            if ack > beyond {
                self.rtt.adapt(saved, sample);
                self.adapt = None;
            }
        }
    }

    /// The next segment that loss recovery wants to send again, if the window lets it.
    pub(crate) fn next_retransmission(&mut self, now: Instant) -> Option<(Sent, SendKind)> {
        let una = self.snd_una;
        if self.probe_due {
            self.probe_due = false;
            if self.board.is_empty() {
                return None;
            }
            self.rto_at = now + self.rtt.rto_after(self.probes);
            let sent = self.board.retransmit(0, now);
            self.judge.on_retransmit(sent.seq, sent.end());
            return Some((sent, SendKind::Probe));
        }
        if core::mem::take(&mut self.held_timeout) && !self.board.is_empty() {
            return Some((self.board.retransmit(0, now), SendKind::Timeout));
        }
        let wanted = self.board.has_lost() && self.has_room(self.mss);
        let (i, kind) = match &mut self.phase {
            Phase::Fast { retransmit_first, .. } if *retransmit_first => {
                *retransmit_first = false;
                (0, SendKind::Fast)
            }
            Phase::Fast { .. } if wanted => (self.board.next_lost()?, SendKind::Fast),
            Phase::Loss { probe: Probe::No, .. } if wanted => (self.board.next_lost()?, SendKind::Timeout),
            _ => return None,
        };
        if self.board.is_empty() {
            return None;
        }
        let sent = self.board.retransmit(i, now);
        self.judge.on_retransmit(sent.seq, sent.end());
        // RFC 6298 5.3 restarts the timer only for acknowledgements; restarting it with the retransmission of the oldest
        // segment (RFC 6675 6 lets one) keeps it from expiring before that could be acknowledged. So it does when F-RTO, having
        // waited a round trip, finds a timeout genuine. Not after a partial acknowledgement, which has its own rule (RFC
        // 6582 3.2 step 3).
        let partial = !self.selective && matches!(self.phase, Phase::Fast { partial: true, .. });
        if sent.seq == una && !partial {
            self.rto_at = now + self.rtt.rto();
        }
        Some((sent, kind))
    }

    /// NextSeg rules (3) and (4) of RFC 6675 4: nothing lost and no new data, but room.
    pub(crate) fn next_rescue(&mut self, now: Instant) -> Option<(Sent, SendKind)> {
        if !self.selective || !matches!(self.phase, Phase::Fast { .. }) || !self.has_room(self.mss) {
            return None;
        }
        let Phase::Fast { rescued, .. } = &mut self.phase else { return None };
        if let Some(i) = self.board.next_below_sacked() {
            let sent = self.board.retransmit(i, now);
            self.judge.on_retransmit(sent.seq, sent.end());
            return Some((sent, SendKind::Fast));
        }
        if *rescued {
            return None;
        }
        *rescued = true;
        let i = self.board.last_unsacked()?;
        let sent = self.board.rescue(i, now);
        self.judge.on_retransmit(sent.seq, sent.end());
        Some((sent, SendKind::Fast))
    }
}

#[cfg(test)]
mod tests {
    use super::super::undo::tests::Bench;

    /// A window that was made smaller than what is in flight: the path has not been found to hold more than the window.
    #[test]
    fn a_timeout_takes_the_window_for_the_flight_if_it_is_smaller() {
        for (part, halves) in [(2.0, 4.0), (1.0, 2.0)] {
            let mut b = Bench::lived("uncoupled".parse().unwrap(), true);
            let flight = b.subflow.flight_size() as f64;
            assert!(flight >= 10_000.0);
            b.subflow.controller.window_mut().cwnd = flight / part;
            b.time_out();
            assert_eq!(b.subflow.ssthresh(), flight / halves);
        }
    }
}
