//! The same scenario, seed and version give the same trace; what has nothing to do with a component changes none of its
//! draws.

use anabranch_sim::Run;
use anabranch_sim::scenario::{Source, template};
use serde_json::Value;

use crate::support::{S, example, examples_directory, finish, on_two_threads, scenario, traced, with};
use crate::trace::{Event, Row};

/// Names of all examples.
pub fn all_examples() -> Vec<String> {
    let entries = std::fs::read_dir(examples_directory()).expect("the examples are there");
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    let toml = paths.filter(|p| p.extension().is_some_and(|e| e == "toml"));
    let mut names: Vec<String> = toml.map(|p| p.file_stem().expect("a name").to_string_lossy().into_owned()).collect();
    names.sort();
    assert!(names.len() >= 11, "{names:?}");
    names
}

/// The summary without the time the engine took.
fn timeless(run: Run) -> Value {
    let mut summary = run.summary;
    assert!(summary.as_object_mut().expect("an object").remove("wall_s").is_some());
    summary
}

#[test]
fn every_example_gives_the_same_trace_and_summary_each_time() {
    for name in all_examples() {
        let scenario = scenario(&example(&name));
        let (first, second) = (timeless(finish(&scenario)), timeless(finish(&scenario)));
        assert_eq!(first, second, "{name}");
        let hash = first["trace_sha256"].as_str().expect("a hash");
        assert!(hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_hexdigit()), "{name}: {hash}");
    }
}

#[test]
fn two_threads_at_once_give_the_trace_of_one() {
    let scenarios: Vec<_> = all_examples().iter().map(|name| scenario(&example(name))).collect();
    let alone: Vec<Value> = scenarios.iter().map(|s| timeless(finish(s))).collect();
    let twice: Vec<_> = scenarios.iter().flat_map(|s| [s, s]).collect();
    for (i, summary) in on_two_threads(&twice, |s| timeless(finish(s))).into_iter().enumerate() {
        assert_eq!(summary, alone[i / 2]);
    }
}

/// Watching changes nothing; nor does writing the scenario out and reading it again.
#[test]
fn traces_and_resolved_scenarios_do_not_change_a_run() {
    for name in ["lossy-wireless", "cross-traffic", "path-failure"] {
        let text = example(name);
        let scenario = with(&text, &["seed=7"]);
        let quiet = timeless(finish(&scenario));
        let (watched, rows) = traced(&scenario);
        assert!(rows.len() > 10_000);
        assert_eq!(timeless(watched), quiet);
        let overrides = [("seed".to_string(), "7".to_string())];
        let resolved =
            Source::new(&text).named("test.toml").overrides(&overrides).resolved_toml().expect("it was valid before");
        assert_eq!(timeless(finish(&with(&resolved, &[]))), quiet);
    }
}

/// Loss, delays and starts follow the seed.
#[test]
fn seeds_change_what_is_left_to_chance() {
    for name in ["lossy-wireless", "reordering", "shared-bottleneck"] {
        let text = example(name);
        let goodput = |seed: &str| timeless(finish(&with(&text, &[seed, "duration=20 s"])))["goodput_mbps"].clone();
        let all: Vec<Value> = ["seed=1", "seed=2", "seed=3"].map(goodput).to_vec();
        assert!(all[0] != all[1] && all[1] != all[2] && all[0] != all[2], "{name}: {all:?}");
    }
}

/// Where nothing is, only keys and first sequence numbers differ: the trace does, the measures do not.
#[test]
fn seeds_do_not_change_what_is_not() {
    for name in ["unlike-paths", "path-failure", "request-response"] {
        let text = example(name);
        let [first, second] = ["seed=1", "seed=2"].map(|seed| timeless(finish(&with(&text, &[seed]))));
        assert_ne!(first["trace_sha256"], second["trace_sha256"], "{name}");
        let without = |mut s: Value| {
            s.as_object_mut().expect("an object").retain(|key, _| !["trace_sha256", "seed"].contains(&key.as_str()));
            s
        };
        assert_eq!(without(first), without(second), "{name}");
    }
}

/// The events hash leaves out keys and sequence numbers only: it differs as soon as chance changes one event, though
/// every measure is the same.
#[test]
fn the_events_hash_tells_whether_chance_changed_anything() {
    let hash = |text: &str, seed: u32| finish(&with(text, &[&format!("seed={seed}")])).events_hash;
    let legacy = "stack = 'legacy-2011'\ntransfer = { bytes = '300 kB' }\n[[path]]\n[[path]]\ndelay = '100 ms'";
    for text in [example("unlike-paths"), example("path-failure"), example("request-response"), legacy.to_owned()] {
        let hashes = [1, 2, 3].map(|seed| hash(&text, seed));
        assert!(hashes[0].len() == 16 && hashes[0] == hashes[1] && hashes[1] == hashes[2], "{hashes:?}");
    }
    // One loss in a stream that has room to spare: where it strikes does not show in what a sweep compares.
    let spare = "transfer = { rate = '1 Mbit/s', on = '1 s', off = '0 s', duration = '5 s' }\n[[path]]\nloss = '0.3 %'";
    let runs: Vec<Run> = (1..=20).map(|seed| finish(&with(spare, &[&format!("seed={seed}")]))).collect();
    let mut hashes: Vec<String> = runs.iter().map(|run| run.events_hash.clone()).collect();
    hashes.sort();
    hashes.dedup();
    assert_eq!(hashes.len(), 20);
    let measured = |run: Run| {
        let summary = timeless(run);
        ["goodput_mbps", "last_byte_s", "events", "segments", "hol_delay_ms"].map(|key| summary[key].to_string())
    };
    let mut measures: Vec<[String; 5]> = runs.into_iter().map(measured).collect();
    measures.sort();
    measures.dedup();
    assert!(measures.len() < 20);
}

/// A nanosecond changes the trace.
#[test]
fn any_change_of_the_run_changes_the_hash() {
    let text = "transfer = { bytes = '100 kB' }\n[[path]]";
    let hash = |overrides: &[&str]| finish(&with(text, overrides)).summary["trace_sha256"].clone();
    let base = hash(&[]);
    for change in ["path.0.delay=10000001 ns", "path.0.rate=10001 kbit/s", "transfer.bytes=100001 B", "seed=2"] {
        assert_ne!(base, hash(&[change]), "{change}");
    }
    // What never acts leaves it alone.
    for same in ["duration=2 h", "title=another", "path.0.queue=1000 packets", "path.0.name=other"] {
        assert_eq!(base, hash(&[same]), "{same}");
    }
}

const NOISY: &str = "
    [[path]]
    name = 'noisy'
    loss = '3 %'
    delay_variation = '30 %'
    duplication = '1 %'
    corruption = '1 %'
    overtaking = true
    [[path]]
    name = 'bursty'
    loss = { good_to_bad = '2 %', bad_to_good = '30 %' }
    delay_variation = '30 %'
    delay_redraw = '50 ms'";
const NOISY_CONNECTION: &str = "
    [[connection]]
    name = 'observed'
    paths = ['noisy', 'bursty']
    transfer = { bytes = '500 kB', start_spread = '1 s' }";
const OTHER_PATH: &str = "
    [[path]]
    name = 'other'
    loss = '5 %'
    delay_variation = '50 %'";
const OTHER_CONNECTION: &str = "
    [[connection]]
    name = 'another'
    paths = ['other']
    transfer = { bytes = '2 MB', start_spread = '1 s' }";

/// The rows of the connection with this index, without the index.
fn rows_of(text: &str, connection: u32) -> Vec<Row> {
    let (_, rows) = traced(&scenario(text));
    let mut rows: Vec<Row> = rows.into_iter().filter(|r| r.connection == connection).collect();
    rows.iter_mut().for_each(|r| r.connection = 0);
    rows
}

/// One seed, derived for each component by its name: a further link and connection, written before or after, on links
/// of their own, leave every event of the first connection where it was, start, keys, losses and delays.
#[test]
fn an_unrelated_connection_changes_no_draws_of_another() {
    let alone = rows_of(&[NOISY, NOISY_CONNECTION].concat(), 0);
    assert!(alone.len() > 500 && alone[0].at > 0);
    assert!(alone.iter().any(|r| r.is(Event::Drop) && r.why() == "Loss"));
    let after = rows_of(&[NOISY, OTHER_PATH, NOISY_CONNECTION, OTHER_CONNECTION].concat(), 0);
    // Which interface has which address follows the order of the links, and ADD_ADDR names addresses.
    same_begin(&alone, &after);
    let before = rows_of(&[OTHER_PATH, NOISY, OTHER_CONNECTION, NOISY_CONNECTION].concat(), 1);
    let nameless = |rows: &[Row]| -> Vec<Row> {
        let mut rows = rows.to_vec();
        rows.iter_mut().filter(|r| r.more.contains("AddAddr")).for_each(|r| r.more.clear());
        rows
    };
    same_begin(&nameless(&alone), &nameless(&before));
}

/// `alone` is how `longer` begins: alone, a connection's run ends with its transfer, else its last segments follow, and nothing more is
/// read.
#[track_caller]
fn same_begin(alone: &[Row], longer: &[Row]) {
    if let Some(difference) = alone.iter().zip(longer).find(|(a, b)| a != b) {
        panic!("the first difference: {difference:?}");
    }
    assert!(longer.len() >= alone.len(), "{} {}", alone.len(), longer.len());
    let read = longer[alone.len()..].iter().find(|r| r.is(Event::Deliver));
    assert!(read.is_none(), "{read:?} after {} rows", alone.len());
}

/// Another name is another stream.
#[test]
fn a_renamed_link_draws_other_numbers() {
    let here = rows_of(&[NOISY, NOISY_CONNECTION].concat(), 0);
    let there = rows_of(&[NOISY, NOISY_CONNECTION].concat().replace("'noisy'", "'renamed'"), 0);
    assert_ne!(here, there);
}

/// More of one kind of chance does not shift another: with damage and duplicates switched on the same datagrams are
/// lost.
#[test]
fn kinds_of_chance_do_not_shift_each_other() {
    let lost = |more: &str| -> Vec<u64> {
        let text = format!(
            "connection = {{ protocol = 'udp' }}
             transfer = {{ rate = '1 Mbit/s', duration = '100 s' }}
             path = [{{ loss = '2 %', {more} }}]"
        );
        let rows = rows_of(&text, 0);
        rows.iter().filter(|r| r.is(Event::Drop) && r.why() == "Loss").map(|r| r.offset).collect()
    };
    let plain = lost("");
    assert!(plain.len() > 100);
    assert_eq!(plain, lost("duplication = '10 %', corruption = '5 %', delay_variation = '20 %', overtaking = true"));
}

/// The template of `anabranch new` is a scenario, and runs.
#[test]
fn the_template_runs() {
    let s = finish(&scenario(&template())).summary;
    assert_eq!((&s["status"], &s["content_ok"]), (&"completed".into(), &true.into()));
    assert!(s["completion_s"].as_f64().is_some_and(|t| (t * 1e9) as u64 > S));
}
