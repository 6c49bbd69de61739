//! Which rate the next transmission of a frame takes.
//!
//! - constant: always the same.
//! - ARF (Kamerman and Monteban, "WaveLAN-II", 1997): one step up after 10 frames acknowledged at the first attempt or 15 frames
//!   in all; one step down after two failures in a row, or at once if the first frame after a step up fails.
//! - AARF (Lacage, Manshaei, Turletti, "IEEE 802.11 rate adaptation: a practical approach", 2004): as ARF, but a failed step up
//!   doubles the number of successes before the next, up to 60.
//! - Minstrel (Linux, Derek Smithies) in a compact form: every 100 ms a moving average of each rate's success probability; a
//!   frame is tried twice at the rate of best throughput, twice at the second best, twice at the most reliable, then at the
//!   lowest. For one frame in ten a rate drawn by chance takes the place of the first attempt if it is faster, else of the
//!   second best.
//! - Minstrel-HT, from 802.11n on: [`super::minstrel_ht`].
//!
//! All of them count attempts that were acknowledged, so an acknowledgement lost in a collision looks like a bad channel to them.

use anabranch_measures::rng::Rng;

use super::minstrel_ht::MinstrelHt;
use super::phy::{Mode, Phy};

/// Which algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// This rate, in kbit/s.
    Constant(u32),
    /// Automatic rate fallback.
    Arf,
    /// Adaptive ARF.
    Aarf,
    /// Minstrel.
    Minstrel,
    /// This one from 802.11n on.
    Mcs {
        /// Index of modulation and code of one stream.
        mcs: u8,
        /// Spatial streams.
        streams: u8,
        /// Guard interval in ns.
        guard: u32,
    },
    /// Minstrel-HT.
    MinstrelHt {
        /// Spatial streams at most.
        streams: u8,
        /// Guard interval in ns.
        guard: u32,
    },
}

impl Choice {
    /// All but the constant rates, by name; from 802.11n on "minstrel" is Minstrel-HT.
    pub const NAMES: [(&'static str, Self); 3] =
        [("arf", Self::Arf), ("aarf", Self::Aarf), ("minstrel", Self::Minstrel)];
}

/// The rate of one station towards another.
#[derive(Debug)]
pub enum Control {
    /// Index of the rate.
    Constant(usize),
    /// ARF or AARF.
    Fallback(Fallback),
    /// Minstrel.
    Minstrel(Minstrel),
    /// Minstrel-HT.
    MinstrelHt(Box<MinstrelHt>),
}

impl Control {
    /// The control of one station towards another; `name` names its random stream.
    pub fn new(choice: Choice, phy: &Phy, seed: u64, name: &str) -> Self {
        match choice {
            Choice::Constant(kbps) => Self::Constant(phy.find(kbps).expect("the rate was checked")),
            Choice::Arf => Self::Fallback(Fallback::new(phy.modes.len(), false)),
            Choice::Aarf => Self::Fallback(Fallback::new(phy.modes.len(), true)),
            Choice::Minstrel => Self::Minstrel(Minstrel::new(phy, Rng::new(seed, name))),
            Choice::Mcs { mcs, streams, guard } => {
                Self::Constant(phy.find_mcs(mcs, streams, guard).expect("the rate was checked"))
            }
            Choice::MinstrelHt { streams, guard } => {
                Self::MinstrelHt(Box::new(MinstrelHt::new(phy, streams, guard, Rng::new(seed, name))))
            }
        }
    }

    /// Index of the rate for attempt number `attempt` (from 0) of a frame.
    #[inline]
    pub fn rate(&mut self, now: u64, attempt: u32) -> usize {
        match self {
            Self::Constant(i) => *i,
            Self::Fallback(f) => f.rate,
            Self::Minstrel(m) => m.rate(now, attempt),
            Self::MinstrelHt(_) => self.ppdu_rate(now, attempt).0,
        }
    }

    /// Index of the rate of a PPDU from 802.11n on after so many failures in a row, and whether it is a sample, a single frame.
    #[inline]
    pub fn ppdu_rate(&mut self, now: u64, failures: u32) -> (usize, bool) {
        match self {
            Self::MinstrelHt(m) => m.rate(now, failures),
            other => (other.rate(now, failures), false),
        }
    }

    /// Of a PPDU of `sent` frames at `rate`, `acknowledged` were acknowledged.
    #[inline]
    pub fn on_ppdu(&mut self, rate: usize, sent: u32, acknowledged: u32) {
        if let Self::MinstrelHt(m) = self {
            m.on_ppdu(rate, sent, acknowledged);
        }
    }

    /// Attempt number `attempt` (from 0) at `rate` was acknowledged or not.
    #[inline]
    pub fn on_attempt(&mut self, rate: usize, attempt: u32, acknowledged: bool) {
        match self {
            Self::Constant(_) | Self::MinstrelHt(_) => {}
            Self::Fallback(f) => f.on_attempt(attempt, acknowledged),
            Self::Minstrel(m) => m.on_attempt(rate, acknowledged),
        }
    }
}

/// ARF and AARF.
#[derive(Debug)]
pub struct Fallback {
    rate: usize,
    rates: usize,
    adaptive: bool,
    successes: u32,
    frames: u32,
    failures: u32,
    /// The last change was a step up and nothing was acknowledged since.
    probing: bool,
    successes_needed: u32,
    frames_needed: u32,
}

const SUCCESSES: u32 = 10;
const FRAMES: u32 = 15;
const MOST_SUCCESSES: u32 = 60;

impl Fallback {
    fn new(rates: usize, adaptive: bool) -> Self {
        Self {
            rate: 0,
            rates,
            adaptive,
            successes: 0,
            frames: 0,
            failures: 0,
            probing: false,
            successes_needed: SUCCESSES,
            frames_needed: FRAMES,
        }
    }

    fn on_attempt(&mut self, attempt: u32, acknowledged: bool) {
        self.frames += u32::from(attempt == 0);
        if acknowledged {
            self.successes += 1;
            self.failures = 0;
            self.probing = false;
            let due = self.successes >= self.successes_needed || self.frames >= self.frames_needed;
            if due && self.rate + 1 < self.rates {
                self.step(self.rate + 1);
                self.probing = true;
            }
            return;
        }
        self.successes = 0;
        self.failures += 1;
        if self.probing {
            if self.adaptive {
                self.successes_needed = (self.successes_needed * 2).min(MOST_SUCCESSES);
                // This number has no upper bound: where steps up always fail, counting frames alone soon causes no more of them.
                self.frames_needed = self.frames_needed.saturating_mul(2).max(self.successes_needed);
            }
            self.step(self.rate.saturating_sub(1));
        } else if self.failures >= 2 {
            self.successes_needed = SUCCESSES;
            self.frames_needed = FRAMES;
            self.step(self.rate.saturating_sub(1));
        }
    }

    fn step(&mut self, rate: usize) {
        self.rate = rate;
        self.successes = 0;
        self.frames = 0;
        self.failures = 0;
        self.probing = false;
    }
}

/// Statistics of one rate.
#[derive(Clone, Copy, Debug, Default)]
struct Statistic {
    attempts: u32,
    successes: u32,
    /// Moving average; none before the first attempt.
    probability: Option<f64>,
    /// Time on the air of a reference frame, in ns.
    airtime: f64,
}

impl Statistic {
    fn throughput(&self) -> f64 {
        match self.probability {
            // A rate with a success probability below 0.1 counts as useless, as in Linux.
            Some(p) if p >= 0.1 => p / self.airtime,
            _ => 0.0,
        }
    }
}

/// Minstrel.
#[derive(Debug)]
pub struct Minstrel {
    rates: Vec<Statistic>,
    best: usize,
    second: usize,
    reliable: usize,
    update_at: u64,
    frames: u64,
    sampled: u64,
    sample: Option<usize>,
    rng: Rng,
}

const INTERVAL: u64 = 100_000_000;
const OLD_SHARE: f64 = 0.75;
const REFERENCE_OCTETS: u32 = 1200;

impl Minstrel {
    fn new(phy: &Phy, rng: Rng) -> Self {
        let cost = |m: &Mode| {
            let ack = phy.modes[phy.control(phy.find(m.kbps).unwrap_or(0))];
            (phy.difs() + phy.airtime(m, REFERENCE_OCTETS) + phy.sifs + phy.airtime(&ack, 14)) as f64
        };
        let rates = phy.modes.iter().map(|m| Statistic { airtime: cost(m), ..Statistic::default() }).collect();
        Self { rates, best: 0, second: 0, reliable: 0, update_at: INTERVAL, frames: 0, sampled: 0, sample: None, rng }
    }

    fn rate(&mut self, now: u64, attempt: u32) -> usize {
        if attempt == 0 {
            if now >= self.update_at {
                self.update();
                self.update_at = now + INTERVAL;
            }
            self.frames += 1;
            self.sample = None;
            if self.sampled * 10 < self.frames {
                let drawn = (self.rng.uniform() * self.rates.len() as f64) as usize;
                self.sampled += 1;
                self.sample = (drawn != self.best).then_some(drawn);
            }
        }
        // A faster rate is tried first; a slower one only where the best has failed, so that trying it costs little.
        let faster = self.sample.filter(|s| self.rates[*s].airtime < self.rates[self.best].airtime);
        match attempt {
            0 => faster.unwrap_or(self.best),
            1 => self.best,
            2 | 3 if faster.is_none() => self.sample.unwrap_or(self.second),
            2 | 3 => self.second,
            4 | 5 => self.reliable,
            _ => 0,
        }
    }

    fn on_attempt(&mut self, rate: usize, acknowledged: bool) {
        self.rates[rate].attempts += 1;
        self.rates[rate].successes += u32::from(acknowledged);
    }

    fn update(&mut self) {
        for s in &mut self.rates {
            if s.attempts > 0 {
                let now = f64::from(s.successes) / f64::from(s.attempts);
                s.probability = Some(s.probability.map_or(now, |p| OLD_SHARE * p + (1.0 - OLD_SHARE) * now));
            }
            (s.attempts, s.successes) = (0, 0);
        }
        let best_of = |but: Option<usize>| {
            let mut best = 0;
            for i in 1..self.rates.len() {
                if Some(i) != but && (Some(best) == but || self.rates[i].throughput() > self.rates[best].throughput()) {
                    best = i;
                }
            }
            best
        };
        let best = best_of(None);
        let second = best_of(Some(best));
        // Of the rates that practically never fail the fastest, else the one that fails least.
        let reliability = |i: usize| self.rates[i].probability.unwrap_or(0.0).min(0.95);
        let mut reliable = 0;
        for i in 1..self.rates.len() {
            let (a, b) = (reliability(i), reliability(reliable));
            if a > b || (a == b && self.rates[i].throughput() > self.rates[reliable].throughput()) {
                reliable = i;
            }
        }
        (self.best, self.second, self.reliable) = (best, second, reliable);
    }
}

#[cfg(test)]
mod tests {
    use super::super::phy::Standard;
    use super::*;

    fn after(control: &mut Control, outcomes: &[(u32, bool)]) -> usize {
        for (attempt, acknowledged) in outcomes {
            let rate = control.rate(0, *attempt);
            control.on_attempt(rate, *attempt, *acknowledged);
        }
        control.rate(0, 0)
    }

    #[test]
    fn arf_climbs_after_ten_and_falls_after_two_or_a_failed_probe() {
        let phy = Phy::new(Standard::A, 20, false);
        let mut arf = Control::new(Choice::Arf, &phy, 1, "arf");
        assert_eq!(after(&mut arf, &[(0, true); 9]), 0);
        assert_eq!(after(&mut arf, &[(0, true)]), 1);
        assert_eq!(after(&mut arf, &[(0, false)]), 0);
        assert_eq!(after(&mut arf, &[(0, true); 11]), 1);
        assert_eq!(after(&mut arf, &[(0, false)]), 1);
        assert_eq!(after(&mut arf, &[(1, false)]), 0);
    }

    /// Fifteen frames are enough, too, though each needs a second attempt, so that no two successes
    /// follow each other.
    #[test]
    fn arf_climbs_after_fifteen_frames() {
        let phy = Phy::new(Standard::A, 20, false);
        let mut arf = Control::new(Choice::Arf, &phy, 1, "arf");
        assert_eq!(after(&mut arf, &[[(0, false), (1, true)]; 14].concat()), 0);
        assert_eq!(after(&mut arf, &[(0, false), (1, true)]), 1);
    }

    /// Forty probes in a row fail: after the sixtieth success there is another one all the same.
    #[test]
    fn aarf_never_waits_for_more_than_sixty_successes() {
        let phy = Phy::new(Standard::A, 20, false);
        let mut aarf = Control::new(Choice::Aarf, &phy, 1, "aarf");
        for _ in 0..40 {
            let successes = (1..=60).find(|_| after(&mut aarf, &[(0, true)]) == 1);
            assert!(successes.is_some());
            assert_eq!(after(&mut aarf, &[(0, false)]), 0);
        }
    }

    #[test]
    fn aarf_waits_twice_as_long_after_a_failed_probe() {
        let phy = Phy::new(Standard::A, 20, false);
        let mut aarf = Control::new(Choice::Aarf, &phy, 1, "aarf");
        assert_eq!(after(&mut aarf, &[(0, true); 10]), 1);
        assert_eq!(after(&mut aarf, &[(0, false)]), 0);
        assert_eq!(after(&mut aarf, &[(0, true); 19]), 0);
        assert_eq!(after(&mut aarf, &[(0, true)]), 1);
    }

    /// 24 Mbit/s and below always succeed, all above fails: Minstrel settles at 24.
    #[test]
    fn minstrel_finds_the_fastest_rate_that_works() {
        let phy = Phy::new(Standard::A, 20, false);
        let mut minstrel = Control::new(Choice::Minstrel, &phy, 1, "minstrel");
        let works = phy.find(24_000).unwrap();
        let mut used = [0_u32; 8];
        for frame in 0..20_000_u64 {
            for attempt in 0..7 {
                let rate = minstrel.rate(frame * 500_000, attempt);
                let ok = rate <= works;
                minstrel.on_attempt(rate, attempt, ok);
                used[rate] += u32::from(ok);
                if ok {
                    break;
                }
            }
        }
        assert!(used[works] > 19_000, "{used:?}");
    }
    /// The statistics are renewed every 100 ms, and not before.
    #[test]
    fn minstrel_learns_every_100_ms() {
        let phy = Phy::new(Standard::A, 20, false);
        let mut minstrel = Minstrel::new(&phy, Rng::new(1, "minstrel"));
        minstrel.on_attempt(3, true);
        minstrel.rate(INTERVAL - 1, 0);
        assert_eq!((minstrel.rates[3].attempts, minstrel.rates[3].probability), (1, None));
        minstrel.rate(INTERVAL, 0);
        assert_eq!((minstrel.rates[3].attempts, minstrel.rates[3].probability), (0, Some(1.0)));
        // Half of the attempts since then: a quarter of the way to one half.
        minstrel.on_attempt(3, true);
        minstrel.on_attempt(3, false);
        minstrel.rate(2 * INTERVAL - 1, 0);
        assert_eq!(minstrel.rates[3].attempts, 2);
        minstrel.rate(2 * INTERVAL, 0);
        assert_eq!(minstrel.rates[3].probability, Some(0.875));
    }
}
