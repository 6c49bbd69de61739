//! What the sender does after a judge's verdict on a loss episode.

use super::Sender;
use super::recovery::{Phase, Probe};
use super::undo::Entry;
use crate::controller::{Adjust, Cause};
use crate::event::{Event, Events};
use crate::judge::{Response, Verdict};
use crate::sample::AckSample;
use crate::seq::Seq;
use crate::time::Instant;

impl Sender {
    /// Carries out a verdict. Returns true if it set the window.
    pub(super) fn on_verdict(&mut self, verdict: Verdict, sample: &AckSample, events: &mut Events) -> bool {
        match verdict {
            Verdict::Pending => false,
            Verdict::Probe => {
                if let Phase::Loss { probe, .. } = self.recovery.phase_mut() {
                    *probe = Probe::Wanted;
                }
                false
            }
            Verdict::Genuine => {
                let probed = matches!(self.recovery.phase(), Phase::Loss { probe: Probe::Wanted | Probe::Sent, .. });
                if probed {
                    // RFC 5682 2.1 step 3a: set the window that slow start would have reached two round trips after the timeout.
                    self.controller.adjust(Adjust::Probed);
                }
                self.stop_probing();
                events.push_back(Event::Judged { subflow: self.id, spurious: false, restored: false });
                probed
            }
            Verdict::Spurious => {
                let Some(entry) = self.ledger.take(Instant::ZERO) else {
                    self.stop_probing();
                    return false;
                };
                self.respond(entry, sample, events)
            }
            Verdict::Reordered { hold, undo } => {
                self.recovery.hold(sample.now + hold);
                let since = Instant(sample.now.0.saturating_sub(undo.0));
                let Some(entry) = self.ledger.take(since) else { return false };
                self.respond(entry, sample, events)
            }
        }
    }

    /// Nothing was lost: segments marked lost count as in flight again, and new data is sent (RFC 4015 3.2 step (8)). If a
    /// segment is missing after all, duplicate acknowledgements may start fast recovery for it (step (10)).
    fn resume(&mut self) {
        self.recovery.set_point(Seq(self.una.0 - 1));
        self.board.unmark_lost();
        self.detector.on_resume();
        self.leave_fast();
        self.recovery.end();
    }

    /// F-RTO has its verdict, or there is no new data for its probe: continue with conventional recovery.
    pub fn stop_probing(&mut self) {
        if let Phase::Loss { probe, .. } = self.recovery.phase_mut() {
            *probe = Probe::No;
        }
    }

    /// New data is sent. If a probe was wanted, this is the probe.
    #[inline]
    pub(super) fn note_probe(&mut self) {
        if let Phase::Loss { probe: probe @ Probe::Wanted, .. } = self.recovery.phase_mut() {
            *probe = Probe::Sent;
        }
    }

    /// A probe is wanted and the window has room, but none was sent: there is no new data (RFC 5682 2.1 step 2b).
    pub fn lacks_probe(&self, now: Instant) -> bool {
        matches!(self.recovery.phase(), Phase::Loss { probe: Probe::Wanted, .. })
            && self.has_room(self.mss)
            && self.paced_until(now).is_none()
    }

    /// Responds to a spurious episode. Returns true if a window was restored.
    fn respond(&mut self, entry: Entry, sample: &AckSample, events: &mut Events) -> bool {
        let response = match self.rules.response {
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
            // A model of the path is not a window: what was learnt from losses that there were not is forgotten.
            Response::Restore | Response::SlowStartToSaved if self.controller.reduces_itself() => {
                self.controller.restore(entry.before);
            }
            // RFC 9438 4.9.2: if the window has already outgrown the saved one, keep the newer state.
            Response::Restore if grown > entry.before.window().cwnd => {}
            Response::Restore => self.controller.restore(entry.before),
            Response::SlowStartToSaved => {
                self.controller.adjust(Adjust::SlowStartTo(entry.before.window().cwnd));
            }
            Response::Rfc4015 => {
                if entry.cause == Cause::Timeout {
                    self.recovery.adapt_later(entry.rtt_prev);
                }
                if sample.ece {
                    // RFC 4015 3.2 step (9): the path is congested. The window stays reduced, and this window is not reduced
                    // again.
                    self.resume();
                    self.recovery.begin_cwr(self.nxt);
                    events.push_back(Event::Judged { subflow: self.id, spurious: true, restored: false });
                    return false;
                }
                let flight = self.flight_size();
                self.controller.restore(entry.before);
                self.controller.adjust(Adjust::Resume { flight, acked: sample.acked, ssthresh: entry.pipe_prev });
            }
        }
        self.resume();
        self.ledger.count_undone();
        events.push_back(Event::Judged { subflow: self.id, spurious: true, restored: true });
        true
    }
}
