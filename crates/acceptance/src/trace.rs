//! The text of a trace, read back: what an outsider sees of a run.

use std::collections::HashMap;

use anabranch_sim::scenario::{Protocol, Scenario};

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A host sent a segment.
    Send,
    /// A segment arrived at a host.
    Arrive,
    /// The network dropped a segment.
    Drop,
    /// A host gave data to its application.
    Deliver,
    /// A congestion window changed.
    Window,
}

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Nanoseconds.
    pub at: u64,
    /// What happened.
    pub event: Event,
    /// The connection, from 0.
    pub connection: u32,
    /// Where it happened; of a drop, who had sent the segment.
    pub client: bool,
    /// The pair of addresses and ports.
    pub tuple: u32,
    /// The flags of the TCP header: a letter for each, such as `S` for SYN, and `.` for ACK.
    pub flags: String,
    /// The sequence number.
    pub seq: u32,
    /// The acknowledgement number.
    pub ack: Option<u32>,
    /// Octets of payload.
    pub len: u64,
    /// Offset of the payload in the data stream.
    pub offset: u64,
    /// Why it was sent; "-" without payload.
    pub kind: String,
    /// Options, the reason of a drop, windows.
    pub more: String,
}

impl Row {
    /// Whether the row is of `event`.
    pub fn is(&self, event: Event) -> bool {
        self.event == event
    }

    /// Whether the row is of a segment with payload.
    pub fn has_data(&self) -> bool {
        self.len > 0 && matches!(self.event, Event::Send | Event::Arrive | Event::Drop)
    }

    /// The word after `name` among what more there is.
    pub fn word(&self, name: &str) -> Option<&str> {
        let mut words = self.more.split(' ');
        words.find(|w| *w == name)?;
        words.next()
    }

    /// Why it was dropped.
    pub fn why(&self) -> &str {
        self.word("dropped:").expect("only drops have a reason")
    }

    /// IPv4 packet length, from the options as RFC 9293, 7323, 2018 and 8684 (figures 4 to 12) lay them out.
    pub fn wire_len(&self, scenario: &Scenario) -> u64 {
        if scenario.connections[self.connection as usize].protocol == Protocol::Udp {
            return 20 + 8 + self.len;
        }
        let mut len = 40 + self.len;
        if self.flags.contains('S') {
            len += 4 + 4; // maximum segment size; window scale and a NOP
        }
        if self.more.contains("ts ") {
            len += 12; // two NOPs, or on a SYN SACK-permitted, and 10 octets
        }
        let blocks = self.more.matches("sack ").count() as u64;
        len += if blocks > 0 { 4 + 8 * blocks } else { 0 };
        let has = |word: &str| self.more.contains(word);
        let dss = [("data_ack Four", 4), ("data_ack Eight", 8), ("map ", 14)]
            .iter()
            .filter(|(w, _)| has(w))
            .map(|(_, n)| n)
            .sum::<u64>();
        let mptcp: u64 = match () {
            () if has("CapableSyn ") => 4,
            () if has("CapableSynAck ") => 12,
            () if has("CapableAck ") && has("data: Some") => 22,
            () if has("CapableAck ") => 20,
            () if has("JoinSyn ") => 12,
            () if has("JoinSynAck ") => 16,
            () if has("JoinAck ") => 24,
            () if dss > 0 => 4 + dss,
            () => 0,
        };
        let signal = if has("AddAddr ") { 16 } else { 8 * u64::from(has("AddAddrEcho(")) };
        len + mptcp.next_multiple_of(4) + signal
    }
}

/// All rows of a trace after its heading.
pub fn rows(text: &str) -> Vec<Row> {
    let mut lines = text.lines();
    assert!(lines.next().is_some_and(|heading| heading.trim_start().starts_with("time_s")));
    lines.map(row).collect()
}

fn row(line: &str) -> Row {
    let mut words = line.split_ascii_whitespace();
    let mut next = || words.next().unwrap_or_else(|| panic!("a short row: {line:?}"));
    let (seconds, nanos) = next().split_once('.').expect("seconds.nanoseconds");
    let number = |w: &str| w.parse().unwrap_or(0);
    let at = number(seconds) * 1_000_000_000 + number(nanos);
    let event = match next() {
        "send" => Event::Send,
        "arrive" => Event::Arrive,
        "drop" => Event::Drop,
        "deliver" => Event::Deliver,
        "window" => Event::Window,
        other => panic!("{other} is no event"),
    };
    let connection = number(next()) as u32;
    let client = next() == "client";
    let tuple = number(next()) as u32;
    // A datagram has no flags, and its field is blank.
    let mut flags = next();
    let seq = if flags.bytes().all(|b| b.is_ascii_digit()) { std::mem::take(&mut flags) } else { next() };
    let seq = number(seq) as u32;
    let ack = next().parse().ok();
    let (len, offset) = (number(next()), number(next()));
    let kind = next();
    let rest = kind.as_ptr() as usize - line.as_ptr() as usize + kind.len();
    let (kind, more) = (kind.to_string(), line[rest..].trim().to_string());
    Row { at, event, connection, client, tuple, flags: flags.into(), seq, ack, len, offset, kind, more }
}

/// A copy of a segment on the wire, as sent, and what became of it.
#[derive(Clone, Debug)]
pub struct Copy {
    /// The row of its sending.
    pub sent: Row,
    /// When it arrived at the other host; twice if the wire duplicated it.
    pub arrived: Vec<u64>,
    /// When and why it was dropped.
    pub dropped: Vec<(u64, String)>,
    /// Of its arrivals, those that the host refused without looking at the payload.
    pub refused: Vec<u64>,
}

impl Copy {
    /// Whether the network or the receiver lost it; `all` are the copies of the same segment. One that is refused after
    /// another was taken got through all the same.
    pub fn is_lost(&self, all: &[&Copy]) -> bool {
        let taken = |c: &Copy, before: u64| c.arrived.iter().any(|t| *t < before && !c.refused.contains(t));
        match self.refused.first() {
            _ if taken(self, u64::MAX) => false,
            _ if !self.dropped.is_empty() => true,
            Some(at) => !all.iter().any(|c| taken(c, *at)),
            None => false,
        }
    }
}

/// What a host knows of its peer on one 4-tuple, for what it must refuse.
#[derive(Default)]
struct Gate {
    /// RFC 7323 4.3: TS.Recent and Last.ACK.sent.
    ts_recent: Option<u32>,
    last_ack: Option<u32>,
    /// The client's key has arrived (RFC 8684 3.1), or none is to come.
    key: bool,
}

impl Gate {
    fn refuses(&mut self, row: &Row) -> bool {
        let stamp = row.word("ts").and_then(|w| w.split_once('/')).and_then(|(val, _)| val.parse::<u32>().ok());
        // RFC 7323 5.3 R1.
        if let (Some(stamp), Some(recent)) = (stamp, self.ts_recent) {
            if (stamp.wrapping_sub(recent) as i32) < 0 {
                return true;
            }
        }
        // R2: what lies below the window changes nothing. R3, or the first of all.
        let end = row.seq.wrapping_add(row.len as u32);
        let below = |last: u32| row.len > 0 && (end.wrapping_sub(last) as i32) <= 0;
        if self.last_ack.is_none_or(|last| (row.seq.wrapping_sub(last) as i32) <= 0 && !below(last)) {
            self.ts_recent = stamp;
        }
        self.key |= !row.more.contains("CapableSyn ") && row.flags.contains('S') || row.more.contains("CapableAck ");
        !self.key && row.len > 0
    }
}

/// Every segment that was sent, in order of sending, with its arrivals and drops. Copies of one segment are told apart
/// by their options (timestamps among them), or where these agree, in order.
pub fn copies(rows: &[Row]) -> Vec<Copy> {
    let mut all: Vec<Copy> = Vec::new();
    let mut open: HashMap<String, Vec<usize>> = HashMap::new();
    let mut gates: HashMap<(u32, bool, u32), Gate> = HashMap::new();
    for row in rows {
        let gate = gates.entry((row.connection, row.client, row.tuple)).or_default();
        let from_client = row.client != row.is(Event::Arrive);
        let options = row.more.split("dropped:").next().unwrap_or("").trim_end();
        let key = || {
            let Row { connection, tuple, seq, ack, len, offset, .. } = row;
            format!(
                "{connection} {from_client} {tuple} {} {seq} {ack:?} {len} {offset} {} {options}",
                row.flags, row.kind
            )
        };
        match row.event {
            Event::Send => {
                gate.last_ack = row.ack.or(gate.last_ack);
                open.entry(key()).or_default().push(all.len());
                all.push(Copy { sent: row.clone(), arrived: Vec::new(), dropped: Vec::new(), refused: Vec::new() });
            }
            Event::Arrive | Event::Drop => {
                let candidates = open.get(&key()).unwrap_or_else(|| panic!("never sent: {row:?}"));
                let settled = |c: &Copy| c.arrived.len() + c.dropped.len();
                let &i = candidates.iter().min_by_key(|&&i| settled(&all[i])).expect("a key has a copy");
                match row.event {
                    Event::Arrive => {
                        all[i].arrived.push(row.at);
                        if gate.refuses(row) {
                            all[i].refused.push(row.at);
                        }
                    }
                    _ => all[i].dropped.push((row.at, row.why().to_string())),
                }
            }
            _ => {}
        }
    }
    all
}
