//! What one acknowledgement says. One sample passes from the scoreboard to the detector of losses, to the judge of episodes, and to the
//! controller, each of which may know more than the one before.

pub use crate::scoreboard::Arrivals;
use crate::seq::Seq;
use crate::time::{Duration, Instant};

/// A sample of the delivery rate (draft-ietf-ccwg-bbr, section 4.1; draft-cheng-iccrg-delivery-rate-estimation 3).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RateSample {
    /// Octets delivered (acknowledged or SACKed) in `interval`.
    pub delivered: u64,
    /// The longer of the times in which they were sent and acknowledged.
    pub interval: Duration,
    /// Octets delivered on this subflow when the segment was sent that gives the sample.
    pub prior_delivered: u64,
    /// Octets in flight with it when it left.
    pub tx_in_flight: u64,
    /// The application, not the window, held the sender back when it was sent: the rate is a lower bound.
    pub app_limited: bool,
}

impl RateSample {
    /// Octets a second; zero if the interval is.
    pub fn rate(&self) -> f64 {
        if self.interval == Duration::ZERO { 0.0 } else { self.delivered as f64 / self.interval.as_secs_f64() }
    }
}

/// What one acknowledgement says of a subflow.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckSample {
    /// When it arrived.
    pub now: Instant,
    /// Its acknowledgement number.
    pub ack: Seq,
    /// SND.UNA before it.
    pub una_before: Seq,
    /// SND.UNA with it worked in.
    pub snd_una: Seq,
    /// SND.NXT when it came.
    pub snd_nxt: Seq,
    /// Octets newly acknowledged cumulatively; zero for a duplicate or an old one.
    pub acked: u64,
    /// Octets newly SACKed.
    pub sacked: u64,
    /// Of `acked`, octets that had been SACKed before.
    pub acked_sacked: u64,
    /// Octets found lost by this acknowledgement.
    pub lost: u64,
    /// Octets for which the window grows: `acked`, but not more than a segment where acknowledgements count and not octets (RFC 5681 3.1
    /// equations (2), (3); RFC 3465).
    pub growth: u64,
    /// Octets in flight before it, as the window counts them.
    pub in_flight: u64,
    /// A duplicate acknowledgement (RFC 5681 2, RFC 6675 2), not for a duplicate report alone.
    pub duplicate: bool,
    /// It acknowledges less than an earlier one did.
    pub old: bool,
    /// SACK blocks drive recovery.
    pub sack: bool,
    /// It echoes a congestion mark (RFC 3168 6.1.2).
    pub ece: bool,
    /// The sender had used its window before this acknowledgement; if not, the window must not grow (RFC 9002 7.8,
    /// RFC 7661 give the reason: an unused window says nothing about the path).
    pub cwnd_limited: bool,
    /// It falls into slow start after a timeout (RFC 3465 2.3: L = 1 SMSS then).
    pub after_timeout: bool,
    /// A round trip ends with it: what was sent when the last one ended is acknowledged.
    pub round: bool,
    /// The round-trip time it gave, if it made a valid sample.
    pub rtt: Option<Duration>,
    /// Smoothed round-trip time with it; zero before the first sample.
    pub srtt: Duration,
    /// Least round-trip time so far.
    pub min_rtt: Duration,
    /// The delivery rate, where samples are taken ([`Need::DeliveryRate`](crate::registry::Need::DeliveryRate)).
    pub rate: Option<RateSample>,
    /// Timestamp echoed, if the connection uses timestamps.
    pub ts_ecr: Option<u32>,
    /// Duplicate segment reported (RFC 2883), if any.
    pub dsack: Option<(Seq, Seq)>,
    /// Something outstanding had been SACKed before it (told only with a duplicate report).
    pub sacked_before: bool,
    /// Highest sequence number newly SACKed of a segment never retransmitted, if any.
    pub sacked_original: Option<Seq>,
    /// The segments that have newly arrived.
    pub arrivals: Arrivals,
    /// TCP-DOOR: the receiver saw data out of order.
    pub data_reordered: bool,
    /// TCP-DOOR: the number of this duplicate acknowledgement.
    pub duplicate_number: Option<u8>,
}

impl AckSample {
    /// Octets that have newly reached the peer, by either kind of acknowledgement.
    pub fn delivered(&self) -> u64 {
        self.acked - self.acked_sacked + self.sacked
    }
}
