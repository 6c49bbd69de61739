//! Octets that were acknowledged although the capture has not shown them: it lacks their record, or that record comes later.

use std::collections::VecDeque;

use anabranch_stack::seq::Seq;

/// At most so many ranges are remembered. The octets of older ones stay counted.
const RANGES: usize = 256;

/// Ranges of sequence numbers, in ascending order.
#[derive(Clone, Debug, Default)]
pub struct Unseen {
    ranges: VecDeque<(Seq, Seq)>,
    octets: u64,
}

impl Unseen {
    /// Adds `[from, to)`, which lies above all ranges added before.
    pub fn add(&mut self, from: Seq, to: Seq) {
        if from >= to {
            return;
        }
        self.octets += to - from;
        match self.ranges.back_mut() {
            Some(last) if last.1 == from => last.1 = to,
            _ => {
                if self.ranges.len() == RANGES {
                    self.ranges.pop_front();
                }
                self.ranges.push_back((from, to));
            }
        }
    }

    /// All of `[from, to)` was acknowledged and has not been seen.
    pub fn covers(&self, from: Seq, to: Seq) -> bool {
        let i = self.ranges.partition_point(|r| r.1 <= from);
        self.ranges.get(i).is_some_and(|r| r.0 <= from && to <= r.1)
    }

    /// `[from, to)` has been seen now; returns how many of its octets had not been.
    pub fn take(&mut self, from: Seq, to: Seq) -> u64 {
        let (mut i, mut taken) = (self.ranges.partition_point(|r| r.1 <= from), 0);
        while let Some(&(start, end)) = self.ranges.get(i).filter(|r| r.0 < to) {
            let (low, high) = (start.max(from), end.min(to));
            taken += high - low;
            self.ranges.remove(i);
            if high < end {
                self.ranges.insert(i, (high, end));
            }
            if start < low {
                self.ranges.insert(i, (start, low));
                i += 1;
            }
            if high < end {
                break;
            }
        }
        self.octets -= taken;
        taken
    }

    /// How many octets there are; the last one does not count if it is `before` and may be the number of a FIN.
    pub fn octets(&self, before: Option<Seq>) -> u64 {
        let fin = before.is_some() && self.ranges.back().map(|last| last.1) == before;
        self.octets - u64::from(fin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octets_that_are_seen_later_are_taken_out() {
        let mut unseen = Unseen::default();
        unseen.add(Seq(100), Seq(200));
        unseen.add(Seq(200), Seq(300));
        unseen.add(Seq(400), Seq(500));
        assert!(unseen.covers(Seq(150), Seq(250)) && !unseen.covers(Seq(250), Seq(450)));
        assert_eq!(unseen.take(Seq(150), Seq(250)), 100);
        assert_eq!(unseen.octets(None), 200);
        assert!(!unseen.covers(Seq(150), Seq(151)) && unseen.covers(Seq(100), Seq(150)));
        assert_eq!(unseen.take(Seq(0), Seq(1000)), 200);
        assert_eq!((unseen.octets(None), unseen.take(Seq(0), Seq(1000))), (0, 0));
    }

    #[test]
    fn the_last_number_may_be_that_of_a_fin() {
        let mut unseen = Unseen::default();
        unseen.add(Seq(100), Seq(101));
        assert_eq!((unseen.octets(Some(Seq(101))), unseen.octets(Some(Seq(900))), unseen.octets(None)), (0, 1, 1));
    }
}
