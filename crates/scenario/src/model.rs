//! A validated scenario: what the simulator is given, in SI units (nanoseconds, bit/s, octets, ratios).

use std::sync::Arc;

use anabranch_stack::config::Config;
use anabranch_stack::path::Policy;
use anabranch_stack::registry::Setting;
use anabranch_stack::time::{Duration, Instant};
use anabranch_wifi::Wifi;

use super::application::{Application, Extent, Until};
use super::middlebox;
use super::weather::Weather;

/// Index into [`Scenario::nodes`].
pub type NodeId = usize;
/// Index into [`Scenario::links`].
pub type LinkId = usize;

/// Which implementation of the protocols runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stack {
    /// The engine.
    Anabranch,
    /// The ns-3 model of 2011 that the papers measured ([`model_2011`](crate::model_2011)).
    Legacy2011,
}

/// A validated scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// A line of text for reports.
    pub title: String,
    /// Which implementation of the protocols runs.
    pub stack: Stack,
    /// Upper bound of the run's virtual time.
    pub duration: Duration,
    /// The seed from which all randomness is derived.
    pub seed: u64,
    /// Every segment is emitted as bytes and parsed again on its way into a host. The results are the same; the run takes longer.
    pub bytes: bool,
    /// Hosts and routers.
    pub nodes: Vec<Node>,
    /// Links between nodes.
    pub links: Vec<Link>,
    /// Connections and constant-rate flows.
    pub connections: Vec<Connection>,
}

impl Scenario {
    /// When something happens to the paths of a connection: to their links, or by its hosts; in nanoseconds.
    pub fn path_changes(&self, connection: usize) -> Vec<u64> {
        let c = &self.connections[connection];
        let links = c.paths.iter().flatten().flat_map(|l| &self.links[*l].changes);
        links.map(|change| change.at.0).chain(c.path_changes.iter().map(|change| change.at.0)).collect()
    }
}

/// Values of keys that have no field of their own: of a link's direction or of a host, in the order
/// of the table of keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct More(Vec<(&'static str, &'static str, Setting)>);

impl More {
    /// The value of `key`, or of the key `part` of its table; `part` is empty for a key without a
    /// table.
    pub fn get(&self, key: &str, part: &str) -> Option<Setting> {
        self.0.iter().find(|(k, p, _)| (*k, *p) == (key, part)).map(|(_, _, value)| *value)
    }

    /// Sets the value of a key.
    pub(super) fn put(&mut self, key: &'static str, part: &'static str, value: Setting) {
        self.0.retain(|(k, p, _)| (*k, *p) != (key, part));
        self.0.push((key, part, value));
    }

    /// Takes the values of `common` for keys without a value.
    pub(super) fn fill(&mut self, common: &Self) {
        for &(key, part, value) in &common.0 {
            if self.get(key, part).is_none() {
                self.put(key, part, value);
            }
        }
    }

    /// Keys, parts and values.
    pub(super) fn iter(&self) -> impl Iterator<Item = &(&'static str, &'static str, Setting)> {
        self.0.iter()
    }
}

/// A host or a router.
#[derive(Clone, Debug)]
pub struct Node {
    /// Unique name.
    pub name: String,
    /// It is a router, which forwards packets; else a host, at which connections end.
    pub router: bool,
    /// What else the scenario says of it.
    pub more: More,
}

/// A link between two nodes: two independent directions.
#[derive(Clone, Debug)]
pub struct Link {
    /// Unique name; `path0`, `path1`, ... in the short form.
    pub name: String,
    /// Its end `from`; of a path, the client.
    pub a: NodeId,
    /// Its end `to`; of a path, the server.
    pub b: NodeId,
    /// From `a` to `b`.
    pub up: Direction,
    /// From `b` to `a`.
    pub down: Direction,
    /// Paths over it are used only when no regular one works.
    pub backup: bool,
    /// Cost, weight and priority of paths over it.
    pub policy: Policy,
    /// Its packets are captured when captures are written.
    pub capture: bool,
    /// Its radio part, if it is a wireless link. The two directions are then the wired hop behind its access point, if there is
    /// one.
    pub wifi: Option<Wifi>,
    /// The middleboxes at its end `a`, in order from `a` to `b`.
    pub middleboxes: Vec<middlebox::Middlebox>,
    /// Scheduled changes, in order of time.
    pub changes: Vec<Change>,
}

impl Link {
    /// The highest rate that it has at any time in one direction, in bit/s: its own, that of a scheduled change, or that of its
    /// radio, which may be lower. A trace counts with its mean rate.
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
    /// Rate in bit/s, at least 1.
    pub rate: u64,
    /// One-way propagation delay.
    pub delay: Duration,
    /// Uniform variation of the delay: a number, 0 to 1, is a fraction of the delay (0.05 is +-5
    /// %), a time is that time.
    pub delay_variation: Setting,
    /// When a new delay is drawn.
    pub delay_redraw: Redraw,
    /// Whether a packet may arrive before one sent earlier.
    pub overtaking: bool,
    /// The trace that says when packets may leave, if there is one; `rate` is then its mean.
    pub trace: Option<Trace>,
    /// How rate and delay vary by themselves, if they do; `rate` is then the median, and `delay` is what comes on top.
    pub weather: Option<Weather>,
    /// How much the queue holds, not counting the packet in transmission.
    pub queue: Queue,
    /// Which packets are dropped or marked before the queue is full, and in which order packets leave.
    pub discipline: Discipline,
    /// Random loss on the wire, after the queue.
    pub loss: Loss,
    /// Probability that a packet arrives twice.
    pub duplication: f64,
    /// Probability that a packet is damaged and dropped by the receiver's checksum.
    pub corruption: f64,
    /// Octets added to every packet's IPv4 length on this link.
    pub overhead: u32,
    /// What is longer goes no further.
    pub mtu: Option<Mtu>,
    /// From so many waiting packets on, ECN-capable packets are marked.
    pub ecn_threshold: Option<u64>,
    /// What else the scenario says of it.
    pub more: More,
}

impl Direction {
    /// True if the delay varies from packet to packet or from time to time.
    pub fn varies(&self) -> bool {
        !matches!(self.delay_variation, Setting::Number(0.0) | Setting::Time(Duration::ZERO))
    }
}

/// The longest packet that the far end of a link passes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mtu {
    /// IPv4 length in octets.
    pub size: u32,
    /// Who sends a longer one is told (RFC 1191); else it vanishes.
    pub icmp: bool,
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
    /// Times of the opportunities in milliseconds, in order. The last one, above zero, is also the length of the trace, after
    /// which it repeats.
    pub stamps: Arc<[u64]>,
}

impl Trace {
    /// Mean rate in bit/s.
    pub fn rate(&self) -> u64 {
        let period = self.stamps[self.stamps.len() - 1];
        (self.stamps.len() as u64 * 1500 * 8 * 1000 / period).max(1)
    }
}

/// Queue discipline: which packets are dropped or marked, and in which order packets leave.
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

/// Parameters of Random Early Detection.
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

/// Parameters of CoDel (RFC 8289 4.2, 4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodelParameters {
    /// Acceptable standing delay.
    pub target: Duration,
    /// A time of the order of a worst-case round trip, within which the delay must fall below the target once.
    pub interval: Duration,
}

/// Parameters of FlowQueue-CoDel (RFC 8290 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCodelParameters {
    /// Parameters of CoDel on each queue.
    pub codel: CodelParameters,
    /// Octets that a queue may send in its turn.
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
    /// When it happens.
    pub at: Instant,
    /// Applies to the direction a to b.
    pub up: bool,
    /// Applies to the direction b to a.
    pub down: bool,
    /// What changes.
    pub what: ChangeKind,
}

/// What changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ChangeKind {
    /// The link fails: packets in its queue and in flight are lost, and so are packets sent over it until it works again.
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

/// The protocol of a connection.
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
    /// When it happens.
    pub at: Instant,
    /// Index into [`Connection::paths`].
    pub path: usize,
    /// The client does it; else the server.
    pub client: bool,
    /// What the host does.
    pub action: PathAction,
}

/// What a host does with its interface on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathAction {
    /// The interface is there (again): a client joins on it, a server advertises its address.
    Add,
    /// The interface is gone: its subflows are reset, and the peer is told by REMOVE_ADDR.
    Remove,
    /// The path becomes a backup (MP_PRIO): to be used only when no regular one works.
    Backup,
    /// The path becomes a regular one again (MP_PRIO).
    Regular,
}

/// One connection.
#[derive(Clone, Debug)]
pub struct Connection {
    /// Unique name; `connection0`, ... unless given.
    pub name: String,
    /// Its protocol.
    pub protocol: Protocol,
    /// The host that opens it.
    pub client: NodeId,
    /// The host that accepts it.
    pub server: NodeId,
    /// For each path its route: the links from client to server in order. The first handshake takes path 0.
    pub paths: Vec<Vec<LinkId>>,
    /// Links of further paths that the scenario names and TCP and UDP ignore.
    pub ignored: Vec<LinkId>,
    /// Which subflows it opens by itself.
    pub path_manager: PathManager,
    /// Scheduled changes of its paths, in order of time.
    pub path_changes: Vec<PathChange>,
    /// Parameters of both endpoints.
    pub config: Config,
    /// The key under which the scenario names the judge: `judge`, or its other name `recovery`.
    pub judge_key: &'static str,
    /// The client has a cookie of the server's for Fast Open (RFC 7413), from a connection before this one.
    pub cookie: bool,
    /// Parameters of the 2011 model, if the stack is `legacy-2011`.
    pub legacy: Option<crate::model_2011::Model>,
    /// What is transferred.
    pub transfer: Transfer,
    /// The connection whose page it helps to load, by number.
    pub helps: Option<usize>,
}

/// What a connection transfers.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// Data go from client to server; else from server to client. If in both directions, this is the one that is measured most.
    pub up: bool,
    /// The same application sends the other way, too.
    pub both: bool,
    /// Start of the connection (first SYN).
    pub start: Instant,
    /// The start is delayed by a further random time, uniform from zero to this.
    pub start_spread: Duration,
    /// The sender's application.
    pub application: Application,
    /// How fast the receiving application reads, in octets/s; `None`: everything at once.
    pub read_rate: Option<u64>,
}

impl Transfer {
    /// Its duration, if it has one.
    pub fn length(&self) -> Option<Duration> {
        match &self.application {
            Application::Bulk(e)
            | Application::OnOff { extent: e, .. }
            | Application::ConstantRate { extent: e, .. } => match *e {
                Extent::Duration(d) => Some(d),
                Extent::Bytes(_) | Extent::Run => None,
            },
            Application::Messages(m) => match m.until {
                Until::Duration(d) => Some(d),
                Until::Count(_) => None,
            },
            Application::RequestResponse { .. } | Application::Page(_) | Application::Video(_) => None,
        }
    }
}
