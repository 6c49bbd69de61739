//! The event queue: one slot for each source of events, and a tournament over them.
//!
//! Every component that can have a next event (a transmitter, a link's far end, a connection's timer, an application) has
//! one slot, whose time it may move at will. So there are no stale events and nothing is allocated while a run goes on.
//! Slots compete in groups of four, which are a cache line, the winners again in groups of four, and so on: a small scenario has
//! two rounds, thousands of connections have eight or nine. Equal times are ordered by stamp, the
//! running number that was given when the event was caused: for a packet on a link, when the link took it. So the order of events
//! depends neither on this structure nor on how many events a link makes of a packet.

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

    /// The same place in the order of causation, at another time.
    #[inline]
    #[must_use]
    pub fn moved(self, at: u64) -> Self {
        Self(u128::from(at) << 64 | u128::from(self.0 as u64))
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

/// Entries of one match: a cache line.
const GROUP: usize = 4;

/// The keys that compete in one match.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Match([Key; GROUP]);

impl Match {
    /// The earliest entry but `entry`.
    #[inline]
    fn best_but(&self, entry: usize) -> Key {
        let [a, b, c] = [1, 2, 3].map(|i| self.0[entry ^ i]);
        earlier(earlier(a, b), c)
    }
}

/// The slots.
#[derive(Debug)]
pub struct Slots {
    /// The last match first, then the ones whose winners meet there, and so on; the matches of the slots themselves come last.
    /// The winner of match `m` is an entry of match `(m - 1) / GROUP`, as in a heap.
    matches: Vec<Match>,
    /// Number of the match of the first slots.
    leaves: usize,
    /// The earliest of all.
    first: Key,
}

impl Slots {
    /// `count` empty slots.
    pub fn new(count: usize) -> Self {
        assert!(count < 1 << SLOT_BITS, "{count} sources of events are too many");
        let leaf_matches = count.max(1).div_ceil(GROUP);
        // Earlier rounds quadruple in size until one has an entry for each match of the slots.
        let (mut leaves, mut round) = (0, 1);
        while round < leaf_matches {
            leaves += round;
            round *= GROUP;
        }
        Self { matches: vec![Match([NEVER; GROUP]); leaves + leaf_matches], leaves, first: NEVER }
    }

    /// Moves `slot` to `key`.
    #[inline]
    pub fn set(&mut self, slot: usize, key: Key) {
        let mut winner = key.of(slot);
        let (mut m, mut entry) = (self.leaves + slot / GROUP, slot % GROUP);
        let mut these = &mut self.matches[m];
        loop {
            // The others' best does not wait for what comes from below: one comparison a round does.
            let others = these.best_but(entry);
            these.0[entry] = winner;
            winner = earlier(winner, others);
            if m == 0 {
                break;
            }
            (m, entry) = ((m - 1) / GROUP, (m - 1) % GROUP);
            these = &mut self.matches[m];
            if these.0[entry] == winner {
                // Nothing changes from here on.
                return;
            }
        }
        self.first = winner;
    }

    /// When `slot` is due, in nanoseconds; [`u64::MAX`] for never.
    #[inline]
    pub fn at(&self, slot: usize) -> u64 {
        self.matches[self.leaves + slot / GROUP].0[slot % GROUP].at()
    }

    /// The earliest slot, and when it is due; some slot and [`NEVER`] if none is set.
    #[inline]
    pub fn first(&self) -> (usize, Key) {
        (self.first.slot(), self.first)
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
                assert_eq!(at.at(), want.at());
                assert!(want == NEVER || model[first] == want);
                assert_eq!(slots.at(slot), key.at());
            }
        }
    }
}
