//! A proxy that splits TCP connections: times by hand, losses that the hosts do not see, buffers that are full, ends that are passed on.

use serde_json::Value;

use crate::support::{count, number, summary};

const RATE: f64 = 50e6;
const DELAY: f64 = 0.3;
/// How long a segment takes through the box by default.
const HOLD: f64 = 100e-6;

/// Seconds for `octets` at the rate of the link.
fn takes(octets: f64) -> f64 {
    octets * 8.0 / RATE
}

fn geo(direction: &str, boxes: &str) -> Value {
    let text = format!(
        "transfer = {{ bytes = '2 MB', direction = '{direction}' }}
        connection = {{ protocol = 'tcp', controller = 'cubic' }}
        [[path]]\nrate = '50 Mbit/s'\ndelay = '300 ms'\nqueue = '4 MB'\nmiddleboxes = {boxes}"
    );
    summary(&text, &[])
}

const WIDE: &str = "[{ kind = 'pep', initial_window = 2500 }, { kind = 'pep', end = 'far', initial_window = 2500 }]";

/// SYN, SYN/ACK (60 octets each) and ACK (52) cross the link between the boxes, then the data without a pause: segments of 1400 octets
/// with 52 of headers. Each of the first four passes one box, the data two; the second box has had them from the server long since.
#[test]
fn between_wide_proxies_a_download_takes_two_round_trips_and_its_octets() {
    let s = geo("down", WIDE);
    let first = 4.0 * DELAY + 5.0 * HOLD + takes(60.0 + 60.0 + 52.0) + takes(1452.0);
    assert!((number(&s["first_byte_s"]) - first).abs() < 1e-9, "{s}");
    let (whole, rest) = (2_000_000 / 1400, 2_000_000 % 1400);
    let last = first + takes(1452.0) * f64::from(whole - 1) + takes(f64::from(rest + 52));
    assert!((number(&s["last_byte_s"]) - last).abs() < 1e-9, "{s}");
    assert_eq!(s["content_ok"], true);
}

/// Ten segments, and at most twice as many each round trip: 1429 take eight flights, so seven round trips from the first to the last.
/// A proxy that begins with ten segments does no better.
#[test]
fn without_a_wide_window_slow_start_takes_its_round_trips() {
    for boxes in ["[]", "['pep']", "['pep', { kind = 'pep', end = 'far' }]"] {
        let s = geo("down", boxes);
        let trips = (number(&s["last_byte_s"]) - number(&s["first_byte_s"])) / (2.0 * DELAY);
        assert!((7.0..7.2).contains(&trips), "{boxes}: {trips}");
    }
}

/// RFC 7323 2.2: the window of a SYN/ACK is not scaled. Whoever sent the SYN may send 65,535 octets until it hears again.
#[test]
fn an_upload_waits_once_more_for_a_scaled_window() {
    let s = geo("up", WIDE);
    let wait = number(&s["last_byte_s"]) - number(&s["first_byte_s"]);
    let rest = f64::from(2_000_000 - 65_535);
    assert!(wait > 2.0 * DELAY + takes(rest), "{s}");
    assert!(wait < 2.0 * DELAY + takes(rest * 1452.0 / 1400.0) + 0.01, "{s}");
}

fn lossy(direction: &str, boxes: &str) -> Value {
    let text = format!(
        "transfer = {{ bytes = '5 MB', direction = '{direction}' }}
        [[path]]\nrate = '10 Mbit/s'\ndelay = '10 ms'\nloss = '1 %'\nmiddleboxes = {boxes}"
    );
    summary(&text, &[])
}

#[test]
fn what_the_link_loses_the_proxy_at_its_end_sends_again() {
    let again = |s: &Value| count(&s["subflows"][0]["retransmissions_fast"]);
    for direction in ["up", "down"] {
        assert!(again(&lossy(direction, "[]")) > 10);
        let s = lossy(direction, "['pep', { kind = 'pep', end = 'far' }]");
        assert_eq!((&s["status"], &s["content_ok"]), (&"completed".into(), &true.into()), "{s}");
        assert_eq!((again(&s), count(&s["bytes_delivered"])), (0, 5_000_000), "{s}");
    }
    // A box at the client's end repairs what goes up; what comes down is the server's affair, and none of its repairs is needless.
    assert_eq!(again(&lossy("up", "['pep']")), 0);
    let s = lossy("down", "['pep']");
    assert!(again(&s) > 10);
    assert_eq!(count(&s["subflows"][0]["spurious"]), 0, "{s}");
}

/// 10 kB a round trip of 20 ms are 4 Mbit/s.
#[test]
fn a_proxy_takes_no_more_than_its_buffer_holds() {
    let text = "transfer = { bytes = '2 MB' }
        [[path]]\nrate = '10 Mbit/s'\ndelay = '10 ms'\nmiddleboxes = [{ kind = 'pep', buffer = '10 kB' }]";
    let goodput = number(&summary(text, &[])["goodput_mbps"]);
    assert!((2.0..4.0).contains(&goodput), "{goodput}");
}

/// RFC 3135 4.1: octets that were acknowledged need not have arrived. Behind a link that is gone the proxy gives up, and says so.
#[test]
fn octets_that_the_proxy_has_acknowledged_may_be_lost_with_the_link() {
    let text = "transfer = { bytes = '2 MB' }
        [[path]]\nrate = '10 Mbit/s'\ndelay = '10 ms'\nmiddleboxes = ['pep']\nchanges = [{ at = '1 s', state = 'down' }]";
    let s = summary(text, &[]);
    assert_eq!(s["aborted_by"], "client: reset by the peer", "{s}");
    assert!(count(&s["bytes_delivered"]) < 1_300_000);
}

/// RFC 8684 3.1 and 3.2: without MP_CAPABLE in the answer it is TCP; without MP_JOIN the join is reset. Both ways at once, and ends.
#[test]
fn multipath_falls_back_through_a_proxy_and_joins_fail() {
    let path = |boxes: &str| format!("[[path]]\nrate = '10 Mbit/s'\ndelay = '10 ms'\nmiddleboxes = {boxes}\n");
    let of = |first: &str, second: &str| {
        summary(&format!("transfer = {{ bytes = '1 MB', direction = 'both' }}\n{}{}", path(first), path(second)), &[])
    };
    for (first, second, fallback) in [("['pep']", "[]", true), ("[]", "['pep']", false), ("[]", "[]", false)] {
        let s = of(first, second);
        assert_eq!((&s["status"], &s["fallback"]), (&"completed".into(), &fallback.into()), "{first} {second}: {s}");
        assert_eq!((count(&s["bytes_delivered"]), count(&s["reverse"]["bytes_delivered"])), (1_000_000, 1_000_000));
        let second_carries =
            s["subflows"].as_array().unwrap().iter().any(|f| f["path"] == 1 && number(&f["goodput_mbps"]) > 1.0);
        assert_eq!(second_carries, (first, second) == ("[]", "[]"));
    }
}

/// A connection that began before the box was on is not split.
#[test]
fn what_began_without_a_proxy_goes_on_without() {
    let text = "transfer = { bytes = '2 MB' }
        [[path]]\nrate = '10 Mbit/s'\ndelay = '10 ms'\nmiddleboxes = [{ kind = 'pep', at = '0.5 s' }]
        [[path]]\nrate = '10 Mbit/s'\ndelay = '10 ms'";
    let s = summary(text, &[]);
    assert_eq!((&s["status"], &s["fallback"]), (&"completed".into(), &false.into()));
    assert!(number(&s["goodput_mbps"]) > 12.0);
}
