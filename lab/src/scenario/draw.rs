//! Amounts and times that may be drawn: `"1 kB"`, or a table `{ name = "exponential", mean = "1 kB" }`.

use toml::Value;

use super::application::{Draw, Law};
use super::error::Error;
use super::keys::Keys;
use super::reader::{Section, show, word};

static UNIFORM: Keys = Keys { table: "{ name = \"uniform\" }", plain: &["name", "min", "max"], directed: &[] };
static EXPONENTIAL: Keys =
    Keys { table: "{ name = \"exponential\" }", plain: &["name", "mean", "most"], directed: &[] };
static LOGNORMAL: Keys =
    Keys { table: "{ name = \"lognormal\" }", plain: &["name", "median", "sigma", "most"], directed: &[] };
static PARETO: Keys = Keys { table: "{ name = \"pareto\" }", plain: &["name", "min", "alpha", "most"], directed: &[] };
/// The keys of all tables.
#[cfg(test)]
pub(super) static KEYS: &[&Keys] = &[&UNIFORM, &EXPONENTIAL, &LOGNORMAL, &PARETO];

#[derive(Clone, Copy)]
enum Name {
    Uniform,
    Exponential,
    Lognormal,
    Pareto,
}

const NAMES: &[(&str, Name)] = &[
    ("uniform", Name::Uniform),
    ("exponential", Name::Exponential),
    ("lognormal", Name::Lognormal),
    ("pareto", Name::Pareto),
];

/// Reads a number of base units with `one`, or how it is drawn; `most` is the largest that is allowed, `example` shows how an
/// amount is written.
pub(super) fn read(
    value: &Value,
    example: &str,
    most: u64,
    one: impl Fn(&Value) -> Result<u64, Error>,
) -> Result<Draw, Error> {
    let Some(table) = value.as_table() else {
        return one(value).map(Draw::fixed);
    };
    let name = table.get("name").ok_or_else(|| {
        let remedy = format!("write, for example, {{ name = \"exponential\", mean = {example} }}");
        Error::at("name", format!("missing in {}", show(value)), remedy)
    })?;
    let name = word(name, "distribution", NAMES).map_err(|e| e.within("name"))?;
    let section = |keys| Section::new(table, keys);
    match name {
        Name::Uniform => {
            let s = section(&UNIFORM)?;
            let (min, max) = (s.require("min", example, &one)?, s.require("max", example, &one)?);
            if max < min {
                return Err(Error::at("max", "below min", "exchange the two"));
            }
            Ok(Draw { law: Law::Uniform { min, max }, most })
        }
        Name::Exponential => {
            let s = section(&EXPONENTIAL)?;
            let mean = s.require("mean", example, &one)?;
            Ok(Draw { law: Law::Exponential { mean }, most: s.or("most", most, &one)? })
        }
        Name::Lognormal => {
            let s = section(&LOGNORMAL)?;
            let median = s.require("median", example, &one)?;
            let sigma = s.require("sigma", "1.0", |v| number(v, 0.01, 10.0))?;
            Ok(Draw { law: Law::Lognormal { median, sigma }, most: s.or("most", most, &one)? })
        }
        Name::Pareto => {
            let s = section(&PARETO)?;
            let min = s.require("min", example, &one)?;
            let alpha = s.require("alpha", "1.5", |v| number(v, 0.1, 100.0))?;
            Ok(Draw { law: Law::Pareto { min, alpha }, most: s.or("most", most, &one)? })
        }
    }
}

/// A plain number.
fn number(value: &Value, least: f64, most: f64) -> Result<f64, Error> {
    let allowed = || format!("allowed: a number from {least} to {most}, without quotes");
    let found = value.as_float().or_else(|| value.as_integer().map(|n| n as f64));
    let Some(x) = found else {
        return Err(Error::new(format!("expected a number, found {}", show(value)), allowed()));
    };
    if (least..=most).contains(&x) { Ok(x) } else { Err(Error::new(format!("{x} is out of range"), allowed())) }
}
