//! What is transferred, in the resolved scenario.

use serde_json::{Value, json};

use super::key::Resolved::{self, Nothing};
use super::key::{in_order, named};
use super::{name_of, with};
use crate::application::{Application, Content, Draw, Extent, Law, Messages, Object, Until, Video};
use crate::model::Transfer;
use crate::schema::{self, TRANSFER};
use crate::si::Si;
use crate::words::DIRECTIONS;

type Values = Vec<(&'static str, Value)>;

/// What every transfer has, and the keys of its application.
pub(super) fn transfer(t: &Transfer) -> Value {
    let every = in_order(TRANSFER.parts[0].keys.iter(), |key| match key.name {
        "direction" => Resolved::Value(name_of(DIRECTIONS, (t.up || t.both, t.both)).si()),
        "start" => Resolved::Value(t.start.si()),
        "start_spread" => Resolved::Value(t.start_spread.si()),
        "read_rate" => Resolved::Value(t.read_rate.map(|octets| octets * 8).si()),
        // Keys of the application.
        "bytes" | "duration" => Nothing,
        other => panic!("the resolved scenario says nothing of {other}, a key of a transfer"),
    });
    let (application, values, content) = match &t.application {
        Application::Bulk(extent) => ("bulk", until(*extent), None),
        Application::OnOff { extent, on, off, rate } => {
            let mut values = until(*extent);
            values.extend([("on", on.si()), ("off", off.si()), ("rate", rate.si())]);
            ("on-off", values, None)
        }
        Application::RequestResponse { request, response, count, think } => {
            let values = vec![
                ("request", request.si()),
                ("response", response.si()),
                ("count", count.si()),
                ("think", think.si()),
            ];
            ("request-response", values, None)
        }
        Application::ConstantRate { extent, rate } => {
            let mut values = until(*extent);
            values.push(("rate", rate.si()));
            ("constant-rate", values, None)
        }
        Application::Messages(m) => ("messages", messages(m), None),
        Application::Page(p) => {
            let values =
                vec![("connections", p.connections.si()), ("request", p.request.si()), ("think", p.think.si())];
            ("page", values, Some(content(&p.content)))
        }
        Application::Video(v) => ("video", video(v), None),
    };
    let own = with(json!({ "application": application }), named(&TRANSFER, values));
    with(with(every, own), content.unwrap_or_default())
}

fn messages(m: &Messages) -> Values {
    let (count, length) = match m.until {
        Until::Count(n) => (Some(n), None),
        Until::Duration(d) => (None, Some(d)),
    };
    vec![
        ("message", drawn(&m.size, 1.0)),
        ("interval", drawn(&m.interval, 1e9)),
        ("deadline", m.deadline.si()),
        ("count", count.si()),
        ("duration", length.si()),
    ]
}

/// The objects of a page: a page that is drawn has the keys of its table, `bytes` as `page_bytes`.
fn content(content: &Content) -> Value {
    let object = |o: &Object| json!({ "bytes": o.bytes, "after": o.after });
    match content {
        Content::Written(objects) => json!({
            "objects": objects.len(),
            "page_bytes": objects.iter().map(|o| o.bytes).sum::<u64>(),
            "page": objects.iter().map(object).collect::<Vec<_>>(),
        }),
        Content::Drawn { objects, bytes, depth } => {
            json!({ "objects": objects, "page_bytes": bytes, "depth": depth })
        }
    }
}

fn video(v: &Video) -> Values {
    vec![
        ("ladder", json!(v.ladder)),
        ("segment", v.segment.si()),
        ("count", v.count.si()),
        ("buffer", v.buffer.si()),
        ("startup", v.startup.si()),
        ("request", v.request.si()),
    ]
}

/// A number, or how it is drawn; `unit` is what the base unit is divided by.
fn drawn(d: &Draw, unit: f64) -> Value {
    let of = |n: u64| if unit > 1.0 { json!(n as f64 / unit) } else { json!(n) };
    let most = (d.most < u64::MAX).then(|| of(d.most));
    let law = |table: &schema::Table, name: &str, values: Values| with(json!({ "name": name }), named(table, values));
    match d.law {
        Law::Fixed(n) => of(n),
        Law::Uniform { min, max } => law(&schema::UNIFORM, "uniform", vec![("min", of(min)), ("max", of(max))]),
        Law::Exponential { mean } => {
            law(&schema::EXPONENTIAL, "exponential", vec![("mean", of(mean)), ("most", most.si())])
        }
        Law::Lognormal { median, sigma } => {
            let values = vec![("median", of(median)), ("sigma", sigma.si()), ("most", most.si())];
            law(&schema::LOGNORMAL, "lognormal", values)
        }
        Law::Pareto { min, alpha } => {
            let values = vec![("min", of(min)), ("alpha", alpha.si()), ("most", most.si())];
            law(&schema::PARETO, "pareto", values)
        }
    }
}

fn until(extent: Extent) -> Values {
    let (octets, time) = match extent {
        Extent::Bytes(n) => (Some(n), None),
        Extent::Duration(d) => (None, Some(d)),
        Extent::Run => (None, None),
    };
    vec![("bytes", octets.si()), ("duration", time.si())]
}
