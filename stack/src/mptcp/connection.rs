//! A connection: one data stream in each direction over any number of subflows, or over plain TCP.
//!
//! Sans IO: segments and time come in by `handle_*`, the application by `write`, `read`, `shutdown_write` and `close`; segments, the next
//! deadline and events go out by `poll_*`. Payload never passes through here: data are ranges of the stream.

mod arriving;
mod composing;
mod ending;
mod fallback;
mod handshakes;
mod leaving;
mod opening;
mod predicted;
mod progress;
mod retransmit;
mod scheduling;
mod signals;
#[cfg(test)]
mod tests;
mod timing;

use core::num::NonZeroU16;

use ending::FastClose;
pub use ending::Linger;
use fallback::{Failing, Plain, Run};
use predicted::Quiet;
use retransmit::DataTimer;
use scheduling::Copies;

use super::dss::{Mappings, Placed, Reassembly};
use super::handshake::{Announcement, Join, Keys, Member, Mode, Suspicion, join_option};
use super::keys::{self, Entropy};
use super::paths::Paths;
use super::reinject::Reinjections;
use super::verify::{Broken, Checks};
use crate::config::{Acknowledgement, Config};
use crate::controller::Adjust;
use crate::event::{ArrivalKind, EndReason, Event, Events, FallbackCause, Limit, SendKind, SubflowId};
use crate::ranges::RangeSet;
use crate::scheduler::{Assignment, Decision, Offer, Scheduler, Subflows};
use crate::scoreboard::Sent;
use crate::segment::{
    AddrId, AddrIds, Advertised, DataAck, Dss, Flags, Mapping, Mptcp, OPTION_SPACE, Options, Payload, ResetReason,
    Segment, Signal, TcpRst,
};
use crate::seq::Seq;
use crate::tcp::receiver::reassembly::{Arrival, Piece, Receiver};
use crate::tcp::subflow::{Check, State, Subflow};
use crate::time::{Duration, Instant};
use crate::wire::checksum::{Sum, dss_pseudo_header};

/// A segment to send.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Transmit {
    /// On which subflow.
    pub subflow: SubflowId,
    /// What it is.
    pub kind: SendKind,
    /// How often this segment has been sent on this subflow, this time included; zero without payload.
    pub transmissions: u8,
    /// How many subflows could have taken it; zero if the scheduler was not asked.
    pub choices: u16,
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
/// SYNs with MP_CAPABLE that go without an answer before one is sent without (as many as Linux sends by default).
const CAPABLE_SYNS: u32 = 3;
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
    /// The peer is known to have understood us: a DSS (client) or its third ACK (server) has come.
    confirmed: bool,
    /// A DSS has come: subflows may be opened.
    dss_came: bool,
    paths: Paths,
    scheduler: Box<dyn Scheduler>,
    /// Delivery rates are sampled.
    rates: bool,
    /// The scheduler may send again what was sent before.
    resends: bool,
    /// Copies of what has left that are to leave on further subflows.
    copies: Copies,
    // our data
    written: u64,
    write_closed: bool,
    /// The application will read no more.
    read_closed: bool,
    data_nxt: u64,
    data_una: u64,
    /// The peer accepts data up to here.
    peer_edge: u64,
    /// The largest window it has shown.
    peer_window: u64,
    fin: Fin,
    reinjections: Reinjections,
    data_timer: Option<DataTimer>,
    /// Our newest data, as far back as they went out in one piece.
    run: Option<Run>,
    plain: Plain,
    failing: Option<Failing>,
    limit: Limit,
    persist_at: Option<Instant>,
    /// The scheduler has something to send, and wants to be asked again at this time.
    schedule_at: Option<Instant>,
    /// Every subflow has been closed, but not the connection: it ends at this time (RFC 8684 3.3.3).
    orphaned_until: Option<Instant>,
    announcements: Vec<Announcement>,
    /// Identifiers of our addresses that are gone, to be told.
    removals: Vec<u8>,
    /// Addresses the peer has advertised.
    peer_addresses: Vec<Advertised>,
    fast_close: Option<FastClose>,
    // the peer's data
    reassembly: Reassembly,
    /// The mapping that came last has a data sequence number of 64 bits, so DATA_ACKs have (RFC 8684 3.3.2).
    long_dsn: bool,
    read: u64,
    /// The right edge of the window we advertised; never moves back.
    edge: u64,
    /// Offset after the peer's last octet, once its FIN or DATA_FIN has come.
    peer_end: Option<u64>,
    peer_closed: bool,
    closed: bool,
    delivered: Vec<Piece>,
    events: Events,
    quiet: Quiet,
    /// New data went out by this subflow, and nothing else has happened since ([`predicted`]).
    flowing: Option<SubflowId>,
}

impl Connection {
    fn new(config: Config, entropy: Entropy, client: bool) -> Self {
        let edge = config.receive_buffer.unwrap_or(MAX_WINDOW);
        let scheduler = config.scheduler.make(&config.setup());
        Self {
            rates: config.wants_rates(),
            resends: scheduler.resends(),
            scheduler,
            copies: Copies::new(),
            config,
            entropy,
            client,
            mode: Mode::Tcp,
            confirmed: false,
            dss_came: false,
            paths: Paths::default(),
            written: 0,
            write_closed: false,
            read_closed: false,
            data_nxt: 0,
            data_una: 0,
            peer_edge: 0,
            peer_window: 0,
            fin: Fin::Open,
            reinjections: Reinjections::default(),
            data_timer: None,
            run: None,
            plain: Plain::default(),
            failing: None,
            limit: Limit::Application,
            persist_at: None,
            schedule_at: None,
            orphaned_until: None,
            announcements: Vec::new(),
            removals: Vec::new(),
            fast_close: None,
            peer_addresses: Vec::new(),
            reassembly: Reassembly::default(),
            long_dsn: false,
            read: 0,
            edge,
            peer_end: None,
            peer_closed: false,
            closed: false,
            delivered: Vec::new(),
            events: Events::new(),
            quiet: Quiet::default(),
            flowing: None,
        }
    }

    /// Opens a connection: the first `poll_transmit` gives the SYN. The configuration's names must be registered.
    pub fn connect(config: Config, entropy: Entropy) -> Self {
        Self::connect_among(config, entropy, |_| false)
    }

    /// As [`Connection::connect`] on a host where some tokens are in use: the key is one whose token is not (RFC 8684 3.1).
    pub fn connect_among(config: Config, mut entropy: Entropy, in_use: impl Fn(u32) -> bool) -> Self {
        let key = keys::draw(&mut entropy, in_use);
        let iss = entropy.next_u32();
        let mut c = Self::new(config, entropy, true);
        if c.config.mptcp {
            c.mode = Mode::Negotiating { own_key: key };
        }
        let subflow = Subflow::connect(0, &c.config, iss, c.window_shift());
        c.paths.add(subflow, Member::new(Join::First, 0));
        c
    }

    /// Answers a SYN that opens a connection (no MP_JOIN).
    pub fn accept(config: Config, entropy: Entropy, syn: &Segment) -> Self {
        Self::accept_among(config, entropy, syn, |_| false)
    }

    /// As [`Connection::accept`] on a host where some tokens are in use: the key is one whose token is not (RFC 8684 3.1).
    pub fn accept_among(config: Config, mut entropy: Entropy, syn: &Segment, in_use: impl Fn(u32) -> bool) -> Self {
        let key = keys::draw(&mut entropy, in_use);
        let iss = entropy.next_u32();
        let mut c = Self::new(config, entropy, false);
        if let (true, Mptcp::CapableSyn { checksum }) = (c.config.mptcp, syn.options.mptcp) {
            c.mode = Mode::Negotiating { own_key: key };
            c.config.checksum |= checksum;
        } else if c.config.mptcp {
            c.never_multipath(0, FallbackCause::Syn);
        }
        let subflow = Subflow::accept(0, &c.config, iss, c.window_shift(), syn);
        c.paths.add(subflow, Member::new(Join::First, 0));
        c.peer_edge = u64::from(syn.window);
        c.peer_window = c.peer_edge;
        c
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

    /// The subflows by their numbers, ended ones included.
    pub fn subflows(&self) -> &[Subflow] {
        &self.paths.subflows
    }

    /// Segments and octets this host holds for reordering: for holes in the subflows and in the data stream. An octet of which
    /// copies wait on several subflows counts on each of them, which can add up to more than the receive buffer; the buffer
    /// bounds how many different octets there are.
    pub fn held(&self) -> (u64, u64) {
        let mut sum = self.reassembly.held();
        for (s, _) in self.paths.active() {
            let (packets, octets) = s.held();
            sum.0 += packets;
            sum.1 += octets;
        }
        sum
    }

    /// Of these, what came by `subflow`.
    pub fn held_by(&self, subflow: SubflowId) -> (u64, u64) {
        let (packets, octets) = self.paths.subflows[subflow].held();
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

    /// Octets that [`Connection::write`] takes now: what the send buffer has room for.
    #[inline]
    pub fn writable(&self) -> u64 {
        self.config.send_buffer.map_or(u64::MAX, |buffer| buffer.saturating_sub(self.unacknowledged()))
    }

    /// Appends up to `octets` to our stream; returns how many, which is less where the send buffer is full. The rest is to be
    /// offered again when something was acknowledged.
    pub fn write(&mut self, octets: u64) -> u64 {
        debug_assert!(!self.write_closed, "write after shutdown_write or close");
        let taken = octets.min(self.writable());
        if taken > 0 {
            self.quiet = Quiet::default();
        }
        self.written += taken;
        taken
    }

    /// SHUTDOWN: nothing more will be written. What the peer sends can still be read; [`Connection::close`] ends both.
    pub fn shutdown_write(&mut self) {
        self.disturb();
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
                self.disturb();
                for &id in &self.paths.active {
                    if self.paths.subflows[id].is_open() && self.paths.members[id].ready {
                        self.paths.subflows[id].acks.now();
                    }
                }
            }
        }
        octets
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

/// The answer to a SYN with MP_JOIN that no connection takes (RFC 8684 3.2), with the reason.
pub fn refusal(syn: &Segment, tcp_rst: TcpRst) -> Option<Segment> {
    let mut reset = reset_for(syn)?;
    reset.options.tcp_rst = Some(tcp_rst);
    Some(reset)
}
