//! Measures as columns of sweeps, one value each: the fields inside of fields have columns of their
//! own.

use serde_json::{Value, json};

use super::{
    BYTES_DELIVERED, FIRST_BYTE_S, GOODPUT_MBPS, LAST_BYTE_S, LINKS_FRAME, LONGEST_GAP_S, Measure, OTHER, PARTS_FRAME,
    PERCENTILES, Parts, SERIES, summary,
};
use crate::causes::{Cause, VIEW};

/// Measures of the other direction, in `reverse`.
const REVERSE: [&Measure; 5] = [&BYTES_DELIVERED, &GOODPUT_MBPS, &FIRST_BYTE_S, &LAST_BYTE_S, &LONGEST_GAP_S];

/// Loss episodes by truth and verdict.
const EPISODES: [(&str, &str); 4] = [
    ("spurious_judged_spurious", "spurious episodes judged spurious"),
    ("spurious_judged_genuine", "spurious episodes judged genuine"),
    ("genuine_judged_spurious", "genuine episodes judged spurious"),
    ("genuine_judged_genuine", "genuine episodes judged genuine"),
];

/// A measure with one value and a label.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name in the frames of a sweep.
    pub key: String,
    /// Where its value stands in a summary: `hol_delay_ms.p95`.
    pub field: String,
    /// Its label without the unit.
    pub label: String,
    /// The label in headings of tables.
    pub short: String,
    /// What it is a part of, or itself.
    pub measure: Measure,
}

impl Column {
    fn of(measure: &Measure) -> Self {
        let [key, field, label, short] = [measure.key, measure.key, measure.label, measure.short].map(str::to_owned);
        Self { key, field, label, short, measure: *measure }
    }

    fn part(measure: &Measure, key: String, name: &str, label: String) -> Self {
        let field = format!("{}.{name}", measure.key);
        Self { key, field, short: label.clone(), label, measure: *measure }
    }

    /// The label with the unit, as an axis has it.
    pub fn axis(&self) -> String {
        match (self.measure.whole, self.measure.unit.shown) {
            ("", "") => self.label.clone(),
            ("", unit) => format!("{} ({unit})", self.label),
            (whole, _) => format!("{} (share of {whole})", self.label),
        }
    }

    /// What Python knows of it.
    pub fn json(&self) -> Value {
        let Measure { unit, definition, whole, is_summed, .. } = &self.measure;
        let factor = if whole.is_empty() { unit.factor } else { 1.0 };
        let bound = |x: f64| x.is_finite().then_some(x * factor);
        json!({
            "key": self.key,
            "field": self.field,
            "label": self.axis(),
            "words": self.label,
            "short": self.short,
            "unit": unit.shown,
            "scale": unit.factor,
            "factor": factor,
            "low": bound(unit.low),
            "high": bound(unit.high),
            "digits": unit.digits,
            "kind": unit.kind,
            "is_summed": is_summed,
            "definition": definition,
            "scopes": self.measure.scopes.iter().map(|s| s.name()).collect::<Vec<_>>(),
            "capture": self.measure.capture.words(),
            "better": self.measure.better.words(),
        })
    }
}

/// All columns that tables or figures show: those of a summary, then those of frames and of
/// figures.
pub fn columns() -> Vec<Column> {
    let all = summary().chain(SERIES).chain(PARTS_FRAME).chain(LINKS_FRAME).chain(OTHER);
    all.flat_map(spread).filter(|column| !column.label.is_empty()).collect()
}

/// The columns of a measure.
fn spread(measure: &Measure) -> Vec<Column> {
    match measure.parts {
        Parts::None => vec![Column::of(measure)],
        Parts::Percentiles(count) => {
            let stem = measure.key.trim_end_matches("_ms");
            let part = |&(name, words, _): &(&str, &str, f64)| {
                Column::part(measure, format!("{stem}_{name}_ms"), name, format!("{}, {words}", measure.label))
            };
            PERCENTILES[..count].iter().map(part).collect()
        }
        Parts::Reverse => {
            let part = |other: &&Measure| {
                let (key, label) =
                    (format!("reverse_{}", other.key), format!("{} in the other direction", other.label));
                let own = Measure { capture: measure.capture, ..**other };
                Column { measure: own, ..Column::part(measure, key, other.key, label) }
            };
            REVERSE.iter().map(part).collect()
        }
        Parts::Limits => {
            let share = Measure { unit: super::unit::SHARE, whole: "time", ..*measure };
            let part = |cause: &Cause| {
                let name = cause.info().name;
                Column::part(&share, format!("limited_{name}"), name, format!("limited by {}", cause.info().label))
            };
            [Column::of(measure)].into_iter().chain(VIEW.iter().map(part)).collect()
        }
        Parts::Episodes => {
            let part = |&(name, label): &(&str, &str)| {
                Column::part(measure, format!("episodes_{name}"), name, label.to_owned())
            };
            EPISODES.iter().map(part).collect()
        }
    }
}
