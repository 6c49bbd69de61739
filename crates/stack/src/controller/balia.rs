//! `balia`: the Balanced Linked Adaptation. Its increase and decrease stand between those of LIA, which takes more than its share from
//! TCPs, and OLIA, which answers slowly to changes; existence, uniqueness and stability of its equilibrium are proved.
//!
//! With x = w / rtt, X the sum over the subflows, and alpha_r = max(x_p) / x_r, the window of subflow r grows per segment acknowledged by
//!
//! ```text
//! x_r / (rtt_r X^2) * (1 + alpha_r) / 2 * (4 + alpha_r) / 5
//! ```
//!
//! and a loss takes (w_r / 2) * min(alpha_r, 3/2) from it: half on the fastest path, three quarters on slow ones. Here the increase is
//! counted as a share of NewReno's, `w_r` times the above, which on one path is exactly one.
//!
//! The four goals: throughput as on the best path, no harm, a balance of congestion better than LIA's, and steadiness. The paper gives no
//! floor for the window after a loss; here it is RFC 5681's, two segments.

use super::counter::Counter;
use super::linux_linked;
use super::{AckSample, Adjust, Congestion, Controller, Path, Window};
use crate::registry::{Builtin, Fairness, Info};

pub(crate) static BUILTIN: Builtin<dyn Controller> = Builtin {
    info: Info::new(
        "balia",
        "linked increase and decrease, by the ratio of the fastest path's rate to each path's rate",
    )
    .source("Peng et al., IEEE/ACM ToN 24(1), 2016; draft-walid-mptcp-congestion-control-04")
    .fairness(Fairness::Connection)
    .validated("hand-computed examples; on one path the same trace as `uncoupled`; scenario C of the OLIA paper")
    .parameters(const { &[linux_linked::LINUX] })
    .label("BALIA"),
    make: |setup, values| {
        if values.get("linux") > 0.0 {
            return Box::new(linux_linked::Balia::new(Window::new(setup)));
        }
        Box::new(Balia { window: Window::new(setup), counter: Counter::default() })
    },
};

#[derive(Clone, Debug)]
struct Balia {
    window: Window,
    counter: Counter,
}

/// alpha of subflow `me`, and its part of the total rate. (1, 1) before it has a round-trip time.
fn rates(paths: &[Path], me: usize) -> (f64, f64) {
    let rate = |p: &Path| if p.established && p.srtt.0 > 0 { p.cwnd / p.srtt.0 as f64 } else { 0.0 };
    let own = rate(&paths[me]);
    if own == 0.0 {
        return (1.0, 1.0);
    }
    let (largest, sum) = paths.iter().map(rate).fold((0.0, 0.0), |(m, s): (f64, f64), x| (m.max(x), s + x));
    (largest / own, own / sum)
}

/// The increase of subflow `me` as a share of NewReno's.
fn share(paths: &[Path], me: usize) -> f64 {
    let (alpha, part) = rates(paths, me);
    part * part * ((1.0 + alpha) / 2.0) * ((4.0 + alpha) / 5.0)
}

impl Controller for Balia {
    fn window(&self) -> &Window {
        &self.window
    }

    fn adjust(&mut self, adjust: Adjust) {
        self.window.adjust(adjust);
    }

    fn on_ack(&mut self, ack: &AckSample, paths: &[Path], me: usize) {
        if !self.window.grow_in_slow_start(ack) {
            self.counter.count(&mut self.window, ack.growth as f64 * share(paths, me));
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion, paths: &[Path], me: usize) {
        self.counter.reset();
        let (alpha, _) = rates(paths, me);
        let left = 1.0 - alpha.min(1.5) / 2.0;
        self.window.cut(congestion, congestion.flight_size as f64 * left, 2.0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::worked::{after_loss, close, rows};
    use super::*;

    /// Increase per acknowledged segment of subflow `me`, and its window after a loss, in segments.
    #[track_caller]
    fn check(paths: &[(f64, u64)], me: usize, increase: f64, left: f64) {
        close(share(&rows(paths), me) / paths[me].0, increase);
        let mut paths = paths.to_vec();
        paths.swap(0, me);
        close(after_loss("balia", &paths), left);
    }

    /// x = 500 and 100 segments a second: alpha = 1 and 5. 500 / (0.04 * 600^2) = 1 / 28.8; 100 / (0.1 * 600^2) * 3 * 1.8 = 0.015.
    #[test]
    fn unlike_paths() {
        let paths = [(20.0, 40), (10.0, 100)];
        check(&paths, 0, 1.0 / 28.8, 10.0);
        check(&paths, 1, 0.015, 2.5);
    }

    /// alpha = 1 and 1.5, with equal round-trip times.
    #[test]
    fn the_decrease_is_three_quarters_at_most() {
        let paths = [(30.0, 50), (20.0, 50)];
        check(&paths, 0, 0.012, 15.0);
        check(&paths, 1, 0.011, 5.0);
        // alpha = 15 takes no more: x = 3 and 0.2 segments a millisecond.
        check(&[(30.0, 10), (20.0, 100)], 1, 0.2 / 3.2 * 0.2 / 3.2 * 8.0 * 3.8 / 20.0, 5.0);
    }

    /// Two equal paths: a quarter of NewReno's increase on each, so each window is half of a TCP's.
    #[test]
    fn two_equal_paths_take_a_quarter_each() {
        check(&[(10.0, 50), (10.0, 50)], 0, 0.025, 5.0);
    }

    /// Exactly one, for any numbers: no rounding makes it differ from NewReno.
    #[test]
    fn one_path_is_a_tcp() {
        for path in [(20.0, 40), (7.3, 33), (1.0, 1), (123.456, 777)] {
            assert_eq!(share(&rows(&[path]), 0), 1.0);
        }
    }
}
