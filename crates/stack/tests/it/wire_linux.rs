//! Packets that Linux made: parsed, they mean what the protocol says; emitted again, they are the same octets.
//!
//! From a capture of Linux 6 (MPTCP v1, DSS checksums on, two paths), taken at the client: IP header, TCP header and options of
//! packets 1 to 7, 14 to 17, 41, 42 and 228. The payload is not kept: octet n of the stream is n modulo 256, and the TCP checksum
//! (which Linux computed) covers it.

use anabranch_stack::mptcp::keys;
use anabranch_stack::segment::{DataAck, Dss, Flags, Mapping, Mptcp, Segment, Signal};
use anabranch_stack::wire::checksum::{Sum, dss_pseudo_header};
use anabranch_stack::wire::segment::{emit, parse};
use anabranch_stack::wire::{ip, tcp};

/// Number in the capture, offset and length of the payload, headers.
const PACKETS: [(u32, usize, usize, &str); 14] = [
    (
        1,
        0,
        0,
        "45000040e41f4000400640940a0101010a0101029f5c138996856f9c00000000b002faf03f4c0000\
        020405b40402080aa4f16a39000000000103030a1e040181",
    ),
    (
        2,
        0,
        0,
        "4500004800004000400624ac0a0101020a01010113899f5c29bfdc5296856f9dd012fe88a6200000\
        020405b40402080a2489666ca4f16a390103030a1e0c018100d27dd1868cdf3a",
    ),
    (
        3,
        0,
        0,
        "45000048e42040004006408b0a0101010a0101029f5c138996856f9d29bfdc53d010003f5ae60000\
        0101080aa4f16b022489666c1e1401811dc4894f8bff246700d27dd1868cdf3a",
    ),
    (
        4,
        0,
        1424,
        "450005dce421400040063af60a0101010a0101029f5c138996856f9d29bfdc53e010003f279d0000\
        0101080aa4f16b022489666c1e1801811dc4894f8bff246700d27dd1868cdf3a7a60d5bd",
    ),
    (
        5,
        1424,
        1424,
        "450005dce422400040063af50a0101010a0101029f5c13899685752d29bfdc53e018003f896c0000\
        0101080aa4f16b022489666c1e1801811dc4894f8bff246700d27dd1868cdf3a7a60d5bd",
    ),
    (
        6,
        2848,
        1424,
        "450005dce423400040063af40a0101010a0101029f5c138996857abd29bfdc53e010003ffeb80000\
        0101080aa4f16b022489666c1e18200d6c578d45b863d5930e7e9c00000000017a60d5bd",
    ),
    (
        7,
        4272,
        1424,
        "450005dce424400040063af30a0101010a0101029f5c13899685804d29bfdc53e018003f70980000\
        0101080aa4f16b022489666c1e18200d6c578d45b863d5930e7e9c00000000017a60d5bd",
    ),
    (
        14,
        0,
        0,
        "45000044133e4000400611720a0101020a01010113899f5c29bfdc5396856f9dc010003f053f0000\
        0101080a24896735a4f16b021e1030010a0102026d6d9bff5d4eff8c",
    ),
    (
        15,
        0,
        0,
        "4500003ce42b40004006408c0a0101010a0101029f5c13899685a73d29bfdc53a010003f522f0000\
        0101080aa4f16bca248967351e0831010a010202",
    ),
    (
        16,
        0,
        0,
        "45000048565d40004006cc4e0a0102010a010202dfad138954fdb7ba00000000d002faf04e330000\
        020405b40402080a36fc7e2d000000000103030a1e0c1001b24c1e36ea5b18c4",
    ),
    (
        17,
        0,
        0,
        "45000040133f4000400611750a0101020a01010113899f5c29bfdc539685752db010004059870000\
        0101080a24896737a4f16b021e0c2003b863d5930e7e9c00",
    ),
    (
        41,
        0,
        0,
        "4500004c00004000400622a80a0102020a0102011389dfadd40b3e0554fdb7bbe012fe88b8db0000\
        020405b40402080a9399ed9f36fc7e2d0103030a1e10100100b83108d88211e420d78500",
    ),
    (
        42,
        0,
        0,
        "4500004c565e40004006cc490a0102010a010202dfad138954fdb7bbd40b3e06e010003f9fcb0000\
        0101080a36fc7e429399ed9f1e181000c55291263d6a200bea915b3c821f734bce3c2a9f",
    ),
    (
        228,
        0,
        0,
        "4500004ccc4b40004006565c0a0102020a0102011389dfadd40b3e0654fe65a3e010009b825c0000\
        0101080a9399ef4736fc7f6b0101050a54fe6b3354fe70c31e0c2003b863d5930e801bf0",
    ),
];

fn stream(from: usize, len: usize) -> Vec<u8> {
    (from..from + len).map(|n| n as u8).collect()
}

fn packet(number: u32) -> Vec<u8> {
    let &(_, offset, len, hex) = PACKETS.iter().find(|p| p.0 == number).expect("kept");
    let octet = |i: usize| u8::from_str_radix(&hex[i..i + 2], 16).expect("hexadecimal");
    let mut bytes: Vec<u8> = (0..hex.len()).step_by(2).map(octet).collect();
    bytes.extend(stream(offset, len));
    bytes
}

fn segment(number: u32) -> Segment {
    parse(&packet(number)).expect("Linux made it").0
}

#[test]
fn the_checksums_that_linux_computed_are_right() {
    for (number, ..) in PACKETS {
        let bytes = packet(number);
        let ip = ip::View::new(&bytes).expect("whole");
        let tcp = tcp::View::new(ip.payload()).expect("whole");
        assert!(ip.checksum_ok(), "packet {number}");
        assert_eq!(tcp.checksum_ok(ip.src(), ip.dst(), ip.payload_len()), Some(true), "packet {number}");
    }
}

#[test]
fn what_linux_sent_is_emitted_to_the_same_octets() {
    for (number, ..) in PACKETS {
        let bytes = packet(number);
        let (segment, envelope, payload) = parse(&bytes).expect("whole");
        let mut again = Vec::new();
        // The checksum in the parsed segment is the real one already: nothing is to be added.
        emit(&segment, &envelope, Some(Sum(0)), |out| out.copy_from_slice(payload), &mut again).expect("it fits");
        assert_eq!(again, bytes, "packet {number}");
    }
}

/// Keys, tokens and HMACs of the handshakes (RFC 8684 3.1, 3.2, 3.4.1), from bytes alone.
#[test]
fn the_handshakes_of_linux_authenticate() {
    let Mptcp::CapableSynAck { no_join: false, checksum: true, key: server } = segment(2).options.mptcp else {
        panic!("packet 2")
    };
    let Mptcp::CapableAck { checksum: true, sender_key: client, receiver_key, data: None } = segment(3).options.mptcp
    else {
        panic!("packet 3")
    };
    assert_eq!(segment(1).options.mptcp, Mptcp::CapableSyn { no_join: false, checksum: true });
    assert_eq!(receiver_key, server);
    let Mptcp::JoinSyn { backup: false, address_id: 1, token, nonce } = segment(16).options.mptcp else {
        panic!("packet 16")
    };
    assert_eq!(token, keys::token(server));
    let Mptcp::JoinSynAck { backup: false, address_id: 1, hmac, nonce: server_nonce } = segment(41).options.mptcp
    else {
        panic!("packet 41")
    };
    assert_eq!(hmac, keys::truncate_64(&keys::join_hmac(server, client, server_nonce, nonce)));
    let hmac = keys::truncate_160(&keys::join_hmac(client, server, nonce, server_nonce));
    assert_eq!(segment(42).options.mptcp, Mptcp::JoinAck { hmac });
    let Signal::AddAddr { advertised, hmac } = segment(14).options.signal else { panic!("packet 14") };
    assert_eq!(advertised.address.addr.to_string(), "10.1.2.2");
    assert_eq!(hmac, keys::add_addr_hmac(server, client, 1, advertised.address.addr, 0));
    assert_eq!(segment(15).options.signal, Signal::AddAddrEcho(advertised));
}

/// RFC 8684 3.3.1: one mapping of 31328 octets on many segments. Its checksum is given with MP_CAPABLE (packets 4, 5), where
/// the data sequence number follows from the key, and again in each DSS (packets 6, 7).
#[test]
fn the_dss_checksum_of_linux_is_right() {
    let Mptcp::CapableAck { sender_key, data: Some((len, Some(given))), .. } = segment(4).options.mptcp else {
        panic!("packet 4")
    };
    assert_eq!(len, 31_328);
    let dsn = keys::initial_dsn(sender_key).wrapping_add(1);
    let mapping = Mapping { dsn, short: false, ssn: 1, len, checksum: Some(given) };
    let data_ack = Some(DataAck::Four(0x6c57_8d45));
    let dss = Mptcp::Dss(Dss { data_ack, mapping: Some(mapping), data_fin: false });
    assert_eq!([segment(6).options.mptcp, segment(7).options.mptcp], [dss; 2]);
    // The pieces, as the receiver has them: the sums of four segments, and of the rest of the stream.
    let mut sum = dss_pseudo_header(dsn, 1, len);
    for (number, offset) in [(4, 0), (5, 1424), (6, 2848), (7, 4272)] {
        sum = sum.plus(Sum(segment(number).payload.sum).at(offset));
    }
    sum = sum.plus(Sum::of(&stream(5696, 31_328 - 5696)).at(5696));
    assert!(sum.plus(Sum(given)).is_valid());
}

/// RFC 2018 3: two holes would not show here; one block beside an 8-octet DATA_ACK.
#[test]
fn a_sack_block_of_linux_stands_beside_its_data_ack() {
    let s = segment(228);
    assert_eq!(s.options.sack.as_slice(), [(0x54fe_6b33, 0x54fe_70c3)]);
    assert_eq!(s.dss().and_then(|d| d.data_ack), Some(DataAck::Eight(0xb863_d593_0e80_1bf0)));
    assert_eq!((s.flags, s.payload.len), (Flags::ACK, 0));
}
