//! `leo = { ... }` and `cellular = { ... }`: links whose rate and delay vary by themselves.
//!
//! A preset gives every number, a key replaces one. The numbers and where they come from are in docs/links.md; what the process
//! makes of them is in `sim::link::weather`.

mod cellular;
mod leo;

use anabranch_stack::time::Duration;
use toml::Value;

use super::error::Error;
use super::model::{Discipline, Loss, Queue};
use super::reader::{Section, Way, table};
use super::units::{RATE, TIME};
use super::weather::{Outages, Rate, Spell, Weather};
use super::words::SHAPES;

pub use super::words::{CELLULAR, LEO};

/// What the link has where its own keys say nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Defaults {
    pub rate: u64,
    pub delay: Duration,
    pub queue: Queue,
    pub discipline: Discipline,
    pub loss: Loss,
}

/// The weather of one direction (`way` is `_up` or `_down`) and the link's defaults under it, if the link has `leo` or `cellular`.
pub(super) fn read(section: &Section<'_>, way: &str) -> Result<Option<(Weather, Defaults)>, Error> {
    let up = way == "_up";
    let leo = section.read("leo", |v| leo::read(v, up))?;
    let cellular = section.read("cellular", |v| cellular::read(v, up))?;
    if leo.is_some() && cellular.is_some() {
        let remedy = "remove one of the two, or the preset that sets it";
        return Err(Error::at("leo", "the link has both leo and cellular", remedy));
    }
    let found = leo.or(cellular);
    if found.is_some() {
        let own = ["rate", "trace", "delay_variation", "delay_redraw", "overtaking"];
        let clash = own.into_iter().find(|k| section.has(k) || section.has(&format!("{k}{way}")));
        let clash = clash.or(section.has("wifi").then_some("wifi"));
        if let Some(key) = clash {
            let kind = if section.has("leo") { "leo" } else { "cellular" };
            let remedy = format!(
                "remove it, or the preset that sets it; set the rate in {kind} = {{ ... }} (the link's key delay adds \
                 a constant delay)"
            );
            return Err(Error::at(key, format!("not allowed beside `{kind}`, which sets rate and delay"), remedy));
        }
    }
    Ok(found)
}

/// Reads `{ preset = "...", ... }`, or a preset's name alone.
fn preset<'a, T: Copy>(
    value: &'a Value,
    key: &str,
    presets: &[(&str, T)],
    written: &str,
) -> Result<(T, Option<&'a toml::Table>), Error> {
    if value.is_str() {
        return super::reader::word(value, &format!("{key} preset"), presets).map(|p| (p, None));
    }
    let table = table(value, written)?;
    let name = super::reader::deciding(table, "preset", written)?;
    let preset = super::reader::word(name, &format!("{key} preset"), presets).map_err(|e| e.within("preset"))?;
    Ok((preset, Some(table)))
}

impl Way<'_, '_> {
    /// The keys `rate`, `shape`, `sigma`, `correlation`, `least`, `most`, `ripple`.
    fn rate(&self, default: Rate) -> Result<Rate, Error> {
        let found = Rate {
            shape: self.or("shape", default.shape, |v| super::reader::word(v, "shape", SHAPES))?,
            median: self.value_or("rate", default.median)?,
            sigma: self.value_or("sigma", default.sigma)?,
            correlation: self.value_or("correlation", default.correlation)?,
            least: self.value_or("least", default.least)?,
            most: self.value_or("most", default.most)?,
            ripple: self.value_or("ripple", default.ripple)?,
        };
        if found.least > found.most {
            let [least, most] = [found.least, found.most].map(|rate| RATE.write(rate));
            let problem = format!("{least} is more than most, {most}");
            return Err(Error::at("least", problem, "lower least, or raise most"));
        }
        Ok(found)
    }
}

/// The keys `outages` (a number in an hour), `outage_median`, `outage_p90`.
fn outages(section: &Section<'_>, default: Outages) -> Result<Outages, Error> {
    let per_hour = section.value_or("outages", default.per_hour)?;
    Ok(Outages { per_hour, length: spell(section, "outage", "p90", default.length)? })
}

/// Standard normal deviates of the percentiles that keys name.
const P90: f64 = 1.281_551_565_544_600_4;
const P95: f64 = 1.644_853_626_951_472_2;

/// By median and the percentile of which `z` is the deviate.
fn log_normal(median: Duration, upper: Duration, z: f64) -> Spell {
    Spell { median, sigma: libm::log(upper.0 as f64 / median.0 as f64) / z }
}

/// The keys `NAME_median` and `NAME_p90` or `NAME_p95`.
fn spell(section: &Section<'_>, name: &str, percentile: &str, default: Spell) -> Result<Spell, Error> {
    let z = if percentile == "p90" { P90 } else { P95 };
    let high = |median: Duration| Duration((median.0 as f64 * libm::exp(default.sigma * z)) as u64);
    let median = section.value_or(&format!("{name}_median"), default.median)?;
    let key = format!("{name}_{percentile}");
    let upper = section.value_or(&key, high(median))?;
    if upper < median {
        return Err(Error::at(
            &key,
            format!("{} is less than {name}_median, {}", TIME.write(upper.0), TIME.write(median.0)),
            format!("raise {key}, or lower {name}_median"),
        ));
    }
    Ok(if section.has(&key) { log_normal(median, upper, z) } else { Spell { median, ..default } })
}
