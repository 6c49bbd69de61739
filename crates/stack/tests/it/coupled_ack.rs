//! Coupled acknowledgement, the rule of the papers' model (AINA 2014, Fig. 2): a subflow's cumulative acknowledgement waits for
//! the order of the data.
//!
//! - A segment that is next on its subflow but ahead in the data is parked without a word.
//! - What follows it on its subflow is parked, too, and draws a duplicate acknowledgement each.
//! - When the gap fills, each parked segment that is freed sends one acknowledgement on its own subflow, and the segment that
//!   filled it sends the last one.
//! - SACK blocks are off, because a parked segment may start at the cumulative acknowledgement. Reports of duplicates stay, loss
//!   recovery is RFC 6582's, and no data are reinjected while they are under way.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use anabranch_stack::config::{Acknowledgement, DelayedAck};
use anabranch_stack::controller::{Cause, Controller};
use anabranch_stack::event::{ArrivalKind, Event, SendKind};
use anabranch_stack::judge::Judge;
use anabranch_stack::registry::Choice;
use anabranch_stack::segment::{Dss, Mapping, Mptcp, Payload, Segment};
use anabranch_stack::wire::checksum::dss_pseudo_header;
use anabranch_stack::{Config, Transmit};

use crate::judge::whole_ms;
use crate::mptcp_bench::{Script, joined, mptcp};
use crate::pair::{Fate, Packet, Pair, Side, at, ms};
use anabranch_stack::testing::Rng;

fn coupled() -> Config {
    mptcp().acknowledgement(Acknowledgement::Coupled)
}

/// Acknowledgements that left, none with a SACK block: subflow, number, DATA_ACK.
fn acks(s: &Script, out: &[Transmit]) -> Vec<(usize, u32, u32)> {
    let one = |t: &Transmit| {
        assert_eq!((t.segment.payload.len, t.segment.options.sack.as_slice()), (0, &[][..]));
        (t.subflow, s.subflow_ack(t), s.data_ack(t).expect("a DATA_ACK"))
    };
    out.iter().map(one).collect()
}

/// A receiver with two subflows, 0 and 1.
fn receiver(config: Config) -> Script {
    let mut s = Script::server(config);
    s.join();
    s
}

// ---- the rule ----------------------------------------------------------------------------------------------------

/// Data 0 to 5 in segments of 1000 octets: 0, 4 and 5 on subflow 0, 1 to 3 on subflow 1.
///
/// 0 arrives: ACK | 4: parked, silence | 5: parked, a duplicate | 2, 3 on subflow 1, behind a hole: duplicates | 1 fills it:
/// 2 and 3 are freed with an ACK each on subflow 1, 4 and 5 on subflow 0, and 1 itself comes last on its subflow
#[test]
fn parked_in_silence_duplicated_and_freed_one_by_one() {
    let mut s = receiver(coupled());
    let out = s.give(0, s.data(0, 1, 0, 1000));
    assert_eq!(acks(&s, &out), [(0, 1001, 1000)]);
    let out = s.give(0, s.data(0, 1001, 4000, 1000));
    assert_eq!(acks(&s, &out), []);
    let out = s.give(0, s.data(0, 2001, 5000, 1000));
    assert_eq!(acks(&s, &out), [(0, 1001, 1000)]);
    for (seq, data) in [(1001, 2000), (2001, 3000)] {
        let out = s.give(1, s.data(1, seq, data, 1000));
        assert_eq!(acks(&s, &out), [(1, 1, 1000)]);
    }
    assert_eq!(s.c.inbound().held(), (4, 4000));
    let out = s.give(1, s.data(1, 1, 1000, 1000));
    let of = |flow| acks(&s, &out).into_iter().filter(|a| a.0 == flow).collect::<Vec<_>>();
    assert_eq!(of(0), [(0, 2001, 6000), (0, 3001, 6000)]);
    assert_eq!(of(1), [(1, 2001, 6000), (1, 3001, 6000), (1, 3001, 6000)]);
    assert_eq!((s.read(), s.c.inbound().held()), (6000, (0, 0)));
    let kinds: Vec<_> =
        s.events.iter().filter_map(|e| if let Event::Arrived { kind, .. } = e { Some(*kind) } else { None }).collect();
    use ArrivalKind::{AheadInData, HeldInSubflow, InOrder};
    assert_eq!(kinds, [InOrder, AheadInData, HeldInSubflow, HeldInSubflow, HeldInSubflow, InOrder]);
}

/// The same segments under independent acknowledgement: each in order on its subflow is acknowledged at once.
#[test]
fn independent_acknowledgement_does_not_wait() {
    let mut s = receiver(mptcp());
    for (flow, seq, data, ack) in [(0, 1, 0, 1001), (0, 1001, 4000, 2001), (0, 2001, 5000, 3001), (1, 1, 1000, 1001)] {
        let out = s.give(flow, s.data(flow, seq, data, 1000));
        assert_eq!(s.subflow_ack(&out[0]), ack);
    }
}

/// The filler is alone on its subflow: it repeats nothing. What is freed on the other one is acknowledged there.
#[test]
fn a_filler_alone_on_its_subflow_sends_one_acknowledgement() {
    let mut s = receiver(coupled());
    for (seq, data) in [(1, 1000), (1001, 2000)] {
        s.give(1, s.data(1, seq, data, 1000));
    }
    let out = s.give(0, s.data(0, 1, 0, 1000));
    let mut all = acks(&s, &out);
    all.sort_unstable();
    assert_eq!(all, [(0, 1001, 3000), (1, 1001, 3000), (1, 2001, 3000)]);
}

/// A gap that only narrows frees nothing: 1 arrives, 0 is still missing; and what is freed by 0 stops at the next gap, 3.
#[test]
fn freeing_goes_as_far_as_the_data_do() {
    let mut s = receiver(coupled());
    for (seq, data) in [(1, 2000), (1001, 4000)] {
        s.give(1, s.data(1, seq, data, 1000));
    }
    let out = s.give(0, s.data(0, 1001, 1000, 1000));
    assert_eq!(acks(&s, &out), [(0, 1, 0)]);
    let out = s.give(0, s.data(0, 1, 0, 1000));
    let mut all = acks(&s, &out);
    all.sort_unstable();
    // 1 and the filler on subflow 0, 2 on subflow 1; 4 stays.
    assert_eq!(all, [(0, 2001, 3000), (0, 2001, 3000), (1, 1001, 3000)]);
    assert_eq!((s.read(), s.c.inbound().held()), (3000, (1, 1000)));
}

/// A delayed acknowledgement that is due stays due while a later segment is parked in silence; parking starts none.
#[test]
fn parking_starts_no_delayed_acknowledgement() {
    let mut s = receiver(coupled().delayed_ack(DelayedAck::After(ms(40))));
    let out = s.give(0, s.data(0, 1, 0, 1000));
    assert_eq!(acks(&s, &out), []);
    s.wait(ms(10));
    let out = s.give(0, s.data(0, 1001, 2000, 1000));
    assert_eq!(acks(&s, &out), []);
    let out = s.wait(ms(300));
    assert_eq!(out.iter().map(|o| o.0).collect::<Vec<_>>(), [at(40)]);
    assert_eq!(s.subflow_ack(&out[0].1), 1001);
    let out = s.give(1, s.data(1, 1, 5000, 1000));
    assert_eq!(acks(&s, &out), []);
    assert_eq!(s.wait(ms(1000)).len(), 0);
}

// ---- duplicates --------------------------------------------------------------------------------------------------

/// The same segment again: parked, freed, below the acknowledgement. Each is reported (RFC 2883), at the acknowledgement, above
/// it or below, and never is there a block besides.
#[test]
fn duplicates_are_reported_and_nothing_else_is() {
    let mut s = receiver(coupled());
    let base = s.data(0, 0, 0, 0).seq;
    let blocks = |t: &Transmit| {
        let relative = |n: u32| n.wrapping_sub(base);
        t.segment.options.sack.as_slice().iter().map(|b| (relative(b.0), relative(b.1))).collect::<Vec<_>>()
    };
    s.give(0, s.data(0, 1, 1000, 1000));
    s.give(0, s.data(0, 1001, 2000, 1000));
    // At the acknowledgement, and above it.
    for (seq, data) in [(1, 1000), (1001, 2000)] {
        let out = s.give(0, s.data(0, seq, data, 1000));
        assert_eq!((out.len(), s.subflow_ack(&out[0]), blocks(&out[0])), (1, 1, vec![(seq, seq + 1000)]));
    }
    s.give(1, s.data(1, 1, 0, 1000));
    assert_eq!(s.read(), 3000);
    // Below it.
    for (seq, data) in [(1, 1000), (1001, 2000)] {
        let out = s.give(0, s.data(0, seq, data, 1000));
        assert_eq!((out.len(), s.subflow_ack(&out[0]), blocks(&out[0])), (1, 2001, vec![(seq, seq + 1000)]));
    }
    // A report is given once.
    let out = s.give(0, s.data(0, 3001, 4000, 1000));
    assert_eq!((out.len(), blocks(&out[0])), (1, vec![]));
}

/// Without SACK there is no report either.
#[test]
fn without_sack_duplicates_are_acknowledged_without_a_report() {
    let mut s = receiver(coupled().sack(false));
    s.give(0, s.data(0, 1, 1000, 1000));
    let out = s.give(0, s.data(0, 1, 1000, 1000));
    assert_eq!(acks(&s, &out), [(0, 1, 0)]);
}

// ---- the sender --------------------------------------------------------------------------------------------------

/// Two paths of 10 and 60 ms each way, round-robin or not: what a transfer shows under coupled acknowledgement.
fn transfer(config: &Config, octets: u64, fate: impl FnMut(&Packet) -> Fate + 'static) -> Pair {
    let mut pair = joined(config.clone(), config.clone(), &[10, 60], 1000);
    pair.run_until(at(500));
    pair.filter(fate);
    pair.write(Side::A, octets);
    pair.close(Side::A);
    pair.close(Side::B);
    pair.limit = at(3_000_000);
    pair.run();
    assert_eq!(pair[Side::B].read, 1000 + octets);
    assert!(pair.is_closed());
    pair
}

/// Acknowledgements of data and what they acknowledge, as the receiver saw and sent them, against the rule kept by hand: a
/// model with a set of parked numbers a subflow, fed with the arrivals in their order.
#[derive(Default)]
struct Model {
    /// Data segments parked on each path: subflow number to data.
    parked: [BTreeMap<u64, u64>; 2],
    next: [u64; 2],
    data: u64,
}

impl Model {
    /// A segment of 1000 octets arrives; which paths acknowledge, with how much each.
    fn arrive(&mut self, path: usize, seq: u64, data: u64) -> Vec<(usize, u64)> {
        if seq < self.next[path] {
            return vec![(path, self.next[path])];
        }
        if seq > self.next[path] || data > self.data {
            let silent = seq == self.next[path] && !self.parked[path].contains_key(&seq);
            self.parked[path].insert(seq, data);
            return if silent { vec![] } else { vec![(path, self.next[path])] };
        }
        self.next[path] += 1;
        self.data += 1;
        let mut acks = Vec::new();
        while let Some(p) = (0..2)
            .find(|&p| self.parked[p].first_key_value().is_some_and(|(s, d)| *s == self.next[p] && *d == self.data))
        {
            self.parked[p].pop_first();
            self.next[p] += 1;
            self.data += 1;
            acks.push((p, self.next[p]));
        }
        acks.push((path, self.next[path]));
        acks
    }
}

/// A transfer with loss and reordering on both paths, its acknowledgements compared with the model's one by one.
#[test]
fn every_acknowledgement_is_the_rules() {
    for seed in 0..20 {
        let config = coupled().scheduler("round-robin".parse().unwrap()).nagle(false);
        let mut pair = joined(config.clone(), config, &[10, 60], 1000);
        pair.run_until(at(500));
        let mut rng = Rng::new(seed);
        let arrivals = Rc::new(Cell::new(0));
        let count = arrivals.clone();
        pair.filter(move |p| match p.from {
            Side::A if rng.percent(2) => Fate::Drop,
            Side::A => {
                count.set(count.get() + usize::from(p.segment().payload.len > 0));
                if rng.percent(5) { Fate::Late(ms(rng.below(20))) } else { Fate::Pass }
            }
            Side::B => Fate::Pass,
        });
        let begun = pair.log.len();
        let isn: Vec<u32> = (0..2)
            .map(|f| pair.log.iter().find(|p| p.from == Side::A && p.flow == f).expect("a SYN").segment().seq)
            .collect();
        pair.write(Side::A, 300_000);
        pair.run_until(at(60_000));
        assert_eq!(pair[Side::B].read, 301_000, "seed {seed}");
        // Arrivals in their order: the receiver's events; they name the subflow (path) and the data.
        // One segment went to and fro on path 0 before.
        let mut model = Model { next: [1, 0], data: 1, ..Model::default() };
        let mut place = BTreeMap::new();
        for p in pair.log[begun..].iter().filter(|p| p.from == Side::A && p.segment().payload.len > 0) {
            let s = p.segment();
            assert_eq!(s.payload.len, 1000);
            place.insert((p.flow, s.payload.offset / 1000), u64::from(s.seq.wrapping_sub(isn[p.flow]) - 1) / 1000);
        }
        let mut wanted: BTreeMap<(u64, usize), Vec<u64>> = BTreeMap::new();
        let mut wanted_events = 0;
        for (t, e) in pair[Side::B].events.iter().filter(|(t, _)| *t > at(500)) {
            let Event::Arrived { subflow, data, .. } = *e else { continue };
            wanted_events += 1;
            for (path, number) in model.arrive(subflow, place[&(subflow, data / 1000)], data / 1000) {
                wanted.entry((t.0, path)).or_default().push(number);
            }
        }
        let mut seen: BTreeMap<(u64, usize), Vec<u64>> = BTreeMap::new();
        for p in pair.log[begun..].iter().filter(|p| p.from == Side::B) {
            let number = u64::from(p.segment().ack.wrapping_sub(isn[p.flow]) - 1) / 1000;
            seen.entry((p.at.0, p.flow)).or_default().push(number);
        }
        // What arrives below the cumulative acknowledgement is no arrival of data for the connection, and is acknowledged
        // besides; all else is exactly what the rule says.
        let events = wanted_events;
        let (mut besides, mut missing) = (0, Vec::new());
        for (when, numbers) in &mut seen {
            for n in wanted.remove(when).unwrap_or_default() {
                match numbers.iter().position(|m| *m == n) {
                    Some(i) => drop(numbers.remove(i)),
                    None => missing.push((*when, n)),
                }
            }
            besides += numbers.len();
        }
        assert!(missing.is_empty() && wanted.is_empty(), "seed {seed}: {missing:?} {wanted:?}");
        assert_eq!(besides, arrivals.get() - events, "seed {seed}");
    }
}

/// Unlike paths without any loss: every gap in the data on the fast path freezes its acknowledgement and draws duplicates, so
/// that fast retransmits follow, all of them needless. Independent acknowledgement has none.
#[test]
fn unlike_paths_make_needless_retransmissions() {
    for (config, some) in [(coupled(), true), (mptcp(), false)] {
        let config = config.scheduler("round-robin".parse().unwrap());
        let pair = transfer(&config, 500_000, |_| Fate::Pass);
        let fast = pair[Side::A].count(|e| matches!(e, Event::Congestion { cause: Cause::FastRetransmit, .. }));
        assert_eq!(fast > 0, some, "{fast}");
    }
}

/// Path 1 is silent for a second: its timer expires, again and again, and what it carries stays its own. With independent
/// acknowledgement it goes out on the other path, too (RFC 8684 3.3.6).
#[test]
fn nothing_is_reinjected() {
    for (config, reinjects) in [(coupled(), false), (mptcp(), true)] {
        let silent = |p: &Packet| p.path == 1 && p.at >= at(500) && p.at < at(1500);
        let pair = transfer(&config, 2_000_000, move |p| if silent(p) { Fate::Drop } else { Fate::Pass });
        let timeouts = pair[Side::A].count(|e| matches!(e, Event::Congestion { cause: Cause::Timeout, .. }));
        assert!(timeouts > 0);
        let reinjected = pair.log.iter().any(|p| p.transmit.kind == SendKind::Reinjection);
        assert_eq!(reinjected, reinjects);
    }
}

/// Loss recovery is RFC 6582's although SACK was negotiated. One path, 50 ms each way; 2 and 6 of ten segments are lost.
///
/// 2.05 seven duplicates | 2.1 2 again | 2.15 it frees 3, 4 and 5 with one ACK each, the last one twice | 2.2 each of those is
/// a partial ACK: 4 and 5, which had arrived, and 6, which had not, go out again (3.2 step 3) | 2.25 6 frees 7, 8 and 9 | 2.3 so
/// do 8 and 9
///
/// That four segments go out in vain is the price of the rule: an ordinary receiver acknowledges 3, 4 and 5 at once. Either way
/// 6 waits for the partial ACK, where RFC 6675 sends it at 2.1.
#[test]
fn loss_recovery_is_newreno() {
    let again = |config: Config| {
        let mut pair = joined(config.clone(), config, &[50], 1000);
        pair.run_until(at(2000));
        let lost =
            |p: &Packet| p.from == Side::A && p.at == at(2000) && [3000, 7000].contains(&p.segment().payload.offset);
        pair.filter(move |p| if lost(p) { Fate::Drop } else { Fate::Pass });
        pair.write(Side::A, 10_000);
        pair.run_until(at(4000));
        assert_eq!(pair[Side::B].read, 11_000);
        let again = pair.log.iter().filter(|p| p.transmit.transmissions > 1);
        again.map(|p| (whole_ms(p.at), p.segment().payload.offset / 1000 - 1, p.transmit.kind)).collect::<Vec<_>>()
    };
    let fast = |list: &[(u64, u64)]| list.iter().map(|&(t, n)| (t, n, SendKind::Fast)).collect::<Vec<_>>();
    assert_eq!(again(coupled()), fast(&[(2100, 2), (2200, 4), (2200, 5), (2200, 6), (2300, 8), (2300, 9)]));
    assert_eq!(again(mptcp().sack(false)), fast(&[(2100, 2), (2200, 6)]));
    assert_eq!(again(mptcp()), fast(&[(2100, 2), (2100, 6)]));
}

/// Never a SACK block that is no report: over a lossy, reordering transfer every block on the wire is of octets that had
/// arrived before.
#[test]
fn blocks_on_the_wire_are_reports_of_what_arrived_twice() {
    let mut rng = Rng::new(4);
    let pair = transfer(&coupled(), 1_000_000, move |p| match p.from {
        Side::A if rng.percent(2) => Fate::Drop,
        Side::A if rng.percent(5) => Fate::Late(ms(30)),
        _ => Fate::Pass,
    });
    let mut reports = 0;
    for p in pair.log.iter().filter(|p| p.from == Side::B) {
        let blocks = p.segment().options.sack;
        assert!(blocks.as_slice().len() <= 1);
        for &(from, to) in blocks.as_slice() {
            reports += 1;
            let covers = |q: &&Packet| q.flow == p.flow && q.from == Side::A && q.at < p.at && q.segment().seq == from;
            assert!(pair.log.iter().filter(covers).count() >= 2, "{from} was sent once");
            assert!(to.wrapping_sub(from) <= 1000);
        }
    }
    assert!(reports > 10, "{reports}");
}

/// Every judge and every controller over two unlike paths with loss and reordering: everything is delivered, both sides
/// close.
#[test]
fn everything_is_delivered_by_every_judge_and_controller() {
    for judge in Choice::<dyn Judge>::all() {
        for controller in Choice::<dyn Controller>::all() {
            for (sack, timestamps) in [(true, true), (false, false)] {
                println!("{judge:?} {controller:?} sack {sack}");
                let config =
                    coupled().judge(judge.clone()).controller(controller.clone()).sack(sack).timestamps(timestamps);
                let mut rng = Rng::new(9);
                transfer(&config, 300_000, move |p| match p.from {
                    Side::A if rng.percent(1) => Fate::Drop,
                    Side::A if rng.percent(3) => Fate::Late(ms(30)),
                    _ => Fate::Pass,
                });
            }
        }
    }
}

/// D-SACK's report of a parked segment: a needless retransmission on the subflow that waits for the other one's data is found out
/// (the block is at the acknowledgement), and the window comes back.
///
/// Round trips of 20 ms and 120 ms. The fast path's second flight waits for data that the slow path still carries.
#[test]
fn dsack_finds_out_what_the_rule_made_needless() {
    let config = coupled().judge("dsack".parse().unwrap()).scheduler("round-robin".parse().unwrap());
    let pair = transfer(&config, 500_000, |_| Fate::Pass);
    let judged = |spurious| {
        pair[Side::A].count(|e| matches!(e, Event::Judged { spurious: s, restored: true, .. } if *s == spurious))
    };
    assert!(judged(true) > 0);
    let undone: u64 = pair[Side::A].conn().subflows().iter().map(|s| s.undone()).sum();
    assert_eq!(undone, judged(true) as u64);
}

// ---- what the recoveries make of it ------------------------------------------------------------------------------

/// What became of subflow 0: retransmissions (milliseconds, segment, kind), episodes and verdicts (milliseconds, spurious).
type Tale = (Vec<(u64, u64, SendKind)>, Vec<(u64, Cause)>, Vec<(u64, bool)>);

/// Two paths, 50 ms each way, timeouts of 200 ms. At 2.0 `segments` segments leave in turn, the even ones on path 0; path 1
/// stands still until `filled` milliseconds, when all that was sent there arrives. New data follow at 2.301. Nothing is lost.
fn wait_for_the_other_path(judge: &'static str, segments: u64, filled: u64) -> Tale {
    let config = coupled()
        .judge(judge.parse().unwrap())
        .scheduler("round-robin".parse().unwrap())
        .timestamps(true)
        .nagle(false)
        .delayed_ack(DelayedAck::Off);
    let mut pair = joined(config.clone(), config, &[50, 50], 1000);
    pair.run_until(at(1000));
    pair.write(Side::A, 20_000);
    pair.run_until(at(2000));
    let stands = move |p: &Packet| p.from == Side::A && p.path == 1 && p.at + ms(50) < at(filled);
    pair.filter(move |p| if stands(p) { Fate::Late(at(filled).since(p.at + ms(50))) } else { Fate::Pass });
    pair.write(Side::A, segments * 1000);
    pair.run_until(at(2301));
    pair.write(Side::A, 20_000);
    pair.run_until(at(4000));
    assert_eq!(pair[Side::B].read, 21_000 + segments * 1000 + 20_000);
    let again = pair.log.iter().filter(|p| p.path == 0 && p.transmit.transmissions > 1);
    let again = again.map(|p| (whole_ms(p.at), p.segment().payload.offset / 1000 - 21, p.transmit.kind)).collect();
    let (mut episodes, mut verdicts) = (Vec::new(), Vec::new());
    for (t, e) in &pair[Side::A].events {
        match *e {
            Event::Congestion { subflow: 0, cause } => episodes.push((whole_ms(*t), cause)),
            Event::Judged { subflow: 0, spurious, .. } => verdicts.push((whole_ms(*t), spurious)),
            _ => {}
        }
    }
    (again, episodes, verdicts)
}

/// Segments 0, 2, ..., 18 on path 0. 2.05 0 arrives, 2 is parked in silence, 4 to 18 draw eight duplicates | 2.1 the third of them:
/// 2 again | 2.15 that arrives, too, and is reported | path 1's data come before or after that, and free all
///
/// Every algorithm but two is blind here:
/// - F-RTO judges timeouts; this is a fast retransmit.
/// - TCP-DOOR looks for packet numbers out of order within the subflow. They are in order: what is out of order is the data.
/// - Eifel takes the echo of the first ACK that advances, which is that of the copy at the acknowledgement that came last
///   (RFC 7323 4.3). It sees the truth only if the gap fills before its retransmission arrives.
/// - D-SACK is told of the copy in any case.
///
/// Each segment freed is a partial ACK, so that whoever does not know by then sends all of them again.
#[test]
fn a_fast_retransmit_for_data_that_wait_is_seen_by_eifel_if_early_and_by_dsack() {
    for (filled, eifel) in [(2110, true), (2160, false)] {
        for judge in ["none", "dsack", "eifel", "door", "frto"] {
            println!("{judge} {filled}");
            let (again, episodes, verdicts) = wait_for_the_other_path(judge, 20, filled);
            let first = (2100, 2, SendKind::Fast);
            assert_eq!((again[0], &episodes[..]), (first, &[(2100, Cause::FastRetransmit)][..]));
            let (known, verdict) = match judge {
                "eifel" => (eifel, vec![(filled + 50, eifel)]),
                // The report of 2 is the only one if it comes before the gap fills, and the last one of nine if not.
                "dsack" if filled > 2150 => (true, vec![(2200, true)]),
                "dsack" => (false, vec![(2260, true)]),
                _ => (false, vec![]),
            };
            assert_eq!(verdicts, verdict);
            let rest = (4..20).step_by(2).map(|n| (filled + 50, n, SendKind::Fast));
            assert_eq!(again[1..], if known { vec![] } else { rest.collect::<Vec<_>>() });
        }
    }
}

/// Segments 0, 2, 4 and 6 on path 0: two duplicates are too few, the timer expires. 2.3 (from 2.1) 2 again | 2.35 that arrives,
/// is held already, and is reported with a duplicate ACK | path 1's data come before or after that
///
/// For F-RTO the ACK after a timeout has to advance as soon as anything arrives. It does if the gap fills in the 50 ms that
/// the retransmission is on its way; otherwise the duplicate comes first, and the timeout passes for genuine (RFC 5682 2.1
/// step 2a). Eifel is deceived by the same segment's timestamp. TCP-DOOR sees nothing either way.
#[test]
fn a_timeout_for_data_that_wait_is_genuine_for_frto_unless_they_come_at_once() {
    for (filled, early) in [(2340, true), (2380, false)] {
        for judge in ["none", "dsack", "eifel", "door", "frto"] {
            println!("{judge} {filled}");
            let (again, episodes, verdicts) = wait_for_the_other_path(judge, 7, filled);
            let first = (2300, 2, SendKind::Timeout);
            assert_eq!((again[0], &episodes[..]), (first, &[(2300, Cause::Timeout)][..]));
            let verdict = match judge {
                "eifel" => vec![(filled + 50, early)],
                "frto" if early => vec![(2390, true)],
                "frto" => vec![(2400, false)],
                // Of three reports the last, of one the only one.
                "dsack" if early => vec![(2490, true)],
                "dsack" => vec![(2400, true)],
                _ => vec![],
            };
            assert_eq!(verdicts, verdict);
            let known = verdict.first().is_some_and(|v| v.1 && v.0 <= filled + 50);
            let rest = [4, 6].map(|n| (filled + 50, n, SendKind::Timeout));
            assert_eq!(again[1..], if known { vec![] } else { rest.to_vec() });
        }
    }
}

/// 30 ms 10 octets of the server, which the client's first data acknowledge: but with the keys there is no DATA_ACK (RFC 8684 3.1), and
/// Nagle's algorithm keeps the server's next ten back until there is one. It follows at once; lost, the server asks for it after a
/// timeout by sending its data again, whichever receiver it has (3.3.2).
#[test]
fn what_was_acknowledged_without_a_data_ack_does_not_wait_for_ever() {
    for receiver in [coupled(), mptcp()] {
        for lost in [false, true] {
            let config = receiver.clone().nagle(true).delayed_ack(DelayedAck::After(ms(40)));
            let mut pair = Pair::seeded(config.clone(), config, &[ms(10)], 1);
            pair.run_until(at(30));
            let mut to_lose = u32::from(lost);
            pair.filter(move |p| {
                let alone = p.from == Side::A && p.data_n.is_none() && p.at >= at(40) && p.segment().dss().is_some();
                let loses = alone && to_lose > 0;
                to_lose -= u32::from(loses);
                if loses { Fate::Drop } else { Fate::Pass }
            });
            pair.write(Side::B, 10);
            pair.run_until(at(40));
            pair.write(Side::A, 10);
            pair.run_until(at(45));
            pair.write(Side::B, 10);
            pair.run_until(at(if lost { 2000 } else { 100 }));
            assert_eq!(pair[Side::A].read, 20, "lost {lost}");
        }
    }
}

/// The first data of the client are lost and retransmitted at the timeout (210 ms after they were sent). By then the server's data have
/// come, and wait for an acknowledgement, which the keys leave no room for: a pure one follows, and the server sends nothing twice.
#[test]
fn a_retransmission_with_the_keys_is_followed_by_a_data_ack() {
    let config = mptcp().delayed_ack(DelayedAck::After(ms(200)));
    let mut pair = Pair::seeded(config.clone(), config, &[ms(10)], 1);
    pair.run_until(at(100));
    pair.filter(|p| {
        let first = p.from == Side::A && p.data_n == Some(0) && p.transmit.transmissions == 1;
        if first { Fate::Drop } else { Fate::Pass }
    });
    pair.write(Side::A, 1000);
    pair.run_until(at(250));
    pair.write(Side::B, 500);
    pair.run_until(at(5000));
    assert_eq!((pair[Side::A].read, pair[Side::B].read), (500, 1000));
    let again = pair.log.iter().filter(|p| p.from == Side::B && p.transmit.kind == SendKind::Reinjection).count();
    assert_eq!(again, 0);
}

/// Mappings that come in two pieces of zeros, of which the sums are zero, are forgotten when they are verified: 1,024 may wait.
#[test]
fn mappings_in_pieces_are_forgotten_when_they_are_verified() {
    let mut s = Script::server(coupled().checksum(true));
    for i in 0..1500 {
        let m = s.mapping(1000 * i, 1 + 1000 * i as u32, 1000);
        let checksum = Some(dss_pseudo_header(m.dsn, m.ssn, m.len).checksum());
        let option = Mptcp::Dss(Dss { mapping: Some(Mapping { checksum, ..m }), ..Dss::default() });
        for offset in [1000 * i, 1000 * i + 500] {
            s.give(0, Segment { payload: Payload::new(offset, 500), ..s.ack(0, 1 + offset as u32, 1, option) });
        }
        s.read();
    }
    assert_eq!(s.c.inbound().received(), 1_500_000);
}

/// 10 ms on either path, ten segments in turn. Those on path 1 are lost, and its subflow is withdrawn by one side: what follows each of
/// them is held on path 0, where the peer acknowledges nothing. The data of the subflow that has ended go out there all the same.
#[test]
fn data_of_a_subflow_that_has_ended_are_sent_on_another_one() {
    for side in [Side::A, Side::B] {
        let config = coupled().scheduler("round-robin".parse().unwrap());
        let mut pair = joined(config.clone(), config, &[10, 10], 1000);
        pair.run_until(at(1000));
        pair.filter(|p| if p.path == 1 && p.data_n.is_some() { Fate::Drop } else { Fate::Pass });
        pair.write(Side::A, 10_000);
        pair.run_until(at(1005));
        pair.with(side, |c| c.withdraw(1));
        pair.run_until(at(10_000));
        assert_eq!(pair[Side::B].read, 11_000, "{side:?}");
    }
}

/// The same of segments of 600 octets, beyond a window that is full: just those go out again, and nothing of what path 0 has carried.
#[test]
fn of_a_subflow_that_has_ended_just_its_data_are_sent_again() {
    let config = coupled().nagle(false).initial_window(2).scheduler("round-robin".parse().unwrap());
    let mut pair = joined(config.clone(), config, &[10, 10], 1000);
    pair.filter(|p| if p.path == 1 && p.data_n.is_some() { Fate::Drop } else { Fate::Pass });
    // One by path 0, so that the next is path 1's.
    pair.write(Side::A, 600);
    pair.run_until(at(1000));
    for n in 0..9 {
        pair.write(Side::A, 600);
        pair.run_until(at(1001 + n));
    }
    let data = |pair: &Pair, path, kind| {
        let of = |p: &&Packet| p.from == Side::A && p.at >= at(1000) && p.path == path && p.transmit.kind == kind;
        let place = |p: &Packet| (p.segment().payload.offset, p.segment().payload.len);
        pair.log.iter().filter(of).map(place).collect::<Vec<_>>()
    };
    let lost = data(&pair, 1, SendKind::New);
    assert_eq!(lost.first(), Some(&(1600, 600)));
    pair.with(Side::A, |c| c.withdraw(1));
    pair.run_until(at(10_000));
    assert_eq!((pair[Side::B].read, data(&pair, 0, SendKind::Reinjection)), (7000, lost));
}
