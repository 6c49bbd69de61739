//! `reno` and `cubic` as Linux 6.1 has them: `uncoupled` and `cubic` with the parameter `linux`.
//!
//! What differs from the RFCs: windows are whole segments; reductions start from the window instead of the flight; slow start takes
//! every acknowledged segment (no L of RFC 3465). CUBIC is that of RFC 8312: alpha of the Reno-friendly estimate stays 0.53 above the
//! old maximum (RFC 9438 4.3 makes it 1). Its time is counted in clock ticks, the step of the window is recomputed at most once a tick,
//! and not more than every 32nd of a second while the window stands; it looks one minimum round-trip time ahead. After a timeout all of
//! it is forgotten. Slow start ends by HyStart (Ha and Rhee 2008): the acknowledgements of a round come in a train of half a minimum
//! round-trip time, or the round-trip time grew by an eighth.
//!
//! Functions in the kernel: `tcp_slow_start`, `tcp_cong_avoid_ai`, `tcp_enter_loss`; `bictcp_update`, `hystart_update`,
//! `cubictcp_recalc_ssthresh`.

use super::cube_root::cube_root;
use super::{AckSample, Adjust, Cause, Congestion, Controller, Path, Window};
use crate::registry::{Builtin, Fairness, Info, Parameter, Unit};
use crate::seq::Seq;
use crate::time::{Duration, Instant};

/// Whether a controller is the RFC's or Linux's.
pub(super) const LINUX: Parameter =
    Parameter::new("linux", Unit::Whole, 0.0, (0.0, 1.0), "1: as in Linux 6.1, in whole segments; 0: as in the RFC");
/// Ticks of the clock.
pub(super) const HZ: Parameter =
    Parameter::new("hz", Unit::Whole, 100.0, (100.0, 1000.0), "with linux = 1: ticks of the kernel's clock per second");

/// Ticks of the clock of a controller that is Linux's in any case.
const HZ_ALONE: Parameter =
    Parameter::new("hz", Unit::Whole, 100.0, (100.0, 1000.0), "ticks of the kernel's clock per second");
/// Whether slow start looks for its end.
pub(super) const HYSTART: Parameter = Parameter::new(
    "hystart",
    Unit::Whole,
    1.0,
    (0.0, 1.0),
    "0: only a loss ends slow start; 1: a loss or HyStart ends slow start",
);

/// `linux-reno`: `uncoupled` with `linux = 1`.
pub(crate) static RENO: Builtin<dyn Controller> = Builtin {
    info: Info::new("linux-reno", "NewReno as in Linux 6.1, in whole segments, on each subflow separately")
        .label("Linux NewReno")
        .source("Linux 6.1: tcp_slow_start, tcp_cong_avoid_ai")
        .fairness(Fairness::Subflow)
        .validated("the same trace as `uncoupled` with linux = 1; comparison with Linux in virtual time")
        .variant_of("uncoupled"),
    make: |setup, _| Box::new(Reno::new(Window::new(setup))),
};

/// `linux-cubic`: `cubic` with `linux = 1`.
pub(crate) static CUBIC: Builtin<dyn Controller> = Builtin {
    info: Info::new("linux-cubic", "CUBIC as in Linux 6.1, in whole segments, on each subflow separately")
        .label("Linux CUBIC")
        .source("Linux 6.1: bictcp_update, cubictcp_recalc_ssthresh, hystart_update; RFC 8312")
        .fairness(Fairness::Subflow)
        .validated("the same trace as `cubic` with linux = 1; comparison with Linux in virtual time")
        .parameters(const { &[HZ_ALONE, HYSTART] })
        .variant_of("cubic"),
    make: |setup, values| {
        Box::new(Cubic::new(Window::new(setup), values.get("hz") as u64, values.get("hystart") > 0.0))
    },
};

/// A window in whole segments.
#[derive(Clone, Debug)]
pub(super) struct Segments {
    pub window: Window,
    /// Segments acknowledged since the last increase (`snd_cwnd_cnt`).
    pub count: u64,
    /// Octets acknowledged that are not a segment yet.
    rest: u64,
}

impl Segments {
    pub fn new(window: Window) -> Self {
        Self { window, count: 0, rest: 0 }
    }

    /// The window in segments.
    pub fn cwnd(&self) -> u64 {
        (self.window.cwnd / self.window.mss).round().max(1.0) as u64
    }

    pub fn set(&mut self, segments: u64) {
        self.window.cwnd = segments as f64 * self.window.mss;
    }

    /// Changes of the engine. After an idle period the window is halved once for each timeout that has passed, down to the initial one,
    /// and slow start ends no sooner than at three quarters of it (`tcp_cwnd_restart`, `tcp_current_ssthresh`).
    pub fn adjust(&mut self, adjust: Adjust) {
        let Adjust::Idle { timeouts } = adjust else {
            self.window.adjust(adjust);
            return;
        };
        let w = &mut self.window;
        w.ssthresh = w.ssthresh.max((0.75 * w.cwnd / w.mss).floor() * w.mss);
        let restart = w.initial.max(w.mss).min(w.cwnd);
        let halves = (timeouts.ceil() - 1.0).clamp(0.0, 63.0) as u32;
        let cwnd = (w.cwnd / w.mss / (1_u64 << halves) as f64).floor() * w.mss;
        w.cwnd = cwnd.max(restart);
    }

    /// Whole segments among the octets by which the window may grow.
    pub fn acked(&mut self, ack: &AckSample) -> u64 {
        let octets = self.rest + ack.growth;
        let mss = self.window.mss as u64;
        self.rest = octets % mss;
        octets / mss
    }

    /// Slow start; returns the segments that are left beyond the threshold.
    pub fn slow_start(&mut self, acked: u64) -> u64 {
        let limit = (self.window.ssthresh / self.window.mss).floor();
        let wanted = self.cwnd() + acked;
        let next = if (wanted as f64) < limit { wanted } else { limit as u64 };
        let next = next.max(self.cwnd());
        self.set(next);
        wanted - next
    }

    /// Takes what was acknowledged in slow start; returns the segments that are left for congestion avoidance. A window that was not
    /// full does not grow.
    pub fn left_for_avoidance(&mut self, ack: &AckSample) -> u64 {
        let acked = self.acked(ack);
        if !ack.cwnd_limited {
            0
        } else if self.window.in_slow_start() {
            self.slow_start(acked)
        } else {
            acked
        }
    }

    /// One segment more for every `w` acknowledged.
    pub fn avoid(&mut self, w: u64, acked: u64) {
        let w = w.max(1);
        let mut cwnd = self.cwnd();
        if self.count >= w {
            self.count = 0;
            cwnd += 1;
        }
        self.count += acked;
        cwnd += self.count / w;
        self.count %= w;
        self.set(cwnd);
    }

    /// The threshold becomes `segments`, at least two; a further timeout of an episode leaves it.
    pub fn reduce(&mut self, congestion: &Congestion, segments: u64) {
        if !congestion.nested && !congestion.repeated {
            self.window.ssthresh = segments.max(2) as f64 * self.window.mss;
        }
        self.count = 0;
        self.window.cwnd = if congestion.cause == Cause::Timeout { self.window.mss } else { self.window.ssthresh };
    }
}

/// `uncoupled` with `linux = 1`.
#[derive(Clone, Debug)]
pub(super) struct Reno(Segments);

impl Reno {
    pub fn new(window: Window) -> Self {
        Self(Segments::new(window))
    }
}

impl Controller for Reno {
    fn window(&self) -> &Window {
        &self.0.window
    }

    fn adjust(&mut self, adjust: Adjust) {
        self.0.adjust(adjust);
    }

    fn on_ack(&mut self, ack: &AckSample, _paths: &[Path], _me: usize) {
        let acked = self.0.left_for_avoidance(ack);
        if acked > 0 {
            self.0.avoid(self.0.cwnd(), acked);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion, _paths: &[Path], _me: usize) {
        self.0.reduce(congestion, self.0.cwnd() / 2);
    }
}

/// beta of CUBIC, in 1024ths.
const BETA: u64 = 717;
/// C of CUBIC, in 1024ths of a segment per cubic second.
const C: u64 = 410;
/// The clock of CUBIC's curve: 1024 units in a second.
const UNITS: u64 = 1 << 10;
/// Eighths of a window of acknowledgements for each segment of the Reno-friendly estimate: 8 (1 + beta) / (3 (1 - beta)).
const FRIENDLY: u64 = 15;
/// Least window in which HyStart looks, in segments, and its least number of samples in a round.
const HYSTART_WINDOW: u64 = 16;
const HYSTART_SAMPLES: u32 = 8;
/// Acknowledgements closer than this make a train.
const TRAIN: Duration = Duration::from_millis(2);
/// What a train may take beyond the minimum round-trip time: the peer's offload, bounded by a millisecond.
const TRAIN_DELAY: u64 = 1_000_000;
const LEAST_RISE: u64 = 4_000_000;
const MOST_RISE: u64 = 16_000_000;

/// State of HyStart's current round.
#[derive(Clone, Debug, Default)]
struct Round {
    start: Instant,
    last_ack: Instant,
    end: Seq,
    least: Option<Duration>,
    samples: u32,
}

/// `cubic` with `linux = 1`. Windows in segments.
#[derive(Clone, Debug)]
pub(super) struct Cubic {
    window: Segments,
    hz: u64,
    /// One segment more for so many acknowledged.
    count: u64,
    last_max: u64,
    last_cwnd: u64,
    /// Tick of the last computation, and of the beginning of the epoch.
    last_time: u64,
    epoch: Option<u64>,
    /// K in units, and the window of the plateau.
    k: u64,
    origin: u64,
    acked: u64,
    /// The Reno-friendly estimate.
    friendly: u64,
    delay_min: Option<Duration>,
    /// HyStart has found the end of slow start, or does not look for it.
    found: bool,
    hystart: bool,
    round: Option<Round>,
}

impl Cubic {
    /// Slow start ends by itself if `hystart`.
    pub fn new(window: Window, hz: u64, hystart: bool) -> Self {
        Self {
            window: Segments::new(window),
            hz,
            count: 0,
            last_max: 0,
            last_cwnd: 0,
            last_time: 0,
            epoch: None,
            k: 0,
            origin: 0,
            acked: 0,
            friendly: 0,
            delay_min: None,
            found: !hystart,
            hystart,
            round: None,
        }
    }

    fn ticks(&self, now: Instant) -> u64 {
        (u128::from(now.0) * u128::from(self.hz) / 1_000_000_000) as u64
    }

    /// Recomputes how many acknowledged segments make the window grow by one.
    fn update(&mut self, now: Instant, acked: u64) {
        let cwnd = self.window.cwnd();
        let tick = self.ticks(now);
        self.acked += acked;
        if self.last_cwnd == cwnd && tick - self.last_time <= self.hz / 32 {
            return;
        }
        if self.epoch.is_none() || tick != self.last_time {
            (self.last_cwnd, self.last_time) = (cwnd, tick);
            self.count = self.curve(tick, cwnd, acked);
        }
        // The Reno-friendly estimate.
        let step = (cwnd * FRIENDLY) >> 3;
        while self.acked > step {
            self.acked -= step;
            self.friendly += 1;
        }
        if self.friendly > cwnd {
            self.count = self.count.min(cwnd / (self.friendly - cwnd));
        }
        // At most half a segment for each segment acknowledged.
        self.count = self.count.max(2);
    }

    /// The cubic function one minimum round-trip time ahead.
    fn curve(&mut self, tick: u64, cwnd: u64, acked: u64) -> u64 {
        let epoch = match self.epoch {
            Some(epoch) => epoch,
            None => {
                (self.acked, self.friendly) = (acked, cwnd);
                (self.k, self.origin) = if self.last_max <= cwnd {
                    (0, cwnd)
                } else {
                    let cubed = (1_u64 << 40) / C * (self.last_max - cwnd);
                    (cube_root(cubed as f64) as u64, self.last_max)
                };
                *self.epoch.insert(tick)
            }
        };
        let delay = self.delay_min.map_or(0, |d| (d.0 * self.hz).div_ceil(1_000_000_000));
        let t = (tick - epoch + delay) * UNITS / self.hz;
        let offset = t.abs_diff(self.k);
        let delta = ((u128::from(C) * u128::from(offset).pow(3)) >> 40) as u64;
        let target = if t < self.k { self.origin.saturating_sub(delta) } else { self.origin + delta };
        let count = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        // Without an earlier maximum: at least five percent a round trip.
        if self.last_max == 0 { count.min(20) } else { count }
    }

    /// HyStart reads a round-trip time sample.
    fn sample(&mut self, ack: &AckSample) {
        let Some(rtt) = ack.rtt else { return };
        // Not within a second after a reduction.
        if self.epoch.is_some_and(|epoch| self.ticks(ack.now) - epoch < self.hz) {
            return;
        }
        let least = *self.delay_min.insert(self.delay_min.map_or(rtt, |least| least.min(rtt)));
        if self.found || !self.window.window.in_slow_start() {
            return;
        }
        let new = || Round { start: ack.now, last_ack: ack.now, end: ack.snd_nxt, least: None, samples: 0 };
        let round = self.round.get_or_insert_with(new);
        if ack.snd_una > round.end {
            *round = new();
        }
        if self.window.cwnd() < HYSTART_WINDOW {
            return;
        }
        let mut found = false;
        if ack.now.since(round.last_ack) <= TRAIN {
            round.last_ack = ack.now;
            found = ack.now.since(round.start).0 > (least.0 + TRAIN_DELAY) / 2;
        }
        round.least = Some(round.least.map_or(rtt, |least| least.min(rtt)));
        if round.samples < HYSTART_SAMPLES {
            round.samples += 1;
        } else {
            let rise = (least.0 / 8).clamp(LEAST_RISE, MOST_RISE);
            found |= round.least.is_some_and(|r| r.0 > least.0 + rise);
        }
        if found {
            self.found = true;
            self.window.window.ssthresh = self.window.window.cwnd;
        }
    }
}

impl Controller for Cubic {
    fn window(&self) -> &Window {
        &self.window.window
    }

    fn adjust(&mut self, adjust: Adjust) {
        self.window.adjust(adjust);
    }

    fn on_ack(&mut self, ack: &AckSample, _paths: &[Path], _me: usize) {
        self.sample(ack);
        let mut acked = self.window.acked(ack);
        if !ack.cwnd_limited {
            return;
        }
        if self.window.window.in_slow_start() {
            acked = self.window.slow_start(acked);
            if acked == 0 {
                return;
            }
        }
        self.update(ack.now, acked);
        self.window.avoid(self.count, acked);
    }

    fn on_other_ack(&mut self, ack: &AckSample, _paths: &[Path], _me: usize) {
        self.sample(ack);
    }

    fn on_congestion(&mut self, congestion: &Congestion, _paths: &[Path], _me: usize) {
        let cwnd = self.window.cwnd();
        self.epoch = None;
        if !congestion.nested && !congestion.repeated {
            // Fast convergence.
            self.last_max = if cwnd < self.last_max { cwnd * (1024 + BETA) / 2048 } else { cwnd };
        }
        self.window.reduce(congestion, cwnd * BETA / 1024);
        if congestion.cause == Cause::Timeout {
            *self = Self { window: self.window.clone(), ..Self::new(self.window.window, self.hz, self.hystart) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::worked::changes;
    use super::*;

    /// `tcp_cong_avoid_ai`: of ten segments one more after ten are acknowledged, of eleven after eleven.
    #[test]
    fn a_window_grows_by_a_segment_once_it_is_acknowledged() {
        assert_eq!(changes("uncoupled linux=1", &[(10.0, 50)], 21), [(10, 11.0), (21, 12.0)]);
    }

    /// `hystart_low_window`: a train that is longer than half the minimum round-trip time ends slow start of 16 segments, not of 15.
    #[test]
    fn hystart_looks_from_sixteen_segments_on() {
        for (segments, ends) in [(15.0, false), (16.0, true), (17.0, true)] {
            let (cwnd, ssthresh) = (1_000.0 * segments, f64::INFINITY);
            let window = Window { cwnd, ssthresh, mss: 1_000.0, initial: 10_000.0, vegas_rate: 0.0 };
            let mut c = Cubic::new(window, 1000, true);
            for ms in 0..10 {
                let (now, rtt) = (Instant(ms * 1_000_000), Some(Duration::from_millis(4)));
                c.sample(&AckSample { now, rtt, ..AckSample::default() });
            }
            assert_eq!(c.window.window.ssthresh.is_finite(), ends, "{segments}");
        }
    }

    /// `hystart_update`: a train is too long when it takes more than half of the minimum round-trip time with the allowance, 2.5 ms; not with it.
    #[test]
    fn a_train_of_hystart_may_take_half_a_round_trip() {
        for (last, ends) in [(2_500_000, false), (2_500_001, true)] {
            let window =
                Window { cwnd: 16_000.0, ssthresh: f64::INFINITY, mss: 1_000.0, initial: 10_000.0, vegas_rate: 0.0 };
            let mut c = Cubic::new(window, 1000, true);
            for now in [0, 1_000_000, 2_000_000, last] {
                let (now, rtt) = (Instant(now), Some(Duration::from_millis(4)));
                c.sample(&AckSample { now, rtt, ..AckSample::default() });
            }
            assert_eq!(c.window.window.ssthresh.is_finite(), ends, "{last}");
        }
    }

    /// `hystart_update`: a round ends with an acknowledgement after `end_seq`, not with one up to it. It began at 0 with 16 segments sent. With
    /// a round-trip time of 4 ms a train of more than 2.5 ms ends slow start: at 3 ms it has, if the acknowledgement at 1 ms is of the
    /// same round; if it began another one, the train has lasted for 2 ms.
    #[test]
    fn a_round_of_hystart_ends_behind_what_was_sent() {
        for (una, ends) in [(16_000, true), (16_001, false)] {
            let window =
                Window { cwnd: 16_000.0, ssthresh: f64::INFINITY, mss: 1_000.0, initial: 10_000.0, vegas_rate: 0.0 };
            let mut c = Cubic::new(window, 1000, true);
            for (ms, snd_una) in [(0, 1_000), (1, una), (2, una), (3, una)] {
                let (now, rtt) = (Instant(ms * 1_000_000), Some(Duration::from_millis(4)));
                let (snd_una, snd_nxt) = (Seq(snd_una), Seq(16_000 + ms));
                c.sample(&AckSample { now, rtt, snd_una, snd_nxt, ..AckSample::default() });
            }
            assert_eq!(c.window.window.ssthresh.is_finite(), ends, "{una}");
        }
    }

    /// 41 segments, idle for so many timeouts: halved once for each that has passed, in whole segments, to no less than ten; ssthresh
    /// is at least three quarters, 30 segments.
    #[test]
    fn an_idle_window_is_halved_once_for_each_timeout() {
        for (timeouts, segments) in [(1.5, 20.0), (2.0, 20.0), (2.5, 10.0), (9.0, 10.0)] {
            let window = Window { cwnd: 41_000.0, ssthresh: 5_000.0, mss: 1_000.0, initial: 10_000.0, vegas_rate: 0.0 };
            let mut w = Segments::new(window);
            w.adjust(Adjust::Idle { timeouts });
            assert_eq!((w.window.cwnd, w.window.ssthresh), (1_000.0 * segments, 30_000.0), "{timeouts}");
        }
    }
}
