//! Segments that wait for a hole before them to be filled: a hole in their subflow, or in the data stream.
//!
//! Every segment keeps an entry of its own (buffer occupancy is counted in packets), in order of position. Octets that are held
//! already are not held twice.
//!
//! Nearly always a segment is appended at the end or taken from the front. But the peer chooses the order in which segments
//! arrive, so no order may be expensive. The entries lie in blocks of bounded length: two binary searches find an entry, and
//! inserting one moves half a block at most. The time for a segment grows with the logarithm of how many are held (and, once in
//! half a block of insertions, with the number of blocks).

use std::collections::VecDeque;

/// One segment, or what was new of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Position of its first octet.
    pub at: u64,
    /// Octets.
    pub len: u32,
    /// A number of the owner's, the same for every part of a segment: the data offset, or the subflow it came by.
    pub tag: u64,
}

impl Held {
    fn end(&self) -> u64 {
        self.at + u64::from(self.len)
    }
}

/// Entries of a block. An insertion moves half of them at most.
const BLOCK: usize = 256;

/// Held segments, sorted and disjoint.
#[derive(Clone, Debug, Default)]
pub struct HoldQueue {
    /// None of them is empty.
    blocks: VecDeque<VecDeque<Held>>,
    /// The block that was emptied last, to be used again.
    spare: VecDeque<Held>,
    packets: u64,
    octets: u64,
}

/// Which block, and which entry in it. For an entry that is to be appended: the place after the last entry of the last block.
type Place = (usize, usize);

impl HoldQueue {
    /// Segments held.
    #[inline]
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Octets held.
    #[inline]
    pub fn octets(&self) -> u64 {
        self.octets
    }

    /// Position after the highest octet held; `None` if nothing is held.
    pub fn end(&self) -> Option<u64> {
        self.blocks.back()?.back().map(Held::end)
    }

    /// Nothing is held.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Nothing is held before `at`.
    #[inline]
    pub fn begins_after(&self, at: u64) -> bool {
        self.first().is_none_or(|h| h.at >= at)
    }

    /// What is held, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Held> {
        self.blocks.iter().flatten()
    }

    /// Holds what is new of `[at, end)`; returns how many octets that is.
    #[inline]
    pub fn insert(&mut self, at: u64, end: u64, tag: u64) -> u64 {
        // The usual cases: nothing is held, or the segment goes behind everything that is.
        let behind = self.blocks.back().is_none_or(|b| b.len() < BLOCK && b.back().is_some_and(|h| h.end() <= at));
        if !behind || at >= end {
            return self.insert_anywhere(at, end, tag);
        }
        if self.blocks.is_empty() {
            self.blocks.push_back(core::mem::take(&mut self.spare));
        }
        let fresh = end - at;
        if let Some(block) = self.blocks.back_mut() {
            block.push_back(Held { at, len: fresh as u32, tag });
        }
        self.packets += 1;
        self.octets += fresh;
        fresh
    }

    fn insert_anywhere(&mut self, mut at: u64, end: u64, tag: u64) -> u64 {
        let mut place = match self.blocks.back() {
            None => (0, 0),
            Some(last) if last.back().is_some_and(|h| h.at < at) => (self.blocks.len() - 1, last.len()),
            Some(_) => self.find(at),
        };
        if let Some(before) = self.before(place) {
            at = at.max(before.end());
        }
        let mut fresh = 0;
        while at < end {
            let stop = self.get(place).map_or(end, |h| h.at.min(end));
            if at < stop {
                let len = (stop - at) as u32;
                place = self.put(place, Held { at, len, tag });
                fresh += u64::from(len);
            }
            match self.get(place) {
                Some(h) if h.at < end => at = h.end(),
                _ => break,
            }
            place = self.after(place);
        }
        self.octets += fresh;
        fresh
    }

    /// The first entry at `at` or later. There is one.
    fn find(&self, at: u64) -> Place {
        let block = self.blocks.partition_point(|b| b.back().is_some_and(|h| h.at < at));
        (block, self.blocks[block].partition_point(|h| h.at < at))
    }

    fn get(&self, (block, i): Place) -> Option<&Held> {
        self.blocks.get(block)?.get(i)
    }

    fn before(&self, (block, i): Place) -> Option<&Held> {
        match i.checked_sub(1) {
            Some(i) => self.blocks[block].get(i),
            None => self.blocks.get(block.checked_sub(1)?)?.back(),
        }
    }

    /// The place behind that of an entry.
    fn after(&self, (block, i): Place) -> Place {
        if i + 1 == self.blocks[block].len() && block + 1 < self.blocks.len() { (block + 1, 0) } else { (block, i + 1) }
    }

    /// Puts an entry in; returns the place behind it.
    fn put(&mut self, (mut block, mut i): Place, held: Held) -> Place {
        self.packets += 1;
        if self.blocks.get(block).is_none_or(|b| b.len() == BLOCK) {
            let new = core::mem::take(&mut self.spare);
            let full = block < self.blocks.len();
            self.blocks.insert(if full { block + 1 } else { block }, new);
            if full && i == BLOCK {
                (block, i) = (block + 1, 0);
            } else if full {
                let rest = self.blocks[block].split_off(BLOCK / 2);
                self.blocks[block + 1].extend(rest);
                if i > BLOCK / 2 {
                    (block, i) = (block + 1, i - BLOCK / 2);
                }
            }
        }
        self.blocks[block].insert(i, held);
        self.after((block, i))
    }

    /// The first segment held.
    #[inline]
    pub fn first(&self) -> Option<Held> {
        self.blocks.front()?.front().copied()
    }

    #[inline]
    fn pop(&mut self) -> Option<Held> {
        let block = self.blocks.front_mut()?;
        let first = block.pop_front();
        if block.is_empty() {
            self.spare = self.blocks.pop_front().unwrap_or_default();
        }
        self.packets -= 1;
        first
    }

    /// Drops octets before `next`.
    pub fn remove_below(&mut self, next: u64) {
        while let Some(first) = self.blocks.front_mut().and_then(VecDeque::front_mut).filter(|h| h.at < next) {
            let gone = first.end().min(next) - first.at;
            self.octets -= gone;
            if first.end() <= next {
                self.pop();
            } else {
                (first.at, first.len) = (next, first.len - gone as u32);
            }
        }
    }

    /// Takes out the first segment if it starts at `next`. If it starts before, only the part from `next` on is returned.
    #[inline]
    pub fn pop_at(&mut self, next: u64) -> Option<Held> {
        if self.first()?.at > next {
            return None;
        }
        let mut h = self.pop()?;
        self.octets -= u64::from(h.len);
        debug_assert!(h.at == next, "the queue holds only what is ahead");
        h.len = h.end().saturating_sub(next) as u32;
        h.at = next;
        Some(h)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(x: &mut u64, n: u64) -> u64 {
        *x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*x >> 33) % n
    }

    /// Against a list of octets, each with the segment that brought it first, over more entries than several blocks have.
    #[test]
    fn agrees_with_a_list_of_octets() {
        let mut x = 1;
        for round in 0..6 {
            let mut queue = HoldQueue::default();
            let mut octets: Vec<Option<u64>> = vec![None; 6000];
            let mut next = 0;
            for tag in 0..6000 {
                let at = next as u64 + random(&mut x, (6000 - next) as u64);
                let end = (at + 1 + random(&mut x, 1 + round)).min(6000);
                let free = |o: &Option<u64>| o.is_none();
                let new = &mut octets[at as usize..end as usize];
                assert_eq!(queue.insert(at, end, tag), new.iter().filter(|o| free(o)).count() as u64);
                new.iter_mut().filter(|o| free(o)).for_each(|o| *o = Some(tag));
                if random(&mut x, 50) == 0 {
                    while let Some(h) = queue.pop_at(next as u64) {
                        let taken = &mut octets[next..next + h.len as usize];
                        assert!(taken.iter().all(|o| *o == Some(h.tag)));
                        next += h.len as usize;
                    }
                    next += random(&mut x, 3) as usize;
                    queue.remove_below(next as u64);
                    octets[..next].fill(None);
                }
                assert_eq!(queue.octets(), octets.iter().flatten().count() as u64);
            }
            let entries: Vec<Held> = queue.blocks.iter().flatten().copied().collect();
            assert_eq!(queue.packets(), entries.len() as u64);
            assert!(entries.windows(2).all(|w| w[0].end() <= w[1].at));
            assert!(queue.blocks.iter().all(|b| !b.is_empty() && b.len() <= BLOCK));
            for h in entries {
                assert!((h.at..h.end()).all(|o| octets[o as usize] == Some(h.tag)));
            }
        }
    }

    /// 300,000 octets that no order brings together, from the back, from the front, from both ends, and in disorder.
    #[test]
    fn many_holes_in_any_order_are_held_and_freed() {
        const N: u64 = 300_000;
        let orders: [fn(u64) -> u64; 4] =
            [|i| N - 1 - i, |i| i, |i| if i % 2 == 0 { i / 2 } else { N - 1 - i / 2 }, |i| i * 7_919 % N];
        for order in orders {
            let mut queue = HoldQueue::default();
            for i in 0..N {
                let at = 2 * order(i) + 1;
                assert_eq!(queue.insert(at, at + 1, at), 1);
            }
            assert_eq!((queue.packets(), queue.octets()), (N, N));
            for i in 0..N {
                assert_eq!(queue.insert(2 * i, 2 * i + 1, 0), 1);
                assert_eq!(queue.pop_at(2 * i).map(|h| h.at), Some(2 * i));
                assert_eq!(queue.pop_at(2 * i + 1).map(|h| h.tag), Some(2 * i + 1));
            }
            assert!(queue.is_empty() && queue.octets() == 0);
        }
    }
}
