//! One run from a scenario to its results.

use std::ops::ControlFlow;
use std::time::Instant;

use serde_json::Value;

use crate::metrics::series::Series;
use crate::metrics::summary::summary;
use crate::scenario::Scenario;
use crate::sim::trace::Sink;
use crate::sim::world::{End, Progress, World};

/// What a run gives.
#[derive(Debug)]
pub struct Run {
    /// The summary object (`docs/columns.md`).
    pub summary: Value,
    /// Time series of the sending subflows.
    pub series: Series,
    /// The caller stopped it.
    pub stopped: bool,
    /// The trace could not be written.
    pub trace_error: Option<std::io::Error>,
}

/// Runs `scenario`; protocol events go to `sink` as text, `poll` is asked every few thousand events whether to go on.
pub fn run(scenario: &Scenario, sink: Option<Sink>, poll: &mut dyn FnMut(&Progress) -> ControlFlow<()>) -> Run {
    // The wall clock measures, it decides nothing.
    let started = Instant::now();
    let mut outcome = World::new(scenario, sink).run(poll);
    let wall_s = started.elapsed().as_secs_f64();
    Run {
        summary: summary(scenario, &outcome, wall_s),
        stopped: outcome.end == End::Stopped,
        trace_error: outcome.trace_error.take(),
        series: outcome.series,
    }
}
