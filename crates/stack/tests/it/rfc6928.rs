//! RFC 6928: the initial window.

use anabranch_stack::Config;

use crate::bench::Bench;
use crate::pair::tcp;

/// 2: ten segments by default, any number if configured.
/// RFC 5681 2: what cwnd allows; 3.1: the handshake does not enlarge it.
#[test]
fn the_initial_window_is_as_configured() {
    assert_eq!(Config::classic().initial_window, 10);
    for n in [1_u64, 2, 3, 10, 25] {
        let mut b = Bench::open_client(tcp().initial_window(n as u32));
        b.play(&format!(
            "0.2 write 50000
             0.2 > . 1:{}({n}x1000) ack 1
             0.2 cwnd {n}000",
            n * 1000 + 1
        ));
    }
}

/// The window counts segments of the size in use: the peer takes 540 octets, and there are no options (RFC 6691).
/// RFC 9293 3.7.1.
#[test]
fn the_initial_window_counts_segments_of_the_peers_size() {
    let mut b = Bench::client(tcp());
    b.play(
        "0   > S 0:0(0) <mss 1040,sackOK,wscale 14>
         0.1 < S. 0:0(0) ack 1 win 65535 <mss 540>
         0.1 > . 1:1(0) ack 1
         0.1 cwnd 5400
         0.2 write 50000
         0.2 > . 1:5401(10x540) ack 1",
    );
}

/// RFC 9293 3.7.1: a peer that names no size takes 536 octets.
#[test]
fn without_the_option_the_peers_size_is_536() {
    let mut b = Bench::client(tcp());
    b.play(
        "0   > S 0:0(0) <mss 1040,sackOK,wscale 14>
         0.1 < S. 0:0(0) ack 1 win 65535
         0.1 > . 1:1(0) ack 1
         0.2 write 536
         0.2 > P. 1:537(536) ack 1
         0.3 < . 1:1(0) ack 537 win 65535
         0.3 write 1080
         0.3 > . 537:1609(2x536) ack 1",
    );
}

/// The peer's window limits it all the same.
/// RFC 5681 2.
#[test]
fn the_initial_window_does_not_exceed_the_peers_window() {
    let mut b = Bench::client(tcp());
    b.play(
        "0   > S 0:0(0) <mss 1040,sackOK,wscale 14>
         0   write 50000
         0.1 < S. 0:0(0) ack 1 win 4000 <mss 1040>
         0.1 > . 1:4001(4x1000) ack 1",
    );
}

/// The initial window paced as Linux's `fq` does (`tcp_update_pacing_rate`): ten segments of 1000 octets and a round trip of 100 ms
/// are 200 kB/s in slow start, one segment each 5 ms.
#[test]
fn an_initial_window_can_be_paced() {
    let mut b = Bench::open_client(tcp().pacing(true));
    b.play(
        "0.15  < . 1:1(0) ack 1 win 65535
         0.2   write 10000
         0.2   > . 1:1001(1000) ack 1
         0.205 > . 1001:2001(1000) ack 1
         0.21  > . 2001:3001(1000) ack 1
         0.215 > . 3001:4001(1000) ack 1
         0.22  > . 4001:5001(1000) ack 1
         0.225 > . 5001:6001(1000) ack 1
         0.23  > . 6001:7001(1000) ack 1
         0.235 > . 7001:8001(1000) ack 1
         0.24  > . 8001:9001(1000) ack 1
         0.245 > P. 9001:10001(1000) ack 1",
    );
}
