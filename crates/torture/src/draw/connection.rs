//! The keys of a connection.

use anabranch_sim::legacy;
use anabranch_sim::scenario::schema::CONNECTION;
use anabranch_stack::config::Registries;
use anabranch_stack::controller::Controller;
use anabranch_stack::detector::Detector;
use anabranch_stack::judge::Judge;
use anabranch_stack::reduction::Reduction;
use anabranch_stack::scheduler::Scheduler;
use toml::{Table, Value};

use super::keys::drawn;
use super::path::moment;
use super::{Kind, algorithm};
use crate::dice::{Dice, micros, table};

/// A connection with `paths` paths.
pub fn connection(dice: &mut Dice, kind: Kind, paths: usize, legacy: bool, known: &Registries) -> Table {
    let mut keys = Table::new();
    for key in CONNECTION.keys().filter(|key| key.often > 0) {
        if dice.percent(key.often) {
            let value = drawn(dice, key).unwrap_or_else(|| value(dice, kind, key.name, legacy, known));
            keys.insert(key.name.into(), value);
        }
    }
    if kind == Kind::Boxed && dice.percent(50) {
        keys.insert("checksum".into(), Value::from(true));
    }
    match dice.whole(0, 99) {
        0..78 => {}
        _ if matches!(kind, Kind::Wide | Kind::Boxed) => {}
        78..96 => drop(keys.insert("protocol".into(), Value::from("tcp"))),
        _ if kind == Kind::Any => drop(keys.insert("protocol".into(), Value::from("udp"))),
        _ => {}
    }
    if dice.percent(20) {
        let list = (0..dice.spread(1, 5)).map(|_| path_change(dice, paths)).collect();
        keys.insert("path_changes".into(), Value::Array(list));
    }
    keys
}

fn path_change(dice: &mut Dice, paths: usize) -> Value {
    table([
        ("at", moment(dice)),
        ("path", Value::Integer(dice.whole(0, paths as u64 - 1) as i64)),
        ("action", dice.word(&["remove", "remove", "add", "backup", "regular"])),
        ("by", dice.word(&["client", "server"])),
    ])
}

/// The sizes of buffers: tiny ones, a few segments, large ones. A large transfer has no hour to go through a tiny one.
fn buffer(dice: &mut Dice, kind: Kind) -> Value {
    match dice.whole(0, 9) {
        0 => Value::from("unlimited"),
        1..4 if kind != Kind::Large => dice.octets(1, 3_000),
        4..7 => dice.octets(20_000, 100_000),
        _ => dice.octets(50_000, 10_000_000),
    }
}

fn words<T>(choices: &[(&'static str, T)]) -> Vec<&'static str> {
    choices.iter().map(|(name, _)| *name).collect()
}

fn memory(dice: &mut Dice) -> Value {
    let (first, most) = (dice.spread(4096, 1_000_000), dice.spread(100_000, 10_000_000));
    Value::from(format!("4096 {} {most}", first.min(most)))
}

fn value(dice: &mut Dice, kind: Kind, key: &str, legacy: bool, known: &Registries) -> Value {
    match key {
        "controller" if legacy => dice.word(&words(legacy::CONTROLLERS)),
        "judge" | "recovery" if legacy => dice.word(&words(legacy::RECOVERIES)),
        "controller" => algorithm::any::<dyn Controller>(dice, known),
        "detector" => algorithm::any::<dyn Detector>(dice, known),
        "reduction" => algorithm::any::<dyn Reduction>(dice, known),
        "judge" | "recovery" => algorithm::any::<dyn Judge>(dice, known),
        "scheduler" => algorithm::any::<dyn Scheduler>(dice, known),
        "mss" if kind == Kind::Large => Value::Integer(dice.whole(1000, 9000) as i64),
        "mss" => {
            let (least, most) = dice.pick(&[(1, 100), (200, 1460), (1000, 1460), (1460, 65_455)]);
            Value::Integer(dice.whole(least, most) as i64)
        }
        "receive_buffer" | "send_buffer" => buffer(dice, kind),
        "receive_initial" => match dice.whole(0, 3) {
            0 => Value::from("full"),
            _ => dice.octets(if kind == Kind::Large { 10_000 } else { 1 }, 200_000),
        },
        "tcp_rmem" | "tcp_wmem" => memory(dice),
        "delayed_ack" | "ack_compression" => match dice.whole(0, 2) {
            0 => Value::from("off"),
            _ if key == "ack_compression" => dice.micros(1, 100_000),
            _ => dice.micros(1, 500_000),
        },
        "dsn_octets" => Value::Integer(dice.pick(&[4, 8])),
        "fast_open" if dice.percent(30) => Value::from("no-cookie"),
        "invalid_ack_interval" => match dice.whole(0, 5) {
            0 => micros(0),
            _ => dice.micros(1_000, 5_000_000),
        },
        "fast_open" => dice.flag(),
        other => unreachable!("what {other} of a connection may be is not written here"),
    }
}
