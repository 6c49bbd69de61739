//! Goodput over 802.11n, ac and ax with `like = "ns-3"`: against a closed form, and against the
//! rows that were measured with ns-3.37, `crates/acceptance/tests/data/wifi_ht_goodput.csv` and, of
//! other kinds, `wifi_ht_goodput_more.csv` (`docs/wifi.md` says how).
//!
//! Bounds: UDP without loss within 0.6 % below the closed form and 3 % of the rows; 5 % where one
//! frame in ten is lost, 10 % where it is every second one; frames of a PPDU within 2 %. TCP
//! likewise, but for one thing: where slow start ends in a full queue, it is chance whether the
//! first retransmission finds room. If not, a sender after RFC 6675 is silent for the second that
//! its timeout lasts, a tenth of a row's time, in ns-3 as here. A TCP row with a timeout may fall
//! short by that second, one without may be ahead by it. TCP with every second frame lost agrees by
//! order of magnitude: two seeds of ns-3 differ by 46 %.

use anabranch_wifi::formats::{Format, LONGEST, Ppdu};
use anabranch_wifi::phy::Like;
use serde_json::Value;

use crate::support::{number, on_two_threads, summary};

const SECONDS: f64 = 10.0;

struct Row {
    name: String,
    wifi: String,
    tcp: bool,
    seed: u64,
    goodput: f64,
    frames: f64,
    /// Share of frames sent again.
    again: f64,
}

/// ns-3's NewReno: windows that grow with acknowledgements, losses found by SACK alone, ACKs delayed by up to 200 ms. Its PRR sends
/// two segments, and then nothing until half of what was in flight has left: that is RFC 6675's reduction.
const TCP: &str = "protocol = 'tcp', controller = 'uncoupled', byte_counting = false, detector = 'rfc6675', reduction = 'rfc6675', min_rto = '1 s', \
                   delayed_ack = '200 ms', receive_buffer = '4 MB', send_buffer = '4 MB', mss = 1448";

fn rows() -> Vec<Row> {
    let lines = include_str!("../data/wifi_ht_goodput.csv").lines().filter(|l| !l.starts_with('#')).skip(1);
    lines
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let cell = |i: usize| cells[i];
            let guard = cell(3).parse::<f64>().expect("ns") / 1e3;
            let mut wifi = format!(
                "standard = '{}', mcs = {}, channel_width = '{} MHz', guard_interval = '{guard} us', ampdu_limit = '{} B',
                 amsdu_limit = '{} B', block_ack_window = {}, distance = '{} m', streams = {}, queue = '{} packets'",
                cell(0).replace("802", "802."),
                cell(1),
                cell(2),
                cell(5),
                cell(6),
                cell(7),
                cell(11),
                cell(20),
                cell(21),
            )
            .replace('\n', " ");
            if cell(8) == "1" {
                wifi += ", rts_threshold = '0 B'";
            }
            if cell(9) == "nist" {
                wifi += ", error_model = 'nist'";
            }
            let number = |i: usize| cells[i].parse().expect("a number");
            let name = [0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 20].map(cell).join(" ");
            let (tcp, seed) = (cell(10) == "tcp", number(12) as u64);
            Row { name, wifi, tcp, seed, goodput: number(13), frames: number(14), again: number(16) }
        })
        .collect()
}

/// `wifi` over ten seconds (or as many as given).
fn run(wifi: &str, tcp: bool, seed: u64, seconds: f64) -> Value {
    let (speaks, octets) = if tcp { (TCP, ", bytes = '10 TB'") } else { ("protocol = 'udp', mss = 1472", "") };
    let text = format!(
        "duration = '{seconds} s'
        seed = {seed}
        connection = {{ {speaks} }}
        transfer = {{ direction = 'down'{octets} }}
        path = [{{ wifi = {{ {wifi}, like = 'ns-3', tx_power = '16.0206 dBm' }} }}]"
    );
    summary(&text, &[])
}

fn mbps(summary: &Value, seconds: f64) -> f64 {
    number(&summary["bytes_delivered"]) * 8e-6 / seconds
}

impl Row {
    /// What may be lost: nothing, one frame in ten or so, half of them. (Collisions of data with TCP's ACKs: up to 8 %.)
    fn bound(&self) -> f64 {
        let share = if self.tcp { self.again - 0.08 } else { self.again };
        match share {
            s if s < 0.01 => 0.03,
            s if s < 0.2 => 0.05,
            _ => 0.1,
        }
    }

    fn agrees(&self, goodput: f64, frames: f64, silent: bool) -> bool {
        if self.goodput == 0.0 {
            return goodput == 0.0;
        }
        if self.tcp && self.again > 0.45 {
            return (0.33..3.0).contains(&(goodput / self.goodput));
        }
        let (off, bound) = (goodput / self.goodput - 1.0, self.bound());
        // A second without data: here, if there was a timeout; if not, there.
        let [less, more] = match (self.tcp, silent) {
            (false, _) => [0.0, 0.0],
            (true, true) => [1.0 / SECONDS, 0.0],
            (true, false) => [0.0, 1.0 / (SECONDS - 1.0)],
        };
        (-bound - less..=bound + more).contains(&off) && self.same_frames(frames, off.abs() > bound)
    }

    /// Frames of a PPDU within 2 %. If one of two senders was `silent` for a second, they also differ by the slow start behind it: 3 %. TCP with losses:
    /// see `means_of_seeds_send_as_many_frames_a_ppdu_as_ns3`.
    fn same_frames(&self, frames: f64, silent: bool) -> bool {
        let bound = if silent { 0.03 } else { 0.02 };
        (frames / self.frames - 1.0).abs() <= bound || (self.tcp && self.bound() > 0.03)
    }
}

/// Compares, and prints a line for each row.
fn check(rows: &[Row]) {
    let ours = on_two_threads(rows, |r| run(&r.wifi, r.tcp, r.seed, SECONDS));
    let mut failed = Vec::new();
    for (row, summary) in rows.iter().zip(ours) {
        let goodput = mbps(&summary, SECONDS);
        let frames = summary["radio"][0]["down"]["mpdus_per_ppdu"].as_f64().unwrap_or(0.0);
        let said = format!(
            "{}: {goodput:.3}, ns-3 {:.3} ({:+.1} %); frames {frames:.2}, ns-3 {:.2}",
            row.name,
            row.goodput,
            100.0 * (goodput / row.goodput - 1.0),
            row.frames
        );
        println!("{said}");
        let silent = number(&summary["subflows"][0]["retransmissions_timeout"]) > 0.0;
        if !row.agrees(goodput, frames, silent) {
            failed.push(said);
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn udp_over_802_11n_ac_and_ax_agrees_with_ns3() {
    let rows: Vec<Row> = rows().into_iter().filter(|r| !r.tcp && r.seed == 1).collect();
    assert!(rows.len() > 40);
    check(&rows);
}

#[test]
#[ignore = "long"]
fn every_row_of_802_11n_ac_and_ax_agrees_with_ns3() {
    let rows = rows();
    assert_eq!(rows.len(), 212);
    check(&rows);
}

/// TCP over A-MPDUs, nothing lost but what collides with the ACKs: of each link one row, whose frames of a PPDU and goodput agree.
#[test]
fn tcp_over_a_mpdus_agrees_with_ns3() {
    let lossless = |r: &Row| r.tcp && r.seed == 1 && r.frames > 1.0 && r.bound() == 0.03;
    let rows: Vec<Row> = rows().into_iter().filter(lossless).collect();
    assert_eq!(rows.len(), 20);
    check(&rows);
}

/// How many frames an aggregate has when some are lost depends on the seed (ours by 1 %, HT20 with every second frame lost by 5 %), so means of seeds
/// are compared: ns-3's are of the two rows, of which the mean is 2 % off by chance, or of more where that is said.
#[test]
#[ignore = "long"]
fn means_of_seeds_send_as_many_frames_a_ppdu_as_ns3() {
    let all = rows();
    let lossy = |r: &&Row| r.tcp && r.seed == 1 && r.frames > 1.0 && r.bound() == 0.05 && !r.wifi.contains("nist");
    let found: Vec<&Row> = all.iter().filter(lossy).collect();
    assert_eq!(found.len(), 5);
    for row in found {
        let seeds: Vec<u64> = (1..=8).collect();
        let ours = on_two_threads(&seeds, |seed| {
            let summary = run(&row.wifi, true, *seed, SECONDS);
            number(&summary["radio"][0]["down"]["mpdus_per_ppdu"])
        });
        let ours = ours.iter().sum::<f64>() / ours.len() as f64;
        let other = all.iter().find(|r| r.tcp && r.seed == 2 && r.wifi == row.wifi).expect("each row has two seeds");
        // HT40 MCS 7 at 22.6 m: six seeds, 31.9 to 33.4; the two rows have 32.5 and 31.1.
        let theirs = if row.wifi.contains("22.6 m") { 32.75 } else { (row.frames + other.frames) / 2.0 };
        println!("{}: {ours:.2}, ns-3 {theirs:.2} ({:+.1} %)", row.name, 100.0 * (ours / theirs - 1.0));
        assert!((ours / theirs - 1.0).abs() <= 0.02, "{}: {ours}, ns-3 {theirs}", row.name);
    }
}

/// An index, a width and a number of streams.
type Case = (Format, &'static str, u32, u8, u8);

fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for (format, name, widths) in [
        (Format::Ht, "802.11n", &[20, 40][..]),
        (Format::Vht, "802.11ac", &[20, 40, 80, 160]),
        (Format::He, "802.11ax", &[20, 40, 80, 160]),
    ] {
        for width in widths {
            for streams in [1, 2] {
                all.extend(format.mcs(*width).map(|mcs| (format, name, *width, streams, mcs)));
            }
        }
    }
    all
}

/// AIFS, mean back-off, the PPDU with as many frames as octets, time and window allow, SIFS, block acknowledgement.
fn closed_form((format, _, width, streams, mcs): Case) -> f64 {
    let ppdu = Ppdu::new(format, width, streams, mcs, 800, Like::Ns3);
    let octets = |n: u32| (n - 1) * 1544 + 1542;
    let n = (2..=64).rev().find(|n| octets(*n) <= 65_535 && ppdu.airtime(octets(*n)) <= LONGEST).expect("two fit");
    let answer = [68.0, 44.0, 44.0].get(usize::from(mcs)).copied().unwrap_or(32.0);
    let cycle = 43.0 + 67.5 + ppdu.airtime(octets(n)) as f64 / 1e3 + 16.0 + answer;
    f64::from(n) * 1472.0 * 8.0 / cycle
}

/// What lies below the closed form are the beacons: 0.2 to 0.5 % (measured in ns-3: 0.18 to 0.48 %).
fn saturate(cases: &[Case]) {
    let seconds = 4.0;
    let ours = on_two_threads(cases, |(_, name, width, streams, mcs)| {
        let wifi = format!(
            "standard = '{name}', channel_width = '{width} MHz', streams = {streams}, mcs = {mcs}, guard_interval = '0.8 us',
             distance = '1 m', max_age = '10 s'"
        );
        mbps(&run(&wifi.replace('\n', " "), false, 1, seconds), seconds)
    });
    for (case, ours) in cases.iter().zip(ours) {
        let off = ours / closed_form(*case) - 1.0;
        println!("{case:?}: {ours:.3} Mbit/s, {:+.2} %", 100.0 * off);
        assert!((-0.006..0.0005).contains(&off), "{case:?}: {ours}, {:+.2} %", 100.0 * off);
    }
}

#[test]
fn saturation_is_the_closed_form_at_the_ends_of_each_table() {
    let all = cases();
    let ends = all.iter().enumerate().filter(|(i, c)| c.4 == 0 || all.get(i + 1).is_none_or(|next| next.4 == 0));
    let ends: Vec<Case> = ends.map(|(_, c)| *c).collect();
    assert_eq!(ends.len(), 40);
    saturate(&ends);
}

#[test]
#[ignore = "long"]
fn saturation_is_the_closed_form_with_every_index_width_and_number_of_streams() {
    assert_eq!(cases().len(), 206);
    saturate(&cases());
}

/// A row of `wifi_ht_goodput_more.csv`.
struct Kind {
    name: String,
    wifi: String,
    cells: Vec<&'static str>,
}

impl Kind {
    fn number(&self, i: usize) -> f64 {
        self.cells[i].parse().expect("a number")
    }

    /// One station as in the other rows; several are stations of one access point, which is joined to the server by a wire.
    fn document(&self) -> String {
        let [way, payload, offered] = [14, 16, 17].map(|i| self.cells[i]);
        let wifi = &self.wifi;
        let flow = format!("protocol = 'udp', mss = {payload}");
        let transfer = format!("transfer = {{ direction = '{way}', rate = '{offered} Mbit/s', duration = '5 s' }}");
        match self.number(15) as usize {
            1 => format!("connection = {{ {flow} }}\n{transfer}\npath = [{{ wifi = {{ {wifi} }} }}]"),
            stations => {
                let link =
                    |i| format!("{{ name = 'l{i}', from = 's{i}', to = 'ap', wifi = {{ {wifi}, channel = 'one' }} }}");
                let flow = |i| format!("{{ name = 'c{i}', client = 's{i}', server = 'server', {flow}, {transfer} }}");
                let host = |i| format!("{{ name = 's{i}' }}");
                let all = |of: &dyn Fn(usize) -> String| (0..stations).map(of).collect::<Vec<_>>().join(", ");
                format!(
                    "router = [{{ name = 'ap' }}]\nhost = [{{ name = 'server' }}, {}]\nlink = [{{ name = 'wire', from = 'ap', \
                     to = 'server', rate = '10 Gbit/s', delay = '1 us', queue = '10000 packets' }}, {}]\nconnection = [{}]",
                    all(&host),
                    all(&link),
                    all(&flow)
                )
            }
        }
    }
}

fn kinds() -> Vec<Kind> {
    let lines = include_str!("../data/wifi_ht_goodput_more.csv").lines().filter(|l| !l.starts_with('#')).skip(1);
    lines
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let c = |i: usize| cells[i];
            let (guard, standard) = (c(3).parse::<f64>().expect("ns") / 1e3, c(0).replace("802", "802."));
            let wifi = [
                format!(
                    "like = 'ns-3', tx_power = '16.0206 dBm', standard = '{standard}', mcs = {}, streams = {}",
                    c(1),
                    c(4)
                ),
                format!("channel_width = '{} MHz', guard_interval = '{guard} us', ampdu_limit = '{} B'", c(2), c(5)),
                format!("amsdu_limit = '{} B', block_ack_window = {}, rts_threshold = '{} B'", c(6), c(7), c(8)),
                format!("error_model = '{}', distance = '{} m', queue = '{} packets'", c(9), c(10), c(11)),
                format!("band = '{} GHz', category = '{}'", c(12), c(13)),
            ];
            Kind { name: cells[..18].join(" "), wifi: wifi.join(", "), cells }
        })
        .collect()
}

/// Means of two seeds: 0.6 % where nothing is lost, 1 % with losses of up to one frame in five, 2.5 % beyond; and 2.5 % with
/// collisions: of 900 PPDUs in 5 s about 150 collide, so a run is 1.4 % from the mean, and the difference of two means of two
/// runs 1.4 %, too. Frames of a PPDU 2 % (of the first station, where there are several).
fn compare(rows: &[Kind]) {
    let both = on_two_threads(rows, |row| {
        [1, 2].map(|seed| {
            let summary = summary(&format!("duration = '5 s'\nseed = {seed}\n{}", row.document()), &[]);
            let all = summary["connections"].as_array().cloned().unwrap_or_else(|| vec![summary.clone()]);
            let goodput: f64 = all.iter().map(|c| mbps(c, 5.0)).sum();
            (goodput / 2.0, number(&summary["radio"][0][row.cells[14]]["mpdus_per_ppdu"]) / 2.0)
        })
    });
    for (row, [a, b]) in rows.iter().zip(both) {
        let [goodput, frames, again] = [18, 19, 20].map(|i| row.number(i));
        let off = [(a.0 + b.0) / goodput - 1.0, (a.1 + b.1) / frames - 1.0];
        println!(
            "{}: {:.3}, ns-3 {goodput} ({:+.2} %); frames {:+.1} %",
            row.name,
            a.0 + b.0,
            1e2 * off[0],
            1e2 * off[1]
        );
        let bound = match again {
            s if s < 0.01 => 0.006,
            s if s < 0.21 && row.number(15) == 1.0 => 0.01,
            _ => 0.025,
        };
        assert!(off[0].abs() <= bound && off[1].abs() <= 0.02, "{}: {off:?}", row.name);
    }
}

#[test]
fn links_of_other_kinds_agree_with_ns3_too() {
    let rows: Vec<Kind> = kinds().into_iter().step_by(4).collect();
    compare(&rows);
}

#[test]
#[ignore = "long"]
fn every_link_of_another_kind_agrees_with_ns3() {
    let rows = kinds();
    assert_eq!(rows.len(), 46);
    compare(&rows);
}
