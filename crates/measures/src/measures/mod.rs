//! The one table of measures: what each field of a summary and each column of a frame is called,
//! counts and means.
//!
//! Summaries and analyses of captures take their keys from here; the binding hands the table to
//! Python; docs/columns.md is made of it (`make columns`). A new measure is one entry, and the line
//! that computes its value.

mod applications;
mod captures;
mod columns;
mod frames;
mod summary;
mod unit;

use serde_json::{Map, Value};

pub use applications::*;
pub use captures::*;
pub use columns::{Column, columns};
pub use frames::*;
pub use summary::*;
pub use unit::Unit;

/// Where a measure stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// At the top of a summary, over all connections.
    Run,
    /// In each connection.
    Connection,
    /// In each subflow.
    Subflow,
    /// In a frame.
    Frame,
}

impl Scope {
    /// In words of the JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Connection => "connection",
            Self::Subflow => "subflow",
            Self::Frame => "frame",
        }
    }
}

const RUN: &[Scope] = &[Scope::Run];
const CONNECTION: &[Scope] = &[Scope::Connection];
const SUBFLOW: &[Scope] = &[Scope::Subflow];
const RUN_AND_CONNECTION: &[Scope] = &[Scope::Run, Scope::Connection];
const CONNECTION_AND_SUBFLOW: &[Scope] = &[Scope::Connection, Scope::Subflow];
const EVERYWHERE: &[Scope] = &[Scope::Run, Scope::Connection, Scope::Subflow];
const FRAME: &[Scope] = &[Scope::Frame];

/// What an analysis of captures knows of a measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capture {
    /// The analysis does not have the field.
    Absent,
    /// Known wherever the capture was taken.
    Known,
    /// Depends on when segments arrived: an estimate unless the capture was taken at the receiver.
    Arrival,
    /// Inferred from the order of packets.
    Inferred,
    /// Known only if the capture was taken at the sender.
    Sender,
    /// No capture shows it: the field is null.
    Null,
    /// Only captures have it.
    Only,
    /// Only captures have it, and it depends on when segments arrived.
    OnlyArrival,
}

impl Capture {
    /// In words of docs/columns.md.
    pub fn words(self) -> &'static str {
        match self {
            Self::Absent => "no",
            Self::Known => "yes",
            Self::Arrival => "estimated, unless at the receiver",
            Self::Inferred => "inferred",
            Self::Sender => "at the sender",
            Self::Null => "null",
            Self::Only => "only captures",
            Self::OnlyArrival => "only captures; estimated, unless at the receiver",
        }
    }
}

/// Which values are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Neither.
    Neither,
    /// Larger ones.
    More,
    /// Smaller ones.
    Less,
}

impl Better {
    /// In words of the JSON; empty for neither.
    pub fn words(self) -> &'static str {
        match self {
            Self::Neither => "",
            Self::More => "more",
            Self::Less => "less",
        }
    }
}

/// Percentiles, by the names of their fields: label, and the part of the values that are not above.
pub const PERCENTILES: [(&str, &str, f64); 4] = [
    ("p50", "median", 0.5),
    ("p95", "95th percentile", 0.95),
    ("p99", "99th percentile", 0.99),
    ("p999", "99.9th percentile", 0.999),
];

const P99: Parts = Parts::Percentiles(3);
const P999: Parts = Parts::Percentiles(4);

/// The fields inside of a field; a sweep has a column for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// The field has one value.
    None,
    /// The first so many of [`PERCENTILES`].
    Percentiles(usize),
    /// Measures of the other direction.
    Reverse,
    /// Shares of the time by cause.
    Limits,
    /// Loss episodes by truth and verdict.
    Episodes,
}

/// A field of a summary, or a column of a frame.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// Its key.
    pub key: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// Its label, everywhere, without the unit; empty if no table or figure shows it.
    pub label: &'static str,
    /// The label in headings of tables.
    pub short: &'static str,
    /// The whole that it is a share of; empty if it is none.
    pub whole: &'static str,
    /// What it is, in the words of docs/columns.md.
    pub definition: &'static str,
    /// The same of a subflow, if it differs; else empty.
    pub of_subflow: &'static str,
    /// Where it stands.
    pub scopes: &'static [Scope],
    /// What an analysis of captures knows of it.
    pub capture: Capture,
    /// Which values are better.
    pub better: Better,
    /// The fields inside.
    pub parts: Parts,
    /// The sum over the subflows of a connection means something.
    pub is_summed: bool,
    /// Its type in a frame; empty in a summary.
    pub kind: &'static str,
}

impl Measure {
    const fn new(key: &'static str, unit: Unit, label: &'static str) -> Self {
        Self {
            key,
            unit,
            label,
            short: label,
            whole: "",
            definition: "",
            of_subflow: "",
            scopes: &[],
            capture: Capture::Absent,
            better: Better::Neither,
            parts: Parts::None,
            is_summed: false,
            kind: "",
        }
    }

    const fn short(self, short: &'static str) -> Self {
        Self { short, ..self }
    }

    const fn whole(self, whole: &'static str) -> Self {
        Self { whole, ..self }
    }

    const fn means(self, definition: &'static str) -> Self {
        Self { definition, ..self }
    }

    const fn means_of_subflow(self, of_subflow: &'static str) -> Self {
        Self { of_subflow, ..self }
    }

    const fn of(self, scopes: &'static [Scope]) -> Self {
        Self { scopes, ..self }
    }

    const fn in_captures(self, capture: Capture) -> Self {
        Self { capture, ..self }
    }

    const fn more(self) -> Self {
        Self { better: Better::More, ..self }
    }

    const fn less(self) -> Self {
        Self { better: Better::Less, ..self }
    }

    const fn summed(self) -> Self {
        Self { is_summed: true, ..self }
    }

    const fn parts(self, parts: Parts) -> Self {
        Self { parts, ..self }
    }

    const fn typed(self, kind: &'static str) -> Self {
        Self { kind, scopes: FRAME, ..self }
    }

    /// Puts its value into an object of a summary.
    pub fn put(&self, object: &mut Map<String, Value>, value: impl Into<Value>) {
        object.insert(self.key.to_owned(), value.into());
    }

    /// Whether it stands there.
    pub fn is_of(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
    }

    /// An analysis of captures counts it among the estimates, unless the capture was taken at the
    /// receiver.
    pub fn depends_on_arrival(&self) -> bool {
        matches!(self.capture, Capture::Arrival | Capture::OnlyArrival)
    }
}

/// Declares measures and the list of them.
macro_rules! measures {
    ($(#[$doc:meta])* $list:ident: $($name:ident = $measure:expr;)*) => {
        $(
            #[doc = concat!("The measure ", stringify!($name), ".")]
            pub const $name: Measure = $measure;
        )*
        $(#[$doc])*
        pub const $list: &[Measure] = &[$($name),*];
    };
}
use measures;

/// The measures of summaries, in the order of docs/columns.md.
pub fn summary() -> impl Iterator<Item = &'static Measure> {
    let lists = [ENDING, ORDER, DENSITY, LIMITS_AND_LOSSES, APPLICATIONS, EFFORT, IDENTITY, SUBFLOWS, CAPTURES];
    lists.into_iter().flatten()
}

/// Sets the fields that no capture shows to null, where they are not there yet.
pub fn put_unknowable(object: &mut Map<String, Value>, scope: Scope) {
    for measure in summary().filter(|m| m.capture == Capture::Null && m.is_of(scope)) {
        object.entry(measure.key).or_insert(Value::Null);
    }
}
