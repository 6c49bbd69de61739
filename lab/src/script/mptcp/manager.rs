//! When the host advertises its addresses and opens subflows: what `ip mptcp endpoint` and `ip mptcp limits` configure on Linux.
//!
//! An endpoint with the flag `signal` is advertised (ADD_ADDR) once the connection is established, one with `subflow` joins from its
//! address to that of the peer's first subflow. An address that the peer advertises is joined from the address of our first subflow,
//! if the limits allow it.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU16;

use anabranch_stack::event::SubflowId;
use anabranch_stack::host::{Addresses, ConnectionId, Endpoint};
use anabranch_stack::tcp::State;
use anabranch_stack::tcp::subflow::Subflow;
use anabranch_stack::{Connection, Event};

use crate::scenario::nearest::did_you_mean;
use crate::script::report::{Step, Stop};

/// An address of ours beside that of the first subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Local {
    /// Identifier.
    pub id: u8,
    /// Address.
    pub addr: IpAddr,
    /// Port to advertise.
    pub port: Option<NonZeroU16>,
    /// It is advertised.
    pub signal: bool,
    /// Subflows are opened from it.
    pub subflow: bool,
    /// They are backups.
    pub backup: bool,
}

/// What is configured.
#[derive(Clone, Debug)]
pub struct Manager {
    /// Our addresses.
    pub endpoints: Vec<Local>,
    /// Subflows of a connection beside the first.
    subflows: usize,
    /// How many of the peer's addresses are joined.
    accepted: usize,
    /// Subflows to open as soon as the connection may have them (RFC 8684 3.1: a DSS has to arrive first).
    wanted: Vec<(ConnectionId, IpAddr, SocketAddr, bool)>,
}

impl Default for Manager {
    /// The limits are those of Linux.
    fn default() -> Self {
        Self { endpoints: Vec::new(), subflows: 2, accepted: 0, wanted: Vec::new() }
    }
}

/// What to do with the connections there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// There is a new endpoint.
    Added(Local),
    /// An endpoint is gone.
    Gone(Local),
    /// An endpoint is a backup, or is none.
    Priority(Local),
}

const FLAGS: [&str; 4] = ["signal", "subflow", "backup", "nobackup"];

impl Manager {
    // ---- configuration -----------------------------------------------------------------------------------------

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
            _ => {
                Stop::lacks(format!("ip mptcp {}: endpoint flush, add, change and delete, limits set", words.join(" ")))
            }
        }
    }

    fn add(&mut self, addr: &str, rest: &[&str]) -> Step<Change> {
        let Ok(addr) = addr.parse() else { return Stop::wrong(format!("ip mptcp endpoint add {addr}: no IP address")) };
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
                ["subflows" | "subflow", n] => self.subflows = number::<u8>(n)?.into(),
                ["add_addr_accepted" | "add_addr_accept", n] => self.accepted = number::<u8>(n)?.into(),
                other => {
                    return Stop::lacks(format!(
                        "ip mptcp limits set {}: subflows, add_addr_accepted",
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
                other => return Stop::lacks(format!("multi-ep.sh {other}: -e, -m and -b")),
            }
        }
        if !words.contains(&"-m") {
            flags.push("signal");
        }
        (self.endpoints, self.subflows, self.accepted) = (Vec::new(), 8, 8);
        let mut addr = local;
        for _ in 0..count.min(8u8) {
            addr = next(addr);
            self.add(&addr.to_string(), &flags)?;
        }
        Ok(())
    }

    // ---- connections -------------------------------------------------------------------------------------------

    /// Something has happened on a connection. `opened`: we opened it. `reachable` are the networks that packets get to.
    pub fn on_event(
        &mut self,
        endpoint: &mut Endpoint,
        id: ConnectionId,
        opened: bool,
        event: &Event,
        reachable: &[IpAddr],
    ) {
        match event {
            Event::Connected => {
                for local in self.endpoints.clone() {
                    self.apply(endpoint, id, opened, Change::Added(local));
                }
            }
            Event::RemoteAddress { addr, port, .. } if self.accepted > 0 => {
                let near = reachable.iter().any(|near| same_network(*near, *addr));
                if let (Some(first), true) = (endpoint.addresses(id, 0), near) {
                    let port = port.map_or(first.remote.port(), NonZeroU16::get);
                    self.wanted.push((id, first.local.ip(), SocketAddr::new(*addr, port), false));
                }
            }
            _ => {}
        }
    }

    /// Does what a change of the configuration means to a connection.
    pub fn apply(&mut self, endpoint: &mut Endpoint, id: ConnectionId, opened: bool, change: Change) {
        // A connection that is gone, or has no identifier left, has no part in it.
        match change {
            Change::Added(local) => {
                let _ = endpoint.identify(id, local.addr, local.id);
                if local.signal {
                    let _ = endpoint.advertise_port(id, local.addr, local.port);
                }
                let first = endpoint.addresses(id, 0).filter(|_| local.subflow && opened);
                if let Some(first) = first {
                    self.wanted.push((id, local.addr, first.remote, local.backup));
                }
            }
            Change::Gone(local) => drop(endpoint.withdraw(id, local.addr)),
            Change::Priority(local) => {
                let count = endpoint.connection(id).map_or(0, |c| c.subflows().len());
                let from = |s: &usize| endpoint.addresses(id, *s).is_some_and(|a| a.local.ip() == local.addr);
                for subflow in (0..count).filter(from).collect::<Vec<_>>() {
                    let _ = endpoint.set_backup(id, subflow, local.backup);
                }
            }
        }
    }

    /// Opens the subflows that are wanted and can be opened now. Says whether there were any.
    pub fn open(&mut self, endpoint: &mut Endpoint) -> bool {
        let wanted = std::mem::take(&mut self.wanted);
        let (mut opened, limit) = (false, self.subflows);
        for (id, local, remote, backup) in wanted {
            match join(endpoint, id, limit, (local, remote, backup)) {
                Some(true) => opened = true,
                Some(false) => self.wanted.push((id, local, remote, backup)),
                None => {}
            }
        }
        opened
    }
}

/// Opens a subflow: whether it could be; `None` if it never will.
fn join(
    endpoint: &mut Endpoint,
    id: ConnectionId,
    limit: usize,
    (local, remote, backup): (IpAddr, SocketAddr, bool),
) -> Option<bool> {
    let subflows = |c: &Connection| c.subflows().iter().map(Subflow::state).enumerate().collect::<Vec<_>>();
    let mut ports = BTreeSet::new();
    for other in endpoint.connections() {
        for (subflow, _) in endpoint.connection(other).map(subflows).unwrap_or_default() {
            ports.extend(endpoint.addresses(other, subflow).map(|a| a.local.port()));
        }
    }
    let connection = endpoint.connection(id).filter(|c| c.is_multipath())?;
    let open: Vec<_> = subflows(connection).into_iter().filter(|(_, state)| *state != State::Closed).collect();
    let at = |(subflow, _): &(SubflowId, State)| endpoint.addresses(id, *subflow);
    let there = open.iter().filter_map(at).any(|a| a.local.ip() == local && a.remote == remote);
    if there || open.len() > limit {
        return None;
    }
    let port = (49_152..=u16::MAX).find(|port| !ports.contains(port))?;
    let addresses = Addresses { local: SocketAddr::new(local, port), remote };
    Some(endpoint.open_subflow(id, addresses, backup).is_some())
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
