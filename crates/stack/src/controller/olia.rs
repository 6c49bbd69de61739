//! `olia`: the Opportunistic Linked Increases Algorithm. It moves traffic to the paths that lose least, as `fully-coupled` would, but
//! does not flap: a second term of the increase favours good paths whose windows are small, at the cost of the largest ones.
//!
//! Per segment acknowledged, the window of subflow r grows by
//!
//! ```text
//! (w_r / rtt_r^2) / (sum w_p / rtt_p)^2 + a_r / w_r
//! ```
//!
//! The quality of a path is l / rtt^2, where l is the larger of the octets acknowledged since the last loss and between the last two
//! losses. With C the best paths whose window is not the largest, and M the paths with the largest window: a_r is 1 / (n |C|) in C, and,
//! if C is not empty, -1 / (n |M|) in M; zero otherwise. A loss halves the window (RFC 5681).
//!
//! Here the increase is counted as a share of NewReno's, `w_r` times the above: (x_r / X)^2 + a_r with x = w / rtt. On one path that
//! is exactly one. A negative share, which only a path in M can have, lowers the window by whole segments, to one at the least.
//!
//! The four goals: throughput as on the best path, no harm, and balance of congestion as far as a window of at least one segment and its
//! probing traffic permit; against LIA it does not take from others what it cannot use itself. It answers more slowly to changes than
//! `balia`.

use super::collected::{favour, measured};
use super::counter::Counter;
use super::linux_linked;
use super::{AckSample, Adjust, Congestion, Controller, Path, Window};
use crate::registry::{Builtin, Fairness, Info};

pub(crate) static BUILTIN: Builtin<dyn Controller> = Builtin {
    info: Info::new("olia", "linked increases that favour good paths with small windows")
        .label("OLIA")
        .source("Khalili et al., CoNEXT 2012; draft-khalili-mptcp-congestion-control-05")
        .fairness(Fairness::Connection)
        .validated("hand-computed examples; on one path the same trace as `uncoupled`; scenario C of its paper")
        .parameters(const { &[linux_linked::LINUX] }),
    make: |setup, values| {
        if values.get("linux") > 0.0 {
            return Box::new(linux_linked::Olia::new(Window::new(setup)));
        }
        Box::new(Olia { window: Window::new(setup), counter: Counter::default() })
    },
};

#[derive(Clone, Debug)]
struct Olia {
    window: Window,
    counter: Counter,
}

/// The increase of subflow `me` as a share of NewReno's.
fn share(paths: &[Path], me: usize) -> f64 {
    let rate = |p: &Path| p.cwnd / p.srtt.0 as f64;
    let r = &paths[me];
    if !r.established || r.srtt.0 == 0 {
        return 1.0;
    }
    let part = rate(r) / measured(paths).map(rate).sum::<f64>();
    let (sign, over) = favour(paths, r);
    part * part + sign / over
}

impl Controller for Olia {
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

    fn on_congestion(&mut self, congestion: &Congestion, _paths: &[Path], _me: usize) {
        self.counter.reset();
        self.window.halve(congestion);
    }
}

#[cfg(test)]
mod tests {
    use super::super::worked::{MSS, after_loss, close};
    use super::*;
    use crate::time::Duration;

    /// Windows in segments, round-trip times in ms, l in kB.
    fn rows(paths: &[(f64, u64, u64)]) -> Vec<Path> {
        let row = |&(w, ms, l): &(f64, u64, u64)| Path {
            established: true,
            cwnd: w * MSS,
            srtt: Duration::from_millis(ms),
            acked_since_loss: [l * 1000, 0],
            ..Path::default()
        };
        paths.iter().map(row).collect()
    }

    /// Increases per acknowledged segment, in segments.
    fn increases(paths: &[(f64, u64, u64)]) -> Vec<f64> {
        let rows = rows(paths);
        (0..rows.len()).map(|i| share(&rows, i) / paths[i].0).collect()
    }

    #[track_caller]
    fn are(found: &[f64], wanted: &[f64]) {
        assert_eq!(found.len(), wanted.len());
        assert!(found.iter().zip(wanted).all(|(f, w)| (f - w).abs() < 1e-8), "{found:?}, not {wanted:?}");
    }

    /// x = 500 and 100 segments a second: 500^2 / 600^2 / 20 and 100^2 / 600^2 / 10. The best path has the largest window: nothing is
    /// moved.
    #[test]
    fn the_best_path_with_the_largest_window_is_not_favoured() {
        are(&increases(&[(20.0, 40, 300), (10.0, 100, 1200)]), &[0.034_722_22, 0.002_777_78]);
    }

    /// The second path is better (400 against 187.5), the first has the larger window: half a segment a window moves.
    #[test]
    fn a_better_path_with_a_smaller_window_is_favoured() {
        are(&increases(&[(20.0, 40, 300), (10.0, 100, 4000)]), &[0.034_722_22 - 0.025, 0.002_777_78 + 0.05]);
    }

    #[test]
    fn two_largest_windows_pay_for_one_good_path() {
        let paths = [(10.0, 50, 100), (10.0, 50, 100), (4.0, 50, 400)];
        are(&increases(&paths), &[0.000_694_44, 0.000_694_44, 0.090_277_78]);
        let rows = rows(&paths);
        close(rows.iter().map(|r| favour(&rows, r)).map(|(sign, over)| sign / over).sum(), 0.0);
    }

    /// l is the larger of both counts, whichever it is.
    #[test]
    fn the_longer_of_the_last_two_intervals_counts() {
        let mut paths = rows(&[(20.0, 40, 300), (10.0, 100, 4000)]);
        let before = share(&paths, 1);
        paths[1].acked_since_loss = [0, 4_000_000];
        assert_eq!(share(&paths, 1), before);
    }

    /// Exactly one, for any numbers: no rounding makes it differ from NewReno.
    #[test]
    fn one_path_is_a_tcp() {
        for (w, ms) in [(20.0, 40), (7.3, 33), (1.0, 1), (123.456, 777)] {
            assert_eq!(share(&rows(&[(w, ms, 300)]), 0), 1.0);
        }
        close(after_loss("olia", &[(20.0, 40)]), 10.0);
    }

    /// Two equal paths: a quarter of NewReno's increase on each, so each window is half of a TCP's.
    #[test]
    fn two_equal_paths_take_a_quarter_each() {
        are(&increases(&[(10.0, 50, 100), (10.0, 50, 100)]), &[0.025, 0.025]);
    }
}
