//! Which data is sent on which subflow: the scheduler's decision, and sender-side silly-window
//! avoidance.

use super::sending::{Choice, Sending};
use super::{Distribution, Pick};
use crate::config::Acknowledgement;
use crate::event::{Event, SendBlock, SendKind, SubflowId};
use crate::mptcp::timers::Timer;
use crate::scheduler::{Assignment, Decision, Offer, Reach, Subflows};
use crate::shortcut::Shortcut;
use crate::time::Instant;

impl Distribution {
    /// Returns true if there is data that may have to be sent.
    #[inline]
    pub fn has_data(&self, w: &Sending) -> bool {
        w.send.unassigned() > 0
            || !w.send.reinjections().is_empty()
            || w.send.has_copies()
            || self.has_assigned(w.paths)
            || (w.fast.resends() && w.send.is_outstanding() && w.may_duplicate())
            || w.may_unblock()
    }

    /// The next segment with reinjected or new data (RFC 8684 3.3.6). `looked`: all rows are up to
    /// date.
    #[inline(always)]
    pub fn choose(&mut self, w: &mut Sending, now: Instant, looked: bool) -> Option<Choice> {
        if self.assigns(w) {
            return self.choose_assigned(w, now);
        }
        if !looked {
            w.paths.look_at_all(now, w.timers);
        }
        self.choose_among_open(w, now)
    }

    /// Like [`Distribution::choose`], without data assigned ahead and with all rows up to date.
    #[inline(always)]
    fn choose_among_open(&mut self, w: &mut Sending, now: Instant) -> Option<Choice> {
        let (mut open, mut last) = (0, 0);
        for (id, row) in w.paths.rows.iter().enumerate() {
            if row.can_send {
                (open, last) = (open + 1, id);
            }
        }
        if let Some(id) = w.fast.flowing() {
            w.fast.set_alone(open == usize::from(w.paths.rows[id].can_send));
        }
        if open == 0 {
            self.limit = SendBlock::Cwnd;
            return if w.send.reinjections().is_empty() { None } else { self.choose_head(w) };
        }
        if !w.send.reinjections().is_empty() {
            if let Some(choice) = self.choose_reinjection(w, now) {
                return Some(choice);
            }
        }
        if w.send.has_copies() {
            if let Some(choice) = self.choose_copy(w) {
                return Some(choice);
            }
        }
        let left = w.send.unassigned();
        let usable = w.send.usable();
        if usable == 0 {
            if left > 0 {
                self.limit = SendBlock::ReceiveWindow;
            }
            let again = self.choose_again(w, now).or_else(|| self.unblock(w, now));
            if left > 0 && again.is_none() {
                w.arm_persist(now);
            }
            return again;
        }
        let data = if open == 1 && !w.fast.remembers() {
            Shortcut::UnaskedScheduler.note();
            self.choose_next(w, now, last, usable, None)
        } else {
            self.choose_new(w, now, usable)
        };
        if data.is_some() { data } else { self.unblock(w, now) }
    }

    /// New data as the scheduler decides; the peer's window takes `usable` octets (RFC 5681 2).
    #[inline(always)]
    fn choose_new(&mut self, w: &mut Sending, now: Instant, usable: u64) -> Option<Choice> {
        let (id, others) = match self.pick(w, now, false) {
            Some(Pick::New(id, others)) => (id, others),
            // The scheduler wants to queue, but the connection is plain TCP, or the peer has not
            // confirmed our key yet. Only one subflow is open: send on it at once.
            Some(Pick::Queue { on, .. }) => (on, None),
            Some(Pick::Again { start, end, on }) => {
                let again = self.send_again(w, on, start, end);
                if again.is_some() {
                    return again;
                }
                // Nothing could be resent: fall through to new data.
                (on, None)
            }
            None | Some(Pick::Move { .. }) => {
                self.limit = SendBlock::Scheduler;
                return None;
            }
        };
        self.choose_next(w, now, id, usable, others)
    }

    /// Resends the oldest unacknowledged data on any ready subflow, regardless of its congestion
    /// window. Needed when no window can open before this data arrives: under coupled
    /// acknowledgement, or if all data in flight lies beyond the peer's window.
    #[cold]
    pub(super) fn choose_head(&mut self, w: &mut Sending) -> Option<Choice> {
        let edge = w.send.edge();
        let coupled = w.config.acknowledgement == Acknowledgement::Coupled;
        // A peer that has had our MP_FAIL takes a second copy for the stream's next octets (RFC
        // 8684 3.7).
        if w.fallback.is_failing()
            || w.send.reinjections().is_empty()
            || !(coupled || w.paths.have_only_refused_in_flight(edge))
        {
            return None;
        }
        let stretch = w.send.reinjections().next(|_| true).filter(|s| s.start == w.send.una())?;
        let id = w.paths.first_ready_except(stretch.stuck_on)?;
        let len = (stretch.end - stretch.start).min(u64::from(w.paths.subflows[id].sender.mss)) as u32;
        w.send.reinjections_mut().advance(stretch.stuck_on, u64::from(len));
        Some(self.assign(w, id, (stretch.start, len), SendKind::Reinjection))
    }

    /// Data that is stuck on one subflow, on another subflow.
    #[inline(never)]
    pub(super) fn choose_reinjection(&mut self, w: &mut Sending, now: Instant) -> Option<Choice> {
        if w.fallback.is_failing() {
            return None;
        }
        let rows = &w.paths.rows;
        let has_way = |stuck_on| rows.iter().enumerate().any(|(id, row)| row.can_send && Some(id) != stuck_on);
        let stretch = w.send.reinjections().next(has_way)?;
        let home = stretch.stuck_on.map(|id| std::mem::take(&mut w.paths.rows[id].can_send));
        // Do not ask a scheduler that assigns ahead, whose decisions need other rows. Overrule a
        // scheduler that waits: it may wait for the very subflow on which the data is stuck.
        let picked = match if self.queues() { None } else { self.pick(w, now, false) } {
            Some(Pick::New(id, _) | Pick::Again { on: id, .. } | Pick::Queue { on: id, .. }) => Some(id),
            None | Some(Pick::Move { .. }) => {
                let open = w.paths.rows.iter().enumerate().filter(|(_, row)| row.can_send);
                open.min_by_key(|(_, row)| row.srtt).map(|(id, _)| id)
            }
        };
        if let Some(id) = picked {
            let len = (stretch.end - stretch.start).min(u64::from(w.paths.subflows[id].sender.mss)) as u32;
            w.send.reinjections_mut().advance(stretch.stuck_on, u64::from(len));
            return Some(self.assign(w, id, (stretch.start, len), SendKind::Reinjection));
        }
        if let (Some(id), Some(home)) = (stretch.stuck_on, home) {
            w.paths.rows[id].can_send = home;
        }
        None
    }

    /// A copy that the scheduler wanted of a segment just sent, if the copy is still wanted and can
    /// be sent.
    #[inline(never)]
    fn choose_copy(&mut self, w: &mut Sending) -> Option<Choice> {
        while let Some((id, data, len)) = w.send.copies_mut().pop_front() {
            let (start, end) = (data.max(w.send.una()), data + u64::from(len));
            if w.paths.rows[id].can_send && start < end && w.may_duplicate() {
                let left = (end - start) as u32;
                let sent = left.min(w.paths.subflows[id].sender.mss);
                if sent < left {
                    w.send.copies_mut().push_front((id, start + u64::from(sent), left - sent));
                }
                return Some(self.assign(w, id, (start, sent), SendKind::Reinjection));
            }
        }
        None
    }

    /// Without new data to send: the data that the scheduler wants sent again.
    pub(super) fn choose_again(&mut self, w: &mut Sending, now: Instant) -> Option<Choice> {
        if !w.fast.resends() || !w.send.is_outstanding() || !w.may_duplicate() {
            return None;
        }
        match self.pick(w, now, true)? {
            Pick::Again { start, end, on } => self.send_again(w, on, start, end),
            Pick::New(..) | Pick::Queue { .. } | Pick::Move { .. } => None,
        }
    }

    /// Sends octets again on `on`, each of them at most once: the subflow retransmits lost octets
    /// by itself.
    fn send_again(&mut self, w: &mut Sending, on: SubflowId, start: u64, end: u64) -> Option<Choice> {
        let mss = u64::from(w.paths.subflows[on].sender.mss);
        let start = start.max(w.send.una()).max(w.paths.members[on].resent_to);
        let end = end.min(w.send.nxt()).min(start + mss);
        if !w.paths.rows[on].can_send || start >= end || !w.may_duplicate() {
            return None;
        }
        w.paths.members[on].resent_to = end;
        Some(self.assign(w, on, (start, (end - start) as u32), SendKind::Reinjection))
    }

    /// Returns true if less than a full segment of new data, `usable` octets, may leave (RFC 9293
    /// 3.7.4, 3.8.6.2.1, 3.9.1.2): if it is all remaining data and nothing is unacknowledged (or
    /// Nagle's algorithm is off, or nothing will follow). Otherwise only if it is at least half of
    /// the largest window seen, or if the window has not opened further for some time.
    #[inline(never)]
    fn sends_small(&mut self, w: &mut Sending, now: Instant, usable: u64) -> bool {
        let all = usable == w.send.unassigned();
        // Data may lack a DATA_ACK while no subflow has any in flight: the acknowledgement that
        // carried the DATA_ACK was lost, and no other will come.
        let idle = !w.send.is_outstanding() || w.paths.have_nothing_in_flight();
        // Linux holds a small segment back only while another one is in flight (`tcp_nagle_check`,
        // after Minshall).
        let passes = idle || (w.config.deviations.minshall && !w.paths.have_small_in_flight());
        let pushed = all && (w.send.is_closed() || self.cork.passes(w.send.written(), passes || !w.config.nagle));
        let half = !all && 2 * usable >= w.send.largest_window() && (idle || !w.config.nagle);
        if pushed || half {
            return true;
        }
        if idle && (!all || self.cork.is_on()) {
            w.arm_persist(now);
        }
        self.limit = if all { self.nothing_to_send(w) } else { SendBlock::ReceiveWindow };
        false
    }

    /// The next new segment on `id`; the peer's window takes `usable` octets. Queues its copies on
    /// `others`.
    #[inline(never)]
    fn choose_next(
        &mut self,
        w: &mut Sending,
        now: Instant,
        id: SubflowId,
        usable: u64,
        others: Option<Subflows>,
    ) -> Option<Choice> {
        let mss = w.paths.subflows[id].sender.mss;
        let len = usable.min(u64::from(mss)) as u32;
        if len < mss && !self.sends_small(w, now, usable) {
            return None;
        }
        if self.counts_bursts && w.paths.rows.len() == 1 && self.defers(w, now, id, usable) {
            return None;
        }
        let data = w.send.advance(u64::from(len));
        if let Some(mut others) = others {
            while let Some(other) = others.pop() {
                if other < w.paths.rows.len() {
                    w.send.copies_mut().push_back((other, data, len));
                }
            }
        }
        Some(self.assign(w, id, (data, len), SendKind::New))
    }

    /// Reports an assignment to the scheduler and the fast path, and returns it as a [`Choice`].
    #[inline(always)]
    pub(super) fn assign(&mut self, w: &mut Sending, id: SubflowId, (data, len): (u64, u32), kind: SendKind) -> Choice {
        let choices = w.paths.rows.iter().filter(|row| row.can_send).count() as u16;
        let again = kind == SendKind::Reinjection;
        if w.fast.remembers() {
            self.scheduler.on_sent(&Assignment { again, ..Assignment::new(id, data, len) });
        }
        w.fast.note_assigned(id, again);
        Choice { id, data, len, kind, choices }
    }

    /// Asks the scheduler. `None` if it waits; [`Timer::Schedule`] then says when to ask again.
    /// `again`: there is no new data, so only a retransmission is possible.
    #[inline(always)]
    pub(super) fn pick(&mut self, w: &mut Sending, now: Instant, again: bool) -> Option<Pick> {
        // Each subflow may be penalised once.
        for _ in 0..=w.paths.rows.len() {
            let (data_una, data_nxt) = (w.send.una(), w.send.nxt());
            let edge = w.send.edge().max(data_nxt);
            let mut offer = Offer::new(now, &w.paths.rows, w.send.unassigned());
            (offer.data_una, offer.data_nxt, offer.edge) = (data_una, data_nxt, edge);
            offer.buffer = w.config.send_buffer.unwrap_or(u64::MAX);
            offer.ahead_of_writer = w.config.deviations.bursts_of_window;
            let decision = if again { self.scheduler.pick_again(&offer) } else { self.scheduler.pick(&offer) };
            let able = |id: SubflowId| w.paths.rows.get(id).is_some_and(|row| row.can_send);
            match decision {
                Decision::Send(id) | Decision::Resend { on: id, .. } | Decision::Queue { on: id, .. } if !able(id) => {
                    debug_assert!(false, "picked subflow {id}, which cannot send");
                    return None;
                }
                Decision::Penalise(id) if id >= w.paths.rows.len() => {
                    debug_assert!(false, "penalises subflow {id}, which does not exist");
                    return None;
                }
                Decision::Queue { on, octets } => return Some(Pick::Queue { on, octets }),
                Decision::Move { from, to, octets } => {
                    let moves = from != to && from < w.paths.rows.len() && able(to);
                    return Some(Pick::Move { from, to, octets }).filter(|_| moves);
                }
                Decision::Send(id) => return Some(Pick::New(id, None)),
                Decision::SendAll(mut those) => {
                    let first = std::iter::from_fn(|| those.pop()).find(|&id| able(id));
                    return first.map(|id| Pick::New(id, Some(those)));
                }
                Decision::Resend { start, end, on } => return Some(Pick::Again { start, end, on }),
                Decision::Penalise(id) => {
                    self.penalise(w, id);
                    if w.paths.rows[id].can_send {
                        w.paths.look(now, id, w.timers);
                    }
                }
                Decision::Wait(until) => {
                    // Ignore a time in the past: the timer would stay due.
                    if let Some(until) = until.filter(|&at| at > now) {
                        w.timers.hasten(Timer::Schedule, until);
                    }
                    return None;
                }
            }
        }
        None
    }

    // ---- rows -----------------------------------------------------------------------------------

    /// Updates the row of `id`, and reports a changed window.
    pub fn refresh(&self, w: &mut Sending, id: SubflowId) {
        if let Some((cwnd, ssthresh)) = self.renew(w, id) {
            w.events.push_back(Event::Window { subflow: id, cwnd, ssthresh });
        }
    }

    /// Updates the row of `id`. Returns its window and threshold if the window has changed.
    #[inline(always)]
    pub fn renew(&self, w: &mut Sending, id: SubflowId) -> Option<(f64, f64)> {
        if self.reach == Reach::Memory {
            self.look_at_memory(w.paths, id);
        }
        w.paths.refresh(id)
    }

    /// Returns why there is no data to send: the application has not written more, or the send
    /// buffer is full.
    #[inline(always)]
    pub fn nothing_to_send(&self, w: &Sending) -> SendBlock {
        let over = w.negotiation.is_over();
        let full = || over || self.writable(w.paths, w.send, w.config, w.negotiation.is_multipath()) == 0;
        if !w.send.is_closed() && full() { SendBlock::SendBuffer } else { SendBlock::Application }
    }
}
