//! A SYN for a connection in TIME-WAIT opens a new one in its place (RFC 9293 3.6.1, SHLD-4), if the timestamps say that it is none of
//! the old one's (RFC 6191 2). By sequence numbers alone (RFC 9293 MAY-2) none does: a SYN that turned out to be an old duplicate would
//! have to bring TIME-WAIT back. Any other SYN is answered with a challenge ACK (RFC 5961 4.2).

use super::endpoint::Endpoint;
use super::identity::{Addresses, ConnectionId};
use super::keep::Keep;
use crate::event::SubflowId;
use crate::segment::{Flags, Mptcp, Segment};
use crate::{Config, Connection};

impl<K: Keep> Endpoint<K> {
    /// Forgets the connection on whose subflow `syn` arrives, if that is to open a new one: its initial sequence number has to lie at or
    /// beyond what is returned (3.6.1: "larger than the largest sequence number it used on the previous connection incarnation").
    pub(super) fn make_way(
        &mut self,
        id: ConnectionId,
        subflow: SubflowId,
        addresses: Addresses,
        syn: &Segment,
    ) -> Option<u32> {
        let bare = syn.flags.has(Flags::SYN) && !syn.flags.has(Flags::ACK) && !syn.flags.has(Flags::RST);
        let joins = matches!(syn.options.mptcp, Mptcp::JoinSyn { .. });
        let listener = self.listening.get(&addresses.local.port()).filter(|_| bare && !joins)?;
        let c = self.connections.get(&id).filter(|c| c.only_waits())?;
        let subflow = &c.connection.subflows()[subflow];
        let after = subflow.gives_way_to(syn, listener.config.timestamps).then(|| subflow.sender.nxt.wire())?;
        self.forget(id);
        Some(after)
    }

    /// The connection that a SYN opens; its initial sequence number lies at or beyond `after`, as half of all numbers do.
    pub(super) fn open_beyond(&mut self, config: &Config, syn: &Segment, after: Option<u32>) -> Connection {
        loop {
            let (config, entropy) = (config.clone(), self.draw());
            let opened = Connection::accept_among(config, entropy, syn, |token| self.tokens.contains_key(&token));
            let iss = opened.subflows()[0].iss.wire();
            if after.is_none_or(|after| iss.wrapping_sub(after) as i32 >= 0) {
                return opened;
            }
        }
    }
}
