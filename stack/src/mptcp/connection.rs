//! A connection: one data stream in each direction over any number of subflows, or over plain TCP.
//!
//! Sans IO: segments and time come in by `handle_*`, the application by `write`, `read` and `close`; segments, the next
//! deadline and events go out by `poll_*`. Payload never passes through here: data are ranges of the stream.

use super::dss::{Placed, Reassembly};
use super::handshake::{Announcement, Join, Keys, Member, Mode, join_option};
use super::keys::{self, Entropy};
use super::reinject::Reinjections;
use crate::config::{Acknowledgement, Config};
use crate::controller::View;
use crate::event::{ArrivalKind, EndReason, Event, Events, Limit, SendKind, SubflowId};
use crate::scheduler::{self, Candidate, Decision, Scheduler};
use crate::segment::{AddrId, DataAck, Dss, Flags, Mapping, Mptcp, Segment};
use crate::seq::Seq;
use crate::tcp::receiver::{Arrival, Piece, Receiver};
use crate::tcp::scoreboard::Sent;
use crate::tcp::subflow::{Check, State, Subflow};
use crate::time::{Duration, Instant};

/// A segment to send.
#[derive(Clone, Copy, Debug)]
pub struct Transmit {
    /// On which subflow.
    pub subflow: SubflowId,
    /// What it is.
    pub kind: SendKind,
    /// How often this segment has been sent on this subflow, this time included; zero without payload.
    pub transmissions: u8,
    /// The segment.
    pub segment: Segment,
}

/// State of our direction's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fin {
    Open,
    /// DATA_FIN sent; sent again at the time if not acknowledged.
    Sent {
        again_at: Instant,
        tries: u32,
    },
    Acked,
}

/// The window is 16 bits wide and scaled by at most 14 (RFC 7323 2.3).
const MAX_WINDOW: u64 = 65_535 << 14;
/// Octets beyond rcv_nxt in which a multipath subflow accepts segments: its window is the connection's.
const SUBFLOW_WINDOW: u64 = 1 << 30;
/// Probes of a closed window without an answer after which their path is to blame.
const PROBES: u32 = 2;
/// Transmissions of an unanswered ADD_ADDR or join ACK.
const TRIES: u32 = 8;
/// Doublings of the wait for a DATA_FIN's DATA_ACK.
const FIN_BACKOFF: u32 = 6;
/// How many times as often as a segment a DATA_FIN is sent before the peer is taken for gone. Its wait doubles less often:
/// with the least timeout of 200 ms this makes 12 minutes.
const FIN_TRIES: u32 = 4;

/// One endpoint of a connection.
#[derive(Debug)]
pub struct Connection {
    config: Config,
    entropy: Entropy,
    client: bool,
    mode: Mode,
    /// The peer is known to have understood us: its DATA_ACK (client) or its third ACK (server) has come.
    confirmed: bool,
    subflows: Vec<Subflow>,
    members: Vec<Member>,
    views: Vec<View>,
    candidates: Vec<Candidate>,
    scheduler: Box<dyn Scheduler>,
    // our data
    written: u64,
    write_closed: bool,
    data_nxt: u64,
    data_una: u64,
    /// The peer accepts data up to here.
    peer_edge: u64,
    /// The largest window it has shown.
    peer_window: u64,
    fin: Fin,
    reinjections: Reinjections,
    limit: Limit,
    persist_at: Option<Instant>,
    /// Every subflow has been closed, but not the connection: it ends at this time (RFC 8684 3.3.3).
    orphaned_until: Option<Instant>,
    announcements: Vec<Announcement>,
    /// Addresses the peer has advertised.
    peer_addresses: Vec<AddrId>,
    // the peer's data
    reassembly: Reassembly,
    read: u64,
    /// The right edge of the window we advertised; never moves back.
    edge: u64,
    /// Offset after the peer's last octet, once its FIN or DATA_FIN has come.
    peer_end: Option<u64>,
    peer_closed: bool,
    closed: bool,
    delivered: Vec<Piece>,
    events: Events,
}

impl Connection {
    fn new(config: Config, entropy: Entropy, client: bool) -> Self {
        let make = scheduler::find(config.scheduler).expect("the configuration was validated").make;
        let edge = config.receive_buffer.unwrap_or(MAX_WINDOW);
        Self {
            scheduler: make(&config),
            config,
            entropy,
            client,
            mode: Mode::Tcp,
            confirmed: false,
            subflows: Vec::new(),
            members: Vec::new(),
            views: Vec::new(),
            candidates: Vec::new(),
            written: 0,
            write_closed: false,
            data_nxt: 0,
            data_una: 0,
            peer_edge: 0,
            peer_window: 0,
            fin: Fin::Open,
            reinjections: Reinjections::default(),
            limit: Limit::Application,
            persist_at: None,
            orphaned_until: None,
            announcements: Vec::new(),
            peer_addresses: Vec::new(),
            reassembly: Reassembly::default(),
            read: 0,
            edge,
            peer_end: None,
            peer_closed: false,
            closed: false,
            delivered: Vec::new(),
            events: Events::new(),
        }
    }

    /// Opens a connection: the first `poll_transmit` gives the SYN. The configuration's names must be registered.
    pub fn connect(config: Config, mut entropy: Entropy) -> Self {
        let key = entropy.next_u64();
        let iss = entropy.next_u32();
        let mut c = Self::new(config, entropy, true);
        if c.config.mptcp {
            c.mode = Mode::Negotiating { own_key: key };
        }
        let subflow = Subflow::connect(0, &c.config, iss, c.window_shift());
        c.add_subflow(subflow, Member::new(Join::First, 0));
        c
    }

    /// Answers a SYN that opens a connection (no MP_JOIN).
    pub fn accept(config: Config, mut entropy: Entropy, syn: &Segment) -> Self {
        let key = entropy.next_u64();
        let iss = entropy.next_u32();
        let mut c = Self::new(config, entropy, false);
        if let (true, Mptcp::CapableSyn { checksum }) = (c.config.mptcp, syn.options.mptcp) {
            c.mode = Mode::Negotiating { own_key: key };
            c.config.checksum |= checksum;
        }
        let subflow = Subflow::accept(0, &c.config, iss, c.window_shift(), syn);
        c.add_subflow(subflow, Member::new(Join::First, 0));
        c.peer_edge = u64::from(syn.window);
        c
    }

    fn add_subflow(&mut self, subflow: Subflow, member: Member) -> SubflowId {
        let w = *subflow.controller.window();
        self.views.push(View { established: false, cwnd: w.cwnd, srtt: Duration::ZERO });
        self.candidates.push(Candidate::default());
        self.subflows.push(subflow);
        self.members.push(member);
        self.subflows.len() - 1
    }

    /// The smallest scale that lets the whole buffer be advertised (RFC 7323 2.3).
    fn window_shift(&self) -> u8 {
        let buffer = self.config.receive_buffer.unwrap_or(MAX_WINDOW).min(MAX_WINDOW);
        (0..14).find(|shift| buffer >> shift <= 65_535).unwrap_or(14)
    }

    // ---- what the driver may ask -------------------------------------------------------------------------------

    /// Multipath TCP is in use (or still being negotiated).
    pub fn is_multipath(&self) -> bool {
        !matches!(self.mode, Mode::Tcp)
    }

    /// The token that joins of this connection carry to us (RFC 8684 3.2).
    pub fn token(&self) -> Option<u32> {
        match self.mode {
            Mode::Tcp => None,
            Mode::Negotiating { own_key } => Some(keys::token(own_key)),
            Mode::Mptcp(k) => Some(keys::token(k.own)),
        }
    }

    /// The subflows, ended ones included.
    pub fn subflows(&self) -> &[Subflow] {
        &self.subflows
    }

    /// Segments and octets this host holds for reordering: for holes in the subflows and in the data stream. An octet of which
    /// copies wait on several subflows counts on each of them, which can add up to more than the receive buffer; the buffer
    /// bounds how many different octets there are.
    pub fn held(&self) -> (u64, u64) {
        let mut sum = self.reassembly.held();
        for s in &self.subflows {
            let (packets, octets) = s.held();
            sum.0 += packets;
            sum.1 += octets;
        }
        sum
    }

    /// Of these, what came by `subflow`.
    pub fn held_by(&self, subflow: SubflowId) -> (u64, u64) {
        let (packets, octets) = self.subflows[subflow].held();
        let (p, o) = self.reassembly.held_by(subflow);
        (packets + p, octets + o)
    }

    /// Octets written and not yet acknowledged at data level.
    pub fn unacknowledged(&self) -> u64 {
        self.written - self.data_una
    }

    /// Octets written and not yet sent.
    pub fn unsent(&self) -> u64 {
        self.written - self.data_nxt
    }

    /// Why the last poll sent no more data.
    #[inline]
    pub fn limit(&self) -> Limit {
        self.limit
    }

    /// Octets in order at the receiving side of this host.
    pub fn received(&self) -> u64 {
        self.reassembly.nxt()
    }

    /// Octets that can be read now.
    pub fn readable(&self) -> u64 {
        self.reassembly.nxt() - self.read
    }

    // ---- the application ---------------------------------------------------------------------------------------

    /// Appends `octets` to our stream.
    pub fn write(&mut self, octets: u64) {
        debug_assert!(!self.write_closed, "write after close");
        self.written += octets;
    }

    /// Nothing more will be written.
    pub fn close(&mut self) {
        self.write_closed = true;
    }

    /// Takes up to `max` octets of the peer's stream; returns how many.
    pub fn read(&mut self, max: u64) -> u64 {
        let octets = self.readable().min(max);
        self.read += octets;
        if let Some(buffer) = self.config.receive_buffer {
            // RFC 9293 3.8.6.2.2: open the window in steps worth a segment; tell the sender if it may be waiting.
            let gain = (self.read + buffer).saturating_sub(self.edge);
            let step = (2 * u64::from(self.config.mss)).min(buffer / 2).max(1);
            let left = self.edge - self.reassembly.nxt();
            if gain >= step && (left < step || gain >= buffer / 2) {
                let waiting = self.subflows.iter_mut().zip(&self.members).filter(|(s, m)| s.is_open() && m.ready);
                waiting.for_each(|(s, _)| s.ack_now());
            }
        }
        octets
    }

    /// Ends the connection at once: a RST on every subflow (RFC 9293 3.10.5).
    pub fn abort(&mut self) {
        for s in &mut self.subflows {
            if s.state != State::Closed {
                let flags = Flags::RST.with(Flags::ACK);
                let ack = s.receiver.rcv_nxt.wire();
                s.reset = Some(Segment { seq: s.snd_nxt.wire(), ack, flags, ..Segment::default() });
                s.end(EndReason::Reset);
            }
        }
        self.closed = true;
    }

    // ---- paths -------------------------------------------------------------------------------------------------

    /// Tells the peer of another address of ours (ADD_ADDR).
    pub fn advertise(&mut self, address: AddrId) {
        self.announcements.push(Announcement { id: address.id, addr: address.addr, at: Instant::ZERO, tries: 0 });
    }

    /// Opens a further subflow from our address `local_id`. `None` unless the connection is multipath and established.
    pub fn open_subflow(&mut self, local_id: u8) -> Option<SubflowId> {
        if !self.confirmed || !matches!(self.mode, Mode::Mptcp(_)) || self.closed {
            return None;
        }
        let (iss, nonce) = (self.entropy.next_u32(), self.entropy.next_u32());
        let id = self.subflows.len();
        let subflow = Subflow::connect(id, &self.config, iss, self.window_shift());
        Some(self.add_subflow(subflow, Member::new(Join::SynSent { nonce }, local_id)))
    }

    /// Answers a SYN with MP_JOIN whose token is ours; it arrived at our address `local_id`. `None` if it cannot join.
    pub fn accept_join(&mut self, syn: &Segment, local_id: u8) -> Option<SubflowId> {
        let Mptcp::JoinSyn { nonce: peer_nonce, token, .. } = syn.options.mptcp else { return None };
        if !matches!(self.mode, Mode::Mptcp(_)) || self.token() != Some(token) || self.closed {
            return None;
        }
        let (iss, nonce) = (self.entropy.next_u32(), self.entropy.next_u32());
        let id = self.subflows.len();
        let subflow = Subflow::accept(id, &self.config, iss, self.window_shift(), syn);
        Some(self.add_subflow(subflow, Member::new(Join::SynReceived { nonce, peer_nonce }, local_id)))
    }

    // ---- arriving segments -------------------------------------------------------------------------------------

    /// A segment arrives on `id`.
    pub fn handle_segment(&mut self, now: Instant, id: SubflowId, seg: &Segment) {
        self.receive(now, id, seg);
        self.progress(now);
        self.refresh(id);
    }

    fn receive(&mut self, now: Instant, id: SubflowId, seg: &Segment) {
        self.members[id].probes_unanswered = 0;
        let multipath = !matches!(self.mode, Mode::Tcp);
        let window = if multipath { SUBFLOW_WINDOW } else { self.edge - self.reassembly.nxt() };
        let s = &mut self.subflows[id];
        let (check, ended) = match s.state {
            State::Closed => return,
            State::SynSent => {
                let (check, ended) = s.on_segment_in_syn_sent(now, seg);
                if check == Check::Accept {
                    self.on_syn_ack(now, id, seg);
                }
                // What follows needs a synchronized state and a segment beyond the SYN.
                (Check::Drop, ended)
            }
            _ => s.check(now, seg, window),
        };
        if let Some(reason) = ended {
            self.on_subflow_end(id, reason);
        }
        if check == Check::Drop || !self.authenticate(now, id, seg) {
            return;
        }
        let multipath = !matches!(self.mode, Mode::Tcp);
        let s = &mut self.subflows[id];
        let (check, result) = s.on_ack(now, seg, &self.views, &mut self.events, multipath);
        if check == Check::Drop {
            return;
        }
        if result.established && self.members[id].join == Join::First {
            self.on_first_established(id);
        }
        if self.subflows[id].state == State::Closed {
            self.on_subflow_end(id, EndReason::Finished);
            return;
        }
        self.subflows[id].on_ecn_marks(seg);
        self.take_data_level(now, id, seg, result.window_is_new);
        if seg.payload.len > 0 {
            self.take_payload(now, id, seg);
        }
        if self.subflows[id].on_fin(now, seg) && matches!(self.mode, Mode::Tcp) {
            self.peer_end = Some(self.reassembly.nxt());
        }
    }

    /// SYN or SYN/ACK in SYN-SENT was good: the client learns what the peer speaks.
    fn on_syn_ack(&mut self, now: Instant, id: SubflowId, seg: &Segment) {
        let handshake_done = self.subflows[id].state == State::Established;
        match (self.members[id].join, self.mode) {
            (Join::First, mode) => {
                if let Mode::Negotiating { own_key } = mode {
                    match seg.options.mptcp {
                        Mptcp::CapableSynAck { key, checksum } if key != own_key => {
                            self.mode = Mode::Mptcp(Keys::new(own_key, key));
                            self.config.checksum |= checksum;
                        }
                        // RFC 8684 3.7: no MP_CAPABLE in the SYN/ACK, plain TCP.
                        _ => self.mode = Mode::Tcp,
                    }
                }
                self.peer_edge = u64::from(seg.window);
                if handshake_done {
                    self.on_first_established(id);
                }
            }
            (Join::SynSent { nonce }, Mode::Mptcp(k)) => {
                let good = match seg.options.mptcp {
                    Mptcp::JoinSynAck { hmac, nonce: theirs, .. } => {
                        hmac == keys::truncate_64(&keys::join_hmac(k.peer, k.own, theirs, nonce))
                    }
                    _ => false,
                };
                let (Mptcp::JoinSynAck { nonce: theirs, .. }, true) = (seg.options.mptcp, good) else {
                    self.refuse(id);
                    return;
                };
                let hmac = keys::truncate_160(&keys::join_hmac(k.own, k.peer, nonce, theirs));
                let retry_at = now + self.subflows[id].rtt.rto();
                self.members[id].join = Join::AwaitAck { hmac, retry_at, tries: 1 };
            }
            _ => self.refuse(id),
        }
    }

    /// RFC 8684 3.2: a join that does not authenticate is reset, without any other effect.
    fn refuse(&mut self, id: SubflowId) {
        let s = &mut self.subflows[id];
        let flags = Flags::RST.with(Flags::ACK);
        let ack = s.receiver.rcv_nxt.wire();
        s.reset = Some(Segment { seq: s.snd_nxt.wire(), ack, flags, ..Segment::default() });
        s.end(EndReason::Refused);
        self.on_subflow_end(id, EndReason::Refused);
    }

    fn on_first_established(&mut self, id: SubflowId) {
        self.members[id].ready = true;
        self.events.push_back(Event::Connected);
        self.events.push_back(Event::SubflowEstablished(id));
    }

    /// The MPTCP part of a segment's acceptability; false drops it.
    fn authenticate(&mut self, now: Instant, id: SubflowId, seg: &Segment) -> bool {
        let in_syn_received = self.subflows[id].state == State::SynReceived;
        match (self.members[id].join, self.mode) {
            (Join::First, Mode::Negotiating { own_key }) => match seg.options.mptcp {
                Mptcp::CapableAck { sender_key, receiver_key, checksum, .. } => {
                    if receiver_key != own_key || sender_key == own_key {
                        return false;
                    }
                    self.mode = Mode::Mptcp(Keys::new(own_key, sender_key));
                    self.config.checksum |= checksum;
                    self.confirmed = true;
                    true
                }
                // The keys are still to come: with the third ACK sent again, or with the first data (3.1).
                Mptcp::Dss(_) => false,
                _ => {
                    // 3.7: the option was lost on the way, plain TCP.
                    if seg.flags.has(Flags::ACK) && !seg.flags.has(Flags::SYN) {
                        self.mode = Mode::Tcp;
                    }
                    true
                }
            },
            (Join::First, Mode::Mptcp(_)) => {
                if self.client && !self.confirmed {
                    let s = &self.subflows[id];
                    let of_data = seg.payload.len > 0 || Seq::unwrap(seg.ack, s.snd_una) > s.iss + 1;
                    match seg.options.mptcp {
                        Mptcp::Dss(_) | Mptcp::AddAddr { .. } => self.confirmed = true,
                        // 3.7: our data or the server's without a DSS: our options were lost on the way, and the server
                        // speaks plain TCP. So far its sequence numbers and those of the data go together.
                        Mptcp::None if of_data => self.mode = Mode::Tcp,
                        _ => {}
                    }
                }
                true
            }
            (Join::SynReceived { nonce, peer_nonce }, Mode::Mptcp(k)) => {
                let Mptcp::JoinAck { hmac } = seg.options.mptcp else { return !in_syn_received };
                let want = keys::truncate_160(&keys::join_hmac(k.peer, k.own, peer_nonce, nonce));
                if hmac != want {
                    self.refuse(id);
                    return false;
                }
                self.members[id].join = Join::Done;
                self.establish_join(id);
                // The fourth ACK lets the initiator begin.
                self.subflows[id].ack_now();
                true
            }
            (Join::AwaitAck { .. }, _) => {
                self.members[id].join = Join::Done;
                self.establish_join(id);
                true
            }
            (Join::Done, _) => {
                if let Mptcp::JoinAck { .. } = seg.options.mptcp {
                    self.subflows[id].ack_now();
                }
                let _ = now;
                true
            }
            _ => true,
        }
    }

    fn establish_join(&mut self, id: SubflowId) {
        self.members[id].ready = true;
        self.events.push_back(Event::SubflowEstablished(id));
    }

    /// DATA_ACK, window, DATA_FIN, addresses: what concerns the data stream, not the subflow.
    fn take_data_level(&mut self, now: Instant, id: SubflowId, seg: &Segment, window_is_new: bool) {
        let window = u64::from(seg.window) << self.subflows[id].peer_shift;
        let Mode::Mptcp(k) = self.mode else {
            let s = &self.subflows[0];
            // Without multipath the subflow's acknowledgement is the data's; SYN and FIN are not data.
            self.data_una = (s.snd_una - (s.iss + 1)).min(self.data_nxt);
            if window_is_new {
                let edge = (Seq::unwrap(seg.ack, s.snd_una) - (s.iss + 1)) + window;
                self.move_peer_edge(edge);
            }
            return;
        };
        // 3.3.1: the window counts from the DATA_ACK. What else carries one was sent when we do not know how much had arrived;
        // it may have been overtaken by a DATA_ACK, so that it counts from the start of our data.
        let mut ack = 0;
        match seg.options.mptcp {
            Mptcp::Dss(dss) => {
                if let Some(data_ack) = dss.data_ack {
                    let una_dsn = k.own_first_dsn.wrapping_add(self.data_una);
                    let ahead = match data_ack {
                        DataAck::Eight(dsn) => dsn.wrapping_sub(una_dsn) as i64,
                        DataAck::Four(low) => i64::from(low.wrapping_sub(una_dsn as u32) as i32),
                    };
                    ack = self.data_una.saturating_add_signed(ahead);
                    self.take_data_ack(ack);
                }
                if dss.data_fin {
                    if let Some(m) = dss.mapping {
                        // 3.3.3: it takes one octet after the last. It cannot be before what has arrived, nor beyond the
                        // window; the first one counts.
                        let start = self.mapped_offset(&k, &m);
                        let end = u64::from(m.len).checked_sub(1).and_then(|octets| start.checked_add(octets));
                        let end = end.filter(|&end| self.reassembly.nxt() <= end && end <= self.edge);
                        self.peer_end = self.peer_end.or(end);
                        if seg.payload.len == 0 {
                            self.subflows[id].ack_now();
                        }
                    }
                }
            }
            // 3.4.1: only an authentic advertisement counts. Repetitions are answered again and are no news.
            Mptcp::AddAddr { address, hmac: Some(hmac) }
                if hmac == keys::add_addr_hmac(k.peer, k.own, address.id, address.addr, 0) =>
            {
                self.members[id].echo = Some((address.id, address.addr));
                if !self.peer_addresses.contains(&address) {
                    self.peer_addresses.retain(|a| a.id != address.id);
                    self.peer_addresses.push(address);
                    self.events.push_back(Event::RemoteAddress { id: address.id, addr: address.addr });
                }
            }
            Mptcp::AddAddr { address, hmac: None } => self.announcements.retain(|a| a.id != address.id),
            _ => {}
        }
        if ack <= self.data_max() {
            self.move_peer_edge(self.peer_edge.max(ack + window));
        }
        let _ = now;
    }

    /// The largest DATA_ACK that makes sense: for all that was sent, the DATA_FIN included.
    fn data_max(&self) -> u64 {
        self.data_nxt + u64::from(self.fin != Fin::Open)
    }

    fn take_data_ack(&mut self, ack: u64) {
        if ack > self.data_max() {
            return;
        }
        if ack == self.written + 1 && self.fin != Fin::Open {
            self.fin = Fin::Acked;
        }
        let ack = ack.min(self.data_nxt);
        if ack > self.data_una {
            self.data_una = ack;
            self.reinjections.acknowledge(ack);
        }
    }

    /// RFC 8684 3.3.1: the right edge counts from the DATA_ACK. What a closed window had refused goes out again at once.
    fn move_peer_edge(&mut self, edge: u64) {
        if edge > self.peer_edge {
            for s in &mut self.subflows {
                if s.board.front().is_some_and(|f| f.data >= self.peer_edge && f.data < edge && !f.is_fin()) {
                    s.probe_due = true;
                }
            }
            self.persist_at = None;
        }
        self.peer_edge = edge;
        self.peer_window = self.peer_window.max(edge.saturating_sub(self.data_una));
    }

    fn take_payload(&mut self, now: Instant, id: SubflowId, seg: &Segment) {
        let s = &self.subflows[id];
        let start = Seq::unwrap(seg.seq, s.receiver.rcv_nxt);
        let Some(data) = self.data_offset(id, seg, start) else {
            // No mapping: the octets have no place in the stream. Not acknowledged, so that they come again.
            return;
        };
        let len = seg.payload.len;
        let Some(end) = data.checked_add(u64::from(len)).filter(|&end| end <= self.edge) else {
            // Beyond the window we advertised (RFC 9293 3.10.7.4, first check, at data level).
            self.subflows[id].ack_now();
            return;
        };
        let held_before = self.subflows[id].receiver.has_holes();
        let fresh = self.reassembly.arrive(data, end);
        let intact = seg.payload.offset == data;
        let before = self.reassembly.nxt();
        if self.config.acknowledgement == Acknowledgement::Coupled {
            let (kind, at_once) = self.place_coupled(id, start, data, len);
            let s = &mut self.subflows[id];
            if kind != ArrivalKind::AheadInData {
                s.on_payload_done(now, len, at_once);
            }
            self.members[id].mappings.forget_below(s.receiver.rcv_nxt);
            self.events.push_back(Event::Arrived { subflow: id, data, len, fresh: fresh as u32, kind, intact });
            if self.reassembly.nxt() > before {
                self.events.push_back(Event::Readable);
            }
            return;
        }
        let s = &mut self.subflows[id];
        self.delivered.clear();
        let arrival = s.receiver.accept(start, data, len, &mut self.delivered);
        let mut kind = match arrival {
            Arrival::Duplicate => ArrivalKind::DuplicateInSubflow,
            Arrival::Held => ArrivalKind::HeldInSubflow,
            Arrival::InOrder => ArrivalKind::InOrder,
        };
        for (i, piece) in self.delivered.iter().enumerate() {
            let placed = self.reassembly.place(piece.data, piece.len, id);
            if i == 0 {
                match placed {
                    Placed::InOrder => {}
                    Placed::Ahead => kind = ArrivalKind::AheadInData,
                    Placed::Duplicate => kind = ArrivalKind::DuplicateInData,
                }
            }
        }
        if fresh == 0 && kind == ArrivalKind::HeldInSubflow {
            kind = ArrivalKind::DuplicateInData;
        }
        let s = &mut self.subflows[id];
        s.on_payload_done(now, len, arrival != Arrival::InOrder || held_before);
        self.members[id].mappings.forget_below(s.receiver.rcv_nxt);
        self.events.push_back(Event::Arrived { subflow: id, data, len, fresh: fresh as u32, kind, intact });
        if self.reassembly.nxt() > before {
            self.events.push_back(Event::Readable);
        }
    }

    /// Where the payload of `seg` belongs in the peer's stream.
    fn data_offset(&mut self, id: SubflowId, seg: &Segment, start: Seq) -> Option<u64> {
        let s = &self.subflows[id];
        let Mode::Mptcp(k) = self.mode else { return Some(start - (s.irs + 1)) };
        match seg.options.mptcp {
            Mptcp::Dss(Dss { mapping: Some(m), data_fin, .. }) => {
                let data = self.mapped_offset(&k, &m);
                let octets = u64::from(m.len).saturating_sub(u64::from(data_fin));
                let at = Seq::unwrap(s.irs.wire().wrapping_add(m.ssn), s.receiver.rcv_nxt);
                if at == start && octets == u64::from(seg.payload.len) {
                    return Some(data);
                }
                if octets > 0 {
                    self.members[id].mappings.add(at, data, octets);
                }
            }
            // 3.1: the first data after the handshake is mapped to the first data sequence number.
            Mptcp::CapableAck { data: Some((octets, _)), .. } => {
                if start == s.irs + 1 && u32::from(octets) == seg.payload.len {
                    return Some(0);
                }
                self.members[id].mappings.add(s.irs + 1, 0, u64::from(octets));
            }
            _ => {}
        }
        let (data, covered) = self.members[id].mappings.find(start)?;
        (covered >= u64::from(seg.payload.len)).then_some(data)
    }

    /// Data offset of a mapping; a short data sequence number is the one nearest to what is expected.
    fn mapped_offset(&self, k: &Keys, m: &Mapping) -> u64 {
        if !m.short {
            return m.dsn.wrapping_sub(k.peer_first_dsn);
        }
        let nxt = self.reassembly.nxt();
        let expected = k.peer_first_dsn.wrapping_add(nxt) as u32;
        nxt.wrapping_add_signed(i64::from((m.dsn as u32).wrapping_sub(expected) as i32))
    }

    /// The papers' receiver (AINA 2014, Fig. 2; as their simulator did it): a segment counts only when it is next on its
    /// subflow and in the data stream. One that is ahead in the data is parked silently; what follows it on its subflow is
    /// parked too and draws duplicate ACKs; when the gap fills, each freed segment sends one ACK on its own subflow.
    fn place_coupled(&mut self, id: SubflowId, start: Seq, data: u64, len: u32) -> (ArrivalKind, bool) {
        let s = &mut self.subflows[id];
        let (rcv_nxt, data_nxt) = (s.receiver.rcv_nxt, self.reassembly.nxt());
        if start < rcv_nxt {
            s.receiver.note_duplicate(start, len);
            return (ArrivalKind::DuplicateInSubflow, true);
        }
        if start > rcv_nxt || data > data_nxt {
            let silent = start == rcv_nxt;
            let kind = if silent { ArrivalKind::AheadInData } else { ArrivalKind::HeldInSubflow };
            return match s.receiver.park(start, data, len) {
                true => (kind, !silent),
                false => (ArrivalKind::DuplicateInSubflow, true),
            };
        }
        s.receiver.advance(len);
        let placed = self.reassembly.place(data, len, id);
        let mut freed = false;
        loop {
            let nxt = self.reassembly.nxt();
            let next = (0..self.subflows.len()).find_map(|j| self.subflows[j].receiver.release(nxt).map(|p| (j, p)));
            let Some((j, piece)) = next else { break };
            self.reassembly.place(piece.data, piece.len, j);
            self.subflows[j].owe_ack();
            freed = true;
        }
        let kind = if placed == Placed::Duplicate { ArrivalKind::DuplicateInData } else { ArrivalKind::InOrder };
        (kind, freed)
    }

    /// What follows from any input: closing, end of stream, events.
    fn progress(&mut self, now: Instant) {
        if !self.peer_closed && self.peer_end == Some(self.reassembly.nxt()) {
            self.peer_closed = true;
            self.events.push_back(Event::EndOfStream);
        }
        match self.mode {
            Mode::Tcp => {
                let s = &self.subflows[0];
                if s.close && s.board.is_empty() && !matches!(s.state, State::Established | State::CloseWait) {
                    self.fin = Fin::Acked;
                }
            }
            _ => {
                let all_done = self.fin == Fin::Acked && self.peer_closed;
                for (s, m) in self.subflows.iter_mut().zip(&self.members) {
                    // RFC 8684 3.3.3: subflows are closed after the data stream is; a subflow the peer closed follows it.
                    s.close |= m.ready && (all_done || (s.state == State::CloseWait && s.board.is_empty()));
                    if all_done && s.state == State::SynSent {
                        // RFC 9293 3.10.4: a join nobody has answered yet is dropped.
                        self.events.push_back(Event::SubflowEnded(s.id, s.end(EndReason::Finished)));
                    }
                }
            }
        }
        if !self.closed && self.fin == Fin::Acked && self.peer_closed {
            self.closed = true;
            self.events.push_back(Event::Closed);
        }
        if self.closed || self.is_alive() || !matches!(self.mode, Mode::Mptcp(_)) {
            self.orphaned_until = None;
        } else if *self.orphaned_until.get_or_insert(now + self.config.time_wait) <= now {
            self.give_up();
        }
    }

    /// Some subflow has not ended.
    fn is_alive(&self) -> bool {
        self.subflows.iter().any(|s| s.state != State::Closed)
    }

    /// The peer has not been heard of for too long (RFC 9293 3.8.3, R2).
    fn give_up(&mut self) {
        self.closed = true;
        self.orphaned_until = None;
        for s in self.subflows.iter_mut().filter(|s| s.state != State::Closed) {
            self.events.push_back(Event::SubflowEnded(s.id, s.end(EndReason::TimedOut)));
        }
        self.events.push_back(Event::Aborted(EndReason::TimedOut));
    }

    /// Brings the siblings' view of a subflow up to date and tells of a changed window.
    fn refresh(&mut self, id: SubflowId) {
        let s = &self.subflows[id];
        let w = s.controller.window();
        let view = &mut self.views[id];
        view.established = self.members[id].ready && s.is_open();
        view.srtt = s.srtt().unwrap_or_default();
        if view.cwnd != w.cwnd {
            view.cwnd = w.cwnd;
            self.events.push_back(Event::Window { subflow: id, cwnd: w.cwnd, ssthresh: w.ssthresh });
        }
    }

    /// What was stuck on `id` may go out elsewhere.
    fn reinject(&mut self, id: SubflowId) {
        // The papers' model has no reinjection: under its acknowledgement there is none.
        let coupled = self.config.acknowledgement == Acknowledgement::Coupled;
        if !matches!(self.mode, Mode::Mptcp(_)) || coupled {
            return;
        }
        for sent in self.subflows[id].board.iter().filter(|s| !s.is_fin()) {
            let end = sent.data + u64::from(sent.len);
            if end > self.data_una {
                self.reinjections.add(sent.data.max(self.data_una), end, id);
            }
        }
    }

    fn on_subflow_end(&mut self, id: SubflowId, reason: EndReason) {
        self.reinject(id);
        self.members[id].ready = false;
        // What waited for a hole in it will come by another subflow.
        let receiver = &mut self.subflows[id].receiver;
        *receiver = Receiver::new(receiver.rcv_nxt);
        self.events.push_back(Event::SubflowEnded(id, reason));
        if !self.is_alive() && !self.closed && reason != EndReason::Finished {
            self.closed = true;
            self.events.push_back(Event::Aborted(reason));
        }
    }

    // ---- time --------------------------------------------------------------------------------------------------

    /// When [`Connection::handle_timeout`] wants to be called.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let mut first = Instant::FAR_FUTURE;
        for (s, m) in self.subflows.iter().zip(&self.members) {
            first = first.min(s.deadline(self.config.time_wait));
            if let (true, Join::AwaitAck { retry_at, .. }) = (s.state != State::Closed, m.join) {
                first = first.min(retry_at);
            }
        }
        for at in [self.persist_at, self.orphaned_until].into_iter().flatten() {
            first = first.min(at);
        }
        // What only a subflow can carry waits for one.
        let waits = self.fin != Fin::Open || !self.announcements.is_empty();
        if waits && !self.closed && self.ready_subflow().is_some() {
            if let Fin::Sent { again_at, .. } = self.fin {
                first = first.min(again_at);
            }
            for a in &self.announcements {
                if a.tries > 0 && a.tries < TRIES {
                    first = first.min(a.at);
                }
            }
        }
        (first < Instant::FAR_FUTURE).then_some(first)
    }

    /// Runs whatever is due at `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        for id in 0..self.subflows.len() {
            let s = &mut self.subflows[id];
            if s.state == State::Closed {
                continue;
            }
            let front = s.board.front().filter(|f| !f.is_fin());
            // RFC 9293 3.8.6.1: a probe that is answered is no sign of loss. Probes that are not, are like any data.
            let unanswered = &mut self.members[id].probes_unanswered;
            let window_closed = *unanswered < PROBES && front.is_some_and(|f| f.data >= self.peer_edge);
            let (ended, timed_out) = s.on_timers(now, &self.config, window_closed, &self.views, &mut self.events);
            *unanswered += u32::from(window_closed && s.probe_due);
            if timed_out {
                self.reinject(id);
            }
            if let Some(reason) = ended {
                self.on_subflow_end(id, reason);
            }
            if let Join::AwaitAck { retry_at, tries, hmac } = self.members[id].join {
                if retry_at <= now && self.subflows[id].state != State::Closed {
                    if tries >= TRIES {
                        self.refuse(id);
                    } else {
                        let retry_at = now + self.subflows[id].rtt.rto().saturating_mul(1 << tries);
                        self.members[id].join = Join::AwaitAck { hmac, retry_at, tries: tries + 1 };
                        self.subflows[id].ack_now();
                    }
                }
            }
            self.refresh(id);
        }
        self.progress(now);
    }

    /// There is an event to poll.
    #[inline]
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// The next event.
    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    // ---- leaving segments --------------------------------------------------------------------------------------

    /// The next segment to send at `now`.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        for id in 0..self.subflows.len() {
            let s = &mut self.subflows[id];
            if let Some(segment) = s.reset.take() {
                return Some(Transmit { subflow: id, kind: SendKind::Control, transmissions: 0, segment });
            }
            match s.state {
                State::Closed => continue,
                State::SynSent | State::SynReceived => {
                    if let Some(t) = self.poll_syn(now, id) {
                        return Some(t);
                    }
                }
                _ => {
                    if let Some((sent, kind)) = s.next_retransmission(now) {
                        return Some(self.retransmission(now, id, &sent, kind));
                    }
                }
            }
        }
        self.limit = Limit::Application;
        if !self.reinjections.is_empty() || self.data_nxt < self.written {
            if let Some(t) = self.poll_data(now) {
                return Some(t);
            }
        }
        for id in 0..self.subflows.len() {
            if self.subflows[id].lacks_probe() {
                self.subflows[id].stop_probing();
                if let Some((sent, kind)) = self.subflows[id].next_retransmission(now) {
                    return Some(self.retransmission(now, id, &sent, kind));
                }
            }
            if let Some((sent, kind)) = self.subflows[id].next_rescue(now) {
                return Some(self.retransmission(now, id, &sent, kind));
            }
        }
        self.poll_control(now)
    }

    fn poll_syn(&mut self, now: Instant, id: SubflowId) -> Option<Transmit> {
        let checksum = self.config.checksum;
        let mptcp = match (self.members[id].join, self.mode) {
            (Join::First, Mode::Negotiating { own_key }) => match self.subflows[id].state {
                State::SynSent => Mptcp::CapableSyn { checksum },
                _ => Mptcp::CapableSynAck { checksum, key: own_key },
            },
            (Join::First, _) => Mptcp::None,
            (_, Mode::Mptcp(k)) => join_option(&self.members[id], &k),
            _ => Mptcp::None,
        };
        let window = self.edge - self.reassembly.nxt();
        let segment = self.subflows[id].poll_syn(now, window, mptcp, &self.config)?;
        Some(Transmit { subflow: id, kind: SendKind::Control, transmissions: 0, segment })
    }

    /// The window field of a segment on `id`, and the edge it promises.
    fn window(&mut self, id: SubflowId) -> u16 {
        let nxt = self.reassembly.nxt();
        let goal = match self.config.receive_buffer {
            None => nxt + MAX_WINDOW,
            Some(buffer) => {
                // RFC 9293 3.8.6.2.2: no small steps.
                let goal = self.read + buffer;
                let step = u64::from(self.config.mss).min(buffer / 2).max(1);
                if goal >= self.edge + step { goal } else { self.edge }
            }
        };
        let goal = goal.max(self.edge);
        let shift = self.subflows[id].own_shift;
        let field = ((goal - nxt) >> shift).min(65_535);
        self.edge = self.edge.max(nxt + (field << shift));
        field as u16
    }

    /// The DSS option of a segment that maps `data` (if any).
    fn dss(&self, k: &Keys, id: SubflowId, data: Option<(u64, u32, Seq)>) -> Dss {
        let fin_received = u64::from(self.peer_closed);
        let ack = k.peer_first_dsn.wrapping_add(self.reassembly.nxt() + fin_received);
        let mut dss = Dss { data_ack: Some(DataAck::Four(ack as u32)), ..Dss::default() };
        if let Some((data, len, seq)) = data {
            let last = data + u64::from(len) == self.written && self.write_closed && self.fin != Fin::Open;
            dss.data_fin = last;
            // TCP-DOOR's number needs the room.
            let short = self.subflows[id].uses_door();
            let dsn = k.own_first_dsn.wrapping_add(data);
            dss.mapping = Some(Mapping {
                dsn: if short { dsn & u64::from(u32::MAX) } else { dsn },
                short,
                ssn: (seq.0 - self.subflows[id].iss.0) as u32,
                len: (len + u32::from(last)) as u16,
                checksum: self.config.checksum.then_some(0),
            });
        }
        dss
    }

    /// The MPTCP option of a segment with payload.
    fn data_option(&self, id: SubflowId, sent: &Sent) -> Mptcp {
        match self.mode {
            Mode::Mptcp(k) => {
                // 3.1: the first data carries the keys, whatever became of the third ACK. The option has room for no
                // other subflow sequence number than the first: a copy of these data after others needs a DSS.
                let first_here = sent.seq == self.subflows[id].iss + 1;
                if self.client && sent.data == 0 && first_here && self.members[id].join == Join::First {
                    return Mptcp::CapableAck {
                        checksum: self.config.checksum,
                        sender_key: k.own,
                        receiver_key: k.peer,
                        data: Some((sent.len as u16, self.config.checksum.then_some(0))),
                    };
                }
                Mptcp::Dss(self.dss(&k, id, Some((sent.data, sent.len, sent.seq))))
            }
            _ => Mptcp::None,
        }
    }

    fn retransmission(&mut self, now: Instant, id: SubflowId, sent: &Sent, kind: SendKind) -> Transmit {
        let window = self.window(id);
        let mut segment = self.subflows[id].resend(now, sent, window);
        if sent.is_fin() {
            segment.options.mptcp = self.control_option(id);
            return Transmit { subflow: id, kind: SendKind::Control, transmissions: 0, segment };
        }
        segment.options.mptcp = self.data_option(id, sent);
        self.subflows[id].number_for_door(&mut segment);
        Transmit { subflow: id, kind, transmissions: sent.transmissions, segment }
    }

    /// Reinjected and new data (RFC 8684 3.3.6; RFC 9293 3.8.6.2.1 for small segments and windows).
    fn poll_data(&mut self, now: Instant) -> Option<Transmit> {
        let mut any = false;
        for ((c, s), m) in self.candidates.iter_mut().zip(&self.subflows).zip(&self.members) {
            c.can_send = m.ready && s.may_send() && !s.is_stale();
            if c.can_send {
                c.in_flight = s.in_flight();
                c.cwnd = s.controller.window().octets();
                c.can_send = c.in_flight + u64::from(s.mss) <= c.cwnd;
                c.srtt = s.srtt().unwrap_or_default();
                any |= c.can_send;
            }
        }
        if !any {
            self.limit = Limit::Cwnd;
            return None;
        }
        let candidates = &self.candidates;
        let has_way = |stuck_on| candidates.iter().enumerate().any(|(id, c)| c.can_send && id != stuck_on);
        if let Some(stretch) = self.reinjections.next(has_way) {
            let home = self.candidates[stretch.stuck_on].can_send;
            self.candidates[stretch.stuck_on].can_send = false;
            if let Decision::Send(id) = self.scheduler.pick(now, &self.candidates) {
                let len = (stretch.end - stretch.start).min(u64::from(self.subflows[id].mss)) as u32;
                self.reinjections.advance(stretch.stuck_on, u64::from(len));
                return Some(self.send(now, id, stretch.start, len, SendKind::Reinjection));
            }
            self.candidates[stretch.stuck_on].can_send = home;
        }
        let left = self.written - self.data_nxt;
        let usable = self.peer_edge.saturating_sub(self.data_nxt).min(left);
        if left == 0 {
            return None;
        }
        if usable == 0 {
            self.limit = Limit::ReceiveWindow;
            self.arm_persist(now);
            return None;
        }
        let Decision::Send(id) = self.scheduler.pick(now, &self.candidates) else {
            self.limit = Limit::Scheduler;
            return None;
        };
        let mss = self.subflows[id].mss;
        let len = usable.min(u64::from(mss)) as u32;
        if len < mss {
            // RFC 9293 3.7.4, 3.8.6.2.1: a small segment leaves if it is all there is and nothing is unacknowledged (or
            // Nagle's algorithm is off, or nothing will follow); else only if it is half of the largest window seen, or if
            // the window has not opened further in a while.
            let all = usable == left;
            let idle = self.data_nxt == self.data_una;
            let pushed = all && (idle || self.write_closed || !self.config.nagle);
            let half = !all && 2 * usable >= self.peer_window && (idle || !self.config.nagle);
            if !pushed && !half {
                if idle && !all {
                    self.arm_persist(now);
                }
                self.limit = if all { Limit::Application } else { Limit::ReceiveWindow };
                return None;
            }
        }
        let data = self.data_nxt;
        self.data_nxt += u64::from(len);
        Some(self.send(now, id, data, len, SendKind::New))
    }

    fn send(&mut self, now: Instant, id: SubflowId, data: u64, len: u32, kind: SendKind) -> Transmit {
        self.persist_at = None;
        let last = data + u64::from(len) == self.written;
        if last && self.write_closed && self.fin == Fin::Open && matches!(self.mode, Mode::Mptcp(_)) && data > 0 {
            // The DATA_FIN rides on the last data (3.3.3). (Not with MP_CAPABLE, which has no room for it.)
            self.fin = Fin::Sent { again_at: now + self.fin_patience(), tries: 1 };
        }
        let window = self.window(id);
        let (mut segment, sent) = self.subflows[id].send_new(now, data, len, last, window);
        segment.options.mptcp = self.data_option(id, &sent);
        self.subflows[id].number_for_door(&mut segment);
        Transmit { subflow: id, kind, transmissions: 1, segment }
    }

    /// RFC 9293 3.8.6.1, 3.8.6.2.1: the window is closed, or too small to be worth a segment, and nothing is in flight that
    /// would bring news of it.
    fn arm_persist(&mut self, now: Instant) {
        let hopeful = |(s, m): (&Subflow, &Member)| {
            let probing = (1..=PROBES).contains(&m.probes_unanswered);
            s.state != State::Closed && !s.board.is_empty() && (probing || !s.is_stale())
        };
        if self.subflows.iter().zip(&self.members).any(hopeful) {
            return;
        }
        if self.persist_at.is_none() {
            let rto = self.subflows.iter().filter(|s| s.may_send()).map(Subflow::rto).min();
            self.persist_at = Some(now + rto.unwrap_or(self.config.initial_rto));
        }
    }

    /// How long a DATA_FIN waits for its DATA_ACK: the slowest subflow's timeout.
    fn fin_patience(&self) -> Duration {
        let open = self.subflows.iter().filter(|s| s.is_open());
        open.map(Subflow::rto).max().unwrap_or(self.config.initial_rto)
    }

    /// The MPTCP option of a pure acknowledgement on `id`.
    fn control_option(&self, id: SubflowId) -> Mptcp {
        let Mode::Mptcp(k) = self.mode else { return Mptcp::None };
        match self.members[id].join {
            Join::AwaitAck { hmac, .. } => Mptcp::JoinAck { hmac },
            // 3.1: the third ACK carries the keys until the peer shows that it knows them.
            Join::First if self.client && !self.confirmed && self.data_nxt == 0 => Mptcp::CapableAck {
                checksum: self.config.checksum,
                sender_key: k.own,
                receiver_key: k.peer,
                data: None,
            },
            _ => Mptcp::Dss(self.dss(&k, id, None)),
        }
    }

    /// Acknowledgements, FIN, DATA_FIN, zero-window probes, addresses.
    fn poll_control(&mut self, now: Instant) -> Option<Transmit> {
        let control = |id, segment| Some(Transmit { subflow: id, kind: SendKind::Control, transmissions: 0, segment });
        if self.persist_at.is_some_and(|at| at <= now) {
            if let Some(t) = self.probe(now) {
                return Some(t);
            }
        }
        if let Some((id, segment)) = self.poll_data_fin(now) {
            return control(id, segment);
        }
        if let Some((id, segment)) = self.poll_addresses(now) {
            return control(id, segment);
        }
        if matches!(self.mode, Mode::Tcp) {
            self.subflows[0].close |= self.write_closed && self.data_nxt == self.written;
        }
        for id in 0..self.subflows.len() {
            let s = &self.subflows[id];
            if s.state == State::Closed {
                continue;
            }
            if s.close {
                let window = self.window(id);
                if let Some(mut segment) = self.subflows[id].poll_fin(now, window) {
                    segment.options.mptcp = self.control_option(id);
                    return control(id, segment);
                }
            }
            if self.subflows[id].ack_is_due() {
                let option = self.control_option(id);
                return control(id, self.acknowledgement(now, id, option));
            }
        }
        None
    }

    fn acknowledgement(&mut self, now: Instant, id: SubflowId, option: Mptcp) -> Segment {
        let window = self.window(id);
        self.subflows[id].make_ack(now, window, option)
    }

    /// What a small window takes, or one octet beyond a closed one.
    fn probe(&mut self, now: Instant) -> Option<Transmit> {
        self.persist_at = None;
        if self.data_nxt == self.written {
            return None;
        }
        let ready = |&id: &usize| self.members[id].ready && self.subflows[id].may_send();
        let key = |&id: &usize| (self.subflows[id].is_stale(), self.subflows[id].rto());
        let id = (0..self.subflows.len()).filter(ready).min_by_key(key)?;
        let (data, mss) = (self.data_nxt, u64::from(self.subflows[id].mss));
        let usable = self.peer_edge.saturating_sub(data).min(self.written - data).min(mss);
        let (len, kind) = if usable == 0 { (1, SendKind::Probe) } else { (usable, SendKind::New) };
        self.data_nxt += len;
        Some(self.send(now, id, data, len as u32, kind))
    }

    /// A DATA_FIN by itself (RFC 8684 3.3.3): with subflow sequence number 0 and length 1.
    fn poll_data_fin(&mut self, now: Instant) -> Option<(SubflowId, Segment)> {
        let Mode::Mptcp(k) = self.mode else { return None };
        if !self.write_closed || self.data_nxt < self.written {
            return None;
        }
        // 3.1: the third ACK with the keys goes first, without which a DSS means nothing to the server.
        if self.client && !self.confirmed && self.subflows[0].ack_is_due() {
            return None;
        }
        let tries = match self.fin {
            Fin::Open => 0,
            Fin::Sent { again_at, tries } if again_at <= now => tries,
            _ => return None,
        };
        let open = |&id: &usize| self.members[id].ready && self.subflows[id].is_open();
        // Repeated on every subflow in turn: one of them may be dead.
        let n = (0..self.subflows.len()).filter(open).count();
        let id = (0..self.subflows.len()).filter(open).nth(tries as usize % n.max(1))?;
        // With all data acknowledged nothing else finds out that the peer is gone.
        if tries > FIN_TRIES * self.config.max_retransmissions && self.data_una == self.written {
            self.give_up();
            return None;
        }
        let patience = self.fin_patience().saturating_mul(1 << tries.min(FIN_BACKOFF));
        self.fin = Fin::Sent { again_at: now + patience, tries: tries + 1 };
        let mut dss = self.dss(&k, id, None);
        dss.data_fin = true;
        let dsn = k.own_first_dsn.wrapping_add(self.written);
        dss.mapping = Some(Mapping { dsn, short: false, ssn: 0, len: 1, checksum: self.config.checksum.then_some(0) });
        Some((id, self.acknowledgement(now, id, Mptcp::Dss(dss))))
    }

    /// A subflow that may carry signals of the connection.
    fn ready_subflow(&self) -> Option<SubflowId> {
        (0..self.subflows.len()).find(|&id| self.members[id].ready && self.subflows[id].is_open())
    }

    /// ADD_ADDR and its echo, each on a pure acknowledgement of its own.
    fn poll_addresses(&mut self, now: Instant) -> Option<(SubflowId, Segment)> {
        let Mode::Mptcp(k) = self.mode else { return None };
        for id in 0..self.members.len() {
            if let (Some((addr_id, addr)), true) = (self.members[id].echo.take(), self.subflows[id].is_open()) {
                let option = Mptcp::AddAddr { address: AddrId { id: addr_id, addr }, hmac: None };
                return Some((id, self.acknowledgement(now, id, option)));
            }
        }
        if !self.confirmed || self.closed || self.announcements.is_empty() {
            return None;
        }
        let id = self.ready_subflow()?;
        let patience = self.config.initial_rto;
        let due = self.announcements.iter_mut().find(|a| a.tries < TRIES && (a.tries == 0 || a.at <= now))?;
        due.tries += 1;
        due.at = now + patience.saturating_mul(1 << (due.tries - 1));
        let hmac = keys::add_addr_hmac(k.own, k.peer, due.id, due.addr, 0);
        let option = Mptcp::AddAddr { address: AddrId { id: due.id, addr: due.addr }, hmac: Some(hmac) };
        Some((id, self.acknowledgement(now, id, option)))
    }
}

/// The answer of a host that has no such connection (RFC 9293 3.10.7.1); `None` for a RST.
pub fn reset_for(seg: &Segment) -> Option<Segment> {
    if seg.flags.has(Flags::RST) {
        return None;
    }
    Some(if seg.flags.has(Flags::ACK) {
        Segment { seq: seg.ack, flags: Flags::RST, ..Segment::default() }
    } else {
        let ack = seg.seq.wrapping_add(seg.seq_len() as u32);
        Segment { ack, flags: Flags::RST.with(Flags::ACK), ..Segment::default() }
    })
}
