//! What a receiver reports beside the cumulative acknowledgement: SACK blocks, and duplicates (D-SACK).

use anabranch_stack::seq::Seq;

use super::{ONE_WAY, Sender, Sent, UNMAPPED};

impl Sender {
    pub(super) fn on_sack(&mut self, start: Seq, end: Seq, arrived: &mut Vec<Sent>) {
        // The part of the block that is new: usually a few octets at one of its ends.
        let mut at = start;
        while at < end {
            if let Some((_, known)) = self.sacked.containing(at.0) {
                at = Seq(known);
                continue;
            }
            let stop = self.sacked.overlapping(at.0, end.0).map_or(end, |r| Seq(r.0));
            let i = self.divide(at);
            self.divide(stop);
            for s in self.queue.iter_mut().skip(i).take_while(|s| s.end <= stop) {
                if !s.arrived {
                    s.arrived = true;
                    arrived.push(*s);
                }
            }
            self.sacked_octets += self.sacked.insert(at.0, stop.0);
            at = stop;
        }
        // No receiver holds so many ranges: the lowest are dropped.
        if self.sacked.len() > ONE_WAY {
            let lowest = self.sacked.iter().next().map_or(0, |r| r.1);
            self.sacked_octets -= self.sacked.remove_below(lowest);
        }
    }

    /// Part of an offloaded segment may have arrived: the segment that holds `at` within becomes two, one before it and one from it on.
    /// Returns the number of the first segment from `at` on.
    fn divide(&mut self, at: Seq) -> usize {
        let i = self.queue.partition_point(|s| s.end <= at);
        match self.queue.get_mut(i) {
            Some(s) if s.seq < at => {
                let data = if s.data == UNMAPPED { UNMAPPED } else { s.data.saturating_add(at - s.seq) };
                let rest = Sent { seq: at, data, ..*s };
                s.end = at;
                self.queue.insert(i + 1, rest);
                i + 1
            }
            _ => i,
        }
    }

    /// RFC 2883 4: the first block reports a duplicate if it is below the acknowledgement or within the second block.
    pub(super) fn on_duplicate_report(&mut self, ack: Seq, first: (u32, u32), second: Option<(u32, u32)>) -> bool {
        let unwrap = |(start, end): (u32, u32)| (Seq::unwrap(start, ack), Seq::unwrap(end, ack));
        let (start, end) = unwrap(first);
        let within = |block| {
            let (from, to) = unwrap(block);
            from <= start && end <= to
        };
        if !(start < ack || second.is_some_and(within)) {
            return false;
        }
        self.mark_spurious(start, end, true);
        true
    }

    pub(super) fn mark_spurious(&mut self, start: Seq, end: Seq, dsack: bool) {
        // Each report is about one copy: it goes to the oldest retransmission of these octets without one.
        let found = self.retransmissions.iter_mut().find(|r| !r.spurious && r.seq < end && r.end > start);
        if let Some(r) = found {
            r.spurious = true;
            self.spurious += 1;
            match dsack {
                true => self.by_dsack += 1,
                false => self.by_timestamp += 1,
            }
        }
    }
}
