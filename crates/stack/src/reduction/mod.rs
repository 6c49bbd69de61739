//! Reductions decide how much may be in flight during fast recovery.
//!
//! When fast recovery begins, the controller has already reduced its window to the value that applies afterwards. A reduction
//! decides how the sender gets from the current flight to that window: at once, or in proportion to what is delivered.
//!
//! To add a reduction, write a file beside this one and add a line to `REGISTRY`. In another crate, implement
//! [`Factory`](crate::registry::Factory). The conformance suite then covers it.

use core::fmt::Debug;

use crate::registry::{Builtin, Kind};
pub use crate::sample::AckSample;
use crate::time::Instant;

pub mod prr;
pub mod rfc6675;

/// State at the beginning of fast recovery.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Entry {
    /// Time of the event.
    pub now: Instant,
    /// FlightSize (RFC 5681 2) in octets.
    pub flight_size: u64,
    /// Octets in flight by the estimate of RFC 6675, without lost segments.
    pub pipe: u64,
    /// Outstanding octets that are SACKed.
    pub sacked: u64,
    /// Octets delivered by the acknowledgement that begins recovery.
    pub delivered: u64,
    /// The controller's window after its reduction, in octets.
    pub window: u64,
    /// Payload octets of a full-sized segment.
    pub mss: u32,
    /// SACK blocks drive loss recovery.
    pub sack: bool,
}

/// How the octets in flight come down to the reduced window in fast recovery, one per subflow.
pub trait Reduction: Debug + Send {
    /// Fast recovery begins.
    fn on_enter(&mut self, entry: &Entry);
    /// An acknowledgement in fast recovery that does not end it. `window` is the controller's window and `in_flight` what is in
    /// flight now, both in octets.
    fn on_ack(&mut self, ack: &AckSample, window: u64, in_flight: u64);
    /// A segment is sent in fast recovery.
    fn on_sent(&mut self, _octets: u32) {}
    /// Fast recovery has ended, for whatever reason.
    fn on_exit(&mut self);
    /// Octets that may be in flight, if the controller's window is `window` and `in_flight` octets are in flight.
    fn allows(&self, window: u64, _in_flight: u64) -> u64 {
        window
    }
    /// What is in flight comes down with what is delivered, so that a lost retransmission has its response (RFC 8985 9.3). Otherwise the
    /// window is cut again.
    fn is_proportional(&self) -> bool {
        false
    }
    /// Octets by which the window is inflated for segments that have left the network, according to duplicate acknowledgements
    /// (RFC 6582 3.2). Negative after a large partial acknowledgement. Used only without SACK.
    fn inflation(&self) -> i64;
}

/// The reductions of this crate.
static REGISTRY: &[&Builtin<dyn Reduction>] = &[&rfc6675::BUILTIN, &prr::BUILTIN];

impl Kind for dyn Reduction {
    const KIND: &'static str = "reduction";

    fn builtin() -> &'static [&'static Builtin<Self>] {
        REGISTRY
    }
}
