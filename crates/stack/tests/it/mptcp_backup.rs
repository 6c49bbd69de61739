//! Backup subflows and MP_PRIO (RFC 8684 3.3.8): the flag B of a join, and changes of mind.

use anabranch_stack::Config;
use anabranch_stack::event::{Event, SendKind};
use anabranch_stack::segment::{DataAck, Dss, Flags, Mptcp, Segment, Signal};

use crate::mptcp_bench::{Script, mptcp};
use crate::pair::{Fate, Pair, Side, at, ms};

/// A window that keeps an endless transfer small.
fn small() -> Config {
    mptcp().receive_buffer(Some(50_000))
}

/// Joined over a second path of 10 ms at 40, as a backup if `backup`; the client has written `octets`.
fn joined(backup: bool, octets: u64) -> Pair {
    joined_by("min-rtt", backup, octets)
}

fn joined_by(scheduler: &'static str, backup: bool, octets: u64) -> Pair {
    let config = small().scheduler(scheduler.parse().unwrap());
    let mut pair = Pair::seeded(config.clone(), config, &[ms(10), ms(10)], 1);
    pair.write(Side::A, octets);
    pair.run_until(at(40));
    assert_eq!(pair.open_as(Side::A, 1, 1, backup), Some(1));
    pair
}

/// Data segments that `path` carried in [from, to), in milliseconds.
fn carried(pair: &Pair, path: usize, from: u64, to: u64) -> usize {
    let data = |p: &&crate::pair::Packet| p.path == path && p.data_n.is_some() && (at(from)..at(to)).contains(&p.at);
    pair.log.iter().filter(data).count()
}

/// SYN 40, SYN/ACK 50, third ACK 60, at the server 70: both flags B are on the wire as they were asked for, and both sides treat
/// the subflow as a backup.
#[test]
fn the_flag_b_of_a_join_makes_a_backup_on_both_sides() {
    let mut pair = joined(true, 1 << 40);
    pair.run_until(at(100));
    let flag = |p: &crate::pair::Packet| match p.segment().options.mptcp {
        Mptcp::JoinSyn { backup, .. } | Mptcp::JoinSynAck { backup, .. } => Some(backup),
        _ => None,
    };
    assert_eq!(pair.log.iter().filter_map(flag).collect::<Vec<_>>(), [true, false]);
    assert!(pair[Side::A].conn().is_backup(1) && pair[Side::B].conn().is_backup(1));
    assert_eq!(pair[Side::B].when(Event::Priority { subflow: 1, backup: true }), Some(at(70)));
    assert_eq!(carried(&pair, 1, 0, 100), 0);
    pair.run_until(at(500));
    assert_eq!(carried(&pair, 1, 0, 500), 0);
    assert!(carried(&pair, 0, 100, 500) > 100);
}

/// Path 0 is silent from 500 on. Its subflow times out some 220 ms later; from then on the backup carries the data, what was stuck
/// first. At 2000 path 0 works again; once it has answered, the backup rests.
#[test]
fn a_backup_carries_data_while_no_regular_subflow_works() {
    let mut pair = joined(true, 1 << 40);
    pair.filter(|p| if p.path == 0 && (at(500)..at(2000)).contains(&p.at) { Fate::Drop } else { Fate::Pass });
    pair.run_until(at(8000));
    let first = pair.log.iter().find(|p| p.path == 1 && p.data_n.is_some()).unwrap();
    assert_eq!(first.transmit.kind, SendKind::Reinjection);
    assert!((at(690)..at(750)).contains(&first.at), "{}", first.at);
    assert_eq!(carried(&pair, 1, 0, 690), 0);
    assert!(carried(&pair, 1, 750, 1000) > 100);
    let back = pair.log.iter().find(|p| p.path == 0 && p.from == Side::B && p.at >= at(2000)).unwrap().at;
    assert!(back < at(4000), "{back}");
    let after = back.0 / 1_000_000 + 11;
    let originals = pair.log.iter().filter(|p| p.path == 1 && p.transmit.kind == SendKind::New && p.at > at(after));
    assert_eq!(originals.count(), 0);
    assert!(carried(&pair, 0, after, 8000) > 100);
}

/// At 200 the server, which receives, asks for path 1 to be a backup; at 210 the client stops using it. At 400 it takes that
/// back.
/// RFC 8684 3.4.2.
#[test]
fn mp_prio_changes_the_role_of_a_subflow() {
    let mut pair = joined_by("round-robin", false, 1 << 40);
    pair.run_until(at(200));
    pair.with(Side::B, |c| c.set_backup(1, true));
    pair.run_until(at(400));
    pair.with(Side::B, |c| c.set_backup(1, false));
    pair.run_until(at(600));
    let prio = |p: &&crate::pair::Packet| matches!(p.segment().options.signal, Signal::Prio { .. });
    let signals: Vec<_> = pair.log.iter().filter(prio).map(|p| (p.at, p.path, p.segment().options.signal)).collect();
    let signal = |backup| Signal::Prio { backup };
    assert_eq!(signals, [(at(200), 1, signal(true)), (at(400), 1, signal(false))]);
    assert!(carried(&pair, 1, 100, 210) > 0);
    assert_eq!(carried(&pair, 1, 211, 410), 0);
    assert!(carried(&pair, 1, 411, 600) > 0);
    assert_eq!(pair[Side::A].when(Event::Priority { subflow: 1, backup: true }), Some(at(210)));
    assert_eq!(pair[Side::A].when(Event::Priority { subflow: 1, backup: false }), Some(at(410)));
}

/// The option concerns the subflow it comes by, stands beside a DSS, and says nothing new the second time.
#[test]
fn mp_prio_concerns_the_subflow_it_comes_by() {
    let mut s = Script::server(mptcp());
    let flow = s.join();
    let mut seg = s.dss(flow, 1, 1, None, None);
    seg.options.signal = Signal::Prio { backup: true };
    s.give(flow, seg);
    s.give(flow, seg);
    assert!(s.c.is_backup(flow) && !s.c.is_backup(0));
    assert_eq!(s.count(|e| *e == Event::Priority { subflow: flow, backup: true }), 1);
    s.c.set_backup(0, true);
    let out = s.poll();
    let Mptcp::Dss(Dss { data_ack: Some(DataAck::Four(_)), mapping: None, .. }) = out[0].segment.options.mptcp else {
        panic!("{out:?}")
    };
    assert_eq!((out.len(), out[0].subflow, out[0].segment.options.signal), (1, 0, Signal::Prio { backup: true }));
    // Nothing changes: nothing is said.
    s.c.set_backup(0, true);
    assert!(s.poll().is_empty());
}

/// Both subflows are backups: then both are used, and none is held back for a regular one that does not exist.
#[test]
fn backups_are_used_when_there_is_nothing_else() {
    let mut s = Script::server(mptcp());
    s.give(0, Segment { options: with_prio(&s, 0), ..s.dss(0, 1, 1, None, None) });
    s.c.write(3000);
    assert_eq!(s.poll().iter().filter(|t| t.segment.payload.len > 0).count(), 3);
    // A regular one joins: the next data are its own.
    let flow = s.join();
    s.c.write(2000);
    let data: Vec<_> = s.poll().iter().filter(|t| t.segment.payload.len > 0).map(|t| t.subflow).collect();
    assert_eq!(data, [flow, flow]);
    // It is reset: back to the backup, what was on it first.
    let reset = Segment { flags: Flags::RST, ..s.ack(flow, 1, 1, Mptcp::None) };
    let data: Vec<_> = s.give(flow, reset).iter().map(|t| (t.subflow, t.kind)).collect();
    assert_eq!(data, [(0, SendKind::Reinjection); 2]);
}

fn with_prio(s: &Script, flow: usize) -> anabranch_stack::segment::Options {
    let mut options = s.dss(flow, 1, 1, None, None).options;
    options.signal = Signal::Prio { backup: true };
    options
}

/// "active-standby" waits for the subflow that it uses. While nothing is in flight, path 0 becomes a backup at 300 and
/// a regular path again at 500, as either side says: the next octets leave at once, first on the other path, then here.
#[test]
fn schedulers_see_a_change_of_role_at_once() {
    for side in [Side::A, Side::B] {
        let mut pair = joined_by("active-standby", false, 1000);
        for (from, path) in [(300, 1), (500, 0)] {
            pair.run_until(at(from));
            pair.with(side, |c| c.set_backup(0, path == 1));
            pair.run_until(at(from + 100));
            pair.write(Side::A, 200);
            pair.run_until(at(from + 150));
            let carried = [0, 1].map(|p| carried(&pair, p, from, from + 150));
            assert_eq!((carried[path], carried[1 - path]), (1, 0), "{side:?} {from}");
        }
    }
}
