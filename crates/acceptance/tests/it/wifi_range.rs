//! Where nothing of a wireless link is noticed any more, from the keys of a scenario.

use anabranch_wifi::Wifi;

use crate::support::scenario;

fn wifi(keys: &str) -> Wifi {
    wifi_of("802.11g", keys)
}

fn wifi_of(standard: &str, keys: &str) -> Wifi {
    let text = format!("transfer = {{}}\npath = [{{ wifi = {{ standard = '{standard}', {keys} }} }}]");
    let scenario = scenario(&text);
    scenario.links[0].wifi.clone().expect("a wireless link")
}

const S: u64 = 1_000_000_000;

/// 16 dBm less 40 dB at 1 m and 30 dB a decade: -82 dBm at 10^(58/30) m, 85.8 m.
const AIR: &str = "tx_power = '16 dBm', path_loss_exponent = 3.0, reference_loss = '40 dB', reference_distance = '1 m'";

#[test]
fn a_station_at_rest_is_in_range_or_never() {
    for (metres, out) in [(85, None), (86, Some(0)), (300, Some(0))] {
        let w = wifi(&format!("{AIR}, distance = '{metres} m'"));
        assert_eq!(w.out_of_range_from(1000 * S), out, "{metres} m: {} dBm", w.received_dbm(0));
    }
    let far = wifi(&format!("{AIR}, distance = '100 m'"));
    assert!((far.received_dbm(0) + 84.0).abs() < 1e-9);
    let sensitive = wifi(&format!("{AIR}, distance = '100 m', preamble_detection = false"));
    assert_eq!(sensitive.out_of_range_from(S), None);
}

/// At MCS 9 in 80 MHz one frame in a hundred arrives at a signal-to-noise ratio of 23.2 dB: with
/// noise of -87.9 dBm, at -64.8 dBm. At MCS 0, and with Minstrel-HT, which may choose MCS 0, frames
/// are received down to the detection threshold of -82 dBm.
#[test]
fn a_constant_mcs_ends_where_its_frames_are_not_read() {
    let far = |mcs: &str| wifi_of("802.11ac", &format!("mcs = {mcs}, distance = '20 m'"));
    assert!((far("9").least_dbm() + 64.8).abs() < 0.2, "{}", far("9").least_dbm());
    assert_eq!((far("0").least_dbm(), far("'minstrel'").least_dbm()), (-82.0, -82.0));
    assert_eq!((far("9").out_of_range_from(S), far("0").out_of_range_from(S)), (Some(0), None));
}

/// From 10 m at 2 m/s: 85.8 m are reached after 37.9 s, or not within the run.
#[test]
fn a_walk_leaves_the_range_where_its_power_falls_below_the_threshold() {
    let w = wifi(&format!("{AIR}, distance = '10 m', velocity = '2 m/s'"));
    let at = w.out_of_range_from(100 * S).expect("it walks away");
    let metres = 10_f64.powf(58.0 / 30.0);
    assert!((w.distance(at) - metres).abs() < 1e-3, "{} m", w.distance(at));
    assert!((at as f64 / 1e9 - (metres - 10.0) / 2.0).abs() < 1e-3, "{at}");
    assert_eq!(w.out_of_range_from(30 * S), None);
}
