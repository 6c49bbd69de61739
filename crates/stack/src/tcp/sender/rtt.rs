//! Round-trip time and retransmission timeout (RFC 6298).
//!
//! Every acknowledgement that gives a valid sample is used, with the gains of RFC 6298. RFC 7323 appendix G would divide the
//! gains by the expected samples per round trip. The estimate would then lag by many round trips: while slow start fills a deep
//! queue (a 20 ms path that grows to 2.4 s), the timeout would fall below the true round-trip time. The sender decides which
//! samples are valid (Karn's rule, RFC 6298 3).

use crate::config::{Config, RtoFloor};
use crate::time::Duration;

/// The estimator and the timeout of one subflow.
#[derive(Clone, Debug)]
pub struct Rtt {
    srtt: Option<u64>,
    rttvar: u64,
    samples: u64,
    rto: u64,
    min_rto: u64,
    max_rto: u64,
    /// The least variance term.
    least: u64,
}

/// Clock granularity G of RFC 6298 2, 4: the minimum of the variance term. Section 4 finds 100 ms or less good. This is the largest
/// such value, because with a steady round-trip time the term must still cover the peer's delayed acknowledgement.
const GRANULARITY: u64 = 100_000_000;

/// One tick of the timestamp clock: G in RFC 4015.
const CLOCK_TICK: u64 = 1_000_000;

impl Rtt {
    /// State before the first sample (RFC 6298 2.1).
    pub fn new(config: &Config) -> Self {
        Self {
            srtt: None,
            rttvar: 0,
            samples: 0,
            rto: config.initial_rto.0.clamp(config.min_rto.0, config.max_rto.0),
            min_rto: config.min_rto.0,
            max_rto: config.max_rto.0,
            least: match config.rto_floor {
                RtoFloor::Timeout => GRANULARITY,
                RtoFloor::Variance => config.min_rto.0,
            },
        }
    }

    /// Takes a valid sample.
    #[inline(always)]
    pub fn sample(&mut self, rtt: Duration) {
        let r = rtt.0.max(1);
        self.samples += 1;
        match self.srtt {
            None => {
                // RFC 6298 2.2: the first sample.
                self.srtt = Some(r);
                self.rttvar = r / 2;
            }
            Some(srtt) => {
                // RFC 6298 2.3: beta = 1/4, then alpha = 1/8.
                let error = r as i64 - srtt as i64;
                self.rttvar = (self.rttvar as i64 + (error.abs() - self.rttvar as i64) / 4) as u64;
                self.srtt = Some((srtt as i64 + error / 8) as u64);
            }
        }
        // RFC 6298 2.2, 2.3, 2.4, 2.5. This also ends any back-off (note on Karn in 5.7).
        self.update();
    }

    /// Smoothed round-trip time; `None` before the first sample.
    #[inline]
    pub fn srtt(&self) -> Option<Duration> {
        self.srtt.map(Duration)
    }

    /// Round-trip time variation; zero before the first sample.
    #[inline]
    pub fn rttvar(&self) -> Duration {
        Duration(self.rttvar)
    }

    /// Valid samples so far.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Current timeout, including back-off.
    #[inline]
    pub fn rto(&self) -> Duration {
        Duration(self.rto)
    }

    /// Current timeout, doubled `times` times (RFC 9293 3.8.6.1: intervals of zero-window probes grow exponentially).
    pub fn rto_after(&self, times: u32) -> Duration {
        Duration((self.rto << times.min(20)).min(self.max_rto))
    }

    /// SRTT_prev and RTTVAR_prev, which RFC 4015 3.2 step (0) stores before the back-off of a timeout.
    pub fn saved(&self) -> (u64, u64) {
        (self.srtt.unwrap_or(0) + 2 * CLOCK_TICK, self.rttvar)
    }

    /// RFC 4015 3.2, last step: makes the timer conservative after a spurious timeout.
    pub fn adapt(&mut self, saved: (u64, u64), sample: Duration) {
        self.srtt = Some(saved.0.max(sample.0));
        self.rttvar = saved.1.max(sample.0 / 2);
        self.update();
    }

    fn update(&mut self) {
        // RFC 6298 2.2, 2.3, 2.4, 2.5: SRTT plus the variance term, of at least G, within the bounds.
        let rto = self.srtt.unwrap_or(0) + (4 * self.rttvar).max(self.least);
        self.rto = rto.clamp(self.min_rto, self.max_rto);
    }

    /// RFC 6298 5.5: backs off the timer.
    pub fn back_off(&mut self) {
        self.rto = (self.rto * 2).min(self.max_rto);
    }

    /// RFC 6298 5.7: the timer expired on a SYN. Data transmission begins with a timeout of 3 s, until data gives a sample.
    pub fn after_lost_syn(&mut self) {
        self.rto = 3_000_000_000_u64.clamp(self.min_rto, self.max_rto);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(min_ms: u64) -> Config {
        Config { min_rto: Duration::from_millis(min_ms), ..Config::classic() }
    }

    /// RFC 6298 2.1-2.3 by hand: 100 ms, then 180 ms.
    #[test]
    fn the_first_two_samples_by_hand() {
        let mut rtt = Rtt::new(&config(1));
        assert_eq!(rtt.rto(), Duration::from_secs(1));
        rtt.sample(Duration::from_millis(100));
        assert_eq!(rtt.rto(), Duration::from_millis(300)); // 100 + 4 * 50
        rtt.sample(Duration::from_millis(180));
        // RTTVAR = 3/4 * 50 + 1/4 * 80 = 57.5; SRTT = 7/8 * 100 + 1/8 * 180 = 110
        assert_eq!(rtt.srtt(), Some(Duration::from_millis(110)));
        assert_eq!(rtt.samples(), 2);
        assert_eq!(rtt.rto(), Duration::from_millis(340));
    }

    /// RFC 6298 4: however steady the round trip, the variance term is G, here 100 ms: 1000 + 100.
    #[test]
    fn a_steady_round_trip_leaves_the_granularity() {
        let mut rtt = Rtt::new(&config(200));
        (0..100).for_each(|_| rtt.sample(Duration::from_secs(1)));
        assert!(rtt.rttvar() < Duration::from_millis(1));
        assert_eq!(rtt.rto(), Duration::from_millis(1100));
    }

    #[test]
    fn the_timeout_stays_within_its_bounds_and_backs_off() {
        let mut rtt = Rtt::new(&config(200));
        rtt.sample(Duration::from_millis(1));
        assert_eq!(rtt.rto(), Duration::from_millis(200));
        for _ in 0..20 {
            rtt.back_off();
        }
        assert_eq!(rtt.rto(), Config::classic().max_rto);
        rtt.sample(Duration::from_millis(1));
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
