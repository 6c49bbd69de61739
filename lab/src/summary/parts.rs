//! What applications that count in parts got: latencies, and what came too late.

use serde_json::{Map, Value, json};

use crate::metrics::account::ConnectionAccount;
use crate::metrics::items::{Items, Kind, Loaded, quantile};
use crate::metrics::playback::Playback;

/// What the summary calls the latencies of each kind of parts.
const LATENCIES: &[(Kind, &str)] = &[
    (Kind::Message, "message_latency_ms"),
    (Kind::Object, "object_latency_ms"),
    (Kind::Segment, "segment_latency_ms"),
];

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
    if let [account] = accounts {
        datagrams(o, account);
    }
    pages(o, accounts);
    films(o, accounts);
    let due: Vec<(u64, u64)> =
        accounts.iter().filter_map(|a| a.items.as_ref().and_then(|i| i.missed(a.ended))).collect();
    if !due.is_empty() {
        let all: u64 = due.iter().map(|(all, _)| all).sum();
        let missed: u64 = due.iter().map(|(_, missed)| missed).sum();
        o.insert("deadline_missed".into(), json!((all > 0).then(|| missed as f64 / all as f64)));
    }
}

/// What became of datagrams.
fn datagrams(o: &mut Map<String, Value>, account: &ConnectionAccount) {
    let (Some(transit), [flow]) = (&account.transit, &account.subflows[..]) else { return };
    let of = |(name, p): (&str, f64)| (name.to_owned(), json!(transit.quantile(p).map(|s| s * 1e3)));
    o.insert("datagram_delay_ms".into(), Value::Object(PERCENTILES.into_iter().map(of).collect()));
    o.insert("jitter_ms".into(), json!(transit.jitter().map(|s| s * 1e3)));
    let settled = flow.segments - flow.in_network.min(flow.segments);
    let lost = settled.saturating_sub(account.distinct);
    o.insert("datagram_loss".into(), json!((settled > 0).then(|| lost as f64 / settled as f64)));
}

/// The time until all pages were loaded, each from its first SYN.
fn pages(o: &mut Map<String, Value>, accounts: &[&ConnectionAccount]) {
    let pages: Vec<_> = accounts.iter().filter_map(|a| Some((a.began, a.page?))).collect();
    if !pages.is_empty() {
        let seconds = |(began, page): &(Option<u64>, Loaded)| Some((page.at? - (*began)?) as f64 / 1e9);
        let all: Option<Vec<f64>> = pages.iter().map(seconds).collect();
        o.insert("page_load_s".into(), json!(all.map(|all| all.into_iter().fold(0.0, f64::max))));
    }
}

/// What viewers saw: the latest start, and sums and means over all films.
fn films(o: &mut Map<String, Value>, accounts: &[&ConnectionAccount]) {
    let films: Vec<_> = accounts.iter().filter_map(|a| Some((a.began, a.playback.as_ref()?))).collect();
    if films.is_empty() {
        return;
    }
    let seconds = |(began, film): &(Option<u64>, &Playback)| Some((film.started? - (*began)?) as f64 / 1e9);
    let started: Option<Vec<f64>> = films.iter().map(seconds).collect();
    let sum = |f: fn(&Playback) -> u64| films.iter().map(|(_, film)| f(film)).sum::<u64>();
    let segments = sum(|f| f.bitrates().0);
    let bitrates: f64 = films.iter().map(|(_, film)| film.bitrates().1).sum();
    o.insert("startup_s".into(), json!(started.map(|all| all.into_iter().fold(0.0, f64::max))));
    o.insert("rebuffering_s".into(), json!(sum(|f| f.rebuffering) as f64 / 1e9));
    o.insert("rebuffering_count".into(), json!(sum(|f| f.stalls)));
    o.insert("bitrate_mean_mbps".into(), json!((segments > 0).then(|| bitrates / segments as f64 / 1e6)));
    o.insert("bitrate_switches".into(), json!(sum(|f| f.switches)));
}

/// Percentiles of the latencies of all parts that are there.
fn latencies<'a>(items: impl Iterator<Item = &'a Items>) -> Value {
    let mut sorted: Vec<u64> = items.flat_map(Items::all).filter_map(|i| i.latency()).collect();
    sorted.sort_unstable();
    let of = |(name, p): (&str, f64)| (name.to_owned(), json!(quantile(&sorted, p).map(|ns| ns / 1e6)));
    Value::Object(PERCENTILES.into_iter().map(of).collect())
}
