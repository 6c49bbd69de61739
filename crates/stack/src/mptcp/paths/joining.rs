//! The handshakes of subflows.

use super::Paths;
use crate::config::Config;
use crate::event::{Event, Events, SubflowId};
use crate::mptcp::handshake::{Join, join_option};
use crate::mptcp::negotiation::{Mode, Negotiation};
use crate::segment::Mptcp;
use crate::tcp::subflow::State;

/// Maximum number of half-open joins, whose third ACK is still missing: as many as there may be subflows.
const HALF_OPEN: usize = 255;
/// Unanswered SYNs with MP_CAPABLE before one is sent without it (RFC 8684 3.1, 3.9.3; as many as Linux sends by default).
const CAPABLE_SYNS: u32 = 3;

impl Paths {
    /// The option of Multipath TCP on a SYN or SYN/ACK on `id`.
    pub fn syn_option(&self, id: SubflowId, negotiation: &Negotiation, config: &Config) -> Mptcp {
        let checksum = config.checksum;
        match (self.members[id].join, *negotiation.mode()) {
            (Join::First, Mode::Negotiating { own_key }) => match self.subflows[id].state {
                State::SynSent => Mptcp::CapableSyn { no_join: false, checksum },
                _ => Mptcp::CapableSynAck { no_join: false, checksum, key: own_key },
            },
            (Join::First, _) => Mptcp::None,
            (_, Mode::Mptcp(k)) => join_option(&self.members[id], &k),
            _ => Mptcp::None,
        }
    }

    /// Returns true if the SYNs with MP_CAPABLE on `id` have had no answer. After how many of them one
    /// is sent without it is local policy (RFC 8684 3.1, 3.9.3).
    pub fn has_tried_capable(&self, id: SubflowId) -> bool {
        let s = &self.subflows[id];
        s.state == State::SynSent && s.sender.retries >= CAPABLE_SYNS && self.members[id].join == Join::First
    }

    /// The handshake of the first subflow is complete.
    pub fn connect(&mut self, id: SubflowId, events: &mut Events) {
        self.members[id].ready = true;
        events.push_back(Event::Connected);
        events.push_back(Event::SubflowEstablished(id));
    }

    /// The handshake of a further subflow is complete.
    pub fn join(&mut self, id: SubflowId, events: &mut Events) {
        let m = &mut self.members[id];
        (m.join, m.ready) = (Join::Done, true);
        events.push_back(Event::SubflowEstablished(id));
        if m.peer_backup {
            events.push_back(Event::Priority { subflow: id, backup: true });
        }
    }

    /// Returns true if there are `limit` subflows. Half-open joins do not count.
    pub fn are_full(&self, limit: usize) -> bool {
        self.active().filter(|(s, m)| s.state != State::Closed && !m.is_half_open()).count() >= limit
    }

    /// The oldest half-open join, if there are so many that it must make room for another one.
    pub fn crowded_out(&mut self) -> Option<SubflowId> {
        // Remove the joins dropped before. A join dropped now keeps its number until the driver has seen the event.
        self.remove_closed();
        let mut half_open = self.active().filter(|(s, m)| s.state != State::Closed && m.is_half_open());
        let crowded = half_open.clone().count() >= HALF_OPEN;
        half_open.next().map(|(s, _)| s.id).filter(|_| crowded)
    }
}
