//! Which subflows a connection opens, and what happens to its paths later:
//! `path_manager = "full-mesh"`, `path_changes = [ { at = "10 s", path = 1, action = "remove" } ]`.

use anabranch_stack::time::{Duration, Instant};
use toml::{Table, Value};

use super::error::{Error, show};
use super::model::{LinkId, PathChange, PathManager};
use super::reader::{Section, each_table, list, whole};
use super::schema::PATH_CHANGE;
use super::topology::Topology;
use super::words::{ACTIONS, ENDS, POLICIES};

const WRITTEN: &str = "path_changes = [ { at = \"10 s\", path = 1, action = \"remove\" } ]";

/// The policy.
pub(super) fn policy(section: &Section<'_>) -> Result<PathManager, Error> {
    section.word("path_manager", POLICIES)
}

/// Changes in order of time; those of one instant in the order of the file.
pub(super) fn changes(
    section: &Section<'_>,
    paths: &[Vec<LinkId>],
    topology: &Topology,
) -> Result<Vec<PathChange>, Error> {
    let read = |v| each_table(list(v, WRITTEN)?, WRITTEN, |_, t| one(t, paths, topology));
    let mut changes = section.or("path_changes", Vec::new(), read)?;
    changes.sort_by_key(|c| c.at);
    Ok(changes)
}

fn one(value: &Table, paths: &[Vec<LinkId>], topology: &Topology) -> Result<PathChange, Error> {
    let section = Section::new(value, &PATH_CHANGE)?;
    Ok(PathChange {
        at: Instant(section.value::<Duration>("at")?.0),
        path: section.require("path", |v| path(v, paths, topology))?,
        client: section.word("by", ENDS)?,
        action: section.word("action", ACTIONS)?,
    })
}

/// A path by its number, or by the name of a link that no other path has.
fn path(value: &Value, paths: &[Vec<LinkId>], topology: &Topology) -> Result<usize, Error> {
    if !value.is_str() {
        return whole(value, 0, paths.len() as u64 - 1).map(|n| n as usize);
    }
    let link = topology.link(value)?;
    let having: Vec<usize> = (0..paths.len()).filter(|&p| paths[p].contains(&link)).collect();
    match having[..] {
        [only] => Ok(only),
        _ => Err(Error::new(
            format!("{} is on {} of the connection's paths", show(value), having.len()),
            format!("give the number of the path, 0 to {}", paths.len() - 1),
        )),
    }
}
