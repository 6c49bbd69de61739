//! What became of a script.

use std::fmt;

/// How a script ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Everything was as the script says.
    Passed,
    /// Everything was as the script says, and at least one behaviour was accepted without being carried out.
    Noted,
    /// Something was not as the script says.
    Failed,
    /// The script needs something that the engine or the runner does not have.
    Unsupported,
    /// It is not a script.
    Invalid,
}

impl Status {
    /// Its name in reports.
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

/// Something said of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The line, counted from 1.
    pub line: u32,
    /// What is said.
    pub text: String,
}

/// Where a script and the engine part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mismatch {
    /// The line of the script, counted from 1.
    pub line: u32,
    /// Its words.
    pub text: String,
    /// Virtual time, in seconds.
    pub time: String,
    /// What the script expects there, in a few words.
    pub expected: String,
    /// What was there instead.
    pub actual: String,
    /// Both sequence spaces at that moment.
    pub state: Vec<String>,
}

/// What became of a script under one profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// How it ended.
    pub status: Status,
    /// Name of the profile.
    pub profile: &'static str,
    /// Where it failed, if it did.
    pub mismatch: Option<Mismatch>,
    /// What is missing, or why it is not a script; the place.
    pub why: Option<Note>,
    /// Parts of it that were not checked.
    pub unchecked: Vec<Note>,
    /// Behaviours that were accepted without being carried out. Each of them could change the result.
    pub notes: Vec<Note>,
    /// Behaviours that were accepted without being carried out and cannot change the result.
    pub inert: Vec<Note>,
    /// Number of events that happened as the script says.
    pub events: usize,
}

impl Report {
    /// Of a script that nothing has happened in.
    pub fn begun(profile: &'static str) -> Self {
        let (unchecked, notes, inert) = (Vec::new(), Vec::new(), Vec::new());
        Self { status: Status::Passed, profile, mismatch: None, why: None, unchecked, notes, inert, events: 0 }
    }

    /// Of something that is not a script.
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
    /// The script expects one thing, and there was another.
    Differs(String, String),
    /// The script needs something that there is not.
    Lacks(String),
    /// The script contradicts itself.
    Wrong(String),
}

/// What a step gives.
pub type Step<T> = Result<T, Stop>;

impl Stop {
    /// The script expects `expected`, and there was `actual`.
    pub fn differs<T>(expected: impl fmt::Display, actual: impl fmt::Display) -> Step<T> {
        Err(Self::Differs(expected.to_string(), actual.to_string()))
    }

    /// There is no such thing.
    pub fn lacks<T>(what: impl Into<String>) -> Step<T> {
        Err(Self::Lacks(what.into()))
    }

    /// The script contradicts itself.
    pub fn wrong<T>(what: impl Into<String>) -> Step<T> {
        Err(Self::Wrong(what.into()))
    }
}

/// Nanoseconds as seconds, for people: 0.1, not 0.100000000.
pub fn seconds(ns: u64) -> String {
    let text = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
    let short = text.trim_end_matches('0');
    if short.ends_with('.') { format!("{short}0") } else { short.to_owned() }
}
