//! Why a configuration is refused.

use core::fmt::{Display, Formatter, Result as Written};

use super::Need;
use crate::time::Duration;

/// What is wrong with a configuration; its text names the value and the remedy.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ConfigError {
    /// A registry has no algorithm of this name.
    Unknown {
        /// `controller`, `judge` or `scheduler`.
        kind: &'static str,
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// A registry has an algorithm of this name.
    Taken {
        /// `controller`, `judge` or `scheduler`.
        kind: &'static str,
        /// Its name.
        name: String,
    },
    /// A scenario or a list cannot hold the texts of an algorithm.
    Info {
        /// `controller`, `judge` or `scheduler`.
        kind: &'static str,
        /// Of the algorithm.
        name: String,
        /// What is wrong, and the remedy.
        problem: String,
    },
    /// An algorithm has no parameter of this name.
    NoParameter {
        /// `controller`, `judge` or `scheduler`.
        kind: &'static str,
        /// Of the algorithm.
        name: String,
        /// What was asked for.
        parameter: String,
        /// What there is.
        known: Vec<String>,
    },
    /// A parameter of an algorithm is out of its range.
    Parameter {
        /// `controller`, `judge` or `scheduler`.
        kind: &'static str,
        /// Of the algorithm.
        name: String,
        /// Which one.
        parameter: String,
        /// The least and the largest value allowed.
        allowed: (f64, f64),
        /// What was given.
        value: f64,
    },
    /// An algorithm needs what is switched off.
    Needs {
        /// `controller`, `judge` or `scheduler`.
        kind: &'static str,
        /// Of the algorithm.
        name: String,
        /// What it needs.
        need: Need,
    },
    /// A field is out of its range.
    Range {
        /// Of [`Config`](crate::Config).
        field: &'static str,
        /// What was given.
        value: String,
        /// What may be given.
        allowed: String,
    },
    /// A retransmission timeout is above the upper bound.
    AboveMaxRto {
        /// `min_rto` or `initial_rto`.
        field: &'static str,
        /// What was given.
        value: Duration,
        /// The bound.
        max_rto: Duration,
    },
}

impl Display for ConfigError {
    fn fmt(&self, f: &mut Formatter<'_>) -> Written {
        match self {
            Self::Unknown { kind, name, known } => {
                write!(f, "{kind}: there is no \"{name}\"; choices: {}", known.join(", "))
            }
            Self::Taken { kind, name } => {
                write!(f, "{kind}: the name \"{name}\" is registered already; register the new one under another name")
            }
            Self::Info { kind, name, problem } => write!(f, "{kind}: \"{name}\" cannot be registered: {problem}"),
            Self::NoParameter { kind, name, parameter, known } if known.is_empty() => {
                write!(f, "{kind}: \"{name}\" has no parameters; remove {parameter}")
            }
            Self::NoParameter { kind, name, parameter, known } => {
                write!(f, "{kind}: \"{name}\" has no parameter {parameter}; it has: {}", known.join(", "))
            }
            Self::Parameter { kind, name, parameter, value, allowed: (least, most) } => {
                // Only whole numbers are refused within the range.
                let what = if (*least..=*most).contains(value) { "a whole number from " } else { "" };
                write!(f, "{kind}: {parameter} of \"{name}\" is {value}; allowed: {what}{least} to {most}")
            }
            Self::Needs { kind, name, need: need @ Need::Scoreboard } => {
                write!(
                    f,
                    "{kind}: \"{name}\" needs {need}, which coupled acknowledgement does not send; choose independent \
                     acknowledgement, or another {kind}"
                )
            }
            Self::Needs { kind, name, need } => {
                write!(f, "{kind}: \"{name}\" needs {need}, which is off; switch it on, or choose another {kind}")
            }
            Self::Range { field, value, allowed } => write!(f, "{field}: {value} is out of range; allowed: {allowed}"),
            Self::AboveMaxRto { field, value, max_rto } => {
                write!(f, "{field}: {value} is more than max_rto, {max_rto}; lower {field} or raise max_rto")
            }
        }
    }
}

impl core::error::Error for ConfigError {}
