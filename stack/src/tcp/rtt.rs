//! Round-trip time and retransmission timeout (RFC 6298).
//!
//! With a sample on every acknowledgement the gains of RFC 6298 would forget a round trip's history within a fraction of
//! it; RFC 7323 appendix G therefore divides them by the number of samples expected per round trip. Which samples are
//! valid (Karn's rule, RFC 6298 3) is the sender's business.

use crate::config::Config;
use crate::time::Duration;

/// The estimator and the timeout of one subflow.
#[derive(Clone, Debug)]
pub struct Rtt {
    srtt: Option<u64>,
    rttvar: u64,
    rto: u64,
    min_rto: u64,
    max_rto: u64,
}

/// RFC 6298 2: clock granularity G. The engine's clock counts nanoseconds; 1 ms keeps the variance term from vanishing.
const GRANULARITY: u64 = 1_000_000;

impl Rtt {
    /// Before the first sample (RFC 6298 2.1).
    pub fn new(config: &Config) -> Self {
        Self {
            srtt: None,
            rttvar: 0,
            rto: config.initial_rto.0.clamp(config.min_rto.0, config.max_rto.0),
            min_rto: config.min_rto.0,
            max_rto: config.max_rto.0,
        }
    }

    /// A valid sample; `expected` samples come per round trip (at least 1).
    pub fn sample(&mut self, rtt: Duration, expected: u64) {
        let r = rtt.0.max(1);
        match self.srtt {
            None => {
                // RFC 6298 2.2
                self.srtt = Some(r);
                self.rttvar = r / 2;
            }
            Some(srtt) => {
                // RFC 6298 2.3 with alpha = 1/8 and beta = 1/4, both over `expected` (RFC 7323 appendix G).
                let n = expected.max(1) as i64;
                let error = r as i64 - srtt as i64;
                let deviation = error.abs() - self.rttvar as i64;
                self.rttvar = (self.rttvar as i64 + deviation / (4 * n)) as u64;
                self.srtt = Some((srtt as i64 + error / (8 * n)) as u64);
            }
        }
        // RFC 6298 2.2, 2.3, 2.4, 2.5; this also ends any back-off (5.7's note on Karn).
        let rto = self.srtt.unwrap_or(r) + (4 * self.rttvar).max(GRANULARITY);
        self.rto = rto.clamp(self.min_rto, self.max_rto);
    }

    /// Smoothed round-trip time, after the first sample.
    #[inline]
    pub fn srtt(&self) -> Option<Duration> {
        self.srtt.map(Duration)
    }

    /// The timeout in force, back-off included.
    #[inline]
    pub fn rto(&self) -> Duration {
        Duration(self.rto)
    }

    /// RFC 6298 5.5: back off the timer.
    pub fn back_off(&mut self) {
        self.rto = (self.rto * 2).min(self.max_rto);
    }

    /// RFC 6298 5.7: the timer expired on a SYN; data transmission begins with 3 s (if no sample says otherwise).
    pub fn after_lost_syn(&mut self) {
        self.rto = 3_000_000_000_u64.clamp(self.min_rto, self.max_rto);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(min_ms: u64) -> Config {
        Config { min_rto: Duration::from_millis(min_ms), ..Config::default() }
    }

    /// RFC 6298 2.1-2.3 by hand: 100 ms, then 180 ms.
    #[test]
    fn the_first_two_samples_by_hand() {
        let mut rtt = Rtt::new(&config(1));
        assert_eq!(rtt.rto(), Duration::from_secs(1));
        rtt.sample(Duration::from_millis(100), 1);
        assert_eq!(rtt.rto(), Duration::from_millis(300)); // 100 + 4 * 50
        rtt.sample(Duration::from_millis(180), 1);
        // RTTVAR = 3/4 * 50 + 1/4 * 80 = 57.5; SRTT = 7/8 * 100 + 1/8 * 180 = 110
        assert_eq!(rtt.srtt(), Some(Duration::from_millis(110)));
        assert_eq!(rtt.rto(), Duration::from_millis(340));
    }

    #[test]
    fn the_timeout_stays_within_its_bounds_and_backs_off() {
        let mut rtt = Rtt::new(&config(200));
        rtt.sample(Duration::from_millis(1), 1);
        assert_eq!(rtt.rto(), Duration::from_millis(200));
        for _ in 0..20 {
            rtt.back_off();
        }
        assert_eq!(rtt.rto(), Config::default().max_rto);
        rtt.sample(Duration::from_millis(1), 1);
        assert_eq!(rtt.rto(), Duration::from_millis(200));
    }

    #[test]
    fn a_lost_syn_makes_the_timeout_three_seconds() {
        let mut rtt = Rtt::new(&config(200));
        rtt.back_off();
        rtt.after_lost_syn();
        assert_eq!(rtt.rto(), Duration::from_secs(3));
    }
}
