//! A network address and port translator (RFC 3022), with the forgetting that RFC 5382 section 5 sets bounds to.
//!
//! The first packet of a flow from the inner side (the link's end a) makes a mapping: a port of its own at the outer
//! side. What comes back to that port is given the inner port again; what comes to a port without a mapping is dropped. A
//! mapping that nothing has used for `timeout` is gone: the next packet of the flow from within makes a new one, with
//! another port, and the peer takes it for a stranger and resets it. RFC 5382 REQ-5 asks for at least 2 h 4 min, and
//! home routers are known for minutes.
//!
//! MPTCP identifies addresses by number, not by what a NAT shows of them (RFC 8684 3.2, 3.4.1), so joins from behind
//! one work; and of a connection whose subflow was forgotten the other subflows go on.

use std::collections::BTreeMap;

use super::super::packet::Packet;
use super::{FlowId, Scope, flow_of};

/// The first port given out; the following mappings get the following ones, around to the first.
const FIRST_PORT: u16 = 1024;

#[derive(Clone, Copy, Debug)]
struct Mapping {
    outer: u16,
    used: u64,
}

/// The mappings in force.
#[derive(Debug)]
pub struct Nat {
    timeout: u64,
    next: u16,
    /// By the flow as it is inside.
    inner: BTreeMap<FlowId, Mapping>,
    /// The inner port, by the flow as it is outside.
    outer: BTreeMap<FlowId, u16>,
}

impl Nat {
    /// A NAT that forgets after `timeout` nanoseconds.
    pub fn new(timeout: u64) -> Self {
        Self { timeout, next: FIRST_PORT, inner: BTreeMap::new(), outer: BTreeMap::new() }
    }

    /// Translates a packet that goes out (`ab`) or comes in; false drops it, because it comes to a port that nobody has. While
    /// the box is off, flows that have no mapping pass as they are.
    pub fn pass(&mut self, scope: Scope, now: u64, ab: bool, packet: &mut Packet) -> bool {
        let id = flow_of(packet);
        if ab {
            let known = self.inner.get(&id).copied();
            let alive = known.filter(|m| now - m.used < self.timeout);
            if known.is_some() || scope.is_on(now) {
                let outer = alive.map_or_else(|| self.open(id), |m| m.outer);
                self.inner.insert(id, Mapping { outer, used: now });
                packet.port = outer;
            }
            return true;
        }
        let Some(&inner) = self.outer.get(&id) else {
            // Not translated: from before the box was on. A port of ours that is not mapped is nobody's.
            return packet.port == 0;
        };
        match self.inner.get_mut(&(id.0, id.1, inner)) {
            Some(m) if m.outer == id.2 && now - m.used < self.timeout => {
                m.used = now;
                packet.port = inner;
                true
            }
            _ => false,
        }
    }

    fn open(&mut self, id: FlowId) -> u16 {
        let outer = self.next;
        self.next = self.next.checked_add(1).unwrap_or(FIRST_PORT);
        self.outer.insert((id.0, id.1, outer), id.2);
        outer
    }
}
