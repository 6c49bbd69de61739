//! One direction of a subflow, in the fields of a run's subflow and in those that only captures have.

use anabranch_measures::causes::{self, Cause};
use anabranch_measures::figures::mbps;
use anabranch_measures::measures::{self as m, Capture};
use serde_json::{Map, Value, json};

use super::super::connection::Connection;
use super::super::subflow::{CLIENT, Half, Opening, SERVER, Subflow};
use super::super::waiting::Flow;
use super::{SIDES, endpoint};

/// How spurious retransmissions are inferred where only the sender's side was captured.
const BY_REPORTS: &str = "D-SACK and timestamps";

/// Subflow `f` of `c` with what side `s` sent on it. `number` is its own, `path` that of its pair of addresses; goodput is over `seconds`
/// and means are taken until `end`.
pub(super) fn subflow(
    c: &Connection,
    f: &Subflow,
    s: usize,
    (number, path): (usize, usize),
    seconds: f64,
    end: u64,
) -> Value {
    let h = &f.halves[s];
    let sender = &h.sender;
    let mut o = Map::new();
    m::PATH.put(&mut o, path);
    m::GOODPUT_MBPS.put(&mut o, mbps(h.fresh, seconds));
    m::UTILISATION.put(&mut o, Value::Null);
    m::SEGMENTS.put(&mut o, sender.segments);
    m::RETRANSMISSIONS_FAST.put(&mut o, sender.fast);
    m::RETRANSMISSIONS_TIMEOUT.put(&mut o, sender.timeout);
    m::SPURIOUS.put(&mut o, spurious(f, s).0);
    m::UNDONE.put(&mut o, Value::Null);
    m::SRTT_MS.put(&mut o, sender.srtt.mean(end).filter(|_| times_rtt(f, s)).map(|v| v * 1e3));
    m::CWND_MEAN_SEGMENTS.put(&mut o, Value::Null);
    m::QUEUE_DROPS.put(&mut o, Value::Null);
    if let Value::Object(own) = only_of_captures(c, f, s) {
        o.extend(own);
    }
    if let Some(flow) = c.waiting.as_ref().and_then(|w| w[s].flows.get(number)) {
        o.insert("diagnosis".into(), diagnosis(c, f, (s, end), flow));
    }
    Value::Object(o)
}

/// What it waited for, and what its path was found to be.
fn diagnosis(c: &Connection, f: &Subflow, (s, end): (usize, u64), flow: &Flow) -> Value {
    let h = &f.halves[s];
    let ms = |ns: u64| ns as f64 / 1e6;
    let history = &flow.queue.history;
    // Away from the sender its round trips are reconstructed; the shortest answer that was seen is exact.
    let reconstructed = f.is_far_from(s) && f.round_trip(s).is_some();
    let rtt = flow.queue.rtt.filter(|_| f.acknowledges(1 - s));
    let least = rtt.filter(|_| !reconstructed).map(|r| r[0]).into_iter().chain(f.round_trip(s)).min();
    json!({
        "causes": causes::shares(&flow.times, &Cause::ALL),
        "measured_s": flow.times.iter().sum::<u64>() as f64 / 1e9,
        "blocked_s": flow.blocked as f64 / 1e9,
        "cwnd_unproven_s": flow.unproven as f64 / 1e9,
        "cwnd_shaped_s": flow.shaped as f64 / 1e9,
        "cwnd_near_window_s": flow.near_window as f64 / 1e9,
        "scheduler_unproven_s": flow.unproven_choice as f64 / 1e9,
        "send_buffer_unproven_s": flow.by_chance as f64 / 1e9,
        "syns": f.syns,
        "timestamps": h.clock.is_some(),
        "base_rtt_ms": least.map(ms),
        "rtt_max_ms": rtt.map(|r| ms(r[1].max(least.unwrap_or(0)))),
        m::SRTT_MS.key: flow.sender.srtt.mean(end).map(|v| v * 1e3),
        "rtt_over_time": {
            "start_s": (history.began as f64 - c.began as f64) / 1e9,
            "step_s": history.width as f64 / 1e9,
            "ms": history.means().map(|mean| mean.map(|ns| ns / 1e6)).collect::<Vec<_>>(),
        },
        "saturated_mbps": flow.capacity.rates().iter().map(|r| r * 8e-6).collect::<Vec<_>>(),
        "best_mbps": flow.capacity.least() * 8e-6,
        "lost_congestion": (!f.lacks_pure_acks(s)).then_some(flow.queue.lost[0]),
        "lost_random": (!f.lacks_pure_acks(s)).then_some(flow.queue.lost[1]),
        "sack": f.halves[s].sender.sack,
        "delivered_wire_bytes": flow.capacity.delivered(),
    })
}

/// The fields that a run's subflow does not have.
fn only_of_captures(c: &Connection, f: &Subflow, s: usize) -> Value {
    let h = &f.halves[s];
    let sender = &h.sender;
    let (spurious, by) = spurious(f, s);
    let inferred = m::SUBFLOWS.iter().filter(|m| m.capture == Capture::Inferred).map(|m| m.key);
    let inferred: Vec<&str> = inferred.chain((by == BY_REPORTS).then_some(m::SPURIOUS.key)).collect();
    let [verified, failed, incomplete] = h.checksums.totals();
    json!({
        "client": endpoint(f.ends[CLIENT]),
        "server": endpoint(f.ends[SERVER]),
        "opening": opening(f.opening),
        "opened_by": SIDES[f.opener],
        "backup": f.backup,
        "start_s": f.began.saturating_sub(c.began) as f64 / 1e9,
        "captured_at": SIDES.iter().enumerate().filter(|(side, _)| f.is_at(*side)).map(|(_, n)| *n).collect::<Vec<_>>(),
        "inferred": inferred,
        "spurious_by": if spurious.is_some() { json!(by) } else { Value::Null },
        "retransmissions": sender.fast + sender.timeout,
        "spurious_dsack": sender.by_dsack,
        "spurious_eifel": sender.by_timestamp,
        "window_probes": sender.probes,
        "bytes_sent": sender.octets,
        "bytes_first": h.fresh,
        "duplicates_arrived": h.duplicates,
        m::REINJECTIONS.key: h.reinjections,
        m::RTT_MIN_MS.key: rtt_min(f, s),
        "rtt_max_ms": sender.rtt_range.filter(|_| times_rtt(f, s)).map(|r| r.1 as f64 / 1e6),
        m::ONE_WAY_DELAY_MS.key: one_way_delay(f, h),
        "mss": f.mss[1 - s],
        "largest_segment_bytes": sender.largest,
        "dss_checksums": { "verified": verified, "failed": failed, "incomplete": incomplete },
        "damaged": h.damaged,
        "refused": h.refused,
        m::MISSING_BYTES.key: h.order.missing(),
        "unseen_bytes": sender.unseen_octets(),
        "packets": f.packets,
        "stray_packets": f.strays,
        "lacks_pure_acks": f.lacks_pure_acks(s),
        "cut_options": f.cut,
        "malformed_options": f.malformed,
        "reset_by": f.reset.map(|side| SIDES[side]),
    })
}

/// The sender's round-trip times are in the capture.
fn times_rtt(f: &Subflow, s: usize) -> bool {
    f.is_at(s) && f.acknowledges(1 - s)
}

/// Captured near both ends: the two are at different places.
fn is_at_two_places(f: &Subflow) -> bool {
    f.near[CLIENT] != f.near[SERVER]
}

/// Spurious retransmissions, and by what they are known. With a capture at both ends they are certain. From the sender's side
/// alone they are inferred. From elsewhere nothing tells them.
fn spurious(f: &Subflow, s: usize) -> (Option<u64>, &'static str) {
    let h = &f.halves[s];
    match &h.crossing {
        Some(crossing) if is_at_two_places(f) => (Some(crossing.spurious()), "both captures"),
        _ if f.is_at(s) => (Some(h.sender.spurious), BY_REPORTS),
        _ if h.sender.segments == 0 => (Some(0), "no data"),
        _ => (None, ""),
    }
}

/// In ms: as the sender measured it or, elsewhere, the sum of the two parts of the handshake as seen there.
fn rtt_min(f: &Subflow, s: usize) -> Option<f64> {
    let gap = [CLIENT, SERVER].map(|side| f.response(f.near[s], side));
    let ns = match (times_rtt(f, s), f.halves[s].sender.rtt_range, gap) {
        (true, Some((low, _)), _) => low,
        (_, _, [Some(a), Some(b)]) => a + b,
        _ => return None,
    };
    Some(ns as f64 / 1e6)
}

/// From one capture to the other, in ms.
fn one_way_delay(f: &Subflow, h: &Half) -> Option<Value> {
    h.crossing.as_ref().filter(|x| is_at_two_places(f) && x.crossed > 0).map(|x| {
        let quantile = |p: f64| x.delays.quantile(p).map(|s| s * 1e3);
        let (low, high) = x.range.unwrap_or_default();
        json!({
            "min": low as f64 / 1e6, "p50": quantile(0.5), "p95": quantile(0.95), "p99": quantile(0.99),
            "max": high as f64 / 1e6, "segments": x.crossed,
        })
    })
}

fn opening(opening: Opening) -> &'static str {
    match opening {
        Opening::Capable => "mp_capable",
        Opening::Join => "mp_join",
        Opening::Plain => "syn",
        Opening::Unseen => "unseen",
    }
}
