//! A TCP or MPTCP connection in the simulator: two hosts, their applications, and the paths between them.
//!
//! - here: what drives it (packets, timers, applications) and the order in which a host reacts
//! - [`opening`]: listening, joins, segments of 4-tuples that nobody knows
//! - [`events`]: what the engine tells, into accounts and trace
//! - [`applications`]: what the applications of a host do when it is served
//! - [`causes`]: what each subflow waits for, for who asks
//! - [`predicted`]: the usual packets of a bulk transfer
//! - [`accounts`]: what the sender waits for, samples, how it ended
//!
//! Each step looks up a packet, its account and its host once. What is seldom needed is in functions of its own, so that the
//! way of an ordinary packet is short.

mod accounts;
mod applications;
mod causes;
mod events;
mod opening;
mod predicted;

use anabranch_measures::account::ConnectionAccount;
use anabranch_stack::config::Config;
use anabranch_stack::event::SendBlock;
use anabranch_stack::host::table::Tuples;
use anabranch_stack::mptcp::keys::Entropy;
use anabranch_stack::segment::Flags;
use anabranch_stack::shortcut::Shortcut;
use anabranch_stack::tcp::State;
use anabranch_stack::time::Instant;
use anabranch_stack::{Connection, Predicted};

use super::app::{self, Activity, Receiver, Sender};
use super::network::Network;
use super::packet::{CLIENT, PacketId, SERVER};
use super::paths::Paths;
use super::rng::derive;
use anabranch_scenario::{Protocol, Scenario, Transfer};

/// Segments that a host sends in one event. More go on in the next one, at the same time: between events a run is asked whether
/// it is to go on.
const BURST: u32 = 4096;

#[derive(Debug)]
enum App {
    Sender(Sender),
    Receiver(Receiver),
}

impl App {
    /// Whether it may have something to do with nothing to read.
    #[inline(always)]
    fn has_work(&self, c: &Connection, end_of_stream: bool) -> bool {
        match self {
            Self::Sender(sender) => sender.has_work(c),
            Self::Receiver(receiver) => end_of_stream || receiver.has_work(),
        }
    }
}

/// The 4-tuple of a subflow, as its host knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct End {
    tuple: u32,
    /// The client's port ([`Packet::port`](super::packet::Packet::port)).
    port: u16,
}

/// One end. What it asks for each packet lies together, before the fields of its connection that each packet asks for.
#[derive(Debug)]
#[repr(C)]
struct Host {
    /// Of each subflow.
    ends: Tuples<End>,
    end_of_stream: bool,
    closed: bool,
    aborted: bool,
    /// When its application wrote while nothing of it was under way.
    busy_since: u64,
    /// The application of the other direction, where data go both ways.
    other: Option<Box<App>>,
    app: App,
    connection: Connection,
}

/// What a packet may have done to its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It is not over.
    GoesOn,
    /// It may be.
    MayBeOver,
}

/// One connection.
///
/// Fields are ordered by use: with thousands of connections each cache line that an event touches is a cache miss.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Stream {
    /// A bulk transfer one way, of which nothing is asked but accounts and trace ([`predicted`]).
    lean: bool,
    /// The receiving application has read the last octet: means over the transfer end here.
    read_all: bool,
    /// The receiver took the data of the segment that arrived last.
    taken: bool,
    /// A middlebox did something to the payload of a segment that arrived: data both ways is then no proof of a fault.
    interfered: bool,
    /// What middleboxes did to its payload: octets changed, and whether it is displaced.
    touched: (u16, bool),
    /// What it waited for when it was last asked, unless that takes a further look.
    limit: Option<SendBlock>,
    multipath: bool,
    index: usize,
    /// Which host sends the data.
    sender: usize,
    /// Slots of the client's timer, the server's, and the applications.
    slots: [usize; 3],
    pub(super) last_progress: u64,
    /// What each subflow waits for, if that was asked for.
    causes: Option<Box<causes::Causes>>,
    /// The parts of the transfer, if it has some.
    activity: Option<Box<Activity>>,
    pub(super) account: ConnectionAccount,
    paths: Paths,
    hosts: [Option<Host>; 2],
    config: Config,
    transfer: Transfer,
    started: u64,
    /// The client has a cookie of the server's.
    cookie: bool,
    secrets: [[u8; 32]; 2],
}

impl Stream {
    /// The connection `index` of `scenario`, to start at `started`. `page` is the number of the page that it loads.
    pub fn new(scenario: &Scenario, index: usize, started: u64, slots: [usize; 3], page: Option<usize>) -> Self {
        let c = &scenario.connections[index];
        let multipath = c.protocol == Protocol::Mptcp;
        let mut config = c.config.clone();
        config.mptcp = multipath;
        let secret = |side: &str| derive(scenario.seed, &format!("connection {} {side}", c.name));
        Self {
            account: ConnectionAccount { reverse: c.transfer.both.then(Box::default), ..Default::default() },
            last_progress: 0,
            index,
            config,
            multipath,
            transfer: c.transfer.clone(),
            activity: Activity::new(&c.transfer, scenario.seed, &c.name, started, page),
            sender: if c.transfer.up { CLIENT } else { SERVER },
            limit: None,
            started,
            hosts: [None, None],
            read_all: false,
            taken: false,
            touched: (0, false),
            interfered: false,
            lean: predicted::is_lean(&c.transfer, &c.config),
            causes: None,
            paths: Paths::new(scenario, index),
            cookie: c.cookie,
            secrets: [secret("client"), secret("server")],
            slots,
        }
    }

    fn host(&mut self, side: usize, connection: Connection) -> Host {
        let app = if side == self.sender {
            App::Sender(Sender::new(&self.transfer, &self.config, self.started))
        } else {
            App::Receiver(Receiver::new(&self.transfer, self.started))
        };
        let other = self.transfer.both.then(|| {
            Box::new(match &app {
                App::Sender(_) => App::Receiver(Receiver::new(&self.transfer, self.started)),
                App::Receiver(_) => App::Sender(Sender::new(&self.transfer, &self.config, self.started)),
            })
        });
        let ends = Tuples::default();
        Host { connection, app, other, ends, busy_since: 0, end_of_stream: false, closed: false, aborted: false }
    }

    /// The applications' slot is due: the start, or something an application waits for.
    pub fn on_application(&mut self, net: &mut Network) {
        if self.account.began.is_none() {
            self.account.began = Some(net.now);
            self.last_progress = net.now;
            net.mark_start(self.index);
            let mut connection = Connection::connect(self.config.clone(), Entropy::new(self.secrets[CLIENT]));
            self.ask_fast_open(&mut connection);
            self.hosts[CLIENT] = Some(self.host(CLIENT, connection));
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
        while let Some(message) = net.message(self.index) {
            self.on_message(net, message);
        }
        for side in [CLIENT, SERVER] {
            if self.hosts[side].is_some() {
                self.serve(net, side, true);
            }
        }
        let next = self.paths.wake(net.now).min(net.next_message(self.index).unwrap_or(app::NEVER));
        if next < app::NEVER {
            self.wake(net, next);
        }
    }

    /// A host's timer slot is due.
    pub fn on_timer(&mut self, net: &mut Network, side: usize) {
        let now = Instant(net.now);
        let Some(host) = &mut self.hosts[side] else { return };
        // The deadline may have moved since the slot was set.
        match host.connection.poll_timeout() {
            Some(at) if at <= now => {
                host.connection.handle_timeout(now);
                self.serve(net, side, false);
                let next = self.hosts[side].as_ref().and_then(|h| h.connection.poll_timeout());
                debug_assert!(next.is_none_or(|at| at > now), "{now}: a timer that is due did nothing");
            }
            _ => self.set_timer(net, side),
        }
    }

    /// A packet arrives at its host. (Not in line in the event loop, so that the engine's prediction is in line here: 50 instructions.)
    #[inline(never)]
    pub fn on_packet(&mut self, net: &mut Network, id: PacketId) -> Next {
        let now = Instant(net.now);
        let packet = net.pool.get(id);
        let (tuple, side) = (packet.tuple as usize, usize::from(packet.up));
        let account = &mut net.flows[self.index].tuples[tuple];
        if !self.paths.is_present(account.path, side) {
            return Next::GoesOn;
        }
        // From another port it is another 4-tuple to this host.
        let end = End { tuple: packet.tuple, port: packet.port };
        let known = |(host, subflow): &(&mut Host, usize)| host.ends.is(*subflow, end);
        let Some((host, subflow)) = self.hosts[side].as_mut().zip(account.at[side]).filter(known) else {
            self.on_stranger(net, side, id);
            return Next::MayBeOver;
        };
        if self.lean {
            if let Some(predicted) = host.connection.handle_predicted(now, subflow, &packet.segment) {
                Shortcut::LeanStream.note();
                match predicted {
                    Predicted::Data { .. } => self.on_predicted_data(net, (id, side, subflow), predicted),
                    Predicted::Ack { window } => self.on_predicted_ack(net, (id, side, subflow), window),
                }
                return Next::GoesOn;
            }
        }
        self.on_other_packet(net, (id, side, subflow));
        Next::MayBeOver
    }

    /// A packet that is not predicted arrives at `subflow` of its host.
    #[inline(never)]
    fn on_other_packet(&mut self, net: &mut Network, (id, side, subflow): (PacketId, usize, usize)) {
        let now = Instant(net.now);
        let packet = net.pool.get(id);
        let (tuple, account) = (packet.tuple as usize, &mut net.flows[self.index].tuples[packet.tuple as usize]);
        let Some(host) = &mut self.hosts[side] else { return };
        if host.connection.subflows()[subflow].state() == State::Closed {
            return self.answer_with_reset(net, side, id, None);
        }
        let sends = side == self.sender;
        let has_data = packet.segment.payload.len > 0;
        if !sends || self.transfer.both {
            self.touched = (packet.altered, packet.displaced);
            self.interfered |= self.touched != (0, false);
            self.taken = false;
        }
        host.connection.handle_segment(now, subflow, &packet.segment);
        if sends && packet.segment.flags.has(Flags::ACK) {
            // The sender of the data heard from its peer: its round-trip time, and which fates are settled.
            if let (Some(srtt), false) = (host.connection.subflows()[subflow].srtt(), self.read_all) {
                account.srtt.set(now.0, srtt.as_secs_f64());
            }
            account.fates.settle(packet.segment.ack, &mut account.episodes);
            if let Some(causes) = &mut self.causes {
                causes.on_ack(tuple, packet.segment.ack);
            }
        }
        self.serve(net, side, false);
        if has_data && !sends {
            self.note_fate(net, id);
        }
    }

    /// Whether the receiver took the data of a packet.
    #[inline(always)]
    fn note_fate(&self, net: &mut Network, id: PacketId) {
        let packet = net.pool.get(id);
        let fates = &mut net.flows[self.index].tuples[packet.tuple as usize].fates;
        // That a piece got through says nothing of the others.
        if fates.wants(self.taken) && !(packet.piece && self.taken) {
            packet.origins().for_each(|seq| fates.arrived(seq, packet.transmissions, self.taken));
        }
    }

    /// Lets a host react to what it was told: events, application, segments, deadline. If `woken`, the time has come that its
    /// application waited for.
    fn serve(&mut self, net: &mut Network, side: usize, woken: bool) {
        self.take_events(net, side);
        self.react(net, side, woken);
    }

    /// The same, once the events were taken.
    #[inline(always)]
    fn react(&mut self, net: &mut Network, side: usize, woken: bool) {
        self.react_further(net, side, woken, BURST);
    }

    /// The same, where at most `room` segments are sent.
    #[inline(always)]
    fn react_further(&mut self, net: &mut Network, side: usize, woken: bool, mut room: u32) {
        let now = Instant(net.now);
        let sends = side == self.sender;
        if sends && self.account.limits.is_window() {
            self.account.limits.look(now.0, self.fills_links(net));
        }
        if self.config.acknowledge_on_read {
            room -= self.acknowledge_unread(net, side);
        }
        if woken || self.has_work(side) {
            self.run_application(net, side);
        }
        loop {
            let before = room;
            room -= self.transmit_all(net, now, side, room);
            if room == 0 {
                self.wake(net, now.0);
                break;
            }
            // The application refills what was sent. If not all of it was, more would have to wait, too; blocks wait in the send buffer.
            let host = self.hosts[side].as_ref();
            let blocks = host.is_some_and(|host| matches!(&host.app, App::Sender(s) if s.blocks));
            if room == before && !blocks {
                break;
            }
            let all_sent = blocks || host.is_some_and(|host| host.connection.outbound().unsent() == 0);
            if !(self.has_work(side) && self.run_application(net, side) && all_sent) {
                break;
            }
        }
        self.take_events(net, side);
        if sends {
            self.note_limit(net);
        }
        if self.causes.is_some() {
            // At the receiver, too: what it holds behind a gap changes there.
            self.note_causes(net);
        }
        self.set_timer(net, side);
    }

    /// Sends what is due before the application reads; returns how many segments.
    #[cold]
    fn acknowledge_unread(&mut self, net: &mut Network, side: usize) -> u32 {
        let unread = self.hosts[side].as_ref().is_some_and(|host| host.connection.inbound().readable() > 0);
        if unread { self.transmit_all(net, Instant(net.now), side, BURST) } else { 0 }
    }

    /// Sends what a host has to send, at most `room` segments; returns how many. (In line at both callers: 40 instructions.)
    #[inline(always)]
    fn transmit_all(&mut self, net: &mut Network, now: Instant, side: usize, room: u32) -> u32 {
        let host = self.hosts[side].as_mut().expect("only hosts that exist are served");
        let sends = side == self.sender;
        let mut sent = 0;
        while sent < room {
            let Some(o) = host.connection.poll_outgoing(now) else { break };
            let segment = host.connection.outgoing();
            let End { tuple, port } = host.ends.of(o.subflow);
            if sends && segment.payload.len > 0 {
                accounts::note_transmission(&mut net.flows[self.index].tuples[tuple as usize], &o, segment.seq);
                if let Some(causes) = &mut self.causes {
                    causes.on_sent(tuple as usize, &o, segment);
                }
            }
            net.transmit(&o, segment, self.index, (tuple, port), side == CLIENT);
            sent += 1;
        }
        sent
    }

    /// Sees to it that a host is called at its deadline. A deadline that moved later (as a retransmission timer does with
    /// each acknowledgement) leaves the slot alone: the call then comes early and finds nothing due.
    #[inline(always)]
    fn set_timer(&mut self, net: &mut Network, side: usize) {
        let Some(host) = &mut self.hosts[side] else { return };
        let known = net.slots.at(self.slots[side]);
        if let Some(at) = host.connection.poll_earlier_timeout(Instant(net.now), Instant(known)) {
            net.schedule_timer(self.slots[side], at.0.max(net.now));
        }
    }

    /// Moves the applications' slot to `at` if that is earlier.
    fn wake(&self, net: &mut Network, at: u64) {
        let slot = self.slots[2];
        if at < net.slots.at(slot) {
            net.schedule(slot, at.max(net.now));
        }
    }
}
