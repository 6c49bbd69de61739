//! Scripts for Python.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;

use anabranch_packetdrill::judge;
use anabranch_packetdrill::names::Names;
use anabranch_packetdrill::report::{Mismatch, Note, Report, Status};
use anabranch_packetdrill::run::Refusal;
use anabranch_packetdrill::settings::Options;
use anabranch_sim::run::unwound;
use anabranch_sim::scenario::duration;
use anabranch_stack::config::PROFILES;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};

use crate::{RunError, ScenarioError};

/// Names of the profiles.
#[pyfunction]
pub fn profiles() -> Vec<&'static str> {
    PROFILES.iter().map(|(name, _)| *name).collect()
}

/// Reads and runs a script; returns what became of it as JSON. `evaluate` is called for each assertion, with its code and the values of
/// the names, and returns nothing if it holds, else ("false", assertion, values), ("unknown", name, "") or ("wrong", why, "").
#[pyfunction]
#[allow(clippy::too_many_arguments)]
#[pyo3(signature = (text, profile, over_mptcp, tolerance, defines, directory, evaluate))]
pub fn script(
    py: Python<'_>,
    text: &str,
    profile: &str,
    over_mptcp: bool,
    tolerance: Option<&str>,
    defines: BTreeMap<String, String>,
    directory: Option<PathBuf>,
    evaluate: Py<PyAny>,
) -> PyResult<String> {
    let Some((_, profile)) = PROFILES.iter().find(|(name, _)| *name == profile) else {
        return Err(PyValueError::new_err(format!(
            "profile: there is no profile {profile:?}; choices: {}",
            profiles().join(", ")
        )));
    };
    let tolerance = tolerance.map(duration).transpose();
    let tolerance = tolerance.map_err(|e| ScenarioError::new_err(format!("tolerance: {e}")))?;
    let options = Options { profile: *profile, over_mptcp, tolerance, defines, directory };
    let (outcome, raised) = py.detach(|| {
        let raised = RefCell::new(None);
        let mut ask = |code: &str, names: &Names| {
            Python::attach(|py| {
                asked(py, &evaluate, code, names).unwrap_or_else(|error| {
                    raised.replace(Some(error));
                    Err(Refusal::Wrong("the evaluation was stopped".to_owned()))
                })
            })
        };
        let outcome = unwound(|| judge(text, &options, &mut ask));
        (outcome, raised.into_inner())
    });
    if let Some(error) = raised {
        return Err(error);
    }
    let outcome = outcome.map_err(RunError::new_err)?;
    let mut value = report(&outcome.report);
    value["linux"] = outcome.linux.as_ref().map_or(Value::Null, report);
    Ok(value.to_string())
}

fn asked(py: Python<'_>, evaluate: &Py<PyAny>, code: &str, names: &Names) -> PyResult<Result<(), Refusal>> {
    let dict = PyDict::new(py);
    names.iter().try_for_each(|(name, value)| dict.set_item(name, value))?;
    let answer: Option<(String, String, String)> = evaluate.call1(py, (code, dict))?.extract(py)?;
    Ok(match answer {
        None => Ok(()),
        Some((kind, what, values)) => Err(match &*kind {
            "false" => Refusal::False(what, values),
            "unknown" => Refusal::Unknown(what),
            _ => Refusal::Wrong(what),
        }),
    })
}

fn note(note: &Note) -> Value {
    json!({ "line": note.line, "text": note.text })
}

fn mismatch(m: &Mismatch) -> Value {
    json!({
        "line": m.line,
        "text": m.text,
        "time": m.time,
        "expected": m.expected,
        "actual": m.actual,
        "state": m.state,
    })
}

fn report(report: &Report) -> Value {
    let Report { status, profile, mismatch: differs, why, unchecked, notes, inert, events } = report;
    let all = |notes: &[Note]| notes.iter().map(note).collect::<Vec<_>>();
    assert!(*status != Status::Failed || differs.is_some());
    json!({
        "status": status.name(),
        "profile": profile,
        "events": events,
        "mismatch": differs.as_ref().map(mismatch),
        "why": why.as_ref().map(note),
        "unchecked": all(unchecked),
        "notes": all(notes),
        "inert": all(inert),
    })
}
