//! Which data is sent on which subflow: the scheduler's decision, and sender-side silly-window avoidance.

use super::{Connection, Outgoing};
use crate::config::Acknowledgement;
use crate::controller::Adjust;
use crate::event::{SendBlock, SendKind, SubflowId};
use crate::mptcp::handshake::Member;
use crate::mptcp::timers::Timer;
use crate::scheduler::{Assignment, Decision, Offer, Subflows};
use crate::shortcut::Shortcut;
use crate::tcp::subflow::{State, Subflow};
use crate::time::Instant;

/// What the scheduler decided.
pub(super) enum Pick {
    /// Send the next new segment on the first subflow, and copies of it on the others, if there are any.
    New(SubflowId, Option<Subflows>),
    /// Assign that many octets of new data to the subflow.
    Queue { on: SubflowId, octets: u64 },
    /// Move assigned data from one subflow to another.
    Move { from: SubflowId, to: SubflowId, octets: u64 },
    /// Send data that was sent before again.
    Again { start: u64, end: u64, on: SubflowId },
}

impl Connection {
    /// There is data that may have to be sent.
    #[inline]
    pub(super) fn has_data(&self) -> bool {
        self.send.unassigned() > 0
            || !self.send.reinjections().is_empty()
            || self.send.has_copies()
            || self.has_assigned()
            || (self.fast.resends() && self.send.una() < self.send.nxt() && self.may_duplicate())
            || self.may_unblock()
    }

    /// The next segment with reinjected or new data (RFC 8684 3.3.6). `looked`: all rows are up to date.
    #[inline(always)]
    pub(super) fn poll_data(&mut self, now: Instant, looked: bool) -> Option<Outgoing> {
        if self.assigns() {
            return self.poll_assigned(now);
        }
        if !looked {
            self.look_at_all(now);
        }
        self.poll_candidates(now)
    }

    /// Updates the rows of all subflows, after any input.
    fn look_at_all(&mut self, now: Instant) {
        // RFC 8684 3.3.8: a backup carries data only when no regular subflow works.
        let works = |(s, m): (&Subflow, &Member)| m.ready && s.may_send() && !s.is_stale();
        let has_backup = self.paths.active().any(|(_, m)| m.is_backup());
        let has_regular = has_backup && self.paths.active().any(|of| works(of) && !of.1.is_backup());
        for k in 0..self.paths.active.len() {
            let id = self.paths.active[k];
            let (s, m) = (&self.paths.subflows[id], &self.paths.members[id]);
            let can_send = works((s, m)) && !(has_regular && m.is_backup());
            self.paths.rows[id].can_send = can_send;
            if can_send {
                self.look(now, id);
            } else if self.paths.rows[id].established {
                // Who waits for it must see that nothing is on its way there any more.
                self.paths.rows[id].in_flight = self.paths.subflows[id].sender.in_flight();
            }
        }
    }

    /// Updates the row of a subflow that may send, after a segment was sent on it. (In line it saves 40 instructions a segment.)
    #[inline(always)]
    pub(super) fn look(&mut self, now: Instant, id: SubflowId) {
        let (sender, row) = (&self.paths.subflows[id].sender, &mut self.paths.rows[id]);
        (row.can_send, row.in_flight) = sender.room();
        if row.oldest.0 == row.oldest.1 {
            row.oldest = sender.oldest();
        }
        if let (true, Some(until)) = (row.can_send, sender.paced_until(now)) {
            row.can_send = false;
            self.note_paced(until);
        }
    }

    /// On `id` octets were newly acknowledged, or newly marked lost.
    #[inline(always)]
    pub(super) fn tell_scheduler(&mut self, now: Instant, id: SubflowId, acked: u64, lost: u64) {
        if !self.fast.remembers() {
            return;
        }
        if acked > 0 {
            self.distribution.on_acked(now, id, acked);
        }
        if lost > 0 {
            self.distribution.on_lost(now, id, lost);
        }
    }

    /// Pacing holds something back until then.
    pub(super) fn note_paced(&mut self, until: Instant) {
        self.timers.hasten(Timer::Pacing, until);
    }

    /// Data may have a second place in the sequence space: the connection speaks Multipath TCP, and the peer has shown it. (RFC 8684 3.7:
    /// whoever has had our MP_FAIL is plain TCP already, and takes a second copy for the stream's next octets.)
    pub(super) fn may_duplicate(&self) -> bool {
        self.negotiation.is_multipath() && self.negotiation.is_confirmed() && self.failing.is_none()
    }

    /// The connection speaks Multipath TCP as far as it knows: the peer has not shown it yet.
    pub(super) fn is_unconfirmed(&self) -> bool {
        self.negotiation.is_multipath() && !self.negotiation.is_confirmed() && self.failing.is_none()
    }

    /// Like [`Connection::poll_data`], with all rows already updated.
    #[inline(always)]
    fn poll_candidates(&mut self, now: Instant) -> Option<Outgoing> {
        let (mut open, mut last) = (0, 0);
        for (id, row) in self.paths.rows.iter().enumerate() {
            if row.can_send {
                (open, last) = (open + 1, id);
            }
        }
        if let Some(id) = self.fast.flowing() {
            self.fast.set_alone(open == usize::from(self.paths.rows[id].can_send));
        }
        if open == 0 {
            self.distribution.set_limit(SendBlock::Cwnd);
            return if self.send.reinjections().is_empty() { None } else { self.poll_head(now) };
        }
        if !self.send.reinjections().is_empty() {
            if let Some(t) = self.poll_reinjection(now) {
                return Some(t);
            }
        }
        if self.send.has_copies() {
            if let Some(t) = self.poll_copy(now) {
                return Some(t);
            }
        }
        let left = self.send.unassigned();
        let usable = self.send.usable();
        if usable == 0 {
            if left > 0 {
                self.distribution.set_limit(SendBlock::ReceiveWindow);
            }
            let again = self.poll_again(now).or_else(|| self.poll_blocking(now));
            if left > 0 && again.is_none() {
                self.arm_persist(now);
            }
            return again;
        }
        let data = if open == 1 && !self.fast.remembers() {
            Shortcut::UnaskedScheduler.note();
            self.send_next(now, last, usable, None)
        } else {
            self.poll_new(now, usable)
        };
        if data.is_some() { data } else { self.poll_blocking(now) }
    }

    /// New data as the scheduler decides; the peer's window takes `usable` octets (RFC 5681 2).
    #[inline(always)]
    fn poll_new(&mut self, now: Instant, usable: u64) -> Option<Outgoing> {
        let (id, others) = match self.pick(now, false) {
            Some(Pick::New(id, others)) => (id, others),
            // Plain TCP, or a peer that has not shown yet that it has our key: one subflow.
            Some(Pick::Queue { on, .. }) => (on, None),
            Some(Pick::Again { start, end, on }) => {
                let again = self.send_again(now, on, start, end);
                if again.is_some() {
                    return again;
                }
                // What comes to nothing must not hold up new data.
                (on, None)
            }
            None | Some(Pick::Move { .. }) => {
                self.distribution.set_limit(SendBlock::Scheduler);
                return None;
            }
        };
        self.send_next(now, id, usable, others)
    }

    /// Nothing is acknowledged on any subflow before the head of the line has arrived: under coupled acknowledgement always, else if all
    /// that is in flight are probes beyond the peer's window. If the head waits to be sent on another subflow, it is, whatever the windows
    /// say: they cannot open before.
    #[cold]
    pub(super) fn poll_head(&mut self, now: Instant) -> Option<Outgoing> {
        let refused = |s: &Subflow| {
            s.state == State::Closed || s.sender.board.front().is_none_or(|front| front.data >= self.send.edge())
        };
        let coupled = self.config.acknowledgement == Acknowledgement::Coupled;
        // Whoever has had our MP_FAIL takes a second copy for the stream's next octets (RFC 8684 3.7).
        if self.failing.is_some()
            || self.send.reinjections().is_empty()
            || !(coupled || self.paths.active().all(|(s, _)| refused(s)))
        {
            return None;
        }
        let stretch = self.send.reinjections().next(|_| true).filter(|s| s.start == self.send.una())?;
        let ready = |(s, m): &(&Subflow, &Member)| m.ready && s.may_send() && Some(s.id) != stretch.stuck_on;
        let id = self.paths.active().find(ready).map(|(s, _)| s.id)?;
        let len = (stretch.end - stretch.start).min(u64::from(self.paths.subflows[id].sender.mss)) as u32;
        self.send.reinjections_mut().advance(stretch.stuck_on, u64::from(len));
        Some(self.assign(now, id, (stretch.start, len), SendKind::Reinjection))
    }

    /// Sends data that is stuck on one subflow on another subflow.
    #[inline(never)]
    pub(super) fn poll_reinjection(&mut self, now: Instant) -> Option<Outgoing> {
        if self.failing.is_some() {
            return None;
        }
        let rows = &self.paths.rows;
        let has_way = |stuck_on| rows.iter().enumerate().any(|(id, row)| row.can_send && Some(id) != stuck_on);
        let stretch = self.send.reinjections().next(has_way)?;
        let home = stretch.stuck_on.map(|id| std::mem::take(&mut self.paths.rows[id].can_send));
        // A scheduler that queues has no say: it goes by other rows. Nor has one that waits: what it waits for may be the very subflow
        // that the data is stuck on.
        let picked = match if self.distribution.queues() { None } else { self.pick(now, false) } {
            Some(Pick::New(id, _) | Pick::Again { on: id, .. } | Pick::Queue { on: id, .. }) => Some(id),
            None | Some(Pick::Move { .. }) => {
                let open = self.paths.rows.iter().enumerate().filter(|(_, row)| row.can_send);
                open.min_by_key(|(_, row)| row.srtt).map(|(id, _)| id)
            }
        };
        if let Some(id) = picked {
            let len = (stretch.end - stretch.start).min(u64::from(self.paths.subflows[id].sender.mss)) as u32;
            self.send.reinjections_mut().advance(stretch.stuck_on, u64::from(len));
            return Some(self.assign(now, id, (stretch.start, len), SendKind::Reinjection));
        }
        if let (Some(id), Some(home)) = (stretch.stuck_on, home) {
            self.paths.rows[id].can_send = home;
        }
        None
    }

    /// Sends a copy that the scheduler wanted of a segment just sent, if it is still wanted and can be sent.
    #[inline(never)]
    fn poll_copy(&mut self, now: Instant) -> Option<Outgoing> {
        while let Some((id, data, len)) = self.send.copies_mut().pop_front() {
            let (start, end) = (data.max(self.send.una()), data + u64::from(len));
            if self.paths.rows[id].can_send && start < end && self.may_duplicate() {
                let left = (end - start) as u32;
                let sent = left.min(self.paths.subflows[id].sender.mss);
                if sent < left {
                    self.send.copies_mut().push_front((id, start + u64::from(sent), left - sent));
                }
                return Some(self.assign(now, id, (start, sent), SendKind::Reinjection));
            }
        }
        None
    }

    /// Without new data to send: sends what the scheduler wants sent again.
    pub(super) fn poll_again(&mut self, now: Instant) -> Option<Outgoing> {
        if !self.fast.resends() || self.send.una() == self.send.nxt() || !self.may_duplicate() {
            return None;
        }
        match self.pick(now, true)? {
            Pick::Again { start, end, on } => self.send_again(now, on, start, end),
            Pick::New(..) | Pick::Queue { .. } | Pick::Move { .. } => None,
        }
    }

    /// Sends octets again on `on`, each of them at most once: what is lost there the subflow retransmits by itself.
    fn send_again(&mut self, now: Instant, on: SubflowId, start: u64, end: u64) -> Option<Outgoing> {
        let mss = u64::from(self.paths.subflows[on].sender.mss);
        let start = start.max(self.send.una()).max(self.paths.members[on].resent_to);
        let end = end.min(self.send.nxt()).min(start + mss);
        if !self.paths.rows[on].can_send || start >= end || !self.may_duplicate() {
            return None;
        }
        self.paths.members[on].resent_to = end;
        Some(self.assign(now, on, (start, (end - start) as u32), SendKind::Reinjection))
    }

    /// Less than a full segment of new data, `usable` octets, may leave (RFC 9293 3.7.4, 3.8.6.2.1, 3.9.1.2): if it is all remaining data
    /// and nothing is unacknowledged (or Nagle's algorithm is off, or nothing will follow). Otherwise only if it is at least half of
    /// the largest window seen, or if the window has not opened further for some time.
    #[inline(never)]
    fn sends_small(&mut self, now: Instant, usable: u64) -> bool {
        let all = usable == self.send.written() - self.send.nxt();
        let idle = self.nothing_on_its_way();
        let pushed =
            all && (self.send.is_closed() || self.may_send_small(self.send.written(), self.passes_nagle(idle)));
        let half = !all && 2 * usable >= self.send.largest_window() && (idle || !self.config.nagle);
        if pushed || half {
            return true;
        }
        if idle && (!all || self.manner.cork.on) {
            self.arm_persist(now);
        }
        self.distribution.set_limit(if all { self.nothing_to_send() } else { SendBlock::ReceiveWindow });
        false
    }

    /// Sends the next new segment on `id`; the peer's window takes `usable` octets. Queues its copies on `others`.
    #[inline(never)]
    fn send_next(&mut self, now: Instant, id: SubflowId, usable: u64, others: Option<Subflows>) -> Option<Outgoing> {
        let mss = self.paths.subflows[id].sender.mss;
        let len = usable.min(u64::from(mss)) as u32;
        if len < mss && !self.sends_small(now, usable) {
            return None;
        }
        if self.manner.counts_bursts && self.paths.rows.len() == 1 && self.defers(now, id, usable) {
            return None;
        }
        let data = self.send.advance(u64::from(len));
        if let Some(mut others) = others {
            while let Some(other) = others.pop() {
                if other < self.paths.rows.len() {
                    self.send.copies_mut().push_back((other, data, len));
                }
            }
        }
        Some(self.assign(now, id, (data, len), SendKind::New))
    }

    /// Nothing is unacknowledged that an acknowledgement is still to come for. Data may lack a DATA_ACK while no subflow has any in flight: the
    /// acknowledgement that carried it was lost, and nobody sends it again.
    pub(super) fn nothing_on_its_way(&self) -> bool {
        let nowhere = |(s, _): (&Subflow, &Member)| s.state == State::Closed || s.sender.board.is_empty();
        self.send.nxt() == self.send.una() || self.paths.active().all(nowhere)
    }

    /// Sends the data that the scheduler assigned to `id`.
    pub(super) fn assign(&mut self, now: Instant, id: SubflowId, (data, len): (u64, u32), kind: SendKind) -> Outgoing {
        let choices = self.paths.rows.iter().filter(|row| row.can_send).count() as u16;
        let again = kind == SendKind::Reinjection;
        if self.fast.remembers() {
            self.distribution.on_sent(&Assignment { again, ..Assignment::new(id, data, len) });
        }
        self.fast.note_assigned(id, again);
        self.send(now, id, (data, len), kind, choices)
    }

    /// The scheduler's choice. `None` if it waits; the time to ask again is recorded. `again`: there is no new data to send.
    #[inline(always)]
    pub(super) fn pick(&mut self, now: Instant, again: bool) -> Option<Pick> {
        // Each subflow may be penalised once.
        for _ in 0..=self.paths.rows.len() {
            let (data_una, data_nxt) = (self.send.una(), self.send.nxt());
            let edge = self.send.edge().max(data_nxt);
            let mut offer = Offer::new(now, &self.paths.rows, self.send.unassigned());
            (offer.data_una, offer.data_nxt, offer.edge) = (data_una, data_nxt, edge);
            offer.buffer = self.config.send_buffer.unwrap_or(u64::MAX);
            offer.ahead_of_writer = self.config.deviations.bursts_of_window;
            let decision = self.distribution.pick(&offer, again);
            let able = |id: SubflowId| self.paths.rows.get(id).is_some_and(|row| row.can_send);
            match decision {
                Decision::Send(id) | Decision::Resend { on: id, .. } | Decision::Queue { on: id, .. } if !able(id) => {
                    debug_assert!(false, "picked subflow {id}, which cannot send");
                    return None;
                }
                Decision::Penalise(id) if id >= self.paths.rows.len() => {
                    debug_assert!(false, "penalises subflow {id}, which there is not");
                    return None;
                }
                Decision::Queue { on, octets } => return Some(Pick::Queue { on, octets }),
                Decision::Move { from, to, octets } => {
                    let moves = from != to && from < self.paths.rows.len() && able(to);
                    return Some(Pick::Move { from, to, octets }).filter(|_| moves);
                }
                Decision::Send(id) => return Some(Pick::New(id, None)),
                Decision::SendAll(mut those) => {
                    let first = std::iter::from_fn(|| those.pop()).find(|&id| able(id));
                    return first.map(|id| Pick::New(id, Some(those)));
                }
                Decision::Resend { start, end, on } => return Some(Pick::Again { start, end, on }),
                Decision::Penalise(id) => {
                    self.paths.subflows[id].sender.controller.adjust(Adjust::Penalise);
                    self.refresh(id);
                    if self.paths.rows[id].can_send {
                        self.look(now, id);
                    }
                }
                Decision::Wait(until) => {
                    // A time that has passed is not worth waiting for: the timer would stay due.
                    if let Some(until) = until.filter(|&at| at > now) {
                        self.timers.hasten(Timer::Schedule, until);
                    }
                    return None;
                }
            }
        }
        None
    }
}
