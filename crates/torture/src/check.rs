//! The invariants of one run: how it ended, what it delivered, how much it took, and whether its figures agree.

use anabranch_measures::account::ConnectionAccount;
use anabranch_measures::measures;
use anabranch_sim::scenario::middlebox::{Kind, Pattern};
use anabranch_sim::scenario::{Application, Connection, Extent, Protocol, Scenario, Stack};
use anabranch_sim::sim::world::End;
use serde_json::Value;

use super::expect::Expected;
use super::finding::{Finding, Observed};
use super::ledger::Way;

/// Holds a run to the invariants.
///
/// # Errors
/// With the first one that it broke.
pub fn check(scenario: &Scenario, expected: &Expected, run: &Observed) -> Result<(), Finding> {
    if let Some((invariant, what)) = &run.ledger.fault {
        return Err(Finding::new(invariant, what.clone()));
    }
    let most = expected.events(run.outcome.now);
    if run.outcome.events > most {
        let what = format!("{} events, at most {most} were expected", run.outcome.events);
        return Err(Finding::new("bounded events", what));
    }
    if run.outcome.now > scenario.duration.0 {
        return Err(Finding::new("bounded time", format!("it ended at {} ns", run.outcome.now)));
    }
    for (i, account) in run.outcome.accounts.iter().enumerate() {
        let c = &scenario.connections[i];
        delivered(scenario, c, account)?;
        ended(scenario, expected, c, account, run)?;
        limits(scenario, c, account)?;
        counted(scenario, run, i, account)?;
    }
    windows(run)?;
    told(&run.summary, run)
}

/// Octets delivered once, in order, exact.
fn delivered(scenario: &Scenario, c: &Connection, account: &ConnectionAccount) -> Result<(), Finding> {
    let boxes = scenario.links.iter().any(|l| !l.middleboxes.is_empty());
    let fault = |what: String| Err(Finding::new("exact content", format!("{}: {what}", c.name)));
    // Behind one box that acknowledges what is lost, and another that takes the mappings, what is sent again at data level (RFC 8684 3.3.2) are
    // new octets to a peer that took the first ones for plain TCP's (3.7).
    let has = |which: fn(&Kind) -> bool| scenario.links.iter().flat_map(|l| &l.middleboxes).any(|b| which(&b.kind));
    let lies = has(|kind| matches!(kind, Kind::Acks { how: Pattern::Optimistic, .. }));
    let repeats = lies && has(|kind| matches!(kind, Kind::StripMptcp(_)));
    if account.is_damaged() && !repeats {
        return fault("what arrived is not what was sent".into());
    }
    if account.altered.delivered() > 0 && !boxes {
        return fault("octets were altered, and there is no middlebox".into());
    }
    // RFC 8684 3.3: data whose checksum fails are not delivered. After a fallback (3.7) nobody looks, and data of a SYN have no mapping (B.2).
    let unmapped = c.config.fast_open || account.fallback != Some(false);
    if account.altered.delivered() > 0 && c.config.checksum && !unmapped {
        return fault("altered octets were delivered, though each mapping has a checksum".into());
    }
    let total = match &c.transfer.application {
        Application::Bulk(Extent::Bytes(n)) | Application::OnOff { extent: Extent::Bytes(n), .. } => *n,
        Application::RequestResponse { response, count, .. } => response * count,
        _ => return Ok(()),
    };
    let lengthens = repeats || has(|kind| matches!(kind, Kind::AlterLength { .. }));
    let reads = [Some(account), account.reverse.as_deref()];
    for read in reads.into_iter().flatten().map(|a| a.read) {
        if read > total && !lengthens {
            return fault(format!("{read} octets were read of {total}"));
        }
        if account.done.is_some() && read != total && !lengthens {
            return fault(format!("it completed with {read} octets of {total}"));
        }
    }
    if account.done.is_some() && c.transfer.both && account.reverse.is_none() && !lengthens {
        return fault("it completed without the other direction".into());
    }
    Ok(())
}

/// A clear end.
fn ended(
    scenario: &Scenario,
    expected: &Expected,
    c: &Connection,
    account: &ConnectionAccount,
    run: &Observed,
) -> Result<(), Finding> {
    let told = || {
        let aborted = account.aborted.map(|(at, client, why)| format!(", aborted at {at} ns, client {client}: {why}"));
        let last = account.last_read.unwrap_or(0) as f64 / 1e9;
        format!("{}: {} octets read, the last at {last} s{}", c.name, account.read, aborted.unwrap_or_default())
    };
    if account.asleep {
        return Err(Finding::new("nobody sleeps", format!("{}; data wait, and no timer runs", told())));
    }
    if run.outcome.end == End::Completed && account.done.is_none() && account.failed.is_none() {
        return Err(Finding::new("a clear end", format!("{}; the run is over, but not the connection", told())));
    }
    if expected.completes && account.done.is_none() {
        return Err(Finding::new("completes", told()));
    }
    let silence = |why| why == anabranch_stack::event::EndReason::TimedOut;
    if expected.unharmed && account.done.is_none() {
        if let Some((..)) = account.aborted.filter(|(.., why)| !silence(*why)) {
            return Err(Finding::new("a clear end", format!("{}; nothing harmed it", told())));
        }
    }
    let _ = scenario;
    Ok(())
}

fn boxes(scenario: &Scenario) -> impl Iterator<Item = &Kind> {
    scenario.links.iter().flat_map(|l| &l.middleboxes).map(|b| &b.kind)
}

/// Buffers within their limits.
fn limits(scenario: &Scenario, c: &Connection, account: &ConnectionAccount) -> Result<(), Finding> {
    if scenario.stack != Stack::Anabranch || c.protocol == Protocol::Udp {
        return Ok(());
    }
    let Some(buffer) = c.config.receive_buffer else { return Ok(()) };
    // At both levels: what one subflow holds for a hole of its own may be a copy of what another has brought, and that one moves the window
    // on while the hole stays. So may a box that acknowledges what has not arrived. Of this a subflow takes two buffers.
    let optimist = |kind: &Kind| matches!(kind, Kind::Acks { how: Pattern::Optimistic, .. });
    let each = if c.paths.len() > 1 || boxes(scenario).any(optimist) { 2 } else { 1 };
    // Where a NAT forgets it, or nothing comes back any more, the peer gives a subflow up and opens another; this end keeps it, and what
    // it holds.
    let subflows = account.subflows.len().max(c.paths.len()) as u64;
    let most = buffer.saturating_mul(each * subflows + 1).saturating_add(u64::from(c.config.mss));
    if account.held_octets > most {
        let what = format!("{}: {} octets were held, the buffer is {buffer}", c.name, account.held_octets);
        return Err(Finding::new("buffers", what));
    }
    Ok(())
}

/// What the accounts of a connection say is what was seen.
fn counted(scenario: &Scenario, run: &Observed, i: usize, account: &ConnectionAccount) -> Result<(), Finding> {
    let (flow, c) = (&run.ledger.flows[i], &scenario.connections[i]);
    let fault = |what: String| Err(Finding::new("figures agree with the trace", format!("{}: {what}", c.name)));
    let up = c.transfer.up;
    let ways = [&flow.ways[usize::from(!up)], &flow.ways[usize::from(up)]];
    let empty = ConnectionAccount::default();
    for (way, account) in ways.iter().zip([account, account.reverse.as_deref().unwrap_or(&empty)]) {
        let Way { read, first, last, gap } = **way;
        if (read, first, gap) != (account.read, account.first_read, account.longest_gap) {
            return fault(format!(
                "{read} octets were read from {first:?} ns on, with a gap of {gap} ns; the account has {}, {:?}, {}",
                account.read, account.first_read, account.longest_gap
            ));
        }
        if account.last_read.is_some_and(|at| at != last) {
            return fault(format!("the last octet was read at {last} ns; the account has {:?}", account.last_read));
        }
    }
    // Accounts are closed with their transfer; what is sent or dropped later, or afterwards in the same nanosecond, is not theirs.
    let open = account.ended == run.outcome.now;
    let agrees = |counted: u64, seen: u64, after: u64| counted <= seen && (!open || counted + after >= seen);
    for (t, s) in account.subflows.iter().enumerate() {
        let seen = flow.tuples.get(t).copied().unwrap_or_default();
        let (now, sent) = (run.outcome.now, seen.segments[usize::from(!up)]);
        if !agrees(s.segments, sent, seen.within(now, usize::from(!up))) {
            return fault(format!("subflow {t} sent {sent} segments, the account has {}", s.segments));
        }
        if !agrees(s.queue_drops, seen.queue_drops, seen.within(now, 2)) {
            return fault(format!(
                "queues dropped {} packets of subflow {t}, the account has {}",
                seen.queue_drops, s.queue_drops
            ));
        }
        if !agrees(s.mtu_drops, seen.mtu_drops, seen.within(now, 3)) {
            return fault(format!(
                "{} packets of subflow {t} were too long, the account has {}",
                seen.mtu_drops, s.mtu_drops
            ));
        }
        let again = s.fast + s.timeout;
        if again > s.segments || s.fates.spurious() > again {
            let spurious = s.fates.spurious();
            return fault(format!(
                "subflow {t}: {} segments, {again} of them again, {spurious} of these spurious",
                s.segments
            ));
        }
        if s.scheduled[1] > s.scheduled[0] || s.scheduled[0] > s.segments {
            return fault(format!("subflow {t}: {:?} choices of {} segments", s.scheduled, s.segments));
        }
    }
    brought(scenario, c, account).map_or(Ok(()), fault)
}

/// What subflows brought first is what was read, and no more segments were out of order than there were. Says what is not so.
fn brought(scenario: &Scenario, c: &Connection, account: &ConnectionAccount) -> Option<String> {
    let fresh: u64 = account.subflows.iter().map(|s| s.fresh).sum();
    // What a box put in, and a checksum then rejected, came first on its subflow nevertheless.
    let rejected = c.config.checksum && boxes(scenario).any(|kind| matches!(kind, Kind::AlterLength { .. }));
    let differs = fresh < account.read || (fresh > account.read && !rejected);
    if account.done.is_some() && differs && scenario.stack == Stack::Anabranch {
        return Some(format!("subflows brought {fresh} octets, {} were read", account.read));
    }
    let (out, distinct) = (account.out_of_order, account.distinct);
    (out > distinct).then(|| format!("{out} of {distinct} segments out of order"))
}

/// Congestion windows are numbers. (Whether what is in flight keeps to them is asked of every segment, in the ledger.)
fn windows(run: &Observed) -> Result<(), Finding> {
    for s in run.outcome.series.samples() {
        if !(s.cwnd.is_finite() && s.cwnd >= 0.0) {
            return Err(Finding::new("windows", format!("cwnd {} at {} ns", s.cwnd, s.at)));
        }
    }
    Ok(())
}

/// The figures of the summary are what `docs/columns.md` says they can be, and agree with each other.
fn told(summary: &Value, run: &Observed) -> Result<(), Finding> {
    let many = summary["connections"].as_array();
    let objects: Vec<&Value> = many.into_iter().flatten().chain([summary]).collect();
    let fault = |what: String| Err(Finding::new("figures agree with each other", what));
    let columns = measures::columns();
    for o in objects {
        for c in &columns {
            let value = o.pointer(&format!("/{}", c.field.replace('.', "/"))).and_then(Value::as_f64);
            if value.is_some_and(|x| x < c.measure.unit.low || x > c.measure.unit.high + 1e-9) {
                return fault(format!("{} is {value:?}", c.field));
            }
        }
        let completed = o["status"] == "completed";
        if completed == o["completion_s"].is_null() {
            return fault(format!("status {} with completion_s {}", o["status"], o["completion_s"]));
        }
        let [first, last] = ["first_byte_s", "last_byte_s"].map(|k| o[k].as_f64());
        if first.is_some() != (o["bytes_delivered"] != 0) || last.is_some() != first.is_some() || last < first {
            return fault(format!("{} octets from {first:?} to {last:?} s", o["bytes_delivered"]));
        }
        if completed && o["completion_s"].as_f64() < last {
            return fault(format!("completed at {} s, the last octet at {last:?} s", o["completion_s"]));
        }
        if o["goodput_mbps"].as_f64().is_none_or(|x| x < 0.0) {
            return fault(format!("goodput {}", o["goodput_mbps"]));
        }
        if let Some(limits) = o["limits"].as_object() {
            let sum: f64 = limits.values().filter_map(Value::as_f64).sum();
            if (sum - 1.0).abs() > 1e-6 {
                return fault(format!("the shares of limits add up to {sum}"));
            }
        }
        subflows(o, many.is_some())?;
    }
    if !no_nan(summary) {
        return fault("a number is none".into());
    }
    let _ = run;
    Ok(())
}

fn subflows(o: &Value, many: bool) -> Result<(), Finding> {
    let fault = |what: String| Err(Finding::new("figures agree with each other", what));
    let Some(list) = o["subflows"].as_array() else { return Ok(()) };
    let mut segments = 0;
    for s in list {
        segments += s["segments"].as_u64().unwrap_or(0);
        if s["utilisation"].as_f64().is_none_or(|x| !(0.0..=1.0 + 1e-9).contains(&x)) {
            return fault(format!("utilisation {} of path {}", s["utilisation"], s["path"]));
        }
        if s["cwnd_mean_segments"].as_f64().is_some_and(|x| x <= 0.0) || s["srtt_ms"].as_f64().is_some_and(|x| x < 0.0)
        {
            return fault(format!("cwnd {} segments, srtt {} ms", s["cwnd_mean_segments"], s["srtt_ms"]));
        }
    }
    if !many && o["segments"].as_u64() != Some(segments) {
        return fault(format!("{} segments, its subflows have {segments}", o["segments"]));
    }
    Ok(())
}

/// Numbers that do not exist are null on purpose only at the fields that may be: JSON has no NaN, so it must not come from one.
fn no_nan(value: &Value) -> bool {
    match value {
        Value::Array(list) => list.iter().all(no_nan),
        Value::Object(map) => map.values().all(no_nan),
        Value::Number(n) => n.as_f64().is_none_or(f64::is_finite),
        _ => true,
    }
}
