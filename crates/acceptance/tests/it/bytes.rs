//! Typed segments and bytes say the same: with `bytes = true` every segment goes through emit and parse on its way into a host,
//! and the trace is that of the run without.

use anabranch_sim::scenario::Scenario;
use anabranch_stack::judge::Judge;
use anabranch_stack::registry::{Choice, Need};

use crate::determinism::all_examples;
use crate::support::{example, finish, on_two_threads, with};

/// Two unlike paths on which everything happens: loss, duplicates, damage, overtaking.
const ROUGH: &str = "
    seed = 5
    transfer = { bytes = '1500 kB' }
    [[path]]
    rate = '20 Mbit/s'
    delay = '15 ms'
    delay_variation = '50 %'
    overtaking = true
    loss = '1 %'
    duplication = '1 %'
    corruption = '1 %'
    [[path]]
    rate = '5 Mbit/s'
    delay = '40 ms'
    loss = '0.5 %'
    queue = '10 packets'";

fn hash(scenario: &Scenario) -> String {
    finish(scenario).summary["trace_sha256"].as_str().expect("a hash").to_owned()
}

/// The run of `text` has the same hash with and without bytes.
fn compare(text: &str, overrides: &[&str]) {
    let plain = with(text, overrides);
    let mut through = plain.clone();
    through.bytes = true;
    assert_eq!(hash(&through), hash(&plain), "{overrides:?}\n{text}");
}

#[test]
fn bytes_change_nothing_whatever_is_negotiated() {
    let mut cases: Vec<Vec<&str>> = vec![
        vec![],
        vec!["connection.sack=false"],
        vec!["connection.timestamps=false"],
        vec!["connection.sack=false", "connection.timestamps=false"],
        vec!["connection.checksum=true"],
        vec!["connection.checksum=true", "transfer.direction=down"],
        vec!["connection.checksum=true", "connection.timestamps=false", "connection.mss=1"],
        vec!["connection.ecn=true", "path.0.ecn_threshold=5 packets", "path.1.ecn_threshold=2 packets"],
        vec!["connection.acknowledgement=coupled"],
        vec!["connection.receive_buffer=20 kB", "transfer.read_rate=8 Mbit/s"],
        vec!["connection.protocol=tcp"],
        vec!["connection.protocol=tcp", "connection.timestamps=false"],
        vec!["transfer.direction=down", "connection.delayed_ack=off"],
        vec!["connection.mss=8960"],
        vec!["path.1.changes=[{ at = '500 ms', state = 'down' }, { at = '2 s', state = 'up' }]"],
    ];
    for case in &mut cases {
        if case.contains(&"connection.mss=1") {
            case.push("transfer.bytes=3 kB");
        }
    }
    on_two_threads(&cases, |case| compare(ROUGH, case));
}

#[test]
fn bytes_change_nothing_whichever_judge_runs() {
    let mut cases = Vec::new();
    for entry in Choice::<dyn Judge>::all() {
        for options in ["connection.timestamps=true", "connection.timestamps=false", "connection.checksum=true"] {
            // A judge that needs timestamps is refused without them.
            let refused = options.ends_with("=false") && entry.info().needs.contains(&Need::Timestamps);
            if !refused {
                cases.push(vec![format!("connection.judge={}", entry.name()), options.to_owned()]);
            }
        }
    }
    on_two_threads(&cases, |case| compare(ROUGH, &case.iter().map(String::as_str).collect::<Vec<_>>()));
}

#[test]
fn bytes_change_nothing_in_the_examples() {
    let names: Vec<String> = all_examples().into_iter().filter(|n| n != "papers-pair").collect();
    on_two_threads(&names, |name| compare(&example(name), &["duration=4 s"]));
}

/// The packets of the 2011 model are sizes, not octets.
#[test]
fn the_model_of_2011_has_no_bytes() {
    let text = "stack = 'legacy-2011'\nbytes = true\ntransfer = { duration = '1 s' }\npath = [{}]";
    let error = anabranch_sim::scenario::parse(text, "t", &[], None).expect_err("refused");
    assert!(error.to_string().contains("bytes: the packets of the 2011 model have no bytes"), "{error}");
}
