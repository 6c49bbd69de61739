//! RFC 2861: window validation: whether a window was used is judged over a round trip, and one that the application does not use comes
//! down. And windows that count segments, whatever their length.

use anabranch_stack::Config;

use crate::bench::Bench;
use crate::pair::tcp;

/// `n` segments are written and leave at once.
fn write(at: &str, from: u32, n: u32) -> String {
    let last = from + 1000 * (n - 1);
    format!(
        "{at} write {}\n{at} > . {from}:{last}({}x1000) ack 1\n{at} > P. {last}:{}(1000) ack 1",
        1000 * n,
        n - 1,
        last + 1000
    )
}

fn validated() -> Config {
    tcp().window_validation(true)
}

/// A flight of ten that the application ends fills the window at its beginning: with each acknowledgement it grows. Judged as each
/// acknowledgement comes, no more than the first four find it half full.
#[test]
fn a_window_that_was_full_in_the_round_trip_was_used() {
    let flight = |config: Config| {
        let mut b = Bench::open_client(config);
        b.play(&write("0.2", 1, 10));
        for n in 1..=10 {
            b.play(&format!("0.3 < . 1:1(0) ack {} win 100", 1000 * n + 1));
        }
        b
    };
    flight(validated()).play("0.3 cwnd 20000");
    flight(tcp()).play("0.3 cwnd 14000");
}

/// In slow start more than half of the window is enough: six segments of ten let it grow until they are half of it, five do not.
#[test]
fn in_slow_start_more_than_half_of_the_window_is_used() {
    for (segments, cwnd) in [(6, 12_000), (5, 10_000)] {
        let mut b = Bench::open_client(validated());
        b.play(&write("0.2", 1, segments));
        for n in 1..=segments {
            b.play(&format!("0.3 < . 1:1(0) ack {} win 100", 1000 * n + 1));
        }
        b.play(&format!("0.3 cwnd {cwnd}"));
    }
}

/// The same with segments of 100 octets, where windows count segments (Linux: `tcp_is_cwnd_limited` compares `max_packets_out`).
#[test]
fn small_segments_use_a_window_that_counts_segments() {
    for (segments, cwnd) in [(6, 12_000), (5, 10_000)] {
        let mut b = Bench::open_client(validated().count_segments(true).nagle(false));
        for n in 0..segments {
            let (from, to) = (100 * n + 1, 100 * n + 101);
            b.play(&format!("0.2 write 100\n0.2 > P. {from}:{to}(100) ack 1"));
        }
        for n in 1..=segments {
            b.play(&format!("0.3 < . 1:1(0) ack {} win 100", 100 * n + 1));
        }
        b.play(&format!("0.3 cwnd {cwnd}"));
    }
}

/// 3.2: an application that uses four segments of a window of twenty for a timeout: (20 + 10) / 2, since Linux takes the initial window
/// for what is used at least; then, in whole segments, 12, 11, 10.
#[test]
fn a_window_that_the_application_does_not_use_comes_down_half_way() {
    let mut b = Bench::open_client(validated());
    b.play(&write("0.2", 1, 10));
    for n in 1..=10 {
        b.play(&format!("0.3 < . 1:1(0) ack {} win 100", 1000 * n + 1));
    }
    b.play("0.3 cwnd 20000");
    let mut sent = 10_001;
    let mut windows = Vec::new();
    for n in 0..12 {
        let at = 0.35 + 0.15 * f64::from(n);
        b.play(&write(&format!("{at:.2}"), sent, 4));
        sent += 4000;
        b.play(&format!("{:.2} < . 1:1(0) ack {sent} win 100", at + 0.1));
        let cwnd = Some(b.conn().subflows()[0].cwnd() / 1000.0);
        if windows.last() != Some(&cwnd) {
            windows.push(cwnd);
        }
    }
    assert_eq!(windows, [15.0, 12.0, 11.0, 10.0].map(Some));
}

/// As octets a window of ten segments takes nineteen of half a segment (there must be room for a full one), and each of them adds its half.
/// As segments it takes ten, and each adds one.
#[test]
fn a_window_that_counts_segments_takes_as_many_small_ones() {
    let halves = |count_segments| tcp().count_segments(count_segments).nagle(false);
    let mut b = Bench::open_client(halves(false));
    for n in 0..19 {
        b.play(&format!("0.2 write 500\n0.2 > P. {}:{}(500) ack 1", 500 * n + 1, 500 * n + 501));
    }
    b.play("0.3 < . 1:1(0) ack 501 win 100");
    b.play("0.3 cwnd 10500");
    let mut b = Bench::open_client(halves(true));
    for n in 0..10 {
        b.play(&format!("0.2 write 500\n0.2 > P. {}:{}(500) ack 1", 500 * n + 1, 500 * n + 501));
    }
    b.play("0.2 write 1500");
    b.play(
        "0.3 < . 1:1(0) ack 501 win 100
         0.3 > . 5001:6001(1000) ack 1
         0.3 > P. 6001:6501(500) ack 1
         0.3 cwnd 11000",
    );
}
