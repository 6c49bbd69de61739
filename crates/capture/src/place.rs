//! One place where a subflow was captured: how soon each side answers there.
//!
//! The time from a segment to its acknowledgement is shortest where the capture was taken at the host that acknowledges. A sample
//! counts only if it is clear which transmission was answered (Karn's algorithm, RFC 6298 3): the segment passed once or, of a SYN,
//! the answer echoes the timestamp of one copy (RFC 7323 3.2).

use anabranch_stack::segment::Flags;

use anabranch_pcap::packet::{Packet, Tap};

/// Copies of a SYN that are told apart.
const COPIES: usize = 8;

/// A place.
#[derive(Clone, Debug)]
pub struct Place {
    /// File and interface.
    pub tap: Tap,
    /// Another file or interface at the same place, and what it shows.
    pub part: Option<(Tap, Part)>,
    /// By side: `tap` has shown packets that it sent.
    pub shown: [bool; 2],
    /// By side: the smallest time, in nanoseconds, from a segment towards it to its acknowledgement. An upper bound: the acknowledgement
    /// may have waited for data to go with.
    pub gap: [Option<u64>; 2],
    /// By side: its SYN/ACK was timed, which does not wait.
    pub shaken: [bool; 2],
    /// By side: the SYN sent to it, and copies of that; it is answered when this is empty again.
    syns: [Syn; 2],
    /// By side: a sequence number it has to acknowledge, and since when.
    pending: [Option<(u32, u64)>; 2],
    /// By side: the highest sequence number sent to it or acknowledged by it.
    top: [Option<u32>; 2],
    /// By side: a timestamp it has to echo, and since when. Then the latest timestamp sent to it.
    echo: [Option<(u32, u64)>; 2],
    latest: [Option<u32>; 2],
}

/// What the second file or interface of a place shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The other direction: what `tap` shows was sent by one side, what this one shows by the other.
    Direction,
    /// The packets before those of `tap`, which goes on where this one ended.
    Before,
}

/// A SYN that is not answered yet.
#[derive(Clone, Debug, Default)]
struct Syn {
    /// The number that acknowledges it.
    end: u32,
    /// When each copy passed, and its timestamp.
    copies: Vec<(u64, Option<u32>)>,
}

impl Syn {
    /// When the copy passed that was answered at `now` with the timestamp echo `echo`; `None` if that is not clear.
    fn answered(&self, now: u64, echo: Option<u32>) -> Option<u64> {
        let mut before = self.copies.iter().filter(|(at, _)| *at <= now);
        match (before.clone().count(), echo) {
            (1, _) => before.next().map(|(at, _)| *at),
            (_, Some(echo)) => {
                let mut same = before.filter(|(_, stamp)| *stamp == Some(echo));
                same.next().filter(|_| same.next().is_none()).map(|(at, _)| *at)
            }
            _ => None,
        }
    }
}

fn is_after(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

impl Place {
    /// The place `tap`.
    pub fn new(tap: Tap) -> Self {
        Self {
            tap,
            part: None,
            shown: [false; 2],
            gap: [None; 2],
            shaken: [false; 2],
            syns: [Syn::default(), Syn::default()],
            pending: [None; 2],
            top: [None; 2],
            echo: [None; 2],
            latest: [None; 2],
        }
    }

    /// Returns true if `tap` is one of its files and interfaces.
    #[inline]
    pub fn has(&self, tap: Tap) -> bool {
        self.tap == tap || self.part.is_some_and(|(part, _)| part == tap)
    }

    /// Returns true if `file` is one of its files.
    pub fn is_in(&self, file: u32) -> bool {
        self.tap.file == file || self.part.is_some_and(|(part, _)| part.file == file)
    }

    /// The first packet from `tap` was sent by `side`.
    pub fn begin(&mut self, tap: Tap, side: usize) {
        (self.tap, self.shown) = (tap, [false; 2]);
        self.shown[side] = true;
    }

    /// Notes that `tap` shows a packet that `side` sent. Returns false if that proves the two parts to be two places: both show packets of one
    /// side, or the part before shows more.
    #[inline]
    pub fn note_side(&mut self, tap: Tap, side: usize) -> bool {
        if self.tap == tap {
            self.shown[side] = true;
        }
        match self.part {
            None => true,
            Some((_, Part::Before)) => self.tap == tap,
            Some((_, Part::Direction)) if self.tap == tap => self.shown != [true; 2],
            Some((_, Part::Direction)) => !self.shown[side],
        }
    }

    /// Measures by a packet that `s` sent; returns whether one of the gaps is smaller now.
    #[inline]
    pub fn measure(&mut self, s: usize, p: &Packet<'_>) -> bool {
        let mut closer = self.time_echo(s, p);
        if p.flags.has(Flags::ACK) {
            closer |= self.time_answer(s, p);
        }
        if p.seq_len() > 0 {
            self.expect(1 - s, p);
        }
        closer
    }

    fn time_echo(&mut self, s: usize, p: &Packet<'_>) -> bool {
        let Some(ts) = p.timestamps else { return false };
        let mut closer = false;
        let echoed = |val: u32| p.flags.has(Flags::ACK) && (ts.ecr.wrapping_sub(val) as i32) >= 0;
        if let Some((_, at)) = self.echo[s].filter(|(val, _)| echoed(*val)) {
            self.echo[s] = None;
            // The echo is this timestamp or a later one, so a segment with it has arrived at that side.
            closer = self.note(s, p.time.saturating_sub(at));
        }
        // Only the first segment of each tick of the sender's clock counts: for a later one, the echo of the first would
        // come too early.
        let to = 1 - s;
        if self.latest[to].is_none_or(|latest| is_after(ts.val, latest)) {
            let first = self.latest[to].replace(ts.val).is_none();
            if !first {
                self.echo[to].get_or_insert((ts.val, p.time));
            }
        }
        closer
    }

    fn time_answer(&mut self, s: usize, p: &Packet<'_>) -> bool {
        let mut closer = false;
        if !self.syns[s].copies.is_empty() && !is_after(self.syns[s].end, p.ack) {
            let syn = std::mem::take(&mut self.syns[s]);
            if let Some(at) = syn.answered(p.time, p.timestamps.map(|ts| ts.ecr)) {
                // The third ACK may be missing from the capture: other segments do not come at once.
                self.shaken[s] |= p.flags.has(Flags::SYN);
                closer |= self.note(s, p.time - at);
            }
        }
        if let Some((_, at)) = self.pending[s].take_if(|(end, _)| !is_after(*end, p.ack)) {
            closer |= self.note(s, p.time.saturating_sub(at));
        }
        self.raise(s, p.ack);
        closer
    }

    fn note(&mut self, s: usize, gap: u64) -> bool {
        let closer = self.gap[s].is_none_or(|g| gap < g);
        if closer {
            self.gap[s] = Some(gap);
        }
        closer
    }

    fn raise(&mut self, s: usize, seq: u32) {
        if self.top[s].is_none_or(|top| is_after(seq, top)) {
            self.top[s] = Some(seq);
        }
    }

    /// The side `to` has to acknowledge `p`.
    fn expect(&mut self, to: usize, p: &Packet<'_>) {
        let end = p.seq.wrapping_add(p.seq_len());
        if p.flags.has(Flags::SYN) {
            let syn = &mut self.syns[to];
            // An answer to a SYN acknowledges it alone, or the data in it, too (RFC 7413).
            let alone = p.seq.wrapping_add(1);
            let answered = syn.copies.is_empty() && self.top[to].is_some_and(|top| !is_after(alone, top));
            if !answered {
                if syn.copies.is_empty() {
                    syn.end = alone;
                }
                if syn.copies.len() < COPIES {
                    syn.copies.push((p.time, p.timestamps.map(|ts| ts.val)));
                }
            }
            return;
        }
        // Octets sent before, or acknowledged before they were recorded, tell nothing.
        if self.top[to].is_none_or(|top| is_after(end, top)) {
            self.pending[to].get_or_insert((end, p.time));
        } else {
            // The acknowledgement of a segment sent twice is ambiguous.
            self.pending[to].take_if(|(before, _)| *before == end);
        }
        self.raise(to, end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_pcap::packet::parse;

    /// A segment without data: flags, sequence number, acknowledgement.
    fn segment(flags: u8, seq: u8, ack: u8) -> [u8; 40] {
        [
            0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, // IPv4
            0, 80, 1, 0, 0, 0, 0, seq, 0, 0, 0, ack, 0x50, flags, 2, 0, 0, 0, 0, 0, // TCP
        ]
    }

    /// Side 0 sends a SYN at 1000. An acknowledgement of what was before it is no answer; the
    /// SYN/ACK at 3000 is.
    #[test]
    fn a_syn_is_answered_by_what_acknowledges_it() {
        let mut place = Place::new(Tap::default());
        let mut measure = |side: usize, at: u64, octets: [u8; 40]| {
            place.measure(side, &parse(&octets, 40, at, Tap::default()).expect("a packet of TCP"));
            place.gap
        };
        assert_eq!(measure(0, 1000, segment(0x02, 99, 0)), [None, None]);
        assert_eq!(measure(1, 1500, segment(0x10, 7, 99)), [None, None]);
        assert_eq!(measure(1, 3000, segment(0x12, 7, 100)), [None, Some(2000)]);
    }
}
