//! Header prediction on a subflow: recognises the next in-order data segment of a one-way transfer and the acknowledgements that
//! answer it, and processes them.

use super::{AckResult, Subflow};
use crate::controller::Path;
use crate::event::Events;
use crate::segment::{Ecn as Codepoint, Flags, Segment};
use crate::seq::Seq;
use crate::tcp::state::State;
use crate::time::Instant;

impl Subflow {
    /// With none of our data in flight: `seg` is exactly the next in-order data and carries nothing else. Every check of RFC 9293
    /// 3.10.7.4 would then pass, and the acknowledgement number is the one that was received before. `plain`: [`Subflow::expects_plain_data`] is
    /// known to hold.
    #[inline(always)]
    pub(crate) fn expects(&self, seg: &Segment, plain: bool) -> bool {
        let options = &seg.options;
        let next = seg.seq == self.receiver.rcv_nxt.wire();
        let same_ack = seg.ack == self.sender.una.wire();
        let flags = seg.payload.len > 0 && seg.flags.0 & !Flags::PSH.0 == Flags::ACK.0;
        let no_signals = options.sack.as_slice().is_empty() && options.signal.is_empty();
        // RFC 7323 5.3 R1.
        let timely = self.timestamps.in_order(seg);
        let expected = next && same_ack && flags && no_signals && timely && self.state == State::Established;
        expected && (plain || self.expects_data(seg))
    }

    /// What [`Subflow::expects`] looks at that changes only with segments that are not predicted.
    pub(crate) fn expects_plain_data(&self) -> bool {
        self.sender.una == self.sender.nxt
            && !self.receiver.has_holes()
            && self.fin_at.is_none()
            && !self.ecn.on
            && !self.door.on
    }

    /// The same of one segment.
    #[inline(never)]
    fn expects_data(&self, seg: &Segment) -> bool {
        let in_order = !self.receiver.has_holes() && self.fin_at.is_none();
        self.sender.una == self.sender.nxt && in_order && !self.ecn.has_news(seg) && !self.door.on
    }

    /// `seg` is an acknowledgement without payload, with the next sequence number, and of what is in flight or was acknowledged last. It
    /// carries nothing else but timestamps and SACK blocks. The checks of RFC 9293 3.10.7.4 would then pass.
    pub(crate) fn expects_ack(&self, seg: &Segment) -> bool {
        let next = seg.seq == self.receiver.rcv_nxt.wire() && self.fin_at.is_none();
        let ack = Seq::unwrap(seg.ack, self.sender.una);
        let in_flight = self.sender.una <= ack && ack <= self.sender.nxt;
        let pure = seg.payload.len == 0 && seg.flags.0 & !Flags::PSH.0 == Flags::ACK.0 && seg.options.signal.is_empty();
        let marked = self.ecn.on && seg.ecn == Codepoint::Ce;
        let timely = self.timestamps.in_order(seg);
        next && in_flight && pure && !marked && !self.door.on && timely && self.state == State::Established
    }

    /// Takes such an acknowledgement.
    #[inline(always)]
    pub(crate) fn take_expected_ack(
        &mut self,
        now: Instant,
        seg: &Segment,
        paths: &[Path],
        events: &mut Events,
        multipath: bool,
    ) -> AckResult {
        let place = (self.receiver.rcv_nxt, Seq::unwrap(seg.ack, self.sender.una));
        self.note_arriving(now, seg);
        self.take_ack(now, seg, place, paths, events, multipath)
    }

    /// Takes the timestamp, the window and the sequence number of such a segment. Returns true if its window updates SND.WND (by
    /// SND.WL1 and SND.WL2).
    #[inline(always)]
    pub(crate) fn take_expected(&mut self, now: Instant, seg: &Segment) -> bool {
        let (seq, ack) = (self.receiver.rcv_nxt, self.sender.una);
        self.timestamps.note(now, seg, seq);
        self.note_arriving(now, seg);
        self.receiver.rcv_nxt += u64::from(seg.payload.len);
        self.note_window(seq, ack, self.peer_window.of(seg)).1
    }
}
