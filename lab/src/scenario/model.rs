//! A validated scenario: what the simulator is given, in SI units (nanoseconds, bit/s, octets, ratios).

use std::sync::Arc;

use anabranch_stack::config::Config;
use anabranch_stack::time::{Duration, Instant};

use super::middlebox;
use crate::wifi::Wifi;

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
    /// Every segment goes through bytes on its way into a host. Changes nothing but the time a run takes.
    pub bytes: bool,
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
    /// Paths over it are used only when no regular one works.
    pub backup: bool,
    /// What it carries is captured, when captures are written.
    pub capture: bool,
    /// A wireless link: the two directions are the wired hop behind its access point, if there is one.
    pub wifi: Option<Wifi>,
    /// What stands at its end `a`, in order from `a` to `b`.
    pub middleboxes: Vec<middlebox::Middlebox>,
    /// Scheduled changes, in order of time.
    pub changes: Vec<Change>,
}

impl Link {
    /// The highest rate it ever has in one direction, in bit/s: its own, one that a change gives it, or that of its radio. Of a
    /// trace the mean.
    pub fn peak_rate(&self, up: bool) -> u64 {
        let changed = self.changes.iter().filter_map(|c| match c.what {
            ChangeKind::Rate(rate) if (up && c.up) || (!up && c.down) => Some(rate),
            _ => None,
        });
        let direction = if up { &self.up } else { &self.down };
        let wired = changed.fold(direction.rate, u64::max);
        self.wifi.as_ref().map_or(wired, |wifi| wifi.peak_rate().min(wired))
    }
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
    /// When packets may leave, if a trace says so; `rate` is then its mean.
    pub trace: Option<Trace>,
    /// How much may wait (the packet in transmission not counted).
    pub queue: Queue,
    /// What is dropped or marked before the queue is full.
    pub discipline: Discipline,
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

/// Transmissions paced by a trace: opportunities of 1500 octets.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// Milliseconds, in order; the last one is the length of the trace and above zero. Then it begins anew.
    pub stamps: Arc<[u64]>,
}

impl Trace {
    /// Mean rate in bit/s.
    pub fn rate(&self) -> u64 {
        let period = self.stamps[self.stamps.len() - 1];
        (self.stamps.len() as u64 * 1500 * 8 * 1000 / period).max(1)
    }
}

/// Who is dropped or marked, and in which order packets leave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Discipline {
    /// First in, first out; what comes to a full queue is dropped.
    DropTail,
    /// Random Early Detection (Floyd and Jacobson 1993).
    Red(RedParameters),
    /// Controlled Delay (RFC 8289).
    Codel(CodelParameters),
    /// FlowQueue-CoDel (RFC 8290).
    FqCodel(FqCodelParameters),
}

/// Of Random Early Detection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedParameters {
    /// Mean queue in packets from which on packets are marked or dropped.
    pub min: f64,
    /// Mean queue at which `probability` is reached; twice that drops all.
    pub max: f64,
    /// Marking probability at `max`.
    pub probability: f64,
    /// Weight of a new queue length in the mean.
    pub weight: f64,
}

/// Of CoDel (RFC 8289 4.2, 4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodelParameters {
    /// Acceptable standing delay.
    pub target: Duration,
    /// Time of the order of a worst-case round trip.
    pub interval: Duration,
}

/// Of FlowQueue-CoDel (RFC 8290 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCodelParameters {
    /// Of each queue.
    pub codel: CodelParameters,
    /// Octets a queue may send in its turn.
    pub quantum: u32,
    /// Number of queues.
    pub flows: u32,
}

/// Limit of a queue.
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

/// Which subflows a connection opens by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PathManager {
    /// One on each path: on each pair of interfaces that the scenario joins.
    #[default]
    OnePerInterface,
    /// One on each pair of a client's and a server's interface; the paths that are not written are added by the shortest route.
    FullMesh,
    /// Only the first; further ones by [`PathChange`].
    None,
}

/// A scheduled change of a connection's paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathChange {
    /// When.
    pub at: Instant,
    /// Index into [`Connection::paths`].
    pub path: usize,
    /// The client does it; else the server.
    pub client: bool,
    /// What.
    pub action: PathAction,
}

/// What a host does with its interface on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathAction {
    /// It has the interface (again): the client joins, the server advertises.
    Add,
    /// The interface is gone: its subflows are reset, the peer is told (REMOVE_ADDR).
    Remove,
    /// The path is to be used only when no regular one works (MP_PRIO).
    Backup,
    /// It is a regular path (MP_PRIO).
    Regular,
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
    /// Which subflows it opens.
    pub path_manager: PathManager,
    /// What happens to its paths, in order of time.
    pub path_changes: Vec<PathChange>,
    /// Parameters of both endpoints.
    pub config: Config,
    /// How the scenario names the judge: `judge`, or `recovery`.
    pub judge_key: &'static str,
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

impl Transfer {
    /// How long it is to last, if that is said.
    pub fn length(&self) -> Option<Duration> {
        match self.application {
            Application::Bulk(e)
            | Application::OnOff { extent: e, .. }
            | Application::ConstantRate { extent: e, .. } => match e {
                Extent::Duration(d) => Some(d),
                Extent::Bytes(_) | Extent::Run => None,
            },
            Application::RequestResponse { .. } => None,
        }
    }
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
    /// Datagrams of `mss` payload octets (UDP only).
    ConstantRate {
        /// When it ends.
        extent: Extent,
        /// Bit/s of payload; `None`: more than the path carries.
        rate: Option<u64>,
    },
}

/// When an application is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// After this many octets.
    Bytes(u64),
    /// After this time since its start.
    Duration(Duration),
    /// Never: it goes on until the run ends.
    Run,
}
