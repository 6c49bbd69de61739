//! Pacing: if the controller gives a rate, or the configuration asks for it, segments are sent no faster than that.

use super::Sender;
use crate::seq::Seq;
use crate::time::{Duration, Instant};

/// A rate that limits nothing, in octets per second.
const UNLIMITED: f64 = 1e12;

/// When pacing permits the next segment, and the burst in progress.
#[derive(Debug)]
pub(super) struct Pacer {
    /// Earliest departure of the next segment.
    at: Instant,
    /// When the last burst began to leave, and how many segments of it have left.
    burst: (Instant, u32),
    /// A burst waits for room: the window counts as full.
    deferred: bool,
    /// Sequence number after the last segment of less than full size; kept for
    /// [`Sender::has_small`].
    small_end: Seq,
    /// The segment that leaves now ends its buffer.
    buffer_ends: bool,
}

impl Pacer {
    /// Nothing has left; `iss` is the initial sequence number.
    pub fn new(iss: Seq) -> Self {
        Self { at: Instant::ZERO, burst: (Instant::ZERO, 0), deferred: false, buffer_ends: false, small_end: iss }
    }

    /// A segment leaves at `now`, and the next one after `gap`. A sender that was delayed for
    /// another reason does not catch up.
    #[inline]
    fn advance(&mut self, now: Instant, gap: Duration) {
        self.at = self.at.max(now) + gap;
    }

    /// Counts a segment of a burst at `now` of at most `longest`. Returns the segments of the burst
    /// so far, and whether it is complete.
    fn count(&mut self, now: Instant, longest: u32) -> (u32, bool) {
        let so_far = if self.burst.0 == now { self.burst.1 + 1 } else { 1 };
        let full = so_far == longest;
        self.burst = (now, if full { 0 } else { so_far });
        (so_far, full)
    }

    /// A burst is leaving at `now`.
    fn in_burst(&self, now: Instant) -> bool {
        self.burst.0 == now && self.burst.1 > 0
    }

    /// A burst waits for room.
    pub fn has_deferred(&self) -> bool {
        self.deferred
    }
}

impl Sender {
    /// A segment of `len` octets is sent at `now`: computes the earliest departure of the next one.
    #[inline]
    pub(super) fn pace(&mut self, now: Instant, len: u32) {
        if let Some(rate) = self.controller.pacing().or_else(|| self.rules.paced.then(|| self.pacing_rate())) {
            self.pacer.advance(now, Duration::from_secs_f64(f64::from(len) / rate));
        }
    }

    /// The rate at which Linux would pace (`tcp_update_pacing_rate`): two windows a round trip while
    /// cwnd is below half of ssthresh,
    /// 1.2 afterwards; octets per second, [`UNLIMITED`] before the first round-trip sample.
    ///
    /// A controller that paces says it itself.
    pub fn pacing_rate(&self) -> f64 {
        if let Some(rate) = self.controller.pacing() {
            return rate;
        }
        let w = self.controller.window();
        let windows = if w.cwnd < w.ssthresh / 2.0 { 2.0 } else { 1.2 };
        self.rtt.srtt().map_or(UNLIMITED, |srtt| windows * w.cwnd / srtt.as_secs_f64())
    }

    /// A new segment was sent at `now`; `more`: the connection has more to send. Whether it is the last of a burst of several,
    /// or of all that may be sent.
    pub fn ends_burst(&mut self, now: Instant, more: bool, len: u32) -> bool {
        self.pacer.deferred = false;
        if len < self.mss {
            self.pacer.small_end = self.nxt;
        }
        let longest = self.longest_burst();
        let (so_far, full) = self.pacer.count(now, longest);
        if std::mem::take(&mut self.pacer.buffer_ends) {
            self.pacer.burst.1 = 0;
        }
        full || !more || (so_far > 1 && !self.has_room(self.mss))
    }

    /// Segments of a burst as Linux makes a packet for segmentation offload (`tcp_tso_autosize`): what is paced in 1/1024 s, and 64 kB
    /// more, halved for each 512 us of round trip.
    fn longest_burst(&self) -> u32 {
        let halvings = self.min_rtt.0 / 512_000;
        let near = if halvings < 17 { 65_536 >> halvings } else { 0 };
        (((self.pacing_rate() / 1024.0) as u64 + near) / u64::from(self.mss)).clamp(2, 44) as u32
    }

    /// A segment of less than full size is unacknowledged (`tcp_minshall_check`).
    pub fn has_small(&self) -> bool {
        self.pacer.small_end > self.una
    }

    /// Octets of a burst.
    pub fn burst(&self) -> u64 {
        u64::from(self.longest_burst()) * u64::from(self.mss)
    }

    /// A new burst should wait for more room (`tcp_tso_should_defer`). `waiting`: octets that could be sent; `last`: nothing waits behind
    /// them; `ends`: the stream ends with them.
    pub fn defers(&self, now: Instant, waiting: u64, last: bool, ends: bool) -> bool {
        let mss = u64::from(self.mss);
        if self.pacer.in_burst(now) || waiting <= mss || self.recovery.is_repairing() {
            return false;
        }
        if now.since(self.last_sent) > Duration::from_millis(1) {
            return false;
        }
        let (room, window) = (self.open_window(), self.controller.octets());
        if room >= self.burst() || room >= window / 3 || ((ends || !last) && room >= waiting) {
            return false;
        }
        let Some(head) = self.board.front() else { return false };
        let half = self.rtt.srtt().map_or(Duration::ZERO, |srtt| Duration(srtt.0 / 2));
        now.since(head.sent_at) >= half
    }

    /// A burst of `waiting` octets is deferred. Returns whether it waits for the window, which then
    /// counts as full.
    pub fn defer(&mut self, waiting: u64) -> bool {
        self.pacer.deferred = self.open_window() <= waiting;
        self.pacer.deferred
    }

    /// The next segment ends its buffer: the one after it begins another burst.
    pub fn end_buffer(&mut self) {
        self.pacer.buffer_ends = true;
    }

    /// A burst waits for room.
    pub fn has_deferred(&self) -> bool {
        self.pacer.has_deferred()
    }

    /// Until when pacing delays the next segment; `None` if it may be sent at `now`.
    #[inline]
    pub fn paced_until(&self, now: Instant) -> Option<Instant> {
        (self.pacer.at > now).then_some(self.pacer.at)
    }
}
