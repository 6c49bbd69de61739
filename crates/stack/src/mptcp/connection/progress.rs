//! What follows from any input: closing, the end of the stream, the end of a subflow, updated rows and events.

use super::Connection;
use crate::event::{EndReason, Event, SubflowId};
use crate::mptcp::dss::Mappings;
use crate::mptcp::handshake::{Join, Member};
use crate::mptcp::negotiation::Mode;
use crate::mptcp::send_stream::Fin;
use crate::mptcp::timers::Timer;
use crate::mptcp::verify::Checks;
use crate::tcp::receiver::reassembly::Receiver;
use crate::tcp::subflow::{State, Subflow};
use crate::time::Instant;

impl Connection {
    /// Runs after every input: closing, end of stream, events.
    pub(super) fn progress(&mut self, now: Instant) {
        if self.recv.ends_now() {
            self.events.push_back(Event::EndOfStream);
        }
        match *self.negotiation.mode() {
            Mode::Tcp => {
                let s = &self.paths.subflows[self.fallback.subflow()];
                if s.close && s.sender.board.is_empty() && !matches!(s.state, State::Established | State::CloseWait) {
                    self.send.fin_acknowledged();
                }
            }
            _ => self.close_subflows(),
        }
        if !self.negotiation.is_over() && self.send.fin() == Fin::Acked && self.recv.has_ended() {
            self.negotiation.end(&mut self.fast);
            self.events.push_back(Event::Closed);
        }
        self.paths.remove_closed();
        self.sending().1.arm_data_timer(now);
        if self.liveness.is_on() {
            self.watch(now);
        }
        if self.config.stale_after > 0 {
            self.sending().1.arm_idle_timer(now, false);
        }
        if self.negotiation.is_over() || self.paths.is_alive() || !self.negotiation.is_multipath() {
            self.timers.stop(Timer::Orphaned);
            return;
        }
        if !self.timers.runs(Timer::Orphaned) {
            self.timers.set(Timer::Orphaned, now + self.config.time_wait);
        }
        if self.timers.has_expired(Timer::Orphaned, now) {
            self.give_up();
        }
    }

    /// RFC 8684 3.3.3: subflows are closed after the data stream.
    fn close_subflows(&mut self) {
        let all_done = self.send.fin() == Fin::Acked && self.recv.has_ended();
        let mut half_closed = false;
        for &id in &self.paths.active {
            let s = &mut self.paths.subflows[id];
            if all_done {
                s.close |= self.paths.members[id].ready;
                if s.state == State::SynSent {
                    // RFC 9293 3.10.4: a join whose SYN is unanswered is dropped.
                    self.events.push_back(Event::SubflowEnded(s.id, s.end(EndReason::Finished)));
                    self.paths.removal_due = true;
                }
            }
            half_closed |= s.state == State::CloseWait && !s.close;
        }
        if half_closed {
            self.follow_fins();
        }
    }

    /// RFC 8684 3.3.3: a FIN closes the peer's direction of its subflow only. We close a subflow that the peer has closed too,
    /// unless it is the last one that works and our data may still need it.
    pub(super) fn follow_fins(&mut self) {
        for &id in &self.paths.active {
            let (s, m) = (&self.paths.subflows[id], &self.paths.members[id]);
            if m.ready && s.state == State::CloseWait && s.sender.board.is_empty() {
                let works = |(s, m): (&Subflow, &Member)| m.ready && s.may_send() && !s.is_stale();
                let needed =
                    self.send.fin() != Fin::Acked && !self.paths.active().any(|(s, m)| s.id != id && works((s, m)));
                self.paths.subflows[id].close |= !needed;
            }
        }
    }

    /// Aborts the connection because the peer has been silent for too long (RFC 9293 3.8.3, R2).
    pub(super) fn give_up(&mut self) {
        self.end_timers();
        for k in 0..self.paths.active.len() {
            let id = self.paths.active[k];
            let s = &mut self.paths.subflows[id];
            if s.state != State::Closed {
                s.note_silence(&mut self.events);
                self.events.push_back(Event::SubflowEnded(id, s.end(EndReason::TimedOut)));
                self.paths.end(id, &mut self.fast);
            }
        }
        self.paths.removal_due = true;
        self.events.push_back(Event::Aborted(EndReason::TimedOut));
    }

    pub(super) fn on_subflow_end(&mut self, id: SubflowId, reason: EndReason) {
        self.paths.removal_due = true;
        self.sending().1.reinject(id);
        self.distribution.reassign(&mut self.paths, &mut self.send, id);
        self.paths.members[id].ready = false;
        self.paths.members[id].suspicion = None;
        // Data that waited there for its checksum was not acknowledged at data level, so the peer sends it again.
        self.paths.members[id].unverified.clear();
        self.paths.members[id].checks = Checks::default();
        self.paths.members[id].mappings = Mappings::default();
        self.paths.end(id, &mut self.fast);
        if self.fallback.has_failed(id) {
            self.fallback.forget_failing(&mut self.timers);
        }
        if self.negotiation.fast_close().is_some_and(|f| f.subflow == id) {
            self.forget_fast_close();
        }
        // Data that waited there because of a hole arrives on another subflow.
        let receiver = &mut self.paths.subflows[id].receiver;
        *receiver = Receiver::new(receiver.rcv_nxt);
        self.events.push_back(Event::SubflowEnded(id, reason));
        // RFC 8684 3.5: a RST ends its subflow only. Without any subflow the connection waits for a new one, so that a host may
        // leave one path before it has another.
        let waits = match reason {
            EndReason::Finished | EndReason::Removed => true,
            // Whoever ends all subflows reports the end of the connection.
            EndReason::FastClosed => true,
            EndReason::Reset => self.negotiation.is_confirmed() && self.negotiation.is_multipath(),
            // 3.2: a join that fails has no other effect.
            _ => !matches!(self.paths.members[id].join, Join::First | Join::Done),
        };
        if !self.paths.is_alive() && !self.negotiation.is_over() && !waits {
            self.negotiation.end(&mut self.fast);
            self.events.push_back(Event::Aborted(reason));
        }
    }
}
