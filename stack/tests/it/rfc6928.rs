//! RFC 6928: the initial window.

use anabranch_stack::Config;

use crate::bench::Bench;
use crate::pair::tcp;

/// 2: ten segments by default, any number if configured.
#[test]
fn the_initial_window_is_as_configured() {
    assert_eq!(Config::classic().initial_window, 10);
    for n in [1_u64, 2, 3, 10, 25] {
        let mut b = Bench::open_client(Config { initial_window: n as u32, ..tcp() });
        b.play(&format!(
            "0.2 write 50000
             0.2 > . 1:{}({n}x1000) ack 1
             0.2 cwnd {n}000",
            n * 1000 + 1
        ));
    }
}

/// The window counts segments of the size in use: the peer takes 540 octets, and there are no options (RFC 6691).
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
