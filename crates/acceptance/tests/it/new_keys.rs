//! Keys of links and hosts that have no field of their own: a policer, a variation of the delay in
//! time, the cost of a host.

use anabranch_sim::scenario::parse;
use serde_json::Value;

use super::support::{finish, scenario};

/// A bulk transfer from client to server over `path`, with further `tables`.
fn run(path: &str, tables: &str) -> Value {
    let text = format!("duration = '20 s'\n{tables}\n[transfer]\nduration = '10 s'\n{path}");
    finish(&scenario(&text)).summary
}

fn refused(path: &str) -> String {
    parse(&format!("[transfer]\n[[path]]\n{path}"), "t", &[], None).unwrap_err().to_string()
}

/// A constant-rate flow: what passes a token bucket in a time is the burst and the rate times the
/// time.
#[test]
fn a_policer_lets_its_rate_and_its_burst_pass() {
    let udp = "connection = { protocol = 'udp' }";
    let path =
        "[[path]]\nrate = '50 Mbit/s'\nqueue = '1000 packets'\npolicer = { rate = '8 Mbit/s', burst = '100 kB' }";
    let s = run(path, udp);
    let octets = s["bytes_delivered"].as_f64().unwrap();
    // IPv4 and UDP headers take tokens too: 28 of 1428 octets.
    let allowed = (8e6 / 8.0 * 10.0 + 100e3) * 1400.0 / 1428.0;
    assert!((octets / allowed - 1.0).abs() < 0.005, "{octets} of {allowed}");
    assert!(s["subflows"][0]["queue_drops"].as_u64().unwrap() > 1000, "{s}");
}

#[test]
fn a_policer_without_a_full_bucket_of_room_holds_tcp_down_as_no_queue_does() {
    let wide = run("[[path]]\nrate = '8 Mbit/s'\ndelay = '20 ms'", "");
    let policed =
        run("[[path]]\nrate = '50 Mbit/s'\ndelay = '20 ms'\npolicer_up = { rate = '8 Mbit/s', burst = '3 kB' }", "");
    let goodput = |s: &Value| s["goodput_mbps"].as_f64().unwrap();
    assert!(goodput(&policed) < 0.8 * goodput(&wide), "{} and {}", goodput(&policed), goodput(&wide));
    // Two segments pass at once, in a round trip of 40 ms: 0.56 Mbit/s, without what losses cost.
    assert!((0.3..1.0).contains(&goodput(&policed)), "{}", goodput(&policed));
}

#[test]
fn a_policer_needs_a_rate_and_a_burst_of_a_packet() {
    assert!(refused("policer = { rate = '1 Mbit/s' }").contains("path[0].policer.burst: missing"));
    assert!(refused("policer = { rate = '1 Mbit/s', burst = '100 B' }").contains("is out of range"));
    assert!(refused("policer = { rte = '1 Mbit/s' }").contains("did you mean \"rate\"?"));
    assert!(refused("policer = '1 Mbit/s'").contains("expected a table"));
}

/// 20 % of 10 ms are 2 ms: the same draws, so the same trace.
#[test]
fn a_variation_in_time_is_the_share_of_the_delay_that_it_is() {
    let hash = |variation: &str| {
        let text = format!("[transfer]\nbytes = '1 MB'\n[[path]]\ndelay = '10 ms'\ndelay_variation = '{variation}'");
        finish(&scenario(&text)).summary["trace_sha256"].clone()
    };
    assert_eq!(hash("20 %"), hash("2 ms"));
    assert_ne!(hash("20 %"), hash("3 ms"));
    // Longer than the delay: never below zero.
    assert_ne!(hash("30 ms"), hash("20 ms"));
    assert!(refused("delay_variation = '2 h'").contains("allowed: 0 ns to 1 h"));
    assert!(refused("delay_variation = '120 %'").contains("is not allowed"));
}

/// A segment takes a core 40 us, so a core handles 25,000 segments a second, acknowledgements
/// included.
#[test]
fn the_cost_of_a_host_bounds_what_two_fast_paths_carry() {
    let paths = "[[path]]\nrate = '700 Mbit/s'\ndelay = '5 ms'\n[[path]]\nrate = '700 Mbit/s'\ndelay = '5 ms'";
    let goodput = |host: &str| {
        let s = run(paths, host);
        (s["goodput_mbps"].as_f64().unwrap(), s["hosts"][1]["cpu_busy"].as_f64())
    };
    let (free, none) = goodput("");
    let (one, busy) = goodput("[host]\ncost = '40 us'");
    let (two, _) = goodput("[host]\ncost = '40 us'\ncores = 2");
    assert_eq!(none, None);
    // Two segments of 1400 octets and an acknowledgement: three times 40 us.
    let most = 2.0 * 1400.0 * 8.0 / 120.0;
    assert!(free > 2.0 * one, "{free} and {one} Mbit/s");
    assert!(one < 1.01 * most && one > 0.8 * most, "{one} of {most} Mbit/s");
    assert!(busy.unwrap() > 0.9, "{busy:?}");
    // The share of the connection's time leaves out what came before it.
    let late = |busy: &serde_json::Value| (busy["cpu_busy"].clone(), busy["connections"][0]["cpu_busy"].clone());
    let text = format!("[host]\ncost = '40 us'\n[transfer]\nduration = '1 s'\nstart = '1 s'\n{paths}");
    let (of_run, of_connection) = late(&finish(&scenario(&text)).summary["hosts"][1]);
    assert!(of_run.as_f64().unwrap() < 0.6 && of_connection.as_f64().unwrap() > 0.9, "{of_run} {of_connection}");
    // The send buffer, in which the segments wait for their cores, keeps it from twice as much.
    assert!(two > 1.4 * one, "{two} and {one} Mbit/s");
}

/// Values that are the default leave the resolved scenario as it was before the keys existed.
#[test]
fn a_resolved_scenario_has_new_keys_only_where_they_differ() {
    let json = |text: &str| parse(text, "t", &[], None).unwrap().to_json();
    let plain = json("[transfer]\n[[path]]");
    assert_eq!(json("[host]\ncost = '0 s'\ncores = 1\n[transfer]\n[[path]]\ndelay_variation = '0 %'"), plain);
    let policed =
        json("[host]\ncost = '2 us'\n[transfer]\n[[path]]\npolicer_down = { rate = '1 Mbit/s', burst = '10 kB' }");
    assert_eq!(policed["links"][0]["down"]["policer"]["rate_bps"], 1_000_000);
    assert_eq!(policed["links"][0]["down"]["policer"]["burst_bytes"], 10_000);
    assert_eq!(policed["links"][0]["up"], plain["links"][0]["up"]);
    assert_eq!(
        (policed["host"][1]["name"].as_str(), policed["host"][1]["cost_s"].as_f64()),
        (Some("server"), Some(2e-6))
    );
    let timed = json("[transfer]\n[[path]]\ndelay_variation = '2 ms'");
    assert_eq!(timed["links"][0]["up"]["delay_variation_s"], 0.002);
    assert_eq!(json("[transfer]\n[[path]]\ndelay_variation = '0 ms'"), plain);
}
