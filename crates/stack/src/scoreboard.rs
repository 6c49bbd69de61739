//! Segments sent and not yet acknowledged, and what SACK says about them (RFC 6675 3, 4, 5).
//!
//! One entry per segment, in order of sequence numbers. `pipe` (RFC 6675 2), the segments for which `IsLost` holds, and the next one
//! to retransmit are maintained incrementally: an acknowledgement costs time in proportion to what is new in it, not to the window.
//!
//! `IsLost(s)` of RFC 6675 4: more than (DupThresh - 1) * SMSS octets, or DupThresh discontiguous sequences, are SACKed above s.
//! Either condition only ever becomes true as SACKs arrive, and if it holds for one segment it holds for every segment below. So
//! a single `lost_edge` moves upwards, and only what is SACKed above it is counted.
//!
//! SACK information is kept across timeouts (RFC 6675 5, 5.1), unless the head segment is SACKed when the timer expires: then the receiver
//! has discarded what it had reported (RFC 2018 5, 8), and what is SACKed is sent again. Ours never does that.

mod arrivals;
mod count;
mod cut;
mod history;
mod plain;

use std::collections::VecDeque;

pub use arrivals::Arrivals;
pub use count::Segments;
pub use history::SackHistory;

use crate::seq::Seq;
use crate::time::Instant;

/// DupThresh of RFC 6675 2; the three duplicates of RFC 5681 3.2.
pub const DUP_THRESH: u32 = 3;

const SACKED: u8 = 1;
const LOST: u8 = 2;
/// Retransmitted, and neither acknowledged nor lost again since.
const RETRANSMITTED: u8 = 4;
/// Retransmitted at least once: gives no round-trip sample (Karn).
const EVER_RETRANSMITTED: u8 = 8;
const FIN: u8 = 16;

/// One segment in flight.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// First sequence number.
    pub seq: Seq,
    /// Data offset of the first octet.
    pub data: u64,
    /// When it was last sent, to the nanosecond (RFC 8985 4).
    pub sent_at: Instant,
    /// Octets of sequence space.
    pub len: u32,
    /// Number of transmissions.
    pub transmissions: u8,
    flags: u8,
}

impl Sent {
    /// Sequence number after the last octet.
    #[inline]
    pub fn end(&self) -> Seq {
        self.seq + u64::from(self.len)
    }

    /// A segment when it is first sent.
    pub fn first(seq: Seq, data: u64, len: u32, now: Instant) -> Self {
        Self { seq, data, sent_at: now, len, transmissions: 1, flags: 0 }
    }

    /// It has the FIN, which is its last octet of sequence space.
    pub fn is_fin(&self) -> bool {
        self.flags & FIN != 0
    }

    /// Octets of payload: those of sequence space less the FIN.
    #[inline]
    pub fn data_len(&self) -> u32 {
        self.len - u32::from(self.is_fin())
    }

    /// The data offset after the last octet of payload.
    #[inline]
    pub fn data_end(&self) -> u64 {
        self.data + u64::from(self.data_len())
    }

    /// It is SACKed.
    pub fn is_sacked(&self) -> bool {
        self.is(SACKED)
    }

    /// The segment is lost and waits for its retransmission.
    pub fn waits(&self) -> bool {
        self.flags & (SACKED | LOST | RETRANSMITTED) == LOST
    }

    #[inline]
    fn is(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// What a cumulative acknowledgement removed from the scoreboard.
#[derive(Clone, Copy, Debug, Default)]
pub struct Acked {
    /// Octets of sequence space.
    pub octets: u64,
    /// The part of `octets` that had been SACKed.
    pub sacked: u64,
    /// When the newest of these segments was sent, if that gives a valid round-trip sample: no segment acknowledged here had been
    /// retransmitted or SACKed before (Karn; RFC 6298 3).
    pub sample: Option<Instant>,
    /// A segment acknowledged here had been retransmitted.
    pub retransmitted: bool,
    /// The FIN is acknowledged.
    pub fin: bool,
    /// The acknowledged segments that had not been SACKed.
    pub arrivals: Arrivals,
}

/// What a SACK block newly reported.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sacked {
    /// Octets newly SACKed.
    pub octets: u64,
    /// End of the highest newly SACKed segment that was never retransmitted.
    pub original: Option<Seq>,
    /// The newly SACKed segments.
    pub arrivals: Arrivals,
}

/// The scoreboard of one subflow.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Scoreboard {
    known: SackHistory,
    /// Highest octet SACKed, plus one.
    high_sacked: Seq,
    /// Outstanding segments that are SACKed.
    sacked: usize,
    /// Segments that are lost, not SACKed, and not retransmitted since.
    to_retransmit: usize,
    /// Octets marked lost since the subflow began.
    marked: u64,
    /// Segments entered since the subflow began.
    entered: u64,
    /// RFC 6675 2 HighRxt: no segment below it is retransmitted again in this episode.
    high_rxt: Seq,
    /// Every segment below it is lost or SACKed.
    lost_edge: Seq,
    /// Octets SACKed from `lost_edge` on.
    sacked_above: u64,
    /// Runs of SACKed segments from `lost_edge` on.
    islands_above: u32,
    /// Octets that each segment counts for in `pipe` at least: the MSS, if the window counts segments.
    least: u32,
    // read of every subflow on every event
    pipe: u64,
    segments: VecDeque<Sent>,
}

impl Scoreboard {
    /// RFC 6675 4 SetPipe: estimate of the octets in the network, each segment at least as [`Scoreboard::count_as`] says.
    #[inline]
    pub fn pipe(&self) -> u64 {
        self.pipe
    }

    /// Octets marked lost since the subflow began, each transmission for itself.
    pub fn marked(&self) -> u64 {
        self.marked
    }

    /// No segment is outstanding.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// All outstanding segments, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Sent> {
        self.segments.iter()
    }

    /// The outstanding segments from `seq` on.
    pub fn from(&self, seq: Seq) -> impl Iterator<Item = &Sent> {
        self.segments.range(self.index_of(seq)..)
    }

    /// Returns the outstanding segment whose [`Sent::end`] is `end`.
    pub fn ending_at(&self, end: Seq) -> Option<&Sent> {
        let last = self.segments.get(self.index_of(end).checked_sub(1)?);
        last.filter(|s| s.end() == end)
    }

    /// The head segment: the oldest outstanding one.
    pub fn front(&self) -> Option<&Sent> {
        self.segments.front()
    }

    /// Some outstanding segment is SACKed.
    pub fn has_sacked(&self) -> bool {
        self.sacked > 0
    }

    /// Some segment is lost and not retransmitted yet.
    #[inline]
    pub fn has_lost(&self) -> bool {
        self.to_retransmit > 0
    }

    /// Adds a segment that is sent for the first time.
    #[inline(always)]
    pub fn push(&mut self, seq: Seq, len: u32, data: u64, now: Instant, fin: bool) {
        if self.segments.is_empty() {
            self.lost_edge = seq;
            self.sacked_above = 0;
            self.islands_above = 0;
        }
        let flags = if fin { FIN } else { 0 };
        self.segments.push_back(Sent { seq, data, sent_at: now, len, transmissions: 1, flags });
        self.pipe += self.weight(len);
        self.entered += 1;
    }

    fn index_of(&self, seq: Seq) -> usize {
        self.segments.partition_point(|s| s.seq < seq)
    }

    /// What a segment contributes to `pipe` (RFC 6675 4: (a) unless lost, (b) if retransmitted).
    fn in_pipe(&self, s: &Sent) -> u64 {
        if s.is(SACKED) {
            return 0;
        }
        self.weight(s.len) * (u64::from(!s.is(LOST)) + u64::from(s.is(RETRANSMITTED)))
    }

    fn waits(s: &Sent) -> usize {
        usize::from(s.flags & (SACKED | LOST | RETRANSMITTED) == LOST)
    }

    fn set(&mut self, i: usize, set: u8, clear: u8) {
        let before = self.in_pipe(&self.segments[i]);
        let s = &mut self.segments[i];
        self.to_retransmit -= Self::waits(s);
        self.sacked -= usize::from(s.is(SACKED));
        s.flags = (s.flags & !clear) | set;
        self.sacked += usize::from(s.is(SACKED));
        self.to_retransmit += Self::waits(s);
        let after = self.in_pipe(&self.segments[i]);
        self.pipe = self.pipe - before + after;
        // A retransmission can be lost in its turn, and what is SACKed cannot.
        self.marked += if set & LOST != 0 { before - after } else { 0 };
    }

    /// Moves `lost_edge` past the segment at index `i`, at which it points.
    fn pass(&mut self, i: usize) {
        let s = self.segments[i];
        if s.is(SACKED) {
            self.sacked_above -= u64::from(s.len);
            if !self.segments.get(i + 1).is_some_and(|next| next.is(SACKED)) {
                self.islands_above -= 1;
            }
        }
        self.lost_edge = s.end();
    }

    /// Processes a cumulative acknowledgement up to `ack`.
    #[inline(always)]
    pub fn acknowledge(&mut self, ack: Seq) -> Acked {
        let mut acked = Acked::default();
        let mut clean = true;
        // RFC 2018 8, RFC 6675 4: a segment, SACKed or not, leaves only when it is acknowledged.
        while let Some(front) = self.segments.front() {
            if front.end() > ack {
                break;
            }
            if front.seq >= self.lost_edge {
                self.pass(0);
            }
            let front = self.segments.pop_front().expect("looked at it");
            if front.flags == 0 {
                // Sent once, and nothing was heard of it: the usual case.
                self.pipe -= self.weight(front.len);
                acked.octets += u64::from(front.len);
                acked.arrivals.note(&front);
                acked.sample = Some(front.sent_at);
                continue;
            }
            self.pipe -= self.in_pipe(&front);
            self.to_retransmit -= Self::waits(&front);
            self.sacked -= usize::from(front.is(SACKED));
            acked.octets += u64::from(front.len);
            if !front.is(SACKED) {
                acked.arrivals.note(&front);
            }
            acked.sacked += if front.is(SACKED) { u64::from(front.len) } else { 0 };
            acked.fin |= front.is_fin();
            acked.retransmitted |= front.is(EVER_RETRANSMITTED);
            clean &= !front.is(EVER_RETRANSMITTED | SACKED);
            acked.sample = Some(front.sent_at);
        }
        // The ACK covers part of a segment: a middlebox has split the segment, and the rest will be acknowledged later.
        if let Some(&whole) = self.segments.front() {
            if whole.seq < ack {
                let cut = (ack - whole.seq) as u32;
                let rest = Sent { len: whole.len - cut, ..whole };
                self.pipe = self.pipe - self.in_pipe(&whole) + self.in_pipe(&rest);
                let front = &mut self.segments[0];
                if front.seq >= self.lost_edge {
                    if front.is(SACKED) {
                        self.sacked_above -= u64::from(cut);
                    }
                    self.lost_edge = ack;
                }
                front.seq = ack;
                front.data += u64::from(cut);
                front.len -= cut;
                acked.octets += u64::from(cut);
                acked.sacked += if front.is(SACKED) { u64::from(cut) } else { 0 };
                clean = false;
            }
        }
        if !clean {
            acked.sample = None;
        }
        acked
    }

    /// Processes the SACK block `[start, end)`. Segments that it covers only in part are unchanged.
    pub fn sack(&mut self, start: Seq, end: Seq) -> Sacked {
        let Some(from) = self.known.add(start, end) else { return Sacked::default() };
        let mut sacked = Sacked::default();
        // A block processed earlier may have ended inside a segment: begin with the segment that contains `from`.
        let mut i = self.index_of(from + 1).saturating_sub(1);
        while let Some(&s) = self.segments.get(i) {
            if s.end() > end {
                break;
            }
            if s.seq >= start && !s.is(SACKED) {
                sacked.octets += u64::from(s.len);
                sacked.arrivals.note(&s);
                if !s.is(EVER_RETRANSMITTED) {
                    sacked.original = Some(s.end());
                }
                if s.seq >= self.lost_edge {
                    let left = i > 0 && {
                        let l = &self.segments[i - 1];
                        l.seq >= self.lost_edge && l.is(SACKED)
                    };
                    let right = self.segments.get(i + 1).is_some_and(|r| r.is(SACKED));
                    self.sacked_above += u64::from(s.len);
                    self.islands_above = self.islands_above + 1 - u32::from(left) - u32::from(right);
                }
                self.set(i, SACKED, RETRANSMITTED);
                self.high_sacked = self.high_sacked.max(s.end());
            }
            i += 1;
        }
        sacked
    }

    /// Moves `lost_edge` as far as `IsLost` holds (RFC 6675 4): more than `octets` are SACKed above, or so many discontiguous sequences.
    pub fn update_lost(&mut self, octets: u64, islands: u32) {
        if self.sacked_above == 0 {
            return;
        }
        let mut i = self.index_of(self.lost_edge);
        while let Some(s) = self.segments.get(i) {
            if !s.is(SACKED) {
                if self.sacked_above <= octets && self.islands_above < islands {
                    break;
                }
                if !s.is(LOST) {
                    self.set(i, LOST, 0);
                }
            } else if self.sacked_above == u64::from(s.len) {
                // Nothing is SACKed above this run, so stop here. Later SACKs extend the run.
                break;
            }
            self.pass(i);
            i += 1;
        }
    }

    /// The highest octet SACKed so far, plus one.
    pub fn high_sacked(&self) -> Seq {
        self.high_sacked
    }

    /// Marks the segment at `seq` lost, including its latest retransmission. A SACKed segment is not marked.
    pub fn mark_lost(&mut self, seq: Seq) {
        let i = self.index_of(seq);
        if self.segments.get(i).is_some_and(|s| s.seq == seq && !s.is(SACKED)) {
            self.set(i, LOST, RETRANSMITTED);
            self.high_rxt = self.high_rxt.min(seq);
        }
    }

    /// The head segment is marked lost.
    pub fn front_is_lost(&self) -> bool {
        self.segments.front().is_some_and(|s| s.is(LOST))
    }

    /// The head segment was retransmitted, and neither acknowledged nor lost again since.
    pub fn front_is_retransmitted(&self) -> bool {
        self.segments.front().is_some_and(|s| s.is(RETRANSMITTED))
    }

    /// A new episode begins: HighRxt returns to SND.UNA.
    pub fn begin_episode(&mut self, snd_una: Seq) {
        self.high_rxt = snd_una;
    }

    /// After a timeout every segment that is not SACKed counts as lost.
    pub fn mark_all_lost(&mut self, snd_una: Seq, snd_nxt: Seq) {
        for i in 0..self.segments.len() {
            self.set(i, LOST, RETRANSMITTED);
        }
        self.high_rxt = snd_una;
        self.lost_edge = snd_nxt;
        self.sacked_above = 0;
        self.islands_above = 0;
    }

    /// The receiver has discarded what it had SACKed: nothing is SACKed any more (RFC 2018 8).
    pub fn forget_sacks(&mut self) {
        for i in 0..self.segments.len() {
            self.set(i, 0, SACKED);
        }
        self.known = Default::default();
        self.high_sacked = Seq::default();
        self.sacked_above = 0;
        self.islands_above = 0;
    }

    /// The episode was spurious: lost segments that are not retransmitted yet count as in flight again.
    pub fn unmark_lost(&mut self) {
        let mut after_sacked = false;
        self.sacked_above = 0;
        self.islands_above = 0;
        for i in 0..self.segments.len() {
            if Self::waits(&self.segments[i]) == 1 {
                self.set(i, 0, LOST);
            }
            let s = &self.segments[i];
            if s.is(SACKED) {
                self.sacked_above += u64::from(s.len);
                self.islands_above += u32::from(!after_sacked);
            }
            after_sacked = s.is(SACKED);
        }
        if let Some(front) = self.segments.front() {
            self.lost_edge = front.seq;
        }
    }

    /// RFC 6675 4, NextSeg rule (1): the first lost segment above HighRxt.
    pub fn next_lost(&self) -> Option<usize> {
        if self.to_retransmit == 0 {
            return None;
        }
        let from = self.index_of(self.high_rxt);
        (from..self.segments.len()).find(|&i| Self::waits(&self.segments[i]) == 1)
    }

    /// RFC 6675 4, NextSeg rule (3): the first segment above HighRxt that is not SACKed, with a SACKed segment above it.
    pub fn next_below_sacked(&self) -> Option<usize> {
        let from = self.index_of(self.high_rxt);
        (from..self.segments.len())
            .take_while(|&i| self.segments[i].seq < self.high_sacked)
            .find(|&i| !self.segments[i].is(SACKED | RETRANSMITTED))
    }

    /// RFC 6675 4, NextSeg rule (4): the last outstanding segment that is not SACKed; `None` if its retransmission sustains the ACK clock already.
    pub fn last_unsacked(&self) -> Option<usize> {
        self.segments.iter().rposition(|s| !s.is(SACKED)).filter(|&i| !self.segments[i].is(RETRANSMITTED))
    }

    /// Records a retransmission of the segment at index `i`, and returns it.
    pub fn retransmit(&mut self, i: usize, now: Instant) -> Sent {
        self.set(i, RETRANSMITTED | EVER_RETRANSMITTED, 0);
        let s = &mut self.segments[i];
        s.sent_at = now;
        s.transmissions = s.transmissions.saturating_add(1);
        self.high_rxt = self.high_rxt.max(s.end());
        *s
    }

    /// Like [`Scoreboard::retransmit`], for a rescue retransmission (RFC 6675 4 NextSeg rule (4), 5 (C.2)): HighRxt does not move.
    pub fn rescue(&mut self, i: usize, now: Instant) -> Sent {
        let high_rxt = self.high_rxt;
        let sent = self.retransmit(i, now);
        self.high_rxt = high_rxt;
        sent
    }
}

#[cfg(test)]
mod tests;
