//! The next data of a transfer in one direction: what header prediction asks of a subflow, and what is left to do then.

use super::*;

impl Subflow {
    /// With nothing of ours under way: `seg` is the next data, whole, and says nothing else. Every check of RFC 9293 3.10.7.4 then
    /// comes out as "go on", and its acknowledgement is the one that came before.
    pub(crate) fn expects(&self, seg: &Segment) -> bool {
        let options = &seg.options;
        let next = seg.seq == self.receiver.rcv_nxt.wire() && !self.receiver.has_holes() && self.fin_at.is_none();
        let heard = seg.ack == self.sender.una.wire() && self.sender.una == self.sender.nxt;
        let flags = seg.payload.len > 0 && seg.flags.0 & !Flags::PSH.0 == Flags::ACK.0;
        let silent = options.sack.as_slice().is_empty() && options.signal.is_empty();
        let marked = self.ecn.on && seg.ecn == Codepoint::Ce;
        let unmarked = !marked && !self.door.on;
        // RFC 7323 5.3 R1.
        let timely = self.timestamps.in_order(seg);
        next && heard && flags && silent && unmarked && timely && self.state == State::Established
    }

    /// Takes such a segment: timestamp, window, sequence number. True if its window is news (SND.WL1, SND.WL2).
    pub(crate) fn take_expected(&mut self, now: Instant, seg: &Segment) -> bool {
        let (seq, ack) = (self.receiver.rcv_nxt, self.sender.una);
        self.timestamps.note(now, seg, seq);
        self.receiver.rcv_nxt += u64::from(seg.payload.len);
        self.note_window(seq, ack, self.peer_window.of(seg)).1
    }
}
