//! What a connection transfers: `[transfer]`, or `transfer` of a `[[connection]]`.
//!
//! The keys decide which application it is: `request` and `response` mean a dialogue, `on` and `off` an on-off source. A
//! UDP connection has a constant-rate flow. Everything else is a bulk transfer.

use anabranch_stack::time::{Duration, Instant};
use toml::{Table, Value};

use super::error::Error;
use super::keys::TRANSFER;
use super::model::{Application, Extent, Protocol, Transfer};
use super::properties::rate;
use super::reader::{Section, whole, word};
use super::units::{BYTES, LATEST, time};

/// Keys of a dialogue; if any of them is given, the transfer is a dialogue.
const DIALOGUE: &[&str] = &["request", "response", "count", "think"];

/// The most octets of a transfer or a request, a petabyte.
const MOST: u64 = 1_000_000_000_000_000;

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
    Ok(Transfer {
        up: section.or("direction", true, |v| word(v, "direction", &[("up", true), ("down", false)]))?,
        start: Instant(section.or("start", Duration::ZERO, pause)?.0),
        start_spread: section.or("start_spread", Duration::ZERO, pause)?,
        application: application(&section, protocol)?,
        read_rate: section.read("read_rate", read_rate)?,
    })
}

fn application(section: &Section<'_>, protocol: Protocol) -> Result<Application, Error> {
    let talks = DIALOGUE.iter().find(|k| section.has(k));
    let on_off = ["on", "off"].into_iter().find(|k| section.has(k));
    if protocol == Protocol::Udp {
        let stray = talks.copied().or(on_off).or(section.has("read_rate").then_some("read_rate"));
        if let Some(key) = stray {
            return Err(only(key, "protocol = \"udp\" is a constant-rate flow", "rate, and bytes or duration"));
        }
        let rate = section.read("rate", rate)?;
        let ends = rate.is_some() || section.has("bytes") || section.has("duration");
        let extent = if ends { extent(section)? } else { Extent::Run };
        return Ok(Application::ConstantRate { extent, rate });
    }
    if let Some(first) = talks {
        if let Some(key) = ["bytes", "duration", "on", "off", "rate"].into_iter().find(|k| section.has(k)) {
            let why = format!("\"{first}\" makes this a request/response transfer");
            return Err(only(key, &why, "request, response, count, think"));
        }
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
