//! The half-open connections of a listener, and the bound on them.
//! Only passive opens are in it (RFC 9293 3.5).
//!
//! One SYN, whose sender need not exist, costs its listener a connection that stays in SYN-RECEIVED until the SYN-ACKs are given
//! up. So a listener has a backlog, and when that is full the oldest half-open connection yields to a new one (RFC 4987 3.4). A
//! peer that does exist completes its handshake within a round trip, and is refused only if a whole backlog of SYNs comes within
//! that time. A connection that Fast Open has opened does not yield: its client exists, since it has shown the cookie that was sent there
//! (RFC 7413 5), and the application has it already. If the backlog is full of these, the SYN is dropped, and comes again.
//!
//! Left out: SYN cookies (RFC 4987 3.6), which would forget the options of the SYN, and with them multipath TCP.

use std::collections::BTreeSet;

use super::identity::ConnectionId;
use crate::Config;

/// A port where connections are accepted.
#[derive(Debug)]
pub(super) struct Listener {
    pub config: Config,
    /// The key of its Fast Open cookies, if it is not the host's own.
    pub key: Option<[u8; 32]>,
    /// Maximum number of half-open connections.
    limit: usize,
    /// The half-open connections; identifiers are in order of opening.
    half_open: BTreeSet<ConnectionId>,
    /// Those of them that were opened by a cookie (RFC 7413 4.2: PendingFastOpenRequests).
    fast: BTreeSet<ConnectionId>,
}

impl Listener {
    pub fn new(config: Config, limit: usize) -> Self {
        Self { config, key: None, limit: limit.max(1), half_open: BTreeSet::new(), fast: BTreeSet::new() }
    }

    /// New connections get `config`, and the bound is `limit` from the next SYN on.
    pub fn renew(&mut self, config: Config, limit: usize) {
        (self.config, self.limit) = (config, limit.max(1));
    }

    /// There is room for one more.
    pub fn has_room(&self) -> bool {
        self.half_open.len() < self.limit
    }

    /// The connection that has to yield before one more is opened, if one may: the oldest that no one has heard of.
    pub fn yields(&mut self) -> Option<ConnectionId> {
        let oldest = self.unreported().next()?;
        self.half_open.remove(&oldest);
        Some(oldest)
    }

    /// `id` is half-open; `fast`: and was reported already, since its SYN had a cookie.
    pub fn enter(&mut self, id: ConnectionId, fast: bool) {
        self.half_open.insert(id);
        if fast {
            self.fast.insert(id);
        }
    }

    /// Half-open connections that no one has heard of.
    pub fn unreported(&self) -> impl Iterator<Item = ConnectionId> {
        self.half_open.difference(&self.fast).copied()
    }

    /// Half-open connections that have taken data.
    pub fn pending_fast_opens(&self) -> usize {
        self.fast.len()
    }

    /// `id` is no longer half-open.
    pub fn leave(&mut self, id: ConnectionId) {
        self.half_open.remove(&id);
        self.fast.remove(&id);
    }
}
