//! RFC 5681: slow start, congestion avoidance, the threshold, restart after idle; generating acknowledgements.

use anabranch_stack::Config;
use anabranch_stack::config::DelayedAck;

use crate::bench::Bench;
use crate::pair::{ms, tcp};

/// Plays an acknowledgement for each of `from..to` (in segments) at `time`; each must let `each` new segments go.
/// `sent` is the number of segments out so far, and is brought up to date.
fn acknowledge(b: &mut Bench, time: &str, from: u64, to: u64, each: u64, sent: &mut u64) {
    for i in from..to {
        let ack = (i + 1) * 1000 + 1;
        let mut script = format!("{time} < . 1:1(0) ack {ack} win 1000\n");
        if each > 0 {
            let (start, end) = (*sent * 1000 + 1, (*sent + each) * 1000 + 1);
            script += &format!("{time} > . {start}:{end}({each}x1000) ack 1\n");
            *sent += each;
        }
        b.play(&script);
    }
}

/// Ten segments and two of limited transmit were out, the first was lost and recovered: cwnd = ssthresh = 5 segments, and
/// segments 13 to 17 are in flight at 0.4 s.
fn in_avoidance() -> Bench {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2  write 500000
         0.2  > . 1:10001(10x1000) ack 1
         0.3  < . 1:1(0) ack 1 win 1000 <sack 1001:2001>
         0.3  > . 10001:11001(1000) ack 1
         0.3  < . 1:1(0) ack 1 win 1000 <sack 1001:3001>
         0.3  > . 11001:12001(1000) ack 1
         0.3  < . 1:1(0) ack 1 win 1000 <sack 1001:4001>
         0.3  > . 1:1001(1000) ack 1 {fast}
         0.4  < . 1:1(0) ack 12001 win 1000
         0.4  > . 12001:17001(5x1000) ack 1
         0.4  cwnd 5000
         0.4  ssthresh 5000",
    );
    b
}

// ---- the window --------------------------------------------------------------------------------------------------

/// 3.1: in slow start each segment acknowledged adds one, so the window doubles each round trip: 10, 20, 40.
#[test]
fn slow_start_doubles_the_window_each_round_trip() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 write 500000
         0.2 > . 1:10001(10x1000) ack 1",
    );
    let mut sent = 10;
    acknowledge(&mut b, "0.3", 0, 10, 2, &mut sent);
    b.play("0.3 cwnd 20000");
    acknowledge(&mut b, "0.4", 10, 30, 2, &mut sent);
    b.play("0.4 cwnd 40000\n 0.4 ssthresh inf");
}

/// 3.1 equation (3) by counting octets: one segment more for each window acknowledged.
#[test]
fn congestion_avoidance_adds_a_segment_a_window() {
    let mut b = in_avoidance();
    let mut sent = 17;
    acknowledge(&mut b, "0.5", 12, 16, 1, &mut sent);
    b.play("0.5 cwnd 5000");
    acknowledge(&mut b, "0.5", 16, 17, 2, &mut sent);
    b.play("0.5 cwnd 6000");
    acknowledge(&mut b, "0.6", 17, 22, 1, &mut sent);
    b.play("0.6 cwnd 6000");
    acknowledge(&mut b, "0.6", 22, 23, 2, &mut sent);
    b.play("0.6 cwnd 7000");
}

/// 3.1: slow start ends at ssthresh. After a timeout with ten segments out: 1, 2, 3, 4, 5, then avoidance.
#[test]
fn slow_start_ends_at_the_threshold() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2  write 500000
         0.2  > . 1:10001(10x1000) ack 1
         0.5  > . 1:1001(1000) ack 1 {timeout}
         0.5  ssthresh 5000
         0.6  < . 1:1(0) ack 1001 win 1000
         0.6  > . 1001:3001(2x1000) ack 1 {timeout}
         0.6  cwnd 2000
         0.7  < . 1:1(0) ack 2001 win 1000
         0.7  > . 3001:5001(2x1000) ack 1 {timeout}
         0.7  < . 1:1(0) ack 3001 win 1000
         0.7  > . 5001:7001(2x1000) ack 1 {timeout}
         0.7  cwnd 4000
         0.8  < . 1:1(0) ack 4001 win 1000
         0.8  > . 7001:9001(2x1000) ack 1 {timeout}
         0.8  cwnd 5000
         0.8  < . 1:1(0) ack 5001 win 1000
         0.8  > . 9001:10001(1000) ack 1 {timeout}
         0.8  cwnd 5000
         0.8  < . 1:1(0) ack 6001 win 1000
         0.8  > . 10001:11001(1000) ack 1 {new}
         0.8  cwnd 5000",
    );
}

/// 3.1 equation (4): ssthresh = max(FlightSize / 2, 2 SMSS).
#[test]
fn the_threshold_is_half_the_flight_but_two_segments_at_least() {
    for (segments, threshold) in [(1, 2000), (3, 2000), (4, 2000), (5, 2500), (10, 5000)] {
        let mut b = Bench::open_client(tcp());
        let last = (segments - 1) * 1000 + 1;
        let mut script = format!("0.2 write {}\n", segments * 1000);
        if segments > 1 {
            script += &format!("0.2 > . 1:{last}({}x1000) ack 1\n", segments - 1);
        }
        script += &format!(
            "0.2 > P. {last}:{}(1000) ack 1
             0.5 > {} 1:1001(1000) ack 1 {{timeout}}
             0.5 cwnd 1000
             0.5 ssthresh {threshold}",
            last + 1000,
            if segments > 1 { "." } else { "P." }
        );
        b.play(&script);
    }
}

/// 3.1: a segment that the timer sends again and again cuts ssthresh once.
#[test]
fn a_repeated_timeout_holds_the_threshold() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 write 500000
         0.2 > . 1:10001(10x1000) ack 1
         0.5 > . 1:1001(1000) ack 1 {timeout}
         0.5 ssthresh 5000
         1.1 > . 1:1001(1000) ack 1 {timeout}
         1.1 ssthresh 5000
         1.1 cwnd 1000
         2.3 > . 1:1001(1000) ack 1 {timeout}
         2.3 ssthresh 5000",
    );
}

/// 3.1 equation (4) is an upper bound. Ten segments leave at 0.2, the first is lost and so is its retransmission at 0.3. The SACKs
/// of the others let new data out, at the end of which 22 segments are outstanding; the path was found too small at ten.
#[test]
fn a_timeout_in_fast_recovery_does_not_raise_the_threshold() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 write 500000
         0.2 > . 1:10001(10x1000) ack 1
         0.3 < . 1:1(0) ack 1 win 1000 <sack 1001:4001>
         0.3 > . 1:1001(1000) ack 1 {fast}
         0.3 ssthresh 5000
         0.3 < . 1:1(0) ack 1 win 1000 <sack 1001:7001>
         0.3 > . 10001:11001(1000) ack 1 {new}
         0.3 < . 1:1(0) ack 1 win 1000 <sack 1001:10001>
         0.3 > . 11001:14001(3x1000) ack 1 {new}
         0.4 < . 1:1(0) ack 1 win 1000 <sack 1001:14001>
         0.4 > . 14001:18001(4x1000) ack 1 {new}
         0.5 < . 1:1(0) ack 1 win 1000 <sack 1001:18001>
         0.5 > . 18001:22001(4x1000) ack 1 {new}
         0.6 > . 1:1001(1000) ack 1 {timeout}
         0.6 ssthresh 5000
         0.6 cwnd 1000",
    );
}

/// A later timeout in the same episode finds less in the network than the first: the threshold goes down with it.
#[test]
fn another_timeout_in_an_episode_lowers_the_threshold() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 write 500000
         0.2 > . 1:10001(10x1000) ack 1
         0.5 > . 1:1001(1000) ack 1 {timeout}
         0.5 ssthresh 5000
         0.6 < . 1:1(0) ack 1001 win 1000
         0.6 > . 1001:3001(2x1000) ack 1 {timeout}
         0.6 timer 1.2
         1.2 > . 1001:2001(1000) ack 1 {timeout}
         1.2 ssthresh 2000",
    );
}

/// 3.1: when a SYN is lost the initial window is one segment; ssthresh stays arbitrarily high.
#[test]
fn after_a_lost_syn_the_window_is_one_segment() {
    let mut b = Bench::client(tcp());
    b.play(
        "0   > S 0:0(0) <mss 1040,sackOK,wscale 14>
         1   > S 0:0(0) <mss 1040,sackOK,wscale 14>
         1.1 < S. 0:0(0) ack 1 win 65535 <mss 1040,sackOK>
         1.1 > . 1:1(0) ack 1
         1.1 cwnd 1000
         1.1 ssthresh inf
         1.2 write 20000
         1.2 > . 1:1001(1000) ack 1
         1.3 < . 1:1(0) ack 1001 win 65535
         1.3 > . 1001:3001(2x1000) ack 1
         1.3 cwnd 2000",
    );
}

/// 3.1, the same for a lost SYN/ACK.
#[test]
fn after_a_lost_syn_ack_the_window_is_one_segment() {
    let mut b = Bench::server(tcp());
    b.play(
        "0   < S 0:0(0) win 65535 <mss 1040>
         0   > S. 0:0(0) ack 1 <mss 1040>
         1   > S. 0:0(0) ack 1 <mss 1040>
         1.1 < . 1:1(0) ack 1 win 65535
         1.1 cwnd 1000
         1.1 ssthresh inf
         1.2 write 20000
         1.2 > . 1:1001(1000) ack 1",
    );
}

/// 4.1: after more than a timeout without sending the window restarts at the initial one, 3 segments here instead of 5; before that
/// it does not. Four samples of 100 ms make a timeout of 200 ms.
#[test]
fn after_an_idle_timeout_the_window_restarts() {
    for (again, segments) in [("0.4", 5), ("0.401", 3)] {
        let mut b = Bench::open_client(tcp().initial_window(3));
        b.play(
            "0.2 write 3000
             0.2 > . 1:2001(2x1000) ack 1
             0.2 > P. 2001:3001(1000) ack 1
             0.3 < . 1:1(0) ack 1001 win 100
             0.3 < . 1:1(0) ack 2001 win 100
             0.3 < . 1:1(0) ack 3001 win 100
             0.3 cwnd 5000
             0.3 rto 0.2",
        );
        b.play(&format!(
            "{again} write 20000
             {again} > . 3001:{}({segments}x1000) ack 1
             {again} cwnd {segments}000",
            3001 + segments * 1000
        ));
    }
}

/// 4.1: the restart window is at most the current one: after a lost SYN still one segment.
#[test]
fn a_restart_does_not_enlarge_the_window() {
    let mut b = Bench::client(tcp());
    b.play(
        "0   > S 0:0(0) <mss 1040,sackOK,wscale 14>
         1   > S 0:0(0) <mss 1040,sackOK,wscale 14>
         1.1 < S. 0:0(0) ack 1 win 65535 <mss 1040,sackOK>
         1.1 > . 1:1(0) ack 1
         60  write 20000
         60  > . 1:1001(1000) ack 1",
    );
}

/// A window that was not used says nothing about the path: one segment at a time leaves it at ten.
#[test]
fn an_application_limited_sender_does_not_grow_its_window() {
    let mut b = Bench::open_client(tcp());
    for i in 0..40_u64 {
        let (start, end) = (i * 1000 + 1, (i + 1) * 1000 + 1);
        b.play(&format!(
            "+.01 write 1000
             +0   > P. {start}:{end}(1000) ack 1
             +.1  < . 1:1(0) ack {end} win 100"
        ));
    }
    b.play("+0 cwnd 10000");
}

// ---- generating acknowledgements ---------------------------------------------------------------------------------

fn delayed() -> Config {
    tcp().delayed_ack(DelayedAck::After(ms(40)))
}

/// 4.2: at least every second full segment.
#[test]
fn every_second_segment_is_acknowledged() {
    let mut b = Bench::open_client(delayed());
    b.play(
        "0.2 < . 1:1001(1000) ack 1 win 4
         0.2 < . 1001:2001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 2001
         0.2 < . 2001:3001(1000) ack 1 win 4
         0.2 < . 3001:4001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 4001
         0.2 timer none",
    );
}

/// 4.2: out of order: at once, each of them.
#[test]
fn segments_out_of_order_are_acknowledged_at_once() {
    let mut b = Bench::open_client(delayed());
    b.play(
        "0.2 < . 1001:2001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 1 <sack 1001:2001>
         0.2 < . 2001:3001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 1 <sack 1001:3001>",
    );
}

/// 4.2: a segment that fills all or part of a gap: at once.
#[test]
fn a_segment_that_fills_a_hole_is_acknowledged_at_once() {
    let mut b = Bench::open_client(delayed());
    b.play(
        "0.2 < . 1001:2001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 1 <sack 1001:2001>
         0.2 < . 3001:4001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 1 <sack 3001:4001 1001:2001>
         0.3 < . 1:1001(1000) ack 1 win 4
         0.3 > . 1:1(0) ack 2001 <sack 3001:4001>
         0.4 < . 2001:3001(1000) ack 1 win 4
         0.4 > . 1:1(0) ack 4001
         0.5 < . 4001:5001(1000) ack 1 win 4      // in order again: delayed
         0.54 > . 1:1(0) ack 5001",
    );
}

/// A duplicate is acknowledged at once; and the next one in order is delayed again, with SACK or without.
#[test]
fn a_duplicate_does_not_end_delayed_acknowledgements() {
    for sack in [true, false] {
        let mut b = Bench::open_client(delayed().sack(sack));
        let report = if sack { "<sack 1:1001>" } else { "" };
        b.play(&format!(
            "0.2 < . 1:1001(1000) ack 1 win 4
             0.2 < . 1001:2001(1000) ack 1 win 4
             0.2 > . 1:1(0) ack 2001
             0.3 < . 1:1001(1000) ack 1 win 4
             0.3 > . 1:1(0) ack 2001 {report}
             0.4 < . 2001:3001(1000) ack 1 win 4
             0.44 > . 1:1(0) ack 3001"
        ));
    }
}

/// Equation (4), for either way of counting: half of what was in flight when the timer expires, though the window had never been cut.
#[test]
fn the_first_timeout_sets_the_threshold() {
    for linux in [0.0, 1.0] {
        let mut config = tcp();
        config.controller = config.controller.with("linux", linux).unwrap();
        let mut b = Bench::open_client(config);
        b.play(
            "0.2 write 10000
             0.2 > . 1:9001(9x1000) ack 1
             0.2 > P. 9001:10001(1000) ack 1
             0.5 > . 1:1001(1000) ack 1 {timeout}
             0.5 ssthresh 5000
             0.5 cwnd 1000",
        );
    }
}

/// Delayed acknowledgements may be off.
/// RFC 5681 4.2.
#[test]
fn without_delay_every_segment_is_acknowledged() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 < . 1:1001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 1001
         0.2 < . 1001:2001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 2001",
    );
}
