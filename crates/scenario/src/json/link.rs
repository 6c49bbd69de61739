//! Links in the resolved scenario: the keys of the tables `[[link]]`, `[[path]]` and those inside.

use anabranch_stack::registry::{Range, Setting};
use anabranch_stack::time::Instant;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::key::Resolved::{self, Fields, Nothing};
use super::key::{in_order, named};
use super::{more, name_of, weather, with};
use crate::middlebox::{Middlebox, describe};
use crate::model::{
    Change, ChangeKind, CodelParameters, Direction, Discipline, Link, Loss, Mtu, Queue, Redraw, Scenario, Trace,
};
use crate::schema::{self, Key, MOST_BYTES, MOST_PACKETS, PATH, ending};
use crate::si::Si;
use crate::wifi;
use crate::words::{BOX_ENDS, STATES, WAYS};

fn value(value: impl Si) -> Resolved {
    Resolved::Value(value.si())
}

/// A link of `scenario`.
///
/// # Panics
/// If the table of keys has a key of which this module knows nothing.
pub(super) fn link(link: &Link, scenario: &Scenario) -> Value {
    let node = |id: usize| scenario.nodes[id].name.as_str();
    in_order(schema::LINK.keys(), |key| match key.name {
        "name" => value(link.name.as_str()),
        "from" => value(node(link.a)),
        // Keys with a direction stand in the tables of the two directions.
        "to" => Fields(json!({
            (key.resolved()): node(link.b),
            "up": direction(&link.up),
            "down": direction(&link.down),
            "wifi": link.wifi.as_ref().map(|w| wifi::describe(w, scenario.duration.0)),
        })),
        _ if key.directed => Nothing,
        "backup" => value(link.backup),
        "cost" => value(link.policy.cost),
        "weight" => value(link.policy.weight),
        "priority" => value(link.policy.priority),
        "capture" => value(link.capture),
        "middleboxes" => Resolved::Value(link.middleboxes.iter().map(middlebox).collect()),
        "changes" => Resolved::Value(link.changes.iter().map(change).collect()),
        // A preset is resolved into its keys, `leo` and `cellular` into `weather` of each
        // direction.
        "preset" | "wifi" | "leo" | "cellular" => Nothing,
        other => panic!("the resolved scenario says nothing of {other}, a key of a link"),
    })
}

fn direction(d: &Direction) -> Value {
    let keys = PATH.keys().filter(|key| key.directed && !key.stored);
    let resolved = in_order(keys, |key| match key.name {
        "rate" => value(d.rate),
        "delay" => value(d.delay),
        // A time is a field of its own, behind all others, as the key has taken times only later.
        "delay_variation" => match d.delay_variation {
            share @ Setting::Number(_) => value(share),
            _ => value(None::<Setting>),
        },
        "delay_redraw" => match d.delay_redraw {
            Redraw::Packet => redraw(key, "packet", None),
            Redraw::Write => redraw(key, "write", None),
            Redraw::Every(interval) => redraw(key, "interval", Some(Setting::Time(interval))),
        },
        // The trace and the model of a varying link stand behind what they replace.
        "overtaking" => Fields(json!({
            (key.resolved()): d.overtaking,
            "trace": d.trace.as_ref().map(trace),
            "weather": d.weather.as_ref().map(weather::describe),
        })),
        "trace" => Nothing,
        "queue" => match d.queue {
            Queue::Packets(n) => quantities(key, [(PACKETS, Some(Setting::Whole(n))), (OCTETS, None)]),
            Queue::Bytes(n) => quantities(key, [(PACKETS, None), (OCTETS, Some(Setting::Whole(n)))]),
        },
        "discipline" => Resolved::Value(discipline(d.discipline)),
        "loss" => Resolved::Value(loss(d.loss)),
        "duplication" => value(d.duplication),
        "corruption" => value(d.corruption),
        "overhead" => value(d.overhead),
        "mtu" => Fields(mtu(key, d.mtu)),
        "ecn_threshold" => value(d.ecn_threshold),
        other => panic!("the resolved scenario says nothing of {other}, a key of a direction"),
    });
    with(with(resolved, variation(d)), more(&d.more, &PATH))
}

/// The variation of the delay, if it is a time.
fn variation(d: &Direction) -> Value {
    let key = PATH.find("delay_variation").expect("paths have the key");
    let schema::Value::Either(_, span) = key.value else { panic!("{} has one unit", key.name) };
    match d.delay_variation {
        time @ Setting::Time(_) => json!({ (format!("{}{}", key.name, ending(span))): time.si() }),
        _ => json!({}),
    }
}

const PACKETS: Range = Range::Packets(0, MOST_PACKETS);
const OCTETS: Range = Range::Octets(0, MOST_BYTES);

/// A key whose value is of one of two units: a field for each unit. One of the two is null.
fn quantities(key: &Key, values: [(Range, Option<Setting>); 2]) -> Resolved {
    let field = |(range, value): (Range, Option<Setting>)| (format!("{}{}", key.name, ending(range)), value.si());
    Fields(Value::Object(values.into_iter().map(field).collect()))
}

fn redraw(key: &Key, when: &str, interval: Option<Setting>) -> Resolved {
    let range = key.range().map_or(Range::Word, |(range, _)| range);
    Fields(json!({ (key.name): when, (format!("{}_interval{}", key.name, ending(range))): interval.si() }))
}

/// A trace by its hash and length, without the stamps.
fn trace(t: &Trace) -> Value {
    let mut hash = Sha256::new();
    t.stamps.iter().for_each(|s| hash.update(s.to_be_bytes()));
    let sha256: String = hash.finalize().iter().map(|b| format!("{b:02x}")).collect();
    json!({ "opportunities": t.stamps.len(), "length_s": t.stamps[t.stamps.len() - 1] as f64 / 1e3, "sha256": sha256 })
}

/// The keys of the table `mtu` with its name before theirs; null without a limit.
fn mtu(key: &Key, mtu: Option<Mtu>) -> Value {
    let icmp = format!("{}_icmp", key.name);
    json!({ (key.resolved()): mtu.map(|m| m.size), (icmp): mtu.map(|m| m.icmp) })
}

fn discipline(d: Discipline) -> Value {
    let codel = |p: CodelParameters| [("target", p.target.si()), ("interval", p.interval.si())];
    match d {
        Discipline::DropTail => json!({ "name": "drop-tail" }),
        Discipline::Red(p) => named(
            &schema::RED,
            [
                ("name", "red".si()),
                ("min", p.min.si()),
                ("max", p.max.si()),
                ("probability", p.probability.si()),
                ("weight", p.weight.si()),
            ],
        ),
        Discipline::Codel(p) => named(&schema::CODEL, [("name", "codel".si())].into_iter().chain(codel(p))),
        Discipline::FqCodel(p) => {
            let own = [("quantum", p.quantum.si()), ("flows", p.flows.si())];
            named(&schema::FQ_CODEL, [("name", "fq-codel".si())].into_iter().chain(codel(p.codel)).chain(own))
        }
    }
}

fn loss(loss: Loss) -> Value {
    match loss {
        Loss::Bernoulli(p) => p.si(),
        Loss::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => named(
            &schema::LOSS,
            [
                ("good_to_bad", good_to_bad.si()),
                ("bad_to_good", bad_to_good.si()),
                ("loss_bad", loss_bad.si()),
                ("loss_good", loss_good.si()),
            ],
        ),
    }
}

fn middlebox(b: &Middlebox) -> Value {
    let (kind, parameters) = describe(b.kind);
    let common = [
        ("kind", kind.si()),
        ("end", name_of(BOX_ENDS, b.far).si()),
        ("direction", name_of(WAYS, (b.up, b.down)).si()),
        ("at", b.at.si()),
        ("until", (b.until < Instant::FAR_FUTURE).then_some(b.until).si()),
    ];
    named(&schema::MIDDLEBOX, common.into_iter().chain(parameters))
}

fn change(c: &Change) -> Value {
    let what = match c.what {
        state @ (ChangeKind::LinkDown | ChangeKind::LinkUp) => ("state", name_of(STATES, state).si()),
        ChangeKind::Rate(rate) => ("rate", rate.si()),
        ChangeKind::Delay(delay) => ("delay", delay.si()),
        ChangeKind::Loss(l) => ("loss", loss(l)),
    };
    named(&schema::CHANGE, [("at", c.at.si()), ("direction", name_of(WAYS, (c.up, c.down)).si()), what])
}
