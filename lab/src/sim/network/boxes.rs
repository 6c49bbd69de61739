//! The way of packets through the middleboxes of links.

use super::{Drop, Network};
use crate::sim::middlebox::Chain;
use crate::sim::middlebox::Passed;
use crate::sim::packet::{Packet, Transit};
use crate::sim::routes::DirectionId;
use crate::sim::slots::NEVER;

impl Network {
    /// A packet comes to the middleboxes of a link.
    pub(super) fn meet(&mut self, d: DirectionId, transit: Transit) {
        let packet = Packet { hop: transit.hop, ..*self.pool.get(transit.id) };
        self.pool.release(transit.id);
        let mut passed = std::mem::take(&mut self.passed);
        self.boxes[d / 2].pass(self.now, d % 2 == 0, packet, &mut passed);
        self.flows[packet.connection as usize].tuples[packet.tuple as usize].in_network -= 1;
        self.go_on(d, passed);
    }

    /// What has passed the middleboxes goes on: into the link, or out of it.
    fn go_on(&mut self, d: DirectionId, mut passed: Passed) {
        for packet in passed.dropped.drain(..) {
            self.flows[packet.connection as usize].tuples[packet.tuple as usize].in_network += 1;
            let id = self.admit(packet).id;
            self.drop_packet(id, Drop::Middlebox);
        }
        for packet in passed.through.drain(..) {
            self.flows[packet.connection as usize].tuples[packet.tuple as usize].in_network += 1;
            let transit = self.admit(packet);
            if d % 2 == 0 {
                self.enqueue(d, transit);
            } else if let Some(id) = self.leave(d, transit) {
                self.also_arrived.push_back(id);
            }
        }
        self.passed = passed;
        let at = self.boxes.iter().map(Chain::deadline).min().unwrap_or(u64::MAX);
        self.schedule(self.links.len(), at);
    }

    /// Middleboxes let go of what they have held long enough.
    pub(super) fn on_middleboxes(&mut self) {
        self.slots.set(self.links.len(), NEVER);
        for d in 0..self.links.len() {
            let mut passed = std::mem::take(&mut self.passed);
            self.boxes[d / 2].release(self.now, d % 2 == 0, &mut passed);
            self.go_on(d, passed);
        }
    }
}
