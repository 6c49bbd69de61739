//! Links that vary by themselves: their statistics beside those of the measurements they follow, and what each rule of the process does
//! to a packet.
//!
//! The measured numbers are those of docs/links.md (Hu et al., "LEO Satellite vs. Cellular Networks", CoNEXT 2023, computed from the
//! data they published; LENS).

use anabranch_sim::scenario::Weather;
use anabranch_sim::sim::link::weather::{offered, probed};

use crate::link::{direction, drive, link};
use crate::support::{MS, S, close, on_two_threads, scenario, summary};

const PRESETS: [(&str, &str); 8] = [
    ("leo", "starlink-fixed-2022"),
    ("leo", "starlink-fixed-2024"),
    ("leo", "starlink-mobile"),
    ("leo", "starlink-roam"),
    ("cellular", "lte-good"),
    ("cellular", "lte-driving"),
    ("cellular", "5g-mid-band"),
    ("cellular", "5g-driving"),
];

fn weather(keys: &str) -> Weather {
    direction(keys).weather.unwrap()
}

/// Of the downlink.
fn down(keys: &str) -> Weather {
    scenario(&format!("transfer = {{}}\n[[path]]\n{keys}")).links[0].down.weather.clone().unwrap()
}

/// Mbit/s of each second of so many hours, over four seeds.
fn seconds(weather: &Weather, hours: u64) -> Vec<f64> {
    let of = |seed: u64| offered(weather, seed, "path0", "down", S, hours * 900);
    (1..=4).flat_map(of).map(|bits| bits / 1e6).collect()
}

/// Of values in any order.
pub fn percentile(values: &[f64], p: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[(p / 100.0 * (sorted.len() - 1) as f64).round() as usize]
}

fn autocorrelation(x: &[f64], lag: usize) -> f64 {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    let product = |lag: usize| x.iter().zip(&x[lag..]).map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>();
    product(lag) / product(0)
}

/// Whether `found` is at most `by` above `measured`, or `measured` so much above `found`.
#[track_caller]
pub fn within(found: f64, measured: f64, by: f64) {
    let ratio = found / measured;
    assert!((1.0 / (1.0 + by)..=1.0 + by).contains(&ratio), "{found:.1} where {measured} was measured");
}

/// Starlink Mobility while driving: mean 127.8, quartiles 51, 134, 197, p95 265 Mbit/s; 16 % of seconds below 1 Mbit/s. Means of slots
/// of 15 s: 97, 148, 198 (quartiles); correlation of neighbours 0.53.
#[test]
fn starlink_mobile_offers_what_was_measured() {
    let x = seconds(&down("leo = 'starlink-mobile'"), 40);
    within(x.iter().sum::<f64>() / x.len() as f64, 127.8, 0.10);
    for (p, measured) in [(25.0, 51.0), (50.0, 134.0), (75.0, 197.0), (95.0, 265.0)] {
        within(percentile(&x, p), measured, 0.30);
    }
    let low = x.iter().filter(|x| **x < 1.0).count() as f64 / x.len() as f64;
    assert!((0.09..0.20).contains(&low), "{low}");
    // The first boundary is at 12 s.
    let slots: Vec<f64> =
        x[12..9000].chunks_exact(15).map(|s| s.iter().sum::<f64>() / 15.0).filter(|m| *m > 5.0).collect();
    for (p, measured) in [(25.0, 97.0), (50.0, 148.0), (75.0, 198.0)] {
        within(percentile(&slots, p), measured, 0.15);
    }
    close(autocorrelation(&slots, 1), 0.53, 0.12);
}

/// Starlink Roam: mean 63.1, quartiles 28, 62, 93 Mbit/s.
#[test]
fn starlink_roam_offers_what_was_measured() {
    let x = seconds(&down("leo = 'starlink-roam'"), 40);
    within(x.iter().sum::<f64>() / x.len() as f64, 63.1, 0.12);
    for (p, measured) in [(25.0, 28.0), (50.0, 62.0), (75.0, 93.0)] {
        within(percentile(&x, p), measured, 0.20);
    }
}

/// Carriers while driving: mean, quartiles, p95; share below 1 Mbit/s; autocorrelation at 1, 5, 15, 30 s.
#[test]
fn carriers_offer_what_was_measured() {
    let cases = [
        ("lte-driving", [66.8, 21.0, 44.0, 91.0, 208.0], (0.01, 0.05), [0.91, 0.83, 0.68, 0.54]),
        ("5g-driving", [117.5, 17.0, 64.0, 216.0, 335.0], (0.02, 0.08), [0.94, 0.86, 0.78, 0.68]),
    ];
    for (preset, measured, share, correlations) in cases {
        let x = seconds(&down(&format!("cellular = '{preset}'")), 200);
        within(x.iter().sum::<f64>() / x.len() as f64, measured[0], 0.15);
        for (p, measured) in [25.0, 50.0, 75.0, 95.0].into_iter().zip(&measured[1..]) {
            within(percentile(&x, p), *measured, 0.30);
        }
        let low = x.iter().filter(|x| **x < 1.0).count() as f64 / x.len() as f64;
        assert!((share.0..share.1).contains(&low), "{preset}: {low}");
        let one = &x[..x.len() / 4];
        for (lag, measured) in [1, 5, 15, 30].into_iter().zip(correlations) {
            close(autocorrelation(one, lag), measured, 0.12);
        }
    }
}

/// LENS: around each boundary (12, 27, 42 ... s) what is sent from 0.18 s before to 0.34 s after is lost; what is sent in the next 0.21 s
/// arrives at once.
#[test]
fn a_gap_over_lasers_loses_and_then_holds() {
    let keys =
        "leo = { preset = 'starlink-fixed-2024', gap = 'laser', jitter = '0 ms', surge = '0 ms', slope = '0 ms' }";
    let delays = probed(&weather(keys), 1, "path0", "up", 10 * MS, 60 * 100);
    for boundary in [12 * S, 27 * S, 42 * S, 57 * S] {
        let at = |offset: i64| delays[((boundary as i64 + offset * MS as i64) / (10 * MS as i64)) as usize];
        assert!(at(-190).is_some() && at(-180).is_none() && at(-10).is_none() && at(330).is_none());
        let held: Vec<u64> = (34..55).map(|n| at(n * 10).unwrap() + n as u64 * 10 * MS).collect();
        assert!(held.iter().all(|t| t.abs_diff(held[0]) < MS), "all at one time: {held:?}");
        assert!(at(560).unwrap() < at(350).unwrap() - 150 * MS);
    }
    let lost = delays.iter().filter(|d| d.is_none()).count() as f64 / delays.len() as f64;
    close(lost, 0.52 / 15.0, 0.003);
}

/// Least delays step between slots, by up to 16 ms of the round trip, and stay in half of them.
#[test]
fn the_least_delay_steps_every_15_s() {
    let keys = "leo = { preset = 'starlink-fixed-2024', gap = 'none', jitter = '0 ms', slope = '0 ms' }";
    let delays = probed(&weather(keys), 3, "path0", "up", S, 9000);
    let slots: Vec<u64> = delays[12..].chunks_exact(15).map(|s| s[7].unwrap()).collect();
    // 60 % of 20 to 36 ms, and the serialisation of 64 octets.
    assert!(slots.iter().all(|d| (12 * MS..22 * MS).contains(d)));
    let same = slots.windows(2).filter(|w| w[0].abs_diff(w[1]) < MS / 10).count() as f64 / slots.len() as f64;
    close(same, 0.5, 0.1);
    for slot in delays[12..].chunks_exact(15) {
        assert!(slot.iter().all(|d| d.unwrap().abs_diff(slot[0].unwrap()) < MS / 10), "constant within a slot");
    }
}

/// Within a slot the round trip drifts evenly by up to 5 ms, as often to longer as to shorter: 60 %
/// of that in the uplink, here in 14 of 15 seconds.
#[test]
fn the_least_delay_drifts_both_ways() {
    let keys = "leo = { preset = 'starlink-fixed-2024', gap = 'none', jitter = '0 ms', step = '0 ms', slope = '5 ms' }";
    let delays = probed(&weather(keys), 3, "path0", "up", S, 9000);
    let slots = delays[12..].chunks_exact(15);
    let drifts: Vec<f64> = slots.map(|s| (s[14].unwrap() as f64 - s[0].unwrap() as f64) / MS as f64).collect();
    let most = 0.6 * 5.0 * 14.0 / 15.0 + 0.01;
    assert!(drifts.iter().all(|d| d.abs() <= most));
    // Evenly distributed: the mean of 599 has a standard deviation of 0.066 ms, and a quarter is in
    // each half of either side.
    close(drifts.iter().sum::<f64>() / drifts.len() as f64, 0.0, 0.25);
    close(drifts.iter().filter(|d| **d < -most / 2.0).count() as f64 / drifts.len() as f64, 0.25, 0.07);
}

/// Both directions have their gaps and outages together; each has its own rate.
#[test]
fn both_directions_are_under_one_sky() {
    let keys = "leo = { preset = 'starlink-mobile', gap = 'none' }";
    let both = |way: &str, w: &Weather| offered(w, 1, "path0", way, S, 7200);
    let (up, down) = (both("up", &weather(keys)), both("down", &down(keys)));
    let dark = |x: &[f64]| x.iter().map(|bits| *bits == 0.0).collect::<Vec<_>>();
    assert_eq!(dark(&up), dark(&down));
    assert!(dark(&up).iter().filter(|d| **d).count() > 100);
    assert!(up.iter().zip(&down).any(|(up, down)| (up - down).abs() > 1e6));
}

/// What happens at a time does not depend on who asked before.
#[test]
fn weather_is_the_same_for_whoever_sends() {
    for (kind, preset) in PRESETS {
        let w = weather(&format!("{kind} = {{ preset = '{preset}', outages = 0 }}"));
        let (often, seldom) = (probed(&w, 1, "p", "up", 20 * MS, 3000), probed(&w, 1, "p", "up", 100 * MS, 600));
        let apart = often.iter().step_by(5).zip(&seldom).filter(|(a, b)| match (a, b) {
            // An uplink that is asked seldom may have to ask for a grant or wake up.
            (Some(a), Some(b)) => a.abs_diff(*b) > 70 * MS,
            (a, b) => a != b,
        });
        assert_eq!(apart.count(), 0, "{preset}");
        let rate = |step: u64, n| offered(&w, 1, "p", "up", step, n);
        let summed: Vec<f64> = rate(S / 10, 600).chunks(10).map(|c| c.iter().sum()).collect();
        assert!(rate(S, 60).iter().zip(summed).all(|(a, b)| (a - b).abs() < 1.0), "{preset}");
    }
}

/// Packets arrive in the order in which they were sent, over every preset, with and without a queue.
#[test]
fn nothing_is_reordered() {
    on_two_threads(&PRESETS, |(kind, preset)| {
        for gap in [200_000, 3 * MS] {
            let mut l = link(&format!("{kind} = '{preset}'\nqueue = '1000000 packets'"), 5);
            let offers: Vec<(u64, u32)> = (0..20_000).map(|i| (i * gap, 1500)).collect();
            let arrivals: Vec<u64> = drive(&mut l, &offers).into_iter().flatten().collect();
            assert!(arrivals.is_sorted(), "{preset}");
            // What a managed queue drops and what gaps lose leaves most.
            assert!(arrivals.len() > 10_000, "{preset}: {}", arrivals.len());
        }
    });
}

/// A block of LTE fails in one case of ten, and is sent again 8 ms later: of lone packets 1 % come 16 ms later, and one in a thousand
/// fails three times, which takes 24 and 40 ms more.
#[test]
fn blocks_are_sent_again() {
    let keys = "cellular = { preset = 'lte-good', grant = '0 ms', grant_period = '0 ms', harq_tries = 2, rate = '1 Gbit/s', \
                most = '1 Gbit/s' }";
    let delays = probed(&weather(keys), 1, "path0", "up", 100 * MS, 200_000);
    let share = |from: u64, to: u64| {
        delays.iter().flatten().filter(|d| (from..to).contains(*d)).count() as f64 / delays.len() as f64
    };
    // With the block: at most 1 ms later.
    close(share(0, MS + 1), 0.9, 0.003);
    close(share(8 * MS, 9 * MS + 1), 0.09, 0.003);
    close(share(16 * MS, 17 * MS + 1), 0.009, 0.001);
    close(share(56 * MS, 57 * MS + 1), 0.001, 0.000_4);
}

/// A block that fails four times comes 3 * 8 + 40 ms late: so do all packets within it, also the
/// second one, which is offered when the block has been drawn. Each is delivered with its block, at
/// a whole number of milliseconds.
#[test]
fn all_packets_of_a_block_are_delivered_with_it() {
    let keys = "cellular = { preset = 'lte-good', grant = '0 ms', grant_period = '0 ms', sleep = '0 ms', harq_tries = 3, \
                block_error = 1.0, rate = '1 Gbit/s', most = '1 Gbit/s', least = '1 Gbit/s' }\ndelay = '0 ms'";
    let offers = [100_000, 300_000, 2_500_000].map(|at| (at, 1500));
    let arrivals: Vec<u64> = drive(&mut link(keys, 1), &offers).into_iter().map(|a| a.unwrap()).collect();
    let late = 3 * 8 * MS + 40 * MS;
    assert_eq!(arrivals, [MS + late, MS + late, 3 * MS + late]);
}

/// With an empty buffer: 8 ms to the grant and up to 10 until the next time to ask; after 100 ms of silence a downlink wakes up in up to
/// 40 ms.
#[test]
fn an_uplink_asks_for_a_grant_and_a_sleeper_wakes() {
    let still = "preset = 'lte-good', block_error = 0.0, interval = '0.1 ms', rate = '1 Gbit/s', most = '1 Gbit/s'";
    let range = |w: &Weather, interval: u64| {
        let delays = probed(w, 1, "path0", "up", interval, 10_000);
        let of = |d: &Option<u64>| d.unwrap() as f64 / MS as f64;
        (delays.iter().map(of).fold(f64::MAX, f64::min), delays.iter().map(of).fold(0.0, f64::max))
    };
    let up = range(&weather(&format!("cellular = {{ {still} }}")), 50 * MS);
    assert!(up.0 >= 8.0 && up.1 <= 18.2 && up.1 - up.0 > 9.8, "{up:?}");
    let awake = range(&down(&format!("cellular = {{ {still} }}")), 50 * MS);
    assert!(awake.1 <= 0.2, "{awake:?}");
    let asleep = range(&down(&format!("cellular = {{ {still} }}")), 150 * MS);
    assert!(asleep.0 < 0.5 && (39.0..40.2).contains(&asleep.1), "{asleep:?}");
}

/// A receiver that takes all that a link can carry gets what the link offers.
#[test]
fn a_saturated_link_carries_what_it_offers() {
    let text = "duration = '100 s'\n[connection]\nprotocol = 'udp'\n[transfer]\ndirection = 'down'\nduration = '80 s'\nrate = '400 Mbit/s'\n\
                [[path]]\nloss = '0 %'\n";
    for (kind, preset) in [("leo", "starlink-fixed-2022"), ("cellular", "lte-good"), ("cellular", "lte-driving")] {
        let keys = format!(
            "{kind} = {{ preset = '{preset}'{} }}",
            if kind == "leo" { ", gap = 'none'" } else { ", gap_loss = 0.0" }
        );
        let seen = summary(&format!("{text}{keys}"), &[]);
        let used = seen["subflows"][0]["utilisation"].as_f64().unwrap();
        assert!((0.99..=1.0).contains(&used), "{preset}: {used}");
    }
}

/// What is wrong is told with its place and what is allowed.
#[test]
fn wrong_keys_are_told() {
    let refused = |keys: &str| {
        let text = format!("transfer = {{}}\n[[path]]\n{keys}");
        anabranch_sim::scenario::parse(&text, "s.toml", &[], None).unwrap_err().to_string()
    };
    let cases = [
        ("leo = 'starlink-fixd-2024'", "did you mean \"starlink-fixed-2024\"?"),
        ("leo = { rate = '1 Mbit/s' }", "path[0].leo.preset: missing"),
        ("leo = { preset = 'starlink-roam', gap = 'lasers' }", "did you mean \"laser\"?"),
        ("leo = { preset = 'starlink-roam', phase = '20 s' }", "path[0].leo.phase"),
        ("leo = { preset = 'starlink-roam', least_down = '400 Mbit/s' }", "path[0].leo.least"),
        ("leo = 'starlink-roam'\ncellular = 'lte-good'", "path[0].leo: the link has both leo and cellular"),
        ("preset = 'starlink'\ncellular = 'lte-good'", "remove one of the two, or the preset that sets it"),
        ("preset = 'geo'\nleo = 'starlink-roam'", "remove it, or the preset that sets it; set the rate in leo"),
        (
            "leo = 'starlink-roam'\nrate = '5 Mbit/s'",
            "path[0].rate: not allowed beside `leo`, which sets rate and delay",
        ),
        (
            "cellular = 'lte-good'\ntrace_down = [1, 2]",
            "path[0].trace: not allowed beside `cellular`, which sets rate and delay",
        ),
        ("cellular = { preset = 'lte-good', handover = '1 ms' }", "path[0].cellular.handover"),
        ("cellular = { preset = 'lte-good', gap_median = '1 s', gap_p95 = '10 ms' }", "is less than gap_median"),
        ("cellular = { preset = 'lte-good', hark = '8 ms' }", "did you mean \"harq\"?"),
        (
            "leo = 'starlink-roam'\nchanges = [{ at = '1 s', rate = '1 Mbit/s' }]",
            "leo or cellular sets the rate of this link",
        ),
    ];
    for (keys, said) in cases {
        assert!(refused(keys).contains(said), "{keys}: {}", refused(keys));
    }
}
