//! Segments that come again, long after: routes that loop, boxes that keep copies, attackers that record.
//!
//! Of each flow and direction every `count`-th segment is kept, and goes on once more `after` later, as it was: old sequence and
//! acknowledgement numbers, old timestamps, old signals. What protects a host from it: the check of sequence numbers (RFC 9293
//! 3.10.7.4), PAWS (RFC 7323 5), TIME-WAIT, and RFC 5961 for what resets. At data level a copy maps octets to where they belong
//! (RFC 8684 3.3.1), and a DATA_ACK never goes back (3.3.2).

use std::collections::{BTreeMap, VecDeque};

use super::super::packet::Packet;
use super::{FlowId, NEVER, flow_of};

/// The copies that wait.
#[derive(Debug)]
pub struct Replay {
    count: u32,
    after: u64,
    /// Segments seen, by flow and direction.
    seen: BTreeMap<(FlowId, bool), u32>,
    /// By direction (first what goes from a to b): when they are due, in order.
    kept: [VecDeque<(u64, Packet)>; 2],
}

impl Replay {
    /// Keeps every `count`-th segment for `after` nanoseconds.
    pub fn new(count: u32, after: u64) -> Self {
        Self { count, after, seen: BTreeMap::new(), kept: Default::default() }
    }

    /// A packet comes along.
    pub fn pass(&mut self, now: u64, ab: bool, packet: &Packet) {
        let seen = self.seen.entry((flow_of(packet), ab)).or_default();
        *seen += 1;
        if *seen == self.count {
            *seen = 0;
            self.kept[usize::from(!ab)].push_back((now + self.after, *packet));
        }
    }

    /// When the first of the copies goes.
    pub fn deadline(&self) -> u64 {
        self.kept.iter().filter_map(|kept| kept.front()).map(|(at, _)| *at).min().unwrap_or(NEVER)
    }

    /// Lets go of what is due in one direction.
    pub fn release(&mut self, now: u64, ab: bool, through: &mut Vec<Packet>) {
        let kept = &mut self.kept[usize::from(!ab)];
        while kept.front().is_some_and(|(at, _)| *at <= now) {
            through.extend(kept.pop_front().map(|(_, packet)| packet));
        }
    }
}

#[cfg(test)]
mod tests {
    use anabranch_stack::event::SendKind;
    use anabranch_stack::segment::{Flags, Segment};

    use super::*;

    #[test]
    fn every_third_segment_of_a_direction_comes_again_in_order() {
        let mut replay = Replay::new(3, 100);
        for n in 0..7 {
            let s = Segment { seq: n, flags: Flags::ACK, ..Segment::default() };
            replay.pass(u64::from(n), true, &Packet::new(s, 0, 0, true, SendKind::New, 1));
        }
        let mut through = Vec::new();
        assert_eq!(replay.deadline(), 102);
        replay.release(104, true, &mut through);
        replay.release(200, false, &mut through);
        assert_eq!((through.iter().map(|p| p.segment.seq).collect::<Vec<_>>(), replay.deadline()), (vec![2], 105));
        replay.release(105, true, &mut through);
        assert_eq!((through.len(), replay.deadline()), (2, NEVER));
    }
}
