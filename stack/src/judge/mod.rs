//! Judges of loss episodes: they say whether a loss episode was genuine.
//!
//! A judge looks at what acknowledgements say about an episode that the sender has already reacted to (or is about to)
//! and returns a [`Verdict`]. It never touches the congestion window. What follows from *spurious* is the [`Response`], a
//! separate choice, so that detection and response can be crossed; it works on the copy of the controller that the
//! episode's entry in the ledger holds (`tcp::undo`), so it works for every controller.
//!
//! To add one: write a file beside this one, add a line to `REGISTRY`; of another crate, implement
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
pub mod none;

/// A loss episode begins: the window is cut and a first segment is about to be retransmitted.
#[derive(Clone, Copy, Debug)]
pub struct Episode {
    /// When.
    pub now: Instant,
    /// Timeout, fast retransmit or ECN.
    pub cause: Cause,
    /// Oldest unacknowledged sequence number.
    pub snd_una: Seq,
    /// Next sequence number to send.
    pub snd_nxt: Seq,
    /// Value of the timestamp clock: what the first retransmission will carry, or carries if one of the oldest segment is on its way.
    pub timestamp: u32,
    /// The timer expired while another episode was going on.
    pub nested: bool,
}

/// A judge's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing (new) to say.
    Pending,
    /// Send new data and retransmit nothing, until the next verdict (F-RTO).
    Probe,
    /// The last episode was genuine.
    Genuine,
    /// The last episode was spurious: nothing had been lost.
    Spurious,
    /// Segments were reordered (TCP-DOOR): hold window and timer, and undo a reduction that is not older than that.
    Reordered {
        /// How long the congestion response is disabled (T1).
        hold: Duration,
        /// How old a reduction is undone (T2).
        undo: Duration,
    },
}

/// What follows from a spurious episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    /// The judge's own: see each.
    Default,
    /// RFC 4015: window of what is in flight plus a little, the threshold restored, the timer adapted.
    Rfc4015,
    /// Window and threshold as before (the papers' "Eifel").
    Restore,
    /// The threshold becomes the window before: slow start back up to it (Blanton and Allman 2002).
    SlowStartToSaved,
    /// None: detection is only counted.
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

/// A judge of loss episodes, one per subflow.
pub trait Judge: Debug + Send {
    /// An episode begins.
    fn on_episode(&mut self, episode: &Episode);
    /// `[start, end)` is sent again.
    fn on_retransmit(&mut self, start: Seq, end: Seq);
    /// An acknowledgement arrived, with no episode or during one.
    fn on_ack(&mut self, sample: &AckSample) -> Verdict;
    /// The response that its source defines.
    fn default_response(&self) -> Response;
}

/// Those of this crate.
static REGISTRY: &[&Builtin<dyn Judge>] =
    &[&none::BUILTIN, &dsack::BUILTIN, &eifel::BUILTIN, &door::BUILTIN, &frto::BUILTIN];

impl Kind for dyn Judge {
    const KIND: &'static str = "judge";

    fn builtin() -> &'static [&'static Builtin<Self>] {
        REGISTRY
    }
}
