//! Schedulers: which subflow carries the next data.
//!
//! To add one: write a file beside this one, add a line to `REGISTRY`; of another crate, implement
//! [`Factory`](crate::registry::Factory). The conformance suite then covers it.

use core::fmt::Debug;

pub use crate::path::Path;
use crate::registry::{Builtin, Kind};
use crate::time::Instant;

pub mod min_rtt;
pub mod round_robin;

/// What a scheduler may know when it is asked. Offsets count octets of our data stream.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Offer<'a> {
    /// When.
    pub now: Instant,
    /// All subflows, those without room, too.
    pub paths: &'a [Path],
    /// Octets written that have not been sent.
    pub unsent: u64,
    /// The oldest octet without a DATA_ACK.
    pub data_una: u64,
    /// The next octet to send for the first time.
    pub data_nxt: u64,
    /// The peer takes data up to here: `data_nxt` if its window is closed.
    pub edge: u64,
}

impl<'a> Offer<'a> {
    /// An offer of `unsent` octets at the beginning of a stream, in a window that takes all of them.
    pub fn new(now: Instant, paths: &'a [Path], unsent: u64) -> Self {
        Self { now, paths, unsent, data_una: 0, data_nxt: 0, edge: unsent }
    }

    /// Octets of new data that the peer takes now.
    pub fn room(&self) -> u64 {
        (self.edge - self.data_nxt).min(self.unsent)
    }

    /// Some subflow may send.
    pub fn any(&self) -> bool {
        self.paths.iter().any(|p| p.can_send)
    }

    /// The established subflow with the least smoothed round-trip time, whether it has room or not.
    pub fn fastest(&self) -> Option<usize> {
        let established = self.paths.iter().enumerate().filter(|(_, p)| p.established);
        established.min_by_key(|(_, p)| p.srtt).map(|(i, _)| i)
    }

    /// The subflow that has the oldest octet without a DATA_ACK under way: the head of the line.
    pub fn head(&self) -> Option<usize> {
        self.paths.iter().position(|p| p.oldest.0 <= self.data_una && self.data_una < p.oldest.1)
    }
}

/// Some subflows of a connection, by their numbers up to 255.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Subflows([u64; 4]);

impl Subflows {
    /// With `subflow`.
    #[must_use]
    pub fn with(mut self, subflow: usize) -> Self {
        self.0[subflow / 64] |= 1 << (subflow % 64);
        self
    }

    /// Takes out the lowest.
    pub fn pop(&mut self) -> Option<usize> {
        let word = self.0.iter().position(|&w| w != 0)?;
        let bit = self.0[word].trailing_zeros() as usize;
        self.0[word] &= self.0[word] - 1;
        Some(64 * word + bit)
    }
}

/// A scheduler's answer. Subflows go by their place in [`Offer::paths`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// Send the next segment of new data on this subflow, which can send.
    Send(usize),
    /// Send the next segment of new data on each of these; those that cannot send are left out.
    SendAll(Subflows),
    /// Send octets that were sent and have no DATA_ACK once more, at most a segment of them, on a subflow that can send.
    Resend {
        /// The first of them.
        start: u64,
        /// After the last.
        end: u64,
        /// The subflow.
        on: usize,
    },
    /// Halve the window of this subflow, which holds the others back (Raiciu et al., NSDI 2012, 4.2), and ask again at once.
    Penalise(usize),
    /// Send nothing now; ask again when something arrives, and at the latest at that time.
    Wait(Option<Instant>),
}

/// Data that has left as the scheduler said.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Assignment {
    /// On this subflow.
    pub subflow: usize,
    /// The first octet.
    pub data: u64,
    /// How many.
    pub len: u32,
    /// They had been sent before, on another subflow.
    pub again: bool,
}

impl Assignment {
    /// `len` octets of new data from `data` on have left on `subflow`.
    pub fn new(subflow: usize, data: u64, len: u32) -> Self {
        Self { subflow, data, len, again: false }
    }
}

/// Picks a subflow for the next segment.
pub trait Scheduler: Debug + Send {
    /// Where the next segment goes. Asked when there is new data, at least one subflow can send, and the peer takes it. The
    /// answer may come to nothing: Nagle's algorithm or silly-window avoidance may hold the segment back, and then the question comes
    /// again. Of data that goes out again on another subflow because its own has failed, only `Send` and `SendAll` are asked.
    fn pick(&mut self, offer: &Offer<'_>) -> Decision;
    /// It asks for data to be sent again that is under way elsewhere, so that it wants [`Scheduler::pick_again`] to be called.
    fn resends(&self) -> bool {
        false
    }
    /// As [`Scheduler::pick`] where there is no new data to send or the peer's window is closed: only what was sent before can go
    /// out again.
    fn pick_again(&mut self, _offer: &Offer<'_>) -> Decision {
        Decision::Wait(None)
    }
    /// What it decided has left.
    fn on_sent(&mut self, assignment: &Assignment);
    /// So many octets were newly acknowledged on `subflow`.
    fn on_acked(&mut self, _now: Instant, _subflow: usize, _octets: u64) {}
    /// So many octets were found lost on `subflow`.
    fn on_lost(&mut self, _now: Instant, _subflow: usize, _octets: u64) {}
}

/// Those of this crate.
static REGISTRY: &[&Builtin<dyn Scheduler>] = &[&min_rtt::BUILTIN, &round_robin::BUILTIN];

impl Kind for dyn Scheduler {
    const KIND: &'static str = "scheduler";

    fn builtin() -> &'static [&'static Builtin<Self>] {
        REGISTRY
    }
}
