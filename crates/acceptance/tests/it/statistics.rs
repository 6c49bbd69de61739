//! Bounds for what is drawn by chance. Seeds are fixed, so a test passes always or never; the bounds are those that a
//! true generator would break once in thousands of seeds.

/// Mean.
pub fn mean(samples: &[f64]) -> f64 {
    samples.iter().sum::<f64>() / samples.len() as f64
}

/// Asserts that the frequency of an event of probability `p` in `n` independent trials is within four standard
/// deviations.
#[track_caller]
pub fn frequency(seen: u64, n: u64, p: f64) {
    correlated_frequency(seen, n, p, 0.0);
}

/// The same for trials whose correlation falls by the factor `r` with each trial between them (a two-state chain):
/// the variance of the mean grows by (1 + r) / (1 - r).
#[track_caller]
pub fn correlated_frequency(seen: u64, n: u64, p: f64, r: f64) {
    let sigma = (p * (1.0 - p) / n as f64 * (1.0 + r) / (1.0 - r)).sqrt();
    let f = seen as f64 / n as f64;
    assert!((f - p).abs() <= 4.0 * sigma, "{seen} of {n} is {f}, not {p} +- {}", 4.0 * sigma);
    assert!(4.0 * sigma < 0.2 * p, "too few trials to tell anything: 4 sigma is {}, p is {p}", 4.0 * sigma);
}

/// Asserts by Kolmogorov and Smirnov that `samples` are uniform from `low` to `high` (critical value for 1 in 1000).
#[track_caller]
pub fn uniform(samples: &[f64], low: f64, high: f64) {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    assert!(
        sorted[0] >= low && sorted[sorted.len() - 1] <= high,
        "outside: {:?}",
        (sorted[0], sorted[sorted.len() - 1])
    );
    let n = sorted.len() as f64;
    let distance = |(i, x): (usize, &f64)| {
        let wanted = (x - low) / (high - low);
        (wanted - i as f64 / n).abs().max(((i + 1) as f64 / n - wanted).abs())
    };
    let d = sorted.iter().enumerate().map(distance).fold(0.0, f64::max);
    assert!(d * n.sqrt() < 1.95, "not uniform: distance {d} of {n} samples");
}
