//! Exchanges frame by frame: how long each frame is on the air, what its duration field reserves,
//! and how long it follows the one before.

use std::ops::ControlFlow;

use super::{Frame, Medium, Outcome};
use crate::aggregate::Limits;
use crate::channel::{Fading, PathLoss};
use crate::edca::Category;
use crate::error::Model;
use crate::high::Chunk;
use crate::mobility::{Course, Movement};
use crate::phy::{Band, Like, Standard, US};
use crate::rate::Choice;
use crate::station::{Kind, NEVER};
use crate::{Air, HighThroughput, Wifi};

/// Octets of a packet: 1536 with the overhead of 802.11a, 1538 with that of 802.11n.
const PACKET: u32 = 1500;

/// A link over 5 m with the usual values of a scenario: 54 Mbit/s, or with 802.11n MCS 7.
fn wifi(standard: Standard) -> Wifi {
    let (streams, guard) = (1, 800);
    let later = standard.format().map(|_| HighThroughput {
        streams,
        guard,
        limits: Limits { ampdu: 65_535, amsdu: 0, window: 64 },
        category: Category::BestEffort,
        txop: None,
    });
    Wifi {
        channel: "air".into(),
        air: Air {
            standard,
            width: 20,
            band: Band::Five,
            like: Like::Standard,
            ad_hoc: false,
            path_loss: PathLoss::LogDistance { exponent: 3.0, reference_db: 46.6777, reference_m: 1.0 },
            fading: Fading::None,
            error_model: Model::Table,
            preamble_detection: true,
            noise_figure_db: 7.0,
        },
        station: Movement { start: [5.0, 0.0], course: Course::Rest },
        access_point: [0.0, 0.0],
        wired: false,
        rate: if later.is_some() { Choice::Mcs { mcs: 7, streams, guard } } else { Choice::Constant(54_000) },
        tx_power_dbm: 16.02,
        retry_limit: 7,
        rts_threshold: None,
        queue: 500,
        max_age: 500_000_000,
        high: later,
    }
}

/// A link as ns-3 has it, without aggregation.
fn like_ns3() -> Wifi {
    let mut wifi = single();
    wifi.air.like = Like::Ns3;
    wifi.rts_threshold = Some(65_535);
    wifi
}

/// A link of 802.11n without aggregation.
fn single() -> Wifi {
    let mut wifi = wifi(Standard::N);
    wifi.high.as_mut().expect("802.11n").limits.ampdu = 0;
    wifi
}

fn with_rts(mut wifi: Wifi, threshold: u32) -> Wifi {
    wifi.rts_threshold = Some(threshold);
    wifi
}

/// Two links of one channel that hear each other: stations 0 and 2, access points 1 and 3 without
/// beacons.
fn medium(wifi: &Wifi) -> Medium {
    let links = [("one", None, wifi), ("two", None, wifi)];
    let (mut medium, _) = Medium::new(&links, 1, &|| ControlFlow::Continue(())).expect("nobody breaks it off");
    for station in &mut medium.stations {
        station.beacon_at = NEVER;
        station.at = NEVER;
    }
    medium
}

/// A frame: its kind and sender; when it began, how long it lasted, and what it reserved, in
/// microseconds.
type Seen = (Kind, usize, u64, u64, u64);

/// Queues `packets` at station 0 and runs until nothing happens, or `change` says so: it is called
/// after each event.
fn exchange(medium: &mut Medium, packets: u32, mut change: impl FnMut(&mut Medium, &[Seen]) -> bool) -> Vec<Seen> {
    for id in 0..packets {
        medium.enqueue(0, [0, 1], 0, id, PACKET).expect("there is room");
    }
    let (mut seen, mut out): (Vec<Seen>, Vec<Outcome>) = (Vec::new(), Vec::new());
    let mut ends = [0; 4];
    while medium.next() < 100_000 * US {
        let now = medium.next();
        medium.run(now, &mut out);
        for (s, seen_end) in ends.iter_mut().enumerate() {
            let end = medium.stations[s].at;
            if let Some(frame) = medium.frames[s].filter(|_| *seen_end != end) {
                assert!(now % US == 0 && end % US == 0 && frame.reserves % US == 0);
                seen.push((frame.kind, s, now / US, (end - now) / US, frame.reserves / US));
                *seen_end = end;
            }
        }
        if change(medium, &seen) {
            break;
        }
    }
    seen
}

fn whole(medium: &mut Medium, packets: u32) -> Vec<Seen> {
    exchange(medium, packets, |_, _| false)
}

/// Kind, sender, duration and reservation of each frame.
fn lengths(seen: &[Seen]) -> Vec<(Kind, usize, u64, u64)> {
    seen.iter().map(|&(kind, s, _, lasts, reserves)| (kind, s, lasts, reserves)).collect()
}

// 34 RTS 62 - 78 CTS 106 - 122 data 370 - 386 ACK 414: DIFS 34 us, SIFS 16 us; control frames at 24
// Mbit/s 28 us, 57 symbols of data and 20 us. Each frame reserves the medium until 414 (9.2.5).
#[test]
fn an_exchange_of_802_11a_with_rts() {
    let mut m = medium(&with_rts(wifi(Standard::A), 0));
    let seen = whole(&mut m, 1);
    let wanted = [
        (Kind::Rts, 0, 34, 28, 352),
        (Kind::Cts, 1, 78, 28, 308),
        (Kind::Data, 0, 122, 248, 44),
        (Kind::Ack, 1, 386, 28, 0),
    ];
    assert_eq!(seen, wanted);
    assert_eq!([m.stations[2].nav, m.stations[3].nav], [414 * US; 2]);
    assert_eq!([m.stations[0].nav, m.stations[1].nav], [0; 2]);
}

/// A station that has learnt of a reservation does not answer an RTS before its end (10.3.2.7).
#[test]
fn a_reserved_medium_grants_no_cts() {
    for (nav, granted) in [(62, true), (63, false)] {
        let mut m = medium(&with_rts(wifi(Standard::A), 0));
        m.stations[1].nav = nav * US;
        let seen = exchange(&mut m, 1, |_, seen| seen.len() > 1);
        assert_eq!(seen[1].0 == Kind::Cts, granted, "{seen:?}");
        // Without an answer: SIFS, slot and the preamble of a CTS, 16 + 9 + 20 us, then DIFS and
        // back-off.
        assert!(granted || seen[1].0 == Kind::Rts && seen[1].2 >= 62 + 45 + 34, "{seen:?}");
    }
}

// Two packets: request for an agreement and its answer (37 octets at 6 Mbit/s: 14 symbols and 20
// us; ACK 44 us), then RTS and CTS at 24 Mbit/s for an aggregate of 3086 octets, 96 symbols of 260
// bits and 36 us, and a block acknowledgement, 32 octets at 24 Mbit/s, 32 us.
#[test]
fn an_aggregate_of_802_11n_behind_an_agreement_and_rts() {
    let mut m = medium(&with_rts(wifi(Standard::N), 0));
    let seen = whole(&mut m, 2);
    let wanted = [
        (Kind::Action, 0, 76, 60),
        (Kind::Ack, 1, 44, 0),
        (Kind::Action, 1, 76, 60),
        (Kind::Ack, 0, 44, 0),
        (Kind::Rts, 0, 28, 16 + 28 + 16 + 420 + 16 + 32),
        (Kind::Cts, 1, 28, 16 + 420 + 16 + 32),
        (Kind::Data, 0, 420, 16 + 32),
        (Kind::BlockAck, 1, 32, 0),
    ];
    assert_eq!(lengths(&seen), wanted);
    let gap = |i: usize| seen[i].2 - seen[i - 1].2 - seen[i - 1].3;
    assert_eq!([1, 3, 5, 6, 7].map(gap), [16; 5], "a SIFS");
    assert_eq!(m.stations[2].nav, (seen[7].2 + 32) * US);
    let counts = m.counts([0, 1]).expect("802.11n counts");
    assert_eq!((counts.ppdus, counts.mpdus, counts.again, counts.requests, counts.airtime), (1, 2, 0, 0, 420 * US));
}

// RTS announces what is longer than the threshold: two frames, 3086 octets.
#[test]
fn the_octets_of_the_whole_aggregate_decide_on_rts() {
    for (threshold, rts) in [(3086, false), (3085, true)] {
        let seen = whole(&mut medium(&with_rts(wifi(Standard::N), threshold)), 2);
        assert_eq!(seen.iter().any(|f| f.0 == Kind::Rts), rts, "{threshold}");
    }
}

// The receiver misses an aggregate: after 16 + 9 + 20 us the sender asks for a block
// acknowledgement, 24 octets at 24 Mbit/s: 32 us, and sends both frames again.
#[test]
fn a_missed_aggregate_is_asked_about_and_sent_again() {
    let mut m = medium(&wifi(Standard::N));
    let mut missed = false;
    let seen = exchange(&mut m, 2, |m, seen| {
        if !missed && seen.last().is_some_and(|f| f.0 == Kind::Data) {
            missed = true;
            m.stations[1].rx = None;
        }
        false
    });
    let wanted = [
        (Kind::Data, 0, 420, 48),
        (Kind::BlockAckReq, 0, 32, 48),
        (Kind::BlockAck, 1, 32, 0),
        (Kind::Data, 0, 420, 48),
        (Kind::BlockAck, 1, 32, 0),
    ];
    assert_eq!(lengths(&seen[4..]), wanted);
    // An AIFS of 43 us and the back-off, in slots.
    let waited = seen[5].2 - seen[4].2 - 420 - 45 - 43;
    assert!(waited.is_multiple_of(9) && waited / 9 <= 31, "{waited}");
    let counts = m.counts([0, 1]).expect("802.11n counts");
    assert_eq!((counts.ppdus, counts.mpdus, counts.again, counts.requests), (2, 4, 2, 1));
    assert_eq!(counts.airtime, (420 + 32 + 420) * US);
}

// As ns-3, a frame by itself in a TXOP of 3 ms reserves all of it; its end, 20 octets at 6 Mbit/s,
// takes that back. The TXOP begins with the data, 43 us after the start, so that 3000 - 228 us are
// left behind them.
#[test]
fn in_ns3_a_txop_is_reserved_to_its_end_and_given_back() {
    let mut wifi = like_ns3();
    wifi.high.as_mut().expect("802.11n").txop = Some(3_008_000);
    let mut m = medium(&wifi);
    let seen = whole(&mut m, 1);
    let wanted =
        [(Kind::Data, 0, 43, 228, 3008 - 228), (Kind::Ack, 1, 271 + 16, 28, 0), (Kind::End, 0, 315 + 16, 52, 0)];
    assert_eq!(seen, wanted);
    assert_eq!([1, 2, 3].map(|s| m.stations[s].nav), [383 * US; 3]);
    // With RTS at the lowest rate, as ns-3 sends it: 52 and 44 us.
    let seen = whole(&mut medium(&with_rts(wifi, 0)), 1);
    let wanted = [
        (Kind::Rts, 0, 52, 3008 - 52),
        (Kind::Cts, 1, 44, 3008 - 52 - 16 - 44),
        (Kind::Data, 0, 228, 3008 - 52 - 16 - 44 - 16 - 228),
        (Kind::Ack, 1, 28, 0),
        (Kind::End, 0, 52, 0),
    ];
    assert_eq!(lengths(&seen), wanted);
}

// There is no time for the end of a TXOP that ends no later: behind 228 + 16 + 28 + 16 us of the
// exchange 52 us are needed.
#[test]
fn a_txop_is_given_back_only_if_the_end_of_it_fits() {
    for (txop, ends) in [(341, true), (340, false)] {
        let mut m = medium(&like_ns3());
        m.stations[0].high.as_mut().expect("802.11n").txop = txop * US;
        let seen = whole(&mut m, 1);
        assert_eq!(seen.iter().any(|f| f.0 == Kind::End), ends, "{seen:?}");
    }
}

// Two frames in a TXOP, a SIFS apart: behind the first exchange of 228 + 16 + 28 us the second
// needs 16 + 228 + 16 us and time for a block acknowledgement, 32 us.
#[test]
fn a_further_frame_of_a_txop_needs_time_for_its_answer() {
    for (txop, gap) in [(564, true), (563, false)] {
        let mut m = medium(&single());
        m.stations[0].high.as_mut().expect("802.11n").txop = txop * US;
        let seen = whole(&mut m, 2);
        let kinds: Vec<Kind> = seen.iter().map(|f| f.0).collect();
        assert_eq!(kinds, [Kind::Data, Kind::Ack, Kind::Data, Kind::Ack]);
        assert_eq!(seen[2].2 == seen[1].2 + 28 + 16, gap, "{seen:?}");
    }
}

// Five frames, 238 symbols and 36 us, and the block acknowledgement, 16 + 32 us: 1036 us. RTS, CTS
// and two SIFS take 88 more.
#[test]
fn an_aggregate_ends_where_the_txop_does() {
    for (txop, rts, frames) in [(1036, false, 5), (1035, false, 4), (1124, true, 5), (1123, true, 4)] {
        let wifi = wifi(Standard::N);
        let mut m = medium(&if rts { with_rts(wifi, 0) } else { wifi });
        m.stations[0].high.as_mut().expect("802.11n").txop = txop * US;
        exchange(&mut m, 20, |_, seen| seen.last().is_some_and(|f| f.0 == Kind::BlockAck));
        assert_eq!(m.stations[0].high.as_ref().expect("802.11n").psdu.len(), frames, "{txop} us");
    }
}

// Symbols of 4 us and 260 bits: from 400 us on, octet 3250, the signal is another one. Frames of
// 1538 octets at 0, 1544 and 3088 of an aggregate; the third has a part on each side.
#[test]
fn a_frame_of_an_aggregate_is_lost_by_interference_at_its_own_time_only() {
    let mut m = medium(&wifi(Standard::N));
    let rate = m.phy.find_mcs(7, 1, 800).expect("a mode of 802.11n");
    let frame = Frame { kind: Kind::Data, to: 1, rate, payload_from: 0, reserves: 0 };
    for (before, behind, arrives) in [(1e9, 0.0, [true, true, false, false]), (0.0, 1e9, [false, false, false, true])] {
        let found = [0, 1544, 3088, 4632].map(|offset| {
            let chunks = [(400 * US, before), (1000 * US, behind)].map(|(until, snr)| Chunk { until, snr });
            m.stations[1].high.as_mut().expect("802.11n").chunks = chunks.to_vec();
            m.survives(1, &frame, 4, offset, 1538)
        });
        assert_eq!(found, arrives);
    }
}

// After 7 requests without an answer frames go one by one.
#[test]
fn an_agreement_that_nobody_grants_is_done_without() {
    let mut m = medium(&wifi(Standard::N));
    let seen = exchange(&mut m, 2, |m, seen| {
        if seen.last().is_some_and(|f| f.0 == Kind::Action) {
            m.stations[1].rx = None;
        }
        seen.len() == 10
    });
    let kinds: Vec<Kind> = seen.iter().map(|f| f.0).collect();
    assert_eq!(kinds[..7], [Kind::Action; 7]);
    assert_eq!(kinds[7..], [Kind::Data, Kind::Ack, Kind::Data]);
    assert_eq!((seen[7].3, seen[7].4), (228, 16 + 28));
}
