//! The MPTCP option that a segment of a handshake, of data or of an acknowledgement has (RFC 8684 3.1 to 3.3).

/// A data acknowledgement, of either length (RFC 8684 3.3.2): a data sequence number of 64 bits is acknowledged with 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataAck {
    /// The low 32 bits.
    Four(u32),
    /// All 64 bits.
    Eight(u64),
}

/// A data sequence mapping (RFC 8684 3.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Data sequence number of the first octet; its low 32 bits if `short`.
    pub dsn: u64,
    /// The option carries only the low 4 octets of the data sequence number.
    pub short: bool,
    /// Subflow sequence number of the first octet, relative to the subflow's initial one; zero for a DATA_FIN without data.
    pub ssn: u32,
    /// Octets mapped; a DATA_FIN counts as one. Zero is the infinite mapping (RFC 8684 3.7): it has no end.
    pub len: u16,
    /// DSS checksum, if negotiated; zero in an infinite mapping. In a typed segment it is computed as if the payload's octets
    /// summed to zero (see [`Payload::sum`](super::Payload::sum)).
    pub checksum: Option<u16>,
}

/// The data sequence signal (RFC 8684 3.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dss {
    /// The DATA_ACK, if the option carries one.
    pub data_ack: Option<DataAck>,
    /// The mapping, if the option carries one.
    pub mapping: Option<Mapping>,
    /// The mapping's last octet is the DATA_FIN.
    pub data_fin: bool,
}

/// The handshake or DSS option of a segment (RFC 8684 3.1 to 3.3), at most one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mptcp {
    /// None.
    #[default]
    None,
    /// MP_CAPABLE on a SYN: version 1, no key (RFC 8684 3.1).
    CapableSyn {
        /// Flag C: the sender takes no further subflows at this address and port.
        no_join: bool,
        /// Flag A: DSS checksums required.
        checksum: bool,
    },
    /// MP_CAPABLE on a SYN/ACK: the listener's key.
    CapableSynAck {
        /// Flag C.
        no_join: bool,
        /// Flag A.
        checksum: bool,
        /// Sender's key.
        key: u64,
    },
    /// MP_CAPABLE on the third ACK and on the first data: both keys.
    CapableAck {
        /// Flag A.
        checksum: bool,
        /// Sender's key.
        sender_key: u64,
        /// Receiver's key.
        receiver_key: u64,
        /// Length of the first data, mapped to the first data sequence number (and its DSS checksum, if negotiated).
        data: Option<(u16, Option<u16>)>,
    },
    /// MP_JOIN on a SYN (RFC 8684 3.2).
    JoinSyn {
        /// Flag B: a backup subflow, to be used only when no regular one works (RFC 8684 3.3.8).
        backup: bool,
        /// Address identifier of the sender's address.
        address_id: u8,
        /// Receiver's token.
        token: u32,
        /// Sender's random number.
        nonce: u32,
    },
    /// MP_JOIN on a SYN/ACK.
    JoinSynAck {
        /// Flag B.
        backup: bool,
        /// Address identifier of the sender's address.
        address_id: u8,
        /// Leftmost 64 bits of the sender's HMAC.
        hmac: u64,
        /// Sender's random number.
        nonce: u32,
    },
    /// MP_JOIN on the third ACK.
    JoinAck {
        /// Leftmost 160 bits of the sender's HMAC.
        hmac: [u8; 20],
    },
    /// Data sequence signal.
    Dss(Dss),
}

impl Mptcp {
    /// Octets of the option (RFC 8684 figures 4 to 11), zero for none.
    #[inline]
    pub fn len(&self) -> u32 {
        match self {
            Self::None => 0,
            Self::CapableSyn { .. } => 4,
            Self::CapableSynAck { .. } => 12,
            Self::CapableAck { data: None, .. } => 20,
            Self::CapableAck { data: Some((_, checksum)), .. } => 22 + 2 * u32::from(checksum.is_some()),
            Self::JoinSyn { .. } => 12,
            Self::JoinSynAck { .. } => 16,
            Self::JoinAck { .. } => 24,
            Self::Dss(dss) => {
                let ack = match dss.data_ack {
                    None => 0,
                    Some(DataAck::Four(_)) => 4,
                    Some(DataAck::Eight(_)) => 8,
                };
                // 8- or 4-octet DSN, 4-octet SSN, 2-octet length, 2-octet checksum if negotiated.
                let mapping = |m: &Mapping| if m.short { 10 } else { 14 } + 2 * u32::from(m.checksum.is_some());
                4 + ack + dss.mapping.as_ref().map_or(0, mapping)
            }
        }
    }

    /// There is no option.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::None)
    }
}
