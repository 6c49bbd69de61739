//! RFC 3465: appropriate byte counting: the window grows by what is acknowledged, not by how many acknowledgements come.

use crate::bench::Bench;
use crate::pair::tcp;

/// 2.2, 2.3: in slow start an acknowledgement adds at most L = 2 segments, however much it covers.
#[test]
fn a_stretch_acknowledgement_in_slow_start_adds_two_segments() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 write 500000
         0.2 > . 1:10001(10x1000) ack 1
         0.3 < . 1:1(0) ack 10001 win 100
         0.3 > . 10001:22001(12x1000) ack 1
         0.3 cwnd 12000
         0.4 < . 1:1(0) ack 12001 win 100
         0.4 > . 22001:26001(4x1000) ack 1
         0.4 cwnd 14000
         0.4 < . 1:1(0) ack 13001 win 100
         0.4 > . 26001:28001(2x1000) ack 1
         0.4 cwnd 15000",
    );
}

/// 2.2: an acknowledgement of 100 octets adds 100 octets.
#[test]
fn a_small_acknowledgement_adds_what_it_covers() {
    let mut b = Bench::open_client(tcp().initial_window(1).nagle(false));
    b.play(
        "0.2 write 100
         0.2 > P. 1:101(100) ack 1
         0.3 < . 1:1(0) ack 101 win 100
         0.3 cwnd 1100",
    );
}

/// 2.3: after a timeout L is one segment until the episode is over.
#[test]
fn after_a_timeout_an_acknowledgement_adds_one_segment() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 write 500000
         0.2 > . 1:10001(10x1000) ack 1
         0.5 > . 1:1001(1000) ack 1 {timeout}
         0.6 < . 1:1(0) ack 4001 win 100
         0.6 > . 4001:6001(2x1000) ack 1 {timeout}
         0.6 cwnd 2000
         0.7 < . 1:1(0) ack 6001 win 100
         0.7 > . 6001:9001(3x1000) ack 1 {timeout}
         0.7 cwnd 3000",
    );
}

/// 2.1: in congestion avoidance octets are counted: five segments in two acknowledgements add one segment to five.
/// RFC 5681 3.1 recommends it.
#[test]
fn congestion_avoidance_counts_octets() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 write 500000
         0.2 > . 1:10001(10x1000) ack 1
         0.5 > . 1:1001(1000) ack 1 {timeout}
         0.5 ssthresh 5000
         0.6 < . 1:1(0) ack 10001 win 100          // all had arrived: the episode is over, L was one segment
         0.6 > . 10001:12001(2x1000) ack 1
         0.6 cwnd 2000
         0.7 < . 1:1(0) ack 12001 win 100
         0.7 > . 12001:16001(4x1000) ack 1
         0.7 cwnd 4000
         0.8 < . 1:1(0) ack 16001 win 100
         0.8 > . 16001:21001(5x1000) ack 1
         0.8 cwnd 5000                             // ssthresh: from here on five segments make one
         0.9 < . 1:1(0) ack 19001 win 100
         0.9 > . 21001:24001(3x1000) ack 1
         0.9 cwnd 5000
         1   < . 1:1(0) ack 21001 win 100
         1   > . 24001:27001(3x1000) ack 1
         1   cwnd 6000",
    );
}

/// RFC 5681 3.1 (2), (3): without byte counting each acknowledgement counts for one segment: in slow start one of three adds one, and
/// then two that cover all five make no sixth yet.
#[test]
fn without_byte_counting_acknowledgements_are_counted() {
    let mut b = Bench::open_client(tcp().byte_counting(false));
    b.play(
        "0.2 write 500000
         0.2 > . 1:10001(10x1000) ack 1
         0.5 > . 1:1001(1000) ack 1 {timeout}
         0.5 ssthresh 5000
         0.6 < . 1:1(0) ack 10001 win 100
         0.6 > . 10001:12001(2x1000) ack 1
         0.7 < . 1:1(0) ack 12001 win 100
         0.7 > . 12001:15001(3x1000) ack 1
         0.7 cwnd 3000
         0.8 < . 1:1(0) ack 15001 win 100
         0.8 > . 15001:19001(4x1000) ack 1
         0.9 < . 1:1(0) ack 19001 win 100
         0.9 > . 19001:24001(5x1000) ack 1
         0.9 cwnd 5000
         1   < . 1:1(0) ack 22001 win 100
         1   > . 24001:27001(3x1000) ack 1
         1.1 < . 1:1(0) ack 24001 win 100
         1.1 > . 27001:29001(2x1000) ack 1
         1.1 cwnd 5000",
    );
}
