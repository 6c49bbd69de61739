//! Registries of algorithms: what is known about an algorithm, how it is chosen and given parameters, and how it is made.
//!
//! All kinds of algorithms are registered alike. A [`Factory`] knows its [`Info`] and makes instances. A [`Choice`] is a factory
//! with values for its parameters, and is what a [`Config`](crate::Config) holds, so that a configuration cannot name an
//! algorithm that does not exist. The registries are open: another crate, a binding or a test implements [`Factory`] and hands it
//! to [`Choice::new`], or adds it to a [`Registry`], where it can be found by name like the engine's own.
//! [`Registries`](crate::config::Registries) holds the registries of all five kinds.

use core::fmt::{Debug, Display, Formatter, Result as Written};
use core::str::FromStr;
use std::borrow::Cow;
use std::sync::Arc;

mod error;
mod info;
mod setting;

pub use error::ConfigError;
pub use info::{Info, Parameter};
pub use setting::{Range, Setting};

/// What an algorithm may know of its connection when it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Setup {
    /// Payload octets of a full segment, before the handshake has settled it.
    pub mss: u32,
    /// Initial window in segments (RFC 6928).
    pub initial_window: u32,
    /// The subflow that the algorithm is for; `None` for a scheduler.
    pub subflow: Option<Place>,
}

/// The subflow that an algorithm is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Number of the subflow in its connection on this host.
    pub index: usize,
    /// This host opens the subflow (active OPEN, RFC 9293 3.10.1).
    pub active: bool,
}

impl Setup {
    /// Segments of `mss` octets of payload, and a window of `initial_window` of them.
    pub const fn new(mss: u32, initial_window: u32) -> Self {
        Self { mss, initial_window, subflow: None }
    }

    /// The same for an algorithm of the subflow `subflow`.
    #[must_use]
    pub const fn of(self, subflow: Place) -> Self {
        Self { subflow: Some(subflow), ..self }
    }
}

/// What an algorithm needs from the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Need {
    /// Selective acknowledgement (RFC 2018, 2883) must be switched on.
    Sack,
    /// SACK blocks must say what has arrived: not under coupled acknowledgement, where they report duplicates only.
    Scoreboard,
    /// Timestamps (RFC 7323) must be switched on.
    Timestamps,
    /// The options of TCP-DOOR. No switch is needed: an endpoint whose judge needs them offers them.
    DoorOptions,
    /// Samples of the delivery rate, which the endpoint then takes by itself.
    DeliveryRate,
    /// ECN (RFC 3168) must be switched on.
    Ecn,
    /// The receiver echoes marks exactly (RFC 8257 3.2). No switch is needed: an endpoint whose controller needs it does so by itself.
    ExactEcho,
    /// Unsent data beyond what leaves next, so that decisions can go by how much there is: an application writes ahead as far as the send
    /// buffer takes it. No switch is needed.
    Backlog,
    /// An application that writes blocks of 64 KiB as long as the send buffer takes them. No switch is needed.
    Blocks,
    /// To be told of each segment with payload that is sent: only then are `on_sent` of a controller or a detector and `pacing` of a
    /// controller called.
    Departures,
    /// A timer of its own: only then is `deadline` of a detector asked.
    Timer,
}

impl Need {
    /// The field of the configuration that has to be switched on, or set to its default, if there is one.
    pub fn key(self) -> Option<&'static str> {
        match self {
            Self::Sack => Some("sack"),
            Self::Timestamps => Some("timestamps"),
            Self::Scoreboard => Some("acknowledgement"),
            Self::Ecn => Some("ecn"),
            Self::DoorOptions | Self::DeliveryRate | Self::ExactEcho | Self::Backlog => None,
            Self::Blocks | Self::Departures | Self::Timer => None,
        }
    }
}

impl Display for Need {
    fn fmt(&self, f: &mut Formatter<'_>) -> Written {
        f.write_str(match self {
            Self::Sack => "sack",
            Self::Scoreboard => "SACK blocks of what has arrived",
            Self::Timestamps => "timestamps",
            Self::DoorOptions => "the DOOR options (negotiated automatically)",
            Self::DeliveryRate => "delivery-rate samples (taken automatically)",
            Self::Ecn => "ecn",
            Self::ExactEcho => "an exact echo of ECN marks (given automatically)",
            Self::Backlog => "an application that writes ahead (set automatically)",
            Self::Blocks => "an application that writes large blocks (set automatically)",
            Self::Departures => "notice of each departing segment (given automatically)",
            Self::Timer => "a timer (set automatically)",
        })
    }
}

/// What a controller is fair to at a shared bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fairness {
    /// All subflows together take about what one TCP would (RFC 6356 2.1, goal 2: do no harm).
    Connection,
    /// Each subflow takes what a TCP would, wherever they meet.
    Subflow,
}

impl Display for Fairness {
    fn fmt(&self, f: &mut Formatter<'_>) -> Written {
        f.write_str(match self {
            Self::Connection => "connection",
            Self::Subflow => "subflow",
        })
    }
}

/// What a parameter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// A plain number.
    Number,
    /// A whole number.
    Whole,
    /// A time; its value is in seconds.
    Time,
    /// A fraction, 0 to 1.
    Share,
    /// A time in smoothed round-trip times.
    RoundTrips,
}

/// Values of an algorithm's parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    parameters: Cow<'static, [Parameter]>,
    values: Vec<f64>,
}

impl Values {
    /// The defaults.
    fn of(info: &Info) -> Self {
        Self { parameters: info.parameters.clone(), values: info.parameters.iter().map(|p| p.default).collect() }
    }

    /// The value of a parameter.
    ///
    /// # Panics
    /// If the algorithm's [`Info`] has no such parameter.
    pub fn get(&self, name: &str) -> f64 {
        self.find(name).map(|i| self.values[i]).expect("a parameter that Info lists")
    }

    /// Parameters and their values, in the order of the list.
    pub fn iter(&self) -> impl Iterator<Item = (&Parameter, f64)> {
        self.parameters.iter().zip(self.values.iter().copied())
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.parameters.iter().position(|p| p.name == name)
    }
}

/// Makes instances of one algorithm: `T` is `dyn Controller`, `dyn Judge` or `dyn Scheduler`.
pub trait Factory<T: ?Sized>: Debug + Send + Sync {
    /// Name, summary, needs and parameters of the algorithm.
    fn info(&self) -> &Info;
    /// A new instance for a connection with this configuration; `values` has a value for each parameter of [`Info::parameters`].
    fn make(&self, setup: &Setup, values: &Values) -> Box<T>;
}

/// A factory of this crate's own algorithms: a description and a function.
pub struct Builtin<T: ?Sized> {
    /// What [`Factory::info`] returns.
    pub info: Info,
    /// What [`Factory::make`] calls.
    pub make: fn(&Setup, &Values) -> Box<T>,
}

impl<T: ?Sized> Debug for Builtin<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Written {
        f.write_str(&self.info.name)
    }
}

impl<T: ?Sized> Factory<T> for &'static Builtin<T> {
    fn info(&self) -> &Info {
        &self.info
    }

    fn make(&self, setup: &Setup, values: &Values) -> Box<T> {
        (self.make)(setup, values)
    }
}

/// A kind of algorithm: `dyn Controller`, `dyn Judge`, `dyn Scheduler`.
pub trait Kind: 'static {
    /// The field of the configuration that names one: `controller`, `detector`, `reduction`, `judge` or `scheduler`.
    const KIND: &'static str;
    /// The algorithms of this crate.
    fn builtin() -> &'static [&'static Builtin<Self>];
}

/// An algorithm and the values of its parameters.
pub struct Choice<T: ?Sized> {
    factory: Arc<dyn Factory<T>>,
    values: Values,
    /// Nobody named it: without SACK the rules of NewReno replace it.
    yields: bool,
}

impl<T: ?Sized + Kind> Choice<T> {
    /// The algorithm of `factory`, with the default values of its parameters.
    pub fn new(factory: impl Factory<T> + 'static) -> Self {
        Self::shared(Arc::new(factory))
    }

    /// [`Choice::new`] for a factory that is shared.
    pub fn shared(factory: Arc<dyn Factory<T>>) -> Self {
        let values = Values::of(factory.info());
        Self { factory, values, yields: false }
    }

    /// The same choice as a default that nobody named. A detector or reduction that yields gives way to NewReno (RFC 6582) on a
    /// connection or subflow without SACK; one that was named is refused if it needs SACK and SACK is off.
    #[must_use]
    pub fn yielding(mut self) -> Self {
        self.yields = true;
        self
    }

    /// The same choice with another value of one parameter.
    ///
    /// # Errors
    /// If it has no such parameter, or the value is out of its range.
    pub fn with(mut self, parameter: &str, value: f64) -> Result<Self, ConfigError> {
        let Some(i) = self.values.find(parameter) else {
            return Err(ConfigError::NoParameter {
                kind: T::KIND,
                name: self.name().to_owned(),
                parameter: parameter.to_owned(),
                known: self.info().parameters.iter().map(|p| p.name.to_string()).collect(),
            });
        };
        let known = &self.info().parameters[i];
        if !known.allows(value) {
            return Err(ConfigError::Parameter {
                kind: T::KIND,
                name: self.name().to_owned(),
                parameter: known.name.to_string(),
                allowed: (known.least, known.most),
                value,
            });
        }
        self.values.values[i] = value;
        Ok(self)
    }
}

impl<T: ?Sized> Choice<T> {
    /// What is known of the algorithm.
    pub fn info(&self) -> &Info {
        self.factory.info()
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.info().name
    }

    /// Its parameters.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// It is a default that nobody named ([`Choice::yielding`]).
    pub fn yields(&self) -> bool {
        self.yields
    }

    /// A fresh instance.
    pub fn make(&self, setup: &Setup) -> Box<T> {
        self.factory.make(setup, &self.values)
    }
}

impl<T: ?Sized> Clone for Choice<T> {
    fn clone(&self) -> Self {
        Self { factory: self.factory.clone(), values: self.values.clone(), yields: self.yields }
    }
}

impl<T: ?Sized> Debug for Choice<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Written {
        f.write_str(self.name())?;
        self.values.iter().try_for_each(|(p, value)| write!(f, " {}={value}", p.name))
    }
}

impl<T: ?Sized + Kind> Choice<T> {
    /// Each algorithm of this crate, with the defaults of its parameters.
    pub fn all() -> Vec<Self> {
        Registry::default().iter().collect()
    }
}

/// An algorithm of this crate by its name, with the default values of its parameters.
impl<T: ?Sized + Kind> FromStr for Choice<T> {
    type Err = ConfigError;

    fn from_str(name: &str) -> Result<Self, ConfigError> {
        Registry::default().find(name)
    }
}

/// Algorithms of one kind by name. [`Registry::default`] has those of this crate.
pub struct Registry<T: ?Sized> {
    known: Vec<Arc<dyn Factory<T>>>,
}

impl<T: ?Sized> Clone for Registry<T> {
    fn clone(&self) -> Self {
        Self { known: self.known.clone() }
    }
}

impl<T: ?Sized + Kind> Default for Registry<T> {
    fn default() -> Self {
        Self { known: T::builtin().iter().map(|&b| Arc::new(b) as Arc<dyn Factory<T>>).collect() }
    }
}

impl<T: ?Sized> Debug for Registry<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Written {
        f.debug_list().entries(&self.known).finish()
    }
}

impl<T: ?Sized + Kind> Registry<T> {
    /// Adds an algorithm behind those that are registered.
    ///
    /// # Errors
    /// If an algorithm of that name is registered already, or if a scenario could not hold the
    /// texts of its [`Info`] ([`Info::check`]). The registry is unchanged then.
    pub fn add(&mut self, factory: Arc<dyn Factory<T>>) -> Result<(), ConfigError> {
        let info = factory.info();
        let name = info.name.to_string();
        info.check().map_err(|problem| ConfigError::Info { kind: T::KIND, name: name.clone(), problem })?;
        if self.known.iter().any(|f| f.info().name == name) {
            return Err(ConfigError::Taken { kind: T::KIND, name });
        }
        self.known.push(factory);
        Ok(())
    }

    /// Returns the registry with one more algorithm.
    ///
    /// # Errors
    /// As [`Registry::add`].
    pub fn with(mut self, factory: impl Factory<T> + 'static) -> Result<Self, ConfigError> {
        self.add(Arc::new(factory)).map(|()| self)
    }

    /// The algorithm called `name`, with the defaults of its parameters.
    ///
    /// # Errors
    /// If there is none.
    pub fn find(&self, name: &str) -> Result<Choice<T>, ConfigError> {
        let found = self.known.iter().find(|f| f.info().name == name);
        found.map(|f| Choice::shared(f.clone())).ok_or_else(|| ConfigError::Unknown {
            kind: T::KIND,
            name: name.to_owned(),
            known: self.known.iter().map(|f| f.info().name.to_string()).collect(),
        })
    }

    /// All of them, with the defaults of their parameters, in the order of their registration.
    pub fn iter(&self) -> impl Iterator<Item = Choice<T>> + '_ {
        self.known.iter().map(|f| Choice::shared(f.clone()))
    }
}
