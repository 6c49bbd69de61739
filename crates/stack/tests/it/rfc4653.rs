//! TCP-NCR (RFC 4653) and thresholds that grow with reordering (Blanton and Allman 2002), over whole connections.

use anabranch_stack::Config;
use anabranch_stack::detector::Detector;
use anabranch_stack::judge::Response;
use anabranch_stack::registry::Choice;

use crate::pair::{Fate, Pair, Side, at, ms, tcp};

fn detector(name: &str, parameter: &str, value: f64) -> Config {
    let detector: Choice<dyn Detector> = name.parse().unwrap();
    // A window that is cut in vain is restored.
    let (judge, response) = ("dsack".parse().unwrap(), Response::Restore);
    tcp().detector(detector.with(parameter, value).unwrap()).judge(judge).response(response).initial_window(400)
}

/// A segment of 1000 octets a millisecond, 20 ms each way: 40 in flight. Each segment of `late` comes so many milliseconds late. Returns how
/// many segments were sent again.
fn again(config: &Config, late: &'static [u64], by: u64) -> usize {
    let mut pair = Pair::new(config.clone(), config.clone(), ms(20));
    pair.run_until(at(1000));
    pair.filter(move |p| match p.data_n {
        Some(n) if late.contains(&n) && p.transmit.transmissions == 1 => Fate::Late(ms(by)),
        _ => Fate::Pass,
    });
    for t in 0..600 {
        pair.write(Side::A, 1000);
        pair.run_until(at(1001 + t));
    }
    pair.run_until(at(9000));
    assert_eq!(pair[Side::B].read, 600_000);
    pair.log.iter().filter(|p| p.transmit.transmissions > 1 && p.segment().payload.len > 0).count()
}

/// 3.1: a segment is lost when half of the flight is SACKed above it (aggressive). The flight of 40 grows by one with each SACK, so that is
/// the case after 40 of them, a round trip; careful, with two thirds, after 80.
#[test]
fn a_segment_late_by_a_round_trip_is_not_lost() {
    for (careful, tolerated) in [(0.0, 40), (1.0, 80)] {
        let config = detector("ncr", "careful", careful);
        for (by, copies) in [(tolerated - 4, 0), (tolerated + 4, 1)] {
            // Then the last segment is, too (RFC 6675 4, NextSeg rule (4)): the application has no new data.
            assert_eq!(again(&config, &[100], by) > 0, copies > 0, "careful {careful}, {by} ms");
        }
    }
    // With three duplicates it is sent again.
    assert_eq!(again(&tcp(), &[100], 5), 1);
}

/// Segments 100 and 300 come 11 behind the others. The first is sent again in vain, after three duplicates; its report makes the threshold
/// 4, 53, 7 or 5: 53 is enough for the two that follow. Linux learns from segments that were not sent again, so from none of these.
#[test]
fn the_threshold_grows_with_what_is_reported() {
    for (variant, copies) in [(0.0, 3), (1.0, 1), (2.0, 3), (3.0, 3), (4.0, 3)] {
        let config = detector("reordering-degree", "variant", variant);
        assert_eq!(again(&config, &[100, 300, 400], 11), copies, "variant {variant}");
    }
}

/// 3: "TCP-NCR is only used when SACK is": without it the third duplicate calls for the retransmission, 43 ms after the segment that is lost left, and no
/// timeout is waited for.
#[test]
fn without_sack_three_duplicates_are_enough() {
    let config = detector("ncr", "careful", 0.0);
    let mut pair = Pair::new(config.clone(), config.sack(false).judge(tcp().judge), ms(20));
    pair.run_until(at(1000));
    pair.filter(|p| if p.data_n == Some(10) && p.transmit.transmissions == 1 { Fate::Drop } else { Fate::Pass });
    for t in 0..100 {
        pair.write(Side::A, 1000);
        pair.run_until(at(1001 + t));
    }
    pair.run_until(at(9000));
    let again: Vec<_> =
        pair.log.iter().filter(|p| p.transmit.transmissions > 1 && p.from == Side::A).map(|p| p.at).collect();
    assert!(again.len() == 1 && again[0] <= at(1060), "{again:?}");
}
