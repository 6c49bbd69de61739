//! The loss undo ledger: a copy of the controller for each loss episode, taken before the window is cut.
//!
//! When a judge ([`crate::recovery`]) finds an episode spurious, the copy is put back. This works for every controller
//! alike, because a controller's state is a value.

use std::collections::VecDeque;

use crate::controller::{Cause, Controller};
use crate::time::Instant;

/// Episodes kept: verdicts concern the latest ones.
const KEPT: usize = 8;

/// One loss episode.
#[derive(Debug)]
pub struct Entry {
    /// When it began.
    pub at: Instant,
    /// Why the window was cut.
    pub cause: Cause,
    /// The controller before the cut.
    pub before: Box<dyn Controller>,
    /// RFC 4015 3.2 step (0): pipe_prev, the larger of FlightSize and ssthresh.
    pub pipe_prev: f64,
    /// RFC 4015 3.2 step (0): SRTT_prev and RTTVAR_prev in nanoseconds.
    pub rtt_prev: (u64, u64),
}

/// The episodes of one subflow, newest last.
#[derive(Debug, Default)]
pub struct Ledger {
    entries: VecDeque<Entry>,
    undone: u64,
}

impl Ledger {
    /// An episode begins.
    pub fn begin(&mut self, entry: Entry) {
        if self.entries.len() == KEPT {
            self.entries.pop_front();
        }
        self.entries.push_back(entry);
    }

    /// Hands out the latest episode that began at `since` or later, once.
    pub fn take(&mut self, since: Instant) -> Option<Entry> {
        if self.entries.back()?.at < since {
            return None;
        }
        self.entries.pop_back()
    }

    /// The window of an episode was restored.
    pub fn count_undone(&mut self) {
        self.undone += 1;
    }

    /// Episodes undone so far.
    pub fn undone(&self) -> u64 {
        self.undone
    }
}
