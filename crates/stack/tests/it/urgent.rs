//! Urgent data (RFC 9293 3.8.5, RFC 6093): they stand in the stream, in line, wherever the pointer points.

use anabranch_stack::segment::Flags;

use crate::bench::Bench;
use crate::mptcp_bench::{Script, mptcp};
use crate::pair::tcp;

/// RFC 6093 2.1: the urgent mechanism "does not provide [...] out-of-band data": all octets are delivered, in their order.
#[test]
fn urgent_data_are_data() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 < PU. 1:101(100) ack 1 win 4
         0.2 > . 1:1(0) ack 101
         0.2 < U. 101:102(1) ack 1 win 4          // one octet, as of MSG_OOB
         0.2 > . 1:1(0) ack 102
         0.2 read 101
         0.3 write 100
         0.3 > P. 1:101(100) ack 102
         0.4 < U. 102:102(0) ack 101 win 4        // announced, and not there yet
         0.4 flight 0",
    );
}

/// A hole before them, and one of them in it: what is SACKed and what is delivered is no other than for other data.
#[test]
fn urgent_data_are_reported_by_sack() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 < U. 1001:2001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 1 <sack 1001:2001>
         0.2 < U. 2001:2002(1) ack 1 win 4
         0.2 > . 1:1(0) ack 1 <sack 1001:2002>
         0.2 < U. 1:1001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 2002
         0.2 read 2001",
    );
}

/// RFC 8684 3.3.1: "if Urgent data is received on a subflow, it SHOULD be mapped to the data sequence space and delivered".
#[test]
fn urgent_data_of_a_subflow_are_mapped() {
    let mut s = Script::server(mptcp());
    let mut data = s.data(0, 1, 0, 500);
    data.flags = data.flags.with(Flags::URG);
    let out = s.give(0, data);
    assert_eq!(s.data_ack(&out[0]), Some(500));
    assert_eq!(s.read(), 500);
}
