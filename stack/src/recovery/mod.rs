//! Reordering recovery: judges that say whether a loss episode was genuine.
//!
//! A judge looks at what acknowledgements say about an episode that the sender has already reacted to (or is about to)
//! and returns a [`Verdict`]. It never touches the congestion window: what follows from *spurious* is the engine's
//! response, which restores the controller from the episode's snapshot ([`crate::tcp::undo`]).
//!
//! To add one: write a file beside this one, add a line to [`REGISTRY`]. The conformance suite then covers it.

use core::fmt::Debug;

use crate::config::Config;
use crate::controller::Cause;
use crate::registry::{self, Entry};
use crate::seq::Seq;
use crate::time::Instant;

pub mod none;

/// A loss episode begins: the window was cut and a first segment is about to be retransmitted.
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
}

/// What one acknowledgement says.
#[derive(Clone, Copy, Debug)]
pub struct Evidence {
    /// When it arrived.
    pub now: Instant,
    /// Oldest unacknowledged sequence number after it.
    pub snd_una: Seq,
    /// Octets newly acknowledged cumulatively; zero for a duplicate.
    pub acked: u64,
    /// Timestamp echoed, if the connection uses timestamps.
    pub ts_ecr: Option<u32>,
    /// Duplicate segment reported (RFC 2883), if any.
    pub dsack: Option<(Seq, Seq)>,
}

/// A judge's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing (new) to say.
    Pending,
    /// The last episode was spurious: nothing had been lost.
    Spurious,
}

/// A sender-side judge of loss episodes, one per subflow.
pub trait Recovery: Debug + Send {
    /// An episode begins.
    fn on_episode(&mut self, episode: &Episode);
    /// An acknowledgement arrived, with no episode or during one.
    fn on_ack(&mut self, evidence: &Evidence) -> Verdict;
}

/// Makes a judge for one subflow.
pub type Make = fn(&Config) -> Box<dyn Recovery>;

/// All recoveries.
pub static REGISTRY: &[Entry<Make>] = &[none::ENTRY];

/// The recovery called `name`.
pub fn find(name: &str) -> Option<&'static Entry<Make>> {
    registry::find(REGISTRY, name)
}
