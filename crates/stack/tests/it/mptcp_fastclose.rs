//! Ends at once: MP_FASTCLOSE (RFC 8684 3.5), MP_TCPRST (3.6), and joins that are refused (3.2).

use anabranch_stack::Config;
use anabranch_stack::event::{EndReason, Event};
use anabranch_stack::mptcp::connection::refusal;
use anabranch_stack::mptcp::keys;
use anabranch_stack::segment::{Flags, Mptcp, ResetReason, Segment, Signal, TcpRst};

use crate::mptcp_bench::{Script, joined, keys_of_pair, mptcp, peer_syn};
use crate::pair::{Fate, Side, at, ms};

/// A window that keeps an endless transfer small.
fn small() -> Config {
    mptcp().receive_buffer(Some(50_000))
}

fn fastclose(p: &crate::pair::Packet) -> bool {
    matches!(p.segment().options.signal, Signal::Fastclose { .. })
}

/// Option R: at 200 every subflow is reset with the peer's key; at 210 the server resets what is left and is done.
#[test]
fn an_abort_tells_the_peer_that_all_is_over() {
    let mut pair = joined(small(), small(), &[10, 30], 1 << 40);
    pair.run_until(at(200));
    pair.with(Side::A, |c| c.abort());
    pair.run();
    let (_, key) = keys_of_pair(1);
    let resets: Vec<_> = pair.log.iter().filter(|p| p.from == Side::A && p.has(Flags::RST)).collect();
    assert_eq!(resets.len(), 2);
    assert!(resets.iter().all(|p| p.at == at(200) && p.segment().options.signal == Signal::Fastclose { key }));
    assert_eq!(pair[Side::B].when(Event::Aborted(EndReason::FastClosed)), Some(at(210)));
    let answer: Vec<_> = pair.log.iter().filter(|p| p.from == Side::B && p.has(Flags::RST)).collect();
    // On subflow 1, whose reset has not come yet. The client, which has forgotten the connection, says nothing to it.
    assert_eq!(answer.iter().map(|p| (p.at, p.path)).collect::<Vec<_>>(), [(at(210), 1)]);
}

/// Option A: the acknowledgement with MP_FASTCLOSE leaves on subflow 0 at 200, a RST on subflow 1. The server answers with a RST at
/// 210, and at 220 the client forgets subflow 0.
#[test]
fn a_fast_close_waits_for_the_reset() {
    let mut pair = joined(small(), small(), &[10, 10], 1 << 40);
    pair.run_until(at(200));
    pair.with(Side::A, |c| c.fast_close());
    pair.run();
    let sent = pair.log.iter().filter(|p| p.from == Side::A && p.at >= at(200) && (fastclose(p) || p.has(Flags::RST)));
    let sent: Vec<_> = sent.map(|p| (p.at, p.path, p.has(Flags::RST), fastclose(p))).collect();
    assert_eq!(sent, [(at(200), 1, true, false), (at(200), 0, false, true)]);
    let close = pair.log.iter().position(fastclose).unwrap();
    assert!(pair.log[close..].iter().all(|p| p.from == Side::B || p.data_n.is_none()));
    assert_eq!(pair[Side::B].when(Event::Aborted(EndReason::FastClosed)), Some(at(210)));
    assert_eq!(pair[Side::A].when(Event::SubflowEnded(0, EndReason::FastClosed)), Some(at(220)));
}

/// The server is silent: once and three more times, a timeout apart; then a RST with the option.
#[test]
fn an_unanswered_fast_close_is_repeated_three_times() {
    let mut pair = joined(mptcp(), mptcp(), &[10, 10], 1000);
    pair.run_until(at(200));
    pair.filter(|_| Fate::Drop);
    pair.with(Side::A, |c| c.fast_close());
    pair.run_until(at(60_000));
    let sent: Vec<_> = pair.log.iter().filter(|p| fastclose(p)).map(|p| (p.at, p.has(Flags::RST))).collect();
    let rto = 200;
    let times = [(0, false), (1, false), (2, false), (3, false), (4, true)].map(|(n, rst)| (at(200 + n * rto), rst));
    assert_eq!(sent, times);
    assert_eq!(pair[Side::A].conn().poll_timeout(), None);
}

/// Both at once: each takes the other's MP_FASTCLOSE for the answer, and replies with a RST.
#[test]
fn both_sides_may_close_at_once() {
    let mut pair = joined(mptcp(), mptcp(), &[10, 10], 1000);
    pair.run_until(at(200));
    pair.with(Side::A, |c| c.fast_close());
    pair.with(Side::B, |c| c.fast_close());
    pair.run();
    for side in [Side::A, Side::B] {
        assert_eq!(pair[side].when(Event::SubflowEnded(0, EndReason::FastClosed)), Some(at(210)));
        assert_eq!(pair[side].count(|e| matches!(e, Event::Aborted(_))), 0);
        assert!(pair.log.iter().any(|p| p.from == side && p.at == at(210) && p.has(Flags::RST)));
    }
}

/// A key that is not ours closes nothing; on a RST it is a RST of its subflow and no more.
#[test]
fn a_fast_close_with_a_wrong_key_is_ignored() {
    let mut s = Script::server(mptcp());
    let flow = s.join();
    let key = s.key ^ 1;
    assert!(s.give(flow, s.signal(flow, Signal::Fastclose { key })).is_empty());
    let reset = Segment { flags: Flags::RST, ..s.signal(flow, Signal::Fastclose { key }) };
    assert!(s.give(flow, reset).is_empty());
    assert_eq!(s.events.last(), Some(&Event::SubflowEnded(flow, EndReason::Reset)));
    let out = s.give(0, s.signal(0, Signal::Fastclose { key: s.key }));
    assert!(out.len() == 1 && out[0].segment.flags.has(Flags::RST));
    assert_eq!(s.events.last(), Some(&Event::Aborted(EndReason::FastClosed)));
}

/// RFC 8684 3.6: the reason comes before the end.
#[test]
fn the_reason_of_a_reset_is_told() {
    let mut s = Script::server(mptcp());
    let flow = s.join();
    let tcp_rst = TcpRst { transient: true, reason: ResetReason::PERFORMANCE };
    let mut reset = Segment { flags: Flags::RST, ..s.ack(flow, 1, 1, Mptcp::None) };
    reset.options.tcp_rst = Some(tcp_rst);
    s.give(flow, reset);
    let told = [Event::ResetReason { subflow: flow, tcp_rst }, Event::SubflowEnded(flow, EndReason::Reset)];
    assert!(s.events.ends_with(&told), "{:?}", s.events);
}

/// RFC 8684 3.2: what a refused join is told. A wrong HMAC, ours or theirs: an MPTCP error. No MP_JOIN in the SYN/ACK: a
/// middlebox.
#[test]
fn a_join_that_does_not_authenticate_is_reset_with_a_reason() {
    let rst = |reason| Some(TcpRst { transient: false, reason });
    let mut s = Script::server(mptcp());
    let (flow, ..) = s.join_half();
    let out = s.give(flow, s.ack(flow, 1, 1, Mptcp::JoinAck { hmac: [1; 20] }));
    assert_eq!(out[0].segment.options.tcp_rst, rst(ResetReason::MPTCP));
    assert_eq!(s.events.last(), Some(&Event::SubflowEnded(flow, EndReason::Refused)));
    for (answer, reason) in [(Mptcp::None, ResetReason::MIDDLEBOX), (bad_answer(), ResetReason::MPTCP)] {
        let mut s = Script::client(mptcp());
        let (flow, nonce) = s.open();
        let mut seg = s.join_answer(flow, nonce);
        seg.options.mptcp = answer;
        let out = s.give(flow, seg);
        assert_eq!(out[0].segment.options.tcp_rst, rst(reason));
        // Without any other effect.
        s.c.write(1000);
        assert_eq!(s.poll().len(), 1);
    }
}

fn bad_answer() -> Mptcp {
    Mptcp::JoinSynAck { backup: false, address_id: 1, hmac: 1, nonce: 9 }
}

/// A limit of two: the third subflow is refused for want of resources, for the time being; when one has ended there is room again.
#[test]
fn subflows_beyond_the_limit_are_refused() {
    let mut s = Script::server(mptcp().subflow_limit(2));
    let flow = s.join();
    let syn = peer_syn(Mptcp::JoinSyn { backup: false, address_id: 1, token: keys::token(s.key), nonce: 5 });
    let tcp_rst = TcpRst { transient: true, reason: ResetReason::RESOURCES };
    assert_eq!(s.c.accept_join(&syn, 1, false), Err(tcp_rst));
    let reset = refusal(&syn, tcp_rst).unwrap();
    assert_eq!((reset.flags, reset.options.tcp_rst), (Flags::RST.with(Flags::ACK), Some(tcp_rst)));
    assert_eq!(s.c.open_subflow(1, 0, false), None);
    s.give(flow, Segment { flags: Flags::RST, ..s.ack(flow, 1, 1, Mptcp::None) });
    assert!(s.c.accept_join(&syn, 1, false).is_ok());
}

/// A token that is nobody's: refused, and nothing else happens (RFC 8684 3.2).
#[test]
fn an_unknown_token_is_refused_without_effect() {
    let mut s = Script::server(mptcp());
    let syn = peer_syn(Mptcp::JoinSyn { backup: false, address_id: 1, token: keys::token(s.key) ^ 1, nonce: 5 });
    let refused = s.c.accept_join(&syn, 1, false);
    assert_eq!(refused, Err(TcpRst { transient: false, reason: ResetReason::MPTCP }));
    assert_eq!(s.c.subflows().len(), 1);
    assert!(s.poll().is_empty() && s.wait(ms(1000)).is_empty());
}
