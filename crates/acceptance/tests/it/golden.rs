//! Golden traces: scenarios of every kind, the hash of each trace, and beside it bounds that come from arithmetic (`tests/data/golden.toml`).
//! The same hashes hold for every profile of the compiler, every number of threads, and every machine: the Python tests compare
//! them in a release build, `make check-long` in a debug build and, where it can, on aarch64.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use anabranch_stack::registry::{Choice, Kind};

use crate::support::{finish, number, on_two_threads, scenario};

pub struct Golden {
    pub name: String,
    pub text: String,
    goodput: (f64, f64),
    sha256: String,
}

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden.toml")
}

pub fn goldens() -> Vec<Golden> {
    let text = fs::read_to_string(file()).expect("the goldens are there");
    let document: toml::Table = text.parse().expect("they are TOML");
    let of = |row: &toml::Value| {
        let word = |key: &str| row[key].as_str().expect("a string").to_string();
        let bound = |i: usize| row["goodput"][i].as_float().expect("a number");
        Golden { name: word("name"), text: word("scenario"), goodput: (bound(0), bound(1)), sha256: word("sha256") }
    };
    document["golden"].as_array().expect("a list").iter().map(of).collect()
}

/// On one thread, and on two at once; goodput within its bounds.
#[test]
fn traces_are_what_they_were_on_any_number_of_threads() {
    let goldens = goldens();
    assert!(goldens.len() >= 30);
    let run = |g: &Golden| {
        let summary = finish(&scenario(&g.text)).summary;
        let hash = summary["trace_sha256"].as_str().expect("a hash").to_string();
        (hash, number(&summary["goodput_mbps"]), summary["status"].clone())
    };
    let alone: Vec<_> = goldens.iter().map(run).collect();
    if std::env::var("ANABRANCH_GOLDEN").is_ok_and(|v| v == "write") {
        let mut text = fs::read_to_string(file()).expect("they were read");
        goldens.iter().zip(&alone).for_each(|(g, (hash, ..))| {
            let (before, after) = text.split_once(&format!("name = \"{}\"\n", g.name)).expect("its name");
            let after = after.replacen(&g.sha256, hash, 1);
            text = format!("{before}name = \"{}\"\n{after}", g.name);
        });
        fs::write(file(), text).expect("they can be written");
        return;
    }
    let both = on_two_threads(&goldens, run);
    let mut wrong = Vec::new();
    for ((g, alone), both) in goldens.iter().zip(&alone).zip(&both) {
        println!("{:32} {:8.3} in {:8.3?} {}", g.name, alone.1, g.goodput, alone.2);
        assert_eq!(alone, both, "{}: another thread, another trace", g.name);
        if alone.0 != g.sha256 {
            wrong.push(format!("{}: the trace is another one: {}", g.name, alone.0));
        }
        if !(g.goodput.0..=g.goodput.1).contains(&alone.1) {
            wrong.push(format!("{}: {} Mbit/s is not within {:?}", g.name, alone.1, g.goodput));
        }
        if alone.2 != "completed" {
            wrong.push(format!("{}: {}", g.name, alone.2));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every controller, detector, reduction, judge and scheduler is in one of them at least.
#[test]
fn every_algorithm_has_a_golden_trace() {
    fn named<T: ?Sized + Kind>(key: &str, used: &mut BTreeSet<String>) -> Vec<String> {
        let all: Vec<String> = Choice::<T>::all().iter().map(|c| c.info().name.to_string()).collect();
        let missing = all.into_iter().filter(|name| !used.contains(&format!("{key} {name}"))).collect::<Vec<_>>();
        missing.iter().map(|name| format!("{key} {name}")).collect()
    }
    let mut used = BTreeSet::new();
    for g in goldens() {
        let resolved =
            anabranch_sim::scenario::Source::new(&g.text).named("golden.toml").resolved_toml().unwrap_or_default();
        let document: toml::Table = resolved.parse().unwrap_or_default();
        let Some(connection) = document.get("connection") else { continue };
        for key in ["controller", "detector", "reduction", "judge", "scheduler"] {
            let value = connection.get(key);
            let name = value.and_then(|v| v.as_str().or_else(|| v.get("name")?.as_str()));
            used.extend(name.map(|name| format!("{key} {name}")));
        }
    }
    let missing = [
        named::<dyn anabranch_stack::controller::Controller>("controller", &mut used),
        named::<dyn anabranch_stack::detector::Detector>("detector", &mut used),
        named::<dyn anabranch_stack::reduction::Reduction>("reduction", &mut used),
        named::<dyn anabranch_stack::judge::Judge>("judge", &mut used),
        named::<dyn anabranch_stack::scheduler::Scheduler>("scheduler", &mut used),
    ];
    assert_eq!(missing.concat(), Vec::<String>::new());
}
