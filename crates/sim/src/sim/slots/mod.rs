//! The event queue: one slot for each source of events.
//!
//! Every component that can have a next event (a transmitter, a link's far end, a connection's timer, an application) has
//! one slot, whose time it may move at will. Equal times are ordered by stamp, the
//! running number that was given when the event was caused: for a packet on a link, when the link took it. Timers of hosts come last, in
//! the order of their slots ([`Key::last`]). So the order of events depends neither on this structure, nor on how many events a link makes
//! of a packet, nor on when a timer was set.
//!
//! What is due soon is a sorted list, of which the end is next. What is due later waits in a [`Wheel`], interval by interval, until the list
//! is empty and takes the next one over: with thousands of slots an event costs hardly more than with ten. Few slots need one interval,
//! which is all time. A slot that is moved leaves its entry behind, which is passed over, since it is not the slot's key any more.

mod list;
mod wheel;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use list::List;
use wheel::Wheel;

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

    /// At `at` nanoseconds, after everything that was caused otherwise: a host processes what has arrived before its timer runs.
    #[inline]
    pub fn last(at: u64) -> Self {
        Self(u128::from(at) << 64 | u128::from(u64::MAX << SLOT_BITS))
    }

    /// It is one of [`Key::last`].
    #[inline]
    pub fn is_last(self) -> bool {
        self.0 as u64 >> SLOT_BITS == u64::MAX >> SLOT_BITS
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

/// So many slots need no wheel.
const FEW: usize = 40;

/// The slots.
#[derive(Debug)]
pub struct Slots {
    /// Of each slot, with its number.
    keys: Vec<Key>,
    /// Entries due before `until`, in order. One that is not its slot's key is of no account.
    list: List,
    /// Nanoseconds.
    until: u64,
    /// Entries due later, in the intervals after `until`.
    wheel: Wheel,
    /// Entries that neither has room for: due after all intervals, or too many at one time.
    aside: BinaryHeap<Reverse<Key>>,
    /// The earliest of these, or [`NEVER`].
    first_aside: Key,
}

impl Slots {
    /// `count` empty slots, most of which will be set to within `reach` nanoseconds of the time.
    pub fn new(count: usize, reach: u64) -> Self {
        assert!(count < 1 << SLOT_BITS, "{count} sources of events are too many");
        let wheel = Wheel::new(count, reach);
        let until = if count <= FEW { u64::MAX } else { wheel.begins() };
        let keys = (0..count).map(|slot| NEVER.of(slot)).collect();
        Self { keys, list: List::new(), until, wheel, aside: BinaryHeap::new(), first_aside: NEVER }
    }

    /// Moves `slot` to `key`.
    #[inline]
    pub fn set(&mut self, slot: usize, key: Key) {
        let key = key.of(slot);
        let known = &mut self.keys[slot];
        if *known == key {
            return;
        }
        *known = key;
        if key.at() >= self.until {
            if key.at() < u64::MAX && !self.wheel.insert(key) {
                self.put_aside(key);
            }
        } else if self.list.has_room() {
            self.list.insert(key);
        } else {
            self.insert_in_crowd(key);
        }
    }

    #[inline(never)]
    fn insert_in_crowd(&mut self, key: Key) {
        // Where the list is of all time, what slots left behind when they were moved may have filled it.
        if self.until == u64::MAX {
            self.list.retain(|key| self.keys[key.slot()] == key);
        }
        if self.list.has_room() {
            self.list.insert(key);
        } else {
            self.put_aside(key);
        }
    }

    #[inline(never)]
    fn put_aside(&mut self, key: Key) {
        self.aside.push(Reverse(key));
        if self.aside.len() > 4 * self.keys.len() + 100 {
            self.aside.retain(|&Reverse(key)| self.keys[key.slot()] == key);
        }
        self.look_aside();
    }

    fn look_aside(&mut self) {
        self.first_aside = self.aside.peek().map_or(NEVER, |&Reverse(key)| key);
    }

    /// When `slot` is due, in nanoseconds; [`u64::MAX`] for never.
    #[inline]
    pub fn at(&self, slot: usize) -> u64 {
        self.keys[slot].at()
    }

    /// Takes the earliest event: its slot, which is empty now, and when it is due. [`NEVER`] if no slot is set.
    #[inline]
    pub fn take(&mut self) -> (usize, Key) {
        loop {
            let key = match self.list.last() {
                Some(key) if key < self.first_aside => {
                    self.list.pop();
                    key
                }
                _ => match self.take_aside() {
                    Some(NEVER) => return (0, NEVER),
                    Some(key) => key,
                    None => continue,
                },
            };
            let slot = key.slot();
            if self.keys[slot] == key {
                self.keys[slot] = NEVER.of(slot);
                return (slot, key);
            }
        }
    }

    /// Nothing in the list is first. Returns `None` if the list has been filled anew.
    #[inline(never)]
    fn take_aside(&mut self) -> Option<Key> {
        if self.list.last().is_none() && self.until < u64::MAX {
            let Self { wheel, keys, list, aside, .. } = self;
            let turned = wheel.turn(|key| match keys[key.slot()] == key {
                true if list.has_room() => list.insert(key),
                true => aside.push(Reverse(key)),
                false => {}
            });
            // Not to where a slot was due that has been moved since: what is set meanwhile belongs into the intervals before.
            while !turned && self.first_aside != NEVER && self.keys[self.first_aside.slot()] != self.first_aside {
                self.aside.pop();
                self.look_aside();
            }
            if !turned && self.first_aside != NEVER {
                self.wheel.skip_to(self.first_aside.at());
            }
            self.until = self.wheel.begins();
            self.look_aside();
            if turned {
                return None;
            }
        }
        let first = self.aside.pop().map_or(NEVER, |Reverse(key)| key);
        self.look_aside();
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whenever they were set: at one time everything else comes before timers, and timers come in the order of their slots.
    #[test]
    fn timers_come_last_in_the_order_of_their_slots() {
        let mut slots = Slots::new(5, 1_000);
        slots.set(3, Key::last(7));
        slots.set(1, Key::last(7));
        slots.set(4, Key::new(7, 9));
        slots.set(0, Key::last(6));
        slots.set(2, Key::new(7, 1 << 39));
        let order = [(); 5].map(|()| slots.take()).map(|(slot, key)| (slot, key.at(), key.is_last()));
        assert_eq!(order, [(0, 6, true), (4, 7, false), (2, 7, false), (1, 7, true), (3, 7, true)]);
    }

    /// A slot that is moved again and again leaves no crowd behind: in the list, in the ring, nor aside.
    #[test]
    fn what_slots_leave_behind_is_thrown_away() {
        for (count, reach) in [(FEW, 1_000), (FEW + 1, 1_000), (FEW + 1, 1_000_000_000_000)] {
            let mut slots = Slots::new(count, reach);
            for i in 0..100_000 {
                slots.set(i % 3, Key::new(1_000_000_000 - i as u64, i as u64));
            }
            assert!(slots.aside.len() <= 4 * count + 100, "{}", slots.aside.len());
            assert_eq!(slots.aside.is_empty(), count == FEW);
            let due = [(); 4].map(|()| slots.take()).map(|(slot, key)| (slot, key.at()));
            assert_eq!(due, [(0, 999_900_001), (2, 999_900_002), (1, 999_900_003), (0, u64::MAX)]);
        }
    }

    /// A ring for one slot has room for 4 + 64 entries, wherever they are due.
    #[test]
    fn a_ring_refuses_what_is_more_than_its_sources_need() {
        let mut wheel = Wheel::new(1, 64_000);
        let taken = (0..100).filter(|&i| wheel.insert(Key::new(1024 * (i % 60) + 1024, i))).count();
        assert_eq!(taken, 68);
    }

    /// Against a linear search: few and many slots, in one interval or far beyond all, many at one time, moved to later and earlier times, and
    /// time that goes on with the events.
    #[test]
    fn the_first_slot_is_the_earliest_by_time_then_stamp() {
        let mut x = 9_u64;
        for (count, reach, spread) in [1, 2, FEW, FEW + 1, 300, 5_000].into_iter().flat_map(|count| {
            [(1, 8), (1_000, 8), (1_000, 1_000), (1_000, 100_000), (u64::MAX / 2, 1_000_000)]
                .map(|(r, s)| (count, r, s))
        }) {
            let mut slots = Slots::new(count, reach);
            let mut model = vec![NEVER; count];
            let mut now = 0;
            for stamp in 0..2_000 {
                x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let slot = (x >> 33) as usize % count;
                let key = if x >> 61 == 0 { NEVER } else { Key::new(now + (x >> 40) % spread, stamp) };
                slots.set(slot, key);
                model[slot] = key;
                assert_eq!(slots.at(slot), key.at());
                if x & 1 << 20 == 0 {
                    // The first happens, and its slot is set to nothing, or to something later.
                    let (first, at) = slots.take();
                    let want = *model.iter().min().unwrap();
                    assert_eq!(at.at(), want.at());
                    if want == NEVER {
                        continue;
                    }
                    assert_eq!(model[first], want);
                    assert_eq!(slots.at(first), u64::MAX);
                    now = want.at();
                    let key = if x & 1 << 21 == 0 { NEVER } else { Key::new(now + (x >> 45) % spread, 10_000 + stamp) };
                    slots.set(first, key);
                    model[first] = key;
                }
            }
        }
    }
}
