//! What a connection transfers: `[transfer]`, or `transfer` of a `[[connection]]`.
//!
//! The keys decide which application it is: `message` means messages, `page` a web page, `ladder` a film, `request` and `response` a dialogue, `on` and `off` an
//! on-off source. A UDP connection has a constant-rate flow. Everything else is a bulk transfer.

use std::sync::Arc;

use anabranch_stack::time::{Duration, Instant};
use toml::{Table, Value};

use super::application::{Application, Extent, Messages, Until};
use super::error::Error;
use super::model::{Protocol, Transfer};
use super::reader::{Section, whole};
use super::schema::{MOST, MOST_OF_ONE, TRANSFER};
use super::units::{BYTES, LATEST, TIME};
use super::words::DIRECTIONS;
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

/// About the length of a browser's request.
const REQUEST: u64 = 400;

/// So many messages are kept apart.
const MOST_MESSAGES: u64 = 10_000_000;

/// Reads a transfer over `protocol`.
pub(super) fn read(value: &Table, protocol: Protocol) -> Result<Transfer, Error> {
    let section = Section::new(value, &TRANSFER)?;
    // Who asks for a page or a film is the client, if nothing else is said.
    let usual = (!(section.has("page") || section.has("ladder")), false);
    let (up, both) = section.word_given("direction", DIRECTIONS)?.unwrap_or(usual);
    let application = application(&section, protocol)?;
    if both && !matches!(application, Application::Bulk(_) | Application::OnOff { .. }) {
        let problem = "\"both\" is for bulk and on-off transfers over TCP and MPTCP only";
        return Err(Error::at("direction", problem, "write two connections, one for each direction"));
    }
    Ok(Transfer {
        up,
        both,
        start: Instant(section.value::<Duration>("start")?.0),
        start_spread: section.value("start_spread")?,
        application,
        read_rate: section.given_value("read_rate")?.map(|bits: u64| bits / 8),
    })
}

fn application(section: &Section<'_>, protocol: Protocol) -> Result<Application, Error> {
    let stray = PARTS.iter().find(|(key, home, _)| section.has(key) && !section.has(home));
    if let Some((key, home, example)) = stray {
        let problem = format!("not allowed here without the key \"{home}\"");
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
        let rate = section.given_value("rate")?;
        let ends = rate.is_some() || section.has("bytes") || section.has("duration");
        let extent = if ends { extent(section)? } else { Extent::Run };
        return Ok(Application::ConstantRate { extent, rate });
    }
    if section.has("message") {
        return messages(section).map(Arc::new).map(Application::Messages);
    }
    if section.has("page") {
        alone(section, "\"page\" makes this a web page", &["page", "connections", "request", "think"])?;
        let think = section.value("think")?;
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
    let rate = section.given_value("rate")?;
    if on_off.is_some() {
        return Ok(Application::OnOff {
            extent: extent(section)?,
            on: section.value("on")?,
            off: section.value("off")?,
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
    let interval = |v: &Value| draw::read(v, "\"20 ms\"", LATEST.0, |v| TIME.read(v, 1, LATEST.0));
    let size = section.require("message", size)?;
    let interval = section.require("interval", interval)?;
    let deadline = section.given_value("deadline")?;
    let until = match (section.read("count", |v| whole(v, 1, MOST_MESSAGES))?, section.given_value("duration")?) {
        (Some(_), Some(_)) => {
            return Err(Error::new("both count and duration say when the messages end", "remove one of the two"));
        }
        (Some(n), None) => Until::Count(n),
        (None, Some(d)) => Until::Duration(d),
        (None, None) => {
            let problem = "missing: neither count nor duration says when the messages end";
            return Err(Error::at("count", problem, "write, for example, count = 1000, or duration = \"20 s\""));
        }
    };
    Ok(Messages { size, interval, deadline, until })
}

fn dialogue(section: &Section<'_>) -> Result<Application, Error> {
    let request = section.value("request")?;
    let response = section.value("response")?;
    let count = section.value_or("count", 1_u64)?;
    // Both have at least one octet, so this bounds the count, too.
    for (key, octets) in [("request", request), ("response", response)] {
        if u64::saturating_mul(octets, count) > MOST {
            let problem = format!("{count} times {} are more than {}", BYTES.write(octets), BYTES.write(MOST));
            return Err(Error::at("count", problem, format!("lower count or {key}")));
        }
    }
    let think = section.value("think")?;
    Ok(Application::RequestResponse { request, response, count, think })
}

fn only(key: &str, why: &str, keys: &str) -> Error {
    Error::at(key, format!("not allowed here: {why}"), format!("remove \"{key}\"; keys of such a transfer: {keys}"))
}

fn extent(section: &Section<'_>) -> Result<Extent, Error> {
    match (section.given_value("bytes")?, section.given_value("duration")?) {
        (Some(_), Some(_)) => {
            Err(Error::new("both bytes and duration say when the transfer ends", "remove one of the two"))
        }
        (None, Some(d)) => Ok(Extent::Duration(d)),
        (None, None) => section.value("bytes").map(Extent::Bytes),
        (Some(bytes), None) => Ok(Extent::Bytes(bytes)),
    }
}
