//! Reductions: how much may be in flight while fast recovery lasts.
//!
//! When it begins the controller has made its cut: its window is what remains when all is over. A reduction says how the sender
//! gets there from what is in flight: at once, or in step with what is delivered.
//!
//! To add one: write a file beside this one, add a line to `REGISTRY`; of another crate, implement
//! [`Factory`](crate::registry::Factory). The conformance suite then covers it.

use core::fmt::Debug;

use crate::registry::{Builtin, Kind};
pub use crate::sample::AckSample;

mod prr;
pub mod rfc6675;

/// Fast recovery begins.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Entry {
    /// FlightSize (RFC 5681 2) in octets.
    pub flight_size: u64,
    /// Octets in flight by the estimate of RFC 6675, without what is lost.
    pub pipe: u64,
    /// Of the octets outstanding, those that are SACKed.
    pub sacked: u64,
    /// Octets that the acknowledgement delivered with which recovery begins.
    pub delivered: u64,
    /// The window after the controller's cut, in octets.
    pub window: u64,
    /// Payload octets of a full segment.
    pub mss: u32,
    /// SACK blocks drive recovery.
    pub sack: bool,
}

/// How the window comes down in fast recovery, one per subflow.
pub trait Reduction: Debug + Send {
    /// Fast recovery begins.
    fn on_enter(&mut self, entry: &Entry);
    /// An acknowledgement in fast recovery that does not end it; `window` is the controller's in octets, `in_flight` what is in flight
    /// now.
    fn on_ack(&mut self, ack: &AckSample, window: u64, in_flight: u64);
    /// A segment leaves in fast recovery.
    fn on_sent(&mut self, _octets: u32) {}
    /// Fast recovery is over, for whatever reason.
    fn on_exit(&mut self);
    /// Octets that may be in flight, where the controller's window is `window` and `in_flight` are.
    fn allows(&self, window: u64, _in_flight: u64) -> u64 {
        window
    }
    /// Octets by which the window is inflated for what duplicate acknowledgements tell has left the network (RFC 6582 3.2); below
    /// zero after a large partial acknowledgement. Asked only without SACK.
    fn inflation(&self) -> i64;
}

/// Those of this crate.
static REGISTRY: &[&Builtin<dyn Reduction>] = &[&rfc6675::BUILTIN, &prr::BUILTIN];

impl Kind for dyn Reduction {
    const KIND: &'static str = "reduction";

    fn builtin() -> &'static [&'static Builtin<Self>] {
        REGISTRY
    }
}
