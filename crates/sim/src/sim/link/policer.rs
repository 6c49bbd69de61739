//! The key `policer` of a link: a token bucket in front of the queue (RFC 2697 calls it a meter
//! with one rate and one burst).
//!
//! The bucket is full at the start. It fills with the rate and holds at most the burst. A packet
//! that has no more octets than the bucket has tokens takes its octets out; any other packet is
//! dropped and takes nothing.

use anabranch_scenario::Direction;

/// Tokens are counted in bits and billionths of a bit, so that any time and rate give a whole
/// number of them.
const BIT: u128 = 1_000_000_000;

/// A token bucket.
#[derive(Debug)]
pub(super) struct Policer {
    /// bit/s.
    rate: u64,
    /// In billionths of a bit.
    burst: u128,
    /// In billionths of a bit.
    tokens: u128,
    /// When `tokens` was counted, in nanoseconds.
    since: u64,
}

impl Policer {
    /// The token bucket of a direction, if it has one.
    pub fn new(config: &Direction) -> Option<Self> {
        let part = |part| config.more.get("policer", part)?.whole();
        let (rate, burst) = (part("rate")?, u128::from(part("burst")?) * 8 * BIT);
        Some(Self { rate, burst, tokens: burst, since: 0 })
    }

    /// True if a packet of `octets` at `now` passes, which takes its tokens.
    pub fn passes(&mut self, now: u64, octets: u32) -> bool {
        self.tokens = (self.tokens + u128::from(now - self.since) * u128::from(self.rate)).min(self.burst);
        self.since = now;
        let needed = u128::from(octets) * 8 * BIT;
        let enough = needed <= self.tokens;
        if enough {
            self.tokens -= needed;
        }
        enough
    }
}
