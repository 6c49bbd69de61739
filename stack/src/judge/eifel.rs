//! `eifel`: the Eifel detection algorithm (RFC 3522).
//!
//! The timestamp of an episode's first retransmission is stored. The first acceptable ACK after it, one that acknowledges
//! new data, echoes either an older timestamp, and then the original has arrived and the retransmission was spurious; or
//! not, and then the algorithm is silent. Detection takes one ACK, so a spurious timeout is found before anything more is
//! retransmitted.
//!
//! One case is let alone on purpose (3.3): all ACKs of a window are lost. The retransmission arrives as a duplicate, and its
//! ACK echoes the last segment in order, an older timestamp; but that timeout could not be avoided, and the way back is
//! congested. Such an ACK carries a D-SACK, or, from a receiver that never sends any, acknowledges all that is outstanding.
//!
//! Blind spots: an original and its retransmission that are themselves reordered; a timestamp clock that has not ticked
//! between the two (here it ticks each millisecond); a lost ACK in between costs nothing. With coupled acknowledgement the
//! original waits at the acknowledgement, and a retransmission that arrives meanwhile is what will be echoed (RFC 7323 4.3):
//! it is seen only if the wait ends before that (`tests/it/coupled_ack.rs`).
//!
//! Response: RFC 4015. (The papers' "Eifel" is `restore`.)

use super::{AckSample, Episode, Judge, Response, Verdict};
use crate::controller::Cause;
use crate::registry::{Builtin, Info, Need};
use crate::seq::Seq;

pub(crate) static BUILTIN: Builtin<dyn Judge> = Builtin {
    info: Info::new("eifel", "the echoed timestamp tells whether the original or the retransmission was acknowledged")
        .source("RFC 3522; response RFC 4015")
        .needs(&[Need::Timestamps])
        .validated("scripted: delay spike, reordering, genuine loss, reordered retransmission, lost window of ACKs"),
    make: |_, _| Box::new(Eifel { retransmit_ts: None, dsack_seen: false }),
};

#[derive(Debug)]
struct Eifel {
    /// RFC 3522 3.2: RetransmitTS, while the first acceptable ACK is awaited.
    retransmit_ts: Option<u32>,
    /// The receiver has sent a D-SACK in the lifetime of the connection.
    dsack_seen: bool,
}

impl Judge for Eifel {
    fn on_episode(&mut self, episode: &Episode) {
        // Step (2): RetransmitTS is not overwritten as loss recovery progresses. A timer that expires during it retransmits once
        // more what may be on its way already; an echo of that first retransmission is no sign that nothing was lost.
        if episode.nested {
            return;
        }
        // Steps (1) and (2); an episode without retransmission has nothing to judge.
        self.retransmit_ts = (episode.cause != Cause::Ecn).then_some(episode.timestamp);
    }

    fn on_retransmit(&mut self, _start: Seq, _end: Seq) {}

    fn on_ack(&mut self, evidence: &AckSample) -> Verdict {
        let dsack_before = self.dsack_seen;
        self.dsack_seen |= evidence.dsack.is_some();
        // Step (3): wait for the first acceptable ACK.
        if evidence.acked == 0 {
            return Verdict::Pending;
        }
        let (Some(stored), Some(echo)) = (self.retransmit_ts.take(), evidence.ts_ecr) else {
            return Verdict::Pending;
        };
        // Step (4).
        if (echo.wrapping_sub(stored) as i32) >= 0 {
            return Verdict::Genuine;
        }
        // Step (5): not if a whole window of ACKs was lost.
        let all = evidence.snd_una == evidence.snd_nxt;
        if evidence.dsack.is_some() || (all && !dsack_before) {
            return Verdict::Genuine;
        }
        // Step (6).
        Verdict::Spurious
    }

    fn default_response(&self) -> Response {
        Response::Rfc4015
    }
}
