//! Controllers by themselves: on one path a coupled controller is a TCP, and what wVegas keeps in the queues of one path and of two.

use serde_json::Value;

use crate::statistics::mean;
use crate::support::{close, example, number, summary};
use crate::targets::shared;

/// A transfer over one path of 10 Mbit/s with some loss.
fn alone(controller: &str, more: &str) -> Value {
    let text = format!(
        "connection = {{ controller = '{controller}', {more} }}
         transfer = {{ bytes = '5 MB' }}
         path = [{{ rate = '10 Mbit/s', delay = '20 ms', queue = '40 packets', loss = '0.1 %' }}]"
    );
    summary(&text, &[])
}

/// The increase is a share of NewReno's, and the share is one: every event is the same, whether the receiver delays its
/// acknowledgements, and with Multipath TCP or without.
#[test]
fn counting_controllers_on_one_path_are_newreno_to_the_last_event() {
    for more in ["protocol = 'tcp'", "delayed_ack = 'off'", "protocol = 'mptcp', sack = false"] {
        let newreno = alone("uncoupled", more);
        assert!(number(&newreno["subflows"][0]["retransmissions_fast"]) > 3.0, "{newreno}");
        for controller in ["olia", "balia", "aimd"] {
            assert_eq!(alone(controller, more)["trace_sha256"], newreno["trace_sha256"], "{controller}, {more}");
        }
    }
}

/// Those that add a fraction of a segment with each acknowledgement (RFC 6356 3) send a segment earlier than one that waits for a
/// whole one (RFC 3465): not the same events, but the same rate within three per cent. Acknowledgements are not delayed, for
/// those that count them.
#[test]
fn coupled_controllers_on_one_path_are_newreno_but_for_fractions() {
    let more = "delayed_ack = 'off'";
    let newreno = number(&alone("uncoupled", more)["goodput_mbps"]);
    for controller in ["coupled", "rtt-compensator", "linked-increases", "fully-coupled", "ewtcp"] {
        let goodput = number(&alone(controller, more)["goodput_mbps"]);
        println!("{controller}: {:.4}", goodput / newreno);
        close(goodput / newreno, 1.0, 0.03);
    }
}

/// Two paths with loss that nothing else limits; the second costs `cost`. The part of the traffic that goes there, and the goodput.
fn second(controller: &str, cost: f64) -> (f64, f64, Value) {
    let path = "rate = '100 Mbit/s', delay = '20 ms', loss_up = '0.5 %'";
    let text = format!(
        "connection = {{ controller = '{controller}', delayed_ack = 'off' }}
         transfer = {{ duration = '200 s' }}
         path = [{{ {path} }}, {{ {path}, cost = {cost:?} }}]"
    );
    let s = summary(&text, &[]);
    let goodput = number(&s["goodput_mbps"]);
    (number(&s["subflows"][1]["goodput_mbps"]) / goodput, goodput, s["trace_sha256"].clone())
}

/// At equal costs every event is `coupled`'s. With windows as weight / p the second path's share is 1 / (1 + cost); the total stays below
/// what equal costs give.
#[test]
fn energy_linked_spares_the_costly_path() {
    assert_eq!(second("energy-linked", 1.0).2, second("coupled", 1.0).2);
    let found: Vec<_> = [1.0, 2.0, 4.0, 8.0].into_iter().map(|cost| (cost, second("energy-linked", cost))).collect();
    for (cost, (share, goodput, _)) in &found {
        println!("cost {cost}: share {share:.3} of {goodput:.2} Mbit/s");
        close(*share, 1.0 / (1.0 + cost), 0.07);
        assert!(*goodput < 1.05 * found[0].1.1, "{goodput}");
    }
    assert!(found.windows(2).all(|w| w[1].1.0 < w[0].1.0));
}

/// Floyd, Handley and Padhye 2000 have losses at even distances: there a = 3 (1 - b) / (1 + b) is a TCP's share for any b. Where losses fall by
/// chance, one by one, a window rests where a / w = (1 - b) w p, at sqrt(a / ((1 - b) p)): sqrt(3 / (2 (1 + b))) of NewReno's sqrt(2 / p). With
/// a = 1 and b = 0.875 it is twice that.
#[test]
fn aimd_has_the_window_of_its_parameters() {
    let rate = |controller: &str| {
        let text = format!(
            "connection = {{ protocol = 'tcp', controller = {controller}, delayed_ack = 'off' }}
             transfer = {{ duration = '300 s' }}
             path = [{{ rate = '100 Mbit/s', delay = '20 ms', loss_up = '0.5 %' }}]"
        );
        number(&summary(&text, &[])["goodput_mbps"])
    };
    let newreno = rate("'uncoupled'");
    for b in [0.7, 0.875] {
        let part = rate(&format!("{{ name = 'aimd', b = {b} }}")) / newreno;
        println!("b = {b}: {part:.3}");
        close(part, (1.5_f64 / (1.0 + b)).sqrt(), 0.05);
    }
    let part = rate("{ name = 'aimd', a = 1.0, b = 0.875 }") / newreno;
    println!("a = 1, b = 0.875: {part:.3}");
    close(part, 2.0, 0.1);
}

/// Two subflows through one bottleneck, the second at four times the cost: with weights that are one or less they take no more than a TCP beside
/// them, and nothing of the link is left.
#[test]
fn energy_linked_does_no_harm() {
    let text = example("shared-bottleneck");
    let set = ["connection.0.controller=energy-linked", "connection.0.delayed_ack=off", "connection.1.delayed_ack=off"];
    for cost in ["1.0", "4.0"] {
        let runs = shared(&text, &[&set[..], &[&format!("link.1.cost={cost}")]].concat(), 2);
        let part = mean(&runs.iter().map(|g| g[0] / g[1]).collect::<Vec<_>>());
        println!("cost {cost}: {part:.3} of a TCP");
        assert!(part < 1.25, "{runs:?}");
    }
}

/// Segments that stand in the queues of equal paths of 12 Mbit/s and 40 ms, and goodputs.
fn queued(paths: usize, controller: &str) -> Vec<(f64, f64)> {
    let path = "{ rate = '12 Mbit/s', delay = '20 ms', queue = '200 packets' }";
    let text = format!(
        "connection = {{ controller = {controller}, receive_buffer = '8 MB' }}
         transfer = {{ duration = '60 s' }}
         path = [{}]",
        vec![path; paths].join(", ")
    );
    let s = summary(&text, &[]);
    let queued = |s: &Value| {
        // A packet of 1500 octets takes a millisecond.
        let (srtt, cwnd) = (number(&s["srtt_ms"]), number(&s["cwnd_mean_segments"]));
        (cwnd * (srtt - 41.0) / srtt, number(&s["goodput_mbps"]))
    };
    s["subflows"].as_array().expect("a list").iter().map(queued).collect()
}

/// Alone, wVegas keeps its ten segments in the queue; over two equal paths five in each.
#[test]
fn wvegas_keeps_ten_segments_in_queues() {
    let controller = "{ name = 'wvegas', drain = 0 }";
    for (paths, wanted) in [(1, 10.0), (2, 5.0)] {
        let found = queued(paths, controller);
        println!("{paths}: {found:.3?}");
        for (segments, goodput) in found {
            close(segments, wanted, 1.0);
            assert!(goodput > 11.2, "{goodput}");
        }
    }
}

/// The authors' module lets the window give way whenever the queueing delay is twice the least one seen since it last did. The least
/// may be that of the sender's own bursts on an empty path: then the rule strikes before there is a queue, and a third of the path
/// stays unused.
#[test]
fn wvegas_that_drains_leaves_a_third_of_an_empty_path() {
    let (segments, goodput) = queued(1, "'wvegas'")[0];
    println!("{segments:.2} segments, {goodput:.2} Mbit/s");
    assert!(segments < 5.0 && (6.0..9.5).contains(&goodput), "{segments} {goodput}");
}
