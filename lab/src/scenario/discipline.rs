//! `discipline`: `"drop-tail"`, `"red"`, `"codel"`, `"fq-codel"`, or a table `{ name = "codel", target = "5 ms" }` with
//! parameters.

use anabranch_stack::time::Duration;
use toml::Value;

use super::error::Error;
use super::keys::Keys;
use super::model::{CodelParameters, Discipline, FqCodelParameters, RedParameters};
use super::reader::{Section, show, whole, word};
use super::units::{BYTES, PACKETS, ratio, time};

/// RFC 8289 4.2, 4.3.
const CODEL: CodelParameters =
    CodelParameters { target: Duration::from_millis(5), interval: Duration::from_millis(100) };
/// RFC 8290 5.2.
const FQ_CODEL: FqCodelParameters = FqCodelParameters { codel: CODEL, quantum: 1514, flows: 1024 };
/// Floyd's advice of 1997: upper threshold three times the lower, probability 1/10, weight 0.002.
const RED: RedParameters = RedParameters { min: 5.0, max: 15.0, probability: 0.1, weight: 0.002 };

static RED_KEYS: Keys = Keys {
    table: "discipline = { name = \"red\" }",
    plain: &["name", "min", "max", "probability", "weight"],
    directed: &[],
};
static CODEL_KEYS: Keys =
    Keys { table: "discipline = { name = \"codel\" }", plain: &["name", "target", "interval"], directed: &[] };
static FQ_CODEL_KEYS: Keys = Keys {
    table: "discipline = { name = \"fq-codel\" }",
    plain: &["name", "target", "interval", "quantum", "flows"],
    directed: &[],
};
/// The keys of all tables.
#[cfg(test)]
pub(super) static KEYS: &[&Keys] = &[&RED_KEYS, &CODEL_KEYS, &FQ_CODEL_KEYS];

const HOUR: Duration = Duration::from_secs(3600);

pub(super) fn read(value: &Value) -> Result<Discipline, Error> {
    let named = |name: &Value| {
        let choices = [
            ("drop-tail", Discipline::DropTail),
            ("red", Discipline::Red(RED)),
            ("codel", Discipline::Codel(CODEL)),
            ("fq-codel", Discipline::FqCodel(FQ_CODEL)),
        ];
        word(name, "discipline", &choices)
    };
    let Some(table) = value.as_table() else {
        return named(value);
    };
    let name = table.get("name").ok_or_else(|| {
        Error::at(
            "name",
            format!("missing in {}", show(value)),
            "write, for example, { name = \"codel\", target = \"5 ms\" }",
        )
    })?;
    match named(name).map_err(|e| e.within("name"))? {
        Discipline::DropTail => match table.keys().find(|k| *k != "name") {
            None => Ok(Discipline::DropTail),
            Some(key) => Err(Error::at(key, "drop-tail has no parameters", "its limit is the link's `queue`")),
        },
        Discipline::Red(default) => {
            let section = Section::new(table, &RED_KEYS)?;
            let packets = |v: &Value| PACKETS.read(v, 1, 1_000_000).map(|n| n as f64);
            let above_zero = |v: &Value| match ratio(v)? {
                0.0 => Err(Error::new("zero", "allowed: above 0 %, at most 100 %")),
                r => Ok(r),
            };
            let min = section.or("min", default.min, packets)?;
            let max = section.or("max", 3.0 * min, packets)?;
            if max <= min {
                return Err(Error::at(
                    "max",
                    format!("{max} packets is not above min, {min} packets"),
                    "usual: three times min",
                ));
            }
            let probability = section.or("probability", default.probability, above_zero)?;
            let weight = section.or("weight", default.weight, above_zero)?;
            Ok(Discipline::Red(RedParameters { min, max, probability, weight }))
        }
        Discipline::Codel(default) => {
            let section = Section::new(table, &CODEL_KEYS)?;
            Ok(Discipline::Codel(codel(&section, default)?))
        }
        Discipline::FqCodel(default) => {
            let section = Section::new(table, &FQ_CODEL_KEYS)?;
            Ok(Discipline::FqCodel(FqCodelParameters {
                codel: codel(&section, default.codel)?,
                quantum: section.or("quantum", default.quantum, |v| BYTES.read(v, 1, 1_000_000).map(|n| n as u32))?,
                flows: section.or("flows", default.flows, |v| whole(v, 1, 65_536).map(|n| n as u32))?,
            }))
        }
    }
}

fn codel(section: &Section<'_>, default: CodelParameters) -> Result<CodelParameters, Error> {
    let span = |v: &Value| time(v, Duration(1), HOUR);
    Ok(CodelParameters {
        target: section.or("target", default.target, span)?,
        interval: section.or("interval", default.interval, span)?,
    })
}
