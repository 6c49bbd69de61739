//! `cubic`: CUBIC (RFC 9438) on each subflow independently; Linux's default.
//!
//! After a loss the window is a cubic function of the time since: it grows fast at first, is flat around the window at which the
//! loss happened, then grows fast again. Where NewReno with the same average would do better, its estimate is used instead (the
//! "Reno-friendly" region, which is all there is on paths with a small bandwidth-delay product). Without this region comparisons
//! with real kernels mislead. Like `uncoupled`, CUBIC does harm where subflows share a bottleneck.
//!
//! Slow start is HyStart++ (`hystart`) until the first loss. Left out: the undo of 4.9, which the engine's undo ledger
//! does for every controller.

use super::cube_root::cube_root;
use super::hystart::HyStart;
use super::linux;
use super::{AckSample, Adjust, Cause, Congestion, Controller, Path, Window};
use crate::registry::{Builtin, Fairness, Info};
use crate::time::{Duration, Instant};

pub(crate) static BUILTIN: Builtin<dyn Controller> = Builtin {
    info: Info::new("cubic", "CUBIC on each subflow separately")
        .label("CUBIC")
        .source("RFC 9438, RFC 9406")
        .fairness(Fairness::Subflow)
        .validated("hand-computed points of the cubic function; Reno-friendly on short paths")
        .parameters(const { &[linux::LINUX, linux::HZ, linux::HYSTART] }),
    make: |setup, values| {
        let window = Window::new(setup);
        let hystart = values.get("hystart") > 0.0;
        if values.get("linux") > 0.0 {
            return Box::new(linux::Cubic::new(window, values.get("hz") as u64, hystart));
        }
        Box::new(Cubic::new(window, hystart))
    },
};

/// RFC 9438 4.6: multiplicative decrease.
const BETA: f64 = 0.7;
/// RFC 9438 5.1: segments per cubic second.
const C: f64 = 0.4;
/// RFC 9438 4.3: increase of the Reno-friendly estimate, 3 (1 - beta) / (1 + beta).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// Windows in segments, times in seconds, as in the RFC.
#[derive(Clone, Debug)]
struct Cubic {
    window: Window,
    w_max: f64,
    /// The window before the last reduction.
    cwnd_prior: f64,
    k: f64,
    w_est: f64,
    /// Start of the current congestion avoidance stage.
    epoch: Option<Instant>,
    last_ack: Instant,
    /// RFC 9406 4.3: for the first slow start only.
    hystart: Option<HyStart>,
}

impl Cubic {
    fn new(window: Window, hystart: bool) -> Self {
        Self {
            window,
            w_max: 0.0,
            cwnd_prior: 0.0,
            k: 0.0,
            w_est: 0.0,
            epoch: None,
            last_ack: Instant::ZERO,
            hystart: hystart.then(HyStart::default),
        }
    }

    /// RFC 9438 4.2, figure 1, at `t` seconds.
    fn w_cubic(&self, t: f64) -> f64 {
        let d = t - self.k;
        C * d * d * d + self.w_max
    }
}

impl Controller for Cubic {
    fn window(&self) -> &Window {
        &self.window
    }

    fn adjust(&mut self, adjust: Adjust) {
        self.window.adjust(adjust);
    }

    fn on_ack(&mut self, ack: &AckSample, paths: &[Path], me: usize) {
        let idle = ack.now.since(self.last_ack);
        self.last_ack = ack.now;
        if !ack.cwnd_limited {
            // 5.8: time in which the application did not fill the window does not count.
            if let Some(epoch) = &mut self.epoch {
                *epoch += idle;
            }
            return;
        }
        if self.window.in_slow_start() {
            match &mut self.hystart {
                Some(hystart) => hystart.on_ack(ack, &mut self.window),
                None => self.window.slow_start(ack),
            }
            return;
        }
        let mss = self.window.mss;
        let cwnd = self.window.cwnd / mss;
        let epoch = *self.epoch.get_or_insert_with(|| {
            // 4.2: the window at which the stage begins. Without an earlier reduction, or above its window, K = 0.
            if self.w_max <= cwnd {
                self.w_max = cwnd;
                self.k = 0.0;
            } else {
                self.k = cube_root((self.w_max - cwnd) / C);
            }
            self.w_est = cwnd;
            ack.now
        });
        let t = ack.now.since(epoch).as_secs_f64();
        let segments = ack.growth as f64 / mss;
        // 4.3: the Reno-friendly estimate; alpha is 1 once the estimate has reached the window before the reduction.
        let alpha = if self.w_est >= self.cwnd_prior { 1.0 } else { ALPHA };
        self.w_est += alpha * segments / cwnd;
        let next = if self.w_cubic(t) < self.w_est {
            cwnd.max(self.w_est)
        } else {
            // 4.4, 4.5: grow towards the cubic function one round trip ahead, at most 1.5 times the window.
            let rtt = paths.get(me).map_or(Duration::ZERO, |v| v.srtt).as_secs_f64();
            let target = self.w_cubic(t + rtt).clamp(cwnd, 1.5 * cwnd);
            cwnd + (target - cwnd) / cwnd * segments
        };
        self.window.cwnd = next * mss;
    }

    fn on_congestion(&mut self, congestion: &Congestion, _paths: &[Path], _me: usize) {
        let mss = self.window.mss;
        let cwnd = self.window.cwnd / mss;
        if !congestion.repeated && !congestion.nested {
            self.cwnd_prior = cwnd;
            // 4.7: fast convergence.
            self.w_max = if cwnd < self.w_max { cwnd * (1.0 + BETA) / 2.0 } else { cwnd };
        }
        if congestion.cause == Cause::Timeout {
            // 4.8: after a timeout the next stage begins at its own window.
            self.w_max = 0.0;
        }
        self.epoch = None;
        self.hystart = None;
        // 4.6: reduce the flight, not the window, in case the application did not fill the window.
        let target = congestion.flight_size as f64 * BETA;
        self.window.cut(congestion, target, 2.0);
        if congestion.cause == Cause::Ecn {
            // 4.6: cwnd may fall to one segment, ssthresh only to two.
            self.window.cwnd = target.max(mss);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{Choice, Setup};

    const MSS: f64 = 1000.0;

    fn congestion(flight: f64) -> Congestion {
        let cause = Cause::FastRetransmit;
        Congestion { now: Instant::ZERO, cause, flight_size: (flight * MSS) as u64, repeated: false, nested: false }
    }

    fn view(rtt_ms: u64) -> [Path; 1] {
        [Path { established: true, srtt: Duration::from_millis(rtt_ms), ..Path::default() }]
    }

    fn cubic(segments: u32) -> Cubic {
        Cubic::new(Window::new(&Setup::new(MSS as u32, segments)), true)
    }

    /// Figure 1 with C = 0.4: 0.4 (t - 3)^3 + 100.
    #[test]
    fn the_curve_is_a_cube_around_its_plateau() {
        let c = Cubic { w_max: 100.0, k: 3.0, ..cubic(10) };
        for (t, window) in [(0.0, 89.2), (1.0, 96.8), (3.0, 100.0), (5.0, 103.2), (8.0, 150.0)] {
            assert!((c.w_cubic(t) - window).abs() < 1e-9, "{} at {t}", c.w_cubic(t));
        }
    }

    /// RFC 9438 4.7: a loss below the last W_max means that other flows have joined: W_max = cwnd (1 + 0.7) / 2 makes room for
    /// them. 100 segments, then a loss at 80: W_max is 68, and the previous window is 80. At or above W_max, W_max is the window.
    #[test]
    fn a_loss_below_the_last_maximum_leaves_room_for_others() {
        for (second, w_max) in [(80.0, 68.0), (100.0, 100.0), (120.0, 120.0)] {
            let mut c = cubic(100);
            c.on_congestion(&congestion(100.0), &view(50), 0);
            assert_eq!((c.w_max, c.cwnd_prior), (100.0, 100.0));
            c.window.cwnd = second * MSS;
            c.on_congestion(&congestion(second), &view(50), 0);
            assert_eq!((c.w_max, c.cwnd_prior), (w_max, second));
        }
    }

    /// After a timeout inside an episode, or a repeated timeout of the same segment, the window is one segment or a few, which
    /// says nothing about the path. The window before the reduction stays 100, and ssthresh does not increase.
    #[test]
    fn later_timeouts_of_an_episode_leave_the_window_before_it() {
        for (nested, repeated) in [(true, false), (true, true)] {
            let mut c = cubic(100);
            c.on_congestion(&congestion(100.0), &view(50), 0);
            c.window.cwnd = 3.0 * MSS;
            let timeout = Congestion { cause: Cause::Timeout, nested, repeated, ..congestion(50.0) };
            c.on_congestion(&timeout, &view(50), 0);
            assert_eq!((c.cwnd_prior, c.window.cwnd), (100.0, MSS));
            // 0.7 of the flight of 50 segments; a repeated timeout leaves ssthresh at 0.7 of 100.
            assert_eq!(c.window.ssthresh, if repeated { 70.0 * MSS } else { 35.0 * MSS });
            // 4.8: the stage after a timeout begins at its own window, so K is 0.
            c.window.cwnd = c.window.ssthresh;
            let ack = AckSample { growth: MSS as u64, cwnd_limited: true, ..AckSample::default() };
            c.on_ack(&ack, &view(50), 0);
            assert_eq!((c.k, c.w_max), (0.0, c.window.ssthresh / MSS));
        }
    }

    /// RFC 9438 4.6: an ECN echo reduces the window to one segment at least, a loss to two; ssthresh is always at least two.
    #[test]
    fn the_floor_of_the_window_is_one_segment_under_ecn() {
        for (cause, floor) in [(Cause::Ecn, 1.0), (Cause::FastRetransmit, 2.0)] {
            let mut c = cubic(2);
            c.on_congestion(&Congestion { cause, ..congestion(1.0) }, &view(50), 0);
            assert_eq!((c.window.cwnd, c.window.ssthresh), (floor * MSS, 2.0 * MSS), "{cause:?}");
        }
        let mut c = cubic(10);
        c.on_congestion(&Congestion { cause: Cause::Ecn, ..congestion(10.0) }, &view(50), 0);
        assert_eq!((c.window.cwnd, c.window.ssthresh), (7.0 * MSS, 7.0 * MSS));
    }

    /// RFC 9438 4.2: after a cut at W_max the window is back at W_max after K = cbrt(W_max (1 - beta) / C) seconds. With
    /// W_max = 1000 segments K = cbrt(750) = 9.086 s; long round trips keep it out of the Reno-friendly region.
    #[test]
    fn the_window_is_back_after_k_seconds() {
        let setup = Setup::new(MSS as u32, 1000);
        let mut c = Choice::new(&BUILTIN).make(&setup);
        c.on_congestion(&congestion(1000.0), &view(200), 0);
        assert!((c.window().cwnd / MSS - 700.0).abs() < 1e-9);
        let mut now = Instant::ZERO;
        let mut back = None;
        // One ACK a segment: cwnd ACKs in each round trip of 200 ms.
        while back.is_none() && now.as_secs_f64() < 30.0 {
            let cwnd = c.window().cwnd / MSS;
            now += Duration((0.2e9 / cwnd) as u64);
            let ack = AckSample { now, growth: MSS as u64, cwnd_limited: true, ..AckSample::default() };
            c.on_ack(&ack, &view(200), 0);
            if c.window().cwnd / MSS >= 999.5 {
                back = Some(now.as_secs_f64());
            }
        }
        let back = back.expect("it comes back");
        // The last half segment of a cubic's plateau takes cbrt(0.5 / 0.4) = 1.08 s; the target looks one round trip ahead.
        assert!((back - (9.086 - 1.08)).abs() < 0.3, "{back}");
    }

    /// On a 10 ms path with 10 segments the cubic is slower than NewReno: growth follows the estimate.
    /// RFC 9438 4.3.
    #[test]
    fn short_paths_are_reno_friendly() {
        let setup = Setup::new(MSS as u32, 10);
        let mut c = Choice::new(&BUILTIN).make(&setup);
        c.on_congestion(&congestion(10.0), &view(10), 0);
        let mut now = Instant::ZERO;
        // 7 segments; alpha = 0.529 segments a round trip until back at 10, i.e. 3 / 0.529 = 5.7 round trips.
        let mut rounds = 0;
        while c.window().cwnd / MSS < 10.0 {
            let n = (c.window().cwnd / MSS) as u64;
            for _ in 0..n {
                now += Duration(10_000_000 / n);
                let ack = AckSample { now, growth: MSS as u64, cwnd_limited: true, ..AckSample::default() };
                c.on_ack(&ack, &view(10), 0);
            }
            rounds += 1;
        }
        assert!((6..=7).contains(&rounds), "{rounds}");
    }
}
