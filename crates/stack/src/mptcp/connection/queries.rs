//! What a driver may ask of a connection.

use super::Connection;
use crate::event::{SendBlock, SubflowId};
use crate::mptcp::send_stream::Fin;
use crate::tcp::subflow::Subflow;

impl Connection {
    /// Multipath TCP is in use, or still being negotiated.
    pub fn is_multipath(&self) -> bool {
        !self.negotiation.is_plain()
    }

    /// The token that a join of this connection must carry to this host (RFC 8684 3.2).
    pub fn token(&self) -> Option<u32> {
        self.negotiation.token()
    }

    /// The subflows by number, including those that have ended.
    pub fn subflows(&self) -> &[Subflow] {
        &self.paths.subflows
    }

    /// Segments and octets that this host holds for reordering, because of holes in a subflow or in the data stream. If several
    /// subflows hold a copy of an octet, it counts for each of them. The sum can therefore exceed the receive buffer, which
    /// bounds the number of distinct octets.
    #[inline]
    pub fn held(&self) -> (u64, u64) {
        let (packets, octets) = self.recv.held();
        if self.fast.has_no_holes() {
            return (packets, octets);
        }
        let (p, o) = self.paths.held();
        (packets + p, octets + o)
    }

    /// The part of [`Connection::held`] that arrived on `subflow`.
    pub fn held_by(&self, subflow: SubflowId) -> (u64, u64) {
        let (packets, octets) = self.paths.subflows[subflow].held();
        let (p, o) = self.recv.held_by(subflow);
        (packets + p, octets + o)
    }

    /// Octets written and not yet acknowledged at data level.
    pub fn unacknowledged(&self) -> u64 {
        self.send.unacknowledged()
    }

    /// Octets written and neither sent nor assigned to a subflow.
    #[inline]
    pub fn unassigned(&self) -> u64 {
        self.send.unassigned()
    }

    /// Octets written and not yet sent.
    pub fn unsent(&self) -> u64 {
        self.send.unassigned() + self.distribution.assigned(&self.paths)
    }

    /// The end of our stream has been sent, as a DATA_FIN or in plain TCP a FIN, and was acknowledged or not. `None`: it has not.
    pub fn is_end_acknowledged(&self) -> Option<bool> {
        match self.send.fin() {
            Fin::Open => None,
            Fin::Sent { .. } => Some(false),
            Fin::Acked => Some(true),
        }
    }

    /// Why the last poll did not send more data.
    #[inline]
    pub fn limit(&self) -> SendBlock {
        self.distribution.limit()
    }

    /// Octets of the peer's stream that have arrived in order.
    pub fn received(&self) -> u64 {
        self.recv.nxt()
    }

    /// Octets that can be read now.
    pub fn readable(&self) -> u64 {
        self.recv.readable()
    }
}
