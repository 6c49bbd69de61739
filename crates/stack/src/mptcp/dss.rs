//! The data sequence level of the receiver: mappings (RFC 8684 3.3.1) and reassembly (3.3.2, 3.3.4).

use std::collections::BTreeMap;

use crate::hold::HoldQueue;
use crate::ranges::RangeSet;
use crate::seq::Seq;

/// Longest possible segment, whether or not a middlebox has coalesced it (RFC 791 3.1).
pub(super) const LONGEST: u64 = 65_535;

/// Maximum number of mappings kept for a subflow: a peer can map its numbers octet by octet, far ahead of what it sends. Data of mappings
/// beyond that are not taken until they are sent again.
const MOST: usize = 16_384;

/// Mappings of one subflow that cover more than the segment that carried them.
#[derive(Clone, Debug, Default)]
pub struct Mappings {
    /// Data offset and length, by first sequence number.
    mappings: BTreeMap<Seq, (u64, u64)>,
}

impl Mappings {
    /// Keeps a mapping of `len` octets from `start` to data offset `data`, as far as these octets are not mapped yet. The first
    /// mapping of an octet stands (RFC 8684 3.3.1: it must not be changed).
    pub fn add(&mut self, start: Seq, data: u64, len: u64) {
        let end = start + len;
        let before = self.mappings.range(..=start).next_back();
        let mut at = before.map_or(start, |(&from, &(_, len))| start.max(from + len));
        while at < end {
            let next = self.mappings.range(at..).next().map(|(&from, &(_, len))| (from, len));
            let stop = next.map_or(end, |(from, _)| from.min(end));
            if at < stop && self.mappings.len() < MOST {
                self.mappings.insert(at, (data.wrapping_add(at - start), stop - at));
            }
            let Some((from, len)) = next else { break };
            at = from + len;
        }
    }

    /// Data offset of `seq`, and how many octets from there on are mapped contiguously.
    pub fn find(&self, seq: Seq) -> Option<(u64, u64)> {
        let (&start, &(data, len)) = self.mappings.range(..=seq).next_back()?;
        let into = seq - start;
        let (data, mut covered) = (data.wrapping_add(into), len.checked_sub(into).filter(|&rest| rest > 0)?);
        for (&next, &(next_data, len)) in self.mappings.range(seq + 1..) {
            // No segment is longer than that.
            if next != seq + covered || next_data != data.wrapping_add(covered) || covered > LONGEST {
                break;
            }
            covered += len;
        }
        Some((data, covered))
    }

    /// Drops mappings of octets that have been delivered.
    #[inline]
    pub fn forget_below(&mut self, rcv_nxt: Seq) {
        if !self.mappings.is_empty() {
            self.forget_some_below(rcv_nxt);
        }
    }

    fn forget_some_below(&mut self, rcv_nxt: Seq) {
        while let Some(first) = self.mappings.first_entry() {
            if *first.key() + first.get().1 > rcv_nxt {
                break;
            }
            first.remove();
        }
    }
}

/// What happened to octets that are in order on their subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    /// They are next in the data stream: readable.
    InOrder,
    /// They are held because of a hole in the data stream.
    Ahead,
    /// All of them had arrived before.
    Duplicate,
}

/// Data-level reassembly, and the record of what has arrived.
#[derive(Clone, Debug, Default)]
pub struct Reassembly {
    nxt: u64,
    /// Held segments. The tag is the subflow they arrived on.
    held: HoldQueue,
    /// Held segments and octets, by subflow.
    by_subflow: Vec<(u64, u64)>,
    /// Octets beyond `nxt` that have arrived on any subflow, whether in order there or not. Not kept, with `seen_apart` false, as long as
    /// they are those that are held.
    seen: RangeSet,
    seen_apart: bool,
}

impl Reassembly {
    /// The next expected data offset: everything before it has arrived.
    #[inline]
    pub fn nxt(&self) -> u64 {
        self.nxt
    }

    /// Data offset after the highest octet that has arrived on any subflow; [`Reassembly::nxt`] if
    /// nothing is held.
    pub fn end(&self) -> u64 {
        let last = if self.seen_apart { self.seen.end() } else { self.held.end() };
        last.map_or(self.nxt, |end| end.max(self.nxt))
    }

    /// Segments and octets held because of a hole in the data stream.
    #[inline]
    pub fn held(&self) -> (u64, u64) {
        (self.held.packets(), self.held.octets())
    }

    /// The part of [`Reassembly::held`] that arrived on `subflow`.
    pub fn held_by(&self, subflow: usize) -> (u64, u64) {
        self.by_subflow.get(subflow).copied().unwrap_or_default()
    }

    /// `[data, end)` has arrived at this host. Returns how many of these octets had not arrived before.
    pub fn arrive(&mut self, data: u64, end: u64) -> u64 {
        let from = data.max(self.nxt);
        if from >= end {
            return 0;
        }
        if !self.seen_apart {
            self.seen_apart = true;
            self.held.iter().for_each(|h| {
                self.seen.insert(h.at, h.at + u64::from(h.len));
            });
        }
        // RFC 8684 3.3.1: these octets are about to be placed, or held by their subflow. Either way they count as seen.
        self.seen.insert(from, end)
    }

    /// [`Reassembly::arrive`] and [`Reassembly::place`] in one, for octets that are in order on `subflow` when they arrive.
    #[inline]
    pub fn take(&mut self, data: u64, len: u32, subflow: usize) -> (u64, Placed) {
        if self.seen_apart {
            return (self.arrive(data, data + u64::from(len)), self.place(data, len, subflow));
        }
        self.put(data, len, subflow)
    }

    /// `[data, data + len)` is in order on `subflow`: places it in the data stream.
    pub fn place(&mut self, data: u64, len: u32, subflow: usize) -> Placed {
        let (_, placed) = self.put(data, len, subflow);
        if placed == Placed::InOrder && self.seen_apart {
            self.seen.remove_below(self.nxt);
            self.seen_apart = !(self.seen.is_empty() && self.held.is_empty());
        }
        placed
    }

    /// Places octets, and returns how many of them were not there.
    #[inline(always)]
    fn put(&mut self, data: u64, len: u32, subflow: usize) -> (u64, Placed) {
        let end = data + u64::from(len);
        if data <= self.nxt && end > self.nxt && self.held.begins_after(end) {
            let fresh = end - self.nxt;
            self.nxt = end;
            if !self.held.is_empty() {
                self.release();
            }
            return (fresh, Placed::InOrder);
        }
        self.hold(data, end, subflow)
    }

    /// The same for octets that are not next, or of which some are held.
    fn hold(&mut self, data: u64, end: u64, subflow: usize) -> (u64, Placed) {
        if end <= self.nxt {
            return (0, Placed::Duplicate);
        }
        let before = self.held.packets();
        let fresh = self.held.insert(data.max(self.nxt), end, subflow as u64);
        if fresh == 0 {
            return (0, Placed::Duplicate);
        }
        if self.by_subflow.len() <= subflow {
            self.by_subflow.resize(subflow + 1, (0, 0));
        }
        self.by_subflow[subflow].0 += self.held.packets() - before;
        self.by_subflow[subflow].1 += fresh;
        if data > self.nxt {
            return (fresh, Placed::Ahead);
        }
        self.release();
        (fresh, Placed::InOrder)
    }

    /// What is next now is no longer held.
    #[inline]
    fn release(&mut self) {
        while let Some(h) = self.held.pop_at(self.nxt) {
            self.nxt += u64::from(h.len);
            let by = &mut self.by_subflow[h.tag as usize];
            by.0 -= 1;
            by.1 -= u64::from(h.len);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_holds_what_follows_and_its_filling_frees_it() {
        let mut r = Reassembly::default();
        assert_eq!(r.place(0, 10, 0), Placed::InOrder);
        assert_eq!(r.place(20, 10, 1), Placed::Ahead);
        assert_eq!(r.place(30, 10, 1), Placed::Ahead);
        assert_eq!((r.held(), r.held_by(1), r.held_by(0)), ((2, 20), (2, 20), (0, 0)));
        assert_eq!(r.place(20, 10, 0), Placed::Duplicate);
        assert_eq!(r.place(10, 10, 0), Placed::InOrder);
        assert_eq!((r.nxt(), r.held(), r.held_by(1)), (40, (0, 0), (0, 0)));
    }

    /// A peer that maps every second octet, a million of them; what is below the next one is forgotten, and there is room again.
    #[test]
    fn mappings_are_kept_up_to_a_limit() {
        let mut m = Mappings::default();
        (0..1_000_000).for_each(|n| m.add(Seq(100 + 2 * n), n, 1));
        assert_eq!((m.mappings.len(), m.find(Seq(100 + 2 * 16_383)).is_some()), (16_384, true));
        assert_eq!(m.find(Seq(100 + 2 * 16_384)), None);
        m.forget_below(Seq(200));
        m.add(Seq(5_000_000), 7, 10);
        assert_eq!(m.find(Seq(5_000_000)), Some((7, 10)));
    }

    #[test]
    fn arrivals_are_counted_once_over_all_subflows() {
        let mut r = Reassembly::default();
        assert_eq!(r.arrive(10, 20), 10);
        assert_eq!(r.arrive(10, 20), 0);
        assert_eq!(r.arrive(0, 15), 10);
        r.place(0, 20, 0);
        assert_eq!(r.arrive(5, 25), 5);
    }

    #[test]
    fn a_mapping_serves_segments_that_carry_none() {
        let mut m = Mappings::default();
        m.add(Seq(100), 1_000, 50);
        m.add(Seq(150), 9_000, 10);
        assert_eq!(m.find(Seq(120)), Some((1_020, 30)));
        assert_eq!(m.find(Seq(155)), Some((9_005, 5)));
        assert_eq!(m.find(Seq(160)), None);
        m.forget_below(Seq(150));
        assert_eq!(m.find(Seq(120)), None);
    }
}
