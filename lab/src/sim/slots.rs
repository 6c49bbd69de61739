//! The event queue: one slot for each source of events, and a tournament over them.
//!
//! Every component that can have a next event (a transmitter, a link's far end, a connection's timer, an application) has
//! one slot, whose time it may move at will. So there are no stale events, nothing is allocated while a run goes on, and
//! the earliest slot is found by walking up one path of a small tree. Equal times are ordered by stamp, the running
//! number that an event got when it was caused; the order of events therefore does not depend on this structure.

/// When a slot's event happens: time in nanoseconds, then stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// Nanoseconds.
    pub at: u64,
    /// Order of causation among equal times.
    pub stamp: u64,
}

/// No event.
pub const NEVER: Key = Key { at: u64::MAX, stamp: u64::MAX };

/// The slots.
#[derive(Debug)]
pub struct Slots {
    keys: Vec<Key>,
    /// Winner (slot index) of each inner node; node 1 is the root, leaves start at `keys.len()`.
    winner: Vec<u32>,
}

impl Slots {
    /// `count` empty slots.
    pub fn new(count: usize) -> Self {
        let leaves = count.next_power_of_two().max(2);
        let mut slots = Self { keys: vec![NEVER; leaves], winner: vec![0; leaves] };
        for node in (1..leaves).rev() {
            slots.replay(node);
        }
        slots
    }

    #[inline]
    fn leaf_or_winner(&self, node: usize) -> u32 {
        let leaves = self.keys.len();
        if node >= leaves { (node - leaves) as u32 } else { self.winner[node] }
    }

    #[inline]
    fn replay(&mut self, node: usize) {
        let (l, r) = (self.leaf_or_winner(2 * node), self.leaf_or_winner(2 * node + 1));
        self.winner[node] = if self.keys[r as usize] < self.keys[l as usize] { r } else { l };
    }

    /// Moves `slot` to `key`.
    #[inline]
    pub fn set(&mut self, slot: usize, key: Key) {
        if self.keys[slot] == key {
            return;
        }
        self.keys[slot] = key;
        let mut node = (slot + self.keys.len()) / 2;
        while node >= 1 {
            self.replay(node);
            node /= 2;
        }
    }

    /// When `slot` is due.
    #[inline]
    pub fn get(&self, slot: usize) -> Key {
        self.keys[slot]
    }

    /// The earliest slot and its key ([`NEVER`] if none is set).
    #[inline]
    pub fn first(&self) -> (usize, Key) {
        let slot = self.winner[1] as usize;
        (slot, self.keys[slot])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against a linear search.
    #[test]
    fn the_first_slot_is_the_earliest_by_time_then_stamp() {
        for count in [1, 2, 3, 5, 8, 13] {
            let mut slots = Slots::new(count);
            let mut model = vec![NEVER; count];
            let mut x = 9_u64;
            for stamp in 0..500 {
                x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let slot = (x >> 33) as usize % count;
                let key = if x >> 61 == 0 { NEVER } else { Key { at: (x >> 40) % 8, stamp } };
                slots.set(slot, key);
                model[slot] = key;
                let want = model.iter().min().unwrap();
                assert_eq!(slots.first().1, *want);
                assert_eq!(slots.get(slot), key);
            }
        }
    }
}
