//! RFC 3168: explicit congestion notification.

use anabranch_stack::Config;
use anabranch_stack::event::Event;

use crate::bench::Bench;
use crate::pair::tcp;

fn ecn() -> Config {
    tcp().ecn(true)
}

fn congestions(b: &Bench) -> usize {
    b.count(|e| matches!(e, Event::Congestion { .. }))
}

// ---- negotiation -------------------------------------------------------------------------------------------------

/// 6.1.1: ECE and CWR on the SYN, ECE on the SYN/ACK; then data are ECT.
/// RFC 3168 6.1.2.
#[test]
fn a_client_and_a_server_agree_on_ecn() {
    let mut b = Bench::client(ecn());
    b.play(
        "0   > SEW 0:0(0) <mss 1040,sackOK,wscale 14>
         0.1 < SE. 0:0(0) ack 1 win 65535 <mss 1040>
         0.1 > . 1:1(0) ack 1
         0.2 write 1000
         0.2 > [ect0] P. 1:1001(1000) ack 1",
    );
    let mut b = Bench::server(ecn());
    b.play(
        "0   < SEW 0:0(0) win 65535 <mss 1040>
         0   > SE. 0:0(0) ack 1 <mss 1040>
         0.1 < . 1:1(0) ack 1 win 65535
         0.2 write 1000
         0.2 > [ect0] P. 1:1001(1000) ack 1",
    );
}

/// 6.1.1: any other combination is a refusal.
#[test]
fn other_flags_refuse_ecn() {
    for flags in ["S.", "SEW.", "SW."] {
        let mut b = Bench::client(ecn());
        b.play(&format!(
            "0   > SEW 0:0(0) <mss 1040,sackOK,wscale 14>
             0.1 < {flags} 0:0(0) ack 1 win 65535 <mss 1040>
             0.1 > . 1:1(0) ack 1
             0.2 write 1000
             0.2 > P. 1:1001(1000) ack 1"
        ));
    }
    for flags in ["S", "SE", "SW"] {
        let mut b = Bench::server(ecn());
        b.play(&format!(
            "0 < {flags} 0:0(0) win 65535 <mss 1040>
             0 > S. 0:0(0) ack 1 <mss 1040>"
        ));
    }
}

/// 6.1.1: who does not want ECN does not offer it.
#[test]
fn ecn_is_off_unless_configured() {
    let mut b = Bench::server(tcp());
    b.play(
        "0 < SEW 0:0(0) win 65535 <mss 1040>
         0 > S. 0:0(0) ack 1 <mss 1040>",
    );
}

/// 6.1.1 with two SYNs that cross: each is a request of its own.
#[test]
fn crossing_syns_agree_on_ecn() {
    let mut b = Bench::client(ecn());
    b.play(
        "0    > SEW 0:0(0) <mss 1040,sackOK,wscale 14>
         0.05 < SEW 0:0(0) win 65535 <mss 1040>
         0.05 > SE. 0:0(0) ack 1 <mss 1040>
         0.1  < . 1:1(0) ack 1 win 65535
         0.2  write 1000
         0.2  > [ect0] P. 1:1001(1000) ack 1",
    );
}

// ---- receiver ----------------------------------------------------------------------------------------------------

/// 6.1.3: a mark is echoed on every acknowledgement until CWR comes; 6.1.4: acknowledgements are not ECT.
/// RFC 3168 6.1.1.
#[test]
fn a_mark_is_echoed_until_cwr_comes() {
    let mut b = Bench::open_client(ecn());
    b.play(
        "0.2 < [ect0] . 1:1001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 1001
         0.2 < [ce] . 1001:2001(1000) ack 1 win 4
         0.2 > E. 1:1(0) ack 2001
         0.2 < [ect0] . 2001:3001(1000) ack 1 win 4
         0.2 > E. 1:1(0) ack 3001
         0.3 < [ect0] W. 3001:4001(1000) ack 1 win 4
         0.3 > . 1:1(0) ack 4001
         0.4 < [ce] W. 4001:5001(1000) ack 1 win 4   // CWR for the old mark, and a new one
         0.4 > E. 1:1(0) ack 5001",
    );
}

/// 6.1.3: an echo rides on data, too.
#[test]
fn data_carry_the_echo() {
    let mut b = Bench::open_client(ecn());
    b.play(
        "0.2 < [ce] . 1:1001(1000) ack 1 win 4
         0.2 > E. 1:1(0) ack 1001
         0.3 write 500
         0.3 > [ect0] PE. 1:501(500) ack 1001",
    );
}

/// Without ECN a mark means nothing.
#[test]
fn a_mark_without_ecn_is_not_echoed() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 < [ce] . 1:1001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 1001",
    );
}

// ---- sender ------------------------------------------------------------------------------------------------------

/// Segments whose acknowledgement carried ECE (`tcpi_delivered_ce`): three, and not the two before them.
#[test]
fn what_an_echo_acknowledges_is_counted() {
    let mut b = Bench::open_client(ecn());
    b.play(
        "0.2  write 5000
         0.2  > [ect0] . 1:4001(4x1000) ack 1
         0.2  > [ect0] P. 4001:5001(1000) ack 1
         0.3  < . 1:1(0) ack 2001 win 100
         0.31 < E. 1:1(0) ack 5001 win 100",
    );
    assert_eq!(b.conn().info(b.now, 0).counts.delivered_ce, 3);
}

/// 6.1.2: an echo halves the window as a loss does, once a window of data, and the next new data carry CWR, once.
/// RFC 3168 6.1.1.
#[test]
fn echoes_cut_once_a_window_and_are_answered_by_cwr() {
    let mut b = Bench::open_client(ecn());
    b.play(
        "0.2  write 100000
         0.2  > [ect0] . 1:10001(10x1000) ack 1
         0.3  < E. 1:1(0) ack 2001 win 100
         0.3  event Congestion(Ecn)
         0.3  cwnd 4000                            // 8 are in flight
         0.3  ssthresh 4000
         0.31 < E. 1:1(0) ack 4001 win 100
         0.32 < E. 1:1(0) ack 6001 win 100
         0.32 cwnd 4000
         0.33 < E. 1:1(0) ack 7001 win 100
         0.33 > [ect0] W. 10001:11001(1000) ack 1
         0.34 < E. 1:1(0) ack 9001 win 100
         0.34 > [ect0] . 11001:13001(2x1000) ack 1
         0.34 cwnd 4000",
    );
    assert_eq!(congestions(&b), 1);
    // The last acknowledgement of the window of data that was out at the cut still echoes: CWR left behind that window.
    // The next echo is about another one.
    b.play(
        "0.4  < E. 1:1(0) ack 10001 win 100
         0.4  > [ect0] . 13001:14001(1000) ack 1
         0.45 < E. 1:1(0) ack 11001 win 100
         0.45 ssthresh 2000                        // max(3000 / 2, 2 segments)
         0.5  < . 1:1(0) ack 13001 win 100
         0.5  > [ect0] W. 14001:15001(1000) ack 1",
    );
    assert_eq!(congestions(&b), 2);
}

/// 6.1.2: no second cut for a loss in the window that an echo has cut.
#[test]
fn a_loss_in_a_window_cut_by_an_echo_does_not_cut_again() {
    let mut b = Bench::open_client(ecn());
    b.play(
        "0.2  write 10000
         0.2  > [ect0] . 1:9001(9x1000) ack 1
         0.2  > [ect0] P. 9001:10001(1000) ack 1
         0.3  < E. 1:1(0) ack 2001 win 100
         0.3  cwnd 4000
         0.31 < E. 1:1(0) ack 2001 win 100 <sack 3001:6001>
         0.31 > . 2001:3001(1000) ack 1 {fast}
         0.31 cwnd 4000
         0.31 ssthresh 4000",
    );
    assert_eq!(congestions(&b), 1);
}

/// 6.1.2: nor one for echoes during fast recovery; 6.1.2 also: CWR tells of a cut for any reason.
#[test]
fn fast_recovery_is_told_by_cwr_and_not_cut_by_echoes() {
    let mut b = Bench::open_client(ecn());
    b.play(
        "0.2  write 100000
         0.2  > [ect0] . 1:10001(10x1000) ack 1
         0.3  < . 1:1(0) ack 1 win 100 <sack 1001:4001>
         0.3  > . 1:1001(1000) ack 1 {fast}        // 6.1.5: retransmissions are not ECT
         0.3  cwnd 5000
         0.31 < E. 1:1(0) ack 1 win 100 <sack 1001:6001>
         0.31 < E. 1:1(0) ack 1 win 100 <sack 1001:8001>
         0.31 > [ect0] W. 10001:11001(1000) ack 1
         0.31 > [ect0] . 11001:12001(1000) ack 1
         0.4  < E. 1:1(0) ack 10001 win 100
         0.4  > [ect0] . 12001:15001(3x1000) ack 1
         0.4  cwnd 5000",
    );
    assert_eq!(congestions(&b), 1);
}

/// 6.1.2, likewise after a timeout.
/// RFC 3168 6.1.1.
#[test]
fn a_timeout_is_told_by_cwr() {
    let mut b = Bench::open_client(ecn());
    b.play(
        "0.2 write 11000
         0.2 > [ect0] . 1:10001(10x1000) ack 1
         0.5 > . 1:1001(1000) ack 1 {timeout}
         0.6 < . 1:1(0) ack 10001 win 100
         0.6 > [ect0] PW. 10001:11001(1000) ack 1",
    );
}

/// 6.1.5, 6.1.4: neither retransmissions nor FINs nor pure acknowledgements are ECT.
/// RFC 3168 5.2.
#[test]
fn only_new_data_are_ect() {
    let mut b = Bench::open_client(ecn());
    b.play(
        "0.2 write-shutdown 1000
         0.2 > [ect0] P. 1:1001(1000) ack 1
         0.2 > F. 1001:1001(0) ack 1
         0.5 > P. 1:1001(1000) ack 1 {timeout}
         0.6 < P. 1:101(100) ack 1002 win 4
         0.6 > . 1002:1002(0) ack 101",
    );
}

/// 6.1.2: an echo is about a window of data: with nothing outstanding there is none to cut.
#[test]
fn an_echo_with_nothing_outstanding_does_not_cut() {
    let mut b = Bench::open_client(ecn());
    b.play(
        "0.2 < E. 1:101(100) ack 1 win 4
         0.2 > . 1:1(0) ack 101
         0.2 cwnd 10000
         0.2 ssthresh inf",
    );
}

/// ECE on the SYN/ACK is the answer to the offer, no echo.
#[test]
fn the_flag_of_the_syn_ack_is_no_echo() {
    let b = Bench::open_client(ecn());
    assert_eq!(congestions(&b), 0);
}

/// 6.1.2: a cut never enlarges the window: here it is one segment after a lost SYN.
#[test]
fn an_echo_does_not_enlarge_a_small_window() {
    let mut b = Bench::client(ecn());
    b.play(
        "0   > SEW 0:0(0) <mss 1040,sackOK,wscale 14>
         1   > SEW 0:0(0) <mss 1040,sackOK,wscale 14>
         1.1 < SE. 0:0(0) ack 1 win 65535 <mss 1040>
         1.1 > . 1:1(0) ack 1
         1.1 cwnd 1000
         1.2 write 1000
         1.2 > [ect0] P. 1:1001(1000) ack 1
         1.25 < E. 1:1(0) ack 1 win 65535
         1.25 cwnd 1000",
    );
}

/// 6.1.5: a mark on a segment that lies outside of the window, which anybody may have sent, is not echoed.
#[test]
fn a_mark_outside_of_the_window_is_ignored() {
    let mut b = Bench::open_client(ecn());
    b.play(
        "0.2 < [ect0] . 1:1001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 1001
         0.3 < [ce] . 1:1001(1000) ack 1 win 4
         0.3 > . 1:1(0) ack 1001 <sack 1:1001>",
    );
}

/// 6.1.6: a mark on a probe of a closed window is echoed, though the octet is refused.
#[test]
fn a_marked_probe_is_echoed() {
    let mut b = Bench::open_client(ecn().receive_buffer(Some(2000)));
    b.play(
        "0.2 < [ect0] . 1:1001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 1001
         0.2 < [ect0] . 1001:2001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 2001 win 0
         0.5 < [ce] . 2001:2002(1) ack 1 win 4
         0.5 > E. 1:1(0) ack 2001 win 0",
    );
}
