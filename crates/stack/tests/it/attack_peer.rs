//! A peer that lies about what it has (Savage et al., "TCP Congestion Control with a Misbehaving Receiver", 1999; RFC 3465; RFC 5681 7), and one
//! that makes work: 100,000 holes, windows of one octet. What is counted: growth of windows, segments sent for segments received.
//! Times are virtual; the one bound on the clock of the machine is what a hundred times the work it takes could not keep.

use anabranch_stack::config::DelayedAck;
use anabranch_stack::controller::Controller;
use anabranch_stack::mptcp::keys::Entropy;
use anabranch_stack::registry::Choice;
use anabranch_stack::segment::{DataAck, Dss, Flags, Mptcp, Options, Payload, SackBlocks, Segment};
use anabranch_stack::time::{Duration, Instant};
use anabranch_stack::{Config, Connection};

use crate::attack::{Victim, config};
use crate::mptcp_bench::{Script, mptcp};
use crate::pair::{ms, tcp};

/// A sender of plain TCP, and the peer's side of it by hand.
struct Sender {
    c: Connection,
    now: Instant,
    iss: u32,
    /// Segments and octets sent so far, and the foremost octet.
    sent: (u64, u64),
    foremost: u32,
}

impl Sender {
    fn new(config: &Config, window: u16) -> Self {
        let c = Connection::connect(config.clone(), Entropy::new([3; 32]));
        let mut s = Self { c, now: Instant::ZERO, iss: 0, sent: (0, 0), foremost: 0 };
        s.iss = s.c.poll_transmit(s.now).expect("a SYN").segment.seq;
        let options = Options { mss: Some(1000), sack_permitted: true, window_scale: Some(0), ..Options::default() };
        s.now += ms(100);
        s.give(Segment { options, flags: Flags::SYN.with(Flags::ACK), window, ..s.ack(0) });
        s
    }

    /// An acknowledgement of that many octets.
    fn ack(&self, octets: u32) -> Segment {
        let ack = self.iss.wrapping_add(1 + octets);
        Segment { seq: 1, ack, window: 65_535, flags: Flags::ACK, ..Segment::default() }
    }

    fn give(&mut self, segment: Segment) {
        let segment = if segment.flags.has(Flags::SYN) { Segment { seq: 0, ..segment } } else { segment };
        self.c.handle_segment(self.now, 0, &segment);
        self.poll();
    }

    fn poll(&mut self) {
        while let Some(t) = self.c.poll_transmit(self.now) {
            self.sent = (self.sent.0 + 1, self.sent.1 + u64::from(t.segment.payload.len));
            let end = t.segment.seq.wrapping_sub(self.iss + 1).wrapping_add(t.segment.payload.len);
            self.foremost = self.foremost.max(end);
        }
        while self.c.poll_event().is_some() {}
    }

    fn wait(&mut self, duration: Duration) {
        let until = self.now + duration;
        while let Some(at) = self.c.poll_timeout().filter(|&at| at <= until) {
            self.now = at.max(self.now);
            self.c.handle_timeout(self.now);
            self.poll();
        }
        self.now = until;
    }

    fn cwnd(&self) -> f64 {
        self.c.subflows()[0].cwnd()
    }
}

// ---- acknowledgements ---------------------------------------------------------------------------

/// Ten segments acknowledged by ten acknowledgements, or by 10,000 of one octet each: no controller's window is larger for it (RFC 3465; RFC
/// 5681 3.1). First in slow start, then in congestion avoidance after a timeout.
#[test]
fn split_acknowledgements_open_no_window() {
    for controller in Choice::<dyn Controller>::all() {
        let name = controller.name();
        let windows = [1000, 1].map(|each| {
            let mut s = Sender::new(&tcp().controller(controller.clone()).byte_counting(true), 65_535);
            s.c.write(1_000_000);
            s.poll();
            let mut at = 0;
            let mut acknowledge = |s: &mut Sender, octets: u32| {
                s.wait(ms(100));
                for _ in 0..octets / each {
                    at += each;
                    s.give(s.ack(at));
                }
                s.cwnd()
            };
            let slow = acknowledge(&mut s, 10_000);
            s.wait(ms(2000));
            acknowledge(&mut s, 3000);
            (slow, acknowledge(&mut s, 3000))
        });
        let [whole, split] = windows;
        assert!(split.0 <= whole.0 + 0.001 && split.1 <= whole.1 + 0.001, "{name}: {split:?}, not split {whole:?}");
    }
}

/// What was not sent cannot be acknowledged (RFC 9293 3.10.7.4): 100,000 acknowledgements ahead of what is in flight move nothing and draw two
/// answers a second. Who acknowledges what is in flight, before he has it, makes the sender as fast as an honest receiver with a shorter
/// round-trip time does, and never faster than his window: here 65,535 octets.
#[test]
fn optimistic_acknowledgements_count_only_for_what_was_sent() {
    let mut s = Sender::new(&tcp(), 65_535);
    s.c.write(10_000_000);
    s.poll();
    let before = (s.cwnd(), s.sent);
    for ahead in 1..=100_000 {
        s.give(s.ack(10_000 + ahead));
    }
    assert_eq!(s.cwnd(), before.0);
    assert!(s.sent.0 <= before.1.0 + 11 && s.sent.1 == before.1.1, "{:?}", s.sent);
    let mut acked = 0;
    for _ in 0..100 {
        acked = s.foremost;
        s.give(s.ack(acked));
        assert!(s.foremost <= acked + 65_535);
    }
    assert_eq!((s.foremost - acked, s.c.outbound().unacknowledged()), (65_000, 10_000_000 - u64::from(acked)));
}

/// Savage et al. 3.2, RFC 5681 3.2 and 7: each duplicate acknowledgement says that a segment has left the network; 100,000 for ten segments in
/// flight are lies. Without SACK the window is inflated by no more than was in flight, with SACK (RFC 6675 2: a duplicate has a new block) and
/// without blocks not at all.
#[test]
fn duplicate_acknowledgements_without_end_send_no_more_than_was_in_flight() {
    for sack in [false, true] {
        let mut s = Sender::new(&tcp().sack(sack), 65_535);
        s.c.write(10_000_000);
        s.poll();
        assert_eq!(s.sent.1, 10_000);
        for _ in 0..100_000 {
            s.give(s.ack(0));
        }
        println!("sack {sack}: {:?} {}", s.sent, s.cwnd());
        assert!(s.sent.1 <= 10_000 + 11_000, "sack {sack}: {:?}", s.sent);
    }
}

/// DATA_ACK of everything sent, while the subflow acknowledges nothing: the sender's buffer is free, yet the subflow sends what is missing there
/// again, the same octets (RFC 8684 3.3.6): the peer gets what it would have got, and the sender keeps no more than is in flight.
#[test]
fn a_data_ack_of_what_is_in_flight_does_not_change_an_octet() {
    let mut v = Victim::new(&config(true));
    let text: Vec<u8> = (0..130_000_u32).map(|n| (n % 251) as u8).collect();
    let first = v.connection().subflows()[0].octets_in_flight();
    let mut written = v.ends[1].write(v.ids[1], &text).expect("it is open");
    let mut sent = v.answers();
    let key = v.ends[1].connection(v.ids[1]).and_then(Connection::token);
    assert!(first == 0 && key.is_some() && sent.len() >= 10);
    // The data sequence number of what was sent last, from the mapping in it.
    let mut lie = v.genuine(Flags::ACK);
    lie.window = 65_535;
    for _ in 0..40 {
        let Some(last) = sent.iter().rev().find_map(|t| t.segment.dss()?.mapping) else { break };
        let data_ack = Some(DataAck::Four((last.dsn as u32).wrapping_add(last.len.into())));
        lie.options.mptcp = Mptcp::Dss(Dss { data_ack, mapping: None, data_fin: false });
        sent.extend(v.forge(&lie, &[]));
        written += v.ends[1].write(v.ids[1], &text[written..]).expect("it is open");
        sent.extend(v.answers());
    }
    let original = |seq: u32| sent.iter().find(|t| t.segment.seq == seq && !t.payload.is_empty());
    let mut again = 0;
    for _ in 0..6 {
        v.now = v.ends[1].poll_timeout().expect("it is not acknowledged");
        let now = v.now;
        v.ends[1].handle_timeout(now);
        for t in v.answers().iter().filter(|t| !t.payload.is_empty()) {
            assert_eq!(original(t.segment.seq).map(|o| &o.payload), Some(&t.payload));
            again += 1;
        }
    }
    assert!(again >= 5, "{again}");
}

// ---- holes --------------------------------------------------------------------------------------

const HOLES: u32 = 100_000;

/// Orders in which a peer may make its holes.
fn orders() -> [Vec<u32>; 3] {
    let forth: Vec<u32> = (0..HOLES).collect();
    let back = forth.iter().rev().copied().collect();
    // 65,537 is prime and does not divide the number: every hole once.
    let mixed = forth.iter().map(|n| (u64::from(*n) * 65_537 % u64::from(HOLES)) as u32).collect();
    [forth, back, mixed]
}

/// Work that grows with the square of the holes would take 10^10 steps.
fn in_time<R>(work: impl FnOnce() -> R) -> R {
    let began = std::time::Instant::now();
    let result = work();
    assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
    result
}

/// Every second octet of 200,000 arrives, in three orders, then the other half: one acknowledgement for each segment, at most three SACK blocks in
/// it, and every octet is read once. On the first subflow of a connection of either kind.
#[test]
fn a_hundred_thousand_holes_in_a_subflow_cost_an_acknowledgement_each() {
    in_time(|| {
        for (order, multipath) in orders().iter().zip([false, true, true]) {
            let mut s = Script::server(mptcp().mptcp(multipath));
            let one = |s: &Script, at: u32| match multipath {
                true => s.data(0, 1 + at, at.into(), 1),
                false => s.bare(0, 1 + at, at.into(), 1),
            };
            // The SYN-ACK has shown 65,535 octets: our data show the whole window.
            s.c.write(1);
            s.poll();
            let mut answers = 0;
            for n in order {
                answers += s.give(0, one(&s, 2 * n + 1)).len();
                s.events.clear();
            }
            assert_eq!((answers as u32, s.c.subflows()[0].held()), (HOLES, (HOLES.into(), HOLES.into())));
            for n in order {
                answers += s.give(0, one(&s, 2 * n)).len();
                s.events.clear();
            }
            assert_eq!((answers as u32, s.read()), (2 * HOLES, 2 * u64::from(HOLES)));
            assert_eq!(s.c.subflows()[0].held(), (0, 0));
        }
    });
}

/// The same at data level: the segments are in order on their subflow, their data are not.
#[test]
fn a_hundred_thousand_holes_in_the_data_cost_an_acknowledgement_each() {
    in_time(|| {
        for order in orders() {
            let mut s = Script::server(mptcp());
            s.c.write(1);
            s.poll();
            let (mut answers, mut seq) = (0, 1);
            for odd in [1, 0] {
                for n in &order {
                    answers += s.give(0, s.data(0, seq, (2 * n + odd).into(), 1)).len();
                    seq += 1;
                    s.events.clear();
                }
                assert_eq!(s.c.inbound().held().1, if odd == 1 { HOLES.into() } else { 0 });
            }
            assert_eq!((answers as u32, s.read()), (2 * HOLES, 2 * u64::from(HOLES)));
        }
    });
}

/// And in what we have sent: of 200,000 segments of one octet in flight every second one is SACKed, from the front, from the back and mixed. No
/// acknowledgement makes the sender send more than it makes room for, and at the end everything is acknowledged.
#[test]
fn a_hundred_thousand_sacked_holes_are_worked_in_one_by_one() {
    in_time(|| {
        for order in orders() {
            let c = tcp().mss(1).initial_window(2 * HOLES).nagle(false);
            let mut s = Sender::new(&c, 65_535);
            // A window that large needs scaling: the SYN-ACK above had 0. So only 65,535 octets are in flight.
            s.c.write(u64::from(HOLES));
            s.poll();
            let flight = s.foremost;
            let before = s.sent.0;
            for n in order.iter().filter(|n| 2 * **n + 2 <= flight) {
                let mut sack = SackBlocks::default();
                sack.push(s.iss.wrapping_add(2 + 2 * n), s.iss.wrapping_add(3 + 2 * n));
                s.give(Segment { options: Options { sack, ..Options::default() }, ..s.ack(0) });
            }
            assert!(flight >= 65_000 && s.sent.0 <= before + 2 * u64::from(flight), "{flight} {:?}", s.sent);
            s.give(s.ack(flight));
            assert_eq!(s.c.outbound().unacknowledged(), u64::from(HOLES - flight));
        }
    });
}

/// RFC 8684 leaves a subflow without a window. A peer that sends the same few octets of data again and again on ever new numbers of its subflow, behind a
/// hole, is held to two receive buffers there: 100,000 segments of 1000 octets against a buffer of 65,535.
#[test]
fn a_subflow_holds_no_more_than_two_buffers_behind_a_hole() {
    let mut s = Script::server(mptcp().receive_buffer(Some(65_535)));
    for n in 0..HOLES {
        s.give(0, s.data(0, 2001 + n * 1000, u64::from(n % 60) * 1000 + 1000, 1000));
        s.events.clear();
        assert!(s.c.subflows()[0].held().1 <= 2 * 65_535, "{n}: {:?}", s.c.subflows()[0].held());
    }
    // The hole fills, and what was held is as good as before.
    s.give(0, s.data(0, 1, 0, 1000));
    s.give(0, s.data(0, 1001, 1000, 1000));
    assert_eq!(s.read(), 61_000);
}

// ---- windows of one octet -----------------------------------------------------------------------

/// A peer that opens its window by one octet at a time, a thousand times a second. One whose window was ever larger is not believed (RFC 9293
/// 3.8.6.2.1): an octet leaves with the override timer or as a probe, in 100 s no more than one for each timeout of 200 ms. One that never had more
/// gets an octet for each acknowledgement: that is all it can take.
#[test]
fn windows_of_one_octet_are_filled_slowly() {
    for (largest, most) in [(65_535, 500), (1, 100_000)] {
        let mut s = Sender::new(&tcp(), largest);
        s.c.write(200_000);
        s.poll();
        let before = s.sent.0;
        for _ in 0..100_000 {
            s.wait(ms(1));
            s.give(Segment { window: 1, ..s.ack(s.foremost) });
        }
        let sent = s.sent.0 - before;
        assert!((100..=most).contains(&sent), "{largest}: {sent}");
    }
}

/// A peer that sends one octet at a time and waits for no answer: with delayed acknowledgements no more than one answer for each, and one reader's buffer.
#[test]
fn segments_of_one_octet_are_answered_once_each() {
    let c = mptcp().receive_buffer(Some(65_535)).delayed_ack(DelayedAck::After(ms(40))).mptcp(false);
    let mut s = Script::server(c);
    let mut answers = 0;
    for n in 0..HOLES {
        answers += s.give(0, Segment { payload: Payload::new(n.into(), 1), ..s.bare(0, 1 + n, n.into(), 1) }).len();
        s.events.clear();
    }
    assert!(answers as u32 <= HOLES && s.c.inbound().readable() == 65_535, "{answers} {}", s.c.inbound().readable());
}
