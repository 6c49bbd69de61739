//! The engine under test with its clock and its output: an [`Endpoint`] driven in virtual time.

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

use anabranch_stack::event::{EndReason, FallbackCause, SubflowId};
use anabranch_stack::host::path_manager::Change;
use anabranch_stack::host::{Addresses, ConnectionId, Endpoint, Transmit};
use anabranch_stack::segment::{Flags, Mptcp, Payload, Segment};
use anabranch_stack::tcp::State;
use anabranch_stack::tcp::info::Info;
use anabranch_stack::tcp::subflow::Subflow;
use anabranch_stack::time::Instant;
use anabranch_stack::{Connection, Event};

use super::error_queue::ErrorQueue;
use super::flow::Flow;
use super::mptcp::Names;
use super::mptcp::manager::Manager;
use super::over::Taken;
use super::report::{Step, Stop};
use super::settings::Options;

/// A segment that the engine sent.
#[derive(Clone, Debug)]
pub struct Sent {
    /// Time of transmission.
    pub at: Instant,
    /// Index of its flow in [`Host::flows`].
    pub flow: usize,
    /// The segment.
    pub segment: Segment,
    /// Octets of payload.
    pub len: u32,
    /// IP header fields that the socket chose.
    pub ip: Ip,
    /// Its payload has the size of the MSS.
    pub full: bool,
    /// Several segments were joined into this one ([`join`](super::compare::join)).
    pub joined: bool,
    /// Its FIN was sent in a separate segment ([`join_fin`](super::compare::join_fin)).
    pub apart: bool,
}

/// Fields of the IP header that a socket chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ip {
    /// IP_TOS, without the ECN field.
    pub tos: u8,
    /// IP_TTL, IPV6_UNICAST_HOPS.
    pub ttl: u8,
}

impl Ip {
    /// Sets a socket option. Returns false if `value` is out of range.
    pub fn set(&mut self, name: &str, value: i64) -> bool {
        match (name, u8::try_from(value)) {
            // Linux: the application cannot set the ECN bits, which belong to TCP.
            ("IP_TOS", _) => self.tos = (value & 0xfc) as u8,
            (_, Ok(ttl)) if ttl > 0 => self.ttl = ttl,
            _ => return false,
        }
        true
    }
}

impl Default for Ip {
    fn default() -> Self {
        Self { tos: 0, ttl: 64 }
    }
}

/// State of a connection that the engine does not keep.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// IP header fields that its socket chose for all subflows.
    pub ip: Ip,
    /// The connection has been established.
    pub connected: bool,
    /// The peer's stream has ended, and all its octets can be read or were read.
    pub ended: bool,
    /// The peer's stream ended before we ended ours.
    pub ended_first: bool,
    /// The connection was aborted, by a reset or a timeout.
    pub failed: bool,
    /// All subflows ended, and no new one came in time. Calls then fail with ENOTCONN.
    pub orphaned: bool,
    /// Reason why its latest closed subflow ended.
    last_end: Option<EndReason>,
    /// Pending error, which the next call returns.
    pub error: Option<&'static str>,
    /// Time of the latest arrival of data or, before any, of establishment.
    pub heard: Option<Instant>,
    /// Number of arrivals that extended the in-order data, plus one for the end of the stream.
    pub arrivals: u64,
    /// Error queue of its socket.
    pub errors: ErrorQueue,
    /// Largest window of the peer so far, octets; only kept with a limit on unsent octets
    /// (TCP_NOTSENT_LOWAT).
    pub largest_window: u64,
    /// Octets in the packet buffer that the latest write filled (Linux: the last `sk_buff` of the
    /// write queue). Only kept with a limit on unsent octets.
    pub tail: u64,
    /// The connection is corked by TCP_CORK, or by MSG_MORE in the latest write.
    pub corked: bool,
}

/// Counters by Linux's names, in this order: accepted SYNs with MP_CAPABLE; third ACKs without
/// MP_CAPABLE; fallbacks because a DSS was missing; connections whose own MP_CAPABLE SYN was given
/// up.
pub const COUNTERS: [&str; 4] =
    ["MPTcpExtMPCapableSYNRX", "MPTcpExtMPCapableFallbackACK", "MPTcpExtDssFallback", "MPTcpExtMPCapableSYNTXDrop"];

/// Limit on segments and events. A script that exceeds it probably never ends.
const STEPS: u64 = 2_000_000;

/// Returns the part of `segment` that has `len` octets of its payload from offset `from`. Only the
/// last part (`last`) keeps PSH and FIN.
fn piece(segment: &Segment, from: u32, len: u32, last: bool) -> Segment {
    let ends = Flags::PSH.0 | Flags::FIN.0;
    let flags = if last { segment.flags } else { Flags(segment.flags.0 & !ends) };
    Segment { seq: segment.seq.wrapping_add(from), flags, payload: Payload::new(0, len), ..*segment }
}

/// The engine under test and the state that scripts need about it.
pub struct Host {
    /// The engine.
    pub endpoint: Endpoint,
    /// Virtual time; the script begins at zero.
    pub now: Instant,
    /// All 4-tuples, in order of appearance.
    pub flows: Vec<Flow>,
    /// Index of the flow to which the script's segments belong.
    pub current: Option<usize>,
    /// Sent segments that the script has not yet expected.
    pub sent: VecDeque<Sent>,
    /// Additional state by connection.
    pub known: BTreeMap<ConnectionId, Known>,
    /// Established connections that the application has not accepted, by local port.
    pub waiting: BTreeMap<u16, VecDeque<ConnectionId>>,
    /// Values of the script's names for MPTCP keys and addresses.
    pub names: Names,
    /// Path manager: advertises addresses and opens subflows.
    pub manager: Manager,
    /// Values of [`COUNTERS`], by name.
    pub counters: BTreeMap<&'static str, i64>,
    /// Addresses whose networks packets can reach. The path manager joins only addresses there.
    pub reachable: Vec<IpAddr>,
    /// Connections that we opened.
    active: Vec<ConnectionId>,
    /// The current flow, with its connection and the state of that connection before the latest
    /// event.
    last: Option<(usize, ConnectionId, Info)>,
    steps: u64,
    over_mptcp: bool,
    defines: BTreeMap<String, String>,
}

impl Host {
    /// A host without connections.
    pub fn new(options: &Options) -> Self {
        Self {
            endpoint: Endpoint::in_virtual_time(
                *b"a script, the same in every run.."[..32].first_chunk().unwrap_or(&[0; 32]),
            ),
            now: Instant::ZERO,
            flows: Vec::new(),
            current: None,
            sent: VecDeque::new(),
            known: BTreeMap::new(),
            waiting: BTreeMap::new(),
            names: Names::default(),
            manager: Manager::default(),
            counters: BTreeMap::new(),
            reachable: Vec::new(),
            active: Vec::new(),
            last: None,
            steps: 0,
            over_mptcp: options.over_mptcp,
            defines: options.defines.clone(),
        }
    }

    /// Makes the flow with these addresses the current one, and returns its index. Adds the flow if
    /// it is new.
    pub fn enter(&mut self, addresses: Addresses) -> usize {
        let known = self.flows.iter().position(|f| f.addresses == addresses);
        let at = known.unwrap_or_else(|| self.add_flow(addresses));
        self.current = Some(at);
        at
    }

    /// Adds a flow with the cookie names of its client, and returns its index.
    fn add_flow(&mut self, addresses: Addresses) -> usize {
        self.flows.push(Flow::new(addresses, self.over_mptcp, &self.defines));
        let new = self.flows.len() - 1;
        let same = |f: &Flow| f.addresses.remote.ip() == addresses.remote.ip();
        if let Some(other) = self.flows[..new].iter().find(|f| same(f)).map(|f| f.cookies.clone()) {
            self.flows[new].cookies.share(&other);
        }
        new
    }

    /// Copies the cookie names learned on `flow` to all other flows with the same remote address.
    pub fn share_cookies(&mut self, flow: usize) {
        let (client, cookies) = (self.flows[flow].addresses.remote.ip(), self.flows[flow].cookies.clone());
        self.flows.iter_mut().filter(|f| f.addresses.remote.ip() == client).for_each(|f| f.cookies.share(&cookies));
    }

    /// Registers a connection that our application opened.
    pub fn opened(&mut self, id: ConnectionId, ip: Ip) {
        self.active.push(id);
        self.known.insert(id, Known { ip, ..Known::default() });
    }

    /// Returns the connection on `flow`, or `None` if the engine has none.
    pub fn connection_on(&self, flow: usize) -> Option<(ConnectionId, &Connection)> {
        let (id, _) = self.place_of(flow)?;
        Some((id, self.endpoint.connection(id)?))
    }

    /// Returns the subflow on `flow` and its connection, or `None` if the engine has none.
    pub fn subflow_on(&self, flow: usize) -> Option<(ConnectionId, &Subflow)> {
        let (id, subflow) = self.place_of(flow)?;
        Some((id, self.endpoint.connection(id)?.subflows().get(subflow)?))
    }

    /// Returns the connection and the subflow number on `flow`. If several had these addresses,
    /// returns the latest.
    fn place_of(&self, flow: usize) -> Option<(ConnectionId, SubflowId)> {
        let addresses = self.flows.get(flow)?.addresses;
        let of = |id: ConnectionId| {
            let count = self.endpoint.connection(id)?.subflows().len();
            let subflow = (0..count).rfind(|&subflow| self.endpoint.addresses(id, subflow) == Some(addresses))?;
            Some((id, subflow))
        };
        self.endpoint.connections().filter_map(of).last()
    }

    /// Returns the connection on the current flow and its state now.
    pub fn current_info(&self) -> Option<(ConnectionId, Info)> {
        let (id, subflow) = self.place_of(self.current?)?;
        Some((id, self.endpoint.connection(id)?.info(self.now, subflow)))
    }

    /// Returns the connection on the current flow with its latest known state, also if the engine
    /// has already removed it.
    pub fn last_info(&self) -> Option<(ConnectionId, Info)> {
        self.last.filter(|(flow, ..)| Some(*flow) == self.current).map(|(_, id, info)| (id, info))
    }

    /// Returns true if our application opened this connection.
    pub fn is_ours(&self, id: ConnectionId) -> bool {
        self.active.contains(&id)
    }

    /// Saves the state of the current connection before an event that may remove it.
    fn remember(&mut self) {
        if let (Some(flow), Some((id, info))) = (self.current, self.current_info()) {
            self.last = Some((flow, id, info));
        }
    }

    /// Returns true while the handshake of this connection is incomplete and has not failed.
    pub fn opening(&self, id: ConnectionId) -> bool {
        self.known.get(&id).is_some_and(|known| !known.connected && !known.failed)
    }

    /// Returns the TCP state on the current flow; `Closed` if there is no connection.
    pub fn state(&self) -> State {
        self.current_info().map_or(State::Closed, |(_, info)| info.state)
    }

    /// Delivers a segment with `len` octets of payload to the engine on `flow`. Splits a payload
    /// longer than `most` octets into several segments that arrive at the same time.
    pub fn arrive(&mut self, flow: usize, segment: &Segment, len: u32, most: u32) -> Step<()> {
        self.remember();
        let (payload, mut segment) = (vec![0; len as usize], *segment);
        let before = self.connection_on(flow).map(|(id, c)| (id, c.inbound().received()));
        let asks = before.is_none() && matches!(segment.options.mptcp, Mptcp::CapableSyn { .. });
        if let Some(over) = &mut self.flows[flow].over {
            over.arrives(&mut segment, len);
        }
        let (addresses, count) = (self.flows[flow].addresses, payload.len().div_ceil(most as usize).max(1));
        for i in 0..count {
            let (from, to) = (i * most as usize, payload.len().min((i + 1).saturating_mul(most as usize)));
            let piece = piece(&segment, from as u32, (to - from) as u32, i + 1 == count);
            self.endpoint.handle_packet(self.now, addresses, &piece, &payload[from..to]);
        }
        if asks && self.connection_on(flow).is_some_and(|(_, c)| c.is_multipath()) {
            self.count_up(COUNTERS[0]);
        }
        if let Some((id, before)) = before {
            let after = self.endpoint.connection(id).map_or(before, |c| c.inbound().received());
            let known = self.known.entry(id).or_default();
            known.arrivals += u64::from(after > before);
            if after > before || len > 0 {
                known.heard = Some(self.now);
            }
        }
        self.pump()
    }

    /// Takes all segments and events out of the engine, opens the subflows that the path manager
    /// wants, and updates the error queues.
    pub fn pump(&mut self) -> Step<()> {
        self.drain()?;
        while self.manager.open(&mut self.endpoint, self.now) {
            self.drain()?;
        }
        let waiting: Vec<_> = self.known.iter().filter(|(_, k)| !k.errors.is_idle()).map(|(id, _)| *id).collect();
        waiting.into_iter().for_each(|id| self.settle(id));
        Ok(())
    }

    /// Puts messages into the error queue of a connection for the data that were sent or
    /// acknowledged since the last call.
    pub fn settle(&mut self, id: ConnectionId) {
        let now = self.now;
        let Some(known) = self.known.get_mut(&id) else { return };
        let (unsent, unacknowledged) =
            self.endpoint.connection(id).map_or((0, 0), |c| (c.info(now, 0).unsent, c.outbound().unacknowledged()));
        let written = known.errors.written;
        known.errors.progress(now, written.saturating_sub(unsent), written.saturating_sub(unacknowledged));
    }

    /// Takes segments and events out of the engine until none are left.
    fn drain(&mut self) -> Step<()> {
        loop {
            while let Some(t) = self.endpoint.poll_transmit(self.now) {
                self.count()?;
                self.record(t);
            }
            let Some((id, event)) = self.endpoint.poll_event() else { return Ok(()) };
            self.count()?;
            let opened = self.active.contains(&id);
            self.manager.on_event(&mut self.endpoint, self.now, (id, opened), &event, &self.reachable);
            self.note(id, event);
        }
    }

    /// Records a sent segment, so that the script can expect it.
    fn record(&mut self, transmit: Transmit) {
        let Transmit { addresses, mut segment, payload } = transmit;
        let flow = self.flows.iter().rposition(|f| f.addresses == addresses);
        let flow = flow.unwrap_or_else(|| self.add_flow(addresses));
        let (f, len) = (&mut self.flows[flow], payload.len() as u32);
        if let Some(Taken::Held(answer)) = f.over.as_mut().map(|over| over.sent(&mut segment, len)) {
            if let Some(answer) = answer {
                self.endpoint.handle_packet(self.now, addresses, &answer, &[]);
            }
            return;
        }
        if segment.flags.has(Flags::SYN) {
            f.note_our_syn(&segment);
        }
        self.names.note_sent(&mut f.member, f.addresses, &segment);
        let (id, mss) = self.subflow_on(flow).map_or((None, 0), |(id, s)| (Some(id), s.mss()));
        let ip = id.and_then(|id| self.known.get(&id)).map(|known| known.ip).unwrap_or_default();
        self.sent.push_back(Sent {
            at: self.now,
            flow,
            segment,
            len,
            ip,
            full: len > 0 && len == mss,
            joined: false,
            apart: false,
        });
    }

    fn count_up(&mut self, counter: &'static str) {
        *self.counters.entry(counter).or_default() += 1;
    }

    fn count(&mut self) -> Step<()> {
        self.steps += 1;
        if self.steps > STEPS { Stop::lacks(format!("more than {STEPS} segments and events")) } else { Ok(()) }
    }

    fn note(&mut self, id: ConnectionId, event: Event) {
        let known = self.known.entry(id).or_default();
        match event {
            Event::Connected => {
                known.connected = true;
                known.heard = Some(self.now);
                if let (false, Some(at)) = (self.active.contains(&id), self.endpoint.addresses(id, 0)) {
                    self.waiting.entry(at.local.port()).or_default().push_back(id);
                }
            }
            Event::Fallback { cause, .. } => {
                let counter = match cause {
                    FallbackCause::ThirdAck => Some(COUNTERS[1]),
                    FallbackCause::Options => Some(COUNTERS[2]),
                    FallbackCause::Syn if self.active.contains(&id) => Some(COUNTERS[3]),
                    _ => None,
                };
                counter.into_iter().for_each(|counter| self.count_up(counter));
            }
            Event::EndOfStream => {
                known.ended = true;
                known.arrivals += 1;
                let connection = self.endpoint.connection(id);
                known.ended_first = connection.is_some_and(|c| c.outbound().is_end_acknowledged().is_none());
            }
            Event::SubflowEnded(_, reason) => known.last_end = Some(reason),
            Event::Aborted(EndReason::TimedOut) if known.last_end.is_some_and(|end| end != EndReason::TimedOut) => {
                // On Linux a connection that was too long without subflows has no pending error:
                // calls fail with ENOTCONN.
                (known.failed, known.orphaned) = (true, true);
            }
            Event::Aborted(reason) => {
                known.failed = true;
                known.error = Some(match reason {
                    EndReason::Reset if !known.connected => "ECONNREFUSED",
                    EndReason::Reset if known.ended => "EPIPE",
                    EndReason::TimedOut => "ETIMEDOUT",
                    _ => "ECONNRESET",
                });
            }
            _ => {}
        }
    }

    /// Applies changes of the MPTCP endpoints to all connections.
    pub fn change_paths(&mut self, changes: &[Change]) -> Step<()> {
        for change in changes {
            for id in self.endpoint.connections().collect::<Vec<_>>() {
                self.manager.apply(&mut self.endpoint, self.now, id, *change);
            }
        }
        self.pump()
    }

    /// Returns the time of the engine's next timer.
    pub fn deadline(&self) -> Option<Instant> {
        self.endpoint.poll_timeout()
    }

    /// Advances the clock to `at` and runs the timers that are due.
    pub fn fire(&mut self, at: Instant) -> Step<()> {
        self.count()?;
        self.remember();
        self.now = self.now.max(at);
        self.endpoint.handle_timeout(self.now);
        self.pump()
    }

    /// Returns the address `local` with a port that no flow to `remote` uses.
    pub fn free_port(&self, local: std::net::IpAddr, remote: SocketAddr) -> SocketAddr {
        let taken = |port: u16| {
            let local = SocketAddr::new(local, port);
            self.flows.iter().any(|f| f.addresses == Addresses { local, remote })
        };
        SocketAddr::new(local, (49_152..=u16::MAX).find(|port| !taken(*port)).unwrap_or(u16::MAX))
    }
}
