//! RFC 7323: window scaling, timestamps, PAWS.

use anabranch_stack::Config;
use anabranch_stack::config::DelayedAck;

use crate::bench::Bench;
use crate::pair::{ms, tcp};

fn stamped() -> Config {
    tcp().timestamps(true)
}

// ---- window scaling ----------------------------------------------------------------------------------------------

/// 2.3: the smallest shift that lets the whole buffer be advertised: 1,000,000 / 2^4 = 62,500.
/// RFC 7323 2.2.
#[test]
fn the_shift_fits_the_receive_buffer() {
    let mut b = Bench::client(tcp().receive_buffer(Some(1_000_000)));
    b.play(
        "0   > S 0:0(0) win 65535 <mss 1040,sackOK,wscale 4>
         0.1 < S. 0:0(0) ack 1 win 65535 <mss 1040,sackOK,wscale 0>
         0.1 > . 1:1(0) ack 1 win 62500",
    );
}

/// RFC 7323 2.2: a buffer of 60,000 octets needs no shift. The client offers window scale with
/// shift 0, so that the server may scale its own window; here by 2^14.
#[test]
fn a_shift_of_zero_is_offered() {
    let mut b = Bench::client(tcp().receive_buffer(Some(60_000)).initial_window(100));
    b.play(
        "0   > S 0:0(0) win 60000 <mss 1040,sackOK,wscale 0>
         0.1 < S. 0:0(0) ack 1 win 65535 <mss 1040,wscale 14>
         0.1 > . 1:1(0) ack 1 win 60000
         0.2 < . 1:1(0) ack 1 win 1
         0.2 write 20000
         0.2 > . 1:16001(16x1000) ack 1",
    );
}

/// 2.2: a SYN and a SYN/ACK carry unscaled windows: 65,535 octets, not 65,535 * 2^14.
/// RFC 9293 3.1.
#[test]
fn the_window_of_a_syn_ack_is_not_scaled() {
    let mut b = Bench::client(tcp().initial_window(100));
    b.play(
        "0   > S 0:0(0) win 65535 <mss 1040,sackOK,wscale 14>
         0   write 100000
         0.1 < S. 0:0(0) ack 1 win 65535 <mss 1040,wscale 14>
         0.1 > . 1:65001(65x1000) ack 1
         0.2 < . 1:1(0) ack 1 win 5
         0.2 > . 65001:81001(16x1000) ack 1       // 5 * 2^14 = 81,920",
    );
}

/// 2.2: both sides must send the option; here the peer does not.
/// RFC 7323 2.3.
#[test]
fn without_the_peers_option_neither_window_is_scaled() {
    let mut b = Bench::client(tcp().initial_window(100));
    b.play(
        "0   > S 0:0(0) win 65535 <mss 1040,sackOK,wscale 14>
         0.1 < S. 0:0(0) ack 1 win 65535 <mss 1040>
         0.1 > . 1:1(0) ack 1 win 65535
         0.2 < . 1:1(0) ack 1 win 3000
         0.2 write 10000
         0.2 > . 1:3001(3x1000) ack 1",
    );
}

/// 2.2: a server sends the option only in answer to one.
/// RFC 7323 2.3.
#[test]
fn a_server_offers_scaling_only_in_answer() {
    let mut b = Bench::server(tcp());
    b.play(
        "0   < S 0:0(0) win 65535 <mss 1040,sackOK>
         0   > S. 0:0(0) ack 1 win 65535 <mss 1040,sackOK>
         0.1 < . 1:1(0) ack 1 win 2000
         0.1 write 5000
         0.1 > . 1:2001(2x1000) ack 1 win 65535",
    );
}

/// 2.2, 2.3: nor is ours: of a buffer of 1,000,000 octets 65,535 are shown, not 62,500 units of 16.
#[test]
fn without_the_peers_option_our_window_is_not_scaled() {
    let mut b = Bench::client(tcp().receive_buffer(Some(1_000_000)));
    b.play(
        "0   > S 0:0(0) win 65535 <mss 1040,sackOK,wscale 4>
         0.1 < S. 0:0(0) ack 1 win 65535 <mss 1040>
         0.1 > . 1:1(0) ack 1 win 65535",
    );
}

/// 2.3: a shift above 14 counts as 14: a window of 1 is 16,384 octets.
/// RFC 9293 3.1.
#[test]
fn a_shift_above_14_counts_as_14() {
    let mut b = Bench::client(tcp().initial_window(100));
    b.play(
        "0   > S 0:0(0) win 65535 <mss 1040,sackOK,wscale 14>
         0.1 < S. 0:0(0) ack 1 win 65535 <mss 1040,wscale 15>
         0.1 > . 1:1(0) ack 1
         0.2 < . 1:1(0) ack 1 win 1
         0.2 write 100000
         0.2 > . 1:16001(16x1000) ack 1",
    );
}

// ---- timestamps --------------------------------------------------------------------------------------------------

/// 3.2: offered on the SYN, answered on the SYN/ACK, then on every segment; the clock ticks in milliseconds (5.4).
/// RFC 7323 4.1.
#[test]
fn every_segment_carries_timestamps_once_both_sides_agreed() {
    let mut b = Bench::client(stamped());
    b.play(
        "0     > S 0:0(0) <mss 1040,sackOK,TS val 0 ecr 0,wscale 14>
         0.1   < S. 0:0(0) ack 1 win 65535 <mss 1040,sackOK,TS val 7000 ecr 0,wscale 14>
         0.1   > . 1:1(0) ack 1 <TS val 100 ecr 7000>
         0.2   write 1000
         0.2   > P. 1:1001(1000) ack 1 <TS val 200 ecr 7000>
         0.3   < P. 1:101(100) ack 1001 win 4 <TS val 7150 ecr 200>
         0.3   > . 1001:1001(0) ack 101 <TS val 300 ecr 7150>
         0.4   shutdown
         0.4   > F. 1001:1001(0) ack 101 <TS val 400 ecr 7150>",
    );
}

/// 3.2: a server answers with timestamps when the SYN had them.
#[test]
fn a_server_echoes_the_timestamp_of_the_syn() {
    let mut b = Bench::server(stamped());
    b.play(
        "0.05 < S 0:0(0) win 65535 <mss 1040,sackOK,TS val 300 ecr 0,wscale 14>
         0.05 > S. 0:0(0) ack 1 <mss 1040,sackOK,TS val 50 ecr 300,wscale 14>",
    );
}

/// 3.2: off if the peer lacks them, in either role.
#[test]
fn timestamps_are_off_when_the_peer_lacks_them() {
    let mut b = Bench::client(stamped());
    b.play(
        "0   > S 0:0(0) <mss 1040,sackOK,TS val 0 ecr 0,wscale 14>
         0.1 < S. 0:0(0) ack 1 win 65535 <mss 1040,sackOK,wscale 14>
         0.1 > . 1:1(0) ack 1
         0.2 write 1000
         0.2 > P. 1:1001(1000) ack 1",
    );
    let mut b = Bench::server(stamped());
    b.play(
        "0   < S 0:0(0) win 65535 <mss 1040,sackOK,wscale 14>
         0   > S. 0:0(0) ack 1 <mss 1040,sackOK,wscale 14>",
    );
}

/// 3.2: a segment without timestamps is dropped silently where they were agreed on; a reset is not.
#[test]
fn a_segment_that_lacks_agreed_timestamps_is_dropped() {
    let mut b = Bench::open_client(stamped());
    b.play(
        "0.2 < P. 1:101(100) ack 1 win 4
         0.2 unread 0
         0.3 < R 1:1(0)
         0.3 event Aborted(Reset)",
    );
}

/// 4.3: with delayed acknowledgements the earlier of two segments is echoed, so that a round trip includes the delay.
#[test]
fn a_delayed_acknowledgement_echoes_the_earlier_segment() {
    let mut b = Bench::open_client(stamped().delayed_ack(DelayedAck::After(ms(40))));
    b.play(
        "0.2  < . 1:1001(1000) ack 1 win 4 <TS val 1100 ecr 100>
         0.21 < . 1001:2001(1000) ack 1 win 4 <TS val 1110 ecr 100>
         0.21 > . 1:1(0) ack 2001 <TS val 210 ecr 1100>
         0.22 < . 2001:3001(1000) ack 1 win 4 <TS val 1120 ecr 100>
         0.26 > . 1:1(0) ack 3001 <TS val 260 ecr 1120>",
    );
}

/// 4.3: a segment beyond a hole does not change TS.Recent, the one that fills the hole does.
/// RFC 7323 5.3.
#[test]
fn a_segment_beyond_a_hole_is_not_echoed() {
    let mut b = Bench::open_client(stamped());
    b.play(
        "0.2 < . 1:1001(1000) ack 1 win 4 <TS val 1100 ecr 100>
         0.2 > . 1:1(0) ack 1001 <TS val 200 ecr 1100>
         0.3 < . 2001:3001(1000) ack 1 win 4 <TS val 1210 ecr 100>
         0.3 > . 1:1(0) ack 1001 <TS val 300 ecr 1100,sack 2001:3001>
         0.4 < . 1001:2001(1000) ack 1 win 4 <TS val 1205 ecr 100>
         0.4 > . 1:1(0) ack 3001 <TS val 400 ecr 1205>",
    );
}

// ---- PAWS --------------------------------------------------------------------------------------------------------

/// 5.3 R1: an older timestamp is an old segment: acknowledged and dropped, even if its sequence number fits.
/// RFC 7323 5.2.
#[test]
fn paws_drops_a_segment_with_an_old_timestamp() {
    let mut b = Bench::open_client(stamped());
    b.play(
        "0.2 < . 1:1001(1000) ack 1 win 4 <TS val 1100 ecr 100>
         0.2 > . 1:1(0) ack 1001 <TS val 200 ecr 1100>
         0.3 < . 1001:2001(1000) ack 1 win 4 <TS val 1099 ecr 100>
         0.3 > . 1:1(0) ack 1001 <TS val 300 ecr 1100>
         0.3 unread 1000
         0.4 < . 1001:2001(1000) ack 1 win 4 <TS val 1100 ecr 100>
         0.4 > . 1:1(0) ack 2001 <TS val 400 ecr 1100>",
    );
}

/// RFC 7323 5.3: PAWS comes before the check of the sequence number. A segment of old octets
/// without a timestamp is dropped in silence, as PAWS has it; the check of the sequence number
/// would have answered it. With a timestamp in order it is answered.
#[test]
fn paws_comes_before_the_check_of_the_sequence_number() {
    let mut b = Bench::open_client(stamped());
    b.play(
        "0.2 < . 1:1001(1000) ack 1 win 4 <TS val 1100 ecr 100>
         0.2 > . 1:1(0) ack 1001 <TS val 200 ecr 1100>
         0.3 < . 1:1001(1000) ack 1 win 4
         0.4 < . 1:1001(1000) ack 1 win 4 <TS val 1300 ecr 100>
         0.4 > . 1:1(0) ack 1001 <TS val 400 ecr 1100,sack 1:1001>",
    );
}

/// 5.3 R1: a reset is not subject to PAWS (5.2 says why).
#[test]
fn paws_lets_a_reset_through() {
    let mut b = Bench::open_client(stamped());
    b.play(
        "0.2 < R 1:1(0) <TS val 5 ecr 100>
         0.2 event Aborted(Reset)",
    );
}

/// 5.2: comparison is modulo 2^32; the clock may wrap.
#[test]
fn the_peers_clock_may_wrap() {
    let mut b = Bench::client(stamped());
    b.play(
        "0   > S 0:0(0) <mss 1040,sackOK,TS val 0 ecr 0,wscale 14>
         0.1 < S. 0:0(0) ack 1 win 65535 <mss 1040,sackOK,TS val 4294967290 ecr 0,wscale 14>
         0.1 > . 1:1(0) ack 1 <TS val 100 ecr 4294967290>
         0.2 < P. 1:101(100) ack 1 win 4 <TS val 94 ecr 100>
         0.2 > . 1:1(0) ack 101 <TS val 200 ecr 94>
         0.3 < P. 101:201(100) ack 1 win 4 <TS val 4294967295 ecr 100>
         0.3 > . 1:1(0) ack 101 <TS val 300 ecr 94>",
    );
}

/// 5.5: after 24 days of silence TS.Recent is not valid: the peer's clock, in milliseconds, has come round by more than
/// half after 25 days (2,160,000,000 of 2^32) and looks old.
/// RFC 7323 5.3, 5.4.
#[test]
fn after_24_days_of_silence_an_old_timestamp_is_not_old() {
    let mut b = Bench::open_client(stamped());
    b.play(
        "0.2       < P. 1:101(100) ack 1 win 4 <TS val 1100 ecr 100>
         0.2       > . 1:1(0) ack 101 <TS val 200 ecr 1100>
         2160000.2 < P. 101:201(100) ack 1 win 4 <TS val 2160001100 ecr 200>
         2160000.2 > . 1:1(0) ack 201 <TS val 2160000200 ecr 2160001100>",
    );
}

/// 5.3 R3, after RFC 9293 3.10.7.4: only a segment whose acknowledgement is acceptable is one of the peer's. A forged one with a
/// timestamp far ahead and the acknowledgement of octets never sent (0.2) is answered with what was known before, and the peer's
/// next segment (0.3) is not old.
#[test]
fn a_refused_acknowledgement_moves_no_timestamp() {
    let mut b = Bench::open_client(stamped());
    b.play(
        "0.2 < P. 1:101(100) ack 500 win 4 <TS val 1000000000 ecr 100>
         0.2 > . 1:1(0) ack 1 <TS val 200 ecr 1000>
         0.2 unread 0
         0.3 < P. 1:101(100) ack 1 win 4 <TS val 1200 ecr 100>
         0.3 > . 1:1(0) ack 101 <TS val 300 ecr 1200>",
    );
}

/// The same before the handshake is over (RFC 9293 3.10.7.4: a reset, and the connection waits on).
#[test]
fn a_refused_third_acknowledgement_moves_no_timestamp() {
    let mut b = Bench::server(stamped());
    b.play(
        "0.05 < S 0:0(0) win 65535 <mss 1040,sackOK,TS val 300 ecr 0,wscale 14>
         0.05 > S. 0:0(0) ack 1 <mss 1040,sackOK,TS val 50 ecr 300,wscale 14>
         0.1  < . 1:1(0) ack 700 win 4 <TS val 1000000000 ecr 50>
         0.1  > R 700:700(0) <TS val 100 ecr 300>
         0.2  < . 1:1(0) ack 1 win 4 <TS val 450 ecr 50>
         0.2  state ESTABLISHED
         0.3  < P. 1:101(100) ack 1 win 4 <TS val 550 ecr 50>
         0.3  > . 1:1(0) ack 101 <TS val 300 ecr 550>",
    );
}

/// 2.2: a window scale on another segment than a SYN says nothing: 2000 octets are 2000.
#[test]
fn window_scale_on_other_segments_is_ignored() {
    let mut b = Bench::client(tcp());
    b.play(
        "0   > S 0:0(0) win 65535 <mss 1040,sackOK,wscale 14>
         0.1 < S. 0:0(0) ack 1 win 65535 <mss 1040,wscale 0>
         0.1 > . 1:1(0) ack 1
         0.2 < . 1:1(0) ack 1 win 2000 <wscale 14>
         0.2 write 5000
         0.2 > . 1:2001(2x1000) ack 1",
    );
}

/// 2.3: our own shift is 14 at most, however large the buffer.
#[test]
fn our_shift_is_14_at_most() {
    let mut b = Bench::client(tcp().receive_buffer(Some(1 << 30)));
    b.play("0 > S 0:0(0) win 65535 <mss 1040,sackOK,wscale 14>");
}

/// 2.4: the right edge moves back from 10001 to 6001 with five segments beyond it: nothing more leaves, nothing is sent again, and when the window opens new
/// data leave within it.
#[test]
fn a_window_that_shrinks_is_borne() {
    let mut b = Bench::client(tcp());
    b.play(
        "0   > S 0:0(0) win 65535 <mss 1040,sackOK,wscale 14>
         0.1 < S. 0:0(0) ack 1 win 10000 <mss 1040>
         0.1 > . 1:1(0) ack 1
         0.2 write 20000
         0.2 > . 1:10001(10x1000) ack 1
         0.3 < . 1:1(0) ack 5001 win 1000
         0.3 flight 5000
         0.4 < . 1:1(0) ack 10001 win 3000
         0.4 > . 10001:13001(3x1000) ack 1",
    );
}

/// 3.2: a SYN without ACK has no echo, whatever stands there: the round trip is that of our SYN/ACK, 100 ms.
#[test]
fn an_echo_on_a_syn_is_ignored() {
    let mut b = Bench::server(stamped());
    b.play(
        "0.05 < S 0:0(0) win 65535 <mss 1040,sackOK,TS val 300 ecr 40,wscale 14>
         0.05 > S. 0:0(0) ack 1 <mss 1040,sackOK,TS val 50 ecr 300,wscale 14>
         0.15 < . 1:1(0) ack 1 win 4 <TS val 400 ecr 50>
         0.15 srtt 0.1",
    );
}

/// 3.2: timestamps that were not agreed on are ignored, older ones, too.
#[test]
fn timestamps_that_were_not_agreed_are_ignored() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 < . 1:1001(1000) ack 1 win 4 <TS val 900 ecr 5>
         0.2 > . 1:1(0) ack 1001
         0.3 < . 1001:2001(1000) ack 1 win 4 <TS val 3 ecr 5>
         0.3 > . 1:1(0) ack 2001",
    );
}
