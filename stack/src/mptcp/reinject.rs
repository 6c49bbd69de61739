//! Reinjection (RFC 8684 3.3.6): data stuck on a failing subflow goes out on another one, too.
//!
//! The subflow it was first sent on goes on retransmitting it, because its sequence space must stay whole. Data are
//! queued when their subflow times out or ends, once for each subflow they were stuck on.

use std::collections::VecDeque;

use crate::event::SubflowId;
use crate::ranges::RangeSet;

/// A stretch of the data stream to send again on another subflow than `stuck_on`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// First octet.
    pub start: u64,
    /// Octet after the last.
    pub end: u64,
    /// Where it is stuck.
    pub stuck_on: SubflowId,
}

/// What waits for reinjection.
#[derive(Debug, Default)]
pub struct Reinjections {
    queue: VecDeque<Stretch>,
    /// Per subflow: what was queued on its behalf.
    queued: Vec<RangeSet>,
}

impl Reinjections {
    /// `[start, end)` is stuck on `subflow`; ignored where it was queued for that subflow before.
    pub fn add(&mut self, start: u64, end: u64, subflow: SubflowId) {
        if self.queued.len() <= subflow {
            self.queued.resize_with(subflow + 1, RangeSet::default);
        }
        if self.queued[subflow].insert(start, end) == 0 {
            return;
        }
        match self.queue.back_mut() {
            Some(last) if last.end == start && last.stuck_on == subflow => last.end = end,
            _ => self.queue.push_back(Stretch { start, end, stuck_on: subflow }),
        }
    }

    /// Everything below `data_una` has arrived.
    pub fn acknowledge(&mut self, data_una: u64) {
        while let Some(first) = self.queue.front_mut() {
            if first.end <= data_una {
                self.queue.pop_front();
            } else {
                first.start = first.start.max(data_una);
                break;
            }
        }
        self.queued.iter_mut().for_each(|q| q.remove_below(data_una));
    }

    /// Nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The next stretch.
    pub fn front(&self) -> Option<Stretch> {
        self.queue.front().copied()
    }

    /// `len` octets of the next stretch were sent.
    pub fn advance(&mut self, len: u64) {
        if let Some(first) = self.queue.front_mut() {
            first.start += len;
            if first.start >= first.end {
                self.queue.pop_front();
            }
        }
    }
}
