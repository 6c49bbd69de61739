//! The receiving half of a subflow: the next expected octet, segments held because of a hole, and the SACK blocks of
//! acknowledgements.
//!
//! SACK blocks follow RFC 2018 4: the first block contains the segment that arrived last, the others repeat the most recently
//! reported blocks. A D-SACK block comes before them (RFC 2883 4). Held segments are never discarded (no reneging).

use crate::hold::HoldQueue;
use crate::ranges::RangeSet;
use crate::segment::SackBlocks;
use crate::seq::Seq;

/// Octets that have become in order on their subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Offset of the first octet in the peer's data stream.
    pub data: u64,
    /// Number of octets.
    pub len: u32,
}

/// What happened to an arriving payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// The payload was next. It and the held segments after it were delivered.
    InOrder,
    /// The payload is held because of a hole before it.
    Held,
    /// Every octet had arrived before.
    Duplicate,
}

/// The receiving half of one subflow.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Receiver {
    /// Next sequence number expected (RFC 9293 3.3.1 RCV.NXT).
    pub rcv_nxt: Seq,
    /// Held segments. The tag is the data offset minus the sequence number.
    pub(super) held: HoldQueue,
    ranges: RangeSet,
    /// A sequence number in each recently reported block, most recent first.
    recent: [Option<Seq>; 4],
    pub(super) dsack: Option<(Seq, Seq)>,
}

impl Receiver {
    /// Expects `rcv_nxt` as its first octet.
    pub fn new(rcv_nxt: Seq) -> Self {
        Self { rcv_nxt, ..Self::default() }
    }

    /// Segments held because of a hole in this subflow's sequence space.
    pub fn held_packets(&self) -> u64 {
        self.held.packets()
    }

    /// Octets of these segments.
    pub fn held_octets(&self) -> u64 {
        self.held.octets()
    }

    /// Segments are held: an arriving segment fills a hole or leaves one (RFC 5681 4.2: acknowledge at once).
    #[inline]
    pub fn has_holes(&self) -> bool {
        !self.held.is_empty()
    }

    /// Sequence number after the highest octet that has arrived; RCV.NXT if nothing is held.
    pub fn end(&self) -> Seq {
        self.held.end().map_or(self.rcv_nxt, |end| self.rcv_nxt.max(Seq(end)))
    }

    /// A payload arrives; beyond a hole it is held (RFC 9293 3.10.7.4, SHLD-31). Octets that are now in order are appended to `delivered`.
    pub fn accept(&mut self, seq: Seq, data: u64, len: u32, delivered: &mut Vec<Piece>) -> Arrival {
        let end = seq + u64::from(len);
        if seq == self.rcv_nxt && self.held.is_empty() {
            self.rcv_nxt = end;
            delivered.push(Piece { data, len });
            return Arrival::InOrder;
        }
        // RFC 2883 4: report the first contiguous part that had arrived before.
        let fresh_from = seq.max(self.rcv_nxt);
        if seq < self.rcv_nxt {
            self.dsack = Some((seq, end.min(self.rcv_nxt)));
        }
        if end <= self.rcv_nxt {
            return Arrival::Duplicate;
        }
        if self.dsack.is_none() {
            if let Some((from, to)) = self.ranges.overlapping(fresh_from.0, end.0) {
                self.dsack = Some((fresh_from.max(Seq(from)), end.min(Seq(to))));
            }
        }
        self.remember(fresh_from);
        if self.ranges.containing(fresh_from.0).is_some_and(|r| end.0 <= r.1) {
            return Arrival::Duplicate;
        }
        self.held.insert(fresh_from.0, end.0, data.wrapping_sub(seq.0));
        self.ranges.insert(fresh_from.0, end.0);
        if fresh_from > self.rcv_nxt {
            return Arrival::Held;
        }
        self.drain(delivered);
        Arrival::InOrder
    }

    fn drain(&mut self, delivered: &mut Vec<Piece>) {
        while let Some(h) = self.held.pop_at(self.rcv_nxt.0) {
            self.rcv_nxt += u64::from(h.len);
            delivered.push(Piece { data: h.at.wrapping_add(h.tag), len: h.len });
        }
        self.ranges.remove_below(self.rcv_nxt.0);
    }

    fn remember(&mut self, seq: Seq) {
        let place = |r: &Option<Seq>| {
            r.is_none_or(|s| self.ranges.containing(s.0).is_none_or(|b| b.0 <= seq.0 && seq.0 <= b.1))
        };
        let last = self.recent.iter().position(place).unwrap_or(self.recent.len() - 1);
        self.recent[..=last].rotate_right(1);
        self.recent[0] = Some(seq);
    }

    /// A D-SACK block must be reported.
    #[inline]
    pub fn has_dsack(&self) -> bool {
        self.dsack.is_some()
    }

    /// Notes that a segment had arrived before; a D-SACK block will report it.
    pub fn note_duplicate(&mut self, seq: Seq, len: u32) {
        self.dsack = Some((seq, seq + u64::from(len)));
    }

    /// The blocks of an acknowledgement, at most `room`. A D-SACK block is reported once (RFC 2883 4).
    pub fn sack_blocks(&mut self, room: usize) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        if let Some((from, to)) = self.dsack.take() {
            if room > 0 {
                blocks.push(from.wire(), to.wire());
            }
        }
        if self.ranges.is_empty() {
            return blocks;
        }
        let mut reported = [(0, 0); 4];
        let mut n = 0;
        for seq in self.recent.iter().flatten() {
            if blocks.as_slice().len() >= room {
                break;
            }
            if let Some(block) = self.ranges.containing(seq.0) {
                if !reported[..n].contains(&block) {
                    reported[n] = block;
                    n += 1;
                    blocks.push(Seq(block.0).wire(), Seq(block.1).wire());
                }
            }
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A receiver at `next` that gets segments of 500 octets as in the examples of RFC 2018 and RFC 2883.
    struct Bench {
        receiver: Receiver,
        delivered: Vec<Piece>,
    }

    impl Bench {
        fn at(next: u64) -> Self {
            Self { receiver: Receiver::new(Seq(next)), delivered: Vec::new() }
        }

        fn arrive(&mut self, from: u64, to: u64) -> (u64, Vec<(u32, u32)>) {
            self.receiver.accept(Seq(from), from, (to - from) as u32, &mut self.delivered);
            (self.receiver.rcv_nxt.0, self.receiver.sack_blocks(4).as_slice().to_vec())
        }
    }

    /// RFC 2018 section 7, case 2: the first of eight segments (5000 to 8999) is lost.
    #[test]
    fn rfc_2018_the_first_segment_is_dropped() {
        let mut b = Bench::at(5_000);
        for i in 1..8 {
            assert_eq!(
                b.arrive(5_000 + 500 * i, 5_500 + 500 * i),
                (5_000, vec![(5_500, 6_000 + 500 * (i as u32 - 1))])
            );
        }
    }

    /// RFC 2018 section 7, case 3: the 2nd, 4th, 6th and 8th segments are dropped; then the 4th and the 2nd arrive.
    #[test]
    fn rfc_2018_every_other_segment_is_dropped() {
        let mut b = Bench::at(5_000);
        assert_eq!(b.arrive(5_000, 5_500), (5_500, vec![]));
        assert_eq!(b.arrive(6_000, 6_500), (5_500, vec![(6_000, 6_500)]));
        assert_eq!(b.arrive(7_000, 7_500), (5_500, vec![(7_000, 7_500), (6_000, 6_500)]));
        assert_eq!(b.arrive(8_000, 8_500), (5_500, vec![(8_000, 8_500), (7_000, 7_500), (6_000, 6_500)]));
        assert_eq!(b.arrive(6_500, 7_000), (5_500, vec![(6_000, 7_500), (8_000, 8_500)]));
        assert_eq!(b.arrive(5_500, 6_000), (7_500, vec![(8_000, 8_500)]));
    }

    /// RFC 2883 section 4.1.1: a duplicate segment below the cumulative acknowledgement.
    #[test]
    fn rfc_2883_reporting_a_duplicate_segment() {
        let mut b = Bench::at(3_000);
        assert_eq!(b.arrive(3_000, 3_500), (3_500, vec![]));
        assert_eq!(b.arrive(3_500, 4_000), (4_000, vec![]));
        assert_eq!(b.arrive(3_000, 3_500), (4_000, vec![(3_000, 3_500)]));
    }

    /// RFC 2883 section 4.1.2: a duplicate of held data, out of order; 4.1.3 likewise with a hole left.
    #[test]
    fn rfc_2883_reporting_an_out_of_order_and_a_duplicate_segment() {
        let mut b = Bench::at(4_000);
        assert_eq!(b.arrive(4_500, 5_000), (4_000, vec![(4_500, 5_000)]));
        assert_eq!(b.arrive(5_000, 5_500), (4_000, vec![(4_500, 5_500)]));
        // The D-SACK block comes first, then the block that contains it.
        assert_eq!(b.arrive(5_000, 5_500), (4_000, vec![(5_000, 5_500), (4_500, 5_500)]));
    }

    /// RFC 2883 section 4.2.1: a partial duplicate; the part below the cumulative acknowledgement is reported.
    #[test]
    fn rfc_2883_reporting_partial_duplicates() {
        let mut b = Bench::at(500);
        assert_eq!(b.arrive(500, 1_000), (1_000, vec![]));
        assert_eq!(b.arrive(1_500, 2_000), (1_000, vec![(1_500, 2_000)]));
        assert_eq!(b.arrive(2_000, 2_500), (1_000, vec![(1_500, 2_500)]));
        // 1000-2500 arrives again as one segment: 1500-2500 is the duplicate, everything is delivered.
        assert_eq!(b.arrive(1_000, 2_500), (2_500, vec![(1_500, 2_500)]));
        assert_eq!(b.delivered.iter().map(|p| u64::from(p.len)).sum::<u64>(), 2_000);
    }

    /// Parked: 100 to 200 (ahead in the data stream), 200 to 300, 400 to 500. Then 100 to 250 arrives as one segment that is next
    /// in the data stream. Held octets that it covers are no longer held, and the rest of the second segment continues from
    /// there.
    #[test]
    fn what_is_delivered_is_no_longer_parked() {
        let mut r = Bench::at(100).receiver;
        assert!(r.park(Seq(100), 1_100, 100) && r.park(Seq(200), 1_200, 100) && r.park(Seq(400), 1_400, 100));
        r.advance(150);
        assert_eq!((r.rcv_nxt, r.held_packets(), r.held_octets()), (Seq(250), 2, 150));
        assert_eq!(r.parked(), Some((Seq(250), 1_250, 50)));
        assert_eq!(r.release(), Some(Piece { data: 1_250, len: 50 }));
        assert_eq!((r.rcv_nxt, r.parked(), r.held_octets()), (Seq(300), None, 100));
    }

    /// Random arrivals, overlaps included: every octet is delivered once and in order.
    #[test]
    fn every_octet_is_delivered_once_and_in_order() {
        let mut x = 3_u64;
        for _ in 0..300 {
            let mut b = Bench::at(100);
            for _ in 0..2_000 {
                x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let from = 80 + (x >> 33) % 200;
                b.arrive(from, from + 1 + (x >> 50) % 20);
            }
            let mut next = 100;
            for p in &b.delivered {
                assert_eq!(p.data, next);
                next += u64::from(p.len);
            }
            assert_eq!(next, b.receiver.rcv_nxt.0);
            assert!(next > 250);
            assert_eq!((b.receiver.held_octets(), b.receiver.held_packets()), (0, 0));
        }
    }
}
