//! Explicit congestion notification (RFC 3168): what is negotiated, and what is echoed.

use crate::segment::{Ecn as Codepoint, Flags, Segment};

/// ECN of one subflow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ecn {
    /// Agreed on by both sides (so far as is known).
    pub on: bool,
    /// A CE mark is to be echoed until CWR comes (6.1.3).
    pub echo: bool,
}

impl Ecn {
    pub fn new(on: bool) -> Self {
        Self { on, echo: false }
    }

    /// 6.1.1: ECE and CWR on a SYN, ECE alone on a SYN/ACK.
    pub fn take_syn(&mut self, syn: &Segment) {
        let answer = syn.flags.has(Flags::ACK);
        self.on &= syn.flags.has(Flags::ECE) && syn.flags.has(Flags::CWR) != answer;
    }

    /// 6.1.3: the receiver echoes a CE mark until the sender says CWR. True if an acknowledgement has to say so at once.
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
