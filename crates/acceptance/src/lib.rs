//! What tests of the laboratory from outside have in common.
//!
//! - [`support`]: runs scenarios that tests write down
//! - [`trace`]: reads traces
//!
//! The tests are in `tests/it`.
#![forbid(unsafe_code)]
// Whoever reads these pages has the source beside them: links may lead to what is private.
#![allow(rustdoc::private_intra_doc_links)]
#![deny(rustdoc::broken_intra_doc_links)]

pub mod support;
pub mod trace;
