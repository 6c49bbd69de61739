//! A scheduler written in Python.

use anabranch_stack::path::Path as Row;
use anabranch_stack::scheduler::{Assignment, Decision, Offer as EngineOffer, Reach, Scheduler};
use anabranch_stack::time::Instant;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::answer::{word, words};
use super::compiled::CompiledScheduler;
use super::decision::decision;
use super::instance::{Instance, Method};
use super::offer::Offer;
use super::path::Paths;
use super::sample;

const REACHES: &[(&str, Reach)] = &[("room", Reach::Room), ("memory", Reach::Memory), ("windows", Reach::Windows)];

/// An object of a subclass of `ab.Scheduler`.
#[derive(Debug)]
pub struct PyScheduler {
    instance: Instance,
    pick: Py<PyAny>,
    pick_again: Method,
    on_sent: Method,
    on_acked: Method,
    on_lost: Method,
    reach: Reach,
    resends: bool,
    remembers: bool,
    seen: Option<Seen>,
}

/// The offer as Python sees it.
#[derive(Debug)]
struct Seen {
    paths: Paths,
    offer: Py<Offer>,
    /// Arguments of `pick`.
    arguments: Py<PyTuple>,
}

impl Seen {
    fn new(py: Python<'_>, rows: &[Row]) -> PyResult<Self> {
        let mut paths = Paths::new(py);
        paths.refresh(py, rows)?;
        let offer = Py::new(py, Offer::new(paths.views(py), paths.tuple(py).clone().unbind()))?;
        let arguments = PyTuple::new(py, [offer.clone_ref(py)])?.unbind();
        Ok(Self { paths, offer, arguments })
    }
}

impl PyScheduler {
    pub fn new(py: Python<'_>, instance: Instance) -> PyResult<Self> {
        let reach = instance.object(py).call_method0("reach")?;
        let reach = instance.answer("reach()", &reach, word(REACHES), || words(REACHES));
        Ok(Self {
            pick: instance.method(py, "pick")?,
            pick_again: instance.overridden(py, "pick_again")?,
            on_sent: instance.overridden(py, "on_sent")?,
            on_acked: instance.overridden(py, "on_acked")?,
            on_lost: instance.overridden(py, "on_lost")?,
            reach,
            resends: instance.asked_truth(py, "resends")?,
            remembers: instance.asked_truth(py, "remembers")?,
            seen: None,
            instance,
        })
    }

    /// Shows `offer` to Python.
    #[inline]
    fn show(&mut self, py: Python<'_>, offer: &EngineOffer<'_>) -> Py<PyTuple> {
        let renewed = match &mut self.seen {
            Some(seen) if seen.paths.len() == offer.paths.len() => seen.paths.refresh(py, offer.paths).map(|_| None),
            _ => Seen::new(py, offer.paths).map(Some),
        };
        if let Some(seen) = self.instance.or_fail(renewed) {
            self.seen = Some(seen);
        }
        let seen = self.seen.as_ref().expect("made above");
        seen.offer.get().refresh(offer);
        self.instance.at(offer.now);
        seen.arguments.clone_ref(py)
    }

    #[inline]
    fn answer(&mut self, offer: &EngineOffer<'_>, again: bool) -> Decision {
        Python::attach(|py| {
            let arguments = self.show(py, offer);
            let method = if again { self.pick_again.as_ref().unwrap_or(&self.pick) } else { &self.pick };
            let value = self.instance.call(method, arguments.bind(py));
            decision(&value, offer, self.reach).unwrap_or_else(|problem| self.instance.refuse(problem))
        })
    }
}

/// The object as the engine's scheduler: one that calls its methods, or its machine code.
pub fn adapted(py: Python<'_>, instance: Instance) -> PyResult<Box<dyn Scheduler>> {
    match instance.ask(py, "_machine_code")? {
        Some(code) => Ok(Box::new(CompiledScheduler::new(py, instance, code)?)),
        None => Ok(Box::new(PyScheduler::new(py, instance)?)),
    }
}

impl Scheduler for PyScheduler {
    fn pick(&mut self, offer: &EngineOffer<'_>) -> Decision {
        self.answer(offer, false)
    }

    fn reach(&self) -> Reach {
        self.reach
    }

    fn resends(&self) -> bool {
        self.resends
    }

    fn pick_again(&mut self, offer: &EngineOffer<'_>) -> Decision {
        if self.pick_again.is_none() { Decision::Wait(None) } else { self.answer(offer, true) }
    }

    fn on_sent(&mut self, assignment: &Assignment) {
        self.instance.tell(&self.on_sent, |_| (sample::Assignment::new(*assignment),));
    }

    fn remembers(&self) -> bool {
        self.remembers
    }

    fn on_acked(&mut self, now: Instant, subflow: usize, octets: u64) {
        self.instance.at(now);
        self.instance.tell(&self.on_acked, |_| (now.0 as f64 / 1e9, subflow, octets));
    }

    fn on_lost(&mut self, now: Instant, subflow: usize, octets: u64) {
        self.instance.at(now);
        self.instance.tell(&self.on_lost, |_| (now.0 as f64 / 1e9, subflow, octets));
    }
}
