//! A subflow at a moment, as a socket's `TCP_INFO` shows one: for programs that look at it, not for the engine.

use super::state::State;
pub use crate::scoreboard::Segments;
use crate::time::Duration;

/// How long something limited the connection's sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Data was in flight, or could not be sent.
    pub busy: Duration,
    /// The part of `busy` in which the peer's window had no room for what was written.
    pub receive_window_limited: Duration,
    /// The part of `busy` in which everything written was sent and the send buffer full.
    pub send_buffer_limited: Duration,
}

/// Segments and octets that have passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Segments that arrived, unacceptable ones included.
    pub segments_in: u64,
    /// Those with payload.
    pub data_segments_in: u64,
    /// Segments sent, of all kinds.
    pub segments_out: u64,
    /// Those with payload, retransmissions included.
    pub data_segments_out: u64,
    /// Octets of payload sent, retransmissions included.
    pub octets_out: u64,
    /// Data segments and FINs sent again.
    pub retransmissions: u64,
    /// Octets of payload sent again.
    pub octets_retransmitted: u64,
    /// Segments delivered under an acknowledgement with ECE.
    pub delivered_ce: u64,
}

impl Counts {
    /// A segment with `len` octets of payload is sent.
    #[inline(always)]
    pub(crate) fn note_out(&mut self, len: u32) {
        self.segments_out += 1;
        self.data_segments_out += u64::from(len > 0);
        self.octets_out += u64::from(len);
    }
}

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
    /// Our SYN was acknowledged.
    pub syn_is_acked: bool,
    /// The data of a SYN, all of them, were acknowledged with it (RFC 7413).
    pub syn_data: bool,
    /// The largest payload that has arrived, in octets; 1 before the first.
    pub rcv_mss: u32,
    /// Least round-trip time; `None` before the first sample.
    pub min_rtt: Option<Duration>,
    /// Round-trip time as the receiver of data sees it, if it looks ([`Config::receive_initial`](crate::Config::receive_initial)).
    pub rcv_rtt: Option<Duration>,
    /// Octets in flight, by the estimate that is compared with the congestion window.
    pub pipe: u64,
    /// Data segments and FINs that have reached the peer, by acknowledgements and SACK blocks.
    pub delivered: u64,
    /// Octets of payload acknowledged cumulatively.
    pub octets_acked: u64,
    /// Octets of payload that have arrived in order.
    pub octets_received: u64,
    /// Loss episodes undone.
    pub undone: u64,
    /// Longest reordering observed, in segments; at least 3 (Linux: `tcpi_reordering`).
    pub reordering: u32,
    /// Segments and octets held because of a hole.
    pub held: (u64, u64),
    /// Segments and octets that have passed.
    pub counts: Counts,
    /// Unanswered keep-alives. This and what follows only [`Connection::info`](crate::Connection::info) knows: zero else.
    pub keepalives: u32,
    /// How long ago the last segment arrived; known only with a user timeout or keep-alives.
    pub last_heard: Option<Duration>,
    /// Octets written and not yet sent, of the connection.
    pub unsent: u64,
    /// Octets that can be read, of the connection.
    pub unread: u64,
    /// Octets from the oldest unacknowledged one on that the peer's window takes, of the connection.
    pub peer_window: u64,
    /// What limited the connection's sender.
    pub times: Times,
}
