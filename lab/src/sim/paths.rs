//! The path manager of a connection: which paths the client joins, and when (RFC 8684 3.4; the policy is this laboratory's).
//!
//! A path is a pair of interfaces with a route between them; its number is the address identifier of both. The client joins
//! a path when it knows the server's address there: that of the first subflow, or one that came in an ADD_ADDR. A join that
//! failed, or a subflow that ended before the connection, is tried again after ten seconds. An interface that is gone neither
//! sends nor answers.

use std::net::IpAddr;

use anabranch_stack::path::Policy;
use anabranch_stack::segment::AddrId;

use super::app::NEVER;
use super::codec::addresses;
use super::packet::{CLIENT, SERVER};
use crate::scenario::{PathAction, PathChange, PathManager, Scenario};

/// A join that failed is tried again after this.
const REJOIN_AFTER: u64 = 10_000_000_000;

/// The paths of one connection.
#[derive(Debug)]
pub struct Paths {
    /// It joins paths by itself.
    automatic: bool,
    /// Interface addresses of each path: client's and server's.
    addresses: Vec<[IpAddr; 2]>,
    /// Per path: the client's interface is there, and the server's.
    present: Vec<[bool; 2]>,
    /// Per path: whether the client wants it as a backup, and whether the server does.
    backup: Vec<[bool; 2]>,
    /// Per path: what both hosts are told of it.
    policies: Vec<Policy>,
    /// Per path: a subflow is open or being opened.
    joined: Vec<bool>,
    /// Paths to join, each with the earliest time for it.
    wanted: Vec<(u64, usize)>,
    /// Scheduled changes, the next one at the end.
    changes: Vec<PathChange>,
}

impl Paths {
    /// The paths of the connection `index` of `scenario`.
    pub fn new(scenario: &Scenario, index: usize) -> Self {
        let c = &scenario.connections[index];
        let n = c.paths.len();
        Self {
            automatic: c.path_manager != PathManager::None,
            addresses: addresses(scenario, c),
            present: vec![[true; 2]; n],
            backup: c.paths.iter().map(|p| [p.iter().any(|l| scenario.links[*l].backup); 2]).collect(),
            policies: c.paths.iter().map(|p| over(p.iter().map(|l| scenario.links[*l].policy))).collect(),
            joined: vec![false; n],
            wanted: Vec::new(),
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
        let mut known = vec![self.addresses[0][SERVER]];
        let mut new = Vec::new();
        for path in 0..self.addresses.len() {
            let address = self.address(path);
            if self.automatic && self.present[path][SERVER] && !known.contains(&address.addr) {
                known.push(address.addr);
                new.push(address);
            }
        }
        new
    }

    /// The client's address on the first path.
    pub fn client(&self) -> IpAddr {
        self.addresses[0][CLIENT]
    }

    /// The server's address on `path`.
    pub fn address(&self, path: usize) -> AddrId {
        AddrId { id: path as u8, addr: self.addresses[path][SERVER] }
    }

    /// A subflow is open or being opened on `path`.
    pub fn opened(&mut self, path: usize) {
        self.joined[path] = true;
    }

    /// The connection is established: the paths that lead to the same address of the server are wanted.
    pub fn on_connected(&mut self) {
        self.want(self.addresses[0][SERVER]);
    }

    /// The server has told its address `server`.
    pub fn on_address(&mut self, server: IpAddr) {
        self.want(server);
    }

    fn want(&mut self, server: IpAddr) {
        if self.automatic {
            let leads = |p: &usize| self.addresses[*p][SERVER] == server && !self.joined[*p];
            let paths: Vec<usize> = (1..self.addresses.len()).filter(leads).collect();
            self.wanted.extend(paths.into_iter().map(|p| (0, p)));
        }
    }

    /// The server has removed the address with this identifier.
    pub fn on_removal(&mut self, id: u8) {
        self.wanted.retain(|(_, path)| *path != usize::from(id));
    }

    /// A subflow on `path` has ended, and the connection has not.
    pub fn on_ended(&mut self, now: u64, path: usize, closed: bool) {
        self.joined[path] = false;
        if self.automatic && !closed {
            self.wanted.push((now + REJOIN_AFTER, path));
        }
    }

    /// The next path to join now, with `open`. What cannot be opened stays wanted (before the peer has confirmed the keys of the
    /// connection nothing can).
    pub fn join(&mut self, now: u64, mut open: impl FnMut(usize, bool) -> Option<usize>) -> Option<(usize, usize)> {
        let mut k = 0;
        while k < self.wanted.len() {
            let (at, path) = self.wanted[k];
            if self.joined[path] || !self.present[path][CLIENT] {
                self.wanted.swap_remove(k);
                continue;
            }
            if at <= now {
                if let Some(subflow) = open(path, self.backup[path][CLIENT]) {
                    self.joined[path] = true;
                    return Some((path, subflow));
                }
            }
            k += 1;
        }
        None
    }

    /// A path is wanted.
    #[inline]
    pub fn wants(&self) -> bool {
        !self.wanted.is_empty()
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
        if change.client && change.action == PathAction::Add {
            self.wanted.push((now, change.path));
        }
        Some(change)
    }

    /// When something is due next.
    pub fn wake(&self, now: u64) -> u64 {
        let change = self.changes.last().map_or(NEVER, |c| c.at.0);
        let join = self.wanted.iter().map(|w| w.0).filter(|&at| at > now).min();
        change.min(join.unwrap_or(NEVER))
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
