//! Randomness: one seed, an independent stream for each component by its name.
//!
//! Adding a component, or asking one of them more often, changes no other component's numbers.

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

    /// Uniform in [0, 1), 53 bits.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// True with probability `p`; asks for no number if that is certain.
    #[inline]
    pub fn chance(&mut self, p: f64) -> bool {
        p > 0.0 && self.uniform() < p
    }
}
