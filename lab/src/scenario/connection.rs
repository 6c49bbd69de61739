//! The keys of `[connection]` and `[[connection]]`: what is spoken, and the parameters of both endpoints.

use anabranch_stack::ConfigError;
use anabranch_stack::config::{Acknowledgement, Config, DelayedAck, DsnOctets};
use anabranch_stack::judge::{Judge, RESPONSES};
use anabranch_stack::registry::{Choice, Registry};
use anabranch_stack::time::Duration;
use toml::Value;

use super::algorithm;
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
    "detector",
    "reduction",
    "judge",
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
    let judge_key = judge_key(section)?;
    Ok(Connection {
        name: section.or("name", format!("connection{index}"), name)?,
        protocol,
        client,
        server,
        paths,
        path_manager,
        path_changes,
        config,
        judge_key,
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
        controller: section
            .or("controller", d.controller, |v| algorithm::read(v, "controller", &Registry::default()))?,
        detector: section.or("detector", d.detector, |v| algorithm::read(v, "detector", &Registry::default()))?,
        reduction: section.or("reduction", d.reduction, |v| algorithm::read(v, "reduction", &Registry::default()))?,
        judge: judge(section, d.judge)?,
        response: section.or("response", d.response, |v| word(v, "response", RESPONSES))?,
        scheduler: section.or("scheduler", d.scheduler, |v| algorithm::read(v, "scheduler", &Registry::default()))?,
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
    config.validate().map_err(|e| refused(e, section))?;
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

/// The key of the judge as it is written: `recovery` is its other name.
pub(super) fn judge_key(section: &Section<'_>) -> Result<&'static str, Error> {
    match (section.has("judge"), section.has("recovery")) {
        (true, true) => {
            Err(Error::at("recovery", "is another name of judge, and both are given", "remove one of the two"))
        }
        (false, true) => Ok("recovery"),
        _ => Ok("judge"),
    }
}

/// Other names of the parameters of TCP-DOOR; without effect under another judge.
const DOOR: [(&str, &str); 2] = [("door_t1", "t1"), ("door_t2", "t2")];

fn judge(section: &Section<'_>, default: Choice<dyn Judge>) -> Result<Choice<dyn Judge>, Error> {
    let known = Registry::default();
    let door = known.find("door").expect("the engine has it");
    let key = judge_key(section)?;
    let mut choice = section.or(key, default, |v| algorithm::read(v, key, &known))?;
    for (alias, name) in DOOR {
        let parameter = door.info().parameter(name).expect("it has two");
        let Some(with) = section.read(alias, |v| algorithm::set(door.clone(), parameter, v))? else { continue };
        let table = section.get(key).and_then(Value::as_table);
        if table.is_some_and(|t| t.contains_key(name)) {
            let problem = format!("is another name of {key}.{name}, and both are given");
            return Err(Error::at(alias, problem, "remove one of the two"));
        }
        if choice.name() == door.name() {
            choice = choice.with(name, with.values().get(name)).expect("it was read for this parameter");
        }
    }
    Ok(choice)
}

/// What no key says alone, in the words of the scenario.
fn refused(error: ConfigError, section: &Section<'_>) -> Error {
    match error {
        ConfigError::AboveMaxRto { field, value, max_rto } => {
            let problem = format!("{} is more than max_rto, {}", TIME.write(value.0), TIME.write(max_rto.0));
            Error::at(field, problem, format!("lower {field} or raise max_rto"))
        }
        ConfigError::Needs { kind, name, need } => {
            let key = if kind == "judge" && section.has("recovery") { "recovery" } else { kind };
            let remedy = format!("set {need} = true, or choose another {key}");
            Error::at(key, format!("\"{name}\" needs {need}, which is off"), remedy)
        }
        other => Error::new(other.to_string(), ""),
    }
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
