//! Reinjection (RFC 8684 3.3.6): data stuck on a failing subflow is also sent on another one.
//!
//! The original subflow continues to retransmit the data, because its sequence space must stay contiguous. Data is queued when
//! its subflow times out or ends, once for each subflow it is stuck on. Each subflow has its own queue: data stuck on a first
//! subflow that waits for a second one must not block data stuck on the second that the first could send.

use std::collections::VecDeque;

use crate::event::SubflowId;
use crate::ranges::RangeSet;

/// A range of the data stream to send on a subflow other than `stuck_on`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// First octet.
    pub start: u64,
    /// Octet after the last.
    pub end: u64,
    /// The subflow that has the data in flight; `None` if any subflow may send it.
    pub stuck_on: Option<SubflowId>,
}

/// Data stuck on one subflow.
#[derive(Debug, Default)]
struct Stuck {
    /// Start and end of each range that waits.
    waiting: VecDeque<(u64, u64)>,
    /// All ranges queued so far.
    queued: RangeSet,
}

impl Stuck {
    /// Drops acknowledged data.
    fn settle(&mut self, data_una: u64) {
        while let Some(first) = self.waiting.front_mut() {
            if first.1 > data_una {
                first.0 = first.0.max(data_una);
                break;
            }
            self.waiting.pop_front();
        }
        self.queued.remove_below(data_una);
    }
}

/// All data that waits for reinjection.
#[derive(Debug, Default)]
pub struct Reinjections {
    /// First the data that any subflow may send, then the data stuck on each subflow.
    stuck: Vec<Stuck>,
    data_una: u64,
    /// Some data waits.
    waits: bool,
}

fn index(stuck_on: Option<SubflowId>) -> usize {
    stuck_on.map_or(0, |id| id + 1)
}

impl Reinjections {
    /// Queues `[start, end)` for any subflow, even if it was queued before.
    pub fn again(&mut self, start: u64, end: u64) {
        if let Some(anywhere) = self.stuck.first_mut() {
            anywhere.queued = RangeSet::default();
        }
        self.add(start, end, None);
    }

    /// Queues `[start, end)`, which is stuck on `stuck_on`. Ignored if all of it was queued for that subflow before.
    pub fn add(&mut self, start: u64, end: u64, stuck_on: Option<SubflowId>) {
        let i = index(stuck_on);
        if self.stuck.len() <= i {
            self.stuck.resize_with(i + 1, Stuck::default);
        }
        let stuck = &mut self.stuck[i];
        if stuck.queued.insert(start, end) == 0 {
            return;
        }
        match stuck.waiting.back_mut() {
            Some(last) if last.1 == start => last.1 = end,
            _ => stuck.waiting.push_back((start, end)),
        }
        self.waits = true;
    }

    /// Drops the data stuck on `id`.
    pub fn forget(&mut self, id: SubflowId) {
        if let Some(stuck) = self.stuck.get_mut(index(Some(id))) {
            stuck.waiting.clear();
        }
        self.count();
    }

    /// The peer has acknowledged everything below `data_una`.
    pub fn acknowledge(&mut self, data_una: u64) {
        self.data_una = data_una;
        self.stuck.iter_mut().for_each(|s| s.settle(data_una));
        if self.waits {
            self.count();
        }
    }

    /// Drops all data from offset `end` on.
    pub fn forget_from(&mut self, end: u64) {
        for stuck in &mut self.stuck {
            stuck.waiting.retain_mut(|range| {
                range.1 = range.1.min(end);
                range.0 < range.1
            });
            let queued = core::mem::take(&mut stuck.queued);
            for (first, last) in queued.iter().filter(|&(first, _)| first < end) {
                stuck.queued.insert(first, last.min(end));
            }
        }
        self.count();
    }

    fn count(&mut self) {
        self.waits = self.stuck.iter().any(|s| !s.waiting.is_empty());
    }

    /// No data waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        !self.waits
    }

    /// The earliest range at the head of a queue for which `has_way` returns true: a subflow other than the one it is stuck on
    /// can send it.
    pub fn next(&self, has_way: impl Fn(Option<SubflowId>) -> bool) -> Option<Stretch> {
        let heads = self.stuck.iter().enumerate().filter_map(|(i, s)| {
            let &(start, end) = s.waiting.front()?;
            let stuck_on = i.checked_sub(1);
            has_way(stuck_on).then_some(Stretch { start, end, stuck_on })
        });
        heads.min_by_key(|s| s.start)
    }

    /// `len` octets of the next range stuck on `stuck_on` were sent.
    pub fn advance(&mut self, stuck_on: Option<SubflowId>, len: u64) {
        let stuck = &mut self.stuck[index(stuck_on)];
        if let Some(first) = stuck.waiting.front_mut() {
            first.0 += len;
            if first.0 >= first.1 {
                stuck.waiting.pop_front();
            }
        }
        stuck.settle(self.data_una);
        self.count();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_for_one_subflow_does_not_keep_back_another() {
        let mut r = Reinjections::default();
        r.add(1000, 2000, Some(0));
        r.add(0, 1000, Some(1));
        // Only subflow 0 can send: it must not be given its own data.
        let of = |start, end, stuck_on| Some(Stretch { start, end, stuck_on: Some(stuck_on) });
        assert_eq!(r.next(|stuck_on| stuck_on != Some(0)), of(0, 1000, 1));
        assert_eq!(r.next(|stuck_on| stuck_on != Some(1)), of(1000, 2000, 0));
        assert_eq!((r.next(|_| true), r.next(|_| false)), (of(0, 1000, 1), None));
        r.advance(Some(1), 400);
        assert_eq!(r.next(|_| true), of(400, 1000, 1));
    }

    #[test]
    fn what_has_arrived_is_not_sent_again() {
        let mut r = Reinjections::default();
        r.add(5000, 6000, Some(0));
        r.add(1000, 2000, Some(0));
        r.add(7000, 8000, Some(0));
        r.acknowledge(5500);
        assert_eq!(r.next(|_| true).map(|s| s.start), Some(5500));
        r.advance(Some(0), 500);
        assert_eq!(r.next(|_| true).map(|s| s.start), Some(7000));
        r.acknowledge(8000);
        assert!(r.is_empty());
    }

    /// Data that was never sent can be queued again after it was sent.
    #[test]
    fn data_from_an_offset_on_is_dropped() {
        let mut r = Reinjections::default();
        r.add(1000, 2000, Some(0));
        r.add(3000, 4000, Some(0));
        r.forget_from(1500);
        assert_eq!(r.next(|_| true), Some(Stretch { start: 1000, end: 1500, stuck_on: Some(0) }));
        r.advance(Some(0), 500);
        assert!(r.is_empty());
        r.add(1500, 2000, Some(0));
        assert_eq!(r.next(|_| true), Some(Stretch { start: 1500, end: 2000, stuck_on: Some(0) }));
    }

    #[test]
    fn a_stretch_is_queued_once_for_each_subflow_it_is_stuck_on() {
        let mut r = Reinjections::default();
        r.add(0, 1000, Some(0));
        r.add(1000, 2000, Some(0));
        assert_eq!(r.next(|_| true).map(|s| s.end), Some(2000));
        r.advance(Some(0), 2000);
        r.add(500, 1500, Some(0));
        assert!(r.is_empty());
        r.add(500, 1500, Some(1));
        assert_eq!(r.next(|_| true).map(|s| s.stuck_on), Some(Some(1)));
    }

    #[test]
    fn what_is_stuck_nowhere_may_go_out_again_and_again() {
        let mut r = Reinjections::default();
        for _ in 0..2 {
            r.again(0, 1000);
            assert_eq!(r.next(|_| true), Some(Stretch { start: 0, end: 1000, stuck_on: None }));
            r.advance(None, 1000);
            assert!(r.is_empty());
        }
    }
}
