//! The receive window: how much of the buffer is offered, on which subflow, and when a window update is sent.
//!
//! By RFC 9293 3.8.6.2.2 the right edge moves in steps worth a segment. What Linux does instead, for
//! [`Config::acknowledge_on_read`](crate::Config::acknowledge_on_read): the window is what the memory of unread and held segments leaves of
//! the buffer, in units of the window field (`__tcp_select_window`); a buffer that has not grown keeps room for one segment back
//! (`tcp_init_buffer_space`); and once the application has read, each subflow decides whether that is worth an acknowledgement
//! (`mptcp_cleanup_rbuf`, `tcp_cleanup_rbuf`).

use super::{Connection, DSS_ROOM, MAX_WINDOW, Mode, Subflow, SubflowId, Tuning, window_shift};
use crate::config::Config;
use crate::time::Instant;

/// Receive buffers of fewer segments than this follow the window rule of RFC 9293 3.8.6.2.2. In
/// larger ones Linux's window follows the free memory, and its right edge may move by a few octets
/// (`__tcp_select_window`).
const SMALL_BUFFER_SEGMENTS: u64 = 16;

/// Right edge of our receive window, as data offsets; it never moves left (RFC 8684 3.3.4, RFC 7323
/// 2.4, RFC 9293 3.8.6).
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    /// The edge that the next segment advertises at least, if its window field can express it.
    pub goal: u64,
    /// The highest edge advertised so far. Octets beyond it are refused. It is below `goal` while
    /// the window field cannot express `goal`: in a SYN, and without window scaling.
    pub advertised: u64,
}

impl Edge {
    /// Creates the edge of a connection that has not advertised a window yet.
    pub fn new(goal: u64) -> Self {
        Self { goal, advertised: 0 }
    }
}

impl Connection {
    /// Reads up to `max` octets of the peer's stream and returns how many.
    #[inline(always)]
    pub fn read(&mut self, max: u64) -> u64 {
        let octets = self.readable().min(max);
        self.read += octets;
        if self.tuning.is_some() || self.config.acknowledge_on_read {
            if octets > 0 {
                self.follow_reader(octets);
            }
        } else if let Some(buffer) = self.config.receive_buffer {
            self.open_in_steps(octets, buffer);
        }
        octets
    }

    /// RFC 9293 3.8.6.2.2: open the window in steps worth a segment, and send a window update if the peer may be waiting for it.
    #[inline(always)]
    fn open_in_steps(&mut self, octets: u64, buffer: u64) {
        let gain = (self.read + buffer).saturating_sub(self.edge.goal);
        let step = (2 * u64::from(self.config.mss)).min(buffer / 2).max(1);
        let left = self.edge.goal - self.reassembly.nxt();
        if octets > 0 && gain >= step && (left < step || gain >= buffer / 2) {
            self.tell_window();
        }
    }

    /// The application has read. A subflow acknowledges if it owes an acknowledgement that this completes, or if its window has at least
    /// doubled; with Multipath TCP the latter only if the window that was advertised last, on any subflow, has.
    #[cold]
    fn acknowledge_reading(&mut self, buffer: u64) {
        self.disturb();
        let multipath = matches!(self.mode, Mode::Mptcp(_));
        let window = |c: &Self, id: SubflowId| c.window_field(id) << c.paths.subflows[id].own_shift;
        let most = self.paths.active.iter().map(|&id| window(self, id)).max().unwrap_or(0);
        let doubled = !multipath || most >= 2 * self.told.unwrap_or(0);
        let empty = self.readable() == 0 && self.held().1 == 0;
        for k in 0..self.paths.active.len() {
            let id = self.paths.active[k];
            let now = window(self, id);
            let s = &mut self.paths.subflows[id];
            if s.is_open() && self.paths.members[id].ready {
                s.acks.on_read(empty, doubled.then_some((now, buffer)));
            }
        }
    }

    /// The receive buffer as far as the most generous subflow offers it. `None`: there is no limit.
    #[inline]
    fn offered(&self) -> Option<u64> {
        let Some(tuning) = self.tuning else { return self.config.receive_buffer };
        let most = self.paths.active().map(|(s, _)| s.acks.offered).max();
        Some(most.map_or(tuning.size, |most| most.min(tuning.size)))
    }

    /// Sends a window update on every subflow, if it says anything new: a subflow may offer less than there is room for (a buffer
    /// that tunes itself, a peer that does not scale windows), and an acknowledgement that repeats the last one has no end where
    /// both ends read.
    fn tell_window(&mut self) {
        let told = |c: &Self, id: SubflowId| c.paths.subflows[id].is_open() && c.paths.members[id].ready;
        if !self.paths.active.iter().any(|&id| told(self, id) && self.window_opens(id)) {
            return;
        }
        self.disturb();
        for k in 0..self.paths.active.len() {
            let id = self.paths.active[k];
            if told(self, id) {
                self.paths.subflows[id].acks.now();
            }
        }
    }

    /// The receive buffer now, in octets; on `id` no more than is offered there. `None`: there is no limit.
    #[inline]
    fn buffer(&self, id: SubflowId) -> Option<u64> {
        match self.tuning {
            None => self.config.receive_buffer,
            Some(t) => Some(t.size.min(self.paths.subflows[id].acks.offered)),
        }
    }

    /// Octets by which `octets` that are unread or held for a hole narrow the window.
    fn charge(&self, octets: u64) -> u64 {
        (self.config.held_charge * octets as f64) as u64
    }

    /// What is held for a hole narrows the window by so much. With Multipath TCP that is what the data stream holds; what a subflow holds
    /// is charged to the subflow.
    fn charge_for_held(&self) -> u64 {
        let held = match self.mode {
            Mode::Tcp => self.held().1,
            _ => self.reassembly.held().1,
        };
        self.charge(held)
    }

    /// A payload has arrived on `id`: a buffer that tunes itself follows the reader, and the window opens.
    #[inline]
    pub(super) fn tune(&mut self, now: Instant, id: SubflowId, len: u32) {
        if self.tuning.is_some() {
            self.tune_buffer(now, id, len);
        }
    }

    fn tune_buffer(&mut self, now: Instant, id: SubflowId, len: u32) {
        let options = self.full_segment() - u64::from(self.config.mss);
        if let Some(tuning) = &mut self.tuning {
            tune(tuning, &mut self.paths.subflows[id], now, self.read, u64::from(len) + options);
        }
    }

    /// A full segment, as large as without a DSS: in such segments Linux counts its windows.
    pub(super) fn full_segment(&self) -> u64 {
        u64::from(self.config.mss) + if matches!(self.mode, Mode::Tcp) { 0 } else { DSS_ROOM }
    }

    /// The application has read `octets`: a buffer that tunes itself follows, and acknowledgements that wait for the reader.
    #[cold]
    fn follow_reader(&mut self, octets: u64) {
        if let Some(tuning) = &mut self.tuning {
            // The longest round-trip time of all subflows, as the window is theirs.
            let longest = self.paths.subflows.iter().filter_map(|s| s.acks.rtt.or(s.sender.rtt.srtt())).max();
            tuning.on_read(self.read, longest.unwrap_or_default());
        }
        let buffer = self.offered();
        if self.config.acknowledge_on_read {
            self.acknowledge_reading(buffer.unwrap_or(MAX_WINDOW));
        } else if let Some(buffer) = buffer {
            self.open_in_steps(octets, buffer);
        }
    }

    /// The window field of a segment on `id`, shifted (RFC 7323 2.3). Records the right edge that it advertises.
    #[inline(always)]
    pub(super) fn window(&mut self, id: SubflowId) -> u16 {
        let field = self.window_field(id);
        let edge = self.reassembly.nxt() + (field << self.paths.subflows[id].own_shift);
        self.edge.advertised = self.edge.advertised.max(edge);
        self.edge.goal = self.edge.goal.max(edge);
        if self.told.is_some() {
            self.note_window(id, field);
        }
        field as u16
    }

    #[cold]
    fn note_window(&mut self, id: SubflowId, field: u64) {
        let window = field << self.paths.subflows[id].own_shift;
        self.told = Some(window);
        self.paths.subflows[id].acks.told = window;
    }

    #[inline(always)]
    fn window_field(&self, id: SubflowId) -> u64 {
        let shift = self.paths.subflows[id].own_shift;
        let goal = match self.buffer(id) {
            None => self.reassembly.nxt() + MAX_WINDOW,
            Some(buffer) if self.told.is_some() => self.goal_by_memory(buffer, shift),
            Some(buffer) => self.goal_in_steps(buffer, 0, shift),
        };
        ((goal.max(self.edge.goal) - self.reassembly.nxt()) >> shift).min(65_535)
    }

    /// The right edge, less `charge` octets.
    #[inline(always)]
    fn goal_in_steps(&self, buffer: u64, charge: u64, shift: u8) -> u64 {
        // RFC 9293 3.8.6.2.2: move the edge only in steps worth a segment.
        let goal = self.read + buffer - charge;
        let step = u64::from(self.config.mss).min(buffer / 2).max(1);
        // RFC 7323 2.3: less than one unit of the field, of at most 2^14, is shown as a closed window.
        let nxt = self.reassembly.nxt();
        let closed = || self.edge.goal - nxt < 1 << 14 && (self.edge.goal - nxt) >> shift == 0 && goal >= nxt + step;
        if goal >= self.edge.goal + step || closed() { goal } else { self.edge.goal }
    }

    /// The right edge that the memory left allows, of what a subflow offers (`__tcp_select_window`).
    #[cold]
    fn goal_by_memory(&self, offered: u64, shift: u8) -> u64 {
        let buffer = self.tuning.map_or(offered, |t| t.size);
        let held = self.charge_for_held();
        if !self.config.acknowledge_on_read {
            return self.goal_in_steps(offered, held.min(offered), shift);
        }
        let unread = self.charge(self.reassembly.nxt() - self.read);
        let reserve = self.tuning.map_or(0, |t| t.reserve());
        let left = buffer.saturating_sub((unread + held).max(reserve));
        // Below half of the buffer, a sixteenth of it, or less than a segment, is shown as nothing (RFC 9293 3.8.6.2.2).
        let silly = left < buffer / 2 && (left < buffer / 16 || left < u64::from(self.config.mss).min(buffer));
        let nxt = self.reassembly.nxt();
        if silly {
            return nxt;
        }
        let whole = left >= buffer.saturating_sub(reserve).min(offered);
        // RFC 7323 2.3: advertise at least one unit of the window field. Rounding down to zero
        // would close the window for ever if the whole buffer, less the reserve, is smaller than
        // one unit.
        let goal = nxt + left.min(offered).max(1 << shift);
        if whole || buffer >= SMALL_BUFFER_SEGMENTS * u64::from(self.config.mss) {
            return goal;
        }
        // RFC 9293 3.8.6.2.2: the edge moves by a segment at least, or by half of the buffer if
        // that is less. It may always move to the end of the buffer.
        let step = u64::from(self.config.mss).min(buffer / 2).max(1);
        if goal >= self.edge.goal + step { goal } else { self.edge.goal }
    }

    /// An acknowledgement on `id` would advertise more than the peer has been told.
    fn window_opens(&self, id: SubflowId) -> bool {
        self.reassembly.nxt() + (self.window_field(id) << self.paths.subflows[id].own_shift) > self.edge.goal
    }
}

/// A segment of `len` octets has arrived on `s`, when the application had read `read`: a buffer that tunes itself follows.
#[cold]
pub(super) fn tune(tuning: &mut Tuning, s: &mut Subflow, now: Instant, read: u64, len: u64) {
    tuning.on_arrival(now, read);
    s.acks.open_window(tuning.size, len);
}

/// The window is not simply what is left of the buffer.
pub(super) fn counts_memory(config: &Config) -> bool {
    config.acknowledge_on_read || config.held_charge > 0.0
}

/// The receive buffer, if it tunes itself, and the window to begin with.
pub(super) fn receive_window(config: &Config) -> (Option<Tuning>, u64) {
    let most = config.receive_buffer.unwrap_or(MAX_WINDOW);
    // In whole units of the window field, so that no segment after the SYN has to show less.
    let unit = 1 << window_shift(config);
    let initial = config.receive_initial.map(|initial| initial.next_multiple_of(unit));
    let segment = config.mss + if config.mptcp { DSS_ROOM as u32 } else { 0 };
    let tuning = initial.map(|initial| Tuning::new(initial, most, segment));
    (tuning, tuning.map_or(most, |t| t.size))
}
