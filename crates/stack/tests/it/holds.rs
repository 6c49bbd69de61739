//! What keeps a subflow from sending (`Connection::hold`), one cause after the other.

use anabranch_stack::event::SendBlock;
use anabranch_stack::segment::{Mptcp, Segment};
use anabranch_stack::{Config, Duration};

use crate::mptcp_bench::{PEER_KEY, Script, mptcp};

fn written(config: Config, octets: u64) -> Script {
    let mut s = Script::client(config);
    s.c.write(octets);
    s.poll();
    s
}

fn hold(s: &Script) -> SendBlock {
    s.c.outbound().send_block(0, s.now)
}

/// Ten segments of 1000 octets are the congestion window, 65,535 octets the peer's window.
#[test]
fn a_full_window_holds() {
    assert_eq!(hold(&written(mptcp(), 20_000)), SendBlock::Cwnd);
    // Less than a segment of room is none.
    assert_eq!(hold(&written(mptcp().nagle(false), 9_500)), SendBlock::Cwnd);
    assert_eq!(hold(&written(mptcp(), 9_000)), SendBlock::Application);
}

#[test]
fn a_subflow_that_is_not_established_is_not_up() {
    let mut s = Script::client(mptcp());
    let (flow, _) = s.open();
    assert_eq!(s.c.outbound().send_block(flow, s.now), SendBlock::NotUp);
}

/// The peer's window takes 5000 of 8000 octets.
#[test]
fn the_peers_window_holds_what_is_beyond_it() {
    let of = |octets: u64, ends: bool| {
        let mut s = Script::opening(mptcp().nagle(false));
        let mut syn_ack = s.syn_ack(Mptcp::CapableSynAck { no_join: false, checksum: false, key: PEER_KEY });
        syn_ack.window = 5000;
        s.give(0, syn_ack);
        s.give(0, Segment { window: 5000, ..s.dss(0, 1, 1, Some(0), None) });
        s.c.write(octets);
        if ends {
            s.c.shutdown_write();
        }
        s.poll();
        hold(&s)
    };
    assert_eq!(of(8_000, false), SendBlock::ReceiveWindow);
    assert_eq!(of(8_000, true), SendBlock::ReceiveWindow);
    // All has left, and there is room for half a segment: the application has no more.
    assert_eq!(of(4_500, false), SendBlock::Application);
    assert_eq!(of(4_500, true), SendBlock::Application);
}

/// A send buffer of 3000 octets is full of what is in flight.
#[test]
fn a_full_send_buffer_holds_the_application() {
    let config = || mptcp().send_buffer(Some(3000)).nagle(false);
    assert_eq!(hold(&written(config(), 10_000)), SendBlock::SendBuffer);
    assert_eq!(hold(&written(config(), 2_000)), SendBlock::Application);
    // There is nothing to wait for once the last octet is written.
    let mut s = written(config(), 3_000);
    s.c.shutdown_write();
    s.poll();
    assert_eq!(hold(&s), SendBlock::Application);
}

/// A timeout is a repair, a second one in a row a failure.
#[test]
fn timeouts_hold() {
    let mut s = written(mptcp(), 5_000);
    let mut seen = vec![hold(&s)];
    for _ in 0..400 {
        s.wait(Duration::from_millis(10));
        if seen.last() != Some(&hold(&s)) {
            seen.push(hold(&s));
        }
    }
    assert_eq!(seen, [SendBlock::Application, SendBlock::Recovery, SendBlock::Failed]);
}

/// The regular subflow has no room, the backup has, and the scheduler does not use it.
#[test]
fn the_scheduler_holds_a_backup() {
    let mut s = Script::client(mptcp());
    let second = s.open_fully();
    s.c.set_backup(second, true);
    s.c.write(50_000);
    s.poll();
    assert_eq!(
        (s.c.outbound().send_block(0, s.now), s.c.outbound().send_block(second, s.now)),
        (SendBlock::Cwnd, SendBlock::Scheduler)
    );
}

/// All of 15,000 octets are assigned, and what waits is one segment or five: the window limits, not the application.
#[test]
fn the_window_limits_what_is_assigned() {
    let config = || mptcp().scheduler("otias".parse().unwrap());
    for octets in [11_000, 15_000] {
        let s = written(config(), octets);
        assert_eq!((s.c.outbound().unsent(), s.c.outbound().limit()), (octets - 10_000, SendBlock::Cwnd));
    }
    assert_eq!(written(config(), 10_000).c.outbound().limit(), SendBlock::Application);
}
