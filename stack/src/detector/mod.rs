//! Detectors of loss: which of the segments under way are lost, and when loss recovery begins.
//!
//! A detector reads each acknowledgement after the scoreboard has, marks there what it takes for lost, and says whether that is
//! reason to begin fast recovery. It neither sends nor touches the window: what is sent again, and in what order, is RFC 6675's
//! NextSeg over the marks; how fast is the [`reduction`](crate::reduction)'s business; whether it was wrong is the
//! [`judge`](crate::judge)'s.
//!
//! To add one: write a file beside this one, add a line to `REGISTRY`; of another crate, implement
//! [`Factory`](crate::registry::Factory). The conformance suite then covers it.

use core::fmt::Debug;

use crate::registry::{Builtin, Kind};
pub use crate::sample::AckSample;
pub use crate::scoreboard::{DUP_THRESH, Scoreboard, Sent};
use crate::seq::Seq;
use crate::time::{Duration, Instant};

mod rack;
pub mod rfc6675;

/// What a detector may know of the sender, beside the scoreboard.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Outstanding {
    /// Oldest unacknowledged sequence number.
    pub snd_una: Seq,
    /// Next sequence number to send.
    pub snd_nxt: Seq,
    /// RFC 6582 3.2 `recover`, plus one: without SACK duplicates at or below it start no fast recovery.
    pub recover: Seq,
    /// Duplicate acknowledgements since the last one that acknowledged new data.
    pub duplicates: u32,
    /// SACK blocks drive recovery.
    pub sack: bool,
    /// Fast recovery, or slow start after a timeout, is going on.
    pub recovering: bool,
    /// Payload octets of a full segment.
    pub mss: u32,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Duration,
    /// Least round-trip time so far; zero before the first sample.
    pub min_rtt: Duration,
}

/// A detector of loss, one per subflow.
pub trait Detector: Debug + Send {
    /// A segment leaves, for the first time or again.
    fn on_sent(&mut self, _now: Instant, _sent: &Sent) {}
    /// An acknowledgement was worked into `board`: marks there what is lost.
    fn on_ack(&mut self, ack: &AckSample, board: &mut Scoreboard, sender: &Outstanding);
    /// After [`Detector::on_ack`], if no recovery is going on: whether to begin one.
    fn begins(&self, ack: &AckSample, board: &Scoreboard, sender: &Outstanding) -> bool;
    /// The retransmission timer expired: marks what is lost.
    fn on_timeout(&mut self, now: Instant, board: &mut Scoreboard, sender: &Outstanding);
    /// The last episode was spurious: what was marked lost and waited for its retransmission is in flight after all.
    fn on_resume(&mut self) {}
    /// How many segments may leave beyond the window on the strength of `duplicates`, where the scoreboard cannot tell that as many have
    /// arrived (limited transmit, RFC 3042).
    fn limited_transmit(&self, duplicates: u32) -> u32;
    /// With nothing lost and no new data in fast recovery, whether what may be lost is sent again (NextSeg rules (3) and (4) of RFC 6675
    /// 4).
    fn rescues(&self) -> bool {
        true
    }
    /// When it wants [`Detector::on_deadline`] to be called.
    fn deadline(&self) -> Option<Instant> {
        None
    }
    /// Its deadline has come: marks what is lost by now, and says whether loss recovery is to begin if none is going on. The next
    /// deadline is later.
    fn on_deadline(&mut self, _now: Instant, _board: &mut Scoreboard, _sender: &Outstanding) -> bool {
        false
    }
}

/// Those of this crate.
static REGISTRY: &[&Builtin<dyn Detector>] = &[&rfc6675::BUILTIN, &rack::BUILTIN];

impl Kind for dyn Detector {
    const KIND: &'static str = "detector";

    fn builtin() -> &'static [&'static Builtin<Self>] {
        REGISTRY
    }
}
