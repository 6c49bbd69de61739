//! The user timeout (RFC 9293 3.10.8, RFC 5482) and keep-alives (RFC 9293 3.8.4), of a TCP and of a connection with several subflows.

use anabranch_stack::config::KeepAlive;
use anabranch_stack::event::{EndReason, Event};
use anabranch_stack::tcp::State;
use anabranch_stack::{Config, Duration};

use crate::bench::Bench;
use crate::mptcp_bench::{joined, mptcp};
use crate::pair::{Fate, Side, at, ms, tcp};

// ---- user timeout ----------------------------------------------------------------------------------------------

/// RFC 5482 1: "how long transmitted data may remain unacknowledged before a connection is forcefully closed".
#[test]
fn unacknowledged_data_end_the_connection_after_the_user_timeout() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2  user-timeout 2
         0.5  write 100
         0.5  > P. 1:101(100) ack 1
         0.8  > P. 1:101(100) ack 1 {timeout}
         1.4  > P. 1:101(100) ack 1
         2.5  event Aborted(TimedOut)
         2.5  state CLOSED
         2.5  timer none",
    );
}

/// RFC 9293 3.10.2, 3.10.8: after the user timeout and after an abort the connection takes no data
/// and sends none.
#[test]
fn an_aborted_connection_takes_and_sends_no_data() {
    let by_timeout = "0.3  user-timeout 1
         0.5  > . 1:1001(1000) ack 1 {timeout}
         1.1  > . 1:1001(1000) ack 1
         1.3  event Aborted(TimedOut)";
    let by_abort = "0.3 abort
         0.3  > R. 10001:10001(0) ack 1";
    for end in [by_timeout, by_abort] {
        let mut b = Bench::open_client(tcp());
        b.play(&format!("0.2 write 20000\n 0.2 > . 1:10001(10x1000) ack 1\n {end}"));
        b.run_to(at(2000));
        let connection = b.conn_mut();
        assert_eq!((connection.writable(), connection.write(1000)), (0, 0), "{end}");
        assert!(connection.poll_transmit(at(2000)).is_none(), "{end}");
    }
}

/// The time begins anew whenever something is acknowledged, and does not run while nothing is outstanding.
#[test]
fn progress_restarts_the_user_timeout() {
    let mut b = Bench::open_client(tcp().user_timeout(Some(ms(1000))));
    b.play(
        "0.2  timer none
         5.0  write 2000
         5.0  > . 1:1001(1000) ack 1
         5.0  > P. 1001:2001(1000) ack 1
         5.2  < . 1:1(0) ack 1001 win 4
         5.5625 > P. 1001:2001(1000) ack 1 {timeout}       // SRTT 112.5 ms + 4 x 62.5 ms
         6.2  event Aborted(TimedOut)",
    );
    let mut b = Bench::open_client(tcp().user_timeout(Some(ms(1000))));
    b.play(
        "5.0  write 1000
         5.0  > P. 1:1001(1000) ack 1
         5.1  < . 1:1(0) ack 1001 win 4
         99   state ESTABLISHED",
    );
}

/// RFC 9293 3.10.8: "For any state": the SYN, and the FIN.
#[test]
fn handshake_and_end_are_under_the_user_timeout() {
    let patience = tcp().user_timeout(Some(ms(2500)));
    let mut b = Bench::client(patience.clone());
    b.play(
        "0   > S 0:0(0) <mss 1040,sackOK,wscale 14>
         1   > S 0:0(0) <mss 1040,sackOK,wscale 14>
         2.5 event Aborted(TimedOut)",
    );
    let mut b = Bench::open_client(patience);
    b.play(
        "0.2 shutdown
         0.2 > F. 1:1(0) ack 1
         0.5 > F. 1:1(0) ack 1
         1.1 > F. 1:1(0) ack 1
         2.3 > F. 1:1(0) ack 1
         2.7 event Aborted(TimedOut)",
    );
}

/// RFC 1122 4.2.3.5: the application sets R2. A user timeout longer than the count of retransmissions holds the connection.
#[test]
fn a_long_user_timeout_outlasts_the_count_of_retransmissions() {
    let counted = tcp().max_retransmissions(1);
    let script = "0.2 write 100
         0.2 > P. 1:101(100) ack 1
         0.5 > P. 1:101(100) ack 1";
    let mut b = Bench::open_client(counted.clone());
    b.play(&format!("{script}\n1.1 event Aborted(TimedOut)"));
    let mut b = Bench::open_client(counted.user_timeout(Some(ms(5000))));
    b.play(&format!(
        "{script}
         1.1 > P. 1:101(100) ack 1
         2.3 > P. 1:101(100) ack 1
         4.7 > P. 1:101(100) ack 1
         5.2 event Aborted(TimedOut)"
    ));
}

/// A window that stays closed: RFC 9293 3.8.6.1 keeps the connection open as long as probes are answered, but an application may
/// have less patience (RFC 6429 3).
#[test]
fn a_closed_window_is_under_the_user_timeout() {
    let script = "0.2 write 1100
         0.2 > . 1:1001(1000) ack 1
         0.3 < . 1:1(0) ack 1001 win 0
         0.55 > . 1001:1002(1) ack 1 {probe}
         0.65 < . 1:1(0) ack 1001 win 0
         0.8 > . 1001:1002(1) ack 1 {probe}";
    let mut b = Bench::open_client(tcp().user_timeout(Some(ms(600))));
    b.play(script);
    b.run_to(at(1_149));
    assert_eq!(b.count(|e| matches!(e, Event::Aborted(_))), 0);
    b.run_to(at(1_150));
    assert_eq!(b.count(|e| *e == Event::Aborted(EndReason::TimedOut)), 1);
}

/// RFC 8684 3.3.6: data stuck on one subflow goes to another. The user timeout is the connection's: it does not expire while one
/// subflow delivers, and does when none does.
#[test]
fn a_connection_lives_while_one_subflow_delivers() {
    let patient = mptcp().user_timeout(Some(ms(3000))).max_retransmissions(30);
    for both in [false, true] {
        let mut pair = joined(patient.clone(), mptcp(), &[10, 10], 2_000_000);
        pair.run_until(at(100));
        let cut = pair.now;
        pair.filter(move |p| if both || p.path == 0 { Fate::Drop } else { Fate::Pass });
        pair.run_until(cut + Duration::from_secs(60));
        let aborted = pair[Side::A].when(Event::Aborted(EndReason::TimedOut));
        if both {
            let after = aborted.expect("nothing gets through").since(cut);
            assert!(after >= ms(2950) && after <= ms(3000), "{after}");
        } else {
            assert_eq!(aborted, None);
            assert_eq!(pair[Side::B].conn().inbound().received(), 2_000_000);
        }
    }
}

// ---- keep-alives -----------------------------------------------------------------------------------------------

/// 3.8.4: off by default (MUST-25), and then at an interval no less than two hours (MUST-28).
#[test]
fn no_keepalives_unless_asked_for() {
    let mut b = Bench::open_client(tcp());
    b.play("0.1 timer none\n99999 state ESTABLISHED");
    assert!(KeepAlive::default().idle >= Duration::from_secs(7200));
    let once = KeepAlive { probes: 1, ..KeepAlive::default() };
    let refused = Config::default().keepalive(Some(once)).checked().unwrap_err().to_string();
    assert!(refused == "keepalive_probes: 1 is out of range; allowed: 2 to 127", "{refused}");
}

/// An idle connection: SEG.SEQ = SND.NXT - 1, no data (SHLD-12); the answer begins the interval anew.
#[test]
fn an_idle_connection_is_probed_and_lives_on() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2  keepalive 10 1 3
         10.2 > . 0:0(0) ack 1
         10.3 < . 1:1(0) ack 1 win 4
         20.3 > . 0:0(0) ack 1
         20.4 < P. 1:101(100) ack 1 win 4       // data are a sign of life, too
         20.4 > . 1:1(0) ack 101
         30.4 > . 0:0(0) ack 101
         30.5 keepalive none
         99   state ESTABLISHED",
    );
}

/// MUST-29: one probe without an answer says nothing. The third one's interval ends it.
#[test]
fn a_peer_that_answers_no_probe_is_gone() {
    let mut b = Bench::open_client(tcp().keepalive(Some(KeepAlive { idle: ms(5000), interval: ms(1000), probes: 3 })));
    b.play(
        "5.1 > . 0:0(0) ack 1
         6.1 > . 0:0(0) ack 1
         7.1 > . 0:0(0) ack 1
         8.1 > R. 1:1(0) ack 1 win 0
         8.1 event Aborted(TimedOut)
         8.1 timer none",
    );
}

/// MUST-26: "only be sent when no sent data is outstanding": retransmissions probe better.
#[test]
fn no_keepalive_beside_data_in_flight() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 keepalive 0.5 1 3
         0.4 write 100
         0.4 > P. 1:101(100) ack 1
         0.7 > P. 1:101(100) ack 1 {timeout}
         1.3 > P. 1:101(100) ack 1
         1.4 < . 1:1(0) ack 101 win 4
         1.9 > . 100:100(0) ack 1",
    );
}

/// While a closed window is probed there are no keep-alives, not even between two probes.
#[test]
fn no_keepalive_while_a_closed_window_is_probed() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2  keepalive 0.2 1 3
         0.25 write 1100
         0.25 > . 1:1001(1000) ack 1
         0.35 < . 1:1(0) ack 1001 win 0
         0.6  > . 1001:1002(1) ack 1 {probe}
         0.7  < . 1:1(0) ack 1001 win 0
         0.85 > . 1001:1002(1) ack 1 {probe}
         0.95 < . 1:1(0) ack 1002 win 0        // taken, and closed: nothing is in flight, but a probe is due
         1.2  > . 1002:1003(1) ack 1 {probe}",
    );
}

/// With a user timeout the count of probes does not decide, the time since the peer was heard does.
#[test]
fn the_user_timeout_decides_on_unanswered_keepalives() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 keepalive 5 1 2
         0.2 user-timeout 9.5
         5.2 > . 0:0(0) ack 1
         6.2 > . 0:0(0) ack 1
         7.2 > . 0:0(0) ack 1
         8.2 > . 0:0(0) ack 1
         9.2 > . 0:0(0) ack 1
         10.2 > R. 1:1(0) ack 1 win 0
         10.2 event Aborted(TimedOut)",
    );
}

/// An idle connection of two subflows, one of which loses its path: its keep-alives end that one, and the connection lives on.
#[test]
fn keepalives_end_the_subflow_that_is_silent() {
    let keepalive = Some(KeepAlive { idle: ms(5000), interval: ms(1000), probes: 3 });
    let mut pair = joined(mptcp().keepalive(keepalive), mptcp(), &[10, 20], 10_000);
    pair.run_until(at(1000));
    pair.filter(|p| if p.path == 0 { Fate::Drop } else { Fate::Pass });
    pair.run_until(at(20_000));
    let a = pair[Side::A].conn();
    assert_eq!((a.subflows()[0].state(), a.subflows()[1].state()), (State::Closed, State::Established));
    assert_eq!(pair[Side::A].count(|e| matches!(e, Event::SubflowEnded(0, EndReason::TimedOut))), 1);
    assert_eq!(pair[Side::A].count(|e| matches!(e, Event::Aborted(_))), 0);
    // It still carries data, on the other subflow.
    pair.write(Side::A, 10_000);
    pair.run_until(at(21_000));
    assert_eq!(pair[Side::B].conn().inbound().received(), 20_000);
}
