//! A station's transmit queue: first in, first out, bounded in packets and in age.
//!
//! A packet that has waited longer than the bound is dropped when its turn comes. Which bound is reached first depends on the
//! rate: at 2 and 6 Mbit/s 500 ms pass long before 500 packets wait.

use std::collections::VecDeque;

use super::PacketId;

/// A packet that waits, or is being sent.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The packet. Once it is delivered, its number may have been given to another one.
    pub id: PacketId,
    /// The station it is for.
    pub to: usize,
    /// The link it is on.
    pub link: usize,
    /// Octets of the frame.
    pub octets: u32,
    /// When it came, ns.
    pub since: u64,
    /// It has arrived at the other station, which has not been heard to acknowledge it.
    pub delivered: bool,
    /// Its link went down while it was being sent: it must not be delivered.
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
    /// A queue of at most `limit` packets, none older than `max_age` ns.
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

    /// Takes out the packet whose turn it is.
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

    /// Takes out the packets of `link` and calls `gone` with each. If the first one is `in_service`, it stays, marked as void.
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
