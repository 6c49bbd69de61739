//! Torture: random scenarios by the million, each held to what must be true of any run.
//!
//! A run has a number. The number decides everything: [`draw()`] makes a scenario of it, [`examine`] runs that and holds it to
//! invariants, and every tenth number is run again in other ways that must not change its trace. What fails is made smaller by
//! [`shrink()`] as long as it fails in the same way. [`campaign`] does that for a range of numbers in several threads and counts
//! in a [`Table`] which features, and which pairs of them, have occurred.
#![forbid(unsafe_code)]
// Whoever reads these pages has the source beside them: links may lead to what is private.
#![allow(rustdoc::private_intra_doc_links)]
#![deny(rustdoc::broken_intra_doc_links)]

pub mod campaign;
mod check;
mod dice;
mod draw;
mod expect;
mod finding;
mod flight;
mod ledger;
mod run;
mod shrink;
mod table;
mod tree;

pub use draw::{Drawn, Kind, draw};
pub use finding::Finding;
pub use run::{Cost, Held, examine, shortcuts_agree, without_shortcuts};
pub use shrink::shrink;
pub use table::Table;
