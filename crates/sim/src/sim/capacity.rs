//! How much a transmitter could have sent by now: the integral of its rate.

/// Bits that could have been transmitted.
#[derive(Clone, Copy, Debug)]
pub struct Capacity {
    /// Bits until `at`, times 10^9.
    until: u128,
    at: u64,
    /// The rates before and after `at`, which may lie in the future.
    before: u64,
    rate: u64,
}

impl Capacity {
    /// A transmitter of `rate` bit/s from time zero on.
    pub fn new(rate: u64) -> Self {
        Self { until: 0, at: 0, before: rate, rate }
    }

    /// The rate is `rate` from `from` on, which may lie in the future.
    pub fn change(&mut self, from: u64, rate: u64) {
        if from > self.at {
            self.until += u128::from(self.rate) * u128::from(from - self.at);
            (self.at, self.before) = (from, self.rate);
        }
        self.rate = rate;
    }

    /// What was in transmission is cut off at `now`: a change that lay ahead, at its end, holds from now on.
    pub fn cut(&mut self, now: u64) {
        if self.at > now {
            self.until -= u128::from(self.before) * u128::from(self.at - now);
            self.at = now;
        }
    }

    /// Bits until `now`.
    pub fn bits(&self, now: u64) -> f64 {
        let open = u128::from(self.rate) * u128::from(now.saturating_sub(self.at));
        let ahead = u128::from(self.before) * u128::from(self.at.saturating_sub(now));
        (self.until + open - ahead) as f64 / 1e9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 bit/s; at 1 s the rate changes, but what is in transmission takes until 3 s; then 2 bit/s.
    #[test]
    fn a_change_that_lies_ahead_does_not_count_yet() {
        const S: u64 = 1_000_000_000;
        let mut c = Capacity::new(10);
        c.change(3 * S, 5);
        // Once more within the same transmission.
        c.change(3 * S, 2);
        let bits = [0, 1, 2, 3, 4, 5].map(|s| c.bits(s * S));
        assert_eq!(bits, [0.0, 10.0, 20.0, 30.0, 32.0, 34.0]);
    }

    /// The same, but at 2 s the link fails and at once works again: what was in transmission is gone, and the next begins at the new rate.
    #[test]
    fn a_change_that_lies_ahead_holds_when_the_transmission_is_cut_off() {
        const S: u64 = 1_000_000_000;
        let mut c = Capacity::new(10);
        c.change(3 * S, 50);
        c.cut(2 * S);
        c.cut(2 * S);
        assert_eq!([2, 3, 4].map(|s| c.bits(s * S)), [20.0, 70.0, 120.0]);
    }
}
