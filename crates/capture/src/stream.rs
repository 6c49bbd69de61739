//! One direction of a connection's data stream at its receiver: reassembly over all subflows, with the same account that
//! a simulated run keeps (`metrics::account`, `metrics::reorder`).
//!
//! Arrivals are exact where the capture was taken at the receiver. Elsewhere they are estimated from the
//! acknowledgements: a segment arrived when the first acknowledgement of it, cumulative or selective, passed, less half
//! of the subflow's smallest round trip between the place of the capture and the receiver. Since these halves differ
//! between subflows, estimated arrivals wait in a queue until none can come before them.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use anabranch_measures::reorder::Reorder;
use anabranch_measures::series::{LIMIT, Series};
use anabranch_stack::mptcp::dss::{Placed, Reassembly};
use anabranch_stack::segment::Mapping;
use anabranch_stack::seq::Seq;

use super::order::HELD;
use super::sender::{UNMAPPED, Unseen};
use super::sequence::Sequence;

/// A data sequence number farther from the expected one than this is not of this stream (RFC 8684 3.3.1 allows numbers of 32
/// bits, so windows are below 2^31).
const FAR: u64 = 1 << 31;

/// How many sample times a coarse series keeps. Of ten thousand connections only the largest are shown over time.
const FEW: usize = 64;

/// From so many octets on a stream counts as long, and its series becomes fine.
const LONG: u64 = 1_000_000;

/// Ranges sent and not yet acknowledged, at most.
const RANGES: usize = 1 << 16;

/// A segment at the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrival {
    /// Nanoseconds.
    pub time: u64,
    /// Running number: equal times keep their order.
    pub number: u64,
    /// Subflow on which it arrived.
    pub subflow: u32,
    /// Sequence number of the first octet.
    pub seq: Seq,
    /// Octets.
    pub len: u32,
    /// Data offset, or [`super::sender::UNMAPPED`].
    pub data: u64,
}

/// The account of one direction.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    /// Data sequence number of offset zero.
    pub first_dsn: Option<u64>,
    /// `first_dsn` was derived from the key (RFC 8684 3.1), not taken from the first mapping seen.
    pub keyed: bool,
    /// Octets before the first that has a data sequence number.
    unnumbered: u64,
    reassembly: Reassembly,
    /// Segments and octets held by all subflows for holes of their own.
    in_subflows: (u64, u64),
    /// The time of a DATA_ACK of octets that were not seen to arrive, and the offset it acknowledges.
    ahead: Option<(u64, u64)>,
    /// Arrivals whose time is estimated, earliest first, until none can come before them.
    waiting: BinaryHeap<Reverse<Arrival>>,
    numbered: u64,
    /// Some arrivals are estimates.
    pub estimated: bool,
    /// The latest arrival.
    now: u64,
    /// Data segments with octets that had not arrived before; how many of these were out of order; the largest numbers of
    /// segments and of octets held.
    pub distinct: u64,
    pub out_of_order: u64,
    pub held_packets: u64,
    pub held_octets: u64,
    /// Reordering.
    pub reorder: Option<Box<Reorder>>,
    /// First and last time that the stream became longer in order.
    pub first_read: Option<u64>,
    /// Longest time from one octet in order to the next, in nanoseconds.
    pub longest_gap: u64,
    pub last_read: Option<u64>,
    /// First arrival of data.
    pub first_arrival: Option<u64>,
    /// Octets that the receiver acknowledged and the capture lacks, and ranges that hold them.
    pub missing: u64,
    lacking: Unseen,
    /// Octets that no mapping places in the stream.
    pub unmapped: u64,
    /// Octets sent on any subflow, retransmissions included.
    pub sent: u64,
    /// Data sent and not acknowledged at data level: first offset, offset after the last, subflow.
    in_flight: VecDeque<(u64, u64, u32)>,
    sent_max: u64,
    /// Largest DATA_ACK, and the right edge of the window.
    pub data_ack: u64,
    pub edge: u64,
    /// The latest window was closed, behind this offset.
    closed: Option<u64>,
    /// A DATA_ACK of data that cannot have been sent.
    far: Option<u64>,
    /// The stream's length, once a DATA_FIN has been seen.
    pub end: Option<u64>,
    /// TCP: the same by the FIN.
    pub fin: Option<u64>,
    /// The DATA_FIN was acknowledged.
    pub end_acked: bool,
    /// Samples over time.
    pub series: Option<Box<Series>>,
    pub sequence: Option<Box<Sequence>>,
}

impl Stream {
    /// A stream whose series begins `at` nanoseconds after the first packet of the capture. A `coarse` one becomes fine when the
    /// stream is [long](LONG).
    pub fn starting(at: u64, coarse: bool) -> Self {
        let mut series = Series::starting(at);
        if coarse {
            series.keep(FEW);
        }
        Self { series: Some(Box::new(series)), ..Self::default() }
    }

    /// `octets` more are sent.
    #[inline]
    pub fn count_sent(&mut self, octets: u32) {
        let before = self.sent;
        self.sent += u64::from(octets);
        if before < LONG && self.sent >= LONG {
            if let Some(series) = &mut self.series {
                series.keep(LIMIT);
            }
        }
    }

    /// Data offset of a mapping; a short sequence number is the one nearest to what is expected.
    #[inline]
    pub fn offset(&mut self, m: &Mapping) -> Option<u64> {
        let near = self.reassembly.nxt().max(self.data_ack);
        let Some(first) = self.first_dsn else {
            // The capture begins within the connection: offsets count from the first mapping seen.
            self.first_dsn = Some(m.dsn);
            return Some(0);
        };
        let ahead = match m.short {
            true => i64::from((m.dsn as u32).wrapping_sub(first.wrapping_add(near) as u32) as i32),
            false => m.dsn.wrapping_sub(first).wrapping_sub(near) as i64,
        };
        // `None` for an offset below zero, and for one so far away that the number is not of this stream.
        near.checked_add_signed(ahead).filter(|_| ahead.unsigned_abs() < FAR)
    }

    /// So many octets of data came before those that data sequence numbers count (RFC 8684 appendix B).
    pub fn begin_behind(&mut self, octets: u64) {
        self.unnumbered = octets;
        self.first_dsn = self.first_dsn.map(|first| first.wrapping_sub(octets));
    }

    /// The data sequence number of the first octet that has one is `dsn`.
    pub fn begin_at(&mut self, dsn: u64) {
        self.first_dsn = Some(dsn.wrapping_sub(self.unnumbered));
        self.keyed = true;
    }

    /// The data sequence number of the first octet that has one.
    pub fn first_numbered(&self) -> Option<u64> {
        self.first_dsn.map(|first| first.wrapping_add(self.unnumbered))
    }

    /// The 64-bit data sequence number of an offset.
    pub fn dsn(&self, offset: u64) -> Option<u64> {
        self.first_dsn.map(|first| first.wrapping_add(offset))
    }

    /// Number of octets that are in order.
    #[inline]
    pub fn nxt(&self) -> u64 {
        self.reassembly.nxt()
    }

    /// Octets that were delivered: those in order. An acknowledgement of a FIN that was not recorded yet counts one too many.
    pub fn delivered(&self) -> u64 {
        self.nxt().min(self.fin.unwrap_or(u64::MAX))
    }

    /// Segments and octets held that came by `subflow`, without those it holds for its own holes.
    pub fn held_by(&self, subflow: usize) -> (u64, u64) {
        self.reassembly.held_by(subflow)
    }

    /// `[data, end)` is sent on `subflow`, new there; returns whether some of it is in flight on another subflow.
    #[inline]
    pub fn note_sent(&mut self, data: u64, end: u64, subflow: u32) -> bool {
        if data < self.sent_max && end > self.sent_max {
            let known = self.note_sent(data, self.sent_max, subflow);
            return self.note_sent(self.sent_max, end, subflow) || known;
        }
        if data >= self.sent_max {
            self.sent_max = end;
            match self.in_flight.back_mut() {
                Some(last) if last.1 == data && last.2 == subflow => last.1 = end,
                _ => {
                    if self.in_flight.len() == RANGES {
                        self.in_flight.pop_front();
                    }
                    self.in_flight.push_back((data, end, subflow));
                }
            }
            return false;
        }
        let i = self.in_flight.partition_point(|r| r.1 <= data);
        self.in_flight.iter().skip(i).take_while(|r| r.0 < end).any(|r| r.2 != subflow)
    }

    /// At `now` the receiver acknowledges everything before `ack`; its window is `window` octets, if that is known, and perhaps `closed`.
    /// Returns false if that cannot be true, since so much was never sent.
    #[inline]
    pub fn on_data_ack(&mut self, now: u64, ack: u64, window: Option<u64>, closed: bool) -> bool {
        if ack > self.data_ack && !self.is_plausible(ack) {
            return false;
        }
        if self.end.is_some_and(|end| ack > end) {
            self.end_acked = true;
        }
        if ack >= self.data_ack {
            self.closed = closed.then_some(ack);
        }
        if ack > self.data_ack {
            self.data_ack = ack;
            while self.in_flight.front().is_some_and(|r| r.1 <= ack) {
                self.in_flight.pop_front();
            }
        }
        self.edge = window.map_or(self.edge, |window| self.edge.max(ack.saturating_add(window)));
        if let Some(sequence) = &mut self.sequence {
            sequence.acknowledge(now, self.data_ack, self.edge.max(self.data_ack));
        }
        // One number beyond `nxt` may be the DATA_FIN's. Of several acknowledgements beyond it the oldest counts.
        let nxt = self.nxt();
        if ack > nxt + 1 && self.ahead.is_none_or(|(_, a)| a <= nxt) {
            self.ahead = Some((now, ack));
        }
        true
    }

    /// Data up to `ack` may have been sent, as far as the windows seen allow. If the capture lacks windows, the next acknowledgement goes on
    /// from there.
    fn is_plausible(&mut self, ack: u64) -> bool {
        let most = self.edge.max(self.sent_max).max(self.nxt());
        if ack - self.data_ack <= FAR && (self.edge == 0 || ack <= most + 1) {
            return true;
        }
        let before = self.far.replace(ack);
        before
            .is_some_and(|before| ack > before && ack - before <= self.edge.saturating_sub(self.data_ack).max(1 << 16))
    }

    /// A segment at `data` is a probe of a closed window: the receiver says that it has room for nothing, or has never had room for that.
    #[inline]
    pub fn is_probe(&self, data: u64) -> bool {
        let edge = Some(self.edge).filter(|edge| *edge > 0);
        self.is_closed(data) || edge.is_some_and(|edge| data.wrapping_sub(edge) <= 1)
    }

    /// The receiver says that it has no room at all for a segment at `data`.
    #[inline]
    pub fn is_closed(&self, data: u64) -> bool {
        self.closed.is_some_and(|edge| data >= edge)
    }

    /// The DATA_FIN is at `end`.
    pub fn on_data_fin(&mut self, end: u64) {
        if end >= self.nxt() && self.end.is_none() {
            self.end = Some(end);
        }
    }

    /// Adds an arrival with an estimated time; it waits until none can come before it.
    pub fn estimate(&mut self, mut a: Arrival) {
        self.estimated = true;
        self.numbered += 1;
        a.number = self.numbered;
        self.waiting.push(Reverse(a));
    }

    /// Takes out the earliest waiting arrival, if its time is `until` or before.
    pub fn release(&mut self, until: u64) -> Option<Arrival> {
        if self.waiting.peek().is_none_or(|a| a.0.time > until) {
            return None;
        }
        let mut a = self.waiting.pop()?.0;
        // Estimates may be slightly out of order: time does not go back.
        a.time = a.time.max(self.now);
        Some(a)
    }

    /// `[data, data + len)` arrives; returns how many of its octets had not arrived before. [`Self::place`] follows when the
    /// subflow has it in order.
    #[inline]
    pub fn arrive(&mut self, now: u64, data: u64, len: u32) -> u64 {
        self.now = now;
        self.first_arrival.get_or_insert(now);
        self.reassembly.arrive(data, data + u64::from(len))
    }

    /// Places octets that are in order on `subflow` in the stream; returns whether they were next, ahead or duplicates.
    #[inline]
    pub fn place(&mut self, data: u64, len: u32, subflow: u32) -> Placed {
        self.reassembly.place(data, len, subflow as usize)
    }

    /// A subflow that held `before` (segments, octets) for holes of its own now holds `after`.
    #[inline]
    pub fn hold(&mut self, before: (u64, u64), after: (u64, u64)) {
        self.in_subflows.0 = self.in_subflows.0 + after.0 - before.0;
        self.in_subflows.1 = self.in_subflows.1 + after.1 - before.1;
    }

    /// Accounts for an arrival at `data`: `fresh` of its octets were new, `ahead` says that it was out of order, and the stream
    /// was in order up to `before`.
    #[inline]
    pub fn account(&mut self, now: u64, data: u64, fresh: u64, ahead: bool, before: u64) {
        let (packets, octets) = self.reassembly.held();
        let held = (packets + self.in_subflows.0, octets + self.in_subflows.1);
        self.held_packets = self.held_packets.max(held.0);
        self.held_octets = self.held_octets.max(held.1);
        if fresh > 0 {
            self.distinct += 1;
            self.out_of_order += u64::from(ahead);
            self.reorder.get_or_insert_default().arrive(now, data, self.reassembly.nxt(), held.0);
        }
        self.note_progress(now, before);
        if packets > HELD {
            self.ahead = Some((0, before + 1 + octets));
        }
    }

    /// It holds something behind a gap, of a subflow or of the stream.
    pub fn is_holding(&self) -> bool {
        self.reassembly.held().0 + self.in_subflows.0 > 0
    }

    fn note_progress(&mut self, now: u64, before: u64) {
        if self.nxt() > before {
            let since = *self.last_read.get_or_insert(now);
            // Times of a capture may step back a little.
            self.longest_gap = self.longest_gap.max(now.saturating_sub(since));
            self.first_read.get_or_insert(now);
            self.last_read = Some(now);
        }
    }

    /// The receiver acknowledged `[data, end)`, and the capture lacks it.
    pub fn miss(&mut self, data: u64, end: u64) {
        self.missing += end - data;
        self.lacking.add(Seq(data), Seq(end));
    }

    /// `[data, data + len)` has been seen after all; returns how many of its octets counted as missing.
    pub fn find(&mut self, data: u64, len: u32) -> u64 {
        if data == UNMAPPED {
            return 0;
        }
        let found = self.lacking.take(Seq(data), Seq(data.saturating_add(len.into()))).min(self.missing);
        self.missing -= found;
        found
    }

    /// Octets that the receiver acknowledged at `late` or before and that were not seen to arrive count as arrived.
    #[inline]
    pub fn settle(&mut self, now: u64, late: u64) {
        if self.ahead.is_some_and(|(since, _)| since <= late) {
            self.settle_ahead(now);
        }
    }

    /// The capture is over: everything acknowledged counts as arrived.
    pub fn settle_all(&mut self, now: u64) {
        self.ahead = Some((0, self.data_ack));
        self.settle_ahead(now);
    }

    #[cold]
    fn settle_ahead(&mut self, now: u64) {
        let Some((_, ack)) = self.ahead.take() else { return };
        let ack = self.end.map_or(ack, |end| ack.min(end));
        let nxt = self.nxt();
        if ack <= nxt + 1 {
            return;
        }
        self.missing += self.reassembly.arrive(nxt, ack);
        self.lacking.add(Seq(nxt), Seq(ack));
        let mut at = nxt;
        while at < ack {
            let len = (ack - at).min(u64::from(u32::MAX)) as u32;
            self.reassembly.place(at, len, 0);
            at += u64::from(len);
        }
        self.note_progress(now, nxt);
    }
}
