//! Result of a script.

use std::fmt;

/// Status of a script after its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// All checks of the script held.
    Passed,
    /// All checks of the script held, but the runner accepted at least one setting, behaviour or
    /// difference with a note.
    Noted,
    /// The engine did something else than the script expects: another segment, time, return value
    /// or assertion.
    Failed,
    /// The script needs a feature that the engine or the runner does not have.
    Unsupported,
    /// The text is not a valid script.
    Invalid,
}

impl Status {
    /// Returns the name of the status in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Noted => "passed with notes",
            Self::Failed => "failed",
            Self::Unsupported => "unsupported",
            Self::Invalid => "invalid",
        }
    }
}

/// A note on a line of the script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Line number, counted from 1.
    pub line: u32,
    /// Text of the note.
    pub text: String,
}

/// The first difference between a script and the engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mismatch {
    /// Line number in the script, counted from 1.
    pub line: u32,
    /// Text of the line.
    pub text: String,
    /// Virtual time, in seconds.
    pub time: String,
    /// What the script expects, in short.
    pub expected: String,
    /// What the engine did instead.
    pub actual: String,
    /// State of the connection and its sequence numbers at that time, one entry a line.
    pub state: Vec<String>,
}

/// Result of a script under one profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Status of the script.
    pub status: Status,
    /// Name of the profile.
    pub profile: &'static str,
    /// The difference, if the script failed.
    pub mismatch: Option<Mismatch>,
    /// The missing feature if the script is unsupported, or the error if it is invalid, with its
    /// line.
    pub why: Option<Note>,
    /// Checks that were skipped, because they query something that only Linux has.
    pub unchecked: Vec<Note>,
    /// Settings and behaviours that the runner accepted without carrying them out. Each could
    /// change the result.
    pub notes: Vec<Note>,
    /// Settings, behaviours and differences that the runner accepted, and that cannot change the
    /// result.
    pub inert: Vec<Note>,
    /// Number of events that passed.
    pub events: usize,
}

impl Report {
    /// Returns the report of a script before its first event.
    pub fn begun(profile: &'static str) -> Self {
        let (unchecked, notes, inert) = (Vec::new(), Vec::new(), Vec::new());
        Self { status: Status::Passed, profile, mismatch: None, why: None, unchecked, notes, inert, events: 0 }
    }

    /// Returns the report of a text that is not a valid script.
    pub fn invalid(profile: &'static str, why: Note) -> Self {
        Self { status: Status::Invalid, why: Some(why), ..Self::begun(profile) }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "line {} at {} s: {}", self.line, self.time, self.text)?;
        writeln!(f, "  expected  {}", self.expected)?;
        write!(f, "  actual    {}", self.actual)?;
        self.state.iter().try_for_each(|line| write!(f, "\n  {line}"))
    }
}

/// Why a run stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The engine differs from the script: what the script expects, and what the engine did.
    Differs(String, String),
    /// The script needs an unsupported feature: which one.
    Lacks(String),
    /// The script is invalid: why.
    Wrong(String),
}

/// Result of a step of the run, or the reason to stop.
pub type Step<T> = Result<T, Stop>;

impl Stop {
    /// Stops because the script expects `expected`, and the engine did `actual`.
    pub fn differs<T>(expected: impl fmt::Display, actual: impl fmt::Display) -> Step<T> {
        Err(Self::Differs(expected.to_string(), actual.to_string()))
    }

    /// Stops because the feature `what` is not supported.
    pub fn lacks<T>(what: impl Into<String>) -> Step<T> {
        Err(Self::Lacks(what.into()))
    }

    /// Stops because the script is invalid; `what` says why.
    pub fn wrong<T>(what: impl Into<String>) -> Step<T> {
        Err(Self::Wrong(what.into()))
    }
}

/// Formats nanoseconds as seconds without trailing zeros: 0.1, not 0.100000000.
pub fn seconds(ns: u64) -> String {
    let text = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
    let short = text.trim_end_matches('0');
    if short.ends_with('.') { format!("{short}0") } else { short.to_owned() }
}
