//! What a sender waits for, in sequences of packets written by hand.

use anabranch_stack::segment::SackBlocks;
use anabranch_stack::seq::Seq;

use super::*;

const MS: u64 = 1_000_000;
/// Round trip and segments of all that follows; each subflow may have so many in flight.
const RTT: u64 = 20 * MS;
const MSS: u64 = 1000;
const WINDOW: u64 = 20;

/// A connection of two subflows, seen from one side.
struct Seen {
    waiting: Waiting,
    displaced: bool,
    /// Segments sent on each, and those acknowledged; data sent.
    sent: [u64; 2],
    acked: [u64; 2],
    data: u64,
    /// Right edge of the receiver's window.
    edge: u64,
}

impl Seen {
    fn new(displaced: bool, answered: bool) -> Self {
        let mut s =
            Self { waiting: Waiting::default(), displaced, sent: [0; 2], acked: [0; 2], data: 0, edge: 1 << 30 };
        for flow in 0..2 {
            s.add(0, flow, What::Opening);
            s.add(RTT, flow, What::Up { rtt: Some(RTT), answered });
        }
        s
    }

    fn add(&mut self, at: u64, flow: usize, what: What) {
        self.waiting.add(Event { at, seen: at, displaced: self.displaced, flow, what });
    }

    fn send(&mut self, at: u64, flow: usize) {
        let (seq, mss) = (Seq(1000 + MSS * self.sent[flow]), MSS as u32);
        let segment =
            Segment { seq, len: mss, data: self.data, overhead: 60, mss, probe: false, push: false, stamp: None };
        self.add(at, flow, What::Sent(segment));
        (self.sent[flow], self.data) = (self.sent[flow] + 1, self.data + MSS);
    }

    /// One more is acknowledged, and all data.
    fn acknowledge(&mut self, at: u64, flow: usize) {
        self.acked[flow] += 1;
        self.tell(at, flow);
    }

    fn tell(&mut self, at: u64, flow: usize) {
        let (ack, data_ack, edge) = (Seq(1000 + MSS * self.acked[flow]), self.data, self.edge);
        let sack = SackBlocks::default();
        self.add(at, flow, What::Ack { ack, sack, echo: None, pure: true, congestion: false, data_ack, edge });
    }

    /// Subflow 0 has its window full from `from` to `until`.
    fn go_on(&mut self, from: u64, until: u64) {
        while self.sent[0] - self.acked[0] < WINDOW {
            self.send(from, 0);
        }
        for at in (from / MS + 1)..until / MS {
            self.acknowledge(at * MS, 0);
            self.send(at * MS, 0);
        }
    }

    /// Subflow 1 sends a window, which is acknowledged a round trip later, and then nothing.
    fn fall_silent(&mut self) -> u64 {
        (0..WINDOW).for_each(|_| self.send(2 * RTT, 1));
        (0..WINDOW).for_each(|_| self.acknowledge(3 * RTT, 1));
        3 * RTT
    }

    fn times(mut self, flow: usize) -> (u64, impl Fn(Cause) -> u64) {
        self.waiting.finish();
        let f = &self.waiting.flows[flow];
        let (rto, times) = (f.sender.rto(), f.times);
        (rto, move |cause: Cause| times[cause as usize])
    }
}

/// The SYN left half a round trip before it arrived. Where it left, it was seen in time.
#[test]
fn a_connection_begins_when_its_syn_leaves() {
    for displaced in [false, true] {
        for (answered, not_up) in [(true, RTT + RTT / 2), (false, RTT)] {
            let mut s = Seen::new(displaced, answered);
            s.go_on(2 * RTT, 10 * RTT);
            assert_eq!(s.times(0).1(Cause::NotUp), not_up, "{displaced} {answered}");
        }
    }
}

/// RFC 6298 5.5: the timer expires one timeout after the last news, and again two timeouts later. In between the sender repairs, and
/// nothing of that arrives.
#[test]
fn a_subflow_that_falls_silent_repairs_for_two_timeouts_and_has_failed_then() {
    let mut s = Seen::new(true, false);
    let silent = s.fall_silent();
    s.go_on(3 * RTT, 20_000 * MS);
    let (rto, time) = s.times(1);
    assert_eq!(time(Cause::Recovery), 2 * rto);
    let failed = 20_000 * MS - silent - 3 * rto;
    assert!(time(Cause::Failed).abs_diff(failed) <= 3 * MS, "{} {failed}", time(Cause::Failed));
}

/// The same silence while the receiver's window is closed, in order, says nothing of the path.
#[test]
fn a_subflow_is_not_thought_to_have_failed_while_the_window_is_closed() {
    let mut s = Seen::new(true, false);
    // A window of each subflow, and a segment in each of the 39 ms until 100.
    s.edge = (2 * WINDOW + 39) * MSS;
    s.fall_silent();
    s.go_on(3 * RTT, 100 * MS);
    assert_eq!(s.data, s.edge);
    (100..20_000).step_by(50).for_each(|at| s.tell(at * MS, 0));
    s.edge = 1 << 30;
    s.go_on(20_000 * MS, 20_050 * MS);
    let (_, time) = s.times(1);
    assert_eq!((time(Cause::Failed), time(Cause::Recovery)), (0, 0));
    assert!(time(Cause::ReceiveWindow) > 19_800 * MS);
}

/// RFC 5681 4.2: the acknowledgement of a segment behind a hole is not delayed. Its SACK block gives a round-trip time, and the third
/// longest of these counts as the longest.
#[test]
fn segments_behind_a_hole_give_round_trip_times() {
    let mut s = Seen::new(false, true);
    (0..5).for_each(|_| s.send(100 * MS, 0));
    s.acknowledge(120 * MS, 0);
    for n in 3..=5 {
        let mut sack = SackBlocks::default();
        sack.push(3000, 1000 + 1000 * n);
        let (data_ack, edge) = (s.data, s.edge);
        let ack = Seq(2000);
        let what = What::Ack { ack, sack, echo: None, pure: true, congestion: false, data_ack, edge };
        s.add((150 + u64::from(n)) * MS, 0, what);
    }
    s.waiting.finish();
    assert_eq!(s.waiting.flows[0].queue.rtt, Some([RTT, 53 * MS]));
}

/// What fills a hole that was seen a round trip ago is a retransmission, though a later hole has just been seen.
#[test]
fn each_hole_has_its_own_age() {
    use super::super::sender::{Kind, Sender};
    let mut sender = Sender::default();
    sender.begin(Seq(1000));
    let mut send = |at: u64, n: u64| sender.on_data(at * MS, Seq(1000 + 1000 * n), 1000, 1000 * n, None, false);
    assert_eq!(send(0, 0), Kind::New);
    assert_eq!(send(1, 2), Kind::New);
    assert_eq!(send(100, 3), Kind::New);
    assert_eq!(send(101, 5), Kind::New);
    assert_eq!(send(102, 4), Kind::New, "one that was overtaken on the way");
    assert!(matches!(send(103, 1), Kind::Again(_)), "the hole of 1 is 102 ms old");
}
