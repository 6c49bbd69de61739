//! A medium from the links of its channel: stations, the rates of each pair, their random streams.

use anabranch_measures::ask::Ask;
use anabranch_measures::rng::Rng;

use super::{BEACON_INTERVAL, Ends, Medium};
use crate::Wifi;
use crate::channel::{from_db, noise};
use crate::high::{self, High, Peer};
use crate::mobility::Movement;
use crate::phy::{Like, Phy, Standard};
use crate::queue::Queue;
use crate::rate::Control;
use crate::station::{Parts, Station};

/// A link: its name; the number of the router at its access point, if there is one; its properties.
type Link<'a> = (&'a str, Option<usize>, &'a Wifi);

impl Medium {
    /// The medium of `links`, all of one channel. Links to the same router share its access point. Also says which stations are
    /// each link's. `None` if `ask` does not want to go on: there is a random stream for each pair of stations.
    pub fn new(links: &[Link<'_>], seed: u64, ask: Ask<'_>) -> Option<(Self, Vec<Ends>)> {
        let first = links[0].2;
        let (phy, air) = (first.phy(), first.air.clone());
        let (mut stations, ends) = stations(links, &phy, seed);
        let n = stations.len();
        for s in &mut stations {
            if ask().is_break() {
                return None;
            }
            s.controls.resize_with(n, || None);
        }
        for (link, ((name, _, wifi), Ends { stations: [a, b] })) in links.iter().zip(&ends).enumerate() {
            for (from, to) in [(*a, *b), (*b, *a)] {
                if let (Some(high), Some(own)) = (&mut stations[from].high, &wifi.high) {
                    high.peers.resize_with(n, || None);
                    high.peers[to] = Some(Box::new(Peer::new(link, own.limits)));
                }
                let name = format!("wifi {} {name} {from} rate", wifi.channel);
                stations[from].controls[to] = Some(Control::new(wifi.rate, &phy, seed, &name));
            }
        }
        let mut fades = Vec::new();
        for from in 0..n {
            if ask().is_break() {
                return None;
            }
            fades.extend((0..n).map(|to| Rng::new(seed, &format!("wifi {} fading {from} {to}", first.channel))));
        }
        let least_power = first.noticed_dbm();
        let least_snr = if air.preamble_detection { 4.0 } else { f64::NEG_INFINITY };
        let mut medium = Self {
            // Frames of before 802.11n take 20 MHz of a wider channel.
            noise: noise(phy.bandwidth.min(20e6), air.noise_figure_db),
            wide_noise: noise(phy.bandwidth, air.noise_figure_db),
            least_power: from_db(least_power),
            least_snr: from_db(least_snr),
            energy_power: from_db(-62.0),
            carrier_power: from_db(-82.0),
            frames: vec![None; n],
            mean: vec![0.0; n * n],
            distances: vec![0.0; n * n],
            power: vec![0.0; n * n],
            fades,
            moves: stations.iter().any(|s| !s.movement.rests()),
            down: Vec::new(),
            memory: [(usize::MAX, 0, 0, 0.0); 4],
            remembered: 0,
            released: Vec::new(),
            phy,
            air,
            stations,
        };
        medium.place(0);
        for s in &mut medium.stations {
            s.contend(&medium.phy);
        }
        Some((medium, ends))
    }
}

/// The stations of all links, and which are whose.
fn stations(links: &[Link<'_>], phy: &Phy, seed: u64) -> (Vec<Station>, Vec<Ends>) {
    let mut stations: Vec<Station> = Vec::new();
    let mut shared: Vec<(usize, usize)> = Vec::new();
    let mut ends = Vec::new();
    for (name, router, wifi) in links {
        let mut add = |what: &str, movement: Movement| {
            stations.push(station(wifi, phy, seed, name, what, movement));
            stations.len() - 1
        };
        let station = add("station", wifi.station.clone());
        let known = router.and_then(|r| shared.iter().find(|(node, _)| *node == r)).map(|(_, s)| *s);
        let point = known.unwrap_or_else(|| add("access point", Movement::at_rest(wifi.access_point)));
        if let (Some(node), None) = (router, known) {
            shared.push((*node, point));
        }
        ends.push(Ends { stations: [station, point] });
    }
    (stations, ends)
}

fn station(wifi: &Wifi, phy: &Phy, seed: u64, link: &str, what: &str, movement: Movement) -> Station {
    let name = format!("wifi {} {link} {what}", wifi.channel);
    let queue = Queue::new(wifi.queue, wifi.max_age);
    let rts_threshold = wifi.rts_threshold.unwrap_or(u32::MAX);
    let (tx_power_dbm, retry_limit) = (wifi.tx_power_dbm, wifi.retry_limit);
    let access_point = what == "access point" && !wifi.air.ad_hoc;
    let access = wifi.high.map(|h| h.category.access(access_point, wifi.air.like));
    let high = wifi.high.map(|own| {
        let like_ns3 = wifi.air.like == Like::Ns3;
        Box::new(High::new(high::Parts {
            limit: wifi.queue,
            max_age: wifi.max_age,
            retry_limit,
            like_ns3,
            always_agrees: like_ns3 && wifi.air.standard != Standard::N,
            txop: own.txop.unwrap_or_else(|| own.category.access(access_point, wifi.air.like).txop),
        }))
    });
    let ifs = access.map_or(phy.difs(), |a| phy.sifs + a.slots * phy.slot);
    let window = access.map_or([phy.cw_min, phy.cw_max], |a| a.window);
    let parts =
        Parts { movement, tx_power_dbm, queue, retry_limit, rts_threshold, high, ifs, window, name: name.clone() };
    let mut station = Station::new(parts, seed);
    if access_point {
        // The first beacon comes at any time of an interval.
        let part = Rng::new(seed, &format!("{name} beacon")).uniform();
        station.beacon_at = (part * BEACON_INTERVAL as f64) as u64;
    }
    station
}
