//! Payloads that are not left alone: an application-level gateway.
//!
//! A gateway looks for addresses in what applications say (FTP, SIP) and puts others in their place; the TCP checksum is
//! made right again, so only the DSS checksum can tell (RFC 8684 3.3.1). A typed payload has no octets, so the box is told
//! where to find something: at every stream offset that is a multiple of `every`. The same octets are changed in every
//! copy, whichever way it is cut.
//!
//! Of the same length, one octet there gets one more. That is the difference in [`Payload::sum`]; who counts what was delivered
//! altered finds the number of such octets in the packet.
//!
//! Of another length, `grow` octets are put in front of the segment that has such an offset, or taken from its beginning. From
//! there on the sequence numbers of that direction are shifted, and the acknowledgements of the other shifted back, as
//! gateways do. The mappings of MPTCP stay where they were: the octets are no longer where they say. To say so, a
//! displaced payload has the offset of its octets (put-in octets count as those before) and a sum that is not zero.
//!
//! [`Payload::sum`]: anabranch_stack::segment::Payload

use std::collections::BTreeMap;

use anabranch_stack::segment::{Flags, Payload, SackBlocks, Segment};

use super::super::packet::Packet;
use super::{FlowId, Scope, flow_of};

/// One direction of a flow. Places are octets after the initial sequence number; 64 bits of them, so that none comes twice.
#[derive(Clone, Debug, Default)]
struct Shift {
    grow: i64,
    initial: Option<u32>,
    /// The newest place seen: others are near it.
    newest: u64,
    /// Where the length changes, as sent; in order.
    changes: Vec<u64>,
}

impl Shift {
    /// The place of `seq` that is nearest to place `near`.
    fn place(initial: u32, seq: u32, near: u64) -> u64 {
        let ahead = seq.wrapping_sub(initial).wrapping_sub(near as u32) as i32;
        near.saturating_add_signed(ahead.into())
    }

    /// How far `changes` changes move what follows.
    fn moved_by(&self, changes: usize) -> i64 {
        changes as i64 * self.grow
    }

    /// Where `seq`, as sent, is after the box; and whether the segment there is one that is changed.
    fn forward(&self, seq: u32) -> (u32, bool) {
        let Some(initial) = self.initial else { return (seq, false) };
        let at = Self::place(initial, seq, self.newest);
        let before = self.changes.partition_point(|c| *c < at);
        let moved = seq.wrapping_add(self.moved_by(before) as u32);
        (moved, self.changes.get(before) == Some(&at))
    }

    /// What of the numbers as sent is below `seq` after the box.
    fn backward(&self, seq: u32) -> u32 {
        let Some(initial) = self.initial else { return seq };
        let newest = self.newest.saturating_add_signed(self.moved_by(self.changes.len()));
        let at = Self::place(initial, seq, newest) as i64;
        // Each change is where it was sent, and as far from there as those before it have moved it. Segments are longer than
        // what is taken from them, so the order stays.
        let (mut low, mut high) = (0, self.changes.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let there = self.changes[middle] as i64 + self.moved_by(middle);
            if there < at { low = middle + 1 } else { high = middle }
        }
        let Some(last) = low.checked_sub(1) else { return seq };
        // Put-in octets come first: as long as not all of them are there, nothing of the segment is.
        let sent = (at - self.moved_by(low)).max(self.changes[last] as i64);
        initial.wrapping_add(sent as u32)
    }
}

/// The box.
#[derive(Debug)]
pub struct Alter {
    every: u64,
    grow: i32,
    /// By side: the client's numbers, the server's.
    flows: BTreeMap<FlowId, [Shift; 2]>,
}

impl Alter {
    /// A box that finds something at every `every`-th octet, and makes it `grow` octets longer there.
    pub fn new(every: u64, grow: i32) -> Self {
        Self { every, grow, flows: BTreeMap::new() }
    }

    /// Changes a packet that goes from a to b if `ab`.
    pub fn pass(&mut self, scope: Scope, now: u64, ab: bool, packet: &mut Packet) {
        if self.grow == 0 {
            if scope.covers(now, ab) {
                self.alter(packet);
            }
            return;
        }
        let shift = || Shift { grow: self.grow.into(), ..Shift::default() };
        let shifts = self.flows.entry(flow_of(packet)).or_insert_with(|| [shift(), shift()]);
        let side = usize::from(!packet.up);
        // Back to the numbers that the receiver of this acknowledgement knows.
        let segment = &mut packet.segment;
        if segment.flags.has(Flags::ACK) {
            segment.ack = shifts[1 - side].backward(segment.ack);
            let mut sack = SackBlocks::default();
            for (from, to) in segment.options.sack.as_slice() {
                sack.push(shifts[1 - side].backward(*from), shifts[1 - side].backward(*to));
            }
            segment.options.sack = sack;
        }
        let own = &mut shifts[side];
        if own.initial.is_none() && segment.flags.has(Flags::SYN) {
            own.initial = Some(segment.seq);
        }
        let Some(initial) = own.initial else { return };
        let payload = segment.payload;
        // Something must be left of the segment.
        let roomy = i64::from(payload.len) + i64::from(self.grow) > 0;
        let at = Shift::place(initial, segment.seq, own.newest);
        // What has passed unchanged stays so: only the newest segment can still be changed. The data of a SYN may not be taken.
        let newest = at >= own.newest && own.changes.last() != Some(&at) && !segment.flags.has(Flags::SYN);
        own.newest = own.newest.max(at);
        if newest && scope.covers(now, ab) && roomy && places(self.every, payload.offset, payload.len).next().is_some()
        {
            own.changes.push(at);
        }
        let (seq, changed) = own.forward(segment.seq);
        let displaced = payload.len > 0 && (seq != segment.seq || changed);
        let grow = self.grow;
        packet.edit(|s| {
            s.seq = seq;
            if changed && s.payload.len > 0 {
                displace(s, grow);
            }
            if displaced && s.payload.sum == 0 && s.payload.len > 0 {
                s.payload.sum = 1;
            }
        });
        packet.displaced |= displaced;
    }

    /// One more for each octet found.
    fn alter(&self, packet: &mut Packet) {
        let payload = &mut packet.segment.payload;
        for place in places(self.every, payload.offset, payload.len) {
            let word = if place % 2 == 0 { 0x0100 } else { 0x0001 };
            payload.sum = add(payload.sum, word);
            packet.altered = packet.altered.saturating_add(1);
        }
    }
}

/// Where in a payload the multiples of `every` are. Octets that a box has put in before the first have offsets below zero.
fn places(every: u64, offset: u64, len: u32) -> impl Iterator<Item = u64> {
    let first = (-i128::from(offset as i64)).rem_euclid(every.into()) as u64;
    (first..len.into()).step_by(usize::try_from(every).unwrap_or(usize::MAX))
}

/// One's-complement addition (RFC 1071).
pub(super) fn add(a: u16, b: u16) -> u16 {
    let (sum, carry) = a.overflowing_add(b);
    sum + u16::from(carry)
}

/// Puts `grow` octets in, or takes them. What is sent again may be shorter than what was sent first, over a path that turned out to pass less
/// (RFC 1191): nothing is left of it.
fn displace(segment: &mut Segment, grow: i32) {
    let payload = &mut segment.payload;
    if i64::from(payload.len) + i64::from(grow) <= 0 {
        *payload = Payload::new(payload.offset + u64::from(payload.len), 0);
        return;
    }
    payload.offset = payload.offset.wrapping_add_signed(-i64::from(grow));
    payload.len = payload.len.wrapping_add_signed(grow);
}

#[cfg(test)]
mod tests {
    use anabranch_stack::event::SendKind;

    use super::*;

    const ON: Scope = Scope { up: true, down: true, at: 0, until: u64::MAX };

    fn packet(up: bool, flags: Flags, seq: u32, ack: u32, offset: u64, len: u32) -> Packet {
        let segment = Segment { seq, ack, flags, payload: Payload::new(offset, len), ..Segment::default() };
        Packet::new(segment, 0, 0, up, SendKind::New, 1)
    }

    /// Octets 0 and 1000 of the stream, in a payload of 1500 from 0; octet 2000 in the next one, at an even place.
    #[test]
    fn octets_at_multiples_are_changed_and_counted() {
        let mut b = Alter::new(999, 0);
        for (offset, len, altered, sum) in [(0, 1500, 2, 0x0101), (1500, 500, 1, 0x0100), (2000, 900, 0, 0)] {
            let mut p = packet(true, Flags::ACK, 1, 1, offset, len);
            b.pass(ON, 0, true, &mut p);
            assert_eq!((p.altered, p.segment.payload.sum), (altered, sum));
        }
    }

    /// Four octets put in before the stream: they are at -4 to -1, and octet 0 is the fifth.
    #[test]
    fn octets_put_in_before_the_first_are_looked_through_once() {
        let at = |every, offset, len| places(every, offset, len).collect::<Vec<_>>();
        let before = 0_u64.wrapping_sub(4);
        assert_eq!(at(1000, before, 2010), [4, 1004, 2004]);
        assert_eq!(at(2, before, 5), [0, 2, 4]);
        assert_eq!(at(1000, before, 4), [0; 0]);
        assert_eq!(at(1_000_000_000_000_000, 7, 1400), [0; 0]);
        assert_eq!(at(7, 6, 9), [1, 8]);
    }

    /// SYN 100, then segments of 1000 octets at 101, 1101, 2101; each multiple of 1500 makes its segment four longer: those
    /// at 101 (octet 0) and 1101 (octet 1500). A retransmission is changed as the first copy was.
    #[test]
    fn numbers_are_shifted_after_each_change_and_back_again() {
        for grow in [4, -4] {
            let moved = |n: u32, times: i32| n.wrapping_add_signed(times * grow);
            let mut b = Alter::new(1500, grow);
            b.pass(ON, 0, true, &mut packet(true, Flags::SYN, 100, 0, 0, 0));
            let mut pass = |seq, offset| {
                let mut p = packet(true, Flags::ACK, seq, 1, offset, 1000);
                b.pass(ON, 0, true, &mut p);
                (p.segment.seq, p.segment.payload.offset, p.segment.payload.len, p.displaced)
            };
            let len = 1000_u32.wrapping_add_signed(grow);
            let from = |offset: u64| offset.wrapping_add_signed(-i64::from(grow));
            assert_eq!(pass(101, 0), (101, from(0), len, true));
            assert_eq!(pass(1101, 1000), (moved(1101, 1), from(1000), len, true));
            assert_eq!(pass(2101, 2000), (moved(2101, 2), 2000, 1000, true));
            assert_eq!(pass(101, 0), (101, from(0), len, true));
            // Acknowledgements: before the first change, in the middle of what was put in, after each segment.
            let mut back = |ack| {
                let mut p = packet(false, Flags::ACK, 7, ack, 0, 0);
                b.pass(ON, 0, false, &mut p);
                p.segment.ack
            };
            assert_eq!(back(101), 101);
            if grow > 0 {
                assert_eq!((back(103), back(105), back(106)), (101, 101, 102));
            } else {
                assert_eq!((back(102), back(101 + len)), (106, 1101));
            }
            assert_eq!(back(moved(1101, 1)), 1101);
            assert_eq!(back(moved(2101, 2)), 2101);
            assert_eq!(back(moved(3101, 2)), 3101);
        }
    }

    /// RFC 1191: the first copy had 1000 octets and did not fit; of the pieces that go in its place the first, where 100 octets are taken, has
    /// fewer than that.
    #[test]
    fn of_a_piece_shorter_than_what_is_taken_nothing_is_left() {
        let mut b = Alter::new(1_000_000, -100);
        b.pass(ON, 0, true, &mut packet(true, Flags::SYN, 100, 0, 0, 0));
        let pass = |len| {
            let mut p = packet(true, Flags::ACK, 101, 1, 0, len);
            b.pass(ON, 0, true, &mut p);
            (p.segment.seq, p.segment.payload.len, p.segment.payload.sum)
        };
        assert_eq!([1000, 101, 100, 60].map(pass), [(101, 900, 1), (101, 1, 1), (101, 0, 0), (101, 0, 0)]);
    }

    /// 6 GB in segments of 1000 octets, each made four longer: sequence numbers come round, places do not.
    #[test]
    fn numbers_that_come_round_are_shifted_like_the_first() {
        let mut b = Alter::new(1_000_000, 4);
        b.pass(ON, 0, true, &mut packet(true, Flags::SYN, 99, 0, 0, 0));
        for n in 0..6_000_000_u64 {
            let seq = 100_u32.wrapping_add((n * 1000) as u32);
            let changes = (n / 1000) as u32;
            let mut p = packet(true, Flags::ACK, seq, 1, n * 1000, 1000);
            b.pass(ON, 0, true, &mut p);
            let (len, moved) = (p.segment.payload.len, seq.wrapping_add(4 * (changes + u32::from(n % 1000 != 0))));
            assert_eq!((p.segment.seq, len), (moved, if n % 1000 == 0 { 1004 } else { 1000 }), "segment {n}");
            if n % 997 == 0 {
                let mut ack = packet(false, Flags::ACK, 7, moved.wrapping_add(len), 0, 0);
                b.pass(ON, 0, false, &mut ack);
                assert_eq!(ack.segment.ack, seq.wrapping_add(1000), "after segment {n}");
            }
        }
    }
}
