//! Segments that arrive on a synchronized subflow: the checks of RFC 9293 3.10.7.4, the ACK field, timestamps, SACK blocks,
//! ECN marks; and when what they bring is acknowledged.

use super::*;

impl Subflow {
    /// RFC 9293 3.10.7.4, first to fourth check, with PAWS (RFC 7323 5) and the RST and SYN rules of RFC 5961.
    /// `window` is the octets we accept from rcv_nxt on.
    pub(crate) fn check(&mut self, now: Instant, seg: &Segment, window: u64) -> (Check, Option<EndReason>) {
        let rcv_nxt = self.receiver.rcv_nxt;
        let seq = Seq::unwrap(seg.seq, rcv_nxt);
        let rst = seg.flags.has(Flags::RST);
        let len = seg.seq_len();
        // A copy that comes late is out of order although nothing in it is wanted any more.
        if self.door.note_packet(seg) {
            self.acks.now();
        }
        match if rst { Age::Timely } else { self.timestamps.age(now, seg) } {
            Age::Timely => {}
            Age::Missing => return (Check::Drop, None),
            Age::Old(behind) => {
                self.report_duplicate(seg, seq);
                // R1 wants an answer. An acknowledgement that was overtaken has no need of one: what overtook it said more.
                if len > 0 || behind >= self.sender.rtt.rto() {
                    self.answer(now, seg);
                }
                return (Check::Drop, None);
            }
        }
        // "Special allowance should be made to accept valid ACKs" when the window is closed: a probe's header counts (the
        // payload is refused later), and so does what the peer sends with the number after its probe or its last octet.
        // A window of one octet does that, and a right edge that belongs to it for segments without text.
        let window = window.max(1);
        let acceptable = if len == 0 {
            seq >= rcv_nxt && seq <= rcv_nxt + window
        } else {
            seq < rcv_nxt + window && seq + len > rcv_nxt
        };
        if !acceptable {
            return (self.on_unacceptable(now, seg, seq), None);
        }
        if rst {
            // RFC 5961 3.2: exactly next, or a challenge ACK.
            if seq == rcv_nxt {
                return (Check::Drop, Some(self.end(EndReason::Reset)));
            }
            self.challenge(now);
            return (Check::Drop, None);
        }
        if seg.flags.has(Flags::SYN) {
            // RFC 5961 4.2: challenge ACK in any synchronized state.
            self.challenge(now);
            return (Check::Drop, None);
        }
        if !seg.flags.has(Flags::ACK) {
            return (Check::Drop, None);
        }
        (Check::Accept, None)
    }

    /// First check: a segment outside of the window. It is dropped, unless it is the SYN/ACK of a simultaneous open.
    fn on_unacceptable(&mut self, now: Instant, seg: &Segment, seq: Seq) -> Check {
        if seg.flags.has(Flags::RST) {
            return Check::Drop;
        }
        if self.state == State::SynReceived && seg.flags.has(Flags::SYN) && seq == self.irs {
            // The peer's SYN again: our SYN/ACK was lost, or this is a simultaneous open's SYN/ACK.
            if seg.flags.has(Flags::ACK) {
                return Check::Accept;
            }
            self.send_syn |= self.may_challenge(now);
            return Check::Drop;
        }
        if self.state == State::TimeWait && seg.flags.has(Flags::FIN) {
            self.restart_time_wait(now);
        }
        self.report_duplicate(seg, seq);
        self.answer(now, seg);
        Check::Drop
    }

    /// An acknowledgement that answers a segment which is not acceptable (RFC 9293 3.10.7.4, first check). Those without payload are
    /// answered now and then: keep-alives and probes ask for it (RFC 1122 4.2.3.6), but an answer may be what they are themselves.
    fn answer(&mut self, now: Instant, seg: &Segment) {
        if seg.flags.has(Flags::SYN) {
            // RFC 5961 4.2: wherever it lies.
            self.challenge(now);
        } else if seg.seq_len() > 0 || self.invalid.allows(now, 1, self.invalid_ack_interval) {
            self.acks.now();
        }
    }

    /// A challenge ACK (RFC 5961 3.2, 4.2, 5.2), ten in five seconds (7).
    fn challenge(&mut self, now: Instant) {
        if self.may_challenge(now) {
            self.acks.now();
        }
    }

    fn may_challenge(&mut self, now: Instant) -> bool {
        self.challenges.allows(now, 10, self.invalid_ack_interval.saturating_mul(10))
    }

    /// An answer to what the peer has said before may leave: it repeats it when our first answer was lost.
    pub(crate) fn may_repeat(&mut self, now: Instant) -> bool {
        self.repetitions.allows(now, 10, self.invalid_ack_interval.saturating_mul(10))
    }

    /// The window of an acknowledgement that counts. Whether it is the same as the last one's, and whether it is news (RFC 9293
    /// 3.10.7.4).
    #[inline]
    pub(super) fn note_window(&mut self, seq: Seq, ack: Seq, window: u64) -> (bool, bool) {
        if window > 0 {
            // What is in flight is no probe any more.
            self.sender.probes = 0;
        }
        self.peer_window.note(seq, ack, self.sender.una, window)
    }

    /// RFC 2883 4.1.1: a duplicate below the window is reported, unless it is a mere keep-alive or old ACK; so is an original
    /// that arrives after its retransmission and is refused for its old timestamp.
    pub(super) fn report_duplicate(&mut self, seg: &Segment, seq: Seq) {
        if seg.payload.len > 0 && seq + seg.seq_len() <= self.receiver.rcv_nxt {
            self.receiver.note_duplicate(seq, seg.payload.len);
        }
    }

    /// RFC 9293 3.10.7.4, fifth check: the ACK field. `multipath`: windows belong to the connection.
    pub(crate) fn on_ack(
        &mut self,
        now: Instant,
        seg: &Segment,
        paths: &[Path],
        events: &mut Events,
        multipath: bool,
    ) -> (Check, AckResult) {
        let mut result = AckResult::default();
        let (una, nxt) = (self.sender.una, self.sender.nxt);
        let ack = Seq::unwrap(seg.ack, una);
        let seq = Seq::unwrap(seg.seq, self.receiver.rcv_nxt);
        if self.state == State::SynReceived {
            if ack <= una || ack > nxt {
                self.set_reset(Segment { seq: seg.ack, flags: Flags::RST, ..Segment::default() });
                return (Check::Drop, result);
            }
            self.peer_window.set(seq, ack);
            self.finish_handshake(now, seg);
            result.established = true;
        }
        // RFC 5961 5.2: nor one that is older by more than the largest window.
        if ack > nxt || self.peer_window.is_too_old(ack, self.sender.una) {
            if seg.payload.len > 0 || self.may_challenge(now) {
                self.acks.now();
            }
            return (Check::Drop, result);
        }
        self.timestamps.note(now, seg, seq);
        let (same_window, news) = self.note_window(seq, ack, self.peer_window.of(seg));
        result.window_is_new = news;
        if ack < self.sender.una && seg.options.sack.as_slice().is_empty() && !self.door.on {
            return (Check::Accept, result);
        }
        let heard = Heard {
            ack,
            sack: self.sack,
            ts_ecr: self.timestamps.echo(seg),
            ece: self.ecn.on && seg.flags.has(Flags::ECE),
            same_window: multipath || same_window,
        };
        let progress = self.sender.on_ack(now, seg, &heard, paths, events);
        if progress.fin {
            self.on_fin_acked(now);
        }
        (result.acked, result.lost) = (progress.acked, progress.lost);
        (Check::Accept, result)
    }

    /// A payload was accepted or refused: when to acknowledge (RFC 5681 4.2, RFC 1122 4.2.3.2).
    #[inline]
    pub(crate) fn on_payload_done(&mut self, now: Instant, len: u32, at_once: bool) {
        let at_once = at_once || self.has_report();
        self.acks.on_payload(now, len, at_once);
    }

    /// RFC 3168 6.1.3: CE marks, which are echoed.
    pub(crate) fn on_ecn_marks(&mut self, seg: &Segment) {
        if self.ecn.note_marks(seg) {
            self.acks.now();
        }
    }
}
