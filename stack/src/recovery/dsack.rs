//! `dsack`: detection by duplicate reports (RFC 3708).
//!
//! The receiver reports every segment that arrives twice (RFC 2883). An episode was spurious when every segment retransmitted
//! in it has been reported as a duplicate, each once. A segment reported more often than it was retransmitted was
//! duplicated by the network: such an episode is not judged (RFC 3708 2, C). Reports get lost with their ACKs, and then the
//! episode stays unjudged too.
//!
//! Detection comes one round trip after the retransmission: too late to prevent the rest of a window from being sent again
//! after a spurious timeout, early enough to restore the window.
//!
//! Response: slow start up to the window before the reduction (Blanton and Allman, CCR 32(1), 2002), as in the papers.

use super::{Episode, Evidence, Make, Recovery, Response, Verdict};
use crate::controller::Cause;
use crate::registry::Entry;
use crate::seq::Seq;

pub(super) const ENTRY: Entry<Make> = Entry {
    name: "dsack",
    summary: "every retransmission of the episode was reported as a duplicate",
    source: "RFC 2883, RFC 3708; response Blanton and Allman 2002",
    needs: "sack",
    validated: "scripted: delay spike, reordering, genuine loss, lost window of ACKs",
    make: |_| Box::new(Dsack::default()),
};

#[derive(Debug, Default)]
struct Dsack {
    /// An episode awaits its verdict.
    open: bool,
    /// Its retransmissions, and which of them have been reported.
    sent: Vec<(Seq, Seq, bool)>,
}

impl Recovery for Dsack {
    fn on_episode(&mut self, episode: &Episode) {
        self.open = episode.cause != Cause::Ecn;
        self.sent.clear();
    }

    fn on_retransmit(&mut self, start: Seq, end: Seq) {
        if self.open {
            self.sent.push((start, end, false));
        }
    }

    fn on_ack(&mut self, evidence: &Evidence) -> Verdict {
        let (true, Some((start, end))) = (self.open, evidence.dsack) else { return Verdict::Pending };
        let mut matches = self.sent.iter_mut().filter(|s| start <= s.0 && s.1 <= end).peekable();
        if matches.peek().is_none() {
            return Verdict::Pending;
        }
        match matches.find(|s| !s.2) {
            Some(s) => s.2 = true,
            None => {
                // More reports than retransmissions: the network duplicates.
                self.open = false;
                return Verdict::Pending;
            }
        }
        if self.sent.iter().all(|s| s.2) {
            self.open = false;
            return Verdict::Spurious;
        }
        Verdict::Pending
    }

    fn default_response(&self) -> Response {
        Response::SlowStartToSaved
    }
}
