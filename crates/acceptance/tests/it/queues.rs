//! Queue disciplines and trace-paced links in whole runs: standing delay, drops and marks, isolation, pacing.

use anabranch_sim::scenario::Scenario;
use serde_json::Value;

use crate::support::{MS, S, finish, scenario, summary, traced};
use crate::trace::copies;

/// A plain TCP transfer through 10 Mbit/s with a deep buffer: 1000 packets are 1.2 s.
fn deep(discipline: &str, more: &str) -> Value {
    let text = format!(
        "connection = {{ protocol = 'tcp', controller = 'uncoupled'{more} }}
         transfer = {{ duration = '60 s' }}
         path = [{{ rate = '10 Mbit/s', delay = '20 ms', queue = '1000 packets', discipline_up = {discipline} }}]"
    );
    summary(&text, &[])
}

fn number(summary: &Value, key: &str) -> f64 {
    summary[key].as_f64().unwrap_or_else(|| panic!("no {key}"))
}

fn srtt(summary: &Value) -> f64 {
    number(&summary["subflows"][0], "srtt_ms") / 1e3
}

/// Bufferbloat, and what RFC 8289 promises against it: a standing delay near the target of 5 ms, the link in use. Round trip
/// without a queue: 40 ms propagation and the two transmissions of 1.2 ms.
#[test]
fn codel_keeps_the_standing_delay_near_its_target_and_the_link_in_use() {
    let (bloated, controlled) = (deep("'drop-tail'", ""), deep("'codel'", ""));
    assert!(srtt(&bloated) > 0.5, "a deep buffer without control: {} s", srtt(&bloated));
    let waiting = srtt(&controlled) - 0.0413;
    assert!((0.001..0.015).contains(&waiting), "mean standing delay {waiting} s");
    // One Reno flow swings from half of pipe + queue to all of it: with the queue at a fifth of the pipe (35 packets) it fills
    // 0.8 of the link in two thirds of its rounds and all in the others, 0.87 together.
    let used = number(&controlled, "goodput_mbps") / (10.0 * 1400.0 / 1452.0);
    assert!((0.8..0.97).contains(&used), "goodput {used} of the ceiling");
}

/// RFC 3168 with an active queue: the same control by marks, and nothing has to be sent again.
#[test]
fn an_ecn_connection_is_marked_not_dropped() {
    for discipline in ["'codel'", "'fq-codel'", "'red'"] {
        let s = deep(discipline, ", ecn = true");
        let subflow = &s["subflows"][0];
        // Slow start overshoots, and RED drops while its average is above the upper threshold.
        let most = if discipline == "'red'" { 400 } else { 0 };
        let drops = subflow["queue_drops"].as_u64().unwrap();
        assert!(drops <= most, "{discipline}: {drops} drops");
        assert!(srtt(&s) < 0.1, "{discipline}: {} s", srtt(&s));
        // A Reno flow with no queue at all averages 3/4 of the pipe, 7.2 Mbit/s.
        assert!(number(&s, "goodput_mbps") > 7.2, "{discipline}: {}", s["goodput_mbps"]);
    }
}

/// RED keeps the mean queue between its thresholds: 5 to 15 packets of 1.16 ms.
#[test]
fn red_keeps_the_mean_queue_between_its_thresholds() {
    let s = deep("{ name = 'red', max = '30 packets' }", "");
    let waiting = (srtt(&s) - 0.0413) / 0.00116;
    assert!((4.0..30.0).contains(&waiting), "{waiting} packets wait on average");
}

/// An unresponsive flow of twice the link's rate beside a TCP: with one queue it takes nearly all, with FQ-CoDel half.
#[test]
fn fq_codel_isolates_a_tcp_from_a_flood() {
    let share = |discipline: &str| {
        let s = summary(
            &format!(
                "host = [{{ name = 'a' }}, {{ name = 'b' }}]
                 link = [{{ name = 'l', from = 'a', to = 'b', rate = '10 Mbit/s', delay = '10 ms', queue = '1000 packets', discipline = '{discipline}' }}]
                 connection = [
                     {{ name = 'tcp', protocol = 'tcp', client = 'a', server = 'b', paths = [['l']], transfer = {{ duration = '30 s' }} }},
                     {{ name = 'flood', protocol = 'udp', client = 'a', server = 'b', paths = [['l']], transfer = {{ rate = '20 Mbit/s', duration = '30 s' }} }},
                 ]"
            ),
            &[],
        );
        let tcp = s["connections"].as_array().unwrap().iter().find(|c| c["name"] == "tcp").unwrap();
        number(tcp, "goodput_mbps") / 10.0
    };
    let (mixed, apart) = (share("drop-tail"), share("fq-codel"));
    assert!(mixed < 0.05, "drop-tail leaves {mixed}");
    assert!((0.42..0.5).contains(&apart), "FQ-CoDel leaves {apart}");
}

/// Queue drops of an active discipline are counted as such, and every packet is accounted for: the run's own books balance.
#[test]
fn a_run_with_drops_at_the_head_completes() {
    for discipline in ["codel", "fq-codel", "red"] {
        let text = format!(
            "transfer = {{ bytes = '5 MB' }}
             path = [{{ rate = '5 Mbit/s', delay = '10 ms', queue = '40 packets', discipline = '{discipline}' }},
                     {{ rate = '2 Mbit/s', delay = '30 ms', queue = '30 kB', discipline = '{discipline}',
                        changes = [{{ at = '2 s', state = 'down' }}, {{ at = '4 s', state = 'up' }}] }}]"
        );
        let run = finish(&scenario(&text));
        assert_eq!(run.summary["status"], "completed", "{discipline}");
        assert_eq!(run.summary["bytes_delivered"], 5_000_000);
        let drops: u64 =
            run.summary["subflows"].as_array().unwrap().iter().map(|s| s["queue_drops"].as_u64().unwrap()).sum();
        assert!(drops > 0, "{discipline} never dropped");
    }
}

fn paced(stamps: &str, transfer: &str) -> Scenario {
    scenario(&format!(
        "connection = {{ protocol = 'udp', mss = 1472 }}
         transfer = {{ {transfer} }}
         path = [{{ trace_up = {stamps}, delay = '5 ms', queue = '10 packets' }}]"
    ))
}

/// ```text
/// opportunities 3 10 12 | 15 22 24 | ...; datagrams of 1500 octets every 4 ms from 0 on
/// ```
#[test]
fn packets_leave_at_the_opportunities_of_the_trace() {
    let (_, rows) = traced(&paced("[3, 10, 12]", "rate = '2.944 Mbit/s', bytes = '7360 B'"));
    let sent: Vec<_> = copies(&rows).iter().map(|c| c.sent.at / MS).collect();
    assert_eq!(sent, [0, 4, 8, 12, 16]);
    let arrived: Vec<_> = copies(&rows).iter().map(|c| (c.arrived[0] - 5 * MS) / MS).collect();
    // The one of 12 ms finds the opportunity at 12 taken by the one of 8 ms, and goes with that at 15 ms.
    assert_eq!(arrived, [3, 10, 12, 15, 22]);
}

/// 1500 octets each millisecond are 12 Mbit/s: a full link by trace and one by rate carry the same.
#[test]
fn a_steady_trace_is_a_rate() {
    let run = |path: &str| {
        summary(
            &format!(
                "transfer = {{ bytes = '20 MB' }}\npath = [{{ {path}, rate_down = '12 Mbit/s', delay = '20 ms' }}]"
            ),
            &[],
        )
    };
    let (by_trace, by_rate) = (run("trace_up = [1]"), run("rate_up = '12 Mbit/s'"));
    let ratio = number(&by_trace, "goodput_mbps") / number(&by_rate, "goodput_mbps");
    assert!((0.99..1.01).contains(&ratio), "{ratio}");
    let used = number(&by_trace["subflows"][0], "utilisation");
    assert!((0.95..=1.0).contains(&used), "utilisation {used}");
}

/// What an opportunity leaves is good for nobody: a packet a second over a trace of one a millisecond takes at most 1 ms to leave.
#[test]
fn a_sparse_flow_does_not_save_up_opportunities() {
    let (_, rows) = traced(&paced("[7, 20]", "rate = '11776 bit/s', bytes = '14720 B'"));
    let waits: Vec<_> = copies(&rows).iter().map(|c| c.arrived[0] - c.sent.at - 5 * MS).collect();
    assert_eq!(waits.len(), 10);
    assert!(waits.iter().all(|w| *w <= 13 * MS), "{waits:?}");
    assert!(copies(&rows).iter().zip(&waits).all(|(c, w)| matches!((c.sent.at + w) % (20 * MS) / MS, 0 | 7)));
    assert_eq!(copies(&rows)[9].sent.at, 9 * S);
}
