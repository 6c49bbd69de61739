//! The options of a segment by meaning, and the octets that they take together.

use super::mptcp::Mptcp;
use super::signal::{Signal, TcpRst};

/// RFC 7323 3: timestamps in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamps {
    /// TSval: the clock of this segment's sender.
    pub val: u32,
    /// TSecr: the clock of this segment's receiver, echoed.
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

/// TCP-DOOR's fields (Wang and Zhang 2002), in two options of an experimental kind (RFC 6994).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Door {
    /// On a data segment: the number of this transmission, counting every data segment sent, retransmissions included.
    pub packet: Option<u16>,
    /// On a pure acknowledgement: its number among the duplicates of one acknowledgement number, and whether the receiver saw
    /// data out of order.
    pub duplicate: Option<(u8, bool)>,
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
    /// MP_CAPABLE, MP_JOIN or DSS.
    pub mptcp: Mptcp,
    /// An MPTCP option about addresses, priority or failure.
    pub signal: Signal,
    /// MP_TCPRST, on a RST only.
    pub tcp_rst: Option<TcpRst>,
}

/// Octets that all options of a segment together may take (RFC 9293 3.1: the data offset is at most 15 words).
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
        // Without branches: there is hardly ever one of these.
        let of_syn = self.mss.is_some() | self.window_scale.is_some() | self.sack_permitted | self.door_permitted;
        if of_syn | (numbers > 0) | !self.signal.is_empty() | self.tcp_rst.is_some() {
            len += self.rare_len();
        }
        len
    }

    /// Octets of the options that most segments do not have.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::{AddrIds, DataAck, Dss, ResetReason};

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
