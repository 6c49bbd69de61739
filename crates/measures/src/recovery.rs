//! How long a connection takes to find its rate again after a path has changed.
//!
//! The changes of a connection's paths cut its time into spans; the first begins with the first octet read. The *level* of a span is the mean
//! rate at which the application read in its second half. A connection has recovered from a change at the first time after it, in steps
//! of 10 ms, at which something is read and from which on both the next 100 ms and the next second (or what is left of the span)
//! reach [`SHARE`] of the level of the span. So it is the time to settle, whatever the new level is: after a path has failed, on what is
//! left of the paths; after it has come back, on all of them. The sampling of the rate in short intervals, and the share of it, are
//! those of RFC 6412 3.6 and 3.7 (convergence of routing, by rate).

/// Nanoseconds of an interval; in a span of more than [`MOST`] of them they are longer.
pub const STEP: u64 = 10_000_000;
/// Intervals kept of a span.
const MOST: usize = 1 << 16;
/// Intervals, of [`STEP`], over which a rate is looked at.
const SHORT: u64 = 10;
const LONG: u64 = 100;
/// Of the level.
pub const SHARE: f64 = 0.9;

/// From one change to the next.
#[derive(Clone, Debug)]
struct Span {
    start: u64,
    /// Nanoseconds of an interval.
    step: u64,
    /// Octets read in each.
    read: Vec<u64>,
}

/// What became of a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// When it happened, in nanoseconds.
    pub at: u64,
    /// Levels before and after, in octets/s; `None` if the span is too short to have one.
    pub before: Option<f64>,
    /// After it.
    pub after: Option<f64>,
    /// Nanoseconds until the rate was back.
    pub recovery: Option<u64>,
}

/// The account of a connection whose paths change.
#[derive(Clone, Debug)]
pub struct Recovery {
    /// When its paths change, in order.
    changes: Vec<u64>,
    spans: Vec<Span>,
}

impl Recovery {
    /// Of a connection whose paths change at these times; `None` if there is none.
    pub fn new(mut changes: Vec<u64>) -> Option<Box<Self>> {
        changes.sort_unstable();
        changes.dedup();
        (!changes.is_empty()).then(|| Box::new(Self { changes, spans: Vec::new() }))
    }

    /// `octets` were read.
    pub fn read(&mut self, now: u64, octets: u64) {
        let begun = self.spans.last().map(|span| span.start);
        let last = self.changes.iter().rev().find(|at| **at <= now).copied();
        match (begun, last) {
            // What changed before the first octet is no change to it.
            (None, _) => self.spans.push(Span::new(now)),
            (Some(start), Some(at)) if at > start => {
                // Between two changes nothing may have been read.
                self.spans.extend(self.changes.iter().filter(|c| **c > start && **c <= at).map(|c| Span::new(*c)));
            }
            _ => {}
        }
        self.spans.last_mut().expect("there is one").add(now, octets);
    }

    /// What became of each change between the first octet and `end`.
    pub fn changes(&self, end: u64) -> Vec<Change> {
        let Some(first) = self.spans.first() else { return Vec::new() };
        let empty = |at: &u64| Span::new(*at);
        let reached = self.spans.last().map_or(0, |span| span.start);
        let later: Vec<Span> = self.changes.iter().filter(|c| **c > reached && **c < end).map(empty).collect();
        let spans: Vec<&Span> =
            self.spans.iter().chain(&later).filter(|s| s.start < end || s.start == first.start).collect();
        let until = |i: usize| spans.get(i + 1).map_or(end, |next| next.start);
        let change = |i: usize| {
            let (before, after) = (spans[i - 1].level(until(i - 1)), spans[i].level(until(i)));
            let recovery = after.and_then(|level| spans[i].settled(until(i), level));
            Change { at: spans[i].start, before, after, recovery }
        };
        (1..spans.len()).map(change).collect()
    }
}

impl Span {
    fn new(start: u64) -> Self {
        Self { start, step: STEP, read: Vec::new() }
    }

    fn add(&mut self, now: u64, octets: u64) {
        while (now - self.start) / self.step >= MOST as u64 {
            self.step *= 2;
            self.read = self.read.chunks(2).map(|pair| pair.iter().sum()).collect();
        }
        let i = ((now - self.start) / self.step) as usize;
        if i >= self.read.len() {
            self.read.resize(i + 1, 0);
        }
        self.read[i] += octets;
    }

    /// Octets read in the intervals from `from` to before `to`.
    fn sum(&self, from: u64, to: u64) -> u64 {
        let len = self.read.len();
        self.read[(from as usize).min(len)..(to as usize).min(len)].iter().sum()
    }

    fn rate(&self, from: u64, to: u64) -> f64 {
        self.sum(from, to) as f64 / ((to - from) * self.step) as f64 * 1e9
    }

    /// Mean rate over the second half, if there are twenty steps at least.
    fn level(&self, end: u64) -> Option<f64> {
        let whole = (end - self.start) / self.step;
        (whole >= 2 * SHORT).then(|| self.rate(whole / 2, whole))
    }

    /// Nanoseconds until the rate is `level` by [`SHARE`].
    fn settled(&self, end: u64, level: f64) -> Option<u64> {
        let whole = (end - self.start) / self.step;
        let reaches = |from: u64, many: u64| {
            let to = (from + (many * STEP / self.step).max(1)).min(whole);
            self.rate(from, to) >= SHARE * level
        };
        let found = (0..whole).find(|k| self.sum(*k, k + 1) > 0 && reaches(*k, SHORT) && reaches(*k, LONG));
        found.filter(|_| level > 0.0).map(|k| k * self.step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;
    const MS: u64 = 1_000_000;

    /// 1000 octets each 10 ms, 5 ms after each step: 100 kB/s.
    fn steady(r: &mut Recovery, from: u64, to: u64, octets: u64) {
        (from..to).step_by(10 * MS as usize).for_each(|t| r.read(t + 5 * MS, octets));
    }

    /// It stops at 2 s, goes on at 2.5 s with half of the rate, and has all of it again from 3 s on, when the change is taken back.
    #[test]
    fn a_stop_and_half_of_the_rate() {
        let mut r = Recovery::new(vec![3 * S, 2 * S, 2 * S]).unwrap();
        steady(&mut r, 0, 2 * S, 1000);
        steady(&mut r, 2500 * MS, 3 * S, 500);
        steady(&mut r, 3 * S, 5 * S, 1000);
        let found = r.changes(5 * S);
        let down = Change { at: 2 * S, before: Some(100e3), after: Some(50e3), recovery: Some(500 * MS) };
        let up = Change { at: 3 * S, before: Some(50e3), after: Some(100e3), recovery: Some(0) };
        assert_eq!(found, [down, up]);
    }

    /// Half a second of data comes at once after a stop of half a second: the mean is soon made up for, but that nothing was read
    /// before counts.
    #[test]
    fn a_burst_after_a_stop_does_not_make_up_for_it() {
        let mut r = Recovery::new(vec![2 * S]).unwrap();
        steady(&mut r, 0, 2 * S, 1000);
        r.read(2500 * MS, 51_000);
        steady(&mut r, 2510 * MS, 5 * S, 1000);
        assert_eq!(r.changes(5 * S)[0].recovery, Some(500 * MS));
    }

    /// A rate that rises by 1000 octets each 100 ms for a second, from 1000 to 10 000, and stays there: 90 % of 1 MB/s over 100 ms
    /// is reached with the interval from 0.8 s on, of 9000; from there on a second has more than 90 %.
    #[test]
    fn a_ramp_is_settled_where_it_reaches_nine_tenths() {
        let mut r = Recovery::new(vec![S]).unwrap();
        steady(&mut r, 0, S, 1000);
        for i in 0..10 {
            steady(&mut r, S + i * 100 * MS, S + (i + 1) * 100 * MS, 1000 * (i + 1));
        }
        steady(&mut r, 2 * S, 5 * S, 10_000);
        let found = r.changes(5 * S)[0];
        assert_eq!((found.after, found.recovery), (Some(1e6), Some(800 * MS)));
    }

    #[test]
    fn what_never_comes_back_has_no_time() {
        let mut r = Recovery::new(vec![2 * S, 3 * S, 9 * S]).unwrap();
        steady(&mut r, 0, 2 * S, 1000);
        let found = r.changes(5 * S);
        let gone = |at, before| Change { at, before: Some(before), after: Some(0.0), recovery: None };
        assert_eq!(found, [gone(2 * S, 100e3), gone(3 * S, 0.0)]);
        // Without an octet there is no first span, and no change within it.
        assert_eq!(Recovery::new(vec![S]).unwrap().changes(5 * S), []);
        assert!(Recovery::new(Vec::new()).is_none());
    }

    /// Changes before the first octet do not count, and too short a span has no level.
    #[test]
    fn spans_too_short_have_no_level() {
        let mut r = Recovery::new(vec![S, 3 * S, 3100 * MS]).unwrap();
        steady(&mut r, 2 * S, 5 * S, 1000);
        let found = r.changes(5 * S);
        assert_eq!((found.len(), found[0].at, found[0].after, found[0].recovery), (2, 3 * S, None, None));
        assert_eq!((found[1].before, found[1].after, found[1].recovery), (None, Some(100e3), Some(0)));
    }

    /// In a span of an hour an interval is 80 ms: what is kept stays bounded, and the level is the same.
    #[test]
    fn long_spans_are_kept_more_coarsely() {
        let mut r = Recovery::new(vec![S]).unwrap();
        steady(&mut r, 0, S, 1000);
        steady(&mut r, 2 * S, 3601 * S, 1000);
        let span = &r.spans[1];
        assert!(span.step == 8 * STEP && span.read.len() <= MOST);
        let found = r.changes(3601 * S)[0];
        assert!((found.after.unwrap() / 100e3 - 1.0).abs() < 1e-9);
        // It goes on after one second, which is 12.5 intervals; the first full one begins at 1.04 s.
        assert_eq!(found.recovery, Some(1040 * MS));
    }
}
