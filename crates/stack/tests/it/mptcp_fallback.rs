//! Options that middleboxes take (RFC 8684 3.7, 3.1, 3.2): plain TCP on the first subflow, a reset on a further one; and data
//! without a DATA_ACK (3.3.6).

use anabranch_stack::Config;
use anabranch_stack::event::{EndReason, Event, FallbackCause, SendKind};
use anabranch_stack::segment::{Dss, Flags, Mapping, Mptcp, Payload, ResetReason, Segment, Signal, TcpRst};

use crate::mptcp_bench::{Script, joined, mptcp};
use crate::pair::{Fate, Packet, Pair, Side, at, ms};

const MIDDLEBOX: Option<TcpRst> = Some(TcpRst { transient: false, reason: ResetReason::MIDDLEBOX });

fn small() -> Config {
    mptcp().receive_buffer(Some(50_000))
}

fn stripped(p: &Packet) -> Fate {
    let mut seg = *p.segment();
    seg.options.mptcp = Mptcp::None;
    seg.options.signal = Signal::None;
    seg.options.tcp_rst = None;
    Fate::As(seg)
}

fn fallback(pair: &Pair, side: Side) -> Option<FallbackCause> {
    let causes = pair[side].events.iter().filter_map(|e| match e.1 {
        Event::Fallback { cause, .. } => Some(cause),
        _ => None,
    });
    let causes: Vec<_> = causes.collect();
    assert!(causes.len() <= 1, "{causes:?}");
    causes.first().copied()
}

/// Where options are lost on the first subflow, and what each side makes of it. Whatever it is and whoever sends: every octet
/// arrives over plain TCP, and both sides close.
#[test]
fn options_lost_at_the_start_make_plain_tcp() {
    use FallbackCause::{InfiniteMapping, Options, Syn, SynAck, ThirdAck};
    type Is = fn(&Packet) -> bool;
    let cases: [(&str, Is, [Option<FallbackCause>; 2]); 6] = [
        ("everything", |_| true, [Some(SynAck), Some(Syn)]),
        ("from the SYN", |p| p.has(Flags::SYN) && p.from == Side::A, [Some(SynAck), Some(Syn)]),
        ("from the SYN/ACK", |p| p.has(Flags::SYN) && p.from == Side::B, [Some(SynAck), Some(ThirdAck)]),
        ("from all but SYNs, up", |p| !p.has(Flags::SYN) && p.from == Side::A, [Some(Options), Some(ThirdAck)]),
        ("from all but SYNs", |p| !p.has(Flags::SYN), [Some(Options), Some(ThirdAck)]),
        (
            "from all but SYNs, down",
            |p| !p.has(Flags::SYN) && p.from == Side::B,
            [Some(Options), Some(InfiniteMapping)],
        ),
    ];
    for (name, is, causes) in cases {
        for (up, down) in [(100_000, 0), (0, 100_000), (100_000, 100_000)] {
            let mut pair = Pair::seeded(small(), small(), &[ms(10)], 1);
            pair.filter(move |p| if is(p) { stripped(p) } else { Fate::Pass });
            pair.write(Side::A, up);
            pair.write(Side::B, down);
            pair.run_until(at(1000));
            pair.close(Side::A);
            pair.close(Side::B);
            pair.run();
            let what = format!("{name}, {up} up, {down} down");
            assert_eq!((pair[Side::A].read, pair[Side::B].read), (down, up), "{what}");
            assert!(pair.is_closed(), "{what}");
            let [a, b] = [Side::A, Side::B].map(|side| fallback(&pair, side));
            assert_eq!(a, causes[0], "{what}");
            // A server that sends first may see its own data acknowledged without an option first.
            assert!(b == causes[1] || (down > 0 && b == Some(Options)), "{what}: {b:?}");
        }
    }
}

/// The third ACK gets through, the data do not keep their options: the server sees data without a mapping before any with one and
/// is plain TCP (3.1); its acknowledgements tell the client (3.7). The client says so with an infinite mapping.
#[test]
fn options_lost_from_data_only_make_plain_tcp() {
    let mut pair = Pair::seeded(small(), small(), &[ms(10)], 1);
    pair.filter(|p| if p.data_n.is_some() && p.from == Side::A { stripped(p) } else { Fate::Pass });
    pair.run_until(at(50));
    pair.write(Side::A, 100_000);
    pair.close(Side::A);
    pair.close(Side::B);
    pair.run();
    assert_eq!(pair[Side::B].when(Event::Fallback { subflow: 0, cause: FallbackCause::Options }), Some(at(60)));
    assert_eq!(pair[Side::A].when(Event::Fallback { subflow: 0, cause: FallbackCause::Options }), Some(at(70)));
    assert_eq!(pair[Side::B].read, 100_000);
    assert!(pair.is_closed());
    let infinite =
        |p: &&Packet| matches!(p.segment().options.mptcp, Mptcp::Dss(Dss { mapping: Some(m), .. }) if m.len == 0);
    assert_eq!(pair.log.iter().find(infinite).map(|p| p.at), Some(at(70)));
}

/// Options are lost when the connection has long been running: on its only subflow that is its end (3.7: data without a mapping
/// cannot be delivered), told clearly on both sides. The next octet comes four times without a mapping; then there is a RST with
/// its reason. The client waits for another subflow as long as TIME-WAIT lasts.
#[test]
fn options_lost_later_on_the_only_subflow_end_the_connection() {
    let mut pair = Pair::seeded(small(), small(), &[ms(10)], 1);
    pair.filter(|p| if p.at >= at(200) && !p.has(Flags::RST) { stripped(p) } else { Fate::Pass });
    pair.write(Side::A, 1 << 40);
    pair.run();
    assert_eq!(pair[Side::B].events.last().map(|e| e.1), Some(Event::Aborted(EndReason::Middlebox)));
    assert_eq!(pair[Side::A].events.last().map(|e| e.1), Some(Event::Aborted(EndReason::TimedOut)));
    let why = Event::ResetReason { subflow: 0, tcp_rst: MIDDLEBOX.unwrap() };
    assert_eq!(pair[Side::A].count(|e| *e == why), 1);
    let read = pair[Side::B].read;
    assert!(read > 0 && read % 1000 == 0);
}

/// The joined path takes options from all but SYNs and the third ACK: the server resets the subflow when the same octet has
/// come four times; what was on it goes by the other.
/// RFC 8684 3.3.1.
#[test]
fn a_further_subflow_without_mappings_is_reset() {
    let robin = small().scheduler("round-robin".parse().unwrap());
    let mut pair = joined(robin.clone(), robin, &[10, 10], 300_000);
    let strip = |p: &Packet| p.path == 1 && p.data_n.is_some();
    pair.filter(move |p| if strip(p) { stripped(p) } else { Fate::Pass });
    pair.close(Side::A);
    pair.close(Side::B);
    pair.run();
    assert_eq!(pair[Side::B].read, 300_000);
    assert!(pair.is_closed() && pair[Side::A].conn().is_multipath());
    let reset = pair.log.iter().find(|p| p.has(Flags::RST)).unwrap();
    assert_eq!((reset.from, reset.path, reset.segment().options.tcp_rst), (Side::B, 1, MIDDLEBOX));
    let copies = pair.log.iter().filter(|p| p.path == 1 && p.data_n.is_some() && p.transmit.transmissions > 1);
    assert_eq!(copies.count(), 3);
}

/// RFC 8684 3.3.1: a mapping has a receive window of data to arrive in. While mapped data arrive behind the octet that has none, it may
/// come any number of times; when nothing else comes any more, four.
#[test]
fn an_octet_without_a_mapping_is_waited_for_while_others_arrive() {
    let mut s = Script::server(mptcp());
    s.give(0, s.data(0, 1, 0, 100));
    let mut next = 201;
    for round in 0..8 {
        s.give(0, s.bare(0, 101, 100, 100));
        let copy = s.data(0, 201, 200, 100);
        let news = s.data(0, next, u64::from(next) - 1, 100);
        s.give(0, if round < 5 { news } else { copy });
        next += 100;
        assert!(!s.events.contains(&Event::Aborted(EndReason::Middlebox)), "{round}");
    }
    s.give(0, s.bare(0, 101, 100, 100));
    assert!(s.events.contains(&Event::Aborted(EndReason::Middlebox)));
}

/// RFC 8684 3.7: the first data are acknowledged without a DATA_ACK while a join is under way: the client falls back and gives the join up. When
/// the join is complete, the other path has been shown to pass the options, and the first subflow is reset.
#[test]
fn a_join_under_way_does_not_keep_from_falling_back() {
    for complete in [false, true] {
        let mut s = Script::client(mptcp());
        s.c.write(2000);
        assert_eq!(s.poll().len(), 2);
        if complete {
            s.open_fully();
        } else {
            s.open();
        }
        let out = s.give(0, s.ack(0, 1, 1001, Mptcp::None));
        let fallback = Event::Fallback { subflow: 0, cause: FallbackCause::Options };
        assert_eq!((s.c.is_multipath(), s.events.contains(&fallback)), (complete, !complete));
        assert_eq!(s.events.contains(&Event::SubflowEnded(0, EndReason::Middlebox)), complete);
        assert!(out.iter().all(|t| complete || t.subflow == 0));
    }
}

/// Data on a joined subflow are acknowledged without a DATA_ACK: the sender resets it (3.7).
#[test]
fn a_further_subflow_without_data_acks_is_reset() {
    let mut s = Script::server(mptcp());
    let flow = s.join();
    s.c.write(20_000);
    let out = s.poll();
    let on_flow = out.iter().filter(|t| t.subflow == flow).count();
    assert!(on_flow > 0);
    let out = s.give(flow, s.ack(flow, 1, 1001, Mptcp::None));
    assert!(out[0].segment.flags.has(Flags::RST));
    assert_eq!((out[0].subflow, out[0].segment.options.tcp_rst), (flow, MIDDLEBOX));
    assert!(s.events.contains(&Event::SubflowEnded(flow, EndReason::Middlebox)));
    // The first subflow goes on as before; there the DATA_ACK has come.
    assert!(s.c.is_multipath());
}

/// An infinite mapping on one of two subflows: the other is reset, what comes without options is data, what leaves has none.
#[test]
fn an_infinite_mapping_ends_the_other_subflows() {
    let mut s = Script::server(mptcp());
    let flow = s.join();
    s.give(0, s.data(0, 1, 0, 1000));
    assert_eq!(s.read(), 1000);
    let m: Mapping = s.mapping(1000, 1001, 0);
    let mut seg = s.bare(0, 1001, 1000, 500);
    seg.options.mptcp = Mptcp::Dss(Dss { data_ack: None, mapping: Some(m), data_fin: false });
    let out = s.give(0, seg);
    let reset = out.iter().find(|t| t.subflow == flow).expect("a reset");
    assert!(reset.segment.flags.has(Flags::RST));
    assert_eq!(reset.segment.options.tcp_rst, MIDDLEBOX);
    let acks: Vec<_> = out.iter().filter(|t| t.subflow == 0).collect();
    assert!(acks.iter().all(|t| t.segment.options.mptcp == Mptcp::None));
    assert_eq!(s.read(), 500);
    s.give(0, s.bare(0, 1501, 1500, 300));
    assert_eq!(s.read(), 300);
    let cause = FallbackCause::InfiniteMapping;
    assert_eq!(s.count(|e| *e == Event::Fallback { subflow: 0, cause }), 1);
    // RFC 8684 3.7: never multipath again.
    assert_eq!((s.c.token(), s.c.open_subflow(1, 0, false)), (None, None));
    let fin = Segment { flags: Flags::FIN.with(Flags::ACK), ..s.ack(0, 1801, 1, Mptcp::None) };
    s.give(0, fin);
    assert_eq!(s.count(|e| *e == Event::EndOfStream), 1);
}

/// An infinite mapping that begins beyond what has come would leave a hole for ever.
#[test]
fn an_infinite_mapping_with_a_hole_before_it_is_refused() {
    let mut s = Script::server(mptcp());
    let m = s.mapping(5000, 1, 0);
    let mut seg = s.bare(0, 1, 5000, 500);
    seg.options.mptcp = Mptcp::Dss(Dss { data_ack: None, mapping: Some(m), data_fin: false });
    let out = s.give(0, seg);
    assert!(out[0].segment.flags.has(Flags::RST));
    assert_eq!(s.events.last(), Some(&Event::Aborted(EndReason::Middlebox)));
}

/// The peer acknowledges 8000 octets on the subflow and none of them at data level: after one timeout (200 ms) the first
/// segment goes out again as new octets of the subflow, then after two more, and four. A DATA_ACK for it shows that the rest is
/// lost, too: two segments go out at once, then four; the last DATA_ACK stops it.
#[test]
fn data_without_a_data_ack_go_out_again() {
    let mut s = Script::client(mptcp());
    s.c.write(8000);
    assert_eq!(s.poll().len(), 8);
    s.now = at(10);
    s.give(0, s.dss(0, 1, 8001, Some(0), None));
    let mut seq = 8001;
    let mut now = 10;
    for patience in [200, 400, 800] {
        let out = s.wait(ms(patience));
        now += patience;
        let sent: Vec<_> = out.iter().map(|(at, t)| (*at, s.seq(t), t.segment.payload.offset, t.kind)).collect();
        assert_eq!(sent, [(at(now), seq, 0, SendKind::Reinjection)]);
        seq += 1000;
        s.give(0, s.dss(0, 1, seq, Some(0), None));
    }
    let mut sent_after = |ack: u32, data: u64, patience: u64| {
        s.give(0, s.dss(0, 1, seq + ack, Some(data), None));
        s.wait(ms(patience)).iter().map(|(_, t)| t.segment.payload.offset).collect::<Vec<_>>()
    };
    assert_eq!(sent_after(0, 1000, 0), [1000, 2000]);
    assert_eq!(sent_after(2000, 3000, 0), [3000, 4000, 5000, 6000]);
    // Of no use: two timeouts, as this is the second try from here on, and one segment.
    assert_eq!(sent_after(6000, 3000, 399), []);
    assert_eq!(sent_after(6000, 3000, 1), [3000]);
    s.give(0, s.dss(0, 1, seq + 7000, Some(8000), None));
    assert_eq!(s.c.poll_timeout(), None);
}

/// The peer lacks the first and the sixth of eight segments: each gap is tried with one, the second one at once.
#[test]
fn each_gap_in_what_the_peer_has_is_tried_with_one_segment() {
    let mut s = Script::client(mptcp());
    s.c.write(8000);
    assert_eq!(s.poll().len(), 8);
    s.now = at(10);
    let mut sent_after = |ack: u32, data: u64, patience: u64| {
        s.give(0, s.dss(0, 1, ack, Some(data), None));
        s.wait(ms(patience)).iter().map(|(_, t)| t.segment.payload.offset).collect::<Vec<_>>()
    };
    assert_eq!(sent_after(8001, 0, 200), [0]);
    assert_eq!(sent_after(9001, 5000, 0), [5000]);
    assert_eq!(sent_after(10_001, 8000, 0), []);
    assert_eq!(s.c.poll_timeout(), None);
}

/// Subflow 0 acknowledges 1000 octets that the peer discards, and is reset with 1000 more under way. These go out again at once
/// on the other subflow, and after a timeout the first ones: what the dead subflow still lists keeps nobody waiting.
#[test]
fn what_a_dead_subflow_had_acknowledged_goes_out_again() {
    let mut s = Script::client(mptcp());
    s.c.write(2000);
    assert_eq!(s.poll().len(), 2);
    s.now = at(10);
    s.give(0, s.dss(0, 1, 1001, Some(0), None));
    let join = s.join();
    let out = s.give(0, Segment { flags: Flags::RST, ..s.ack(0, 1, 1, Mptcp::None) });
    assert_eq!(out.iter().map(|t| t.segment.payload.offset).collect::<Vec<_>>(), [1000]);
    s.give(join, s.dss(join, 1, 1001, Some(0), None));
    let out = s.wait(ms(2000));
    assert_eq!(out.first().map(|(_, t)| (t.segment.payload.offset, t.kind)), Some((0, SendKind::Reinjection)));
}

/// The same with checksums: what was acknowledged may have waited for the rest of its mapping, so it goes out again at once, too.
#[test]
fn with_checksums_all_that_a_reset_may_have_taken_goes_out_again_at_once() {
    let mut s = Script::client(mptcp().checksum(true));
    s.c.write(2000);
    assert_eq!(s.poll().len(), 2);
    s.now = at(10);
    s.give(0, s.dss(0, 1, 1001, Some(0), None));
    s.join();
    let out = s.give(0, Segment { flags: Flags::RST, ..s.ack(0, 1, 1, Mptcp::None) });
    assert_eq!(out.iter().map(|t| t.segment.payload.offset).collect::<Vec<_>>(), [0, 1000]);
}

/// 3.7: MP_FAIL comes on an acknowledgement, for the peer knew of one subflow only; ours knows of a join by then. The subflow is
/// reset, and all that has no DATA_ACK goes out again by the join, acknowledged on the first subflow or not.
#[test]
fn what_failed_goes_out_again_by_a_join_that_came_meanwhile() {
    let mut s = Script::client(mptcp());
    s.c.write(2000);
    assert_eq!(s.poll().len(), 2);
    s.now = at(10);
    s.give(0, s.dss(0, 1, 1001, Some(0), None));
    s.join();
    let mut fail = s.dss(0, 1, 2001, Some(0), None);
    fail.options.signal = Signal::Fail { dsn: s.engine_dsn(0) };
    let out = s.give(0, fail);
    let resets = out.iter().filter(|t| t.segment.flags.has(Flags::RST)).count();
    let again: Vec<_> = out.iter().filter(|t| t.kind == SendKind::Reinjection).collect();
    assert_eq!((resets, again.iter().map(|t| t.segment.payload.offset).collect::<Vec<_>>()), (1, vec![0, 1000]));
}

/// RFC 8684 3.3.6: a segment times out, is sent again and acknowledged on the subflow, but no DATA_ACK comes with that. While it was
/// stuck it waited for another subflow to take it; there is none, and it is not stuck any more: the data timer runs all the same.
#[test]
fn what_waited_for_another_subflow_goes_out_again_where_there_is_none() {
    let mut s = Script::client(mptcp());
    s.c.write(1000);
    assert_eq!(s.poll().len(), 1);
    let again = s.wait(ms(200));
    assert_eq!(again.iter().map(|(_, t)| t.kind).collect::<Vec<_>>(), [SendKind::Timeout]);
    s.now = at(210);
    s.give(0, s.dss(0, 1, 1001, Some(0), None));
    let out = s.wait(ms(1000));
    let sent: Vec<_> = out.iter().map(|(_, t)| (s.seq(t), t.segment.payload.offset, t.kind)).collect();
    assert_eq!(sent.first(), Some(&(1001, 0, SendKind::Reinjection)), "{sent:?}");
}

/// RFC 8684 3.7: "If, however, an ACK is received for data (not just for the SYN) without a DSS option containing a Data ACK, the sender
/// determines that the path is not MPTCP capable". A box was ahead of the peer, with a third ACK that covers the data already; the peer's
/// own acknowledgement is for data nevertheless. Nothing goes out again, to a peer that has it.
#[test]
fn an_acknowledgement_without_a_data_ack_counts_after_a_box_was_ahead_of_it() {
    let mut s = Script::server(mptcp());
    s.c.write(1000);
    assert_eq!(s.poll().len(), 1);
    s.now = at(10);
    let ahead = Segment { ack: s.ack(0, 1, 1001, Mptcp::None).ack, ..s.third_ack() };
    s.give(0, ahead);
    let fallbacks = |s: &Script| s.count(|e| matches!(e, Event::Fallback { cause: FallbackCause::Options, .. }));
    assert_eq!(fallbacks(&s), 0);
    s.give(0, s.ack(0, 1, 1001, Mptcp::None));
    assert_eq!((fallbacks(&s), s.wait(ms(60_000)).len()), (1, 0));
}

/// Only the third ACK covers the data, which a box has made of it, and nothing else comes. That is no DATA_ACK, and the peer may have had them
/// without a mapping: it would take a second copy for further octets (RFC 8684 3.7). Neither timer for data without a DATA_ACK sends one.
#[test]
fn what_was_acknowledged_without_a_data_ack_does_not_go_out_again() {
    for stale_after in [0, 1] {
        let mut s = Script::server(mptcp().stale_after(stale_after));
        s.c.write(1000);
        assert_eq!(s.poll().len(), 1);
        s.now = at(10);
        let ahead = Segment { ack: s.ack(0, 1, 1001, Mptcp::None).ack, ..s.third_ack() };
        s.give(0, ahead);
        assert_eq!(s.wait(ms(60_000)).len(), 0);
        assert_eq!(s.count(|e| matches!(e, Event::Fallback { cause: FallbackCause::Options, .. })), 1);
    }
}

/// What the client sends is stripped from 200 ms on, when its own data have long been acknowledged at data level; the server's first data
/// leave at 250 ms, more of them at 300 ms, or never. RFC 8684 3.7 has the server fall back, and tell the client by an infinite mapping
/// "in case the path drops options in one direction only". Until the client has it, its octets may have a second place on the subflow.
fn stripped_up_in_the_middle(more: u64, path: fn(&Packet) -> Fate) -> Pair {
    let mut pair = Pair::seeded(small(), small(), &[ms(10)], 1);
    pair.filter(move |p| if p.at >= at(200) && p.from == Side::A { stripped(p) } else { path(p) });
    pair.write(Side::A, 1_000_000);
    pair.close(Side::A);
    pair.run_until(at(250));
    assert!(pair[Side::B].read < 500_000, "it is under way");
    pair.write(Side::B, 1000);
    pair.run_until(at(300));
    pair.write(Side::B, more);
    pair.run_until(at(20_000));
    pair.close(Side::B);
    pair.run();
    for side in [Side::A, Side::B] {
        assert_eq!(pair[side].count(|e| matches!(e, Event::Arrived { intact: false, .. })), 0, "{side:?}");
    }
    pair
}

/// No data are left to carry the infinite mapping: nothing is delivered twice, and the subflow is broken (3.7: "no fallback signal can be
/// reliably sent").
#[test]
fn a_fallback_that_the_peer_has_not_heard_of_delivers_nothing_twice() {
    let pair = stripped_up_in_the_middle(0, |_| Fate::Pass);
    assert_eq!(fallback(&pair, Side::B), Some(FallbackCause::Options));
    assert_eq!(pair[Side::B].events.last().map(|e| e.1), Some(Event::Aborted(EndReason::Middlebox)));
    let why = Event::ResetReason { subflow: 0, tcp_rst: MIDDLEBOX.unwrap() };
    assert_eq!((pair[Side::A].count(|e| *e == why), pair[Side::A].read), (1, 1000));
}

/// More data carry it at once: both are plain TCP, and every octet arrives.
#[test]
fn a_fallback_in_one_direction_is_told_by_an_infinite_mapping() {
    let pair = stripped_up_in_the_middle(1000, |_| Fate::Pass);
    assert_eq!(fallback(&pair, Side::A), Some(FallbackCause::InfiniteMapping));
    assert_eq!((pair[Side::A].read, pair[Side::B].read), (2000, 1_000_000));
    assert!(pair.is_closed());
}

/// RFC 8684 3.7: the peer, too, has fallen back (pieces without options came before the first with one). Its infinite mapping says so, and where
/// its octets go on, be it at a place where it sends some once more. One that begins beyond what has come is no place to go on from, and
/// without any nothing is taken.
#[test]
fn a_fallback_is_known_to_a_peer_that_sends_an_infinite_mapping() {
    for (infinite, read) in [(None, 400), (Some(400), 900), (Some(300), 800), (Some(0), 500), (Some(1000), 400)] {
        let mut s = Script::server(mptcp());
        s.give(0, s.data(0, 1, 0, 400));
        s.c.write(1000);
        s.poll();
        s.now = at(10);
        s.give(0, s.ack(0, 401, 1001, Mptcp::None));
        assert_eq!(s.count(|e| matches!(e, Event::Fallback { cause: FallbackCause::Options, .. })), 1);
        let mapping = infinite.map(|data| s.mapping(data, 401, 0));
        let option =
            mapping.map_or(Mptcp::None, |m| Mptcp::Dss(Dss { data_ack: None, mapping: Some(m), data_fin: false }));
        let seg = Segment { payload: Payload::new(infinite.unwrap_or(400), 500), ..s.ack(0, 401, 1001, option) };
        s.give(0, seg);
        assert_eq!(s.c.inbound().received(), read, "{infinite:?}");
    }
}

/// 3.7: a DATA_ACK of our data beside an acknowledgement of them shows that options pass both ways, also if it comes with a signal. After that data
/// without a mapping end the subflow, not Multipath TCP.
#[test]
fn a_data_ack_beside_a_signal_confirms_the_path() {
    for confirmed in [false, true] {
        let mut s = Script::client(mptcp());
        s.c.write(500);
        s.poll();
        let mut ack = s.dss(0, 1, 501, confirmed.then_some(500), None);
        ack.options.signal = Signal::Prio { backup: false };
        s.give(0, ack);
        s.give(0, s.bare(0, 1, 0, 100));
        assert_eq!(s.c.is_multipath(), confirmed);
    }
}

/// 3.7: what shows that a further subflow takes options is a DATA_ACK beside an acknowledgement of data on it. 1000 octets have left on each of
/// two subflows, or on the first one alone; after `known`, 1000 more leave on the second. Whether the second outlives an acknowledgement of these
/// without a DATA_ACK.
fn outlives_a_bare_ack(both: bool, known: impl Fn(&mut Script, usize)) -> bool {
    let mut s = Script::client(mptcp().scheduler("round-robin".parse().unwrap()));
    let second = s.open_fully();
    let on = |out: Vec<anabranch_stack::Transmit>| out.iter().map(|t| t.subflow).collect::<Vec<_>>();
    s.c.write(if both { 2000 } else { 1000 });
    assert_eq!(on(s.poll()), if both { vec![0, second] } else { vec![0] });
    s.give(0, s.dss(0, 1, 1001, Some(1000), None));
    known(&mut s, second);
    s.c.write(if both { 2000 } else { 1000 });
    assert_eq!(on(s.poll()), if both { vec![0, second] } else { vec![second] });
    let (seq, ack) = (1 + s.c.inbound().received() as u32, if both { 2001 } else { 1001 });
    s.give(second, s.ack(second, seq, ack, Mptcp::None));
    !s.events.contains(&Event::SubflowEnded(second, EndReason::Middlebox))
}

/// RFC 8684 3.7, of segments that header prediction takes: on the second subflow data have come, or a DATA_ACK, but no acknowledgement of its own;
/// or one, of 1000 octets.
#[test]
fn a_further_subflow_is_confirmed_by_its_own_data_alone() {
    assert!(!outlives_a_bare_ack(false, |s, second| {
        let mapping = Mapping { short: true, ..s.mapping(0, 1, 1000) };
        // What is not predicted ends the flow of data, and the connection is quiet.
        s.give(0, s.signal(0, Signal::Prio { backup: false }));
        assert!(s.c.rests(s.now));
        let data = s.dss(second, 1, 1, Some(1000), Some(mapping));
        s.give(second, Segment { payload: Payload::new(0, 1000), ..data });
        assert_eq!(s.c.inbound().received(), 1000);
    }));
    assert!(!outlives_a_bare_ack(false, |s, second| _ = s.give(second, s.dss(second, 1, 1, Some(1000), None))));
    assert!(outlives_a_bare_ack(true, |s, second| _ = s.give(second, s.dss(second, 1, 1001, Some(2000), None))));
}
