//! A TCP or MPTCP connection in the simulator: two hosts, their applications, and the paths between them.

use std::net::{IpAddr, Ipv4Addr};

use anabranch_stack::config::Config;
use anabranch_stack::controller::Cause;
use anabranch_stack::event::{ArrivalKind, Event, Limit, SendKind};
use anabranch_stack::mptcp::connection::reset_for;
use anabranch_stack::mptcp::keys::Entropy;
use anabranch_stack::segment::{AddrId, Flags, Mptcp, Segment};
use anabranch_stack::time::Instant;
use anabranch_stack::{Connection as Endpoint, Transmit};

use super::app::{self, Receiver, Sender};
use super::network::Network;
use super::packet::{Packet, PacketId};
use super::rng::derive;
use crate::metrics::account::{ConnectionAccount, SubflowAccount, Wait};
use crate::metrics::series::Sample;
use crate::scenario::{Protocol, Scenario, Transfer};

/// Index of the client among the two hosts.
pub const CLIENT: usize = 0;
/// Index of the server.
pub const SERVER: usize = 1;

/// A join that failed is tried again after this.
const REJOIN_AFTER: u64 = 10_000_000_000;

#[derive(Debug)]
enum App {
    Sender(Sender),
    Receiver(Receiver),
}

#[derive(Debug)]
struct Host {
    endpoint: Endpoint,
    app: App,
    /// 4-tuple of each subflow.
    tuples: Vec<u32>,
    end_of_stream: bool,
    closed: bool,
}

/// One connection.
#[derive(Debug)]
pub struct Stream {
    pub(super) account: ConnectionAccount,
    pub(super) last_progress: u64,
    index: usize,
    config: Config,
    multipath: bool,
    transfer: Transfer,
    started: u64,
    hosts: [Option<Host>; 2],
    /// The receiving application has read the last octet: means over the transfer end here.
    read_all: bool,
    /// Interface addresses of each path: client's and server's.
    addresses: Vec<[IpAddr; 2]>,
    /// Per path: a subflow is open or being opened.
    joined: Vec<bool>,
    /// Paths to join: not before this time.
    wanted: Vec<(u64, usize)>,
    secrets: [[u8; 32]; 2],
    /// Slots of the client's timer, the server's, and the applications.
    slots: [usize; 3],
}

impl Stream {
    /// The connection `index` of `scenario`, to start at `started`.
    pub fn new(scenario: &Scenario, index: usize, started: u64, slots: [usize; 3]) -> Self {
        let c = &scenario.connections[index];
        let multipath = c.protocol == Protocol::Mptcp;
        let mut config = c.config.clone();
        config.mptcp = multipath;
        let secret = |side: &str| derive(scenario.seed, &format!("connection {} {side}", c.name));
        // An interface is a host's end of a link: 10.0.0.0/8, number of the link, side.
        let address = |link: usize, side: usize| {
            let [_, _, high, low] = (link as u32).to_be_bytes();
            IpAddr::V4(Ipv4Addr::new(10, high, low, 1 + side as u8))
        };
        let ends = |p: &Vec<usize>| [address(p[0], CLIENT), address(p[p.len() - 1], SERVER)];
        Self {
            account: ConnectionAccount::default(),
            last_progress: 0,
            index,
            config,
            multipath,
            transfer: c.transfer.clone(),
            started,
            hosts: [None, None],
            read_all: false,
            joined: vec![false; c.paths.len()],
            addresses: c.paths.iter().map(ends).collect(),
            wanted: Vec::new(),
            secrets: [secret("client"), secret("server")],
            slots,
        }
    }

    /// Which host sends the data.
    fn sender(&self) -> usize {
        if self.transfer.up { CLIENT } else { SERVER }
    }

    fn host(&mut self, side: usize, endpoint: Endpoint) -> Host {
        let app = if side == self.sender() {
            App::Sender(Sender::new(&self.transfer, self.config.mss, self.started))
        } else {
            App::Receiver(Receiver::new(&self.transfer, self.started))
        };
        Host { endpoint, app, tuples: Vec::new(), end_of_stream: false, closed: false }
    }

    // ---- what the world calls ----------------------------------------------------------------------------------

    /// The applications' slot is due: the start, or something an application waits for.
    pub fn on_application(&mut self, net: &mut Network) {
        if self.account.began.is_none() {
            self.account.began = Some(net.now);
            self.last_progress = net.now;
            net.mark_start(self.index);
            let endpoint = Endpoint::connect(self.config.clone(), Entropy::new(self.secrets[CLIENT]));
            self.hosts[CLIENT] = Some(self.host(CLIENT, endpoint));
            self.joined[0] = true;
            let tuple = self.open_tuple(net, 0);
            self.bind(net, CLIENT, tuple, 0);
        }
        for side in [CLIENT, SERVER] {
            if self.hosts[side].is_some() {
                self.serve(net, side);
            }
        }
    }

    /// A host's timer slot is due.
    pub fn on_timer(&mut self, net: &mut Network, side: usize) {
        let now = Instant(net.now);
        let Some(host) = &mut self.hosts[side] else { return };
        // The deadline may have moved since the slot was set.
        if host.endpoint.poll_timeout().is_some_and(|at| at <= now) {
            host.endpoint.handle_timeout(now);
            self.serve(net, side);
        } else {
            self.set_timer(net, side);
        }
    }

    /// A packet arrives at its host.
    pub fn on_packet(&mut self, net: &mut Network, id: PacketId) {
        let packet = net.pool.get(id);
        let (tuple, up) = (packet.tuple, packet.up);
        let side = if up { SERVER } else { CLIENT };
        let (true, Some(subflow)) = (self.hosts[side].is_some(), net.flows[self.index].tuples[tuple as usize].at[side])
        else {
            let segment = packet.segment;
            self.on_stranger(net, side, tuple, &segment);
            return;
        };
        let host = self.hosts[side].as_mut().expect("looked");
        host.endpoint.handle_segment(Instant(net.now), subflow, &packet.segment);
        if up != self.transfer.up && packet.segment.flags.has(Flags::ACK) {
            // The sender of the data heard from its peer: its round-trip time, and which fates are settled.
            let account = &mut net.flows[self.index].tuples[tuple as usize];
            if let (Some(srtt), false) = (host.endpoint.subflows()[subflow].srtt(), self.read_all) {
                account.srtt.set(net.now, srtt.as_secs_f64());
            }
            account.fates.settle(packet.segment.ack, &mut account.episodes);
        }
        self.serve(net, side);
    }

    /// A segment for a 4-tuple that this host does not know: a new connection, a join, or a mistake.
    fn on_stranger(&mut self, net: &mut Network, side: usize, tuple: u32, segment: &Segment) {
        match self.listen(net, side, tuple, segment) {
            Some(subflow) => {
                self.bind(net, side, tuple, subflow);
                self.serve(net, side);
            }
            None => {
                if let Some(reset) = reset_for(segment) {
                    net.send(Packet::new(reset, self.index, tuple, side == CLIENT, SendKind::Control, 0));
                }
            }
        }
    }

    fn listen(&mut self, net: &Network, side: usize, tuple: u32, segment: &Segment) -> Option<usize> {
        if side != SERVER || !segment.flags.has(Flags::SYN) || segment.flags.has(Flags::ACK) {
            return None;
        }
        let path = net.flows[self.index].tuples[tuple as usize].path;
        if let Mptcp::JoinSyn { token, .. } = segment.options.mptcp {
            // RFC 8684 3.2: the token names the connection.
            let host = self.hosts[SERVER].as_mut().filter(|h| h.endpoint.token() == Some(token))?;
            return host.endpoint.accept_join(segment, path as u8);
        }
        if self.hosts[SERVER].is_some() {
            return None;
        }
        let mut endpoint = Endpoint::accept(self.config.clone(), Entropy::new(self.secrets[SERVER]), segment);
        if self.multipath {
            // Addresses of ours that the client has not seen (RFC 8684 3.4.1).
            let mut known = vec![self.addresses[0][SERVER]];
            for (path, pair) in self.addresses.iter().enumerate() {
                if !known.contains(&pair[SERVER]) {
                    known.push(pair[SERVER]);
                    endpoint.advertise(AddrId { id: path as u8, addr: pair[SERVER] });
                }
            }
        }
        self.hosts[SERVER] = Some(self.host(SERVER, endpoint));
        Some(0)
    }

    /// Lets a host react to what it was told: events, application, segments, deadline.
    fn serve(&mut self, net: &mut Network, side: usize) {
        let now = Instant(net.now);
        self.take_events(net, side);
        self.run_application(net, side);
        loop {
            let host = self.hosts[side].as_mut().expect("only hosts that exist are served");
            let mut sent = false;
            while let Some(t) = host.endpoint.poll_transmit(now) {
                transmit(net, self.index, side, host.tuples[t.subflow], &t);
                sent = true;
            }
            if !sent {
                break;
            }
            // The application refills what was sent. If not all of it was, more would have to wait, too.
            let all_sent = host.endpoint.unsent() == 0;
            if !(self.run_application(net, side) && all_sent) {
                break;
            }
        }
        self.take_events(net, side);
        if side == self.sender() {
            self.note_limit(net.now);
        }
        self.set_timer(net, side);
    }

    /// What the sender of the data waits for now. A closed window is the receiver's reordering, if it holds anything.
    fn note_limit(&mut self, now: u64) {
        let sender = self.sender();
        if let (Some(host), None) = (&self.hosts[sender], self.account.done) {
            if host.endpoint.subflows()[0].srtt().is_some() {
                let holds = || self.hosts[1 - sender].as_ref().is_some_and(|h| h.endpoint.held().0 > 0);
                let wait = match host.endpoint.limit() {
                    Limit::Application => Wait::Application,
                    Limit::Cwnd => Wait::Cwnd,
                    Limit::ReceiveWindow if holds() => Wait::HeadOfLine,
                    Limit::ReceiveWindow => Wait::ReceiveWindow,
                    Limit::Scheduler => Wait::Scheduler,
                };
                self.account.limits.set(now, wait);
            }
        }
    }

    /// Sees to it that a host is called at its deadline. A deadline that moved later (as a retransmission timer does with
    /// each acknowledgement) leaves the slot alone: the call then comes early and finds nothing due.
    fn set_timer(&mut self, net: &mut Network, side: usize) {
        let host = self.hosts[side].as_ref().expect("only hosts that exist have timers");
        if let Some(deadline) = host.endpoint.poll_timeout() {
            let at = deadline.0.max(net.now);
            if at < net.slots.get(self.slots[side]).at() {
                net.schedule(self.slots[side], at);
            }
        }
    }

    /// Moves the applications' slot to `at` if that is earlier.
    fn wake(&self, net: &mut Network, at: u64) {
        let slot = self.slots[2];
        if at < net.slots.get(slot).at() {
            net.schedule(slot, at.max(net.now));
        }
    }

    // ---- paths -------------------------------------------------------------------------------------------------

    fn open_tuple(&mut self, net: &mut Network, path: usize) -> u32 {
        let tuples = &mut net.flows[self.index].tuples;
        tuples.push(SubflowAccount { path, ..SubflowAccount::default() });
        (tuples.len() - 1) as u32
    }

    fn bind(&mut self, net: &mut Network, side: usize, tuple: u32, subflow: usize) {
        let host = self.hosts[side].as_mut().expect("only hosts that exist have subflows");
        debug_assert_eq!(host.tuples.len(), subflow);
        host.tuples.push(tuple);
        net.flows[self.index].tuples[tuple as usize].at[side] = Some(subflow);
    }

    /// The client wants subflows on all paths that lead to `server`.
    fn want(&mut self, server: IpAddr) {
        let leads = |p: &usize| self.addresses[*p][SERVER] == server && !self.joined[*p];
        let paths: Vec<usize> = (1..self.addresses.len()).filter(leads).collect();
        self.wanted.extend(paths.into_iter().map(|p| (0, p)));
    }

    /// Joins the paths whose time has come. Before the peer has confirmed the connection's keys none can be: then they
    /// stay wanted.
    fn join(&mut self, net: &mut Network) {
        let now = net.now;
        let mut k = 0;
        while k < self.wanted.len() {
            let (at, path) = self.wanted[k];
            let Some(host) = self.hosts[CLIENT].as_mut().filter(|h| !h.closed) else { return };
            if self.joined[path] {
                self.wanted.swap_remove(k);
                continue;
            }
            if at <= now {
                if let Some(subflow) = host.endpoint.open_subflow(path as u8) {
                    self.joined[path] = true;
                    let tuple = self.open_tuple(net, path);
                    self.bind(net, CLIENT, tuple, subflow);
                    continue;
                }
            }
            k += 1;
        }
    }

    // ---- events ------------------------------------------------------------------------------------------------

    fn take_events(&mut self, net: &mut Network, side: usize) {
        let now = net.now;
        let sends_data = side == self.sender();
        while let Some(event) = self.hosts[side].as_mut().and_then(|h| h.endpoint.poll_event()) {
            let host = self.hosts[side].as_mut().expect("it has events");
            match event {
                Event::Arrived { subflow, data, fresh, kind, intact, .. } if !sends_data => {
                    let tuple = host.tuples[subflow];
                    let held = host.endpoint.held();
                    if fresh > 0 {
                        self.account.reorder.arrive(now, data, host.endpoint.received(), held.0);
                    }
                    net.flows[self.index].tuples[tuple as usize].fresh += u64::from(fresh);
                    note_arrival(&mut self.account, fresh, kind, intact, held);
                }
                Event::Window { subflow, cwnd, ssthresh } if sends_data => {
                    let tuple = host.tuples[subflow];
                    let mss = f64::from(host.endpoint.subflows()[subflow].mss());
                    if !self.read_all {
                        net.flows[self.index].tuples[tuple as usize].cwnd.set(now, cwnd / mss);
                    }
                    net.trace.window(now, self.index as u32, tuple, side == CLIENT, cwnd, ssthresh);
                }
                Event::Connected => {
                    self.last_progress = now;
                    if side == CLIENT && self.multipath {
                        self.want(self.addresses[0][SERVER]);
                    }
                }
                Event::RemoteAddress { addr, .. } if side == CLIENT => self.want(addr),
                Event::SubflowEstablished(subflow) if sends_data => {
                    let sub = &host.endpoint.subflows()[subflow];
                    let segments = sub.cwnd() / f64::from(sub.mss());
                    net.flows[self.index].tuples[host.tuples[subflow] as usize].cwnd.set(now, segments);
                }
                Event::SubflowEnded(subflow, _) if side == CLIENT => {
                    let path = net.flows[self.index].tuples[host.tuples[subflow] as usize].path;
                    self.joined[path] = false;
                    if self.multipath && !host.closed {
                        self.wanted.push((now + REJOIN_AFTER, path));
                        self.wake(net, now + REJOIN_AFTER);
                    }
                }
                Event::Congestion { subflow, cause } if sends_data && cause != Cause::Ecn => {
                    net.flows[self.index].tuples[host.tuples[subflow] as usize].episodes.begin(now);
                }
                Event::Judged { subflow, spurious, restored } if sends_data => {
                    let account = &mut net.flows[self.index].tuples[host.tuples[subflow] as usize];
                    account.episodes.judge(now, spurious, restored);
                }
                Event::EndOfStream => host.end_of_stream = true,
                Event::Closed => {
                    host.closed = true;
                    if self.hosts.iter().flatten().filter(|h| h.closed).count() == 2 && self.account.done.is_none() {
                        self.account.done = Some(now);
                    }
                }
                _ => {}
            }
        }
    }

    /// Runs the application of a host; returns whether it wrote or read.
    fn run_application(&mut self, net: &mut Network, side: usize) -> bool {
        let now = net.now;
        if side == CLIENT && !self.wanted.is_empty() {
            self.join(net);
        }
        let Some(host) = &mut self.hosts[side] else { return false };
        let (busy, wake) = match &mut host.app {
            App::Sender(sender) => {
                let asked = host.endpoint.readable();
                if asked > 0 {
                    sender.on_read(host.endpoint.read(asked));
                }
                let (wrote, wake) = sender.run(now, &mut host.endpoint);
                if wrote {
                    net.on_write(self.index);
                }
                (wrote, wake)
            }
            App::Receiver(receiver) => {
                let offset = receiver.read;
                let (octets, wake) = receiver.run(now, host.end_of_stream, &mut host.endpoint);
                self.read_all |= host.end_of_stream && host.endpoint.readable() == 0;
                if octets > 0 {
                    self.account.first_read.get_or_insert(now);
                    self.account.last_read = Some(now);
                    self.account.read += octets;
                    self.last_progress = now;
                    net.trace.deliver(now, self.index as u32, side == SERVER, offset, octets);
                }
                (octets > 0, wake)
            }
        };
        if wake < app::NEVER {
            self.wake(net, wake);
        }
        busy
    }

    // ---- what it measured --------------------------------------------------------------------------------------

    /// Loss episodes undone on each 4-tuple.
    pub fn undone(&self, tuples: &[SubflowAccount]) -> Vec<u64> {
        let side = self.sender();
        let undone = |t: &SubflowAccount| match (t.at[side], &self.hosts[side]) {
            (Some(subflow), Some(host)) => host.endpoint.subflows()[subflow].undone(),
            _ => 0,
        };
        tuples.iter().map(undone).collect()
    }

    /// It has something to do and cannot, as opposed to an application that rests.
    pub fn is_stuck(&self) -> bool {
        match &self.hosts[self.sender()] {
            None => true,
            Some(host) => host.endpoint.unacknowledged() > 0 || self.account.read == 0,
        }
    }

    /// The state of every subflow of the sender.
    pub fn sample(&self, at: u64, tuples: &[SubflowAccount], out: &mut Vec<Sample>) {
        let sender = self.sender();
        let Some(host) = &self.hosts[sender] else { return };
        for (sub, &tuple) in host.endpoint.subflows().iter().zip(&host.tuples) {
            let account = &tuples[tuple as usize];
            let held = match (account.at[1 - sender], &self.hosts[1 - sender]) {
                (Some(subflow), Some(host)) => host.endpoint.held_by(subflow),
                _ => (0, 0),
            };
            out.push(Sample {
                at,
                connection: self.index as u32,
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

fn note_arrival(account: &mut ConnectionAccount, fresh: u32, kind: ArrivalKind, intact: bool, held: (u64, u64)) {
    account.damaged |= !intact;
    account.held_packets = account.held_packets.max(held.0);
    account.held_octets = account.held_octets.max(held.1);
    if fresh > 0 {
        let ahead = matches!(kind, ArrivalKind::AheadInData | ArrivalKind::HeldInSubflow);
        account.distinct += 1;
        account.out_of_order += u64::from(ahead);
    }
}

/// A host's segment goes into the network; those with data are counted.
#[inline]
fn transmit(net: &mut Network, index: usize, side: usize, tuple: u32, t: &Transmit) {
    let up = side == CLIENT;
    let flow = &mut net.flows[index];
    if t.segment.payload.len > 0 && up == flow.up {
        let account = &mut flow.tuples[tuple as usize];
        account.segments += 1;
        match t.kind {
            SendKind::Fast => account.fast += 1,
            SendKind::Timeout => account.timeout += 1,
            _ => {}
        }
        if t.transmissions > 1 {
            let episode = account.episodes.retransmit();
            account.fates.retransmitted(t.segment.seq, t.transmissions, episode);
        }
    }
    net.send(Packet::new(t.segment, index, tuple, up, t.kind, t.transmissions));
}
