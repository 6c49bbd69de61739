//! What lies in an IP packet and leads to another one: IP in IP, GRE with ERSPAN, and the tunnels in UDP.
//!
//! A tunnel in UDP is recognized by the well-known port of its protocol and by the fixed bits of its header, since any
//! application may use the same port.

use anabranch_stack::wire::ip;

use super::octets::Octets;
use super::{Layer, Step};

/// Protocol numbers of IP (<https://www.iana.org/assignments/protocol-numbers>).
const IN_IPV4: u8 = 4;
const IN_IPV6: u8 = 41;
const GRE: u8 = 47;
const ESP: u8 = 50;
pub const AH: u8 = 51;
const ETHER_IP: u8 = 97;
const MPLS: u8 = 137;
const ETHERNET: u8 = 143;
/// Destination options of IPv6, which may begin the first fragment of a packet.
const OPTIONS: u8 = 60;

/// The payload of an IP packet with `protocol` can hold TCP, so its fragments are worth reassembling.
pub fn can_hold_tcp(protocol: u8) -> bool {
    matches!(protocol, ip::TCP | ip::UDP | IN_IPV4 | IN_IPV6 | GRE | AH | ETHER_IP | MPLS | ETHERNET | OPTIONS)
}

/// The payload `o` of the IP packet `view`, which is no TCP segment and no fragment.
pub fn ip_payload<'a>(view: &ip::View<'_>, o: Octets<'a>) -> Option<Step<'a>> {
    Some(match view.protocol() {
        IN_IPV4 if view.src().is_ipv4() => Step::Into("IP in IP", 0, Layer::Ip, o),
        IN_IPV4 => Step::Into("4in6", 0, Layer::Ip, o),
        IN_IPV6 if view.src().is_ipv4() => Step::Into("6in4", 0, Layer::Ip, o),
        IN_IPV6 => Step::Into("6in6", 0, Layer::Ip, o),
        ip::UDP => return udp(o),
        GRE => return gre(o),
        // RFC 3378 3: version 3, then twelve bits of zero.
        ETHER_IP if o.u16(0)? == 0x3000 => Step::Into("EtherIP", 0, Layer::Ethernet, o.from(2)?),
        MPLS => Step::Next(Layer::Mpls, o),
        // RFC 8986 9.1: the Ethernet frame of a segment-routed packet.
        ETHERNET => Step::Into("Ethernet in IPv6", 0, Layer::Ethernet, o),
        ESP => Step::Closed("ESP"),
        55 => Step::Closed("minimal encapsulation"),
        108 => Step::Closed("IPComp"),
        115 => Step::Closed("L2TPv3"),
        _ => Step::Nothing,
    })
}

/// An IP packet in `o`, named `name`: its version decides.
fn packet<'a>(name: &'static str, number: u32, o: Octets<'a>) -> Option<Step<'a>> {
    match o.u8(0)? >> 4 {
        4 | 6 => Some(Step::Into(name, number, Layer::Ip, o)),
        _ => Some(Step::Closed(name)),
    }
}

// ---- GRE -----------------------------------------------------------------------------------------------------------

const CHECKSUM: u16 = 0x8000;
const ROUTING: u16 = 0x4000;
const KEY: u16 = 0x2000;
const SEQUENCE: u16 = 0x1000;
/// Of version 1.
const ACKNOWLEDGEMENT: u16 = 0x0080;

/// RFC 2784 2, RFC 2890 2, RFC 1701 (routing); version 1 is PPTP's (RFC 2637 4.1).
fn gre(o: Octets<'_>) -> Option<Step<'_>> {
    let (flags, kind) = (o.u16(0)?, o.u16(2)?);
    match flags & 7 {
        0 => {}
        1 => return pptp(flags, o),
        _ => return Some(Step::Closed("GRE")),
    }
    let (mut at, mut key) = (4, 0);
    if flags & (CHECKSUM | ROUTING) != 0 {
        at += 4;
    }
    if flags & KEY != 0 {
        key = o.u32(at)?;
        at += 4;
    }
    if flags & SEQUENCE != 0 {
        at += 4;
    }
    if flags & ROUTING != 0 {
        // RFC 1701: address family, offset, length, addresses; a family and a length of zero end the list.
        loop {
            let (family, len) = (o.u16(at)?, o.u8(at + 3)?);
            at += 4 + usize::from(len);
            if (family, len) == (0, 0) {
                break;
            }
        }
    }
    let rest = o.from(at)?;
    Some(match kind {
        // ERSPAN (draft-foschiano-erspan): type I has no header of its own and no sequence number.
        0x88be if flags & SEQUENCE == 0 => Step::Into("ERSPAN", 0, Layer::Ethernet, rest),
        0x88be => return erspan(rest),
        0x22eb => return erspan(rest),
        // WCCP: a redirect header of four octets may precede the packet.
        0x883e if rest.u8(0)? >> 4 == 4 => Step::Into("GRE", key, Layer::Ip, rest),
        0x883e => return packet("GRE", key, rest.from(4)?),
        kind => Step::Into("GRE", key, Layer::EtherType(kind), rest),
    })
}

/// PPTP's data: the lower half of the key is the call, the upper half the length of the PPP frame.
fn pptp(flags: u16, o: Octets<'_>) -> Option<Step<'_>> {
    if flags & KEY == 0 || o.u16(2)? != 0x880b {
        return Some(Step::Closed("GRE"));
    }
    let (len, call) = (o.u16(4)?, o.u16(6)?);
    let more = [SEQUENCE, ACKNOWLEDGEMENT].iter().filter(|flag| flags & **flag != 0).count();
    if len == 0 {
        return Some(Step::Nothing);
    }
    Some(Step::Into("GRE", call.into(), Layer::Ppp, o.from(8 + 4 * more)?.first(len.into())))
}

/// ERSPAN type II (version 1, 8 octets) and III (version 2, 12 octets, and 8 more if O is set).
fn erspan(o: Octets<'_>) -> Option<Step<'_>> {
    let session = u32::from(o.u16(2)? & 0x03ff);
    let into = |layer, rest| Some(Step::Into("ERSPAN", session, layer, rest));
    match o.u8(0)? >> 4 {
        1 => into(Layer::Ethernet, o.from(8)?),
        2 => {
            let last = o.u16(10)?;
            let rest = o.from(if last & 1 == 0 { 12 } else { 20 })?;
            match last >> 10 & 0x1f {
                0 => into(Layer::Ethernet, rest),
                2 => into(Layer::Ip, rest),
                _ => Some(Step::Closed("ERSPAN")),
            }
        }
        _ => Some(Step::Closed("ERSPAN")),
    }
}

// ---- UDP -----------------------------------------------------------------------------------------------------------

/// The tunnel that a UDP datagram belongs to, by the server's port.
fn udp(o: Octets<'_>) -> Option<Step<'_>> {
    let (src, dst, len) = (o.u16(0)?, o.u16(2)?, usize::from(o.u16(4)?));
    // Segmentation offload leaves a length of zero.
    let data = o.from(8)?.first(if len < 8 { usize::MAX } else { len - 8 });
    match dst {
        4789 | 8472 => return vxlan(data),
        4790 => return vxlan_gpe(data),
        6081 => return geneve(data),
        6635 => return Some(Step::Next(Layer::Mpls, data)), // RFC 7510
        4754 => return gre(data),                           // RFC 8086
        4341 => return lisp(data),
        37008 => return tzsp(data),
        5247 => return Some(Step::Closed("CAPWAP")),
        _ => {}
    }
    match [dst, src].into_iter().find_map(symmetric) {
        Some(open) => open(data),
        None => Some(Step::Nothing),
    }
}

type Open = for<'a> fn(Octets<'a>) -> Option<Step<'a>>;

/// Protocols whose port may be at either end.
fn symmetric(port: u16) -> Option<Open> {
    Some(match port {
        1194 => openvpn,
        1701 => l2tp,
        2152 => gtp_u,
        3544 => teredo,
        4500 => esp,
        51820 => wireguard,
        _ => return None,
    })
}

/// RFC 7348 5: the flag I, and a network identifier of 24 bits.
fn vxlan(o: Octets<'_>) -> Option<Step<'_>> {
    Some(match o.u8(0)? & 0x08 {
        0 => Step::Nothing,
        _ => Step::Into("VXLAN", o.u32(4)? >> 8, Layer::Ethernet, o.from(8)?),
    })
}

/// draft-ietf-nvo3-vxlan-gpe 3: with the flag P an octet says what follows.
fn vxlan_gpe(o: Octets<'_>) -> Option<Step<'_>> {
    let (flags, next, network, rest) = (o.u8(0)?, o.u8(3)?, o.u32(4)? >> 8, o.from(8)?);
    let layer = match next {
        _ if flags & 0x08 == 0 => return Some(Step::Nothing),
        _ if flags & 0x04 == 0 => Layer::Ethernet,
        1 | 2 => Layer::Ip,
        3 => Layer::Ethernet,
        4 => Layer::EtherType(0x894f),
        5 => Layer::Mpls,
        _ => return Some(Step::Closed("VXLAN")),
    };
    Some(Step::Into("VXLAN", network, layer, rest))
}

/// RFC 8926 3.4: version 0, options of up to 252 octets, an EtherType. O marks control packets.
fn geneve(o: Octets<'_>) -> Option<Step<'_>> {
    let (first, flags) = (o.u8(0)?, o.u8(1)?);
    if first >> 6 != 0 || flags & 0x80 != 0 {
        return Some(Step::Nothing);
    }
    let rest = o.from(8 + 4 * usize::from(first & 0x3f))?;
    Some(Step::Into("Geneve", o.u32(4)? >> 8, Layer::EtherType(o.u16(2)?), rest))
}

/// 3GPP TS 29.281 5: version 1, protocol type GTP; message 255 carries a packet, after extension headers of which each says
/// what the next one is.
fn gtp_u(o: Octets<'_>) -> Option<Step<'_>> {
    let flags = o.u8(0)?;
    if flags >> 4 != 3 || o.u8(1)? != 255 {
        return Some(Step::Nothing);
    }
    let (len, endpoint) = (usize::from(o.u16(2)?), o.u32(4)?);
    let mut at = 8;
    if flags & 7 != 0 {
        let mut next = if flags & 4 != 0 { o.u8(11)? } else { 0 };
        at = 12;
        while next != 0 {
            let extension = 4 * usize::from(o.u8(at)?);
            if extension == 0 {
                return Some(Step::Closed("GTP-U"));
            }
            at += extension;
            next = o.u8(at - 1)?;
        }
    }
    packet("GTP-U", endpoint, o.from(at)?.first((8 + len).checked_sub(at)?))
}

/// RFC 2661 3.1: of version 2, the optional length, sequence numbers and offset of a data message; then PPP.
fn l2tp(o: Octets<'_>) -> Option<Step<'_>> {
    let flags = o.u16(0)?;
    match flags & 0x800f {
        2 => {}
        3 => return Some(Step::Closed("L2TPv3")),
        _ => return Some(Step::Nothing),
    }
    let mut at = if flags & 0x4000 != 0 { 4 } else { 2 };
    let session = o.u32(at)?;
    at += if flags & 0x0800 != 0 { 8 } else { 4 };
    if flags & 0x0200 != 0 {
        at += 2 + usize::from(o.u16(at)?);
    }
    Some(Step::Into("L2TP", session, Layer::Ppp, o.from(at)?))
}

/// RFC 4380 5.1.1: authentication and origin may precede the IPv6 packet.
fn teredo(mut o: Octets<'_>) -> Option<Step<'_>> {
    if o.u16(0)? == 1 {
        o = o.from(13 + usize::from(o.u8(2)?) + usize::from(o.u8(3)?))?;
    }
    if o.u16(0)? == 0 {
        o = o.from(8)?;
    }
    Some(if o.u8(0)? >> 4 == 6 { Step::Into("Teredo", 0, Layer::Ip, o) } else { Step::Nothing })
}

/// RFC 9300 5.3: eight octets, then an IP packet.
fn lisp(o: Octets<'_>) -> Option<Step<'_>> {
    packet("LISP", o.u32(4)?, o.from(8)?)
}

/// TaZmen Sniffer Protocol: version 1, a type, what was captured, then fields until the one with number 1.
fn tzsp(o: Octets<'_>) -> Option<Step<'_>> {
    if o.u8(0)? != 1 || o.u8(1)? > 1 {
        return Some(Step::Nothing);
    }
    let mut at = 4;
    let rest = loop {
        match o.u8(at)? {
            0 => at += 1,
            1 => break o.from(at + 1)?,
            _ => at += 2 + usize::from(o.u8(at + 1)?),
        }
    };
    Some(match o.u16(2)? {
        1 => Step::Into("TZSP", 0, Layer::Ethernet, rest),
        18 => Step::Into("TZSP", 0, Layer::Wifi { padded: false }, rest),
        _ => Step::Closed("TZSP"),
    })
}

/// RFC 3948 2: four octets of zero begin a message of IKE, a single octet keeps a mapping alive; all else is ESP.
fn esp(o: Octets<'_>) -> Option<Step<'_>> {
    Some(if o.sent == 1 || o.u32(0)? == 0 { Step::Nothing } else { Step::Closed("ESP") })
}

/// The four types of messages, each followed by three octets of zero (<https://www.wireguard.com/protocol/>).
fn wireguard(o: Octets<'_>) -> Option<Step<'_>> {
    Some(if matches!(o.array(0)?, [1..=4, 0, 0, 0]) { Step::Closed("WireGuard") } else { Step::Nothing })
}

/// The five upper bits of the first octet are one of eleven operation codes.
fn openvpn(o: Octets<'_>) -> Option<Step<'_>> {
    Some(if matches!(o.u8(0)? >> 3, 1..=11) { Step::Closed("OpenVPN") } else { Step::Nothing })
}
