//! The table `wifi = { ... }`: what it is without a word, and what it refuses.

use anabranch_sim::scenario;
use anabranch_wifi::aggregate::Limits;
use anabranch_wifi::channel::{Fading, PathLoss};
use anabranch_wifi::edca::Category;
use anabranch_wifi::error::Model;
use anabranch_wifi::mobility::Movement;
use anabranch_wifi::phy::{Band, Like, Standard};
use anabranch_wifi::rate::Choice;
use anabranch_wifi::{Air, HighThroughput, Wifi};

fn parse(path: &str) -> Result<Wifi, String> {
    let text = format!("transfer = {{ duration = '1 s' }}\n[[path]]\n{path}");
    let scenario = scenario::parse(&text, "demo.toml", &[], None).map_err(|e| e.to_string())?;
    Ok(scenario.links[0].wifi.clone().expect("the path is wireless"))
}

#[test]
fn an_empty_table_is_802_11g_at_54_mbit_s_30_m_from_an_access_point() {
    let wifi = parse("wifi = {}").unwrap();
    let wanted = Wifi {
        channel: wifi.channel.clone(),
        air: Air {
            standard: Standard::G,
            width: 20,
            band: Band::Two,
            like: Like::Standard,
            ad_hoc: false,
            path_loss: PathLoss::LogDistance { exponent: 3.0, reference_db: 46.6777, reference_m: 1.0 },
            fading: Fading::None,
            error_model: Model::Table,
            preamble_detection: true,
            noise_figure_db: 7.0,
        },
        station: Movement::at_rest([30.0, 0.0]),
        access_point: [0.0, 0.0],
        wired: false,
        rate: Choice::Constant(54_000),
        tx_power_dbm: 16.02,
        retry_limit: 7,
        rts_threshold: None,
        queue: 500,
        max_age: 500_000_000,
        high: None,
    };
    assert_eq!(wifi, wanted);
    assert!(
        parse("rate = '100 Mbit/s'\nwifi = {}").unwrap().wired && parse("delay = '1 ms'\nwifi = {}").unwrap().wired
    );
    let b = parse("wifi = { standard = '802.11b' }").unwrap();
    assert_eq!((b.rate, b.air.width), (Choice::Constant(11_000), 20));
    let p = parse("wifi = { standard = '802.11p' }").unwrap();
    assert_eq!((p.rate, p.air.width), (Choice::Constant(27_000), 10));
}

/// Place, value, reason, remedy: in a sentence and a hint.
#[test]
fn what_cannot_be_is_refused_with_the_reason() {
    for (keys, place, reason) in [
        ("standard = '802.11m'", "standard", "unknown standard \"802.11m\""),
        ("rate = '7 Mbit/s'", "rate", "\"7 Mbit/s\" is not a rate of 802.11g in 20 MHz"),
        ("standard = '802.11b', rate = '54 Mbit/s'", "rate", "is not a rate of 802.11b in 20 MHz"),
        ("channel_width = '10 MHz', rate = '54 Mbit/s'", "rate", "its rates in Mbit/s: 3, 4.5, 6, 9, 12, 18, 24, 27"),
        ("rate = 'minstrle'", "rate", "\"minstrel\""),
        ("distance = '-3 m'", "distance", "\"-3 m\" is negative"),
        ("distance = 30", "distance", "found 30"),
        ("distance = '3 s'", "distance", "\"3 s\""),
        ("mode = 'adhoc'", "mode", "did you mean \"ad-hoc\"?"),
        ("fading = 'rician'", "fading", "unknown fading \"rician\""),
        ("error_model = 'yans'", "error_model", "unknown error model \"yans\""),
        ("preamble_detection = 'on'", "preamble_detection", "expected true or false"),
        ("channel_width = '40 MHz'", "channel_width", "802.11g has no channels of \"40 MHz\""),
        ("standard = '802.11b', channel_width = '10 MHz'", "channel_width", "802.11b has no channels of \"10 MHz\""),
        ("path_loss_exponent = -1", "path_loss_exponent", "allowed: a number from 0 to 10"),
        ("path_loss = 'friis', path_loss_exponent = 2", "path_loss_exponent", "depends on distance and frequency only"),
        ("nakagami_m = 1.5", "nakagami_m", "needs fading = \"nakagami\""),
        ("fading = 'nakagami', nakagami_m = 0.1", "nakagami_m", "allowed: 0.5 to 1000"),
        ("retry_limit = 0", "retry_limit", "allowed: a whole number from 1 to 255"),
        ("queue = '0 packets'", "queue", "is out of range"),
        ("distance = '3 m', position = ['3 m', '0 m']", "position", "both distance and position"),
        ("position = ['3 m']", "position", "expected two coordinates, found 1"),
        (
            "velocity = '1 m/s', waypoints = [{ at = '1 s', distance = '5 m' }]",
            "waypoints",
            "both velocity and waypoints",
        ),
        (
            "waypoints = [{ at = '2 s', distance = '5 m' }, { at = '1 s', distance = '6 m' }]",
            "waypoints[1].at",
            "order of time",
        ),
        ("waypoints = [{ distance = '5 m' }]", "waypoints[0].at", "missing"),
        ("waypoints = [{ at = '1 s' }]", "waypoints[0]", "either a distance or a position"),
        ("tx_powr = '3 dBm'", "tx_powr", "did you mean \"tx_power\"?"),
    ] {
        let said = parse(&format!("wifi = {{ {keys} }}")).expect_err(keys);
        assert!(said.starts_with(&format!("demo.toml: path[0].wifi.{place}: ")), "{keys}: {said}");
        assert!(said.contains(reason), "{keys}: {said}");
    }
    let said = parse("rate = '1 Mbit/s'\nwifi = { mode = 'ad-hoc' }").expect_err("no access point");
    assert!(said.contains("path[0].wifi.mode: an ad-hoc path has no access point"), "{said}");
    let said = parse("wifi = '802.11g'").expect_err("no table");
    assert!(said.contains("path[0].wifi: expected a table"), "{said}");
    let said = parse("wifi = { channel = 'a' }\n[[path]]\nwifi = { channel = 'a', fading = 'rayleigh' }")
        .expect_err("one air");
    assert!(said.contains("path[1].wifi.channel: channel \"a\" has other properties"), "{said}");
}

#[test]
fn the_defaults_from_802_11n_on_are_the_standards() {
    let of = |keys: &str| parse(&format!("wifi = {{ {keys} }}")).unwrap();
    let ax = of("standard = '802.11ax'");
    let limits = Limits { ampdu: 6_500_631, amsdu: 0, window: 64 };
    let wanted = HighThroughput { streams: 1, guard: 800, limits, category: Category::BestEffort, txop: None };
    assert_eq!((ax.high, ax.rts_threshold, ax.air.width, ax.air.band), (Some(wanted), None, 80, Band::Five));
    assert_eq!(ax.rate, Choice::Mcs { mcs: 11, streams: 1, guard: 800 });
    assert_eq!(ax.peak_rate(), 600_490_000);
    let like = of("standard = '802.11ax', like = 'ns-3'");
    assert_eq!((like.high.unwrap().limits.ampdu, like.rts_threshold), (65_535, Some(65_535)));
    let single = of("standard = '802.11ac', aggregation = false, channel_width = '20 MHz'");
    assert_eq!((single.high.unwrap().limits.ampdu, single.rate), (0, Choice::Mcs { mcs: 8, streams: 1, guard: 800 }));
    // 802.11n's indices go on with the streams; a rate says the same as an index.
    let two = Choice::Mcs { mcs: 7, streams: 2, guard: 400 };
    let n = "standard = '802.11n', channel_width = '40 MHz', guard_interval = '0.4 us'";
    assert_eq!(of(&format!("{n}, mcs = 15")).rate, two);
    assert_eq!(of(&format!("{n}, mcs = 7, streams = 2")).rate, two);
    assert_eq!(of(&format!("{n}, rate = '300 Mbit/s', streams = 2")).rate, two);
    assert_eq!(
        of("standard = '802.11ax', rate = 'minstrel', streams = 2").rate,
        Choice::MinstrelHt { streams: 2, guard: 800 }
    );
}

/// Widths, indices and streams that do not exist together: what is allowed, in one sentence.
#[test]
fn what_cannot_be_from_802_11n_on_is_refused_with_what_is_allowed() {
    for (keys, place, part) in [
        ("mcs = 7", "mcs", "802.11g does not have the key mcs"),
        ("standard = '802.11a', aggregation = true", "aggregation", "802.11a does not have the key aggregation"),
        ("standard = '802.11n', channel_width = '80 MHz'", "channel_width", "allowed with it: \"20 MHz\", \"40 MHz\""),
        (
            "standard = '802.11ac', channel_width = '20 MHz', mcs = 9",
            "mcs",
            "802.11ac in 20 MHz has no MCS 9 with 1 stream\n  allowed with it: 0 to 8",
        ),
        (
            "standard = '802.11ax', mcs = 12, streams = 2",
            "mcs",
            "802.11ax in 80 MHz has no MCS 12 with 2 streams\n  allowed with it: 0 to 11",
        ),
        ("standard = '802.11n', mcs = 16", "mcs", "allowed with it: 0 to 7, or 8 to 15 with two streams"),
        (
            "standard = '802.11n', mcs = 12, streams = 1",
            "mcs",
            "802.11n's MCS 12 has two streams\n  allowed with one stream: 0 to 7",
        ),
        ("standard = '802.11ax', streams = 3", "streams", "allowed: a whole number from 1 to 2"),
        (
            "standard = '802.11ax', guard_interval = '0.4 us'",
            "guard_interval",
            "allowed with it: \"0.8 us\", \"1.6 us\", \"3.2 us\"",
        ),
        ("standard = '802.11ac', band = '2.4 GHz'", "band", "allowed with it: \"5 GHz\""),
        ("standard = '802.11ax', band = '2.4 GHz'", "channel_width", "allowed in it: \"20 MHz\", \"40 MHz\""),
        ("standard = '802.11ax', mode = 'ad-hoc'", "mode", "allowed with it: \"infrastructure\""),
        (
            "standard = '802.11ac', block_ack_window = 256",
            "block_ack_window",
            "allowed with it: a whole number from 1 to 64",
        ),
        ("standard = '802.11ax', rate = '54 Mbit/s'", "rate", "its rates in Mbit/s: 36.0, 72.1"),
        ("standard = '802.11ax', rate = 'minstrel', mcs = 3", "rate", "both rate and mcs"),
        ("standard = '802.11ax', mcs = 'minstrle'", "mcs", "did you mean \"minstrel\"?"),
        (
            "standard = '802.11n', mcs = 'best'",
            "mcs",
            "unknown MCS \"best\"\n  allowed: \"minstrel\", or a number without quotes, 0 to 7, or 8 to 15 with two streams",
        ),
        ("standard = '802.11ax', mcs = '7'", "mcs", "or a number without quotes, 0 to 11"),
        (
            "standard = '802.11ax', aggregation = false, ampdu_limit = '1 kB'",
            "ampdu_limit",
            "sends one packet per frame",
        ),
        ("standard = '802.11n', ampdu_limit = '1 MB'", "ampdu_limit", "65535"),
        ("standard = '802.11ax', category = 'best-effort'", "category", "did you mean \"best effort\"?"),
        ("standard = '802.11ax', like = 'ns3'", "like", "did you mean \"ns-3\"?"),
    ] {
        let said = parse(&format!("wifi = {{ {keys} }}")).expect_err(keys);
        assert!(said.starts_with(&format!("demo.toml: path[0].wifi.{place}: ")), "{keys}: {said}");
        assert!(said.contains(part), "{keys}: {said}");
    }
}
