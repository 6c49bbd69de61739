//! Pacing: if the controller gives a rate, or the configuration asks for it, segments are sent no faster than that.

use super::{Phase, Sender};
use crate::time::{Duration, Instant};

/// A rate that limits nothing, in octets per second.
const UNLIMITED: f64 = 1e12;

impl Sender {
    /// A segment of `len` octets is sent at `now`: computes the earliest departure of the next one.
    #[inline]
    pub(super) fn pace(&mut self, now: Instant, len: u32) {
        if let Some(rate) = self.controller.pacing().or_else(|| self.paced.then(|| self.pacing_rate())) {
            // A sender that was delayed for another reason does not catch up.
            self.pace_at = self.pace_at.max(now) + Duration::from_secs_f64(f64::from(len) / rate);
        }
    }

    /// The rate at which Linux would pace (`tcp_update_pacing_rate`): two windows a round trip in slow start, 1.2 afterwards; octets per
    /// second, [`UNLIMITED`] before the first round-trip sample.
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
        self.deferred = false;
        if len < self.mss {
            self.small_end = self.nxt;
        }
        let longest = self.longest_burst();
        self.burst = (now, if self.burst.0 == now { self.burst.1 + 1 } else { 1 });
        let full = self.burst.1 == longest;
        let ends = full || !more || (self.burst.1 > 1 && !self.has_room(self.mss));
        if full {
            self.burst.1 = 0;
        }
        ends
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
        self.small_end > self.una
    }

    /// Octets of a burst.
    pub fn burst(&self) -> u64 {
        u64::from(self.longest_burst()) * u64::from(self.mss)
    }

    /// A new burst should wait for more room (`tcp_tso_should_defer`). `waiting`: octets that could be sent; `last`: nothing waits behind
    /// them; `ends`: the stream ends with them.
    pub fn defers(&self, now: Instant, waiting: u64, last: bool, ends: bool) -> bool {
        let mss = u64::from(self.mss);
        let in_burst = self.burst.0 == now && self.burst.1 > 0;
        if in_burst || waiting <= mss || matches!(self.phase, Phase::Fast { .. } | Phase::Loss { .. }) {
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

    /// Until when pacing delays the next segment; `None` if it may be sent at `now`.
    #[inline]
    pub fn paced_until(&self, now: Instant) -> Option<Instant> {
        (self.pace_at > now).then_some(self.pace_at)
    }
}
