//! What may be expected of a scenario before it runs: how much there is to do, how many events that may take, and whether it
//! has to complete.

use anabranch_stack::config::{Acknowledgement, Config, KeepAlive};
use anabranch_stack::registry::Need;
use anabranch_stack::time::Instant;

use crate::scenario::application::{Content, Law, Messages, Page, Until};
use crate::scenario::middlebox::{Kind, Middlebox, Pattern};
use crate::scenario::{
    Application, ChangeKind, Connection, Extent, Link, Loss, Mtu, PathAction, PathManager, Protocol, Queue, Scenario,
    Stack, Transfer,
};
use crate::wifi::Wifi;

/// What may be expected.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    /// The most events that what there is to do may take.
    work: u64,
    /// The most events in a second of virtual time, whatever there is to do: wake-ups of applications and beacons.
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
            ticks: scenario.connections.iter().map(|c| ticks(scenario, c)).sum::<f64>()
                + radios(scenario)
                + timeouts(scenario),
            completes: engine && completes(scenario),
            unharmed: engine && unharmed(scenario),
        }
    }

    /// The most events until `now`, nanoseconds.
    pub fn events(&self, now: u64) -> u64 {
        self.work.saturating_add((self.ticks * now as f64 / 1e9) as u64)
    }
}

/// How often the applications of a connection wake in a second.
fn ticks(scenario: &Scenario, c: &Connection) -> f64 {
    // A slow reader looks each ten milliseconds, an on-off source at both ends of its pause and when a segment is due.
    let reads = if c.transfer.read_rate.is_some() { 200.0 } else { 0.0 };
    let writes = match c.transfer.application {
        Application::OnOff { on, off, rate, .. } => {
            let segments = rate.map_or(0.0, |rate| rate as f64 / 8.0 / f64::from(c.config.mss));
            4e9 / (on.0 + off.0).max(1) as f64 + 2.0 * segments
        }
        _ => 0.0,
    };
    // On each path both ends may ask, and are answered; what waits for an answer asks once an interval.
    let asks =
        c.config.keepalive.map_or(0.0, |k| 16e9 * c.paths.len() as f64 / k.idle.0.min(k.interval.0).max(1) as f64);
    // A path that is down is tried again for as long as the connection lasts, each time with a SYN at most every longest timeout, and its
    // answer, which cross some of its links.
    let links: usize = c.paths.iter().map(Vec::len).sum();
    let joins = 10.0 * links as f64 / c.config.max_rto.as_secs_f64();
    // Behind a box that has forgotten the port each of these is a new one, and all are answered as long as a connection may take to open.
    let forgets = boxes(scenario).any(|kind| matches!(kind, Kind::Nat { .. }));
    let open = connecting(&c.config) as f64 / c.config.max_rto.0 as f64;
    let joins = if forgets { joins * (1.0 + open) } else { joins };
    reads + asks + joins + writes * (1.0 + f64::from(u8::from(c.transfer.both)))
}

/// Beacons in a second, and what follows from them. From 802.11n on what nobody answers is asked about until the lifetime of the data is over
/// (IEEE 802.11 10.24), and by ns-3's rules sent again as well, each tenth of a millisecond or so, with no limit to how often; before, a frame
/// is given up after a few times.
fn radios(scenario: &Scenario) -> f64 {
    let radio = |w: &Wifi| if w.air.standard.format().is_some() { 50_000.0 } else { 200.0 };
    scenario.links.iter().filter_map(|l| l.wifi.as_ref()).map(radio).sum()
}

/// The model of 2011 gives nothing up, and its timeout has no lower bound (docs/legacy.md, 5.5): on a dead path it goes on at
/// 64 times a round trip.
fn timeouts(scenario: &Scenario) -> f64 {
    let paths: usize = scenario.connections.iter().map(|c| c.paths.len()).sum();
    // Behind a hole that is acknowledged nothing arrives any more, and what has no DATA_ACK is sent again.
    match scenario.stack {
        Stack::Anabranch if is_ahead_of_peers(scenario) => {
            1000.0 * paths as f64 + repeated(scenario) + challenges(scenario)
        }
        Stack::Anabranch => repeated(scenario) + again_and_again(scenario),
        _ => 200.0 * paths as f64,
    }
}

/// A box acknowledges what the peer does not have yet.
fn is_ahead_of_peers(scenario: &Scenario) -> bool {
    boxes(scenario).any(|kind| matches!(kind, Kind::Acks { how: Pattern::Optimistic, .. }))
}

/// Who has gone answers with a RST at the number that the box made up, beyond what the other host expects next: that host challenges it
/// (RFC 5961 3.2), as often as its limit permits, and is answered so for ever. Two segments each time, of either host.
fn challenges(scenario: &Scenario) -> f64 {
    let often = |c: &Connection| 4.0 * c.paths.len() as f64 * 1e9 / c.config.invalid_ack_interval.0.max(1) as f64;
    scenario.connections.iter().map(often).sum::<f64>() * per_segment(scenario)
}

/// What a host that watches for stale subflows (`stale_after`, in the Linux profile) sends again at data level, where data have no DATA_ACK
/// though their subflow has acknowledged them: 32 kB five times a second, and without end, as long as the subflow acknowledges that, too.
fn repeated(scenario: &Scenario) -> f64 {
    let taken =
        boxes(scenario).any(|kind| matches!(kind, Kind::StripMptcp(_) | Kind::Acks { how: Pattern::Optimistic, .. }));
    let linux = scenario.connections.iter().filter(|c| taken && c.config.stale_after > 0);
    let segments = |c: &Connection| (32_768 / segment(scenario, c) + 1).saturating_mul(pieces(scenario, c));
    linux.map(|c| 5.0 * segments(c) as f64 * per_segment(scenario)).sum()
}

/// Where a queue has less room than the pieces of one segment, it may lose the piece that is missing each time: FQ-CoDel drops at the head
/// (RFC 8290 4.1). The segment then goes again and again, once a timeout.
fn again_and_again(scenario: &Scenario) -> f64 {
    let cut = |c: &&Connection| {
        let links: Vec<&Link> = c.paths.iter().flatten().map(|&l| &scenario.links[l]).collect();
        pieces(scenario, c) > 1 && !has_room(scenario, c, &links)
    };
    let segments = |c: &Connection| c.paths.len() as f64 / c.config.min_rto.as_secs_f64() * pieces(scenario, c) as f64;
    scenario.connections.iter().filter(cut).map(|c| segments(c) * per_segment(scenario)).sum()
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
    if config.as_linux && config.receive_buffer.is_some_and(|n| n < 16 * u64::from(config.mss)) {
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
            let rate = if is_ahead_of_peers(scenario) { u64::MAX / 1000 } else { fastest(scenario, c) };
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
    let of = |d: &crate::scenario::Direction| 1.0 - (1.0 - one(d.loss)) * (1.0 - d.corruption);
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
    changed.fold(link.up.rate.min(link.down.rate), u64::min)
}

/// A box that may cost time but takes nothing that a connection needs. (Timestamps that were agreed on and then go are needed:
/// RFC 7323 3.2 drops the segments.)
fn is_harmless(b: &Middlebox) -> bool {
    let always = b.at.0 == 0 && b.until == Instant::FAR_FUTURE;
    match b.kind {
        Kind::StripTimestamps => always && b.up && b.down,
        // One that begins within a connection makes other numbers of it.
        Kind::RewriteSequence => always,
        Kind::StripSack | Kind::Split { .. } | Kind::Coalesce { .. } => true,
        Kind::Replay { .. } | Kind::Acks { how: Pattern::Divide | Pattern::Repeat, .. } => true,
        _ => false,
    }
}

/// Whether every connection has to complete: its first path is there for good, loses little, and an hour is ample.
fn completes(scenario: &Scenario) -> bool {
    let ample = scenario.duration.0 >= 3_600_000_000_000;
    ample && scenario.connections.iter().all(|c| c.protocol != Protocol::Udp && connects(scenario, c))
}

/// Timestamps measure the round trip of each acknowledgement (RFC 7323 4).
fn is_timed(scenario: &Scenario, c: &Connection) -> bool {
    let stripped = |kind: &Kind| matches!(kind, Kind::StripTimestamps);
    c.config.timestamps && !boxes(scenario).any(stripped)
}

/// Nanoseconds: who waits so long has given a path its chance.
const PATIENT: u64 = 10_000_000_000;

/// The rate at which an application writes, in bit/s.
fn written(transfer: &Transfer) -> u64 {
    match transfer.application {
        Application::OnOff { on, off, rate: Some(rate), .. } => {
            (u128::from(rate) * u128::from(on.0) / u128::from(on.0 + off.0).max(1)) as u64
        }
        _ => u64::MAX,
    }
}

/// Whether the queues of its links, `all` of them, have room for what must not always be lost together.
fn has_room(scenario: &Scenario, c: &Connection, all: &[&Link]) -> bool {
    // Connections that begin together, and whose timers are alike, meet again and again where only one packet can be. So do the pieces
    // of one segment: if each loses one, no round trip is measured without timestamps (RFC 6298 3), and the timeout stays the longest. Or
    // those of one acknowledgement: what acknowledges the rest repeats the timestamp of the first copy (RFC 7323 5.3, R2 before R3), and a
    // round trip is as long as the timeout.
    // So do several subflows of a connection that share a link.
    let subflows = scenario.connections.iter().map(|c| c.paths.len() as u64).sum::<u64>();
    let shared = all.iter().enumerate().any(|(i, l)| all[..i].iter().any(|earlier| std::ptr::eq(*l, *earlier)));
    let flows = if shared { subflows } else { scenario.connections.len() as u64 };
    let together = flows * pieces(scenario, c).max(answers(scenario));
    // Nor is a round trip measured of what is sent again: where a first window loses all but one segment, and the timeout repeats them one by
    // one or two by two, it stays the longest.
    let together = if is_timed(scenario, c) { together } else { together.max(u64::from(c.config.initial_window)) };
    // The head of the line is sent again behind data of another subflow that is repeated before it, in one burst.
    let behind = c.config.acknowledgement == Acknowledgement::Coupled && c.paths.len() > 1;
    let together = together.max(1 + u64::from(behind));
    // Headers and options take up to 120.
    let packet = u64::from(c.config.mss).max(1380) + 120;
    let room = |d: &crate::scenario::Direction| match d.queue {
        Queue::Packets(n) => n >= together,
        Queue::Bytes(n) => n / packet >= together,
    };
    together == 1 || all.iter().all(|l| room(&l.up) && room(&l.down))
}

/// Seconds for which what other connections have in the queues of `links` may delay a packet.
fn others(scenario: &Scenario, c: &Connection, links: &[&Link]) -> f64 {
    let others = || scenario.connections.iter().filter(|o| !std::ptr::eq(*o, c));
    let longest = others().map(|o| u64::from(o.config.mss) + 120).max().unwrap_or(0);
    let octets = others().map(|o| octets(&o.transfer, u64::MAX / 1000).saturating_mul(2)).fold(0, u64::saturating_add);
    let holds = |d: &crate::scenario::Direction| match d.queue {
        Queue::Packets(n) => n.saturating_mul(longest),
        Queue::Bytes(n) => n,
    };
    let one = |l: &&Link| holds(&l.up).saturating_add(holds(&l.down)).min(octets) as f64 * 8.0 / slowest(l) as f64;
    links.iter().map(one).sum()
}

/// Nanoseconds that it tries to connect for.
fn connecting(config: &Config) -> u64 {
    let timeout = config.initial_rto.0.clamp(config.min_rto.0, config.max_rto.0);
    let wait = |i: u32| config.max_rto.0.min(timeout << i.min(30));
    config.syn_retries.map_or(180_000_000_000, |n| (0..=n).map(wait).sum())
}

/// Where acknowledgements wait, for the data of another subflow or for a hole of their own that no SACK tells of, a round trip of what waited
/// lasts as long as the timeout, and the next timeout is longer: a controller that goes by what it measured falls to its least window
/// (docs/validation.md).
fn starves(c: &Connection) -> bool {
    c.config.acknowledgement == Acknowledgement::Coupled && c.config.controller.name() == "bbr"
}

/// Whether a box that joins segments and one that cuts them make ever new boundaries. The engine knows sums of whole segments only: where
/// those overlap, a mapping whose octets are what they were cannot be verified (`stack/src/mptcp/verify.rs`).
fn is_recut(scenario: &Scenario, c: &Connection) -> bool {
    let joins = boxes(scenario).any(|kind| matches!(kind, Kind::Coalesce { .. }));
    c.config.checksum && joins && boxes(scenario).any(|kind| matches!(kind, Kind::Split { .. }))
}

fn connects(scenario: &Scenario, c: &Connection) -> bool {
    let links = |path: &Vec<usize>| path.iter().map(|&l| &scenario.links[l]).collect::<Vec<_>>();
    let all: Vec<&Link> = c.paths.iter().flat_map(links).collect();
    let first = links(&c.paths[0]);
    let told = |l: &Link| mtus(l).all(|mtu| mtu.icmp);
    let safe = |l: &&Link| l.wifi.is_none() && told(l) && l.middleboxes.iter().all(is_harmless);
    if !all.iter().all(safe) || c.path_changes.iter().any(|p| p.path == 0 && p.action == PathAction::Remove) {
        return false;
    }
    // A backup carries nothing while a regular path works, however badly.
    if first.iter().any(|l| l.backup) && !all.iter().all(|l| l.backup) {
        return false;
    }
    // Neither chance nor an outage lasts as long as it tries.
    // Under coupled acknowledgement no other path carries what is in flight on one that is down: none is acknowledged until that subflow has
    // ended, and those that work may end first.
    let needed = if c.config.acknowledgement == Acknowledgement::Coupled { &all } else { &first };
    let Some(outage) = needed.iter().map(|l| outage(l)).sum::<Option<u64>>() else { return false };
    let arrives: f64 = needed.iter().map(|l| 1.0 - fails(l)).product();
    let tries = c.config.max_retransmissions.min(100);
    let octets = octets(&c.transfer, fastest(scenario, c)).saturating_add(ahead(scenario, c));
    let segments = (octets / segment(scenario, c)).max(1);
    let patience: u64 = (0..tries).map(|i| c.config.max_rto.0.min(c.config.min_rto.0 << i.min(30))).sum();
    let likely = (1.0 - arrives).powi(tries as i32) * (segments as f64) < 1e-10;
    let carried = first.iter().map(|l| slowest(l)).min().unwrap_or(1);
    let rate = carried.min(c.transfer.read_rate.map_or(u64::MAX, |r| r * 8)).min(written(&c.transfer));
    let seconds = (octets + segments * 100) as f64 * 8.0 / rate.max(1) as f64;
    let patience = patience as f64 - 3e9 * others(scenario, c, &first);
    let delay: u64 = all.iter().map(|l| l.up.delay.0 + l.down.delay.0).sum();
    // With one segment a round trip, and each tenth lost.
    let trips = segments as f64 * (delay as f64 / 1e9 + 1.0) * if arrives < 0.999 { 3.0 } else { 1.0 };
    // RFC 5482: who gives up after so long may do so at any delay; so may who asks for a sign of life every few milliseconds.
    let asks = |k: KeepAlive| k.idle.0.saturating_add(k.interval.0.saturating_mul(k.probes.into()));
    let patient = c.config.user_timeout.is_none() && c.config.keepalive.is_none_or(|k| asks(k) > 3 * outage + PATIENT);
    let manager = c.path_manager != PathManager::None || c.path_changes.is_empty();
    // Where the last acknowledgement is lost, if only for want of room in a queue, and TIME-WAIT is over, a FIN is answered with a RST.
    let waits = c.config.time_wait.0 >= PATIENT;
    let room = has_room(scenario, c, &all);
    likely
        && patient
        && connecting(&c.config) > 3 * (outage + delay) + PATIENT
        && !starves(c)
        && !is_recut(scenario, c)
        && waits
        && room
        && manager
        && patience > 3.0 * ((outage + delay) as f64 + 1e9 * seconds) + PATIENT as f64
        && seconds * 30.0 < 1800.0
        && trips < 1000.0
}

/// Whether only silence may end a connection: no box interferes, or cuts segments anew, no host withdraws an interface, and the last acknowledgement
/// is not lost so often that TIME-WAIT is over before it gets through (what comes then is answered with a RST).
fn unharmed(scenario: &Scenario) -> bool {
    let boxes = scenario.links.iter().flat_map(|l| &l.middleboxes).all(is_harmless);
    let removed = scenario.connections.iter().flat_map(|c| &c.path_changes).any(|p| p.action == PathAction::Remove);
    let lossless = |l: &Link| l.wifi.is_none() && fails(l) < 1e-9 && outage(l) == Some(0);
    let waits = scenario.connections.iter().all(|c| c.config.time_wait.0 >= 60_000_000_000);
    let recut = scenario.connections.iter().any(|c| is_recut(scenario, c));
    // Nor for want of room in a queue.
    let room = |c: &Connection| {
        let links: Vec<&Link> = c.paths.iter().flatten().map(|&l| &scenario.links[l]).collect();
        has_room(scenario, c, &links)
    };
    boxes && !removed && !recut && waits && scenario.connections.iter().all(room) && scenario.links.iter().all(lossless)
}
