//! Changes that the engine makes to every window, as Python sees them.

use anabranch_stack::controller::Adjust as Change;

use super::view::copied_view;

copied_view! {
    /// A change that the engine makes to every window in the same way. `kind` says which; the other
    /// attributes are None where the kind has no such value.
    Adjust of Change, a
    {
        /// Which change: "mss", "lost_syn", "idle", "unused", "cached", "at_most", "deflate",
        /// "reordered", "probed", "slow_start_to", "resume" or "penalise".
        kind: &'static str = match a {
            Change::Mss(_) => "mss",
            Change::LostSyn => "lost_syn",
            Change::Idle { .. } => "idle",
            Change::Unused { .. } => "unused",
            Change::Cached { .. } => "cached",
            Change::AtMost(_) => "at_most",
            Change::Deflate { .. } => "deflate",
            Change::Reordered { .. } => "reordered",
            Change::Probed => "probed",
            Change::SlowStartTo(_) => "slow_start_to",
            Change::Resume { .. } => "resume",
            Change::Penalise => "penalise",
            _ => "other",
        };
        /// Payload of a full-sized segment in octets, of "mss".
        mss: Option<u32> = match a { Change::Mss(mss) => Some(*mss), _ => None };
        /// Retransmission timeouts for which nothing was sent, of "idle".
        timeouts: Option<f64> = match a { Change::Idle { timeouts } => Some(*timeouts), _ => None };
        /// Most octets outstanding meanwhile, of "unused".
        used: Option<u64> = match a { Change::Unused { used } => Some(*used), _ => None };
        /// Window in octets: of "cached", "at_most" and "slow_start_to".
        cwnd: Option<f64> = match a {
            Change::Cached { cwnd, .. } | Change::AtMost(cwnd) | Change::SlowStartTo(cwnd) => Some(*cwnd),
            _ => None,
        };
        /// Threshold in octets, of "cached" and "resume".
        ssthresh: Option<f64> = match a {
            Change::Cached { ssthresh, .. } | Change::Resume { ssthresh, .. } => Some(*ssthresh),
            _ => None,
        };
        /// FlightSize in octets: of "deflate", "reordered" and "resume".
        flight: Option<u64> = match a {
            Change::Deflate { flight } | Change::Reordered { flight, .. } | Change::Resume { flight, .. } => Some(*flight),
            _ => None,
        };
        /// FlightSizePrev in octets, of "reordered".
        before: Option<u64> = match a { Change::Reordered { before, .. } => Some(*before), _ => None };
        /// Octets newly acknowledged, of "resume".
        acked: Option<u64> = match a { Change::Resume { acked, .. } => Some(*acked), _ => None };
    }
    also {}
}
