//! Everything between the hosts: links, the packets on them, middleboxes, radio channels.
//!
//! A packet goes from link to link as a [`Transit`]; the packet itself is looked up where it is sent and where it arrives.
//! This file has sending, arriving and the wire between them. The radio is in [`air`], middleboxes are in [`boxes`], packets that are
//! captured or go through bytes in [`noted`], those that are too long in [`too_long`], what a wire takes in [`wired`], scheduled changes of links in [`changes`], questions
//! about paths in [`measures`].

mod air;
mod boxes;
mod changes;
mod cores;
mod measures;
mod noted;
mod too_long;
mod wired;

use std::collections::VecDeque;

use anabranch_stack::Outgoing;
use anabranch_stack::segment::{Ecn, Segment};

use super::app::page::Load;
use super::codec::Codec;
use super::link::{Drop, Fate, LinkDirection};
use super::middlebox::{Chain, Passed};
use super::packet::{Packet, PacketId, Pool, Transit};
use super::radio::Radio;
use super::rng::Rng;
use super::routes::{self, DirectionId, END, Flow, Path};
use super::slots::{Key, NEVER, Slots};
use super::tap::Taps;
use super::trace::{Hashes, Kind, Trace};
use anabranch_scenario::{Ask, Link, Mtu, Scenario};
use cores::Hosts;
pub use cores::Work;

/// Everything between the hosts.
#[derive(Debug)]
pub struct Network {
    /// The clock, in nanoseconds.
    pub now: u64,
    /// The key of the event being run, or of a later one at the same time: events up to this key have happened, others have not.
    event: Key,
    /// When each component acts next. Each link direction has a slot; after the links' comes that of the middleboxes that hold
    /// something, then one a radio channel.
    pub slots: Slots,
    /// The trace.
    pub trace: Trace,
    /// Per connection.
    pub flows: Vec<Flow>,
    /// Pages that are loaded, which several connections may share.
    pub loads: Vec<Load>,
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
    /// Middleboxes, two chains a link: at its end a, at its end b. Empty if there are none at all.
    boxes: Vec<Chain>,
    passed: Passed,
    /// By packet: its transit, while a radio has it.
    parked: Vec<Transit>,
    /// By link; empty if no link redraws its delay when an application writes.
    write_rngs: Vec<Rng>,
    /// Octets read by all receiving applications.
    pub read: u64,
    /// When the last of them were, or the last connection began.
    pub moved: u64,
    /// Steps taken within events: packets sent by hosts, pairs of stations that a frame was worked out for.
    pub work: u64,
    /// The captures, if there are any.
    taps: Option<Box<Taps>>,
    /// Makes bytes of packets, for captures and with `bytes = true`.
    codec: Option<Box<Codec>>,
    /// Every segment that reaches its host is made into bytes and parsed again.
    bytes: bool,
    /// By direction of a link: what its far end passes on; empty if nothing is too long anywhere.
    mtus: Vec<Option<Mtu>>,
    /// The cores of hosts whose segments cost time.
    hosts: Hosts,
    /// There are only wires that take any packet: no radio, no middlebox, no capture, no cost of a
    /// host.
    plain: bool,
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
            links.push(LinkDirection::new(&link.up, seed, &link.name, "up"));
            links.push(LinkDirection::new(&link.down, seed, &link.name, "down"));
        }
        let redraws = links.iter().any(LinkDirection::redraws_on_write);
        let write_rng = |l: &Link| Rng::new(seed, &format!("link {} write", l.name));
        let write_rngs = if redraws { scenario.links.iter().map(write_rng).collect() } else { Vec::new() };
        let (flows, routes) = routes::lay(scenario);
        let radio = Radio::new(scenario, ask)?;
        let reaches: u64 = links.iter().map(LinkDirection::reach).fold(0, u64::saturating_add);
        let reach = (reaches / links.len().max(1) as u64).saturating_mul(2);
        let slots = Slots::new(links.len() + 1 + radio.channels() + others, reach);
        let chains = |l: &Link| [false, true].map(|far| Chain::new(&l.middleboxes, far, seed, &l.name));
        let any = scenario.links.iter().any(|l| !l.middleboxes.is_empty());
        let boxes = if any { scenario.links.iter().flat_map(chains).collect() } else { Vec::new() };
        let codec = scenario.bytes.then(|| Box::new(Codec::new(scenario)));
        let mtus = too_long::limits(scenario);
        let hosts = Hosts::new(scenario);
        let plain = !any && codec.is_none() && radio.channels() == 0 && mtus.is_empty() && hosts.are_free();
        let mut network = Self {
            now: 0,
            event: Key::new(0, 0),
            slots,
            trace,
            flows,
            loads: Vec::new(),
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
            codec,
            bytes: scenario.bytes,
            mtus,
            hosts,
            plain,
        };
        network.look_ahead(scenario);
        for channel in 0..network.radio.channels() {
            // Beacons are sent from the beginning on, also where nobody has anything to send yet.
            network.schedule_channel(channel);
        }
        Some(network)
    }

    /// Lets links on which nothing will interfere with a packet make one event of it instead of two.
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
            // The capture of a link has each packet at the end of its transmission, so that has to be an event.
            self.links[2 * i].look_not_ahead();
            self.links[2 * i + 1].look_not_ahead();
        }
        self.taps = Some(Box::new(taps));
        self.codec.get_or_insert_with(|| Box::new(Codec::new(scenario)));
        self.plain = false;
    }

    /// Returns true if the trace or a capture could not be written.
    pub fn cannot_write(&self) -> bool {
        self.trace.has_failed() || self.taps.as_ref().is_some_and(|taps| taps.has_failed())
    }

    /// The first slot that is not the network's.
    pub fn first_other_slot(&self) -> usize {
        self.links.len() + 1 + self.radio.channels()
    }

    /// The event with this key begins. (A discipline may let a packet go before another that the link took earlier, so at one
    /// time keys may go back; the latest counts.)
    #[inline]
    pub fn begin(&mut self, key: Key) {
        self.now = key.at();
        // All that was caused so far and happens at this time has happened before a timer runs.
        let key = if key.is_last() { Key::new(key.at(), self.stamp) } else { key };
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

    /// Moves the slot of a host's timer.
    #[inline]
    pub fn schedule_timer(&mut self, slot: usize, at: u64) {
        self.slots.set(slot, Key::last(at));
    }

    /// A host sends what its connection gave out, on the 4-tuple `tuple` of `connection`; `port` as in [`Packet::port`].
    #[inline(always)]
    pub fn transmit(
        &mut self,
        o: &Outgoing,
        segment: &Segment,
        connection: usize,
        (tuple, port): (u32, u16),
        up: bool,
    ) {
        let id = self.pool.place();
        let packet = self.pool.get_mut(id);
        packet.fill(o, segment, connection, tuple, up);
        packet.port = port;
        if self.plain { self.depart_wired(id) } else { self.depart(id) }
    }

    /// A host sends a packet.
    pub fn send(&mut self, packet: Packet) {
        let id = self.pool.insert(packet);
        self.depart(id);
    }

    /// A packet leaves its host, on path `tuples[tuple].path`.
    fn depart(&mut self, id: PacketId) {
        self.work += 1;
        let packet = self.pool.get_mut(id);
        self.trace.segment(self.now, Kind::Send, packet, None);
        let flow = &mut self.flows[packet.connection as usize];
        let account = &mut flow.tuples[packet.tuple as usize];
        let transit = Self::leaving(account, &flow.paths, flow.up, id, packet);
        let first = self.routes[transit.next as usize - 1] as DirectionId;
        if self.plain {
            self.enqueue_wired(first, transit);
        } else if self.hosts.are_free() || !self.waits_to_leave(first, transit) {
            self.depart_noted(first, transit);
        }
    }

    /// A packet on `path` that comes to link number `packet.hop` of its route, or has just crossed it. `up`: data goes that way.
    #[inline]
    fn transit(path: &Path, up: bool, id: PacketId, packet: &Packet) -> Transit {
        Transit {
            arrives: NEVER,
            id,
            next: path.start[usize::from(!packet.up)] + u32::from(packet.hop) + 1,
            wire_len: packet.wire_len,
            hop: packet.hop,
            counted: if packet.up == up { path.slowest } else { Transit::NOWHERE },
            ect: packet.segment.ecn != Ecn::NotEct,
        }
    }

    /// Puts in a packet that a middlebox or the wire has made.
    fn admit(&mut self, packet: Packet) -> Transit {
        let id = self.pool.insert(packet);
        let flow = &self.flows[packet.connection as usize];
        Self::transit(&flow.paths[flow.tuples[packet.tuple as usize].path], flow.up, id, &packet)
    }

    /// A packet comes to the sending end of a link.
    #[inline]
    fn enter(&mut self, d: DirectionId, transit: Transit) {
        if self.plain {
            self.enqueue_wired(d, transit);
        } else if self.has_boxes(d) {
            self.meet(d, d, transit);
        } else {
            self.enqueue(d, transit);
        }
    }

    /// A packet enters a link behind the middleboxes: over the radio first, or over the wire.
    fn enqueue(&mut self, d: DirectionId, transit: Transit) {
        if self.radio.first(d) {
            self.transmit_by_radio(d, transit);
        } else {
            self.enqueue_wired(d, transit);
        }
    }

    /// The slot of a link follows its next event.
    #[inline]
    fn schedule_link(&mut self, d: DirectionId) {
        self.slots.set(d, self.links[d].next());
    }

    /// Drops the packets that the queue's discipline gave up.
    #[inline]
    fn drop_shed(&mut self, d: DirectionId) {
        while let Some(id) = self.links[d].shed() {
            self.drop_packet(id, Drop::Queue);
        }
    }

    #[cold]
    fn drop_packet(&mut self, id: PacketId, why: Drop) {
        let packet = *self.pool.get(id);
        self.pool.release(id);
        self.trace.segment(self.now, Kind::Drop, &packet, Some(why));
        let flow = &mut self.flows[packet.connection as usize];
        let account = &mut flow.tuples[packet.tuple as usize];
        account.in_network -= 1;
        match why {
            Drop::Queue | Drop::Age => account.queue_drops += 1,
            Drop::Mtu => account.mtu_drops += 1,
            _ => {}
        }
        if packet.up == flow.up && packet.segment.payload.len > 0 {
            let (len, copy) = (packet.segment.payload.len, packet.transmissions);
            packet.origins().for_each(|seq| match why {
                Drop::Mtu => account.fates.too_long(seq, len, copy),
                _ => account.fates.dropped(seq, copy),
            });
        }
    }

    /// Runs the event of a link's slot; a packet that has reached its host is handed out, to be released by the caller.
    #[inline]
    pub fn run(&mut self, slot: usize) -> Option<PacketId> {
        if slot == self.links.len() {
            self.on_held();
            return self.also_arrived.pop_front();
        }
        if slot > self.links.len() {
            return self.on_radio(slot - self.links.len() - 1);
        }
        let link = &mut self.links[slot];
        if self.plain && link.looks_ahead() {
            let transit = link.arrive_ahead();
            self.slots.set(slot, link.next());
            return self.leave(slot, transit);
        }
        if link.arrives() {
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
            self.pool.get_mut(next.id).mark();
        }
        self.drop_shed(d);
        if transit.hop == transit.counted && !self.radio.limits(d) {
            let packet = self.pool.get(id);
            self.flows[packet.connection as usize].tuples[packet.tuple as usize].wire += u64::from(octets);
        }
        if let (Some(taps), Some(codec)) = (&mut self.taps, &mut self.codec) {
            let packet = self.pool.get(id);
            let path = self.flows[packet.connection as usize].tuples[packet.tuple as usize].path;
            taps.on_transmitted(self.now, d, packet, path, codec);
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
                    self.duplicate(d, transit);
                }
            }
        }
        self.schedule_link(d);
    }

    /// A link makes two of a packet that has just left.
    fn duplicate(&mut self, d: DirectionId, transit: Transit) {
        let copy = Packet { hop: transit.hop, ..*self.pool.get(transit.id) };
        let flow = &mut self.flows[copy.connection as usize];
        let account = &mut flow.tuples[copy.tuple as usize];
        account.in_network += 1;
        if copy.up == flow.up && copy.segment.payload.len > 0 {
            copy.origins().for_each(|seq| account.fates.duplicated(seq, copy.transmissions));
        }
        let copy = Transit { arrives: self.key(0), ..self.admit(copy) };
        self.links[d].fly_copy(self.now, copy);
    }

    #[inline]
    fn on_arrival(&mut self, d: DirectionId) -> Option<PacketId> {
        let link = &mut self.links[d];
        let transit = link.arrive();
        self.slots.set(d, link.next());
        if self.plain {
            return self.leave(d, transit);
        }
        if self.is_too_long(d, &transit) {
            self.refuse(d, transit);
            return None;
        }
        if self.radio.last(d) {
            self.transmit_by_radio(d, transit);
            return None;
        }
        self.land(d, transit)
    }

    /// A packet has come to the far end of a link, where middleboxes may stand.
    fn land(&mut self, d: DirectionId, transit: Transit) -> Option<PacketId> {
        if self.has_boxes(d ^ 1) {
            self.meet(d ^ 1, d, transit);
            return self.also_arrived.pop_front();
        }
        self.leave(d, transit)
    }

    /// A packet leaves a link: for the next one, or it has reached its host and is handed out.
    #[inline(always)]
    fn leave(&mut self, d: DirectionId, mut transit: Transit) -> Option<PacketId> {
        let next = self.routes[transit.next as usize];
        if next != END {
            transit.next += 1;
            transit.hop += 1;
            self.enter(next as DirectionId, transit);
            return None;
        }
        if !self.plain && !self.hosts.are_free() && self.waits_to_arrive(d, transit) {
            return None;
        }
        self.arrived(d, transit.id)
    }

    /// A packet has come to its host over `d` and is handed out.
    #[inline(always)]
    fn arrived(&mut self, d: DirectionId, id: PacketId) -> Option<PacketId> {
        if !self.plain && self.codec.is_some() {
            self.arrive_noted(d, id);
        }
        let packet = self.pool.get(id);
        if packet.corrupted {
            self.drop_packet(id, Drop::Checksum);
            return None;
        }
        self.trace.segment(self.now, Kind::Arrive, packet, None);
        Some(id)
    }

    /// Ends trace and captures: the trace's hashes, and the first errors of writing either.
    pub fn finish(self) -> (Hashes, Option<std::io::Error>, Option<std::io::Error>) {
        let (hashes, error) = self.trace.finish();
        (hashes, error, self.taps.and_then(|taps| taps.finish().err()))
    }
}
