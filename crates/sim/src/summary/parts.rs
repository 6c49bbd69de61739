//! What applications that count in parts got: latencies, and what came too late.

use serde_json::{Map, Value};

use anabranch_measures::account::ConnectionAccount;
use anabranch_measures::figures::put_percentiles;
use anabranch_measures::items::{Items, Kind, Loaded, quantile};
use anabranch_measures::measures::{self as m, Measure};
use anabranch_measures::playback::Playback;

/// The measure of the latencies of each kind of parts.
const LATENCIES: [(Kind, &Measure); 3] = [
    (Kind::Message, &m::MESSAGE_LATENCY_MS),
    (Kind::Object, &m::OBJECT_LATENCY_MS),
    (Kind::Segment, &m::SEGMENT_LATENCY_MS),
];

/// Adds what is known of the parts of the transfers of `accounts`, taken together.
pub(super) fn parts(o: &mut Map<String, Value>, accounts: &[&ConnectionAccount]) {
    for (kind, measure) in LATENCIES {
        let these = || accounts.iter().filter_map(|a| a.items.as_ref()).filter(|i| i.kind == kind);
        if these().next().is_some() {
            let sorted = latencies(these());
            put_percentiles(o, measure, |p| quantile(&sorted, p).map(|ns| ns / 1e6));
        }
    }
    if let [account] = accounts {
        datagrams(o, account);
    }
    pages(o, accounts);
    films(o, accounts);
    let due: Vec<(u64, u64)> =
        accounts.iter().filter_map(|a| a.items.as_ref().and_then(|i| i.missed(a.ended))).collect();
    if !due.is_empty() {
        let all: u64 = due.iter().map(|(all, _)| all).sum();
        let missed: u64 = due.iter().map(|(_, missed)| missed).sum();
        m::DEADLINE_MISSED.put(o, (all > 0).then(|| missed as f64 / all as f64));
    }
}

/// What became of datagrams.
fn datagrams(o: &mut Map<String, Value>, account: &ConnectionAccount) {
    let (Some(transit), [flow]) = (&account.transit, &account.subflows[..]) else { return };
    put_percentiles(o, &m::DATAGRAM_DELAY_MS, |p| transit.quantile(p).map(|s| s * 1e3));
    m::JITTER_MS.put(o, transit.jitter().map(|s| s * 1e3));
    let settled = flow.segments - flow.in_network.min(flow.segments);
    let lost = settled.saturating_sub(account.distinct);
    m::DATAGRAM_LOSS.put(o, (settled > 0).then(|| lost as f64 / settled as f64));
}

/// The time until all pages were loaded, each from its first SYN.
fn pages(o: &mut Map<String, Value>, accounts: &[&ConnectionAccount]) {
    let pages: Vec<_> = accounts.iter().filter_map(|a| Some((a.began, a.page?))).collect();
    if !pages.is_empty() {
        let seconds = |(began, page): &(Option<u64>, Loaded)| Some((page.at? - (*began)?) as f64 / 1e9);
        let all: Option<Vec<f64>> = pages.iter().map(seconds).collect();
        m::PAGE_LOAD_S.put(o, all.map(|all| all.into_iter().fold(0.0, f64::max)));
    }
}

/// What viewers saw: the latest start, and sums and means over all films.
fn films(o: &mut Map<String, Value>, accounts: &[&ConnectionAccount]) {
    let films: Vec<_> = accounts.iter().filter_map(|a| Some((a.began, a.playback.as_ref()?))).collect();
    if films.is_empty() {
        return;
    }
    let seconds = |(began, film): &(Option<u64>, &Playback)| Some((film.started? - (*began)?) as f64 / 1e9);
    let started: Option<Vec<f64>> = films.iter().map(seconds).collect();
    let sum = |f: fn(&Playback) -> u64| films.iter().map(|(_, film)| f(film)).sum::<u64>();
    let segments = sum(|f| f.bitrates().0);
    let bitrates: f64 = films.iter().map(|(_, film)| film.bitrates().1).sum();
    m::STARTUP_S.put(o, started.map(|all| all.into_iter().fold(0.0, f64::max)));
    m::REBUFFERING_S.put(o, sum(|f| f.rebuffering) as f64 / 1e9);
    m::REBUFFERING_COUNT.put(o, sum(|f| f.stalls));
    m::BITRATE_MEAN_MBPS.put(o, (segments > 0).then(|| bitrates / segments as f64 / 1e6));
    m::BITRATE_SWITCHES.put(o, sum(|f| f.switches));
}

/// The latencies of all parts that are there, in order of size.
fn latencies<'a>(items: impl Iterator<Item = &'a Items>) -> Vec<u64> {
    let mut sorted: Vec<u64> = items.flat_map(Items::all).filter_map(|i| i.latency()).collect();
    sorted.sort_unstable();
    sorted
}
