//! CLOSE of an application that will not read either (RFC 9293 3.10.4, 3.6.1; RFC 1122 4.2.2.13), and the timestamp of a reset
//! (RFC 7323 3.2). `shutdown`, which ends our direction only, is in the other modules.

use anabranch_stack::config::Deviations;
use anabranch_stack::event::{EndReason, Event};
use anabranch_stack::segment::{Flags, Mptcp, ResetReason, Signal, TcpRst};
use anabranch_stack::tcp::State;
use anabranch_stack::{Config, Linger};

use crate::bench::Bench;
use crate::mptcp_bench::{Script, joined, mptcp};
use crate::pair::{Pair, Side, at, ms, tcp};

fn stamped() -> Config {
    tcp().timestamps(true)
}

/// RFC 9293 3.10.4: in SYN-SENT the connection is deleted, and nothing is said of it. A SYN/ACK that comes later finds none.
#[test]
fn a_close_before_the_answer_forgets_the_connection() {
    for verb in ["close", "close-linger-0"] {
        let mut b = Bench::client(tcp());
        b.play(&format!(
            "0   > S 0:0(0) <mss 1040,sackOK,wscale 14>
             0.1 {verb}
             0.1 state CLOSED
             0.1 timer none
             0.2 < S. 0:0(0) ack 1 win 65535 <mss 1040>
             0.2 state CLOSED"
        ));
    }
    let mut b = Bench::client(tcp());
    b.play(
        "0   > S 0:0(0) <mss 1040,sackOK,wscale 14>
         0.1 close
         0.1 event Closed",
    );
    // What is said by SHUTDOWN waits for the answer.
    let mut b = Bench::client(tcp());
    b.play(
        "0   > S 0:0(0) <mss 1040,sackOK,wscale 14>
         0.1 shutdown
         0.2 < S. 0:0(0) ack 1 win 65535 <mss 1040>
         0.2 > F. 1:1(0) ack 1",
    );
}

/// RFC 9293 3.10.4: in SYN-RECEIVED the FIN waits for ESTABLISHED.
#[test]
fn a_close_before_the_third_acknowledgement_waits_for_it() {
    let mut b = Bench::server(tcp());
    b.play(
        "0   < S 0:0(0) win 65535 <mss 1040,sackOK>
         0   > S. 0:0(0) ack 1 <mss 1040,sackOK>
         0.1 close
         0.1 state SYN-RECEIVED
         0.2 < . 1:1(0) ack 1 win 2000
         0.2 > F. 1:1(0) ack 1
         0.2 state FIN-WAIT-1",
    );
}

/// With nothing unread it ends as after a SHUTDOWN: what is written is delivered first.
#[test]
fn a_close_delivers_what_was_written() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 write 2500
         0.2 > . 1:2001(2x1000) ack 1
         0.2 close
         0.2 > P. 2001:2501(500) ack 1
         0.2 > F. 2501:2501(0) ack 1
         0.3 < . 1:1(0) ack 2502 win 4
         0.4 < F. 1:1(0) ack 2502 win 4
         0.4 > . 2502:2502(0) ack 2
         0.4 event Closed
         0.4 state TIME-WAIT",
    );
}

/// Linux, `tcp_send_fin`: what is unsent as the application closes carries the FIN on its last
/// segment. The retransmission (0.55) repeats both together.
#[test]
fn the_last_data_may_carry_the_fin() {
    let config = tcp().deviations(Deviations::NONE.and("fin_on_last_data"));
    let mut b = Bench::open_client(config.clone());
    b.play(
        "0.2 write 2500
         0.2 > . 1:2001(2x1000) ack 1
         0.2 close
         0.2 > FP. 2001:2501(500) ack 1
         0.2 state FIN-WAIT-1
         0.3 < . 1:1(0) ack 2502 win 4
         0.3 state FIN-WAIT-2",
    );
    // The last segment is lost; the timer repeats it.
    let mut b = Bench::open_client(config.clone());
    b.play(
        "0.2 write 2500
         0.2 > . 1:2001(2x1000) ack 1
         0.2 close
         0.2 > FP. 2001:2501(500) ack 1
         0.3 < . 1:1(0) ack 2001 win 4
         0.55 > FP. 2001:2501(500) ack 1
         0.65 < . 1:1(0) ack 2502 win 4
         0.65 state FIN-WAIT-2",
    );
    // Nothing unsent is left at the time of the close: the FIN has a segment of its own.
    let mut b = Bench::open_client(config);
    b.play(
        "0.2 write 1000
         0.2 > P. 1:1001(1000) ack 1
         0.2 close
         0.2 > F. 1001:1001(0) ack 1",
    );
}

/// RFC 1122 4.2.2.13: received data are pending when the application closes (0.3): a RST shows that they are lost, in place of a FIN.
#[test]
fn a_close_with_unread_data_resets() {
    let mut b = Bench::open_client(stamped());
    b.play(
        "0.2 < P. 1:101(100) ack 1 win 4 <TS val 1100 ecr 100>
         0.2 > . 1:1(0) ack 101 <TS val 200 ecr 1100>
         0.3 close
         0.3 > R. 1:1(0) ack 101 <TS val 300 ecr 1100>
         0.3 state CLOSED
         0.3 event Aborted(Unread)
         0.3 timer none",
    );
}

/// RFC 1122 4.2.2.13: data come after the CLOSE (FIN 0.2): a RST. So do data that leave a hole; a duplicate of what was read does not.
#[test]
fn data_after_a_close_draw_a_reset() {
    for (data, ecr) in [("101:201(100)", 1300), ("501:601(100)", 1200)] {
        let mut b = Bench::open_client(stamped());
        b.play(&format!(
            "0.1 < P. 1:101(100) ack 1 win 4 <TS val 1000 ecr 100>
             0.1 > . 1:1(0) ack 101 <TS val 100 ecr 1000>
             0.1 read 100
             0.2 close
             0.2 > F. 1:1(0) ack 101 <TS val 200 ecr 1000>
             0.3 < P. 1:101(100) ack 1 win 4 <TS val 1200 ecr 100>
             0.3 > . 2:2(0) ack 101 <TS val 300 ecr 1000,sack 1:101>
             0.3 < . 101:101(0) ack 2 win 4 <TS val 1200 ecr 200>
             0.3 state FIN-WAIT-2
             0.4 < P. {data} ack 2 win 4 <TS val 1300 ecr 200>
             0.4 > R. 2:2(0) ack 101 <TS val 400 ecr {ecr}>
             0.4 event Aborted(Unread)
             0.4 timer none"
        ));
    }
    // After a SHUTDOWN they are read.
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 shutdown
         0.2 > F. 1:1(0) ack 1
         0.3 < P. 1:101(100) ack 2 win 4
         0.3 > . 2:2(0) ack 101
         0.3 read 100",
    );
}

/// Data that arrive with the peer's FIN are lost all the same; a FIN alone is not.
#[test]
fn a_fin_after_a_close_is_no_data() {
    let closing = "0.2 close
                   0.2 > F. 1:1(0) ack 1
                   0.3 < . 1:1(0) ack 2 win 4\n";
    let mut b = Bench::open_client(tcp());
    b.play(&format!(
        "{closing}0.4 < F. 1:1(0) ack 2 win 4
         0.4 > . 2:2(0) ack 2
         0.4 state TIME-WAIT"
    ));
    let mut b = Bench::open_client(tcp());
    b.play(&format!(
        "{closing}0.4 < F. 1:11(10) ack 2 win 4
         0.4 > R. 2:2(0) ack 1
         0.4 state CLOSED"
    ));
}

/// A linger time of zero: the connection is aborted whatever waits (RFC 9293 3.10.5).
#[test]
fn a_close_with_a_linger_time_of_zero_aborts() {
    let mut b = Bench::open_client(stamped());
    b.play(
        "0.2 write 2500
         0.2 > . 1:2001(2x1000) ack 1 <TS val 200 ecr 1000>
         0.3 close-linger-0
         0.3 > R. 2001:2001(0) ack 1 <TS val 300 ecr 1000>
         0.3 state CLOSED
         0.3 timer none",
    );
}

/// Two paths, 500 octets from the server wait unread when the client closes (300): a RST with MP_FASTCLOSE on each subflow, as for
/// TCP (RFC 8684 3.5, option R). The server's connection ends with them.
#[test]
fn a_close_with_unread_data_ends_every_subflow() {
    let mut pair = joined(mptcp(), mptcp(), &[10, 10], 1000);
    pair.run_until(at(200));
    pair[Side::A].reads = false;
    pair.write(Side::B, 500);
    pair.run_until(at(300));
    pair.with(Side::A, |c| c.close(Linger::Deliver));
    pair.run();
    let resets: Vec<_> = pair.log.iter().filter(|p| p.at >= at(300) && p.from == Side::A).collect();
    assert_eq!(resets.iter().map(|p| (p.path, p.has(Flags::RST))).collect::<Vec<_>>(), [(0, true), (1, true)]);
    assert!(resets.iter().all(|p| matches!(p.segment().options.signal, Signal::Fastclose { .. })));
    assert_eq!(pair[Side::A].when(Event::Aborted(EndReason::Unread)), Some(at(300)));
    assert_eq!(pair[Side::B].when(Event::Aborted(EndReason::FastClosed)), Some(at(310)));
    assert_eq!(pair[Side::A].conn().poll_timeout(), None);
}

/// Data after the CLOSE on either subflow, though our DATA_FIN is acknowledged; octets that were read before and come by the other
/// subflow draw nothing.
#[test]
fn data_after_a_close_end_every_subflow() {
    let mut s = Script::server(mptcp());
    assert_eq!(s.join(), 1);
    s.give(0, s.data(0, 1, 0, 1000));
    s.read();
    s.c.close(Linger::Deliver);
    assert!(s.poll()[0].segment.dss().is_some_and(|dss| dss.data_fin));
    s.give(0, s.dss(0, 1001, 1, Some(1), None));
    let out = s.give(1, s.data(1, 1, 0, 1000));
    assert!(out.iter().all(|t| !t.segment.flags.has(Flags::RST)));
    let out = s.give(1, s.data(1, 1001, 1000, 500));
    let key = s.peer_key;
    let what: Vec<_> =
        out.iter().map(|t| (t.subflow, t.segment.flags.has(Flags::RST), t.segment.options.signal)).collect();
    assert_eq!(what, [(0, true, Signal::Fastclose { key }), (1, true, Signal::Fastclose { key })]);
    assert_eq!(s.events.last(), Some(&Event::Aborted(EndReason::Unread)));
    assert!(s.c.subflows().iter().all(|s| s.state() == State::Closed));
    assert_eq!(s.c.poll_timeout(), None);
}

/// Both applications close for good at once, with nothing unread: an orderly end.
#[test]
fn both_sides_may_close_for_good() {
    for config in [tcp(), mptcp()] {
        let mut pair = Pair::new(config.clone(), config, ms(10));
        pair.write(Side::A, 50_000);
        pair.run_until(at(1000));
        for side in [Side::A, Side::B] {
            pair.with(side, |c| c.close(Linger::Deliver));
        }
        pair.run();
        assert!(pair.is_closed());
        assert_eq!(pair[Side::B].read, 50_000);
        assert!(pair.log.iter().all(|p| !p.has(Flags::RST)));
    }
}

/// RFC 7323 3.2: once timestamps are agreed on, a RST should have one, too: here one that says why a join is refused.
/// RFC 7323 5.2.
#[test]
fn a_reset_with_a_reason_has_a_timestamp() {
    let config = mptcp().timestamps(true);
    let mut pair = joined(config.clone(), config, &[10, 10], 1000);
    // The third ACK of the join comes with a wrong HMAC.
    pair.filter(|p| {
        let mut seg = *p.segment();
        if let Mptcp::JoinAck { hmac } = &mut seg.options.mptcp {
            hmac[0] ^= 1;
        }
        crate::pair::Fate::As(seg)
    });
    pair.run_until(at(1000));
    let reset = pair.log.iter().find(|p| p.has(Flags::RST)).expect("it is refused");
    let options = reset.segment().options;
    assert_eq!(options.tcp_rst, Some(TcpRst { transient: false, reason: ResetReason::MPTCP }));
    let ts = options.timestamps.expect("agreed on");
    assert_eq!((u64::from(ts.val), reset.from), (reset.at.0 / 1_000_000, Side::B));
}
