//! DSS checksums (RFC 8684 3.3.1) and what follows when one fails (3.7).

use anabranch_stack::config::Acknowledgement;
use anabranch_stack::event::{ArrivalKind, EndReason, Event, FallbackCause, SendKind};
use anabranch_stack::segment::{Dss, Flags, Mapping, Mptcp, Payload, ResetReason, Segment, Signal, TcpRst};
use anabranch_stack::wire::checksum::{Sum, dss_pseudo_header};
use anabranch_stack::{Config, Transmit};

use crate::mptcp_bench::{Script, first_dsn, joined, keys_of_pair, mptcp};
use crate::pair::{Fate, Packet, Pair, Side, at, ms};

fn checked() -> Config {
    mptcp().checksum(true).receive_buffer(Some(50_000))
}

fn robin() -> Config {
    checked().scheduler("round-robin".parse().unwrap())
}

const MIDDLEBOX: Option<TcpRst> = Some(TcpRst { transient: false, reason: ResetReason::MIDDLEBOX });

/// The segment with other octets of the same length, as a middlebox makes them that corrects the TCP checksum.
fn changed(p: &Packet) -> Fate {
    let mut seg = *p.segment();
    seg.payload.sum = 7;
    Fate::As(seg)
}

fn infinite(p: &Packet) -> Option<Mapping> {
    let Mptcp::Dss(Dss { mapping: Some(m), .. }) = p.segment().options.mptcp else { return None };
    (m.len == 0).then_some(m)
}

fn fails(p: &Packet) -> Option<u64> {
    match p.segment().options.signal {
        Signal::Fail { dsn } => Some(dsn),
        _ => None,
    }
}

/// Every mapping of both sides: the sum over DSN in 64 bits, subflow sequence number, length and checksum amounts to zero, the
/// payload's octets counting nothing.
#[test]
fn every_mapping_has_a_checksum_over_its_pseudo_header() {
    let mut pair = joined(checked(), checked(), &[10, 20], 100_000);
    pair.write(Side::B, 100_000);
    pair.close(Side::A);
    pair.close(Side::B);
    pair.run();
    assert_eq!((pair[Side::A].read, pair[Side::B].read), (100_000, 100_000));
    let (a, _) = keys_of_pair(1);
    let mut seen = 0;
    for p in &pair.log {
        let sum = match p.segment().options.mptcp {
            Mptcp::Dss(Dss { mapping: Some(m), .. }) => {
                dss_pseudo_header(m.dsn, m.ssn, m.len).plus(Sum(m.checksum.expect("it was negotiated")))
            }
            Mptcp::CapableAck { data: Some((len, checksum)), .. } => {
                dss_pseudo_header(first_dsn(a), 1, len).plus(Sum(checksum.expect("it was negotiated")))
            }
            _ => continue,
        };
        assert!(sum.is_valid(), "{p:?}");
        seen += 1;
    }
    assert!(seen >= 200, "{seen}");
    assert_eq!(pair[Side::A].count(|e| matches!(e, Event::ChecksumFailed { .. })), 0);
}

/// A middlebox on path 1 changes one segment. The server resets subflow 1 with MP_FAIL and the mapping's DSN; the client sends what
/// was on it again on subflow 0. Nothing of the changed octets is delivered.
#[test]
fn a_failed_checksum_on_one_of_two_subflows_resets_it() {
    let mut pair = joined(robin(), robin(), &[10, 10], 400_000);
    let mut hit = None;
    pair.filter(move |p| match p.data_n {
        Some(_) if p.path == 1 && hit.is_none_or(|n| n == p.n) => {
            hit = Some(p.n);
            changed(p)
        }
        _ => Fate::Pass,
    });
    pair.close(Side::A);
    pair.close(Side::B);
    pair.run();
    let bad = pair.log.iter().find(|p| p.path == 1 && p.data_n == Some(0)).unwrap();
    let arrives = bad.at + ms(10);
    let Mptcp::Dss(Dss { mapping: Some(m), .. }) = bad.segment().options.mptcp else { panic!("{bad:?}") };
    let reset = pair.log.iter().find(|p| p.from == Side::B && p.has(Flags::RST)).unwrap();
    assert_eq!((reset.at, reset.path, fails(reset)), (arrives, 1, Some(m.dsn)));
    assert_eq!(reset.segment().options.tcp_rst, MIDDLEBOX);
    let data = bad.segment().payload.offset;
    assert_eq!(pair[Side::B].when(Event::ChecksumFailed { subflow: 1, data }), Some(arrives));
    assert_eq!(pair[Side::B].when(Event::SubflowEnded(1, EndReason::Middlebox)), Some(arrives));
    assert_eq!(pair[Side::A].when(Event::SubflowEnded(1, EndReason::Middlebox)), Some(arrives + ms(10)));
    let again = pair.log.iter().find(|p| p.at > bad.at && p.segment().payload.offset == data && p.data_n.is_some());
    assert_eq!(again.map(|p| (p.at, p.path, p.transmit.kind)), Some((arrives + ms(10), 0, SendKind::Reinjection)));
    assert_eq!(pair[Side::B].read, 400_000);
    assert!(pair.is_closed());
    assert!(pair[Side::A].conn().is_multipath());
}

/// One path, and a middlebox that changes every segment from the eleventh on. The data of 30 reach the server at 40 (SYN 0, SYN/ACK
/// 10, ten segments 20) and 60. It takes them on the subflow, acknowledges them there with MP_FAIL and not at data level; the
/// client answers at 70 with MP_FAIL and with an infinite mapping that begins at the first octet without a DATA_ACK, and after that
/// without any option. What waited is delivered.
#[test]
fn a_failed_checksum_on_the_only_subflow_makes_plain_tcp() {
    let mut pair = Pair::seeded(checked(), checked(), &[ms(10)], 1);
    pair.filter(|p| if p.data_n.is_some_and(|n| n >= 10) { changed(p) } else { Fate::Pass });
    pair.write(Side::A, 200_000);
    pair.close(Side::A);
    pair.close(Side::B);
    pair.run();
    let (a, b) = keys_of_pair(1);
    assert_eq!(pair[Side::B].when(Event::ChecksumFailed { subflow: 0, data: 10_000 }), Some(at(50)));
    let cause = FallbackCause::Checksum;
    assert_eq!(pair[Side::A].when(Event::Fallback { subflow: 0, cause }), Some(at(60)));
    let first = |from| pair.log.iter().find(|p| p.from == from && fails(p).is_some()).unwrap();
    assert_eq!((first(Side::B).at, fails(first(Side::B))), (at(50), Some(first_dsn(a).wrapping_add(10_000))));
    // In the reverse direction nothing has failed: the next octet expected.
    assert_eq!((first(Side::A).at, fails(first(Side::A))), (at(60), Some(first_dsn(b))));
    let mapped: Vec<_> = pair.log.iter().filter_map(|p| infinite(p).map(|m| (p.at, m))).collect();
    let m = Mapping { dsn: first_dsn(a).wrapping_add(10_000), short: false, ssn: 10_001, len: 0, checksum: Some(0) };
    assert_eq!(mapped, [(at(60), m)]);
    let other = |p: &&Packet| !matches!(p.segment().options.mptcp, Mptcp::None) && infinite(p).is_none();
    assert_eq!(pair.log.iter().filter(other).filter(|p| p.from == Side::A && p.at > at(60)).count(), 0);
    assert!(pair[Side::B].count(|e| matches!(e, Event::Fallback { .. })) == 1);
    // Without DATA_ACKs the acknowledgements of the subflow are those of the data.
    assert_eq!((pair[Side::B].read, pair[Side::A].conn().outbound().unacknowledged()), (200_000, 0));
    assert!(pair.is_closed() && !pair[Side::A].conn().is_multipath() && !pair[Side::B].conn().is_multipath());
}

/// As before, under schedulers that assign data to the subflow before it can be sent: assigned data
/// that was not sent does not prevent the fallback.
#[test]
fn a_fallback_is_possible_while_data_is_assigned_ahead() {
    for (scheduler, nth) in ["linux", "linux-blest"].into_iter().flat_map(|s| [0, 1, 3, 10, 30].map(|nth| (s, nth))) {
        let config = checked().scheduler(scheduler.parse().unwrap());
        let mut pair = Pair::seeded(config.clone(), config, &[ms(10)], 1);
        pair.filter(move |p| if p.data_n.is_some_and(|n| n >= nth) { changed(p) } else { Fate::Pass });
        pair.write(Side::A, 200_000);
        pair.close(Side::A);
        pair.close(Side::B);
        pair.run();
        assert_eq!(pair[Side::A].count(|e| matches!(e, Event::Fallback { .. })), 1, "{scheduler} {nth}");
        assert_eq!(
            (pair[Side::B].read, pair[Side::A].conn().outbound().unacknowledged()),
            (200_000, 0),
            "{scheduler} {nth}"
        );
    }
}

/// As before, with each of the fallback's segments lost once: MP_FAIL, the answer, and the infinite mapping; and with data in both
/// directions, changed in both.
#[test]
fn a_fallback_survives_losses() {
    type Is = fn(&Packet) -> bool;
    let lost: [(&str, Is); 4] = [
        ("MP_FAIL", |p| p.from == Side::B && fails(p).is_some()),
        ("its answer", |p| p.from == Side::A && fails(p).is_some()),
        ("infinite mapping", |p| infinite(p).is_some()),
        ("nothing", |_| false),
    ];
    for (name, is) in lost {
        for both in [false, true] {
            let mut pair = Pair::seeded(checked(), checked(), &[ms(10)], 1);
            let mut dropped = false;
            pair.filter(move |p| {
                if is(p) && !dropped {
                    dropped = true;
                    return Fate::Drop;
                }
                if p.data_n.is_some_and(|n| n >= 10) && (both || p.from == Side::A) { changed(p) } else { Fate::Pass }
            });
            pair.write(Side::A, 200_000);
            pair.write(Side::B, if both { 150_000 } else { 0 });
            pair.close(Side::A);
            pair.close(Side::B);
            pair.run();
            let expected = (if both { 150_000 } else { 0 }, 200_000);
            assert_eq!((pair[Side::A].read, pair[Side::B].read), expected, "{name} {both}");
            assert!(pair.is_closed(), "{name} {both}");
            assert!(!pair[Side::A].conn().is_multipath() && !pair[Side::B].conn().is_multipath(), "{name} {both}");
        }
    }
}

/// A mapping of 2001 octets from the peer in two segments, of which the first is odd, and their order on the wire.
fn spanning(s: &Script, sums: [u16; 2], swapped: bool) -> [Segment; 2] {
    let m = s.mapping(0, 1, 2001);
    let octets = Sum(0x1234).plus(Sum(0x4321).at(999));
    let checksum = dss_pseudo_header(m.dsn, m.ssn, m.len).plus(octets).checksum();
    let option =
        Mptcp::Dss(Dss { data_ack: None, mapping: Some(Mapping { checksum: Some(checksum), ..m }), data_fin: false });
    let piece = |seq: u32, len, sum| Segment {
        payload: Payload { sum, ..Payload::new(u64::from(seq) - 1, len) },
        ..s.ack(0, seq, 1, option)
    };
    let [one, two] = [piece(1, 999, sums[0]), piece(1000, 1002, sums[1])];
    if swapped { [two, one] } else { [one, two] }
}

/// The first is acknowledged on the subflow and not at data level until the second is there (3.3.1).
#[test]
fn a_mapping_over_two_segments_is_delivered_when_both_are_there() {
    for swapped in [false, true] {
        let mut s = Script::server(checked());
        let [one, two] = spanning(&s, [0x1234, 0x4321], swapped);
        let out = s.give(0, one);
        assert_eq!((s.subflow_ack(&out[0]), s.data_ack(&out[0])), (if swapped { 1 } else { 1000 }, Some(0)));
        assert_eq!(s.c.inbound().readable(), 0);
        let out = s.give(0, two);
        assert_eq!((s.subflow_ack(&out[0]), s.data_ack(&out[0])), (2002, Some(2001)));
        assert_eq!(s.read(), 2001);
        // A copy changes nothing.
        s.give(0, two);
        assert_eq!((s.count(|e| matches!(e, Event::ChecksumFailed { .. })), s.c.inbound().readable()), (0, 0));
    }
}

/// A box joins two segments and keeps the second one's options: of the 500 octets in front nothing is known, and they are not taken. What
/// the mapping says, with its checksum, stands for what comes next: the first segment alone, then the second joined with a third. The octets of
/// both are in one segment, and the two checksums are verified together (3.3.1).
#[test]
fn a_mapping_that_came_with_a_segment_that_was_not_taken_has_its_checksum() {
    for damage in [0, 1] {
        let mut s = Script::server(checked());
        let mapped = |offset: u64| {
            let m = s.mapping(offset, 1 + offset as u32, 500);
            let checksum = dss_pseudo_header(m.dsn, m.ssn, m.len).plus(Sum(0x1111)).checksum();
            Mptcp::Dss(Dss { mapping: Some(Mapping { checksum: Some(checksum), ..m }), ..Dss::default() })
        };
        let options = [mapped(0), mapped(500), mapped(1000)];
        let segment = |s: &Script, seq: u32, len, sum, option| Segment {
            payload: Payload { sum, ..Payload::new(u64::from(seq) - 1, len) },
            ..s.ack(0, seq, 1, option)
        };
        let joined = segment(&s, 1, 1000, 0x2222, options[1]);
        s.give(0, joined);
        assert_eq!(s.read(), 0);
        let first = segment(&s, 1, 500, 0x1111, options[0]);
        s.give(0, first);
        assert_eq!(s.read(), 500);
        let joined = segment(&s, 501, 1000, 0x2222 + damage, options[2]);
        s.give(0, joined);
        let failed = s.count(|e| *e == Event::ChecksumFailed { subflow: 0, data: 500 });
        assert_eq!((s.read(), failed), if damage == 0 { (1000, 0) } else { (0, 1) });
    }
}

/// Pieces of a mapping whose boundaries differ from those that are there have no sum of their own. They are not taken, and the peer sends
/// them again: here what is missing, exactly. One that comes four times as the next cannot be verified.
#[test]
fn a_piece_with_other_boundaries_is_not_taken_at_first() {
    let overlapping =
        |s: &Script, two: Segment| Segment { payload: Payload::new(0, 1500), ..s.ack(0, 1, 1, two.options.mptcp) };
    for sent_again in [true, false] {
        let mut s = Script::server(checked());
        let [two, one] = spanning(&s, [0x1234, 0x4321], true);
        s.give(0, two);
        for _ in 0..3 {
            s.give(0, overlapping(&s, two));
            assert_eq!(s.count(|e| matches!(e, Event::ChecksumFailed { .. })), 0);
        }
        if sent_again {
            s.give(0, one);
            assert_eq!(s.read(), 2001);
        } else {
            s.give(0, overlapping(&s, two));
            assert_eq!(s.count(|e| *e == Event::ChecksumFailed { subflow: 0, data: 0 }), 1);
        }
    }
}

/// One octet of the second is not what it was; told when both are there, of the mapping's beginning.
#[test]
fn a_mapping_over_two_segments_fails_as_a_whole() {
    for swapped in [false, true] {
        let mut s = Script::server(checked());
        let [one, two] = spanning(&s, [0x1234, 0x4322], swapped);
        s.give(0, one);
        assert_eq!(s.count(|e| matches!(e, Event::ChecksumFailed { .. })), 0);
        let out = s.give(0, two);
        assert_eq!(out[0].segment.options.signal, Signal::Fail { dsn: s.peer_dsn(0) });
        assert_eq!((s.subflow_ack(&out[0]), s.data_ack(&out[0])), (2002, Some(0)));
        assert_eq!(s.count(|e| *e == Event::ChecksumFailed { subflow: 0, data: 0 }), 1);
        assert_eq!(s.read(), 0);
        // The peer falls back, from the start. All of it is plain TCP's, changed as it is.
        let m = Mapping { checksum: Some(0), ..s.mapping(0, 1, 0) };
        let mut seg = s.bare(0, 2002, 2001, 500);
        seg.options.mptcp = Mptcp::Dss(Dss { data_ack: None, mapping: Some(m), data_fin: false });
        s.give(0, seg);
        assert_eq!(s.read(), 2501);
        let out = s.give(0, s.bare(0, 2502, 2501, 100));
        assert_eq!((s.read(), out[0].segment.options.mptcp), (100, Mptcp::None));
    }
}

/// RFC 8684 3.3: negotiated and missing: "the receiver MUST close the subflow with a RST", an MPTCP-specific error, of the only subflow as of one
/// of several.
#[test]
fn a_mapping_without_its_checksum_resets_the_subflow() {
    for alone in [true, false] {
        let mut s = Script::server(checked());
        let flow = if alone { 0 } else { s.join() };
        let out = s.give(flow, s.data(flow, 1, 0, 1000));
        assert!(out.len() == 1 && out[0].segment.flags.has(Flags::RST));
        let reason = TcpRst { transient: false, reason: ResetReason::MPTCP };
        assert_eq!((out[0].segment.options.signal, out[0].segment.options.tcp_rst), (Signal::None, Some(reason)));
        assert!(s.events.contains(&Event::SubflowEnded(flow, EndReason::Middlebox)));
        assert_eq!(s.c.inbound().readable(), 0);
    }
}

/// 3.3.3: a DATA_FIN by itself has a checksum, too. With a wrong one it ends nothing.
#[test]
fn a_data_fin_with_a_wrong_checksum_is_ignored() {
    for wrong in [1, 0] {
        let mut s = Script::server(checked());
        let m = s.mapping(0, 0, 1);
        let checksum = Some(dss_pseudo_header(m.dsn, 0, 1).checksum() ^ wrong);
        let mapping = Some(Mapping { checksum, ..m });
        s.give(0, s.ack(0, 1, 1, Mptcp::Dss(Dss { data_ack: None, mapping, data_fin: true })));
        assert_eq!(s.count(|e| *e == Event::EndOfStream), usize::from(wrong == 0));
    }
}

/// The data went by two subflows, one of which has just been reset: they are not contiguous on the other. MP_FAIL on it resets it.
#[test]
fn mp_fail_for_data_that_are_not_contiguous_resets_the_subflow() {
    let mut s = Script::server(checked());
    let flow = s.join();
    s.c.write(20_000);
    let out = s.poll();
    assert!(out.iter().any(|t| t.subflow == 0) && out.iter().any(|t| t.subflow == flow));
    s.give(flow, Segment { flags: Flags::RST, ..s.ack(flow, 1, 1, Mptcp::None) });
    let mut fail = s.dss(0, 1, 1, Some(0), None);
    fail.options.signal = Signal::Fail { dsn: s.engine_dsn(0) };
    let out = s.give(0, fail);
    let reset = out.iter().find(|t| t.segment.flags.has(Flags::RST)).expect("a reset");
    assert_eq!((reset.subflow, reset.segment.options.tcp_rst), (0, MIDDLEBOX));
    assert!(matches!(reset.segment.options.signal, Signal::Fail { .. }));
    assert_eq!(s.events.last(), Some(&Event::Aborted(EndReason::Middlebox)));
}

/// 3.7: our MP_FAIL and the segment with the infinite mapping are lost, and the octets of that one had come by an earlier copy, so
/// that it does not go out again. The peer goes on saying MP_FAIL: it is answered again, and the next data carry the mapping again.
#[test]
fn an_mp_fail_that_comes_again_is_answered_again() {
    let mut s = Script::server(checked());
    s.c.write(1000);
    assert_eq!(s.poll().len(), 1);
    let fail = |s: &Script, ack| {
        let mut fail = s.ack(0, 1, ack, Mptcp::None);
        fail.options.signal = Signal::Fail { dsn: s.engine_dsn(0) };
        fail
    };
    let infinite =
        |out: &[Transmit]| out.iter().filter(|t| t.segment.dss().is_some_and(|d| d.mapping.is_some())).count();
    let failed = |out: &[Transmit]| out.iter().any(|t| matches!(t.segment.options.signal, Signal::Fail { .. }));
    let out = s.give(0, fail(&s, 1001));
    assert!(failed(&out) && !s.c.is_multipath());
    s.c.write(1000);
    assert_eq!(infinite(&s.poll()), 1);
    let out = s.give(0, fail(&s, 2001));
    assert!(failed(&out), "{out:?}");
    s.c.write(2000);
    assert_eq!(infinite(&s.poll()), 1, "on one of two segments");
    // The peer has understood: nothing more of it.
    let out = s.give(0, s.ack(0, 1, 4001, Mptcp::None));
    assert!(!failed(&out));
    s.c.write(1000);
    assert_eq!(infinite(&s.poll()), 0);
}

/// The peer closes its only subflow without a DATA_FIN (0 s), our data after that are changed on the way, and the connection becomes
/// plain TCP (3.7): there the FIN that came is the end of the peer's stream.
#[test]
fn a_fin_before_the_fallback_ends_the_stream() {
    let mut s = Script::server(checked());
    s.give(0, Segment { flags: Flags::FIN.with(Flags::ACK), ..s.dss(0, 1, 1, Some(0), None) });
    assert_eq!(s.count(|e| *e == Event::EndOfStream), 0);
    s.c.write(1000);
    assert_eq!(s.poll().len(), 1);
    let mut fail = s.ack(0, 2, 1, Mptcp::None);
    fail.options.signal = Signal::Fail { dsn: s.engine_dsn(0) };
    s.give(0, fail);
    assert_eq!((s.c.is_multipath(), s.count(|e| *e == Event::EndOfStream)), (false, 1));
    s.give(0, s.ack(0, 2, 1001, Mptcp::None));
    s.c.shutdown_write();
    let out = s.poll();
    assert!(out.len() == 1 && out[0].segment.flags.has(Flags::FIN));
    s.give(0, s.ack(0, 2, 1002, Mptcp::None));
    assert_eq!(s.count(|e| *e == Event::Closed), 1);
    assert_eq!(s.c.poll_timeout(), None);
}

/// 3.7: the server's data and a request are all there is. The request was changed on the way; the client's answer to MP_FAIL is lost,
/// and nothing else will come of it: MP_FAIL is repeated after an RTO until there is an answer.
#[test]
fn an_mp_fail_without_an_answer_is_repeated() {
    let mut pair = Pair::seeded(checked(), checked(), &[ms(10)], 1);
    let mut to_lose = 1;
    pair.filter(move |p| {
        if p.data_n.is_some() && p.from == Side::A {
            return changed(p);
        }
        let loses = p.from == Side::A && to_lose > 0 && fails(p).is_some();
        to_lose -= u32::from(loses);
        if loses { Fate::Drop } else { Fate::Pass }
    });
    pair.write(Side::A, 200);
    pair.run_until(at(2000));
    let said: Vec<_> = pair.log.iter().filter(|p| fails(p).is_some()).map(|p| p.from).collect();
    assert_eq!(said, [Side::B, Side::A, Side::B, Side::A]);
    assert_eq!(pair[Side::B].read, 200);
    assert!(!pair[Side::A].conn().is_multipath() && !pair[Side::B].conn().is_multipath());
}

/// 3.7: a path dies with data in flight, which is sent again on the other one, where the first of it is changed. The octets have two
/// places now, so that the connection cannot become plain TCP: it ends, and nothing wrong is delivered.
#[test]
fn there_is_no_fallback_while_data_have_a_second_place() {
    let mut pair = joined(checked(), checked(), &[10, 10], 1000);
    pair.run_until(at(1000));
    pair.filter(|p| if p.path == 0 && p.from == Side::A { Fate::Drop } else { Fate::Pass });
    pair.write(Side::A, 10_000);
    pair.run_until(at(1009));
    let mut first = true;
    pair.filter(move |p| {
        let data = p.from == Side::A && p.path == 1 && p.data_n.is_some();
        if data && std::mem::take(&mut first) { changed(p) } else { Fate::Pass }
    });
    pair.with(Side::B, |c| c.withdraw(0));
    pair.run_until(at(20_000));
    let wrong = pair[Side::B].count(|e| matches!(e, Event::Arrived { intact: false, fresh: 1.., .. }));
    assert_eq!((pair[Side::B].read, wrong), (1000, 0));
    assert_eq!(pair[Side::B].events.last().map(|e| e.1), Some(Event::Aborted(EndReason::Middlebox)));
}

/// Ten segments follow the one that was changed, and each is acknowledged with MP_FAIL: they are answered once.
#[test]
fn mp_fails_in_flight_together_are_answered_once() {
    let mut pair = Pair::seeded(checked(), checked(), &[ms(10)], 1);
    let mut first = true;
    pair.filter(move |p| {
        let data = p.from == Side::A && p.data_n.is_some();
        if data && std::mem::take(&mut first) { changed(p) } else { Fate::Pass }
    });
    pair.write(Side::A, 10_000);
    pair.run_until(at(5000));
    let from = |side| pair.log.iter().filter(|p| p.from == side && fails(p).is_some()).count();
    assert_eq!((from(Side::A), pair[Side::B].read), (1, 10_000));
    assert!((1..=10).contains(&from(Side::B)), "{}", from(Side::B));
}

/// RFC 8684 3.3: a mapping with a checksum, though none was agreed on: the subflow is not what was negotiated, and is reset, with the reason
/// "MPTCP-specific error". The other subflow goes on.
#[test]
fn a_checksum_that_was_not_agreed_on_resets_the_subflow() {
    let mut s = Script::server(mptcp());
    let flow = s.join();
    let mapping = Mapping { checksum: Some(77), ..s.mapping(0, 1, 1000) };
    let data = Segment { payload: Payload::new(0, 1000), ..s.dss(flow, 1, 1, None, Some(mapping)) };
    let out = s.give(flow, data);
    assert_eq!(out.len(), 1);
    assert!(out[0].segment.flags.has(Flags::RST) && out[0].subflow == flow);
    assert_eq!(out[0].segment.options.tcp_rst, Some(TcpRst { transient: false, reason: ResetReason::MPTCP }));
    assert_eq!(s.read(), 0);
    s.give(0, s.data(0, 1, 0, 1000));
    assert_eq!(s.read(), 1000);
}

/// 3.7: "the receiver of an MP_FAIL MUST also respond with an MP_FAIL in the reverse direction and entirely revert to a regular TCP
/// session". Both directions were changed, and until 600 ms nothing of the server's MP_FAILs arrives: the client's has arrived, so the
/// server is plain TCP, and the client, which does not know, must not give the data a second place in the sequence space.
#[test]
fn what_waits_for_an_answer_to_mp_fail_is_not_sent_again() {
    let mut pair = Pair::seeded(checked(), checked(), &[ms(10)], 1);
    pair.filter(|p| {
        if p.data_n.is_some() {
            return changed(p);
        }
        if p.from == Side::B && fails(p).is_some() && p.at < at(600) { Fate::Drop } else { Fate::Pass }
    });
    pair.write(Side::A, 200);
    pair.write(Side::B, 300);
    pair.close(Side::A);
    pair.close(Side::B);
    pair.run_until(at(60_000));
    let placed = pair.log.iter().filter(|p| p.from == Side::A && p.segment().payload.len > 0);
    assert_eq!(placed.map(|p| p.segment().seq).collect::<std::collections::BTreeSet<_>>().len(), 1);
    assert_eq!((pair[Side::A].read, pair[Side::B].read), (300, 200));
    assert!(pair.is_closed() && !pair[Side::A].conn().is_multipath() && !pair[Side::B].conn().is_multipath());
}

/// As before, but no MP_FAIL of the server ever arrives. Whether it is plain TCP the client cannot know: the subflow is reset after
/// eight MP_FAILs, and the connection has an end.
#[test]
fn an_mp_fail_that_is_never_answered_ends_the_connection() {
    let mut pair = Pair::seeded(checked(), checked(), &[ms(10)], 1);
    pair.filter(|p| {
        if p.data_n.is_some() {
            return changed(p);
        }
        if p.from == Side::B && fails(p).is_some() { Fate::Drop } else { Fate::Pass }
    });
    pair.write(Side::A, 200);
    pair.write(Side::B, 300);
    pair.run_until(at(600_000));
    let said = pair.log.iter().filter(|p| p.from == Side::A && fails(p).is_some() && !p.has(Flags::RST)).count();
    assert_eq!((said, pair[Side::A].read, pair[Side::B].read), (8, 0, 200));
    assert_eq!(pair[Side::A].events.last().map(|e| e.1), Some(Event::Aborted(EndReason::Middlebox)));
}

fn coupled() -> Config {
    checked().acknowledgement(Acknowledgement::Coupled)
}

/// 3.7: "Failed data MUST NOT be DATA_ACKed": nor under coupled acknowledgement, where the subflow's acknowledgement waits for the data
/// level. What follows waits, too, until the peer's infinite mapping makes all of it plain TCP's.
#[test]
fn under_coupled_acknowledgement_failed_data_are_not_acknowledged() {
    for swapped in [false, true] {
        let mut s = Script::server(coupled());
        let [one, two] = spanning(&s, [0x1234, 0x4322], swapped);
        s.give(0, one);
        let out = s.give(0, two);
        assert_eq!(out[0].segment.options.signal, Signal::Fail { dsn: s.peer_dsn(0) });
        assert_eq!((s.subflow_ack(&out[0]), s.data_ack(&out[0])), (1, Some(0)));
        assert_eq!(s.read(), 0);
        let m = Mapping { checksum: Some(0), ..s.mapping(0, 1, 0) };
        let mut seg = s.bare(0, 2002, 2001, 500);
        seg.options.mptcp = Mptcp::Dss(Dss { data_ack: None, mapping: Some(m), data_fin: false });
        let out = s.give(0, seg);
        assert_eq!((s.subflow_ack(out.last().unwrap()), s.read()), (2502, 2501));
    }
}

/// 3.3.1: one checksum covers all data of its mapping, so nothing of it is delivered before the second segment is there.
#[test]
fn under_coupled_acknowledgement_a_mapping_over_two_segments_is_delivered_whole() {
    for swapped in [false, true] {
        let mut s = Script::server(coupled());
        let [one, two] = spanning(&s, [0x1234, 0x4321], swapped);
        s.give(0, one);
        assert_eq!(s.read(), 0);
        let out = s.give(0, two);
        let last = out.last().unwrap();
        assert_eq!((s.subflow_ack(last), s.data_ack(last), s.read()), (2002, Some(2001), 2001));
    }
}

/// 1000 octets on `flow` whose mapping has the checksum of zeros; `sum` is theirs.
fn summed(s: &Script, flow: usize, seq: u32, offset: u64, sum: u16) -> Segment {
    let m = s.mapping(offset, seq, 1000);
    let checksum = Some(dss_pseudo_header(m.dsn, m.ssn, m.len).checksum());
    let dss = Dss { data_ack: None, mapping: Some(Mapping { checksum, ..m }), data_fin: false };
    Segment { payload: Payload { sum, ..Payload::new(offset, 1000) }, ..s.ack(flow, seq, 1, Mptcp::Dss(dss)) }
}

/// RFC 8684 3.7, 3.3: a checksum fails while a join is under way, and the peer sends the data by the join before it has answered MP_FAIL.
/// There they have a mapping and numbers of their own, and are taken at once; what failed is not.
#[test]
fn a_join_has_numbers_of_its_own_while_mp_fail_waits() {
    for config in [checked(), coupled()] {
        let mut s = Script::client(config);
        s.give(0, s.dss(0, 1, 1, Some(0), None));
        let (flow, nonce) = s.open();
        let out = s.give(0, summed(&s, 0, 1, 0, 7));
        assert_eq!(out[0].segment.options.signal, Signal::Fail { dsn: s.peer_dsn(0) });
        s.give(flow, s.join_answer(flow, nonce));
        s.give(flow, s.dss(flow, 1, 1, None, None));
        assert_eq!(s.read(), 0);
        let out = s.give(flow, summed(&s, flow, 1, 0, 0));
        let ack = out.iter().find(|t| t.subflow == flow).expect("an acknowledgement");
        assert_eq!((s.subflow_ack(ack), s.data_ack(ack), s.read()), (1001, Some(1000), 1000));
    }
}

/// 3.7: "In the rare case that the data is not contiguous (which could happen when there is only one subflow but it is retransmitting data
/// [...]), the receiver MUST close the subflow with a RST with MP_FAIL." The failed octets come once more, at another place of the subflow;
/// what only continues is waited for, wherever a box that changed the length has put it.
#[test]
fn failed_data_that_come_again_elsewhere_reset_the_subflow() {
    for (offset, contiguous) in [(0, false), (1000, true), (500, false)] {
        let mut s = Script::server(checked());
        let out = s.give(0, summed(&s, 0, 1, 0, 7));
        assert_eq!(out[0].segment.options.signal, Signal::Fail { dsn: s.peer_dsn(0) });
        let out = s.give(0, summed(&s, 0, 1001, offset, 0));
        assert_eq!(out[0].segment.options.signal, Signal::Fail { dsn: s.peer_dsn(0) });
        assert_eq!(out[0].segment.flags.has(Flags::RST), !contiguous, "{offset}");
        let shown = s.count(|e| matches!(e, Event::Arrived { .. }));
        assert_eq!((shown, s.read()), (1 + usize::from(contiguous), 0));
        // A copy of the failed segment has the place that it had.
        if contiguous {
            let out = s.give(0, summed(&s, 0, 1, 0, 7));
            assert!(!out[0].segment.flags.has(Flags::RST));
        }
    }
}

/// 3.3.1: a checksum is over all of a mapping. The first of two segments of one is in order on its subflow, but none of its octets is delivered, and it is
/// reported so, before the second has come.
#[test]
fn half_of_a_mapping_is_not_delivered() {
    let mut s = Script::listening(checked(), 7);
    s.give(0, s.third_ack());
    let checksum = Sum(0).plus(dss_pseudo_header(s.peer_dsn(0), 1, 600)).checksum();
    let mapping = Some(Mapping { checksum: Some(checksum), ..s.mapping(0, 1, 600) });
    let half = |s: &Script, seq: u32| {
        let payload = Payload::new(u64::from(seq - 1), 300);
        Segment { payload, ..s.dss(0, seq, 1, None, mapping) }
    };
    let kinds = |s: &mut Script| -> Vec<_> {
        let kind = |e: Event| if let Event::Arrived { kind, .. } = e { Some(kind) } else { None };
        std::mem::take(&mut s.events).into_iter().filter_map(kind).collect()
    };
    let seg = half(&s, 1);
    s.give(0, seg);
    assert_eq!((kinds(&mut s), s.read()), (vec![ArrivalKind::AheadInData], 0));
    let seg = half(&s, 301);
    s.give(0, seg);
    assert_eq!((kinds(&mut s), s.read()), (vec![ArrivalKind::InOrder], 600));
}

/// RFC 8684 3.7: the peer discards what failed on the second subflow, which it had acknowledged there. Just that goes again, and not what the
/// first one has in flight.
#[test]
fn what_the_peer_discards_with_a_subflow_goes_again_on_another() {
    let mut s = Script::client(mptcp().scheduler("round-robin".parse().unwrap()));
    let second = s.open_fully();
    s.c.write(4000);
    let sent: Vec<_> = s.poll().iter().map(|t| (t.subflow, t.segment.payload.offset)).collect();
    assert_eq!(sent, [(0, 0), (second, 1000), (0, 2000), (second, 3000)]);
    assert!(s.give(second, s.dss(second, 1, 2001, None, None)).is_empty());
    let mut reset = s.ack(second, 1, 2001, Mptcp::None);
    (reset.flags, reset.options.signal) = (Flags::RST, Signal::Fail { dsn: s.engine_dsn(1000) });
    let again: Vec<_> = s.give(second, reset).iter().map(|t| (t.subflow, t.segment.payload.offset)).collect();
    assert_eq!(again, [(0, 1000), (0, 3000)]);
}
