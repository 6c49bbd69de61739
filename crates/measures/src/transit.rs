//! What became of datagrams: how long they took, how much that varied, how many never came.

use super::reorder::Delays;

/// The account of a flow of datagrams.
#[derive(Clone, Debug, Default)]
pub struct Transit {
    delays: Delays,
    last: Option<u64>,
    /// Sum of the differences from one arrival to the next, in nanoseconds, and how many.
    differences: (u64, u64),
}

impl Transit {
    /// A datagram arrived `delay` nanoseconds after it was sent.
    pub fn arrive(&mut self, delay: u64) {
        self.delays.add(delay);
        if let Some(last) = self.last.replace(delay) {
            self.differences.0 += last.abs_diff(delay);
            self.differences.1 += 1;
        }
    }

    /// The delay in seconds below which the share `p` of the datagrams stayed.
    pub fn quantile(&self, p: f64) -> Option<f64> {
        self.delays.quantile(p)
    }

    /// Mean in seconds of |D(i-1, i)| of RFC 3550 6.4.1, the difference of the transit times of one arrival and the next.
    pub fn jitter(&self) -> Option<f64> {
        let (sum, n) = self.differences;
        (n > 0).then(|| sum as f64 / n as f64 / 1e9)
    }
}
