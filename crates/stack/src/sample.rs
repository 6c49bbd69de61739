//! What one acknowledgement says. One sample passes from the scoreboard to the detector, to the judge and to the controller;
//! fields are filled in on the way.

pub use crate::scoreboard::Arrivals;
use crate::seq::Seq;
use crate::time::{Duration, Instant};

/// A sample of the delivery rate (draft-ietf-ccwg-bbr, section 4.1; draft-cheng-iccrg-delivery-rate-estimation 3).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RateSample {
    /// Octets delivered (acknowledged or SACKed) in `interval`.
    pub delivered: u64,
    /// The longer of the times in which these octets were sent and acknowledged; zero if it is shorter than the minimum round-trip time,
    /// so that it says nothing of the rate.
    pub interval: Duration,
    /// Octets delivered on this subflow when the sampled segment was sent.
    pub prior_delivered: u64,
    /// Octets in flight when the sampled segment was sent, including it.
    pub tx_in_flight: u64,
    /// Octets marked lost since then, those marked with this acknowledgement included.
    pub lost: u64,
    /// Octets in flight after this acknowledgement.
    pub in_flight: u64,
    /// The application, not the window, limited the sender when the segment was sent: the rate is a lower bound.
    pub app_limited: bool,
}

impl RateSample {
    /// Octets per second; zero if there is no valid interval.
    pub fn rate(&self) -> f64 {
        if self.interval == Duration::ZERO { 0.0 } else { self.delivered as f64 / self.interval.as_secs_f64() }
    }
}

/// A segment that was marked lost (draft-ietf-ccwg-bbr, "Per-Loss Steps").
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct LostSegment {
    /// When it was marked.
    pub now: Instant,
    /// First sequence number.
    pub seq: Seq,
    /// Octets.
    pub len: u64,
    /// Octets in flight when it was sent, including it.
    pub tx_in_flight: u64,
    /// Octets marked lost since it was sent, up to and including it.
    pub lost: u64,
    /// The application, not the window, limited the sender when it was sent.
    pub app_limited: bool,
    /// SACK blocks drive loss recovery: more than one loss in a round trip can be seen.
    pub sack: bool,
}

/// What one acknowledgement says about a subflow.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckSample {
    /// Time of its arrival.
    pub now: Instant,
    /// Acknowledgement number.
    pub ack: Seq,
    /// SND.UNA before it was processed.
    pub una_before: Seq,
    /// SND.UNA after it was processed.
    pub snd_una: Seq,
    /// SND.NXT when it arrived.
    pub snd_nxt: Seq,
    /// Octets newly acknowledged cumulatively; zero for a duplicate or old acknowledgement.
    pub acked: u64,
    /// Octets newly SACKed.
    pub sacked: u64,
    /// The part of `acked` that had been SACKed before.
    pub acked_sacked: u64,
    /// Octets newly marked lost.
    pub lost: u64,
    /// Octets by which the window may grow: `acked`, or a full segment for each newly delivered if segments are counted
    /// ([`Config::count_segments`](crate::Config)); but at most one segment if acknowledgements are counted instead of octets
    /// (RFC 5681 3.1 equations (2), (3); RFC 3465).
    pub growth: u64,
    /// Octets in flight before it, as compared with the congestion window.
    pub in_flight: u64,
    /// It is a duplicate acknowledgement (RFC 5681 2, RFC 6675 2); a D-SACK report alone does not make it one.
    pub duplicate: bool,
    /// Its acknowledgement number is below SND.UNA.
    pub old: bool,
    /// SACK blocks drive loss recovery.
    pub sack: bool,
    /// ECE is set (RFC 3168 6.1.2).
    pub ece: bool,
    /// The sender had used its window before this acknowledgement. If not, the window must not grow: an unused window says
    /// nothing about the path (RFC 9002 7.8, RFC 7661).
    pub cwnd_limited: bool,
    /// It arrived in slow start after a timeout (RFC 3465 2.3: L = 1 SMSS then).
    pub after_timeout: bool,
    /// It ends a round trip: everything sent when the previous round trip ended is now acknowledged.
    pub round: bool,
    /// The round-trip time, if the acknowledgement gives a valid sample.
    pub rtt: Option<Duration>,
    /// Smoothed round-trip time including this sample; zero before the first sample.
    pub srtt: Duration,
    /// Minimum round-trip time so far.
    pub min_rtt: Duration,
    /// The delivery rate, if samples are taken ([`Need::DeliveryRate`](crate::registry::Need::DeliveryRate)).
    pub rate: Option<RateSample>,
    /// Echoed timestamp (TSecr), if timestamps are in use.
    pub ts_ecr: Option<u32>,
    /// The D-SACK block (RFC 2883), if any.
    pub dsack: Option<(Seq, Seq)>,
    /// Some outstanding segment had been SACKed before. Set only if the acknowledgement carries SACK blocks.
    pub sacked_before: bool,
    /// End of the highest newly SACKed segment that was never retransmitted, if any.
    pub sacked_original: Option<Seq>,
    /// The segments that have newly arrived.
    pub arrivals: Arrivals,
    /// TCP-DOOR: the receiver reports data out of order.
    pub data_reordered: bool,
    /// TCP-DOOR: number of this acknowledgement among its duplicates.
    pub duplicate_number: Option<u8>,
}

impl AckSample {
    /// Octets newly delivered to the peer, cumulatively acknowledged or SACKed.
    pub fn delivered(&self) -> u64 {
        self.acked - self.acked_sacked + self.sacked
    }
}
