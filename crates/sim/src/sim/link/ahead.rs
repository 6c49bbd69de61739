//! Links that look ahead: one event a packet instead of two.
//!
//! Where packets wait in one plain queue, the rate is constant, nothing is lost, damaged or duplicated and the delay never
//! varies, nothing but the packets before it decides when a packet arrives. So that is worked out when it is taken, and the end
//! of its transmission is no event. It is still a moment: how many packets wait, which of them a full queue refuses and how
//! many octets have been transmitted follow from the moments that have passed. They are compared as events are, by time and
//! then by order of causation, so that a link that looks ahead and one that does not cannot be told apart.
//!
//! Which transmissions have ended is looked up only where a queue may be full: `flying` and `octets` then catch up.

use super::{Drop, Enqueued, LinkDirection, NEVER};
use crate::sim::packet::{PacketId, Transit};
use crate::sim::slots::Key;

impl LinkDirection {
    /// From now on it looks ahead, if it is a link that can. To be called while it is empty.
    pub fn look_ahead(&mut self) {
        debug_assert!(self.packets.is_empty(), "a link is empty before its first packet");
        self.ahead = self.clean && self.constant && !self.paced && !self.disciplined && !self.policed;
        if self.ahead {
            self.end = Key::new(0, 0);
        }
    }

    /// It does not look ahead. To be called while it is empty.
    pub fn look_not_ahead(&mut self) {
        debug_assert!(self.packets.is_empty(), "a link is empty before its first packet");
        (self.ahead, self.end) = (false, super::NEVER);
    }

    /// When the transmission of a packet in the ring ends.
    #[inline]
    fn end_of(&self, packet: &Transit) -> Key {
        packet.arrives.moved(packet.arrives.at() - self.base_delay)
    }

    /// A packet arrives at the sending end in event `now`; its [`Transit::arrives`] says its place in the order of causation.
    #[inline(always)]
    pub fn enqueue_ahead(&mut self, now: Key, mut packet: Transit) -> Result<Enqueued, Drop> {
        let octets = self.length(packet.wire_len);
        let more = u64::from(octets);
        let may_be_full = if self.limit_in_octets {
            self.octets + more > self.limit
        } else {
            self.packets.len() as u64 - u64::from(self.flying) > self.limit
        };
        if may_be_full && self.is_full(now, more) {
            return Err(Drop::Queue);
        }
        let end = now.at().max(self.end.at()) + self.serialisation(octets);
        self.end = packet.arrives.moved(end);
        packet.arrives = packet.arrives.moved(end + self.base_delay);
        let next = self.packets.is_empty();
        if next {
            self.arrival = packet.arrives;
        }
        self.octets += more;
        self.packets.push_back(packet);
        Ok(Enqueued { next, octets, mark: false })
    }

    /// The packet that arrives now.
    #[inline(always)]
    pub fn arrive_ahead(&mut self) -> Transit {
        // (Copied before it is taken out: that makes one copy less.)
        let packet = self.packets[0];
        self.packets.pop_front();
        if self.flying > 0 {
            self.flying -= 1;
        } else {
            self.octets -= u64::from(self.length(packet.wire_len));
        }
        match self.packets.front() {
            Some(first) => self.arrival = first.arrives,
            None => {
                self.arrival = NEVER;
                // An empty ring begins anew at its first place, so that a short queue stays in a cache line or two.
                self.packets.clear();
            }
        }
        packet
    }

    /// There is no room for `more` octets in event `now`.
    #[inline(never)]
    fn is_full(&mut self, now: Key, more: u64) -> bool {
        while let Some(packet) = self.packets.get(self.flying as usize).filter(|p| self.end_of(p) <= now) {
            self.octets -= u64::from(self.length(packet.wire_len));
            self.flying += 1;
        }
        // The one in transmission does not wait.
        let Some(first) = self.packets.get(self.flying as usize) else { return false };
        if self.limit_in_octets {
            self.octets - u64::from(self.length(first.wire_len)) + more > self.limit
        } else {
            self.packets.len() as u64 - u64::from(self.flying) > self.limit
        }
    }

    /// Packets waiting in event `now`.
    pub(super) fn waiting_ahead(&self, now: Key) -> usize {
        let flying = self.packets.partition_point(|p| self.end_of(p) <= now);
        (self.packets.len() - flying).saturating_sub(1)
    }

    /// A packet waits in event `now`.
    #[inline]
    pub fn has_waiting(&self, now: Key) -> bool {
        if !self.ahead {
            return self.waiting(now) > 0;
        }
        // The last one does until the one before it has left.
        self.packets.len().checked_sub(2).is_some_and(|i| self.end_of(&self.packets[i]) > now)
    }

    /// Octets of packets, among those for which `which` is true, that [`Enqueued::octets`] has told of and whose transmission has
    /// not ended in event `now`.
    pub fn untransmitted(&self, now: Key, which: impl Fn(PacketId) -> bool) -> u64 {
        if !self.ahead {
            return 0;
        }
        let left = self.packets.iter().filter(|p| self.end_of(p) > now && which(p.id));
        left.map(|p| u64::from(self.length(p.wire_len))).sum()
    }
}
