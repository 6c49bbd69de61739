//! Detectors decide which segments in flight are lost, and when loss recovery begins.
//!
//! A detector reads each acknowledgement after the scoreboard has processed it. It marks segments as lost there, and says whether
//! fast recovery must begin. It neither sends nor touches the window. NextSeg of RFC 6675 decides from the marks which segment is
//! retransmitted next, the [`reduction`](crate::reduction) decides how fast, and the [`judge`](crate::judge) decides afterwards
//! whether the loss was genuine.
//!
//! To add a detector, write a file beside this one and add a line to `REGISTRY`. In another crate, implement
//! [`Factory`](crate::registry::Factory). The conformance suite then covers it.

use core::fmt::Debug;

#[cfg(doc)]
use crate::registry::Need;
use crate::registry::{Builtin, Kind};
pub use crate::sample::AckSample;
pub use crate::scoreboard::{DUP_THRESH, Scoreboard, Sent};
use crate::seq::Seq;
use crate::time::{Duration, Instant};

pub mod ncr;
pub mod rack;
pub mod reordering_degree;
pub mod rfc6675;

/// What a detector knows of the sender, besides the scoreboard.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Outstanding {
    /// Oldest unacknowledged sequence number.
    pub snd_una: Seq,
    /// Next sequence number to send.
    pub snd_nxt: Seq,
    /// RFC 6582 3.2 `recover`, plus one. Without SACK, duplicate acknowledgements at or below it start no fast recovery.
    pub recover: Seq,
    /// Duplicate acknowledgements since the last acknowledgement of new data.
    pub duplicates: u32,
    /// SACK blocks drive loss recovery.
    pub sack: bool,
    /// Fast recovery, or slow start after a timeout, is in progress.
    pub recovering: bool,
    /// Payload octets of a full-sized segment.
    pub mss: u32,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Duration,
    /// Minimum round-trip time; zero before the first sample.
    pub min_rtt: Duration,
}

/// What an acknowledgement means when no recovery is in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Nothing is lost.
    Nothing,
    /// Something is lost: fast recovery must begin.
    Loss,
    /// Something was lost, and a tail loss probe has repaired it (RFC 8985 7.4): the congestion response alone must follow.
    Repaired,
}

/// What follows from a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// Nothing.
    Nothing,
    /// Something is lost: fast recovery must begin, if no recovery is in progress.
    Loss,
    /// A tail loss probe is to be sent (RFC 8985 7.3): a new segment or, if there is none, the last one again.
    Probe,
}

/// A detector of loss, one per subflow.
pub trait Detector: Debug + Send {
    /// A segment is sent, new or retransmitted; `srtt` is the smoothed round-trip time, zero before the first sample. Called only for a
    /// detector that needs it ([`Need::Departures`]).
    fn on_sent(&mut self, _now: Instant, _sent: &Sent, _srtt: Duration) {}
    /// `board` has processed an acknowledgement: marks lost segments there.
    fn on_ack(&mut self, ack: &AckSample, board: &mut Scoreboard, sender: &Outstanding);
    /// An acknowledgement of new data changes nothing in it, and it finds nothing, while nothing is SACKed, no duplicate has come, no recovery
    /// is in progress and none of the data was sent twice: it need not be told.
    fn ignores_progress(&self) -> bool {
        false
    }
    /// Called after [`Detector::on_ack`] if no recovery is in progress.
    fn finding(&mut self, ack: &AckSample, board: &Scoreboard, sender: &Outstanding) -> Finding;
    /// The retransmission timer has expired: marks lost segments.
    fn on_timeout(&mut self, now: Instant, board: &mut Scoreboard, sender: &Outstanding);
    /// The last episode was spurious: lost segments that waited for their retransmission count as in flight again.
    fn on_resume(&mut self) {}
    /// How many segments may be sent beyond the window because of `duplicates`, when the scoreboard cannot tell that as many
    /// segments have arrived (limited transmit, RFC 3042).
    fn limited_transmit(&self, duplicates: u32) -> u32;
    /// Whether it ever withholds a part of the window, or ends doing so: then [`Detector::withheld`] and [`Detector::take_reordered`] are
    /// asked.
    fn withholds(&self) -> bool {
        false
    }
    /// Octets by which the window is narrowed while nothing is lost yet: what a careful sender withholds when SACKs let new data go (RFC
    /// 4653 3.2).
    fn withheld(&self) -> u64 {
        0
    }
    /// A hole was filled without a loss, after new data had been sent on its behalf: FlightSize before (RFC 4653 3.3). Asked after each
    /// acknowledgement.
    fn take_reordered(&mut self) -> Option<u64> {
        None
    }
    /// Longest reordering observed, in segments of `mss` octets; at least 3. Its length is the
    /// distance from a late segment that was never retransmitted to the highest segment that
    /// arrived before it (Linux: `tcpi_reordering`).
    fn reordering(&self, _mss: u32) -> u32 {
        3
    }
    /// Whether possibly lost segments are retransmitted in fast recovery if none is marked lost and there is no new data (NextSeg
    /// rules (3) and (4) of RFC 6675 4).
    fn rescues(&self) -> bool {
        true
    }
    /// When to call [`Detector::on_deadline`]; `None` for never. Asked only of a detector that needs a timer ([`Need::Timer`]). It is called earlier if the retransmission timer expires
    /// before.
    fn deadline(&self) -> Option<Instant> {
        None
    }
    /// The detector's deadline has passed, or the retransmission timer is about to expire: marks segments that are lost by now. The next
    /// deadline is later.
    fn on_deadline(&mut self, _now: Instant, _board: &mut Scoreboard, _sender: &Outstanding) -> Due {
        Due::Nothing
    }
    /// The tail loss probe was sent; SND.NXT is now `snd_nxt`. `copy`: it is a retransmission.
    fn on_probe(&mut self, _snd_nxt: Seq, _copy: bool) {}
}

/// The detectors of this crate.
static REGISTRY: &[&Builtin<dyn Detector>] =
    &[&rfc6675::BUILTIN, &rack::BUILTIN, &ncr::BUILTIN, &reordering_degree::BUILTIN];

impl Kind for dyn Detector {
    const KIND: &'static str = "detector";

    fn builtin() -> &'static [&'static Builtin<Self>] {
        REGISTRY
    }
}
