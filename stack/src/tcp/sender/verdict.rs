//! What follows from a judge's verdict on an episode.

use super::Sender;
use super::episode::{Phase, Probe};
use super::undo::Entry;
use crate::controller::{Adjust, Cause};
use crate::event::{Event, Events};
use crate::judge::{Response, Verdict};
use crate::sample::AckSample;
use crate::seq::Seq;
use crate::time::Instant;

impl Sender {
    /// What a judge's verdict leads to. True if it set the window.
    pub(super) fn on_verdict(&mut self, verdict: Verdict, sample: &AckSample, events: &mut Events) -> bool {
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
                    self.controller.adjust(Adjust::Probed);
                }
                self.stop_probing();
                events.push_back(Event::Judged { subflow: self.id, spurious: false, restored: false });
                probed
            }
            Verdict::Spurious => {
                let Some(entry) = self.ledger.take(Instant::ZERO) else { return false };
                self.respond(entry, sample, events)
            }
            Verdict::Reordered { hold, undo } => {
                self.hold_until = self.hold_until.max(sample.now + hold);
                let since = Instant(sample.now.0.saturating_sub(undo.0));
                let Some(entry) = self.ledger.take(since) else { return false };
                self.respond(entry, sample, events)
            }
        }
    }

    /// Nothing was lost: what counted as lost is in flight again, new data goes on (RFC 4015 3.2 step (8)). If something is
    /// missing after all, duplicates may start fast recovery for it (step (10)).
    fn resume(&mut self) {
        self.recover = Seq(self.una.0 - 1);
        self.board.unmark_lost();
        self.detector.on_resume();
        self.leave_fast();
        self.phase = Phase::Open;
    }

    /// F-RTO has its answer, or no new data to ask with: conventional recovery.
    pub fn stop_probing(&mut self) {
        if let Phase::Loss { probe, .. } = &mut self.phase {
            *probe = Probe::No;
        }
    }

    /// New data leaves: if a probe was wanted, that is one.
    #[inline]
    pub(super) fn note_probe(&mut self) {
        if let Phase::Loss { probe: probe @ Probe::Wanted, .. } = &mut self.phase {
            *probe = Probe::Sent;
        }
    }

    /// A probe is wanted, the window has room, and yet none was sent: there is no new data (RFC 5682 2.1 step 2b).
    pub fn lacks_probe(&self) -> bool {
        matches!(self.phase, Phase::Loss { probe: Probe::Wanted, .. }) && self.has_room(self.mss)
    }

    /// The response to a spurious episode. True if a window came back.
    fn respond(&mut self, entry: Entry, sample: &AckSample, events: &mut Events) -> bool {
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
                self.controller.adjust(Adjust::SlowStartTo(entry.before.window().cwnd));
            }
            Response::Rfc4015 => {
                if entry.cause == Cause::Timeout {
                    self.adapt = Some((self.recover, entry.rtt_prev));
                }
                if sample.ece {
                    // RFC 4015 3.2 step (9): the way is congested, the window stays cut, and is not cut once more.
                    self.resume();
                    self.phase = Phase::Cwr { recover: self.nxt };
                    events.push_back(Event::Judged { subflow: self.id, spurious: true, restored: false });
                    return false;
                }
                let flight = self.flight_size();
                self.controller = entry.before;
                self.controller.adjust(Adjust::Resume { flight, acked: sample.acked, ssthresh: entry.pipe_prev });
            }
        }
        self.resume();
        self.ledger.count_undone();
        events.push_back(Event::Judged { subflow: self.id, spurious: true, restored: true });
        true
    }
}
