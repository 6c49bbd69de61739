//! The way of packets through the middleboxes of links.

use super::{Drop, Network};
use crate::sim::middlebox::Chain;
use crate::sim::middlebox::Passed;
use crate::sim::packet::{Packet, Transit};
use crate::sim::routes::DirectionId;
use crate::sim::slots::NEVER;

/// Middleboxes at the end from which a direction of a link leads away have the number of that direction.
pub(super) type ChainId = DirectionId;

impl Network {
    /// There are middleboxes with this number.
    #[inline]
    pub(super) fn has_boxes(&self, c: ChainId) -> bool {
        self.boxes.get(c).is_some_and(|b| !b.is_empty())
    }

    /// A packet on direction `d` of a link comes to middleboxes: before it enters the link, or when it has crossed it.
    pub(super) fn meet(&mut self, c: ChainId, d: DirectionId, transit: Transit) {
        let packet = Packet { hop: transit.hop, ..*self.pool.get(transit.id) };
        self.pool.release(transit.id);
        let mut passed = std::mem::take(&mut self.passed);
        self.boxes[c].pass(self.now, d % 2 == 0, packet, &mut passed);
        self.flows[packet.connection as usize].tuples[packet.tuple as usize].in_network -= 1;
        self.go_on(c, d, passed);
    }

    /// What has passed the middleboxes goes on: into the link, or out of it.
    fn go_on(&mut self, c: ChainId, d: DirectionId, mut passed: Passed) {
        for packet in passed.dropped.drain(..) {
            self.flows[packet.connection as usize].tuples[packet.tuple as usize].in_network += 1;
            let id = self.admit(packet).id;
            self.drop_packet(id, Drop::Middlebox);
        }
        for packet in passed.again.drain(..) {
            let flow = &mut self.flows[packet.connection as usize];
            if packet.up == flow.up && packet.segment.payload.len > 0 {
                let fates = &mut flow.tuples[packet.tuple as usize].fates;
                packet.origins().for_each(|seq| fates.duplicated(seq, packet.transmissions));
            }
        }
        for (packet, taken) in passed.ended.drain(..) {
            self.end_in_box(&packet, taken);
        }
        for mut packet in passed.through.drain(..) {
            let flow = &mut self.flows[packet.connection as usize];
            let account = &mut flow.tuples[packet.tuple as usize];
            account.in_network += 1;
            // A box may have made it.
            let route = &flow.paths[account.path].route[usize::from(!packet.up)];
            packet.hop = route.iter().position(|&on| on == d).expect("a link of its path") as u8;
            let transit = self.admit(packet);
            if c == d {
                self.enqueue(d, transit);
            } else if let Some(id) = self.leave(d, transit) {
                self.also_arrived.push_back(id);
            }
        }
        self.passed = passed;
        self.schedule_held();
    }

    /// The slot of packets that middleboxes or cores of hosts hold follows the next one that is let
    /// go.
    pub(super) fn schedule_held(&mut self) {
        let boxes = self.boxes.iter().map(Chain::deadline).min().unwrap_or(u64::MAX);
        let at = boxes.min(self.hosts.deadline());
        self.schedule(self.links.len(), at.max(self.now));
    }

    /// A box has taken a packet in a host's place.
    fn end_in_box(&mut self, packet: &Packet, taken: bool) {
        let flow = &mut self.flows[packet.connection as usize];
        if packet.up == flow.up && packet.segment.payload.len > 0 {
            let fates = &mut flow.tuples[packet.tuple as usize].fates;
            packet.origins().for_each(|seq| fates.arrived(seq, packet.transmissions, taken));
        }
    }

    /// Middleboxes and cores of hosts let go of packets that they have held long enough.
    pub(super) fn on_held(&mut self) {
        self.slots.set(self.links.len(), NEVER);
        if !self.hosts.are_free() {
            self.on_handled();
            self.schedule_held();
        }
        for c in 0..self.boxes.len() {
            for d in [c & !1, c | 1] {
                let mut passed = std::mem::take(&mut self.passed);
                self.boxes[c].release(self.now, d % 2 == 0, &mut passed);
                self.go_on(c, d, passed);
            }
        }
    }
}
