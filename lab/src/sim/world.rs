//! A run: hosts with their connections and applications, over the network, until the transfers are done.

use std::net::{IpAddr, Ipv4Addr};
use std::ops::ControlFlow;

use anabranch_stack::config::Config;
use anabranch_stack::event::{ArrivalKind, Event, SendKind};
use anabranch_stack::mptcp::connection::reset_for;
use anabranch_stack::mptcp::keys::Entropy;
use anabranch_stack::segment::{AddrId, Flags, Mptcp, Payload, Segment};
use anabranch_stack::time::Instant;
use anabranch_stack::{Connection as Endpoint, Transmit};

use super::app::{self, Receiver, Sender, Source};
use super::network::Network;
use super::packet::{Packet, PacketId};
use super::rng::{Rng, derive};
use super::trace::{Sink, Trace};
use crate::metrics::account::{ConnectionAccount, SubflowAccount};
use crate::metrics::series::{Sample, Series};
use crate::scenario::{Change, LinkId, Protocol, Scenario};

const CLIENT: usize = 0;
const SERVER: usize = 1;

/// A join that failed is tried again after this.
const REJOIN_AFTER: u64 = 10_000_000_000;

/// How far a run is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Virtual time in nanoseconds.
    pub now: u64,
    /// Octets read so far by all receiving applications.
    pub read: u64,
    /// Octets to read in all, if every transfer has an end by octets.
    pub total: Option<u64>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Every transfer is over.
    Completed,
    /// The scenario's duration was reached.
    Duration,
    /// The caller stopped it.
    Stopped,
}

/// A finished run.
#[derive(Debug)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// Virtual time at the end, nanoseconds.
    pub now: u64,
    /// Events processed.
    pub events: u64,
    /// Accounts, one a connection.
    pub accounts: Vec<ConnectionAccount>,
    /// Time series.
    pub series: Series,
    /// Hash of the trace.
    pub trace_sha256: String,
    /// The first error of writing the trace, if any.
    pub trace_error: Option<std::io::Error>,
}

/// What drives the data of a connection.
#[derive(Debug)]
enum Traffic {
    Stream {
        sender: Sender,
        receiver: Receiver,
    },
    /// A constant-rate source, and the end of the foremost datagram that has arrived.
    Datagrams(Source, u64),
}

#[derive(Debug)]
struct Host {
    endpoint: Endpoint,
    /// 4-tuple of each subflow.
    tuples: Vec<u32>,
    end_of_stream: bool,
    closed: bool,
}

#[derive(Debug)]
struct Session {
    config: Config,
    protocol: Protocol,
    started: u64,
    hosts: [Option<Host>; 2],
    traffic: Traffic,
    /// Interface addresses of each path: client's and server's.
    addresses: Vec<[IpAddr; 2]>,
    /// Per path: a subflow is open or being opened.
    joined: Vec<bool>,
    /// Paths to join again: time and path.
    rejoin: Vec<(u64, usize)>,
    account: ConnectionAccount,
    last_progress: u64,
    /// Per path: what its slowest link could have carried before the first SYN, in bits.
    capacity_before: Vec<f64>,
    secrets: [[u8; 32]; 2],
}

/// The simulated world.
#[derive(Debug)]
pub struct World {
    net: Network,
    sessions: Vec<Session>,
    changes: Vec<(LinkId, Change)>,
    next_change: usize,
    series: Series,
    events: u64,
    open: usize,
    duration: u64,
    total: Option<u64>,
    read: u64,
}

// Slots after the links': one for changes, then three a session: client timer, server timer, application.
const SLOTS_PER_SESSION: usize = 3;
const APP: usize = 2;

impl World {
    /// Sets the scene. The scenario was validated.
    pub fn new(scenario: &Scenario, sink: Option<Sink>) -> Self {
        let n = scenario.connections.len();
        let mut net = Network::new(scenario, 1 + SLOTS_PER_SESSION * n, Trace::new(sink));
        let mut changes: Vec<_> = scenario
            .links
            .iter()
            .enumerate()
            .flat_map(|(link, l)| l.changes.iter().map(move |c| (link, c.clone())))
            .collect();
        changes.sort_by_key(|(_, c)| c.at);
        let sessions: Vec<_> = (0..n).map(|i| Session::new(scenario, i)).collect();
        if let Some((_, first)) = changes.first() {
            let slot = net.first_other_slot();
            net.schedule(slot, first.at.0);
        }
        for (i, s) in sessions.iter().enumerate() {
            let slot = net.first_other_slot() + 1 + SLOTS_PER_SESSION * i + APP;
            net.schedule(slot, s.started);
        }
        let totals: Option<Vec<u64>> = scenario.connections.iter().map(|c| Sender::total(&c.transfer)).collect();
        Self {
            net,
            open: n,
            sessions,
            changes,
            next_change: 0,
            series: Series::default(),
            events: 0,
            duration: scenario.duration.0,
            total: totals.map(|t| t.iter().sum()),
            read: 0,
        }
    }

    /// Runs to the end; `poll` is asked now and then whether to go on.
    pub fn run(mut self, poll: &mut dyn FnMut(&Progress) -> ControlFlow<()>) -> Outcome {
        let others = self.net.first_other_slot();
        let end = loop {
            if self.open == 0 {
                break End::Completed;
            }
            let (slot, key) = self.net.slots.first();
            if key.at() > self.duration {
                self.sample_until(self.duration);
                self.net.now = self.duration;
                break End::Duration;
            }
            if key.at() >= self.series.due() {
                self.sample_until(key.at());
            }
            self.net.now = key.at();
            self.events += 1;
            if self.events % 8192 == 0 {
                let progress = Progress { now: key.at(), read: self.read, total: self.total };
                if poll(&progress).is_break() {
                    break End::Stopped;
                }
            }
            if slot < others {
                if let Some(id) = self.net.run(slot) {
                    self.on_packet(id);
                    self.net.pool.release(id);
                }
            } else {
                self.on_host_event(slot, slot - others);
            }
        };
        self.finish(end)
    }

    fn on_host_event(&mut self, slot: usize, other: usize) {
        let Some(which) = other.checked_sub(1) else {
            let now = self.net.now;
            while let Some((link, change)) = self.changes.get(self.next_change).filter(|(_, c)| c.at.0 <= now) {
                self.net.change(*link, change);
                self.next_change += 1;
            }
            let next = self.changes.get(self.next_change).map_or(app::NEVER, |(_, c)| c.at.0);
            self.net.schedule(slot, next);
            return;
        };
        let (i, what) = (which / SLOTS_PER_SESSION, which % SLOTS_PER_SESSION);
        if what == APP {
            self.net.schedule(slot, app::NEVER);
            self.on_application(i);
        } else {
            self.net.schedule(slot, app::NEVER);
            let now = Instant(self.net.now);
            if let Some(host) = &mut self.sessions[i].hosts[what] {
                // The deadline may have moved since the slot was set.
                if host.endpoint.poll_timeout().is_some_and(|at| at <= now) {
                    host.endpoint.handle_timeout(now);
                    self.serve(i, what);
                } else {
                    self.set_timer(i, what);
                }
            }
        }
    }

    fn on_application(&mut self, i: usize) {
        let now = self.net.now;
        if self.sessions[i].protocol == Protocol::Udp {
            self.send_datagrams(i);
            return;
        }
        let s = &mut self.sessions[i];
        if s.hosts[CLIENT].is_none() && s.account.began.is_none() {
            s.account.began = Some(now);
            s.last_progress = now;
            let endpoint = Endpoint::connect(s.config.clone(), Entropy::new(s.secrets[CLIENT]));
            s.hosts[CLIENT] = Some(Host::new(endpoint));
            s.joined[0] = true;
            let tuple = self.open_tuple(i, 0);
            self.bind(i, CLIENT, tuple, 0);
        }
        for side in [CLIENT, SERVER] {
            if self.sessions[i].hosts[side].is_some() {
                self.serve(i, side);
            }
        }
    }

    fn open_tuple(&mut self, i: usize, path: usize) -> u32 {
        let s = &mut self.sessions[i];
        if s.capacity_before.is_empty() {
            s.capacity_before = (0..s.addresses.len()).map(|p| self.net.capacity_bits(i, p)).collect();
        }
        let tuples = &mut self.net.flows[i].tuples;
        tuples.push(SubflowAccount { path, ..SubflowAccount::default() });
        (tuples.len() - 1) as u32
    }

    fn bind(&mut self, i: usize, side: usize, tuple: u32, subflow: usize) {
        let host = self.sessions[i].hosts[side].as_mut().expect("only hosts that exist have subflows");
        debug_assert_eq!(host.tuples.len(), subflow);
        host.tuples.push(tuple);
        self.net.flows[i].tuples[tuple as usize].at[side] = Some(subflow);
    }

    /// The client opens a subflow on `path`, unless there is one.
    fn join(&mut self, i: usize, path: usize) {
        let s = &mut self.sessions[i];
        if s.joined[path] {
            return;
        }
        let Some(host) = &mut s.hosts[CLIENT] else { return };
        if let Some(subflow) = host.endpoint.open_subflow(path as u8) {
            s.joined[path] = true;
            let tuple = self.open_tuple(i, path);
            self.bind(i, CLIENT, tuple, subflow);
        }
    }

    // ---- segments ----------------------------------------------------------------------------------------------

    fn on_packet(&mut self, id: PacketId) {
        let packet = self.net.pool.get(id);
        let (i, tuple, up) = (packet.connection as usize, packet.tuple, packet.up);
        if self.sessions[i].protocol == Protocol::Udp {
            let payload = packet.segment.payload;
            self.on_datagram(i, up, payload);
            return;
        }
        let side = if up { SERVER } else { CLIENT };
        let Some(subflow) = self.net.flows[i].tuples[tuple as usize].at[side] else {
            let segment = packet.segment;
            match self.listen(i, side, tuple, &segment) {
                Some(subflow) => {
                    self.bind(i, side, tuple, subflow);
                    self.serve(i, side);
                }
                None => {
                    if let Some(reset) = reset_for(&segment) {
                        self.net.send(packet_of(reset, i, tuple, !up, SendKind::Control, 0));
                    }
                }
            }
            return;
        };
        let now = Instant(self.net.now);
        let host = self.sessions[i].hosts[side].as_mut().expect("its subflow is bound");
        host.endpoint.handle_segment(now, subflow, &packet.segment);
        if up != self.net.flows[i].up && packet.segment.flags.has(Flags::ACK) {
            let ack = packet.segment.ack;
            self.on_sender_input(i, side, tuple, subflow, ack);
        }
        self.serve(i, side);
    }

    /// The sender of the data heard from its peer: round-trip time and settled fates.
    fn on_sender_input(&mut self, i: usize, side: usize, tuple: u32, subflow: usize, ack: u32) {
        let host = self.sessions[i].hosts[side].as_ref().expect("it was just served");
        let sub = &host.endpoint.subflows()[subflow];
        let account = &mut self.net.flows[i].tuples[tuple as usize];
        if let Some(srtt) = sub.srtt() {
            account.srtt.set(self.net.now, srtt.as_secs_f64());
        }
        account.fates.settle(ack);
    }

    /// A segment for a 4-tuple that this host does not know: a new connection or a join.
    fn listen(&mut self, i: usize, side: usize, tuple: u32, seg: &Segment) -> Option<usize> {
        if side != SERVER || !seg.flags.has(Flags::SYN) || seg.flags.has(Flags::ACK) {
            return None;
        }
        let path = self.net.flows[i].tuples[tuple as usize].path;
        let s = &mut self.sessions[i];
        if let Mptcp::JoinSyn { token, .. } = seg.options.mptcp {
            // RFC 8684 3.2: the token names the connection.
            let host = s.hosts[SERVER].as_mut().filter(|h| h.endpoint.token() == Some(token))?;
            return host.endpoint.accept_join(seg, path as u8);
        }
        if s.hosts[SERVER].is_some() {
            return None;
        }
        let mut endpoint = Endpoint::accept(s.config.clone(), Entropy::new(s.secrets[SERVER]), seg);
        if s.protocol == Protocol::Mptcp {
            // Addresses of ours that the client has not seen (RFC 8684 3.4.1).
            let mut known = vec![s.addresses[0][SERVER]];
            for (path, pair) in s.addresses.iter().enumerate() {
                if !known.contains(&pair[SERVER]) {
                    known.push(pair[SERVER]);
                    endpoint.advertise(AddrId { id: path as u8, addr: pair[SERVER] });
                }
            }
        }
        s.hosts[SERVER] = Some(Host::new(endpoint));
        Some(0)
    }

    /// Lets a host react to what it was told: events, applications, segments, deadline.
    fn serve(&mut self, i: usize, side: usize) {
        let now = Instant(self.net.now);
        self.take_events(i, side);
        self.run_application(i, side);
        loop {
            let mut sent = false;
            while let Some(t) = self.sessions[i].hosts[side].as_mut().and_then(|h| h.endpoint.poll_transmit(now)) {
                self.transmit(i, side, &t);
                sent = true;
            }
            if !sent {
                break;
            }
            // The application refills what was sent. If not all of it was, more would have to wait, too.
            let all_sent = self.sessions[i].hosts[side].as_ref().is_some_and(|h| h.endpoint.unsent() == 0);
            if !(self.run_application(i, side) && all_sent) {
                break;
            }
        }
        self.take_events(i, side);
        self.set_timer(i, side);
    }

    /// Sees to it that a host is called at its deadline. A deadline that moved later (as a retransmission timer does with
    /// each acknowledgement) leaves the slot alone: the call then comes early and finds nothing due.
    fn set_timer(&mut self, i: usize, side: usize) {
        let host = self.sessions[i].hosts[side].as_ref().expect("only hosts that exist have timers");
        let deadline = host.endpoint.poll_timeout().map_or(app::NEVER, |at| at.0.max(self.net.now));
        let slot = self.net.first_other_slot() + 1 + SLOTS_PER_SESSION * i + side;
        if deadline < self.net.slots.get(slot).at() {
            self.net.schedule(slot, deadline);
        }
    }

    fn transmit(&mut self, i: usize, side: usize, t: &Transmit) {
        let host = self.sessions[i].hosts[side].as_ref().expect("it just transmitted");
        let tuple = host.tuples[t.subflow];
        let up = side == CLIENT;
        if t.segment.payload.len > 0 && up == self.net.flows[i].up {
            let account = &mut self.net.flows[i].tuples[tuple as usize];
            account.segments += 1;
            match t.kind {
                SendKind::Fast => account.fast += 1,
                SendKind::Timeout => account.timeout += 1,
                _ => {}
            }
            if t.transmissions > 1 {
                account.fates.retransmitted(t.segment.seq, t.transmissions);
            }
        }
        self.net.send(packet_of(t.segment, i, tuple, up, t.kind, t.transmissions));
    }

    fn take_events(&mut self, i: usize, side: usize) {
        let now = self.net.now;
        let sends_data = (side == CLIENT) == self.net.flows[i].up;
        while let Some(event) = self.sessions[i].hosts[side].as_mut().and_then(|host| host.endpoint.poll_event()) {
            match event {
                Event::Connected => {
                    self.sessions[i].last_progress = now;
                    if side == CLIENT {
                        self.join_known(i);
                    }
                }
                Event::RemoteAddress { addr, .. } if side == CLIENT => {
                    let s = &self.sessions[i];
                    let paths: Vec<usize> =
                        (1..s.addresses.len()).filter(|&p| s.addresses[p][SERVER] == addr).collect();
                    self.sessions[i].rejoin.extend(paths.into_iter().map(|path| (now, path)));
                }
                Event::SubflowEstablished(subflow) if sends_data => {
                    let host = self.sessions[i].hosts[side].as_ref().expect("it has events");
                    let sub = &host.endpoint.subflows()[subflow];
                    let account = &mut self.net.flows[i].tuples[host.tuples[subflow] as usize];
                    account.cwnd.set(now, sub.cwnd() / f64::from(sub.mss()));
                }
                Event::SubflowEnded(subflow, _) if side == CLIENT => {
                    let host = self.sessions[i].hosts[side].as_ref().expect("it has events");
                    let path = self.net.flows[i].tuples[host.tuples[subflow] as usize].path;
                    let s = &mut self.sessions[i];
                    s.joined[path] = false;
                    if path != 0 && !s.hosts[side].as_ref().is_some_and(|h| h.closed) {
                        s.rejoin.push((now + REJOIN_AFTER, path));
                        let slot = self.net.first_other_slot() + 1 + SLOTS_PER_SESSION * i + APP;
                        let at = self.net.slots.get(slot).at().min(now + REJOIN_AFTER);
                        self.net.schedule(slot, at);
                    }
                }
                Event::Arrived { subflow, fresh, kind, intact, .. } if !sends_data => {
                    self.on_arrived(i, side, subflow, fresh, kind, intact);
                }
                Event::Window { subflow, cwnd, ssthresh } if sends_data => {
                    let host = self.sessions[i].hosts[side].as_ref().expect("it has events");
                    let tuple = host.tuples[subflow];
                    let mss = f64::from(host.endpoint.subflows()[subflow].mss());
                    self.net.flows[i].tuples[tuple as usize].cwnd.set(now, cwnd / mss);
                    self.net.trace.window(now, i as u32, tuple, side == CLIENT, cwnd, ssthresh);
                }
                Event::EndOfStream => {
                    self.sessions[i].hosts[side].as_mut().expect("it has events").end_of_stream = true;
                }
                Event::Closed => {
                    let s = &mut self.sessions[i];
                    s.hosts[side].as_mut().expect("it has events").closed = true;
                    let closed = |side: usize| s.hosts[side].as_ref().is_some_and(|h| h.closed);
                    if closed(CLIENT) && closed(SERVER) && s.account.done.is_none() {
                        self.complete(i);
                    }
                }
                _ => {}
            }
        }
    }

    /// Joins over paths that lead to an address the client knows already.
    fn join_known(&mut self, i: usize) {
        if self.sessions[i].protocol != Protocol::Mptcp {
            return;
        }
        let s = &self.sessions[i];
        let known = s.addresses[0][SERVER];
        let paths: Vec<usize> = (1..s.addresses.len()).filter(|&p| s.addresses[p][SERVER] == known).collect();
        let s = &mut self.sessions[i];
        // Joining needs the peer's confirmation of the keys, one round trip from now: tried again until then.
        s.rejoin.extend(paths.into_iter().map(|p| (0, p)));
    }

    fn on_arrived(&mut self, i: usize, side: usize, subflow: usize, fresh: u32, kind: ArrivalKind, intact: bool) {
        let host = self.sessions[i].hosts[side].as_ref().expect("it has events");
        let (packets, octets) = host.endpoint.held();
        self.net.flows[i].tuples[host.tuples[subflow] as usize].fresh += u64::from(fresh);
        let account = &mut self.sessions[i].account;
        account.damaged |= !intact;
        account.held_packets = account.held_packets.max(packets);
        account.held_octets = account.held_octets.max(octets);
        if fresh > 0 {
            account.distinct += 1;
            account.out_of_order += u64::from(matches!(kind, ArrivalKind::AheadInData | ArrivalKind::HeldInSubflow));
        }
    }

    fn run_application(&mut self, i: usize, side: usize) -> bool {
        let now = self.net.now;
        let sends_data = (side == CLIENT) == self.net.flows[i].up;
        if side == CLIENT && self.sessions[i].rejoin.iter().any(|(at, _)| *at <= now) {
            self.retry_joins(i);
        }
        let s = &mut self.sessions[i];
        let Some(host) = &mut s.hosts[side] else { return false };
        let Traffic::Stream { sender, receiver } = &mut s.traffic else { return false };
        let slot = self.net.first_other_slot() + 1 + SLOTS_PER_SESSION * i + APP;
        let (busy, wake) = if sends_data {
            let asked = host.endpoint.readable();
            if asked > 0 {
                sender.on_read(host.endpoint.read(asked));
            }
            let (wrote, wake) = sender.run(now, &mut host.endpoint);
            (wrote, wake)
        } else {
            let offset = receiver.read;
            let (octets, wake) = receiver.run(now, host.end_of_stream, &mut host.endpoint);
            if octets > 0 {
                s.account.first_read.get_or_insert(now);
                s.account.last_read = Some(now);
                s.account.read += octets;
                s.last_progress = now;
                self.read += octets;
                self.net.trace.deliver(now, i as u32, side == SERVER, offset, octets);
            }
            (octets > 0, wake)
        };
        if busy && sends_data {
            self.net.on_write(i);
        }
        if wake < self.net.slots.get(slot).at() {
            self.net.schedule(slot, wake.max(now));
        }
        busy
    }

    fn retry_joins(&mut self, i: usize) {
        let now = self.net.now;
        let due: Vec<usize> =
            self.sessions[i].rejoin.iter().filter(|(at, _)| *at <= now).map(|(_, path)| *path).collect();
        for path in due {
            self.join(i, path);
            let s = &mut self.sessions[i];
            if s.joined[path] {
                s.rejoin.retain(|(_, p)| *p != path);
            }
        }
    }

    // ---- datagrams ---------------------------------------------------------------------------------------------

    fn send_datagrams(&mut self, i: usize) {
        let now = self.net.now;
        if self.net.flows[i].tuples.is_empty() {
            self.open_tuple(i, 0);
            let s = &mut self.sessions[i];
            s.account.began = Some(now);
            s.last_progress = now;
        }
        let slot = self.net.first_other_slot() + 1 + SLOTS_PER_SESSION * i + APP;
        let up = self.net.flows[i].up;
        loop {
            let Traffic::Datagrams(source, _) = &mut self.sessions[i].traffic else { return };
            let (datagram, next) = source.run(now);
            if let Some((offset, len)) = datagram {
                let segment = Segment { payload: Payload { offset, len }, ..Segment::default() };
                let mut packet = packet_of(segment, i, 0, up, SendKind::New, 1);
                // 20 octets of IPv4 header, 8 of UDP header.
                packet.wire_len = 28 + len;
                self.net.flows[i].tuples[0].segments += 1;
                self.net.send(packet);
            }
            if next > now {
                self.net.schedule(slot, next);
                if next == app::NEVER {
                    self.sessions[i].hosts = [None, None];
                    self.finish_datagrams(i);
                }
                return;
            }
        }
    }

    fn on_datagram(&mut self, i: usize, up: bool, payload: Payload) {
        let now = self.net.now;
        let s = &mut self.sessions[i];
        let Traffic::Datagrams(_, foremost) = &mut s.traffic else { return };
        let octets = u64::from(payload.len);
        s.account.first_read.get_or_insert(now);
        s.account.last_read = Some(now);
        s.account.read += octets;
        s.account.distinct += 1;
        s.account.out_of_order += u64::from(payload.offset < *foremost);
        *foremost = (*foremost).max(payload.offset + octets);
        s.last_progress = now;
        self.read += octets;
        self.net.flows[i].tuples[0].fresh += octets;
        self.net.trace.deliver(now, i as u32, up, payload.offset, octets);
        self.finish_datagrams(i);
    }

    /// A constant-rate flow is over when its source is and nothing of it is under way.
    fn finish_datagrams(&mut self, i: usize) {
        let now = self.net.now;
        let Traffic::Datagrams(source, _) = &mut self.sessions[i].traffic else { return };
        let over = source.clone().run(now).1 == app::NEVER;
        if over && self.net.flows[i].tuples[0].in_network == 0 && self.sessions[i].account.done.is_none() {
            self.complete(i);
        }
    }

    // ---- the end -----------------------------------------------------------------------------------------------

    fn complete(&mut self, i: usize) {
        self.sessions[i].account.done = Some(self.net.now);
        self.open -= 1;
        self.close_account(i);
    }

    /// Ends the accounts of a connection: what is true at the end of its transfer.
    fn close_account(&mut self, i: usize) {
        let now = self.net.now;
        let s = &mut self.sessions[i];
        let sender = if self.net.flows[i].up { CLIENT } else { SERVER };
        let mut subflows = self.net.flows[i].tuples.clone();
        for t in &mut subflows {
            if let (Some(sub), Some(host)) = (t.at[sender], &s.hosts[sender]) {
                t.undone = host.endpoint.subflows()[sub].undone();
            }
            t.capacity = self.net.capacity_bits(i, t.path) - s.capacity_before[t.path];
        }
        s.account.subflows = subflows;
        s.account.ended = now;
    }

    fn sample_until(&mut self, until: u64) {
        let Self { series, sessions, net, .. } = self;
        while series.due() <= until {
            series.take(|at, out| {
                for (i, s) in sessions.iter().enumerate() {
                    if s.account.done.is_none() {
                        s.sample(at, i as u32, net.flows[i].up, &net.flows[i].tuples, out);
                    }
                }
            });
        }
    }

    fn finish(mut self, end: End) -> Outcome {
        let now = self.net.now;
        for i in 0..self.sessions.len() {
            if self.sessions[i].account.done.is_some() {
                continue;
            }
            self.close_account(i);
            let sender = if self.net.flows[i].up { CLIENT } else { SERVER };
            let s = &mut self.sessions[i];
            if let (Some(began), true) = (s.account.began, s.is_stuck(sender)) {
                // Nothing for ten seconds, or for half of a run that is shorter than twenty.
                let quiet = now - s.last_progress;
                if quiet >= 10_000_000_000_u64.min((now - began) / 2).max(1) {
                    s.account.stalled_since = Some(s.last_progress);
                }
            }
        }
        let Self { net, sessions, series, events, .. } = self;
        let accounts = sessions.into_iter().map(|s| s.account).collect();
        let (trace_sha256, trace_error) = net.trace.finish();
        Outcome { end, now, events, accounts, series, trace_sha256, trace_error }
    }
}

fn packet_of(segment: Segment, i: usize, tuple: u32, up: bool, kind: SendKind, transmissions: u8) -> Packet {
    let wire_len = segment.wire_len();
    Packet { segment, connection: i as u32, tuple, wire_len, up, hop: 0, transmissions, corrupted: false, kind }
}

impl Host {
    fn new(endpoint: Endpoint) -> Self {
        Self { endpoint, tuples: Vec::new(), end_of_stream: false, closed: false }
    }
}

impl Session {
    fn new(scenario: &Scenario, i: usize) -> Self {
        let c = &scenario.connections[i];
        let mut rng = Rng::new(scenario.seed, &format!("connection {} start", c.name));
        let spread = (rng.uniform() * c.transfer.start_spread.0 as f64) as u64;
        let started = c.transfer.start.0 + spread;
        let mut config = c.config.clone();
        config.mptcp = c.protocol == Protocol::Mptcp;
        let traffic = match Source::new(&c.transfer, config.mss, started) {
            Some(source) if c.protocol == Protocol::Udp => Traffic::Datagrams(source, 0),
            _ => Traffic::Stream {
                sender: Sender::new(&c.transfer, config.mss, started),
                receiver: Receiver::new(&c.transfer, started),
            },
        };
        let secret = |side: &str| derive(scenario.seed, &format!("connection {} {side}", c.name));
        // An interface is a host's end of a link: 10.0.0.0/8, link number and side.
        let address = |link: usize, side: usize| {
            let [_, _, high, low] = (link as u32).to_be_bytes();
            IpAddr::V4(Ipv4Addr::new(10, high, low, 1 + side as u8))
        };
        let addresses: Vec<_> = c
            .paths
            .iter()
            .map(|p| {
                let (first, last) = (p[0], p[p.len() - 1]);
                [address(first, CLIENT), address(last, SERVER)]
            })
            .collect();
        Self {
            config,
            protocol: c.protocol,
            started,
            hosts: [None, None],
            traffic,
            joined: vec![false; c.paths.len()],
            addresses,
            rejoin: Vec::new(),
            account: ConnectionAccount::default(),
            last_progress: 0,
            capacity_before: Vec::new(),
            secrets: [secret("client"), secret("server")],
        }
    }

    /// It has something to do and cannot, as opposed to an application that rests.
    fn is_stuck(&self, sender: usize) -> bool {
        match (&self.traffic, &self.hosts[sender]) {
            (Traffic::Datagrams(..), _) => true,
            (_, None) => true,
            (_, Some(host)) => {
                host.endpoint.unacknowledged() > 0 || self.account.read == 0 || host.endpoint.subflows().is_empty()
            }
        }
    }

    fn sample(&self, at: u64, i: u32, up: bool, tuples: &[SubflowAccount], out: &mut Vec<Sample>) {
        let (sender, receiver) = if up { (CLIENT, SERVER) } else { (SERVER, CLIENT) };
        let Some(host) = &self.hosts[sender] else { return };
        for (sub, &tuple) in host.endpoint.subflows().iter().zip(&host.tuples) {
            let account = &tuples[tuple as usize];
            let held = match (account.at[receiver], &self.hosts[receiver]) {
                (Some(sub), Some(host)) => host.endpoint.held_by(sub),
                _ => (0, 0),
            };
            out.push(Sample {
                at,
                connection: i,
                subflow: tuple,
                cwnd: sub.cwnd(),
                ssthresh: sub.ssthresh(),
                srtt: sub.srtt().map_or(f64::NAN, |d| d.as_secs_f64()),
                rto: sub.rto().as_secs_f64(),
                in_flight: sub.octets_in_flight(),
                delivered: account.fresh,
                ooo_buffer: held.0,
                ooo_buffer_bytes: held.1,
            });
        }
    }
}
