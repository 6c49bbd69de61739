//! Which of the segments in flight an acknowledgement says have arrived, and when they were sent.

use super::{EVER_RETRANSMITTED, Sent};
use crate::seq::Seq;
use crate::time::Instant;

/// Segments that have newly arrived, for detection by time (RFC 8985 6.2 steps 2 and 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrivals {
    /// Of the segments that were never retransmitted, the one sent last: when it was sent, and its end.
    pub original: Option<(Instant, Seq)>,
    /// Of the segments that were retransmitted, the one sent last.
    pub copy: Option<(Instant, Seq)>,
    /// Of the segments that were never retransmitted, the lowest: its end, and when it was sent.
    pub lowest: Option<(Seq, Instant)>,
}

impl Arrivals {
    /// Segments that were sent once, of which these are the first and the last.
    #[inline]
    pub(super) fn of_originals(first: &Sent, last: &Sent) -> Self {
        let (original, lowest) = (Some((last.sent_at, last.end())), Some((first.end(), first.sent_at)));
        Self { original, copy: None, lowest }
    }

    /// Each original is above the one before, so it was sent later.
    #[inline]
    pub(super) fn note(&mut self, s: &Sent) {
        let this = Some((s.sent_at, s.end()));
        if s.is(EVER_RETRANSMITTED) {
            self.copy = self.copy.max(this);
        } else {
            self.lowest = self.lowest.or(Some((s.end(), s.sent_at)));
            self.original = this;
        }
    }

    /// Combines these arrivals with `others`.
    pub(crate) fn and(self, others: Self) -> Self {
        Self {
            original: self.original.max(others.original),
            copy: self.copy.max(others.copy),
            lowest: self.lowest.into_iter().chain(others.lowest).min(),
        }
    }
}
