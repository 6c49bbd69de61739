//! Any octets as the trace of a link (milliseconds, one a line): it is read, or refused in a few lines; a link that has it carries a transfer
//! to an end, or time ends it.

use std::ops::ControlFlow;

use anabranch_sim::{run as play, scenario};

use super::kind;
use crate::Target;

/// The target.
pub const TARGET: Target = Target {
    name: "link",
    holds: "the trace of a link is read, or refused in one to three lines; a transfer over it ends",
    run,
    seeds,
};

fn seeds() -> Vec<Vec<u8>> {
    ["1\n2\n2\n5\n", "0\n1000\n", "# a comment\n3\n\n4\n", "10\n5\n", "99999999999999999999\n", "1.5\n", "7"]
        .map(|text| text.as_bytes().to_vec())
        .to_vec()
}

fn run(octets: &[u8]) -> u64 {
    let file = std::env::temp_dir().join(format!("anabranch-fuzz-{}.trace", std::process::id()));
    std::fs::write(&file, octets).expect("a temporary file");
    let text = format!(
        "duration = '20 s'\ntransfer = {{ bytes = '20 kB' }}\npath = [{{ trace = '{}', queue = '20 packets' }}]",
        file.display()
    );
    let read = scenario::parse(&text, "input", &[], None);
    drop(std::fs::remove_file(&file));
    match read {
        Ok(scenario) => {
            let summary = play(&scenario, None, &mut |_| ControlFlow::Continue(())).summary;
            kind((true, summary["goodput_mbps"].to_string(), octets.len() / 8))
        }
        Err(error) => {
            let told = error.to_string();
            assert!((1..=3).contains(&told.lines().count()), "{told}");
            let words: String = told.chars().filter(|c| c.is_ascii_lowercase()).take(80).collect();
            kind((false, words))
        }
    }
}
