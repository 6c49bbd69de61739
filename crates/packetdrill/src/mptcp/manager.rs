//! The host's path manager, as `ip mptcp endpoint` and `ip mptcp limits` configure it on Linux. The
//! policy is the engine's ([`LinuxManager`]); here are the commands, and one manager for each
//! connection.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU16;

use anabranch_sim::scenario::nearest::did_you_mean;
use anabranch_stack::Event;
use anabranch_stack::host::path_manager::{
    Change, Join, Limits, LinuxManager, Local, PathManager, handle_event, handle_local, open_subflows,
};
use anabranch_stack::host::{ConnectionId, Endpoint};
use anabranch_stack::time::Instant;

use crate::report::{Step, Stop};

/// What is configured, and the managers of the connections.
#[derive(Clone, Debug, Default)]
pub struct Manager {
    /// Our addresses.
    pub endpoints: Vec<Local>,
    limits: Limits,
    connections: BTreeMap<ConnectionId, LinuxManager>,
}

const FLAGS: [&str; 4] = ["signal", "subflow", "backup", "nobackup"];

impl Manager {
    // ---- configuration --------------------------------------------------------------------------

    /// Follows the words after `ip mptcp`.
    ///
    /// # Errors
    /// If they are not supported.
    pub fn configure(&mut self, words: &[&str]) -> Step<Vec<Change>> {
        match words {
            ["endpoint", "flush", ..] => {
                let gone = std::mem::take(&mut self.endpoints);
                Ok(gone.into_iter().map(Change::Gone).collect())
            }
            ["endpoint", "add", addr, rest @ ..] => self.add(addr, rest).map(|change| vec![change]),
            ["endpoint", "delete" | "del", "id", id, ..] => self.delete(id).map(|change| vec![change]),
            ["endpoint", "change", rest @ ..] => self.change(rest).map(|change| vec![change]),
            ["endpoint" | "limits", "show", ..] => Ok(vec![]),
            ["limits", "set", rest @ ..] => self.limit(rest).map(|()| vec![]),
            _ => Stop::lacks(format!(
                "ip mptcp {}: supported are endpoint flush, add, change and delete, limits set",
                words.join(" ")
            )),
        }
    }

    fn add(&mut self, addr: &str, rest: &[&str]) -> Step<Change> {
        let Ok(addr) = addr.parse() else {
            return Stop::wrong(format!("ip mptcp endpoint add: {addr} is no IP address"));
        };
        let mut local = Local { id: 0, addr, port: None, signal: false, subflow: false, backup: false };
        let mut words = rest.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().copied().unwrap_or_default();
            match *word {
                "id" => local.id = number(value())?,
                "port" => local.port = NonZeroU16::new(number(value())?),
                "dev" => drop(value()),
                "signal" => local.signal = true,
                "subflow" => local.subflow = true,
                "backup" => local.backup = true,
                other => return unknown_flag(other),
            }
        }
        if local.id == 0 {
            let taken = |id: &u8| self.endpoints.iter().any(|e| e.id == *id);
            local.id = (1..=u8::MAX).find(|id| !taken(id)).unwrap_or(u8::MAX);
        }
        self.endpoints.push(local);
        Ok(Change::Added(local))
    }

    fn find(&self, id: &str) -> Step<usize> {
        let id: u8 = number(id)?;
        match self.endpoints.iter().position(|e| e.id == id) {
            Some(at) => Ok(at),
            None => Stop::wrong(format!("ip mptcp endpoint: no endpoint has the id {id}")),
        }
    }

    fn delete(&mut self, id: &str) -> Step<Change> {
        let at = self.find(id)?;
        Ok(Change::Gone(self.endpoints.remove(at)))
    }

    fn change(&mut self, rest: &[&str]) -> Step<Change> {
        let (["id", key, flags @ ..] | [key, flags @ ..]) = rest else {
            return Stop::wrong("ip mptcp endpoint change: an address or an id is missing");
        };
        let by_address = key.parse::<IpAddr>().ok().and_then(|a| self.endpoints.iter().position(|e| e.addr == a));
        let at = by_address.map_or_else(|| self.find(key), Ok)?;
        for flag in flags {
            match *flag {
                "backup" => self.endpoints[at].backup = true,
                "nobackup" => self.endpoints[at].backup = false,
                other => return unknown_flag(other),
            }
        }
        Ok(Change::Priority(self.endpoints[at]))
    }

    fn limit(&mut self, rest: &[&str]) -> Step<()> {
        for pair in rest.chunks(2) {
            match pair {
                ["subflows" | "subflow", n] => self.limits.subflows = number::<u8>(n)?.into(),
                ["add_addr_accepted" | "add_addr_accept", n] => self.limits.accepted = number::<u8>(n)?.into(),
                other => {
                    return Stop::lacks(format!(
                        "ip mptcp limits set {}: supported are subflows and add_addr_accepted",
                        other.join(" ")
                    ));
                }
            }
        }
        Ok(())
    }

    /// The fork's `multi-ep.sh`: `-e` so many further addresses after `local`, with the flags of `-m` (`signal` if there is none) and
    /// `-b`, and limits of 8.
    ///
    /// # Errors
    /// If there are other words.
    pub fn several(&mut self, local: IpAddr, words: &[&str]) -> Step<()> {
        let (mut count, mut flags) = (1, Vec::new());
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            match *word {
                "-e" => count = number(rest.next().copied().unwrap_or_default())?,
                "-m" => flags.extend(rest.next().copied()),
                "-b" => flags.push("backup"),
                other => return Stop::lacks(format!("multi-ep.sh {other}: supported are -e, -m and -b")),
            }
        }
        if !words.contains(&"-m") {
            flags.push("signal");
        }
        (self.endpoints, self.limits) = (Vec::new(), Limits { subflows: 8, accepted: 8 });
        let mut addr = local;
        for _ in 0..count.min(8u8) {
            addr = next(addr);
            self.add(&addr.to_string(), &flags)?;
        }
        Ok(())
    }

    // ---- connections ----------------------------------------------------------------------------

    /// Something has happened on a connection. `opened`: we opened it. `reachable` are the networks that packets get to.
    pub fn on_event(
        &mut self,
        endpoint: &mut Endpoint,
        now: Instant,
        (id, opened): (ConnectionId, bool),
        event: &Event,
        reachable: &[IpAddr],
    ) {
        match event {
            Event::Connected => drop(self.connections.insert(id, LinuxManager::new(&self.endpoints, self.limits))),
            Event::RemoteAddress { addr, .. } if !reachable.iter().any(|near| same_network(*near, *addr)) => return,
            _ => {}
        }
        if let Some(manager) = self.connections.get_mut(&id) {
            manager.set_limits(self.limits);
            handle_event(manager, endpoint, now, (id, opened), event);
        }
    }

    /// Does what a change of the configuration means to a connection.
    pub fn apply(&mut self, endpoint: &mut Endpoint, now: Instant, id: ConnectionId, change: Change) {
        let new = || LinuxManager::new(&self.endpoints, self.limits);
        handle_local(self.connections.entry(id).or_insert_with(new), endpoint, now, id, change);
    }

    /// Opens the subflows that are wanted and can be opened now. Says whether there were any.
    pub fn open(&mut self, endpoint: &mut Endpoint, now: Instant) -> bool {
        let mut opened = false;
        for (id, manager) in self.connections.iter_mut().filter(|(_, manager)| manager.wants()) {
            manager.set_limits(self.limits);
            let port = &mut |endpoint: &mut Endpoint, _: &Join, _: SocketAddr| free_port(endpoint);
            opened |= open_subflows(manager, endpoint, now, *id, port);
        }
        opened
    }
}

/// The lowest dynamic port that no subflow of the host has.
fn free_port(endpoint: &Endpoint) -> Option<u16> {
    let mut ports = BTreeSet::new();
    for id in endpoint.connections() {
        let subflows = endpoint.connection(id).map_or(0, |c| c.subflows().len());
        ports.extend((0..subflows).filter_map(|s| endpoint.addresses(id, s)).map(|a| a.local.port()));
    }
    (49_152..=u16::MAX).find(|port| !ports.contains(port))
}

fn unknown_flag<T>(word: &str) -> Step<T> {
    Stop::lacks(format!("ip mptcp endpoint: {word}: {}flags: {}", did_you_mean(word, &FLAGS), FLAGS.join(", ")))
}

fn number<T: std::str::FromStr>(word: &str) -> Step<T> {
    word.parse().or_else(|_| Stop::wrong(format!("ip mptcp: \"{word}\" where a number was expected")))
}

fn next(addr: IpAddr) -> IpAddr {
    match addr {
        IpAddr::V4(v4) => IpAddr::from(u32::from(v4).wrapping_add(1).to_be_bytes()),
        IpAddr::V6(v6) => IpAddr::from(u128::from(v6).wrapping_add(1).to_be_bytes()),
    }
}

/// Both are in the same network: 24 bits of an IPv4 address, 64 of an IPv6 address.
fn same_network(a: IpAddr, b: IpAddr) -> bool {
    match (a, b) {
        (IpAddr::V4(a), IpAddr::V4(b)) => a.octets()[..3] == b.octets()[..3],
        (IpAddr::V6(a), IpAddr::V6(b)) => a.octets()[..8] == b.octets()[..8],
        _ => false,
    }
}
