//! The rate of a link over time, in pieces in which it is constant.

use std::collections::VecDeque;
use std::fmt::Debug;

/// Where the pieces come from, in order of time.
pub trait Source: Debug + Send {
    /// The rate from `from` on, in bit/s, and until when; `from` is the end of the piece before.
    fn next(&mut self, from: u64) -> (u64, u64);
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    from: u64,
    until: u64,
    rate: u64,
}

/// The pieces from the latest question on.
#[derive(Debug)]
pub struct Rates {
    source: Box<dyn Source>,
    pieces: VecDeque<Piece>,
    /// Bits until the first piece.
    passed: f64,
    /// Where the last piece ends.
    known: u64,
}

impl Rates {
    pub fn new(source: Box<dyn Source>) -> Self {
        Self { source, pieces: VecDeque::new(), passed: 0.0, known: 0 }
    }

    /// The first piece is the one at `now`, which is not before that of the last question.
    fn at(&mut self, now: u64) -> Piece {
        while let Some(first) = self.pieces.front().filter(|p| p.until <= now) {
            self.passed += first.rate as f64 * (first.until - first.from) as f64 / 1e9;
            self.pieces.pop_front();
        }
        loop {
            if let Some(first) = self.pieces.front() {
                return *first;
            }
            let piece = self.more();
            if piece.until <= now {
                self.passed += piece.rate as f64 * (piece.until - piece.from) as f64 / 1e9;
            } else {
                self.pieces.push_back(piece);
            }
        }
    }

    fn more(&mut self) -> Piece {
        let from = self.known;
        let (rate, until) = self.source.next(from);
        debug_assert!(until > from, "a piece has a length");
        self.known = until;
        Piece { from, until, rate }
    }

    /// Bits until `now`.
    pub fn bits(&mut self, now: u64) -> f64 {
        let first = self.at(now);
        self.passed + first.rate as f64 * (now - first.from) as f64 / 1e9
    }

    /// When `octets` have been transmitted whose transmission begins at `now`, or may not begin before `begin`.
    pub fn end(&mut self, now: u64, begin: u64, octets: u32) -> u64 {
        self.at(now);
        // Bits times 10^9; a piece of an hour at 1 Tbit/s is beyond 64 bits.
        let mut left = u128::from(octets) * 8_000_000_000;
        let mut i = 0;
        loop {
            if i == self.pieces.len() {
                let piece = self.more();
                self.pieces.push_back(piece);
            }
            let piece = self.pieces[i];
            let from = piece.from.max(begin);
            if from < piece.until {
                let fits = u128::from(piece.rate) * u128::from(piece.until - from);
                if fits >= left {
                    return from + left.div_ceil(u128::from(piece.rate)) as u64;
                }
                left -= fits;
            }
            i += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Steps(&'static [u64]);

    impl Source for Steps {
        fn next(&mut self, from: u64) -> (u64, u64) {
            let i = (from / 1_000_000_000) as usize;
            (self.0[i % self.0.len()], (i as u64 + 1) * 1_000_000_000)
        }
    }

    const S: u64 = 1_000_000_000;

    /// 8 bit/s, nothing, 16 bit/s, each for a second: one octet a second, none, two.
    #[test]
    fn a_transmission_goes_through_the_pieces_and_waits_where_the_rate_is_zero() {
        let mut r = Rates::new(Box::new(Steps(&[8, 0, 16])));
        assert_eq!(r.end(0, 0, 1), S);
        assert_eq!(r.end(0, 0, 2), 2 * S + S / 2);
        assert_eq!((r.end(0, 0, 5), r.end(0, 0, 7)), (5 * S + S / 2, 7 * S), "1, 0, 2, 1, 0, 2, 1");
        assert_eq!(r.end(S / 2, S / 2, 1), 2 * S + S / 4);
        assert_eq!(r.end(S, 2 * S + S / 2, 1), 3 * S, "it may not begin before");
        assert_eq!([S, 2 * S, 2 * S + S / 2, 3 * S].map(|t| r.bits(t)), [8.0, 8.0, 16.0, 24.0]);
    }
}
