//! The 2011 model against runs of the original:
//! `studies/alheid_2014_aina/expected/legacy-measured.csv`.
//!
//! Random streams differ, so distributions are compared: over ten seeds, the central 80 % of ours
//! must overlap the range of theirs, widened by 5 % of goodput and 2 points of out-of-order ratio.
//! Without recovery, where little is left to chance, the means must agree to 1 %, half a point and
//! two packets.
//!
//! The original counts its goodput from the first write, one second after the connection is up, and
//! not from the SYN; the points of the last section, given to two or three digits, are compared on
//! that count.

use std::collections::HashMap;

use serde_json::Value;

use crate::support::{close, count, finish, number, on_two_threads, traced, with};
use crate::trace::Event;

const SEEDS: usize = 10;

/// The scenario of the measurements, with 50 MB.
const SCENARIO: &str = "stack = 'legacy-2011'
    duration = '60000 s'
    [connection]
    [transfer]
    bytes = '50 MB'
    [[path]]
    rate = '0.5 Mbit/s'
    delay = '10 ms'
    delay_variation = '5 %'
    [[path]]
    rate = '0.5 Mbit/s'
    delay = '200 ms'
    delay_variation = '5 %'
";

fn overrides(controller: &str, recovery: &str, delay_ms: f64, seed: usize) -> Vec<String> {
    vec![
        format!("connection.controller={controller}"),
        format!("connection.recovery={recovery}"),
        format!("path.1.delay={delay_ms} ms"),
        format!("seed={seed}"),
    ]
}

fn run(controller: &str, recovery: &str, delay_ms: f64, seed: usize, more: &[&str]) -> Value {
    let own = overrides(controller, recovery, delay_ms, seed);
    let all: Vec<&str> = own.iter().map(String::as_str).chain(more.iter().copied()).collect();
    finish(&with(SCENARIO, &all)).summary
}

/// Goodput in Mbit/s from the first write, one second after the 21.664 ms that the handshake of subflow 0 takes.
fn since_first_write(s: &Value) -> f64 {
    assert_eq!(s["status"], "completed", "{}", s["goodput_mbps"]);
    number(&s["bytes_delivered"]) * 8.0 / (number(&s["completion_s"]) - 1.021_664) / 1e6
}

/// One row of the reference.
struct Reference(HashMap<String, String>);

impl Reference {
    fn rows() -> Vec<Self> {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies/alheid_2014_aina/expected/legacy-measured.csv");
        let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{file}: {e}"));
        let mut lines = text.lines().filter(|l| !l.starts_with('#')).map(|l| l.split(',').map(str::to_string));
        let names: Vec<String> = lines.next().expect("a heading").collect();
        let rows: Vec<Self> = lines.map(|l| Self(names.iter().cloned().zip(l).collect())).collect();
        assert_eq!(rows.len(), 40);
        rows
    }

    fn word(&self, name: &str) -> &str {
        &self.0[name]
    }

    fn number(&self, name: &str) -> f64 {
        self.0[name].parse().unwrap_or_else(|_| panic!("{name} is no number"))
    }

    fn name(&self) -> String {
        format!("{} {} {} s", self.word("controller"), self.word("recovery"), self.word("sf1_delay_s"))
    }
}

/// The value below which the share `p` of `values` lies, linear between neighbours.
fn quantile(values: &[f64], p: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = p * (sorted.len() - 1) as f64;
    let (below, share) = (at.floor() as usize, at.fract());
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * share
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn compare(rows: &[Reference]) {
    let cells: Vec<(usize, usize)> = (0..rows.len()).flat_map(|r| (1..=SEEDS).map(move |s| (r, s))).collect();
    let runs = on_two_threads(&cells, |&(r, seed)| {
        let row = &rows[r];
        let delay = row.number("sf1_delay_s") * 1000.0;
        let s = run(row.word("controller"), row.word("recovery"), delay, seed, &[]);
        assert_eq!(s["status"], "completed", "{} seed {seed}", row.name());
        [number(&s["goodput_mbps"]), number(&s["ooo_ratio"]) * 100.0, number(&s["ooo_buffer_max_packets"])]
    });
    let mut failed = Vec::new();
    for (row, ours) in rows.iter().zip(runs.chunks(SEEDS)) {
        let [goodput, ooo, buffer] = [0, 1, 2].map(|i| ours.iter().map(|o| o[i]).collect::<Vec<f64>>());
        let mut overlaps = |name: &str, values: &[f64], least: f64, most: f64| {
            let (low, high) = (quantile(values, 0.1), quantile(values, 0.9));
            if high < least || low > most {
                failed
                    .push(format!("{}: {name} {low:.4} to {high:.4}, not within {least:.4} to {most:.4}", row.name()));
            }
        };
        let (least, most) = (row.number("goodput_mbps_min"), row.number("goodput_mbps_max"));
        overlaps("goodput", &goodput, 0.95 * least, 1.05 * most);
        let (least, most) = (row.number("ooo_ratio_pct_min"), row.number("ooo_ratio_pct_max"));
        overlaps("out-of-order ratio", &ooo, least - 2.0, most + 2.0);
        if row.word("recovery") == "none" {
            let wanted = row.number("goodput_mbps_mean");
            close(mean(&goodput), wanted, 0.01 * wanted);
            close(mean(&ooo), row.number("ooo_ratio_pct_mean"), 0.5);
            close(mean(&buffer), row.number("ooo_buffer_packets_mean"), 2.0);
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// The rows of the main tables, for which the original was run with several seeds; two of the controllers.
#[test]
fn the_main_tables_agree_with_the_original() {
    let several = |r: &Reference| r.number("n") > 1.0 && r.word("controller") != "rtt-compensator";
    let rows: Vec<Reference> = Reference::rows().into_iter().filter(several).collect();
    assert_eq!(rows.len(), 10);
    compare(&rows);
}

#[test]
#[ignore = "long"]
fn every_row_agrees_with_the_original() {
    compare(&Reference::rows());
}

// ---- points that the file does not hold ---------------------------------------------------------

/// Equal links without variation: both subflows in step. 0.896, 0.942, 0.637 Mbit/s.
#[test]
fn equal_and_constant_delays_agree_to_three_digits() {
    for (controller, wanted) in [("uncoupled", 0.896), ("rtt-compensator", 0.942), ("fully-coupled", 0.637)] {
        let constant = ["path.0.delay_variation=0 %", "path.1.delay_variation=0 %"];
        close(since_first_write(&run(controller, "none", 10.0, 1, &constant)), wanted, 0.000_6);
    }
}

/// A delay variation of half a millisecond on one link removes the high goodput of equal links:
/// 0.49 to 0.50 Mbit/s remain.
#[test]
fn the_least_variation_breaks_the_step_of_equal_links() {
    for controller in ["uncoupled", "rtt-compensator", "fully-coupled"] {
        for more in ["path.0.delay_variation=0 %", "path.1.delay_variation=0 %"] {
            let goodput = since_first_write(&run(controller, "none", 10.0, 1, &[more]));
            assert!((0.485..0.505).contains(&goodput), "{controller} {more} {goodput}");
        }
    }
}

/// With a standard receiver the senders of the model reach 0.949 to 0.958 Mbit/s for all
/// controllers and delays, and at most 332 packets are parked. So the model's receiver causes the
/// low goodput. The test compares medians of five seeds: at 500 ms segments overtake each other,
/// and two of five seeds with the uncoupled controller lose 1 % of goodput by this reordering.
#[test]
fn with_a_standard_receiver_the_same_senders_fill_both_links() {
    let mut cells = Vec::new();
    for controller in ["uncoupled", "fully-coupled", "rtt-compensator"] {
        for delay in [10.0, 100.0, 200.0, 300.0, 500.0] {
            cells.extend((1..=5).map(|seed| (controller, delay, seed)));
        }
    }
    let runs = on_two_threads(&cells, |&(controller, delay, seed)| {
        let own = overrides(controller, "none", delay, seed);
        let mut s = with(SCENARIO, &own.iter().map(String::as_str).collect::<Vec<_>>());
        s.connections[0].legacy.as_mut().expect("it is the model").standard_receiver = true;
        let s = finish(&s).summary;
        [since_first_write(&s), number(&s["ooo_buffer_max_packets"])]
    });
    for (cell, of_cell) in cells.chunks(5).zip(runs.chunks(5)) {
        let [goodput, parked] = [0, 1].map(|i| quantile(&of_cell.iter().map(|r| r[i]).collect::<Vec<f64>>(), 0.5));
        assert!((0.9485..0.9585).contains(&goodput), "{:?} {goodput}", cell[0]);
        assert!(parked <= 340.0, "{:?} {parked}", cell[0]);
    }
}

/// NoPR, uncoupled, 10 and 200 ms. Of 1409 data segments that subflow 1 received 402 were parked in silence and 1004 with a
/// duplicate acknowledgement; 201 fast retransmissions, all spurious, and no queue drop.
#[test]
fn the_starved_subflow_is_cut_without_a_loss() {
    let own = overrides("uncoupled", "none", 200.0, 1);
    let (run, rows) = traced(&with(SCENARIO, &own.iter().map(String::as_str).collect::<Vec<_>>()));
    let starved = &run.summary["subflows"][1];
    assert_eq!(count(&starved["queue_drops"]), 0);
    close(number(&starved["retransmissions_fast"]), 201.0, 4.0);
    assert_eq!(starved["spurious"], starved["retransmissions_fast"]);
    let (mut seen, mut silent, mut duplicates) = (std::collections::HashSet::new(), 0.0, 0.0);
    for pair in rows.windows(2).filter(|p| p[0].is(Event::Arrive) && p[0].has_data() && p[0].tuple == 1) {
        // What follows at the same time is what the arrival caused.
        if seen.insert(pair[0].offset) && !pair[1].is(Event::Deliver) {
            let answered = pair[1].at == pair[0].at && !pair[1].client && pair[1].is(Event::Send);
            *if answered { &mut duplicates } else { &mut silent } += 1.0;
        }
    }
    close(seen.len() as f64, 1409.0, 14.0);
    close(silent, 402.0, 8.0);
    close(duplicates, 1004.0, 10.0);
}

/// A queue of 20 packets overflows in slow start: one segment per timeout, whose length doubles each time. No end in
/// 60 000 s.
#[test]
fn short_queues_livelock_without_recovery_and_with_door_and_d_sack() {
    let short = ["path.0.queue=20 packets", "path.1.queue=20 packets"];
    for recovery in ["none", "door", "dsack"] {
        for controller in ["uncoupled", "fully-coupled", "rtt-compensator"] {
            let s = run(controller, recovery, 200.0, 1, &short);
            assert_eq!(s["status"], "stalled", "{controller} {recovery}");
            assert!(count(&s["bytes_delivered"]) < 500_000);
        }
    }
}

/// F_RTO by the hour: at a quarter, half and the end of the wall clock's period 0.73, 0.64 and 0.48 Mbit/s (uncoupled, 10
/// and 100 ms), each one run of the original, against the median of five of ours.
#[test]
fn f_rto_depends_on_the_share_of_acknowledgements_discarded() {
    for (position, wanted) in [(0.25, 0.73), (0.5, 0.64), (1.0, 0.48)] {
        let discard = format!("connection.ack_discard={}", 0.061 * position);
        let runs: Vec<f64> =
            (1..=5).map(|s| since_first_write(&run("uncoupled", "frto", 100.0, s, &[&discard]))).collect();
        close(quantile(&runs, 0.5), wanted, 0.03);
    }
}

/// If F_RTO discards no acknowledgements, it performs like TCP-DOOR, which only ignores duplicates.
#[test]
fn f_rto_without_discarding_is_like_door() {
    let median = |recovery, more: &[&str]| {
        let runs: Vec<f64> =
            (1..=5).map(|s| since_first_write(&run("rtt-compensator", recovery, 100.0, s, more))).collect();
        quantile(&runs, 0.5)
    };
    close(median("frto", &["connection.ack_discard=0.0"]), median("door", &[]), 0.01);
}

/// Eifel on paths of 10 and 500 ms: Eifel restores the window even after a genuine loss. The
/// restored window overflows the queue, and each lost segment needs a longer timeout than the
/// segment before.
///
/// The lowest goodput of the original's runs is 0.20 Mbit/s. For each controller here, few of 30
/// seeds stay below it, and none below 0.1 Mbit/s. Runs with linked increases can almost stop
/// (docs/legacy.md).
#[test]
fn few_runs_of_eifel_all_but_stop_on_unlike_paths() {
    const RUNS: usize = 30;
    for (controller, most) in [("uncoupled", 2), ("fully-coupled", 4), ("rtt-compensator", 3)] {
        let seeds: Vec<usize> = (1..=RUNS).collect();
        let goodput =
            on_two_threads(&seeds, |&seed| number(&run(controller, "eifel", 500.0, seed, &[])["goodput_mbps"]));
        let low = goodput.iter().filter(|g| **g < 0.2).count();
        assert!(low <= most, "{controller}: {low} of {RUNS} below 0.2");
        assert!(goodput.iter().all(|g| *g > 0.1), "{controller}: {goodput:?}");
    }
}
