//! RFC 1122 4.2.3.2: the delayed acknowledgement's timer.

use anabranch_stack::Config;
use anabranch_stack::config::DelayedAck;

use crate::bench::Bench;
use crate::pair::{ms, tcp};

fn delayed(after: u64) -> Config {
    Config { delayed_ack: DelayedAck::After(ms(after)), ..tcp() }
}

/// A single segment waits for the delay, exactly.
/// RFC 5681 4.2, RFC 9293 3.8.6.3.
#[test]
fn a_single_segment_is_acknowledged_after_the_delay() {
    let mut b = Bench::open_client(delayed(40));
    b.play(
        "0.2  < . 1:1001(1000) ack 1 win 4
         0.2  timer 0.24
         0.24 > . 1:1(0) ack 1001
         0.24 timer none",
    );
}

/// The delay is configurable up to half a second.
/// RFC 5681 4.2.
#[test]
fn the_delay_may_be_half_a_second() {
    let mut b = Bench::open_client(delayed(500));
    b.play(
        "0.2 < . 1:1001(1000) ack 1 win 4
         0.7 > . 1:1(0) ack 1001",
    );
}

/// Data that leave meanwhile carry the acknowledgement, and the timer is off.
#[test]
fn data_carry_a_delayed_acknowledgement() {
    let mut b = Bench::open_client(delayed(40));
    b.play(
        "0.2  < . 1:1001(1000) ack 1 win 4
         0.22 write 500
         0.22 > P. 1:501(500) ack 1001
         0.22 timer 0.52
         0.3  < . 1001:2001(1000) ack 501 win 4   // the count starts anew
         0.34 > . 501:501(0) ack 2001",
    );
}

/// The delay counts from the first segment that waits; small segments do not put it off.
/// RFC 5681 4.2.
#[test]
fn the_delay_counts_from_the_first_segment() {
    let mut b = Bench::open_client(delayed(40));
    b.play(
        "0.2  < . 1:1001(1000) ack 1 win 4
         0.2  < . 1001:2001(1000) ack 1 win 4
         0.2  > . 1:1(0) ack 2001
         0.3  < P. 2001:2101(100) ack 1 win 4
         0.32 < P. 2101:2201(100) ack 1 win 4
         0.34 > . 1:1(0) ack 2201",
    );
}

/// A FIN is acknowledged at once, with what waits.
#[test]
fn a_fin_is_acknowledged_at_once() {
    let mut b = Bench::open_client(delayed(40));
    b.play(
        "0.2  < . 1:1001(1000) ack 1 win 4
         0.21 < F. 1001:1001(0) ack 1 win 4
         0.21 > . 1:1(0) ack 1002
         0.21 timer none",
    );
}

/// A FIN of our own carries what waits.
#[test]
fn our_fin_carries_a_delayed_acknowledgement() {
    let mut b = Bench::open_client(delayed(40));
    b.play(
        "0.2  < . 1:1001(1000) ack 1 win 4
         0.21 shutdown
         0.21 > F. 1:1(0) ack 1001
         0.21 timer 0.51",
    );
}
