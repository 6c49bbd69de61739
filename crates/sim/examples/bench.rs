//! Runs a scenario again and again and prints, as one line of JSON, how much work that was and what it took:
//! `cargo run --release --example bench -- FILE [KEY=VALUE ...] [--seconds S] [--read]`. `benches/run` calls it.
//!
//! - `runs`, `segments` (data segments sent, retransmissions included) and `events`, of all runs together
//! - `seconds`: user time of the runs by the kernel's account (Linux; `clock` is "user"), elsewhere wall time ("wall")
//! - `peak_kib`: largest resident set of the process so far, if the system tells
//!
//! Without `--seconds` there is one run, else as many as it takes for that much time. With `--read` the scenario is read and
//! not run; `connections` is how many it has. FILE `-` is standard input.

use std::io::Read;
use std::ops::ControlFlow;
use std::process::exit;
use std::time::Instant;

use anabranch_sim::scenario::{self, Scenario};
use serde_json::json;

fn main() {
    let mut file = None;
    let mut overrides = Vec::new();
    let mut seconds = 0.0;
    let mut only_read = false;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        if arg == "--seconds" {
            seconds = args.next().and_then(|s| s.parse().ok()).unwrap_or_else(|| fail("--seconds needs a number"));
        } else if arg == "--read" {
            only_read = true;
        } else if file.is_none() {
            file = Some(arg);
        } else if let Some((key, value)) = arg.split_once('=') {
            overrides.push((key.to_string(), value.to_string()));
        } else {
            fail(&format!("{arg:?} is not KEY=VALUE"));
        }
    }
    let file = file.unwrap_or_else(|| fail("usage: bench FILE [KEY=VALUE ...] [--seconds S] [--read]"));
    let text = read(&file).unwrap_or_else(|error| fail(&format!("{file}: {error}")));
    let scenario = scenario::parse(&text, &file, &overrides, None).unwrap_or_else(|error| fail(&error.to_string()));
    if only_read {
        println!("{}", json!({ "connections": scenario.connections.len(), "peak_kib": peak_kib() }));
        return;
    }
    println!("{}", measure(&scenario, seconds));
}

fn measure(scenario: &Scenario, seconds: f64) -> serde_json::Value {
    let wall = Instant::now();
    let user = user_seconds();
    let elapsed = || match (user, user_seconds()) {
        (Some(from), Some(to)) => to - from,
        _ => wall.elapsed().as_secs_f64(),
    };
    let (mut runs, mut segments, mut events) = (0, 0, 0);
    while runs == 0 || elapsed() < seconds {
        let summary = anabranch_sim::run(scenario, None, &mut |_| ControlFlow::Continue(())).summary;
        let count = |key: &str| summary[key].as_u64().unwrap_or(0);
        if summary["status"] != "completed" || summary["content_ok"] != true {
            fail(&format!("the transfer did not complete: {summary}"));
        }
        runs += 1;
        segments += count("segments");
        events += count("events");
    }
    json!({
        "runs": runs,
        "segments": segments,
        "events": events,
        "seconds": elapsed(),
        "clock": if user.is_some() { "user" } else { "wall" },
        "peak_kib": peak_kib(),
    })
}

fn read(file: &str) -> std::io::Result<String> {
    if file == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        return Ok(text);
    }
    std::fs::read_to_string(file)
}

/// User time of this process, in steps of 10 ms: field 14 of /proc/self/stat, in ticks of 1/100 s on every common
/// Linux. The second field, the program's name in parentheses, may hold anything, so counting begins after it.
fn user_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks: u64 = fields.split_whitespace().nth(11)?.parse().ok()?;
    Some(ticks as f64 / 100.0)
}

fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

fn fail(message: &str) -> ! {
    eprintln!("{message}");
    exit(2)
}
