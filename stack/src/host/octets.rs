//! The octets that segments refer to.
//!
//! **What we send** ([`Outgoing`]) is kept until it is acknowledged, at both levels: data that the peer has at data level may be
//! on a subflow that has not delivered them, and go out there once more with the mapping they had (RFC 8684 3.3.6). Since such
//! a subflow may be dead while gigabytes pass by another one, what is acknowledged at data level leaves the buffer, and only
//! the pieces that some subflow still has in flight are kept apart.
//!
//! **What we receive** ([`Incoming`]) goes to its place in the stream when it arrives, be there holes before it or not. The
//! connection's window bounds how far ahead that is.
//!
//! What is left out: with DSS checksums, octets of a mapping that spans segments stand in the buffer before the checksum is
//! verified. If it fails, they come again, on another subflow, and are written over; but a damaged copy that comes *after* a good
//! one, both while the stream has a hole before them, is written over the good one.

use std::collections::{BTreeMap, VecDeque};

use crate::Connection;
use crate::ranges::RangeSet;
use crate::segment::Payload;
use crate::tcp::State;

/// Acknowledged octets are let go when there are so many of them, or half as many as are kept.
const BATCH: u64 = 64 * 1024;

/// Octets of ours.
#[derive(Clone, Debug, Default)]
pub struct Outgoing {
    /// From `start` on, without a gap.
    octets: VecDeque<u8>,
    start: u64,
    /// Before `start`: what is in flight on some subflow, by its place in the stream.
    pieces: BTreeMap<u64, Vec<u8>>,
}

impl Outgoing {
    /// They follow what is there.
    pub fn append(&mut self, octets: &[u8]) {
        self.octets.extend(octets);
    }

    /// What `payload` refers to.
    ///
    /// # Panics
    /// If it was never written, or acknowledged at both levels and let go: the engine does not refer to such octets.
    pub fn get(&self, payload: Payload) -> Vec<u8> {
        let (from, to) = (payload.offset, payload.offset + u64::from(payload.len));
        let mut out = Vec::with_capacity(payload.len as usize);
        if from < self.start {
            self.copy_pieces(from, to.min(self.start), &mut out);
        }
        if to > self.start {
            let from = from.max(self.start) - self.start;
            extend(&mut out, &self.octets, from as usize, (to - self.start) as usize);
        }
        out
    }

    fn copy_pieces(&self, mut from: u64, to: u64, out: &mut Vec<u8>) {
        while from < to {
            let (&start, piece) = self.pieces.range(..=from).next_back().expect("octets in flight are kept");
            let into = (from - start) as usize;
            let end = piece.len().min((to - start) as usize);
            out.extend_from_slice(&piece[into..end]);
            from = start + end as u64;
        }
    }

    /// Lets go of what `connection` does not need any more.
    pub fn trim(&mut self, connection: &Connection) {
        let acknowledged = self.start + self.octets.len() as u64 - connection.unacknowledged();
        let gone = acknowledged - self.start;
        if gone < BATCH.max(self.octets.len() as u64 / 2) {
            return;
        }
        let mut needed = RangeSet::default();
        for subflow in connection.subflows().iter().filter(|s| s.state() != State::Closed) {
            for (start, end) in
                subflow.sender.board.iter().filter(|s| !s.is_fin()).map(|s| (s.data, s.data + u64::from(s.len)))
            {
                needed.insert(start, end.min(acknowledged));
            }
        }
        let piece = |(start, end): (u64, u64)| (start, self.get(Payload::new(start, (end - start) as u32)));
        self.pieces = needed.iter().map(piece).collect();
        self.octets.drain(..gone as usize);
        self.start = acknowledged;
    }

    /// Octets kept.
    pub fn len(&self) -> usize {
        self.octets.len() + self.pieces.values().map(Vec::len).sum::<usize>()
    }

    /// None is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Octets of the peer's.
#[derive(Clone, Debug, Default)]
pub struct Incoming {
    /// From `start` on; zero where none has arrived.
    octets: VecDeque<u8>,
    /// What was read.
    start: u64,
}

impl Incoming {
    /// They have arrived for the place `data` in the stream. What is before `in_order` is there already and stays.
    pub fn place(&mut self, data: u64, octets: &[u8], in_order: u64) {
        let skip = in_order.max(self.start).saturating_sub(data);
        let Some(new) = usize::try_from(skip).ok().and_then(|skip| octets.get(skip..)).filter(|o| !o.is_empty()) else {
            return;
        };
        let at = (data + skip - self.start) as usize;
        if at == self.octets.len() {
            self.octets.extend(new);
            return;
        }
        if self.octets.len() < at + new.len() {
            self.octets.resize(at + new.len(), 0);
        }
        self.octets.range_mut(at..at + new.len()).zip(new).for_each(|(to, from)| *to = *from);
    }

    /// The first ones, as many as `out` has room for. They have to be in order.
    pub fn take(&mut self, out: &mut [u8]) {
        let n = out.len();
        let (first, second) = self.octets.as_slices();
        let from_first = first.len().min(n);
        out[..from_first].copy_from_slice(&first[..from_first]);
        out[from_first..].copy_from_slice(&second[..n - from_first]);
        self.octets.drain(..n);
        self.start += n as u64;
    }

    /// Octets kept, holes included.
    pub fn len(&self) -> usize {
        self.octets.len()
    }

    /// None is kept.
    pub fn is_empty(&self) -> bool {
        self.octets.is_empty()
    }
}

/// Appends `ring[from..to]` to `out`.
fn extend(out: &mut Vec<u8>, ring: &VecDeque<u8>, from: usize, to: usize) {
    let (first, second) = ring.as_slices();
    let split = first.len();
    out.extend_from_slice(&first[from.min(split)..to.min(split)]);
    out.extend_from_slice(&second[from.saturating_sub(split)..to.saturating_sub(split)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octets_come_in_any_order_and_what_is_in_order_stays() {
        let mut incoming = Incoming::default();
        incoming.place(4, b"efgh", 0);
        incoming.place(0, b"abcd", 0);
        // In order up to 8: a late copy with other octets changes nothing there, and brings what is new.
        incoming.place(6, b"XXij", 8);
        let mut out = [0; 6];
        incoming.take(&mut out);
        assert_eq!(&out, b"abcdef");
        incoming.place(0, b"XXXXXXXXXXk", 10);
        let mut out = [0; 5];
        incoming.take(&mut out);
        assert_eq!(&out, b"ghijk");
        assert!(incoming.is_empty());
    }

    #[test]
    fn what_is_sent_is_found_again_across_pieces_and_buffer() {
        let mut outgoing = Outgoing::default();
        outgoing.append(b"mnopqrst");
        outgoing.start = 12;
        outgoing.pieces = BTreeMap::from([(2, b"cde".to_vec()), (9, b"jkl".to_vec())]);
        assert_eq!(outgoing.get(Payload::new(3, 2)), b"de");
        assert_eq!(outgoing.get(Payload::new(10, 4)), b"klmn");
        assert_eq!(outgoing.get(Payload::new(12, 8)), b"mnopqrst");
        assert_eq!(outgoing.len(), 14);
    }
}
