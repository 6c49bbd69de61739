//! A judge of loss episodes written in Python.

use anabranch_stack::judge::{self as engine, Judge, RESPONSES, Response, Verdict};
use anabranch_stack::sample::AckSample;
use anabranch_stack::seq::Seq;
use anabranch_stack::time::Duration;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::answer::{listed, word, words};
use super::instance::Instance;
use super::sample::{self, cause};
use super::view::copied_view;

copied_view! {
    /// A loss episode begins: the window is reduced, and a first segment is about to be
    /// retransmitted.
    Episode of engine::Episode, e
    {
        /// Virtual time in seconds.
        now: f64 = e.now.0 as f64 / 1e9;
        /// Virtual time in nanoseconds.
        now_ns: u64 = e.now.0;
        /// What began it: "fast_retransmit", "timeout" or "ecn".
        cause: &'static str = cause(e.cause);
        /// Oldest unacknowledged sequence number.
        snd_una: u64 = e.snd_una.0;
        /// Next sequence number to send.
        snd_nxt: u64 = e.snd_nxt.0;
        /// The timestamp (TSval, RFC 7323) of the first retransmission: of the one about to be
        /// sent, or of one of the oldest segment that is in flight already.
        timestamp: u32 = e.timestamp;
        /// The timer expired during another episode.
        nested: bool = e.nested;
    }
    also {}
}

/// Longest time of a `Reordered` in seconds.
const LONGEST: f64 = 1e9;

/// The verdict that segments were reordered (TCP-DOOR): suspend the congestion response for `hold`
/// seconds, and undo a reduction that is not older than `undo` seconds.
#[pyclass(frozen, module = "anabranch._core")]
pub struct Reordered {
    /// How long the congestion response is suspended (T1), in seconds.
    #[pyo3(get)]
    hold: f64,
    /// Maximum age of a reduction that is undone (T2), in seconds.
    #[pyo3(get)]
    undo: f64,
}

#[pymethods]
impl Reordered {
    #[new]
    fn new(hold: f64, undo: f64) -> PyResult<Self> {
        for (name, value) in [("hold", hold), ("undo", undo)] {
            if !(0.0..=LONGEST).contains(&value) {
                return Err(PyValueError::new_err(format!(
                    "Reordered: {name} is {value}; give 0 to {LONGEST} seconds"
                )));
            }
        }
        Ok(Self { hold, undo })
    }

    fn __repr__(&self) -> String {
        format!("Reordered(hold={}, undo={})", self.hold, self.undo)
    }
}

const VERDICTS: &[(&str, Verdict)] = &[
    ("pending", Verdict::Pending),
    ("probe", Verdict::Probe),
    ("genuine", Verdict::Genuine),
    ("spurious", Verdict::Spurious),
];

fn verdict(value: &Bound<'_, PyAny>) -> Option<Verdict> {
    let duration = |seconds: f64| Duration((seconds * 1e9).round() as u64);
    match value.cast::<Reordered>() {
        Ok(told) => {
            let &Reordered { hold, undo } = told.get();
            Some(Verdict::Reordered { hold: duration(hold), undo: duration(undo) })
        }
        Err(_) => word(VERDICTS)(value),
    }
}

/// An object of a subclass of `ab.Judge`.
#[derive(Debug)]
pub struct PyJudge {
    instance: Instance,
    on_episode: Py<PyAny>,
    on_retransmit: Py<PyAny>,
    on_ack: Py<PyAny>,
    default_response: Py<PyAny>,
    ignores_progress: bool,
    seen: Seen,
}

/// The argument of `on_ack` as Python sees it.
#[derive(Debug)]
struct Seen {
    ack: Py<sample::AckSample>,
    arguments: Py<PyTuple>,
}

impl PyJudge {
    pub fn new(py: Python<'_>, instance: Instance) -> PyResult<Self> {
        let ack = Py::new(py, sample::AckSample::new(AckSample::default()))?;
        let arguments = PyTuple::new(py, [ack.clone_ref(py)])?.unbind();
        Ok(Self {
            on_episode: instance.method(py, "on_episode")?,
            on_retransmit: instance.method(py, "on_retransmit")?,
            on_ack: instance.method(py, "on_ack")?,
            default_response: instance.method(py, "default_response")?,
            ignores_progress: instance.asked_truth(py, "ignores_progress")?,
            seen: Seen { ack, arguments },
            instance,
        })
    }
}

impl Judge for PyJudge {
    fn on_episode(&mut self, episode: &engine::Episode) {
        self.instance.at(episode.now);
        Python::attach(|py| {
            self.instance.or_fail(self.on_episode.bind(py).call1((Episode::new(*episode),)));
        });
    }

    fn on_retransmit(&mut self, start: Seq, end: Seq) {
        Python::attach(|py| {
            self.instance.or_fail(self.on_retransmit.bind(py).call1((start.0, end.0)));
        });
    }

    fn on_ack(&mut self, ack: &AckSample) -> Verdict {
        self.instance.at(ack.now);
        Python::attach(|py| {
            self.seen.ack.get().refresh(ack);
            let value = self.instance.call(&self.on_ack, self.seen.arguments.bind(py));
            let wanted = || format!("{} or ab.Reordered(hold, undo)", listed(VERDICTS));
            self.instance.answer("on_ack()", &value, verdict, wanted)
        })
    }

    fn ignores_progress(&self) -> bool {
        self.ignores_progress
    }

    fn default_response(&self) -> Response {
        Python::attach(|py| {
            let value = self.instance.or_fail(self.default_response.bind(py).call0());
            self.instance.answer("default_response()", &value, word(RESPONSES), || words(RESPONSES))
        })
    }
}
