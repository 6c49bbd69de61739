//! Clocks that step back. The times in a capture are those of a host's clock, which may be set while the capture is being
//! taken. Captures may also have been concatenated in the wrong order.
//!
//! A record that is a little earlier than the one before it on the same interface was written out of order, and keeps its
//! time. After a larger step back the interface's times continue from the last one, so later records are measured as if the
//! clock had not been set. A step forward cannot be told from silence and is left as it is.

/// A step back by more than this (0.1 s, in nanoseconds) means that the clock was set, not that records are out of order.
const STEP: u64 = 100_000_000;

/// Later times count as this one, in the year 2116, in nanoseconds since the epoch: sums of times then fit in 64 bits.
const LATEST: u64 = 1 << 62;

/// One interface's clock.
#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    /// The latest time returned.
    latest: u64,
    /// What is added to the record's times: the sum of all steps back.
    ahead: u64,
}

/// The clocks of a file, by interface.
#[derive(Clone, Debug, Default)]
pub struct Clocks {
    clocks: Vec<Clock>,
    /// Records earlier than one before them on their interface.
    pub earlier: u64,
    /// How many of these were steps of the clock.
    pub steps: u64,
    /// The largest step, nanoseconds.
    pub largest: u64,
}

impl Clocks {
    /// The corrected time of a record of `interface` whose time is `time`.
    #[inline]
    pub fn steady(&mut self, interface: u32, time: u64) -> u64 {
        let i = interface as usize;
        if self.clocks.len() <= i {
            self.clocks.resize(i + 1, Clock::default());
        }
        let clock = &mut self.clocks[i];
        let now = time.saturating_add(clock.ahead).min(LATEST);
        if now >= clock.latest {
            clock.latest = now;
            return now;
        }
        self.earlier += 1;
        let back = clock.latest - now;
        if back <= STEP {
            return now;
        }
        clock.ahead += back;
        self.steps += 1;
        self.largest = self.largest.max(back);
        clock.latest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    /// Ten seconds back at the fourth record: it counts as the third's time, and the fifth is a second later.
    #[test]
    fn after_a_step_back_time_goes_on_from_the_last_record() {
        let mut c = Clocks::default();
        let times: Vec<u64> = [100, 101, 102, 92, 93].into_iter().map(|t| c.steady(0, t * S)).collect();
        assert_eq!(times, [100, 101, 102, 102, 103].map(|t| t * S));
        assert_eq!((c.earlier, c.steps, c.largest), (1, 1, 10 * S));
    }

    #[test]
    fn records_in_the_wrong_order_keep_their_times() {
        let mut c = Clocks::default();
        let times: Vec<u64> = [5 * S, 5 * S - 1000, 5 * S + 1000].into_iter().map(|t| c.steady(0, t)).collect();
        assert_eq!(times, [5 * S, 5 * S - 1000, 5 * S + 1000]);
        assert_eq!((c.earlier, c.steps), (1, 0));
    }

    #[test]
    fn each_interface_has_a_clock_of_its_own_and_no_time_is_too_late_to_add_to() {
        let mut c = Clocks::default();
        assert_eq!((c.steady(1, 9 * S), c.steady(0, S)), (9 * S, S));
        assert_eq!(c.steady(0, u64::MAX), LATEST);
        assert_eq!((c.steady(0, 0), c.steady(0, u64::MAX)), (LATEST, LATEST));
        assert_eq!((c.earlier, c.steps), (1, 1));
    }
}
