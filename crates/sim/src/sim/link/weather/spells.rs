//! Times at which nothing passes: obstructions, times without service, changes of cell.

use anabranch_measures::rng::Rng;

use crate::sim::draw::{exponential, normal};
use anabranch_scenario::{Outages, Spell};

use super::SECOND;

/// A length of time drawn from a log-normal distribution, at most a day.
pub fn length(spell: &Spell, rng: &mut Rng) -> u64 {
    let drawn = spell.median.0 as f64 * libm::exp(spell.sigma * normal(rng));
    (drawn as u64).clamp(1, 86_400 * SECOND)
}

/// Outages, one after the other: from the end of one to the beginning of the next a time without memory.
#[derive(Clone, Debug)]
pub struct Breaks {
    config: Outages,
    rng: Rng,
    /// The one going on or to come; from [`u64::MAX`] on if there are none.
    pub from: u64,
    pub until: u64,
}

impl Breaks {
    pub fn new(config: Outages, rng: Rng) -> Self {
        let mut breaks = Self { config, rng, from: u64::MAX, until: u64::MAX };
        if config.per_hour > 0.0 {
            breaks.draw(0);
        }
        breaks
    }

    fn draw(&mut self, after: u64) {
        let wait = 3600.0 / self.config.per_hour * SECOND as f64 * exponential(&mut self.rng);
        self.from = after.saturating_add(wait as u64);
        self.until = self.from.saturating_add(length(&self.config.length, &mut self.rng));
    }

    /// The outages that are over at `now` are forgotten.
    pub fn advance(&mut self, now: u64) {
        while self.until <= now {
            self.draw(self.until);
        }
    }
}
