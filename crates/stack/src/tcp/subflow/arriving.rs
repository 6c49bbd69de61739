//! Segments that arrive on a synchronized subflow: the checks of RFC 9293 3.10.7.4, the ACK field, timestamps, SACK blocks and
//! ECN marks, and when to acknowledge.

use super::{AckResult, Check, Subflow};
use crate::controller::Path;
use crate::event::{EndReason, Events};
use crate::segment::{Flags, Segment};
use crate::seq::Seq;
use crate::tcp::receiver::acknowledgements::Arrived;
use crate::tcp::sender::AckField;
use crate::tcp::state::State;
use crate::tcp::timestamps;
use crate::tcp::timestamps::Age;
use crate::time::Instant;

impl Subflow {
    /// RFC 9293 3.10.7.4, first to fourth check, with PAWS (RFC 7323 5) and the RST and SYN rules of RFC 5961. `window` is the
    /// number of octets accepted from RCV.NXT on.
    pub(crate) fn check(&mut self, now: Instant, seg: &Segment, window: u64) -> (Check, Option<EndReason>) {
        let rcv_nxt = self.receiver.rcv_nxt;
        let seq = Seq::unwrap(seg.seq, rcv_nxt);
        let rst = seg.flags.has(Flags::RST);
        self.note_arriving(now, seg);
        let len = seg.seq_len();
        // TCP-DOOR: report a late copy as out of order, even if it carries no new data.
        if self.door.note_packet(seg) {
            self.acks.now();
        }
        // RFC 7323 5.3: PAWS comes before the check of the sequence number, once.
        match if rst { Age::Timely } else { self.timestamps.age(now, seg) } {
            Age::Timely => {}
            Age::Missing => return (Check::Drop, None),
            Age::Old(behind) => {
                self.report_duplicate(seg, seq);
                // RFC 7323 5.3 R1 asks for an answer. A pure ACK that a later one overtook needs none: the later ACK carried
                // more.
                if len > 0 || behind >= self.sender.rtt.rto() {
                    self.answer(now, seg);
                }
                return (Check::Drop, None);
            }
        }
        if self.is_syn_again(now, seg, seq) {
            return (Check::Drop, None);
        }
        if rst {
            return (Check::Drop, self.on_rst(now, seq, window));
        }
        // "Special allowance should be made to accept valid ACKs" when the window is closed. The header of a window probe counts
        // (its payload is refused later), and so does a segment whose sequence number follows the peer's probe or its last octet.
        // Hence the window is at least one octet, and a segment without payload may start at its right edge.
        let window = window.max(1);
        let acceptable = if len == 0 {
            seq >= rcv_nxt && seq <= rcv_nxt + window
        } else {
            seq < rcv_nxt + window && seq + len > rcv_nxt
        };
        if !acceptable {
            return (self.on_unacceptable(now, seg, seq), None);
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

    /// Processes a RST; its payload is ignored (RFC 9293 3.5.3). Returns the reason if the RST ends
    /// the subflow.
    fn on_rst(&mut self, now: Instant, seq: Seq, window: u64) -> Option<EndReason> {
        // RFC 5961 3.2, 4.2: reset only if the sequence number is exactly RCV.NXT. A closed window
        // makes no difference (RFC 9293 3.5.3, MUST-66).
        if seq == self.receiver.rcv_nxt {
            // RFC 1337 3, fix F1: "Ignore RST segments in TIME-WAIT state".
            return (self.state != State::TimeWait).then(|| self.end(EndReason::Reset));
        }
        // RFC 5961 3.2: a RST elsewhere in the window draws a challenge ACK. Outside the window it
        // is dropped silently.
        if self.receiver.rcv_nxt < seq && seq < self.receiver.rcv_nxt + window {
            self.challenge(now);
        }
        None
    }

    /// The peer's SYN again, perhaps with data: our SYN/ACK was lost, and is sent again.
    fn is_syn_again(&mut self, now: Instant, seg: &Segment, seq: Seq) -> bool {
        let bare = seg.flags.has(Flags::SYN) && !seg.flags.has(Flags::ACK) && !seg.flags.has(Flags::RST);
        let again = bare && self.state == State::SynReceived && seq == self.irs;
        if again && self.may_challenge(now) {
            self.own_syn.ask();
        }
        again
    }

    /// What the receiver of data takes note of in every segment: PSH, and for a buffer that tunes itself the round-trip time.
    #[inline]
    pub(super) fn note_arriving(&mut self, now: Instant, seg: &Segment) {
        if self.acks.are_plain() {
            return;
        }
        self.acks.note_push(seg.flags.has(Flags::PSH));
        if self.acks.offered < u64::MAX && seg.payload.len > 0 {
            let rtt = |echo| timestamps::elapsed(now, echo).map(|rtt| (echo, rtt));
            let found = self.timestamps.echo(seg).and_then(rtt);
            found.into_iter().for_each(|(echo, rtt)| self.acks.note_rtt(echo, rtt));
        }
    }

    /// First check failed: the segment is outside the window. It is dropped, unless it is the
    /// SYN/ACK of a simultaneous open.
    fn on_unacceptable(&mut self, now: Instant, seg: &Segment, seq: Seq) -> Check {
        if self.state == State::SynReceived && seg.flags.has(Flags::SYN) && seq == self.irs {
            // The SYN/ACK of a simultaneous open.
            return Check::Accept;
        }
        if self.state == State::TimeWait && seg.flags.has(Flags::FIN) {
            // A copy of the FIN within one round trip of our ACK: the peer sent it before the ACK
            // could arrive. A second ACK would reach a closed port, and the peer would answer with
            // a RST.
            if self.time_wait_at.is_some_and(|at| now.since(at) < self.sender.rtt.srtt().unwrap_or_default()) {
                return Check::Drop;
            }
            self.restart_time_wait(now);
        }
        if seq < self.receiver.rcv_nxt {
            self.timestamps.note_again(now, seg, seq);
        }
        self.report_duplicate(seg, seq);
        self.answer(now, seg);
        Check::Drop
    }

    /// Acknowledges an unacceptable segment (RFC 9293 3.10.7.4, first check). A segment without payload is answered at a limited
    /// rate: keep-alives and window probes expect an answer (RFC 1122 4.2.3.6), but the segment may itself be an answer.
    fn answer(&mut self, now: Instant, seg: &Segment) {
        if seg.flags.has(Flags::SYN) {
            // RFC 5961 4.2: whatever its sequence number is.
            self.challenge(now);
        } else if seg.seq_len() > 0 || self.throttles.answers_invalid(now) {
            self.acks.now();
        }
    }

    /// Sends a challenge ACK (RFC 5961 3.2, 4.2, 5.2); at most ten in five seconds by default (RFC 5961 7).
    fn challenge(&mut self, now: Instant) {
        if self.may_challenge(now) {
            self.acks.now();
        }
    }

    fn may_challenge(&mut self, now: Instant) -> bool {
        self.throttles.challenges(now)
    }

    /// Whether a repeated answer may be sent. The peer repeats its request if our first answer was lost.
    pub(crate) fn may_repeat(&mut self, now: Instant) -> bool {
        self.throttles.repeats(now)
    }

    /// Takes the window of an acceptable acknowledgement. Returns whether it equals the previous one, and whether it updates
    /// SND.WND (RFC 9293 3.10.7.4).
    #[inline]
    pub(super) fn note_window(&mut self, seq: Seq, ack: Seq, window: u64) -> (bool, bool) {
        self.peer_window.note(seq, ack, self.sender.una, window)
    }

    /// RFC 2883 4.1.1: reports a segment below the window as a duplicate, unless it is only a keep-alive or an old ACK. Also
    /// reports an original that arrives after its retransmission and is dropped for its old timestamp.
    pub(super) fn report_duplicate(&mut self, seg: &Segment, seq: Seq) {
        if seg.payload.len > 0 && seq + seg.seq_len() <= self.receiver.rcv_nxt {
            self.receiver.note_duplicate(seq, seg.payload.len);
        }
    }

    /// RFC 9293 3.10.7.4, fifth check: the ACK field. `multipath`: the window belongs to the connection, not to this subflow.
    pub(crate) fn on_ack(
        &mut self,
        now: Instant,
        seg: &Segment,
        paths: &[Path],
        events: &mut Events,
        multipath: bool,
    ) -> (Check, AckResult) {
        let dropped = (Check::Drop, AckResult::default());
        let (una, nxt) = (self.sender.una, self.sender.nxt);
        let ack = Seq::unwrap(seg.ack, una);
        let seq = Seq::unwrap(seg.seq, self.receiver.rcv_nxt);
        let established = self.state == State::SynReceived;
        if established {
            if ack <= una || ack > nxt {
                self.set_reset(Segment { seq: seg.ack, flags: Flags::RST, ..Segment::default() });
                return dropped;
            }
            self.peer_window.set(seq, ack);
            self.finish_handshake(now, seg);
            if ack == self.iss + 1 {
                // After a simultaneous open the data of our SYN may still be in flight, and larger than the peer permits.
                self.sender.cut_to_mss();
            }
        }
        // RFC 5961 5.2: neither above SND.NXT, nor below SND.UNA by more than the largest window.
        if ack > nxt || self.peer_window.is_too_old(ack, self.sender.una) {
            if seg.payload.len > 0 || self.may_challenge(now) {
                self.acks.now();
            }
            return dropped;
        }
        let taken = self.take_ack(now, seg, (seq, ack), paths, events, multipath);
        (Check::Accept, AckResult { established, ..taken })
    }

    /// Takes an acknowledgement that has passed the checks: its timestamp, its window, and what it acknowledges.
    #[inline(always)]
    pub(super) fn take_ack(
        &mut self,
        now: Instant,
        seg: &Segment,
        (seq, ack): (Seq, Seq),
        paths: &[Path],
        events: &mut Events,
        multipath: bool,
    ) -> AckResult {
        self.timestamps.note(now, seg, seq);
        let (same_window, news) = self.note_window(seq, ack, self.peer_window.of(seg));
        let result = AckResult { window_is_new: news, ..AckResult::default() };
        if ack < self.sender.una && seg.options.sack.as_slice().is_empty() && !self.door.on {
            return result;
        }
        let field = AckField {
            ack,
            sack: self.sack,
            ts_ecr: self.timestamps.echo(seg),
            ece: self.ecn.on && seg.flags.has(Flags::ECE),
            same_window: multipath || same_window,
        };
        let before = if field.ece { self.sender.delivered() } else { 0 };
        let progress = self.sender.on_ack(now, seg, &field, paths, events);
        if field.ece {
            self.counts.delivered_ce += self.sender.delivered() - before;
        }
        if progress.fin {
            self.on_fin_acked(now);
        }
        AckResult { acked: progress.acked, lost: progress.lost, ..result }
    }

    /// A payload was accepted or refused: decides when to acknowledge it (RFC 5681 4.2, RFC 1122 4.2.3.2).
    #[inline(always)]
    pub(crate) fn on_payload_done(&mut self, now: Instant, len: u32, at_once: bool) {
        if self.acks.are_plain() {
            return self.acks.on_plain_payload(now, len, at_once || self.has_report());
        }
        self.on_other_payload_done(now, len, at_once);
    }

    /// As above, where more than RFC 5681 decides.
    fn on_other_payload_done(&mut self, now: Instant, len: u32, at_once: bool) {
        let arrived = Arrived {
            len,
            at_once: at_once || self.has_report(),
            rcv_nxt: self.receiver.rcv_nxt,
            holes: self.receiver.has_holes() && !(self.sack && self.receiver.has_dsack()),
            srtt: self.sender.rtt.srtt(),
            rto: self.sender.rtt.rto(),
        };
        self.acks.on_payload(now, &arrived);
    }

    /// RFC 3168 6.1.3: takes a CE mark, which is echoed at once. The payload of `seg` has not been taken yet.
    pub(crate) fn on_ecn_marks(&mut self, seg: &Segment) {
        let delayed = self.acks.are_owed().then_some(self.receiver.rcv_nxt);
        let now = if self.ecn.is_exact() { self.ecn.note_exactly(seg, delayed) } else { self.ecn.note_marks(seg) };
        if now {
            self.acks.now();
        }
    }

    /// A router has dropped a segment of ours with the sequence number `seq`: of options and payload together, `room` octets fit.
    pub(crate) fn on_too_big(&mut self, now: Instant, seq: u32, room: u32) {
        if self.is_open() && self.is_in_flight(seq) {
            self.sender.lower_mss(now, room.saturating_sub(self.data_options_len()));
        }
    }
}
