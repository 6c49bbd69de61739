//! Rate limits for answers that a peer, a forger or the network could elicit without end (RFC 5961 7: "ACK throttling").
//!
//! An acknowledgement that answers an acknowledgement may be answered in turn. Two endpoints that disagree about sequence
//! numbers, or a network that duplicates and reorders segments, could then exchange nothing else. Segments with payload cannot
//! cause such an ACK war: each is sent for a reason of its own, not as an answer.

use crate::time::{Duration, Instant};

/// Permits a limited number of answers per period. A period begins with its first answer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Throttle {
    began: Instant,
    count: u32,
}

impl Throttle {
    /// Whether one more answer may be sent at `now`, with at most `most` answers per `period`.
    pub fn allows(&mut self, now: Instant, most: u32, period: Duration) -> bool {
        if self.count == 0 || now.since(self.began) >= period {
            *self = Self { began: now, count: 0 };
        }
        let allowed = self.count < most;
        self.count += u32::from(allowed);
        allowed
    }
}

/// Rate limits of one subflow for three kinds of answers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Throttles {
    invalid: Throttle,
    challenges: Throttle,
    repetitions: Throttle,
    /// [`Config::invalid_ack_interval`](crate::Config::invalid_ack_interval).
    interval: Duration,
}

impl Throttles {
    /// No answer was sent yet.
    pub fn new(interval: Duration) -> Self {
        let none = Throttle::default();
        Self { invalid: none, challenges: none, repetitions: none, interval }
    }

    /// Returns true if an unacceptable segment without payload may be answered.
    pub fn answers_invalid(&mut self, now: Instant) -> bool {
        self.invalid.allows(now, 1, self.interval)
    }

    /// Returns true if a challenge ACK may be sent (RFC 5961 7).
    pub fn challenges(&mut self, now: Instant) -> bool {
        self.challenges.allows(now, 10, self.interval.saturating_mul(10))
    }

    /// Returns true if a repeated segment of the peer may be answered again.
    pub fn repeats(&mut self, now: Instant) -> bool {
        self.repetitions.allows(now, 10, self.interval.saturating_mul(10))
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
