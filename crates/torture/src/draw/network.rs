//! Networks: disjoint paths, links behind routers, generated ones; and the connections over them.

use anabranch_sim::scenario::schema::HOST;
use anabranch_stack::config::Registries;
use toml::{Table, Value};

use super::keys::drawn;
use super::{Kind, connection, path, transfer};
use crate::dice::Dice;

/// How many paths a run of this kind has.
fn width(dice: &mut Dice, kind: Kind) -> usize {
    let n = match kind {
        Kind::Wide => dice.whole(3, 8),
        Kind::Large => dice.pick(&[1, 2, 2, 2, 3]),
        Kind::Boxed => dice.pick(&[1, 1, 2]),
        Kind::Any => dice.pick(&[1, 1, 2, 2, 2, 2, 2, 2, 3, 4]),
    };
    n as usize
}

fn is_legacy(document: &Table) -> bool {
    document.contains_key("stack")
}

/// `[[path]]`s, with one connection or several.
pub fn short(dice: &mut Dice, kind: Kind, document: &mut Table, known: &Registries) {
    let n = width(dice, kind);
    let mut paths: Vec<Table> = (0..n).map(|_| path::path(dice, kind)).collect();
    if dice.percent(10) {
        for (i, path) in paths.iter_mut().enumerate() {
            path.insert("name".into(), Value::from(format!("way-{i}")));
        }
    }
    let names: Vec<String> = (0..n)
        .map(|i| paths[i].get("name").and_then(Value::as_str).map_or(format!("path{i}"), str::to_owned))
        .collect();
    document.insert("path".into(), paths.into_iter().map(Value::Table).collect::<Vec<_>>().into());
    let mut host = Table::new();
    for key in HOST.keys() {
        if dice.percent(key.often) {
            host.extend(drawn(dice, key).map(|value| (key.name.to_owned(), value)));
        }
    }
    if !host.is_empty() && !is_legacy(document) {
        document.insert("host".into(), Value::Table(host));
    }
    connections(dice, kind, document, known, |dice, keys, first| {
        // The first of several connections keeps the width of the run.
        if !first && dice.percent(60) {
            let some: Vec<Value> = names.iter().filter(|_| dice.percent(60)).map(|n| Value::from(n.as_str())).collect();
            if !some.is_empty() {
                keys.insert("paths".into(), Value::Array(some));
            }
        }
    });
}

/// Adds `[connection]` and `[transfer]`, or several `[[connection]]`s; `place` says where each one is.
fn connections(
    dice: &mut Dice,
    kind: Kind,
    document: &mut Table,
    known: &Registries,
    place: impl Fn(&mut Dice, &mut Table, bool),
) {
    let legacy = is_legacy(document);
    let paths = document.get("path").or(document.get("link")).and_then(Value::as_array).map_or(1, Vec::len);
    let count = if dice.percent(80) { 1 } else { dice.whole(2, 3) };
    if count == 1 && !document.contains_key("link") {
        let keys = connection::connection(dice, kind, paths, legacy, known);
        document.insert("transfer".into(), Value::Table(transfer::transfer(dice, kind, &keys)));
        document.insert("connection".into(), Value::Table(keys));
        return;
    }
    let mut list = Vec::new();
    for i in 0..count {
        let kind = if i == 0 { kind } else { Kind::Any };
        let mut keys = connection::connection(dice, kind, paths, legacy, known);
        // Datagrams beside the others.
        if i > 0 && dice.percent(30) && !legacy {
            keys.insert("protocol".into(), Value::from("udp"));
        }
        place(dice, &mut keys, i == 0);
        let transfer = transfer::transfer(dice, kind, &keys);
        keys.insert("transfer".into(), Value::Table(transfer));
        list.push(Value::Table(keys));
    }
    document.insert("connection".into(), Value::Array(list));
}

/// Links in series: access links, and one behind a router that all share.
pub fn long(dice: &mut Dice, kind: Kind, document: &mut Table, known: &Registries) {
    let n = width(dice, kind);
    let node = |name: &str| Value::Table(Table::from_iter([("name".to_owned(), Value::from(name))]));
    document.insert("host".into(), Value::Array(vec![node("client"), node("server")]));
    document.insert("router".into(), Value::Array(vec![node("r0"), node("r1")]));
    let mut links = Vec::new();
    let mut routes = Vec::new();
    let mut link = |dice: &mut Dice, name: &str, from: &str, to: &str| {
        let mut keys = path::path(dice, kind);
        for (key, value) in [("name", name), ("from", from), ("to", to)] {
            keys.insert(key.into(), Value::from(value));
        }
        links.push(Value::Table(keys));
    };
    for i in 0..n {
        let name = format!("access{i}");
        match dice.whole(0, 2) {
            0 => {
                link(dice, &name, "client", "server");
                routes.push(vec![Value::from(name)]);
            }
            _ => {
                link(dice, &name, "client", "r0");
                routes.push(vec![Value::from(name), Value::from("core"), Value::from("last")]);
            }
        }
    }
    link(dice, "core", "r0", "r1");
    link(dice, "last", "r1", "server");
    document.insert("link".into(), Value::Array(links));
    connections(dice, kind, document, known, |dice, keys, first| {
        keys.insert("client".into(), Value::from("client"));
        keys.insert("server".into(), Value::from("server"));
        let routes = routes.iter().filter(|_| first || dice.percent(60)).cloned().map(Value::Array);
        let routes: Vec<Value> = routes.collect();
        if !routes.is_empty() && dice.percent(80) {
            keys.insert("paths".into(), Value::Array(routes));
        }
    });
}

/// `[topology]` and `[traffic]`.
pub fn generated(dice: &mut Dice, document: &mut Table, known: &Registries) {
    let mut topology = path::wire(dice, Kind::Any);
    if dice.percent(60) {
        topology.insert("kind".into(), Value::from("dumbbell"));
        topology.insert("hosts".into(), Value::Integer(dice.whole(1, 5) as i64));
        if dice.percent(50) {
            topology.insert("bottlenecks".into(), Value::Integer(dice.whole(1, 4) as i64));
        }
    } else {
        topology.insert("kind".into(), Value::from("fat-tree"));
        topology.insert("k".into(), Value::Integer(dice.pick(&[2, 2, 4])));
    }
    if dice.percent(30) {
        topology.insert("access".into(), Value::Table(path::wire(dice, Kind::Any)));
    }
    let mut traffic = Table::new();
    traffic.insert("pattern".into(), dice.word(&["permutation", "incast"]));
    traffic.insert("connections".into(), Value::Integer(dice.whole(1, 5) as i64));
    if dice.percent(60) {
        traffic.insert("subflows".into(), Value::Integer(dice.whole(1, 6) as i64));
    }
    let keys = connection::connection(dice, Kind::Any, 1, false, known);
    let transfer = transfer::transfer(dice, Kind::Any, &keys);
    document.insert("topology".into(), Value::Table(topology));
    document.insert("traffic".into(), Value::Table(traffic));
    document.insert("transfer".into(), Value::Table(transfer));
    document.insert("connection".into(), Value::Table(keys));
}
