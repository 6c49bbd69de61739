//! Link types: where the first header of a frame is. Numbers:
//! <https://www.tcpdump.org/linktypes.html>.
//!
//! Most records of most captures are an IP packet directly behind the header of Ethernet, of Linux
//! cooked, or without any header. For these there is a short way ([`plain`]); all others are opened
//! header by header ([`super`]).

use super::frames::{V4, V6};
use super::octets::Octets;
use super::{Layer, Step, logs, wifi};

/// The IP packet directly behind the link's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inside<'a> {
    /// The octets from the IP header on; padding may follow the packet.
    pub ip: &'a [u8],
    /// Octets of the frame before the IP header.
    pub before: u32,
    /// The interface index at the host that captured it, which Linux cooked v2 has in every frame; else zero.
    pub index: u32,
}

/// The IP packet directly behind the header of the most frequent link types; `None` if there is anything else.
#[inline]
pub fn plain(link: u32, frame: &[u8]) -> Option<Inside<'_>> {
    let (kind, before, index) = match link {
        1 => (12, 14, 0),
        113 => (14, 16, 0),
        276 => (0, 20, u32::from_be_bytes(*frame.get(4..)?.first_chunk()?)),
        12 | 14 | 101 | 228 | 229 => return Some(Inside { ip: frame, before: 0, index: 0 }),
        _ => return None,
    };
    let kind = u16::from_be_bytes(*frame.get(kind..)?.first_chunk()?);
    let ip = frame.get(before as usize..)?;
    matches!(kind, V4 | V6).then_some(Inside { ip, before, index })
}

/// The first header in a frame of link type `link`.
pub fn start(link: u32, o: Octets<'_>) -> Option<Step<'_>> {
    let next = |layer, at| Some(Step::Next(layer, o.from(at)?));
    match link {
        1 => next(Layer::Ethernet, 0),
        113 => cooked(o.u16(14)?, o.from(16)?),
        276 => match cooked(o.u16(0)?, o.from(20)?)? {
            Step::Next(layer, rest) => Some(Step::At(o.u32(4)?, layer, rest)),
            other => Some(other),
        },
        // BSD loopback: four octets of address family. Its values differ between systems, so the IP version decides.
        0 | 108 => next(Layer::Ip, 4),
        12 | 14 | 101 | 228 | 229 => next(Layer::Ip, 0),
        // Cisco's framing on a serial line begins with 0x0f or 0x8f (RFC 1547 4.3.1).
        9 | 50 => next(if matches!(o.u8(0)?, 0x0f | 0x8f) { Layer::CiscoHdlc } else { Layer::Ppp }, 0),
        51 => next(Layer::EtherType(0x8864), 0),
        // The direction is in the address octet, or in an octet before the frame.
        166 => next(Layer::Ppp, 2),
        204 => next(Layer::Ppp, 1),
        205 => next(Layer::CiscoHdlc, 1),
        206 => next(Layer::FrameRelay, 1),
        104 => next(Layer::CiscoHdlc, 0),
        107 => next(Layer::FrameRelay, 0),
        // FDDI: frame control and two addresses. Token Ring: the source address says whether routing information follows.
        10 => next(Layer::Llc, 13),
        6 if o.u8(8)? & 0x80 == 0 => next(Layer::Llc, 14),
        6 => next(Layer::Llc, 14 + usize::from(o.u8(14)? & 0x1f)),
        11 | 100 => next(Layer::Llc, 0),
        105 => next(Layer::Wifi { padded: false }, 0),
        119 => wifi::prism(o),
        127 => wifi::radiotap(o),
        163 => wifi::avs(o),
        192 => wifi::ppi(o),
        219 => next(Layer::Mpls, 0),
        109 => logs::enc(o),
        117 => logs::pflog(o),
        239 => logs::nflog(o),
        258 => logs::pktap(o),
        _ => Some(Step::UnknownLink),
    }
}

/// Linux cooked: an EtherType, or 4 for IEEE 802.2.
fn cooked(kind: u16, rest: Octets<'_>) -> Option<Step<'_>> {
    Some(Step::Next(if kind == 4 { Layer::Llc } else { Layer::EtherType(kind) }, rest))
}
