//! Exchanges of 802.11n, ac and ax in a run: to the microsecond, order and bursts, what a station gives up, categories.

use serde_json::Value;

use crate::support::{MS, S, count, number, on_two_threads, scenario, summary, traced};
use crate::trace::Event;

const US: u64 = 1_000;

fn text(wifi: &str, connection: &str, transfer: &str, duration: &str) -> String {
    format!(
        "duration = '{duration}'
        connection = {{ protocol = 'udp', mss = 1472 {connection} }}
        transfer = {{ {transfer} }}
        path = [{{ wifi = {{ {wifi} }} }}]"
    )
}

/// A datagram that the client sends at once, before any beacon is near.
fn lone(wifi: &str) -> u64 {
    let text = text(wifi, "", "rate = '1 Mbit/s', bytes = '1472 B'", "40 ms");
    let rows = traced(&scenario(&text)).1;
    rows.iter().find(|r| r.is(Event::Arrive)).unwrap_or_else(|| panic!("nothing came: {rows:?}")).at
}

fn saturated(wifi: &str, duration: &str) -> Value {
    summary(&text(wifi, "", "direction = 'down'", duration), &[])
}

// 0 --- AIFS --- 43 us --- 1538 octets (1542 in VHT and HE) at the highest index --- arrival
#[test]
fn a_datagram_on_an_idle_medium_waits_an_aifs_and_flies() {
    let n = "standard = '802.11n', distance = '5 m'";
    assert_eq!(lone(&format!("{n}, mcs = 7")), (43 + 228) * US);
    assert_eq!(lone(&format!("{n}, mcs = 7, guard_interval = '0.4 us'")), 43 * US + 36 * US + 48 * 3_600);
    // SIFS 10 us at 2.4 GHz, and 6 us of signal extension.
    assert_eq!(lone(&format!("{n}, mcs = 7, band = '2.4 GHz'")), (37 + 234) * US);
    // VHT: 40 us and 8 symbols of 4 us. HE: 43.2 us and 2 symbols of 13.6 us.
    assert_eq!(lone("standard = '802.11ac', mcs = 9, distance = '5 m'"), (43 + 40 + 32) * US);
    assert_eq!(lone("standard = '802.11ax', mcs = 11, distance = '1 m'"), (43 + 43) * US + 200 + 2 * 13_600);
    // Voice: AIFS 34 us.
    assert_eq!(lone(&format!("{n}, mcs = 7, category = 'voice'")), (34 + 228) * US);
}

// 802.11-2016 10.22.2.4: later datagrams, too, go at slot boundaries. After an exchange the medium has been idle for longer than
// an AIFS, so each waits less than a slot, and flies for 228 us.
#[test]
fn a_datagram_on_a_medium_long_idle_waits_for_the_next_slot_only() {
    let text = text("standard = '802.11n', mcs = 7, distance = '5 m'", "", "rate = '1.013 Mbit/s'", "60 ms");
    let rows = traced(&scenario(&text)).1;
    let at = |kind| -> Vec<u64> { rows.iter().filter(|r| r.is(kind)).map(|r| r.at).collect() };
    let (sent, arrived) = (at(Event::Send), at(Event::Arrive));
    assert!(arrived.len() > 4, "{rows:?}");
    let waits: Vec<u64> = sent.iter().zip(&arrived).skip(1).map(|(s, a)| a - s - 228 * US).collect();
    assert!(waits.iter().all(|w| *w < 9 * US) && waits.iter().any(|w| *w > 0), "{waits:?}");
}

/// RTS collide, the aggregates they announce do not: ns-3 sends less than one frame in a thousand again.
#[test]
fn what_an_rts_in_vain_announced_was_not_sent() {
    let text = "duration = '1 s'
        connection = { protocol = 'tcp', mss = 1448, receive_buffer = '4 MB' }
        transfer = { direction = 'down', bytes = '10 TB' }
        path = [{ wifi = { standard = '802.11ac', mcs = 9, distance = '1 m', rts_threshold = '0 B' } }]";
    let down = &summary(text, &[])["radio"][0]["down"];
    assert!(number(&down["mpdus"]) > 10_000.0);
    assert!(number(&down["retransmitted"]) < 1e-3 * number(&down["mpdus"]), "{down}");
}

/// Every tenth frame is lost, none twice in a row seven times: whatever is late comes in order, and in bursts.
#[test]
fn loss_becomes_delay_and_packets_come_in_order_and_in_bursts() {
    let wifi = "standard = '802.11ac', mcs = 9, distance = '11.75 m', like = 'ns-3'";
    let text = text(wifi, "", "direction = 'down'", "1 s");
    let (run, rows) = traced(&scenario(&text));
    assert_eq!(count(&run.summary["ooo_buffer_max_packets"]), 0, "nothing overtakes");
    assert_eq!(number(&run.summary["ooo_ratio"]), 0.0);
    let arrivals: Vec<u64> = rows.iter().filter(|r| r.is(Event::Arrive)).map(|r| r.at).collect();
    let mut bursts: Vec<usize> = arrivals.chunk_by(|a, b| a == b).map(<[u64]>::len).collect();
    bursts.sort_unstable();
    // The window of 64 is the longest burst; 27 to 33 frames are released on average (a model of the window alone).
    let mean = arrivals.len() as f64 / bursts.len() as f64;
    assert!(bursts.last().is_some_and(|most| (50..=64).contains(most)), "{bursts:?}");
    assert!((25.0..36.0).contains(&mean), "{mean}");
    let down = &run.summary["radio"][0]["down"];
    let again = number(&down["retransmitted"]) / number(&down["mpdus"]);
    assert!((0.08..0.12).contains(&again), "{again}");
}

/// Every second frame is lost. With a limit of 7 transmissions one in 2^7 is given up, ns-3 gives up none for that.
#[test]
fn the_retry_limit_holds_for_each_frame_of_an_aggregate() {
    let wifi = |like: &str| {
        format!("standard = '802.11ac', mcs = 9, distance = '12.6 m', like = '{like}', ampdu_limit = '65535 B'")
    };
    let lost = |like: &str| {
        let text = text(&wifi(like), "", "direction = 'down'", "4 s");
        let (run, rows) = traced(&scenario(&text));
        let retries = rows.iter().filter(|r| r.word("dropped:") == Some("Retries")).count();
        (retries as f64, number(&run.summary["segments"]), number(&run.summary["radio"][0]["down"]["requests"]))
    };
    let (given_up, _, requests) = lost("standard");
    let arrived = number(&saturated(&wifi("standard"), "4 s")["bytes_delivered"]) / 1472.0;
    let share = given_up / (arrived + given_up);
    assert!((share - 0.5_f64.powi(7)).abs() < 0.003, "{share}");
    assert!(requests > given_up / 8.0, "the recipient is told of holes: {requests} requests, {given_up} given up");
    // ns-3 gave up 0 to 26 frames in ten seconds: those that were sent by themselves seven times in a row.
    assert!(lost("ns-3").0 <= 10.0);
}

/// Every second frame is lost, each is sent by itself, and packets grow old: after each such hole a request is answered. ns-3's
/// count of missed answers goes on over that. Six seeds gave up 215 to 250 frames in ten seconds for their retries; were it
/// reset, 2^-7 or so of all 9000 would be 120.
#[test]
fn the_count_of_missed_answers_is_ns3_s() {
    let wifi =
        "standard = '802.11ax', mcs = 11, channel_width = '80 MHz', guard_interval = '0.8 us', distance = '6.13 m',
        ampdu_limit = '0 B', like = 'ns-3', tx_power = '16.0206 dBm'";
    let rows = traced(&scenario(&text(&wifi.replace('\n', " "), "", "direction = 'down'", "10 s"))).1;
    let given_up = rows.iter().filter(|r| r.word("dropped:") == Some("Retries")).count();
    assert!((190..280).contains(&given_up), "{given_up}");
}

/// A walk out of range: what is not acknowledged is given up by age, and the way back works again.
#[test]
fn a_station_walks_out_of_range_and_back() {
    let wifi = "standard = '802.11ax', mcs = 3, distance = '5 m',
        waypoints = [{ at = '1 s', distance = '5 m' }, { at = '1.1 s', distance = '200 m' }, { at = '3 s', distance = '200 m' }, { at = '4 s', distance = '5 m' }]";
    let text =
        text(wifi, "", "direction = 'down', rate = '20 Mbit/s'", "6 s").replace("\n        waypoints", " waypoints");
    let rows = traced(&scenario(&text)).1;
    let arrivals =
        |from: u64, to: u64| rows.iter().filter(|r| r.is(Event::Arrive) && (from..to).contains(&r.at)).count();
    assert!(arrivals(0, S) > 1600);
    assert_eq!(arrivals(S + S / 10, 3 * S), 0);
    // 20 Mbit/s are 1698 datagrams a second.
    assert!(arrivals(5 * S, 6 * S) > 1650, "{}", arrivals(5 * S, 6 * S));
    assert!(rows.iter().any(|r| r.word("dropped:") == Some("Age")));
}

#[test]
fn a_wireless_link_of_802_11ax_fails_and_works_again() {
    let wifi = "standard = '802.11ax', mcs = 7, distance = '5 m'";
    let text = text(wifi, "", "direction = 'down', rate = '50 Mbit/s'", "3 s")
        .replace("} }]", "}, changes = [{ at = '1 s', state = 'down' }, { at = '2 s', state = 'up' }] }]");
    let rows = traced(&scenario(&text)).1;
    let arrivals =
        |from: u64, to: u64| rows.iter().filter(|r| r.is(Event::Arrive) && (from..to).contains(&r.at)).count();
    assert!(arrivals(0, S) > 4_000 && arrivals(2 * S, 3 * S) > 4_000);
    assert_eq!(arrivals(S + 10 * MS, 2 * S), 0);
}

/// A window of 256 frames carries more than one of 64 where octets and time allow it, by the closed form: 535.1 against 505
/// Mbit/s at HE80 MCS 11.
#[test]
fn a_larger_window_makes_longer_aggregates() {
    let of = |window: u32| {
        let wifi = format!(
            "standard = '802.11ax', mcs = 11, distance = '1 m', like = 'ns-3', ampdu_limit = '1048575 B', block_ack_window = {window}"
        );
        let s = saturated(&wifi, "2 s");
        (number(&s["radio"][0]["down"]["mpdus_per_ppdu"]), number(&s["goodput_mbps"]))
    };
    let ((small, slow), (large, fast)) = (of(64), of(256));
    assert!((63.0..=64.0).contains(&small) && (230.0..=256.0).contains(&large), "{small}, {large}");
    assert!(fast > slow * 1.03, "{slow}, {fast}");
}

/// Two stations send as much as they can, one of them as voice or background: who waits less gets more.
#[test]
fn categories_contend_each_in_its_way() {
    let shares = |category: &str| {
        let station = |name: &str, category: &str| {
            format!(
                "[[host]]\nname = '{name}'\n[[link]]\nname = 'l{name}'\nfrom = '{name}'\nto = '{name}ap'
                wifi = {{ standard = '802.11n', mcs = 7, channel = 'one', distance = '5 m', category = '{category}', aggregation = false }}
                [[router]]\nname = '{name}ap'\n[[link]]\nname = 'w{name}'\nfrom = '{name}ap'\nto = 'server'\nrate = '1 Gbit/s'
                [[connection]]\nname = '{name}'\nprotocol = 'udp'\nclient = '{name}'\nserver = 'server'\ntransfer = {{ direction = 'up' }}\n"
            )
        };
        let text = format!(
            "duration = '2 s'\n[[host]]\nname = 'server'\n{}{}",
            station("a", "best effort"),
            station("b", category)
        );
        let s = summary(&text, &[]);
        let of = |i: usize| number(&s["connections"][i]["bytes_delivered"]);
        of(1) / (of(0) + of(1))
    };
    let found = on_two_threads(&["background", "best effort", "video", "voice"], |c| shares(c));
    assert!(found[0] < 0.4 && (0.45..0.55).contains(&found[1]) && found[2] > 0.6 && found[3] > found[2], "{found:?}");
}

/// Voice may hold the medium for 1.504 ms: several frames an access, a SIFS apart, so more is carried than with one.
#[test]
fn a_txop_carries_frame_after_frame() {
    let of = |txop: &str| {
        let wifi = format!("standard = '802.11n', mcs = 7, distance = '5 m', aggregation = false {txop}");
        number(&saturated(&wifi, "2 s")["goodput_mbps"])
    };
    let (one, many) = (of(""), of(", txop_limit = '3 ms'"));
    // 382.5 us a frame with its access; without it 228 + 16 + 28 + 16 = 288 us, ten in 3 ms.
    assert!((one - 30.7).abs() < 0.2, "{one}");
    let wanted = 10.0 * 1472.0 * 8.0 / (43.0 + 67.5 + 10.0 * 288.0 - 16.0);
    assert!((many / wanted - 1.0).abs() < 0.02, "{many}, not {wanted:.2}");
}

/// At 25 m MCS 4 works in 80 MHz and MCS 5 does not: Minstrel-HT gets at least three quarters of what MCS 4 carries.
#[test]
fn minstrel_ht_finds_a_rate_that_works() {
    let of = |rate: &str| {
        let wifi = format!("standard = '802.11ac', {rate}, distance = '29 m'");
        number(&saturated(&wifi, "5 s")["goodput_mbps"])
    };
    let found = on_two_threads(&["mcs = 4", "mcs = 5", "rate = 'minstrel'", "mcs = 'minstrel'"], |r| of(r));
    assert!(found[1] < 0.2 * found[0], "{found:?}");
    assert!(found[2] > 0.7 * found[0] && found[2] == found[3], "{found:?}");
}

/// Minstrel-HT against the best constant index. What it lacks is what samples cost; at 20 m, too, that a share above nine in ten
/// counts as nine in ten: MCS 6, which loses one frame in seven, seems better than MCS 5, which loses hardly any.
#[test]
fn minstrel_ht_comes_near_the_best_constant_index() {
    let cases = [
        ("802.11n", 20, 10, 0..8, 0.95),
        ("802.11n", 40, 35, 0..8, 0.94),
        ("802.11ac", 80, 25, 0..10, 0.94),
        ("802.11ax", 80, 10, 0..12, 0.95),
        ("802.11ax", 80, 20, 0..12, 0.85),
        ("802.11ax", 80, 35, 0..12, 0.93),
    ];
    for (standard, width, distance, indices, share) in cases {
        let of = |key: &str, duration: &str| {
            let wifi =
                format!("standard = '{standard}', channel_width = '{width} MHz', {key}, distance = '{distance} m'");
            number(&saturated(&wifi, duration)["goodput_mbps"])
        };
        let keys: Vec<String> = indices.map(|mcs| format!("mcs = {mcs}")).collect();
        let best = on_two_threads(&keys, |key| of(key, "1 s")).into_iter().fold(0.0, f64::max);
        let found = of("rate = 'minstrel'", "4 s");
        assert!((share..1.01).contains(&(found / best)), "{standard}, {width} MHz, {distance} m: {found} of {best}");
    }
}
