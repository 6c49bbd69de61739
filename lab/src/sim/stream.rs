//! A TCP or MPTCP connection in the simulator: two hosts, their applications, and the paths between them.

use anabranch_stack::config::Config;
use anabranch_stack::controller::Cause;
use anabranch_stack::event::{ArrivalKind, EndReason, Event, Limit, SendKind};
use anabranch_stack::mptcp::connection::reset_for;
use anabranch_stack::mptcp::keys::Entropy;
use anabranch_stack::segment::{Flags, Mptcp, ResetReason, Segment, TcpRst};
use anabranch_stack::tcp::State;
use anabranch_stack::time::Instant;
use anabranch_stack::{Connection as Endpoint, Transmit};

use super::app::{self, Receiver, Sender};
use super::network::Network;
use super::packet::{Packet, PacketId};
use super::paths::Paths;
use super::rng::derive;
use crate::metrics::account::{ConnectionAccount, SubflowAccount, Wait};
use crate::metrics::series::Sample;
use crate::scenario::{PathAction, PathChange, Protocol, Scenario, Transfer};

/// Segments that a host sends in one event. More go on in the next one, at the same time: between events a run is asked whether
/// it is to go on.
const BURST: u32 = 4096;

/// Index of the client among the two hosts.
pub const CLIENT: usize = 0;
/// Index of the server.
pub const SERVER: usize = 1;

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
    /// The client's port of each, as this host sees it ([`Packet::port`]).
    ports: Vec<u16>,
    end_of_stream: bool,
    closed: bool,
    aborted: bool,
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
    /// The receiver took the data of the segment that arrived last.
    taken: bool,
    /// What middleboxes did to its payload: octets changed, and whether it is displaced.
    touched: (u16, bool),
    paths: Paths,
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
            taken: false,
            touched: (0, false),
            paths: Paths::new(scenario, index),
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
        Host {
            endpoint,
            app,
            tuples: Vec::new(),
            ports: Vec::new(),
            end_of_stream: false,
            closed: false,
            aborted: false,
        }
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
            if let Some(length) = self.transfer.length() {
                // The time of the transfer ends, whether there is a sender by then or not.
                self.wake(net, net.now.saturating_add(length.0));
            }
            self.paths.opened(0);
            let tuple = self.open_tuple(net, 0);
            self.bind(net, CLIENT, tuple, 0, 0);
        }
        while let Some(change) = self.paths.change(net.now) {
            self.change_path(net, change);
        }
        for side in [CLIENT, SERVER] {
            if self.hosts[side].is_some() {
                self.serve(net, side);
            }
        }
        let next = self.paths.wake(net.now);
        if next < app::NEVER {
            self.wake(net, next);
        }
    }

    /// A host does something with its interface on a path.
    fn change_path(&mut self, net: &Network, change: PathChange) {
        let side = if change.client { CLIENT } else { SERVER };
        let Some(host) = self.hosts[side].as_mut().filter(|_| self.multipath) else { return };
        match change.action {
            PathAction::Remove => host.endpoint.withdraw(change.path as u8),
            PathAction::Add if side == SERVER => host.endpoint.advertise(self.paths.address(change.path), None),
            // The client joins when it is served.
            PathAction::Add => {}
            PathAction::Backup | PathAction::Regular => {
                for (subflow, &tuple) in host.tuples.iter().enumerate() {
                    if net.flows[self.index].tuples[tuple as usize].path == change.path {
                        host.endpoint.set_backup(subflow, change.action == PathAction::Backup);
                    }
                }
            }
        }
    }

    /// A host's timer slot is due.
    pub fn on_timer(&mut self, net: &mut Network, side: usize) {
        let now = Instant(net.now);
        let Some(host) = &mut self.hosts[side] else { return };
        // The deadline may have moved since the slot was set.
        match host.endpoint.poll_timeout() {
            Some(at) if at <= now => {
                host.endpoint.handle_timeout(now);
                self.serve(net, side);
                let next = self.hosts[side].as_ref().and_then(|h| h.endpoint.poll_timeout());
                debug_assert!(next.is_none_or(|at| at > now), "{now}: a timer that is due did nothing");
            }
            deadline => self.set_timer(net, side, deadline),
        }
    }

    /// A packet arrives at its host.
    pub fn on_packet(&mut self, net: &mut Network, id: PacketId) {
        let packet = net.pool.get(id);
        let (tuple, up) = (packet.tuple, packet.up);
        let side = if up { SERVER } else { CLIENT };
        let account = &mut net.flows[self.index].tuples[tuple as usize];
        if !self.paths.is_present(account.path, side) {
            return;
        }
        // From another port it is another 4-tuple to this host.
        let known = |(host, subflow): &(&mut Host, usize)| {
            host.tuples[*subflow] == tuple && host.ports[*subflow] == packet.port
        };
        let Some((host, subflow)) = self.hosts[side].as_mut().zip(account.at[side]).filter(known) else {
            let packet = *packet;
            self.on_stranger(net, side, &packet);
            return;
        };
        if host.endpoint.subflows()[subflow].state() == State::Closed {
            let packet = *packet;
            self.answer_with_reset(net, side, &packet, None);
            return;
        }
        self.touched = (packet.altered, packet.displaced);
        host.endpoint.handle_segment(Instant(net.now), subflow, &packet.segment);
        if up != self.transfer.up && packet.segment.flags.has(Flags::ACK) {
            // The sender of the data heard from its peer: its round-trip time, and which fates are settled.
            if let (Some(srtt), false) = (host.endpoint.subflows()[subflow].srtt(), self.read_all) {
                account.srtt.set(net.now, srtt.as_secs_f64());
            }
            account.fates.settle(packet.segment.ack, &mut account.episodes);
        }
        self.taken = false;
        self.serve(net, side);
        let packet = net.pool.get(id);
        if up == self.transfer.up && packet.segment.payload.len > 0 {
            let account = &mut net.flows[self.index].tuples[tuple as usize];
            // That a piece got through says nothing of the others.
            if !(packet.piece && self.taken) {
                packet.origins().for_each(|seq| account.fates.arrived(seq, packet.transmissions, self.taken));
            }
        }
    }

    /// A segment for a 4-tuple that this host does not know: a new connection, a join, or a mistake.
    fn on_stranger(&mut self, net: &mut Network, side: usize, packet: &Packet) {
        let (tuple, segment) = (packet.tuple, &packet.segment);
        match self.listen(net, side, tuple, segment) {
            Ok(subflow) => {
                self.bind(net, side, tuple, packet.port, subflow);
                self.serve(net, side);
            }
            Err(tcp_rst) => self.answer_with_reset(net, side, packet, tcp_rst),
        }
    }

    /// RFC 9293 3.10.7.1: no such connection.
    fn answer_with_reset(&self, net: &mut Network, side: usize, packet: &Packet, tcp_rst: Option<TcpRst>) {
        if let Some(mut reset) = reset_for(&packet.segment) {
            reset.options.tcp_rst = tcp_rst;
            let answer = Packet::new(reset, self.index, packet.tuple, side == CLIENT, SendKind::Control, 0);
            net.send(Packet { port: packet.port, ..answer });
        }
    }

    /// The subflow that a SYN opens, or why there is none.
    fn listen(&mut self, net: &Network, side: usize, tuple: u32, segment: &Segment) -> Result<usize, Option<TcpRst>> {
        if side != SERVER || !segment.flags.has(Flags::SYN) || segment.flags.has(Flags::ACK) {
            return Err(None);
        }
        let path = net.flows[self.index].tuples[tuple as usize].path;
        if let Mptcp::JoinSyn { token, .. } = segment.options.mptcp {
            // RFC 8684 3.2: the token names the connection.
            let unknown = TcpRst { transient: false, reason: ResetReason::MPTCP };
            let host =
                self.hosts[SERVER].as_mut().filter(|h| h.endpoint.token() == Some(token)).ok_or(Some(unknown))?;
            let backup = self.paths.is_backup(path, SERVER);
            return host.endpoint.accept_join(segment, path as u8, backup).map_err(Some);
        }
        if self.hosts[SERVER].is_some() {
            return Err(None);
        }
        let mut endpoint = Endpoint::accept(self.config.clone(), Entropy::new(self.secrets[SERVER]), segment);
        if self.multipath {
            self.paths.to_advertise().into_iter().for_each(|address| endpoint.advertise(address, None));
        }
        self.hosts[SERVER] = Some(self.host(SERVER, endpoint));
        Ok(0)
    }

    /// Lets a host react to what it was told: events, application, segments, deadline.
    fn serve(&mut self, net: &mut Network, side: usize) {
        let now = Instant(net.now);
        if side == self.sender() && self.account.limits.is_window() {
            self.account.limits.look(net.now, self.fills_links(net));
        }
        self.take_events(net, side);
        self.run_application(net, side);
        let mut room = BURST;
        loop {
            let host = self.hosts[side].as_mut().expect("only hosts that exist are served");
            let before = room;
            while let Some(t) = if room > 0 { host.endpoint.poll_transmit(now) } else { None } {
                transmit(net, self.index, side, (host.tuples[t.subflow], host.ports[t.subflow]), &t);
                room -= 1;
            }
            if room == 0 {
                self.wake(net, now.0);
                break;
            }
            if room == before {
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
            self.note_limit(net);
        }
        let deadline = self.hosts[side].as_ref().and_then(|h| h.endpoint.poll_timeout());
        self.set_timer(net, side, deadline);
    }

    /// What the sender of the data waits for now. A closed window is the receiver's reordering, if it holds anything.
    fn note_limit(&mut self, net: &Network) {
        let sender = self.sender();
        if let (Some(host), None) = (&self.hosts[sender], self.account.done) {
            if host.endpoint.subflows()[0].srtt().is_some() {
                let holds = || self.hosts[1 - sender].as_ref().is_some_and(|h| h.endpoint.held().0 > 0);
                let wait = match host.endpoint.limit() {
                    Limit::Application => Wait::Application,
                    Limit::Cwnd => Wait::Cwnd,
                    Limit::ReceiveWindow if holds() => Wait::HeadOfLine,
                    Limit::ReceiveWindow => Wait::ReceiveWindow,
                    Limit::SendBuffer => Wait::SendBuffer,
                    Limit::Scheduler => Wait::Scheduler,
                };
                let full = wait.is_window() && self.fills_links(net);
                self.account.limits.set(net.now, wait, full);
            }
        }
    }

    /// On the slowest link of each path that carries its data something waits.
    fn fills_links(&self, net: &Network) -> bool {
        let Some(host) = &self.hosts[self.sender()] else { return false };
        let tuples = &net.flows[self.index].tuples;
        let open = |&(id, _): &(usize, &u32)| {
            host.endpoint.subflows()[id].state() == State::Established && !host.endpoint.is_backup(id)
        };
        let mut carrying = host.tuples.iter().enumerate().filter(open).peekable();
        carrying.peek().is_some() && carrying.all(|(_, &t)| net.is_full(self.index, tuples[t as usize].path))
    }

    /// Sees to it that a host is called at its deadline. A deadline that moved later (as a retransmission timer does with
    /// each acknowledgement) leaves the slot alone: the call then comes early and finds nothing due.
    fn set_timer(&self, net: &mut Network, side: usize, deadline: Option<Instant>) {
        if let Some(deadline) = deadline {
            let at = deadline.0.max(net.now);
            if at < net.slots.at(self.slots[side]) {
                net.schedule(self.slots[side], at);
            }
        }
    }

    /// Moves the applications' slot to `at` if that is earlier.
    fn wake(&self, net: &mut Network, at: u64) {
        let slot = self.slots[2];
        if at < net.slots.at(slot) {
            net.schedule(slot, at.max(net.now));
        }
    }

    // ---- paths -------------------------------------------------------------------------------------------------

    fn open_tuple(&mut self, net: &mut Network, path: usize) -> u32 {
        let tuples = &mut net.flows[self.index].tuples;
        tuples.push(SubflowAccount { path, ..SubflowAccount::default() });
        (tuples.len() - 1) as u32
    }

    fn bind(&mut self, net: &mut Network, side: usize, tuple: u32, port: u16, subflow: usize) {
        let host = self.hosts[side].as_mut().expect("only hosts that exist have subflows");
        if let Some(failed) = host.tuples.get_mut(subflow) {
            // In place of a join that came to nothing.
            (*failed, host.ports[subflow]) = (tuple, port);
        } else {
            host.tuples.push(tuple);
            host.ports.push(port);
        }
        net.flows[self.index].tuples[tuple as usize].at[side] = Some(subflow);
    }

    /// Joins the paths whose time has come.
    fn join(&mut self, net: &mut Network) {
        loop {
            let Some(host) = self.hosts[CLIENT].as_mut().filter(|h| !h.closed) else { return };
            let open = |path, backup| host.endpoint.open_subflow(path as u8, path as u8, backup);
            let Some((path, subflow)) = self.paths.join(net.now, open) else { return };
            let tuple = self.open_tuple(net, path);
            self.bind(net, CLIENT, tuple, 0, subflow);
        }
    }

    // ---- events ------------------------------------------------------------------------------------------------

    #[inline]
    fn take_events(&mut self, net: &mut Network, side: usize) {
        if self.hosts[side].as_ref().is_some_and(|host| host.endpoint.has_events()) {
            self.take_all_events(net, side);
        }
    }

    fn take_all_events(&mut self, net: &mut Network, side: usize) {
        let now = net.now;
        let sends_data = side == self.sender();
        while let Some(host) = &mut self.hosts[side] {
            let Some(event) = host.endpoint.poll_event() else { return };
            if let (Event::SubflowEnded(subflow, _), false) = (event, sends_data) {
                let verified = self.config.checksum && host.endpoint.is_multipath();
                self.account.altered.end(subflow, host.endpoint.received(), verified);
            }
            match event {
                Event::Arrived { subflow, data, len, fresh, kind, intact } if !sends_data => {
                    self.taken = true;
                    let tuple = host.tuples[subflow];
                    let held = host.endpoint.held();
                    if fresh > 0 {
                        self.account.reorder.arrive(now, data, host.endpoint.received(), held.0);
                    }
                    net.flows[self.index].tuples[tuple as usize].fresh += u64::from(fresh);
                    note_arrival(&mut self.account, fresh, kind, held);
                    note_content(&mut self.account, (subflow, kind), (data, len, fresh), intact, self.touched);
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
                        self.paths.on_connected();
                        if self.paths.is_backup(0, CLIENT) {
                            // MP_CAPABLE has no flag B.
                            host.endpoint.set_backup(0, true);
                        }
                    }
                }
                Event::RemoteAddress { addr, .. } if side == CLIENT => self.paths.on_address(addr),
                Event::RemoteAddressRemoved { id } if side == CLIENT => self.paths.on_removal(id),
                Event::SubflowEstablished(subflow) if sends_data => {
                    let sub = &host.endpoint.subflows()[subflow];
                    let segments = sub.cwnd() / f64::from(sub.mss());
                    net.flows[self.index].tuples[host.tuples[subflow] as usize].cwnd.set(now, segments);
                }
                Event::SubflowEnded(subflow, _) if side == CLIENT => {
                    let path = net.flows[self.index].tuples[host.tuples[subflow] as usize].path;
                    self.paths.on_ended(now, path, host.closed || !self.multipath);
                    let next = self.paths.wake(now);
                    if next < app::NEVER {
                        self.wake(net, next);
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
                    self.note_failure(now);
                }
                Event::Aborted(reason) => {
                    host.aborted = true;
                    self.account.aborted.get_or_insert((now, side == CLIENT, reason));
                    self.note_failure(now);
                }
                _ => {}
            }
        }
    }

    /// If an end has aborted and the other, if it ever knew of the connection, will do nothing more, that was it. (Where nobody
    /// answers any more, that is a stall, and the run goes on to its end.)
    fn note_failure(&mut self, now: u64) {
        let over = self.hosts.iter().flatten().all(|h| h.closed || h.aborted);
        let told = self.account.aborted.is_some_and(|(_, _, why)| why != EndReason::TimedOut);
        if over && told && self.account.done.is_none() {
            self.account.failed.get_or_insert(now);
        }
    }

    /// Whether it has fallen back from MPTCP to TCP: at one end at least. `None` if it was TCP from the start.
    pub fn fallback(&self) -> Option<bool> {
        self.multipath.then(|| self.hosts.iter().flatten().any(|h| !h.endpoint.is_multipath()))
    }

    /// Runs the application of a host; returns whether it wrote or read.
    fn run_application(&mut self, net: &mut Network, side: usize) -> bool {
        let now = net.now;
        if side == CLIENT && self.paths.wants() {
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
                    net.note_read(octets);
                    self.account.altered.settle(offset + octets);
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
        let undone = |(i, t): (usize, &SubflowAccount)| {
            self.subflow_of(side, i as u32, t).map_or(0, |(host, subflow)| host.endpoint.subflows()[subflow].undone())
        };
        tuples.iter().enumerate().map(undone).collect()
    }

    /// The subflow that a 4-tuple is at a host; none if another one has its number by now.
    fn subflow_of(&self, side: usize, tuple: u32, account: &SubflowAccount) -> Option<(&Host, usize)> {
        let (host, subflow) = self.hosts[side].as_ref().zip(account.at[side])?;
        (host.tuples[subflow] == tuple).then_some((host, subflow))
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
            let peer = self.subflow_of(1 - sender, tuple, account);
            let held = peer.map_or((0, 0), |(host, subflow)| host.endpoint.held_by(subflow));
            out.push(Sample {
                at,
                connection: self.index as u32,
                subflow: tuple,
                cwnd: sub.cwnd(),
                ssthresh: sub.ssthresh(),
                srtt: sub.srtt().map_or(f64::NAN, |d| d.as_secs_f64()),
                rtt_samples: sub.rtt_samples(),
                rto: sub.rto().as_secs_f64(),
                in_flight: sub.octets_in_flight(),
                delivered: account.fresh,
                ooo_buffer: held.0,
                ooo_buffer_bytes: held.1,
            });
        }
    }
}

/// Octets that middleboxes changed and the receiver took; what else is not as sent is this program's fault.
fn note_content(
    account: &mut ConnectionAccount,
    (subflow, kind): (usize, ArrivalKind),
    (data, len, fresh): (u64, u32, u32),
    intact: bool,
    (altered, displaced): (u16, bool),
) {
    account.damaged |= !intact && !displaced;
    let held = kind == ArrivalKind::HeldInSubflow;
    let kept = !matches!(kind, ArrivalKind::DuplicateInSubflow | ArrivalKind::DuplicateInData);
    if kept {
        let new = if fresh > 0 { fresh } else { len };
        let octets = if intact { new.min(altered.into()) } else { new };
        account.altered.arrive(data, data + u64::from(len), octets.into(), subflow, held, fresh > 0);
    }
}

fn note_arrival(account: &mut ConnectionAccount, fresh: u32, kind: ArrivalKind, held: (u64, u64)) {
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
fn transmit(net: &mut Network, index: usize, side: usize, (tuple, port): (u32, u16), t: &Transmit) {
    let up = side == CLIENT;
    let flow = &mut net.flows[index];
    if t.segment.payload.len > 0 && up == flow.up {
        let account = &mut flow.tuples[tuple as usize];
        account.segments += 1;
        account.scheduled[0] += u64::from(t.choices > 0);
        account.scheduled[1] += u64::from(t.choices > 1);
        match t.kind {
            SendKind::Fast => account.fast += 1,
            SendKind::Timeout => account.timeout += 1,
            _ => {}
        }
        if t.transmissions > 1 && t.kind == SendKind::Probe {
            account.fates.probed(t.segment.seq, t.transmissions);
        } else if t.transmissions > 1 {
            let episode = account.episodes.retransmit();
            account.fates.retransmitted(t.segment.seq, t.transmissions, episode);
        }
    }
    let mut packet = Packet::new(t.segment, index, tuple, up, t.kind, t.transmissions);
    packet.port = port;
    net.send(packet);
}
