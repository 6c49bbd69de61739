//! The in-kernel path manager of Linux: what `ip mptcp endpoint` and `ip mptcp limits` configure.

use std::net::IpAddr;
use std::num::NonZeroU16;

use super::{Attempt, Change, Join, Local, Pair, PathManager};
use crate::segment::AddrId;
use crate::time::Instant;

/// `ip mptcp limits`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Subflows of a connection beside the first (`subflows`).
    pub subflows: usize,
    /// How many of the peer's addresses may be joined (`add_addr_accepted`).
    pub accepted: usize,
}

impl Default for Limits {
    /// The defaults of Linux.
    fn default() -> Self {
        Self { subflows: 2, accepted: 0 }
    }
}

/// An address with the flag `signal` is advertised once the connection is established; from an
/// address with the flag `subflow` the end that opened the connection joins the address of the
/// peer's first subflow. An address that the peer advertises is joined from the address of our
/// first subflow, if the limits allow it. Nothing is tried again.
#[derive(Clone, Debug, Default)]
pub struct LinuxManager {
    locals: Vec<Local>,
    limits: Limits,
    /// The addresses of the first subflow, and whether we opened it.
    first: Option<(Pair, bool)>,
    /// Subflows to open as soon as the connection may have them.
    wanted: Vec<Join>,
    joins: usize,
}

impl LinuxManager {
    /// A manager with these addresses and limits.
    pub fn new(locals: &[Local], limits: Limits) -> Self {
        Self { locals: locals.to_vec(), limits, ..Self::default() }
    }

    /// Sets other limits. They hold for subflows that are opened from now on.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    fn want(&mut self, addresses: Pair, port: Option<NonZeroU16>, backup: bool) {
        self.joins += 1;
        self.wanted.push(Join { pair: self.joins, addresses, port, backup });
    }

    /// Wants a subflow from `local` if the flags say so.
    fn join_from(&mut self, local: Local) {
        if let Some((first, true)) = self.first.filter(|_| local.subflow) {
            let addresses = Pair { local: AddrId { id: local.id, addr: local.addr }, ..first };
            self.want(addresses, None, local.backup);
        }
    }
}

impl PathManager for LinuxManager {
    fn announce(&mut self) -> Vec<Local> {
        self.locals.clone()
    }

    /// Linux 6.1 ignores the endpoint's flag in its SYN/ACK (`mptcp_synack_options`); later versions
    /// do not.
    fn marks_joins_of_peer(&self) -> bool {
        false
    }

    fn on_connected(&mut self, _now: Instant, first: Pair, opened: bool) {
        self.first = Some((first, opened));
        for local in self.locals.clone() {
            self.join_from(local);
        }
    }

    fn on_address(&mut self, _now: Instant, address: AddrId, port: Option<NonZeroU16>) {
        if let Some((first, _)) = self.first.filter(|_| self.limits.accepted > 0) {
            let remote_id = Some(address.id);
            self.want(Pair { local: first.local, remote: address.addr, remote_id }, port, false);
        }
    }

    fn on_removal(&mut self, _id: u8) {}

    fn on_opened(&mut self, _pair: usize) {}

    fn pair_of(&self, _local: IpAddr, _remote: IpAddr) -> Option<usize> {
        None
    }

    fn on_ended(&mut self, _now: Instant, _pair: usize, _over: bool) {}

    fn on_local(&mut self, _now: Instant, change: Change) {
        let (Change::Added(local) | Change::Gone(local) | Change::Priority(local)) = change;
        self.locals.retain(|l| l.id != local.id);
        if !matches!(change, Change::Gone(_)) {
            self.locals.push(local);
        }
        if matches!(change, Change::Added(_)) {
            self.join_from(local);
        }
    }

    fn open_next(&mut self, _now: Instant, open: &mut dyn FnMut(&Join) -> Attempt) -> Option<Join> {
        let mut k = 0;
        while let Some(&join) = self.wanted.get(k) {
            match open(&join) {
                Attempt::NotYet => k += 1,
                Attempt::Never => drop(self.wanted.remove(k)),
                Attempt::Opened => {
                    self.wanted.remove(k);
                    return Some(join);
                }
            }
        }
        None
    }

    fn wants(&self) -> bool {
        !self.wanted.is_empty()
    }

    fn poll_timeout(&self, _now: Instant) -> Option<Instant> {
        None
    }

    fn limit(&self) -> usize {
        self.limits.subflows.saturating_add(1)
    }
}
