//! Growth and cut of the congestion window (rules 5.3, 5.4). Windows are real numbers in segments.
//!
//! w is the window of the subflow concerned, W the sum of the windows of all subflows. The papers call `RttCompensator`
//! "Coupled".

/// The model's four congestion controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Controller {
    /// Each subflow grows and is cut by itself.
    Uncoupled,
    /// Growth and cut in proportion to the sum.
    FullyCoupled,
    /// Growth by alpha over the sum.
    LinkedIncreases,
    /// Growth by alpha over the sum, but not more than a single flow would grow.
    RttCompensator,
}

/// What the computation of alpha uses of a subflow.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// Smoothed window. It is zero, so that the subflow does not count, until it has grown in congestion avoidance.
    pub smoothed: f64,
    /// Smoothed round-trip time in seconds.
    pub srtt: f64,
}

/// Rule 5.3: (sum s) max(s / rtt^2) / (sum s / rtt)^2.
pub fn alpha(shares: impl Iterator<Item = Share>) -> f64 {
    let (mut sum, mut best, mut rate) = (0.0, 0.0_f64, 0.0);
    for Share { smoothed, srtt } in shares {
        sum += smoothed;
        best = best.max(smoothed / (srtt * srtt));
        rate += smoothed / srtt;
    }
    sum * best / (rate * rate)
}

impl Controller {
    /// Whether growth depends on alpha.
    pub fn uses_alpha(self) -> bool {
        matches!(self, Self::LinkedIncreases | Self::RttCompensator)
    }

    /// Rule 5.3: growth at one acknowledgement in congestion avoidance.
    pub fn growth(self, window: f64, total: f64, alpha: f64) -> f64 {
        match self {
            Self::Uncoupled => 1.0 / window,
            Self::FullyCoupled => 1.0 / total,
            Self::LinkedIncreases => alpha / total,
            Self::RttCompensator => (alpha / total).min(1.0 / window),
        }
    }

    /// Rule 5.4: the window after a cut, by duplicates or timeout alike.
    pub fn cut(self, window: f64, total: f64) -> f64 {
        let cut = match self {
            Self::FullyCoupled => window - total / 2.0,
            _ => window / 2.0,
        };
        cut.max(1.0)
    }
}
