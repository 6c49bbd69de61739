//! Entries that are due soon, in order.

use super::{Key, NEVER};

/// A power of two: inserting moves the entries that are due before, so more make it slow.
const MOST: usize = 64;

/// A sorted list of entries, the latest first: the earliest is taken from the end, and nearly all are inserted close to it.
#[derive(Debug)]
pub struct List {
    keys: [Key; MOST],
    len: usize,
}

impl List {
    pub fn new() -> Self {
        Self { keys: [NEVER; MOST], len: 0 }
    }

    #[inline]
    pub fn has_room(&self) -> bool {
        self.len < MOST
    }

    /// Puts `key` in its place. There must be room.
    #[inline]
    pub fn insert(&mut self, key: Key) {
        debug_assert!(self.has_room(), "the list is full");
        let mut i = self.len;
        self.len += 1;
        while i > 0 {
            let before = self.keys[(i - 1) % MOST];
            if before > key {
                break;
            }
            self.keys[i % MOST] = before;
            i -= 1;
        }
        self.keys[i % MOST] = key;
    }

    /// The earliest.
    #[inline]
    pub fn last(&self) -> Option<Key> {
        (self.len > 0).then(|| self.keys[(self.len - 1) % MOST])
    }

    /// Keeps those that are `wanted`, in their order.
    pub fn retain(&mut self, wanted: impl Fn(Key) -> bool) {
        let mut kept = 0;
        for i in 0..self.len {
            if wanted(self.keys[i]) {
                self.keys[kept] = self.keys[i];
                kept += 1;
            }
        }
        self.len = kept;
    }

    /// Takes the earliest out. There must be one.
    #[inline]
    pub fn pop(&mut self) {
        self.len -= 1;
    }
}
