//! The protocol of a connection: plain TCP, Multipath TCP whose handshake is in progress, or
//! Multipath TCP, and whether the peer is known to have our key (RFC 8684 3.1, 3.7).

use core::fmt;

use super::fast_path::FastPath;
use super::handshake::{FastClose, Keys};
use super::keys;
use super::timers::{Timer, Timers};
use crate::event::SubflowId;
use crate::segment::{Flags, Mptcp, Segment, Signal};
use crate::time::Instant;

/// Why a connection opens no further subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinRefusal {
    /// The peer has not sent a DSS yet (RFC 8684 3.1): "not yet".
    Unconfirmed,
    /// The limit of subflows is reached: "not yet", one of them may end.
    Full,
    /// The connection is plain TCP.
    Plain,
    /// The connection has ended.
    Closed,
    /// The peer takes no subflows to the address of the first one (RFC 8684 3.1, flag C).
    NoJoin,
}

impl JoinRefusal {
    /// Returns true if the refusal will never be lifted.
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Unconfirmed | Self::Full)
    }
}

impl fmt::Display for JoinRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unconfirmed => {
                "no subflow can be opened before the peer's first DSS: try again at the event JoinsPossible"
            }
            Self::Full => "the connection has as many subflows as subflow_limit allows: end one, or raise the limit",
            Self::Plain => "the connection is plain TCP, which has one subflow: the event Fallback says why",
            Self::Closed => "the connection has ended",
            Self::NoJoin => "the peer takes no further subflow to its first address: use one that it has advertised",
        })
    }
}

/// Protocol in use on the connection.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mode {
    /// Plain TCP, from the start or by fallback.
    Tcp,
    /// Client: the SYN with MP_CAPABLE is unanswered. Server: it was answered, but the peer's key
    /// is still unknown.
    Negotiating { own_key: u64 },
    /// Multipath TCP.
    Mptcp(Keys),
}

/// What a segment says to a server that waits for the peer's key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ThirdAck {
    /// Both keys have arrived; the peer may ask for checksums.
    Keys {
        /// It asks for them.
        checksum: bool,
    },
    /// The path has removed the option, so that the connection is plain TCP.
    Plain,
    /// It is not the third ACK.
    Other,
    /// It must be dropped.
    Unusable,
}

/// 3.5: "a RECOMMENDED number is 3".
pub(crate) const FASTCLOSE_RETRIES: u32 = 3;

/// The protocol of a connection.
#[derive(Debug)]
pub(crate) struct Negotiation {
    mode: Mode,
    client: bool,
    /// The peer is known to have our key: a DSS (client) or the third ACK (server) has arrived.
    confirmed: bool,
    /// A DSS has arrived: subflows may be opened.
    dss_received: bool,
    /// The latest mapping has a 64-bit data sequence number, so DATA_ACKs have 64 bits too (RFC
    /// 8684 3.3.2).
    long_dsn: bool,
    /// The peer takes no further subflows at its first address (RFC 8684 3.1, flag C).
    no_join: bool,
    /// The connection is over.
    over: bool,
    fast_close: Option<FastClose>,
}

impl Negotiation {
    /// Starts as plain TCP; [`Negotiation::begin`] starts the handshake of Multipath TCP.
    pub fn new(client: bool) -> Self {
        Self {
            mode: Mode::Tcp,
            client,
            confirmed: false,
            dss_received: false,
            long_dsn: false,
            no_join: false,
            over: false,
            fast_close: None,
        }
    }

    /// We have sent a SYN with MP_CAPABLE, or answer one. `own_key` is ours.
    pub fn begin(&mut self, own_key: u64) {
        self.mode = Mode::Negotiating { own_key };
    }

    /// The peer's key has arrived. `confirmed`: the same segment shows that the peer has our key.
    pub fn agree(&mut self, keys: Keys, confirmed: bool, fast: &mut FastPath) {
        fast.invalidate();
        debug_assert!(!self.is_multipath());
        self.mode = Mode::Mptcp(keys);
        self.confirmed |= confirmed;
    }

    /// Server: takes the third ACK of the first subflow, with both keys (RFC 8684 3.1). `in_syn`:
    /// octets of data in the SYN, which have no data sequence numbers (B.2).
    pub fn take_third_ack(&mut self, seg: &Segment, in_syn: u32, fast: &mut FastPath) -> ThirdAck {
        let Mode::Negotiating { own_key } = self.mode else { return ThirdAck::Other };
        match seg.options.mptcp {
            Mptcp::CapableAck { sender_key, receiver_key, .. } if receiver_key != own_key || sender_key == own_key => {
                ThirdAck::Unusable
            }
            Mptcp::CapableAck { sender_key, checksum, .. } => {
                let mut keys = Keys::new(own_key, sender_key);
                keys.peer_first_dsn = keys.peer_first_dsn.wrapping_sub(u64::from(in_syn));
                self.agree(keys, true, fast);
                ThirdAck::Keys { checksum }
            }
            // The keys are still missing. They arrive with a retransmission of the third ACK, or
            // with the first data (3.1).
            Mptcp::Dss(_) => ThirdAck::Unusable,
            // RFC 8684 3.1, 3.7: the option was lost on the path.
            _ if seg.flags.has(Flags::ACK) && !seg.flags.has(Flags::SYN) => ThirdAck::Plain,
            _ => ThirdAck::Other,
        }
    }

    /// RFC 8684 3.7: from now on the connection is plain TCP.
    pub fn fall_back(&mut self, fast: &mut FastPath) {
        fast.invalidate();
        self.mode = Mode::Tcp;
    }

    /// A DSS has arrived: the peer has our key.
    #[inline]
    pub fn confirm_by_dss(&mut self) {
        (self.confirmed, self.dss_received) = (true, true);
    }

    /// An authentic ADD_ADDR has arrived: the peer has our key, and subflows may be opened as after
    /// a DSS.
    pub fn confirm_by_address(&mut self) {
        (self.confirmed, self.dss_received) = (true, true);
    }

    /// RFC 8684 B.2: data in the SYN have no data sequence numbers. The peer has taken `octets` of
    /// the data in our SYN, so the first data sequence number moves back by as many.
    pub fn skip_syn_data(&mut self, octets: u64) {
        if let Mode::Mptcp(keys) = &mut self.mode {
            keys.own_first_dsn = keys.own_first_dsn.wrapping_sub(octets);
        }
    }

    /// Whether the latest mapping has a 64-bit data sequence number.
    #[inline]
    pub fn set_long_dsn(&mut self, long: bool) {
        self.long_dsn = long;
    }

    /// The peer takes further subflows at its first address, or with `refuses` it takes none.
    pub fn set_no_join(&mut self, refuses: bool) {
        self.no_join = refuses;
    }

    // ---- the end --------------------------------------------------------------------------------

    /// The connection is over.
    pub fn end(&mut self, fast: &mut FastPath) {
        fast.invalidate();
        self.over = true;
    }

    /// Returns true if the connection is over.
    #[inline(always)]
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// This host closes the connection abruptly: FASTCLOSE_WAIT begins on `subflow` (RFC 8684 3.5).
    pub fn begin_fast_close(&mut self, subflow: SubflowId, fast: &mut FastPath) {
        fast.invalidate();
        self.fast_close = Some(FastClose { subflow, sent: 0 });
    }

    /// MP_FASTCLOSE was sent, or sent again.
    pub fn fast_close_sent(&mut self) {
        if let Some(fast_close) = &mut self.fast_close {
            fast_close.sent += 1;
        }
    }

    /// FASTCLOSE_WAIT ends. Returns true if it had begun.
    pub fn end_fast_close(&mut self, timers: &mut Timers) -> bool {
        timers.stop(Timer::FastClose);
        self.fast_close.take().is_some()
    }

    /// RFC 8684 3.5: the subflow whose MP_FASTCLOSE was repeated often enough, and the signal of
    /// its reset, which is for the sake of middleboxes.
    pub fn unanswered_fast_close(&self, now: Instant, timers: &Timers) -> Option<(SubflowId, Signal)> {
        let (Mode::Mptcp(k), Some(FastClose { subflow, sent })) = (self.mode, self.fast_close) else { return None };
        let gives_up = timers.has_expired(Timer::FastClose, now) && sent > FASTCLOSE_RETRIES;
        gives_up.then_some((subflow, Signal::Fastclose { key: k.peer }))
    }

    /// The MP_FASTCLOSE that this host repeats on ACKs (option A, FASTCLOSE_WAIT of RFC 8684 3.5);
    /// `None` if there is none.
    #[inline(always)]
    pub fn fast_close(&self) -> Option<FastClose> {
        self.fast_close
    }

    // ---- questions ------------------------------------------------------------------------------

    /// Returns why no further subflow may be opened to the peer's address `remote_id`, or to any
    /// address. A subflow needs Multipath TCP and a DSS of the peer (RFC 8684 3.1).
    pub fn join_refusal(&self, remote_id: Option<u8>) -> Option<JoinRefusal> {
        if self.over {
            Some(JoinRefusal::Closed)
        } else if self.is_plain() {
            Some(JoinRefusal::Plain)
        } else if !self.dss_received || !self.is_multipath() {
            Some(JoinRefusal::Unconfirmed)
        } else {
            // RFC 8684 3.1: if the peer has set flag C, this host must not try "to open any
            // additional subflows toward this address and port", those of the first subflow.
            (self.no_join && remote_id == Some(0)).then_some(JoinRefusal::NoJoin)
        }
    }

    /// Our token (RFC 8684 3.2); `None` in plain TCP.
    pub fn token(&self) -> Option<u32> {
        match self.mode {
            Mode::Tcp => None,
            Mode::Negotiating { own_key } => Some(keys::token(own_key)),
            Mode::Mptcp(k) => Some(keys::token(k.own)),
        }
    }

    /// Returns true if the peer has shown that it speaks Multipath TCP with our keys: data may have
    /// a second place in the sequence space. (RFC 8684 3.7: a peer that has had our MP_FAIL is
    /// plain TCP already. It takes a second copy for the stream's next octets.)
    #[inline(always)]
    pub fn may_duplicate(&self) -> bool {
        self.is_multipath() && self.confirmed
    }

    /// Returns true if the connection speaks Multipath TCP as far as this host knows: the peer has
    /// not shown it yet.
    #[inline(always)]
    pub fn is_unconfirmed(&self) -> bool {
        self.is_multipath() && !self.confirmed
    }

    /// The protocol, with the keys.
    #[inline(always)]
    pub fn mode(&self) -> &Mode {
        &self.mode
    }

    /// Plain TCP.
    #[inline(always)]
    pub fn is_plain(&self) -> bool {
        matches!(self.mode, Mode::Tcp)
    }

    /// The handshake of Multipath TCP has begun, and the peer's key is unknown.
    pub fn is_unanswered(&self) -> bool {
        matches!(self.mode, Mode::Negotiating { .. })
    }

    /// Multipath TCP, with both keys.
    #[inline(always)]
    pub fn is_multipath(&self) -> bool {
        matches!(self.mode, Mode::Mptcp(_))
    }

    /// This host has opened the connection.
    #[inline(always)]
    pub fn is_client(&self) -> bool {
        self.client
    }

    /// The peer is known to have our key.
    #[inline(always)]
    pub fn is_confirmed(&self) -> bool {
        self.confirmed
    }

    /// DATA_ACKs have 64 bits.
    #[inline(always)]
    pub fn has_long_dsn(&self) -> bool {
        self.long_dsn
    }

    /// Returns true if the handshake of the connection is complete on both sides.
    #[inline]
    pub fn is_settled(&self) -> bool {
        match self.mode {
            Mode::Tcp => true,
            Mode::Negotiating { .. } => false,
            Mode::Mptcp(_) => self.confirmed && self.dss_received,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::{Dss, Options};

    /// RFC 8684 3.1: a client has both keys with the SYN/ACK, but the server has them only with the
    /// third ACK; a DSS shows it.
    #[test]
    fn a_client_is_settled_when_a_dss_has_come() {
        let mut n = Negotiation::new(true);
        assert!(n.is_plain() && n.is_settled());
        n.begin(1);
        assert!(!n.is_plain() && !n.is_multipath() && !n.is_settled());
        n.agree(Keys::new(1, 2), false, &mut FastPath::for_tests());
        assert!(n.is_multipath() && !n.is_confirmed() && !n.is_settled());
        n.confirm_by_dss();
        assert!(n.is_confirmed() && n.join_refusal(Some(1)).is_none() && n.is_settled());
        n.fall_back(&mut FastPath::for_tests());
        assert!(n.is_plain() && n.is_settled());
    }

    /// RFC 8684 3.1, flag C: the peer takes subflows only at its other addresses.
    #[test]
    fn a_subflow_may_be_opened_where_the_peer_takes_it_until_the_connection_is_over() {
        let mut n = Negotiation::new(true);
        n.begin(1);
        n.agree(Keys::new(1, 2), true, &mut FastPath::for_tests());
        assert_eq!(n.join_refusal(Some(0)), Some(JoinRefusal::Unconfirmed));
        assert!(n.may_duplicate());
        n.confirm_by_dss();
        assert_eq!(n.join_refusal(Some(0)), None);
        n.set_no_join(true);
        assert_eq!([0, 1].map(|id| n.join_refusal(Some(id))), [Some(JoinRefusal::NoJoin), None]);
        n.end(&mut FastPath::for_tests());
        assert_eq!(n.join_refusal(Some(1)), Some(JoinRefusal::Closed));
        assert!(n.is_over());
    }

    /// RFC 8684 3.1: the third ACK has both keys. Without them the server waits, unless the path
    /// has removed the option.
    #[test]
    fn the_third_ack_brings_the_keys_or_makes_it_plain_tcp() {
        let mut fast = FastPath::for_tests();
        let mut n = Negotiation::new(false);
        let ack = |mptcp| Segment {
            flags: Flags::ACK,
            options: Options { mptcp, ..Options::default() },
            ..Segment::default()
        };
        let keys =
            |sender_key, receiver_key| ack(Mptcp::CapableAck { checksum: true, sender_key, receiver_key, data: None });
        n.begin(1);
        assert_eq!(n.take_third_ack(&ack(Mptcp::Dss(Dss::default())), 0, &mut fast), ThirdAck::Unusable);
        assert_eq!(n.take_third_ack(&keys(2, 3), 0, &mut fast), ThirdAck::Unusable, "not our key");
        assert_eq!(n.take_third_ack(&keys(1, 1), 0, &mut fast), ThirdAck::Unusable, "our key sent back");
        assert_eq!(n.take_third_ack(&Segment::default(), 0, &mut fast), ThirdAck::Other);
        assert_eq!(n.take_third_ack(&ack(Mptcp::None), 0, &mut fast), ThirdAck::Plain);
        assert_eq!(n.take_third_ack(&keys(2, 1), 5, &mut fast), ThirdAck::Keys { checksum: true });
        let Mode::Mptcp(k) = *n.mode() else { panic!("{n:?}") };
        assert_eq!(k.peer_first_dsn.wrapping_add(5), Keys::new(1, 2).peer_first_dsn);
        assert!(n.is_confirmed());
    }

    /// RFC 8684 3.5: after three repetitions without an answer the subflow is reset.
    #[test]
    fn a_fast_close_without_an_answer_is_given_up() {
        let (mut n, mut timers) = (Negotiation::new(true), Timers::default());
        n.begin(1);
        n.agree(Keys::new(1, 2), true, &mut FastPath::for_tests());
        n.begin_fast_close(3, &mut FastPath::for_tests());
        timers.set(Timer::FastClose, Instant(5));
        (0..FASTCLOSE_RETRIES).for_each(|_| n.fast_close_sent());
        assert_eq!(n.unanswered_fast_close(Instant(5), &timers), None);
        n.fast_close_sent();
        assert_eq!(n.unanswered_fast_close(Instant(4), &timers), None, "an answer may still come");
        let given_up = n.unanswered_fast_close(Instant(5), &timers);
        assert_eq!(given_up, Some((3, Signal::Fastclose { key: 2 })));
    }

    #[test]
    fn a_fast_close_counts_its_transmissions() {
        let mut n = Negotiation::new(true);
        n.fast_close_sent();
        assert!(n.fast_close().is_none() && !n.end_fast_close(&mut Timers::default()));
        n.begin_fast_close(2, &mut FastPath::for_tests());
        n.fast_close_sent();
        assert_eq!(n.fast_close(), Some(FastClose { subflow: 2, sent: 1 }));
        assert!(n.end_fast_close(&mut Timers::default()) && n.fast_close().is_none());
    }

    /// RFC 8684 B.2: data sequence numbers begin after the data in the SYN.
    #[test]
    fn data_in_the_syn_has_no_data_sequence_numbers() {
        let keys = Keys::new(1, 2);
        let mut n = Negotiation::new(true);
        n.skip_syn_data(5);
        n.agree(keys, false, &mut FastPath::for_tests());
        n.skip_syn_data(5);
        let Mode::Mptcp(now) = *n.mode() else { panic!("{n:?}") };
        assert_eq!(now.own_first_dsn.wrapping_add(5), keys.own_first_dsn);
        assert_eq!(now.peer_first_dsn, keys.peer_first_dsn);
    }
}
