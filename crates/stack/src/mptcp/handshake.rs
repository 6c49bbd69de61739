//! The two handshakes of RFC 8684: MP_CAPABLE (3.1) for the connection, MP_JOIN (3.2) for each further subflow.

use std::collections::VecDeque;

use super::ahead::Ahead;
use super::dss::Mappings;
use super::keys;
use super::template::Template;
use super::verify::Checks;
use crate::event::SubflowId;
use crate::segment::{Advertised, DataAck, Mapping, Mptcp};
use crate::seq::Seq;
use crate::tcp::receiver::reassembly::Piece;
use crate::time::Instant;

/// Both keys, and the values derived from them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keys {
    pub own: u64,
    pub peer: u64,
    /// RFC 8684 3.1: the SYN takes the initial data sequence number, so the first octet has the next one.
    pub own_first_dsn: u64,
    pub peer_first_dsn: u64,
}

impl Keys {
    pub fn new(own: u64, peer: u64) -> Self {
        Self {
            own,
            peer,
            own_first_dsn: keys::initial_dsn(own).wrapping_add(1),
            peer_first_dsn: keys::initial_dsn(peer).wrapping_add(1),
        }
    }

    /// RFC 8684 3.3.2: the data offset that a DATA_ACK stands for, of either length; `data_una` is acknowledged already.
    #[inline(always)]
    pub fn acknowledged_offset(&self, data_ack: DataAck, data_una: u64) -> u64 {
        let una_dsn = self.own_first_dsn.wrapping_add(data_una);
        let ahead = match data_ack {
            DataAck::Eight(dsn) => dsn.wrapping_sub(una_dsn) as i64,
            DataAck::Four(low) => i64::from(low.wrapping_sub(una_dsn as u32) as i32),
        };
        data_una.saturating_add_signed(ahead)
    }

    /// Returns true if a DATA_ACK acknowledges what is acknowledged already, and no more.
    #[inline(always)]
    pub fn repeats(&self, data_ack: DataAck, data_una: u64) -> bool {
        let una_dsn = self.own_first_dsn.wrapping_add(data_una);
        match data_ack {
            DataAck::Eight(dsn) => dsn == una_dsn,
            DataAck::Four(low) => low == una_dsn as u32,
        }
    }

    /// RFC 8684 3.3.1: data offset of a mapping, where `nxt` is expected next. A 32-bit data sequence number stands for the value
    /// nearest to the one expected.
    #[inline(always)]
    pub fn mapped_offset(&self, m: &Mapping, nxt: u64) -> u64 {
        if !m.short {
            return m.dsn.wrapping_sub(self.peer_first_dsn);
        }
        let expected = self.peer_first_dsn.wrapping_add(nxt) as u32;
        nxt.wrapping_add_signed(i64::from((m.dsn as u32).wrapping_sub(expected) as i32))
    }
}

/// FASTCLOSE_WAIT (RFC 8684 3.5): MP_FASTCLOSE is sent on a subflow until the peer resets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FastClose {
    pub subflow: SubflowId,
    /// Transmissions so far. The next one is due when
    /// [`Timer::FastClose`](super::timers::Timer::FastClose) expires.
    pub sent: u32,
}

/// State of a subflow's MPTCP handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Join {
    /// The connection's first subflow.
    First,
    /// Client: the SYN was sent.
    SynSent { nonce: u32 },
    /// Client: the third ACK was sent, and is retransmitted until the peer acknowledges it (3.2: PRE_ESTABLISHED).
    AwaitAck { hmac: [u8; 20], retry_at: Instant, tries: u32 },
    /// Server: the SYN/ACK was sent.
    SynReceived { nonce: u32, peer_nonce: u32 },
    /// Authenticated.
    Done,
}

/// The connection's state of a subflow, beside its TCP state. The fields that are read of every subflow on every event come
/// first.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Member {
    /// The handshake is complete: the subflow may carry data.
    pub ready: bool,
    /// We ask the peer to use the subflow only when no regular one works (RFC 8684 3.3.8).
    pub backup: bool,
    /// The peer asks us to do so.
    pub peer_backup: bool,
    /// An acknowledgement of data has arrived on it together with a DATA_ACK that acknowledges data, too: the path passes options in both
    /// directions (RFC 8684 3.7).
    pub dss_confirmed: bool,
    /// A mapping has arrived on it.
    pub mapping_received: bool,
    /// Data was acknowledged by a segment with the keys and no data.
    pub acked_bare: bool,
    /// The peer must be told that `backup` has changed.
    pub prio_due: bool,
    /// Window probes sent since the last segment arrived.
    pub probes_unanswered: u32,
    pub join: Join,
    /// The peer has removed the subflow's address; keep-alives test whether the subflow still works.
    pub suspicion: Option<Suspicion>,
    /// Identifier of our address.
    pub local_id: u8,
    /// Identifier of the peer's address (zero for the address of its first SYN).
    pub remote_id: u8,
    pub mappings: Mappings,
    /// Mappings that span segments, for their checksums.
    pub checks: Checks,
    /// Octets in order on the subflow that wait for checksum verification.
    pub unverified: VecDeque<(Seq, Piece)>,
    /// The next expected octet, if it arrived without a mapping, and how often it did with nothing new behind it in between.
    pub unmapped: (Seq, u32),
    /// The scheduler has sent data again here up to this data offset.
    pub resent_to: u64,
    /// An echo of an ADD_ADDR to send.
    pub echo: Option<Advertised>,
    /// Data assigned ahead of the window.
    pub ahead: Ahead,
    /// When the last segment arrived, noted if `stale_after`, a user timeout or keep-alives need it.
    pub heard: Instant,
    /// Keep-alives sent since, and when the last one was.
    pub keepalives: u32,
    pub keepalive_sent: Instant,
    /// Whether the subflow makes progress.
    pub idle: Idle,
    /// The segment that was sent here last, if the next one may be like it.
    pub template: Template,
}

impl Member {
    pub fn new(join: Join, local_id: u8) -> Self {
        Self {
            join,
            local_id,
            remote_id: 0,
            backup: false,
            peer_backup: false,
            prio_due: false,
            mappings: Mappings::default(),
            checks: Checks::default(),
            unverified: VecDeque::new(),
            unmapped: (Seq(0), 0),
            dss_confirmed: false,
            mapping_received: false,
            acked_bare: false,
            ready: false,
            resent_to: 0,
            ahead: Ahead::default(),
            heard: Instant::ZERO,
            keepalives: 0,
            keepalive_sent: Instant::ZERO,
            idle: Idle::default(),
            template: Template::default(),
            echo: None,
            suspicion: None,
            probes_unanswered: 0,
        }
    }

    /// Either side wants the subflow used only when no regular one works.
    #[inline]
    pub fn is_backup(&self) -> bool {
        self.backup || self.peer_backup
    }

    /// The peer has begun to join and has not authenticated itself yet.
    #[inline]
    pub fn is_half_open(&self) -> bool {
        matches!(self.join, Join::SynReceived { .. })
    }

    /// A signal about this subflow may be due.
    #[inline]
    pub fn has_signal(&self) -> bool {
        self.prio_due || self.echo.is_some() || self.suspicion.is_some()
    }
}

/// Periods of the data-level timer without a segment from the peer, while data was in flight (Linux: `stale_count`).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Idle {
    /// How many; zero if the subflow makes progress.
    pub periods: u32,
    /// When the last segment had arrived, at the beginning of the first period.
    pub heard: Instant,
    /// It has made none for too long: its data goes elsewhere, and it takes no new data.
    pub stale: bool,
}

/// A subflow whose address the peer has removed: how many keep-alives were sent, and when the next one is due.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Suspicion {
    pub at: Instant,
    pub tries: u32,
}

/// The MP_JOIN option of a SYN or SYN/ACK (RFC 8684 3.2).
pub(crate) fn join_option(member: &Member, keys: &Keys) -> Mptcp {
    match member.join {
        Join::SynSent { nonce } => {
            Mptcp::JoinSyn { backup: member.backup, address_id: member.local_id, token: keys::token(keys.peer), nonce }
        }
        Join::SynReceived { nonce, peer_nonce } => {
            let hmac = keys::truncate_64(&keys::join_hmac(keys.own, keys.peer, nonce, peer_nonce));
            Mptcp::JoinSynAck { backup: member.backup, address_id: member.local_id, hmac, nonce }
        }
        _ => Mptcp::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8684 3.3.1: the peer's data sequence numbers cross a multiple of 2^32 at data offset
    /// 1000. A 32-bit number is expanded to the offset closest to the next expected one: 2500
    /// before the crossing, 200 after it.
    #[test]
    fn a_wrap_of_32_bits_is_told_from_an_overtaken_segment() {
        let keys = Keys { own: 0, peer: 0, own_first_dsn: 0, peer_first_dsn: (7 << 32) - 1000 };
        let mapped = |offset: u64, nxt: u64| {
            let dsn = keys.peer_first_dsn.wrapping_add(offset) & u64::from(u32::MAX);
            keys.mapped_offset(&Mapping { dsn, short: true, ssn: 1, len: 1, checksum: None }, nxt)
        };
        assert_eq!((mapped(2500, 500), mapped(200, 3000)), (2500, 200));
    }
}
