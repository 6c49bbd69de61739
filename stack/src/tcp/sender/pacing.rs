//! Pacing: if the controller gives a rate, segments are sent no faster than that.

use super::Sender;
use crate::time::{Duration, Instant};

impl Sender {
    /// A segment of `len` octets is sent at `now`: computes the earliest departure of the next one.
    #[inline]
    pub(super) fn pace(&mut self, now: Instant, len: u32) {
        if let Some(rate) = self.controller.pacing() {
            // A sender that was delayed for another reason does not catch up.
            self.pace_at = self.pace_at.max(now) + Duration::from_secs_f64(f64::from(len) / rate);
        }
    }

    /// Until when pacing delays the next segment; `None` if it may be sent at `now`.
    #[inline]
    pub fn paced_until(&self, now: Instant) -> Option<Instant> {
        (self.pace_at > now).then_some(self.pace_at)
    }
}
