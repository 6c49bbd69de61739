//! A connection: one data stream in each direction over any number of subflows, or over plain TCP.
//!
//! The engine does no I/O. Segments and time enter through `handle_*`, the application acts through `write`, `read`,
//! `shutdown_write` and `close`, and `poll_*` returns segments, the next deadline and events. Payload octets never pass through
//! here: data is a range of offsets in the stream.

mod arriving;
mod ending;
mod fallback;
mod fast_open;
mod handshakes;
mod icmp;
pub mod info;
mod leaving;
mod manner;
mod opening;
mod patience;
mod predicted;
mod progress;
mod queries;
mod signals;
#[cfg(test)]
mod tests;
mod timing;

pub use super::negotiation::JoinRefusal;
pub use super::outgoing::{Outgoing, Transmit};
pub use super::streams::{Inbound, Outbound};
pub use ending::Linger;
pub use icmp::IcmpError;
pub use manner::Setting;
pub use predicted::Predicted;

use super::addresses::Addresses;
use super::composing::Composing;
use super::distribution::{Distribution, PROBES, Sending};
use super::fallback::Fallback;
use super::fast_path::FastPath;
use super::handshake::{Join, Member};
use super::keys::{self, Entropy};
use super::liveness::Liveness;
use super::negotiation::Negotiation;
use super::paths::Paths;
use super::receiving::Receiving;
use super::recv_stream::{RecvStream, window_shift};
use super::send_stream::SendStream;
use super::timers::Timers;
use crate::config::Config;
use crate::event::{Event, Events, FallbackCause};
use crate::segment::{Flags, Mptcp, Segment, TcpRst};
use crate::tcp::subflow::Subflow;

/// Octets from RCV.NXT on in which a multipath subflow accepts segments. The connection's window is checked at data level.
const SUBFLOW_WINDOW: u64 = 1 << 30;
/// One endpoint of a connection.
///
/// Fields are ordered by use: with thousands of connections each cache line that an event touches is a cache miss.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Connection {
    // what every packet asks
    paths: Paths,
    negotiation: Negotiation,
    fast: FastPath,
    distribution: Distribution,
    send: SendStream,
    recv: RecvStream,
    // what may be in progress
    timers: Timers,
    addresses: Addresses,
    // the peer's data
    events: Events,
    // what leaves
    liveness: Liveness,
    /// The segment to send, composed in place.
    out: Segment,
    // what is seldom asked
    fallback: Fallback,
    config: Config,
}

impl Connection {
    fn new(config: Config, entropy: Entropy, client: bool) -> Self {
        let distribution = Distribution::new(&config);
        Self {
            fast: FastPath::new(&config, distribution.scheduler()),
            liveness: Liveness::new(&config),
            send: SendStream::new(),
            recv: RecvStream::new(&config),
            distribution,
            config,
            negotiation: Negotiation::new(client),
            paths: Paths::new(entropy),
            timers: Timers::default(),
            fallback: Fallback::default(),
            addresses: Addresses::default(),
            events: Events::new(),
            out: Segment::default(),
        }
    }

    /// Opens a connection: the first `poll_transmit` returns the SYN. The names in the configuration must be registered.
    pub fn connect(config: Config, entropy: Entropy) -> Self {
        Self::connect_among(config, entropy, |_| false)
    }

    /// Like [`Connection::connect`], on a host where some tokens are in use: draws a key whose token is free (RFC 8684 3.1).
    pub fn connect_among(config: Config, mut entropy: Entropy, in_use: impl Fn(u32) -> bool) -> Self {
        let key = keys::draw(&mut entropy, in_use);
        let iss = entropy.next_u32();
        let mut c = Self::new(config, entropy, true);
        if c.config.mptcp {
            c.negotiation.begin(key);
        }
        let subflow = Subflow::connect(0, &c.config, iss, window_shift(&c.config));
        c.paths.add(subflow, Member::new(Join::First, 0), &mut c.fast);
        c
    }

    /// Answers a SYN that opens a connection (without MP_JOIN).
    pub fn accept(config: Config, entropy: Entropy, syn: &Segment) -> Self {
        Self::accept_among(config, entropy, syn, |_| false)
    }

    /// Like [`Connection::accept`], on a host where some tokens are in use: draws a key whose token is free (RFC 8684 3.1).
    pub fn accept_among(config: Config, mut entropy: Entropy, syn: &Segment, in_use: impl Fn(u32) -> bool) -> Self {
        let key = keys::draw(&mut entropy, in_use);
        let iss = entropy.next_u32();
        let mut c = Self::new(config, entropy, false);
        if let (true, Mptcp::CapableSyn { checksum, no_join }) = (c.config.mptcp, syn.options.mptcp) {
            c.negotiation.begin(key);
            c.config.checksum |= checksum;
            c.negotiation.set_no_join(no_join);
        } else if c.config.mptcp {
            c.never_multipath(0, FallbackCause::Syn);
        }
        let subflow = Subflow::accept(0, &c.config, iss, window_shift(&c.config), syn);
        c.paths.add(subflow, Member::new(Join::First, 0), &mut c.fast);
        c.send.begin_window(u64::from(syn.window));
        c
    }

    // ---- the application's calls ----------------------------------------------------------------

    /// Octets that [`Connection::write`] accepts now: the room in the send buffer, or 0 if the
    /// connection has ended (RFC 9293 3.10.2).
    #[inline]
    pub fn writable(&self) -> u64 {
        self.outbound().writable()
    }

    /// The scheduler, and the parts that a decision about data looks at and changes.
    #[inline(always)]
    fn sending(&mut self) -> (&mut Distribution, Sending<'_>) {
        let Self { distribution, paths, send, timers, fast, events, negotiation, fallback, config, .. } = self;
        (distribution, Sending { paths, send, timers, fast, events, negotiation, fallback, config })
    }

    /// The parts of a connection from which a segment is composed.
    #[inline(always)]
    fn composing(&mut self) -> Composing<'_> {
        let Self { distribution, paths, send, recv, timers, fast, events, negotiation, fallback, config, out, .. } =
            self;
        let w = Sending { paths, send, timers, fast, events, negotiation, fallback, config };
        Composing { w, distribution, recv, out }
    }

    /// The parts of a connection that arriving data and the reader look at and change.
    #[inline(always)]
    fn receiving(&mut self) -> Receiving<'_> {
        let Self { paths, recv, fallback, fast, events, negotiation, config, .. } = self;
        Receiving { paths, recv, fallback, fast, events, negotiation, config }
    }

    /// Appends up to `octets` octets to our stream and returns how many, which is fewer if the send buffer is full. Offer the
    /// rest again when data has been acknowledged.
    #[inline]
    pub fn write(&mut self, octets: u64) -> u64 {
        debug_assert!(!self.send.is_closed(), "write after shutdown_write or close");
        let room = self.writable();
        let taken = self.distribution.take(&self.paths, &self.send, &self.config, octets, room);
        self.send.write(taken, &mut self.fast);
        taken
    }

    /// Reads up to `max` octets of the peer's stream and returns how many.
    #[inline(always)]
    pub fn read(&mut self, max: u64) -> u64 {
        let octets = self.recv.read(max);
        if self.recv.follows_reader() {
            if octets > 0 {
                self.receiving().follow_reader(octets);
            }
        } else if let Some(buffer) = self.recv.buffer(u64::MAX) {
            self.receiving().open_in_steps(octets, buffer);
        }
        octets
    }

    /// SHUTDOWN: ends our direction of the stream. The peer's data can still be read; [`Connection::close`] ends both directions.
    pub fn shutdown_write(&mut self) {
        self.send.close(&mut self.fast);
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop()
    }

    /// An event other than [`Event::Readable`] is waiting.
    #[inline]
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// Returns the next event as [`Connection::poll_event`] does, but skips [`Event::Readable`]. For
    /// a driver that calls [`Inbound::readable`] instead.
    #[inline]
    pub fn poll_change(&mut self) -> Option<Event> {
        self.events.pop_front()
    }
}

/// A host's answer to a segment for which it has no connection (RFC 9293 3.10.7.1); `None` for a RST.
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

/// The answer to a SYN with MP_JOIN that no connection accepts (RFC 8684 3.2), with the reason.
pub fn refusal(syn: &Segment, tcp_rst: TcpRst) -> Option<Segment> {
    let mut reset = reset_for(syn)?;
    reset.options.tcp_rst = Some(tcp_rst);
    Some(reset)
}
