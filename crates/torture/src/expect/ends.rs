//! How a run has to end: whether every transfer completes, and whether only silence may end a connection.

use anabranch_sim::scenario::middlebox::{Kind, Middlebox, Pattern};
use anabranch_sim::scenario::{
    Application, Connection, Direction, Link, PathAction, PathManager, Protocol, Queue, Scenario, Transfer,
};
use anabranch_stack::config::{Acknowledgement, Config, KeepAlive};
use anabranch_stack::time::Instant;

use super::{ahead, answers, boxes, fails, fastest, mtus, octets, outage, pieces, segment, slowest};

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
pub fn completes(scenario: &Scenario) -> bool {
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
pub fn has_room(scenario: &Scenario, c: &Connection, all: &[&Link]) -> bool {
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
    // And the third ACK of MP_CAPABLE behind a DATA_FIN that is repeated as often as the SYN/ACK, where Fast Open has sent all there is.
    let together = together.max(1 + u64::from(behind || c.config.fast_open));
    // Headers and options take up to 120.
    let packet = u64::from(c.config.mss).max(1380) + 120;
    let room = |d: &Direction| match d.queue {
        Queue::Packets(n) => n >= together,
        Queue::Bytes(n) => n / packet >= together,
    };
    // A token bucket that is too small for a packet never lets one pass.
    let passes = |d: &Direction| {
        let burst = d.more.get("policer", "burst").and_then(|burst| burst.whole());
        burst.is_none_or(|burst| burst / (packet + u64::from(d.overhead)) >= together)
    };
    let both = |l: &&Link, has: &dyn Fn(&Direction) -> bool| has(&l.up) && has(&l.down);
    all.iter().all(|l| both(l, &passes) && (together == 1 || both(l, &room)))
}

/// Seconds for which what other connections have in the queues of `links` may delay a packet.
fn others(scenario: &Scenario, c: &Connection, links: &[&Link]) -> f64 {
    let others = || scenario.connections.iter().filter(|o| !std::ptr::eq(*o, c));
    let longest = others().map(|o| u64::from(o.config.mss) + 120).max().unwrap_or(0);
    let octets = others().map(|o| octets(&o.transfer, u64::MAX / 1000).saturating_mul(2)).fold(0, u64::saturating_add);
    let holds = |d: &Direction| match d.queue {
        Queue::Packets(n) => n.saturating_mul(longest),
        Queue::Bytes(n) => n,
    };
    let one = |l: &&Link| holds(&l.up).saturating_add(holds(&l.down)).min(octets) as f64 * 8.0 / slowest(l) as f64;
    links.iter().map(one).sum()
}

/// Nanoseconds that it tries to connect for.
pub fn connecting(config: &Config) -> u64 {
    let timeout = config.initial_rto.0.clamp(config.min_rto.0, config.max_rto.0);
    let wait = |i: u32| config.max_rto.0.min(timeout << i.min(30));
    config.syn_retries.map_or(180_000_000_000, |n| (0..=n).map(wait).sum())
}

/// Where acknowledgements wait, for the data of another subflow or for a hole of their own that no
/// SACK tells of, a round trip of what waited lasts as long as the timeout, and the next timeout is
/// longer: a controller that goes by what it measured falls to its least window, and pacing sends a
/// window in as many minutes (94506975 in crates/acceptance/tests/data/torture_campaigns.csv).
fn starves(c: &Connection) -> bool {
    let paced = c.config.pacing || c.config.controller.name() == "bbr";
    // A receiver without SACK does not tell either, and without timestamps the round trip counts from the first copy.
    let untold = !c.config.sack && !c.config.timestamps;
    (c.config.acknowledgement == Acknowledgement::Coupled || untold) && paced
}

/// Whether a box that joins segments and one that cuts them make ever new boundaries. The engine
/// knows sums of whole segments only: where those overlap, a mapping whose octets are what they
/// were cannot be verified (`crates/stack/src/mptcp/verify.rs`).
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
    // Neither chance nor an outage lasts as long as it tries. Under coupled acknowledgement no other path carries what is in flight on one that is down: none is acknowledged until that subflow has
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
    // (After an outage a timeout is as long as that, and twice as long for each loss that follows.)
    let longest = outage.saturating_mul(if arrives < 1.0 { 16 } else { 4 });
    let waits = c.config.time_wait.0 >= PATIENT.max(longest);
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
pub fn unharmed(scenario: &Scenario) -> bool {
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
