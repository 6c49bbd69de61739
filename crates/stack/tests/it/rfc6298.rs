//! RFC 6298: the retransmission timeout, its timer, Karn's rule.

use anabranch_stack::config::RtoFloor;
use anabranch_stack::time::Duration;

use crate::bench::Bench;
use crate::pair::{ms, tcp};

// ---- the timeout -------------------------------------------------------------------------------------------------

/// 2.1: one second before the first sample, or what is configured.
#[test]
fn the_first_timeout_is_the_initial_one() {
    let mut b = Bench::client(tcp());
    b.play("0 > S 0:0(0) <mss 1040,sackOK,wscale 14>\n 0 timer 1");
    let mut b = Bench::client(tcp().initial_rto(Duration::from_secs(3)));
    b.play(
        "0 > S 0:0(0) <mss 1040,sackOK,wscale 14>
         3 > S 0:0(0) <mss 1040,sackOK,wscale 14>
         9 > S 0:0(0) <mss 1040,sackOK,wscale 14>",
    );
}

/// 2.2, 2.3, by hand: samples of 100, 100 and 180 ms.
/// RTTVAR 50, 37.5, 37.5 * 3/4 + 80 / 4 = 48.125; SRTT 100, 100, 110; RTO = SRTT + 4 RTTVAR.
/// RFC 6298 3.
#[test]
fn samples_make_the_timeout() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.1  srtt 0.1
         0.1  rto 0.3
         0.2  write 1000
         0.2  > P. 1:1001(1000) ack 1
         0.3  < . 1:1(0) ack 1001 win 100
         0.3  rto 0.25
         0.4  write 1000
         0.4  > P. 1001:2001(1000) ack 1
         0.58 < . 1:1(0) ack 2001 win 100
         0.58 srtt 0.11
         0.58 rto 0.3025",
    );
}

/// 2.4: the least timeout is configurable; Linux's 200 ms and the RFC's second are both reached. The round trip is 10 ms.
#[test]
fn the_least_timeout_is_two_hundred_milliseconds_or_a_second() {
    for (least, first, second) in [(200, "0.2", "0.4"), (1000, "1", "2")] {
        let mut b = Bench::client(tcp().min_rto(ms(least)));
        b.play(&format!(
            "0     > S 0:0(0) <mss 1040,sackOK,wscale 14>
             0.01  < S. 0:0(0) ack 1 win 65535 <mss 1040,sackOK>
             0.01  > . 1:1(0) ack 1
             0.01  rto {first}
             0.1   write 1000
             0.1   > P. 1:1001(1000) ack 1
             +{first}  > P. 1:1001(1000) ack 1 {{timeout}}
             +{second} > P. 1:1001(1000) ack 1 {{timeout}}"
        ));
    }
}

/// 2.5: the largest timeout is configurable.
#[test]
fn the_timeout_does_not_grow_beyond_the_largest() {
    let mut b = Bench::open_client(tcp().max_rto(Duration::from_secs(1)));
    b.play(
        "0.2 write 1000
         0.2 > P. 1:1001(1000) ack 1
         0.5 > P. 1:1001(1000) ack 1 {timeout}
         1.1 > P. 1:1001(1000) ack 1 {timeout}
         2.1 > P. 1:1001(1000) ack 1 {timeout}
         3.1 > P. 1:1001(1000) ack 1 {timeout}",
    );
}

// ---- the timer ---------------------------------------------------------------------------------------------------

/// 5.1: the first data start the timer, further data do not start it again.
#[test]
fn further_data_do_not_restart_the_timer() {
    let mut b = Bench::open_client(tcp().nagle(false));
    b.play(
        "0.2 write 1000
         0.2 > P. 1:1001(1000) ack 1
         0.3 write 1000
         0.3 > P. 1001:2001(1000) ack 1
         0.3 timer 0.5",
    );
}

/// 5.2: off when all is acknowledged.
#[test]
fn the_timer_is_off_when_nothing_is_outstanding() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 write 2000
         0.2 > . 1:1001(1000) ack 1
         0.2 > P. 1001:2001(1000) ack 1
         0.3 < . 1:1(0) ack 2001 win 100
         0.3 timer none",
    );
}

/// 5.3: new data acknowledged start it again, a duplicate acknowledgement does not.
#[test]
fn an_acknowledgement_of_new_data_restarts_the_timer() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2  write 2000
         0.2  > . 1:1001(1000) ack 1
         0.2  > P. 1001:2001(1000) ack 1
         0.3  < . 1:1(0) ack 1001 win 100
         0.3  timer 0.55
         0.35 < . 1:1(0) ack 1001 win 100
         0.35 timer 0.55
         0.55 > P. 1001:2001(1000) ack 1 {timeout}",
    );
}

/// 5.4, 5.5, 5.6: the earliest segment goes out, the timeout doubles, the timer starts with it.
#[test]
fn each_expiry_doubles_the_timeout() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 write 2000
         0.2 > . 1:1001(1000) ack 1
         0.2 > P. 1001:2001(1000) ack 1
         0.5 > . 1:1001(1000) ack 1 {timeout}
         0.5 timer 1.1
         1.1 > . 1:1001(1000) ack 1 {timeout}
         1.1 timer 2.3
         2.3 > . 1:1001(1000) ack 1 {timeout}
         2.3 timer 4.7",
    );
}

// ---- Karn's rule -------------------------------------------------------------------------------------------------

/// 3: without timestamps a retransmitted segment gives no sample; 5.5: the back-off lasts until one that was sent once
/// does.
#[test]
fn a_retransmitted_segment_gives_no_sample() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2  write 1000
         0.2  > P. 1:1001(1000) ack 1
         0.5  > P. 1:1001(1000) ack 1 {timeout}
         0.55 < . 1:1(0) ack 1001 win 100
         0.55 srtt 0.1
         0.55 rto 0.6
         0.6  write 1000
         0.6  > P. 1001:2001(1000) ack 1
         0.6  timer 1.2
         0.7  < . 1:1(0) ack 2001 win 100
         0.7  rto 0.25",
    );
}

/// 3, RFC 7323 4: with timestamps it does, by the copy that is echoed: the retransmission of 0.5 s, 100 ms ago.
#[test]
fn an_echo_of_the_retransmission_gives_a_sample() {
    let mut b = Bench::open_client(tcp().timestamps(true));
    b.play(
        "0.2 write 1000
         0.2 > P. 1:1001(1000) ack 1 <TS val 200 ecr 1000>
         0.5 > P. 1:1001(1000) ack 1 <TS val 500 ecr 1000> {timeout}
         0.6 < . 1:1(0) ack 1001 win 100 <TS val 1500 ecr 500>
         0.6 srtt 0.1
         0.6 rto 0.25",
    );
}

/// Or of the original of 0.2 s, 350 ms ago: RTTVAR = 50 * 3/4 + 250 / 4 = 100, SRTT = 131.25.
#[test]
fn an_echo_of_the_original_gives_a_sample() {
    let mut b = Bench::open_client(tcp().timestamps(true));
    b.play(
        "0.2  write 1000
         0.2  > P. 1:1001(1000) ack 1 <TS val 200 ecr 1000>
         0.5  > P. 1:1001(1000) ack 1 <TS val 500 ecr 1000> {timeout}
         0.55 < . 1:1(0) ack 1001 win 100 <TS val 1450 ecr 200>
         0.55 srtt 0.13125
         0.55 rto 0.53125",
    );
}

/// 3: an acknowledgement that covers a retransmitted segment and others gives none either: what filled the hole made the
/// others wait. Segment 1 is lost; the rest of the window is acknowledged with it, 0.25 s after it was sent.
#[test]
fn segments_that_waited_for_a_retransmission_give_no_sample() {
    for sack in [true, false] {
        let mut b = Bench::open_client(tcp().sack(sack));
        b.play("0.15 < . 1:1(0) ack 1 win 100");
        let blocks = |n: u32| if sack { format!("<sack 1001:{n}>") } else { String::new() };
        b.play(&format!(
            "0.2  write 5000
             0.2  > . 1:4001(4x1000) ack 1
             0.2  > P. 4001:5001(1000) ack 1
             0.3  < . 1:1(0) ack 1 win 100 {}
             0.3  < . 1:1(0) ack 1 win 100 {}
             0.3  < . 1:1(0) ack 1 win 100 {}
             0.3  > . 1:1001(1000) ack 1 {{fast}}
             0.3  < . 1:1(0) ack 1 win 100 {}
             0.45 < . 1:1(0) ack 5001 win 100
             0.45 srtt 0.1
             0.45 rto 0.3",
            blocks(2001),
            blocks(3001),
            blocks(4001),
            blocks(5001),
        ));
    }
}

/// Nor do segments that were SACKed long before, whatever is acknowledged with them: segment 1 came late, 0.25 s after it
/// was sent, segments 2 and 3 in time.
#[test]
fn segments_sacked_before_give_no_sample() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2  write 3000
         0.2  > . 1:2001(2x1000) ack 1
         0.2  > P. 2001:3001(1000) ack 1
         0.3  < . 1:1(0) ack 1 win 100 <sack 1001:3001>
         0.45 < . 1:1(0) ack 3001 win 100
         0.45 srtt 0.1
         0.45 rto 0.3",
    );
}

// ---- a lost SYN --------------------------------------------------------------------------------------------------

/// 5.7: the timer expired on the SYN: data begin with a timeout of 3 s.
#[test]
fn after_a_lost_syn_the_timeout_is_three_seconds() {
    let mut b = Bench::client(tcp());
    b.play(
        "0   > S 0:0(0) <mss 1040,sackOK,wscale 14>
         1   > S 0:0(0) <mss 1040,sackOK,wscale 14>
         1.1 < S. 0:0(0) ack 1 win 65535 <mss 1040,sackOK>
         1.1 > . 1:1(0) ack 1
         1.1 rto 3
         1.2 write 1000
         1.2 > P. 1:1001(1000) ack 1
         4.2 > P. 1:1001(1000) ack 1 {timeout}",
    );
}

/// 5.7 on the other side: the SYN/ACK is a SYN, too.
#[test]
fn after_a_lost_syn_ack_the_timeout_is_three_seconds() {
    let mut b = Bench::server(tcp());
    b.play(
        "0   < S 0:0(0) win 65535 <mss 1040>
         0   > S. 0:0(0) ack 1 <mss 1040>
         1   > S. 0:0(0) ack 1 <mss 1040>
         1.1 < . 1:1(0) ack 1 win 65535
         1.1 rto 3",
    );
}

/// 5.7 with timestamps: the echo gives a round-trip time, the timeout is 3 s all the same until data give one.
#[test]
fn after_a_lost_syn_an_echo_gives_a_sample_and_the_timeout_is_three_seconds() {
    let mut b = Bench::client(tcp().timestamps(true));
    b.play(
        "0   > S 0:0(0) <mss 1040,sackOK,TS val 0 ecr 0,wscale 14>
         1   > S 0:0(0) <mss 1040,sackOK,TS val 1000 ecr 0,wscale 14>
         1.1 < S. 0:0(0) ack 1 win 65535 <mss 1040,TS val 7 ecr 1000>
         1.1 > . 1:1(0) ack 1 <TS val 1100 ecr 7>
         1.1 srtt 0.1
         1.1 rto 3
         1.2 write 1000
         1.2 > P. 1:1001(1000) ack 1 <TS val 1200 ecr 7>
         1.3 < . 1:1(0) ack 1001 win 65535 <TS val 207 ecr 1200>
         1.3 rto 0.25",
    );
}

// ---- with SACK ---------------------------------------------------------------------------------------------------

/// 5.3 asks for a restart by new acknowledgements; a SACK shows as well that the path delivers (RFC 8985 8). Round trip 100 ms, timeout
/// 300 ms. 0.3: the second segment is SACKed, sent with the first: that one may be late, so the timer stays at 0.5. 0.32: the third SACK, the first segment
/// goes again, and the timer with it: SRTT is 103.6 ms after samples of 100, 110 and 120. 0.34: the fifth is SACKed, sent before that. 0.44: the sixth, sent after it, moves nothing: the first is
/// late now, and if this copy is lost too, the timer has to expire.
#[test]
fn a_sack_restarts_the_timer_unless_the_head_is_late() {
    for (sack_timing, timers) in [(true, ["0.5", "0.62359375", "0.648144531"]), (false, ["0.5", "0.62", "0.62"])] {
        let mut b = Bench::open_client(tcp().sack_timing(sack_timing).rto_floor(RtoFloor::Variance));
        let [first, second, third] = timers;
        b.play(&format!(
            "0.2  write 5000
             0.2  > . 1:1001(1000) ack 1
             0.2  > . 1001:2001(1000) ack 1
             0.2  > . 2001:3001(1000) ack 1
             0.2  > . 3001:4001(1000) ack 1
             0.2  > P. 4001:5001(1000) ack 1
             0.3  < . 1:1(0) ack 1 win 100 <sack 1001:2001>
             0.3  timer {first}
             0.31 < . 1:1(0) ack 1 win 100 <sack 1001:3001>
             0.32 < . 1:1(0) ack 1 win 100 <sack 1001:4001>
             0.32 > . 1:1001(1000) ack 1
             0.32 timer {second}
             0.33 write 1000
             0.34 < . 1:1(0) ack 1 win 100 <sack 1001:5001>
             0.34 > P. 5001:6001(1000) ack 1
             0.34 timer {third}
             0.44 < . 1:1(0) ack 1 win 100 <sack 1001:6001>
             0.44 timer {third}"
        ));
    }
}

/// The lower bound as a floor of the variance term: however steady the round trip, the timeout is 200 ms more.
#[test]
fn the_floor_may_be_that_of_the_variance() {
    for (rto_floor, rto) in [(RtoFloor::Timeout, "0.25"), (RtoFloor::Variance, "0.3")] {
        let mut b = Bench::open_client(tcp().rto_floor(rto_floor));
        b.play(&format!(
            "0.2 write 1000
             0.2 > P. 1:1001(1000) ack 1
             0.3 < . 1:1(0) ack 1001 win 100
             0.3 rto {rto}"
        ));
    }
}
