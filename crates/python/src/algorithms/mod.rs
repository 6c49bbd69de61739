//! Algorithms written in Python: how a class becomes a factory of the engine, and what it sees.
//!
//! A run that has such algorithms keeps Python's lock from its beginning to its end. A call that
//! raises ends the run at once: the error is kept in [`state::RunState`], and the stack is unwound
//! up to the binding, which raises the error.

mod adjust;
mod answer;
mod compiled;
mod conform;
mod controller;
mod decision;
mod description;
mod detector;
mod instance;
mod judge;
mod offer;
mod path;
pub mod record;
mod recorder;
mod reduction;
mod sample;
mod scheduler;
mod scoreboard;
pub mod state;
mod view;
mod window;

use std::sync::Arc;

use anabranch_sim::algorithms::registered;
use anabranch_sim::scenario::Scenario;
use anabranch_stack::config::Registries;
use anabranch_stack::controller::Controller;
use anabranch_stack::detector::Detector;
use anabranch_stack::judge::Judge;
use anabranch_stack::reduction::Reduction;
use anabranch_stack::registry::{Choice, Factory, Kind};
use anabranch_stack::scheduler::Scheduler;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;

use description::{Description, PyFactory};
use state::{Fault, RunState};

pyo3::create_exception!(
    anabranch,
    AlgorithmError,
    pyo3::exceptions::PyRuntimeError,
    "An algorithm written in Python failed. The message names the algorithm, the virtual time, the value and the remedy."
);

/// The algorithms that a scenario may name: all that the process has registered, and `given`.
pub fn registries(given: &[Bound<'_, PyAny>], run: &Arc<RunState>) -> PyResult<Arc<Registries>> {
    let mut known = registered();
    if given.is_empty() {
        return Ok(known);
    }
    let all = Arc::make_mut(&mut known);
    for object in given {
        let described = Description::read(object)?;
        let factory = PyFactory::new(&described, object, run);
        let added = match described.kind.as_str() {
            "controller" => all.add(Arc::new(factory) as Arc<dyn Factory<dyn Controller>>),
            "scheduler" => all.add(Arc::new(factory) as Arc<dyn Factory<dyn Scheduler>>),
            "detector" => all.add(Arc::new(factory) as Arc<dyn Factory<dyn Detector>>),
            "reduction" => all.add(Arc::new(factory) as Arc<dyn Factory<dyn Reduction>>),
            "judge" => all.add(Arc::new(factory) as Arc<dyn Factory<dyn Judge>>),
            kind => return Err(PyValueError::new_err(format!("there is no kind of algorithms \"{kind}\""))),
        };
        added.map_err(|e| AlgorithmError::new_err(e.to_string()))?;
    }
    Ok(known)
}

/// Whether all algorithms are machine code, which runs without Python's lock.
pub fn call_no_python(given: &[Bound<'_, PyAny>]) -> PyResult<bool> {
    for object in given {
        if !object.getattr("compiled")?.extract::<bool>()? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Gives each connection of `scenario` factories of its own for the algorithms `given` that it
/// names, so that what they record is known by its connection.
pub fn bind_to_connections(scenario: &mut Scenario, given: &[Bound<'_, PyAny>], run: &Arc<RunState>) -> PyResult<()> {
    for object in given {
        let described = Description::read(object)?;
        for (i, connection) in scenario.connections.iter_mut().enumerate() {
            let factory = PyFactory::new(&described, object, run).within(i);
            let config = &mut connection.config;
            match described.kind.as_str() {
                "controller" => replace(&mut config.controller, factory),
                "scheduler" => replace(&mut config.scheduler, factory),
                "detector" => replace(&mut config.detector, factory),
                "reduction" => replace(&mut config.reduction, factory),
                _ => replace(&mut config.judge, factory),
            }
        }
    }
    Ok(())
}

/// Puts `factory` in the place of a choice of the same name.
fn replace<T: ?Sized + Kind>(choice: &mut Choice<T>, factory: PyFactory)
where
    PyFactory: Factory<T>,
{
    if choice.name() != Factory::<T>::info(&factory).name {
        return;
    }
    let values: Vec<_> = choice.values().iter().map(|(p, value)| (p.name.to_string(), value)).collect();
    let given = values.into_iter().try_fold(Choice::new(factory), |choice, (name, value)| choice.with(&name, value));
    *choice = given.expect("the same parameters");
}

/// The exception that a run ends with: what an algorithm raised if it is no `Exception`, such as
/// `KeyboardInterrupt`, else an `AlgorithmError` with the algorithm and the virtual time.
pub fn raised(py: Python<'_>, fault: Fault) -> PyErr {
    let Fault { error, algorithm, at } = fault;
    if !error.is_instance_of::<PyException>(py) {
        let at = format!("in {algorithm}, at {} s of virtual time", at.as_secs_f64());
        return match error.value(py).call_method1("add_note", (at,)) {
            Ok(_) => error,
            Err(failed) => failed,
        };
    }
    let own = error.is_instance_of::<AlgorithmError>(py);
    let class = error.get_type(py);
    let kind = class.name().map_or_else(|_| "an error".to_owned(), |name| name.to_string());
    let verb = if own { String::new() } else { format!("raised {kind}: ") };
    let at = at.as_secs_f64();
    let told = AlgorithmError::new_err(format!("{algorithm}, at {at} s of virtual time: {verb}{}", error.value(py)));
    if let Err(failed) = told.value(py).setattr("time", at) {
        return failed;
    }
    if !own {
        told.set_cause(py, Some(error));
    }
    told
}

/// Adds the classes and functions of this module to `_core`.
pub fn add(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("AlgorithmError", m.py().get_type::<AlgorithmError>())?;
    m.add_class::<path::Path>()?;
    m.add_class::<offer::Offer>()?;
    m.add_class::<decision::Wait>()?;
    m.add_class::<decision::SendAll>()?;
    m.add_class::<decision::Resend>()?;
    m.add_class::<decision::Queue>()?;
    m.add_class::<decision::Move>()?;
    m.add_class::<decision::Penalise>()?;
    m.add_class::<sample::AckSample>()?;
    m.add_class::<sample::RateSample>()?;
    m.add_class::<sample::Arrivals>()?;
    m.add_class::<sample::Congestion>()?;
    m.add_class::<sample::Departure>()?;
    m.add_class::<sample::LostSegment>()?;
    m.add_class::<sample::Assignment>()?;
    m.add_class::<adjust::Adjust>()?;
    m.add_class::<recorder::Recorder>()?;
    m.add_class::<scoreboard::Scoreboard>()?;
    m.add_class::<scoreboard::Sent>()?;
    m.add_class::<scoreboard::Segments>()?;
    m.add_class::<detector::Outstanding>()?;
    m.add_class::<reduction::Entry>()?;
    m.add_class::<judge::Episode>()?;
    m.add_class::<judge::Reordered>()?;
    m.add_function(wrap_pyfunction!(compiled::columns, m)?)?;
    m.add_function(wrap_pyfunction!(conform::conform, m)?)?;
    window::add(m)
}
