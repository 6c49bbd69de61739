//! A link over low satellites, as measurements show Starlink.
//!
//! Every 15 s, at the same instants for all terminals, each terminal gets a satellite and a way to the ground. So rate and least delay
//! are constant from one boundary to the next but for noise, and step there; around the boundary there may be a gap in which packets are
//! lost or held; a terminal under trees or bridges has outages besides. Parameters and sources: docs/links.md.

use std::collections::VecDeque;

use anabranch_measures::rng::Rng;

use super::rates::{Rates, Source};
use super::spells::{Breaks, length};
use super::{Passage, SECOND, rate_of};
use crate::sim::draw::{exponential, normal};
use anabranch_scenario as scenario;

/// How long the delay stays high after a gap.
const SURGE: u64 = SECOND / 2;

/// One slot: what both directions have in common.
#[derive(Clone, Copy, Debug)]
struct Slot {
    from: u64,
    until: u64,
    /// Added to the least round-trip time at the beginning and at the end.
    rtt: [f64; 2],
    gap: Option<Gap>,
}

/// Around the beginning of a slot.
#[derive(Clone, Copy, Debug)]
struct Gap {
    from: u64,
    until: u64,
    lost: bool,
    /// What is sent after the gap is held until here.
    released: u64,
    surge: f64,
}

/// The delay over a satellite.
#[derive(Debug)]
pub struct Leo {
    config: scenario::Leo,
    /// Shared by both directions: the same draws.
    rng_slots: Rng,
    extra: f64,
    /// The slots from the latest packet on, and one ahead: a gap begins before its boundary.
    slots: VecDeque<Slot>,
    noise: Noise,
}

impl Leo {
    /// The delays and the rate of direction `way` of the link called `link`.
    pub fn new(config: &scenario::Leo, seed: u64, link: &str, way: &str) -> (Self, Rates) {
        let rng = |what: &str| Rng::new(seed, &format!("link {link} {what}"));
        let leo = Self {
            config: *config,
            rng_slots: rng("slots"),
            extra: 0.0,
            slots: VecDeque::new(),
            noise: Noise {
                rng: rng(&format!("{way} noise")),
                mean: config.jitter.0 as f64 * config.share,
                interval: config.jitter_interval.0,
                drawn: 0,
                value: 0,
            },
        };
        let source = Capacity {
            config: *config,
            rng: rng(&format!("{way} rate")),
            slot: None,
            level: 0.0,
            ripple: 0.0,
            rate: 0,
            second: 0,
            breaks: Breaks::new(config.outages, rng("outages")),
        };
        (leo, Rates::new(Box::new(source)))
    }

    /// A packet of `octets` comes to the head of the queue at `now`.
    pub fn transmit(&mut self, rates: &mut Rates, now: u64, octets: u32) -> Passage {
        let end = rates.end(now, now, octets);
        self.reach(end);
        let (slot, next) = (self.slots[0], self.slots[1]);
        let mut delay = self.floor(&slot, end) + self.noise.at(end);
        for gap in [slot.gap, next.gap].into_iter().flatten() {
            if (gap.from..gap.until).contains(&end) {
                if gap.lost {
                    return Passage { end, delay: 0, lost: true };
                }
                delay += gap.until - end;
            } else if (gap.until..gap.released).contains(&end) {
                delay += gap.released - end;
            }
            if let Some(since) = end.checked_sub(gap.released.max(gap.until)).filter(|since| *since < SURGE) {
                delay += (gap.surge * self.config.share * (1.0 - since as f64 / SURGE as f64)) as u64;
            }
        }
        Passage { end, delay, lost: false }
    }

    /// The least delay of this direction at `t` of `slot`.
    fn floor(&self, slot: &Slot, t: u64) -> u64 {
        let at = (t - slot.from) as f64 / (slot.until - slot.from) as f64;
        let rtt = self.config.rtt.0 as f64 + slot.rtt[0] + (slot.rtt[1] - slot.rtt[0]) * at;
        (rtt.max(0.0) * self.config.share) as u64
    }

    /// The first slot is that of `t`.
    fn reach(&mut self, t: u64) {
        while self.slots.len() < 2 || self.slots[0].until <= t {
            if self.slots.len() >= 2 {
                self.slots.pop_front();
            }
            let slot = self.draw();
            self.slots.push_back(slot);
        }
    }

    fn draw(&mut self) -> Slot {
        let c = &self.config;
        let rng = &mut self.rng_slots;
        let from = self.slots.back().map_or(0, |last| last.until);
        let first = from == 0;
        // The first boundary is at `phase`; a phase of zero begins with a whole slot.
        let until = if first && c.phase.0 > 0 { c.phase.0 } else { from + c.slot.0 };
        // Each slot takes as many numbers, whatever they say.
        let (stays, step) = (rng.chance(c.stay), rng.uniform() * c.step.0 as f64);
        if first || !stays {
            self.extra = step;
        }
        let slope = c.slope.0 as f64 * (2.0 * rng.uniform() - 1.0);
        let (any, lost) = (rng.uniform() < c.gap.chance, rng.uniform() < c.gap.loss);
        let (long, surge) = (length(&c.gap.length, rng), c.surge.0 as f64 * (0.75 + 0.5 * rng.uniform()));
        let gap = (any && !first).then(|| {
            let begins = from - c.gap.before.0.min(from);
            let ends = begins + long.min(c.slot.0 / 2);
            Gap { from: begins, until: ends, lost, released: ends + c.gap.hold.0, surge }
        });
        Slot { from, until, rtt: [self.extra, self.extra + slope], gap }
    }
}

/// Exponential noise of the delay, drawn at fixed times.
#[derive(Debug)]
struct Noise {
    rng: Rng,
    mean: f64,
    interval: u64,
    drawn: u64,
    value: u64,
}

impl Noise {
    fn at(&mut self, t: u64) -> u64 {
        while self.drawn <= t / self.interval {
            self.value = (self.mean * exponential(&mut self.rng)) as u64;
            self.drawn += 1;
        }
        self.value
    }
}

/// The rate: a level for each slot, and what each second makes of it.
#[derive(Debug)]
struct Capacity {
    config: scenario::Leo,
    rng: Rng,
    /// End of the slot, once there is one.
    slot: Option<u64>,
    /// Of the slot, a standard normal deviate.
    level: f64,
    ripple: f64,
    rate: u64,
    /// End of the second of the slot.
    second: u64,
    breaks: Breaks,
}

/// Correlation of what a second adds from one to the next.
const RIPPLE: f64 = 0.5;

impl Capacity {
    /// A new second begins at `from`, and perhaps a slot.
    fn turn(&mut self, from: u64) {
        let c = &self.config;
        let end = match self.slot {
            Some(end) if from < end => end,
            Some(end) => {
                self.level = step(self.level, c.rate.correlation, &mut self.rng);
                end + c.slot.0
            }
            None => {
                (self.level, self.ripple) = (normal(&mut self.rng), normal(&mut self.rng));
                if c.phase.0 > 0 { c.phase.0 } else { c.slot.0 }
            }
        };
        self.slot = Some(end);
        self.ripple = step(self.ripple, RIPPLE, &mut self.rng);
        self.rate = (rate_of(&c.rate, self.level) * (1.0 + c.rate.ripple * self.ripple).max(0.1))
            .min(c.rate.most as f64) as u64;
        self.second = (from + SECOND).min(end);
    }
}

/// The next number of a stationary Gaussian sequence with variance 1 in which neighbours have this correlation.
pub(super) fn step(x: f64, correlation: f64, rng: &mut Rng) -> f64 {
    correlation * x + libm::sqrt(1.0 - correlation * correlation) * normal(rng)
}

impl Source for Capacity {
    fn next(&mut self, from: u64) -> (u64, u64) {
        if from >= self.second {
            self.turn(from);
        }
        self.breaks.advance(from);
        match (self.breaks.from, self.breaks.until) {
            (b, e) if b <= from => (0, e.min(self.second)),
            (b, _) => (self.rate.max(1), b.min(self.second)),
        }
    }
}
