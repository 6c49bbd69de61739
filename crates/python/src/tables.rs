//! The tables of the engine as JSON: algorithms, profiles, middleboxes, links, measures.

use anabranch_measures::causes::Cause;
use anabranch_measures::measures::{Column, PERCENTILES, columns};
use anabranch_sim::algorithms::{list, registered};
use anabranch_sim::scenario::{measured, middlebox, presets};
use anabranch_stack::config::{PROFILES, Profile};
use anabranch_stack::judge::{RESPONSES, Response};
use pyo3::prelude::*;
use serde_json::{Map, Value, json};

fn middleboxes() -> Value {
    let described = |e: &middlebox::Entry| json!({ "name": e.name, "summary": e.summary, "source": e.source, "needs": "", "validated": middlebox::VALIDATED });
    middlebox::REGISTRY.iter().map(described).collect()
}

/// What has a name and no parameters.
fn named<T: Copy>(names: &[(&str, T)], described: fn(T) -> (&'static str, &'static str)) -> Value {
    let entry = |&(name, which): &(&str, T)| {
        let (summary, source) = described(which);
        json!({ "name": name, "summary": summary, "source": source })
    };
    names.iter().map(entry).collect()
}

/// All that a scenario may name, as JSON.
#[pyfunction]
pub fn registry() -> String {
    let mut known = list(&registered());
    json!({
        "controller": known["controller"].take(),
        "detector": known["detector"].take(),
        "reduction": known["reduction"].take(),
        "judge": known["judge"].take(),
        "response": named(RESPONSES, Response::described),
        "scheduler": known["scheduler"].take(),
        "profile": named(PROFILES, Profile::described),
        "middlebox": middleboxes(),
        "link": links(),
    })
    .to_string()
}

/// The table of measures as JSON: `columns` (one object for each measure), `causes` (what a sender
/// waits for) and `percentiles` (labels of percentiles).
#[pyfunction]
pub fn measures() -> String {
    let causes: Vec<Value> = Cause::ALL.iter().map(|cause| cause.info().json()).collect();
    let columns: Vec<Value> = columns().iter().map(Column::json).collect();
    let percentiles: Map<String, Value> =
        PERCENTILES.iter().map(|(name, words, _)| ((*name).into(), json!(words))).collect();
    json!({ "columns": columns, "causes": causes, "percentiles": percentiles }).to_string()
}

/// The presets of links, with what each of their figures agrees with.
fn links() -> Vec<serde_json::Value> {
    let entry = |p: &presets::Preset| {
        let figures = measured::figures(p.names[0]);
        let mut sources: Vec<&str> = Vec::new();
        for figure in figures.iter().filter(|f| !f.estimate) {
            if !sources.contains(&figure.source.as_str()) {
                sources.push(&figure.source);
            }
        }
        let source = if sources.is_empty() { "authors' estimate".to_string() } else { sources.join("; ") };
        let held: Vec<&str> = figures.iter().filter(|f| f.held).map(|f| f.what.as_str()).collect();
        let validated = if held.is_empty() { String::new() } else { format!("tests check: {}", held.join(", ")) };
        let figures: Vec<_> = figures
            .iter()
            .map(|f| json!({ "what": f.what, "value": f.value, "source": f.source, "estimate": f.estimate }))
            .collect();
        json!({
            "name": p.names[0], "also": p.names[1..], "summary": p.summary, "source": source, "validated": validated,
            "figures": figures,
        })
    };
    presets::PRESETS.iter().map(entry).collect()
}
