//! What BBR knows of the path: bandwidth, round-trip time, aggregation, whether the pipe is full, and what losses say.

use super::state::State;
use super::{Bbr, LostSegment, Sample};
use crate::seq::Seq;
use crate::time::{Duration, Instant};

/// BBR.LossThresh.
pub(super) const LOSS_THRESH: f64 = 0.02;
/// BBR.Beta.
pub(super) const BETA: f64 = 0.7;
/// BBR.MinRTTFilterLen and BBR.ProbeRTTInterval.
const MIN_RTT_FILTER: Duration = Duration::from_secs(10);
const PROBE_RTT_INTERVAL: Duration = Duration::from_secs(5);
/// BBR.ExtraAckedFilterLen, in round trips.
const EXTRA_ACKED_ROUNDS: usize = 10;
/// BBRStartupFullLossCnt.
const STARTUP_LOSSES: u32 = 6;

/// BBR.max_bw, BBR.bw and BBR.bw_shortterm.
#[derive(Clone, Debug)]
pub(super) struct Bandwidth {
    /// The largest rate of this probing cycle and of the one before.
    slots: [f64; 2],
    pub bw: f64,
    pub short: f64,
}

impl Default for Bandwidth {
    fn default() -> Self {
        Self { slots: [0.0; 2], bw: 0.0, short: f64::INFINITY }
    }
}

impl Bandwidth {
    pub fn max(&self) -> f64 {
        self.slots[0].max(self.slots[1])
    }

    /// UpdateMaxBw.
    pub fn update(&mut self, s: &Sample) {
        if s.rate > 0.0 && (s.rate >= self.max() || !s.app_limited) {
            self.slots[0] = self.slots[0].max(s.rate);
        }
    }

    /// AdvanceMaxBwFilter: a cycle is over. Without a rate in it there is nothing to advance to.
    pub fn advance(&mut self) {
        if self.slots[0] > 0.0 {
            self.slots = [0.0, self.slots[0]];
        }
    }
}

/// BBR.min_rtt, and the minimum that ProbeRTT goes by.
#[derive(Clone, Debug, Default)]
pub(super) struct MinRtt {
    pub least: Option<(Duration, Instant)>,
    /// BBR.probe_rtt_min_delay and BBR.probe_rtt_min_stamp.
    probe: Option<(Duration, Instant)>,
}

impl MinRtt {
    /// UpdateMinRTT. Returns true if it is time for ProbeRTT (BBR.probe_rtt_expired).
    pub fn update(&mut self, s: &Sample) -> bool {
        let expired = self.probe.is_some_and(|(_, at)| s.now > at + PROBE_RTT_INTERVAL);
        if let Some(rtt) = s.rtt.filter(|rtt| rtt.0 > 0) {
            if expired || self.probe.is_none_or(|(least, _)| rtt < least) {
                self.probe = Some((rtt, s.now));
            }
        }
        if let Some((rtt, at)) = self.probe {
            let stale = |since: Instant| s.now > since + MIN_RTT_FILTER;
            if self.least.is_none_or(|(least, since)| rtt < least || stale(since)) {
                self.least = Some((rtt, at));
            }
        }
        expired
    }

    /// The next ProbeRTT is an interval away.
    pub fn probed(&mut self, now: Instant) {
        self.probe = self.probe.map(|(rtt, _)| (rtt, now));
    }

    /// Seconds.
    pub fn seconds(&self) -> Option<f64> {
        self.least.map(|(rtt, _)| rtt.as_secs_f64())
    }
}

/// BBR.extra_acked: what is acknowledged in bursts beyond what the bandwidth explains.
#[derive(Clone, Debug, Default)]
pub(super) struct Aggregation {
    /// BBR.extra_acked_interval_start.
    pub start: Instant,
    delivered: f64,
    /// Maxima of the last round trips.
    rounds: [f64; EXTRA_ACKED_ROUNDS],
}

impl Aggregation {
    /// The largest of the last round trips: of one before the pipe was full.
    pub fn extra(&self, round: u64, full: bool) -> f64 {
        if full {
            self.rounds.iter().fold(0.0, |a, &b| a.max(b))
        } else {
            self.rounds[(round % EXTRA_ACKED_ROUNDS as u64) as usize]
        }
    }
}

/// The estimator of a full pipe.
#[derive(Clone, Debug, Default)]
pub(super) struct FullPipe {
    /// BBR.full_bw, full_bw_count, full_bw_now, full_bw_reached.
    pub bw: f64,
    count: u32,
    pub now: bool,
    pub reached: bool,
}

impl FullPipe {
    /// ResetFullBW, with a baseline.
    pub fn reset(&mut self, bw: f64) {
        *self = Self { bw, count: 0, now: false, reached: self.reached };
    }

    /// CheckFullBWReached.
    pub fn check(&mut self, s: &Sample, round_starts: bool) {
        if self.now || !round_starts || s.app_limited {
            return;
        }
        if s.rate >= self.bw * 1.25 {
            return self.reset(s.rate);
        }
        self.count += 1;
        self.now = self.count >= 3;
        self.reached |= self.now;
    }
}

/// What losses say.
#[derive(Clone, Debug)]
pub(super) struct Losses {
    /// BBR.is_loss_in_round, BBR.loss_round_delivered, BBR.loss_round_start.
    in_round: bool,
    round_delivered: u64,
    pub round_starts: bool,
    /// BBR.bw_latest and BBR.inflight_latest.
    bw_latest: f64,
    pub inflight_latest: f64,
    /// BBR.inflight_longterm and BBR.inflight_shortterm.
    pub inflight_long: f64,
    pub inflight_short: f64,
    /// Discontiguous ranges lost in this round trip, and the end of the last one.
    ranges: u32,
    range_end: Seq,
    /// BBR.is_bw_probe_sample: the losses of a probe are being judged.
    pub judges_probe: bool,
    /// BBR.prev_probe_too_high.
    pub probe_too_high: bool,
}

impl Default for Losses {
    fn default() -> Self {
        Self {
            in_round: false,
            round_delivered: 0,
            round_starts: false,
            bw_latest: 0.0,
            inflight_latest: 0.0,
            inflight_long: f64::INFINITY,
            inflight_short: f64::INFINITY,
            ranges: 0,
            range_end: Seq::default(),
            judges_probe: false,
            probe_too_high: false,
        }
    }
}

impl Losses {
    /// NoteLoss.
    pub fn note(&mut self, delivered: u64) {
        if !self.in_round {
            self.round_delivered = delivered;
        }
        self.in_round = true;
    }

    /// UpdateLatestDeliverySignals.
    pub fn update_latest(&mut self, s: &Sample, delivered: u64) {
        self.bw_latest = self.bw_latest.max(s.rate);
        self.inflight_latest = self.inflight_latest.max(s.delivered);
        self.round_starts = s.prior_delivered >= self.round_delivered;
        if self.round_starts {
            self.round_delivered = delivered;
        }
    }

    /// AdvanceLatestDeliverySignals.
    pub fn advance_latest(&mut self, s: &Sample) {
        if self.round_starts {
            (self.bw_latest, self.inflight_latest) = (s.rate, s.delivered);
        }
    }

    /// ResetCongestionSignals.
    pub fn reset_signals(&mut self) {
        (self.in_round, self.bw_latest, self.inflight_latest) = (false, 0.0, 0.0);
    }
}

/// IsInflightTooHigh.
pub(super) fn is_too_high(lost: f64, tx_in_flight: f64, sack: bool) -> bool {
    lost > LOSS_THRESH * tx_in_flight || (lost > 0.0 && !sack)
}

/// InflightAtLoss: what was in flight when the losses up to and with a segment of `len` octets crossed the threshold.
pub(super) fn inflight_at_loss(tx_in_flight: f64, lost: f64, len: f64) -> f64 {
    let (inflight_prev, lost_prev) = (tx_in_flight - len, lost - len);
    inflight_prev + (LOSS_THRESH * inflight_prev - lost_prev) / (1.0 - LOSS_THRESH)
}

impl Bbr {
    /// UpdateCongestionSignals and AdaptLowerBoundsFromCongestion.
    pub(super) fn update_congestion_signals(&mut self, s: &Sample) {
        self.bandwidth.update(s);
        if !self.losses.round_starts {
            return;
        }
        let l = &mut self.losses;
        if l.in_round && !matches!(self.state, State::Startup | State::Refill | State::Up) {
            let b = &mut self.bandwidth;
            // InitLowerBounds, LossLowerBounds.
            let bw = if b.short.is_infinite() { b.max() } else { b.short };
            let inflight = if l.inflight_short.is_infinite() { self.window.cwnd } else { l.inflight_short };
            b.short = l.bw_latest.max(BETA * bw);
            l.inflight_short = l.inflight_latest.max(BETA * inflight);
        }
        l.in_round = false;
    }

    /// ResetShortTermModel.
    pub(super) fn reset_short_term(&mut self) {
        (self.bandwidth.short, self.losses.inflight_short) = (f64::INFINITY, f64::INFINITY);
    }

    /// UpdateACKAggregation.
    pub(super) fn update_aggregation(&mut self, s: &Sample) {
        let a = &mut self.aggregation;
        let slot = (self.rounds.count % EXTRA_ACKED_ROUNDS as u64) as usize;
        if self.rounds.starts {
            a.rounds[slot] = 0.0;
        }
        let mut expected = self.bandwidth.bw * s.now.since(a.start).as_secs_f64();
        if a.delivered <= expected {
            (a.delivered, a.start, expected) = (0.0, s.now, 0.0);
        }
        a.delivered += s.acked;
        let extra = (a.delivered - expected).min(self.window.cwnd);
        a.rounds[slot] = a.rounds[slot].max(extra);
    }

    /// HandleLostPacket.
    pub(super) fn handle_lost_segment(&mut self, p: &LostSegment) {
        let l = &mut self.losses;
        l.note(self.delivered);
        if p.seq != l.range_end {
            l.ranges += 1;
        }
        l.range_end = p.seq + p.len;
        if !l.judges_probe {
            return;
        }
        let (lost, tx_in_flight) = (p.lost as f64, p.tx_in_flight as f64);
        if is_too_high(lost, tx_in_flight, p.sack) {
            let at_loss = inflight_at_loss(tx_in_flight, lost, p.len as f64);
            self.handle_too_high(at_loss, p.app_limited, p.now);
        }
    }

    /// HandleInflightTooHigh.
    fn handle_too_high(&mut self, inflight: f64, app_limited: bool, now: Instant) {
        // A timeout that marks them has already cut the window.
        let cwnd = if self.recovering { self.prior_cwnd } else { self.window.cwnd };
        let least = self.bdp(1.0).min(cwnd) * BETA;
        let l = &mut self.losses;
        (l.probe_too_high, l.judges_probe) = (true, false);
        if !app_limited {
            l.inflight_long = inflight.max(least);
        }
        if self.state == State::Up {
            self.start_down(now);
        }
    }

    /// CheckStartupHighLoss: the exit criteria that losses meet. At the end of each round trip in recovery; without SACK any loss that is
    /// repaired by fast retransmit.
    pub(super) fn startup_loses_much(&mut self, s: &Sample) -> bool {
        let l = &self.losses;
        let much = l.ranges >= STARTUP_LOSSES && is_too_high(s.lost, s.tx_in_flight, s.sack) && l.round_starts;
        let found = s.fast && if s.sack { much } else { l.ranges > 0 };
        if l.round_starts {
            self.losses.ranges = 0;
        }
        found
    }
}
