//! The keys of a connection.

use anabranch_stack::config::{PROFILES, RTO_FLOORS};
use anabranch_stack::controller::Controller;
use anabranch_stack::detector::Detector;
use anabranch_stack::judge::{Judge, RESPONSES};
use anabranch_stack::reduction::Reduction;
use anabranch_stack::scheduler::Scheduler;
use toml::{Table, Value};

use super::path::moment;
use super::{Kind, algorithm};
use crate::legacy;
use crate::torture::dice::{Dice, micros, table};

/// The keys, and how often in a hundred they are drawn.
const KEYS: &[(&str, u32)] = &[
    ("profile", 30),
    ("controller", 85),
    ("detector", 40),
    ("reduction", 30),
    ("judge", 60),
    ("recovery", 2),
    ("response", 20),
    ("door_t1", 3),
    ("door_t2", 3),
    ("scheduler", 75),
    ("opportunistic_retransmission", 25),
    ("penalisation", 25),
    ("acknowledgement", 20),
    ("mss", 50),
    ("receive_buffer", 45),
    ("receive_initial", 15),
    ("held_charge", 15),
    ("tcp_rmem", 4),
    ("tcp_wmem", 4),
    ("truesize", 2),
    ("send_buffer", 35),
    ("initial_window", 25),
    ("byte_counting", 15),
    ("min_rto", 20),
    ("max_rto", 20),
    ("initial_rto", 15),
    ("rto_floor", 15),
    ("sack_timing", 15),
    ("window_validation", 15),
    ("count_segments", 15),
    ("max_retransmissions", 10),
    ("stale_after", 20),
    ("sack", 20),
    ("timestamps", 20),
    ("ecn", 25),
    ("pacing", 20),
    ("nagle", 30),
    ("fast_open", 20),
    ("delayed_ack", 30),
    ("delayed_ack_adapts", 15),
    ("quick_acks", 15),
    ("push_acks", 15),
    ("defer_bursts", 15),
    ("acknowledge_on_read", 15),
    ("ack_compression", 15),
    ("checksum", 25),
    ("dsn_octets", 25),
    ("time_wait", 15),
    ("invalid_ack_interval", 10),
    ("subflow_limit", 8),
    ("path_manager", 15),
    ("user_timeout", 5),
    ("keepalive", 8),
    ("keepalive_interval", 8),
    ("keepalive_probes", 8),
    ("ack_discard", 2),
];

/// A connection with `paths` paths.
pub fn connection(dice: &mut Dice, kind: Kind, paths: usize, legacy: bool) -> Table {
    let mut keys = Table::new();
    for (key, often) in KEYS {
        if dice.percent(*often) {
            keys.insert((*key).into(), value(dice, kind, key, legacy));
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

fn value(dice: &mut Dice, kind: Kind, key: &str, legacy: bool) -> Value {
    match key {
        "controller" if legacy => dice.word(&words(legacy::CONTROLLERS)),
        "judge" | "recovery" if legacy => dice.word(&words(legacy::RECOVERIES)),
        "profile" => dice.word(&words(PROFILES)),
        "controller" => algorithm::any::<dyn Controller>(dice),
        "detector" => algorithm::any::<dyn Detector>(dice),
        "reduction" => algorithm::any::<dyn Reduction>(dice),
        "judge" | "recovery" => algorithm::any::<dyn Judge>(dice),
        "scheduler" => algorithm::any::<dyn Scheduler>(dice),
        "response" => dice.word(&words(RESPONSES)),
        "rto_floor" => dice.word(&words(RTO_FLOORS)),
        "path_manager" => dice.word(&["one-per-interface", "full-mesh", "none"]),
        "acknowledgement" => dice.word(&["independent", "coupled"]),
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
        "held_charge" => Value::Float(dice.real(0.0, 2.0)),
        "tcp_rmem" | "tcp_wmem" => memory(dice),
        "initial_window" => Value::Integer(dice.spread(1, 200) as i64),
        "truesize" | "quick_acks" => Value::Integer(dice.whole(1, 20) as i64),
        "min_rto" => dice.micros(1_000, 1_000_000),
        "max_rto" => dice.micros(1_000_000, 120_000_000),
        "initial_rto" => dice.micros(10_000, 3_000_000),
        "user_timeout" => dice.micros(500_000, 100_000_000),
        "keepalive" | "keepalive_interval" => dice.micros(10_000, 10_000_000),
        "keepalive_probes" => Value::Integer(dice.whole(2, 20) as i64),
        "max_retransmissions" => Value::Integer(dice.whole(3, 30) as i64),
        "stale_after" => Value::Integer(dice.whole(0, 8) as i64),
        "delayed_ack" | "ack_compression" => match dice.whole(0, 2) {
            0 => Value::from("off"),
            _ if key == "ack_compression" => dice.micros(1, 100_000),
            _ => dice.micros(1, 500_000),
        },
        "dsn_octets" => Value::Integer(dice.pick(&[4, 8])),
        "fast_open" if dice.percent(30) => Value::from("no-cookie"),
        "time_wait" => dice.micros(1, 120_000_000),
        "invalid_ack_interval" => match dice.whole(0, 5) {
            0 => micros(0),
            _ => dice.micros(1_000, 5_000_000),
        },
        "subflow_limit" => Value::Integer(dice.whole(1, 10) as i64),
        "door_t1" | "door_t2" => Value::Float(dice.real(0.0, 5.0)),
        "ack_discard" => dice.share(10.0),
        _ => dice.flag(),
    }
}
