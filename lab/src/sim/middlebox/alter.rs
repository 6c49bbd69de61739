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

use anabranch_stack::segment::{Flags, SackBlocks, Segment};

use super::super::packet::Packet;
use super::{FlowId, Scope, flow_of};

/// One place where the length changes.
#[derive(Clone, Copy, Debug)]
struct Change {
    /// Sequence number of the segment, as sent, from the initial one on.
    at: u32,
    grow: i32,
}

/// One direction of a flow.
#[derive(Clone, Debug, Default)]
struct Shift {
    initial: Option<u32>,
    /// In order of `at`.
    changes: Vec<Change>,
}

impl Shift {
    /// Where `seq`, as sent, is after the box; and whether the segment there is one that is changed.
    fn forward(&self, seq: u32) -> (u32, Option<i32>) {
        let at = seq.wrapping_sub(self.initial.unwrap_or(seq));
        let before = self.changes.iter().take_while(|c| c.at < at);
        let moved = before.fold(seq, |seq, c| seq.wrapping_add_signed(c.grow));
        (moved, self.changes.iter().find(|c| c.at == at).map(|c| c.grow))
    }

    /// What of the numbers as sent is below `seq` after the box.
    fn backward(&self, seq: u32) -> u32 {
        let Some(initial) = self.initial else { return seq };
        let mut at = seq.wrapping_sub(initial);
        for c in &self.changes {
            if at <= c.at {
                break;
            }
            // Put-in octets come first: as long as not all of them are there, nothing of the segment is.
            at = at.saturating_add_signed(-c.grow).max(c.at);
        }
        initial.wrapping_add(at)
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
        let shifts = self.flows.entry(flow_of(packet)).or_default();
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
        if scope.covers(now, ab) && roomy && places(self.every, payload.offset, payload.len).next().is_some() {
            let at = segment.seq.wrapping_sub(initial);
            let i = own.changes.partition_point(|c| c.at < at);
            // What has passed unchanged stays so: only the newest segment can still be changed.
            let newest = i == own.changes.len();
            if newest {
                own.changes.push(Change { at, grow: self.grow });
            }
        }
        let (seq, change) = own.forward(segment.seq);
        let displaced = payload.len > 0 && (seq != segment.seq || change.is_some());
        packet.edit(|s| {
            s.seq = seq;
            if let (Some(grow), true) = (change, s.payload.len > 0) {
                displace(s, grow);
            }
            if displaced && s.payload.sum == 0 {
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
            packet.altered += 1;
        }
    }
}

/// Where in a payload the multiples of `every` are.
fn places(every: u64, offset: u64, len: u32) -> impl Iterator<Item = u64> {
    let first = offset.checked_next_multiple_of(every).unwrap_or(u64::MAX);
    (0..).map(move |k| first.saturating_add(every.saturating_mul(k)) - offset).take_while(move |at| *at < len.into())
}

/// One's-complement addition (RFC 1071).
pub(super) fn add(a: u16, b: u16) -> u16 {
    let (sum, carry) = a.overflowing_add(b);
    sum + u16::from(carry)
}

fn displace(segment: &mut Segment, grow: i32) {
    let payload = &mut segment.payload;
    payload.offset = payload.offset.wrapping_add_signed(-i64::from(grow));
    payload.len = payload.len.wrapping_add_signed(grow);
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_stack::event::SendKind;
    use anabranch_stack::segment::Payload;

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
}
