//! Frame error rates of the Wi-Fi models against those of ns-3.37, point by point
//! (`crates/acceptance/tests/data`).

use anabranch_wifi::error::Model;
use anabranch_wifi::formats::{Format, Ppdu};
use anabranch_wifi::modulation::Code;
use anabranch_wifi::phy::{Like, Mode};

/// Rows of mode, ratio in dB, octets, error rate.
fn rows(text: &'static str) -> impl Iterator<Item = (Mode, f64, u32, f64)> {
    text.lines().filter(|l| !l.starts_with('#')).skip(1).map(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |i: usize| cells[i].parse::<f64>().expect("a number");
        (mode(cells[0]), number(1), number(2) as u32, number(3))
    })
}

/// Of a name such as `ErpOfdmRate54Mbps`, `OfdmRate3MbpsBW10MHz` (the coding of 6 Mbit/s at half the clock), `DsssRate5_5Mbps`.
fn mode(name: &str) -> Mode {
    let digits = name.split("Rate").nth(1).and_then(|t| t.split("Mbps").next()).expect("a rate");
    let mbps: f64 = digits.replace('_', ".").parse().expect("a rate");
    let clock = if name.ends_with("BW10MHz") { 2.0 } else { 1.0 };
    let code = match name.starts_with("Dsss") {
        true if mbps == 1.0 => Code::Dbpsk,
        true if mbps == 2.0 => Code::Dqpsk,
        true => Code::Cck,
        false => {
            let rates = [6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0];
            Code::Ofdm(rates.iter().position(|r| *r == mbps * clock).expect("an OFDM rate") as u8)
        }
    };
    Mode::old(code, (mbps * 1000.0) as u32)
}

/// The largest difference of error rates, relative to the rate or to its complement, whichever is smaller.
fn worst(model: Model, text: &'static str, only: impl Fn(&Mode) -> bool) -> (f64, usize) {
    let mut worst = (0.0_f64, 0);
    for (mode, db, octets, wanted) in rows(text).filter(|r| only(&r.0)) {
        let error = model.error(&mode, 10_f64.powf(db / 10.0), octets);
        let off = (error - wanted).abs() / wanted.min(1.0 - wanted);
        worst = (worst.0.max(off), worst.1 + 1);
        assert!(off < 0.02, "{mode:?} at {db} dB, {octets} octets: {error}, not {wanted}");
    }
    worst
}

const TABLE: &str = include_str!("../data/wifi_frame_errors.csv");
const NIST: &str = include_str!("../data/wifi_frame_errors_nist.csv");

/// The table is ns-3's: what differs is the last digit printed. 9 Mbit/s are computed.
#[test]
fn ofdm_errors_are_those_of_the_table() {
    let nine = |m: &Mode| m.code == Code::Ofdm(1);
    let (off, points) = worst(Model::Table, TABLE, |m| !m.code.is_dsss() && !nine(m));
    assert!(off < 1e-3 && points > 200, "{off} at the worst of {points}");
    let (off, points) = worst(Model::Table, TABLE, nine);
    assert!(off < 0.01 && points > 10, "{off} at the worst of {points}");
}

/// Without any signal no frame is received.
#[test]
fn without_a_signal_every_frame_is_lost() {
    for name in ["OfdmRate6Mbps", "OfdmRate54Mbps"] {
        assert_eq!(Model::Table.error(&mode(name), 0.0, 1464), 1.0);
    }
}

#[test]
fn dsss_errors_are_those_of_the_closed_forms() {
    let (off, points) = worst(Model::Table, TABLE, |m| m.code.is_dsss());
    assert!(off < 0.01 && points > 100, "{off} at the worst of {points}");
}

#[test]
fn nist_errors_are_those_of_the_union_bound() {
    let (off, points) = worst(Model::Nist, NIST, |_| true);
    assert!(off < 0.01 && points > 50, "{off} at the worst of {points}");
}

/// SNR at which 1464 octets fail nine times in ten, every other time, once in ten.
#[test]
fn the_models_lie_about_four_decibels_apart() {
    let at = |model: Model, name: &str, wanted: f64| {
        let (mut low, mut high) = (-10.0, 40.0);
        while high - low > 1e-4 {
            let middle = (low + high) / 2.0;
            let error = model.error(&mode(name), 10_f64.powf(middle / 10.0), 1464);
            if error > wanted { low = middle } else { high = middle }
        }
        low
    };
    for (name, table, nist) in [
        ("ErpOfdmRate54Mbps", [16.92, 17.53, 18.38], [21.6, 22.0, 22.6]),
        ("ErpOfdmRate6Mbps", [-0.23, 0.30, 0.93], [3.0, 3.4, 4.0]),
    ] {
        for (i, wanted) in [0.9, 0.5, 0.1].into_iter().enumerate() {
            let (a, b) = (at(Model::Table, name, wanted), at(Model::Nist, name, wanted));
            assert!((a - table[i]).abs() < 0.02, "{name}: {a}, not {}", table[i]);
            assert!((b - nist[i]).abs() < 0.07, "{name}: {b}, not {}", nist[i]);
        }
    }
}

const HIGH: &str = include_str!("../data/wifi_ht_frame_errors.csv");
const THRESHOLDS: &str = include_str!("../data/wifi_ht_thresholds.csv");

/// Of a name such as `HeMcs11`, in `width` MHz.
fn high_mode(name: &str, width: u32, like: Like) -> Mode {
    let (format, mcs) = name.split_once("Mcs").expect("an index");
    let format = match format {
        "Ht" => Format::Ht,
        "Vht" => Format::Vht,
        _ => Format::He,
    };
    let ppdu = Ppdu::new(format, width, 1, mcs.parse().expect("an index"), 800, like);
    Mode { code: ppdu.code(), kbps: ppdu.kbps, ppdu: Some(ppdu) }
}

#[test]
fn errors_from_802_11n_on_are_those_of_the_table() {
    let mut worst = 0.0_f64;
    for line in HIGH.lines().filter(|l| !l.starts_with('#')).skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |i: usize| cells[i].parse::<f64>().expect("a number");
        let mode = high_mode(cells[0], number(1) as u32, Like::Ns3);
        let error = Model::Table.error(&mode, 10_f64.powf(number(2) / 10.0), number(3) as u32);
        let wanted = number(4);
        let off = (error - wanted).abs() / wanted.min(1.0 - wanted).max(1e-3);
        worst = worst.max(off);
        assert!(off < 0.02, "{line}: {error}");
    }
    println!("{worst}");
}

/// SNR for error rates of 0.9, 0.5, 0.1 and 0.01, of both models.
#[test]
fn thresholds_from_802_11n_on_are_ns3s() {
    for line in THRESHOLDS.lines().filter(|l| !l.starts_with('#')).skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |i: usize| cells[i].parse::<f64>().expect("a number");
        let model = if cells[0] == "nist" { Model::Nist } else { Model::Table };
        let mode = high_mode(cells[1], number(2) as u32, Like::Ns3);
        for (i, wanted) in [0.9, 0.5, 0.1, 0.01].into_iter().enumerate() {
            let at = |db: f64| model.error(&mode, 10_f64.powf(db / 10.0), number(3) as u32);
            let db = number(4 + i);
            assert!(at(db - 0.02) >= wanted && at(db + 0.02) <= wanted, "{line}, {wanted}: {}", at(db));
        }
    }
}

/// By default 1024-QAM needs 5.86 dB more than 256-QAM with the same code; ns-3's fallback 9 dB.
#[test]
fn by_default_1024_qam_follows_256_qam() {
    let at = |mcs: u8, db: f64| {
        Model::Table.error(&high_mode(&format!("HeMcs{mcs}"), 80, Like::Standard), 10_f64.powf(db / 10.0), 1538)
    };
    for (mcs, below, db) in [(10, 8, 23.0), (11, 9, 24.5)] {
        assert!((at(mcs, db + 5.86) / at(below, db) - 1.0).abs() < 0.02, "{} {}", at(mcs, db + 5.86), at(below, db));
    }
}
