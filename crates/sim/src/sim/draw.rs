//! Numbers drawn from a distribution, the same on every machine: logarithm and exponential are those of `libm`, which is
//! arithmetic only.

use super::rng::Rng;
use anabranch_scenario::application::{Draw, Law};

/// The next number.
pub fn draw(d: &Draw, rng: &mut Rng) -> u64 {
    let x = match d.law {
        Law::Fixed(n) => return n,
        Law::Uniform { min, max } => min as f64 + (rng.uniform() * (max - min + 1) as f64).floor(),
        Law::Exponential { mean } => mean as f64 * exponential(rng),
        Law::Lognormal { median, sigma } => median as f64 * libm::exp(sigma * normal(rng)),
        // The share beyond min e^(E / alpha) is e^-E.
        Law::Pareto { min, alpha } => min as f64 * libm::exp(exponential(rng) / alpha),
    };
    // Conversions saturate.
    (libm::round(x) as u64).clamp(1, d.most)
}

/// With mean 1.
pub fn exponential(rng: &mut Rng) -> f64 {
    -libm::log(1.0 - rng.uniform())
}

/// With mean 0 and variance 1: the polar method (Marsaglia and Bray 1964), without its second number.
pub fn normal(rng: &mut Rng) -> f64 {
    loop {
        let (u, v) = (2.0 * rng.uniform() - 1.0, 2.0 * rng.uniform() - 1.0);
        let s = u * u + v * v;
        if s > 0.0 && s < 1.0 {
            return u * libm::sqrt(-2.0 * libm::log(s) / s);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: usize = 200_000;

    fn drawn(law: Law) -> Vec<f64> {
        let mut rng = Rng::new(1, "draw");
        (0..N).map(|_| draw(&Draw { law, most: u64::MAX }, &mut rng) as f64).collect()
    }

    fn mean(x: &[f64]) -> f64 {
        x.iter().sum::<f64>() / x.len() as f64
    }

    fn share(x: &[f64], beyond: f64) -> f64 {
        x.iter().filter(|x| **x > beyond).count() as f64 / x.len() as f64
    }

    /// Shares have a standard error of at most 0.5 / sqrt(200 000) = 0.0011; bounds are four of them.
    const SHARE: f64 = 0.0045;

    #[test]
    fn exponential_draws_have_their_mean_and_no_memory() {
        let x = drawn(Law::Exponential { mean: 1_000_000 });
        // Standard error of the mean: 1 / sqrt(200 000), a fourth of 0.9 %.
        assert!((mean(&x) / 1e6 - 1.0).abs() < 0.009);
        assert!((share(&x, 1e6) - (-1.0_f64).exp()).abs() < SHARE);
        assert!((share(&x, 2e6) - (-2.0_f64).exp()).abs() < SHARE);
    }

    #[test]
    fn lognormal_draws_have_their_median_and_deviation() {
        let x = drawn(Law::Lognormal { median: 1_000_000, sigma: 1.318 });
        assert!((share(&x, 1e6) - 0.5).abs() < SHARE);
        // One and two standard deviations of the logarithm.
        assert!((share(&x, 1e6 * 1.318_f64.exp()) - 0.158_655).abs() < SHARE);
        assert!((share(&x, 1e6 * 2.636_f64.exp()) - 0.022_750).abs() < SHARE);
    }

    #[test]
    fn pareto_draws_have_their_tail() {
        let x = drawn(Law::Pareto { min: 1000, alpha: 1.5 });
        assert!(x.iter().all(|x| *x >= 1000.0));
        assert!((share(&x, 2000.5) - 0.5_f64.powf(1.5)).abs() < SHARE);
        assert!((share(&x, 8000.5) - 0.125_f64.powf(1.5)).abs() < SHARE);
    }

    #[test]
    fn uniform_draws_include_both_ends() {
        let x = drawn(Law::Uniform { min: 3, max: 6 });
        for n in 3..=6_u32 {
            let found = x.iter().filter(|x| **x == f64::from(n)).count() as f64 / N as f64;
            assert!((found - 0.25).abs() < SHARE, "{n}: {found}");
        }
    }

    #[test]
    fn draws_keep_to_their_limits() {
        let mut rng = Rng::new(1, "draw");
        let tail = Draw { law: Law::Pareto { min: 1, alpha: 0.1 }, most: 5 };
        let small = Draw { law: Law::Exponential { mean: 1 }, most: 5 };
        for _ in 0..1000 {
            assert!((1..=5).contains(&draw(&tail, &mut rng)) && (1..=5).contains(&draw(&small, &mut rng)));
        }
    }
}
