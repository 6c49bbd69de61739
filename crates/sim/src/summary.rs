//! The summary object of a run: the fields of `anabranch run --json`, defined in `docs/columns.md`.

mod parts;

use anabranch_measures::account::{ConnectionAccount, SubflowAccount};
use anabranch_measures::causes::{self, Cause};
use anabranch_measures::episodes::Confusion;
use anabranch_measures::figures::{disorder, jain, mbps, ratio};
use anabranch_measures::measures as m;
use anabranch_measures::recovery::Change;
use anabranch_stack::event::EndReason;
use anabranch_wifi::high::Counts;
use serde_json::{Map, Value, json};

use crate::sim::network::Work;
use crate::sim::world::{End, Outcome};
use anabranch_scenario::{Link, Protocol, Scenario};

/// The summary of `outcome`; `wall_s` is the engine's time in seconds.
pub fn summary(scenario: &Scenario, outcome: &Outcome, wall_s: f64) -> Value {
    let many = scenario.connections.len() > 1;
    let mut connections = Vec::new();
    let mut subflows = Vec::new();
    for (i, account) in outcome.accounts.iter().enumerate() {
        let mut object = measures(&[account], outcome);
        let mut own: Vec<Value> = account.subflows.iter().map(|s| subflow(account, s)).collect();
        for (told, s) in own.iter_mut().zip(&account.subflows).filter(|_| has_mtu(&scenario.links)) {
            told[m::MTU_DROPS.key] = json!(s.mtu_drops);
        }
        for s in &own {
            let mut s = s.clone();
            if many {
                s["connection"] = json!(i);
            }
            subflows.push(s);
        }
        if scenario.connections[i].protocol != Protocol::Udp {
            reordering(&mut object, account);
        }
        object.insert("subflows".into(), Value::Array(own));
        let c = &scenario.connections[i];
        m::NAME.put(&mut object, c.name.as_str());
        m::PROTOCOL.put(&mut object, protocol(c.protocol));
        m::FALLBACK.put(&mut object, account.fallback);
        if let Some(octets) = account.fast_open {
            m::FAST_OPEN_BYTES.put(&mut object, octets);
        }
        connections.push(Value::Object(object));
    }
    let all: Vec<&ConnectionAccount> = outcome.accounts.iter().collect();
    let mut top = measures(&all, outcome);
    m::EVENTS.put(&mut top, outcome.events);
    m::WALL_S.put(&mut top, wall_s);
    m::TRACE_SHA256.put(&mut top, outcome.trace_sha256.as_str());
    m::SEED.put(&mut top, scenario.seed);
    m::VERSION.put(&mut top, env!("CARGO_PKG_VERSION"));
    m::TITLE.put(&mut top, scenario.title.as_str());
    top.insert("subflows".into(), Value::Array(subflows));
    if !outcome.radio.is_empty() {
        m::RADIO.put(&mut top, radio(scenario, outcome));
    }
    if !outcome.work.is_empty() {
        m::HOSTS.put(&mut top, hosts(scenario, outcome));
    }
    if many {
        m::JAIN.put(&mut top, jain(&connections));
        top.insert("connections".into(), Value::Array(connections));
    } else if let Some(Value::Object(only)) = connections.pop() {
        for (key, value) in only {
            top.entry(key).or_insert(value);
        }
    }
    Value::Object(top)
}

/// Something may be too long for a link.
fn has_mtu(links: &[Link]) -> bool {
    links.iter().any(|l| l.up.mtu.is_some() || l.down.mtu.is_some())
}

/// What stations and access points of 802.11n and later sent.
fn radio(scenario: &Scenario, outcome: &Outcome) -> Value {
    let told = |c: &Counts| {
        json!({
            "ppdus": c.ppdus,
            "mpdus": c.mpdus,
            "mpdus_per_ppdu": (c.ppdus > 0).then(|| c.mpdus as f64 / c.ppdus as f64),
            "retransmitted": c.again,
            "requests": c.requests,
            "airtime_s": c.airtime as f64 / 1e9,
        })
    };
    let link = |(i, [up, down]): &(usize, [Counts; 2])| json!({ "link": scenario.links[*i].name, "up": told(up), "down": told(down) });
    outcome.radio.iter().map(link).collect()
}

/// How much the cores of hosts with a cost worked.
fn hosts(scenario: &Scenario, outcome: &Outcome) -> Value {
    let connection = |&(c, busy): &(usize, f64)| json!({ "name": scenario.connections[c].name, "cpu_busy": busy });
    let host = |work: &Work| {
        json!({
            "name": scenario.nodes[work.node].name,
            "cpu_busy": work.busy,
            "connections": work.connections.iter().map(connection).collect::<Vec<_>>(),
        })
    };
    outcome.work.iter().map(host).collect()
}

fn protocol(p: Protocol) -> &'static str {
    match p {
        Protocol::Mptcp => "mptcp",
        Protocol::Tcp => "tcp",
        Protocol::Udp => "udp",
    }
}

/// Who aborted, and why.
fn end_reason(client: bool, reason: EndReason) -> String {
    format!("{}: {reason}", if client { "client" } else { "server" })
}

/// The end of the time over which a connection's rates are taken: when the last octet was read, if it is complete; else the end
/// of the transfer's duration, if it has one, or of the run.
fn until(account: &ConnectionAccount) -> u64 {
    match (account.done, account.last_read) {
        (Some(_), Some(last)) => last,
        _ => account.measured.unwrap_or(account.ended),
    }
}

/// The other direction of a connection whose data go both ways.
fn reverse(o: &mut Map<String, Value>, accounts: &[&ConnectionAccount]) {
    let [account] = accounts else { return };
    let (Some(reverse), Some(began)) = (&account.reverse, account.began) else { return };
    let since = |at: u64| (at - began) as f64 / 1e9;
    let end = match (account.done, reverse.last_read) {
        (Some(_), Some(last)) => last,
        _ => until(account),
    };
    let gap = reverse.last_read.map(|last| reverse.longest_gap.max(end.saturating_sub(last)) as f64 / 1e9);
    let mut read = Map::new();
    m::BYTES_DELIVERED.put(&mut read, reverse.read);
    m::GOODPUT_MBPS.put(&mut read, mbps(reverse.read, since(end.max(began))));
    m::FIRST_BYTE_S.put(&mut read, reverse.first_read.map(since));
    m::LAST_BYTE_S.put(&mut read, reverse.last_read.map(since));
    m::LONGEST_GAP_S.put(&mut read, gap);
    m::REVERSE.put(o, read);
}

/// How the rate came back after changes of the paths; of several connections only the longest time.
fn recoveries(o: &mut Map<String, Value>, accounts: &[&ConnectionAccount]) {
    let changes = accounts.iter().filter_map(|a| Some(a.recovery.as_ref()?.changes(until(a))));
    let seen: Vec<Vec<Change>> = changes.filter(|c| !c.is_empty()).collect();
    if seen.is_empty() {
        return;
    }
    let longest = seen.iter().flatten().filter_map(|c| c.recovery).max();
    m::RECOVERY_MAX_S.put(o, longest.map(|ns| ns as f64 / 1e9));
    if let [changes] = &seen[..] {
        let told = |c: &Change| {
            json!({
                "at_s": c.at as f64 / 1e9,
                "rate_before_mbps": c.before.map(|r| r * 8e-6),
                "rate_after_mbps": c.after.map(|r| r * 8e-6),
                "recovery_s": c.recovery.map(|ns| ns as f64 / 1e9),
            })
        };
        m::RECOVERIES.put(o, changes.iter().map(told).collect::<Vec<_>>());
    }
}

/// How the data were reordered, and what the sender waited for.
fn reordering(o: &mut Map<String, Value>, account: &ConnectionAccount) {
    disorder(o, &account.reorder);
    m::LIMITS.put(o, causes::shares(&account.limits.times(until(account)), &causes::VIEW));
}

/// Loss episodes by truth and verdict.
fn episodes(accounts: &[&ConnectionAccount]) -> (Value, Value, u64) {
    let mut sum = Confusion::default();
    let (mut detection, mut detected, mut restored) = (0, 0, 0);
    for s in accounts.iter().flat_map(|a| &a.subflows) {
        let c = s.episodes.confusion();
        sum.spurious_judged_spurious += c.spurious_judged_spurious;
        sum.spurious_judged_genuine += c.spurious_judged_genuine;
        sum.genuine_judged_spurious += c.genuine_judged_spurious;
        sum.genuine_judged_genuine += c.genuine_judged_genuine;
        let (time, count) = s.episodes.detection();
        detection += time;
        detected += count;
        restored += s.episodes.restored();
    }
    let delay = if detected > 0 { json!(detection as f64 / detected as f64 / 1e6) } else { Value::Null };
    let confusion = json!({
        "spurious_judged_spurious": sum.spurious_judged_spurious,
        "spurious_judged_genuine": sum.spurious_judged_genuine,
        "genuine_judged_spurious": sum.genuine_judged_spurious,
        "genuine_judged_genuine": sum.genuine_judged_genuine,
    });
    (confusion, delay, restored)
}

/// Measures over several connections: counts are added, ratios are those of the sums, maxima are maxima.
fn measures(accounts: &[&ConnectionAccount], outcome: &Outcome) -> Map<String, Value> {
    let sum = |f: fn(&ConnectionAccount) -> u64| accounts.iter().map(|a| f(a)).sum::<u64>();
    let began = accounts.iter().filter_map(|a| a.began).min();
    let since = |at: Option<u64>| match (at, began) {
        (Some(at), Some(began)) => json!((at - began) as f64 / 1e9),
        _ => Value::Null,
    };
    let first = accounts.iter().filter_map(|a| a.first_read).min();
    let last = accounts.iter().filter_map(|a| a.last_read).max();
    // A transfer without data is complete when it is closed.
    let both = |a: &ConnectionAccount| a.last_read.max(a.reverse.as_ref().and_then(|r| r.last_read));
    let over = accounts.iter().filter_map(|a| both(a).or(a.done)).max();
    let complete = accounts.iter().all(|a| a.done.is_some());
    let stalled = accounts.iter().filter_map(|a| a.stalled_since).min();
    let aborted = accounts.iter().filter_map(|a| a.aborted).min_by_key(|(at, ..)| *at);
    let status = match (complete, stalled, outcome.end) {
        (true, ..) => "completed",
        _ if aborted.is_some_and(|(.., why)| why != EndReason::TimedOut) => "aborted",
        (false, Some(_), _) => "stalled",
        (false, None, End::Completed | End::Duration | End::Stopped) => "duration",
    };
    let end = accounts.iter().map(|a| until(a)).max().unwrap_or(0);
    let seconds = began.map_or(0.0, |b| (end - b) as f64 / 1e9);
    let read = sum(|a| a.read);
    let segments = accounts.iter().flat_map(|a| &a.subflows).map(|s| s.segments).sum::<u64>();
    let mut made = Map::new();
    let o = &mut made;
    m::STATUS.put(o, status);
    m::COMPLETION_S.put(o, if complete { since(over) } else { Value::Null });
    m::FIRST_BYTE_S.put(o, since(first));
    m::LAST_BYTE_S.put(o, since(last));
    let why = aborted.filter(|_| !complete).map(|(_, client, reason)| end_reason(client, reason));
    m::ABORTED_BY.put(o, why);
    m::STALLED_SINCE_S.put(o, if status == "stalled" { since(stalled) } else { Value::Null });
    m::GOODPUT_MBPS.put(o, mbps(read, seconds));
    m::BYTES_DELIVERED.put(o, read);
    // Unless complete, the time after the last octet counts.
    let gap = |a: &&ConnectionAccount| a.last_read.map(|last| a.longest_gap.max(until(a).saturating_sub(last)));
    m::LONGEST_GAP_S.put(o, accounts.iter().filter_map(gap).max().map(|ns| ns as f64 / 1e9));
    recoveries(o, accounts);
    reverse(o, accounts);
    m::CONTENT_OK.put(o, accounts.iter().all(|a| !a.is_damaged() && a.altered.delivered() == 0));
    m::BYTES_ALTERED.put(o, sum(|a| a.altered.delivered()));
    m::OOO_RATIO.put(o, ratio(sum(|a| a.out_of_order), sum(|a| a.distinct)));
    let max = |f: fn(&ConnectionAccount) -> u64| accounts.iter().map(|a| f(a)).max().unwrap_or(0);
    m::OOO_BUFFER_MAX_PACKETS.put(o, max(|a| a.held_packets));
    m::OOO_BUFFER_MAX_BYTES.put(o, max(|a| a.held_octets));
    m::SEGMENTS.put(o, segments);
    let scheduled = |i: usize| accounts.iter().flat_map(|a| &a.subflows).map(|s| s.scheduled[i]).sum::<u64>();
    let choice = if scheduled(0) > 0 { json!(ratio(scheduled(1), scheduled(0))) } else { Value::Null };
    m::CHOICE_RATIO.put(o, choice);
    let (confusion, delay, restored) = episodes(accounts);
    m::EPISODES.put(o, confusion);
    m::DETECTION_DELAY_MS.put(o, delay);
    m::WINDOWS_RESTORED.put(o, restored);
    parts::parts(o, accounts);
    made
}

fn subflow(account: &ConnectionAccount, s: &SubflowAccount) -> Value {
    let end = until(account);
    let seconds = account.began.map_or(0.0, |b| (end - b) as f64 / 1e9);
    let utilisation = if s.capacity > 0.0 { s.wire as f64 * 8.0 / s.capacity } else { 0.0 };
    let mut o = Map::new();
    m::PATH.put(&mut o, s.path);
    m::GOODPUT_MBPS.put(&mut o, mbps(s.fresh, seconds));
    m::UTILISATION.put(&mut o, utilisation);
    m::SEGMENTS.put(&mut o, s.segments);
    m::RETRANSMISSIONS_FAST.put(&mut o, s.fast);
    m::RETRANSMISSIONS_TIMEOUT.put(&mut o, s.timeout);
    m::SPURIOUS.put(&mut o, s.fates.spurious());
    m::UNDONE.put(&mut o, s.undone);
    m::SRTT_MS.put(&mut o, s.srtt.mean(end).map(|v| v * 1e3));
    m::CWND_MEAN_SEGMENTS.put(&mut o, s.cwnd.mean(end));
    m::QUEUE_DROPS.put(&mut o, s.queue_drops);
    if let Some((times, busy)) = &s.causes {
        o.insert("causes".into(), causes::shares(times, &Cause::ALL));
        o.insert("measured_s".into(), json!(times.iter().sum::<u64>() as f64 / 1e9));
        o.insert("busy_s".into(), json!(busy));
    }
    Value::Object(o)
}
