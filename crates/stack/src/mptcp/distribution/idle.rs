//! Subflows without progress, as Linux finds them (`mptcp_pm_subflow_chk_stale`, `__mptcp_retrans`): a subflow's own timeout moves no data
//! to another subflow. A timer of the connection does, which any advance of the DATA_ACK restarts. When it expires, each subflow with data
//! outstanding that has heard nothing since the last time is counted. After `stale_after` such periods, if another subflow does better, it is
//! stale: its data goes to the others, and it takes no more until it hears again. A subflow that has nothing to do meanwhile sends the
//! oldest data again.

use super::{Distribution, Sending};
use crate::event::SubflowId;
use crate::mptcp::handshake::{Idle, Member};
use crate::mptcp::timers::Timer;
use crate::tcp::subflow::Subflow;
use crate::time::Instant;

impl Sending<'_> {
    /// Restarts the timer, if the connection uses it and data is outstanding; `advanced`: the DATA_ACK has.
    pub fn arm_idle_timer(&mut self, now: Instant, advanced: bool) {
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
}

impl Distribution {
    /// Runs the timer if it is due. Returns true if the connection has to fall back to plain TCP.
    pub fn on_idle_timer(&self, w: &mut Sending, now: Instant) -> bool {
        if !w.timers.has_expired(Timer::Idle, now) {
            return false;
        }
        let mut free = None;
        for k in 0..w.paths.active.len() {
            let id = w.paths.active[k];
            let (s, m) = (&w.paths.subflows[id], &mut w.paths.members[id]);
            if !m.ready || !s.may_send() {
                continue;
            }
            if s.sender.board.is_empty() && m.ahead.octets() == 0 {
                free = free.or((!m.is_backup()).then_some(id));
            } else if m.idle.periods == 0 {
                (m.idle.periods, m.idle.heard) = (1, m.heard);
            } else if m.idle.heard == m.heard {
                m.idle.periods += 1;
                self.make_stale(w, id);
            } else {
                m.idle = Idle::default();
            }
        }
        if free.is_some() && w.paths.may_be_plain() {
            return true;
        }
        if free.is_some() {
            // Not what probed the peer's window: it would be refused again, and with it what it shares a segment with.
            // Linux resends at most one buffer on behalf of an idle subflow (`mptcp_rtx_head`).
            let end = w.send.nxt().min(self.piece_end(w.send.una())).min(w.send.edge());
            if end > w.send.una() {
                w.send.repeat(w.send.una(), end);
            }
        }
        w.timers.set(Timer::Idle, now + w.paths.idle_interval(now));
        false
    }

    /// `id` has made no progress for another period: if that is one too many, and another subflow does better, its data goes there.
    fn make_stale(&self, w: &mut Sending, id: SubflowId) {
        let limit = w.config.stale_after;
        if w.paths.members[id].idle.stale || w.paths.members[id].idle.periods <= limit {
            return;
        }
        let better = |(s, m): (&Subflow, &Member)| {
            s.id != id && m.ready && s.may_send() && !m.idle.stale && m.idle.periods < (limit - 1).max(1)
        };
        if w.paths.active().any(better) {
            w.paths.members[id].idle.stale = true;
            w.reinject(id);
            self.reassign(w.paths, w.send, id);
        }
    }
}
