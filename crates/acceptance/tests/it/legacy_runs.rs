//! The 2011 model in the simulator: handshake, first data, ends, accounts, at exact times.

use anabranch_sim::scenario;
use serde_json::Value;

use crate::support::{MS, S, close, count, number, scenario as read, summary, traced};
use crate::trace::{Event, Row};

/// Two links of 0.5 Mbit/s and 10 ms: a packet of n octets arrives 16 n us + 10 ms later.
const EQUAL: &str = "stack = 'legacy-2011'
    [connection]
    controller = 'uncoupled'
    [transfer]
    bytes = '50 kB'
    [[path]]
    rate = '0.5 Mbit/s'
    [[path]]
    rate = '0.5 Mbit/s'
";

/// When, from whom (client), on which subflow, flags.
fn sent(rows: &[Row], before: u64) -> Vec<(u64, bool, u32, &str)> {
    let sends = rows.iter().filter(|r| r.is(Event::Send) && r.at < before);
    sends.map(|r| (r.at, r.client, r.tuple, r.flags.as_str())).collect()
}

/// SYN 52 octets, SYN/ACK 52 (42 on the joined subflow), ACK 42, addresses 57: each at most 10.912 ms under way. The
/// addresses wait behind the ACK (0.672 ms). The application begins one second after subflow 0 is up.
///
///       0.000  c SYN            10.832  s SYN/ACK       21.664  c ACK, addresses
///      33.248  s addresses      44.160  c SYN (1)       54.992  s SYN/ACK (1)      65.664  c ACK (1)
///    1021.664  c data on both
#[test]
fn the_handshake_at_exact_times() {
    let (_, rows) = traced(&read(EQUAL));
    let us = |n: u64| n * 1000;
    let expected = [
        (0, true, 0, "S"),
        (us(10_832), false, 0, "S."),
        (us(21_664), true, 0, "."),
        (us(21_664), true, 0, "."),
        (us(33_248), false, 0, "."),
        (us(44_160), true, 1, "S"),
        (us(54_992), false, 1, "S."),
        (us(65_664), true, 1, "."),
        (us(1_021_664), true, 0, "."),
        (us(1_021_664), true, 1, "."),
    ];
    assert_eq!(sent(&rows, us(1_021_665)), expected);
    // Initial sequence numbers: below 1000; 10000 more for the client's first join; 1 for the server's.
    let sent = |r: &&Row| r.is(Event::Send) && r.flags.contains('S');
    let syn = |client, tuple| rows.iter().filter(sent).find(|r| r.client == client && r.tuple == tuple);
    assert!(syn(true, 0).unwrap().seq < 1000 && syn(false, 0).unwrap().seq < 1000);
    assert!((10_000..11_000).contains(&syn(true, 1).unwrap().seq));
    assert_eq!(syn(false, 1).unwrap().seq, 1);
}

/// Sent at 1021.664: 1462 octets arrive at 1055.056, the joined subflow's first, an octet shorter, 16 us before it. That
/// is early and silent; then the first drains it: acknowledged on subflow 1, and last on subflow 0.
#[test]
fn the_first_two_segments_meet_the_rule_of_the_model() {
    let (run, rows) = traced(&read(EQUAL));
    let us = |n: u64| n * 1000;
    let arrivals: Vec<(u64, u32, u64)> = rows
        .iter()
        .filter(|r| r.is(Event::Arrive) && r.has_data())
        .take(2)
        .map(|r| (r.at, r.tuple, r.offset))
        .collect();
    assert_eq!(arrivals, [(us(1_055_040), 1, 1400), (us(1_055_056), 0, 0)]);
    let answers: Vec<_> = sent(&rows, us(1_055_057)).into_iter().filter(|s| s.0 > us(1_021_664)).collect();
    assert_eq!(answers, [(us(1_055_056), false, 1, "."), (us(1_055_056), false, 0, ".")]);
    close(number(&run.summary["first_byte_s"]), 1.055_056, 1e-9);
}

/// Every pure acknowledgement of the server takes up a sequence number.
#[test]
fn pure_acknowledgements_take_up_sequence_numbers() {
    let (_, rows) = traced(&read(EQUAL));
    let seq: Vec<u32> = rows.iter().filter(|r| r.is(Event::Send) && !r.client && r.tuple == 1).map(|r| r.seq).collect();
    assert!(seq.len() > 10 && seq.windows(2).all(|w| w[1] == w[0] + 1));
}

/// There is no FIN: the run ends with the octet read last.
#[test]
fn the_transfer_is_over_when_the_last_octet_is_read() {
    let (run, rows) = traced(&read(EQUAL));
    let last = rows.iter().rfind(|r| r.is(Event::Deliver)).unwrap();
    assert_eq!((last.offset + last.len, run.summary["status"].as_str()), (50_000, Some("completed")));
    close(number(&run.summary["completion_s"]), last.at as f64 / 1e9, 1e-9);
    assert!(rows.iter().all(|r| r.at <= last.at && !r.flags.contains('F')));
}

/// Writing stops five seconds after the SYN; what is written is still delivered. 5 s at 0.5 Mbit/s twice are 0.6 MB.
#[test]
fn a_transfer_of_some_duration_ends_when_all_written_is_read() {
    let run = summary(&EQUAL.replace("bytes = '50 kB'", "duration = '5 s'"), &[]);
    assert_eq!(run["status"], "completed");
    let octets = count(&run["bytes_delivered"]);
    assert!((300_000..700_000).contains(&octets) && octets % 1400 == 1399, "{octets}");
    assert!((5.0..8.0).contains(&number(&run["completion_s"])), "{}", run["completion_s"]);
}

/// One path, and three: a subflow each, and with three the joins leave together, 10000 and 20000 apart.
#[test]
fn there_is_one_subflow_a_path() {
    let one = summary(&EQUAL.replacen("[[path]]\n    rate = '0.5 Mbit/s'\n", "", 1), &[]);
    assert_eq!((one["status"].as_str(), one["subflows"].as_array().unwrap().len()), (Some("completed"), 1));
    assert_eq!(one["ooo_ratio"], 0.0);
    let (run, rows) = traced(&read(&format!("{EQUAL}[[path]]\nrate = '0.5 Mbit/s'")));
    let syns: Vec<(u64, u32)> =
        rows.iter().filter(|r| r.is(Event::Send) && r.flags == "S").map(|r| (r.at, r.seq / 10_000)).collect();
    // Three addresses: 18 octets, 25 more in the header, 67 in all; behind the ACK.
    let joins = 21_664_000 + (672 + 1072 + 10_000) * 1000 + (1072 + 10_000) * 1000;
    assert_eq!(syns, [(0, 0), (joins, 1), (joins, 2)]);
    assert_eq!(run.summary["status"], "completed");
}

/// No handshake segment is ever repeated.
#[test]
fn a_lost_syn_is_never_repeated() {
    let text = EQUAL.replacen(
        "[[path]]",
        "[[path]]\nchanges = [{ at = '5 ms', state = 'down' }, { at = '1 s', state = 'up' }]",
        1,
    );
    let (run, rows) = traced(&read(&format!("duration = '1 min'\n{text}")));
    assert_eq!(run.summary["status"], "stalled");
    assert_eq!(rows.iter().filter(|r| r.is(Event::Send)).count(), 1);
}

/// 10 and 200 ms, varying: what the summary says, counted again from the trace.
#[test]
fn the_accounts_agree_with_the_trace() {
    for recovery in ["none", "dsack", "eifel", "door", "frto"] {
        let text =
            EQUAL.replace("50 kB", "2 MB").replace("uncoupled'", &format!("uncoupled'\nrecovery = '{recovery}'"));
        let text = format!("{text}delay = '200 ms'\ndelay_variation = '5 %'\n");
        let (run, rows) = traced(&read(&text));
        let s = &run.summary;
        assert_eq!((s["status"].as_str(), count(&s["bytes_delivered"])), (Some("completed"), 2_000_000), "{recovery}");
        let mut offset = 0;
        for r in rows.iter().filter(|r| r.is(Event::Deliver)) {
            assert_eq!(r.offset, offset);
            offset += r.len;
        }
        let mut seen = std::collections::HashSet::new();
        let distinct = rows.iter().filter(|r| r.is(Event::Arrive) && r.has_data() && seen.insert(r.offset)).count();
        for (i, subflow) in s["subflows"].as_array().unwrap().iter().enumerate() {
            let n = |what: &dyn Fn(&Row) -> bool| rows.iter().filter(|r| r.tuple == i as u32 && what(r)).count() as u64;
            let data = |r: &Row| r.is(Event::Send) && r.has_data();
            let count = |key: &str| count(&subflow[key]);
            assert_eq!(count("segments"), n(&data), "{recovery} {i}");
            assert_eq!(count("retransmissions_fast"), n(&|r| data(r) && r.kind == "Fast"));
            assert_eq!(count("retransmissions_timeout"), n(&|r| data(r) && r.kind == "Timeout"));
            assert_eq!(count("queue_drops"), n(&|r| r.is(Event::Drop) && r.why() == "Queue"));
        }
        let rbd: f64 = s["rbd"].as_array().unwrap().iter().map(number).sum();
        close(rbd, 1.0, 1e-9);
        let parked = number(&s["ooo_ratio"]) * distinct as f64;
        close(parked, parked.round(), 1e-6);
    }
}

#[test]
fn equal_seeds_give_equal_traces_and_others_do_not() {
    let text = format!("{}delay_variation = '5 %'\n", EQUAL.replace("50 kB", "500 kB"));
    let hash = |seed: &str| summary(&text, &[seed])["trace_sha256"].clone();
    assert_eq!(hash("seed=1"), hash("seed=1"));
    assert_ne!(hash("seed=1"), hash("seed=2"));
}

/// Two of the model's connections share both links and their queues.
#[test]
fn several_connections_of_the_model_share_links() {
    let text = "stack = 'legacy-2011'
        [[path]]
        rate = '0.5 Mbit/s'
        [[path]]
        rate = '0.5 Mbit/s'
        [[connection]]
        transfer = { bytes = '200 kB' }
        [[connection]]
        controller = 'fully-coupled'
        transfer = { bytes = '200 kB', start = '500 ms' }";
    let s = summary(text, &[]);
    let statuses: Vec<&Value> = s["connections"].as_array().unwrap().iter().map(|c| &c["status"]).collect();
    assert_eq!(statuses, ["completed", "completed"]);
}

/// The samples of the series: window in octets, the threshold's first value, and what is held, by subflow.
#[test]
fn the_series_shows_the_senders_state() {
    let run = crate::support::finish(&read(EQUAL));
    let samples = run.series.samples();
    let first = samples.iter().find(|s| s.at == S).unwrap();
    assert_eq!((first.cwnd, first.ssthresh, first.in_flight), (1400.0, 65_535.0, 0));
    assert!(first.srtt.is_nan() && first.rto == 3.0);
    // 1 s later subflow 1 still counts one octet of its handshake.
    let joined = samples.iter().find(|s| s.at == S && s.subflow == 1).unwrap();
    assert_eq!(joined.in_flight, 1);
    assert!(samples.iter().any(|s| s.ooo_buffer > 0 && s.at > S + 50 * MS));
}

/// `stack` is part of what a run depends on.
#[test]
fn the_resolved_scenario_names_the_stack_and_what_it_heeds() {
    let json = scenario::parse(EQUAL, "t", &[], None).unwrap().to_json();
    assert_eq!(json["stack"], "legacy-2011");
    let connection = &json["connections"][0];
    assert_eq!(
        (connection["controller"].as_str(), connection["ack_discard"].as_f64()),
        (Some("uncoupled"), Some(0.0305))
    );
    assert!(connection.get("min_rto_s").is_none());
}
