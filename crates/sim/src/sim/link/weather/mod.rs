//! Links whose rate and delay vary by themselves: over low satellites ([`leo`]), over a cellular network ([`cellular`]).
//!
//! What such a link does depends on its seed and the time alone, not on who sends over it: two runs that differ in the controller meet
//! the same weather. It never reorders: a packet that would overtake arrives with the one before it.
//!
//! The rate is constant for a while at a time ([`rates`]); a transmission goes through as many of these pieces as it takes.

mod cellular;
mod leo;
mod rates;
mod spells;

use anabranch_scenario as scenario;
use std::cell::RefCell;

use anabranch_scenario::Shape;
use cellular::Cellular;
use leo::Leo;
use rates::Rates;

const SECOND: u64 = 1_000_000_000;

/// The rate that belongs to the standard normal deviate `x`, within its bounds, in bit/s.
fn rate_of(rate: &scenario::Rate, x: f64) -> f64 {
    let factor = match rate.shape {
        Shape::Normal => 1.0 + rate.sigma * x,
        Shape::LogNormal => libm::exp(rate.sigma * x),
    };
    (rate.median as f64 * factor).clamp(rate.least as f64, rate.most as f64)
}

/// What happens to a packet whose transmission begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passage {
    /// When its transmission ends.
    pub end: u64,
    /// How long it takes from there, beyond the link's own delay.
    pub delay: u64,
    /// It goes no further.
    pub lost: bool,
}

/// What a direction offers without traffic: the bits of each of `steps` steps of `step` nanoseconds.
pub fn offered(config: &scenario::Weather, seed: u64, link: &str, way: &str, step: u64, steps: u64) -> Vec<f64> {
    let weather = Weather::new(config, seed, link, way);
    let mut before = 0.0;
    let one = |n: u64| {
        let until = weather.bits(n * step);
        until - std::mem::replace(&mut before, until)
    };
    (1..=steps).map(one).collect()
}

/// Delays in nanoseconds of `probes` lone packets of 64 octets sent over one direction, `interval` apart, beyond the link's own delay;
/// none where one is lost.
pub fn probed(
    config: &scenario::Weather,
    seed: u64,
    link: &str,
    way: &str,
    interval: u64,
    probes: u64,
) -> Vec<Option<u64>> {
    let mut weather = Weather::new(config, seed, link, way);
    let (mut free, mut last) = (0, 0);
    let one = |n: u64| {
        let sent = n * interval;
        let begins = sent.max(free);
        free = weather.transmit(begins, 64, begins == sent);
        weather.transmitted();
        let Passage { end, delay, lost } = weather.passage;
        last = last.max(end + delay);
        (!lost).then(|| last - sent)
    };
    (0..probes).map(one).collect()
}

/// The weather of one direction of a link.
#[derive(Debug)]
pub struct Weather {
    kind: Kind,
    rates: RefCell<Rates>,
    /// Of the packet in transmission.
    coming: Passage,
    /// Of the packet whose transmission has ended.
    pub passage: Passage,
}

#[derive(Debug)]
enum Kind {
    Leo(Box<Leo>),
    Cellular(Box<Cellular>),
}

impl Weather {
    /// The direction `way` of the link called `link`. What both directions share has one stream of chance.
    pub fn new(config: &scenario::Weather, seed: u64, link: &str, way: &str) -> Self {
        let (kind, rates) = match config {
            scenario::Weather::Leo(l) => {
                let (leo, rates) = Leo::new(l, seed, link, way);
                (Kind::Leo(Box::new(leo)), rates)
            }
            scenario::Weather::Cellular(c) => {
                let (cellular, rates) = Cellular::new(c, seed, link, way);
                (Kind::Cellular(Box::new(cellular)), rates)
            }
        };
        Self { kind, rates: RefCell::new(rates), coming: Passage::default(), passage: Passage::default() }
    }

    /// The transmission of `octets` begins at `now`; `idle`: nothing was there before it. Returns when it ends.
    pub fn transmit(&mut self, now: u64, octets: u32, idle: bool) -> u64 {
        let rates = self.rates.get_mut();
        self.coming = match &mut self.kind {
            Kind::Leo(leo) => leo.transmit(rates, now, octets),
            Kind::Cellular(cellular) => cellular.transmit(rates, now, octets, idle),
        };
        self.coming.end
    }

    /// The transmission has ended.
    pub fn transmitted(&mut self) {
        self.passage = self.coming;
    }

    /// Bits that could have been transmitted until `now`. Times do not go back.
    pub fn bits(&self, now: u64) -> f64 {
        self.rates.borrow_mut().bits(now)
    }
}
