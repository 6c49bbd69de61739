//! The summary, recomputed from the trace by other means than the accounts of the run: copies of segments are matched
//! with what became of them, a receiver of two levels is played again over the arrivals, windows are averaged over
//! their rows, and utilisation comes from the reference model of the link.

use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

use anabranch_sim::Run;
use anabranch_sim::scenario::{Direction, Queue, Scenario};
use serde_json::Value;

use crate::model::Fifo;
use crate::support::{close, count, number, scenario, summary, traced};
use crate::trace::{Copy, Event, Row, copies};

/// A run, its trace and its summary by connection.
struct Case {
    name: &'static str,
    scenario: Scenario,
    run: Run,
    rows: Vec<Row>,
}

/// Scenarios that together show every kind of transmission and arrival.
const SCENARIOS: [(&str, &str); 8] = [
    (
        "unlike paths",
        "transfer = { bytes = '5 MB' }
         path = [{ rate = '5 Mbit/s', delay = '100 ms' }, { rate = '2 Mbit/s', delay = '10 ms' }]",
    ),
    (
        "random loss, downwards",
        "connection = { controller = 'uncoupled', scheduler = 'round-robin' }
         transfer = { bytes = '3 MB', direction = 'down' }
         path = [{ loss = '2 %' }, { loss = '1 %', delay = '50 ms' }]",
    ),
    (
        "overtaking",
        "transfer = { bytes = '4 MB' }
         [[path]]
         delay = '40 ms'
         delay_variation = '50 %'
         overtaking = true
         [[path]]
         delay = '25 ms'",
    ),
    (
        "failure",
        "transfer = { bytes = '9 MB' }
         [[path]]
         rate = '4 Mbit/s'
         delay = '20 ms'
         changes = [{ at = '3 s', state = 'down' }, { at = '8 s', state = 'up' }]
         [[path]]
         rate = '4 Mbit/s'
         delay = '40 ms'",
    ),
    (
        "NewReno",
        "connection = { protocol = 'tcp', sack = false }
         transfer = { bytes = '3 MB' }
         path = [{ loss = '1 %', queue = '30 packets' }]",
    ),
    (
        "small buffer",
        "connection = { receive_buffer = '64 kB' }
         transfer = { bytes = '3 MB' }
         path = [{ rate = '5 Mbit/s', delay = '100 ms' }, { rate = '2 Mbit/s', delay = '10 ms' }]",
    ),
    (
        "bursts of loss",
        "connection = { delayed_ack = 'off' }
         transfer = { bytes = '3 MB' }
         [[path]]
         loss = { good_to_bad = '0.5 %', bad_to_good = '20 %', loss_bad = '60 %' }
         rate = '20 Mbit/s'
         [[path]]
         delay = '30 ms'",
    ),
    (
        "several connections",
        "path = [{ rate = '10 Mbit/s' }, { rate = '8 Mbit/s', delay = '30 ms' }]
         [[connection]]
         transfer = { bytes = '6 MB' }
         [[connection]]
         protocol = 'udp'
         transfer = { bytes = '2 MB', rate = '3 Mbit/s', start = '1 s' }
         [[connection]]
         protocol = 'tcp'
         paths = ['path1']
         transfer = { bytes = '2 MB', direction = 'down', start = '0.5 s' }",
    ),
];

/// Every scenario, run once for all tests.
fn cases() -> &'static [Case] {
    static CASES: OnceLock<Vec<Case>> = OnceLock::new();
    CASES.get_or_init(|| {
        let case = |(name, text)| {
            let scenario = scenario(text);
            let (run, rows) = traced(&scenario);
            assert_eq!(
                (&run.summary["status"], &run.summary["content_ok"]),
                (&"completed".into(), &true.into()),
                "{name}"
            );
            Case { name, scenario, run, rows }
        };
        SCENARIOS.into_iter().map(case).collect()
    })
}

impl Case {
    /// The summaries of the connections.
    fn connections(&self) -> Vec<&Value> {
        match self.run.summary["connections"].as_array() {
            Some(several) => several.iter().collect(),
            None => vec![&self.run.summary],
        }
    }

    fn subflow(&self, connection: u32, tuple: u32) -> &Value {
        &self.connections()[connection as usize]["subflows"][tuple as usize]
    }

    /// Every subflow: connection, 4-tuple.
    fn subflows(&self) -> Vec<(u32, u32)> {
        let all = self.connections().into_iter().enumerate().flat_map(|(c, summary)| {
            let n = summary["subflows"].as_array().expect("a list").len() as u32;
            (0..n).map(move |t| (c as u32, t))
        });
        all.collect()
    }

    /// The client sends the data.
    fn up(&self, connection: u32) -> bool {
        self.scenario.connections[connection as usize].transfer.up
    }

    fn of(&self, connection: u32) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |r| r.connection == connection)
    }

    /// First SYN or datagram, first and last octet read.
    fn times(&self, connection: u32) -> (u64, u64, u64) {
        let began = self.of(connection).next().expect("it began").at;
        let mut reads = self.of(connection).filter(|r| r.is(Event::Deliver)).map(|r| r.at);
        let first = reads.next().expect("something was read");
        (began, first, reads.last().unwrap_or(first))
    }
}

#[test]
fn octets_and_times_are_those_of_the_deliveries() {
    for case in cases() {
        for (c, summary) in case.connections().into_iter().enumerate() {
            let c = c as u32;
            let (began, first, last) = case.times(c);
            let (mut next, mut read) = (0, 0);
            for row in case.of(c).filter(|r| r.is(Event::Deliver)) {
                // Datagrams may be missing.
                let as_expected = if summary["protocol"] == "udp" { row.offset >= next } else { row.offset == next };
                assert!(as_expected && row.client != case.up(c), "{}: {row:?}", case.name);
                next = row.offset + row.len;
                read += row.len;
            }
            let seconds = |at: u64| (at - began) as f64 / 1e9;
            assert_eq!(summary["bytes_delivered"], read, "{}", case.name);
            assert_eq!(summary["first_byte_s"], seconds(first));
            assert_eq!(summary["last_byte_s"], seconds(last));
            assert_eq!(summary["completion_s"], seconds(last));
            close(number(&summary["goodput_mbps"]), read as f64 * 8e-6 / seconds(last), 1e-9);
        }
    }
}

#[test]
fn the_subflows_goodput_adds_up_to_the_connections() {
    for case in cases() {
        for summary in case.connections() {
            let subflows = summary["subflows"].as_array().expect("a list").iter();
            let sum: f64 = subflows.map(|s| number(&s["goodput_mbps"])).sum();
            close(sum, number(&summary["goodput_mbps"]), 1e-9);
        }
    }
}

/// Sequence numbers tell what a transmission is: new on its subflow, or sent there before. Reasons must agree with
/// them, and counts with both. An octet first sent on another subflow is a reinjection.
#[test]
fn transmissions_are_counted_by_what_they_are() {
    let mut seen_kinds = BTreeMap::new();
    for case in cases() {
        let mut counts: HashMap<(u32, u32), [u64; 3]> = HashMap::new();
        let mut next_seq: HashMap<(u32, u32), u32> = HashMap::new();
        let mut next_offset: HashMap<u32, u64> = HashMap::new();
        let data = |r: &&Row| r.is(Event::Send) && r.has_data() && r.client == case.up(r.connection);
        for row in case.rows.iter().filter(data) {
            let subflow = (row.connection, row.tuple);
            let end = row.seq.wrapping_add(row.len as u32);
            let next = *next_seq.entry(subflow).or_insert(row.seq);
            let again = (row.seq.wrapping_sub(next) as i32) < 0;
            let first = next_offset.entry(row.connection).or_insert(0);
            let udp = row.flags.is_empty();
            match row.kind.as_str() {
                "New" => assert!(udp || (row.seq == next && row.offset == *first), "{row:?}"),
                "Reinjection" => assert!(row.seq == next && row.offset < *first, "{row:?}"),
                "Fast" | "Timeout" => assert!(again, "{row:?}"),
                // New data, or the last segment again.
                "TailProbe" => assert!(again || (row.seq == next && row.offset == *first), "{row:?}"),
                "Probe" => {}
                other => panic!("{other}"),
            }
            *first = (*first).max(row.offset + row.len);
            if !again {
                next_seq.insert(subflow, end);
            }
            let [all, fast, timeout] = counts.entry(subflow).or_default();
            *all += 1;
            *fast += u64::from(row.kind == "Fast");
            *timeout += u64::from(row.kind == "Timeout");
            *seen_kinds.entry(row.kind.clone()).or_insert(0) += 1;
        }
        for (c, t) in case.subflows() {
            let s = case.subflow(c, t);
            let wanted = counts.get(&(c, t)).copied().unwrap_or_default();
            let got = ["segments", "retransmissions_fast", "retransmissions_timeout"].map(|key| count(&s[key]));
            assert_eq!(got, wanted, "{} {c} {t}", case.name);
        }
        assert_eq!(count(&case.run.summary["segments"]), counts.values().map(|n| n[0]).sum::<u64>());
    }
    // The test would be empty without them.
    for kind in ["Fast", "Timeout", "Reinjection"] {
        assert!(seen_kinds[kind] > 50, "{seen_kinds:?}");
    }
}

/// A retransmission is spurious if an earlier copy of the segment was not lost, whatever the sender knew: neither dropped
/// on the way nor refused by a receiver without another copy (RFC 7323 5.3 R1; before the client's key, RFC 8684 3.1).
#[test]
fn spurious_retransmissions_are_those_with_a_copy_that_got_through() {
    let (mut total, mut refused) = (0, 0);
    for case in cases() {
        let mut by_segment: HashMap<(u32, u32, u32), Vec<&Copy>> = HashMap::new();
        let all = copies(&case.rows);
        for copy in all.iter().filter(|c| c.sent.has_data() && c.sent.client == case.up(c.sent.connection)) {
            by_segment.entry((copy.sent.connection, copy.sent.tuple, copy.sent.seq)).or_default().push(copy);
        }
        let mut spurious: HashMap<(u32, u32), u64> = HashMap::new();
        for ((c, t, _), of_one) in &by_segment {
            // Datagrams all have the sequence number 0; none is sent twice.
            if of_one[0].sent.flags.is_empty() {
                continue;
            }
            assert!(of_one.iter().all(|copy| copy.sent.len == of_one[0].sent.len), "{of_one:?}");
            let got_through = of_one.iter().position(|copy| !copy.is_lost(of_one));
            refused += of_one.iter().filter(|copy| copy.dropped.is_empty() && copy.is_lost(of_one)).count();
            let needless = got_through.map_or(0, |i| of_one.len() - i - 1);
            *spurious.entry((*c, *t)).or_default() += needless as u64;
        }
        for (c, t) in case.subflows() {
            let wanted = spurious.get(&(c, t)).copied().unwrap_or(0);
            assert_eq!(case.subflow(c, t)["spurious"], wanted, "{} {c} {t}", case.name);
            total += wanted;
        }
    }
    assert!(total > 10 && refused > 5, "{total} spurious retransmissions and {refused} copies refused show nothing");
}

// ---- order of arrival ----------------------------------------------------------------------------------------------

/// Held for a hole in a subflow: position there to (data offset, length).
type Held = BTreeMap<u64, (u64, u64)>;

/// A receiver of two levels, played again over the arrivals.
#[derive(Default)]
struct Receiver {
    /// Next octet of each subflow, and what it holds.
    subflows: HashMap<u32, (u64, Held)>,
    next: u64,
    /// In order on their subflow, ahead in the data stream: offset to length.
    ahead: BTreeMap<u64, u64>,
    /// Offsets of all data segments that have arrived.
    arrived: HashMap<u64, u64>,
    out_of_order: u64,
    most: (u64, u64),
}

impl Receiver {
    /// A segment at `position` of a subflow with the octets from `data` on arrives.
    fn arrive(&mut self, subflow: u32, position: u64, data: u64, len: u64) {
        let fresh = match self.arrived.insert(data, len) {
            None => true,
            Some(before) => {
                assert_eq!(before, len, "segments are cut alike each time");
                false
            }
        };
        let (next, held) = self.subflows.entry(subflow).or_default();
        let mut waits = false;
        if position > *next {
            held.insert(position, (data, len));
            waits = true;
        } else if position == *next {
            held.insert(position, (data, len));
            waits = data > self.next;
            while let Some((data, len)) = held.remove(next) {
                *next += len;
                if data >= self.next {
                    self.ahead.insert(data, len);
                }
            }
            while let Some(len) = self.ahead.remove(&self.next) {
                self.next += len;
            }
            let next = self.next;
            self.ahead.retain(|data, _| *data > next);
        }
        self.out_of_order += u64::from(fresh && waits);
        let in_subflows = self.subflows.values().flat_map(|(_, held)| held.values().map(|(_, len)| *len));
        let held = in_subflows.chain(self.ahead.values().copied()).fold((0, 0), |sum, len| (sum.0 + 1, sum.1 + len));
        self.most = (self.most.0.max(held.0), self.most.1.max(held.1));
    }
}

#[test]
fn order_of_arrival_is_what_a_second_receiver_finds() {
    let mut waited = 0;
    for case in cases() {
        let (mut out_of_order, mut distinct, mut most) = (0, 0, (0, 0));
        for (c, summary) in case.connections().into_iter().enumerate() {
            let c = c as u32;
            if summary["protocol"] == "udp" {
                assert_eq!(summary["ooo_ratio"], 0.0);
                distinct += case.of(c).filter(|r| r.is(Event::Arrive)).count() as u64;
                continue;
            }
            let mut first: HashMap<u32, u32> = HashMap::new();
            let mut receiver = Receiver::default();
            // RFC 8684 3.1: until a server has the client's key, data that overtook it have no place and are not taken.
            let mut knows_keys = summary["protocol"] == "tcp" || !case.up(c);
            for row in case.of(c).filter(|r| r.is(Event::Arrive) && r.client != case.up(c)) {
                knows_keys |= row.more.contains("CapableAck ");
                if row.flags.contains('S') {
                    first.insert(row.tuple, row.seq.wrapping_add(1));
                } else if row.has_data() && knows_keys {
                    let position = u64::from(row.seq.wrapping_sub(first[&row.tuple]));
                    receiver.arrive(row.tuple, position, row.offset, row.len);
                }
            }
            let n = receiver.arrived.len() as u64;
            close(number(&summary["ooo_ratio"]), receiver.out_of_order as f64 / n as f64, 1e-12);
            let got = (count(&summary["ooo_buffer_max_packets"]), count(&summary["ooo_buffer_max_bytes"]));
            assert_eq!(got, receiver.most, "{} {c}", case.name);
            out_of_order += receiver.out_of_order;
            distinct += n;
            most = (most.0.max(receiver.most.0), most.1.max(receiver.most.1));
        }
        let s = &case.run.summary;
        close(number(&s["ooo_ratio"]), out_of_order as f64 / distinct as f64, 1e-12);
        assert_eq!((count(&s["ooo_buffer_max_packets"]), count(&s["ooo_buffer_max_bytes"])), most);
        waited += out_of_order;
    }
    assert!(waited > 5_000, "{waited}");
}

/// What a subflow brought first is its goodput, whatever other copies came later.
#[test]
fn a_subflows_goodput_counts_first_arrivals() {
    for case in cases() {
        for (c, _) in case.connections().into_iter().enumerate() {
            let c = c as u32;
            let mut seen = HashMap::new();
            let mut octets: HashMap<u32, u64> = HashMap::new();
            for row in case.of(c).filter(|r| r.is(Event::Arrive) && r.has_data() && r.client != case.up(c)) {
                if seen.insert(row.offset, row.len).is_none() {
                    *octets.entry(row.tuple).or_default() += row.len;
                }
            }
            let (began, _, last) = case.times(c);
            for (t, octets) in octets {
                let wanted = octets as f64 * 8e3 / (last - began) as f64;
                close(number(&case.subflow(c, t)["goodput_mbps"]), wanted, 1e-9);
            }
        }
    }
}

// ---- windows, links ------------------------------------------------------------------------------------------------

/// When a subflow's sender may first send data: of the first one with the SYN/ACK, or the handshake's last segment at a
/// server; of a join, at the client with the fourth segment, the acknowledgement of its own (RFC 8684 3.2).
fn opened(case: &Case, c: u32, t: u32) -> u64 {
    let mut arrivals = case.of(c).filter(|r| r.is(Event::Arrive) && r.tuple == t && r.client == case.up(c));
    let first = arrivals.next().expect("the handshake");
    let join = t > 0 && case.up(c);
    if join || !case.up(c) { arrivals.next().expect("the handshake's end").at } else { first.at }
}

/// `cwnd` over time, from the rows of its changes; until then it is the initial window of ten segments.
#[test]
fn mean_windows_are_those_of_the_trace() {
    for case in cases() {
        for (c, t) in case.subflows() {
            let s = case.subflow(c, t);
            if case.connections()[c as usize]["protocol"] == "udp" {
                assert!(s["cwnd_mean_segments"].is_null());
                continue;
            }
            let (_, _, end) = case.times(c);
            let (mut since, mut cwnd, mut area) = (opened(case, c, t), 14_000.0, 0.0);
            let began = since;
            for row in case.of(c).filter(|r| r.is(Event::Window) && r.tuple == t && r.at < end) {
                area += cwnd * (row.at - since) as f64;
                since = row.at;
                cwnd = row.word("cwnd").expect("a window").parse().expect("a number");
            }
            area += cwnd * (end - since) as f64;
            let mean = area / (end - began) as f64 / 1400.0;
            let got = number(&s["cwnd_mean_segments"]);
            // Rows give whole octets, and end with the last octet read.
            assert!((got / mean - 1.0).abs() < 2e-3, "{} {c} {t}: {got}, not {mean}", case.name);
        }
    }
}

/// Two segments of slow start: the window grows from 10 segments only when the transfer is over, so its mean is 10.
#[test]
fn a_mean_window_lies_between_its_values() {
    let s = summary("transfer = { bytes = '14 kB' }\n[[path]]", &[]);
    close(number(&s["subflows"][0]["cwnd_mean_segments"]), 10.0, 1e-9);
}

/// Octets that the reference link had transmitted when the transfer ended / what it could have.
#[test]
fn utilisation_is_what_the_reference_link_transmits() {
    for case in cases().iter().filter(|case| case.scenario.connections.len() == 1) {
        // The run ends with its transfer.
        let (began, end) = (case.rows[0].at, case.rows[case.rows.len() - 1].at);
        let all = copies(&case.rows);
        for (l, link) in case.scenario.links.iter().enumerate() {
            // Failures are not the model's.
            if !link.changes.is_empty() {
                continue;
            }
            for (client, direction) in [(true, &link.up), (false, &link.down)] {
                // What the queue drops is taken from the trace.
                let mut model = Fifo::new(&Direction { queue: Queue::Packets(u64::MAX), ..direction.clone() });
                let path = |r: &Row| {
                    let index = case.subflow(r.connection, r.tuple)["path"].as_u64().expect("an index") as usize;
                    case.scenario.connections[r.connection as usize].paths[index][0]
                };
                let mut sent: HashMap<(u32, u32), Vec<(u64, u64)>> = HashMap::new();
                let queued = |c: &&Copy| c.dropped.iter().all(|(_, why)| why != "Queue");
                for Copy { sent: row, .. } in all.iter().filter(queued) {
                    if row.client == client && path(row) == l {
                        let octets = row.wire_len(&case.scenario);
                        let passage = model.offer(row.at, octets).expect("there is room");
                        sent.entry((row.connection, row.tuple)).or_default().push((passage.sent, octets));
                    }
                }
                for ((c, t), sent) in sent.into_iter().filter(|((c, _), _)| case.up(*c) == client) {
                    let octets: u64 = sent.iter().filter(|(at, _)| *at <= end).map(|(_, n)| n).sum();
                    let wanted = octets as f64 * 8e9 / (direction.rate as f64 * (end - began) as f64);
                    let got = number(&case.subflow(c, t)["utilisation"]);
                    assert!((got - wanted).abs() < 1e-9, "{} {c} {t}: {got}, not {wanted}", case.name);
                }
            }
        }
    }
}

#[test]
fn queue_drops_are_counted_where_they_happen() {
    let mut total = 0;
    for case in cases() {
        for (c, t) in case.subflows() {
            let dropped = |r: &&Row| r.is(Event::Drop) && r.tuple == t && r.why() == "Queue";
            let wanted = case.of(c).filter(dropped).count();
            assert_eq!(case.subflow(c, t)["queue_drops"], wanted, "{} {c} {t}", case.name);
            total += wanted;
        }
    }
    assert!(total > 100);
}

/// Requests that never meet a queue: an answer of 552 octets at 8 Mbit/s, 10 ms, its acknowledgement of 52 octets, 10
/// ms: 20.604 ms, from the second sample on.
#[test]
fn the_round_trip_time_of_an_idle_path_is_its_serialisation_and_delay() {
    let text = "connection = { protocol = 'tcp', delayed_ack = 'off' }
        transfer = { direction = 'down', request = '100 B', response = '500 B', count = 300, think = '100 ms' }
        path = [{ rate = '8 Mbit/s', delay = '10 ms' }]";
    let s = summary(text, &[]);
    close(number(&s["subflows"][0]["srtt_ms"]), 20.604, 0.02);
}

/// Counts add, ratios are made anew, maxima are maxima, times run from the earliest start.
#[test]
fn several_connections_are_summed_up_at_the_top() {
    let case = cases().iter().find(|c| c.name == "several connections").expect("it is among them");
    let (top, parts) = (&case.run.summary, case.connections());
    assert_eq!(parts.len(), 3);
    let sum = |key: &str| parts.iter().map(|p| count(&p[key])).sum::<u64>();
    let starts = [0.0, 1.0, 0.5];
    assert_eq!((&parts[0]["bytes_delivered"], &parts[2]["bytes_delivered"]), (&6_000_000.into(), &2_000_000.into()));
    assert_eq!((count(&top["bytes_delivered"]), count(&top["segments"])), (sum("bytes_delivered"), sum("segments")));
    let last = parts.iter().zip(starts).map(|(p, start)| number(&p["last_byte_s"]) + start).fold(0.0, f64::max);
    close(number(&top["last_byte_s"]), last, 1e-9);
    close(number(&top["goodput_mbps"]), count(&top["bytes_delivered"]) as f64 * 8e-6 / last, 1e-9);
    let subflows: Vec<&Value> = top["subflows"].as_array().expect("a list").iter().collect();
    let owners: Vec<u64> = subflows.iter().map(|s| count(&s["connection"])).collect();
    assert_eq!(owners, [0, 0, 1, 2]);
    assert!(parts.iter().all(|p| p["subflows"][0].get("connection").is_none()));
}

// ---- what the sender waited for ------------------------------------------------------------------------------------

fn shares(text: &str, overrides: &[&str]) -> (Value, Value) {
    let s = summary(text, overrides);
    assert_eq!(s["status"], "completed");
    (s["limits"].clone(), s)
}

/// 100 Mbit/s and 200 ms to and fro hold 2.5 MB: with 500 kB in the send buffer a fifth of that leaves a round trip.
#[test]
fn a_small_send_buffer_is_the_limit_and_named_so() {
    const TEXT: &str =
        "[transfer]\nbytes = '50 MB'\n[[path]]\nrate = '100 Mbit/s'\ndelay = '100 ms'\nqueue = '3000 packets'\n";
    let (limits, s) = shares(TEXT, &["connection.send_buffer=500 kB"]);
    assert!(number(&limits["send_buffer"]) > 0.9, "{limits}");
    // 100 windows of 500 kB; a round trip for the handshake; and slow start from 14 kB: 5.2 round trips, in which all that leaves is
    // one window. To within a round trip.
    let expected = 0.2 * (100.0 + 1.0 + (500.0_f64 / 14.0).log2() - 1.0);
    close(number(&s["completion_s"]), expected, 0.2);
    let (limits, _) = shares(TEXT, &["connection.receive_buffer=500 kB"]);
    assert!(number(&limits["receive_window"]) > 0.9 && number(&limits["send_buffer"]) == 0.0, "{limits}");
}

/// 2 kB hold a segment and a part of one, which waits for the acknowledgement of the other (RFC 9293 3.7.4), with whatever scheduler: one
/// that has assigned it to a subflow does not keep it.
#[test]
fn what_nagle_holds_is_not_the_schedulers() {
    for scheduler in ["min-rtt", "linux", "otias", "daps"] {
        let text = format!(
            "[connection]\nprofile = 'linux-6.1'\nscheduler = '{scheduler}'\nsend_buffer = '2 kB'
            [transfer]\nbytes = '100 kB'\n[[path]]\nrate = '10 Mbit/s'\ndelay = '10 ms'\n"
        );
        let (limits, _) = shares(&text, &[]);
        assert!(number(&limits["send_buffer"]) > 0.98, "{scheduler}: {limits}");
    }
}

/// A buffer of half a second on a link that is always full: the window is used up nearly all the time, and would not help.
#[test]
fn a_full_window_is_not_the_limit_of_a_full_link() {
    const TEXT: &str =
        "[transfer]\nbytes = '20 MB'\n[[path]]\nrate = '10 Mbit/s'\ndelay = '10 ms'\nqueue = '3000 packets'\n";
    for buffer in ["receive_buffer", "send_buffer"] {
        let (limits, s) = shares(TEXT, &[&format!("connection.{buffer}=600 kB")]);
        assert!(number(&s["subflows"][0]["utilisation"]) > 0.97);
        assert!(number(&limits["link"]) > 0.9, "{buffer}: {limits}");
        // Of a second path that is idle nothing can be said like that.
        let (limits, _) = shares(
            &format!("{TEXT}[[path]]\nrate = '10 Mbit/s'\ndelay = '200 ms'\n"),
            &[&format!("connection.{buffer}=100 kB")],
        );
        assert!(number(&limits["link"]) < 0.1, "{buffer}: {limits}");
    }
}

/// One path leaves no choice; two that are idle most of the time leave it nearly always; a bulk sender's full windows hardly ever.
#[test]
fn the_share_of_segments_with_a_choice_tells_whether_a_scheduler_matters() {
    const TWO: &str = "[[path]]\nrate = '10 Mbit/s'\ndelay = '10 ms'\n[[path]]\nrate = '10 Mbit/s'\ndelay = '30 ms'\n";
    let choice = |text: &str| number(&summary(text, &[])["choice_ratio"]);
    assert_eq!(choice("transfer = { bytes = '1 MB' }\n[[path]]\n"), 0.0);
    let idle =
        choice(&format!("transfer = {{ rate = '2 Mbit/s', on = '1 s', off = '1 s', duration = '20 s' }}\n{TWO}"));
    assert!(idle > 0.9, "{idle}");
    let bulk = choice(&format!("transfer = {{ bytes = '20 MB' }}\n{TWO}"));
    assert!(bulk < 0.1, "{bulk}");
}
