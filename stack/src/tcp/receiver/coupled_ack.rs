//! Coupled acknowledgement, the papers' model: a segment may be held although it is next on its subflow, because it is ahead in the data
//! stream. So what is held may begin at the cumulative acknowledgement, and only duplicates are reported.

use super::reassembly::{Piece, Receiver};
use crate::segment::SackBlocks;
use crate::seq::Seq;

impl Receiver {
    /// Holds a segment although it may be next on this subflow: it is ahead in the data stream. False if all of it is
    /// held already, which is noted for a duplicate report.
    pub fn park(&mut self, seq: Seq, data: u64, len: u32) -> bool {
        let end = seq + u64::from(len);
        if self.held.insert(seq.0, end.0, data.wrapping_sub(seq.0)) == 0 {
            self.dsack = Some((seq, end));
            return false;
        }
        true
    }

    /// The segment `[rcv_nxt, ..)` was delivered without being held. Of it, something may be held: a segment that was parked, and
    /// has come again joined to the next one.
    pub fn advance(&mut self, len: u32) {
        self.rcv_nxt += u64::from(len);
        self.held.remove_below(self.rcv_nxt.0);
    }

    /// Frees the held segment that is next on this subflow, if the data stream has come to `data_nxt`, where it begins.
    pub fn release(&mut self, data_nxt: u64) -> Option<Piece> {
        let first = self.held.first()?;
        let data = first.at.wrapping_add(first.tag);
        if first.at > self.rcv_nxt.0 || data > data_nxt {
            return None;
        }
        let h = self.held.pop_at(self.rcv_nxt.0)?;
        self.rcv_nxt += u64::from(h.len);
        Some(Piece { data: h.at.wrapping_add(h.tag), len: h.len })
    }

    /// Only the duplicate to report, if any (RFC 2883), where held segments must not be reported.
    pub fn duplicate_block(&mut self, room: usize) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        if let (Some((from, to)), true) = (self.dsack.take(), room > 0) {
            blocks.push(from.wire(), to.wire());
        }
        blocks
    }
}
