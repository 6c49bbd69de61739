//! Golden reports of captures: scenarios of every kind, and the hash of what `analyze` says of the
//! captures of each (`tests/data/capture_accounts.toml`). That what it says is near the truth is a
//! matter of other tests (`capture_own`, and tests/test_diagnose_truth.py): these hold it still.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use anabranch_capture::{Capture, analyze_octets};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::pcap;
use crate::support::scenario;

struct Account {
    name: String,
    scenario: String,
    shares: String,
    sha256: [String; 6],
}

/// Where the accounts are.
fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/capture_accounts.toml")
}

fn accounts() -> Vec<Account> {
    let text = fs::read_to_string(file()).expect("the accounts are there");
    let document: toml::Table = text.parse().expect("they are TOML");
    let of = |row: &toml::Value| {
        let word = |key: &str| row[key].as_str().expect("a string").to_string();
        let hash = |i: usize| row["sha256"][i].as_str().expect("a hash").to_string();
        let sha256 = [0, 1, 2, 3, 4, 5].map(hash);
        Account { name: word("name"), scenario: word("scenario"), shares: word("shares"), sha256 }
    };
    document["account"].as_array().expect("a list").iter().map(of).collect()
}

/// The hash of all that a capture was found to show, but for the version of the program.
fn hash(capture: &Capture) -> String {
    let mut summary = capture.summary.clone();
    summary.as_object_mut().expect("an object").remove("version");
    let mut told = Sha256::new();
    told.update(summary.to_string());
    told.update(format!("{:?}{:?}", capture.samples, capture.knows_flight));
    told.update(format!("{:?}{:?}", capture.spans, capture.windows));
    told.finalize().iter().fold(String::new(), |mut text, octet| {
        write!(text, "{octet:02x}").expect("a string takes all");
        text
    })
}

/// Captures of Linux: those beside this test, and those of the Python tests.
const FILES: [&str; 6] = [
    "tests/data/linux-mptcp-first-400.pcap",
    "tests/data/linux-mptcp-two-paths-snap128.pcap",
    "../../tests/data/linux/bbr.pcap.gz",
    "../../tests/data/linux/reader.pcap.gz",
    "../../tests/data/linux/shaper.pcap.gz",
    "../../tests/data/linux/writer.pcap.gz",
];

fn read(path: &str) -> Capture {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path);
    let octets = fs::read(&file).expect("the capture is there");
    // The report has the name of the file, wherever the file is.
    let name = file.file_name().and_then(|name| name.to_str()).expect("a name");
    analyze_octets(&[(name, &octets)], None).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The shares of each cause from one per cent on, in the order of the subflows.
fn shares(summary: &Value) -> String {
    let of = |flow: &Value| {
        let causes = flow["diagnosis"]["causes"].as_object()?;
        let large = causes.iter().filter_map(|(cause, share)| Some((cause, share.as_f64().filter(|s| *s >= 0.01)?)));
        Some(large.map(|(cause, share)| format!("{cause} {share:.2}")).collect::<Vec<_>>().join(", "))
    };
    let flows = summary["subflows"].as_array().expect("subflows");
    flows.iter().map(|f| of(f).unwrap_or_default()).collect::<Vec<_>>().join("; ")
}

/// A big-endian pcapng file without some packets (block type 6), by their numbers from 1.
fn lacking(file: &[u8], gone: fn(usize) -> bool) -> Vec<u8> {
    let (mut rest, mut packets, mut kept) = (file, 0, Vec::new());
    while let [kind @ .., _, _, _, _] = rest.get(..8).unwrap_or_default() {
        let length = u32::from_be_bytes(rest[4..8].try_into().expect("4 octets")) as usize;
        packets += usize::from(kind == [0, 0, 0, 6]);
        if kind != [0, 0, 0, 6] || !gone(packets) {
            kept.extend_from_slice(&rest[..length]);
        }
        rest = &rest[length..];
    }
    kept
}

const VIEWS: [&str; 6] =
    ["sender", "receiver", "both", "sender, cut off", "sender, lacking packets", "both, the receiver's from later on"];

/// Runs the scenario of an account and reads its captures, as in `VIEWS`: those of the sender also
/// cut off at two thirds, and without every fortieth packet; those of the receiver also without the
/// first packet.
fn found(account: &Account) -> (String, [String; 6]) {
    let scenario = scenario(&account.scenario);
    let files: BTreeMap<String, Vec<u8>> = pcap::capture(&scenario).1;
    let [sender, receiver] =
        if scenario.connections[0].transfer.up { ["client", "server"] } else { ["server", "client"] };
    // A shaper on the sender's host is captured behind its queue.
    let sender = if files.keys().any(|name| name.starts_with("shaper")) { "shaper" } else { sender };
    let analysed = |places: &[&str], change: &dyn Fn(&str, &[u8]) -> Vec<u8>| {
        let of = |name: &&String| places.iter().any(|place| name.starts_with(place));
        let octets: Vec<(&String, Vec<u8>)> =
            files.keys().filter(of).map(|name| (name, change(name, &files[name]))).collect();
        let chosen: Vec<(&str, &[u8])> = octets.iter().map(|(name, o)| (name.as_str(), o.as_slice())).collect();
        analyze_octets(&chosen, None).unwrap_or_else(|error| panic!("{}: {error}", account.name))
    };
    let whole = |_: &str, file: &[u8]| file.to_vec();
    let later =
        |name: &str, file: &[u8]| lacking(file, if name.starts_with(receiver) { |n| n == 1 } else { |_| false });
    let views = [
        analysed(&[sender], &whole),
        analysed(&[receiver], &whole),
        analysed(&[sender, receiver], &whole),
        analysed(&[sender], &|_, file| file[..(file.len() * 2 / 3).max(1000).min(file.len())].to_vec()),
        analysed(&[sender], &|_, file| lacking(file, |n| n % 40 == 0)),
        analysed(&[sender, receiver], &later),
    ];
    (shares(&views[0].summary), views.each_ref().map(hash))
}

/// One in `of` accounts, from number `first` on.
fn compare(first: usize, of: usize) {
    let accounts = accounts();
    let chosen: Vec<&Account> = accounts.iter().skip(first).step_by(of).collect();
    assert!(chosen.len() >= 10);
    let mut wrong = String::new();
    for account in chosen {
        let (shares, hashes) = found(account);
        for (view, (hash, wanted)) in VIEWS.iter().zip(hashes.iter().zip(&account.sha256)) {
            if hash != wanted {
                writeln!(wrong, "{}, {view}: {hash}; shares {shares:?}, were {:?}", account.name, account.shares)
                    .expect("a string takes all");
            }
        }
    }
    assert!(wrong.is_empty(), "other reports:\n{wrong}");
}

#[test]
fn captures_are_read_as_they_were_1() {
    if std::env::var("ANABRANCH_GOLDEN").is_ok_and(|v| v == "write") {
        let mut text = fs::read_to_string(file()).expect("they were read");
        for account in accounts() {
            let (shares, hashes) = found(&account);
            let (before, after) = text.split_once(&format!("name = \"{}\"\n", account.name)).expect("its name");
            let (scenario, rest) = after.split_once("shares = ").expect("shares");
            let rest = rest.split_once("]\n").expect("hashes").1;
            text = format!(
                "{before}name = \"{}\"\n{scenario}shares = {shares:?}\nsha256 = {hashes:?}\n{rest}",
                account.name
            );
        }
        for path in FILES {
            let capture = read(path);
            let (before, after) = text.split_once(&format!("file = \"{path}\"\n")).expect("its name");
            let rest = after.split_once("\"]\n").expect("a hash").1;
            let (shares, hash) = (shares(&capture.summary), hash(&capture));
            text = format!("{before}file = \"{path}\"\nshares = {shares:?}\nsha256 = [{hash:?}]\n{rest}");
        }
        fs::write(file(), text).expect("they can be written");
        return;
    }
    compare(0, 4);
}

#[test]
fn captures_are_read_as_they_were_2() {
    compare(1, 4);
}

#[test]
fn captures_are_read_as_they_were_3() {
    compare(2, 4);
}

#[test]
fn captures_are_read_as_they_were_4() {
    compare(3, 4);
}

#[test]
fn captures_of_linux_are_read_as_they_were() {
    let text = fs::read_to_string(file()).expect("the accounts are there");
    let document: toml::Table = text.parse().expect("they are TOML");
    let rows = document["capture"].as_array().expect("a list");
    assert_eq!(rows.len(), FILES.len());
    for (row, path) in rows.iter().zip(FILES) {
        assert_eq!(row["file"].as_str(), Some(path));
        let capture = read(path);
        let shares = shares(&capture.summary);
        assert_eq!(
            row["sha256"][0].as_str(),
            Some(hash(&capture).as_str()),
            "{path}: {shares}, were {}",
            row["shares"]
        );
    }
}
