//! `frto`: Forward RTO-Recovery (RFC 5682), basic and SACK-enhanced.
//!
//! After a timeout only the head segment is retransmitted, and the next two acknowledgements decide. If the first one advances
//! SND.UNA, up to two *new* segments are sent instead of further retransmissions. If the second one advances SND.UNA too, an
//! original triggered it, and the timeout was spurious. A duplicate means the opposite. This needs no options. With SACK (section
//! 3), duplicates before the first advance do not count, because their SACK blocks say what arrived; and a SACK block for a
//! segment that was never retransmitted decides as well.
//!
//! F-RTO needs new data and room in the windows to send it. It says nothing about fast retransmits, and is misled if the segment
//! that timed out is reordered.
//!
//! All of this assumes that an acknowledgement advances as soon as an original has arrived. Coupled acknowledgement breaks the
//! assumption: a retransmission of a segment that is held for data of other subflows elicits a duplicate, which means "genuine"
//! (2.1 step 2a). Such a timeout is detected as spurious only if that data arrives while the retransmission is in flight. Most
//! held segments cause a fast retransmit anyway (`tests/it/coupled_ack.rs`).
//!
//! Response: RFC 4015.

use super::{AckSample, Episode, Judge, Response, Verdict};
use crate::controller::Cause;
use crate::registry::{Builtin, Info};
use crate::seq::Seq;

pub(crate) static BUILTIN: Builtin<dyn Judge> = Builtin {
    info: Info::new(
        "frto",
        "after a timeout it sends new data; the next two ACKs show whether the timeout was spurious",
    )
    .source("RFC 5682; response RFC 4015")
    .validated("scripts: delay spike with and without SACK, genuine loss, no new data, repeated timeouts")
    .label("F-RTO"),
    make: |_, _| Box::new(Frto { step: Step::Idle }),
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Idle,
    /// Step 2: awaits the first acknowledgement after the retransmission.
    First {
        /// SND.NXT at the timeout (RFC 5682 `recover` or `RecoveryPoint`, plus one).
        recover: Seq,
        /// End of the segment retransmitted in step 1.
        sent: Option<Seq>,
    },
    /// Step 3: new data was sent; awaits the second acknowledgement.
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
        // RFC 5682 2.1, 3.1, step 1: not while retransmissions of another episode are in flight, which could be mistaken for originals.
        self.step = if episode.cause == Cause::Timeout && !episode.nested {
            Step::First { recover: episode.snd_nxt, sent: None }
        } else {
            Step::Idle
        };
    }

    fn on_retransmit(&mut self, _start: Seq, end: Seq) {
        self.step = match self.step {
            Step::First { recover, sent: None } => Step::First { recover, sent: Some(end) },
            // RFC 5682 2.1, 3.1, step 1: the timer expired again before `recover` was reached. Step 2b: no new data could be sent, and
            // retransmissions continued. In both cases an ACK no longer tells which copy it is for.
            _ => Step::Idle,
        };
    }

    fn on_ack(&mut self, e: &AckSample) -> Verdict {
        // An acknowledgement with only a D-SACK report is a duplicate acknowledgement here (RFC 5681 2).
        let duplicate = e.duplicate || (e.dsack.is_some() && e.acked == 0 && e.sacked_original.is_none());
        match self.step {
            Step::Idle => Verdict::Pending,
            // RFC 5682 2.1, without SACK, and 3.1, step 2.
            Step::First { recover, sent } => {
                if e.acked > 0 {
                    // 2a: everything is acknowledged at once, or not all of the retransmission: conventional recovery.
                    if e.snd_una >= recover || sent.is_some_and(|end| e.snd_una < end) {
                        return self.decide(Verdict::Genuine);
                    }
                    // 2b.
                    self.step = Step::Second { recover };
                    Verdict::Probe
                } else if duplicate && !e.sack {
                    self.decide(Verdict::Genuine)
                } else {
                    // RFC 5682 2.1: neither acknowledges new data nor is a duplicate.
                    Verdict::Pending
                }
            }
            // Step 3.
            Step::Second { recover } => {
                // RFC 5682 3.1, step 3a: an acknowledgement beyond `recover` covers new data and says nothing about the originals.
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
