//! Explicit congestion notification (RFC 3168): negotiation, and the echo of CE marks. For a controller that counts marks the receiver
//! echoes exactly (RFC 8257 3.2): ECE says whether the last segment was marked.

use crate::segment::{Ecn as Codepoint, Flags, Segment};
use crate::seq::Seq;

/// ECN of one subflow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ecn {
    /// Negotiated; before the handshake completes: offered.
    pub on: bool,
    /// Echo ECE in every acknowledgement: until CWR arrives (6.1.3); or DCTCP.CE of RFC 8257 3.2.
    pub echo: bool,
    /// RFC 8257 3.2.
    exact: bool,
    /// RFC 8257 3.2: the number of the acknowledgement that is sent first, with the echo as it was before.
    before: Option<Seq>,
}

impl Ecn {
    pub fn new(on: bool, exact: bool) -> Self {
        Self { on, echo: false, exact, before: None }
    }

    /// RFC 3168 6.1.1: a SYN carries ECE and CWR, a SYN/ACK carries ECE alone.
    pub fn take_syn(&mut self, syn: &Segment) {
        let answer = syn.flags.has(Flags::ACK);
        self.on &= syn.flags.has(Flags::ECE) && syn.flags.has(Flags::CWR) != answer;
    }

    /// The mark of `seg`, which carries data, or the lack of one has to be noted.
    #[inline]
    pub fn has_news(&self, seg: &Segment) -> bool {
        let marked = seg.ecn == Codepoint::Ce;
        self.on && if self.exact { marked != self.echo } else { marked }
    }

    /// RFC 3168 6.1.1, 6.1.3: the receiver echoes a CE mark until the sender answers with CWR. Returns true if `seg` carries a mark, which must
    /// be acknowledged at once.
    #[inline]
    pub fn note_marks(&mut self, seg: &Segment) -> bool {
        if !self.on {
            return false;
        }
        if seg.flags.has(Flags::CWR) {
            self.echo = false;
        }
        let marked = seg.ecn == Codepoint::Ce;
        self.echo |= marked;
        marked
    }

    /// The echo is exact.
    #[inline]
    pub fn is_exact(&self) -> bool {
        self.on && self.exact
    }

    /// RFC 8257 3.2: the state changes with the mark of a segment with data. Returns true if it has changed, which must be acknowledged at
    /// once. If an acknowledgement is delayed, its number `delayed` leaves first, with the old state: each acknowledgement then speaks for
    /// segments of one kind.
    pub fn note_exactly(&mut self, seg: &Segment, delayed: Option<Seq>) -> bool {
        let changes = seg.payload.len > 0 && (seg.ecn == Codepoint::Ce) != self.echo;
        if changes {
            self.before = delayed.filter(|_| self.before.is_none());
            self.echo = !self.echo;
        }
        changes
    }

    /// The number of the acknowledgement with the old state, if one is to be sent.
    #[inline]
    pub fn take_before(&mut self) -> Option<Seq> {
        self.before.take()
    }
}
