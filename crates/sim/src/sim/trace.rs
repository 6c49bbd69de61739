//! The trace: every protocol event of a run, hashed always, written out on request.
//!
//! Five kinds of records: a segment is sent, arrives, or is dropped; data are delivered to an application; a congestion
//! window changes. The running hash takes each record as four 64-bit words (time; kind, place and flags; sequence and
//! acknowledgement number; data offset and length) and multiplies them into two lanes; `trace_sha256` is the SHA-256 of
//! the two lanes and the number of records, each big-endian. Equal traces give equal hashes on every machine.
//!
//! Keys and initial sequence numbers are random, so two seeds give different traces even if every event happens at the
//! same time. The lane of the kinds, places, flags and data offsets holds no such number. Together with a lane of the
//! times (and windows) it makes the *events hash*, which is equal for two seeds exactly if chance changed nothing.

use std::io::{self, Write};

use anabranch_stack::segment::{Flags, Mptcp};
use sha2::{Digest, Sha256};

use super::link::Drop;
use super::packet::Packet;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A host sent a segment.
    Send = 1,
    /// A segment arrived at a host.
    Arrive = 2,
    /// A segment was dropped.
    Drop = 3,
    /// Data were delivered to an application.
    Deliver = 4,
    /// A congestion window changed.
    Window = 5,
}

/// Where the rows of a trace go.
pub type Sink = Box<dyn Write + Send>;

/// Who is told of every record, beside the hash.
pub trait Watch {
    /// A segment was sent by, arrived at, or was dropped on the way from or to a host.
    fn segment(&mut self, now: u64, kind: Kind, packet: &Packet, dropped: Option<Drop>);
    /// `octets` from `offset` on were read by the application of `connection`; `up`: the server's.
    fn deliver(&mut self, now: u64, connection: u32, up: bool, offset: u64, octets: u64);
    /// The congestion window of a subflow changed; octets.
    fn window(&mut self, now: u64, connection: u32, tuple: u32, cwnd: f64, ssthresh: f64);
}

/// The running trace.
pub struct Trace {
    lanes: [u64; 2],
    /// Times of the records, windows and offsets of deliveries: the first lane without sequence numbers.
    times: u64,
    records: u64,
    /// Somebody wants more than the hash.
    shown: bool,
    sink: Option<Sink>,
    error: Option<io::Error>,
    watch: Option<Box<dyn Watch>>,
}

/// Odd constants with well-spread bits: the fractional parts of the golden ratio and of the square root of 3.
const MULTIPLIERS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xbb67_ae85_84ca_a73b];

/// The hashes of a finished trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hashes {
    /// SHA-256 of everything, 64 hexadecimal digits.
    pub trace: String,
    /// Of everything but random keys and sequence numbers: the first 16 hexadecimal digits of its SHA-256.
    pub events: String,
}

impl std::fmt::Debug for Trace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Trace({} records)", self.records)
    }
}

impl Trace {
    /// An empty trace; rows go to `sink`, if there is one.
    pub fn new(mut sink: Option<Sink>) -> Self {
        let mut error = None;
        if let Some(sink) = &mut sink {
            error = writeln!(
                sink,
                "{:>15} {:<7} {:<4} {:<6} {:>3} {:<6} {:>10} {:>10} {:>6} {:>12} {:<6} more",
                "time_s", "event", "conn", "host", "sub", "flags", "seq", "ack", "len", "data", "kind"
            )
            .err();
        }
        Self { lanes: MULTIPLIERS, times: MULTIPLIERS[0], records: 0, shown: sink.is_some(), sink, error, watch: None }
    }

    /// From now on `watch` is told of every record.
    pub fn watch(&mut self, watch: Box<dyn Watch>) {
        self.watch = Some(watch);
        self.shown = true;
    }

    #[inline(always)]
    fn record(&mut self, words: [u64; 4], moment: u64) {
        self.times = (self.times ^ moment).wrapping_mul(MULTIPLIERS[0]).rotate_left(29);
        for (i, word) in words.into_iter().enumerate() {
            let lane = &mut self.lanes[i % 2];
            *lane = (*lane ^ word).wrapping_mul(MULTIPLIERS[i % 2]).rotate_left(29);
        }
        self.records += 1;
    }

    /// A segment was sent by, arrived at, or was dropped on the way from or to a host.
    #[inline]
    pub fn segment(&mut self, now: u64, kind: Kind, p: &Packet, dropped: Option<Drop>) {
        let s = &p.segment;
        let place = u64::from(p.connection) << 32 | u64::from(p.tuple) << 16 | u64::from(p.up) << 15;
        let why = dropped.map_or(0, |d| d as u64 + 1);
        let what = (kind as u64) << 60 | why << 56 | u64::from(s.flags.0) | (s.ecn as u64) << 8;
        let numbers = u64::from(s.seq) << 32 | u64::from(s.ack);
        self.record([now, what ^ place, numbers, s.payload.offset << 16 | u64::from(s.payload.len)], now);
        if self.shown {
            self.show_segment(now, kind, p, dropped);
        }
    }

    #[cold]
    fn show_segment(&mut self, now: u64, kind: Kind, p: &Packet, dropped: Option<Drop>) {
        if let Some(watch) = &mut self.watch {
            watch.segment(now, kind, p, dropped);
        }
        if self.sink.is_some() {
            self.write_segment(now, kind, p, dropped);
        }
    }

    fn write_segment(&mut self, now: u64, kind: Kind, p: &Packet, dropped: Option<Drop>) {
        let s = &p.segment;
        let event = match kind {
            Kind::Send => "send",
            Kind::Arrive => "arrive",
            _ => "drop",
        };
        let host = if p.up == (kind != Kind::Arrive) { "client" } else { "server" };
        let mut more = String::new();
        if let Some(ts) = s.options.timestamps {
            more += &format!("ts {}/{} ", ts.val, ts.ecr);
        }
        for (from, to) in s.options.sack.as_slice() {
            more += &format!("sack {from}-{to} ");
        }
        match &s.options.mptcp {
            Mptcp::None => {}
            Mptcp::Dss(dss) => {
                if let Some(ack) = dss.data_ack {
                    more += &format!("data_ack {ack:?} ");
                }
                if let Some(m) = dss.mapping {
                    more += &format!("map {}+{} ", m.dsn, m.len);
                }
                if dss.data_fin {
                    more += "data_fin ";
                }
            }
            other => more += &format!("{other:?} "),
        }
        if !s.options.signal.is_empty() {
            more += &format!("{:?} ", s.options.signal);
        }
        if let Some(reset) = s.options.tcp_rst {
            more += &format!("{reset:?} ");
        }
        if let Some(why) = dropped {
            more += &format!("dropped: {why:?}");
        }
        let what = if s.payload.len > 0 { format!("{:?}", p.kind) } else { "-".into() };
        let has_ack = s.flags.has(Flags::ACK);
        let ack = if has_ack { s.ack.to_string() } else { "-".into() };
        self.write(format_args!(
            "{:>5}.{:09} {:<7} {:<4} {:<6} {:>3} {:<6} {:>10} {:>10} {:>6} {:>12} {:<6} {}",
            now / 1_000_000_000,
            now % 1_000_000_000,
            event,
            p.connection,
            host,
            p.tuple,
            s.flags.to_string(),
            s.seq,
            ack,
            s.payload.len,
            s.payload.offset,
            what,
            more.trim_end()
        ));
    }

    fn write(&mut self, row: std::fmt::Arguments<'_>) {
        if let (Some(sink), None) = (&mut self.sink, &self.error) {
            self.error = writeln!(sink, "{row}").err();
        }
    }

    /// `octets` from `offset` on were read by the application of `connection`; `up`: the server's.
    #[inline(always)]
    pub fn deliver(&mut self, now: u64, connection: u32, up: bool, offset: u64, octets: u64) {
        let what = (Kind::Deliver as u64) << 60 | u64::from(connection) << 32 | u64::from(up) << 15;
        self.record([now, what, offset, octets], now ^ offset);
        if self.shown {
            self.show_delivery(now, connection, up, (offset, octets));
        }
    }

    #[cold]
    fn show_delivery(&mut self, now: u64, connection: u32, up: bool, (offset, octets): (u64, u64)) {
        if let Some(watch) = &mut self.watch {
            watch.deliver(now, connection, up, offset, octets);
        }
        if self.sink.is_some() {
            let host = if up { "server" } else { "client" };
            self.write(format_args!(
                "{:>5}.{:09} {:<7} {:<4} {:<6} {:>3} {:<6} {:>10} {:>10} {:>6} {:>12} {:<6} ",
                now / 1_000_000_000,
                now % 1_000_000_000,
                "deliver",
                connection,
                host,
                "-",
                "-",
                "-",
                "-",
                octets,
                offset,
                "-"
            ));
        }
    }

    /// The congestion window of a subflow changed; octets.
    #[inline(always)]
    pub fn window(&mut self, now: u64, connection: u32, tuple: u32, client: bool, cwnd: f64, ssthresh: f64) {
        let place = u64::from(connection) << 32 | u64::from(tuple) << 16 | u64::from(client) << 15;
        let cwnd_bits = cwnd.to_bits();
        self.record([now, (Kind::Window as u64) << 60 | place, cwnd_bits, ssthresh.to_bits()], now ^ cwnd_bits);
        if self.shown {
            self.show_window(now, connection, tuple, client, (cwnd, ssthresh));
        }
    }

    #[cold]
    fn show_window(&mut self, now: u64, connection: u32, tuple: u32, client: bool, (cwnd, ssthresh): (f64, f64)) {
        if let Some(watch) = &mut self.watch {
            watch.window(now, connection, tuple, cwnd, ssthresh);
        }
        if self.sink.is_some() {
            let host = if client { "client" } else { "server" };
            self.write(format_args!(
                "{:>5}.{:09} {:<7} {:<4} {:<6} {:>3} {:<6} {:>10} {:>10} {:>6} {:>12} {:<6} cwnd {cwnd:.0} ssthresh {ssthresh:.0}",
                now / 1_000_000_000,
                now % 1_000_000_000,
                "window",
                connection,
                host,
                tuple,
                "-",
                "-",
                "-",
                "-",
                "-",
                "-"
            ));
        }
    }

    /// Returns true if a row could not be written.
    pub fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    /// The hashes, and the first error of writing rows.
    pub fn finish(mut self) -> (Hashes, Option<io::Error>) {
        if let (Some(sink), None) = (&mut self.sink, &self.error) {
            self.error = sink.flush().err();
        }
        let trace = hex([self.lanes[0], self.lanes[1], self.records]);
        let mut events = hex([self.times, self.lanes[1], self.records]);
        events.truncate(16);
        (Hashes { trace, events }, self.error)
    }
}

fn hex(words: [u64; 3]) -> String {
    let mut sha = Sha256::new();
    for word in words {
        sha.update(word.to_be_bytes());
    }
    sha.finalize().iter().map(|b| format!("{b:02x}")).collect()
}
