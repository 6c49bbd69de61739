//! The event queue: one slot for each source of events, and a tournament over them.
//!
//! Every component that can have a next event (a transmitter, a link's far end, a connection's timer, an application) has
//! one slot, whose time it may move at will. So there are no stale events and nothing is allocated while a run goes on.
//! Slots compete in groups of eight, the winners again in groups of eight, and so on: a small scenario is one group
//! that lies in a cache line or two, thousands of connections are four or five rounds. Equal times are ordered by stamp, the
//! running number that an event got when it was caused; the order of events does not depend on this structure.

/// When a slot's event happens: its time and, among equal times, its place in the order of causation. One number, so that a
/// comparison needs no branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(u128);

/// No event.
pub const NEVER: Key = Key(u128::MAX);

impl Key {
    /// At `at` nanoseconds; `stamp` is the order of causation among equal times.
    #[inline]
    pub fn new(at: u64, stamp: u64) -> Self {
        Self(u128::from(at) << 64 | u128::from(stamp))
    }

    /// Nanoseconds; [`u64::MAX`] for never.
    #[inline]
    pub fn at(self) -> u64 {
        (self.0 >> 64) as u64
    }
}

/// Slots in one match.
const GROUP: usize = 8;

/// One round of the tournament: its entries and, but for the first round, which entry of the round before each one is.
#[derive(Debug)]
struct Round {
    keys: Vec<Key>,
    from: Vec<u32>,
}

impl Round {
    fn new(entries: usize) -> Self {
        // An empty group is won by its first entry, by whichever name.
        let from = (0..entries as u32).map(|i| i * GROUP as u32).collect();
        Self { keys: vec![NEVER; entries], from }
    }

    /// The earliest entry of the group that `i` is in, and its key.
    #[inline]
    fn winner(&self, i: usize) -> (usize, Key) {
        let base = i / GROUP * GROUP;
        let group: &[Key; GROUP] =
            self.keys[base..base + GROUP].try_into().expect("rounds but the last are whole groups");
        let (best, key) = earliest(group);
        (base + best, key)
    }
}

/// The first of the least keys, and its place. There is one key at least.
#[inline]
fn earliest(keys: &[Key]) -> (usize, Key) {
    let mut best = (0, keys[0]);
    for (i, &key) in keys.iter().enumerate().skip(1) {
        best = if key < best.1 { (i, key) } else { best };
    }
    best
}

/// The slots.
#[derive(Debug)]
pub struct Slots {
    rounds: Vec<Round>,
    /// The entry that leads the last round.
    first: usize,
}

impl Slots {
    /// `count` empty slots.
    pub fn new(count: usize) -> Self {
        let mut entries = count.max(1);
        let mut rounds = Vec::new();
        while entries > GROUP {
            entries = entries.next_multiple_of(GROUP);
            rounds.push(Round::new(entries));
            entries /= GROUP;
        }
        // The last round is one match, of whatever is left.
        rounds.push(Round::new(entries));
        Self { rounds, first: 0 }
    }

    /// Moves `slot` to `key`.
    #[inline]
    pub fn set(&mut self, slot: usize, key: Key) {
        let mut key = key;
        let mut i = slot;
        let last = self.rounds.len() - 1;
        for r in 0..last {
            let (these, next) = self.rounds.split_at_mut(r + 1);
            let (round, next) = (&mut these[r], &mut next[0]);
            round.keys[i] = key;
            let group = i / GROUP;
            if next.from[group] as usize == i {
                // It had won: the match is played again.
                (i, key) = round.winner(i);
            } else if key >= next.keys[group] {
                return;
            }
            next.from[group] = i as u32;
            i = group;
        }
        let round = &mut self.rounds[last];
        round.keys[i] = key;
        if self.first == i {
            self.first = earliest(&round.keys).0;
        } else if key < round.keys[self.first] {
            self.first = i;
        }
    }

    /// When `slot` is due.
    #[inline]
    pub fn get(&self, slot: usize) -> Key {
        self.rounds[0].keys[slot]
    }

    /// The earliest slot and its key ([`NEVER`] if none is set).
    #[inline]
    pub fn first(&self) -> (usize, Key) {
        let key = self.rounds[self.rounds.len() - 1].keys[self.first];
        let mut i = self.first;
        for round in self.rounds[1..].iter().rev() {
            i = round.from[i] as usize;
        }
        (i, key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against a linear search.
    #[test]
    fn the_first_slot_is_the_earliest_by_time_then_stamp() {
        for count in [1, 2, 15, 16, 17, 300, 5_000] {
            let mut slots = Slots::new(count);
            let mut model = vec![NEVER; count];
            let mut x = 9_u64;
            for stamp in 0..2_000 {
                x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let slot = (x >> 33) as usize % count;
                let key = if x >> 61 == 0 { NEVER } else { Key::new((x >> 40) % 8, stamp) };
                slots.set(slot, key);
                model[slot] = key;
                let want = *model.iter().min().unwrap();
                assert_eq!(slots.first().1, want);
                assert!(want == NEVER || model[slots.first().0] == want);
                assert_eq!(slots.get(slot), key);
            }
        }
    }
}
