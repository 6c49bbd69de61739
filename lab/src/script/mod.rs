//! Scripts: packetdrill's dialect, run against the engine in virtual time.
//!
//! A script is a conversation written down: what the application calls, what arrives from the network, what the endpoint under test
//! has to send, and when, to the nanosecond. The dialect is that of packetdrill (Cardwell et al., USENIX ATC 2013), which runs such
//! scripts against a kernel; here the endpoint is the engine's, time is virtual, and nothing is random. What of the dialect there is,
//! and what differs, is in `docs/scripts.md`.
//!
//! - `cursor`, `parser`, `packet`, `option`, `call`: from text to the events of [`ast`]
//! - `settings`, `shell`, `conditions`, `sysctl`, `listing`: what a script configures, and what it asks the system for
//! - [`mptcp`]: what scripts say of Multipath TCP
//! - `host`, `flow`, `over`: the engine, the script's numbers for its own, and a script of TCP over Multipath TCP
//! - `sockets`, `system`, `error_queue`, `arguments`, `constants`: the application's calls
//! - `compare`, `names`: what was sent beside what was expected; what assertions see
//! - [`run`], [`report`]: one run, and what became of it

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

/// What became of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Under the profile that was asked for.
    pub report: Report,
    /// Under Linux's profile, if it failed under another one.
    pub linux: Option<Report>,
}

/// Reads and runs a script. If it fails under another profile than Linux's, it is run again under that one: what it then meets is what
/// the script expects of Linux.
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
    let again = report.status == Status::Failed && options.profile != Profile::Linux61;
    let linux = again.then(|| {
        let options = Options { profile: Profile::Linux61, ..options.clone() };
        run::run(&script, &options, &mut |code, names| assert(code, names))
    });
    Outcome { report, linux }
}
