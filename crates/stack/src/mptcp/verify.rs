//! DSS checksums of mappings that span segments (RFC 8684 3.3.1).
//!
//! A checksum covers all octets of its mapping. It can be verified only when the last of them has
//! arrived, and nothing of the mapping may be delivered before. A mapping whose octets arrive in
//! one segment is verified at once and is never stored here. For the others this module keeps the
//! mapping (its *promise*) and the sums of the pieces that have arrived. One's-complement sums can
//! be added in any order; a piece at an odd distance from the start has its octets swapped. A
//! segment that a middlebox has coalesced may contain the end of one mapping and the beginning of
//! the next. Both are then verified together.
//!
//! The engine knows only the sum of a piece ([`crate::segment::Payload::sum`]). A piece that
//! contains earlier ones takes their place, as its octets do in the buffer. If it overlaps another
//! one otherwise, the sum of its remainder is unknown ([`Checks::can_tell`]): it is not taken until
//! it has come several times, since the next retransmission may have other boundaries; then a
//! mapping with it cannot be verified and counts as broken. The sum of a part of a reference to
//! unchanged octets would be known (zero), but a simulation with references must have the same
//! trace as one with octets. A mapping that has no common end with the pieces for [`LONGEST`]
//! octets counts as broken, too: a middlebox that changes the length of a segment causes this.

use std::collections::BTreeMap;

use super::dss::LONGEST;
use crate::seq::Seq;
use crate::wire::checksum::Sum;

/// Maximum number of mappings of a subflow that wait for the rest of their octets. Linux maps up to
/// 64 kB at once, so this is 64 MB. If a peer has more mappings in progress, the receiver
/// refuses the octets of the further mappings until they are retransmitted. It never refuses the
/// mapping of the next expected octet, because all other data waits for that octet.
const MOST: usize = 1024;

/// Maximum number of mappings that are stored, with those that are verified and wait for octets
/// before them. It bounds the memory that a peer with mappings of two octets takes.
const STORED: usize = 16 * MOST;

/// A stored mapping.
#[derive(Clone, Copy, Debug)]
struct Promise {
    end: Seq,
    /// Data offset of its first octet.
    data: u64,
    /// Sum of its pseudo-header and its checksum.
    sum: Sum,
    /// Its checksum is right.
    kept: bool,
}

/// Octets that have arrived, joined with those before them unless a mapping ends in between.
#[derive(Clone, Copy, Debug)]
struct Octets {
    end: Seq,
    sum: Option<Sum>,
}

/// Mappings of one subflow that span segments, and the pieces of them that have arrived, both by first sequence number.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    promises: BTreeMap<Seq, Promise>,
    pieces: BTreeMap<Seq, Octets>,
    /// How many of the mappings are not verified yet.
    waiting: usize,
}

/// Where a mapping whose checksum failed begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    pub seq: Seq,
    pub data: u64,
}

impl Checks {
    /// No mapping waits for verification.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.promises.is_empty()
    }

    /// Stores a mapping of `[start, end)` to `data`. `sum` is the sum of its pseudo-header and its checksum. Returns false if
    /// there are too many, and the mapping does not begin before `expected` or there.
    #[must_use]
    pub fn promise(&mut self, (start, end): (Seq, Seq), data: u64, sum: Sum, expected: Seq) -> bool {
        // 3.3.1: the first mapping of an octet stands.
        if self.promises.range(..end).next_back().is_some_and(|(&from, p)| p.end > start || from >= start) {
            return true;
        }
        let many = self.waiting >= MOST || self.promises.len() >= STORED;
        if many && start > expected {
            return false;
        }
        self.waiting += 1;
        self.promises.insert(start, Promise { end, data, sum, kept: false });
        true
    }

    /// `[start, end)` has arrived.
    pub fn arrive(&mut self, start: Seq, end: Seq, sum: Sum) {
        if !self.holds(start, end) {
            return;
        }
        self.yield_to(start, end);
        // The new parts of it, from left to right.
        let before = self.pieces.range(..=start).next_back();
        let mut at = before.map_or(start, |(_, p)| start.max(p.end));
        while at < end {
            let next = self.pieces.range(at..).next().map(|(&from, p)| (from, p.end));
            let stop = next.map_or(end, |(from, _)| from.min(end));
            if at < stop {
                let whole = at == start && stop == end;
                self.add(at, Octets { end: stop, sum: whole.then_some(sum) });
            }
            let Some((_, next_end)) = next else { break };
            at = next_end;
        }
    }

    /// The sum of what `[start, end)` brings that is new would be known: it contains the pieces that it overlaps, or they contain it.
    pub fn can_tell(&self, start: Seq, end: Seq) -> bool {
        if !self.holds(start, end) {
            return true;
        }
        let overlapped =
            || self.pieces.range(..end).rev().map(|(&from, p)| (from, p.end)).take_while(|&(_, to)| to > start);
        // From right to left: what is left of it after the pieces.
        let rest = overlapped().fold(end, |rest, (from, to)| if to >= rest { from.min(rest) } else { rest });
        rest <= start || overlapped().all(|(from, to)| start <= from && to <= end)
    }

    /// Removes what `[start, end)` contains, unless it overlaps another piece besides: then no sum of it would be known.
    fn yield_to(&mut self, start: Seq, end: Seq) {
        let reaches_in = self.pieces.range(..start).next_back().is_some_and(|(_, p)| p.end > start);
        let last = self.pieces.range(start..end).next_back().map(|(&from, p)| (from, p.end));
        if reaches_in || last.is_none_or(|(from, to)| to > end || (from, to) == (start, end)) {
            return;
        }
        while let Some((&from, _)) = self.pieces.range(start..end).next() {
            self.pieces.remove(&from);
        }
    }

    /// Adds a piece that overlaps no other.
    fn add(&mut self, start: Seq, octets: Octets) {
        let ends_here = self.promises.range(..start).next_back().is_some_and(|(_, p)| p.end == start);
        let begins_here = self.promises.contains_key(&start);
        match self.pieces.range_mut(..start).next_back() {
            Some((&from, before)) if before.end == start && !ends_here && !begins_here => {
                let sums = before.sum.zip(octets.sum);
                *before = Octets { end: octets.end, sum: sums.map(|(a, b)| a.plus(b.at(start - from))) };
            }
            _ => {
                self.pieces.insert(start, octets);
            }
        }
    }

    /// `[from, to)` has arrived: verifies the mappings that this completes. Returns the first one
    /// that fails.
    pub fn verify(&mut self, from: Seq, to: Seq) -> Option<Broken> {
        // A mapping has at most LONGEST octets, and `run` follows others for about as many after
        // its end.
        let first = Seq(from.0.saturating_sub(3 * LONGEST));
        let waiting: Vec<Seq> =
            self.promises.range(first..to).filter(|(_, p)| !p.kept).map(|(&start, _)| start).collect();
        for start in waiting {
            let first = self.promises[&start];
            if first.kept {
                continue;
            }
            let Some((last, valid)) = self.run(start) else { continue };
            if !valid {
                return Some(Broken { seq: start, data: first.data });
            }
            for promise in self.promises.range_mut(start..=last).map(|(_, p)| p).filter(|p| !p.kept) {
                promise.kept = true;
                self.waiting -= 1;
            }
        }
        None
    }

    /// Follows the mappings from `start` on until a mapping and a piece end together. Returns where the last of these mappings
    /// begins, and whether the sum is right; `None` if octets are still missing.
    fn run(&self, start: Seq) -> Option<(Seq, bool)> {
        let first = self.promises[&start];
        let (mut last, mut mapped) = (start, first.end);
        let piece = self.pieces.get(&start)?;
        let mut arrived = piece.end;
        let mut total = piece.sum.map(|sum| sum.plus(first.sum));
        loop {
            if mapped == arrived {
                return Some((last, total.is_some_and(Sum::is_valid)));
            }
            if mapped.min(arrived) > first.end + LONGEST {
                return Some((start, false));
            }
            let add = if arrived < mapped {
                let next = self.pieces.get(&arrived)?;
                let at = core::mem::replace(&mut arrived, next.end);
                next.sum.map(|sum| sum.at(at - start))
            } else {
                let next = self.promises.get(&mapped)?;
                last = core::mem::replace(&mut mapped, next.end);
                // A mapping at an odd distance has all its octets swapped, so its whole sum is swapped.
                Some(next.sum.at(last - start))
            };
            total = total.zip(add).map(|(a, b)| a.plus(b));
        }
    }

    /// Some octet of `[start, end)` is not verified yet.
    pub fn holds(&self, start: Seq, end: Seq) -> bool {
        let mut touched = self.promises.range(..end).rev().take_while(|(_, p)| start < p.end);
        touched.any(|(_, p)| !p.kept)
    }

    /// Everything below `rcv_nxt` has arrived: drops the verified mappings there.
    pub fn forget_below(&mut self, rcv_nxt: Seq) {
        while let Some(first) = self.promises.first_entry() {
            if !first.get().kept || first.get().end > rcv_nxt {
                break;
            }
            first.remove();
        }
        match self.promises.iter().find(|(_, p)| !p.kept) {
            Some((&start, _)) => {
                while self.pieces.first_key_value().is_some_and(|(_, p)| p.end <= start) {
                    self.pieces.pop_first();
                }
            }
            None => self.pieces.clear(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::checksum::dss_pseudo_header;

    /// The octets of one mapping of all `octets`, from sequence number 1 and data offset 0 on, cut at `cuts`.
    fn promised(octets: &[u8], wrong: u16) -> Checks {
        let pseudo = dss_pseudo_header(77, 1, octets.len() as u16);
        let checksum = pseudo.plus(Sum::of(octets)).checksum();
        let mut checks = Checks::default();
        let end = Seq(1 + octets.len() as u64);
        assert!(checks.promise((Seq(1), end), 0, pseudo.plus(Sum(checksum ^ wrong)), Seq(1)));
        checks
    }

    fn pieces(octets: &[u8], cuts: &[usize]) -> Vec<(Seq, Seq, Sum)> {
        let edges: Vec<usize> = [0].iter().chain(cuts).copied().chain([octets.len()]).collect();
        let piece = |w: &[usize]| (Seq(1 + w[0] as u64), Seq(1 + w[1] as u64), Sum::of(&octets[w[0]..w[1]]));
        edges.windows(2).map(piece).collect()
    }

    /// RFC 8684 3.3.1: the first mapping of an octet stands, also beside one that begins behind it, or before it, or ends further.
    #[test]
    fn the_first_mapping_of_an_octet_stands() {
        for (start, end) in [(5, 30), (1, 24), (2, 4), (0, 2)] {
            let mut checks = promised(&[7; 23], 0);
            assert!(checks.promise((Seq(start), Seq(end)), 100, Sum(0), Seq(1)));
            assert_eq!(checks.promises.len(), 1, "{start} {end}");
        }
        let mut checks = promised(&[7; 23], 0);
        assert!(checks.promise((Seq(24), Seq(30)), 100, Sum(0), Seq(1)));
        assert_eq!(checks.promises.len(), 2);
    }

    /// Pieces of any length, odd ones too, in any order.
    #[test]
    fn a_mapping_in_pieces_is_verified_when_the_last_has_come() {
        let octets: Vec<u8> = (0..23u8).map(|i| i.wrapping_mul(37)).collect();
        for cuts in [&[1usize, 2][..], &[5, 6, 13], &[2, 9, 22], &[11]] {
            for wrong in [0, 1] {
                let mut all = pieces(&octets, cuts);
                all.reverse();
                let mut checks = promised(&octets, wrong);
                let last = all.pop().unwrap();
                for (start, end, sum) in all {
                    checks.arrive(start, end, sum);
                    assert_eq!(checks.verify(Seq(1), Seq(u64::MAX)), None);
                    assert!(checks.holds(start, end));
                }
                checks.arrive(last.0, last.1, last.2);
                let broken = Broken { seq: Seq(1), data: 0 };
                assert_eq!(checks.verify(Seq(1), Seq(u64::MAX)), (wrong != 0).then_some(broken), "{cuts:?}");
                assert_eq!(checks.holds(Seq(1), Seq(24)), wrong != 0);
            }
        }
    }

    /// One segment with the end of one mapping and the beginning of the next.
    #[test]
    fn mappings_that_share_a_segment_are_verified_together() {
        let octets: Vec<u8> = (0..20u8).map(|i| i.wrapping_mul(91)).collect();
        for damage in [0u8, 4] {
            let mut checks = Checks::default();
            for (from, to) in [(0usize, 7usize), (7, 20)] {
                let pseudo = dss_pseudo_header(from as u64, from as u32 + 1, (to - from) as u16);
                let sum = pseudo.plus(Sum(pseudo.plus(Sum::of(&octets[from..to])).checksum()));
                assert!(checks.promise((Seq(1 + from as u64), Seq(1 + to as u64)), from as u64, sum, Seq(1)));
            }
            let mut arrived = octets.clone();
            arrived[9] ^= damage;
            for (start, end, sum) in pieces(&arrived, &[3, 13]) {
                assert_eq!(checks.verify(Seq(1), Seq(u64::MAX)), None);
                checks.arrive(start, end, sum);
            }
            // The sum does not tell which of the two mappings failed: the first is reported.
            assert_eq!(checks.verify(Seq(1), Seq(u64::MAX)).map(|b| b.data), (damage != 0).then_some(0));
        }
    }

    /// 4 octets are missing from the first segment of each mapping: later segments have their full length, but never end where a
    /// mapping ends.
    #[test]
    fn mappings_that_never_end_with_a_segment_are_broken_after_the_longest_one() {
        let pseudo = dss_pseudo_header(0, 1, 1000);
        let mut checks = Checks::default();
        let mut broken = None;
        for i in 0..80u64 {
            let (from, to) = (1 + 1000 * i, 1001 + 1000 * i);
            assert!(checks.promise((Seq(from), Seq(to)), from - 1, pseudo.plus(Sum(pseudo.checksum())), Seq(1)));
            checks.arrive(Seq(if i == 0 { 1 } else { from - 4 }), Seq(to - 4), Sum(1));
            broken = checks.verify(Seq(1), Seq(u64::MAX));
            if broken.is_some() {
                assert_eq!(i, 66, "its 66,997 is the first end more than 65,535 behind 1001");
                break;
            }
        }
        assert_eq!(broken, Some(Broken { seq: Seq(1), data: 0 }));
    }

    /// A retransmission of several pieces in one takes their place, a damaged one's too.
    #[test]
    fn a_piece_takes_the_place_of_those_that_it_contains() {
        let octets: Vec<u8> = (0..30u8).map(|i| i.wrapping_mul(53)).collect();
        for damage in [0, 1] {
            let mut checks = promised(&octets, 0);
            checks.arrive(Seq(1), Seq(6), Sum::of(&octets[..5]));
            checks.arrive(Seq(11), Seq(14), Sum::of(&octets[10..13]).plus(Sum(damage)));
            checks.arrive(Seq(20), Seq(31), Sum::of(&octets[19..]));
            checks.arrive(Seq(6), Seq(31), Sum::of(&octets[5..]));
            assert_eq!(checks.verify(Seq(1), Seq(u64::MAX)), None);
            assert!(!checks.holds(Seq(1), Seq(31)));
        }
    }

    /// A retransmission with other boundaries: its remainder cannot be verified, whether it consists of octets or is a reference to
    /// them (whose sum is zero).
    #[test]
    fn an_overlap_has_an_unknown_sum() {
        for octets in [[9u8; 30], [0; 30]] {
            let mut checks = promised(&octets, 0);
            checks.arrive(Seq(1), Seq(11), Sum::of(&octets[..10]));
            assert!(!checks.can_tell(Seq(5), Seq(31)));
            checks.arrive(Seq(5), Seq(31), Sum::of(&octets[4..]));
            assert_eq!(checks.verify(Seq(1), Seq(31)), Some(Broken { seq: Seq(1), data: 0 }));
        }
    }

    /// By its boundaries: pieces at 5 to 10, 10 to 15 and 20 to 25 of a mapping of 1 to 31.
    #[test]
    fn whether_the_sum_of_a_remainder_is_known_is_told_before() {
        let mut checks = promised(&[9; 30], 0);
        for (start, end) in [(5, 10), (20, 25), (10, 15)] {
            assert!(checks.can_tell(Seq(start), Seq(end)));
            checks.arrive(Seq(start), Seq(end), Sum(0));
        }
        let known =
            [(1, 5), (15, 20), (25, 31), (5, 15), (7, 12), (5, 6), (14, 15), (5, 25), (1, 31), (4, 16), (20, 25)];
        let unknown = [(1, 6), (1, 14), (6, 16), (14, 16), (5, 24), (19, 24), (14, 21), (6, 26), (5, 21), (24, 31)];
        known.iter().for_each(|&(start, end)| assert!(checks.can_tell(Seq(start), Seq(end)), "{start} {end}"));
        unknown.iter().for_each(|&(start, end)| assert!(!checks.can_tell(Seq(start), Seq(end)), "{start} {end}"));
        assert!(checks.can_tell(Seq(31), Seq(40)), "nothing there waits for its checksum");
    }

    #[test]
    fn what_is_verified_and_below_is_forgotten() {
        let octets = [7u8; 10];
        let mut checks = promised(&octets, 0);
        checks.arrive(Seq(1), Seq(11), Sum::of(&octets));
        assert_eq!(checks.verify(Seq(1), Seq(u64::MAX)), None);
        checks.forget_below(Seq(5));
        assert!(!checks.is_empty(), "a copy that comes now must not be waited for again");
        checks.forget_below(Seq(11));
        assert!(checks.is_empty() && checks.pieces.is_empty());
    }

    /// Octet by octet, from the front, the back or in disorder, a mapping of 60,000 octets is verified with the last of them.
    #[test]
    fn a_long_mapping_in_single_octets_is_verified_whatever_their_order() {
        const N: usize = 60_000;
        let octets: Vec<u8> = (0..N).map(|i| (i * 37 / 11) as u8).collect();
        let orders: [fn(usize) -> usize; 3] = [|i| i, |i| N - 1 - i, |i| i * 7_919 % N];
        for order in orders {
            let mut checks = promised(&octets, 0);
            for i in (0..N).map(order) {
                assert!(checks.holds(Seq(1), Seq(2)));
                checks.arrive(Seq(1 + i as u64), Seq(2 + i as u64), Sum::of(&octets[i..=i]));
                assert_eq!(checks.verify(Seq(1), Seq(u64::MAX)), None);
            }
            assert!(!checks.holds(Seq(1), Seq(1 + N as u64)));
        }
    }

    /// Every other octet begins a mapping of two: the octets of the mapping after the 1,024th must be retransmitted.
    #[test]
    fn there_is_an_end_to_mappings_that_wait() {
        let mut checks = Checks::default();
        let mut begin =
            |i: u64, expected| checks.promise((Seq(1 + 2 * i), Seq(3 + 2 * i)), 2 * i, Sum(1), Seq(expected));
        assert!((0..1024).all(|i| begin(i, 1)) && !begin(1024, 1));
        assert!(begin(7, 1), "one that is known is no more");
        assert!(begin(1024, 2049), "everything waits for the octet expected next");
        assert!(!begin(1025, 2049));
    }

    /// The segment with the first mapping was lost, and more mappings than may wait have come whole
    /// behind it.
    #[test]
    fn mappings_that_are_verified_leave_room_for_others() {
        let mut checks = Checks::default();
        let mut come = |i: u64| {
            let (from, to) = (Seq(1 + 4 * i), Seq(5 + 4 * i));
            let pseudo = crate::wire::checksum::dss_pseudo_header(4 * i, from.0 as u32, 4);
            let sum = pseudo.plus(Sum(pseudo.plus(Sum(7)).plus(Sum(9)).checksum()));
            let taken = checks.promise((from, to), 4 * i, sum, Seq(1));
            for (at, sum) in [(from, Sum(7)), (Seq(from.0 + 2), Sum(9))].into_iter().filter(|_| taken) {
                checks.arrive(at, Seq(at.0 + 2), sum);
                assert_eq!(checks.verify(at, Seq(at.0 + 2)), None);
            }
            taken
        };
        let stored = STORED as u64;
        assert!((1..=stored).all(&mut come));
        assert!(!come(stored + 1), "there is an end to what is stored");
        assert!(come(0));
        assert_eq!(checks.waiting, 0);
        assert!(!checks.holds(Seq(1), Seq(1 + 4 * stored)));
    }
}
