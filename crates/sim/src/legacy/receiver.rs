//! The model's receiver (rule 4): the rule on which the papers' results rest.
//!
//! s is a segment's subflow sequence number, R what is expected on its subflow; d its data sequence number, D what is
//! expected of the data. In this order:
//!
//! 0. only under D_SACK, d > D: parked whatever s is, and acknowledged with R and a report;
//! 1. s = R: (a) d = D: delivered, R and D advance, the store is drained, then one acknowledgement; (b) d > D: parked, R
//!    stays, *no* acknowledgement (Eifel: one, since a timestamp is to be echoed); (c) d < D: dropped, and acknowledged with R;
//! 2. s > R: parked, and acknowledged with R, a duplicate acknowledgement; if it is parked already, no acknowledgement (Eifel:
//!    R);
//! 3. s < R: dropped, and acknowledged with R.
//!
//! So from the first segment on that is too early in the data, everything on its subflow looks out of order, though
//! nothing is missing there. Draining delivers, in data order, parked segments that are next at both levels, each with a plain
//! acknowledgement on its own subflow. The acknowledgement of the segment that filled the hole comes last.

use std::collections::BTreeMap;

use super::{Model, Recovery};

/// Index of a subflow.
pub type Index = usize;

/// A range of data sequence numbers: first, and the one after the last.
pub type Range = (u64, u64);

/// The first data sequence number.
pub const FIRST_DATA: u64 = 1;

/// A data segment as it arrives.
#[derive(Clone, Copy, Debug)]
pub struct Data {
    /// Subflow sequence number.
    pub seq: u64,
    /// Data sequence number.
    pub dsn: u64,
    /// Octets.
    pub len: u32,
    /// Its timestamp in milliseconds, if it has one.
    pub stamp: Option<u32>,
}

/// What became of an arriving segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Delivered.
    Next,
    /// Parked, next on its subflow.
    Ahead,
    /// Parked, and beyond R: something before it on its subflow is missing or parked.
    Behind,
    /// It had arrived before.
    Duplicate,
}

/// What the receiver does, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The application reads.
    Deliver {
        /// First data sequence number.
        dsn: u64,
        /// Octets.
        len: u32,
    },
    /// An acknowledgement leaves.
    Ack {
        /// On this subflow.
        subflow: Index,
        /// Its number.
        number: u64,
        /// Timestamp echoed.
        echo: Option<u32>,
        /// The segment that arrived, and the first contiguous run of parked segments.
        report: Option<[Range; 2]>,
    },
}

#[derive(Clone, Copy, Debug)]
struct Parked {
    subflow: Index,
    seq: u64,
    len: u32,
}

/// What a subflow has in the store: segments and octets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Segments.
    pub packets: u64,
    /// Octets.
    pub octets: u64,
}

/// The receiving end of a connection.
#[derive(Debug)]
pub struct Receiver {
    eifel: bool,
    dsack: bool,
    standard: bool,
    /// R.
    expected: Vec<u64>,
    /// D.
    data: u64,
    /// Parked segments by data sequence number; unlimited.
    store: BTreeMap<u64, Parked>,
    /// The store's contiguous runs: first data sequence number to the one after the last. Only for reports.
    runs: BTreeMap<u64, u64>,
    held: Vec<Held>,
    total: Held,
    /// Only with a standard receiver: segments held for a hole in each subflow, by sequence number.
    holes: Vec<BTreeMap<u64, u32>>,
}

impl Receiver {
    /// A receiver that has received nothing.
    pub fn new(model: &Model) -> Self {
        Self {
            eifel: model.recovery == Recovery::Eifel,
            dsack: model.recovery == Recovery::Dsack,
            standard: model.standard_receiver,
            expected: Vec::new(),
            data: FIRST_DATA,
            store: BTreeMap::new(),
            runs: BTreeMap::new(),
            held: Vec::new(),
            total: Held::default(),
            holes: Vec::new(),
        }
    }

    /// A subflow begins; its first expected sequence number is `expected`. Joins may arrive in any order.
    pub fn open(&mut self, subflow: Index, expected: u64) {
        let n = self.expected.len().max(subflow + 1);
        self.expected.resize(n, 0);
        self.held.resize(n, Held::default());
        self.holes.resize_with(n, BTreeMap::new);
        self.expected[subflow] = expected;
    }

    /// A pure acknowledgement occupies one sequence number (rule 1). One that was overtaken does
    /// not move R back.
    pub fn on_control(&mut self, subflow: Index, seq: u64) {
        let expected = &mut self.expected[subflow];
        *expected = (*expected).max(seq + 1);
    }

    /// R of a subflow.
    pub fn expected(&self, subflow: Index) -> u64 {
        self.expected[subflow]
    }

    /// D.
    pub fn data(&self) -> u64 {
        self.data
    }

    /// What the store holds.
    pub fn total(&self) -> Held {
        self.total
    }

    /// What the store holds of a subflow.
    pub fn held(&self, subflow: Index) -> Held {
        self.held.get(subflow).copied().unwrap_or_default()
    }

    /// A data segment arrives; what follows is appended to `answers`.
    pub fn on_data(&mut self, subflow: Index, data: &Data, answers: &mut Vec<Answer>) -> Place {
        if self.standard {
            return self.on_data_standard(subflow, data, answers);
        }
        let plain = |this: &Self, echo| Answer::Ack { subflow, number: this.expected[subflow], echo, report: None };
        let echo = if self.eifel { data.stamp } else { None };
        // Rule 0.
        if self.dsack && data.dsn > self.data {
            let fresh = self.park(subflow, data);
            let first = self.runs.first_key_value().map_or((0, 0), |(from, to)| (*from, *to));
            let report = Some([(data.dsn, data.dsn + u64::from(data.len)), first]);
            answers.push(Answer::Ack { subflow, number: self.expected[subflow], echo, report });
            return match (fresh, data.seq == self.expected[subflow]) {
                (false, _) => Place::Duplicate,
                (true, true) => Place::Ahead,
                (true, false) => Place::Behind,
            };
        }
        let expected = self.expected[subflow];
        let (place, answered) = if data.seq < expected || (data.seq == expected && data.dsn < self.data) {
            // Rules 3 and 1c.
            (Place::Duplicate, true)
        } else if data.seq == expected && data.dsn == self.data {
            // Rule 1a.
            self.deliver(subflow, data.seq, data.dsn, data.len, answers);
            self.drain(answers);
            (Place::Next, true)
        } else if data.seq == expected {
            // Rule 1b.
            let place = if self.park(subflow, data) { Place::Ahead } else { Place::Duplicate };
            (place, self.eifel)
        } else {
            // Rule 2.
            let fresh = self.park(subflow, data);
            (if fresh { Place::Behind } else { Place::Duplicate }, fresh || self.eifel)
        };
        if answered {
            answers.push(plain(self, echo));
        }
        place
    }

    fn deliver(&mut self, subflow: Index, seq: u64, dsn: u64, len: u32, answers: &mut Vec<Answer>) {
        self.expected[subflow] = seq + u64::from(len);
        self.data = dsn + u64::from(len);
        answers.push(Answer::Deliver { dsn, len });
    }

    /// One pass over the store: it is sorted by data sequence number, which rises with the sequence number of a subflow.
    fn drain(&mut self, answers: &mut Vec<Answer>) {
        while let Some((dsn, p)) = self.store.first_key_value().map(|(dsn, p)| (*dsn, *p)) {
            if dsn < self.data {
                // Another copy was delivered: this one was parked before an acknowledgement of the handshake that it overtook.
                self.unpark(dsn, p);
                continue;
            }
            let next = dsn <= self.data && (self.standard || p.seq == self.expected[p.subflow]);
            if !next {
                break;
            }
            self.unpark(dsn, p);
            if self.standard {
                self.data = dsn + u64::from(p.len);
                answers.push(Answer::Deliver { dsn, len: p.len });
            } else {
                self.deliver(p.subflow, p.seq, dsn, p.len, answers);
                let (subflow, number) = (p.subflow, self.expected[p.subflow]);
                answers.push(Answer::Ack { subflow, number, echo: None, report: None });
            }
        }
    }

    /// Parks a segment; false if it is parked already.
    fn park(&mut self, subflow: Index, data: &Data) -> bool {
        if self.store.contains_key(&data.dsn) {
            return false;
        }
        self.store.insert(data.dsn, Parked { subflow, seq: data.seq, len: data.len });
        for held in [&mut self.held[subflow], &mut self.total] {
            held.packets += 1;
            held.octets += u64::from(data.len);
        }
        if self.dsack {
            self.join_run(data.dsn, data.dsn + u64::from(data.len));
        }
        true
    }

    fn unpark(&mut self, dsn: u64, p: Parked) {
        self.store.remove(&dsn);
        for held in [&mut self.held[p.subflow], &mut self.total] {
            held.packets -= 1;
            held.octets -= u64::from(p.len);
        }
        if self.dsack {
            // The lowest segment is the beginning of the first run.
            let end = self.runs.remove(&dsn).expect("a parked segment is in a run");
            let after = dsn + u64::from(p.len);
            if after < end {
                self.runs.insert(after, end);
            }
        }
    }

    fn join_run(&mut self, mut from: u64, mut to: u64) {
        if let Some((before, end)) = self.runs.range(..from).next_back().map(|(b, e)| (*b, *e)) {
            if end == from {
                from = before;
            }
        }
        if let Some(end) = self.runs.remove(&to) {
            to = end;
        }
        self.runs.insert(from, to);
    }

    /// The variant that is not the model: the subflow is acknowledged in its own order, at once and cumulatively (RFC 6824
    /// 3.3.2).
    fn on_data_standard(&mut self, subflow: Index, data: &Data, answers: &mut Vec<Answer>) -> Place {
        let expected = self.expected[subflow];
        let fresh = data.seq >= expected && !self.holes[subflow].contains_key(&data.seq);
        let place = if !fresh {
            Place::Duplicate
        } else if data.dsn == self.data {
            self.data += u64::from(data.len);
            answers.push(Answer::Deliver { dsn: data.dsn, len: data.len });
            self.drain(answers);
            Place::Next
        } else {
            self.park(subflow, data);
            if data.seq == expected { Place::Ahead } else { Place::Behind }
        };
        if fresh {
            let holes = &mut self.holes[subflow];
            holes.insert(data.seq, data.len);
            let expected = &mut self.expected[subflow];
            while let Some(len) = holes.remove(expected) {
                *expected += u64::from(len);
            }
        }
        let echo = if self.eifel { data.stamp } else { None };
        answers.push(Answer::Ack { subflow, number: self.expected[subflow], echo, report: None });
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Subflow 1: its first data overtake the third ACK of its handshake, and come again after a timeout.
    #[test]
    fn a_copy_that_was_parked_before_the_handshake_was_over_blocks_nothing() {
        let mut receiver = Receiver::new(&Model::default());
        receiver.open(0, 10);
        receiver.open(1, 20);
        let mut answers = Vec::new();
        let early = Data { seq: 21, dsn: 1, len: 100, stamp: None };
        assert_eq!(receiver.on_data(1, &early, &mut answers), Place::Behind);
        receiver.on_control(1, 20);
        let ahead = Data { seq: 10, dsn: 101, len: 100, stamp: None };
        assert_eq!(receiver.on_data(0, &ahead, &mut answers), Place::Ahead);
        answers.clear();
        assert_eq!(receiver.on_data(1, &early, &mut answers), Place::Next);
        let ack = |subflow, number| Answer::Ack { subflow, number, echo: None, report: None };
        let delivered = [Answer::Deliver { dsn: 1, len: 100 }, Answer::Deliver { dsn: 101, len: 100 }];
        assert_eq!(answers, [delivered[0], delivered[1], ack(0, 110), ack(1, 121)]);
        assert_eq!((receiver.data(), receiver.total()), (201, Held::default()));
        assert_eq!([receiver.held(0), receiver.held(1)], [Held::default(); 2]);
    }
}
