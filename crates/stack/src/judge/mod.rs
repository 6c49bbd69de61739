//! Judges decide whether a loss episode was genuine.
//!
//! A judge reads what acknowledgements say about an episode to which the sender has already responded (or is about to), and
//! returns a [`Verdict`]. It never touches the congestion window. What follows from a *spurious* verdict is the [`Response`],
//! which is chosen separately, so that detection and response can be combined freely. The response works on the copy of the
//! controller in the undo ledger (`tcp::sender::undo`), and therefore for every controller.
//!
//! To add a judge, write a file beside this one and add a line to `REGISTRY`. In another crate, implement
//! [`Factory`](crate::registry::Factory). The conformance suite then covers it.

use core::fmt::Debug;

use crate::controller::Cause;
use crate::registry::{Builtin, Kind};
pub use crate::sample::AckSample;
use crate::seq::Seq;
use crate::time::{Duration, Instant};

pub mod door;
pub mod dsack;
pub mod eifel;
pub mod frto;
pub mod linux;
pub mod none;

/// A loss episode begins: the window is reduced, and a first segment is about to be retransmitted.
#[derive(Clone, Copy, Debug)]
pub struct Episode {
    /// Time of the event.
    pub now: Instant,
    /// Timeout, fast retransmit or ECN.
    pub cause: Cause,
    /// Oldest unacknowledged sequence number.
    pub snd_una: Seq,
    /// Next sequence number to send.
    pub snd_nxt: Seq,
    /// The timestamp of the first retransmission: of the one about to be sent, or of a retransmission of the head segment that is
    /// already in flight.
    pub timestamp: u32,
    /// The timer expired during another episode.
    pub nested: bool,
}

/// A judge's decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing new to report.
    Pending,
    /// Send new data and retransmit nothing, until the next verdict (F-RTO).
    Probe,
    /// The last episode was genuine.
    Genuine,
    /// The last episode was spurious: nothing had been lost.
    Spurious,
    /// Segments were reordered (TCP-DOOR). Suspend changes of window and retransmission timeout for `hold`, and undo a reduction
    /// that is not older than `undo`.
    Reordered {
        /// How long the congestion response is suspended (T1).
        hold: Duration,
        /// Maximum age of a reduction that is undone (T2).
        undo: Duration,
    },
}

/// The sender's response to a spurious episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    /// The response that the judge's own source defines.
    Default,
    /// RFC 4015: the window becomes what is in flight plus at most an initial window, the threshold is restored, the timer is
    /// adapted.
    Rfc4015,
    /// Window and threshold as before the episode (the papers' "Eifel").
    Restore,
    /// The threshold becomes the window before the episode: slow start back up to it (Blanton and Allman 2002).
    SlowStartToSaved,
    /// No response: the verdict is counted and changes nothing (RFC 5682 4).
    None,
}

/// Names of the responses in scenarios.
pub const RESPONSES: &[(&str, Response)] = &[
    ("default", Response::Default),
    ("rfc4015", Response::Rfc4015),
    ("restore", Response::Restore),
    ("slow-start-to-saved", Response::SlowStartToSaved),
    ("none", Response::None),
];

impl Response {
    /// What it does, in a line, and where that is from.
    pub fn described(self) -> (&'static str, &'static str) {
        match self {
            Self::Default => ("the response that the judge's own source defines", ""),
            Self::Rfc4015 => (
                "window: data in flight plus an initial window; slow-start threshold as before the episode",
                "RFC 4015",
            ),
            Self::Restore => ("window and slow-start threshold as before the episode", "the papers of 2014 to 2016"),
            Self::SlowStartToSaved => ("slow start up to the window before the episode", "Blanton and Allman 2002"),
            Self::None => ("counts the verdict and does not change the window", "RFC 5682 4"),
        }
    }
}

/// A judge of loss episodes, one per subflow.
pub trait Judge: Debug + Send {
    /// An episode begins.
    fn on_episode(&mut self, episode: &Episode);
    /// `[start, end)` is retransmitted.
    fn on_retransmit(&mut self, start: Seq, end: Seq);
    /// An acknowledgement arrived, during an episode or not.
    fn on_ack(&mut self, sample: &AckSample) -> Verdict;
    /// An acknowledgement of new data means nothing to it if it carries no SACK blocks, no duplicate has come, no recovery is in progress
    /// and none of the data was sent twice: it need not be told.
    fn ignores_progress(&self) -> bool {
        false
    }
    /// The response that the judge's source defines.
    fn default_response(&self) -> Response;
}

/// The judges of this crate.
static REGISTRY: &[&Builtin<dyn Judge>] =
    &[&none::BUILTIN, &dsack::BUILTIN, &eifel::BUILTIN, &door::BUILTIN, &frto::BUILTIN, &linux::BUILTIN];

impl Kind for dyn Judge {
    const KIND: &'static str = "judge";

    fn builtin() -> &'static [&'static Builtin<Self>] {
        REGISTRY
    }
}
