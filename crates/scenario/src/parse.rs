//! From the tables of a document to [`Scenario`].

use anabranch_measures::ask::Ask;
use anabranch_stack::config::Registries;
use toml::{Table, Value};

use super::application::Application;
use super::error::{Error, asked, show, unseen};
use super::middlebox::{Kind, Middlebox};
use super::model::{Connection, Link, Protocol, Scenario, Stack, Transfer};
use super::reader::{Section, each_table, table, text};
use super::schema::{CONNECTION, LONG_CONNECTION, ROOT};
use super::topology::{self, Topology, distinct};
use super::words::STACKS;
use super::{connection, generated, legacy, transfer};

/// What the tables of a document are read with.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    /// The algorithms whose names a scenario may use.
    pub(super) known: &'a Registries,
    /// Asked at each link and each connection whether to go on.
    pub(super) ask: Ask<'a>,
}

/// Reads a document whose presets and files are written out.
pub(super) fn scenario(document: &Table, context: Context<'_>) -> Result<Scenario, Error> {
    let root = Section::new(document, &ROOT)?;
    let title = root.or("title", String::new(), title)?;
    let duration = root.value("duration")?;
    let seed = root.value("seed")?;
    let stack = root.word("stack", STACKS)?;
    let bytes = bytes(&root, stack)?;
    let (topology, connections) = match generated::expand(document, stack, seed, context.ask)? {
        None => network(&root, stack, context)?,
        Some(long) => root
            .with(&long, |root| network(root, stack, context))
            .map_err(|e| generated::place(e, document.contains_key("traffic")))?,
    };
    Ok(Scenario { title, stack, duration, seed, bytes, nodes: topology.nodes, links: topology.links, connections })
}

fn network(root: &Section<'_>, stack: Stack, context: Context<'_>) -> Result<(Topology, Vec<Connection>), Error> {
    let topology = topology::read(root, stack, context.ask)?;
    boxes_agree(root, &topology)?;
    let connections = connections(root, &topology, stack, context)?;
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
        let problem = "\"pep\" and a box that alters payloads cannot be in one scenario, even on different links: behind \
            such a box the simulated proxy would forward the original payload";
        return fault(at, problem, "remove \"pep\", or the box that alters payloads");
    }
    let short = topology.links.iter().any(|l| l.up.mtu.is_some() || l.down.mtu.is_some());
    let makes = |b: &Middlebox| matches!(b.kind, Kind::Pep { .. } | Kind::Coalesce { .. });
    if let Some(at) = place(makes).filter(|_| short) {
        let problem = "this box cannot be combined with an mtu: it may send packets that are longer than the mtu, and \
            ICMP messages about them would reach the host instead of the box";
        return fault(at, problem, "remove the box, or the key mtu of the links");
    }
    Ok(())
}

fn title(value: &Value) -> Result<String, Error> {
    let title = text(value)?;
    if title.chars().count() > 200 || title.contains(unseen) {
        return Err(Error::new(
            "not a title: it is too long, or has a character that is not allowed",
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

fn connections(
    root: &Section<'_>,
    topology: &Topology,
    stack: Stack,
    context: Context<'_>,
) -> Result<Vec<Connection>, Error> {
    match root.get("connection") {
        Some(Value::Array(list)) => several(root, list, topology, stack, context),
        single => one(root, single, topology, stack, context.known).map(|c| with_helpers(vec![c])),
    }
}

/// Reads `[connection]`, which may be missing, and `[transfer]`, which must be there.
fn one(
    root: &Section<'_>,
    connection: Option<&Value>,
    topology: &Topology,
    stack: Stack,
    known: &Registries,
) -> Result<Connection, Error> {
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
        connection::read(section, 0, topology, protocol, transfer, stack, known).map_err(|e| e.within("connection"))
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
    context: Context<'_>,
) -> Result<Vec<Connection>, Error> {
    if root.has("transfer") {
        let problem = "[transfer] cannot stand beside [[connection]]";
        return Err(Error::at("transfer", problem, "give each connection its own, as [connection.transfer] below it"));
    }
    let connections = each_table(list, "[[connection]]", |i, t| {
        asked(context.ask)?;
        let section = Section::new(t, &LONG_CONNECTION)?;
        let protocol = connection::protocol(&section)?;
        let transfer = section.require("transfer", |v| {
            table(v, "transfer = { bytes = \"50 MB\" }").and_then(|t| transfer_of(t, protocol, stack))
        })?;
        connection::read(&section, i, topology, protocol, transfer, stack, context.known)
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
