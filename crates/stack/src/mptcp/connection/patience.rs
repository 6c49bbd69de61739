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
use crate::mptcp::negotiation::Mode;
use crate::mptcp::send_stream::Fin;
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
}
