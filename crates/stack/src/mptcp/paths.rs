//! The table of subflows: for each its TCP, its state in the connection, and the row that algorithms see.
//!
//! A number identifies a subflow permanently once the subflow was established. The number of a failed join is reused: whoever
//! knows the token can start any number of joins. The number of half-open joins, begun by the peer and not yet authenticated (RFC
//! 8684 3.2), has a limit of its own, apart from the limit of subflows. When it is reached, a new join replaces the oldest one,
//! as in a SYN cache.

mod closing;
mod joining;
mod rows;
mod signals;
mod windows;

pub(crate) use joining::Options;
pub(crate) use signals::Due;

use super::ahead;
use super::fast_path::FastPath;
use super::handshake::{Idle, Join, Member};
use super::keys::Entropy;
use crate::config::{Config, KeepAlive};
use crate::event::SubflowId;
use crate::path::{Path, Policy};
use crate::segment::Segment;
use crate::seq::Seq;
use crate::tcp::receiver::reassembly::Piece;
use crate::tcp::subflow::{State, Subflow};
use crate::time::{Duration, Instant};

/// How often the next expected octet of a subflow may arrive without a mapping before the subflow
/// is reset. RFC 8684 3.3.1 lets the mapping arrive as late as a receive window of data, so
/// arrivals between which mapped data arrives do not count.
const UNMAPPED: u32 = 4;

/// Interval of [`Timer::Idle`](super::timers::Timer::Idle) if no retransmission timer of a subflow
/// runs (`TCP_RTO_MIN`).
const LEAST_IDLE: Duration = Duration::from_millis(200);

/// The subflows of a connection, by number.
#[derive(Debug)]
pub(crate) struct Paths {
    /// TCP state of each subflow.
    pub subflows: Vec<Subflow>,
    /// MPTCP state of each subflow.
    pub members: Vec<Member>,
    /// What controllers and schedulers see of each subflow.
    pub rows: Vec<Path>,
    /// Subflows that have not ended, or still have a RST to send, in order of opening.
    pub active: Vec<SubflowId>,
    /// `active` may contain subflows that have ended.
    pub removal_due: bool,
    /// Numbers of failed joins, to be reused.
    free: Vec<SubflowId>,
    entropy: Entropy,
}

impl Paths {
    /// No subflow yet. `entropy` gives further subflows their initial sequence numbers and nonces.
    pub fn new(entropy: Entropy) -> Self {
        Self {
            subflows: Vec::new(),
            members: Vec::new(),
            rows: Vec::new(),
            active: Vec::new(),
            removal_due: false,
            free: Vec::new(),
            entropy,
        }
    }

    /// Draws the initial sequence number and the nonce of a join.
    pub fn draw(&mut self) -> (u32, u32) {
        (self.entropy.next_u32(), self.entropy.next_u32())
    }

    /// The active subflows with their MPTCP state, in order of opening. A subflow that ended is included until its RST was sent
    /// and [`Paths::remove_closed`] has run.
    #[inline]
    pub fn active(&self) -> impl Iterator<Item = (&Subflow, &Member)> + Clone {
        self.active.iter().map(|&id| (&self.subflows[id], &self.members[id]))
    }

    /// The number for the next subflow.
    pub fn next_number(&mut self) -> SubflowId {
        self.free.pop().unwrap_or(self.subflows.len())
    }

    /// Adds a subflow.
    pub fn add(&mut self, subflow: Subflow, member: Member, fast: &mut FastPath) -> SubflowId {
        fast.invalidate();
        let id = subflow.id;
        let row = Path { cwnd: subflow.cwnd(), ssthresh: subflow.ssthresh(), mss: subflow.mss(), ..Path::default() };
        if id < self.subflows.len() {
            (self.subflows[id], self.members[id], self.rows[id]) = (subflow, member, row);
        } else {
            self.subflows.push(subflow);
            self.members.push(member);
            self.rows.push(row);
        }
        self.active.push(id);
        id
    }

    /// Updates the row of a subflow. Returns its congestion window and threshold if the window has changed.
    #[inline(always)]
    pub fn refresh(&mut self, id: SubflowId) -> Option<(f64, f64)> {
        let (s, m, row) = (&self.subflows[id], &self.members[id], &mut self.rows[id]);
        let before = row.cwnd;
        row.established = m.ready && s.is_open();
        row.backup = m.is_backup();
        s.sender.describe(row);
        if !row.established {
            // The scoreboard of a closed subflow still lists what it had in flight.
            row.oldest = (0, 0);
        }
        (row.cwnd != before).then_some((row.cwnd, row.ssthresh))
    }

    /// A subflow has ended: it counts for no algorithm any more. Its last windows stay for the record.
    pub fn end(&mut self, id: SubflowId, fast: &mut FastPath) {
        fast.invalidate();
        self.removal_due = true;
        let row = &mut self.rows[id];
        (row.established, row.can_send, row.in_flight, row.oldest) = (false, false, 0, (0, 0));
        (row.takes_data, row.queued) = (false, 0);
    }

    /// Removes subflows that have ended from `active`.
    pub fn remove_closed(&mut self) {
        if !std::mem::take(&mut self.removal_due) {
            return;
        }
        let Self { active, subflows, members, free, removal_due, .. } = self;
        active.retain(|&id| {
            let s = &subflows[id];
            if s.state != State::Closed {
                return true;
            }
            if s.has_reset() {
                // Keep it until its RST was sent, then look again.
                *removal_due = true;
                return true;
            }
            if !matches!(members[id].join, Join::First | Join::Done) {
                free.push(id);
            }
            false
        });
    }

    // ---- questions and changes that concern subflows only ---------------------------------------

    /// Moves the `octets` that were assigned to `from` last to `to`.
    pub fn move_assigned(&mut self, from: SubflowId, to: SubflowId, octets: u64) {
        let mut left = octets;
        let mut pieces = Vec::new();
        while let Some((start, end)) = self.members[from].ahead.take_back(left) {
            left -= end - start;
            pieces.push((start, end));
        }
        for (start, end) in pieces.into_iter().rev() {
            self.members[to].ahead.push(start, end);
        }
    }

    /// Octets that the largest send buffer of a subflow holds, at most `each`
    /// (`mptcp_propagate_sndbuf`).
    pub fn largest_memory(&self, each: u64) -> u64 {
        let largest = self.active().map(|(_, m)| m.ahead.memory()).max();
        largest.filter(|&memory| memory > 0).unwrap_or(ahead::LEAST_MEMORY).min(each)
    }

    /// Octets that the send buffers of all subflows hold together, each of them at most `each`
    /// (`__mptcp_sync_sndbuf`).
    pub fn memory_of_all(&self, each: u64) -> u64 {
        let all: u64 = self.active().map(|(_, m)| m.ahead.memory().min(each)).sum();
        if all > 0 { all } else { ahead::LEAST_MEMORY }
    }

    /// No other open subflow than `id` could have carried data. A subflow that is still joining has
    /// carried none.
    pub fn is_alone(&self, id: SubflowId) -> bool {
        self.active().all(|(s, m)| s.id == id || s.state == State::Closed || !m.ready)
    }

    /// A segment at `start` could not be taken. Returns true if this was the next expected octet
    /// and has happened [`UNMAPPED`] times in a row.
    pub fn comes_repeatedly(&mut self, id: SubflowId, start: Seq) -> bool {
        let rcv_nxt = self.subflows[id].receiver.rcv_nxt;
        let (seen, times) = &mut self.members[id].unmapped;
        if start != rcv_nxt {
            return false;
        }
        *times = if *seen == start { *times + 1 } else { 1 };
        *seen = start;
        *times >= UNMAPPED
    }

    /// Returns the time until the last timer of the subflows that make progress: the loss probe's
    /// if one is pending, else the retransmission timer (`mptcp_timeout_from_subflow`).
    pub fn idle_interval(&self, now: Instant) -> Duration {
        let progressing = self.active().filter(|(s, m)| s.state != State::Closed && m.idle.periods == 0);
        let left = progressing
            .map(|(s, _)| s.sender.deadline())
            .filter(|&at| at < Instant::FAR_FUTURE)
            .map(|at| at.since(now));
        left.max().filter(|left| left.0 > 0).unwrap_or(LEAST_IDLE)
    }

    /// Counts a segment that has arrived on `id` and that no short path has taken.
    pub fn count_arrival(&mut self, id: SubflowId, seg: &Segment, fast: &mut FastPath) {
        fast.invalidate();
        let counts = &mut self.subflows[id].counts;
        counts.segments_in += 1;
        counts.data_segments_in += u64::from(seg.payload.len > 0);
    }

    /// Asks the peer to use `id` only when no regular subflow works, or as a regular one again
    /// (RFC 8684 3.3.8). This host does the same.
    pub fn set_backup(&mut self, id: SubflowId, backup: bool, fast: &mut FastPath) {
        fast.invalidate();
        let m = &mut self.members[id];
        m.prio_due |= m.backup != backup && m.ready;
        m.backup = backup;
        self.rows[id].backup = m.is_backup();
    }

    /// Sets what algorithms are told of the path of `id`.
    pub fn set_policy(&mut self, id: SubflowId, policy: Policy, fast: &mut FastPath) {
        fast.invalidate();
        self.rows[id].policy = policy;
    }

    /// All subflows count as heard of at `now`: keep-alives start again.
    pub fn restart_keepalives(&mut self, now: Instant, fast: &mut FastPath) {
        fast.invalidate();
        for m in &mut self.members {
            (m.heard, m.keepalives) = (now, 0);
        }
    }

    /// A segment on `id` with the sequence number `seq` was too large: `room` octets fit.
    pub fn on_too_big(&mut self, now: Instant, id: SubflowId, seq: u32, room: u32, fast: &mut FastPath) {
        if let Some(s) = self.subflows.get_mut(id) {
            s.on_too_big(now, seq, room);
            fast.invalidate();
        }
    }

    /// Notes that a segment has arrived on `id`. If the subflow was stale, it is not any more.
    #[inline]
    pub fn note_heard(&mut self, now: Instant, id: SubflowId) {
        let m = &mut self.members[id];
        m.heard = now;
        if m.idle.stale {
            m.idle = Idle::default();
        }
    }

    /// Returns the subflow for a window probe: of the subflows that can send, one that has not
    /// timed out, with the shortest RTO. With `edge`, only subflows that have no data beyond this
    /// data offset in flight.
    pub fn prober(&self, edge: Option<u64>) -> Option<SubflowId> {
        let beyond = |s: &Subflow, edge| s.sender.board.iter().any(|sent| sent.data_end() > edge);
        let may = |s: &Subflow| edge.is_none_or(|edge| !beyond(s, edge));
        let ready = self.active().filter(|(s, m)| m.ready && s.may_send() && may(s));
        ready.min_by_key(|(s, _)| (s.is_stale(), s.rto())).map(|(s, _)| s.id)
    }

    /// Lets every open subflow send an acknowledgement at once.
    pub fn acknowledge_on_all(&mut self, fast: &mut FastPath) {
        fast.invalidate();
        for &id in &self.active {
            if self.members[id].ready && self.subflows[id].is_open() {
                self.subflows[id].acks.now();
            }
        }
    }

    /// A subflow that can carry signals of the connection.
    pub fn ready_subflow(&self) -> Option<SubflowId> {
        self.active().find(|(s, m)| m.ready && s.is_open()).map(|(s, _)| s.id)
    }

    /// The handshake of the first subflow is not complete.
    pub fn is_handshaking(&self) -> bool {
        matches!(self.subflows[0].state, State::SynSent | State::SynReceived)
    }

    /// Notes that a segment has arrived on `id`, so that keep-alives start again.
    pub fn note_sign_of_life(&mut self, now: Instant, id: SubflowId) {
        let m = &mut self.members[id];
        (m.heard, m.keepalives) = (now, 0);
    }

    /// When the next keep-alive on `id` is due; `None` if the subflow sends none now.
    pub fn keepalive_at(&self, id: SubflowId, keep: &KeepAlive) -> Option<Instant> {
        let (s, m) = (&self.subflows[id], &self.members[id]);
        let may = m.ready && s.is_open() && s.state != State::TimeWait && s.sender.board.is_empty();
        may.then(|| if m.keepalives == 0 { m.heard + keep.idle } else { m.keepalive_sent + keep.interval })
    }

    /// Returns true if all keep-alive probes on `id` went unanswered. On the last open subflow of a
    /// connection with a user timeout, the timeout says how long the silence may last.
    pub fn is_given_up(&self, now: Instant, id: SubflowId, config: &Config) -> bool {
        let (Some(keep), m) = (config.keepalive, &self.members[id]) else { return false };
        match config.user_timeout {
            Some(timeout) if self.is_last_open() => m.keepalives > 0 && now.since(m.heard) >= timeout,
            _ => m.keepalives >= keep.probes,
        }
    }

    /// Returns true if another keep-alive would be due on `id`, and all that were sent went
    /// unanswered.
    pub fn is_silent_to_keepalives(&self, now: Instant, id: SubflowId, keep: &KeepAlive, config: &Config) -> bool {
        self.keepalive_at(id, keep).is_some_and(|at| at <= now) && self.is_given_up(now, id, config)
    }

    /// A keep-alive is sent on `id`.
    pub fn note_keepalive(&mut self, now: Instant, id: SubflowId) {
        let m = &mut self.members[id];
        m.keepalives = m.keepalives.saturating_add(1);
        m.keepalive_sent = now;
    }

    /// Returns true if at most one subflow is open. With a user timeout, its retransmissions are
    /// not counted: the timeout says when to give up.
    pub fn is_last_open(&self) -> bool {
        self.active().filter(|(s, _)| s.state != State::Closed).count() <= 1
    }

    /// The subflow on which a keep-alive is due.
    pub fn next_keepalive(&self, now: Instant, keep: &KeepAlive, config: &Config) -> Option<SubflowId> {
        let due = |id| self.keepalive_at(id, keep).is_some_and(|at| at <= now) && !self.is_given_up(now, id, config);
        self.active.iter().copied().find(|&id| due(id))
    }

    /// Subflows with room in their windows have no data to send: their delivery rates are
    /// application-limited.
    pub fn note_idle(&mut self) {
        for &id in &self.active {
            let sender = &mut self.subflows[id].sender;
            if sender.has_room(sender.mss) {
                sender.note_idle();
            }
        }
    }

    /// Returns true if the SYN of the connection was sent and has no answer.
    pub fn awaits_syn_ack(&self) -> bool {
        self.is_handshaking() && self.subflows[0].sender.nxt > self.subflows[0].iss
    }

    /// Data that has just become in order on `id`, from sequence number `from` on, waits until its
    /// checksum is verified.
    pub fn hold_unverified(&mut self, id: SubflowId, from: Seq, delivered: &mut Vec<Piece>) {
        let mut seq = from;
        for piece in delivered.drain(..) {
            self.members[id].unverified.push_back((seq, piece));
            seq += u64::from(piece.len);
        }
    }

    /// Moves data on `id` that is in order, and that no checksum holds back, to `delivered`. Plain
    /// TCP has no checksums (`plain`).
    pub fn release_verified(&mut self, id: SubflowId, plain: bool, delivered: &mut Vec<Piece>) {
        let m = &mut self.members[id];
        while let Some(&(seq, piece)) = m.unverified.front() {
            if !plain && m.checks.holds(seq, seq + u64::from(piece.len)) {
                break;
            }
            m.unverified.pop_front();
            delivered.push(piece);
        }
    }

    /// Returns true if `id` would hold more than two receive buffers behind its hole with `len`
    /// octets more. The window bounds the data, but a peer can map the same data to ever new
    /// sequence numbers of a subflow. A peer that has a reason to send data again sends it once, on
    /// the same subflow.
    pub fn would_hoard(&self, id: SubflowId, len: u32, buffer: Option<u64>) -> bool {
        let held = self.subflows[id].receiver.held_octets() + u64::from(len);
        buffer.is_some_and(|buffer| held > buffer.saturating_mul(2))
    }

    /// Some subflow has not ended.
    pub fn is_alive(&self) -> bool {
        self.active().any(|(s, _)| s.state != State::Closed)
    }

    /// Returns true if a subflow other than `on` can send the data that was stuck on `on`. A backup
    /// counts only if no regular subflow works (RFC 8684 3.3.8).
    pub fn has_way_from(&self, on: Option<SubflowId>) -> bool {
        let works = |s: &Subflow, m: &Member| m.ready && s.may_send() && !s.is_stale() && !m.idle.stale;
        let regular = self.active().any(|(s, m)| works(s, m) && !m.is_backup());
        self.active().any(|(s, m)| m.ready && s.is_open() && Some(s.id) != on && !(regular && m.is_backup()))
    }

    /// Returns true if the peer may have become plain TCP without our knowledge (RFC 8684 3.7):
    /// there has been one subflow, the peer has acknowledged data there in a segment with
    /// MP_CAPABLE and without DSS, and no DATA_ACK has arrived since. A peer that is plain TCP
    /// would take a second copy of data for the next octets of the stream.
    pub fn may_be_plain(&self) -> bool {
        let [m] = &self.members[..] else { return false };
        m.join == Join::First && m.acked_bare && !m.dss_confirmed && self.subflows[0].is_open()
    }
}
