//! The keys of `[connection]` and `[[connection]]`: protocol, endpoints, paths; [`super::config`] has the parameters of the
//! endpoints.

use anabranch_stack::config::{DsnOctets, Registries};

use super::config::{Cookie, config, fast_open, judge_key};
use super::error::Error;
use super::model::{Connection, LinkId, PathManager, Protocol, Stack, Transfer};
use super::reader::{Section, name};
use super::topology::Topology;
use super::units::RATE;
use super::words::PROTOCOLS;
use super::{legacy, path_manager, route};

/// The protocol of the connection. It is read first, since the keys of the transfer depend on it.
pub(super) fn protocol(section: &Section<'_>) -> Result<Protocol, Error> {
    section.word("protocol", PROTOCOLS)
}

/// Reads connection number `index`.
pub(super) fn read(
    section: &Section<'_>,
    index: usize,
    topology: &Topology,
    protocol: Protocol,
    transfer: Transfer,
    stack: Stack,
    known: &Registries,
) -> Result<Connection, Error> {
    let (config, legacy) = match stack {
        Stack::Anabranch => {
            legacy::refuse_ack_discard(section)?;
            (config(section, protocol, known)?, None)
        }
        Stack::Legacy2011 => legacy::read(section, protocol, known).map(|(config, model)| (config, Some(model)))?,
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
    // TCP and UDP ignore further paths, so that for a baseline only `protocol` has to be changed.
    let ignored = if protocol == Protocol::Mptcp { Vec::new() } else { paths.split_off(paths.len().min(1)).concat() };
    let path_changes = if protocol == Protocol::Mptcp { path_changes } else { Vec::new() };
    let judge_key = judge_key(section)?;
    Ok(Connection {
        name: section.or("name", format!("connection{index}"), name)?,
        protocol,
        client,
        server,
        paths,
        ignored,
        path_manager,
        path_changes,
        config,
        judge_key,
        cookie: section.or("fast_open", Cookie::Off, fast_open)? == Cookie::Cached,
        legacy,
        transfer,
        helps: None,
    })
}

/// RFC 8684 3.3.1: data sequence numbers of 32 bits must not wrap while old segments may be in the network. Linux assumes a
/// minute each way.
fn numbers_last(paths: &[Vec<LinkId>], topology: &Topology) -> Result<(), Error> {
    const TWO_MINUTES: u64 = 120;
    let most = (u64::from(u32::MAX) + 1) * 8 / TWO_MINUTES;
    let along = |path: &Vec<LinkId>, up: bool| path.iter().map(|&l| topology.links[l].peak_rate(up)).min().unwrap_or(0);
    let rate = [true, false].map(|up| paths.iter().map(|p| along(p, up)).fold(0, u64::saturating_add));
    let rate = rate[0].max(rate[1]);
    if rate >= most {
        let problem = format!(
            "numbers of 4 octets can wrap within two minutes, since the paths together carry {}",
            RATE.write(rate)
        );
        return Err(Error::at("dsn_octets", problem, "use 8, or paths that carry less than 286 Mbit/s together"));
    }
    Ok(())
}
