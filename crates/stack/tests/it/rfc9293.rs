//! RFC 9293: the states of a connection, segments that do not belong to it, resets (with RFC 5961), giving up.

use anabranch_stack::event::{EndReason, Event};
use anabranch_stack::mptcp::connection::reset_for;
use anabranch_stack::segment::{Flags, Payload, Segment};
use anabranch_stack::tcp::State;
use anabranch_stack::time::Duration;

use crate::bench::Bench;
use crate::mptcp_bench::{Script, mptcp};
use crate::pair::{Fate, Pair, Side, at, ms, tcp};

// ---- opening -----------------------------------------------------------------------------------------------------

/// RFC 9293 3.5, figure 6.
/// RFC 9293 3.2, 3.7.1.
#[test]
fn a_client_opens_in_three_segments() {
    let mut b = Bench::client(tcp());
    b.play(
        "0   > S 0:0(0) win 65535 <mss 1040,sackOK,wscale 14>
         0   state SYN-SENT
         0.1 < S. 0:0(0) ack 1 win 65535 <mss 1040,sackOK,wscale 14>
         0.1 > . 1:1(0) ack 1
         0.1 state ESTABLISHED
         0.1 event Connected
         0.1 timer none",
    );
}

#[test]
fn a_server_opens_in_three_segments() {
    let mut b = Bench::server(tcp());
    b.play(
        "0   < S 0:0(0) win 65535 <mss 1040,sackOK,wscale 14>
         0   > S. 0:0(0) ack 1 win 65535 <mss 1040,sackOK,wscale 14>
         0   state SYN-RECEIVED
         0.1 < . 1:1(0) ack 1 win 4
         0.1 state ESTABLISHED
         0.1 event Connected
         0.1 timer none",
    );
}

/// RFC 9293 3.10.7.4, fifth check: the third segment may be lost, the first data acknowledges as well.
#[test]
fn a_server_is_established_by_the_first_data() {
    let mut b = Bench::server(tcp());
    b.play(
        "0   < S 0:0(0) win 65535 <mss 1040>
         0   > S. 0:0(0) ack 1 <mss 1040>
         0.1 < P. 1:101(100) ack 1 win 65535
         0.1 > . 1:1(0) ack 101
         0.1 state ESTABLISHED
         0.1 read 100",
    );
}

/// RFC 9293 3.5, figure 7.
#[test]
fn two_syns_that_cross_open_one_connection() {
    let mut b = Bench::client(tcp());
    b.play(
        "0    > S 0:0(0) <mss 1040,sackOK,wscale 14>
         0.05 < S 0:0(0) win 65535 <mss 1040,sackOK,wscale 14>
         0.05 > S. 0:0(0) ack 1 <mss 1040,sackOK,wscale 14>
         0.05 state SYN-RECEIVED
         0.1  < S. 0:0(0) ack 1 win 65535 <mss 1040,sackOK,wscale 14>
         0.1  state ESTABLISHED
         0.1  event Connected
         0.2  write 1000
         0.2  > P. 1:1001(1000) ack 1
         0.3  < P. 1:501(500) ack 1001 win 4
         0.3  > . 1001:1001(0) ack 501",
    );
}

/// As above, but the peer's SYN/ACK is lost: its acknowledgement alone establishes.
/// RFC 9293 3.5.
#[test]
fn crossing_syns_are_established_by_any_acknowledgement() {
    let mut b = Bench::client(tcp());
    b.play(
        "0    > S 0:0(0) <mss 1040,sackOK,wscale 14>
         0.05 < S 0:0(0) win 65535 <mss 1040,sackOK,wscale 14>
         0.05 > S. 0:0(0) ack 1 <mss 1040,sackOK,wscale 14>
         0.2  < . 1:1(0) ack 1 win 4
         0.2  state ESTABLISHED",
    );
}

/// 0.05 crossing SYN, our SYN/ACK is lost, the peer's comes: its repetition must be acknowledged or it never opens.
#[test]
fn after_crossing_syns_a_repeated_syn_ack_is_acknowledged() {
    let mut b = Bench::client(tcp());
    b.play(
        "0    > S 0:0(0) <mss 1040,sackOK,wscale 14>
         0.05 < S 0:0(0) win 65535 <mss 1040,sackOK,wscale 14>
         0.05 > S. 0:0(0) ack 1 <mss 1040,sackOK,wscale 14>
         0.1  < S. 0:0(0) ack 1 win 65535 <mss 1040,sackOK,wscale 14>
         1.1  < S. 0:0(0) ack 1 win 65535 <mss 1040,sackOK,wscale 14>
         1.1  > . 1:1(0) ack 1",
    );
}

/// RFC 9293 3.8.1: the SYN/ACK was lost, so the SYN comes again.
#[test]
fn a_repeated_syn_is_answered_again() {
    let mut b = Bench::server(tcp());
    b.play(
        "0   < S 0:0(0) win 65535 <mss 1040,sackOK,wscale 14>
         0   > S. 0:0(0) ack 1 <mss 1040,sackOK,wscale 14>
         0.5 < S 0:0(0) win 65535 <mss 1040,sackOK,wscale 14>
         0.5 > S. 0:0(0) ack 1 <mss 1040,sackOK,wscale 14>
         0.6 < . 1:1(0) ack 1 win 4
         0.6 state ESTABLISHED",
    );
}

/// RFC 9293 3.10.7.3, first check: an ACK of something never sent.
#[test]
fn a_wrong_acknowledgement_in_syn_sent_is_answered_by_a_reset() {
    let mut b = Bench::client(tcp());
    b.play(
        "0   > S 0:0(0) <mss 1040,sackOK,wscale 14>
         0.1 < S. 0:0(0) ack 2 win 65535
         0.1 > R 2:2(0)
         0.1 state SYN-SENT
         0.2 < . 0:0(0) ack 0 win 65535
         0.2 > R 0:0(0)
         0.2 state SYN-SENT
         0.3 < S. 0:0(0) ack 1 win 65535 <mss 1040>
         0.3 > . 1:1(0) ack 1
         0.3 state ESTABLISHED",
    );
}

/// RFC 9293 3.10.7.4, fifth check, SYN-RECEIVED.
#[test]
fn a_wrong_acknowledgement_in_syn_received_is_answered_by_a_reset() {
    let mut b = Bench::server(tcp());
    b.play(
        "0   < S 0:0(0) win 65535 <mss 1040>
         0   > S. 0:0(0) ack 1 <mss 1040>
         0.1 < . 1:1(0) ack 7 win 65535
         0.1 > R 7:7(0)
         0.1 state SYN-RECEIVED
         0.2 < . 1:1(0) ack 1 win 65535
         0.2 state ESTABLISHED",
    );
}

/// RFC 9293 3.10.7.3: neither SYN nor RST, nothing acknowledged: dropped.
#[test]
fn a_segment_without_syn_in_syn_sent_is_dropped() {
    let mut b = Bench::client(tcp());
    b.play(
        "0   > S 0:0(0) <mss 1040,sackOK,wscale 14>
         0.1 < P 1:101(100) win 65535
         0.2 < . 1:1(0) ack 1 win 65535
         0.2 state SYN-SENT",
    );
}

// ---- closing -----------------------------------------------------------------------------------------------------

/// RFC 9293 3.6, figure 12, left side; TIME-WAIT lasts `time_wait`.
/// RFC 9293 3.6.1.
#[test]
fn who_closes_first_waits_in_time_wait() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2  shutdown
         0.2  > F. 1:1(0) ack 1
         0.2  state FIN-WAIT-1
         0.3  < . 1:1(0) ack 2 win 4
         0.3  state FIN-WAIT-2
         0.3  timer none
         0.5  < F. 1:1(0) ack 2 win 4
         0.5  > . 2:2(0) ack 2
         0.5  event EndOfStream
         0.5  event Closed
         0.5  state TIME-WAIT
         0.5  timer 60.5
         60.4 state TIME-WAIT
         60.5 state CLOSED
         60.5 timer none",
    );
}

/// RFC 9293 3.6, figure 12, right side.
#[test]
fn who_closes_second_does_not_wait() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 < F. 1:1(0) ack 1 win 4
         0.2 > . 1:1(0) ack 2
         0.2 event EndOfStream
         0.2 state CLOSE-WAIT
         0.3 shutdown
         0.3 > F. 1:1(0) ack 2
         0.3 state LAST-ACK
         0.4 < . 2:2(0) ack 2 win 4
         0.4 event Closed
         0.4 state CLOSED
         0.4 timer none",
    );
}

/// RFC 9293 3.6, figure 13.
#[test]
fn fins_that_cross_lead_through_closing() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2  shutdown
         0.2  > F. 1:1(0) ack 1
         0.25 < F. 1:1(0) ack 1 win 4
         0.25 > . 2:2(0) ack 2
         0.25 state CLOSING
         0.3  < . 2:2(0) ack 2 win 4
         0.3  state TIME-WAIT
         0.3  event Closed
         60.3 state CLOSED",
    );
}

/// RFC 9293 3.10.7.4, eighth check, FIN-WAIT-1: a FIN that acknowledges ours.
#[test]
fn a_fin_that_acknowledges_ours_leads_straight_to_time_wait() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2  shutdown
         0.2  > F. 1:1(0) ack 1
         0.3  < F. 1:1(0) ack 2 win 4
         0.3  > . 2:2(0) ack 2
         0.3  state TIME-WAIT
         60.3 state CLOSED",
    );
}

/// RFC 9293 3.6, case 1: having closed, we go on receiving until the peer closes too.
#[test]
fn data_flow_on_towards_the_side_that_closed() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 write-shutdown 500
         0.2 > P. 1:501(500) ack 1
         0.2 > F. 501:501(0) ack 1
         0.3 < . 1:1001(1000) ack 502 win 4
         0.3 > . 502:502(0) ack 1001
         0.3 state FIN-WAIT-2
         0.3 read 1000
         0.4 < P. 1001:2001(1000) ack 502 win 4
         0.4 > . 502:502(0) ack 2001
         0.5 < F. 2001:2001(0) ack 502 win 4
         0.5 > . 502:502(0) ack 2002
         0.5 state TIME-WAIT
         0.5 read 1000",
    );
}

/// RFC 9293 3.6, case 2: the peer has closed, we go on sending (CLOSE-WAIT sends as ESTABLISHED does).
#[test]
fn data_flow_on_from_the_side_that_did_not_close() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 < F. 1:1(0) ack 1 win 4
         0.2 > . 1:1(0) ack 2
         0.3 write 3000
         0.3 > . 1:2001(2x1000) ack 2
         0.3 > P. 2001:3001(1000) ack 2
         0.4 < . 2:2(0) ack 3001 win 4
         0.4 state CLOSE-WAIT
         0.5 write-shutdown 1000
         0.5 > P. 3001:4001(1000) ack 2
         0.5 > F. 4001:4001(0) ack 2
         0.6 < . 2:2(0) ack 4002 win 4
         0.6 event Closed
         0.6 state CLOSED",
    );
}

/// Half-close between two of our own: A sends 100 kB and closes, B answers with 200 kB after that.
#[test]
fn a_half_closed_connection_carries_the_answer() {
    let mut pair = Pair::new(tcp(), tcp(), ms(10));
    pair.write(Side::A, 100_000);
    pair.close(Side::A);
    pair.run_until(at(1_000));
    assert_eq!(pair[Side::B].read, 100_000);
    assert!(pair[Side::B].when(Event::EndOfStream).is_some());
    assert_eq!(pair[Side::A].conn().subflows()[0].state(), State::FinWait2);
    pair.write(Side::B, 200_000);
    pair.close(Side::B);
    pair.run();
    assert_eq!(pair[Side::A].read, 200_000);
    assert!(pair.is_closed());
}

/// RFC 9293 3.10.7.4, eighth check: a FIN counts when everything before it has come.
#[test]
fn a_fin_behind_a_hole_waits_for_the_hole_to_fill() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 < . 1001:2001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 1 <sack 1001:2001>
         0.2 < F. 2001:2001(0) ack 1 win 4
         0.2 > . 1:1(0) ack 1 <sack 1001:2001>
         0.2 state ESTABLISHED
         0.3 < . 1:1001(1000) ack 1 win 4
         0.3 > . 1:1(0) ack 2002
         0.3 state CLOSE-WAIT
         0.3 event EndOfStream",
    );
}

/// The FIN may ride on the last data.
#[test]
fn a_fin_with_data_counts_after_the_data() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 < FP. 1:501(500) ack 1 win 4
         0.2 > . 1:1(0) ack 502
         0.2 state CLOSE-WAIT
         0.2 read 500",
    );
}

/// 0.2 FIN lost, sent again after the timeout of 0.3 s, doubled.
#[test]
fn a_lost_fin_is_sent_again() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 shutdown
         0.2 > F. 1:1(0) ack 1
         0.5 > F. 1:1(0) ack 1
         1.1 > F. 1:1(0) ack 1
         1.2 < . 1:1(0) ack 2 win 4
         1.2 state FIN-WAIT-2
         1.2 timer none",
    );
}

/// A FIN in LAST-ACK is retransmitted, too, and a repeated FIN of the peer is acknowledged again.
#[test]
fn last_ack_repeats_its_fin_and_acknowledges_the_peers_again() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 < F. 1:1(0) ack 1 win 4
         0.2 > . 1:1(0) ack 2
         0.2 shutdown
         0.2 > F. 1:1(0) ack 2
         0.4 < F. 1:1(0) ack 1 win 4
         0.4 > . 2:2(0) ack 2
         0.5 > F. 1:1(0) ack 2
         0.6 < . 2:2(0) ack 2 win 4
         0.6 state CLOSED",
    );
}

/// RFC 9293 3.10.7.4, eighth check, TIME-WAIT: the FIN again is acknowledged again and the wait starts anew.
#[test]
fn time_wait_acknowledges_a_repeated_fin_and_starts_anew() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2  shutdown
         0.2  > F. 1:1(0) ack 1
         0.3  < F. 1:1(0) ack 2 win 4
         0.3  > . 2:2(0) ack 2
         40   < F. 1:1(0) ack 2 win 4
         40   > . 2:2(0) ack 2
         40   timer 100
         50   < . 1:1(0) ack 2 win 4      // an old acknowledgement does not
         50   > . 2:2(0) ack 2
         50   timer 100
         100  state CLOSED",
    );
}

/// RFC 9293 MUST-13: twice the maximum segment lifetime, here of two minutes.
#[test]
fn time_wait_lasts_twice_the_maximum_segment_lifetime() {
    let config = tcp().time_wait(Duration::from_secs(240));
    let mut b = Bench::open_client(config);
    b.play(
        "0.2   shutdown
         0.2   > F. 1:1(0) ack 1
         0.3   < F. 1:1(0) ack 2 win 4
         0.3   > . 2:2(0) ack 2
         240.2 state TIME-WAIT
         240.3 state CLOSED",
    );
}

/// 20 ms SYN/ACK; what was written and closed before goes out at once, FIN included.
#[test]
fn closing_before_the_handshake_is_over_sends_everything_first() {
    let mut b = Bench::client(tcp());
    b.play(
        "0   > S 0:0(0) <mss 1040,sackOK,wscale 14>
         0   write-shutdown 1500
         0.1 < S. 0:0(0) ack 1 win 65535 <mss 1040>
         0.1 > . 1:1001(1000) ack 1
         0.1 > P. 1001:1501(500) ack 1
         0.1 > F. 1501:1501(0) ack 1",
    );
}

// ---- resets ------------------------------------------------------------------------------------------------------

/// RFC 9293 3.10.7.3, second check: in SYN-SENT a reset counts if it acknowledges the SYN.
#[test]
fn a_reset_in_syn_sent_must_acknowledge_the_syn() {
    let mut b = Bench::client(tcp());
    b.play(
        "0   > S 0:0(0) <mss 1040,sackOK,wscale 14>
         0.1 < R 0:0(0)
         0.1 state SYN-SENT
         0.1 < R. 0:0(0) ack 2
         0.1 state SYN-SENT
         0.2 < R. 0:0(0) ack 1
         0.2 state CLOSED
         0.2 event Aborted(Reset)
         0.2 timer none",
    );
}

/// RFC 5961 3.2 in every synchronized state, and in SYN-RECEIVED: a reset counts exactly at RCV.NXT, elsewhere in the
/// window it is answered by a challenge ACK, outside it is ignored.
#[test]
fn a_reset_counts_only_at_rcv_nxt() {
    // How each state is reached, RCV.NXT there, and the acknowledgement that answers a challenge.
    let states = [
        ("SYN-RECEIVED", "", 1, "1:1(0) ack 1"),
        ("ESTABLISHED", "0.2 < . 1:1(0) ack 1 win 4", 1, "1:1(0) ack 1"),
        (
            "FIN-WAIT-1",
            "0.2 < . 1:1(0) ack 1 win 4
             0.2 shutdown
             0.2 > F. 1:1(0) ack 1",
            1,
            "2:2(0) ack 1",
        ),
        (
            "FIN-WAIT-2",
            "0.2 < . 1:1(0) ack 1 win 4
             0.2 shutdown
             0.2 > F. 1:1(0) ack 1
             0.2 < . 1:1(0) ack 2 win 4",
            1,
            "2:2(0) ack 1",
        ),
        (
            "CLOSE-WAIT",
            "0.2 < F. 1:1(0) ack 1 win 4
             0.2 > . 1:1(0) ack 2",
            2,
            "1:1(0) ack 2",
        ),
        (
            "CLOSING",
            "0.2 < . 1:1(0) ack 1 win 4
             0.2 shutdown
             0.2 > F. 1:1(0) ack 1
             0.2 < F. 1:1(0) ack 1 win 4
             0.2 > . 2:2(0) ack 2",
            2,
            "2:2(0) ack 2",
        ),
        (
            "LAST-ACK",
            "0.2 < F. 1:1(0) ack 1 win 4
             0.2 > . 1:1(0) ack 2
             0.2 shutdown
             0.2 > F. 1:1(0) ack 2",
            2,
            "2:2(0) ack 2",
        ),
        (
            "TIME-WAIT",
            "0.2 < . 1:1(0) ack 1 win 4
             0.2 shutdown
             0.2 > F. 1:1(0) ack 1
             0.2 < F. 1:1(0) ack 2 win 4
             0.2 > . 2:2(0) ack 2",
            2,
            "2:2(0) ack 2",
        ),
    ];
    for (state, way, next, challenge) in states {
        let mut b = Bench::server(tcp());
        b.play(
            "0 < S 0:0(0) win 65535 <mss 1040,sackOK,wscale 14>
             0 > S. 0:0(0) ack 1 <mss 1040,sackOK,wscale 14>",
        );
        b.play(way);
        let (inside, below, beyond) = (next + 5, next - 1, (1_u64 << 30) + 70_000);
        b.play(&format!(
            "0.3 state {state}
             0.3 < R {below}:{below}(0)
             0.3 < R {beyond}:{beyond}(0)
             0.3 < R {inside}:{inside}(0)
             0.3 > . {challenge}
             0.3 state {state}
             0.3 < R {next}:{next}(0)"
        ));
        if state == "TIME-WAIT" {
            // RFC 1337 3, fix F1.
            b.play("0.3 state TIME-WAIT");
            continue;
        }
        b.play(
            "0.3 event Ended(Reset)
             0.3 state CLOSED
             0.3 timer none",
        );
        assert_eq!(b.count(|e| *e == Event::Aborted(EndReason::Reset)), 1, "{state}");
    }
}

/// RFC 5961 4.2: a SYN on a synchronized connection, wherever it lies, is answered by a challenge ACK.
#[test]
fn a_syn_on_an_open_connection_is_challenged() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 < S 5000:5000(0) win 65535
         0.2 > . 1:1(0) ack 1
         0.3 < S 2000000000:2000000000(0) win 65535
         0.3 > . 1:1(0) ack 1
         0.4 < S. 0:0(0) ack 1 win 65535
         0.4 > . 1:1(0) ack 1
         0.4 state ESTABLISHED",
    );
}

/// RFC 5961 4.2: the SYN is dropped with the text that it carries, even if both are in the window.
#[test]
fn the_text_of_a_syn_on_an_open_connection_is_dropped() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 < S. 1:101(100) ack 1 win 65535
         0.2 > . 1:1(0) ack 1
         0.3 < . 1:101(100) ack 1 win 4
         0.3 > . 1:1(0) ack 101",
    );
}

/// RFC 9293 3.10.5: abort sends one reset and nothing more.
#[test]
fn abort_sends_a_reset_and_falls_silent() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 write 3000
         0.2 > . 1:2001(2x1000) ack 1
         0.2 > P. 2001:3001(1000) ack 1
         0.3 abort
         0.3 > R. 3001:3001(0) ack 1
         0.3 state CLOSED
         0.3 timer none
         9   < . 1:1(0) ack 1001 win 4",
    );
}

/// RFC 9293 3.10.5: no reset before the peer has answered, nor after both have closed: the connection is just forgotten.
#[test]
fn abort_is_silent_where_the_peer_needs_no_reset() {
    let mut b = Bench::client(tcp());
    b.play(
        "0   > S 0:0(0) <mss 1040,sackOK,wscale 14>
         0.1 abort
         0.1 state CLOSED
         0.1 timer none",
    );
    let closing = "0.2 shutdown
         0.2 > F. 1:1(0) ack 1
         0.3 < F. 1:1(0) ack 1 win 4
         0.3 > . 2:2(0) ack 2";
    let last_ack = "0.2 < F. 1:1(0) ack 1 win 4
         0.2 > . 1:1(0) ack 2
         0.3 shutdown
         0.3 > F. 1:1(0) ack 2";
    let time_wait = "0.2 shutdown
         0.2 > F. 1:1(0) ack 1
         0.3 < F. 1:1(0) ack 2 win 4
         0.3 > . 2:2(0) ack 2";
    for way in [closing, last_ack, time_wait] {
        let mut b = Bench::open_client(tcp());
        b.play(way);
        b.play("0.4 abort\n 0.4 state CLOSED\n 0.4 timer none");
    }
}

/// RFC 9293 3.10.7.1: the answer of a host without the connection.
#[test]
fn a_host_without_the_connection_answers_with_a_reset() {
    let mut seg = Segment { seq: 100, ack: 900, flags: Flags::ACK, ..Segment::default() };
    seg.payload = Payload::new(0, 10);
    // With an ACK: <SEQ=SEG.ACK><CTL=RST>.
    let reset = reset_for(&seg).unwrap();
    assert_eq!((reset.seq, reset.flags, reset.payload.len), (900, Flags::RST, 0));
    // Without: <SEQ=0><ACK=SEG.SEQ+SEG.LEN><CTL=RST,ACK>, and SYN and FIN count.
    seg.flags = Flags::SYN.with(Flags::FIN);
    let reset = reset_for(&seg).unwrap();
    assert_eq!((reset.seq, reset.ack, reset.flags), (0, 112, Flags::RST.with(Flags::ACK)));
    // Never a reset for a reset.
    seg.flags = Flags::RST;
    assert_eq!(reset_for(&seg), None);
}

/// The server is gone (its host answers with resets): the client learns at once.
/// RFC 5961 4.2; RFC 9293 3.6.
#[test]
fn a_reset_of_a_forgotten_connection_is_accepted() {
    let mut pair = Pair::new(tcp(), tcp(), ms(10));
    pair.run_until(at(100));
    // Its reset is lost.
    pair.filter(|p| if p.from == Side::B { Fate::Drop } else { Fate::Pass });
    pair.with(Side::B, |c| c.abort());
    pair.filter(|_| Fate::Pass);
    pair.write(Side::A, 1000);
    pair.run();
    assert_eq!(pair[Side::A].when(Event::Aborted(EndReason::Reset)), Some(at(120)));
}

// ---- segments that do not fit ------------------------------------------------------------------------------------

/// RFC 9293 3.10.7.4, first check: unacceptable segments are answered by an ACK and otherwise dropped.
#[test]
fn segments_outside_the_window_are_answered_by_an_acknowledgement() {
    let config = tcp().receive_buffer(Some(10_000)).sack(false);
    let mut b = Bench::open_client(config);
    b.play(
        "0.2 < . 1:1001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 1001
         0.3 < . 1:1001(1000) ack 1 win 4          // below: a duplicate
         0.3 > . 1:1(0) ack 1001
         0.4 < . 11001:12001(1000) ack 1 win 4     // beyond: 1001 + 9000 is the right edge
         0.4 > . 1:1(0) ack 1001
         0.5 < . 0:0(0) ack 1 win 4                // below, without payload: a keep-alive
         0.5 > . 1:1(0) ack 1001
         0.5 unread 1000",
    );
}

/// RFC 9293 3.10.7.4, seventh check: what is below RCV.NXT is cut off, the rest counts.
#[test]
fn the_new_part_of_a_segment_that_overlaps_is_taken() {
    let config = tcp().sack(false);
    let mut b = Bench::open_client(config);
    b.play(
        "0.2 < . 1:1001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 1001
         0.3 < . 501:1501(1000) ack 1 win 4
         0.3 > . 1:1(0) ack 1501
         0.3 read 1500",
    );
}

/// RFC 9293 3.10.7.4, fifth check: no ACK flag, no effect.
#[test]
fn a_segment_without_an_acknowledgement_is_dropped() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 < P 1:1001(1000) win 4
         0.2 unread 0
         0.2 state ESTABLISHED",
    );
}

/// RFC 9293 3.10.7.4, fifth check: SEG.ACK > SND.NXT is answered by an ACK, and the segment dropped.
/// RFC 5961 5.2.
#[test]
fn an_acknowledgement_of_what_was_never_sent_is_answered_and_dropped() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 < P. 1:1001(1000) ack 2000 win 4
         0.2 > . 1:1(0) ack 1
         0.2 unread 0",
    );
}

/// RFC 9293 3.10.7.4, fifth check: SEG.ACK < SND.UNA is ignored, the payload counts.
#[test]
fn an_old_acknowledgement_does_not_matter_to_the_payload() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 write 2000
         0.2 > . 1:1001(1000) ack 1
         0.2 > P. 1001:2001(1000) ack 1
         0.3 < . 1:1(0) ack 2001 win 4
         0.4 < . 1:501(500) ack 1001 win 4
         0.4 > . 2001:2001(0) ack 501
         0.4 unread 500
         0.4 flight 0",
    );
}

/// RFC 9293 3.10.7.4, RFC 8684 3.3.5: of two segments in the window the later one (by SND.WL1)
/// tells the window, although the earlier one, which it has overtaken, arrives last.
#[test]
fn an_overtaken_segment_does_not_change_the_window() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 < . 101:201(100) ack 1 win 0         // closes the window
         0.2 > . 1:1(0) ack 1 <sack 101:201>
         0.3 < . 1:101(100) ack 1 win 4           // overtaken: its window is not news
         0.3 > . 1:1(0) ack 201
         0.3 write 1000                           // nothing leaves
         0.4 < . 201:201(0) ack 1 win 4
         0.4 > P. 1:1001(1000) ack 201",
    );
}

/// RFC 9293 3.10.7.4: window updates only from segments that are newer (SND.WL1, SND.WL2).
/// RFC 8684 3.3.5.
#[test]
fn an_old_segment_does_not_change_the_window() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 < . 1:101(100) ack 1 win 0           // new, closes the window
         0.2 > . 1:1(0) ack 101
         0.3 < . 1:1(0) ack 1 win 4               // older: its window is not news
         0.3 > . 1:1(0) ack 101
         0.3 write 1000                           // nothing leaves
         0.4 < . 101:101(0) ack 1 win 4
         0.4 > P. 1:1001(1000) ack 101",
    );
}

/// The same of a segment that is acceptable: 0.2 the second segment, with a closed window, overtakes the first, with an open one.
#[test]
fn a_segment_that_was_overtaken_does_not_open_the_window() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 < . 1001:1101(100) ack 1 win 0       // SND.WL1 is 1001
         0.2 > . 1:1(0) ack 1 <sack 1001:1101>
         0.3 < . 1:1001(1000) ack 1 win 4         // in order, but sent before
         0.3 > . 1:1(0) ack 1101
         0.4 write 1000                           // nothing leaves
         0.5 < . 1101:1101(0) ack 1 win 4
         0.5 > P. 1:1001(1000) ack 1101",
    );
}

// ---- giving up ---------------------------------------------------------------------------------------------------

/// RFC 6298 5.5: the timeout doubles. RFC 9293 3.8.3, MUST-23: a SYN is retransmitted for at least 3 minutes.
#[test]
fn a_syn_is_repeated_for_three_minutes() {
    let mut b = Bench::client(tcp());
    b.play(
        "0   > S 0:0(0) <mss 1040,sackOK,wscale 14>
         1   > S 0:0(0) <mss 1040,sackOK,wscale 14>
         3   > S 0:0(0) <mss 1040,sackOK,wscale 14>
         7   > S 0:0(0) <mss 1040,sackOK,wscale 14>
         15  > S 0:0(0) <mss 1040,sackOK,wscale 14>
         31  > S 0:0(0) <mss 1040,sackOK,wscale 14>
         63  > S 0:0(0) <mss 1040,sackOK,wscale 14>
         127 > S 0:0(0) <mss 1040,sackOK,wscale 14>
         246 state SYN-SENT
         247 state CLOSED                          // 127 s and the largest timeout, 120 s
         247 event Aborted(TimedOut)
         247 timer none",
    );
}

/// The same from the other side.
/// RFC 9293 3.8.3.
#[test]
fn a_syn_ack_is_repeated_for_three_minutes() {
    let mut b = Bench::server(tcp());
    b.play(
        "0   < S 0:0(0) win 65535 <mss 1040>
         0   > S. 0:0(0) ack 1 <mss 1040>
         1   > S. 0:0(0) ack 1 <mss 1040>
         3   > S. 0:0(0) ack 1 <mss 1040>
         7   > S. 0:0(0) ack 1 <mss 1040>
         15  > S. 0:0(0) ack 1 <mss 1040>
         31  > S. 0:0(0) ack 1 <mss 1040>
         63  > S. 0:0(0) ack 1 <mss 1040>
         127 > S. 0:0(0) ack 1 <mss 1040>
         247 state CLOSED
         247 event Aborted(TimedOut)",
    );
}

/// RFC 9293 3.8.3, R2: here after three retransmissions; 0.3 s timeout, doubled each time.
#[test]
fn a_segment_never_acknowledged_ends_the_connection() {
    let mut b = Bench::open_client(tcp().max_retransmissions(3));
    b.play(
        "0.2 write 1000
         0.2 > P. 1:1001(1000) ack 1
         0.5 > P. 1:1001(1000) ack 1 {timeout}
         1.1 > P. 1:1001(1000) ack 1 {timeout}
         2.3 > P. 1:1001(1000) ack 1 {timeout}
         4.7 state CLOSED
         4.7 event Ended(TimedOut)
         4.7 event Aborted(TimedOut)
         4.7 timer none",
    );
}

/// R2 counts since the last progress, not over the connection's life.
#[test]
fn any_progress_starts_the_count_of_retransmissions_anew() {
    let mut b = Bench::open_client(tcp().max_retransmissions(2));
    b.play(
        "0.2  write 2000
         0.2  > . 1:1001(1000) ack 1
         0.2  > P. 1001:2001(1000) ack 1
         0.5  > . 1:1001(1000) ack 1
         1.1  > . 1:1001(1000) ack 1
         1.2  < . 1:1(0) ack 1001 win 4
         1.2  > P. 1001:2001(1000) ack 1
         2.4  > P. 1001:2001(1000) ack 1           // the timeout is still 1.2 s: Karn gave no sample
         4.8  > P. 1001:2001(1000) ack 1
         9.6  event Aborted(TimedOut)",
    );
}

/// R2 holds for a FIN, too.
#[test]
fn a_fin_never_acknowledged_ends_the_connection() {
    let mut b = Bench::open_client(tcp().max_retransmissions(1));
    b.play(
        "0.2 shutdown
         0.2 > F. 1:1(0) ack 1
         0.5 > F. 1:1(0) ack 1
         1.1 event Aborted(TimedOut)
         1.1 state CLOSED",
    );
}

/// RFC 9293 3.4, MUST-66: our window is closed; a reset at RCV.NXT counts all the same.
#[test]
fn a_reset_counts_with_a_closed_window() {
    let mut b = Bench::open_client(tcp().receive_buffer(Some(1000)));
    b.play(
        "0.2 < . 1:1001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 1001 win 0
         0.3 < R. 1001:1001(0) ack 1
         0.3 state CLOSED
         0.3 timer none",
    );
}

/// RFC 9293 3.5.3: a reset may carry data, an explanation say: it is a reset.
#[test]
fn a_reset_with_data_is_a_reset() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 < R. 1:101(100) ack 1
         0.2 state CLOSED
         0.2 timer none",
    );
}

/// RFC 9293 3.8.3, SHLD-11: by default R2 is beyond 100 seconds: the ninth retransmission leaves after 153 s.
#[test]
fn by_default_a_segment_is_repeated_for_more_than_100_seconds() {
    let mut b = Bench::open_client(tcp());
    b.play("0.2 write 1000\n 0.2 > P. 1:1001(1000) ack 1");
    for at in ["0.5", "1.1", "2.3", "4.7", "9.5", "19.1", "38.3", "76.7"] {
        b.play(&format!("{at} > P. 1:1001(1000) ack 1 {{timeout}}"));
    }
    b.play("153.5 > P. 1:1001(1000) ack 1 {timeout}\n 153.5 state ESTABLISHED");
}

/// RFC 9293 3.10.7.4, MUST-58, MUST-59: three segments wait in the host's queue: all are processed before an acknowledgement leaves, one for all.
#[test]
fn segments_that_arrive_together_are_acknowledged_once() {
    let mut s = Script::server(mptcp());
    for n in 0..3 {
        let seg = s.data(0, 1 + 1000 * n, 1000 * u64::from(n), 1000);
        s.c.handle_segment(s.now, 0, &seg);
    }
    let out = s.poll();
    assert_eq!((out.len(), s.subflow_ack(&out[0])), (1, 3001));
}
