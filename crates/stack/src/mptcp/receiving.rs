//! The receiving side of a connection: how an arriving payload finds its place in the peer's
//! stream, and how the receive window follows the reader.

mod coupled;
mod payload;
mod reading;
mod verifying;

pub(crate) use verifying::{checksum_of, is_intact};

use crate::config::{Acknowledgement, Config};
use crate::event::{Events, SubflowId};
use crate::mptcp::fallback::Fallback;
use crate::mptcp::fast_path::FastPath;
use crate::mptcp::negotiation::Negotiation;
use crate::mptcp::paths::Paths;
use crate::mptcp::recv_stream::RecvStream;
use crate::segment::{ResetReason, Signal};

/// The parts of a connection that arriving data and the reader look at and change. Neither our
/// direction of the stream nor the scheduler nor a timer is among them, and the protocol is not
/// changed.
pub(crate) struct Receiving<'a> {
    pub paths: &'a mut Paths,
    pub recv: &'a mut RecvStream,
    pub fallback: &'a mut Fallback,
    pub fast: &'a mut FastPath,
    pub events: &'a mut Events,
    pub negotiation: &'a Negotiation,
    pub config: &'a Config,
}

/// What the connection has to do because of a payload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Refusal {
    /// RFC 8684 3.7: reset the subflow, with this signal and this reason.
    Reset {
        /// MP_FAIL, or nothing.
        signal: Signal,
        /// The reason in the reset.
        reason: ResetReason,
    },
    /// RFC 1122 4.2.2.13: reset the connection, because the application reads no more.
    Unread,
}

impl Refusal {
    /// A box on the path has changed the segment, or removed its options.
    fn middlebox(signal: Signal) -> Self {
        Self::Reset { signal, reason: ResetReason::MIDDLEBOX }
    }
}

impl Receiving<'_> {
    /// Delivers verified data of `id`, in order.
    pub fn release(&mut self, id: SubflowId) {
        if !self.fallback.has_failed(id) {
            self.paths.release_verified(id, self.negotiation.is_plain(), self.recv.delivered());
        }
    }

    /// After a fallback, all data of `id` that is in order there enters the stream.
    pub fn deliver_all(&mut self, id: SubflowId) {
        self.recv.delivered().clear();
        self.release(id);
        let before = self.recv.nxt();
        self.recv.place_delivered(id);
        if self.config.acknowledgement == Acknowledgement::Coupled {
            self.release_parked();
        }
        if self.recv.nxt() > before {
            self.events.note_readable();
        }
    }
}

#[cfg(test)]
mod tests;
