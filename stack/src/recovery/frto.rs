//! `frto`: Forward RTO-Recovery (RFC 5682), basic and SACK-enhanced.
//!
//! After a timeout only the first unacknowledged segment is retransmitted; the next two acknowledgements decide. If the
//! first one advances, up to two *new* segments are sent instead of further retransmissions; if the second one advances
//! too, it was triggered by an original: the timeout was spurious. A duplicate says the opposite. No options are needed
//! for that. With SACK (section 3) duplicates before the first advance do not count, since they tell what they are, and a SACK
//! of a segment never retransmitted decides as well.
//!
//! It needs new data and windows to send them, says nothing of fast retransmits, and is misled by reordering of the
//! segment that timed out.
//!
//! Response: RFC 4015.

use super::{Episode, Evidence, Make, Recovery, Response, Verdict};
use crate::controller::Cause;
use crate::registry::Entry;
use crate::seq::Seq;

pub(super) const ENTRY: Entry<Make> = Entry {
    name: "frto",
    summary: "after a timeout, new data first: the next two ACKs decide",
    source: "RFC 5682; response RFC 4015",
    needs: "",
    validated: "scripted: delay spike with and without SACK, genuine loss",
    make: |_| Box::new(Frto { step: Step::Idle }),
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Idle,
    /// Step 2: the first acknowledgement after the retransmission is awaited.
    First {
        recover: Seq,
    },
    /// Step 3: new data is out, the second one is awaited.
    Second {
        recover: Seq,
    },
}

#[derive(Debug)]
struct Frto {
    step: Step,
}

impl Recovery for Frto {
    fn on_episode(&mut self, episode: &Episode) {
        // Step 1: not while another episode's retransmissions are out, which would be mistaken for originals.
        self.step = if episode.cause == Cause::Timeout && !episode.nested {
            Step::First { recover: episode.snd_nxt }
        } else {
            Step::Idle
        };
    }

    fn on_retransmit(&mut self, _start: Seq, _end: Seq) {
        // Step 2b: no new data could be sent, retransmissions went on; an ACK no longer tells which copy it is for.
        if matches!(self.step, Step::Second { .. }) {
            self.step = Step::Idle;
        }
    }

    fn on_ack(&mut self, e: &Evidence) -> Verdict {
        match self.step {
            Step::Idle => Verdict::Pending,
            // Step 2.
            Step::First { recover } => {
                if e.acked > 0 && e.snd_una < recover {
                    self.step = Step::Second { recover };
                    Verdict::Probe
                } else if e.acked > 0 || (e.duplicate && !e.sack) {
                    // All is acknowledged at once, or a duplicate: conventional recovery.
                    self.step = Step::Idle;
                    Verdict::Genuine
                } else {
                    Verdict::Pending
                }
            }
            // Step 3.
            Step::Second { recover } => {
                let original = e.sacked_original.is_some_and(|end| end <= recover);
                if e.acked > 0 || original {
                    self.step = Step::Idle;
                    Verdict::Spurious
                } else if e.duplicate {
                    self.step = Step::Idle;
                    Verdict::Genuine
                } else {
                    Verdict::Pending
                }
            }
        }
    }

    fn default_response(&self) -> Response {
        Response::Rfc4015
    }
}
