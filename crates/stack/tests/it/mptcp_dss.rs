//! The data sequence signal (RFC 8684 3.3): mappings, data acknowledgements and data-level reassembly.

use std::collections::BTreeMap;

use anabranch_stack::Config;
use anabranch_stack::config::DsnOctets;
use anabranch_stack::event::{ArrivalKind, Event};
use anabranch_stack::mptcp::dss::Mappings;
use anabranch_stack::mptcp::keys;
use anabranch_stack::segment::{DataAck, Dss, Mapping, Mptcp, Payload, Segment};
use anabranch_stack::seq::Seq;

use crate::mptcp_bench::{Script, first_dsn, joined, key_of, keys_of_pair, mptcp};
use crate::pair::{Fate, Packet, Pair, Side, at, ms};
use anabranch_stack::testing::Rng;

/// The data a segment says it carries: (data sequence number, subflow sequence number, octets), the DATA_FIN not counted.
fn mapped(p: &Packet, first_dsn: u64) -> Option<(u64, u32, u32)> {
    match p.segment().options.mptcp {
        Mptcp::Dss(Dss { mapping: Some(m), data_fin, .. }) => {
            Some((m.dsn, m.ssn, u32::from(m.len) - u32::from(data_fin)))
        }
        Mptcp::CapableAck { data: Some((len, _)), .. } => Some((first_dsn, 1, u32::from(len))),
        _ => None,
    }
}

/// Whether every data segment of `from` maps its own octets to where the simulator's payload reference says they are, and
/// the mapping of a subflow sequence number is the same on each transmission; returns how many were retransmissions.
fn check_mappings(pair: &Pair, from: Side, first: u64) -> usize {
    let mut isn = BTreeMap::new();
    let mut known: BTreeMap<(usize, u32), (u64, u32)> = BTreeMap::new();
    let mut again = 0;
    for p in pair.log.iter().filter(|p| p.from == from) {
        let seg = p.segment();
        isn.entry(p.flow).or_insert(seg.seq);
        if seg.payload.len == 0 {
            continue;
        }
        let (dsn, ssn, len) = mapped(p, first).expect("data are mapped");
        assert_eq!((dsn, len), (first.wrapping_add(seg.payload.offset), seg.payload.len));
        assert_eq!(ssn, seg.seq.wrapping_sub(isn[&p.flow]));
        if let Some(before) = known.insert((p.flow, ssn), (dsn, len)) {
            again += 1;
            assert_eq!(before, (dsn, len), "RFC 8684 3.3.1: a mapping does not change");
        }
    }
    again
}

/// Two paths of 10 and 25 ms, every 20th segment lost in either direction: 2 MB up, 1 MB down.
/// RFC 8684 3.3.1.
#[test]
fn the_mapping_of_a_retransmission_is_unchanged() {
    let mut pair = joined(mptcp(), mptcp(), &[10, 25], 2_000_000);
    let mut rng = Rng::new(3);
    pair.filter(move |_| if rng.percent(5) { Fate::Drop } else { Fate::Pass });
    pair.write(Side::B, 1_000_000);
    pair.run_until(at(1000));
    pair.close(Side::A);
    pair.close(Side::B);
    pair.run_until(at(600_000));
    assert!(pair.is_closed());
    assert_eq!((pair[Side::A].read, pair[Side::B].read), (1_000_000, 2_000_000));
    let (a, b) = keys_of_pair(1);
    assert!(check_mappings(&pair, Side::A, first_dsn(a)) > 50);
    assert!(check_mappings(&pair, Side::B, first_dsn(b)) > 25);
}

/// A client whose first data sequence number is less than 2^31 below 2^64: the stream crosses 2^64 after 1.7 GB, with
/// subflow sequence numbers and 4-octet DATA_ACKs crossing 2^32.
/// RFC 8684 3.3.1: by default numbers have 64 bits.
#[test]
fn data_sequence_numbers_wrap_around_at_2_to_the_64th() {
    // Its key is the one of 10^9 whose digest ends highest.
    wrap(421_989_136, Side::A, 0xffff_ffff_98ed_1f06);
}

/// The same for a server's data.
#[test]
fn a_servers_data_sequence_numbers_wrap_around_at_2_to_the_64th() {
    wrap(899_206_797, Side::B, 0xffff_ffff_68ad_48ab);
}

fn wrap(seed: u64, from: Side, idsn: u64) {
    let key = if from == Side::A { keys_of_pair(seed).0 } else { keys_of_pair(seed).1 };
    assert_eq!(keys::initial_dsn(key), idsn);
    let config = mptcp().mss(65_000);
    let mut pair = Pair::seeded(config.clone(), config, &[ms(10), ms(10)], seed);
    pair.keep_log = false;
    let octets = idsn.wrapping_neg() + 50_000_000;
    pair.write(Side::A, 1000);
    pair.run_until(at(40));
    assert_eq!(pair.open(Side::A, 1, 1), Some(1));
    // A loss now and then, so that windows stay moderate and copies of data cross the boundary late.
    let mut n = 0;
    pair.filter(move |p| {
        n += u32::from(p.data_n.is_some());
        if p.data_n.is_some() && n % 997 == 0 { Fate::Drop } else { Fate::Pass }
    });
    let before = pair[from.other()].read;
    pair.write(from, octets);
    pair.close(Side::A);
    pair.close(Side::B);
    pair.limit = at(3_600_000);
    pair.run();
    assert!(pair.is_closed());
    assert_eq!(pair[from.other()].read, before + octets);
    assert!(pair[from.other()].count(|e| matches!(e, Event::Arrived { intact: false, .. })) == 0);
    for flow in pair[from].conn().subflows() {
        assert!(flow.srtt().is_some());
    }
}

/// A client whose first data sequence number is less than a megabyte below a multiple of 2^32: its 4-octet DATA_ACKs go from
/// 0xffff.... to 0x0000...., with a window of data in flight across the boundary. So do those of 4 octets, chosen or because of
/// `door`, whose options leave no room for more.
/// RFC 8684 3.3.1.
/// RFC 8684 3.3.2.
#[test]
fn four_octet_numbers_cross_a_2_to_the_32nd_boundary() {
    let near = |key: u64| u64::from((keys::initial_dsn(key) as u32).wrapping_neg()) < 1_000_000;
    let seed = (1..).find(|&seed| near(keys_of_pair(seed).0)).unwrap();
    let (four, eight) = (DsnOctets::Four, DsnOctets::Eight);
    for (judge, dsn_octets, short) in [("none", eight, false), ("none", four, true), ("door", eight, true)] {
        let config = mptcp().judge(judge.parse().unwrap()).dsn_octets(dsn_octets).timestamps(true);
        let mut pair = Pair::seeded(config.clone(), config, &[ms(10), ms(10)], seed);
        let mut rng = Rng::new(1);
        pair.filter(move |_| if rng.percent(2) { Fate::Drop } else { Fate::Pass });
        pair.write(Side::A, 3_000_000);
        pair.close(Side::A);
        pair.run_until(at(100));
        pair.open(Side::A, 1, 1);
        pair.close(Side::B);
        pair.run();
        assert!(pair.is_closed());
        assert_eq!(pair[Side::B].read, 3_000_000);
        let ack = |p: &Packet| match p.segment().dss()?.data_ack? {
            DataAck::Four(low) => Some((low, true)),
            DataAck::Eight(ack) => Some((ack as u32, false)),
        };
        // 3.3.2: as long as the number acknowledged. The first data come with the keys, which stand for 64 bits.
        let acks: Vec<(u32, bool)> = pair.log.iter().filter(|p| p.from == Side::B).filter_map(ack).collect();
        assert!(acks.iter().skip(10).all(|a| a.1 == short), "{judge} {dsn_octets:?}");
        assert_eq!(acks[0].1, judge == "door", "{judge} {dsn_octets:?}");
        assert!(acks.iter().any(|a| a.0 > 0xfff0_0000) && acks.iter().any(|a| a.0 < 0x0040_0000));
        let data = |p: &Packet| p.segment().dss()?.mapping.filter(|_| p.data_n.is_some());
        let mappings: Vec<Mapping> = pair.log.iter().filter(|p| p.from == Side::A).filter_map(data).collect();
        assert!(mappings.len() > 2900 && mappings.iter().all(|m| m.short == short), "{judge}");
        let low: Vec<u32> = mappings.iter().map(|m| m.dsn as u32).collect();
        assert!(low.iter().any(|&d| d > 0xfff0_0000) && low.iter().any(|&d| d < 0x0040_0000));
    }
}

/// A peer that sends 8-octet DATA_ACKs.
/// RFC 8684 3.3.1, 3.3.2.
#[test]
fn eight_octet_data_acks_are_understood() {
    let mut s = Script::client(mptcp());
    s.c.write(10_000);
    assert_eq!(s.poll().len(), 10);
    let eight = |s: &Script, offset, flow_ack| {
        let data_ack = Some(DataAck::Eight(s.engine_dsn(offset)));
        s.ack(0, 1, flow_ack, Mptcp::Dss(Dss { data_ack, mapping: None, data_fin: false }))
    };
    s.give(0, eight(&s, 4000, 4001));
    assert_eq!(s.c.outbound().unacknowledged(), 6000);
    s.give(0, eight(&s, 10_000, 10_001));
    assert_eq!(s.c.outbound().unacknowledged(), 0);
}

/// RFC 8684 3.3.2: what a subflow acknowledges is not acknowledged at data level by that.
/// RFC 8684 3.3.6, 4.
#[test]
fn a_subflow_acknowledgement_is_no_data_acknowledgement() {
    let mut s = Script::client(mptcp());
    s.c.write(5000);
    assert_eq!(s.poll().len(), 5);
    s.give(0, s.dss(0, 1, 5001, Some(2000), None));
    assert_eq!(s.c.outbound().unacknowledged(), 3000);
    // Nor does an old DATA_ACK take anything back, in a segment that was overtaken or in a late one.
    s.give(0, s.dss(0, 1, 5001, Some(1000), None));
    assert_eq!(s.c.outbound().unacknowledged(), 3000);
    s.give(0, s.dss(0, 1, 5001, Some(5000), None));
    assert_eq!(s.c.outbound().unacknowledged(), 0);
}

/// Data the engine has not sent cannot be acknowledged; nor does the window that comes with such a DATA_ACK count.
#[test]
fn an_acknowledgement_of_data_never_sent_is_ignored() {
    for beyond in [5001, 5002, 70_000, 1 << 30, (1 << 31) - 1] {
        let mut s = Script::client(mptcp());
        s.c.write(100_000);
        let sent = s.poll().len() as u64 * 1000;
        assert_eq!(sent, 10_000);
        let bogus = Segment { window: 65_535, ..s.dss(0, 1, 1, Some(sent + beyond), None) };
        s.give(0, bogus);
        assert_eq!(s.c.outbound().unacknowledged(), 100_000);
        // The peer's window is 65535 from data octet 0 on: nothing beyond may ever leave.
        let mut foremost = sent;
        let mut ack = 10_001;
        for _ in 0..20 {
            for t in s.give(0, s.dss(0, 1, ack, None, None)) {
                foremost = foremost.max(t.segment.payload.offset + u64::from(t.segment.payload.len));
                ack = ack.max(s.seq(&t) + t.segment.payload.len);
            }
        }
        assert!(foremost <= 65_535, "{foremost} octets against a window of 65535");
    }
}

/// The same in the 8-octet form, up to the far end of the sequence space.
#[test]
fn an_eight_octet_acknowledgement_of_anything_else_is_ignored() {
    for offset in [10_001, 1 << 40, i64::MAX as u64, u64::MAX - 5, u64::MAX] {
        let mut s = Script::client(mptcp());
        s.c.write(10_000);
        s.poll();
        let data_ack = Some(DataAck::Eight(s.engine_dsn(offset)));
        s.give(0, s.ack(0, 1, 1, Mptcp::Dss(Dss { data_ack, mapping: None, data_fin: false })));
        assert_eq!(s.c.outbound().unacknowledged(), 10_000, "offset {offset}");
    }
}

// ---- mappings over several segments ----------------------------------------------------------------------------------

/// A mapping of 4000 octets comes with the first of four segments; the others carry no DSS (RFC 8684 3.3.1 allows it).
/// RFC 8684 3.3.2.
#[test]
fn segments_inside_a_mapping_need_no_dss() {
    let mut s = Script::server(mptcp());
    let mapping = Some(s.mapping(0, 1, 4000));
    let first = Segment { payload: Payload::new(0, 1000), ..s.dss(0, 1, 1, None, mapping) };
    let mut acks = vec![s.give(0, first)];
    for i in 1..4 {
        acks.push(s.give(0, s.bare(0, 1 + 1000 * i, 1000 * u64::from(i), 1000)));
    }
    let acks: Vec<_> = acks.iter().map(|out| (s.subflow_ack(&out[0]), s.data_ack(&out[0]))).collect();
    assert_eq!(acks, [(1001, Some(1000)), (2001, Some(2000)), (3001, Some(3000)), (4001, Some(4000))]);
    assert_eq!(s.read(), 4000);
    // The octet after the mapping is not mapped.
    assert!(s.give(0, s.bare(0, 4001, 4000, 1000)).is_empty());
    assert_eq!(s.read(), 0);
}

/// The same mapping comes with each segment, as Linux sends it, and the segments arrive in reverse order.
#[test]
fn a_mapping_may_be_repeated_on_every_segment_and_in_any_order() {
    let mut s = Script::server(mptcp());
    for i in (0..4).rev() {
        let mapping = Some(s.mapping(0, 1, 4000));
        let payload = Payload::new(1000 * u64::from(i), 1000);
        let out = s.give(0, Segment { payload, ..s.dss(0, 1 + 1000 * i, 1, None, mapping) });
        assert_eq!(s.data_ack(&out[0]), Some(if i == 0 { 4000 } else { 0 }));
    }
    assert_eq!(s.read(), 4000);
    assert!(s.events.iter().all(|e| !matches!(e, Event::Arrived { intact: false, .. })));
}

/// Data without a mapping have no place in the stream: neither the subflow nor the stream acknowledges them, so that they
/// come again, then with a mapping.
#[test]
fn data_without_a_mapping_are_not_acknowledged() {
    let mut s = Script::server(mptcp());
    s.give(0, s.data(0, 1, 0, 1000));
    assert!(s.give(0, s.bare(0, 1001, 1000, 1000)).is_empty());
    assert!(s.give(0, s.dss(0, 1001, 1, None, None)).is_empty());
    let out = s.give(0, s.data(0, 3001, 3000, 1000));
    assert_eq!((s.subflow_ack(&out[0]), s.data_ack(&out[0])), (1001, Some(1000)));
    // The mapping of other octets does not help.
    let elsewhere = Some(s.mapping(9000, 9001, 1000));
    let seg = Segment { payload: Payload::new(1000, 1000), ..s.dss(0, 1001, 1, None, elsewhere) };
    assert!(s.give(0, seg).is_empty());
    s.give(0, s.data(0, 1001, 1000, 1000));
    let out = s.give(0, s.data(0, 2001, 2000, 1000));
    assert_eq!((s.subflow_ack(&out[0]), s.data_ack(&out[0])), (4001, Some(4000)));
}

/// A middlebox has joined two segments and kept the options of the first: what these map is taken and acknowledged at once; the
/// rest has no place in the stream and is not acknowledged, so that it comes again, with its mapping (RFC 8684 3.3.1).
#[test]
fn a_segment_mapped_in_part_is_taken_as_far_as_it_is_mapped() {
    let mut s = Script::server(mptcp());
    let half = Some(s.mapping(0, 1, 500));
    let out = s.give(0, Segment { payload: Payload::new(0, 1000), ..s.dss(0, 1, 1, None, half) });
    assert_eq!((s.subflow_ack(&out[0]), s.data_ack(&out[0])), (501, Some(500)));
    assert_eq!(s.read(), 500);
    s.give(0, s.data(0, 501, 500, 500));
    assert_eq!(s.read(), 500);
}

/// A segment may carry the octets of two mappings, or of a mapping whose middle was mapped before, if they continue each
/// other in the stream; if they do not, it is taken up to the end of the first.
#[test]
fn a_segment_may_span_mappings_that_continue_each_other() {
    for (second, taken) in [(1000, true), (1001, false)] {
        let mut s = Script::server(mptcp());
        for (seq, mapping) in
            [(501, s.mapping(500, 501, 100)), (1, s.mapping(0, 1, 1000)), (1001, s.mapping(second, 1001, 500))]
        {
            let payload = Payload::new(5000, 1);
            // An octet that is not mapped takes each mapping there.
            s.give(0, Segment { payload, ..s.dss(0, 5000 + seq, 1, None, Some(mapping)) });
        }
        s.give(0, s.bare(0, 1, 0, 1500));
        assert_eq!(s.read(), if taken { 1500 } else { 1000 });
    }
}

/// RFC 8684 3.3.1: the mapping of an octet stands once it is known; what a later one says of other octets counts.
#[test]
fn the_first_mapping_of_an_octet_stands() {
    let mut m = Mappings::default();
    m.add(Seq(100), 1000, 100);
    m.add(Seq(100), 7000, 100);
    assert_eq!(m.find(Seq(100)), Some((1000, 100)));
    // Inside, across the end, across the beginning, around.
    m.add(Seq(150), 9000, 10);
    assert_eq!((m.find(Seq(155)), m.find(Seq(170))), (Some((1055, 45)), Some((1070, 30))));
    m.add(Seq(190), 8000, 20);
    assert_eq!((m.find(Seq(195)), m.find(Seq(205))), (Some((1095, 5)), Some((8015, 5))));
    m.add(Seq(90), 6000, 20);
    assert_eq!((m.find(Seq(95)), m.find(Seq(105))), (Some((6005, 5)), Some((1005, 95))));
    m.add(Seq(80), 5000, 200);
    assert_eq!((m.find(Seq(85)), m.find(Seq(250))), (Some((5005, 5)), Some((5170, 30))));
    assert_eq!(
        (m.find(Seq(95)), m.find(Seq(150)), m.find(Seq(205))),
        (Some((6005, 5)), Some((1050, 50)), Some((8015, 5)))
    );
    assert_eq!((m.find(Seq(79)), m.find(Seq(280))), (None, None));
}

/// Random mappings against an array.
#[test]
fn mappings_agree_with_an_array() {
    let mut rng = Rng::new(5);
    for _ in 0..2000 {
        let mut m = Mappings::default();
        let mut map: [Option<u64>; 60] = [None; 60];
        for n in 1..10 {
            let (start, len, data) = (rng.below(40), 1 + rng.below(20), 1000 * n);
            m.add(Seq(start), data, len);
            for i in start..start + len {
                map[i as usize].get_or_insert(data + i - start);
            }
        }
        for i in 0..60 {
            let found = m.find(Seq(i));
            assert_eq!(found.map(|f| f.0), map[i as usize]);
            if let Some((data, covered)) = found {
                (0..covered).for_each(|k| assert_eq!(map[(i + k) as usize], Some(data + k)));
            }
        }
    }
}

// ---- reassembly ------------------------------------------------------------------------------------------------------

fn kinds(s: &Script) -> Vec<(ArrivalKind, u32)> {
    s.events
        .iter()
        .filter_map(|e| match e {
            Event::Arrived { kind, fresh, .. } => Some((*kind, *fresh)),
            _ => None,
        })
        .collect()
}

/// Three subflows. Data 0 and 3 are missing at first, then come; a copy of 1 comes on another subflow, then everything
/// again.
/// RFC 8684 3.3.1.
#[test]
fn the_data_of_three_subflows_are_put_in_order_once() {
    use ArrivalKind::{AheadInData, DuplicateInData, DuplicateInSubflow, HeldInSubflow, InOrder};
    let mut s = Script::server(mptcp());
    assert_eq!((s.join(), s.join()), (1, 2));
    // Subflow, sequence number, data; what becomes of them; how much can be read then.
    type Step = (usize, u32, u64, (ArrivalKind, u32), u64);
    let steps: [Step; 10] = [
        (0, 1, 1000, (AheadInData, 1000), 0),
        (1, 1, 2000, (AheadInData, 1000), 0),
        (2, 1001, 4000, (HeldInSubflow, 1000), 0),
        (1, 1001, 1000, (DuplicateInData, 0), 0),
        (2, 1, 0, (InOrder, 1000), 3000),
        (1, 2001, 5000, (AheadInData, 1000), 3000),
        (0, 1, 1000, (DuplicateInSubflow, 0), 3000),
        (0, 1001, 3000, (InOrder, 1000), 6000),
        (2, 2001, 3000, (DuplicateInData, 0), 6000),
        (2, 3001, 6000, (InOrder, 1000), 7000),
    ];
    for (i, (flow, seq, offset, what, readable)) in steps.into_iter().enumerate() {
        s.give(flow, s.data(flow, seq, offset, 1000));
        let (kind, fresh) = *kinds(&s).last().unwrap();
        if what.0 == DuplicateInSubflow {
            // What the subflow's own check turns away is no arrival.
            assert_eq!(s.c.inbound().readable(), readable, "step {i}");
            continue;
        }
        assert_eq!(((kind, fresh), s.c.inbound().readable()), (what, readable), "step {i}");
    }
    assert_eq!(s.c.inbound().held(), (0, 0));
    assert_eq!(s.read(), 7000);
    let fresh: u32 = kinds(&s).iter().map(|k| k.1).sum();
    assert_eq!(fresh, 7000);
}

/// What is held is accounted to the subflow it came by, and goes when the hole is filled.
#[test]
fn held_data_are_accounted_to_their_subflow() {
    let mut s = Script::server(mptcp());
    s.join();
    s.give(0, s.data(0, 1, 1000, 1000));
    s.give(0, s.data(0, 1001, 2000, 1000));
    s.give(1, s.data(1, 1, 3000, 500));
    s.give(1, s.data(1, 1001, 4000, 700));
    assert_eq!(
        (s.c.inbound().held(), s.c.inbound().held_by(0), s.c.inbound().held_by(1)),
        ((4, 3200), (2, 2000), (2, 1200))
    );
    s.give(1, s.data(1, 501, 3500, 500));
    assert_eq!((s.c.inbound().held(), s.c.inbound().held_by(1)), ((5, 3700), (3, 1700)));
    s.give(1, s.data(1, 1701, 0, 1000));
    assert_eq!((s.c.inbound().held(), s.c.inbound().held_by(0), s.c.inbound().held_by(1)), ((0, 0), (0, 0), (0, 0)));
    assert_eq!(s.read(), 4700);
}

/// A duplicate in the data stream is acknowledged on its subflow, whose sequence space must stay whole.
#[test]
fn duplicate_data_are_acknowledged_on_their_subflow() {
    let mut s = Script::server(mptcp());
    s.join();
    s.give(0, s.data(0, 1, 0, 1000));
    let out = s.give(1, s.data(1, 1, 0, 1000));
    assert_eq!((s.subflow_ack(&out[0]), s.data_ack(&out[0])), (1001, Some(1000)));
    // Partly new.
    let out = s.give(1, s.data(1, 1001, 500, 1000));
    assert_eq!((s.subflow_ack(&out[0]), s.data_ack(&out[0])), (2001, Some(1500)));
    assert_eq!(kinds(&s).iter().map(|k| k.1).collect::<Vec<_>>(), [1000, 0, 500]);
    assert_eq!(s.read(), 1500);
}

/// Data sequence numbers from before the stream's beginning and lengths that do not fit: nothing is taken, nothing breaks.
#[test]
fn impossible_mappings_are_not_taken() {
    for (dsn, len) in [(u64::MAX - 99, 1000), (u64::MAX, 1), (1 << 63, 1000), (u64::MAX - 998, 999)] {
        let mut s = Script::server(mptcp());
        let before = Mapping { dsn: s.peer_dsn(dsn), short: false, ssn: 1, len, checksum: None };
        let payload = Payload::new(dsn, u32::from(len));
        s.give(0, Segment { payload, ..s.dss(0, 1, 1, None, Some(before)) });
        assert_eq!((s.read(), s.c.inbound().held()), (0, (0, 0)));
        s.give(0, s.data(0, 1, 0, 1000));
        assert_eq!(s.read(), 1000, "dsn {dsn}");
    }
    // A DATA_FIN without the octet it takes, with and without data, and at impossible places.
    for (offset, len) in [(0, 0), (u64::MAX, 0), (u64::MAX, 1), (u64::MAX - 5, 3), (1 << 63, 1)] {
        for octets in [0, 1000] {
            let mut s = Script::server(mptcp());
            let mapping = Some(s.mapping(offset, 1, len));
            let option = Mptcp::Dss(Dss { data_ack: None, mapping, data_fin: true });
            s.give(0, Segment { payload: Payload::new(0, octets), ..s.ack(0, 1, 1, option) });
            s.give(0, s.data(0, 1, 0, 1000));
            assert_eq!(s.read(), 1000);
            assert_eq!(s.count(|e| *e == Event::EndOfStream), 0, "DATA_FIN at {offset}, length {len}");
            // The right one still counts.
            s.give(0, s.data_fin(0, 1001, 1000, 0));
            assert_eq!(s.count(|e| *e == Event::EndOfStream), 1, "after a DATA_FIN at {offset}, length {len}");
        }
    }
}

/// The first data of a server, which does not send MP_CAPABLE again: its stream begins at its own initial number.
#[test]
fn both_directions_have_their_own_numbers() {
    let mut s = Script::server(mptcp());
    s.c.write(1500);
    let out = s.poll();
    let dss = *out[0].segment.dss().unwrap();
    assert_eq!(dss.mapping, Some(Mapping { dsn: s.engine_dsn(0), short: false, ssn: 1, len: 1000, checksum: None }));
    assert_eq!(dss.data_ack, Some(DataAck::Four(s.peer_dsn(0) as u32)));
    assert_ne!(first_dsn(key_of(77)), s.peer_dsn(0));
}

/// The peer's segments are of another size than ours: the initial window of one segment stays one, whatever the sizes, and
/// not a rounding error less, which would never send anything.
#[test]
fn a_window_of_one_segment_sends_one_segment_of_any_size() {
    for mss in 1..3000 {
        let mut s = Script::opening(mptcp().initial_window(1).mss(2999));
        let mut syn_ack = s.syn_ack(Mptcp::CapableSynAck { no_join: false, checksum: false, key: s.peer_key });
        // RFC 6691: there are no timestamps; the longest DSS takes 28 octets.
        syn_ack.options.mss = Some(28 + mss);
        s.c.write(5000);
        let out = s.give(0, syn_ack);
        assert_eq!(out[0].segment.payload.len, u32::from(mss.min(2999)));
    }
}

/// 110 1000 octets on path 0, 300 that Nagle's algorithm holds back, 700 more: the segment they make is path 1's turn, however
/// often the question was asked before.
#[test]
fn round_robin_keeps_its_turn_when_nagle_says_no() {
    let mut pair = joined(mptcp().scheduler("round-robin".parse().unwrap()), mptcp(), &[10, 10], 1000);
    pair.run_until(at(110));
    let before = pair.log.iter().filter(|p| p.data_n.is_some()).count();
    pair.write(Side::A, 1000);
    pair.write(Side::A, 300);
    pair.write(Side::A, 100);
    pair.write(Side::A, 600);
    let data = pair.log.iter().filter(|p| p.data_n.is_some()).skip(before);
    let sent: Vec<_> = data.map(|p| (p.path, p.segment().payload.offset)).collect();
    assert_eq!(sent, [(0, 1000), (1, 2000)]);
}

/// The acknowledgement with the DATA_ACK was lost, one of the subflow alone arrived: nothing is in flight, so no acknowledgement is to come
/// that Nagle's algorithm could wait for.
#[test]
fn a_small_segment_follows_one_that_lacks_only_its_data_ack() {
    let mut s = Script::client(mptcp());
    s.c.write(3);
    assert_eq!(s.poll().len(), 1);
    s.c.write(5);
    assert!(s.poll().is_empty(), "three octets are on their way");
    let ack = s.dss(0, 1, 4, Some(0), None);
    let out = s.give(0, ack);
    let data: Vec<_> = out.iter().filter(|t| t.segment.payload.len > 0).collect();
    assert_eq!(data.len(), 1, "{out:?}");
    assert_eq!((data[0].segment.payload.offset, data[0].segment.payload.len), (3, 5));
}

/// 500,000 octets with data sequence numbers of that length.
fn lengths(octets: DsnOctets) -> Pair {
    let config = mptcp().dsn_octets(octets);
    let mut pair = joined(config.clone(), config, &[10, 10], 500_000);
    pair.run_until(at(2000));
    pair
}

/// RFC 8684 3.3.1.
#[test]
fn data_sequence_numbers_have_64_bits_by_default() {
    assert_eq!(Config::default().dsn_octets, DsnOctets::Eight);
    let pair = lengths(Config::default().dsn_octets);
    let mappings = pair.log.iter().filter_map(|p| p.segment().dss()?.mapping);
    assert!(mappings.clone().count() > 400 && mappings.clone().all(|m| !m.short));
}

/// RFC 8684 3.7: every data segment carries a mapping, or MP_CAPABLE with the first data.
#[test]
fn every_data_segment_carries_a_mapping() {
    let pair = lengths(DsnOctets::Eight);
    let data: Vec<_> = pair.log.iter().filter(|p| p.segment().payload.len > 0).collect();
    assert!(data.len() > 400 && data.iter().all(|p| mapped(p, 0).is_some()));
}

/// RFC 8684 3.3.2: what comes with 64 bits is acknowledged with 64, what comes with 32 with 32. (MP_CAPABLE with the first data stands for 64: 3.1.)
#[test]
fn numbers_of_64_bits_are_acknowledged_with_64() {
    for (octets, long) in [(DsnOctets::Eight, true), (DsnOctets::Four, false)] {
        let pair = lengths(octets);
        let answers = pair.log.iter().filter(|p| p.from == Side::B);
        let acks: Vec<_> = answers.filter_map(|p| p.segment().dss()?.data_ack).skip(10).collect();
        assert!(acks.len() > 100, "{}", acks.len());
        assert!(acks.iter().all(|ack| matches!(ack, DataAck::Eight(_)) == long), "{octets:?}");
    }
}

/// What is held behind a hole in its subflow is accounted for while the connection waits.
#[test]
fn what_is_held_behind_a_hole_is_accounted_for() {
    let mut s = Script::server(mptcp());
    assert_eq!(s.give(0, s.data(0, 1, 0, 1000)).len(), 1);
    assert_eq!(s.give(0, s.data(0, 2001, 2000, 1000)).len(), 1);
    assert_eq!((s.c.inbound().held(), s.c.inbound().held_by(0)), ((1, 1000), (1, 1000)));
}
