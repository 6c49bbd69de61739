//! Growth and cut of the congestion window (rules 5.3, 5.4). Windows are real numbers in segments.
//!
//! w is the window of the subflow concerned, W the sum of the windows of all subflows. The papers call `RttCompensator`
//! "Coupled".

use super::Controller;

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

/// True if the growth of the window under `controller` depends on alpha (rule 5.3).
pub fn uses_alpha(controller: Controller) -> bool {
    matches!(controller, Controller::LinkedIncreases | Controller::RttCompensator)
}

/// Returns the growth of the window, in segments, at one ACK in congestion avoidance (rule 5.3).
pub fn growth(controller: Controller, window: f64, total: f64, alpha: f64) -> f64 {
    match controller {
        Controller::Uncoupled => 1.0 / window,
        Controller::FullyCoupled => 1.0 / total,
        Controller::LinkedIncreases => alpha / total,
        Controller::RttCompensator => (alpha / total).min(1.0 / window),
    }
}

/// Returns the window, in segments, after the third duplicate ACK or a timeout (rule 5.4).
pub fn cut(controller: Controller, window: f64, total: f64) -> f64 {
    let cut = match controller {
        Controller::FullyCoupled => window - total / 2.0,
        _ => window / 2.0,
    };
    cut.max(1.0)
}
