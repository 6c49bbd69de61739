//! Minstrel-HT: which modulation, code and number of streams the next PPDU takes (Linux, Felix Fietkau; ns-3's
//! MinstrelHtWifiManager has the same constants).
//!
//! Every 50 ms each rate that was used gets a new moving average of the share of frames that were acknowledged. A rate's
//! throughput is that share of what it carries: frames of 1200 octets in aggregates of the mean length, with the time that an
//! access costs. PPDUs go at the rate of best throughput; after two failures in a row at the second best, after two more at the
//! most reliable. One PPDU in ten is a single frame at a rate drawn by chance, unless that could not be better than the best.
//!
//! Left out: groups of other widths and guard intervals than the link's, and Linux's later rules of which rates to sample.

use anabranch_measures::rng::Rng;

use super::formats::Ppdu;
use super::phy::Phy;

/// ns.
const INTERVAL: u64 = 50_000_000;
/// What the new share counts in the average.
const NEW_SHARE: f64 = 0.25;
/// One PPDU of so many is a sample.
const SAMPLE_EVERY: u64 = 10;
/// Below this share a rate counts as useless, above `CERTAIN` as if there were no losses to avoid.
const USELESS: f64 = 0.1;
const CERTAIN: f64 = 0.9;
/// A rate this good is reliable: of those the fastest counts.
const RELIABLE: f64 = 0.95;
const REFERENCE_OCTETS: u32 = 1200;
/// Failures in a row at each rate before the next one's turn.
const TRIES: u32 = 2;

#[derive(Debug)]
struct Rate {
    mode: usize,
    ppdu: Ppdu,
    /// ns of an access beside the PPDU.
    access: u64,
    attempts: u32,
    successes: u32,
    share: Option<f64>,
    throughput: f64,
}

impl Rate {
    /// Frames a second if none is lost, in aggregates of `frames`.
    fn perfect(&self, frames: f64) -> f64 {
        let octets = f64::from(REFERENCE_OCTETS + 4) * frames;
        frames * 1e9 / ((self.access + self.ppdu.airtime(octets as u32)) as f64)
    }
}

/// The state of one station towards another.
#[derive(Debug)]
pub struct MinstrelHt {
    rates: Vec<Rate>,
    best: usize,
    second: usize,
    reliable: usize,
    update_at: u64,
    ppdus: u64,
    samples: u64,
    /// Mean frames of a PPDU, and what it is made of.
    frames: f64,
    sent: [u64; 2],
    rng: Rng,
}

impl MinstrelHt {
    /// Starts at the lowest rate of up to `streams` streams with guard intervals of `guard` ns.
    pub fn new(phy: &Phy, streams: u8, guard: u32, rng: Rng) -> Self {
        let rate = |(mode, ppdu): (usize, Ppdu)| {
            let answer = &phy.modes[phy.control(mode)];
            let access = phy.difs() + 15 * phy.slot / 2 + phy.sifs + phy.airtime(answer, 32);
            Rate { mode, ppdu, access, attempts: 0, successes: 0, share: None, throughput: 0.0 }
        };
        let known = phy.modes.iter().enumerate().filter_map(|(i, m)| m.ppdu.map(|p| (i, p)));
        let rates = known.filter(|(_, p)| p.streams <= streams && p.guard == guard).map(rate).collect();
        let (frames, sent) = (1.0, [0; 2]);
        Self { rates, best: 0, second: 0, reliable: 0, update_at: INTERVAL, ppdus: 0, samples: 0, frames, sent, rng }
    }

    /// The mode of the next PPDU after so many failures in a row, and whether it is a sample, a single frame.
    pub fn rate(&mut self, now: u64, failures: u32) -> (usize, bool) {
        if now >= self.update_at {
            self.update();
            self.update_at = now + INTERVAL;
        }
        self.ppdus += 1;
        if failures == 0 && self.samples * SAMPLE_EVERY < self.ppdus {
            self.samples += 1;
            let drawn = (self.rng.uniform() * self.rates.len() as f64) as usize;
            if drawn != self.best && self.rates[drawn].perfect(self.frames) > self.rates[self.best].throughput {
                return (self.rates[drawn].mode, true);
            }
        }
        let chosen = match failures / TRIES {
            0 => self.best,
            1 => self.second,
            _ => self.reliable,
        };
        (self.rates[chosen].mode, false)
    }

    /// Of a PPDU of `sent` frames at `mode`, `acknowledged` were acknowledged.
    pub fn on_ppdu(&mut self, mode: usize, sent: u32, acknowledged: u32) {
        if let Some(rate) = self.rates.iter_mut().find(|r| r.mode == mode) {
            rate.attempts += sent;
            rate.successes += acknowledged;
        }
        self.sent[0] += 1;
        self.sent[1] += u64::from(sent);
    }

    fn update(&mut self) {
        let [ppdus, frames] = std::mem::take(&mut self.sent);
        if ppdus > 0 {
            self.frames += NEW_SHARE * (frames as f64 / ppdus as f64 - self.frames);
        }
        for rate in &mut self.rates {
            if rate.attempts > 0 {
                let now = f64::from(rate.successes) / f64::from(rate.attempts);
                rate.share = Some(rate.share.map_or(now, |share| share + NEW_SHARE * (now - share)));
                (rate.attempts, rate.successes) = (0, 0);
            }
            rate.throughput = match rate.share {
                Some(share) if share >= USELESS => share.min(CERTAIN) * rate.perfect(self.frames),
                _ => 0.0,
            };
        }
        let (mut best, mut second, mut reliable) = (0, 0, 0);
        for (i, rate) in self.rates.iter().enumerate() {
            if rate.throughput > self.rates[best].throughput {
                (best, second) = (i, best);
            } else if i != best && (second == best || rate.throughput > self.rates[second].throughput) {
                second = i;
            }
            let worth = |r: &Rate| (r.share.unwrap_or(0.0).min(RELIABLE), r.throughput);
            if worth(rate) > worth(&self.rates[reliable]) {
                reliable = i;
            }
        }
        (self.best, self.second, self.reliable) = (best, second, reliable);
    }
}

#[cfg(test)]
mod tests {
    use super::super::formats::Format;
    use super::super::phy::{Band, Like, Standard};
    use super::*;

    /// Up to MCS 6 with one stream everything is acknowledged, with MCS 7 half, with two streams nothing: 6 it is.
    #[test]
    fn it_finds_the_rate_of_best_throughput_and_samples_little() {
        let phy = Phy::high(Standard::Ax, Format::He, 80, Band::Five, Like::Standard);
        let mut minstrel = MinstrelHt::new(&phy, 2, 800, Rng::new(1, "minstrel"));
        let wanted = phy.find_mcs(6, 1, 800).unwrap();
        let half = phy.find_mcs(7, 1, 800).unwrap();
        let (mut right, mut sampled) = (0, 0);
        for ppdu in 0..20_000_u64 {
            let (mode, sample) = minstrel.rate(ppdu * 1_000_000, 0);
            let sent = if sample { 1 } else { 32 };
            let p = phy.modes[mode].ppdu.unwrap();
            let acknowledged = match (p.streams, p.mcs) {
                (1, 0..=6) => sent,
                _ if mode == half => sent / 2,
                _ => 0,
            };
            minstrel.on_ppdu(mode, sent, acknowledged);
            right += u32::from(ppdu >= 5_000 && mode == wanted);
            sampled += u32::from(ppdu >= 5_000 && sample);
        }
        assert!(right > 13_400, "{right} of 15 000");
        assert!((500..=1_510).contains(&sampled), "{sampled} samples");
    }

    /// The second best may stand behind the best: worth 0.9 x 58.5 and 0.6 x 65 Mbit/s, and 1 x 6.5
    /// Mbit/s for the most reliable.
    #[test]
    fn the_second_best_may_be_a_faster_rate() {
        let phy = Phy::high(Standard::N, Format::Ht, 20, Band::Five, Like::Standard);
        let mut minstrel = MinstrelHt::new(&phy, 1, 800, Rng::new(1, "minstrel"));
        let mode = |mcs| phy.find_mcs(mcs, 1, 800).unwrap();
        minstrel.on_ppdu(mode(0), 10, 10);
        minstrel.on_ppdu(mode(6), 10, 9);
        minstrel.on_ppdu(mode(7), 10, 6);
        minstrel.samples = 1_000;
        let chain: Vec<usize> = (0..3).map(|f| minstrel.rate(INTERVAL, 2 * f).0).collect();
        assert_eq!(chain, [mode(6), mode(7), mode(0)]);
    }

    /// From 1 frame a PPDU, with 9 frames in each: 1 + 8/4 = 3 after the first interval, 3 + 6/4 =
    /// 4.5 after the second.
    #[test]
    fn the_length_of_aggregates_is_averaged() {
        let phy = Phy::high(Standard::N, Format::Ht, 20, Band::Five, Like::Standard);
        let mut minstrel = MinstrelHt::new(&phy, 1, 800, Rng::new(1, "minstrel"));
        let mut frames = Vec::new();
        for interval in 1..=3 {
            (0..4 * (interval % 3)).for_each(|_| minstrel.on_ppdu(0, 9, 9));
            minstrel.rate(interval * INTERVAL, 1);
            frames.push(minstrel.frames);
        }
        assert_eq!(frames, [3.0, 4.5, 4.5]);
    }

    #[test]
    fn failures_in_a_row_lead_to_the_most_reliable_rate() {
        let phy = Phy::high(Standard::N, Format::Ht, 20, Band::Five, Like::Standard);
        let mut minstrel = MinstrelHt::new(&phy, 1, 800, Rng::new(1, "minstrel"));
        let mode = |mcs| phy.find_mcs(mcs, 1, 800).unwrap();
        // Worth 0.9 x 65, 0.8 x 58.5 and 1 x 6.5 Mbit/s.
        minstrel.on_ppdu(mode(7), 10, 9);
        minstrel.on_ppdu(mode(6), 10, 8);
        minstrel.on_ppdu(mode(0), 10, 10);
        minstrel.samples = 1_000;
        let chain: Vec<usize> = (0..6).map(|f| minstrel.rate(INTERVAL, f).0).collect();
        assert_eq!(chain, [mode(7), mode(7), mode(6), mode(6), mode(0), mode(0)]);
    }
}
