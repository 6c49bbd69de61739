//! What controllers and schedulers see of the subflows of their connection: one row each, in the order of their numbers.
//!
//! A row is brought up to date after each segment that arrives on its subflow and after each of its timers; `can_send`
//! and `in_flight` also before each question to the scheduler. Rows of subflows that have ended stay, not established.

use crate::time::Duration;

/// Where the loss recovery of a subflow stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// No episode.
    #[default]
    Open,
    /// The window was cut for an ECN echo, and what was sent before that is not all acknowledged (RFC 3168 6.1.2).
    Cwr,
    /// Fast recovery (RFC 6675, RFC 6582).
    Fast,
    /// Slow start after a timeout (RFC 5681 3.1), up to what had been sent by then.
    Loss,
}

/// One subflow.
#[derive(Clone, Copy, Debug, Default)]
pub struct Path {
    /// It carries data: its handshake is over and it has not ended.
    pub established: bool,
    /// It may send one more full segment now: established, room in its window, not waiting for a sign of life after a timeout, not a
    /// backup while a regular subflow works (RFC 8684 3.3.8).
    pub can_send: bool,
    /// One of the two sides wants it used only when no regular subflow works (RFC 8684 3.3.8).
    pub backup: bool,
    /// Its timer has expired and nothing was acknowledged since.
    pub stale: bool,
    /// Its loss recovery.
    pub recovery: Recovery,
    /// Payload octets of a full segment.
    pub mss: u32,
    /// Congestion window in octets.
    pub cwnd: f64,
    /// Slow-start threshold in octets, infinite before the first cut.
    pub ssthresh: f64,
    /// Octets in flight, as the window counts them.
    pub in_flight: u64,
    /// What of our data stream the oldest segment under way carries: its first octet, and the one after its last; equal if nothing is
    /// under way.
    pub oldest: (u64, u64),
    /// Octets of new data that the scheduler has assigned to it and that have not left.
    pub queued: u64,
    /// Smoothed round-trip time (RFC 6298); zero before the first sample.
    pub srtt: Duration,
    /// Its mean deviation, RTTVAR of RFC 6298; zero before the first sample.
    pub rttvar: Duration,
    /// Least round-trip time so far; zero before the first sample.
    pub min_rtt: Duration,
    /// The newest sample of the delivery rate in octets a second; zero where none is taken
    /// ([`Need::DeliveryRate`](crate::registry::Need::DeliveryRate)).
    pub delivery_rate: f64,
    /// Octets acknowledged since the last loss episode began, and between the two before that.
    pub acked_since_loss: [u64; 2],
}
