//! Clocks that step back. A capture's times are those of a host's clock, which somebody may set while the capture goes on; and
//! captures may have been put together in the wrong order.
//!
//! A record that is a little earlier than the one before on its interface was written in the wrong order, and keeps its
//! time. After a larger step the interface's times go on from the last one, so that what follows is measured as if the
//! clock had not been set. Steps forward look like silence and are left as they are.

/// A step back by more than this is no disorder of records: a tenth of a second, in nanoseconds.
const STEP: u64 = 100_000_000;

/// No time is later, 2116 in nanoseconds since the epoch: sums of times fit in 64 bits.
const LATEST: u64 = 1 << 62;

/// One interface's clock.
#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    latest: u64,
    ahead: u64,
}

/// The clocks of a file, by interface.
#[derive(Clone, Debug, Default)]
pub struct Clocks {
    clocks: Vec<Clock>,
    /// Records earlier than one before them on their interface.
    pub earlier: u64,
    /// Of these, steps of the clock.
    pub steps: u64,
    /// The largest step, nanoseconds.
    pub largest: u64,
}

impl Clocks {
    /// The time that counts for a record of `interface` with the time `time`.
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
