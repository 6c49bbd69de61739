//! What a capture shows, in the fields of a run's summary (`docs/columns.md`, `docs/captures.md`): null where no capture can know.
//!
//! A connection's account becomes its summary when it closes, so that memory is that of the open ones; [`super::shelf`] says of
//! which closed ones it is kept.

use anabranch_stack::mptcp::keys;
use serde_json::{Map, Value, json};

use super::Counts;
use super::connection::Connection;
use super::container::Reader;
use super::packet::Endpoint;
use super::sequence::{Span, Window};
use super::shelf::{Entry, LISTED, Shelf, TCP_LISTED};
use super::subflow::{CLIENT, Half, Opening, SERVER, Subflow};
use crate::metrics::series::Sample;
use crate::metrics::summary::{disorder, jain, mbps, ratio};

const SIDES: [&str; 2] = ["client", "server"];

/// A capture, analysed.
#[derive(Debug)]
pub struct Capture {
    /// The summary object.
    pub summary: Value,
    /// Series over time, in order of time; the connection is the position in the summary's list.
    pub samples: Vec<Sample>,
    /// For each sample: octets in flight are known, since the capture saw the sender's side.
    pub knows_flight: Vec<bool>,
    /// Data sequence numbers over time: connection, what was sent. Times are nanoseconds since the first packet.
    pub spans: Vec<(u32, Span)>,
    /// Connection, what was acknowledged.
    pub windows: Vec<(u32, Window)>,
    /// The caller stopped it.
    pub stopped: bool,
}

/// Closed connections.
#[derive(Debug)]
pub struct Report {
    mptcp: Shelf,
    tcp: Shelf,
    /// Connections seen, of MPTCP and of TCP; those without data.
    seen: [u64; 2],
    empty: u64,
}

impl Default for Report {
    fn default() -> Self {
        Self { mptcp: Shelf::new(LISTED), tcp: Shelf::new(TCP_LISTED), seen: [0; 2], empty: 0 }
    }
}

impl Report {
    /// A connection is over.
    pub fn add(&mut self, mut c: Connection, origin: u64) {
        let s = main(&c);
        let sent = c.streams[s].sent;
        self.seen[usize::from(c.tcp)] += 1;
        self.empty += u64::from(c.is_empty());
        let shelf = if c.tcp { &mut self.tcp } else { &mut self.mptcp };
        shelf.add(sent, c.number, || Entry {
            number: c.number,
            sent,
            samples: c.streams[s].series.take().map_or(Vec::new(), |series| series.samples().to_vec()),
            knows_flight: c.subflows.iter().map(|f| f.is_at(s)).collect(),
            sequence: c.streams[s].sequence.take(),
            summary: summary(&c, s, origin),
        });
    }

    /// Connections that are not listed, and their octets.
    fn unlisted(&mut self) -> (u64, u64) {
        let (a, b) = (self.mptcp.thin(), self.tcp.thin());
        (a.0 + b.0, a.1 + b.1)
    }

    /// The summary of the whole capture.
    pub fn finish(mut self, counts: &Counts, readers: &[Reader], stopped: bool) -> Capture {
        // Those of MPTCP first, each kind in order of first packets.
        let (unlisted, mut entries) = (self.unlisted(), self.mptcp.finish());
        entries.extend(self.tcp.finish());
        let mut capture = Capture {
            summary: Value::Null,
            samples: Vec::new(),
            knows_flight: Vec::new(),
            spans: Vec::new(),
            windows: Vec::new(),
            stopped,
        };
        let many = entries.len() > 1;
        let mut flights = Vec::new();
        for (i, e) in entries.iter_mut().enumerate() {
            let i = i as u32;
            capture.samples.extend(e.samples.drain(..).map(|s| Sample { connection: i, ..s }));
            if let Some(sequence) = e.sequence.take() {
                let relative = |at: u64| at.saturating_sub(counts.first);
                capture.spans.extend(sequence.spans().map(|s| (i, Span { at: relative(s.at), ..*s })));
                capture.windows.extend(sequence.windows().iter().map(|w| (i, Window { at: relative(w.at), ..*w })));
            }
            flights.push(std::mem::take(&mut e.knows_flight));
        }
        capture.samples.sort_by_key(|s| s.at);
        capture.spans.sort_by_key(|s| s.1.at);
        capture.windows.sort_by_key(|w| w.1.at);
        let knows = |s: &Sample| flights[s.connection as usize].get(s.subflow as usize).copied().unwrap_or(false);
        capture.knows_flight = capture.samples.iter().map(knows).collect();
        let mut top = Map::new();
        let mut connections: Vec<Value> = entries.into_iter().map(|e| Value::Object(e.summary)).collect();
        if many {
            sum_up(&mut top, &connections);
        }
        let names: Vec<&str> = readers.iter().map(|r| r.name.as_str()).collect();
        top.insert("title".into(), json!(names.join(", ")));
        top.insert("version".into(), json!(env!("CARGO_PKG_VERSION")));
        for unknowable in ["events", "trace_sha256", "seed"] {
            top.insert(unknowable.into(), Value::Null);
        }
        top.insert("capture".into(), about(counts, readers, (self.seen, self.empty), unlisted));
        if many {
            top.insert("jain".into(), json!(jain(&connections)));
            top.insert("connections".into(), Value::Array(connections));
        } else if let Some(Value::Object(only)) = connections.pop() {
            for (key, value) in only {
                top.entry(key).or_insert(value);
            }
        }
        capture.summary = Value::Object(top);
        capture
    }
}

/// The direction that carried more.
fn main(c: &Connection) -> usize {
    if c.streams[SERVER].sent > c.streams[CLIENT].sent { SERVER } else { CLIENT }
}

fn about(
    counts: &Counts,
    readers: &[Reader],
    (seen, empty): ([u64; 2], u64),
    (unlisted, unlisted_sent): (u64, u64),
) -> Value {
    let file = |r: &Reader| {
        let cut = r.cut.map(|(at, what)| format!("{what}, at octet {at}"));
        let interfaces: Vec<&str> = r.interfaces.iter().map(String::as_str).filter(|n| !n.is_empty()).collect();
        json!({ "name": r.name, "interfaces": interfaces, "cut": cut })
    };
    json!({
        "files": readers.iter().map(file).collect::<Vec<_>>(),
        "packets": counts.packets,
        "tcp": counts.tcp,
        "mptcp": counts.mptcp,
        "fragments": counts.fragments,
        "unknown_link": counts.unknown_link,
        "version_0": counts.version_0,
        "first_packet_unix_s": counts.first as f64 / 1e9,
        "clock": clock(readers),
        "duration_s": (counts.last.saturating_sub(counts.first)) as f64 / 1e9,
        "mptcp_connections": seen[0],
        "tcp_connections": seen[1],
        "connections_without_data": empty,
        "unlisted_connections": unlisted,
        "unlisted_bytes": unlisted_sent,
    })
}

/// Whether time went back.
fn clock(readers: &[Reader]) -> Value {
    let sum = |f: fn(&Reader) -> u64| readers.iter().map(f).sum::<u64>();
    let largest = readers.iter().map(|r| r.clocks.largest).max().unwrap_or(0);
    json!({
        "records_earlier": sum(|r| r.clocks.earlier),
        "steps_back": sum(|r| r.clocks.steps),
        "largest_step_back_s": largest as f64 / 1e9,
    })
}

fn endpoint((addr, port): Endpoint) -> String {
    if addr.is_ipv6() { format!("[{addr}]:{port}") } else { format!("{addr}:{port}") }
}

/// Fields whose values depend on when segments arrived at the receiver.
const BY_ARRIVAL: [&str; 12] = [
    "completion_s",
    "first_byte_s",
    "last_byte_s",
    "goodput_mbps",
    "ooo_ratio",
    "ooo_buffer_max_packets",
    "ooo_buffer_max_bytes",
    "rbd",
    "reorder_extent_max",
    "reorder_density",
    "hol_delay_ms",
    "reinjections_useful",
];

fn summary(c: &Connection, s: usize, origin: u64) -> Map<String, Value> {
    let stream = &c.streams[s];
    let seconds = |at: Option<u64>| at.map(|at| at.saturating_sub(c.began) as f64 / 1e9);
    let exact = !stream.estimated && c.subflows.iter().any(|f| f.halves[s].exact);
    let status = match (c.is_complete(), c.subflows.iter().any(|f| f.reset.is_some())) {
        (true, _) => "completed",
        (false, true) if c.is_closed() => "reset",
        _ => "open",
    };
    let last = seconds(stream.last_read);
    let halves = || c.subflows.iter().map(|f| &f.halves[s]);
    let both = || c.subflows.iter().flat_map(|f| &f.halves);
    let sum = |f: fn(&Half) -> u64| halves().map(f).sum::<u64>();
    let mut o = Map::new();
    o.insert("name".into(), json!(name(c)));
    o.insert("protocol".into(), json!(if c.tcp { "tcp" } else { "mptcp" }));
    o.insert("status".into(), json!(status));
    o.insert("completion_s".into(), if status == "completed" { json!(last) } else { Value::Null });
    o.insert("first_byte_s".into(), json!(seconds(stream.first_read)));
    o.insert("last_byte_s".into(), json!(last));
    o.insert("stalled_since_s".into(), Value::Null);
    o.insert("goodput_mbps".into(), json!(mbps(stream.nxt(), last.unwrap_or(0.0))));
    o.insert("bytes_delivered".into(), json!(stream.nxt()));
    o.insert("content_ok".into(), Value::Null);
    o.insert("ooo_ratio".into(), json!(ratio(stream.out_of_order, stream.distinct)));
    o.insert("ooo_buffer_max_packets".into(), json!(stream.held_packets));
    o.insert("ooo_buffer_max_bytes".into(), json!(stream.held_octets));
    disorder(&mut o, stream.reorder.as_deref().unwrap_or(&Default::default()));
    for unknowable in
        ["limits", "episodes", "detection_delay_ms", "windows_restored", "choice_ratio", "aborted_by", "bytes_altered"]
    {
        o.insert(unknowable.into(), Value::Null);
    }
    o.insert("segments".into(), json!(sum(|h| h.sender.segments)));
    // What only captures have.
    let estimated: &[&str] = if exact { &[] } else { &BY_ARRIVAL };
    o.insert("estimated".into(), json!(estimated));
    o.insert("start_s".into(), json!(c.began.saturating_sub(origin) as f64 / 1e9));
    o.insert("data_from".into(), json!(SIDES[s]));
    o.insert("bytes_back".into(), json!(c.streams[1 - s].nxt()));
    o.insert("fallback".into(), if c.tcp { Value::Null } else { json!(c.fallback.is_some()) });
    o.insert("fallback_reason".into(), json!(c.fallback.map(|f| f.reason())));
    o.insert(
        "complete_beginning".into(),
        json!(c.subflows.first().is_some_and(|f| matches!(f.opening, Opening::Capable | Opening::Plain))),
    );
    o.insert("handshake".into(), if c.tcp { Value::Null } else { handshake(c) });
    o.insert("unlisted_subflows".into(), json!(c.dropped));
    let mut checksums = [0; 3];
    both().for_each(|h| checksums.iter_mut().zip(h.checksums.totals()).for_each(|(sum, n)| *sum += n));
    let [verified, failed, incomplete] = checksums;
    o.insert("dss_checksums".into(), json!({ "verified": verified, "failed": failed, "incomplete": incomplete }));
    // Reinjections show where both copies pass: on the sender's side.
    let sender_seen = c.subflows.iter().any(|f| f.is_at(s)) || !exact;
    let (all, useful) = (sum(|h| h.reinjections), sum(|h| h.useful));
    let known = |n: u64| if sender_seen { json!(n) } else { Value::Null };
    o.insert("reinjections".into(), known(all));
    o.insert("reinjections_useful".into(), known(useful));
    o.insert("reinjections_redundant".into(), known(all.saturating_sub(useful)));
    let signals = &c.signals;
    o.insert(
        "signals".into(),
        json!({
            "add_addr": signals.add_addr, "add_addr_echo": signals.echo, "remove_addr": signals.remove_addr,
            "mp_prio": signals.prio, "mp_fail": signals.fail, "mp_fastclose": signals.fastclose,
            "mp_tcprst": signals.tcprst,
        }),
    );
    o.insert("missing_bytes".into(), json!(stream.missing));
    o.insert("unmapped_bytes".into(), json!(stream.unmapped));
    let end = stream.last_read.unwrap_or(c.last);
    let time = last.unwrap_or(0.0);
    let mut paths = Vec::new();
    let own = c.subflows.iter().map(|f| {
        let pair = (f.ends[CLIENT].0, f.ends[SERVER].0);
        let path = paths.iter().position(|p| *p == pair).unwrap_or_else(|| {
            paths.push(pair);
            paths.len() - 1
        });
        subflow(c, f, s, path, time, end)
    });
    o.insert("subflows".into(), Value::Array(own.collect()));
    o
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
    let mut joins = c.dropped_joins;
    c.subflows.iter().for_each(|f| joins.add(f, c.keys));
    let token = |s: usize| c.keys[s].map(|key| format!("{:08x}", keys::token(key)));
    json!({
        "keys_seen": c.keys.iter().flatten().count(),
        "client_token": token(CLIENT),
        "server_token": token(SERVER),
        "checksum_required": c.checksum,
        "tokens_matched": joins.matched,
        "tokens_unmatched": joins.unmatched,
        "hmacs_verified": joins.verified,
        "hmacs_failed": joins.failed,
        "add_addr_hmacs_verified": c.signals.hmac_right,
        "add_addr_hmacs_failed": c.signals.hmac_wrong,
    })
}

fn subflow(c: &Connection, f: &Subflow, s: usize, path: usize, seconds: f64, end: u64) -> Value {
    let h = &f.halves[s];
    let sender = &h.sender;
    let at_sender = f.is_at(s);
    let two_places = f.near[CLIENT] != f.near[SERVER];
    // Known from both ends; inferred at the sender's; from elsewhere there is nothing to go by.
    let (spurious, by) = match &h.crossing {
        Some(crossing) if two_places => (Some(crossing.spurious()), "both captures"),
        _ if at_sender => (Some(sender.spurious), "D-SACK and timestamps"),
        _ if sender.segments == 0 => (Some(0), "no data"),
        _ => (None, ""),
    };
    let mut inferred = vec!["retransmissions_fast", "retransmissions_timeout"];
    if by == "D-SACK and timestamps" {
        inferred.push("spurious");
    }
    let ms = |ns: u64| ns as f64 / 1e6;
    let gap = f.places.get(f.near[s]).map_or([None; 2], |p| p.gap);
    let rtt_min = match (at_sender, sender.rtt_range, gap) {
        (true, Some((low, _)), _) => Some(ms(low)),
        (_, _, [Some(a), Some(b)]) => Some(ms(a + b)),
        _ => None,
    };
    let delay = h.crossing.as_ref().filter(|x| two_places && x.crossed > 0).map(|x| {
        let quantile = |p: f64| x.delays.quantile(p).map(|s| s * 1e3);
        let (low, high) = x.range.unwrap_or_default();
        json!({
            "min": low as f64 / 1e6, "p50": quantile(0.5), "p95": quantile(0.95), "p99": quantile(0.99),
            "max": high as f64 / 1e6, "segments": x.crossed,
        })
    });
    let [verified, failed, incomplete] = h.checksums.totals();
    let opening = match f.opening {
        Opening::Capable => "mp_capable",
        Opening::Join => "mp_join",
        Opening::Plain => "syn",
        Opening::Unseen => "unseen",
    };
    let mut as_of_a_run = json!({
        "path": path,
        "goodput_mbps": mbps(h.fresh, seconds),
        "utilisation": null,
        "segments": sender.segments,
        "retransmissions_fast": sender.fast,
        "retransmissions_timeout": sender.timeout,
        "spurious": spurious,
        "undone": null,
        "srtt_ms": sender.srtt.mean(end).filter(|_| at_sender).map(|v| v * 1e3),
        "cwnd_mean_segments": null,
        "queue_drops": null,
    });
    let own = json!({
        "client": endpoint(f.ends[CLIENT]),
        "server": endpoint(f.ends[SERVER]),
        "opening": opening,
        "opened_by": SIDES[f.opener],
        "backup": f.backup,
        "start_s": f.began.saturating_sub(c.began) as f64 / 1e9,
        "captured_at": SIDES.iter().enumerate().filter(|(side, _)| f.is_at(*side)).map(|(_, n)| *n).collect::<Vec<_>>(),
        "inferred": inferred,
        "spurious_by": if spurious.is_some() { json!(by) } else { Value::Null },
        "retransmissions": sender.fast + sender.timeout,
        "spurious_dsack": sender.by_dsack,
        "spurious_eifel": sender.by_timestamp,
        "window_probes": sender.probes,
        "bytes_sent": sender.octets,
        "bytes_first": h.fresh,
        "duplicates_arrived": h.duplicates,
        "reinjections": h.reinjections,
        "rtt_min_ms": rtt_min,
        "rtt_max_ms": sender.rtt_range.filter(|_| at_sender).map(|r| ms(r.1)),
        "one_way_delay_ms": delay,
        "mss": f.mss[1 - s],
        "largest_segment_bytes": sender.largest,
        "dss_checksums": { "verified": verified, "failed": failed, "incomplete": incomplete },
        "damaged": h.damaged,
        "refused": h.refused,
        "missing_bytes": h.order.missing,
        "unseen_bytes": sender.missed,
        "packets": f.packets,
        "cut_options": f.cut,
        "malformed_options": f.malformed,
        "reset_by": f.reset.map(|side| SIDES[side]),
    });
    if let (Value::Object(o), Value::Object(own)) = (&mut as_of_a_run, own) {
        o.extend(own);
    }
    as_of_a_run
}

/// Of several connections: counts add, ratios of sums, maxima are maxima, as a run's summary does it.
fn sum_up(top: &mut Map<String, Value>, connections: &[Value]) {
    let number = |c: &Value, key: &str| c[key].as_f64();
    let largest = |key: &str| connections.iter().filter_map(|c| c[key].as_u64()).max();
    let total = |key: &str| connections.iter().filter_map(|c| c[key].as_u64()).sum::<u64>();
    let began = |c: &Value| c["start_s"].as_f64().unwrap_or(0.0);
    let first = connections.iter().map(began).fold(f64::INFINITY, f64::min);
    let time = |key: &str, best: fn(f64, f64) -> f64| {
        connections.iter().filter_map(|c| Some(began(c) + number(c, key)? - first)).reduce(best)
    };
    let all = connections.iter().all(|c| c["status"] == "completed");
    let last = time("last_byte_s", f64::max);
    top.insert("status".into(), json!(if all { "completed" } else { "open" }));
    top.insert("completion_s".into(), if all { json!(last) } else { Value::Null });
    top.insert("first_byte_s".into(), json!(time("first_byte_s", f64::min)));
    top.insert("last_byte_s".into(), json!(last));
    top.insert("stalled_since_s".into(), Value::Null);
    top.insert("goodput_mbps".into(), json!(mbps(total("bytes_delivered"), last.unwrap_or(0.0))));
    top.insert("bytes_delivered".into(), json!(total("bytes_delivered")));
    top.insert("content_ok".into(), Value::Null);
    for key in ["ooo_buffer_max_packets", "ooo_buffer_max_bytes"] {
        top.insert(key.into(), json!(largest(key)));
    }
    top.insert("segments".into(), json!(total("segments")));
    for unknowable in
        ["episodes", "detection_delay_ms", "windows_restored", "choice_ratio", "aborted_by", "bytes_altered"]
    {
        top.insert(unknowable.into(), Value::Null);
    }
    let mut subflows = Vec::new();
    for (i, c) in connections.iter().enumerate() {
        for s in c["subflows"].as_array().into_iter().flatten() {
            let mut s = s.clone();
            s["connection"] = json!(i);
            subflows.push(s);
        }
    }
    top.insert("subflows".into(), Value::Array(subflows));
}
