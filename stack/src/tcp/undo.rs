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
}

/// The episodes of one subflow, newest last.
#[derive(Debug, Default)]
pub struct Ledger {
    entries: VecDeque<Entry>,
    undone: u64,
}

impl Ledger {
    /// An episode begins.
    pub fn begin(&mut self, at: Instant, cause: Cause, controller: &dyn Controller) {
        if self.entries.len() == KEPT {
            self.entries.pop_front();
        }
        self.entries.push_back(Entry { at, cause, before: controller.snapshot() });
    }

    /// The latest episode was spurious: hands out its entry, once.
    pub fn undo(&mut self) -> Option<Entry> {
        let entry = self.entries.pop_back();
        self.undone += u64::from(entry.is_some());
        entry
    }

    /// Episodes undone so far.
    pub fn undone(&self) -> u64 {
        self.undone
    }
}
