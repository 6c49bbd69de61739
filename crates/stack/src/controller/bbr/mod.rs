//! `bbr`: BBR version 3. It does not wait for losses but models the path, by the largest rate at which data was delivered lately (`max_bw`)
//! and the smallest round-trip time (`min_rtt`), paces at that rate, and keeps about their product in flight.
//!
//! A flow begins in Startup, where its rate doubles each round trip until the rate of delivery no longer grows or too much is lost; Drain
//! empties the queue that this made. Then it goes through the cycle of ProbeBW: DOWN sends less than the path takes, CRUISE as much, REFILL
//! fills the pipe for one round trip, and UP sends a quarter more, to see whether there is more. ProbeRTT halves the flight every five
//! seconds, so that the smallest round-trip time can be seen.
//!
//! Losses bound the model. `inflight_long` is what could be in flight when a probe lost more than 2 %; `bw_short` and `inflight_short` follow
//! what is delivered while losses occur otherwise, until the next probe. What is app-limited teaches nothing but larger rates.
//!
//! Source: draft-ietf-ccwg-bbr (-06, 2026), whose names are kept; its pseudo-code is cited by the function. What differs: the engine's ledger
//! restores the whole model after a spurious episode, so there is no undo state here; after a timeout the window is one segment
//! (RFC 5681 3.1), not one more than what is in flight; a mark of ECN, for which the draft has no response, counts like a loss noted in the
//! round; the draft's random numbers are drawn from the time, as the engine has no others. A segment is its own quantum here, but the
//! allowance for offload is the draft's for TCP.
//!
//! The four goals: each subflow is by itself, so n of them at one bottleneck take n shares; beside TCPs whose queues are deep it takes
//! less than they do, in shallow ones more.
//!
//! `model` is what is known of the path, `cycle` the states, `control` rate and window.

use super::{AckSample, Adjust, Cause, Congestion, Controller, Departure, LostSegment, Path, Window};
use crate::path::Recovery;
use crate::registry::{Builtin, Fairness, Info, Need, Setup};
use crate::time::{Duration, Instant};

#[cfg(test)]
mod cases;
mod control;
mod cycle;
mod model;
mod state;
#[cfg(test)]
mod tests;

use cycle::Cycle;
use model::{Aggregation, Bandwidth, FullPipe, Losses, MinRtt};
use state::State;

pub(crate) static BUILTIN: Builtin<dyn Controller> = Builtin {
    info: Info::new(
        "bbr",
        "BBRv3: paces by a model of the path's bandwidth and round-trip time, on each subflow separately",
    )
    .label("BBR")
    .source("draft-ietf-ccwg-bbr-06")
    .needs(&[Need::DeliveryRate, Need::Departures])
    .fairness(Fairness::Subflow)
    .validated("hand-computed examples; the draft's example test cases; goodput and queue of one flow; shares of several flows"),
    make: |setup, _| Box::new(Bbr::new(setup)),
};

/// What one acknowledgement says (the draft's RS), and what is in flight after it (C.inflight).
#[derive(Clone, Copy, Debug)]
struct Sample {
    now: Instant,
    /// RS.delivery_rate in octets per second, zero if there is none.
    rate: f64,
    /// RS.delivered, RS.prior_delivered, RS.newly_acked, RS.tx_in_flight, RS.lost.
    delivered: f64,
    prior_delivered: u64,
    acked: f64,
    tx_in_flight: f64,
    lost: f64,
    app_limited: bool,
    rtt: Option<Duration>,
    in_flight: f64,
    sack: bool,
    /// In fast recovery.
    fast: bool,
}

/// The controller. Volumes are in octets, rates in octets per second.
#[derive(Clone, Debug)]
struct Bbr {
    window: Window,
    state: State,
    /// C.delivered.
    delivered: u64,
    rounds: Rounds,
    bandwidth: Bandwidth,
    min_rtt: MinRtt,
    aggregation: Aggregation,
    full: FullPipe,
    losses: Losses,
    cycle: Cycle,
    /// C.pacing_rate; `None` before the first departure.
    pacing: Option<f64>,
    /// The gain of the rate after an idle period, until the next acknowledgement.
    idle_restart: bool,
    /// BBR.prior_cwnd.
    prior_cwnd: f64,
    recovering: bool,
    /// The window was full at some time of this round trip, and of the last one (C.is_cwnd_limited).
    limited: [bool; 2],
}

/// BBR.round_count and what belongs to it.
#[derive(Clone, Copy, Debug, Default)]
struct Rounds {
    count: u64,
    /// BBR.round_start: this acknowledgement begins a round trip.
    starts: bool,
    /// BBR.next_round_delivered.
    next: u64,
}

impl Bbr {
    fn new(setup: &Setup) -> Self {
        Self {
            window: Window::new(setup),
            state: State::Startup,
            delivered: 0,
            rounds: Rounds::default(),
            bandwidth: Bandwidth::default(),
            min_rtt: MinRtt::default(),
            aggregation: Aggregation::default(),
            full: FullPipe::default(),
            losses: Losses::default(),
            cycle: Cycle::default(),
            pacing: None,
            idle_restart: false,
            prior_cwnd: 0.0,
            recovering: false,
            limited: [false; 2],
        }
    }

    /// UpdateOnACK.
    fn update(&mut self, ack: &AckSample, paths: &[Path], me: usize) {
        let Some(rate) = ack.rate else { return };
        let recovery = paths[me].recovery;
        if self.recovering && matches!(recovery, Recovery::Open | Recovery::Cwr) {
            self.recovering = false;
            self.restore_cwnd();
        }
        self.delivered = rate.prior_delivered + rate.delivered;
        let sample = Sample {
            now: ack.now,
            rate: rate.rate(),
            delivered: rate.delivered as f64,
            prior_delivered: rate.prior_delivered,
            acked: ack.delivered() as f64,
            tx_in_flight: rate.tx_in_flight as f64,
            lost: rate.lost as f64,
            app_limited: rate.app_limited || self.cycle.was_probing_rtt(rate.prior_delivered),
            rtt: ack.rtt,
            in_flight: rate.in_flight as f64,
            sack: ack.sack,
            fast: recovery == Recovery::Fast,
        };
        self.update_round(&sample, ack.cwnd_limited);
        self.update_model_and_state(&sample);
        self.set_pacing_rate();
        self.set_cwnd(&sample);
    }

    /// UpdateModelAndState.
    fn update_model_and_state(&mut self, s: &Sample) {
        self.losses.update_latest(s, self.delivered);
        self.update_congestion_signals(s);
        self.update_aggregation(s);
        self.full.check(s, self.rounds.starts);
        self.check_startup_done(s);
        self.check_drain_done(s);
        self.update_cycle_phase(s);
        let probe = self.min_rtt.update(s);
        self.check_probe_rtt(s, probe);
        self.losses.advance_latest(s);
        self.bandwidth.bw = self.bandwidth.max().min(self.bandwidth.short);
    }

    /// UpdateRound, and whether the window was full.
    fn update_round(&mut self, s: &Sample, cwnd_limited: bool) {
        self.rounds.starts = s.prior_delivered >= self.rounds.next;
        if self.rounds.starts {
            self.start_round();
            self.rounds.count += 1;
            self.cycle.rounds_since_up += 1;
            self.limited = [false, self.limited[0]];
        }
        self.limited[0] |= cwnd_limited;
    }

    /// StartRound.
    fn start_round(&mut self) {
        self.rounds.next = self.delivered;
    }

    /// C.is_cwnd_limited.
    fn is_cwnd_limited(&self) -> bool {
        self.limited[0] || self.limited[1]
    }

    /// SaveCwnd.
    fn save_cwnd(&mut self) {
        let least = if self.recovering || self.state == State::ProbeRtt { self.prior_cwnd } else { 0.0 };
        self.prior_cwnd = self.window.cwnd.max(least);
    }

    /// RestoreCwnd.
    fn restore_cwnd(&mut self) {
        self.window.cwnd = self.window.cwnd.max(self.prior_cwnd);
    }
}

impl Controller for Bbr {
    fn window(&self) -> &Window {
        &self.window
    }

    fn adjust(&mut self, adjust: Adjust) {
        match adjust {
            // These prevent bursts, and a paced sender makes none.
            Adjust::Idle { .. }
            | Adjust::Unused { .. }
            | Adjust::Deflate { .. }
            | Adjust::Resume { .. }
            | Adjust::Reordered { .. } => {}
            other => self.window.adjust(other),
        }
    }

    fn on_ack(&mut self, ack: &AckSample, paths: &[Path], me: usize) {
        self.update(ack, paths, me);
    }

    fn on_other_ack(&mut self, ack: &AckSample, paths: &[Path], me: usize) {
        self.update(ack, paths, me);
    }

    /// OnEnterFastRecovery and OnEnterRTO.
    fn on_congestion(&mut self, congestion: &Congestion, _paths: &[Path], _me: usize) {
        if congestion.cause == Cause::Ecn {
            self.losses.note(self.delivered);
        } else {
            self.save_cwnd();
            self.recovering = true;
        }
        if congestion.cause == Cause::Timeout {
            self.window.cwnd = self.window.mss;
        }
        if !congestion.repeated {
            // The threshold has no meaning here. At one segment nobody takes the flow for one in slow start.
            self.window.ssthresh = self.window.mss;
        }
    }

    /// OnTransmit: HandleRestartFromIdle.
    fn on_sent(&mut self, departure: &Departure) {
        if self.pacing.is_none() {
            self.init_pacing_rate(departure.srtt);
        } else if departure.in_flight <= u64::from(departure.len) && !departure.again {
            self.restart_from_idle(departure.now);
        }
    }

    fn on_lost_segment(&mut self, segment: &LostSegment) {
        self.handle_lost_segment(segment);
    }

    fn reduces_itself(&self) -> bool {
        true
    }

    fn pacing(&self) -> Option<f64> {
        self.pacing
    }
}
