//! Captures for Python.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use anabranch_capture::{Follower, Only, Progress, Sort};
use anabranch_measures::series::Sample;
use anabranch_sim::run::unwound;
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;

use crate::array::array;
use crate::{POLL_INTERVAL, RunError, series};

create_exception!(
    anabranch,
    CaptureError,
    PyValueError,
    "A capture cannot be analysed. The message says which one, and why."
);

/// A capture, analysed.
#[pyclass(module = "anabranch._core", frozen)]
pub struct Capture {
    /// The summary object as JSON.
    #[pyo3(get)]
    summary: String,
    /// Ctrl-C ended it before standard input did.
    #[pyo3(get)]
    interrupted: bool,
    capture: anabranch_capture::Capture,
}

#[pymethods]
impl Capture {
    /// Time series of the sending subflows: a dictionary of arrays of equal length, as of a run.
    fn subflows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = series(py, &self.capture.samples)?;
        let known = |f: fn(&Sample) -> f64| {
            let samples = self.capture.samples.iter().zip(&self.capture.knows_flight);
            array(py, samples.map(|(s, known)| if *known { f(s) } else { f64::NAN }))
        };
        dict.set_item("in_flight", known(|s| s.in_flight as f64)?)?;
        dict.set_item("srtt", known(|s| s.srtt)?)?;
        Ok(dict)
    }

    /// What each subflow sent of the data stream.
    fn sequence<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let spans = &self.capture.spans;
        let dict = PyDict::new(py);
        dict.set_item("t", array(py, spans.iter().map(|s| s.1.at as f64 / 1e9))?)?;
        dict.set_item("connection", array(py, spans.iter().map(|s| s.0 as i32))?)?;
        dict.set_item("subflow", array(py, spans.iter().map(|s| s.1.subflow as i32))?)?;
        dict.set_item("kind", spans.iter().map(|s| Sort::NAMES[s.1.sort as usize]).collect::<Vec<_>>())?;
        dict.set_item("low", array(py, spans.iter().map(|s| s.1.low as f64))?)?;
        dict.set_item("high", array(py, spans.iter().map(|s| s.1.high as f64))?)?;
        Ok(dict)
    }

    /// What the receiver acknowledged of the data stream, and where its window ended.
    fn window<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let windows = &self.capture.windows;
        let dict = PyDict::new(py);
        dict.set_item("t", array(py, windows.iter().map(|w| w.1.at as f64 / 1e9))?)?;
        dict.set_item("connection", array(py, windows.iter().map(|w| w.0 as i32))?)?;
        dict.set_item("data_ack", array(py, windows.iter().map(|w| w.1.data_ack as f64))?)?;
        dict.set_item("edge", array(py, windows.iter().map(|w| w.1.edge as f64))?)?;
        Ok(dict)
    }
}

/// What Python raised while it was asked.
type Raised = Arc<Mutex<Option<PyErr>>>;

/// Standard input, which ends with Ctrl-C.
struct Live {
    raised: Raised,
}

impl Read for Live {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match io::stdin().read(buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {
                    if go_on(&self.raised, |py| py.check_signals()).is_break() {
                        return Ok(0);
                    }
                }
                done => return done,
            }
        }
    }
}

/// Calls Python; what it raises is kept, and ends the analysis.
fn go_on(raised: &Mutex<Option<PyErr>>, call: impl FnOnce(Python<'_>) -> PyResult<()>) -> ControlFlow<()> {
    match Python::attach(call) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            ControlFlow::Break(())
        }
    }
}

/// Analyses captures. Without the GIL, but for signals and `poll`, and for `told`, which gets the summary so far, as JSON, after
/// every `every` seconds of the capture's time.
#[pyfunction]
#[pyo3(signature = (files, poll=None, protocol=None, causes=false, every=None, told=None))]
pub fn analyze(
    py: Python<'_>,
    files: Vec<String>,
    poll: Option<Py<PyAny>>,
    protocol: Option<&str>,
    causes: bool,
    every: Option<f64>,
    told: Option<Py<PyAny>>,
) -> PyResult<Capture> {
    let only = match protocol {
        None => None,
        Some("mptcp") => Some(Only::Mptcp),
        Some("tcp") => Some(Only::Tcp),
        Some(other) => {
            let message = format!("protocol: {other:?} is no protocol; choices: mptcp, tcp, or None for both");
            return Err(PyValueError::new_err(message));
        }
    };
    let raised = Raised::default();
    let (started, mut last) = (Instant::now(), Instant::now());
    let mut on_poll = |progress: &Progress| {
        if last.elapsed() < POLL_INTERVAL {
            return ControlFlow::Continue(());
        }
        last = Instant::now();
        go_on(&raised, |py| {
            py.check_signals()?;
            if let Some(poll) = &poll {
                poll.call1(py, (progress.octets, progress.packets))?;
            }
            Ok(())
        })
    };
    let mut on_told = |so_far: anabranch_capture::Capture| {
        go_on(&raised, |py| {
            told.as_ref().map_or(Ok(()), |told| told.call1(py, (so_far.summary.to_string(),)).map(|_| ()))
        })
    };
    let live = files.iter().any(|file| file == "-");
    let input: Option<anabranch_capture::Input> = live.then(|| Box::new(Live { raised: raised.clone() }) as _);
    let run = || {
        let follower = every.map(|every| Follower { every: (every * 1e9) as u64, tell: &mut on_told });
        anabranch_capture::analyze(&files, input, only, causes, &mut on_poll, follower)
    };
    let analysed = py.detach(|| unwound(AssertUnwindSafe(run)));
    let analysed = analysed.map_err(RunError::new_err)?;
    let error = raised.lock().unwrap_or_else(PoisonError::into_inner).take();
    let mut interrupted = false;
    if let Some(error) = error {
        // What came through a pipe does not come again: a Ctrl-C is how one ends it.
        interrupted = live && analysed.is_ok() && error.is_instance_of::<PyKeyboardInterrupt>(py);
        if !interrupted {
            return Err(error);
        }
    }
    let mut capture = analysed.map_err(|e| CaptureError::new_err(e.to_string()))?;
    capture.summary["wall_s"] = json!(started.elapsed().as_secs_f64());
    Ok(Capture { summary: capture.summary.to_string(), interrupted, capture })
}

/// A file that is written no further once Python has raised something: Ctrl-C.
struct Interruptible {
    file: File,
    raised: Option<PyErr>,
}

impl Write for Interruptible {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        match Python::attach(|py| py.check_signals()) {
            Ok(()) => self.file.write(octets),
            Err(error) => {
                self.raised = Some(error);
                Err(io::Error::other("interrupted"))
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Octets written at a time, between two looks for signals.
const BLOCK: usize = 1 << 18;

/// Writes every segment of `files` as an event of qlog to the file `out`; returns their number. Ctrl-C ends it.
#[pyfunction]
pub fn qlog(py: Python<'_>, files: Vec<String>, out: &str) -> PyResult<u64> {
    let mut sink = Interruptible { file: File::create(out)?, raised: None };
    let run = || {
        let mut buffer = BufWriter::with_capacity(BLOCK, &mut sink);
        anabranch_capture::qlog::qlog(&files, &mut buffer)
    };
    let written = py.detach(|| unwound(AssertUnwindSafe(run))).map_err(RunError::new_err)?;
    if let Some(error) = sink.raised {
        return Err(error);
    }
    Ok(written.map_err(|e| CaptureError::new_err(e.to_string()))??)
}
