//! An endpoint that keeps the octets of its connections.

use super::endpoint::Endpoint;
use super::error::{Gone, WriteError};
use super::identity::{Addresses, ConnectionId};
use super::keep::Octets;
use crate::segment::Segment;
use crate::time::Instant;
use crate::wire;
use crate::wire::checksum::Sum;
use crate::wire::segment::{Envelope, emit, parse, payload_of};

/// A segment to send, with its octets.
#[derive(Clone, Debug)]
pub struct Transmit {
    /// Source and destination.
    pub addresses: Addresses,
    /// The segment. A DSS checksum in it includes the octets.
    pub segment: Segment,
    /// The octets of its payload.
    pub payload: Vec<u8>,
}

impl Transmit {
    /// Appends the segment as an IP packet to `out`. `id` is its IPv4 identification, any number.
    ///
    /// # Errors
    /// If the addresses are of different families.
    pub fn emit(&self, id: u16, out: &mut Vec<u8>) -> Result<(), wire::Error> {
        let envelope = Envelope { src: self.addresses.local, dst: self.addresses.remote, id };
        // The checksum already includes the sum of the octets.
        emit(&self.segment, &envelope, Some(Sum(0)), |to| to.copy_from_slice(&self.payload), out)
    }
}

impl Endpoint<Octets> {
    /// Creates an endpoint. Keys, sequence numbers, ports ([`Endpoint::draw_port`]) and timestamp
    /// offsets (RFC 7323 5.4) come from `secret`, which must be unpredictable and used only once.
    pub fn new(secret: [u8; 32]) -> Self {
        Self::from_secret(secret, Some(secret))
    }

    /// Like [`Endpoint::new`], but timestamps show the driver's clock in ms, without offset.
    pub fn in_virtual_time(secret: [u8; 32]) -> Self {
        Self::from_secret(secret, None)
    }

    /// A segment arrives with its octets. `addresses` are as seen from this end.
    pub fn handle_packet(&mut self, now: Instant, addresses: Addresses, segment: &Segment, payload: &[u8]) {
        let segment = Segment { payload: payload_of(payload, &segment.options), ..*segment };
        self.arrive(now, addresses, &segment, payload);
    }

    /// Like [`Endpoint::handle_packet`], for an IP packet.
    ///
    /// # Errors
    /// If it is not a TCP segment, or damaged.
    pub fn handle_bytes(&mut self, now: Instant, packet: &[u8]) -> Result<(), wire::Error> {
        let (segment, envelope, payload) = parse(packet)?;
        let ip = wire::ip::View::new(packet)?;
        let tcp = wire::tcp::View::new(ip.payload())?;
        if !ip.checksum_ok() || tcp.checksum_ok(ip.src(), ip.dst(), ip.payload_len()) != Some(true) {
            return Err(wire::Error::Field { what: "TCP checksum", value: tcp.checksum().into() });
        }
        let addresses = Addresses { local: envelope.dst, remote: envelope.src };
        self.handle_packet(now, addresses, &segment, payload);
        Ok(())
    }

    /// The next segment to send, if there is one.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        let mut t = self.next_segment(now)?;
        let from = t.source.filter(|_| t.segment.payload.len > 0).and_then(|(id, _)| self.connections.get(&id));
        let payload = from.map_or_else(Vec::new, |c| c.keep.outgoing.get(t.segment.payload));
        t.add_to_checksum(Sum::of(&payload));
        Some(Transmit { addresses: t.addresses, segment: t.segment, payload })
    }

    /// Writes as many of `octets` as the send buffer has room for and returns how many. Offer the
    /// rest again at [`Event::Writable`](crate::Event::Writable).
    ///
    /// # Errors
    /// If the connection is gone, or its direction closed.
    pub fn write(&mut self, id: ConnectionId, octets: &[u8]) -> Result<usize, WriteError> {
        self.write_with(id, octets.len() as u64, |keep, taken| keep.outgoing.append(&octets[..taken as usize]))
            .map(|taken| taken as usize)
    }

    /// Reads octets that are in order, as many as fit into `out`, and returns how many.
    ///
    /// # Errors
    /// If the connection is gone.
    pub fn read(&mut self, id: ConnectionId, out: &mut [u8]) -> Result<usize, Gone> {
        self.with(id, |c| {
            let n = c.read(out.len() as u64) as usize;
            c.keep.incoming.take(&mut out[..n]);
            n
        })
    }
}
