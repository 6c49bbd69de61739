//! Running scenarios that tests write down.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use anabranch_sim::scenario::{self, Scenario};
use anabranch_sim::{Run, run};
use serde_json::Value;

use crate::trace::{Row, rows};

/// Nanoseconds in a millisecond.
pub const MS: u64 = 1_000_000;
/// Nanoseconds in a second.
pub const S: u64 = 1_000_000_000;

/// The scenario of `text`.
pub fn scenario(text: &str) -> Scenario {
    with(text, &[])
}

/// The scenario of `text` with overrides written as `KEY=VALUE`.
pub fn with(text: &str, overrides: &[&str]) -> Scenario {
    let pair = |o: &&str| o.split_once('=').map(|(k, v)| (k.to_string(), v.to_string())).expect("KEY=VALUE");
    let overrides: Vec<_> = overrides.iter().map(pair).collect();
    // Files a scenario names are beside the examples.
    let name = examples_directory().join("test.toml").display().to_string();
    scenario::parse(text, &name, &overrides, None).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The text of a file of `examples/`.
pub fn example(name: &str) -> String {
    let file = examples_directory().join(name).with_extension("toml");
    std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Where the examples are.
pub fn examples_directory() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// Runs to the end without a trace.
pub fn finish(scenario: &Scenario) -> Run {
    run(scenario, None, &mut |_| ControlFlow::Continue(()))
}

/// The summary of a run of `text`.
pub fn summary(text: &str, overrides: &[&str]) -> Value {
    finish(&with(text, overrides)).summary
}

/// Runs to the end and reads the trace.
pub fn traced(scenario: &Scenario) -> (Run, Vec<Row>) {
    let shared = Shared::default();
    let run = run(scenario, Some(Box::new(shared.clone())), &mut |_| ControlFlow::Continue(()));
    assert!(run.trace_error.is_none());
    let text = std::mem::take(&mut *shared.0.lock().expect("nobody panicked while writing"));
    (run, rows(std::str::from_utf8(&text).expect("the trace is text")))
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("nobody panicked while writing").extend_from_slice(octets);
        Ok(octets.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// `work` on each item, by two threads; results in the order of the items.
pub fn on_two_threads<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let half = |from: usize| items.iter().skip(from).step_by(2).map(&work).collect::<Vec<R>>();
    let (even, odd) = std::thread::scope(|s| {
        let odd = s.spawn(|| half(1));
        (half(0), odd.join().expect("the second thread finished"))
    });
    let mut odd = odd.into_iter();
    even.into_iter().flat_map(|r| [Some(r), odd.next()]).flatten().collect()
}

/// A number of the summary.
pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// A count of the summary.
pub fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no count"))
}

/// Asserts that `value` is within `by` of `wanted`.
#[track_caller]
pub fn close(value: f64, wanted: f64, by: f64) {
    assert!((value - wanted).abs() <= by, "{value} is not within {by} of {wanted}");
}

/// Nanoseconds to transmit `octets` at `rate` bit/s, rounded up.
pub fn serialisation(octets: u64, rate: u64) -> u64 {
    (octets * 8 * 1_000_000_000).div_ceil(rate)
}
