//! The keys of a connection that become the engine's configuration.

use anabranch_stack::ConfigError;
use anabranch_stack::config::{
    Acknowledgement, Config, DelayedAck, DsnOctets, KeepAlive, PROFILES, Profile, RTO_FLOORS,
};
use anabranch_stack::judge::{Judge, RESPONSES};
use anabranch_stack::registry::{Choice, Kind, Need, Registry};
use anabranch_stack::time::Duration;
use toml::Value;

use super::algorithm;
use super::error::Error;
use super::memory;
use super::model::Protocol;
use super::reader::{Section, flag, show, whole, word};
use super::units::{BYTES, TIME, time, word_or};

/// An IPv4 packet of 65535 octets less 20 of IP and up to 60 of TCP header.
const LARGEST_MSS: u64 = 65_455;

/// Parameters of the engine.
pub(super) fn config(section: &Section<'_>, protocol: Protocol) -> Result<Config, Error> {
    let profile = section.or("profile", Profile::default(), |v| word(v, "profile", PROFILES))?;
    let mut d = profile.config();
    memory::defaults(section, &mut d)?;
    let rto = |v| time(v, Duration::from_micros(1), Duration::from_secs(3600));
    let switch = |key, default| section.or(key, default, flag);
    // Each range below ends within u32.
    let small = |v, max| whole(v, 1, max).map(|n| n as u32);
    let config = Config {
        mptcp: protocol == Protocol::Mptcp,
        controller: chosen(section, "controller", d.controller, profile)?,
        detector: chosen(section, "detector", d.detector, profile)?,
        reduction: chosen(section, "reduction", d.reduction, profile)?,
        judge: judge(section, d.judge, profile)?,
        response: section.or("response", d.response, |v| word(v, "response", RESPONSES))?,
        scheduler: chosen(section, "scheduler", d.scheduler, profile)?,
        opportunistic_retransmission: switch("opportunistic_retransmission", d.opportunistic_retransmission)?,
        penalisation: switch("penalisation", d.penalisation)?,
        acknowledgement: section.or("acknowledgement", d.acknowledgement, acknowledgement)?,
        mss: section.or("mss", d.mss, |v| small(v, LARGEST_MSS))?,
        receive_buffer: section.or("receive_buffer", d.receive_buffer, buffer)?,
        receive_initial: section.or("receive_initial", d.receive_initial, initial)?,
        held_charge: section.or("held_charge", d.held_charge, held_charge)?,
        send_buffer: section.or("send_buffer", d.send_buffer, buffer)?,
        initial_window: section.or("initial_window", d.initial_window, |v| small(v, 65_535))?,
        byte_counting: switch("byte_counting", d.byte_counting)?,
        min_rto: section.or("min_rto", d.min_rto, rto)?,
        max_rto: section.or("max_rto", d.max_rto, rto)?,
        initial_rto: section.or("initial_rto", d.initial_rto, rto)?,
        rto_floor: section.or("rto_floor", d.rto_floor, |v| word(v, "rto_floor", RTO_FLOORS))?,
        sack_timing: switch("sack_timing", d.sack_timing)?,
        window_validation: switch("window_validation", d.window_validation)?,
        count_segments: switch("count_segments", d.count_segments)?,
        max_retransmissions: section.or("max_retransmissions", d.max_retransmissions, |v| small(v, 1000))?,
        stale_after: section.or("stale_after", d.stale_after, |v| whole(v, 0, 255).map(|n| n as u32))?,
        sack: switch("sack", d.sack)?,
        timestamps: switch("timestamps", d.timestamps)?,
        ecn: switch("ecn", d.ecn)?,
        pacing: switch("pacing", d.pacing)?,
        nagle: switch("nagle", d.nagle)?,
        fast_open: section.or("fast_open", Cookie::Off, fast_open)? != Cookie::Off,
        user_timeout: section.or("user_timeout", d.user_timeout, user_timeout)?,
        keepalive: keepalive(section)?,
        delayed_ack: section.or("delayed_ack", d.delayed_ack, delayed_ack)?,
        delayed_ack_adapts: switch("delayed_ack_adapts", d.delayed_ack_adapts)?,
        quick_acks: section.or("quick_acks", d.quick_acks, |v| whole(v, 0, 1000).map(|n| n as u32))?,
        push_acks: switch("push_acks", d.push_acks)?,
        defer_bursts: switch("defer_bursts", d.defer_bursts)?,
        acknowledge_on_read: switch("acknowledge_on_read", d.acknowledge_on_read)?,
        ack_compression: section.or("ack_compression", d.ack_compression, ack_compression)?,
        checksum: switch("checksum", d.checksum)?,
        dsn_octets: section.or("dsn_octets", d.dsn_octets, dsn_octets)?,
        subflow_limit: section.or("subflow_limit", d.subflow_limit, |v| whole(v, 1, 255).map(|n| n as usize))?,
        invalid_ack_interval: section.or("invalid_ack_interval", d.invalid_ack_interval, within_an_hour)?,
        time_wait: section.or("time_wait", d.time_wait, within_an_hour)?,
        ..d
    };
    config.validate().map_err(|e| refused(e, section)).map(|()| config)
}

/// The algorithm that `key` names.
fn chosen<T: ?Sized + Kind>(
    section: &Section<'_>,
    key: &str,
    default: Choice<T>,
    profile: Profile,
) -> Result<Choice<T>, Error> {
    section.or(key, default, |v| algorithm::read(v, key, &Registry::default(), profile))
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

/// Keys that are other names of TCP-DOOR's parameters. They have no effect under another judge.
const DOOR: [(&str, &str); 2] = [("door_t1", "t1"), ("door_t2", "t2")];

fn judge(section: &Section<'_>, default: Choice<dyn Judge>, profile: Profile) -> Result<Choice<dyn Judge>, Error> {
    let known = Registry::default();
    let door = known.find("door").expect("the engine has it");
    let key = judge_key(section)?;
    let mut choice = section.or(key, default, |v| algorithm::read(v, key, &known, profile))?;
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

/// A fault that concerns several keys together, which the engine's validation finds, in the words of a scenario.
fn refused(error: ConfigError, section: &Section<'_>) -> Error {
    match error {
        ConfigError::AboveMaxRto { field, value, max_rto } => {
            let problem = format!("{} is more than max_rto, {}", TIME.write(value.0), TIME.write(max_rto.0));
            Error::at(field, problem, format!("lower {field} or raise max_rto"))
        }
        ConfigError::Needs { kind, name, need: need @ Need::Scoreboard } => {
            let problem = format!("\"{name}\" needs {need}, and coupled acknowledgement sends none");
            Error::at(kind, problem, format!("set acknowledgement = \"independent\", or choose another {kind}"))
        }
        ConfigError::Needs { kind, name, need } => {
            let key = if kind == "judge" && section.has("recovery") { "recovery" } else { kind };
            let remedy = format!("set {need} = true, or choose another {key}");
            Error::at(key, format!("\"{name}\" needs {need}, which is off"), remedy)
        }
        ConfigError::Range { field, value, allowed } => {
            Error::at(field, format!("{value} is out of range"), format!("allowed: {allowed}"))
        }
        other => Error::new(other.to_string(), ""),
    }
}

fn within_an_hour(value: &Value) -> Result<Duration, Error> {
    time(value, Duration::ZERO, Duration::from_secs(3600))
}

fn acknowledgement(value: &Value) -> Result<Acknowledgement, Error> {
    let choices = [("independent", Acknowledgement::Independent), ("coupled", Acknowledgement::Coupled)];
    word(value, "acknowledgement", &choices)
}

fn buffer(value: &Value) -> Result<Option<u64>, Error> {
    // RFC 7323 2.3: no window is larger than 1 GiB.
    word_or(value, &[("unlimited", None)], |v| BYTES.read(v, 1, 1 << 30).map(Some), "4 MB")
}

fn held_charge(value: &Value) -> Result<f64, Error> {
    let n = value.as_float().or(value.as_integer().map(|n| n as f64)).unwrap_or(f64::NAN);
    if (0.0..=2.0).contains(&n) {
        return Ok(n);
    }
    Err(Error::new(format!("expected a number from 0 to 2, found {}", show(value)), "for example 0.81"))
}

fn initial(value: &Value) -> Result<Option<u64>, Error> {
    word_or(value, &[("full", None)], |v| BYTES.read(v, 1, 1 << 30).map(Some), "64 kB")
}

/// What a client begins with that may open connections fast (RFC 7413).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cookie {
    /// It may not.
    Off,
    /// The server's cookie, from a connection before this one.
    Cached,
    /// Nothing: its SYN asks for a cookie.
    None,
}

/// The key `fast_open`.
pub(super) fn fast_open(value: &Value) -> Result<Cookie, Error> {
    match (value.as_bool(), value.as_str()) {
        (Some(false), _) => Ok(Cookie::Off),
        (Some(true), _) => Ok(Cookie::Cached),
        (_, Some("no-cookie")) => Ok(Cookie::None),
        _ => {
            let problem = format!("expected true, false or \"no-cookie\", found {}", show(value));
            Err(Error::new(problem, "true: the client has the server's cookie; \"no-cookie\": its SYN asks for one"))
        }
    }
}

fn user_timeout(value: &Value) -> Result<Option<Duration>, Error> {
    let timeout = |v: &Value| time(v, Duration::from_millis(1), Duration::from_secs(86_400)).map(Some);
    word_or(value, &[("none", None)], timeout, "30 s")
}

/// Keep-alives after an idle time; their interval and number go with it.
fn keepalive(section: &Section<'_>) -> Result<Option<KeepAlive>, Error> {
    let d = KeepAlive::default();
    let span = |v: &Value| time(v, Duration::from_millis(1), Duration::from_secs(86_400));
    let idle = |v: &Value| word_or(v, &[("off", None)], |v| span(v).map(Some), "2 h");
    let interval = section.or("keepalive_interval", d.interval, span)?;
    let probes = section.or("keepalive_probes", d.probes, |v| whole(v, 2, 127).map(|n| n as u32))?;
    let idle = section.or("keepalive", None, idle)?;
    Ok(idle.map(|idle| KeepAlive { idle, interval, probes }))
}

fn dsn_octets(value: &Value) -> Result<DsnOctets, Error> {
    match value {
        Value::Integer(4) => Ok(DsnOctets::Four),
        Value::Integer(8) => Ok(DsnOctets::Eight),
        _ => Err(Error::new(format!("{value} is not a length of data sequence numbers"), "allowed: 4 or 8")),
    }
}

fn ack_compression(value: &Value) -> Result<Duration, Error> {
    let delay = |v: &Value| time(v, Duration(1), Duration::from_millis(100));
    word_or(value, &[("off", Duration::ZERO)], delay, "1 ms")
}

fn delayed_ack(value: &Value) -> Result<DelayedAck, Error> {
    // RFC 1122 4.2.3.2: less than 0.5 seconds.
    let delay = |v: &Value| time(v, Duration(1), Duration::from_millis(500)).map(DelayedAck::After);
    word_or(value, &[("off", DelayedAck::Off)], delay, "40 ms")
}
