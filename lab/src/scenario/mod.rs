//! A scenario: everything a run depends on, validated, in SI units (nanoseconds, bit/s, octets, ratios).
//!
//! `parse` turns a TOML document and overrides into a [`Scenario`] or an [`Error`] that names the place.

use anabranch_stack::config::Config;
use anabranch_stack::time::{Duration, Instant};

mod change;
mod connection;
mod decimal;
mod error;
mod json;
mod legacy;
mod link;
mod nearest;
mod overrides;
mod parse;
mod reader;
mod route;
mod syntax;
mod template;
#[cfg(test)]
mod tests;
mod topology;
mod transfer;
mod units;
mod warnings;

pub use error::Error;
pub use parse::{parse, resolved_toml};
pub use template::template;

/// Index into [`Scenario::nodes`].
pub type NodeId = usize;
/// Index into [`Scenario::links`].
pub type LinkId = usize;

/// Which implementation of the protocols runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stack {
    /// The engine.
    Anabranch,
    /// The ns-3 model of 2011 that the papers measured ([`crate::legacy`]).
    Legacy2011,
}

/// A validated scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// A line for people.
    pub title: String,
    /// Who speaks.
    pub stack: Stack,
    /// Upper bound of the run's virtual time.
    pub duration: Duration,
    /// The seed all randomness derives from.
    pub seed: u64,
    /// Hosts and routers.
    pub nodes: Vec<Node>,
    /// Links between nodes.
    pub links: Vec<Link>,
    /// Connections and constant-rate flows.
    pub connections: Vec<Connection>,
}

/// A host or a router.
#[derive(Clone, Debug)]
pub struct Node {
    /// Unique name.
    pub name: String,
    /// Routers forward; hosts end connections.
    pub router: bool,
}

/// A link between two nodes: two independent directions.
#[derive(Clone, Debug)]
pub struct Link {
    /// Unique name; `path0`, `path1`, ... in the short form.
    pub name: String,
    /// The client-side end.
    pub a: NodeId,
    /// The server-side end.
    pub b: NodeId,
    /// From `a` to `b`.
    pub up: Direction,
    /// From `b` to `a`.
    pub down: Direction,
    /// Scheduled changes, in order of time.
    pub changes: Vec<Change>,
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct Direction {
    /// Bit/s, at least 1.
    pub rate: u64,
    /// One-way propagation delay.
    pub delay: Duration,
    /// Uniform variation of the configured delay: 0.05 is +-5 %. 0 to 1.
    pub delay_variation: f64,
    /// When a new delay is drawn.
    pub delay_redraw: Redraw,
    /// Whether a packet may arrive before one sent earlier.
    pub overtaking: bool,
    /// How much may wait (the packet in transmission not counted).
    pub queue: Queue,
    /// Random loss on the wire, after the queue.
    pub loss: Loss,
    /// Probability that a packet arrives twice.
    pub duplication: f64,
    /// Probability that a packet is damaged and dropped by the receiver's checksum.
    pub corruption: f64,
    /// Octets added to every packet's IPv4 length on this link.
    pub overhead: u32,
    /// Mark ECN-capable packets instead of waiting for overflow once this many packets wait.
    pub ecn_threshold: Option<u64>,
}

/// When a link draws a new delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redraw {
    /// For each packet, each direction on its own.
    Packet,
    /// At each application write, one draw for both directions.
    Write,
    /// Each time this long has passed, each direction on its own.
    Every(Duration),
}

/// Limit of a drop-tail queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// Waiting packets.
    Packets(u64),
    /// Waiting octets (packet lengths plus overhead).
    Bytes(u64),
}

/// Random loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// Each packet with this probability, independently.
    Bernoulli(f64),
    /// Two states; transition and loss probabilities per packet.
    GilbertElliott {
        /// Probability to go from good to bad.
        good_to_bad: f64,
        /// Probability to go from bad to good.
        bad_to_good: f64,
        /// Loss probability in the good state.
        loss_good: f64,
        /// Loss probability in the bad state.
        loss_bad: f64,
    },
}

/// A scheduled change of a link.
#[derive(Clone, Debug)]
pub struct Change {
    /// When.
    pub at: Instant,
    /// Applies to the direction a to b.
    pub up: bool,
    /// Applies to the direction b to a.
    pub down: bool,
    /// What.
    pub what: ChangeKind,
}

/// What changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ChangeKind {
    /// The link fails: what waits or flies is lost, what is sent into it is lost.
    LinkDown,
    /// The link works again.
    LinkUp,
    /// New rate in bit/s.
    Rate(u64),
    /// New propagation delay.
    Delay(Duration),
    /// New random loss.
    Loss(Loss),
}

/// What a connection speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Multipath TCP v1.
    Mptcp,
    /// Plain TCP on the first path.
    Tcp,
    /// A constant-rate flow of datagrams on the first path.
    Udp,
}

/// One connection.
#[derive(Clone, Debug)]
pub struct Connection {
    /// Unique name; `connection0`, ... unless given.
    pub name: String,
    /// What it speaks.
    pub protocol: Protocol,
    /// Who opens it.
    pub client: NodeId,
    /// Who accepts it.
    pub server: NodeId,
    /// One route a path: the links from client to server in order. Path 0 carries the first handshake.
    pub paths: Vec<Vec<LinkId>>,
    /// Parameters of both endpoints.
    pub config: Config,
    /// Parameters of the 2011 model, if that is what runs.
    pub legacy: Option<crate::legacy::Model>,
    /// What is transferred.
    pub transfer: Transfer,
}

/// What a connection transfers.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// Client to server ("up") if true, else server to client.
    pub up: bool,
    /// Start of the connection (first SYN).
    pub start: Instant,
    /// The start is delayed further by a uniform draw up to this.
    pub start_spread: Duration,
    /// The sender's application.
    pub application: Application,
    /// How fast the receiving application reads, in octets/s; `None`: at once.
    pub read_rate: Option<u64>,
}

/// What the sending application does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Application {
    /// Writes without pause until a number of octets is written or a time has passed since the start.
    Bulk(Extent),
    /// Writes at `rate` (or without pause) for `on`, rests for `off`, and so on.
    OnOff {
        /// When it ends.
        extent: Extent,
        /// Length of a busy period.
        on: Duration,
        /// Length of a pause.
        off: Duration,
        /// Bit/s while busy; `None`: as fast as the connection takes it.
        rate: Option<u64>,
    },
    /// The receiver asks with `request` octets, the sender answers with `response` octets, then rests for `think`; `count` times.
    RequestResponse {
        /// Octets of a request.
        request: u64,
        /// Octets of a response.
        response: u64,
        /// Rounds.
        count: u64,
        /// Pause between a response and the next request.
        think: Duration,
    },
    /// Datagrams of `mss` payload octets at `rate` (UDP only).
    ConstantRate {
        /// When it ends.
        extent: Extent,
        /// Bit/s of payload.
        rate: u64,
    },
}

/// When an application is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// After this many octets.
    Bytes(u64),
    /// After this time since its start.
    Duration(Duration),
}
