//! How often each segment was acknowledged, for the recovery D_SACK (rule 6.4).
//!
//! The model adds one to the count of *every* segment that an acknowledgement covers, at every acknowledgement, and one to
//! every segment within a reported range. A Fenwick tree over the differences does both in logarithmic time: a range is
//! two additions, a segment's count is a sum.

/// Counts of a growing list of segments.
#[derive(Clone, Debug)]
pub struct Counts {
    /// Element i covers the differences (i - lowest bit of i, i], numbered from 1. There is always one element more than
    /// segments, so that a range may end with the last segment.
    tree: Vec<i64>,
}

impl Default for Counts {
    fn default() -> Self {
        let mut counts = Self { tree: Vec::new() };
        counts.push();
        counts
    }
}

impl Counts {
    /// A further segment, not acknowledged yet.
    pub fn push(&mut self) {
        let i = self.tree.len() + 1;
        let (mut sum, mut step) = (0, 1);
        while i & step == 0 {
            sum += self.tree[i - step - 1];
            step <<= 1;
        }
        self.tree.push(sum);
    }

    fn difference(&mut self, index: usize, by: i64) {
        let mut i = index + 1;
        while i <= self.tree.len() {
            self.tree[i - 1] += by;
            i += i & i.wrapping_neg();
        }
    }

    /// Adds one to the counts of segments `from` to before `to`.
    pub fn add(&mut self, from: usize, to: usize) {
        if from < to {
            self.difference(from, 1);
            self.difference(to, -1);
        }
    }

    /// The count of a segment.
    pub fn get(&self, index: usize) -> i64 {
        let (mut i, mut sum) = (index + 1, 0);
        while i > 0 {
            sum += self.tree[i - 1];
            i &= i - 1;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_growing_list_counts_as_a_plain_one_does() {
        let (mut counts, mut plain) = (Counts::default(), Vec::new());
        for n in 1..200_usize {
            counts.push();
            plain.push(0_i64);
            for (from, to) in [(0, n / 2), (n / 3, n), (n - 1, n)] {
                counts.add(from, to);
                plain[from..to].iter_mut().for_each(|c| *c += 1);
            }
        }
        let all: Vec<i64> = (0..plain.len()).map(|i| counts.get(i)).collect();
        assert_eq!(all, plain);
    }
}
