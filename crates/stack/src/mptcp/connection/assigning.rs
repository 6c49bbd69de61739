//! Schedulers that assign data to a subflow ahead of its window: what is assigned waits on the subflow and leaves when its window has
//! room. At data level assigned data counts as sent.

use super::scheduling::Pick;
use super::{Connection, Outgoing};
use crate::event::{SendBlock, SendKind, SubflowId};
use crate::mptcp::handshake::Member;
use crate::path::Path;
use crate::scheduler::linux::piece_end;
use crate::scheduler::{Assignment, Reach};
use crate::tcp::subflow::{State, Subflow};
use crate::time::Instant;

impl Connection {
    /// Data waits on some subflow.
    #[inline]
    pub(super) fn has_assigned(&self) -> bool {
        self.distribution.queues() && self.paths.members.iter().any(|m| m.ahead.octets() > 0)
    }

    /// Data is assigned ahead of the windows: by Linux, which takes back what was not sent if the connection falls back to plain TCP, before
    /// the peer has shown that it has our key, too.
    #[inline]
    pub(super) fn assigns(&self) -> bool {
        self.distribution.queues()
            && (self.may_duplicate() || (self.distribution.reach() == Reach::Memory && self.is_unconfirmed()))
    }

    /// Assigns what the scheduler wants, then sends what waits and has room.
    pub(super) fn poll_assigned(&mut self, now: Instant) -> Option<Outgoing> {
        self.fast.flow(None);
        if self.distribution.reach() == Reach::Windows {
            self.free_stuck();
        }
        if !self.send.reinjections().is_empty() {
            // Reinjections are gated by the windows.
            self.mark_open(now);
            let again = self.poll_reinjection(now).or_else(|| self.poll_head(now));
            if again.is_some() {
                return again;
            }
        }
        self.assign_ahead(now);
        for k in 0..self.paths.active.len() {
            let id = self.paths.active[k];
            if self.paths.subflows[id].state == State::Closed {
                continue;
            }
            if let Some(transmit) = self.send_assigned(now, id) {
                return Some(transmit);
            }
        }
        if self.fast.resends() || self.may_unblock() {
            self.mark_open(now);
            let again = self.poll_again(now).or_else(|| self.poll_blocking(now));
            if again.is_some() {
                return again;
            }
        }
        self.distribution.set_limit(self.what_limits());
        if self.distribution.limit() == SendBlock::ReceiveWindow && self.send.una() == self.send.nxt() {
            self.arm_persist(now);
        }
        None
    }

    /// Of what is assigned something leaves as soon as a window has room. (Less than a segment that may still grow waits for more.)
    pub(super) fn waits_for_window(&self) -> bool {
        let full = |m: &Member, mss| {
            m.ahead.front(mss).is_some_and(|(_, len)| len >= mss || !m.ahead.may_grow(self.send.nxt()))
        };
        self.distribution.queues()
            && self.paths.subflows.iter().zip(&self.paths.members).any(|(s, m)| full(m, s.sender.mss))
    }

    fn what_limits(&self) -> SendBlock {
        let left = self.send.written() - self.send.nxt();
        if self.waits_for_window() {
            SendBlock::Cwnd
        } else if left == 0 {
            self.nothing_to_send()
        } else if self.send.edge() <= self.send.nxt() || self.would_be_silly() {
            SendBlock::ReceiveWindow
        } else {
            SendBlock::Scheduler
        }
    }

    /// Rows as a window-gated scheduler sees them, for reinjections.
    fn mark_open(&mut self, now: Instant) {
        for k in 0..self.paths.active.len() {
            let id = self.paths.active[k];
            let (s, m) = (&self.paths.subflows[id], &self.paths.members[id]);
            self.paths.rows[id].can_send = m.ready && s.may_send() && !s.is_stale();
            if self.paths.rows[id].can_send {
                self.look(now, id);
            }
        }
    }

    /// Asks the scheduler until it waits or there is no more to assign, and none to move.
    fn assign_ahead(&mut self, now: Instant) {
        let mut moves = 0;
        loop {
            let room = self.send.usable();
            let more = room > 0 && !self.would_be_silly();
            if !(more || self.fast.resends() && self.has_assigned()) {
                return;
            }
            self.note_buffers();
            let more = more && !self.is_provided();
            if !more && !self.fast.resends() {
                return;
            }
            match self.pick(now, !more) {
                Some(Pick::Queue { on, octets }) if more && octets > 0 => {
                    let len = octets.min(room);
                    let start = self.send.advance(len);
                    self.paths.members[on].ahead.push(start, start + len);
                }
                Some(Pick::Move { from, to, octets }) if moves < self.paths.rows.len() => {
                    moves += 1;
                    self.paths.move_assigned(from, to, octets);
                }
                _ => return,
            }
        }
    }

    /// Every subflow that takes data has a window of it waiting, so that no more need be assigned ([`Reach::Windows`]).
    fn is_provided(&self) -> bool {
        let has_enough = |row: &Path| !row.takes_data || row.queued as f64 >= row.cwnd;
        self.distribution.reach() == Reach::Windows && self.paths.rows.iter().all(has_enough)
    }

    /// RFC 9293 3.8.6.2.1: the window takes less than a segment, and less than half of what it took at most, of more than that.
    fn would_be_silly(&self) -> bool {
        let (left, room) = (self.send.unassigned(), self.send.window_left());
        let idle = self.send.nxt() == self.send.una();
        let small = room < left && room < u64::from(self.config.mss);
        self.distribution.reach() == Reach::Windows
            && small
            && !(2 * room >= self.send.largest_window() && (idle || !self.config.nagle))
    }

    /// Data that waits on a subflow that takes none, because it has timed out or is now a backup, goes to the others, if there are some.
    fn free_stuck(&mut self) {
        if !self.has_assigned() {
            return;
        }
        self.note_buffers();
        if !self.paths.rows.iter().any(|row| row.takes_data) {
            return;
        }
        for k in 0..self.paths.active.len() {
            let id = self.paths.active[k];
            if !self.paths.rows[id].takes_data {
                self.reassign(id);
            }
        }
    }

    /// The application has filled the send buffer, and less than a third of it is free since (`sk_stream_is_writeable`).
    #[inline]
    fn waits_for_memory(&self) -> bool {
        self.manner.writer_stopped && self.unacknowledged().saturating_mul(3) > self.send_buffer().saturating_mul(2)
    }

    /// Linux has not woken the writer yet. (With plain TCP ours writes as soon as there is room: docs/linux.md.)
    #[cold]
    pub(super) fn writer_sleeps(&self) -> bool {
        self.negotiation.is_multipath() && self.waits_for_memory()
    }

    /// What is taken of `octets` written while there is room for `room`: Linux asks for room once for each piece (`mptcp_sendmsg`).
    pub(super) fn take_pieces(&mut self, octets: u64, room: u64) -> u64 {
        let most = self.config.send_buffer.map_or(u64::MAX, |buffer| buffer.saturating_sub(self.unacknowledged()));
        let end = room.checked_sub(1).map_or(self.send.written(), |last| piece_end(self.send.written() + last));
        let taken = octets.min(end - self.send.written()).min(most);
        self.manner.writer_stopped = self.unacknowledged() + taken >= self.send_buffer();
        taken
    }

    /// The send buffer of a subflow is too small that has room in its window and less than a segment to send, or sends nothing for now
    /// (`defers`), while the application waits for room (`tcp_new_space`).
    pub(super) fn expand_if_starved(&mut self, id: SubflowId, defers: bool) {
        let waits = self.waits_for_memory();
        let unassigned = self.unassigned() > 0;
        let (s, m) = (&self.paths.subflows[id], &mut self.paths.members[id]);
        let mss = s.sender.mss;
        let is_fed = || unassigned && m.ahead.used(s.sender.flight_size(), s.sender.burst()) < m.ahead.memory();
        let starved = || waits && (defers || m.ahead.octets() < u64::from(mss)) && s.sender.has_room(mss) && !is_fed();
        if m.ready && (m.ahead.memory() == 0 || starved()) {
            m.ahead.expand((s.cwnd() / f64::from(s.mss())) as u64);
        }
    }

    /// Brings the rows up to date: who takes data, what is buffered, whose buffer has room.
    fn note_buffers(&mut self) {
        let reach = self.distribution.reach();
        // Who keeps no count of silent periods (`stale_after`) goes by the retransmission timer, whatever the scheduler.
        let silent = |s: &Subflow| (reach == Reach::Windows || self.config.stale_after == 0) && s.is_stale();
        let takes = |s: &Subflow, m: &Member| m.ready && s.may_send() && !m.idle.stale && !silent(s);
        let regular = self.paths.active().any(|(s, m)| takes(s, m) && !m.is_backup());
        for k in 0..self.paths.active.len() {
            let id = self.paths.active[k];
            let (s, m) = (&self.paths.subflows[id], &mut self.paths.members[id]);
            if reach == Reach::Memory {
                m.ahead.set_buffer(self.send.largest_window(), s.sender.mss);
            }
            let row = &mut self.paths.rows[id];
            row.takes_data = takes(s, m) && !(regular && m.is_backup());
            let flight = s.sender.flight_size();
            row.queued = m.ahead.octets();
            row.buffered = m.ahead.used(flight, s.sender.burst());
            row.fill = m.ahead.fill(self.send.nxt());
            row.pacing_rate = s.sender.pacing_rate();
            row.can_send = row.takes_data && (reach == Reach::Windows || row.buffered < m.ahead.memory());
            if reach == Reach::Windows {
                row.in_flight = s.sender.in_flight();
            }
        }
    }

    /// The next segment of what waits on `id`, if its window has room.
    fn send_assigned(&mut self, now: Instant, id: SubflowId) -> Option<Outgoing> {
        let (s, m) = (&self.paths.subflows[id], &self.paths.members[id]);
        let mss = s.sender.mss;
        let (data, len) = m.ahead.front(mss)?;
        // Linux asks for room for what leaves; what is sent at once needs room for a full segment.
        let asks = if self.distribution.reach() == Reach::Memory { len } else { mss };
        if !s.may_send() || !s.sender.has_room(asks) {
            return None;
        }
        if let Some(until) = s.sender.paced_until(now) {
            self.note_paced(until);
            return None;
        }
        if len < mss && m.ahead.may_grow(self.send.nxt()) {
            // RFC 9293 3.7.4, as for data that is sent at once: a small segment leaves if nothing is in flight, or nothing will follow.
            let all = self.send.nxt() == self.send.written();
            let idle = s.sender.board.is_empty();
            let pushed = (all && self.send.is_closed())
                || self.send.edge() == self.send.nxt()
                || self.may_send_small(
                    data + u64::from(len),
                    idle || (self.config.deviations.minshall && !s.sender.has_small()),
                );
            if !pushed {
                if idle && self.manner.cork.on {
                    self.arm_persist(now);
                }
                return None;
            }
        }
        if self.manner.counts_bursts && self.defers(now, id, self.paths.members[id].ahead.stretch()) {
            return None;
        }
        self.paths.members[id].ahead.advance(len);
        let transmit = self.send(now, id, (data, len), SendKind::New, 1);
        self.distribution.on_sent(&Assignment::new(id, data, len));
        Some(transmit)
    }

    /// `waiting` octets that could leave on `id` now wait for more room ([`Config::defer_bursts`]).
    #[cold]
    pub(super) fn defers(&mut self, now: Instant, id: SubflowId, waiting: u64) -> bool {
        if !self.config.defer_bursts {
            return false;
        }
        let (s, m) = (&self.paths.subflows[id], &self.paths.members[id]);
        let queued = m.ahead.octets();
        let last = if queued > 0 { queued == waiting } else { self.unassigned() == waiting };
        // The segment with the FIN waits for nothing.
        let all = last && (queued == 0 || self.send.nxt() == self.send.written());
        let ends = all && self.send.is_closed() && !self.negotiation.is_multipath();
        let defers = s.sender.defers(now, waiting, last, ends);
        if defers {
            let sender = &mut self.paths.subflows[id].sender;
            if sender.defer(waiting) {
                sender.note_usage(now, true, true);
            }
            self.distribution.set_limit(SendBlock::Cwnd);
            if self.distribution.reach() == Reach::Memory {
                self.expand_if_starved(id, true);
            }
        }
        defers
    }

    /// What waits on `id` goes elsewhere.
    pub(super) fn reassign(&mut self, id: SubflowId) {
        let ahead = &mut self.paths.members[id].ahead;
        // It was never sent there: once the subflow works again, it may be.
        let stuck_on = (self.distribution.reach() == Reach::Memory).then_some(id);
        for (start, end) in ahead.ranges() {
            self.send.repeat_stuck(start, end, stuck_on);
        }
        ahead.clear();
    }

    /// The connection falls back to plain TCP: nothing is assigned any more, and what waited was never sent.
    pub(super) fn forget_assigned(&mut self) {
        for m in &mut self.paths.members {
            let first = m.ahead.ranges().map(|(start, _)| start).min();
            first.into_iter().for_each(|first| self.send.take_back(first));
            m.ahead.clear();
        }
        self.paths.rows.iter_mut().for_each(|row| (row.takes_data, row.queued) = (false, 0));
    }

    /// Octets that the send buffer of the connection holds: as many as the largest of its subflows' (`mptcp_propagate_sndbuf`).
    #[inline(always)]
    pub(super) fn buffered_at_most(&self) -> u64 {
        if self.distribution.reach() == Reach::Memory { self.paths.memory_at_most() } else { u64::MAX }
    }

    /// Octets that are assigned and not sent yet.
    #[inline]
    pub(super) fn assigned(&self) -> u64 {
        if self.distribution.queues() { self.paths.members.iter().map(|m| m.ahead.octets()).sum() } else { 0 }
    }
}
