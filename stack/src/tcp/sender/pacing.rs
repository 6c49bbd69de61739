//! Pacing: where the controller names a rate, segments leave no faster than that.

use super::Sender;
use crate::time::{Duration, Instant};

impl Sender {
    /// A segment of `len` octets leaves at `now`: when the next one may.
    #[inline]
    pub(super) fn pace(&mut self, now: Instant, len: u32) {
        if let Some(rate) = self.controller.pacing() {
            // A sender that was held up otherwise does not catch up.
            self.pace_at = self.pace_at.max(now) + Duration::from_secs_f64(f64::from(len) / rate);
        }
    }

    /// If pacing holds segments back at `now`, until when.
    #[inline]
    pub fn paced_until(&self, now: Instant) -> Option<Instant> {
        (self.pace_at > now).then_some(self.pace_at)
    }
}
