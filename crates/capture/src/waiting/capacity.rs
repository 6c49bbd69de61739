//! What a path carries. While packets wait before its slowest link, that link is never idle: what leaves it then, in the time that
//! takes, is its capacity. Without such times the rate of the best second is a lower bound.
//!
//! A packet that was before the link already when the one ahead of it left had nothing but the link to wait for. An
//! acknowledgement shows when a packet left the link, later by the way back; the packet was there its sending time and the way
//! there after. The shortest round trip is both ways together: so the link was busy from one acknowledgement to the next if all
//! that the later one tells of was sent a shortest round trip before the earlier one came.

use std::collections::VecDeque;

/// A second, nanoseconds.
const SECOND: u64 = 1_000_000_000;
/// Points are kept that far apart.
const STEP: u64 = 5_000_000;
/// A rate is told for so much time of a busy link.
const ENOUGH: u64 = SECOND / 2;
/// A burst shorter than this says nothing of the link: behind a shaper on the sender's host each packet is one.
const LONG: u64 = SECOND / 10;
/// Full packets in a row that make a train: in fewer, delays that vary may look like a queue.
const TRAIN: u64 = 10;
/// A rate is near another one if it is at least this part of it.
const NEAR: f64 = 0.95;
/// RFC 9293 3.8.6.3: there is an acknowledgement at least for every second full segment; that of a single one may be late.
const PROMPT: u64 = 2;

/// What was known at a time.
#[derive(Clone, Copy, Debug)]
struct Point {
    at: u64,
    /// Octets delivered until then.
    delivered: u64,
}

/// Octets that left the link while it was busy, and the time that took.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    octets: u64,
    time: u64,
}

/// The rate of one path in one direction, in octets of IP packets.
#[derive(Clone, Debug, Default)]
pub struct Capacity {
    /// Of the last second.
    points: VecDeque<Point>,
    delivered: u64,
    /// Octets of the largest packet.
    packet: u64,
    /// When two packets or more were acknowledged last; what was acknowledged since, and when the last of it was sent.
    prompt: Option<u64>,
    pending: (u64, u64),
    /// Packets that followed each other on the busy link; there were enough of them before.
    train: Run,
    proven: bool,
    /// Octets that have left the busy link since it was idle last, as far as known.
    queued: u64,
    /// Packets waited before the link when the latest two or more were acknowledged.
    busy: bool,
    /// What trains carried since the last rate was told.
    carried: Run,
    /// When the first data were sent; when the present burst began, and what was delivered until then.
    first: Option<u64>,
    /// The number of the present second from the first data on, and what was delivered until it began.
    second: (u64, u64),
    burst: Option<Point>,
    /// Rates of the busy link, octets/s; the best rate of a second or of the beginning of a burst; the rate of the whole time.
    pub saturated: Vec<f64>,
    best: f64,
    average: f64,
    /// What left while the sender's host held packets back, since the last rate, and the rates.
    held_back: Run,
    shaped: Vec<f64>,
}

impl Capacity {
    /// `octets` more are known to have arrived, the last of them sent at `sent`. `least` is the shortest round trip, times of sending may be
    /// wrong by `blur`. Returns whether the link is known to have been busy since the acknowledgement before.
    pub fn on_delivered(
        &mut self,
        now: u64,
        (octets, packet): (u64, u64),
        sent: u64,
        (least, blur): (Option<u64>, u64),
    ) -> bool {
        self.packet = self.packet.max(packet);
        self.end_seconds(now);
        self.delivered += octets;
        self.pending = (self.pending.0 + octets, self.pending.1.max(sent));
        if self.pending.0 >= PROMPT * self.packet {
            let (octets, sent) = std::mem::take(&mut self.pending);
            let since = self.prompt.replace(now);
            let queued = |since: &u64| least.is_some_and(|least| sent + least + blur <= *since);
            let run = since.filter(queued).map(|since| Run { octets, time: now - since });
            self.busy = run.is_some();
            self.extend(run);
        }
        self.note_second(now);
        self.busy
    }

    /// The link was busy with `run`, or it is not known to have been busy.
    fn extend(&mut self, run: Option<Run>) {
        let Some(run) = run else {
            (self.train, self.proven, self.queued) = (Run::default(), false, 0);
            return;
        };
        self.queued += run.octets;
        self.train = Run { octets: self.train.octets + run.octets, time: self.train.time + run.time };
        self.proven |= self.train.octets >= TRAIN * self.packet;
        if !self.proven {
            return;
        }
        let train = std::mem::take(&mut self.train);
        self.carried = Run { octets: self.carried.octets + train.octets, time: self.carried.time + train.time };
        if self.carried.time >= ENOUGH {
            let Run { octets, time } = std::mem::take(&mut self.carried);
            self.saturated.push(octets as f64 * 1e9 / time as f64);
        }
    }

    /// New data leave at `now`; `alone`: nothing else is in flight.
    pub fn on_sent(&mut self, now: u64, alone: bool) {
        let first = *self.first.get_or_insert(now);
        if alone || self.burst.is_none() {
            self.burst = Some(Point { at: now.max(first), delivered: self.delivered });
        }
    }

    /// Counts what was acknowledged in each of the seconds in a row from the first data on.
    fn end_seconds(&mut self, now: u64) {
        let Some(first) = self.first else { return };
        let number = now.saturating_sub(first) / SECOND;
        if number > self.second.0 {
            self.best = self.best.max(self.this_second());
            self.second = (number, self.delivered);
        }
    }

    /// What was acknowledged in the present one of those seconds, octets/s. What an acknowledgement tells of in the beginning of any but
    /// the first may have left the link before it.
    fn this_second(&self) -> f64 {
        let early = if self.second.0 == 0 { 0 } else { PROMPT * self.packet };
        (self.delivered - self.second.1).saturating_sub(early) as f64
    }

    /// Rates that the link has had at least, since it carried what was acknowledged: of the last second, of the burst so far while that
    /// has lasted less than a second, and of the whole time. A burst begins when data are sent and nothing is in flight.
    fn note_second(&mut self, now: u64) {
        if let Some(Point { at, delivered }) =
            self.burst.filter(|burst| (LONG..SECOND).contains(&(now - burst.at.min(now))))
        {
            // Behind a shaper on the sender's host the time of the first packet on the link is over when it is seen.
            let octets = (self.delivered - delivered).saturating_sub(self.packet);
            self.best = self.best.max(octets as f64 * 1e9 / (now - at) as f64);
        }
        if let Some(first) = self.first.filter(|first| now > *first) {
            self.average = self.delivered as f64 * 1e9 / (now - first) as f64;
        }
        if self.points.back().is_some_and(|last| now < last.at + STEP) {
            return;
        }
        self.points.push_back(Point { at: now, delivered: self.delivered });
        while self.points.get(1).is_some_and(|second| second.at + SECOND <= now) {
            self.points.pop_front();
        }
        let whole = now >= self.points[0].at + SECOND;
        if let Some(first) = self.points.get(1).filter(|_| whole) {
            // What the first acknowledgement of the second tells of may have left the link before.
            self.best = self.best.max((self.delivered - first.delivered) as f64 * 1e9 / SECOND as f64);
        }
    }

    /// The rate in octets/s that the link has had at least; zero if nothing was delivered. A rate that is measured while the link is busy is
    /// more exact than what acknowledgements tell late, behind a hole.
    pub fn least(&self) -> f64 {
        let most = self.rates().iter().copied().fold(0.0, f64::max);
        let best = self.best.max(self.this_second());
        let best = if most > 0.0 { best.min(most) } else { best };
        best.max(self.average)
    }

    /// What is acknowledged now may have arrived at any time: a hole was filled, and without SACK nobody said what came behind it.
    pub fn restart(&mut self) {
        self.points.clear();
        (self.prompt, self.pending) = (None, (0, 0));
        self.extend(None);
    }

    /// What the path is known to carry by now, octets/s: of its busy link, if only for a moment; else of the best second.
    pub fn rate(&self) -> f64 {
        let Run { octets, time } = self.carried;
        let busy = if time > 0 { octets as f64 * 1e9 / time as f64 } else { 0.0 };
        self.saturated.last().copied().unwrap_or(busy).max(self.best)
    }

    /// `octets` left the sender in `time` nanoseconds while a queue of its own host held packets back.
    pub fn on_shaped(&mut self, octets: u64, time: u64) {
        self.held_back = Run { octets: self.held_back.octets + octets, time: self.held_back.time + time };
        if self.held_back.time >= ENOUGH {
            let Run { octets, time } = std::mem::take(&mut self.held_back);
            self.shaped.push(octets as f64 * 1e9 / time as f64);
        }
    }

    /// Rates of the slowest link while packets waited before it, octets/s: as acknowledgements show them or, where only a queue on the
    /// sender's host was seen, as departures do.
    ///
    /// None if the link has carried more at other times: then it was not what held the packets back.
    pub fn rates(&self) -> &[f64] {
        let rates = if self.saturated.is_empty() { &self.shaped } else { &self.saturated };
        if rates.iter().any(|rate| *rate >= NEAR * self.best.max(self.average)) { rates } else { &[] }
    }

    /// For so long the link has been busy that delays that vary cannot be why, nor a burst of `octets` that was sent at once.
    pub fn is_pressed(&self, octets: u64) -> bool {
        self.proven && self.queued >= 2 * octets
    }

    /// Octets delivered.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const PACKET: u64 = 1500;

    /// Acknowledgements of two packets each, 2 ms apart: 12 Mbit/s. Each was sent `ago` before it was acknowledged.
    fn acknowledged(ago: u64, blur: u64, count: u64) -> Capacity {
        let mut c = Capacity::default();
        for i in 0..count {
            let now = SECOND + i * 2 * MS;
            c.on_delivered(now, (2 * PACKET, PACKET), now - ago, (Some(20 * MS), blur));
        }
        c
    }

    /// Sent a round trip and 2 ms before its acknowledgement, a packet met the one before: the link was busy. Half a second is 250 of
    /// them. Sent later, it may have met nothing.
    #[test]
    fn packets_that_meet_the_one_before_show_the_rate_of_the_link() {
        let busy = acknowledged(22 * MS, 0, 252);
        assert_eq!(busy.saturated.len(), 1);
        assert!((busy.saturated[0] - 1.5e6).abs() < 1.0, "{:?}", busy.saturated);
        assert_eq!(busy.rates(), busy.saturated);
        // The link has carried far more in another second: it was not what held the packets back.
        let faster = Capacity { best: 2.5e6, ..busy };
        assert!(faster.rates().is_empty());
        assert!(acknowledged(21 * MS, 0, 2000).saturated.is_empty());
        assert!(acknowledged(22 * MS, MS, 2000).saturated.is_empty());
        assert_eq!(acknowledged(23 * MS, MS, 252).saturated.len(), 1);
    }

    /// A link that is idle for 10 ms after every 40 of its packets carries less than it could in any second; what it carries while it is
    /// busy is what it can.
    #[test]
    fn a_link_that_rests_now_and_then_is_known_by_its_busy_times() {
        let mut c = Capacity::default();
        for i in 0..2000_u64 {
            let burst = i / 20;
            let first = SECOND + burst * 50 * MS;
            let now = first + (i % 20) * 2 * MS;
            // All of a burst are sent at once, so that the first of them arrives a round trip later.
            c.on_delivered(now, (2 * PACKET, PACKET), first - 22 * MS, (Some(20 * MS), 0));
        }
        assert!(c.best < 1.25e6, "{}", c.best);
        assert!(c.saturated.len() >= 5);
        assert!(c.saturated.iter().all(|rate| (rate / 1.5e6 - 1.0).abs() < 1e-9), "{:?}", c.saturated);
    }

    /// Three packets sent at once: two are acknowledged when they arrive, the third 40 ms later. That is the receiver's delay, not the
    /// link's.
    #[test]
    fn a_delayed_acknowledgement_is_no_time_of_the_link() {
        let mut c = Capacity::default();
        for i in 0..2000_u64 {
            let first = SECOND + i * 100 * MS;
            c.on_delivered(first, (2 * PACKET, PACKET), first - 22 * MS, (Some(20 * MS), 0));
            c.on_delivered(first + 40 * MS, (PACKET, PACKET), first - 22 * MS, (Some(20 * MS), 0));
        }
        assert!(c.saturated.is_empty(), "{:?}", c.saturated);
    }
}
