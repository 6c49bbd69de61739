//! The end of a subflow: our FIN, the peer's FIN, TIME-WAIT (RFC 9293 3.6, 3.10.4).

use super::{OFF, Subflow};
use crate::event::EndReason;
use crate::segment::{Flags, Segment};
use crate::seq::Seq;
use crate::tcp::state::State;
use crate::time::Instant;

impl Subflow {
    /// The FIN, if none was sent: the connection wants the subflow closed, and all its data has been sent (RFC 9293 3.10.4).
    pub(crate) fn poll_fin(&mut self, now: Instant, window: u16) -> Option<Segment> {
        self.state = match self.state {
            State::Established => State::FinWait1,
            State::CloseWait => State::LastAck,
            _ => return None,
        };
        self.fin_sent = true;
        let seq = self.sender.send_fin(now);
        self.acks.off();
        Some(self.header(now, seq, Flags::FIN, window))
    }

    /// The FIN, if none was sent, on `seg`, which has the last data.
    pub(crate) fn add_fin(&mut self, seg: &mut Segment) {
        self.state = match self.state {
            State::Established => State::FinWait1,
            State::CloseWait => State::LastAck,
            _ => return,
        };
        self.fin_sent = true;
        self.sender.add_fin();
        seg.flags = seg.flags.with(Flags::FIN);
    }

    /// RFC 9293 3.10.7.4, eighth check: the FIN bit. Returns true once a FIN and everything before
    /// it have arrived. The first FIN fixes the end of the peer's stream. A FIN before octets that
    /// have arrived is ignored.
    pub(crate) fn on_fin(&mut self, now: Instant, seg: &Segment) -> bool {
        if seg.flags.has(Flags::FIN) && !self.state.peer_has_closed() {
            let at = Seq::unwrap(seg.seq, self.receiver.rcv_nxt) + u64::from(seg.payload.len);
            if self.fin_at.is_none() && at >= self.receiver.end() {
                self.fin_at = Some(at);
            }
            // RFC 5681 4.2: acknowledge a FIN behind a hole at once. `take_payload` has done so for
            // a FIN with data, and coupled acknowledgement acknowledges nothing before the head of
            // the line has arrived.
            if at > self.receiver.rcv_nxt && seg.payload.len == 0 && !self.acks.coupled_ack {
                self.acks.now();
            }
        }
        if self.fin_at != Some(self.receiver.rcv_nxt) {
            return false;
        }
        self.fin_at = None;
        self.receiver.rcv_nxt += 1;
        self.acks.now();
        match self.state {
            State::SynReceived | State::Established => self.state = State::CloseWait,
            State::FinWait1 => self.state = State::Closing,
            State::FinWait2 => {
                self.state = State::TimeWait;
                self.restart_time_wait(now);
            }
            _ => {}
        }
        true
    }

    /// Number of octets from `start` up to the peer's FIN; `u64::MAX` if no FIN has arrived. Text
    /// behind a FIN is ignored (RFC 9293 3.10.7.4, seventh check: "ignore the segment text").
    pub(crate) fn room_before_fin(&self, start: Seq) -> u64 {
        match self.fin_at {
            _ if self.state.peer_has_closed() => 0,
            Some(fin) if start < fin => fin - start,
            Some(_) => 0,
            None => u64::MAX,
        }
    }

    pub(super) fn on_fin_acked(&mut self, now: Instant) {
        match self.state {
            State::FinWait1 => self.state = State::FinWait2,
            State::Closing => {
                self.state = State::TimeWait;
                self.restart_time_wait(now);
            }
            State::LastAck => {
                self.end(EndReason::Finished);
            }
            _ => {}
        }
    }

    /// RFC 6191 2: in TIME-WAIT, `syn` is of a new connection, which has timestamps if `timestamps` says that we would.
    pub(crate) fn gives_way_to(&self, syn: &Segment, timestamps: bool) -> bool {
        let Some(ts) = syn.options.timestamps.filter(|_| timestamps && self.state == State::TimeWait) else {
            return false;
        };
        let beyond = syn.seq.wrapping_sub(self.receiver.rcv_nxt.wire()) as i32 >= 0;
        match self.timestamps.age_of(ts.val) {
            // "If the previous incarnation of the connection did not make use of the Timestamps option".
            None => true,
            Some(age) => age > 0 || (age == 0 && beyond),
        }
    }

    pub(super) fn restart_time_wait(&mut self, now: Instant) {
        self.time_wait_at = Some(now);
    }

    /// The subflow ends. Nothing more is sent, except a RST that is still waiting.
    pub(crate) fn end(&mut self, reason: EndReason) -> EndReason {
        self.state = State::Closed;
        self.sender.rto_at = OFF;
        self.time_wait_at = None;
        self.acks.off();
        self.own_syn.stop();
        reason
    }
}
