//! Captures of simulated runs, read from their bytes alone: by a few lines here, and by tshark where it is installed.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::SocketAddr;
use std::num::NonZeroU16;
use std::process::Command;
use std::sync::{Arc, Mutex};

use anabranch_pcap::write::{Way, Writer};
use anabranch_sim::run::{Run, Runner};
use anabranch_sim::scenario::Scenario;
use anabranch_sim::sim::content;
use anabranch_sim::sim::tap::Taps;
use anabranch_stack::mptcp::keys;
use anabranch_stack::segment::{
    AddrId, AddrIds, Advertised, DataAck, Dss, Flags, Mapping, Mptcp, Options, ResetReason, Segment, Signal, TcpRst,
};
use anabranch_stack::wire::checksum::{Sum, dss_pseudo_header};
use anabranch_stack::wire::segment::{Envelope, emit, parse};
use anabranch_stack::wire::{ip, tcp};

use crate::support::{finish, scenario, traced, with};
use crate::trace::Event;

type Files = BTreeMap<String, Arc<Mutex<Vec<u8>>>>;

struct File(Arc<Mutex<Vec<u8>>>);

impl io::Write for File {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("nobody panicked").extend_from_slice(octets);
        Ok(octets.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs `scenario`; the run, and the files by name.
pub fn capture(scenario: &Scenario) -> (Run, BTreeMap<String, Vec<u8>>) {
    let mut files = Files::new();
    let taps = Taps::new(scenario, &mut |name| {
        let file = Arc::new(Mutex::new(Vec::new()));
        assert!(files.insert(name.to_owned(), file.clone()).is_none(), "{name} twice");
        Ok(Box::new(File(file)))
    });
    let run = Runner::new(scenario).captures(taps.expect("files can be made")).run();
    assert!(run.capture_error.is_none());
    let taken = |(name, file): (String, Arc<Mutex<Vec<u8>>>)| {
        (name, std::mem::take(&mut *file.lock().expect("nobody panicked")))
    };
    (run, files.into_iter().map(taken).collect())
}

/// A packet of a capture: time in nanoseconds, `epb_flags`, octets.
pub struct Record {
    pub at: u64,
    pub flags: u32,
    pub octets: Vec<u8>,
}

/// Packets of a big-endian pcapng file with one interface, and everything else in it as it stands (draft-ietf-opsawg-pcapng).
pub fn records(file: &[u8]) -> Vec<Record> {
    let u32_at = |at: usize| u32::from_be_bytes(file[at..at + 4].try_into().expect("4 octets"));
    let (mut at, mut records, mut kinds) = (0, Vec::new(), Vec::new());
    while at < file.len() {
        let (kind, total) = (u32_at(at), u32_at(at + 4) as usize);
        assert_eq!(total % 4, 0);
        assert_eq!(u32_at(at + total - 4) as usize, total, "the length stands at both ends");
        kinds.push(kind);
        match kind {
            0x0a0d_0d0a => assert_eq!(u32_at(at + 8), 0x1a2b_3c4d),
            1 => assert_eq!(file[at + 8..at + 10], [0, 101], "raw IP"),
            6 => {
                let (interface, captured, sent) = (u32_at(at + 8), u32_at(at + 20), u32_at(at + 24));
                assert_eq!((interface, captured), (0, sent));
                let time = u64::from(u32_at(at + 12)) << 32 | u64::from(u32_at(at + 16));
                let octets = file[at + 28..at + 28 + captured as usize].to_vec();
                let option = at + 28 + (captured as usize).next_multiple_of(4);
                // draft-ietf-opsawg-pcapng 3.5: the end of the options stands behind the flags, and
                // nowhere else.
                let options = &file[option..at + total - 4];
                let flags = if options.is_empty() { 0 } else { u32_at(option + 4) };
                let wanted = [[0, 2, 0, 4], flags.to_be_bytes(), [0; 4]].concat();
                assert_eq!(options, &wanted[..if flags == 0 { 0 } else { 12 }]);
                records.push(Record { at: time, flags, octets });
            }
            _ => panic!("block {kind}"),
        }
        at += total;
    }
    assert_eq!(kinds[..2], [0x0a0d_0d0a, 1]);
    records
}

/// A record, the segment in it, what surrounds it, and its payload.
type Whole = (Record, Segment, Envelope, Vec<u8>);

/// Segments of a file, checksums verified; those that are damaged are left out and counted.
fn segments(file: &[u8]) -> (Vec<Whole>, u64) {
    let mut damaged = 0;
    let mut out = Vec::new();
    for record in records(file) {
        let view = ip::View::new(&record.octets).expect("an IP packet");
        assert!(view.checksum_ok());
        let segment = tcp::View::new(view.payload()).expect("a TCP segment");
        if segment.checksum_ok(view.src(), view.dst(), view.payload_len()) != Some(true) {
            damaged += 1;
            continue;
        }
        let (segment, envelope, octets) = parse(&record.octets).expect("whole");
        let octets = octets.to_vec();
        out.push((record, segment, envelope, octets));
    }
    (out, damaged)
}

const TWO_PATHS: &str = "
    title = 'two paths'
    seed = 3
    connection = { checksum = true }
    transfer = { bytes = '600 kB' }
    [[path]]
    rate = '5 Mbit/s'
    delay = '50 ms'
    loss = '1 %'
    [[path]]
    rate = '2 Mbit/s'
    delay = '10 ms'
    capture = true";

#[test]
fn a_capture_changes_nothing_and_has_a_file_for_each_interface() {
    let scenario = scenario(TWO_PATHS);
    let (run, files) = capture(&scenario);
    assert_eq!(run.summary["trace_sha256"], finish(&scenario).summary["trace_sha256"]);
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    let expected = ["client-0.pcapng", "client-1.pcapng", "path1.link.pcapng", "server-0.pcapng", "server-1.pcapng"];
    assert_eq!(names, expected);
    let comment = b"scenario \"two paths\", seed 3, anabranch ";
    assert!(files.values().all(|f| f.windows(comment.len()).any(|w| w == comment)));
    // In order of time; the first packet is the SYN that leaves at once.
    for (name, file) in &files {
        let records = records(file);
        assert!(records.windows(2).all(|w| w[0].at <= w[1].at), "{name}");
    }
    let first = &records(&files["client-0.pcapng"])[0];
    assert_eq!((first.at, first.flags), (0, 2));
    // 52 + 12 octets at 5 Mbit/s and 50 ms later it is at the server.
    let arrived = &records(&files["server-0.pcapng"])[0];
    assert_eq!(arrived.octets, first.octets);
    let wire_ns = (first.octets.len() as u64 * 8 * 1_000_000_000).div_ceil(5_000_000);
    assert_eq!((arrived.at, arrived.flags), (wire_ns + 50_000_000, 1));
}

/// What the server's interfaces saw is what the client's sent, less what was lost; the octets of the stream are all there.
#[test]
fn the_octets_of_the_stream_are_in_the_capture() {
    let (_, files) = capture(&scenario(TWO_PATHS));
    let mut stream = vec![false; 600_000];
    let mut dsn = None;
    for name in ["server-0.pcapng", "server-1.pcapng"] {
        for (_, segment, _, octets) in segments(&files[name]).0 {
            let at = match segment.options.mptcp {
                Mptcp::CapableAck { sender_key, data, .. } => {
                    dsn = Some(keys::initial_dsn(sender_key).wrapping_add(1));
                    data.map(|_| 0)
                }
                Mptcp::Dss(dss) => dss.mapping.map(|m| m.dsn.wrapping_sub(dsn.expect("the keys came first"))),
                _ => None,
            };
            if octets.is_empty() {
                continue;
            }
            let at = at.expect("every segment with data has a mapping");
            let mut expected = vec![0; octets.len()];
            content::fill(at, &mut expected);
            assert_eq!(octets, expected, "at {at}");
            stream[at as usize..at as usize + octets.len()].fill(true);
        }
    }
    assert!(stream.iter().all(|&there| there));
    let sent = segments(&files["client-0.pcapng"]).0.into_iter().filter(|s| s.0.flags == 2).count();
    let came = segments(&files["server-0.pcapng"]).0.into_iter().filter(|s| s.0.flags == 1).count();
    assert!(came < sent, "{came} of {sent}");
}

/// Tokens, initial data sequence numbers, HMACs and DSS checksums, from bytes alone (RFC 8684 3.1, 3.2, 3.3.1, 3.4.1). tshark
/// verifies none of the latter two.
#[test]
fn handshakes_and_dss_checksums_verify() {
    let (_, files) = capture(&scenario(TWO_PATHS));
    let mut all: Vec<_> = ["client-0.pcapng", "client-1.pcapng"].iter().flat_map(|n| segments(&files[*n]).0).collect();
    all.sort_by_key(|s| s.0.at);
    let (mut client, mut server) = (None, None);
    let mut nonces: BTreeMap<SocketAddr, [u32; 2]> = BTreeMap::new();
    let (mut joins, mut checksums, mut addresses) = (0, 0, 0);
    for (_, segment, envelope, octets) in &all {
        let keys_so_far = (client, server);
        let both = || (keys_so_far.0.expect("the client's key came"), keys_so_far.1.expect("the server's key came"));
        match segment.options.mptcp {
            Mptcp::CapableSynAck { key, .. } => server = Some(key),
            Mptcp::CapableAck { sender_key, receiver_key, data, .. } => {
                client = Some(sender_key);
                assert_eq!(Some(receiver_key), server);
                if let Some((len, checksum)) = data {
                    let dsn = keys::initial_dsn(sender_key).wrapping_add(1);
                    let sum = dss_pseudo_header(dsn, 1, len).plus(Sum::of(octets));
                    assert!(sum.plus(Sum(checksum.expect("negotiated"))).is_valid());
                    checksums += 1;
                }
            }
            Mptcp::JoinSyn { token, nonce, .. } => {
                let (_, server) = both();
                assert_eq!(token, keys::token(server));
                nonces.insert(envelope.src, [nonce, 0]);
            }
            Mptcp::JoinSynAck { hmac, nonce, .. } => {
                let (client, server) = both();
                let known = nonces.get_mut(&envelope.dst).expect("the SYN came before");
                known[1] = nonce;
                assert_eq!(hmac, keys::truncate_64(&keys::join_hmac(server, client, nonce, known[0])));
            }
            Mptcp::JoinAck { hmac } => {
                let (client, server) = both();
                let [own, peer] = nonces[&envelope.src];
                assert_eq!(hmac, keys::truncate_160(&keys::join_hmac(client, server, own, peer)));
                joins += 1;
            }
            Mptcp::Dss(dss) => {
                if let Some(m) = dss.mapping {
                    assert!(!m.short);
                    let sum = dss_pseudo_header(m.dsn, m.ssn, m.len).plus(Sum::of(octets));
                    assert!(sum.plus(Sum(m.checksum.expect("negotiated"))).is_valid(), "{segment:?}");
                    checksums += 1;
                }
            }
            _ => {}
        }
        if let Signal::AddAddr { advertised, hmac } = segment.options.signal {
            let (client, server) = both();
            let a = advertised.address;
            assert_eq!(hmac, keys::add_addr_hmac(server, client, a.id, a.addr, 0));
            addresses += 1;
        }
    }
    // 600 kB in segments of 1400.
    assert!(joins >= 1 && addresses >= 1 && checksums > 428, "{joins} {addresses} {checksums}");
}

/// RFC 9293 3.1: a packet that was damaged on the way has a wrong checksum where it arrives, and only there.
#[test]
fn a_damaged_packet_has_a_wrong_checksum() {
    let scenario = with(TWO_PATHS, &["path.0.corruption=3 %"]);
    let (_, files) = capture(&scenario);
    assert_eq!(segments(&files["server-1.pcapng"]).1, 0);
    let out = segments(&files["client-0.pcapng"]);
    assert!(out.0.iter().all(|s| s.0.flags == 1 || s.0.flags == 2));
    assert!(segments(&files["server-0.pcapng"]).1 > 0);
    let damaged_out = records(&files["client-0.pcapng"]).iter().filter(|r| r.flags == 2).count()
        - out.0.iter().filter(|s| s.0.flags == 2).count();
    assert_eq!(damaged_out, 0);
}

/// Datagrams have UDP headers; a wrong checksum would be zero or not add up.
#[test]
fn datagrams_are_captured_as_udp() {
    let text = "connection = { protocol = 'udp' }\ntransfer = { bytes = '14 kB', rate = '1 Mbit/s' }\npath = [{}]";
    let (_, files) = capture(&scenario(text));
    let records = records(&files["server-0.pcapng"]);
    assert_eq!(records.len(), 10);
    for record in records {
        let view = ip::View::new(&record.octets).expect("an IP packet");
        assert_eq!((view.protocol(), view.payload_len()), (ip::UDP, 8 + 1400));
        let pseudo = Sum::of(&record.octets[12..20]).plus(Sum(17)).plus(Sum(8 + 1400));
        assert!(pseudo.plus(Sum::of(view.payload())).is_valid());
    }
}

// ---- tshark -------------------------------------------------------------------------------------

/// Rows of fields that tshark finds in a file; `None`, and a word, where it is not installed.
pub fn tshark(file: &[u8], name: &str, filter: &str, fields: &[&str]) -> Option<Vec<Vec<String>>> {
    let path = std::env::temp_dir().join(format!("anabranch-{}-{name}.pcapng", std::process::id()));
    std::fs::write(&path, file).expect("the file can be written");
    let mut command = Command::new("tshark");
    command.arg("-r").arg(&path).args(["-Y", filter, "-T", "fields"]);
    for preference in
        ["tcp.check_checksum", "ip.check_checksum", "mptcp.analyze_mappings", "mptcp.intersubflows_retransmission"]
    {
        command.args(["-o", &format!("{preference}:TRUE")]);
    }
    fields.iter().for_each(|f| {
        command.args(["-e", f]);
    });
    let output = command.output();
    std::fs::remove_file(&path).expect("it was there");
    let Ok(output) = output else {
        eprintln!("skipped: tshark is not installed (apt-get install tshark)");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    Some(text.lines().map(|l| l.split('\t').map(str::to_owned).collect()).collect())
}

/// One file with the packets of both of the client's interfaces in order of time: tshark follows a connection within a file.
fn merged(files: &BTreeMap<String, Vec<u8>>) -> Vec<u8> {
    let mut all: Vec<Record> =
        ["client-0.pcapng", "client-1.pcapng"].iter().flat_map(|n| records(&files[*n])).collect();
    all.sort_by_key(|r| r.at);
    let out = Arc::new(Mutex::new(Vec::new()));
    let mut writer = Writer::new(Box::new(File(out.clone())), "any", "test", "").expect("memory");
    all.iter().for_each(|r| writer.packet(r.at, Way::Either, &r.octets).expect("memory"));
    out.lock().expect("nobody panicked").clone()
}

/// Malformed packets, wrong lengths, wrong checksums: nothing of the kind.
#[test]
fn tshark_finds_nothing_malformed() {
    let cases: [(&str, &[&str]); 5] = [
        ("plain", &[]),
        ("door", &["connection.recovery=door", "connection.checksum=false"]),
        ("no-timestamps", &["connection.timestamps=false", "path.1.loss=2 %"]),
        ("down", &["transfer.direction=down"]),
        ("ecn", &["connection.ecn=true", "path.0.ecn_threshold=2 packets"]),
    ];
    for (name, overrides) in cases {
        let (_, files) = capture(&with(TWO_PATHS, overrides));
        // Every remark but those on the sequence of segments (that group is 0x02000000), and on NOPs: tshark 4.0 counts all of a
        // list as "in a row", and there are four where Linux, too, puts four.
        let bad =
            "_ws.malformed || _ws.expert.group != 0x02000000 || tcp.checksum.status == 0 || ip.checksum.status == 0";
        let bad = format!("({bad}) && !(_ws.expert.message contains \"4 NOP in a row\")");
        let Some(rows) = tshark(&merged(&files), name, &bad, &["frame.number", "_ws.expert.message"]) else { return };
        assert_eq!(rows, Vec::<Vec<String>>::new(), "{name}");
    }
}

/// tshark and the simulator agree on subtypes, tokens and relative data sequence numbers, packet by packet.
#[test]
fn tshark_decodes_what_was_meant() {
    let (_, files) = capture(&scenario(TWO_PATHS));
    let mut subtypes = BTreeSet::new();
    let mut tokens = BTreeSet::new();
    for name in ["client-0.pcapng", "client-1.pcapng"] {
        let fields = [
            "tcp.options.mptcp.subtype",
            "tcp.options.mptcp.recvtok",
            "tcp.options.mptcp.rawdataseqno",
            "tcp.options.mptcp.datalvllen",
            "tcp.options.mptcp.subflowseqno",
            "tcp.options.mptcp.rawdataack",
        ];
        let Some(rows) = tshark(&files[name], name, "tcp", &fields) else { return };
        let segments = segments(&files[name]).0;
        assert_eq!(rows.len(), segments.len());
        for (row, (_, segment, ..)) in rows.iter().zip(&segments) {
            let number = |i: usize| {
                let text = row[i].as_str();
                let digits = text.strip_prefix("0x");
                digits.map_or_else(|| text.parse().ok(), |hex| u64::from_str_radix(hex, 16).ok())
            };
            let o = &segment.options;
            let subtype = match o.mptcp {
                Mptcp::None => o.signal.len().min(1) * 3,
                Mptcp::CapableSyn { .. } | Mptcp::CapableSynAck { .. } | Mptcp::CapableAck { .. } => 0,
                Mptcp::JoinSyn { .. } | Mptcp::JoinSynAck { .. } | Mptcp::JoinAck { .. } => 1,
                Mptcp::Dss(_) => 2,
            };
            // ADD_ADDR and its echo stand beside a DATA_ACK where there is room.
            let beside = if subtype == 2 && !o.signal.is_empty() { "2,3".to_string() } else { subtype.to_string() };
            assert_eq!(row[0], beside, "{row:?} {segment:?}");
            subtypes.extend(beside.split(',').map(|n| n.parse::<u32>().expect("a subtype")));
            if let Mptcp::JoinSyn { token, .. } = o.mptcp {
                assert_eq!(number(1), Some(token.into()));
                tokens.insert(token);
            }
            if let Some(m) = segment.dss().and_then(|d| d.mapping) {
                // (The checksum of a DSS tshark 4.0 does not show.)
                let found = [number(2), number(3), number(4)];
                let expected = [m.dsn, m.len.into(), m.ssn.into()];
                assert_eq!(found, expected.map(Some), "{row:?}");
            }
        }
    }
    assert_eq!(subtypes, BTreeSet::from([0, 1, 2, 3]));
    assert_eq!(tokens.len(), 1);
}

/// Every option of RFC 8684 in every form, one packet each; the field that tshark shows of it, and its value.
#[test]
fn tshark_decodes_every_option() {
    let v4 = |n| AddrId { id: n, addr: [10, 0, 7, n].into() };
    let v6 = |n: u8| AddrId { id: n, addr: [0x2001, 0xdb8, 0, 0, 0, 0, 0, n.into()].into() };
    let with_port = |address| Advertised { address, port: NonZeroU16::new(8080) };
    let without = |address| Advertised { address, port: None };
    let signal = |signal| Options { signal, ..Options::default() };
    let mptcp = |mptcp| Options { mptcp, ..Options::default() };
    let add = |advertised| signal(Signal::AddAddr { advertised, hmac: 0x0123_4567_89ab_cdef });
    let map = |short, len, checksum| {
        let dsn = if short { 0x89ab_cdef } else { 0x0123_4567_89ab_cdef };
        Some(Mapping { dsn, short, ssn: 77, len, checksum })
    };
    let dss = |data_ack, mapping, data_fin| mptcp(Mptcp::Dss(Dss { data_ack, mapping, data_fin }));
    let keys = |data| mptcp(Mptcp::CapableAck { checksum: false, sender_key: 7, receiver_key: 8, data });
    let (four, eight) = (Some(DataAck::Four(0x7654_3210)), Some(DataAck::Eight(0x0123_4567_7654_3210)));
    let reset = Some(TcpRst { transient: true, reason: ResetReason::PERFORMANCE });
    let cases = [
        (0, mptcp(Mptcp::CapableSyn { no_join: false, checksum: true }), "tcp.options.mptcp.checksumreq.flags", "1"),
        (0, mptcp(Mptcp::CapableSynAck { no_join: false, checksum: false, key: 9 }), "tcp.options.mptcp.sendkey", "9"),
        (0, keys(None), "tcp.options.mptcp.recvkey", "8"),
        (0, keys(Some((1000, None))), "tcp.options.mptcp.datalvllen", "1000"),
        (0, keys(Some((1000, Some(0x1234)))), "tcp.options.mptcp.checksum", "0x1234"),
        (
            1,
            mptcp(Mptcp::JoinSyn { backup: true, address_id: 3, token: 5, nonce: 6 }),
            "tcp.options.mptcp.recvtok",
            "5",
        ),
        (
            1,
            mptcp(Mptcp::JoinSynAck { backup: true, address_id: 3, hmac: 5, nonce: 6 }),
            "tcp.options.mptcp.sendrand",
            "6",
        ),
        (1, mptcp(Mptcp::JoinAck { hmac: [0xab; 20] }), "tcp.options.mptcp.sendhmac", &"ab".repeat(20)),
        (2, dss(four, None, false), "tcp.options.mptcp.rawdataack", "1985229328"),
        (2, dss(eight, None, false), "tcp.options.mptcp.rawdataack", "81985528891978256"),
        (2, dss(four, map(false, 100, None), false), "tcp.options.mptcp.rawdataseqno", "81985529216486895"),
        (2, dss(eight, map(false, 100, Some(1)), false), "tcp.options.mptcp.subflowseqno", "77"),
        (2, dss(four, map(true, 100, None), false), "tcp.options.mptcp.rawdataseqno", "2309737967"),
        (2, dss(None, map(true, 100, Some(1)), true), "tcp.options.mptcp.datafin.flag", "1"),
        (2, dss(four, map(false, 0, Some(0)), false), "tcp.options.mptcp.datalvllen", "0"),
        (3, add(without(v4(5))), "tcp.options.mptcp.ipv4", "10.0.7.5"),
        (3, add(with_port(v4(5))), "tcp.options.mptcp.port", "8080"),
        (3, add(without(v6(5))), "tcp.options.mptcp.ipv6", "2001:db8::5"),
        (3, add(with_port(v6(5))), "tcp.options.mptcp.port", "8080"),
        (3, signal(Signal::AddAddrEcho(without(v4(5)))), "tcp.options.mptcp.echo", "1"),
        (3, signal(Signal::AddAddrEcho(with_port(v6(5)))), "tcp.options.mptcp.addrid", "5"),
        (4, signal(Signal::RemoveAddr(AddrIds::new(&[9]))), "tcp.options.mptcp.addrid", "9"),
        (4, signal(Signal::RemoveAddr(AddrIds::new(&[9, 8, 7]))), "tcp.options.mptcp.addrid", "9,8,7"),
        (5, signal(Signal::Prio { backup: true }), "tcp.options.mptcp.backup.flag", "1"),
        (6, signal(Signal::Fail { dsn: 5 }), "tcp.options.mptcp.rawdataseqno", "5"),
        (7, signal(Signal::Fastclose { key: 11 }), "tcp.options.mptcp.recvkey", "11"),
        (8, Options { tcp_rst: reset, ..Options::default() }, "tcp.options.mptcp.rst_reason", "0x05"),
    ];
    let out = Arc::new(Mutex::new(Vec::new()));
    let mut writer = Writer::new(Box::new(File(out.clone())), "any", "test", "").expect("memory");
    for (n, (_, options, ..)) in cases.iter().enumerate() {
        let end = |host: u8| SocketAddr::from(([10, 0, 0, host], 1000 + n as u16));
        let mut bytes = Vec::new();
        let segment =
            Segment { seq: 1, ack: 1, flags: Flags::ACK, window: 99, options: *options, ..Segment::default() };
        // Nothing is added to the checksums: they are to be read as they stand above.
        emit(&segment, &Envelope { src: end(1), dst: end(2), id: 0 }, Some(Sum(0)), |_| {}, &mut bytes)
            .expect("it fits");
        writer.packet(n as u64, Way::Either, &bytes).expect("memory");
    }
    let file = out.lock().expect("nobody panicked").clone();
    let mut fields = vec!["tcp.options.mptcp.subtype", "_ws.malformed"];
    fields.extend(BTreeSet::from_iter(cases.iter().map(|c| c.2)));
    let Some(rows) = tshark(&file, "options", "frame", &fields) else { return };
    assert_eq!(rows.len(), cases.len());
    for (row, (subtype, options, field, value)) in rows.iter().zip(&cases) {
        let column = fields.iter().position(|f| f == field).expect("asked for");
        let found = [&row[0], &row[1], &row[column]];
        assert_eq!(found, [&subtype.to_string(), "", *value], "{field} of {options:?}");
    }
}

/// A path fails with data on it: they are sent again on the other, and tshark, which follows data sequence numbers over both
/// (given in one file), marks exactly these segments. (The path fails long before the end: tshark 4.0 takes a DATA_FIN by itself,
/// which has subflow sequence number 0, for the mapping of the next octet on its subflow.)
#[test]
fn tshark_finds_the_reinjections_that_the_simulator_made() {
    let text = "
        connection = { profile = 'classic' }
        transfer = { bytes = '1 MB' }
        [[path]]
        rate = '5 Mbit/s'
        delay = '20 ms'
        changes = [{ at = '300 ms', state = 'down' }]
        [[path]]
        rate = '5 Mbit/s'
        delay = '30 ms'";
    let scenario = scenario(text);
    let (_, files) = capture(&scenario);
    let (_, rows) = traced(&scenario);
    let reinjected = rows.iter().filter(|r| r.event == Event::Send && r.kind == "Reinjection").count();
    assert!(reinjected > 0);
    let file = merged(&files);
    let filter = "mptcp.reinjection_of && tcp.len > 0";
    let Some(rows) = tshark(&file, "reinjection", filter, &["frame.number"]) else { return };
    assert_eq!(rows.len(), reinjected);
}
