//! What lies between a link's header and IP: EtherTypes with their tags, LLC and SNAP, PPP, Cisco HDLC, Frame Relay, MPLS and
//! its pseudo-wires, MACsec, NSH.

use anabranch_stack::wire::checksum::Sum;

use super::octets::Octets;
use super::{Layer, Step};

/// The EtherType of IPv4 (<https://www.iana.org/assignments/ieee-802-numbers>).
pub const V4: u16 = 0x0800;
/// The EtherType of IPv6.
pub const V6: u16 = 0x86dd;
/// IEEE 802.1Q, 802.1ad, and older numbers for stacked tags.
const TAGS: [u16; 4] = [0x8100, 0x88a8, 0x9100, 0x9200];
/// Below this the field is a length and LLC follows (IEEE 802.3 3.2.6).
const LEAST: u16 = 0x0600;

/// The frame of an Ethernet: two addresses, then an EtherType or a length.
pub fn ethernet(o: Octets<'_>) -> Option<Step<'_>> {
    typed(o, 12)
}

/// The EtherType or length at `at`; the payload follows.
pub fn typed(o: Octets<'_>, at: usize) -> Option<Step<'_>> {
    let (kind, rest) = (o.u16(at)?, o.from(at + 2)?);
    Some(match kind {
        kind if kind < LEAST => Step::Next(Layer::Llc, rest.first(kind.into())),
        kind => Step::Next(Layer::EtherType(kind), rest),
    })
}

/// The payload of EtherType `kind`.
pub fn ether_type(kind: u16, o: Octets<'_>) -> Option<Step<'_>> {
    Some(match kind {
        V4 | V6 => Step::Next(Layer::Ip, o),
        tag if TAGS.contains(&tag) => {
            let number = o.u16(0)? & 0x0fff;
            return Some(typed(o, 2)?.through(number.into()));
        }
        0x8847 | 0x8848 => Step::Next(Layer::Mpls, o),
        // PPPoE session (RFC 2516 4): version and type 1, code 0, session, length.
        0x8864 if o.u8(1)? == 0 => {
            let len = o.u16(4)?;
            Step::Next(Layer::Ppp, o.from(6)?.first(len.into())).through(o.u16(2)?.into())
        }
        0x880b => Step::Next(Layer::Ppp, o),
        // Transparent Ethernet bridging (RFC 1701, RFC 7637).
        0x6558 => Step::Next(Layer::Ethernet, o),
        // IEEE 802.1ah: an I-TAG of four octets, then the customer's frame.
        0x88e7 => Step::Into("PBB", o.u32(0)? & 0x00ff_ffff, Layer::Ethernet, o.from(4)?),
        // Large frames: LLC without a length (IEEE 802.1AC).
        0x8870 => Step::Next(Layer::Llc, o),
        0x88e5 => return macsec(o),
        0x894f => return service_header(o),
        0x22f3 => Step::Closed("TRILL"),
        0x8903 => Step::Closed("FabricPath"),
        0x4305 => Step::Closed("B.A.T.M.A.N."),
        // ARP, RARP, LLDP, EAP, slow protocols, PPPoE discovery.
        0x0806 | 0x8035 | 0x88cc | 0x888e | 0x8809 | 0x8863 => Step::Nothing,
        _ => Step::Unknown,
    })
}

/// IEEE 802.1AE 9: the tag says whether the octets are encrypted (E) or changed at all (C), and whether it has an SCI.
fn macsec(o: Octets<'_>) -> Option<Step<'_>> {
    let control = o.u8(0)?;
    if control & 0x0c != 0 {
        return Some(Step::Closed("MACsec"));
    }
    let header = if control & 0x20 != 0 { 14 } else { 6 };
    match typed(o, header)? {
        Step::Next(layer, rest) => Some(Step::Into("MACsec", 0, layer, rest)),
        other => Some(other),
    }
}

/// RFC 8300 2.2: the length counts words of four octets, the last octet of the base header says what follows.
fn service_header(o: Octets<'_>) -> Option<Step<'_>> {
    let (len, next) = (4 * usize::from(o.u8(1)? & 0x3f), o.u8(3)?);
    let (path, rest) = (o.u32(4)?, o.from(len.max(8))?);
    Some(match next {
        1 | 2 => Step::Into("NSH", path, Layer::Ip, rest),
        3 => Step::Into("NSH", path, Layer::Ethernet, rest),
        5 => Step::Into("NSH", path, Layer::Mpls, rest),
        _ => Step::Closed("NSH"),
    })
}

/// IEEE 802.2: service access points and control; SNAP (IEEE 802) is the access point 0xaa, IP's own is 6.
pub fn llc(o: Octets<'_>) -> Option<Step<'_>> {
    match o.array::<3>(0)? {
        [0xaa, 0xaa, 0x03] => snap(o.from(3)?),
        [0x06, 0x06, 0x03] => Some(Step::Next(Layer::Ip, o.from(3)?)),
        _ => Some(Step::Nothing),
    }
}

/// An organization and its protocol: of organization zero (and of IEEE 802.1H's tunnel) an EtherType, of IEEE 802.1 a bridged
/// frame, with two octets of padding on ATM (RFC 2684 5.2).
fn snap(o: Octets<'_>) -> Option<Step<'_>> {
    let (organization, kind, rest) = (o.array::<3>(0)?, o.u16(3)?, o.from(5)?);
    Some(match (organization, kind) {
        ([0, 0, 0] | [0, 0, 0xf8], kind) => Step::Next(Layer::EtherType(kind), rest),
        ([0, 0x80, 0xc2], 1 | 7) => Step::Next(Layer::Ethernet, rest.from(2)?),
        _ => Step::Nothing,
    })
}

/// PPP: HDLC's address and control octets (RFC 1662 3.1) unless they were left out, then the number of the protocol: two octets,
/// or one if that is odd (RFC 1661 2, 6.5).
pub fn ppp(o: Octets<'_>) -> Option<Step<'_>> {
    let o = if o.here.starts_with(&[0xff, 0x03]) { o.from(2)? } else { o };
    let first = o.u8(0)?;
    let (number, rest) = if first % 2 == 1 { (first.into(), o.from(1)?) } else { (o.u16(0)?, o.from(2)?) };
    Some(match number {
        0x0021 | 0x0057 => Step::Next(Layer::Ip, rest),
        0x0281 | 0x0283 => Step::Next(Layer::Mpls, rest),
        // Van Jacobson's header compression (RFC 1144).
        0x002d | 0x002f => Step::Closed("PPP with compressed headers"),
        0x003d => Step::Closed("multilink PPP"),
        // Encryption (RFC 1968) and compression (RFC 1962; also MPPE, RFC 3078), each of the link or of one of several.
        0x0053 | 0x0055 | 0x00fb | 0x00fd => Step::Closed("PPP, encrypted or compressed"),
        _ => Step::Nothing,
    })
}

/// Cisco's framing (RFC 1547 4.3.1): address, control, EtherType.
pub fn cisco_hdlc(o: Octets<'_>) -> Option<Step<'_>> {
    Some(Step::Next(Layer::EtherType(o.u16(2)?), o.from(4)?))
}

/// An address of two octets or more, the last of which is odd; then control and NLPID (RFC 2427 3), or Cisco's EtherType.
pub fn frame_relay(o: Octets<'_>) -> Option<Step<'_>> {
    let address = 1 + o.here.iter().take(4).position(|octet| octet & 1 == 1)?;
    let o = o.from(address)?;
    if o.u8(0)? != 0x03 {
        return typed(o, 0);
    }
    // A padding octet may precede the NLPID.
    let at = if o.u8(1)? == 0 { 2 } else { 1 };
    let rest = o.from(at + 1)?;
    match o.u8(at)? {
        0xcc | 0x8e => Some(Step::Next(Layer::Ip, rest)),
        0x80 => snap(rest),
        _ => Some(Step::Nothing),
    }
}

/// RFC 3032 2.1: labels until the one with S. What follows is not said: the labels 0 and 2 are IP's (2.1), else the octets
/// decide (RFC 4928 3): IP begins with its version, the control word of a pseudo-wire with zero, its associated channel with 1
/// (RFC 4385).
pub fn mpls(o: Octets<'_>) -> Option<Step<'_>> {
    let (mut at, mut entry) = (0, 0);
    while entry & 0x100 == 0 {
        entry = o.u32(at)?;
        at += 4;
    }
    let (label, rest) = (entry >> 12, o.from(at)?);
    let into = |layer, rest| Some(Step::Into("MPLS", label, layer, rest));
    match rest.u8(0)? >> 4 {
        4 | 6 if matches!(label, 0 | 2) || is_ip(rest) || !is_ethernet(rest) => into(Layer::Ip, rest),
        1 if !is_ethernet(rest) => Some(Step::Nothing),
        0 if rest.from(4).is_some_and(is_ethernet) => into(Layer::Ethernet, rest.from(4)?),
        0 if rest.from(4).is_some_and(is_ip) => into(Layer::Ip, rest.from(4)?),
        _ if is_ethernet(rest) => into(Layer::Ethernet, rest),
        _ if rest.is_cut() && rest.here.len() < 20 => None,
        _ => Some(Step::Closed("MPLS")),
    }
}

/// The octets can be an IP header: an IPv4 header whose checksum is right, or an IPv6 header whose length fits.
fn is_ip(o: Octets<'_>) -> bool {
    let Some(first) = o.u8(0) else { return false };
    match first >> 4 {
        4 => {
            let len = 4 * usize::from(first & 0x0f);
            len >= 20 && o.here.get(..len).is_some_and(|header| Sum::of(header).is_valid())
        }
        6 => o.u16(4).is_some_and(|len| len > 0 && 40 + usize::from(len) <= o.sent),
        _ => false,
    }
}

/// The octets can be an Ethernet frame: a known EtherType at its place, and behind it what that says.
fn is_ethernet(o: Octets<'_>) -> bool {
    let version = o.u8(14).map(|octet| octet >> 4);
    match o.u16(12) {
        Some(V4) => version == Some(4),
        Some(V6) => version == Some(6),
        // ARP, LLDP, MPLS, PPPoE.
        Some(0x0806 | 0x88cc | 0x8847 | 0x8848 | 0x8863 | 0x8864) => true,
        Some(tag) if TAGS.contains(&tag) => true,
        Some(len) if len < LEAST => {
            usize::from(len) + 14 <= o.sent && matches!(o.array(14), Some([0xaa, 0xaa, 0x03] | [0x42, 0x42, 0x03]))
        }
        _ => false,
    }
}
