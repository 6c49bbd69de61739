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
            self.ack_at = NOW;
        }
        if self.timestamps && !rst {
            match seg.options.timestamps {
                // RFC 7323 3.2: dropped silently.
                None => return (Check::Drop, None),
                // RFC 7323 5.3 R1; a RST is not subject to it. 5.5: nor is anything after 24 days of silence, in which the
                // peer's clock may have come round by half.
                Some(ts)
                    if (ts.val.wrapping_sub(self.ts_recent) as i32) < 0
                        && now.since(self.ts_recent_at) <= TS_RECENT_VALID =>
                {
                    self.report_duplicate(seg, seq);
                    // R1 wants an answer. An acknowledgement that was overtaken has no need of one: what overtook it said more.
                    let behind = Duration::from_millis(u64::from(self.ts_recent.wrapping_sub(ts.val)));
                    if len > 0 || behind >= self.rtt.rto() {
                        self.answer(now, seg);
                    }
                    return (Check::Drop, None);
                }
                Some(_) => {}
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
            if rst {
                return (Check::Drop, None);
            }
            if self.state == State::SynReceived && seg.flags.has(Flags::SYN) && seq == self.irs {
                // The peer's SYN again: our SYN/ACK was lost, or this is a simultaneous open's SYN/ACK.
                if seg.flags.has(Flags::ACK) {
                    return (Check::Accept, None);
                }
                self.send_syn |= self.may_challenge(now);
                return (Check::Drop, None);
            }
            if self.state == State::TimeWait && seg.flags.has(Flags::FIN) {
                self.restart_time_wait(now);
            }
            self.report_duplicate(seg, seq);
            self.answer(now, seg);
            return (Check::Drop, None);
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

    /// An acknowledgement that answers a segment which is not acceptable (RFC 9293 3.10.7.4, first check). Those without payload are
    /// answered now and then: keep-alives and probes ask for it (RFC 1122 4.2.3.6), but an answer may be what they are themselves.
    fn answer(&mut self, now: Instant, seg: &Segment) {
        if seg.flags.has(Flags::SYN) {
            // RFC 5961 4.2: wherever it lies.
            self.challenge(now);
        } else if seg.seq_len() > 0 || self.invalid.allows(now, 1, self.invalid_ack_interval) {
            self.ack_at = NOW;
        }
    }

    /// A challenge ACK (RFC 5961 3.2, 4.2, 5.2), ten in five seconds (7).
    fn challenge(&mut self, now: Instant) {
        if self.may_challenge(now) {
            self.ack_at = NOW;
        }
    }

    fn may_challenge(&mut self, now: Instant) -> bool {
        self.challenges.allows(now, 10, self.invalid_ack_interval.saturating_mul(10))
    }

    /// An answer to what the peer has said before may leave: it repeats it when our first answer was lost.
    pub(crate) fn may_repeat(&mut self, now: Instant) -> bool {
        self.repetitions.allows(now, 10, self.invalid_ack_interval.saturating_mul(10))
    }

    /// RFC 7323 4.3 (2), 5.3 R3, once the acknowledgement is accepted, too: what the peer has not sent moves no clock of its.
    pub(super) fn note_timestamp(&mut self, now: Instant, seg: &Segment, seq: Seq) {
        if let (true, Some(ts)) = (self.timestamps && seq <= self.last_ack_sent, seg.options.timestamps) {
            self.ts_recent = ts.val;
            self.ts_recent_at = now;
        }
    }

    /// The window of an acknowledgement that counts. True if it is news: newer than that of SND.WL1 and SND.WL2 (RFC 9293 3.10.7.4).
    #[inline]
    pub(super) fn note_window(&mut self, seq: Seq, ack: Seq, window: u64) -> bool {
        if window > 0 {
            // What is in flight is no probe any more.
            self.probes = 0;
        }
        self.max_window = self.max_window.max(window);
        let new = ack >= self.snd_una && (self.wl1 < seq || (self.wl1 == seq && self.wl2 <= ack));
        if new {
            (self.wl1, self.wl2) = (seq, ack);
        }
        new
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
        views: &[View],
        events: &mut Events,
        multipath: bool,
    ) -> (Check, AckResult) {
        let mut result = AckResult::default();
        let ack = Seq::unwrap(seg.ack, self.snd_una);
        let seq = Seq::unwrap(seg.seq, self.receiver.rcv_nxt);
        if self.state == State::SynReceived {
            if ack <= self.snd_una || ack > self.snd_nxt {
                self.set_reset(Segment { seq: seg.ack, flags: Flags::RST, ..Segment::default() });
                return (Check::Drop, result);
            }
            self.wl1 = seq;
            self.wl2 = ack;
            self.finish_handshake(now, seg);
            result.established = true;
        }
        // RFC 5961 5.2: nor one that is older by more than the largest window.
        if ack > self.snd_nxt || ack + self.max_window < self.snd_una {
            if seg.payload.len > 0 || self.may_challenge(now) {
                self.ack_at = NOW;
            }
            return (Check::Drop, result);
        }
        self.note_timestamp(now, seg, seq);
        let window = u64::from(seg.window) << self.peer_shift;
        let same_window = window == self.last_window;
        self.last_window = window;
        result.window_is_new = self.note_window(seq, ack, window);
        if ack < self.snd_una && seg.options.sack.as_slice().is_empty() && !self.door.on {
            return (Check::Accept, result);
        }
        let old = ack < self.snd_una;
        let in_flight = self.in_flight();
        let window = self.controller.window();
        // The window was in use: full, or in slow start at least half full (the other half was acknowledged just now).
        let cwnd = window.octets();
        let cwnd_limited = in_flight + u64::from(self.mss) > cwnd || (window.in_slow_start() && 2 * in_flight >= cwnd);
        let (una_before, flight_before) = (self.snd_una, self.flight_size());
        let sacked_before = !seg.options.sack.as_slice().is_empty() && self.board.has_sacked();
        let acked = if ack > self.snd_una { self.board.acknowledge(ack) } else { Default::default() };
        let (sacked, dsack) = if self.sack { self.take_sacks(seg, ack) } else { Default::default() };
        let ts_ecr = seg.options.timestamps.filter(|_| self.timestamps).map(|t| t.ecr);
        let mut rtt = None;
        if ack > self.snd_una {
            self.snd_una = ack;
            result.advanced = true;
            rtt = acked.sample.map(|sent_at| now.since(sent_at));
            if let Some(rtt) = rtt {
                self.sample_rtt(now, rtt);
            } else if let (true, Some(ecr)) = (acked.retransmitted, ts_ecr) {
                rtt = self.sample_from_echo(now, ecr);
            }
            self.adapt_timer(ack, rtt);
            // RFC 6298 5.2, 5.3.
            self.retries = 0;
            self.probes = 0;
            self.rto_at = if self.snd_una < self.snd_nxt { now + self.rtt.rto() } else { OFF };
            if acked.fin {
                self.on_fin_acked(now);
            }
        }
        // Duplicate: RFC 6675 2 by new SACK information, even if the acknowledgement advances; RFC 5681 2 otherwise, where
        // a connection's shared window may change on any subflow and so does not count.
        let plain = seg.payload.len == 0 && ack == self.snd_una && flight_before > 0 && !result.advanced;
        // A report of a duplicate does not say that anything is missing.
        let duplicate = match self.selective {
            true => sacked.octets > 0,
            false => plain && (multipath || same_window) && dsack.is_none(),
        };
        if flight_before > 0 || dsack.is_some() {
            let sacked_original = sacked.original;
            let door = seg.options.door;
            let ece = self.ecn && seg.flags.has(Flags::ECE);
            let feedback = Feedback {
                acked,
                duplicate,
                dsack,
                sacked_before,
                sacked_original,
                ack,
                una_before,
                old,
                door,
                ts_ecr,
                rtt,
                cwnd_limited,
                ece,
            };
            self.on_feedback(now, &feedback, views, events);
        }
        if self.ecn && seg.flags.has(Flags::ECE) && flight_before > 0 {
            self.on_ecn_echo(now, views, events);
        }
        (Check::Accept, result)
    }

    /// Works in SACK blocks; returns octets newly SACKed and the D-SACK block, if the first one is one (RFC 2883 4).
    pub(super) fn take_sacks(&mut self, seg: &Segment, ack: Seq) -> (Sacked, Option<(Seq, Seq)>) {
        let una = ack.max(self.snd_una);
        let blocks = seg.options.sack.as_slice();
        let unwrap = |b: (u32, u32)| (Seq::unwrap(b.0, una), Seq::unwrap(b.1, una));
        let mut sacked = Sacked::default();
        let mut dsack = None;
        for (i, &block) in blocks.iter().enumerate() {
            let (start, end) = unwrap(block);
            if start >= end || end > self.snd_nxt {
                continue;
            }
            if !self.selective {
                // Coupled acknowledgement: there are reports only, also of what is held from the acknowledgement on.
                dsack = Some((start, end));
                break;
            }
            if i == 0 {
                let inside_next = blocks.get(1).is_some_and(|&second| {
                    let (s, e) = unwrap(second);
                    s <= start && end <= e
                });
                // RFC 2883 4: compared with the acknowledgement beside it, not with one that overtook it.
                if start < ack || inside_next {
                    dsack = Some((start, end));
                    continue;
                }
            }
            if start >= una {
                let more = self.board.sack(start, end);
                sacked.octets += more.octets;
                sacked.original = sacked.original.max(more.original);
            }
        }
        (sacked, dsack)
    }

    /// A payload was accepted or refused: when to acknowledge (RFC 5681 4.2, RFC 1122 4.2.3.2).
    pub(crate) fn on_payload_done(&mut self, now: Instant, len: u32, at_once: bool) {
        self.rcv_mss = self.rcv_mss.max(len);
        self.unacked += u64::from(len);
        let due = match self.delayed_ack {
            _ if at_once || self.has_report() => NOW,
            DelayedAck::Off => NOW,
            // At least every second full-sized segment.
            DelayedAck::After(_) if self.unacked >= 2 * u64::from(self.rcv_mss) => NOW,
            DelayedAck::After(delay) => now + delay,
        };
        self.ack_at = self.ack_at.min(due);
    }

    /// RFC 3168 6.1.3: the receiver echoes a CE mark until the sender says CWR.
    pub(crate) fn on_ecn_marks(&mut self, seg: &Segment) {
        if !self.ecn {
            return;
        }
        if seg.flags.has(Flags::CWR) {
            self.echo_ce = false;
        }
        if seg.ecn == Ecn::Ce {
            self.echo_ce = true;
            self.ack_at = NOW;
        }
    }

    pub(super) fn sample_rtt(&mut self, now: Instant, rtt: Duration) {
        self.min_rtt = self.min_rtt.min(rtt);
        if !self.is_held(now) {
            self.rtt.sample(rtt);
        }
    }

    /// RFC 7323 4: a sample by the echoed timestamp, in its milliseconds.
    pub(super) fn sample_from_echo(&mut self, now: Instant, ecr: u32) -> Option<Duration> {
        let elapsed = Self::timestamp(now).wrapping_sub(ecr);
        if elapsed >= 1 << 31 {
            return None;
        }
        let rtt = Duration::from_millis(u64::from(elapsed).max(1));
        self.sample_rtt(now, rtt);
        Some(rtt)
    }

    /// The timestamp clock: milliseconds (RFC 7323 5.4).
    pub(in crate::tcp) fn timestamp(now: Instant) -> u32 {
        (now.0 / 1_000_000) as u32
    }
}
