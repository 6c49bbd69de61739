//! What follows from a verdict: each response with each detection, for every controller, to the octet.
//!
//! Detection and response are separate choices: whatever finds an episode spurious, `restore` brings back window and
//! threshold, `rfc4015` sets the window to what is in flight plus what was acknowledged and the threshold to what it was,
//! `slow-start-to-saved` makes the old window the threshold, `none` changes nothing. The ACK that brings the verdict does
//! not enlarge the window besides.

use std::cell::RefCell;
use std::rc::Rc;

use anabranch_stack::Config;
use anabranch_stack::controller::{Cause, Controller};
use anabranch_stack::event::{Event, SendKind};
use anabranch_stack::judge::{RESPONSES, Response};
use anabranch_stack::registry::{Choice, Setup};

use crate::bench::Bench;
use crate::judge::{config, copy, spike};
use crate::pair::{Fate, Happening, Packet, Pair, Side, at, ms, tcp};

/// The sender at one moment: octets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct State {
    cwnd: f64,
    ssthresh: f64,
    /// Oldest unacknowledged, from the start of the data.
    una: u64,
    /// Next to send.
    nxt: u64,
}

/// What surrounds the first verdict "spurious" of a transfer.
struct Verdict {
    /// Before the episode that it is about.
    whole: State,
    /// Before the ACK that brought it.
    cut: State,
    /// After that ACK.
    after: State,
    pair: Pair,
}

/// Octets sent at 1 s.
const BEFORE: u64 = 40_000;

/// Number of the segment among those sent from 2 s on.
fn number(p: &Packet) -> Option<u64> {
    crate::judge::number(p)?.checked_sub(30)
}

/// Segments of 1000 octets; a loss at 1 s makes the threshold a finite one, and from 2 s on `fate` rules.
fn begun(config: &Config, fate: fn(&Packet) -> Fate) -> Pair {
    let mut pair = Pair::new(config.clone(), config.clone(), ms(50));
    pair.run_until(at(1000));
    pair.filter(|p| if p.data_n == Some(25) { Fate::Drop } else { Fate::Pass });
    pair.write(Side::A, BEFORE);
    pair.run_until(at(2000));
    assert!(pair[Side::A].conn().subflows()[0].ssthresh().is_finite());
    pair.filter(fate);
    pair
}

fn judged(config: &Config, fate: fn(&Packet) -> Fate) -> Verdict {
    let mut pair = begun(config, fate);
    // States of the client, in order; the one before the cut; the verdict's.
    let cell = Rc::new(RefCell::new((Vec::<State>::new(), None, None)));
    let mine = cell.clone();
    let mut nxt = BEFORE;
    pair.watch(move |_, side, c, what| {
        if side == Side::B {
            return;
        }
        let (states, whole, verdict) = &mut *mine.borrow_mut();
        let before = || states[states.len() - 2];
        match what {
            Happening::Leaves(p) => nxt = nxt.max(p.segment().payload.offset + u64::from(p.segment().payload.len)),
            // Events follow what caused them, which is the last state by now.
            Happening::Event(Event::Congestion { .. }) => *whole = whole.or(Some(before())),
            Happening::Event(Event::Judged { spurious: true, .. }) if verdict.is_none() => {
                *verdict = Some((before(), states[states.len() - 1]));
            }
            _ => {}
        }
        if !matches!(what, Happening::Event(_)) {
            let s = &c.subflows()[0];
            let una = BEFORE + 90_000 - c.outbound().unacknowledged();
            states.push(State { cwnd: s.cwnd(), ssthresh: s.ssthresh(), una, nxt });
        }
    });
    pair.write(Side::A, 90_000);
    pair.run_until(at(2700));
    let (_, whole, verdict) = &*cell.borrow();
    let (cut, after) = verdict.unwrap_or_else(|| panic!("no verdict: {config:?}"));
    Verdict { whole: whole.expect("an episode"), cut, after, pair }
}

/// Segment 2 comes behind the seven after it: a spurious fast retransmit at 2.1.
fn late(p: &Packet) -> Fate {
    if number(p) == Some(2) && copy(p) == 1 { Fate::Late(ms(20)) } else { Fate::Pass }
}

type Situation = (&'static str, Cause, fn(&Packet) -> Fate);

/// Each detection in each situation in which it fires.
const FIRES: [Situation; 6] = [
    ("eifel", Cause::Timeout, spike),
    ("eifel", Cause::FastRetransmit, late),
    ("frto", Cause::Timeout, spike),
    ("dsack", Cause::Timeout, spike),
    ("dsack", Cause::FastRetransmit, late),
    ("door", Cause::FastRetransmit, late),
];

/// The controllers that change their windows only as acknowledgements and cuts have it. One that models the path
/// (`Controller::reduces_itself`) sets its window anew with each acknowledgement; `controller/bbr` has tests of what it restores.
fn controllers() -> impl Iterator<Item = Choice<dyn Controller>> {
    let models = |c: &Choice<dyn Controller>| c.make(&Setup::new(1000, 10)).reduces_itself();
    Choice::<dyn Controller>::all().into_iter().filter(move |c| !models(c))
}

fn over_all(response: Response, check: impl Fn(&Config, Cause, &Verdict)) {
    for controller in controllers() {
        for (judge, cause, fate) in FIRES {
            println!("{} {judge} {cause:?}", controller.name());
            let c = config(judge).controller(controller.clone()).response(response);
            let v = judged(&c, fate);
            assert!(v.whole.cwnd > v.cut.cwnd || v.cut.cwnd > v.cut.ssthresh, "{:?} {:?}", v.whole, v.cut);
            check(&c, cause, &v);
        }
    }
}

/// Window and threshold are what they were before the episode, or more if the window has outgrown it.
#[test]
fn restore_brings_back_window_and_threshold() {
    over_all(Response::Restore, |_, _, v| {
        assert_eq!(v.after.cwnd, v.whole.cwnd.max(v.cut.cwnd));
        assert_eq!(v.after.ssthresh, v.whole.ssthresh);
    });
}

/// RFC 4015 3.2 steps (0) and (9): cwnd = FlightSize + min(bytes acked, IW), ssthresh = max(FlightSize, ssthresh) as it was
/// when the episode began.
#[test]
fn rfc_4015_takes_what_is_in_flight() {
    over_all(Response::Rfc4015, |_, _, v| {
        let (flight, acked) = (v.after.nxt - v.after.una, v.after.una - v.cut.una);
        assert_eq!(v.after.cwnd, (flight + acked.min(10_000)) as f64);
        let flight_before = (v.whole.nxt - v.whole.una) as f64;
        assert_eq!(v.after.ssthresh, v.whole.ssthresh.max(flight_before));
    });
}

/// The old window becomes the threshold; the window goes on from where it is, in slow start.
#[test]
fn slow_start_to_saved_makes_the_window_a_threshold() {
    over_all(Response::SlowStartToSaved, |_, _, v| {
        assert_eq!(v.after.cwnd, v.cut.cwnd);
        assert_eq!(v.after.ssthresh, v.whole.cwnd.max(v.cut.ssthresh));
    });
}

/// Nothing changes but the count of verdicts: segment for segment the transfer is that of `none`. (F-RTO's question and
/// TCP-DOOR's numbers and hold are part of the detection: for these the window stays what it was before the verdict.)
/// RFC 5682 4.
#[test]
fn no_response_changes_nothing() {
    over_all(Response::None, |c, cause, v| {
        assert_eq!(v.pair[Side::A].conn().subflows()[0].undone(), 0);
        assert_eq!(v.after.ssthresh, v.cut.ssthresh);
        if matches!(c.judge.name(), "eifel" | "dsack") {
            let fate = if cause == Cause::Timeout { spike } else { late };
            let mut same = begun(&c.clone().judge("none".parse().unwrap()), fate);
            same.write(Side::A, 90_000);
            same.run_until(at(2700));
            let log = |pair: &Pair| pair.log.iter().map(|p| (p.at, p.from, *p.segment())).collect::<Vec<_>>();
            assert_eq!(log(&v.pair), log(&same));
        }
    });
}

/// After a spurious timeout that is found early nothing is sent again but its first segment, whatever the response; without
/// a response the rest of the flight is.
#[test]
fn no_flight_is_sent_again_after_a_spurious_timeout() {
    let first = |pair: &Pair| {
        let again = pair.log.iter().filter(|p| copy(p) > 1 && p.at >= at(2000));
        again.map(|p| (p.at, number(p).expect("data"), p.transmit.kind)).collect::<Vec<_>>()
    };
    for controller in controllers() {
        for judge in ["eifel", "frto"] {
            for response in [Response::Default, Response::Rfc4015, Response::Restore, Response::SlowStartToSaved] {
                let c = config(judge).controller(controller.clone()).response(response);
                let v = judged(&c, spike);
                assert_eq!(first(&v.pair), [(at(2200), 0, SendKind::Timeout)], "{} {judge}", controller.name());
            }
            let c = config(judge).controller(controller.clone()).response(Response::None);
            assert!(first(&judged(&c, spike).pair).len() > 5, "{} {judge}", controller.name());
        }
    }
}

/// Worked numbers: the loss at 1 s left NewReno with a window and a threshold of 7.5 segments.
///
/// At 2.0 seven segments leave, at 2.2 the timeout cuts the window to one and the threshold to 3.5, at 2.5 the ACK of the
/// first comes. Six in flight and one acknowledged make seven; pipe_prev = max(7, 7.5).
#[test]
fn worked_numbers_of_rfc_4015() {
    let v = judged(&config("eifel").response(Response::Rfc4015), spike);
    assert_eq!((v.whole.cwnd, v.whole.ssthresh), (7500.0, 7500.0));
    assert_eq!((v.cut.cwnd, v.cut.ssthresh), (1000.0, 3500.0));
    assert_eq!((v.after.cwnd, v.after.ssthresh), (7000.0, 7500.0));
}

// ---- on the wire -------------------------------------------------------------------------------------------------

/// A client at 0.5 s, ten segments sent at 0.2 s, timed out; what its Eifel sees is an echo of the original.
fn timed_out(response: Response, ecn: bool) -> Bench {
    let c = tcp().judge("eifel".parse().unwrap()).response(response).timestamps(true).ecn(ecn);
    let mut bench = Bench::open_client(c);
    let ect = if ecn { "[ect0] " } else { "" };
    bench.play(&format!(
        "0.2 write 60000
         0.2 > {ect}. 1:10001(10x1000) ack 1 <TS val 200 ecr 1000>
         0.5 > . 1:1001(1000) ack 1 <TS val 500 ecr 1000> {{timeout}}
         0.5 cwnd 1000
         0.5 rto 0.6"
    ));
    bench
}

/// RFC 4015 3.2, the last step, with timestamps: the echo of the original at 0.6 s is a sample of 400 ms taken the normal
/// way (SRTT 137.5, RTTVAR 112.5, RTO 587.5 ms); the first sample of data sent after the timeout, 150 ms at 0.75 s, sets SRTT
/// = max(102, 150), RTTVAR = max(50, 75), RTO = 150 + 300 ms.
#[test]
fn the_timer_is_adapted_by_the_first_sample_of_new_data() {
    timed_out(Response::Default, false).play(
        "0.6  < . 1:1(0) ack 1001 win 65535 <TS val 1500 ecr 200>
         0.6  > . 10001:11001(1000) ack 1 <TS val 600 ecr 1500> {new}
         0.6  cwnd 10000
         0.6  rto 0.5875
         0.7  < . 1:1(0) ack 10001 win 65535 <TS val 1600 ecr 200>
         0.7  > . 11001:22001(11x1000) ack 1 <TS val 700 ecr 1600>
         0.75 < . 1:1(0) ack 11001 win 65535 <TS val 1650 ecr 600>
         0.75 > . 22001:24001(2x1000) ack 1 <TS val 750 ecr 1650>
         0.75 srtt 0.15
         0.75 rto 0.45",
    );
}

/// The other responses leave the timer to RFC 6298.
#[test]
fn other_responses_leave_the_timer_alone() {
    let mut bench = timed_out(Response::Restore, false);
    bench.play(
        "0.6  < . 1:1(0) ack 1001 win 65535 <TS val 1500 ecr 200>
         0.6  > . 10001:11001(1000) ack 1 <TS val 600 ecr 1500> {new}
         0.6  cwnd 10000
         0.6  ssthresh inf
         0.6  rto 0.5875",
    );
    // SRTT = 7/8 * (7/8 * 137.5 + 1/8 * 500) + 1/8 * 150 ms.
    bench.play(
        "0.7  < . 1:1(0) ack 10001 win 65535 <TS val 1600 ecr 200>
         0.7  > . 11001:22001(11x1000) ack 1 <TS val 700 ecr 1600>
         0.75 < . 1:1(0) ack 11001 win 65535 <TS val 1650 ecr 600>
         0.75 > . 22001:24001(2x1000) ack 1 <TS val 750 ecr 1650>
         0.75 srtt 0.178710938",
    );
}

/// RFC 4015 3.2 step (9): an ACK with an ECN echo reverses nothing. What is outstanding is in flight again all the same, and
/// the window, cut by the timeout, is not cut once more for the echo (RFC 3168 6.1.2).
#[test]
fn a_congestion_mark_keeps_the_window_cut() {
    timed_out(Response::Default, true).play(
        "0.6 < E. 1:1(0) ack 1001 win 65535 <TS val 1500 ecr 200>
         0.6 event Judged { subflow: 0, spurious: true, restored: false }
         0.6 cwnd 1000
         0.6 ssthresh 5000
         0.6 flight 9000",
    );
}

/// Who chooses among them reads what each does.
#[test]
fn every_response_has_words_of_its_own() {
    let words: std::collections::BTreeSet<_> = RESPONSES.iter().map(|(_, response)| response.described().0).collect();
    assert_eq!(words.len(), RESPONSES.len());
}
