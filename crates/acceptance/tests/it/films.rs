//! Films whose playback can be worked out.

use anabranch_measures::items::Item;
use anabranch_sim::Run;

use crate::support::{S, finish, number, scenario};

fn over_tcp(transfer: &str, path: &str) -> String {
    format!("connection = {{ protocol = 'tcp', nagle = false }}\ntransfer = {{ {transfer} }}\n[[path]]\n{path}")
}

fn shown(text: &str) -> (Run, Vec<Item>) {
    let run = finish(&scenario(text));
    assert_eq!(run.summary["status"], "completed");
    let segments = run.items[0].1.all().to_vec();
    (run, segments)
}

/// Segments of 2 s at 2 Mbit/s, 500 kB, over 1 Mbit/s: in 358 packets with 52 octets of headers each, take 4.149 s, the
/// request 20 ms and 452 octets. So the player stands still after each of them but the last, for 2.17 s.
#[test]
fn below_the_lowest_bit_rate_it_stands_still_after_each_segment() {
    let film = "ladder = ['2 Mbit/s', '4 Mbit/s'], segment = '2 s', count = 10";
    let (run, segments) = shown(&over_tcp(film, "rate = '1 Mbit/s'\nqueue = '1000 packets'"));
    let field = |name: &str| number(&run.summary[name]);
    assert_eq!((field("rebuffering_count"), field("bitrate_mean_mbps"), field("bitrate_switches")), (9.0, 2.0, 0.0));
    // The second segment is asked for when the first is there, which is when it begins to play.
    let (first, last) = (segments[0].done().unwrap(), segments[9].done().unwrap());
    let still = (last - first - 9 * 2 * S) as f64 / 1e9;
    assert!((field("rebuffering_s") - still).abs() < 1e-9);
    assert!((still / (9.0 * ((500e3 + 358.0 * 52.0 + 452.0) * 8.0 / 1e6 + 0.02 - 2.0)) - 1.0).abs() < 0.001, "{still}");
    assert!((field("startup_s") - first as f64 / 1e9).abs() < 1e-9);
}

/// With plenty of rate it goes to the top of the ladder, fills the buffer and then asks for one segment each 4 s.
#[test]
fn above_the_highest_bit_rate_it_plays_without_a_stop() {
    let film = "ladder = ['1 Mbit/s', '2 Mbit/s', '4 Mbit/s'], count = 20, buffer = '20 s'";
    let (run, segments) = shown(&over_tcp(film, "rate = '20 Mbit/s'"));
    assert_eq!((&run.summary["rebuffering_s"], &run.summary["bitrate_switches"]), (&0.0.into(), &2.into()));
    let sizes: Vec<u64> = segments.iter().map(|s| s.bytes).collect();
    assert_eq!(sizes[..3], [500_000, 1_000_000, 2_000_000]);
    assert!(sizes[3..].iter().all(|n| *n == 2_000_000));
    assert_eq!(number(&run.summary["bitrate_mean_mbps"]), (1.0 + 2.0 + 18.0 * 4.0) / 20.0);
    // Five segments fill 20 s. The film began at the end of the first; the sixth is asked for when 4 s of it are shown.
    let began = segments[0].done().unwrap();
    for (i, segment) in segments.iter().enumerate().skip(5) {
        assert_eq!(segment.asked, began + (i as u64 - 4) * 4 * S);
    }
}

/// A whole film in the buffer before it plays: it begins when the last segment is there.
#[test]
fn it_begins_when_what_it_wants_is_there() {
    let film = "ladder = ['1 Mbit/s'], segment = '1 s', count = 5, buffer = '10 s', startup = '3 s'";
    let (run, segments) = shown(&over_tcp(film, ""));
    assert_eq!(number(&run.summary["startup_s"]), segments[2].done().unwrap() as f64 / 1e9);
}

/// An outage of 20 s with 12 s in the buffer: it stands still once, from 12 s after the last segment until the first one after.
#[test]
fn an_outage_longer_than_the_buffer_stops_it_once() {
    let film = "ladder = ['1 Mbit/s'], segment = '2 s', count = 40, buffer = '12 s'";
    let outage = "changes = [{ at = '20 s', state = 'down' }, { at = '40 s', state = 'up' }]";
    let (run, segments) = shown(&over_tcp(film, outage));
    assert_eq!(run.summary["rebuffering_count"], 1);
    let after = segments.iter().position(|s| s.done().unwrap() > 40 * S).unwrap();
    // Until then all that was there has been shown: `after` segments from the beginning on.
    let shown = segments[0].done().unwrap() + after as u64 * 2 * S;
    let still = (segments[after].done().unwrap() - shown) as f64 / 1e9;
    assert!(still > 5.0 && (number(&run.summary["rebuffering_s"]) - still).abs() < 1e-9, "{still}");
}

/// What is on its way when the run ends is not there.
#[test]
fn a_film_that_breaks_off_has_stood_still_to_the_end() {
    let film = "ladder = ['2 Mbit/s'], segment = '2 s', count = 10";
    let text = format!("duration = '12 s'\n{}", over_tcp(film, "rate = '1 Mbit/s'"));
    let run = finish(&scenario(&text));
    let there: Vec<u64> = run.items[0].1.all().iter().filter_map(Item::done).collect();
    assert_eq!(there.len(), 2);
    // Two segments shown, the second since it was there; then nothing.
    let still = (there[1] - there[0] - 2 * S) + (12 * S - there[1] - 2 * S);
    let told = number(&run.summary["rebuffering_s"]);
    // The run ends with its last event, up to a packet's transmission before its duration.
    assert!((told - still as f64 / 1e9).abs() < 0.02, "{told} {still}");
}
