//! Numbers that Linux chose: keys, tokens, nonces, HMACs, data sequence numbers and lengths of the segments at the
//! beginning and at the end of a two-path transfer, taken from a capture of Linux 6 (MPTCP v1, checksums on). Nothing here
//! was computed by Anabranch.

use anabranch_stack::mptcp::keys;
use anabranch_stack::segment::{
    AddrId, DataAck, Dss, Mapping, Mptcp, OPTION_SPACE, Options, Payload, SackBlocks, Segment, Timestamps,
};
use core::net::{IpAddr, Ipv4Addr};

use crate::mptcp_bench::{Script, add_addr, mptcp};

const CLIENT_KEY: u64 = 0x1dc4_894f_8bff_2467;
const SERVER_KEY: u64 = 0x00d2_7dd1_868c_df3a;
/// Of the mapping with the client's first data, less the octets before it: its segments start at subflow sequence 1.
const CLIENT_FIRST_DSN: u64 = 0xb863_d593_0e7e_9c00;
/// The client's DATA_ACK before the server had sent data.
const SERVER_FIRST_DSN_LOW: u32 = 0x6c57_8d45;
const CLIENT_NONCE: u32 = 0xea5b_18c4;
const SERVER_NONCE: u32 = 0x20d7_8500;
const SERVER_SECOND_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 1, 2, 2);

/// RFC 8684 3.1, 3.2: the client's MP_JOIN carries the token of the server's key.
#[test]
fn linux_derives_the_same_token() {
    assert_eq!(keys::token(SERVER_KEY), 0xb24c_1e36);
}

/// RFC 8684 3.1: the first octet has the initial data sequence number plus one, in both directions.
#[test]
fn linux_derives_the_same_initial_data_sequence_numbers() {
    assert_eq!(keys::initial_dsn(CLIENT_KEY).wrapping_add(1), CLIENT_FIRST_DSN);
    assert_eq!(keys::initial_dsn(SERVER_KEY).wrapping_add(1) as u32, SERVER_FIRST_DSN_LOW);
}

/// RFC 8684 3.2: the SYN/ACK carries the leftmost 64 bits of the server's HMAC, the third ACK the leftmost 160 bits of
/// the client's.
#[test]
fn linux_computes_the_same_join_hmacs() {
    let server = keys::join_hmac(SERVER_KEY, CLIENT_KEY, SERVER_NONCE, CLIENT_NONCE);
    assert_eq!(keys::truncate_64(&server), 0x00b8_3108_d882_11e4);
    let client = keys::join_hmac(CLIENT_KEY, SERVER_KEY, CLIENT_NONCE, SERVER_NONCE);
    let sent = [
        0xc5, 0x52, 0x91, 0x26, 0x3d, 0x6a, 0x20, 0x0b, 0xea, 0x91, 0x5b, 0x3c, 0x82, 0x1f, 0x73, 0x4b, 0xce, 0x3c,
        0x2a, 0x9f,
    ];
    assert_eq!(keys::truncate_160(&client), sent);
}

/// RFC 8684 3.4.1: the server advertises its address 1 without a port; the rightmost 64 bits of its HMAC.
#[test]
fn linux_computes_the_same_add_addr_hmac() {
    let hmac = keys::add_addr_hmac(SERVER_KEY, CLIENT_KEY, 1, IpAddr::V4(SERVER_SECOND_ADDRESS), 0);
    assert_eq!(hmac, 0x6d6d_9bff_5d4e_ff8c);
}

fn segment(options: Options, len: u32) -> Segment {
    Segment { payload: Payload::new(0, len), options, ..Segment::default() }
}

/// The IPv4 packet lengths of the capture: SYN 64, SYN/ACK 72, third ACK 72, first data 1500 with 1424 octets, and so on.
#[test]
fn segments_are_as_long_as_those_of_linux() {
    let ts = Some(Timestamps { val: 1, ecr: 1 });
    let syn = |mptcp| Options {
        door_permitted: false,
        door: Default::default(),
        mss: Some(1460),
        window_scale: Some(10),
        sack_permitted: true,
        timestamps: ts,
        sack: SackBlocks::default(),
        mptcp,
        ..Options::default()
    };
    let later = |mptcp| Options { timestamps: ts, mptcp, ..Options::default() };
    let about = |signal| Options { timestamps: ts, signal, ..Options::default() };
    let checksum = Some(0xd5bd);
    let mapping = Some(Mapping { dsn: CLIENT_FIRST_DSN, short: false, ssn: 1, len: 31_328, checksum });
    let capable_ack =
        |data| Mptcp::CapableAck { checksum: false, sender_key: CLIENT_KEY, receiver_key: SERVER_KEY, data };
    let four = Some(DataAck::Four(SERVER_FIRST_DSN_LOW));
    let address = AddrId { id: 1, addr: IpAddr::V4(SERVER_SECOND_ADDRESS) };
    let cases = [
        ("MP_CAPABLE SYN", syn(Mptcp::CapableSyn { no_join: false, checksum: true }), 0, 64),
        ("MP_CAPABLE SYN/ACK", syn(Mptcp::CapableSynAck { no_join: false, checksum: true, key: SERVER_KEY }), 0, 72),
        ("MP_CAPABLE third ACK", later(capable_ack(None)), 0, 72),
        ("MP_CAPABLE with data", later(capable_ack(Some((31_328, checksum)))), 1424, 1500),
        ("DSS with mapping", later(Mptcp::Dss(Dss { data_ack: four, mapping, data_fin: false })), 1424, 1500),
        ("ADD_ADDR", about(add_addr(address, Some(1))), 0, 68),
        ("its echo", about(add_addr(address, None)), 0, 60),
        ("MP_JOIN SYN", syn(Mptcp::JoinSyn { backup: false, address_id: 0, token: 1, nonce: 1 }), 0, 72),
        ("MP_JOIN SYN/ACK", syn(Mptcp::JoinSynAck { backup: false, address_id: 1, hmac: 1, nonce: 1 }), 0, 76),
        ("MP_JOIN third ACK", later(Mptcp::JoinAck { hmac: [0; 20] }), 0, 76),
        (
            "8-octet DATA_ACK",
            later(Mptcp::Dss(Dss { data_ack: Some(DataAck::Eight(1)), mapping: None, data_fin: false })),
            0,
            64,
        ),
        ("DATA_FIN alone", later(Mptcp::Dss(Dss { data_ack: four, mapping, data_fin: true })), 0, 76),
    ];
    for (name, options, payload, length) in cases {
        assert_eq!(segment(options, payload).wire_len(), length, "{name}");
    }
}

/// The lengths that RFC 8684 draws (3.1, 3.2, 3.3), of which the capture shows some. None is too long beside
/// timestamps, which take 12 of the 40 octets.
#[test]
fn every_option_has_the_length_of_its_figure() {
    let map = |checksum| Some(Mapping { dsn: 1, short: false, ssn: 1, len: 1, checksum });
    let short = |checksum| Some(Mapping { dsn: 1, short: true, ssn: 1, len: 1, checksum });
    let dss = |data_ack, mapping| Mptcp::Dss(Dss { data_ack, mapping, data_fin: false });
    let (four, eight) = (Some(DataAck::Four(1)), Some(DataAck::Eight(1)));
    let capable = |data| Mptcp::CapableAck { checksum: false, sender_key: 1, receiver_key: 2, data };
    let cases = [
        (Mptcp::None, 0),
        // 3.1: MP_CAPABLE.
        (Mptcp::CapableSyn { no_join: false, checksum: false }, 4),
        (Mptcp::CapableSynAck { no_join: false, checksum: false, key: 1 }, 12),
        (capable(None), 20),
        (capable(Some((1, None))), 22),
        (capable(Some((1, Some(1)))), 24),
        // 3.2: MP_JOIN.
        (Mptcp::JoinSyn { backup: false, address_id: 0, token: 1, nonce: 1 }, 12),
        (Mptcp::JoinSynAck { backup: false, address_id: 0, hmac: 1, nonce: 1 }, 16),
        (Mptcp::JoinAck { hmac: [0; 20] }, 24),
        // 3.3: DSS, with data sequence numbers of 8 octets, then of 4.
        (dss(four, None), 8),
        (dss(eight, None), 12),
        (dss(None, map(None)), 18),
        (dss(four, map(None)), 22),
        (dss(four, map(Some(1))), 24),
        (dss(eight, map(None)), 26),
        (dss(eight, map(Some(1))), 28),
        (dss(None, short(None)), 14),
        (dss(four, short(None)), 18),
        (dss(four, short(Some(1))), 20),
    ];
    for (mptcp, length) in cases {
        assert_eq!(mptcp.len(), length, "{mptcp:?}");
        let options = Options { timestamps: Some(Timestamps { val: 1, ecr: 1 }), mptcp, ..Options::default() };
        assert!(options.wire_len() <= OPTION_SPACE && options.wire_len() % 4 == 0, "{mptcp:?}");
    }
}

/// A Linux client's first flight: MP_CAPABLE with a mapping of 31328 octets on its first two segments, the same mapping as
/// a DSS on the next eight, 1424 octets each. Everything is taken, and the DATA_ACK follows the client's numbers. (Their checksum is left
/// out: it is over octets that are not here, and the engine was not asked for one.)
#[test]
fn the_first_flight_of_a_linux_client_is_understood() {
    let mut s = Script::listening(mptcp(), CLIENT_KEY);
    let checksum = None;
    let third = s.third_ack();
    s.give(0, third);
    let mapping = Mapping { dsn: CLIENT_FIRST_DSN, short: false, ssn: 1, len: 31_328, checksum };
    for i in 0..10_u32 {
        let option = if i < 2 {
            let data = Some((31_328, checksum));
            Mptcp::CapableAck { checksum: true, sender_key: CLIENT_KEY, receiver_key: s.key, data }
        } else {
            Mptcp::Dss(Dss {
                data_ack: Some(DataAck::Four(s.engine_dsn(0) as u32)),
                mapping: Some(mapping),
                data_fin: false,
            })
        };
        let payload = Payload::new(1424 * u64::from(i), 1424);
        let seg = Segment { payload, ..s.ack(0, 1 + 1424 * i, 1, option) };
        let out = s.give(0, seg);
        assert_eq!(s.subflow_ack(&out[0]), 1 + 1424 * (i + 1));
        let ack = CLIENT_FIRST_DSN + 1424 * u64::from(i + 1);
        assert_eq!(out[0].segment.dss().unwrap().data_ack, Some(DataAck::Eight(ack)));
    }
    assert_eq!(s.read(), 14_240);
}

/// The same client's second subflow: its first segment there is 376 octets at ...0e7f9a88, ahead of the first subflow. The
/// last segment of its stream, 392 octets at the end of a mapping of 21752 and a DATA_FIN that started 21360 octets
/// before it, carries the DATA_FIN.
#[test]
fn a_linux_client_ends_a_mapping_of_many_segments_with_the_data_fin() {
    let mut s = Script::listening(mptcp(), CLIENT_KEY);
    let third = s.third_ack();
    s.give(0, third);
    let second = s.join();
    let ahead = 0xb863_d593_0e7f_9a88 - CLIENT_FIRST_DSN;
    let out = s.give(second, s.data(second, 1, ahead, 376));
    assert_eq!((s.subflow_ack(&out[0]), s.data_ack(&out[0])), (377, Some(0)));
    // What lies between, in segments of the capture's length and one short one, then the last mapping's first 21360.
    let mut seq = 1;
    let mut at = 0;
    while at < ahead {
        let len = (ahead - at).min(1424) as u32;
        s.give(0, s.data(0, seq, at, len));
        (seq, at) = (seq + len, at + u64::from(len));
    }
    at += 376;
    let (first_seq, first_at) = (seq, at);
    let with = |s: &Script, seq: u32, at: u64, len: u32, fin: bool| {
        let mapping = s.mapping(first_at, first_seq, 21_752 + u16::from(fin));
        let option = Mptcp::Dss(Dss { data_ack: None, mapping: Some(mapping), data_fin: fin });
        Segment { payload: Payload::new(at, len), ..s.ack(0, seq, 1, option) }
    };
    for _ in 0..15 {
        let seg = with(&s, seq, at, 1424, false);
        s.give(0, seg);
        (seq, at) = (seq + 1424, at + 1424);
    }
    let last = with(&s, seq, at, 392, true);
    let out = s.give(0, last);
    // The DATA_FIN is acknowledged with the octets before it.
    assert_eq!(s.data_ack(&out[0]), Some(at as u32 + 392 + 1));
    assert_eq!(s.read(), at + 392);
    assert_eq!(s.count(|e| *e == anabranch_stack::event::Event::EndOfStream), 1);
}

/// A Linux server's SYN/ACK: the engine's third ACK and first data carry its key, the first DATA_ACK is the server's first
/// data sequence number.
#[test]
fn the_answer_of_a_linux_server_is_understood() {
    let mut s = Script::opening(mptcp());
    s.peer_key = SERVER_KEY;
    let mut syn_ack = s.syn_ack(Mptcp::CapableSynAck { no_join: false, checksum: true, key: SERVER_KEY });
    syn_ack.window = 65_160;
    let out = s.give(0, syn_ack);
    let Mptcp::CapableAck { sender_key, receiver_key, checksum, data: None } = out[0].segment.options.mptcp else {
        panic!("{out:?}")
    };
    assert_eq!((sender_key, receiver_key, checksum), (s.key, SERVER_KEY, true));
    s.c.write(2000);
    let out = s.poll();
    assert!(matches!(
        out[0].segment.options.mptcp,
        Mptcp::CapableAck { receiver_key: SERVER_KEY, data: Some((1000, Some(_))), .. }
    ));
    let dss = out[1].segment.dss().unwrap();
    assert_eq!(dss.data_ack, Some(DataAck::Four(SERVER_FIRST_DSN_LOW)));
    assert_eq!(dss.mapping.map(|m| (m.dsn, m.ssn, m.len)), Some((s.engine_dsn(1000), 1001, 1000)));
    assert!(dss.mapping.unwrap().checksum.is_some());
    assert!(s.c.is_multipath());
    // The server's acknowledgement, 8 octets long.
    let all = Mptcp::Dss(Dss { data_ack: Some(DataAck::Eight(s.engine_dsn(2000))), mapping: None, data_fin: false });
    s.give(0, s.ack(0, 1, 2001, all));
    assert_eq!(s.c.outbound().unacknowledged(), 0);
    // It joins with the token of the server's key.
    assert_eq!(s.open().0, 1);
}

/// The first send buffer is 46,080 octets of memory (`tcp_sndbuf_expand`). `mptcp_sendmsg` asks for room once a page, so that two of them,
/// 65,456 octets, are taken.
#[test]
fn a_send_buffer_takes_whole_pages() {
    let mut s = Script::client(mptcp().scheduler("linux".parse().unwrap()));
    assert_eq!((s.c.write(65_536), s.c.writable(), s.c.write(1)), (65_456, 0, 0));
    let sent: u32 = s.poll().iter().map(|t| t.segment.payload.len).sum();
    s.give(0, s.dss(0, 1, 1 + sent, Some(sent.into()), None));
    assert_eq!(s.c.writable(), u64::from(sent).saturating_sub(65_456 - 46_080));
}

/// A writer that has filled the send buffer is woken when a third of it is free (`sk_stream_is_writeable`: as much as half of what is queued).
#[test]
fn a_writer_that_has_filled_the_buffer_sleeps_until_a_third_is_free() {
    let config = mptcp().scheduler("linux".parse().unwrap()).send_buffer(Some(30_000));
    for (acked, room) in [(9_999, 0), (10_000, 10_000)] {
        let mut s = Script::client(config.clone());
        s.c.write(40_000);
        s.poll();
        s.give(0, s.dss(0, 1, 1, Some(acked), None));
        assert_eq!(s.c.writable(), room);
    }
}
