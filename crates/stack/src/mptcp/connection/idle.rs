//! Subflows without progress, as Linux finds them (`mptcp_pm_subflow_chk_stale`, `__mptcp_retrans`): a subflow's own timeout moves no data
//! to another subflow. A timer of the connection does, which any advance of the DATA_ACK restarts. When it expires, each subflow with data
//! outstanding that has heard nothing since the last time is counted. After `stale_after` such periods, if another subflow does better, it is
//! stale: its data goes to the others, and it takes no more until it hears again. A subflow that has nothing to do meanwhile sends the
//! oldest data again.

use super::Connection;
use crate::event::{FallbackCause, SubflowId};
use crate::mptcp::handshake::{Idle, Member};
use crate::mptcp::timers::Timer;
use crate::tcp::subflow::Subflow;
use crate::time::Instant;

impl Connection {
    /// Restarts the timer, if the connection uses it and data is outstanding; `advanced`: the DATA_ACK has.
    pub(super) fn arm_idle_timer(&mut self, now: Instant, advanced: bool) {
        if self.config.stale_after == 0
            || !self.negotiation.may_duplicate()
            || self.fallback.is_failing()
            || self.send.una() == self.send.nxt()
            || self.negotiation.is_over()
        {
            self.timers.stop(Timer::Idle);
        } else if advanced || !self.timers.runs(Timer::Idle) {
            self.timers.set(Timer::Idle, now + self.paths.idle_interval(now));
        }
    }

    /// Runs the timer if it is due.
    pub(super) fn on_idle_timer(&mut self, now: Instant) {
        if !self.timers.has_expired(Timer::Idle, now) {
            return;
        }
        let mut free = None;
        for k in 0..self.paths.active.len() {
            let id = self.paths.active[k];
            let (s, m) = (&self.paths.subflows[id], &mut self.paths.members[id]);
            if !m.ready || !s.may_send() {
                continue;
            }
            if s.sender.board.is_empty() && m.ahead.octets() == 0 {
                free = free.or((!m.is_backup()).then_some(id));
            } else if m.idle.periods == 0 {
                (m.idle.periods, m.idle.heard) = (1, m.heard);
            } else if m.idle.heard == m.heard {
                m.idle.periods += 1;
                self.make_stale(id);
            } else {
                m.idle = Idle::default();
            }
        }
        if free.is_some() && self.paths.may_be_plain() {
            self.fall_back(0, FallbackCause::Options);
            return;
        }
        if free.is_some() {
            // Not what probed the peer's window: it would be refused again, and with it what it shares a segment with.
            // Linux resends at most one buffer on behalf of an idle subflow (`mptcp_rtx_head`).
            let end = self.send.nxt().min(self.distribution.piece_end(self.send.una())).min(self.send.edge());
            if end > self.send.una() {
                self.send.repeat(self.send.una(), end);
            }
        }
        self.timers.set(Timer::Idle, now + self.paths.idle_interval(now));
    }

    /// `id` has made no progress for another period: if that is one too many, and another subflow does better, its data goes there.
    fn make_stale(&mut self, id: SubflowId) {
        let limit = self.config.stale_after;
        if self.paths.members[id].idle.stale || self.paths.members[id].idle.periods <= limit {
            return;
        }
        let better = |(s, m): (&Subflow, &Member)| {
            s.id != id && m.ready && s.may_send() && !m.idle.stale && m.idle.periods < (limit - 1).max(1)
        };
        if self.paths.active().any(better) {
            self.paths.members[id].idle.stale = true;
            self.reinject(id);
            self.distribution.reassign(&mut self.paths, &mut self.send, id);
        }
    }
}
