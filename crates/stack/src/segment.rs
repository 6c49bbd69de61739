//! A TCP segment as a value: header fields, options as parsed values, and a *reference* to its payload.
//!
//! Field values are those the wire carries (wrapped sequence numbers, scaled windows, keyed data sequence numbers), and
//! [`Segment::wire_len`] is the exact length of the encoding, so that simulated links see true sizes. The payload is a
//! range of the sender's data stream; whoever holds real bytes keeps them outside the engine, by that range.

use core::fmt;

mod mptcp;
mod options;
mod signal;

pub use mptcp::{DataAck, Dss, Mapping, Mptcp};
pub use options::{Door, OPTION_SPACE, Options, SackBlocks, Timestamps};
pub use signal::{AddrId, AddrIds, Advertised, Cookie, ResetReason, Signal, TcpRst};

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
    /// The urgent pointer counts. Urgent data stand in the stream like any others (RFC 6093 2.1, 4), and the pointer is not looked at.
    pub const URG: Self = Self(0x20);
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
            (Self::URG, 'U'),
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

/// A range of the sender's data stream: which octets the segment carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Payload {
    /// Offset of the first octet from the start of the stream.
    pub offset: u64,
    /// Number of octets.
    pub len: u32,
    /// One's-complement sum of the octets, first octet in the high half of the first word (RFC 1071). The engine verifies DSS
    /// checksums with it. Zero stands for unchanged octets: where the payload is only a reference, sender and receiver both count
    /// it as zero. Whoever changes the octets on the way puts the difference of the sums here.
    pub sum: u16,
    /// The part of `sum` that comes from octets beyond the end of the segment's own mapping. There are such octets when a
    /// middlebox has joined segments and kept the options of the first. Zero otherwise, and where the payload is a reference.
    pub rest: u16,
}

impl Payload {
    /// `len` octets from `offset` on, as they were written.
    pub fn new(offset: u64, len: u32) -> Self {
        Self { offset, len, sum: 0, rest: 0 }
    }
}

/// A segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number of the first octet (or of the SYN or FIN).
    pub seq: u32,
    /// Acknowledgement number, if [`Flags::ACK`].
    pub ack: u32,
    /// Window field as on the wire: before the window scale is applied.
    pub window: u16,
    /// Flags.
    pub flags: Flags,
    /// ECN field of the IP header.
    pub ecn: Ecn,
    /// Which part of the sender's data stream it carries.
    pub payload: Payload,
    /// Options.
    pub options: Options,
}

impl Segment {
    /// Sequence numbers that the segment occupies (RFC 9293 3.4: SYN and FIN count one each).
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
}
