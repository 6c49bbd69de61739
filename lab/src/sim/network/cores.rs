//! The keys `cost` and `cores` of hosts: segments wait for a core that handles them, in and out.
//!
//! All segments of a subflow, in both directions, are handled by one core of a host, as
//! receive-side scaling does it. A core handles one segment at a time in the order in which they
//! come, each for the host's `cost`.

use std::collections::VecDeque;

use super::Network;
use crate::scenario::{NodeId, Scenario};
use crate::sim::packet::{Packet, Transit};
use crate::sim::routes::DirectionId;

/// The cores of a host.
#[derive(Debug)]
struct Host {
    /// Nanoseconds a segment.
    cost: u64,
    cores: Vec<Core>,
}

#[derive(Clone, Debug, Default)]
struct Core {
    /// When it has handled all that waits for it.
    free: u64,
    /// Nanoseconds for which it has worked, or will have when it is free.
    worked: u64,
    waiting: VecDeque<Waiting>,
}

/// A segment that a core handles or will handle.
#[derive(Clone, Debug)]
struct Waiting {
    /// When it has been handled.
    until: u64,
    /// The link over which it leaves or has come.
    link: DirectionId,
    transit: Transit,
    leaves: bool,
}

/// The hosts whose segments cost time.
#[derive(Debug, Default)]
pub(super) struct Hosts {
    /// By node; empty if no host has a cost.
    hosts: Vec<Option<Host>>,
    /// By direction of a link: the nodes at its beginning and its end.
    ends: Vec<[NodeId; 2]>,
}

impl Hosts {
    pub fn new(scenario: &Scenario) -> Self {
        let host = |more: &crate::scenario::More| {
            let cost = more.get("cost", "")?.time().filter(|cost| cost.0 > 0)?.0;
            let cores = more.get("cores", "").and_then(|n| n.whole()).unwrap_or(1) as usize;
            Some(Host { cost, cores: vec![Core::default(); cores] })
        };
        let hosts: Vec<Option<Host>> = scenario.nodes.iter().map(|node| host(&node.more)).collect();
        if hosts.iter().all(Option::is_none) {
            return Self::default();
        }
        Self { hosts, ends: scenario.links.iter().flat_map(|l| [[l.a, l.b], [l.b, l.a]]).collect() }
    }

    /// True if no host has a cost.
    pub fn are_free(&self) -> bool {
        self.hosts.is_empty()
    }

    /// Takes a segment that leaves its host over `link`, or has come over it. False if the host has
    /// no cost.
    fn take(&mut self, now: u64, link: DirectionId, packet: &Packet, transit: Transit, leaves: bool) -> bool {
        let node = self.ends[link][usize::from(!leaves)];
        let Some(host) = &mut self.hosts[node] else { return false };
        let number = (packet.connection as usize + packet.tuple as usize) % host.cores.len();
        let core = &mut host.cores[number];
        core.free = core.free.max(now) + host.cost;
        core.worked += host.cost;
        core.waiting.push_back(Waiting { until: core.free, link, transit, leaves });
        true
    }

    fn cores(&mut self) -> impl Iterator<Item = &mut Core> {
        self.hosts.iter_mut().flatten().flat_map(|host| &mut host.cores)
    }

    /// When the next segment has been handled.
    pub fn deadline(&self) -> u64 {
        let cores = self.hosts.iter().flatten().flat_map(|host| &host.cores);
        cores.filter_map(|core| core.waiting.front()).map(|first| first.until).min().unwrap_or(u64::MAX)
    }

    /// For each node with a cost: its number, and for what share of the time until `now` its
    /// busiest core has worked.
    pub fn busy(&self, now: u64) -> Vec<(NodeId, f64)> {
        let share = |host: &Host| {
            let worked = |core: &Core| core.worked - core.free.saturating_sub(now).min(core.worked);
            let most = host.cores.iter().map(worked).max().unwrap_or(0);
            if now == 0 { 0.0 } else { most as f64 / now as f64 }
        };
        let numbered = self.hosts.iter().enumerate();
        numbered.filter_map(|(node, host)| host.as_ref().map(|host| (node, share(host)))).collect()
    }
}

impl Network {
    /// A segment leaves its host over `link` where hosts have costs: it waits for its core. False
    /// if it need not.
    pub(super) fn waits_to_leave(&mut self, link: DirectionId, transit: Transit) -> bool {
        self.waits(link, transit, true)
    }

    /// A segment has come to its host over `link` where hosts have costs: it waits for its core.
    /// False if it need not.
    pub(super) fn waits_to_arrive(&mut self, link: DirectionId, transit: Transit) -> bool {
        self.waits(link, transit, false)
    }

    fn waits(&mut self, link: DirectionId, transit: Transit, leaves: bool) -> bool {
        let packet = *self.pool.get(transit.id);
        let waits = self.hosts.take(self.now, link, &packet, transit, leaves);
        if waits {
            self.schedule_held();
        }
        waits
    }

    /// For each host with a cost: its number, and for what share of the time until `now` its
    /// busiest core has worked.
    pub fn busy(&self, now: u64) -> Vec<(NodeId, f64)> {
        self.hosts.busy(now)
    }

    /// Segments that have been handled go on.
    pub(super) fn on_handled(&mut self) {
        let now = self.now;
        let mut handled = Vec::new();
        for core in self.hosts.cores() {
            while core.waiting.front().is_some_and(|first| first.until <= now) {
                handled.extend(core.waiting.pop_front());
            }
        }
        for Waiting { link, transit, leaves, .. } in handled {
            if leaves {
                self.depart_noted(link, transit);
            } else if let Some(id) = self.arrived(link, transit.id) {
                self.also_arrived.push_back(id);
            }
        }
    }
}
