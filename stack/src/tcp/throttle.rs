//! Answers that a peer, a forger or the network can call forth without end, bounded (RFC 5961 7: "ACK throttling").
//!
//! An acknowledgement that answers an acknowledgement may be answered in turn: two endpoints that disagree about sequence numbers, or a
//! network that duplicates what it reorders, then send each other nothing else. Segments with payload end such a war by themselves,
//! since each is sent for a reason and not for an answer.

use crate::time::{Duration, Instant};

/// At most so many answers in each period, which begins with the first of them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Throttle {
    began: Instant,
    count: u32,
}

impl Throttle {
    /// Whether one more may leave at `now`, where `most` may in a `period`.
    pub fn allows(&mut self, now: Instant, most: u32, period: Duration) -> bool {
        if self.count == 0 || now.since(self.began) >= period {
            *self = Self { began: now, count: 0 };
        }
        let allowed = self.count < most;
        self.count += u32::from(allowed);
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two in 100 ms: 0, 10, not 50, not 99; 100 begins anew.
    #[test]
    fn the_first_ones_pass_at_once_and_a_period_later_others() {
        let mut t = Throttle::default();
        let times = [0, 10, 50, 99, 100, 150, 199, 1000];
        let passed = times.map(|ms| t.allows(Instant(ms * 1_000_000), 2, Duration::from_millis(100)));
        assert_eq!(passed, [true, true, false, false, true, true, false, true]);
    }

    #[test]
    fn a_period_of_zero_bounds_nothing() {
        let mut t = Throttle::default();
        assert!((0..100).all(|_| t.allows(Instant(7), 1, Duration::ZERO)));
    }
}
