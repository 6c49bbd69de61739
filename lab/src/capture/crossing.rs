//! One direction of a subflow between two places: which copy of a segment that passed the sender's side arrived at the
//! receiver's, when, and so how long it took and which retransmissions were spurious.
//!
//! A retransmission is spurious if an earlier copy of the segment got through, whether it arrived before or after the
//! retransmission left: the definition of a simulated run (`metrics::fates`). Copies are told apart by their IP
//! identification and timestamp; where both are the same, the earliest one in flight is taken.

use std::collections::VecDeque;

use crate::metrics::reorder::Delays;

/// How long a copy may stay on the way, in nanoseconds.
const LONGEST: u64 = 10_000_000_000;

/// How far ahead a match is looked for before it is looked for everywhere.
const NEAR: usize = 64;

/// A segment on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    /// First octet, octets, IP identification, timestamp.
    pub seq: u32,
    /// Octets.
    pub len: u32,
    /// IP identification.
    pub id: u16,
    /// Timestamp.
    pub stamp: u32,
}

#[derive(Clone, Copy, Debug)]
struct Flying {
    copy: Copy,
    at: u64,
    number: u16,
    arrived: bool,
}

/// The copies of a segment that was retransmitted.
#[derive(Clone, Copy, Debug)]
struct Fate {
    seq: u32,
    copies: u16,
    first_arrived: Option<u16>,
    last: u64,
}

impl Fate {
    fn spurious(&self) -> u64 {
        self.first_arrived.map_or(0, |first| u64::from(self.copies.saturating_sub(first)))
    }
}

/// One direction between two places.
#[derive(Debug, Default)]
pub struct Crossing {
    flying: VecDeque<Flying>,
    /// Where the last match was.
    near: usize,
    fates: VecDeque<Fate>,
    spurious: u64,
    /// One-way delays.
    pub delays: Delays,
    /// Smallest and largest one, nanoseconds; negative if the clocks disagree.
    pub range: Option<(i64, i64)>,
    /// Segments seen at both places.
    pub crossed: u64,
}

impl Crossing {
    /// Copy `number` of a segment passes the sender's side at `now`; everything before `una` is acknowledged.
    pub fn depart(&mut self, now: u64, copy: Copy, number: u16, una: u32) {
        let over = |seq: u32, at: u64| at + LONGEST < now && (seq.wrapping_sub(una) as i32) < 0;
        while self.flying.front().is_some_and(|f| f.arrived || over(f.copy.seq, f.at)) {
            self.flying.pop_front();
            self.near = self.near.saturating_sub(1);
        }
        while self.fates.front().is_some_and(|f| over(f.seq, f.last)) {
            self.spurious += self.fates.pop_front().map_or(0, |f| f.spurious());
        }
        if number > 1 {
            match self.fates.iter_mut().rev().find(|f| f.seq == copy.seq) {
                Some(fate) => (fate.copies, fate.last) = (number, now),
                None => {
                    // The first copy is still on its way, or lost; else it has arrived.
                    let waits = self.flying.iter().any(|f| f.copy.seq == copy.seq && !f.arrived);
                    let first_arrived = if waits { None } else { Some(1) };
                    self.fates.push_back(Fate { seq: copy.seq, copies: number, first_arrived, last: now });
                }
            }
        }
        self.flying.push_back(Flying { copy, at: now, number, arrived: false });
    }

    /// A segment passes the receiver's side at `now`. One that is `refused` there is as good as lost, unless another copy of
    /// it was taken before.
    pub fn arrive(&mut self, now: u64, copy: Copy, refused: bool) {
        let fits = |f: &Flying| !f.arrived && f.copy == copy;
        let near = self.near.min(self.flying.len());
        let ahead = self.flying.iter().skip(near).take(NEAR).position(fits).map(|i| near + i);
        let Some(i) = ahead.or_else(|| self.flying.iter().position(fits)) else { return };
        self.near = i;
        let fate = self.fates.iter_mut().rev().find(|f| f.seq == copy.seq);
        let lost = refused && fate.as_ref().is_none_or(|fate| fate.first_arrived.is_none());
        let f = &mut self.flying[i];
        f.arrived = !lost;
        let delay = now as i64 - f.at as i64;
        let number = f.number;
        self.crossed += 1;
        self.delays.add(delay.max(0) as u64);
        let (low, high) = self.range.unwrap_or((delay, delay));
        self.range = Some((low.min(delay), high.max(delay)));
        if let (Some(fate), false) = (fate, lost) {
            fate.first_arrived = Some(fate.first_arrived.map_or(number, |first| first.min(number)));
        }
    }

    /// Retransmissions sent although an earlier copy got through.
    pub fn spurious(&self) -> u64 {
        self.spurious + self.fates.iter().map(Fate::spurious).sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn copy(seq: u32, id: u16) -> Copy {
        Copy { seq, len: 100, id, stamp: 0 }
    }

    /// ```text
    /// 0 ms    100 sent, arrives at 10 ms; sent again at 20 ms: spurious
    /// 1 ms    200 sent, lost;             sent again at 21 ms: needed
    /// 2 ms    300 sent, arrives at 40 ms; sent again at 22 ms, arrives at 32 ms: spurious, though the copy was faster
    /// ```
    #[test]
    fn a_retransmission_is_spurious_if_an_earlier_copy_got_through() {
        let mut c = Crossing::default();
        for (i, seq) in [100, 200, 300].into_iter().enumerate() {
            c.depart(i as u64 * MS, copy(seq, i as u16), 1, 100);
        }
        c.arrive(10 * MS, copy(100, 0), false);
        for (i, seq) in [100, 200, 300].into_iter().enumerate() {
            c.depart((20 + i as u64) * MS, copy(seq, 10 + i as u16), 2, 100);
        }
        c.arrive(31 * MS, copy(200, 11), false);
        c.arrive(32 * MS, copy(300, 12), false);
        assert_eq!(c.spurious(), 1);
        c.arrive(40 * MS, copy(300, 2), false);
        assert_eq!((c.spurious(), c.crossed), (2, 4));
        assert_eq!(c.range, Some((10 * MS as i64, 38 * MS as i64)));
        // Much later it is all settled, and the sum stays.
        c.depart(20_000 * MS, copy(900, 90), 1, 900);
        assert_eq!((c.spurious(), c.fates.len()), (2, 0));
    }
}
