//! Memory of the SACK blocks that have been processed.

use crate::seq::Seq;

/// The SACK blocks processed last. A receiver repeats a block while it grows (RFC 2018 4), so a
/// sender that processes only the growth does work in proportion to what is newly SACKed.
#[derive(Clone, Debug, Default)]
pub struct SackHistory {
    blocks: [(Seq, Seq); 4],
    /// Index of the entry that the next new block replaces.
    next: usize,
}

impl SackHistory {
    /// Records that the block `[start, end)` is processed. Returns where its unprocessed part
    /// begins; `None` if all of it was processed before.
    pub fn add(&mut self, start: Seq, end: Seq) -> Option<Seq> {
        let mut from = start;
        for block in &mut self.blocks {
            if block.0 <= from && from <= block.1 {
                if end <= block.1 {
                    return None;
                }
                from = block.1;
                block.1 = end;
            }
        }
        if from == start {
            self.blocks[self.next] = (start, end);
            self.next = (self.next + 1) % self.blocks.len();
        }
        Some(from)
    }

    /// Forgets the blocks that contain `seq`.
    pub fn forget(&mut self, seq: Seq) {
        self.blocks.iter_mut().filter(|b| b.0 <= seq && seq < b.1).for_each(|b| *b = Default::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_growth_of_a_block_is_new() {
        let mut history = SackHistory::default();
        let mut add = |start, end| history.add(Seq(start), Seq(end)).map(|from| from.0);
        assert_eq!(
            [add(1000, 2000), add(1000, 2000), add(1500, 1800), add(1000, 3000)],
            [Some(1000), None, None, Some(2000)]
        );
        assert_eq!([add(5000, 6000), add(2500, 3500), add(5000, 6000)], [Some(5000), Some(3000), None]);
        history.forget(Seq(5500));
        assert_eq!(history.add(Seq(5000), Seq(6000)), Some(Seq(5000)));
    }
}
