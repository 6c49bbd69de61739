//! Any text as a scenario. It is read, or refused in at most three lines; what was read, written out with its overrides, is read to
//! the same.

use anabranch_sim::scenario::{Source, parse, template};

use super::kind;
use crate::Target;

/// The target.
pub const TARGET: Target = Target {
    name: "scenario",
    holds: "a text is read, or refused in one to three lines; what was read and written out is read to the same",
    run,
    seeds,
};

fn seeds() -> Vec<Vec<u8>> {
    let long = "[[host]]\nname = 'a'\n[[host]]\nname = 'b'\n[[router]]\nname = 'r'\n[[link]]\nname = 'x'\nfrom = 'a'\nto = 'r'\n\
        [[link]]\nname = 'y'\nfrom = 'r'\nto = 'b'\n[[connection]]\nclient = 'a'\nserver = 'b'\npaths = [['x', 'y']]\n\
        transfer = { bytes = '1 MB' }";
    let template = template();
    let mut seeds = vec![template.as_bytes().to_vec(), long.as_bytes().to_vec(), b"[transfer]\n[[path]]".to_vec()];
    // Lines of the template by themselves, commented-out ones too.
    let lines = template.lines().map(|l| format!("[transfer]\n[[path]]\n{}", l.trim_start_matches("# ")));
    seeds.extend(lines.map(String::into_bytes));
    seeds
}

fn run(octets: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(octets);
    match parse(&text, "input", &[], None) {
        Ok(scenario) => {
            let written = Source::new(&text).named("input").resolved_toml().expect("it was read just now");
            let again = parse(&written, "input", &[], None).expect("it was read just now");
            assert_eq!(format!("{again:?}"), format!("{scenario:?}"), "{written}");
            let _ = (scenario.to_json(), scenario.warnings());
            kind((true, scenario.to_json().to_string().len() / 128, scenario.warnings().len()))
        }
        Err(error) => {
            let told = error.to_string();
            assert!((1..=3).contains(&told.lines().count()), "{told}");
            // The words that are no quotation: what is wrong, not where and with which value.
            let words: Vec<&str> = told.split('"').step_by(2).collect();
            let words: String = words.concat().chars().filter(|c| c.is_ascii_lowercase()).take(60).collect();
            kind((false, words))
        }
    }
}
