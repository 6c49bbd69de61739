//! How rate and delay of a link vary by themselves: over low satellites, over a cellular network.

use anabranch_stack::time::Duration;

/// What a direction of a link does by itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Weather {
    /// A link over low satellites.
    Leo(Leo),
    /// A link over a cellular network.
    Cellular(Cellular),
}

/// How rates are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The rate is normally distributed.
    Normal,
    /// Its logarithm is.
    LogNormal,
}

/// The rate of a direction: random, and more or less like what it was before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Its distribution.
    pub shape: Shape,
    /// Median in bit/s.
    pub median: u64,
    /// Standard deviation of its logarithm, or of itself as a share of the median.
    pub sigma: f64,
    /// Correlation from one step to the next, 0 to 1.
    pub correlation: f64,
    /// Never below this, in bit/s.
    pub least: u64,
    /// Never above this, in bit/s.
    pub most: u64,
    /// Relative standard deviation of the fast part.
    pub ripple: f64,
}

/// A random length of time: log-normal, by median and 95th or 90th percentile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spell {
    /// Median.
    pub median: Duration,
    /// Standard deviation of its logarithm.
    pub sigma: f64,
}

/// Times at which nothing passes, such as behind a bridge. What waits goes on waiting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outages {
    /// Mean number in an hour.
    pub per_hour: f64,
    /// How long each is.
    pub length: Spell,
}

/// What happens when the satellite changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// Probability that there is one at a boundary.
    pub chance: f64,
    /// How long before the boundary it begins.
    pub before: Duration,
    /// How long nothing passes.
    pub length: Spell,
    /// Probability that what is sent then is lost; else it is held to the end.
    pub loss: f64,
    /// After the gap: what is sent in this time arrives at its end, all at once.
    pub hold: Duration,
}

/// One direction of a link over low satellites.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leo {
    /// From one slot to the next; `ripple` is from second to second within a slot.
    pub rate: Rate,
    /// Length of a slot.
    pub slot: Duration,
    /// The first boundary: slots begin at this time of each run, and every `slot` from there.
    pub phase: Duration,
    /// Least round-trip time over the satellite.
    pub rtt: Duration,
    /// A slot adds up to this, uniformly.
    pub step: Duration,
    /// Probability that a slot keeps what the one before had added.
    pub stay: f64,
    /// Within a slot the round-trip time drifts by up to this, up or down.
    pub slope: Duration,
    /// Mean of the exponential noise of the round-trip time.
    pub jitter: Duration,
    /// How often the noise is drawn.
    pub jitter_interval: Duration,
    /// The share of the round-trip time that is this direction's.
    pub share: f64,
    /// At the boundary of slots.
    pub gap: Gap,
    /// After a gap the round-trip time is higher, by 3/4 to 5/4 of this, and falls back within half a second.
    pub surge: Duration,
    /// Obstructions.
    pub outages: Outages,
}

/// One direction of a link over a cellular network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cellular {
    /// From second to second; `ripple` is from `coherence` to `coherence`.
    pub rate: Rate,
    /// The share of the variance of the rate's logarithm that the correlation is of; the rest is new each second.
    pub slow: f64,
    /// How long the fast part of the rate lasts.
    pub coherence: Duration,
    /// Data is sent in blocks, one in each such interval.
    pub interval: Duration,
    /// Probability that a transmission of a block fails.
    pub block_error: f64,
    /// From a failed transmission of a block to the next one.
    pub harq: Duration,
    /// Transmissions of a block after the first; if all fail, the layer above sends it again.
    pub harq_tries: u32,
    /// What that takes.
    pub rlc: Duration,
    /// With an empty buffer: from a packet to the grant for it, and up to `grant_period` more, until the next time to ask.
    pub grant: Duration,
    /// How often a grant may be asked for.
    pub grant_period: Duration,
    /// After so long without data the receiver sleeps.
    pub sleep_after: Duration,
    /// A packet then waits up to this long.
    pub sleep: Duration,
    /// Mean time between changes of cell; zero: never.
    pub handover: Duration,
    /// Standard deviation of the change of the rate's logarithm at a change of cell.
    pub jump: f64,
    /// How long a change of cell takes.
    pub gap: Spell,
    /// Probability that what is sent meanwhile is lost; else it waits.
    pub gap_loss: f64,
    /// Probability that a change of cell fails, and the link is set up again in 0.3 to 1 s.
    pub failure: f64,
    /// Times without service.
    pub outages: Outages,
}
