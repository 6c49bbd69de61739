//! Everything of Anabranch that has a clock: scenarios, the simulator in virtual time, captures, metrics.
//!
//! - [`scenario`]: from TOML to a validated description of a run
//! - [`sim`]: the discrete-event simulator
//! - [`metrics`]: what a run measured
//! - [`capture`]: capture files
//! - [`legacy`]: the multipath TCP of 2011 that the papers measured
//! - [`wifi`]: a radio channel and its stations
//! - [`rng`]: seeded randomness by component name
//! - [`summary`]: the summary object of a run
//! - [`script`]: scripts in packetdrill's dialect
//! - [`torture`]: random scenarios held to invariants
//! - [`mod@run`]: one run from a scenario to its results
#![forbid(unsafe_code)]
// Whoever reads these pages has the source beside them: links may lead to what is private.
#![allow(rustdoc::private_intra_doc_links)]
#![deny(rustdoc::broken_intra_doc_links)]

mod ask;
pub mod capture;
pub mod legacy;
pub mod metrics;
pub mod rng;
pub mod run;
pub mod scenario;
pub mod script;
pub mod sim;
pub mod summary;
pub mod torture;
pub mod wifi;

pub use run::{Run, captured, run};
