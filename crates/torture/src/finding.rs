//! What the checks see of a run, and what they find.

use std::fmt;

use anabranch_sim::sim::world::Outcome;
use serde_json::Value;

use super::ledger::Ledger;

/// A run, as the checks see it.
pub struct Observed {
    /// What the simulator says.
    pub outcome: Outcome,
    /// What was seen from outside.
    pub ledger: Ledger,
    /// What a user is told.
    pub summary: Value,
}

/// An invariant that a run broke.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which one, in a few words that are the same for all its violations.
    pub invariant: &'static str,
    /// What happened.
    pub what: String,
}

impl Finding {
    /// `invariant` was broken thus.
    pub fn new(invariant: &'static str, what: impl Into<String>) -> Self {
        Self { invariant, what: what.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.invariant, self.what)
    }
}
