//! Container formats, link layers and damage, on Linux's capture written anew in each form; and what cannot be analysed.

use std::net::{IpAddr, Ipv6Addr};

use anabranch_capture::{Error, analyze, analyze_octets};
use anabranch_stack::segment::{DataAck, Dss, Flags, Mapping};
use anabranch_stack::wire::mptcp::{CapableFlags, MptcpOption};
use anabranch_stack::wire::option::TcpOption;
use anabranch_stack::wire::{ip, tcp};
use serde_json::Value;

use crate::capture_linux::{CUT, FIRST_400, analysed};
use crate::support::count;

/// A record: nanoseconds, octets sent, what was captured.
#[derive(Clone)]
pub struct Record {
    pub time: u64,
    pub sent: u32,
    pub octets: Vec<u8>,
}

/// The records of a classic little-endian capture with microseconds.
pub fn records(file: &[u8]) -> Vec<Record> {
    let (mut at, mut out) = (24, Vec::new());
    while at < file.len() {
        let [s, us, here, sent] =
            [0, 4, 8, 12].map(|from| u32::from_le_bytes(file[at + from..at + from + 4].try_into().expect("4 octets")));
        let octets = file[at + 16..at + 16 + here as usize].to_vec();
        out.push(Record { time: u64::from(s) * 1_000_000_000 + u64::from(us) * 1000, sent, octets });
        at += 16 + here as usize;
    }
    out
}

fn word(n: u32, big: bool) -> [u8; 4] {
    if big { n.to_be_bytes() } else { n.to_le_bytes() }
}

fn half(n: u16, big: bool) -> [u8; 2] {
    if big { n.to_be_bytes() } else { n.to_le_bytes() }
}

/// Classic pcap; each frame gets `header` before it.
pub fn pcap(records: &[Record], big: bool, nanoseconds: bool, link: u32, header: &[u8]) -> Vec<u8> {
    let mut out = word(if nanoseconds { 0xa1b2_3c4d } else { 0xa1b2_c3d4 }, big).to_vec();
    out.extend(half(2, big));
    out.extend(half(4, big));
    [0, 0, 65535, link].iter().for_each(|n| out.extend(word(*n, big)));
    for r in records {
        let fraction = (r.time % 1_000_000_000) / if nanoseconds { 1 } else { 1000 };
        let more = header.len() as u32;
        let here = r.octets.len() as u32 + more;
        for n in [(r.time / 1_000_000_000) as u32, fraction as u32, here, r.sent + more] {
            out.extend(word(n, big));
        }
        out.extend(header);
        out.extend(&r.octets);
    }
    out
}

/// A block of pcapng.
pub fn block(kind: u32, body: &[u8], big: bool) -> Vec<u8> {
    let mut body = body.to_vec();
    body.resize(body.len().next_multiple_of(4), 0);
    let len = body.len() as u32 + 12;
    [word(kind, big).to_vec(), word(len, big).to_vec(), body, word(len, big).to_vec()].concat()
}

/// pcapng: two interfaces that take turns, with clocks of 10^-9 and 2^-20 s, the first one late by
/// 2^32 + 5 s (`if_tsoffset`); unknown blocks between.
fn pcapng(records: &[Record], big: bool) -> Vec<u8> {
    let mut section = word(0x1a2b_3c4d, big).to_vec();
    section.extend([half(1, big), half(0, big)].concat());
    section.extend([0xff; 8]);
    let mut out = block(0x0a0d_0d0a, &section, big);
    let late = (1_i64 << 32) + 5;
    for (link, resolution, late) in [(101, 9_u8, late), (1, 0x80 | 20, 0)] {
        let mut interface = [half(link, big), half(0, big)].concat();
        interface.extend(word(0, big));
        interface.extend([half(9, big), half(1, big)].concat());
        interface.extend([resolution, 0, 0, 0]);
        interface.extend([half(14, big), half(8, big)].concat());
        interface.extend(if big { (-late).to_be_bytes() } else { (-late).to_le_bytes() });
        interface.extend([0; 4]);
        out.extend(block(1, &interface, big));
    }
    for (i, r) in records.iter().enumerate() {
        let (ticks, frame, more) = if i % 2 == 0 {
            (u128::from(r.time) + late as u128 * 1_000_000_000, r.octets.clone(), 0)
        } else {
            let mut frame = vec![0; 12];
            frame.extend([0x08, 0x00]);
            frame.extend(&r.octets);
            ((u128::from(r.time) << 20).div_ceil(1_000_000_000), frame, 14)
        };
        let mut body = word((i % 2) as u32, big).to_vec();
        for n in [(ticks >> 32) as u32, ticks as u32, frame.len() as u32, r.sent + more] {
            body.extend(word(n, big));
        }
        body.extend(frame);
        out.extend(block(6, &body, big));
        if i % 100 == 0 {
            out.extend(block(0x0bad, &[7; 20], big));
        }
    }
    out
}

/// What must not depend on how the packets are stored.
pub fn essence(octets: &[u8]) -> Value {
    let mut summary = analysed(octets).summary;
    summary["title"] = Value::Null;
    summary
}

#[test]
fn every_form_of_pcap_and_every_link_layer_gives_the_same() {
    let all = records(FIRST_400);
    let wanted = essence(FIRST_400);
    let ethernet = [[0; 12].as_slice(), &[0x08, 0x00]].concat();
    let vlans = [[0; 12].as_slice(), &[0x88, 0xa8, 0, 1, 0x81, 0x00, 0, 2, 0x08, 0x00]].concat();
    let cooked = [[0; 14].as_slice(), &[0x08, 0x00]].concat();
    let (hdlc, short) = (vec![0xff, 0x03, 0x00, 0x21], vec![0x21]);
    let cooked2 = [[0x08, 0x00, 0, 0, 0, 0, 0, 9].as_slice(), &[0; 12]].concat();
    let forms = [
        (101, vec![]),
        (1, ethernet),
        (1, vlans),
        (113, cooked),
        (276, cooked2),
        (0, vec![2, 0, 0, 0]),
        (9, hdlc),
        (9, short),
    ];
    for (big, nanoseconds) in [(false, false), (false, true), (true, false), (true, true)] {
        for (link, header) in &forms {
            let file = pcap(&all, big, nanoseconds, *link, header);
            assert!(essence(&file) == wanted, "big {big}, nanoseconds {nanoseconds}, link type {link}");
        }
    }
}

/// Two interfaces see one packet each in turn, so both places together are one; of the second clock the ticks are about
/// a microsecond. Counts are the same.
#[test]
fn pcapng_with_two_clocks_gives_the_same_counts() {
    let all = records(FIRST_400);
    let mut files = Vec::new();
    for big in [false, true] {
        let file = pcapng(&all, big);
        let summary = analysed(&file).summary;
        assert_eq!(count(&summary["capture"]["packets"]), 400);
        assert_eq!(count(&summary["capture"]["mptcp"]), 400);
        assert_eq!(summary["handshake"]["tokens_matched"], 1);
        files.push(summary.to_string());
    }
    assert!(files[0] == files[1], "both byte orders say the same");
}

/// A file cut anywhere within its last record is read up to there, and the summary says so; one that is cut between records is
/// just shorter.
#[test]
fn a_truncated_last_block_is_left_out_and_told() {
    let all = records(CUT);
    let short = all[..100].to_vec();
    for (file, last) in [
        (pcap(&short, false, false, 101, &[]), 16 + short[99].octets.len()),
        (pcapng(&short, true), 32 + (short[99].octets.len() + 14).next_multiple_of(4)),
    ] {
        for cut in 1..last {
            let summary = analysed(&file[..file.len() - cut]).summary;
            assert_eq!(count(&summary["capture"]["packets"]), 99, "{cut} octets cut");
            assert!(summary["capture"]["files"][0]["cut"].is_string());
        }
        assert!(analysed(&file).summary["capture"]["files"][0]["cut"].is_null());
        let summary = analysed(&file[..file.len() - last]).summary;
        assert!(summary["capture"]["files"][0]["cut"].is_null());
    }
}

/// A snap length within the options: 20 octets of IP, 20 of TCP, and nothing else or a little.
#[test]
fn the_shortest_snap_lengths_do_not_stop_it() {
    for snap in [40, 44, 52, 56, 60, 64, 72] {
        let mut all = records(CUT);
        all.iter_mut().for_each(|r| r.octets.truncate(snap));
        let file = pcap(&all, false, false, 101, &[]);
        match analyze_octets(&[("short", &file)], None) {
            Ok(capture) => assert_eq!(count(&capture.summary["capture"]["packets"]), 3868),
            Err(error) => assert!(matches!(error, Error::Nothing { .. }), "{error}"),
        }
    }
}

/// One seeded change of a few octets, or a cut, at random: no panic, and the same packets before the change.
#[test]
fn damaged_files_never_panic() {
    let whole = [FIRST_400[..60_000].to_vec(), pcapng(&records(CUT)[..300], false)];
    let mut x = 5_u64;
    let mut next = || {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (x >> 33) as usize
    };
    for round in 0..400 {
        let mut file = whole[round % 2].clone();
        for _ in 0..=next() % 8 {
            let at = next() % file.len();
            file[at] = next() as u8;
        }
        file.truncate(file.len() - next() % 500);
        if let Ok(capture) = analyze_octets(&[("damaged", &file)], None) {
            assert!(count(&capture.summary["capture"]["packets"]) > 0);
        }
    }
}

// ---- hand-made connections -----------------------------------------------------------------------------------------

/// A conversation over IPv6 (or IPv4), written packet by packet.
pub struct Talk {
    pub records: Vec<Record>,
    pub now: u64,
    pub ends: [(IpAddr, u16); 2],
    pub seq: [u32; 2],
    pub key: u64,
}

pub const MS: u64 = 1_000_000;

impl Talk {
    /// SYN, SYN/ACK, third ACK as a server's capture has them: the answer at once, the rest 20 ms later.
    pub fn begin(port: u16, isn: [u32; 2], key: u64, at: u64) -> Self {
        let addr = |n: u16| IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, n));
        let ends = [(addr(1), port), (addr(2), 80)];
        let mut t = Self { records: Vec::new(), now: at, ends, seq: isn, key };
        let flags = CapableFlags(CapableFlags::HMAC_SHA256);
        t.send(0, Flags::SYN, &[TcpOption::Mptcp(MptcpOption::CapableSyn { version: 1, flags })], &[]);
        let answer = MptcpOption::CapableSynAck { version: 1, flags, key: key + 1 };
        t.send(1, Flags::SYN.with(Flags::ACK), &[TcpOption::Mptcp(answer)], &[]);
        t.now += 20 * MS;
        let third = MptcpOption::CapableAck { version: 1, flags, sender_key: key, receiver_key: key + 1, data: None };
        t.send(0, Flags::ACK, &[TcpOption::Mptcp(third)], &[]);
        t
    }

    pub fn send(&mut self, side: usize, flags: Flags, options: &[TcpOption<'_>], payload: &[u8]) {
        let seq = self.seq[side];
        let ack = if flags.has(Flags::ACK) { self.seq[1 - side] } else { 0 };
        let ends = (self.ends[side], self.ends[1 - side]);
        self.records.push(packet(self.now, ends, (seq, ack), flags, options, payload));
        let more = u32::from(flags.has(Flags::SYN)) + u32::from(flags.has(Flags::FIN));
        self.seq[side] = seq.wrapping_add(payload.len() as u32 + more);
    }

    /// `len` octets at data offset `data` from the client, acknowledged at once.
    pub fn transfer(&mut self, isn: u32, data: u64, len: u16) {
        let first = anabranch_stack::mptcp::keys::initial_dsn(self.key).wrapping_add(1);
        let ssn = self.seq[0].wrapping_sub(isn);
        let mapping = Mapping { dsn: first.wrapping_add(data), short: false, ssn, len, checksum: None };
        let dss = Dss { data_ack: None, mapping: Some(mapping), data_fin: false };
        self.send(0, Flags::ACK, &[TcpOption::Mptcp(MptcpOption::Dss(dss))], &vec![7; usize::from(len)]);
        let ack = DataAck::Eight(first.wrapping_add(data + u64::from(len)));
        let dss = Dss { data_ack: Some(ack), mapping: None, data_fin: false };
        self.send(1, Flags::ACK, &[TcpOption::Mptcp(MptcpOption::Dss(dss))], &[]);
        self.now += MS;
    }
}

pub fn packet(
    time: u64,
    ends: ((IpAddr, u16), (IpAddr, u16)),
    numbers: (u32, u32),
    flags: Flags,
    options: &[TcpOption<'_>],
    payload: &[u8],
) -> Record {
    packet_with_window(time, ends, numbers, (flags, 1000), options, payload)
}

pub fn packet_with_window(
    time: u64,
    (src, dst): ((IpAddr, u16), (IpAddr, u16)),
    (seq, ack): (u32, u32),
    (flags, window): (Flags, u16),
    options: &[TcpOption<'_>],
    payload: &[u8],
) -> Record {
    let mut list = Vec::new();
    options.iter().for_each(|o| o.emit(&mut list));
    list.resize(list.len().next_multiple_of(4), 1);
    let header = tcp::Header { src_port: src.1, dst_port: dst.1, seq, ack, flags, window };
    let mut segment = Vec::new();
    header.emit(list.len(), &mut segment).expect("options fit");
    segment.extend(list);
    segment.extend(payload);
    tcp::fill_checksum(&mut segment, src.0, dst.0).expect("a header");
    let ecn = anabranch_stack::segment::Ecn::NotEct;
    let payload_len = segment.len() as u16;
    let ip = ip::Header { src: src.0, dst: dst.0, protocol: ip::TCP, ecn, hop_limit: 64, id: 0, payload_len };
    let mut octets = Vec::new();
    ip.emit(&mut octets).expect("a header");
    octets.extend(segment);
    Record { time, sent: octets.len() as u32, octets }
}

/// IPv6; the sequence number wraps within the transfer; then the 4-tuple is used again by another connection.
#[test]
fn sequence_numbers_wrap_and_a_port_is_used_again() {
    let isn = u32::MAX - 5_000;
    let mut first = Talk::begin(4000, [isn, 77], 11, 0);
    (0..20).for_each(|i| first.transfer(isn, i * 1000, 1000));
    assert!(first.seq[0] < isn, "it wrapped");
    let mut second = Talk::begin(4000, [500, 900], 99, first.now + 10 * MS);
    (0..5).for_each(|i| second.transfer(500, i * 1000, 1000));
    let all = [first.records, second.records].concat();
    let summary = analysed(&pcap(&all, false, true, 229, &[])).summary;
    let connections = summary["connections"].as_array().expect("two connections");
    let amounts: Vec<u64> = connections.iter().map(|c| count(&c["bytes_delivered"])).collect();
    assert_eq!(amounts, [20_000, 5_000]);
    for c in connections {
        assert_eq!(c["name"], "[2001:db8::1]:4000 - [2001:db8::2]:80");
        assert_eq!(c["estimated"], serde_json::json!([]), "the answers come at once: this is the server");
        assert_eq!(count(&c["subflows"][0]["retransmissions"]), 0);
        assert_eq!(c["subflows"][0]["captured_at"], serde_json::json!(["server"]));
        assert_eq!(count(&c["missing_bytes"]), 0);
    }
    assert_eq!(summary["goodput_mbps"].as_f64().map(|g| g > 0.0), Some(true));
}

/// ```text
/// 1000-1999 arrives, 3000-3999 arrives (held), 2000-2999 arrives; then 2000-2999 once more
/// ```
/// One of three segments is out of order, one packet and 1000 octets wait.
#[test]
fn the_buffer_of_a_receiver_by_hand() {
    let mut t = Talk::begin(4000, [0, 0], 5, 0);
    t.transfer(0, 0, 1000);
    let (here, now) = (t.seq[0], t.now);
    let at = |t: &mut Talk, data: u64, ms: u64| {
        t.seq[0] = here + (data as u32 - 1000);
        t.now = now + ms * MS;
        t.transfer(0, data, 1000);
    };
    at(&mut t, 2000, 1);
    // Its acknowledgement would be wrong: the hole is still there.
    t.records.pop();
    at(&mut t, 1000, 5);
    t.records.pop();
    at(&mut t, 1000, 9);
    let summary = analysed(&pcap(&t.records, false, true, 101, &[])).summary;
    assert_eq!(count(&summary["bytes_delivered"]), 3000);
    assert_eq!(count(&summary["ooo_buffer_max_packets"]), 1);
    assert_eq!(count(&summary["ooo_buffer_max_bytes"]), 1000);
    assert_eq!(summary["ooo_ratio"].as_f64(), Some(1.0 / 3.0));
    assert_eq!(summary["rbd"], serde_json::json!([2.0 / 3.0, 1.0 / 3.0]));
    assert_eq!(count(&summary["subflows"][0]["duplicates_arrived"]), 1);
}

// ---- what cannot be analysed ---------------------------------------------------------------------------------------

/// The message for a file, which must be one line.
fn refusal(octets: &[u8]) -> String {
    let error = analyze_octets(&[("bad.pcap", octets)], None).expect_err("it is no capture").to_string();
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(error.starts_with("bad.pcap: "), "{error}");
    error
}

/// Simple packet blocks have no time and no interface (draft-ietf-opsawg-pcapng 4.4). The second
/// interface's snap length is not theirs.
#[test]
fn simple_packet_blocks_are_read() {
    let plain = crate::capture_forms::connection(false, 500);
    for (snap, delivered) in [(0, 20_000), (65_535, 20_000), (60, 20_000), (30, 0)] {
        let mut file =
            block(0x0a0d_0d0a, &[word(0x1a2b_3c4d, false).as_slice(), &[1, 0, 0, 0], &[0xff; 8]].concat(), false);
        file.extend(block(1, &[half(101, false).as_slice(), &[0, 0], &word(snap, false)].concat(), false));
        for r in &plain {
            let here = r.octets.len().min(if snap == 0 { usize::MAX } else { snap as usize });
            file.extend(block(3, &[word(r.sent, false).as_slice(), &r.octets[..here]].concat(), false));
        }
        match analyze_octets(&[("simple.pcapng", &file)], None) {
            Ok(capture) => assert_eq!(count(&capture.summary["bytes_delivered"]), delivered, "{snap}"),
            Err(error) => assert!(delivered == 0 && error.to_string().contains("no connection"), "{error}"),
        }
    }
}

#[test]
fn bad_input_is_told_in_one_sentence() {
    assert!(refusal(b"").contains("empty"));
    assert!(refusal(b"hello, this is no capture at all").contains("not a pcap or pcapng file"));
    // Files that are often taken for captures: their first octets, by the formats' specifications
    // (RFC 8878 3.1.1, RFC 1761).
    for (start, told) in [
        (
            [0x28, 0xb5, 0x2f, 0xfd, 4, 0, 0, 0],
            "not a pcap or pcapng file but a file compressed with zstd: unpack it first",
        ),
        (
            [0xfd, b'7', b'z', b'X', b'Z', 0, 0, 4],
            "not a pcap or pcapng file but a file compressed with xz: unpack it first",
        ),
        (*b"snoop\0\0\0", "not a pcap or pcapng file but a snoop file"),
    ] {
        assert!(refusal(&start).contains(told), "{}", refusal(&start));
    }
    assert!(refusal(&[0x1f, 0x8b, 8, 0, 0, 0, 0]).contains("gzip"));
    assert!(refusal(&FIRST_400[..10]).contains("within the file header"));
    assert!(refusal(&FIRST_400[..30]).contains("nothing could be read"));
    let strange = pcap(&records(FIRST_400), false, false, 147, &[]);
    assert!(refusal(&strange).contains("unknown link type 147"));
    // The TCP headers are not whole. An empty capture has no connection, either.
    let mut plain = records(FIRST_400);
    plain.iter_mut().for_each(|r| r.octets.truncate(39));
    assert!(refusal(&pcap(&plain, false, false, 101, &[])).contains("no connection of TCP or MPTCP inside"));
    assert!(refusal(&FIRST_400[..24]).contains("0 packets"));
    let error =
        analyze(&["/nowhere/at/all".into()], None, None, false, &mut |_| std::ops::ControlFlow::Continue(()), None);
    assert!(error.expect_err("there is no such file").to_string().contains("cannot be read"));
}
