//! Packets with a wrong checksum that the host may have merged: whether they were damaged on the way, later packets tell.
//!
//! Until then all packets of the connection wait, so that the account of each is made in order.

use std::collections::VecDeque;

use anabranch_pcap::packet::{Kept, Packet};
use anabranch_stack::segment::Flags;

use super::super::subflow::Integrity;
use super::Connection;

/// How long a packet is in doubt, in nanoseconds.
const LONGEST: u64 = 1_000_000_000;
/// How many packets wait at most; then how many octets.
const MOST: usize = 512;
const MOST_OCTETS: usize = 1 << 20;

/// Packets that wait, with the numbers of their subflows. The first one is in doubt.
#[derive(Clone, Debug, Default)]
pub struct Doubts {
    kept: VecDeque<(usize, Kept)>,
    octets: usize,
    /// How many of them were looked at.
    seen: usize,
}

impl Doubts {
    fn push(&mut self, i: usize, p: &Packet<'_>) {
        let kept = p.keep();
        self.octets += kept.size();
        self.kept.push_back((i, kept));
    }

    fn put_back(&mut self, i: usize, kept: Kept) {
        self.octets += kept.size();
        self.kept.push_front((i, kept));
    }

    fn pop(&mut self) -> Option<(usize, Kept)> {
        let (i, kept) = self.kept.pop_front()?;
        self.octets -= kept.size();
        self.seen = 0;
        Some((i, kept))
    }

    /// Whether the first packet was damaged on the way; `None` while that cannot be told.
    fn verdict(&mut self) -> Option<bool> {
        let (i, first) = self.kept.front()?;
        let first = first.packet()?;
        let mut last = first.time;
        for (_, kept) in self.kept.iter().skip(self.seen.max(1)).filter(|(j, _)| j == i) {
            let Some(p) = kept.packet() else { continue };
            last = p.time;
            let verdict = tells(&p, &first);
            if verdict.is_some() {
                return verdict;
            }
        }
        self.seen = self.kept.len();
        let late = last.saturating_sub(first.time) > LONGEST;
        (late || self.seen > MOST || self.octets > MOST_OCTETS).then_some(true)
    }
}

/// What the later packet `p` of the same subflow says of `first`: it was damaged, or not.
fn tells(p: &Packet<'_>, first: &Packet<'_>) -> Option<bool> {
    let end = first.seq.wrapping_add(first.seq_len());
    let reaches = |a: u32, b: u32| (a.wrapping_sub(b) as i32) >= 0;
    if p.src == first.src {
        let overlaps = p.seq_len() > 0 && !reaches(p.seq, end) && !reaches(first.seq, p.seq.wrapping_add(p.seq_len()));
        return (overlaps && p.tap == first.tap).then_some(true);
    }
    if !p.flags.has(Flags::ACK) {
        return None;
    }
    let holds = |&(from, to): &(u32, u32)| reaches(first.seq, from) && reaches(to, end);
    if reaches(p.ack, end) || p.sack.as_slice().iter().any(holds) {
        return Some(false);
    }
    // RFC 2018 4: what came behind it has arrived, and it has not.
    let behind = |&(from, _): &(u32, u32)| reaches(from, end);
    p.sack.as_slice().iter().any(behind).then_some(true)
}

impl Connection {
    /// Whether packet `p` of subflow `i` was damaged on the way. (A receiver drops such a packet, so its data, acknowledgement and key count as
    /// lost.)
    pub(super) fn integrity(&mut self, i: usize, p: &Packet<'_>) -> Integrity {
        let sub = &mut self.subflows[i];
        let s = sub.side(p);
        let place = sub.place(p, s);
        let (near_sender, near_receiver) = (sub.near[s] == place, sub.near[1 - s] == place);
        if !near_receiver || (near_sender && sub.is_at(s)) {
            return Integrity::Whole;
        }
        let mss = sub.mss[1 - s];
        let integrity = sub.halves[s].integrity(p, mss);
        sub.halves[s].damaged += u64::from(integrity == Integrity::Damaged);
        integrity
    }

    /// Packet `p` of subflow `i` waits, as it is in doubt or comes after one that is.
    pub(super) fn wait(&mut self, i: usize, p: &Packet<'_>) {
        self.doubts.get_or_insert_default().push(i, p);
        self.settle_doubts(false);
        if self.doubts.is_some() {
            self.noted = None;
        }
    }

    /// Works in what waits, as far as nothing is in doubt, or `all` of it.
    pub(super) fn settle_doubts(&mut self, all: bool) {
        while let Some(doubts) = &mut self.doubts {
            let Some(damaged) = doubts.verdict().or(all.then_some(true)) else { return };
            let Some((i, kept)) = doubts.pop() else {
                self.doubts = None;
                return;
            };
            match kept.packet() {
                Some(p) if damaged => {
                    let sub = &mut self.subflows[i];
                    let s = sub.side(&p);
                    sub.halves[s].damaged += 1;
                }
                Some(p) => self.work_in(i, &p),
                None => {}
            }
            self.work_off();
        }
    }

    /// Works in what waits up to the next packet in doubt.
    fn work_off(&mut self) {
        while let Some((i, kept)) = self.doubts.as_mut().and_then(|d| d.pop()) {
            let integrity = kept.packet().map(|p| self.integrity(i, &p));
            match (integrity, kept.packet()) {
                (Some(Integrity::Doubtful), _) => {
                    return self.doubts.iter_mut().for_each(|d| d.put_back(i, kept.clone()));
                }
                (Some(Integrity::Whole), Some(p)) => self.work_in(i, &p),
                _ => {}
            }
        }
        self.doubts = None;
    }
}
