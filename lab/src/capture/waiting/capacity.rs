//! What a path carries. While a queue stands before its slowest link, acknowledgements come at that link's rate: then the rate
//! of a second is its capacity. Without a standing queue it is a lower bound.

use std::collections::VecDeque;

/// A second, nanoseconds.
const SECOND: u64 = 1_000_000_000;
/// Points are kept that far apart.
const STEP: u64 = 5_000_000;

/// What was known at a time.
#[derive(Clone, Copy, Debug)]
struct Point {
    at: u64,
    /// Octets delivered until then.
    delivered: u64,
    /// The shortest round trip since the point before.
    shortest: Option<u64>,
}

/// The rate of one path in one direction, in octets of IP packets.
#[derive(Clone, Debug, Default)]
pub struct Capacity {
    /// Of the last second.
    points: VecDeque<Point>,
    delivered: u64,
    /// The shortest round trip since the last point; the shortest of all.
    shortest: Option<u64>,
    least: u64,
    /// When a round trip was last measured: without one nothing is known of the queue.
    heard: u64,
    /// Octets of the largest packet.
    packet: u64,
    /// Rates of seconds with a standing queue, octets/s, the highest first; the best of any second.
    pub saturated: Vec<f64>,
    pub best: f64,
    judged: u64,
}

impl Capacity {
    /// A round trip of `rtt`, where the shortest one took `least`.
    pub fn on_rtt(&mut self, now: u64, rtt: u64, least: u64) {
        self.heard = now;
        self.least = least;
        self.shortest = Some(self.shortest.map_or(rtt, |shortest| shortest.min(rtt)));
    }

    /// `octets` more are known to have arrived.
    pub fn on_delivered(&mut self, now: u64, octets: u64, packet: u64) {
        self.packet = self.packet.max(packet);
        self.delivered += octets;
        if self.points.back().is_some_and(|last| now < last.at + STEP) {
            return;
        }
        self.points.push_back(Point { at: now, delivered: self.delivered, shortest: self.shortest.take() });
        while self.points.get(1).is_some_and(|second| second.at + SECOND <= now) {
            self.points.pop_front();
        }
        let Point { at, delivered, .. } = self.points[0];
        if now < at + SECOND {
            return;
        }
        let rate = (self.delivered - delivered) as f64 * 1e9 / (now - at) as f64;
        self.best = self.best.max(rate);
        if now < self.judged + SECOND || self.pauses(rate) {
            return;
        }
        if self.heard >= at + SECOND / 2 && self.stands(rate) {
            self.saturated.push(rate);
            self.judged = now;
        }
    }

    /// In the last second, at `rate`, no round trip was so short that its packet met no queue: one that waits for less than the time of one
    /// packet may have met none.
    fn stands(&self, rate: f64) -> bool {
        let one = ((1.5e9 * self.packet as f64 / rate) as u64).max(300_000);
        self.points.iter().skip(1).filter_map(|point| point.shortest).all(|shortest| shortest > self.least + one)
    }

    /// Nothing was delivered for a tenth of the last second, or for the time of three of the largest deliveries: then no queue stood
    /// before the link all the time, whatever the round trips say.
    fn pauses(&self, rate: f64) -> bool {
        let longest = (SECOND / 10).max((3e9 * self.packet as f64 / rate) as u64);
        self.points.iter().zip(self.points.iter().skip(1)).any(|(a, b)| b.at - a.at > longest)
    }

    /// What is acknowledged now may have arrived at any time: a hole was filled, and without SACK nobody said what came behind it.
    pub fn restart(&mut self) {
        self.points.clear();
    }

    /// Octets delivered.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }
}
