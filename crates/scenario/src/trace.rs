//! `trace`: times at which packets may leave, in mahimahi's format: one time in milliseconds on each line, for 1500 octets each.
//!
//! In a document it is the name of a file, relative to the document's directory, or a list of the times (stamps). Files
//! are read before anything else ([`inline`]), so the document that is kept with a result does not depend on other files.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use toml::{Table, Value};

use super::error::{Error, show};
use super::model::Trace;
use super::reader::list;

const KEYS: [&str; 3] = ["trace", "trace_up", "trace_down"];
/// A day. A later stamp is refused, since its unit is probably wrong.
const LATEST: u64 = 86_400_000;
/// Octets of the largest trace file: some ten million opportunities.
const LARGEST: u64 = 64_000_000;

/// Replaces the names of trace files in `document` by their stamps; says whether there were any. `name` is the document's
/// file.
pub(super) fn inline(document: &mut Table, name: &str) -> Result<bool, Error> {
    let mut any = false;
    for table in ["path", "link"] {
        let Some(Value::Array(links)) = document.get_mut(table) else { continue };
        for (i, link) in links.iter_mut().enumerate() {
            for key in KEYS {
                let Some(value) = link.get_mut(key) else { continue };
                let Some(file) = value.as_str() else { continue };
                let stamps =
                    read_file(file, name).map_err(|e| e.within(key).within(&format!("[{i}]")).within(table))?;
                *value = Value::Array(stamps);
                any = true;
            }
        }
    }
    Ok(any)
}

fn read_file(file: &str, name: &str) -> Result<Vec<Value>, Error> {
    let path = Path::new(name).parent().unwrap_or(Path::new("")).join(file);
    let remedy = "a trace is a text file with one time in milliseconds per line, each for 1500 octets; `anabranch trace import` converts rates to a trace";
    let text = contents(&path).map_err(|problem| Error::new(problem, remedy))?;
    let text = text.trim_start_matches('\u{feff}');
    if let Some(problem) = json(text) {
        let remedy = "`anabranch trace import --kind iperf3` makes a trace of iperf3's JSON";
        return Err(Error::new(format!("{} is {problem}", path.display()), remedy));
    }
    let mut stamps: Vec<Value> = Vec::new();
    let mut last = 0;
    for (n, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let at = |problem: String| Error::new(format!("{}, line {}: {problem}", path.display(), n + 1), remedy);
        // The file may not be a trace at all, so its contents are not shown.
        let Ok(stamp) = line.trim().parse::<u64>() else {
            return Err(at("not a whole number of milliseconds".into()));
        };
        if stamp > LATEST {
            return Err(at(format!("{stamp} ms is more than a day")));
        }
        if stamp < last {
            return Err(at(format!("{stamp} comes after {last}; the times of a trace must not decrease")));
        }
        last = stamp;
        stamps.push(Value::Integer(stamp as i64));
    }
    if last == 0 {
        let problem = if stamps.is_empty() { "is empty" } else { "has no time above 0" };
        return Err(Error::new(format!("{} {problem}", path.display()), remedy));
    }
    Ok(stamps)
}

/// Says what a JSON file is that was given as a trace.
fn json(text: &str) -> Option<&'static str> {
    if !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let iperf3 = text.contains("\"intervals\"") && text.contains("\"bits_per_second\"");
    Some(if iperf3 { "iperf3's JSON, not a trace" } else { "JSON, not a trace" })
}

/// The text of a trace file, which has to be a regular file: a device or a pipe may never end.
fn contents(path: &Path) -> Result<String, String> {
    let unreadable = |e: std::io::Error| format!("cannot read the trace file \"{}\": {e}", path.display());
    if !std::fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(format!("the trace file \"{}\" is not a regular file", path.display()));
    }
    let mut text = String::new();
    // The length that the file system states may be wrong (in /proc) or out of date, so reading is limited, too.
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let octets = file.take(LARGEST + 1).read_to_string(&mut text).map_err(unreadable)?;
    if octets as u64 > LARGEST {
        return Err(format!("the trace file \"{}\" is larger than {} MB", path.display(), LARGEST / 1_000_000));
    }
    Ok(text)
}

/// The stamps as a list.
pub(super) fn read(value: &Value) -> Result<Trace, Error> {
    let written = "trace = \"FILE\", or the times themselves as [0, 12, 13, ...]";
    let mut stamps: Vec<u64> = Vec::new();
    for (i, v) in list(value, written)?.iter().enumerate() {
        let at = |problem: String, remedy: &str| Error::new(problem, remedy).within(&format!("[{i}]"));
        let stamp = v.as_integer().and_then(|n| u64::try_from(n).ok()).filter(|n| *n <= LATEST);
        let Some(stamp) = stamp else {
            return Err(at(
                format!("{} is not a time in milliseconds", show(v)),
                "allowed: milliseconds from 0 to 86400000",
            ));
        };
        if stamps.last().is_some_and(|&last| stamp < last) {
            return Err(at(
                format!("{stamp} is less than the time before it"),
                "the times of a trace must not decrease",
            ));
        }
        stamps.push(stamp);
    }
    match stamps.last() {
        None => Err(Error::new("the trace is empty", "write at least one time in milliseconds")),
        Some(0) => Err(Error::new("the trace lasts no time", "its last time is its length and must be above 0")),
        Some(_) => Ok(Trace { stamps: Arc::from(stamps) }),
    }
}
