//! Links, the packets on them, and the routes between hosts.

use super::link::{Drop, Fate, LinkDirection};
use super::packet::{Packet, PacketId, Pool};
use super::rng::Rng;
use super::slots::{Key, NEVER, Slots};
use super::trace::{Kind, Trace};
use crate::metrics::account::SubflowAccount;
use crate::scenario::{Change, ChangeKind, LinkId, NodeId, Scenario};
use anabranch_stack::segment::Ecn;

/// Index of a link direction: twice the link, plus one for b to a.
pub type DirectionId = usize;

/// One path of a connection.
#[derive(Clone, Debug)]
pub struct Path {
    /// Directions a packet crosses, by `up` (client to server) as 0 or 1.
    pub route: [Vec<DirectionId>; 2],
    /// Index, in the route of the data, of the slowest link.
    pub slowest: u8,
}

/// Paths and accounts of one connection.
#[derive(Debug)]
pub struct Flow {
    /// The data go from client to server.
    pub up: bool,
    /// Its paths.
    pub paths: Vec<Path>,
    /// One account a 4-tuple.
    pub tuples: Vec<SubflowAccount>,
    /// Per path: what its slowest link could have carried before the connection began, in bits.
    idle_capacity: Vec<f64>,
}

/// Everything between the hosts.
#[derive(Debug)]
pub struct Network {
    /// The clock, in nanoseconds.
    pub now: u64,
    /// When each component acts next. Link direction d has slots 2d (end of transmission) and 2d + 1 (arrival).
    pub slots: Slots,
    /// The trace.
    pub trace: Trace,
    /// Per connection.
    pub flows: Vec<Flow>,
    stamp: u64,
    links: Vec<LinkDirection>,
    /// Packets under way, and the one that has just arrived.
    pub pool: Pool,
    write_rngs: Vec<Rng>,
}

impl Network {
    /// The links of `scenario`, with `others` slots for other components after theirs.
    pub fn new(scenario: &Scenario, others: usize, trace: Trace) -> Self {
        let seed = scenario.seed;
        let mut links = Vec::new();
        for link in &scenario.links {
            links.push(LinkDirection::new(&link.up, seed, &format!("{} up", link.name)));
            links.push(LinkDirection::new(&link.down, seed, &format!("{} down", link.name)));
        }
        let write_rngs = scenario.links.iter().map(|l| Rng::new(seed, &format!("link {} write", l.name))).collect();
        let flows = scenario
            .connections
            .iter()
            .map(|c| Flow {
                up: c.transfer.up,
                paths: c.paths.iter().map(|p| path(scenario, c.client, p, c.transfer.up)).collect(),
                tuples: Vec::new(),
                idle_capacity: Vec::new(),
            })
            .collect();
        let slots = Slots::new(2 * links.len() + others);
        Self { now: 0, slots, trace, flows, stamp: 0, links, pool: Pool::default(), write_rngs }
    }

    /// The first slot that is no link's.
    pub fn first_other_slot(&self) -> usize {
        2 * self.links.len()
    }

    /// A key for an event at `at`, caused now.
    #[inline]
    pub fn key(&mut self, at: u64) -> Key {
        self.stamp += 1;
        Key::new(at, self.stamp)
    }

    /// Moves another component's slot; [`u64::MAX`] clears it.
    #[inline]
    pub fn schedule(&mut self, slot: usize, at: u64) {
        if self.slots.get(slot).at() != at {
            let key = if at == u64::MAX { NEVER } else { self.key(at) };
            self.slots.set(slot, key);
        }
    }

    /// A host sends a packet on path `tuples[tuple].path`.
    #[inline]
    pub fn send(&mut self, packet: Packet) {
        self.trace.segment(self.now, Kind::Send, &packet, None);
        let flow = &mut self.flows[packet.connection as usize];
        let account = &mut flow.tuples[packet.tuple as usize];
        account.in_network += 1;
        let first = flow.paths[account.path].route[usize::from(!packet.up)][0];
        let id = self.pool.insert(packet);
        self.enqueue(first, id);
    }

    #[inline]
    fn enqueue(&mut self, d: DirectionId, id: PacketId) {
        let packet = self.pool.get_mut(id);
        let wire_len = packet.wire_len;
        if packet.segment.ecn == Ecn::Ect0 && self.links[d].marks() {
            packet.segment.ecn = Ecn::Ce;
        }
        match self.links[d].enqueue(self.now, id, wire_len) {
            Ok(None) => {}
            Ok(Some(end)) => {
                let key = self.key(end);
                self.slots.set(2 * d, key);
            }
            Err(why) => self.drop_packet(id, why),
        }
    }

    fn drop_packet(&mut self, id: PacketId, why: Drop) {
        let packet = *self.pool.get(id);
        self.pool.release(id);
        self.trace.segment(self.now, Kind::Drop, &packet, Some(why));
        let flow = &mut self.flows[packet.connection as usize];
        let account = &mut flow.tuples[packet.tuple as usize];
        account.in_network -= 1;
        if why == Drop::Queue {
            account.queue_drops += 1;
        }
        if packet.up == flow.up && packet.segment.payload.len > 0 {
            account.fates.dropped(packet.segment.seq, packet.transmissions);
        }
    }

    /// Runs the event of a link's slot; a packet that has reached its host is handed out, to be released by the caller.
    #[inline]
    pub fn run(&mut self, slot: usize) -> Option<PacketId> {
        if slot % 2 == 0 {
            self.on_transmitted(slot / 2);
            None
        } else {
            self.on_arrival(slot / 2)
        }
    }

    fn on_transmitted(&mut self, d: DirectionId) {
        let (id, octets, next) = self.links[d].transmitted(self.now);
        let key = next.map_or(NEVER, |end| self.key(end));
        self.slots.set(2 * d, key);
        let packet = self.pool.get(id);
        let flow = &mut self.flows[packet.connection as usize];
        let account = &mut flow.tuples[packet.tuple as usize];
        if packet.up == flow.up && packet.hop == flow.paths[account.path].slowest {
            account.wire += u64::from(octets);
        }
        match self.links[d].fate() {
            Fate::Lost => self.drop_packet(id, Drop::Loss),
            Fate::Sent { corrupted, duplicated } => {
                if corrupted {
                    self.pool.get_mut(id).corrupted = true;
                }
                self.fly(d, id);
                if duplicated {
                    let copy = *self.pool.get(id);
                    self.flows[copy.connection as usize].tuples[copy.tuple as usize].in_network += 1;
                    let copy = self.pool.insert(copy);
                    self.fly(d, copy);
                }
            }
        }
    }

    #[inline]
    fn fly(&mut self, d: DirectionId, id: PacketId) {
        self.stamp += 1;
        if self.links[d].fly(self.now, id, self.stamp) {
            self.set_arrival(d);
        }
    }

    #[inline]
    fn set_arrival(&mut self, d: DirectionId) {
        let key = self.links[d].next_arrival().unwrap_or(NEVER);
        self.slots.set(2 * d + 1, key);
    }

    fn on_arrival(&mut self, d: DirectionId) -> Option<PacketId> {
        let id = self.links[d].arrive();
        self.set_arrival(d);
        let packet = self.pool.get_mut(id);
        packet.hop += 1;
        let (hop, up) = (usize::from(packet.hop), packet.up);
        let flow = &mut self.flows[packet.connection as usize];
        let account = &mut flow.tuples[packet.tuple as usize];
        if let Some(&next) = flow.paths[account.path].route[usize::from(!up)].get(hop) {
            self.enqueue(next, id);
            return None;
        }
        if packet.corrupted {
            self.drop_packet(id, Drop::Checksum);
            return None;
        }
        account.in_network -= 1;
        self.trace.segment(self.now, Kind::Arrive, packet, None);
        Some(id)
    }

    /// A scheduled change of link `link`.
    pub fn change(&mut self, link: LinkId, change: &Change) {
        for (d, concerned) in [(2 * link, change.up), (2 * link + 1, change.down)] {
            if !concerned {
                continue;
            }
            match change.what {
                ChangeKind::LinkDown => {
                    for id in self.links[d].go_down() {
                        self.drop_packet(id, Drop::Down);
                    }
                    self.slots.set(2 * d, NEVER);
                    self.slots.set(2 * d + 1, NEVER);
                }
                ChangeKind::LinkUp => self.links[d].go_up(),
                ChangeKind::Rate(rate) => self.links[d].set_rate(self.now, rate),
                ChangeKind::Delay(delay) => self.links[d].set_delay(delay.0),
                ChangeKind::Loss(loss) => self.links[d].set_loss(loss),
            }
        }
    }

    /// The application of `connection` wrote: links that redraw their delay then, do.
    pub fn on_write(&mut self, connection: usize) {
        for path in &self.flows[connection].paths {
            for &d in &path.route[0] {
                let link = d / 2;
                let redraws = |d: usize| self.links[d].redraws_on_write();
                if redraws(2 * link) || redraws(2 * link + 1) {
                    let u = self.write_rngs[link].uniform();
                    self.links[2 * link].on_write(u);
                    self.links[2 * link + 1].on_write(u);
                }
            }
        }
    }

    /// `connection` begins now.
    pub fn mark_start(&mut self, connection: usize) {
        let paths = self.flows[connection].paths.len();
        self.flows[connection].idle_capacity = (0..paths).map(|p| self.capacity_bits(connection, p)).collect();
    }

    /// What the slowest link of a path could have carried in the direction of the data since the start, in bits.
    pub fn capacity_since_start(&self, connection: usize, path: usize) -> f64 {
        self.capacity_bits(connection, path) - self.flows[connection].idle_capacity[path]
    }

    fn capacity_bits(&self, connection: usize, path: usize) -> f64 {
        let flow = &self.flows[connection];
        let path = &flow.paths[path];
        let d = path.route[usize::from(!flow.up)][usize::from(path.slowest)];
        self.links[d].capacity_bits(self.now)
    }
}

/// The route of a path given as links from `client` on.
fn path(scenario: &Scenario, client: NodeId, links: &[LinkId], data_up: bool) -> Path {
    let mut at = client;
    let mut up = Vec::new();
    for &link in links {
        let l = &scenario.links[link];
        let forward = l.a == at;
        up.push(2 * link + usize::from(!forward));
        at = if forward { l.b } else { l.a };
    }
    let down: Vec<_> = up.iter().rev().map(|d| d ^ 1).collect();
    let route = [up, down];
    let rate = |&d: &DirectionId| {
        let l = &scenario.links[d / 2];
        if d % 2 == 0 { l.up.rate } else { l.down.rate }
    };
    let data = &route[usize::from(!data_up)];
    let slowest = (0..data.len()).min_by_key(|&i| rate(&data[i])).unwrap_or(0);
    Path { route, slowest: slowest as u8 }
}
