//! The keys `cost` and `cores` of hosts: segments wait for a core that handles them, in and out.
//!
//! All segments of a subflow, in both directions, are handled by one core of a host, as
//! receive-side scaling does it. A core handles one segment at a time in the order in which they
//! come, each for the host's `cost`.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use anabranch_stack::registry::Setting;

use super::Network;
use crate::sim::packet::{Packet, Transit};
use crate::sim::routes::DirectionId;
use anabranch_scenario::{More, NodeId, Scenario};

/// The cores of a host.
#[derive(Debug)]
struct Host {
    /// Nanoseconds for each segment.
    cost: u64,
    cores: Vec<Core>,
}

#[derive(Clone, Debug, Default)]
struct Core {
    /// For each connection, by its number: the work that this core did for it.
    carried: Vec<Carried>,
    /// When the core has handled all segments that wait for it.
    free: u64,
    /// Nanoseconds of work until `free`.
    worked: u64,
}

/// The work of one core from the first segment of a connection to the last one, in nanoseconds. The
/// work for other connections counts, too.
#[derive(Clone, Copy, Debug, Default)]
struct Carried {
    /// When the first segment came, and the work before it.
    first: (u64, u64),
    /// When the last segment was handled, and the work until then; zero before any.
    last: (u64, u64),
}

impl Carried {
    /// Share of the time for which the core worked, 0 to 1.
    fn busy(&self) -> f64 {
        let (time, work) = (self.last.0 - self.first.0, self.last.1 - self.first.1);
        if time == 0 { 0.0 } else { work as f64 / time as f64 }
    }
}

/// A segment that a core handles or will handle.
#[derive(Debug)]
struct Waiting {
    /// When the segment has been handled.
    until: u64,
    /// Order among segments that are handled at the same time.
    number: u64,
    /// The link over which the segment leaves or has come.
    link: DirectionId,
    transit: Transit,
    leaves: bool,
}

impl Waiting {
    fn order(&self) -> (u64, u64) {
        (self.until, self.number)
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The first segment to be handled is the greatest, as [`BinaryHeap`] gives out.
impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        other.order().cmp(&self.order())
    }
}

/// The hosts whose segments cost time.
#[derive(Debug, Default)]
pub(super) struct Hosts {
    /// By node; empty if no host has a cost.
    hosts: Vec<Option<Host>>,
    /// By direction of a link: the nodes at its beginning and its end.
    ends: Vec<[NodeId; 2]>,
    /// Segments of all cores.
    waiting: BinaryHeap<Waiting>,
    /// Segments taken so far.
    taken: u64,
}

impl Hosts {
    pub fn new(scenario: &Scenario) -> Self {
        let host = |more: &More| {
            let cost = more.get("cost", "")?.time().filter(|cost| cost.0 > 0)?.0;
            let cores = more.get("cores", "").and_then(Setting::whole).unwrap_or(1) as usize;
            Some(Host { cost, cores: vec![Core::default(); cores] })
        };
        let hosts: Vec<Option<Host>> = scenario.nodes.iter().map(|node| host(&node.more)).collect();
        if hosts.iter().all(Option::is_none) {
            return Self::default();
        }
        let ends = scenario.links.iter().flat_map(|l| [[l.a, l.b], [l.b, l.a]]).collect();
        Self { hosts, ends, ..Self::default() }
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
        let core = (packet.connection as usize + packet.tuple as usize) % host.cores.len();
        let core = &mut host.cores[core];
        let before = (now, core.worked);
        core.free = core.free.max(now) + host.cost;
        core.worked += host.cost;
        let connection = packet.connection as usize;
        if core.carried.len() <= connection {
            core.carried.resize(connection + 1, Carried::default());
        }
        let carried = &mut core.carried[connection];
        if carried.last.0 == 0 {
            carried.first = before;
        }
        carried.last = (core.free, core.worked);
        self.taken += 1;
        self.waiting.push(Waiting { until: core.free, number: self.taken, link, transit, leaves });
        true
    }

    /// When the next segment has been handled.
    pub fn deadline(&self) -> u64 {
        self.waiting.peek().map_or(u64::MAX, |first| first.until)
    }

    /// The work of each host with a cost until `now`.
    pub fn work(&self, now: u64) -> Vec<Work> {
        let work = |(node, host): (NodeId, &Option<Host>)| {
            let host = host.as_ref()?;
            let worked = |core: &Core| core.worked - core.free.saturating_sub(now).min(core.worked);
            let most = host.cores.iter().map(worked).max().unwrap_or(0);
            let carried = |core: &Core| core.carried.len();
            let connections = 0..host.cores.iter().map(carried).max().unwrap_or(0);
            Some(Work {
                node,
                busy: if now == 0 { 0.0 } else { most as f64 / now as f64 },
                connections: connections.filter_map(|c| host.busiest(c).map(|share| (c, share))).collect(),
            })
        };
        self.hosts.iter().enumerate().filter_map(work).collect()
    }
}

impl Host {
    /// The share, 0 to 1, for which a core worked between the first and the last segment of
    /// `connection` that it carried: the largest of all cores. `None` if no core carried one.
    fn busiest(&self, connection: usize) -> Option<f64> {
        let carried = self.cores.iter().filter_map(|core| core.carried.get(connection));
        carried.filter(|carried| carried.last.0 > 0).map(Carried::busy).max_by(f64::total_cmp)
    }
}

/// How much the cores of a host have worked.
#[derive(Debug)]
pub struct Work {
    /// The host.
    pub node: NodeId,
    /// Share of the run for which its busiest core worked, 0 to 1.
    pub busy: f64,
    /// For each connection with segments at the host: its number, and the share of the
    /// connection's time for which the busiest of the cores that carried it worked, 0 to 1.
    pub connections: Vec<(usize, f64)>,
}

impl Network {
    /// Gives a segment that leaves its host over `link` to its core. False if the host has no cost.
    pub(super) fn waits_to_leave(&mut self, link: DirectionId, transit: Transit) -> bool {
        self.waits(link, transit, true)
    }

    /// Gives a segment that has come to its host over `link` to its core. False if the host has no
    /// cost.
    pub(super) fn waits_to_arrive(&mut self, link: DirectionId, transit: Transit) -> bool {
        self.waits(link, transit, false)
    }

    fn waits(&mut self, link: DirectionId, transit: Transit, leaves: bool) -> bool {
        let packet = self.pool.get(transit.id);
        let waits = self.hosts.take(self.now, link, packet, transit, leaves);
        if waits {
            self.schedule_held();
        }
        waits
    }

    /// The work of each host with a cost until `now`.
    pub fn work(&self, now: u64) -> Vec<Work> {
        self.hosts.work(now)
    }

    /// Sends on the segments that their cores have handled, or hands them out.
    pub(super) fn on_handled(&mut self) {
        while self.hosts.deadline() <= self.now {
            let Some(Waiting { link, transit, leaves, .. }) = self.hosts.waiting.pop() else { return };
            if leaves {
                self.depart_noted(link, transit);
            } else if let Some(id) = self.arrived(link, transit.id) {
                self.also_arrived.push_back(id);
            }
        }
    }
}
