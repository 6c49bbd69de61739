//! The tables of docs/columns.md are made of the table of measures: `make columns` writes them,
//! this test compares them.
//!
//! A table stands between `<!-- table: NAME -->` and `<!-- end of table -->`.

use std::fmt::Write;
use std::path::Path;

use anabranch_measures::causes::{Cause, Evidence, VIEW};
use anabranch_measures::measures::{self as m, Capture, Measure};

const END: &str = "<!-- end of table -->";

/// A row; `|` in a cell would end it.
fn row(cells: &[&str]) -> String {
    let cells =
        cells.iter().map(|c| if c.is_empty() { " ".to_owned() } else { format!(" {} ", c.replace('|', "\\|")) });
    format!("|{}|\n", cells.collect::<Vec<_>>().join("|"))
}

fn heads(cells: &[&str]) -> String {
    format!("{}|{}\n", row(cells), "---|".repeat(cells.len()))
}

fn key(key: &str) -> String {
    format!("`{key}`")
}

fn fields(measures: &[Measure]) -> String {
    let rows = measures.iter().map(|m| row(&[&key(m.key), m.unit.name, m.definition]));
    heads(&["field", "unit", "meaning"]) + &rows.collect::<String>()
}

/// Fields of a subflow, of which some stand in connections, too.
fn subflow() -> String {
    let of_subflow = |m: Measure| Measure { definition: m.of_subflow, ..m };
    let (path, rest) = m::SUBFLOWS.split_first().unwrap();
    let (utilisation, rest) = rest.split_first().unwrap();
    let shared = [*path, of_subflow(m::GOODPUT_MBPS), *utilisation, of_subflow(m::SEGMENTS)];
    fields(&[&shared, rest].concat())
}

fn frame(measures: &[Measure]) -> String {
    let rows = measures.iter().map(|m| row(&[&key(m.key), m.kind, m.unit.name, m.definition]));
    heads(&["column", "type", "unit", "meaning"]) + &rows.collect::<String>()
}

fn labels() -> String {
    let line = |c: &m::Column| {
        let capture = if c.measure.scopes == [m::Scope::Frame] { "" } else { c.measure.capture.words() };
        row(&[&key(&c.key), &c.axis(), c.measure.better.words(), capture])
    };
    heads(&["field or column", "label", "better", "in captures"]) + &m::columns().iter().map(line).collect::<String>()
}

fn causes() -> String {
    let line = |cause: Cause| {
        let info = cause.info();
        let evidence = match info.evidence {
            Evidence::Packets => "packets prove it",
            Evidence::Timing | Evidence::OpenTiming => "the sender's timing suggests it",
            Evidence::Run => "no",
        };
        let viewed = if VIEW.contains(&cause) { "yes" } else { "" };
        row(&[&key(info.name), info.label, info.meaning, evidence, viewed])
    };
    let rows = Cause::ALL.into_iter().map(line).collect::<String>();
    heads(&["cause", "label", "meaning", "in captures", "in `limits`"]) + &rows
}

fn table(name: &str) -> String {
    match name {
        "ending" => fields(m::ENDING),
        "order" => fields(m::ORDER),
        "density" => fields(m::DENSITY),
        "limits and losses" => fields(m::LIMITS_AND_LOSSES),
        "applications" => fields(m::APPLICATIONS),
        "effort" => fields(m::EFFORT),
        "identity" => fields(m::IDENTITY),
        "subflow" => subflow(),
        "frame over time" => frame(m::SERIES),
        "frame of parts" => frame(m::PARTS_FRAME),
        "frame of links" => frame(m::LINKS_FRAME),
        "labels" => labels(),
        "causes" => causes(),
        _ => panic!("docs/columns.md: no table {name:?}"),
    }
}

/// The page with its tables made anew.
fn made(page: &str) -> String {
    let mut parts = page.split("<!-- table: ");
    let mut out = parts.next().unwrap().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(" -->\n").expect("a name of a table");
        let (_, after) = rest.split_once(END).expect("an end of a table");
        write!(out, "<!-- table: {name} -->\n{}{END}{after}", table(name)).unwrap();
    }
    out
}

#[test]
fn the_page_of_columns_has_the_tables_of_the_measures() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/columns.md");
    let page = std::fs::read_to_string(&file).unwrap();
    let wanted = made(&page);
    assert_eq!(page.matches("<!-- table: ").count(), 13);
    if std::env::var_os("ANABRANCH_WRITE_COLUMNS").is_some() {
        std::fs::write(&file, wanted).unwrap();
    } else {
        assert_eq!(page, wanted, "docs/columns.md is stale: run `make columns`");
    }
}

#[test]
fn keys_and_labels_name_one_measure_each() {
    let columns = m::columns();
    for (i, c) in columns.iter().enumerate() {
        for other in &columns[..i] {
            assert_ne!(c.key, other.key);
            assert_ne!(c.field, other.field);
            assert_ne!(c.axis(), other.axis());
        }
    }
}

#[test]
fn every_measure_is_defined_and_stands_somewhere() {
    for measure in m::summary() {
        assert!(!measure.definition.is_empty() && !measure.scopes.is_empty(), "{}", measure.key);
        let only = matches!(measure.capture, Capture::Only | Capture::OnlyArrival);
        assert_eq!(only, m::CAPTURES.iter().any(|c| c.key == measure.key), "{}", measure.key);
    }
}
