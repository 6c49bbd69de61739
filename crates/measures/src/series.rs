//! Time series of every sending subflow on a regular grid, decimated so that memory does not grow with the run.
//!
//! Sampling begins with one sample a millisecond. When [`LIMIT`] sample times are kept, every second one is dropped and the
//! interval doubles. So there are between half the limit and the limit of them, evenly spaced, from the beginning of the run.
//! With thousands of subflows there are fewer times: then the number of samples is limited, to [`SAMPLES`].

/// Sample times kept at most.
pub const LIMIT: usize = 4096;

/// Samples kept at most, of all subflows together: 23 MB. From 64 subflows on this limit is reached first.
pub const SAMPLES: usize = LIMIT * 64;

/// At least so many sample times are kept, however many subflows there are.
const FEW: usize = 32;

const FIRST_INTERVAL: u64 = 1_000_000;

/// The state of one subflow at one time.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Nanoseconds.
    pub at: u64,
    /// Index of the connection.
    pub connection: u32,
    /// Index of the subflow.
    pub subflow: u32,
    /// Congestion window in octets.
    pub cwnd: f64,
    /// Slow-start threshold in octets; infinite at first.
    pub ssthresh: f64,
    /// Smoothed round-trip time in seconds; NaN before the first sample.
    pub srtt: f64,
    /// How many samples of the round-trip time went into `srtt` so far.
    pub rtt_samples: u64,
    /// Retransmission timeout in seconds.
    pub rto: f64,
    /// Octets in flight.
    pub in_flight: u64,
    /// Octets of the data stream that arrived on this subflow first.
    pub delivered: u64,
    /// Segments that arrived on this subflow and are held for reordering.
    pub ooo_buffer: u64,
    /// Octets of those segments.
    pub ooo_buffer_bytes: u64,
}

/// All samples of a run, in order of time.
#[derive(Clone, Debug)]
pub struct Series {
    samples: Vec<Sample>,
    times: usize,
    limit: usize,
    interval: u64,
    next: u64,
}

impl Default for Series {
    fn default() -> Self {
        Self { samples: Vec::new(), times: 0, limit: LIMIT, interval: FIRST_INTERVAL, next: 0 }
    }
}

impl Series {
    /// A series whose first sample is due at `at` nanoseconds, or just after it.
    pub fn starting(at: u64) -> Self {
        Self { next: at.next_multiple_of(FIRST_INTERVAL), ..Self::default() }
    }

    /// A series of no samples: none is ever due.
    pub fn none() -> Self {
        Self { next: u64::MAX, ..Self::default() }
    }

    /// From now on up to `times` sample times are kept, which is an even number. The present interval does not become shorter.
    pub fn keep(&mut self, times: usize) {
        self.limit = times;
    }

    /// When the next sample is due, in nanoseconds.
    #[inline]
    pub fn due(&self) -> u64 {
        self.next
    }

    /// The samples.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// Takes a sample of every subflow at the time that is due; returns whether there was any.
    pub fn take(&mut self, subflows: impl FnOnce(u64, &mut Vec<Sample>)) -> bool {
        let before = self.samples.len();
        subflows(self.next, &mut self.samples);
        let there = self.samples.len() > before;
        self.times += usize::from(there);
        self.next = self.next.saturating_add(self.interval);
        if self.times > self.limit || (self.samples.len() > SAMPLES && self.times > FEW) {
            self.interval *= 2;
            let interval = self.interval;
            self.samples.retain(|s| s.at % interval == 0);
            let mut last = None;
            self.times = 0;
            for s in &self.samples {
                self.times += usize::from(last != Some(s.at));
                last = Some(s.at);
            }
            self.next = self.next.checked_next_multiple_of(self.interval).unwrap_or(u64::MAX);
        }
        there
    }

    /// There is no subflow to sample: sample times up to `until` are skipped.
    pub fn skip(&mut self, until: u64) {
        let after = until.saturating_add(1).checked_next_multiple_of(self.interval).unwrap_or(u64::MAX);
        self.next = self.next.max(after);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(subflows: u32, ms: u64) -> Series {
        let mut series = Series::default();
        while series.due() <= ms * 1_000_000 {
            series.take(|at, out| {
                out.extend((0..subflows).map(|subflow| Sample {
                    at,
                    connection: 0,
                    subflow,
                    cwnd: 1.0,
                    ssthresh: 1.0,
                    srtt: 1.0,
                    rtt_samples: 1,
                    rto: 1.0,
                    in_flight: 0,
                    delivered: 0,
                    ooo_buffer: 0,
                    ooo_buffer_bytes: 0,
                }));
            });
        }
        series
    }

    #[test]
    fn a_time_without_subflows_is_skipped_and_the_grid_stays() {
        let mut series = Series::default();
        assert!(!series.take(|_, _| ()));
        series.skip(5_499_999);
        assert_eq!(series.due(), 6_000_000);
        series.skip(6_000_000);
        assert_eq!(series.due(), 7_000_000);
        series.skip(3_000_000);
        assert_eq!(series.due(), 7_000_000);
        series.skip(u64::MAX);
        assert_eq!(series.due(), u64::MAX);
    }

    #[test]
    fn a_series_keeps_to_its_limits_whatever_the_number_of_subflows() {
        for (subflows, most) in [(1, LIMIT), (64, LIMIT), (100, 2622), (1000, 263), (20_000, FEW)] {
            let series = taken(subflows, 8_000);
            let times = series.samples().len() / subflows as usize;
            assert!(times <= most && times > most / 3, "{subflows} subflows, {times} times");
            let at: Vec<u64> = series.samples().iter().step_by(subflows as usize).map(|s| s.at).collect();
            assert!(at.windows(2).all(|w| w[1] - w[0] == at[1]), "an even grid from the beginning");
            assert!(*at.last().unwrap() > 7_000_000_000);
        }
    }
}
