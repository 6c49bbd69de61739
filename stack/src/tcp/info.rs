//! A subflow at a moment, as a socket's `TCP_INFO` shows one: for programs that look at it, not for the engine.

use super::sender::Phase;
use super::state::State;
use super::subflow::Subflow;
pub use crate::scoreboard::Segments;
use crate::time::Duration;

/// What a loss episode is in progress (Linux: `tcp_ca_state`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovering {
    /// None, and nothing looks like a loss.
    Open,
    /// None, but there are duplicate acknowledgements or SACK blocks.
    Disorder,
    /// The window was reduced for an ECN echo.
    Cwr,
    /// Fast recovery.
    Fast,
    /// After a retransmission timeout.
    Loss,
}

/// A subflow at a moment. Sequence numbers are those of the wire.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Info {
    /// State of RFC 9293.
    pub state: State,
    /// The loss episode in progress.
    pub recovering: Recovering,
    /// SND.UNA.
    pub snd_una: u32,
    /// SND.NXT.
    pub snd_nxt: u32,
    /// RCV.NXT.
    pub rcv_nxt: u32,
    /// Payload octets of a full-sized segment.
    pub mss: u32,
    /// Congestion window in octets.
    pub cwnd: f64,
    /// Slow-start threshold in octets; infinite before the first loss.
    pub ssthresh: f64,
    /// Smoothed round-trip time, if there was a sample, and its variation.
    pub srtt: Option<Duration>,
    /// RTTVAR (RFC 6298 2).
    pub rttvar: Duration,
    /// Retransmission timeout, with its back-off.
    pub rto: Duration,
    /// Expirations of the retransmission timer without an answer.
    pub backoff: u32,
    /// Expirations of the timer of an unanswered zero-window probe.
    pub probes: u32,
    /// Segments in flight, those SACKed among them, those that count as lost, and those retransmitted and still in flight.
    pub in_flight: Segments,
    /// Negotiated: timestamps, SACK, window scale, ECN.
    pub timestamps: bool,
    /// SACK is permitted on both sides.
    pub sack: bool,
    /// Both sides scale their windows, by so much: the peer's and ours.
    pub scales: Option<(u8, u8)>,
    /// ECN is used.
    pub ecn: bool,
}

impl Subflow {
    /// What the subflow looks like now.
    pub fn info(&self) -> Info {
        let s = &self.sender;
        let recovering = match s.phase {
            Phase::Open if s.board.has_sacked() || s.has_duplicates() => Recovering::Disorder,
            Phase::Open => Recovering::Open,
            Phase::Cwr { .. } => Recovering::Cwr,
            Phase::Fast { .. } => Recovering::Fast,
            Phase::Loss { .. } => Recovering::Loss,
        };
        Info {
            state: self.state,
            recovering,
            snd_una: s.una.wire(),
            snd_nxt: s.nxt.wire(),
            rcv_nxt: self.receiver.rcv_nxt.wire(),
            mss: s.mss,
            cwnd: self.cwnd(),
            ssthresh: self.ssthresh(),
            srtt: s.rtt.srtt(),
            rttvar: s.rtt.rttvar(),
            rto: s.rtt.rto(),
            backoff: s.retries,
            probes: s.probes,
            in_flight: s.board.count(),
            timestamps: self.has_timestamps(),
            sack: self.sack,
            scales: (self.own_shift > 0 || self.peer_window.shift > 0)
                .then_some((self.peer_window.shift, self.own_shift)),
            ecn: self.has_ecn(),
        }
    }
}
