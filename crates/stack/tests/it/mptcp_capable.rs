//! The MP_CAPABLE handshake (RFC 8684 3.1): keys, what derives from them, and every loss on the way; fallback (3.7).

use core::net::{IpAddr, Ipv4Addr};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;

use anabranch_stack::event::{EndReason, Event, FallbackCause};
use anabranch_stack::mptcp::keys;
use anabranch_stack::segment::{AddrId, Flags, Mapping, Mptcp, Payload, Segment};
use anabranch_stack::tcp::State;
use anabranch_stack::time::Instant;
use anabranch_stack::{Config, Connection};

use crate::mptcp_bench::{PEER_KEY, Script, add_addr, first_dsn, joined, key_of, keys_of_pair, mptcp, peer_syn};
use crate::pair::{Fate, Packet, Pair, Side, at, entropy, ms, tcp};

fn pair() -> Pair {
    Pair::new(mptcp(), mptcp(), ms(10))
}

fn options(pair: &Pair, from: Side) -> Vec<Mptcp> {
    pair.log.iter().filter(|p| p.from == from).map(|p| p.segment().options.mptcp).collect()
}

/// The first data of the client, by octets from the start of its stream.
fn is_first_data(p: &Packet) -> bool {
    p.from == Side::A && p.segment().payload == Payload::new(0, 1000)
}

/// SYN 0, SYN/ACK 10, third ACK 20, 2500 octets written at 50; the fourth segment acknowledges at data level.
#[test]
fn keys_cross_in_the_handshake_and_give_tokens_and_data_sequence_numbers() {
    let mut pair = pair();
    pair.run_until(at(50));
    pair.write(Side::A, 2500);
    pair.close(Side::A);
    pair.run_until(at(100));
    let (a, b) = keys_of_pair(1);
    let third = Mptcp::CapableAck { checksum: false, sender_key: a, receiver_key: b, data: None };
    let first = Mptcp::CapableAck { checksum: false, sender_key: a, receiver_key: b, data: Some((1000, None)) };
    let sent = options(&pair, Side::A);
    assert_eq!(sent[..3], [Mptcp::CapableSyn { no_join: false, checksum: false }, third, first]);
    let mappings: Vec<_> = pair
        .log
        .iter()
        .filter(|p| p.from == Side::A)
        .filter_map(|p| p.segment().dss()?.mapping)
        .map(|m| (m.dsn.wrapping_sub(keys::initial_dsn(a)), m.ssn, m.len))
        .collect();
    // The first octet has the initial data sequence number plus one; the DATA_FIN takes one more.
    assert_eq!(mappings, [(1001, 1001, 1000), (2001, 2001, 501)]);
    assert_eq!(options(&pair, Side::B)[0], Mptcp::CapableSynAck { no_join: false, checksum: false, key: b });
    assert_eq!(pair[Side::A].conn().token(), Some(keys::token(a)));
    assert_eq!(pair[Side::B].conn().token(), Some(keys::token(b)));
    assert_eq!(pair[Side::A].when(Event::Connected), Some(at(20)));
    assert_eq!(pair[Side::B].when(Event::Connected), Some(at(30)));
    assert_eq!(pair[Side::B].read, 2500);
    assert_eq!(pair[Side::A].conn().outbound().unacknowledged(), 0);
}

/// SYN lost at 0, sent again at 1000 with the same option: the connection is multipath.
#[test]
fn a_lost_syn_is_sent_again_with_mp_capable() {
    let mut pair = pair();
    pair.filter(|p| if p.has(Flags::SYN) && p.at == at(0) { Fate::Drop } else { Fate::Pass });
    pair.run_until(at(1050));
    assert_eq!(options(&pair, Side::A)[..2], [Mptcp::CapableSyn { no_join: false, checksum: false }; 2]);
    assert_eq!(pair[Side::A].when(Event::Connected), Some(at(1020)));
    assert!(pair[Side::A].conn().is_multipath() && pair[Side::B].conn().is_multipath());
}

/// SYN/ACK lost at 10. Both timers expire, the client's at 1000; the answer carries the same key.
#[test]
fn a_lost_syn_ack_is_sent_again_with_the_same_key() {
    let mut pair = pair();
    pair.filter(|p| if p.from == Side::B && p.n == 0 { Fate::Drop } else { Fate::Pass });
    pair.write(Side::A, 5000);
    pair.run_until(at(3000));
    let key = keys_of_pair(1).1;
    let answers = options(&pair, Side::B)
        .into_iter()
        .filter(|o| *o == Mptcp::CapableSynAck { no_join: false, checksum: false, key });
    assert!(answers.count() >= 2);
    assert!(pair[Side::B].conn().is_multipath());
    assert_eq!(pair[Side::B].read, 5000);
}

/// The third ACK (20) is lost and the client has nothing to send: the server's SYN/ACK comes again at 1010, and the ACK for
/// it carries both keys again.
#[test]
fn a_lost_third_ack_is_sent_again_with_both_keys() {
    let mut pair = pair();
    pair.filter(|p| if p.from == Side::A && p.n == 1 { Fate::Drop } else { Fate::Pass });
    pair.write(Side::B, 3000);
    pair.run_until(at(500));
    assert_eq!(pair[Side::B].conn().subflows()[0].state(), State::SynReceived);
    pair.run_until(at(1100));
    let (a, b) = keys_of_pair(1);
    let third = Mptcp::CapableAck { checksum: false, sender_key: a, receiver_key: b, data: None };
    assert_eq!(options(&pair, Side::A)[1..3], [third; 2]);
    assert_eq!(pair[Side::B].when(Event::Connected), Some(at(1030)));
    assert!(pair[Side::B].conn().is_multipath());
    assert_eq!(pair[Side::A].read, 3000);
}

/// The third ACK (20) is lost, data follow at 30: MP_CAPABLE on the first of them completes the handshake at 40.
#[test]
fn the_first_data_replace_a_lost_third_ack() {
    let mut pair = pair();
    pair.filter(|p| if p.from == Side::A && p.n == 1 { Fate::Drop } else { Fate::Pass });
    pair.run_until(at(30));
    pair.write(Side::A, 5000);
    pair.run_until(at(60));
    assert_eq!(pair[Side::B].when(Event::Connected), Some(at(40)));
    assert!(pair[Side::B].conn().is_multipath());
    assert_eq!(pair[Side::B].read, 5000);
    assert_eq!(pair[Side::A].conn().outbound().unacknowledged(), 0);
}

/// The third ACK (20) and the first data (30) are lost. What follows has a DSS but no keys: the server takes none of it. The
/// timer's retransmission of the first data, with both keys, opens the connection, and all arrives.
#[test]
fn nothing_is_taken_before_the_keys_have_come() {
    let mut pair = pair();
    let lost = Rc::new(Cell::new(0));
    let count = lost.clone();
    pair.filter(move |p| {
        if (p.from == Side::A && p.n == 1) || (is_first_data(p) && count.get() == 0) {
            count.set(count.get() + u32::from(is_first_data(p)));
            return Fate::Drop;
        }
        Fate::Pass
    });
    pair.run_until(at(30));
    pair.write(Side::A, 5000);
    pair.run_until(at(200));
    assert_eq!(lost.get(), 1);
    assert_eq!(pair[Side::B].when(Event::Connected), None);
    assert_eq!(pair[Side::B].count(|e| matches!(e, Event::Arrived { .. })), 0);
    assert!(pair.log.iter().all(|p| p.from == Side::A || !p.segment().flags.has(Flags::RST)));
    pair.run_until(at(3000));
    assert!(pair[Side::B].conn().is_multipath());
    assert_eq!(pair[Side::B].read, 5000);
    assert_eq!(pair[Side::A].conn().outbound().unacknowledged(), 0);
    let again: Vec<_> = pair.log.iter().filter(|p| is_first_data(p)).map(|p| p.segment().options.mptcp).collect();
    assert!(again.len() >= 2 && again.iter().all(|o| *o == again[0]), "the same keys and length each time: {again:?}");
}

/// The client's pure acknowledgements carry the keys until the server shows with a DSS that it knows them (here with data);
/// after that they carry DATA_ACKs.
#[test]
fn pure_acknowledgements_carry_the_keys_until_the_server_has_spoken() {
    let mut s = Script::opening(mptcp());
    let out = s.give(0, s.syn_ack(Mptcp::CapableSynAck { no_join: false, checksum: false, key: s.peer_key }));
    let keys = Mptcp::CapableAck { checksum: false, sender_key: s.key, receiver_key: s.peer_key, data: None };
    assert_eq!(out[0].segment.options.mptcp, keys);
    assert_eq!(s.c.open_subflow(1, 0, false), None, "RFC 8684 3.1: no join before the server has the keys");
    // The SYN/ACK once more: our third ACK was lost.
    let out = s.give(0, s.syn_ack(Mptcp::CapableSynAck { no_join: false, checksum: false, key: s.peer_key }));
    assert_eq!(out.iter().map(|t| t.segment.options.mptcp).collect::<Vec<_>>(), [keys]);
    // Data with a DSS: the server has the keys.
    let out = s.give(0, s.data(0, 1, 0, 1000));
    assert_eq!(s.data_ack(&out[0]), Some(1000));
    assert!(s.c.open_subflow(1, 0, false).is_some());
}

/// RFC 8684 3.1: new subflows must not be established until a DSS option has been received across the path.
/// An authentic ADD_ADDR shows the client that its keys have come, no more than that: third ACK (0 s), ADD_ADDR, DSS.
#[test]
fn an_address_is_not_joined_before_a_dss_has_come() {
    let mut s = Script::opening(mptcp());
    s.give(0, s.syn_ack(Mptcp::CapableSynAck { no_join: false, checksum: false, key: s.peer_key }));
    let address = AddrId { id: 1, addr: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)) };
    let hmac = keys::add_addr_hmac(s.peer_key, s.key, address.id, address.addr, 0);
    let out = s.give(0, s.signal(0, add_addr(address, Some(hmac))));
    assert_eq!(out.iter().map(|t| t.segment.options.signal).collect::<Vec<_>>(), [add_addr(address, None)]);
    assert_eq!(s.count(|e| matches!(e, Event::RemoteAddress { .. })), 1);
    assert_eq!(s.c.open_subflow(1, 1, false), None);
    // Nor by one that is forged, or by a DSS whose acknowledgement is refused.
    s.give(0, s.signal(0, add_addr(address, Some(hmac + 1))));
    s.give(0, s.dss(0, 1, 500, Some(0), None));
    assert_eq!(s.c.open_subflow(1, 1, false), None);
    s.give(0, s.dss(0, 1, 1, Some(0), None));
    assert!(s.c.open_subflow(1, 1, false).is_some());
}

/// The same at the server, which has the keys with the third ACK and again with the first data: neither is a DSS.
#[test]
fn a_server_opens_no_subflow_before_a_dss_has_come() {
    let mut s = Script::server(mptcp());
    assert_eq!(s.c.open_subflow(1, 0, false), None);
    let mut first = s.third_ack();
    let Mptcp::CapableAck { data, .. } = &mut first.options.mptcp else { panic!() };
    *data = Some((1000, None));
    first.payload = Payload::new(0, 1000);
    let out = s.give(0, first);
    assert_eq!((s.data_ack(&out[0]), s.c.open_subflow(1, 0, false)), (Some(1000), None));
    // The peer may: it has our DATA_ACK.
    assert_eq!(s.join(), 1);
    s.give(0, s.data(0, 1001, 1000, 1000));
    assert!(s.c.open_subflow(2, 0, false).is_some());
}

/// The server writes first; the client answers with DSS only and then has data of its own, which are its stream's first.
#[test]
fn a_server_may_speak_first() {
    let mut pair = pair();
    pair.write(Side::B, 20_000);
    pair.close(Side::B);
    pair.run_until(at(300));
    assert_eq!(pair[Side::A].read, 20_000);
    pair.write(Side::A, 7_500);
    pair.close(Side::A);
    pair.run();
    assert_eq!((pair[Side::A].read, pair[Side::B].read), (20_000, 7_500));
    assert!(pair.is_closed());
}

/// Subflow 1 carries the client's first data and dies; a copy goes out on subflow 0, where other data went before. MP_CAPABLE
/// with data would map it to subflow sequence number 1: it must be a DSS.
#[test]
fn first_data_that_are_not_first_on_their_subflow_are_mapped_by_a_dss() {
    // Path 1 is the faster one: once both are open it carries the client's first data.
    let mut pair = Pair::seeded(mptcp(), mptcp(), &[ms(50), ms(5)], 1);
    pair.write(Side::B, 1000);
    pair.run_until(at(200));
    assert_eq!(pair.open(Side::A, 1, 1), Some(1));
    pair.run_until(at(400));
    // Nothing that path 1 carries arrives from now on.
    pair.filter(|p| if p.path == 1 { Fate::Drop } else { Fate::Pass });
    pair.write(Side::A, 30_000);
    pair.close(Side::A);
    pair.run_until(at(400));
    let of = |p: &&Packet| p.data_n.is_some() && p.from == Side::A;
    let paths: Vec<usize> = pair.log.iter().filter(of).map(|p| p.path).collect();
    assert!(paths[..10].iter().all(|&p| p == 1) && paths[10..].contains(&0), "{paths:?}");
    pair.run_until(at(20_000));
    assert_eq!(pair[Side::B].read, 30_000);
    let copies: Vec<_> = pair.log.iter().filter(|p| p.path == 0 && is_first_data(p)).collect();
    assert!(!copies.is_empty());
    for p in copies {
        let mapping = p.segment().dss().and_then(|d| d.mapping).expect("a DSS");
        assert_eq!(mapping.dsn, first_dsn(keys_of_pair(1).0));
        assert!(mapping.ssn > 1);
    }
}

/// RFC 8684 3.1: what an MP_CAPABLE maps begins with the first octet of the subflow, wherever the segment stands: elsewhere its payload has no
/// mapping, and is not taken before it comes with one.
#[test]
fn data_beside_the_keys_are_the_first_data() {
    let mut s = Script::listening(mptcp(), PEER_KEY);
    let Mptcp::CapableAck { sender_key, receiver_key, checksum, .. } = s.third_ack().options.mptcp else { panic!() };
    let option = Mptcp::CapableAck { sender_key, receiver_key, checksum, data: Some((1000, None)) };
    for seq in [1, 1001] {
        s.give(0, Segment { payload: Payload::new(u64::from(seq) - 1, 1000), ..s.ack(0, seq, 1, option) });
        assert_eq!(s.c.inbound().received(), 1000);
    }
    s.give(0, s.data(0, 1001, 1000, 1000));
    assert_eq!(s.c.inbound().received(), 2000);
}

/// RFC 8684 3.7: a server without MPTCP answers without MP_CAPABLE; the connection is plain TCP on both sides.
#[test]
fn a_server_without_multipath_makes_it_plain_tcp() {
    plain(mptcp(), tcp());
}

/// A client without MPTCP.
#[test]
fn a_client_without_multipath_makes_it_plain_tcp() {
    plain(tcp(), mptcp());
}

/// Its SYN comes twice, since the answer was lost: by then that is known.
#[test]
fn a_client_without_multipath_is_found_out_once() {
    let mut pair = Pair::new(tcp(), mptcp(), ms(10));
    pair.filter(|p| if p.from == Side::B && p.at < at(500) { Fate::Drop } else { Fate::Pass });
    pair.run_until(at(2000));
    assert_eq!(pair.log.iter().filter(|p| p.from == Side::A && p.has(Flags::SYN)).count(), 2);
    assert_eq!(pair[Side::B].count(|e| matches!(e, Event::Fallback { .. })), 1);
}

fn plain(client: Config, server: Config) {
    let mut pair = Pair::new(client, server, ms(10));
    pair.write(Side::A, 50_000);
    pair.write(Side::B, 20_000);
    pair.run_until(at(400));
    for side in [Side::A, Side::B] {
        assert!(!pair[side].conn().is_multipath());
        assert_eq!(pair[side].conn().token(), None);
        assert_eq!(pair[side].conn_mut().open_subflow(1, 0, false), None);
    }
    pair.close(Side::A);
    pair.close(Side::B);
    pair.run();
    assert!(pair.is_closed());
    assert_eq!((pair[Side::A].read, pair[Side::B].read), (20_000, 50_000));
    let spoken = |p: &&Packet| !p.segment().options.mptcp.is_empty() && !p.has(Flags::SYN);
    assert_eq!(pair.log.iter().filter(spoken).count(), 0);
}

/// RFC 8684 3.7: a middlebox takes MP_CAPABLE out of the SYN: plain TCP.
#[test]
fn an_option_lost_from_the_syn_makes_it_plain_tcp() {
    let mut pair = pair();
    pair.filter(|p| without_option(p, p.from == Side::A && p.has(Flags::SYN)));
    pair.write(Side::A, 5_000);
    pair.close(Side::A);
    pair.close(Side::B);
    pair.run();
    assert!(pair.is_closed());
    assert!(!pair[Side::A].conn().is_multipath() && !pair[Side::B].conn().is_multipath());
    assert_eq!(pair[Side::B].read, 5_000);
}

/// The same for the SYN/ACK alone: the client speaks plain TCP, and the server sees that its third ACK has no keys.
#[test]
fn an_option_lost_from_the_syn_ack_makes_it_plain_tcp() {
    let mut pair = pair();
    pair.filter(|p| without_option(p, p.from == Side::B && p.has(Flags::SYN)));
    pair.write(Side::A, 5_000);
    pair.write(Side::B, 5_000);
    pair.close(Side::A);
    pair.close(Side::B);
    pair.run();
    assert!(pair.is_closed());
    assert!(!pair[Side::A].conn().is_multipath() && !pair[Side::B].conn().is_multipath());
    // The client knows with the SYN/ACK, not only when the server's data come without options.
    let cause = FallbackCause::SynAck;
    assert!(pair[Side::A].when(Event::Fallback { subflow: 0, cause }).is_some());
    assert_eq!((pair[Side::A].read, pair[Side::B].read), (5_000, 5_000));
}

/// RFC 8684 3.7: a middlebox takes MPTCP options out of everything but SYNs, on the way to the server or on both ways. The
/// server sees a third ACK without keys, the client acknowledgements without a DATA_ACK: both go on with plain TCP.
#[test]
fn options_lost_after_the_syns_make_it_plain_tcp() {
    for both_ways in [false, true] {
        for (written, closed) in [(0, 0), (0, 1000), (30, 1000)] {
            let mut pair = pair();
            pair.filter(move |p| without_option(p, !p.has(Flags::SYN) && (both_ways || p.from == Side::A)));
            pair.run_until(at(written));
            pair.write(Side::A, 50_000);
            pair.write(Side::B, 20_000);
            pair.run_until(at(closed));
            pair.close(Side::A);
            pair.close(Side::B);
            pair.run();
            assert!(pair.is_closed(), "both ways: {both_ways}, written at {written}, closed at {closed}");
            assert!(!pair[Side::A].conn().is_multipath() && !pair[Side::B].conn().is_multipath());
            assert_eq!((pair[Side::A].read, pair[Side::B].read), (20_000, 50_000));
        }
    }
}

fn without_option(p: &Packet, strip: bool) -> Fate {
    if !strip {
        return Fate::Pass;
    }
    let mut seg = *p.segment();
    seg.options.mptcp = Mptcp::None;
    Fate::As(seg)
}

/// A SYN/ACK that carries the client's own key (a reflection) is no agreement on MPTCP.
#[test]
fn a_client_that_is_answered_with_its_own_key_does_not_speak_multipath() {
    let mut s = Script::opening(mptcp());
    let out = s.give(0, s.syn_ack(Mptcp::CapableSynAck { no_join: false, checksum: false, key: s.key }));
    assert!(!s.c.is_multipath());
    assert!(out.iter().all(|t| t.segment.options.mptcp.is_empty()));
}

/// A third ACK with the server's own key as the client's, or with another key than the server's, is not taken.
#[test]
fn a_third_ack_with_wrong_keys_is_not_taken() {
    for (sender, receiver) in [(key_of(77), key_of(77)), (5, 6), (5, key_of(78))] {
        let mut s = Script::listening(mptcp(), 5);
        assert_eq!(s.key, key_of(77));
        let option = Mptcp::CapableAck { checksum: false, sender_key: sender, receiver_key: receiver, data: None };
        let out = s.give(0, s.ack(0, 1, 1, option));
        assert!(out.is_empty(), "{out:?}");
        assert_eq!(s.c.subflows()[0].state(), State::SynReceived);
        assert!(s.events.is_empty());
        // The right ones still open it.
        let third = s.third_ack();
        s.give(0, third);
        assert_eq!(s.events[0], Event::Connected);
        assert!(s.c.is_multipath());
    }
}

/// Flag A of either side turns DSS checksums on for both (RFC 8684 3.1): every mapping then has two octets more.
#[test]
fn checksums_are_used_if_either_side_wants_them() {
    let with = mptcp().checksum(true);
    for (client, server, used) in [
        (with.clone(), mptcp(), true),
        (mptcp(), with.clone(), true),
        (with.clone(), with, true),
        (mptcp(), mptcp(), false),
    ] {
        let mut pair = Pair::new(client, server, ms(10));
        pair.write(Side::A, 5_000);
        pair.write(Side::B, 5_000);
        pair.close(Side::A);
        pair.close(Side::B);
        pair.run_until(at(500));
        assert!(pair.is_closed());
        let checksums: Vec<bool> = pair
            .log
            .iter()
            .filter_map(|p| match p.segment().options.mptcp {
                Mptcp::Dss(dss) => Some(dss.mapping?.checksum.is_some()),
                Mptcp::CapableAck { data: Some((_, checksum)), .. } => Some(checksum.is_some()),
                _ => None,
            })
            .collect();
        assert!(checksums.len() >= 10 && checksums.iter().all(|&c| c == used), "{checksums:?}");
    }
}

/// The SYN/ACK never comes: after three minutes (RFC 9293 3.8.3) the attempt fails, at the timeout after seven retransmissions.
#[test]
fn an_unanswered_syn_ends_in_an_abort() {
    let mut pair = pair();
    pair.filter(|p| if p.from == Side::B { Fate::Drop } else { Fate::Pass });
    pair.run();
    assert_eq!(pair[Side::A].events.last().map(|e| e.1), Some(Event::Aborted(EndReason::TimedOut)));
    assert_eq!(pair[Side::B].events.last().map(|e| e.1), Some(Event::Aborted(EndReason::TimedOut)));
    assert_eq!(pair.log.iter().filter(|p| p.from == Side::A).count(), 8);
}

/// A reset in answer to the SYN.
#[test]
fn a_refused_syn_ends_in_an_abort() {
    let mut s = Script::opening(mptcp());
    let answer = s.syn_ack(Mptcp::None);
    let reset = Segment { seq: 0, ack: answer.ack, flags: Flags::RST.with(Flags::ACK), ..Segment::default() };
    assert!(s.give(0, reset).is_empty());
    assert_eq!(s.events.last(), Some(&Event::Aborted(EndReason::Reset)));
    assert_eq!(s.c.poll_timeout(), None);
}

/// RFC 8684 3, 3.1: keys and initial sequence numbers come from the caller's secret: of fifty secrets no two give the same; and each subflow has a number
/// of its own.
/// RFC 9293 3.4.1.
#[test]
fn initial_sequence_numbers_and_keys_differ() {
    let answers: Vec<Segment> = (0..50)
        .map(|secret| {
            let syn = peer_syn(Mptcp::CapableSyn { no_join: false, checksum: false });
            let mut c = Connection::accept(mptcp(), entropy(secret), &syn);
            c.poll_transmit(Instant::ZERO).expect("a SYN is answered").segment
        })
        .collect();
    let numbers: BTreeSet<u32> = answers.iter().map(|s| s.seq).collect();
    let keys: BTreeSet<String> = answers.iter().map(|s| format!("{:?}", s.options.mptcp)).collect();
    assert_eq!((numbers.len(), keys.len()), (50, 50));
    let pair = joined(mptcp(), mptcp(), &[10, 10, 10], 1000);
    let syns = pair.log.iter().map(|p| p.segment()).filter(|s| s.flags.has(Flags::SYN));
    let numbers: BTreeSet<u32> = syns.map(|s| s.seq).collect();
    assert_eq!(numbers.len(), 4); // SYN, SYN/ACK, two joins
}

/// RFC 8684 3.1, flag C: of either side's SYN it keeps subflows from the address of that SYN, and from no other.
#[test]
fn flag_c_keeps_subflows_from_the_peers_first_address() {
    for no_join in [true, false] {
        let mut s = Script::opening(mptcp());
        let answer = Mptcp::CapableSynAck { no_join, checksum: false, key: s.peer_key };
        s.give(0, s.syn_ack(answer));
        s.give(0, s.dss(0, 1, 1, Some(s.engine_dsn(0)), None));
        assert_eq!(s.c.open_subflow(1, 0, false).is_none(), no_join);
        assert!(s.c.open_subflow(1, 3, false).is_some());
    }
}

/// The third ACK shows that the peer has the keys, no more. Its first DSS comes with its first data: from then on subflows may be added (3.2).
#[test]
fn a_server_may_join_once_its_peers_first_data_have_come() {
    let mut s = Script::server(mptcp());
    assert_eq!(s.c.open_subflow(1, 1, false), None);
    let mapping = Mapping { short: true, ..s.mapping(0, 1, 1000) };
    let data = s.dss(0, 1, 1, Some(0), Some(mapping));
    s.give(0, Segment { payload: Payload::new(0, 1000), ..data });
    assert_eq!((s.c.inbound().received(), s.c.open_subflow(1, 1, false)), (1000, Some(1)));
}
