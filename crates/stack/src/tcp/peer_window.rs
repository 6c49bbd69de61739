//! The window that the peer advertises on one subflow (RFC 9293 3.10.7.4, RFC 7323 2, RFC 8684 3.3.5).

use crate::segment::Segment;
use crate::seq::Seq;

/// The peer's window and what decides whether a segment may update it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PeerWindow {
    /// SND.WL1: sequence number of the segment that last updated the window.
    wl1: Seq,
    /// SND.WL2: acknowledgement number of that segment.
    wl2: Seq,
    /// Window of the latest acknowledgement, in octets: an unsigned number of 64 bits (RFC 9293 3.1).
    last: u64,
    /// MAX.SND.WND of RFC 5961 5.2: the largest window received, in octets.
    max: u64,
    /// Window scale of the peer.
    pub shift: u8,
}

impl PeerWindow {
    pub fn new() -> Self {
        Self { wl1: Seq(0), wl2: Seq(0), last: 0, max: 0, shift: 0 }
    }

    /// Takes the peer's SYN: its window, which is not scaled, and its window scale (RFC 7323 2.2: of no other segment; 2.3: shifts above 14 count as 14).
    pub fn take_syn(&mut self, syn: &Segment) {
        self.max = u64::from(syn.window);
        self.shift = syn.options.window_scale.map_or(0, |shift| shift.min(14));
    }

    /// A segment of the handshake sets SND.WL1 and SND.WL2.
    pub fn set(&mut self, seq: Seq, ack: Seq) {
        (self.wl1, self.wl2) = (seq, ack);
    }

    /// Octets that `seg` advertises, shifted (RFC 7323 2.3).
    #[inline]
    pub fn of(&self, seg: &Segment) -> u64 {
        u64::from(seg.window) << self.shift
    }

    /// The acknowledgement number is below SND.UNA by more than the largest window (RFC 5961 5.2).
    #[inline]
    pub fn is_too_old(&self, ack: Seq, una: Seq) -> bool {
        ack + self.max < una
    }

    /// Takes the window of an acceptable acknowledgement. Returns whether it equals the previous one, and whether the segment is
    /// newer than SND.WL1 and SND.WL2 and so updates the window, also to a smaller one (RFC 7323 2.4).
    #[inline(always)]
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
