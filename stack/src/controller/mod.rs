//! Congestion controllers: who decides how much may be in flight on a subflow.
//!
//! A controller owns the congestion window and the slow-start threshold, nothing else: octets in flight, the
//! scoreboard, timers and loss episodes belong to the subflow, which tells the controller what happened. Because the
//! whole state of a controller is a value, the engine undoes any of them by keeping a copy per loss episode
//! ([`crate::tcp::undo`]); no controller has undo code.
//!
//! A multipath controller is measured by four goals (RFC 6356 1; the papers, section II-B): improve throughput, do no harm,
//! balance congestion, adapt quickly without oscillating. Each file says which of them it meets.
//!
//! To add one: write a file beside this one, add a line to [`REGISTRY`]. The conformance suite then covers it.

use core::fmt::Debug;

use crate::config::Config;
use crate::registry::{self, Entry};
use crate::seq::Seq;
use crate::time::{Duration, Instant};

pub mod coupled;
mod cubic;
mod ewtcp;
mod fully_coupled;
mod hystart;
mod linked_increases;
mod rtt_compensator;
pub mod uncoupled;
mod window;

pub use window::Window;

/// What a coupled controller may know of each subflow of its connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct View {
    /// The subflow carries data: its handshake is over and it has not ended.
    pub established: bool,
    /// Congestion window in octets.
    pub cwnd: f64,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Duration,
}

/// New data was acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ack {
    /// When.
    pub now: Instant,
    /// Octets newly acknowledged cumulatively.
    pub acked: u64,
    /// The round-trip time it gave, if it made a valid sample.
    pub rtt: Option<Duration>,
    /// The sender had used its window before this acknowledgement; if not, the window must not grow (RFC 9002 7.8,
    /// RFC 7661 give the reason: an unused window says nothing about the path).
    pub cwnd_limited: bool,
    /// The acknowledgement falls into slow start after a timeout (RFC 3465 2.3: L = 1 SMSS then).
    pub after_timeout: bool,
    /// SND.UNA with this acknowledgement worked in.
    pub snd_una: Seq,
    /// SND.NXT when it came.
    pub snd_nxt: Seq,
}

/// Why the window is cut. Never merged: controllers answer differently.
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
    /// When.
    pub now: Instant,
    /// Why.
    pub cause: Cause,
    /// FlightSize (RFC 5681 2) in octets, without what limited transmit added (RFC 5681 3.2); at a timeout that begins an episode
    /// not more than the window, which is all that had been tried.
    pub flight_size: u64,
    /// The timer expired again for the same segment: ssthresh is held (RFC 5681 3.1).
    pub repeated: bool,
    /// The timer expired in an episode whose cut is in force: ssthresh may fall further, but not rise.
    pub nested: bool,
}

/// A congestion controller of one subflow.
pub trait Controller: Debug + Send + Snapshot {
    /// Window and threshold.
    fn window(&self) -> &Window;
    /// Window and threshold, for what the engine does alike for all: initial and restart window, deflation, responses.
    fn window_mut(&mut self) -> &mut Window;
    /// New data was acknowledged outside of fast recovery. `views[me]` is this subflow.
    fn on_ack(&mut self, ack: &Ack, views: &[View], me: usize);
    /// Congestion was inferred; called once per loss episode (and once per timeout).
    fn on_congestion(&mut self, congestion: &Congestion, views: &[View], me: usize);
}

/// Copying a controller with all its state.
pub trait Snapshot {
    /// An independent copy.
    fn snapshot(&self) -> Box<dyn Controller>;
}

impl<T: Controller + Clone + 'static> Snapshot for T {
    fn snapshot(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

/// Makes a controller for one subflow whose full segment is `mss` octets.
pub type Make = fn(&Config, mss: u32) -> Box<dyn Controller>;

/// All controllers.
pub static REGISTRY: &[Entry<Make>] = &[
    uncoupled::ENTRY,
    coupled::ENTRY,
    rtt_compensator::ENTRY,
    linked_increases::ENTRY,
    fully_coupled::ENTRY,
    ewtcp::ENTRY,
    cubic::ENTRY,
];

/// W of the papers: the sum of all established windows in octets, `own` if there is none yet.
fn total_window(views: &[View], own: f64) -> f64 {
    let sum: f64 = views.iter().filter(|v| v.established).map(|v| v.cwnd).sum();
    sum.max(own)
}

/// The controller called `name`.
pub fn find(name: &str) -> Option<&'static Entry<Make>> {
    registry::find(REGISTRY, name)
}
