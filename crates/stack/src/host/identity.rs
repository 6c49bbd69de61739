//! What a host calls its connections and their subflows by.

use std::net::SocketAddr;

/// A 4-tuple, as seen from one end; a subflow keeps it (RFC 9293 3.9.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Addresses {
    /// Our address and port.
    pub local: SocketAddr,
    /// The peer's address and port.
    pub remote: SocketAddr,
}

impl Addresses {
    /// The same 4-tuple, as seen from the other end.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { local: self.remote, remote: self.local }
    }
}

/// Identifies a connection of an [`Endpoint`](super::Endpoint), by a number from 1 on. Identifiers are never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(u64);

impl From<u64> for ConnectionId {
    fn from(number: u64) -> Self {
        Self(number)
    }
}

impl From<ConnectionId> for u64 {
    fn from(id: ConnectionId) -> Self {
        id.0
    }
}
