//! How runs end: "completed", "duration", "stalled", and since when.

use std::ops::ControlFlow;

use anabranch_sim::run;
use serde_json::Value;

use crate::support::{MS, S, close, count, number, scenario, summary, traced, with};
use crate::trace::Event;

const BOTH_DOWN: &str = "
    transfer = { bytes = '20 MB' }
    [[path]]
    rate = '5 Mbit/s'
    delay = '100 ms'
    changes = [{ at = '2 s', state = 'down' }]
    [[path]]
    rate = '2 Mbit/s'
    delay = '10 ms'
    changes = [{ at = '2 s', state = 'down' }]";

fn status(s: &Value) -> &str {
    s["status"].as_str().expect("a word")
}

/// Both paths fail at 2 s and stay down: the run ends at its duration, says since when nothing moved, and how much was
/// read by then. Retransmissions back off to two minutes, so an hour of them is quick.
#[test]
fn a_transfer_whose_paths_all_fail_is_stalled_since_its_last_delivery() {
    for protocol in ["mptcp", "tcp"] {
        for duration in ["5 s", "30 s", "1 h"] {
            let settings = [format!("connection.protocol={protocol}"), format!("duration={duration}")];
            let scenario = with(BOTH_DOWN, &[&settings[0], &settings[1]]);
            let (run, rows) = traced(&scenario);
            let s = &run.summary;
            assert_eq!(status(s), "stalled");
            let last = rows.iter().rfind(|r| r.is(Event::Deliver)).expect("something was read");
            assert!((S..2 * S + 1).contains(&last.at), "{last:?}");
            assert_eq!(s["stalled_since_s"], last.at as f64 / 1e9);
            assert_eq!(s["last_byte_s"], last.at as f64 / 1e9);
            assert_eq!(s["completion_s"], Value::Null);
            assert_eq!(s["bytes_delivered"], last.offset + last.len);
            // Of the whole time, not of the time in which something came.
            let seconds = scenario.duration.as_secs_f64();
            close(number(&s["goodput_mbps"]), (last.offset + last.len) as f64 * 8e-6 / seconds, 1e-12);
            assert!(count(&s["events"]) < 5_000, "{}", s["events"]);
        }
    }
}

/// No path ever works: not even a handshake. Stalled since the first SYN.
#[test]
fn a_connection_that_is_never_answered_is_stalled_since_its_start() {
    let text = "transfer = { bytes = '1 MB', start = '3 s' }
        path = [{ changes = [{ at = '0 s', state = 'down' }] }, { changes = [{ at = '0 s', state = 'down' }] }]";
    for protocol in ["mptcp", "tcp"] {
        let s = summary(text, &[&format!("connection.protocol={protocol}")]);
        assert_eq!((status(&s), &s["stalled_since_s"], &s["goodput_mbps"]), ("stalled", &0.0.into(), &0.0.into()));
        for key in ["completion_s", "first_byte_s", "last_byte_s"] {
            assert_eq!(s[key], Value::Null, "{key}");
        }
        assert_eq!(s["content_ok"], true);
        assert!(count(&s["events"]) < 100, "{}", s["events"]);
    }
}

/// In a run of 5 s half of it counts: since 2 s is stalled, since 4 s is not.
#[test]
fn a_short_run_is_stalled_if_half_of_it_was_quiet() {
    let at = |t: &str| {
        let change = format!("[{{ at = '{t}', state = 'down' }}]");
        let overrides = [format!("path.0.changes={change}"), format!("path.1.changes={change}")];
        summary(BOTH_DOWN, &["duration=5 s", &overrides[0], &overrides[1]])
    };
    assert_eq!(status(&at("2 s")), "stalled");
    let s = at("4 s");
    assert_eq!((status(&s), &s["stalled_since_s"]), ("duration", &Value::Null));
}

/// Ten seconds in a longer one.
#[test]
fn ten_quiet_seconds_are_a_stall() {
    let at = |t: &str| {
        let change = format!("[{{ at = '{t}', state = 'down' }}]");
        let overrides = [format!("path.0.changes={change}"), format!("path.1.changes={change}")];
        summary(BOTH_DOWN, &["duration=22 s", &overrides[0], &overrides[1]])
    };
    // The last octet is read up to half a second before the failure.
    assert_eq!(status(&at("11.9 s")), "stalled");
    assert_eq!(status(&at("12.6 s")), "duration");
}

/// A pause of the network is no stall when it is over.
#[test]
fn a_transfer_that_goes_on_after_a_failure_completes() {
    let change = "[{ at = '2 s', state = 'down' }, { at = '40 s', state = 'up' }]";
    let overrides = [format!("path.0.changes={change}"), format!("path.1.changes={change}")];
    let s = summary(BOTH_DOWN, &[&overrides[0], &overrides[1]]);
    assert_eq!((status(&s), &s["bytes_delivered"]), ("completed", &20_000_000.into()));
    assert!(number(&s["completion_s"]) > 40.0);
}

/// 50 MB do not fit into 10 s: goodput counts from the first SYN at 4 s to the end.
#[test]
fn a_transfer_that_is_cut_off_has_its_goodput_over_the_time_it_had() {
    let text = "duration = '10 s'\ntransfer = { start = '4 s' }\n[[path]]";
    let (run, rows) = traced(&scenario(text));
    let s = &run.summary;
    assert_eq!((status(s), &s["completion_s"], &s["stalled_since_s"]), ("duration", &Value::Null, &Value::Null));
    let read: u64 = rows.iter().filter(|r| r.is(Event::Deliver)).map(|r| r.len).sum();
    assert_eq!(s["bytes_delivered"], read);
    close(number(&s["goodput_mbps"]), read as f64 * 8e-6 / 6.0, 1e-12);
    assert!(rows[rows.len() - 1].at <= 10 * S);
}

/// A run ends when its transfer is over and both sides have closed, not at `duration`.
#[test]
fn a_run_ends_with_its_transfer() {
    let (run, rows) = traced(&scenario("duration = '100 h'\ntransfer = { bytes = '100 kB' }\n[[path]]\n[[path]]"));
    let last = rows[rows.len() - 1].at;
    let completion = (number(&run.summary["completion_s"]) * 1e9) as u64;
    // The closing handshakes of both levels take two round trips of 20 ms.
    assert!(last > completion && last < completion + 60 * MS, "{last} {completion}");
    // Both sides have said that they are done, at data level.
    for client in [true, false] {
        assert!(rows.iter().any(|r| r.is(Event::Arrive) && r.client == client && r.more.contains("data_fin")));
    }
}

/// An application that rests has nothing to send: that is no stall.
#[test]
fn an_application_that_rests_is_not_stalled() {
    let resting = "duration = '1 min'
        transfer = { on = '1 s', off = '1 h', rate = '1 Mbit/s', duration = '2 h' }
        [[path]]";
    assert_eq!(status(&summary(resting, &[])), "duration");
    let thinking = "duration = '1 min'
        transfer = { request = '100 B', response = '10 kB', count = 5, think = '1 h' }
        [[path]]";
    assert_eq!(status(&summary(thinking, &[])), "duration");
}

/// What the client of a dialogue, a page or a film waits for may be the way of its request: the answering host has nothing
/// to send. In both directions at once it may be either.
#[test]
fn a_request_that_does_not_get_through_is_a_stall() {
    for transfer in [
        "request = '200 B', response = '1 kB', count = 50, think = '300 ms'",
        "request = '200 B', response = '1 kB', count = 50, think = '300 ms', direction = 'up'",
        "page = [{ size = '1 kB' }, { size = '1 kB' }], think = '3 s'",
        "page = [{ size = '1 kB' }, { size = '1 kB' }, { size = '1 kB' }], think = '3 s', connections = 2",
        "ladder = ['1 Mbit/s'], segment = '2 s', count = 30, buffer = '4 s'",
        "duration = '40 s', direction = 'both'",
    ] {
        let text = format!(
            "duration = '1 min'\ntransfer = {{ {transfer} }}\npath = [{{ changes = [{{ at = '2.9 s', state = 'down' }}] }}]"
        );
        let s = summary(&text, &[]);
        assert_eq!(status(&s), "stalled", "{transfer}");
        assert!(number(&s["stalled_since_s"]) < 3.0, "{transfer}");
    }
}

/// What was written a moment before the end has not waited for ten seconds, however long the rest before it was; and a request
/// that takes longer than the run moves, although nothing of an answer is read.
#[test]
fn what_follows_a_rest_has_its_own_ten_seconds() {
    for transfer in [
        "request = '100 B', response = '100 B', count = 5, think = '59.95 s'",
        "on = '1 s', off = '58.99 s', rate = '1 Mbit/s', duration = '2 h'",
        "page = [{ size = '1 kB' }, { size = '1 kB' }], think = '59.95 s', connections = 6",
        "request = '100 MB', response = '1 kB', count = 5",
    ] {
        let s = summary(&format!("duration = '1 min'\ntransfer = {{ {transfer} }}\n[[path]]"), &[]);
        assert_eq!(status(&s), "duration", "{transfer}");
    }
}

/// One of two connections loses its only path; the other completes.
#[test]
fn a_stall_of_one_connection_is_named() {
    let text = "duration = '2 min'
        path = [{}, { changes = [{ at = '1 s', state = 'down' }] }]
        [[connection]]
        paths = ['path0']
        transfer = { bytes = '5 MB' }
        [[connection]]
        paths = ['path1']
        transfer = { bytes = '5 MB', start = '0.5 s' }";
    let s = summary(text, &[]);
    let (first, second) = (&s["connections"][0], &s["connections"][1]);
    assert_eq!((status(&s), status(first), status(second)), ("stalled", "completed", "stalled"));
    assert_eq!((&s["completion_s"], &first["stalled_since_s"]), (&Value::Null, &Value::Null));
    // From each one's own first SYN; at the top from the earliest.
    close(number(&s["stalled_since_s"]), number(&second["stalled_since_s"]) + 0.5, 1e-9);
    close(number(&s["goodput_mbps"]), count(&s["bytes_delivered"]) as f64 * 8e-6 / 120.0, 1e-9);
}

// ---- datagrams -----------------------------------------------------------------------------------------------------

/// A flow of which nothing was read is never completed.
#[test]
fn a_flow_that_nothing_gets_through_of_is_stalled() {
    let text = "duration = '1 min'
        connection = { protocol = 'udp' }
        transfer = { rate = '1 Mbit/s', bytes = '1 MB' }
        path = [{ loss = '100 %' }]";
    let s = summary(text, &[]);
    assert_eq!((status(&s), &s["stalled_since_s"], &s["bytes_delivered"]), ("stalled", &0.0.into(), &0.into()));
    assert_eq!((&s["completion_s"], &s["first_byte_s"], &s["goodput_mbps"]), (&Value::Null, &Value::Null, &0.0.into()));
}

/// One that lost a part is completed when its source is over and nothing is under way: datagrams are not sent again.
/// That the last ones were lost, too, changes nothing.
#[test]
fn a_flow_that_lost_a_part_is_completed() {
    let text = "duration = '1 min'
        connection = { protocol = 'udp' }
        transfer = { rate = '8 Mbit/s', bytes = '20 MB' }
        path = [{}]";
    for (what, at_least, at_most) in
        [("path.0.loss=50 %", 0.0, 20.1), ("path.0.changes=[{ at = '2 s', state = 'down' }]", 1.9, 2.0)]
    {
        let s = summary(text, &[what]);
        assert_eq!(status(&s), "completed", "{what}");
        assert!((at_least..at_most).contains(&number(&s["completion_s"])), "{what}: {}", s["completion_s"]);
        assert_eq!(s["completion_s"], s["last_byte_s"]);
        assert!((1..20_000_000).contains(&count(&s["bytes_delivered"])));
    }
}

/// Every datagram arrives twice: read twice, by an application that has no protocol to tell it. But each of its octets
/// counts once.
#[test]
fn a_duplicated_datagram_counts_once() {
    let text = "connection = { protocol = 'udp' }
        transfer = { rate = '1 Mbit/s', bytes = '140 kB' }
        path = [{ duplication = '100 %' }]";
    let s = summary(text, &[]);
    assert_eq!((&s["bytes_delivered"], &s["ooo_ratio"]), (&140_000.into(), &0.0.into()));
}

// ---- the caller ----------------------------------------------------------------------------------------------------

/// A caller sees virtual time, what was read and what there is to read, and may stop the run.
#[test]
fn a_caller_sees_progress_and_can_stop() {
    let scenario = scenario("transfer = { bytes = '20 MB' }\n[[path]]");
    let mut seen = Vec::new();
    let stopped = run(&scenario, None, &mut |progress| {
        // Not known while the network is being built.
        let building = progress.now == 0 && progress.total.is_none();
        assert!(building || progress.total == Some(20_000_000));
        seen.push((progress.now, progress.read));
        if progress.read > 10_000_000 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(stopped.stopped);
    assert!(seen.len() > 2 && seen.windows(2).all(|w| w[0].0 <= w[1].0 && w[0].1 <= w[1].1), "{seen:?}");
    assert_eq!(stopped.summary["bytes_delivered"], seen[seen.len() - 1].1);
    assert_ne!(stopped.summary["status"], "completed");
}
