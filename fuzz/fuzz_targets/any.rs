//! Any target under libFuzzer: `fuzz/run` builds and runs it.
#![no_main]

use std::sync::OnceLock;

use anabranch_fuzz::Target;

static TARGET: OnceLock<&'static Target> = OnceLock::new();

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let target = TARGET.get_or_init(|| {
        let name = std::env::var("ANABRANCH_TARGET").unwrap_or_default();
        let names: Vec<&str> = anabranch_fuzz::TARGETS.iter().map(|t| t.name).collect();
        let found = anabranch_fuzz::TARGETS.iter().find(|t| t.name == name);
        found.unwrap_or_else(|| panic!("set ANABRANCH_TARGET to one of: {}", names.join(", ")))
    });
    (target.run)(input);
});
