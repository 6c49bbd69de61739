//! The peer's window: zero-window probes (RFC 9293 3.8.6.1), the silly window syndrome on either side (3.8.6.2), Nagle's
//! algorithm (3.7.4).

use anabranch_stack::Config;
use anabranch_stack::event::{Event, SendKind};
use anabranch_stack::time::Duration;

use crate::bench::Bench;
use crate::pair::{Fate, Pair, Side, at, ms, tcp};

/// A client whose peer has no window scaling and a window of `window` octets.
fn against(window: u64, config: Config) -> Bench {
    let mut b = Bench::client(config);
    b.play(&format!(
        "0   > S 0:0(0) <mss 1040,sackOK,wscale 14>
         0.1 < S. 0:0(0) ack 1 win {window} <mss 1040,sackOK>
         0.1 > . 1:1(0) ack 1"
    ));
    b
}

/// Two of five segments are acknowledged at 0.3 s, the window is closed; the timeout is 0.25 s.
fn closed_at_two(config: Config) -> Bench {
    let mut b = against(2000, config);
    b.play(
        "0.2 write 5000
         0.2 > . 1:2001(2x1000) ack 1
         0.3 < . 1:1(0) ack 2001 win 0
         0.3 rto 0.25",
    );
    b
}

// ---- zero-window probes ------------------------------------------------------------------------------------------

/// 3.8.6.1: the first probe after a timeout, then at exponentially growing intervals, one octet each; the window and the
/// threshold do not change, for nothing was lost.
#[test]
fn a_closed_window_is_probed_ever_more_slowly() {
    let mut b = closed_at_two(tcp());
    b.play(
        "0.3  timer 0.55
         0.55 > . 2001:2002(1) ack 1 {probe}
         0.6  < . 1:1(0) ack 2001 win 0
         0.8  > . 2001:2002(1) ack 1 {probe}
         0.85 < . 1:1(0) ack 2001 win 0
         1.3  > . 2001:2002(1) ack 1 {probe}
         1.35 < . 1:1(0) ack 2001 win 0
         2.3  > . 2001:2002(1) ack 1 {probe}
         2.35 < . 1:1(0) ack 2001 win 0
         4.3  > . 2001:2002(1) ack 1 {probe}
         4.3  cwnd 10000
         4.3  ssthresh inf",
    );
    assert_eq!(b.count(|e| matches!(e, Event::Congestion { .. })), 0);
}

/// The interval does not grow beyond the largest timeout.
#[test]
fn the_interval_of_probes_has_an_upper_bound() {
    let mut b = closed_at_two(tcp().max_rto(Duration::from_secs(1)));
    b.play(
        "0.55 > . 2001:2002(1) ack 1 {probe}
         0.8  > . 2001:2002(1) ack 1 {probe}
         0.9  < . 1:1(0) ack 2001 win 0
         1.3  > . 2001:2002(1) ack 1 {probe}
         1.4  < . 1:1(0) ack 2001 win 0
         2.3  > . 2001:2002(1) ack 1 {probe}
         2.4  < . 1:1(0) ack 2001 win 0
         3.3  > . 2001:2002(1) ack 1 {probe}",
    );
}

/// The window opens while no probe is out: data leave at once.
#[test]
fn an_update_before_the_first_probe_lets_data_go() {
    let mut b = closed_at_two(tcp());
    b.play(
        "0.4 < . 1:1(0) ack 2001 win 10000
         0.4 > . 2001:4001(2x1000) ack 1
         0.4 > P. 4001:5001(1000) ack 1
         0.4 timer 0.65",
    );
}

/// The window opens and the octet of the probe was refused: it goes out again at once, the rest behind it.
#[test]
fn an_update_after_a_refused_probe_sends_its_octet_again() {
    let mut b = closed_at_two(tcp());
    b.play(
        "0.55 > . 2001:2002(1) ack 1 {probe}
         0.6  < . 1:1(0) ack 2001 win 0
         0.7  < . 1:1(0) ack 2001 win 10000
         0.7  > . 2001:2002(1) ack 1 {probe}
         0.7  > . 2002:4002(2x1000) ack 1 {new}
         0.8  < . 1:1(0) ack 4002 win 10000
         0.8  > P. 4002:5001(999) ack 1",
    );
}

/// The octet of the probe was taken and the window opens with its acknowledgement.
#[test]
fn an_accepted_probe_lets_data_go() {
    let mut b = closed_at_two(tcp());
    b.play(
        "0.55 > . 2001:2002(1) ack 1 {probe}
         0.6  < . 1:1(0) ack 2002 win 10000
         0.6  > . 2002:4002(2x1000) ack 1 {new}
         0.7  < . 1:1(0) ack 4002 win 10000
         0.7  > P. 4002:5001(999) ack 1",
    );
}

/// Nothing was lost while the window was closed: the timeout is what it was before.
#[test]
fn probing_does_not_back_off_the_timeout() {
    let mut b = closed_at_two(tcp());
    b.play(
        "0.55 > . 2001:2002(1) ack 1 {probe}
         0.8  > . 2001:2002(1) ack 1 {probe}
         0.9  < . 1:1(0) ack 2001 win 0
         1.3  > . 2001:2002(1) ack 1 {probe}
         2.3  > . 2001:2002(1) ack 1 {probe}
         2.4  < . 1:1(0) ack 2001 win 10000
         2.4  > . 2001:2002(1) ack 1 {probe}
         2.4  > . 2002:4002(2x1000) ack 1 {new}
         2.4  timer 2.65
         2.65 > . 2001:2002(1) ack 1 {timeout}",
    );
}

/// 3.8.6.1: the connection stays open as long as the peer answers, far beyond R2.
#[test]
fn probing_goes_on_as_long_as_the_peer_answers() {
    let mut b = closed_at_two(tcp().max_retransmissions(3));
    b.play(
        "0.55 > . 2001:2002(1) ack 1 {probe}
         0.6  < . 1:1(0) ack 2001 win 0
         0.8  > . 2001:2002(1) ack 1 {probe}
         0.85 < . 1:1(0) ack 2001 win 0
         1.3  > . 2001:2002(1) ack 1 {probe}
         1.35 < . 1:1(0) ack 2001 win 0
         2.3  > . 2001:2002(1) ack 1 {probe}
         2.35 < . 1:1(0) ack 2001 win 0
         4.3  > . 2001:2002(1) ack 1 {probe}
         4.35 < . 1:1(0) ack 2001 win 0
         8.3  > . 2001:2002(1) ack 1 {probe}
         8.35 < . 1:1(0) ack 2001 win 0
         16.3 > . 2001:2002(1) ack 1 {probe}
         16.3 state ESTABLISHED",
    );
}

/// 3.8.6.1 with 3.8.3: two probes that nobody answered may be lost answers; from there on it is a segment as any other,
/// and the connection ends after so many retransmissions (here three). The intervals go on growing.
#[test]
fn unanswered_probes_end_the_connection() {
    let mut b = closed_at_two(tcp().max_retransmissions(3));
    b.play(
        "0.55 > . 2001:2002(1) ack 1 {probe}
         0.6  < . 1:1(0) ack 2001 win 0           // the last answer
         0.8  > . 2001:2002(1) ack 1 {probe}
         1.3  > . 2001:2002(1) ack 1 {probe}
         2.3  > . 2001:2002(1) ack 1 {timeout}
         4.3  > . 2001:2002(1) ack 1 {timeout}
         8.3  > . 2001:2002(1) ack 1 {timeout}
         16.3 event Aborted(TimedOut)
         16.3 state CLOSED
         16.3 timer none",
    );
}

/// What was lost before the window closed is retransmitted as ever: the window does not concern it.
#[test]
fn a_loss_before_the_window_closed_is_no_probe() {
    let mut b = against(2000, tcp());
    b.play(
        "0.2 write 5000
         0.2 > . 1:2001(2x1000) ack 1
         0.3 < . 1:1(0) ack 1001 win 1000         // the right edge stays at 2001
         0.55 > . 1001:2001(1000) ack 1 {timeout}
         0.55 event Congestion(Timeout)
         0.55 cwnd 1000",
    );
}

/// 3.10.7.4, first check: with a closed window valid ACKs are taken all the same. Our window is closed; the peer's probe
/// is refused, and the acknowledgement that it carries counts.
#[test]
fn a_probe_that_arrives_at_a_closed_window_still_acknowledges() {
    let mut b = Bench::open_client(tcp().receive_buffer(Some(2000)));
    b.play(
        "0.2 < . 1:1001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 1001 win 1000
         0.2 < . 1001:2001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 2001 win 0
         0.3 write 1000
         0.3 > P. 1:1001(1000) ack 2001 win 0
         0.4 < . 2001:2002(1) ack 1001 win 4
         0.4 > . 1001:1001(0) ack 2001 win 0
         0.4 flight 0
         0.4 timer none
         0.5 write 1000
         0.5 > P. 1001:2001(1000) ack 2001 win 0
         0.6 < . 2002:2002(0) ack 2001 win 4      // after its probe
         0.6 flight 0
         0.6 unread 2000",
    );
}

/// Both windows are closed and both sides probe. Each acknowledges with a sequence number beyond its probe, which lies
/// outside the other's closed window; that must not make them acknowledge each other for ever, nor hide the updates.
#[test]
fn two_closed_windows_open_again() {
    let config = tcp().receive_buffer(Some(10_000));
    let mut pair = Pair::new(config.clone(), config, ms(10));
    pair[Side::A].reads = false;
    pair[Side::B].reads = false;
    pair.write(Side::A, 50_000);
    pair.write(Side::B, 50_000);
    pair.run_until(at(10_000));
    assert_eq!(
        (pair[Side::A].conn().inbound().readable(), pair[Side::B].conn().inbound().readable()),
        (10_000, 10_000)
    );
    // Five probes of each side and their answers, no more.
    assert!(pair.log.len() < 100, "{} segments", pair.log.len());
    for side in [Side::A, Side::B] {
        pair[side].reads = true;
        pair.read(side, 10_000);
    }
    pair.close(Side::A);
    pair.close(Side::B);
    pair.run();
    assert_eq!((pair[Side::A].read, pair[Side::B].read), (50_000, 50_000));
    assert!(pair.is_closed());
}

/// A's data wait for a reader that does not read; B's data flow to A all the while, acknowledged beyond A's probe.
#[test]
fn data_flow_against_a_closed_window() {
    let config = tcp().receive_buffer(Some(10_000));
    let mut pair = Pair::new(config.clone(), config, ms(10));
    pair[Side::B].reads = false;
    pair.write(Side::A, 50_000);
    pair.run_until(at(3_000));
    assert!(pair.log.iter().any(|p| p.transmit.kind == SendKind::Probe));
    pair.write(Side::B, 500_000);
    pair.run_until(at(6_000));
    assert_eq!(pair[Side::A].read, 500_000);
    let again = pair.log.iter().filter(|p| p.from == Side::B && p.transmit.transmissions > 1).count();
    assert_eq!(again, 0, "retransmissions of B");
}

/// A reader that stops for a minute: everything arrives, nothing was retransmitted but probes.
#[test]
fn a_reader_that_stops_for_a_minute_loses_nothing() {
    let config = tcp().receive_buffer(Some(10_000));
    let mut pair = Pair::new(config.clone(), config, ms(10));
    pair[Side::B].reads = false;
    pair.write(Side::A, 1_000_000);
    pair.close(Side::A);
    pair.close(Side::B);
    pair.run_until(at(60_000));
    assert_eq!(pair[Side::B].conn().inbound().readable(), 10_000);
    pair[Side::B].reads = true;
    pair.read(Side::B, u64::MAX);
    pair.run_until(at(70_000));
    assert_eq!(pair[Side::B].read, 1_000_000);
    assert!(pair.is_closed());
    assert_eq!(pair[Side::A].count(|e| matches!(e, Event::Congestion { .. })), 0);
}

/// The update that opens the window is lost; a probe brings it.
#[test]
fn a_lost_window_update_is_made_good_by_a_probe() {
    let config = tcp().receive_buffer(Some(10_000));
    let mut pair = Pair::new(config.clone(), config, ms(10));
    pair[Side::B].reads = false;
    pair.write(Side::A, 30_000);
    pair.run_until(at(5_000));
    pair[Side::B].reads = true;
    pair.filter(|p| if p.from == Side::B && p.at == at(5_000) { Fate::Drop } else { Fate::Pass });
    pair.read(Side::B, u64::MAX);
    pair.run_until(at(20_000));
    assert_eq!(pair[Side::B].read, 30_000);
}

/// A FIN takes no place in the buffer: it arrives although the window is closed.
#[test]
fn a_fin_passes_a_closed_window() {
    let config = tcp().receive_buffer(Some(10_000)).max_retransmissions(3);
    let mut pair = Pair::new(config.clone(), config, ms(10));
    pair[Side::B].reads = false;
    pair.write(Side::A, 10_000);
    pair.close(Side::A);
    pair.run_until(at(60_000));
    assert_eq!(pair[Side::B].conn().inbound().readable(), 10_000);
    assert!(pair[Side::B].when(Event::EndOfStream).is_some());
}

// ---- silly windows: receiver -------------------------------------------------------------------------------------

/// 3.8.6.2.2: the right edge does not move in small steps: reading 999 of 2000 octets opens nothing, one more does.
/// RFC 9293 3.8.6.2.2.
#[test]
fn the_window_opens_by_a_segment_at_least() {
    let mut b = Bench::open_client(tcp().receive_buffer(Some(10_000)));
    b.play(
        "0.2 < . 1:10001(10000) ack 1 win 4
         0.2 > . 1:1(0) ack 10001 win 0
         0.3 read 999
         0.3 < . 10001:10002(1) ack 1 win 4
         0.3 > . 1:1(0) ack 10001 win 0
         0.4 read 1
         0.4 < . 10001:10002(1) ack 1 win 4
         0.4 > . 1:1(0) ack 10001 win 1000",
    );
}

/// An update leaves by itself when the window opens by two segments.
#[test]
fn reading_two_segments_sends_an_update() {
    let mut b = Bench::open_client(tcp().receive_buffer(Some(10_000)));
    b.play(
        "0.2 < . 1:10001(10000) ack 1 win 4
         0.2 > . 1:1(0) ack 10001 win 0
         0.3 read 1999
         0.4 read 1
         0.4 > . 1:1(0) ack 10001 win 2000
         0.5 read 1000
         0.6 read 4000
         0.6 > . 1:1(0) ack 10001 win 7000",
    );
}

/// A sender that has two segments of window and more left does not wait: nobody is told before half of the buffer is free again.
/// Here 2000 of 10000 octets are unread, and are read in four steps; then 6000, of which 5000 have to be read.
#[test]
fn reading_beside_an_open_window_sends_no_update_before_half_of_it() {
    let mut b = Bench::open_client(tcp().receive_buffer(Some(10_000)));
    b.play(
        "0.2 < . 1:2001(2000) ack 1 win 4
         0.2 > . 1:1(0) ack 2001 win 8000
         0.3 read 500
         0.3 read 500
         0.3 read 500
         0.3 read 500
         0.4 < . 2001:8001(6000) ack 1 win 4
         0.4 > . 1:1(0) ack 8001 win 4000
         0.5 read 2500
         0.5 read 2499
         0.6 read 1
         0.6 > . 1:1(0) ack 8001 win 9000",
    );
}

/// 3.8.6.2.2: with a small buffer the step is half of it.
/// RFC 9293 3.8.6.2.2.
#[test]
fn a_small_buffer_opens_by_half() {
    let mut b = Bench::open_client(tcp().receive_buffer(Some(1000)));
    b.play(
        "0.2 < . 1:1001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 1001 win 0
         0.3 read 499
         0.4 read 1
         0.4 > . 1:1(0) ack 1001 win 500",
    );
}

/// RFC 7323 2.3: the window of every segment but a SYN "MUST be right-shifted": of 16384 octets less 604, in units of 16384, the peer is shown none. What it is shown
/// is the window that opens by a segment (RFC 9293 3.8.6.2.2), whatever the edge was before: 604 octets each 100 ms need no probe.
#[test]
fn less_than_a_unit_of_the_field_is_a_closed_window_that_opens() {
    let small = tcp().receive_buffer(None).receive_initial(Some(47));
    let mut pair = Pair::seeded(tcp(), small, &[ms(10)], 1);
    pair.run_until(at(100));
    for n in 1..=20 {
        pair.write(Side::A, 604);
        pair.run_until(at(100 + 100 * n));
        assert_eq!(pair[Side::B].read, 604 * n);
    }
}

/// 3.8.6: the right edge never moves back: what arrives and is not read comes out of the window.
/// RFC 8684 3.3.4.
/// RFC 7323 2.4.
#[test]
fn the_right_edge_never_moves_back() {
    let mut b = Bench::open_client(tcp().receive_buffer(Some(10_000)));
    b.play(
        "0.2 < . 1:1001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 1001 win 9000
         0.2 < . 1001:2001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 2001 win 8000
         0.3 read 1500
         0.3 < . 2001:3001(1000) ack 1 win 4
         0.3 > . 1:1(0) ack 3001 win 8500         // 1500 + 10,000 - 3000: the edge moved by 1500
         0.4 < . 4001:5001(1000) ack 1 win 4      // out of order: the edge stays
         0.4 > . 1:1(0) ack 3001 win 8500 <sack 4001:5001>",
    );
}

// ---- silly windows: sender ---------------------------------------------------------------------------------------

/// 3.8.6.2.1 (1): the rest of a window smaller than a segment waits while data are outstanding.
/// RFC 9293 3.8.6.2.1.
#[test]
fn the_rest_of_a_window_waits() {
    let mut b = against(2500, tcp());
    b.play(
        "0.2 write 5000
         0.2 > . 1:2001(2x1000) ack 1
         0.3 < . 1:1(0) ack 1001 win 2000         // 3001 is the edge: a full segment fits
         0.3 > . 2001:3001(1000) ack 1",
    );
}

/// 3.8.6.2.1 (3): half of the largest window is worth a segment of its own when nothing is outstanding.
/// RFC 9293 3.8.6.2.1.
#[test]
fn half_of_the_largest_window_is_enough() {
    let mut b = against(600, tcp());
    b.play(
        "0.2 write 5000
         0.2 > . 1:601(600) ack 1
         0.3 < . 1:1(0) ack 601 win 300
         0.3 > . 601:901(300) ack 1",
    );
}

/// 3.8.6.2.1 (4): less than half of it waits until it grows, or for the override timeout of 0.1 to 1 s; here the timeout
/// of 0.25 s serves.
/// RFC 9293 3.8.6.2.1.
#[test]
fn a_small_part_of_the_largest_window_waits_for_the_override_timeout() {
    let mut b = against(2000, tcp());
    b.play(
        "0.2 write 9000
         0.2 > . 1:2001(2x1000) ack 1
         0.3 < . 1:1(0) ack 2001 win 300
         0.3 timer 0.55
         0.55 > . 2001:2301(300) ack 1
         0.6 < . 1:1(0) ack 2301 win 300
         0.7 < . 1:1(0) ack 2301 win 1000         // enough before the timeout
         0.7 > . 2301:3301(1000) ack 1",
    );
}

/// RFC 3168 6.1.6: a probe is neither ECT nor does it carry CWR.
#[test]
fn probes_are_not_ect() {
    let mut b = Bench::client(tcp().ecn(true));
    b.play(
        "0    > SEW 0:0(0) <mss 1040,sackOK,wscale 14>
         0.1  < SE. 0:0(0) ack 1 win 2000 <mss 1040,sackOK>
         0.1  > . 1:1(0) ack 1
         0.2  write 5000
         0.2  > [ect0] . 1:2001(2x1000) ack 1
         0.3  < E. 1:1(0) ack 2001 win 0
         0.3  event Congestion(Ecn)
         0.55 > . 2001:2002(1) ack 1 {probe}
         0.6  < . 1:1(0) ack 2001 win 5000
         0.6  > . 2001:2002(1) ack 1 {probe}
         0.6  > [ect0] W. 2002:3002(1000) ack 1",
    );
}

// ---- Nagle -------------------------------------------------------------------------------------------------------

/// 3.7.4: a small segment leaves if nothing is outstanding, the next waits for the acknowledgement and gathers.
/// RFC 9293 3.9.1.2.
#[test]
fn small_segments_gather_while_data_are_outstanding() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2  write 100
         0.2  > P. 1:101(100) ack 1
         0.21 write 100
         0.22 write 200
         0.3  < . 1:1(0) ack 101 win 4
         0.3  > P. 101:401(300) ack 1",
    );
}

/// 3.7.4: a full segment leaves at once, what is left over waits.
/// RFC 9293 3.9.1.2.
#[test]
fn full_segments_do_not_wait() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 write 2500
         0.2 > . 1:2001(2x1000) ack 1
         0.25 write 600
         0.25 > . 2001:3001(1000) ack 1
         0.3 < . 1:1(0) ack 2001 win 4            // not all: the last 100 wait
         0.35 < . 1:1(0) ack 3001 win 4
         0.35 > P. 3001:3101(100) ack 1",
    );
}

/// 3.7.4: Nagle's algorithm may be off.
#[test]
fn without_nagle_small_segments_leave_at_once() {
    let mut b = Bench::open_client(tcp().nagle(false));
    b.play(
        "0.2  write 100
         0.2  > P. 1:101(100) ack 1
         0.21 write 100
         0.21 > P. 101:201(100) ack 1",
    );
}

/// The last data do not wait when nothing will follow.
#[test]
fn the_end_of_the_stream_does_not_wait() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 write 1100
         0.2 > . 1:1001(1000) ack 1
         0.25 shutdown
         0.25 > P. 1001:1101(100) ack 1
         0.25 > F. 1101:1101(0) ack 1",
    );
}

// ---- the sender's buffer -----------------------------------------------------------------------------------------

/// 50000 octets through a send buffer of 4000, 20 ms to and fro: four segments a round trip, never more than 4000 octets that are not
/// acknowledged, and the limit is the buffer.
#[test]
fn a_full_send_buffer_takes_no_more() {
    let config = tcp().send_buffer(Some(4000));
    let mut pair = Pair::new(config.clone(), config, ms(10));
    pair.write(Side::A, 50_000);
    pair.close(Side::A);
    pair.close(Side::B);
    for step in 0..40 {
        pair.run_until(at(5 * step));
        let c = pair[Side::A].conn();
        assert!(c.outbound().unacknowledged() <= 4000 && c.writable() == 4000 - c.outbound().unacknowledged());
        if step > 5 {
            assert_eq!(c.outbound().limit(), anabranch_stack::event::SendBlock::SendBuffer);
        }
    }
    pair.run();
    assert_eq!(pair[Side::B].read, 50_000);
    let data: Vec<u64> = pair.log.iter().filter(|p| p.data_n.is_some()).map(|p| p.at.0 / 1_000_000).collect();
    // The handshake takes 20 ms.
    assert_eq!(data, (0..50).map(|n| 20 + 20 * (n / 4)).collect::<Vec<u64>>());
}

/// Data that waits at data level for a hole on the other path fills the sender's buffer, although its subflow has acknowledged it.
#[test]
fn the_send_buffer_is_emptied_by_data_acknowledgements() {
    let config = crate::mptcp_bench::mptcp().send_buffer(Some(20_000));
    let mut pair = crate::mptcp_bench::joined(config.clone(), config, &[10, 10], 1000);
    pair.run_until(at(100));
    // What path 0 carries is lost for a second.
    pair.filter(|p| if p.path == 0 && p.from == Side::A && p.at < at(1100) { Fate::Drop } else { Fate::Pass });
    pair.write(Side::A, 100_000);
    pair.run_until(at(190));
    let c = pair[Side::A].conn();
    assert_eq!((c.outbound().unacknowledged(), c.writable()), (20_000, 0));
    pair.run_until(at(20_000));
    assert_eq!(pair[Side::B].read, 101_000);
}
