//! The targets.

pub mod capture;
pub mod endpoint;
pub mod interface;
pub mod link;
pub mod options;
pub mod packet;
pub mod scenario;
pub mod script;
pub mod segment;

use std::hash::{Hash, Hasher};

use crate::Target;

/// All of them.
pub const TARGETS: &[Target] = &[
    packet::TARGET,
    options::TARGET,
    segment::TARGET,
    endpoint::TARGET,
    endpoint::LIAR,
    capture::TARGET,
    scenario::TARGET,
    link::TARGET,
    script::TARGET,
    interface::TARGET,
];

/// A number for a kind of input.
fn kind(of: impl Hash) -> u64 {
    // Not `DefaultHasher`: a run has to be the same with every version of the library.
    struct Fnv(u64);
    impl Hasher for Fnv {
        fn finish(&self) -> u64 {
            self.0
        }
        fn write(&mut self, octets: &[u8]) {
            octets.iter().for_each(|&o| self.0 = (self.0 ^ u64::from(o)).wrapping_mul(0x0100_0000_01b3));
        }
    }
    let mut fnv = Fnv(0xcbf2_9ce4_8422_2325);
    of.hash(&mut fnv);
    fnv.finish()
}
