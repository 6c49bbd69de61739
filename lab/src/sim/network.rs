//! Links, the packets on them, and the routes between hosts.

use std::collections::VecDeque;

use super::edge::Edge;
use super::link::{Drop, Fate, LinkDirection};
use super::middlebox::{Chain, Passed};
use super::packet::{Packet, PacketId, Pool, Transit};
use super::radio::Radio;
use super::rng::Rng;
use super::slots::{Key, NEVER, Slots};
use super::tap::Taps;
use super::trace::{Kind, Trace};
use crate::metrics::account::SubflowAccount;
use crate::scenario::{Ask, Change, ChangeKind, Link, LinkId, NodeId, Protocol, Scenario};
use anabranch_stack::segment::Ecn;

/// Index of a link direction: twice the link, plus one for b to a.
pub type DirectionId = usize;

/// One path of a connection.
#[derive(Clone, Debug)]
pub struct Path {
    /// Directions a packet crosses: client to server, and server to client.
    pub route: [Vec<DirectionId>; 2],
    /// Where each of the two begins in the table of all routes.
    start: [u32; 2],
    /// Index, in the route of the data, of the slowest link.
    pub slowest: u8,
}

/// Paths and accounts of one connection.
#[derive(Debug)]
pub struct Flow {
    /// The data go from client to server.
    pub up: bool,
    /// It has no segments.
    pub datagrams: bool,
    /// Its paths.
    pub paths: Vec<Path>,
    /// One account a 4-tuple.
    pub tuples: Vec<SubflowAccount>,
    /// Per path: what its slowest link could have carried before the connection began, in bits.
    idle_capacity: Vec<f64>,
}

/// The end of a route, in the table of all.
const END: u32 = u32::MAX;

/// Everything between the hosts.
#[derive(Debug)]
pub struct Network {
    /// The clock, in nanoseconds.
    pub now: u64,
    /// The event that goes on: what comes before it has happened, what comes after it at the same time has not.
    event: Key,
    /// When each component acts next. Each link direction has a slot; after the links' comes that of the middleboxes that hold
    /// something, then one a radio channel.
    pub slots: Slots,
    /// The trace.
    pub trace: Trace,
    /// Per connection.
    pub flows: Vec<Flow>,
    stamp: u64,
    links: Vec<LinkDirection>,
    /// All routes one after the other, each ended by [`END`]: what a packet under way needs of its path.
    routes: Vec<u32>,
    /// The channels of wireless links.
    radio: Radio,
    /// Packets under way, and the one that has just arrived.
    pub pool: Pool,
    /// Packets that have reached their hosts beside the one that [`Network::run`] has handed out.
    pub also_arrived: VecDeque<PacketId>,
    /// Middleboxes by link; empty if there are none at all.
    boxes: Vec<Chain>,
    passed: Passed,
    /// By packet: where it is on its way, while a radio has it.
    parked: Vec<Transit>,
    /// By link; empty if no link redraws its delay when an application writes.
    write_rngs: Vec<Rng>,
    /// Octets read by all receiving applications.
    pub read: u64,
    /// When the last of them were, or the last connection began.
    pub moved: u64,
    /// Steps taken within events: packets sent by hosts, pairs of stations that a frame was worked out for.
    pub work: u64,
    /// What passes where somebody listens is written there.
    taps: Option<Box<Taps>>,
    /// There if bytes are wanted.
    edge: Option<Box<Edge>>,
    /// Every segment that reaches its host goes through bytes.
    bytes: bool,
}

impl Network {
    /// The links of `scenario`, with `others` slots for other components after theirs. `None` if `ask` does not want to go on.
    pub fn new(scenario: &Scenario, others: usize, trace: Trace, ask: Ask<'_>) -> Option<Self> {
        let seed = scenario.seed;
        let mut links = Vec::new();
        for link in &scenario.links {
            if ask().is_break() {
                return None;
            }
            links.push(LinkDirection::new(&link.up, seed, &format!("{} up", link.name)));
            links.push(LinkDirection::new(&link.down, seed, &format!("{} down", link.name)));
        }
        let redraws = links.iter().any(LinkDirection::redraws_on_write);
        let write_rng = |l: &Link| Rng::new(seed, &format!("link {} write", l.name));
        let write_rngs = if redraws { scenario.links.iter().map(write_rng).collect() } else { Vec::new() };
        let mut routes = Vec::new();
        let flows = scenario
            .connections
            .iter()
            .map(|c| Flow {
                up: c.transfer.up,
                datagrams: c.protocol == Protocol::Udp,
                paths: c.paths.iter().map(|p| path(scenario, c.client, p, c.transfer.up, &mut routes)).collect(),
                tuples: Vec::new(),
                idle_capacity: Vec::new(),
            })
            .collect();
        let radio = Radio::new(scenario, ask)?;
        let slots = Slots::new(links.len() + 1 + radio.channels() + others);
        let chain = |l: &Link| Chain::new(&l.middleboxes, seed, &l.name);
        let any = scenario.links.iter().any(|l| !l.middleboxes.is_empty());
        let boxes = if any { scenario.links.iter().map(chain).collect() } else { Vec::new() };
        let edge = scenario.bytes.then(|| Box::new(Edge::new(scenario)));
        let mut network = Self {
            now: 0,
            event: Key::new(0, 0),
            slots,
            trace,
            flows,
            stamp: 0,
            links,
            routes,
            radio,
            pool: Pool::default(),
            also_arrived: VecDeque::new(),
            boxes,
            passed: Passed::default(),
            parked: Vec::new(),
            write_rngs,
            read: 0,
            moved: 0,
            work: 0,
            taps: None,
            edge,
            bytes: scenario.bytes,
        };
        network.look_ahead(scenario);
        for channel in 0..network.radio.channels() {
            // Beacons are sent from the beginning on, also where nobody has anything to send yet.
            network.schedule_channel(channel);
        }
        Some(network)
    }

    /// Links on which nothing will interfere with a packet take one event for it instead of two.
    fn look_ahead(&mut self, scenario: &Scenario) {
        for (i, link) in scenario.links.iter().enumerate() {
            if link.changes.is_empty() && link.wifi.is_none() {
                self.links[2 * i].look_ahead();
                self.links[2 * i + 1].look_ahead();
            }
        }
    }

    /// From now on what passes is captured; to be called before anything does.
    pub fn capture(&mut self, scenario: &Scenario, taps: Taps) {
        for (i, _) in scenario.links.iter().enumerate().filter(|(_, link)| link.capture) {
            // What has been transmitted is of interest when it has been.
            self.links[2 * i].look_not_ahead();
            self.links[2 * i + 1].look_not_ahead();
        }
        self.taps = Some(Box::new(taps));
        self.edge.get_or_insert_with(|| Box::new(Edge::new(scenario)));
    }

    /// The first slot that is not the network's.
    pub fn first_other_slot(&self) -> usize {
        self.links.len() + 1 + self.radio.channels()
    }

    /// The event with this key begins. Times do not go back, and at one time what has happened has.
    #[inline]
    pub fn begin(&mut self, key: Key) {
        self.now = key.at();
        self.event = self.event.max(key);
    }

    /// Everything until `now` has happened.
    pub fn end(&mut self, now: u64) {
        self.now = now;
        self.event = self.event.max(Key::new(now.saturating_add(1), 0));
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
        if self.slots.at(slot) != at {
            let key = if at == u64::MAX { NEVER } else { self.key(at) };
            self.slots.set(slot, key);
        }
    }

    /// A host sends a packet on path `tuples[tuple].path`.
    #[inline]
    pub fn send(&mut self, mut packet: Packet) {
        self.work += 1;
        self.trace.segment(self.now, Kind::Send, &packet, None);
        let flow = &mut self.flows[packet.connection as usize];
        let account = &mut flow.tuples[packet.tuple as usize];
        account.in_network += 1;
        let count = &mut account.packets[usize::from(!packet.up)];
        (packet.ip_id, *count) = (*count, count.wrapping_add(1));
        let first = flow.paths[account.path].route[usize::from(!packet.up)][0];
        if let Some(edge) = &mut self.edge {
            edge.note(&packet);
            if let Some(taps) = &mut self.taps {
                taps.on_send(self.now, first, &packet, account.path, edge);
            }
        }
        let transit = self.admit(packet);
        self.enter(first, transit);
    }

    /// A packet that comes to link number `packet.hop` of its route, or has just crossed it.
    #[inline]
    fn admit(&mut self, packet: Packet) -> Transit {
        let flow = &self.flows[packet.connection as usize];
        let path = &flow.paths[flow.tuples[packet.tuple as usize].path];
        let transit = Transit {
            next: path.start[usize::from(!packet.up)] + u32::from(packet.hop) + 1,
            wire_len: packet.wire_len,
            hop: packet.hop,
            counted: if packet.up == flow.up { path.slowest } else { Transit::NOWHERE },
            ect: packet.segment.ecn != Ecn::NotEct,
            ..Transit::default()
        };
        Transit { id: self.pool.insert(packet), ..transit }
    }

    /// A packet comes to the sending end of a link.
    #[inline]
    fn enter(&mut self, d: DirectionId, transit: Transit) {
        if d % 2 == 0 && self.boxes.get(d / 2).is_some_and(|b| !b.is_empty()) {
            self.meet(d, transit);
        } else {
            self.enqueue(d, transit);
        }
    }

    /// A packet comes to the middleboxes of a link.
    fn meet(&mut self, d: DirectionId, transit: Transit) {
        let packet = Packet { hop: transit.hop, ..*self.pool.get(transit.id) };
        self.pool.release(transit.id);
        let mut passed = std::mem::take(&mut self.passed);
        self.boxes[d / 2].pass(self.now, d % 2 == 0, packet, &mut passed);
        self.flows[packet.connection as usize].tuples[packet.tuple as usize].in_network -= 1;
        self.go_on(d, passed);
    }

    /// What has passed the middleboxes goes on: into the link, or out of it.
    fn go_on(&mut self, d: DirectionId, mut passed: Passed) {
        for packet in passed.dropped.drain(..) {
            self.flows[packet.connection as usize].tuples[packet.tuple as usize].in_network += 1;
            let id = self.admit(packet).id;
            self.drop_packet(id, Drop::Middlebox);
        }
        for packet in passed.through.drain(..) {
            self.flows[packet.connection as usize].tuples[packet.tuple as usize].in_network += 1;
            let transit = self.admit(packet);
            if d % 2 == 0 {
                self.enqueue(d, transit);
            } else if let Some(id) = self.leave(d, transit) {
                self.also_arrived.push_back(id);
            }
        }
        self.passed = passed;
        let at = self.boxes.iter().map(Chain::deadline).min().unwrap_or(u64::MAX);
        self.schedule(self.links.len(), at);
    }

    /// What middleboxes have held long enough goes on.
    fn on_middleboxes(&mut self) {
        self.slots.set(self.links.len(), NEVER);
        for d in 0..self.links.len() {
            let mut passed = std::mem::take(&mut self.passed);
            self.boxes[d / 2].release(self.now, d % 2 == 0, &mut passed);
            self.go_on(d, passed);
        }
    }

    /// A packet enters a link behind the middleboxes: over the radio first, or over the wire.
    #[inline]
    fn enqueue(&mut self, d: DirectionId, transit: Transit) {
        if self.radio.first(d) {
            self.transmit_by_radio(d, transit);
        } else {
            self.enqueue_wired(d, transit);
        }
    }

    #[inline]
    fn enqueue_wired(&mut self, d: DirectionId, mut transit: Transit) {
        let id = transit.id;
        if transit.ect && self.links[d].marks(self.event) {
            let ecn = &mut self.pool.get_mut(id).segment.ecn;
            if *ecn == Ecn::Ect0 {
                *ecn = Ecn::Ce;
            }
        }
        transit.arrives = self.key(0);
        match self.links[d].enqueue(self.event, transit, || self.pool.get(id).flow()) {
            Ok(taken) => {
                if taken.mark {
                    self.pool.get_mut(id).segment.ecn = Ecn::Ce;
                }
                if let Some(key) = taken.next {
                    self.slots.set(d, key);
                }
                if transit.hop == transit.counted && taken.octets > 0 {
                    let packet = self.pool.get(id);
                    let account = &mut self.flows[packet.connection as usize].tuples[packet.tuple as usize];
                    account.wire += u64::from(taken.octets);
                }
                self.drop_shed(d);
            }
            Err(why) => self.drop_packet(id, why),
        }
    }

    /// The slot of a link follows its next event.
    #[inline]
    fn schedule_link(&mut self, d: DirectionId) {
        self.slots.set(d, self.links[d].next());
    }

    /// Carries out what the queue's discipline dropped.
    #[inline]
    fn drop_shed(&mut self, d: DirectionId) {
        while let Some(id) = self.links[d].shed() {
            self.drop_packet(id, Drop::Queue);
        }
    }

    fn drop_packet(&mut self, id: PacketId, why: Drop) {
        let packet = *self.pool.get(id);
        self.pool.release(id);
        self.trace.segment(self.now, Kind::Drop, &packet, Some(why));
        let flow = &mut self.flows[packet.connection as usize];
        let account = &mut flow.tuples[packet.tuple as usize];
        account.in_network -= 1;
        if matches!(why, Drop::Queue | Drop::Age) {
            account.queue_drops += 1;
        }
        if packet.up == flow.up && packet.segment.payload.len > 0 {
            packet.origins().for_each(|seq| account.fates.dropped(seq, packet.transmissions));
        }
    }

    /// Runs the event of a link's slot; a packet that has reached its host is handed out, to be released by the caller.
    #[inline]
    pub fn run(&mut self, slot: usize) -> Option<PacketId> {
        if slot == self.links.len() {
            self.on_middleboxes();
            return self.also_arrived.pop_front();
        }
        if slot > self.links.len() {
            return self.on_radio(slot - self.links.len() - 1);
        }
        if self.links[slot].arrives() {
            self.on_arrival(slot)
        } else {
            self.on_transmitted(slot);
            None
        }
    }

    fn on_transmitted(&mut self, d: DirectionId) {
        let (transit, octets, next) = self.links[d].transmitted(self.now);
        let id = transit.id;
        if let Some(next) = next.filter(|next| next.mark) {
            self.pool.get_mut(next.id).segment.ecn = Ecn::Ce;
        }
        self.drop_shed(d);
        if transit.hop == transit.counted && !self.radio.limits(d) {
            let packet = self.pool.get(id);
            self.flows[packet.connection as usize].tuples[packet.tuple as usize].wire += u64::from(octets);
        }
        if let (Some(taps), Some(edge)) = (&mut self.taps, &mut self.edge) {
            let packet = self.pool.get(id);
            let path = self.flows[packet.connection as usize].tuples[packet.tuple as usize].path;
            taps.on_transmitted(self.now, d, packet, path, edge);
        }
        match self.links[d].fate() {
            Fate::Lost => {
                self.links[d].lose();
                self.drop_packet(id, Drop::Loss);
            }
            Fate::Sent { corrupted, duplicated } => {
                if corrupted {
                    self.pool.get_mut(id).corrupted = true;
                }
                self.links[d].fly(self.now);
                if duplicated {
                    let copy = Packet { hop: transit.hop, ..*self.pool.get(id) };
                    let flow = &mut self.flows[copy.connection as usize];
                    let account = &mut flow.tuples[copy.tuple as usize];
                    account.in_network += 1;
                    if copy.up == flow.up && copy.segment.payload.len > 0 {
                        copy.origins().for_each(|seq| account.fates.duplicated(seq, copy.transmissions));
                    }
                    let copy = Transit { arrives: self.key(0), ..self.admit(copy) };
                    self.links[d].fly_copy(self.now, copy);
                }
            }
        }
        self.schedule_link(d);
    }

    fn on_arrival(&mut self, d: DirectionId) -> Option<PacketId> {
        let transit = self.links[d].arrive();
        self.schedule_link(d);
        if self.radio.last(d) {
            self.transmit_by_radio(d, transit);
            return None;
        }
        self.land(d, transit)
    }

    /// A packet has come to the far end of a link, where middleboxes may stand.
    #[inline]
    fn land(&mut self, d: DirectionId, transit: Transit) -> Option<PacketId> {
        if d % 2 == 1 && self.boxes.get(d / 2).is_some_and(|b| !b.is_empty()) {
            self.meet(d, transit);
            return self.also_arrived.pop_front();
        }
        self.leave(d, transit)
    }

    /// A packet leaves a link: for the next one, or it has reached its host and is handed out.
    #[inline]
    fn leave(&mut self, d: DirectionId, mut transit: Transit) -> Option<PacketId> {
        let next = self.routes[transit.next as usize];
        transit.next += 1;
        transit.hop += 1;
        if next != END {
            self.enter(next as DirectionId, transit);
            return None;
        }
        let id = transit.id;
        let packet = self.pool.get_mut(id);
        let flow = &mut self.flows[packet.connection as usize];
        let account = &mut flow.tuples[packet.tuple as usize];
        if let Some(edge) = &mut self.edge {
            if let Some(taps) = &mut self.taps {
                taps.on_arrival(self.now, d, packet, account.path, edge);
            }
            if self.bytes && !packet.corrupted && !flow.datagrams {
                packet.segment = edge.through(packet, account.path);
            }
        }
        if packet.corrupted {
            self.drop_packet(id, Drop::Checksum);
            return None;
        }
        account.in_network -= 1;
        self.trace.segment(self.now, Kind::Arrive, packet, None);
        Some(id)
    }

    /// A packet goes to the radio part of a link.
    #[inline]
    fn transmit_by_radio(&mut self, d: DirectionId, transit: Transit) {
        let id = transit.id;
        if self.parked.len() <= id as usize {
            self.parked.resize(id as usize + 1, Transit::default());
        }
        self.parked[id as usize] = transit;
        match self.radio.enqueue(self.now, d, id, transit.wire_len) {
            Ok(()) => self.schedule_radio(d),
            Err(why) => self.drop_packet(id, why),
        }
    }

    #[inline]
    fn schedule_radio(&mut self, d: DirectionId) {
        if let Some(channel) = self.radio.channel(d) {
            self.schedule_channel(channel);
        }
    }

    fn schedule_channel(&mut self, channel: usize) {
        self.schedule(self.links.len() + 1 + channel, self.radio.next_of(channel));
    }

    /// The next event of a radio channel.
    fn on_radio(&mut self, channel: usize) -> Option<PacketId> {
        self.work += self.radio.steps(channel);
        let arrived = self.radio.run(channel, self.now);
        let mut lost = std::mem::take(&mut self.radio.lost);
        lost.drain(..).for_each(|(id, why)| self.drop_packet(id, why));
        self.radio.lost = lost;
        let at = self.radio.next_of(channel);
        let key = if at == u64::MAX { NEVER } else { self.key(at) };
        self.slots.set(self.links.len() + 1 + channel, key);
        let (d, id) = arrived?;
        let packet = self.pool.get(id);
        let flow = &mut self.flows[packet.connection as usize];
        let account = &mut flow.tuples[packet.tuple as usize];
        let transit = self.parked[id as usize];
        if transit.hop == transit.counted && self.radio.limits(d) {
            account.wire += u64::from(packet.wire_len);
        }
        if self.radio.wire_follows(d) {
            self.enqueue_wired(d, transit);
            return None;
        }
        if let (true, Some(taps), Some(edge)) = (self.radio.first(d), &mut self.taps, &mut self.edge) {
            taps.on_transmitted(self.now, d, packet, account.path, edge);
        }
        self.land(d, transit)
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
                    self.slots.set(d, NEVER);
                    for id in self.radio.go_down(d) {
                        self.drop_packet(id, Drop::Down);
                    }
                    self.schedule_radio(d);
                }
                ChangeKind::LinkUp => {
                    self.links[d].go_up();
                    self.radio.go_up(d);
                }
                ChangeKind::Rate(rate) => self.links[d].set_rate(self.now, rate),
                ChangeKind::Delay(delay) => self.links[d].set_delay(delay.0),
                ChangeKind::Loss(loss) => self.links[d].set_loss(loss),
            }
        }
    }

    /// The application of `connection` wrote: links that redraw their delay then, do.
    pub fn on_write(&mut self, connection: usize) {
        if self.write_rngs.is_empty() {
            return;
        }
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

    /// Rate in bit/s of the slowest link of a path in the direction of the data.
    pub fn path_rate(&self, connection: usize, path: usize) -> u64 {
        let flow = &self.flows[connection];
        let path = &flow.paths[path];
        let d = path.route[usize::from(!flow.up)][usize::from(path.slowest)];
        self.radio.peak_rate(d).unwrap_or_else(|| self.links[d].rate())
    }

    /// Something waits on the slowest link of a path in the direction of the data.
    pub fn is_full(&self, connection: usize, path: usize) -> bool {
        let flow = &self.flows[connection];
        let path = &flow.paths[path];
        let d = path.route[usize::from(!flow.up)][usize::from(path.slowest)];
        if self.radio.limits(d) { self.radio.is_full(d) } else { self.links[d].has_waiting(self.event) }
    }

    /// Octets that a 4-tuple has put on the slowest link of its path in the direction of the data.
    pub fn wire(&self, connection: usize, tuple: usize) -> u64 {
        let flow = &self.flows[connection];
        let account = &flow.tuples[tuple];
        let path = &flow.paths[account.path];
        let d = path.route[usize::from(!flow.up)][usize::from(path.slowest)];
        let its = |id| {
            let packet = self.pool.get(id);
            packet.connection as usize == connection && packet.tuple as usize == tuple
        };
        account.wire - self.links[d].untransmitted(self.event, its)
    }

    /// A receiving application has read `octets`.
    #[inline]
    pub fn note_read(&mut self, octets: u64) {
        self.read += octets;
        self.moved = self.now;
    }

    /// `connection` begins now.
    pub fn mark_start(&mut self, connection: usize) {
        self.moved = self.now;
        let paths = self.flows[connection].paths.len();
        self.flows[connection].idle_capacity = (0..paths).map(|p| self.capacity_bits(connection, p, true)).collect();
    }

    /// What the slowest link of a path could have carried in the direction of the data since the start, in bits.
    pub fn capacity_since_start(&self, connection: usize, path: usize) -> f64 {
        self.capacity_bits(connection, path, false) - self.flows[connection].idle_capacity[path]
    }

    /// What the slowest link of a path could have carried until now, or `before` now, in bits.
    fn capacity_bits(&self, connection: usize, path: usize, before: bool) -> f64 {
        let flow = &self.flows[connection];
        let path = &flow.paths[path];
        let d = path.route[usize::from(!flow.up)][usize::from(path.slowest)];
        let link = &self.links[d];
        match before {
            _ if self.radio.limits(d) => self.radio.capacity_bits(d, self.now),
            true => link.capacity_bits_before(self.now),
            false => link.capacity_bits(self.now),
        }
    }
}

/// The route of a path given as links from `client` on.
fn path(scenario: &Scenario, client: NodeId, links: &[LinkId], data_up: bool, routes: &mut Vec<u32>) -> Path {
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
    let start = [0, 1].map(|way: usize| {
        let start = routes.len() as u32;
        routes.extend(route[way].iter().map(|&d| d as u32).chain([END]));
        start
    });
    let rate = |&d: &DirectionId| {
        let l = &scenario.links[d / 2];
        let wired = if d % 2 == 0 { l.up.rate } else { l.down.rate };
        l.wifi.as_ref().map_or(wired, |w| w.peak_rate().min(wired))
    };
    let data = &route[usize::from(!data_up)];
    let slowest = (0..data.len()).min_by_key(|&i| rate(&data[i])).unwrap_or(0);
    Path { route, start, slowest: slowest as u8 }
}

impl Network {
    /// Ends trace and captures: the trace's hash, and the first errors of writing either.
    pub fn finish(self) -> (String, Option<std::io::Error>, Option<std::io::Error>) {
        let (hash, error) = self.trace.finish();
        (hash, error, self.taps.and_then(|taps| taps.finish().err()))
    }
}
