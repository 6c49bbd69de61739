//! The keys of `[connection]` and `[[connection]]`: what is spoken, and the parameters of both endpoints.

use anabranch_stack::config::{Acknowledgement, Config, DelayedAck, DsnOctets};
use anabranch_stack::recovery::RESPONSES;
use anabranch_stack::registry::Entry;
use anabranch_stack::time::Duration;
use anabranch_stack::{controller, recovery, scheduler};
use toml::Value;

use super::error::Error;
use super::reader::{Keys, Section, flag, whole, word};
use super::topology::{Topology, name};
use super::units::{BYTES, RATE, TIME, time, word_or};
use super::{Connection, LinkId, PathManager, Protocol, Stack, Transfer, legacy, path_manager, route};

/// Keys of a connection without its transfer.
pub(super) static KEYS: Keys = Keys { table: "[connection]", plain: PLAIN, directed: &[] };
/// Keys of one of several connections.
pub(super) static LONG_KEYS: Keys = Keys { table: "[[connection]]", plain: LONG, directed: &[] };

const PLAIN: &[&str] = LONG.split_at(LONG.len() - 1).0;

const LONG: &[&str] = &[
    "protocol",
    "controller",
    "recovery",
    "response",
    "door_t1",
    "door_t2",
    "scheduler",
    "acknowledgement",
    "mss",
    "receive_buffer",
    "send_buffer",
    "initial_window",
    "byte_counting",
    "min_rto",
    "max_rto",
    "initial_rto",
    "max_retransmissions",
    "sack",
    "timestamps",
    "ecn",
    "nagle",
    "delayed_ack",
    "checksum",
    "dsn_octets",
    "time_wait",
    "invalid_ack_interval",
    "subflow_limit",
    "path_manager",
    "path_changes",
    "ack_discard",
    "name",
    "client",
    "server",
    "paths",
    "transfer",
];

const PROTOCOLS: &[(&str, Protocol)] = &[("mptcp", Protocol::Mptcp), ("tcp", Protocol::Tcp), ("udp", Protocol::Udp)];

/// An IPv4 packet of 65535 octets less 20 of IP and up to 60 of TCP header.
const LARGEST_MSS: u64 = 65_455;

/// What the connection speaks; its transfer depends on it.
pub(super) fn protocol(section: &Section<'_>) -> Result<Protocol, Error> {
    section.or("protocol", Protocol::Mptcp, |v| word(v, "protocol", PROTOCOLS))
}

/// Reads connection number `index`.
pub(super) fn read(
    section: &Section<'_>,
    index: usize,
    topology: &Topology,
    protocol: Protocol,
    transfer: Transfer,
    stack: Stack,
) -> Result<Connection, Error> {
    let (config, legacy) = match stack {
        Stack::Anabranch => {
            legacy::refuse_ack_discard(section)?;
            (config(section, protocol)?, None)
        }
        Stack::Legacy2011 => legacy::read(section, protocol).map(|(config, model)| (config, Some(model)))?,
    };
    if let (Stack::Legacy2011, Some(key)) =
        (stack, ["path_manager", "path_changes"].into_iter().find(|k| section.has(k)))
    {
        let problem = format!("the stack \"legacy-2011\" has no {key}: the model joins all paths");
        return Err(Error::at(key, problem, "remove it, or use stack = \"anabranch\""));
    }
    let path_manager = path_manager::policy(section)?;
    let (client, server, mut paths) = route::read(section, topology, path_manager == PathManager::FullMesh)?;
    if protocol == Protocol::Mptcp && config.dsn_octets == DsnOctets::Four {
        numbers_last(&paths, topology)?;
    }
    let path_changes = path_manager::changes(section, &paths, topology)?;
    if protocol != Protocol::Mptcp {
        // So that `protocol` alone can be changed, for a baseline.
        paths.truncate(1);
    }
    let path_changes = if protocol == Protocol::Mptcp { path_changes } else { Vec::new() };
    Ok(Connection {
        name: section.or("name", format!("connection{index}"), name)?,
        protocol,
        client,
        server,
        paths,
        path_manager,
        path_changes,
        config,
        legacy,
        transfer,
    })
}

/// Parameters of the engine.
pub(super) fn config(section: &Section<'_>, protocol: Protocol) -> Result<Config, Error> {
    let d = Config::default();
    let rto = |v| time(v, Duration::from_micros(1), Duration::from_secs(3600));
    // Each range below ends within u32.
    let small = |v, max| whole(v, 1, max).map(|n| n as u32);
    let config = Config {
        mptcp: protocol == Protocol::Mptcp,
        controller: section.or("controller", d.controller, |v| registered(v, "controller", controller::REGISTRY))?,
        recovery: section.or("recovery", d.recovery, |v| registered(v, "recovery", recovery::REGISTRY))?,
        response: section.or("response", d.response, |v| word(v, "response", RESPONSES))?,
        door_t1: section.or("door_t1", d.door_t1, round_trips)?,
        door_t2: section.or("door_t2", d.door_t2, round_trips)?,
        scheduler: section.or("scheduler", d.scheduler, |v| registered(v, "scheduler", scheduler::REGISTRY))?,
        acknowledgement: section.or("acknowledgement", d.acknowledgement, |v| {
            let choices = [("independent", Acknowledgement::Independent), ("coupled", Acknowledgement::Coupled)];
            word(v, "acknowledgement", &choices)
        })?,
        mss: section.or("mss", d.mss, |v| small(v, LARGEST_MSS))?,
        receive_buffer: section.or("receive_buffer", d.receive_buffer, buffer)?,
        send_buffer: section.or("send_buffer", d.send_buffer, buffer)?,
        initial_window: section.or("initial_window", d.initial_window, |v| small(v, 65_535))?,
        byte_counting: section.or("byte_counting", d.byte_counting, flag)?,
        min_rto: section.or("min_rto", d.min_rto, rto)?,
        max_rto: section.or("max_rto", d.max_rto, rto)?,
        initial_rto: section.or("initial_rto", d.initial_rto, rto)?,
        max_retransmissions: section.or("max_retransmissions", d.max_retransmissions, |v| small(v, 1000))?,
        sack: section.or("sack", d.sack, flag)?,
        timestamps: section.or("timestamps", d.timestamps, flag)?,
        ecn: section.or("ecn", d.ecn, flag)?,
        nagle: section.or("nagle", d.nagle, flag)?,
        delayed_ack: section.or("delayed_ack", d.delayed_ack, delayed_ack)?,
        checksum: section.or("checksum", d.checksum, flag)?,
        dsn_octets: section.or("dsn_octets", d.dsn_octets, dsn_octets)?,
        subflow_limit: section.or("subflow_limit", d.subflow_limit, |v| whole(v, 1, 255).map(|n| n as usize))?,
        address_limit: d.address_limit,
        invalid_ack_interval: section.or("invalid_ack_interval", d.invalid_ack_interval, |v| {
            time(v, Duration::ZERO, Duration::from_secs(3600))
        })?,
        time_wait: section.or("time_wait", d.time_wait, |v| time(v, Duration::ZERO, Duration::from_secs(3600)))?,
    };
    consistent(&config)?;
    Ok(config)
}

/// RFC 8684 3.3.1: 32 bits of a data sequence number must not come round while old segments may be under way, which Linux takes to
/// be for a minute each way.
fn numbers_last(paths: &[Vec<LinkId>], topology: &Topology) -> Result<(), Error> {
    const TWO_MINUTES: u64 = 120;
    let most = (u64::from(u32::MAX) + 1) * 8 / TWO_MINUTES;
    let along = |path: &Vec<LinkId>, up: bool| path.iter().map(|&l| topology.links[l].peak_rate(up)).min().unwrap_or(0);
    let rate = [true, false].map(|up| paths.iter().map(|p| along(p, up)).fold(0, u64::saturating_add));
    let rate = rate[0].max(rate[1]);
    if rate >= most {
        let problem = format!("4, but at {} together the paths can wrap 32 bits within two minutes", RATE.write(rate));
        return Err(Error::at("dsn_octets", problem, "use 8, or slower paths"));
    }
    Ok(())
}

/// What no key says alone.
fn consistent(config: &Config) -> Result<(), Error> {
    for (key, value) in [("min_rto", config.min_rto), ("initial_rto", config.initial_rto)] {
        if value > config.max_rto {
            let problem = format!("{} is more than max_rto, {}", TIME.write(value.0), TIME.write(config.max_rto.0));
            return Err(Error::at(key, problem, format!("lower {key} or raise max_rto")));
        }
    }
    let needs = recovery::find(config.recovery).map_or("", |e| e.needs);
    for (key, on) in [("timestamps", config.timestamps), ("sack", config.sack)] {
        if lacks(needs, key, on) {
            let problem = format!("\"{}\" needs {key}, which is off", config.recovery);
            return Err(Error::at("recovery", problem, format!("set {key} = true, or choose another recovery")));
        }
    }
    Ok(())
}

/// Whether `needs` names `option` (D-SACK needs SACK) while it is off.
fn lacks(needs: &str, option: &str, on: bool) -> bool {
    let named = |word: &str| word == option || word.strip_prefix("d-") == Some(option);
    !on && needs.to_lowercase().split([',', ' ']).any(named)
}

fn registered<T>(value: &Value, what: &str, registry: &'static [Entry<T>]) -> Result<&'static str, Error> {
    let choices: Vec<(&'static str, &'static str)> = registry.iter().map(|e| (e.name, e.name)).collect();
    word(value, what, &choices)
}

/// A time in smoothed round-trip times.
fn round_trips(value: &Value) -> Result<f64, Error> {
    let n = match value {
        Value::Integer(n) => *n as f64,
        Value::Float(x) => *x,
        _ => f64::NAN,
    };
    if (0.0..=1000.0).contains(&n) {
        return Ok(n);
    }
    Err(Error::new(
        format!("expected a number of smoothed round-trip times from 0 to 1000, found {value}"),
        "for example 1.0",
    ))
}

fn buffer(value: &Value) -> Result<Option<u64>, Error> {
    // RFC 7323 2.3: no window is larger than 1 GiB.
    word_or(value, &[("unlimited", None)], |v| BYTES.read(v, 1, 1 << 30).map(Some), "4 MB")
}

fn dsn_octets(value: &Value) -> Result<DsnOctets, Error> {
    match value {
        Value::Integer(4) => Ok(DsnOctets::Four),
        Value::Integer(8) => Ok(DsnOctets::Eight),
        _ => Err(Error::new(format!("{value} is not a length of data sequence numbers"), "allowed: 4 or 8")),
    }
}

fn delayed_ack(value: &Value) -> Result<DelayedAck, Error> {
    // RFC 1122 4.2.3.2: less than 0.5 seconds.
    let delay = |v: &Value| time(v, Duration(1), Duration::from_millis(500)).map(DelayedAck::After);
    word_or(value, &[("off", DelayedAck::Off)], delay, "40 ms")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recovery_that_needs_an_option_is_refused_without_it() {
        assert!(lacks("timestamps", "timestamps", false));
        assert!(lacks("D-SACK, timestamps", "sack", false));
        assert!(!lacks("timestamps", "timestamps", true));
        assert!(!lacks("", "sack", false));
    }
}
