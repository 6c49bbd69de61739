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

    /// Segment `n` of subflow 0, which carried all data so far, is sent again.
    fn send_again(&mut self, at: u64, n: u64) {
        let (seq, mss) = (Seq(1000 + MSS * n), MSS as u32);
        let segment =
            Segment { seq, len: mss, data: MSS * n, overhead: 60, mss, probe: false, push: false, stamp: None };
        self.add(at, 0, What::Sent(segment));
    }

    /// `n` segments are acknowledged, and their data.
    fn acknowledge_data(&mut self, at: u64, n: u64) {
        let (ack, sack, edge) = (Seq(1000 + MSS * n), SackBlocks::default(), self.edge);
        self.add(at, 0, What::Ack { ack, sack, echo: None, pure: true, congestion: false, data_ack: MSS * n, edge });
    }

    /// `n` segments are acknowledged, and a block of those from `from` to `to`.
    fn acknowledge_with_block(&mut self, at: u64, n: u64, (from, to): (u64, u64)) {
        let mut sack = SackBlocks::default();
        sack.push((1000 + MSS * from) as u32, (1000 + MSS * to) as u32);
        let (ack, edge) = (Seq(1000 + MSS * n), self.edge);
        self.add(at, 0, What::Ack { ack, sack, echo: None, pure: true, congestion: false, data_ack: MSS * n, edge });
    }

    /// What was seen so far is accounted for, though packets of other places might still come
    /// between.
    fn settled(&mut self) -> &Waiting {
        while let Some(event) = self.waiting.timeline.pop(u64::MAX) {
            self.waiting.work_off(&event);
        }
        &self.waiting
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

/// RFC 5681 4.2: the acknowledgement of a segment behind a hole is not delayed. Its SACK block
/// gives a round-trip time, and the third longest of these counts as the longest.
#[test]
fn segments_behind_a_hole_give_round_trip_times() {
    let mut s = Seen::new(false, true);
    (0..5).for_each(|_| s.send(100 * MS, 0));
    s.acknowledge(120 * MS, 0);
    (3..=5).for_each(|n| s.acknowledge_with_block((150 + n) * MS, 1, (2, n)));
    s.waiting.finish();
    assert_eq!(s.waiting.flows[0].queue.rtt, Some([RTT, 53 * MS]));
}

/// The first segment has data offset 0. Before any acknowledgement the window's edge is unknown, so
/// the segment is no probe of a closed window: it is new data.
#[test]
fn the_first_segment_is_no_window_probe() {
    let mut s = Seen::new(false, true);
    s.send(100 * MS, 0);
    assert_eq!((s.settled().edge, s.settled().nxt), (0, MSS));
}

/// An acknowledgement whose window is unknown (edge 0) does not move the edge. One whose window
/// ends at its own number closes it.
#[test]
fn an_unknown_window_is_no_closed_one() {
    let mut s = Seen::new(false, true);
    (0..5).for_each(|_| s.send(100 * MS, 0));
    let edges = [9 * MSS, 0, 2 * MSS].map(|edge| {
        s.edge = edge;
        s.acked[0] += 1;
        let (ack, data_ack) = (Seq(1000 + MSS * s.acked[0]), 2 * MSS);
        let sack = SackBlocks::default();
        s.add(120 * MS, 0, What::Ack { ack, sack, echo: None, pure: true, congestion: false, data_ack, edge });
        s.settled().edge
    });
    assert_eq!(edges, [9 * MSS, 9 * MSS, 2 * MSS]);
}

/// The most in flight may grow by a segment and is the same ceiling still; by two, it is another
/// one.
#[test]
fn a_ceiling_is_exceeded_by_more_than_a_segment() {
    for (segments, known) in [(4, 4 * MSS), (5, 4 * MSS), (6, 6 * MSS)] {
        let mut s = Seen::new(false, true);
        (0..segments).for_each(|_| s.send(100 * MS, 0));
        let ceiling = s.settled().ceiling;
        assert_eq!((ceiling.0, ceiling.2), (segments * MSS, known));
    }
}

/// What an acknowledgement frees is refilled if the flight comes within a segment of its ceiling,
/// here of 20 segments.
#[test]
fn room_is_refilled_only_close_to_the_ceiling() {
    for (acked, refilled) in [(1, 1), (2, 1), (3, 0), (15, 0)] {
        let mut s = Seen::new(false, true);
        (0..20).for_each(|_| s.send(100 * MS, 0));
        s.acknowledge_data(120 * MS, acked);
        s.send(120 * MS, 0);
        assert_eq!(s.settled().refilled[0], refilled, "{acked}");
    }
}

/// Room that was freed and not filled until the next acknowledgement is a miss, unless more than
/// three fifths of the ceiling are in flight: Linux then lets the writer wait.
#[test]
fn room_that_is_not_refilled_is_missed() {
    for (acked, missed) in [(1, 0), (12, 2)] {
        let mut s = Seen::new(false, true);
        (0..20).for_each(|_| s.send(100 * MS, 0));
        (0..3).for_each(|n| s.acknowledge_data((120 + 3 * n) * MS, acked + n));
        assert_eq!(s.settled().refilled[1], missed, "{acked}");
    }
}

/// A retransmission begins a loss episode, and each further one is another loss. The episode ends
/// with the acknowledgement of all that was in flight.
#[test]
fn retransmissions_are_losses_of_one_episode() {
    let mut s = Seen::new(false, true);
    (0..8).for_each(|_| s.send(100 * MS, 0));
    (2..=8).for_each(|n| s.acknowledge_with_block(120 * MS, 0, (2, n)));
    assert!(!s.settled().flows[0].is_repairing());
    s.send_again(121 * MS, 0);
    s.send_again(121 * MS, 1);
    assert_eq!((s.settled().flows[0].is_repairing(), s.settled().flows[0].queue.lost), (true, [0, 2]));
    s.acknowledge_with_block(141 * MS, 1, (2, 8));
    assert!(s.settled().flows[0].is_repairing());
    s.acknowledge_data(142 * MS, 8);
    assert!(!s.settled().flows[0].is_repairing());
}

/// Data alone, without any acknowledgement for long, are those of one direction.
#[test]
fn a_direction_without_acknowledgements_is_one_way_after_a_while() {
    use super::super::sender::Sender;
    let mut sender = Sender::default();
    sender.begin(Seq(1000));
    let mut before = 0;
    while !sender.is_one_way() {
        sender.on_data(before * MS, Seq(1000 + 1000 * before), 1000, 1000 * before, None, false);
        before += 1;
    }
    assert!(before > 1000, "{before}");
    sender.on_ack(before * MS, Seq(2000), &SackBlocks::default(), None, true, &mut Vec::new());
    assert!(!sender.is_one_way());
}

/// RFC 2018 3: a block reports octets that arrived, so octets that were never sent, or lie below
/// the acknowledgement, are none.
#[test]
fn blocks_of_octets_that_were_not_sent_are_ignored() {
    use super::super::sender::Sender;
    for ((from, to), reported) in [((3000, 4000), 1), ((3000, 5000), 0), ((9000, 9500), 0), ((4000, 3000), 0)] {
        let mut sender = Sender::default();
        sender.begin(Seq(1000));
        (0..3).for_each(|n| _ = sender.on_data(n * MS, Seq(1000 + 1000 * n), 1000, 1000 * n, None, false));
        let (mut sack, mut arrived) = (SackBlocks::default(), Vec::new());
        sack.push(from, to);
        sender.on_ack(20 * MS, Seq(2000), &sack, None, true, &mut arrived);
        assert_eq!((arrived.len(), sender.has_sacked()), (1 + reported, reported == 1), "{from} {to}");
    }
}

/// RFC 6298 5.4: after a timeout all that was in flight is sent again, one acknowledgement after
/// the other. These retransmissions belong to the timeout, though SACK blocks would begin fast
/// recovery.
#[test]
fn what_is_sent_again_after_a_timeout_belongs_to_it() {
    use super::super::sender::Sender;
    let mut sender = Sender::default();
    sender.begin(Seq(1000));
    let send = |s: &mut Sender, at: u64, n: u64| s.on_data(at * MS, Seq(1000 + 1000 * n), 1000, 1000 * n, None, false);
    (0..6).for_each(|n| _ = send(&mut sender, 0, n));
    send(&mut sender, 1_100, 0);
    assert_eq!((sender.timeout, sender.fast, sender.expired), (1, 0, 1));
    let mut sack = SackBlocks::default();
    sack.push(3000, 6000);
    sender.on_ack(1_120 * MS, Seq(2000), &sack, None, true, &mut Vec::new());
    send(&mut sender, 1_121, 1);
    assert_eq!((sender.timeout, sender.fast, sender.expired), (2, 0, 1));
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

/// An acknowledgement with data that covers three segments, before any without data was seen, shows
/// that the capture lacks those without data.
#[test]
fn an_acknowledgement_with_data_of_three_segments_is_stretched() {
    use super::super::sender::Sender;
    for (pure, segments, stretched) in [(false, 2, false), (false, 3, true), (false, 5, true), (true, 5, false)] {
        let mut sender = Sender::default();
        sender.begin(Seq(1000));
        (0..6).for_each(|n| _ = sender.on_data(n * MS, Seq(1000 + 1000 * n), 1000, 1000 * n, None, false));
        sender.on_ack(20 * MS, Seq(1000 + 1000 * segments), &SackBlocks::default(), None, pure, &mut Vec::new());
        assert_eq!(sender.stretched, stretched, "{pure} {segments}");
    }
}
