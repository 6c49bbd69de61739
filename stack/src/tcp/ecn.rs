//! Explicit congestion notification (RFC 3168): negotiation, and the echo of CE marks.

use crate::segment::{Ecn as Codepoint, Flags, Segment};

/// ECN of one subflow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ecn {
    /// Negotiated; before the handshake completes: offered.
    pub on: bool,
    /// Echo ECE in every acknowledgement until CWR arrives (6.1.3).
    pub echo: bool,
}

impl Ecn {
    pub fn new(on: bool) -> Self {
        Self { on, echo: false }
    }

    /// 6.1.1: a SYN carries ECE and CWR, a SYN/ACK carries ECE alone.
    pub fn take_syn(&mut self, syn: &Segment) {
        let answer = syn.flags.has(Flags::ACK);
        self.on &= syn.flags.has(Flags::ECE) && syn.flags.has(Flags::CWR) != answer;
    }

    /// 6.1.3: the receiver echoes a CE mark until the sender answers with CWR. Returns true if `seg` carries a mark, which must
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
}
