//! RFC 6582: NewReno, fast recovery without SACK.
//!
//! Ten segments of 1000 octets leave at 0.2 s; the timeout is 0.3 s. `flight` is what the window is compared with:
//! FlightSize less the inflation, so that a window of ssthresh plus inflation is full when `flight` equals cwnd.

use anabranch_stack::Config;
use anabranch_stack::event::Event;

use crate::bench::Bench;
use crate::pair::tcp;

fn newreno() -> Config {
    tcp().sack(false)
}

/// Ten segments are out and 40 more wait; segment 1 was lost: three duplicates, two of which let a new segment go
/// (RFC 3042), start recovery.
fn recovering() -> Bench {
    let mut b = Bench::open_client(newreno());
    b.play(
        "0.15 < . 1:1(0) ack 1 win 100
         0.2 write 50000
         0.2 > . 1:10001(10x1000) ack 1
         0.3 < . 1:1(0) ack 1 win 100
         0.3 > . 10001:11001(1000) ack 1 {new}
         0.3 < . 1:1(0) ack 1 win 100
         0.3 > . 11001:12001(1000) ack 1 {new}
         0.3 < . 1:1(0) ack 1 win 100
         0.3 > . 1:1001(1000) ack 1 {fast}
         0.3 event Congestion(FastRetransmit)
         0.3 cwnd 5000
         0.3 ssthresh 5000
         0.3 flight 9000                           // 12 - 3",
    );
    b
}

/// RFC 5681 3.2 step 4: each further duplicate inflates the window by a segment; when it exceeds
/// what is outstanding new data leave, one segment a duplicate. And 3.2 steps 2, 3, 5. RFC 5681
/// 4.3: eight duplicates draw two new segments, so fewer than half of the ten. RFC 6582 3.2.
#[test]
fn duplicates_inflate_the_window() {
    let mut b = recovering();
    b.play(
        "0.31 < . 1:1(0) ack 1 win 100
         0.31 flight 8000
         0.31 < . 1:1(0) ack 1 win 100
         0.31 < . 1:1(0) ack 1 win 100
         0.31 < . 1:1(0) ack 1 win 100
         0.31 flight 5000
         0.32 < . 1:1(0) ack 1 win 100
         0.32 > . 12001:13001(1000) ack 1 {new}
         0.32 < . 1:1(0) ack 1 win 100
         0.32 > . 13001:14001(1000) ack 1 {new}
         0.32 flight 5000",
    );
}

/// 3.2 step 3, full acknowledgement, option 1: cwnd = min(ssthresh, max(FlightSize, SMSS) + SMSS). Two segments are
/// outstanding then: three, of which one leaves.
/// RFC 5681 3.2 step 6.
#[test]
fn a_full_acknowledgement_deflates_the_window() {
    let mut b = recovering();
    b.play(
        "0.31 < . 1:1(0) ack 1 win 100
         0.31 < . 1:1(0) ack 1 win 100
         0.31 < . 1:1(0) ack 1 win 100
         0.31 < . 1:1(0) ack 1 win 100
         0.32 < . 1:1(0) ack 1 win 100
         0.32 > . 12001:13001(1000) ack 1
         0.32 < . 1:1(0) ack 1 win 100
         0.32 > . 13001:14001(1000) ack 1
         0.4  < . 1:1(0) ack 12001 win 100
         0.4  > . 14001:15001(1000) ack 1 {new}
         0.4  cwnd 3000
         0.4  ssthresh 5000
         0.4  flight 3000
         0.42 < . 1:1(0) ack 14001 win 100         // slow start up to ssthresh again: 2 segments acknowledged
         0.42 > . 15001:19001(4x1000) ack 1 {new}
         0.42 cwnd 5000",
    );
}

/// 3.2 step 3, partial acknowledgement: the next hole goes out at once, the window shrinks by what was acknowledged and
/// grows by a segment, so that one new segment leaves. Segments 1 and 5 were lost.
#[test]
fn a_partial_acknowledgement_retransmits_the_next_hole_and_lets_one_new_segment_go() {
    let mut b = recovering();
    b.play(
        "0.31 < . 1:1(0) ack 1 win 100
         0.31 < . 1:1(0) ack 1 win 100
         0.31 < . 1:1(0) ack 1 win 100
         0.31 < . 1:1(0) ack 1 win 100
         0.32 < . 1:1(0) ack 1 win 100             // the eighth
         0.32 > . 12001:13001(1000) ack 1 {new}
         0.32 < . 1:1(0) ack 1 win 100
         0.32 > . 13001:14001(1000) ack 1 {new}
         0.32 < . 1:1(0) ack 1 win 100             // the tenth: 2 to 4 and 6 to 12 have arrived
         0.32 > . 14001:15001(1000) ack 1 {new}
         0.32 flight 5000                          // 15 - 10
         0.4  < . 1:1(0) ack 4001 win 100
         0.4  > . 4001:5001(1000) ack 1 {fast}
         0.4  > . 15001:16001(1000) ack 1 {new}
         0.4  flight 5000                          // 16 - 4 - (10 - 4 + 1)
         0.4  cwnd 5000
         0.5  < . 1:1(0) ack 12001 win 100         // full
         0.5  > . 16001:17001(1000) ack 1 {new}
         0.5  flight 5000",
    );
    assert_eq!(b.count(|e| matches!(e, Event::Congestion { .. })), 1);
}

/// The same when most duplicates were lost: the acknowledgement takes more than had been added, and the window is below
/// ssthresh until duplicates come again: no burst.
/// RFC 6582 3.2.
#[test]
fn a_large_partial_acknowledgement_deflates_below_what_was_added() {
    let mut b = recovering();
    b.play(
        "0.4  < . 1:1(0) ack 7001 win 100
         0.4  > . 7001:8001(1000) ack 1 {fast}
         0.4  flight 8000                          // 12 - 7 - (3 - 7 + 1)
         0.41 < . 1:1(0) ack 7001 win 100
         0.41 < . 1:1(0) ack 7001 win 100
         0.41 < . 1:1(0) ack 7001 win 100
         0.41 flight 5000
         0.42 < . 1:1(0) ack 7001 win 100
         0.42 > . 12001:13001(1000) ack 1 {new}",
    );
}

/// 3.2 step 3, Impatient: only the first partial acknowledgement starts the timer again. Segments 1, 3, 5 and 7 were
/// lost; the round trip is 0.1 s, so the timer of 0.3 s set at 0.4 s expires at 0.7 s although recovery goes on.
#[test]
fn only_the_first_partial_acknowledgement_starts_the_timer_again() {
    let mut b = recovering();
    b.play(
        "0.4  < . 1:1(0) ack 2001 win 100
         0.4  > . 2001:3001(1000) ack 1 {fast}
         0.4  timer 0.7
         0.5  < . 1:1(0) ack 4001 win 100
         0.5  > . 4001:5001(1000) ack 1 {fast}
         0.5  timer 0.7
         0.6  < . 1:1(0) ack 6001 win 100
         0.6  > . 6001:7001(1000) ack 1 {fast}
         0.6  timer 0.7
         0.7  > . 6001:7001(1000) ack 1 {timeout}
         0.7  event Congestion(Timeout)
         0.7  cwnd 1000",
    );
}

/// 3.2 step 2: three duplicates of an acknowledgement that does not cover more than `recover` start no new episode:
/// here they answer segments that were sent twice.
#[test]
fn duplicates_at_the_recovery_point_start_no_new_episode() {
    let mut b = recovering();
    b.play(
        "0.4  < . 1:1(0) ack 12001 win 100         // full: FlightSize is 0, so min(5, 1 + 1) segments
         0.4  > . 12001:14001(2x1000) ack 1 {new}
         0.4  cwnd 2000
         0.41 < . 1:1(0) ack 12001 win 100
         0.41 > . 14001:15001(1000) ack 1 {new}    // limited transmit
         0.41 < . 1:1(0) ack 12001 win 100
         0.41 > . 15001:16001(1000) ack 1 {new}
         0.41 < . 1:1(0) ack 12001 win 100
         0.41 < . 1:1(0) ack 12001 win 100
         0.41 cwnd 2000
         0.41 ssthresh 5000",
    );
    assert_eq!(b.count(|e| matches!(e, Event::Congestion { .. })), 1);
}

/// 3.2 step 2, likewise after a timeout (step 4 sets `recover` then).
#[test]
fn duplicates_after_a_timeout_start_no_fast_retransmit() {
    let mut b = Bench::open_client(newreno());
    b.play(
        "0.15 < . 1:1(0) ack 1 win 100
         0.2 write 10000
         0.2 > . 1:9001(9x1000) ack 1
         0.2 > P. 9001:10001(1000) ack 1
         0.5 > . 1:1001(1000) ack 1 {timeout}
         0.5 cwnd 1000
         0.5 ssthresh 5000
         0.6 < . 1:1(0) ack 3001 win 100
         0.6 > . 3001:5001(2x1000) ack 1 {timeout}
         0.61 < . 1:1(0) ack 3001 win 100
         0.61 < . 1:1(0) ack 3001 win 100
         0.61 < . 1:1(0) ack 3001 win 100
         0.61 < . 1:1(0) ack 3001 win 100
         0.61 cwnd 2000
         0.61 ssthresh 5000
         0.7 < . 1:1(0) ack 10001 win 100
         0.7 timer none
         // All of it is acknowledged, nothing beyond `recover`: three duplicates do not say that
         // the next segment is lost.
         0.8 write 1000
         0.8 > P. 10001:11001(1000) ack 1
         0.81 < . 1:1(0) ack 10001 win 100
         0.81 < . 1:1(0) ack 10001 win 100
         0.81 < . 1:1(0) ack 10001 win 100
         0.9 < . 1:1(0) ack 11001 win 100
         0.9 timer none",
    );
    assert_eq!(b.count(|e| matches!(e, Event::Congestion { .. })), 1);
}

/// RFC 5681 2 (a)-(e): a window update is no duplicate acknowledgement.
#[test]
fn window_updates_are_not_duplicates() {
    let mut b = Bench::open_client(newreno());
    b.play(
        "0.15 < . 1:1(0) ack 1 win 100
         0.2 write 10000
         0.2 > . 1:9001(9x1000) ack 1
         0.2 > P. 9001:10001(1000) ack 1
         0.3 < . 1:1(0) ack 1001 win 100
         0.3 < . 1:1(0) ack 1001 win 101
         0.3 < . 1:1(0) ack 1001 win 102
         0.3 < . 1:1(0) ack 1001 win 103
         0.3 < . 1:1(0) ack 1001 win 104
         0.3 ssthresh inf
         0.4 < . 1:1(0) ack 1001 win 104
         0.4 < . 1:1(0) ack 1001 win 104
         0.4 < . 1:1(0) ack 1001 win 104
         0.4 > . 1001:2001(1000) ack 1 {fast}",
    );
}

/// RFC 5681 2 (b): a segment with data is no duplicate acknowledgement; (d) one that comes between changes nothing.
#[test]
fn segments_with_data_are_not_duplicates() {
    let mut b = Bench::open_client(newreno());
    b.play(
        "0.15 < . 1:1(0) ack 1 win 100
         0.2 write 10000
         0.2 > . 1:9001(9x1000) ack 1
         0.2 > P. 9001:10001(1000) ack 1
         0.3 < . 1:1001(1000) ack 1 win 100
         0.3 > . 10001:10001(0) ack 1001
         0.3 < . 1001:2001(1000) ack 1 win 100
         0.3 > . 10001:10001(0) ack 2001
         0.3 < . 2001:3001(1000) ack 1 win 100
         0.3 > . 10001:10001(0) ack 3001
         0.3 < . 3001:3001(0) ack 1 win 100
         0.3 < . 3001:3001(0) ack 1 win 100
         0.3 ssthresh inf
         0.3 < . 3001:3001(0) ack 1 win 100
         0.3 > . 1:1001(1000) ack 3001 {fast}",
    );
}

/// 3.2 step 1: `recover` begins before the first data, so that the first segment may start recovery; its octet 1 covers more.
#[test]
fn recovery_is_possible_from_the_first_segment_on() {
    let mut b = Bench::open_client(newreno());
    b.play(
        "0.15 < . 1:1(0) ack 1 win 100
         0.2 write 5000
         0.2 > . 1:4001(4x1000) ack 1
         0.2 > P. 4001:5001(1000) ack 1
         0.3 < . 1:1(0) ack 1 win 100
         0.3 < . 1:1(0) ack 1 win 100
         0.3 < . 1:1(0) ack 1 win 100
         0.3 > . 1:1001(1000) ack 1 {fast}",
    );
}
