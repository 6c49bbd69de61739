//! Schedulers: which subflow carries the next data.
//!
//! To add one: write a file beside this one, add a line to `REGISTRY`; of another crate, implement
//! [`Factory`](crate::registry::Factory). The conformance suite then covers it.

use core::fmt::Debug;

use crate::registry::{Builtin, Kind};
use crate::tcp::subflow::Subflow;
use crate::time::{Duration, Instant};

pub mod min_rtt;
pub mod round_robin;

/// What a scheduler sees of a subflow.
#[derive(Clone, Copy, Debug, Default)]
pub struct Candidate {
    /// It may send one more segment now: established, window open, not waiting for a sign of life after a timeout.
    pub can_send: bool,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Duration,
    /// Congestion window in octets.
    pub cwnd: u64,
    /// Octets in flight.
    pub in_flight: u64,
}

impl Candidate {
    /// Brings a subflow that may send up to date: what its window has room for.
    #[inline]
    pub(crate) fn look(&mut self, s: &Subflow) {
        self.in_flight = s.in_flight();
        self.cwnd = s.controller.window().octets();
        self.can_send = self.in_flight + u64::from(s.mss) <= self.cwnd;
    }
}

/// A scheduler's answer. Indices are those of the candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Send the next segment on this subflow.
    Send(usize),
    /// Send nothing now; ask again when something arrives, and at the latest at that time.
    Wait(Option<Instant>),
}

/// Picks a subflow for the next segment of new data.
pub trait Scheduler: Debug + Send {
    /// Where the next segment goes. Asked only when at least one candidate can send. The answer may come to nothing: Nagle's
    /// algorithm or silly-window avoidance may hold the segment back, and then the question comes again.
    fn pick(&mut self, now: Instant, candidates: &[Candidate]) -> Decision;
    /// The segment it was asked for has left on `subflow`.
    fn on_sent(&mut self, subflow: usize);
}

/// Those of this crate.
static REGISTRY: &[&Builtin<dyn Scheduler>] = &[&min_rtt::BUILTIN, &round_robin::BUILTIN];

impl Kind for dyn Scheduler {
    const KIND: &'static str = "scheduler";

    fn builtin() -> &'static [&'static Builtin<Self>] {
        REGISTRY
    }
}
