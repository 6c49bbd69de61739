//! Web pages: by name, drawn, or written object by object.

use anabranch_stack::time::Duration;
use toml::{Table, Value};

use super::application::{Content, Object, Page};
use super::error::{Error, show};
use super::reader::{Section, each_table, whole, word};
use super::schema::{MOST_OBJECTS, MOST_OF_ONE, OBJECT, PAGE};
use super::units::BYTES;

/// Pages of S. Ferlin, O. Alay, O. Mehani, R. Boreli, "BLEST: Blocking Estimation-based MPTCP Scheduler for Heterogeneous
/// Networks", IFIP Networking 2016: objects and KiB in all.
const PAGES: &[(&str, (u64, u64))] =
    &[("wikipedia", (15, 72)), ("amazon", (54, 1024)), ("huffington-post", (138, 3994))];

/// Reads `page` and what belongs to it; `think` and `request` are read already.
pub(super) fn read(section: &Section<'_>, request: u64, think: Duration) -> Result<Page, Error> {
    let content = section.require("page", content)?;
    let connections = section.value("connections")?;
    Ok(Page { content, connections, request, think })
}

fn content(value: &Value) -> Result<Content, Error> {
    match value {
        Value::Table(table) => drawn(table),
        Value::Array(list) => {
            let objects = each_table(list, "page = [{ size = \"10 kB\" }, { size = \"2 kB\", after = 0 }]", object)?;
            match objects.len() as u64 {
                0 => Err(Error::new("the page has no objects", "write at least { size = \"10 kB\" }, the document")),
                n if n > MOST_OBJECTS => {
                    Err(Error::new(format!("the page has {n} objects"), format!("allowed: 1 to {MOST_OBJECTS}")))
                }
                _ => Ok(Content::Written(objects)),
            }
        }
        Value::String(_) => {
            let (objects, kib) = word(value, "page", PAGES)?;
            Ok(Content::Drawn { objects, bytes: kib << 10, depth: 2 })
        }
        other => Err(Error::new(
            format!("expected a name, a table or a list, found {}", show(other)),
            "write \"amazon\", { objects = 54, bytes = \"1 MiB\" }, or a list of objects",
        )),
    }
}

fn drawn(table: &Table) -> Result<Content, Error> {
    let section = Section::new(table, &PAGE)?;
    let (objects, bytes, depth): (u64, u64, u64) =
        (section.value("objects")?, section.value("bytes")?, section.value("depth")?);
    if bytes < objects {
        let problem = format!("{} are less than an octet for each of {objects} objects", BYTES.write(bytes));
        return Err(Error::at(
            "bytes",
            problem,
            format!("allowed: {} to {}", BYTES.write(objects), BYTES.write(MOST_OF_ONE)),
        ));
    }
    if depth > objects && section.has("depth") {
        let problem = format!("{depth} is more than the number of objects, {objects}");
        return Err(Error::at("depth", problem, "lower depth, or raise objects"));
    }
    if depth == 1 && objects > 1 {
        let problem =
            format!("a page of {objects} objects has a depth of at least 2: all others depend on the document");
        return Err(Error::at("depth", problem, "use 2 or more"));
    }
    Ok(Content::Drawn { objects, bytes, depth: depth.min(objects) })
}

/// Object number `i`.
fn object(i: usize, table: &Table) -> Result<Object, Error> {
    let section = Section::new(table, &OBJECT)?;
    let bytes = section.value("size")?;
    if i == 0 {
        return match section.has("after") {
            true => Err(Error::at("after", "the first object is the document, which depends on nothing", "remove it")),
            false => Ok(Object { bytes, after: None }),
        };
    }
    let after = section.or("after", 0, |v| whole(v, 0, i as u64 - 1))?;
    Ok(Object { bytes, after: Some(after as u32) })
}
