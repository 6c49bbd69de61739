//! Which closed connections are listed one by one: those with the most data. The others are only counted, with their octets, so
//! that the report on a port scan with a million connections is no larger than any other.

use std::cmp::Reverse;

use anabranch_measures::series::Sample;
use serde_json::{Map, Value};

use super::sequence::Sequence;

/// How many connections of MPTCP are listed one by one.
pub const LISTED: usize = 1000;
/// How many connections of TCP are listed one by one.
pub const TCP_LISTED: usize = 20;
/// How many of the connections listed may be without data.
const EMPTY_LISTED: usize = 20;
/// How many of the connections listed have series over time.
pub const DETAILED: usize = 64;

/// The place of a connection in the list.
type Rank = (Reverse<u64>, bool, u64);

/// A closed connection.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Running number, in order of first packets.
    pub number: u64,
    /// Octets of payload in the direction that carried more.
    pub sent: u64,
    /// It began before the capture, and no data have been seen: it is listed only if there is nothing else.
    pub idle: bool,
    /// Its summary.
    pub summary: Map<String, Value>,
    /// Its series over time.
    pub samples: Vec<Sample>,
    /// Data sequence numbers over time.
    pub sequence: Option<Box<Sequence>>,
    /// By subflow: octets in flight are known.
    pub knows_flight: Vec<bool>,
}

impl Entry {
    /// The order of the list: more octets first; with equal octets the earlier connection first, idle ones last.
    fn rank(&self) -> Rank {
        (Reverse(self.sent), self.idle, self.number)
    }
}

/// The largest connections of one kind so far.
#[derive(Clone, Debug)]
pub struct Shelf {
    most: usize,
    entries: Vec<Entry>,
    /// The lowest rank that is listed, once there are enough entries; then the same among connections without data.
    last: Option<Rank>,
    last_empty: Option<Rank>,
    /// How many entries were kept when the list was thinned last.
    kept: usize,
    unlisted: u64,
    unlisted_sent: u64,
}

impl Shelf {
    /// A shelf for the `most` largest connections.
    pub fn new(most: usize) -> Self {
        Self { most, entries: Vec::new(), last: None, last_empty: None, kept: 0, unlisted: 0, unlisted_sent: 0 }
    }

    /// A connection of `sent` octets; its entry is made only if it may be listed.
    pub fn add(&mut self, sent: u64, idle: bool, number: u64, entry: impl FnOnce() -> Entry) {
        let rank = (Reverse(sent), idle, number);
        let small = self.last.is_some_and(|last| rank > last);
        let empty = sent == 0 && self.last_empty.is_some_and(|last| rank > last);
        if small || empty {
            self.unlisted += 1;
            self.unlisted_sent += sent;
            return;
        }
        self.entries.push(entry());
        if self.entries.len() >= self.kept + DETAILED {
            self.thin();
        }
    }

    /// There is an entry of a connection that is not idle.
    pub fn has_any(&self) -> bool {
        self.entries.iter().any(|e| !e.idle)
    }

    /// Drops the entries of idle connections.
    pub fn drop_idle(&mut self) {
        let before = self.entries.len();
        self.entries.retain(|e| !e.idle);
        self.unlisted += (before - self.entries.len()) as u64;
    }

    /// Drops all entries but the largest; returns how many were dropped so far, and their octets.
    pub fn thin(&mut self) -> (u64, u64) {
        self.entries.sort_by_key(Entry::rank);
        let empty = self.entries.partition_point(|e| e.sent > 0);
        let listed = self.most.min(empty + EMPTY_LISTED);
        for e in self.entries.drain(listed.min(self.entries.len())..) {
            self.unlisted += 1;
            self.unlisted_sent += e.sent;
        }
        for e in self.entries.iter_mut().skip(DETAILED) {
            (e.samples, e.sequence) = (Vec::new(), None);
        }
        self.kept = self.entries.len();
        self.last = self.entries.get(self.most - 1).map(Entry::rank);
        self.last_empty = self.entries.get(empty + EMPTY_LISTED - 1).map(Entry::rank);
        (self.unlisted, self.unlisted_sent)
    }

    /// The entries that are listed, in order of first packets.
    pub fn finish(mut self) -> Vec<Entry> {
        self.thin();
        self.entries.sort_by_key(|e| e.number);
        self.entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(number: u64, sent: u64, idle: bool) -> Entry {
        let (summary, samples, sequence, knows_flight) = (Map::new(), Vec::new(), None, Vec::new());
        Entry { number, sent, idle, summary, samples, sequence, knows_flight }
    }

    fn shelf(most: usize, sizes: impl Iterator<Item = u64>) -> (Vec<(u64, u64)>, (u64, u64), usize) {
        let (mut shelf, mut made) = (Shelf::new(most), 0);
        for (number, sent) in sizes.enumerate() {
            let number = number as u64;
            shelf.add(sent, false, number, || {
                made += 1;
                entry(number, sent, false)
            });
        }
        let unlisted = shelf.thin();
        (shelf.finish().iter().map(|e| (e.number, e.sent)).collect(), unlisted, made)
    }

    #[test]
    fn the_largest_are_listed_in_order_of_first_packets_and_the_others_counted() {
        let (listed, unlisted, _) = shelf(3, [5, 9, 1, 7, 9, 2].into_iter());
        assert_eq!((listed, unlisted), (vec![(1, 9), (3, 7), (4, 9)], (3, 8)));
    }

    #[test]
    fn of_a_million_connections_without_data_twenty_are_listed_and_few_entries_made() {
        let (listed, unlisted, made) = shelf(LISTED, (0..1_000_000).map(|i| u64::from(i == 500_000)));
        assert_eq!((listed.len(), unlisted), (21, (1_000_000 - 21, 0)));
        assert!(listed.contains(&(500_000, 1)) && made < 1000, "{made} made");
    }

    #[test]
    fn idle_connections_make_way_for_others() {
        let mut shelf = Shelf::new(LISTED);
        (0..100).for_each(|n| shelf.add(0, true, n, || entry(n, 0, true)));
        assert!(!shelf.has_any());
        shelf.add(0, false, 100, || entry(100, 0, false));
        assert!(shelf.has_any());
        let mut without = shelf.clone();
        without.drop_idle();
        assert_eq!(without.thin(), (100, 0));
        assert_eq!(without.finish().iter().map(|e| e.number).collect::<Vec<_>>(), [100]);
        assert_eq!(shelf.finish().len(), EMPTY_LISTED);
    }

    #[test]
    fn what_is_too_small_is_not_even_made() {
        let (listed, _, made) = shelf(20, (0..100_000).map(|i| 1_000_000 - i));
        assert_eq!(listed.len(), 20);
        assert!(made < 200, "{made} made");
    }
}
