//! `dsack`: detection by D-SACK reports (RFC 3708).
//!
//! The receiver reports every segment that arrives twice (RFC 2883). An episode was spurious if every segment retransmitted in it
//! has been reported as a duplicate, each exactly once. RFC 3708 sets four limits:
//!
//! - (A.1) The head segment is reported while nothing at all is SACKed: a whole window of acknowledgements was lost. The
//!   retransmission was unnecessary, but the reverse path is congested. The window stays reduced.
//! - (A.3) A segment was retransmitted twice in the episode: one report does not account for both copies.
//! - (A.4) The segment reported was not retransmitted: the network duplicates segments, so no report can be trusted for the rest
//!   of the connection. A second report of one retransmission says the same.
//! - (B.2) A report is still missing, possibly lost with its acknowledgement: no verdict.
//!
//! Detection comes one round trip after the retransmission. This is too late to prevent the retransmission of the rest of a
//! window after a spurious timeout, but early enough to restore the window.
//!
//! Response: slow start up to the window before the reduction (Blanton and Allman, CCR 32(1), 2002), as in the papers.

use super::{AckSample, Episode, Judge, Response, Verdict};
use crate::controller::Cause;
use crate::ranges::RangeSet;
use crate::registry::{Builtin, Info, Need};
use crate::seq::Seq;

pub(crate) static BUILTIN: Builtin<dyn Judge> = Builtin {
    info: Info::new("dsack", "an episode is spurious if D-SACK reports each of its retransmissions as a duplicate")
        .label("D-SACK")
        .source("RFC 2883, RFC 3708; response Blanton and Allman 2002")
        .needs(&[Need::Sack])
        .validated("scripts: delay spike, reordering, genuine loss, a window of lost ACKs, duplicating network"),
    make: |_, _| Box::new(Dsack::default()),
};

/// Retransmissions are remembered for this many flights of data below SND.UNA.
const REMEMBERED: u64 = 4;

#[derive(Debug, Default)]
struct Dsack {
    /// An episode awaits its verdict.
    open: bool,
    /// The network duplicates segments: no more verdicts.
    off: bool,
    /// Retransmissions of the current episode.
    sent: Vec<Retransmission>,
    /// All retransmissions from `horizon` on, in any episode.
    retransmitted: RangeSet,
    horizon: Seq,
    largest_flight: u64,
}

#[derive(Clone, Copy, Debug)]
struct Retransmission {
    start: Seq,
    end: Seq,
    reported: bool,
}

impl Dsack {
    fn report(&mut self, start: Seq, end: Seq, e: &AckSample) -> Verdict {
        if self.off || start < self.horizon {
            return Verdict::Pending;
        }
        if self.retransmitted.containing(start.0).is_none_or(|r| r.1 < end.0) {
            // (A.4)
            self.off = true;
            return Verdict::Pending;
        }
        let mut copies = self.sent.iter_mut().filter(|s| start <= s.start && s.end <= end);
        let copy = match (copies.next(), copies.next()) {
            // A report about an earlier episode.
            (None, _) => return Verdict::Pending,
            // (A.3)
            (Some(_), Some(_)) => {
                self.open = false;
                return Verdict::Pending;
            }
            (Some(copy), None) => copy,
        };
        if copy.reported {
            self.off = true;
            return Verdict::Pending;
        }
        // (A.1) Under coupled acknowledgement a segment above the cumulative ACK may be reported; that is a different case.
        if !e.sacked_before && start == e.una_before && start < e.ack {
            self.open = false;
        }
        // (A.2)
        copy.reported = true;
        // (B)
        if self.open && self.sent.iter().all(|s| s.reported) {
            self.open = false;
            return Verdict::Spurious;
        }
        Verdict::Pending
    }
}

impl Judge for Dsack {
    fn on_episode(&mut self, episode: &Episode) {
        self.open = episode.cause != Cause::Ecn;
        self.sent.clear();
        self.largest_flight = self.largest_flight.max(episode.snd_nxt - episode.snd_una);
        let old = Seq(episode.snd_una.0.saturating_sub(REMEMBERED * self.largest_flight));
        self.horizon = self.horizon.max(old);
        self.retransmitted.remove_below(self.horizon.0);
    }

    fn on_retransmit(&mut self, start: Seq, end: Seq) {
        self.retransmitted.insert(start.0, end.0);
        if self.open {
            self.sent.push(Retransmission { start, end, reported: false });
        }
    }

    fn on_ack(&mut self, evidence: &AckSample) -> Verdict {
        match evidence.dsack {
            Some((start, end)) => self.report(start, end, evidence),
            None => Verdict::Pending,
        }
    }

    fn default_response(&self) -> Response {
        Response::SlowStartToSaved
    }
}
