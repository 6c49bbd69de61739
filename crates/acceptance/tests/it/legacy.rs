//! The rules of the 2011 model (`crates/sim/src/legacy/rules.md`, numbered as there), each at exact
//! times.

use anabranch_sim::legacy::controller::{Share, alpha, cut, growth};
use anabranch_sim::legacy::receiver::{Answer, Data, Place, Receiver};
use anabranch_sim::legacy::sender::{Ack, Sender, Why};
use anabranch_sim::legacy::subflow::Phase;
use anabranch_sim::legacy::{Controller, Model, Recovery, near, option, wire_len};
use anabranch_sim::sim::rng::Rng;

use crate::support::{MS, S, close};

const MSS: u64 = 1400;

fn model(controller: Controller, recovery: Recovery) -> Model {
    Model { controller, recovery, ..Model::default() }
}

fn none() -> Model {
    model(Controller::Uncoupled, Recovery::None)
}

/// A sender with two subflows after the handshake of a connection: subflow 0 has sent SYN 0, ACK 1, addresses 2, all
/// acknowledged; subflow 1 has sent SYN 10000 and ACK 10001, of which the second never is. Data begin at 3 and 10002.
fn sender(model: &Model, octets: u64) -> Sender {
    let mut s = Sender::new(model, octets);
    s.open(0, Rng::new(1, "0"));
    s.on_established(0);
    s.take_control(0);
    s.take_control(0);
    s.on_control(0, 3);
    s.open(10_000, Rng::new(1, "1"));
    s.on_established(1);
    s.take_control(1);
    s
}

/// Returns a sender in congestion avoidance with windows of `windows` segments that has sent all
/// they allow at time 0. On subflow 1 the whole handshake is acknowledged.
fn steady(model: &Model, windows: [f64; 2]) -> Sender {
    let mut s = sender(model, 1_000_000);
    s.subflow_mut(1).acked = 10_001;
    for (i, window) in windows.into_iter().enumerate() {
        let subflow = s.subflow_mut(i);
        (subflow.cwnd, subflow.ssthresh) = (window, 2 * MSS);
    }
    s.pump(0);
    s.pump(0);
    s.take_out();
    s
}

/// Takes the sent segments: subflow, first data octet, octets, reason.
fn out(s: &mut Sender) -> Vec<(usize, u64, u32, Why)> {
    s.take_out().iter().map(|o| (o.subflow, o.mapping.dsn, o.mapping.len, o.why)).collect()
}

fn ack(s: &mut Sender, at: u64, subflow: usize, number: u64) {
    s.on_ack(at, subflow, &Ack { number, ..Ack::default() });
}

/// Returns the acknowledgement number of the first `n` full segments of a subflow.
fn after(subflow: usize, n: u64) -> u64 {
    [3, 10_002][subflow] + n * MSS
}

fn cwnd(s: &Sender, subflow: usize) -> f64 {
    s.subflows()[subflow].cwnd
}

// ---- 1, 2, 3: sizes, buffer, scheduler -------------------------------------------------------------------------

/// 20 IP + 2 PPP + 20 TCP + options in whole words + one octet a word of options.
#[test]
fn a_packet_has_the_length_that_the_model_gives_it() {
    let sizes = [
        (1400, option::MAPPING, 1462),
        (1400, option::MAPPING + option::TIMESTAMPS, 1482),
        (0, 0, 42),
        (0, option::REPORT, 87),
        (0, option::TIMESTAMPS, 67),
        (0, option::CAPABLE, 52),
        (0, 2 * option::ADDRESS, 57),
    ];
    for (payload, options, length) in sizes {
        assert_eq!(wire_len(payload, options), length, "{payload} + {options}");
    }
}

#[test]
fn a_number_on_the_wire_is_the_nearest_one() {
    assert_eq!(near(5, 7), 7);
    assert_eq!(near(0x1_0000_0005, 0xffff_fffe), 0xffff_fffe);
    assert_eq!(near(0xffff_fffe, 5), 0x1_0000_0005);
}

/// The first write fills the buffer of ten segments, and each subflow sends one. Then each new
/// acknowledgement lets the application refill the buffer once and the scheduler send.
#[test]
fn the_staging_buffer_takes_ten_segments_and_is_refilled_on_new_acknowledgements() {
    let mut s = sender(&none(), 1_000_000);
    s.pump(0);
    assert_eq!((s.written() - 1, s.take_writes()), (10 * MSS, 1));
    assert_eq!(out(&mut s).len(), 2);
    ack(&mut s, MS, 0, after(0, 1));
    assert_eq!((s.written() - 1, s.take_writes()), (10 * MSS + 2799, 1));
    // A duplicate causes neither a write nor a transmission.
    ack(&mut s, 2 * MS, 0, after(0, 1));
    assert_eq!((s.take_writes(), out(&mut s).len()), (0, 2));
}

/// One acknowledgement of 30 segments frees a window of 30 segments. The staging buffer holds ten
/// segments but does not limit the data in flight: the application refills it each time the
/// scheduler has emptied it, here three times.
#[test]
fn the_staging_buffer_does_not_limit_what_one_acknowledgement_lets_out() {
    let mut s = steady(&none(), [30.0, 1.0]);
    s.pump(0);
    s.pump(0);
    s.take_out();
    s.take_writes();
    assert_eq!(s.subflows()[0].outstanding(), 30 * MSS);
    ack(&mut s, MS, 0, after(0, 30));
    assert_eq!((out(&mut s).len(), s.take_writes()), (30, 3));
    assert_eq!(s.subflows()[0].outstanding(), 30 * MSS);
}

/// Both windows are one segment. The third segment of the join's handshake is never acknowledged,
/// so subflow 1 may send one octet less.
#[test]
fn the_first_segment_of_a_joined_subflow_is_an_octet_short() {
    let mut s = sender(&none(), 1_000_000);
    s.pump(0);
    assert_eq!(out(&mut s), [(0, 1, 1400, Why::New), (1, 1401, 1399, Why::New)]);
    // An acknowledgement of data also covers the handshake, so the next segments have full size.
    ack(&mut s, MS, 1, 10_002 + 1399);
    assert_eq!(out(&mut s), [(1, 2800, 1400, Why::New), (1, 4200, 1400, Why::New)]);
}

/// With an MSS of two octets, the unacknowledged octet of the handshake leaves a window of one
/// octet.
#[test]
fn a_window_of_one_octet_gives_a_segment_of_one_octet() {
    let mut s = sender(&Model { mss: 2, ..none() }, 100);
    s.pump(0);
    assert_eq!(out(&mut s), [(0, 1, 2, Why::New), (1, 3, 1, Why::New)]);
}

/// Windows 3 and 5, ten segments to send: 0 1 0 1 0 1 1 1, then both are full.
#[test]
fn segments_alternate_while_both_subflows_have_room_then_go_where_there_is_some() {
    let mut s = sender(&none(), 1_000_000);
    s.subflow_mut(1).acked = 10_001;
    s.subflow_mut(0).cwnd = 3.9;
    s.subflow_mut(1).cwnd = 5.0;
    s.pump(0);
    let order: Vec<usize> = out(&mut s).iter().map(|o| o.0).collect();
    assert_eq!(order, [0, 1, 0, 1, 0, 1, 1, 1]);
    // The round robin resumes where it stopped.
    s.subflow_mut(0).cwnd = 4.0;
    s.subflow_mut(1).cwnd = 6.0;
    s.pump(0);
    let order: Vec<usize> = out(&mut s).iter().map(|o| o.0).collect();
    assert_eq!(order.len(), 2);
}

#[test]
fn a_subflow_without_handshake_gets_nothing() {
    let mut s = Sender::new(&none(), 1_000_000);
    s.open(0, Rng::new(1, "0"));
    s.pump(0);
    assert!(out(&mut s).is_empty());
}

// ---- 4: the receiver -------------------------------------------------------------------------------------------

fn receiver(recovery: Recovery) -> Receiver {
    let mut r = Receiver::new(&model(Controller::Uncoupled, recovery));
    r.open(0, 1000);
    r.open(1, 5000);
    r
}

/// Segment `n` (from 0) of a subflow, with data octets from 1 + 100 d on, 100 octets.
fn arrive(r: &mut Receiver, subflow: usize, n: u64, d: u64) -> (Place, Vec<Answer>) {
    let mut answers = Vec::new();
    let data = Data { seq: [1000, 5000][subflow] + 100 * n, dsn: 1 + 100 * d, len: 100, stamp: Some(7) };
    let place = r.on_data(subflow, &data, &mut answers);
    (place, answers)
}

/// A plain acknowledgement of the first `n` segments of a subflow.
fn plain(subflow: usize, n: u64) -> Answer {
    Answer::Ack { subflow, number: [1000, 5000][subflow] + 100 * n, echo: None, report: None }
}

fn echo(subflow: usize, n: u64) -> Answer {
    Answer::Ack { subflow, number: [1000, 5000][subflow] + 100 * n, echo: Some(7), report: None }
}

fn read(d: u64) -> Answer {
    Answer::Deliver { dsn: 1 + 100 * d, len: 100 }
}

/// Subflow 0: data 0, then data 2 (1 comes by subflow 1, later): next on its subflow, ahead in the data.
#[test]
fn rule_1_next_at_both_levels_is_delivered_and_next_on_the_subflow_alone_is_parked_in_silence() {
    let mut r = receiver(Recovery::None);
    assert_eq!(arrive(&mut r, 0, 0, 0), (Place::Next, vec![read(0), plain(0, 1)]));
    assert_eq!(arrive(&mut r, 0, 1, 2), (Place::Ahead, vec![]));
    assert_eq!(r.expected(0), 1100);
}

/// Everything behind the silent one draws an acknowledgement that does not move: one silent and three duplicates.
#[test]
fn rule_2_what_follows_a_parked_segment_is_parked_and_draws_duplicates() {
    let mut r = receiver(Recovery::None);
    arrive(&mut r, 0, 0, 0);
    arrive(&mut r, 0, 1, 2);
    for n in 2..5 {
        assert_eq!(arrive(&mut r, 0, n, n + 1), (Place::Behind, vec![plain(0, 1)]));
    }
    // A copy of a parked segment draws nothing, neither the first nor a later one.
    assert_eq!(arrive(&mut r, 0, 1, 2), (Place::Duplicate, vec![]));
    assert_eq!(arrive(&mut r, 0, 3, 4), (Place::Duplicate, vec![]));
    assert_eq!((r.total().packets, r.total().octets), (4, 400));
}

#[test]
fn rule_3_a_copy_of_delivered_data_draws_an_acknowledgement() {
    let mut r = receiver(Recovery::None);
    arrive(&mut r, 0, 0, 0);
    assert_eq!(arrive(&mut r, 0, 0, 0), (Place::Duplicate, vec![plain(0, 1)]));
}

/// Data 0 (0), 2 (0), 3 (0), then 1 (1): in data order the parked ones are released, each with an acknowledgement on its
/// own subflow, and the one that filled the hole is acknowledged last.
#[test]
fn draining_acknowledges_each_segment_on_its_subflow_and_the_filler_last() {
    let mut r = receiver(Recovery::None);
    arrive(&mut r, 0, 0, 0);
    arrive(&mut r, 0, 1, 2);
    arrive(&mut r, 0, 2, 3);
    let expected = vec![read(1), read(2), plain(0, 2), read(3), plain(0, 3), plain(1, 1)];
    assert_eq!(arrive(&mut r, 1, 0, 1), (Place::Next, expected));
    assert_eq!((r.total().packets, r.data()), (0, 401));
}

/// A hole in subflow 0 itself: segment 1 after segment 2. Its own last acknowledgement repeats the number.
#[test]
fn a_filler_that_drains_its_own_subflow_repeats_the_last_number() {
    let mut r = receiver(Recovery::None);
    arrive(&mut r, 0, 0, 0);
    assert_eq!(arrive(&mut r, 0, 2, 2), (Place::Behind, vec![plain(0, 1)]));
    assert_eq!(arrive(&mut r, 0, 1, 1), (Place::Next, vec![read(1), read(2), plain(0, 3), plain(0, 3)]));
}

/// What is parked behind a further hole stays: data 1 fills, 2 is drained, 4 waits for 3.
#[test]
fn draining_stops_at_the_next_hole() {
    let mut r = receiver(Recovery::None);
    arrive(&mut r, 0, 0, 0);
    arrive(&mut r, 0, 1, 2);
    arrive(&mut r, 0, 2, 4);
    assert_eq!(arrive(&mut r, 1, 0, 1).1, vec![read(1), read(2), plain(0, 2), plain(1, 1)]);
    assert_eq!((r.held(0).packets, r.expected(0)), (1, 1200));
}

/// Eifel: a timestamp is to be echoed, so nothing is silent; drained segments have none.
#[test]
fn eifel_acknowledges_every_arrival_with_an_echo_and_drained_segments_without() {
    let mut r = receiver(Recovery::Eifel);
    assert_eq!(arrive(&mut r, 0, 0, 0).1, vec![read(0), echo(0, 1)]);
    assert_eq!(arrive(&mut r, 0, 1, 2).1, vec![echo(0, 1)]);
    assert_eq!(arrive(&mut r, 0, 2, 3).1, vec![echo(0, 1)]);
    assert_eq!(arrive(&mut r, 0, 2, 3).1, vec![echo(0, 1)]);
    assert_eq!(arrive(&mut r, 1, 0, 1).1, vec![read(1), read(2), plain(0, 2), read(3), plain(0, 3), echo(1, 1)]);
}

/// Rule 0: data 3, then 2, then 5 before data 1. The second block is the first run of what is parked.
#[test]
fn d_sack_reports_every_early_arrival_and_the_first_run() {
    let mut r = receiver(Recovery::Dsack);
    arrive(&mut r, 0, 0, 0);
    let report = |r: &mut Receiver, subflow, n, d| match arrive(r, subflow, n, d).1[..] {
        [Answer::Ack { number, report: Some([arrived, run]), .. }] => (number, arrived, run),
        ref other => panic!("{other:?}"),
    };
    assert_eq!(report(&mut r, 0, 1, 3), (1100, (301, 401), (301, 401)));
    assert_eq!(report(&mut r, 0, 3, 5), (1100, (501, 601), (301, 401)));
    assert_eq!(report(&mut r, 1, 1, 2), (5000, (201, 301), (201, 401)));
    assert_eq!(report(&mut r, 1, 1, 2), (5000, (201, 301), (201, 401)));
    assert_eq!(r.total().packets, 3);
    // Data 1 on subflow 1: data 2 and 3 are drained; acknowledgements are plain, also for a copy of what is delivered.
    let drained = vec![read(1), read(2), plain(1, 2), read(3), plain(0, 2), plain(1, 2)];
    assert_eq!(arrive(&mut r, 1, 0, 1).1, drained);
    assert_eq!(arrive(&mut r, 1, 0, 1).1, vec![plain(1, 2)]);
    // What is left begins the run.
    assert_eq!(report(&mut r, 0, 4, 6), (1200, (601, 701), (501, 701)));
}

/// Not the model: each subflow in its own order, nothing waits for the data.
#[test]
fn a_standard_receiver_draws_no_duplicates_for_a_gap_in_the_data() {
    let mut r = Receiver::new(&Model { standard_receiver: true, ..none() });
    r.open(0, 1000);
    r.open(1, 5000);
    arrive(&mut r, 0, 0, 0);
    assert_eq!(arrive(&mut r, 0, 1, 2).1, vec![plain(0, 2)]);
    // A true hole of subflow 0 (segment 2) does.
    assert_eq!(arrive(&mut r, 0, 3, 4).1, vec![plain(0, 2)]);
    assert_eq!(arrive(&mut r, 0, 2, 3).1, vec![plain(0, 4)]);
    assert_eq!(arrive(&mut r, 1, 0, 1).1, vec![read(1), read(2), read(3), read(4), plain(1, 1)]);
}

// ---- 5.1: classification ---------------------------------------------------------------------------------------

/// Subflow 0 has three segments under way. Number: 1 new; the same 1 again, a duplicate; all three: new, however often.
#[test]
fn an_acknowledgement_is_a_duplicate_if_a_segment_starts_there_and_all_before_was_acknowledged() {
    let mut s = steady(&none(), [3.0, 3.0]);
    ack(&mut s, MS, 0, after(0, 1));
    close(cwnd(&s, 0), 3.0 + 1.0 / 3.0, 1e-12);
    ack(&mut s, 2 * MS, 0, after(0, 1));
    assert_eq!(s.subflows()[0].mappings[1].duplicates, 1);
    let mut idle = sender(&none(), MSS);
    idle.pump(0);
    ack(&mut idle, MS, 0, after(0, 1));
    ack(&mut idle, 2 * MS, 0, after(0, 1));
    ack(&mut idle, 3 * MS, 0, after(0, 1));
    assert_eq!(cwnd(&idle, 0), 4.0);
}

/// 1, 3, then 2 that was overtaken: charged to the third segment, which starts there and was acknowledged long ago.
#[test]
fn a_late_acknowledgement_is_charged_to_an_old_segment() {
    let mut s = steady(&none(), [4.0, 4.0]);
    ack(&mut s, MS, 0, after(0, 1));
    ack(&mut s, 2 * MS, 0, after(0, 3));
    let before = cwnd(&s, 0);
    ack(&mut s, 3 * MS, 0, after(0, 2));
    assert_eq!((s.subflows()[0].mappings[2].duplicates, cwnd(&s, 0)), (1, before));
}

/// Subflow 1 believes sequence number 10001 unacknowledged, so 10002 is news, once.
#[test]
fn the_first_duplicate_of_a_joined_subflow_is_not_recognised() {
    let mut s = sender(&none(), 1_000_000);
    s.pump(0);
    ack(&mut s, MS, 1, 10_002);
    assert_eq!((cwnd(&s, 1), s.subflows()[1].mappings[0].duplicates), (2.0, 0));
    ack(&mut s, 2 * MS, 1, 10_002);
    assert_eq!((cwnd(&s, 1), s.subflows()[1].mappings[0].duplicates), (2.0, 1));
}

// ---- 5.2: fast retransmit --------------------------------------------------------------------------------------

/// Window 8. Duplicates 1 and 2: nothing, not even new data. 3: cut to 4, the one segment again. 4 and more: nothing.
#[test]
fn the_third_duplicate_cuts_and_retransmits_and_further_ones_do_nothing() {
    let mut s = steady(&none(), [8.0, 8.0]);
    for at in 1..=2 {
        ack(&mut s, at * MS, 0, after(0, 0));
        assert_eq!((out(&mut s).len(), cwnd(&s, 0)), (0, 8.0));
    }
    ack(&mut s, 3 * MS, 0, after(0, 0));
    assert_eq!((out(&mut s), cwnd(&s, 0)), (vec![(0, 1, 1400, Why::Fast)], 4.0));
    for at in 4..=300 {
        ack(&mut s, at * MS, 0, after(0, 0));
    }
    assert_eq!((out(&mut s).len(), cwnd(&s, 0)), (0, 4.0));
}

/// No recovery point: the next segment of the same window is cut for again after three duplicates of its own. Window 8,
/// then 4; the partial acknowledgement makes 4.25, cut to 2.125.
#[test]
fn each_segment_of_a_window_may_cut_it_again() {
    let mut s = steady(&none(), [8.0, 8.0]);
    for at in 1..=3 {
        ack(&mut s, at * MS, 0, after(0, 0));
    }
    for at in 4..=7 {
        ack(&mut s, at * MS, 0, after(0, 1));
    }
    assert_eq!(cwnd(&s, 0), 2.125);
    assert_eq!(out(&mut s).iter().filter(|o| o.3 == Why::Fast).count(), 2);
}

// ---- 5.3: growth -----------------------------------------------------------------------------------------------

/// 46 x 1400 = 64400 octets are below 65535, 47 x 1400 are not: then 1 / 47 an acknowledgement.
#[test]
fn slow_start_ends_at_47_segments() {
    let mut s = sender(&none(), 10_000_000);
    s.pump(0);
    let mut n = 0;
    while cwnd(&s, 0) < 47.0 {
        n += 1;
        ack(&mut s, n * MS, 0, after(0, n));
        assert_eq!(cwnd(&s, 0), 1.0 + n as f64);
    }
    ack(&mut s, (n + 1) * MS, 0, after(0, n + 1));
    close(cwnd(&s, 0), 47.0 + 1.0 / 47.0, 1e-12);
}

/// w = 10 and 30, no round-trip time measured yet on subflow 1 (1.5 s); subflow 0 takes 1 s, and only it has grown in
/// congestion avoidance: s = 10 / 8, so alpha = s (s / 1) / (s / 1)^2 = 1.
#[test]
fn in_congestion_avoidance_each_controller_grows_by_its_formula() {
    for (controller, growth) in [
        (Controller::Uncoupled, 1.0 / 10.0),
        (Controller::FullyCoupled, 1.0 / 40.0),
        (Controller::LinkedIncreases, 1.0 / 40.0),
        (Controller::RttCompensator, 1.0 / 40.0),
    ] {
        let mut s = steady(&model(controller, Recovery::None), [10.0, 30.0]);
        ack(&mut s, S, 0, after(0, 1));
        close(cwnd(&s, 0), 10.0 + growth, 1e-12);
    }
}

/// s = 4 and 12, rtt = 0.1 and 0.3 s: 16 x max(400, 133.3) / (40 + 40)^2 = 1. With 0.1 and 0.6 s: 16 x 400 / 60^2 = 16/9.
#[test]
fn alpha_on_worked_numbers() {
    let two = |a: f64, b: f64| alpha([Share { smoothed: 4.0, srtt: a }, Share { smoothed: 12.0, srtt: b }].into_iter());
    close(two(0.1, 0.3), 1.0, 1e-12);
    close(two(0.1, 0.6), 16.0 / 9.0, 1e-12);
}

/// alpha / W above 1 / w: the compensator grows as a single flow would, linked increases by more.
#[test]
fn the_compensator_never_grows_faster_than_a_single_flow() {
    let (w, total, a) = (10.0, 12.0, 3.0);
    assert_eq!(growth(Controller::LinkedIncreases, w, total, a), 0.25);
    assert_eq!(growth(Controller::RttCompensator, w, total, a), 0.1);
}

/// 7/8 of zero and 1/8 of 16 is 2; then 7/8 of 2 and 1/8 of 16.0625.
#[test]
fn the_smoothed_window_begins_at_zero_and_moves_by_an_eighth() {
    let mut s = steady(&none(), [16.0, 1.0]);
    ack(&mut s, S, 0, after(0, 1));
    assert_eq!(s.subflows()[0].smoothed, 2.0);
    ack(&mut s, S, 0, after(0, 2));
    close(s.subflows()[0].smoothed, 1.75 + 16.0625 / 8.0, 1e-12);
    assert_eq!(s.subflows()[1].smoothed, 0.0);
}

// ---- 5.4: cut --------------------------------------------------------------------------------------------------

/// Half of 40 segments is 20, which is compared with 2800 octets.
#[test]
fn the_threshold_is_two_segments_from_the_first_cut_on() {
    let mut s = steady(&none(), [40.0, 40.0]);
    s.subflow_mut(0).ssthresh = 65_535;
    for at in 1..=3 {
        ack(&mut s, at * MS, 0, after(0, 0));
    }
    assert_eq!((s.subflows()[0].ssthresh, cwnd(&s, 0)), (2800, 20.0));
    assert_eq!(s.subflows()[0].saved, (40.0, 65_535));
}

#[test]
fn a_window_is_never_cut_below_one_segment() {
    for (controller, window, total, expected) in [
        (Controller::Uncoupled, 9.0, 20.0, 4.5),
        (Controller::RttCompensator, 1.5, 20.0, 1.0),
        (Controller::LinkedIncreases, 3.0, 20.0, 1.5),
        (Controller::FullyCoupled, 30.0, 40.0, 10.0),
        (Controller::FullyCoupled, 15.0, 40.0, 1.0),
    ] {
        assert_eq!(cut(controller, window, total), expected, "{controller:?}");
    }
}

/// Fully coupled, 60 and 40 segments. The cut of subflow 0 takes 50 and leaves 10; its retransmission counts the sum anew
/// (50), so that of subflow 1 takes 25.
#[test]
fn the_sum_of_windows_is_counted_before_each_transmission() {
    let mut s = steady(&model(Controller::FullyCoupled, Recovery::None), [60.0, 40.0]);
    for at in 1..=3 {
        ack(&mut s, at * MS, 0, after(0, 0));
    }
    assert_eq!(cwnd(&s, 0), 10.0);
    for at in 4..=6 {
        ack(&mut s, at * MS, 1, after(1, 0));
    }
    assert_eq!(cwnd(&s, 1), 15.0);
}

// ---- 5.5: timeout ----------------------------------------------------------------------------------------------

/// Sent at 0: 2 x 1.5 s. The window is halved, not collapsed; one segment is sent again; the timer runs for twice as long.
#[test]
fn the_first_timeout_comes_after_three_seconds_and_does_not_collapse_the_window() {
    let mut s = steady(&none(), [8.0, 8.0]);
    assert_eq!(s.deadline(), Some(3 * S));
    s.on_timer(3 * S - 1);
    assert!(out(&mut s).is_empty());
    s.on_timer(3 * S);
    assert_eq!(out(&mut s), [(0, 1, 1400, Why::Timeout), (1, 1401, 1400, Why::Timeout)]);
    assert_eq!((cwnd(&s, 0), s.subflows()[0].timer), (4.0, Some(9 * S)));
    s.on_timer(9 * S);
    assert_eq!((cwnd(&s, 0), s.subflows()[0].timer), (2.0, Some(21 * S)));
}

/// 3, 6, 12, ... times up to 64: the seventh and later intervals are 192 s.
#[test]
fn the_timeout_doubles_up_to_sixty_four_times_and_has_no_other_bound() {
    let mut s = steady(&none(), [8.0, 8.0]);
    let mut at = 0;
    let mut intervals = Vec::new();
    for _ in 0..9 {
        let next = s.subflows()[0].timer.unwrap();
        intervals.push((next - at) / S);
        at = next;
        s.on_timer(at);
    }
    assert_eq!(intervals, [3, 6, 12, 24, 48, 96, 192, 192, 192]);
}

/// Sample 100 ms: mean and deviation 100 ms, 500 ms. Further ones of 100 ms: the deviation falls by a tenth each, until it
/// is below a quarter of the mean after 14 of them (0.9^14 = 0.229): 200 ms. There is no lower bound.
#[test]
fn the_timeout_follows_mean_and_deviation() {
    let mut s = steady(&none(), [1.0, 1.0]);
    let mut timeouts = Vec::new();
    for n in 1..=15 {
        let at = n * 100 * MS;
        // Only the oldest of the two that slow start sends gives the sample, and it was sent 100 ms ago.
        s.subflow_mut(0).cwnd = 1.0;
        s.subflow_mut(0).ssthresh = 0;
        let all = s.subflows()[0].next;
        ack(&mut s, at, 0, all);
        s.subflow_mut(0).cwnd = 1.0;
        timeouts.push(s.subflows()[0].timer.unwrap() - at);
    }
    assert_eq!(timeouts[0], 500 * MS);
    assert_eq!(timeouts[1], 100 * MS + 4 * 90 * MS);
    assert_eq!(timeouts[13], (100.0e6_f64 + 4.0 * 100.0e6 * 0.9_f64.powi(13)).round() as u64);
    assert_eq!(timeouts[14], 200 * MS);
    close(s.subflows()[0].rtt.srtt(), 0.1, 1e-9);
}

/// Two segments at 0. The first is sent again at 3 s and gives no sample; the second, older, gives one of 4 s.
#[test]
fn a_retransmitted_segment_gives_no_sample() {
    let mut s = steady(&none(), [2.0, 2.0]);
    s.on_timer(3 * S);
    ack(&mut s, 3 * S + 100 * MS, 0, after(0, 1));
    assert_eq!(s.subflows()[0].rtt.samples(), 0);
    // The multiplier stays at 2 without a valid sample.
    assert_eq!(s.subflows()[0].timer, Some(9 * S + 100 * MS));
    ack(&mut s, 4 * S, 0, after(0, 2));
    assert_eq!(s.subflows()[0].rtt.srtt(), 4.0);
    assert_eq!(s.subflows()[0].rtt.timeout(), 20 * S);
}

/// Armed at 0 for 3 s; duplicates leave it alone, also the third; a new acknowledgement at 2.9 s restarts it.
#[test]
fn the_timer_is_restarted_by_new_acknowledgements_only() {
    let mut s = steady(&none(), [4.0, 4.0]);
    for at in 1..=3 {
        ack(&mut s, at * S / 2, 0, after(0, 0));
        assert_eq!(s.subflows()[0].timer, Some(3 * S));
    }
    ack(&mut s, 2_900 * MS, 0, after(0, 1));
    // No sample, since the segment was sent again; the cut has doubled the timeout.
    assert_eq!(s.subflows()[0].timer, Some(2_900 * MS + 6 * S));
}

/// The timer of a joined subflow finds its first segment behind the handshake's unacknowledged octet.
#[test]
fn a_timeout_of_a_joined_subflow_finds_its_first_segment() {
    let mut s = sender(&none(), 1_000_000);
    s.pump(0);
    s.take_out();
    s.on_timer(3 * S);
    assert_eq!(out(&mut s), [(0, 1, 1400, Why::Timeout), (1, 1401, 1399, Why::Timeout)]);
}

#[test]
fn nothing_outstanding_leaves_no_timer() {
    let mut s = sender(&none(), MSS);
    s.pump(0);
    ack(&mut s, MS, 0, after(0, 1));
    assert_eq!(s.deadline(), None);
}

// ---- 6.2: Eifel ------------------------------------------------------------------------------------------------

fn eifel(s: &mut Sender, at: u64, number: u64, sent: u64) {
    s.on_ack(at, 0, &Ack { number, echo: Some((sent / MS) as u32), report: None });
}

/// Third duplicate at 1.003 s: cut 8 to 4. The fourth was caused by a segment sent at 0, before the retransmission: 8
/// again, and slow start's threshold. One caused by the retransmission itself (1.003 s) is ordinary.
#[test]
fn eifel_restores_on_a_duplicate_that_an_older_segment_caused() {
    let mut s = steady(&model(Controller::Uncoupled, Recovery::Eifel), [8.0, 8.0]);
    s.subflow_mut(0).ssthresh = 60_000;
    for at in 1..=3 {
        eifel(&mut s, S + at * MS, after(0, 0), 0);
    }
    assert_eq!((cwnd(&s, 0), s.subflows()[0].ssthresh), (4.0, 2800));
    eifel(&mut s, S + 4 * MS, after(0, 0), S + 3 * MS);
    assert_eq!(cwnd(&s, 0), 4.0);
    eifel(&mut s, S + 5 * MS, after(0, 0), S + 2 * MS);
    assert_eq!((cwnd(&s, 0), s.subflows()[0].ssthresh, s.subflows()[0].undone), (8.0, 60_000, 1));
    // Nothing is sent until the next new acknowledgement; each further one restores again and counts once.
    assert_eq!(out(&mut s).iter().filter(|o| o.3 == Why::New).count(), 0);
    s.subflow_mut(0).cwnd = 9.0;
    eifel(&mut s, S + 6 * MS, after(0, 0), 0);
    assert_eq!((cwnd(&s, 0), s.subflows()[0].undone), (8.0, 1));
}

/// The acceptable acknowledgement, which RFC 3522 tests, is not looked at; the back-off stays.
#[test]
fn eifel_never_tests_the_cumulative_acknowledgement() {
    let mut s = steady(&model(Controller::Uncoupled, Recovery::Eifel), [8.0, 8.0]);
    for at in 1..=3 {
        eifel(&mut s, S + at * MS, after(0, 0), 0);
    }
    eifel(&mut s, S + 4 * MS, after(0, 1), 0);
    assert_eq!((cwnd(&s, 0), s.subflows()[0].undone), (4.25, 0));
    assert_eq!(s.subflows()[0].rtt.timeout(), 6 * S);
}

/// The overtaken acknowledgement of a drained segment has no timestamp: the original reads through a null pointer.
#[test]
fn eifel_takes_a_duplicate_without_timestamp_for_an_ordinary_one() {
    let mut s = steady(&model(Controller::Uncoupled, Recovery::Eifel), [8.0, 8.0]);
    for at in 1..=3 {
        eifel(&mut s, S + at * MS, after(0, 0), 0);
    }
    ack(&mut s, S + 4 * MS, 0, after(0, 0));
    assert_eq!((cwnd(&s, 0), s.subflows()[0].mappings[0].duplicates), (4.0, 4));
}

// ---- 6.3: TCP-DOOR ---------------------------------------------------------------------------------------------

#[test]
fn door_is_a_stub_that_ignores_duplicates() {
    let mut s = steady(&model(Controller::Uncoupled, Recovery::Door), [8.0, 8.0]);
    for at in 1..=50 {
        ack(&mut s, at * MS, 0, after(0, 0));
    }
    assert_eq!((out(&mut s).len(), cwnd(&s, 0)), (0, 8.0));
    s.on_timer(3 * S);
    assert_eq!(cwnd(&s, 0), 4.0);
}

// ---- 6.4: D-SACK -----------------------------------------------------------------------------------------------

/// Data of segment `n` of a subflow in `steady` with equal windows: they alternate.
fn range(subflow: u64, n: u64) -> (u64, u64) {
    let dsn = 1 + (2 * n + subflow) * MSS;
    (dsn, dsn + MSS)
}

fn dsack(s: &mut Sender, at: u64, subflow: usize, n: u64) {
    let arrived = range(subflow as u64, n);
    s.on_ack(
        at,
        subflow,
        &Ack { number: after(subflow, 0), echo: None, report: Some([arrived, range(subflow as u64, 0)]) },
    );
}

/// Subflow 1 is early: its segments wait for data 0 of subflow 0. Its third duplicate cuts subflow 0 and spares it.
#[test]
fn d_sack_charges_the_subflow_whose_data_are_late() {
    let mut s = steady(&model(Controller::Uncoupled, Recovery::Dsack), [4.0, 4.0]);
    for n in 0..3 {
        dsack(&mut s, (n + 1) * MS, 1, n);
    }
    assert_eq!((cwnd(&s, 0), cwnd(&s, 1)), (2.0, 4.0));
    assert_eq!(out(&mut s), [(0, 1, 1400, Why::Fast)]);
}

/// The other way round: subflow 0 reports its segments from the second on, its first is delivered, and subflow 1's first
/// is the one missing.
#[test]
fn d_sack_finds_the_late_segment_on_a_later_subflow() {
    let mut s = steady(&model(Controller::Uncoupled, Recovery::Dsack), [6.0, 6.0]);
    ack(&mut s, MS, 0, after(0, 1));
    for n in 1..4 {
        let report = Some([range(0, n), range(0, 1)]);
        s.on_ack((n + 1) * MS, 0, &Ack { number: after(0, 1), echo: None, report });
    }
    assert_eq!(cwnd(&s, 1), 3.0);
    assert_eq!(out(&mut s).last(), Some(&(1, 1401, 1400, Why::Fast)));
}

/// Without a report the rule is that of no recovery.
#[test]
fn d_sack_counts_plain_duplicates_as_without_recovery() {
    let mut s = steady(&model(Controller::Uncoupled, Recovery::Dsack), [4.0, 4.0]);
    for at in 1..=3 {
        ack(&mut s, at * MS, 1, after(1, 0));
    }
    assert_eq!((cwnd(&s, 0), cwnd(&s, 1)), (4.0, 2.0));
}

/// Subflow 1's first segment times out and is sent again though it is parked; its copy is reported once more, so it is
/// acknowledged more than once: subflow 0, which blocks, may grow back to the largest window saved.
#[test]
fn d_sack_restores_by_slow_start_up_to_the_largest_saved_window() {
    let mut s = steady(&model(Controller::Uncoupled, Recovery::Dsack), [8.0, 8.0]);
    for n in 0..3 {
        dsack(&mut s, (n + 1) * MS, 1, n);
    }
    assert_eq!((cwnd(&s, 0), s.subflows()[0].saved.0), (4.0, 8.0));
    s.on_timer(3 * S);
    assert_eq!((cwnd(&s, 0), s.subflows()[0].saved.0), (2.0, 8.0));
    s.take_out();
    dsack(&mut s, 3 * S + MS, 1, 0);
    assert_eq!((s.subflows()[0].phase, s.subflows()[0].undone), (Phase::Restoring, 1));
    // 3, 4, 5, 6, 7; the next would reach 8: congestion avoidance, and nothing is saved any more.
    for n in 1..=5 {
        ack(&mut s, 4 * S + n * MS, 0, after(0, n));
        assert_eq!(cwnd(&s, 0), 2.0 + n as f64);
    }
    ack(&mut s, 5 * S, 0, after(0, 6));
    close(cwnd(&s, 0), 7.0 + 1.0 / 7.0, 1e-12);
    assert_eq!((s.subflows()[0].phase, s.subflows()[0].saved.0), (Phase::Normal, 0.0));
}

// ---- 6.5: F-RTO ------------------------------------------------------------------------------------------------

fn frto(discard: f64) -> Model {
    Model { ack_discard: discard, ..model(Controller::Uncoupled, Recovery::Frto) }
}

/// Every acknowledgement that counts begins a burst: with a window of 4.25 after it, the next four are discarded.
#[test]
fn f_rto_discards_as_many_acknowledgements_as_are_under_way() {
    let mut s = steady(&frto(1.0), [4.0, 4.0]);
    ack(&mut s, MS, 0, after(0, 1));
    assert_eq!(cwnd(&s, 0), 4.25);
    for n in 2..=5 {
        ack(&mut s, n * MS, 0, after(0, n));
        assert_eq!((cwnd(&s, 0), s.subflows()[0].acked), (4.25, after(0, 1) - 1));
    }
    ack(&mut s, 6 * MS, 0, after(0, 5));
    assert_eq!(s.subflows()[0].acked, after(0, 5) - 1);
    // Each subflow has a burst of its own.
    ack(&mut s, 7 * MS, 1, after(1, 1));
    assert_eq!(cwnd(&s, 1), 4.25);
}

/// Before any timeout duplicates do nothing. After one they grow the window by the normal rule, and send if it has room.
#[test]
fn f_rto_lets_duplicates_grow_the_window_after_a_timeout() {
    let mut s = steady(&frto(0.0), [8.0, 1.0]);
    ack(&mut s, MS, 0, after(0, 0));
    assert_eq!(cwnd(&s, 0), 8.0);
    s.on_timer(3 * S);
    assert_eq!(cwnd(&s, 0), 4.0);
    ack(&mut s, 3 * S + MS, 0, after(0, 0));
    assert_eq!(cwnd(&s, 0), 4.25);
    s.subflow_mut(0).cwnd = 8.9;
    s.take_out();
    ack(&mut s, 3 * S + 2 * MS, 0, after(0, 0));
    assert_eq!(out(&mut s).iter().filter(|o| o.3 == Why::New).count(), 1);
}

/// Only the first timeout of a subflow can pass step 2: two new acknowledgements in a row are a detection, which changes
/// nothing; after the second timeout they are not.
#[test]
fn f_rto_detects_at_most_the_first_timeout_of_a_subflow_and_does_nothing_then() {
    let mut s = steady(&frto(0.0), [8.0, 1.0]);
    s.on_timer(3 * S);
    ack(&mut s, 3 * S + MS, 0, after(0, 1));
    ack(&mut s, 3 * S + 2 * MS, 0, after(0, 2));
    assert_eq!(s.detections, 1);
    close(cwnd(&s, 0), 4.25 + 1.0 / 4.25, 1e-12);
    let at = s.subflows()[0].timer.unwrap();
    s.on_timer(at);
    ack(&mut s, at + MS, 0, after(0, 3));
    ack(&mut s, at + 2 * MS, 0, after(0, 4));
    assert_eq!(s.detections, 1);
}
