//! `eifel`: the Eifel detection algorithm (RFC 3522).
//!
//! The sender stores the timestamp of an episode's first retransmission. The first acceptable ACK afterwards, which acknowledges
//! new data, echoes a timestamp. If that is older than the stored one, the original has arrived and the retransmission was
//! spurious. Otherwise the algorithm gives no verdict of "spurious". Detection takes one ACK, so a spurious timeout is detected
//! before anything else is retransmitted.
//!
//! One case is excluded on purpose (3.3): all ACKs of a window are lost. The retransmission then arrives as a duplicate, and its
//! ACK echoes the last in-order segment, an older timestamp. That timeout was unavoidable, and the reverse path is congested.
//! Such an ACK carries a D-SACK block; from a receiver that never sends any, it acknowledges all outstanding data.
//!
//! Blind spots: an original and its retransmission that are themselves reordered, and a timestamp clock that has not ticked
//! between the two (here it ticks every millisecond). A lost ACK in between does no harm. Under coupled acknowledgement the
//! original waits at the cumulative ACK, and a retransmission that arrives meanwhile is the one echoed (RFC 7323 4.3). The
//! timeout is then detected only if the wait ends before that (`tests/it/coupled_ack.rs`).
//!
//! Response: RFC 4015. (The papers' "Eifel" is `restore`.)

use super::{AckSample, Episode, Judge, Response, Verdict};
use crate::controller::Cause;
use crate::registry::{Builtin, Info, Need};
use crate::seq::Seq;

pub(crate) static BUILTIN: Builtin<dyn Judge> = Builtin {
    info: Info::new("eifel", "the echoed timestamp shows whether the original or the retransmission was acknowledged")
        .label("Eifel")
        .source("RFC 3522; response RFC 4015")
        .needs(&[Need::Timestamps])
        .validated("scripts: delay spike, reordering, genuine loss, reordered retransmission, a window of lost ACKs"),
    make: |_, _| Box::new(Eifel { retransmit_ts: None, dsack_seen: false }),
};

#[derive(Debug)]
struct Eifel {
    /// RFC 3522 3.2: RetransmitTS, until the first acceptable ACK arrives.
    retransmit_ts: Option<u32>,
    /// The receiver has sent a D-SACK block in the lifetime of the connection.
    dsack_seen: bool,
}

impl Judge for Eifel {
    fn on_episode(&mut self, episode: &Episode) {
        // Step (2): RetransmitTS is not overwritten as loss recovery progresses. A timer that expires during loss recovery
        // retransmits a segment that may already be in flight again; an echo of that first retransmission does not prove that
        // nothing was lost.
        if episode.nested {
            return;
        }
        // Steps (1) and (2). An episode without retransmission cannot be judged.
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
