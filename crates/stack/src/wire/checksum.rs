//! The Internet checksum (RFC 1071): the complement of the one's-complement sum of 16-bit words.
//!
//! Sums can be added in any order and grouping, which three places use: the pseudo-headers of TCP (RFC 9293 3.1) and of a
//! data sequence mapping (RFC 8684 3.3.1) are summed apart from the payload; the payload is summed once for both; and a
//! mapping that spans segments is verified from the sums of its pieces. A piece at an odd distance from the start has its
//! octets in the other halves of the words, which swaps the octets of its sum (RFC 1071 2 B).
//!
//! Zero has two forms in one's complement. A sum is 0x0000 only if every octet is zero; every other sum that amounts to
//! zero is 0xffff, here as in any addition with end-around carry.

use core::net::IpAddr;

/// The protocol number of TCP, which its pseudo-header has (RFC 9293 3.1).
pub const TCP: u8 = 6;

/// A one's-complement sum of 16-bit words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum(pub u16);

/// Folds the carries of a sum of big-endian words into 16 bits.
#[inline]
fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

impl Sum {
    /// The sum of `octets`, the last one padded with zero if their number is odd.
    pub fn of(octets: &[u8]) -> Self {
        // RFC 1071 2 (B), (C): the machine's own byte order, several words at once; the carries stay in the upper half.
        let (mut wide, rest) = (0u64, octets.chunks_exact(8));
        let tail = rest.remainder();
        for chunk in rest {
            let word = u64::from_ne_bytes(get8(chunk));
            wide += (word & 0xffff_ffff) + (word >> 32);
        }
        let mut last = [0; 8];
        last.iter_mut().zip(tail).for_each(|(to, from)| *to = *from);
        let word = u64::from_ne_bytes(last);
        wide += (word & 0xffff_ffff) + (word >> 32);
        Self(u16::from_be_bytes(fold(wide).to_ne_bytes()))
    }

    /// Both together.
    #[inline]
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(fold(u64::from(self.0) + u64::from(other.0)))
    }

    /// Without `other`.
    #[inline]
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        self.plus(Self(!other.0))
    }

    /// What this sum contributes to a larger one in which it begins after `octets` octets: swapped if that number is odd.
    #[inline]
    #[must_use]
    pub fn at(self, octets: u64) -> Self {
        if octets % 2 == 0 { self } else { Self(self.0.swap_bytes()) }
    }

    /// The checksum field that makes everything sum up to zero.
    #[inline]
    pub fn checksum(self) -> u16 {
        !self.0
    }

    /// For a sum over everything, the checksum field included: the checksum is right.
    #[inline]
    pub fn is_valid(self) -> bool {
        self.0 == 0xffff
    }
}

impl From<u16> for Sum {
    fn from(word: u16) -> Self {
        Self(word)
    }
}

fn get8(chunk: &[u8]) -> [u8; 8] {
    chunk.first_chunk().copied().unwrap_or_default()
}

/// The pseudo-header of TCP and UDP: addresses, protocol number and length of header and payload (RFC 9293 3.1, RFC 768,
/// RFC 8200 8.1). For addresses of different families none is defined; each is then summed as it is.
pub fn pseudo_header(src: IpAddr, dst: IpAddr, protocol: u8, len: u32) -> Sum {
    let address = |a| match a {
        IpAddr::V4(v4) => Sum::of(&v4.octets()),
        IpAddr::V6(v6) => Sum::of(&v6.octets()),
    };
    address(src).plus(address(dst)).plus(Sum(protocol.into())).plus(Sum::of(&len.to_be_bytes()))
}

/// The pseudo-header of TCP.
pub fn tcp_pseudo_header(src: IpAddr, dst: IpAddr, len: u32) -> Sum {
    pseudo_header(src, dst, TCP, len)
}

/// The pseudo-header of a data sequence mapping: DSN, always in 64 bits, subflow sequence number, length (RFC 8684 3.3.1).
pub fn dss_pseudo_header(dsn: u64, ssn: u32, len: u16) -> Sum {
    Sum::of(&dsn.to_be_bytes()).plus(Sum::of(&ssn.to_be_bytes())).plus(Sum(len))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 1071 3: 00 01 f2 03 f4 f5 f6 f7 sum up to ddf2.
    #[test]
    fn the_example_of_rfc_1071_sums_up_to_ddf2() {
        let octets = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(Sum::of(&octets), Sum(0xddf2));
        assert_eq!(Sum::of(&octets).checksum(), 0x220d);
        assert!(Sum::of(&octets).plus(Sum(0x220d)).is_valid());
    }

    /// RFC 1071 2 (B): pieces of any length sum up to the whole, odd ones swapped.
    #[test]
    fn pieces_sum_up_to_the_whole() {
        let octets: Vec<u8> = (0..97u32).map(|i| (i * i + 7) as u8).collect();
        for a in 0..97 {
            for b in a..97 {
                let [x, y, z] = [&octets[..a], &octets[a..b], &octets[b..]].map(Sum::of);
                assert_eq!(x.plus(y.at(a as u64)).plus(z.at(b as u64)), Sum::of(&octets), "{a} {b}");
                let without = Sum::of(&octets).minus(x);
                assert_eq!(without, y.at(a as u64).plus(z.at(b as u64)), "{a} {b}");
            }
        }
    }
}
