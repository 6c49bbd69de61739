//! The key `middleboxes` of a link:
//! `middleboxes = [ "strip-mptcp-syn", { kind = "split", size = "500 B", direction = "up" } ]`.

use anabranch_stack::time::{Duration, Instant};
use toml::Value;

use super::error::{Error, show};
use super::middlebox::{Entry, Kind, Middlebox, Pattern, REGISTRY};
use super::nearest::did_you_mean;
use super::reader::{Section, list, text};
use super::schema::MIDDLEBOX;
use super::words::{BOX_ENDS, WAYS};

const WRITTEN: &str = "middleboxes = [ \"strip-mptcp-syn\", { kind = \"split\", size = \"500 B\" } ]";

/// The middleboxes in the order in which they stand between `from` and `to`.
pub(super) fn read(value: &Value) -> Result<Vec<Middlebox>, Error> {
    let one = |(i, v)| one(v).map_err(|e: Error| e.within(&format!("[{i}]")));
    list(value, WRITTEN)?.iter().enumerate().map(one).collect()
}

fn one(value: &Value) -> Result<Middlebox, Error> {
    match value {
        Value::String(_) => {
            let kind = registered(value)?.kind;
            let (at, until) = (Instant::ZERO, Instant::FAR_FUTURE);
            Ok(Middlebox { kind, up: true, down: true, at, until, far: false })
        }
        Value::Table(table) => tabled(&Section::new(table, &MIDDLEBOX)?),
        _ => Err(Error::new(format!("expected a middlebox, found {}", show(value)), format!("write {WRITTEN}"))),
    }
}

fn registered(value: &Value) -> Result<&'static Entry, Error> {
    let name = text(value)?;
    REGISTRY.iter().find(|e| e.name == name).ok_or_else(|| {
        let names: Vec<&str> = REGISTRY.iter().map(|e| e.name).collect();
        let remedy = format!("{}choices: {}", did_you_mean(name, &names), names.join(", "));
        Error::new(format!("unknown middlebox \"{name}\""), remedy)
    })
}

fn tabled(section: &Section<'_>) -> Result<Middlebox, Error> {
    let entry = section.require("kind", registered)?;
    let kind = parameters(section, entry.kind)?;
    let own: &[&str] = match kind {
        Kind::Split { .. } => &["size", "options"],
        Kind::Coalesce { .. } => &["size", "hold", "options"],
        Kind::Nat { .. } => &["timeout"],
        Kind::AlterPayload { .. } => &["every"],
        Kind::AlterLength { .. } => &["every", "grow"],
        Kind::Pep { .. } => &["buffer", "initial_window", "hold"],
        Kind::Replay { .. } => &["count", "after"],
        Kind::Acks { how: Pattern::Optimistic, .. } => &[],
        Kind::Acks { .. } => &["count"],
        _ => &[],
    };
    let common = ["kind", "end", "direction", "at", "until"];
    if let Some(key) = section.given().find(|k| !common.contains(k) && !own.contains(k)) {
        let remedy = if own.is_empty() { "remove it".into() } else { format!("it has: {}", own.join(", ")) };
        return Err(Error::at(key, format!("\"{}\" has no {key}", entry.name), remedy));
    }
    let (up, down) = section.word("direction", WAYS)?;
    if matches!(kind, Kind::Nat { .. }) && !(up && down) {
        return Err(Error::at("direction", "a NAT translates both directions", "remove it"));
    }
    if matches!(kind, Kind::Pep { .. }) && !(up && down) {
        return Err(Error::at("direction", "a proxy splits both directions", "remove it"));
    }
    let far = section.word("end", BOX_ENDS)?;
    let moment = |key, usual| section.given_value(key).map(|d| d.map_or(usual, |d: Duration| Instant(d.0)));
    let (at, until) = (moment("at", Instant::ZERO)?, moment("until", Instant::FAR_FUTURE)?);
    if until <= at {
        return Err(Error::at("until", "is not later than at", "set until to a later time than at"));
    }
    Ok(Middlebox { kind, up, down, at, until, far })
}

/// `kind` with the parameters that are given.
fn parameters(section: &Section<'_>, kind: Kind) -> Result<Kind, Error> {
    let choice = |usual, words: &[(&'static str, bool)]| Ok(section.word_given("options", words)?.unwrap_or(usual));
    Ok(match kind {
        Kind::Split { size, all } => {
            Kind::Split { size: section.value_or("size", size)?, all: choice(all, &[("all", true), ("first", false)])? }
        }
        Kind::Coalesce { size, hold, last } => {
            let size = section.value_or("size", size)?;
            if size < 2 {
                return Err(Error::at("size", "1 B joins no two segments", "allowed: 2 B to 65455 B"));
            }
            let hold = section.value_or("hold", hold)?;
            Kind::Coalesce { size, hold, last: choice(last, &[("first", false), ("last", true)])? }
        }
        Kind::Nat { timeout } => Kind::Nat { timeout: section.value_or("timeout", timeout)? },
        Kind::AlterPayload { every } => Kind::AlterPayload { every: section.value_or("every", every)? },
        Kind::AlterLength { every, grow } => {
            Kind::AlterLength { every: section.value_or("every", every)?, grow: section.or("grow", grow, growth)? }
        }
        // What a host writes in one event may fill the buffer.
        Kind::Pep { buffer, initial_window, hold } => Kind::Pep {
            buffer: section.value_or("buffer", buffer)?,
            initial_window: section.value_or("initial_window", initial_window)?,
            hold: section.value_or("hold", hold)?,
        },
        Kind::Replay { count, after } => {
            Kind::Replay { count: section.value_or("count", count)?, after: section.value_or("after", after)? }
        }
        Kind::Acks { how, count } => Kind::Acks { how, count: section.value_or("count", count)? },
        other => other,
    })
}

fn growth(value: &Value) -> Result<i32, Error> {
    match value.as_integer() {
        Some(n) if n != 0 && (-100..=100).contains(&n) => Ok(n as i32),
        _ => Err(Error::new(
            format!("expected a number of octets to insert, or to remove if negative, found {}", show(value)),
            "allowed: -100 to 100 without 0, for example 4 or -2",
        )),
    }
}

#[cfg(test)]
mod tests;
