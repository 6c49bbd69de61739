//! What BBR makes of its model: pacing rate and window.

use super::state::State;
use super::{Bbr, Sample};
use crate::time::Duration;

/// BBR.PacingMarginPercent: the part of the bandwidth at which the flow paces.
const PACED: f64 = 0.99;
/// BBR.Headroom.
const HEADROOM: f64 = 0.15;
/// BBR.MinPipeCwnd, in segments.
const MIN_PIPE: f64 = 4.0;
/// Bounds of the send quantum: segments, and octets.
const LEAST_QUANTUM: f64 = 2.0;
const MOST_QUANTUM: f64 = 65_536.0;
/// The quanta of BBR.offload_budget.
const OFFLOAD_QUANTA: f64 = 3.0;

impl Bbr {
    // ---- pacing ------------------------------------------------------------------------------------------------

    /// InitPacingRate.
    pub(super) fn init_pacing_rate(&mut self, srtt: Duration) {
        let rtt = if srtt == Duration::ZERO { Duration::from_millis(1) } else { srtt };
        self.pacing = Some(State::Startup.gains().0 * self.window.initial / rtt.as_secs_f64());
    }

    /// SetPacingRate.
    pub(super) fn set_pacing_rate(&mut self) {
        self.set_pacing_rate_with(self.state.gains().0);
    }

    /// SetPacingRateWithGain. The rate falls only once the pipe has been full; it is a segment a second at the least, so that a flow that
    /// has lost nearly everything goes on.
    pub(super) fn set_pacing_rate_with(&mut self, gain: f64) {
        let rate = (gain * self.bandwidth.bw * PACED).max(self.window.mss);
        if self.bandwidth.bw > 0.0 && (self.full.reached || self.pacing.is_none_or(|old| rate > old)) {
            self.pacing = Some(rate);
        }
    }

    /// SetSendQuantum.
    pub(super) fn send_quantum(&self) -> f64 {
        (self.pacing.unwrap_or(0.0) * 0.001).min(MOST_QUANTUM).max(LEAST_QUANTUM * self.window.mss)
    }

    // ---- volumes -----------------------------------------------------------------------------------------------

    /// BDPMultiple.
    pub(super) fn bdp(&self, gain: f64) -> f64 {
        self.bdp_at(self.bandwidth.bw, gain)
    }

    fn bdp_at(&self, bw: f64, gain: f64) -> f64 {
        self.min_rtt.seconds().map_or(self.window.initial, |rtt| gain * bw * rtt)
    }

    /// QuantizationBudget.
    fn quantized(&self, volume: f64) -> f64 {
        // Three quanta of at least two segments are more than BBR.MinPipeCwnd, too.
        let least = volume.max(OFFLOAD_QUANTA * self.send_quantum());
        if self.state == State::Up { least + 2.0 * self.window.mss } else { least }
    }

    /// Inflight.
    pub(super) fn inflight(&self, gain: f64) -> f64 {
        self.quantized(self.bdp(gain))
    }

    pub(super) fn inflight_at(&self, bw: f64, gain: f64) -> f64 {
        self.quantized(self.bdp_at(bw, gain))
    }

    /// TargetInflight.
    pub(super) fn target_inflight(&self) -> f64 {
        self.bdp(1.0).min(self.window.cwnd)
    }

    /// InflightWithHeadroom.
    pub(super) fn inflight_with_headroom(&self) -> f64 {
        let long = self.losses.inflight_long;
        if long.is_infinite() {
            return long;
        }
        let mss = self.window.mss;
        (long - mss.max(HEADROOM * long)).max(MIN_PIPE * mss)
    }

    /// The window in ProbeRTT.
    pub(super) fn probe_rtt_cwnd(&self) -> f64 {
        self.bdp(State::ProbeRtt.gains().1).max(MIN_PIPE * self.window.mss)
    }

    // ---- window ------------------------------------------------------------------------------------------------

    /// SetCwnd.
    pub(super) fn set_cwnd(&mut self, s: &Sample) {
        let extra = self.aggregation.extra(self.rounds.count, self.full.reached);
        let most = self.quantized(self.bdp(self.state.gains().1) + extra);
        let cap = self.cap();
        let least = MIN_PIPE * self.window.mss;
        let w = &mut self.window;
        if self.full.reached {
            w.cwnd = (w.cwnd + s.acked).min(most);
        } else if w.cwnd < most || (self.delivered as f64) < w.initial {
            w.cwnd += s.acked;
        }
        w.cwnd = w.cwnd.max(least).min(cap);
    }

    /// BoundCwndForProbeRTT and BoundCwndForModel.
    fn cap(&self) -> f64 {
        let least = MIN_PIPE * self.window.mss;
        let l = &self.losses;
        let long = match self.state {
            State::Startup => f64::INFINITY,
            State::Drain | State::Down | State::Refill | State::Up => l.inflight_long,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(),
        };
        let cap = long.min(l.inflight_short).max(least);
        if self.state == State::ProbeRtt { cap.min(self.probe_rtt_cwnd()) } else { cap }
    }
}
