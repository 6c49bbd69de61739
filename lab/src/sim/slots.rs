//! The event queue: one slot for each source of events, and a tournament over them.
//!
//! Every component that can have a next event (a transmitter, a link's far end, a connection's timer, an application) has
//! one slot, whose time it may move at will. So there are no stale events and nothing is allocated while a run goes on.
//! Slots compete in groups of eight, the winners again in groups of eight, and so on: a small scenario is one group
//! that lies in a cache line or two, thousands of connections are four or five rounds. Equal times are ordered by stamp, the
//! running number that an event got when it was caused; the order of events does not depend on this structure.

/// When a slot's event happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    at: u64,
    stamp: u64,
}

/// No event.
pub const NEVER: Key = Key { at: u64::MAX, stamp: u64::MAX };

impl Key {
    /// At `at` nanoseconds; `stamp` is the order of causation among equal times.
    #[inline]
    pub fn new(at: u64, stamp: u64) -> Self {
        Self { at, stamp }
    }

    /// Nanoseconds; [`u64::MAX`] for never.
    #[inline]
    pub fn at(self) -> u64 {
        self.at
    }
}

/// Slots in one match.
const GROUP: usize = 8;

/// One round of the tournament: its entries and, but for the first round, which entry of the round before each one is.
#[derive(Debug)]
struct Round {
    at: Vec<u64>,
    stamp: Vec<u64>,
    from: Vec<u32>,
}

impl Round {
    fn new(entries: usize) -> Self {
        let n = entries.next_multiple_of(GROUP);
        // An empty group is won by its first entry, by whichever name.
        let from = (0..n as u32).map(|i| i * GROUP as u32).collect();
        Self { at: vec![u64::MAX; n], stamp: vec![u64::MAX; n], from }
    }

    #[inline]
    fn key(&self, i: usize) -> Key {
        Key { at: self.at[i], stamp: self.stamp[i] }
    }

    /// The earliest entry of the group that `i` is in.
    #[inline]
    fn winner(&self, i: usize) -> usize {
        let base = i / GROUP * GROUP;
        let at: &[u64; GROUP] = self.at[base..base + GROUP].try_into().expect("rounds are whole groups");
        let earliest = at.iter().fold(u64::MAX, |a, b| a.min(*b));
        let mut best = base;
        let mut stamp = u64::MAX;
        for (j, &a) in at.iter().enumerate() {
            if a == earliest && self.stamp[base + j] < stamp {
                best = base + j;
                stamp = self.stamp[base + j];
            }
        }
        best
    }
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
        let mut rounds = vec![Round::new(count.max(1))];
        while rounds[rounds.len() - 1].at.len() > GROUP {
            let groups = rounds[rounds.len() - 1].at.len() / GROUP;
            rounds.push(Round::new(groups));
        }
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
            round.at[i] = key.at;
            round.stamp[i] = key.stamp;
            let group = i / GROUP;
            if next.from[group] as usize == i {
                // It had won: the match is played again.
                i = round.winner(i);
                key = round.key(i);
            } else if key >= next.key(group) {
                return;
            }
            next.from[group] = i as u32;
            i = group;
        }
        let round = &mut self.rounds[last];
        round.at[i] = key.at;
        round.stamp[i] = key.stamp;
        if self.first == i {
            self.first = round.winner(i);
        } else if key < round.key(self.first) {
            self.first = i;
        }
    }

    /// When `slot` is due.
    #[inline]
    pub fn get(&self, slot: usize) -> Key {
        self.rounds[0].key(slot)
    }

    /// The earliest slot and its key ([`NEVER`] if none is set).
    #[inline]
    pub fn first(&self) -> (usize, Key) {
        let key = self.rounds[self.rounds.len() - 1].key(self.first);
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
