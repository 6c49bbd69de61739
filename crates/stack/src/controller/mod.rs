//! Congestion controllers decide how much may be in flight on a subflow.
//!
//! A controller owns the congestion window and the slow-start threshold, and nothing else. Octets
//! in flight, scoreboard, timers and loss episodes belong to the subflow, which tells the
//! controller what happened. Because the whole state of a controller is a value, the engine can
//! undo any controller with one copy per loss episode (`tcp::sender::undo`); no controller has undo
//! code.
//!
//! A multipath controller is measured by four goals (RFC 6356 1; the papers, section II-B): improve
//! throughput, do no harm, balance congestion, adapt quickly without oscillating. Each file says
//! which of them its controller meets.
//!
//! To add a controller, write a file beside this one and add a line to `REGISTRY`. In another
//! crate, implement [`Factory`](crate::registry::Factory). The conformance suite then covers it.

use core::fmt::Debug;

pub use crate::path::Path;
#[cfg(doc)]
use crate::registry::Need;
use crate::registry::{Builtin, Kind};
pub use crate::sample::{AckSample, LostSegment};
use crate::time::{Duration, Instant};

mod aimd;
mod balia;
mod bbr;
mod collected;
mod counter;
pub mod coupled;
mod cube_root;
pub mod cubic;
mod dctcp;
mod energy_linked;
mod ewtcp;
mod fully_coupled;
mod hystart;
mod linked_increases;
mod linux;
mod linux_linked;
mod olia;
mod rtt_compensator;
pub mod uncoupled;
mod window;
#[cfg(test)]
mod worked;
mod wvegas;

pub use window::Window;

/// Why the window is reduced. Causes are never merged, because controllers respond to them differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Loss inferred from duplicate acknowledgements or the SACK scoreboard.
    FastRetransmit,
    /// The retransmission timer expired.
    Timeout,
    /// Explicit congestion notification (RFC 3168 6.1.2).
    Ecn,
}

/// Congestion was inferred.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    /// Time of the event.
    pub now: Instant,
    /// Cause of the reduction.
    pub cause: Cause,
    /// FlightSize (RFC 5681 2) in octets, without what limited transmit added (RFC 5681 3.2). At a timeout that begins an episode
    /// it is at most the window, which is all that the path has been probed for.
    pub flight_size: u64,
    /// The timer expired again for the same segment: ssthresh does not change (RFC 5681 3.1).
    pub repeated: bool,
    /// The timer expired in an episode that has already reduced the window: ssthresh may decrease further, but not increase.
    pub nested: bool,
}

/// Changes that the engine makes to every window in the same way; [`Window::adjust`] has the rules. A controller whose window is
/// not its whole state must update the rest of it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Adjust {
    /// The peer's MSS permits only this many octets of payload: windows keep their number of segments (RFC 6691).
    Mss(u32),
    /// A SYN or SYN/ACK was lost: the window is one segment (RFC 5681 3.1).
    LostSyn,
    /// Nothing was sent for an RTO: the window is at most the restart window (RFC 5681 4.1).
    Idle {
        /// For how many of them, more than one.
        timeouts: f64,
    },
    /// The application has not used the window for an RTO: it comes down half way to what was used (RFC 2861 3.2).
    Unused {
        /// Most octets outstanding in that time.
        used: u64,
    },
    /// Window and threshold cached from an earlier connection, in octets (RFC 9040 3).
    Cached {
        /// Congestion window.
        cwnd: f64,
        /// Slow-start threshold.
        ssthresh: f64,
    },
    /// After a reduction: the window is at most this many octets, its value before.
    AtMost(f64),
    /// Fast recovery without SACK has ended: the window is limited to avoid a burst (RFC 6582 3.2 step 3, full acknowledgement,
    /// option (1)).
    Deflate {
        /// FlightSize in octets.
        flight: u64,
    },
    /// A hole was filled without a loss, after new data had been sent on its behalf: the window is limited to avoid a burst, and slow start
    /// returns to the flight before (RFC 4653 3.3).
    Reordered {
        /// Octets in flight.
        flight: u64,
        /// FlightSizePrev in octets.
        before: u64,
    },
    /// F-RTO has found a timeout genuine after two round trips: the window is three segments (RFC 5682 2.1 step 3a).
    Probed,
    /// An episode was spurious: slow start up to the window before it, in octets (Blanton and Allman 2002).
    SlowStartTo(f64),
    /// An episode was spurious, and the controller was restored: the window is limited to what is in flight plus what the
    /// acknowledgement covered (RFC 4015 3.2 step (9)).
    Resume {
        /// FlightSize in octets.
        flight: u64,
        /// Octets newly acknowledged.
        acked: u64,
        /// The threshold to restore: pipe_prev.
        ssthresh: f64,
    },
    /// The subflow blocks the others (Raiciu et al., NSDI 2012, 4.2): halve the window, and outside slow start the threshold.
    Penalise,
}

/// A segment with payload is sent.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// Time of departure.
    pub now: Instant,
    /// Octets of payload.
    pub len: u32,
    /// The segment is a retransmission.
    pub again: bool,
    /// Octets in flight, including this segment.
    pub in_flight: u64,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Duration,
}

/// A congestion controller of one subflow.
pub trait Controller: Debug + Send + Snapshot {
    /// Congestion window and slow-start threshold.
    fn window(&self) -> &Window;
    /// Applies a change that the engine makes to every window. Only the controller writes its window.
    fn adjust(&mut self, adjust: Adjust);
    /// New data was acknowledged outside fast recovery. `paths[me]` is this subflow.
    fn on_ack(&mut self, ack: &AckSample, paths: &[Path], me: usize);
    /// Congestion was inferred. Called once per loss episode, and once per timeout.
    fn on_congestion(&mut self, congestion: &Congestion, paths: &[Path], me: usize);
    /// An acknowledgement that is not passed to `on_ack`: a duplicate, or one in fast recovery or after an ECN echo.
    fn on_other_ack(&mut self, _ack: &AckSample, _paths: &[Path], _me: usize) {}
    /// A segment with payload is sent. Called only for a controller that needs it ([`Need::Departures`]).
    fn on_sent(&mut self, _departure: &Departure) {}
    /// `octets` octets were marked lost. If `on_congestion` follows, it is called later.
    fn on_lost(&mut self, _now: Instant, _octets: u64) {}
    /// A segment was marked lost. Called for each, after `on_lost` and, if that follows, `on_congestion`, and after `on_ack`: if samples of
    /// the delivery rate are taken ([`Need::DeliveryRate`]).
    fn on_lost_segment(&mut self, _segment: &LostSegment) {}
    /// The window comes from a model of the path and is what may be in flight in fast recovery, too: no [reduction](crate::reduction)
    /// leads there. A response to a spurious episode that restores anything restores the whole model.
    fn reduces_itself(&self) -> bool {
        false
    }
    /// Pacing rate in octets per second; `None` if only the window limits departures. Asked only of a controller that needs to be told of
    /// departures ([`Need::Departures`]).
    fn pacing(&self) -> Option<f64> {
        None
    }
}

/// Copies a controller with all its state.
pub trait Snapshot {
    /// An independent copy.
    fn snapshot(&self) -> Box<dyn Controller>;
}

impl<T: Controller + Clone + 'static> Snapshot for T {
    fn snapshot(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

/// The controllers of this crate.
static REGISTRY: &[&Builtin<dyn Controller>] = &[
    &uncoupled::BUILTIN,
    &coupled::BUILTIN,
    &rtt_compensator::BUILTIN,
    &linked_increases::BUILTIN,
    &fully_coupled::BUILTIN,
    &ewtcp::BUILTIN,
    &cubic::BUILTIN,
    &olia::BUILTIN,
    &balia::BUILTIN,
    &wvegas::BUILTIN,
    &aimd::BUILTIN,
    &energy_linked::BUILTIN,
    &dctcp::BUILTIN,
    &bbr::BUILTIN,
    &linux::RENO,
    &linux::CUBIC,
    &linux_linked::OLIA,
    &linux_linked::BALIA,
];

impl Kind for dyn Controller {
    const KIND: &'static str = "controller";

    fn builtin() -> &'static [&'static Builtin<Self>] {
        REGISTRY
    }
}

/// W of the papers: the sum of the windows of all established subflows in octets; `own` if there is none yet.
fn total_window(paths: &[Path], own: f64) -> f64 {
    let sum: f64 = paths.iter().filter(|v| v.established).map(|v| v.cwnd).sum();
    sum.max(own)
}
