//! Any octets as a capture file. The analysis ends, with a result or with one sentence that says why not.

use anabranch_capture::analyze_octets;
use anabranch_sim::run::Runner;
use anabranch_sim::scenario;
use anabranch_sim::sim::tap::Taps;

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
    Runner::new(&scenario).captures(taps.expect("memory")).run();
    let mut seeds = std::mem::take(&mut *files.lock().expect("nobody panicked"));
    // Classic pcap with the first packet of the first file, raw and in tunnels.
    let first = &seeds[0];
    if let Some(at) = first.windows(4).position(|w| w == [0x45, 0, 0, 64]) {
        let packet = first[at..at + 64].to_vec();
        seeds.extend(AROUND.iter().map(|(link, header)| pcap(*link, header, &packet)));
    }
    seeds
}

/// Link types and what stands before the packet: each tunnel, and each kind of link, once.
const AROUND: &[(u8, &[&[u8]])] = &[
    (101, &[]),
    (1, &[MAC, &[0x81, 0, 0, 7, 0x88, 0x47, 0, 1, 1, 0x40]]),
    (1, &[MAC, &[0x88, 0x64, 0x11, 0, 0, 1, 0, 66, 0, 0x21]]),
    (1, &[MAC, &[0, 72, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0]]),
    (101, &[&IP, &[4], ENDS]),
    (101, &[&IP, &[47], ENDS, &[0xf0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0, 0]]),
    (101, &[&IP, &[47], ENDS, &[0x10, 0, 0x88, 0xbe, 0, 0, 0, 1, 0x10, 1, 0, 7, 0, 0, 0, 0], MAC, &[8, 0]]),
    (101, &[&IP, &[47], ENDS, &[0x10, 0, 0x22, 0xeb, 0, 0, 0, 1, 0x20, 1, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0], MAC, &[8, 0]]),
    (101, &[&IP, &[17], ENDS, &[0, 9, 0x12, 0xb5, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 5, 0], MAC, &[8, 0]]),
    (101, &[&IP, &[17], ENDS, &[0, 9, 0x17, 0xc1, 0, 0, 0, 0, 1, 0, 8, 0, 0, 0, 5, 0, 1, 2, 3, 0]]),
    (101, &[&IP, &[17], ENDS, &[0, 9, 8, 0x68, 0, 0, 0, 0, 0x34, 255, 0, 72, 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0, 9, 0]]),
    (101, &[&IP, &[17], ENDS, &[0, 9, 6, 0xa5, 0, 0, 0, 0, 0, 2, 0, 1, 0, 2, 0xff, 3, 0, 0x21]]),
    (101, &[&[0x45, 0, 0, 84, 0, 7, 0x20, 0, 64, 6], ENDS]),
    (101, &[&[0x60, 0, 0, 0, 0, 72, 44, 64], &[1; 32], &[4, 0, 0, 1, 0, 0, 0, 7]]),
    (104, &[&[0x0f, 0, 8, 0]]),
    (105, &[&[0x88, 1, 0, 0], &[2; 18], &[0x10, 0, 0x80, 0], MAC, &[0, 72, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0]]),
    (127, &[&[0, 0, 9, 0, 2, 0, 0, 0, 0x10, 8, 1, 0, 0], &[2; 18], &[0x10, 0, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0]]),
    (239, &[&[2, 0, 0, 0, 8, 0, 1, 0, 8, 0, 3, 0, 68, 0, 9, 0]]),
];
const MAC: &[u8] = &[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
/// IPv4 up to the time to live, and from the checksum on; the length is that of offloading, zero.
const IP: [u8; 9] = [0x45, 0, 0, 0, 0, 7, 0x40, 0, 64];
const ENDS: &[u8] = &[0, 0, 192, 0, 2, 1, 192, 0, 2, 2];

/// A classic capture with one record.
fn pcap(link: u8, header: &[&[u8]], packet: &[u8]) -> Vec<u8> {
    let frame = [header.concat().as_slice(), packet].concat();
    let mut pcap = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0];
    pcap.extend([0; 8]);
    pcap.extend([0, 0, 4, 0, link, 0, 0, 0]);
    pcap.extend([0; 8]);
    pcap.extend([frame.len() as u32; 2].iter().flat_map(|n| n.to_le_bytes()));
    pcap.extend(frame);
    pcap
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
