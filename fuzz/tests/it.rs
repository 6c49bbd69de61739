//! Every target, briefly, and on the inputs in `corpus/`; ten minutes each with `make check-long`; and what was once found.

use std::path::Path;
use std::time::Duration;

use anabranch_fuzz::TARGETS;
use anabranch_fuzz::driver::{Until, drive};

fn short(name: &str, runs: u64) {
    let target = TARGETS.iter().find(|t| t.name == name).expect("a target");
    let report = drive(target, 1, Until::Runs(runs));
    assert_eq!(report.runs, runs.max(report.runs));
    // Something else than refusals was seen.
    assert!(report.kinds > 20, "{report:?}");
}

fn long(name: &str) {
    let minutes = std::env::var("ANABRANCH_FUZZ_MINUTES").ok().and_then(|m| m.parse().ok()).unwrap_or(10);
    let target = TARGETS.iter().find(|t| t.name == name).expect("a target");
    let report = drive(target, 2, Until::Time(Duration::from_secs(60 * minutes)));
    println!("{name}: {} inputs of {} kinds", report.runs, report.kinds);
}

/// Every input that is kept, once.
fn kept(name: &str) {
    let target = TARGETS.iter().find(|t| t.name == name).expect("a target");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let mut inputs = 0;
    for file in folder.read_dir().expect("a folder") {
        let file = file.expect("a file").path();
        println!("{}", file.display());
        (target.run)(&std::fs::read(file).expect("octets"));
        inputs += 1;
    }
    assert!(inputs > 30, "{inputs} inputs are kept");
}

/// What was found, and is mended.
const FOUND: &[(&str, &str, &str)] = &[
    (
        "endpoint",
        "MP_FAIL beside a DATA_FIN by itself, its checksum and timestamps: 48 octets of options",
        "6f0f50c2f03b8cf8eabcef92b3dd19a304a43baf264912804e4575545d2f3f5bac4b8748608305a16ca5f65d5952dd44f95e56e7edf9b0\
         6598f06b28460c27d344b6234cb5e1a75935c1b7e1ae5d778b3541abc8d5996aece57867444139c8f471259503841b64ca014df03e9358\
         214960f60cbdf9f235a8c63c3cf0db8c1aa011c708",
    ),
    (
        "endpoint",
        "coupled acknowledgement: a segment covers one that is parked (false assertion in the queue of held segments)",
        "d93add9db3a9531eb2621f31997c4d1d24d08974df06f42184aad30a1f8bf1e81cb3083c4abc7cfe00f0412bdb61d6677258753e8c2f8c\
         2f03ce3dbafe2a714868dadbf1e62d2cf174f201a5a304bc5b4ca73b2207d4244c6618a1f681a2766fc22ff05e7daad30a1f8bf1e81cb3\
         072c4abc7cfe00f0412bdb61d667725875d95482ee0eb9ee304bc9111b2efab78ddedad88a2a2f2bd0b3d7f65ec624ee660173b3c4956e\
         4fad1384a0874d9603b22f7622b8956e4fad1384a0874d9603b22f7622b823d0ac4a849e5484c0a2731d39315951568c164cf9661e521f\
         34cd9310c1051c762108e94b0a0d729b9035af583372f5ab569bcb53a2178db44a8d68968fa8d42a47bc0870cac60aba1d46962a3b94a2\
         a3a2a3f739fce81cfb84d6159869d371a219497108ac60455c31c0c9ff1d8959d1bd5493b49d57093243d069781e9d756ad5b1c11c54b4\
         5ba06d610731a54318a3607047bd0aa079b490a125",
    ),
];

#[test]
fn what_was_found_is_mended() {
    for (name, what, hex) in FOUND {
        let target = TARGETS.iter().find(|t| t.name == *name).expect("a target");
        let octet = |i: usize| u8::from_str_radix(&hex[i..i + 2], 16).expect("hexadecimal");
        let input: Vec<u8> = (0..hex.len()).step_by(2).map(octet).collect();
        println!("{name}: {what}");
        (target.run)(&input);
    }
}

macro_rules! targets {
    ($($name:ident: $runs:expr,)*) => {$(
        mod $name {
            #[test]
            fn holds_for_a_while() {
                super::short(stringify!($name), $runs);
            }

            #[test]
            fn holds_for_what_is_kept() {
                super::kept(stringify!($name));
            }

            #[test]
            #[ignore = "long"]
            fn holds_for_ten_minutes() {
                super::long(stringify!($name));
            }
        }
    )*

        #[test]
        fn every_target_is_run() {
            assert_eq!([$(stringify!($name)),*].as_slice(), TARGETS.iter().map(|t| t.name).collect::<Vec<_>>());
        }
    };
}

targets! {
    packet: 100_000,
    options: 100_000,
    segment: 100_000,
    endpoint: 30_000,
    liar: 3_000,
    capture: 10_000,
    scenario: 30_000,
    link: 2_000,
    script: 5_000,
    interface: 3_000,
}
