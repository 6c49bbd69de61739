//! How long nothing is read, and how long a rate takes to come back after a change of a path.

use serde_json::Value;

use crate::support::{close, example, number, scenario, summary, traced};
use crate::trace::Event;

/// The longest time between deliveries of one connection in the trace, in nanoseconds.
fn longest(rows: &[crate::trace::Row], connection: u32) -> u64 {
    let read: Vec<u64> =
        rows.iter().filter(|r| r.is(Event::Deliver) && r.connection == connection).map(|r| r.at).collect();
    read.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0)
}

#[test]
fn the_longest_gap_is_that_of_the_trace() {
    for name in ["path-failure", "request-response", "lossy-wireless", "video", "papers-pair"] {
        let (run, rows) = traced(&scenario(&example(name)));
        let told = number(&run.summary["longest_gap_s"]);
        assert_eq!((told * 1e9).round() as u64, longest(&rows, 0), "{name}");
    }
    let (run, rows) = traced(&scenario(&example("cross-traffic")));
    for i in 0..3 {
        let told = number(&run.summary["connections"][i as usize]["longest_gap_s"]);
        assert_eq!((told * 1e9).round() as u64, longest(&rows, i));
    }
}

/// A path of 10 ms that is down from 2 s to 3 s, and a datagram of 1428 octets each 11.2 ms, number i at i x 11.2 ms. Those sent
/// while it is down are lost, and number 178 (1993.6 ms), which is under way then, too. Number 177 arrives at 1982.4 + 11.1424 ms,
/// the next one that is there is number 268 (3001.6 ms).
#[test]
fn an_outage_is_a_gap_of_its_length() {
    let text = "connection = { protocol = 'udp' }
        transfer = { rate = '1 Mbit/s', duration = '6 s' }
        [[path]]
        changes = [{ at = '2 s', state = 'down' }, { at = '3 s', state = 'up' }]";
    let s = summary(text, &[]);
    close(number(&s["longest_gap_s"]), 91.0 * 0.0112, 1e-9);
    let [down, up] = [&s["recoveries"][0], &s["recoveries"][1]];
    assert_eq!(
        (&down["at_s"], &down["rate_after_mbps"], &down["recovery_s"]),
        (&2.0.into(), &0.0.into(), &Value::Null)
    );
    close(number(&down["rate_before_mbps"]), 1.0, 0.02);
    close(number(&up["rate_after_mbps"]), 1.0, 0.02);
    // Number 268 arrives 12.7 ms after the path is up.
    assert_eq!((&up["recovery_s"], &s["recovery_max_s"]), (&0.01.into(), &0.01.into()));
}

/// What the sender does is told in the example: a probe at 10.4 s, the timeout before 11 s; the next try of the dead path is at 22.6 s.
#[test]
fn a_failed_path_costs_a_timeout_and_a_path_that_is_back_waits_for_the_next_try() {
    let s = summary(&example("path-failure"), &[]);
    let [down, up] = [&s["recoveries"][0], &s["recoveries"][1]].map(|c| number(&c["recovery_s"]));
    assert!((0.9..1.0).contains(&down) && (2.6..4.0).contains(&up), "{down} {up}");
    // Nothing was read from the failure to the timeout.
    close(number(&s["longest_gap_s"]), down, 0.02);
    // Two paths of 4 Mbit/s, then one, then two; headers take 5 %.
    let rates = |name: &str| [0, 1].map(|i| number(&s["recoveries"][i][name]));
    let (before, after) = (rates("rate_before_mbps"), rates("rate_after_mbps"));
    assert!(before[0] > 7.3 && (3.6..4.0).contains(&after[0]) && before[1] == after[0] && after[1] > 7.3, "{s}");
}

/// A transfer that stops for good: the gap lasts to the end of its duration.
#[test]
fn what_never_goes_on_is_a_gap_to_the_end() {
    let text = "duration = '20 s'
        transfer = { duration = '15 s' }
        [[path]]
        changes = [{ at = '5 s', state = 'down' }]";
    let s = summary(text, &[]);
    let last = number(&s["last_byte_s"]);
    let told = number(&s["longest_gap_s"]);
    assert!((4.9..5.0).contains(&last) && (told - (15.0 - last)).abs() < 1e-9, "{told} {last}");
    let nothing = summary("duration = '5 s'\n[transfer]\n[[path]]\nloss = '100 %'", &[]);
    assert!(nothing["longest_gap_s"].is_null());
    assert!(nothing.get("recoveries").is_none() && nothing.get("recovery_max_s").is_none());
}
