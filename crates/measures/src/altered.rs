//! Octets delivered that are not those sent: a middlebox changed them, and the receiver accepted them.
//!
//! Altered octets that arrive need not be delivered: a checksum may fail once the rest of its mapping is there, or the
//! subflow may end while it holds them. So an arrival is noted as a mark on a range of the data stream, and counts once
//! everything up to the range's end is in order. A mark is removed when its subflow ends before that, if its octets waited for
//! a checksum or for a hole; and when an unaltered copy of its range arrives.

/// A range of the data stream that arrived with altered octets.
#[derive(Clone, Copy, Debug)]
struct Mark {
    start: u64,
    end: u64,
    octets: u64,
    subflow: usize,
    held: bool,
    /// They are of another place of the stream, and no middlebox is the cause.
    misplaced: bool,
}

/// The marks of one connection.
#[derive(Clone, Debug, Default)]
pub struct Altered {
    marks: Vec<Mark>,
    delivered: u64,
    misplaced: u64,
}

impl Altered {
    /// `[start, end)` arrived on `subflow` with `octets` altered ones, perhaps none, or `misplaced` ones; there it is held for a hole, or in order. `replaces`: what
    /// arrived altered before is not kept beside it, be it only a part of this.
    #[inline]
    pub fn arrive(
        &mut self,
        (start, end): (u64, u64),
        octets: u64,
        misplaced: bool,
        subflow: usize,
        held: bool,
        replaces: bool,
    ) {
        if octets == 0 && self.marks.is_empty() {
            return;
        }
        if replaces {
            self.marks.retain(|m| m.end <= start || end <= m.start);
        }
        if octets > 0 {
            self.marks.push(Mark { start, end, octets, subflow, held, misplaced });
        }
    }

    /// `[start, end)` arrived as it was sent, on `subflow`, and is not kept, since all of it had arrived before. Checksums are in use: what waits
    /// altered on another subflow is not in the stream, and will not be.
    #[inline]
    pub fn arrive_elsewhere(&mut self, (start, end): (u64, u64), subflow: usize) {
        if !self.marks.is_empty() {
            self.marks.retain(|m| m.subflow == subflow || m.end <= start || end <= m.start);
        }
    }

    /// No range is marked.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// `subflow` has ended; everything before `received` is in order. `verified`: DSS checksums were in use.
    pub fn end(&mut self, subflow: usize, received: u64, verified: bool) {
        self.settle(received);
        self.marks.retain(|m| m.subflow != subflow || !(verified || m.held));
    }

    /// Everything before `received` is in order: that is what will be read.
    #[inline]
    pub fn settle(&mut self, received: u64) {
        if self.marks.is_empty() {
            return;
        }
        let Self { delivered, misplaced, marks } = self;
        marks.retain(|m| {
            let in_order = m.end <= received;
            *delivered += if in_order { m.octets } else { 0 };
            *misplaced += if in_order && m.misplaced { m.octets } else { 0 };
            !in_order
        });
    }

    /// Those of them that no middlebox altered: they are of another place of the stream.
    pub fn misplaced(&self) -> u64 {
        self.misplaced
    }

    /// Altered octets delivered so far.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn altered_octets_count_when_they_are_delivered() {
        let mut a = Altered::default();
        a.arrive((0, 10), 0, false, 0, false, false);
        a.arrive((20, 30), 2, false, 0, false, false);
        a.settle(20);
        assert_eq!(a.delivered(), 0);
        a.settle(30);
        assert_eq!(a.delivered(), 2);
    }

    /// A fault of this program is one once they are delivered: what waits for the answer to an MP_FAIL may never be.
    #[test]
    fn misplaced_octets_count_when_they_are_delivered() {
        let mut a = Altered::default();
        a.arrive((0, 10), 10, true, 0, false, false);
        a.arrive((10, 20), 3, false, 0, false, false);
        assert_eq!(a.misplaced(), 0);
        a.settle(20);
        assert_eq!((a.misplaced(), a.delivered()), (10, 13));
    }

    #[test]
    fn what_is_not_kept_does_not_count() {
        // Held for a hole in a subflow that ends; waiting for a checksum; replaced by another copy.
        for (held, verified, copied) in [(true, false, false), (false, true, false), (false, false, true)] {
            let mut a = Altered::default();
            a.arrive((20, 30), 2, false, 0, held, false);
            if copied {
                a.arrive((20, 30), 0, false, 1, false, true);
            } else {
                a.end(0, 10, verified);
            }
            a.settle(100);
            assert_eq!(a.delivered(), 0);
        }
        // A copy that is not kept says that another subflow has it.
        for (by, counted) in [(1, 0), (0, 2)] {
            let mut a = Altered::default();
            a.arrive((20, 30), 2, false, 0, true, true);
            a.arrive_elsewhere((10, 21), by);
            a.settle(100);
            assert_eq!(a.delivered(), counted);
        }
        // What waits for a hole in the data stream stays, whatever becomes of its subflow.
        let mut a = Altered::default();
        a.arrive((20, 30), 2, false, 0, false, false);
        a.end(0, 10, false);
        a.settle(100);
        assert_eq!(a.delivered(), 2);
    }
}
