//! What applications send, and when.

use anabranch_sim::scenario::Scenario;

use crate::statistics::{frequency, uniform};
use crate::support::{MS, S, close, count, number, scenario, summary, traced, with};
use crate::trace::{Event, Row, copies};

fn sends(rows: &[Row]) -> impl Iterator<Item = &Row> {
    rows.iter().filter(|r| r.is(Event::Send) && r.has_data())
}

// ---- constant rate -------------------------------------------------------------------------------------------------

/// Datagram i leaves at i x 1400 x 8 / rate, rounded down to the nanosecond: 11.2 / 3 ms apart.
#[test]
fn datagrams_leave_at_a_constant_rate() {
    let text = "connection = { protocol = 'udp' }
        transfer = { rate = '3 Mbit/s', duration = '10 s', start = '250 ms' }
        [[path]]";
    let (run, rows) = traced(&scenario(text));
    for (i, row) in sends(&rows).enumerate() {
        let i = i as u64;
        assert_eq!((row.at, row.len, row.offset), (250 * MS + i * 11_200_000 / 3, 1400, i * 1400));
    }
    // 0, 11.2 / 3, ... ms before 10 s: 2678.57 intervals, so 2679 datagrams.
    assert_eq!(run.summary["segments"], 2679);
    assert_eq!(run.summary["bytes_delivered"], 2679 * 1400);
    assert_eq!(run.summary["status"], "completed");
}

/// 10 kB in datagrams of 1400 octets: seven full ones and one of 200.
#[test]
fn a_flow_of_given_size_ends_with_a_part_of_a_datagram() {
    let text = "connection = { protocol = 'udp' }
        transfer = { rate = '3 Mbit/s', bytes = '10 kB' }
        [[path]]";
    let (run, rows) = traced(&scenario(text));
    let lens: Vec<u64> = sends(&rows).map(|r| r.len).collect();
    assert_eq!(lens, [1400, 1400, 1400, 1400, 1400, 1400, 1400, 200]);
    assert_eq!(run.summary["bytes_delivered"], 10_000);
}

// ---- on and off ----------------------------------------------------------------------------------------------------

/// 1.12 Mbit/s are a segment of 1400 octets every 10 ms while busy: 100 a second, 500 in five busy seconds of ten.
#[test]
fn an_on_off_source_sends_its_rate_while_it_is_on() {
    let text = "connection = { protocol = 'tcp' }
        transfer = { on = '1 s', off = '1 s', rate = '1.12 Mbit/s', duration = '10 s' }
        [[path]]";
    let (run, rows) = traced(&scenario(text));
    assert_eq!((&run.summary["status"], &run.summary["bytes_delivered"]), (&"completed".into(), &700_000.into()));
    let mut per_second = [0; 11];
    for row in sends(&rows) {
        per_second[(row.at / S) as usize] += row.len / 1400;
        // The handshake takes 20 ms; after it each segment leaves when it is written.
        assert!(row.at % (2 * S) < S && (row.at < 50 * MS || row.at % (10 * MS) == 0), "{row:?}");
    }
    assert_eq!(per_second, [100, 0, 100, 0, 100, 0, 100, 0, 100, 0, 0]);
}

/// With `off = 0` a steady source: 1.12 Mbit/s for 10 s are 1000 segments.
#[test]
fn a_source_that_never_rests_is_steady() {
    let text = "connection = { protocol = 'tcp' }
        transfer = { on = '1 s', off = '0 s', rate = '1.12 Mbit/s', duration = '10 s' }
        [[path]]";
    assert_eq!(summary(text, &[])["bytes_delivered"], 1_400_000);
}

/// `bytes` is how much an on-off source sends in all: 1.4 MB are ten busy seconds at 1.12 Mbit/s, the last of which
/// ends at 19 s. Without a rate a period carries at most its second, and what stands in the window at its end: 127
/// segments, 0.15 s. At 9.64 Mbit/s of payload that is 1.38 MB, so 10 MB take more than seven periods of 2 s.
#[test]
fn an_on_off_source_sends_all_its_octets() {
    let text = "connection = { protocol = 'tcp' }
        transfer = { on = '1 s', off = '1 s', rate = '1.12 Mbit/s', bytes = '1.4 MB' }
        [[path]]";
    let s = summary(text, &[]);
    assert_eq!((&s["status"], &s["bytes_delivered"]), (&"completed".into(), &1_400_000.into()));
    close(number(&s["last_byte_s"]), 19.0, 0.05);
    let text = "connection = { protocol = 'tcp' }
        transfer = { on = '1 s', off = '1 s', bytes = '10 MB' }
        [[path]]";
    let s = summary(text, &[]);
    assert_eq!((&s["status"], &s["bytes_delivered"]), (&"completed".into(), &10_000_000.into()));
    assert!((14.0..18.0).contains(&number(&s["last_byte_s"])), "{}", s["last_byte_s"]);
}

/// Without a rate a busy period fills the link: 30 % of the time on, so 30 % of the link, but for the seconds in which
/// the staged segments drain. New data leave only while the source is on, and the ones then in its buffers.
#[test]
fn a_greedy_on_off_source_uses_the_link_in_its_duty_cycle() {
    let text = "connection = { protocol = 'tcp' }
        transfer = { on = '3 s', off = '7 s', duration = '100 s' }
        path = [{ queue = '20 packets' }]";
    let (run, rows) = traced(&scenario(text));
    // Ten staged segments, 37 in the network and their recovery: less than 0.2 s after the end of a busy period.
    assert!(sends(&rows).all(|r| r.at % (10 * S) < 3 * S + 200 * MS));
    let utilisation = number(&run.summary["subflows"][0]["utilisation"]);
    // Loss of the rate at the start of each period and in recovery, at most a tenth.
    assert!((0.27..0.305).contains(&utilisation), "{utilisation}");
}

// ---- dialogue ------------------------------------------------------------------------------------------------------

/// Requests of 100 and answers of 500 octets, 0.1 s of thought between. On the wire 152 and 552 octets at 8 Mbit/s:
///
/// ```text
/// client ── 0.152 ms + 10 ms ──► server
///        ◄── 0.552 ms + 10 ms ──        20.704 ms a round, and 100 ms until the next request
/// ```
#[test]
fn a_dialogue_takes_a_round_trip_and_a_pause_each_round() {
    let text = "connection = { protocol = 'tcp' }
        transfer = { direction = 'down', request = '100 B', response = '500 B', count = 50, think = '100 ms' }
        path = [{ rate = '8 Mbit/s', delay = '10 ms' }]";
    let (run, rows) = traced(&scenario(text));
    let asked: Vec<u64> = sends(&rows).filter(|r| r.client).map(|r| r.at).collect();
    let answered: Vec<u64> = rows.iter().filter(|r| r.is(Event::Deliver)).map(|r| r.at).collect();
    assert_eq!((asked.len(), answered.len()), (50, 50));
    // The handshake: 60 octets each way.
    assert_eq!(asked[0], 2 * (60_000 + 10 * MS));
    for i in 0..50 {
        assert_eq!(answered[i] - asked[i], 20_704_000);
    }
    assert!(asked.windows(2).zip(&answered).all(|(w, answered)| w[1] == answered + 100 * MS));
    assert_eq!(number(&run.summary["completion_s"]), answered[49] as f64 / 1e9);
    assert_eq!((&run.summary["bytes_delivered"], &run.summary["segments"]), (&25_000.into(), &50.into()));
}

/// In the other direction the server asks. Answers of several segments, counted to the octet, over two paths.
#[test]
fn a_dialogue_counts_answers_of_any_size() {
    let text = "transfer = { request = '3 kB', response = '100001 B', count = 7 }\n[[path]]\n[[path]]";
    let s = summary(text, &[]);
    assert_eq!((&s["status"], &s["bytes_delivered"]), (&"completed".into(), &700_007.into()));
    assert_eq!(s["content_ok"], true);
}

/// `delay_redraw = "write"`: each answer is a write and draws one delay for both directions, so an answer and the
/// request that follows it take the same time to propagate, and all answers together a uniform one.
#[test]
fn a_delay_redrawn_at_writes_holds_for_a_round() {
    let text = "connection = { protocol = 'tcp', delayed_ack = 'off' }
        transfer = { direction = 'down', request = '100 B', response = '500 B', count = 2000, think = '100 ms' }
        path = [{ rate = '8 Gbit/s', delay = '20 ms', delay_variation = '50 %', delay_redraw = 'write' }]";
    let (_, rows) = traced(&scenario(text));
    let all = copies(&rows);
    let of = |client: bool, octets: u64| -> Vec<u64> {
        let those = all.iter().filter(|c| c.sent.client == client && c.sent.has_data());
        those.map(|c| c.arrived[0] - c.sent.at - octets).collect()
    };
    // 152 and 552 octets take 152 and 552 ns.
    let (requests, answers) = (of(true, 152), of(false, 552));
    assert_eq!((requests.len(), answers.len()), (2000, 2000));
    assert_eq!(requests[1..], answers[..1999]);
    uniform(&answers.iter().map(|d| *d as f64).collect::<Vec<_>>(), 10e6, 30e6);
}

// ---- start ---------------------------------------------------------------------------------------------------------

fn first_syn(scenario: &Scenario) -> u64 {
    traced(scenario).1[0].at
}

#[test]
fn a_connection_starts_at_its_start() {
    for (text, wanted) in [("0 s", 0), ("1.5 s", 1_500 * MS), ("1 ns", 1)] {
        let scenario = scenario(&format!("transfer = {{ bytes = '1 B', start = '{text}' }}\n[[path]]"));
        assert_eq!(first_syn(&scenario), wanted);
    }
}

/// Times in the summary count from the first SYN, not from the beginning of the run.
#[test]
fn times_count_from_the_first_syn() {
    let text = "transfer = { bytes = '1 MB' }\n[[path]]";
    let (early, late) = (summary(text, &[]), summary(text, &["transfer.start=100 s"]));
    for key in ["completion_s", "first_byte_s", "last_byte_s", "goodput_mbps", "segments"] {
        assert_eq!(early[key], late[key], "{key}");
    }
    close(number(&late["subflows"][0]["utilisation"]), number(&early["subflows"][0]["utilisation"]), 1e-12);
}

/// Uniform from `start` to `start + start_spread` over seeds.
#[test]
fn starts_are_spread_uniformly() {
    let text = "transfer = { bytes = '1 B', start = '2 s', start_spread = '1 s' }\n[[path]]";
    let starts: Vec<f64> = (0..2000).map(|seed| first_syn(&with(text, &[&format!("seed={seed}")])) as f64).collect();
    uniform(&starts, 2e9, 3e9);
    frequency(starts.iter().filter(|s| **s < 2.25e9).count() as u64, 2000, 0.25);
}

// ---- reading -------------------------------------------------------------------------------------------------------

/// A reader of 1 Mbit/s with a buffer of 64 kB behind a link of 10 Mbit/s: 2 MB take 16 s from the first read on (reads
/// come every 10 ms), and what was sent and not read yet never exceeds the buffer.
#[test]
fn a_slow_reader_sets_the_pace() {
    for protocol in ["tcp", "mptcp"] {
        let text = "connection = { receive_buffer = '64 kB' }
            transfer = { bytes = '2 MB', read_rate = '1 Mbit/s' }
            [[path]]\n[[path]]";
        let (run, rows) = traced(&with(text, &[&format!("connection.protocol={protocol}")]));
        let s = &run.summary;
        assert_eq!((&s["status"], &s["bytes_delivered"]), (&"completed".into(), &2_000_000.into()));
        close(number(&s["last_byte_s"]) - number(&s["first_byte_s"]), 16.0, 0.02);
        let (mut sent, mut read) = (0, 0);
        for row in &rows {
            match row.event {
                Event::Send if row.has_data() => sent = sent.max(row.offset + row.len),
                Event::Deliver => read += row.len,
                _ => {}
            }
            assert!(sent <= read + 64_000, "{row:?}");
        }
        // The sender finds the window closed and open again, and loses nothing to it.
        assert_eq!(s["subflows"][0]["retransmissions_timeout"], 0);
    }
}

/// A window of 71 segments a round trip: 99.4 kB of 100 kB in 100 ms of delay, one serialisation of 1452 octets and one
/// of 52. Without delayed acknowledgements the figure is exact but for the start.
#[test]
fn a_small_receive_buffer_limits_the_rate_to_a_window_a_round_trip() {
    let text = "connection = { protocol = 'tcp', receive_buffer = '100 kB', delayed_ack = 'off' }
        transfer = { duration = '60 s' }
        path = [{ rate = '1 Gbit/s', delay = '50 ms' }]";
    let s = summary(text, &[]);
    let round_trip = 0.1 + (1452.0 + 52.0) * 8.0 / 1e9;
    // Slow start: 10, 20, 40 segments in the first three round trips, and one for the handshake.
    let lost = 71.0 + 61.0 + 51.0 + 31.0;
    let segments = 71.0 * 60.0 / round_trip - lost;
    let got = count(&s["bytes_delivered"]) as f64 / 1400.0;
    assert!((got - segments).abs() < 71.0, "{got} segments, not {segments}");
}

// ---- both directions -----------------------------------------------------------------------------------------------

/// The two directions of a link do not share anything: 10 Mbit/s each way, of which 1400 / 1452 is payload. A direction loses its own
/// acknowledgements' place: with data to carry them, an acknowledgement costs nothing.
#[test]
fn both_directions_are_full_at_once() {
    for protocol in ["tcp", "mptcp"] {
        let text = format!(
            "connection = {{ protocol = '{protocol}' }}
            transfer = {{ bytes = '10 MB', direction = 'both' }}
            [[path]]"
        );
        let (run, rows) = traced(&scenario(&text));
        let s = &run.summary;
        assert_eq!((&s["status"], &s["content_ok"]), (&"completed".into(), &true.into()));
        let reverse = &s["reverse"];
        assert_eq!((&s["bytes_delivered"], &reverse["bytes_delivered"]), (&10_000_000.into(), &10_000_000.into()));
        for way in [s, reverse] {
            let goodput = number(&way["goodput_mbps"]);
            assert!((8.5..10.0 * 1400.0 / 1452.0).contains(&goodput), "{protocol}: {goodput}");
        }
        // By the trace: the client (host of a delivery that is not the server's) read it all.
        let read = |server: bool| {
            rows.iter().filter(|r| r.is(Event::Deliver) && r.client != server).map(|r| r.len).sum::<u64>()
        };
        assert_eq!((read(true), read(false)), (10_000_000, 10_000_000));
        let last = number(&s["last_byte_s"]).max(number(&reverse["last_byte_s"]));
        assert_eq!(number(&s["completion_s"]), last);
    }
}

/// Unlike rates: each direction has its own. The faster one is over first, and the transfer goes on. (Its acknowledgements wait in the
/// queue of the slower one; with one of a hundred packets, 0.6 s, it would take almost as long.)
#[test]
fn each_direction_has_its_own_rate_and_its_own_end() {
    let text = "transfer = { bytes = '2 MB', direction = 'both' }
        [[path]]
        rate_down = '2 Mbit/s'
        queue_down = '10 packets'";
    let s = summary(text, &[]);
    let (up, down) = (number(&s["last_byte_s"]), number(&s["reverse"]["last_byte_s"]));
    assert!(down > 8.0 && up < 0.4 * down, "{up} {down}");
    assert_eq!((&s["status"], number(&s["completion_s"])), (&"completed".into(), down));
}

/// 100 kB each way arrive within a fifth of a second, and both ends close; reading them at 100 kB/s takes one.
#[test]
fn both_directions_are_over_when_slow_readers_have_read_them() {
    let text =
        "transfer = { bytes = '100 kB', direction = 'both', read_rate = '800 kbit/s' }\n[[path]]\nrate = '10 Mbit/s'";
    let s = summary(text, &[]);
    assert_eq!(s["status"], "completed");
    for way in [&s, &s["reverse"]] {
        assert_eq!(way["bytes_delivered"], 100_000);
        assert!((0.95..1.2).contains(&number(&way["last_byte_s"])), "{way}");
    }
}

#[test]
fn a_duration_ends_both_directions() {
    let text = "transfer = { duration = '5 s', direction = 'both' }\n[[path]]\n[[path]]\nrate = '2 Mbit/s'";
    let s = summary(text, &[]);
    assert_eq!(s["status"], "completed");
    for way in [&s, &s["reverse"]] {
        assert!((5.0..6.5).contains(&number(&way["last_byte_s"])), "{way}");
    }
}
