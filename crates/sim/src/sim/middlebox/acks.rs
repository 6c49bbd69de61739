//! Acknowledgements that are not what the receiver sent: divided, repeated, thinned out, or ahead of what has arrived.
//!
//! The first, second and fourth are the attacks of Savage, Cardwell, Wetherall, Anderson: "TCP Congestion Control with a Misbehaving
//! Receiver" (CCR 29(5), 1999), made by a box on the way; the third is what links with a slow way back do (RFC 3449 5.2.1).
//!
//! - *divide*: an acknowledgement of n octets becomes `count`, of n / `count` octets each. A window that grows by octets
//!   (RFC 3465, RFC 5681 3.1) grows as if it were one.
//! - *repeat*: each goes `count` times; the sender takes three for a loss (RFC 5681 3.2).
//! - *thin*: of `count` in a row of a flow, the last goes on.
//! - *optimistic*: acknowledges whatever the box has seen of the data, arrived or not, and takes SACK blocks away. What was lost
//!   is not sent again by the subflow. What is behind it on the subflow waits for ever. A DATA_ACK says what has really arrived, so that
//!   with MPTCP the data come by another path (RFC 8684 3.3.2, 3.3.6).
//!
//! What the first three act on are acknowledgements without payload, whatever options they carry.

use std::collections::BTreeMap;

use anabranch_stack::segment::{Flags, SackBlocks};

use super::super::packet::Packet;
use super::{FlowId, Passed, flow_of};
use anabranch_scenario::middlebox::Pattern;

/// What was seen of one direction of a flow.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// The last acknowledgement number.
    ack: Option<u32>,
    /// The highest sequence number after which nothing has come.
    end: Option<u32>,
    /// Acknowledgements since the last that went on.
    skipped: u32,
}

/// The box.
#[derive(Debug)]
pub struct Acks {
    how: Pattern,
    count: u32,
    flows: BTreeMap<(FlowId, bool), Seen>,
}

/// A number comes after `before`, around the end of the number space.
fn later(number: u32, before: u32) -> bool {
    number.wrapping_sub(before) as i32 > 0
}

impl Acks {
    /// A box that does it `count` times.
    pub fn new(how: Pattern, count: u32) -> Self {
        Self { how, count, flows: BTreeMap::new() }
    }

    /// A packet comes along, on which the box acts if `covers`.
    pub fn pass(&mut self, ab: bool, covers: bool, mut packet: Packet, passed: &mut Passed) {
        let id = flow_of(&packet);
        let s = packet.segment;
        let bare = s.payload.len == 0 && s.flags.has(Flags::ACK);
        let bare = bare && ![Flags::SYN, Flags::FIN, Flags::RST].iter().any(|f| s.flags.has(*f));
        let sent = self.flows.get(&(id, !ab)).and_then(|other| other.end);
        let seen = self.flows.entry((id, ab)).or_default();
        let end = s.seq.wrapping_add(s.seq_len() as u32);
        seen.end = seen.end.filter(|e| !later(end, *e)).or(Some(end));
        let before = if s.flags.has(Flags::ACK) { seen.ack.replace(s.ack).unwrap_or(s.ack) } else { s.ack };
        match self.how {
            _ if !covers => {}
            Pattern::Divide if bare && later(s.ack, before) => {
                let octets = u64::from(s.ack.wrapping_sub(before));
                for k in 1..u64::from(self.count) {
                    let part = (octets * k / u64::from(self.count)) as u32;
                    let mut piece = packet;
                    piece.segment.ack = before.wrapping_add(part);
                    passed.through.push(piece);
                }
            }
            Pattern::Repeat if bare => (1..self.count).for_each(|_| passed.through.push(packet)),
            Pattern::Thin if bare => {
                seen.skipped += 1;
                if seen.skipped < self.count {
                    passed.dropped.push(packet);
                    return;
                }
                seen.skipped = 0;
            }
            Pattern::Optimistic if s.flags.has(Flags::ACK) && !s.flags.has(Flags::SYN) && !s.flags.has(Flags::RST) => {
                packet.edit(|s| {
                    s.ack = sent.filter(|sent| later(*sent, s.ack)).unwrap_or(s.ack);
                    s.options.sack = SackBlocks::default();
                });
            }
            _ => {}
        }
        passed.through.push(packet);
    }
}

#[cfg(test)]
mod tests {
    use anabranch_stack::event::SendKind;
    use anabranch_stack::segment::{Payload, Segment};

    use super::*;

    fn ack(number: u32) -> Packet {
        let s = Segment { ack: number, flags: Flags::ACK, ..Segment::default() };
        Packet::new(s, 0, 0, false, SendKind::Control, 1)
    }

    /// The numbers that go on of acknowledgements of 1000 (the first, which says nothing new), 5000 and 5000.
    fn passed(how: Pattern, count: u32) -> (Vec<u32>, usize) {
        let mut acks = Acks::new(how, count);
        let mut passed = Passed::default();
        [1000, 5000, 5000].into_iter().for_each(|n| acks.pass(false, true, ack(n), &mut passed));
        (passed.through.iter().map(|p| p.segment.ack).collect(), passed.dropped.len())
    }

    #[test]
    fn acknowledgements_are_divided_repeated_and_thinned_out() {
        assert_eq!(passed(Pattern::Divide, 4), (vec![1000, 2000, 3000, 4000, 5000, 5000], 0));
        assert_eq!(passed(Pattern::Repeat, 2), (vec![1000, 1000, 5000, 5000, 5000, 5000], 0));
        assert_eq!(passed(Pattern::Thin, 2), (vec![5000], 2));
    }

    #[test]
    fn an_optimist_acknowledges_what_was_sent() {
        let mut acks = Acks::new(Pattern::Optimistic, 1);
        let mut passed = Passed::default();
        let s = Segment { seq: 1000, flags: Flags::ACK, payload: Payload::new(0, 500), ..Segment::default() };
        acks.pass(true, true, Packet::new(s, 0, 0, true, SendKind::New, 1), &mut passed);
        let mut late = ack(1000).segment;
        late.options.sack.push(1200, 1500);
        acks.pass(false, true, Packet::new(late, 0, 0, false, SendKind::Control, 1), &mut passed);
        let last = passed.through.last().unwrap().segment;
        assert_eq!((last.ack, last.options.sack.as_slice().len()), (1500, 0));
    }
}
