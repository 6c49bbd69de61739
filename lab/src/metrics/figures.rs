//! Figures that summaries of runs and of captures have in common.

use serde_json::{Map, Value, json};

use super::reorder::Reorder;

pub(crate) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

pub(crate) fn mbps(octets: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { octets as f64 * 8.0 / seconds / 1e6 } else { 0.0 }
}

/// Jain's fairness index of the connections' goodputs: (sum x)^2 / (n sum x^2).
pub(crate) fn jain(connections: &[Value]) -> Option<f64> {
    let x: Vec<f64> = connections.iter().filter_map(|c| c["goodput_mbps"].as_f64()).collect();
    let (sum, squares): (f64, f64) = (x.iter().sum(), x.iter().map(|v| v * v).sum());
    (squares > 0.0).then(|| sum * sum / (x.len() as f64 * squares))
}

/// How the data were reordered.
pub(crate) fn disorder(o: &mut Map<String, Value>, r: &Reorder) {
    let delay = |p: f64| r.delay_quantile(p).map(|s| s * 1e3);
    o.insert("rbd".into(), json!(r.occupancy_density()));
    o.insert("reorder_extent_max".into(), json!(r.extent_max()));
    o.insert("reorder_density".into(), json!(r.displacement_density()));
    o.insert("hol_delay_ms".into(), json!({ "p50": delay(0.5), "p95": delay(0.95), "p99": delay(0.99) }));
}
