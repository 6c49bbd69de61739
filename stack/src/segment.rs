//! A TCP segment as a value: header fields, options by meaning, and a *reference* to its payload.
//!
//! Field values are those the wire carries (wrapped sequence numbers, scaled windows, keyed data sequence numbers), and
//! [`Segment::wire_len`] is the exact length of the encoding, so that simulated links see true sizes. The payload is a
//! range of the sender's data stream; whoever holds real bytes keeps them outside the engine, by that range.

use core::fmt;
use core::net::IpAddr;

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

    /// The blocks: (first sequence number, sequence number after the last).
    #[inline]
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.count)]
    }
}

/// A data acknowledgement, of either length (RFC 8684 3.3.2).
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
    /// Octets mapped; a DATA_FIN counts as one.
    pub len: u16,
    /// DSS checksum, if negotiated.
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

/// The MPTCP option of a segment (RFC 8684 3), at most one here.
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
        /// Address identifier of the sender's address.
        address_id: u8,
        /// Receiver's token.
        token: u32,
        /// Sender's random number.
        nonce: u32,
    },
    /// MP_JOIN on a SYN/ACK.
    JoinSynAck {
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
    /// ADD_ADDR (RFC 8684 3.4.1).
    AddAddr {
        /// The address advertised.
        address: AddrId,
        /// Rightmost 64 bits of the HMAC; absent in an echo.
        hmac: Option<u64>,
    },
}

impl Mptcp {
    /// Octets of the option (RFC 8684 figures 4 to 12), zero for none.
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
                let mapping = |m: Mapping| if m.short { 10 } else { 14 } + 2 * u32::from(m.checksum.is_some());
                4 + ack + dss.mapping.map_or(0, mapping)
            }
            Self::AddAddr { address, hmac } => {
                4 + if address.addr.is_ipv4() { 4 } else { 16 } + if hmac.is_some() { 8 } else { 0 }
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
    /// The MPTCP option.
    pub mptcp: Mptcp,
}

/// Octets all options of a segment may take (RFC 9293 3.1: the data offset is at most 15 words).
pub const OPTION_SPACE: u32 = 40;

impl Options {
    /// Octets of the options as encoded, padded to whole words. Timestamps and SACK are aligned by two NOPs each
    /// (RFC 7323 appendix A, RFC 2018 3), a window scale by one, an MPTCP option is padded to a word.
    pub fn wire_len(&self) -> u32 {
        let mut len = 0;
        if self.mss.is_some() {
            len += 4;
        }
        if self.window_scale.is_some() {
            len += 4;
        }
        if self.timestamps.is_some() {
            len += 12;
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
        let blocks = self.sack.as_slice().len() as u32;
        if blocks > 0 {
            len += 4 + 8 * blocks;
        }
        len + self.mptcp.len().next_multiple_of(4)
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

    /// 20 IP + 20 TCP + 12 timestamps + 24 DSS (4 + 4 DATA_ACK + 8 DSN + 4 SSN + 2 length, padded) + 1400.
    #[test]
    fn a_full_data_segment_takes_1476_octets() {
        let mapping = Mapping { dsn: 1, short: false, ssn: 1, len: 1400, checksum: None };
        let mut segment = Segment { payload: Payload { offset: 0, len: 1400 }, ..Segment::default() };
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
