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
//! All of it rests on acknowledgements that advance as soon as an original has arrived. Coupled acknowledgement breaks that:
//! the retransmission of a segment that is held for other subflows' data draws a duplicate, which means "genuine" (2.1 step
//! 2a). Such a timeout is found out only if those data come while the retransmission is on its way. Most of what waits there
//! ends in a fast retransmit anyway (`tests/it/coupled_ack.rs`).
//!
//! Response: RFC 4015.

use super::{AckSample, Episode, Judge, Response, Verdict};
use crate::controller::Cause;
use crate::registry::{Builtin, Info};
use crate::seq::Seq;

pub(crate) static BUILTIN: Builtin<dyn Judge> = Builtin {
    info: Info::new("frto", "after a timeout, new data first: the next two ACKs decide")
        .source("RFC 5682; response RFC 4015")
        .validated("scripted: delay spike with and without SACK, genuine loss, no new data, repeated timeouts"),
    make: |_, _| Box::new(Frto { step: Step::Idle }),
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Idle,
    /// Step 2: the first acknowledgement after the retransmission is awaited.
    First {
        /// snd_nxt at the timeout (RFC 5682 `recover` or `RecoveryPoint`, plus one).
        recover: Seq,
        /// End of the segment retransmitted in step 1.
        sent: Option<Seq>,
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

impl Frto {
    fn decide(&mut self, verdict: Verdict) -> Verdict {
        self.step = Step::Idle;
        verdict
    }
}

impl Judge for Frto {
    fn on_episode(&mut self, episode: &Episode) {
        // Step 1: not while another episode's retransmissions are out, which would be mistaken for originals.
        self.step = if episode.cause == Cause::Timeout && !episode.nested {
            Step::First { recover: episode.snd_nxt, sent: None }
        } else {
            Step::Idle
        };
    }

    fn on_retransmit(&mut self, _start: Seq, end: Seq) {
        self.step = match self.step {
            Step::First { recover, sent: None } => Step::First { recover, sent: Some(end) },
            // Step 1: the timer expired again, and `recover` is not reached. Step 2b: no new data could be sent,
            // retransmissions went on; an ACK no longer tells which copy it is for.
            _ => Step::Idle,
        };
    }

    fn on_ack(&mut self, e: &AckSample) -> Verdict {
        // A report of a duplicate and nothing else is a duplicate acknowledgement here (RFC 5681 2).
        let duplicate = e.duplicate || (e.dsack.is_some() && e.acked == 0 && e.sacked_original.is_none());
        match self.step {
            Step::Idle => Verdict::Pending,
            // Step 2.
            Step::First { recover, sent } => {
                if e.acked > 0 {
                    // 2a: all is acknowledged at once, or not all that was retransmitted: conventional recovery.
                    if e.snd_una >= recover || sent.is_some_and(|end| e.snd_una < end) {
                        return self.decide(Verdict::Genuine);
                    }
                    // 2b.
                    self.step = Step::Second { recover };
                    Verdict::Probe
                } else if duplicate && !e.sack {
                    self.decide(Verdict::Genuine)
                } else {
                    Verdict::Pending
                }
            }
            // Step 3.
            Step::Second { recover } => {
                // 3a of section 3: what acknowledges new data says nothing of the originals.
                let beyond = e.snd_una > recover || e.sacked_original.is_some_and(|end| end > recover);
                if e.sack && beyond {
                    self.decide(Verdict::Genuine)
                } else if e.acked > 0 || e.sacked_original.is_some() {
                    self.decide(Verdict::Spurious)
                } else if duplicate {
                    self.decide(Verdict::Genuine)
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
