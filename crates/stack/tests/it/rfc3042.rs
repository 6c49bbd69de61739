//! RFC 3042: limited transmit: a new segment for each of the first two duplicate acknowledgements.

use crate::bench::Bench;
use crate::pair::tcp;

/// 2: with three segments outstanding and one lost, limited transmit makes the duplicates that fast retransmit needs.
#[test]
fn a_small_window_reaches_three_duplicates() {
    let mut b = Bench::open_client(tcp().initial_window(3).sack(false));
    b.play(
        "0.15 < . 1:1(0) ack 1 win 100
         0.2 write 10000
         0.2 > . 1:3001(3x1000) ack 1
         0.3 < . 1:1(0) ack 1 win 100
         0.3 > . 3001:4001(1000) ack 1 {new}
         0.3 < . 1:1(0) ack 1 win 100
         0.3 > . 4001:5001(1000) ack 1 {new}
         0.3 cwnd 3000
         0.4 < . 1:1(0) ack 1 win 100              // of the first that limited transmit sent
         0.4 > . 1:1001(1000) ack 1 {fast}
         0.4 ssthresh 2000                         // max(3000 / 2, 2 segments): limited transmit does not count",
    );
}

/// The same with SACK, where `pipe` does it (RFC 6675 5 (3)).
/// RFC 3042 2.
#[test]
fn sacked_segments_let_new_ones_go() {
    let mut b = Bench::open_client(tcp().initial_window(3));
    b.play(
        "0.2 write 10000
         0.2 > . 1:3001(3x1000) ack 1
         0.3 < . 1:1(0) ack 1 win 100 <sack 1001:2001>
         0.3 > . 3001:4001(1000) ack 1 {new}
         0.3 < . 1:1(0) ack 1 win 100 <sack 1001:3001>
         0.3 > . 4001:5001(1000) ack 1 {new}
         0.4 < . 1:1(0) ack 1 win 100 <sack 1001:4001>
         0.4 > . 1:1001(1000) ack 1 {fast}
         0.4 ssthresh 2000",
    );
}

/// 2: only what the receiver's window allows.
#[test]
fn limited_transmit_respects_the_receivers_window() {
    let mut b = Bench::client(tcp().initial_window(3).sack(false));
    b.play(
        "0   > S 0:0(0) <mss 1040,wscale 14>
         0.1 < S. 0:0(0) ack 1 win 4000 <mss 1040>
         0.1 > . 1:1(0) ack 1
         0.15 < . 1:1(0) ack 1 win 4000
         0.2 write 10000
         0.2 > . 1:3001(3x1000) ack 1
         0.3 < . 1:1(0) ack 1 win 4000
         0.3 > . 3001:4001(1000) ack 1 {new}
         0.3 < . 1:1(0) ack 1 win 4000
         0.3 unsent 6000",
    );
}

/// 2: at most cwnd + 2 segments outstanding, and cwnd does not change.
#[test]
fn limited_transmit_adds_at_most_two_segments() {
    let mut b = Bench::open_client(tcp().sack(false));
    b.play(
        "0.15 < . 1:1(0) ack 1 win 100
         0.2 write 50000
         0.2 > . 1:10001(10x1000) ack 1
         0.3 < . 1:1(0) ack 1 win 100
         0.3 > . 10001:11001(1000) ack 1
         0.3 < . 1:1(0) ack 1 win 100
         0.3 > . 11001:12001(1000) ack 1
         0.3 cwnd 10000
         0.35 < . 1:1(0) ack 12001 win 100         // reordering only: slow start goes on, by 2 segments (RFC 3465)
         0.35 > . 12001:24001(12x1000) ack 1
         0.35 cwnd 12000
         0.35 ssthresh inf",
    );
}

/// Data written while the window had room are no limited transmit, duplicates or not: they count in FlightSize.
#[test]
fn new_data_within_the_window_count_in_flight_size() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 write 6000
         0.2 > . 1:5001(5x1000) ack 1
         0.2 > P. 5001:6001(1000) ack 1
         0.3 < . 1:1(0) ack 1 win 100 <sack 1001:2001>
         0.3 write 2000
         0.3 > . 6001:7001(1000) ack 1 {new}
         0.3 > P. 7001:8001(1000) ack 1 {new}
         0.3 < . 1:1(0) ack 1 win 100 <sack 1001:4001>
         0.3 > . 1:1001(1000) ack 1 {fast}
         0.3 ssthresh 4000                         // 8 outstanding
         0.3 flight 5000                           // 8 - 3 SACKed - 1 lost + 1 again",
    );
}

/// 2: with SACK an acknowledgement that repeats what is known lets nothing leave, however often it comes (RFC 5681 3.2).
#[test]
fn duplicates_without_news_send_nothing_with_sack() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 write 20000
         0.2 > . 1:10001(10x1000) ack 1
         0.3 < . 1:1(0) ack 1 win 100 <sack 1001:2001>
         0.3 > . 10001:11001(1000) ack 1 {new}
         0.3 < . 1:1(0) ack 1 win 100 <sack 1001:2001>
         0.3 < . 1:1(0) ack 1 win 100 <sack 1001:2001>
         0.3 < . 1:1(0) ack 1 win 100
         0.3 flight 10000",
    );
}
