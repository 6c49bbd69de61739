//! F-RTO on the wire (RFC 5682), basic and SACK-enhanced, and what follows in window and timer (RFC 4015).
//!
//! A client with a round trip of 100 ms, a timeout of 300 ms and a window of ten segments sends ten at 0.2 s; the timer
//! expires at 0.5 s. Each script goes on from there.

use crate::bench::Bench;
use crate::pair::tcp;

fn bench(sack: bool, octets: u64) -> Bench {
    let mut bench = Bench::open_client(tcp().judge("frto".parse().unwrap()).sack(sack));
    let push = if octets == 10_000 { "0.2 > . 1:9001(9x1000) ack 1\n0.2 > P. 9001:10001(1000) ack 1" } else { "" };
    let rest = if push.is_empty() { "0.2 > . 1:10001(10x1000) ack 1 {new}" } else { push };
    bench.play(&format!(
        "0.15 < . 1:1(0) ack 1 win 65535 // the window is known now, so that a duplicate is one
         0.2 write {octets}
         {rest}
         0.5 > . 1:1001(1000) ack 1 {{timeout}}
         0.5 event Congestion(Timeout)
         0.5 cwnd 1000
         0.5 ssthresh 5000
         0.5 rto 0.6"
    ));
    bench
}

const SPURIOUS: &str = "event Judged { subflow: 0, spurious: true, restored: true }";
const GENUINE: &str = "event Judged { subflow: 0, spurious: false, restored: false }";

/// 0.55 ACK of 1 -> two new segments | 0.6 ACK of 2, never sent again: spurious | 0.75 ACK of new data
///
/// RFC 4015 3.2: cwnd = FlightSize + min(bytes acked, IW) = 10 + 1 segments, ssthresh = pipe_prev, which was unlimited.
/// The timer: 0.6 s after the ACK of what was sent twice (Karn), at 0.6 s a sample of 400 ms the normal way
/// (SRTT = 7/8 * 100 + 1/8 * 400 = 137.5, RTTVAR = 3/4 * 50 + 1/4 * 300 = 112.5), and with the first sample of data that
/// were new, 200 ms, SRTT = max(100 + 2 G, 200) and RTTVAR = max(50, 200 / 2): 600 ms, more than the 490 it would be.
#[test]
fn a_sudden_delay_is_found_with_the_second_ack() {
    for sack in [true, false] {
        bench(sack, 30_000).play(&format!(
            "0.55 < . 1:1(0) ack 1001 win 65535
             0.55 > . 10001:12001(2x1000) ack 1 {{new}}
             0.55 cwnd 2000
             0.55 rto 0.6
             0.6  < . 1:1(0) ack 2001 win 65535
             0.6  > . 12001:13001(1000) ack 1 {{new}}
             0.6  {SPURIOUS}
             0.6  cwnd 11000
             0.6  ssthresh inf
             0.6  flight 11000
             0.6  rto 0.5875
             0.7  < . 1:1(0) ack 10001 win 65535
             0.7  > . 13001:23001(10x1000) ack 1 {{new}}
             0.75 < . 1:1(0) ack 11001 win 65535
             0.75 > . 23001:25001(2x1000) ack 1 {{new}}
             0.75 rto 0.6
             0.75 srtt 0.2"
        ));
    }
}

/// The same with few originals behind: the sample of new data is a short one, and the timer falls back to what it was before
/// the timeout (SRTT_prev = 100 + 2 G = 102 ms, RTTVAR_prev = 50 ms), not below.
#[test]
fn after_a_spurious_timeout_the_timer_is_no_less_than_it_was() {
    bench(true, 30_000).play(&format!(
        "0.55 < . 1:1(0) ack 1001 win 65535
         0.55 > . 10001:12001(2x1000) ack 1
         0.6  < . 1:1(0) ack 2001 win 65535
         0.6  > . 12001:13001(1000) ack 1
         0.6  {SPURIOUS}
         0.65 < . 1:1(0) ack 12001 win 65535
         0.65 > . 13001:25001(12x1000) ack 1
         0.65 srtt 0.102
         0.65 rto 0.302"
    ));
}

/// A duplicate first: without SACK the timeout was genuine (RFC 5682 2.1 step 2a), and the next ACK lets slow start send two
/// again.
#[test]
fn basic_a_first_duplicate_means_conventional_recovery() {
    bench(false, 30_000).play(&format!(
        "0.55 < . 1:1(0) ack 1 win 65535
         0.55 {GENUINE}
         0.6  < . 1:1(0) ack 1001 win 65535
         0.6  > . 1001:3001(2x1000) ack 1 {{timeout}}
         0.6  cwnd 2000
         0.7  < . 1:1(0) ack 3001 win 65535
         0.7  > . 3001:6001(3x1000) ack 1 {{timeout}}"
    ));
}

/// 0.6 ACK of 1 -> two new | 0.7 a duplicate: genuine; cwnd is three segments (step 3a), of which the new ones take two
/// RFC 5682 2.1.
#[test]
fn basic_a_second_duplicate_means_conventional_recovery() {
    bench(false, 30_000).play(&format!(
        "0.6 < . 1:1(0) ack 1001 win 65535
         0.6 > . 10001:12001(2x1000) ack 1 {{new}}
         0.7 < . 1:1(0) ack 1001 win 65535
         0.7 > . 1001:2001(1000) ack 1 {{timeout}}
         0.7 {GENUINE}
         0.7 cwnd 3000
         0.7 ssthresh 5000
         0.8 < . 1:1(0) ack 2001 win 65535
         0.8 > . 2001:4001(2x1000) ack 1 {{timeout}}
         0.8 cwnd 4000"
    ));
}

/// The link is out for longer: the retransmission is lost, too, and the second timeout is not asked about (step 1): its ACK
/// finds conventional recovery. (cwnd stays at one segment, ssthresh is not halved again: RFC 5681 3.1.)
/// RFC 5682 2.1.
#[test]
fn a_lost_retransmission_means_conventional_recovery() {
    for sack in [true, false] {
        bench(sack, 30_000).play(
            "1.1 > . 1:1001(1000) ack 1 {timeout}
             1.1 ssthresh 5000
             1.2 < . 1:1(0) ack 1001 win 65535
             1.2 > . 1001:3001(2x1000) ack 1 {timeout}
             1.3 < . 1:1(0) ack 3001 win 65535
             1.3 > . 3001:6001(3x1000) ack 1 {timeout}",
        );
    }
}

/// The first ACK covers everything (step 2a): the ACKs before it were lost, or the retransmission filled the only hole.
#[test]
fn an_ack_of_everything_says_nothing() {
    for sack in [true, false] {
        bench(sack, 30_000).play(&format!(
            "0.6 < . 1:1(0) ack 10001 win 65535
             0.6 > . 10001:12001(2x1000) ack 1 {{new}}
             0.6 {GENUINE}
             0.6 cwnd 2000
             0.6 ssthresh 5000"
        ));
    }
}

/// An ACK of half of what was sent again (step 2a): a retransmission in other bounds tells nothing.
#[test]
fn an_ack_of_a_part_of_the_retransmission_says_nothing() {
    bench(true, 30_000).play(&format!(
        "0.6 < . 1:1(0) ack 501 win 65535
         0.6 > . 1001:2001(1000) ack 1 {{timeout}}
         0.6 {GENUINE}"
    ));
}

/// RFC 5682 3.1 step 2: SACKs before the first advance are noted and decide nothing; step 3b: a SACK of an original decides.
#[test]
fn sack_enhanced_a_sack_of_an_original_is_enough() {
    bench(true, 30_000).play(&format!(
        "0.55 < . 1:1(0) ack 1 win 65535 <sack 2001:3001>
         0.56 < . 1:1(0) ack 1001 win 65535 <sack 2001:3001>
         0.56 > . 10001:12001(2x1000) ack 1 {{new}}
         0.57 < . 1:1(0) ack 1001 win 65535 <sack 2001:4001>
         0.57 > . 12001:14001(2x1000) ack 1 {{new}} // FlightSize counts what is SACKed, pipe does not
         0.57 {SPURIOUS}
         0.57 cwnd 11000
         0.57 flight 11000"
    ));
}

/// RFC 5682 3.1 step 3a: a SACK of the new data, or an ACK of them, or a mere report of the retransmission as a duplicate:
/// conventional recovery with three segments. (The ACK of everything leaves nothing to send again.)
#[test]
fn sack_enhanced_what_acknowledges_new_data_says_nothing() {
    let two = "0.6 < . 1:1(0) ack 1001 win 65535
               0.6 > . 10001:12001(2x1000) ack 1 {new}";
    bench(true, 30_000).play(&format!(
        "{two}
         0.7 < . 1:1(0) ack 1001 win 65535 <sack 10001:11001>
         0.7 > . 1001:3001(2x1000) ack 1 {{timeout}}
         0.7 {GENUINE}
         0.7 cwnd 3000"
    ));
    bench(true, 30_000).play(&format!(
        "{two}
         0.7 < . 1:1(0) ack 11001 win 65535
         0.7 > . 12001:14001(2x1000) ack 1 {{new}}
         0.7 {GENUINE}
         0.7 cwnd 3000"
    ));
    bench(true, 30_000).play(&format!(
        "{two}
         0.7 < . 1:1(0) ack 1001 win 65535 <sack 1:1001>
         0.7 > . 1001:2001(1000) ack 1 {{timeout}}
         0.7 {GENUINE}
         0.7 cwnd 3000"
    ));
}

/// RFC 5682 2.1 step 2b: up to two new segments; one is enough, though the window has room for the other. Step 3b: the next ACK decides.
#[test]
fn one_new_segment_is_a_probe() {
    for sack in [true, false] {
        bench(sack, 11_000).play(&format!(
            "0.55 < . 1:1(0) ack 1001 win 65535
             0.55 > P. 10001:11001(1000) ack 1 {{new}}
             0.6  < . 1:1(0) ack 2001 win 65535
             0.6  {SPURIOUS}"
        ));
    }
}

/// RFC 5682 2.1 step 2b: without new data retransmission goes on at once.
#[test]
fn without_new_data_retransmission_goes_on() {
    for sack in [true, false] {
        bench(sack, 10_000).play(
            "0.55 < . 1:1(0) ack 1001 win 65535
             0.55 > . 1001:3001(2x1000) ack 1 {timeout}
             0.6  < . 1:1(0) ack 2001 win 65535
             0.6  > . 3001:5001(2x1000) ack 1 {timeout}
             0.6  cwnd 3000",
        );
    }
}

/// ... and so it does when the receiver's window has no room for it.
#[test]
fn without_a_window_for_new_data_retransmission_goes_on() {
    for sack in [true, false] {
        let mut bench = Bench::client(tcp().judge("frto".parse().unwrap()).sack(sack));
        let permitted = if sack { ",sackOK" } else { "" };
        bench.play(&format!(
            "0    > S 0:0(0) <mss 1040{permitted},wscale 14>
             0.1  < S. 0:0(0) ack 1 win 10000 <mss 1040{permitted},wscale 0>
             0.1  > . 1:1(0) ack 1
             0.2  write 30000
             0.2  > . 1:10001(10x1000) ack 1
             0.5  > . 1:1001(1000) ack 1 {{timeout}}
             0.55 < . 1:1(0) ack 1001 win 9000
             0.55 > . 1001:3001(2x1000) ack 1 {{timeout}}
             0.6  < . 1:1(0) ack 2001 win 10000
             0.6  > . 3001:5001(2x1000) ack 1 {{timeout}}
             0.6  ssthresh 5000"
        ));
    }
}
