//! What a decision about data looks at and changes beside the scheduler, and what it decides.

use crate::config::Config;
use crate::event::{Events, SendKind, SubflowId};
use crate::mptcp::fallback::Fallback;
use crate::mptcp::fast_path::FastPath;
use crate::mptcp::negotiation::Negotiation;
use crate::mptcp::paths::Paths;
use crate::mptcp::send_stream::SendStream;
use crate::mptcp::timers::{Timer, Timers};
use crate::time::Instant;

/// Unanswered window probes after which their subflow counts as failing.
pub(crate) const PROBES: u32 = 2;

/// The parts of a connection that a decision about data looks at and changes. Neither the peer's
/// direction of the stream nor the composition of segments is among them.
pub(crate) struct Sending<'a> {
    pub paths: &'a mut Paths,
    pub send: &'a mut SendStream,
    pub timers: &'a mut Timers,
    pub fast: &'a mut FastPath,
    pub events: &'a mut Events,
    pub negotiation: &'a Negotiation,
    pub fallback: &'a mut Fallback,
    pub config: &'a Config,
}

/// A decision: `len` octets from data offset `data` on leave on `id`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Choice {
    pub id: SubflowId,
    pub data: u64,
    pub len: u32,
    pub kind: SendKind,
    /// Subflows that could have sent the data.
    pub choices: u16,
}

impl Sending<'_> {
    /// Returns true if data may have a second place in the sequence space.
    #[inline]
    pub fn may_duplicate(&self) -> bool {
        self.negotiation.may_duplicate() && !self.fallback.is_failing()
    }

    /// Returns true if blocked data may be sent again ([`Config::opportunistic_retransmission`],
    /// [`Config::penalisation`]).
    #[inline]
    pub fn may_unblock(&self) -> bool {
        self.fast.unblocks() && self.send.is_outstanding() && self.may_duplicate()
    }

    /// The connection is over: stops its timers and sends no more keep-alives.
    pub fn stop_timers(&mut self) {
        self.timers.stop_all();
        self.send.stop_retransmission(self.timers);
        self.paths.members.iter_mut().for_each(|m| m.suspicion = None);
    }

    /// Returns the subflow that can resend the window probe (the octet beyond the right edge of the
    /// peer's window): one that does not have this octet in flight.
    pub fn repeater(&self) -> Option<SubflowId> {
        if self.may_duplicate() { self.paths.prober(Some(self.send.edge())) } else { None }
    }

    /// RFC 9293 3.8.6.1, 3.8.6.2.1: arms the persist timer. The window is closed, or too small for
    /// a segment, and nothing is in flight whose acknowledgement would carry a window update.
    pub fn arm_persist(&mut self, now: Instant) {
        // A data-level retransmission is pending: its ACK will carry a window update. A window
        // probe sent first on that subflow would be refused, and the retransmission with it.
        if self.timers.runs(Timer::Data) || self.paths.expect_update(PROBES, self.config.stale_after > 0) {
            return;
        }
        // Every usable subflow already has the window probe in flight, and resends it by its own
        // retransmission timer.
        if self.send.nxt() > self.send.edge() && self.repeater().is_none() {
            return;
        }
        if !self.timers.runs(Timer::Persist) {
            let rto = self.paths.shortest_rto().unwrap_or(self.config.initial_rto);
            self.timers.set(Timer::Persist, now + rto);
        }
    }
}
