//! A detector of loss written in Python.

use std::cell::Cell;

use anabranch_stack::detector::{self as engine, Detector, Due, Finding};
use anabranch_stack::sample::AckSample;
use anabranch_stack::seq::Seq;
use anabranch_stack::time::{Duration, Instant};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::answer::{octets, perhaps, segments, truth, word, words};
use super::decision::Wait;
use super::instance::{Instance, Method};
use super::sample;
use super::scoreboard::{Scoreboard, Sent};
use super::view::copied_view;

copied_view! {
    /// What a detector knows of the sender, besides the scoreboard.
    Outstanding of engine::Outstanding, o
    {
        /// Oldest unacknowledged sequence number.
        snd_una: u64 = o.snd_una.0;
        /// Next sequence number to send.
        snd_nxt: u64 = o.snd_nxt.0;
        /// `recover` of RFC 6582 3.2, plus one. Without SACK, duplicate acknowledgements at or
        /// below it start no fast recovery.
        recover: u64 = o.recover.0;
        /// Duplicate acknowledgements since the last acknowledgement of new data.
        duplicates: u32 = o.duplicates;
        /// SACK blocks drive loss recovery.
        sack: bool = o.sack;
        /// Fast recovery, or slow start after a timeout, is in progress.
        recovering: bool = o.recovering;
        /// Payload of a full-sized segment in octets.
        mss: u32 = o.mss;
        /// Smoothed round-trip time in seconds; 0 before the first sample.
        srtt: f64 = o.srtt.as_secs_f64();
        /// Smoothed round-trip time in nanoseconds.
        srtt_ns: u64 = o.srtt.0;
        /// Minimum round-trip time in seconds; 0 before the first sample.
        min_rtt: f64 = o.min_rtt.as_secs_f64();
        /// Minimum round-trip time in nanoseconds.
        min_rtt_ns: u64 = o.min_rtt.0;
    }
    also {}
}

const FINDINGS: &[(&str, Finding)] =
    &[("nothing", Finding::Nothing), ("loss", Finding::Loss), ("repaired", Finding::Repaired)];

const DUES: &[(&str, Due)] = &[("nothing", Due::Nothing), ("loss", Due::Loss), ("probe", Due::Probe)];

/// An object of a subclass of `ab.Detector`.
#[derive(Debug)]
pub struct PyDetector {
    instance: Instance,
    methods: Methods,
    seen: Seen,
    ignores_progress: bool,
    withholds: bool,
    /// The deadline since the last call that may have changed it.
    deadline: Cell<Option<Option<Instant>>>,
    /// When `on_deadline` was called last.
    passed: Option<Instant>,
}

#[derive(Debug)]
struct Methods {
    on_ack: Py<PyAny>,
    finding: Py<PyAny>,
    on_timeout: Py<PyAny>,
    limited_transmit: Py<PyAny>,
    on_sent: Method,
    on_resume: Method,
    withheld: Method,
    take_reordered: Method,
    reordering: Method,
    rescues: Method,
    deadline: Method,
    on_deadline: Method,
    on_probe: Method,
}

/// The arguments of most methods as Python sees them.
#[derive(Debug)]
struct Seen {
    ack: Py<sample::AckSample>,
    board: Py<Scoreboard>,
    sender: Py<Outstanding>,
    /// `(ack, board, sender)`.
    arguments: Py<PyTuple>,
}

impl Seen {
    fn new(py: Python<'_>) -> PyResult<Self> {
        let ack = Py::new(py, sample::AckSample::new(AckSample::default()))?;
        let board = Py::new(py, Scoreboard::new())?;
        let sender = Py::new(py, Outstanding::new(engine::Outstanding::default()))?;
        let arguments = (ack.clone_ref(py), board.clone_ref(py), sender.clone_ref(py)).into_pyobject(py)?.unbind();
        Ok(Self { ack, board, sender, arguments })
    }
}

impl PyDetector {
    pub fn new(py: Python<'_>, instance: Instance) -> PyResult<Self> {
        let methods = Methods {
            on_ack: instance.method(py, "on_ack")?,
            finding: instance.method(py, "finding")?,
            on_timeout: instance.method(py, "on_timeout")?,
            limited_transmit: instance.method(py, "limited_transmit")?,
            on_sent: instance.overridden(py, "on_sent")?,
            on_resume: instance.overridden(py, "on_resume")?,
            withheld: instance.overridden(py, "withheld")?,
            take_reordered: instance.overridden(py, "take_reordered")?,
            reordering: instance.overridden(py, "reordering")?,
            rescues: instance.overridden(py, "rescues")?,
            deadline: instance.overridden(py, "deadline")?,
            on_deadline: instance.overridden(py, "on_deadline")?,
            on_probe: instance.overridden(py, "on_probe")?,
        };
        Ok(Self {
            ignores_progress: instance.asked_truth(py, "ignores_progress")?,
            withholds: instance.asked_truth(py, "withholds")?,
            methods,
            seen: Seen::new(py)?,
            instance,
            deadline: Cell::new(None),
            passed: None,
        })
    }

    /// Calls `method` with `(now, board, sender)`, where it may mark segments.
    fn at(
        &self,
        method: &Py<PyAny>,
        now: Instant,
        board: &mut engine::Scoreboard,
        sender: &engine::Outstanding,
    ) -> Py<PyAny> {
        self.instance.at(now);
        self.deadline.set(None);
        Python::attach(|py| {
            self.seen.sender.get().refresh(sender);
            let (view, known) = (self.seen.board.clone_ref(py), self.seen.sender.clone_ref(py));
            let arguments = self.instance.or_fail((now.0 as f64 / 1e9, view, known).into_pyobject(py));
            self.seen.board.get().lend(board, sender, || self.instance.call(method, &arguments)).unbind()
        })
    }
}

impl Detector for PyDetector {
    fn on_sent(&mut self, now: Instant, sent: &engine::Sent, srtt: Duration) {
        if self.methods.on_sent.is_some() {
            self.instance.at(now);
            self.deadline.set(None);
            let arguments = (now.0 as f64 / 1e9, Sent::new(*sent), srtt.as_secs_f64());
            self.instance.tell(&self.methods.on_sent, |_| arguments);
        }
    }

    fn on_ack(&mut self, ack: &AckSample, board: &mut engine::Scoreboard, sender: &engine::Outstanding) {
        self.instance.at(ack.now);
        self.deadline.set(None);
        Python::attach(|py| {
            self.seen.ack.get().refresh(ack);
            self.seen.sender.get().refresh(sender);
            let arguments = self.seen.arguments.bind(py);
            self.seen.board.get().lend(board, sender, || self.instance.call(&self.methods.on_ack, arguments));
        });
    }

    fn ignores_progress(&self) -> bool {
        self.ignores_progress
    }

    fn finding(&mut self, ack: &AckSample, board: &engine::Scoreboard, sender: &engine::Outstanding) -> Finding {
        self.instance.at(ack.now);
        self.deadline.set(None);
        Python::attach(|py| {
            self.seen.ack.get().refresh(ack);
            self.seen.sender.get().refresh(sender);
            let arguments = self.seen.arguments.bind(py);
            let call = || self.instance.call(&self.methods.finding, arguments);
            let value = self.seen.board.get().show(board, sender, call);
            self.instance.answer("finding()", &value, word(FINDINGS), || words(FINDINGS))
        })
    }

    fn on_timeout(&mut self, now: Instant, board: &mut engine::Scoreboard, sender: &engine::Outstanding) {
        self.at(&self.methods.on_timeout, now, board, sender);
    }

    fn on_resume(&mut self) {
        self.deadline.set(None);
        self.instance.tell(&self.methods.on_resume, |_| ());
    }

    fn limited_transmit(&self, duplicates: u32) -> u32 {
        Python::attach(|py| {
            let value = self.instance.or_fail(self.methods.limited_transmit.bind(py).call1((duplicates,)));
            let wanted = || "a number of segments, at least 0".to_owned();
            self.instance.answer("limited_transmit()", &value, segments, wanted)
        })
    }

    fn withholds(&self) -> bool {
        self.withholds
    }

    fn withheld(&self) -> u64 {
        let wanted = || "octets, at least 0".to_owned();
        self.instance.asked(&self.methods.withheld, "withheld()", (), octets, wanted).unwrap_or(0)
    }

    fn take_reordered(&mut self) -> Option<u64> {
        let wanted = || "octets, at least 0, or None".to_owned();
        let method = &self.methods.take_reordered;
        self.instance.asked(method, "take_reordered()", (), perhaps(octets), wanted).flatten()
    }

    fn reordering(&self, mss: u32) -> u32 {
        let wanted = || "a number of segments, at least 0".to_owned();
        self.instance.asked(&self.methods.reordering, "reordering()", (mss,), segments, wanted).unwrap_or(3)
    }

    fn rescues(&self) -> bool {
        let wanted = || "True or False".to_owned();
        self.instance.asked(&self.methods.rescues, "rescues()", (), truth, wanted).unwrap_or(true)
    }

    fn deadline(&self) -> Option<Instant> {
        if let Some(known) = self.deadline.get() {
            return known;
        }
        let wanted = || "a virtual time in seconds, ab.Wait(until_ns=...) or None".to_owned();
        let at = self.instance.asked(&self.methods.deadline, "deadline()", (), perhaps(time), wanted).flatten();
        if let Some((at, passed)) = at.zip(self.passed).filter(|(at, passed)| at <= passed) {
            self.instance.refuse(format!(
                "deadline() returned {at}, but on_deadline() was called at {passed}; return a later time, or None"
            ));
        }
        self.deadline.set(Some(at));
        at
    }

    fn on_deadline(&mut self, now: Instant, board: &mut engine::Scoreboard, sender: &engine::Outstanding) -> Due {
        self.passed = Some(now);
        let Some(method) = &self.methods.on_deadline else {
            self.deadline.set(None);
            return Due::Nothing;
        };
        let value = self.at(method, now, board, sender);
        Python::attach(|py| self.instance.answer("on_deadline()", value.bind(py), word(DUES), || words(DUES)))
    }

    fn on_probe(&mut self, snd_nxt: Seq, copy: bool) {
        self.deadline.set(None);
        self.instance.tell(&self.methods.on_probe, |_| (snd_nxt.0, copy));
    }
}

/// A virtual time.
fn time(value: &Bound<'_, PyAny>) -> Option<Instant> {
    if let Ok(wait) = value.cast::<Wait>() {
        return wait.get().until_instant();
    }
    let seconds = octets(value).and_then(|_| value.extract::<f64>().ok())?;
    (seconds < 1e10).then(|| Instant((seconds * 1e9).round() as u64))
}
