//! The simulator, which runs scenarios in virtual time.
//!
//! A run in Rust: read a scenario, run it, take a figure of its summary.
//!
//! ```
//! use anabranch_sim::run::Runner;
//! use anabranch_sim::scenario::Source;
//!
//! let text = "
//!     transfer = { bytes = '20 MB' }
//!     path = [{ rate = '20 Mbit/s', delay = '10 ms' }, { rate = '5 Mbit/s', delay = '40 ms' }]
//! ";
//! let goodput = |scheduler: &str| {
//!     let scenario = Source::new(text).set("connection.scheduler", scheduler).seed(1).read()?;
//!     Ok::<_, anabranch_sim::scenario::Error>(Runner::new(&scenario).run().figure("goodput_mbps"))
//! };
//! // Over both paths a transfer is faster than the fast path alone could be; a standby path is not used.
//! assert!(goodput("min-rtt")?.is_some_and(|mbps| mbps > 20.0));
//! assert!(goodput("active-standby")?.is_some_and(|mbps| mbps < 20.0));
//! # Ok::<(), anabranch_sim::scenario::Error>(())
//! ```
//!
//! - [`scenario`]: the crate of scenarios, from TOML to a validated description of a run
//! - [`algorithms`]: the algorithms that scenarios may name, including registered ones
//! - [`sim`]: the discrete-event simulator
//! - [`legacy`]: the multipath TCP of 2011 that the papers measured
//! - [`summary`]: the summary object of a run
//! - [`mod@run`]: one run from a scenario to its results
#![forbid(unsafe_code)]
// Whoever reads these pages has the source beside them: links may lead to what is private.
#![allow(rustdoc::private_intra_doc_links)]
#![deny(rustdoc::broken_intra_doc_links)]

pub mod legacy;
pub mod run;
pub mod sim;
pub mod summary;

pub use anabranch_scenario as scenario;
pub use anabranch_scenario::algorithms;
pub use run::{Run, run};
