//! A link whose transmissions are paced by a recorded trace, as mahimahi does (Netravali et al., USENIX ATC 2015).
//!
//! A trace lists milliseconds; at each one the link may carry 1500 octets. A packet leaves when the opportunities since it came
//! to the head of the queue add up to its length; small packets share one, a large one takes several. What an opportunity
//! leaves over when the queue is empty is lost. At its end the trace begins anew.

use std::sync::Arc;

/// Octets of one opportunity.
pub const OPPORTUNITY: u64 = 1500;

const MS: u64 = 1_000_000;

/// A trace and how far it is used.
#[derive(Clone, Debug)]
pub struct Opportunities {
    /// Milliseconds, in order; the last one is the length of the trace and not zero.
    stamps: Arc<[u64]>,
    /// The next opportunity, counted over all rounds.
    next: u64,
    /// Octets left of the one before, which are good at its time only.
    left: u64,
}

impl Opportunities {
    /// From the beginning of `stamps`, as validated by the scenario.
    pub fn new(stamps: Arc<[u64]>) -> Self {
        debug_assert!(stamps.is_sorted() && stamps.last().is_some_and(|&last| last > 0));
        Self { stamps, next: 0, left: 0 }
    }

    /// When opportunity `n` is, in nanoseconds.
    fn at(&self, n: u64) -> u64 {
        let len = self.stamps.len() as u64;
        let round = n / len * self.stamps[self.stamps.len() - 1];
        (round + self.stamps[(n % len) as usize]) * MS
    }

    /// Opportunities at or before `now`.
    pub fn until(&self, now: u64) -> u64 {
        let period = self.stamps[self.stamps.len() - 1] * MS;
        let (rounds, rest) = (now / period, now % period);
        rounds * self.stamps.len() as u64 + self.stamps.partition_point(|&s| s * MS <= rest) as u64
    }

    /// A packet of `octets` comes to the head of the queue at `now`; `idle`: nothing was there before it. Returns when its
    /// last octet leaves.
    pub fn transmit(&mut self, now: u64, octets: u32, idle: bool) -> u64 {
        if idle {
            self.left = 0;
            // Opportunities that passed while there was nothing to send are gone.
            let passed = self.until(now.saturating_sub(1));
            if now > 0 {
                self.next = self.next.max(passed);
            }
        }
        let mut need = u64::from(octets);
        let mut end = now;
        let from_last = need.min(self.left);
        need -= from_last;
        self.left -= from_last;
        while need > 0 {
            end = self.at(self.next);
            self.next += 1;
            let taken = need.min(OPPORTUNITY);
            need -= taken;
            self.left = OPPORTUNITY - taken;
        }
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(stamps: &[u64]) -> Opportunities {
        Opportunities::new(stamps.into())
    }

    /// ```text
    /// opportunities: 2 5 5 9 | 11 14 14 18 | 20 ...      (period 9 ms)
    /// ```
    #[test]
    fn full_packets_leave_at_the_stamps_and_the_trace_repeats() {
        let mut t = trace(&[2, 5, 5, 9]);
        let ends: Vec<u64> = (0..9)
            .scan(0, |now, i| {
                *now = t.transmit(*now, 1500, i == 0);
                Some(*now / MS)
            })
            .collect();
        assert_eq!(ends, [2, 5, 5, 9, 11, 14, 14, 18, 20]);
    }

    #[test]
    fn small_packets_share_an_opportunity_and_large_ones_take_two() {
        let mut t = trace(&[2, 5, 9]);
        assert_eq!(t.transmit(0, 700, true) / MS, 2);
        assert_eq!(t.transmit(2 * MS, 700, false) / MS, 2);
        // 100 octets are left, 1400 come with the next.
        assert_eq!(t.transmit(2 * MS, 1500, false) / MS, 5);
        assert_eq!(t.transmit(5 * MS, 1600, false) / MS, 9);
    }

    /// A packet that comes at 3 ms finds nothing of the opportunity at 2 ms, and one that comes at 30 ms none of the rounds
    /// before.
    #[test]
    fn what_is_not_used_is_lost() {
        let mut t = trace(&[2, 5, 9]);
        assert_eq!(t.transmit(0, 40, true) / MS, 2);
        assert_eq!(t.transmit(3 * MS, 1400, true) / MS, 5);
        // Rounds of 9 ms: 2 5 9 11 14 18 20 23 27 29 32.
        assert_eq!(t.transmit(30 * MS, 1400, true) / MS, 32);
        // At the very time of an opportunity it may be used.
        assert_eq!(t.transmit(36 * MS, 1500, true) / MS, 36);
    }

    #[test]
    fn opportunities_are_counted() {
        let t = trace(&[0, 2, 5, 5, 9]);
        let counted: Vec<u64> = (0..20).map(|ms| t.until(ms * MS)).collect();
        let by_hand: Vec<u64> = (0..20).map(|ms| (0..100).filter(|&n| t.at(n) <= ms * MS).count() as u64).collect();
        assert_eq!(counted, by_hand);
    }
}
