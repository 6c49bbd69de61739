//! Stored scenarios keep their meaning: each resolves to the JSON that it resolved to when its
//! digest was stored.
//!
//! The digests in `tests/data/resolved.csv` were written before the variants of algorithms that
//! Linux has got names of their own and before the deviations of Linux became flags. A scenario
//! that names `cubic` with `linux = 1`, or `profile = "linux-6.1"`, must not resolve to anything
//! else.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anabranch_sim::scenario::parse;
use anabranch_stack::config::PROFILES;
use sha2::{Digest, Sha256};
use toml::{Table, Value};

use crate::support::examples_directory;

/// Directories of scenarios, from the top of the repository.
const PLACES: [&str; 4] = ["examples", "benches/jobs", "python/anabranch/studies", "tests/data"];

fn data() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

fn toml_files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("the directory is there") {
        let path = entry.expect("the entry can be read").path();
        if path.is_dir() {
            toml_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "toml") {
            found.push(path);
        }
    }
}

/// The scenarios in a file, with a name each: the file itself, the scenario within a sweep, or the
/// scenarios of a table of test data. A sweep of a scenario in another file has none.
fn within(name: &str, text: &str) -> Vec<(String, String)> {
    let document: Table = text.parse().expect("it is TOML");
    for list in ["golden", "account"] {
        if let Some(rows) = document.get(list).and_then(Value::as_array) {
            let of = |row: &Value| {
                let word = |key| row.get(key).and_then(Value::as_str);
                Some((format!("{name}: {}", word("name")?), word("scenario")?.to_string()))
            };
            return rows.iter().filter_map(of).collect();
        }
    }
    match (document.get("scenario"), document.get("axes")) {
        (Some(Value::Table(inner)), _) => vec![(name.to_string(), inner.to_string())],
        (None, None) => vec![(name.to_string(), text.to_string())],
        _ => Vec::new(),
    }
}

/// Every stored scenario: name, text, and the file that names in the text are relative to.
fn stored() -> Vec<(String, String, PathBuf)> {
    let root = examples_directory().join("..");
    let mut files: Vec<PathBuf> = Vec::new();
    PLACES.iter().for_each(|place| toml_files(&root.join(place), &mut files));
    toml_files(&data(), &mut files);
    let mut all = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("it can be read");
        // Names are file names with the directory above: they survive a move of the crate.
        let of = |p: Option<&Path>| p.and_then(Path::file_name).map_or(String::new(), |n| n.to_string_lossy().into());
        let name = format!("{}/{}", of(file.parent()), of(Some(&file)));
        // Tables of test data have their scenarios from anywhere: files are beside the examples.
        let beside = if file.starts_with(data()) { examples_directory().join("test.toml") } else { file };
        all.extend(within(&name, &text).into_iter().map(|(name, text)| (name, text, beside.clone())));
    }
    all.extend(built());
    all
}

/// The algorithms that Linux varies, under every profile, with the parameter `linux` unsaid, 0 and
/// 1.
fn built() -> Vec<(String, String, PathBuf)> {
    let mut all = Vec::new();
    let kinds = [("controller", ["uncoupled", "cubic", "olia", "balia"].as_slice()), ("scheduler", &["blest", "ecf"])];
    for (profile, _) in PROFILES {
        for (kind, names) in kinds {
            for name in names {
                for said in ["", ", linux = 0", ", linux = 1"] {
                    let key = format!("profile = \"{profile}\"\n{kind} = {{ name = \"{name}\"{said} }}");
                    let path = "[[path]]\nrate = \"9 Mbit/s\"\ndelay = \"10 ms\"\n";
                    let text = format!("[connection]\n{key}\n[transfer]\nbytes = \"1 MB\"\n{path}");
                    all.push((key.replace('\n', ", "), text, examples_directory().join("test.toml")));
                }
            }
        }
    }
    all
}

fn digests() -> BTreeMap<String, String> {
    let digest = |(name, text, file): &(String, String, PathBuf)| {
        let scenario = parse(text, &file.display().to_string(), &[], None).unwrap_or_else(|e| panic!("{name}: {e}"));
        let hash = Sha256::digest(scenario.to_json().to_string());
        let hex: String = hash.iter().take(8).map(|octet| format!("{octet:02x}")).collect();
        (name.clone(), hex)
    };
    let all = stored();
    let found: BTreeMap<_, _> = all.iter().map(digest).collect();
    assert_eq!(found.len(), all.len(), "two stored scenarios have the same name");
    found
}

#[test]
fn stored_scenarios_resolve_to_what_they_resolved_to() {
    let file = data().join("resolved.csv");
    let found = digests();
    if std::env::var("ANABRANCH_GOLDEN").is_ok_and(|v| v == "write") {
        let rows: String = found.iter().map(|(name, digest)| format!("{digest};{name}\n")).collect();
        fs::write(&file, format!("sha256;scenario\n{rows}")).expect("it can be written");
        return;
    }
    let text = fs::read_to_string(&file).expect("the digests are there");
    let before: BTreeMap<&str, &str> =
        text.lines().skip(1).filter_map(|l| l.split_once(';')).map(|(d, n)| (n, d)).collect();
    assert!(before.len() >= 200, "{} scenarios only", before.len());
    let changed = before.iter().filter(|(name, digest)| found.get(**name).is_none_or(|now| now != *digest));
    let changed: Vec<&str> = changed.map(|(name, _)| *name).collect();
    assert!(
        changed.is_empty(),
        "these scenarios are gone or resolve differently; if you changed their text, ANABRANCH_GOLDEN=write renews \
         resolved.csv: {changed:#?}"
    );
}
