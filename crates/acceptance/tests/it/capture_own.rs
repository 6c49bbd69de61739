//! Our own captures, analysed: the numbers must be the run's own.

use std::collections::BTreeMap;

use anabranch_capture::{Capture, analyze_octets};
use serde_json::Value;

use crate::pcap;
use crate::support::{count, example, number, with};

const REMOVED: &str = "connection.path_changes=[{ at = '1500 ms', path = 0, action = 'remove', by = 'server' }]";

type Files = BTreeMap<String, Vec<u8>>;

/// The captures of the named hosts, as one.
fn analysed(files: &Files, hosts: &[&str]) -> Capture {
    let of_host = |name: &String| hosts.iter().any(|host| name.starts_with(&format!("{host}-")));
    let chosen: Vec<(&str, &[u8])> = files
        .iter()
        .filter(|(name, _)| of_host(name))
        .map(|(name, octets)| (name.as_str(), octets.as_slice()))
        .collect();
    assert!(!chosen.is_empty());
    analyze_octets(&chosen, None).unwrap_or_else(|error| panic!("{error}"))
}

/// Scenarios that lose, overtake, starve and go the other way. Of two packets that arrive by different interfaces at the
/// same nanosecond no capture tells which was first, so no case has two (13 us more on one path see to that).
fn cases() -> Vec<(&'static str, Vec<&'static str>)> {
    vec![
        ("unlike-paths", vec!["transfer.bytes=3 MB"]),
        ("unlike-paths", vec!["transfer.bytes=3 MB", "transfer.direction=down"]),
        ("lossy-wireless", vec!["transfer.bytes=3 MB", "path.1.delay=30.013 ms"]),
        ("lossy-wireless", vec!["transfer.bytes=3 MB", "connection.recovery=eifel", "transfer.direction=down"]),
        ("reordering", vec!["transfer.bytes=3 MB"]),
        ("reordering", vec!["transfer.bytes=3 MB", "connection.recovery=dsack", "connection.checksum=true"]),
        ("small-buffer", vec!["transfer.bytes=2 MB"]),
        // (So that no two packets arrive at one nanosecond on two interfaces: a capture does not tell which was first.)
        ("asymmetric", vec!["transfer.bytes=2 MB", "path.1.delay_down=20.003 ms"]),
        // Damaged packets, the third ACK and acknowledgements among them.
        ("unlike-paths", vec!["transfer.bytes=2 MB", "path.0.corruption=3 %", "path.1.corruption=3 %", "seed=6"]),
        // An interface goes while data are under way to it: they come after the reset, and again by the other path.
        ("unlike-paths", vec!["transfer.bytes=2 MB", REMOVED]),
        ("reordering", vec!["transfer.bytes=2 MB", REMOVED]),
        // A receiver that parks what is early, and says so in its acknowledgements.
        ("reordering", vec!["transfer.bytes=2 MB", "connection.acknowledgement=coupled"]),
        ("path-failure", vec!["transfer.bytes=8 MB"]),
        // Plain TCP, since the first data come without a data sequence signal (at the client's end they have one).
        ("lossy-wireless", vec!["transfer.bytes=1 MB", "path.0.middleboxes=['strip-mptcp-data']"]),
    ]
}

/// The fields `keys` are equal; of long ones a failure shows the beginning only.
#[track_caller]
fn agree(found: &Value, wanted: &Value, keys: &[&str], what: &str) {
    let shown = |v: &Value| v.to_string().chars().take(80).collect::<String>();
    for key in keys {
        let (found, wanted) = (&found[*key], &wanted[*key]);
        assert!(found == wanted, "{what}: {key} is {}, not {}", shown(found), shown(wanted));
    }
}

const BY_ARRIVAL: [&str; 8] = [
    "bytes_delivered",
    "ooo_ratio",
    "ooo_buffer_max_packets",
    "ooo_buffer_max_bytes",
    "rbd",
    "reorder_extent_max",
    "reorder_density",
    "hol_delay_ms",
];

/// Goodput, order of arrival and buffer from the receiver's captures; segments and retransmissions of each subflow from
/// the sender's; spurious ones from both.
#[test]
fn a_capture_of_a_run_gives_the_numbers_of_the_run() {
    for (name, overrides) in cases() {
        let scenario = with(&example(name), &overrides);
        let (run, files) = pcap::capture(&scenario);
        let run = run.summary;
        let down = !scenario.connections[0].transfer.up;
        let (sender, receiver) = if down { ("server", "client") } else { ("client", "server") };
        let what = format!("{name} {overrides:?}");
        assert_eq!(run["status"], "completed", "{what}");

        let at_receiver = analysed(&files, &[receiver]).summary;
        agree(&at_receiver, &run, &BY_ARRIVAL, &format!("{what}: at the receiver"));
        assert_eq!(at_receiver["estimated"], serde_json::json!([]), "{what}");
        assert_eq!(at_receiver["status"], "completed", "{what}");

        let at_sender = analysed(&files, &[sender]).summary;
        let both = analysed(&files, &["client", "server"]).summary;
        agree(&both, &run, &BY_ARRIVAL, &format!("{what}: at both ends"));
        // The clock of the goodput starts with the first SYN, which passes the client.
        let with_syn = if down { &at_receiver } else { &both };
        agree(with_syn, &run, &["goodput_mbps", "completion_s", "first_byte_s", "last_byte_s", "longest_gap_s"], &what);
        for seen in [&at_sender, &both] {
            assert_eq!(seen["segments"], run["segments"], "{what}");
            let flows = seen["subflows"].as_array().expect("subflows");
            let own = run["subflows"].as_array().expect("subflows");
            assert_eq!(flows.len(), own.len(), "{what}");
            for (flow, own) in flows.iter().zip(own) {
                assert_eq!(flow["segments"], own["segments"], "{what}");
                assert_eq!(flow["path"], own["path"], "{what}");
                let resent = count(&own["retransmissions_fast"]) + count(&own["retransmissions_timeout"]);
                assert_eq!(count(&flow["retransmissions"]), resent, "{what}: retransmissions");
            }
        }
        for (flow, own) in both["subflows"].as_array().unwrap().iter().zip(run["subflows"].as_array().unwrap()) {
            assert_eq!(flow["spurious"], own["spurious"], "{what}: spurious");
            assert_eq!(flow["goodput_mbps"], own["goodput_mbps"], "{what}: goodput of a subflow");
        }
        assert!(number(&run["ooo_ratio"]) > 0.0, "{what}: nothing was out of order");
    }
}
