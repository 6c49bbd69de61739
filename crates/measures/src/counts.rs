//! Counts by number where few numbers occur: kept in blocks that are allocated when they are first needed.

/// Counts in one block.
const BLOCK: usize = 16;

/// How often each number below a limit has occurred.
#[derive(Clone, Debug)]
pub struct Counts {
    blocks: Vec<Option<Box<[u64; BLOCK]>>>,
}

impl Counts {
    /// Counts, all zero, of the numbers below `limit`, which is a multiple of 16.
    pub fn new(limit: usize) -> Self {
        debug_assert_eq!(limit % BLOCK, 0);
        Self { blocks: vec![None; limit / BLOCK] }
    }

    /// Counts one more occurrence of `n`.
    #[inline]
    pub fn add(&mut self, n: usize) {
        match &mut self.blocks[n / BLOCK] {
            Some(block) => block[n % BLOCK] += 1,
            none => Self::begin(none, n % BLOCK),
        }
    }

    #[cold]
    fn begin(block: &mut Option<Box<[u64; BLOCK]>>, n: usize) {
        block.get_or_insert_default()[n] = 1;
    }

    /// All counts, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = u64> + Clone + '_ {
        self.blocks.iter().flat_map(|block| block.as_ref().map_or([0; BLOCK], |block| **block))
    }

    /// The sum of all counts.
    pub fn sum(&self) -> u64 {
        self.blocks.iter().flatten().map(|block| block.iter().sum::<u64>()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_never_came_up_count_zero() {
        let mut counts = Counts::new(64);
        [0, 17, 63, 17].into_iter().for_each(|n| counts.add(n));
        assert_eq!((counts.sum(), counts.iter().count()), (4, 64));
        assert_eq!(counts.iter().enumerate().filter(|c| c.1 > 0).collect::<Vec<_>>(), [(0, 1), (17, 2), (63, 1)]);
    }
}
