//! Nagle's algorithm and the cork at run time (RFC 9293 3.7.4, 3.8.6.2.1), and the state in figures.

use anabranch_stack::event::SendKind;
use anabranch_stack::segment::Mptcp;
use anabranch_stack::tcp::info::{Recovering, Segments};
use anabranch_stack::{Duration, Instant, Setting};

use crate::bench::Bench;
use crate::mptcp_bench::{Script, mptcp};
use crate::pair::tcp;

/// 3.7.4: "If there is unacknowledged data [...] buffers all user data [...] until the outstanding data has been acknowledged".
/// "There MUST be a way for an application to disable the Nagle algorithm on an individual connection" (MUST-17).
#[test]
fn nagle_is_switched_off_and_on_at_run_time() {
    let mut b = Bench::open_client(tcp().nagle(true));
    b.play(
        "0.2  write 100
         0.2  > P. 1:101(100) ack 1
         0.21 write 100                        // waits
         0.22 no-delay on                      // and leaves now
         0.22 > P. 101:201(100) ack 1
         0.23 write 100
         0.23 > P. 201:301(100) ack 1
         0.24 no-delay off
         0.25 write 100
         0.3  < . 1:1(0) ack 201 win 4
         0.31 < . 1:1(0) ack 301 win 4
         0.31 > P. 301:401(100) ack 1",
    );
}

/// A corked connection sends full-sized segments only; what is left leaves when the cork is drawn.
#[test]
fn a_cork_holds_small_segments_back() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2  cork on
         0.2  write 600
         0.21 write 600
         0.21 > . 1:1001(1000) ack 1
         0.22 write 100
         0.3  < . 1:1(0) ack 1001 win 4
         0.35 cork off
         0.35 > P. 1001:1301(300) ack 1",
    );
}

/// With data in flight, Nagle's algorithm holds what the cork has released, unless it is off.
#[test]
fn what_the_cork_releases_goes_by_nagle() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2  cork on
         0.2  write 1200
         0.2  > . 1:1001(1000) ack 1
         0.21 cork off
         0.3  < . 1:1(0) ack 1001 win 4
         0.3  > P. 1001:1201(200) ack 1",
    );
    let mut b = Bench::open_client(tcp().nagle(false));
    b.play(
        "0.2  cork on
         0.2  write 1200
         0.2  > . 1:1001(1000) ack 1
         0.21 cork off
         0.21 > P. 1001:1201(200) ack 1",
    );
}

/// Nagle off while corked: what is written leaves, what is written later does not.
#[test]
fn no_delay_pushes_what_is_corked_once() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2  cork on
         0.2  write 200
         0.21 no-delay on
         0.21 > P. 1:201(200) ack 1
         0.22 write 200
         0.3  < . 1:1(0) ack 201 win 4
         0.31 cork off
         0.31 > P. 201:401(200) ack 1",
    );
}

/// The end of the stream draws every cork: nothing can follow.
#[test]
fn shutdown_draws_the_cork() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2  cork on
         0.2  write 200
         0.25 shutdown
         0.25 > P. 1:201(200) ack 1
         0.25 > F. 201:201(0) ack 1",
    );
}

/// 3.8.6.2.1: the override timeout, here the retransmission timeout, of 0.3 s: nobody waits for ever for a forgotten cork.
#[test]
fn a_forgotten_cork_is_overridden() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 cork on
         0.2 write 200
         0.2 timer 0.5
         0.5 > P. 1:201(200) ack 1",
    );
}

/// The same where a scheduler has assigned the data before: what waits on a subflow is not what a probe of the window would take.
#[test]
fn a_forgotten_cork_is_overridden_for_what_is_assigned() {
    let mut s = Script::client(mptcp().scheduler("otias".parse().unwrap()));
    s.c.set(Instant::ZERO, Setting::Cork(true));
    s.c.write(200);
    assert!(s.poll().is_empty());
    let rto = s.c.subflows()[0].rto();
    let left: Vec<_> =
        s.wait(Duration::from_secs(5)).iter().map(|(at, t)| (*at, t.segment.payload.len, t.kind)).collect();
    assert_eq!(left[0], (Instant::ZERO + rto, 200, SendKind::New));
}

/// RFC 8684 3.3.1: what two writes have left in one segment has one mapping, of the segment's length.
#[test]
fn corked_data_has_one_mapping() {
    let mut s = Script::client(mptcp());
    s.c.set(Instant::ZERO, Setting::Cork(true));
    let _ = s.c.write(300);
    assert!(s.poll().is_empty());
    let _ = s.c.write(400);
    assert!(s.poll().is_empty());
    s.c.set(Instant::ZERO, Setting::Cork(false));
    let out = s.poll();
    assert_eq!(out.len(), 1);
    let Mptcp::CapableAck { data: Some((700, _)), .. } = out[0].segment.options.mptcp else { panic!("{out:?}") };
    // 1500 octets more: a full segment leaves, the rest waits for the cork.
    s.c.set(Instant::ZERO, Setting::Cork(true));
    let _ = s.c.write(1500);
    let ack = s.dss(0, 1, 701, Some(700), None);
    let out = s.give(0, ack);
    let lens: Vec<_> = out.iter().map(|t| t.segment.dss().and_then(|d| d.mapping).map_or(0, |m| m.len)).collect();
    assert_eq!(lens, [1000]);
    s.c.set(Instant::ZERO, Setting::Cork(false));
    let ack = s.dss(0, 1, 1701, Some(1700), None);
    let out = s.give(0, ack);
    assert_eq!(out[0].segment.dss().and_then(|d| d.mapping).map(|m| (m.ssn, m.len)), Some((1701, 500)));
}

/// Two segments, the first lost: the figures at each step.
#[test]
fn the_figures_of_a_retransmission() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2  write 5000
         0.2  > . 1:4001(4x1000) ack 1
         0.2  > P. 4001:5001(1000) ack 1",
    );
    let info = b.conn().info(b.now, 0);
    assert_eq!((info.recovering, info.octets_acked, info.scales), (Recovering::Open, 0, Some((14, 14))));
    assert!(!info.syn_data, "no SYN had data");
    assert_eq!(info.in_flight, Segments { all: 5, ..Segments::default() });
    assert_eq!((info.counts.segments_out, info.counts.data_segments_out, info.counts.segments_in), (7, 5, 1));
    assert_eq!((info.counts.octets_out, info.delivered, info.unsent), (5000, 0, 0));
    b.play("0.3  < . 1:1(0) ack 1 win 4 <sack 1001:2001>");
    assert_eq!(b.conn().info(b.now, 0).recovering, Recovering::Disorder);
    assert_eq!(b.conn().info(b.now, 0).min_rtt, Some(Duration::from_millis(100)));
    b.play(
        "0.3  < . 1:1(0) ack 1 win 4 <sack 1001:3001>
         0.3  < . 1:1(0) ack 1 win 4 <sack 1001:4001>
         0.3  > . 1:1001(1000) ack 1 {fast}",
    );
    let info = b.conn().info(b.now, 0);
    assert_eq!(info.recovering, Recovering::Fast);
    assert_eq!(info.in_flight, Segments { all: 5, sacked: 3, lost: 1, retransmitted: 1 });
    assert_eq!((info.delivered, info.counts.retransmissions, info.counts.octets_retransmitted), (3, 1, 1000));
    b.play("0.4  < P. 1:101(100) ack 5001 win 4\n0.4 > . 5001:5001(0) ack 101");
    let info = b.conn().info(b.now, 0);
    assert_eq!((info.in_flight.all, info.delivered, info.octets_acked, info.octets_received), (0, 5, 5000, 100));
    assert_eq!((info.counts.data_segments_in, info.rcv_mss, info.unread), (1, 100, 100));
    assert_eq!((info.times.busy, info.times.receive_window_limited), (Duration::from_millis(200), Duration::ZERO));
    // Neither SYN nor FIN is an octet that is acknowledged.
    b.play(
        "0.5  shutdown
         0.5  > F. 5001:5001(0) ack 101
         0.6  < . 101:101(0) ack 5002 win 4",
    );
    assert_eq!(b.conn().info(b.now, 0).octets_acked, 5000);
}

/// The shift counts are those of a handshake in which either side scales.
#[test]
fn the_figures_say_how_windows_are_scaled() {
    for (own, theirs, scales) in [(0, 0, None), (0, 3, Some((3, 0))), (14, 0, Some((0, 14)))] {
        let buffer = if own == 14 { 1 << 30 } else { 60_000 };
        let mut b = Bench::client(tcp().receive_buffer(Some(buffer)));
        b.play(&format!(
            "0   > S 0:0(0) <mss 1040,sackOK,wscale {own}>
             0.1 < S. 0:0(0) ack 1 win 1000 <mss 1040,wscale {theirs}>
             0.1 > . 1:1(0) ack 1"
        ));
        assert_eq!(b.conn().info(b.now, 0).scales, scales);
    }
}

/// The peer's window takes 1000 of 1500 octets from 0.2 to 0.5: 0.3 s limited by it, and busy until 0.6.
#[test]
fn the_time_that_the_peers_window_limits() {
    let mut b = Bench::client(tcp());
    b.play(
        "0   > S 0:0(0) <mss 1040,sackOK,wscale 14>
         0.1 < S. 0:0(0) ack 1 win 1000 <mss 1040>
         0.1 > . 1:1(0) ack 1
         0.2 write 1500
         0.2 > . 1:1001(1000) ack 1
         0.3 < . 1:1(0) ack 1001 win 0
         0.5 < . 1:1(0) ack 1001 win 1000
         0.5 > P. 1001:1501(500) ack 1
         0.6 < . 1:1(0) ack 1501 win 1000",
    );
    let times = b.conn().info(b.now, 0).times;
    assert_eq!(times.receive_window_limited, Duration::from_millis(300));
    assert_eq!(times.busy, Duration::from_millis(400));
}
