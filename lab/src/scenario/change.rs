//! Scheduled changes of a link: `changes = [ { at = "10 s", state = "down" }, { at = "20 s", state = "up" } ]`.

use anabranch_stack::time::{Duration, Instant};
use toml::{Table, Value};

use super::error::Error;
use super::keys::Keys;
use super::model::{Change, ChangeKind};
use super::properties::{delay, loss, rate};
use super::reader::{Section, each_table, list, word};
use super::units::{LATEST, time};

pub(super) static KEYS: Keys = Keys {
    table: "changes = [ { ... } ]",
    plain: &["at", "direction", "state", "rate", "delay", "loss"],
    directed: &[],
};

const WRITTEN: &str = "changes = [ { at = \"10 s\", state = \"down\" }, { at = \"20 s\", state = \"up\" } ]";

/// Changes in order of time; those of one instant in the order of the file.
pub(super) fn read(value: &Value) -> Result<Vec<Change>, Error> {
    let mut changes: Vec<Change> = each_table(list(value, WRITTEN)?, WRITTEN, one)?.into_iter().flatten().collect();
    changes.sort_by_key(|c| c.at);
    Ok(changes)
}

fn one(_: usize, value: &Table) -> Result<Vec<Change>, Error> {
    let section = Section::new(value, &KEYS)?;
    let at = Instant(section.require("at", "\"10 s\"", |v| time(v, Duration::ZERO, LATEST))?.0);
    let ways = [("both", (true, true)), ("up", (true, false)), ("down", (false, true))];
    let (up, down) = section.or("direction", (true, true), |v| word(v, "direction", &ways))?;
    let states = [("down", ChangeKind::LinkDown), ("up", ChangeKind::LinkUp)];
    let what: Vec<ChangeKind> = [
        section.read("state", |v| word(v, "state", &states))?,
        section.read("rate", rate)?.map(ChangeKind::Rate),
        section.read("delay", delay)?.map(ChangeKind::Delay),
        section.read("loss", loss)?.map(ChangeKind::Loss),
    ]
    .into_iter()
    .flatten()
    .collect();
    if what.is_empty() {
        return Err(Error::new("nothing changes", "give one or more of: state, rate, delay, loss"));
    }
    Ok(what.into_iter().map(|what| Change { at, up, down, what }).collect())
}
