//! The way of packets through the radio part of wireless links.

use anabranch_wifi::high::Counts;

use super::Network;
use crate::sim::packet::{PacketId, Transit};
use crate::sim::routes::DirectionId;
use crate::sim::slots::NEVER;

impl Network {
    /// A packet goes to the radio part of a link.
    pub(super) fn transmit_by_radio(&mut self, d: DirectionId, transit: Transit) {
        let id = transit.id;
        if self.parked.len() <= id as usize {
            self.parked.resize(id as usize + 1, Transit::default());
        }
        self.parked[id as usize] = transit;
        match self.radio.enqueue(self.now, d, id, transit.wire_len) {
            Ok(()) => self.schedule_radio(d),
            Err(why) => self.drop_packet(id, why),
        }
    }

    pub(super) fn schedule_radio(&mut self, d: DirectionId) {
        if let Some(channel) = self.radio.channel(d) {
            self.schedule_channel(channel);
        }
    }

    pub(super) fn schedule_channel(&mut self, channel: usize) {
        self.schedule(self.links.len() + 1 + channel, self.radio.next_of(channel));
    }

    /// The next event of a radio channel.
    pub(super) fn on_radio(&mut self, channel: usize) -> Option<PacketId> {
        self.work += self.radio.steps(channel);
        self.radio.run(channel, self.now);
        if !self.radio.lost.is_empty() {
            let mut lost = std::mem::take(&mut self.radio.lost);
            lost.drain(..).for_each(|(id, why)| self.drop_packet(id, why));
            self.radio.lost = lost;
        }
        let at = self.radio.next_of(channel);
        let key = if at == u64::MAX { NEVER } else { self.key(at) };
        self.slots.set(self.links.len() + 1 + channel, key);
        // A frame before 802.11n carries one packet; a reorder buffer may pass on many at once.
        if let [(d, id)] = self.radio.arrived[..] {
            self.radio.arrived.clear();
            return self.on_radio_arrival(d, id);
        }
        if self.radio.arrived.is_empty() {
            return None;
        }
        let mut arrived = std::mem::take(&mut self.radio.arrived);
        let mut landed = std::mem::take(&mut self.also_arrived);
        for (d, id) in arrived.drain(..) {
            landed.extend(self.on_radio_arrival(d, id));
            landed.append(&mut self.also_arrived);
        }
        self.radio.arrived = arrived;
        self.also_arrived = landed;
        self.also_arrived.pop_front()
    }

    /// What was sent up and down over each wireless link of 802.11n and later.
    pub fn radio_counts(&self) -> Vec<(usize, [Counts; 2])> {
        self.radio.counts()
    }

    fn on_radio_arrival(&mut self, d: DirectionId, id: PacketId) -> Option<PacketId> {
        let packet = self.pool.get(id);
        let flow = &mut self.flows[packet.connection as usize];
        let account = &mut flow.tuples[packet.tuple as usize];
        let transit = self.parked[id as usize];
        if transit.hop == transit.counted && self.radio.limits(d) {
            account.wire += u64::from(packet.wire_len);
        }
        if self.radio.wire_follows(d) {
            self.enqueue_wired(d, transit);
            return None;
        }
        if let (true, Some(taps), Some(codec)) = (self.radio.first(d), &mut self.taps, &mut self.codec) {
            taps.on_transmitted(self.now, d, packet, account.path, codec);
        }
        self.land(d, transit)
    }
}
