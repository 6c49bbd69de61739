//! The octets that segments refer to.
//!
//! **What we send** ([`Outgoing`]) is kept until it is acknowledged at both levels. Data with a DATA_ACK may still be in flight
//! on a subflow that has not delivered it, and is retransmitted there with its original mapping (RFC 8684 3.3.6). Such a subflow
//! may be dead while gigabytes pass on another one. So octets acknowledged at data level leave the buffer, and only the pieces
//! that some subflow still has in flight are kept separately.
//!
//! **What we receive** ([`Incoming`]) is stored at its place in the stream when it arrives, whether or not there are holes before
//! it. The connection's window bounds how far ahead that is.
//!
//! Left out: with DSS checksums, octets of a mapping that spans segments are in the buffer before the checksum is verified. If it
//! fails, they arrive again on another subflow and are overwritten. However, if the stream has a hole before them, a damaged copy
//! that arrives *after* a good one overwrites the good one.

use std::collections::{BTreeMap, VecDeque};

use crate::Connection;
use crate::ranges::RangeSet;
use crate::segment::Payload;
use crate::tcp::State;

/// Acknowledged octets are released when there are at least this many of them, and they make up at least half of the buffer.
const BATCH: u64 = 64 * 1024;

/// Octets of our stream.
#[derive(Clone, Debug, Default)]
pub struct Outgoing {
    /// The octets from offset `start` on, without a gap.
    octets: VecDeque<u8>,
    start: u64,
    /// Octets before `start` that are in flight on some subflow, by offset.
    pieces: BTreeMap<u64, Vec<u8>>,
}

impl Outgoing {
    /// Appends octets to the stream.
    pub fn append(&mut self, octets: &[u8]) {
        self.octets.extend(octets);
    }

    /// The octets that `payload` refers to.
    ///
    /// # Panics
    /// If they were never written, or were acknowledged at both levels and released. The engine does not refer to such octets.
    pub fn get(&self, payload: Payload) -> Vec<u8> {
        let (from, to) = (payload.offset, payload.offset + u64::from(payload.len));
        let mut out = Vec::with_capacity(payload.len as usize);
        self.copy_pieces(from, to.min(self.start), &mut out);
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

    /// Releases what `connection` no longer needs.
    pub fn trim(&mut self, connection: &Connection) {
        let acknowledged = self.start + self.octets.len() as u64 - connection.outbound().unacknowledged();
        let gone = acknowledged - self.start;
        if gone < BATCH.max(self.octets.len() as u64 / 2) {
            return;
        }
        let needed = in_flight(connection, acknowledged);
        let piece = |(start, end): (u64, u64)| (start, self.get(Payload::new(start, (end - start) as u32)));
        self.pieces = needed.iter().map(piece).collect();
        self.octets.drain(..gone as usize);
        self.start = acknowledged;
    }

    /// Number of octets kept.
    pub fn len(&self) -> usize {
        self.octets.len() + self.pieces.values().map(Vec::len).sum::<usize>()
    }

    /// No octets are kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Ranges of our stream before the offset `acknowledged` that are in flight on some subflow.
pub(super) fn in_flight(connection: &Connection, acknowledged: u64) -> RangeSet {
    let mut needed = RangeSet::default();
    for subflow in connection.subflows().iter().filter(|s| s.state() != State::Closed) {
        for (start, end) in subflow.sender.board.iter().filter(|s| s.data_len() > 0).map(|s| (s.data, s.data_end())) {
            needed.insert(start, end.min(acknowledged));
        }
    }
    needed
}

/// Octets of the peer's stream.
#[derive(Clone, Debug, Default)]
pub struct Incoming {
    /// The octets from offset `start` on; zero where none have arrived.
    octets: VecDeque<u8>,
    /// Number of octets read.
    start: u64,
}

impl Incoming {
    /// Stores octets that have arrived at offset `data` of the stream. Octets before `in_order` have arrived already and are
    /// kept.
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

    /// Removes the first octets, as many as `out` has room for. They must be in order.
    pub fn take(&mut self, out: &mut [u8]) {
        let n = out.len();
        let (first, second) = self.octets.as_slices();
        let from_first = first.len().min(n);
        out[..from_first].copy_from_slice(&first[..from_first]);
        out[from_first..].copy_from_slice(&second[..n - from_first]);
        self.octets.drain(..n);
        self.start += n as u64;
    }

    /// Number of octets kept, including holes.
    pub fn len(&self) -> usize {
        self.octets.len()
    }

    /// No octets are kept.
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
        assert!(!incoming.is_empty());
        // In order up to 8: a late copy with other octets changes nothing there; its new octets are stored.
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
