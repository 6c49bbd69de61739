//! TCP-DOOR (Wang and Zhang, MobiHoc 2002): its options on the wire, what they tell, T1 and T2.

use std::cell::RefCell;
use std::rc::Rc;

use anabranch_stack::Config;
use anabranch_stack::config::Acknowledgement;
use anabranch_stack::controller::Cause;
use anabranch_stack::event::{Event, SendKind};
use anabranch_stack::judge::Judge;
use anabranch_stack::registry::Choice;
use anabranch_stack::segment::{
    AddrId, DataAck, Door, Dss, Flags, Mapping, Mptcp, OPTION_SPACE, Options, SackBlocks, Timestamps,
};
use anabranch_stack::time::{Duration, Instant};

use crate::judge::{Story, config, copy, number, tell};
use crate::mptcp_bench::{add_addr, joined};
use crate::pair::{Fate, Happening, Packet, Pair, Side, at, ms};

fn door() -> Config {
    config("door").timestamps(false)
}

/// With T1 and T2 in smoothed round-trip times.
fn timed(t1: f64, t2: f64) -> Choice<dyn Judge> {
    let judge: Choice<dyn Judge> = "door".parse().unwrap();
    judge.with("t1", t1).unwrap().with("t2", t2).unwrap()
}

// ---- the options -------------------------------------------------------------------------------------------------

fn with_door(door: Door, mptcp: Mptcp) -> Options {
    Options { timestamps: Some(Timestamps { val: 0, ecr: 0 }), door, mptcp, ..Options::default() }
}

/// Kind, length, two octets of experiment identifier (RFC 6994), two of the packet number or one of the duplicate number
/// and one of the report, padded to eight. With timestamps (12) and a DSS whose data sequence number has four octets (18,
/// padded to 20) the option space of 40 octets is full; with a DSS checksum in the padding it still is. With eight octets
/// of data sequence number it would overflow.
#[test]
fn a_data_segment_has_room_for_its_number_with_a_short_mapping() {
    for (short, checksum, len) in [(true, None, 40), (true, Some(0), 40), (false, None, 44)] {
        let mapping = Some(Mapping { dsn: 1, short, ssn: 1, len: 1400, checksum });
        let dss = Dss { data_ack: Some(DataAck::Four(1)), mapping, data_fin: false };
        let options = with_door(Door { packet: Some(1), duplicate: None }, Mptcp::Dss(dss));
        assert_eq!(options.wire_len(), len);
    }
}

/// A pure acknowledgement: timestamps 12, DATA_ACK 8, number 8, and one SACK block of 4 + 8. On plain TCP two blocks.
#[test]
fn an_acknowledgement_has_room_for_its_number_and_sack_blocks() {
    let number = Door { packet: None, duplicate: Some((1, false)) };
    let dss = Mptcp::Dss(Dss { data_ack: Some(DataAck::Four(1)), ..Dss::default() });
    for (mptcp, blocks) in [(dss, 1), (Mptcp::None, 2)] {
        let mut options = with_door(number, mptcp);
        for i in 0..blocks {
            options.sack.push(10 * i, 10 * i + 5);
        }
        assert_eq!(options.wire_len(), OPTION_SPACE);
    }
}

/// The largest SYNs: with MP_JOIN (12 and 16 octets), maximum segment size, window scale, timestamps and the permission.
#[test]
fn a_syn_has_room_for_the_permission() {
    let mut options = with_door(Door::default(), Mptcp::JoinSynAck { backup: false, address_id: 1, hmac: 0, nonce: 0 });
    options.mss = Some(1440);
    options.window_scale = Some(14);
    options.sack_permitted = true;
    options.door_permitted = true;
    assert_eq!(options.wire_len(), OPTION_SPACE);
}

/// What a transfer put on the wire, both ways.
fn log(client: Config, server: Config, paths: &[Duration], octets: u64) -> Vec<Packet> {
    let mut pair = Pair::seeded(client, server, paths, 3);
    pair.filter(|p| if p.data_n.is_some_and(|n| n % 13 == 7) { Fate::Late(ms(7)) } else { Fate::Pass });
    pair.write(Side::A, octets);
    pair.write(Side::B, octets / 4);
    pair.run_until(at(200));
    for path in 1..paths.len() {
        pair.open(Side::A, path, path as u8);
    }
    pair.close(Side::A);
    pair.close(Side::B);
    pair.run_until(at(20_000));
    assert_eq!((pair[Side::A].read, pair[Side::B].read), (octets / 4, octets));
    pair.log
}

/// All combinations of options, over one path and over two: never more than 40 octets; every segment with data has its
/// number and every pure acknowledgement its own, but for those that carry keys, or the end of the data (a mapping on an
/// acknowledgement): their room is taken.
#[test]
fn whatever_the_options_they_fit_and_every_segment_is_numbered() {
    let both = [true, false];
    for mptcp in both {
        for timestamps in both {
            for sack in both {
                for checksum in both {
                    let c = door().mptcp(mptcp).timestamps(timestamps).sack(sack).checksum(checksum);
                    let paths = if mptcp { vec![ms(10), ms(25)] } else { vec![ms(10)] };
                    for p in log(c.clone(), c.clone(), &paths, 200_000) {
                        let s = p.segment();
                        assert!(s.options.wire_len() <= OPTION_SPACE, "{s:?}");
                        if s.flags.has(Flags::SYN) {
                            assert!(s.options.door_permitted);
                            continue;
                        }
                        let keys = matches!(s.options.mptcp, Mptcp::CapableAck { .. } | Mptcp::JoinAck { .. });
                        let data_fin = s.dss().is_some_and(|dss| dss.data_fin) && s.payload.len == 0;
                        let door = s.options.door;
                        if (keys || data_fin) && door == Door::default() {
                            continue;
                        }
                        let pure = s.payload.len == 0 && !s.flags.has(Flags::FIN);
                        assert_eq!(
                            (door.packet.is_some(), door.duplicate.is_some()),
                            (s.payload.len > 0, pure),
                            "{s:?}"
                        );
                    }
                }
            }
        }
    }
}

/// An ADD_ADDR (16 octets with an IPv4 address) leaves room for the number; one with an IPv6 address (28) does not, and the
/// number gives way.
#[test]
fn an_address_may_take_the_room_of_the_number() {
    let number = Door { packet: None, duplicate: Some((0, false)) };
    for (addr, len) in [("10.0.0.1", 36), ("2001:db8::1", 48)] {
        let address = AddrId { id: 1, addr: addr.parse().expect("an address") };
        let options = Options { signal: add_addr(address, Some(0)), ..with_door(number, Mptcp::None) };
        assert_eq!(options.wire_len(), len);
    }
}

/// Both sides must ask for it: what only one of them wants is not spoken, and the transfer goes as with `none`.
#[test]
fn the_options_are_negotiated() {
    let plain = door().judge("none".parse().unwrap());
    for mptcp in [true, false] {
        let with = door().mptcp(mptcp);
        let without = plain.clone().mptcp(mptcp);
        let speaks = |log: &[Packet]| log.iter().filter(|p| p.segment().options.door != Door::default()).count();
        let asks = |log: &[Packet], side| {
            let mut syns = log.iter().filter(|p| p.from == side && p.has(Flags::SYN));
            syns.next().expect("a SYN").segment().options.door_permitted
        };
        let run = |a: &Config, b: &Config| log(a.clone(), b.clone(), &[ms(10)], 100_000);
        let (wants, refuses) = (run(&with, &without), run(&without, &with));
        assert_eq!((asks(&wants, Side::A), asks(&wants, Side::B), speaks(&wants)), (true, false, 0));
        // A server does not offer what the client did not ask for.
        assert_eq!((asks(&refuses, Side::A), asks(&refuses, Side::B), speaks(&refuses)), (false, false, 0));
        let agreed = run(&with, &with);
        assert_eq!((asks(&agreed, Side::A), asks(&agreed, Side::B)), (true, true));
        assert!(speaks(&agreed) > 100);
        let times = |log: &[Packet]| log.iter().map(|p| (p.at, p.segment().seq, p.segment().ack)).collect::<Vec<_>>();
        assert_eq!(times(&wants), times(&run(&without, &without)));
    }
}

// ---- what they tell ----------------------------------------------------------------------------------------------

/// Acknowledgements that report data out of order: milliseconds.
fn reports(pair: &Pair) -> Vec<u64> {
    let reports = |p: &&Packet| p.segment().options.door.duplicate.is_some_and(|(_, reordered)| reordered);
    pair.log.iter().filter(reports).map(|p| p.at.0 / 1_000_000).collect()
}

/// Segments 2, 4 and 6 come 20, 22 and 24 ms late, each behind larger numbers: three reports, each once, at the moment. The
/// retransmissions that the duplicates drew have numbers of their own and come in order.
#[test]
fn data_out_of_order_is_reported_once() {
    let s = tell(&door(), 60, 2300, |p| match number(p) {
        Some(n @ (2 | 4 | 6)) if copy(p) == 1 => Fate::Late(ms(18 + n)),
        _ => Fate::Pass,
    });
    assert_eq!(reports(&s.pair), [2070, 2072, 2074]);
    assert!(!s.again.is_empty());
}

/// An original that comes behind its retransmission is out of order although its octets are all there, and although its
/// timestamp is too old to be accepted (RFC 7323 5.3).
#[test]
fn a_late_original_is_out_of_order() {
    for timestamps in [true, false] {
        let c = door().timestamps(timestamps);
        let late = |p: &Packet| if number(p) == Some(2) && copy(p) == 1 { Fate::Late(ms(200)) } else { Fate::Pass };
        let s = tell(&c, 60, 2300, late);
        assert_eq!(s.again, [(2100, 2, SendKind::Fast)]);
        assert_eq!(reports(&s.pair), [2250]);
    }
}

/// A copy made by the network right after the segment is the same number again, not a smaller one.
#[test]
fn a_copy_is_not_out_of_order() {
    let s = tell(&door(), 60, 2300, |p| if number(p) == Some(9) { Fate::Twice(ms(0)) } else { Fate::Pass });
    assert_eq!(reports(&s.pair), []);
}

/// The number of a data segment has two octets: after 65536 of them it begins again, in order. 140 MB in segments of
/// 1000 octets wrap it twice; a segment that comes late then is found all the same.
#[test]
fn packet_numbers_wrap_around() {
    let mut pair = Pair::new(door(), door(), ms(5));
    let log = Rc::new(RefCell::new(Vec::new()));
    let mine = log.clone();
    pair.keep_log = false;
    pair.filter(move |p| {
        if let Some((_, true)) = p.segment().options.door.duplicate {
            mine.borrow_mut().push(p.at);
        }
        // Just before the first turn, at the turn, and long after.
        match p.data_n {
            Some(65_530 | 131_072 | 139_000) => Fate::Late(ms(11)),
            _ => Fate::Pass,
        }
    });
    pair.write(Side::A, 140_000_000);
    pair.close(Side::A);
    pair.close(Side::B);
    pair.run_until(at(100_000));
    assert_eq!(pair[Side::B].read, 140_000_000);
    // A flight takes 10 ms: each of them comes behind the next flight.
    assert_eq!(log.borrow().len(), 3);
}

/// Duplicate numbers of the server's pure acknowledgements from 2 s on, with their acknowledgement numbers.
fn duplicate_numbers(pair: &Pair) -> Vec<(u32, u8)> {
    let acks = pair.log.iter().filter(|p| p.from == Side::B && p.at >= at(2000));
    acks.filter_map(|p| p.segment().options.door.duplicate.map(|d| (p.segment().ack, d.0))).collect()
}

/// The number of a duplicate has one octet: 399 duplicates of one acknowledgement take it round, in order. The loss is
/// genuine and stays so: nothing is held or undone.
#[test]
fn duplicate_numbers_wrap_around() {
    let c = door().initial_window(400).sack(false);
    let lost = |p: &Packet| if number(p) == Some(0) && copy(p) == 1 { Fate::Drop } else { Fate::Pass };
    let s = tell(&c, 1000, 2149, lost);
    let numbers: Vec<u8> = duplicate_numbers(&s.pair).iter().map(|d| d.1).collect();
    assert_eq!(numbers, (1..400).map(|n| n as u8).collect::<Vec<_>>());
    assert_eq!((s.undone(), s.window().1), (0, 200_000.0));
    assert_eq!(s.verdicts, []);
}

/// Numbers of duplicates begin at zero with each acknowledgement number.
#[test]
fn duplicates_are_counted_from_zero_for_each_acknowledgement() {
    let s = tell(&door(), 100, 2800, |p| match number(p) {
        Some(4 | 17 | 18) if copy(p) == 1 => Fate::Drop,
        _ => Fate::Pass,
    });
    let numbers = duplicate_numbers(&s.pair);
    assert_eq!(numbers[..9].iter().map(|d| d.1).collect::<Vec<_>>(), [0, 0, 0, 0, 1, 2, 3, 4, 5]);
    for pair in numbers.windows(2) {
        let [(before, n), (ack, m)] = [pair[0], pair[1]];
        assert_eq!(m, if ack == before { n + 1 } else { 0 }, "{numbers:?}");
    }
    assert!(numbers.len() > 30);
}

/// Acknowledgements out of order, the receiver having seen all in order: the ACK of segment 3 comes behind that of 7.
/// A smaller acknowledgement than before: the window is held from 2.105 to 2.205.
#[test]
fn an_acknowledgement_out_of_order_holds_the_window() {
    let mut n = 0;
    let swap = move |p: &Packet| {
        n += u64::from(p.from == Side::B && p.at == at(2050));
        if p.from == Side::B && p.at == at(2050) && n == 4 { Fate::Late(ms(5)) } else { Fate::Pass }
    };
    let s = tell(&door(), 100, 2204, swap);
    assert_eq!(reports(&s.pair), []);
    // Nine ACKs had come, each worth a segment (the one of 4 and 5 two); those of 2.2 are not counted.
    assert_eq!(s.window().0, 20_000.0);
    let s = tell(&door().judge("none".parse().unwrap()), 100, 2204, |_| Fate::Pass);
    assert_eq!(s.window().0, 40_000.0);
}

/// Duplicates out of order: the first of five comes behind the others. Without SACK nothing else tells; the cut of the
/// genuine loss at 2.1 is undone at 2.101.
#[test]
fn a_duplicate_out_of_order_restores_the_window() {
    let c = door().sack(false);
    let mut n = 0;
    let s = tell(&c, 10, 2199, move |p| {
        n += u64::from(p.from == Side::B && p.at == at(2050));
        match number(p) {
            Some(4) if copy(p) == 1 => Fate::Drop,
            _ if p.from == Side::B && n == 6 && p.at == at(2050) => Fate::Late(ms(1)),
            _ => Fate::Pass,
        }
    });
    assert_eq!(s.episodes, [(2100, Cause::FastRetransmit)]);
    assert_eq!(s.verdicts, [(2101, true, true)]);
    assert_eq!(s.window(), (14_000.0, f64::INFINITY));
}

// ---- T1 and T2 ---------------------------------------------------------------------------------------------------

/// Window, timeout and smoothed round trip of the client after each segment that arrives there, from 2 s on.
fn states(c: &Config, end: u64, fate: impl FnMut(&Packet) -> Fate + 'static) -> (Vec<(Instant, f64, Duration)>, Pair) {
    let mut pair = Pair::new(c.clone(), c.clone(), ms(50));
    pair.run_until(at(1000));
    pair.write(Side::A, 10_000);
    pair.run_until(at(2000));
    let seen = Rc::new(RefCell::new(Vec::new()));
    let mine = seen.clone();
    pair.watch(move |now, side, c, what| {
        if let (Side::A, Happening::Arrived(..)) = (side, what) {
            let s = &c.subflows()[0];
            mine.borrow_mut().push((now, s.cwnd(), s.rto()));
        }
    });
    pair.filter(fate);
    pair.write(Side::A, 500_000);
    pair.run_until(at(end));
    let states = seen.borrow().clone();
    (states, pair)
}

/// Reordering at 2.07 (no loss inferred: only two segments come before 2). T1 from the report at 2.12 on: 0.5, 1 or 3
/// round trips of 100 ms, in which ACKs arrive at 2.2, 2.3 (and so on) and neither window nor timeout changes, though
/// round trips grow to 150 ms from 2.15 on; afterwards both do.
#[test]
fn window_and_timeout_are_held_for_t1() {
    for (t1, until) in [(0.0, 2120), (0.5, 2170), (1.0, 2220), (3.0, 2420)] {
        let c = door().judge(timed(t1, 1.0));
        let (states, _) = states(&c, 2600, |p| match number(p) {
            Some(2) => Fate::Late(ms(20)),
            Some(n) if (5..10).contains(&n) => Fate::Late(ms(30)),
            Some(_) if p.at > at(2150) => Fate::Late(ms(50)),
            _ => Fate::Pass,
        });
        let report = states.iter().position(|s| s.0 == at(2120)).expect("the ACK of segment 2");
        let (_, cwnd, rto) = states[report];
        let held = states.iter().filter(|s| s.0 > at(2120) && s.0 < at(until));
        assert!(held.clone().all(|s| (s.1, s.2) == (cwnd, rto)), "T1 {t1}");
        assert_eq!(held.count() > 0, t1 >= 0.5);
        let after: Vec<_> = states.iter().filter(|s| s.0 > at(2120) && s.0 >= at(until)).collect();
        assert!(after[0].1 > cwnd, "T1 {t1}: {after:?}");
        assert!(after.last().expect("some").2 > rto);
    }
}

/// A timeout while the window is held: the oldest segment goes out again, nothing is cut, the timer is not backed off; it is
/// counted as an episode judged spurious beforehand. With the hold over, at the next expiry, window and timer react.
///
/// 2.07 reordering | 2.12 its report, T1 until 2.52 | all data from 2.1 on are lost | 2.33 (from 2.13) and 2.53 timeouts
#[test]
fn a_timeout_while_the_window_is_held_changes_nothing() {
    let c = door().judge(timed(4.0, 1.0));
    let (_, pair) = states(&c, 2519, |p| match number(p) {
        Some(2) => Fate::Late(ms(20)),
        Some(n) if (5..10).contains(&n) => Fate::Late(ms(30)),
        Some(_) if p.at >= at(2100) => Fate::Drop,
        _ => Fate::Pass,
    });
    let again = |pair: &Pair| {
        let again = pair.log.iter().filter(|p| copy(p) > 1);
        again.map(|p| (p.at.0 / 1_000_000, number(p), p.transmit.kind)).collect::<Vec<_>>()
    };
    assert_eq!(again(&pair), [(2330, Some(10), SendKind::Timeout)]);
    let s = &pair[Side::A].conn().subflows()[0];
    assert_eq!((s.cwnd(), s.ssthresh(), s.rto()), (12_000.0, f64::INFINITY, ms(200)));
    let episodes: Vec<_> = pair[Side::A].events.iter().filter(|e| e.0 == at(2330)).map(|e| e.1).collect();
    let judged = Event::Judged { subflow: 0, spurious: true, restored: false };
    assert_eq!(episodes, [Event::Congestion { subflow: 0, cause: Cause::Timeout }, judged]);
    let mut pair = pair;
    pair.run_until(at(2600));
    assert_eq!(again(&pair)[1..], [(2530, Some(10), SendKind::Timeout)]);
    let s = &pair[Side::A].conn().subflows()[0];
    assert_eq!((s.cwnd(), s.rto()), (1000.0, ms(400)));
}

/// What is taken for reordered is not stuck: a timeout while the window is held reinjects nothing. When the hold is over, the
/// next one does (RFC 8684 3.3.6).
///
/// Two paths, 50 ms each way. 2.0 ten segments on each | 2.07 the second one of path 1 arrives, behind two others | 2.12 its report,
/// T1 until 2.52 | all that leaves on path 1 from 2.09 on is lost | 2.33 and 2.53 its timer expires
#[test]
fn a_timeout_while_the_window_is_held_reinjects_nothing() {
    let c = door().judge(timed(4.0, 1.0)).mptcp(true).scheduler("round-robin".parse().unwrap());
    let mut pair = joined(c.clone(), c, &[50, 50], 1000);
    pair.run_until(at(1000));
    pair.write(Side::A, 20_000);
    pair.run_until(at(2000));
    let mut sent = 0;
    pair.filter(move |p| {
        if p.from == Side::B || p.path == 0 {
            return Fate::Pass;
        }
        sent += 1;
        match sent {
            _ if p.at >= at(2090) => Fate::Drop,
            2 => Fate::Late(ms(20)),
            5.. => Fate::Late(ms(30)),
            _ => Fate::Pass,
        }
    });
    pair.write(Side::A, 200_000);
    let of_kind = |pair: &Pair, kind: SendKind| {
        let of = pair.log.iter().filter(|p| p.transmit.kind == kind);
        of.map(|p| (p.at.0 / 1_000_000, p.path)).collect::<Vec<_>>()
    };
    pair.run_until(at(2529));
    assert_eq!(of_kind(&pair, SendKind::Timeout), [(2330, 1)]);
    assert_eq!(of_kind(&pair, SendKind::Reinjection), []);
    pair.run_until(at(3000));
    assert_eq!(of_kind(&pair, SendKind::Timeout)[1..2], [(2530, 1)]);
    assert_eq!(of_kind(&pair, SendKind::Reinjection).first(), Some(&(2530, 0)));
    assert_eq!(pair[Side::B].read, 221_000);
}

/// Instant recovery reaches back for T2 from the report and no further: the cut of 2.1, reported at 2.12, is 0.2 round
/// trips old.
#[test]
fn instant_recovery_reaches_back_for_t2() {
    for (t2, undone) in [(0.0, 0), (0.19, 0), (0.2, 1), (1.0, 1), (8.0, 1)] {
        let c = door().judge(timed(1.0, t2));
        let late = |p: &Packet| if number(p) == Some(2) && copy(p) == 1 { Fate::Late(ms(20)) } else { Fate::Pass };
        let s: Story = tell(&c, 60, 2150, late);
        assert_eq!(s.episodes, [(2100, Cause::FastRetransmit)]);
        assert_eq!((s.undone(), s.window().1.is_infinite()), (undone, undone == 1), "T2 {t2}");
    }
}

/// T1 and T2 in combination with every option a connection may have: the transfer completes.
#[test]
fn any_t1_and_t2_deliver_everything() {
    for (t1, t2) in [(0.0, 0.0), (0.5, 0.5), (8.0, 8.0), (1000.0, 1000.0)] {
        for acknowledgement in [Acknowledgement::Independent, Acknowledgement::Coupled] {
            for sack in [true, false] {
                let c = door().judge(timed(t1, t2)).acknowledgement(acknowledgement).sack(sack).mptcp(true);
                let mut pair = Pair::seeded(c.clone(), c, &[ms(10), ms(40)], 5);
                pair.keep_log = false;
                pair.filter(|p| match p.data_n {
                    Some(n) if n % 31 == 30 => Fate::Drop,
                    Some(n) if n % 17 == 5 => Fate::Late(ms(15)),
                    _ => Fate::Pass,
                });
                pair.write(Side::A, 1_000_000);
                pair.run_until(at(100));
                pair.open(Side::A, 1, 1);
                pair.close(Side::A);
                pair.close(Side::B);
                pair.run();
                assert_eq!(pair[Side::B].read, 1_000_000);
                assert!(pair.is_closed());
            }
        }
    }
}

/// Blocks fit beside the number: a loss on MPTCP with timestamps reports one, and is repaired by it.
#[test]
fn a_sack_block_fits_beside_the_number() {
    let c = door().mptcp(true).timestamps(true);
    let lost = |p: &Packet| if number(p) == Some(2) && copy(p) == 1 { Fate::Drop } else { Fate::Pass };
    let s = tell(&c, 60, 2300, lost);
    let blocks = s.pair.log.iter().map(|p| p.segment().options.sack).filter(|b| *b != SackBlocks::default());
    assert!(blocks.clone().all(|b| b.as_slice().len() == 1));
    assert!(blocks.count() >= 7);
    assert_eq!(s.again, [(2100, 2, SendKind::Fast)]);
}
