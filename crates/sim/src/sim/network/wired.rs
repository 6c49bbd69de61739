//! Packets that enter a wire: from a host, from a link before, or from a radio.

use anabranch_measures::account::SubflowAccount;

use super::Network;
use crate::sim::packet::{Packet, PacketId, Transit};
use crate::sim::routes::{DirectionId, Path};
use crate::sim::slots::Key;
use crate::sim::trace::Kind;

impl Network {
    /// A packet leaves its host where there are only wires. (Each part is looked up once; in line: 40 instructions.)
    #[inline(always)]
    pub(super) fn depart_wired(&mut self, id: PacketId) {
        self.work += 1;
        self.stamp += 1;
        let packet = self.pool.get_mut(id);
        self.trace.segment(self.now, Kind::Send, packet, None);
        let flow = &mut self.flows[packet.connection as usize];
        let account = &mut flow.tuples[packet.tuple as usize];
        let mut transit = Self::leaving(account, &flow.paths, flow.up, id, packet);
        transit.arrives = Key::new(0, self.stamp);
        let d = self.routes[transit.next as usize - 1] as DirectionId;
        let link = &mut self.links[d];
        if transit.ect && link.marks(self.event) {
            packet.mark();
        }
        if !link.looks_ahead() {
            return self.enqueue_now(d, transit);
        }
        match link.enqueue_ahead(self.event, transit) {
            Ok(taken) => {
                if taken.next {
                    self.slots.set(d, link.next());
                }
                account.wire += if transit.counted == 0 { u64::from(taken.octets) } else { 0 };
            }
            Err(why) => self.drop_packet(id, why),
        }
    }

    /// `packet` is about to leave its host, on the path of `account`, which counts it.
    #[inline(always)]
    pub(super) fn leaving(
        account: &mut SubflowAccount,
        paths: &[Path],
        up: bool,
        id: PacketId,
        packet: &mut Packet,
    ) -> Transit {
        account.in_network += 1;
        let count = &mut account.packets[usize::from(!packet.up)];
        (packet.ip_id, *count) = (*count, count.wrapping_add(1));
        Self::transit(&paths[account.path], up, id, packet)
    }

    /// A packet enters a wire.
    #[inline(always)]
    pub(super) fn enqueue_wired(&mut self, d: DirectionId, mut transit: Transit) {
        self.stamp += 1;
        transit.arrives = Key::new(0, self.stamp);
        let id = transit.id;
        let link = &mut self.links[d];
        if transit.ect && link.marks(self.event) {
            self.pool.get_mut(id).mark();
        }
        if !link.looks_ahead() {
            return self.enqueue_now(d, transit);
        }
        match link.enqueue_ahead(self.event, transit) {
            Ok(taken) => {
                if taken.next {
                    self.slots.set(d, link.next());
                }
                if transit.hop == transit.counted {
                    let packet = self.pool.get(id);
                    let account = &mut self.flows[packet.connection as usize].tuples[packet.tuple as usize];
                    account.wire += u64::from(taken.octets);
                }
            }
            Err(why) => self.drop_packet(id, why),
        }
    }

    /// The same for a link that does not look ahead.
    fn enqueue_now(&mut self, d: DirectionId, transit: Transit) {
        let id = transit.id;
        let link = &mut self.links[d];
        match link.enqueue_now(self.event.at(), transit, || self.pool.get(id).flow()) {
            Ok(taken) => {
                if taken.next {
                    self.slots.set(d, link.next());
                }
                if taken.mark {
                    self.pool.get_mut(id).mark();
                }
                self.drop_shed(d);
            }
            Err(why) => self.drop_packet(id, why),
        }
    }
}
