//! Scripts: packetdrill's dialect, run against the engine in virtual time.
//!
//! A script lists the calls of the application, the segments that arrive from the network, and the
//! segments that the endpoint under test must send, each with its time to the nanosecond. The
//! dialect is that of packetdrill (Cardwell et al., USENIX ATC 2013), which runs such scripts
//! against a kernel. Here the engine is the endpoint, time is virtual, and nothing is random.
//! `docs/scripts.md` describes the supported part of the dialect and the differences.
//!
//! - `cursor`, `parser`, `packet`, `option`, `call`: parse the text into the events of [`ast`]
//! - `settings`, `shell`, `conditions`, `sysctl`, `listing`: option lines and shell lines
//! - [`mptcp`]: MPTCP options in scripts
//! - `host`, `flow`, `over`: the engine, the mapping between the script's numbers and the wire's,
//!   and scripts of plain TCP over MPTCP
//! - `sockets`, `system`, `error_queue`, `fast_open`, `arguments`, `constants`: system calls of the
//!   application
//! - `compare`, `names`: comparison of sent and expected segments; values for assertions
//! - [`run`], [`report`]: one run and its result
#![forbid(unsafe_code)]
// Whoever reads these pages has the source beside them: links may lead to what is private.
#![allow(rustdoc::private_intra_doc_links)]
#![deny(rustdoc::broken_intra_doc_links)]

mod arguments;
pub mod ast;
mod call;
mod compare;
mod conditions;
mod constants;
pub mod cursor;
mod error_queue;
mod fast_open;
mod flow;
mod host;
mod listing;
mod mptcp;
pub mod names;
pub mod option;
mod over;
mod packet;
mod parser;
pub mod report;
pub mod run;
pub mod settings;
mod shell;
mod sockets;
mod sysctl;
mod system;

use anabranch_stack::config::Profile;

pub use parser::parse;
use report::{Note, Report, Status};
use run::Assert;
use settings::Options;

/// Results of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Result under the requested profile.
    pub report: Report,
    /// Result under the Linux profile, if the script failed under another profile.
    pub linux: Option<Report>,
}

/// Parses and runs a script. If it fails under another profile than Linux's, runs it again under
/// the Linux profile. This second result shows whether the script only expects Linux's behaviour.
pub fn judge(text: &str, options: &Options, assert: &mut Assert<'_>) -> Outcome {
    let mut options = options.clone();
    fast_open::define(&mut options.defines);
    let options = &options;
    let script = match parse(text, &options.defines) {
        Ok(script) => script,
        Err(error) => {
            let why = Note { line: error.line, text: format!("column {}: {}", error.column, error.message) };
            return Outcome { report: Report::invalid(options.profile.name(), why), linux: None };
        }
    };
    let report = run::run(&script, options, &mut |code, names| assert(code, names));
    let again = report.status == Status::Failed && !options.profile.is_linux();
    let linux = again.then(|| {
        let options = Options { profile: Profile::Linux61, ..options.clone() };
        run::run(&script, &options, &mut |code, names| assert(code, names))
    });
    Outcome { report, linux }
}
