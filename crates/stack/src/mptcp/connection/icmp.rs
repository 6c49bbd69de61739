//! Messages from routers and hosts for one subflow: ICMP.

use super::Connection;
use crate::event::SubflowId;
use crate::time::Instant;

/// What an ICMP message says of a segment of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IcmpError {
    /// The segment was too large for a link: of TCP options and payload together, `room` octets
    /// fit. Without effect unless the segment is in flight and larger ones are being sent.
    TooBig {
        /// Octets for options and payload.
        room: u32,
    },
    /// The segment found no protocol or port, or nobody may pass: a hard error. RFC 9293 3.9.2.2,
    /// SHLD-26: it ends the subflow whose SYN it quotes, as a RST does. Once the states are
    /// synchronised it is taken for a soft error, which ends nothing (RFC 5461 4.1): anyone who
    /// guesses the four-tuple can send one.
    Unreachable,
    /// The segment was not forwarded, for a reason that may pass. Without effect unless it is in
    /// flight.
    Soft,
}

impl Connection {
    /// An ICMP message about a segment of ours on `subflow` with the sequence number `seq`.
    pub fn handle_icmp(&mut self, now: Instant, subflow: SubflowId, seq: u32, error: IcmpError) {
        match error {
            IcmpError::TooBig { room } => self.paths.on_too_big(now, subflow, seq, room, &mut self.fast),
            IcmpError::Unreachable => {
                let Some(reason) = self.paths.on_unreachable(subflow, seq, &mut self.events) else { return };
                self.on_subflow_end(subflow, reason);
                self.progress(now);
                let (distribution, mut w) = self.sending();
                distribution.refresh(&mut w, subflow);
            }
            IcmpError::Soft => self.paths.on_soft_error(subflow, seq, &mut self.events),
        }
    }
}
