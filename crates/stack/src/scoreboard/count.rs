//! How many segments are in flight, counted for who looks at a subflow: the engine itself does not.

use super::{LOST, RETRANSMITTED, SACKED, Scoreboard, Sent};

/// Numbers of segments between SND.UNA and SND.NXT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segments {
    /// All of them, the FIN included.
    pub all: u32,
    /// SACKed.
    pub sacked: u32,
    /// Lost and not SACKed, whether or not they were retransmitted.
    pub lost: u32,
    /// Retransmitted since they counted as lost, and not SACKed.
    pub retransmitted: u32,
}

impl Scoreboard {
    /// From now on each segment counts for `least` octets in flight, if it has fewer. Zero: for those that it has.
    pub fn count_as(&mut self, least: u32) {
        self.least = least;
        self.pipe = self.segments.iter().map(|s| self.in_pipe(s)).sum();
    }

    /// What a segment of `len` octets counts for in `pipe`.
    #[inline]
    pub fn weight(&self, len: u32) -> u64 {
        u64::from(len.max(self.least))
    }

    /// Number of segments outstanding.
    pub fn outstanding(&self) -> u64 {
        self.segments.len() as u64
    }

    /// Segments that have reached the peer since the subflow began: acknowledged, or SACKed.
    pub fn delivered(&self) -> u64 {
        self.entered - (self.segments.len() - self.sacked) as u64
    }

    /// Number of outstanding segments that are SACKed.
    pub fn sacked_segments(&self) -> usize {
        self.sacked
    }

    /// Outstanding octets that are SACKed.
    pub fn sacked_octets(&self) -> u64 {
        self.segments.iter().filter(|s| s.is(SACKED)).map(|s| u64::from(s.len)).sum()
    }

    /// How many segments are in flight, and what is known of them.
    pub fn count(&self) -> Segments {
        let of = |s: &Sent| s.flags & (SACKED | LOST | RETRANSMITTED);
        let number = |test: fn(u8) -> bool| self.segments.iter().filter(|s| test(of(s))).count() as u32;
        Segments {
            all: self.segments.len() as u32,
            sacked: number(|f| f & SACKED != 0),
            lost: number(|f| f & (SACKED | LOST) == LOST),
            retransmitted: number(|f| f & (SACKED | RETRANSMITTED) == RETRANSMITTED),
        }
    }
}
