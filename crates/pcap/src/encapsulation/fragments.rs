//! IP fragments, reassembled (RFC 791 3.2, RFC 8200 4.5), with bounds on memory and age.
//!
//! A snap length may have cut the fragments themselves. Their lengths are known all the same, so the packet is complete once
//! every octet was sent; it then counts as cut at the first octet that is missing.
//!
//! Fragments that overlap make the packet unusable (RFC 8200 4.5, RFC 5722), unless they are the same one again.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;

use anabranch_stack::segment::Ecn;
use anabranch_stack::wire::ip::{self, Fragment};

use super::super::packet::{MixBuilder, Tap};

/// How long fragments wait for the others, nanoseconds of the capture's time: 60 seconds (RFC 8200 4.5). The identification of
/// IPv4 has 16 bits and is used again soon, so there it is 15 seconds (RFC 791 3.2).
const AGE: [u64; 2] = [15_000_000_000, 60_000_000_000];
/// Octets that wait at most, those of the tables included.
const OCTETS: usize = 4 << 20;
/// What a packet or a fragment takes besides its octets.
const RECORD: usize = 128;
/// Complete packets whose fragments are recognized if they come again, and for how long, in nanoseconds.
const DONE: usize = 64;
const DONE_FOR: u64 = 1_000_000_000;
/// The queue may have so many entries of packets that are complete, and as many again as packets wait.
const STALE: usize = 1024;
/// RFC 791 3.1: the longest packet.
const LONGEST: usize = 65_535;

/// Which packet a fragment belongs to, and at which place of capture and in which tunnel it was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    ends: (IpAddr, IpAddr),
    id: u32,
    /// Zero for IPv6, where the identification alone tells packets apart.
    protocol: u8,
    place: (u32, u32, u32),
    route: u32,
}

/// Some fragments of a packet.
#[derive(Clone, Debug, Default)]
struct Partial {
    /// Running number, by which its entry in the queue is recognized.
    number: u64,
    /// First offset, offset after the last, octets captured; in order of offsets, without overlaps.
    pieces: Vec<(usize, usize, Vec<u8>)>,
    /// Octets of the fragmentable part that the pieces cover, and how many of these were captured.
    covered: usize,
    captured: usize,
    /// Protocol of the first fragment.
    protocol: Option<u8>,
    /// Length of the fragmentable part.
    len: Option<usize>,
    /// Fragments seen.
    seen: u64,
    /// Fragments overlap or contradict each other: the packet cannot be reassembled.
    bad: bool,
}

/// A packet that was reassembled.
#[derive(Debug)]
pub struct Whole {
    /// The octets from a new IP header on, as far as they were captured.
    pub octets: Vec<u8>,
    /// How many the packet has.
    pub sent: usize,
}

/// Fragments that wait for the rest of their packets.
#[derive(Clone, Debug, Default)]
pub struct Fragments {
    partial: HashMap<Key, Partial, MixBuilder>,
    /// In order of first fragments: when its time is over, which packet, and its running number.
    queue: VecDeque<(u64, Key, u64)>,
    number: u64,
    octets: usize,
    /// The latest packets that became complete, and when.
    done: VecDeque<(Key, u64)>,
    /// Fragments seen.
    pub seen: u64,
    /// Packets that were reassembled.
    pub reassembled: u64,
    /// Fragments that were given up.
    given_up: u64,
}

impl Fragments {
    /// Fragments of packets that were not reassembled, or not yet.
    pub fn incomplete(&self) -> u64 {
        self.given_up + self.partial.values().map(|p| p.seen).sum::<u64>()
    }

    /// Adds the fragment `f` of the packet `view`, seen at `now` at the place `tap` behind `route`. Returns the packet if it is now
    /// complete.
    pub fn add(&mut self, now: u64, view: &ip::View<'_>, f: &Fragment<'_>, tap: Tap, route: u32) -> Option<Whole> {
        let ends = (view.src(), view.dst());
        let v6 = ends.0.is_ipv6();
        let protocol = if v6 { 0 } else { f.protocol };
        let key = Key { ends, id: f.id, protocol, place: (tap.file, tap.interface, tap.index), route };
        self.expire(now);
        self.seen += 1;
        if !self.partial.contains_key(&key) && self.done.iter().any(|(k, at)| *k == key && now < at + DONE_FOR) {
            return None;
        }
        let partial = self.partial.entry(key).or_insert_with(|| {
            self.number += 1;
            self.queue.push_back((now.saturating_add(AGE[usize::from(v6)]), key, self.number));
            self.octets += RECORD;
            Partial { number: self.number, ..Partial::default() }
        });
        let before = partial.size();
        partial.add(f);
        self.octets = self.octets + partial.size() - before;
        if !partial.is_complete() {
            while self.octets > OCTETS && !self.queue.is_empty() {
                self.give_up_oldest();
            }
            return None;
        }
        let partial = self.remove(&key)?;
        if self.done.len() == DONE {
            self.done.pop_front();
        }
        self.done.push_back((key, now));
        let seen = partial.seen;
        let whole = partial.assemble(view);
        match whole {
            Some(_) => self.reassembled += 1,
            None => self.given_up += seen,
        }
        whole
    }

    fn remove(&mut self, key: &Key) -> Option<Partial> {
        let partial = self.partial.remove(key)?;
        self.octets -= partial.size();
        Some(partial)
    }

    /// Gives up fragments whose time is over. (Those of IPv4 may wait behind one of IPv6, whose time is longer.)
    fn expire(&mut self, now: u64) {
        let live = |(_, key, number): &(u64, Key, u64)| self.partial.get(key).is_some_and(|p| p.number == *number);
        if self.queue.len() > 2 * self.partial.len() + STALE {
            self.queue.retain(live);
        }
        while self.queue.front().is_some_and(|(until, ..)| *until <= now) {
            self.give_up_oldest();
        }
    }

    fn give_up_oldest(&mut self) {
        let Some((_, key, number)) = self.queue.pop_front() else { return };
        if self.partial.get(&key).is_some_and(|p| p.number == number) {
            self.given_up += self.remove(&key).map_or(0, |partial| partial.seen);
        }
    }
}

impl Partial {
    /// Octets that it takes in memory.
    fn size(&self) -> usize {
        RECORD + self.pieces.len() * RECORD + self.captured
    }

    fn add(&mut self, f: &Fragment<'_>) {
        self.seen += 1;
        let (start, end) = (f.offset, f.offset + f.len);
        let last = self.pieces.last().map_or(0, |piece| piece.1);
        // All but the last have a multiple of eight octets.
        self.bad |= f.len == 0 || end > LONGEST || (f.more && f.len % 8 != 0);
        self.bad |= match (self.len, f.more) {
            (Some(len), true) => end > len,
            (Some(len), false) => end != len,
            (None, true) => false,
            (None, false) => last > end,
        };
        if !f.more {
            self.len = Some(end);
        }
        if self.bad {
            return self.drop_pieces();
        }
        if start == 0 {
            self.protocol = Some(f.protocol);
        }
        let i = self.pieces.partition_point(|piece| piece.0 < start);
        if let Some(same) = self.pieces.get_mut(i).filter(|piece| (piece.0, piece.1) == (start, end)) {
            if same.2.len() < f.bytes.len() {
                self.captured += f.bytes.len() - same.2.len();
                same.2 = f.bytes.to_vec();
            }
            return;
        }
        if (i > 0 && self.pieces[i - 1].1 > start) || self.pieces.get(i).is_some_and(|next| next.0 < end) {
            self.bad = true;
            return self.drop_pieces();
        }
        self.covered += f.len;
        self.captured += f.bytes.len();
        self.pieces.insert(i, (start, end, f.bytes.to_vec()));
    }

    fn drop_pieces(&mut self) {
        (self.pieces, self.covered, self.captured) = (Vec::new(), 0, 0);
    }

    fn is_complete(&self) -> bool {
        !self.bad && self.len == Some(self.covered)
    }

    /// The packet between the ends of `view`, with a header that has neither options nor extensions.
    fn assemble(self, view: &ip::View<'_>) -> Option<Whole> {
        let len = self.len?;
        let header = ip::Header {
            src: view.src(),
            dst: view.dst(),
            protocol: self.protocol?,
            ecn: Ecn::NotEct,
            hop_limit: view.hop_limit(),
            id: view.id(),
            payload_len: u16::try_from(len).ok()?,
        };
        let mut octets = Vec::with_capacity(header.wire_len() + len);
        header.emit(&mut octets).ok()?;
        let sent = octets.len() + len;
        for (start, end, piece) in self.pieces {
            octets.extend(&piece);
            if piece.len() < end - start {
                break;
            }
        }
        Some(Whole { octets, sent })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fragment of 16 octets at `offset`, of which `captured` are there.
    fn fragment(offset: usize, captured: &[u8]) -> Fragment<'_> {
        Fragment { id: 1, offset, more: true, protocol: 6, bytes: captured, len: 16 }
    }

    /// Of a fragment that comes twice, the longer one is kept. It takes its octets and a record
    /// beside that of the packet.
    #[test]
    fn the_longer_of_two_equal_fragments_is_kept() {
        let mut partial = Partial::default();
        for (captured, kept) in [(4, 4), (10, 10), (8, 10), (16, 16)] {
            partial.add(&fragment(0, &[7; 16][..captured]));
            assert_eq!((partial.captured, partial.pieces[0].2.len()), (kept, kept));
            assert_eq!((partial.covered, partial.size()), (16, 2 * RECORD + kept));
        }
        partial.add(&fragment(16, &[7; 16]));
        assert_eq!((partial.covered, partial.size(), partial.seen), (32, 3 * RECORD + 32, 5));
        // One that overlaps makes the packet unusable, and nothing of it is kept.
        partial.add(&fragment(8, &[7; 16]));
        assert_eq!((partial.bad, partial.covered, partial.size()), (true, 0, RECORD));
    }
    /// A fragment of IPv4 with 16 octets at `offset` of packet `id`.
    fn octets(id: u8, offset: u8, more: bool) -> [u8; 36] {
        let mut octets = [0x45, 0, 0, 36, 0, id, u8::from(more) << 5, offset / 8, 64, 6].to_vec();
        octets.extend([0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        octets.extend([7; 16]);
        octets.try_into().expect("36 octets")
    }

    /// A packet and a fragment take a record each beside their octets, until the packet is complete
    /// or given up after 15 s.
    #[test]
    fn what_fragments_take_is_given_back() {
        const SECOND: u64 = 1_000_000_000;
        let mut fragments = Fragments::default();
        let mut add = |at: u64, octets: [u8; 36]| {
            let view = ip::View::new(&octets).expect("a packet");
            let whole = fragments.add(at, &view, &view.fragment().expect("a fragment"), Tap::default(), 0);
            (whole.map(|whole| whole.sent), fragments.octets, fragments.incomplete())
        };
        assert_eq!(add(0, octets(1, 0, true)), (None, 2 * RECORD + 16, 1));
        assert_eq!(add(0, octets(2, 0, true)), (None, 4 * RECORD + 32, 2));
        assert_eq!(add(SECOND, octets(1, 16, false)), (Some(20 + 32), 2 * RECORD + 16, 1));
        assert_eq!(add(14 * SECOND, octets(3, 0, true)), (None, 4 * RECORD + 32, 2));
        // The second packet is given up, and counts as incomplete from then on.
        assert_eq!(add(15 * SECOND, octets(4, 0, true)), (None, 4 * RECORD + 32, 3));
    }
}
