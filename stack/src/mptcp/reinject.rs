//! Reinjection (RFC 8684 3.3.6): data stuck on a failing subflow goes out on another one, too.
//!
//! The subflow it was first sent on goes on retransmitting it, because its sequence space must stay whole. Data are
//! queued when their subflow times out or ends, once for each subflow they were stuck on. Each subflow has a queue of its
//! own: what waits for a second subflow to come back must not keep back what the first could take from the second.

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
    /// Where it is stuck; `None`: nowhere, any subflow may take it.
    pub stuck_on: Option<SubflowId>,
}

/// What is stuck on one subflow.
#[derive(Debug, Default)]
struct Stuck {
    /// Start and end of what waits.
    waiting: VecDeque<(u64, u64)>,
    /// What was queued so far.
    queued: RangeSet,
}

impl Stuck {
    /// Drops what has arrived.
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

/// What waits for reinjection.
#[derive(Debug, Default)]
pub struct Reinjections {
    /// What may go out anywhere, then what is stuck on each subflow.
    stuck: Vec<Stuck>,
    data_una: u64,
}

fn index(stuck_on: Option<SubflowId>) -> usize {
    stuck_on.map_or(0, |id| id + 1)
}

impl Reinjections {
    /// `[start, end)` goes out again, whatever became of it before.
    pub fn again(&mut self, start: u64, end: u64) {
        if let Some(anywhere) = self.stuck.first_mut() {
            anywhere.queued = RangeSet::default();
        }
        self.add(start, end, None);
    }

    /// `[start, end)` is stuck there; ignored if all of it was queued for that place before.
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
    }

    /// What is stuck on `id` is no longer waited for.
    pub fn forget(&mut self, id: SubflowId) {
        if let Some(stuck) = self.stuck.get_mut(index(Some(id))) {
            stuck.waiting.clear();
        }
    }

    /// Everything below `data_una` has arrived.
    pub fn acknowledge(&mut self, data_una: u64) {
        self.data_una = data_una;
        self.stuck.iter_mut().for_each(|s| s.settle(data_una));
    }

    /// Nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.stuck.iter().all(|s| s.waiting.is_empty())
    }

    /// The earliest stretch of those at the head of a queue that `has_way` is true for: another subflow than the one it is
    /// stuck on can take it.
    pub fn next(&self, has_way: impl Fn(Option<SubflowId>) -> bool) -> Option<Stretch> {
        let heads = self.stuck.iter().enumerate().filter_map(|(i, s)| {
            let &(start, end) = s.waiting.front()?;
            let stuck_on = i.checked_sub(1);
            has_way(stuck_on).then_some(Stretch { start, end, stuck_on })
        });
        heads.min_by_key(|s| s.start)
    }

    /// `len` octets of the next stretch stuck there were sent.
    pub fn advance(&mut self, stuck_on: Option<SubflowId>, len: u64) {
        let stuck = &mut self.stuck[index(stuck_on)];
        if let Some(first) = stuck.waiting.front_mut() {
            first.0 += len;
            if first.0 >= first.1 {
                stuck.waiting.pop_front();
            }
        }
        stuck.settle(self.data_una);
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
        // Only subflow 0 can send: it cannot take its own.
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
