//! A station's transmit queue: first in, first out, bounded in packets and in age.
//!
//! A packet that has waited longer than the bound is dropped when it would be its turn. Which bound acts depends on the rate:
//! at 2 and 6 Mbit/s 500 ms pass long before 500 packets wait.

use std::collections::VecDeque;

use super::PacketId;

/// A packet that waits, or is being sent.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The packet. Not ours any more once it is delivered.
    pub id: PacketId,
    /// The station it is for.
    pub to: usize,
    /// The link it is on.
    pub link: usize,
    /// Octets of the frame.
    pub octets: u32,
    /// When it came, ns.
    pub since: u64,
    /// It has arrived; only the acknowledgement is missing.
    pub delivered: bool,
    /// Its link went down meanwhile: it is not to be delivered.
    pub void: bool,
}

/// The queue.
#[derive(Debug)]
pub struct Queue {
    entries: VecDeque<Entry>,
    limit: usize,
    max_age: u64,
}

impl Queue {
    /// For `limit` packets of an age of `max_age` ns at most.
    pub fn new(limit: usize, max_age: u64) -> Self {
        Self { entries: VecDeque::new(), limit, max_age }
    }

    /// Nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Something waits behind the packet whose turn it is.
    pub fn is_waiting(&self) -> bool {
        self.entries.len() > 1
    }

    /// Adds a packet; false: there is no room.
    #[inline]
    pub fn push(&mut self, entry: Entry) -> bool {
        if self.entries.len() >= self.limit {
            return false;
        }
        self.entries.push_back(entry);
        true
    }

    /// The packet whose turn it is.
    #[inline]
    pub fn front(&self) -> Option<&Entry> {
        self.entries.front()
    }

    /// The packet whose turn it is.
    #[inline]
    pub fn front_mut(&mut self) -> Option<&mut Entry> {
        self.entries.front_mut()
    }

    /// It is done.
    #[inline]
    pub fn pop(&mut self) -> Option<Entry> {
        self.entries.pop_front()
    }

    /// Takes out the first packet if it is too old at `now`.
    #[inline]
    pub fn expired(&mut self, now: u64) -> Option<Entry> {
        let old = self.entries.front().is_some_and(|e| now - e.since > self.max_age);
        if old { self.entries.pop_front() } else { None }
    }

    /// Takes out packets of `link`; the first one stays, marked, if it is `in_service`.
    pub fn clear(&mut self, link: usize, in_service: bool, mut gone: impl FnMut(Entry)) {
        let mut first = in_service;
        self.entries.retain_mut(|e| {
            let keep = std::mem::take(&mut first);
            if e.link != link {
                return true;
            }
            if !e.void {
                gone(*e);
                e.void = true;
            }
            keep
        });
    }
}
