//! A set of octets as sorted, disjoint, non-touching ranges.
//!
//! Small in practice (one range per hole), so a vector with binary search beats a tree.

/// Half-open ranges `[start, end)`.
#[derive(Clone, Debug, Default)]
pub struct RangeSet {
    ranges: Vec<(u64, u64)>,
}

impl RangeSet {
    /// No octet is in the set.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The ranges in ascending order.
    pub fn as_slice(&self) -> &[(u64, u64)] {
        &self.ranges
    }

    /// Adds `[start, end)`; returns how many octets were not in the set before.
    pub fn insert(&mut self, start: u64, end: u64) -> u64 {
        if start >= end {
            return 0;
        }
        // The usual case: at or behind the last range.
        match self.ranges.last_mut() {
            Some(last) if start == last.1 => {
                last.1 = end;
                return end - start;
            }
            Some(last) if start < last.1 => {}
            _ => {
                self.ranges.push((start, end));
                return end - start;
            }
        }
        // Ranges first..past touch or overlap the new one.
        let first = self.ranges.partition_point(|r| r.1 < start);
        let past = first + self.ranges[first..].partition_point(|r| r.0 <= end);
        if first == past {
            self.ranges.insert(first, (start, end));
            return end - start;
        }
        let touched = &self.ranges[first..past];
        let known: u64 = touched.iter().map(|r| r.1.min(end).saturating_sub(r.0.max(start))).sum();
        let merged = (touched[0].0.min(start), touched[past - first - 1].1.max(end));
        self.ranges[first] = merged;
        self.ranges.drain(first + 1..past);
        (end - start) - known
    }

    /// The range that holds `at`.
    pub fn containing(&self, at: u64) -> Option<(u64, u64)> {
        let i = self.ranges.partition_point(|r| r.1 <= at);
        self.ranges.get(i).copied().filter(|r| r.0 <= at)
    }

    /// Removes everything below `below`.
    pub fn remove_below(&mut self, below: u64) {
        let gone = self.ranges.partition_point(|r| r.1 <= below);
        if gone > 0 {
            self.ranges.drain(..gone);
        }
        if let Some(first) = self.ranges.first_mut() {
            first.0 = first.0.max(below);
        }
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
                    set.remove_below(floor);
                    (0..floor).for_each(|i| bits[i as usize] = false);
                }
                for at in 0..40 {
                    assert_eq!(set.containing(at).is_some(), bits[at as usize], "{set:?} {at}");
                }
                assert!(set.as_slice().windows(2).all(|w| w[0].1 < w[1].0), "touching ranges: {set:?}");
            }
        }
    }
}
