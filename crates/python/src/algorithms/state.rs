//! What the Python algorithms of a run share: the virtual time, the seed, and the error that ends
//! the run.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use anabranch_stack::time::Instant;
use pyo3::prelude::*;

use super::record::{Owner, Records};

/// State that the algorithms of one run share.
#[derive(Debug, Default)]
pub struct RunState {
    now: AtomicU64,
    seed: AtomicU64,
    made: AtomicU64,
    fault: Mutex<Option<Fault>>,
    records: Mutex<Records>,
}

/// An error of an algorithm.
#[derive(Debug)]
pub struct Fault {
    /// What Python raised, or what is wrong with the value that it returned.
    pub error: PyErr,
    /// The algorithm: its kind and the name of its class.
    pub algorithm: String,
    /// Virtual time of the call.
    pub at: Instant,
}

/// What unwinds the stack when an algorithm has failed.
struct Failed;

impl RunState {
    /// Notes the seed of the run.
    pub fn begin(&self, seed: u64) {
        self.seed.store(seed, Relaxed);
    }

    /// Notes the virtual time of a call.
    #[inline]
    pub fn at(&self, now: Instant) {
        self.now.store(now.0, Relaxed);
    }

    /// Seed of the next instance of an algorithm, as text: instances are made in an order that the
    /// scenario determines.
    pub fn next_seed(&self, algorithm: &str) -> String {
        let number = self.made.fetch_add(1, Relaxed);
        format!("{} {algorithm} {number}", self.seed.load(Relaxed))
    }

    /// Records `value` as `name` at the virtual time of the present call.
    ///
    /// # Errors
    /// If a column cannot have this name.
    pub fn record(&self, owner: Owner, name: &str, value: f64) -> Result<(), String> {
        self.with_records(|records| records.record(self.now.load(Relaxed), owner, name, value))
    }

    /// Gives `f` what has been recorded.
    pub fn with_records<T>(&self, f: impl FnOnce(&mut Records) -> T) -> T {
        f(&mut self.records.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Ends the run with `error`.
    #[cold]
    pub fn fail(&self, algorithm: &str, error: PyErr) -> ! {
        let at = Instant(self.now.load(Relaxed));
        let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        fault.get_or_insert(Fault { error, algorithm: algorithm.to_owned(), at });
        drop(fault);
        resume_unwind(Box::new(Failed))
    }

    /// The error that ended the run, if one did.
    pub fn take_fault(&self) -> Option<Fault> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
