//! Segments that wait for something before them: a hole in their subflow, or in the data stream.
//!
//! Every segment keeps its own entry (buffer occupancy is counted in packets), in order of position; octets that are held
//! already are not held twice.

use std::collections::VecDeque;

/// One segment, or what was new of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Position of its first octet.
    pub at: u64,
    /// Octets.
    pub len: u32,
    /// What the owner wants to know of it; the same for every part of a segment.
    pub tag: u64,
}

impl Held {
    fn end(&self) -> u64 {
        self.at + u64::from(self.len)
    }
}

/// Held segments, sorted and disjoint.
#[derive(Clone, Debug, Default)]
pub struct HoldQueue {
    held: VecDeque<Held>,
    octets: u64,
}

impl HoldQueue {
    /// Segments held.
    #[inline]
    pub fn packets(&self) -> u64 {
        self.held.len() as u64
    }

    /// Octets held.
    #[inline]
    pub fn octets(&self) -> u64 {
        self.octets
    }

    /// Nothing is held.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Holds what is new of `[at, end)`; returns how many octets that is.
    pub fn insert(&mut self, mut at: u64, end: u64, tag: u64) -> u64 {
        let mut i = match self.held.back() {
            Some(last) if last.at >= at => self.held.partition_point(|h| h.at < at),
            _ => self.held.len(),
        };
        if let Some(before) = i.checked_sub(1).and_then(|b| self.held.get(b)) {
            at = at.max(before.end());
        }
        let mut fresh = 0;
        while at < end {
            let stop = self.held.get(i).map_or(end, |h| h.at.min(end));
            if at < stop {
                let len = (stop - at) as u32;
                self.held.insert(i, Held { at, len, tag });
                fresh += u64::from(len);
                i += 1;
            }
            match self.held.get(i) {
                Some(h) if h.at < end => at = h.end(),
                _ => break,
            }
            i += 1;
        }
        self.octets += fresh;
        fresh
    }

    /// The first segment held.
    pub fn first(&self) -> Option<Held> {
        self.held.front().copied()
    }

    /// Forgets what is before `next`.
    pub fn remove_below(&mut self, next: u64) {
        while let Some(first) = self.held.front_mut().filter(|h| h.at < next) {
            let gone = first.end().min(next) - first.at;
            self.octets -= gone;
            if first.end() <= next {
                self.held.pop_front();
            } else {
                (first.at, first.len) = (next, first.len - gone as u32);
            }
        }
    }

    /// Takes out the first segment if it starts at `next` (or before: then only its rest).
    pub fn pop_at(&mut self, next: u64) -> Option<Held> {
        let first = self.held.front()?;
        if first.at > next {
            return None;
        }
        let mut h = *first;
        self.held.pop_front();
        self.octets -= u64::from(h.len);
        debug_assert!(h.at == next, "the queue holds only what is ahead");
        h.len = h.end().saturating_sub(next) as u32;
        h.at = next;
        Some(h)
    }
}
