//! Worked numbers of the draft and of its functions.

use super::super::worked::{MSS, close};
use super::model::{inflight_at_loss, is_too_high};
use super::*;
use crate::sample::RateSample;

fn bbr() -> Bbr {
    Bbr::new(&Setup::new(MSS as u32, 10))
}

/// Twelve megabits and 40 ms: 1.5 million octets a second, 60 segments.
fn on_the_path() -> Bbr {
    let mut b = bbr();
    b.window.cwnd = 80.0 * MSS;
    b.bandwidth.bw = 1.5e6;
    b.min_rtt.least = Some((Duration::from_millis(40), Instant::ZERO));
    b.full.reached = true;
    b
}

fn sample(rate: f64) -> Sample {
    Sample {
        now: Instant::ZERO,
        rate,
        delivered: 0.0,
        prior_delivered: 0,
        acked: MSS,
        tx_in_flight: 100.0 * MSS,
        lost: 0.0,
        app_limited: false,
        rtt: None,
        in_flight: 60.0 * MSS,
        sack: true,
        fast: false,
    }
}

/// Rates of 4, 8, 11, 12, 12, 12 in six round trips: baselines 4, 8, 11, then three without a quarter more.
#[test]
fn the_pipe_is_full_after_three_rounds_without_growth() {
    let mut full = FullPipe::default();
    let mut seen = Vec::new();
    for rate in [4.0, 8.0, 11.0, 12.0, 12.0, 12.0] {
        full.check(&sample(rate), true);
        seen.push((full.bw, full.now));
    }
    assert_eq!(seen[..3], [(4.0, false), (8.0, false), (11.0, false)]);
    assert_eq!(seen[3..], [(11.0, false), (11.0, false), (11.0, true)]);
    assert!(full.reached);
    // Neither a sample within a round trip nor one that the application limited counts.
    let mut full = FullPipe::default();
    for _ in 0..9 {
        full.check(&Sample { app_limited: true, ..sample(1.0) }, true);
        full.check(&sample(1.0), false);
    }
    assert!(!full.now);
}

/// 2.77 * 12 Mbit/s * 0.99 = 32.9 Mbit/s in Startup; DOWN, CRUISE, UP at 0.9, 1, 1.25 of it.
#[test]
fn rates_of_the_states() {
    for (state, mbps) in [
        (State::Startup, 32.9076),
        (State::Drain, 5.94),
        (State::Down, 10.692),
        (State::Cruise, 11.88),
        (State::Refill, 11.88),
        (State::Up, 14.85),
        (State::ProbeRtt, 11.88),
    ] {
        let mut b = on_the_path();
        b.state = state;
        b.set_pacing_rate();
        close(b.pacing.unwrap() * 8e-6, mbps);
    }
    // Before the pipe was full the rate only rises. The first one: 2.77 initial windows in a round trip, or in a millisecond.
    let mut b = bbr();
    b.init_pacing_rate(Duration::from_millis(40));
    close(b.pacing.unwrap(), 2.77 * 10.0 * MSS / 0.04);
    b.bandwidth.bw = 1000.0;
    b.set_pacing_rate();
    close(b.pacing.unwrap(), 2.77 * 10.0 * MSS / 0.04);
    b.init_pacing_rate(Duration::ZERO);
    close(b.pacing.unwrap(), 2.77 * 10.0 * MSS / 0.001);
}

/// A quantum of a millisecond of 1.485 MB/s is less than two segments; three quanta are the allowance for offload.
#[test]
fn volumes() {
    let mut b = on_the_path();
    b.state = State::Cruise;
    b.set_pacing_rate();
    assert_eq!(b.send_quantum(), 2000.0);
    close(b.bdp(1.0), 60.0 * MSS);
    close(b.inflight(0.05), 6.0 * MSS);
    close(b.probe_rtt_cwnd(), 30.0 * MSS);
    b.state = State::Up;
    close(b.inflight(1.0), 62.0 * MSS);
    // Headroom: 0.15, a segment at the least, four segments left.
    for (long, left) in [(100.0, 85.0), (6.0, 5.0), (4.0, 4.0)] {
        b.losses.inflight_long = long * MSS;
        close(b.inflight_with_headroom(), left * MSS);
    }
    // Less than a segment of bandwidth-delay product: four segments in ProbeRTT.
    b.bandwidth.bw = 1000.0;
    close(b.probe_rtt_cwnd(), 4.0 * MSS);
}

/// Of 100 segments in flight the third loss is too much. 99 before it, one of them lost: (0.02 * 99 - 1) / 0.98 = 1 segment more.
#[test]
fn two_per_cent_of_loss_are_too_much() {
    assert!(!is_too_high(2.0, 100.0, true) && is_too_high(3.0, 100.0, true));
    assert!(is_too_high(1.0, 100.0, false) && !is_too_high(0.0, 100.0, false));
    close(inflight_at_loss(100.0, 2.0, 1.0), 100.0);
}

fn lost(n: u64, lost: u64, tx_in_flight: u64) -> LostSegment {
    let (seq, len) = (crate::seq::Seq(n * 2000), 1000);
    let (lost, tx_in_flight) = (lost * 1000, tx_in_flight * 1000);
    LostSegment { now: Instant::ZERO, seq, len, tx_in_flight, lost, app_limited: false, sack: true }
}

/// In UP, with 100 in flight: nothing at the second loss; at the third (2 before it, 99 in flight before): 99 + (1.98 - 2) / 0.98. The
/// probe ends, and later losses of it are not judged.
#[test]
fn a_probe_that_loses_too_much_sets_the_long_term_bound_once() {
    let mut b = on_the_path();
    (b.state, b.losses.judges_probe) = (State::Up, true);
    b.handle_lost_segment(&lost(1, 1, 100));
    b.handle_lost_segment(&lost(2, 2, 100));
    assert!(b.losses.inflight_long.is_infinite() && b.state == State::Up);
    b.handle_lost_segment(&lost(3, 3, 100));
    close(b.losses.inflight_long, 99.0 * MSS + (1.98 - 2.0) / 0.98 * MSS);
    assert!(b.state == State::Down && b.losses.probe_too_high && !b.losses.judges_probe);
    b.handle_lost_segment(&lost(4, 9, 50));
    close(b.losses.inflight_long, 99.0 * MSS + (1.98 - 2.0) / 0.98 * MSS);
}

/// Never below 0.7 of the lesser of window and bandwidth-delay product: of 80 and 60 segments 42. What the application limited sets nothing.
#[test]
fn the_long_term_bound_falls_by_no_more_than_cubic() {
    let mut b = on_the_path();
    b.losses.judges_probe = true;
    b.handle_lost_segment(&lost(1, 3, 20));
    close(b.losses.inflight_long, 42.0 * MSS);
    let mut b = on_the_path();
    b.losses.judges_probe = true;
    b.handle_lost_segment(&LostSegment { app_limited: true, ..lost(1, 3, 20) });
    assert!(b.losses.inflight_long.is_infinite() && b.losses.probe_too_high);
}

/// A round trip with a loss while cruising: max_bw is 12, the latest rate 9: max(9, 0.7 * 12) = 9. The next at 5: max(5, 6.3).
#[test]
fn losses_lower_the_short_term_bandwidth_once_a_round() {
    let mut b = on_the_path();
    b.state = State::Cruise;
    b.bandwidth.update(&sample(12.0));
    let mut round = |rate: f64| {
        b.losses.note(b.delivered);
        b.losses.update_latest(&sample(rate), b.delivered);
        b.update_congestion_signals(&sample(rate));
        b.losses.reset_signals();
        b.bandwidth.short
    };
    close(round(9.0), 9.0);
    close(round(5.0), 6.3);
    // Not while probing.
    b.state = State::Up;
    b.losses.note(0);
    b.losses.update_latest(&sample(1.0), 0);
    b.update_congestion_signals(&sample(1.0));
    close(b.bandwidth.short, 6.3);
    b.reset_short_term();
    assert!(b.bandwidth.short.is_infinite());
}

/// A rate is forgotten after the probing cycle that follows it; what the application limits counts only if it is larger.
#[test]
fn the_maximum_is_of_two_cycles() {
    let mut bw = Bandwidth::default();
    let limited = |rate| Sample { app_limited: true, ..sample(rate) };
    bw.update(&sample(10.0));
    bw.update(&limited(7.0));
    assert_eq!(bw.max(), 10.0);
    bw.update(&limited(11.0));
    assert_eq!(bw.max(), 11.0);
    bw.advance();
    bw.update(&sample(2.0));
    assert_eq!(bw.max(), 11.0);
    bw.advance();
    assert_eq!(bw.max(), 2.0);
}

/// In UP with a window of 80 at its bound: a segment for each 80, 40, 20, 10, 5, 2.5 segments acknowledged.
#[test]
fn the_long_term_bound_rises_faster_each_round() {
    let mut b = on_the_path();
    (b.state, b.losses.inflight_long, b.limited) = (State::Refill, 80.0 * MSS, [true; 2]);
    let mut each = Vec::new();
    for _ in 0..6 {
        b.raise_slope();
        each.push(b.cycle.up_acked_per_segment / MSS);
    }
    assert_eq!(each, [80.0, 40.0, 20.0, 10.0, 5.0, 2.5]);
}

/// ProbeRTT is due when five seconds have passed without a lower round-trip time; the minimum is kept for ten.
#[test]
fn the_minimum_round_trip_time_is_kept_for_ten_seconds() {
    let ms = Duration::from_millis;
    let mut m = MinRtt::default();
    let at = |s: u64, rtt| Sample { now: Instant(s * 1_000_000_000), rtt: Some(ms(rtt)), ..sample(0.0) };
    assert!(!m.update(&at(1, 40)));
    assert!(!m.update(&at(6, 50)));
    assert!(m.update(&at(7, 50)));
    assert_eq!(m.seconds(), Some(0.04));
    assert!(m.update(&at(13, 60)));
    assert_eq!(m.seconds(), Some(0.06));
    assert!(!m.update(&at(14, 45)));
    assert_eq!(m.seconds(), Some(0.045));
}

/// Acknowledgements of ten segments each 10 ms at a bandwidth of a megabyte a second: nothing extra but the burst itself.
#[test]
fn bursts_of_acknowledgements_widen_the_window() {
    let mut b = on_the_path();
    b.bandwidth.bw = 1e6;
    for n in 1..30_u64 {
        b.update_aggregation(&Sample { now: Instant(n * 10_000_000), acked: 10.0 * MSS, ..sample(0.0) });
    }
    close(b.aggregation.extra(0, true), 10.0 * MSS);
}

/// A timeout leaves one segment, and fast recovery the window as it is; the end of either restores what was before. Each
/// acknowledgement adds a segment, and the one after the timeout fills up to four.
#[test]
fn recovery_ends_with_the_window_before_it() {
    for (cause, left, after) in [(Cause::Timeout, 1.0, 81.0), (Cause::FastRetransmit, 80.0, 82.0)] {
        let mut b = on_the_path();
        b.bandwidth.update(&sample(1.5e6));
        let flight_size = 80_000;
        b.on_congestion(&Congestion { now: Instant::ZERO, cause, flight_size, repeated: false, nested: false }, &[], 0);
        close(b.window.cwnd / MSS, left);
        let rate = RateSample { delivered: 1000, interval: Duration::from_millis(40), ..RateSample::default() };
        let ack = AckSample { acked: 1000, rate: Some(rate), sack: true, ..AckSample::default() };
        let path = |recovery| [Path { recovery, ..Path::default() }];
        b.on_other_ack(&ack, &path(Recovery::Loss), 0);
        assert!(b.window.cwnd <= 81.0 * MSS);
        b.on_ack(&ack, &path(Recovery::Open), 0);
        close(b.window.cwnd / MSS, after);
    }
}

/// ProbeInflightLongtermUpward: a segment for each two acknowledged; what is left over counts with the next ones.
#[test]
fn the_long_term_bound_rises_by_the_slope() {
    let mut b = on_the_path();
    b.limited = [true, true];
    b.losses.inflight_long = 70.0 * MSS;
    b.cycle.up_acked_per_segment = 2.0 * MSS;
    let mut bounds = Vec::new();
    for acked in [5.0, 1.0, 1.0, 2.0] {
        b.raise_long_term(&Sample { acked: acked * MSS, ..sample(1.5e6) });
        bounds.push(b.losses.inflight_long / MSS);
    }
    assert_eq!(bounds, [72.0, 73.0, 73.0, 74.0]);
}

/// CheckStartupHighLoss looks at losses: fast retransmit alone, of something the sample does not count as lost, ends nothing.
#[test]
fn without_a_loss_startup_goes_on() {
    assert!(!on_the_path().startup_loses_much(&Sample { sack: false, fast: true, ..sample(1.0) }));
}

/// UpdateMinRTT: "Now() > BBR.min_rtt_stamp + MinRTTFilterLen", of ten seconds, and "BBR.probe_rtt_min_stamp + ProbeRTTInterval", of five: not at that
/// very moment.
#[test]
fn a_minimum_is_stale_after_its_time_and_not_with_it() {
    let second = |s: u64| Instant(s * 1_000_000_000);
    let at = |now, ms| Sample { now, rtt: Some(Duration::from_millis(ms)), ..sample(1.0) };
    let least = |m: &MinRtt| m.least.map(|(rtt, _)| rtt.0 / 1_000_000);
    let mut m = MinRtt::default();
    // No round trip takes no time: such a sample has none.
    m.update(&at(second(0), 0));
    assert_eq!(least(&m), None);
    assert!(!m.update(&at(second(0), 50)) && !m.update(&at(second(5), 60)));
    assert!(m.update(&at(Instant(second(5).0 + 1), 60)));
    m.update(&at(second(10), 70));
    assert_eq!(least(&m), Some(50));
    m.update(&at(Instant(second(10).0 + 1), 70));
    assert_eq!(least(&m), Some(60));
}
