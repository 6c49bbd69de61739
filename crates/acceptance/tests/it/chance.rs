//! Loss, duplication and damage on one direction of a link: frequencies and lengths of bursts.

use anabranch_sim::scenario::Loss;
use anabranch_sim::sim::link::{Fate, LinkDirection};

use crate::link::link;
use crate::statistics::{correlated_frequency, frequency, mean};
use crate::support::close;

const N: u64 = 1_000_000;

/// Whether each of `N` packets is lost.
fn losses(link: &mut LinkDirection) -> Vec<bool> {
    (0..N).map(|_| link.fate() == Fate::Lost).collect()
}

fn lost(losses: &[bool]) -> u64 {
    losses.iter().filter(|lost| **lost).count() as u64
}

/// Lengths of the runs of `what`.
fn runs(losses: &[bool], what: bool) -> Vec<f64> {
    losses.chunk_by(|a, b| a == b).filter(|run| run[0] == what).map(|run| run.len() as f64).collect()
}

#[test]
fn bernoulli_losses_are_as_frequent_as_configured() {
    for (loss, p) in [("0.5 %", 0.005), ("5 %", 0.05), ("50 %", 0.5)] {
        frequency(lost(&losses(&mut link(&format!("loss = '{loss}'"), 1))), N, p);
    }
    assert_eq!(lost(&losses(&mut link("loss = '0 %'", 1))), 0);
    assert_eq!(lost(&losses(&mut link("loss = '100 %'", 1))), N);
}

/// After a loss the next packet is lost as often as any other, so bursts have the mean length 1 / (1 - p).
#[test]
fn bernoulli_losses_do_not_depend_on_each_other() {
    let losses = losses(&mut link("loss = '20 %'", 2));
    let after: Vec<bool> = losses.windows(2).filter(|w| w[0]).map(|w| w[1]).collect();
    frequency(lost(&after), after.len() as u64, 0.2);
    let bursts = runs(&losses, true);
    let sigma = (0.2_f64).sqrt() / 0.8 / (bursts.len() as f64).sqrt();
    close(mean(&bursts), 1.0 / 0.8, 4.0 * sigma);
}

/// The chain is in its bad state g / (g + b) of the time; there everything is lost, elsewhere nothing. A bad period has
/// a geometric length with the mean 1 / b, a good one 1 / g.
#[test]
fn gilbert_losses_have_the_stationary_frequency_and_geometric_bursts() {
    let (g, b) = (0.01, 0.3);
    let losses = losses(&mut link("loss = { good_to_bad = '1 %', bad_to_good = '30 %' }", 3));
    correlated_frequency(lost(&losses), N, g / (g + b), 1.0 - g - b);
    for (runs, p) in [(runs(&losses, true), b), (runs(&losses, false), g)] {
        let sigma = (1.0_f64 - p).sqrt() / p / (runs.len() as f64).sqrt();
        close(mean(&runs), 1.0 / p, 4.0 * sigma);
        // Memoryless: a run ends with its first packet with probability p, and so does one that has lasted for two.
        let ends_at = |n: f64| runs.iter().filter(|r| **r == n).count() as u64;
        let lasts = |n: f64| runs.iter().filter(|r| **r >= n).count() as u64;
        if p == b {
            frequency(ends_at(1.0), lasts(1.0), p);
            frequency(ends_at(3.0), lasts(3.0), p);
        }
    }
}

/// Loss in both states: g / (g + b) of the time 40 %, else 1 %.
#[test]
fn gilbert_elliott_losses_mix_the_two_states() {
    let keys = "loss = { good_to_bad = '5 %', bad_to_good = '20 %', loss_bad = '40 %', loss_good = '1 %' }";
    let losses = losses(&mut link(keys, 4));
    // The state explains only part of the variance: the chain's correlation is an upper bound.
    correlated_frequency(lost(&losses), N, 0.2 * 0.4 + 0.8 * 0.01, 1.0 - 0.05 - 0.2);
    // After a loss the state is bad with probability 0.2 * 0.4 / 0.088; one step later it is bad with q.
    let bad: f64 = 0.2 * 0.4 / 0.088;
    let q = bad * 0.8 + (1.0 - bad) * 0.05;
    let after: Vec<bool> = losses.windows(2).filter(|w| w[0]).map(|w| w[1]).collect();
    correlated_frequency(lost(&after), after.len() as u64, q * 0.4 + (1.0 - q) * 0.01, 0.5);
}

/// The chain starts in its good state, also when a scheduled change brings it.
#[test]
fn a_change_to_bursty_loss_begins_in_the_good_state() {
    let mut link = link("loss = '100 %'", 5);
    assert_eq!(link.fate(), Fate::Lost);
    link.set_loss(Loss::GilbertElliott { good_to_bad: 0.0, bad_to_good: 0.5, loss_good: 0.0, loss_bad: 1.0 });
    assert_eq!(lost(&losses(&mut link)), 0);
    link.set_loss(Loss::Bernoulli(0.1));
    frequency(lost(&losses(&mut link)), N, 0.1);
}

/// Of what is not lost; the three kinds of chance do not depend on each other.
#[test]
fn duplication_and_damage_are_as_frequent_as_configured() {
    let mut link = link("loss = '10 %'\nduplication = '3 %'\ncorruption = '2 %'", 6);
    let mut counts = [0; 4];
    for _ in 0..N {
        if let Fate::Sent { corrupted, duplicated } = link.fate() {
            counts[usize::from(corrupted) + 2 * usize::from(duplicated)] += 1;
        }
    }
    let sent = counts.iter().sum();
    frequency(N - sent, N, 0.1);
    frequency(counts[1] + counts[3], sent, 0.02);
    frequency(counts[2] + counts[3], sent, 0.03);
    // Both at once, 540 expected; five standard deviations are a fifth of it.
    let both = counts[3] as f64 / sent as f64;
    close(both, 0.02 * 0.03, 5.0 * (0.0006 / sent as f64).sqrt());
}

/// Each direction draws from a stream of its own, and so does each seed.
#[test]
fn two_links_lose_different_packets() {
    let config = crate::link::direction("loss = '5 %'");
    let draw = |seed, way: &str| losses(&mut LinkDirection::new(&config, seed, "path0", way));
    assert_eq!(draw(1, "up"), draw(1, "up"));
    assert_ne!(draw(1, "up"), draw(1, "down"));
    assert_ne!(draw(1, "up"), draw(2, "up"));
}
