//! Amounts and times that may be drawn: `"1 kB"`, or a table `{ name = "exponential", mean = "1 kB" }`.

use toml::Value;

use super::application::{Draw, Law};
use super::error::Error;
use super::reader::{Section, deciding, word};
use super::schema::{EXPONENTIAL, LOGNORMAL, PARETO, UNIFORM};
use super::words::{LAWS, Law as Name};

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
    let name = deciding(table, "name", &format!("{{ name = \"exponential\", mean = {example} }}"))?;
    let name = word(name, "distribution", LAWS).map_err(|e| e.within("name"))?;
    let section = |keys| Section::new(table, keys);
    match name {
        Name::Uniform => {
            let s = section(&UNIFORM)?;
            let (min, max) = (s.require("min", &one)?, s.require("max", &one)?);
            if max < min {
                return Err(Error::at("max", "max is below min", "exchange the two"));
            }
            Ok(Draw { law: Law::Uniform { min, max }, most })
        }
        Name::Exponential => {
            let s = section(&EXPONENTIAL)?;
            let mean = s.require("mean", &one)?;
            Ok(Draw { law: Law::Exponential { mean }, most: s.or("most", most, &one)? })
        }
        Name::Lognormal => {
            let s = section(&LOGNORMAL)?;
            let median = s.require("median", &one)?;
            let sigma = s.value("sigma")?;
            Ok(Draw { law: Law::Lognormal { median, sigma }, most: s.or("most", most, &one)? })
        }
        Name::Pareto => {
            let s = section(&PARETO)?;
            let min = s.require("min", &one)?;
            let alpha = s.value("alpha")?;
            Ok(Draw { law: Law::Pareto { min, alpha }, most: s.or("most", most, &one)? })
        }
    }
}
