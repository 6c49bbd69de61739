//! `olia` and `balia` as the modules of the out-of-tree Multipath TCP for Linux had them (`mptcp_olia.c`, `mptcp_balia.c`): the parameter
//! `linux` of either. It is what people measured.
//!
//! Windows are whole segments. OLIA adds to a counter with each acknowledgement, in 1024ths of a segment and rounded down, and moves the
//! window by a segment at 1023 or -1023; what the counter has beyond is lost. So small windows grow more slowly than by its formula, and
//! delayed acknowledgements halve the growth. BALIA grows by a segment for each `ai` segments acknowledged, rounded down, and takes alpha
//! rounded down for its decrease: below 2 a path loses half, and from 2 on three quarters; one segment is left at the least.

use super::collected::{favour, measured};
use super::linux::Segments;
use super::{AckSample, Adjust, Cause, Congestion, Controller, Path, Window};
use crate::registry::{Builtin, Fairness, Info, Parameter, Unit};

/// Whether a controller is the paper's or the module's.
pub(super) const LINUX: Parameter = Parameter::new(
    "linux",
    Unit::Whole,
    0.0,
    (0.0, 1.0),
    "1: as in the out-of-tree module for Linux, in whole segments; 0: as in the paper",
);

/// `linux-olia`: `olia` with `linux = 1`.
pub(crate) static OLIA: Builtin<dyn Controller> = Builtin {
    info: Info::new("linux-olia", "OLIA as in the out-of-tree module for Linux, in whole segments")
        .label("Linux OLIA")
        .source("out-of-tree Linux: mptcp_olia.c")
        .fairness(Fairness::Connection)
        .validated("the same trace as `olia` with linux = 1; hand-computed examples")
        .variant_of("olia"),
    make: |setup, _| Box::new(Olia::new(Window::new(setup))),
};

/// `linux-balia`: `balia` with `linux = 1`.
pub(crate) static BALIA: Builtin<dyn Controller> = Builtin {
    info: Info::new("linux-balia", "BALIA as in the out-of-tree module for Linux, in whole segments")
        .label("Linux BALIA")
        .source("out-of-tree Linux: mptcp_balia.c")
        .fairness(Fairness::Connection)
        .validated("the same trace as `balia` with linux = 1; hand-computed examples")
        .variant_of("balia"),
    make: |setup, _| Box::new(Balia::new(Window::new(setup))),
};

/// Of OLIA's fixed point.
const SCALE: f64 = 1024.0;

/// A window in whole segments.
fn segments(p: &Path, mss: f64) -> f64 {
    (p.cwnd / mss).round()
}

/// `olia` with `linux = 1`.
#[derive(Clone, Debug)]
pub(super) struct Olia {
    segments: Segments,
    /// 1024ths of a segment (`mptcp_snd_cwnd_cnt`).
    counter: f64,
}

impl Olia {
    pub fn new(window: Window) -> Self {
        Self { segments: Segments::new(window), counter: 0.0 }
    }
}

/// What an acknowledgement adds to the counter of subflow `me`.
fn olia_gain(paths: &[Path], me: usize, mss: f64) -> f64 {
    let r = &paths[me];
    let own = segments(r, mss);
    let term = |p: &Path| (segments(p, mss) * SCALE * r.srtt.0 as f64 / p.srtt.0 as f64).floor();
    let rate = 1.0 + measured(paths).map(term).sum::<f64>();
    let rate = rate * rate;
    let (sign, over) = favour(paths, r);
    let scaled = own * SCALE;
    (SCALE * (sign * rate + over * scaled * scaled) / (over * own * rate)).floor()
}

impl Controller for Olia {
    fn window(&self) -> &Window {
        &self.segments.window
    }

    fn adjust(&mut self, adjust: Adjust) {
        self.segments.adjust(adjust);
    }

    fn on_ack(&mut self, ack: &AckSample, paths: &[Path], me: usize) {
        let acked = self.segments.acked(ack);
        if !ack.cwnd_limited {
            return;
        }
        if self.segments.window.in_slow_start() {
            self.segments.slow_start(acked);
            return;
        }
        let r = &paths[me];
        let measured = r.established && r.srtt.0 > 0;
        self.counter += if measured { olia_gain(paths, me, self.segments.window.mss) } else { 0.0 };
        if self.counter.abs() >= SCALE - 1.0 {
            let cwnd = self.segments.cwnd();
            self.segments.set(if self.counter > 0.0 { cwnd + 1 } else { (cwnd - 1).max(1) });
            self.counter = 0.0;
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion, _paths: &[Path], _me: usize) {
        self.counter = 0.0;
        self.segments.reduce(congestion, self.segments.cwnd() / 2);
    }
}

/// `balia` with `linux = 1`.
#[derive(Clone, Debug)]
pub(super) struct Balia(Segments);

impl Balia {
    pub fn new(window: Window) -> Self {
        Self(Segments::new(window))
    }
}

/// Segments to be acknowledged for one more, and what a loss takes, of subflow `me`.
fn balia_steps(paths: &[Path], me: usize, mss: f64) -> (u64, u64) {
    let own = segments(&paths[me], mss);
    let rate = |p: &Path| segments(p, mss) / p.srtt.0 as f64;
    let (largest, sum) = measured(paths).map(rate).fold((0.0, 0.0), |(m, s): (f64, f64), x| (m.max(x), s + x));
    if paths[me].srtt.0 == 0 || !paths[me].established {
        return (own as u64, own as u64 / 2);
    }
    let x = rate(&paths[me]);
    let every = (sum * sum * 10.0 * own / ((x + largest) * (4.0 * x + largest))).floor();
    let part = (largest / x).floor().min(1.5);
    (every as u64, ((own / 2.0).floor() * part).floor() as u64)
}

impl Controller for Balia {
    fn window(&self) -> &Window {
        &self.0.window
    }

    fn adjust(&mut self, adjust: Adjust) {
        self.0.adjust(adjust);
    }

    fn on_ack(&mut self, ack: &AckSample, paths: &[Path], me: usize) {
        let acked = self.0.left_for_avoidance(ack);
        if acked > 0 {
            let (every, _) = balia_steps(paths, me, self.0.window.mss);
            self.0.avoid(every, acked);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion, paths: &[Path], me: usize) {
        let (_, less) = balia_steps(paths, me, self.0.window.mss);
        let cwnd = self.0.cwnd();
        let left = cwnd.saturating_sub(less).max(1);
        // Of one segment the threshold is one, too.
        self.0.reduce(congestion, left);
        if !congestion.nested && !congestion.repeated {
            self.0.window.ssthresh = left as f64 * self.0.window.mss;
            if congestion.cause != Cause::Timeout {
                self.0.window.cwnd = self.0.window.ssthresh;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::worked::{MSS, after_loss, changes, close, first_of, rows};
    use super::*;
    use crate::registry::Choice;

    /// The two cases of `olia`: windows of 20 and 10 segments, 40 and 100 ms. (1 + 20480 + 4096)^2 = 604 028 929 and (1 + 51200 + 10240)^2 =
    /// 3 774 996 481: 35.56 and 2.84 1024ths, rounded down. If the second path is the better one: 9 and 54.
    #[test]
    fn olia_counts_in_1024ths() {
        let mut paths = rows(&[(20.0, 40), (10.0, 100)]);
        (paths[0].acked_since_loss, paths[1].acked_since_loss) = ([300_000, 0], [1_200_000, 0]);
        assert_eq!([0, 1].map(|i| olia_gain(&paths, i, MSS)), [35.0, 2.0]);
        paths[1].acked_since_loss = [4_000_000, 0];
        assert_eq!([0, 1].map(|i| olia_gain(&paths, i, MSS)), [9.0, 54.0]);
    }

    /// Ten segments, no other path: 1024 * 10240^2 / (10 * 10241^2) = 102.38 with each acknowledgement, rounded down. The eleventh makes 1122,
    /// which is a segment more; what is beyond 1023 is lost, so that it takes eleven again.
    #[test]
    fn olia_grows_by_a_segment_at_1023() {
        assert_eq!(changes("olia linux=1", &[(10.0, 50)], 22), [(11, 11.0), (22, 12.0)]);
    }

    /// 28.8 and 66.67 segments for one more, rounded down; a loss leaves 10 of 20, and of 10, with alpha = 5, 3. With alpha = 1.5 half is left,
    /// where the formula leaves a quarter.
    #[test]
    fn balia_takes_alpha_rounded_down() {
        let paths = rows(&[(20.0, 40), (10.0, 100)]);
        assert_eq!([0, 1].map(|i| balia_steps(&paths, i, MSS)), [(28, 10), (66, 7)]);
        assert_eq!(after_loss("balia linux=1", &[(10.0, 100), (20.0, 40)]), 3.0);
        assert_eq!(after_loss("balia linux=1", &[(20.0, 50), (30.0, 50)]), 10.0);
        close(after_loss("balia", &[(20.0, 50), (30.0, 50)]), 5.0);
        // Of two segments one is left, and the threshold is one, too (`mptcp_balia_recalc_ssthresh`).
        assert_eq!(after_loss("balia linux=1", &[(2.0, 100), (20.0, 50)]), 1.0);
    }

    /// 28 segments acknowledged for one more (28.8, rounded down), as long as the other path stands still.
    #[test]
    fn balia_grows_by_a_segment_for_whole_segments() {
        assert_eq!(changes("balia linux=1", &[(20.0, 40), (10.0, 100)], 56), [(28, 21.0), (56, 22.0)]);
    }

    /// `tcp_cwnd_restart` is the same for every controller: 41 segments, idle for two timeouts, are halved once.
    #[test]
    fn an_idle_window_is_halved_as_with_any_controller_of_linux() {
        for name in ["uncoupled linux=1", "cubic linux=1", "olia linux=1", "balia linux=1"] {
            let (mut c, _) = first_of(name, &[(41.0, 50)]);
            c.adjust(Adjust::Idle { timeouts: 2.0 });
            assert_eq!((c.window().cwnd, c.window().ssthresh), (20.0 * MSS, 30.0 * MSS), "{name}");
        }
    }

    /// The conformance suite runs the defaults of the registry; here with `linux = 1`.
    #[test]
    fn windows_stay_in_their_bounds_and_copies_are_values() {
        for name in ["olia", "balia"] {
            let choice: Choice<dyn Controller> = name.parse().unwrap();
            crate::testing::controller(&choice.with("linux", 1.0).unwrap());
        }
    }
}
