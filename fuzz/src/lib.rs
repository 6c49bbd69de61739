//! Fuzz targets: functions that take any octets and check what must hold whatever they are.
//!
//! The same functions are run three ways: briefly and with a fixed seed by `make test`, ten minutes each by
//! `make check-long` (both in `tests/`, with the mutations of [`driver`]), and under libFuzzer by `make fuzz`
//! (`fuzz_targets/any.rs`). A finding is a panic; it names the input in hexadecimal digits, and `FOUND` in `tests/` is where
//! it goes when it is mended.
//!
//! - [`input`]: octets as a source of choices
//! - [`driver`]: seeds, mutations, what is kept
//! - [`targets`]: one file each; its head says what must hold
#![deny(unsafe_code)]

pub mod driver;
pub mod input;
pub mod targets;

pub use targets::TARGETS;

/// A function to fuzz.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// What must hold for any input, beside that nothing panics.
    pub holds: &'static str,
    /// Runs it; panics if that does not hold. The number says what kind of thing the input was: the driver keeps inputs of new kinds.
    pub run: fn(&[u8]) -> u64,
    /// Inputs to begin with.
    pub seeds: fn() -> Vec<Vec<u8>>,
}
