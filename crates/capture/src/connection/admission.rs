//! Which packets can belong to a subflow: of several SYN/ACKs the one that is acknowledged, and numbers that its windows allow.

use anabranch_pcap::packet::{Kept, Packet};
use anabranch_stack::segment::Flags;

use super::super::subflow::{Half, Subflow};
use super::Connection;

/// SYN/ACKs that wait at most.
const ANSWERS: usize = 16;

/// Octets of data in a SYN at most.
const SYN_DATA: i32 = 1460;

/// Least and most octets that a window may have whose scale is not known.
const UNKNOWN: (u64, u64) = (1 << 16, 1 << 24);

/// How a packet is taken.
#[derive(Clone, Debug)]
pub enum Admission {
    Whole,
    /// Its acknowledgement is of octets that were not sent (RFC 9293 3.10.7.4).
    WithoutAck,
    /// It follows on this one, which seemed to be a stray: the capture lacks what came before them.
    Following(Kept),
    /// It belongs to something else.
    Stray,
}

impl Connection {
    /// Keeps the SYN/ACK `p` of subflow `i` until a later packet tells whether it counts; returns whether it is kept, or a stray. Several
    /// servers may answer one SYN, or one server twice with different numbers (SYN cookies): the one counts that is acknowledged.
    pub(super) fn keeps_answer(&mut self, i: usize, p: &Packet<'_>) -> bool {
        let sub = &mut self.subflows[i];
        let s = sub.side(p);
        match sub.halves[s].mapper.iss {
            Some(iss) if iss.wire() == p.seq => return false,
            Some(_) => sub.strays += 1,
            None if sub.answers.len() < ANSWERS => sub.answers.push(p.keep()),
            None => sub.strays += 1,
        }
        true
    }

    /// Works in the SYN/ACK that the packet `p` of subflow `i` follows on, with its copies; without `p`, the latest one.
    pub(super) fn choose_answer(&mut self, i: usize, p: Option<&Packet<'_>>) {
        let sub = &mut self.subflows[i];
        let answers = std::mem::take(&mut sub.answers);
        let numbers = || answers.iter().filter_map(Kept::packet).map(|answer| answer.seq);
        let following = p.filter(|p| p.flags.has(Flags::ACK)).and_then(|p| {
            let answered = answers.first().and_then(Kept::packet).is_some_and(|answer| answer.src == p.src);
            let at = if answered { p.seq } else { p.ack };
            let behind = |seq: u32| at.wrapping_sub(seq).wrapping_sub(1);
            numbers().min_by_key(|seq| behind(*seq)).filter(|seq| u64::from(behind(*seq)) <= UNKNOWN.1)
        });
        let Some(chosen) = following.or_else(|| numbers().next_back()) else { return };
        for answer in answers.iter().filter_map(Kept::packet) {
            if answer.seq == chosen {
                self.work_in(i, &answer);
            } else {
                self.subflows[i].strays += 1;
            }
        }
    }
}

impl Subflow {
    /// How much of `p`, which `s` sent, can belong to this subflow.
    #[inline]
    pub fn admit(&mut self, s: usize, p: &Packet<'_>) -> Admission {
        let seq = self.halves[s].ahead(p.seq);
        let ack = if p.flags.has(Flags::ACK) { self.halves[1 - s].ahead(p.ack) } else { 0 };
        let unanswered = self.syn[0] != self.syn[1];
        if seq <= 0 && ack <= 0 && !unanswered && !p.flags.has(Flags::RST) {
            return Admission::Whole;
        }
        self.admit_ahead(s, p, (seq, ack))
    }

    /// The numbers of `p` are so far ahead of those seen before, or it is a reset.
    fn admit_ahead(&mut self, s: usize, p: &Packet<'_>, (seq, ack): (i32, i32)) -> Admission {
        if p.flags.has(Flags::SYN) {
            return Admission::Whole;
        }
        let beyond = |ahead: i32, room: Option<u64>| {
            ahead > 0 && room.is_some_and(|room| u64::from(ahead.unsigned_abs()) > room)
        };
        let (mut to, from) = (self.room(1 - s), self.room(s));
        if self.offered[1 - s].1 == 0 {
            // RFC 7323 2.2: the window of a SYN is not scaled, and soon a larger one is known.
            to = to.map(|room| room.max(UNKNOWN.1));
        }
        if (p.flags.has(Flags::RST) && !self.admits_reset(s, p, to)) || self.is_before_answer(s, p) {
            self.strays += 1;
            return Admission::Stray;
        }
        if beyond(seq, to) {
            let half = &mut self.halves[s];
            let before = half.far.replace(p.keep());
            if before.as_ref().and_then(Kept::packet).is_some_and(|before| follows(before.seq, p.seq, to)) {
                half.far = None;
                self.strays -= 1;
                return before.map_or(Admission::Whole, Admission::Following);
            }
            self.strays += 1;
            return Admission::Stray;
        }
        if beyond(ack, from) {
            let before = self.halves[1 - s].far_ack.replace(p.ack);
            if !before.is_some_and(|before| follows(before, p.ack, from)) {
                self.strays += 1;
                return Admission::WithoutAck;
            }
        }
        Admission::Whole
    }

    /// RFC 5961 3.2: a reset counts only within the window, which has `room` octets.
    fn admits_reset(&self, s: usize, p: &Packet<'_>, room: Option<u64>) -> bool {
        let half = &self.halves[s];
        // After a FIN a host may answer what was sent before that arrived.
        let least = half.sender.una().map(|una| una.wire().wrapping_sub(half.fin.is_some().into()));
        let before = least.is_some_and(|least| (p.seq.wrapping_sub(least) as i32) < 0);
        !before && half.ahead(p.seq).max(0).unsigned_abs() as u64 <= room.unwrap_or(0)
    }

    /// The SYN is not answered yet, and `p` acknowledges something else (RFC 9293 3.10.7.3): it belongs to an earlier connection.
    fn is_before_answer(&self, s: usize, p: &Packet<'_>) -> bool {
        let half = &self.halves[1 - s];
        let unanswered = self.syn[1 - s] && !self.syn[s] && self.halves[s].near().is_none();
        unanswered
            && half.sender.segments == 0
            && p.flags.has(Flags::ACK)
            && !(-SYN_DATA..=0).contains(&half.ahead(p.ack))
    }

    /// The SYN `p` opens a new connection: it is neither that of this one again nor the answer to that (RFC 9293 3.5: simultaneous open).
    pub fn is_reopened_by(&mut self, p: &Packet<'_>) -> bool {
        let s = self.side(p);
        let Some(iss) = self.halves[s].mapper.iss else {
            // Its answer was recorded before, or the other side's SYN has none yet.
            let answered =
                self.answers.iter().filter_map(Kept::packet).any(|answer| answer.ack == p.seq.wrapping_add(1));
            let simultaneous = self.is_half_open() && self.syn[1 - s] && self.reset.is_none();
            return !(answered || simultaneous || self.halves[s].ahead(p.seq) == -1);
        };
        if iss.wire() != p.seq {
            return true;
        }
        if self.is_half_open() && self.reset.take().is_some() {
            // It was refused, and its sender tries again.
            self.halves.iter_mut().for_each(|half| half.ended = false);
            return false;
        }
        // The same number by chance, or chosen so. At another place it may be the same packet, by a clock that is late.
        self.is_closed() && self.places.iter().any(|place| place.has(p.tap))
    }

    /// The numbers of `p`, which has data or is a SYN/ACK, are those of another connection.
    pub fn excludes(&self, p: &Packet<'_>) -> bool {
        let s = self.side(p);
        if p.flags.has(Flags::SYN) {
            return self.halves[s].mapper.iss.is_some_and(|iss| iss.wire() != p.seq);
        }
        let far = |half: &Half, number: u32| u64::from(half.ahead(number).unsigned_abs()) > UNKNOWN.1;
        let data = p.len > 1 && !p.flags.has(Flags::RST);
        data && far(&self.halves[s], p.seq) && far(&self.halves[1 - s], p.ack)
    }

    /// How many octets beyond those that it has acknowledged may be sent to `s`; `None` if nothing of it was seen.
    fn room(&self, s: usize) -> Option<u64> {
        let (in_syn, later) = self.offered[s];
        let known = self.syn == [true; 2] && self.cut_syn == [false; 2];
        let window = match (known, self.scales) {
            (true, [Some(_), Some(_)]) => u64::from(later) << self.scales[s].unwrap_or(0),
            (true, _) => later.into(),
            (false, _) if later > 0 => (u64::from(later) << 14).clamp(UNKNOWN.0, UNKNOWN.1),
            (false, _) => 0,
        };
        let room = window.max(in_syn.into());
        // A probe of a closed window has one octet, and a FIN one number.
        (room > 0).then_some(room + 2)
    }
}

/// `number` is at most `room` octets behind `before`.
fn follows(before: u32, number: u32, room: Option<u64>) -> bool {
    let step = number.wrapping_sub(before);
    step > 0 && room.is_some_and(|room| u64::from(step) <= room)
}

#[cfg(test)]
mod tests {
    use super::follows;

    #[test]
    fn what_follows_is_behind_and_within_the_room() {
        assert!(follows(5, 6, Some(1)));
        assert!(follows(u32::MAX, 1, Some(2)));
        assert!(!follows(5, 5, Some(10)), "the same number again");
        assert!(!follows(5, 7, Some(1)), "beyond the room");
        assert!(!follows(6, 5, Some(10)), "before");
        assert!(!follows(5, 6, None), "nothing is known");
    }
}
