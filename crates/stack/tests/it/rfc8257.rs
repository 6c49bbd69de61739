//! RFC 8257: the receiver of Data Center TCP, and what its sender makes of the echo.

use anabranch_stack::Config;
use anabranch_stack::config::DelayedAck;

use crate::bench::Bench;
use crate::pair::{ms, tcp};

fn ecn() -> Config {
    tcp().ecn(true).delayed_ack(DelayedAck::After(ms(40)))
}

fn dctcp() -> Config {
    ecn().controller("dctcp".parse().unwrap())
}

/// 3.2: ECE says whether the last segment was marked. A change is acknowledged at once, and if an acknowledgement is delayed, that one
/// leaves first with the old state. Without a change acknowledgements are delayed as ever, and CWR changes nothing.
#[test]
fn the_echo_is_exact() {
    let mut b = Bench::open_client(dctcp());
    b.play(
        "0.2 < [ect0] . 1:1001(1000) ack 1 win 4
         0.2 < [ect0] . 1001:2001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 2001
         0.3 < [ect0] . 2001:3001(1000) ack 1 win 4
         0.3 < [ce] . 3001:4001(1000) ack 1 win 4      // a change, and one is delayed
         0.3 > . 1:1(0) ack 3001
         0.3 > E. 1:1(0) ack 4001
         0.4 < [ce] W. 4001:5001(1000) ack 1 win 4     // no change
         0.4 < [ce] . 5001:6001(1000) ack 1 win 4
         0.4 > E. 1:1(0) ack 6001
         0.5 < [ect0] . 6001:7001(1000) ack 1 win 4    // a change, and none is delayed
         0.5 > . 1:1(0) ack 7001",
    );
}

/// 3.2: an endpoint with another controller echoes as RFC 3168 says.
#[test]
fn other_controllers_echo_until_cwr() {
    let mut b = Bench::open_client(ecn());
    b.play(
        "0.2 < [ce] . 1:1001(1000) ack 1 win 4
         0.2 > E. 1:1(0) ack 1001
         0.3 < [ect0] . 1001:2001(1000) ack 1 win 4
         0.3 < [ect0] . 2001:3001(1000) ack 1 win 4
         0.3 > E. 1:1(0) ack 3001",
    );
}

/// Without ECN there is nothing to go by.
#[test]
fn dctcp_is_refused_without_ecn() {
    let said = Config::default().controller("dctcp".parse().unwrap()).checked().unwrap_err().to_string();
    assert_eq!(said, "controller: \"dctcp\" needs ecn, which is off; switch it on, or choose another controller");
}
