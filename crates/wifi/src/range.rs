//! Out of range: from which distance on a station's frames are not detected, whatever their rate.
//!
//! A frame is detected if its power is at least [`Wifi::least_dbm`]. Beyond the distance at which the mean power falls below
//! that, the link carries nothing. From 802.11n on a constant MCS may end earlier: where not one frame in a hundred gets through. (With fading, single frames get through a little beyond it, and some are lost before it.)

use super::Wifi;
use super::channel::{from_db, noise, to_db};
use super::mobility::{Course, distance};
use super::rate::Choice;

/// Halvings of an interval until its ends are a nanosecond apart, for any run.
const HALVINGS: u32 = 64;
/// Octets of a frame with a datagram of 1500.
const FRAME: u32 = 1538;

impl Wifi {
    /// The least received power at which a frame is detected (17.3.10.6; without preamble detection what ns-3 calls the
    /// sensitivity).
    pub fn noticed_dbm(&self) -> f64 {
        if self.air.preamble_detection { -82.0 } else { -101.0 }
    }

    /// The least received power at which anything gets through: that, or, at a constant MCS, the power from which on one
    /// frame of 1538 octets in a hundred arrives.
    pub fn least_dbm(&self) -> f64 {
        let Choice::Mcs { mcs, streams, guard } = self.rate else { return self.noticed_dbm() };
        let phy = self.phy();
        let Some(mode) = phy.find_mcs(mcs, streams, guard).map(|i| phy.modes[i]) else { return self.noticed_dbm() };
        let noise_dbm = to_db(noise(phy.bandwidth, self.air.noise_figure_db));
        let (mut low, mut high) = (-20.0, 80.0);
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            if self.air.error_model.error(&mode, from_db(middle), FRAME) > 0.99 { low = middle } else { high = middle }
        }
        // To a tenth of a decibel, as it is shown.
        self.noticed_dbm().max(((noise_dbm + high) * 10.0).round() / 10.0)
    }

    /// Metres between station and access point at `now`.
    pub fn distance(&self, now: u64) -> f64 {
        distance(self.station.at(now), self.access_point)
    }

    /// Mean power that each end receives of the other at `now`.
    pub fn received_dbm(&self, now: u64) -> f64 {
        self.tx_power_dbm - self.air.path_loss.db(self.distance(now))
    }

    /// The first time before `end` at which the station is out of range.
    pub fn out_of_range_from(&self, end: u64) -> Option<u64> {
        let out = |at| self.received_dbm(at) < self.least_dbm();
        let mut times = vec![0];
        match &self.station.course {
            Course::Rest => {}
            Course::Velocity(_) => times.push(end),
            Course::Waypoints(points) => times.extend(points.iter().map(|p| p.0.min(end))),
        }
        let next = times.iter().position(|at| out(*at))?;
        // On a straight line the distance is a convex function of time: between a time in range and one out of it there is one
        // crossing, and between two in range none.
        let mut low = next.checked_sub(1).map_or(0, |before| times[before]);
        let mut high = times[next];
        for _ in 0..HALVINGS {
            let middle = low + (high - low) / 2;
            if out(middle) { high = middle } else { low = middle }
        }
        Some(high)
    }
}
