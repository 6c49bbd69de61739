//! Captures that lack something: data, pure acknowledgements, the beginning, options behind the snap length.

use anabranch_capture::{Only, analyze_octets};
use anabranch_stack::segment::Flags;
use serde_json::{Value, json};

use crate::capture_faults::{C, S, Tape, all, deliveries, flow};
use crate::capture_formats::Record;
use crate::capture_linux::analysed;
use crate::capture_numbers::{captured, file};
use crate::support::{close, count, number};

// ---- without data --------------------------------------------------------------------------------------------------

fn counts(s: &Value) -> [u64; 3] {
    ["tcp_connections", "connections_without_data", "unlisted_connections"].map(|key| count(&s["capture"][key]))
}

/// Five connections that began before the capture and acknowledge nothing new, beside one with data: each is counted, one is listed.
#[test]
fn connections_of_acknowledgements_alone_are_counted_as_without_data() {
    let (mut with, mut idle) = (Tape::default(), Tape::default());
    with.exchange(0, (1000, 2000), 1, "F");
    idle.seg(100_000, C, "A", (1000, 2001)).seg(120_000, S, "A", (2000, 1001));
    let of_idle = |n: u16| (1..=n).flat_map(|port| idle.records_on(port)).collect::<Vec<Record>>();
    let s = analysed(&file(&[with.records(), of_idle(5)].concat())).summary;
    assert_eq!((counts(&s), deliveries(&s), &s["connections"]), ([6, 5, 5], vec![1000], &Value::Null));
    // Alone they are listed.
    let s = analysed(&file(&of_idle(5))).summary;
    assert_eq!((counts(&s), s["connections"].as_array().map(Vec::len)), ([5, 5, 0], Some(5)));
    // A capture of MPTCP alone has none.
    let error = analyze_octets(&[("idle.pcap", &file(&of_idle(5)))], Some(Only::Mptcp)).expect_err("nothing");
    assert!(error.to_string().contains("no MPTCP connection inside"), "{error}");
}

/// RFC 9293 3.8.4: a keep-alive has the number of the last octet, and none or one octet that means nothing.
#[test]
fn keep_alives_are_no_data() {
    for len in [0, 1] {
        let keep_alive = |t: &mut Tape, us: u64, (seq, ack): (u32, u32)| {
            t.data(us, C, (seq, ack), len).seg(us + 20_000, S, "A", (ack, seq + 1));
        };
        let mut began_before = Tape::default();
        (0..4).for_each(|n| keep_alive(&mut began_before, n * 1_000_000, (1000, 2001)));
        let s = began_before.analysed();
        assert_eq!((counts(&s), deliveries(&s)), ([1, 1, 0], vec![0]), "{len}");
        all(flow(&s), &[("segments", 0), ("retransmissions", 0), ("bytes_sent", 0)]);

        let mut established = Tape::default();
        established.handshake(0, (1000, 2000));
        (1..4).for_each(|n| keep_alive(&mut established, n * 1_000_000, (1000, 2001)));
        assert_eq!(counts(&established.analysed()), [1, 1, 0], "{len}");

        let mut used = Tape::default();
        used.exchange(0, (1000, 2000), 3, "");
        (1..4).for_each(|n| keep_alive(&mut used, n * 7_000_000, (1100, 5001)));
        let s = used.analysed();
        assert_eq!((deliveries(&s), count(&s["bytes_back"])), (vec![3000], 100));
        all(flow(&s), &[("retransmissions", 0), ("missing_bytes", 0)]);
    }
}

/// A connection is over; minutes later a segment of it comes once more.
#[test]
fn a_late_segment_of_a_connection_that_is_over_begins_no_other() {
    let (mut over, mut other) = (Tape::default(), Tape::default());
    over.exchange(0, (1000, 2000), 3, "F");
    over.seg(250_000_000, S, "A", (5002, 1102)).seg(250_001_000, C, "FA", (1101, 5002));
    (1..20).for_each(|n| _ = other.exchange(n * 10_000_000, (n as u32 * 1_000_000, 2000), 1, "F"));
    let mut all = [over.records(), other.records_on(1)].concat();
    all.sort_by_key(|r| r.time);
    assert_eq!(counts(&analysed(&file(&all)).summary)[..2], [20, 0]);
}

// ---- without pure acknowledgements ---------------------------------------------------------------------------------

/// Three requests 5 s apart, eight segments in answer to each, acknowledged two by two; as the client has them.
fn requests() -> Tape {
    let (mut t, mut c, mut s) = (Tape::default(), 1001, 2001);
    t.handshake(0, (1000, 2000));
    for n in 0..3 {
        let us = 20_100 + n * 5_000_000;
        t.data(us, C, (c, s), 200);
        c += 200;
        for k in 0..8 {
            t.data(us + 20_000 + k * 500, S, (s, c), 1448);
            s += 1448;
            if k % 2 == 1 {
                t.seg(us + 20_050 + k * 500, C, "A", (c, s));
            }
        }
    }
    t
}

#[test]
fn without_pure_acknowledgements_round_trips_are_those_of_the_handshake_or_unknown() {
    let whole = requests().analysed();
    assert_eq!((&flow(&whole)["lacks_pure_acks"], &flow(&whole)["captured_at"]), (&json!(false), &json!(["client"])));
    let has_syn = |flags: Flags| flags.has(Flags::SYN);
    for (syns, base) in [(true, json!(20.0)), (false, Value::Null)] {
        let s = requests().filtered(|_, flags, len| len > 0 || (syns && has_syn(flags))).analysed();
        let (flow, diagnosis) = (flow(&s), &flow(&s)["diagnosis"]);
        assert_eq!((&flow["lacks_pure_acks"], &diagnosis["base_rtt_ms"]), (&json!(true), &base), "{syns}");
        for unknown in ["rtt_max_ms", "lost_random", "lost_congestion"] {
            assert_eq!(diagnosis[unknown], Value::Null, "{unknown} {syns}");
        }
        assert_eq!((&flow["srtt_ms"], &flow["rtt_max_ms"]), (&Value::Null, &Value::Null));
        all(flow, &[("segments", 24), ("retransmissions", 0), ("bytes_sent", 24 * 1448)]);
        assert_eq!(deliveries(&s), [24 * 1448]);
    }
    // Requests alone are acknowledged by the answers, as usual.
    let begun = requests().filtered(|_, flags, _| !has_syn(flags)).analysed();
    close(number(&flow(&begun)["diagnosis"]["base_rtt_ms"]), 20.0, 0.6);
}

/// The same of Multipath TCP: what was sent is known, and the handshakes.
#[test]
fn mptcp_without_pure_acknowledgements() {
    for host in ["client", "server"] {
        let (run, records) = captured("unlike-paths", &["transfer.bytes=1 MB"], host);
        let is_pure = |r: &Record| {
            let (header, flags) = (20 + usize::from(r.octets[32] >> 4) * 4, r.octets[33]);
            r.octets.len() == header && flags & 7 == 0
        };
        let whole = analysed(&file(&records)).summary;
        let s = analysed(&file(&records.iter().filter(|r| !is_pure(r)).cloned().collect::<Vec<_>>())).summary;
        assert_eq!(deliveries(&s), [1_000_000], "{host}");
        for (i, own) in run["subflows"].as_array().expect("two").iter().enumerate() {
            let flow = &s["subflows"][i];
            assert_eq!(flow["lacks_pure_acks"], json!(true), "{host}");
            let wanted = number(&whole["subflows"][i]["diagnosis"]["base_rtt_ms"]);
            let base = flow["diagnosis"]["base_rtt_ms"].as_f64();
            assert!(base.is_none_or(|base| (base / wanted - 1.0).abs() < 0.02), "{host}: {base:?}, not {wanted}");
            assert!(host == "server" || flow["segments"] == own["segments"], "{host}");
        }
    }
}

// ---- without a beginning -------------------------------------------------------------------------------------------

/// A request of 80 octets before an answer of 260 that comes a millisecond after the acknowledgement. Queues have no negative length.
#[test]
fn no_round_trip_is_shorter_than_the_shortest() {
    let mut t = Tape::default();
    t.data(0, C, (1001, 2001), 80).seg(200_000, S, "A", (2001, 1081)).data(201_000, S, (2001, 1081), 260);
    t.seg(201_050, C, "A", (1081, 2261)).seg(201_200, C, "FA", (1081, 2261)).seg(400_000, S, "FA", (2261, 1082));
    let s = t.analysed();
    let diagnosis = &flow(&s)["diagnosis"];
    close(number(&diagnosis["base_rtt_ms"]), 198.8, 1e-6);
    assert!(number(&diagnosis["rtt_max_ms"]) >= 198.8, "{diagnosis}");
}

/// The client's capture lacks the third of five segments that arrive, which the client
/// acknowledges.
#[test]
fn a_segment_that_the_receivers_capture_lacks_is_missing_and_was_delivered() {
    let mut t = Tape::default();
    t.exchange(0, (1000, 2000), 5, "F");
    let mut records = t.records();
    records.remove(3 + 2 + 2 * 2);
    let s = analysed(&file(&records)).summary;
    assert_eq!((deliveries(&s), count(&flow(&s)["missing_bytes"])), (vec![5000], 1000));
}

/// What was in flight when the capture began is not missing in it.
#[test]
fn what_was_sent_before_the_capture_is_not_missing() {
    let mut t = Tape::default();
    for first in ["data", "ack"] {
        if first == "ack" {
            t.seg(0, S, "A", (2001, 1001));
        }
        for n in 0..20_u32 {
            t.data(1000 + u64::from(n) * 1000, C, (50_001 + n * 1000, 2001), 1000);
            t.seg(1500 + u64::from(n) * 1000, S, "A", (2001, 31_001 + n * 1000));
        }
        let s = t.analysed();
        all(flow(&s), &[("missing_bytes", 0), ("unseen_bytes", 0), ("retransmissions", 0), ("segments", 20)]);
        assert_eq!(count(&s["missing_bytes"]), 0, "{first}");
        t = Tape::default();
    }
}

// ---- behind the snap length ----------------------------------------------------------------------------------------

fn cut(records: &[Record], snap: usize) -> Vec<u8> {
    let mut records = records.to_vec();
    records.iter_mut().for_each(|r| r.octets.truncate(snap));
    file(&records)
}

/// From 40 octets of IP and TCP header on (54 with Ethernet's), whatever else is there.
#[test]
fn the_snap_length_does_not_change_the_goodput() {
    let mut t = Tape::default();
    t.exchange(0, (1000, 2000), 5, "F");
    let wanted = t.analysed();
    for snap in [40, 44, 46, 52, 54, 60, 66, 82, 114] {
        let s = analysed(&cut(&t.records(), snap)).summary;
        for key in ["goodput_mbps", "bytes_delivered", "status", "start_s", "complete_beginning", "first_byte_s"] {
            assert_eq!(s[key], wanted[key], "{key} at {snap}");
        }
        assert_eq!(flow(&s)["captured_at"], json!(["client"]));
    }
    assert_eq!(count(&flow(&analysed(&cut(&t.records(), 40)).summary)["cut_options"]), 2);
}

/// Where the options of its data are cut, a connection of Multipath TCP is measured as one of TCP for each subflow.
#[test]
fn cut_subflows_are_measured_as_tcp() {
    for host in ["client", "server"] {
        for stamps in ["connection.timestamps=true", "connection.timestamps=false"] {
            let overrides = ["transfer.bytes=1 MB", stamps];
            let (_, records) = captured("unlike-paths", &overrides, host);
            let wanted = analysed(&file(&records)).summary;
            let first: Vec<u64> = (0..2).map(|i| count(&wanted["subflows"][i]["bytes_first"])).collect();
            assert_eq!(first.iter().sum::<u64>(), 1_000_000);
            for snap in [40, 46, 52, 54, 60, 66] {
                if snap == 66 && stamps.ends_with("false") {
                    continue; // the mappings are whole
                }
                let s = analysed(&cut(&records, snap)).summary;
                assert_eq!(deliveries(&s), first, "{host} {snap} {overrides:?}");
                for (i, c) in s["connections"].as_array().expect("two").iter().enumerate() {
                    assert_eq!((&c["protocol"], &c["complete_beginning"]), (&json!("tcp"), &json!(true)), "{snap}");
                    for key in ["segments", "retransmissions", "captured_at", "bytes_sent"] {
                        assert_eq!(flow(c)[key], wanted["subflows"][i][key], "{key}: {host} {snap}");
                    }
                }
            }
            for snap in [82, 114] {
                let s = analysed(&cut(&records, snap)).summary;
                assert_eq!((deliveries(&s), &s["goodput_mbps"]), (vec![1_000_000], &wanted["goodput_mbps"]), "{snap}");
            }
        }
    }
}

/// A receive window whose scale was cut is not known: data beyond it are no probes.
#[test]
fn a_cut_window_scale_is_unknown() {
    let mut t = Tape::default();
    t.handshake(0, (1000, 2000));
    let mut seq = 1001;
    for n in 0..50 {
        t.data(30_000 + n * 100, C, (seq, 2001), 1460);
        seq += 1460;
    }
    t.seg(50_000, S, "A", (2001, seq)).window(500);
    (0..40).for_each(|n| {
        t.data(51_000 + n * 100, C, (seq, 2001), 1460);
        seq += 1460;
    });
    t.seg(80_000, S, "A", (2001, seq)).window(500);
    for s in [t.analysed(), analysed(&cut(&t.records(), 40)).summary] {
        all(flow(&s), &[("window_probes", 0), ("stray_packets", 0), ("segments", 90)]);
        assert_eq!(deliveries(&s), [90 * 1460]);
    }
}
