//! Segments that a synchronized subflow sends: data, retransmissions, pure acknowledgements.

use super::{OFF, Subflow};
use crate::scoreboard::Sent;
use crate::segment::{self, Ecn as Codepoint, Flags, OPTION_SPACE, Options, Payload, SackBlocks, Segment};
use crate::seq::Seq;
use crate::tcp::state::State;
use crate::time::Instant;

impl Subflow {
    /// A segment with the header fields common to all segments. `window` is the scaled window field.
    #[inline]
    pub(super) fn header(&mut self, now: Instant, seq: Seq, flags: Flags, window: u16) -> Segment {
        let options = Options { timestamps: self.timestamps.option(now), ..Options::default() };
        self.timestamps.last_ack_sent = self.receiver.rcv_nxt;
        let flags = if self.ecn.echo { flags.with(Flags::ECE) } else { flags };
        Segment {
            seq: seq.wire(),
            ack: self.receiver.rcv_nxt.wire(),
            window,
            flags: flags.with(Flags::ACK),
            options,
            ..Segment::default()
        }
    }

    /// The segment for data that [`Sender::send_new`] has sent.
    #[inline]
    pub(crate) fn data_segment(&mut self, now: Instant, sent: &Sent, push: bool, window: u16, seg: &mut Segment) {
        let mut flags = if push { Flags::PSH } else { Flags::default() };
        // RFC 3168 6.1.2: CWR once, on new data.
        if core::mem::take(&mut self.sender.cwr) && self.ecn.on {
            flags = flags.with(Flags::CWR);
        }
        *seg = self.header(now, sent.seq, flags, window);
        seg.payload = Payload::new(sent.data, sent.len);
        if self.ecn.on {
            // RFC 3168 5.2, 6.1.1, 6.1.2, 6.1.4: only new data are ECT, with ECT(0).
            seg.ecn = Codepoint::Ect0;
        }
        if self.acks.are_due() && self.fast_open.tx == self.fast_open.sent {
            self.acks.on_data_waiting();
        }
        self.acks.on_data_sent(now);
        self.piggyback();
    }

    /// A data segment is sent whose fields are those of the one before, but for its numbers and these timestamps.
    #[inline(always)]
    pub(crate) fn data_as_before(&mut self, now: Instant) -> Option<segment::Timestamps> {
        self.acks.on_data_sent(now);
        self.piggyback();
        self.timestamps.option(now)
    }

    /// The same of an acknowledgement.
    #[inline(always)]
    pub(crate) fn ack_as_before(&mut self, now: Instant) -> Option<segment::Timestamps> {
        self.timestamps.last_ack_sent = self.receiver.rcv_nxt;
        self.acks.done();
        self.timestamps.option(now)
    }

    /// Marks `seg`, just made by [`Subflow::data_segment`], as a zero-window probe: neither ECT nor CWR (RFC 3168 6.1.6).
    pub(crate) fn make_probe(&mut self, seg: &mut Segment) {
        seg.ecn = Codepoint::NotEct;
        self.sender.cwr |= seg.flags.has(Flags::CWR);
        seg.flags.0 &= !Flags::CWR.0;
    }

    /// The segment of a retransmission, without the connection's options. RFC 3168 6.1.2, 6.1.5: neither ECN-capable nor with CWR.
    pub(crate) fn resend(&mut self, now: Instant, sent: &Sent, push: bool, window: u16) -> Segment {
        let (fin, len) = (sent.is_fin(), sent.data_len());
        let flags = if fin { Flags::FIN } else { Flags::default() };
        let flags = if push && len > 0 { flags.with(Flags::PSH) } else { flags };
        let mut seg = self.header(now, sent.seq, flags, window);
        if len > 0 {
            seg.payload = Payload::new(sent.data, len);
        }
        self.sender.note_resent(now);
        self.counts.retransmissions += 1;
        self.counts.octets_retransmitted += u64::from(seg.payload.len);
        self.piggyback();
        seg
    }

    /// Queues a RST. RFC 7323 3.2, 5.2: a RST "SHOULD" carry a timestamp if timestamps were negotiated; [`Subflow::poll_reset`] fills
    /// in the time.
    pub(crate) fn set_reset(&mut self, mut segment: Segment) {
        if self.state != State::SynSent {
            segment.options.timestamps = self.timestamps.option(Instant::ZERO);
        }
        self.reset = Some(Box::new(segment));
    }

    /// A RST is waiting to be sent.
    pub(crate) fn has_reset(&self) -> bool {
        self.reset.is_some()
    }

    /// The RST, if one is waiting.
    pub(crate) fn poll_reset(&mut self, now: Instant) -> Option<Segment> {
        let mut segment = *self.reset.take()?;
        if let Some(ts) = &mut segment.options.timestamps {
            ts.val = self.timestamps.val(now);
        }
        Some(segment)
    }

    /// A held or duplicate segment must be reported at once (RFC 5681 4.2, RFC 2018 4, RFC 2883 4).
    #[inline]
    pub(super) fn has_report(&self) -> bool {
        self.receiver.has_holes() || (self.sack && self.receiver.has_dsack())
    }

    /// A segment with payload also acknowledges, so the pure ACK is cancelled, unless there is a report that only a pure ACK has
    /// room for.
    #[inline]
    pub(super) fn piggyback(&mut self) {
        if !self.has_report() {
            self.ecn.take_before();
            self.acks.done();
        }
    }

    /// A pure acknowledgement, without its options.
    #[inline]
    pub(crate) fn make_ack(&mut self, now: Instant, window: u16, seg: &mut Segment) {
        *seg = self.header(now, self.sender.nxt, Flags::default(), window);
        if let Some(ack) = self.ecn.take_before() {
            // The one that says what is so now is still due.
            seg.ack = ack.wire();
            seg.flags.0 ^= Flags::ECE.0;
            return;
        }
        if let Some(ack) = self.acks.take() {
            seg.ack = ack.wire();
        }
    }

    /// There may be SACK blocks to send.
    #[inline]
    pub(crate) fn reports(&self) -> bool {
        self.receiver.has_holes() || self.receiver.has_dsack()
    }

    /// The SACK blocks of a pure acknowledgement that has room for at most `room` of them.
    #[inline]
    pub(crate) fn report(&mut self, room: usize) -> SackBlocks {
        if self.acks.coupled_ack { self.receiver.duplicate_block(room) } else { self.receiver.sack_blocks(room) }
    }

    /// A keep-alive (RFC 1122 4.2.3.6): its sequence number is already acknowledged, so the peer answers with an acknowledgement.
    pub(crate) fn make_keepalive(&mut self, now: Instant, window: u16) -> Segment {
        let seq = Seq(self.sender.nxt.0 - 1);
        self.header(now, seq, Flags::default(), window)
    }

    /// Octets that the timestamps option takes in each segment.
    #[inline]
    pub(crate) fn timestamp_len(&self) -> u32 {
        if self.timestamps.on { 12 } else { 0 }
    }

    /// Octets of option space that a data segment may need beside its payload.
    pub(crate) fn data_options_len(&self) -> u32 {
        let door = if self.door.on { super::handshake::DOOR_LEN } else { 0 };
        (self.timestamp_len() + self.largest_dss + door).min(OPTION_SPACE)
    }

    /// The subflow sends nothing on its own any more, only what the connection asks for.
    pub(crate) fn stop(&mut self) {
        self.sender.rto_at = OFF;
        self.acks.off();
    }

    /// Established, and the subflow itself has nothing to send but acknowledgements: no RST, no retransmission, no FIN.
    #[inline]
    pub(crate) fn is_quiescent(&self) -> bool {
        self.sender.is_quiescent() && self.state == State::Established && !self.close && self.reset.is_none()
    }

    /// A pure acknowledgement is due now.
    #[inline]
    pub(crate) fn ack_is_due(&self) -> bool {
        self.acks.are_due() && self.state != State::SynSent
    }

    /// This client owes the third ACK, alone: nothing has arrived but the SYN/ACK, and no data have
    /// left but those of the SYN. `nxt`: offset of the connection's next new data.
    pub(crate) fn owes_third_ack(&self, nxt: u64) -> bool {
        self.state == State::Established
            && self.ack_is_due()
            && self.receiver.rcv_nxt == self.irs + 1
            && nxt == u64::from(self.fast_open.tx)
    }

    /// Coupled acknowledgement: the segment just released is acknowledged by an ACK of its own.
    pub(crate) fn owe_ack(&mut self) {
        self.acks.owe(self.receiver.rcv_nxt);
    }
}
