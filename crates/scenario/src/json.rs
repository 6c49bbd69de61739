//! The resolved scenario as JSON: every value, defaults included, in SI units named by the key's ending.
//!
//! `_s` seconds, `_bps` bit/s, `_bytes` octets, `_packets`, `_segments`; ratios are 0 to 1. What is unlimited or off is null.

mod key;
mod link;
mod transfer;
mod weather;

use anabranch_stack::config::{Acknowledgement, Config, FIELDS};
use anabranch_stack::judge::Judge;
use anabranch_stack::registry::{Choice, Range, Setting};
use serde_json::{Value, json};

use key::named;

use super::algorithm;
use super::model::{Connection, More, Node, PathChange, Protocol, Scenario};
use super::schema::{CONNECTION, Default as Usual, NODE, PATH_CHANGE, Table, Value as Shape};
use super::si::Si;
use super::words::{ACTIONS, ENDS, POLICIES, PROTOCOLS, STACKS};
use crate::model_2011::{CONTROLLERS, Model, RECOVERIES};

impl Scenario {
    /// Everything the run depends on, as JSON.
    pub fn to_json(&self) -> Value {
        let called = |router| {
            let these = self.nodes.iter().filter(move |n| n.router == router);
            these.map(|n: &Node| n.name.as_str()).collect::<Vec<_>>()
        };
        let mut value = json!({
            "title": self.title,
            "stack": name_of(STACKS, self.stack),
            "duration_s": self.duration.as_secs_f64(),
            "seed": self.seed,
            "bytes": self.bytes,
            "hosts": called(false),
            "routers": called(true),
            "links": self.links.iter().map(|l| link::link(l, self)).collect::<Vec<_>>(),
            "connections": self.connections.iter().map(|c| self.connection(c)).collect::<Vec<_>>(),
        });
        // Only hosts of which something is said that is not the default.
        let said = self.nodes.iter().map(|node| (node, more(&node.more, &NODE)));
        let said = said.filter(|(_, more)| more.as_object().is_some_and(|m| !m.is_empty()));
        let costs: Vec<Value> = said.map(|(node, more)| with(json!({ "name": node.name }), more)).collect();
        if !costs.is_empty() {
            merge(&mut value, json!({ "host": costs }));
        }
        value
    }

    /// What finds the losses of each connection and how its window comes down: a default that needs SACK gives way to NewReno
    /// without it. Null where nothing is acknowledged so. It follows from [`Scenario::to_json`] and is no part of it.
    pub fn in_force(&self) -> Value {
        self.connections.iter().map(in_force).collect()
    }

    fn connection(&self, connection: &Connection) -> Value {
        let route = |links: &Vec<usize>| links.iter().map(|l| self.links[*l].name.as_str()).collect::<Vec<_>>();
        let mut value = json!({
            "name": connection.name,
            "protocol": name_of(PROTOCOLS, connection.protocol),
            "client": self.nodes[connection.client].name,
            "server": self.nodes[connection.server].name,
            "paths": connection.paths.iter().map(route).collect::<Vec<_>>(),
            "path_manager": name_of(POLICIES, connection.path_manager),
            "path_changes": connection.path_changes.iter().map(path_change).collect::<Vec<_>>(),
        });
        match &connection.legacy {
            None => merge(&mut value, config(connection)),
            Some(model) => merge(&mut value, legacy(model, connection.judge_key)),
        }
        if let Some(leader) = connection.helps {
            merge(&mut value, json!({ "helps": self.connections[leader].name }));
        }
        merge(&mut value, json!({ "transfer": transfer::transfer(&connection.transfer) }));
        value
    }
}

fn in_force(connection: &Connection) -> Value {
    let c = &connection.config;
    if connection.legacy.is_some() || connection.protocol == Protocol::Udp {
        return Value::Null;
    }
    let selective = c.sack && c.acknowledgement == Acknowledgement::Independent;
    // Without SACK `rfc6675` has the rules of RFC 6582, too.
    let called = |name: &str, yields: bool| {
        if !selective && (yields || name == "rfc6675") { "newreno".to_owned() } else { name.to_owned() }
    };
    let detector = called(c.detector.name(), c.detector.yields());
    json!({ "detector": detector, "reduction": called(c.reduction.name(), c.reduction.yields()) })
}

fn config(connection: &Connection) -> Value {
    let (c, judge_key) = (&connection.config, connection.judge_key);
    let mut out = serde_json::Map::new();
    let algorithms = [
        ("controller", c.controller.name(), algorithm::json(&c.controller)),
        ("detector", c.detector.name(), algorithm::json(&c.detector)),
        ("reduction", c.reduction.name(), algorithm::json(&c.reduction)),
        (judge_key, c.judge.name(), algorithm::json(&c.judge)),
        ("scheduler", c.scheduler.name(), algorithm::json(&c.scheduler)),
    ];
    let mut last = Vec::new();
    out.insert("profile".to_owned(), c.profile.name().into());
    for (key, name, _) in &algorithms[..4] {
        out.insert((*key).to_owned(), (*name).into());
    }
    for field in FIELDS {
        let Some(key) = CONNECTION.find(field.name) else { continue };
        let value = (field.get)(c);
        // Only what differs from the default: a sweep knows its older runs by this text.
        if key.left_out {
            if (field.get)(&c.profile.config()) != value {
                last.push((key.resolved(), setting(value, field.range)));
            }
            continue;
        }
        if field.name == "user_timeout" {
            out.insert("fast_open".to_owned(), fast_open(c, connection.cookie));
        }
        let unused = field.name.starts_with("keepalive_") && c.keepalive.is_none();
        out.insert(key.resolved(), if unused { Value::Null } else { setting(value, field.range) });
        if field.name == "response" {
            out.extend(["t1", "t2"].map(|name| (format!("door_{name}_srtt"), door(&c.judge, name).into())));
            out.insert("scheduler".to_owned(), c.scheduler.name().into());
        }
    }
    for (key, _, values) in algorithms {
        out.extend(values.map(|values| (format!("{key}_parameters"), values)));
    }
    out.extend(last);
    out.into()
}

/// A value in SI units. A word beside a range of quantities is null.
fn setting(value: Setting, range: Range) -> Value {
    match value {
        Setting::Flag(flag) => flag.into(),
        Setting::Whole(n) => n.into(),
        Setting::Number(n) => n.into(),
        Setting::Time(time) => time.as_secs_f64().into(),
        Setting::Word(word) if range == Range::Word => word.parse::<u64>().map_or_else(|_| word.into(), Value::from),
        _ => Value::Null,
    }
}

fn fast_open(c: &Config, cookie: bool) -> Value {
    match (c.fast_open, cookie) {
        (false, _) => json!(false),
        (true, true) => json!(true),
        (true, false) => json!("no-cookie"),
    }
}

/// A parameter of TCP-DOOR. Under another judge its default, 1.
fn door(judge: &Choice<dyn Judge>, name: &str) -> f64 {
    if judge.name() == "door" { judge.values().get(name) } else { 1.0 }
}

fn path_change(c: &PathChange) -> Value {
    named(
        &PATH_CHANGE,
        [
            ("at", c.at.si()),
            ("path", c.path.si()),
            ("action", name_of(ACTIONS, c.action).si()),
            ("by", name_of(ENDS, c.client).si()),
        ],
    )
}

fn name_of<T: PartialEq>(names: &[(&'static str, T)], value: T) -> Option<&'static str> {
    names.iter().find(|(_, v)| *v == value).map(|(name, _)| *name)
}

/// The parameters of the 2011 model.
fn legacy(model: &Model, judge_key: &str) -> Value {
    json!({
        "controller": name_of(CONTROLLERS, model.controller),
        judge_key: name_of(RECOVERIES, model.recovery),
        "mss_bytes": model.mss,
        "ack_discard": model.ack_discard,
    })
}

/// The values that differ from their defaults, of keys without a field of their own.
fn more(more: &More, keys: &Table) -> Value {
    let mut out = serde_json::Map::new();
    for &(name, part, value) in more.iter() {
        let Some(key) = keys.find(name) else { continue };
        match key.value {
            Shape::Inner => {
                let Some(part) = key.inner().find(part) else { continue };
                let range = part.range().map_or(Range::Word, |(range, _)| range);
                let table = out.entry(name.to_owned()).or_insert_with(|| json!({}));
                merge(table, json!({ (part.resolved()): setting(value, range) }));
            }
            _ if matches!(key.default, Usual::Of(usual) if usual == value) => {}
            _ => {
                let range = key.range().map_or(Range::Word, |(range, _)| range);
                out.insert(key.resolved(), setting(value, range));
            }
        }
    }
    out.into()
}

fn with(mut value: Value, more: Value) -> Value {
    merge(&mut value, more);
    value
}

fn merge(into: &mut Value, more: Value) {
    if let (Value::Object(into), Value::Object(more)) = (into, more) {
        into.extend(more);
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;

    #[test]
    fn json_states_how_a_link_varies() {
        let of = |keys: &str| {
            let json = parse(&format!("transfer = {}\n[[path]]\n{keys}", "{}"), "t", &[], None).unwrap().to_json();
            move |pointer: &str| json.pointer(&format!("/links/0/up/weather/{pointer}")).expect("it is there").clone()
        };
        let at = of(
            "cellular = { preset = 'lte-good', grant = '3 ms', gap_loss = 0.25, harq_tries = 5, jump = 0.5, outages = 2.5 }",
        );
        assert_eq!((at("kind"), at("grant_s"), at("gap/loss")), ("cellular".into(), 0.003.into(), 0.25.into()));
        assert_eq!((at("harq_tries"), at("jump"), at("outages/per_hour")), (5.into(), 0.5.into(), 2.5.into()));
        let at = of("leo = { preset = 'starlink-roam', slot = '20 s', step = '7 ms', stay = 0.25 }");
        assert_eq!((at("kind"), at("slot_s"), at("step_s")), ("leo".into(), 20.0.into(), 0.007.into()));
        assert_eq!(at("stay"), 0.25);
    }

    #[test]
    fn json_states_every_value_in_si_units() {
        let text =
            "seed = 7\n[transfer]\nduration = '20 s'\n[[path]]\nrate_up = '0.5 Mbit/s'\nqueue = '64 kB'\nloss = '5 %'
            changes = [{ at = '10 s', state = 'down', direction = 'up' }]";
        let json = parse(text, "t", &[], None).unwrap().to_json();
        let at = |pointer: &str| json.pointer(pointer).unwrap_or_else(|| panic!("{pointer}")).clone();
        assert_eq!(at("/seed"), 7);
        assert_eq!(at("/duration_s"), 3600.0);
        assert_eq!(at("/links/0/up/rate_bps"), 500_000);
        assert_eq!(at("/links/0/down/rate_bps"), 10_000_000);
        assert_eq!(at("/links/0/down/delay_s"), 0.01);
        assert_eq!(at("/links/0/up/queue_bytes"), 64_000);
        assert!(at("/links/0/up/queue_packets").is_null());
        assert_eq!(at("/links/0/up/loss"), 0.05);
        assert_eq!(at("/links/0/changes/0/state"), "down");
        assert_eq!(at("/links/0/changes/0/direction"), "up");
        assert_eq!(at("/connections/0/paths/0/0"), "path0");
        assert_eq!(at("/connections/0/controller"), "coupled");
        assert_eq!(at("/connections/0/delayed_ack_s"), 0.04);
        assert_eq!(at("/connections/0/receive_buffer_bytes"), 6_000_000);
        assert_eq!(at("/connections/0/send_buffer_bytes"), 4_000_000);
        assert_eq!(at("/connections/0/transfer/application"), "bulk");
        assert_eq!(at("/connections/0/transfer/extent_s"), 20.0);
    }
}
