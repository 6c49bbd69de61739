//! Routes of packets: which directions of links a path of a connection leads over, both ways.

use anabranch_measures::account::SubflowAccount;

use anabranch_scenario::{Connection, LinkId, NodeId, Protocol, Scenario};

/// Index of a link direction: twice the link, plus one for b to a.
pub type DirectionId = usize;

/// One path of a connection.
#[derive(Clone, Debug)]
pub struct Path {
    /// Directions a packet crosses: client to server, and server to client.
    pub route: [Vec<DirectionId>; 2],
    /// Where each of the two begins in the table of all routes.
    pub(super) start: [u32; 2],
    /// Index, in the route of the data, of the slowest link.
    pub slowest: u8,
}

/// Paths and accounts of one connection.
#[derive(Debug)]
pub struct Flow {
    /// The data go from client to server.
    pub up: bool,
    /// It is a flow of datagrams.
    pub datagrams: bool,
    /// Its paths.
    pub paths: Vec<Path>,
    /// An account for each 4-tuple.
    pub tuples: Vec<SubflowAccount>,
    /// Per path: what its slowest link could have carried before the connection began, in bits.
    pub(super) idle_capacity: Vec<f64>,
    /// Messages of routers under way to its hosts.
    pub(super) messages: Vec<TooLong>,
    /// The slot in which it hears them.
    pub(super) slot: usize,
}

/// A router's message that a packet was too long (RFC 1191).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong {
    /// When it arrives.
    pub at: u64,
    /// To which host of the connection.
    pub side: usize,
    /// The 4-tuple of the packet that it quotes.
    pub tuple: u32,
    /// Its sequence number, as its sender knows it.
    pub seq: u32,
    /// What the link passes on.
    pub mtu: u32,
}

/// Marks the end of a route in the table of all routes.
pub const END: u32 = u32::MAX;

impl Path {
    /// Its slowest link in the direction of the data; `up` says that the client sends them.
    pub fn bottleneck(&self, up: bool) -> DirectionId {
        self.route[usize::from(!up)][usize::from(self.slowest)]
    }
}

/// The flows of all connections, and the table of all routes: one after the other, each ended by [`END`]. Packets under way refer
/// to their place in it.
pub fn lay(scenario: &Scenario) -> (Vec<Flow>, Vec<u32>) {
    let mut routes = Vec::new();
    let flow = |c: &Connection| Flow {
        up: c.transfer.up,
        datagrams: c.protocol == Protocol::Udp,
        paths: c.paths.iter().map(|p| path(scenario, c.client, p, c.transfer.up, &mut routes)).collect(),
        tuples: Vec::new(),
        idle_capacity: Vec::new(),
        messages: Vec::new(),
        slot: usize::MAX,
    };
    let flows = scenario.connections.iter().map(flow).collect();
    (flows, routes)
}

/// The route of a path given as links from `client` on.
fn path(scenario: &Scenario, client: NodeId, links: &[LinkId], data_up: bool, routes: &mut Vec<u32>) -> Path {
    let mut at = client;
    let mut up = Vec::new();
    for &link in links {
        let l = &scenario.links[link];
        let forward = l.a == at;
        up.push(2 * link + usize::from(!forward));
        at = if forward { l.b } else { l.a };
    }
    let down: Vec<_> = up.iter().rev().map(|d| d ^ 1).collect();
    let route = [up, down];
    let start = [0, 1].map(|way: usize| {
        let start = routes.len() as u32;
        routes.extend(route[way].iter().map(|&d| d as u32).chain([END]));
        start
    });
    let rate = |&d: &DirectionId| {
        let l = &scenario.links[d / 2];
        let wired = if d % 2 == 0 { l.up.rate } else { l.down.rate };
        l.wifi.as_ref().map_or(wired, |w| w.peak_rate().min(wired))
    };
    let data = &route[usize::from(!data_up)];
    let slowest = (0..data.len()).min_by_key(|&i| rate(&data[i])).unwrap_or(0);
    Path { route, start, slowest: slowest as u8 }
}
