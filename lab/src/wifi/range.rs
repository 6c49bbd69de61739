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

#[cfg(test)]
mod tests {
    use crate::scenario::parse;
    use crate::wifi::Wifi;

    fn wifi(keys: &str) -> Wifi {
        wifi_of("802.11g", keys)
    }

    fn wifi_of(standard: &str, keys: &str) -> Wifi {
        let text = format!("transfer = {{}}\npath = [{{ wifi = {{ standard = '{standard}', {keys} }} }}]");
        let scenario = parse(&text, "t", &[], None).unwrap_or_else(|e| panic!("{e}"));
        scenario.links[0].wifi.clone().expect("a wireless link")
    }

    const S: u64 = 1_000_000_000;

    /// 16 dBm less 40 dB at 1 m and 30 dB a decade: -82 dBm at 10^(58/30) m, 85.8 m.
    const AIR: &str =
        "tx_power = '16 dBm', path_loss_exponent = 3.0, reference_loss = '40 dB', reference_distance = '1 m'";

    #[test]
    fn a_station_at_rest_is_in_range_or_never() {
        for (metres, out) in [(85, None), (86, Some(0)), (300, Some(0))] {
            let w = wifi(&format!("{AIR}, distance = '{metres} m'"));
            assert_eq!(w.out_of_range_from(1000 * S), out, "{metres} m: {} dBm", w.received_dbm(0));
        }
        let far = wifi(&format!("{AIR}, distance = '100 m'"));
        assert!((far.received_dbm(0) + 84.0).abs() < 1e-9);
        let sensitive = wifi(&format!("{AIR}, distance = '100 m', preamble_detection = false"));
        assert_eq!(sensitive.out_of_range_from(S), None);
    }

    /// MCS 9 in 80 MHz: one frame in a hundred arrives at 23.2 dB, with noise of -87.9 dBm at -64.8 dBm; MCS 0 is noticed as
    /// far as it is read, and so is what Minstrel-HT chooses.
    #[test]
    fn a_constant_mcs_ends_where_its_frames_are_not_read() {
        let far = |mcs: &str| wifi_of("802.11ac", &format!("mcs = {mcs}, distance = '20 m'"));
        assert!((far("9").least_dbm() + 64.8).abs() < 0.2, "{}", far("9").least_dbm());
        assert_eq!((far("0").least_dbm(), far("'minstrel'").least_dbm()), (-82.0, -82.0));
        assert_eq!((far("9").out_of_range_from(S), far("0").out_of_range_from(S)), (Some(0), None));
    }

    /// From 10 m at 2 m/s: 85.8 m are reached after 37.9 s, or not within the run.
    #[test]
    fn a_walk_leaves_the_range_where_its_power_falls_below_the_threshold() {
        let w = wifi(&format!("{AIR}, distance = '10 m', velocity = '2 m/s'"));
        let at = w.out_of_range_from(100 * S).expect("it walks away");
        let metres = 10_f64.powf(58.0 / 30.0);
        assert!((w.distance(at) - metres).abs() < 1e-3, "{} m", w.distance(at));
        assert!((at as f64 / 1e9 - (metres - 10.0) / 2.0).abs() < 1e-3, "{at}");
        assert_eq!(w.out_of_range_from(30 * S), None);
    }
}
