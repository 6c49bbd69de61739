//! The states of BBR: Startup, Drain, the cycle of ProbeBW, ProbeRTT.

use super::model::is_too_high;
use super::state::State;
use super::{Bbr, Sample};
use crate::time::{Duration, Instant};

/// BBR.ProbeRTTDuration.
const PROBE_RTT_DURATION: Duration = Duration::from_millis(200);
/// Bound of the round trips between probes, for coexistence with Reno.
const RENO_ROUNDS: f64 = 63.0;

/// BBR.ack_phase: of which part of a probe acknowledgements speak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum AckPhase {
    #[default]
    Init,
    Refilling,
    Starting,
    Feedback,
    Stopping,
}

/// Where the flow is in its cycle.
#[derive(Clone, Debug, Default)]
pub(super) struct Cycle {
    ack_phase: AckPhase,
    /// BBR.drain_start_round.
    drain_round: u64,
    /// BBR.cycle_stamp, BBR.bw_probe_wait, BBR.rounds_since_probe_up.
    stamp: Instant,
    wait: Duration,
    pub rounds_since_up: u64,
    /// BBR.bw_probe_up_rounds, BBR.bw_probe_up_acked, BBR.probe_up_acked_per_inc.
    up_rounds: u32,
    up_acked: f64,
    pub up_acked_per_segment: f64,
    /// BBR.prev_probe_precautionary.
    precautionary: bool,
    /// BBR.probe_rtt_done_stamp and BBR.probe_rtt_round_done.
    rtt_done: Option<Instant>,
    rtt_round_done: bool,
    /// What was delivered when ProbeRTT began, and what has to be before samples count again (MarkConnectionAppLimited).
    rtt_marks: Option<(u64, u64)>,
}

impl Cycle {
    /// A segment sent when `delivered` octets were delivered was sent in ProbeRTT, or is limited by it.
    pub fn was_probing_rtt(&self, delivered: u64) -> bool {
        self.rtt_marks.is_some_and(|(from, to)| (from..=to).contains(&delivered))
    }
}

/// A number from 0 to 1 (without 1) that is spread evenly over times (Steele, Lea and Flood 2014, SplitMix).
fn spread(now: Instant) -> f64 {
    let mut z = now.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

impl Bbr {
    // ---- Startup and Drain -------------------------------------------------------------------------------------

    /// CheckStartupDone.
    pub(super) fn check_startup_done(&mut self, s: &Sample) {
        let loses = self.startup_loses_much(s);
        if self.state != State::Startup {
            return;
        }
        if loses && !self.full.reached {
            self.full.reached = true;
            self.losses.inflight_long = self.bdp(1.0).max(self.losses.inflight_latest);
        }
        if self.full.reached {
            self.state = State::Drain;
            self.cycle.drain_round = self.rounds.count;
            self.window.ssthresh = self.window.mss;
        }
    }

    /// CheckDrainDone.
    pub(super) fn check_drain_done(&mut self, s: &Sample) {
        let late = self.rounds.count > self.cycle.drain_round + 3;
        if self.state == State::Drain && (s.in_flight <= self.inflight(1.0) || late) {
            self.start_down(s.now);
        }
    }

    // ---- ProbeBW -----------------------------------------------------------------------------------------------

    /// UpdateProbeBWCyclePhase.
    pub(super) fn update_cycle_phase(&mut self, s: &Sample) {
        if !self.full.reached || self.adapt_long_term(s) {
            return;
        }
        if self.state == State::Up && self.is_time_to_go_down(s) {
            self.losses.probe_too_high = false;
            return self.start_down(s.now);
        }
        match self.state {
            State::Down if self.is_time_to_probe(s.now) => self.start_refill(),
            State::Down if self.is_time_to_cruise(s) => self.state = State::Cruise,
            State::Cruise if self.is_time_to_probe(s.now) => self.start_refill(),
            State::Refill if self.rounds.starts => {
                self.losses.judges_probe = true;
                self.start_up(s);
            }
            _ => {}
        }
    }

    /// AdaptLongTermModel. Returns true if it decided a transition.
    fn adapt_long_term(&mut self, s: &Sample) -> bool {
        let probing = self.state.is_probe_bw();
        if self.cycle.ack_phase == AckPhase::Starting && self.rounds.starts {
            self.cycle.ack_phase = AckPhase::Feedback;
        }
        if self.cycle.ack_phase == AckPhase::Stopping && self.rounds.starts {
            self.losses.judges_probe = false;
            self.cycle.ack_phase = AckPhase::Init;
            if probing && !s.app_limited {
                self.bandwidth.advance();
            }
            // Precautionary bandwidth probing: the brief probe found no loss.
            if probing && self.cycle.precautionary && !self.losses.probe_too_high {
                self.start_refill();
                return true;
            }
        }
        if !is_too_high(s.lost, s.tx_in_flight, s.sack) && self.losses.inflight_long.is_finite() {
            self.losses.inflight_long = self.losses.inflight_long.max(s.tx_in_flight);
            if self.state == State::Up {
                self.raise_long_term(s);
            }
        }
        false
    }

    /// ProbeInflightLongtermUpward.
    pub(super) fn raise_long_term(&mut self, s: &Sample) {
        if !self.is_cwnd_limited() || self.window.cwnd < self.losses.inflight_long {
            return;
        }
        let c = &mut self.cycle;
        c.up_acked += s.acked;
        if c.up_acked >= c.up_acked_per_segment {
            let segments = (c.up_acked / c.up_acked_per_segment).trunc();
            c.up_acked -= segments * c.up_acked_per_segment;
            self.losses.inflight_long += segments * self.window.mss;
        }
        if self.rounds.starts {
            self.raise_slope();
        }
    }

    /// RaiseInflightLongtermSlope: a segment for each window acknowledged in the first round trip, then for each half of it, each quarter.
    pub(super) fn raise_slope(&mut self) {
        let growth = (1_u64 << self.cycle.up_rounds) as f64;
        self.cycle.up_rounds = (self.cycle.up_rounds + 1).min(30);
        self.cycle.up_acked_per_segment = (self.window.cwnd / growth).max(self.window.mss);
    }

    /// IsTimeToProbeBW.
    fn is_time_to_probe(&self, now: Instant) -> bool {
        let reno = (self.target_inflight() / self.window.mss).min(RENO_ROUNDS);
        now > self.cycle.stamp + self.cycle.wait || self.cycle.rounds_since_up as f64 >= reno
    }

    /// IsTimeToCruise.
    fn is_time_to_cruise(&self, s: &Sample) -> bool {
        s.in_flight <= self.inflight_with_headroom() && s.in_flight <= self.inflight_at(self.bandwidth.max(), 1.0)
    }

    /// IsTimeToGoDown.
    fn is_time_to_go_down(&mut self, s: &Sample) -> bool {
        let long = self.losses.inflight_long;
        if self.losses.probe_too_high && s.in_flight >= long {
            self.cycle.precautionary = true;
            return true;
        }
        if self.is_cwnd_limited() && self.window.cwnd >= long {
            // The bound, not the path, limits the rate.
            self.full.reset(s.rate);
            return false;
        }
        self.full.now
    }

    /// StartProbeBW_DOWN.
    pub(super) fn start_down(&mut self, now: Instant) {
        self.losses.reset_signals();
        // PickProbeWait: two to three seconds; rounds counted from zero or one.
        let random = spread(now);
        self.cycle.wait = Duration::from_secs_f64(2.0 + random);
        self.cycle.rounds_since_up = u64::from(spread(now + Duration(1)) >= 0.5);
        self.cycle.up_acked_per_segment = f64::INFINITY;
        self.cycle.stamp = now;
        self.cycle.ack_phase = AckPhase::Stopping;
        self.start_round();
        self.state = State::Down;
    }

    /// StartProbeBW_REFILL.
    fn start_refill(&mut self) {
        self.reset_short_term();
        (self.cycle.up_rounds, self.cycle.up_acked, self.cycle.precautionary) = (0, 0.0, false);
        self.cycle.ack_phase = AckPhase::Refilling;
        self.start_round();
        self.state = State::Refill;
    }

    /// StartProbeBW_UP.
    fn start_up(&mut self, s: &Sample) {
        self.cycle.ack_phase = AckPhase::Starting;
        self.start_round();
        self.full.reset(s.rate);
        self.state = State::Up;
        self.raise_slope();
    }

    // ---- ProbeRTT ----------------------------------------------------------------------------------------------

    /// CheckProbeRTT.
    pub(super) fn check_probe_rtt(&mut self, s: &Sample, expired: bool) {
        if self.state != State::ProbeRtt && expired && !self.idle_restart {
            self.save_cwnd();
            self.state = State::ProbeRtt;
            self.cycle.rtt_done = None;
            self.cycle.ack_phase = AckPhase::Stopping;
            self.cycle.rtt_marks = Some((self.delivered, self.delivered));
            self.start_round();
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(s);
        }
        self.idle_restart = false;
    }

    /// HandleProbeRTT.
    fn handle_probe_rtt(&mut self, s: &Sample) {
        let end = self.delivered + s.in_flight as u64;
        self.cycle.rtt_marks = self.cycle.rtt_marks.map(|(from, _)| (from, end));
        if self.cycle.rtt_done.is_none() {
            if s.in_flight <= self.probe_rtt_cwnd() {
                self.cycle.rtt_done = Some(s.now + PROBE_RTT_DURATION);
                self.cycle.rtt_round_done = false;
                self.start_round();
            }
            return;
        }
        self.cycle.rtt_round_done |= self.rounds.starts;
        if self.cycle.rtt_round_done {
            self.check_probe_rtt_done(s.now);
        }
    }

    /// CheckProbeRTTDone and ExitProbeRTT.
    fn check_probe_rtt_done(&mut self, now: Instant) {
        if self.cycle.rtt_done.is_none_or(|at| now <= at) {
            return;
        }
        self.min_rtt.probed(now);
        self.restore_cwnd();
        self.reset_short_term();
        if self.full.reached {
            self.start_down(now);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }

    // ---- idle --------------------------------------------------------------------------------------------------

    /// HandleRestartFromIdle: pace at the bandwidth until the next acknowledgement.
    pub(super) fn restart_from_idle(&mut self, now: Instant) {
        self.idle_restart = true;
        self.aggregation.start = now;
        if self.state.is_probe_bw() {
            self.set_pacing_rate_with(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(now);
        }
    }
}
