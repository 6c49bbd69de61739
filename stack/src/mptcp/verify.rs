//! DSS checksums of mappings that span segments (RFC 8684 3.3.1).
//!
//! A checksum covers all octets of its mapping, so it says nothing before the last of them has come, and nothing of the mapping may
//! be delivered before. A mapping whose octets come in one segment is verified at once and never gets here. Of the others this
//! keeps the mapping (what it promises) and the sums of the pieces that have come. One's-complement sums add up in any order; a
//! piece at an odd distance from the start has its octets swapped. A segment that a middlebox has coalesced may hold the end
//! of one mapping and the beginning of the next: then both are verified together.
//!
//! The engine knows a piece only by its sum ([`crate::segment::Payload::sum`]). What is left of one that overlaps another has an
//! unknown sum (unless it is zero: then every octet is), and a mapping with such a piece cannot be verified: it counts as
//! broken, as does one that has no common end with the pieces for [`LONGEST`] octets, which is what a middlebox makes that has
//! changed the length of a segment.

use std::collections::VecDeque;

use crate::seq::Seq;
use crate::wire::checksum::Sum;

/// No segment is longer, coalesced or not (RFC 791 3.1).
const LONGEST: u64 = 65_535;

/// What a mapping promises.
#[derive(Clone, Copy, Debug)]
struct Promise {
    start: Seq,
    end: Seq,
    /// First octet in the data stream.
    data: u64,
    /// Pseudo-header and checksum.
    sum: Sum,
    kept: bool,
}

#[derive(Clone, Copy, Debug)]
struct Octets {
    start: Seq,
    end: Seq,
    sum: Option<Sum>,
}

/// Mappings of one subflow that are not verified.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    promises: VecDeque<Promise>,
    pieces: VecDeque<Octets>,
}

/// A mapping whose checksum fails: where it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    pub seq: Seq,
    pub data: u64,
}

impl Checks {
    /// Nothing is waited for.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.promises.is_empty()
    }

    /// A mapping of `[start, end)` to `data`; `sum` is that of its pseudo-header and its checksum.
    pub fn promise(&mut self, start: Seq, end: Seq, data: u64, sum: Sum) {
        let i = self.promises.partition_point(|p| p.start < start);
        let before = i.checked_sub(1).is_some_and(|b| self.promises[b].end > start);
        let after = self.promises.get(i).is_some_and(|p| p.start < end);
        // 3.3.1: the first mapping of an octet stands.
        if !before && !after {
            self.promises.insert(i, Promise { start, end, data, sum, kept: false });
        }
    }

    /// `[start, end)` has come.
    pub fn arrive(&mut self, start: Seq, end: Seq, sum: Sum) {
        if !self.promises.iter().any(|p| !p.kept && p.start < end && start < p.end) {
            return;
        }
        // What is new of it, from the left to the right.
        let part = if sum == Sum::default() { Some(sum) } else { None };
        let mut at = start;
        let mut i = self.pieces.partition_point(|p| p.end <= start);
        while at < end {
            let stop = self.pieces.get(i).map_or(end, |p| p.start.min(end));
            if at < stop {
                let whole = at == start && stop == end;
                self.pieces.insert(i, Octets { start: at, end: stop, sum: if whole { Some(sum) } else { part } });
                i += 1;
            }
            let Some(next) = self.pieces.get(i) else { break };
            at = next.end;
            i += 1;
        }
    }

    /// Verifies what is complete; the first mapping that fails.
    pub fn verify(&mut self) -> Option<Broken> {
        for i in 0..self.promises.len() {
            let first = self.promises[i];
            if first.kept {
                continue;
            }
            let Some((last, valid)) = self.run(i) else { continue };
            if !valid {
                return Some(Broken { seq: first.start, data: first.data });
            }
            self.promises.range_mut(i..=last).for_each(|p| p.kept = true);
        }
        None
    }

    /// The mappings from `i` on whose ends and those of the pieces meet: the last of them, and whether the sum is right. `None`
    /// if something is still to come.
    fn run(&self, i: usize) -> Option<(usize, bool)> {
        let start = self.promises[i].start;
        let mut last = i;
        let mut piece = self.pieces.partition_point(|p| p.start < start);
        let first = self.pieces.get(piece).filter(|p| p.start == start)?;
        let mut total = first.sum.map(|sum| sum.plus(self.promises[i].sum));
        loop {
            let (mapped, come) = (self.promises[last].end, self.pieces[piece].end);
            if mapped == come {
                return Some((last, total.is_some_and(Sum::is_valid)));
            }
            if mapped.min(come) > self.promises[i].end + LONGEST {
                return Some((i, false));
            }
            let add = if come < mapped {
                piece += 1;
                self.pieces.get(piece).filter(|p| p.start == come)?.sum.map(|sum| sum.at(come - start))
            } else {
                last += 1;
                // What an odd beginning swaps is swapped in all of its equation.
                Some(self.promises.get(last).filter(|p| p.start == mapped)?.sum.at(mapped - start))
            };
            total = total.zip(add).map(|(a, b)| a.plus(b));
        }
    }

    /// Some octet of `[start, end)` is not verified yet.
    pub fn holds(&self, start: Seq, end: Seq) -> bool {
        self.promises.iter().any(|p| !p.kept && p.start < end && start < p.end)
    }

    /// Everything below `rcv_nxt` has come: verified mappings there are not needed any more.
    pub fn forget_below(&mut self, rcv_nxt: Seq) {
        while self.promises.front().is_some_and(|p| p.kept && p.end <= rcv_nxt) {
            self.promises.pop_front();
        }
        let needed = self.promises.iter().find(|p| !p.kept).map(|p| p.start);
        match needed {
            Some(start) => {
                while self.pieces.front().is_some_and(|p| p.end <= start) {
                    self.pieces.pop_front();
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

    /// Octets of a mapping of the whole of `octets` from sequence number 1 and data 0 on, cut at `cuts`.
    fn promised(octets: &[u8], wrong: u16) -> Checks {
        let pseudo = dss_pseudo_header(77, 1, octets.len() as u16);
        let checksum = pseudo.plus(Sum::of(octets)).checksum();
        let mut checks = Checks::default();
        let end = Seq(1 + octets.len() as u64);
        checks.promise(Seq(1), end, 0, pseudo.plus(Sum(checksum ^ wrong)));
        checks
    }

    fn pieces(octets: &[u8], cuts: &[usize]) -> Vec<(Seq, Seq, Sum)> {
        let edges: Vec<usize> = [0].iter().chain(cuts).copied().chain([octets.len()]).collect();
        let piece = |w: &[usize]| (Seq(1 + w[0] as u64), Seq(1 + w[1] as u64), Sum::of(&octets[w[0]..w[1]]));
        edges.windows(2).map(piece).collect()
    }

    /// Any cuts, odd ones too, in any order.
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
                    assert_eq!(checks.verify(), None);
                    assert!(checks.holds(start, end));
                }
                checks.arrive(last.0, last.1, last.2);
                let broken = Broken { seq: Seq(1), data: 0 };
                assert_eq!(checks.verify(), (wrong != 0).then_some(broken), "{cuts:?}");
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
                checks.promise(Seq(1 + from as u64), Seq(1 + to as u64), from as u64, sum);
            }
            let mut come = octets.clone();
            come[9] ^= damage;
            for (start, end, sum) in pieces(&come, &[3, 13]) {
                assert_eq!(checks.verify(), None);
                checks.arrive(start, end, sum);
            }
            // The sums cannot tell which of the two it was: the first counts.
            assert_eq!(checks.verify().map(|b| b.data), (damage != 0).then_some(0));
        }
    }

    /// 4 octets are missing from the first segment of each mapping: what comes is as long, but never ends where a mapping does.
    #[test]
    fn mappings_that_never_end_with_a_segment_are_broken_after_the_longest_one() {
        let pseudo = dss_pseudo_header(0, 1, 1000);
        let mut checks = Checks::default();
        let mut broken = None;
        for i in 0..80u64 {
            let (from, to) = (1 + 1000 * i, 1001 + 1000 * i);
            checks.promise(Seq(from), Seq(to), from - 1, pseudo.plus(Sum(pseudo.checksum())));
            checks.arrive(Seq(if i == 0 { 1 } else { from - 4 }), Seq(to - 4), Sum(1));
            broken = checks.verify();
            if broken.is_some() {
                assert_eq!(i, 66, "its 66,997 is the first end more than 65,535 behind 1001");
                break;
            }
        }
        assert_eq!(broken, Some(Broken { seq: Seq(1), data: 0 }));
    }

    /// A retransmission with other edges: what is left of it cannot be verified, except that zeros have zero sums.
    #[test]
    fn an_overlap_has_an_unknown_sum() {
        let octets = [9u8; 30];
        let mut checks = promised(&octets, 0);
        checks.arrive(Seq(1), Seq(11), Sum::of(&octets[..10]));
        checks.arrive(Seq(5), Seq(31), Sum::of(&octets[4..]));
        assert_eq!(checks.verify(), Some(Broken { seq: Seq(1), data: 0 }));
        let mut checks = promised(&[0; 30], 0);
        checks.arrive(Seq(1), Seq(11), Sum(0));
        checks.arrive(Seq(5), Seq(31), Sum(0));
        assert_eq!(checks.verify(), None);
        assert!(!checks.holds(Seq(1), Seq(31)));
        let mut checks = promised(&[0; 30], 1);
        checks.arrive(Seq(1), Seq(11), Sum(0));
        checks.arrive(Seq(5), Seq(31), Sum(0));
        assert!(checks.verify().is_some());
    }

    #[test]
    fn what_is_verified_and_below_is_forgotten() {
        let octets = [7u8; 10];
        let mut checks = promised(&octets, 0);
        checks.arrive(Seq(1), Seq(11), Sum::of(&octets));
        assert_eq!(checks.verify(), None);
        checks.forget_below(Seq(5));
        assert!(!checks.is_empty(), "a copy that comes now must not be waited for again");
        checks.forget_below(Seq(11));
        assert!(checks.is_empty() && checks.pieces.is_empty());
    }
}
