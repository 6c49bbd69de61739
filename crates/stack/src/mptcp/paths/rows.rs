//! The rows that controllers and schedulers see of each subflow, and questions about the data that
//! subflows carry.

use super::Paths;
use crate::event::SubflowId;
use crate::mptcp::fast_path::FastPath;
use crate::mptcp::handshake::Member;
use crate::mptcp::send_stream::{EdgeMove, SendStream};
use crate::mptcp::timers::{Timer, Timers};
use crate::scheduler::Reach;
use crate::seq::Seq;
use crate::tcp::subflow::{State, Subflow};
use crate::time::{Duration, Instant};

/// Opportunistic retransmission: the SRTT of a carrier must be more than this multiple of the fast
/// subflow's.
const FACTOR: u64 = 4;
/// Opportunistic retransmission: a carrier with a window of at most this many segments qualifies
/// whatever its SRTT.
const SMALL: f64 = 4.0;

impl Paths {
    // ---- who can send ---------------------------------------------------------------------------

    /// Updates the row of a subflow that may send, after a segment was sent on it. If pacing holds
    /// the next segment back, [`Timer::Pacing`] runs. (In line this saves 40 instructions a
    /// segment.)
    #[inline(always)]
    pub fn look(&mut self, now: Instant, id: SubflowId, timers: &mut Timers) {
        let (sender, row) = (&self.subflows[id].sender, &mut self.rows[id]);
        (row.can_send, row.in_flight) = sender.room();
        if row.oldest.0 == row.oldest.1 {
            row.oldest = sender.oldest();
        }
        if let (true, Some(until)) = (row.can_send, sender.paced_until(now)) {
            row.can_send = false;
            timers.hasten(Timer::Pacing, until);
        }
    }

    /// Updates the rows of all subflows, after any input.
    pub fn look_at_all(&mut self, now: Instant, timers: &mut Timers) {
        // RFC 8684 3.3.8: a backup carries data only when no regular subflow works.
        let works = |(s, m): (&Subflow, &Member)| m.ready && s.may_send() && !s.is_stale();
        let has_backup = self.active().any(|(_, m)| m.is_backup());
        let has_regular = has_backup && self.active().any(|of| works(of) && !of.1.is_backup());
        for k in 0..self.active.len() {
            let id = self.active[k];
            let (s, m) = (&self.subflows[id], &self.members[id]);
            let can_send = works((s, m)) && !(has_regular && m.is_backup());
            self.rows[id].can_send = can_send;
            if can_send {
                self.look(now, id, timers);
            } else if self.rows[id].established {
                // A scheduler that waits for this subflow must see that its data has left.
                self.rows[id].in_flight = self.subflows[id].sender.in_flight();
            }
        }
    }

    /// An acknowledgement has arrived on `id` while new data flowed, last on `last`: data goes on
    /// flowing, since nothing has changed on the other subflows.
    #[inline(always)]
    pub fn keep_flowing(
        &mut self,
        now: Instant,
        last: SubflowId,
        id: SubflowId,
        timers: &mut Timers,
        fast: &mut FastPath,
    ) {
        let s = &self.subflows[id];
        if s.is_quiescent() && !s.ack_is_due() {
            let takes_data = self.members[id].ready && !s.is_stale();
            if last != id {
                if self.rows[last].can_send {
                    self.look(now, last, timers);
                }
                fast.note_other(self.rows[last].can_send);
            }
            self.rows[id].can_send = takes_data;
            fast.flow(Some(id));
        }
    }

    /// Updates all rows as a scheduler sees them that sends only where a window has room, for
    /// reinjections. Backups count like regular subflows.
    pub fn look_at_windows(&mut self, now: Instant, timers: &mut Timers) {
        for k in 0..self.active.len() {
            let id = self.active[k];
            let (s, m) = (&self.subflows[id], &self.members[id]);
            self.rows[id].can_send = m.ready && s.may_send() && !s.is_stale();
            if self.rows[id].can_send {
                self.look(now, id, timers);
            }
        }
    }

    /// Updates all rows as a scheduler sees them that assigns data ahead of the windows: which
    /// subflow takes data, how much is buffered there, and whose buffer has room. `by_timeout`: a
    /// subflow that has timed out takes no data, whatever the scheduler. `piece`: octets up to the
    /// end of the next piece of memory.
    pub fn look_at_buffers(&mut self, reach: Reach, send: &SendStream, piece: u64, by_timeout: bool) {
        let silent = |s: &Subflow| (reach == Reach::Windows || by_timeout) && s.is_stale();
        let takes = |s: &Subflow, m: &Member| m.ready && s.may_send() && !m.idle.stale && !silent(s);
        let regular = self.active().any(|(s, m)| takes(s, m) && !m.is_backup());
        for k in 0..self.active.len() {
            let id = self.active[k];
            let (s, m) = (&self.subflows[id], &mut self.members[id]);
            if reach == Reach::Memory {
                m.ahead.set_buffer(send.largest_window(), s.sender.mss);
            }
            let row = &mut self.rows[id];
            row.takes_data = takes(s, m) && !(regular && m.is_backup());
            row.queued = m.ahead.octets();
            row.buffered = m.ahead.used(s.sender.flight_size(), s.sender.burst());
            row.fill = m.ahead.fill(send.nxt()).min(piece);
            row.pacing_rate = s.sender.pacing_rate();
            row.can_send = row.takes_data && (reach == Reach::Windows || row.buffered < m.ahead.memory());
            if reach == Reach::Windows {
                row.in_flight = s.sender.in_flight();
            }
        }
    }

    // ---- data assigned ahead of the windows -----------------------------------------------------

    /// Returns true if any subflow has assigned but unsent data.
    #[inline]
    pub fn has_ahead(&self) -> bool {
        self.members.iter().any(|m| m.ahead.octets() > 0)
    }

    /// Octets that are assigned and not sent yet.
    #[inline]
    pub fn octets_ahead(&self) -> u64 {
        self.members.iter().map(|m| m.ahead.octets()).sum()
    }

    /// Returns true if a subflow has a segment assigned that it can send once its congestion window
    /// opens: a full segment, or a shorter one that no further data can extend. `nxt`: data offset
    /// of the next octet to assign.
    pub fn has_full_segment_ahead(&self, nxt: u64) -> bool {
        let full = |m: &Member, mss| m.ahead.front(mss).is_some_and(|(_, len)| len >= mss || !m.ahead.may_grow(nxt));
        self.subflows.iter().zip(&self.members).any(|(s, m)| full(m, s.sender.mss))
    }

    /// Moves the unsent data assigned to `id` back to `send`. Unless `may_return`, only other
    /// subflows may send the data.
    pub fn reassign(&mut self, id: SubflowId, send: &mut SendStream, may_return: bool) {
        let ahead = &mut self.members[id].ahead;
        let stuck_on = (!may_return).then_some(id);
        for (start, end) in ahead.ranges() {
            send.repeat_stuck(start, end, stuck_on);
        }
        ahead.clear();
    }

    /// The connection falls back to plain TCP: `send` takes back the assigned data, which was never
    /// sent.
    pub fn forget_assigned(&mut self, send: &mut SendStream) {
        self.members.iter_mut().for_each(|m| m.ahead.clear());
        send.take_back_unsent();
        self.rows.iter_mut().for_each(|row| (row.takes_data, row.queued) = (false, 0));
    }

    /// RFC 8684 3.3.1, 3.3.5: the peer's window ends at `edge`. Data that the peer refused while
    /// its window was closed is retransmitted at once.
    #[inline(always)]
    pub fn move_edge(&mut self, edge: u64, send: &mut SendStream, timers: &mut Timers) {
        let moved = send.move_edge(edge);
        if let EdgeMove::Refused(from) = moved {
            for &id in &self.active {
                self.subflows[id].sender.reopen(from, edge);
            }
        }
        if moved != EdgeMove::None {
            timers.stop(Timer::Persist);
        }
    }

    /// The sequence number on `id` and the data offset where our unacknowledged data begins, if
    /// `id` alone carries it contiguously.
    pub fn contiguous(&self, id: SubflowId, send: &SendStream) -> Option<(Seq, u64)> {
        let s = &self.subflows[id];
        let next = s.sender.board.is_empty().then_some(s.sender.nxt);
        send.contiguous(id, (s.first_own(), u64::from(s.fast_open.tx)), next)
    }

    // ---- data in flight -------------------------------------------------------------------------

    /// Returns true if no subflow has data in flight.
    pub fn have_nothing_in_flight(&self) -> bool {
        self.active().all(|(s, _)| s.state == State::Closed || s.sender.board.is_empty())
    }

    /// Returns true if the peer has refused all data in flight: the oldest data on each subflow
    /// lies beyond the right edge `edge` of the peer's window.
    pub fn have_only_refused_in_flight(&self, edge: u64) -> bool {
        let refused = |s: &Subflow| s.sender.board.front().is_none_or(|front| front.data >= edge);
        self.active().all(|(s, _)| s.state == State::Closed || refused(s))
    }

    /// The first subflow other than `except` that may send data.
    pub fn first_ready_except(&self, except: Option<SubflowId>) -> Option<SubflowId> {
        self.active().find(|(s, m)| m.ready && s.may_send() && Some(s.id) != except).map(|(s, _)| s.id)
    }

    /// The shortest RTO of the subflows that may send data.
    pub fn shortest_rto(&self) -> Option<Duration> {
        self.active().filter(|(s, _)| s.may_send()).map(|(s, _)| s.rto()).min()
    }

    /// The longest RTO of the open subflows.
    pub fn longest_rto(&self) -> Option<Duration> {
        self.active().filter(|(s, _)| s.is_open()).map(|(s, _)| s.rto()).max()
    }

    /// Returns true if a segment of less than full size is in flight on any subflow.
    pub fn have_small_in_flight(&self) -> bool {
        self.active().any(|(s, _)| s.sender.has_small())
    }

    /// Returns the end (data offset) of the segment that holds octet `una`, if `id` has the segment
    /// in flight or assigned.
    pub fn carried(&self, id: SubflowId, una: u64) -> Option<u64> {
        let (s, m) = (&self.subflows[id], &self.members[id]);
        if s.state == State::Closed {
            return None;
        }
        let sent = s.sender.board.iter().filter(|s| s.data_len() > 0).map(|s| (s.data, s.data_end()));
        let waits = m.ahead.front(s.sender.mss).map(|(start, len)| (start, start + u64::from(len)));
        sent.chain(waits).find(|&(start, end)| start <= una && una < end).map(|(_, end)| end)
    }

    /// Returns the carriers of the oldest unacknowledged segment, `fast` excepted: the subflows
    /// that have octet `una` in flight or assigned. Each comes with the data offset where its
    /// segment ends.
    pub fn carriers(&self, fast: SubflowId, una: u64) -> impl Iterator<Item = (SubflowId, u64)> + '_ {
        let others = self.active.iter().copied().filter(move |&id| id != fast);
        others.filter_map(move |id| Some((id, self.carried(id, una)?)))
    }

    /// If opportunistic retransmission on `fast` pays off, returns the end (data offset) of the
    /// segment that holds octet `una`. See [`FACTOR`] and [`SMALL`].
    pub fn worth_repeating(&self, fast: SubflowId, una: u64) -> Option<u64> {
        let srtt = self.rows[fast].srtt;
        let mut found = None;
        for (id, end) in self.carriers(fast, una) {
            let row = &self.rows[id];
            if row.cwnd <= SMALL * f64::from(row.mss) {
                return Some(end);
            }
            if srtt.saturating_mul(FACTOR) >= row.srtt {
                return None;
            }
            found = Some(end);
        }
        found
    }

    /// Returns true if an ACK with a window update can be expected: a subflow that is not silent
    /// has data in flight. With `moves_stale`, the data of a silent but not yet stale subflow
    /// counts, too: that data will move to another subflow. A window probe ahead of it would be
    /// refused.
    pub fn expect_update(&self, probes: u32, moves_stale: bool) -> bool {
        self.active().any(|(s, m)| {
            let probing = (1..probes).contains(&m.probes_unanswered);
            let to_be_moved = moves_stale && !m.idle.stale;
            s.state != State::Closed && !s.sender.board.is_empty() && (probing || !s.is_stale() || to_be_moved)
        })
    }
}
