//! Figures that summaries of runs and of captures have in common.

use serde_json::{Map, Value, json};

use super::measures::{self as m, Measure, PERCENTILES, Parts};
use super::reorder::Reorder;

/// `part` of `whole`, from 0 to 1; 0 if `whole` is 0.
pub fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// `octets` in `seconds`, in Mbit/s; 0 if no time has passed.
pub fn mbps(octets: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { octets as f64 * 8.0 / seconds / 1e6 } else { 0.0 }
}

/// Jain's fairness index of the connections' goodputs: (sum x)^2 / (n sum x^2).
pub fn jain(connections: &[Value]) -> Option<f64> {
    let x: Vec<f64> = connections.iter().filter_map(|c| c["goodput_mbps"].as_f64()).collect();
    let (sum, squares): (f64, f64) = (x.iter().sum(), x.iter().map(|v| v * v).sum());
    (squares > 0.0).then(|| sum * sum / (x.len() as f64 * squares))
}

/// Puts the percentiles that `measure` has: `quantile` gives the value that a part of all values
/// does not exceed.
pub fn put_percentiles(o: &mut Map<String, Value>, measure: &Measure, quantile: impl Fn(f64) -> Option<f64>) {
    let Parts::Percentiles(count) = measure.parts else { return };
    let value = |&(name, _, p): &(&str, &str, f64)| (name.to_owned(), quantile(p).into());
    measure.put(o, PERCENTILES[..count].iter().map(value).collect::<Map<_, Value>>());
}

/// How the data were reordered.
pub fn disorder(o: &mut Map<String, Value>, r: &Reorder) {
    m::RBD.put(o, r.occupancy_density());
    m::REORDER_EXTENT_MAX.put(o, r.extent_max());
    m::REORDER_DENSITY.put(o, json!(r.displacement_density()));
    put_percentiles(o, &m::HOL_DELAY_MS, |p| r.delay_quantile(p).map(|s| s * 1e3));
}
