//! What a capture shows, in the fields of a run's summary (`docs/columns.md`, `docs/captures.md`): null where no capture can
//! know.
//!
//! A connection is reduced to its summary when it closes, so that memory is needed for the open ones only; [`super::shelf`]
//! decides which summaries are kept.

use anabranch_measures::figures::{jain, mbps};
use anabranch_measures::measures::{self as m, Scope};
use anabranch_measures::series::Sample;
use anabranch_pcap::container::Reader;
use anabranch_pcap::encapsulation::{Named, Told};
use anabranch_pcap::packet::Endpoint;
use serde_json::{Map, Value, json};

use super::Counts;
use super::connection::Connection;
use super::sequence::{Span, Window};
use super::shelf::{Entry, LISTED, Shelf, TCP_LISTED};
use super::subflow::{CLIENT, SERVER};
use super::version0::Version;

mod connection;
mod subflow;

pub const SIDES: [&str; 2] = ["client", "server"];

/// A capture, analysed.
#[derive(Clone, Debug)]
pub struct Capture {
    /// The summary object.
    pub summary: Value,
    /// Series over time, in order of time; the connection is the position in the summary's list.
    pub samples: Vec<Sample>,
    /// For each sample: octets in flight and the round-trip time are known, since the capture saw the sender's side and the
    /// acknowledgements.
    pub knows_flight: Vec<bool>,
    /// Data sequence numbers over time: connection, what was sent. Times are nanoseconds since the first packet.
    pub spans: Vec<(u32, Span)>,
    /// Acknowledgements and windows over time: connection, what was acknowledged.
    pub windows: Vec<(u32, Window)>,
    /// The caller stopped the analysis before its end.
    pub stopped: bool,
}

/// Closed connections.
#[derive(Clone, Debug)]
pub struct Report {
    mptcp: Shelf,
    tcp: Shelf,
    /// Connections seen, of MPTCP and of TCP; those without data.
    seen: [u64; 2],
    empty: u64,
    /// Of those of MPTCP, connections of version 0.
    version_0: u64,
}

impl Default for Report {
    fn default() -> Self {
        Self { mptcp: Shelf::new(LISTED), tcp: Shelf::new(TCP_LISTED), seen: [0; 2], empty: 0, version_0: 0 }
    }
}

impl Report {
    /// A connection is over.
    pub fn add(&mut self, mut c: Connection, origin: u64) {
        let s = main(&c);
        let sent = c.streams[s].sent;
        self.seen[usize::from(c.tcp)] += 1;
        self.empty += u64::from(c.is_empty());
        self.version_0 += u64::from(c.version == Some(Version::Zero));
        let shelf = if c.tcp { &mut self.tcp } else { &mut self.mptcp };
        shelf.add(sent, c.is_idle(), c.number, || Entry {
            number: c.number,
            sent,
            idle: c.is_idle(),
            samples: c.streams[s].series.take().map_or(Vec::new(), |series| series.samples().to_vec()),
            knows_flight: c.subflows.iter().map(|f| f.is_at(s) && f.acknowledges(1 - s)).collect(),
            sequence: c.streams[s].sequence.take(),
            summary: connection::summary(&c, s, origin),
        });
    }

    /// Connections that are not listed, and their octets.
    fn unlisted(&mut self) -> (u64, u64) {
        let (a, b) = (self.mptcp.thin(), self.tcp.thin());
        (a.0 + b.0, a.1 + b.1)
    }

    /// The summary of the whole capture.
    pub fn finish(mut self, (counts, told): (&Counts, &Told), readers: &[Reader], stopped: bool) -> Capture {
        if self.mptcp.has_any() || self.tcp.has_any() {
            self.mptcp.drop_idle();
            self.tcp.drop_idle();
        }
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
        m::TITLE.put(&mut top, names.join(", "));
        m::VERSION.put(&mut top, env!("CARGO_PKG_VERSION"));
        m::put_unknowable(&mut top, Scope::Run);
        top.insert("capture".into(), about((counts, told), readers, (self.seen, self.version_0, self.empty), unlisted));
        if many {
            m::JAIN.put(&mut top, jain(&connections));
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

/// The side that sent more: a summary is of its data.
fn main(c: &Connection) -> usize {
    if c.streams[SERVER].sent > c.streams[CLIENT].sent { SERVER } else { CLIENT }
}

fn about(
    (counts, told): (&Counts, &Told),
    readers: &[Reader],
    (seen, version_0, empty): ([u64; 2], u64, u64),
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
        "opened": named(&told.opened),
        "not_opened": named(&told.closed),
        "cut_before_tcp": told.cut,
        "repeated_packets": told.repeated,
        "fragments": told.fragments,
        "incomplete_fragments": told.incomplete,
        "reassembled_packets": told.reassembled,
        "unknown_link": counts.unknown_link,
        "version_0": version_0,
        "split_connections": counts.split,
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

/// Packets by name.
fn named(counts: &Named) -> Value {
    counts.iter().map(|(name, packets)| ((*name).to_string(), json!(packets))).collect::<Map<_, _>>().into()
}

/// How often the clocks of the captures stepped back.
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

/// Totals over several connections, by the rules of a run's summary: counts are added, ratios are those of the sums, maxima are
/// maxima.
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
    let last = time(m::LAST_BYTE_S.key, f64::max);
    m::STATUS.put(top, if all { "completed" } else { "open" });
    m::COMPLETION_S.put(top, if all { json!(last) } else { Value::Null });
    m::FIRST_BYTE_S.put(top, time(m::FIRST_BYTE_S.key, f64::min));
    m::LAST_BYTE_S.put(top, last);
    m::GOODPUT_MBPS.put(top, mbps(total(m::BYTES_DELIVERED.key), last.unwrap_or(0.0)));
    m::BYTES_DELIVERED.put(top, total(m::BYTES_DELIVERED.key));
    for measure in [m::OOO_BUFFER_MAX_PACKETS, m::OOO_BUFFER_MAX_BYTES] {
        measure.put(top, largest(measure.key));
    }
    let gap = connections.iter().filter_map(|c| number(c, m::LONGEST_GAP_S.key)).reduce(f64::max);
    m::LONGEST_GAP_S.put(top, gap);
    m::SEGMENTS.put(top, total(m::SEGMENTS.key));
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
