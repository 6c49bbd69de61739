//! A TCP segment as a value: header fields, options by meaning, and a *reference* to its payload.
//!
//! Field values are those the wire carries (wrapped sequence numbers, scaled windows, keyed data sequence numbers), and
//! [`Segment::wire_len`] is the exact length of the encoding, so that simulated links see true sizes. The payload is a
//! range of the sender's data stream; whoever holds real bytes keeps them outside the engine, by that range.

use core::fmt;
use core::net::IpAddr;
use core::num::NonZeroU16;

/// Header flags (RFC 9293 3.1, RFC 3168 6.1) as the wire's bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Self = Self(0x01);
    /// Synchronize sequence numbers.
    pub const SYN: Self = Self(0x02);
    /// Reset the connection.
    pub const RST: Self = Self(0x04);
    /// Push.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgement field counts.
    pub const ACK: Self = Self(0x10);
    /// ECN echo.
    pub const ECE: Self = Self(0x40);
    /// Congestion window reduced.
    pub const CWR: Self = Self(0x80);

    /// All flags of `other` are set.
    #[inline]
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets together.
    #[inline]
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (Self::SYN, 'S'),
            (Self::FIN, 'F'),
            (Self::RST, 'R'),
            (Self::PSH, 'P'),
            (Self::ECE, 'E'),
            (Self::CWR, 'W'),
            (Self::ACK, '.'),
        ];
        names.iter().filter(|(flag, _)| self.has(*flag)).try_for_each(|(_, c)| write!(f, "{c}"))
    }
}

/// The ECN field of the IP header (RFC 3168 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// The transport does not understand ECN.
    #[default]
    NotEct,
    /// ECN-capable transport.
    Ect0,
    /// Congestion experienced.
    Ce,
}

/// A range of the sender's data stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Payload {
    /// First octet, counted from the start of the stream.
    pub offset: u64,
    /// Octets.
    pub len: u32,
    /// One's-complement sum of the octets, first octet in the high half of the first word (RFC 1071): what the engine needs of
    /// them to verify a DSS checksum. Zero stands for octets as their sender wrote them: where a payload is only a reference,
    /// they sum to zero on both sides, and whoever changes them in between puts the difference here.
    pub sum: u16,
    /// What of `sum` comes from octets that the segment's own mapping, taken from the first octet on, is too short for (a
    /// middlebox has joined segments and kept the options of the first). Zero if there are none, or if the payload is a reference.
    pub rest: u16,
}

impl Payload {
    /// `len` octets from `offset` on, as they were written.
    pub fn new(offset: u64, len: u32) -> Self {
        Self { offset, len, sum: 0, rest: 0 }
    }
}

/// RFC 7323 3: timestamps in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamps {
    /// The sender's clock.
    pub val: u32,
    /// Echo of the receiver's clock.
    pub ecr: u32,
}

/// SACK blocks (RFC 2018 3), a D-SACK block first if there is one (RFC 2883 4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    count: u8,
    blocks: [(u32, u32); 4],
}

impl SackBlocks {
    /// Appends a block; ignored when four are there.
    pub fn push(&mut self, start: u32, end: u32) {
        if usize::from(self.count) < self.blocks.len() {
            self.blocks[usize::from(self.count)] = (start, end);
            self.count += 1;
        }
    }

    /// Removes the last block; nothing if there is none.
    pub fn pop(&mut self) {
        self.count = self.count.saturating_sub(1);
        self.blocks[usize::from(self.count)] = (0, 0);
    }

    /// The blocks: (first sequence number, sequence number after the last).
    #[inline]
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.count)]
    }
}

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
    /// Only 4 octets of it are carried.
    pub short: bool,
    /// Its subflow sequence number, relative to the subflow's initial one; zero for a DATA_FIN without data.
    pub ssn: u32,
    /// Octets mapped; a DATA_FIN counts as one. Zero is the infinite mapping (RFC 8684 3.7): it has no end.
    pub len: u16,
    /// DSS checksum, if negotiated; zero in an infinite mapping. In a typed segment it is computed as if the payload's octets
    /// summed to zero (see [`Payload::sum`]).
    pub checksum: Option<u16>,
}

/// The data sequence signal (RFC 8684 3.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dss {
    /// DATA_ACK.
    pub data_ack: Option<DataAck>,
    /// Mapping.
    pub mapping: Option<Mapping>,
    /// The mapping's last octet is the DATA_FIN.
    pub data_fin: bool,
}

/// TCP-DOOR's fields (Wang and Zhang 2002), in two options of an experimental kind (RFC 6994).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Door {
    /// Of a data segment: counts every data segment sent, retransmissions included.
    pub packet: Option<u16>,
    /// Of a pure acknowledgement: counts the duplicates of one acknowledgement number; and data came out of order.
    pub duplicate: Option<(u8, bool)>,
}

/// An address and the identifier its owner gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddrId {
    /// Identifier, unique at its owner for the connection.
    pub id: u8,
    /// The address.
    pub addr: IpAddr,
}

/// An address to say something about: with the port, if it is not that of the connection (RFC 8684 3.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advertised {
    /// Address and identifier.
    pub address: AddrId,
    /// Port, if one is given; the option has no other way to say "none" than to be shorter.
    pub port: Option<NonZeroU16>,
}

/// Address identifiers, in the order of the option.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AddrIds {
    count: u8,
    ids: [u8; Self::MAX],
}

impl AddrIds {
    /// As many as stand beside a DATA_ACK in the option space (40 - 8 - 3); 17 beside timestamps. More take another segment.
    pub const MAX: usize = 29;

    /// The first [`AddrIds::MAX`] of `ids`.
    pub fn new(ids: &[u8]) -> Self {
        let count = ids.len().min(Self::MAX);
        let mut of = [0; Self::MAX];
        of[..count].copy_from_slice(&ids[..count]);
        Self { count: count as u8, ids: of }
    }

    /// The identifiers.
    pub fn as_slice(&self) -> &[u8] {
        &self.ids[..usize::from(self.count)]
    }
}

impl fmt::Debug for AddrIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}

/// What a segment may say of the connection or of its subflow beside its handshake or DSS option, at most one here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Signal {
    /// Nothing.
    #[default]
    None,
    /// ADD_ADDR (RFC 8684 3.4.1).
    AddAddr {
        /// The address advertised.
        advertised: Advertised,
        /// Rightmost 64 bits of the HMAC.
        hmac: u64,
    },
    /// ADD_ADDR with the flag E: it was heard.
    AddAddrEcho(Advertised),
    /// REMOVE_ADDR (RFC 8684 3.4.2).
    RemoveAddr(AddrIds),
    /// MP_PRIO (RFC 8684 3.3.8): of the subflow it comes by.
    Prio {
        /// Flag B: to be used only when no regular subflow works.
        backup: bool,
    },
    /// MP_FAIL (RFC 8684 3.7).
    Fail {
        /// Data sequence number of the start of the failed mapping, all 64 bits.
        dsn: u64,
    },
    /// MP_FASTCLOSE (RFC 8684 3.5).
    Fastclose {
        /// The receiver's key.
        key: u64,
    },
}

impl Signal {
    /// Octets of the option (RFC 8684 figures 12 to 16), zero for none.
    pub fn len(&self) -> u32 {
        // Kind, length, subtype with flags, identifier; 4 or 16 octets of address; 2 octets of port.
        let address =
            |a: &Advertised| 4 + if a.address.addr.is_ipv4() { 4 } else { 16 } + if a.port.is_some() { 2 } else { 0 };
        match self {
            Self::None => 0,
            Self::AddAddr { advertised, .. } => address(advertised) + 8,
            Self::AddAddrEcho(advertised) => address(advertised),
            Self::RemoveAddr(ids) => 3 + u32::from(ids.count),
            Self::Prio { .. } => 3,
            Self::Fail { .. } | Self::Fastclose { .. } => 12,
        }
    }

    /// There is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::None)
    }
}

/// Why a subflow is reset (RFC 8684 3.6, table 3): the reasons the document gives, as their numbers on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResetReason(pub u8);

impl ResetReason {
    /// Unspecified error.
    pub const UNSPECIFIED: Self = Self(0);
    /// An error in the use of MPTCP: a join that does not authenticate, an option that makes no sense.
    pub const MPTCP: Self = Self(1);
    /// Not enough resources for a further subflow.
    pub const RESOURCES: Self = Self(2);
    /// Not wanted by policy.
    pub const PROHIBITED: Self = Self(3);
    /// Too much data outstanding, without acknowledgement at data level.
    pub const OUTSTANDING: Self = Self(4);
    /// Its performance is unacceptable.
    pub const PERFORMANCE: Self = Self(5);
    /// A middlebox changed the data, or the mapping was not to be had.
    pub const MIDDLEBOX: Self = Self(6);
}

/// MP_TCPRST (RFC 8684 3.6), on a RST only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpRst {
    /// Flag T: it may pass; the subflow may be tried again.
    pub transient: bool,
    /// Why.
    pub reason: ResetReason,
}

impl TcpRst {
    /// Octets of the option.
    pub const LEN: u32 = 4;
    /// Of a SYN whose token no connection has.
    pub const UNKNOWN_TOKEN: Self = Self { transient: false, reason: ResetReason::MPTCP };
}

/// The handshake or DSS option of a segment (RFC 8684 3.1 to 3.3), at most one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mptcp {
    /// None.
    #[default]
    None,
    /// MP_CAPABLE on a SYN: version 1, no key (RFC 8684 3.1).
    CapableSyn {
        /// Flag A: DSS checksums required.
        checksum: bool,
    },
    /// MP_CAPABLE on a SYN/ACK: the listener's key.
    CapableSynAck {
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

/// The options of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Maximum segment size (SYN only).
    pub mss: Option<u16>,
    /// Window scale (SYN only), RFC 7323 2.
    pub window_scale: Option<u8>,
    /// SACK permitted (SYN only), RFC 2018 2.
    pub sack_permitted: bool,
    /// TCP-DOOR permitted (SYN only).
    pub door_permitted: bool,
    /// TCP-DOOR's fields.
    pub door: Door,
    /// Timestamps.
    pub timestamps: Option<Timestamps>,
    /// SACK blocks.
    pub sack: SackBlocks,
    /// The MPTCP option of the handshakes, or the DSS.
    pub mptcp: Mptcp,
    /// A further MPTCP option.
    pub signal: Signal,
    /// And the one that only a RST has.
    pub tcp_rst: Option<TcpRst>,
}

/// Octets all options of a segment may take (RFC 9293 3.1: the data offset is at most 15 words).
pub const OPTION_SPACE: u32 = 40;

impl Options {
    /// Octets of the options as encoded, padded to whole words. Timestamps and SACK are aligned by two NOPs each
    /// (RFC 7323 appendix A, RFC 2018 3), a window scale by one, each MPTCP option is padded to a word.
    #[inline]
    pub fn wire_len(&self) -> u32 {
        let timestamps = if self.timestamps.is_some() { 12 } else { 0 };
        let blocks = self.sack.as_slice().len() as u32;
        let sack = if blocks > 0 { 4 + 8 * blocks } else { 0 };
        let mut len = timestamps + sack + self.mptcp.len().next_multiple_of(4);
        let numbers = u32::from(self.door.packet.is_some()) + u32::from(self.door.duplicate.is_some());
        let of_syn = self.mss.is_some() || self.window_scale.is_some() || self.sack_permitted || self.door_permitted;
        if of_syn || numbers > 0 || !self.signal.is_empty() || self.tcp_rst.is_some() {
            len += self.rare_len();
        }
        len
    }

    /// Octets of those that most segments have not.
    fn rare_len(&self) -> u32 {
        let mut len = 0;
        if self.mss.is_some() {
            len += 4;
        }
        if self.window_scale.is_some() {
            len += 4;
        }
        // On a SYN the SACK-permitted option takes the place of the two NOPs before the timestamps.
        if self.sack_permitted && self.timestamps.is_none() {
            len += 4;
        }
        // RFC 6994: kind, length, two octets of experiment identifier; then two octets of fields, padded.
        if self.door_permitted {
            len += 4;
        }
        len += 8 * (u32::from(self.door.packet.is_some()) + u32::from(self.door.duplicate.is_some()));
        let reset = if self.tcp_rst.is_some() { TcpRst::LEN } else { 0 };
        len + self.signal.len().next_multiple_of(4) + reset
    }
}

/// A segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number of the first octet (or of the SYN or FIN).
    pub seq: u32,
    /// Acknowledgement number, if [`Flags::ACK`].
    pub ack: u32,
    /// Window as on the wire, unscaled.
    pub window: u16,
    /// Flags.
    pub flags: Flags,
    /// ECN field of the IP header.
    pub ecn: Ecn,
    /// Payload reference.
    pub payload: Payload,
    /// Options.
    pub options: Options,
}

impl Segment {
    /// Sequence space the segment takes (RFC 9293 3.4: SYN and FIN count one each).
    #[inline]
    pub fn seq_len(&self) -> u64 {
        u64::from(self.payload.len) + u64::from(self.flags.has(Flags::SYN)) + u64::from(self.flags.has(Flags::FIN))
    }

    /// Length of the IPv4 packet in octets: 20 IP, 20 TCP, options, payload.
    pub fn wire_len(&self) -> u32 {
        40 + self.options.wire_len() + self.payload.len
    }

    /// The DSS option, if the segment has one.
    #[inline]
    pub fn dss(&self) -> Option<&Dss> {
        match &self.options.mptcp {
            Mptcp::Dss(dss) => Some(dss),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::{Ipv4Addr, Ipv6Addr};

    fn advertised(v6: bool, port: u16) -> Advertised {
        let addr = if v6 { IpAddr::V6(Ipv6Addr::LOCALHOST) } else { IpAddr::V4(Ipv4Addr::LOCALHOST) };
        Advertised { address: AddrId { id: 1, addr }, port: NonZeroU16::new(port) }
    }

    /// RFC 8684 3.3.8, 3.4.1, 3.4.2, 3.5, 3.6, 3.7: lengths of the options as drawn there.
    #[test]
    fn signals_have_the_lengths_of_their_figures() {
        let add = |v6, port| Signal::AddAddr { advertised: advertised(v6, port), hmac: 1 }.len();
        let echo = |v6, port| Signal::AddAddrEcho(advertised(v6, port)).len();
        assert_eq!([add(false, 0), add(false, 80), add(true, 0), add(true, 80)], [16, 18, 28, 30]);
        assert_eq!([echo(false, 0), echo(false, 80), echo(true, 0), echo(true, 80)], [8, 10, 20, 22]);
        assert_eq!(Signal::RemoveAddr(AddrIds::new(&[1])).len(), 4);
        assert_eq!(Signal::RemoveAddr(AddrIds::new(&[1, 2, 3])).len(), 6);
        assert_eq!(Signal::Prio { backup: true }.len(), 3);
        assert_eq!(Signal::Fail { dsn: 1 }.len(), 12);
        assert_eq!(Signal::Fastclose { key: 1 }.len(), 12);
    }

    /// Each option is padded to a word of its own: timestamps 12, DSS with DATA_ACK 8, MP_PRIO 3 and a NOP.
    #[test]
    fn a_signal_stands_beside_a_dss() {
        let mut options = Options { timestamps: Some(Timestamps { val: 0, ecr: 0 }), ..Options::default() };
        options.mptcp = Mptcp::Dss(Dss { data_ack: Some(DataAck::Four(1)), ..Dss::default() });
        options.signal = Signal::Prio { backup: true };
        assert_eq!(options.wire_len(), 24);
        options.signal = Signal::RemoveAddr(AddrIds::new(&[7; 17]));
        assert_eq!(options.wire_len(), OPTION_SPACE);
        let tcp_rst = Some(TcpRst { transient: true, reason: ResetReason::MPTCP });
        let reset = Options { tcp_rst, signal: Signal::Fail { dsn: 1 }, ..Options::default() };
        assert_eq!(reset.wire_len(), 16);
    }

    /// A segment is copied from queue to queue: no larger than this without a reason.
    #[test]
    fn a_segment_is_small() {
        assert_eq!(core::mem::size_of::<Segment>(), 176);
    }

    /// 20 IP + 20 TCP + 12 timestamps + 24 DSS (4 + 4 DATA_ACK + 8 DSN + 4 SSN + 2 length, padded) + 1400.
    #[test]
    fn a_full_data_segment_takes_1476_octets() {
        let mapping = Mapping { dsn: 1, short: false, ssn: 1, len: 1400, checksum: None };
        let mut segment = Segment { payload: Payload::new(0, 1400), ..Segment::default() };
        segment.options.timestamps = Some(Timestamps { val: 0, ecr: 0 });
        segment.options.mptcp =
            Mptcp::Dss(Dss { data_ack: Some(DataAck::Four(1)), mapping: Some(mapping), data_fin: false });
        assert_eq!(segment.wire_len(), 1476);
    }

    /// Timestamps, a 4-octet DATA_ACK and two SACK blocks fill the option space exactly.
    #[test]
    fn two_sack_blocks_fit_beside_timestamps_and_data_ack() {
        let mut options = Options { timestamps: Some(Timestamps { val: 0, ecr: 0 }), ..Options::default() };
        options.mptcp = Mptcp::Dss(Dss { data_ack: Some(DataAck::Four(1)), ..Dss::default() });
        options.sack.push(1, 2);
        options.sack.push(3, 4);
        assert_eq!(options.wire_len(), OPTION_SPACE);
    }
}
