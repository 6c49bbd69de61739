//! A set of octets as sorted, disjoint, non-touching ranges.
//!
//! In practice the set is small, one range for each hole, and new octets nearly always extend the last range, which is
//! therefore kept apart. But a peer can make as many holes as its window has octets, so the other ranges are in a tree.

use std::collections::BTreeMap;

/// Half-open ranges `[start, end)`.
#[derive(Clone, Debug, Default)]
pub struct RangeSet {
    /// All but the last, by their starts.
    lower: BTreeMap<u64, u64>,
    last: Option<(u64, u64)>,
}

impl RangeSet {
    /// No octet is in the set.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.last.is_none()
    }

    /// End of the highest range; `None` if the set is empty.
    pub fn end(&self) -> Option<u64> {
        self.last.map(|(_, end)| end)
    }

    /// How many ranges there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.lower.len() + usize::from(self.last.is_some())
    }

    /// The ranges in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.lower.iter().map(|(&start, &end)| (start, end)).chain(self.last)
    }

    /// Adds `[start, end)`; returns how many octets were not in the set before.
    pub fn insert(&mut self, start: u64, end: u64) -> u64 {
        if start >= end {
            return 0;
        }
        match &mut self.last {
            // The usual cases: next to the last range, or behind it.
            Some(last) if start == last.1 => {
                last.1 = end;
                end - start
            }
            Some(last) if start < last.1 => self.insert_below(start, end),
            last => {
                if let Some(before) = last.replace((start, end)) {
                    self.lower.insert(before.0, before.1);
                }
                end - start
            }
        }
    }

    /// [`RangeSet::insert`] for a range that begins before the last one ends.
    fn insert_below(&mut self, start: u64, end: u64) -> u64 {
        let (mut merged, mut known) = ((start, end), 0);
        let mut merge = |r: (u64, u64)| {
            known += r.1.min(end).saturating_sub(r.0.max(start));
            merged = (merged.0.min(r.0), merged.1.max(r.1));
        };
        let reaches_last = self.last.is_some_and(|last| end >= last.0);
        if let Some(last) = self.last.take_if(|_| reaches_last) {
            merge(last);
        }
        // Ranges that touch or overlap the new one, from the highest downwards.
        while let Some((&from, &to)) = self.lower.range(..=end).next_back() {
            if to < start {
                break;
            }
            merge((from, to));
            self.lower.remove(&from);
        }
        if reaches_last {
            self.last = Some(merged);
        } else {
            self.lower.insert(merged.0, merged.1);
        }
        (end - start) - known
    }

    /// The first range that has an octet of `[start, end)`.
    pub fn overlapping(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        let before = self.lower.range(..=start).next_back().filter(|r| *r.1 > start);
        let first = before.or_else(|| self.lower.range(start..end).next());
        let first = first.map(|(&from, &to)| (from, to));
        first.or(self.last.filter(|last| last.0 < end && start < last.1))
    }

    /// The range that holds `at`.
    #[inline]
    pub fn containing(&self, at: u64) -> Option<(u64, u64)> {
        match self.last {
            Some(last) if last.0 <= at => (at < last.1).then_some(last),
            _ => self.lower.range(..=at).next_back().map(|(&from, &to)| (from, to)).filter(|r| at < r.1),
        }
    }

    /// Removes everything below `below`; returns how many octets that was.
    pub fn remove_below(&mut self, below: u64) -> u64 {
        let mut gone = 0;
        while let Some(first) = self.lower.first_entry().filter(|first| *first.key() < below) {
            let start = *first.key();
            let end = first.remove();
            gone += end.min(below) - start;
            if end > below {
                self.lower.insert(below, end);
            }
        }
        if let Some(last) = &mut self.last {
            let start = last.0;
            last.0 = start.max(below);
            gone += last.0.min(last.1) - start;
        }
        self.last.take_if(|last| last.1 <= last.0);
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against a bitmap, over all short sequences of a deterministic generator.
    #[test]
    fn agrees_with_a_bitmap() {
        let mut x = 1_u64;
        for _ in 0..2_000 {
            let mut set = RangeSet::default();
            let mut bits = [false; 40];
            let mut floor = 0;
            for _ in 0..12 {
                x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let start = (x >> 33) % 32;
                let end = start + 1 + (x >> 40) % 8;
                let fresh = (start..end).filter(|i| !bits[*i as usize]).count() as u64;
                if start >= floor {
                    assert_eq!(set.insert(start, end), fresh);
                    (start..end).for_each(|i| bits[i as usize] = true);
                }
                if x >> 60 == 0 {
                    floor = start;
                    let below = (0..floor).filter(|i| bits[*i as usize]).count() as u64;
                    assert_eq!(set.remove_below(floor), below);
                    (0..floor).for_each(|i| bits[i as usize] = false);
                }
                for at in 0..40 {
                    assert_eq!(set.containing(at).is_some(), bits[at as usize], "{set:?} {at}");
                    for end in at + 1..40 {
                        let first = set.iter().find(|r| r.0 < end && at < r.1);
                        assert_eq!(set.overlapping(at, end), first, "{set:?} {at} {end}");
                    }
                }
                let ranges: Vec<_> = set.iter().collect();
                assert!(ranges.windows(2).all(|w| w[0].1 < w[1].0), "touching ranges: {set:?}");
                assert_eq!((set.is_empty(), set.len()), (ranges.is_empty(), ranges.len()));
            }
        }
    }

    /// Every other octet of 400,000, from the back and in disorder; then the others.
    #[test]
    fn many_holes_are_kept_and_filled() {
        const N: u64 = 200_000;
        let orders: [fn(u64) -> u64; 2] = [|i| N - 1 - i, |i| i * 7_919 % N];
        for order in orders {
            let mut set = RangeSet::default();
            for i in 0..N {
                assert_eq!(set.insert(2 * order(i), 2 * order(i) + 1), 1);
            }
            assert_eq!(set.iter().count() as u64, N);
            for i in 0..N {
                assert_eq!(set.insert(2 * order(i), 2 * order(i) + 2), 1);
            }
            assert_eq!(set.iter().collect::<Vec<_>>(), [(0, 2 * N)]);
        }
    }
}
