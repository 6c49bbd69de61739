//! `discipline`: `"drop-tail"`, `"red"`, `"codel"`, `"fq-codel"`, or a table `{ name = "codel", target = "5 ms" }` with
//! parameters.

use toml::{Table, Value};

use super::error::Error;
use super::model::{CodelParameters, Discipline, FqCodelParameters, RedParameters};
use super::reader::{Section, deciding, word};
use super::schema::{CODEL, FQ_CODEL, RED};

/// The disciplines by name.
#[derive(Clone, Copy)]
enum Name {
    DropTail,
    Red,
    Codel,
    FqCodel,
}
const NAMES: &[(&str, Name)] =
    &[("drop-tail", Name::DropTail), ("red", Name::Red), ("codel", Name::Codel), ("fq-codel", Name::FqCodel)];

pub(super) fn read(value: &Value) -> Result<Discipline, Error> {
    let named = |name: &Value| word(name, "discipline", NAMES);
    let empty = Table::new();
    let (name, table) = match value.as_table() {
        None => (named(value)?, &empty),
        Some(table) => {
            let name = deciding(table, "name", "{ name = \"codel\", target = \"5 ms\" }")?;
            (named(name).map_err(|e| e.within("name"))?, table)
        }
    };
    match name {
        Name::DropTail => match table.keys().find(|k| *k != "name") {
            None => Ok(Discipline::DropTail),
            Some(key) => {
                Err(Error::at(key, "drop-tail has no parameters", "remove it; the link's key queue limits the queue"))
            }
        },
        Name::Red => red(&Section::new(table, &RED)?).map(Discipline::Red),
        Name::Codel => codel(&Section::new(table, &CODEL)?).map(Discipline::Codel),
        Name::FqCodel => {
            let section = Section::new(table, &FQ_CODEL)?;
            Ok(Discipline::FqCodel(FqCodelParameters {
                codel: codel(&section)?,
                quantum: section.value("quantum")?,
                flows: section.value("flows")?,
            }))
        }
    }
}

/// By default Floyd's advice of 1997: upper threshold three times the lower, probability 1/10,
/// weight 0.002.
fn red(section: &Section<'_>) -> Result<RedParameters, Error> {
    let min: u64 = section.value("min")?;
    let max = section.value_or("max", 3 * min)?;
    if max <= min {
        let problem = format!("{max} packets is not above min, {min} packets");
        return Err(Error::at(
            "max",
            problem,
            format!("allowed: above {min} packets; the usual value is three times min"),
        ));
    }
    let above_zero = |key: &str| match section.value(key)? {
        0.0 => Err(Error::at(key, "0 % is not allowed", "allowed: above 0 %, at most 100 %")),
        share => Ok(share),
    };
    let (probability, weight) = (above_zero("probability")?, above_zero("weight")?);
    Ok(RedParameters { min: min as f64, max: max as f64, probability, weight })
}

fn codel(section: &Section<'_>) -> Result<CodelParameters, Error> {
    Ok(CodelParameters { target: section.value("target")?, interval: section.value("interval")? })
}
