//! Time series of every sending subflow on a regular grid, decimated so that memory does not grow with the run.
//!
//! Sampling begins every millisecond. When [`LIMIT`] sample times are kept, every second one is dropped and the interval
//! doubles; so there are between half the limit and the limit, evenly spaced, from the beginning of the run.

/// Sample times kept at most.
pub const LIMIT: usize = 4096;

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
    /// Octets.
    pub cwnd: f64,
    /// Octets; infinite at first.
    pub ssthresh: f64,
    /// Seconds; NaN before the first sample.
    pub srtt: f64,
    /// Seconds.
    pub rto: f64,
    /// Octets.
    pub in_flight: u64,
    /// Octets that first arrived by this subflow.
    pub delivered: u64,
    /// Segments that came by this subflow and are held for reordering.
    pub ooo_buffer: u64,
    /// Their octets.
    pub ooo_buffer_bytes: u64,
}

/// All samples of a run, in order of time.
#[derive(Debug)]
pub struct Series {
    samples: Vec<Sample>,
    times: usize,
    interval: u64,
    next: u64,
}

impl Default for Series {
    fn default() -> Self {
        Self { samples: Vec::new(), times: 0, interval: FIRST_INTERVAL, next: 0 }
    }
}

impl Series {
    /// A series whose first sample is due at `at` nanoseconds, or just after it.
    pub fn starting(at: u64) -> Self {
        Self { next: at.next_multiple_of(FIRST_INTERVAL), ..Self::default() }
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

    /// Takes a sample of every subflow at the time that is due.
    pub fn take(&mut self, subflows: impl FnOnce(u64, &mut Vec<Sample>)) {
        let before = self.samples.len();
        subflows(self.next, &mut self.samples);
        if self.samples.len() > before {
            self.times += 1;
        }
        self.next += self.interval;
        if self.times > LIMIT {
            self.interval *= 2;
            let interval = self.interval;
            self.samples.retain(|s| s.at % interval == 0);
            let mut last = None;
            self.times = 0;
            for s in &self.samples {
                self.times += usize::from(last != Some(s.at));
                last = Some(s.at);
            }
            self.next = self.next.next_multiple_of(self.interval);
        }
    }
}
