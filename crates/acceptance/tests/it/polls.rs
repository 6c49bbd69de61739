//! Nothing loops inside one event: whatever a scenario says, a run comes back to the question whether to go on, soon.

use std::ops::ControlFlow;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anabranch_sim::run;
use anabranch_sim::scenario::middlebox::REGISTRY;
use serde_json::Value;

use crate::support::{number, scenario};

/// The summary of `text`; fails if that is not there within `limit` of wall-clock time, instead of waiting for ever.
fn ends(text: &str, limit: Duration) -> Value {
    let (tell, told) = mpsc::channel();
    let scenario = scenario(text);
    std::thread::spawn(move || {
        let _ = tell.send(run(&scenario, None, &mut |_| ControlFlow::Continue(())).summary);
    });
    told.recv_timeout(limit).unwrap_or_else(|_| panic!("not done within {limit:?}:\n{text}"))
}

// 0: SYN. First data segment: alter-length puts 4 octets in before octet 0, so the payload begins at -4; alter-payload looks
// for octet 0 from there on.
#[test]
fn octets_put_in_before_the_first_do_not_hold_up_the_next_box() {
    let text = "transfer = { bytes = '10 kB' }
        path = [{ rate = '10 Mbit/s', delay = '10 ms', middleboxes = ['alter-length', 'alter-payload'] }]";
    let s = ends(text, Duration::from_secs(60));
    assert!(number(&s["events"]) > 10.0);
}

#[test]
fn every_pair_of_middleboxes_lets_a_run_end() {
    for (data, one) in ["up", "down"].into_iter().flat_map(|d| REGISTRY.iter().map(move |e| (d, e.name))) {
        let chain = |other: &str| {
            let boxes = |kind: &str| {
                let every = if kind.starts_with("alter") { ", every = '3 kB'" } else { "" };
                format!("{{ kind = '{kind}'{every} }}")
            };
            format!("[{}, {}]", boxes(one), boxes(other))
        };
        // Payloads that were altered do not go through a proxy.
        let clash =
            |other: &str| [one, other].contains(&"pep") && (one.starts_with("alter") || other.starts_with("alter"));
        let paths = REGISTRY
            .iter()
            .filter(|e| !clash(e.name))
            .map(|e| format!("[[path]]\nrate = '10 Mbit/s'\ndelay = '10 ms'\nmiddleboxes = {}\n", chain(e.name)));
        // Each pair by itself: a connection over one path.
        for path in paths {
            for checksum in [false, true] {
                let text = format!(
                    "duration = '60 s'\ntransfer = {{ bytes = '20 kB', direction = '{data}' }}\n\
                     connection.checksum = {checksum}\n{path}"
                );
                let s = ends(&text, Duration::from_secs(60));
                assert!(number(&s["events"]) < 1e6, "{text}");
            }
        }
    }
}

// 0: nothing yet, and a sample time each millisecond; 999 h: the first SYN.
#[test]
fn a_late_start_costs_no_more_than_an_early_one() {
    let text = "duration = '1000 h'\ntransfer = { bytes = '10 kB', start = '999 h' }
        path = [{ rate = '10 Mbit/s', delay = '10 ms' }]";
    let began = Instant::now();
    let s = ends(text, Duration::from_secs(60));
    assert_eq!(s["status"], "completed");
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
}

// 20 ms: 64 kB, as much as a SYN's window lets; 41 ms: the first acknowledgement, and all at once the rest of 60,000 segments.
#[test]
fn a_burst_is_interrupted_for_the_question() {
    let text = "transfer = { bytes = '90 MB' }\nconnection = { initial_window = 60000, receive_buffer = 'unlimited', send_buffer = 'unlimited' }
        path = [{ rate = '10 Mbit/s', delay = '10 ms', queue = '100000 packets' }]";
    let mut asked = 0;
    let stopped = run(&scenario(text), None, &mut |progress| {
        asked += u64::from(progress.now < 60_000_000);
        if progress.now < 60_000_000 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    assert!(stopped.stopped);
    // 60,000 packets are asked about after each 8,192, give or take a burst of 4,096.
    assert!((5..16).contains(&asked), "asked {asked} times");
}
