//! How many events there may be in a second of virtual time, whatever there is to do: applications and radios wake up, and what is not
//! answered is sent again for ever.

use anabranch_sim::scenario::middlebox::{Kind, Pattern};
use anabranch_sim::scenario::{Application, Connection, Link, Scenario, Stack};
use anabranch_wifi::Wifi;

use super::ends::{connecting, has_room};
use super::{boxes, per_segment, pieces, segment};

/// The most in a second.
pub fn ticks(scenario: &Scenario) -> f64 {
    scenario.connections.iter().map(|c| wakes(scenario, c)).sum::<f64>() + radios(scenario) + timeouts(scenario)
}

/// How often the applications and timers of a connection wake in a second.
fn wakes(scenario: &Scenario, c: &Connection) -> f64 {
    // A slow reader looks each ten milliseconds, an on-off source at both ends of its pause and when a segment is due.
    let reads = if c.transfer.read_rate.is_some() { 200.0 } else { 0.0 };
    let writes = match c.transfer.application {
        Application::OnOff { on, off, rate, .. } => {
            let segments = rate.map_or(0.0, |rate| rate as f64 / 8.0 / f64::from(c.config.mss));
            4e9 / (on.0 + off.0).max(1) as f64 + 2.0 * segments
        }
        _ => 0.0,
    };
    let links: usize = c.paths.iter().map(Vec::len).sum();
    // On each path both ends may ask, and are answered, over all of its links; what waits for an answer asks once an interval.
    let asks = c.config.keepalive.map_or(0.0, |k| 16e9 * links as f64 / k.idle.0.min(k.interval.0).max(1) as f64);
    // A path that is down is tried again for as long as the connection lasts, each time with a SYN at most every longest timeout, and its
    // answer, which cross some of its links; one on which joins are refused every ten seconds.
    let joins = links as f64 * (10.0 / c.config.max_rto.as_secs_f64()).max(1.0);
    // Behind a box that has forgotten the port each of these is a new one, and all are answered as long as a connection may take to open.
    let forgets = boxes(scenario).any(|kind| matches!(kind, Kind::Nat { .. }));
    let open = connecting(&c.config) as f64 / c.config.max_rto.0 as f64;
    let joins = if forgets { joins * (1.0 + open) } else { joins };
    // Each host looks for stale subflows five times a second, as long as its data wait.
    let watches = if c.config.stale_after > 0 { 10.0 } else { 0.0 };
    reads + asks + joins + watches + writes * (1.0 + f64::from(u8::from(c.transfer.both)))
}

/// Beacons in a second, and what follows from them. From 802.11n on what nobody answers is asked about until the lifetime of the data is over
/// (IEEE 802.11 10.24), and by ns-3's rules sent again as well, each tenth of a millisecond or so, with no limit to how often; before, a frame
/// is given up after a few times.
fn radios(scenario: &Scenario) -> f64 {
    let radio = |w: &Wifi| if w.air.standard.format().is_some() { 50_000.0 } else { 200.0 };
    scenario.links.iter().filter_map(|l| l.wifi.as_ref()).map(radio).sum()
}

/// The model of 2011 gives nothing up, and its timeout has no lower bound
/// (crates/sim/src/legacy/rules.md, 5.5): on a dead path it goes on at 64 times a round trip.
fn timeouts(scenario: &Scenario) -> f64 {
    let paths: usize = scenario.connections.iter().map(|c| c.paths.len()).sum();
    // Behind a hole that is acknowledged nothing arrives any more, and what has no DATA_ACK is sent again.
    match scenario.stack {
        Stack::Anabranch if is_ahead_of_peers(scenario) => {
            1000.0 * paths as f64 + repeated(scenario) + challenges(scenario)
        }
        Stack::Anabranch => repeated(scenario) + again_and_again(scenario) + challenges(scenario),
        _ => 200.0 * paths as f64,
    }
}

/// A box acknowledges what the peer does not have yet.
pub fn is_ahead_of_peers(scenario: &Scenario) -> bool {
    boxes(scenario).any(|kind| matches!(kind, Kind::Acks { how: Pattern::Optimistic, .. }))
}

/// Where a box makes up acknowledgements or changes lengths, hosts may agree on no number any more: each answers what it cannot accept
/// (RFC 9293 3.10.7.4), or challenges a RST (RFC 5961 3.2), as often as its limit permits, and is answered so for ever: four segments
/// each time, of the forty that [`per_segment`] allows for.
fn challenges(scenario: &Scenario) -> f64 {
    let shifts = |kind: &Kind| {
        matches!(kind, Kind::AlterLength { .. } | Kind::RewriteSequence | Kind::Acks { how: Pattern::Optimistic, .. })
    };
    if !boxes(scenario).any(shifts) {
        return 0.0;
    }
    let often = |c: &Connection| c.paths.len() as f64 * 1e9 / c.config.invalid_ack_interval.0.max(1) as f64;
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
