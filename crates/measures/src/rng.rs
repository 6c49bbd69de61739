//! Randomness: one seed, an independent stream for each component by its name.
//!
//! A component that is added, or that draws more numbers, does not change those of any other component.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng};
use sha2::{Digest, Sha256};

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Rng(Xoshiro256PlusPlus);

/// 32 octets derived from the seed and a name.
pub fn derive(seed: u64, name: &str) -> [u8; 32] {
    Sha256::new().chain_update(seed.to_be_bytes()).chain_update(name.as_bytes()).finalize().into()
}

impl Rng {
    /// The stream of the component called `name`.
    pub fn new(seed: u64, name: &str) -> Self {
        Self(Xoshiro256PlusPlus::from_seed(derive(seed, name)))
    }

    /// A number uniform in [0, 1), with 53 random bits.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// True with probability `p`. Draws no number if `p` is 0 or 1.
    #[inline]
    pub fn chance(&mut self, p: f64) -> bool {
        p > 0.0 && self.uniform() < p
    }
}
