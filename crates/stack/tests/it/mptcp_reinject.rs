//! Data on a failing subflow (RFC 8684 3.3.6): a copy goes out on another subflow, the original is retransmitted on its own
//! as well; a subflow that dies does not take the connection with it.

use std::collections::BTreeMap;

use anabranch_stack::Config;
use anabranch_stack::event::{ArrivalKind, EndReason, Event, SendKind};
use anabranch_stack::segment::{Flags, Mptcp, Segment};
use anabranch_stack::tcp::State;
use anabranch_stack::time::Instant;

use crate::mptcp_bench::{Script, joined, mptcp, watch_windows};
use crate::pair::{Fate, Packet, Pair, Side, at, ms};

/// Uses all subflows alike.
fn client() -> Config {
    mptcp().scheduler("round-robin".parse().unwrap())
}

/// `delays` in ms; all subflows are open at 500. From 500 on `filter` decides, and the client writes `octets` and closes; the
/// server closes, too.
fn pair(delays: &[u64], octets: u64, filter: impl FnMut(&Packet) -> Fate + 'static) -> Pair {
    let mut pair = joined(client(), mptcp(), delays, 1000);
    watch_windows(&mut pair, 1, [None, None]);
    pair.run_until(at(500));
    assert_eq!(pair[Side::A].count(|e| matches!(e, Event::SubflowEstablished(_))), delays.len());
    pair.filter(filter);
    pair.write(Side::A, octets);
    pair.close(Side::A);
    pair.close(Side::B);
    pair
}

fn arrivals(pair: &Pair) -> Vec<(Instant, usize, u64, u32, u32, ArrivalKind)> {
    let of = |e: &(Instant, Event)| match e.1 {
        Event::Arrived { subflow, data, len, fresh, kind, intact } => {
            assert!(intact);
            Some((e.0, subflow, data, len, fresh, kind))
        }
        _ => None,
    };
    pair[Side::B].events.iter().filter_map(of).collect()
}

/// Every octet is counted as fresh once, whatever came again.
fn check_fresh(pair: &Pair, octets: u64) {
    let fresh: u64 = arrivals(pair).iter().map(|a| u64::from(a.4)).sum();
    assert_eq!(fresh, octets);
    assert_eq!(pair[Side::B].read, octets);
    assert_eq!(pair[Side::B].conn().inbound().held(), (0, 0));
}

fn silent(path: usize) -> impl FnMut(&Packet) -> Fate {
    move |p: &Packet| if p.path == path { Fate::Drop } else { Fate::Pass }
}

/// Path 1 is silent from 500 on, for ever. Its timer runs out at 700: everything that is unacknowledged on it leaves on path
/// 0 at once or as its window allows, the first segment also on path 1 again. All arrives before the second timeout.
#[test]
fn data_of_a_silent_path_arrive_over_the_other_one() {
    let mut pair = pair(&[10, 10], 1_000_000, silent(1));
    pair.run_until(at(699));
    assert_eq!(pair.log.iter().filter(|p| p.transmit.kind == SendKind::Reinjection).count(), 0);
    assert!(!pair.is_closed());
    pair.run_until(at(1000));
    assert!(pair.is_closed());
    check_fresh(&pair, 1_001_000);
    let stuck: Vec<u64> = of_kind(&pair, 1, SendKind::New);
    assert_eq!(of_kind(&pair, 0, SendKind::Reinjection), stuck);
    assert_eq!(of_kind(&pair, 1, SendKind::Timeout), stuck[..1]);
    assert!(pair.log.iter().filter(|p| p.transmit.kind == SendKind::Timeout).all(|p| p.at == at(700)));
}

/// Data offsets of what the client sent on a path for one reason from 500 on, in order of sending.
fn of_kind(pair: &Pair, path: usize, kind: SendKind) -> Vec<u64> {
    let of = |p: &&Packet| p.from == Side::A && p.path == path && p.transmit.kind == kind && p.at >= at(500);
    pair.log.iter().filter(of).map(|p| p.segment().payload.offset).collect()
}

/// Path 1 is silent from 500 to 720 only. Its own retransmissions from 1100 on arrive after the copies on path 0: they are
/// acknowledged on their subflow, which is whole again, and add nothing to the stream.
/// RFC 8684 3.3.2.
#[test]
fn the_original_is_retransmitted_although_the_copy_has_arrived() {
    let mut pair = pair(&[10, 10], 1_000_000, |p| if p.path == 1 && p.at < at(720) { Fate::Drop } else { Fate::Pass });
    pair.run_until(at(1000));
    check_fresh(&pair, 1_001_000);
    assert!(pair.is_closed());
    let stuck: Vec<u64> = of_kind(&pair, 1, SendKind::New);
    pair.run_until(at(5000));
    let mut again = of_kind(&pair, 1, SendKind::Timeout);
    assert_eq!(again[..2], [stuck[0]; 2], "at 700 and at 1100");
    again.remove(0);
    assert_eq!(again, stuck);
    let late: Vec<_> = arrivals(&pair).into_iter().filter(|a| a.0 >= at(1100)).collect();
    assert_eq!(late.len(), stuck.len());
    assert!(late.iter().all(|a| (a.1, a.4, a.5) == (1, 0, ArrivalKind::DuplicateInData)), "{late:?}");
    check_fresh(&pair, 1_001_000);
    // The subflow is whole, so that it can close.
    assert!(matches!(pair[Side::B].conn().subflows()[1].state(), State::Closed | State::TimeWait));
    assert!(matches!(pair[Side::A].conn().subflows()[1].state(), State::Closed | State::TimeWait));
}

/// A path that was only late: copies and originals arrive, in either order, and each octet counts once.
#[test]
fn copies_and_late_originals_are_counted_once() {
    let mut pair = pair(&[10, 10], 1_000_000, |p| {
        if p.path == 1 && p.from == Side::A && p.at < at(540) { Fate::Late(ms(250)) } else { Fate::Pass }
    });
    pair.run();
    assert!(pair.is_closed());
    check_fresh(&pair, 1_001_000);
    let twice = arrivals(&pair).iter().filter(|a| a.4 == 0).count();
    assert_eq!(twice, 10, "{:?}", arrivals(&pair).iter().filter(|a| a.4 == 0).collect::<Vec<_>>());
}

/// Three paths, of which two fall silent at 500: the third carries everything.
#[test]
fn one_of_three_paths_is_enough() {
    for alive in 0..3 {
        let mut pair = pair(&[10, 20, 30], 2_000_000, move |p| if p.path == alive { Fate::Pass } else { Fate::Drop });
        pair.run_until(at(10_000));
        assert!(pair.is_closed(), "path {alive} is alive");
        check_fresh(&pair, 2_001_000);
    }
}

/// Eight paths of 5 to 40 ms: all carry data; then all but one fall silent.
#[test]
fn eight_subflows_share_the_data_and_one_is_enough() {
    let mut pair = pair(&[5, 10, 15, 20, 25, 30, 35, 40], 3_000_000, |p| {
        if p.path != 6 && p.at >= at(600) { Fate::Drop } else { Fate::Pass }
    });
    pair.run_until(at(20_000));
    assert!(pair.is_closed());
    check_fresh(&pair, 3_001_000);
    for path in 0..8 {
        assert!(of_kind(&pair, path, SendKind::New).len() > 5, "path {path}");
    }
}

/// Three paths, failing one after the other: path 0 at 500, path 1 at 700, when the first copies of path 0's data leave on
/// it. They are stuck again and go out a third time, on path 2.
#[test]
fn data_stuck_twice_are_reinjected_twice() {
    let mut pair = pair(&[10, 20, 30], 2_000_000, |p| {
        if p.path == 0 || (p.path == 1 && p.at >= at(700)) { Fate::Drop } else { Fate::Pass }
    });
    pair.run_until(at(10_000));
    assert!(pair.is_closed());
    check_fresh(&pair, 2_001_000);
    let mut times: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for p in pair.log.iter().filter(|p| matches!(p.transmit.kind, SendKind::New | SendKind::Reinjection)) {
        times.entry(p.segment().payload.offset).or_default().push(p.path);
    }
    assert!(times.values().any(|paths| *paths == [0, 1, 2]));
}

/// Both paths are silent from 500 to 950, path 0 for good: its data, stuck since 700, need path 1, on which other data are
/// stuck that only path 0 could take.
#[test]
fn data_that_wait_for_a_dead_path_do_not_keep_back_others() {
    for dead in [0, 1] {
        let mut pair =
            pair(&[10, 10], 200_000, move |p| if p.path == dead || p.at < at(950) { Fate::Drop } else { Fate::Pass });
        pair.run_until(at(10_000));
        assert!(pair.is_closed(), "path {dead} is dead: {} octets read", pair[Side::B].read);
        check_fresh(&pair, 201_000);
    }
}

/// What arrived in the meantime is not sent again. Path 0, after a loss, has little room when path 1's timer runs out at 700;
/// path 1 was only late, and much of what was stuck on it is acknowledged before path 0 could take a copy.
#[test]
fn what_is_acknowledged_meanwhile_is_not_reinjected() {
    let mut pair = pair(&[10, 10], 3_000_000, |p| match p.path {
        0 if p.data_n == Some(12) => Fate::Drop,
        1 if p.from == Side::A && (at(540)..at(560)).contains(&p.at) => Fate::Late(ms(190)),
        _ => Fate::Pass,
    });
    let mut acked = 0;
    pair.run();
    assert!(pair.is_closed());
    check_fresh(&pair, 3_001_000);
    let (stuck, copies) = (of_kind(&pair, 1, SendKind::Timeout), of_kind(&pair, 0, SendKind::Reinjection));
    assert!(copies.len() > 10 && copies.len() < stuck.len(), "{} copies of {}", copies.len(), stuck.len());
    let first = crate::mptcp_bench::first_dsn(crate::mptcp_bench::keys_of_pair(1).0);
    // An acknowledgement sent at t is known at t + 10.
    let mut known: Vec<(Instant, u64)> = Vec::new();
    for p in &pair.log {
        if let (Side::B, Some(dss)) = (p.from, p.segment().dss()) {
            if let Some(anabranch_stack::segment::DataAck::Four(low)) = dss.data_ack {
                known.push((p.at + ms(10), u64::from(low.wrapping_sub(first as u32))));
            }
        }
        if p.transmit.kind == SendKind::Reinjection {
            acked = known.iter().filter(|k| k.0 < p.at).map(|k| k.1).max().unwrap_or(0).max(acked);
            let end = p.segment().payload.offset + u64::from(p.segment().payload.len);
            assert!(end > acked, "{end} was acknowledged by {acked} at {}", p.at);
        }
    }
}

/// No new data on a path that timed out, until something is acknowledged on it; then it is used again.
#[test]
fn a_path_that_timed_out_gets_new_data_when_it_lives_again() {
    let mut pair = joined(client(), mptcp(), &[10, 10], 1000);
    pair.run_until(at(500));
    pair.filter(|p| if p.path == 1 && p.at < at(800) { Fate::Drop } else { Fate::Pass });
    // A little every 10 ms.
    for n in 0..200 {
        pair.run_until(at(500 + 10 * n));
        pair.write(Side::A, 4000);
    }
    pair.run_until(at(4000));
    let new: Vec<u64> = pair
        .log
        .iter()
        .filter(|p| p.from == Side::A && p.path == 1 && p.transmit.kind == SendKind::New)
        .map(|p| p.at.0 / 1_000_000)
        .collect();
    // Timeouts at 700 and 1100; the second retransmission is acknowledged at 1120.
    assert!(new.iter().any(|&t| t < 700) && !new.iter().any(|&t| (700..1120).contains(&t)), "{new:?}");
    assert!(new.iter().filter(|&&t| t >= 1120).count() > 50);
    assert_eq!(pair[Side::B].read, 1000 + 800_000);
}

/// RFC 9293 3.8.3: after fifteen retransmissions the subflow is given up. The connection does not notice; when the path comes
/// back and the other side, which still has the subflow, speaks on it, it is told by a reset.
#[test]
fn a_subflow_is_given_up_without_the_connection() {
    let mut pair = joined(client(), mptcp(), &[10, 10], 1000);
    pair.run_until(at(500));
    pair.filter(|p| if p.path == 1 && p.at < at(2_000_000) { Fate::Drop } else { Fate::Pass });
    pair.write(Side::A, 100_000);
    pair.run_until(at(2_000_000));
    let timed_out = Event::SubflowEnded(1, EndReason::TimedOut);
    let end = pair[Side::A].when(timed_out).expect("given up");
    assert!(end > at(100_000), "R2 is at least 100 s");
    let sent = pair.log.iter().filter(|p| p.path == 1 && p.transmit.kind == SendKind::Timeout).count();
    assert!(sent >= 15);
    assert_eq!(pair[Side::B].read, 101_000);
    pair.write(Side::A, 100_000);
    pair.write(Side::B, 100_000);
    pair.run_until(at(2_010_000));
    assert_eq!((pair[Side::A].read, pair[Side::B].read), (100_000, 201_000));
    assert_eq!(pair[Side::B].count(|e| *e == Event::SubflowEnded(1, EndReason::Reset)), 1);
    // A new subflow may take the path.
    assert_eq!(pair.open(Side::A, 1, 1), Some(2));
    pair.run_until(at(2_011_000));
    assert_eq!(pair[Side::A].count(|e| *e == Event::SubflowEstablished(2)), 1);
    pair.write(Side::A, 100_000);
    pair.close(Side::A);
    pair.close(Side::B);
    pair.run_until(at(2_012_000));
    assert!(pair.is_closed());
    assert!(pair.log.iter().any(|p| p.flow == 2 && p.data_n.is_some()));
}

/// The only subflow times out, then a second one joins: what is stuck on the first goes out on it at once.
#[test]
fn a_new_subflow_takes_what_is_stuck() {
    let mut s = Script::client(mptcp());
    s.c.write(5000);
    assert_eq!(s.poll().len(), 5);
    let out = s.wait(ms(300));
    assert!(out.iter().all(|t| t.1.kind == SendKind::Timeout));
    let (flow, nonce) = s.open();
    s.give(flow, s.join_answer(flow, nonce));
    let out = s.give(flow, s.dss(flow, 1, 1, None, None));
    let copies: Vec<_> = out.iter().map(|t| (t.subflow, t.kind, t.segment.payload.offset)).collect();
    let expected: Vec<_> = (0..5).map(|n| (flow, SendKind::Reinjection, 1000 * n)).collect();
    assert_eq!(copies, expected);
}

/// A subflow whose mss is smaller: stretches are cut to its segments.
#[test]
fn copies_fit_their_subflow() {
    let mut s = Script::client(mptcp());
    let (flow, nonce) = s.open();
    let mut answer = s.join_answer(flow, nonce);
    answer.options.mss = Some(340);
    s.give(flow, answer);
    s.give(flow, s.dss(flow, 1, 1, None, None));
    s.c.write(10_000);
    let out = s.poll();
    assert!(out.len() == 10 && out.iter().all(|t| t.subflow == 0));
    let mut out = s.give(0, Segment { flags: Flags::RST, ..s.ack(0, 1, 1, Mptcp::None) });
    let mut copied = Vec::new();
    while let Some(last) = out.last() {
        copied.extend(out.iter().map(|t| (t.kind, t.segment.payload.offset, t.segment.payload.len)));
        let ack = s.seq(last) + last.segment.payload.len;
        out = s.give(flow, s.dss(flow, 1, ack, None, None));
    }
    // RFC 6691: 340 less the 28 octets of the longest DSS.
    let full = (0..32).map(|n| (SendKind::Reinjection, 312 * n, 312));
    assert_eq!(copied, full.chain([(SendKind::Reinjection, 9984, 16)]).collect::<Vec<_>>());
}

/// RFC 8684 3.3.6: data that were acknowledged on their subflow and never by a DATA_ACK are sent again; four times as often as a segment before the peer
/// counts as gone.
#[test]
fn data_without_a_data_ack_are_repeated_and_given_up() {
    let mut s = Script::client(mptcp().max_retransmissions(2));
    s.c.write(1000);
    let mut copies = 0;
    let mut out = s.poll();
    for _ in 0..20_000 {
        for t in std::mem::take(&mut out).iter().filter(|t| t.segment.payload.len > 0) {
            copies += u32::from(t.transmissions == 1);
            let ack = s.seq(t) + t.segment.payload.len;
            out.extend(s.give(0, s.dss(0, 1, ack, Some(0), None)));
        }
        out.extend(s.wait(ms(100)).into_iter().map(|(_, t)| t));
    }
    assert_eq!((copies, s.events.last()), (1 + 4 * 2, Some(&Event::Aborted(EndReason::TimedOut))));
}

/// What waits on the only subflow stays there when that one times out, and leaves as new data, in its order.
#[test]
fn what_waits_on_the_only_subflow_stays_there() {
    let mut s = Script::client(mptcp().scheduler("otias".parse().unwrap()));
    s.c.write(20_000);
    assert_eq!(s.poll().len(), 10);
    let out = s.wait(ms(300));
    assert_eq!(out.iter().map(|(_, t)| t.kind).collect::<Vec<_>>(), [SendKind::Timeout]);
    let out = s.give(0, s.dss(0, 1, 10_001, Some(10_000), None));
    let sent: Vec<_> = out.iter().map(|t| (t.kind, t.segment.payload.offset)).collect();
    assert_eq!(sent[..2], [(SendKind::New, 10_000), (SendKind::New, 11_000)]);
}
