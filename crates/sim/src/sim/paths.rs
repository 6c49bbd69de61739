//! The paths of a connection in the simulator: the client's path manager, scheduled changes, and
//! which interfaces are there.
//!
//! A path is a pair of interfaces with a route between them; its number is the address identifier
//! of both, and the path manager's number of the pair. An interface that is gone neither sends nor
//! answers.

use std::net::IpAddr;

use anabranch_stack::host::path_manager::{Attempt, Change, Join, Local, Pair, PairManager, PathManager as _};
use anabranch_stack::path::Policy;
use anabranch_stack::segment::AddrId;
use anabranch_stack::time::Instant;

use super::app::NEVER;
use super::codec::addresses;
use super::packet::{CLIENT, SERVER};
use anabranch_scenario::{PathAction, PathChange, PathManager, Scenario};

/// The paths of one connection.
#[derive(Debug)]
pub struct Paths {
    /// The client's path manager.
    manager: PairManager,
    /// The scenario's word for the path manager.
    word: PathManager,
    /// Interface addresses of each path: client's and server's.
    addresses: Vec<[IpAddr; 2]>,
    /// Per path: the client's interface is there, and the server's.
    present: Vec<[bool; 2]>,
    /// Per path: whether the client wants it as a backup, and whether the server does.
    backup: Vec<[bool; 2]>,
    /// Per path: what both hosts are told of it.
    policies: Vec<Policy>,
    /// Scheduled changes, the next one at the end.
    changes: Vec<PathChange>,
}

/// The path manager of host `side`. A scenario with `full-mesh` has a path for each pair of
/// interfaces already: the routes are known.
fn manager(word: PathManager, addresses: &[[IpAddr; 2]], side: usize) -> PairManager {
    let pair = |(path, ends): (usize, &[IpAddr; 2])| Pair {
        local: AddrId { id: path as u8, addr: ends[side] },
        remote: ends[1 - side],
        remote_id: Some(path as u8),
    };
    let pairs = addresses.iter().enumerate().map(pair);
    match word {
        PathManager::OnePerInterface | PathManager::FullMesh => PairManager::one_per_interface(pairs),
        PathManager::None => PairManager::none(pairs),
    }
}

impl Paths {
    /// The paths of the connection `index` of `scenario`.
    pub fn new(scenario: &Scenario, index: usize) -> Self {
        let c = &scenario.connections[index];
        let n = c.paths.len();
        let addresses = addresses(scenario, c);
        let backup: Vec<_> = c.paths.iter().map(|p| [p.iter().any(|l| scenario.links[*l].backup); 2]).collect();
        let client = manager(c.path_manager, &addresses, CLIENT);
        Self {
            manager: backup.iter().enumerate().fold(client, |m, (path, backup)| m.with_backup(path, backup[CLIENT])),
            word: c.path_manager,
            addresses,
            present: vec![[true; 2]; n],
            backup,
            policies: c.paths.iter().map(|p| over(p.iter().map(|l| scenario.links[*l].policy))).collect(),
            changes: c.path_changes.iter().rev().copied().collect(),
        }
    }

    /// Whether the interface of host `side` on `path` is there.
    pub fn is_present(&self, path: usize, side: usize) -> bool {
        self.present[path][side]
    }

    /// Whether host `side` wants `path` as a backup.
    pub fn is_backup(&self, path: usize, side: usize) -> bool {
        self.backup[path][side]
    }

    /// Cost, weight and priority of `path`.
    pub fn policy(&self, path: usize) -> Policy {
        self.policies[path]
    }

    /// The server's addresses that the first subflow does not show, one identifier each (RFC 8684 3.4.1).
    pub fn to_advertise(&self) -> Vec<AddrId> {
        let mut server = manager(self.word, &self.addresses, SERVER);
        for path in (0..self.present.len()).filter(|&path| !self.present[path][SERVER]) {
            server.on_local(Instant(0), Change::Gone(self.local(path, SERVER)));
        }
        let signalled = server.announce().into_iter().filter(|local| local.signal);
        signalled.map(|Local { id, addr, .. }| AddrId { id, addr }).collect()
    }

    /// The client's address on the first path.
    pub fn client(&self) -> IpAddr {
        self.addresses[0][CLIENT]
    }

    /// The server's address on `path`.
    pub fn address(&self, path: usize) -> AddrId {
        AddrId { id: path as u8, addr: self.addresses[path][SERVER] }
    }

    /// The interface of host `side` on `path`.
    fn local(&self, path: usize, side: usize) -> Local {
        let (addr, backup) = (self.addresses[path][side], self.backup[path][side]);
        Local { id: path as u8, addr, port: None, signal: side == SERVER, subflow: true, backup }
    }

    /// A subflow is open or being opened on `path`.
    pub fn opened(&mut self, path: usize) {
        self.manager.on_opened(path);
    }

    /// The client's connection is established.
    pub fn on_connected(&mut self, now: u64) {
        let [local, remote] = self.addresses[0];
        let first = Pair { local: AddrId { id: 0, addr: local }, remote, remote_id: Some(0) };
        self.manager.on_connected(Instant(now), first, true);
    }

    /// The server has told its address.
    pub fn on_address(&mut self, now: u64, address: AddrId) {
        self.manager.on_address(Instant(now), address, None);
    }

    /// The server has removed the address with this identifier.
    pub fn on_removal(&mut self, id: u8) {
        self.manager.on_removal(id);
    }

    /// A subflow on `path` has ended; `over`: the connection, too.
    pub fn on_ended(&mut self, now: u64, path: usize, over: bool) {
        self.manager.on_ended(Instant(now), path, over);
    }

    /// Opens the next subflow whose time has come, with `open`, which is given the path and whether
    /// the subflow is a backup, and returns the subflow. Returns the path and the subflow.
    pub fn join(&mut self, now: u64, mut open: impl FnMut(usize, bool) -> Option<usize>) -> Option<(usize, usize)> {
        let mut opened = None;
        let mut attempt = |join: &Join| {
            opened = open(join.pair, join.backup);
            if opened.is_some() { Attempt::Opened } else { Attempt::NotYet }
        };
        let path = self.manager.open_next(Instant(now), &mut attempt)?.pair;
        opened.map(|subflow| (path, subflow))
    }

    /// A path is wanted.
    #[inline]
    pub fn wants(&self) -> bool {
        self.manager.wants()
    }

    /// The next change that is due.
    pub fn change(&mut self, now: u64) -> Option<PathChange> {
        let change = *self.changes.last().filter(|c| c.at.0 <= now)?;
        self.changes.pop();
        let side = if change.client { CLIENT } else { SERVER };
        let (present, backup) = (&mut self.present[change.path][side], &mut self.backup[change.path][side]);
        match change.action {
            PathAction::Add => *present = true,
            PathAction::Remove => *present = false,
            PathAction::Backup => *backup = true,
            PathAction::Regular => *backup = false,
        }
        if change.client {
            let local = self.local(change.path, CLIENT);
            let change = match change.action {
                PathAction::Add => Change::Added(local),
                PathAction::Remove => Change::Gone(local),
                PathAction::Backup | PathAction::Regular => Change::Priority(local),
            };
            self.manager.on_local(Instant(now), change);
        }
        Some(change)
    }

    /// When something is due next.
    pub fn wake(&self, now: u64) -> u64 {
        let change = self.changes.last().map_or(NEVER, |c| c.at.0);
        change.min(self.manager.poll_timeout(Instant(now)).map_or(NEVER, |at| at.0))
    }
}
/// The policy of a path over these links: a link that says nothing changes nothing.
fn over(links: impl Iterator<Item = Policy>) -> Policy {
    links.fold(Policy::default(), |sum, link| Policy {
        cost: sum.cost * link.cost,
        weight: sum.weight * link.weight,
        priority: sum.priority.saturating_add(link.priority),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_says_nothing_changes_no_policy() {
        let dear = Policy { cost: 3.0, weight: 0.5, priority: 2 };
        assert_eq!(over([Policy::default(), dear, Policy::default()].into_iter()), dear);
        assert_eq!(over([dear, dear].into_iter()), Policy { cost: 9.0, weight: 0.25, priority: 4 });
    }
}
