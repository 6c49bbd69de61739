//! One connection of a capture, in the fields of a run's summary and in those that only captures have.

use anabranch_measures::figures::{disorder, mbps, ratio};
use anabranch_measures::measures::{self as m, Scope};
use serde_json::{Map, Value, json};

use super::super::connection::Connection;
use super::super::subflow::{CLIENT, Half, Opening, SERVER};
use super::super::version0::Version;
use super::subflow::subflow;
use super::{SIDES, endpoint};

/// The connection `c` with the data that side `s` sent, in a capture that began at `origin`.
pub(super) fn summary(c: &Connection, s: usize, origin: u64) -> Map<String, Value> {
    let mut o = Map::new();
    as_of_a_run(&mut o, c, s);
    only_of_captures(&mut o, c, s, origin);
    reinjections_and_signals(&mut o, c, s);
    o.insert("subflows".into(), Value::Array(subflows(c, s)));
    o
}

/// The fields of a run's summary.
fn as_of_a_run(o: &mut Map<String, Value>, c: &Connection, s: usize) {
    let stream = &c.streams[s];
    let seconds = |at: Option<u64>| at.map(|at| at.saturating_sub(c.began) as f64 / 1e9);
    let status = status(c);
    let last = seconds(stream.last_read);
    m::NAME.put(o, name(c));
    m::PROTOCOL.put(o, if c.tcp { "tcp" } else { "mptcp" });
    m::STATUS.put(o, status);
    m::COMPLETION_S.put(o, if status == "completed" { json!(last) } else { Value::Null });
    m::FIRST_BYTE_S.put(o, seconds(stream.first_read));
    m::LAST_BYTE_S.put(o, last);
    m::GOODPUT_MBPS.put(o, mbps(stream.delivered(), last.unwrap_or(0.0)));
    m::BYTES_DELIVERED.put(o, stream.delivered());
    m::LONGEST_GAP_S.put(o, last.map(|_| stream.longest_gap as f64 / 1e9));
    m::OOO_RATIO.put(o, ratio(stream.out_of_order, stream.distinct));
    m::OOO_BUFFER_MAX_PACKETS.put(o, stream.held_packets);
    m::OOO_BUFFER_MAX_BYTES.put(o, stream.held_octets);
    disorder(o, stream.reorder.as_deref().unwrap_or(&Default::default()));
    m::put_unknowable(o, Scope::Connection);
    m::SEGMENTS.put(o, sum(c, s, |h| h.sender.segments));
}

fn status(c: &Connection) -> &'static str {
    match (c.is_complete(), c.subflows.iter().any(|f| f.reset.is_some())) {
        (true, _) => "completed",
        (false, true) if c.is_closed() => "reset",
        _ => "open",
    }
}

/// A count of what side `s` sent, over all subflows.
fn sum(c: &Connection, s: usize, f: fn(&Half) -> u64) -> u64 {
    c.subflows.iter().map(|sub| f(&sub.halves[s])).sum()
}

/// Some capture stands at the receiver, so that times of arrival are not estimated.
fn is_exact(c: &Connection, s: usize) -> bool {
    !c.streams[s].estimated && c.subflows.iter().any(|f| f.halves[s].exact)
}

fn only_of_captures(o: &mut Map<String, Value>, c: &Connection, s: usize, origin: u64) {
    let by_arrival = m::summary().filter(|m| m.depends_on_arrival() && !is_exact(c, s));
    o.insert("estimated".into(), by_arrival.map(|m| m.key).collect());
    o.insert("start_s".into(), json!(c.began.saturating_sub(origin) as f64 / 1e9));
    m::DATA_FROM.put(o, SIDES[s]);
    o.insert("bytes_back".into(), json!(c.streams[1 - s].delivered()));
    o.insert("mptcp_version".into(), json!(c.version.map(Version::number)));
    m::FALLBACK.put(o, if c.tcp { Value::Null } else { json!(c.fallback.is_some()) });
    o.insert("fallback_reason".into(), json!(c.fallback.map(|f| f.reason())));
    o.insert(
        "complete_beginning".into(),
        json!(c.subflows.first().is_some_and(|f| matches!(f.opening, Opening::Capable | Opening::Plain))),
    );
    o.insert("handshake".into(), if c.tcp { Value::Null } else { handshake(c) });
    o.insert("unlisted_subflows".into(), json!(c.dropped));
    if let Some(waiting) = c.waiting.as_ref().map(|w| &w[s]) {
        let buffer = Some(waiting.buffer).filter(|buffer| *buffer > 0);
        o.insert("diagnosis".into(), json!({ "send_buffer_bytes": buffer, "unacknowledged_max_bytes": waiting.most }));
    }
}

fn reinjections_and_signals(o: &mut Map<String, Value>, c: &Connection, s: usize) {
    let mut checksums = [0; 3];
    for half in c.subflows.iter().flat_map(|f| &f.halves) {
        checksums.iter_mut().zip(half.checksums.totals()).for_each(|(sum, n)| *sum += n);
    }
    let [verified, failed, incomplete] = checksums;
    o.insert("dss_checksums".into(), json!({ "verified": verified, "failed": failed, "incomplete": incomplete }));
    // Reinjections show where both copies pass: on the sender's side.
    let sender_seen = c.subflows.iter().any(|f| f.is_at(s)) || !is_exact(c, s);
    let (all, useful) = (sum(c, s, |h| h.reinjections), sum(c, s, |h| h.useful));
    let known = |n: u64| if sender_seen { json!(n) } else { Value::Null };
    m::REINJECTIONS.put(o, known(all));
    m::REINJECTIONS_USEFUL.put(o, known(useful));
    o.insert("reinjections_redundant".into(), known(all.saturating_sub(useful)));
    let signals = &c.signals;
    // Version 0 has neither echoes nor MP_TCPRST.
    let of_one = |n: u64| (c.version != Some(Version::Zero)).then_some(n);
    o.insert(
        "signals".into(),
        json!({
            "add_addr": signals.add_addr, "add_addr_echo": of_one(signals.echo), "remove_addr": signals.remove_addr,
            "mp_prio": signals.prio, "mp_fail": signals.fail, "mp_fastclose": signals.fastclose,
            "mp_tcprst": of_one(signals.tcprst),
        }),
    );
    let stream = &c.streams[s];
    m::MISSING_BYTES.put(o, stream.missing - (stream.nxt() - stream.delivered()).min(stream.missing));
    o.insert("unmapped_bytes".into(), json!(c.streams[s].unmapped));
}

/// Subflows with the same pair of addresses have the same path number.
fn subflows(c: &Connection, s: usize) -> Vec<Value> {
    let last_read = c.streams[s].last_read;
    let end = last_read.unwrap_or(c.last);
    let seconds = last_read.map_or(0.0, |at| at.saturating_sub(c.began) as f64 / 1e9);
    let mut paths = Vec::new();
    let of = c.subflows.iter().enumerate().map(|(number, f)| {
        let pair = (f.ends[CLIENT].0, f.ends[SERVER].0);
        let path = paths.iter().position(|p| *p == pair).unwrap_or_else(|| {
            paths.push(pair);
            paths.len() - 1
        });
        subflow(c, f, s, (number, path), seconds, end)
    });
    of.collect()
}

fn name(c: &Connection) -> String {
    let Some(first) = c.subflows.first() else { return String::new() };
    let ends = format!("{} - {}", endpoint(first.ends[CLIENT]), endpoint(first.ends[SERVER]));
    match (c.matched, first.token) {
        (true, _) => ends,
        (false, Some(token)) => format!("unmatched join {ends} (token {token:08x})"),
        (false, None) => format!("unmatched subflow {ends}"),
    }
}

fn handshake(c: &Connection) -> Value {
    let (mut joins, tokens) = (c.dropped_joins, c.key_tokens());
    c.subflows.iter().for_each(|f| joins.add(f, tokens));
    let token = |s: usize| tokens[s].map(|token| format!("{token:08x}"));
    // ADD_ADDR of version 0 has no HMAC.
    let advertised = |n: u64| (c.version != Some(Version::Zero)).then_some(n);
    json!({
        "keys_seen": c.keys.iter().flatten().count(),
        "client_token": token(CLIENT),
        "server_token": token(SERVER),
        "checksum_required": c.checksum,
        "tokens_matched": joins.matched,
        "tokens_unmatched": joins.unmatched,
        "hmacs_verified": joins.verified,
        "hmacs_failed": joins.failed,
        "add_addr_hmacs_verified": advertised(c.signals.hmac_right),
        "add_addr_hmacs_failed": advertised(c.signals.hmac_wrong),
    })
}
