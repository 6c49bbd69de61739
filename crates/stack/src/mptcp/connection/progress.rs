//! What follows from any input: closing, the end of the stream, the end of a subflow, updated rows and events.

use super::Connection;
use crate::event::{EndReason, Event, SubflowId};
use crate::mptcp::dss::Mappings;
use crate::mptcp::handshake::Join;
use crate::mptcp::negotiation::Mode;
use crate::mptcp::send_stream::Fin;
use crate::mptcp::timers::Timer;
use crate::mptcp::verify::Checks;
use crate::tcp::receiver::reassembly::Receiver;
use crate::tcp::subflow::State;
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
            _ => self.paths.close_after_data(&self.send, &self.recv, &mut self.events),
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

    /// Aborts the connection because the peer has been silent for too long (RFC 9293 3.8.3, R2).
    pub(super) fn give_up(&mut self) {
        self.negotiation.end(&mut self.fast);
        self.sending().1.stop_timers();
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
            self.negotiation.end_fast_close(&mut self.timers);
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
