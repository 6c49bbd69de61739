//! Sequence numbers wrap (RFC 9293 3.4): initial ones near 2^32, transfers beyond 2^32 octets, either side.

use std::cell::Cell;
use std::rc::Rc;

use anabranch_stack::mptcp::keys::Entropy;
use anabranch_stack::segment::Flags;

use crate::bench::Bench;
use crate::pair::{Fate, Pair, Side, entropy, ms, tcp};

/// A secret whose first sequence number is `wanted`.
fn starting(wanted: impl Fn(u32) -> bool) -> Entropy {
    let first = |n: u64| {
        let mut e = entropy(n);
        e.next_u64();
        e.next_u32()
    };
    let n = (0..1 << 22).find(|&n| wanted(first(n))).expect("one of four million");
    entropy(n)
}

/// Our first data cross 2^32: SYN, 20 segments, losses, FIN.
#[test]
fn a_sender_crosses_the_end_of_the_number_space() {
    let mut b = Bench::client_with(tcp(), starting(|iss| iss > u32::MAX - 10_000));
    b.play("0 > S 0:0(0) <mss 1040,sackOK,wscale 14>");
    assert!(b.own_iss() > u32::MAX - 10_000);
    b.play(
        "0.1 < S. 0:0(0) ack 1 win 65535 <mss 1040,sackOK,wscale 14>
         0.1 > . 1:1(0) ack 1
         0.2 write-shutdown 20000
         0.2 > . 1:10001(10x1000) ack 1
         0.3 < . 1:1(0) ack 1 win 100 <sack 1001:10001>
         0.3 > . 1:1001(1000) ack 1 {fast}
         0.3 > . 10001:14001(4x1000) ack 1
         0.4 < . 1:1(0) ack 14001 win 100
         0.4 > . 14001:19001(5x1000) ack 1
         0.5 < . 1:1(0) ack 19001 win 100
         0.5 > P. 19001:20001(1000) ack 1
         0.5 > F. 20001:20001(0) ack 1
         0.6 < F. 1:1(0) ack 20002 win 100
         0.6 > . 20002:20002(0) ack 2
         0.6 state TIME-WAIT",
    );
}

/// The peer's first data cross 2^32, out of order.
#[test]
fn a_receiver_crosses_the_end_of_the_number_space() {
    let mut b = Bench::client(tcp());
    b.peer_iss = u32::MAX - 2500;
    b.play(
        "0   > S 0:0(0) <mss 1040,sackOK,wscale 14>
         0.1 < S. 0:0(0) ack 1 win 65535 <mss 1040,sackOK,wscale 14>
         0.1 > . 1:1(0) ack 1
         0.2 < . 1:1001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 1001
         0.3 < . 2001:3001(1000) ack 1 win 4
         0.3 > . 1:1(0) ack 1001 <sack 2001:3001>
         0.3 < . 4001:5001(1000) ack 1 win 4
         0.3 > . 1:1(0) ack 1001 <sack 4001:5001 2001:3001>
         0.4 < . 1001:2001(1000) ack 1 win 4
         0.4 > . 1:1(0) ack 3001 <sack 4001:5001>
         0.4 < . 1:1001(1000) ack 1 win 4
         0.4 > . 1:1(0) ack 3001 <sack 1:1001 4001:5001>
         0.4 < . 3001:4001(1000) ack 1 win 4
         0.4 > . 1:1(0) ack 5001
         0.5 < R 5001:5001(0)
         0.5 event Aborted(Reset)",
    );
}

/// Numbers just before initial ones near zero are old ones, not ones far ahead: 4,294,967,196 is -100.
#[test]
fn numbers_before_the_initial_ones_are_old() {
    let config = tcp().sack(false);
    let mut b = Bench::client_with(config, starting(|iss| iss < 5000));
    b.play(
        "0   > S 0:0(0) <mss 1040,wscale 14>
         0.1 < S. 0:0(0) ack 1 win 65535 <mss 1040>
         0.1 > . 1:1(0) ack 1
         0.2 write 1000
         0.2 > P. 1:1001(1000) ack 1
         0.3 < . 4294967196:4294967296(100) ack 1001 win 65535
         0.3 > . 1001:1001(0) ack 1
         0.3 flight 1000
         0.4 < . 1:101(100) ack 4294962296 win 65535
         0.4 > . 1001:1001(0) ack 101
         0.4 flight 1000
         0.4 < R 4294967196:4294967196(0)
         0.4 state ESTABLISHED",
    );
}

/// The FIN itself may take the last number, the SYN too.
#[test]
fn syn_and_fin_may_take_the_last_number() {
    for peer_iss in [u32::MAX, u32::MAX - 1, 0] {
        let mut b = Bench::client(tcp());
        b.peer_iss = peer_iss;
        b.play(
            "0   > S 0:0(0) <mss 1040,sackOK,wscale 14>
             0.1 < S. 0:0(0) ack 1 win 65535 <mss 1040>
             0.1 > . 1:1(0) ack 1
             0.2 < F. 1:1(0) ack 1 win 65535
             0.2 > . 1:1(0) ack 2
             0.3 shutdown
             0.3 > F. 1:1(0) ack 2
             0.4 < . 2:2(0) ack 2 win 65535
             0.4 state CLOSED",
        );
    }
}

/// Segments as large as IPv4 lets them be carry 10 GB: the number space twice and a bit. One segment in 500 is lost, in
/// either direction, one in 300 is late; with and without SACK and timestamps.
#[test]
fn ten_gigabytes_wrap_twice() {
    for (sack, timestamps) in [(true, true), (true, false), (false, false)] {
        let config = tcp().mss(65_000).sack(sack).timestamps(timestamps);
        let mut pair = Pair::new(config.clone(), config, ms(5));
        pair.keep_log = false;
        let wraps = Rc::new(Cell::new(0));
        let seen = wraps.clone();
        let mut last = 0_u32;
        pair.filter(move |p| {
            let s = p.segment();
            if p.from == Side::A && p.data_n.is_some() {
                seen.set(seen.get() + u32::from(s.seq < 1 << 30 && last > 3 << 30));
                last = s.seq;
            }
            match p.n {
                n if n % 500 == 499 && !s.flags.has(Flags::SYN) => Fate::Drop,
                n if n % 300 == 299 => Fate::Late(ms(3)),
                _ => Fate::Pass,
            }
        });
        let octets = 10_000_000_000;
        pair.write(Side::A, octets);
        pair.close(Side::A);
        pair.close(Side::B);
        pair.run();
        assert_eq!(pair[Side::B].read, octets, "sack {sack}, timestamps {timestamps}");
        assert!(pair.is_closed());
        assert!(wraps.get() >= 2, "{} wraps", wraps.get());
    }
}
