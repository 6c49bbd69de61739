//! What may be expected of a scenario before it runs: how much there is to do, how many events that may take, and whether it
//! has to complete.

mod ends;
mod often;

use anabranch_stack::registry::Need;

use anabranch_sim::scenario::application::{Content, Law, Messages, Page, Until};
use anabranch_sim::scenario::middlebox::{Kind, Pattern};
use anabranch_sim::scenario::{
    Application, ChangeKind, Connection, Direction, Extent, Link, Loss, Mtu, Scenario, Stack, Transfer,
};

/// What may be expected.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    /// The most events that what there is to do may take.
    work: u64,
    /// The most events in a second of virtual time, whatever there is to do.
    ticks: f64,
    /// Every transfer has to complete.
    pub completes: bool,
    /// Nothing but the network's silence may end a connection early.
    pub unharmed: bool,
}

impl Expected {
    /// Of `scenario`.
    pub fn of(scenario: &Scenario) -> Self {
        let engine = scenario.stack == Stack::Anabranch;
        Self {
            work: work(scenario),
            ticks: often::ticks(scenario),
            completes: engine && ends::completes(scenario),
            unharmed: engine && ends::unharmed(scenario),
        }
    }

    /// The most events until `now`, nanoseconds.
    pub fn events(&self, now: u64) -> u64 {
        self.work.saturating_add((self.ticks * now as f64 / 1e9) as u64)
    }
}

fn messages(m: &Messages) -> u64 {
    let largest = match m.size.law {
        Law::Fixed(n) => n,
        Law::Uniform { max, .. } => max,
        _ => m.size.most,
    };
    let count = match m.until {
        Until::Count(n) => n,
        Until::Duration(d) => d.0 / m.interval.mean().map_or(1, |ns| ns as u64).max(1) * 10 + 10,
    };
    largest.min(m.size.most).saturating_mul(count)
}

fn page_octets(page: &Page) -> u64 {
    let (objects, octets) = match &page.content {
        Content::Written(objects) => (objects.len() as u64, objects.iter().map(|o| o.bytes).sum()),
        Content::Drawn { objects, bytes, .. } => (*objects, *bytes),
    };
    octets + objects * page.request
}

/// Octets of a transfer in both directions, if its end is one of octets.
pub fn finite(transfer: &Transfer) -> Option<u64> {
    let octets = octets(transfer, 0);
    (octets > 0 && octets < u64::MAX / 1000).then_some(octets)
}

/// Octets of a transfer in both directions, at `rate` bit/s where it ends by time.
fn octets(transfer: &Transfer, rate: u64) -> u64 {
    let ways = 1 + u64::from(transfer.both);
    let lasting = |seconds: f64, rate: u64| (seconds * rate as f64 / 8.0) as u64;
    let of = |extent: Extent, rate: u64| match extent {
        Extent::Bytes(n) => n,
        Extent::Duration(d) => lasting(d.as_secs_f64(), rate),
        Extent::Run => u64::MAX / 1000,
    };
    let one = match &transfer.application {
        Application::Bulk(extent) => of(*extent, rate),
        Application::OnOff { extent, rate: own, .. } => of(*extent, own.unwrap_or(rate)),
        Application::ConstantRate { extent, rate: own } => of(*extent, own.unwrap_or(rate.saturating_mul(2))),
        Application::RequestResponse { request, response, count, .. } => (request + response).saturating_mul(*count),
        Application::Messages(m) => messages(m),
        Application::Page(page) => page_octets(page),
        Application::Video(v) => v.count * (v.octets(v.ladder.len() - 1) + v.request),
    };
    one.saturating_mul(ways)
}

/// What links pass on, in both directions.
fn mtus(link: &Link) -> impl Iterator<Item = Mtu> + use<> {
    [link.up.mtu, link.down.mtu].into_iter().flatten()
}

/// Octets of the segments that it sends, if buffers hold no more than a part of one.
fn segment(scenario: &Scenario, c: &Connection) -> u64 {
    let config = &c.config;
    let passes = c.paths.iter().flatten().flat_map(|l| mtus(&scenario.links[*l])).map(|mtu| mtu.size);
    // Headers and options take up to 80.
    let passes = passes.min().map_or(u64::MAX, |size| u64::from(size) - 80);
    let least = |buffer: Option<u64>| buffer.unwrap_or(u64::MAX);
    let buffer = least(config.receive_buffer).min(least(config.send_buffer)).min(least(config.receive_initial));
    // An application that writes whenever an octet is free is given part of a segment's room by each part of an acknowledgement, and without
    // Nagle's algorithm each of these is a segment: in the end of one octet (RFC 9293 3.8.6.2.1).
    if !config.nagle && config.send_buffer.is_some() && answers(scenario) > 1 {
        return 1;
    }
    // A box that takes octets out, and a mapping that counts those that follow in their stead: DATA_ACKs stay behind by ever more, until a
    // buffer is full of it. From then on each acknowledgement makes room for as little as an octet, and that finds nothing in flight.
    let bounded = config.send_buffer.is_some() || config.receive_buffer.is_some();
    if bounded && boxes(scenario).any(|kind| matches!(kind, Kind::AlterLength { grow, .. } if *grow < 0)) {
        return 1;
    }
    // Linux's receiver opens its window by as much as was read, and its sender fills it, whatever that is: where a buffer is few
    // segments, pieces become smaller from round trip to round trip.
    if config.deviations.minshall && config.receive_buffer.is_some_and(|n| n < 16 * u64::from(config.mss)) {
        return 1;
    }
    u64::from(config.mss).min(buffer / 2).min(passes).max(1)
}

/// What an application that ends by time has written by then, though it could not be sent: into its own buffers, and into those of proxies,
/// which acknowledge at once.
fn ahead(scenario: &Scenario, c: &Connection) -> u64 {
    if c.transfer.length().is_none() {
        return 0;
    }
    let backlog = c.config.scheduler.info().needs.contains(&Need::Backlog);
    let staging = if backlog { 1_000_000 } else { 10 * u64::from(c.config.mss) };
    let proxies = boxes(scenario).map(|kind| if let Kind::Pep { buffer, .. } = kind { *buffer } else { 0 });
    let proxies = proxies.fold(0, u64::saturating_add);
    let ways = 1 + u64::from(c.transfer.both);
    staging.min(c.config.send_buffer.unwrap_or(u64::MAX)).saturating_add(proxies).saturating_mul(ways)
}

/// The fastest rate at which data of `connection` can leave, in bit/s.
fn fastest(scenario: &Scenario, connection: &Connection) -> u64 {
    let peak = |path: &Vec<usize>| {
        path.iter().map(|&l| scenario.links[l].peak_rate(true).max(scenario.links[l].peak_rate(false))).min()
    };
    connection.paths.iter().filter_map(peak).fold(0_u64, u64::saturating_add)
}

fn boxes(scenario: &Scenario) -> impl Iterator<Item = &Kind> {
    scenario.links.iter().flat_map(|l| &l.middleboxes).map(|b| &b.kind)
}

/// How many pieces boxes make of a segment, at most.
fn pieces(scenario: &Scenario, c: &Connection) -> u64 {
    let cut = boxes(scenario).filter_map(|kind| match kind {
        Kind::Split { size, .. } => Some(u64::from(*size)),
        _ => None,
    });
    cut.min().map_or(1, |size| u64::from(c.config.mss).div_ceil(size).max(1))
}

/// How many acknowledgements boxes make of one, at most.
fn answers(scenario: &Scenario) -> u64 {
    let divided = boxes(scenario).map(|kind| match kind {
        Kind::Acks { how: Pattern::Divide, count } => u64::from(*count),
        _ => 1,
    });
    divided.fold(1, u64::saturating_mul)
}

/// Events of one segment and of what it causes, at most.
fn per_segment(scenario: &Scenario) -> f64 {
    let paths = || scenario.connections.iter().flat_map(|c| &c.paths);
    let hops = paths().map(Vec::len).max().unwrap_or(1);
    // Boxes one after another that make several segments of each.
    let boxes = boxes(scenario).map(|kind| match kind {
        Kind::Replay { .. } => 2.0,
        Kind::Acks { how: Pattern::Divide | Pattern::Repeat, count } => f64::from(*count),
        _ => 1.0,
    });
    // Links one after another that duplicate make copies of copies, and each copy has an acknowledgement (RFC 9293 3.10.7.4).
    let doubled = |l: &usize| (1.0 + scenario.links[*l].up.duplication) * (1.0 + scenario.links[*l].down.duplication);
    let doubled = paths().map(|path| path.iter().map(doubled).product()).fold(1.0, f64::max);
    40.0 * hops as f64 * boxes.product::<f64>() * doubled
}

fn work(scenario: &Scenario) -> u64 {
    let work: u64 = scenario
        .connections
        .iter()
        .map(|c| {
            // What an optimist acknowledges makes room for more, whatever the links carry of it: what ends by time has no bound.
            let rate = if often::is_ahead_of_peers(scenario) { u64::MAX / 1000 } else { fastest(scenario, c) };
            let octets = octets(&c.transfer, rate).saturating_add(ahead(scenario, c));
            let segments = (octets / segment(scenario, c)).saturating_add(100);
            segments.saturating_mul(pieces(scenario, c))
        })
        .fold(0, u64::saturating_add);
    (work as f64 * per_segment(scenario)) as u64 + 20_000
}

/// What a path does to a packet that goes there and back, at its worst: the probability that it is lost.
fn fails(link: &Link) -> f64 {
    let one = |loss: Loss| match loss {
        Loss::Bernoulli(p) => p,
        // Where bad periods outlast some timeouts, nothing is promised.
        Loss::GilbertElliott { bad_to_good, loss_bad, loss_good, .. } => {
            loss_good.max(if bad_to_good < 1.0 { loss_bad } else { 0.0 }).max(1.0 - bad_to_good)
        }
    };
    let of = |d: &anabranch_sim::scenario::Direction| 1.0 - (1.0 - one(d.loss)) * (1.0 - d.corruption);
    let changed = link.changes.iter().filter_map(|c| match c.what {
        ChangeKind::Loss(loss) => Some(one(loss)),
        _ => None,
    });
    let worst = changed.fold(of(&link.up).max(of(&link.down)), f64::max);
    1.0 - (1.0 - worst) * (1.0 - worst)
}

/// Nanoseconds for which a link is down in all; `None` if it does not come back.
fn outage(link: &Link) -> Option<u64> {
    // A link that varies by itself has outages of any length.
    if link.up.weather.is_some() || link.down.weather.is_some() {
        return None;
    }
    let (mut down, mut since, mut sum) = (0_u8, 0, 0);
    for change in &link.changes {
        let ways = u8::from(change.up) | u8::from(change.down) << 1;
        match change.what {
            ChangeKind::LinkDown => {
                since = if down == 0 { change.at.0 } else { since };
                down |= ways;
            }
            ChangeKind::LinkUp if down != 0 => {
                down &= !ways;
                sum += if down == 0 { change.at.0 - since } else { 0 };
            }
            _ => {}
        }
    }
    (down == 0).then_some(sum)
}

/// The slowest that a link ever is, in bit/s.
fn slowest(link: &Link) -> u64 {
    let changed = link.changes.iter().filter_map(|c| match c.what {
        ChangeKind::Rate(rate) => Some(rate),
        _ => None,
    });
    let policed = |d: &Direction| d.more.get("policer", "rate").and_then(|rate| rate.whole()).unwrap_or(u64::MAX);
    let least = |d: &Direction| d.rate.min(policed(d));
    changed.fold(least(&link.up).min(least(&link.down)), u64::min)
}
