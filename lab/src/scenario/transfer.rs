//! What a connection transfers: `[transfer]`, or `transfer` of a `[[connection]]`.
//!
//! The keys decide which application it is: `message` means messages, `page` a web page, `ladder` a film, `request` and `response` a dialogue, `on` and `off` an
//! on-off source. A UDP connection has a constant-rate flow. Everything else is a bulk transfer.

use std::sync::Arc;

use anabranch_stack::time::{Duration, Instant};
use toml::{Table, Value};

use super::application::{Application, Extent, Messages, Until};
use super::error::Error;
use super::keys::TRANSFER;
use super::model::{Protocol, Transfer};
use super::properties::rate;
use super::reader::{Section, whole, word};
use super::units::{BYTES, LATEST, time};
use super::{draw, page, video};

/// Keys of a dialogue; if any of them is given, the transfer is a dialogue.
const DIALOGUE: &[&str] = &["request", "response", "count", "think"];

/// Keys that mean nothing without another one.
const PARTS: &[(&str, &str, &str)] = &[
    ("interval", "message", "\"1 kB\""),
    ("deadline", "message", "\"1 kB\""),
    ("connections", "page", "\"amazon\""),
    ("segment", "ladder", LADDER),
    ("buffer", "ladder", LADDER),
    ("startup", "ladder", LADDER),
];
const LADDER: &str = "[\"1 Mbit/s\", \"3 Mbit/s\"]";

/// The most octets of a transfer or a request, a petabyte.
const MOST: u64 = 1_000_000_000_000_000;

/// The most octets of a message or an object.
const MOST_OF_ONE: u64 = 1_000_000_000_000;

/// About the length of a browser's request.
const REQUEST: u64 = 400;

/// So many messages are kept apart.
const MOST_MESSAGES: u64 = 10_000_000;

fn bytes(value: &Value) -> Result<u64, Error> {
    BYTES.read(value, 1, MOST)
}

fn span(value: &Value) -> Result<Duration, Error> {
    time(value, Duration(1), LATEST)
}

fn pause(value: &Value) -> Result<Duration, Error> {
    time(value, Duration::ZERO, LATEST)
}

/// Octets/s from a rate in bit/s.
fn read_rate(value: &Value) -> Result<u64, Error> {
    match rate(value)? / 8 {
        0 => Err(Error::new("less than an octet a second", "allowed: 8 bit/s to 1 Tbit/s")),
        octets => Ok(octets),
    }
}

/// Reads a transfer over `protocol`.
pub(super) fn read(value: &Table, protocol: Protocol) -> Result<Transfer, Error> {
    let section = Section::new(value, &TRANSFER)?;
    // Who asks for a page or a film is the client, if nothing else is said.
    let usual = (!(section.has("page") || section.has("ladder")), false);
    let (up, both) = section.or("direction", usual, |v| {
        word(v, "direction", &[("up", (true, false)), ("down", (false, false)), ("both", (true, true))])
    })?;
    let application = application(&section, protocol)?;
    if both && !matches!(application, Application::Bulk(_) | Application::OnOff { .. }) {
        let problem = "\"both\" is for bulk and on-off transfers over TCP and MPTCP only";
        return Err(Error::at("direction", problem, "write two connections, one for each direction"));
    }
    Ok(Transfer {
        up,
        both,
        start: Instant(section.or("start", Duration::ZERO, pause)?.0),
        start_spread: section.or("start_spread", Duration::ZERO, pause)?,
        application,
        read_rate: section.read("read_rate", read_rate)?,
    })
}

fn application(section: &Section<'_>, protocol: Protocol) -> Result<Application, Error> {
    let stray = PARTS.iter().find(|(key, home, _)| section.has(key) && !section.has(home));
    if let Some((key, home, example)) = stray {
        let problem = format!("not allowed here: it is a part of \"{home}\"");
        return Err(Error::at(key, problem, format!("add {home} = {example}, or remove {key}")));
    }
    let talks = DIALOGUE.iter().find(|k| section.has(k));
    let on_off = ["on", "off"].into_iter().find(|k| section.has(k));
    if protocol == Protocol::Udp {
        let parts = ["message", "page", "ladder"].into_iter().find(|k| section.has(k));
        let stray = parts.or(talks.copied()).or(on_off).or(section.has("read_rate").then_some("read_rate"));
        if let Some(key) = stray {
            return Err(only(key, "protocol = \"udp\" is a constant-rate flow", "rate, and bytes or duration"));
        }
        let rate = section.read("rate", rate)?;
        let ends = rate.is_some() || section.has("bytes") || section.has("duration");
        let extent = if ends { extent(section)? } else { Extent::Run };
        return Ok(Application::ConstantRate { extent, rate });
    }
    if section.has("message") {
        return messages(section).map(Arc::new).map(Application::Messages);
    }
    if section.has("page") {
        alone(section, "\"page\" makes this a web page", &["page", "connections", "request", "think"])?;
        let think = section.or("think", Duration::ZERO, pause)?;
        return page::read(section, request(section)?, think).map(Arc::new).map(Application::Page);
    }
    if section.has("ladder") {
        let own = ["ladder", "segment", "count", "buffer", "startup", "request"];
        alone(section, "\"ladder\" makes this a film", &own)?;
        return video::read(section, request(section)?).map(Arc::new).map(Application::Video);
    }
    if let Some(first) = talks {
        let why = format!("\"{first}\" makes this a request/response transfer");
        alone(section, &why, &["request", "response", "count", "think"])?;
        return dialogue(section);
    }
    let rate = section.read("rate", rate)?;
    if on_off.is_some() {
        return Ok(Application::OnOff {
            extent: extent(section)?,
            on: section.require("on", "\"1 s\"", span)?,
            off: section.require("off", "\"1 s\"", pause)?,
            rate,
        });
    }
    if rate.is_some() {
        return Err(Error::at(
            "rate",
            "a bulk transfer has no rate of its own",
            "add on and off (off = \"0 s\" never rests), or use protocol = \"udp\"",
        ));
    }
    extent(section).map(Application::Bulk)
}

/// Refuses what neither belongs to this application, whose keys are `own`, nor to all of them.
fn alone(section: &Section<'_>, why: &str, own: &[&str]) -> Result<(), Error> {
    const ALL: &[&str] = &["direction", "start", "start_spread", "read_rate"];
    match section.given().find(|k| !own.contains(k) && !ALL.contains(k)) {
        Some(stray) => Err(only(stray, why, &own.join(", "))),
        None => Ok(()),
    }
}

/// Octets of a request for an object or a segment.
fn request(section: &Section<'_>) -> Result<u64, Error> {
    section.or("request", REQUEST, |v| BYTES.read(v, 1, 1_000_000))
}

fn messages(section: &Section<'_>) -> Result<Messages, Error> {
    let own = ["message", "interval", "deadline", "count", "duration"];
    alone(section, "\"message\" makes this a transfer of messages", &own)?;
    let size = |v: &Value| draw::read(v, "\"1 kB\"", MOST_OF_ONE, |v| BYTES.read(v, 1, MOST_OF_ONE));
    let interval = |v: &Value| draw::read(v, "\"20 ms\"", LATEST.0, |v| span(v).map(|d| d.0));
    let size = section.require("message", "\"1 kB\"", size)?;
    let interval = section.require("interval", "\"20 ms\"", interval)?;
    let deadline = section.read("deadline", span)?;
    let until = match (section.read("count", |v| whole(v, 1, MOST_MESSAGES))?, section.read("duration", span)?) {
        (Some(_), Some(_)) => {
            return Err(Error::new(
                "both count and duration say when there are no more messages",
                "remove one of the two",
            ));
        }
        (Some(n), None) => Until::Count(n),
        (None, Some(d)) => Until::Duration(d),
        (None, None) => {
            let problem = "missing: nothing says when there are no more messages";
            return Err(Error::at("count", problem, "write, for example, count = 1000, or duration = \"20 s\""));
        }
    };
    Ok(Messages { size, interval, deadline, until })
}

fn dialogue(section: &Section<'_>) -> Result<Application, Error> {
    let request = section.require("request", "\"200 B\"", bytes)?;
    let response = section.require("response", "\"100 kB\"", bytes)?;
    let count = section.or("count", 1, |v| whole(v, 1, 1_000_000_000))?;
    // Both have at least one octet, so this bounds the count, too.
    for (key, octets) in [("request", request), ("response", response)] {
        if octets.saturating_mul(count) > MOST {
            let problem = format!("{count} times {} are more than {}", BYTES.write(octets), BYTES.write(MOST));
            return Err(Error::at("count", problem, format!("lower count or {key}")));
        }
    }
    let think = section.or("think", Duration::ZERO, pause)?;
    Ok(Application::RequestResponse { request, response, count, think })
}

fn only(key: &str, why: &str, keys: &str) -> Error {
    Error::at(key, format!("not allowed here: {why}"), format!("it takes {keys}; remove \"{key}\""))
}

fn extent(section: &Section<'_>) -> Result<Extent, Error> {
    match (section.read("bytes", bytes)?, section.read("duration", span)?) {
        (Some(_), Some(_)) => {
            Err(Error::new("both bytes and duration say when the transfer ends", "remove one of the two"))
        }
        (None, Some(d)) => Ok(Extent::Duration(d)),
        (b, None) => Ok(Extent::Bytes(b.unwrap_or(50_000_000))),
    }
}
