//! The keys of a transfer: bulk, on-off, a dialogue, messages, a page, a film, datagrams.
//!
//! Sizes are counted in segments, so that a segment of one octet does not make a run of a million.

use toml::{Table, Value};

use super::Kind;
use crate::dice::{Dice, micros, octets, table};

/// Most segments of a run that is not large.
const SEGMENTS: u64 = 200;

/// What a connection with these keys transfers; the first of several connections has the run's kind.
pub fn transfer(dice: &mut Dice, kind: Kind, connection: &Table) -> Table {
    let mut keys = Table::new();
    let segment = segment(connection);
    if connection.get("protocol").and_then(Value::as_str) == Some("udp") {
        datagrams(dice, segment, &mut keys);
    } else if kind == Kind::Large {
        keys.insert("bytes".into(), octets(dice.whole(5_000_000, 8_000_000)));
        keys.insert("direction".into(), dice.word(&["up", "up", "down"]));
    } else {
        match dice.whole(0, 99) {
            0..60 => bulk(dice, segment, &mut keys),
            60..68 => on_off(dice, segment, &mut keys),
            68..78 => dialogue(dice, segment, &mut keys),
            78..88 => messages(dice, segment, &mut keys),
            88..94 => page(dice, segment, &mut keys),
            _ => film(dice, segment, &mut keys),
        }
    }
    if dice.percent(10) {
        keys.insert("start".into(), dice.micros(1, 3_000_000));
    }
    if dice.percent(8) {
        keys.insert("start_spread".into(), dice.micros(1, 1_000_000));
    }
    if dice.percent(12) {
        let least = if kind == Kind::Large { 1_000 } else { 20 };
        keys.insert("read_rate".into(), Value::from(format!("{} kbit/s", dice.spread(least, 200_000))));
    }
    keys
}

/// About how many octets a segment has.
fn segment(connection: &Table) -> u64 {
    let of = |key: &str| {
        let text = connection.get(key).and_then(Value::as_str);
        text.and_then(|t| t.strip_suffix(" B")?.parse::<u64>().ok()).unwrap_or(u64::MAX)
    };
    let mss = connection.get("mss").and_then(Value::as_integer).map_or(1400, |n| n as u64);
    mss.min(of("receive_buffer")).min(of("send_buffer")).max(1)
}

/// Up to so many segments, few more often than many.
fn amount(dice: &mut Dice, segment: u64, segments: u64) -> u64 {
    dice.spread(1, (segment * segments).min(400_000))
}

fn bulk(dice: &mut Dice, segment: u64, keys: &mut Table) {
    if dice.percent(95) || segment < 500 {
        keys.insert("bytes".into(), octets(amount(dice, segment, SEGMENTS)));
    } else {
        keys.insert("duration".into(), dice.micros(1, 200_000));
    }
    keys.insert("direction".into(), dice.word(&["up", "up", "up", "down", "both"]));
}

fn on_off(dice: &mut Dice, segment: u64, keys: &mut Table) {
    keys.insert("on".into(), dice.micros(1_000, 1_000_000));
    keys.insert("off".into(), if dice.percent(10) { micros(0) } else { dice.micros(1_000, 5_000_000) });
    if dice.percent(50) {
        keys.insert("rate".into(), Value::from(format!("{} kbit/s", dice.spread(16, 20_000))));
    }
    keys.insert("bytes".into(), octets(amount(dice, segment, SEGMENTS)));
    keys.insert("direction".into(), dice.word(&["up", "down", "both"]));
}

fn dialogue(dice: &mut Dice, segment: u64, keys: &mut Table) {
    let count = dice.spread(1, 20);
    keys.insert("request".into(), octets(amount(dice, segment, SEGMENTS / count)));
    keys.insert("response".into(), octets(amount(dice, segment, SEGMENTS / count)));
    keys.insert("count".into(), Value::Integer(count as i64));
    if dice.percent(50) {
        keys.insert("think".into(), dice.micros(1_000, 3_000_000));
    }
    keys.insert("direction".into(), dice.word(&["up", "down"]));
}

/// A quantity drawn anew for each message: from a distribution, or always the same.
fn law(dice: &mut Dice, middle: u64, write: fn(u64) -> Value) -> Value {
    let name = |n: &str| ("name", Value::from(n));
    match dice.whole(0, 6) {
        0 => table([name("uniform"), ("min", write(middle / 2 + 1)), ("max", write(middle * 2 + 1))]),
        1 => table([name("exponential"), ("mean", write(middle)), ("most", write(middle * 5))]),
        2 => table([
            name("lognormal"),
            ("median", write(middle)),
            ("sigma", Value::Float(dice.real(0.1, 2.0))),
            ("most", write(middle * 5)),
        ]),
        3 => table([
            name("pareto"),
            ("min", write(middle)),
            ("alpha", Value::Float(dice.real(0.5, 3.0))),
            ("most", write(middle * 5)),
        ]),
        _ => write(middle),
    }
}

fn messages(dice: &mut Dice, segment: u64, keys: &mut Table) {
    let count = dice.spread(1, 60);
    let size = amount(dice, segment, (SEGMENTS / count / 2).max(1));
    let interval = dice.spread(1_000, 500_000);
    keys.insert("message".into(), law(dice, size, octets));
    keys.insert("interval".into(), law(dice, interval, micros));
    keys.insert("count".into(), Value::Integer(count as i64));
    if dice.percent(50) {
        keys.insert("deadline".into(), dice.micros(1_000, 2_000_000));
    }
    keys.insert("direction".into(), dice.word(&["up", "down"]));
}

fn page(dice: &mut Dice, segment: u64, keys: &mut Table) {
    let objects = dice.spread(2, 30);
    let small = segment < 300;
    let content = match dice.whole(0, 4) {
        0 if !small => Value::from("wikipedia"),
        1 => {
            let size = |dice: &mut Dice| octets(amount(dice, segment, SEGMENTS / 6));
            let mut list = vec![table([("size", size(dice))])];
            for i in 1..dice.whole(2, 6) {
                let after = Value::Integer(dice.whole(0, i - 1) as i64);
                list.push(table([("size", size(dice)), ("after", after)]));
            }
            Value::Array(list)
        }
        _ => table([
            ("objects", Value::Integer(objects as i64)),
            ("bytes", octets(objects + amount(dice, segment, SEGMENTS))),
            ("depth", Value::Integer(dice.whole(2, objects.min(6)) as i64)),
        ]),
    };
    keys.insert("page".into(), content);
    if dice.percent(40) {
        keys.insert("connections".into(), Value::Integer(dice.whole(1, 6) as i64));
    }
    if dice.percent(40) {
        keys.insert("request".into(), octets(amount(dice, segment, 3)));
    } else if small {
        keys.insert("request".into(), octets(segment));
    }
    if dice.percent(40) {
        keys.insert("think".into(), dice.micros(1_000, 500_000));
    }
}

fn film(dice: &mut Dice, segment: u64, keys: &mut Table) {
    let count = dice.spread(1, 12);
    let playing = dice.spread(50_000, 6_000_000);
    // The best quality of all segments together is no more than the most segments.
    let most = ((segment * SEGMENTS).min(400_000) * 8_000 / (playing / 1000) / count).max(4);
    let mut rates: Vec<u64> = (0..dice.whole(1, 5)).map(|_| dice.whole(1, most)).collect();
    rates.sort_unstable();
    rates.dedup();
    let ladder = rates.into_iter().map(|r| Value::from(format!("{r} bit/s"))).collect();
    keys.insert("ladder".into(), Value::Array(ladder));
    keys.insert("segment".into(), micros(playing));
    keys.insert("count".into(), Value::Integer(count as i64));
    if dice.percent(50) {
        keys.insert("buffer".into(), micros(playing * dice.whole(1, 5)));
    }
    if dice.percent(30) {
        keys.insert("startup".into(), micros(dice.whole(1_000, playing)));
    }
    if dice.percent(30) || segment < 300 {
        keys.insert("request".into(), octets(amount(dice, segment, 3)));
    }
}

fn datagrams(dice: &mut Dice, segment: u64, keys: &mut Table) {
    keys.insert("bytes".into(), octets(amount(dice, segment, SEGMENTS)));
    if dice.percent(80) {
        keys.insert("rate".into(), Value::from(format!("{} kbit/s", dice.spread(16, 50_000))));
    }
    keys.insert("direction".into(), dice.word(&["up", "down"]));
}
