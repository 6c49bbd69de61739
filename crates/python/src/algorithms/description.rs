//! The description of a class of Python, and its factory.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use anabranch_stack::controller::Controller;
use anabranch_stack::detector::Detector;
use anabranch_stack::judge::Judge;
use anabranch_stack::reduction::Reduction;
use anabranch_stack::registry::{Factory, Fairness, Info, Need, Parameter, Setup, Unit, Values};
use anabranch_stack::scheduler::Scheduler;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::AlgorithmError;
use super::answer::listed;
use super::controller::PyController;
use super::detector::PyDetector;
use super::instance::Instance;
use super::judge::PyJudge;
use super::record::Owner;
use super::recorder::Recorder;
use super::reduction::PyReduction;
use super::scheduler;
use super::state::RunState;

/// What Python says of a class: attributes of `anabranch.algorithms.description.Description`.
pub struct Description {
    /// The kind of algorithm.
    pub kind: String,
    info: Info,
}

/// A parameter: name, unit, default, least and largest value, meaning.
type Row = (String, String, f64, f64, f64, String);

const NEEDS: &[(&str, Need)] = &[
    ("sack", Need::Sack),
    ("scoreboard", Need::Scoreboard),
    ("timestamps", Need::Timestamps),
    ("door_options", Need::DoorOptions),
    ("delivery_rate", Need::DeliveryRate),
    ("ecn", Need::Ecn),
    ("exact_echo", Need::ExactEcho),
    ("backlog", Need::Backlog),
    ("blocks", Need::Blocks),
    ("departures", Need::Departures),
    ("timer", Need::Timer),
];

const UNITS: &[(&str, Unit)] = &[
    ("number", Unit::Number),
    ("whole", Unit::Whole),
    ("time", Unit::Time),
    ("share", Unit::Share),
    ("round_trips", Unit::RoundTrips),
];

const FAIRNESS: &[(&str, Fairness)] = &[("connection", Fairness::Connection), ("subflow", Fairness::Subflow)];

/// The value called `word`.
fn named<T: Copy>(table: &[(&str, T)], word: &str, what: &str, class: &str) -> PyResult<T> {
    table.iter().find(|(name, _)| *name == word).map(|&(_, value)| value).ok_or_else(|| {
        AlgorithmError::new_err(format!("{class}: {what} has no \"{word}\"; choices: {}", listed(table)))
    })
}

impl Description {
    /// Reads the description.
    pub fn read(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let text = |name: &str| object.getattr(name)?.extract::<String>();
        let (name, label) = (text("name")?, text("label")?);
        let mut info = Info::owned(name.clone(), text("summary")?);
        info.source = text("source")?.into();
        info.validated = "written in Python by the user".into();
        let needs: Vec<String> = object.getattr("needs")?.extract()?;
        let needs = needs.iter().map(|word| named(NEEDS, word, "needs", &name)).collect::<PyResult<Vec<_>>>()?;
        info.needs = needs.into();
        let fairness: Option<String> = object.getattr("fairness")?.extract()?;
        info.fairness = fairness.map(|word| named(FAIRNESS, &word, "fairness", &name)).transpose()?;
        let rows: Vec<Row> = object.getattr("parameters")?.extract()?;
        let parameters = rows.into_iter().map(|(name, unit, default, least, most, meaning)| {
            let unit = named(UNITS, &unit, "the unit of a parameter", &name)?;
            Ok(Parameter::owned(name, unit, default, (least, most), meaning))
        });
        info.parameters = parameters.collect::<PyResult<Vec<_>>>()?.into();
        info.label = label.into();
        Ok(Self { kind: text("kind")?, info })
    }
}

/// Makes instances of a class of Python.
#[derive(Debug)]
pub struct PyFactory {
    info: Info,
    kind: String,
    description: Py<PyAny>,
    run: Arc<RunState>,
    /// Number of the connection in the scenario.
    connection: usize,
    /// Instances made so far.
    made: AtomicU64,
}

impl PyFactory {
    pub fn new(described: &Description, object: &Bound<'_, PyAny>, run: &Arc<RunState>) -> Self {
        Self {
            info: described.info.clone(),
            kind: described.kind.clone(),
            description: object.clone().unbind(),
            run: run.clone(),
            connection: 0,
            made: AtomicU64::new(0),
        }
    }

    /// The same factory for the connection with the number `connection`.
    pub fn within(self, connection: usize) -> Self {
        Self { connection, ..self }
    }

    /// Whose values the next instance records.
    fn owner(&self, setup: &Setup) -> Owner {
        let made = self.made.fetch_add(1, Relaxed);
        // The host that opens a connection makes its scheduler before the other host does.
        let active = setup.subflow.map_or(made == 0, |subflow| subflow.active);
        Owner { connection: self.connection, active, subflow: setup.subflow.map(|subflow| subflow.index) }
    }

    /// A new object of the class.
    fn instance(&self, setup: &Setup, values: &Values) -> Instance {
        let name = format!("{} {}", self.kind, self.info.label);
        let made = Python::attach(|py| {
            let given = PyDict::new(py);
            for (parameter, value) in values.iter() {
                given.set_item(&*parameter.name, value)?;
            }
            let seed = self.run.next_seed(&name);
            let recorder = Recorder::new(self.run.clone(), self.owner(setup));
            let arguments = (given, setup.mss, setup.initial_window, seed, recorder);
            self.description.call_method1(py, "make", arguments)
        });
        match made {
            Ok(object) => Instance::new(object, name.into(), self.run.clone()),
            Err(error) => self.run.fail(&name, error),
        }
    }
}

/// Makes a [`PyFactory`] the factory of a kind of algorithms.
macro_rules! factory {
    ($($kind:ident by $adapt:expr),*) => {$(
        impl Factory<dyn $kind> for PyFactory {
            fn info(&self) -> &Info {
                &self.info
            }

            fn make(&self, setup: &Setup, values: &Values) -> Box<dyn $kind> {
                let instance = self.instance(setup, values);
                let name = instance.name().to_owned();
                let adapt: fn(Python<'_>, Instance, &Setup) -> PyResult<Box<dyn $kind>> = $adapt;
                Python::attach(|py| adapt(py, instance, setup)).unwrap_or_else(|error| self.run.fail(&name, error))
            }
        }
    )*};
}
factory!(
    Controller by |py, instance, setup| Ok(Box::new(PyController::new(py, instance, setup)?)),
    Scheduler by |py, instance, _| scheduler::adapted(py, instance),
    Detector by |py, instance, _| Ok(Box::new(PyDetector::new(py, instance)?)),
    Reduction by |py, instance, _| Ok(Box::new(PyReduction::new(py, instance)?)),
    Judge by |py, instance, _| Ok(Box::new(PyJudge::new(py, instance)?))
);
