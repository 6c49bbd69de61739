//! The keys of a path or link.

use anabranch_sim::scenario::schema::{MIDDLEBOX, PATH, WIFI};
use anabranch_sim::scenario::{middlebox, presets, vary};
use toml::{Table, Value};

use super::Kind;
use super::keys::drawn;
use crate::dice::{Dice, micros, table};

/// When something happens in a run.
pub fn moment(dice: &mut Dice) -> Value {
    match dice.whole(0, 9) {
        0 => Value::from("0 s"),
        1 => micros(dice.spread(10_000_000, 200_000_000)),
        _ => micros(dice.spread(1_000, 8_000_000)),
    }
}

/// A rate; a large transfer has no hour to wait for it.
fn rate(dice: &mut Dice, kind: Kind) -> Value {
    let least = if kind == Kind::Large { 1_000 } else { 64 };
    Value::from(format!("{} kbit/s", dice.spread(least, 1_000_000)))
}

fn delay(dice: &mut Dice) -> Value {
    match dice.whole(0, 9) {
        0 => Value::from("0 ms"),
        1 => dice.micros(200_000, 2_000_000),
        2 => dice.micros(1, 1_000),
        _ => dice.micros(500, 200_000),
    }
}

/// Random loss up to 30 %, or in bursts.
fn loss(dice: &mut Dice) -> Value {
    match dice.whole(0, 9) {
        0..3 => {
            let (bad, back) = (dice.share(5.0), Value::from(format!("{:.2} %", dice.real(5.0, 100.0))));
            let mut keys = vec![("good_to_bad", bad), ("bad_to_good", back)];
            if dice.percent(50) {
                keys.push(("loss_bad", dice.share(100.0)));
            }
            if dice.percent(30) {
                keys.push(("loss_good", dice.share(5.0)));
            }
            Value::Table(keys.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())
        }
        3 | 4 => Value::from(format!("{:.2} %", dice.real(10.0, 30.0))),
        _ => dice.share(8.0),
    }
}

fn queue(dice: &mut Dice) -> Value {
    match dice.whole(0, 9) {
        0 => Value::from("0 packets"),
        1 | 2 => dice.octets(1500, 1_000_000),
        _ => Value::from(format!("{} packets", dice.spread(1, 1000))),
    }
}

fn discipline(dice: &mut Dice) -> Value {
    let name = dice.pick(&["drop-tail", "red", "codel", "fq-codel"]);
    if dice.percent(50) {
        return Value::from(name);
    }
    // The reader refuses what is another discipline's.
    let min = dice.whole(1, 30);
    let mut keys = Table::new();
    for (key, value) in [
        ("min", Value::from(format!("{min} packets"))),
        ("max", Value::from(format!("{} packets", min + dice.whole(1, 60)))),
        ("probability", Value::from(format!("{:.2} %", dice.real(0.5, 100.0)))),
        ("weight", Value::from(format!("{:.2} %", dice.real(0.1, 50.0)))),
        ("target", dice.micros(100, 100_000)),
        ("interval", dice.micros(1_000, 1_000_000)),
        ("quantum", dice.octets(64, 10_000)),
        ("flows", Value::Integer(dice.spread(1, 2048) as i64)),
    ] {
        if dice.percent(60) {
            keys.insert(key.into(), value);
        }
    }
    keys.insert("name".into(), Value::from(name));
    Value::Table(keys)
}

fn trace(dice: &mut Dice) -> Value {
    let mut at = 0;
    let stamps = (0..dice.spread(1, 60)).map(|_| {
        at += dice.whole(0, 12);
        Value::Integer(at as i64)
    });
    let mut stamps: Vec<Value> = stamps.collect();
    stamps.push(Value::Integer(at as i64 + 1));
    Value::Array(stamps)
}

/// The value of a key of a link that may differ between its directions.
fn directed(dice: &mut Dice, key: &str, kind: Kind) -> Value {
    match key {
        "rate" => rate(dice, kind),
        "delay" => delay(dice),
        "delay_redraw" => match dice.whole(0, 2) {
            0 => dice.micros(100, 1_000_000),
            _ => dice.word(&["packet", "write"]),
        },
        "trace" => trace(dice),
        "queue" => queue(dice),
        "discipline" => discipline(dice),
        "loss" => loss(dice),
        "duplication" => {
            let most = dice.pick(&[2.0, 50.0]);
            dice.share(most)
        }
        "mtu" if dice.percent(70) => dice.octets(300, 1500),
        "mtu" => table([("size", dice.octets(128, 9000)), ("icmp", dice.flag())]),
        other => unreachable!("what {other} of a link may be is not written here"),
    }
}

/// The keys of a path; of a link that others share as well, if `shared`.
pub fn path(dice: &mut Dice, kind: Kind) -> Table {
    let mut keys = wire(dice, kind);
    for key in PATH.keys().filter(|key| key.often > 0 && !key.directed) {
        if dice.percent(key.often) {
            keys.extend(drawn(dice, key).map(|value| (key.name.to_owned(), value)));
        }
    }
    if dice.percent(20) || kind == Kind::Boxed {
        let boxes = (0..dice.spread(1, 3)).map(|_| middlebox(dice, kind)).collect();
        keys.insert("middleboxes".into(), Value::Array(boxes));
    }
    if dice.percent(18) {
        keys.insert("changes".into(), Value::Array(changes(dice, kind)));
    }
    if dice.percent(4) && kind != Kind::Large {
        keys.insert("wifi".into(), wifi(dice));
    }
    // What contradicts them is taken out again; of a preset that cannot be, so it comes alone.
    if dice.percent(4) && !keys.contains_key("wifi") {
        let (key, presets) = dice.pick(&[("leo", vary::LEO), ("cellular", vary::CELLULAR)]);
        keys.insert(key.into(), dice.word(presets));
    }
    let special = ["wifi", "leo", "cellular", "trace", "trace_up", "trace_down", "changes"];
    if dice.percent(2) && kind != Kind::Large && !special.iter().any(|key| keys.contains_key(*key)) {
        let preset = presets::PRESETS[dice.whole(0, presets::PRESETS.len() as u64 - 1) as usize];
        keys.insert("preset".into(), dice.word(preset.names));
    }
    keys
}

/// The keys that describe the wire.
pub fn wire(dice: &mut Dice, kind: Kind) -> Table {
    let mut keys = Table::new();
    for key in PATH.keys().filter(|key| key.directed) {
        if !dice.percent(key.often) {
            continue;
        }
        let endings: &[&str] = match dice.whole(0, 9) {
            0 => &["_up"],
            1 => &["_down"],
            2 => &["_up", "_down"],
            _ => &[""],
        };
        for ending in endings {
            let value = drawn(dice, key).unwrap_or_else(|| directed(dice, key.name, kind));
            keys.insert(format!("{}{ending}", key.name), value);
        }
    }
    keys
}

fn middlebox(dice: &mut Dice, kind: Kind) -> Value {
    let touches = kind == Kind::Boxed && dice.percent(50);
    let all = middlebox::REGISTRY.iter().filter(|b| !touches || touches_mappings(&b.kind));
    let names: Vec<&str> = all.map(|b| b.name).collect();
    let name = dice.pick(&names);
    if dice.percent(40) {
        return Value::from(name);
    }
    // The reader refuses what is another box's.
    let mut keys = Table::new();
    keys.insert("kind".into(), Value::from(name));
    for key in MIDDLEBOX.keys().filter(|key| key.often > 0) {
        if dice.percent(key.often) {
            keys.insert(key.name.into(), drawn(dice, key).unwrap_or_else(|| parameter(dice, key.name)));
        }
    }
    Value::Table(keys)
}

/// It changes what Multipath TCP says of data, or the data: a connection may have to fall back.
fn touches_mappings(kind: &middlebox::Kind) -> bool {
    use middlebox::Kind::{Acks, AlterLength, AlterPayload, StripMptcp};
    let ahead = matches!(kind, Acks { how: middlebox::Pattern::Optimistic, .. });
    ahead || matches!(kind, StripMptcp(_) | AlterPayload { .. } | AlterLength { .. })
}

/// The value of a parameter of a middlebox.
fn parameter(dice: &mut Dice, key: &str) -> Value {
    match key {
        "at" | "until" => moment(dice),
        "options" => dice.word(&["all", "first", "last"]),
        "grow" => Value::Integer(dice.whole(1, 200) as i64 - 100),
        other => unreachable!("what {other} of a middlebox may be is not written here"),
    }
}

/// What happens to the link later: it fails and comes back, or becomes another one.
fn changes(dice: &mut Dice, kind: Kind) -> Vec<Value> {
    let mut list = Vec::new();
    for _ in 0..dice.spread(1, 4) {
        let mut change = Table::new();
        let at = dice.spread(1_000, 8_000_000);
        change.insert("at".into(), micros(at));
        if dice.percent(30) {
            change.insert("direction".into(), dice.word(&["both", "up", "down"]));
        }
        match dice.whole(0, 9) {
            0..4 => {
                change.insert("state".into(), Value::from("down"));
                // Mostly a flap; now and then it stays down.
                if dice.percent(85) {
                    let back = at + dice.spread(1_000, 20_000_000);
                    list.push(table([("at", micros(back)), ("state", Value::from("up"))]));
                }
            }
            4 | 5 => drop(change.insert("rate".into(), rate(dice, kind))),
            6 | 7 => drop(change.insert("delay".into(), delay(dice))),
            8 => drop(change.insert("loss".into(), loss(dice))),
            _ => {
                change.insert("rate".into(), rate(dice, kind));
                change.insert("delay".into(), delay(dice));
            }
        }
        list.push(Value::Table(change));
    }
    list
}

fn wifi(dice: &mut Dice) -> Value {
    let mut keys = Table::new();
    for key in WIFI.keys() {
        if dice.percent(key.often) {
            keys.insert(key.name.into(), drawn(dice, key).unwrap_or_else(|| wireless(dice, key.name)));
        }
    }
    Value::Table(keys)
}

fn wireless(dice: &mut Dice, key: &str) -> Value {
    let metres = |dice: &mut Dice, most: f64| Value::from(format!("{:.1} m", dice.real(0.0, most)));
    match key {
        "rate" => {
            dice.word(&["1 Mbit/s", "6 Mbit/s", "11 Mbit/s", "24 Mbit/s", "54 Mbit/s", "arf", "aarf", "minstrel"])
        }
        "distance" => metres(dice, 120.0),
        "mcs" if dice.percent(30) => Value::from("minstrel"),
        "mcs" => Value::Integer(dice.whole(0, 11) as i64),
        "guard_interval" => dice.word(&["0.4 us", "0.8 us", "1.6 us", "3.2 us"]),
        "band" => dice.word(&["2.4 GHz", "5 GHz"]),
        "ampdu_limit" | "amsdu_limit" if dice.percent(20) => Value::from("off"),
        "ampdu_limit" => dice.octets(0, 65_535),
        "amsdu_limit" => dice.octets(0, 7_935),
        "block_ack_window" => Value::Integer(dice.whole(1, 256) as i64),
        "tx_power" => Value::from(format!("{:.1} dBm", dice.real(5.0, 25.0))),
        "reference_loss" => Value::from(format!("{:.1} dB", dice.real(30.0, 60.0))),
        "reference_distance" => metres(dice, 3.0),
        "nakagami_m" => Value::Float(dice.real(0.5, 5.0)),
        "noise_figure" => Value::from(format!("{:.1} dB", dice.real(0.0, 15.0))),
        "channel_width" => dice.word(&["5 MHz", "10 MHz", "20 MHz", "40 MHz", "80 MHz", "160 MHz"]),
        "frequency" => dice.word(&["2.412 GHz", "5.18 GHz"]),
        "rts_threshold" => dice.octets(1, 3000),
        "channel" => dice.word(&["a", "b"]),
        "velocity" => Value::from(format!("{:.1} m/s", dice.real(-3.0, 10.0))),
        "waypoints" => {
            let at = moment(dice);
            Value::Array(vec![table([("at", at), ("distance", metres(dice, 200.0))])])
        }
        _ => Value::Array(vec![metres(dice, 50.0), metres(dice, 50.0)]),
    }
}
