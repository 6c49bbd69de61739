//! Coupled acknowledgement: segments that are parked until they are next on their subflow and in the data stream.

use super::*;

impl Connection {
    /// The papers' receiver (AINA 2014, Fig. 2, and their simulator). A segment counts only if it is next both on its subflow and
    /// in the data stream. One that is ahead in the data stream is parked without an acknowledgement. Segments after it on the
    /// same subflow are parked too, and elicit duplicate ACKs. When the gap fills, each released segment sends one ACK on its own
    /// subflow.
    pub(super) fn place_coupled(&mut self, id: SubflowId, start: Seq, data: u64, len: u32) -> (ArrivalKind, bool) {
        let s = &mut self.paths.subflows[id];
        let (rcv_nxt, data_nxt) = (s.receiver.rcv_nxt, self.reassembly.nxt());
        if start < rcv_nxt {
            s.receiver.note_duplicate(start, len);
            return (ArrivalKind::DuplicateInSubflow, true);
        }
        if start > rcv_nxt || data > data_nxt {
            let silent = start == rcv_nxt;
            let kind = if silent { ArrivalKind::AheadInData } else { ArrivalKind::HeldInSubflow };
            if !s.receiver.park(start, data, len) {
                return (ArrivalKind::DuplicateInSubflow, true);
            }
            if data <= data_nxt {
                // Next in the data stream, but behind parked segments on its subflow: data that the sender has moved here when the
                // subflow ended that had it. (The model has no such thing.) What waits for it waits before it, too.
                self.reassembly.place(data, len, id);
                self.release_parked();
            }
            return (kind, !silent);
        }
        s.receiver.advance(len);
        let placed = self.reassembly.place(data, len, id);
        let freed = self.release_parked();
        let kind = if placed == Placed::Duplicate { ArrivalKind::DuplicateInData } else { ArrivalKind::InOrder };
        (kind, freed)
    }

    /// Releases the parked segments that are next on their subflows and in the data stream. Returns whether there were any.
    fn release_parked(&mut self) -> bool {
        let mut freed = false;
        loop {
            let nxt = self.reassembly.nxt();
            let next =
                self.paths.active.iter().find_map(|&j| self.paths.subflows[j].receiver.release(nxt).map(|p| (j, p)));
            let Some((j, piece)) = next else { return freed };
            self.reassembly.place(piece.data, piece.len, j);
            self.paths.subflows[j].owe_ack();
            freed = true;
        }
    }
}
