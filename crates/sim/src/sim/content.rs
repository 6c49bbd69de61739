//! What the applications write: octets that are a fixed function of their place in the stream.
//!
//! The engine moves references; where octets are wanted (captures, `bytes = true`), octet n of any stream is octet n mod 8,
//! most significant first, of the 64-bit word number n div 8, which is the finalizer of SplitMix64 (Steele, Lea, Flood 2014)
//! of (n div 8 + 1) times 0x9e3779b97f4a7c15. Octets in a wrong place are wrong octets.

use anabranch_stack::wire::checksum::Sum;

fn word(number: u64) -> [u8; 8] {
    let z = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ z >> 31).to_be_bytes()
}

/// Words of a stream; octets below zero, which a middlebox may have put in, are those of the last ones.
const WORDS: u64 = 1 << 61;

/// Writes the octets from `offset` on.
pub fn fill(offset: u64, mut out: &mut [u8]) {
    let (mut number, into) = (offset / 8, (offset % 8) as usize);
    if into > 0 {
        let first = out.len().min(8 - into);
        let (head, rest) = out.split_at_mut(first);
        head.copy_from_slice(&word(number)[into..into + first]);
        (out, number) = (rest, (number + 1) % WORDS);
    }
    for chunk in out.chunks_mut(8) {
        chunk.copy_from_slice(&word(number)[..chunk.len()]);
        number = (number + 1) % WORDS;
    }
}

/// The one's-complement sum of `len` octets from `offset` on.
pub fn sum(offset: u64, len: usize) -> Sum {
    let mut octets = vec![0; len];
    fill(offset, &mut octets);
    Sum::of(&octets)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first output of SplitMix64 seeded with 0 (java.util.SplittableRandom's published generator).
    #[test]
    fn the_stream_begins_with_the_first_output_of_splitmix64() {
        let mut octets = [0; 8];
        fill(0, &mut octets);
        assert_eq!(u64::from_be_bytes(octets), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn after_octets_below_zero_comes_the_first() {
        let (mut first, mut moved) = ([0; 40], [0; 44]);
        fill(0, &mut first);
        fill(0_u64.wrapping_sub(4), &mut moved);
        assert_eq!(moved[4..], first);
    }

    #[test]
    fn a_piece_is_what_the_whole_has_there() {
        let mut whole = [0; 64];
        fill(0, &mut whole);
        for from in 0..64 {
            for to in from..64 {
                let mut piece = vec![0; to - from];
                fill(from as u64, &mut piece);
                assert_eq!(piece, whole[from..to], "{from} to {to}");
            }
        }
    }
}
