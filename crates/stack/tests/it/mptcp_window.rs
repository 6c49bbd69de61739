//! One receive window for the connection (RFC 8684 3.3.1, 3.3.2, 3.3.5): its right edge counts from the DATA_ACK and is the
//! same on every subflow; a hole in the data stream stops no subflow; a closed window is probed.

use anabranch_stack::config::Acknowledgement;
use anabranch_stack::event::{Event, SendBlock, SendKind};
use anabranch_stack::segment::{DataAck, Flags, Mptcp, Segment};
use anabranch_stack::{Config, Duration, Instant};

use crate::mptcp_bench::{PEER_KEY, Script, joined, mptcp, watch_windows};
use crate::pair::{Fate, Packet, Pair, Side, at, ms};

fn server(buffer: u64) -> Config {
    mptcp().receive_buffer(Some(buffer))
}

/// Both paths 10 ms. A server with a buffer of 100000 octets whose application reads nothing before it is told to; both
/// subflows open at 80, then the client writes 1 MB at 100.
fn pair(buffer: u64) -> Pair {
    acknowledging(Acknowledgement::Independent, buffer)
}

fn acknowledging(acknowledgement: Acknowledgement, buffer: u64) -> Pair {
    let client = mptcp().scheduler("round-robin".parse().unwrap()).acknowledgement(acknowledgement);
    let mut pair = joined(client, server(buffer).acknowledgement(acknowledgement), &[10, 10], 1000);
    watch_windows(&mut pair, 1, [None, Some(buffer)]);
    pair.run_until(at(100));
    assert_eq!(pair[Side::B].read, 1000);
    pair[Side::B].reads = false;
    pair.write(Side::A, 1_000_000);
    pair
}

fn foremost(pair: &Pair) -> u64 {
    let ends = pair.log.iter().filter(|p| p.from == Side::A).map(|p| p.segment().payload);
    ends.map(|p| p.offset + u64::from(p.len)).max().unwrap()
}

fn sent_at(pair: &Pair, from: Side, ms: u64) -> Vec<Packet> {
    pair.log.iter().filter(|p| p.from == from && p.at == at(ms)).copied().collect()
}

/// The right edge a segment of the server shows, from its window and its DATA_ACK, counted from the first octet.
fn edge(pair: &Pair, p: &Packet) -> u64 {
    let shift = pair.log.iter().find(|s| s.from == p.from && s.flow == p.flow).unwrap().segment().options.window_scale;
    let first = crate::mptcp_bench::first_dsn(crate::mptcp_bench::keys_of_pair(1).0) as u32;
    let ack = match p.segment().dss().unwrap().data_ack.unwrap() {
        DataAck::Four(low) => low,
        DataAck::Eight(ack) => ack as u32,
    };
    u64::from(ack.wrapping_sub(first)) + (u64::from(p.segment().window) << shift.unwrap())
}

/// Nothing is read: the two subflows together fill 100000 octets, not each of them; every segment of the server shows the
/// edge of that moment, on either subflow.
/// RFC 8684 3.3.4.
#[test]
fn both_subflows_share_one_window() {
    let mut pair = pair(100_000);
    pair.run_until(at(250));
    assert_eq!(pair[Side::B].conn().inbound().readable(), 100_000);
    let paths = |path| pair.log.iter().filter(move |p| p.from == Side::A && p.path == path && p.data_n.is_some());
    assert!(paths(0).count() > 30 && paths(1).count() > 30);
    assert_eq!(foremost(&pair), 101_000);
    let shown = pair.log.iter().filter(|p| p.from == Side::B && p.at >= at(110)).map(|p| (p.path, edge(&pair, p)));
    for path in [0, 1] {
        let mut edges: Vec<u64> = shown.clone().filter(|s| s.0 == path).map(|s| s.1).collect();
        edges.dedup();
        assert_eq!(edges, [101_000], "path {path}");
    }
}

/// 1000: the application reads all. The update leaves at once on both subflows and shows the same new edge; data flow again
/// at 1010.
#[test]
fn a_window_that_opens_is_told_on_every_subflow() {
    let mut pair = pair(100_000);
    pair.run_until(at(1000));
    let before = foremost(&pair);
    pair.read(Side::B, u64::MAX);
    let updates: Vec<_> = sent_at(&pair, Side::B, 1000).iter().map(|p| (p.path, edge(&pair, p))).collect();
    let read = pair[Side::B].read;
    assert_eq!(updates, [(0, read + 100_000), (1, read + 100_000)]);
    pair.run_until(at(1010));
    assert!(foremost(&pair) > before);
    pair[Side::B].reads = true;
    pair.close(Side::A);
    pair.close(Side::B);
    pair.run();
    assert!(pair.is_closed());
    assert_eq!(pair[Side::B].read, 1_001_000);
}

/// The client may not trust that an update arrives: it probes with one octet after a timeout and then ever less often
/// (RFC 9293 3.8.6.1). For an hour the answers keep the window closed, and the connection stays.
#[test]
fn a_closed_window_is_probed_for_as_long_as_it_is_answered() {
    let mut pair = pair(100_000);
    pair.run_until(at(3_600_000));
    let probes: Vec<_> = pair.log.iter().filter(|p| p.transmit.kind == SendKind::Probe).collect();
    assert!(probes.iter().all(|p| p.segment().payload.len == 1 && p.segment().payload.offset == 101_000));
    let gaps: Vec<u64> = probes.windows(2).map(|w| (w[1].at.0 - w[0].at.0) / 1_000_000).collect();
    assert!(gaps.windows(2).all(|g| g[0] <= g[1]) && *gaps.last().unwrap() == 120_000, "{gaps:?}");
    assert_eq!(pair[Side::A].count(|e| matches!(e, Event::Congestion { .. } | Event::SubflowEnded(..))), 0);
    pair.read(Side::B, u64::MAX);
    pair[Side::B].reads = true;
    pair.run_until(at(3_600_000 + 1000));
    assert_eq!(pair[Side::B].read, 1_001_000);
}

/// The update (1000) is lost on both subflows: the next probe finds the window open.
#[test]
fn a_lost_window_update_is_found_by_the_probe() {
    let mut pair = pair(100_000);
    pair.run_until(at(1000));
    pair.filter(|p| if p.from == Side::B && p.at == at(1000) { Fate::Drop } else { Fate::Pass });
    pair.read(Side::B, u64::MAX);
    pair[Side::B].reads = true;
    pair.run_until(at(1010));
    assert_eq!(foremost(&pair), 101_001);
    pair.run_until(at(4000));
    assert_eq!(pair[Side::B].read, 1_001_000);
}

/// Path 1 has died with data under way, which went again over path 0. When the update is lost there, too, the data that still
/// wait on the dead subflow must not keep the connection from probing.
#[test]
fn data_on_a_dead_subflow_do_not_keep_a_closed_window_from_being_probed() {
    let mut pair = pair(100_000);
    pair.filter(|p| if p.path == 1 { Fate::Drop } else { Fate::Pass });
    pair.run_until(at(2000));
    assert_eq!(pair[Side::B].conn().inbound().readable(), 100_000);
    pair.filter(|p| if p.path == 1 || (p.from == Side::B && p.at == at(2000)) { Fate::Drop } else { Fate::Pass });
    pair.read(Side::B, u64::MAX);
    pair[Side::B].reads = true;
    pair.run_until(at(6000));
    assert!(pair[Side::B].read > 500_000, "{} octets read", pair[Side::B].read);
}

/// The subflow that probes dies, and the update is lost on the other one: two unanswered probes are a sign of a dead path,
/// not of a closed window, and the next one goes elsewhere. (At 2000 they are seconds apart.)
#[test]
fn a_probe_on_a_dead_subflow_goes_to_another() {
    let mut pair = pair(100_000);
    pair.run_until(at(2000));
    let path = pair.log.iter().rfind(|p| p.transmit.kind == SendKind::Probe).unwrap().path;
    pair.filter(
        move |p| {
            if p.path == path || (p.from == Side::B && p.at == at(2000)) { Fate::Drop } else { Fate::Pass }
        },
    );
    pair.read(Side::B, u64::MAX);
    pair[Side::B].reads = true;
    pair.run_until(at(60_000));
    assert!(pair[Side::B].read > 500_000, "{} octets read", pair[Side::B].read);
}

/// RFC 9293 3.8.6.1: the same where a subflow's acknowledgement waits for the data level, so that nothing is moved: the next probe
/// repeats the octet that the dead subflow has in flight. A further one would be the second beyond the window.
#[test]
fn one_octet_beyond_the_window_is_enough_for_all_subflows() {
    let mut pair = acknowledging(Acknowledgement::Coupled, 100_000);
    pair.run_until(at(2000));
    let path = pair.log.iter().rfind(|p| p.transmit.kind == SendKind::Probe).unwrap().path;
    pair.filter(move |p| if p.path == path { Fate::Drop } else { Fate::Pass });
    pair.run_until(at(60_000));
    assert_eq!(foremost(&pair), 101_001);
    let elsewhere = |p: &&Packet| p.from == Side::A && p.path != path && p.segment().payload.offset == 101_000;
    assert!(pair.log.iter().any(|p| elsewhere(&p)), "the other path asks for the window");
    pair.read(Side::B, u64::MAX);
    pair[Side::B].reads = true;
    pair.run_until(at(600_000));
    assert!(pair[Side::B].read > 500_000, "{} octets read", pair[Side::B].read);
}

/// RFC 8684 3.3.2: segment 20 of path 0 (data offset 21000) is lost, again and again until 150. Until a copy of it comes
/// over path 1 nothing behind it can be read, but path 1 is acknowledged, and its window stays where it was.
#[test]
fn a_hole_in_the_data_stops_no_subflow() {
    let mut pair = joined(mptcp().scheduler("round-robin".parse().unwrap()), mptcp(), &[10, 10], 1000);
    watch_windows(&mut pair, 1, [None, None]);
    pair.run_until(at(100));
    pair.filter(|p| {
        let lost = p.path == 0 && p.from == Side::A && p.segment().payload.offset == 21_000 && p.at < at(290);
        if lost { Fate::Drop } else { Fate::Pass }
    });
    pair.write(Side::A, 1_000_000);
    pair.run_until(at(140));
    let stuck = pair[Side::B].conn().inbound().readable() + pair[Side::B].read;
    assert_eq!(stuck, 21_000);
    let path_1 = |p: &&Packet| p.from == Side::B && p.path == 1 && p.at > at(120);
    pair.run_until(at(280));
    assert_eq!(pair[Side::B].read, stuck);
    let acks: Vec<(u32, u64)> = pair.log.iter().filter(path_1).map(|p| (p.segment().ack, edge(&pair, p))).collect();
    assert!(acks.len() > 50);
    assert!(acks.windows(2).all(|w| w[1].0 > w[0].0), "every segment of path 1 is acknowledged on path 1");
    assert!(acks.iter().all(|a| a.1 == acks[0].1), "the edge stays");
    let timeouts = |e: &Event| matches!(e, Event::Congestion { subflow: 1, .. });
    assert_eq!(pair[Side::A].count(timeouts), 0);
    pair.run_until(at(2000));
    assert_eq!(pair[Side::B].read, 1_001_000);
    let held = pair[Side::B].conn().inbound().held();
    assert_eq!(held, (0, 0));
}

/// Buffers from one octet to fifty segments, paths up to a hundred times apart, either scheduler: the buffer is never
/// overrun, and the transfer ends no later than a buffer for each two round trips of the slower path allows.
#[test]
fn a_small_buffer_over_unlike_paths_makes_progress() {
    for scheduler in ["min-rtt", "round-robin"] {
        for buffer in [1, 7, 999, 1000, 1500, 2000, 3001, 10_000, 50_000] {
            for delays in [[5, 200], [200, 5], [10, 10], [2, 200]] {
                let octets = 20 * buffer.max(10) + 3;
                let mut pair = joined(mptcp().scheduler(scheduler.parse().unwrap()), server(buffer), &delays, 1);
                watch_windows(&mut pair, 1, [None, Some(buffer)]);
                pair.write(Side::A, octets);
                pair.close(Side::A);
                pair.close(Side::B);
                let rounds = octets.div_ceil(buffer);
                let slow = delays[0].max(delays[1]);
                pair.limit = at(3_600_000);
                let name = format!("{scheduler}, {buffer} octets, {delays:?} ms");
                pair.run_until(at((rounds + 10) * 4 * slow));
                assert_eq!(pair[Side::B].read, octets + 1, "{name} at {}", pair.now);
                pair.run_until(at((rounds + 20) * 4 * slow));
                assert!(pair.is_closed(), "{name}");
                let again = pair.log.iter().filter(|p| p.transmit.transmissions > 1).count();
                assert_eq!(again, 0, "{name}");
            }
        }
    }
}

/// RFC 9293 3.8.6.2.2: the application reads 100 octets at a time; the window opens in steps of a segment (or half the buffer).
/// Of the buffer of 1200 octets 200 are left at 120, too few for a segment: they are used after a timeout (3.8.6.2.1).
#[test]
fn a_slow_reader_opens_the_window_in_steps() {
    for (buffer, step, leftover) in [(10_000, 1000, vec![]), (1200, 600, vec![(at(320), 200)])] {
        let mut pair = pair(buffer);
        let mut edges = Vec::new();
        for n in 0..400 {
            pair.run_until(at(1000 + 10 * n));
            if pair[Side::B].conn().inbound().readable() > 0 {
                pair.read(Side::B, 100);
            }
        }
        for p in pair.log.iter().filter(|p| p.from == Side::B && p.at >= at(1000)) {
            edges.push(edge(&pair, p));
        }
        edges.dedup();
        assert!(edges.len() > 5, "{edges:?}");
        assert!(edges.windows(2).all(|w| w[1] >= w[0] + step), "{edges:?}");
        // Nor does the sender use the window in small pieces; only the first step lacks the octet of the probe.
        let small = |p: &&Packet| {
            p.from == Side::A && p.transmit.kind == SendKind::New && u64::from(p.segment().payload.len) + 1 < step
        };
        let small: Vec<_> = pair.log.iter().filter(small).map(|p| (p.at, p.segment().payload.len)).collect();
        assert_eq!(small, leftover);
    }
}

/// Data beyond the window are not taken and not acknowledged; the answer shows the window.
/// RFC 8684 3.3.4.
#[test]
fn data_beyond_the_window_are_not_taken() {
    let mut s = Script::server(mptcp().receive_buffer(Some(3000)));
    s.join();
    s.give(0, s.data(0, 1, 0, 1000));
    s.give(1, s.data(1, 1, 2000, 1000));
    let out = s.give(1, s.data(1, 1001, 3000, 1000));
    assert_eq!((s.subflow_ack(&out[0]), s.data_ack(&out[0]), out[0].segment.window), (1001, Some(1000), 2000));
    let out = s.give(1, s.data(1, 1001, 2500, 501));
    assert_eq!((s.subflow_ack(&out[0]), s.data_ack(&out[0])), (1001, Some(1000)));
    s.give(0, s.data(0, 1001, 1000, 1000));
    assert_eq!(s.read(), 3000);
}

/// The window of a segment counts from its own DATA_ACK; a segment that was overtaken takes nothing back.
#[test]
fn an_old_window_takes_nothing_back() {
    let mut s = Script::client(mptcp());
    s.c.write(500_000);
    s.poll();
    let window = |s: &Script, ack: u64, window: u16| Segment { window, ..s.dss(0, 1, 1, Some(ack), None) };
    s.give(0, window(&s, 10_000, 5000));
    s.give(0, window(&s, 9000, 5500));
    s.give(0, window(&s, 10_000, 0));
    // A closed window that counts from a later DATA_ACK takes nothing back either: what is
    // acknowledged makes room for more.
    let closed = Segment { window: 0, ..s.dss(0, 1, 10_001, Some(10_000), None) };
    let more = s.give(0, closed);
    assert!(more.iter().any(|t| t.segment.payload.len > 0));
    // Up to 65535 by the first window, whatever came later.
    let mut ack = more.last().map_or(1, |t| s.seq(t) + t.segment.payload.len);
    let mut end = 0;
    for _ in 0..30 {
        for t in s.give(0, s.dss(0, 1, ack, None, None)) {
            end = end.max(t.segment.payload.offset + u64::from(t.segment.payload.len));
            ack = ack.max(s.seq(&t) + t.segment.payload.len);
        }
        ack = ack.max(10_001);
    }
    assert_eq!(end, 65_000, "65535, less what is too small for a segment");
}

/// A segment without a DATA_ACK (a third ACK of a join, say) was overtaken by a DATA_ACK: its window was meant from an earlier
/// octet on, nobody knows which, and opens nothing.
#[test]
fn a_window_without_a_data_ack_counts_from_the_beginning() {
    let mut s = Script::client(mptcp());
    s.c.write(500_000);
    s.poll();
    let mut out = s.give(0, Segment { window: 0, ..s.dss(0, 1, 10_001, Some(10_000), None) });
    let late = Segment { window: 65_535, ..s.ack(0, 1, 10_001, Mptcp::JoinAck { hmac: [0; 20] }) };
    let mut ack = 10_001;
    let mut end = 0;
    for _ in 0..30 {
        for t in &out {
            end = end.max(t.segment.payload.offset + u64::from(t.segment.payload.len));
            ack = ack.max(s.seq(t) + t.segment.payload.len);
        }
        out = s.give(0, Segment { ack: late.ack.wrapping_add(ack - 10_001), ..late });
    }
    assert_eq!(end, 65_000, "65535, less what is too small for a segment");
}

/// RFC 9293 3.8.6.2.2: a window update is worth a segment when the window opens. A buffer that tunes itself has grown to far more than
/// a subflow offers yet; then an acknowledgement that repeats the last window must not follow each read, or two hosts that both
/// read answer each other's acknowledgements for ever.
#[test]
fn an_update_that_says_nothing_new_is_not_sent() {
    let config = mptcp().receive_initial(Some(1)).receive_buffer(Some(4 << 20)).mss(2);
    let mut pair = Pair::seeded(config.clone(), config, &[ms(1)], 1);
    pair.write(Side::A, 600);
    pair.write(Side::B, 600);
    pair.run_until(at(2000));
    assert_eq!((pair[Side::A].read, pair[Side::B].read), (600, 600));
    // An application that looks for more, as it is woken by each segment that arrives, has nothing to tell the peer.
    let before = pair.log.len();
    for _ in 0..10 {
        pair.with(Side::A, |c| _ = c.read(0));
    }
    pair.run_until(at(3000));
    assert_eq!(pair.log.len(), before);
}

/// An octet beyond the closed window is probed with on one subflow. That subflow has it: it retransmits it, and does not take it as a copy for another.
#[test]
fn a_single_subflow_repeats_its_probe_by_itself() {
    let mut s = Script::client(mptcp());
    s.c.write(70_000);
    let mut out = s.poll();
    let mut acked = 0;
    // The window of 65,535 octets is used up; it stays where it is.
    while let Some(end) = out.iter().map(|t| t.segment.payload.offset + u64::from(t.segment.payload.len)).max() {
        acked = end;
        out = s.give(0, Segment { window: 65_535 - end as u16, ..s.dss(0, 1, 1 + end as u32, Some(end), None) });
    }
    // What is less than a segment leaves with the override timer (RFC 9293 3.8.6.2.1).
    assert_eq!((acked, s.wait(Duration::from_millis(300)).len()), (65_000, 1));
    s.give(0, Segment { window: 0, ..s.dss(0, 1, 65_536, Some(65_535), None) });
    let kinds: Vec<_> = s.wait(Duration::from_secs(20)).iter().map(|(_, t)| t.kind).collect();
    assert!(kinds.contains(&SendKind::Probe) && !kinds.contains(&SendKind::Reinjection), "{acked} {kinds:?}");
}

/// The peer's window takes `window` octets, and it answers the SYN at `at`.
fn narrow(config: Config, window: u16, answered: Instant) -> Script {
    let mut s = Script::opening(config);
    s.now = answered;
    let answer = Mptcp::CapableSynAck { no_join: false, checksum: false, key: PEER_KEY };
    s.give(0, Segment { window, ..s.syn_ack(answer) });
    s.give(0, Segment { window, ..s.dss(0, 1, 1, Some(0), None) });
    s
}

/// A probe leaves on the subflow with the shortest timeout of those that work: that of a join whose SYN has not been answered is a second (RFC 6298
/// 2.1), that of the first subflow, with a round-trip time of 3 s, 3 + 4 * 1.5 s (2.2).
#[test]
fn a_join_that_is_not_answered_yet_probes_nothing() {
    let mut s = narrow(mptcp(), 0, at(3000));
    s.c.write(1000);
    assert!(s.poll().is_empty());
    assert_eq!(s.c.subflows()[0].rto(), ms(9000));
    assert!(s.wait(ms(8900)).is_empty());
    s.open();
    let out: Vec<_> = s.wait(ms(200)).iter().map(|(at, t)| (*at, t.subflow, t.kind)).collect();
    assert_eq!(out, [(at(12_000), 0, SendKind::Probe)]);
}

/// RFC 9293 3.8.6.1: the octet beyond the window is in flight on the first subflow, which is silent from then on, and a segment within the window on
/// the second, which the peer has by its DATA_ACK. The third was to ask for the window next, and is reset before: so the second repeats the octet.
/// (Under coupled acknowledgement, where a timeout moves nothing to another subflow.)
#[test]
fn the_octet_beyond_the_window_is_repeated_by_a_subflow_that_does_not_have_it() {
    let acknowledgement = Acknowledgement::Coupled;
    let config = mptcp().scheduler("round-robin".parse().unwrap()).acknowledgement(acknowledgement);
    let mut s = narrow(config, 2000, at(0));
    for flow in 1..=2 {
        let (_, nonce) = s.open();
        s.give(flow, Segment { window: 2000, ..s.join_answer(flow, nonce) });
        s.give(flow, Segment { window: 2000, ..s.dss(flow, 1, 1, None, None) });
    }
    s.c.write(5000);
    assert_eq!(s.poll().iter().map(|t| t.subflow).collect::<Vec<_>>(), [0, 1]);
    s.give(0, Segment { window: 0, ..s.dss(0, 1, 1001, Some(2000), None) });
    let beyond = |s: &mut Script, time| -> Vec<_> {
        let out = s.wait(ms(time));
        let octet = out.iter().filter(|(_, t)| t.segment.payload.offset == 2000);
        octet.map(|(at, t)| (at.0 / 1_000_000, t.subflow, t.kind)).collect()
    };
    let probes = [(400, 0, SendKind::Probe), (600, 0, SendKind::Probe), (1000, 0, SendKind::Probe)];
    let before = beyond(&mut s, 1900);
    assert_eq!((&before[..3], &before[3..]), (&probes[..], &[(1800, 0, SendKind::Timeout)][..]));
    let reset = Segment { flags: Flags::RST, ..s.ack(2, 1, 1, Mptcp::None) };
    assert!(s.give(2, reset).is_empty());
    assert_eq!(beyond(&mut s, 1000), [(2000, 1, SendKind::Reinjection)]);
}

/// RFC 7323 2.2: without its own option a peer's windows are not scaled, nor are ours. Of a buffer of 200,000 octets 65,535 can be shown at a time, and
/// they are, also while 100,000 octets are unread: that these are read is no news for the peer.
#[test]
fn reading_is_no_news_for_a_peer_that_can_be_shown_no_more() {
    let mut s = Script::opening(server(200_000));
    let mut syn_ack = s.syn_ack(Mptcp::CapableSynAck { no_join: false, checksum: false, key: PEER_KEY });
    syn_ack.options.window_scale = None;
    s.give(0, syn_ack);
    for n in 0..100 {
        let out = s.give(0, s.data(0, 1 + 1000 * n, 1000 * u64::from(n), 1000));
        assert_eq!((out.len(), out[0].segment.window), (1, 65_535));
    }
    assert_eq!(s.read(), 100_000);
    assert!(s.poll().is_empty());
}

/// RFC 9293 3.8.6.2.1 (3), (4): of a window of 600 octets at most, half is worth a segment when nothing is outstanding, and less waits for
/// the override timeout, where data are assigned ahead of the windows, too.
#[test]
fn less_than_half_of_the_largest_window_is_not_assigned() {
    for (window, sent) in [(300, Some(300)), (299, None)] {
        let mut s = narrow(mptcp().scheduler("otias".parse().unwrap()), 600, at(0));
        s.c.write(5000);
        assert_eq!(s.poll().iter().map(|t| t.segment.payload.len).collect::<Vec<_>>(), [600]);
        let out = s.give(0, Segment { window, ..s.dss(0, 1, 601, Some(600), None) });
        assert_eq!(out.first().map(|t| t.segment.payload.len), sent);
        assert_eq!(s.c.outbound().limit(), SendBlock::ReceiveWindow);
    }
}

/// A segment that is full is none, nor one that has all that is left: the window takes 1000 octets at most, and then just that.
#[test]
fn what_the_window_has_just_room_for_is_assigned() {
    for (window, octets) in [(1000, 5000), (300, 300)] {
        let mut s = narrow(mptcp().scheduler("otias".parse().unwrap()), 5000, at(0));
        s.c.write(5000);
        assert_eq!(s.poll().len(), 5);
        s.c.write(octets);
        let out = s.give(0, Segment { window, ..s.dss(0, 1, 5001, Some(5000), None) });
        assert_eq!(out.first().map(|t| t.segment.payload.len), Some(window.into()));
    }
}

/// The peer has all data by its DATA_ACK, but the subflow has them in flight as far as its congestion window goes. An octet beyond a closed
/// window is a probe all the same (RFC 9293 3.8.6.1); what a small window takes are data, and wait for the congestion window (RFC 5681 3.1).
#[test]
fn a_probe_needs_no_room_in_the_congestion_window() {
    for (window, probes) in [(0, true), (300, false)] {
        let config = mptcp().initial_window(2).scheduler("otias".parse().unwrap());
        let mut s = narrow(config, 2000, at(0));
        s.c.write(5000);
        assert_eq!(s.poll().len(), 2);
        s.give(0, Segment { window, ..s.dss(0, 1, 1, Some(2000), None) });
        let out = s.wait(ms(3000));
        let new: Vec<_> = out.iter().filter(|(_, t)| t.segment.payload.offset >= 2000).map(|(_, t)| t.kind).collect();
        assert_eq!(new.contains(&SendKind::Probe), probes, "{new:?}");
        assert!(!new.contains(&SendKind::New), "{new:?}");
    }
}
