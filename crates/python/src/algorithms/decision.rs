//! Decisions of a Python scheduler, and their translation for the engine.

use anabranch_stack::scheduler::{Decision, Offer, Reach, Subflows};
use anabranch_stack::time::Instant;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyType};

/// Send nothing now; ask again when something arrives, and at `until` at the latest.
#[pyclass(frozen, module = "anabranch._core")]
pub struct Wait {
    until: Option<u64>,
}

#[pymethods]
impl Wait {
    #[new]
    #[pyo3(signature = (until=None, *, until_ns=None))]
    fn new(until: Option<f64>, until_ns: Option<u64>) -> PyResult<Self> {
        let until = match (until, until_ns) {
            (Some(_), Some(_)) => return Err(PyTypeError::new_err("Wait: give until or until_ns, not both")),
            (Some(s), None) if !(s.is_finite() && s >= 0.0) => {
                return Err(PyValueError::new_err(format!("Wait: until is {s}; give a virtual time in seconds")));
            }
            (Some(s), None) => Some((s * 1e9).round() as u64),
            (None, ns) => ns,
        };
        Ok(Self { until })
    }

    /// Latest virtual time of the next question in seconds; None without one.
    #[getter]
    fn until(&self) -> Option<f64> {
        self.until.map(|ns| ns as f64 / 1e9)
    }

    fn __repr__(&self) -> String {
        self.until().map_or_else(|| "Wait()".to_owned(), |s| format!("Wait({s})"))
    }
}

impl Wait {
    /// Latest virtual time of the next question.
    pub fn until_instant(&self) -> Option<Instant> {
        self.until.map(Instant)
    }
}

/// Send the next segment of new data on each of `subflows`; those that cannot send are skipped.
#[pyclass(frozen, module = "anabranch._core")]
pub struct SendAll {
    /// Indices of subflows.
    #[pyo3(get)]
    subflows: Vec<usize>,
}

#[pymethods]
impl SendAll {
    #[new]
    fn new(subflows: Vec<usize>) -> Self {
        Self { subflows }
    }

    fn __repr__(&self) -> String {
        format!("SendAll({:?})", self.subflows)
    }
}

/// Declares a decision with whole numbers as fields.
macro_rules! decision {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $field:ident),* }) => {
        $(#[$meta])*
        #[pyclass(frozen, module = "anabranch._core")]
        pub struct $name {
            $($(#[$doc])* #[pyo3(get)] $field: u64,)*
        }

        #[pymethods]
        impl $name {
            #[new]
            fn new($($field: u64),*) -> Self {
                Self { $($field),* }
            }

            fn __repr__(&self) -> String {
                let fields: &[String] = &[$(format!("{}={}", stringify!($field), self.$field)),*];
                format!("{}({})", stringify!($name), fields.join(", "))
            }
        }
    };
}

decision! {
    /// Send octets again that were sent and have no DATA_ACK, at most one segment, on a subflow
    /// that can send.
    Resend {
        /// First octet of the data stream.
        start,
        /// Octet after the last.
        end,
        /// Index of the subflow.
        on
    }
}

decision! {
    /// Assign the next octets of new data to a subflow ahead of its window.
    Queue {
        /// Index of the subflow.
        on,
        /// Number of octets.
        octets
    }
}

decision! {
    /// Move data that was assigned last and is not sent yet to another subflow; the scheduler is
    /// asked again at once.
    Move {
        /// Index of the subflow that has the data queued.
        source,
        /// Index of the subflow that gets the data.
        to,
        /// Largest number of octets.
        octets
    }
}

decision! {
    /// Halve the window of a subflow that blocks the others; the scheduler is asked again at once.
    Penalise {
        /// Index of the subflow.
        on
    }
}

/// What a Python scheduler returned, as the engine's decision.
///
/// # Errors
/// What is wrong with it: the value and what is allowed.
#[inline]
pub fn decision(value: &Bound<'_, PyAny>, offer: &Offer<'_>, reach: Reach) -> Result<Decision, String> {
    if value.is_exact_instance_of::<PyInt>() {
        return value.extract::<i64>().map_or_else(|_| Err(absent(value, offer)), |i| send(i, offer));
    }
    other(value, offer, reach)
}

/// The decision to send on subflow `i`.
///
/// # Errors
/// If there is no such subflow, or if it cannot send now.
pub fn send(i: i64, offer: &Offer<'_>) -> Result<Decision, String> {
    let found = usize::try_from(i).ok().and_then(|i| offer.paths.get(i).map(|p| (i, p)));
    match found {
        Some((i, p)) if p.can_send => Ok(Decision::Send(i)),
        Some((i, _)) => Err(cannot_send(i)),
        None => Err(absent(i, offer)),
    }
}

fn absent(i: impl std::fmt::Display, offer: &Offer<'_>) -> String {
    format!("returned {i}; valid indices of offer.paths are 0 to {}", offer.paths.len().saturating_sub(1))
}

fn cannot_send(i: usize) -> String {
    format!(
        "chose subflow {i}, which cannot send now; choose among the paths whose can_send is True, or return ab.Wait()"
    )
}

/// The decision to send the same data on all of `subflows`.
fn send_all(subflows: &[usize], offer: &Offer<'_>) -> Result<Decision, String> {
    let mut set = Subflows::default();
    for &i in subflows {
        if i >= offer.paths.len() {
            return Err(absent(i, offer));
        }
        set = set.with(i);
    }
    match subflows.iter().any(|&i| offer.paths[i].can_send) {
        true => Ok(Decision::SendAll(set)),
        false => Err(format!("chose subflows {subflows:?}, none of which can send now; return ab.Wait()")),
    }
}

fn other(value: &Bound<'_, PyAny>, offer: &Offer<'_>, reach: Reach) -> Result<Decision, String> {
    let subflow = |i: u64| usize::try_from(i).ok().filter(|&i| i < offer.paths.len()).ok_or_else(|| absent(i, offer));
    let able = |i: u64| subflow(i).and_then(|i| if offer.paths[i].can_send { Ok(i) } else { Err(cannot_send(i)) });
    let ahead = || match reach {
        Reach::Room => Err(format!(
            "returned {}, which assigns data ahead of the window, but reach() is \"room\"; return \"windows\" or \"memory\" from reach()",
            repr(value)
        )),
        Reach::Memory | Reach::Windows => Ok(()),
    };
    if let Ok(wait) = value.cast::<Wait>() {
        let until = wait.get().until.map(Instant);
        if let Some(until) = until.filter(|until| *until <= offer.now) {
            return Err(format!("waits until {until} s, but it is {} s now; give a later time", offer.now));
        }
        return Ok(Decision::Wait(until));
    }
    if let Ok(all) = value.cast::<SendAll>() {
        return send_all(&all.get().subflows, offer);
    }
    if let Ok(resend) = value.cast::<Resend>() {
        let &Resend { start, end, on } = resend.get();
        if start >= end || end > offer.data_nxt {
            return Err(format!("resends octets {start} to {end}, but 0 to {} were sent", offer.data_nxt));
        }
        return Ok(Decision::Resend { start, end, on: able(on)? });
    }
    if let Ok(queue) = value.cast::<Queue>() {
        let &Queue { on, octets } = queue.get();
        ahead()?;
        if octets == 0 {
            return Err(format!("queues 0 octets on subflow {on}; queue at least 1, or return ab.Wait()"));
        }
        return Ok(Decision::Queue { on: able(on)?, octets });
    }
    if let Ok(moved) = value.cast::<Move>() {
        let &Move { source, to, octets } = moved.get();
        ahead()?;
        if source == to || octets == 0 {
            return Err(format!(
                "moves {octets} octets from subflow {source} to {to}; give two different subflows and at least 1 octet"
            ));
        }
        return Ok(Decision::Move { from: subflow(source)?, to: able(to)?, octets });
    }
    if let Ok(penalise) = value.cast::<Penalise>() {
        return subflow(penalise.get().on).map(Decision::Penalise);
    }
    if value.cast::<PyType>().is_ok_and(|class| class.is(value.py().get_type::<Wait>())) {
        return Ok(Decision::Wait(None));
    }
    // Whole numbers of other types, such as numpy's.
    if !value.is_instance_of::<PyBool>() {
        if let Ok(i) = value.extract::<i64>() {
            return send(i, offer);
        }
    }
    Err(no_decision(value))
}

fn no_decision(value: &Bound<'_, PyAny>) -> String {
    format!(
        "returned {}; return the index of a subflow that can send, or ab.Wait(), ab.SendAll, ab.Resend, ab.Queue, ab.Move or ab.Penalise",
        repr(value)
    )
}

/// `value` as Python writes it.
pub fn repr(value: &Bound<'_, PyAny>) -> String {
    value.repr().map_or_else(|_| "an object".to_owned(), |text| text.to_string())
}
