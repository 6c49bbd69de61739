//! What controllers and schedulers see of the subflows of their connection: one row per subflow, by number.
//!
//! A row is updated after each segment that arrives on its subflow and after each of its timers; `can_send` and `in_flight` also
//! before each question to the scheduler. Rows of subflows that have ended remain, with `established` false.

use crate::time::Duration;

/// State of a subflow's loss recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// No episode.
    #[default]
    Open,
    /// The window was reduced for an ECN echo, and not all data sent before is acknowledged (RFC 3168 6.1.2).
    Cwr,
    /// Fast recovery (RFC 6675, RFC 6582).
    Fast,
    /// Slow start after a timeout (RFC 5681 3.1), until everything sent before is acknowledged.
    Loss,
}

/// What whoever operates a host says of a path; the engine hands it to the algorithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    /// What an octet costs there, above zero: 1 unless said otherwise.
    pub cost: f64,
    /// The path's share of the load compared with the others', above zero: 1 unless said otherwise.
    pub weight: f64,
    /// Lower is preferred.
    pub priority: u32,
}

impl Default for Policy {
    fn default() -> Self {
        Self { cost: 1.0, weight: 1.0, priority: 0 }
    }
}

/// One subflow.
#[derive(Clone, Copy, Debug, Default)]
pub struct Path {
    /// Cost, weight and priority of its path.
    pub policy: Policy,
    /// The subflow carries data: its handshake is complete and it has not ended.
    pub established: bool,
    /// The subflow may send one more full-sized segment now. It is established, its window has room, it is not waiting for an
    /// acknowledgement after a timeout, and it is not a backup while a regular subflow works (RFC 8684 3.3.8).
    pub can_send: bool,
    /// Either side wants the subflow used only when no regular subflow works (RFC 8684 3.3.8).
    pub backup: bool,
    /// The retransmission timer has expired and nothing was acknowledged since.
    pub stale: bool,
    /// State of its loss recovery.
    pub recovery: Recovery,
    /// Payload octets of a full-sized segment.
    pub mss: u32,
    /// Congestion window in octets.
    pub cwnd: f64,
    /// Slow-start threshold in octets, infinite before the first reduction.
    pub ssthresh: f64,
    /// Octets in flight, as compared with the congestion window.
    pub in_flight: u64,
    /// The range of our data stream that the head segment carries: its first octet and the octet after its last; equal if nothing
    /// is in flight.
    pub oldest: (u64, u64),
    /// Octets of new data that the scheduler has assigned to the subflow and that are not sent yet.
    pub queued: u64,
    /// The subflow takes new data, with room or not: for schedulers that queue, kept only for them, like the two that follow.
    pub takes_data: bool,
    /// Memory of its send buffer in use, in octets: what is queued, and what is in flight with its overhead.
    pub buffered: u64,
    /// Octets that it takes at a time: what its last buffer has room for, or a new one, and what the next piece of memory has.
    pub fill: u64,
    /// The rate at which the window leaves in a round trip, with the allowance of a paced sender: twice in slow start, 1.2 times
    /// afterwards; in octets per second, 10^12 before the first round-trip sample.
    pub pacing_rate: f64,
    /// Smoothed round-trip time (RFC 6298); zero before the first sample.
    pub srtt: Duration,
    /// Round-trip time variation, RTTVAR of RFC 6298; zero before the first sample.
    pub rttvar: Duration,
    /// Minimum round-trip time; zero before the first sample.
    pub min_rtt: Duration,
    /// The newest sample of the delivery rate in octets per second; zero if no samples are taken
    /// ([`Need::DeliveryRate`](crate::registry::Need::DeliveryRate)).
    pub delivery_rate: f64,
    /// The rate at the last round trip with a queue, in octets per second, as a controller that goes by delay publishes it for its
    /// siblings; zero if there was none, or a loss since.
    pub vegas_rate: f64,
    /// Octets acknowledged since the last loss episode began, and between the beginnings of the last two episodes.
    pub acked_since_loss: [u64; 2],
}

impl Path {
    /// Octets assigned to the subflow that do not fit into its window now.
    pub fn backlog(&self) -> f64 {
        (self.queued as f64 - (self.cwnd - self.in_flight as f64).max(0.0)).max(0.0)
    }

    /// The window has room for a segment beside what is in flight and assigned. (Where nothing is assigned ahead `can_send` says it.)
    pub fn has_room(&self) -> bool {
        let taken = self.in_flight + self.queued;
        !self.takes_data || taken == 0 || (taken + u64::from(self.mss)) as f64 <= self.cwnd
    }
}
