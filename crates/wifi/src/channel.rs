//! The channel: how much of the transmitted power a receiver gets.
//!
//! Path loss is Friis' free space (lambda / 4 pi d)^2, or log-distance, PL = PL_ref + 10 n log10(d / d_ref) (equation (1) of
//! the papers). On top of it fading may draw a factor for every frame and receiver: Nakagami's, whose power is gamma
//! distributed with shape m and mean one, or Rayleigh's, which is Nakagami's with m = 1. m follows the distance as in ns-3:
//! 1.5 below 80 m, 0.75 from there on and from 200 m on.
//!
//! Left out: shadowing, correlation between frames (a fade lasts one frame), wave propagation time (0.1 us at 30 m).

use libm::{exp, log, log10, pow, sqrt};

use anabranch_measures::rng::Rng;

/// Metres a second.
const LIGHT: f64 = 299_792_458.0;

/// Loss with distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PathLoss {
    /// Log-distance.
    LogDistance {
        /// Path-loss exponent: decades of power for each decade of distance.
        exponent: f64,
        /// Loss at the reference distance, in dB.
        reference_db: f64,
        /// Reference distance, in m.
        reference_m: f64,
    },
    /// Free space.
    Friis {
        /// Carrier frequency in Hz.
        frequency: f64,
    },
}

impl PathLoss {
    /// Path loss in dB at `distance` metres.
    pub fn db(&self, distance: f64) -> f64 {
        match *self {
            Self::LogDistance { exponent, reference_db, reference_m } => {
                // Nearer than the reference distance the loss is that at the reference distance.
                reference_db + 10.0 * exponent * log10((distance / reference_m).max(1.0))
            }
            Self::Friis { frequency } => {
                let wave = LIGHT / frequency;
                (20.0 * log10(4.0 * std::f64::consts::PI * distance / wave)).max(0.0)
            }
        }
    }
}

/// Variation of the received power from frame to frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fading {
    /// None.
    None,
    /// Nakagami fading; shapes m below 80 m, from 80 m, from 200 m.
    Nakagami([f64; 3]),
    /// Nakagami of shape 1 everywhere.
    Rayleigh,
}

/// Nakagami shapes by distance, as in ns-3.
pub const NAKAGAMI_M: [f64; 3] = [1.5, 0.75, 0.75];
/// From which distances the second and the third shape apply, in m.
const BOUNDS: [f64; 2] = [80.0, 200.0];

impl Fading {
    /// Draws the factor on one frame's power; its mean is one.
    #[inline]
    pub fn draw(&self, distance: f64, rng: &mut Rng) -> f64 {
        match self {
            Self::None => 1.0,
            Self::Rayleigh => exponential(rng),
            Self::Nakagami(shapes) => {
                let shape = shapes[BOUNDS.iter().filter(|b| distance >= **b).count()];
                gamma(shape, rng) / shape
            }
        }
    }
}

fn exponential(rng: &mut Rng) -> f64 {
    -log(1.0 - rng.uniform())
}

/// A gamma distributed number of shape `shape` and scale one (Marsaglia and Tsang, "A simple method for generating gamma
/// variables", 2000).
fn gamma(shape: f64, rng: &mut Rng) -> f64 {
    if shape < 1.0 {
        let u = 1.0 - rng.uniform();
        return gamma(shape + 1.0, rng) * pow(u, 1.0 / shape);
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / sqrt(9.0 * d);
    loop {
        let x = normal(rng);
        let v = 1.0 + c * x;
        if v <= 0.0 {
            continue;
        }
        let v = v * v * v;
        let u = 1.0 - rng.uniform();
        if log(u) < 0.5 * x * x + d - d * v + d * log(v) {
            return d * v;
        }
    }
}

/// A standard normal number by the polar method. The second number that the method gives is dropped, so that what is drawn for
/// a frame does not depend on earlier frames.
fn normal(rng: &mut Rng) -> f64 {
    loop {
        let (x, y) = (2.0 * rng.uniform() - 1.0, 2.0 * rng.uniform() - 1.0);
        let s = x * x + y * y;
        if s > 0.0 && s < 1.0 {
            return x * sqrt(-2.0 * log(s) / s);
        }
    }
}

/// dBm to mW, dB to a ratio.
pub fn from_db(db: f64) -> f64 {
    exp(db * (std::f64::consts::LN_10 / 10.0))
}

/// mW to dBm, a ratio to dB.
pub fn to_db(ratio: f64) -> f64 {
    10.0 * log10(ratio)
}

/// Thermal noise at 290 K over `bandwidth` Hz, with a receiver's noise figure in dB; mW.
pub fn noise(bandwidth: f64, figure_db: f64) -> f64 {
    const BOLTZMANN: f64 = 1.380_649e-23;
    BOLTZMANN * 290.0 * bandwidth * 1000.0 * from_db(figure_db)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_losses_are_those_of_their_formulas() {
        let log = PathLoss::LogDistance { exponent: 3.0, reference_db: 46.6777, reference_m: 1.0 };
        assert!((log.db(10.0) - 76.6777).abs() < 1e-9);
        assert!((log.db(0.5) - 46.6777).abs() < 1e-9);
        // Free space at 1 m and 5.15 GHz: where the reference loss of 46.6777 dB comes from.
        let friis = PathLoss::Friis { frequency: 5.15e9 };
        assert!((friis.db(1.0) - 46.6777).abs() < 0.01, "{}", friis.db(1.0));
        assert!((friis.db(100.0) - friis.db(10.0) - 20.0).abs() < 1e-9);
    }

    #[test]
    fn noise_of_twenty_megahertz_is_94_dbm_below_a_milliwatt() {
        assert!((to_db(noise(20e6, 7.0)) + 93.97).abs() < 0.01);
    }

    /// Mean 1 and variance 1 / m; for m = 1 the share below x is 1 - exp(-x). 200 000 draws: four standard errors.
    #[test]
    fn fading_has_the_moments_of_its_law() {
        let n = 200_000;
        for (fading, distance, shape) in [
            (Fading::Nakagami(NAKAGAMI_M), 50.0, 1.5),
            (Fading::Nakagami(NAKAGAMI_M), 100.0, 0.75),
            (Fading::Rayleigh, 300.0, 1.0),
        ] {
            let mut rng = Rng::new(1, "fading");
            let draws: Vec<f64> = (0..n).map(|_| fading.draw(distance, &mut rng)).collect();
            let mean = draws.iter().sum::<f64>() / f64::from(n);
            let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / f64::from(n);
            // Gamma: the fourth central moment is (3 + 6 / m) / m^2.
            let error = ((3.0 + 6.0 / shape - 1.0) / (shape * shape) / f64::from(n)).sqrt();
            assert!((mean - 1.0).abs() < 4.0 / (shape * f64::from(n)).sqrt(), "{mean}");
            assert!((variance - 1.0 / shape).abs() < 4.0 * error, "{variance}");
            let below = draws.iter().filter(|x| **x < 0.5).count() as f64 / f64::from(n);
            if fading == Fading::Rayleigh {
                assert!((below - (1.0 - (-0.5_f64).exp())).abs() < 0.005, "{below}");
            }
        }
    }
}
