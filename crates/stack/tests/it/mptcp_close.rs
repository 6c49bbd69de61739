//! Closing (RFC 8684 3.3.3): DATA_FIN in every position and with every loss, half-close, and what the end of a subflow means
//! for the connection.

use anabranch_stack::config::Deviations;
use anabranch_stack::event::{EndReason, Event, SendKind};
use anabranch_stack::segment::{Dss, Flags, Mapping, Mptcp, Segment, Signal};
use anabranch_stack::tcp::State;
use anabranch_stack::{Config, Duration, Linger};

use crate::mptcp_bench::{PEER_KEY, Script, first_dsn, joined, keys_of_pair, mptcp};
use crate::pair::{Fate, Packet, Pair, Side, at, ms};

/// Nothing is written at all. SYN 0, SYN/ACK 10; the third ACK leaves before the DATA_FIN (20), which means nothing to a
/// server without the keys; at 30 the server answers with its own.
#[test]
fn a_connection_without_data_closes_at_once() {
    let mut pair = Pair::new(mptcp(), mptcp(), ms(10));
    pair.close(Side::A);
    pair.close(Side::B);
    pair.run();
    let sent: Vec<_> =
        pair.log.iter().filter(|p| p.from == Side::A).take(3).map(|p| p.segment().options.mptcp).collect();
    assert!(matches!(
        sent[..],
        [Mptcp::CapableSyn { .. }, Mptcp::CapableAck { .. }, Mptcp::Dss(Dss { data_fin: true, .. })]
    ));
    assert_eq!((pair[Side::A].when(Event::Closed), pair[Side::B].when(Event::Closed)), (Some(at(40)), Some(at(50))));
}

/// Two paths of 10 ms. The client's 1000 octets (20) are acknowledged at 40, its join is over at 80; from 200 on the test
/// acts on a connection at rest.
fn pair() -> Pair {
    let mut pair = joined(mptcp(), mptcp(), &[10, 10], 1000);
    pair.run_until(at(200));
    pair
}

/// (time, path, payload, mapping) of the segments with a DATA_FIN that `from` sent.
fn data_fins(pair: &Pair, from: Side) -> Vec<(u64, usize, u32, Mapping)> {
    let about = |p: &Packet| match p.segment().options.mptcp {
        Mptcp::Dss(Dss { mapping: Some(m), data_fin: true, .. }) => {
            Some((p.at.0 / 1_000_000, p.path, p.segment().payload.len, m))
        }
        _ => None,
    };
    pair.log.iter().filter(|p| p.from == from).filter_map(about).collect()
}

fn has_data_fin(p: &Packet) -> bool {
    p.segment().dss().is_some_and(|d| d.data_fin)
}

fn subflow_fins(pair: &Pair, from: Side) -> Vec<(u64, usize)> {
    let fins = pair.log.iter().filter(|p| p.from == from && p.has(Flags::FIN));
    fins.map(|p| (p.at.0 / 1_000_000, p.path)).collect()
}

/// 2500 octets and the end: the last segment carries 500 octets and the DATA_FIN, which takes one data sequence number.
#[test]
fn the_data_fin_rides_on_the_last_data() {
    let mut pair = pair();
    pair.write(Side::A, 2500);
    pair.close(Side::A);
    pair.run_until(at(219));
    let dsn = first_dsn(keys_of_pair(1).0).wrapping_add(3000);
    let fins = data_fins(&pair, Side::A);
    assert_eq!(fins.len(), 1);
    let (time, _, payload, m) = fins[0];
    assert_eq!((time, payload, m.dsn, m.len), (200, 500, dsn, 501));
    assert!(m.ssn > 0);
    assert_eq!(pair[Side::B].when(Event::EndOfStream), Some(at(210)));
    // Its DATA_ACK counts the DATA_FIN; the server has not closed, so that no subflow is closed either.
    let ack = pair.log.iter().rfind(|p| p.from == Side::B).unwrap().segment().dss().unwrap().data_ack;
    assert_eq!(ack, Some(anabranch_stack::segment::DataAck::Eight(dsn.wrapping_add(501))));
    pair.run_until(at(5000));
    assert_eq!(data_fins(&pair, Side::A).len(), 1);
    assert!(subflow_fins(&pair, Side::A).is_empty() && subflow_fins(&pair, Side::B).is_empty());
}

/// Nothing is left to send: the DATA_FIN goes out by itself, with subflow sequence number 0 and length 1.
#[test]
fn a_data_fin_without_data_has_subflow_sequence_number_zero() {
    let mut pair = pair();
    pair.close(Side::A);
    pair.run_until(at(5000));
    let dsn = first_dsn(keys_of_pair(1).0).wrapping_add(1000);
    let expected = Mapping { dsn, short: false, ssn: 0, len: 1, checksum: None };
    assert_eq!(data_fins(&pair, Side::A), [(200, 0, 0, expected)]);
    assert_eq!(pair[Side::B].when(Event::EndOfStream), Some(at(210)));
}

/// It is lost twice: again after the slowest subflow's timeout (200 ms), then after twice that, on the subflows in turn.
#[test]
fn a_lost_data_fin_is_repeated_on_the_subflows_in_turn() {
    let mut pair = pair();
    pair.filter(|p| if has_data_fin(p) && p.at < at(500) { Fate::Drop } else { Fate::Pass });
    pair.close(Side::A);
    pair.run_until(at(10_000));
    let times: Vec<_> = data_fins(&pair, Side::A).iter().map(|f| (f.0, f.1)).collect();
    assert_eq!(times, [(200, 0), (400, 1), (800, 0)]);
    assert_eq!(pair[Side::B].when(Event::EndOfStream), Some(at(810)));
    assert_eq!(pair[Side::B].count(|e| *e == Event::EndOfStream), 1);
}

/// The DATA_ACK (210) is lost: the DATA_FIN comes again and is answered again.
#[test]
fn a_repeated_data_fin_is_acknowledged_again() {
    let mut pair = pair();
    pair.filter(|p| if p.from == Side::B && p.at < at(400) { Fate::Drop } else { Fate::Pass });
    pair.close(Side::A);
    pair.run_until(at(10_000));
    let times: Vec<_> = data_fins(&pair, Side::A).iter().map(|f| (f.0, f.1)).collect();
    assert_eq!(times, [(200, 0), (400, 1)]);
    let answers = pair.log.iter().filter(|p| p.from == Side::B && p.at >= at(200));
    assert_eq!(answers.map(|p| p.at).collect::<Vec<_>>(), [at(210), at(410)]);
    assert_eq!(pair[Side::B].count(|e| *e == Event::EndOfStream), 1);
}

/// The last data (200: 1000 octets, 500 with the DATA_FIN) are lost. The copies on the other subflow and the
/// retransmissions on the first one carry the DATA_FIN as the original did.
#[test]
fn a_data_fin_lost_with_its_data_comes_again_with_them() {
    let mut pair = pair();
    pair.filter(|p| if p.data_n.is_some() && p.at < at(300) { Fate::Drop } else { Fate::Pass });
    pair.write(Side::A, 1500);
    pair.close(Side::A);
    pair.run_until(at(10_000));
    let first = data_fins(&pair, Side::A)[0].3;
    let carrying: Vec<_> = data_fins(&pair, Side::A).into_iter().filter(|f| f.2 > 0).collect();
    let places: Vec<_> = carrying.iter().map(|f| (f.0, f.1, f.2)).collect();
    assert_eq!(places, [(200, 0, 500), (400, 1, 500), (420, 0, 500)]);
    assert!(carrying.iter().all(|f| (f.3.dsn, f.3.len) == (first.dsn, 501)));
    assert_eq!(pair[Side::B].when(Event::EndOfStream), Some(at(410)));
    assert_eq!(pair[Side::B].read, 2500);
}

/// The DATA_FIN overtakes the data before it (150 ms late): the stream ends when they are there, and only then is it
/// acknowledged.
#[test]
fn a_data_fin_waits_for_the_data_before_it() {
    let mut pair = pair();
    pair.filter(|p| if p.data_n.is_some() { Fate::Late(ms(150)) } else { Fate::Pass });
    pair.write(Side::A, 1000);
    pair.close(Side::A);
    pair.run_until(at(350));
    assert_eq!(pair[Side::B].when(Event::EndOfStream), None);
    pair.run_until(at(10_000));
    assert_eq!(pair[Side::B].when(Event::EndOfStream), Some(at(360)));
    assert_eq!(pair[Side::B].read, 2000);
}

/// Both close at 200: DATA_FINs cross, at 210 each knows of the other's, at 220 both are acknowledged, and the FINs of the
/// subflows cross in turn.
#[test]
fn both_sides_may_close_at_once() {
    let mut pair = pair();
    pair.close(Side::A);
    pair.close(Side::B);
    pair.run_until(at(1000));
    for side in [Side::A, Side::B] {
        assert_eq!(data_fins(&pair, side).len(), 1);
        assert_eq!(pair[side].when(Event::EndOfStream), Some(at(210)));
        assert_eq!(pair[side].when(Event::Closed), Some(at(220)));
        assert_eq!(subflow_fins(&pair, side), [(220, 0), (220, 1)]);
        assert!(pair[side].conn().subflows().iter().all(|s| s.state() == State::TimeWait));
    }
    pair.run();
    assert_eq!(pair.now, at(240 + 60_000));
    for side in [Side::A, Side::B] {
        assert_eq!(pair[side].count(|e| matches!(e, Event::SubflowEnded(_, EndReason::Finished))), 2);
        assert_eq!(pair[side].count(|e| matches!(e, Event::Aborted(_))), 0);
    }
}

/// The client closes at 200, the server sends 1 MB more and closes at 2000: a half-closed connection carries data.
#[test]
fn half_of_a_connection_goes_on_when_the_other_is_closed() {
    let mut pair = pair();
    pair.close(Side::A);
    pair.write(Side::B, 1_000_000);
    pair.run_until(at(2000));
    assert_eq!((pair[Side::A].read, pair[Side::B].read), (1_000_000, 1000));
    assert_eq!(pair[Side::B].when(Event::EndOfStream), Some(at(210)));
    assert!(!pair.is_closed());
    assert!(subflow_fins(&pair, Side::A).is_empty() && subflow_fins(&pair, Side::B).is_empty());
    assert!(pair.log.iter().any(|p| p.from == Side::B && p.path == 1 && p.data_n.is_some()));
    pair.close(Side::B);
    pair.run();
    assert!(pair.is_closed());
    assert_eq!(pair[Side::A].when(Event::EndOfStream), Some(at(2010)));
}

/// Three paths: an orderly close sends a FIN on each subflow, from each side, once everything is acknowledged at data level.
#[test]
fn an_orderly_close_closes_every_subflow() {
    let mut pair = joined(mptcp(), mptcp(), &[10, 15, 30], 300_000);
    pair.write(Side::B, 200_000);
    pair.close(Side::A);
    pair.close(Side::B);
    pair.run();
    assert!(pair.is_closed());
    assert_eq!((pair[Side::A].read, pair[Side::B].read), (200_000, 300_000));
    for side in [Side::A, Side::B] {
        let closed = pair[side].when(Event::Closed).unwrap();
        let mut fins = subflow_fins(&pair, side);
        assert!(fins.iter().all(|f| at(f.0) >= closed));
        fins.sort_by_key(|f| f.1);
        assert_eq!(fins.iter().map(|f| f.1).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(pair[side].count(|e| matches!(e, Event::SubflowEnded(_, EndReason::Finished))), 3);
        assert!(pair[side].conn().subflows().iter().all(|s| s.state() == State::Closed));
        assert_eq!(pair[side].conn().poll_timeout(), None);
    }
}

/// Path 1 dies before the close: the connection closes at once over path 0; only the subflow on path 1 takes its time.
#[test]
fn a_dead_subflow_does_not_delay_the_close() {
    let mut pair = pair();
    pair.filter(|p| if p.path == 1 { Fate::Drop } else { Fate::Pass });
    pair.write(Side::A, 10_000);
    pair.close(Side::A);
    pair.close(Side::B);
    pair.run_until(at(1000));
    assert!(pair.is_closed());
    assert_eq!(pair[Side::B].read, 11_000);
}

// ---- subflows that end ------------------------------------------------------------------------------------------------

fn fin(s: &Script, flow: usize, seq: u32, ack: u32) -> Segment {
    Segment { flags: Flags::FIN.with(Flags::ACK), ..s.dss(flow, seq, ack, None, None) }
}

/// RFC 8684 3.3.3: a FIN closes its subflow only. The engine closes its side of it, too, once its own data there are
/// acknowledged, and goes on with the other.
#[test]
fn a_fin_closes_its_subflow_only() {
    let mut s = Script::server(mptcp());
    assert_eq!(s.join(), 1);
    s.give(0, s.data(0, 1, 0, 1000));
    let out = s.give(1, fin(&s, 1, 1, 1));
    assert_eq!((out.len(), out[0].subflow), (1, 1));
    assert!(out[0].segment.flags.has(Flags::FIN));
    assert_eq!((s.subflow_ack(&out[0]), s.data_ack(&out[0])), (2, Some(1000)));
    assert_eq!(s.c.subflows()[1].state(), State::LastAck);
    assert_eq!(s.count(|e| *e == Event::EndOfStream), 0);
    s.give(1, s.dss(1, 2, 2, None, None));
    assert_eq!(s.events.last(), Some(&Event::SubflowEnded(1, EndReason::Finished)));
    // Data go on in both directions on the subflow that is left.
    let out = s.give(0, s.data(0, 1001, 1000, 1000));
    assert_eq!(s.data_ack(&out[0]), Some(2000));
    s.c.write(3000);
    let out = s.poll();
    assert!(out.len() == 3 && out.iter().all(|t| t.subflow == 0));
    assert_eq!(s.count(|e| matches!(e, Event::Closed | Event::Aborted(_) | Event::EndOfStream)), 0);
}

/// A FIN after data that have not arrived counts when they have.
#[test]
fn a_fin_waits_for_the_data_before_it_on_its_subflow() {
    let mut s = Script::server(mptcp());
    assert_eq!(s.join(), 1);
    s.give(1, fin(&s, 1, 1001, 1));
    assert_eq!(s.c.subflows()[1].state(), State::Established);
    let out = s.give(1, s.data(1, 1, 0, 1000));
    assert!(out.iter().any(|t| t.segment.flags.has(Flags::FIN) && s.subflow_ack(t) == 1002));
    assert_eq!(s.read(), 1000);
}

/// RFC 8684 3.3.3: a FIN says nothing of our direction. 20,000 octets, ten segments of which are out (t = 0). The peer acknowledges
/// them with its FIN on the only subflow: the other ten go out on it, and our FIN only after the DATA_FIN is acknowledged.
#[test]
fn a_fin_on_the_last_subflow_leaves_our_data_their_way() {
    let mut s = Script::server(mptcp());
    s.c.write(20_000);
    assert_eq!(s.poll().len(), 10);
    let with_ack = Segment { flags: Flags::FIN.with(Flags::ACK), ..s.dss(0, 1, 10_001, Some(10_000), None) };
    let out = s.give(0, with_ack);
    let sent: u32 = out.iter().map(|t| t.segment.payload.len).sum();
    assert_eq!((sent, s.c.subflows()[0].state()), (10_000, State::CloseWait));
    assert!(s.give(0, s.dss(0, 2, 20_001, Some(20_000), None)).is_empty());
    s.c.shutdown_write();
    let out = s.poll();
    assert!(out.len() == 1 && out[0].segment.dss().unwrap().data_fin && !out[0].segment.flags.has(Flags::FIN));
    let out = s.give(0, s.dss(0, 2, 20_001, Some(20_001), None));
    assert!(out.len() == 1 && out[0].segment.flags.has(Flags::FIN));
    s.give(0, s.dss(0, 2, 20_002, Some(20_001), None));
    assert_eq!(
        (s.c.outbound().unacknowledged(), s.events.last()),
        (0, Some(&Event::SubflowEnded(0, EndReason::Finished)))
    );
}

/// The same before anything is written: 500 octets follow an hour later, on the subflow the peer has closed.
#[test]
fn what_is_written_after_the_fin_on_the_last_subflow_still_leaves_by_it() {
    let mut s = Script::server(mptcp());
    let out = s.give(0, fin(&s, 0, 1, 1));
    assert!(out.len() == 1 && !out[0].segment.flags.has(Flags::FIN));
    assert!(s.wait(ms(3_600_000)).is_empty());
    s.c.write(500);
    s.c.shutdown_write();
    let out = s.poll();
    // The DATA_FIN does not ride on the first octets.
    assert_eq!(out.iter().map(|t| t.segment.payload.len).collect::<Vec<_>>(), [500, 0]);
    let out = s.give(0, s.dss(0, 2, 501, Some(501), None));
    assert!(out.len() == 1 && out[0].segment.flags.has(Flags::FIN));
    assert_eq!(s.count(|e| matches!(e, Event::Aborted(_))), 0);
}

/// The peer's window of 65,535 octets is full and closed, 500 octets wait behind it, and the peer closes the only subflow: probes go
/// on (RFC 9293 3.8.6.1), and when the window opens 10 s later the rest leaves.
#[test]
fn data_behind_a_closed_window_survive_the_fin_of_the_last_subflow() {
    let mut s = Script::server(mptcp());
    s.c.write(65_535 + 500);
    let mut sent = s.poll().iter().map(|t| t.segment.payload.len).sum::<u32>();
    while sent < 65_535 {
        // Acknowledged, the right edge stays.
        let ack = Segment { window: (65_535 - sent) as u16, ..s.dss(0, 1, 1 + sent, Some(sent.into()), None) };
        let more = s.give(0, ack).iter().map(|t| t.segment.payload.len).sum::<u32>();
        assert!(more > 0 || !s.wait(ms(1000)).is_empty());
        sent = 65_535 + 500 - s.c.outbound().unsent() as u32;
    }
    let full = Segment { window: 0, ..s.dss(0, 1, 1 + sent, Some(sent.into()), None) };
    assert!(s.give(0, full).is_empty());
    let closing = Segment { window: 0, flags: Flags::FIN.with(Flags::ACK), ..full };
    let out = s.give(0, closing);
    assert!(out.iter().all(|t| !t.segment.flags.has(Flags::FIN)));
    assert!(s.wait(ms(10_000)).iter().all(|(_, t)| t.segment.payload.len == 1));
    let probed = s.c.outbound().unsent() == 499;
    assert!(probed, "a probe takes an octet: {} unsent", s.c.outbound().unsent());
    let open = Segment { window: 1000, ..s.dss(0, 2, 2 + sent, Some(u64::from(sent) + 1), None) };
    let out = s.give(0, open);
    assert_eq!((out.len(), out[0].segment.payload.len, s.c.outbound().unsent()), (1, 499, 0));
    assert_eq!(s.count(|e| matches!(e, Event::Aborted(_))), 0);
}

/// Two subflows, the peer closes one while the other has timed out: what may be the only way that works is kept until the other
/// shows a sign of life.
#[test]
fn a_fin_is_not_followed_while_the_other_subflow_is_silent() {
    let mut s = Script::server(mptcp());
    assert_eq!(s.join(), 1);
    s.c.write(20_000);
    let on_1 = s.poll().iter().filter(|t| t.subflow == 1).count();
    assert_eq!(on_1, 10);
    s.give(0, s.dss(0, 1, 10_001, None, None));
    assert!(s.wait(ms(1100)).iter().any(|(_, t)| t.subflow == 1 && t.kind == SendKind::Timeout));
    let una = s.give(0, fin(&s, 0, 1, 20_001));
    assert!(una.iter().all(|t| !t.segment.flags.has(Flags::FIN)));
    assert_eq!(s.c.subflows()[0].state(), State::CloseWait);
    let out = s.give(1, s.dss(1, 1, 10_001, Some(20_000), None));
    assert!(out.iter().any(|t| t.subflow == 0 && t.segment.flags.has(Flags::FIN)));
}

/// The peer closes every subflow without a DATA_FIN, and our stream is over. RFC 8684 3.3.3: the connection is closed only after a
/// timeout, so that a new subflow may still be opened (break before make).
#[test]
fn a_connection_outlives_its_subflows_for_a_while() {
    let mut s = Script::server(mptcp());
    s.c.shutdown_write();
    assert_eq!(s.poll().len(), 1);
    let out = s.give(0, Segment { flags: Flags::FIN.with(Flags::ACK), ..s.dss(0, 1, 1, Some(1), None) });
    assert!(out.len() == 1 && out[0].segment.flags.has(Flags::FIN));
    s.give(0, s.dss(0, 2, 2, None, None));
    assert_eq!(s.events.last(), Some(&Event::SubflowEnded(0, EndReason::Finished)));
    assert!(s.wait(ms(59_999)).is_empty());
    assert_eq!(s.count(|e| matches!(e, Event::Closed | Event::Aborted(_) | Event::EndOfStream)), 0);
    s.wait(ms(1));
    assert_eq!(s.events.last(), Some(&Event::Aborted(EndReason::TimedOut)));
    assert_eq!(s.c.poll_timeout(), None);
}

/// The same with a join within that time, by which the peer's data come.
#[test]
fn a_connection_without_subflows_can_be_joined() {
    let mut s = Script::server(mptcp());
    s.c.shutdown_write();
    s.poll();
    s.give(0, Segment { flags: Flags::FIN.with(Flags::ACK), ..s.dss(0, 1, 1, Some(1), None) });
    s.give(0, s.dss(0, 2, 2, None, None));
    assert!(s.wait(ms(30_000)).is_empty());
    let flow = s.join();
    s.wait(ms(120_000));
    assert_eq!(s.count(|e| matches!(e, Event::Aborted(_))), 0);
    s.give(flow, s.data(flow, 1, 0, 1000));
    assert_eq!(s.read(), 1000);
}

/// Break before make: the peer closes its only subflow (0 s), joins by another (30 s): then ours follows the peer's FIN, and what is
/// written goes out on the new one.
#[test]
fn a_half_closed_subflow_follows_its_peer_once_another_has_joined() {
    let mut s = Script::server(mptcp());
    s.give(0, fin(&s, 0, 1, 1));
    assert!(s.wait(ms(30_000)).is_empty());
    let (flow, nonce, peer_nonce) = s.join_half();
    let out = s.give(flow, s.join_ack(flow, nonce, peer_nonce));
    assert!(out.iter().any(|t| t.subflow == 0 && t.segment.flags.has(Flags::FIN)));
    s.c.write(1000);
    let out = s.poll();
    assert_eq!((out.len(), out[0].subflow, out[0].segment.payload.len), (1, flow, 1000));
    s.give(0, s.dss(0, 2, 2, None, None));
    s.give(flow, s.dss(flow, 1, 1001, Some(1000), None));
    s.wait(ms(120_000));
    assert_eq!((s.c.outbound().unacknowledged(), s.count(|e| matches!(e, Event::Aborted(_)))), (0, 0));
}

/// A reset of one subflow ends that one; what was on its way on it goes out on the other at once.
#[test]
fn a_reset_ends_its_subflow_only() {
    let mut s = Script::client(mptcp());
    let flow = s.open_fully();
    s.c.write(20_000);
    let out = s.poll();
    let lost: Vec<u64> = out.iter().filter(|t| t.subflow == 0).map(|t| t.segment.payload.offset).collect();
    assert_eq!((out.len(), lost.len()), (20, 10));
    // Room on the second subflow, then the reset of the first.
    s.give(flow, s.dss(flow, 1, 10_001, None, None));
    let out = s.give(0, Segment { flags: Flags::RST, ..s.ack(0, 1, 1, Mptcp::None) });
    let again: Vec<u64> = out.iter().filter(|t| t.subflow == flow).map(|t| t.segment.payload.offset).collect();
    assert_eq!(again, lost);
    assert_eq!(s.count(|e| *e == Event::SubflowEnded(0, EndReason::Reset)), 1);
    assert_eq!(s.count(|e| matches!(e, Event::Aborted(_))), 0);
    s.give(flow, s.dss(flow, 1, 20_001, Some(20_000), None));
    assert_eq!(s.c.outbound().unacknowledged(), 0);
}

/// Not on one whose SYN has not been answered, also by a scheduler that assigns ahead of the windows.
#[test]
fn what_a_subflow_leaves_behind_waits_for_one_that_is_established() {
    let mut s = Script::client(mptcp().scheduler("otias".parse().unwrap()));
    let flow = s.open_fully();
    let (half, _) = s.open();
    s.c.write(20_000);
    assert_eq!(s.poll().len(), 20);
    s.give(flow, s.dss(flow, 1, 10_001, None, None));
    let out = s.give(0, Segment { flags: Flags::RST, ..s.ack(0, 1, 1, Mptcp::None) });
    let on = |id| out.iter().filter(|t| t.subflow == id && t.kind == SendKind::Reinjection).count();
    assert_eq!((on(flow), on(half)), (10, 0));
}

/// RFC 8684 3.7: a RST with MP_FAIL says that data were discarded. What has no DATA_ACK leaves by the other subflow, what had been acknowledged there
/// included; not what it has in flight itself.
#[test]
fn what_was_discarded_with_a_subflow_leaves_by_the_other_once() {
    let mut s = Script::client(mptcp());
    let flow = s.open_fully();
    s.c.write(20_000);
    let lost: Vec<u64> = s.poll().iter().filter(|t| t.subflow == 0).map(|t| t.segment.payload.offset).collect();
    s.give(flow, s.dss(flow, 1, 5_001, None, None));
    let mut reset = Segment { flags: Flags::RST, ..s.ack(0, 1, 1, Mptcp::None) };
    reset.options.signal = Signal::Fail { dsn: s.engine_dsn(0) };
    let mut out = s.give(0, reset);
    for acked in [10_001, 15_001, 20_001] {
        out.extend(s.give(flow, s.dss(flow, 1, acked, None, None)));
    }
    let again: Vec<u64> = out.iter().filter(|t| t.segment.payload.len > 0).map(|t| t.segment.payload.offset).collect();
    assert_eq!((lost, again), ((0..10).map(|n| 1000 * n).collect(), (0..15).map(|n| 1000 * n).collect()));
}

/// RFC 8684 3.5: a RST is about its subflow. When every subflow is reset the connection waits for another one, as long as
/// TIME-WAIT lasts (30 s here), and ends then.
/// RFC 8684 3.7.
#[test]
fn resets_of_all_subflows_leave_the_connection_waiting() {
    let mut s = Script::server(mptcp().time_wait(ms(30_000)));
    assert_eq!((s.join(), s.join()), (1, 2));
    for flow in [1, 0, 2] {
        assert_eq!(s.count(|e| matches!(e, Event::Aborted(_))), 0);
        let reset = Segment { flags: Flags::RST, ..s.ack(flow, 1, 1, Mptcp::None) };
        assert!(s.give(flow, reset).is_empty());
        assert_eq!(s.count(|e| *e == Event::SubflowEnded(flow, EndReason::Reset)), 1);
    }
    assert_eq!(s.c.poll_timeout(), Some(at(30_000)));
    s.c.write(1000);
    assert!(s.wait(ms(29_999)).is_empty());
    assert_eq!(s.count(|e| matches!(e, Event::Aborted(_))), 0);
    assert!(s.wait(ms(1)).is_empty());
    assert_eq!(s.events.last(), Some(&Event::Aborted(EndReason::TimedOut)));
    assert_eq!(s.c.poll_timeout(), None);
}

/// Not where it may not wait: before the peer has shown that it has the keys (3.1), and in plain TCP (RFC 9293 3.10.7.4).
#[test]
fn a_reset_ends_a_connection_that_cannot_be_joined() {
    for plain in [false, true] {
        let mut s = Script::opening(mptcp());
        s.give(0, s.syn_ack(Mptcp::CapableSynAck { no_join: false, checksum: false, key: PEER_KEY }));
        if plain {
            s.c.write(1000);
            s.poll();
            s.give(0, s.ack(0, 1, 1001, Mptcp::None));
            assert!(!s.c.is_multipath());
        }
        s.give(0, Segment { flags: Flags::RST, ..s.ack(0, 1, 1, Mptcp::None) });
        assert_eq!(s.events.last(), Some(&Event::Aborted(EndReason::Reset)));
    }
}

/// A new subflow within that time carries what was written meanwhile.
#[test]
fn a_connection_without_subflows_goes_on_with_a_new_one() {
    let mut s = Script::server(mptcp().time_wait(ms(30_000)));
    s.give(0, Segment { flags: Flags::RST, ..s.ack(0, 1, 1, Mptcp::None) });
    s.c.write(1000);
    assert!(s.wait(ms(20_000)).is_empty());
    let (flow, nonce, peer_nonce) = s.join_half();
    let out = s.give(flow, s.join_ack(flow, nonce, peer_nonce));
    assert_eq!(out.iter().map(|t| (t.subflow, t.segment.payload.len)).max(), Some((flow, 1000)));
    s.give(flow, s.dss(flow, 1, 1001, Some(1000), None));
    assert_eq!(s.c.poll_timeout(), None);
}

/// All subflows are reset while our DATA_FIN waits for its acknowledgement: no timer of its own is left.
#[test]
fn an_abort_while_closing_leaves_no_timer() {
    let mut s = Script::server(mptcp());
    assert_eq!(s.join(), 1);
    s.c.shutdown_write();
    assert_eq!(s.poll().len(), 1);
    s.give(0, Segment { flags: Flags::RST, ..s.ack(0, 1, 1, Mptcp::None) });
    s.give(1, Segment { flags: Flags::RST, ..s.ack(1, 1, 1, Mptcp::None) });
    // But that of a connection without subflows.
    s.wait(ms(60_000));
    assert_eq!(s.events.last(), Some(&Event::Aborted(EndReason::TimedOut)));
    assert_eq!(s.c.poll_timeout(), None);
}

/// Our own abort: a RST on every subflow, and nothing else.
#[test]
fn an_abort_resets_every_subflow() {
    let mut pair = pair();
    pair.write(Side::A, 5000);
    pair.run_until(at(205));
    pair.with(Side::A, |c| c.abort());
    pair.run();
    let resets: Vec<_> = pair.log.iter().filter(|p| p.at >= at(205) && p.from == Side::A).collect();
    assert_eq!(resets.iter().map(|p| (p.path, p.has(Flags::RST))).collect::<Vec<_>>(), [(0, true), (1, true)]);
    assert_eq!(pair[Side::B].events.last().map(|e| e.1), Some(Event::Aborted(EndReason::FastClosed)));
    assert_eq!(pair[Side::B].when(Event::Aborted(EndReason::FastClosed)), Some(at(215)));
    assert_eq!(pair[Side::A].conn().poll_timeout(), None);
}

/// The client's host is gone when the server, whose data are all acknowledged, closes: the DATA_FIN is repeated, in the end
/// the server gives up (RFC 9293 3.8.3) after more than the 100 s that RFC 9293 asks for at least.
#[test]
fn a_close_to_a_peer_that_is_gone_is_given_up() {
    let mut pair = pair();
    pair.filter(|p| if p.from == Side::A { Fate::Drop } else { Fate::Pass });
    pair.close(Side::B);
    pair.run();
    let (end, last) = *pair[Side::B].events.last().unwrap();
    assert_eq!(last, Event::Aborted(EndReason::TimedOut));
    assert!(end > at(100_000) && end < at(3_600_000), "{end}");
    assert_eq!(pair[Side::B].count(|e| matches!(e, Event::SubflowEnded(_, EndReason::TimedOut))), 2);
    // A dead path that comes back within minutes is not given up.
    let mut pair = self::pair();
    pair.filter(|p| if p.at < at(300_000) { Fate::Drop } else { Fate::Pass });
    pair.close(Side::A);
    pair.close(Side::B);
    pair.run();
    assert!(pair.is_closed());
}

/// When the DATA_FINs of a closing client leave whose peer is silent, in milliseconds; and how the connection ends.
fn lonely_data_fins(config: Config) -> (Vec<u64>, Option<Event>) {
    let mut s = Script::client(config);
    s.c.close(Linger::Deliver);
    let mut times: Vec<_> =
        s.poll().iter().filter(|t| t.segment.dss().is_some_and(|d| d.data_fin)).map(|_| 0).collect();
    let later = s.wait(Duration::from_secs(3600));
    times.extend(
        later.iter().filter(|(_, t)| t.segment.dss().is_some_and(|d| d.data_fin)).map(|(at, _)| at.0 / 1_000_000),
    );
    (times, s.events.pop())
}

/// RFC 8684 3.3.3 leaves open when a DATA_FIN is repeated. As Linux does (`mptcp_set_datafin_timeout`): after the least timeout, twice, then after twice
/// the time before, up to the largest one; four times as often as a segment before the peer counts as gone.
#[test]
fn a_data_fin_is_repeated_as_linux_does_and_given_up() {
    let (times, end) = lonely_data_fins(
        mptcp()
            .deviations(Deviations::NONE.and("data_fin_after_min_rto"))
            .max_retransmissions(2)
            .min_rto(Duration::from_millis(200))
            .max_rto(Duration::from_millis(1600)),
    );
    assert_eq!(times, [0, 200, 400, 800, 1600, 3200, 4800, 6400, 8000]);
    assert_eq!(end, Some(Event::Aborted(EndReason::TimedOut)));
    assert_eq!(lonely_data_fins(mptcp().max_retransmissions(2)).0.len(), 9);
}

/// A DATA_FIN acknowledges what has come: no acknowledgement leaves before it.
#[test]
fn a_data_fin_brings_the_acknowledgement_that_is_due() {
    let mut s = Script::client(mptcp());
    for n in 0..2_u32 {
        let seg = s.data(0, 1 + 1000 * n, 1000 * u64::from(n), 1000);
        s.c.handle_segment(s.now, 0, &seg);
    }
    s.c.shutdown_write();
    let out = s.poll();
    let seen: Vec<_> = out.iter().map(|t| (s.data_ack(t), t.segment.dss().is_some_and(|d| d.data_fin))).collect();
    assert_eq!(seen, [(Some(2000), true)]);
}

/// Linux acknowledges on every subflow as its DATA_FIN leaves (`__mptcp_wr_shutdown`): on those that work, not on one whose join is not answered yet.
#[test]
fn with_the_data_fin_every_subflow_that_works_acknowledges() {
    let mut s = Script::client(mptcp().deviations(Deviations::NONE.and("data_fin_on_all")));
    s.open_fully();
    let (third, nonce) = s.open();
    let out = s.give(third, s.join_answer(third, nonce));
    assert_eq!(out.len(), 1, "its third ACK");
    s.c.shutdown_write();
    let mut flows: Vec<_> = s.poll().iter().map(|t| t.subflow).collect();
    flows.sort_unstable();
    flows.dedup();
    assert_eq!(flows, [0, 1]);
}

/// RFC 8684 3.3.3: a DATA_FIN ends the stream. Octets mapped behind it are ignored, whether they
/// arrive before or after the missing ones. Of a segment across the end only the first part counts.
#[test]
fn octets_behind_a_data_fin_are_ignored() {
    for late in [false, true] {
        let mut s = Script::server(mptcp());
        s.join();
        s.give(1, s.data_fin(1, 1, 1000, 0));
        let behind = |s: &mut Script| {
            s.give(1, s.data(1, 1, 1000, 500));
            s.give(1, s.data(1, 1, 1500, 500));
        };
        if !late {
            behind(&mut s);
        }
        s.give(0, s.data(0, 1, 0, 600));
        s.give(0, s.data(0, 601, 600, 700));
        behind(&mut s);
        assert_eq!((s.read(), s.c.inbound().held()), (1000, (0, 0)));
        assert_eq!(s.count(|e| *e == Event::EndOfStream), 1);
        behind(&mut s);
        assert_eq!((s.read(), s.c.inbound().held()), (0, (0, 0)));
    }
}

/// A DATA_FIN that lies before octets that have arrived on another subflow is ignored. The correct
/// DATA_FIN still ends the stream.
#[test]
fn a_data_fin_before_octets_that_have_arrived_is_ignored() {
    let mut s = Script::server(mptcp());
    s.join();
    s.give(1, s.data(1, 1, 1000, 500));
    s.give(0, s.data_fin(0, 1, 700, 0));
    s.give(0, s.data(0, 1, 0, 1000));
    assert_eq!((s.read(), s.count(|e| *e == Event::EndOfStream)), (1500, 0));
    s.give(0, s.data_fin(0, 1001, 1500, 0));
    assert_eq!(s.count(|e| *e == Event::EndOfStream), 1);
}
