//! A congestion controller written in Python.

use anabranch_stack::controller::{
    AckSample, Adjust, Congestion, Controller, Departure, LostSegment, Snapshot, Window,
};
use anabranch_stack::path::Path as Row;
use anabranch_stack::registry::Setup;
use anabranch_stack::time::Instant;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyTuple};

use super::decision::repr;
use super::instance::{Instance, Method};
use super::path::Paths;
use super::{adjust, sample, window};

/// An object of a subclass of `ab.Controller`.
pub struct PyController {
    instance: Instance,
    window: Window,
    methods: Methods,
    seen: Option<Seen>,
    reduces_itself: bool,
}

/// Shows all state, so that the conformance suite can compare a copy with the original.
impl std::fmt::Debug for PyController {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = Python::attach(|py| self.instance.or_fail(self.instance.state(py)));
        write!(f, "{:?} {:?} {state}", self.instance, self.window)
    }
}

struct Methods {
    on_ack: Py<PyAny>,
    on_congestion: Py<PyAny>,
    on_other_ack: Method,
    on_sent: Method,
    on_lost: Method,
    on_lost_segment: Method,
    adjust: Method,
    pacing: Method,
}

impl Methods {
    fn of(py: Python<'_>, instance: &Instance) -> PyResult<Self> {
        Ok(Self {
            on_ack: instance.method(py, "on_ack")?,
            on_congestion: instance.method(py, "on_congestion")?,
            on_other_ack: instance.overridden(py, "on_other_ack")?,
            on_sent: instance.overridden(py, "on_sent")?,
            on_lost: instance.overridden(py, "on_lost")?,
            on_lost_segment: instance.overridden(py, "on_lost_segment")?,
            adjust: instance.overridden(py, "adjust")?,
            pacing: instance.overridden(py, "pacing")?,
        })
    }
}

/// The arguments of `on_ack` as Python sees them.
struct Seen {
    paths: Paths,
    ack: Py<sample::AckSample>,
    me: usize,
    arguments: Py<PyTuple>,
}

impl Seen {
    fn new(py: Python<'_>, ack: &AckSample, rows: &[Row], me: usize) -> PyResult<Self> {
        let mut paths = Paths::new(py);
        paths.refresh(py, rows)?;
        let view = Py::new(py, sample::AckSample::new(*ack))?;
        let arguments = (view.clone_ref(py), paths.tuple(py).clone(), me).into_pyobject(py)?.unbind();
        Ok(Self { paths, ack: view, me, arguments })
    }
}

impl PyController {
    pub fn new(py: Python<'_>, instance: Instance, setup: &Setup) -> PyResult<Self> {
        let methods = Methods::of(py, &instance)?;
        let reduces_itself = instance.asked_truth(py, "reduces_itself")?;
        let mut made = Self { instance, window: Window::new(setup), methods, seen: None, reduces_itself };
        made.take_window(py);
        Ok(made)
    }

    /// Takes over the window that Python has set.
    #[inline]
    fn take_window(&mut self, py: Python<'_>) {
        let object = self.instance.object(py);
        let before = self.window.cwnd;
        self.window = self.instance.or_fail(window::read(object));
        let Window { cwnd, ssthresh, mss, vegas_rate, .. } = self.window;
        // NaN, too, is not at least one segment.
        if !(cwnd.is_finite() && (cwnd >= mss || cwnd == before)) {
            self.correct_cwnd(py, cwnd, mss);
        }
        if ssthresh.is_nan() || ssthresh < 0.0 {
            self.instance.refuse(format!("set self.ssthresh to {ssthresh}; it must be at least 0 octets, or infinite"));
        }
        if !(vegas_rate.is_finite() && vegas_rate >= 0.0) {
            self.instance
                .refuse(format!("set self.vegas_rate to {vegas_rate}; it must be a finite number of at least 0"));
        }
    }

    /// A window below one segment becomes one segment; a number that is no window ends the run.
    #[cold]
    fn correct_cwnd(&mut self, py: Python<'_>, cwnd: f64, mss: f64) {
        if !(cwnd.is_finite() && cwnd >= 0.0) {
            self.instance.refuse(format!(
                "set self.cwnd to {cwnd}; it must be a finite number of octets, at least one segment (self.mss = {mss})"
            ));
        }
        self.window.cwnd = mss;
        let object = self.instance.object(py);
        self.instance.or_fail(object.setattr(intern!(py, "cwnd"), PyFloat::new(py, mss)));
    }

    /// The arguments `(ack, paths, me)`.
    #[inline]
    fn show(&mut self, py: Python<'_>, ack: &AckSample, rows: &[Row], me: usize) -> Py<PyTuple> {
        self.instance.at(ack.now);
        let renewed = match &mut self.seen {
            Some(seen) if seen.paths.len() == rows.len() && seen.me == me => {
                seen.ack.get().refresh(ack);
                seen.paths.refresh(py, rows).map(|_| None)
            }
            _ => Seen::new(py, ack, rows, me).map(Some),
        };
        if let Some(seen) = self.instance.or_fail(renewed) {
            self.seen = Some(seen);
        }
        self.seen.as_ref().expect("made above").arguments.clone_ref(py)
    }

    fn after(&mut self) {
        Python::attach(|py| self.take_window(py));
    }
}

impl Snapshot for PyController {
    fn snapshot(&self) -> Box<dyn Controller> {
        Python::attach(|py| {
            let object = self.instance.object(py);
            let copied = self.instance.or_fail(object.call_method0(intern!(py, "snapshot")));
            if !copied.get_type().is(object.get_type()) {
                self.instance.refuse(format!("snapshot() returned {}; return a copy of self", repr(&copied)));
            }
            let instance = self.instance.beside(copied.unbind());
            let methods = self.instance.or_fail(Methods::of(py, &instance));
            let copy = Self { instance, window: self.window, methods, seen: None, reduces_itself: self.reduces_itself };
            Box::new(copy) as Box<dyn Controller>
        })
    }
}

impl Controller for PyController {
    fn window(&self) -> &Window {
        &self.window
    }

    fn adjust(&mut self, change: Adjust) {
        if self.methods.adjust.is_some() {
            self.instance.tell(&self.methods.adjust, |_| (adjust::Adjust::new(change),));
            return self.after();
        }
        self.window.adjust(change);
        Python::attach(|py| self.instance.or_fail(window::write(self.instance.object(py), &self.window)));
    }

    fn on_ack(&mut self, ack: &AckSample, paths: &[Row], me: usize) {
        Python::attach(|py| {
            let arguments = self.show(py, ack, paths, me);
            self.instance.call(&self.methods.on_ack, arguments.bind(py));
            self.take_window(py);
        });
    }

    fn on_congestion(&mut self, congestion: &Congestion, rows: &[Row], me: usize) {
        self.instance.at(congestion.now);
        Python::attach(|py| {
            let mut paths = Paths::new(py);
            self.instance.or_fail(paths.refresh(py, rows));
            let arguments = (sample::Congestion::new(*congestion), paths.tuple(py).clone(), me).into_pyobject(py);
            self.instance.call(&self.methods.on_congestion, &self.instance.or_fail(arguments));
            self.take_window(py);
        });
    }

    fn on_other_ack(&mut self, ack: &AckSample, paths: &[Row], me: usize) {
        if self.methods.on_other_ack.is_none() {
            return;
        }
        Python::attach(|py| {
            let arguments = self.show(py, ack, paths, me);
            if let Some(method) = &self.methods.on_other_ack {
                self.instance.call(method, arguments.bind(py));
            }
            self.take_window(py);
        });
    }

    fn on_sent(&mut self, departure: &Departure) {
        if self.methods.on_sent.is_some() {
            self.instance.at(departure.now);
            self.instance.tell(&self.methods.on_sent, |_| (sample::Departure::new(*departure),));
            self.after();
        }
    }

    fn on_lost(&mut self, now: Instant, octets: u64) {
        if self.methods.on_lost.is_some() {
            self.instance.at(now);
            self.instance.tell(&self.methods.on_lost, |_| (now.0 as f64 / 1e9, octets));
            self.after();
        }
    }

    fn on_lost_segment(&mut self, segment: &LostSegment) {
        if self.methods.on_lost_segment.is_some() {
            self.instance.at(segment.now);
            self.instance.tell(&self.methods.on_lost_segment, |_| (sample::LostSegment::new(*segment),));
            self.after();
        }
    }

    fn reduces_itself(&self) -> bool {
        self.reduces_itself
    }

    fn pacing(&self) -> Option<f64> {
        let method = self.methods.pacing.as_ref()?;
        let rate: Option<f64> = Python::attach(|py| {
            let value = self.instance.or_fail(method.bind(py).call0());
            let wanted = || "octets per second above 0, or None".to_owned();
            self.instance.answer("pacing()", &value, |value| value.extract().ok().filter(valid_rate), wanted)
        });
        rate
    }
}

/// A pacing rate in octets per second, or none.
fn valid_rate(rate: &Option<f64>) -> bool {
    rate.is_none_or(|rate| rate.is_finite() && rate > 0.0)
}
