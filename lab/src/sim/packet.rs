//! What travels on links, and the pool it lives in while it does.

use anabranch_stack::event::SendKind;
use anabranch_stack::segment::Segment;

/// Index of a packet in the [`Pool`].
pub type PacketId = u32;

/// A packet under way. A datagram of a constant-rate flow uses only the segment's payload reference.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// The segment.
    pub segment: Segment,
    /// Its connection.
    pub connection: u32,
    /// Its 4-tuple, numbered within the connection.
    pub tuple: u32,
    /// IPv4 packet length in octets.
    pub wire_len: u32,
    /// Client to server.
    pub up: bool,
    /// Links crossed so far.
    pub hop: u8,
    /// How often this segment was sent, this time included (0: no payload).
    pub transmissions: u8,
    /// Damaged on the way; the receiver's checksum will tell.
    pub corrupted: bool,
    /// Why it was sent.
    pub kind: SendKind,
}

impl Packet {
    /// A packet about to be sent.
    #[inline]
    pub fn new(segment: Segment, connection: usize, tuple: u32, up: bool, kind: SendKind, transmissions: u8) -> Self {
        let (connection, wire_len) = (connection as u32, segment.wire_len());
        Self { segment, connection, tuple, wire_len, up, hop: 0, transmissions, corrupted: false, kind }
    }
}

/// All packets under way; freed places are used again.
#[derive(Debug, Default)]
pub struct Pool {
    packets: Vec<Packet>,
    free: Vec<PacketId>,
}

impl Pool {
    /// Puts a packet in.
    #[inline]
    pub fn insert(&mut self, packet: Packet) -> PacketId {
        if let Some(id) = self.free.pop() {
            self.packets[id as usize] = packet;
            return id;
        }
        self.packets.push(packet);
        (self.packets.len() - 1) as PacketId
    }

    /// Its place may be used again.
    #[inline]
    pub fn release(&mut self, id: PacketId) {
        self.free.push(id);
    }

    /// The packet.
    #[inline]
    pub fn get(&self, id: PacketId) -> &Packet {
        &self.packets[id as usize]
    }

    /// The packet, to change it.
    #[inline]
    pub fn get_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.packets[id as usize]
    }
}
