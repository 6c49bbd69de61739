//! Delay variation, redrawing and overtaking on one direction of a link.

use anabranch_sim::sim::slots::NEVER;

use crate::link::{drive, link, offer};
use crate::statistics::{frequency, mean, uniform};
use crate::support::{MS, S, close};

/// Delays of `n` packets so far apart that none meets another; a packet takes 1 us to transmit.
fn delays(keys: &str, n: u64) -> Vec<f64> {
    let keys = format!("rate = '8 Gbit/s'\n{keys}");
    let offers: Vec<_> = (0..n).map(|i| (i * S, 1000)).collect();
    let arrivals = drive(&mut link(&keys, 7), &offers);
    arrivals.iter().zip(&offers).map(|(a, o)| (a.expect("nothing is lost") - o.0 - 1_000) as f64).collect()
}

#[test]
fn without_variation_every_delay_is_the_configured_one() {
    assert!(delays("delay = '40 ms'", 100).iter().all(|d| *d == 40e6));
}

/// 40 ms +- 50 %: uniform from 20 to 60 ms.
#[test]
fn delays_are_uniform_between_their_bounds() {
    let d = delays("delay = '40 ms'\ndelay_variation = '50 %'", 20_000);
    uniform(&d, 20e6, 60e6);
    // Standard deviation of the mean: 40 / sqrt(12 * 20000) ms.
    close(mean(&d), 40e6, 4.0 * 40e6 / (12.0_f64 * 20_000.0).sqrt());
}

/// 100 % reaches from nothing to twice the delay.
#[test]
fn a_variation_of_100_percent_reaches_down_to_no_delay() {
    uniform(&delays("delay = '10 ms'\ndelay_variation = '100 %'", 5_000), 0.0, 20e6);
}

/// Successive draws are independent: their lag-1 correlation is below 4 / sqrt(n).
#[test]
fn a_delay_drawn_for_each_packet_does_not_depend_on_the_last() {
    let d = delays("delay = '10 ms'\ndelay_variation = '20 %'", 20_000);
    let m = mean(&d);
    let product: Vec<f64> = d.windows(2).map(|w| (w[0] - m) * (w[1] - m)).collect();
    let square: Vec<f64> = d.iter().map(|x| (x - m) * (x - m)).collect();
    close(mean(&product) / mean(&square), 0.0, 4.0 / (20_000_f64).sqrt());
}

/// The draws are the same with and without overtaking; without, a packet waits for the slowest before it.
///
/// ```text
/// own arrival     10  14  11  12  16
/// no overtaking   10  14  14  14  16
/// ```
#[test]
fn without_overtaking_a_packet_arrives_with_the_latest_before_it() {
    let offers: Vec<_> = (0..5_000).map(|i| (i * MS, 1000)).collect();
    let keys = "rate = '80 Mbit/s'\ndelay = '40 ms'\ndelay_variation = '50 %'\novertaking = ";
    let arrivals = |overtaking: &str| -> Vec<u64> {
        let fates = drive(&mut link(&format!("{keys}{overtaking}"), 3), &offers);
        fates.into_iter().map(|f| f.expect("nothing is lost")).collect()
    };
    let (own, ordered) = (arrivals("true"), arrivals("false"));
    assert_ne!(own, ordered);
    let mut latest = 0;
    for (own, ordered) in own.iter().zip(&ordered) {
        latest = latest.max(*own);
        assert_eq!(*ordered, latest);
    }
}

/// Two packets a time `s` apart change places if the first draw exceeds the second by more than s. With draws uniform
/// over a width w that has the probability (1 - s / w)^2 / 2. Pairs stand 1 s apart, so they are independent.
#[test]
fn packets_overtake_as_often_as_two_uniform_draws_say() {
    let offers: Vec<_> = (0..20_000_u64).map(|i| (i / 2 * S + i % 2 * 10 * MS, 1000)).collect();
    let keys = "rate = '8 Gbit/s'\ndelay = '40 ms'\ndelay_variation = '50 %'\novertaking = true";
    let arrivals = drive(&mut link(keys, 5), &offers);
    let swapped = arrivals.chunks(2).filter(|pair| pair[1].ok() < pair[0].ok()).count();
    frequency(swapped as u64, 10_000, 0.5 * (1.0 - 10.0 / 40.0_f64).powi(2));
}

/// `delay_redraw = "100 ms"`: one delay holds from one multiple of 100 ms to the next, here for ten packets each.
#[test]
fn a_delay_redrawn_at_intervals_is_constant_within_each() {
    let keys =
        "rate = '8 Gbit/s'\ndelay = '40 ms'\ndelay_variation = '50 %'\ndelay_redraw = '100 ms'\novertaking = true";
    // 1 us to transmit, so the k-th packet of an interval begins to fly at k * 10 ms + 1 us.
    let offers: Vec<_> = (0..20_000).map(|i| (i * 10 * MS, 1000)).collect();
    let arrivals = drive(&mut link(keys, 11), &offers);
    let delays: Vec<u64> = arrivals.iter().zip(&offers).map(|(a, o)| a.expect("nothing is lost") - o.0).collect();
    let intervals: Vec<&[u64]> = delays.chunks(10).collect();
    assert!(intervals.iter().all(|i| i.iter().all(|d| d == &i[0])));
    let changed = intervals.windows(2).filter(|w| w[0] != w[1]).count();
    assert_eq!(changed, intervals.len() - 1);
    let drawn: Vec<f64> = intervals.iter().map(|i| (i[0] - 1_000) as f64).collect();
    uniform(&drawn, 20e6, 60e6);
}

/// The intervals are those of the clock, not of the packets: 37 and 99 ms are in one, 101 ms in the next.
#[test]
fn intervals_of_a_delay_begin_at_multiples() {
    let keys =
        "rate = '8 Gbit/s'\ndelay = '40 ms'\ndelay_variation = '50 %'\ndelay_redraw = '100 ms'\novertaking = true";
    let offers = [37, 99, 101, 199, 201].map(|ms| (ms * MS, 1000));
    let arrivals = drive(&mut link(keys, 11), &offers);
    let d: Vec<u64> = arrivals.iter().zip(&offers).map(|(a, o)| a.expect("nothing is lost") - o.0).collect();
    assert!(d[0] == d[1] && d[1] != d[2] && d[2] == d[3] && d[3] != d[4], "{d:?}");
}

/// `delay_redraw = "write"`: one draw u for both directions; the delay is d (1 + v (2 u - 1)) until the next write.
#[test]
fn a_delay_redrawn_at_writes_is_the_same_in_both_directions() {
    let keys = "rate = '8 Gbit/s'\ndelay = '40 ms'\ndelay_variation = '50 %'\ndelay_redraw = 'write'";
    let mut both = [link(keys, 1), link(keys, 1)];
    for (u, wanted) in [(0.0, 20 * MS), (0.5, 40 * MS), (0.75, 50 * MS)] {
        for link in &mut both {
            link.on_write(u);
            assert_eq!(drive(link, &[(0, 1000), (S, 1000)]), [Ok(1_000 + wanted), Ok(S + 1_000 + wanted)]);
        }
    }
    // A link that draws for each packet does not care for writes.
    let mut other = link("delay = '40 ms'", 1);
    other.on_write(0.0);
    assert!(!other.redraws_on_write());
    assert_eq!(drive(&mut other, &[(0, 1250)]), [Ok(41 * MS)]);
}

/// A packet that flies keeps its delay; the next has the new one, and waits for it if it may not overtake.
#[test]
fn a_new_delay_holds_from_the_next_packet_on() {
    for (overtaking, second) in [(true, 11 * MS), (false, 51 * MS)] {
        let mut link = link(&format!("rate = '8 Mbit/s'\ndelay = '50 ms'\novertaking = {overtaking}"), 1);
        for (now, id) in [(0, 0), (5 * MS, 1)] {
            if id == 1 {
                link.set_delay(5 * MS);
            }
            let end = offer(&mut link, now, id, 1000);
            let end = end.expect("the queue is empty").expect("nothing is being transmitted");
            link.transmitted(end);
            link.fly(end);
        }
        let mut arrivals = [0; 2];
        while link.next() != NEVER {
            let at = link.next().at();
            arrivals[link.arrive().id as usize] = at;
        }
        assert_eq!(arrivals, [51 * MS, second]);
    }
}
