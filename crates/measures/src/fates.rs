//! Which retransmissions were spurious: the simulator knows what became of every copy.
//!
//! A retransmission is spurious if an earlier copy of the segment got through, whether before or after the retransmission
//! was sent. A copy is lost if the network dropped it (where a link had duplicated it, both), or if the receiver did not accept
//! it and had no other: because of an old timestamp, when a retransmission of an earlier segment overtook it (RFC 7323 5.3 R1),
//! or because the peer's key was still missing. A copy that is refused as a duplicate got through. Only segments that were
//! retransmitted, duplicated, dropped or refused have an entry, and only until they are acknowledged.

use std::collections::VecDeque;

use super::episodes::Episodes;

/// What became of the copies of one segment.
#[derive(Clone, Copy, Debug)]
struct Fate {
    seq: u32,
    /// Bit i: copy i + 1 was dropped on the way or refused, or one of its duplicates was.
    dropped: u32,
    /// Bit i: the receiver took copy i + 1.
    taken: u32,
    copies: u8,
    /// Retransmissions that began here. There are fewer than copies where what is left of a segment that was acknowledged in part
    /// is sent again: its copies are counted on from those of the whole.
    again: u32,
    /// Bit i: copy i + 1 was a zero-window probe. Then how many probes there were among the copies without a bit.
    probes: u32,
    more_probes: u8,
    /// Loss episodes that copies 2, 3, ... belong to (as many as fit).
    episodes: [u32; 6],
}

impl Fate {
    /// How many copies are lost before the first that is not.
    fn lost_first(&self) -> u32 {
        (self.dropped & !self.taken).trailing_ones()
    }

    /// The episodes of the retransmissions that were needed: all copies before them are lost.
    fn needed(&self) -> impl Iterator<Item = u32> + '_ {
        let needed = self.lost_first().min(u32::from(self.copies).saturating_sub(1));
        self.episodes.iter().take(needed as usize).copied()
    }

    /// Retransmissions although an earlier copy got through: all copies after the first that is not lost, except probes, which
    /// do not count as retransmissions.
    fn spurious(&self) -> u64 {
        let (from, to) = (self.lost_first() + 1, u32::from(self.copies));
        let probes = (from..to.min(u32::BITS)).filter(|i| self.probes >> i & 1 == 1).count() as u32;
        let spurious = to.saturating_sub(from).saturating_sub(probes + u32::from(self.more_probes));
        spurious.min(self.again).into()
    }
}

/// The copies of one direction of a subflow.
#[derive(Clone, Debug, Default)]
pub struct Fates {
    /// In order of sequence numbers.
    open: VecDeque<Fate>,
    /// What was too long for a link and may be sent again in pieces: sequence numbers from and to, and the copies dropped, as in [`Fate`].
    cut: Vec<(u32, u32, u32)>,
    spurious: u64,
}

impl Fates {
    fn entry(&mut self, seq: u32) -> &mut Fate {
        let i = self.open.partition_point(|f| (f.seq.wrapping_sub(seq) as i32) < 0);
        if self.open.get(i).is_none_or(|f| f.seq != seq) {
            let within = |&&(from, to, _): &&(u32, u32, u32)| seq.wrapping_sub(from) < to.wrapping_sub(from);
            let dropped = self.cut.iter().filter(within).fold(0, |all, (.., copies)| all | copies);
            self.open.insert(
                i,
                Fate {
                    seq,
                    dropped,
                    taken: 0,
                    copies: 1,
                    again: 0,
                    probes: 0,
                    more_probes: 0,
                    episodes: [u32::MAX; 6],
                },
            );
        }
        &mut self.open[i]
    }

    /// Copy number `copy` (2 for the first retransmission) of the segment at `seq` was sent in loss episode `episode`.
    pub fn retransmitted(&mut self, seq: u32, copy: u8, episode: u32) {
        let fate = self.entry(seq);
        fate.copies = fate.copies.max(copy);
        fate.again += 1;
        if let Some(e) = fate.episodes.get_mut(usize::from(copy).saturating_sub(2)) {
            *e = episode;
        }
    }

    /// Copy number `copy` of the segment at `seq` was sent to probe a closed window.
    pub fn probed(&mut self, seq: u32, copy: u8) {
        let fate = self.entry(seq);
        fate.copies = fate.copies.max(copy);
        match 1_u32.checked_shl(u32::from(copy.saturating_sub(1))) {
            Some(bit) => fate.probes |= bit,
            None => fate.more_probes = fate.more_probes.saturating_add(1),
        }
    }

    /// A link has duplicated copy number `copy`: if one of the two is lost, the copy is not.
    pub fn duplicated(&mut self, seq: u32, copy: u8) {
        if copy > 0 {
            self.entry(seq);
        }
    }

    /// Copy number `copy`, or a duplicate of it, was dropped.
    pub fn dropped(&mut self, seq: u32, copy: u8) {
        if (1..=32).contains(&copy) {
            self.entry(seq).dropped |= 1 << (copy - 1);
        }
    }

    /// An arrival that the receiver took or refused may change something.
    #[inline]
    pub fn wants(&self, taken: bool) -> bool {
        !self.open.is_empty() || !taken
    }

    /// Copy number `copy` of the `len` octets at `seq` was too long for a link: of what is sent again in pieces, each piece was lost.
    pub fn too_long(&mut self, seq: u32, len: u32, copy: u8) {
        if !(1..=32).contains(&copy) {
            return;
        }
        self.dropped(seq, copy);
        let bit = 1 << (copy - 1);
        let pieces = self.open.iter_mut().filter(|f| f.seq.wrapping_sub(seq) < len);
        pieces.for_each(|piece| piece.dropped |= bit);
        self.cut.push((seq, seq.wrapping_add(len), bit));
    }

    /// Copy number `copy` reached the receiver, which took it or refused it.
    pub fn arrived(&mut self, seq: u32, copy: u8, taken: bool) {
        if self.wants(taken) && (1..=32).contains(&copy) {
            self.note_arrival(seq, copy, taken);
        }
    }

    fn note_arrival(&mut self, seq: u32, copy: u8, taken: bool) {
        let bit = 1 << (copy - 1);
        if !taken {
            let fate = self.entry(seq);
            fate.dropped |= if fate.taken == 0 { bit } else { 0 };
            return;
        }
        // Nearly always it is new, and comes after all of which copies went.
        if self.open.back().is_none_or(|last| (last.seq.wrapping_sub(seq) as i32) < 0) {
            return;
        }
        if let Ok(i) = self.open.binary_search_by(|f| (f.seq.wrapping_sub(seq) as i32).cmp(&0)) {
            self.open[i].taken |= bit;
        }
    }

    /// Everything before `snd_una` is acknowledged: entries before it are removed, and the episodes are told which
    /// retransmissions were needed.
    #[inline(always)]
    pub fn settle(&mut self, snd_una: u32, episodes: &mut Episodes) {
        if !self.open.is_empty() {
            self.settle_some(snd_una, episodes);
        }
    }

    #[inline(never)]
    fn settle_some(&mut self, snd_una: u32, episodes: &mut Episodes) {
        while let Some(f) = self.open.front().filter(|f| (f.seq.wrapping_sub(snd_una) as i32) < 0) {
            self.spurious += f.spurious();
            f.needed().for_each(|e| episodes.was_needed(e));
            self.open.pop_front();
            self.cut.retain(|(_, to, _)| to.wrapping_sub(snd_una) as i32 > 0);
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

    /// A middlebox that makes a stream longer lets acknowledgements end within a segment. What is left of it is sent again, as
    /// the third copy, and once more only.
    #[test]
    fn a_rest_that_is_sent_once_more_is_spurious_once() {
        let (mut f, mut e) = (Fates::default(), Episodes::default());
        f.retransmitted(100, 2, 0);
        f.settle(150, &mut e);
        f.retransmitted(150, 3, 0);
        f.settle(200, &mut e);
        assert_eq!(f.spurious(), 2);
    }

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

    /// A segment of 1400 octets is too long, and is sent again in two pieces: one before the drop of the original is seen, one after. Then
    /// the second piece is sent once more, although it got through.
    #[test]
    fn pieces_of_what_was_too_long_are_needed() {
        let (mut f, mut e) = (Fates::default(), Episodes::default());
        f.retransmitted(100, 2, 0);
        f.retransmitted(1420, 2, 0);
        f.too_long(100, 1400, 1);
        f.too_long(1500, 1400, 1);
        f.retransmitted(1500, 2, 0);
        f.retransmitted(2820, 2, 0);
        f.retransmitted(2900, 2, 0);
        assert_eq!(f.spurious(), 1, "2900 is behind what was too long");
        f.retransmitted(2820, 3, 0);
        f.settle(2950, &mut e);
        assert_eq!((f.spurious(), f.open.len(), f.cut.len()), (2, 0, 0));
    }

    /// The window is closed: copy 1 and the probes after it are refused until the reader wakes, 40 probes later; then one more
    /// probe is on its way when the first is acknowledged, and a timeout sends the segment again.
    #[test]
    fn probes_of_a_closed_window_are_no_retransmissions() {
        let mut f = Fates::default();
        f.arrived(100, 1, false);
        for copy in 2..=41 {
            f.probed(100, copy);
            f.arrived(100, copy, copy == 5);
        }
        assert_eq!(f.spurious(), 0);
        f.retransmitted(100, 42, 0);
        assert_eq!(f.spurious(), 1);
    }

    /// A link duplicates the first copy and the next one's queue drops one of the two, before or after the other arrives.
    #[test]
    fn a_copy_is_lost_only_if_all_its_duplicates_are() {
        for early in [true, false] {
            let mut f = Fates::default();
            f.duplicated(100, 1);
            if early {
                f.dropped(100, 1);
            }
            f.arrived(100, 1, true);
            if !early {
                f.dropped(100, 1);
            }
            f.retransmitted(100, 2, 0);
            f.duplicated(200, 1);
            f.dropped(200, 1);
            f.dropped(200, 1);
            f.retransmitted(200, 2, 0); // genuine: both are gone
            assert_eq!(f.spurious(), 1);
        }
    }

    #[test]
    fn a_copy_refused_while_the_receiver_has_no_other_is_lost() {
        let mut f = Fates::default();
        f.arrived(100, 1, false);
        f.retransmitted(100, 2, 0); // genuine
        f.retransmitted(200, 2, 0);
        f.arrived(200, 2, true);
        f.arrived(200, 1, false); // late, after its retransmission: that was spurious
        f.arrived(300, 1, true);
        f.retransmitted(300, 2, 0);
        f.arrived(300, 2, false); // refused as a duplicate: spurious
        assert_eq!(f.spurious(), 2);
    }
}
