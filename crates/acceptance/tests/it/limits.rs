//! What a run may take of the machine: wall-clock time, memory, and what becomes of a fault in the engine.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use anabranch_sim::run::{Exceeded, Limits, Runner, unwound};
use anabranch_sim::scenario::{self, Scenario, Source};
use anabranch_sim::sim::world::Progress;

/// Hours of virtual time: minutes of wall-clock time, if nothing ends it.
const LONG: &str = "
duration = '100 h'
transfer = { bytes = '1 TB' }
path = [{ rate = '100 Mbit/s', delay = '10 ms' }]
";

fn long() -> Scenario {
    scenario::parse(LONG, "long.toml", &[], None).expect("the scenario is valid")
}

// 0 ms: begins; 100 ms: its time is over; soon after: the event loop looks at the clock.
#[test]
fn a_run_ends_soon_after_its_timeout_and_says_so() {
    let timeout = Duration::from_millis(100);
    let limits = Limits { timeout: Some(timeout), ..Limits::default() };
    let began = Instant::now();
    let run = Runner::new(&long()).limits(limits).run();
    let took = began.elapsed();
    assert_eq!(run.exceeded, Some(Exceeded::Timeout(timeout)));
    assert!(run.stopped);
    assert!(took >= timeout && took < 20 * timeout, "{took:?}");
    let said = run.exceeded.expect("it was exceeded").to_string();
    assert_eq!(said, "timeout: not done after 100ms of wall-clock time; allow more, or simulate less");
}

thread_local! {
    static HELD: Cell<u64> = const { Cell::new(0) };
}

/// 5,000 connections over 100 paths each: seconds to read.
const LARGE: &str = "
transfer = { bytes = '1 MB' }
topology = { kind = 'dumbbell', hosts = 10, bottlenecks = 255 }
traffic = { pattern = 'permutation', connections = 5000, subflows = 100 }
";

// 0 ms: reading begins; 20 ms: its time is over; at the next connection: that is noticed.
#[test]
fn reading_ends_with_the_time_of_the_run() {
    let timeout = Duration::from_millis(20);
    let budget = Limits { timeout: Some(timeout), ..Limits::default() }.begin();
    let began = Instant::now();
    let ask = || if budget.passed().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let error = Source::new(LARGE).ask(&ask).read().expect_err("its time is over");
    assert!(error.is_stopped());
    assert_eq!(budget.passed(), Some(Exceeded::Timeout(timeout)));
    assert!(began.elapsed() < 25 * timeout, "{:?}", began.elapsed());
    assert!(!Source::new("").read().expect_err("it is empty").is_stopped());
}

// Reading asks at each of 10 connections as they are written out, again as they are read, and at each of 275 links; building
// at each link and connection once more.
#[test]
fn reading_and_building_ask_at_every_link_and_connection() {
    let text = LARGE.replace("connections = 5000, subflows = 100", "subflows = 1");
    let asked = Cell::new(0);
    let ask = || {
        asked.set(asked.get() + 1);
        ControlFlow::Continue(())
    };
    let scenario = Source::new(&text).ask(&ask).read().expect("it is valid");
    assert_eq!((scenario.links.len(), scenario.connections.len()), (275, 10));
    assert!(asked.get() >= 275 + 2 * 10, "asked {} times", asked.get());
    let mut polls = 0;
    let run = Runner::new(&scenario)
        .poll(&mut |progress| {
            polls += u64::from(progress.now == 0);
            if polls == 280 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .run();
    assert!(run.stopped && run.summary.is_null(), "it was stopped while its network was built");
}

#[test]
fn many_stations_on_one_channel_are_asked_about_as_they_are_built() {
    let stations = "[[path]]\nwifi = { channel = 'one', distance = '5 m' }\n".repeat(250);
    let scenario = scenario::parse(&format!("transfer = {{ bytes = '1 kB' }}\n{stations}"), "many.toml", &[], None);
    let mut polls = 0;
    let run = Runner::new(&scenario.expect("it is valid"))
        .poll(&mut |_| {
            polls += 1;
            if polls == 1000 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .run();
    assert!(run.stopped && run.summary.is_null(), "it was stopped while its channel was built");
}

// Each look finds 1 MB more than the one before; 5 MB were held before the run, which are not its own.
#[test]
fn a_run_ends_when_it_holds_more_than_its_limit() {
    fn held() -> u64 {
        HELD.set(HELD.get() + 1_000_000);
        HELD.get()
    }
    HELD.set(5_000_000);
    let limits = Limits { memory: Some(3_000_000), held: Some(held), ..Limits::default() };
    let mut polls = 0;
    let run = Runner::new(&long())
        .limits(limits)
        .poll(&mut |_| {
            polls += 1;
            ControlFlow::Continue(())
        })
        .run();
    assert_eq!(run.exceeded, Some(Exceeded::Memory { limit: 3_000_000, held: 4_000_000 }));
    assert_eq!(polls, 3);
    let said = run.exceeded.expect("it was exceeded").to_string();
    assert!(said.starts_with("memory: the engine held 4.0 MB, its limit is 3.0 MB;"), "{said}");
}

#[test]
fn limits_that_are_not_reached_change_nothing() {
    let text = LONG.replace("1 TB", "5 MB");
    let scenario = scenario::parse(&text, "short.toml", &[], None).expect("the scenario is valid");
    let hash = |limits: &Limits| {
        let run = Runner::new(&scenario).limits(*limits).run();
        assert_eq!(run.exceeded, None);
        run.summary["trace_sha256"].clone()
    };
    let timeout = Some(Duration::from_secs(600));
    let limits =
        Limits { timeout, memory: Some(u64::MAX), held: Some(|| 0), no_series: false, causes: false, machine: None };
    assert_eq!(hash(&limits), hash(&Limits::default()));
}

#[test]
fn without_series_a_run_has_the_same_summary() {
    let text = LONG.replace("1 TB", "5 MB");
    let scenario = scenario::parse(&text, "short.toml", &[], None).expect("the scenario is valid");
    let run = |no_series| {
        let limits = Limits { no_series, ..Limits::default() };
        let mut run = Runner::new(&scenario).limits(limits).run();
        run.summary["wall_s"] = serde_json::Value::Null;
        (run.summary, run.series.samples().len())
    };
    let ((with, samples), (without, none)) = (run(false), run(true));
    assert!(samples > 100 && none == 0, "{samples} and {none} samples");
    assert_eq!(with, without);
}

#[test]
fn a_panic_in_a_run_is_unwound_with_its_place_and_the_next_run_is_sound() {
    let line = line!() + 1;
    let mut poll = |_: &Progress| panic!("window of {} octets", 7);
    let said = unwound(|| Runner::new(&long()).poll(&mut poll).run()).expect_err("it panicked");
    assert!(said.starts_with(&format!("panic at crates/acceptance/tests/it/limits.rs:{line}:")), "{said}");
    assert!(said.ends_with(": window of 7 octets"), "{said}");
    assert_eq!(unwound(|| 3), Ok(3));
}

#[test]
fn a_panic_within_a_panic_free_part_of_another_keeps_its_own_words() {
    let said = unwound(|| {
        let inner = unwound(|| panic!("inner"));
        assert!(inner.is_err_and(|said: String| said.ends_with(": inner")));
        panic!("outer");
    });
    assert!(said.is_err_and(|said: String| said.ends_with(": outer")));
}
