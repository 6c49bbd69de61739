//! Data-level retransmission (RFC 8684 3.3.2, 3.3.6, 4).
//!
//! A subflow retransmits its own lost segments. Data is also sent on another subflow when its subflow times out or ends. An
//! acknowledgement on a subflow does not prove that the peer keeps the data: it may have discarded it (a checksum failed, a
//! mapping was missing, the subflow was reset). The sender therefore keeps data until its DATA_ACK (3.3.2).
//!
//! When no subflow has data in flight and some data lacks a DATA_ACK, a timer retransmits the first segment of that data, on any
//! subflow with room. It sends only one segment, because the peer may hold everything after it. If the DATA_ACK then moves
//! exactly to the end of the retransmission, the data after it is lost too, and the next retransmission is twice as long and
//! starts at once. If the DATA_ACK moves further, the next gap starts again with one segment.

use super::{Distribution, Sending};
use crate::config::Acknowledgement;
use crate::event::SubflowId;
use crate::mptcp::send_stream::FIN_TRIES;
use crate::mptcp::timers::Timer;
use crate::ranges::RangeSet;
use crate::tcp::subflow::State;
use crate::time::Instant;

/// What the connection has to do when the timer of data-level retransmission has expired.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Expired {
    /// Nothing more.
    Done,
    /// The peer may be plain TCP: fall back.
    FallBack,
    /// The peer is gone: give up.
    GiveUp,
}

impl Sending<'_> {
    /// Data in flight on `id` is stuck and may be reinjected on other subflows. Under coupled acknowledgement (the papers' model) no
    /// data is sent on a second subflow while the first one has it in flight; once the first one has ended, nothing has.
    pub fn reinject(&mut self, id: SubflowId) {
        let coupled_ack = self.config.acknowledgement == Acknowledgement::Coupled;
        let ended = self.paths.subflows[id].state == State::Closed;
        if !self.negotiation.is_multipath() || (coupled_ack && !ended) {
            return;
        }
        for sent in self.paths.subflows[id].sender.board.iter().filter(|s| s.data_len() > 0) {
            let end = sent.data_end();
            if end > self.send.una() {
                self.send.repeat_stuck(sent.data, end, Some(id));
            }
        }
    }

    /// A subflow has timed out. Under coupled acknowledgement nothing is acknowledged before the head of the line has arrived, and what a
    /// subflow that ended has left to the others stands behind their own data: no subflow's timer sends that one again
    /// (RFC 8684 3.3.6). Any subflow may.
    pub fn reinject_head(&mut self) {
        let coupled = self.config.acknowledgement == Acknowledgement::Coupled && self.negotiation.is_multipath();
        if !coupled || self.send.una() == self.send.nxt() {
            return;
        }
        let alive = self.paths.active().filter(|(s, _)| s.state != State::Closed);
        let mut first = alive.filter_map(|(s, _)| s.sender.board.front()).filter(|f| f.data_len() > 0).map(|f| f.data);
        // Where nothing is in flight the data-level timer runs.
        if first.clone().next().is_some() && first.all(|data| data > self.send.una()) {
            let end = (self.send.una() + u64::from(self.config.mss)).min(self.send.nxt());
            self.send.repeat(self.send.una(), end);
        }
    }

    /// The peer has discarded data that it had acknowledged on a subflow (for example, MP_FAIL on a RST). Reinjects all
    /// unacknowledged data that no active subflow has in flight.
    pub fn reinject_missing(&mut self) {
        if !self.negotiation.is_multipath() {
            return;
        }
        let mut under_way = RangeSet::default();
        for id in 0..self.paths.subflows.len() {
            if self.paths.subflows[id].state == State::Closed {
                // This includes data that was stuck on the closed subflow.
                self.send.reinjections_mut().forget(id);
            }
        }
        for (s, _) in self.paths.active().filter(|(s, _)| s.state != State::Closed) {
            for sent in s.sender.board.iter().filter(|sent| sent.data_len() > 0) {
                under_way.insert(sent.data, sent.data_end());
            }
        }
        let mut at = self.send.una();
        for (start, end) in under_way.iter() {
            if at < start {
                self.send.repeat(at, start);
            }
            at = at.max(end);
        }
        if at < self.send.nxt() {
            self.send.repeat(at, self.send.nxt());
        }
    }

    /// Starts, keeps or stops the timer; called after any input.
    pub fn arm_data_timer(&mut self, now: Instant) {
        let mptcp = self.negotiation.is_multipath() && !self.fallback.is_failing();
        let missing = self.send.una() < self.send.nxt() && !self.negotiation.is_over() && mptcp;
        // A closed subflow's scoreboard does not count: its segments are no longer in flight.
        let idle = || {
            let mut alive = self.paths.active().filter(|(s, _)| s.state != State::Closed);
            alive.all(|(s, _)| s.sender.board.is_empty())
                && self.send.reinjections().next(|on| self.paths.has_way_from(on)).is_none()
        };
        if !missing {
            self.send.stop_retransmission(self.timers);
        } else if !idle() || self.paths.ready_subflow().is_none() {
            // Data is in flight or waits for reinjection, or no subflow can carry it: the timer does not run.
            self.timers.stop(Timer::Data);
        } else {
            let patience = self.paths.longest_rto().unwrap_or(self.config.initial_rto);
            self.send.arm_retransmission(now, patience, self.timers);
        }
    }

    /// Runs [`Timer::Data`] if it is due: queues the first missing data to be sent again.
    pub fn on_data_timer(&mut self, now: Instant) -> Expired {
        if !self.timers.has_expired(Timer::Data, now) {
            return Expired::Done;
        }
        if self.paths.may_be_plain() {
            return Expired::FallBack;
        }
        self.timers.stop(Timer::Data);
        let again = self.send.retransmit(self.config.mss, FIN_TRIES * self.config.max_retransmissions);
        if again { Expired::Done } else { Expired::GiveUp }
    }
}

impl Distribution {
    /// Subflow `id` has timed out: its data may go elsewhere.
    pub fn on_timeout(&self, w: &mut Sending, id: SubflowId) {
        if w.config.stale_after == 0 {
            w.reinject(id);
            self.reassign_stuck(w, id);
        }
        w.reinject_head();
    }

    /// What is assigned to `id`, which has timed out, waits for the same acknowledgement as what is
    /// in flight there. Under coupled acknowledgement a subflow's data have to be in the order of
    /// the stream, so none are moved.
    fn reassign_stuck(&self, w: &mut Sending, id: SubflowId) {
        let moves = w.negotiation.is_multipath() && w.config.acknowledgement == Acknowledgement::Independent;
        if moves && w.paths.active().any(|(s, m)| s.id != id && m.ready && s.may_send()) {
            self.reassign(w.paths, w.send, id);
        }
    }
}
