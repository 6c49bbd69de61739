//! Bytes: what is emitted is parsed to the same meaning, for every type; no bytes make the parser panic.

use anabranch_stack::segment::{
    AddrId, AddrIds, Advertised, Cookie, DataAck, Door, Dss, Ecn, Flags, Mapping, Mptcp, OPTION_SPACE, Options,
    Payload, ResetReason, SackBlocks, Segment, Signal, TcpRst, Timestamps,
};
use anabranch_stack::wire::checksum::{Sum, dss_pseudo_header};
use anabranch_stack::wire::mptcp::{CapableFlags, MptcpOption};
use anabranch_stack::wire::option::{self, TcpOption};
use anabranch_stack::wire::segment::{Envelope, emit, emit_options, parse, parse_options};
use anabranch_stack::wire::{Error, ip, tcp, udp};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use core::num::NonZeroU16;

/// SplitMix64: any seed will do, and the same one gives the same cases.
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn bit(&mut self) -> bool {
        self.next() & 1 != 0
    }

    fn maybe<T>(&mut self, value: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.bit() { Some(value(self)) } else { None }
    }

    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }

    fn addr(&mut self) -> IpAddr {
        let v4 = self.bit();
        self.addr_of(v4)
    }

    fn addr_of(&mut self, v4: bool) -> IpAddr {
        if v4 {
            Ipv4Addr::from(self.next() as u32).into()
        } else {
            Ipv6Addr::from(u128::from(self.next()) << 64 | u128::from(self.next())).into()
        }
    }
}

fn sack(rng: &mut Rng, blocks: u64) -> SackBlocks {
    let mut sack = SackBlocks::default();
    (0..blocks).for_each(|_| sack.push(rng.next() as u32, rng.next() as u32));
    sack
}

fn dss(rng: &mut Rng) -> Dss {
    let data_ack = rng.maybe(|r| if r.bit() { DataAck::Four(r.next() as u32) } else { DataAck::Eight(r.next()) });
    let mapping = rng.maybe(|r| {
        let short = r.bit();
        Mapping {
            dsn: if short { r.next() >> 32 } else { r.next() },
            short,
            ssn: r.next() as u32,
            len: r.next() as u16,
            checksum: r.maybe(|r| r.next() as u16),
        }
    });
    Dss { data_ack, mapping, data_fin: mapping.is_some() && rng.bit() }
}

/// One of each subtype in turn; `ids` for REMOVE_ADDR.
fn mptcp_option<'a>(rng: &mut Rng, which: u64, ids: &'a [u8]) -> MptcpOption<'a> {
    let (version, flags) = (rng.below(16) as u8, CapableFlags(rng.next() as u8));
    match which % 12 {
        0 => MptcpOption::CapableSyn { version, flags },
        1 => MptcpOption::CapableSynAck { version, flags, key: rng.next() },
        2 => {
            let data = rng.maybe(|r| (r.next() as u16, r.maybe(|r| r.next() as u16)));
            MptcpOption::CapableAck { version, flags, sender_key: rng.next(), receiver_key: rng.next(), data }
        }
        3 => {
            let (address_id, token, nonce) = (rng.next() as u8, rng.next() as u32, rng.next() as u32);
            MptcpOption::JoinSyn { backup: rng.bit(), address_id, token, nonce }
        }
        4 => {
            let (address_id, hmac, nonce) = (rng.next() as u8, rng.next(), rng.next() as u32);
            MptcpOption::JoinSynAck { backup: rng.bit(), address_id, hmac, nonce }
        }
        5 => MptcpOption::JoinAck { hmac: rng.bytes(20).try_into().expect("20 octets") },
        6 => MptcpOption::Dss(dss(rng)),
        7 => {
            let (port, hmac) = (rng.maybe(|r| r.next() as u16), rng.maybe(Rng::next));
            MptcpOption::AddAddr { echo: rng.bit(), id: rng.next() as u8, addr: rng.addr(), port, hmac }
        }
        8 => MptcpOption::RemoveAddr { ids },
        9 => MptcpOption::Prio { backup: rng.bit() },
        10 => MptcpOption::Fail { dsn: rng.next() },
        _ if rng.bit() => MptcpOption::Fastclose { key: rng.next() },
        _ => MptcpOption::Reset { transient: rng.bit(), reason: rng.next() as u8 },
    }
}

fn tcp_option<'a>(rng: &mut Rng, which: u64, ids: &'a [u8]) -> TcpOption<'a> {
    match which % 11 {
        0 => TcpOption::Mss(rng.next() as u16),
        1 => TcpOption::WindowScale(rng.next() as u8),
        2 => TcpOption::SackPermitted,
        3 => {
            let blocks = 1 + rng.below(4);
            TcpOption::Sack(sack(rng, blocks))
        }
        4 => TcpOption::Timestamps(Timestamps { val: rng.next() as u32, ecr: rng.next() as u32 }),
        9 => {
            let n = [0, 4, 6, 8, 16][rng.below(5) as usize];
            TcpOption::FastOpen(Cookie::new(&rng.bytes(n)).expect("an even number"))
        }
        5 => TcpOption::DoorPermitted,
        6 => TcpOption::DoorPacket(rng.next() as u16),
        7 => TcpOption::DoorDuplicate(rng.next() as u8, rng.bit()),
        8 => TcpOption::Other { kind: 100, body: ids },
        _ => {
            let which = rng.next();
            TcpOption::Mptcp(mptcp_option(rng, which, ids))
        }
    }
}

/// RFC 8684 3.1 to 3.7.
#[test]
fn every_mptcp_option_survives_its_bytes() {
    let mut rng = Rng(1);
    for which in 0..24_000 {
        let n = 1 + rng.below(30) as usize;
        let ids = rng.bytes(n);
        let option = mptcp_option(&mut rng, which, &ids);
        let mut bytes = Vec::new();
        option.emit(&mut bytes);
        assert_eq!((bytes.len(), usize::from(bytes[1])), (option.wire_len(), option.wire_len()), "{option:?}");
        assert_eq!(MptcpOption::parse(&bytes[2..]), Ok(option), "{bytes:02x?}");
    }
}

/// Lists of options, with NOPs between them (RFC 9293 3.1).
/// RFC 9293 3.2.
/// RFC 7413 4.1.1, 9.
#[test]
fn every_list_of_options_survives_its_bytes() {
    let mut rng = Rng(2);
    for which in 0..20_000 {
        let n = 1 + rng.below(9) as usize;
        let ids = rng.bytes(n);
        let options: Vec<_> = (0..1 + rng.below(4)).map(|i| tcp_option(&mut rng, which + i, &ids)).collect();
        let mut bytes = Vec::new();
        for option in &options {
            (0..rng.below(3)).for_each(|_| bytes.push(option::NOP));
            let at = bytes.len();
            option.emit(&mut bytes);
            assert_eq!(bytes.len() - at, option.wire_len(), "{option:?}");
        }
        if rng.bit() {
            bytes.extend([option::EOL, 77]);
        }
        let parsed: Result<Vec<_>, _> = option::Iter::new(&bytes).collect();
        assert_eq!(parsed, Ok(options), "{bytes:02x?}");
    }
}

/// RFC 9293 3.9.2, MUST-50: an IPv4 header of seven words has options of an unknown kind: they are
/// skipped.
#[test]
fn unknown_options_of_ipv4_are_skipped() {
    let [src, dst] = [1, 2].map(|host| IpAddr::from([10, 0, 0, host]));
    let header = ip::Header { src, dst, protocol: ip::TCP, ecn: Ecn::NotEct, hop_limit: 64, id: 7, payload_len: 16 };
    let mut bytes = Vec::new();
    header.emit(&mut bytes).expect("one family");
    bytes[0] = 0x47;
    bytes.extend([0x9e, 7, 1, 2, 3, 4, 5, 0]);
    bytes.extend([9; 8]);
    let view = ip::View::new(&bytes).expect("whole");
    assert_eq!((view.protocol(), view.payload()), (ip::TCP, &[9; 8][..]));
}

/// RFC 9293 3.1, MUST-6: an option of an unknown kind is skipped by its length; those behind it
/// count.
#[test]
fn an_unknown_option_does_not_hide_the_next_one() {
    let unknown = [99, 5, 1, 2, 3];
    let bytes = [&unknown[..], &[2, 4, 5, 180]].concat();
    let options = parse_options(option::Iter::new(&bytes));
    assert_eq!(options, Options { mss: Some(1460), ..Options::default() });
}

/// RFC 9293 3.1: what is malformed is skipped by its length; what has no length to skip by ends the list.
#[test]
fn a_malformed_option_does_not_hide_the_next_one() {
    let timestamps = [8, 10, 0, 0, 0, 1, 0, 0, 0, 2];
    let mss_of_length_3 = [2, 3, 5];
    let bytes = [&mss_of_length_3[..], &timestamps].concat();
    let items: Vec<_> = option::Iter::new(&bytes).collect();
    assert_eq!(items[0], Err(Error::Field { what: "length of the MSS option", value: 3 }));
    assert_eq!(items[1], Ok(TcpOption::Timestamps(Timestamps { val: 1, ecr: 2 })));
    assert_eq!(items.len(), 2);

    for (bytes, error) in [
        (vec![8, 0, 1, 1], Error::Field { what: "length of a TCP option", value: 0 }),
        (vec![8, 10, 0, 0], Error::Short { what: "TCP option", need: 10, have: 4 }),
        (vec![8], Error::Short { what: "TCP option", need: 2, have: 1 }),
    ] {
        let items: Vec<_> = option::Iter::new(&bytes).collect();
        assert_eq!(items, [Err(error)], "{bytes:?}");
    }
}

/// RFC 9293 3.1: every field of a TCP header.
#[test]
fn tcp_headers_survive_their_bytes() {
    let mut rng = Rng(9);
    for _ in 0..100 {
        let [src_port, dst_port, window] = [(); 3].map(|()| rng.next() as u16);
        let [seq, ack] = [(); 2].map(|()| rng.next() as u32);
        let header = tcp::Header { src_port, dst_port, seq, ack, flags: Flags(rng.next() as u8), window };
        let mut bytes = Vec::new();
        header.emit(0, &mut bytes).expect("without options");
        assert_eq!(tcp::Header::parse(&tcp::View::new(&bytes).expect("whole")), header);
    }
}

/// RFC 8684 3: an option of a known subtype with a length that it cannot have is an error that says so, and no option.
#[test]
fn an_mptcp_option_of_another_length_is_refused_by_its_name() {
    for (subtype, len, what) in [
        (0x0, 5, "length of MP_CAPABLE"),
        (0x1, 5, "length of MP_JOIN"),
        (0x3, 5, "length of ADD_ADDR"),
        (0x4, 3, "length of REMOVE_ADDR"),
        (0x5, 4, "length of MP_PRIO"),
        (0x6, 11, "length of MP_FAIL"),
        (0x7, 11, "length of MP_FASTCLOSE"),
        (0x8, 5, "length of MP_TCPRST"),
    ] {
        let mut bytes = vec![30, len, subtype << 4];
        bytes.resize(usize::from(len), 0);
        let items: Vec<_> = option::Iter::new(&bytes).collect();
        assert!(matches!(items[..], [Err(Error::Field { what: said, .. })] if said == what), "{what}: {items:?}");
    }
}

/// RFC 6994 3: an experiment's option begins with two octets that identify it. Shorter ones are nobody's.
#[test]
fn an_experiment_without_an_identifier_is_unknown() {
    for (kind, body) in [(253, &[][..]), (253, &[1]), (254, &[]), (254, &[0xf9])] {
        let bytes = [&[kind, 2 + body.len() as u8], body].concat();
        let items: Vec<_> = option::Iter::new(&bytes).collect();
        assert_eq!(items, [Ok(TcpOption::Other { kind, body })]);
    }
}

/// RFC 9293 3.9.2.
#[test]
fn ip_headers_survive_their_bytes() {
    let mut rng = Rng(3);
    for _ in 0..5000 {
        let v4 = rng.bit();
        // (Zero means something else in a capture.)
        let payload_len = 1 + rng.below(60) as u16;
        let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ce][rng.below(3) as usize];
        let header = ip::Header {
            src: rng.addr_of(v4),
            dst: rng.addr_of(v4),
            // Neither of IPv6's extension headers.
            protocol: [ip::TCP, ip::UDP][rng.below(2) as usize],
            ecn,
            hop_limit: rng.next() as u8,
            id: if v4 { rng.next() as u16 } else { 0 },
            payload_len,
        };
        let mut bytes = Vec::new();
        header.emit(&mut bytes).expect("one family");
        assert_eq!(bytes.len(), header.wire_len());
        // Ethernet pads short packets: octets after the packet are none of it.
        bytes.extend(rng.bytes(payload_len as usize + 4));
        let view = ip::View::new(&bytes).expect("whole");
        assert_eq!(ip::Header::parse(&view), header);
        assert_eq!((view.payload().len(), view.is_fragment()), (usize::from(payload_len), false));
        assert!(view.checksum_ok());
        if v4 {
            let bit = 8 + rng.below(8 * 19) as usize;
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(ip::View::new(&bytes).map_or(true, |view| !view.checksum_ok()), "bit {bit}");
        }
    }
}

/// RFC 8200 4: hop-by-hop options of 16 octets, then a first fragment of a TCP segment; a later one has no TCP header.
#[test]
fn extension_headers_are_walked_to_the_payload() {
    let mut rng = Rng(4);
    let (src, dst) = (rng.addr_of(false), rng.addr_of(false));
    let mut bytes = Vec::new();
    let ip = ip::Header { src, dst, protocol: 0, ecn: Ecn::NotEct, hop_limit: 1, id: 0, payload_len: 16 + 8 + 4 };
    ip.emit(&mut bytes).expect("one family");
    bytes.extend([44, 1]);
    bytes.extend([0; 14]);
    bytes.extend([ip::TCP, 0, 0, 1, 9, 9, 9, 9]);
    bytes.extend([1, 2, 3, 4]);
    let view = ip::View::new(&bytes).expect("whole");
    assert_eq!((view.protocol(), view.header_len(), view.payload()), (ip::TCP, 64, &[1, 2, 3, 4][..]));
    assert!(view.is_fragment());
    // RFC 8200 4.5: behind the header of a first fragment other extension headers may follow; in a later one what it names is elsewhere, and
    // these are octets of its payload: here options of eight octets.
    bytes[40 + 16] = 60;
    bytes[64..].copy_from_slice(&[ip::TCP, 0, 0, 0]);
    bytes.extend([0; 4]);
    bytes[5] += 4;
    let view = ip::View::new(&bytes).expect("whole");
    assert_eq!((view.protocol(), view.header_len(), view.payload().len()), (ip::TCP, 72, 0));
    bytes[40 + 16 + 3] = 9;
    let view = ip::View::new(&bytes).expect("whole");
    assert_eq!((view.protocol(), view.header_len(), view.payload().len()), (60, 64, 8));
    bytes.truncate(68);
    bytes[5] -= 4;
    (bytes[40 + 16], bytes[40 + 16 + 3]) = (ip::TCP, 1);
    // "More fragments" off: with offset zero it is the only one, and whole.
    bytes[40 + 16 + 3] = 0;
    assert!(!ip::View::new(&bytes).expect("whole").is_fragment());
    for len in 0..64 {
        assert!(ip::View::new(&bytes[..len]).is_err(), "{len} octets");
    }
    // The options alone are longer than the payload length says.
    bytes[5] = 15;
    assert_eq!(ip::View::new(&bytes).err(), Some(Error::Field { what: "IPv6 payload length", value: 15 }));
}

/// A capture with a short snap length: what is there can be asked, what was sent is known from the IP header.
#[test]
fn a_packet_cut_in_its_options_can_be_read() {
    let mut segment = Segment { payload: Payload::new(0, 1400), seq: 7, ..Segment::default() };
    segment.options.timestamps = Some(Timestamps { val: 1, ecr: 2 });
    segment.options.mptcp = Mptcp::Dss(Dss { data_ack: Some(DataAck::Four(3)), ..Dss::default() });
    let mut bytes = Vec::new();
    emit(&segment, &envelope(&mut Rng(5)), None, |_| {}, &mut bytes).expect("it fits");
    let ip = ip::View::new(&bytes[..bytes.len() - 1400 - 2]).expect("the header is there");
    let tcp = tcp::View::new(ip.payload()).expect("the header is there");
    assert_eq!((tcp.seq(), ip.payload_len() - tcp.header_len(), tcp.payload().len()), (7, 1400, 0));
    let options: Vec<_> = tcp.options().collect();
    assert_eq!(options[0], Ok(TcpOption::Timestamps(Timestamps { val: 1, ecr: 2 })));
    assert_eq!(options[1], Err(Error::Short { what: "TCP option", need: 8, have: 6 }));
    assert_eq!(tcp.checksum_ok(ip.src(), ip.dst(), ip.payload_len()), None);
    // Cut between two options: that is no end of the list either.
    let tcp = tcp::View::new(&ip.payload()[..20 + 12]).expect("the header is there");
    let options: Vec<_> = tcp.options().collect();
    assert_eq!(options[1], Err(Error::Short { what: "TCP options", need: 8, have: 0 }));
}

/// RFC 8200 3: the payload length of IPv6 counts what follows the header of 40 octets, be it less than was captured.
#[test]
fn a_payload_of_ipv6_is_as_long_as_it_says() {
    let mut bytes = Vec::new();
    let segment = Segment { payload: Payload::new(0, 100), ..Segment::default() };
    let [src, dst] = ["[2001:db8::1]:1", "[2001:db8::2]:2"].map(|a| a.parse().expect("an address"));
    emit(&segment, &Envelope { src, dst, id: 0 }, None, |_| {}, &mut bytes).expect("it fits");
    bytes.extend([0; 6]);
    assert_eq!(ip::View::new(&bytes).expect("whole").payload_len(), 120);
}

/// Segmentation offload leaves packets of which the total length does not fit its field, or was not filled in.
#[test]
fn a_total_length_of_zero_means_up_to_the_end() {
    let mut bytes = Vec::new();
    let segment = Segment { payload: Payload::new(0, 100), ..Segment::default() };
    let envelope = Envelope {
        src: "10.0.0.1:1".parse().expect("an address"),
        dst: "10.0.0.2:2".parse().expect("an address"),
        id: 0,
    };
    emit(&segment, &envelope, None, |_| {}, &mut bytes).expect("it fits");
    bytes[2..4].copy_from_slice(&[0, 0]);
    assert_eq!(ip::View::new(&bytes).expect("whole").payload_len(), 120);
    // Of 64 KB, 128 octets are there.
    assert_eq!(ip::View::cut(&bytes[..128], 65_600).expect("cut").payload_len(), 65_580);
}

/// RFC 768: source and destination port, length with the header, checksum over the pseudo-header, the header and the data. The sums are worked out by
/// hand. One that comes out as zero is sent as all ones, as zero means that there is none.
#[test]
fn a_datagram_has_its_ports_its_length_and_its_checksum() {
    let emitted = |src: IpAddr, dst: IpAddr, data: &[u8]| {
        let (src, dst) = (SocketAddr::new(src, 1000), SocketAddr::new(dst, 2000));
        let mut bytes = vec![0xaa; 3];
        let fill = |out: &mut [u8]| out.copy_from_slice(data);
        udp::emit(data.len() as u32, &Envelope { src, dst, id: 7 }, fill, &mut bytes).map(|()| bytes.split_off(3))
    };
    let v4: [IpAddr; 2] = [Ipv4Addr::new(192, 0, 2, 1).into(), Ipv4Addr::new(198, 51, 100, 2).into()];
    let v6: [IpAddr; 2] = [1, 2].map(|n| Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, n).into());
    for ([src, dst], data, header) in [
        (v4, &[1, 2, 3, 4, 5][..], [0x03, 0xe8, 0x07, 0xd0, 0, 13, 0xfe, 0xde]),
        (v6, &[1, 2, 3, 4, 5], [0x03, 0xe8, 0x07, 0xd0, 0, 13, 0x8f, 0xa1]),
        (v4, &[0x07, 0xeb], [0x03, 0xe8, 0x07, 0xd0, 0, 10, 0xff, 0xff]),
    ] {
        let bytes = emitted(src, dst, data).expect("it fits");
        let packet = ip::View::new(&bytes).expect("whole");
        assert_eq!((packet.src(), packet.dst(), packet.protocol()), (src, dst, ip::UDP));
        assert_eq!(packet.payload(), [&header[..], data].concat());
    }
    let [src, dst] = v4;
    assert!(emitted(src, dst, &[0; 65_507]).is_ok() && emitted(src, dst, &[0; 65_508]).is_err(), "RFC 791: 65,535");
    assert!(emitted(src, v6[1], &[1]).is_err(), "of two families");
}

fn envelope(rng: &mut Rng) -> Envelope {
    let v4 = rng.bit();
    let end = |r: &mut Rng| SocketAddr::new(r.addr_of(v4), r.next() as u16);
    Envelope { src: end(rng), dst: end(rng), id: if v4 { rng.next() as u16 } else { 0 } }
}

fn advertised(rng: &mut Rng) -> Advertised {
    let address = AddrId { id: rng.next() as u8, addr: rng.addr() };
    Advertised { address, port: rng.maybe(|r| NonZeroU16::new(r.next() as u16).unwrap_or(NonZeroU16::MIN)) }
}

fn typed_options(rng: &mut Rng) -> Options {
    let mptcp = match rng.below(16) {
        0 => Mptcp::CapableSyn { no_join: rng.bit(), checksum: rng.bit() },
        1 => Mptcp::CapableSynAck { no_join: rng.bit(), checksum: rng.bit(), key: rng.next() },
        2 => {
            let data = rng.maybe(|r| (r.next() as u16, r.maybe(|r| r.next() as u16)));
            Mptcp::CapableAck { checksum: rng.bit(), sender_key: rng.next(), receiver_key: rng.next(), data }
        }
        3 => {
            let (address_id, token, nonce) = (rng.next() as u8, rng.next() as u32, rng.next() as u32);
            Mptcp::JoinSyn { backup: rng.bit(), address_id, token, nonce }
        }
        4 => {
            let (address_id, hmac, nonce) = (rng.next() as u8, rng.next(), rng.next() as u32);
            Mptcp::JoinSynAck { backup: rng.bit(), address_id, hmac, nonce }
        }
        5 => Mptcp::JoinAck { hmac: rng.bytes(20).try_into().expect("20 octets") },
        6 => Mptcp::None,
        _ => Mptcp::Dss(dss(rng)),
    };
    let signal = match rng.below(12) {
        0 => Signal::AddAddr { advertised: advertised(rng), hmac: rng.next() },
        1 => Signal::AddAddrEcho(advertised(rng)),
        2 => {
            let n = 1 + rng.below(AddrIds::MAX as u64) as usize;
            Signal::RemoveAddr(AddrIds::new(&rng.bytes(n)))
        }
        3 => Signal::Prio { backup: rng.bit() },
        4 => Signal::Fail { dsn: rng.next() },
        5 => Signal::Fastclose { key: rng.next() },
        6 => {
            let n = [0, 4, 6, 8, 16][rng.below(5) as usize];
            Signal::FastOpen(Cookie::new(&rng.bytes(n)).expect("an even number"))
        }
        _ => Signal::None,
    };
    let reset = |r: &mut Rng| TcpRst { transient: r.bit(), reason: ResetReason(r.next() as u8) };
    let blocks = rng.below(5);
    Options {
        mss: rng.maybe(|r| r.next() as u16),
        window_scale: rng.maybe(|r| r.below(15) as u8),
        sack_permitted: rng.bit(),
        door_permitted: rng.bit(),
        door: Door { packet: rng.maybe(|r| r.next() as u16), duplicate: rng.maybe(|r| (r.next() as u8, r.bit())) },
        timestamps: rng.maybe(|r| Timestamps { val: r.next() as u32, ecr: r.next() as u32 }),
        sack: sack(rng, blocks),
        mptcp,
        signal,
        tcp_rst: rng.maybe(reset),
    }
}

/// Makes a segment whose options fit; fields left to chance are dropped until they do.
fn typed_segment(rng: &mut Rng) -> Segment {
    let mut options = typed_options(rng);
    while options.wire_len() > OPTION_SPACE {
        match rng.below(9) {
            0 => options.mss = None,
            1 => options.window_scale = None,
            2 => options.timestamps = None,
            3 => options.sack = SackBlocks::default(),
            4 => options.mptcp = Mptcp::None,
            5 => options.signal = Signal::None,
            6 => options.door = Door::default(),
            7 => options.door_permitted = false,
            _ => options.tcp_rst = None,
        }
    }
    Segment {
        seq: rng.next() as u32,
        ack: rng.next() as u32,
        window: rng.next() as u16,
        flags: Flags(rng.next() as u8),
        ecn: [Ecn::NotEct, Ecn::Ect0, Ecn::Ce][rng.below(3) as usize],
        payload: Payload::new(rng.next() >> 20, rng.below(1500) as u32),
        options,
    }
}

/// Where the option of a segment has a DSS checksum: DSN, SSN and length of its mapping, the checksum.
fn checksum(options: &mut Options) -> Option<(u16, &mut u16)> {
    match &mut options.mptcp {
        Mptcp::Dss(Dss { mapping: Some(Mapping { len, checksum: Some(c), .. }), .. })
        | Mptcp::CapableAck { data: Some((len, Some(c))), .. } => Some((*len, c)),
        _ => None,
    }
}

/// The typed segment and its bytes say the same: whatever fits into 40 octets of options comes back.
/// RFC 9293 3.1.
#[test]
fn every_typed_segment_survives_its_bytes() {
    let mut rng = Rng(6);
    let mut bytes = Vec::new();
    let mut with_checksum = 0;
    for i in 0..20_000 {
        let mut sent = typed_segment(&mut rng);
        let envelope = envelope(&mut rng);
        let octets = rng.bytes(sent.payload.len as usize);
        // A one's-complement sum over a pseudo-header is never 0x0000, so a checksum is never 0xffff.
        if let Some((_, c)) = checksum(&mut sent.options) {
            *c &= 0x7fff;
            with_checksum += 1;
        }
        bytes.clear();
        emit(&sent, &envelope, None, |out| out.copy_from_slice(&octets), &mut bytes).expect("it fits");
        let ip_len = if envelope.src.is_ipv4() { 0 } else { 20 };
        assert_eq!(bytes.len(), sent.wire_len() as usize + ip_len, "case {i}: {sent:?}");

        let ip = ip::View::new(&bytes).expect("whole");
        let tcp = tcp::View::new(ip.payload()).expect("whole");
        assert!(ip.checksum_ok());
        assert_eq!(tcp.checksum_ok(ip.src(), ip.dst(), ip.payload_len()), Some(true));

        let (mut received, from, payload) = parse(&bytes).expect("whole");
        assert_eq!((from, payload), (envelope, &octets[..]));
        assert_eq!(received.payload.sum, Sum::of(&octets).0);
        // Back to the typed form: the octets sum to zero, in the checksum too.
        received.payload = sent.payload;
        if let Some((len @ 1.., c)) = checksum(&mut received.options) {
            let _ = len;
            *c = Sum(!*c).minus(Sum::of(&octets)).checksum();
        }
        assert_eq!(received, sent, "case {i}: {bytes:02x?}");
    }
    assert!(with_checksum > 1000, "{with_checksum}");
}

/// RFC 8684 3.3.1: the checksum on the wire covers pseudo-header and octets; also of a mapping that this segment carries
/// only the second half of, from an odd place on.
#[test]
fn the_dss_checksum_covers_the_octets_of_the_whole_mapping() {
    let octets: Vec<u8> = (0..1001u32).map(|i| (i * 7 + 3) as u8).collect();
    let (dsn, ssn, len) = (0x0123_4567_89ab_cdef, 77, 1001);
    let typed = dss_pseudo_header(dsn, ssn, len).checksum();
    let mapping = Some(Mapping { dsn, short: false, ssn, len, checksum: Some(typed) });
    let mptcp = Mptcp::Dss(Dss { data_ack: None, mapping, data_fin: false });
    let options = Options { mptcp, ..Options::default() };
    let envelope = envelope(&mut Rng(7));
    let whole = Sum::of(&octets);
    let mut sums = Sum(0);
    for (range, mapped) in [(0..1001, None), (0..501, Some(whole)), (501..1001, Some(whole))] {
        let part = &octets[range.clone()];
        let segment = Segment { payload: Payload::new(0, part.len() as u32), options, ..Segment::default() };
        let mut bytes = Vec::new();
        emit(&segment, &envelope, mapped, |out| out.copy_from_slice(part), &mut bytes).expect("it fits");
        let (mut received, ..) = parse(&bytes).expect("whole");
        let (_, &mut c) = checksum(&mut received.options).expect("it has one");
        assert!(dss_pseudo_header(dsn, ssn, len).plus(whole).plus(Sum(c)).is_valid(), "{range:?}");
        if mapped.is_some() {
            sums = sums.plus(Sum(received.payload.sum).at(range.start as u64));
        }
    }
    assert_eq!(sums, whole);
}

/// Whatever the bytes: views and parser give an answer or an error. Half of the cases are damaged or cut packets, so that
/// parsing gets far; every kind of answer is seen.
/// RFC 9293 3.1.
#[test]
fn no_bytes_make_the_parser_panic() {
    let mut rng = Rng(8);
    let mut seen = [0u32; 2];
    for i in 0..60_000u32 {
        let mut bytes = Vec::new();
        if i % 2 == 0 {
            let len = rng.below(120) as usize;
            bytes = rng.bytes(len);
        } else {
            let mut segment = typed_segment(&mut rng);
            segment.payload.len %= 64;
            let envelope = envelope(&mut rng);
            emit(&segment, &envelope, None, |_| {}, &mut bytes).expect("it fits");
            for _ in 0..1 + rng.below(4) {
                let at = rng.below(bytes.len() as u64) as usize;
                bytes[at] = rng.next() as u8;
            }
            let keep = if rng.bit() { bytes.len() } else { rng.below(bytes.len() as u64) as usize };
            bytes.truncate(keep);
        }
        examine(&bytes);
        seen[usize::from(parse(&bytes).is_ok())] += 1;
    }
    assert!(seen.iter().all(|&n| n > 5000), "{seen:?}");
}

/// Asks everything of everything; what was parsed, and fits, is emitted and parsed to the same again.
fn examine(bytes: &[u8]) {
    if let Ok(ip) = ip::View::new(bytes) {
        let header = ip::Header::parse(&ip);
        assert!(ip.payload().len() <= ip.payload_len() && ip.header_len() <= bytes.len());
        let _ = (header, ip.checksum_ok(), ip.is_fragment());
        if let Ok(tcp) = tcp::View::new(ip.payload()) {
            let _ = (tcp::Header::parse(&tcp), tcp.urgent(), tcp.checksum());
            let _ = tcp.checksum_ok(ip.src(), ip.dst(), ip.payload_len());
            assert!(tcp.options().count() <= 40);
        }
    }
    if let Ok((segment, envelope, payload)) = parse(bytes) {
        assert_eq!(payload.len(), segment.payload.len as usize);
        let mut again = Vec::new();
        let whole = Some(Sum(0));
        if segment.options.wire_len() <= OPTION_SPACE {
            emit(&segment, &envelope, whole, |out| out.copy_from_slice(payload), &mut again).expect("it fits");
            assert_eq!(parse(&again).expect("emitted"), (segment, envelope, payload));
        }
    }
    option::Iter::new(bytes).for_each(drop);
    let _ = MptcpOption::parse(bytes);
}

/// RFC 8684 3.1: MP_CAPABLE counts with version 1, flag H (SHA-256) and not flag B; the flags C and D to G change nothing. Else it is as if it were not
/// there, so that the handshake is one of plain TCP.
#[test]
fn mp_capable_of_another_version_or_algorithm_is_ignored() {
    let heard = |version: u8, flags: u8| {
        let bytes = [30, 4, version, flags];
        parse_options(option::Iter::new(&bytes)).mptcp
    };
    assert_eq!(heard(1, 0x01), Mptcp::CapableSyn { no_join: false, checksum: false });
    assert_eq!(heard(1, 0x81), Mptcp::CapableSyn { no_join: false, checksum: true });
    assert_eq!(heard(1, 0x3f), Mptcp::CapableSyn { no_join: true, checksum: false });
    for (version, flags) in [(0, 0x01), (2, 0x01), (1, 0x00), (1, 0x1e), (1, 0x41)] {
        assert_eq!(heard(version, flags), Mptcp::None, "version {version}, flags {flags:#x}");
    }
}

/// RFC 8684 3.1, 3.2, 3.3, 3.4.1, 3.6: what is reserved leaves as zero, MP_CAPABLE has version 1 and of the algorithms flag H alone; and what comes there
/// is ignored.
#[test]
fn reserved_bits_are_sent_as_zero_and_ignored() {
    let options = |mptcp| Options { mptcp, ..Options::default() };
    let of = |signal| Options { signal, ..Options::default() };
    let address = Advertised { address: AddrId { id: 1, addr: Ipv4Addr::LOCALHOST.into() }, port: None };
    let mapping = Some(Mapping { dsn: 1, short: false, ssn: 1, len: 1, checksum: None });
    let tcp_rst = Some(TcpRst { transient: false, reason: ResetReason(1) });
    // What leaves; which octet, and which of its bits are reserved.
    let cases = [
        (options(Mptcp::CapableSyn { no_join: false, checksum: false }), 3, 0x5e),
        (options(Mptcp::JoinSyn { backup: false, address_id: 1, token: 2, nonce: 3 }), 2, 0x0e),
        (options(Mptcp::JoinSynAck { backup: false, address_id: 1, hmac: 2, nonce: 3 }), 2, 0x0e),
        (options(Mptcp::JoinAck { hmac: [7; 20] }), 2, 0x0f),
        (options(Mptcp::JoinAck { hmac: [7; 20] }), 3, 0xff),
        (options(Mptcp::Dss(Dss { data_ack: Some(DataAck::Eight(1)), mapping, data_fin: false })), 3, 0xe0),
        (of(Signal::AddAddr { advertised: address, hmac: 5 }), 2, 0x0e),
        (Options { tcp_rst, ..Options::default() }, 2, 0x0e),
    ];
    for (sent, octet, reserved) in cases {
        let mut bytes = Vec::new();
        emit_options(&sent, Sum::default(), &mut bytes);
        let at = bytes.iter().position(|&b| b == 30).expect("an MPTCP option") + octet;
        assert_eq!(bytes[at] & reserved, 0, "{sent:?}");
        let ignored = if octet == 3 && reserved == 0x5e { 0x1e } else { reserved };
        bytes[at] |= ignored;
        assert_eq!(parse_options(option::Iter::new(&bytes)), sent);
    }
    let mut syn = Vec::new();
    emit_options(&options(Mptcp::CapableSyn { no_join: false, checksum: false }), Sum::default(), &mut syn);
    assert_eq!(syn[..4], [30, 4, 0x01, 0x01]);
}

/// RFC 4302 2.2: the length of an authentication header counts words of four octets less two, unlike that of other extension headers.
#[test]
fn an_authentication_header_is_passed_over() {
    let mut rng = Rng(5);
    let (src, dst) = (rng.addr_of(false), rng.addr_of(false));
    let mut bytes = Vec::new();
    let ip = ip::Header { src, dst, protocol: 51, ecn: Ecn::NotEct, hop_limit: 1, id: 0, payload_len: 24 + 4 };
    ip.emit(&mut bytes).expect("one family");
    bytes.extend([ip::TCP, 4]);
    bytes.extend([0; 22]);
    bytes.extend([1, 2, 3, 4]);
    let view = ip::View::new(&bytes).expect("whole");
    assert_eq!((view.protocol(), view.header_len(), view.payload()), (ip::TCP, 64, &[1, 2, 3, 4][..]));
}
