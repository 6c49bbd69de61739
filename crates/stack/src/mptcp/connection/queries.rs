//! What a driver may ask of a connection.

use super::{Connection, Inbound, Outbound};
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

    /// Our direction of the stream: what was written, sent and acknowledged.
    #[inline]
    pub fn outbound(&self) -> Outbound<'_> {
        let Self { paths, send, distribution, negotiation, config, .. } = self;
        Outbound { paths, send, distribution, negotiation, config }
    }

    /// The peer's direction of the stream: what has arrived, and what can be read.
    #[inline]
    pub fn inbound(&self) -> Inbound<'_> {
        let Self { paths, recv, fast, .. } = self;
        Inbound { paths, recv, fast }
    }

    /// The subflows by number, including those that have ended.
    pub fn subflows(&self) -> &[Subflow] {
        &self.paths.subflows
    }
}
