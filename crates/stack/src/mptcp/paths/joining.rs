//! The handshakes of subflows.

use super::Paths;
use crate::config::Config;
use crate::event::{Event, Events, SubflowId};
use crate::mptcp::handshake::{Join, Member, join_option};
use crate::mptcp::negotiation::{Mode, Negotiation};
use crate::mptcp::send_stream::SendStream;
use crate::segment::{Flags, Mptcp, Segment};
use crate::seq::Seq;
use crate::tcp::subflow::State;
use crate::time::Instant;

/// Maximum number of half-open joins, whose third ACK is still missing: as many as there may be
/// subflows.
const HALF_OPEN: usize = 255;
/// Unanswered SYNs with MP_CAPABLE before one is sent without it (RFC 8684 3.1, 3.9.3; as many as
/// Linux sends by default).
const CAPABLE_SYNS: u32 = 3;
/// Transmissions of an unanswered third ACK of a join.
const TRIES: u32 = 8;

/// What the options of a segment say of its path (RFC 8684 3.7).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Options {
    /// It passes them, or nothing is known yet.
    Pass,
    /// It has passed none so far: fall back to plain TCP.
    Lost,
    /// It has removed them, although the connection uses Multipath TCP: reset the subflow.
    Stripped,
}

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

    /// Returns true if the SYNs with MP_CAPABLE on `id` have had no answer. After how many of them
    /// one is sent without it is local policy (RFC 8684 3.1, 3.9.3).
    pub fn has_tried_capable(&self, id: SubflowId) -> bool {
        let s = &self.subflows[id];
        s.state == State::SynSent && s.sender.retries >= CAPABLE_SYNS && self.members[id].join == Join::First
    }

    /// Returns true if `seg` repeats the peer's SYN on `id` without MP_CAPABLE, because the peer
    /// has seen no answer to its SYNs with MP_CAPABLE (RFC 8684 3.1).
    pub fn is_plain_again(&self, id: SubflowId, seg: &Segment) -> bool {
        let s = &self.subflows[id];
        let syn = seg.flags.has(Flags::SYN) && !seg.flags.has(Flags::ACK) && !seg.flags.has(Flags::RST);
        s.state == State::SynReceived
            && self.members[id].join == Join::First
            && syn
            && seg.seq == s.irs.wire()
            && !matches!(seg.options.mptcp, Mptcp::CapableSyn { .. })
    }

    /// RFC 8684 3.7: judges a segment that acknowledges data without a DSS, or carries data without
    /// a mapping, on a path that has never been shown to pass the options.
    pub fn judge_options(&mut self, id: SubflowId, seg: &Segment, send: &SendStream) -> Options {
        let (s, m) = (&self.subflows[id], &mut self.members[id]);
        if m.dss_confirmed {
            return Options::Pass;
        }
        // Only acknowledgements of data in flight count. (RFC 8684 3.3.2: a DATA_ACK may be left
        // out where it says nothing new.)
        let ack = Seq::unwrap(seg.ack, s.sender.una);
        let acks_data = ack > s.first_own() && ack > s.sender.una && ack <= s.sender.nxt;
        let acks_data = acks_data && s.sender.board.front().is_some_and(|front| front.data_len() > 0);
        if !matches!(seg.options.mptcp, Mptcp::None) || !seg.options.signal.is_empty() {
            m.acked_bare |= acks_data && matches!(seg.options.mptcp, Mptcp::CapableAck { data: None, .. });
            return Options::Pass;
        }
        // Before any DATA_ACK those without payload count again, of data that a box ahead of its
        // peer has acknowledged already.
        let unheard = seg.payload.len == 0 && send.una() == 0 && send.nxt() > 0;
        let bare_data = seg.payload.len > 0 && !m.mapping_received;
        // No other path has been shown to pass them either: a join that has not been answered is
        // given up.
        let joined = |m: &Member| m.join == Join::Done || (m.join != Join::First && m.ready);
        let alone = m.join == Join::First && !self.members.iter().any(joined);
        let lost = acks_data || bare_data || (unheard && ack > s.first_own() && ack == s.sender.una && alone);
        match lost {
            true if alone => Options::Lost,
            _ if acks_data => Options::Stripped,
            _ => Options::Pass,
        }
    }

    /// The handshake of the first subflow is complete.
    pub fn connect(&mut self, id: SubflowId, events: &mut Events) {
        self.members[id].ready = true;
        events.push_back(Event::Connected);
        events.push_back(Event::SubflowEstablished(id));
    }

    /// Sends the third ACK of a join again on `id` if it is due (RFC 8684 3.2). Returns true if it
    /// was sent often enough.
    pub fn retry_join(&mut self, now: Instant, id: SubflowId, config: &Config) -> bool {
        let (s, m) = (&mut self.subflows[id], &mut self.members[id]);
        let Join::AwaitAck { retry_at, tries, hmac } = m.join else { return false };
        if retry_at > now || s.state == State::Closed || tries >= TRIES {
            return retry_at <= now && s.state != State::Closed;
        }
        let backoff = if config.deviations.join_ack_without_backoff { 0 } else { tries };
        let retry_at = now + s.sender.rtt.rto().saturating_mul(1 << backoff);
        m.join = Join::AwaitAck { hmac, retry_at, tries: tries + 1 };
        s.acks.now();
        false
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

    /// The oldest half-open join if their number has reached the limit: it must make room for a new
    /// one.
    pub fn crowded_out(&mut self) -> Option<SubflowId> {
        // Remove the joins dropped before. A join dropped now keeps its number until the driver has
        // seen the event.
        self.remove_closed();
        let mut half_open = self.active().filter(|(s, m)| s.state != State::Closed && m.is_half_open());
        let crowded = half_open.clone().count() >= HALF_OPEN;
        half_open.next().map(|(s, _)| s.id).filter(|_| crowded)
    }
}
