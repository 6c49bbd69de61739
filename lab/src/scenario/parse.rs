//! From text to [`Scenario`].

use toml::{Table, Value};

use super::application::Application;
use super::error::{Error, asked, show, unseen};
use super::middlebox::{Kind, Middlebox};
use super::model::{Connection, Link, Protocol, Scenario, Stack, Transfer};
use super::reader::{Section, each_table, table, text};
use super::schema::{CONNECTION, LONG_CONNECTION, ROOT};
use super::topology::{self, Topology, distinct};
use super::words::STACKS;
use super::{connection, generated, legacy, overrides, presets, syntax, trace, transfer};
use crate::ask::{Ask, go_on};

/// Reads and validates a scenario.
///
/// `name` is the file as messages name it. `overrides` are key paths and raw values (`path[1].delay`, `200 ms`),
/// applied in order before anything is read; `seed`, if given, replaces the document's.
///
/// # Errors
/// The first fault found, with its place and remedy. Nothing has run by then.
pub fn parse(text: &str, name: &str, overrides: &[(String, String)], seed: Option<u64>) -> Result<Scenario, Error> {
    parse_asking(text, name, overrides, seed, &go_on)
}

/// As [`parse`]; `ask` is called at each link and each connection. If it wants to stop, the result is an error that
/// [is no fault](Error::is_stopped).
///
/// # Errors
/// As [`parse`].
pub fn parse_asking(
    text: &str,
    name: &str,
    overrides: &[(String, String)],
    seed: Option<u64>,
    ask: Ask<'_>,
) -> Result<Scenario, Error> {
    document(text, name, overrides, seed, ask).map(|(_, scenario)| scenario)
}

/// The document with `overrides` and `seed` applied, as TOML: read without overrides it gives the same scenario, in this version and in
/// later ones, since each connection names its profile. Comments are lost.
///
/// # Errors
/// As [`parse`].
pub fn resolved_toml(
    text: &str,
    name: &str,
    overrides: &[(String, String)],
    seed: Option<u64>,
) -> Result<String, Error> {
    let (mut document, scenario) = document(text, name, overrides, seed, &go_on)?;
    if scenario.stack == Stack::Anabranch {
        name_profiles(&mut document, &scenario);
    }
    Ok(document.to_string())
}

/// Writes the profile of each connection into the document.
fn name_profiles(document: &mut Table, scenario: &Scenario) {
    let of = |i: usize| scenario.connections.get(i).map(|c| Value::from(c.config.profile.name()));
    match document.entry("connection").or_insert_with(|| Value::Table(Table::new())) {
        Value::Array(list) => {
            for (i, connection) in list.iter_mut().enumerate() {
                if let (Some(table), Some(profile)) = (connection.as_table_mut(), of(i)) {
                    table.insert("profile".into(), profile);
                }
            }
        }
        Value::Table(table) => {
            table.extend(of(0).map(|profile| ("profile".to_owned(), profile)));
        }
        _ => {}
    }
}

/// As [`resolved_toml`], with `[topology]` and `[traffic]` written out as hosts, routers, links and connections.
///
/// # Errors
/// As [`parse`].
pub fn expanded_toml(
    text: &str,
    name: &str,
    overrides: &[(String, String)],
    seed: Option<u64>,
) -> Result<String, Error> {
    let (document, scenario) = document(text, name, overrides, seed, &go_on)?;
    let expanded = generated::expand(&document, scenario.stack, scenario.seed, &go_on).map_err(|e| e.in_file(name))?;
    Ok(expanded.unwrap_or(document).to_string())
}

/// The document with its overrides applied and with the contents of the files that it names in place of their names; `None` if
/// it names none. It is not validated otherwise.
///
/// # Errors
/// As [`parse`], if the text is not TOML, an override does not fit, or a file cannot be read.
pub fn inlined_toml(text: &str, name: &str, overrides: &[(String, String)]) -> Result<Option<String>, Error> {
    let mut document = syntax::parse(text).map_err(|e| e.in_file(name))?;
    let overridden = overrides::apply(&mut document, overrides).map_err(|e| e.in_file(name))?;
    let any = trace::inline(&mut document, name).map_err(|e| e.mark_overridden(&overridden).in_file(name))?;
    Ok(any.then(|| document.to_string()))
}

fn document(
    text: &str,
    name: &str,
    overrides: &[(String, String)],
    seed: Option<u64>,
    ask: Ask<'_>,
) -> Result<(Table, Scenario), Error> {
    let mut document = syntax::parse(text).map_err(|e| e.in_file(name))?;
    let overridden = overrides::apply(&mut document, overrides).map_err(|e| e.in_file(name))?;
    if let Some(seed) = seed {
        let too_large = |_| Error::at("seed", format!("{seed} is out of range"), format!("allowed: 0 to {}", i64::MAX));
        let seed = i64::try_from(seed).map_err(too_large).map_err(|e| e.in_file(name))?;
        document.insert("seed".into(), Value::Integer(seed));
    }
    trace::inline(&mut document, name).map_err(|e| e.mark_overridden(&overridden).in_file(name))?;
    presets::expand(&mut document).map_err(|e| e.mark_overridden(&overridden).in_file(name))?;
    asked(ask)?;
    let scenario = scenario(&document, ask).map_err(|e| e.mark_overridden(&overridden).in_file(name))?;
    Ok((document, scenario))
}

fn scenario(document: &Table, ask: Ask<'_>) -> Result<Scenario, Error> {
    let root = Section::new(document, &ROOT)?;
    let title = root.or("title", String::new(), title)?;
    let duration = root.value("duration")?;
    let seed = root.value("seed")?;
    let stack = root.word("stack", STACKS)?;
    let bytes = bytes(&root, stack)?;
    let (topology, connections) = match generated::expand(document, stack, seed, ask)? {
        None => network(&root, stack, ask)?,
        Some(long) => root
            .with(&long, |root| network(root, stack, ask))
            .map_err(|e| generated::place(e, document.contains_key("traffic")))?,
    };
    Ok(Scenario { title, stack, duration, seed, bytes, nodes: topology.nodes, links: topology.links, connections })
}

fn network(root: &Section<'_>, stack: Stack, ask: Ask<'_>) -> Result<(Topology, Vec<Connection>), Error> {
    let topology = topology::read(root, stack, ask)?;
    boxes_agree(root, &topology)?;
    let connections = connections(root, &topology, stack, ask)?;
    Ok((topology, connections))
}

/// Of payloads that were changed a proxy would send the original on, since it knows them by reference; and a box that makes packets of
/// its own does not hear that they are too long.
fn boxes_agree(root: &Section<'_>, topology: &Topology) -> Result<(), Error> {
    let alters = |b: &Middlebox| matches!(b.kind, Kind::AlterPayload { .. } | Kind::AlterLength { .. });
    let splits = |b: &Middlebox| matches!(b.kind, Kind::Pep { .. });
    let place = |is: fn(&Middlebox) -> bool| {
        let on = |(i, link): (usize, &Link)| Some((i, link.middleboxes.iter().position(is)?));
        topology.links.iter().enumerate().find_map(on)
    };
    let fault = |(link, place): (usize, usize), problem: &str, remedy: &str| {
        let error = Error::at(&format!("middleboxes[{place}]"), problem, remedy);
        Err(error.within(&format!("[{link}]")).within(if root.has("link") { "link" } else { "path" }))
    };
    if let Some(at) = place(alters).and(place(splits)) {
        let problem = "beside a box that alters payloads, a proxy would send on what was there before";
        return fault(at, problem, "remove \"pep\", or the box that alters");
    }
    let short = topology.links.iter().any(|l| l.up.mtu.is_some() || l.down.mtu.is_some());
    let makes = |b: &Middlebox| matches!(b.kind, Kind::Pep { .. } | Kind::Coalesce { .. });
    if let Some(at) = place(makes).filter(|_| short) {
        let problem = "beside an mtu: what this box sends may be too long, and the message would come to the host";
        return fault(at, problem, "remove the box, or mtu");
    }
    Ok(())
}

fn title(value: &Value) -> Result<String, Error> {
    let title = text(value)?;
    if title.chars().count() > 200 || title.contains(unseen) {
        return Err(Error::new(
            "not a title",
            "allowed: one line of at most 200 characters, none of which controls a terminal or the direction of writing",
        ));
    }
    Ok(title.to_owned())
}

fn bytes(root: &Section<'_>, stack: Stack) -> Result<bool, Error> {
    if let Some(value) = root.get("bytes").filter(|value| value.is_str()) {
        let problem = format!("expected true or false, found {}", show(value));
        return Err(Error::at("bytes", problem, "if this is the size of a transfer, it belongs in [transfer]"));
    }
    match (root.value("bytes")?, stack) {
        (true, Stack::Legacy2011) => {
            let problem = "the packets of the 2011 model have no bytes";
            Err(Error::at("bytes", problem, "remove bytes, or stack = \"legacy-2011\""))
        }
        (bytes, _) => Ok(bytes),
    }
}

fn connections(root: &Section<'_>, topology: &Topology, stack: Stack, ask: Ask<'_>) -> Result<Vec<Connection>, Error> {
    match root.get("connection") {
        Some(Value::Array(list)) => several(root, list, topology, stack, ask),
        single => one(root, single, topology, stack).map(|c| with_helpers(vec![c])),
    }
}

/// Reads `[connection]`, which may be missing, and `[transfer]`, which must be there.
fn one(root: &Section<'_>, connection: Option<&Value>, topology: &Topology, stack: Stack) -> Result<Connection, Error> {
    let empty = Table::new();
    let written = connection.map_or(Ok(&empty), |v| table(v, "[connection], or [[connection]] for several"));
    let written = written.map_err(|e| e.within("connection"))?;
    let Some(what) = root.get("transfer") else {
        return Err(Error::at("transfer", "missing", "add [transfer] with bytes = \"50 MB\" or duration = \"20 s\""));
    };
    let read = |section: &Section<'_>| {
        let protocol = connection::protocol(section).map_err(|e| e.within("connection"))?;
        let transfer = table(what, "[transfer]").and_then(|t| transfer_of(t, protocol, stack));
        let transfer = transfer.map_err(|e| e.within("transfer"))?;
        connection::read(section, 0, topology, protocol, transfer, stack).map_err(|e| e.within("connection"))
    };
    Section::new(written, &CONNECTION).map_err(|e| e.within("connection")).and_then(|s| read(&s))
}

/// Adds the further connections of pages that are loaded over several, at the end: the numbers of those written stay.
fn with_helpers(mut connections: Vec<Connection>) -> Vec<Connection> {
    for leader in 0..connections.len() {
        if let Application::Page(page) = &connections[leader].transfer.application {
            let connection = connections[leader].clone();
            let helper = |i: u64| Connection {
                name: format!("{}-{i}", connection.name),
                helps: Some(leader),
                ..connection.clone()
            };
            connections.extend((2..=page.connections).map(helper).collect::<Vec<_>>());
        }
    }
    connections
}

fn transfer_of(value: &Table, protocol: Protocol, stack: Stack) -> Result<Transfer, Error> {
    let transfer = transfer::read(value, protocol)?;
    if stack == Stack::Legacy2011 && protocol == Protocol::Mptcp {
        legacy::check_transfer(&transfer)?;
    }
    Ok(transfer)
}

/// Reads `[[connection]]`, each with a transfer of its own.
fn several(
    root: &Section<'_>,
    list: &[Value],
    topology: &Topology,
    stack: Stack,
    ask: Ask<'_>,
) -> Result<Vec<Connection>, Error> {
    if root.has("transfer") {
        let problem = "[transfer] cannot stand beside [[connection]]";
        return Err(Error::at("transfer", problem, "give each connection its own, as [connection.transfer] below it"));
    }
    let connections = each_table(list, "[[connection]]", |i, t| {
        asked(ask)?;
        let section = Section::new(t, &LONG_CONNECTION)?;
        let protocol = connection::protocol(&section)?;
        let transfer = section.require("transfer", |v| {
            table(v, "transfer = { bytes = \"50 MB\" }").and_then(|t| transfer_of(t, protocol, stack))
        })?;
        connection::read(&section, i, topology, protocol, transfer, stack)
    });
    let connections = connections.map(with_helpers);
    let named = connections.and_then(|c| distinct(c.iter().map(|c| c.name.as_str()), [].into_iter()).map(|()| c));
    let named = named.map_err(|e| e.within("connection"))?;
    if named.is_empty() {
        return Err(Error::at(
            "connection",
            "the scenario has no connection",
            "add [[connection]], or remove the empty list",
        ));
    }
    Ok(named)
}
