//! One direction of a subflow from its sender's point of view, from the segments and acknowledgements that pass one place.
//!
//! Segments, retransmissions, octets in flight and round-trip times are exact if that place is the sender. Two things can only be
//! inferred, wherever the capture was taken. Whether a retransmission was fast or after a timeout follows from the
//! acknowledgements and the silence before it. Whether it was spurious follows, with a capture at one end only, from the
//! receiver's report of a duplicate (D-SACK, RFC 3708), or from a first acknowledgement that echoes a timestamp older than the
//! retransmission's (Eifel, RFC 3522).
//!
//! State: the segments not yet acknowledged, in order of sequence numbers, and the last few retransmissions.

use std::collections::VecDeque;

use anabranch_stack::config::Config;
use anabranch_stack::ranges::RangeSet;
use anabranch_stack::segment::SackBlocks;
use anabranch_stack::seq::Seq;
use anabranch_stack::tcp::rtt::Rtt;
use anabranch_stack::time::Duration;

use anabranch_measures::account::TimeMean;

mod lacking;
mod reports;
mod sending;
mod sent;
mod unseen;

use lacking::Following;
pub use sent::{Kind, Sent};
pub use unseen::Unseen;

/// Data offset of octets whose mapping is not known.
pub const UNMAPPED: u64 = u64::MAX;

/// Retransmissions kept for a late report of a duplicate.
const REMEMBERED: usize = 1024;

/// A segment that fills a hole sooner than this (in nanoseconds) was reordered before the capture, not retransmitted.
const OVERTAKEN: u64 = 3_000_000;

/// If so many segments are in flight and no acknowledgement was ever seen, acknowledgements do not pass this place: no window is
/// that large. With twice as many the oldest segment is dropped.
const ONE_WAY: usize = 1 << 17;

#[derive(Clone, Copy, Debug)]
struct Retransmission {
    seq: Seq,
    end: Seq,
    spurious: bool,
}

/// One direction of a subflow.
#[derive(Clone, Debug)]
pub struct Sender {
    queue: VecDeque<Sent>,
    una: Option<Seq>,
    /// The SYN was seen.
    begun: bool,
    following: Following,
    max: Seq,
    sacked: RangeSet,
    sacked_octets: u64,
    retransmissions: VecDeque<Retransmission>,
    rtt: Rtt,
    /// Smoothed round-trip time in seconds, over time.
    pub srtt: TimeMean,
    /// Smallest and largest round-trip time, nanoseconds.
    pub rtt_range: Option<(u64, u64)>,
    /// When the cumulative acknowledgement advanced last.
    advanced_at: u64,
    duplicates: u32,
    recover: Option<Seq>,
    timeout_recover: Option<Seq>,
    hole_at: u64,
    acknowledged: bool,
    /// Segments with payload.
    pub segments: u64,
    /// Octets of payload, retransmissions included.
    pub octets: u64,
    /// Retransmissions, inferred to be fast.
    pub fast: u64,
    /// Retransmissions, inferred to be after a timeout.
    pub timeout: u64,
    /// Probes of a closed window (RFC 9293 3.8.6.1).
    pub probes: u64,
    /// First octet of the latest of these.
    probed: Option<Seq>,
    /// Retransmissions found spurious by a report of a duplicate.
    pub by_dsack: u64,
    /// Its receiver has sent SACK blocks.
    pub sack: bool,
    /// Retransmissions found spurious by timestamps.
    pub by_timestamp: u64,
    /// Retransmissions found spurious by either.
    pub spurious: u64,
    /// Octets that were acknowledged and that the capture has not shown.
    unseen: Unseen,
    /// Sequence number of the FIN.
    fin: Option<Seq>,
    /// An acknowledgement without data or flags was seen; then whether one with data acknowledged three segments or more before
    /// the first of these.
    pub pure_acks: bool,
    pub stretched: bool,
    /// How often segments that were never shown lay between others that were: the capture lacks packets.
    pub holes: u64,
    /// The largest payload, octets.
    pub largest: u32,
    /// Expirations of the retransmission timer, inferred.
    pub expired: u64,
    /// The latest round-trip time, nanoseconds, until it is taken.
    pub latest: Option<u64>,
}

impl Default for Sender {
    fn default() -> Self {
        Self {
            queue: VecDeque::new(),
            una: None,
            begun: false,
            following: Following::default(),
            max: Seq::default(),
            sacked: RangeSet::default(),
            sacked_octets: 0,
            retransmissions: VecDeque::new(),
            rtt: Rtt::new(&Config::default()),
            srtt: TimeMean::default(),
            rtt_range: None,
            advanced_at: 0,
            duplicates: 0,
            recover: None,
            timeout_recover: None,
            hole_at: 0,
            acknowledged: false,
            segments: 0,
            octets: 0,
            fast: 0,
            timeout: 0,
            probes: 0,
            probed: None,
            by_dsack: 0,
            sack: false,
            by_timestamp: 0,
            spurious: 0,
            unseen: Unseen::default(),
            fin: None,
            pure_acks: false,
            stretched: false,
            holes: 0,
            largest: 0,
            expired: 0,
            latest: None,
        }
    }
}

impl Sender {
    /// The SYN was seen: data begin at the sequence number `first`.
    pub fn begin(&mut self, first: Seq) {
        self.begun = true;
        // An acknowledgement may have been recorded before the SYN.
        if self.segments == 0 && self.una.is_none_or(|una| una < first) {
            (self.una, self.max) = (Some(first), first);
        }
    }

    /// The handshake took `rtt` nanoseconds: the first sample, before there is one of data.
    pub fn on_handshake(&mut self, rtt: u64) {
        if self.rtt.samples() == 0 {
            self.rtt.sample(Duration(rtt));
        }
    }

    /// First sequence number not acknowledged, once one is known.
    pub fn una(&self) -> Option<Seq> {
        self.una
    }

    /// Sequence number after the last octet sent.
    pub fn max(&self) -> Seq {
        self.max
    }

    /// The receiver has selectively acknowledged something.
    pub fn has_sacked(&self) -> bool {
        !self.sacked.is_empty()
    }

    /// The receiver has said that something arrived out of order.
    pub fn has_evidence(&self) -> bool {
        self.duplicates > 0 || !self.sacked.is_empty()
    }

    /// The retransmission timeout, nanoseconds.
    pub fn rto(&self) -> u64 {
        self.rtt.rto().0
    }

    /// Octets sent and not acknowledged in any way.
    pub fn in_flight(&self) -> u64 {
        self.una.map_or(0, |una| (self.max - una).saturating_sub(self.sacked_octets))
    }

    /// Smoothed round-trip time in seconds; NaN before the first sample.
    pub fn srtt_now(&self) -> f64 {
        self.rtt.srtt().map_or(f64::NAN, |d| d.as_secs_f64())
    }

    /// Samples of the round-trip time so far.
    pub fn rtt_samples(&self) -> u64 {
        self.rtt.samples()
    }

    /// The segments not yet acknowledged.
    pub fn queue(&mut self) -> &mut VecDeque<Sent> {
        &mut self.queue
    }

    /// Acknowledgements do not pass this place.
    pub fn is_one_way(&self) -> bool {
        !self.acknowledged && self.queue.len() > ONE_WAY
    }

    /// An acknowledgement was seen.
    pub fn is_acknowledged(&self) -> bool {
        self.acknowledged
    }

    /// The FIN has the sequence number `seq`.
    pub fn on_fin(&mut self, seq: Seq) {
        self.fin = Some(seq);
        self.unseen.take(seq, seq + 1);
    }

    /// Octets that were acknowledged and that the capture never showed.
    pub fn unseen_octets(&self) -> u64 {
        self.unseen.octets(self.una.filter(|_| self.fin.is_none()))
    }

    /// An acknowledgement passes at `now`; segments it shows to have arrived are appended to `arrived`. `pure`: it has no
    /// payload.
    pub fn on_ack(
        &mut self,
        now: u64,
        ack: Seq,
        sack: &SackBlocks,
        echo: Option<u32>,
        pure: bool,
        arrived: &mut Vec<Sent>,
    ) {
        self.acknowledged = true;
        self.pure_acks |= pure;
        let una = *self.una.get_or_insert(ack);
        if self.max.0 == 0 {
            self.max = ack;
        }
        let blocks = sack.as_slice();
        self.sack |= !blocks.is_empty();
        let mut duplicate_report = false;
        if let Some(&first) = blocks.first() {
            duplicate_report = self.on_duplicate_report(ack, first, blocks.get(1).copied());
        }
        if ack > una {
            self.advance(now, ack, echo, pure, arrived);
        } else if ack == una && pure && !duplicate_report && una < self.max {
            self.duplicates += 1;
        }
        for &(start, end) in &blocks[usize::from(duplicate_report)..] {
            let (start, end) = (Seq::unwrap(start, ack), Seq::unwrap(end, ack));
            if start >= ack && start < end && end <= self.max {
                self.on_sack(start, end, arrived);
            }
        }
    }

    fn advance(&mut self, now: u64, ack: Seq, echo: Option<u32>, pure: bool, arrived: &mut Vec<Sent>) {
        let mut expected = self.una;
        let (before, sent) = (self.queue.len(), self.max);
        self.max = self.max.max(ack);
        (self.una, self.advanced_at, self.duplicates) = (Some(ack), now, 0);
        let (mut sample, mut ambiguous) = (None, false);
        let mut first = true;
        while let Some(s) = self.queue.front_mut() {
            if let Some(expected) = expected {
                self.unseen.add(expected, s.seq.min(ack));
            }
            if s.end > ack {
                arrived.extend(self.following.lacking(s.seq.min(ack), s));
                if s.seq < ack {
                    // Only part of an offloaded segment is acknowledged: the rest stays.
                    if !s.arrived {
                        arrived.push(Sent { end: ack, ..*s });
                    }
                    self.following.pass(s, ack);
                    s.data = if s.data == UNMAPPED { UNMAPPED } else { s.data.saturating_add(ack - s.seq) };
                    s.seq = ack;
                }
                break;
            }
            let s = self.queue.pop_front().expect("looked");
            self.holes += u64::from(expected.is_some_and(|expected| s.seq > expected));
            arrived.extend(self.following.lacking(s.seq, &s));
            self.following.pass(&s, s.end);
            expected = Some(s.end);
            // RFC 3522 3.2: the first acknowledgement of a retransmission echoes an older timestamp.
            if let (true, Some(again), Some(echo)) = (first, s.again, echo) {
                if (echo.wrapping_sub(again) as i32) < 0 {
                    self.mark_spurious(s.seq, s.end, false);
                }
            }
            first = false;
            // Karn's algorithm (RFC 6298 3). What arrived behind a hole has waited for the retransmission, too.
            ambiguous |= s.copies > 1;
            sample = (!ambiguous && !s.arrived).then_some(s.at);
            if !s.arrived {
                arrived.push(s);
            }
        }
        self.following.end(ack);
        self.stretched |= !pure && !self.pure_acks && before - self.queue.len() > 2;
        if ack > sent {
            let from = expected.unwrap_or(sent).max(sent);
            self.unseen.add(from, self.fin.map_or(ack, |fin| fin.max(from).min(ack)));
        }
        self.timed(now, sample);
        if self.sacked_octets > 0 {
            self.sacked_octets -= self.sacked.remove_below(ack.0);
        }
        self.timeout_recover = self.timeout_recover.filter(|r| ack < *r);
        self.recover = self.recover.filter(|r| ack < *r);
    }

    /// A segment that was sent once, at `sent`, is acknowledged at `now`.
    fn timed(&mut self, now: u64, sent: Option<u64>) {
        let Some(at) = sent else { return };
        let rtt = now.saturating_sub(at);
        self.latest = Some(rtt);
        self.rtt.sample(Duration(rtt));
        self.srtt.set(now, self.srtt_now());
        let (low, high) = self.rtt_range.unwrap_or((rtt, rtt));
        self.rtt_range = Some((low.min(rtt), high.max(rtt)));
    }
}
