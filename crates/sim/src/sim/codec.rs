//! From typed segments to bytes and back: addresses, ports, payload octets, checksums.
//!
//! A run needs none of it. A capture writes the bytes of what passes; with `bytes = true` every segment that reaches its
//! host is emitted and parsed on the way in, which must change nothing.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use anabranch_stack::mptcp::keys::initial_dsn;
use anabranch_stack::segment::{Dss, Mapping, Mptcp, Payload, Segment};
use anabranch_stack::wire::checksum::Sum;
use anabranch_stack::wire::segment::{Envelope, emit, parse};
use anabranch_stack::wire::{Error, udp};

use super::content;
use super::packet::Packet;
use anabranch_scenario::{Connection, Protocol, Scenario};

/// The first connection's port at its server; the following connections have the following ones.
const SERVER_PORT: u16 = 5001;
/// The client's port of a connection's first 4-tuple; the following ones have the following, from 49152 to 65535 (RFC 6335 6).
const CLIENT_PORT: u16 = 49_152;

/// The interface addresses of each path, the client's and the server's. An interface is a host's end of a link: 10, the link's
/// number in two octets, 1 at its end `a` and 2 at its end `b`.
pub fn addresses(scenario: &Scenario, connection: &Connection) -> Vec<[IpAddr; 2]> {
    let address = |link: usize, host: usize| {
        let [.., high, low] = (link as u32).to_be_bytes();
        IpAddr::V4(Ipv4Addr::new(10, high, low, if scenario.links[link].a == host { 1 } else { 2 }))
    };
    let ends = |p: &Vec<usize>| [address(p[0], connection.client), address(p[p.len() - 1], connection.server)];
    connection.paths.iter().map(ends).collect()
}

#[derive(Debug)]
struct Ends {
    protocol: Protocol,
    addresses: Vec<[IpAddr; 2]>,
    /// First data sequence number of the client's stream and of the server's, low 32 bits; where DSS checksums want it.
    first_dsn: [Option<u32>; 2],
    /// Octets of the client's stream that came with its SYN, and have no data sequence numbers (RFC 8684 B.2).
    unnumbered: u32,
}

/// The codec of all connections.
#[derive(Debug)]
pub struct Codec {
    connections: Vec<Ends>,
    bytes: Vec<u8>,
}

impl Codec {
    /// For the connections of `scenario`.
    pub fn new(scenario: &Scenario) -> Self {
        let ends = |c: &Connection| {
            let addresses = addresses(scenario, c);
            Ends { protocol: c.protocol, addresses, first_dsn: [None; 2], unnumbered: 0 }
        };
        Self { connections: scenario.connections.iter().map(ends).collect(), bytes: Vec::new() }
    }

    /// Looks at a segment when it is sent: the keys tell where the data sequence numbers begin (RFC 8684 3.1).
    pub fn note(&mut self, packet: &Packet) {
        let first = &mut self.connections[packet.connection as usize].first_dsn;
        let from = |key| Some(initial_dsn(key).wrapping_add(1) as u32);
        match packet.segment.options.mptcp {
            Mptcp::CapableSynAck { key, .. } => first[1] = from(key),
            Mptcp::CapableAck { sender_key, .. } if first[0].is_none() => first[0] = from(sender_key),
            _ => {}
        }
    }

    /// The server of `connection` took so many octets of the client's SYN.
    pub fn note_fast_open(&mut self, connection: usize, octets: u32) {
        self.connections[connection].unnumbered = octets;
    }

    fn envelope(&self, packet: &Packet, path: usize) -> Envelope {
        let [client, server] = self.connections[packet.connection as usize].addresses[path];
        let own = CLIENT_PORT + (packet.tuple % (1 << 14)) as u16;
        let client = SocketAddr::new(client, if packet.port > 0 { packet.port } else { own });
        let server = SocketAddr::new(server, SERVER_PORT.wrapping_add(packet.connection as u16));
        let (src, dst) = if packet.up { (client, server) } else { (server, client) };
        Envelope { src, dst, id: packet.ip_id }
    }

    /// The bytes of a packet on path `path` of its connection.
    ///
    /// # Errors
    /// If it has none: it is longer than an IP packet can be.
    pub fn emit(&mut self, packet: &Packet, path: usize) -> Result<&[u8], Error> {
        let envelope = self.envelope(packet, path);
        let ends = &self.connections[packet.connection as usize];
        let payload = packet.segment.payload;
        let fill = |out: &mut [u8]| write_payload(payload, out);
        self.bytes.clear();
        if ends.protocol == Protocol::Udp {
            udp::emit(payload.len, &envelope, fill, &mut self.bytes)?;
        } else {
            let unnumbered = if packet.up { ends.unnumbered } else { 0 };
            let mapped = mapped(&packet.segment, ends.first_dsn[usize::from(!packet.up)], unnumbered);
            emit(&packet.segment, &envelope, mapped, fill, &mut self.bytes)?;
        }
        if let (true, Some(last)) = (packet.corrupted, self.bytes.last_mut()) {
            *last ^= 1; // any change will do: the checksum tells
        }
        Ok(&self.bytes)
    }

    /// The segment that the receiving host makes of the bytes of `packet`; `path` as in [`Codec::emit`].
    ///
    /// # Panics
    /// If bytes and segment do not say the same. That would be a fault of this program.
    pub fn through(&mut self, packet: &Packet, path: usize) -> Segment {
        let envelope = self.envelope(packet, path);
        let at = || format!("connection {} subflow {}: {:?}", packet.connection, packet.tuple, packet.segment);
        let len = self.emit(packet, path).unwrap_or_else(|e| panic!("{e}: {}", at())).len();
        assert_eq!(len, packet.wire_len as usize, "length of {}", at());
        let (mut segment, found, octets) = parse(&self.bytes).unwrap_or_else(|e| panic!("{e}: {}", at()));
        assert_eq!(found, envelope, "{}", at());
        // The bytes do not say where in the stream the payload belongs; that the octets are the right ones proves it.
        let mut expected = vec![0; octets.len()];
        write_payload(packet.segment.payload, &mut expected);
        assert_eq!(octets, expected, "payload of {}", at());
        segment.payload.offset = packet.segment.payload.offset;
        segment
    }
}

/// The octets of a payload, as a middlebox may have changed them: the difference is in the first word.
fn write_payload(payload: Payload, out: &mut [u8]) {
    content::fill(payload.offset, out);
    if payload.sum != 0 {
        if let Some(first) = out.first_chunk_mut::<2>() {
            *first = Sum(u16::from_be_bytes(*first)).plus(Sum(payload.sum)).0.to_be_bytes();
        } else if let [only] = out {
            *only = Sum(u16::from(*only) << 8).plus(Sum(payload.sum)).0.to_be_bytes()[0];
        }
    }
}

/// The sum of the octets that the segment's mapping covers, as their sender wrote them, if these are not its payload.
fn mapped(segment: &Segment, first_dsn: Option<u32>, unnumbered: u32) -> Option<Sum> {
    let (offset, len) = match segment.options.mptcp {
        Mptcp::CapableAck { data: Some((len, Some(_))), .. } => (unnumbered.into(), u32::from(len)),
        Mptcp::Dss(Dss { mapping: Some(Mapping { dsn, len, checksum: Some(_), .. }), data_fin, .. }) => {
            // The mapping begins at most 64 kB from the payload, so 32 bits tell how far.
            let offset = (dsn as u32).wrapping_sub(first_dsn?).wrapping_add(unnumbered);
            let ahead = offset.wrapping_sub(segment.payload.offset as u32) as i32;
            let len = u32::from(len) - u32::from(data_fin && len > 0);
            if len == 0 {
                return Some(Sum(0));
            }
            (segment.payload.offset.wrapping_add_signed(ahead.into()), len)
        }
        _ => return None,
    };
    let Payload { offset: there, len: octets, sum, .. } = segment.payload;
    ((offset, len) != (there, octets) || sum != 0).then(|| content::sum(offset, len as usize))
}
