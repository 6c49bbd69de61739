//! MPTCP version 0 (RFC 6824), written octet by octet from the formats of the RFC: keys in SYN and SYN/ACK, tokens and initial
//! data sequence numbers from SHA-1, HMAC-SHA1 in joins, ADD_ADDR with IPVer and without HMAC, MP_PRIO with an address.

use std::net::{IpAddr, Ipv4Addr};

use anabranch_capture::{Only, analyze_octets};
use anabranch_stack::segment::Flags;
use anabranch_stack::wire::option::TcpOption;
use serde_json::{Value, json};

use crate::capture_formats::{MS, Record, Talk, packet, pcap};
use crate::capture_linux::analysed;
use crate::support::count;

/// Keys of client and server, and random numbers of a join.
const KEYS: [u64; 2] = [77, 78];
const NUMBERS: [u32; 2] = [5, 6];
/// `printf '\0\0\0\0\0\0\0M' | sha1sum`, and of `N`: the first 32 bits and the last 64 (RFC 6824 3.1).
const TOKENS: [u32; 2] = [0x9655_3603, 0x6c89_2507];
const INITIAL: [u64; 2] = [0xa24f_33cb_e417_b920, 0xf82f_8c52_3253_00a3];
/// HMAC-SHA1 with KEYS and NUMBERS, of client and server, each beginning with its own (`openssl dgst -sha1 -mac HMAC`).
const HMACS: [[u8; 20]; 2] = [
    *b"\x39\xda\x13\xea\xd3\x63\xa3\x78\xa3\x1b\xc4\xf9\x9e\x67\x92\xf7\xdd\x54\xc4\xbf",
    *b"\x4f\x58\x5e\xf7\xe6\xdc\x76\x6b\xc2\x1a\x74\x0a\xfd\xb4\x29\xf4\x67\x4e\xec\x6d",
];

fn host(n: u8) -> IpAddr {
    Ipv4Addr::new(192, 0, 2, n).into()
}

fn file(records: &[Record]) -> Vec<u8> {
    pcap(records, false, true, 101, &[])
}

/// The octets of an option of MPTCP behind kind and length.
fn send(t: &mut Talk, side: usize, flags: Flags, parts: &[&[u8]], payload: &[u8]) {
    let body = parts.concat();
    let options: &[TcpOption<'_>] = &[TcpOption::Other { kind: 30, body: &body }];
    t.send(side, flags, if body.is_empty() { &[] } else { options }, payload);
}

const SYN_ACK: Flags = Flags(Flags::SYN.0 | Flags::ACK.0);

/// MP_CAPABLE, version 0, flag H (RFC 6824 figure 4).
fn handshake(t: &mut Talk) {
    let key = KEYS.map(u64::to_be_bytes);
    send(t, 0, Flags::SYN, &[&[0, 1], &key[0]], &[]);
    send(t, 1, SYN_ACK, &[&[0, 1], &key[1]], &[]);
    t.now += 20 * MS;
    send(t, 0, Flags::ACK, &[&[0, 1], &key[0], &key[1]], &[]);
}

/// MP_JOIN (figures 5 to 7): token and number; HMAC, cut to 64 bits, and number; HMAC; and an ACK of that.
fn join(t: &mut Talk, token: u32, hmacs: [[u8; 20]; 2]) {
    let number = NUMBERS.map(u32::to_be_bytes);
    send(t, 0, Flags::SYN, &[&[0x10, 2], &token.to_be_bytes(), &number[0]], &[]);
    send(t, 1, SYN_ACK, &[&[0x10, 2], &hmacs[1][..8], &number[1]], &[]);
    t.now += 20 * MS;
    send(t, 0, Flags::ACK, &[&[0x10, 0], &hmacs[0]], &[]);
    send(t, 1, Flags::ACK, &[&[0x20, 1], &(INITIAL[0] as u32 + 1).to_be_bytes()], &[]);
}

/// Octets `data` to `data + len` of the client's stream: a DSS with numbers of 32 bits and no checksum (figure 9), acknowledged at once.
fn transfer(t: &mut Talk, isn: u32, data: u32, len: u16) {
    let first = INITIAL[0] as u32 + 1;
    let (ssn, dsn) = (t.seq[0].wrapping_sub(isn), first.wrapping_add(data));
    let mapping: [&[u8]; 4] = [&[0x20, 4], &dsn.to_be_bytes(), &ssn.to_be_bytes(), &len.to_be_bytes()];
    send(t, 0, Flags::ACK, &mapping, &vec![7; len.into()]);
    let acknowledged = first.wrapping_add(data + u32::from(len));
    send(t, 1, Flags::ACK, &[&[0x20, 1], &acknowledged.to_be_bytes()], &[]);
    t.now += MS;
}

fn talk(port: u16, isn: [u32; 2], at: u64) -> Talk {
    Talk { records: Vec::new(), now: at, ends: [(host(1), port), (host(2), 80)], seq: isn, key: 0 }
}

/// Two subflows with 20,000 octets each, signals, DATA_FINs of both sides.
fn connection(at: u64) -> Vec<Record> {
    let mut first = talk(6000, [100, 900], at);
    handshake(&mut first);
    let mut second = talk(6001, [300, 400], first.now + MS);
    second.ends[0].0 = host(9);
    join(&mut second, TOKENS[1], HMACS);
    first.now = second.now;
    // ADD_ADDR with IPVer 4, without and with a port; with IPVer 6 (figure 12).
    send(&mut first, 1, Flags::ACK, &[&[0x34, 3, 192, 0, 2, 77]], &[]);
    send(&mut first, 1, Flags::ACK, &[&[0x34, 4, 192, 0, 2, 78, 0x1f, 0x90]], &[]);
    send(&mut first, 1, Flags::ACK, &[&[0x36, 5], &[0x20; 16]], &[]);
    // MP_PRIO with and without an address (figure 11); REMOVE_ADDR (figure 13).
    send(&mut first, 0, Flags::ACK, &[&[0x51, 2]], &[]);
    send(&mut first, 0, Flags::ACK, &[&[0x51]], &[]);
    send(&mut first, 1, Flags::ACK, &[&[0x40, 3]], &[]);
    for i in 0..20 {
        transfer(&mut first, 100, 2000 * i, 1000);
        second.now = first.now;
        transfer(&mut second, 300, 2000 * i + 1000, 1000);
        first.now = second.now;
    }
    // DATA_FINs: a mapping of one octet without payload, with a subflow number of zero (3.3.3), of 64 bits.
    for side in [0, 1] {
        let end = INITIAL[side].wrapping_add(if side == 0 { 40_001 } else { 1 });
        send(&mut first, side, Flags::ACK, &[&[0x20, 0x1c], &end.to_be_bytes(), &[0; 4], &[0, 1]], &[]);
        send(&mut first, 1 - side, Flags::ACK, &[&[0x20, 3], &end.wrapping_add(1).to_be_bytes()], &[]);
    }
    let mut all = [first.records, second.records].concat();
    all.sort_by_key(|r| r.time);
    all
}

#[test]
fn a_connection_of_version_0_is_measured_like_one_of_version_1() {
    let s = analysed(&file(&connection(0))).summary;
    assert_eq!((&s["mptcp_version"], &s["protocol"], &s["status"]), (&json!(0), &json!("mptcp"), &json!("completed")));
    assert_eq!((count(&s["bytes_delivered"]), count(&s["unmapped_bytes"]), count(&s["missing_bytes"])), (40_000, 0, 0));
    assert_eq!(s["subflows"].as_array().map(Vec::len), Some(2));
    assert_eq!((&s["complete_beginning"], &s["fallback"]), (&json!(true), &json!(false)));
    let told = json!({
        "keys_seen": 2,
        "client_token": format!("{:08x}", TOKENS[0]),
        "server_token": format!("{:08x}", TOKENS[1]),
        "checksum_required": false,
        "tokens_matched": 1,
        "tokens_unmatched": 0,
        "hmacs_verified": 2,
        "hmacs_failed": 0,
        "add_addr_hmacs_verified": null,
        "add_addr_hmacs_failed": null,
    });
    assert_eq!(s["handshake"], told);
    let told = json!({
        "add_addr": 3, "add_addr_echo": null, "remove_addr": 1, "mp_prio": 2, "mp_fail": 0, "mp_fastclose": 0,
        "mp_tcprst": null,
    });
    assert_eq!(s["signals"], told);
    for flow in s["subflows"].as_array().expect("subflows") {
        assert_eq!((count(&flow["bytes_first"]), count(&flow["malformed_options"])), (20_000, 0));
        assert_eq!(count(&flow["refused"]), 0);
    }
    assert_eq!((count(&s["capture"]["version_0"]), count(&s["capture"]["mptcp_connections"])), (1, 1));
}

/// A join whose HMACs are those of SHA-256, and one whose token is.
#[test]
fn a_wrong_hmac_or_token_is_not_taken_for_right() {
    let told = |token: u32, hmacs| -> Value {
        let mut first = talk(6000, [100, 900], 0);
        handshake(&mut first);
        transfer(&mut first, 100, 0, 1000);
        let mut second = talk(6001, [300, 400], first.now);
        join(&mut second, token, hmacs);
        analysed(&file(&[first.records, second.records].concat())).summary
    };
    let s = told(TOKENS[1], [HMACS[1], HMACS[0]]);
    assert_eq!((count(&s["handshake"]["hmacs_verified"]), count(&s["handshake"]["hmacs_failed"])), (0, 2));
    let s = told(anabranch_stack::mptcp::keys::token(KEYS[1]), HMACS);
    let connections = s["connections"].as_array().expect("two connections");
    assert_eq!(connections[0]["mptcp_version"], json!(0));
    // Nobody knows the version of a join to an unknown connection.
    assert!(connections[1]["name"].as_str().is_some_and(|name| name.starts_with("unmatched join")));
    assert_eq!(connections[1]["mptcp_version"], Value::Null);
}

/// In version 0 the SYN has the client's key, so data that overtake the third ACK are not refused.
#[test]
fn data_that_overtake_the_third_ack_are_taken() {
    let mut t = talk(6000, [100, 900], 0);
    handshake(&mut t);
    let third = t.records.pop().expect("three packets");
    transfer(&mut t, 100, 0, 1000);
    t.records.insert(3, Record { time: t.records[2].time, ..third });
    transfer(&mut t, 100, 1000, 1000);
    let s = analysed(&file(&t.records)).summary;
    assert_eq!((count(&s["bytes_delivered"]), count(&s["subflows"][0]["refused"])), (2000, 0));
}

/// The SYN offers version 1, the SYN/ACK answers with version 0: the lower one counts.
#[test]
fn the_syn_ack_decides_the_version() {
    let mut t = talk(6000, [100, 900], 0);
    let key = KEYS.map(u64::to_be_bytes);
    send(&mut t, 0, Flags::SYN, &[&[1, 1]], &[]);
    send(&mut t, 1, SYN_ACK, &[&[0, 1], &key[1]], &[]);
    t.now += 20 * MS;
    send(&mut t, 0, Flags::ACK, &[&[0, 1], &key[0], &key[1]], &[]);
    (0..5).for_each(|i| transfer(&mut t, 100, 1000 * i, 1000));
    let s = analysed(&file(&t.records)).summary;
    assert_eq!((&s["mptcp_version"], count(&s["bytes_delivered"])), (&json!(0), 5000));
    assert_eq!(s["handshake"]["server_token"], json!(format!("{:08x}", TOKENS[1])));
}

/// Without MP_CAPABLE in the SYN/ACK, and without a DSS on the first data, it is TCP (RFC 6824 3.6).
#[test]
fn version_0_falls_back_to_tcp() {
    for plain_answer in [true, false] {
        let mut t = talk(6000, [100, 900], 0);
        if plain_answer {
            let key = KEYS[0].to_be_bytes();
            send(&mut t, 0, Flags::SYN, &[&[0, 1], &key], &[]);
            send(&mut t, 1, SYN_ACK, &[], &[]);
            t.now += 20 * MS;
            send(&mut t, 0, Flags::ACK, &[], &[]);
        } else {
            handshake(&mut t);
        }
        for _ in 0..5 {
            send(&mut t, 0, Flags::ACK, &[], &[7; 1000]);
            send(&mut t, 1, Flags::ACK, &[], &[]);
            t.now += MS;
        }
        let s = analysed(&file(&t.records)).summary;
        assert_eq!((&s["fallback"], count(&s["bytes_delivered"])), (&json!(true), 5000), "{plain_answer}");
        assert_eq!(s["mptcp_version"], json!(0));
    }
}

/// Beside version 1, and on the port of a connection of the other version.
#[test]
fn both_versions_in_one_capture_are_told_apart() {
    let mut talk = Talk::begin(6000, [5, 5], 5, 100_000 * MS);
    talk.ends = [(host(1), 6000), (host(2), 80)];
    talk.records.clear();
    talk.seq = [5, 5];
    let mut again = Talk::begin(4000, [5, 5], 5, 100_000 * MS);
    again.transfer(5, 0, 1000);
    let renamed = again.records.into_iter().map(|r| {
        let view = anabranch_stack::wire::ip::View::new(&r.octets).expect("a packet");
        let tcp = anabranch_stack::wire::tcp::View::new(view.payload()).expect("a segment");
        let ends = if tcp.src_port() == 4000 { (talk.ends[0], talk.ends[1]) } else { (talk.ends[1], talk.ends[0]) };
        let options: Vec<_> = tcp.options().map(|o| o.expect("an option")).collect();
        packet(r.time, ends, (tcp.seq(), tcp.ack()), tcp.flags(), &options, tcp.payload())
    });
    let all: Vec<Record> = connection(0).into_iter().chain(renamed).collect();
    let s = analysed(&file(&all)).summary;
    let told: Vec<_> = s["connections"].as_array().expect("two").iter().map(|c| &c["mptcp_version"]).collect();
    assert_eq!(told, [&json!(0), &json!(1)]);
    assert_eq!(count(&s["capture"]["version_0"]), 1);
    assert_eq!(count(&s["connections"][1]["bytes_delivered"]), 1000);
    // They are MPTCP, so `--protocol tcp` finds nothing.
    assert!(analyze_octets(&[("x", &file(&connection(0)))], Some(Only::Tcp)).is_err());
    assert!(analyze_octets(&[("x", &file(&connection(0)))], Some(Only::Mptcp)).is_ok());
}
