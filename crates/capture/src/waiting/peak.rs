//! The largest of a value lately.

/// The largest value of the present period and of the one before.
#[derive(Clone, Copy, Debug, Default)]
pub struct Peak {
    since: u64,
    before: u64,
    now: u64,
}

impl Peak {
    /// The value is `value` at `now`; a period lasts `period` nanoseconds.
    pub fn add(&mut self, now: u64, value: u64, period: u64) {
        if now.saturating_sub(self.since) > period {
            (self.since, self.before, self.now) = (now, self.now, 0);
        }
        self.now = self.now.max(value);
    }

    /// The largest value of both periods.
    pub fn most(&self) -> u64 {
        self.before.max(self.now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_older_than_two_periods_are_forgotten() {
        let mut peak = Peak::default();
        for (at, value, most) in [(1, 50, 50), (5, 7, 50), (12, 20, 50), (14, 30, 50), (25, 25, 30)] {
            peak.add(at, value, 10);
            assert_eq!(peak.most(), most, "{at}");
        }
    }
}
