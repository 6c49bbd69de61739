//! Captures as qlog: one event for each segment of a connection, for those who have viewers of it.
//!
//! The form is the sequential one of draft-ietf-quic-qlog-main-schema: records of RFC 7464, the first of which describes the
//! trace. No schema of events for TCP exists, so these have a namespace of their own, which docs/captures.md defines:
//! `mptcp:subflow_started` and `mptcp:segment`. A connection is a group (`group_id`). Written in one pass beside the analysis,
//! which knows subflows and data offsets.

use std::collections::HashSet;
use std::io::{self, Write};

use anabranch_pcap::packet::Packet;
use anabranch_stack::segment::Flags;
use serde_json::{Map, Value, json};

use super::connection::Connection;
use super::deal::Analysis;
use super::report::SIDES;
use super::sequence::Sort;
use super::{Error, open_files};

/// RFC 7464 2.2: begins a record.
const SEPARATOR: u8 = 0x1e;
/// The schema of the events.
const SCHEMA: &str = "urn:anabranch:qlog:events:mptcp";

/// Writes what `files` hold to `out`; returns the number of segments.
///
/// # Errors
/// As [`super::analyze`], and if `out` cannot be written (then the inner result).
pub fn qlog(files: &[String], out: &mut dyn Write) -> Result<io::Result<u64>, Error> {
    let mut readers = open_files(files, None)?;
    let mut open = Vec::new();
    for (i, reader) in readers.iter_mut().enumerate() {
        if reader.advance()? {
            open.push(i);
        }
    }
    let mut log = Log { out, known: HashSet::new(), segments: 0 };
    let mut analysis = Analysis::new(None, false);
    let began = log.begin(files);
    if let Err(error) = began {
        return Ok(Err(error));
    }
    while let Some(&i) = open.iter().min_by_key(|i| readers[**i].head().time) {
        let reader = &mut readers[i];
        let (mut written, time) = (Ok(()), reader.head().time);
        analysis.on_record(i as u32, reader, |analysis, p| {
            if written.is_ok() {
                written = log.packet(analysis, time, p);
            }
        });
        if let Err(error) = written {
            return Ok(Err(error));
        }
        if !reader.advance()? {
            open.retain(|o| *o != i);
        }
    }
    Ok(log.out.flush().map(|()| log.segments))
}

struct Log<'a> {
    out: &'a mut dyn Write,
    /// Connections and subflows that were introduced.
    known: HashSet<(u64, usize)>,
    segments: u64,
}

impl Log<'_> {
    fn begin(&mut self, files: &[String]) -> io::Result<()> {
        self.put(&json!({
            "file_schema": "urn:ietf:params:qlog:file:sequential",
            "serialization_format": "application/qlog+json-seq",
            "title": files.join(", "),
            "trace": {
                "common_fields": {
                    "time_format": "relative_to_epoch",
                    "reference_time": { "clock_type": "system", "epoch": "1970-01-01T00:00:00.000Z" },
                },
                // The schema asks of a network's vantage point whose flow it follows; each segment has its own sender.
                "vantage_point": { "type": "network", "flow": "client" },
                "event_schemas": [SCHEMA],
            },
        }))
    }

    fn put(&mut self, record: &Value) -> io::Result<()> {
        self.out.write_all(&[SEPARATOR])?;
        serde_json::to_writer(&mut *self.out, record)?;
        self.out.write_all(b"\n")
    }

    /// The segment `p` of a record at `time`, which `analysis` has worked in last.
    fn packet(&mut self, analysis: &Analysis, time: u64, p: &Packet<'_>) -> io::Result<()> {
        let Some((connection, i)) = analysis.flow_of(p) else { return Ok(()) };
        if self.known.insert((connection.number, i)) {
            self.subflow(connection, i, time)?;
        }
        self.segments += 1;
        self.segment(connection, i, time, p)
    }

    fn subflow(&mut self, c: &Connection, i: usize, time: u64) -> io::Result<()> {
        let ends = c.subflows[i].ends.map(|(address, port)| json!({ "ip": address.to_string(), "port": port }));
        let data = json!({ "subflow": i, "client": ends[0], "server": ends[1], "tcp": c.tcp });
        self.event(c, time, "mptcp:subflow_started", data)
    }

    fn segment(&mut self, c: &Connection, i: usize, time: u64, p: &Packet<'_>) -> io::Result<()> {
        let sub = &c.subflows[i];
        let flags =
            [(Flags::SYN, "SYN"), (Flags::ACK, "ACK"), (Flags::FIN, "FIN"), (Flags::RST, "RST"), (Flags::PSH, "PSH")];
        let flags: Vec<&str> = flags.iter().filter(|(flag, _)| p.flags.has(*flag)).map(|(_, name)| *name).collect();
        let mut data = Map::new();
        data.insert("subflow".into(), json!(i));
        data.insert("sender".into(), json!(SIDES[sub.side(p)]));
        data.insert("file".into(), json!(p.tap.file));
        data.insert("flags".into(), json!(flags));
        data.insert("seq".into(), json!(p.seq));
        if p.flags.has(Flags::ACK) {
            data.insert("ack".into(), json!(p.ack));
        }
        data.insert("window".into(), json!(p.window));
        data.insert("length".into(), json!(p.len));
        if let Some((offset, sort)) = c.noted {
            data.insert("data_offset".into(), json!(offset));
            data.insert("kind".into(), json!(Sort::NAMES[sort as usize]));
        }
        self.event(c, time, "mptcp:segment", Value::Object(data))
    }

    fn event(&mut self, c: &Connection, time: u64, name: &str, data: Value) -> io::Result<()> {
        // Milliseconds since 1970; a double holds those to about a quarter of a microsecond.
        let time = (time / 1000) as f64 / 1e3;
        self.put(&json!({ "time": time, "name": name, "group_id": c.number.to_string(), "data": data }))
    }
}
