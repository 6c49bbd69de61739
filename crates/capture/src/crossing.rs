//! One direction of a subflow that was captured at both ends: which copy of each segment arrived at the receiver's end, and
//! when. That gives one-way delays and spurious retransmissions.
//!
//! A retransmission is spurious if an earlier copy of the segment got through, whether it arrived before or after the
//! retransmission was sent: the same definition as in a simulated run (`metrics::fates`). Copies are told apart by IP
//! identification and timestamp. Where both are equal, the earliest copy in flight is taken for the one that arrived.

use std::collections::{HashMap, VecDeque};

use anabranch_measures::reorder::Delays;
use anabranch_pcap::packet::MixBuilder;

/// A copy that has not arrived after so long, in nanoseconds, counts as lost.
const LONGEST: u64 = 10_000_000_000;

/// What identifies one copy of a segment at both places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Copy {
    /// Sequence number.
    pub seq: u32,
    /// Octets of payload.
    pub len: u32,
    /// IP identification.
    pub id: u16,
    /// TSval; zero without timestamps.
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

/// Items numbered in order of insertion. The oldest are removed from the front; numbers stay.
#[derive(Clone, Debug)]
struct Numbered<T> {
    items: VecDeque<T>,
    /// Number of the first one.
    first: u64,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self { items: VecDeque::new(), first: 0 }
    }
}

impl<T> Numbered<T> {
    fn push(&mut self, item: T) -> u64 {
        self.items.push_back(item);
        self.first + self.items.len() as u64 - 1
    }

    fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        self.items.get_mut(number.checked_sub(self.first)? as usize)
    }

    /// Removes the oldest item, if it is `over`, and returns it with its number.
    fn pop_if(&mut self, over: impl FnOnce(&T) -> bool) -> Option<(u64, T)> {
        if !self.items.front().is_some_and(over) {
            return None;
        }
        self.first += 1;
        Some((self.first - 1, self.items.pop_front()?))
    }
}

/// One direction between two places.
#[derive(Clone, Debug, Default)]
pub struct Crossing {
    flying: Numbered<Flying>,
    /// Copies that have not arrived, oldest first, by what they look like; how many of each sequence number.
    on_the_way: HashMap<Copy, VecDeque<u64>, MixBuilder>,
    waited_for: HashMap<u32, u32, MixBuilder>,
    fates: Numbered<Fate>,
    fate_of: HashMap<u32, u64, MixBuilder>,
    spurious: u64,
    /// One-way delays.
    pub delays: Delays,
    /// Smallest and largest one-way delay, in nanoseconds; negative if the two clocks disagree.
    pub range: Option<(i64, i64)>,
    /// Segments seen at both places.
    pub crossed: u64,
}

impl Crossing {
    /// Copy `number` of a segment passes the sender's end at `now`; everything before `una` is acknowledged.
    pub fn depart(&mut self, now: u64, copy: Copy, number: u16, una: u32) {
        self.forget(now, una);
        if number > 1 {
            match self.fate(copy.seq) {
                Some(fate) => (fate.copies, fate.last) = (number, now),
                None => {
                    // The first copy is still on its way, or lost; else it has arrived.
                    let first_arrived = if self.waited_for.contains_key(&copy.seq) { None } else { Some(1) };
                    let fate = Fate { seq: copy.seq, copies: number, first_arrived, last: now };
                    self.fate_of.insert(copy.seq, self.fates.push(fate));
                }
            }
        }
        let flying = self.flying.push(Flying { copy, at: now, number, arrived: false });
        self.on_the_way.entry(copy).or_default().push_back(flying);
        *self.waited_for.entry(copy.seq).or_default() += 1;
    }

    /// Removes copies that are too old to arrive, and segments whose copies are all decided.
    fn forget(&mut self, now: u64, una: u32) {
        let over = |seq: u32, at: u64| at + LONGEST < now && (seq.wrapping_sub(una) as i32) < 0;
        while let Some((flying, f)) = self.flying.pop_if(|f| f.arrived || over(f.copy.seq, f.at)) {
            if !f.arrived {
                self.take(f.copy, |oldest| oldest == flying);
            }
        }
        while let Some((number, fate)) = self.fates.pop_if(|f| over(f.seq, f.last)) {
            self.spurious += fate.spurious();
            if self.fate_of.get(&fate.seq) == Some(&number) {
                self.fate_of.remove(&fate.seq);
            }
        }
    }

    /// Takes the oldest copy that looks like `copy` off the way, if it is `wanted`.
    fn take(&mut self, copy: Copy, wanted: impl FnOnce(u64) -> bool) {
        let Some(numbers) = self.on_the_way.get_mut(&copy) else { return };
        if numbers.front().is_some_and(|oldest| wanted(*oldest)) {
            numbers.pop_front();
            if numbers.is_empty() {
                self.on_the_way.remove(&copy);
            }
            if let Some(n) = self.waited_for.get_mut(&copy.seq) {
                *n -= 1;
                if *n == 0 {
                    self.waited_for.remove(&copy.seq);
                }
            }
        }
    }

    fn fate(&mut self, seq: u32) -> Option<&mut Fate> {
        self.fates.get_mut(*self.fate_of.get(&seq)?)
    }

    /// A segment passes the receiver's end at `now`. If the receiver has `refused` it, it counts as lost, unless another copy
    /// of it was accepted before.
    pub fn arrive(&mut self, now: u64, copy: Copy, refused: bool) {
        let Some(&oldest) = self.on_the_way.get(&copy).and_then(VecDeque::front) else { return };
        let lost = refused && self.fate(copy.seq).is_none_or(|fate| fate.first_arrived.is_none());
        let Some(f) = self.flying.get_mut(oldest) else { return };
        f.arrived = !lost;
        let (delay, number) = (now as i64 - f.at as i64, f.number);
        self.crossed += 1;
        self.delays.add(delay.max(0) as u64);
        let (low, high) = self.range.unwrap_or((delay, delay));
        self.range = Some((low.min(delay), high.max(delay)));
        if !lost {
            self.take(copy, |_| true);
            if let Some(fate) = self.fate(copy.seq) {
                fate.first_arrived = Some(fate.first_arrived.map_or(number, |first| first.min(number)));
            }
        }
    }

    /// Retransmissions sent although an earlier copy got through.
    pub fn spurious(&self) -> u64 {
        self.spurious + self.fates.items.iter().map(Fate::spurious).sum::<u64>()
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
        assert_eq!((c.spurious(), c.fates.items.len()), (2, 0));
        assert_eq!((c.flying.items.len(), c.on_the_way.len(), c.waited_for.len(), c.fate_of.len()), (1, 1, 1, 0));
    }

    /// A hundred thousand segments on the way, each tenth lost, and as many seen at the receiver that nobody sent: what is looked
    /// for is found without a walk over all of them.
    #[test]
    fn many_segments_on_the_way_are_told_apart_at_once() {
        let mut c = Crossing::default();
        let began = std::time::Instant::now();
        for n in 0..100_000_u32 {
            c.depart(u64::from(n), copy(n * 100, n as u16), 1, 0);
        }
        for n in 0..100_000 {
            c.arrive(MS, copy(n * 100 + 1, 0), false);
            if n % 10 != 0 {
                c.arrive(MS, copy(n * 100, n as u16), false);
            } else {
                c.depart(2 * MS, copy(n * 100, 7), 2, 0);
            }
        }
        assert_eq!((c.crossed, c.spurious()), (90_000, 0));
        assert!(began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
    }
}
