//! Captures with more in them than one connection of Multipath TCP: scans, joins that fail, plain TCP; and clocks
//! that somebody sets while the capture goes on.

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr};

use anabranch_capture::{Only, analyze_octets};
use anabranch_stack::mptcp::keys;
use anabranch_stack::segment::{Flags, SackBlocks};
use anabranch_stack::wire::mptcp::{CapableFlags, MptcpOption};
use anabranch_stack::wire::option::TcpOption;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::capture_formats::{MS, Record, Talk, essence, packet, pcap, records};
use crate::capture_linux::{FIRST_400, analysed};
use crate::support::{count, number};

const S: u64 = 1000 * MS;

fn file(records: &[Record]) -> Vec<u8> {
    pcap(records, false, true, 101, &[])
}

fn only(records: &[Record], only: Only) -> Result<Value, String> {
    let capture = analyze_octets(&[("test.pcap", &file(records))], Some(only));
    capture.map(|c| c.summary).map_err(|e| e.to_string())
}

fn host(n: u32) -> IpAddr {
    IpAddr::V4(Ipv4Addr::from(0x0a00_0000 + n))
}

// ---- clocks --------------------------------------------------------------------------------------------------------

/// 400 packets of Linux; after the 200th the clock is set back, by ten seconds or by an hour. What follows is measured as if
/// it had not been: round trips are those of before, give or take the one that the step fell into.
#[test]
fn a_clock_that_is_set_back_is_told_and_survived() {
    let wanted = analysed(FIRST_400).summary;
    for back in [10 * S, 3600 * S] {
        let mut all = records(FIRST_400);
        all.iter_mut().skip(200).for_each(|r| r.time -= back);
        let s = analysed(&file(&all)).summary;
        let clock = &s["capture"]["clock"];
        assert_eq!((count(&clock["steps_back"]), count(&clock["records_earlier"])), (1, 1));
        assert!((number(&clock["largest_step_back_s"]) - back as f64 / 1e9).abs() < 1.0, "{clock}");
        assert_eq!(s["bytes_delivered"], wanted["bytes_delivered"]);
        for (flow, before) in flows(&s).iter().zip(flows(&wanted)) {
            for field in ["srtt_ms", "rtt_max_ms"] {
                let (now, before) = (flow[field].as_f64(), before[field].as_f64());
                assert_eq!(now.is_some(), before.is_some(), "{field}");
                assert!(now.zip(before).is_none_or(|(n, b)| n <= 2.0 * b), "{field}: {now:?}, was {before:?}");
            }
        }
    }
    assert_eq!(
        wanted["capture"]["clock"],
        json!({ "records_earlier": 0, "steps_back": 0, "largest_step_back_s": 0.0 })
    );
}

fn flows(summary: &Value) -> &[Value] {
    summary["subflows"].as_array().expect("a list")
}

/// Times at random: back and forth by anything from a microsecond to centuries.
#[test]
fn no_time_makes_nonsense_of_a_round_trip() {
    let mut x = 7_u64;
    let mut next = || {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        x >> 20
    };
    for _ in 0..200 {
        let mut all = records(FIRST_400);
        for r in all.iter_mut().skip(20) {
            if next() % 20 == 0 {
                r.time = (r.time ^ 1 << (next() % 62)) % (4_000_000_000 * S);
            }
        }
        let s = analysed(&file(&all)).summary;
        let whole = number(&s["capture"]["duration_s"]) * 1e3;
        for flow in flows(&s) {
            let srtt = flow["srtt_ms"].as_f64().unwrap_or(0.0);
            assert!((0.0..=whole).contains(&srtt), "{srtt} ms in {whole} ms");
        }
    }
}

// ---- what there may be many of -------------------------------------------------------------------------------------

fn syn(n: u32, at: u64, option: MptcpOption<'_>) -> Record {
    let ends = ((host(n / 50_000), 1024 + (n % 50_000) as u16), (host(1 << 20), 80));
    packet(at, ends, (n, 0), Flags::SYN, &[TcpOption::Mptcp(option)], &[])
}

fn capable(version: u8) -> MptcpOption<'static> {
    MptcpOption::CapableSyn { version, flags: CapableFlags(CapableFlags::HMAC_SHA256) }
}

/// A scan: 300,000 SYNs within three seconds, and one connection that carries something.
#[test]
fn a_scan_is_counted_and_not_listed() {
    let mut all: Vec<Record> = (0..300_000).map(|n| syn(n, u64::from(n) * 10_000, capable(1))).collect();
    let mut talk = Talk::begin(4000, [0, 0], 5, 3 * S);
    talk.transfer(0, 0, 1000);
    all.extend(talk.records);
    let s = analysed(&file(&all)).summary;
    let told = &s["capture"];
    assert_eq!((count(&told["mptcp_connections"]), count(&told["connections_without_data"])), (300_001, 300_000));
    let listed = s["connections"].as_array().expect("a list");
    assert_eq!((listed.len(), count(&told["unlisted_connections"])), (21, 300_001 - 21));
    assert_eq!(count(&listed[20]["bytes_delivered"]), 1000);
    assert!(s.to_string().len() < 200_000, "{} octets", s.to_string().len());
}

/// 50,000 joins to one connection that nobody answers, and one that is.
#[test]
fn joins_that_fail_make_room_for_others() {
    let mut talk = Talk::begin(4000, [0, 0], 5, 0);
    talk.transfer(0, 0, 1000);
    let token = keys::token(6);
    for n in 0..50_000 {
        let join = MptcpOption::JoinSyn { backup: false, address_id: 1, token, nonce: n };
        talk.records.push(syn(n, talk.now + u64::from(n) * MS / 10, join));
    }
    talk.now += 10 * S;
    talk.transfer(0, 1000, 500);
    let s = analysed(&file(&talk.records)).summary;
    assert_eq!(count(&s["bytes_delivered"]), 1500);
    assert_eq!(count(&s["handshake"]["tokens_matched"]), 50_000);
    assert_eq!(flows(&s).len() as u64 + count(&s["unlisted_subflows"]), 50_001);
    assert!(s.to_string().len() < 200_000, "{} octets", s.to_string().len());
}

/// RFC 8684 3.4.1: the HMAC of an address that is advertised, right and with another last bit.
#[test]
fn a_wrong_hmac_of_an_address_is_counted() {
    let mut talk = Talk::begin(4000, [0, 0], 5, 0);
    talk.transfer(0, 0, 1000);
    let addr = host(9);
    let hmac = keys::add_addr_hmac(6, 5, 3, addr, 0);
    for hmac in [hmac, hmac ^ 1, hmac ^ 1] {
        let option = MptcpOption::AddAddr { echo: false, id: 3, addr, port: None, hmac: Some(hmac) };
        talk.send(1, Flags::ACK, &[TcpOption::Mptcp(option)], &[]);
    }
    let told = &analysed(&file(&talk.records)).summary["handshake"];
    assert_eq!((count(&told["add_addr_hmacs_verified"]), count(&told["add_addr_hmacs_failed"])), (1, 2));
}

/// RFC 8684 3.7: the first data without a data sequence signal end MPTCP.
#[test]
fn first_data_without_a_signal_are_told_as_the_reason_of_the_fallback() {
    let mut talk = Talk::begin(4000, [0, 0], 5, 0);
    talk.send(0, Flags::ACK, &[], &[7; 100]);
    talk.send(1, Flags::ACK, &[], &[]);
    let s = analysed(&file(&talk.records)).summary;
    assert_eq!((&s["fallback"], count(&s["bytes_delivered"])), (&json!(true), 100));
    assert_eq!(s["fallback_reason"], json!("the first data have no data sequence signal"));
}

/// Forty joins, each with data: all of them are listed.
#[test]
fn joins_with_data_make_room_for_nobody() {
    let mut talk = Talk::begin(4000, [0, 0], 5, 0);
    talk.transfer(0, 0, 1000);
    let token = keys::token(6);
    for n in 0..40 {
        (talk.ends[0].1, talk.seq) = (5000 + n, [0, 0]);
        let join = MptcpOption::JoinSyn { backup: false, address_id: 1, token, nonce: n.into() };
        talk.send(0, Flags::SYN, &[TcpOption::Mptcp(join)], &[]);
        talk.transfer(0, 1000 + 100 * u64::from(n), 100);
    }
    let s = analysed(&file(&talk.records)).summary;
    assert_eq!((flows(&s).len(), count(&s["bytes_delivered"])), (41, 5000));
}

/// Every other octet arrives, in segments of one octet, upwards or downwards, each reported by SACK.
fn holes(n: u32, upwards: bool) -> Vec<u8> {
    let mut t = Talk { records: Vec::new(), now: 0, ends: [(host(7), 5000), (host(8), 443)], seq: [100, 900], key: 0 };
    let scale = [TcpOption::WindowScale(14)];
    t.send(0, Flags::SYN, &scale, &[]);
    t.send(1, Flags::SYN.with(Flags::ACK), &scale, &[]);
    t.now += 20 * MS;
    t.send(0, Flags::ACK, &[], &[]);
    // RFC 7323 2.2: the window of the SYN/ACK is not scaled, so the data that follow need another one.
    t.send(1, Flags::ACK, &[], &[]);
    for k in 0..n {
        t.now += 1000;
        let seq = 102 + 2 * if upwards { k } else { n - k };
        t.records.push(packet(t.now, (t.ends[0], t.ends[1]), (seq, 901), Flags::ACK, &[], &[1]));
        let mut block = SackBlocks::default();
        block.push(seq, seq + 1);
        t.records.push(packet(t.now, (t.ends[1], t.ends[0]), (901, 101), Flags::ACK, &[TcpOption::Sack(block)], &[]));
    }
    file(&t.records)
}

/// Four times the holes cost four times the time, give or take what moves in memory: a tenth of a millisecond a segment at most.
#[test]
fn tens_of_thousands_of_holes_are_found_quickly() {
    for upwards in [true, false] {
        let file = holes(40_000, upwards);
        let began = std::time::Instant::now();
        let s = analysed(&file).summary;
        assert_eq!(count(&s["ooo_buffer_max_packets"]), 40_000);
        assert!(began.elapsed().as_secs_f64() < 4.0, "{:?}", began.elapsed());
    }
}

/// 300,000 segments wait for holes: more than 131,072 are held by nobody, on a subflow or in the stream, so the first holes count as
/// missing in the capture.
#[test]
#[ignore = "long"]
fn more_holes_than_any_receiver_has_are_given_up() {
    let s = analysed(&holes(300_000, true)).summary;
    assert!(
        (131_072..=2 * 131_072 + 2).contains(&count(&s["ooo_buffer_max_packets"])),
        "{}",
        s["ooo_buffer_max_packets"]
    );
    assert!(count(&flows(&s)[0]["missing_bytes"]) > 100_000, "{}", flows(&s)[0]["missing_bytes"]);
}

// ---- TCP -----------------------------------------------------------------------------------------------------------

/// A TCP connection at its server: the handshake (with a window scale of 2^7, if it is `whole`), then `segments` of 1000 octets,
/// each acknowledged at once, 20 ms apart; then FINs.
fn tcp(port: u16, segments: u32, at: u64, whole: bool) -> Vec<Record> {
    let mut t = Talk { records: Vec::new(), now: at, ends: [(host(7), port), (host(8), 443)], seq: [100, 900], key: 0 };
    let scale = [TcpOption::WindowScale(7)];
    t.send(0, Flags::SYN, &scale, &[]);
    t.send(1, Flags::SYN.with(Flags::ACK), &scale, &[]);
    t.now += 20 * MS;
    t.send(0, Flags::ACK, &[], &[]);
    let from = if whole { 0 } else { t.records.len() + 2 };
    for _ in 0..segments {
        t.now += 20 * MS;
        t.send(0, Flags::ACK, &[], &[3; 1000]);
        t.send(1, Flags::ACK, &[], &[]);
    }
    t.send(0, Flags::ACK.with(Flags::FIN), &[], &[]);
    t.send(1, Flags::ACK.with(Flags::FIN), &[], &[]);
    t.now += 20 * MS;
    t.send(0, Flags::ACK, &[], &[]);
    t.records.split_off(from)
}

#[test]
fn plain_tcp_is_measured_like_a_connection_of_one_subflow() {
    let s = analysed(&file(&tcp(5000, 50, 0, true))).summary;
    assert_eq!((&s["protocol"], &s["status"]), (&json!("tcp"), &json!("completed")));
    assert_eq!((&s["fallback"], &s["handshake"], &s["complete_beginning"]), (&Value::Null, &Value::Null, &json!(true)));
    assert_eq!((count(&s["bytes_delivered"]), count(&s["unmapped_bytes"])), (50_000, 0));
    // 50,000 octets; the last of them 20 ms and 50 times 20 ms after the SYN.
    let goodput = 50_000.0 * 8.0 / 1.02 / 1e6;
    assert!((number(&s["goodput_mbps"]) - goodput).abs() < 1e-9, "{}", s["goodput_mbps"]);
    let flow = &flows(&s)[0];
    assert_eq!((count(&flow["segments"]), count(&flow["retransmissions"])), (50, 0));
    assert_eq!((&flow["opening"], &flow["captured_at"]), (&json!("syn"), &json!(["server"])));
}

/// The capture begins within it: the third segment and what follows; the scale of its windows is unknown.
#[test]
fn tcp_that_began_before_the_capture_is_measured_from_its_first_segment_seen() {
    let mut all = tcp(5000, 50, 0, false);
    // One segment is sent again: a retransmission, though 1000 octets are more than the window says unscaled.
    let again = all[20].clone();
    let at = all[30].time + 5 * MS;
    all.insert(31, Record { time: at, ..again });
    let s = analysed(&file(&all)).summary;
    assert_eq!((&s["protocol"], count(&s["bytes_delivered"])), (&json!("tcp"), 49_000));
    let flow = &flows(&s)[0];
    assert_eq!((count(&flow["retransmissions"]), count(&flow["window_probes"])), (1, 0));
    assert_eq!((&flow["opening"], &s["complete_beginning"]), (&json!("unseen"), &json!(false)));
}

/// 30 connections of TCP, the n-th of n segments, before one of MPTCP.
#[test]
fn mptcp_comes_first_and_of_tcp_the_largest_are_listed() {
    let mut all: Vec<Record> = (1..=30_u16).flat_map(|n| tcp(5000 + n, n.into(), u64::from(n) * S, true)).collect();
    let mut talk = Talk::begin(4000, [0, 0], 5, 40 * S);
    talk.transfer(0, 0, 700);
    all.extend(talk.records);
    let s = analysed(&file(&all)).summary;
    let listed = s["connections"].as_array().expect("a list");
    let protocols: Vec<&Value> = listed.iter().map(|c| &c["protocol"]).collect();
    assert_eq!((protocols[0], protocols.len()), (&json!("mptcp"), 21));
    assert!(protocols[1..].iter().all(|p| *p == "tcp"));
    let amounts: Vec<u64> = listed[1..].iter().map(|c| count(&c["bytes_delivered"])).collect();
    assert_eq!(amounts, (11..=30).map(|n| n * 1000).collect::<Vec<u64>>());
    let told = &s["capture"];
    assert_eq!((count(&told["mptcp_connections"]), count(&told["tcp_connections"])), (1, 30));
    assert_eq!((count(&told["unlisted_connections"]), count(&told["unlisted_bytes"])), (10, 55_000));

    let mptcp = only(&all, Only::Mptcp).expect("there is some");
    assert_eq!((&mptcp["protocol"], count(&mptcp["bytes_delivered"])), (&json!("mptcp"), 700));
    let plain = only(&all, Only::Tcp).expect("there is some");
    assert!(plain["connections"].as_array().expect("a list").iter().all(|c| c["protocol"] == "tcp"));
    assert_eq!((count(&plain["capture"]["mptcp_connections"]), count(&plain["capture"]["tcp_connections"])), (0, 30));
}

#[test]
fn what_is_not_there_is_refused_by_its_name() {
    let plain = tcp(5000, 3, 0, true);
    let said = only(&plain, Only::Mptcp).expect_err("there is none");
    assert!(said.contains("no MPTCP connection inside") && said.contains("without --protocol, plain TCP"), "{said}");
    let said = only(&Talk::begin(4000, [0, 0], 5, 0).records, Only::Tcp).expect_err("there is none");
    assert!(said.contains("no plain TCP connection inside"), "{said}");
}

/// The first segment seen has no option of MPTCP (a stranger's capture may lack what came before), the next has.
#[test]
fn what_seemed_to_be_tcp_and_has_mappings_is_mptcp() {
    let mut talk = Talk::begin(4000, [0, 0], 5, 0);
    talk.records.clear();
    talk.send(0, Flags::ACK, &[], &[1; 100]);
    (0..5).for_each(|i| talk.transfer(0, 100 + i * 1000, 1000));
    let s = analysed(&file(&talk.records)).summary;
    assert_eq!((&s["protocol"], count(&s["capture"]["mptcp_connections"])), (&json!("mptcp"), 1));
    assert_eq!(count(&s["bytes_delivered"]), 5000);
}

// ---- packed files --------------------------------------------------------------------------------------------------

fn gzip(octets: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(octets).expect("it is memory");
    packed.finish().expect("it is memory")
}

#[test]
fn a_file_packed_with_gzip_is_read_as_it_is() {
    assert_eq!(essence(&gzip(FIRST_400)), essence(FIRST_400));
    // Two members, as `cat a.gz b.gz` makes them.
    let (a, b) = FIRST_400.split_at(5000);
    assert_eq!(essence(&[gzip(a), gzip(b)].concat()), essence(FIRST_400));
}

#[test]
fn of_a_damaged_packed_file_what_was_unpacked_is_measured() {
    let whole = gzip(FIRST_400);
    let s = analysed(&whole[..whole.len() * 3 / 4]).summary;
    let cut = s["capture"]["files"][0]["cut"].as_str().expect("it was cut");
    assert!(cut.starts_with("its compressed data are damaged from here on"), "{cut}");
    assert!(count(&s["capture"]["packets"]) > 100);
    let twice = analyze_octets(&[("twice.gz", &gzip(&whole))], None).expect_err("it is packed still").to_string();
    assert!(twice.contains("compressed with gzip twice"), "{twice}");
}

// ---- one place, several files --------------------------------------------------------------------------------------

/// The figures of captures that count as one.
fn together(files: &[Vec<Record>]) -> Value {
    let files: Vec<(String, Vec<u8>)> = files.iter().enumerate().map(|(i, f)| (format!("{i}.pcap"), file(f))).collect();
    let named: Vec<(&str, &[u8])> = files.iter().map(|(name, octets)| (name.as_str(), octets.as_slice())).collect();
    let mut summary = analyze_octets(&named, None).expect("a capture").summary;
    summary["title"] = Value::Null;
    summary["capture"]["files"] = Value::Null;
    summary
}

/// `tcpdump -C` and `-G` begin a new file every so often, wherever that cuts the connection.
#[test]
fn a_capture_that_goes_on_in_further_files_has_the_figures_of_one() {
    let all = records(FIRST_400);
    let wanted = together(std::slice::from_ref(&all));
    for step in [7, 50, 123, 399] {
        let pieces: Vec<Vec<Record>> = all.chunks(step).map(<[Record]>::to_vec).collect();
        assert_eq!(together(&pieces), wanted, "files of {step} packets");
    }
}

/// `tcpdump -Q in` and `-Q out`, or links that one direction takes and the other does not.
#[test]
fn captures_of_one_direction_each_have_the_figures_of_one() {
    let all = records(FIRST_400);
    let wanted = together(std::slice::from_ref(&all));
    let side = |of_client: bool| -> Vec<Record> {
        all.iter().filter(|r| (r.octets[22..24] == 5001_u16.to_be_bytes()) == of_client).cloned().collect()
    };
    for pieces in [[side(true), side(false)], [side(false), side(true)]] {
        assert!(pieces.iter().all(|p| p.len() > 50), "both directions: {:?}", pieces.each_ref().map(Vec::len));
        assert_eq!(together(&pieces), wanted);
    }
}
