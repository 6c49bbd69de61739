//! A box that gives each flow other sequence numbers.
//!
//! Firewalls do it to hide initial sequence numbers that are easily guessed; some of the paths of Honda et al. (IMC 2011)
//! did. A random number per flow and direction is added to the sequence numbers of one side and taken from the
//! acknowledgement numbers and SACK blocks of the other. It is why a mapping gives its place relative to the subflow's
//! initial sequence number (RFC 8684 3.3.1), and nothing must come of it.
//!
//! A flow is rewritten if its SYN comes while the box is on, and then to its end.

use std::collections::BTreeMap;

use anabranch_stack::segment::{Flags, SackBlocks};

use super::super::packet::Packet;
use super::super::rng::Rng;
use super::{FlowId, Scope, flow_of};

/// The flows and what is added to their numbers.
#[derive(Debug)]
pub struct Rewrite {
    rng: Rng,
    /// By side: the client's numbers, the server's.
    flows: BTreeMap<FlowId, [u32; 2]>,
}

impl Rewrite {
    /// A box that draws from `rng`.
    pub fn new(rng: Rng) -> Self {
        Self { rng, flows: BTreeMap::new() }
    }

    /// Rewrites a packet that goes from a to b if `ab`.
    pub fn pass(&mut self, scope: Scope, now: u64, ab: bool, packet: &mut Packet) {
        let id = flow_of(packet);
        let side = usize::from(!packet.up);
        let syn = packet.segment.flags.has(Flags::SYN) && !packet.segment.flags.has(Flags::ACK);
        if syn && scope.is_on(now) && !self.flows.contains_key(&id) {
            let mut draw = |ab| {
                let offset = (self.rng.uniform() * 4_294_967_296.0) as u32;
                if scope.looks(ab) { offset } else { 0 }
            };
            // The SYN's side goes its way, the other side the opposite.
            let (own, other) = (draw(ab), draw(!ab));
            self.flows.insert(id, if side == 0 { [own, other] } else { [other, own] });
        }
        let Some(offsets) = self.flows.get(&id) else { return };
        let (own, other) = (offsets[side], offsets[1 - side]);
        let segment = &mut packet.segment;
        segment.seq = segment.seq.wrapping_add(own);
        if segment.flags.has(Flags::ACK) {
            segment.ack = segment.ack.wrapping_sub(other);
            let mut sack = SackBlocks::default();
            for (from, to) in segment.options.sack.as_slice() {
                sack.push(from.wrapping_sub(other), to.wrapping_sub(other));
            }
            segment.options.sack = sack;
        }
    }
}
