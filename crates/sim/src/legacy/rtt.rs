//! Round-trip time and retransmission timeout (rule 5.5).
//!
//! The estimator of early ns-3, with the gains that the model sets. Its lower bound of 0.2 s is an attribute that is never
//! applied in the way the model creates the object, so there is none. The only upper bound is that of the multiplier.

use std::collections::VecDeque;

/// Gain of the mean and of the mean deviation.
const GAIN: f64 = 0.1;
/// Round-trip time before the first sample, in seconds.
const INITIAL: f64 = 1.5;
/// Largest multiplier of the timeout.
const MOST: u32 = 64;

/// Estimator of one subflow.
#[derive(Clone, Debug)]
pub struct Rtt {
    mean: f64,
    deviation: f64,
    samples: u64,
    multiplier: u32,
    /// Segments that may give a sample: sequence number after the segment, time of sending. Oldest first.
    history: VecDeque<(u64, u64)>,
}

impl Default for Rtt {
    fn default() -> Self {
        Self { mean: INITIAL, deviation: 0.0, samples: 0, multiplier: 1, history: VecDeque::new() }
    }
}

impl Rtt {
    /// A segment that ends before `end` is sent for the first time.
    pub fn on_sent(&mut self, now: u64, end: u64) {
        self.history.push_back((end, now));
    }

    /// The segment that ends before `end` is sent again: it gives no sample (Karn).
    pub fn on_retransmitted(&mut self, end: u64) {
        let i = self.history.partition_point(|(e, _)| *e < end);
        if self.history.get(i).is_some_and(|(e, _)| *e == end) {
            self.history.remove(i);
        }
    }

    /// Everything before `ack` is acknowledged: one sample, of the oldest segment.
    pub fn on_ack(&mut self, now: u64, ack: u64) {
        if let Some((end, sent)) = self.history.front().copied() {
            if end <= ack {
                self.sample((now - sent) as f64 / 1e9);
                self.multiplier = 1;
            }
        }
        while self.history.front().is_some_and(|(end, _)| *end <= ack) {
            self.history.pop_front();
        }
    }

    fn sample(&mut self, measured: f64) {
        if self.samples > 0 {
            let error = measured - self.mean;
            self.mean += GAIN * error;
            self.deviation += GAIN * (error.abs() - self.deviation);
        } else {
            (self.mean, self.deviation) = (measured, measured);
        }
        self.samples += 1;
    }

    /// Rule 5.4: a cut doubles the multiplier.
    pub fn back_off(&mut self) {
        self.multiplier = (2 * self.multiplier).min(MOST);
    }

    /// Smoothed round-trip time in seconds: 1.5 before the first sample.
    pub fn srtt(&self) -> f64 {
        self.mean
    }

    /// Samples so far.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Timeout in nanoseconds.
    pub fn timeout(&self) -> u64 {
        let once = if self.deviation < self.mean / 4.0 { 2.0 * self.mean } else { self.mean + 4.0 * self.deviation };
        ((f64::from(self.multiplier) * once * 1e9).round() as u64).max(1)
    }
}
