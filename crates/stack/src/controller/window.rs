//! State and rules common to all controllers: congestion window, slow-start threshold, and the parts of RFC 5681 that all use.

use super::{AckSample, Adjust, Cause, Congestion};
use crate::registry::Setup;

/// Congestion window and slow-start threshold of one subflow, in octets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Congestion window in octets, a real number, so that increases of less than an octet add up; never below one segment.
    pub cwnd: f64,
    /// Slow-start threshold in octets, arbitrarily high at first (RFC 5681 3.1).
    pub ssthresh: f64,
    /// Full-sized segment in octets (SMSS).
    pub mss: f64,
    /// Initial window in octets.
    pub initial: f64,
    /// What siblings see as [`Path::vegas_rate`](super::Path::vegas_rate).
    pub vegas_rate: f64,
}

impl Window {
    /// The window before the first data is sent (RFC 6928: `initial_window` segments).
    pub fn new(setup: &Setup) -> Self {
        let mss = f64::from(setup.mss);
        let initial = mss * f64::from(setup.initial_window);
        Self { cwnd: initial, ssthresh: f64::INFINITY, mss, initial, vegas_rate: 0.0 }
    }

    /// Applies a change that the engine makes to every window in the same way.
    pub fn adjust(&mut self, adjust: Adjust) {
        match adjust {
            Adjust::Mss(mss) => self.set_mss(f64::from(mss)),
            Adjust::LostSyn => self.cwnd = self.mss,
            Adjust::Idle { .. } => self.cwnd = self.cwnd.min(self.initial.max(self.mss)),
            Adjust::Unused { used } => self.half_way_to(used as f64),
            Adjust::Cached { cwnd, ssthresh } => (self.cwnd, self.ssthresh) = (cwnd.max(self.mss), ssthresh),
            Adjust::AtMost(octets) => self.cwnd = self.cwnd.min(octets),
            Adjust::Deflate { flight } => {
                self.cwnd = self.ssthresh.min((flight as f64).max(self.mss) + self.mss);
            }
            Adjust::Reordered { flight, before } => {
                let limit = ((flight as f64).max(self.mss) + self.mss).min(before as f64).max(self.mss);
                if limit < self.cwnd {
                    self.ssthresh = (before as f64).min(self.cwnd).max(2.0 * self.mss);
                    self.cwnd = limit;
                }
            }
            Adjust::Probed => self.cwnd = self.mss * 3.0,
            Adjust::SlowStartTo(octets) => self.ssthresh = self.ssthresh.max(octets),
            Adjust::Resume { flight, acked, ssthresh } => {
                self.cwnd = (flight as f64 + (acked as f64).min(self.initial)).max(self.mss);
                self.ssthresh = ssthresh;
            }
            Adjust::Penalise => {
                if !self.in_slow_start() {
                    self.ssthresh = (self.ssthresh / 2.0).max(2.0 * self.mss);
                }
                self.cwnd = (self.cwnd / 2.0).max(self.mss);
            }
        }
    }

    /// RFC 2861 3.2, in whole segments and not below the initial window, as Linux has it (`tcp_cwnd_application_limited`).
    fn half_way_to(&mut self, used: f64) {
        let used = used.max(self.initial);
        if used < self.cwnd {
            let whole = |octets: f64| (octets / self.mss).floor() * self.mss;
            self.ssthresh = self.ssthresh.max(whole(0.75 * self.cwnd));
            self.cwnd = whole((self.cwnd + used) / 2.0).max(self.mss);
        }
    }

    fn set_mss(&mut self, mss: f64) {
        // Multiply before dividing, so that a whole number of segments stays whole: a window slightly below one segment would
        // send nothing.
        self.cwnd = self.cwnd * mss / self.mss;
        self.initial = self.initial * mss / self.mss;
        self.mss = mss;
    }

    /// Octets that may be in flight.
    #[inline]
    pub fn octets(&self) -> u64 {
        self.cwnd as u64
    }

    /// RFC 5681 3.1: slow start is used while cwnd < ssthresh.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Slow start with byte counting (RFC 3465 2.2, L = 2 SMSS; 2.3: L = 1 SMSS after a timeout), up to ssthresh.
    pub fn slow_start(&mut self, ack: &AckSample) {
        let limit = if ack.after_timeout { self.mss } else { 2.0 * self.mss };
        self.cwnd = (self.cwnd + (ack.growth as f64).min(limit)).min(self.ssthresh.max(self.cwnd));
    }

    /// What an acknowledgement does to a window in the same way whatever the controller: nothing if
    /// the window was not full, and slow start below ssthresh. Returns false if neither holds:
    /// congestion avoidance is the controller's own.
    #[inline]
    pub fn grow_in_slow_start(&mut self, ack: &AckSample) -> bool {
        if !ack.cwnd_limited {
            return true;
        }
        let grows = self.in_slow_start();
        if grows {
            self.slow_start(ack);
        }
        grows
    }

    /// RFC 5681 3.1 equation (4) and 3.2: ssthresh = max(FlightSize / 2, 2 SMSS); cwnd becomes ssthresh, or one segment after a
    /// timeout.
    pub fn halve(&mut self, congestion: &Congestion) {
        self.cut(congestion, congestion.flight_size as f64 / 2.0, 2.0);
    }

    /// Like [`Window::halve`], but reduces to `target` octets (at least `least` segments) instead of half the flight.
    ///
    /// RFC 5681 3.1 (4) is an upper bound. New data sent during an episode increases FlightSize, although the path has already
    /// proved too small. A later timeout in the same episode must not raise ssthresh because of it.
    pub fn cut(&mut self, congestion: &Congestion, target: f64, least: f64) {
        let cut = target.max(least * self.mss);
        self.ssthresh = match congestion {
            Congestion { repeated: true, .. } => self.ssthresh,
            Congestion { nested: true, .. } => self.ssthresh.min(cut),
            _ => cut,
        };
        self.cwnd = match congestion.cause {
            Cause::FastRetransmit | Cause::Ecn => self.ssthresh,
            Cause::Timeout => self.mss,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Out-of-tree Linux: 24 segments over a threshold of 16 become 12 and 8; 10 in slow start towards 16 become 5, and 16 stays.
    #[test]
    fn a_penalty_halves_the_window_and_outside_slow_start_the_threshold() {
        for ((cwnd, ssthresh), expected) in
            [((24.0, 16.0), (12.0, 8.0)), ((10.0, 16.0), (5.0, 16.0)), ((1.0, 1.0), (1.0, 2.0))]
        {
            let mut w = Window::new(&crate::registry::Setup::new(1000, 10));
            (w.cwnd, w.ssthresh) = (1000.0 * cwnd, 1000.0 * ssthresh);
            w.adjust(Adjust::Penalise);
            assert_eq!((w.cwnd / 1000.0, w.ssthresh / 1000.0), expected);
        }
    }
}
