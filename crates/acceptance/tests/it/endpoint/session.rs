//! A connection between two endpoints whose drivers keep the octets, in the simulator's network.
//!
//! What a live host does with sockets, timers and interfaces, [`Side`] does with the simulator's
//! packets, slots and scheduled changes of paths. An application writes a number of octets and closes;
//! the other one reads, as fast as it is told to.

use std::net::{IpAddr, SocketAddr};

use anabranch_measures::account::{ConnectionAccount, SubflowAccount};
use anabranch_sim::scenario::{
    Application, Extent, PathAction, PathChange, PathManager as Word, Protocol, Scenario, Transfer,
};
use anabranch_sim::sim::app::NEVER;
use anabranch_sim::sim::codec::addresses;
use anabranch_sim::sim::network::Network;
use anabranch_sim::sim::packet::{CLIENT, Packet, PacketId, SERVER};
use anabranch_sim::sim::rng::derive;
use anabranch_sim::sim::session::{Session, Slot};
use anabranch_stack::config::Config;
use anabranch_stack::event::Event;
use anabranch_stack::host::path_manager::{
    Change, Local, Pair, PairManager, PathManager as _, handle_event, handle_local, open_subflows,
};
use anabranch_stack::host::{Addresses, ByReference, ConnectionId, Endpoint};
use anabranch_stack::path::Policy;
use anabranch_stack::registry::Need;
use anabranch_stack::scheduler::linux::BLOCK;
use anabranch_stack::segment::AddrId;
use anabranch_stack::time::Instant;

/// Segments that a host sends in one event.
const BURST: u32 = 4096;
/// How often a paced reader reads.
const READ_INTERVAL: u64 = 10_000_000;
/// The server's port, and the client's port of the first 4-tuple.
const PORT: u16 = 80;
const FIRST_PORT: u16 = 40_000;

/// A host with one connection.
#[derive(Debug)]
struct Side {
    endpoint: Endpoint<ByReference>,
    manager: PairManager,
    /// The connection, once the application knows of it.
    id: Option<ConnectionId>,
    end_of_stream: bool,
    closed: bool,
    /// Addresses of the subflows whose policy is set.
    known: Vec<Addresses>,
}

/// The application that sends.
#[derive(Debug)]
struct Writer {
    octets: u64,
    written: u64,
    closed: bool,
    /// Octets kept ready beyond what was sent, unless blocks are written.
    staging: u64,
    blocks: bool,
}

/// The application that reads.
#[derive(Debug)]
struct Reader {
    rate: Option<u64>,
    read: u64,
    since: Option<u64>,
    closed: bool,
}

/// A pair of interfaces.
#[derive(Debug)]
struct Path {
    /// The addresses of client and server.
    ends: [IpAddr; 2],
    /// The interfaces of client and server are there.
    present: [bool; 2],
    backup: bool,
    policy: Policy,
}

/// Both ends of a connection.
#[derive(Debug)]
pub struct EndpointSession {
    index: usize,
    slots: [usize; 3],
    config: Config,
    multipath: bool,
    sender: usize,
    sides: [Side; 2],
    writer: Writer,
    reader: Reader,
    account: ConnectionAccount,
    last_progress: u64,
    paths: Vec<Path>,
    /// Scheduled changes, the next one at the end.
    changes: Vec<PathChange>,
    /// Of each 4-tuple: the addresses as the client sees them, and the client's port as the server
    /// sees it.
    tuples: Vec<(Addresses, u16)>,
}

fn manager(word: Word, paths: &[Path], side: usize) -> PairManager {
    let pairs = paths.iter().enumerate().map(|(path, p)| Pair {
        local: AddrId { id: path as u8, addr: p.ends[side] },
        remote: p.ends[1 - side],
        remote_id: Some(path as u8),
    });
    let manager = match word {
        Word::OnePerInterface | Word::FullMesh => PairManager::one_per_interface(pairs),
        Word::None => PairManager::none(pairs),
    };
    paths.iter().enumerate().fold(manager, |m, (path, p)| m.with_backup(path, p.backup))
}

impl Writer {
    fn new(transfer: &Transfer, config: &Config) -> Self {
        let Application::Bulk(Extent::Bytes(octets)) = transfer.application else { panic!("no bulk transfer") };
        let needs = |need| config.scheduler.info().needs.contains(&need);
        let staging = if needs(Need::Backlog) { 1_000_000 } else { 10 * u64::from(config.mss) };
        Self { octets, written: 0, closed: false, staging, blocks: needs(Need::Blocks) }
    }
}

impl EndpointSession {
    /// The connection `index` of `scenario`.
    pub fn new(scenario: &Scenario, index: usize, _started: u64, slots: [usize; 3]) -> Self {
        let c = &scenario.connections[index];
        let multipath = c.protocol == Protocol::Mptcp;
        let config = c.config.clone().mptcp(multipath);
        let path = |(ends, path): ([IpAddr; 2], &Vec<usize>)| {
            let links = path.iter().map(|link| &scenario.links[*link]);
            let policy = links.clone().fold(Policy::default(), |sum, link| Policy {
                cost: sum.cost * link.policy.cost,
                weight: sum.weight * link.policy.weight,
                priority: sum.priority.saturating_add(link.policy.priority),
            });
            Path { ends, present: [true; 2], backup: links.clone().any(|link| link.backup), policy }
        };
        let paths: Vec<_> = addresses(scenario, c).into_iter().zip(&c.paths).map(path).collect();
        let side = |side: usize, name: &str| Side {
            endpoint: Endpoint::by_reference_in_virtual_time(derive(
                scenario.seed,
                &format!("endpoint {index} {name}"),
            )),
            manager: manager(c.path_manager, &paths, side),
            id: None,
            end_of_stream: false,
            closed: false,
            known: Vec::new(),
        };
        let mut sides = [side(CLIENT, "client"), side(SERVER, "server")];
        sides[SERVER].endpoint.listen(PORT, config.clone());
        Self {
            index,
            slots,
            multipath,
            sender: if c.transfer.up { CLIENT } else { SERVER },
            sides,
            writer: Writer::new(&c.transfer, &config),
            reader: Reader { rate: c.transfer.read_rate, read: 0, since: None, closed: false },
            config,
            account: ConnectionAccount::default(),
            last_progress: 0,
            paths,
            changes: c.path_changes.iter().rev().copied().collect(),
            tuples: Vec::new(),
        }
    }

    /// The addresses of a 4-tuple as `side` sees them.
    fn seen_from(&self, side: usize, tuple: usize) -> Addresses {
        let (client, port) = self.tuples[tuple];
        if side == CLIENT {
            return client;
        }
        Addresses { local: client.remote, remote: SocketAddr::new(client.local.ip(), port) }
    }

    /// Numbers the 4-tuples of subflows that the client has opened.
    fn number_tuples(&mut self, net: &mut Network) {
        let Some(id) = self.sides[CLIENT].id else { return };
        for subflow in 0.. {
            let Some(addresses) = self.sides[CLIENT].endpoint.addresses(id, subflow) else { return };
            if self.tuples.iter().any(|(known, _)| *known == addresses) {
                continue;
            }
            let ends = [addresses.local.ip(), addresses.remote.ip()];
            let path = self.paths.iter().position(|p| p.ends == ends).expect("subflows are on paths");
            net.flows[self.index].tuples.push(SubflowAccount { path, ..SubflowAccount::default() });
            self.tuples.push((addresses, addresses.local.port()));
        }
    }

    /// Gives subflows that a host has got the policies of their paths.
    fn set_policies(&mut self, side: usize) {
        let Side { endpoint, id: Some(id), known, .. } = &mut self.sides[side] else { return };
        for subflow in 0.. {
            let Some(addresses) = endpoint.addresses(*id, subflow) else { return };
            if known.get(subflow) == Some(&addresses) {
                continue;
            }
            known.truncate(subflow);
            known.push(addresses);
            let (near, far) = (addresses.local.ip(), addresses.remote.ip());
            let path = self.paths.iter().find(|p| (p.ends[side], p.ends[1 - side]) == (near, far));
            let policy = path.expect("subflows are on paths").policy;
            let _ = endpoint.configure(*id, |c| c.set_policy(subflow, policy));
        }
    }

    fn start(&mut self, net: &mut Network) {
        self.account.began = Some(net.now);
        self.last_progress = net.now;
        net.mark_start(self.index);
        let [local, remote] = self.paths[0].ends;
        let addresses = Addresses { local: (local, FIRST_PORT).into(), remote: (remote, PORT).into() };
        let opened = self.sides[CLIENT].endpoint.connect(Instant(net.now), addresses, self.config.clone());
        self.sides[CLIENT].id = Some(opened.expect("it is the only connection"));
        self.number_tuples(net);
        self.set_policies(CLIENT);
    }

    /// A host does something with its interface on a path.
    fn change_path(&mut self, now: Instant, change: PathChange) {
        let side = if change.client { CLIENT } else { SERVER };
        let path = &mut self.paths[change.path];
        match change.action {
            PathAction::Add => path.present[side] = true,
            PathAction::Remove => path.present[side] = false,
            PathAction::Backup => path.backup = true,
            PathAction::Regular => path.backup = false,
        }
        let local = Local {
            id: change.path as u8,
            addr: path.ends[side],
            port: None,
            signal: side == SERVER,
            subflow: true,
            backup: path.backup,
        };
        let Side { endpoint, manager, id: Some(id), .. } = &mut self.sides[side] else { return };
        let change = match change.action {
            PathAction::Add => Change::Added(local),
            PathAction::Remove => Change::Gone(local),
            PathAction::Backup | PathAction::Regular => Change::Priority(local),
        };
        if self.multipath {
            handle_local(manager, endpoint, now, *id, change);
        }
    }

    fn on_application(&mut self, net: &mut Network) {
        if self.account.began.is_none() {
            self.start(net);
        }
        while let Some(change) = self.changes.last().copied().filter(|c| c.at.0 <= net.now) {
            self.changes.pop();
            self.change_path(Instant(net.now), change);
        }
        for side in [CLIENT, SERVER] {
            self.serve(net, side, true);
        }
        self.wake_for_paths(net);
    }

    fn wake_for_paths(&self, net: &mut Network) {
        let join = self.sides[CLIENT].manager.poll_timeout(Instant(net.now)).map_or(NEVER, |at| at.0);
        let next = self.changes.last().map_or(NEVER, |c| c.at.0).min(join);
        if next < NEVER {
            self.wake(net, next);
        }
    }

    /// Lets a host react: events, application, segments, deadline.
    fn serve(&mut self, net: &mut Network, side: usize, woken: bool) {
        let mut room = BURST;
        self.take_events(net, side);
        if self.config.acknowledge_on_read && self.readable(side) > 0 {
            room -= self.transmit_all(net, side, room);
        }
        if woken || self.has_work(side) {
            self.run_application(net, side);
        }
        loop {
            let before = room;
            room -= self.transmit_all(net, side, room);
            if room == 0 {
                self.wake(net, net.now);
                break;
            }
            let blocks = side == self.sender && self.writer.blocks;
            if room == before && !blocks {
                break;
            }
            let all_sent = blocks || self.connection(side, |c| c.outbound().unsent()) == Some(0);
            if !(self.has_work(side) && self.run_application(net, side) && all_sent) {
                break;
            }
        }
        self.take_events(net, side);
        self.set_timer(net, side);
    }

    fn connection<R>(&self, side: usize, ask: impl FnOnce(&anabranch_stack::Connection) -> R) -> Option<R> {
        let side = &self.sides[side];
        side.endpoint.connection(side.id?).map(ask)
    }

    fn readable(&self, side: usize) -> u64 {
        self.connection(side, |c| c.inbound().readable()).unwrap_or(0)
    }

    fn has_work(&self, side: usize) -> bool {
        let Some(id) = self.sides[side].id else { return false };
        let Some(c) = self.sides[side].endpoint.connection(id) else { return false };
        let w = &self.writer;
        (side == CLIENT && self.sides[CLIENT].manager.wants())
            || c.inbound().readable() > 0
            || if side == self.sender {
                !w.closed && (w.blocks || c.outbound().unassigned() < w.staging)
            } else {
                self.sides[side].end_of_stream || self.reader.rate.is_some()
            }
    }

    /// Runs the application of a host; returns whether it wrote or read.
    fn run_application(&mut self, net: &mut Network, side: usize) -> bool {
        let now = Instant(net.now);
        let Side { endpoint, manager, id: Some(id), closed, .. } = &mut self.sides[side] else { return false };
        if side == CLIENT && manager.wants() && !*closed {
            let port = FIRST_PORT + self.tuples.len() as u16;
            open_subflows(manager, endpoint, now, *id, &mut |_, _, _| Some(port));
            self.number_tuples(net);
            self.set_policies(CLIENT);
        }
        if side == self.sender { self.write(net) } else { self.read(net, side) }
    }

    fn write(&mut self, net: &mut Network) -> bool {
        let (Side { endpoint, id: Some(id), .. }, w) = (&mut self.sides[self.sender], &mut self.writer) else {
            return false;
        };
        let Some(c) = endpoint.connection(*id).filter(|_| !w.closed) else { return false };
        let left = w.octets - w.written;
        let room =
            if w.blocks { BLOCK - w.written % BLOCK } else { w.staging.saturating_sub(c.outbound().unassigned()) };
        let octets = left.min(room);
        let octets = if octets > 0 { endpoint.write_count(*id, octets).unwrap_or(0) } else { 0 };
        w.written += octets;
        w.closed = octets == left;
        if w.closed {
            let _ = endpoint.shutdown_write(*id);
        }
        if w.closed || octets > 0 {
            net.on_write(self.index);
        }
        w.closed || octets > 0
    }

    fn read(&mut self, net: &mut Network, side: usize) -> bool {
        let now = net.now;
        let readable = self.readable(side);
        let Side { endpoint, id: Some(id), end_of_stream, .. } = &mut self.sides[side] else { return false };
        let r = &mut self.reader;
        let (mut wanted, mut wake) = (readable, NEVER);
        if let Some(rate) = r.rate.filter(|_| readable > 0) {
            let since = *r.since.get_or_insert(now);
            let due = (u128::from(now - since) * u128::from(rate) / 1_000_000_000) as u64;
            wanted = due.saturating_sub(r.read).min(readable);
            wake = now + READ_INTERVAL;
        }
        let octets = if wanted > 0 { endpoint.read_count(*id, wanted).unwrap_or(0) } else { 0 };
        let offset = r.read;
        r.read += octets;
        if *end_of_stream && octets == readable && !r.closed {
            let _ = endpoint.shutdown_write(*id);
            r.closed = true;
        }
        if octets > 0 {
            self.account.note_read(now, octets);
            net.note_read(octets);
            self.last_progress = now;
            net.trace.deliver(now, self.index as u32, side == SERVER, offset, octets);
        }
        if wake < NEVER {
            self.wake(net, wake);
        }
        octets > 0
    }

    fn take_events(&mut self, net: &mut Network, side: usize) {
        let now = Instant(net.now);
        let mut ended = false;
        while let Some((id, event)) = self.sides[side].endpoint.poll_event() {
            let s = &mut self.sides[side];
            s.id.get_or_insert(id);
            if self.multipath {
                handle_event(&mut s.manager, &mut s.endpoint, now, (id, side == CLIENT), &event);
            }
            match event {
                Event::Connected => {
                    self.last_progress = now.0;
                    if side == CLIENT && self.multipath && self.paths[0].backup {
                        // MP_CAPABLE has no flag B.
                        let _ = s.endpoint.set_backup(id, 0, true);
                    }
                }
                Event::EndOfStream => s.end_of_stream = true,
                Event::SubflowEnded(..) => ended = true,
                Event::Closed => s.closed = true,
                _ => {}
            }
        }
        self.set_policies(side);
        if ended && side == CLIENT {
            self.wake_for_paths(net);
        }
        if self.account.done.is_none() && self.sides.iter().all(|s| s.closed) {
            self.account.done = Some(now.0);
        }
    }

    fn transmit_all(&mut self, net: &mut Network, side: usize, room: u32) -> u32 {
        let mut sent = 0;
        while sent < room {
            let Some(reference) = self.sides[side].endpoint.poll_reference(Instant(net.now)) else { break };
            let place = |i: &usize| self.seen_from(side, *i) == reference.addresses;
            let tuple = (0..self.tuples.len()).rev().find(place).expect("segments belong to 4-tuples");
            let (client, seen) = self.tuples[tuple];
            let up = side == CLIENT;
            let packet = Packet::new(reference.segment, self.index, tuple as u32, up, reference.kind, 1);
            let port = if !up && seen != client.local.port() { seen } else { 0 };
            net.send(Packet { port, ..packet });
            sent += 1;
        }
        sent
    }

    /// Sees to it that a host is called at its deadline, unless it is called earlier anyway.
    fn set_timer(&self, net: &mut Network, side: usize) {
        let slot = self.slots[side];
        if let Some(at) = self.sides[side].endpoint.poll_timeout().filter(|at| at.0 < net.slots.at(slot)) {
            net.schedule_timer(slot, at.0.max(net.now));
        }
    }

    fn wake(&self, net: &mut Network, at: u64) {
        if at < net.slots.at(self.slots[2]) {
            net.schedule(self.slots[2], at.max(net.now));
        }
    }
}

impl Session for EndpointSession {
    fn on_packet(&mut self, net: &mut Network, id: PacketId) {
        let packet = *net.pool.get(id);
        let (tuple, side) = (packet.tuple as usize, usize::from(packet.up));
        let path = net.flows[self.index].tuples[tuple].path;
        if !self.paths[path].present[side] {
            return;
        }
        if side == SERVER && packet.port != 0 {
            self.tuples[tuple].1 = packet.port;
        }
        let addresses = self.seen_from(side, tuple);
        self.sides[side].endpoint.handle_segment(Instant(net.now), addresses, &packet.segment);
        self.serve(net, side, false);
    }

    fn on_slot(&mut self, net: &mut Network, slot: Slot) {
        let side = match slot {
            Slot::Applications => return self.on_application(net),
            Slot::ClientTimer => CLIENT,
            Slot::ServerTimer => SERVER,
        };
        let now = Instant(net.now);
        if self.sides[side].endpoint.poll_timeout().is_some_and(|at| at <= now) {
            self.sides[side].endpoint.handle_timeout(now);
            self.serve(net, side, false);
        } else {
            self.set_timer(net, side);
        }
    }

    fn account(&self) -> &ConnectionAccount {
        &self.account
    }

    fn account_mut(&mut self) -> &mut ConnectionAccount {
        &mut self.account
    }

    fn into_account(self: Box<Self>) -> ConnectionAccount {
        self.account
    }

    fn last_progress(&self) -> u64 {
        self.last_progress
    }

    fn stuck_since(&self) -> Option<u64> {
        None
    }
}
