//! One subflow of the 2011 model's sender (rules 2 and 5): sent segments, congestion window,
//! round-trip time and retransmission timer.

use anabranch_measures::rng::Rng;

use super::rtt::Rtt;

/// Initial slow-start threshold, octets (rule 5.3).
const INITIAL_THRESHOLD: u64 = 65_535;
/// The peer's constant window, in octets; the model compares it with segments (rule 2).
pub(super) const PEER_WINDOW: u64 = 65_535;

/// A sent segment, kept until the end of the connection.
#[derive(Clone, Copy, Debug)]
pub struct Mapping {
    /// First sequence number.
    pub seq: u64,
    /// First data sequence number.
    pub dsn: u64,
    /// Octets.
    pub len: u32,
    /// Total of the duplicate acknowledgements charged to the segment.
    pub duplicates: u32,
    /// Number of transmissions.
    pub copies: u32,
    /// When it was first retransmitted, in milliseconds.
    pub again: u32,
    /// Index of the segment among those of all subflows, in data order.
    pub order: usize,
}

impl Mapping {
    /// Returns the sequence number after the segment.
    pub fn end(&self) -> u64 {
        self.seq + u64::from(self.len)
    }
}

/// Rule by which the congestion window grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Slow start below the threshold, congestion avoidance above it.
    Normal,
    /// Restores the window after a spurious cut under D_SACK: one segment for each acknowledgement,
    /// up to the saved window.
    Restoring,
}

/// One subflow.
#[derive(Debug)]
pub struct Subflow {
    /// The handshake is over.
    pub established: bool,
    /// Next sequence number to send.
    pub next: u64,
    /// Highest sequence number acknowledged (inclusive).
    pub acked: u64,
    /// Congestion window in segments.
    pub cwnd: f64,
    /// Slow-start threshold, octets.
    pub ssthresh: u64,
    /// Phase of growth.
    pub phase: Phase,
    /// Congestion window and threshold before the last cut (under D_SACK the largest values not
    /// restored yet).
    pub saved: (f64, u64),
    /// Number of cuts that were undone.
    pub undone: u64,
    /// The last cut was undone.
    pub is_undone: bool,
    /// The smoothed window, which alpha is computed from.
    pub smoothed: f64,
    /// Round-trip time.
    pub rtt: Rtt,
    /// When the timer expires.
    pub timer: Option<u64>,
    /// All segments ever sent, in order.
    pub mappings: Vec<Mapping>,
    /// F_RTO: acknowledgements still to discard.
    pub discard: u64,
    /// F_RTO: acknowledgements counted in step 2, never reset.
    pub counted: u64,
    /// F_RTO: randomness of the discarding.
    pub rng: Rng,
}

impl Subflow {
    pub(super) fn new(next: u64, rng: Rng) -> Self {
        Self {
            established: false,
            next,
            acked: 0,
            cwnd: 1.0,
            ssthresh: INITIAL_THRESHOLD,
            phase: Phase::Normal,
            saved: (0.0, 0),
            undone: 0,
            is_undone: false,
            smoothed: 0.0,
            rtt: Rtt::default(),
            timer: None,
            mappings: Vec::new(),
            discard: 0,
            counted: 0,
            rng,
        }
    }

    /// Octets in flight as the model counts them: highest sequence number sent less highest
    /// acknowledged.
    pub fn outstanding(&self) -> u64 {
        (self.next - 1).saturating_sub(self.acked)
    }

    /// Returns the number of octets that the subflow may send.
    pub(super) fn room(&self, mss: u32) -> u64 {
        if !self.established {
            return 0;
        }
        // Rule 2: whole segments. The peer's window counts as segments here and so never binds.
        let segments = (self.cwnd as u64).min(PEER_WINDOW);
        (segments * u64::from(mss)).saturating_sub(self.outstanding())
    }

    /// Returns the index of the segment that starts at `seq`.
    pub fn starting_at(&self, seq: u64) -> Option<usize> {
        self.mappings.binary_search_by_key(&seq, |m| m.seq).ok()
    }

    /// Returns the index of the first unacknowledged segment. On a joined subflow the third ACK of
    /// the handshake occupies one sequence number before it (rule 1), until data are acknowledged.
    pub fn first_outstanding(&self) -> Option<usize> {
        self.starting_at(self.acked + 1).or_else(|| self.starting_at(self.acked + 2))
    }

    /// Starts or restarts the timer.
    pub fn arm(&mut self, now: u64) {
        self.timer = Some(now.saturating_add(self.rtt.timeout()));
    }
}
