//! What is in flight in the order of departure, as far as detection needs it (Linux: `tsorted_sent_queue`).
//!
//! Segments that are sent for the first time depart in the order of their sequence numbers, so the scoreboard has their order. Only
//! retransmissions are kept in an order of their own. A segment is *overtaken* if a segment that departed after it has arrived. Each
//! transmission becomes overtaken once, and is then moved to the end of [`Departures::overtaken`], which is sorted by departure: the first
//! ones become late first. So an acknowledgement costs time in proportion to what it changes, not to what is in flight.
//!
//! A transmission that was SACKed, acknowledged or marked lost, or followed by another one, leaves its entry behind, which is dropped when
//! it comes to either end.

use std::collections::VecDeque;

use super::{Scoreboard, Sent};
use crate::seq::Seq;
use crate::time::{Duration, Instant};

/// A transmission: when it departed, and the sequence number after its last octet. Of two that departed together, the one with the higher
/// sequence number counts as the later one (RFC 8985 6.2).
pub(super) type Departure = (Instant, Seq);

/// Transmissions in the order of departure.
#[derive(Debug, Default)]
pub(super) struct Departures {
    /// Segments below it that were sent once are overtaken, or were when they arrived.
    passed: Seq,
    /// Retransmissions that are not overtaken.
    copies: VecDeque<Departure>,
    /// Transmissions that are overtaken.
    overtaken: VecDeque<Departure>,
    /// Marks were taken back, or SACKs forgotten: entries are missing.
    incomplete: bool,
}

fn departure(s: &Sent) -> Departure {
    (s.sent_at, s.end())
}

/// A transmission of the segment is in flight, as far as is known.
fn is_under_way(s: &Sent) -> bool {
    !s.is_sacked() && !s.waits()
}

/// The segment of which `of` is the latest transmission, if that is under way.
fn find(board: &Scoreboard, of: Departure) -> Option<&Sent> {
    board.ending_at(of.1).filter(|s| s.sent_at == of.0 && is_under_way(s))
}

impl Departures {
    /// A segment is sent.
    #[inline]
    pub fn on_sent(&mut self, now: Instant, sent: &Sent) {
        if sent.transmissions > 1 {
            let copy = (now, sent.end());
            // Those that depart at one time may do so in any order of sequence numbers.
            let place = self.copies.partition_point(|&before| before < copy);
            self.copies.insert(place, copy);
        }
    }

    /// Marks were taken back, or SACKs forgotten: all that is in flight is looked at next.
    pub fn forget(&mut self) {
        self.incomplete = true;
        self.copies.clear();
        self.overtaken.clear();
    }

    /// `newest` is the last of the departures that have arrived.
    pub fn advance(&mut self, board: &Scoreboard, newest: Departure) {
        if std::mem::take(&mut self.incomplete) {
            return self.collect(board, newest);
        }
        let mut passed = self.passed;
        for s in board.from(passed) {
            // A retransmission is among the copies, or was.
            if s.transmissions == 1 {
                let this = departure(s);
                if this >= newest {
                    break;
                }
                if is_under_way(s) {
                    self.overtake_copies(this);
                    self.overtaken.push_back(this);
                }
            }
            passed = s.end();
        }
        self.passed = passed;
        self.overtake_copies(newest);
    }

    /// Retransmissions that departed before `limit` are overtaken.
    fn overtake_copies(&mut self, limit: Departure) {
        while let Some(copy) = self.copies.front().copied().filter(|&copy| copy < limit) {
            self.overtaken.push_back(copy);
            self.copies.pop_front();
        }
    }

    /// The same from all that is in flight.
    #[cold]
    fn collect(&mut self, board: &Scoreboard, newest: Departure) {
        let first = board.iter().find(|s| s.transmissions == 1 && departure(s) >= newest);
        self.passed = first.map(|s| s.seq).or(board.iter().last().map(Sent::end)).unwrap_or_default();
        let mut all: Vec<Departure> = board.iter().filter(|s| is_under_way(s)).map(departure).collect();
        all.sort_unstable();
        let later = all.split_off(all.partition_point(|&this| this < newest));
        self.overtaken = all.into();
        let is_copy = |of: &Departure| find(board, *of).is_some_and(|s| s.transmissions > 1);
        self.copies = later.into_iter().filter(is_copy).collect();
    }

    /// Takes out the next overtaken segment that departed so long ago.
    pub fn take_late(&mut self, now: Instant, board: &Scoreboard, age: Duration) -> Option<Seq> {
        while let Some(&first) = self.overtaken.front() {
            let found = find(board, first);
            if found.is_some() && first.0 + age > now {
                return None;
            }
            self.overtaken.pop_front();
            if let Some(s) = found {
                return Some(s.seq);
            }
        }
        None
    }

    /// When the last overtaken segment departed.
    pub fn last_overtaken(&mut self, board: &Scoreboard) -> Option<Instant> {
        while let Some(&last) = self.overtaken.back() {
            if find(board, last).is_some() {
                return Some(last.0);
            }
            self.overtaken.pop_back();
        }
        None
    }
}
