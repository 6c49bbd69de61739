//! Worked examples of controllers that count acknowledgements or the windows of siblings, and tools for such examples.

use super::{Adjust, Cause, Congestion, Controller};
use crate::path::Path;
use crate::registry::{Choice, Fairness, Registry, Setup};
use crate::sample::AckSample;
use crate::time::{Duration, Instant};

pub(super) const MSS: f64 = 1000.0;

/// Established subflows with these windows (segments) and round-trip times (ms).
pub(super) fn rows(paths: &[(f64, u64)]) -> Vec<Path> {
    let row = |&(cwnd, ms): &(f64, u64)| Path {
        established: true,
        cwnd: cwnd * MSS,
        srtt: Duration::from_millis(ms),
        ..Path::default()
    };
    paths.iter().map(row).collect()
}

/// A controller, as in `aimd b=0.7`, on the first of several subflows, in congestion avoidance.
pub(super) fn first_of(name: &str, paths: &[(f64, u64)]) -> (Box<dyn Controller>, Vec<Path>) {
    let mut words = name.split(' ');
    let choice = words.next().unwrap().parse::<Choice<dyn Controller>>().unwrap();
    let choice = words.fold(choice, |choice, word| {
        let (parameter, value) = word.split_once('=').unwrap();
        choice.with(parameter, value.parse().unwrap()).unwrap()
    });
    let mut c = choice.make(&Setup::new(MSS as u32, 10));
    c.adjust(Adjust::Cached { cwnd: paths[0].0 * MSS, ssthresh: MSS });
    (c, rows(paths))
}

/// Each change of its window while `acks` segments are acknowledged: after how many, and the window in segments.
pub(super) fn changes(name: &str, paths: &[(f64, u64)], acks: u64) -> Vec<(u64, f64)> {
    let (mut c, rows) = first_of(name, paths);
    let ack = AckSample { growth: 1000, cwnd_limited: true, ..AckSample::default() };
    let mut seen = Vec::new();
    for n in 1..=acks {
        let before = c.window().cwnd;
        c.on_ack(&ack, &rows, 0);
        if c.window().cwnd != before {
            seen.push((n, c.window().cwnd / MSS));
        }
    }
    seen
}

/// Growth of its window by one acknowledgement of `acked` segments, in segments.
pub(super) fn gain(name: &str, paths: &[(f64, u64)], acked: u64) -> f64 {
    let (mut c, rows) = first_of(name, paths);
    c.on_ack(&AckSample { growth: acked * 1000, cwnd_limited: true, ..AckSample::default() }, &rows, 0);
    c.window().cwnd / MSS - paths[0].0
}

/// Its window after a loss with a full window in flight, in segments.
pub(super) fn after_loss(name: &str, paths: &[(f64, u64)]) -> f64 {
    let (mut c, rows) = first_of(name, paths);
    let flight_size = c.window().octets();
    let cause = Cause::FastRetransmit;
    let loss = Congestion { now: Instant::ZERO, cause, flight_size, repeated: false, nested: false };
    c.on_congestion(&loss, &rows, 0);
    c.window().cwnd / MSS
}

#[track_caller]
pub(super) fn close(found: f64, wanted: f64) {
    assert!((found - wanted).abs() < 1e-9, "{found}, not {wanted}");
}

/// Windows of 10 segments at 10 ms and 60 segments at 200 ms (the example in `linked_increases`): alpha / W is 1/17 on
/// either. By hand, in segments and ms: total 70, best 10/100, sum 1 + 0.3; alpha = 70 * 0.1 / 1.69 = 4.142, alpha / 70 = 0.1
/// / 1.69 = 0.0592.
#[test]
fn linked_increases_take_alpha_over_the_total_without_a_cap() {
    let (fast, slow) = ((10.0, 10), (60.0, 200));
    close(gain("linked-increases", &[slow, fast], 1), 0.1 / 1.69);
    close(gain("linked-increases", &[fast, slow], 1), 0.1 / 1.69);
    // It counts acknowledgements, not acknowledged octets.
    close(gain("linked-increases", &[slow, fast], 2), 0.1 / 1.69);
    close(after_loss("linked-increases", &[slow, fast]), 30.0);
}

/// The same paths: on the slow one the cap 1/60 applies, on the fast one 0.0592 is below 1/10.
#[test]
fn the_rtt_compensator_takes_no_more_than_a_tcp() {
    let (fast, slow) = ((10.0, 10), (60.0, 200));
    close(gain("rtt-compensator", &[slow, fast], 1), 1.0 / 60.0);
    close(gain("rtt-compensator", &[fast, slow], 1), 0.1 / 1.69);
    close(after_loss("rtt-compensator", &[slow, fast]), 30.0);
}

/// With one acknowledgement per segment both grow alike. With one for two segments `coupled` counts both segments.
#[test]
fn the_rtt_compensator_equals_coupled_with_an_acknowledgement_a_segment() {
    for paths in [[(10.0, 10), (60.0, 200)], [(60.0, 200), (10.0, 10)], [(20.0, 50), (20.0, 50)]] {
        close(gain("rtt-compensator", &paths, 1), gain("coupled", &paths, 1));
        close(2.0 * gain("rtt-compensator", &paths, 2), gain("coupled", &paths, 2));
    }
}

/// Equations (3) and (4): an acknowledgement adds 1/W, a loss subtracts W/2. With 20 and 10 segments: 1/30, and 20 - 15. A
/// window smaller than W/2 is reduced to one segment.
#[test]
fn fully_coupled_is_one_window_over_all_paths() {
    let (large, small) = ((20.0, 50), (10.0, 200));
    close(gain("fully-coupled", &[large, small], 1), 1.0 / 30.0);
    close(gain("fully-coupled", &[small, large], 1), 1.0 / 30.0);
    close(gain("fully-coupled", &[small, large], 2), 1.0 / 30.0);
    close(after_loss("fully-coupled", &[large, small]), 5.0);
    close(after_loss("fully-coupled", &[small, large]), 1.0);
    close(after_loss("fully-coupled", &[large]), 10.0);
}

/// d = 1/n^2 segments per window. With two subflows and a window of 20: 1/80 per acknowledged segment; alone 1/20; half at a
/// loss.
#[test]
fn ewtcp_is_the_nth_part_of_a_tcp() {
    let path = (20.0, 50);
    close(gain("ewtcp", &[path], 1), 1.0 / 20.0);
    close(gain("ewtcp", &[path, (5.0, 10)], 1), 1.0 / 80.0);
    close(gain("ewtcp", &[path, (5.0, 10), (5.0, 10)], 2), 2.0 / 180.0);
    close(after_loss("ewtcp", &[path, (5.0, 10)]), 10.0);
}

/// A subflow that is not established counts for no other subflow: neither its window nor its existence matters.
#[test]
fn subflows_that_are_not_established_count_for_nobody() {
    for entry in Registry::<dyn Controller>::default().iter() {
        let outcome = |sibling: Option<Path>| {
            let (mut c, mut paths) = first_of(entry.name(), &[(20.0, 50)]);
            paths.extend(sibling);
            // Round trips of 100 ms over a minimum of 50 ms: there is a queue to share.
            for n in 0..60 {
                let rtt = Some(Duration::from_millis(if n < 5 { 50 } else { 100 }));
                let round = n % 20 == 19;
                let ack = AckSample { growth: 1000, cwnd_limited: true, rtt, round, ..AckSample::default() };
                c.on_ack(&ack, &paths, 0);
            }
            let cause = Cause::FastRetransmit;
            let flight_size = c.window().octets();
            let loss = Congestion { now: Instant::ZERO, cause, flight_size, repeated: false, nested: false };
            c.on_congestion(&loss, &paths, 0);
            *c.window()
        };
        let joining = Path { established: false, vegas_rate: 1e6, ..rows(&[(90.0, 1)])[0] };
        assert_eq!(outcome(Some(joining)), outcome(None), "{}", entry.name());
        // Check the test itself: an established subflow does count for controllers that couple subflows.
        let coupled = entry.info().fairness == Some(Fairness::Connection);
        let counts = outcome(Some(Path { established: true, ..joining })) != outcome(None);
        assert_eq!(counts, coupled, "{}", entry.name());
    }
}
