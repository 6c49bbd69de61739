//! RACK-TLP (RFC 8985) over whole connections: what is displaced, what is lost, the last segments of a flight.

use anabranch_stack::Config;
use anabranch_stack::controller::Cause;
use anabranch_stack::event::{Event, SendKind};
use anabranch_stack::segment::{Ecn, Segment};

use crate::pair::{Fate, Packet, Pair, Side, at, ms, tcp};

fn rack() -> Config {
    tcp().detector("rack".parse().unwrap())
}

/// The same with neighbours that must not matter: ECN, and F-RTO as judge.
fn racks() -> [Config; 3] {
    [rack(), rack().ecn(true), rack().judge("frto".parse().unwrap())]
}

fn cuts(pair: &Pair) -> Vec<Cause> {
    let cause = |e: &(_, Event)| if let Event::Congestion { cause, .. } = e.1 { Some(cause) } else { None };
    pair[Side::A].events.iter().filter_map(cause).collect()
}

/// What the client sent again: when, which segment of 1000 octets, why.
fn again(pair: &Pair) -> Vec<(u64, u64, SendKind)> {
    let ms_of = |p: &Packet| (p.at.0 - at(1000).0) / 1_000_000;
    let sent = pair.log.iter().filter(|p| p.transmit.transmissions > 1);
    sent.map(|p| (ms_of(p), p.segment().payload.offset / 1000, p.transmit.kind)).collect()
}

/// 20 ms each way, ten segments a millisecond apart. Segment 2 is behind three others, which shows reordering; segment 6 then is
/// late by 9 ms: within the window of a quarter of 40 ms, so that nothing is sent again. By 11 ms: it is.
/// RFC 8985 4.
/// RFC 8985 6.2.
#[test]
fn what_is_late_by_less_than_the_reordering_window_is_not_lost() {
    for ((late, copies), rack) in [(9, 0), (11, 1)].into_iter().flat_map(|case| racks().map(|rack| (case, rack))) {
        let mut pair = Pair::new(rack.clone(), rack, ms(20));
        pair.run_until(at(1000));
        pair.filter(move |p| match p.data_n {
            Some(2) => Fate::Late(ms(3)),
            Some(6) => Fate::Late(ms(late)),
            _ => Fate::Pass,
        });
        for t in 0..10 {
            pair.write(Side::A, 1000);
            pair.run_until(at(1001 + t));
        }
        pair.run_until(at(3000));
        assert_eq!((pair[Side::B].read, again(&pair).len()), (10_000, copies), "{late} ms: {:?}", again(&pair));
    }
}

/// 20 ms each way, five segments a millisecond apart, and the first is lost. Without reordering the third SACK, at 43 ms, is enough; where
/// reordering was seen before, it is lost when it is late by a quarter of 40 ms: at 0 + 40 + 10.
/// RFC 8985 3.3.2, 6.2.
#[test]
fn the_first_of_five_is_lost_at_the_third_sack_or_by_the_timer() {
    for ((displaced, lost_at), rack) in
        [(false, 43), (true, 50)].into_iter().flat_map(|case| racks().map(|rack| (case, rack)))
    {
        let mut pair = Pair::new(rack.clone(), rack, ms(20));
        pair.filter(move |p| match p.data_n {
            Some(1) if displaced => Fate::Late(ms(3)),
            Some(5) => Fate::Drop,
            _ => Fate::Pass,
        });
        for start in [800, 1000] {
            for t in 0..5 {
                pair.run_until(at(start + t));
                pair.write(Side::A, 1000);
            }
        }
        pair.run_until(at(3000));
        assert_eq!((pair[Side::B].read, again(&pair)), (10_000, vec![(lost_at, 5, SendKind::Fast)]));
        assert_eq!(cuts(&pair), [Cause::FastRetransmit]);
    }
}

/// 10 ms each way. The last two of ten segments are lost. 20: the eighth is acknowledged, 2 SRTT later, at 60, the last one is sent
/// again; 80: its SACK shows that the ninth, sent 60 ms earlier, is lost; it is sent again and all is there at 90. Without a probe
/// nothing is sent again before the retransmission timer at 220.
/// RFC 8985 7.2, 7.3.
#[test]
fn a_tail_is_probed_after_two_round_trips() {
    let end = |config: Config| {
        let mut pair = Pair::new(config.clone(), config, ms(10));
        pair.run_until(at(1000));
        pair.filter(|p| if matches!(p.data_n, Some(8 | 9)) { Fate::Drop } else { Fate::Pass });
        pair.write(Side::A, 10_000);
        pair.run_until(at(3000));
        assert_eq!(pair[Side::B].read, 10_000);
        (again(&pair), cuts(&pair))
    };
    for rack in racks() {
        let (sent, cuts) = end(rack);
        assert_eq!(sent, [(60, 9, SendKind::TailProbe), (80, 8, SendKind::Fast)]);
        assert_eq!(cuts, [Cause::FastRetransmit]);
    }
    let (sent, cuts) = end(tcp());
    assert_eq!(sent[0], (220, 8, SendKind::Timeout));
    assert_eq!(cuts, [Cause::Timeout]);
}

/// The last segment alone is lost: the probe waits for an acknowledgement that may be delayed and leaves when the retransmission timer
/// would expire, in its stead. It repairs the loss, which the first acknowledgement beyond it shows: the window is cut once.
/// RFC 8985 7.2, 7.4.2.
#[test]
fn a_probe_that_repaired_a_loss_cuts_the_window_when_that_is_known() {
    for rack in racks() {
        let mut pair = Pair::new(rack.clone(), rack, ms(10));
        pair.run_until(at(1000));
        pair.filter(|p| if p.data_n == Some(9) { Fate::Drop } else { Fate::Pass });
        pair.write(Side::A, 10_000);
        pair.run_until(at(2000));
        assert_eq!((again(&pair), cuts(&pair)), (vec![(220, 9, SendKind::TailProbe)], vec![]));
        pair.write(Side::A, 1000);
        pair.run_until(at(3000));
        assert_eq!((pair[Side::B].read, cuts(&pair)), (11_000, vec![Cause::FastRetransmit]));
    }
}

/// Of three segments behind the probe the second arrives first, with a mark of congestion, which cuts the window. That the probe has repaired a loss
/// is known when the first is acknowledged, in the same window of data: no more than one cut (RFC 3168 6.1.2).
/// RFC 8985 7.4.2.
#[test]
fn a_probe_that_repaired_a_loss_does_not_cut_a_window_that_was_cut() {
    let config = rack().ecn(true);
    let mut pair = Pair::new(config.clone(), config, ms(10));
    pair.run_until(at(1000));
    pair.filter(|p| match p.data_n {
        Some(9) => Fate::Drop,
        Some(11) => Fate::Late(ms(1)),
        Some(12) => Fate::As(Segment { ecn: Ecn::Ce, ..*p.segment() }),
        _ => Fate::Pass,
    });
    pair.write(Side::A, 10_000);
    pair.run_until(at(2000));
    assert_eq!((again(&pair), cuts(&pair)), (vec![(220, 9, SendKind::TailProbe)], vec![]));
    pair.write(Side::A, 3000);
    pair.run_until(at(3000));
    assert_eq!((pair[Side::B].read, cuts(&pair)), (13_000, vec![Cause::Ecn]));
}

/// Nothing was lost, the acknowledgements were late by 60 ms: the probe is reported as a duplicate, and the window stays.
/// RFC 8985 7.4.2.
#[test]
fn a_probe_that_was_not_needed_costs_nothing() {
    for rack in racks() {
        let mut pair = Pair::new(rack.clone(), rack, ms(10));
        pair.run_until(at(1000));
        pair.filter(|p| {
            if p.from == Side::B && p.at >= at(1000) && p.at < at(1060) { Fate::Late(ms(60)) } else { Fate::Pass }
        });
        pair.write(Side::A, 10_000);
        pair.run_until(at(2000));
        let sent = again(&pair);
        assert!(sent.len() == 1 && sent[0].2 == SendKind::TailProbe, "{sent:?}");
        pair.write(Side::A, 1000);
        pair.run_until(at(3000));
        assert_eq!((pair[Side::B].read, cuts(&pair)), (11_000, vec![]));
    }
}

/// With new data at hand that the window has no room for, the probe is new data.
/// RFC 8985 7.3.
#[test]
fn a_probe_is_new_data_if_there_is_some() {
    let config = rack().initial_window(4);
    let mut pair = Pair::new(config.clone(), config, ms(10));
    pair.run_until(at(1000));
    pair.filter(|p| if p.from == Side::B && p.at >= at(1000) && p.at < at(1100) { Fate::Drop } else { Fate::Pass });
    pair.write(Side::A, 20_000);
    pair.run_until(at(5000));
    assert_eq!(pair[Side::B].read, 20_000);
    let probe = pair.log.iter().find(|p| p.transmit.kind == SendKind::TailProbe).expect("a probe");
    assert_eq!((probe.transmit.transmissions, probe.segment().payload.offset), (1, 4000));
}

/// A retransmission is lost, too: it is found and sent again without a timeout, and answered by another cut unless the window comes down in
/// proportion.
/// RFC 8985 9.3, RFC 5681 4.3.
#[test]
fn a_lost_retransmission_is_sent_again_without_a_timeout() {
    let reductions = [("rfc6675", 2), ("prr", 1)];
    let mut thresholds = Vec::new();
    for (reduction, number, rack) in reductions.into_iter().flat_map(|(r, n)| racks().map(|rack| (r, n, rack))) {
        let rack = rack.reduction(reduction.parse().unwrap());
        let mut pair = Pair::new(rack.clone(), rack, ms(20));
        pair.run_until(at(1000));
        let mut copies = 0;
        pair.filter(move |p| {
            let first = p.data_n == Some(3);
            let copy = p.from == Side::A && p.transmit.transmissions == 2;
            copies += u32::from(copy);
            if first || (copy && copies == 1) { Fate::Drop } else { Fate::Pass }
        });
        pair.write(Side::A, 100_000);
        pair.run_until(at(5000));
        assert_eq!((pair[Side::B].read, cuts(&pair)), (100_000, vec![Cause::FastRetransmit; number]), "{reduction}");
        let kinds: Vec<_> = again(&pair).into_iter().map(|(_, n, kind)| (n, kind)).collect();
        assert_eq!(kinds, [(3, SendKind::Fast), (3, SendKind::Fast)]);
        thresholds.push(pair[Side::A].conn().subflows()[0].ssthresh());
    }
    assert!((0..3).all(|i| thresholds[i] <= 0.5 * thresholds[3 + i]), "{thresholds:?}");
}

/// Without SACK nothing is probed: the timer finds the loss, as it does with NewReno.
/// RFC 8985 4.
#[test]
fn nothing_is_probed_without_sack() {
    for detector in ["rack", "rfc6675"] {
        let config = tcp().detector(detector.parse().unwrap()).sack(false);
        let mut pair = Pair::new(config.clone(), config, ms(10));
        pair.run_until(at(1000));
        pair.filter(|p| if p.data_n == Some(0) { Fate::Drop } else { Fate::Pass });
        pair.write(Side::A, 1000);
        pair.run_until(at(3000));
        let sent = again(&pair);
        assert!(sent.len() == 1 && sent[0].2 == SendKind::Timeout, "{detector}: {sent:?}");
        assert_eq!((pair[Side::B].read, cuts(&pair)), (1000, vec![Cause::Timeout]), "{detector}");
    }
}

/// 1, 9.3: recommended, with PRR; so it is what one gets.
#[test]
fn the_default_is_rack() {
    let config = Config::default();
    assert_eq!((config.detector.name(), config.reduction.name()), ("rack", "prr"));
}

/// 7.3: the path is silent from 1 s on. One probe leaves after two round trips (40 ms); then the retransmission timer runs from the probe on, 200 ms,
/// and no further probe leaves: no round trip has been sampled.
#[test]
fn one_probe_and_then_the_timeout() {
    let mut pair = Pair::new(rack(), rack(), ms(10));
    pair.run_until(at(1000));
    pair.filter(|_| Fate::Drop);
    pair.write(Side::A, 5000);
    pair.run_until(at(1050));
    // New data start the probe timer again, for 90: the probe of 40 is still out.
    pair.write(Side::A, 1000);
    pair.run_until(at(1700));
    let kinds = again(&pair);
    assert_eq!(kinds, [(40, 4, SendKind::TailProbe), (240, 0, SendKind::Timeout), (640, 0, SendKind::Timeout)]);
}

/// 7.2: no probe in recovery. The first of ten segments is lost, and its retransmission, too; what would be a probe after 40 ms is left to the timer.
#[test]
fn nothing_is_probed_in_recovery() {
    let mut pair = Pair::new(rack(), rack(), ms(10));
    pair.run_until(at(1000));
    let lost = |p: &Packet| p.from == Side::A && !(1..10_000).contains(&p.segment().payload.offset);
    pair.filter(move |p| if p.segment().payload.len > 0 && lost(p) { Fate::Drop } else { Fate::Pass });
    pair.write(Side::A, 10_000);
    pair.run_until(at(1050));
    // All but the first are SACKed by now. New data start no probe timer either.
    pair.write(Side::A, 1000);
    pair.run_until(at(1600));
    let kinds: Vec<_> = again(&pair).into_iter().map(|(_, n, kind)| (n, kind)).collect();
    assert_eq!(kinds[..2], [(0, SendKind::Fast), (0, SendKind::Timeout)]);
}

/// 9.2: the rules of RFC 6675 go by sequence: three segments SACKed above make a segment lost. Here it is late by no more than others were: not lost.
#[test]
fn with_rack_only_what_is_late_is_lost() {
    for (config, needless) in [(rack(), false), (tcp(), true)] {
        let mut pair = Pair::new(config.clone(), config, ms(20));
        pair.run_until(at(1000));
        // The first displacement shows reordering, without three behind it.
        pair.filter(|p| match p.data_n {
            Some(0) => Fate::Late(ms(2)),
            Some(4) => Fate::Late(ms(8)),
            _ => Fate::Pass,
        });
        for t in 0..10 {
            pair.write(Side::A, 1000);
            pair.run_until(at(1001 + t));
        }
        pair.run_until(at(3000));
        assert_eq!((pair[Side::B].read, !again(&pair).is_empty()), (10_000, needless));
    }
}
