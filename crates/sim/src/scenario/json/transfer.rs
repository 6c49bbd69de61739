//! What is transferred, in the resolved scenario.

use serde_json::{Value, json};

use super::{merge, with};
use crate::scenario::application::{Application, Content, Draw, Extent, Law, Messages, Object, Page, Until, Video};
use crate::scenario::model::Transfer;

pub(super) fn transfer(t: &Transfer) -> Value {
    let mut value = json!({
        "direction": match (t.up, t.both) {
            (_, true) => "both",
            (true, false) => "up",
            (false, false) => "down",
        },
        "start_s": t.start.as_secs_f64(),
        "start_spread_s": t.start_spread.as_secs_f64(),
        "read_rate_bps": t.read_rate.map(|octets| octets * 8),
    });
    let application = match &t.application {
        Application::Bulk(extent) => with(json!({ "application": "bulk" }), until(*extent)),
        Application::OnOff { extent, on, off, rate } => {
            let on_off = json!({ "on_s": on.as_secs_f64(), "off_s": off.as_secs_f64(), "rate_bps": rate });
            with(with(json!({ "application": "on-off" }), until(*extent)), on_off)
        }
        Application::RequestResponse { request, response, count, think } => json!({
            "application": "request-response",
            "request_bytes": request,
            "response_bytes": response,
            "count": count,
            "think_s": think.as_secs_f64(),
        }),
        Application::ConstantRate { extent, rate } => {
            with(with(json!({ "application": "constant-rate" }), until(*extent)), json!({ "rate_bps": rate }))
        }
        Application::Messages(m) => messages(m),
        Application::Page(p) => page(p),
        Application::Video(v) => video(v),
    };
    merge(&mut value, application);
    value
}

fn messages(m: &Messages) -> Value {
    let (count, length) = match m.until {
        Until::Count(n) => (Some(n), None),
        Until::Duration(d) => (None, Some(d.as_secs_f64())),
    };
    json!({
        "application": "messages",
        "message_bytes": drawn(&m.size, 1.0),
        "interval_s": drawn(&m.interval, 1e9),
        "deadline_s": m.deadline.map(|d| d.as_secs_f64()),
        "count": count,
        "extent_s": length,
    })
}

fn page(p: &Page) -> Value {
    let object = |o: &Object| json!({ "bytes": o.bytes, "after": o.after });
    let content = match &p.content {
        Content::Written(objects) => json!({
            "objects": objects.len(),
            "page_bytes": objects.iter().map(|o| o.bytes).sum::<u64>(),
            "page": objects.iter().map(object).collect::<Vec<_>>(),
        }),
        Content::Drawn { objects, bytes, depth } => {
            json!({ "objects": objects, "page_bytes": bytes, "depth": depth })
        }
    };
    let how = json!({
        "application": "page",
        "connections": p.connections,
        "request_bytes": p.request,
        "think_s": p.think.as_secs_f64(),
    });
    with(how, content)
}

fn video(v: &Video) -> Value {
    json!({
        "application": "video",
        "ladder_bps": v.ladder,
        "segment_s": v.segment.as_secs_f64(),
        "count": v.count,
        "buffer_s": v.buffer.as_secs_f64(),
        "startup_s": v.startup.as_secs_f64(),
        "request_bytes": v.request,
    })
}

/// A number, or how it is drawn; `unit` is what the base unit is divided by.
fn drawn(d: &Draw, unit: f64) -> Value {
    let of = |n: u64| if unit > 1.0 { json!(n as f64 / unit) } else { json!(n) };
    let most = (d.most < u64::MAX).then(|| of(d.most));
    match d.law {
        Law::Fixed(n) => of(n),
        Law::Uniform { min, max } => json!({ "name": "uniform", "min": of(min), "max": of(max) }),
        Law::Exponential { mean } => json!({ "name": "exponential", "mean": of(mean), "most": most }),
        Law::Lognormal { median, sigma } => {
            json!({ "name": "lognormal", "median": of(median), "sigma": sigma, "most": most })
        }
        Law::Pareto { min, alpha } => json!({ "name": "pareto", "min": of(min), "alpha": alpha, "most": most }),
    }
}

fn until(extent: Extent) -> Value {
    match extent {
        Extent::Bytes(n) => json!({ "extent_bytes": n, "extent_s": null }),
        Extent::Duration(d) => json!({ "extent_bytes": null, "extent_s": d.as_secs_f64() }),
        Extent::Run => json!({ "extent_bytes": null, "extent_s": null }),
    }
}
