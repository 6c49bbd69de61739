//! Analyses captures and prints the summary as JSON: `analyze FILE...`. To have some: `analyze --record DIR SCENARIO
//! [KEY=VALUE ...]` writes the captures of a run into the directory. `benches/run` uses both.

use std::fs::File;
use std::io::BufWriter;
use std::ops::ControlFlow;
use std::path::Path;

use anabranch_sim::run::Runner;
use anabranch_sim::scenario;
use anabranch_sim::sim::tap::Taps;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["--record", directory, file, overrides @ ..] => record(Path::new(directory), file, overrides),
        _ => anabranch_capture::analyze(&arguments, None, None, false, &mut |_| ControlFlow::Continue(()), None)
            .map(|mut capture| {
                capture.summary["peak_kib"] = peak_kib().into();
                println!("{:#}", capture.summary);
            })
            .map_err(|error| error.to_string()),
    };
    if let Err(message) = done {
        eprintln!("{message}");
        std::process::exit(2);
    }
}

fn record(directory: &Path, file: &str, overrides: &[&str]) -> Result<(), String> {
    let text = std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
    let pairs: Vec<_> =
        overrides.iter().filter_map(|o| o.split_once('=')).map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let scenario = scenario::parse(&text, file, &pairs, None).map_err(|e| e.to_string())?;
    let taps = Taps::new(&scenario, &mut |name| Ok(Box::new(BufWriter::new(File::create(directory.join(name))?))));
    let taps = taps.map_err(|e| format!("{}: {e}", directory.display()))?;
    let run = Runner::new(&scenario).captures(taps).run();
    run.capture_error.map_or(Ok(()), |e| Err(e.to_string()))
}

/// Largest resident set of the process so far, if the system tells.
fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}
