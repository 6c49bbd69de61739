//! Scheduled changes in a run: rate, delay, loss and state at given times, seen by a steady flow of datagrams.
//!
//! Datagrams of 972 octets, 1000 with headers: 1 ms at 8 Mbit/s. One leaves every 10 ms, at 0, 10, 20, ... ms.

use anabranch_sim::scenario::Scenario;

use crate::statistics::frequency;
use crate::support::{MS, S, scenario, traced};
use crate::trace::{Copy, copies};

/// One direction's worth of datagrams for `seconds` over one path with these keys.
fn flow(seconds: u64, path: &str) -> Scenario {
    scenario(&format!(
        "duration = '{}s'
         connection = {{ protocol = 'udp', mss = 972 }}
         transfer = {{ rate = '777.6 kbit/s', duration = '{seconds} s' }}
         path = [{{ rate = '8 Mbit/s', delay = '35 ms', {path} }}]",
        seconds + 10
    ))
}

fn fates(scenario: &Scenario) -> Vec<Copy> {
    let sent = copies(&traced(scenario).1);
    for (i, copy) in sent.iter().enumerate() {
        assert_eq!(copy.sent.at, i as u64 * 10 * MS);
    }
    sent
}

/// What begins to be transmitted at 1 s or later takes 4 ms instead of 1 ms; at 2 s the rate is 8 Mbit/s again.
#[test]
fn a_rate_changes_at_its_time() {
    let changes = "changes = [{ at = '1 s', rate = '2 Mbit/s' }, { at = '2 s', rate = '8 Mbit/s' }]";
    for copy in fates(&flow(3, changes)) {
        let slow = (S..2 * S).contains(&copy.sent.at);
        assert_eq!(copy.arrived, [copy.sent.at + if slow { 4 * MS } else { MS } + 35 * MS]);
    }
}

/// A datagram propagates with the delay in force when its transmission ends: 1 ms after it was sent.
#[test]
fn a_delay_changes_at_its_time() {
    let changes = "changes = [{ at = '1005 ms', delay = '80 ms' }, { at = '2005 ms', delay = '35 ms' }]";
    let mut latest = 0;
    for copy in fates(&flow(3, changes)) {
        let flies = copy.sent.at + MS;
        let long = (1_005 * MS..2_005 * MS).contains(&flies);
        // Those after 2005 ms would overtake the ones that fly for 80 ms; they arrive with the last of these.
        latest = latest.max(flies + if long { 80 * MS } else { 35 * MS });
        assert_eq!(copy.arrived, [latest]);
    }
}

/// No loss before 10 s, 20 % from 10 to 60 s, none after.
#[test]
fn a_loss_changes_at_its_time() {
    let sent = fates(&flow(70, "changes = [{ at = '10 s', loss = '20 %' }, { at = '60 s', loss = '0 %' }]"));
    let lossy = |c: &&Copy| (10 * S..60 * S).contains(&(c.sent.at + MS));
    let lost = sent.iter().filter(lossy).filter(|c| !c.dropped.is_empty()).count();
    frequency(lost as u64, sent.iter().filter(lossy).count() as u64, 0.2);
    assert!(sent.iter().all(|c| lossy(&c) || c.dropped.is_empty()));
    assert!(sent.iter().flat_map(|c| &c.dropped).all(|(_, why)| why == "Loss"));
}

/// Down at 1.0003 s, up at 2 s. What is in the link then is lost at that moment; what is sent meanwhile, at once.
///
/// ```text
/// sent at   960  970  980  990  1000 |           1010 ... 1990 | 2000
/// arrives   996  lost lost lost lost | 1000.3          lost    | 2036
/// ```
#[test]
fn a_link_that_is_down_loses_what_is_in_it_and_what_is_sent() {
    let down = S + 300_000;
    let sent = fates(&flow(3, "changes = [{ at = '1000.3 ms', state = 'down' }, { at = '2 s', state = 'up' }]"));
    for copy in &sent {
        let arrival = copy.sent.at + 36 * MS;
        match copy.sent.at {
            at if arrival <= down || at >= 2 * S => assert_eq!(copy.arrived, [arrival]),
            at => assert_eq!(copy.dropped, [(at.max(down), "Down".to_string())]),
        }
    }
    assert_eq!(sent.iter().filter(|c| !c.dropped.is_empty()).count(), 4 + 99);
}

/// Only the direction that is named fails: datagrams go up.
#[test]
fn a_change_of_one_direction_leaves_the_other_alone() {
    let lost = |direction: &str| {
        let change = format!("changes = [{{ at = '1 s', state = 'down', direction = '{direction}' }}]");
        fates(&flow(2, &change)).iter().filter(|c| !c.dropped.is_empty()).count()
    };
    assert_eq!((lost("down"), lost("up") > 100, lost("both") > 100), (0, true, true));
}

/// What waits in the queue when the link fails is lost with the rest: 30 datagrams of 1 ms at once, at 10.5 ms ten have
/// left the transmitter, and none has arrived.
#[test]
fn a_queue_does_not_survive_its_link() {
    let text = "connection = { protocol = 'udp', mss = 972 }
        transfer = { rate = '10 Gbit/s', bytes = '29160 B' }
        path = [{ rate = '8 Mbit/s', delay = '35 ms', changes = [{ at = '10.5 ms', state = 'down' }] }]";
    let sent = copies(&traced(&scenario(&format!("duration = '1 s'\n{text}"))).1);
    assert_eq!(sent.len(), 30);
    assert!(sent.iter().all(|c| c.dropped == [(10_500_000, "Down".to_string())]));
}
