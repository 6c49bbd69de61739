//! Acknowledgements of segments of which nothing was heard before.

use super::{Arrivals, Scoreboard};
use crate::seq::Seq;

impl Scoreboard {
    /// Nothing is SACKed.
    #[inline]
    pub fn is_unsacked(&self) -> bool {
        self.sacked == 0
    }

    /// Processes a cumulative acknowledgement up to `ack` if nothing is SACKed and it covers whole segments, none of which was sent twice or
    /// is the FIN, and segments do not [count as](Scoreboard::count_as) longer ones. Returns the octets and the segments; otherwise `None`, having done nothing.
    #[inline(always)]
    pub fn acknowledge_plain(&mut self, ack: Seq) -> Option<(u64, Arrivals)> {
        let (mut n, mut last) = (0, None);
        for s in &self.segments {
            if s.end() > ack || s.flags != 0 {
                break;
            }
            (n, last) = (n + 1, Some(s));
        }
        let last = last.filter(|last| last.end() == ack && self.sacked == 0)?;
        let first = self.segments[0];
        let octets = ack - first.seq;
        let arrivals = Arrivals::of_originals(&first, last);
        debug_assert_eq!(self.least, 0, "segments count for what they have");
        self.pipe -= octets;
        self.lost_edge = self.lost_edge.max(ack);
        for _ in 0..n {
            self.segments.pop_front();
        }
        Some((octets, arrivals))
    }
}
