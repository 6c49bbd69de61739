//! What the connection does about a silent peer: the user timeout ([`Liveness`]), and keep-alives.
//!
//! Keep-alives (RFC 9293 3.8.4) belong to a subflow. They are sent only if nothing is outstanding
//! there and nothing has arrived for a time (MUST-26), without data (SHLD-12). A subflow on which
//! several of them remain unanswered is reset.
//!
//! Only a connection that asks for it pays for this: header prediction is off there, so that every
//! segment passes here.
//!
//! [`Liveness`]: crate::mptcp::liveness::Liveness

use super::Connection;
use crate::config::KeepAlive;
use crate::event::EndReason;
use crate::mptcp::negotiation::Mode;
use crate::mptcp::send_stream::Fin;
use crate::mptcp::timers::Timer;
use crate::segment::Signal;
use crate::tcp::subflow::State;
use crate::time::Instant;

impl Connection {
    /// Re-arms the user timeout after a transmission, an acknowledgement or a changed setting.
    pub(super) fn watch(&mut self, now: Instant) {
        // Data, the SYN of the connection or the end of the stream is not acknowledged.
        let ending = match *self.negotiation.mode() {
            Mode::Tcp => {
                let state = self.paths.subflows[self.fallback.subflow()].state;
                matches!(state, State::FinWait1 | State::Closing | State::LastAck)
            }
            _ => matches!(self.send.fin(), Fin::Sent { .. }),
        };
        let waits = self.send.is_outstanding() || ending || self.paths.awaits_syn_ack();
        let owed = waits && self.config.user_timeout.is_some() && !self.negotiation.is_over();
        self.liveness.watch(now, owed.then(|| (self.send.una(), self.paths.is_handshaking())));
    }

    /// The keep-alives that may be sent now. MUST-26: none while something is outstanding, nor while a
    /// closed window is probed.
    pub(super) fn keepalive(&self) -> Option<KeepAlive> {
        let ends = self.negotiation.is_over() || self.negotiation.fast_close().is_some();
        let probes = self.timers.runs(Timer::Persist) && self.paths.active.len() == 1;
        self.config.keepalive.filter(|_| !ends && !probes)
    }

    /// Runs what is due: the user timeout, and the end of subflows whose peer does not answer
    /// keep-alives.
    pub(super) fn on_watch_timer(&mut self, now: Instant) {
        if !self.negotiation.is_over() && self.liveness.take_expired(now, self.config.user_timeout) {
            // RFC 9293 3.10.8: "connection aborted due to user timeout".
            return self.give_up();
        }
        for k in 0..self.paths.active.len() {
            let id = self.paths.active[k];
            let due = self.keepalive().and_then(|keep| self.paths.keepalive_at(id, &keep)).is_some_and(|at| at <= now);
            if due && self.paths.is_given_up(now, id, &self.config) {
                self.reset(id, EndReason::TimedOut, Signal::None, None);
            }
        }
    }
}
