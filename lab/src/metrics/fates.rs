//! Which retransmissions were spurious: the simulator knows what became of every copy.
//!
//! A retransmission is spurious if an earlier copy of the segment was not dropped, whether it arrived before or after the
//! retransmission left. Only segments that were retransmitted or dropped have an entry, and only until they are
//! acknowledged.

use std::collections::VecDeque;

use super::episodes::Episodes;

/// What became of the copies of one segment.
#[derive(Clone, Copy, Debug)]
struct Fate {
    seq: u32,
    /// Bit i: copy i + 1 was dropped.
    dropped: u32,
    copies: u8,
    /// Loss episodes that copies 2, 3, ... belong to (as many as fit).
    episodes: [u32; 6],
}

impl Fate {
    /// The episodes of the copies that were needed: all before them had been dropped.
    fn needed(&self) -> impl Iterator<Item = u32> + '_ {
        let lost_first = self.dropped.trailing_ones().min(u32::from(self.copies).saturating_sub(1));
        self.episodes.iter().take(lost_first as usize).copied()
    }

    /// Copies sent although an earlier one got through: all after the first that was not dropped.
    fn spurious(&self) -> u64 {
        let lost_first = self.dropped.trailing_ones();
        u64::from(u32::from(self.copies).saturating_sub(lost_first + 1))
    }
}

/// The copies of one direction of a subflow.
#[derive(Clone, Debug, Default)]
pub struct Fates {
    /// In order of sequence numbers.
    open: VecDeque<Fate>,
    spurious: u64,
}

impl Fates {
    fn entry(&mut self, seq: u32) -> &mut Fate {
        let i = self.open.partition_point(|f| (f.seq.wrapping_sub(seq) as i32) < 0);
        if self.open.get(i).is_none_or(|f| f.seq != seq) {
            self.open.insert(i, Fate { seq, dropped: 0, copies: 1, episodes: [u32::MAX; 6] });
        }
        &mut self.open[i]
    }

    /// Copy number `copy` (2 for the first retransmission) of the segment at `seq` was sent in loss episode `episode`.
    pub fn retransmitted(&mut self, seq: u32, copy: u8, episode: u32) {
        let fate = self.entry(seq);
        fate.copies = fate.copies.max(copy);
        if let Some(e) = fate.episodes.get_mut(usize::from(copy).saturating_sub(2)) {
            *e = episode;
        }
    }

    /// Copy number `copy` was dropped.
    pub fn dropped(&mut self, seq: u32, copy: u8) {
        if (1..=32).contains(&copy) {
            self.entry(seq).dropped |= 1 << (copy - 1);
        }
    }

    /// Everything before `snd_una` is acknowledged: those fates are settled, and the episodes learn what was needed.
    pub fn settle(&mut self, snd_una: u32, episodes: &mut Episodes) {
        while let Some(f) = self.open.front().filter(|f| (f.seq.wrapping_sub(snd_una) as i32) < 0) {
            self.spurious += f.spurious();
            f.needed().for_each(|e| episodes.was_needed(e));
            self.open.pop_front();
        }
    }

    /// Spurious retransmissions so far.
    pub fn spurious(&self) -> u64 {
        self.spurious + self.open.iter().map(Fate::spurious).sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retransmission_is_spurious_if_an_earlier_copy_got_through() {
        let mut f = Fates::default();
        f.dropped(100, 1);
        f.retransmitted(100, 2, 0); // genuine
        f.retransmitted(200, 2, 0); // original not dropped: spurious
        f.dropped(300, 1);
        f.retransmitted(300, 2, 0);
        f.dropped(300, 2);
        f.retransmitted(300, 3, 0); // genuine twice
        f.retransmitted(400, 2, 0);
        f.dropped(400, 2);
        f.retransmitted(400, 3, 0); // the original got through: two spurious
        assert_eq!(f.spurious(), 3);
        f.settle(350, &mut Episodes::default());
        assert_eq!((f.spurious(), f.open.len()), (3, 1));
    }
}
