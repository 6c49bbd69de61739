//! The protocol of a connection: plain TCP, Multipath TCP whose handshake is in progress, or
//! Multipath TCP, and whether the peer is known to have our key (RFC 8684 3.1, 3.7).

use super::handshake::Keys;

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
}

impl Negotiation {
    /// Starts as plain TCP; [`Negotiation::begin`] starts the handshake of Multipath TCP.
    pub fn new(client: bool) -> Self {
        Self { mode: Mode::Tcp, client, confirmed: false, dss_received: false, long_dsn: false }
    }

    /// We have sent a SYN with MP_CAPABLE, or answer one. `own_key` is ours.
    pub fn begin(&mut self, own_key: u64) {
        self.mode = Mode::Negotiating { own_key };
    }

    /// The peer's key has arrived. `confirmed`: the same segment shows that the peer has our key.
    pub fn agree(&mut self, keys: Keys, confirmed: bool) {
        debug_assert!(!self.is_multipath());
        self.mode = Mode::Mptcp(keys);
        self.confirmed |= confirmed;
    }

    /// RFC 8684 3.7: from now on the connection is plain TCP.
    pub fn fall_back(&mut self) {
        self.mode = Mode::Tcp;
    }

    /// A DSS has arrived: the peer has our key.
    #[inline]
    pub fn confirm_by_dss(&mut self) {
        (self.confirmed, self.dss_received) = (true, true);
    }

    /// An authentic ADD_ADDR has arrived: the peer has our key, and subflows may be opened as after a
    /// DSS.
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

    /// A DSS has arrived.
    #[inline(always)]
    pub fn has_seen_dss(&self) -> bool {
        self.dss_received
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

    /// RFC 8684 3.1: a client has both keys with the SYN/ACK, but the server has them only with the
    /// third ACK; a DSS shows it.
    #[test]
    fn a_client_is_settled_when_a_dss_has_come() {
        let mut n = Negotiation::new(true);
        assert!(n.is_plain() && n.is_settled());
        n.begin(1);
        assert!(!n.is_plain() && !n.is_multipath() && !n.is_settled());
        n.agree(Keys::new(1, 2), false);
        assert!(n.is_multipath() && !n.is_confirmed() && !n.is_settled());
        n.confirm_by_dss();
        assert!(n.is_confirmed() && n.has_seen_dss() && n.is_settled());
        n.fall_back();
        assert!(n.is_plain() && n.is_settled());
    }

    /// RFC 8684 B.2: data sequence numbers begin after the data in the SYN.
    #[test]
    fn data_in_the_syn_has_no_data_sequence_numbers() {
        let keys = Keys::new(1, 2);
        let mut n = Negotiation::new(true);
        n.skip_syn_data(5);
        n.agree(keys, false);
        n.skip_syn_data(5);
        let Mode::Mptcp(now) = *n.mode() else { panic!("{n:?}") };
        assert_eq!(now.own_first_dsn.wrapping_add(5), keys.own_first_dsn);
        assert_eq!(now.peer_first_dsn, keys.peer_first_dsn);
    }
}
