//! The deadlines of a connection, and what happens when they pass.

use super::ending::permanent;
use super::{Connection, PROBES};
use crate::event::{EndReason, FallbackCause};
use crate::mptcp::distribution::Expired;
use crate::mptcp::handshake::{Join, Suspicion};
use crate::mptcp::send_stream::Fin;
use crate::mptcp::timers::Timer;
use crate::segment::{ResetReason, Signal};
use crate::shortcut::Shortcut;
use crate::tcp::subflow::State;
use crate::time::{Duration, Instant};

impl Connection {
    /// When to call [`Connection::handle_timeout`] next. The call does whatever is due then, so the next deadline is later.
    #[inline(always)]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let quiet = self.fast.quiet_until();
        let steady = self.fast.is_steady() && quiet.is_none();
        let mut first = quiet.unwrap_or_else(|| self.timers.next());
        for &id in &self.paths.active {
            let s = &self.paths.subflows[id];
            first = first.min(s.acks.deadline());
            if steady {
                first = first.min(s.sender.deadline());
            }
        }
        if quiet.is_none() && !steady {
            first = first.min(self.other_deadline());
        }
        (first < Instant::FAR_FUTURE).then_some(first)
    }

    /// Like [`Connection::poll_timeout`], for a driver that calls at `known` in any case, which was no later than the deadline when this
    /// function was asked last: only a deadline before `known` is told.
    #[inline(always)]
    pub fn poll_earlier_timeout(&mut self, now: Instant, known: Instant) -> Option<Instant> {
        // Predicted segments, and new data that flows, start only timers that are at least as long as this.
        let shortest = self.fast.shortest_timer(|| {
            let held_back = self.timers.runs(Timer::Schedule) || self.timers.runs(Timer::Pacing);
            !held_back && !self.send.is_retransmitting()
        });
        if shortest > Duration::ZERO && known <= now + shortest {
            Shortcut::KnownDeadline.note();
            return None;
        }
        self.fast.note_look();
        self.poll_timeout().filter(|&at| at < known)
    }

    /// Earliest deadline, delayed acknowledgements excepted; [`Instant::FAR_FUTURE`] if there is none. On a steady connection it is one of
    /// [`Connection::timers`] and the senders'.
    #[inline(never)]
    pub(super) fn other_deadline(&self) -> Instant {
        let mut first = Instant::FAR_FUTURE;
        for (s, m) in self.paths.active() {
            first = first.min(s.other_deadline(self.config.time_wait));
            match m.join {
                Join::AwaitAck { retry_at, .. } if s.state != State::Closed => first = first.min(retry_at),
                _ => {}
            }
            if let Some(Suspicion { at, .. }) = m.suspicion {
                first = first.min(at);
            }
        }
        if self.liveness.is_on() {
            // When the user timeout expires, the next keep-alive is due, or a subflow is given up.
            first = first.min(self.liveness.deadline(self.config.user_timeout));
            if let Some(keep) = self.paths.keepalive(&self.config, &self.negotiation, &self.timers) {
                let due = self.paths.active.iter().filter_map(|&id| self.paths.keepalive_at(id, &keep));
                first = due.fold(first, Instant::min);
            }
        }
        first = first.min(self.timers.next());
        // DATA_FIN and ADD_ADDR need a subflow to carry them; their timers wait until there is one. Plain TCP has neither.
        let waits = self.send.fin() != Fin::Open || self.addresses.announces();
        if waits
            && !self.negotiation.is_over()
            && self.negotiation.is_multipath()
            && self.paths.ready_subflow().is_some()
        {
            if let Fin::Sent { .. } = self.send.fin() {
                first = first.min(self.timers.at(Timer::DataFin));
            }
            first = first.min(self.addresses.deadline());
        }
        first
    }

    /// Runs the timer of data-level retransmission if it is due.
    fn on_data_timer(&mut self, now: Instant) {
        match self.sending().1.on_data_timer(now) {
            Expired::Done => {}
            Expired::FallBack => {
                self.fall_back(0, FallbackCause::Options);
            }
            Expired::GiveUp => self.give_up(),
        }
    }

    /// Runs the timers of the connection that are due.
    fn on_timers(&mut self, now: Instant) {
        if self.distribution.cork().is_on() && self.timers.has_expired(Timer::Persist, now) {
            // The override timeout has passed for what the cork holds.
            self.distribution.cork_mut().push(self.send.written(), &mut self.fast);
        }
        if let Some((id, signal)) = self.negotiation.unanswered_fast_close(now, &self.timers) {
            self.negotiation.end_fast_close(&mut self.timers);
            self.reset(id, EndReason::FastClosed, signal, None);
        }
        if let Some((id, signal)) = self.fallback.unanswered(now, &self.timers) {
            self.reset(id, EndReason::Middlebox, signal, permanent(ResetReason::MIDDLEBOX));
        }
        self.on_data_timer(now);
        let (distribution, mut w) = self.sending();
        if distribution.on_idle_timer(&mut w, now) {
            self.fall_back(0, FallbackCause::Options);
        }
        // The poll that follows asks the scheduler again.
        self.timers.take_expired(Timer::Schedule, now);
    }

    /// Runs whatever is due at `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.timers.wake(&mut self.fast);
        if !self.negotiation.is_over() && self.liveness.take_expired(now, self.config.user_timeout) {
            // RFC 9293 3.10.8: "connection aborted due to user timeout".
            self.give_up();
        }
        if let Some(keep) = self.paths.keepalive(&self.config, &self.negotiation, &self.timers) {
            // Subflows whose peer does not answer keep-alives end.
            for k in 0..self.paths.active.len() {
                let id = self.paths.active[k];
                if self.paths.is_silent_to_keepalives(now, id, &keep, &self.config) {
                    self.reset(id, EndReason::TimedOut, Signal::None, None);
                }
            }
        }
        let patient = self.config.user_timeout.is_some() && self.paths.is_last_open();
        for k in 0..self.paths.active.len() {
            let id = self.paths.active[k];
            let s = &mut self.paths.subflows[id];
            if s.state == State::Closed {
                continue;
            }
            let front = s.sender.board.front().filter(|f| f.data_len() > 0);
            // RFC 9293 3.8.6.1: an answered window probe is no sign of loss. Unanswered probes are treated like any lost data.
            let unanswered = &mut self.paths.members[id].probes_unanswered;
            let window_closed = *unanswered < PROBES && front.is_some_and(|f| f.data >= self.send.edge());
            let marked = s.sender.board.marked();
            let (ended, timed_out) =
                s.on_timers(now, &self.config, (window_closed, patient), &self.paths.rows, &mut self.events);
            *unanswered += u32::from(window_closed && s.sender.owes_probe());
            let lost = s.sender.board.marked() - marked;
            self.distribution.on_progress(&self.fast, now, id, 0, lost);
            if timed_out {
                let (distribution, mut w) = self.sending();
                distribution.on_timeout(&mut w, id);
            }
            if let Some(reason) = ended {
                self.on_subflow_end(id, reason);
            }
            if self.paths.retry_join(now, id, &self.config) {
                self.reset(id, EndReason::Refused, Signal::None, permanent(ResetReason::UNSPECIFIED));
            }
            if self.paths.is_silent(now, id) {
                self.reset(id, EndReason::Removed, Signal::None, None);
            }
            let (distribution, mut w) = self.sending();
            distribution.refresh(&mut w, id);
        }
        self.on_timers(now);
        self.progress(now);
        // The subflow that ended here may have been all that it waited for.
        self.on_data_timer(now);
    }
}
