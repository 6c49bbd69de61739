//! Sequence numbers without wrap-around inside, with wrap-around on the wire.
//!
//! A subflow's sequence numbers are kept unwrapped in 64 bits; the wire carries the low 32 (RFC 9293 3.4). A number that
//! arrives is unwrapped to the value nearest to one already known. That is unambiguous within 2^31, the bound that RFC 7323 2.2
//! sets for windows. Unwrapped numbers are compared like any integers.

use core::fmt;
use core::ops::{Add, AddAssign, Sub};

/// An unwrapped subflow sequence number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seq(pub u64);

impl Seq {
    /// The unwrapped form of an initial sequence number, far from zero so that older numbers exist.
    pub fn initial(isn: u32) -> Self {
        Self((1 << 32) + u64::from(isn))
    }

    /// The low 32 bits, which the wire carries.
    #[inline]
    pub fn wire(self) -> u32 {
        self.0 as u32
    }

    /// The number nearest to `near` whose low 32 bits are `wire`.
    #[inline]
    pub fn unwrap(wire: u32, near: Self) -> Self {
        let distance = wire.wrapping_sub(near.0 as u32) as i32;
        Self(near.0.wrapping_add_signed(i64::from(distance)))
    }
}

impl Add<u64> for Seq {
    type Output = Self;
    #[inline]
    fn add(self, octets: u64) -> Self {
        Self(self.0 + octets)
    }
}

impl AddAssign<u64> for Seq {
    #[inline]
    fn add_assign(&mut self, octets: u64) {
        self.0 += octets;
    }
}

impl Sub for Seq {
    type Output = u64;
    /// Octets from `other` to `self`; zero if `other` is later.
    #[inline]
    fn sub(self, other: Self) -> u64 {
        self.0.saturating_sub(other.0)
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.wire())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_unwrap_to_the_nearest() {
        let near = Seq::initial(u32::MAX - 10);
        assert_eq!(Seq::unwrap(5, near), near + 16);
        assert_eq!(Seq::unwrap(u32::MAX - 20, near).0, near.0 - 10);
        assert_eq!((near + 16).wire(), 5);
    }
}
