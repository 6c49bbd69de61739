//! The window that the peer advertises on one subflow (RFC 9293 3.10.7.4, RFC 7323 2).

use crate::segment::Segment;
use crate::seq::Seq;

/// The peer's window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PeerWindow {
    /// SND.WL1: number of the segment that set it.
    wl1: Seq,
    /// SND.WL2: acknowledgement number of that segment.
    wl2: Seq,
    /// Of the last acknowledgement, in octets.
    last: u64,
    /// RFC 5961 5.2 MAX.SND.WND: the largest shown here, in octets.
    max: u64,
    /// Its scale.
    pub shift: u8,
}

impl PeerWindow {
    pub fn new() -> Self {
        Self { wl1: Seq(0), wl2: Seq(0), last: 0, max: 0, shift: 0 }
    }

    /// The peer's SYN: its window, which is not scaled, and its scale (RFC 7323 2.3: larger shifts count as 14).
    pub fn take_syn(&mut self, syn: &Segment) {
        self.max = u64::from(syn.window);
        self.shift = syn.options.window_scale.map_or(0, |shift| shift.min(14));
    }

    /// Set by a segment of the handshake.
    pub fn set(&mut self, seq: Seq, ack: Seq) {
        (self.wl1, self.wl2) = (seq, ack);
    }

    /// Octets that a segment advertises.
    #[inline]
    pub fn of(&self, seg: &Segment) -> u64 {
        u64::from(seg.window) << self.shift
    }

    /// An acknowledgement older by more than the largest window (RFC 5961 5.2).
    #[inline]
    pub fn is_too_old(&self, ack: Seq, una: Seq) -> bool {
        ack + self.max < una
    }

    /// The window of an acknowledgement that counts. Whether it is the same as the last one's, and whether it is news: newer than that of
    /// SND.WL1 and SND.WL2.
    #[inline]
    pub fn note(&mut self, seq: Seq, ack: Seq, una: Seq, window: u64) -> (bool, bool) {
        let same = window == self.last;
        self.last = window;
        self.max = self.max.max(window);
        let new = ack >= una && (self.wl1 < seq || (self.wl1 == seq && self.wl2 <= ack));
        if new {
            (self.wl1, self.wl2) = (seq, ack);
        }
        (same, new)
    }
}
