//! What the figures of link presets agree with: `measured.toml` names a measurement, an operator, a standard or an estimate for each.

use toml::{Table, Value};

/// A figure of a preset.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Which: "rate down", "round trip", "queue", ...
    pub what: String,
    /// What the preset has, or the measured numbers and how closely the preset agrees with them.
    pub value: String,
    /// Where it comes from.
    pub source: String,
    /// Nothing published stands behind it.
    pub estimate: bool,
    /// A test holds the preset to it.
    pub held: bool,
    /// Measured mean, in Mbit/s.
    pub mean: Option<f64>,
    /// Measured quantiles: percent, and Mbit/s of rates or ms of times.
    pub quantiles: Vec<(f64, f64)>,
    /// Measured share of seconds below 1 Mbit/s.
    pub below: Option<f64>,
    /// How far mean and quantiles of the preset may be off, as a ratio less 1.
    pub within: f64,
    /// Keys that take from the preset what the measurement did not have.
    pub without: String,
}

/// The figures of the preset whose first name is `name`.
///
/// # Panics
///
/// Panics if there is no such preset, or if the file has a fault, which a test would show.
pub fn figures(name: &str) -> Vec<Figure> {
    let document: Table = include_str!("measured.toml").parse().expect("measured.toml is TOML");
    let sources = document["sources"].as_table().expect("sources are a table");
    let rows = document.get(name).and_then(Value::as_array).unwrap_or_else(|| panic!("no figures of \"{name}\""));
    rows.iter().map(|row| figure(row.as_table().expect("a figure is a table"), sources)).collect()
}

fn figure(row: &Table, sources: &Table) -> Figure {
    let text = |key: &str| row.get(key).map(|v| v.as_str().expect("text").to_string());
    let number = |key: &str| row.get(key).map(|v| v.as_float().expect("a number"));
    let key = text("source").expect("a source");
    let quantiles = row.get("quantiles").map_or(Vec::new(), |v| quantiles(v.as_table().expect("a table")));
    let what = text("what").expect("what it is");
    let (mean, within) = (number("mean"), number("within").unwrap_or(0.0));
    let value = text("value").unwrap_or_else(|| words(&what, mean, &quantiles, within));
    Figure {
        what,
        value,
        source: sources[&key].as_str().expect("text").to_string(),
        estimate: key == "estimate",
        held: !quantiles.is_empty() || row.get("held").is_some_and(|v| v.as_bool() == Some(true)),
        mean,
        quantiles,
        below: number("below"),
        within,
        without: text("without").unwrap_or_default(),
    }
}

fn quantiles(table: &Table) -> Vec<(f64, f64)> {
    let percent = |key: &str| key.trim_start_matches('p').parse().expect("a percentile, such as p50");
    table.iter().map(|(key, value)| (percent(key), value.as_float().expect("a number"))).collect()
}

/// `mean 88.6, p50 86.1 Mbit/s, reproduced within 10 %`.
fn words(what: &str, mean: Option<f64>, quantiles: &[(f64, f64)], within: f64) -> String {
    let unit = if what.starts_with("rate") { "Mbit/s" } else { "ms" };
    let mean = mean.map(|m| format!("mean {m}"));
    let all: Vec<String> = mean.into_iter().chain(quantiles.iter().map(|(p, x)| format!("p{p} {x}"))).collect();
    format!("{} {unit}, reproduced within {:.0} %", all.join(", "), 100.0 * within)
}

#[cfg(test)]
mod tests {
    use super::super::presets::PRESETS;
    use super::*;

    /// Nothing is left without a word, and no preset is forgotten in the file.
    #[test]
    fn every_preset_says_what_its_figures_agree_with() {
        for preset in PRESETS {
            let found = figures(preset.names[0]);
            assert!(!found.is_empty());
            for figure in found {
                assert!(!figure.value.is_empty() && !figure.source.is_empty(), "{figure:?}");
                assert_eq!(figure.within > 0.0, !figure.quantiles.is_empty(), "{figure:?}");
            }
        }
        let document: Table = include_str!("measured.toml").parse().unwrap();
        assert_eq!(document.len(), PRESETS.len() + 1);
    }

    #[test]
    fn numbers_are_told_in_words() {
        let old = figures("starlink 2022");
        assert_eq!(
            old[0].value,
            "mean 88.6, p5 17.8, p25 53.7, p50 86.1, p75 120.1, p95 169.6 Mbit/s, reproduced within 10 %"
        );
        assert_eq!(old[2].value, "p25 40, p50 50, p75 60 ms, reproduced within 5 %");
        assert!(figures("lte").iter().all(|f| f.estimate) && figures("5g").iter().all(|f| f.estimate));
    }
}
