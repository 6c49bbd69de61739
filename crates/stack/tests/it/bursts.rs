//! How Linux's segments leave: in bursts, small ones by Nagle's algorithm after Minshall, and windows and addresses as it shows them.

use core::net::{IpAddr, Ipv4Addr};

use anabranch_stack::Instant;
use anabranch_stack::config::Deviations;
use anabranch_stack::event::SendBlock;
use anabranch_stack::segment::{AddrId, Mptcp, Signal};

use crate::bench::Bench;
use crate::mptcp_bench::{Script, add_addr, mptcp};
use crate::pair::tcp;

fn deferring(initial_window: u32) -> Bench {
    Bench::open_client(tcp().defer_bursts(true).initial_window(initial_window).nagle(false))
}

/// Half a segment's worth of acknowledgement opens the window by one segment (slow start). 0.2 ms after a burst that waits for a second
/// one; without `defer_bursts` it would leave.
#[test]
fn a_burst_waits_for_room_for_two_segments() {
    let flight = |mut b: Bench, then: &str| {
        b.play(&format!(
            "0.2    write 40000
             0.2    > . 1:10001(10x1000) ack 1
             0.3    < . 1:1(0) ack 1001 win 100
             0.3    > . 10001:12001(2x1000) ack 1
             0.3002 < . 1:1(0) ack 1501 win 100
             {then}"
        ));
    };
    flight(deferring(10), "0.3004 < . 1:1(0) ack 2001 win 100\n0.3004 > . 12001:14001(2x1000) ack 1");
    flight(Bench::open_client(tcp().nagle(false)), "0.3002 > . 12001:13001(1000) ack 1");
}

/// Also what is all that there is, as more may be written behind it: 1500 octets, for which there is room (`tcp_tso_should_defer` lets
/// leave what has others behind it, or the FIN).
#[test]
fn the_last_octets_wait_for_more() {
    let last = |then: &str| {
        deferring(10).play(&format!(
            "0.2    write 13500
             0.2    > . 1:10001(10x1000) ack 1
             0.3    < . 1:1(0) ack 1001 win 100
             0.3    > . 10001:12001(2x1000) ack 1
             {then}"
        ));
    };
    last(
        "0.3002 < . 1:1(0) ack 1751 win 100
         0.3004 < . 1:1(0) ack 2001 win 100
         0.3004 > . 12001:13001(1000) ack 1
         0.3004 > P. 13001:13501(500) ack 1",
    );
    last(
        "0.3001 close
         0.3002 < . 1:1(0) ack 1751 win 100
         0.3002 > . 12001:13001(1000) ack 1
         0.3004 < . 1:1(0) ack 2001 win 100
         0.3004 > P. 13001:13501(500) ack 1
         0.3004 > F. 13501:13501(0) ack 1",
    );
}

/// A millisecond after the last departure nothing waits: who was silent for so long is not about to be acknowledged again.
#[test]
fn a_burst_waits_for_a_millisecond_at_most() {
    deferring(10).play(
        "0.2    write 40000
         0.2    > . 1:10001(10x1000) ack 1
         0.3    < . 1:1(0) ack 1001 win 100
         0.3    > . 10001:12001(2x1000) ack 1
         0.3011 < . 1:1(0) ack 1501 win 100
         0.3011 > . 12001:13001(1000) ack 1",
    );
}

/// Room for a third of the window is enough: one segment of three, but not one of five.
#[test]
fn room_for_a_third_of_the_window_is_enough() {
    deferring(2).play(
        "0.2    write 40000
         0.2    > . 1:2001(2x1000) ack 1
         0.3    < . 1:1(0) ack 501 win 100
         0.3    > . 2001:3001(1000) ack 1
         0.3002 < . 1:1(0) ack 1001 win 100
         0.3002 > . 3001:4001(1000) ack 1",
    );
    deferring(4).play(
        "0.2    write 40000
         0.2    > . 1:4001(4x1000) ack 1
         0.3    < . 1:1(0) ack 501 win 100
         0.3    > . 4001:5001(1000) ack 1
         0.3002 < . 1:1(0) ack 1001 win 100
         0.3004 < . 1:1(0) ack 1501 win 100
         0.3004 > . 5001:7001(2x1000) ack 1",
    );
}

/// What waits so is held by the window, though there is room for a segment.
#[test]
fn the_window_holds_a_burst_that_waits() {
    let mut b = deferring(4);
    b.play(
        "0.2    write 40000
         0.2    > . 1:4001(4x1000) ack 1
         0.3    < . 1:1(0) ack 501 win 100
         0.3    > . 4001:5001(1000) ack 1
         0.3002 < . 1:1(0) ack 1001 win 100
         0.3002 flight 4000",
    );
    assert_eq!(b.conn().outbound().send_block(0, b.now), SendBlock::Cwnd);
}

/// If the first segment unacknowledged left less than half a round trip ago, the next acknowledgement may be far: nothing waits for it.
#[test]
fn nothing_waits_for_an_acknowledgement_that_is_far() {
    deferring(4).play(
        "0.2    write 40000
         0.2    > . 1:4001(4x1000) ack 1
         0.2001 < . 1:1(0) ack 501 win 100
         0.2001 > . 4001:5001(1000) ack 1",
    );
}

/// Minshall: a small segment waits only for one that is as small. RFC 9293 3.7.4 has it wait for everything unacknowledged.
#[test]
fn a_small_segment_waits_for_a_small_one() {
    let config = |minshall| {
        let deviations = if minshall { Deviations::NONE.and("minshall") } else { Deviations::NONE };
        tcp().nagle(true).deviations(deviations)
    };
    Bench::open_client(config(true)).play(
        "0.2 write 1500
         0.2 > . 1:1001(1000) ack 1
         0.2 > P. 1001:1501(500) ack 1
         0.21 write 300
         0.3 < . 1:1(0) ack 1001 win 100
         0.31 < . 1:1(0) ack 1501 win 100
         0.31 > P. 1501:1801(300) ack 1",
    );
    Bench::open_client(config(false)).play(
        "0.2 write 1500
         0.2 > . 1:1001(1000) ack 1
         0.3 < . 1:1(0) ack 1001 win 100
         0.3 > P. 1001:1501(500) ack 1",
    );
}

/// `tcp_select_initial_window`: of 65,535 octets 45 segments of 1448, as long as without a DSS. A capture of Linux 6.1 shows 65160.
#[test]
fn a_syn_offers_whole_segments() {
    let syn_ack = |deviations| {
        let mut s = Script::listening(mptcp().deviations(deviations).receive_initial(Some(65_535)).mss(1424), 7);
        let out = s.wait(anabranch_stack::Duration::from_secs(2));
        out[0].1.segment.window
    };
    let whole = Deviations::NONE.and("whole_segments_in_syn_window");
    assert_eq!((syn_ack(whole), syn_ack(Deviations::NONE)), (65_160, 65_535));
}

/// Of 3 MiB of window 6 MiB of memory are needed: a shift of 7 shows them, of 6 the window.
#[test]
fn a_window_scale_may_be_chosen_for_the_memory_of_the_buffer() {
    let scale = |deviations| {
        let config = mptcp().deviations(deviations).receive_buffer(Some(3 << 20));
        let out = Script::listening(config, 7).wait(anabranch_stack::Duration::from_secs(2));
        out[0].1.segment.options.window_scale
    };
    assert_eq!((scale(Deviations::NONE.and("scale_of_memory")), scale(Deviations::NONE)), (Some(7), Some(6)));
}

/// Two subflows with a segment of 500 octets each in flight. A further 300 octets are the last of
/// the queue and of the stream, which is closed: they leave, or wait by Nagle's algorithm until the
/// subflow's small segment is acknowledged.
#[test]
fn the_last_octets_of_a_subflow_s_queue_may_wait_although_the_stream_is_closed() {
    for on in [true, false] {
        let flags = Deviations::NONE.and("minshall");
        let deviations = if on { flags.and("nagle_by_subflow") } else { flags };
        let mut s = Script::server(mptcp().deviations(deviations).nagle(true).scheduler("linux".parse().unwrap()));
        s.give(0, s.dss(0, 1, 1, Some(0), None));
        s.c.write(500);
        assert_eq!(s.poll().iter().map(|t| t.segment.payload.len).collect::<Vec<_>>(), [500]);
        s.c.write(300);
        assert!(s.poll().is_empty(), "a small segment is unacknowledged");
        s.c.shutdown_write();
        let octets: u32 = s.poll().iter().map(|t| t.segment.payload.len).sum();
        assert_eq!(octets, if on { 0 } else { 300 });
        let out = s.give(0, s.dss(0, 1, 501, Some(500), None));
        let octets: u32 = out.iter().map(|t| t.segment.payload.len).sum();
        assert_eq!(octets, if on { 300 } else { 0 });
    }
}

/// `mptcp_pm_add_addr_echoed`: the next address is announced when the one before has been echoed.
#[test]
fn addresses_are_announced_one_by_one() {
    let address = |id| AddrId { id, addr: IpAddr::V4(Ipv4Addr::new(192, 0, 2, id)) };
    let one_by_one = Deviations::NONE.and("announces_one_by_one");
    for (deviations, at_once) in [(one_by_one, 1), (Deviations::NONE, 2)] {
        let mut s = Script::server(mptcp().deviations(deviations));
        s.give(0, s.dss(0, 1, 1, Some(0), None));
        s.c.advertise(address(1), None);
        s.c.advertise(address(2), None);
        let out = s.poll();
        assert_eq!(out.len(), at_once);
        assert!(out.iter().all(|t| t.segment.options.mptcp == Mptcp::None));
        let echo = s.signal(0, add_addr(address(1), None));
        let next = s.give(0, echo);
        assert_eq!((next.len(), s.now), (2 - at_once, Instant::ZERO));
        for t in next {
            let Signal::AddAddr { advertised, .. } = t.segment.options.signal else { panic!("an ADD_ADDR") };
            assert_eq!(advertised.address, address(2));
        }
    }
}
