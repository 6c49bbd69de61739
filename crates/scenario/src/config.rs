//! The keys of a connection that become the engine's configuration.

use anabranch_stack::ConfigError;
use anabranch_stack::config::{Config, DsnOctets, PROFILES, Profile, Registered, Registries};
use anabranch_stack::judge::Judge;
use anabranch_stack::registry::{Choice, Need};
use toml::Value;

use super::algorithm;
use super::error::{Error, show};
use super::memory;
use super::model::Protocol;
use super::reader::Section;
use super::schema::{CONNECTION, Value as Shape};
use super::syntax;
use super::units::TIME;
use super::words::PROTOCOLS;

/// Parameters of the engine; `known` has the algorithms that may be named.
pub(super) fn config(section: &Section<'_>, protocol: Protocol, known: &Registries) -> Result<Config, Error> {
    let profile = section.word("profile", PROFILES)?;
    let mut config = profile.config();
    memory::defaults(section, &mut config)?;
    config.mptcp = protocol == Protocol::Mptcp;
    config.controller = chosen(section, "controller", config.controller, profile, known)?;
    config.detector = chosen(section, "detector", config.detector, profile, known)?;
    config.reduction = chosen(section, "reduction", config.reduction, profile, known)?;
    config.judge = judge(section, config.judge, profile, known)?;
    config.scheduler = chosen(section, "scheduler", config.scheduler, profile, known)?;
    config.fast_open = section.or("fast_open", Cookie::Off, fast_open)? != Cookie::Off;
    if let Some(octets) = section.read("dsn_octets", dsn_octets)? {
        config.dsn_octets = octets;
    }
    for key in CONNECTION.keys().filter(|key| matches!(key.value, Shape::Field | Shape::Within(_))) {
        if let Some(value) = section.setting(key.name)? {
            (key.field().set)(&mut config, value);
        }
    }
    config.validate().map_err(|e| refused(e, section)).map(|()| config)
}

/// Turns the text of a scenario's `[connection]` table, without its heading, into the engine's
/// configuration, for a program that drives the engine itself. The words, defaults and messages are
/// those of a scenario. `known` has the algorithms that may be named.
///
/// ```
/// use anabranch_scenario::algorithms::registered;
/// use anabranch_scenario::connection_config;
///
/// let config = connection_config("scheduler = 'blest'\nsend_buffer = '1 MB'", &registered())?;
/// assert_eq!((config.scheduler.name(), config.send_buffer), ("blest", Some(1_000_000)));
/// let error = connection_config("path_manager = 'full-mesh'", &registered()).unwrap_err();
/// assert!(error.to_string().starts_with("connection.path_manager: only the simulator carries it out"));
/// # Ok::<(), anabranch_scenario::Error>(())
/// ```
///
/// # Errors
/// The first fault found. Keys that only the simulator carries out are refused by name.
pub fn connection_config(text: &str, known: &Registries) -> Result<Config, Error> {
    let table = syntax::parse(text)?;
    let read = || {
        let section = Section::new(&table, &CONNECTION)?;
        if let Some(key) = CONNECTION.keys().find(|key| key.simulated && section.has(key.name)) {
            let remedy = "remove it: here the program that drives the engine decides this";
            return Err(Error::at(key.name, "only the simulator carries it out", remedy));
        }
        let protocol = section.word("protocol", PROTOCOLS)?;
        if protocol == Protocol::Udp {
            let problem = "\"udp\" is a flow of the simulator, not a connection";
            return Err(Error::at("protocol", problem, "allowed: \"mptcp\" or \"tcp\""));
        }
        config(&section, protocol, known)
    };
    read().map_err(|e: Error| e.within("connection"))
}

/// The algorithm that `key` names.
fn chosen<T: ?Sized + Registered>(
    section: &Section<'_>,
    key: &str,
    default: Choice<T>,
    profile: Profile,
    known: &Registries,
) -> Result<Choice<T>, Error> {
    section.or(key, default, |v| algorithm::read(v, key, known.of(), profile))
}

/// The key of the judge as it is written: `recovery` is its other name.
pub(super) fn judge_key(section: &Section<'_>) -> Result<&'static str, Error> {
    match (section.has("judge"), section.has("recovery")) {
        (true, true) => Err(Error::at("recovery", "is an alias of judge, and both are given", "remove one of the two")),
        (false, true) => Ok("recovery"),
        _ => Ok("judge"),
    }
}

/// Keys that are other names of TCP-DOOR's parameters. They have no effect under another judge.
const DOOR: [(&str, &str); 2] = [("door_t1", "t1"), ("door_t2", "t2")];

fn judge(
    section: &Section<'_>,
    default: Choice<dyn Judge>,
    profile: Profile,
    known: &Registries,
) -> Result<Choice<dyn Judge>, Error> {
    let known = known.of::<dyn Judge>();
    let door = known.find("door").expect("the engine has it");
    let key = judge_key(section)?;
    let mut choice = section.or(key, default, |v| algorithm::read(v, key, known, profile))?;
    for (alias, name) in DOOR {
        let parameter = door.info().parameter(name).expect("it has two");
        let Some(with) = section.read(alias, |v| algorithm::set(door.clone(), parameter, v))? else { continue };
        let table = section.get(key).and_then(Value::as_table);
        if table.is_some_and(|t| t.contains_key(name)) {
            let problem = format!("is an alias of {key}.{name}, and both are given");
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
            Error::at(field, format!("{value} is not allowed"), format!("allowed: {allowed}"))
        }
        other => Error::new(other.to_string(), ""),
    }
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
            let allowed =
                "allowed: true (the client has the server's cookie), \"no-cookie\" (its SYN asks for one), false";
            Err(Error::new(problem, allowed))
        }
    }
}

fn dsn_octets(value: &Value) -> Result<DsnOctets, Error> {
    match value {
        Value::Integer(4) => Ok(DsnOctets::Four),
        Value::Integer(8) => Ok(DsnOctets::Eight),
        _ => Err(Error::new(format!("{value} is not a length of data sequence numbers"), "allowed: 4 or 8")),
    }
}
