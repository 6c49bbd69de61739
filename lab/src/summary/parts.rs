//! What applications that count in parts got: latencies, and what came too late.

use serde_json::{Map, Value, json};

use crate::metrics::account::ConnectionAccount;
use crate::metrics::items::{Items, Kind, quantile};

/// What the summary calls the latencies of each kind of parts.
const LATENCIES: &[(Kind, &str)] = &[(Kind::Message, "message_latency_ms")];

/// The percentiles that are told.
const PERCENTILES: [(&str, f64); 4] = [("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999)];

/// Adds what is known of the parts of the transfers of `accounts`, taken together.
pub(super) fn parts(o: &mut Map<String, Value>, accounts: &[&ConnectionAccount]) {
    for (kind, name) in LATENCIES {
        let these = || accounts.iter().filter_map(|a| a.items.as_ref()).filter(|i| i.kind == *kind);
        if these().next().is_some() {
            o.insert((*name).into(), latencies(these()));
        }
    }
    let due: Vec<(u64, u64)> =
        accounts.iter().filter_map(|a| a.items.as_ref().and_then(|i| i.missed(a.ended))).collect();
    if !due.is_empty() {
        let all: u64 = due.iter().map(|(all, _)| all).sum();
        let missed: u64 = due.iter().map(|(_, missed)| missed).sum();
        o.insert("deadline_missed".into(), json!((all > 0).then(|| missed as f64 / all as f64)));
    }
}

/// Percentiles of the latencies of all parts that are there.
fn latencies<'a>(items: impl Iterator<Item = &'a Items>) -> Value {
    let mut sorted: Vec<u64> = items.flat_map(Items::all).filter_map(|i| i.latency()).collect();
    sorted.sort_unstable();
    let of = |(name, p): (&str, f64)| (name.to_owned(), json!(quantile(&sorted, p).map(|ns| ns / 1e6)));
    Value::Object(PERCENTILES.into_iter().map(of).collect())
}
