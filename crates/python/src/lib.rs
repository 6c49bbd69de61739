//! `anabranch._core`: the laboratory for Python. Text and arrays in, text and arrays out; the interface is described in
//! `python/anabranch/_core.pyi`.

mod algorithms;
mod array;
mod capture;
mod memory;
mod script;
mod tables;
mod torture;

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::BufWriter;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use algorithms::record::Owner;
use algorithms::state::RunState;
use anabranch_measures::items::Items;
use anabranch_measures::measures as table;
use anabranch_measures::series::{Sample, Series};
use anabranch_sim::run::{Budget, Limits, Runner, unwound};
use anabranch_sim::scenario::{self, Scenario, Source};
use anabranch_sim::sim::link::offer;
use anabranch_sim::sim::tap::Taps;
use anabranch_sim::sim::trace::Sink;
use anabranch_sim::sim::world::Progress;
use anabranch_stack::config::Registries;
use anabranch_torture::without_shortcuts;
use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};

use self::array::array;

create_exception!(
    anabranch,
    ScenarioError,
    PyValueError,
    "A scenario is not valid. The message says where, and how to correct it."
);

create_exception!(
    anabranch,
    RunError,
    PyRuntimeError,
    "A run was stopped: it exceeded its time or memory, or the engine has a fault. The message begins with the reason."
);

/// How often signals are looked at and progress is reported.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Reads a scenario without the GIL; signals are looked at meanwhile, and `budget`.
fn read(
    py: Python<'_>,
    text: &str,
    name: &str,
    overrides: &[(String, String)],
    seed: Option<u64>,
    known: &Registries,
    budget: &Budget,
) -> PyResult<Scenario> {
    let (read, why) = py.detach(|| {
        // Told here: when reading has ended what it held is given back.
        let (why, last) = (RefCell::new(None), Cell::new(Instant::now()));
        let stop = |error: PyErr| {
            why.replace(Some(error));
            ControlFlow::Break(())
        };
        let ask = || {
            if let Some(limit) = budget.passed() {
                return stop(RunError::new_err(limit.to_string()));
            }
            if last.get().elapsed() < POLL_INTERVAL {
                return ControlFlow::Continue(());
            }
            last.set(Instant::now());
            let told = Python::attach(|py| py.check_signals());
            told.map_or_else(stop, ControlFlow::Continue)
        };
        let source = Source::new(text).named(name).overrides(overrides).seed(seed).registries(known);
        (source.ask(&ask).read(), why.into_inner())
    });
    read.map_err(|error| why.unwrap_or_else(|| ScenarioError::new_err(error.to_string())))
}

fn resolved(scenario: &Scenario) -> String {
    let mut value = scenario.to_json();
    value["warnings"] = json!(scenario.warnings());
    value["in_force"] = scenario.in_force();
    value.to_string()
}

/// The version of the engine.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// The commit the engine was built from, short; empty if unknown.
#[pyfunction]
fn commit() -> &'static str {
    option_env!("ANABRANCH_COMMIT").unwrap_or("")
}

/// What a call from Python may take.
fn limits(timeout: Option<f64>, memory: Option<u64>) -> PyResult<Limits> {
    let timeout = timeout.map(Duration::try_from_secs_f64).transpose();
    let timeout = timeout.map_err(|e| PyValueError::new_err(format!("timeout: {e}; give seconds")))?;
    Ok(Limits { timeout, memory, held: Some(memory::held), ..Limits::default() })
}

/// Validates a scenario; returns its resolved form as JSON.
#[pyfunction]
#[pyo3(signature = (text, name, overrides, timeout=None, memory=None, algorithms=Vec::new()))]
fn check(
    py: Python<'_>,
    text: &str,
    name: &str,
    overrides: Vec<(String, String)>,
    timeout: Option<f64>,
    memory: Option<u64>,
    algorithms: Vec<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let budget = limits(timeout, memory)?.begin();
    let known = algorithms::registries(&algorithms, &Arc::default())?;
    Ok(resolved(&read(py, text, name, &overrides, None, &known, &budget)?))
}

/// The scenario with what it generates written out, as TOML.
#[pyfunction]
#[pyo3(signature = (text, name, overrides, algorithms=Vec::new()))]
fn expanded(
    text: &str,
    name: &str,
    overrides: Vec<(String, String)>,
    algorithms: Vec<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let known = algorithms::registries(&algorithms, &Arc::default())?;
    Source::new(text)
        .named(name)
        .overrides(&overrides)
        .registries(&known)
        .expanded_toml()
        .map_err(|e| ScenarioError::new_err(e.to_string()))
}

/// The scenario with the files that it names written into it, as TOML; None if it names none.
#[pyfunction]
fn inlined(text: &str, name: &str, overrides: Vec<(String, String)>) -> PyResult<Option<String>> {
    Source::new(text)
        .named(name)
        .overrides(&overrides)
        .inlined_toml()
        .map_err(|e| ScenarioError::new_err(e.to_string()))
}

/// Stamps of a synthetic trace.
#[pyfunction]
fn synthetic_trace(rates: Vec<String>, dwell: &str, duration: &str, seed: u64) -> PyResult<Vec<u64>> {
    scenario::synthetic_trace(&rates, dwell, duration, seed).map_err(|e| ScenarioError::new_err(e.to_string()))
}

/// A time written with its unit, in seconds.
#[pyfunction]
fn duration(text: &str) -> PyResult<f64> {
    scenario::duration(text).map(|d| d.0 as f64 / 1e9).map_err(|e| ScenarioError::new_err(e.to_string()))
}

/// What a direction of link number `link` offers: bits of each `step` seconds.
#[pyfunction]
fn offered(text: &str, name: &str, link: usize, up: bool, step: f64, steps: u64) -> PyResult<Vec<f64>> {
    Ok(offer::offered(&with_link(text, name, link)?, link, up, (step * 1e9) as u64, steps))
}

/// Delays in seconds of lone packets over it, `interval` seconds apart; none where one is lost.
#[pyfunction]
fn probed(text: &str, name: &str, link: usize, up: bool, interval: f64, probes: u64) -> PyResult<Vec<Option<f64>>> {
    Ok(offer::delays(&with_link(text, name, link)?, link, up, (interval * 1e9) as u64, probes))
}

fn with_link(text: &str, name: &str, link: usize) -> PyResult<scenario::Scenario> {
    let parsed = scenario::parse(text, name, &[], None).map_err(|e| ScenarioError::new_err(e.to_string()))?;
    if link < parsed.links.len() {
        return Ok(parsed);
    }
    Err(PyValueError::new_err(format!(
        "there is no link {link}; the scenario has links 0 to {}",
        parsed.links.len().saturating_sub(1)
    )))
}

/// A commented scenario to begin with.
#[pyfunction]
fn template() -> String {
    scenario::template()
}

/// The table of scenario keys as a JSON list: one object for each key of each table.
#[pyfunction]
fn keys() -> String {
    Value::from(scenario::keys()).to_string()
}

/// A finished run.
#[pyclass(module = "anabranch._core", frozen)]
struct Run {
    /// The summary object as JSON.
    #[pyo3(get)]
    summary: String,
    /// Hash of the events without random keys and sequence numbers.
    #[pyo3(get)]
    events_hash: String,
    series: Series,
    items: Vec<(usize, Items)>,
    resolved: Scenario,
    /// The algorithms that the scenario could name.
    known: Arc<Registries>,
    /// What the algorithms written in Python have recorded.
    state: Arc<RunState>,
    /// For each connection and subflow its number on the host that sends the data.
    numbers: Vec<Vec<Option<usize>>>,
    /// Text, name, overrides and seed: what it was read from.
    source: (String, String, Vec<(String, String)>, Option<u64>),
}

#[pymethods]
impl Run {
    /// The resolved scenario as JSON.
    #[getter]
    fn scenario(&self) -> String {
        resolved(&self.resolved)
    }

    /// A scenario that reproduces the run without overrides, as TOML.
    #[getter]
    fn toml(&self) -> PyResult<String> {
        let (text, name, overrides, seed) = &self.source;
        Source::new(text)
            .named(name)
            .overrides(overrides)
            .seed(*seed)
            .registries(&self.known)
            .resolved_toml()
            .map_err(|e| ScenarioError::new_err(e.to_string()))
    }

    /// Time series of the sending subflows: a dictionary of arrays of equal length.
    fn subflows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = series(py, self.series.samples())?;
        self.state.with_records(|records| {
            for (name, values) in records.columns(self.series.samples(), |sample| self.owner(sample)) {
                dict.set_item(name, array(py, values)?)?;
            }
            Ok(dict)
        })
    }

    /// The parts of transfers that have some: a dictionary of arrays of equal length, empty if none has.
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        if self.items.is_empty() {
            return Ok(dict);
        }
        let all = || self.items.iter().flat_map(|(c, items)| items.all().iter().map(move |i| (*c, items.kind, i)));
        let seconds = |ns: Option<u64>| ns.map_or(f64::NAN, |ns| ns as f64 / 1e9);
        dict.set_item(table::PART_CONNECTION.key, array(py, all().map(|(c, ..)| c as i32).collect::<Vec<_>>())?)?;
        dict.set_item(table::PART_KIND.key, all().map(|(_, kind, _)| kind.name()).collect::<Vec<_>>())?;
        dict.set_item(table::PART_NUMBER.key, array(py, all().map(|(.., i)| i.number as i32).collect::<Vec<_>>())?)?;
        dict.set_item(table::PART_BYTES.key, array(py, all().map(|(.., i)| i.bytes as f64).collect::<Vec<_>>())?)?;
        dict.set_item(
            table::PART_ASKED.key,
            array(py, all().map(|(.., i)| i.asked as f64 / 1e9).collect::<Vec<_>>())?,
        )?;
        dict.set_item(table::PART_DONE.key, array(py, all().map(|(.., i)| seconds(i.done())).collect::<Vec<_>>())?)?;
        dict.set_item(
            table::PART_LATENCY.key,
            array(py, all().map(|(.., i)| seconds(i.latency())).collect::<Vec<_>>())?,
        )?;
        Ok(dict)
    }
}

impl Run {
    /// Whose algorithms belong to a sample: those of the host that sends the data.
    fn owner(&self, sample: &Sample) -> Owner {
        let connection = sample.connection as usize;
        let number = self.numbers.get(connection).and_then(|all| *all.get(sample.subflow as usize)?);
        Owner {
            connection,
            active: self.resolved.connections[connection].transfer.up,
            subflow: Some(number.unwrap_or(sample.subflow as usize)),
        }
    }
}

/// Captures of a run into the directory `dir`, which is made if it is not there.
fn taps(scenario: &Scenario, dir: &str) -> std::io::Result<Taps> {
    std::fs::create_dir_all(dir)?;
    Taps::new(scenario, &mut |name| {
        let file = Path::new(dir).join(name);
        let file =
            File::create(&file).map_err(|e| std::io::Error::new(e.kind(), format!("{}: {e}", file.display())))?;
        Ok(Box::new(BufWriter::with_capacity(1 << 16, file)))
    })
}

/// The `OSError` of Python that has the error's number, so that Python knows its kind, and the name of the file.
fn os_error(what: &str, file: &str, error: &std::io::Error) -> PyErr {
    let said = error.to_string();
    match error.raw_os_error() {
        Some(code) => {
            let words = said.trim_end_matches(&format!(" (os error {code})")).to_string();
            PyOSError::new_err((code, words, file.to_string()))
        }
        None => PyOSError::new_err(format!("cannot write {what} '{file}': {said}")),
    }
}

/// Samples as a dictionary of arrays of equal length.
fn series<'py>(py: Python<'py>, samples: &[Sample]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let real = |f: fn(&Sample) -> f64| array(py, samples.iter().map(f));
    let whole = |f: fn(&Sample) -> i32| array(py, samples.iter().map(f));
    dict.set_item(table::SERIES_T.key, real(|s| s.at as f64 / 1e9)?)?;
    dict.set_item(table::SERIES_CONNECTION.key, whole(|s| s.connection as i32)?)?;
    dict.set_item(table::SERIES_SUBFLOW.key, whole(|s| s.subflow as i32)?)?;
    dict.set_item(table::SERIES_CWND.key, real(|s| s.cwnd)?)?;
    dict.set_item(table::SERIES_SSTHRESH.key, real(|s| s.ssthresh)?)?;
    dict.set_item(table::SERIES_SRTT.key, real(|s| s.srtt)?)?;
    dict.set_item(table::SERIES_RTT_SAMPLES.key, real(|s| s.rtt_samples as f64)?)?;
    dict.set_item(table::SERIES_RTO.key, real(|s| s.rto)?)?;
    dict.set_item(table::SERIES_IN_FLIGHT.key, real(|s| s.in_flight as f64)?)?;
    dict.set_item(table::SERIES_DELIVERED.key, real(|s| s.delivered as f64)?)?;
    dict.set_item(table::SERIES_OOO_BUFFER.key, real(|s| s.ooo_buffer as f64)?)?;
    dict.set_item(table::SERIES_OOO_BUFFER_BYTES.key, real(|s| s.ooo_buffer_bytes as f64)?)?;
    Ok(dict)
}

/// Runs a scenario. Without the GIL, but for signals and `poll`, unless the engine calls methods of
/// algorithms written in Python. Without `shortcuts` the engine takes no short paths, which changes no result.
#[pyfunction]
#[pyo3(signature = (
    text, name, overrides, seed=None, trace=None, poll=None, pcap=None, timeout=None, memory=None, series=true, causes=false,
    algorithms=Vec::new(), shortcuts=true
))]
#[allow(clippy::too_many_arguments)] // a call from Python, by name there
fn run(
    py: Python<'_>,
    text: String,
    name: String,
    overrides: Vec<(String, String)>,
    seed: Option<u64>,
    trace: Option<String>,
    poll: Option<Py<PyAny>>,
    pcap: Option<String>,
    timeout: Option<f64>,
    memory: Option<u64>,
    series: bool,
    causes: bool,
    algorithms: Vec<Bound<'_, PyAny>>,
    shortcuts: bool,
) -> PyResult<Run> {
    let state = Arc::<RunState>::default();
    let known = algorithms::registries(&algorithms, &state)?;
    let budget = Limits { no_series: !series, causes, ..limits(timeout, memory)? }.begin();
    let mut scenario = read(py, &text, &name, &overrides, seed, &known, &budget)?;
    algorithms::bind_to_connections(&mut scenario, &algorithms, &state)?;
    if !shortcuts {
        scenario = without_shortcuts(&scenario);
    }
    state.begin(scenario.seed);
    let unwritable = |e: std::io::Error| os_error("the trace", trace.as_deref().unwrap_or_default(), &e);
    let sink = match &trace {
        None => None,
        Some(path) => Some(Box::new(BufWriter::new(File::create(path).map_err(unwritable)?)) as Sink),
    };
    let uncaptured = |e: std::io::Error| os_error("captures to", pcap.as_deref().unwrap_or_default(), &e);
    let taps = pcap.as_deref().map(|dir| taps(&scenario, dir)).transpose().map_err(uncaptured)?;
    let mut raised: Option<PyErr> = None;
    let mut last = Instant::now();
    let mut on_poll = |progress: &Progress| {
        if last.elapsed() < POLL_INTERVAL {
            return ControlFlow::Continue(());
        }
        last = Instant::now();
        let told = Python::attach(|py| {
            py.check_signals()?;
            if let Some(poll) = &poll {
                let dict = PyDict::new(py);
                dict.set_item("t", progress.now as f64 / 1e9)?;
                dict.set_item("duration", scenario.duration.as_secs_f64())?;
                dict.set_item("delivered", progress.read)?;
                dict.set_item("total", progress.total)?;
                poll.call1(py, (dict,))?;
            }
            Ok(())
        });
        match told {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                raised = Some(error);
                ControlFlow::Break(())
            }
        }
    };
    let work = || {
        unwound(|| {
            let outcome = Runner::new(&scenario).trace(sink).captures(taps).budget(budget).poll(&mut on_poll).run();
            let summary = outcome.summary.to_string();
            (outcome, summary)
        })
    };
    // Methods of Python are called so often that their run keeps the lock.
    let done = if algorithms::call_no_python(&algorithms)? { py.detach(work) } else { work() };
    if let Some(fault) = state.take_fault() {
        return Err(algorithms::raised(py, fault));
    }
    let (outcome, summary) = done.map_err(RunError::new_err)?;
    if let Some(error) = raised {
        return Err(error);
    }
    if let Some(error) = outcome.trace_error {
        return Err(unwritable(error));
    }
    if let Some(error) = outcome.capture_error {
        return Err(uncaptured(error));
    }
    if let Some(limit) = outcome.exceeded {
        return Err(RunError::new_err(limit.to_string()));
    }
    let (events_hash, series, items, numbers) = (outcome.events_hash, outcome.series, outcome.items, outcome.numbers);
    let source = (text, name, overrides, seed);
    Ok(Run { summary, events_hash, series, items, resolved: scenario, known, state, numbers, source })
}

#[pymodule]
fn _core(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("ScenarioError", m.py().get_type::<ScenarioError>())?;
    m.add("RunError", m.py().get_type::<RunError>())?;
    m.add("CaptureError", m.py().get_type::<capture::CaptureError>())?;
    algorithms::add(m)?;
    m.add_class::<Run>()?;
    m.add_class::<capture::Capture>()?;
    m.add_function(wrap_pyfunction!(version, m)?)?;
    m.add_function(wrap_pyfunction!(commit, m)?)?;
    m.add_function(wrap_pyfunction!(check, m)?)?;
    m.add_function(wrap_pyfunction!(expanded, m)?)?;
    m.add_function(wrap_pyfunction!(template, m)?)?;
    m.add_function(wrap_pyfunction!(keys, m)?)?;
    m.add_function(wrap_pyfunction!(inlined, m)?)?;
    m.add_function(wrap_pyfunction!(synthetic_trace, m)?)?;
    m.add_function(wrap_pyfunction!(duration, m)?)?;
    m.add_function(wrap_pyfunction!(offered, m)?)?;
    m.add_function(wrap_pyfunction!(probed, m)?)?;
    m.add_function(wrap_pyfunction!(tables::registry, m)?)?;
    m.add_function(wrap_pyfunction!(tables::measures, m)?)?;
    m.add_function(wrap_pyfunction!(run, m)?)?;
    m.add_function(wrap_pyfunction!(capture::analyze, m)?)?;
    m.add_function(wrap_pyfunction!(capture::qlog, m)?)?;
    m.add_function(wrap_pyfunction!(script::script, m)?)?;
    m.add_function(wrap_pyfunction!(script::profiles, m)?)?;
    m.add_function(wrap_pyfunction!(torture::campaign, m)?)?;
    m.add_function(wrap_pyfunction!(torture::examine, m)?)?;
    Ok(())
}
