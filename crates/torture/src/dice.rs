//! Numbers for drawn scenarios: a stream of the laboratory's randomness, and how quantities are written.

use toml::{Table, Value};

use anabranch_measures::rng::Rng;

/// Draws values.
#[derive(Clone, Debug)]
pub struct Dice(Rng);

impl Dice {
    /// The stream called `name` of `seed`.
    pub fn new(seed: u64, name: &str) -> Self {
        Self(Rng::new(seed, &format!("torture {name}")))
    }

    /// A whole number from `least` to `most`.
    pub fn whole(&mut self, least: u64, most: u64) -> u64 {
        least + ((most - least + 1) as f64 * self.0.uniform()) as u64
    }

    /// A number from `least` to `most`.
    pub fn real(&mut self, least: f64, most: f64) -> f64 {
        least + (most - least) * self.0.uniform()
    }

    /// A whole number from `least` to `most`, each power of two as likely as any other.
    pub fn spread(&mut self, least: u64, most: u64) -> u64 {
        let octaves = |n: u64| 64 - n.max(1).leading_zeros();
        let octave = self.whole(octaves(least).into(), octaves(most).into());
        let (low, high) = ((1_u64 << (octave - 1)).max(least), ((1_u64 << (octave - 1)) * 2 - 1).min(most));
        self.whole(low.min(high), high)
    }

    /// True `percent` times of a hundred.
    pub fn percent(&mut self, percent: u32) -> bool {
        self.0.uniform() * 100.0 < f64::from(percent)
    }

    /// One of `choices`.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.whole(0, choices.len() as u64 - 1) as usize]
    }

    /// One of some words.
    pub fn word(&mut self, choices: &[&str]) -> Value {
        Value::from(self.pick(choices))
    }

    /// True or false.
    pub fn flag(&mut self) -> Value {
        Value::from(self.percent(50))
    }

    /// A time from `least` to `most` microseconds.
    pub fn micros(&mut self, least: u64, most: u64) -> Value {
        micros(self.spread(least.max(1), most))
    }

    /// A number of octets.
    pub fn octets(&mut self, least: u64, most: u64) -> Value {
        octets(self.spread(least, most))
    }

    /// A share up to `most` percent.
    pub fn share(&mut self, most: f64) -> Value {
        Value::from(format!("{:.4} %", self.real(0.0, most)))
    }
}

/// So many microseconds.
pub fn micros(n: u64) -> Value {
    Value::from(format!("{n} us"))
}

/// So many octets.
pub fn octets(n: u64) -> Value {
    Value::from(format!("{n} B"))
}

/// A table of these keys.
pub fn table<const N: usize>(keys: [(&str, Value); N]) -> Value {
    Value::Table(keys.into_iter().map(|(k, v)| (k.to_owned(), v)).collect::<Table>())
}
