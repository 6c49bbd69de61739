//! Data sequence numbers over time, for the time-sequence figure: what each subflow sent, what the receiver acknowledged,
//! and where its window ended.
//!
//! Points are gathered in steps of time: for each step, subflow and kind of transmission the lowest and the highest octet. A
//! step is a millisecond at first and twice as long whenever there are more than [`LIMIT`] steps, so memory does not grow with
//! the capture.

use std::collections::VecDeque;

/// Steps kept at most.
pub const LIMIT: usize = 2048;

const FIRST_STEP: u64 = 1_000_000;

/// Why octets of the data stream were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sort {
    /// For the first time.
    New = 0,
    /// Again on the same subflow.
    Retransmission = 1,
    /// Again on another subflow (RFC 8684 3.3.6).
    Reinjection = 2,
}

impl Sort {
    /// Names, in order of their numbers.
    pub const NAMES: [&'static str; 3] = ["new", "retransmission", "reinjection"];
}

/// Octets of one sort sent by one subflow in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Beginning of the step, nanoseconds since the epoch.
    pub at: u64,
    /// Subflow.
    pub subflow: u32,
    /// Which sort.
    pub sort: Sort,
    /// Data offset of the lowest octet.
    pub low: u64,
    /// Data offset after the highest octet.
    pub high: u64,
}

/// The receiver's acknowledgement and window at the end of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Beginning of the step, nanoseconds since the epoch.
    pub at: u64,
    /// DATA_ACK as a data offset.
    pub data_ack: u64,
    /// Right edge of the receive window, as a data offset.
    pub edge: u64,
}

/// The record of one direction.
#[derive(Clone, Debug)]
pub struct Sequence {
    step: u64,
    spans: Vec<Span>,
    /// Spans of the step in progress.
    current: VecDeque<Span>,
    windows: Vec<Window>,
    steps: usize,
    last: u64,
}

impl Default for Sequence {
    fn default() -> Self {
        let (spans, current, windows) = (Vec::new(), VecDeque::new(), Vec::new());
        Self { step: FIRST_STEP, spans, current, windows, steps: 0, last: u64::MAX }
    }
}

impl Sequence {
    fn step_of(&mut self, now: u64) -> u64 {
        let at = now - now % self.step;
        if at != self.last {
            self.last = at;
            self.steps += 1;
            self.spans.extend(self.current.drain(..));
            if self.steps > LIMIT {
                self.coarsen();
                return now - now % self.step;
            }
        }
        at
    }

    fn coarsen(&mut self) {
        self.step *= 2;
        let step = self.step;
        let mut merged: Vec<Span> = Vec::with_capacity(self.spans.len());
        let mut from = 0;
        for mut s in self.spans.drain(..) {
            s.at -= s.at % step;
            if merged.get(from).is_some_and(|m| m.at != s.at) {
                from = merged.len();
            }
            join(merged[from..].iter_mut(), &s).then(|| merged.push(s));
        }
        self.spans = merged;
        let mut windows: Vec<Window> = Vec::with_capacity(self.windows.len());
        for mut w in self.windows.drain(..) {
            w.at -= w.at % step;
            match windows.last_mut() {
                Some(last) if last.at == w.at => *last = w,
                _ => windows.push(w),
            }
        }
        self.windows = windows;
        self.last -= self.last % step;
        self.steps = self.steps.div_ceil(2);
    }

    /// `[low, high)` was sent.
    #[inline]
    pub fn send(&mut self, now: u64, subflow: u32, sort: Sort, low: u64, high: u64) {
        let at = self.step_of(now);
        let span = Span { at, subflow, sort, low, high };
        if join(self.current.iter_mut(), &span) {
            self.current.push_back(span);
        }
    }

    /// The receiver acknowledges everything before `data_ack`, and its window ends at `edge`.
    #[inline]
    pub fn acknowledge(&mut self, now: u64, data_ack: u64, edge: u64) {
        let at = self.step_of(now);
        let w = Window { at, data_ack, edge };
        match self.windows.last_mut() {
            Some(last) if last.at == at => *last = w,
            Some(last) if last.data_ack == data_ack && last.edge == edge => {}
            _ => self.windows.push(w),
        }
    }

    /// What was sent, in order of time.
    pub fn spans(&self) -> impl Iterator<Item = &Span> {
        self.spans.iter().chain(&self.current)
    }

    /// What was acknowledged, in order of time.
    pub fn windows(&self) -> &[Window] {
        &self.windows
    }
}

/// Merges `s` into the one of `spans` with the same subflow, sort and time; true if there is none.
fn join<'a>(mut spans: impl Iterator<Item = &'a mut Span>, s: &Span) -> bool {
    match spans.find(|m| m.subflow == s.subflow && m.sort == s.sort && m.at == s.at) {
        Some(m) => {
            (m.low, m.high) = (m.low.min(s.low), m.high.max(s.high));
            false
        }
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `LIMIT` steps are kept as they are; one more doubles them.
    #[test]
    fn one_step_too_many_doubles_them() {
        let mut s = Sequence::default();
        let steps = |s: &Sequence| s.spans().count();
        (0..LIMIT as u64).for_each(|i| s.send(i * 1_000_000, 0, Sort::New, i, i + 1));
        assert_eq!(steps(&s), LIMIT);
        s.send(LIMIT as u64 * 1_000_000, 0, Sort::New, 2048, 2049);
        assert_eq!(steps(&s), LIMIT / 2 + 1);
    }

    /// One octet a millisecond on two subflows in turn for ten seconds: at most LIMIT steps stay, and together their spans
    /// still cover every octet.
    #[test]
    fn steps_double_and_lose_no_octet() {
        let mut s = Sequence::default();
        for i in 0..10_000_u64 {
            s.send(i * 1_000_000, (i % 2) as u32, Sort::New, i, i + 1);
            s.acknowledge(i * 1_000_000, i, i + 100);
        }
        let mut times: Vec<u64> = s.spans().map(|s| s.at).collect();
        assert!(times.is_sorted());
        times.dedup();
        assert!(times.len() <= LIMIT && times.len() >= LIMIT / 2, "{}", times.len());
        assert!(s.windows().len() <= LIMIT);
        // Steps of 8 ms: four octets a subflow, from the first to the last.
        let first: Vec<&Span> = s.spans().filter(|s| s.at == 0).collect();
        assert_eq!(first.iter().map(|s| (s.subflow, s.low, s.high)).collect::<Vec<_>>(), vec![(0, 0, 7), (1, 1, 8)]);
        let covered = s.spans().map(|s| s.high).max();
        assert_eq!(covered, Some(10_000));
        assert_eq!(s.windows().last().map(|w| (w.data_ack, w.edge)), Some((9_999, 10_099)));
    }
}
