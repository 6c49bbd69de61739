//! Captures whose numbers and times mislead: acknowledgements of what was never sent, ports used again, acknowledgements recorded too
//! early, probes of closed windows.

use serde_json::{Value, json};

use crate::capture_faults::{C, S, Tape, all, deliveries, flow};
use crate::capture_formats::{Record, pcap};
use crate::capture_linux::analysed;
use crate::support::{close, count, example, number, with};

/// Five segments of 1460 octets up, acknowledged 20 ms later, 30 ms apart; `before` adds something before the third acknowledgement.
fn upload(before: impl Fn(&mut Tape, u64, u32)) -> Tape {
    let mut t = Tape::default();
    t.handshake(0, (1000, 2000));
    let mut seq = 1001;
    for n in 0..5 {
        let us = 30_000 * (n + 1);
        t.data(us, C, (seq, 2001), 1460);
        if n == 2 {
            before(&mut t, us + 19_000, seq);
        }
        seq += 1460;
        t.seg(us + 20_000, S, "A", (2001, seq));
    }
    t.seg(180_000, C, "FA", (seq, 2001)).seg(200_000, S, "FA", (2001, seq + 1)).seg(200_050, C, "A", (seq + 1, 2002));
    t
}

/// RFC 9293 3.10.7.4: what acknowledges octets never sent is none of the connection's. The largest window is 65,535 octets times 2^7.
#[test]
fn an_acknowledgement_beyond_the_window_is_left_out() {
    for beyond in [65_535 * 128 + 1463, 20_000_000, 1_180_490_186] {
        let s = upload(|t, us, seq| _ = t.seg(us, S, "A", (2001, seq + beyond))).analysed();
        assert_eq!((deliveries(&s), &s["status"]), (vec![7300], &json!("completed")), "{beyond}");
        all(&s, &[("missing_bytes", 0)]);
        all(flow(&s), &[("stray_packets", 1), ("retransmissions", 0), ("unseen_bytes", 0)]);
        close(number(&flow(&s)["rtt_min_ms"]), 20.0, 1e-6);
    }
}

/// RFC 7323 2.2: windows are scaled by 2^7. The right edge is the acknowledgement and the window; a
/// smaller one does not move it back.
#[test]
fn the_edge_of_the_window_is_scaled() {
    let mut t = Tape::default();
    t.seg(0, C, "S", (1000, 0)).seg(20_000, S, "SA", (2000, 1001)).window(900).seg(20_050, C, "A", (1001, 2001));
    t.data(21_000, C, (1001, 2001), 1000).seg(41_000, S, "A", (2001, 2001)).window(100);
    t.data(42_000, C, (2001, 2001), 1000).seg(62_000, S, "A", (2001, 3001)).window(50);
    t.data(63_000, C, (3001, 2001), 1000).seg(83_000, S, "A", (2001, 4001)).window(200);
    let windows = analysed(&file(&t.records())).windows;
    let edges: Vec<_> = windows.iter().map(|(_, w)| (w.data_ack, w.edge)).filter(|(_, edge)| *edge < 65_535).collect();
    assert_eq!(edges, [(1000, 1000 + 12_800), (2000, 1000 + 12_800), (3000, 3000 + 25_600)]);
}

/// RFC 7323 5.3 R1: at the receiver, a segment with an older timestamp than the last one taken is
/// refused.
#[test]
fn a_segment_with_an_old_timestamp_is_refused() {
    for (old, refused) in [(1019, 1), (1021, 0)] {
        let mut t = Tape::default();
        t.seg(0, C, "S", (1000, 0)).stamped(1000, 0).seg(100, S, "SA", (2000, 1001)).stamped(7, 1000);
        t.seg(20_000, C, "A", (1001, 2001)).stamped(1020, 7);
        t.data(21_000, C, (1001, 2001), 100).stamped(1021, 7).seg(21_100, S, "A", (2001, 1101)).stamped(28, 1021);
        t.data(31_000, C, (1101, 2001), 100).stamped(old, 28);
        t.seg(31_100, S, "A", (2001, if refused == 1 { 1101 } else { 1201 })).stamped(38, 1021);
        t.data(91_000, C, (1101, 2001), 100).stamped(1091, 38).seg(91_100, S, "A", (2001, 1201)).stamped(98, 1091);
        let s = t.analysed();
        assert_eq!(deliveries(&s), [200], "{old}");
        all(flow(&s), &[("refused", refused), ("retransmissions", 1), ("duplicates_arrived", 1 - refused)]);
    }
}

/// RFC 9293 3.5.1, figure 9: the server has a connection from before the client's crash. What it
/// answers to the SYN acknowledges numbers below that, and belongs to the old one. The SYN that
/// follows the reset opens the new one.
#[test]
fn what_answers_a_syn_with_old_numbers_is_left_out() {
    let mut t = Tape::default();
    t.seg(0, C, "S", (100_000, 0)).seg(20_000, S, "A", (300, 50_000)).seg(20_050, C, "R", (50_000, 0));
    t.exchange(1_000_000, (100_000, 2000), 5, "F");
    let s = t.analysed();
    assert_eq!((deliveries(&s), &s["status"]), (vec![5000], &json!("completed")));
    all(flow(&s), &[("stray_packets", 2), ("retransmissions", 0)]);
}

/// RFC 5961 3.2: so is a reset with numbers of another connection.
#[test]
fn a_reset_outside_the_window_does_not_end_the_connection() {
    for seq in [0, 1000, 3_000_000_000] {
        let s = upload(|t, us, _| _ = t.seg(us, C, "R", (seq, 0))).analysed();
        assert_eq!((deliveries(&s), &s["status"]), (vec![7300], &json!("completed")), "{seq}");
        assert_eq!((count(&flow(&s)["stray_packets"]), &flow(&s)["reset_by"]), (1, &Value::Null));
    }
    let s = upload(|t, us, seq| _ = t.seg(us, C, "R", (seq + 1460, 0))).analysed();
    assert_eq!(flow(&s)["reset_by"], json!("client"));
}

/// The capture lacks 20 MB, more than a window. What goes on from there shows that they were sent.
#[test]
fn more_than_a_window_may_be_missing() {
    let (mut t, mut seq) = (Tape::default(), 1001);
    t.handshake(0, (1000, 2000));
    for n in 0..10 {
        seq += if n == 5 { 20_000_000 } else { 0 };
        t.data(30_000 * (n + 1), C, (seq, 2001), 1460).seg(30_000 * (n + 1) + 20_000, S, "A", (2001, seq + 1460));
        seq += 1460;
    }
    let s = t.analysed();
    assert_eq!((deliveries(&s), count(&s["missing_bytes"])), (vec![20_014_600], 20_000_000));
    all(
        flow(&s),
        &[("bytes_sent", 14_600), ("unseen_bytes", 20_000_000), ("retransmissions", 0), ("window_probes", 0)],
    );
}

// ---- ports used again ----------------------------------------------------------------------------------------------

#[test]
fn a_port_used_again_is_another_connection_whatever_its_number() {
    for (end, isn) in [("F", 1000), ("F", 900_000), ("F", 4_000_000_000), ("R", 1000), ("R", 5555), ("", 700_000_000)] {
        let mut t = Tape::default();
        let us = t.exchange(0, (1000, 2000), 3, end);
        t.exchange(us + 500_000, (isn, 2000), 5, "F");
        let s = t.analysed();
        assert_eq!(deliveries(&s), [3000, 5000], "{end} {isn}");
        for c in s["connections"].as_array().expect("two") {
            all(flow(c), &[("retransmissions", 0), ("missing_bytes", 0), ("stray_packets", 0), ("damaged", 0)]);
        }
    }
}

/// RFC 9293 3.6.1, 3.10.7.3: a host in TIME-WAIT may answer the SYN with its last acknowledgement, which is refused; the SYN is sent again.
#[test]
fn what_belongs_to_the_connection_before_does_not_count() {
    let mut t = Tape::default();
    let us = t.exchange(0, (1000, 2000), 3, "F");
    t.seg(us, C, "S", (700, 0)).seg(us + 20_000, S, "A", (5002, 1102)).seg(us + 20_050, C, "R", (1102, 0));
    t.exchange(us + 1_000_000, (700, 90_000), 5, "F");
    let s = t.analysed();
    assert_eq!(deliveries(&s), [3000, 5000]);
    assert_eq!(count(&s["capture"]["tcp_connections"]), 2);
    let second = &s["connections"][1];
    assert_eq!((count(&second["bytes_back"]), &second["status"]), (100, &json!("completed")));
    all(flow(second), &[("stray_packets", 2)]);
}

/// The SYN of the second connection is missing, or its whole handshake.
#[test]
fn a_port_used_again_is_noticed_without_a_syn() {
    for missing in [1, 3] {
        let (mut t, mut second) = (Tape::default(), Tape::default());
        let us = t.exchange(0, (1000, 2000), 3, "F");
        second.exchange(us + 500_000, (3_000_000_000, 1_500_000_000), 5, "F");
        t.add_from(&second, missing);
        assert_eq!(deliveries(&t.analysed()), [3000, 5000], "{missing}");
    }
}

/// Three SYNs are refused, a fourth is answered; all have one number, as some hosts try again.
#[test]
fn a_refused_syn_that_is_sent_again_is_one_connection() {
    let mut t = Tape::default();
    (0..3).for_each(|n| _ = t.seg(n * 500_000, C, "S", (1000, 0)).seg(n * 500_000 + 20_000, S, "RA", (0, 1001)));
    assert_eq!((&t.analysed()["status"], deliveries(&t.analysed())), (&json!("reset"), vec![0]));
    t.exchange(1_500_000, (1000, 2000), 5, "F");
    let s = t.analysed();
    assert_eq!((&s["status"], deliveries(&s)), (&json!("completed"), vec![5000]));
}

// ---- acknowledgements recorded too early ----------------------------------------------------------------------------

/// Ten pairs of segments. The receiver's direction is stamped `early` by so many microseconds (or late).
fn pairs(early: i64, rtt: i64) -> Value {
    let mut t = Tape::default();
    let back = |us: i64| (us - early + 1_000_000) as u64;
    let out = |us: i64| (us + 1_000_000) as u64;
    t.seg(out(0), C, "S", (1000, 0)).seg(back(rtt), S, "SA", (2000, 1001)).seg(out(rtt + 50), C, "A", (1001, 2001));
    let (mut us, mut seq) = (rtt + 1000, 1001);
    for _ in 0..10 {
        t.data(out(us), C, (seq, 2001), 1460).data(out(us + 100), C, (seq + 1460, 2001), 1460);
        seq += 2920;
        t.seg(back(us + rtt + 150), S, "A", (2001, seq));
        us += rtt + 2000;
    }
    t.seg(out(us), C, "FA", (seq, 2001)).seg(back(us + rtt), S, "FA", (2001, seq + 1));
    t.seg(out(us + rtt + 50), C, "A", (seq + 1, 2002));
    t.analysed()
}

#[test]
fn a_segment_recorded_after_its_acknowledgement_is_no_retransmission() {
    // 30 us: the second segment of each pair. More than a round trip: everything.
    for (early, rtt) in
        [(30, 100), (80, 100), (200, 100), (1000, 100), (30_000, 20_000), (200_000, 20_000), (-9000, 20_000)]
    {
        let s = pairs(early, rtt);
        all(flow(&s), &[("segments", 20), ("retransmissions", 0), ("bytes_sent", 29_200), ("bytes_first", 29_200)]);
        all(flow(&s), &[("missing_bytes", 0), ("unseen_bytes", 0), ("duplicates_arrived", 0)]);
        assert_eq!((deliveries(&s), count(&s["missing_bytes"])), (vec![29_200], 0), "{early} {rtt}");
        assert_eq!((&s["status"], &s["ooo_ratio"]), (&json!("completed"), &json!(0.0)), "{early} {rtt}");
    }
}

pub fn captured(name: &str, overrides: &[&str], host: &str) -> (Value, Vec<Record>) {
    let (run, files) = crate::pcap::capture(&with(&example(name), overrides));
    let of_host = files.iter().filter(|(name, _)| name.starts_with(host));
    let record = |r: crate::pcap::Record| Record { time: r.at, sent: r.octets.len() as u32, octets: r.octets };
    let mut records: Vec<Record> = of_host.flat_map(|(_, octets)| crate::pcap::records(octets)).map(record).collect();
    records.sort_by_key(|r| r.time);
    (run.summary, records)
}

pub fn file(records: &[Record]) -> Vec<u8> {
    pcap(records, false, true, 101, &[])
}

fn is_from_server(r: &Record) -> bool {
    u16::from_be_bytes([r.octets[20], r.octets[21]]) == 5001
}

/// The same of Multipath TCP, at the sender and at the receiver: there the SYN/ACK of a join comes before its SYN.
#[test]
fn early_acknowledgements_change_nothing_in_mptcp() {
    for host in ["client", "server"] {
        let (run, records) = captured("unlike-paths", &["transfer.bytes=1 MB"], host);
        let wanted = analysed(&file(&records)).summary;
        for us in [30, 500] {
            let mut early = records.clone();
            early.iter_mut().for_each(|r| r.time += if is_from_server(r) { 1_000_000 } else { 1_000_000 + us * 1000 });
            early.sort_by_key(|r| r.time);
            let s = analysed(&file(&early)).summary;
            assert_eq!(deliveries(&s), [1_000_000], "{host} {us}");
            // At the server it shows later that the capture was taken there: until then arrivals are estimated.
            let by = if host == "server" { 0.03 } else { 0.0 };
            close(number(&s["ooo_ratio"]), number(&wanted["ooo_ratio"]), by);
            close(number(&s["goodput_mbps"]), number(&wanted["goodput_mbps"]), 0.01);
            let (flows, own) = (s["subflows"].as_array().expect("two"), run["subflows"].as_array().expect("two"));
            for (flow, own) in flows.iter().zip(own) {
                let resent = count(&own["retransmissions_fast"]) + count(&own["retransmissions_timeout"]);
                assert!(count(&flow["retransmissions"]) <= resent, "{host} {us}");
                assert!(host == "server" || count(&flow["retransmissions"]) == resent, "{host} {us}");
            }
        }
    }
}

// ---- probes of closed windows --------------------------------------------------------------------------------------

/// After 1460 octets the window closes; two probes of `len` octets, the second is accepted or refused, then the rest. At the client, or
/// `at_server`: 10 ms later what the client sends, and earlier what the server does.
fn probes(len: usize, accepted: bool, at_server: bool) -> Value {
    let mut t = Tape::default();
    let up = |us: u64| us + if at_server { 10_000 } else { 0 };
    let down = |us: u64| us - if at_server { 9_950 } else { 0 };
    t.seg(up(0), C, "S", (1000, 0)).seg(down(20_000), S, "SA", (2000, 1001)).seg(up(20_050), C, "A", (1001, 2001));
    t.data(up(30_000), C, (1001, 2001), 1460).seg(down(50_000), S, "A", (2001, 2461)).window(0);
    t.data(up(350_000), C, (2461, 2001), len).seg(down(370_000), S, "A", (2001, 2461)).window(0);
    t.data(up(950_000), C, (2461, 2001), len);
    let mut seq = 2461;
    if accepted {
        seq += 1;
        t.seg(down(970_000), S, "A", (2001, seq)).window(500);
    } else {
        t.seg(down(970_000), S, "A", (2001, seq)).window(0).seg(down(980_000), S, "A", (2001, seq)).window(500);
    }
    t.data(up(980_100), C, (seq, 2001), 1460).seg(down(1_000_100), S, "A", (2001, seq + 1460)).window(500);
    t.analysed()
}

#[test]
fn probes_of_a_closed_window_are_no_retransmissions() {
    for at_server in [false, true] {
        for (len, accepted) in [(1, true), (1, false), (1460, false)] {
            let s = probes(len, accepted, at_server);
            let wanted = 2920 + u64::from(accepted);
            let what = format!("{len} {accepted} {at_server}");
            assert_eq!((deliveries(&s), count(&s["missing_bytes"])), (vec![wanted], 0), "{what}");
            assert_eq!(s["ooo_ratio"], json!(0.0), "{what}");
            let refused = if at_server { 2 - u64::from(accepted) } else { 0 };
            all(
                flow(&s),
                &[("retransmissions", 0), ("window_probes", 2), ("refused", refused), ("duplicates_arrived", 0)],
            );
            all(&flow(&s)["diagnosis"], &[("lost_random", 0), ("lost_congestion", 0)]);
            assert_eq!(flow(&s)["captured_at"], json!([if at_server { "server" } else { "client" }]), "{what}");
        }
    }
}

/// A retransmission with new octets behind the old ones: all of them arrive.
#[test]
fn octets_appended_to_a_retransmission_are_sent() {
    let mut t = Tape::default();
    t.handshake(0, (1000, 2000)).data(30_000, C, (1001, 2001), 500).data(330_000, C, (1001, 2001), 1000);
    t.seg(350_000, S, "A", (2001, 2001)).data(360_000, C, (2001, 2001), 300).seg(380_000, S, "A", (2001, 2301));
    let s = t.analysed();
    assert_eq!((deliveries(&s), count(&s["missing_bytes"])), (vec![1300], 0));
    all(flow(&s), &[("retransmissions", 1), ("bytes_sent", 1800), ("unseen_bytes", 0)]);
}
