//! Packets that are captured, or go through bytes.

use super::Network;
use crate::sim::packet::{PacketId, Transit};
use crate::sim::routes::DirectionId;

impl Network {
    /// The server of `connection` took so many octets of the client's SYN.
    pub fn note_fast_open(&mut self, connection: usize, octets: u32) {
        if let Some(codec) = &mut self.codec {
            codec.note_fast_open(connection, octets);
        }
    }

    /// The rest of [`Network::depart`] where packets may be captured, or meet something else than a wire.
    pub(super) fn depart_noted(&mut self, first: DirectionId, transit: Transit) {
        if let Some(codec) = &mut self.codec {
            let packet = self.pool.get(transit.id);
            codec.note(packet);
            if let Some(taps) = &mut self.taps {
                let path = self.flows[packet.connection as usize].tuples[packet.tuple as usize].path;
                taps.on_send(self.now, first, packet, path, codec);
            }
        }
        self.enter(first, transit);
    }

    /// A packet has reached its host where it may be captured, or goes through bytes.
    pub(super) fn arrive_noted(&mut self, d: DirectionId, id: PacketId) {
        let Some(codec) = &mut self.codec else { return };
        let packet = self.pool.get_mut(id);
        let flow = &self.flows[packet.connection as usize];
        let path = flow.tuples[packet.tuple as usize].path;
        if let Some(taps) = &mut self.taps {
            taps.on_arrival(self.now, d, packet, path, codec);
        }
        if self.bytes && !packet.corrupted && !flow.datagrams {
            packet.segment = codec.through(packet, path);
        }
    }
}
