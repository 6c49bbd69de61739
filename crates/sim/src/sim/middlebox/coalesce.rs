//! Joining segments that follow each other, as receive offload and proxies do.
//!
//! A data segment waits up to `hold` for the one that follows it; what follows is appended as long as the payload does not
//! become longer than `size`. Anything else of the flow in that direction lets the waiting segment go first, so the order
//! stays. Acknowledgement number, window, timestamps and SACK blocks are those of the last segment. Of the MPTCP
//! options only one set fits: the first's or the last's. The mapping that is left covers only part of the payload, and
//! the rest has none until it is sent again (RFC 8684 3.3.1).
//!
//! As in receive offload all segments joined are of one length, but for the last. What is left out: a payload is one range of
//! the sender's stream, so segments that follow each other on the subflow but not in the data are not joined; nor are
//! pieces that another box has cut.

use anabranch_stack::segment::{Flags, Payload};
use anabranch_stack::wire::budget;

use super::super::packet::Packet;
use super::alter::add;
use super::{FlowId, NEVER, flow_of};

/// A segment that waits.
#[derive(Clone, Copy, Debug)]
struct Held {
    packet: Packet,
    flow: FlowId,
    ab: bool,
    until: u64,
}

/// The segments that wait, at most one a flow and direction.
#[derive(Debug)]
pub struct Coalesce {
    size: u32,
    hold: u64,
    last: bool,
    held: Vec<Held>,
}

impl Coalesce {
    /// Joins up to `size` octets; a segment waits `hold` nanoseconds; the options of the `last` one are kept, or the first's.
    pub fn new(size: u32, hold: u64, last: bool) -> Self {
        Self { size, hold, last, held: Vec::new() }
    }

    /// When the first of the waiting segments goes on alone.
    pub fn deadline(&self) -> u64 {
        self.held.iter().map(|h| h.until).min().unwrap_or(NEVER)
    }

    /// Lets go of what is due in one direction.
    pub fn release(&mut self, now: u64, ab: bool, through: &mut Vec<Packet>) {
        self.held.retain(|h| {
            let due = h.ab == ab && h.until <= now;
            if due {
                through.push(h.packet);
            }
            !due
        });
    }

    /// A packet comes along, to be held if `covers`.
    pub fn pass(&mut self, now: u64, ab: bool, covers: bool, packet: Packet, through: &mut Vec<Packet>) {
        let flow = flow_of(&packet);
        let waiting = self.held.iter().position(|h| h.flow == flow && h.ab == ab);
        let mut packet = packet;
        let mut until = now + self.hold;
        if let Some(i) = waiting {
            let held = self.held.remove(i);
            match self.join(&held.packet, &packet) {
                Some(joined) => (packet, until) = (joined, held.until),
                None => through.push(held.packet),
            }
        }
        let s = &packet.segment;
        let ends = s.flags.has(Flags::FIN) || s.flags.has(Flags::SYN) || s.flags.has(Flags::RST);
        if covers && s.payload.len > 0 && s.payload.len < self.size && !ends && !packet.corrupted {
            self.held.push(Held { packet, flow, ab, until });
        } else {
            through.push(packet);
        }
    }

    /// The two as one, if `b` follows `a`.
    fn join(&self, a: &Packet, b: &Packet) -> Option<Packet> {
        let (s, t) = (&a.segment, &b.segment);
        let (p, q) = (s.payload, t.payload);
        let follows = t.seq == s.seq.wrapping_add(p.len) && q.offset == p.offset.wrapping_add(p.len.into());
        let alike = s.ecn == t.ecn && t.flags.0 & !(Flags::FIN.0 | Flags::PSH.0) == Flags::ACK.0;
        if !follows || !alike || q.len == 0 || p.len + q.len > self.size || b.corrupted || a.piece || b.piece {
            return None;
        }
        let mut joined = *a;
        if !joined.append(b) {
            return None;
        }
        joined.altered += b.altered;
        joined.displaced |= b.displaced;
        joined.edit(|j| {
            let (mptcp, signal) = (j.options.mptcp, j.options.signal);
            j.flags = j.flags.with(t.flags);
            (j.ack, j.window, j.options) = (t.ack, t.window, t.options);
            if !self.last {
                (j.options.mptcp, j.options.signal) = (mptcp, signal);
                // Options of two segments: the keys of one and the number of the other do not fit together.
                budget::fit(&mut j.options);
            }
            // At an odd place the octets of a word are the other way round (RFC 1071 2).
            let sum = if p.len % 2 == 0 { q.sum } else { q.sum.swap_bytes() };
            j.payload = Payload { offset: p.offset, len: p.len + q.len, sum: add(p.sum, sum), rest: 0 };
        });
        Some(joined)
    }
}
