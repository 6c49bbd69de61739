//! RFC 1122 4.2.3.2: the delayed acknowledgement's timer.

use anabranch_stack::Config;
use anabranch_stack::config::DelayedAck;

use crate::bench::Bench;
use crate::pair::{ms, tcp};

fn delayed(after: u64) -> Config {
    tcp().delayed_ack(DelayedAck::After(ms(after)))
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

/// The delay follows the arrivals (Linux: `tcp_event_data_recv`, `tcp_send_delayed_ack`, `tcp_delack_timer_handler`): a delay that was
/// used up doubles the next one, an interval below the delay becomes half of it; with a round-trip time of 100 ms none is longer.
#[test]
fn the_delay_may_follow_how_often_data_arrive() {
    let mut b = Bench::open_client(delayed(40).delayed_ack_adapts(true));
    b.play(
        "0.2   < P. 1:1001(1000) ack 1
         0.24  > . 1:1(0) ack 1001                 // 40 ms, used up: 80
         0.3   < P. 1001:2001(1000) ack 1
         0.38  > . 1:1(0) ack 2001                 // used up: 160
         0.43  < P. 2001:3001(1000) ack 1          // 130 ms after the last: 80 + 130 = 210, at most 100
         0.53  > . 1:1(0) ack 3001
         0.54  < P. 3001:4001(1000) ack 1
         0.62  < P. 4001:5001(1000) ack 1          // every second segment at once
         0.62  > . 1:1(0) ack 5001
         0.8   < P. 5001:5101(100) ack 1           // until 0.9
         0.88  < P. 5101:5201(100) ack 1           // that is within a quarter of 100 ms
         0.88  > . 1:1(0) ack 5201",
    );
    // Twenty milliseconds apart and less: back to the least, halving the distance each time.
    let mut b = Bench::open_client(delayed(40).delayed_ack_adapts(true));
    b.play(
        "0.2   < P. 1:1001(1000) ack 1
         0.24  > . 1:1(0) ack 1001                 // used up: 80
         0.3   < P. 1001:1101(100) ack 1
         0.32  < P. 1101:1201(100) ack 1           // 60
         0.34  < P. 1201:1301(100) ack 1           // 50, until 0.38 still
         0.38  > . 1:1(0) ack 1301                 // used up: 100
         0.39  < P. 1301:1401(100) ack 1           // 50 ms after the last: 100
         0.49  > . 1:1(0) ack 1401",
    );
}
