//! A link over a cellular network, LTE or 5G.
//!
//! The rate follows the radio channel and the load of the cell: log-normal by the second, with a faster part, and another level in
//! another cell. Data goes in blocks, one in each scheduling interval; a block in ten has to be sent again (HARQ), and what follows it
//! waits, since blocks are delivered in order. With an empty buffer the uplink first asks for a grant; a receiver that has slept must
//! wake up. At a change of cell nothing passes. Parameters and sources: docs/links.md.

use anabranch_measures::rng::Rng;

use super::leo::step;
use super::rates::{Rates, Source};
use super::spells::{Breaks, length};
use super::{Passage, SECOND, rate_of};
use crate::sim::draw::{exponential, normal};
use anabranch_scenario as scenario;

/// When a failed change of cell leaves the link without service: from 0.3 to 1 s.
const FAILED: [u64; 2] = [3 * SECOND / 10, SECOND];

/// What happens to packets on such a link.
#[derive(Debug)]
pub struct Cellular {
    config: scenario::Cellular,
    rng_blocks: Rng,
    rng_wake: Rng,
    /// Blocks drawn.
    blocks: u64,
    /// How much the last of them was delayed.
    last: u64,
    /// When the last packet left.
    left: u64,
    handovers: Handovers,
}

impl Cellular {
    /// The delays and the rate of direction `way` of the link called `link`.
    pub fn new(config: &scenario::Cellular, seed: u64, link: &str, way: &str) -> (Self, Rates) {
        let rng = |what: &str| Rng::new(seed, &format!("link {link} {what}"));
        let handovers = || Handovers::new(config, rng("handovers"));
        let cellular = Self {
            config: *config,
            rng_blocks: rng(&format!("{way} blocks")),
            rng_wake: rng(&format!("{way} wake")),
            blocks: 0,
            last: 0,
            left: 0,
            handovers: handovers(),
        };
        let mut rng_rate = rng(&format!("{way} rate"));
        let source = Capacity {
            config: *config,
            level: [normal(&mut rng_rate), 0.0],
            rng: rng_rate,
            rng_fast: rng(&format!("{way} fast")),
            second: 0,
            coherent: 0,
            median: 0.0,
            rate: 0,
            breaks: Breaks::new(config.outages, rng("outages")),
            handovers: handovers(),
            cell: 0,
        };
        (cellular, Rates::new(Box::new(source)))
    }

    /// A packet of `octets` comes to the head of the queue at `now`; `idle`: nothing was there before it.
    pub fn transmit(&mut self, rates: &mut Rates, now: u64, octets: u32, idle: bool) -> Passage {
        let begin = now + if idle { self.wake(now) } else { 0 };
        let sent = rates.end(now, begin, octets);
        // It is delivered with its block.
        let interval = self.config.interval.0;
        let (first, last) = (begin / interval, (sent - 1) / interval);
        let block_end = (last + 1) * interval;
        let ready = self.deliver(first, last);
        self.left = sent;
        self.handovers.advance(sent);
        let lost = self.handovers.lost && (self.handovers.from..self.handovers.until).contains(&sent);
        Passage { end: sent, delay: ready.max(block_end) - sent, lost }
    }

    /// How long a packet waits that finds the buffer empty.
    fn wake(&mut self, now: u64) -> u64 {
        let c = &self.config;
        let asked = c.grant.0 + (self.rng_wake.uniform() * c.grant_period.0 as f64) as u64;
        let asleep = (self.rng_wake.uniform() * c.sleep.0 as f64) as u64;
        if now - self.left.min(now) > c.sleep_after.0 { asked + asleep } else { asked }
    }

    /// When all blocks from `first` to `last` have been received.
    fn deliver(&mut self, first: u64, last: u64) -> u64 {
        let interval = self.config.interval.0;
        let mut ready = 0;
        if self.blocks == first + 1 {
            ready = self.blocks * interval + self.last;
        }
        while self.blocks <= last {
            self.last = self.block();
            if self.blocks >= first {
                ready = ready.max((self.blocks + 1) * interval + self.last);
            }
            self.blocks += 1;
        }
        ready
    }

    /// How much the next block is delayed.
    fn block(&mut self) -> u64 {
        let c = &self.config;
        let mut failed = 0;
        while failed <= c.harq_tries && self.rng_blocks.chance(c.block_error) {
            failed += 1;
        }
        let again = u64::from(failed.min(c.harq_tries)) * c.harq.0;
        if failed > c.harq_tries { again + c.rlc.0 } else { again }
    }
}

/// Changes of cell, one after the other.
#[derive(Clone, Debug)]
struct Handovers {
    config: scenario::Cellular,
    rng: Rng,
    /// The one going on or to come.
    from: u64,
    until: u64,
    /// What is sent then is lost.
    lost: bool,
    /// How many have begun or passed.
    number: u64,
}

impl Handovers {
    fn new(config: &scenario::Cellular, rng: Rng) -> Self {
        let mut h = Self { config: *config, rng, from: u64::MAX, until: u64::MAX, lost: false, number: 0 };
        if config.handover.0 > 0 {
            h.draw(0);
        }
        h
    }

    fn draw(&mut self, after: u64) {
        let c = &self.config;
        let rng = &mut self.rng;
        self.from = after + (c.handover.0 as f64 * exponential(rng)) as u64;
        let (usual, lost) = (length(&c.gap, rng), rng.uniform() < c.gap_loss);
        let (fails, long) = (rng.uniform() < c.failure, rng.uniform());
        let failed = FAILED[0] + (long * (FAILED[1] - FAILED[0]) as f64) as u64;
        self.until = self.from + if fails { failed } else { usual };
        self.lost = lost;
        self.number += 1;
    }

    fn advance(&mut self, now: u64) {
        while self.until <= now {
            self.draw(self.until);
        }
    }
}

/// The rate.
#[derive(Debug)]
struct Capacity {
    config: scenario::Cellular,
    rng: Rng,
    rng_fast: Rng,
    /// Standard normal deviates: what lasts, and what is new each second.
    level: [f64; 2],
    /// End of the second, and of the fast part.
    second: u64,
    coherent: u64,
    /// Of the second, in bit/s.
    median: f64,
    rate: u64,
    breaks: Breaks,
    handovers: Handovers,
    /// The change of cell that the level has followed.
    cell: u64,
}

impl Capacity {
    fn turn(&mut self, from: u64) {
        let c = &self.config;
        if from >= self.second {
            self.level[0] = step(self.level[0], c.rate.correlation, &mut self.rng);
            self.level[1] = normal(&mut self.rng);
            let x = libm::sqrt(c.slow) * self.level[0] + libm::sqrt(1.0 - c.slow) * self.level[1];
            self.median = rate_of(&c.rate, x);
            self.second = from - from % SECOND + SECOND;
        }
        if from >= self.coherent {
            let fast = (1.0 + c.rate.ripple * normal(&mut self.rng_fast)).max(0.1);
            self.rate = (self.median * fast).clamp(c.rate.least as f64, c.rate.most as f64) as u64;
            self.coherent = from - from % c.coherence.0 + c.coherence.0;
        }
    }

    /// Another cell: the level moves so that its logarithm's change has the standard deviation `jump`, and keeps its variance.
    fn change_cell(&mut self) {
        let c = &self.config;
        if c.rate.sigma > 0.0 {
            let share = c.jump / c.rate.sigma;
            let kept = (1.0 - share * share / 2.0).max(0.0);
            self.level[0] = step(self.level[0], kept, &mut self.rng);
        }
    }
}

impl Source for Capacity {
    fn next(&mut self, from: u64) -> (u64, u64) {
        self.handovers.advance(from);
        if self.handovers.from <= from && self.cell < self.handovers.number {
            self.cell = self.handovers.number;
            self.change_cell();
        }
        self.turn(from);
        self.breaks.advance(from);
        let until = self.second.min(self.coherent);
        let (h, b) = (&self.handovers, &self.breaks);
        if b.from <= from {
            return (0, until.min(b.until));
        }
        if h.from <= from && !h.lost {
            return (0, until.min(h.until).min(b.from));
        }
        let next = if h.from <= from { h.until } else { h.from };
        (self.rate.max(1), until.min(next).min(b.from))
    }
}
