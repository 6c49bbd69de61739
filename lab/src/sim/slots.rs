//! The event queue: one slot for each source of events, and a tournament over them.
//!
//! Every component that can have a next event (a transmitter, a link's far end, a connection's timer, an application) has
//! one slot, whose time it may move at will. So there are no stale events and nothing is allocated while a run goes on.
//! Slots compete in groups of eight, the winners again in groups of eight, and so on: a small scenario is one group
//! that lies in a cache line or two, thousands of connections are four or five rounds. Equal times are ordered by stamp, the
//! running number that an event got when it was caused; the order of events does not depend on this structure.

/// When an event happens: its time and, among equal times, its place in the order of causation. One number, so that a comparison
/// needs no branch. Its lowest bits are for the slot; stamps differ, so these decide nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(u128);

/// No event.
pub const NEVER: Key = Key(u128::MAX);

/// Sixteen million slots, which leave 40 bits for stamps: at ten million events a second they last for thirty hours.
const SLOT_BITS: u32 = 24;
const SLOT_MASK: u128 = (1 << SLOT_BITS) - 1;

impl Key {
    /// At `at` nanoseconds; `stamp` is the order of causation among equal times.
    #[inline]
    pub fn new(at: u64, stamp: u64) -> Self {
        Self(u128::from(at) << 64 | u128::from(stamp << SLOT_BITS))
    }

    /// Nanoseconds; [`u64::MAX`] for never.
    #[inline]
    pub fn at(self) -> u64 {
        (self.0 >> 64) as u64
    }

    #[inline]
    fn of(self, slot: usize) -> Self {
        Self(self.0 & !SLOT_MASK | slot as u128)
    }

    #[inline]
    fn slot(self) -> usize {
        (self.0 & SLOT_MASK) as usize
    }
}

/// Slots in one match.
const GROUP: usize = 8;

/// The slots.
#[derive(Debug)]
pub struct Slots {
    /// By round, the entries: in the first one a key for each slot, then the winners of the round before.
    rounds: Vec<Vec<Key>>,
    /// The earliest of all.
    first: Key,
}

impl Slots {
    /// `count` empty slots.
    pub fn new(count: usize) -> Self {
        assert!(count < 1 << SLOT_BITS, "{count} sources of events are too many");
        let mut entries = count.max(1);
        let mut rounds = Vec::new();
        while entries > GROUP {
            entries = entries.next_multiple_of(GROUP);
            rounds.push(vec![NEVER; entries]);
            entries /= GROUP;
        }
        // The last round is one match, of whatever is left.
        rounds.push(vec![NEVER; entries]);
        Self { rounds, first: NEVER }
    }

    /// Moves `slot` to `key`.
    #[inline]
    pub fn set(&mut self, slot: usize, key: Key) {
        let mut key = key.of(slot);
        let mut i = slot;
        let last = self.rounds.len() - 1;
        for r in 0..last {
            let (these, next) = self.rounds.split_at_mut(r + 1);
            let (round, next) = (&mut these[r], &mut next[0]);
            let before = std::mem::replace(&mut round[i], key);
            i /= GROUP;
            if next[i] == before {
                // It had won: the match is played again.
                let group: &[Key; GROUP] =
                    round[i * GROUP..][..GROUP].try_into().expect("rounds but the last are whole groups");
                let [a, b, c, d, e, f, g, h] = *group;
                key = earlier(earlier(earlier(a, b), earlier(c, d)), earlier(earlier(e, f), earlier(g, h)));
            } else if key >= next[i] {
                return;
            }
        }
        let round = &mut self.rounds[last];
        let before = std::mem::replace(&mut round[i], key);
        if self.first == before {
            self.first = round.iter().copied().fold(NEVER, earlier);
        } else if key < self.first {
            self.first = key;
        }
    }

    /// When `slot` is due, in nanoseconds; [`u64::MAX`] for never.
    #[inline]
    pub fn at(&self, slot: usize) -> u64 {
        self.rounds[0][slot].at()
    }

    /// The earliest slot, and when it is due; some slot and [`u64::MAX`] if none is set.
    #[inline]
    pub fn first(&self) -> (usize, u64) {
        (self.first.slot(), self.first.at())
    }
}

/// Without a branch: which of the two it is nobody can predict.
#[inline]
fn earlier(a: Key, b: Key) -> Key {
    if b < a { b } else { a }
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
                let (first, at) = slots.first();
                let want = *model.iter().min().unwrap();
                assert_eq!(at, want.at());
                assert!(want == NEVER || model[first] == want);
                assert_eq!(slots.at(slot), key.at());
            }
        }
    }
}
