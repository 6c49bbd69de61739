//! Packets under way on links, and the pool that holds them.

use anabranch_stack::Outgoing;
use anabranch_stack::event::SendKind;
use anabranch_stack::segment::{Ecn, Flags, Segment};

use super::slots::{Key, NEVER};

/// Index of the client among the two hosts of a connection.
pub const CLIENT: usize = 0;
/// Index of the server.
pub const SERVER: usize = 1;

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
    /// IPv4 identification: counts the packets of its 4-tuple and direction.
    pub ip_id: u16,
    /// Links crossed when it was put into the network or came to a middlebox; [`Transit::hop`] goes on counting.
    pub hop: u8,
    /// How often this segment was sent, this time included (0: no payload).
    pub transmissions: u8,
    /// Damaged on the way; the receiver's checksum will tell.
    pub corrupted: bool,
    /// Why it was sent.
    pub kind: SendKind,
    /// Sequence number as sent: middleboxes may change the segment's.
    pub origin: u32,
    /// Segments that a middlebox has joined in this one, and their length as sent (the last may be shorter).
    pub joined: (u16, u16),
    /// A piece of a segment that a middlebox has cut.
    pub piece: bool,
    /// The client's port, as a number that a NAT gave out; 0 if none has.
    pub port: u16,
    /// Octets of the payload that middleboxes have changed.
    pub altered: u16,
    /// A middlebox has put octets into the stream or taken some out, before or in this segment.
    pub displaced: bool,
}

impl Packet {
    /// A packet that is about to be sent.
    #[inline]
    pub fn new(segment: Segment, connection: usize, tuple: u32, up: bool, kind: SendKind, transmissions: u8) -> Self {
        let (connection, wire_len) = (connection as u32, segment.wire_len());
        Self {
            segment,
            connection,
            tuple,
            wire_len,
            up,
            ip_id: 0,
            hop: 0,
            transmissions,
            corrupted: false,
            kind,
            origin: segment.seq,
            joined: (1, 0),
            piece: false,
            port: 0,
            altered: 0,
            displaced: false,
        }
    }

    /// Overwrites it with a packet that is about to be sent: as [`Packet::new`], but in place, so that the segment is copied
    /// once.
    #[inline]
    pub fn fill(&mut self, out: &Outgoing, segment: &Segment, connection: usize, tuple: u32, up: bool) {
        debug_assert_eq!(out.wire_len, segment.wire_len());
        self.segment = *segment;
        (self.connection, self.tuple, self.wire_len) = (connection as u32, tuple, out.wire_len);
        (self.up, self.ip_id, self.hop, self.transmissions) = (up, 0, 0, out.transmissions);
        (self.corrupted, self.kind, self.origin) = (false, out.kind, segment.seq);
        (self.joined, self.piece, self.port) = ((1, 0), false, 0);
        (self.altered, self.displaced) = (0, false);
    }

    /// A queue marks it: congestion experienced (RFC 3168).
    pub fn mark(&mut self) {
        if self.segment.ecn == Ecn::Ect0 {
            self.segment.ecn = Ecn::Ce;
        }
    }

    /// Number of its connection, 4-tuple and direction: what a router sees as a flow.
    pub fn flow(&self) -> u32 {
        self.connection << 8 ^ self.tuple << 1 ^ u32::from(self.up)
    }

    /// Changes the segment; the packet's length follows.
    pub fn edit(&mut self, change: impl FnOnce(&mut Segment)) {
        let before = self.segment.wire_len();
        change(&mut self.segment);
        self.wire_len = self.wire_len - before + self.segment.wire_len();
    }

    /// Sequence numbers of the segments in it, as sent.
    pub fn origins(&self) -> impl Iterator<Item = u32> + use<> {
        // The data of a SYN begin behind it.
        let first = self.origin.wrapping_add(u32::from(self.segment.flags.has(Flags::SYN)));
        let (origin, (count, len)) = (first, self.joined);
        (0..u32::from(count)).map(move |k| origin.wrapping_add(k * u32::from(len)))
    }

    /// Notes that `next` is joined to it; false if it is not the next of equal segments.
    pub fn append(&mut self, next: &Self) -> bool {
        let (count, len) = self.joined;
        let ahead = next.origin.wrapping_sub(self.origin);
        let each = if count == 1 { ahead } else { u32::from(len) };
        let fits = ahead == each * u32::from(count) && next.joined.0 == 1 && next.transmissions == self.transmissions;
        match u16::try_from(each) {
            Ok(each) if fits => {
                self.joined = (count + 1, each);
                true
            }
            _ => false,
        }
    }
}

/// The part of a packet that links need; it is what moves from link to link. With thousands of subflows the packets themselves
/// do not fit in the processor's caches, so they are read where they are sent and where they arrive, and not at each hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transit {
    /// When it arrives at the end of the link that it flies on.
    pub arrives: Key,
    /// The packet.
    pub id: PacketId,
    /// Place in the network's table of routes where the link after the one it is on stands.
    pub next: u32,
    /// [`Packet::wire_len`].
    pub wire_len: u32,
    /// Links crossed so far.
    pub hop: u8,
    /// The hop whose octets its subflow's account counts: the slowest, if it goes the way of the data; else [`Transit::NOWHERE`].
    pub counted: u8,
    /// ECN-capable (RFC 3168), or marked.
    pub ect: bool,
}

impl Default for Transit {
    fn default() -> Self {
        Self { arrives: NEVER, id: 0, next: 0, wire_len: 0, hop: 0, counted: Self::NOWHERE, ect: false }
    }
}

impl Transit {
    /// The number of no hop.
    pub const NOWHERE: u8 = u8::MAX;
}

/// All packets under way; freed places are used again.
#[derive(Debug, Default)]
pub struct Pool {
    packets: Vec<Packet>,
    free: Vec<PacketId>,
}

impl Pool {
    /// Puts a packet in.
    pub fn insert(&mut self, packet: Packet) -> PacketId {
        let id = self.place();
        self.packets[id as usize] = packet;
        id
    }

    /// A place for a packet. The packet that was there before is still in it.
    #[inline]
    pub fn place(&mut self) -> PacketId {
        self.free.pop().unwrap_or_else(|| self.grow())
    }

    #[cold]
    fn grow(&mut self) -> PacketId {
        self.packets.push(Packet::new(Segment::default(), 0, 0, false, SendKind::Control, 0));
        (self.packets.len() - 1) as PacketId
    }

    /// Its place may be used again, and is the next one to be: it is still in the processor's caches.
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

#[cfg(test)]
mod tests {
    use anabranch_stack::segment::Segment;

    use super::*;

    /// A packet whose segment begins at `origin`, sent `transmissions` times, that holds `count`
    /// segments.
    fn packet(origin: u32, transmissions: u8, count: u16) -> Packet {
        let segment = Segment { seq: origin, ..Segment::default() };
        let mut packet = Packet::new(segment, 0, 0, true, SendKind::New, transmissions);
        packet.joined = (count, 0);
        packet
    }

    /// What is joined is noted while segments of the same length, sent as often, follow each other
    /// one by one.
    #[test]
    fn equal_segments_in_a_row_are_appended() {
        let mut whole = packet(1000, 1, 1);
        assert!(whole.append(&packet(1100, 1, 1)) && whole.append(&packet(1200, 1, 1)));
        assert_eq!((whole.joined, whole.origins().collect::<Vec<_>>()), ((3, 100), vec![1000, 1100, 1200]));
        for (next, why) in [
            (packet(1400, 1, 1), "a gap"),
            (packet(1300, 2, 1), "sent again"),
            (packet(1300, 1, 2), "two in one"),
            (packet(1400, 2, 2), "all of these"),
        ] {
            assert!(!whole.append(&next), "{why}");
            assert_eq!(whole.joined, (3, 100), "{why}");
        }
    }
}
