//! The conformance suite of the engine, for algorithms written in Python.

use std::sync::Arc;

use anabranch_sim::run::unwound;
use anabranch_stack::controller::Controller;
use anabranch_stack::detector::Detector;
use anabranch_stack::judge::Judge;
use anabranch_stack::reduction::Reduction;
use anabranch_stack::registry::Choice;
use anabranch_stack::scheduler::Scheduler;
use anabranch_stack::testing;
use pyo3::prelude::*;

use super::description::{Description, PyFactory};
use super::raised;
use super::state::RunState;

/// Leads an algorithm through the random lives of `anabranch_stack::testing`.
///
/// Returns what does not hold, or None. Standard error gets the parameters and the number of the
/// life in which it does not hold.
///
/// # Errors
/// What the algorithm raises.
#[pyfunction]
pub fn conform(py: Python<'_>, algorithm: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    let run = Arc::<RunState>::default();
    let described = Description::read(algorithm)?;
    let factory = Arc::new(PyFactory::new(&described, algorithm, &run));
    let found = unwound(|| match described.kind.as_str() {
        "controller" => testing::controller(&Choice::<dyn Controller>::shared(factory)),
        "scheduler" => testing::scheduler(&Choice::<dyn Scheduler>::shared(factory)),
        "detector" => testing::detector(&Choice::<dyn Detector>::shared(factory)),
        "reduction" => testing::reduction(&Choice::<dyn Reduction>::shared(factory)),
        _ => testing::judge(&Choice::<dyn Judge>::shared(factory)),
    });
    match run.take_fault() {
        Some(fault) => Err(raised(py, fault)),
        None => Ok(found.err()),
    }
}
