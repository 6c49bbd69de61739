//! `torture`: random scenarios held to invariants.

use std::ops::ControlFlow;
use std::time::Duration;

use anabranch_sim::algorithms::registered;
use anabranch_sim::scenario;
use anabranch_torture::campaign::{Failure, Plan, Report, run};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::{ScenarioError, memory};

/// Runs the scenarios of `runs` numbers from `first` on, in `jobs` threads, beginning none after `seconds`. `poll` is called with
/// the runs done and the failures so far; if it raises, what is done is kept. Returns a report as JSON.
#[pyfunction(name = "torture")]
#[pyo3(signature = (first, runs, jobs, seconds=None, first_failure=false, shrink=20.0, poll=None))]
#[allow(clippy::too_many_arguments)] // a call from Python, by name there
pub fn campaign(
    py: Python<'_>,
    first: u64,
    runs: u64,
    jobs: usize,
    seconds: Option<f64>,
    first_failure: bool,
    shrink: f64,
    poll: Option<Py<PyAny>>,
) -> PyResult<String> {
    let duration = |s| Duration::try_from_secs_f64(s).map_err(|e| PyValueError::new_err(format!("{e}; give seconds")));
    let plan = Plan {
        first,
        runs,
        jobs,
        time: seconds.map(duration).transpose()?,
        first_finding: first_failure,
        shrink: duration(shrink)?,
        held: Some(memory::held),
    };
    let mut raised = None;
    let mut on_poll = |runs: u64, failures: usize| {
        let told = Python::attach(|py| {
            py.check_signals()?;
            poll.as_ref().map_or(Ok(()), |poll| poll.call1(py, (runs, failures)).map(|_| ()))
        });
        match told {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                raised = Some(error);
                ControlFlow::Break(())
            }
        }
    };
    let report = py.detach(|| run(plan, registered(), &mut on_poll));
    if let Some(error) = raised.filter(|e| !e.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py)) {
        return Err(error);
    }
    Ok(written(&report).to_string())
}

/// Holds one scenario to the invariants, repeated in other ways as well; returns what it broke and how, if it did.
#[pyfunction]
pub fn examine(py: Python<'_>, text: &str, name: &str) -> PyResult<Option<(&'static str, String)>> {
    let scenario = scenario::parse(text, name, &[], None).map_err(|e| ScenarioError::new_err(e.to_string()))?;
    let found = py.detach(|| anabranch_torture::examine(&scenario, true, Some(memory::held)));
    Ok(found.err().map(|finding| (finding.invariant, finding.what)))
}

fn written(report: &Report) -> Value {
    json!({
        "runs": report.runs,
        "next": report.next,
        "large": report.large,
        "wide": report.wide,
        "repeated": report.repeated,
        "events": report.events,
        "bytes": report.octets,
        "seconds": report.seconds,
        "stopped": report.stopped,
        "failures": report.failures.iter().map(failure).collect::<Vec<_>>(),
        "table": report.table.to_json(),
    })
}

fn failure(f: &Failure) -> Value {
    json!({
        "number": f.number,
        "invariant": f.finding.invariant,
        "what": f.finding.what,
        "scenario": f.document.to_string(),
        "says": f.shrunk.what,
        "again": f.again,
    })
}
