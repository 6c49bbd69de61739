//! Any octets as a capture file. The analysis ends, with a result or with one sentence that says why not.

use std::ops::ControlFlow;

use anabranch_lab::capture::analyze_octets;
use anabranch_lab::captured;
use anabranch_lab::scenario;
use anabranch_lab::sim::tap::Taps;

use super::kind;
use crate::Target;

/// The target.
pub const TARGET: Target = Target {
    name: "capture",
    holds: "the analysis of any file ends with a result, or with an error of a few lines",
    run,
    seeds,
};

/// A capture of a short transfer, and pieces of it in the other file format.
fn seeds() -> Vec<Vec<u8>> {
    let text =
        "transfer = { bytes = '4 kB' }\nconnection = { mss = 600, checksum = true }\npath = [{ loss = '5 %' }, {}]";
    let scenario = scenario::parse(text, "seed", &[], None).expect("it is valid");
    let files = std::sync::Arc::new(std::sync::Mutex::new(Vec::<Vec<u8>>::new()));
    let taps = Taps::new(&scenario, &mut |_| {
        let mut all = files.lock().expect("nobody panicked");
        all.push(Vec::new());
        Ok(Box::new(File { all: files.clone(), place: all.len() - 1 }))
    });
    captured(&scenario, None, Some(taps.expect("memory")), &mut |_| ControlFlow::Continue(()));
    let mut seeds = std::mem::take(&mut *files.lock().expect("nobody panicked"));
    // Classic pcap, raw IP: header, then a record with the first packet of the first file.
    let first = &seeds[0];
    if let Some(at) = first.windows(4).position(|w| w == [0x45, 0, 0, 64]) {
        let mut pcap = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0];
        pcap.extend([0; 8]);
        pcap.extend([0, 0, 4, 0, 101, 0, 0, 0]);
        pcap.extend([0; 8]);
        pcap.extend([64, 0, 0, 0, 64, 0, 0, 0]);
        pcap.extend(&first[at..at + 64]);
        seeds.push(pcap);
    }
    seeds
}

struct File {
    all: std::sync::Arc<std::sync::Mutex<Vec<Vec<u8>>>>,
    place: usize,
}

impl std::io::Write for File {
    fn write(&mut self, octets: &[u8]) -> std::io::Result<usize> {
        self.all.lock().expect("nobody panicked")[self.place].extend(octets);
        Ok(octets.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn run(octets: &[u8]) -> u64 {
    match analyze_octets(&[("input", octets)], None) {
        Ok(capture) => {
            let packets = capture.summary["connections"].as_array().map_or(0, Vec::len);
            kind((true, packets, capture.summary.to_string().len() / 64))
        }
        Err(error) => {
            let told = error.to_string();
            assert!(!told.is_empty() && told.lines().count() <= 3, "{told}");
            kind((false, told))
        }
    }
}
