//! Coupled acknowledgement: segments that are parked until they are next on their subflow and in
//! the data stream.

use super::Receiving;
use crate::event::{ArrivalKind, SubflowId};
use crate::mptcp::dss::Placed;
use crate::seq::Seq;

impl Receiving<'_> {
    /// The papers' receiver (AINA 2014, Fig. 2, and their simulator). A segment counts only if it is next both on its subflow and
    /// in the data stream. One that is ahead in the data stream is parked without an acknowledgement. Segments after it on the
    /// same subflow are parked too, and elicit duplicate ACKs. When the gap fills, each released segment sends one ACK on its own
    /// subflow.
    pub(super) fn place_coupled(&mut self, id: SubflowId, start: Seq, data: u64, len: u32) -> (ArrivalKind, bool) {
        // RFC 8684 3.7: "Failed data MUST NOT be DATA_ACKed". What may have failed is not next in the data stream yet.
        let doubtful = self.is_doubtful(id, start, len);
        let s = &mut self.paths.subflows[id];
        let (rcv_nxt, data_nxt) = (s.receiver.rcv_nxt, self.recv.nxt());
        if start < rcv_nxt {
            s.receiver.note_duplicate(start, len);
            return (ArrivalKind::DuplicateInSubflow, true);
        }
        if start > rcv_nxt || data > data_nxt || doubtful {
            let silent = start == rcv_nxt;
            let kind = if silent { ArrivalKind::AheadInData } else { ArrivalKind::HeldInSubflow };
            if !s.receiver.park(start, data, len) {
                // What is sent again because nothing is acknowledged may wait for what was moved behind it.
                if self.place_moved() {
                    self.release_parked();
                }
                return (ArrivalKind::DuplicateInSubflow, true);
            }
            if data <= data_nxt && !doubtful {
                // Next in the data stream, but behind parked segments on its subflow: data that the sender has moved here when the
                // subflow ended that had it. (The model has no such thing.) What waits for it waits before it, too.
                self.recv.place(data, len, id);
                self.recv.set_moved(true);
            }
            // It may have been the last of a mapping that waited for its checksum.
            self.release_parked();
            return (kind, !silent);
        }
        s.receiver.advance(len);
        let placed = self.recv.place(data, len, id);
        let freed = self.release_parked();
        let kind = if placed == Placed::Duplicate { ArrivalKind::DuplicateInData } else { ArrivalKind::InOrder };
        (kind, freed)
    }

    /// Some octet of `[start, start + len)` on `id` may have been changed on the path: its mapping is not complete, or a checksum has
    /// failed and the peer has not answered MP_FAIL.
    fn is_doubtful(&self, id: SubflowId, start: Seq, len: u32) -> bool {
        let multipath = self.negotiation.is_multipath();
        multipath
            && (self.fallback.has_failed(id) || self.paths.members[id].checks.holds(start, start + u64::from(len)))
    }

    /// Releases the parked segments that are next on their subflows and in the data stream. Returns whether there were any.
    pub(super) fn release_parked(&mut self) -> bool {
        let mut freed = false;
        loop {
            let nxt = self.recv.nxt();
            let ready = |&j: &SubflowId| {
                let (start, data, len) = self.paths.subflows[j].receiver.parked()?;
                (data <= nxt && !self.is_doubtful(j, start, len)).then_some(j)
            };
            let next = self.paths.active.iter().find_map(ready);
            let next = next.and_then(|j| self.paths.subflows[j].receiver.release().map(|piece| (j, piece)));
            let Some((j, piece)) = next else {
                if self.recv.has_moved() && self.place_moved() {
                    continue;
                }
                return freed;
            };
            self.recv.place(piece.data, piece.len, j);
            self.paths.subflows[j].owe_ack();
            freed = true;
        }
    }

    /// Places what is next in the data stream, but stands behind parked segments that wait for it, because it was moved to their subflow and
    /// was not next when it came. Returns whether there was any.
    fn place_moved(&mut self) -> bool {
        let nxt = self.recv.nxt();
        let holding = |&j: &SubflowId| {
            let (start, piece) = self.paths.subflows[j].receiver.parked_with(nxt)?;
            (!self.is_doubtful(j, start, piece.len)).then_some((j, piece))
        };
        let found = self.paths.active.iter().find_map(holding);
        if let Some((j, piece)) = found {
            self.recv.place(piece.data, piece.len, j);
        }
        let waits = self.recv.has_moved() && self.paths.active().any(|(s, _)| s.receiver.has_holes());
        self.recv.set_moved(found.is_some() || waits);
        found.is_some()
    }
}
