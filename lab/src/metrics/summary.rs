//! The summary object of a run: the fields of `anabranch run --json`, defined in `docs/columns.md`.

use serde_json::{Map, Value, json};

use super::account::{ConnectionAccount, SubflowAccount};
use crate::scenario::{Protocol, Scenario};
use crate::sim::world::{End, Outcome};

/// The summary of `outcome`; `wall_s` is the engine's time in seconds.
pub fn summary(scenario: &Scenario, outcome: &Outcome, wall_s: f64) -> Value {
    let many = scenario.connections.len() > 1;
    let mut connections = Vec::new();
    let mut subflows = Vec::new();
    for (i, account) in outcome.accounts.iter().enumerate() {
        let mut object = measures(&[account], outcome);
        let own: Vec<Value> = account.subflows.iter().map(|s| subflow(account, s)).collect();
        for s in &own {
            let mut s = s.clone();
            if many {
                s["connection"] = json!(i);
            }
            subflows.push(s);
        }
        object.insert("subflows".into(), Value::Array(own));
        let c = &scenario.connections[i];
        object.insert("name".into(), json!(c.name));
        object.insert("protocol".into(), json!(protocol(c.protocol)));
        connections.push(Value::Object(object));
    }
    let all: Vec<&ConnectionAccount> = outcome.accounts.iter().collect();
    let mut top = measures(&all, outcome);
    top.insert("events".into(), json!(outcome.events));
    top.insert("wall_s".into(), json!(wall_s));
    top.insert("trace_sha256".into(), json!(outcome.trace_sha256));
    top.insert("seed".into(), json!(scenario.seed));
    top.insert("version".into(), json!(env!("CARGO_PKG_VERSION")));
    top.insert("title".into(), json!(scenario.title));
    top.insert("subflows".into(), Value::Array(subflows));
    if many {
        top.insert("connections".into(), Value::Array(connections));
    } else if let Some(Value::Object(only)) = connections.pop() {
        for key in ["name", "protocol"] {
            top.insert(key.into(), only[key].clone());
        }
    }
    Value::Object(top)
}

fn protocol(p: Protocol) -> &'static str {
    match p {
        Protocol::Mptcp => "mptcp",
        Protocol::Tcp => "tcp",
        Protocol::Udp => "udp",
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn mbps(octets: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { octets as f64 * 8.0 / seconds / 1e6 } else { 0.0 }
}

/// When the time of a connection's rates ends: the last octet read if it is complete, else the end of the run.
fn until(account: &ConnectionAccount) -> u64 {
    match (account.done, account.last_read) {
        (Some(_), Some(last)) => last,
        _ => account.ended,
    }
}

/// Counts add, ratios are computed anew, maxima are maxima.
fn measures(accounts: &[&ConnectionAccount], outcome: &Outcome) -> Map<String, Value> {
    let sum = |f: fn(&ConnectionAccount) -> u64| accounts.iter().map(|a| f(a)).sum::<u64>();
    let began = accounts.iter().filter_map(|a| a.began).min();
    let since = |at: Option<u64>| match (at, began) {
        (Some(at), Some(began)) => json!((at - began) as f64 / 1e9),
        _ => Value::Null,
    };
    let first = accounts.iter().filter_map(|a| a.first_read).min();
    let last = accounts.iter().filter_map(|a| a.last_read).max();
    let complete = accounts.iter().all(|a| a.done.is_some());
    let stalled = accounts.iter().filter_map(|a| a.stalled_since).min();
    let status = match (complete, stalled, outcome.end) {
        (true, ..) => "completed",
        (false, Some(_), _) => "stalled",
        (false, None, End::Completed | End::Duration | End::Stopped) => "duration",
    };
    let end = accounts.iter().map(|a| until(a)).max().unwrap_or(0);
    let seconds = began.map_or(0.0, |b| (end - b) as f64 / 1e9);
    let read = sum(|a| a.read);
    let segments = accounts.iter().flat_map(|a| &a.subflows).map(|s| s.segments).sum::<u64>();
    let mut o = Map::new();
    o.insert("status".into(), json!(status));
    o.insert("completion_s".into(), if complete { since(last) } else { Value::Null });
    o.insert("first_byte_s".into(), since(first));
    o.insert("last_byte_s".into(), since(last));
    o.insert("stalled_since_s".into(), if complete { Value::Null } else { since(stalled) });
    o.insert("goodput_mbps".into(), json!(mbps(read, seconds)));
    o.insert("bytes_delivered".into(), json!(read));
    o.insert("content_ok".into(), json!(accounts.iter().all(|a| !a.damaged)));
    o.insert("ooo_ratio".into(), json!(ratio(sum(|a| a.out_of_order), sum(|a| a.distinct))));
    let max = |f: fn(&ConnectionAccount) -> u64| accounts.iter().map(|a| f(a)).max().unwrap_or(0);
    o.insert("ooo_buffer_max_packets".into(), json!(max(|a| a.held_packets)));
    o.insert("ooo_buffer_max_bytes".into(), json!(max(|a| a.held_octets)));
    o.insert("segments".into(), json!(segments));
    o
}

fn subflow(account: &ConnectionAccount, s: &SubflowAccount) -> Value {
    let end = until(account);
    let seconds = account.began.map_or(0.0, |b| (end - b) as f64 / 1e9);
    let utilisation = if s.capacity > 0.0 { s.wire as f64 * 8.0 / s.capacity } else { 0.0 };
    json!({
        "path": s.path,
        "goodput_mbps": mbps(s.fresh, seconds),
        "utilisation": utilisation,
        "segments": s.segments,
        "retransmissions_fast": s.fast,
        "retransmissions_timeout": s.timeout,
        "spurious": s.fates.spurious(),
        "undone": s.undone,
        "srtt_ms": s.srtt.mean(end).map(|v| v * 1e3),
        "cwnd_mean_segments": s.cwnd.mean(end),
        "queue_drops": s.queue_drops,
    })
}
