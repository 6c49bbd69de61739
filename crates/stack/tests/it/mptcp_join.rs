//! The MP_JOIN handshake (RFC 8684 3.2): HMACs both ways, what happens when one is wrong or a segment is lost, and that no
//! data flow before it is over.

use anabranch_stack::Connection;
use anabranch_stack::event::{EndReason, Event};
use anabranch_stack::mptcp::connection::reset_for;
use anabranch_stack::mptcp::keys;
use anabranch_stack::segment::{Flags, Mptcp, ResetReason, Segment, TcpRst};
use anabranch_stack::tcp::State;

use crate::mptcp_bench::{Script, key_of, keys_of_pair, mptcp, peer_syn};
use crate::pair::{Fate, Packet, Pair, Side, at, entropy, ms, tcp};

/// Two paths of 10 and 30 ms; the client has a lot to send and joins at 40 over path 1.
///
/// ```text
/// path 1:  SYN 40 -> 70   SYN/ACK 70 -> 100   third ACK 100 -> 130   fourth ACK 130 -> 160
/// ```
fn pair(mut filter: impl FnMut(&Packet) -> Fate + 'static) -> Pair {
    let mut pair = alone();
    // A loss on path 0 ends its slow start in each direction, so that there is always more to send than its window takes.
    pair.filter(move |p| if p.path == 0 && p.data_n == Some(30) { Fate::Drop } else { filter(p) });
    start(&mut pair);
    assert_eq!(pair.open(Side::A, 1, 1), Some(1));
    pair
}

fn alone() -> Pair {
    Pair::seeded(mptcp(), mptcp(), &[ms(10), ms(30)], 1)
}

fn start(pair: &mut Pair) {
    pair.write(Side::A, 4_000_000);
    pair.write(Side::B, 500_000);
    pair.run_until(at(40));
}

/// Loses the `n`th segment of `from` on path 1.
fn losing(from: Side, n: u64) -> Pair {
    pair(move |p| if p.path == 1 && p.from == from && p.n == n { Fate::Drop } else { Fate::Pass })
}

/// Changes the MPTCP option of every segment.
fn changing(change: impl Fn(&mut Mptcp) + 'static) -> Pair {
    pair(move |p| {
        let mut seg = *p.segment();
        change(&mut seg.options.mptcp);
        Fate::As(seg)
    })
}

/// Segments that `from` sent on path 1.
fn sent(pair: &Pair, from: Side) -> Vec<&Packet> {
    pair.log.iter().filter(|p| p.from == from && p.path == 1).collect()
}

fn first_data(pair: &Pair, from: Side) -> Option<anabranch_stack::time::Instant> {
    sent(pair, from).iter().find(|p| p.data_n.is_some()).map(|p| p.at)
}

fn finish(pair: &mut Pair) {
    pair.close(Side::A);
    pair.close(Side::B);
    pair.run_until(at(120_000));
    assert!(pair.is_closed());
    assert_eq!((pair[Side::A].read, pair[Side::B].read), (500_000, 4_000_000));
}

/// The three options, with HMACs computed here from the keys and the nonces on the wire.
#[test]
fn both_sides_authenticate_and_only_then_send_data() {
    let mut pair = pair(|_| Fate::Pass);
    pair.run_until(at(160));
    let (a, b) = keys_of_pair(1);
    let (client, server) = (sent(&pair, Side::A), sent(&pair, Side::B));
    let Mptcp::JoinSyn { address_id, token, nonce: ra, .. } = client[0].segment().options.mptcp else { panic!() };
    assert_eq!((address_id, token, client[0].at), (1, keys::token(b), at(40)));
    let Mptcp::JoinSynAck { address_id, hmac, nonce: rb, .. } = server[0].segment().options.mptcp else { panic!() };
    assert_eq!((address_id, server[0].at), (1, at(70)));
    assert_eq!(hmac, keys::truncate_64(&keys::join_hmac(b, a, rb, ra)));
    assert_ne!(ra, rb);
    let third = Mptcp::JoinAck { hmac: keys::truncate_160(&keys::join_hmac(a, b, ra, rb)) };
    assert_eq!((client[1].segment().options.mptcp, client[1].at), (third, at(100)));
    assert_eq!(client[1].segment().payload.len, 0);
    // The server may send once the third ACK has come, the client once the fourth has.
    assert_eq!(pair[Side::B].when(Event::SubflowEstablished(1)), Some(at(130)));
    assert_eq!(pair[Side::A].when(Event::SubflowEstablished(1)), Some(at(160)));
    assert_eq!(first_data(&pair, Side::B), Some(at(130)));
    assert_eq!(first_data(&pair, Side::A), Some(at(160)));
    finish(&mut pair);
}

/// The SYN (40) is lost: again at 1040, with the same nonce.
#[test]
fn a_lost_join_syn_is_sent_again() {
    let mut pair = losing(Side::A, 0);
    pair.run_until(at(1160));
    let syns: Vec<_> = sent(&pair, Side::A)[..2].iter().map(|p| (p.at, *p.segment())).collect();
    assert_eq!((syns[0].0, syns[1].0), (at(40), at(1040)));
    assert_eq!(syns[0].1.options.mptcp, syns[1].1.options.mptcp);
    assert_eq!(pair[Side::A].when(Event::SubflowEstablished(1)), Some(at(1160)));
    assert_eq!(first_data(&pair, Side::A), Some(at(1160)));
    finish(&mut pair);
}

/// The SYN/ACK (70) is lost. The client's SYN comes again at 1040, the server's own timer runs out at 1070; every SYN/ACK has
/// the same nonce and HMAC.
#[test]
fn a_lost_join_syn_ack_is_sent_again_with_the_same_nonce() {
    let mut pair = losing(Side::B, 0);
    pair.run_until(at(2000));
    let answers: Vec<_> = sent(&pair, Side::B).into_iter().filter(|p| p.has(Flags::SYN)).collect();
    assert!(answers.len() >= 2);
    assert!(answers.iter().all(|p| p.segment().options.mptcp == answers[0].segment().options.mptcp));
    assert_eq!(pair[Side::A].when(Event::SubflowEstablished(1)), Some(at(1070 + 30 + 60)));
    finish(&mut pair);
}

/// The third ACK (100) is lost. It is sent again after the client's timeout, and no data before the fourth ACK.
#[test]
fn a_lost_third_ack_of_a_join_is_sent_again() {
    let mut pair = losing(Side::A, 1);
    pair.run_until(at(600));
    let acks: Vec<_> = sent(&pair, Side::A)[1..3].to_vec();
    // A round trip of 60 ms gives 60 + 4 * 30, less than the least timeout of 200 ms.
    assert_eq!((acks[0].at, acks[1].at), (at(100), at(300)));
    assert!(matches!(acks[0].segment().options.mptcp, Mptcp::JoinAck { .. }));
    assert_eq!(acks[0].segment().options.mptcp, acks[1].segment().options.mptcp);
    assert_eq!(pair[Side::B].when(Event::SubflowEstablished(1)), Some(at(330)));
    assert_eq!(pair[Side::A].when(Event::SubflowEstablished(1)), Some(at(360)));
    assert_eq!((first_data(&pair, Side::B), first_data(&pair, Side::A)), (Some(at(330)), Some(at(360))));
    finish(&mut pair);
}

/// The fourth ACK (130) is lost, and all else that the server says up to 300: the third ACK comes again at 330 and is
/// answered.
#[test]
fn a_lost_fourth_ack_is_asked_for_again() {
    let mut pair = pair(|p| {
        let lost = p.path == 1 && p.from == Side::B && !p.has(Flags::SYN) && p.at < at(300);
        if lost { Fate::Drop } else { Fate::Pass }
    });
    pair.run_until(at(359));
    assert_eq!(pair[Side::A].when(Event::SubflowEstablished(1)), None);
    assert_eq!(first_data(&pair, Side::A), None);
    pair.run_until(at(360));
    assert_eq!(pair[Side::A].when(Event::SubflowEstablished(1)), Some(at(360)));
    assert_eq!(first_data(&pair, Side::A), Some(at(360)));
    assert_eq!(pair[Side::B].count(|e| *e == Event::SubflowEstablished(1)), 1);
    finish(&mut pair);
}

/// Nothing the server says on path 1 after its SYN/ACK arrives: the client gives the join up after eight third ACKs, with a
/// reset, and the connection goes on.
#[test]
fn a_join_without_a_fourth_ack_is_given_up() {
    let mut pair =
        pair(|p| if p.path == 1 && p.from == Side::B && !p.has(Flags::SYN) { Fate::Drop } else { Fate::Pass });
    finish_slowly(&mut pair);
    let client = sent(&pair, Side::A);
    let thirds = client.iter().filter(|p| matches!(p.segment().options.mptcp, Mptcp::JoinAck { .. })).count();
    assert_eq!(thirds, 8);
    assert!(client.last().unwrap().has(Flags::RST));
    assert!(client.iter().all(|p| p.data_n.is_none()));
    assert_eq!(pair[Side::A].count(|e| *e == Event::SubflowEnded(1, EndReason::Refused)), 1);
    assert_eq!(pair[Side::B].count(|e| *e == Event::SubflowEnded(1, EndReason::Reset)), 1);
}

/// Closes only when the fate of path 1 is decided.
fn finish_slowly(pair: &mut Pair) {
    pair.run_until(at(200_000));
    assert_eq!((pair[Side::A].read, pair[Side::B].read), (500_000, 4_000_000));
    pair.close(Side::A);
    pair.close(Side::B);
    pair.run_until(at(201_000));
    assert!(pair.is_closed());
}

/// RFC 8684 3.2: a SYN/ACK with a wrong HMAC is answered by a reset; nothing else changes.
#[test]
fn a_wrong_hmac_of_the_server_resets_the_join_and_nothing_else() {
    let mut pair = changing(|option| {
        if let Mptcp::JoinSynAck { hmac, .. } = option {
            *hmac ^= 1;
        }
    });
    refused(&mut pair, Side::A, 2);
}

/// The same for the third ACK, at the server.
#[test]
fn a_wrong_hmac_of_the_client_resets_the_join_and_nothing_else() {
    let mut pair = changing(|option| {
        if let Mptcp::JoinAck { hmac } = option {
            hmac[19] ^= 0x80;
        }
    });
    refused(&mut pair, Side::B, 2);
}

/// A SYN/ACK without MP_JOIN.
#[test]
fn a_syn_ack_without_mp_join_resets_the_join_and_nothing_else() {
    let mut pair = changing(|option| {
        if let Mptcp::JoinSynAck { .. } = option {
            *option = Mptcp::None;
        }
    });
    refused(&mut pair, Side::A, 2);
}

/// The join fails at `by`, whose `segments` on path 1 are the last one a reset; the transfer is what it would have been.
fn refused(pair: &mut Pair, by: Side, segments: usize) {
    let mut alone = alone();
    alone.filter(|p| if p.data_n == Some(30) { Fate::Drop } else { Fate::Pass });
    start(&mut alone);
    for p in [&mut *pair, &mut alone] {
        finish(p);
    }
    let of = |p: &Pair| -> Vec<_> { p.log.iter().filter(|p| p.path == 0).map(|p| (p.at, *p.segment())).collect() };
    assert_eq!(of(pair), of(&alone), "subflow 0 must not notice");
    let mine = sent(pair, by);
    assert_eq!(mine.len(), segments);
    assert!(mine[segments - 1].has(Flags::RST));
    assert_eq!(pair[by].count(|e| *e == Event::SubflowEnded(1, EndReason::Refused)), 1);
    assert_eq!(pair[by.other()].count(|e| *e == Event::SubflowEnded(1, EndReason::Reset)), 1);
    for side in [Side::A, Side::B] {
        assert_eq!(pair[side].conn().subflows()[1].state(), State::Closed);
    }
    assert_eq!(pair[by].count(|e| *e == Event::SubflowEstablished(1)), 0);
}

/// A token that is not this connection's: no subflow, the SYN is answered by a reset, which ends the client's attempt.
#[test]
fn a_wrong_token_is_answered_by_a_reset() {
    let mut pair = changing(|option| {
        if let Mptcp::JoinSyn { token, .. } = option {
            *token ^= 1;
        }
    });
    finish(&mut pair);
    assert_eq!(pair[Side::A].when(Event::SubflowEnded(1, EndReason::Reset)), Some(at(100)));
    assert_eq!(pair[Side::B].conn().subflows().len(), 1);

    let mut s = Script::server(mptcp());
    let syn = peer_syn(Mptcp::JoinSyn { backup: false, address_id: 1, token: keys::token(s.key) ^ 1, nonce: 5 });
    assert!(s.c.accept_join(&syn, 0, false).is_err());
    assert_eq!(s.c.subflows().len(), 1);
    assert!(s.poll().is_empty());
    let reset = reset_for(&syn).unwrap();
    assert_eq!((reset.flags, reset.ack), (Flags::RST.with(Flags::ACK), syn.seq + 1));
}

/// Before the handshake is over the server takes nothing on the joining subflow: neither data, nor a FIN.
#[test]
fn what_comes_before_the_third_ack_is_not_taken() {
    let mut s = Script::server(mptcp());
    let (flow, ..) = s.join_half();
    assert!(s.give(flow, s.data(flow, 1, 0, 1000)).is_empty());
    assert!(s.give(flow, s.ack(flow, 1, 1, Mptcp::None)).is_empty());
    let fin = Segment { flags: Flags::FIN.with(Flags::ACK), ..s.ack(flow, 1, 1, Mptcp::None) };
    assert!(s.give(flow, fin).is_empty());
    assert_eq!(s.c.subflows()[flow].state(), State::SynReceived);
    assert_eq!((s.read(), s.c.inbound().held()), (0, (0, 0)));
}

/// The first data of a joining client may carry no MP_JOIN; the third ACK may be repeated with data in flight.
#[test]
fn a_repeated_third_ack_is_answered_and_does_no_harm() {
    let mut s = Script::server(mptcp());
    let (flow, nonce, peer_nonce) = s.join_half();
    let third = s.join_ack(flow, nonce, peer_nonce);
    assert_eq!(s.give(flow, third).len(), 1);
    assert_eq!(s.give(flow, third).len(), 1);
    s.give(flow, s.data(flow, 1, 0, 1000));
    assert_eq!(s.read(), 1000);
    assert_eq!(s.count(|e| *e == Event::SubflowEstablished(flow)), 1);
}

/// A reset instead of the fourth ACK: the subflow has ended, and so has the timer of its third ACK.
#[test]
fn a_reset_instead_of_the_fourth_ack_ends_the_join() {
    let mut s = Script::client(mptcp());
    let (flow, nonce) = s.open();
    let out = s.give(flow, s.join_answer(flow, nonce));
    assert!(matches!(out[0].segment.options.mptcp, Mptcp::JoinAck { .. }));
    let reset = Segment { flags: Flags::RST, ..s.ack(flow, 1, 1, Mptcp::None) };
    assert!(s.give(flow, reset).is_empty());
    assert_eq!(s.events.last(), Some(&Event::SubflowEnded(flow, EndReason::Reset)));
    assert_eq!(s.c.poll_timeout(), None);
    assert!(s.wait(ms(10_000)).is_empty());
}

/// RFC 8684 3.1, 3.2: joins need an established multipath connection that has not ended.
#[test]
fn a_join_needs_an_established_multipath_connection() {
    let mut opening = Script::opening(mptcp());
    assert_eq!(opening.c.open_subflow(1, 0, false), None);
    let syn = |key| peer_syn(Mptcp::JoinSyn { backup: false, address_id: 1, token: keys::token(key), nonce: 5 });
    assert!(opening.c.accept_join(&syn(key_of(77)), 1, false).is_err());
    let mut listening = Script::listening(mptcp(), 5);
    assert_eq!(listening.c.open_subflow(1, 0, false), None);
    assert!(listening.c.accept_join(&syn(key_of(77)), 1, false).is_err());
    let mut plain = Script::opening(tcp());
    plain.give(0, plain.syn_ack(Mptcp::None));
    assert_eq!(plain.c.open_subflow(1, 0, false), None);
    assert!(plain.c.accept_join(&syn(key_of(77)), 1, false).is_err());
    let mut ended = Script::server(mptcp());
    ended.c.abort();
    assert_eq!(ended.c.open_subflow(1, 0, false), None);
    assert!(ended.c.accept_join(&syn(key_of(77)), 1, false).is_err());
    let mut open = Script::server(mptcp());
    assert!(open.c.accept_join(&peer_syn(Mptcp::None), 1, false).is_err());
    assert_eq!(open.c.accept_join(&syn(key_of(77)), 1, false), Ok(1));
}

/// The listener's host may join as well (its SYN carries the client's token).
#[test]
fn the_server_may_join_too() {
    let mut pair = alone();
    pair.filter(|p| if p.path == 0 && p.data_n == Some(30) { Fate::Drop } else { Fate::Pass });
    start(&mut pair);
    assert_eq!(pair.open(Side::B, 1, 1), Some(1));
    pair.run_until(at(160));
    let Mptcp::JoinSyn { token, .. } = sent(&pair, Side::B)[0].segment().options.mptcp else { panic!() };
    assert_eq!(token, keys::token(keys_of_pair(1).0));
    assert_eq!(pair[Side::B].when(Event::SubflowEstablished(1)), Some(at(160)));
    finish(&mut pair);
    assert!(sent(&pair, Side::A).iter().any(|p| p.data_n.is_some()));
}

/// RFC 9293 3.10.4: a connection that is closed while a join's SYN is unanswered sends no further SYN.
#[test]
fn a_join_still_unanswered_at_the_close_is_dropped() {
    let mut pair = alone();
    pair.filter(|p| if p.path == 1 { Fate::Drop } else { Fate::Pass });
    start(&mut pair);
    assert_eq!(pair.open(Side::A, 1, 1), Some(1));
    pair.close(Side::A);
    pair.close(Side::B);
    pair.run();
    assert!(pair.is_closed());
    let last = sent(&pair, Side::A).last().unwrap().at;
    assert!(last < at(1000), "still joining at {last}");
}

/// Two SYNs of one join arrive (a duplicate on the path): one subflow.
#[test]
fn a_duplicated_join_syn_makes_one_subflow() {
    let mut pair = pair(|p| if p.path == 1 && p.has(Flags::SYN) { Fate::Twice(ms(5)) } else { Fate::Pass });
    finish(&mut pair);
    assert_eq!(pair[Side::B].conn().subflows().len(), 2);
    assert_eq!(pair[Side::A].when(Event::SubflowEstablished(1)), Some(at(160)));
}

/// RFC 8684 3.1: a key whose token another connection of the host has is not used; the next one drawn is.
#[test]
fn a_key_whose_token_is_in_use_is_drawn_again() {
    let mut drawn = entropy(77);
    let (first, second) = (drawn.next_u64(), drawn.next_u64());
    let taken = keys::token(first);
    let client = Connection::connect_among(mptcp(), entropy(77), |token| token == taken);
    assert_eq!(client.token(), Some(keys::token(second)));
    let syn = peer_syn(Mptcp::CapableSyn { no_join: false, checksum: false });
    let server = Connection::accept_among(mptcp(), entropy(77), &syn, |token| token == taken);
    assert_eq!(server.token(), Some(keys::token(second)));
    assert_eq!(Connection::accept(mptcp(), entropy(77), &syn).token(), Some(taken));
}

/// RFC 8684 3.1: a peer that has, or claims, our own key is none to speak MPTCP with: its SYN/ACK makes plain TCP, its third ACK
/// is dropped.
#[test]
fn our_own_key_in_the_peers_hands_is_refused() {
    let mut s = Script::opening(mptcp());
    s.give(0, s.syn_ack(Mptcp::CapableSynAck { no_join: false, checksum: false, key: s.key }));
    assert!(!s.c.is_multipath());
    let mut s = Script::listening(mptcp(), key_of(77));
    assert_eq!(s.key, s.peer_key);
    let third = s.third_ack();
    assert!(s.give(0, third).is_empty());
    assert_eq!(s.count(|e| *e == Event::Connected), 0);
}

// ---- joins that come to nothing ----------------------------------------------------------------------------------------

/// Two thousand joins whose third ACK has a wrong HMAC: each is reset, and nothing of it stays, however many there were. A subflow that
/// was established keeps its number when it has ended.
#[test]
fn joins_that_fail_leave_nothing_behind() {
    let mut s = Script::server(mptcp());
    assert_eq!(s.join(), 1);
    s.give(1, Segment { flags: Flags::RST, ..s.ack(1, 1, 1, Mptcp::None) });
    for i in 0..2000 {
        let (flow, nonce, peer_nonce) = s.join_half();
        let out = s.give(flow, s.join_ack(flow, nonce, peer_nonce ^ 1));
        assert!(flow != 1 && out.len() == 1 && out[0].segment.flags.has(Flags::RST), "{i}: {out:?}");
        assert_eq!(s.events.last(), Some(&Event::SubflowEnded(flow, EndReason::Refused)));
    }
    assert!(s.c.subflows().len() <= 4, "{}", s.c.subflows().len());
    let flow = s.join();
    s.give(flow, s.data(flow, 1, 0, 1000));
    assert_eq!((s.read(), s.c.subflows()[1].state()), (1000, State::Closed));
}

/// 254 joins that are never completed (0 s), and then one that is: they do not count against the limit of 255 subflows. Of 300 the
/// oldest 46 have yielded; the third ACK of the first is for nobody. The rest is gone after the patience of a SYN/ACK.
#[test]
fn half_open_joins_do_not_keep_out_others() {
    let mut s = Script::server(mptcp());
    let half_open: Vec<_> = (0..254).map(|_| s.join_half()).collect();
    let flow = s.join();
    s.give(flow, s.data(flow, 1, 0, 1000));
    assert_eq!(s.read(), 1000);
    assert_eq!(s.count(|e| matches!(e, Event::SubflowEnded(..))), 0);
    for _ in 0..47 {
        s.join_half();
    }
    assert_eq!(s.count(|e| matches!(e, Event::SubflowEnded(_, EndReason::Refused))), 46);
    assert_eq!(
        s.events.iter().find(|e| matches!(e, Event::SubflowEnded(..))),
        Some(&Event::SubflowEnded(half_open[0].0, EndReason::Refused))
    );
    assert!(s.c.subflows().len() <= 2 + 256);
    let another = s.join();
    assert_ne!(another, flow);
    s.wait(ms(300_000));
    let open = s.c.subflows().iter().filter(|s| s.state() != State::Closed).count();
    assert_eq!(open, 3);
}

/// A limit of two: three joins begin at once. The first that authenticates itself has the place, the others are refused for want of
/// resources, for the time being.
#[test]
fn the_limit_counts_joins_that_are_authenticated() {
    let mut s = Script::server(mptcp().subflow_limit(2));
    let begun = [s.join_half(), s.join_half(), s.join_half()];
    for (i, (flow, nonce, peer_nonce)) in [begun[1], begun[0], begun[2]].into_iter().enumerate() {
        let out = s.give(flow, s.join_ack(flow, nonce, peer_nonce));
        assert_eq!((out.len(), out[0].segment.flags.has(Flags::RST)), (1, i > 0));
        let want = TcpRst { transient: true, reason: ResetReason::RESOURCES };
        assert_eq!(out[0].segment.options.tcp_rst, (i > 0).then_some(want));
    }
    assert_eq!(s.count(|e| matches!(e, Event::SubflowEstablished(_))), 2);
}

/// Half-open joins of the peer's do not keep this host from opening subflows of its own.
#[test]
fn half_open_joins_do_not_keep_our_own_back() {
    let mut s = Script::server(mptcp().subflow_limit(2));
    s.give(0, s.dss(0, 1, 1, Some(0), None));
    s.join_half();
    assert!(s.c.open_subflow(7, 0, false).is_some());
    assert_eq!(s.c.open_subflow(8, 0, false), None);
}

/// Three hundred subflows, one after the other, each established and reset by the peer: their numbers stay theirs, data go by the first
/// one and by the last.
#[test]
fn subflows_that_have_ended_are_in_nobodys_way() {
    let mut s = Script::server(mptcp());
    for i in 1..=300 {
        assert_eq!(s.join(), i);
        s.give(i, Segment { flags: Flags::RST, ..s.ack(i, 1, 1, Mptcp::None) });
    }
    let last = s.join();
    s.c.write(20_000);
    let out = s.poll();
    assert!((0..20).all(|i| [0, last].contains(&out[i].subflow)) && out.len() == 20);
    s.give(0, s.dss(0, 1, 10_001, None, None));
    s.give(last, s.dss(last, 1, 10_001, Some(20_000), None));
    assert_eq!(s.c.outbound().unacknowledged(), 0);
}

/// The peer closes its only subflow (0 s), and the connection waits a minute for another one. A forged join (10 s) that fails, and one that is
/// never completed, have no other effect (RFC 8684 3.2): a true one (40 s) finds the connection there.
#[test]
fn a_join_that_fails_does_not_end_a_connection_that_waits_for_one() {
    let mut s = Script::server(mptcp());
    s.give(0, Segment { flags: Flags::RST, ..s.ack(0, 1, 1, Mptcp::None) });
    s.wait(ms(10_000));
    let (flow, nonce, peer_nonce) = s.join_half();
    assert_eq!(s.give(flow, s.join_ack(flow, nonce, peer_nonce ^ 1)).len(), 1);
    s.join_half();
    s.wait(ms(30_000));
    assert_eq!(s.count(|e| matches!(e, Event::Aborted(_))), 0);
    let flow = s.join();
    s.give(flow, s.data(flow, 1, 0, 1000));
    assert_eq!(s.read(), 1000);
}
