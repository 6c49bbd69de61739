//! What tests of the laboratory from outside have in common.
//!
//! - [`support`]: runs scenarios that tests write down
//! - [`trace`]: reads traces
//!
//! The tests are in `tests/it`.
#![forbid(unsafe_code)]

pub mod support;
pub mod trace;
