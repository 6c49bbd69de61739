//! RFC 6675: loss recovery over a SACK scoreboard.
//!
//! Ten segments of 1000 octets leave at 0.2 s; the timeout is 0.3 s, so nothing but recovery happens before 0.5 s.

use crate::bench::Bench;
use crate::pair::tcp;

/// Ten segments are out, `more` octets wait.
fn ten_out(more: u64) -> Bench {
    let mut b = Bench::open_client(tcp());
    let last = if more > 0 { "." } else { "P." };
    b.play(&format!(
        "0.2 write {}
         0.2 > . 1:9001(9x1000) ack 1
         0.2 > {last} 9001:10001(1000) ack 1",
        10_000 + more,
    ));
    b
}

/// 5 (1), (3), (4): segment 1 is lost. Two duplicates let one new segment each leave (limited transmit), the third
/// starts recovery; then nothing leaves until `pipe` is a segment below cwnd, and from there one segment an ACK.
/// RFC 5681 3.2 (step 2: ssthresh), 4.3 (no more than half as much).
/// 5 (C): and (C.1), (C.2).
#[test]
fn the_third_duplicate_starts_recovery_and_pipe_paces_it() {
    let mut b = ten_out(40_000);
    b.play(
        "0.3  < . 1:1(0) ack 1 win 100 <sack 1001:2001>
         0.3  > . 10001:11001(1000) ack 1 {new}
         0.3  < . 1:1(0) ack 1 win 100 <sack 1001:3001>
         0.3  > . 11001:12001(1000) ack 1 {new}
         0.3  cwnd 10000
         0.3  < . 1:1(0) ack 1 win 100 <sack 1001:4001>
         0.3  > . 1:1001(1000) ack 1 {fast}
         0.3  event Congestion(FastRetransmit)
         0.3  cwnd 5000                            // FlightSize 10,000 / 2: what limited transmit sent does not count
         0.3  ssthresh 5000
         0.3  flight 9000                          // 12 out - 3 SACKed - 1 lost + 1 retransmitted
         0.31 < . 1:1(0) ack 1 win 100 <sack 1001:5001>
         0.31 < . 1:1(0) ack 1 win 100 <sack 1001:6001>
         0.31 < . 1:1(0) ack 1 win 100 <sack 1001:7001>
         0.31 < . 1:1(0) ack 1 win 100 <sack 1001:8001>
         0.31 flight 5000
         0.32 < . 1:1(0) ack 1 win 100 <sack 1001:9001>
         0.32 > . 12001:13001(1000) ack 1 {new}
         0.33 < . 1:1(0) ack 1 win 100 <sack 1001:10001>
         0.33 > . 13001:14001(1000) ack 1 {new}
         0.38 < . 1:1(0) ack 1 win 100 <sack 1001:11001>
         0.38 > . 14001:15001(1000) ack 1 {new}
         0.39 < . 1:1(0) ack 1 win 100 <sack 1001:12001>
         0.39 > . 15001:16001(1000) ack 1 {new}
         0.4  < . 1:1(0) ack 12001 win 100         // the recovery point: the episode is over
         0.4  > . 16001:17001(1000) ack 1 {new}
         0.4  cwnd 5000
         0.4  flight 5000",
    );
}

/// 5 (C): seven segments are in flight, so cwnd becomes 3.5 segments. No segment leaves while
/// `pipe` is 3 segments, since half a segment of room is less than one SMSS.
#[test]
fn recovery_sends_nothing_while_the_room_is_less_than_a_segment() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2  write 7000
         0.2  > . 1:6001(6x1000) ack 1
         0.2  > P. 6001:7001(1000) ack 1
         0.3  < . 1:1(0) ack 1 win 100 <sack 1001:2001>
         0.3  < . 1:1(0) ack 1 win 100 <sack 1001:3001>
         0.3  < . 1:1(0) ack 1 win 100 <sack 1001:4001>
         0.3  > . 1:1001(1000) ack 1 {fast}
         0.3  cwnd 3500
         0.3  flight 4000
         0.3  write 5000
         0.31 < . 1:1(0) ack 1 win 100 <sack 1001:5001>
         0.31 flight 3000
         0.32 < . 1:1(0) ack 1 win 100 <sack 1001:6001>
         0.32 > . 7001:8001(1000) ack 1 {new}
         0.33 < . 1:1(0) ack 1 win 100 <sack 1001:7001>
         0.33 > . 8001:9001(1000) ack 1 {new}",
    );
}

/// 2: an ACK that brings new SACK information is a duplicate even if it advances; 5 (2): IsLost starts recovery before
/// three duplicates have come. Here the ACKs of segments 1 and 3 to 4 were lost.
/// RFC 6675 5.
#[test]
fn one_acknowledgement_that_tells_enough_starts_recovery() {
    let mut b = ten_out(0);
    b.play(
        "0.3 < . 1:1(0) ack 1001 win 100 <sack 2001:5001>
         0.3 > . 1001:2001(1000) ack 1 {fast}
         0.3 event Congestion(FastRetransmit)
         0.3 ssthresh 4500                         // FlightSize is 9000 then",
    );
}

/// 4 IsLost: DupThresh discontiguous sequences make a segment lost, however small they are.
#[test]
fn three_sacked_islands_of_small_segments_start_recovery() {
    let mut b = Bench::open_client(tcp().nagle(false));
    b.play(
        "0.2 write 100
         0.2 > P. 1:101(100) ack 1
         0.2 write 100
         0.2 > P. 101:201(100) ack 1
         0.2 write 100
         0.2 > P. 201:301(100) ack 1
         0.2 write 100
         0.2 > P. 301:401(100) ack 1
         0.2 write 100
         0.2 > P. 401:501(100) ack 1
         0.2 write 100
         0.2 > P. 501:601(100) ack 1
         0.2 write 100
         0.2 > P. 601:701(100) ack 1
         0.3 < . 1:1(0) ack 1 win 100 <sack 301:401 101:201>
         0.3 < . 1:1(0) ack 1 win 100 <sack 501:601 301:401 101:201>
         0.3 > . 1:101(100) ack 1 {fast}
         0.3 > . 201:301(100) ack 1 {fast}         // NextSeg (3): two islands above it
         0.3 > . 401:501(100) ack 1 {fast}         // one
         0.3 > P. 601:701(100) ack 1 {fast}         // NextSeg (4)",
    );
}

/// 5 (1): three duplicates suffice although small segments make too few octets for IsLost.
#[test]
fn three_duplicates_of_small_segments_start_recovery() {
    let mut b = Bench::open_client(tcp().nagle(false));
    b.play(
        "0.2 write 100
         0.2 > P. 1:101(100) ack 1
         0.2 write 100
         0.2 > P. 101:201(100) ack 1
         0.2 write 100
         0.2 > P. 201:301(100) ack 1
         0.2 write 100
         0.2 > P. 301:401(100) ack 1
         0.3 < . 1:1(0) ack 1 win 100 <sack 101:201>
         0.3 < . 1:1(0) ack 1 win 100 <sack 101:301>
         0.3 < . 1:1(0) ack 1 win 100 <sack 101:401>
         0.3 > . 1:101(100) ack 1 {fast}",
    );
}

/// 2: an ACK that repeats known SACK information is no duplicate.
#[test]
fn an_acknowledgement_without_news_is_no_duplicate() {
    let mut b = ten_out(0);
    b.play(
        "0.3  < . 1:1(0) ack 1 win 100 <sack 1001:2001>
         0.31 < . 1:1(0) ack 1 win 100 <sack 1001:2001>
         0.32 < . 1:1(0) ack 1 win 100 <sack 1001:2001>
         0.33 < . 1:1(0) ack 1 win 100 <sack 1001:2001>
         0.33 cwnd 10000",
    );
}

/// 4 NextSeg (1) before (2): three losses are retransmitted in order, each when `pipe` allows, then new data.
#[test]
fn lost_segments_go_before_new_data_and_ask_the_window() {
    let mut b = ten_out(40_000);
    b.play(
        "0.3  < . 1:1(0) ack 1 win 100 <sack 1001:2001>
         0.3  > . 10001:11001(1000) ack 1 {new}
         0.31 < . 1:1(0) ack 1 win 100 <sack 3001:4001 1001:2001>
         0.31 > . 11001:12001(1000) ack 1 {new}
         0.32 < . 1:1(0) ack 1 win 100 <sack 5001:6001 3001:4001 1001:2001>
         0.32 > . 1:1001(1000) ack 1 {fast}
         0.32 flight 9000                          // 12 - 3 SACKed - 1 lost + 1 again
         0.33 < . 1:1(0) ack 1 win 100 <sack 5001:7001 3001:4001 1001:2001>
         0.33 flight 7000                          // and 3 is lost by now
         0.34 < . 1:1(0) ack 1 win 100 <sack 5001:8001 3001:4001 1001:2001>
         0.34 flight 5000                          // and 5
         0.35 < . 1:1(0) ack 1 win 100 <sack 5001:9001 3001:4001 1001:2001>
         0.35 > . 2001:3001(1000) ack 1 {fast}
         0.36 < . 1:1(0) ack 1 win 100 <sack 5001:10001 3001:4001 1001:2001>
         0.36 > . 4001:5001(1000) ack 1 {fast}
         0.37 < . 1:1(0) ack 1 win 100 <sack 5001:11001 3001:4001 1001:2001>
         0.37 > . 12001:13001(1000) ack 1 {new}",
    );
}

/// 4 NextSeg (3) and (4): with nothing known lost and no new data, what is not SACKed below the highest SACK goes out
/// again, then once the highest outstanding segment (the rescue).
#[test]
fn without_new_data_uncertain_segments_are_sent_again() {
    let mut b = ten_out(0);
    b.play(
        "0.3  < . 1:1(0) ack 1 win 100 <sack 1001:2001>
         0.3  < . 1:1(0) ack 1 win 100 <sack 1001:3001>
         0.3  < . 1:1(0) ack 1 win 100 <sack 1001:4001>
         0.3  > . 1:1001(1000) ack 1 {fast}
         0.3  < . 1:1(0) ack 1 win 100 <sack 1001:5001>
         0.3  < . 1:1(0) ack 1 win 100 <sack 1001:6001>
         0.3  flight 5000                          // 1 again, 7 to 10
         0.31 < . 1:1(0) ack 1 win 100 <sack 8001:9001 1001:6001>
         0.31 > . 6001:7001(1000) ack 1 {fast}     // rule (3): 7, one segment of room
         0.32 < . 1:1(0) ack 1 win 100 <sack 6001:7001 8001:9001 1001:6001>
         0.32 > . 7001:8001(1000) ack 1 {fast}     // 7 left the network twice in the estimate; rule (3): 8
         0.32 > P. 9001:10001(1000) ack 1 {fast}    // rule (4): 10
         0.32 flight 5000",
    );
}

/// 4 NextSeg (4): the rescue may be the highest segment; not one that this episode has just retransmitted.
#[test]
fn a_segment_that_was_just_retransmitted_is_not_rescued() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 write 4000
         0.2 > . 1:3001(3x1000) ack 1
         0.2 > P. 3001:4001(1000) ack 1
         0.3 < . 1:1(0) ack 1 win 100 <sack 1001:2001>
         0.3 < . 1:1(0) ack 1 win 100 <sack 1001:3001>
         0.3 < . 1:1(0) ack 1 win 100 <sack 1001:4001>
         0.3 > . 1:1001(1000) ack 1 {fast}
         0.4 < . 1:1(0) ack 4001 win 100
         0.4 timer none",
    );
}

/// 4 NextSeg (4): a lost tail is rescued without a timeout, once an episode. Segments 1, 9 and 10 are lost.
#[test]
fn a_lost_tail_is_rescued_once() {
    let mut b = ten_out(0);
    b.play(
        "0.3  < . 1:1(0) ack 1 win 100 <sack 1001:2001>
         0.3  < . 1:1(0) ack 1 win 100 <sack 1001:3001>
         0.3  < . 1:1(0) ack 1 win 100 <sack 1001:4001>
         0.3  > . 1:1001(1000) ack 1 {fast}
         0.31 < . 1:1(0) ack 1 win 100 <sack 1001:5001>
         0.31 < . 1:1(0) ack 1 win 100 <sack 1001:6001>
         0.31 < . 1:1(0) ack 1 win 100 <sack 1001:7001>
         0.31 > P. 9001:10001(1000) ack 1 {fast}    // 1, 8, 9, 10 in flight, one more fits
         0.32 < . 1:1(0) ack 1 win 100 <sack 1001:8001>
         0.4  < . 1:1(0) ack 8001 win 100          // the retransmission of 1
         0.41 < . 1:1(0) ack 8001 win 100 <sack 9001:10001>
         0.41 > . 8001:9001(1000) ack 1 {fast}     // rule (3)
         0.51 < . 1:1(0) ack 10001 win 100
         0.51 timer none
         0.51 cwnd 5000",
    );
}

/// 4 NextSeg (4): one rescue an episode, also when new data have made another segment the highest.
#[test]
fn there_is_one_rescue_an_episode() {
    let mut b = ten_out(0);
    b.play(
        "0.3  < . 1:1(0) ack 1 win 100 <sack 1001:4001>
         0.3  > . 1:1001(1000) ack 1 {fast}
         0.31 < . 1:1(0) ack 1 win 100 <sack 1001:8001>
         0.31 > P. 9001:10001(1000) ack 1 {fast}    // the rescue
         0.32 < . 1:1(0) ack 1 win 100 <sack 1001:9001>
         0.33 write 1000
         0.33 > P. 10001:11001(1000) ack 1 {new}
         0.34 < . 1:1(0) ack 1 win 100 <sack 1001:10001>
         0.34 flight 2000                          // 1 again and 11: room for three more
         0.4  < . 1:1(0) ack 10001 win 100
         0.4  cwnd 5000",
    );
}

/// 5 (A), (B): a partial acknowledgement does not end the episode; losses up to the recovery point cut the window once.
/// RFC 5681 4.3: and afterwards cwnd is ssthresh.
#[test]
fn losses_up_to_the_recovery_point_cut_once() {
    let mut b = ten_out(0);
    b.play(
        "0.3  < . 1:1(0) ack 1 win 100 <sack 1001:2001>
         0.3  < . 1:1(0) ack 1 win 100 <sack 1001:3001>
         0.3  < . 1:1(0) ack 1 win 100 <sack 1001:4001>
         0.3  > . 1:1001(1000) ack 1 {fast}
         0.31 < . 1:1(0) ack 1 win 100 <sack 5001:6001 1001:4001>
         0.31 < . 1:1(0) ack 1 win 100 <sack 5001:7001 1001:4001>
         0.31 < . 1:1(0) ack 1 win 100 <sack 5001:8001 1001:4001>
         0.31 > . 4001:5001(1000) ack 1 {fast}     // 5 is lost, too
         0.31 > P. 9001:10001(1000) ack 1 {fast}    // the rescue
         0.4  < . 1:1(0) ack 4001 win 100 <sack 5001:8001>
         0.42 < . 1:1(0) ack 4001 win 100 <sack 5001:9001>
         0.43 < . 1:1(0) ack 4001 win 100 <sack 5001:10001>
         0.43 cwnd 5000
         0.5  < . 1:1(0) ack 10001 win 100
         0.5  cwnd 5000
         0.5  ssthresh 5000",
    );
    assert_eq!(b.count(|e| matches!(e, anabranch_stack::event::Event::Congestion { .. })), 1);
}

/// 5.1: a timeout during recovery ends it and keeps the SACKs: only what the peer lacks is sent again, in slow start.
/// Segments 1, 2 and the retransmission of 1 are lost.
#[test]
fn a_timeout_during_recovery_keeps_what_was_sacked() {
    let mut b = ten_out(0);
    b.play(
        "0.3  < . 1:1(0) ack 1 win 100 <sack 2001:3001>
         0.3  < . 1:1(0) ack 1 win 100 <sack 2001:4001>
         0.3  < . 1:1(0) ack 1 win 100 <sack 2001:5001>
         0.3  > . 1:1001(1000) ack 1 {fast}
         0.31 < . 1:1(0) ack 1 win 100 <sack 2001:6001>
         0.31 < . 1:1(0) ack 1 win 100 <sack 2001:7001>
         0.31 > . 1001:2001(1000) ack 1 {fast}
         0.32 < . 1:1(0) ack 1 win 100 <sack 2001:8001>
         0.32 > P. 9001:10001(1000) ack 1 {fast}    // the rescue
         0.32 < . 1:1(0) ack 1 win 100 <sack 2001:9001>
         0.4  < . 1:1(0) ack 1 win 100 <sack 1001:9001>
         0.6  > . 1:1001(1000) ack 1 {timeout}     // 0.3 s after the retransmission of the oldest segment
         0.6  event Congestion(Timeout)
         0.6  cwnd 1000
         0.6  ssthresh 5000
         0.7  < . 1:1(0) ack 9001 win 100          // 2 to 9 had arrived
         0.7  > P. 9001:10001(1000) ack 1 {timeout}
         0.8  < . 1:1(0) ack 10001 win 100
         0.8  timer none",
    );
}

/// Sixteen segments, of which ten fit; the first is lost. Recovery point: 12001, after limited transmit.
fn recovering() -> Bench {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2  write 16000
         0.2  > . 1:10001(10x1000) ack 1
         0.3  < . 1:1(0) ack 1 win 100 <sack 1001:2001>
         0.3  > . 10001:11001(1000) ack 1 {new}
         0.3  < . 1:1(0) ack 1 win 100 <sack 1001:3001>
         0.3  > . 11001:12001(1000) ack 1 {new}
         0.3  < . 1:1(0) ack 1 win 100 <sack 1001:4001>
         0.3  > . 1:1001(1000) ack 1 {fast}
         0.31 < . 1:1(0) ack 1 win 100 <sack 1001:10001>
         0.31 > . 12001:14001(2x1000) ack 1 {new}
         0.31 cwnd 5000",
    );
    b
}

/// 5 (A); RFC 5681 4.3: a loss beyond the recovery point belongs to another window and cuts again.
#[test]
fn losses_in_two_windows_cut_twice() {
    let mut b = recovering();
    b.play(
        "0.4  < . 1:1(0) ack 12001 win 100         // the episode is over
         0.4  > . 14001:15001(1000) ack 1 {new}
         0.4  > P. 15001:16001(1000) ack 1 {new}
         0.4  cwnd 5000
         0.5  < . 1:1(0) ack 12001 win 100 <sack 13001:14001>
         0.5  < . 1:1(0) ack 12001 win 100 <sack 13001:15001>
         0.5  < . 1:1(0) ack 12001 win 100 <sack 13001:16001>
         0.5  > . 12001:13001(1000) ack 1 {fast}
         0.5  cwnd 2000                            // FlightSize was 4000
         0.6  < . 1:1(0) ack 16001 win 100
         0.6  timer none",
    );
}

/// 5 (A): what was SACKed above the recovery point stays so when the episode ends.
#[test]
fn what_was_sacked_above_the_recovery_point_stays_sacked() {
    let mut b = recovering();
    b.play(
        "0.35 < . 1:1(0) ack 1 win 100 <sack 13001:14001 1001:12001>
         0.35 > . 14001:15001(1000) ack 1 {new}
         0.35 > P. 15001:16001(1000) ack 1 {new}
         0.35 > . 12001:13001(1000) ack 1 {fast}   // NextSeg (3)
         0.4  < . 1:1(0) ack 12001 win 100
         0.4  flight 4000                          // 13 twice in the estimate, 15, 16",
    );
}

/// 5: three duplicates in all, but acknowledgements of new data between them: DupAcks begins anew each time, and no recovery. Small segments, so
/// that IsLost (4) does not find the loss by octets.
#[test]
fn a_cumulative_acknowledgement_resets_the_count_of_duplicates() {
    let mut b = Bench::open_client(tcp().nagle(false));
    for n in 0..5 {
        b.play(&format!("0.2 write 100\n 0.2 > P. {}:{}(100) ack 1", 100 * n + 1, 100 * n + 101));
    }
    b.play(
        "0.3  < . 1:1(0) ack 1 win 100 <sack 101:201>
         0.3  < . 1:1(0) ack 1 win 100 <sack 101:301>
         0.31 < . 1:1(0) ack 301 win 100
         0.32 < . 1:1(0) ack 301 win 100 <sack 401:501>
         0.32 cwnd 10000
         0.61 > . 301:401(100) ack 1 {timeout}",
    );
}

/// 5.1: after a timeout no fast recovery begins below the recovery point.
#[test]
fn after_a_timeout_duplicates_below_the_recovery_point_do_not_cut_again() {
    let mut b = ten_out(0);
    b.play(
        "0.5  > . 1:1001(1000) ack 1 {timeout}
         0.6  < . 1:1(0) ack 1001 win 100
         0.6  > . 1001:3001(2x1000) ack 1 {timeout}
         0.61 < . 1:1(0) ack 1001 win 100 <sack 5001:6001>
         0.61 < . 1:1(0) ack 1001 win 100 <sack 5001:7001>
         0.61 < . 1:1(0) ack 1001 win 100 <sack 5001:8001>
         0.61 < . 1:1(0) ack 1001 win 100 <sack 5001:9001>
         0.61 cwnd 2000
         0.61 ssthresh 5000",
    );
}

/// What was retransmitted in fast recovery and lost again waits for the timeout.
/// RFC 5681 4.3: which lowers the window again.
#[test]
fn a_lost_retransmission_waits_for_the_timeout() {
    let mut b = ten_out(0);
    b.play(
        "0.3 < . 1:1(0) ack 1 win 100 <sack 1001:2001>
         0.3 < . 1:1(0) ack 1 win 100 <sack 1001:3001>
         0.3 < . 1:1(0) ack 1 win 100 <sack 1001:4001>
         0.3 > . 1:1001(1000) ack 1 {fast}
         0.3 < . 1:1(0) ack 1 win 100 <sack 1001:10001>
         0.6 > . 1:1001(1000) ack 1 {timeout}
         0.7 < . 1:1(0) ack 10001 win 100
         0.7 timer none",
    );
}
