//! What was sent and not yet acknowledged, and what SACK says about it (RFC 6675 3-5).
//!
//! One entry a segment, in order of sequence numbers. `pipe` (RFC 6675 2), the segments that `IsLost` holds for and the
//! next one to retransmit are kept incrementally, so that an acknowledgement costs time in proportion to what is new in
//! it, not to the window.
//!
//! `IsLost(s)` of RFC 6675 4: more than (DupThresh - 1) * SMSS octets, or DupThresh discontiguous sequences, SACKed above
//! s. Both only ever become true as SACKs arrive and hold for every segment below one for which they hold; so a single
//! `lost_edge` moves upwards, and only what is SACKed above it is counted.
//!
//! SACKs are kept across timeouts (RFC 6675 5.1), a receiver that reneges is not provided for: ours never does.

use std::collections::VecDeque;

use crate::seq::Seq;
use crate::time::Instant;

/// RFC 6675 2 and RFC 5681 3.2.
pub const DUP_THRESH: u32 = 3;

const SACKED: u8 = 1;
const LOST: u8 = 2;
/// Retransmitted and neither acknowledged nor lost again.
const RETRANSMITTED: u8 = 4;
/// Retransmitted at least once: no round-trip sample (Karn).
const EVER_RETRANSMITTED: u8 = 8;
const FIN: u8 = 16;

/// One segment in flight.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// First sequence number.
    pub seq: Seq,
    /// First octet in the data stream.
    pub data: u64,
    /// When it was sent last.
    pub sent_at: Instant,
    /// Sequence space it takes.
    pub len: u32,
    /// How often it was sent.
    pub transmissions: u8,
    flags: u8,
}

impl Sent {
    /// Sequence number after the last.
    #[inline]
    pub fn end(&self) -> Seq {
        self.seq + u64::from(self.len)
    }

    /// A segment on its first transmission.
    pub fn first(seq: Seq, data: u64, len: u32, now: Instant) -> Self {
        Self { seq, data, sent_at: now, len, transmissions: 1, flags: 0 }
    }

    /// It is the FIN, without payload.
    pub fn is_fin(&self) -> bool {
        self.flags & FIN != 0
    }

    /// It is SACKed.
    pub fn is_sacked(&self) -> bool {
        self.is(SACKED)
    }

    /// It is lost, and its retransmission has not left.
    pub fn waits(&self) -> bool {
        self.flags & (SACKED | LOST | RETRANSMITTED) == LOST
    }

    #[inline]
    fn is(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// Which segments have newly arrived, as far as detection by time wants to know (RFC 8985 6.2 steps 2 and 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrivals {
    /// Of those that were never retransmitted, the one sent last: when, and its end.
    pub original: Option<(Instant, Seq)>,
    /// Of those that were, the one sent last.
    pub copy: Option<(Instant, Seq)>,
    /// Of those that were never retransmitted, the lowest end.
    pub lowest: Option<Seq>,
}

impl Arrivals {
    #[inline]
    fn note(&mut self, s: &Sent) {
        let this = Some((s.sent_at, s.end()));
        if s.is(EVER_RETRANSMITTED) {
            self.copy = self.copy.max(this);
        } else {
            self.original = self.original.max(this);
            self.lowest = self.lowest.or(Some(s.end()));
        }
    }

    /// These and `others`, which are above them.
    #[inline]
    pub(crate) fn and(self, others: Self) -> Self {
        Self {
            original: self.original.max(others.original),
            copy: self.copy.max(others.copy),
            lowest: self.lowest.into_iter().chain(others.lowest).min(),
        }
    }
}

/// What a cumulative acknowledgement took out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Acked {
    /// Octets of sequence space.
    pub octets: u64,
    /// Of these, octets that had been SACKed.
    pub sacked: u64,
    /// When the newest of them was sent, if that makes a valid round-trip sample: nothing acknowledged here had been
    /// retransmitted or SACKed before (Karn; RFC 6298 3).
    pub sample: Option<Instant>,
    /// Something acknowledged here had been retransmitted.
    pub retransmitted: bool,
    /// The FIN is among them.
    pub fin: bool,
    /// Of them, what had not been SACKed.
    pub arrivals: Arrivals,
}

/// What a SACK block brought.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sacked {
    /// Octets newly SACKed.
    pub octets: u64,
    /// End of the highest newly SACKed segment that was never retransmitted.
    pub original: Option<Seq>,
    /// What is newly SACKed.
    pub arrivals: Arrivals,
}

/// The scoreboard of one subflow.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Scoreboard {
    /// Blocks wholly worked in, so that a block that grew costs only its growth.
    known: [(Seq, Seq); 4],
    known_next: usize,
    /// Highest octet SACKed, plus one.
    high_sacked: Seq,
    /// Outstanding segments that are SACKed.
    sacked: usize,
    /// Segments that are lost, not SACKed and not retransmitted since.
    to_retransmit: usize,
    /// Octets marked lost since the beginning.
    marked: u64,
    /// RFC 6675 2 HighRxt: nothing below is retransmitted again in this episode.
    high_rxt: Seq,
    /// Every segment that is not SACKed below this is lost.
    lost_edge: Seq,
    /// Octets SACKed from `lost_edge` on.
    sacked_above: u64,
    /// Runs of SACKed segments from `lost_edge` on.
    islands_above: u32,
    // asked of every subflow at each event
    pipe: u64,
    segments: VecDeque<Sent>,
}

impl Scoreboard {
    /// RFC 6675 4 SetPipe: octets in the network, by estimate.
    #[inline]
    pub fn pipe(&self) -> u64 {
        self.pipe
    }

    /// Octets marked lost since the beginning.
    pub fn marked(&self) -> u64 {
        self.marked
    }

    /// Nothing is outstanding.
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

    /// The oldest outstanding segment.
    pub fn front(&self) -> Option<&Sent> {
        self.segments.front()
    }

    /// Something outstanding is SACKed.
    pub fn has_sacked(&self) -> bool {
        self.sacked > 0
    }

    /// Something is known lost and waits for its retransmission.
    #[inline]
    pub fn has_lost(&self) -> bool {
        self.to_retransmit > 0
    }

    /// A new segment leaves.
    pub fn push(&mut self, seq: Seq, len: u32, data: u64, now: Instant, fin: bool) {
        if self.segments.is_empty() {
            self.lost_edge = seq;
            self.sacked_above = 0;
            self.islands_above = 0;
        }
        let flags = if fin { FIN } else { 0 };
        self.segments.push_back(Sent { seq, data, sent_at: now, len, transmissions: 1, flags });
        self.pipe += u64::from(len);
    }

    fn index_of(&self, seq: Seq) -> usize {
        self.segments.partition_point(|s| s.seq < seq)
    }

    /// What a segment adds to `pipe` (RFC 6675 4: (a) unless lost, (b) if retransmitted).
    fn in_pipe(s: &Sent) -> u64 {
        if s.is(SACKED) {
            return 0;
        }
        u64::from(s.len) * (u64::from(!s.is(LOST)) + u64::from(s.is(RETRANSMITTED)))
    }

    fn waits(s: &Sent) -> usize {
        usize::from(s.flags & (SACKED | LOST | RETRANSMITTED) == LOST)
    }

    fn set(&mut self, i: usize, set: u8, clear: u8) {
        let s = &mut self.segments[i];
        self.pipe -= Self::in_pipe(s);
        self.to_retransmit -= Self::waits(s);
        self.sacked -= usize::from(s.is(SACKED));
        if set & !s.flags & LOST != 0 {
            self.marked += u64::from(s.len);
        }
        s.flags = (s.flags & !clear) | set;
        self.sacked += usize::from(s.is(SACKED));
        self.pipe += Self::in_pipe(s);
        self.to_retransmit += Self::waits(s);
    }

    /// `lost_edge` passes the segment at `i`, which it points at.
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

    /// A cumulative acknowledgement up to `ack`.
    pub fn acknowledge(&mut self, ack: Seq) -> Acked {
        let mut acked = Acked::default();
        let mut clean = true;
        while let Some(front) = self.segments.front() {
            if front.end() > ack {
                break;
            }
            if front.seq >= self.lost_edge {
                self.pass(0);
            }
            let front = self.segments.pop_front().expect("looked at it");
            self.pipe -= Self::in_pipe(&front);
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
        // Part of a segment: whoever cut it (a middlebox) will send the rest's acknowledgement later.
        if let Some(front) = self.segments.front_mut() {
            if front.seq < ack {
                let cut = (ack - front.seq) as u32;
                self.pipe -= Self::in_pipe(front);
                if front.seq >= self.lost_edge {
                    if front.is(SACKED) {
                        self.sacked_above -= u64::from(cut);
                    }
                    self.lost_edge = ack;
                }
                front.seq = ack;
                front.data += u64::from(cut);
                front.len -= cut;
                self.pipe += Self::in_pipe(front);
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

    /// Works in the SACK block `[start, end)`. Segments covered in part stay as they are.
    pub fn sack(&mut self, start: Seq, end: Seq) -> Sacked {
        let mut from = start;
        for known in &mut self.known {
            if known.0 <= from && from <= known.1 && known.0 < known.1 {
                if end <= known.1 {
                    return Sacked::default();
                }
                from = known.1;
                known.1 = end;
            }
        }
        if from == start {
            self.known[self.known_next] = (start, end);
            self.known_next = (self.known_next + 1) % self.known.len();
        }
        let mut sacked = Sacked::default();
        // A block known so far may have ended inside a segment: look from the segment that holds `from`.
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

    /// Moves `lost_edge` as far as `IsLost` holds (RFC 6675 4).
    pub fn update_lost(&mut self, mss: u32) {
        if self.sacked_above == 0 {
            return;
        }
        let mut i = self.index_of(self.lost_edge);
        while let Some(s) = self.segments.get(i) {
            if !s.is(SACKED) {
                let enough = self.sacked_above > u64::from(DUP_THRESH - 1) * u64::from(mss);
                if !enough && self.islands_above < DUP_THRESH {
                    break;
                }
                if !s.is(LOST) {
                    self.set(i, LOST, 0);
                }
            } else if self.sacked_above == u64::from(s.len) {
                // Nothing is SACKed above this one: no need to go on, and later SACKs join its run.
                break;
            }
            self.pass(i);
            i += 1;
        }
    }

    /// Segments outstanding that are SACKed.
    pub fn sacked_segments(&self) -> usize {
        self.sacked
    }

    /// The highest octet SACKed so far, plus one.
    pub fn high_sacked(&self) -> Seq {
        self.high_sacked
    }

    /// Octets outstanding that are SACKed.
    pub fn sacked_octets(&self) -> u64 {
        self.segments.iter().filter(|s| s.is(SACKED)).map(|s| u64::from(s.len)).sum()
    }

    /// The segment at `seq` is lost, the last copy of it, too, if it was sent again; one that is SACKed is not.
    pub fn mark_lost(&mut self, seq: Seq) {
        let i = self.index_of(seq);
        if self.segments.get(i).is_some_and(|s| s.seq == seq && !s.is(SACKED)) {
            self.set(i, LOST, RETRANSMITTED);
            self.high_rxt = self.high_rxt.min(seq);
        }
    }

    /// The oldest outstanding segment is lost by `IsLost`.
    pub fn front_is_lost(&self) -> bool {
        self.segments.front().is_some_and(|s| s.is(LOST))
    }

    /// The oldest outstanding segment was retransmitted and neither acknowledged nor lost again.
    pub fn front_is_retransmitted(&self) -> bool {
        self.segments.front().is_some_and(|s| s.is(RETRANSMITTED))
    }

    /// A new episode begins: HighRxt goes back to the oldest outstanding octet.
    pub fn begin_episode(&mut self, snd_una: Seq) {
        self.high_rxt = snd_una;
    }

    /// After a timeout all that is not SACKed counts as lost.
    pub fn mark_all_lost(&mut self, snd_una: Seq, snd_nxt: Seq) {
        for i in 0..self.segments.len() {
            self.set(i, LOST, RETRANSMITTED);
        }
        self.high_rxt = snd_una;
        self.lost_edge = snd_nxt;
        self.sacked_above = 0;
        self.islands_above = 0;
    }

    /// The episode was spurious: what waits for its retransmission is in flight after all.
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

    /// NextSeg rule (1): the first lost segment above HighRxt.
    pub fn next_lost(&self) -> Option<usize> {
        if self.to_retransmit == 0 {
            return None;
        }
        let from = self.index_of(self.high_rxt);
        (from..self.segments.len()).find(|&i| Self::waits(&self.segments[i]) == 1)
    }

    /// NextSeg rule (3): the first segment above HighRxt that is not SACKed but below something SACKed.
    pub fn next_below_sacked(&self) -> Option<usize> {
        let from = self.index_of(self.high_rxt);
        (from..self.segments.len())
            .take_while(|&i| self.segments[i].seq < self.high_sacked)
            .find(|&i| !self.segments[i].is(SACKED | RETRANSMITTED))
    }

    /// NextSeg rule (4): the last outstanding segment that is not SACKed; none if it was retransmitted in this episode,
    /// because a second copy at once would sustain no ACK clock that the first does not.
    pub fn last_unsacked(&self) -> Option<usize> {
        self.segments.iter().rposition(|s| !s.is(SACKED)).filter(|&i| !self.segments[i].is(RETRANSMITTED))
    }

    /// The segment at `i` is sent again; returns it.
    pub fn retransmit(&mut self, i: usize, now: Instant) -> Sent {
        self.set(i, RETRANSMITTED | EVER_RETRANSMITTED, 0);
        let s = &mut self.segments[i];
        s.sent_at = now;
        s.transmissions = s.transmissions.saturating_add(1);
        self.high_rxt = self.high_rxt.max(s.end());
        *s
    }

    /// As [`Scoreboard::retransmit`] for a rescue (RFC 6675 5 step C.1 rule 4): HighRxt stays.
    pub fn rescue(&mut self, i: usize, now: Instant) -> Sent {
        let high_rxt = self.high_rxt;
        let sent = self.retransmit(i, now);
        self.high_rxt = high_rxt;
        sent
    }
}

#[cfg(test)]
mod tests;
