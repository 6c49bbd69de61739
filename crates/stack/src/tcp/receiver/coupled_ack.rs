//! Coupled acknowledgement (the papers' model): a segment that is next on its subflow may still be held, because it is ahead in
//! the data stream. Held data may therefore begin at the cumulative acknowledgement, and SACK blocks report duplicates only.

use super::reassembly::{Piece, Receiver};
use crate::segment::SackBlocks;
use crate::seq::Seq;

impl Receiver {
    /// Holds a segment that is ahead in the data stream, even if it is next on this subflow. Returns false if all of it is
    /// already held; a D-SACK block then reports it.
    pub fn park(&mut self, seq: Seq, data: u64, len: u32) -> bool {
        let end = seq + u64::from(len);
        if self.held.insert(seq.0, end.0, data.wrapping_sub(seq.0)) == 0 {
            self.dsack = Some((seq, end));
            return false;
        }
        true
    }

    /// The segment at RCV.NXT was delivered without being held. Parts of it may be held nevertheless: a parked segment may have
    /// arrived again, joined with the one before it.
    pub fn advance(&mut self, len: u32) {
        self.rcv_nxt += u64::from(len);
        self.held.remove_below(self.rcv_nxt.0);
    }

    /// The held segment that is next on this subflow: its sequence number, data offset and length.
    pub fn parked(&self) -> Option<(Seq, u64, u32)> {
        let first = self.held.first().filter(|first| first.at <= self.rcv_nxt.0)?;
        Some((Seq(first.at), first.at.wrapping_add(first.tag), first.len))
    }

    /// The held segment with octet `data` of the stream, and its sequence number.
    pub fn parked_with(&self, data: u64) -> Option<(Seq, Piece)> {
        let mut pieces = self.held.iter().map(|h| (Seq(h.at), Piece { data: h.at.wrapping_add(h.tag), len: h.len }));
        pieces.find(|(_, p)| p.data <= data && data < p.data.saturating_add(p.len.into()))
    }

    /// Releases the held segment that is next on this subflow.
    pub fn release(&mut self) -> Option<Piece> {
        let h = self.held.pop_at(self.rcv_nxt.0)?;
        self.rcv_nxt += u64::from(h.len);
        Some(Piece { data: h.at.wrapping_add(h.tag), len: h.len })
    }

    /// The D-SACK block to report, if any (RFC 2883). Held segments are not reported.
    pub fn duplicate_block(&mut self, room: usize) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        if let (Some((from, to)), true) = (self.dsack.take(), room > 0) {
            blocks.push(from.wire(), to.wire());
        }
        blocks
    }
}
