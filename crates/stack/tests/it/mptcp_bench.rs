//! One endpoint against a hand-written peer that speaks MPTCP: the test makes each segment, the engine answers.
//!
//! Sequence numbers are relative to each side's initial one (the first octet of a subflow is 1), data are offsets in a
//! side's stream (the first octet is 0); the bench adds initial sequence numbers and initial data sequence numbers.
//!
//! ```text
//! let mut s = Script::server(mptcp());
//! let out = s.give(0, s.data(0, 1, 0, 1000));          // subflow 0, sequence 1, data 0 to 999
//! assert_eq!(s.data_ack(&out[0]), Some(1000));
//! ```

use anabranch_stack::event::{Event, SendKind};
use anabranch_stack::mptcp::keys;
use anabranch_stack::segment::{
    AddrId, Advertised, DataAck, Dss, Flags, Mapping, Mptcp, Options, Payload, Segment, Signal,
};
use anabranch_stack::time::{Duration, Instant};
use anabranch_stack::{Config, Connection, Transmit};

use crate::pair::{Happening, Pair, Side, entropy, ms, tcp};

/// An MPTCP endpoint with full segments of 1000 octets: no timestamps, no delayed acknowledgements, NewReno's window.
pub fn mptcp() -> Config {
    tcp().mptcp(true)
}

/// The key that an endpoint whose secret is called `n` draws: its first number.
pub fn key_of(n: u64) -> u64 {
    entropy(n).next_u64()
}

/// The key of the client of [`Pair::seeded`], and of its server.
pub fn keys_of_pair(seed: u64) -> (u64, u64) {
    (key_of(2 * seed), key_of(2 * seed + 1))
}

/// The data sequence number of the first octet of whoever has `key` (RFC 8684 3.1: the initial one and one).
pub fn first_dsn(key: u64) -> u64 {
    keys::initial_dsn(key).wrapping_add(1)
}

/// Two MPTCP endpoints with a path for each of `delays` (milliseconds, each way), joined over all of them once the first
/// subflow is confirmed. The client has written `octets` by then; returned at the moment after the last join's SYN left.
pub fn joined(client: Config, server: Config, delays: &[u64], octets: u64) -> Pair {
    let paths: Vec<Duration> = delays.iter().map(|&d| ms(d)).collect();
    let mut pair = Pair::seeded(client, server, &paths, 1);
    pair.write(Side::A, octets);
    // SYN 1, SYN/ACK 2, data 3, DATA_ACK 4 delays of path 0.
    pair.run_until(Instant::ZERO + ms(4 * delays[0]));
    for path in 1..delays.len() {
        assert_eq!(pair.open(Side::A, path, path as u8), Some(path));
    }
    pair
}

/// What one side has said of its window, and what the other has heard.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    /// Foremost right edge on the wire, as an offset in the peer's stream.
    edge: u64,
    /// Foremost DATA_ACK on the wire.
    ack: u64,
    /// A segment without a DATA_ACK left since: what it promised only its sender knows.
    unknown: bool,
    /// The same two as the peer has heard them.
    heard_edge: u64,
    heard_ack: u64,
}

impl Window {
    /// A segment leaves; returns the right edge it shows.
    fn leaves(&mut self, seg: &Segment, first: u64, shift: &mut u8) -> Option<u64> {
        if seg.flags.has(Flags::SYN) {
            // A host scales alike on all its subflows.
            *shift = seg.options.window_scale.unwrap_or(0);
            self.edge = self.edge.max(u64::from(seg.window));
            return None;
        }
        self.unknown = data_ack_of(seg, first, self.ack).is_none();
        let ack = data_ack_of(seg, first, self.ack)?;
        self.ack = self.ack.max(ack);
        let edge = ack + (u64::from(seg.window) << *shift);
        self.edge = self.edge.max(edge);
        Some(edge)
    }

    /// It arrives at the peer. A window without a DATA_ACK counts from the beginning; that of a SYN is not scaled.
    fn arrives(&mut self, seg: &Segment, first: u64, shift: u8) {
        let ack = data_ack_of(seg, first, self.heard_ack).unwrap_or(0);
        self.heard_ack = self.heard_ack.max(ack);
        let shift = if seg.flags.has(Flags::SYN) { 0 } else { shift };
        self.heard_edge = self.heard_edge.max(ack + (u64::from(seg.window) << shift));
    }
}

/// Watches both windows of a pair made with `seed`, and panics when
/// - a right edge (DATA_ACK and window, whatever the subflow: RFC 8684 3.3.1, 3.3.2) moves back by more than scaling rounds,
/// - new data leave beyond the right edge that their sender has heard of,
/// - a host takes octets beyond the right edge it has shown, or shows one beyond what it has read and its buffer (of
///   `buffers`, for A and for B): so that the octets it keeps never exceed the buffer.
pub fn watch_windows(pair: &mut Pair, seed: u64, buffers: [Option<u64>; 2]) {
    let (a, b) = keys_of_pair(seed);
    let first = [first_dsn(a), first_dsn(b)];
    let mut windows = [Window::default(); 2];
    let mut shifts = [0; 2];
    // The handshake may be over already: what was said before counts as heard.
    for p in &pair.log {
        let (mine, peers) = (p.from as usize, p.from.other() as usize);
        windows[mine].leaves(p.segment(), first[peers], &mut shifts[mine]);
        windows[mine].arrives(p.segment(), first[peers], shifts[mine]);
    }
    pair.watch(move |now, side, c, what| match what {
        // Three SYNs were lost, and MPTCP was given up: windows count from the acknowledgement number.
        _ if !c.is_multipath() => {}
        Happening::Leaves(p) => {
            let seg = p.segment();
            let (mine, peers) = (side as usize, side.other() as usize);
            let before = windows[mine].edge;
            if let Some(edge) = windows[mine].leaves(seg, first[peers], &mut shifts[mine]) {
                assert!(
                    edge + (1 << shifts[mine]) > before,
                    "{now}: {side:?} moves its edge back, {edge} after {before}"
                );
                let promised = c.inbound().readable() + (u64::from(seg.window) << shifts[mine]);
                let buffer = buffers[mine].unwrap_or(u64::MAX);
                assert!(promised <= buffer, "{now}: {side:?} promises {promised} octets of a buffer of {buffer}");
            }
            let end = seg.payload.offset + u64::from(seg.payload.len);
            let heard = windows[peers].heard_edge;
            let beyond = u64::from(p.transmit.kind != SendKind::New);
            assert!(
                seg.payload.len == 0 || end <= heard + beyond,
                "{now}: {side:?} sends up to {end} as {:?}, against a window up to {heard}",
                p.transmit.kind
            );
        }
        Happening::Arrived(_, _, seg) => {
            let (mine, peers) = (side as usize, side.other() as usize);
            windows[peers].arrives(seg, first[mine], shifts[peers]);
        }
        Happening::Event(Event::Arrived { data, len, .. }) => {
            let (end, w) = (data + u64::from(len), windows[side as usize]);
            let good = end <= w.edge || w.unknown;
            assert!(good, "{now}: {side:?} takes octets up to {end}, beyond its window up to {}", w.edge);
        }
        _ => {}
    });
}

/// The DATA_ACK of a segment as an offset, near one that is known.
fn data_ack_of(seg: &Segment, first: u64, near: u64) -> Option<u64> {
    match seg.dss()?.data_ack? {
        DataAck::Four(low) => {
            let ahead = low.wrapping_sub(first.wrapping_add(near) as u32) as i32;
            Some(near.saturating_add_signed(i64::from(ahead)))
        }
        DataAck::Eight(dsn) => Some(dsn.wrapping_sub(first)),
    }
}

#[derive(Clone, Copy, Debug)]
struct Flow {
    engine_isn: u32,
    peer_isn: u32,
}

/// The engine and what its peer knows.
pub struct Script {
    /// The engine.
    pub c: Connection,
    /// The time.
    pub now: Instant,
    /// The engine's key.
    pub key: u64,
    /// The peer's key.
    pub peer_key: u64,
    /// Events so far.
    pub events: Vec<Event>,
    flows: Vec<Flow>,
}

/// Name of the engine's secret.
const SECRET: u64 = 77;
/// The peer's key and its initial sequence number on its first subflow.
pub const PEER_KEY: u64 = 0x0123_4567_89ab_cdef;
const PEER_ISN: u32 = 5_000_000;

/// The SYN of a peer with the options `mptcp` brings: a window of 65535 octets, no window scaling at its side.
pub fn peer_syn(mptcp: Mptcp) -> Segment {
    let options = Options { mss: Some(1040), window_scale: Some(0), sack_permitted: true, mptcp, ..Options::default() };
    Segment { seq: PEER_ISN, window: 65_535, flags: Flags::SYN, options, ..Segment::default() }
}

/// An ADD_ADDR without a port; without an HMAC its echo.
pub fn add_addr(address: AddrId, hmac: Option<u64>) -> Signal {
    let advertised = Advertised { address, port: None };
    hmac.map_or(Signal::AddAddrEcho(advertised), |hmac| Signal::AddAddr { advertised, hmac })
}

impl Script {
    /// The engine answers a peer that opens; the third ACK has arrived.
    pub fn server(config: Config) -> Self {
        let mut s = Self::listening(config, PEER_KEY);
        let third = s.third_ack();
        s.give(0, third);
        s
    }

    /// The engine has answered the SYN of a peer with `peer_key`.
    pub fn listening(config: Config, peer_key: u64) -> Self {
        let syn = peer_syn(Mptcp::CapableSyn { no_join: false, checksum: config.checksum });
        let mut c = Connection::accept(config, entropy(SECRET), &syn);
        let syn_ack = c.poll_transmit(Instant::ZERO).expect("a SYN is answered").segment;
        let flow = Flow { engine_isn: syn_ack.seq, peer_isn: PEER_ISN };
        Self { c, now: Instant::ZERO, key: key_of(SECRET), peer_key, events: Vec::new(), flows: vec![flow] }
    }

    /// The peer's third ACK, with both keys.
    pub fn third_ack(&self) -> Segment {
        let option =
            Mptcp::CapableAck { checksum: false, sender_key: self.peer_key, receiver_key: self.key, data: None };
        self.ack(0, 1, 1, option)
    }

    /// The engine opens; the peer has answered with MP_CAPABLE and knows the third ACK.
    pub fn client(config: Config) -> Self {
        let mut s = Self::opening(config);
        let out = s.give(0, s.syn_ack(Mptcp::CapableSynAck { no_join: false, checksum: false, key: PEER_KEY }));
        assert!(matches!(out[0].segment.options.mptcp, Mptcp::CapableAck { .. }));
        // The peer shows that it knows the keys.
        s.give(0, s.dss(0, 1, 1, Some(0), None));
        s
    }

    /// The engine has sent its SYN.
    pub fn opening(config: Config) -> Self {
        let mut c = Connection::connect(config, entropy(SECRET));
        let syn = c.poll_transmit(Instant::ZERO).expect("a SYN leaves").segment;
        let flow = Flow { engine_isn: syn.seq, peer_isn: PEER_ISN };
        Self { c, now: Instant::ZERO, key: key_of(SECRET), peer_key: PEER_KEY, events: Vec::new(), flows: vec![flow] }
    }

    /// The peer's SYN/ACK for the engine's first SYN.
    pub fn syn_ack(&self, mptcp: Mptcp) -> Segment {
        let ack = self.flows[0].engine_isn.wrapping_add(1);
        Segment { ack, flags: Flags::SYN.with(Flags::ACK), ..peer_syn(mptcp) }
    }

    /// The peer joins with a further subflow; the fourth ACK has left. Returns its number.
    pub fn join(&mut self) -> usize {
        let (flow, nonce, peer_nonce) = self.join_half();
        let out = self.give(flow, self.join_ack(flow, nonce, peer_nonce));
        assert_eq!(out.len(), 1, "the fourth ACK");
        flow
    }

    /// As [`Script::join`] up to the SYN/ACK; returns the subflow and both nonces, the engine's first.
    pub fn join_half(&mut self) -> (usize, u32, u32) {
        let next = self.flows.len();
        let (peer_isn, peer_nonce) = (900_000_000 + next as u32, 40 + next as u32);
        let option =
            Mptcp::JoinSyn { backup: false, address_id: next as u8, token: keys::token(self.key), nonce: peer_nonce };
        let syn = Segment { seq: peer_isn, ..peer_syn(option) };
        let flow = self.c.accept_join(&syn, next as u8, false).expect("there is room");
        let out = self.poll();
        let Mptcp::JoinSynAck { nonce, hmac, .. } = out[0].segment.options.mptcp else { panic!("{out:?}") };
        assert_eq!(hmac, keys::truncate_64(&keys::join_hmac(self.key, self.peer_key, nonce, peer_nonce)));
        let known = Flow { engine_isn: out[0].segment.seq, peer_isn };
        match self.flows.get_mut(flow) {
            Some(old) => *old = known,
            None => self.flows.push(known),
        }
        (flow, nonce, peer_nonce)
    }

    /// Subflows that were opened, ended ones included.
    pub fn flows_opened(&self) -> usize {
        self.flows.len()
    }

    /// The engine joins; its SYN has left. Returns the subflow's number and the engine's nonce.
    pub fn open(&mut self) -> (usize, u32) {
        let flow = self.c.open_subflow(self.flows.len() as u8, 0, false).expect("it is confirmed");
        let out = self.poll();
        let Mptcp::JoinSyn { nonce, token, .. } = out[0].segment.options.mptcp else { panic!("{out:?}") };
        assert_eq!(token, keys::token(self.peer_key));
        self.flows.push(Flow { engine_isn: out[0].segment.seq, peer_isn: 900_000_000 + flow as u32 });
        (flow, nonce)
    }

    /// The peer's SYN/ACK for the engine's join, with its nonce 9 and the right HMAC.
    pub fn join_answer(&self, flow: usize, nonce: u32) -> Segment {
        let hmac = keys::truncate_64(&keys::join_hmac(self.peer_key, self.key, 9, nonce));
        let option = Mptcp::JoinSynAck { backup: false, address_id: flow as u8, hmac, nonce: 9 };
        Segment {
            options: peer_syn(option).options,
            flags: Flags::SYN.with(Flags::ACK),
            ..self.ack(flow, 0, 1, option)
        }
    }

    /// The engine joins with a further subflow, and the peer's fourth ACK has come. Returns its number.
    pub fn open_fully(&mut self) -> usize {
        let (flow, nonce) = self.open();
        self.give(flow, self.join_answer(flow, nonce));
        self.give(flow, self.dss(flow, 1, 1, None, None));
        flow
    }

    /// The peer's third ACK of a join.
    pub fn join_ack(&self, flow: usize, nonce: u32, peer_nonce: u32) -> Segment {
        let hmac = keys::truncate_160(&keys::join_hmac(self.peer_key, self.key, peer_nonce, nonce));
        self.ack(flow, 1, 1, Mptcp::JoinAck { hmac })
    }

    // ---- what the peer sends -----------------------------------------------------------------------------------

    /// A pure acknowledgement with that option.
    pub fn ack(&self, flow: usize, seq: u32, ack: u32, mptcp: Mptcp) -> Segment {
        let f = self.flows[flow];
        Segment {
            seq: f.peer_isn.wrapping_add(seq),
            ack: f.engine_isn.wrapping_add(ack),
            window: 65_535,
            flags: Flags::ACK,
            options: Options { mptcp, ..Options::default() },
            ..Segment::default()
        }
    }

    /// A pure acknowledgement of nothing but the SYN, with that signal.
    pub fn signal(&self, flow: usize, signal: Signal) -> Segment {
        let mut seg = self.ack(flow, 1, 1, Mptcp::None);
        seg.options.signal = signal;
        seg
    }

    /// A pure acknowledgement with a DSS: data acknowledged (an offset), and a mapping.
    pub fn dss(&self, flow: usize, seq: u32, ack: u32, data_ack: Option<u64>, mapping: Option<Mapping>) -> Segment {
        let data_ack = data_ack.map(|offset| DataAck::Four(self.engine_dsn(offset) as u32));
        self.ack(flow, seq, ack, Mptcp::Dss(Dss { data_ack, mapping, data_fin: false }))
    }

    /// `len` octets of data from `offset`, mapped by themselves.
    pub fn data(&self, flow: usize, seq: u32, offset: u64, len: u32) -> Segment {
        let mapping = self.mapping(offset, seq, len as u16);
        Segment { payload: Payload::new(offset, len), ..self.dss(flow, seq, 1, None, Some(mapping)) }
    }

    /// `len` octets of data from `offset` without an MPTCP option.
    pub fn bare(&self, flow: usize, seq: u32, offset: u64, len: u32) -> Segment {
        Segment { payload: Payload::new(offset, len), ..self.ack(flow, seq, 1, Mptcp::None) }
    }

    /// The last octets of the peer's stream: as [`Script::data`], with a DATA_FIN; without octets the DATA_FIN alone.
    pub fn data_fin(&self, flow: usize, seq: u32, offset: u64, len: u32) -> Segment {
        let mut seg = self.data(flow, seq, offset, len);
        let ssn = if len == 0 { 0 } else { seq };
        let mapping = Some(self.mapping(offset, ssn, len as u16 + 1));
        seg.options.mptcp = Mptcp::Dss(Dss { data_ack: None, mapping, data_fin: true });
        seg
    }

    /// A mapping of the peer's data.
    pub fn mapping(&self, offset: u64, ssn: u32, len: u16) -> Mapping {
        Mapping { dsn: self.peer_dsn(offset), short: false, ssn, len, checksum: None }
    }

    /// The data sequence number of the peer's octet at `offset`.
    pub fn peer_dsn(&self, offset: u64) -> u64 {
        first_dsn(self.peer_key).wrapping_add(offset)
    }

    /// The data sequence number of the engine's octet at `offset`.
    pub fn engine_dsn(&self, offset: u64) -> u64 {
        first_dsn(self.key).wrapping_add(offset)
    }

    // ---- what the engine sends ---------------------------------------------------------------------------------

    /// `segment` arrives on `flow`; returns what leaves.
    pub fn give(&mut self, flow: usize, segment: Segment) -> Vec<Transmit> {
        self.c.handle_segment(self.now, flow, &segment);
        self.poll()
    }

    /// All that leaves now.
    pub fn poll(&mut self) -> Vec<Transmit> {
        let mut out = Vec::new();
        while let Some(t) = self.c.poll_transmit(self.now) {
            out.push(t);
            assert!(out.len() < 10_000, "it never stops: {t:?}");
        }
        while let Some(event) = self.c.poll_event() {
            self.events.push(event);
        }
        out
    }

    /// All that leaves up to `after` from now, with its time.
    pub fn wait(&mut self, after: Duration) -> Vec<(Instant, Transmit)> {
        let until = self.now + after;
        let mut out = Vec::new();
        while let Some(at) = self.c.poll_timeout().filter(|&at| at <= until) {
            assert!(at > self.now || out.is_empty(), "a timer that is due stays due at {at}");
            self.now = self.now.max(at);
            self.c.handle_timeout(self.now);
            let now = self.now;
            out.extend(self.poll().into_iter().map(|t| (now, t)));
            assert!(self.c.poll_timeout().is_none_or(|next| next > self.now), "a timer that is due stays due at {at}");
        }
        self.now = until;
        out
    }

    /// Offset that a segment of the engine acknowledges at data level (the 4-octet form, near the start of the stream).
    pub fn data_ack(&self, t: &Transmit) -> Option<u32> {
        match t.segment.dss()?.data_ack? {
            DataAck::Four(low) => Some(low.wrapping_sub(self.peer_dsn(0) as u32)),
            DataAck::Eight(dsn) => Some(dsn.wrapping_sub(self.peer_dsn(0)) as u32),
        }
    }

    /// What a segment of the engine acknowledges on its subflow, relative.
    pub fn subflow_ack(&self, t: &Transmit) -> u32 {
        t.segment.ack.wrapping_sub(self.flows[t.subflow].peer_isn)
    }

    /// The sequence number of a segment of the engine, relative.
    pub fn seq(&self, t: &Transmit) -> u32 {
        t.segment.seq.wrapping_sub(self.flows[t.subflow].engine_isn)
    }

    /// What the engine's application can read and reads now.
    pub fn read(&mut self) -> u64 {
        self.c.read(u64::MAX)
    }

    /// How many events satisfy `wanted`.
    pub fn count(&self, wanted: impl Fn(&Event) -> bool) -> usize {
        self.events.iter().filter(|e| wanted(e)).count()
    }
}
