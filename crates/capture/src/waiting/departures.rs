//! What the departures of new data show: that all written data is out, that departures are paced, or that packets wait in a queue
//! on the sender's own host.
//!
//! RFC 9293 3.9.1.2 (MUST-61): a sender sets PSH on the last segment when it has no more data. Linux also sets PSH on the last
//! segment of each packet of several that it hands to its device (`__tcp_transmit_skb`). So only a short segment, or PSH on a
//! segment that follows another one with PSH, says that the data ended.

/// Segments that leave within this time of each other (nanoseconds) are one burst.
const BURST: u64 = 50_000;

/// Number of bursts in a row with nearly the same rate after which departures count as paced.
const EVEN: u32 = 10;

/// A sender of which more than this share of the segments is short runs out of data again and again.
const OFTEN: f64 = 1.0 / 16.0;

/// Weight of the latest segment in the share of short ones.
const MEMORY: f64 = 1.0 / 32.0;

/// The rate of an evenly paced burst is within this factor of the mean.
const NEAR: f64 = 1.25;

/// Weight of the latest burst in the mean rate.
const RECENT: f64 = 0.125;

/// Octets of TCP options at most (RFC 9293 3.1): segments that differ by less may both be full.
const OPTIONS: u64 = 40;

/// A tick of the timestamp clock, nanoseconds (Linux; RFC 7323 5.4 allows 1 ms to 1 s).
const TICK: i64 = 1_000_000;

/// A packet that left its host so much later (nanoseconds) than its timestamp says has waited in a queue there.
const LAG: i64 = 4 * TICK;

/// After so much time (nanoseconds) it is known whether a clock ticks in milliseconds.
const PROBATION: i64 = 500 * TICK;

/// The smallest lag is that of the last one to two periods of this length, so that clocks that drift apart do no harm.
const PERIOD: u64 = 10_000_000_000;

/// Departures of new data on one subflow.
#[derive(Clone, Debug, Default)]
pub struct Departures {
    /// Time of the latest departure, nanoseconds.
    latest: Option<u64>,
    /// When the present burst began, and its octets.
    began: u64,
    octets: u64,
    /// The latest segment lacks PSH.
    unpushed: bool,
    /// Mean rate of departure, octets/ns, mean time from burst to burst, ns, and for how many bursts in a row the rate was near the mean.
    rate: f64,
    pause: f64,
    even: u32,
    /// Mean octets of a burst.
    burst: f64,
    /// The latest segment ended what was written; share of the latest segments that were so short that they did.
    ended: bool,
    shorts: f64,
    lag: Lag,
}

impl Departures {
    /// A new segment of `len` octets leaves at `now`; `mss` is the payload of a full one. Returns whether it says that no more data is
    /// written.
    pub fn on_new(&mut self, now: u64, (len, mss): (u64, u64), push: bool, stamp: Option<u32>) -> bool {
        let gap = now.saturating_sub(self.latest.replace(now).unwrap_or(now));
        if gap > BURST {
            self.end_burst(now);
        }
        if self.octets == 0 {
            self.began = now;
        }
        self.octets += len;
        let alone = len <= mss && !std::mem::replace(&mut self.unpushed, !push);
        if let Some(stamp) = stamp {
            self.lag.on_departure(now, stamp);
        }
        let rest = if len > mss { len % mss.max(1) } else { len };
        let short = rest > 0 && rest + OPTIONS < mss;
        self.shorts += MEMORY * (f64::from(u8::from(short)) - self.shorts);
        self.ended = short || push && alone;
        self.ended
    }

    /// The latest segment ended what was written.
    pub fn have_ended(&self) -> bool {
        self.ended
    }

    /// So many segments are short that the sender must have run out of data again and again. A few are enough if nothing else
    /// explains when segments leave (`at_will`).
    pub fn run_dry(&self, at_will: bool) -> bool {
        self.shorts > if at_will { OFTEN / 8.0 } else { OFTEN }
    }

    fn end_burst(&mut self, now: u64) {
        let time = now.saturating_sub(self.began);
        if self.octets > 0 && time > 0 {
            let rate = self.octets as f64 / time as f64;
            let near = rate < NEAR * self.rate && rate * NEAR > self.rate;
            self.even = if near { (self.even + 1).min(2 * EVEN) } else { self.even.saturating_sub(EVEN / 2) };
            self.pause += if self.pause > 0.0 { RECENT * (time as f64 - self.pause) } else { time as f64 };
            self.burst +=
                if self.burst > 0.0 { RECENT * (self.octets as f64 - self.burst) } else { self.octets as f64 };
            self.rate += if self.rate > 0.0 { RECENT * (rate - self.rate) } else { rate };
        }
        self.octets = 0;
    }

    /// Departures followed each other at a constant rate until `now`: something paces them.
    pub fn are_even(&self, now: u64) -> bool {
        let since = self.latest.map_or(u64::MAX, |at| now.saturating_sub(at));
        self.even >= EVEN && since as f64 <= 2.0 * self.pause
    }

    /// Mean octets of a burst.
    pub fn burst(&self) -> u64 {
        self.burst as u64
    }

    /// Mean time from one burst to the next, nanoseconds.
    pub fn pause(&self) -> u64 {
        self.pause as u64
    }

    /// For so long (nanoseconds) the latest packet has waited in a queue of its host; 0 if nothing shows that it did.
    pub fn wait(&self) -> u64 {
        if self.are_queued() { self.lag.latest as u64 } else { 0 }
    }

    /// About so many octets wait in that queue.
    pub fn queued(&self) -> u64 {
        (self.wait() as f64 * self.rate) as u64
    }

    /// The latest packet has waited in a queue of its host.
    pub fn are_queued(&self) -> bool {
        self.lag.latest > LAG
    }
}

/// How much later packets leave than their timestamps say.
#[derive(Clone, Debug, Default)]
struct Lag {
    /// Time and timestamp of the first departure, and whether the timestamps tick in milliseconds, once that is known.
    first: Option<(u64, u32)>,
    milliseconds: Option<bool>,
    /// When the present period began; the smallest difference of the clocks in the period before and in this one.
    since: u64,
    least: [Option<i64>; 2],
    /// Lag of the latest packet, nanoseconds.
    latest: i64,
}

impl Lag {
    fn on_departure(&mut self, now: u64, stamp: u32) {
        let (began, first) = *self.first.get_or_insert((now, stamp));
        let ticks = i64::from(stamp.wrapping_sub(first) as i32) * TICK;
        let passed = now.saturating_sub(began) as i64;
        if self.milliseconds.is_none() && passed >= PROBATION {
            // A queue that builds up meanwhile makes the clock seem slower, by a part of the time.
            self.milliseconds = Some((passed / 2..passed / 8 * 9).contains(&ticks));
        }
        if now.saturating_sub(self.since) > PERIOD {
            (self.since, self.least) = (now, [self.least[1], None]);
        }
        let behind = passed - ticks;
        let least = self.least[1].map_or(behind, |least| least.min(behind));
        self.least[1] = Some(least);
        let least = self.least[0].map_or(least, |before| before.min(least));
        self.latest = if self.milliseconds == Some(true) { behind - least } else { 0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const MSS: u64 = 1448;

    /// Sends bursts of `segments` full segments every `every` nanoseconds, the last of each with PSH.
    fn bursts(d: &mut Departures, count: u64, segments: u64, every: u64) -> bool {
        let mut ended = false;
        for i in 0..count {
            for j in 0..segments {
                ended = d.on_new(1 + i * every, (MSS, MSS), j + 1 == segments, None);
            }
        }
        ended
    }

    #[test]
    fn a_short_segment_ends_what_was_written() {
        let mut d = Departures::default();
        assert!(!d.on_new(1, (MSS, MSS), false, None));
        assert!(d.on_new(2, (700, MSS), false, None));
        assert!(!d.on_new(MS, (MSS - 20, MSS), false, None), "options take the rest");
        assert!(d.on_new(2 * MS, (3 * MSS + 5, MSS), true, None), "merged by an offload");
        assert!(!d.on_new(3 * MS, (3 * MSS, MSS), true, None));
    }

    #[test]
    fn push_behind_several_segments_says_nothing_and_behind_another_push_it_does() {
        assert!(!bursts(&mut Departures::default(), 20, 3, MS));
        assert!(bursts(&mut Departures::default(), 20, 1, MS));
    }

    #[test]
    fn even_departures_are_paced_and_others_are_not() {
        let mut even = Departures::default();
        bursts(&mut even, 20, 2, MS);
        assert!(even.are_even(20 * MS));
        assert!(!even.are_even(30 * MS), "it has stopped");
        assert_eq!(even.pause(), MS);
        let mut uneven = Departures::default();
        for i in 0..40_u64 {
            uneven.on_new(i * MS + (i % 3) * 400_000, (MSS, MSS), false, None);
        }
        assert!(!uneven.are_even(40 * MS));
    }

    /// A shaper on the host holds packets back for 20 ms after they got their timestamps.
    #[test]
    fn a_packet_that_leaves_long_after_its_timestamp_was_queued_on_its_host() {
        let mut d = Departures::default();
        for i in 0..1000_u64 {
            let lag = if i < 600 { 0 } else { 20 };
            d.on_new((i + lag) * MS, (MSS, MSS), false, Some(i as u32));
            assert_eq!(d.are_queued(), i >= 600, "{i}");
        }
    }

    /// With ticks of 10 ms the clock seems to fall behind for ever.
    #[test]
    fn a_clock_with_another_tick_shows_no_queue() {
        let mut d = Departures::default();
        for i in 0..10_000_u64 {
            d.on_new(i * 10 * MS, (MSS, MSS), false, Some(i as u32));
            assert!(!d.are_queued());
        }
    }
}
