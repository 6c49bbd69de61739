//! Packets that are longer than a link passes on, and what their senders hear of it (RFC 1191).
//!
//! The narrow place is at the far end of the link: a packet that is too long crosses the link, and the router there drops it. (At the near
//! end of a path's only link the sender would know the limit as that of its own interface.) Its message goes back the way the packet
//! came: it takes the propagation delays of these links, and is lost if one of them is down. It is neither queued nor a part of the trace.

use super::{Drop, Network};
use crate::sim::packet::Transit;
use crate::sim::routes::{DirectionId, TooLong};
use anabranch_scenario::{Mtu, Scenario};

/// By direction; empty if there is none.
pub(super) fn limits(scenario: &Scenario) -> Vec<Option<Mtu>> {
    let all = scenario.links.iter().flat_map(|l| [l.up.mtu, l.down.mtu]);
    if all.clone().any(|mtu| mtu.is_some()) { all.collect() } else { Vec::new() }
}

impl Network {
    /// The far end of a link does not pass it on.
    pub(super) fn is_too_long(&self, d: DirectionId, transit: &Transit) -> bool {
        self.mtus.get(d).copied().flatten().is_some_and(|mtu| transit.wire_len > mtu.size)
    }

    /// Drops what is too long, and tells its sender.
    pub(super) fn refuse(&mut self, d: DirectionId, transit: Transit) {
        let packet = *self.pool.get(transit.id);
        let mtu = self.mtus[d].expect("it is too long for something");
        // RFC 1122 3.2.2: of a damaged packet nothing is said. Who sends datagrams does not ask.
        let flow = &mut self.flows[packet.connection as usize];
        if mtu.icmp && !packet.corrupted && !flow.datagrams {
            let path = flow.tuples[packet.tuple as usize].path;
            let crossed = &flow.paths[path].route[usize::from(!packet.up)][..=usize::from(transit.hop)];
            let back = crossed.iter().map(|d| self.links[d ^ 1].passes().map(|ns| ns as u128)).sum::<Option<u128>>();
            if let Some(back) = back {
                let at = self.now.saturating_add(back.min(u64::MAX.into()) as u64);
                let side = usize::from(!packet.up);
                flow.messages.push(TooLong { at, side, tuple: packet.tuple, seq: packet.origin, mtu: mtu.size });
                let slot = flow.slot;
                if at < self.slots.at(slot) {
                    self.schedule(slot, at);
                }
            }
        }
        self.drop_packet(transit.id, Drop::Mtu);
    }

    /// A message that has arrived at a host of `connection` by now.
    pub fn message(&mut self, connection: usize) -> Option<TooLong> {
        let now = self.now;
        let messages = &mut self.flows[connection].messages;
        let due = (0..messages.len()).filter(|&i| messages[i].at <= now).min_by_key(|&i| messages[i].at)?;
        Some(messages.remove(due))
    }

    /// When the next message arrives there.
    pub fn next_message(&self, connection: usize) -> Option<u64> {
        self.flows[connection].messages.iter().map(|m| m.at).min()
    }
}
