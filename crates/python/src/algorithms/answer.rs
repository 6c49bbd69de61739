//! Values that methods of Python algorithms return, as the engine's.

use pyo3::prelude::*;
use pyo3::types::PyBool;

/// Numbers of octets beyond this one are refused: floats have no whole numbers there.
const MOST: f64 = 9_007_199_254_740_992.0;

/// A number that is no truth value; whole numbers and floats are taken.
fn number(value: &Bound<'_, PyAny>) -> Option<f64> {
    if value.is_instance_of::<PyBool>() {
        return None;
    }
    value.extract::<f64>().ok().filter(|number| number.abs() <= MOST)
}

/// Octets, at least 0. A fraction of an octet is dropped.
pub fn octets(value: &Bound<'_, PyAny>) -> Option<u64> {
    number(value).filter(|number| *number >= 0.0).map(|number| number as u64)
}

/// Octets, with a sign. A fraction of an octet is dropped.
pub fn signed_octets(value: &Bound<'_, PyAny>) -> Option<i64> {
    number(value).map(|number| number as i64)
}

/// A number of segments.
pub fn segments(value: &Bound<'_, PyAny>) -> Option<u32> {
    octets(value).and_then(|number| u32::try_from(number).ok())
}

/// A sequence number.
pub fn seq(value: &Bound<'_, PyAny>) -> Option<u64> {
    if value.is_instance_of::<PyBool>() { None } else { value.extract().ok() }
}

/// True or False.
pub fn truth(value: &Bound<'_, PyAny>) -> Option<bool> {
    value.extract().ok()
}

/// None, or what `read` reads.
pub fn perhaps<T>(read: fn(&Bound<'_, PyAny>) -> Option<T>) -> impl Fn(&Bound<'_, PyAny>) -> Option<Option<T>> {
    move |value| if value.is_none() { Some(None) } else { read(value).map(Some) }
}

/// The value of a word of `table`.
pub fn word<T: Copy>(table: &'static [(&'static str, T)]) -> impl Fn(&Bound<'_, PyAny>) -> Option<T> {
    move |value| {
        let word = value.extract::<&str>().ok()?;
        table.iter().find(|(known, _)| *known == word).map(|&(_, value)| value)
    }
}

/// The words of `table` for a message: `"a", "b", "c"`.
pub fn listed<T>(table: &[(&str, T)]) -> String {
    quoted(table).join(", ")
}

/// The words of `table` for a message: `"a", "b" or "c"`.
pub fn words<T>(table: &[(&str, T)]) -> String {
    let all = quoted(table);
    match all.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => all.concat(),
    }
}

fn quoted<T>(table: &[(&str, T)]) -> Vec<String> {
    table.iter().map(|(word, _)| format!("\"{word}\"")).collect()
}
