//! Random scenarios held to invariants. `anabranch torture` runs as many as one likes.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use anabranch_sim::scenario::parse;
use anabranch_stack::config::Registries;
use anabranch_torture::campaign::{Plan, run};
use anabranch_torture::{Kind, draw, examine};

const PLAN: Plan = Plan {
    first: 0,
    runs: 1000,
    jobs: 2,
    time: None,
    first_finding: false,
    shrink: Duration::from_secs(5),
    held: None,
};

#[test]
fn a_thousand_random_scenarios_break_no_invariant() {
    let report = run(PLAN, Arc::default(), &mut |_, _| ControlFlow::Continue(()));
    for f in &report.failures {
        eprintln!("run {}: {}\nmade smaller, it says {}\n{}", f.number, f.finding, f.shrunk, f.document);
    }
    assert_eq!(report.failures.len(), 0);
    assert_eq!((report.runs, report.large, report.wide, report.repeated, report.next), (1000, 100, 200, 100, 1000));
    assert!(report.octets > 300_000_000, "a large run that delivers nothing is none: {}", report.octets);
    let table = report.table.to_json();
    assert!(table["features"]["paths = 8"].as_u64() > Some(3), "{}", table["features"]);
    assert!(table["pairs_met"].as_u64() > Some(30_000));
}

/// What the number of a run says about it is said before it runs, and what is stopped keeps what is done.
#[test]
fn a_campaign_that_is_stopped_says_where_to_go_on() {
    let report = run(Plan { runs: 1_000_000, ..PLAN }, Arc::default(), &mut |_, _| ControlFlow::Break(()));
    assert!(report.stopped && report.runs < 100_000 && report.next == report.runs, "{} runs", report.runs);
    assert_eq!(Kind::of(5), Kind::Large);
}

/// The checks see what is wrong: of a scenario in which a middlebox takes what it may, nothing is expected, and of one in which the
/// only path stays down, neither.
#[test]
fn what_cannot_be_expected_is_not() {
    for text in [
        "transfer = { bytes = '1 kB' }\npath = [{ changes = [{ at = '1 ms', state = 'down' }] }]",
        "transfer = { bytes = '100 kB' }\npath = [{ middleboxes = ['alter-length'] }]",
        "transfer = { bytes = '10 kB' }\npath = [{ loss = 0.9 }]",
    ] {
        examine(&parse(text, "t", &[], None).unwrap(), true, None).unwrap();
    }
    assert!(draw(1, &Registries::default()).is_ok());
}
