//! Scheduled changes of a link: `changes = [ { at = "10 s", state = "down" }, { at = "20 s", state = "up" } ]`.

use anabranch_stack::time::{Duration, Instant};
use toml::{Table, Value};

use super::error::Error;
use super::model::{Change, ChangeKind};
use super::properties::loss;
use super::reader::{Section, each_table, list};
use super::schema::CHANGE;
use super::words::{STATES, WAYS};

const WRITTEN: &str = "changes = [ { at = \"10 s\", state = \"down\" }, { at = \"20 s\", state = \"up\" } ]";

/// Changes in order of time; those of one instant in the order of the file.
pub(super) fn read(value: &Value) -> Result<Vec<Change>, Error> {
    let mut changes: Vec<Change> = each_table(list(value, WRITTEN)?, WRITTEN, one)?.into_iter().flatten().collect();
    changes.sort_by_key(|c| c.at);
    Ok(changes)
}

fn one(_: usize, value: &Table) -> Result<Vec<Change>, Error> {
    let section = Section::new(value, &CHANGE)?;
    let at = Instant(section.value::<Duration>("at")?.0);
    let (up, down) = section.word("direction", WAYS)?;
    let what: Vec<ChangeKind> = [
        section.word_given("state", STATES)?,
        section.given_value("rate")?.map(ChangeKind::Rate),
        section.given_value("delay")?.map(ChangeKind::Delay),
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
