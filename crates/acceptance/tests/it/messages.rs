//! Messages whose latency can be worked out.

use anabranch_measures::items::Item;
use serde_json::Value;

use crate::support::{MS, close, finish, number, scenario, summary};

/// A TCP connection over 10 Mbit/s and 10 ms; a segment has 52 octets of headers (IPv4, TCP, timestamps).
fn over_tcp(transfer: &str) -> String {
    format!("connection = {{ protocol = 'tcp', nagle = false }}\ntransfer = {{ {transfer} }}\n[[path]]")
}

fn latencies(text: &str) -> Vec<u64> {
    let run = finish(&scenario(text));
    run.items[0].1.all().iter().map(|i| i.latency().unwrap()).collect()
}

/// 10 ms and 1052 octets at 10 Mbit/s: 841.6 us.
#[test]
fn a_lone_message_takes_the_delay_and_its_transmission() {
    let seen = latencies(&over_tcp("message = '1 kB', interval = '1 s', count = 5"));
    assert_eq!(seen, [10 * MS + 841_600; 5]);
    let down = latencies(&over_tcp("message = '1 kB', interval = '1 s', count = 5, direction = 'down'"));
    assert_eq!(down, seen);
}

/// Ten full segments leave at once (the initial window); the last is there after ten transmissions of 1452 octets.
#[test]
fn a_message_of_ten_segments_takes_ten_transmissions() {
    let seen = latencies(&over_tcp("message = '14 kB', interval = '1 s', count = 3"));
    assert_eq!(seen, [10 * MS + 10 * 1_161_600; 3]);
}

/// The first message comes when the connection is open, after 10 ms each way for SYN and its answer, 60 octets each; the others
/// follow, and none at the end of the duration or later.
#[test]
fn messages_come_at_their_times() {
    let run = finish(&scenario(&over_tcp("message = '1 kB', interval = '100 ms', duration = '1 s'")));
    let asked: Vec<u64> = run.items[0].1.all().iter().map(|i: &Item| i.asked).collect();
    let first = 20 * MS + 2 * 48_000;
    assert_eq!(asked, (0..10).map(|i| first + i * 100 * MS).collect::<Vec<_>>());
    assert_eq!((&run.summary["status"], &run.summary["bytes_delivered"]), (&"completed".into(), &10_000.into()));
    assert!(run.summary.get("deadline_missed").is_none());
}

#[test]
fn a_deadline_is_missed_or_not() {
    let missed = |deadline: &str| {
        let text = over_tcp(&format!("message = '1 kB', interval = '1 s', count = 5, deadline = '{deadline}'"));
        summary(&text, &[])["deadline_missed"].clone()
    };
    assert_eq!([missed("10841 us"), missed("10842 us")], [1.0.into(), Value::from(0.0)]);
}

/// Poisson arrivals at half the rate of the link, each served in S = 841.6 us: the mean wait is S / 2 (M/D/1: rho S / 2 (1 - rho)).
/// The mean of 40 000 waits has a standard error of about 1 %, since they are correlated over some ten of them.
#[test]
fn messages_at_random_wait_as_in_a_queue_with_one_server() {
    let text = "connection = { protocol = 'tcp', nagle = false, initial_window = 1000 }
        transfer = { message = '1 kB', interval = { name = 'exponential', mean = '1683200 ns' }, count = 40000 }
        [[path]]
        delay = '1 ms'
        queue = '1000 packets'";
    let seen = latencies(text);
    let mean = seen.iter().sum::<u64>() as f64 / seen.len() as f64;
    let wait = mean - (1_000_000 + 841_600) as f64;
    assert!((wait / 420_800.0 - 1.0).abs() < 0.04, "{wait}");
}

/// Over a path that is down from the middle on, what is not there counts as missed once its deadline has passed.
#[test]
fn messages_that_never_arrive_are_missed() {
    let text = "duration = '10 s'
        connection = { protocol = 'tcp', nagle = false }
        transfer = { message = '1 kB', interval = '100 ms', duration = '10 s', deadline = '1 s' }
        [[path]]
        changes = [{ at = '5 s', state = 'down' }]";
    let run = finish(&scenario(text));
    let items = run.items[0].1.all();
    let there = items.iter().filter(|i| i.latency().is_some()).count();
    // Asked 20.096 ms after each tenth of a second; the one of 4.92 s arrives at 4.93 s.
    assert_eq!((items.len(), there), (100, 50));
    // 90 were asked before 9 s.
    assert_eq!(run.summary["deadline_missed"], 40.0 / 90.0);
    assert!(run.summary["message_latency_ms"]["p999"].as_f64().unwrap() < 10.85);
}

/// 10 ms and 1428 octets at 10 Mbit/s each; the buckets of the percentiles are 2 % wide.
#[test]
fn datagrams_on_an_idle_path_have_no_jitter() {
    let text = "connection = { protocol = 'udp' }\ntransfer = { rate = '1 Mbit/s', duration = '2 s' }\n[[path]]";
    let s = summary(text, &[]);
    for p in ["p50", "p95", "p99", "p999"] {
        close(number(&s["datagram_delay_ms"][p]), 11.1424, 0.02 * 11.1424);
    }
    assert_eq!((&s["jitter_ms"], &s["datagram_loss"]), (&0.0.into(), &0.0.into()));
}

/// Delays uniform from 8 to 12 ms: the mean difference of two is a third of 4 ms; with loss, too. Differences have a standard
/// deviation of 0.94 ms, and those of 4464 datagrams a mean with one of 0.014, or a little more, since neighbours share one. Of 4464,
/// a tenth is lost, with a standard deviation of 0.0045.
#[test]
fn datagrams_with_uniform_delays_have_a_third_of_the_range_as_jitter() {
    let text = "connection = { protocol = 'udp' }
        transfer = { rate = '1 Mbit/s', duration = '50 s' }
        [[path]]
        delay_variation = '20 %'
        loss = '10 %'";
    let s = summary(text, &[]);
    close(number(&s["jitter_ms"]), 4.0 / 3.0, 0.08);
    close(number(&s["datagram_loss"]), 0.1, 0.018);
    close(number(&s["datagram_delay_ms"]["p50"]), 11.1424, 0.5);
    close(number(&s["datagram_delay_ms"]["p99"]), 13.1, 0.3);
}
