//! A connection of TCP, and headers of every kind to be put around its packets.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use anabranch_stack::segment::{Ecn, Flags};
use anabranch_stack::wire::ip;
use anabranch_stack::wire::option::TcpOption;
use serde_json::Value;

use crate::capture_formats::{MS, Record, packet, pcap};
use crate::capture_linux::analysed;

/// What is put around a packet, the number of which is given.
pub type Wrap = fn(&[u8], u32) -> Vec<u8>;

// ---- a connection ------------------------------------------------------------------------------------------------------

fn host(v6: bool, n: u8) -> IpAddr {
    match v6 {
        true => Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, n.into()).into(),
        false => Ipv4Addr::new(192, 0, 2, n).into(),
    }
}

/// TCP at the sender: handshake, forty segments of `len` octets of which one is sent again, both FINs.
pub fn connection(v6: bool, len: usize) -> Vec<Record> {
    let ends = [(host(v6, 1), 40_000), (host(v6, 2), 80)];
    let mut out = Vec::new();
    let mut now = 1_000 * MS;
    let mut seq = [1_000_u32, 2_000];
    let mut send = |side: usize, flags: Flags, seq: [u32; 2], now: u64, payload: &[u8]| {
        let ack = if flags.has(Flags::ACK) { seq[1 - side] } else { 0 };
        let options: &[TcpOption<'_>] = if flags.has(Flags::SYN) { &[TcpOption::Mss(1400)] } else { &[] };
        out.push(packet(now, (ends[side], ends[1 - side]), (seq[side], ack), flags, options, payload));
    };
    send(0, Flags::SYN, seq, now, &[]);
    seq[0] += 1;
    now += 20 * MS;
    send(1, Flags::SYN.with(Flags::ACK), seq, now, &[]);
    seq[1] += 1;
    send(0, Flags::ACK, seq, now, &[]);
    for i in 0..40_u8 {
        let payload = vec![i; len];
        send(0, Flags::ACK.with(Flags::PSH), seq, now, &payload);
        if i == 20 {
            send(0, Flags::ACK.with(Flags::PSH), seq, now + 300 * MS, &payload);
            now += 300 * MS;
        }
        seq[0] += len as u32;
        now += 20 * MS;
        send(1, Flags::ACK, seq, now, &[]);
    }
    send(0, Flags::ACK.with(Flags::FIN), seq, now, &[]);
    seq[0] += 1;
    now += 20 * MS;
    send(1, Flags::ACK.with(Flags::FIN), seq, now, &[]);
    seq[1] += 1;
    send(0, Flags::ACK, seq, now + MS / 100, &[]);
    out
}

/// The records, each in `wrap`.
pub fn wrapped(records: &[Record], wrap: Wrap) -> Vec<Record> {
    let one = |(i, r): (usize, &Record)| {
        let octets = wrap(&r.octets, i as u32);
        Record { time: r.time, sent: octets.len() as u32, octets }
    };
    records.iter().enumerate().map(one).collect()
}

pub fn file(link: u32, records: &[Record]) -> Vec<u8> {
    pcap(records, false, true, link, &[])
}

/// What must not depend on the encapsulation.
pub fn essence(file: &[u8]) -> Value {
    let mut summary = analysed(file).summary;
    summary["title"] = Value::Null;
    summary["capture"] = Value::Null;
    summary
}

// ---- headers -----------------------------------------------------------------------------------------------------------

/// The EtherType of an IP packet.
pub fn kind(packet: &[u8]) -> u16 {
    if packet[0] >> 4 == 4 { 0x0800 } else { 0x86dd }
}

pub fn ethernet(kind: u16, payload: &[u8]) -> Vec<u8> {
    [&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2], kind.to_be_bytes().as_slice(), payload].concat()
}

/// An Ethernet frame with the packet.
pub fn frame(packet: &[u8], _: u32) -> Vec<u8> {
    ethernet(kind(packet), packet)
}

pub fn outer(v6: bool, protocol: u8, payload: &[u8], id: u32) -> Vec<u8> {
    let (src, dst): (IpAddr, IpAddr) = match v6 {
        false => (Ipv4Addr::new(203, 0, 113, 1).into(), Ipv4Addr::new(203, 0, 113, 2).into()),
        true => ("2001:db8:ffff::1".parse().expect("an address"), "2001:db8:ffff::2".parse().expect("an address")),
    };
    let header = ip::Header {
        src,
        dst,
        protocol,
        ecn: Ecn::NotEct,
        hop_limit: 64,
        id: id as u16,
        payload_len: payload.len() as u16,
    };
    let mut out = Vec::new();
    header.emit(&mut out).expect("a header");
    out.extend(payload);
    out
}

/// An Ethernet frame with an IPv4 packet of this protocol.
pub fn in_ip(protocol: u8, payload: &[u8], id: u32) -> Vec<u8> {
    frame(&outer(false, protocol, payload, id), id)
}

pub fn in_udp(port: u16, payload: &[u8], id: u32) -> Vec<u8> {
    let header = [40_001_u16, port, 8 + payload.len() as u16, 0].map(u16::to_be_bytes).concat();
    in_ip(17, &[&header, payload].concat(), id)
}

pub fn gre(flags: u16, kind: u16, more: &[u8], payload: &[u8], id: u32) -> Vec<u8> {
    in_ip(47, &[&flags.to_be_bytes(), kind.to_be_bytes().as_slice(), more, payload].concat(), id)
}

pub fn words(all: &[u32]) -> Vec<u8> {
    all.iter().flat_map(|w| w.to_be_bytes()).collect()
}

/// IEEE 802.11: `control`, three addresses or four, and `more` header octets; then LLC and SNAP.
pub fn wifi(control: [u8; 2], addresses: &[[u8; 6]], sequence: u16, more: &[u8], packet: &[u8]) -> Vec<u8> {
    let mut out = [control.as_slice(), &[0, 0], &addresses[..3].concat(), &(sequence << 4).to_le_bytes()].concat();
    out.extend(addresses[3..].concat());
    out.extend(more);
    out.extend(snap(packet));
    out
}

fn snap(packet: &[u8]) -> Vec<u8> {
    [&[0xaa, 0xaa, 3, 0, 0, 0], kind(packet).to_be_bytes().as_slice(), packet].concat()
}

pub const STATION: [u8; 6] = [2, 0, 0, 0, 0, 9];
pub const ACCESS_POINT: [u8; 6] = [2, 0, 0, 0, 0, 8];

/// Radiotap with a time, flags (an FCS follows, the payload is aligned) and a rate; and the frame.
pub fn radiotap(flags: u8, frame: &[u8]) -> Vec<u8> {
    let header = [&[0, 0, 26, 0], [7, 0, 0, 0x80].as_slice(), &[0; 4], &[0; 4], &[5; 8], &[flags, 12]];
    [header.concat().as_slice(), frame, if flags & 0x10 != 0 { &[1, 2, 3, 4] } else { &[] }].concat()
}

// ---- every encapsulation -----------------------------------------------------------------------------------------------

/// Name; link type; what is around a packet; the tunnels it counts as; the protocols that tshark must find in this order, or
/// nothing where tshark does not dissect it as we mean it.
pub type Form = (&'static str, u32, Wrap, &'static [&'static str], &'static str);

pub const FORMS: &[Form] = &[
    ("ethernet", 1, frame, &[], "eth:ethertype:ip:tcp"),
    (
        "vlan",
        1,
        |p, _| ethernet(0x8100, &[&[0, 7], kind(p).to_be_bytes().as_slice(), p].concat()),
        &[],
        "eth:ethertype:vlan:ethertype:ip:tcp",
    ),
    (
        "qinq",
        1,
        |p, _| ethernet(0x88a8, &[&[0, 7, 0x81, 0, 0, 9, 0x81, 0, 0, 3], kind(p).to_be_bytes().as_slice(), p].concat()),
        &[],
        "ieee8021ad:",
    ),
    (
        "vlan snap",
        1,
        |p, _| ethernet(0x8100, &[&[0, 7], (8 + p.len() as u16).to_be_bytes().as_slice(), &snap(p)].concat()),
        &[],
        "vlan:llc:ip:tcp",
    ),
    (
        "snap with padding",
        1,
        |p, _| [ethernet(8 + p.len() as u16, &snap(p)), vec![0; 11]].concat(),
        &[],
        "eth:llc:ip:tcp",
    ),
    ("llc ip", 1, |p, _| ethernet(3 + p.len() as u16, &[&[6, 6, 3], p].concat()), &[], ""),
    ("jumbo llc", 1, |p, _| ethernet(0x8870, &snap(p)), &[], "eth:ethertype:llc:ip:tcp"),
    ("pbb", 1, |p, _| ethernet(0x88e7, &[&[0, 0, 0, 5], frame(p, 0).as_slice()].concat()), &["PBB"], "ieee8021ah:eth"),
    (
        "macsec without encryption",
        1,
        |p, i| {
            ethernet(0x88e5, &[&[0x20, 0], words(&[i, 1, 2]).as_slice(), &kind(p).to_be_bytes(), p, &[9; 16]].concat())
        },
        &["MACsec"],
        "macsec",
    ),
    (
        "nsh",
        1,
        |p, _| {
            ethernet(
                0x894f,
                &[words(&[0x0fc2_0200 | if p[0] >> 4 == 4 { 1 } else { 2 }, 0x0000_0aff]).as_slice(), p].concat(),
            )
        },
        &["NSH"],
        "nsh:ip:tcp",
    ),
    (
        "pppoe",
        1,
        |p, _| {
            ethernet(0x8864, &[&[0x11, 0, 0, 1], (2 + p.len() as u16).to_be_bytes().as_slice(), &ppp(p), p].concat())
        },
        &[],
        "pppoes:ppp:ip:tcp",
    ),
    (
        "pppoe with one octet",
        1,
        |p, _| {
            ethernet(
                0x8864,
                &[&[0x11, 0, 0, 1], (1 + p.len() as u16).to_be_bytes().as_slice(), &ppp(p)[1..], p].concat(),
            )
        },
        &[],
        "pppoes:ppp:ip:tcp",
    ),
    ("linux cooked", 113, |p, _| [&[0; 14], kind(p).to_be_bytes().as_slice(), p].concat(), &[], "sll:ethertype:ip:tcp"),
    ("linux cooked llc", 113, |p, _| [&[0; 14], [0, 4].as_slice(), &snap(p)].concat(), &[], "sll:llc:ip:tcp"),
    (
        "linux cooked vlan",
        113,
        |p, _| [&[0; 14], [0x81, 0, 0, 7].as_slice(), &kind(p).to_be_bytes(), p].concat(),
        &[],
        "sll:ethertype:vlan:ethertype:ip:tcp",
    ),
    (
        "linux cooked v2",
        276,
        |p, _| [kind(p).to_be_bytes().as_slice(), &[0, 0, 0, 0, 0, 3], &[0; 12], p].concat(),
        &[],
        "sll:ethertype:ip:tcp",
    ),
    ("loopback", 0, |p, _| [&[if p[0] >> 4 == 4 { 2 } else { 30 }, 0, 0, 0], p].concat(), &[], "null:ip:tcp"),
    ("raw", 101, |p, _| p.to_vec(), &[], "raw:ip:tcp"),
    ("ppp", 9, |p, _| [&[0xff, 3], ppp(p).as_slice(), p].concat(), &[], "ppp:ip:tcp"),
    ("ppp of one octet", 9, |p, _| [&ppp(p)[1..], p].concat(), &[], "ppp:ip:tcp"),
    (
        "ppp link with pppoe",
        51,
        |p, _| [&[0x11, 0, 0, 1], (2 + p.len() as u16).to_be_bytes().as_slice(), &ppp(p), p].concat(),
        &[],
        "",
    ),
    ("ppp with a direction", 204, |p, _| [&[1, 0xff, 3], ppp(p).as_slice(), p].concat(), &[], "ppp:ip:tcp"),
    ("cisco hdlc", 104, |p, _| [&[0x0f, 0], kind(p).to_be_bytes().as_slice(), p].concat(), &[], "chdlc:ip:tcp"),
    (
        "cisco hdlc on a serial line",
        50,
        |p, _| [&[0x8f, 0], kind(p).to_be_bytes().as_slice(), p].concat(),
        &[],
        "chdlc:ip:tcp",
    ),
    (
        "frame relay",
        107,
        |p, _| [&[0x18, 0x41, 3, if p[0] >> 4 == 4 { 0xcc } else { 0x8e }], p].concat(),
        &[],
        "fr:ip:tcp",
    ),
    (
        "frame relay snap",
        107,
        |p, _| [&[0x18, 0x41, 3, 0, 0x80, 0, 0, 0], kind(p).to_be_bytes().as_slice(), p].concat(),
        &[],
        "fr:ip:tcp",
    ),
    ("frame relay of cisco", 107, |p, _| [&[0x18, 0x41], kind(p).to_be_bytes().as_slice(), p].concat(), &[], ""),
    ("fddi", 10, |p, _| [&[0x50; 13], snap(p).as_slice()].concat(), &[], "fddi:llc:ip:tcp"),
    ("atm", 11, |p, _| snap(p), &[], "llc:ip:tcp"),
    (
        "pflog",
        117,
        |p, _| [&[61, if p[0] >> 4 == 4 { 2 } else { 24 }, 0, 0], [0; 60].as_slice(), p].concat(),
        &[],
        "pflog:ip:tcp",
    ),
    ("enc", 109, |p, _| [&[if p[0] >> 4 == 4 { 2 } else { 24 }, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2], p].concat(), &[], ""),
    ("nflog", 239, nflog, &[], "nflog:ip:tcp"),
    (
        "nflog of the other byte order",
        239,
        |p, _| {
            [&[2, 0, 0, 0, 0, 8, 0, 1, 8, 0, 3, 0], (4 + p.len() as u16).to_be_bytes().as_slice(), &[0, 9], p].concat()
        },
        &[],
        "",
    ),
    ("pktap", 258, |p, i| pktap(&frame(p, i)), &[], "pktap:pcap_pktdata:eth:ethertype:ip:tcp"),
    (
        "mpls",
        1,
        |p, _| ethernet(0x8847, &[words(&[0x0001_0040, 0x0002_0140]).as_slice(), p].concat()),
        &["MPLS"],
        "mpls:ip:tcp",
    ),
    (
        "mpls multicast",
        1,
        |p, _| ethernet(0x8848, &[words(&[0x0001_0140]).as_slice(), p].concat()),
        &["MPLS"],
        "mpls:ip:tcp",
    ),
    ("mpls link", 219, |p, _| [words(&[0x0001_0140]).as_slice(), p].concat(), &["MPLS"], ""),
    (
        "pseudo-wire with control word",
        1,
        |p, i| ethernet(0x8847, &[words(&[0x0001_0140, i]).as_slice(), &frame(p, i)].concat()),
        &["MPLS"],
        "",
    ),
    (
        "pseudo-wire without",
        1,
        |p, i| ethernet(0x8847, &[words(&[0x0001_0140]).as_slice(), &frame(p, i)].concat()),
        &["MPLS"],
        "",
    ),
    ("ip in ip", 1, |p, i| in_ip(if p[0] >> 4 == 4 { 4 } else { 41 }, p, i), &[], "ip:ip:tcp"),
    ("ip in ipv6", 1, |p, i| frame(&outer(true, if p[0] >> 4 == 4 { 4 } else { 41 }, p, i), i), &[], "ipv6:ip:tcp"),
    (
        "authenticated",
        1,
        |p, i| {
            in_ip(
                51,
                &[&[if p[0] >> 4 == 4 { 4 } else { 41 }, 4, 0, 0], words(&[1, i, 0, 0, 0]).as_slice(), p].concat(),
                i,
            )
        },
        &[],
        "ip:ah:ip:tcp",
    ),
    ("gre", 1, |p, i| gre(0, kind(p), &[], p, i), &["GRE"], "ip:gre:ip:tcp"),
    ("gre with key", 1, |p, i| gre(0x2000, kind(p), &words(&[7]), p, i), &["GRE"], "ip:gre:ip:tcp"),
    (
        "gre with all fields",
        1,
        |p, i| gre(0xf000, kind(p), &words(&[0, 7, i, 0x0800_0004, 0x0a00_0001, 0]), p, i),
        &["GRE"],
        "ip:gre:ip:tcp",
    ),
    (
        "gre with checksum and sequence",
        1,
        |p, i| gre(0x9000, kind(p), &words(&[0, i]), p, i),
        &["GRE"],
        "ip:gre:ip:tcp",
    ),
    (
        "gre with ethernet",
        1,
        |p, i| gre(0x2000, 0x6558, &words(&[0x0001_0000]), &frame(p, i), i),
        &["GRE"],
        "ip:gre:eth:ethertype:ip:tcp",
    ),
    ("gre with mpls", 1, |p, i| gre(0, 0x8847, &words(&[0x0001_0140]), p, i), &["GRE", "MPLS"], "ip:gre:mpls:ip:tcp"),
    (
        "gre in ipv6",
        1,
        |p, i| frame(&outer(true, 47, &[&[0, 0], kind(p).to_be_bytes().as_slice(), p].concat(), i), i),
        &["GRE"],
        "ipv6:gre:ip:tcp",
    ),
    ("gre of wccp", 1, |p, i| gre(0, 0x883e, &[0, 0, 0, 0], p, i), &["GRE"], ""),
    (
        "gre of pptp",
        1,
        |p, i| {
            gre(
                0x3081,
                0x880b,
                &words(&[(4 + p.len() as u32) << 16 | 5, i, i]),
                &[&[0xff, 3], ppp(p).as_slice(), p].concat(),
                i,
            )
        },
        &["GRE"],
        "ip:gre:ppp:ip:tcp",
    ),
    (
        "gre in udp",
        1,
        |p, i| in_udp(4754, &[&[0, 0], kind(p).to_be_bytes().as_slice(), p].concat(), i),
        &["GRE"],
        "udp:gre:ip:tcp",
    ),
    ("erspan i", 1, |p, i| gre(0, 0x88be, &[], &frame(p, i), i), &["ERSPAN"], "gre:erspan:eth:ethertype:ip:tcp"),
    (
        "erspan ii",
        1,
        |p, i| gre(0x1000, 0x88be, &words(&[i, 0x1001_0007, 0]), &frame(p, i), i),
        &["ERSPAN"],
        "gre:erspan:eth:ethertype:ip:tcp",
    ),
    (
        "erspan iii",
        1,
        |p, i| gre(0x1000, 0x22eb, &words(&[i, 0x2001_0007, 9, 0]), &frame(p, i), i),
        &["ERSPAN"],
        "gre:erspan:eth:ethertype:ip:tcp",
    ),
    (
        "erspan iii with a subheader",
        1,
        |p, i| gre(0x1000, 0x22eb, &words(&[i, 0x2001_0007, 9, 1, 0, 0]), &frame(p, i), i),
        &["ERSPAN"],
        "gre:erspan:eth:ethertype:ip:tcp",
    ),
    (
        "vxlan",
        1,
        |p, i| in_udp(4789, &[words(&[0x0800_0000, 0x0000_0500]).as_slice(), &frame(p, i)].concat(), i),
        &["VXLAN"],
        "udp:vxlan:eth:ethertype:ip:tcp",
    ),
    (
        "vxlan of old linux",
        1,
        |p, i| in_udp(8472, &[words(&[0x0800_0000, 0x0000_0500]).as_slice(), &frame(p, i)].concat(), i),
        &["VXLAN"],
        "",
    ),
    (
        "vxlan with a policy",
        1,
        |p, i| in_udp(4789, &[words(&[0x8800_0009, 0x0000_0500]).as_slice(), &frame(p, i)].concat(), i),
        &["VXLAN"],
        "udp:vxlan:eth:ethertype:ip:tcp",
    ),
    (
        "vxlan of ip",
        1,
        |p, i| {
            in_udp(
                4790,
                &[words(&[0x0c00_0000 | if p[0] >> 4 == 4 { 1 } else { 2 }, 0x0000_0500]).as_slice(), p].concat(),
                i,
            )
        },
        &["VXLAN"],
        "udp:ip:tcp",
    ),
    (
        "vxlan of ethernet that says so",
        1,
        |p, i| in_udp(4790, &[words(&[0x0c00_0003, 0x0000_0500]).as_slice(), &frame(p, i)].concat(), i),
        &["VXLAN"],
        "",
    ),
    (
        "geneve",
        1,
        |p, i| in_udp(6081, &[words(&[0x0000_6558, 0x0000_0500]).as_slice(), &frame(p, i)].concat(), i),
        &["Geneve"],
        "udp:geneve:eth:ethertype:ip:tcp",
    ),
    (
        "geneve with options",
        1,
        |p, i| {
            in_udp(
                6081,
                &[words(&[0x0300_0000 | u32::from(kind(p)), 0x0000_0500, 0x0102_8001, 4, 0x0102_0300]).as_slice(), p]
                    .concat(),
                i,
            )
        },
        &["Geneve"],
        "udp:geneve:ip:tcp",
    ),
    (
        "gtp-u",
        1,
        |p, i| in_udp(2152, &[words(&[0x30ff_0000 | p.len() as u32, 1]).as_slice(), p].concat(), i),
        &["GTP-U"],
        "udp:gtp:ip:tcp",
    ),
    (
        "gtp-u with extensions",
        1,
        |p, i| {
            in_udp(
                2152,
                &[
                    words(&[
                        0x36ff_0000 | (p.len() as u32 + 16),
                        1,
                        0x0001_0085,
                        0x0100_0985,
                        0x0200_0102,
                        0x0304_0500,
                    ])
                    .as_slice(),
                    p,
                ]
                .concat(),
                i,
            )
        },
        &["GTP-U"],
        "udp:gtp:ip:tcp",
    ),
    (
        "mpls in udp",
        1,
        |p, i| in_udp(6635, &[words(&[0x0001_0140]).as_slice(), p].concat(), i),
        &["MPLS"],
        "udp:mpls:ip:tcp",
    ),
    (
        "mpls in ip",
        1,
        |p, i| in_ip(137, &[words(&[0x0001_0140]).as_slice(), p].concat(), i),
        &["MPLS"],
        "ip:mpls:ip:tcp",
    ),
    (
        "etherip",
        1,
        |p, i| in_ip(97, &[&[0x30, 0], frame(p, i).as_slice()].concat(), i),
        &["EtherIP"],
        "ip:etherip:eth:ethertype:ip:tcp",
    ),
    (
        "l2tp",
        1,
        |p, i| {
            in_udp(
                1701,
                &[
                    &[0x48, 2],
                    (16 + p.len() as u16).to_be_bytes().as_slice(),
                    &[0, 1, 0, 2, 0, 3, 0, 4],
                    &[0xff, 3],
                    &ppp(p),
                    p,
                ]
                .concat(),
                i,
            )
        },
        &["L2TP"],
        "udp:l2tp:ppp:ip:tcp",
    ),
    (
        "lisp",
        1,
        |p, i| in_udp(4341, &[words(&[0x0800_0000, 0x0000_0100]).as_slice(), p].concat(), i),
        &["LISP"],
        "udp:lisp-data:ip:tcp",
    ),
    (
        "tzsp",
        1,
        |p, i| in_udp(37008, &[&[1, 0, 0, 1, 0, 13, 2, 7, 7, 1], frame(p, i).as_slice()].concat(), i),
        &["TZSP"],
        "udp:tzsp:eth:ethertype:ip:tcp",
    ),
    (
        "802.11",
        105,
        |p, i| wifi([0x08, 1], &[ACCESS_POINT, STATION, ACCESS_POINT], i as u16, &[], p),
        &[],
        "wlan:llc:ip:tcp",
    ),
    (
        "radiotap",
        127,
        |p, i| radiotap(0, &wifi([0x08, 2], &[STATION, ACCESS_POINT, ACCESS_POINT], i as u16, &[], p)),
        &[],
        "radiotap:wlan_radio:wlan:llc:ip:tcp",
    ),
    (
        "radiotap, QoS, aligned, FCS",
        127,
        |p, i| radiotap(0x30, &wifi([0x88, 1], &[ACCESS_POINT, STATION, ACCESS_POINT], i as u16, &[0, 0, 0, 0], p)),
        &[],
        "",
    ),
    (
        "radiotap, four addresses, QoS, HT control",
        127,
        |p, i| {
            radiotap(
                0,
                &wifi([0x88, 0x83], &[ACCESS_POINT, STATION, STATION, ACCESS_POINT], i as u16, &[0, 0, 0, 0, 0, 0], p),
            )
        },
        &[],
        "wlan:llc:ip:tcp",
    ),
    (
        "ppi",
        192,
        |p, i| {
            [
                &[0, 0, 8, 0, 105, 0, 0, 0],
                wifi([0x08, 1], &[ACCESS_POINT, STATION, ACCESS_POINT], i as u16, &[], p).as_slice(),
            ]
            .concat()
        },
        &[],
        "ppi:wlan_radio:wlan:llc:ip:tcp",
    ),
    ("an A-MSDU", 127, a_msdu, &[], "wlan:llc:ip:tcp:llc:ip:udp"),
];

fn ppp(packet: &[u8]) -> [u8; 2] {
    if packet[0] >> 4 == 4 { [0x00, 0x21] } else { [0x00, 0x57] }
}

/// Of a little-endian host: a header attribute, a prefix of three octets, the packet.
fn nflog(p: &[u8], _: u32) -> Vec<u8> {
    let family = if p[0] >> 4 == 4 { 2 } else { 10 };
    let kind = kind(p).to_be_bytes();
    let before = [&[family, 0, 0, 0, 8, 0, 1, 0], kind.as_slice(), &[3, 0, 7, 0, 10, 0, b'a', b'b', 0, 0]];
    [before.concat().as_slice(), &(4 + p.len() as u16).to_le_bytes(), &[9, 0], p].concat()
}

/// Of a little-endian host, with Ethernet inside.
fn pktap(frame: &[u8]) -> Vec<u8> {
    let mut out: Vec<u8> = [108_u32, 1, 1].iter().flat_map(|w| w.to_le_bytes()).collect();
    out.extend(b"en0");
    out.resize(108, 0);
    [out.as_slice(), frame].concat()
}

/// An A-MSDU whose second subframe is a packet of UDP.
fn a_msdu(p: &[u8], i: u32) -> Vec<u8> {
    let subframe = |packet: &[u8]| {
        let llc = snap(packet);
        [STATION.as_slice(), &ACCESS_POINT, &(llc.len() as u16).to_be_bytes(), &llc].concat()
    };
    let mut all = subframe(p);
    all.resize(all.len().next_multiple_of(4), 0);
    let datagram = in_udp(9, b"discarded", i);
    all.extend(subframe(&datagram[14..]));
    let header = wifi([0x88, 2], &[STATION, ACCESS_POINT, ACCESS_POINT], i as u16, &[0x80, 0], p);
    radiotap(0, &[&header[..26], &all].concat())
}

/// The tunnels that IP in IP counts as.
pub fn ip_in_ip(name: &str, v6: bool) -> Option<&'static str> {
    match (name, v6) {
        ("ip in ip" | "authenticated", false) => Some("IP in IP"),
        ("ip in ip" | "authenticated", true) => Some("6in4"),
        ("ip in ipv6", false) => Some("4in6"),
        ("ip in ipv6", true) => Some("6in6"),
        _ => None,
    }
}
