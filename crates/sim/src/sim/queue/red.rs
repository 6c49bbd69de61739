//! Random Early Detection (Floyd and Jacobson, "Random Early Detection Gateways for Congestion Avoidance", 1993), with the
//! "gentle" slope above the upper threshold (Floyd 2000).
//!
//! The average queue is an exponential mean over arrivals; over an idle time it falls as if so many packets had come to an
//! empty queue as could have been transmitted. Between the thresholds a packet is marked or dropped with a probability that
//! grows with the average and with the packets since the last one, so that drops are spread evenly. ECN-capable packets are
//! marked below the upper threshold and dropped above it (RFC 3168 7).

use crate::sim::rng::Rng;
use anabranch_scenario::RedParameters;

/// What to do with a packet that comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing.
    Pass,
    /// Mark it.
    Mark,
    /// Drop it.
    Drop,
}

/// The state of one queue.
#[derive(Debug)]
pub struct Red {
    p: RedParameters,
    /// Mean queue in packets.
    average: f64,
    /// Packets that passed since the last one marked or dropped, or since the average came above the lower threshold.
    count: u64,
    /// Nanoseconds since which the transmitter is idle.
    idle_since: Option<u64>,
    /// Nanoseconds a typical packet takes to transmit.
    packet_time: u64,
    rng: Rng,
}

impl Red {
    /// On a link of `rate` bit/s.
    pub fn new(p: RedParameters, rate: u64, rng: Rng) -> Self {
        // A typical packet of 1000 octets, as in the authors' simulations.
        let packet_time = (8_000_000_000_000 / rate.max(1)).max(1);
        Self { p, average: 0.0, count: 0, idle_since: Some(0), packet_time, rng }
    }

    /// The mean queue in packets.
    pub fn average(&self) -> f64 {
        self.average
    }

    /// The last packet left; the transmitter is idle.
    pub fn on_idle(&mut self, now: u64) {
        self.idle_since = Some(now);
    }

    /// A packet comes to an idle transmitter.
    pub fn on_arrival_idle(&mut self, now: u64, ect: bool) -> Verdict {
        let since = self.idle_since.take().unwrap_or(now);
        let packets = (now - since) / self.packet_time;
        self.average *= power(1.0 - self.p.weight, packets);
        let verdict = self.judge(ect);
        if verdict == Verdict::Drop {
            // The transmitter stays idle, and the average goes on falling from here.
            self.idle_since = Some(since + packets * self.packet_time);
        }
        verdict
    }

    /// A packet comes while `queue` packets wait.
    pub fn on_arrival(&mut self, queue: usize, ect: bool) -> Verdict {
        self.average += self.p.weight * (queue as f64 - self.average);
        self.judge(ect)
    }

    fn judge(&mut self, ect: bool) -> Verdict {
        let RedParameters { min, max, probability, .. } = self.p;
        if self.average < min {
            self.count = 0;
            return Verdict::Pass;
        }
        let above = self.average >= max;
        let base = if !above {
            probability * (self.average - min) / (max - min)
        } else {
            // Gentle: from `probability` at the upper threshold to one at twice that.
            probability + (1.0 - probability) * (self.average - max) / max
        };
        // Floyd and Jacobson, section 7: spread evenly, 1 to 1 / base packets apart.
        let spread = 1.0 - self.count as f64 * base;
        let chance = if spread > 0.0 { base / spread } else { 1.0 };
        if chance < 1.0 && !self.rng.chance(chance) {
            self.count += 1;
            return Verdict::Pass;
        }
        self.count = 0;
        if ect && !above { Verdict::Mark } else { Verdict::Drop }
    }
}

/// `base` to the power of `n` by multiplications alone, so that every machine gets the same number.
fn power(mut base: f64, mut n: u64) -> f64 {
    let mut result = 1.0;
    while n > 0 {
        if n & 1 == 1 {
            result *= base;
        }
        base *= base;
        n >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn red() -> Red {
        let p = RedParameters { min: 5.0, max: 15.0, probability: 0.1, weight: 0.002 };
        Red::new(p, 8_000_000, Rng::new(7, "test"))
    }

    /// Brings the average to the constant queue length.
    fn settled(queue: usize) -> Red {
        let mut red = red();
        (0..10_000).for_each(|_| {
            red.on_arrival(queue, false);
        });
        red
    }

    /// Section 7 of the paper: with a constant average and base probability p the gap between drops is uniform on 1 to 1/p,
    /// so its mean is (1/p + 1) / 2.
    #[test]
    fn gaps_between_drops_are_uniform() {
        // Half way between the thresholds: p = 0.05, gaps 1 to 20, mean 10.5.
        let mut red = settled(10);
        let (mut gaps, mut gap) = (Vec::new(), 0);
        while gaps.len() < 20_000 {
            gap += 1;
            if red.on_arrival(10, false) == Verdict::Drop {
                gaps.push(gap);
                gap = 0;
            }
        }
        let mean = f64::from(gaps.iter().sum::<u32>()) / gaps.len() as f64;
        // Standard error of a uniform gap over 20,000: 5.8 / 141 = 0.04; four of them.
        assert!((mean - 10.5).abs() < 0.17, "mean gap {mean}");
        assert!(*gaps.iter().max().unwrap() <= 21);
        let long = gaps.iter().filter(|&&g| g > 10).count() as f64 / gaps.len() as f64;
        assert!((long - 0.5).abs() < 0.02, "half of the gaps are long: {long}");
    }

    #[test]
    fn below_the_lower_threshold_everything_passes() {
        let mut red = settled(4);
        assert!((0..10_000).all(|_| red.on_arrival(4, false) == Verdict::Pass));
    }

    #[test]
    fn ecn_capable_packets_are_marked_between_the_thresholds_and_dropped_above() {
        let mut between = settled(10);
        let verdicts: Vec<_> = (0..1000).map(|_| between.on_arrival(10, true)).collect();
        assert!(verdicts.contains(&Verdict::Mark) && !verdicts.contains(&Verdict::Drop));
        let mut above = settled(20);
        let verdicts: Vec<_> = (0..1000).map(|_| above.on_arrival(20, true)).collect();
        assert!(verdicts.contains(&Verdict::Drop) && !verdicts.contains(&Verdict::Mark));
    }

    #[test]
    fn at_twice_the_upper_threshold_everything_is_dropped() {
        let mut red = settled(31);
        assert!((0..1000).all(|_| red.on_arrival(31, false) == Verdict::Drop));
    }

    /// Drops at an idle transmitter leave it idle: the average falls on, however close the packets come (here by half a
    /// packet's time), and they pass in the end.
    #[test]
    fn an_idle_time_goes_on_over_packets_that_are_dropped() {
        let mut red = settled(31);
        red.on_idle(0);
        let passes = (1..).find(|n| red.on_arrival_idle(n * 500_000, false) == Verdict::Pass).expect("one passes");
        // From 31 to below twice the upper threshold of 15 are ln(30/31) / ln(0.998) = 16.4 packets of 1 ms; from there on
        // packets pass by chance.
        assert!((34..200).contains(&passes), "{passes}");
        let expected = 31.0 * 0.998_f64.powi(passes as i32 / 2);
        assert!((red.average() - expected).abs() < 1e-6, "{} and {expected}", red.average());
    }

    /// The average after an idle time of m packet times is (1 - w)^m of what it was. 1000 octets at 8 Mbit/s take 1 ms.
    #[test]
    fn an_idle_time_lowers_the_average() {
        let mut red = settled(10);
        let before = red.average();
        red.on_idle(1_000_000_000);
        red.on_arrival_idle(1_500_000_000, false);
        let expected = before * 0.998_f64.powi(500);
        assert!((red.average() - expected).abs() < 1e-9, "{} and {expected}", red.average());
    }
}
