//! A subflow for each of the pairs of addresses.

use std::net::IpAddr;
use std::num::NonZeroU16;

use super::{Attempt, Change, Join, Local, Pair, PathManager, REJOIN_AFTER};
use crate::segment::AddrId;
use crate::time::Instant;

/// A pair and what is known of it.
#[derive(Debug)]
struct Known {
    pair: Pair,
    port: Option<NonZeroU16>,
    /// Our interface is there.
    present: bool,
    /// We want the subflow as a backup.
    backup: bool,
    /// A subflow is open or being opened.
    joined: bool,
}

/// Joins pairs of addresses: a pair as soon as the peer's address is known. The peer's address of
/// the first subflow is known from the start, any other one by ADD_ADDR. A join that failed, or a
/// subflow that ended before its connection, is tried again after [`REJOIN_AFTER`].
///
/// The end that opened the connection joins; the other end advertises its addresses. The first pair
/// is that of the first subflow.
#[derive(Debug)]
pub struct PairManager {
    /// It joins and advertises by itself.
    automatic: bool,
    /// A new address of the peer is paired with every address of ours.
    mesh: bool,
    /// We opened the connection; `None` before it is established.
    opened: Option<bool>,
    known: Vec<Known>,
    /// Pairs to join, each with the earliest time for the join.
    wanted: Vec<(Instant, usize)>,
}

impl PairManager {
    /// `path_manager = "one-per-interface"`: joins the listed pairs.
    pub fn one_per_interface(pairs: impl IntoIterator<Item = Pair>) -> Self {
        let known = |pair| Known { pair, port: None, present: true, backup: false, joined: false };
        let known = pairs.into_iter().map(known).collect();
        Self { automatic: true, mesh: false, opened: None, known, wanted: Vec::new() }
    }

    /// `path_manager = "full-mesh"`: joins every address of ours with every address of the peer.
    /// Pairs with addresses that the peer advertises follow by themselves; where only some
    /// addresses reach each other, use [`PairManager::one_per_interface`] with the pairs that do.
    pub fn full_mesh(locals: &[AddrId], remote: IpAddr) -> Self {
        let pairs = locals.iter().map(|&local| Pair { local, remote, remote_id: Some(0) });
        Self { mesh: true, ..Self::one_per_interface(pairs) }
    }

    /// `path_manager = "none"`: neither advertises nor joins, except a pair whose interface comes
    /// ([`Change::Added`]).
    pub fn none(pairs: impl IntoIterator<Item = Pair>) -> Self {
        Self { automatic: false, ..Self::one_per_interface(pairs) }
    }

    /// Sets whether subflows of a pair are backups.
    #[must_use]
    pub fn with_backup(mut self, pair: usize, backup: bool) -> Self {
        self.known[pair].backup = backup;
        self
    }

    fn want(&mut self, now: Instant, remote: IpAddr, id: Option<u8>, port: Option<NonZeroU16>) {
        if self.automatic && self.opened != Some(false) {
            for (pair, known) in self.known.iter_mut().enumerate().skip(1) {
                if known.pair.remote == remote && !known.joined {
                    known.port = port;
                    known.pair.remote_id = known.pair.remote_id.or(id);
                    self.wanted.push((now, pair));
                }
            }
        }
    }

    /// Pairs every address of ours with `remote`, unless the pair is known.
    fn grow(&mut self, AddrId { id, addr: remote }: AddrId) {
        for i in 0..self.known.len() {
            let Known { pair: Pair { local, .. }, present, backup, .. } = self.known[i];
            let pair = Pair { local, remote, remote_id: Some(id) };
            if self.pair_of(local.addr, remote).is_none() {
                self.known.push(Known { pair, port: None, present, backup, joined: false });
            }
        }
    }

    /// Pairs a new address of ours with every address of the peer.
    fn grow_local(&mut self, Local { id, addr, backup, .. }: Local) {
        for i in 0..self.known.len() {
            let Known { pair: Pair { remote, remote_id, .. }, port, .. } = self.known[i];
            if self.pair_of(addr, remote).is_none() {
                let pair = Pair { local: AddrId { id, addr }, remote, remote_id };
                self.known.push(Known { pair, port, present: true, backup, joined: false });
            }
        }
    }
}

impl PathManager for PairManager {
    fn announce(&mut self) -> Vec<Local> {
        let mut told: Vec<IpAddr> = self.known.first().map(|k| k.pair.local.addr).into_iter().collect();
        let (mut new, signal) = (Vec::new(), self.opened != Some(true));
        for known in self.known.iter().filter(|k| self.automatic && k.present) {
            let AddrId { id, addr } = known.pair.local;
            if !told.contains(&addr) {
                told.push(addr);
                new.push(Local { id, addr, port: None, signal, subflow: true, backup: known.backup });
            }
        }
        new
    }

    fn on_connected(&mut self, now: Instant, first: Pair, opened: bool) {
        self.opened = Some(opened);
        if opened {
            self.want(now, first.remote, first.remote_id, None);
        }
    }

    fn on_address(&mut self, now: Instant, address: AddrId, port: Option<NonZeroU16>) {
        if self.mesh {
            self.grow(address);
        }
        self.want(now, address.addr, Some(address.id), port);
    }

    fn on_removal(&mut self, id: u8) {
        let known = &self.known;
        self.wanted.retain(|(_, pair)| known[*pair].pair.remote_id != Some(id));
    }

    fn on_opened(&mut self, pair: usize) {
        if let Some(known) = self.known.get_mut(pair) {
            known.joined = true;
        }
    }

    fn pair_of(&self, local: IpAddr, remote: IpAddr) -> Option<usize> {
        self.known.iter().position(|k| k.pair.local.addr == local && k.pair.remote == remote)
    }

    fn on_ended(&mut self, now: Instant, pair: usize, over: bool) {
        let Some(known) = self.known.get_mut(pair) else { return };
        known.joined = false;
        if self.automatic && !over && self.opened != Some(false) {
            self.wanted.push((now + REJOIN_AFTER, pair));
        }
    }

    fn on_local(&mut self, now: Instant, change: Change) {
        let (Change::Added(local) | Change::Gone(local) | Change::Priority(local)) = change;
        let joins = self.opened != Some(false);
        if self.mesh && matches!(change, Change::Added(_)) {
            self.grow_local(local);
        }
        for (pair, known) in self.known.iter_mut().enumerate().filter(|(_, k)| k.pair.local.id == local.id) {
            match change {
                Change::Added(_) => {
                    known.present = true;
                    self.wanted.extend(joins.then_some((now, pair)));
                }
                Change::Gone(_) => known.present = false,
                Change::Priority(_) => known.backup = local.backup,
            }
        }
    }

    fn open_next(&mut self, now: Instant, open: &mut dyn FnMut(&Join) -> Attempt) -> Option<Join> {
        let mut k = 0;
        while k < self.wanted.len() {
            let (at, pair) = self.wanted[k];
            let known = &mut self.known[pair];
            if known.joined || !known.present {
                self.wanted.swap_remove(k);
                continue;
            }
            if at <= now {
                let join = Join { pair, addresses: known.pair, port: known.port, backup: known.backup };
                match open(&join) {
                    Attempt::Opened => {
                        known.joined = true;
                        return Some(join);
                    }
                    Attempt::NotYet => {}
                    Attempt::Never => {
                        self.wanted.swap_remove(k);
                        continue;
                    }
                }
            }
            k += 1;
        }
        None
    }

    fn wants(&self) -> bool {
        !self.wanted.is_empty()
    }

    fn poll_timeout(&self, now: Instant) -> Option<Instant> {
        self.wanted.iter().map(|w| w.0).filter(|&at| at > now).min()
    }
}
