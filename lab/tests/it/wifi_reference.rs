//! Goodput over Wi-Fi against ns-3.37 (`lab/tests/data/wifi_goodput.csv`; `docs/wifi.md` says how it was measured): one access
//! point and one station, data down, UDP at saturation or one TCP connection for 20 s, means of three seeds.
//!
//! Bounds: 3 % of the mean without fading; with Nakagami fading 10 % of the mean or within the smallest and the largest;
//! or 0.05 Mbit/s.

use crate::support::{number, on_two_threads, summary};

struct Row {
    standard: String,
    mbps: String,
    fading: bool,
    distance: String,
    tcp: bool,
    mean: f64,
    least: f64,
    most: f64,
}

fn rows() -> Vec<Row> {
    let lines = include_str!("../data/wifi_goodput.csv").lines().filter(|l| !l.starts_with('#')).skip(1);
    lines
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let number = |i: usize| cells[i].parse().expect("a number");
            Row {
                standard: cells[0].replace("802", "802."),
                mbps: cells[1].into(),
                fading: cells[2] == "1",
                distance: cells[3].into(),
                tcp: cells[4] == "tcp",
                mean: number(5),
                least: number(6),
                most: number(7),
            }
        })
        .collect()
}

impl Row {
    /// As the rows were measured: NewReno, 4 MB of buffer, RTO of at least a second, delayed ACKs every two segments.
    fn goodput(&self, seed: u64) -> f64 {
        let (speaks, octets) = match self.tcp {
            true => (
                "protocol = 'tcp', controller = 'uncoupled', min_rto = '1 s', receive_buffer = '4 MB'",
                ", bytes = '1 TB'",
            ),
            false => ("protocol = 'udp'", ""),
        };
        let text = format!(
            "duration = '20 s'\nseed = {seed}\nconnection = {{ {speaks} }}\ntransfer = {{ direction = 'down'{octets} }}\n[[path]]
            wifi = {{ standard = '{}', rate = '{} Mbit/s', distance = '{} m', fading = '{}', tx_power = '16.0206 dBm' }}",
            self.standard,
            self.mbps,
            self.distance,
            if self.fading { "nakagami" } else { "none" },
        );
        number(&summary(&text, &[])["bytes_delivered"]) * 8.0 / 20e6
    }

    fn agrees(&self, goodput: f64) -> bool {
        let share = if self.fading { 0.1 } else { 0.03 };
        let between = self.fading && (self.least..=self.most).contains(&goodput);
        (goodput - self.mean).abs() <= (share * self.mean).max(0.05) || between
    }

    fn name(&self) -> String {
        let fading = if self.fading { ", nakagami" } else { "" };
        let traffic = if self.tcp { "tcp" } else { "udp" };
        format!("{} {} Mbit/s{fading}, {} m, {traffic}", self.standard, self.mbps, self.distance)
    }
}

fn check(rows: &[Row], seeds: u64) {
    let goodputs = on_two_threads(rows, |r| (1..=seeds).map(|s| r.goodput(s)).sum::<f64>() / seeds as f64);
    let mut failed = Vec::new();
    for (row, goodput) in rows.iter().zip(goodputs) {
        if !row.agrees(goodput) {
            failed.push(format!("{}: {goodput:.3}, not {} ({} to {})", row.name(), row.mean, row.least, row.most));
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

/// UDP at every point of the file, with one seed: the wireless model alone.
#[test]
fn saturating_datagrams_agree_with_ns3() {
    let rows: Vec<Row> = rows().into_iter().filter(|r| !r.tcp).collect();
    assert_eq!(rows.len(), 33);
    check(&rows, 1);
}

/// TCP at one point of each rate, with one seed.
#[test]
fn tcp_agrees_with_ns3() {
    let rows: Vec<Row> = rows().into_iter().filter(|r| r.tcp && !r.fading && r.distance == "30").collect();
    assert_eq!(rows.len(), 3);
    check(&rows, 1);
}

/// All rows, three seeds as in the file. The row of 6 Mbit/s at 50 m with fading lies at the upper edge, and more seeds would lift it
/// above: there a quarter of the ACKs is lost in collisions, and a window that grows by octets acknowledged (RFC 3465) does not
/// mind, while ns-3's grows by ACKs.
#[test]
#[ignore = "long"]
fn every_row_agrees_with_ns3() {
    check(&rows(), 3);
}
