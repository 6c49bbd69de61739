//! Bit errors: the probability that a piece of a frame is received without error, by modulation,
//! signal-to-noise ratio and length.
//!
//! - `table`: frame error rates of OFDM measured over simulated links with white noise, as ns-3 has
//!   them by default (Patidar, Roy, Henderson, Chandramohan, "Link-to-system mapping for ns-3 Wi-Fi
//!   OFDM error models", WNS3 2017). The numbers in [`super::table`] were read from ns-3.37 by
//!   asking its model. 9 Mbit/s is not among them; it takes the union bound with the first term of
//!   the code's spectrum, as ns-3 does. From 802.11n on, ns-3 uses the same rates, by
//!   modulation and code. ns-3 has no rates of 1024-QAM. With `like = "ns-3"`, 1024-QAM uses the
//!   first two terms of a union bound, as ns-3 does, which is 3 to 4 dB more pessimistic than the
//!   default. By default, 1024-QAM uses the rates of 256-QAM at the same code, shifted by the
//!   distance in dB between the union bounds of `nist`.
//! - `nist`: the union bound over ten terms of the spectrum (Pei and Henderson, "Validation of OFDM
//!   error rate model in ns-3", 2010). About 4 dB more pessimistic.
//! - DSSS has closed forms, the same under both names: DBPSK exact, DQPSK in the approximation of
//!   Ferrari and Corazza (2004), CCK as detection of biorthogonal symbols (Pursley and Royster,
//!   2007) by numerical integration.
//!
//! Mathematical functions come from `libm`, so that a run is the same on every machine.

use std::sync::OnceLock;

use libm::{erfc, exp, expm1, log, log1p, log10, pow, sqrt};

use super::modulation::Code;
use super::phy::Mode;
use super::table::{FIRST_DB_HALVES, LARGE, LARGE_OCTETS, SMALL, SMALL_BELOW, SMALL_OCTETS};

/// Which model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Measured tables.
    Table,
    /// Union bound.
    Nist,
}

impl Model {
    /// All models by name.
    pub const NAMES: [(&'static str, Self); 2] = [("table", Self::Table), ("nist", Self::Nist)];
}

/// How many times the signal-to-noise ratio of 256-QAM 1024-QAM needs for the same error rate: 5.86 dB, by which the bounds of
/// `nist` lie apart for 1538 octets (5.82 dB at 3/4, 5.87 dB at 5/6; 682 / 170 alone would be 6.03 dB).
const DENSER: f64 = 3.855;

/// Bandwidth of a DSSS signal in Hz, as the closed forms assume it.
const DSSS_BANDWIDTH: f64 = 22e6;

impl Model {
    /// Natural logarithm of the probability that `bits` at `mode` are all received without error; `snr` is a ratio of powers.
    pub fn ln_success(self, mode: &Mode, snr: f64, bits: f64) -> f64 {
        let bit_snr = || snr * DSSS_BANDWIDTH / (f64::from(mode.kbps) * 1000.0);
        match (mode.code, self) {
            (Code::Dbpsk, _) => bits * log1p(-0.5 * exp(-bit_snr())),
            (Code::Dqpsk, _) => bits * log1p(-dqpsk(bit_snr())),
            (Code::Cck, _) => bits / 4.0 * log1p(-cck(2.0 * bit_snr())),
            // BPSK 3/4 is no index of 802.11n; the others are in order.
            (Code::Ofdm(n), Self::Nist) => bits * log1p(-nist(n, snr)),
            (Code::Mcs(n), Self::Nist) => bits * log1p(-nist(n + 1 - u8::from(n == 0), snr)),
            (Code::Ofdm(1), Self::Table) => bits * log1p(-first_term(snr)),
            (Code::Ofdm(n), Self::Table) => table(usize::from(n - u8::from(n > 0)), snr, bits / 8.0),
            (Code::Mcs(n @ 10..), Self::Table) => match mode.ppdu.and_then(|p| p.coded_per_hertz) {
                Some(rate) => bits * log1p(-two_terms(n, snr, rate)),
                None => table(usize::from(n - 2), snr / DENSER, bits / 8.0),
            },
            (Code::Mcs(n), Self::Table) => table(usize::from(n), snr, bits / 8.0),
        }
    }

    /// Frame error rate.
    pub fn error(self, mode: &Mode, snr: f64, octets: u32) -> f64 {
        -expm1(self.ln_success(mode, snr, f64::from(octets) * 8.0))
    }
}

/// Interpolated in dB between the measured points, scaled from the measured length.
fn table(row: usize, snr: f64, octets: f64) -> f64 {
    let (rows, measured) = if octets < SMALL_BELOW { (&SMALL, SMALL_OCTETS) } else { (&LARGE, LARGE_OCTETS) };
    let row = &rows[row];
    let at = 20.0 * log10(snr) - FIRST_DB_HALVES;
    let last = row.len() - 1;
    let error = if at.is_nan() || at <= 0.0 {
        row[0]
    } else if at >= last as f64 {
        row[last]
    } else {
        let (i, part) = (at as usize, at - at.floor());
        row[i] + (row[i + 1] - row[i]) * part
    };
    if error >= 1.0 { f64::NEG_INFINITY } else { log1p(-error) * octets / measured }
}

/// Probability of a bit error of DQPSK with Gray coding.
fn dqpsk(bit_snr: f64) -> f64 {
    let root = std::f64::consts::SQRT_2;
    let factor = (root + 1.0) / sqrt(8.0 * std::f64::consts::PI * root);
    (factor / sqrt(bit_snr) * exp(-(2.0 - root) * bit_snr)).min(0.5)
}

/// Symbol error of 16 biorthogonal signals at `symbol_snr` = Es/N0: from a table made once, in steps of 0.05 dB.
fn cck(symbol_snr: f64) -> f64 {
    const FIRST: f64 = -10.0;
    const STEP: f64 = 0.05;
    static TABLE: OnceLock<Vec<f64>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let point = |i: u32| biorthogonal(pow(10.0, (FIRST + STEP * f64::from(i)) / 10.0));
        // Up to 30 dB, where the probability of an error is practically zero.
        (0..=600).map(point).collect()
    });
    let at = (10.0 * log10(symbol_snr) - FIRST) / STEP;
    if at.is_nan() || at <= 0.0 {
        return table[0];
    }
    let i = at as usize;
    if i + 1 >= table.len() {
        return 0.0;
    }
    // Interpolated between the logarithms: the curve falls over many decades.
    let (a, b) = (table[i], table[i + 1]);
    if a <= 0.0 || b <= 0.0 { 0.0 } else { exp(log(a) + (log(b) - log(a)) * (at - at.floor())) }
}

/// The right one of 8 correlators must exceed the magnitude of the 7 others and have the right sign (Proakis, Digital
/// Communications, 5.2): 1 - integral over v > -x of phi(v) (1 - 2 Q(v + x))^7, x = sqrt(2 Es/N0), by Simpson's rule.
fn biorthogonal(symbol_snr: f64) -> f64 {
    let x = sqrt(2.0 * symbol_snr);
    let density = |v: f64| exp(-v * v / 2.0) / sqrt(2.0 * std::f64::consts::PI);
    // 1 - (1 - q)^7 in a form that is exact for small q.
    let fails = |v: f64| -expm1(7.0 * log1p(-erfc((v + x) / std::f64::consts::SQRT_2)));
    let from = (-x).max(-9.0);
    let n = 400;
    let h = (9.0 - from) / f64::from(n);
    let mut sum = 0.0;
    for i in 0..=n {
        let v = from + h * f64::from(i);
        let weight = if i == 0 || i == n {
            1.0
        } else if i % 2 == 1 {
            4.0
        } else {
            2.0
        };
        sum += weight * density(v) * if v + x <= 0.0 { 1.0 } else { fails(v) };
    }
    // Plus the tail in which the right correlator has the wrong sign.
    (sum * h / 3.0 + 0.5 * erfc(x / std::f64::consts::SQRT_2)).min(1.0)
}

/// 9 Mbit/s, BPSK 3/4: 8 paths at the free distance of 5; bandwidth 20 MHz over a channel rate of 12 Mbit/s.
fn first_term(snr: f64) -> f64 {
    let p = 0.5 * erfc(sqrt(snr * 20.0 / 12.0));
    (8.0 * pairwise(p, 5)).min(1.0)
}

/// Probability that the decoder prefers a wrong path at a distance `d`: more than half of its `d` bits are wrong, or half of
/// them and the coin falls so.
fn pairwise(p: f64, d: u32) -> f64 {
    let mut choose = 1.0;
    let mut sum = 0.0;
    for k in 0..=d {
        if 2 * k >= d {
            let share = if 2 * k == d { 0.5 } else { 1.0 };
            sum += share * choose * pow(p, f64::from(k)) * pow(1.0 - p, f64::from(d - k));
        }
        choose *= f64::from(d - k) / f64::from(k + 1);
    }
    sum
}

/// Bit error rate of 1024-QAM, index 10 or 11, after the decoder: the first two terms of the spectrum (ns-3's YANS model).
/// `coded` is the rate of coded bits over the width, in bit/s/Hz.
fn two_terms(n: u8, snr: f64, coded: f64) -> f64 {
    const POINTS: f64 = 1024.0;
    const BITS: f64 = 10.0;
    let per_axis = (1.0 - 1.0 / sqrt(POINTS)) * erfc(sqrt(1.5 * BITS * snr / coded / (POINTS - 1.0)));
    let raw = (1.0 - pow(1.0 - per_axis, 2.0)) / BITS;
    let (free, paths) = if n == 10 { (5, [8.0, 31.0]) } else { (4, [14.0, 69.0]) };
    (paths[0] * pairwise(raw, free) + paths[1] * pairwise(raw, free + 1)).min(1.0)
}

/// Union bound on the bit error rate of the standard's convolutional code, for hard decisions. `n` counts the rates of
/// 802.11a, 0 to 7, and goes on with 64-QAM 5/6, 256-QAM 3/4 and 5/6, 1024-QAM 3/4 and 5/6.
fn nist(n: u8, snr: f64) -> f64 {
    let raw = match n {
        0 | 1 => 0.5 * erfc(sqrt(snr)),
        2 | 3 => 0.5 * erfc(sqrt(snr / 2.0)),
        4 | 5 => 0.75 * 0.5 * erfc(sqrt(snr / 10.0)),
        6..=8 => 7.0 / 12.0 * 0.5 * erfc(sqrt(snr / 42.0)),
        9 | 10 => 15.0 / 32.0 * 0.5 * erfc(sqrt(snr / 170.0)),
        _ => 31.0 / 80.0 * 0.5 * erfc(sqrt(snr / 682.0)),
    };
    let (first, step, puncture, spectrum): (u32, u32, f64, &[f64]) = match n {
        0 | 2 | 4 => (10, 2, 1.0, &HALF),
        6 => (6, 1, 2.0, &TWO_THIRDS),
        8 | 10 | 12 => (4, 1, 5.0, &FIVE_SIXTHS),
        _ => (5, 1, 3.0, &THREE_QUARTERS),
    };
    let d = sqrt(4.0 * raw * (1.0 - raw));
    let mut term = pow(d, f64::from(first));
    let mut sum = 0.0;
    for weight in spectrum {
        sum += weight * term;
        for _ in 0..step {
            term *= d;
        }
    }
    (sum / (2.0 * puncture)).min(1.0)
}

// Information-error weights of the code (133, 171) and its punctured forms, from the free distance up (Frenger, Orten,
// Ottosson, "Convolutional codes with optimum distance spectrum", 1999; Haccoun and Begin, 1989).
const HALF: [f64; 9] = [36.0, 211.0, 1404.0, 11_633.0, 77_433.0, 502_690.0, 3_322_763.0, 21_292_910.0, 134_365_911.0];
const TWO_THIRDS: [f64; 10] =
    [3.0, 70.0, 285.0, 1276.0, 6160.0, 27_128.0, 117_019.0, 498_860.0, 2_103_891.0, 8_784_123.0];
const THREE_QUARTERS: [f64; 10] =
    [42.0, 201.0, 1492.0, 10_469.0, 62_935.0, 379_644.0, 2_253_373.0, 13_073_811.0, 75_152_755.0, 428_005_675.0];
const FIVE_SIXTHS: [f64; 10] = [
    92.0,
    528.0,
    8694.0,
    79_453.0,
    792_114.0,
    7_375_573.0,
    67_884_974.0,
    610_875_423.0,
    5_427_275_376.0,
    47_664_215_639.0,
];
