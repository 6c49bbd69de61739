//! Schedulers that assign data to a subflow ahead of its congestion window: assigned data waits on
//! the subflow and leaves when its window has room. At data level assigned data counts as sent.

use super::sending::{Choice, Sending};
use super::{Distribution, Pick};
use crate::config::Config;
use crate::event::{SendBlock, SendKind, SubflowId};
use crate::mptcp::paths::Paths;
use crate::mptcp::pieces::Pieces;
use crate::mptcp::send_stream::SendStream;
use crate::mptcp::timers::Timer;
use crate::path::Path;
use crate::scheduler::{Assignment, Reach};
use crate::tcp::subflow::State;
use crate::time::Instant;

impl Distribution {
    /// Returns true if data is assigned ahead of the windows now. Linux assigns before the peer has
    /// shown that it has our key, too, and takes unsent data back if the connection falls back to
    /// plain TCP.
    #[inline]
    pub fn assigns(&self, w: &Sending) -> bool {
        let unconfirmed = || self.reach == Reach::Memory && w.negotiation.is_unconfirmed();
        self.queues() && !w.fallback.is_failing() && (w.negotiation.may_duplicate() || unconfirmed())
    }

    /// Returns true if any subflow has assigned but unsent data.
    #[inline]
    pub fn has_assigned(&self, paths: &Paths) -> bool {
        self.queues() && paths.has_ahead()
    }

    /// Octets that are assigned and not sent yet.
    #[inline]
    pub fn assigned(&self, paths: &Paths) -> u64 {
        if self.queues() { paths.octets_ahead() } else { 0 }
    }

    /// Returns true if some assigned data leaves as soon as its subflow's window has room.
    pub fn waits_for_window(&self, paths: &Paths, send: &SendStream) -> bool {
        self.queues() && paths.has_full_segment_ahead(send.nxt())
    }

    /// Moves the unsent data assigned to `id` to the other subflows. Under [`Reach::Memory`] the
    /// data must not be assigned to `id` again.
    pub fn reassign(&self, paths: &mut Paths, send: &mut SendStream, id: SubflowId) {
        paths.reassign(id, send, self.reach != Reach::Memory);
    }

    /// Assigns data as the scheduler decides, then sends assigned data where a window has room.
    pub(super) fn choose_assigned(&mut self, w: &mut Sending, now: Instant) -> Option<Choice> {
        w.fast.flow(None);
        if self.reach == Reach::Windows {
            self.free_stuck(w);
        }
        if !w.send.reinjections().is_empty() {
            // A reinjection needs room in a window.
            w.paths.look_at_windows(now, w.timers);
            let again = self.choose_reinjection(w, now).or_else(|| self.choose_head(w));
            if again.is_some() {
                return again;
            }
        }
        self.assign_ahead(w, now);
        for k in 0..w.paths.active.len() {
            let id = w.paths.active[k];
            if w.paths.subflows[id].state == State::Closed {
                continue;
            }
            let choice = self.choose_from_queue(w, now, id);
            if choice.is_some() {
                return choice;
            }
        }
        if w.fast.resends() || w.may_unblock() {
            w.paths.look_at_windows(now, w.timers);
            let again = self.choose_again(w, now).or_else(|| self.unblock(w, now));
            if again.is_some() {
                return again;
            }
        }
        self.limit = self.limit_ahead(w);
        if self.limit == SendBlock::ReceiveWindow && !w.send.is_outstanding() {
            w.arm_persist(now);
        }
        None
    }

    /// Why no more data is assigned or sent.
    fn limit_ahead(&self, w: &Sending) -> SendBlock {
        if self.waits_for_window(w.paths, w.send) {
            SendBlock::Cwnd
        } else if w.send.unassigned() == 0 {
            self.nothing_to_send(w)
        } else if w.send.edge() <= w.send.nxt() || self.would_be_silly(w) {
            SendBlock::ReceiveWindow
        } else {
            SendBlock::Scheduler
        }
    }

    /// Asks the scheduler until it waits, or there is no more data to assign and none to move.
    fn assign_ahead(&mut self, w: &mut Sending, now: Instant) {
        let mut moves = 0;
        loop {
            let room = w.send.usable();
            let more = room > 0 && !self.would_be_silly(w);
            if !(more || w.fast.resends() && self.has_assigned(w.paths)) {
                return;
            }
            self.look_at_buffers(w);
            let more = more && !self.is_provided(w.paths);
            if !more && !w.fast.resends() {
                return;
            }
            match self.pick(w, now, !more) {
                Some(Pick::Queue { on, octets }) if more && octets > 0 => {
                    let len = octets.min(room);
                    let start = w.send.advance(len);
                    w.paths.members[on].ahead.push(start, start + len);
                }
                Some(Pick::Move { from, to, octets }) if moves < w.paths.rows.len() => {
                    moves += 1;
                    w.paths.move_assigned(from, to, octets);
                }
                _ => return,
            }
        }
    }

    /// Returns true if every subflow that takes data has a window of data waiting, so that no more
    /// need be assigned ([`Reach::Windows`]).
    fn is_provided(&self, paths: &Paths) -> bool {
        let has_enough = |row: &Path| !row.takes_data || row.queued as f64 >= row.cwnd;
        self.reach == Reach::Windows && paths.rows.iter().all(has_enough)
    }

    /// RFC 9293 3.8.6.2.1: returns true if the peer's window takes less than a segment and less
    /// than half of the largest window, although more data is written.
    fn would_be_silly(&self, w: &Sending) -> bool {
        let (left, room) = (w.send.unassigned(), w.send.window_left());
        let small = room < left && room < u64::from(w.config.mss);
        let half = 2 * room >= w.send.largest_window() && (!w.send.is_outstanding() || !w.config.nagle);
        self.reach == Reach::Windows && small && !half
    }

    /// Moves assigned data from subflows that take none, because of a timeout or as backups, to
    /// subflows that take data.
    fn free_stuck(&mut self, w: &mut Sending) {
        if !self.has_assigned(w.paths) {
            return;
        }
        self.look_at_buffers(w);
        if !w.paths.rows.iter().any(|row| row.takes_data) {
            return;
        }
        for k in 0..w.paths.active.len() {
            let id = w.paths.active[k];
            if !w.paths.rows[id].takes_data {
                self.reassign(w.paths, w.send, id);
            }
        }
    }

    /// Without [`Config::stale_after`] a retransmission timeout shows that a subflow is silent.
    fn look_at_buffers(&self, w: &mut Sending) {
        let piece = self.piece_left(w.send.nxt());
        w.paths.look_at_buffers(self.reach, w.send, piece, w.config.stale_after == 0);
    }

    /// The next segment of the data that waits on `id`, if the window of `id` has room.
    fn choose_from_queue(&mut self, w: &mut Sending, now: Instant, id: SubflowId) -> Option<Choice> {
        let (s, m) = (&w.paths.subflows[id], &w.paths.members[id]);
        let mss = s.sender.mss;
        let (data, len) = m.ahead.front(mss)?;
        // Linux asks for room for the octets that leave; data that is sent at once needs room for a
        // full segment.
        let asks = if self.reach == Reach::Memory { len } else { mss };
        if !s.may_send() || !s.sender.has_room(asks) {
            return None;
        }
        if let Some(until) = s.sender.paced_until(now) {
            w.timers.hasten(Timer::Pacing, until);
            return None;
        }
        let by_subflow = w.config.deviations.nagle_by_subflow;
        if len < mss && if by_subflow { m.ahead.is_last() } else { m.ahead.may_grow(w.send.nxt()) } {
            // RFC 9293 3.7.4: as without a queue, a small segment leaves if nothing is in flight,
            // or nothing will follow.
            let all = w.send.nxt() == w.send.written();
            let idle = s.sender.board.is_empty();
            let passes = idle || (w.config.deviations.minshall && !s.sender.has_small());
            let pushed = (!by_subflow && (all && w.send.is_closed() || w.send.edge() == w.send.nxt()))
                || self.cork.passes(data + u64::from(len), passes || !w.config.nagle);
            if !pushed {
                if idle && self.cork.is_on() {
                    w.arm_persist(now);
                }
                return None;
            }
        }
        if self.counts_bursts && self.defers(w, now, id, w.paths.members[id].ahead.stretch()) {
            return None;
        }
        if self.reach == Reach::Memory {
            let s = &w.paths.subflows[id].sender;
            // The window has room for more than a whole burst, so the subflow is not limited by
            // cwnd: Linux grows its send buffer now.
            if s.has_room((s.burst() as u32).saturating_add(mss)) {
                self.grow_buffer(w, id);
            }
        }
        w.paths.members[id].ahead.advance(len);
        if w.paths.members[id].ahead.has_ended() && self.reach == Reach::Memory {
            w.paths.subflows[id].sender.end_buffer();
        }
        self.scheduler.on_sent(&Assignment::new(id, data, len));
        Some(Choice { id, data, len, kind: SendKind::New, choices: 1 })
    }

    /// Returns true if `waiting` octets that could leave on `id` now wait for more room
    /// ([`Config::defer_bursts`]).
    #[cold]
    pub(super) fn defers(&mut self, w: &mut Sending, now: Instant, id: SubflowId, waiting: u64) -> bool {
        if !w.config.defer_bursts {
            return false;
        }
        let (s, m) = (&w.paths.subflows[id], &w.paths.members[id]);
        let queued = m.ahead.octets();
        let last = if queued > 0 { queued == waiting } else { w.send.unassigned() == waiting };
        // The segment with the FIN is never deferred.
        let all = last && (queued == 0 || w.send.nxt() == w.send.written());
        let ends = all && w.send.is_closed() && !w.negotiation.is_multipath();
        let defers = s.sender.defers(now, waiting, last, ends);
        if defers {
            let sender = &mut w.paths.subflows[id].sender;
            if sender.defer(waiting) {
                sender.note_usage(now, true, true);
            }
            self.limit = SendBlock::Cwnd;
        }
        defers
    }

    // ---- the send buffer ------------------------------------------------------------------------

    /// Octets that may be written and not yet acknowledged at data level. Under [`Reach::Memory`]
    /// the connection holds as many as the largest send buffer of a subflow, or as all of them
    /// together ([`Deviations::sums_send_buffers`](crate::config::Deviations::sums_send_buffers)).
    #[inline(always)]
    pub fn send_buffer(&self, paths: &Paths, config: &Config) -> u64 {
        let each = config.send_buffer.unwrap_or(u64::MAX);
        if self.reach != Reach::Memory {
            each
        } else if config.deviations.sums_send_buffers {
            paths.memory_of_all(each)
        } else {
            paths.largest_memory(each)
        }
    }

    /// Octets that the application may write now. `multipath`: the connection is Multipath TCP. As
    /// in Linux, the application then sleeps until a third of a full buffer is free. (In plain TCP
    /// the application writes as soon as there is room: docs/linux.md.)
    #[inline]
    pub fn writable(&self, paths: &Paths, send: &SendStream, config: &Config, multipath: bool) -> u64 {
        if self.reach == Reach::Memory && multipath && self.waits_for_memory(paths, send, config) {
            return 0;
        }
        let room = self.send_buffer(paths, config).saturating_sub(send.unacknowledged());
        if room == 0 && self.reach == Reach::Memory && send.unassigned() > 0 {
            return self.pieces.left().min(self.bound(paths, config).saturating_sub(send.unacknowledged()));
        }
        room
    }

    /// Octets that are never exceeded: [`Config::send_buffer`], for each subflow if they add up.
    fn bound(&self, paths: &Paths, config: &Config) -> u64 {
        let buffers = if config.deviations.sums_send_buffers { paths.active.len() as u64 } else { 1 };
        config.send_buffer.map_or(u64::MAX, |each| each.saturating_mul(buffers))
    }

    /// Returns true if the application has filled the send buffer, and less than a third of it is
    /// free since (`sk_stream_is_writeable`).
    fn waits_for_memory(&self, paths: &Paths, send: &SendStream, config: &Config) -> bool {
        let buffer = self.send_buffer(paths, config);
        self.writer_stopped && send.unacknowledged().saturating_mul(3) > buffer.saturating_mul(2)
    }

    /// Of `octets` that the application writes while there is room for `room`, returns how many are
    /// taken.
    #[inline(always)]
    pub fn take(&mut self, paths: &Paths, send: &SendStream, config: &Config, octets: u64, room: u64) -> u64 {
        if self.reach == Reach::Memory { self.take_pieces(paths, send, config, octets, room) } else { octets.min(room) }
    }

    fn take_pieces(&mut self, paths: &Paths, send: &SendStream, config: &Config, octets: u64, room: u64) -> u64 {
        let buffer = self.send_buffer(paths, config);
        let wanted = octets.min(self.bound(paths, config).saturating_sub(send.unacknowledged()));
        let taken = if room > 0 {
            self.pieces.write(send.written(), wanted, send.una(), buffer, send.unassigned() > 0)
        } else {
            0
        };
        if octets > 0 {
            self.writer_stopped = taken < octets;
        }
        taken
    }

    /// Octets from `offset` to the end of its piece of memory ([`Reach::Memory`]; else there are
    /// no pieces).
    pub fn piece_left(&self, offset: u64) -> u64 {
        if self.reach == Reach::Memory { self.pieces.end(offset) - offset } else { u64::MAX }
    }

    /// Data offset of the end of what the data-level timer repeats from `offset` on: a piece of
    /// memory (`mptcp_rtx_head`).
    pub fn piece_end(&self, offset: u64) -> u64 {
        if self.reach == Reach::Memory { self.pieces.end(offset) } else { Pieces::usual_end(offset) }
    }

    /// Returns true if the application has filled the send buffer ([`Reach::Memory`]).
    pub fn has_stopped_writer(&self) -> bool {
        self.writer_stopped
    }

    /// Lets the application count as stopped; for tests.
    #[cfg(test)]
    pub fn stop_writer(&mut self) {
        self.writer_stopped = true;
    }

    /// Called when nothing more can be sent. If the application waits for room, enlarges the send
    /// buffer of each subflow that sent or received a segment and whose window has room
    /// (`tcp_data_snd_check`, `tcp_check_space`).
    #[inline(always)]
    pub fn grow_buffers(&self, w: &mut Sending) {
        if self.reach == Reach::Memory {
            self.grow_due_buffers(w);
        }
    }

    fn grow_due_buffers(&self, w: &mut Sending) {
        for k in 0..w.paths.active.len() {
            let id = w.paths.active[k];
            let s = &w.paths.subflows[id].sender;
            if w.paths.members[id].ahead.take_due() && s.has_room(s.mss) {
                self.grow_buffer(w, id);
            }
        }
    }

    /// Enlarges the send buffer of `id` to what its window needs, if the application waits for room
    /// (`tcp_new_space`).
    fn grow_buffer(&self, w: &mut Sending, id: SubflowId) {
        if w.paths.members[id].ready && self.waits_for_memory(w.paths, w.send, w.config) {
            make_buffer(w.paths, id);
        }
    }

    /// A segment has arrived or left on `id`, which may need its first send buffer.
    #[inline]
    pub(super) fn look_at_memory(&self, paths: &mut Paths, id: SubflowId) {
        let m = &mut paths.members[id];
        m.ahead.look_at_memory();
        if m.ready && m.ahead.memory() == 0 {
            make_buffer(paths, id);
        }
    }
}

/// Enlarges the send buffer of `id` to what its window needs (`tcp_sndbuf_expand`).
fn make_buffer(paths: &mut Paths, id: SubflowId) {
    let s = &paths.subflows[id];
    paths.members[id].ahead.expand((s.cwnd() / f64::from(s.mss())) as u64);
}
