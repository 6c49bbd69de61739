//! IPv4 (RFC 791) and IPv6 (RFC 8200) headers, as far as a TCP endpoint and a reader of captures need them.
//! Options of IPv4 are skipped, whatever they are (RFC 9293 3.9.2: MUST-50).
//!
//! [`View`] reads either version by the same questions. IPv4 options and IPv6 extension headers are skipped; fragments are
//! described ([`View::fragment`]), not reassembled. Offloading leaves traces in captures that are no errors: a total length of zero (the real
//! one did not fit, or was not filled in yet) means "up to the end of the packet".

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::checksum::Sum;
pub use super::checksum::TCP;
use super::{Error, get, require, u16_at, u32_at};
use crate::segment::Ecn;

/// The protocol number of UDP.
pub const UDP: u8 = 17;

const V4_LEN: usize = 20;
const V6_LEN: usize = 40;
const FRAGMENT_LEN: usize = 8;

/// What a fragment says of its place in the packet that was fragmented (RFC 791 3.2, RFC 8200 4.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment<'a> {
    /// Identification, of 16 bits in IPv4.
    pub id: u32,
    /// Where its octets belong in the fragmentable part of the packet.
    pub offset: usize,
    /// Further fragments follow this one.
    pub more: bool,
    /// The protocol with which the fragmentable part begins.
    pub protocol: u8,
    /// The octets that are there.
    pub bytes: &'a [u8],
    /// How many were sent.
    pub len: usize,
}

/// An IP packet in bytes.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    bytes: &'a [u8],
    /// Octets before the payload, extension headers included.
    header_len: usize,
    /// Octets of payload as sent.
    payload_len: usize,
    protocol: u8,
    /// Offset of the IPv6 fragment header.
    fragment: Option<usize>,
}

impl<'a> View<'a> {
    /// A packet that is whole in `bytes`.
    ///
    /// # Errors
    /// If they are no IP packet or end within the header.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Result<Self, Error> {
        Self::cut(bytes, bytes.len())
    }

    /// A packet that a capture may have cut to `bytes`. It had `sent` octets, which counts where the header gives no length.
    ///
    /// # Errors
    /// If they are no IP packet or end within the header.
    #[inline]
    pub fn cut(bytes: &'a [u8], sent: usize) -> Result<Self, Error> {
        require("IP header", bytes, V4_LEN)?;
        match bytes[0] >> 4 {
            4 => Self::v4(bytes, sent),
            6 => Self::v6(bytes, sent),
            version => Err(Error::Field { what: "IP version", value: version.into() }),
        }
    }

    #[inline]
    fn v4(bytes: &'a [u8], sent: usize) -> Result<Self, Error> {
        let header_len = usize::from(bytes[0] & 0x0f) * 4;
        if header_len < V4_LEN {
            return Err(Error::Field { what: "IPv4 header length", value: header_len as u32 });
        }
        require("IPv4 header", bytes, header_len)?;
        let total = match u16_at(bytes, 2) {
            0 => sent.max(bytes.len()),
            total => usize::from(total),
        };
        let Some(payload_len) = total.checked_sub(header_len) else {
            return Err(Error::Field { what: "IPv4 total length", value: total as u32 });
        };
        Ok(Self { bytes, header_len, payload_len, protocol: bytes[9], fragment: None })
    }

    #[inline]
    fn v6(bytes: &'a [u8], sent: usize) -> Result<Self, Error> {
        require("IPv6 header", bytes, V6_LEN)?;
        let total = match u16_at(bytes, 4) {
            0 => sent.max(bytes.len()),
            len => V6_LEN + usize::from(len),
        };
        let (mut at, mut protocol, mut fragment) = (V6_LEN, bytes[6], None);
        // RFC 8200 4: hop-by-hop options, routing, destination options; fragment; RFC 4302: authentication.
        while matches!(protocol, 0 | 43 | 44 | 51 | 60) {
            require("IPv6 extension header", bytes, at + 8)?;
            let len = match protocol {
                44 => {
                    fragment = Some(at);
                    FRAGMENT_LEN
                }
                51 => 4 * (usize::from(bytes[at + 1]) + 2),
                _ => 8 * (usize::from(bytes[at + 1]) + 1),
            };
            (protocol, at) = (bytes[at], at + len);
            if fragment.is_some_and(|f| u16_at(bytes, f + 2) & 0xfff8 != 0) {
                break; // what follows the header of a later fragment is no header
            }
        }
        require("IPv6 extension header", bytes, at)?;
        let Some(payload_len) = total.checked_sub(at) else {
            return Err(Error::Field { what: "IPv6 payload length", value: (total - V6_LEN) as u32 });
        };
        Ok(Self { bytes, header_len: at, payload_len, protocol, fragment })
    }

    #[inline]
    fn is_v4(&self) -> bool {
        self.bytes[0] >> 4 == 4
    }

    /// Source address.
    #[inline]
    pub fn src(&self) -> IpAddr {
        if self.is_v4() {
            Ipv4Addr::from(get::<4>(self.bytes, 12)).into()
        } else {
            Ipv6Addr::from(get::<16>(self.bytes, 8)).into()
        }
    }

    /// Destination address.
    #[inline]
    pub fn dst(&self) -> IpAddr {
        if self.is_v4() {
            Ipv4Addr::from(get::<4>(self.bytes, 16)).into()
        } else {
            Ipv6Addr::from(get::<16>(self.bytes, 24)).into()
        }
    }

    /// The protocol of the payload, after any extension headers.
    #[inline]
    pub fn protocol(&self) -> u8 {
        self.protocol
    }

    /// Type of service or traffic class, ECN field included.
    #[inline]
    pub fn traffic_class(&self) -> u8 {
        if self.is_v4() { self.bytes[1] } else { (u16_at(self.bytes, 0) >> 4) as u8 }
    }

    /// The ECN field (RFC 3168 5: ECT(1) is treated as ECT(0)).
    #[inline]
    pub fn ecn(&self) -> Ecn {
        match self.traffic_class() & 3 {
            0 => Ecn::NotEct,
            3 => Ecn::Ce,
            _ => Ecn::Ect0,
        }
    }

    /// Time to live or hop limit.
    pub fn hop_limit(&self) -> u8 {
        self.bytes[if self.is_v4() { 8 } else { 7 }]
    }

    /// Identification of an IPv4 packet, zero for IPv6.
    pub fn id(&self) -> u16 {
        if self.is_v4() { u16_at(self.bytes, 4) } else { 0 }
    }

    /// The packet is a fragment. Only the fragment with offset zero begins with the header of [`View::protocol`].
    #[inline]
    pub fn is_fragment(&self) -> bool {
        match self.fragment {
            Some(at) => u16_at(self.bytes, at + 2) & 0xfff9 != 0,
            None => self.is_v4() && u16_at(self.bytes, 6) & 0x3fff != 0,
        }
    }

    /// The fragment that the packet is; `None` if it is whole.
    pub fn fragment(&self) -> Option<Fragment<'a>> {
        if !self.is_fragment() {
            return None;
        }
        // Other extension headers may follow the fragment header: they are part of what was fragmented.
        let (start, id, offset, more, protocol) = match self.fragment {
            Some(at) => {
                let field = u16_at(self.bytes, at + 2);
                let id = u32_at(self.bytes, at + 4);
                (at + FRAGMENT_LEN, id, usize::from(field & 0xfff8), field & 1 != 0, self.bytes[at])
            }
            None => {
                let field = u16_at(self.bytes, 6);
                let offset = 8 * usize::from(field & 0x1fff);
                (self.header_len, self.id().into(), offset, field & 0x2000 != 0, self.protocol)
            }
        };
        let len = self.payload_len + self.header_len - start;
        let rest = &self.bytes[start..];
        Some(Fragment { id, offset, more, protocol, bytes: &rest[..rest.len().min(len)], len })
    }

    /// Octets of all headers.
    #[inline]
    pub fn header_len(&self) -> usize {
        self.header_len
    }

    /// Octets of payload as sent, also if fewer are there.
    #[inline]
    pub fn payload_len(&self) -> usize {
        self.payload_len
    }

    /// The octets of payload that are there (padding after the packet is not).
    #[inline]
    pub fn payload(&self) -> &'a [u8] {
        let rest = &self.bytes[self.header_len..];
        &rest[..rest.len().min(self.payload_len)]
    }

    /// The header checksum is right; IPv6 has none.
    pub fn checksum_ok(&self) -> bool {
        !self.is_v4() || Sum::of(&self.bytes[..self.header_len]).is_valid()
    }
}

/// The fields of an IP header without options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Source address.
    pub src: IpAddr,
    /// Destination address, of the same family.
    pub dst: IpAddr,
    /// Protocol of the payload.
    pub protocol: u8,
    /// The ECN field; the rest of the traffic class is zero.
    pub ecn: Ecn,
    /// Time to live or hop limit.
    pub hop_limit: u8,
    /// IPv4 identification.
    pub id: u16,
    /// Octets of payload.
    pub payload_len: u16,
}

impl Header {
    /// The fields of the header in `view`.
    pub fn parse(view: &View<'_>) -> Self {
        Self {
            src: view.src(),
            dst: view.dst(),
            protocol: view.protocol(),
            ecn: view.ecn(),
            hop_limit: view.hop_limit(),
            id: view.id(),
            payload_len: u16::try_from(view.payload_len()).unwrap_or(u16::MAX),
        }
    }

    /// Octets it takes.
    #[inline]
    pub fn wire_len(&self) -> usize {
        if self.src.is_ipv4() { V4_LEN } else { V6_LEN }
    }

    /// Appends the header; IPv4 with "don't fragment" (RFC 1191 3) and its checksum.
    ///
    /// # Errors
    /// If the addresses are of different families, or the packet is too long for IPv4.
    pub fn emit(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        let ecn = match self.ecn {
            Ecn::NotEct => 0,
            Ecn::Ect0 => 2,
            Ecn::Ce => 3,
        };
        match (self.src, self.dst) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => {
                let Some(total) = self.payload_len.checked_add(V4_LEN as u16) else {
                    return Err(Error::Field { what: "IPv4 payload length", value: self.payload_len.into() });
                };
                let at = out.len();
                out.extend([0x45, ecn]);
                out.extend(total.to_be_bytes());
                out.extend(self.id.to_be_bytes());
                out.extend([0x40, 0, self.hop_limit, self.protocol, 0, 0]);
                out.extend(src.octets());
                out.extend(dst.octets());
                let checksum = Sum::of(&out[at..]).checksum();
                out[at + 10..at + 12].copy_from_slice(&checksum.to_be_bytes());
            }
            (IpAddr::V6(src), IpAddr::V6(dst)) => {
                out.extend([0x60, ecn << 4, 0, 0]);
                out.extend(self.payload_len.to_be_bytes());
                out.extend([self.protocol, self.hop_limit]);
                out.extend(src.octets());
                out.extend(dst.octets());
            }
            _ => return Err(Error::Field { what: "family of the destination address", value: 0 }),
        }
        Ok(())
    }
}
