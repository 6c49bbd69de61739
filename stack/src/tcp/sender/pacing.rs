//! Pacing: if the controller gives a rate, or the configuration asks for it, segments are sent no faster than that.

use super::Sender;
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
    pub fn ends_burst(&mut self, now: Instant, more: bool) -> bool {
        let longest = ((self.pacing_rate() / 1024.0) as u64 / u64::from(self.mss)).clamp(2, 44) as u32;
        self.burst = (now, if self.burst.0 == now { self.burst.1 + 1 } else { 1 });
        let full = self.burst.1 == longest;
        let ends = full || !more || (self.burst.1 > 1 && !self.has_room(self.mss));
        if full {
            self.burst.1 = 0;
        }
        ends
    }

    /// Until when pacing delays the next segment; `None` if it may be sent at `now`.
    #[inline]
    pub fn paced_until(&self, now: Instant) -> Option<Instant> {
        (self.pace_at > now).then_some(self.pace_at)
    }
}
