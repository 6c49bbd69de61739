//! `coupled`: the Linked Increases Algorithm of RFC 6356, formerly Linux's `lia`.
//!
//! The increase in congestion avoidance is coupled over the subflows; the decrease is that of RFC 5681. `alpha` is chosen so that
//! the whole connection gets what one TCP would get on its best path. The controller therefore improves throughput and does no
//! harm on a shared bottleneck. It balances congestion only partly, because every path keeps a window that grows with 1/w-like
//! steps; the same property prevents flapping between equal paths.
//!
//! `rtt_compensator` is the same algorithm counted per ACK in segments: the papers' "Coupled".
//!
//! Per octet acknowledged (RFC 6356 3): cwnd_i grows by min(alpha * acked * MSS / cwnd_total, acked * MSS / cwnd_i).

use super::{AckSample, Adjust, Congestion, Controller, Path, Window};
use crate::registry::{Builtin, Fairness, Info};

pub(crate) static BUILTIN: Builtin<dyn Controller> = Builtin {
    info: Info::new("coupled", "linked increases (LIA) per acknowledged octet; alpha is computed again on each ACK")
        .label("LIA")
        .source("RFC 6356")
        .fairness(Fairness::Connection)
        .validated("hand-computed values of alpha; the four goals: throughput, no harm, balance, steadiness"),
    make: |setup, _| Box::new(Coupled { window: Window::new(setup) }),
};

/// The window of one subflow under RFC 6356.
#[derive(Clone, Debug)]
pub struct Coupled {
    window: Window,
}

/// RFC 6356 3: alpha = cwnd_total * max(cwnd_i / rtt_i^2) / (sum cwnd_i / rtt_i)^2, over established subflows with a measured
/// round-trip time. Returns (alpha, cwnd_total), or `None` if nothing is measured yet; a subflow then behaves like a single TCP.
pub fn alpha(paths: &[Path]) -> Option<(f64, f64)> {
    let (mut total, mut best, mut sum) = (0.0, 0.0_f64, 0.0);
    for v in paths.iter().filter(|v| v.established && v.srtt.0 > 0) {
        let rate = v.cwnd / v.srtt.0 as f64;
        total += v.cwnd;
        best = best.max(rate / v.srtt.0 as f64);
        sum += rate;
    }
    (sum > 0.0).then(|| (total * best / (sum * sum), total))
}

impl Controller for Coupled {
    fn window(&self) -> &Window {
        &self.window
    }

    fn adjust(&mut self, adjust: Adjust) {
        self.window.adjust(adjust);
    }

    fn on_ack(&mut self, ack: &AckSample, paths: &[Path], me: usize) {
        // RFC 6356 2: slow start and the other phases are those of RFC 5681.
        if self.window.grow_in_slow_start(ack) {
            return;
        }
        let w = &mut self.window;
        debug_assert!(paths[me].established);
        let (alpha, total) = alpha(paths).unwrap_or((1.0, w.cwnd));
        let gain = ack.growth as f64 * w.mss;
        w.cwnd += (alpha * gain / total).min(gain / w.cwnd);
    }

    fn on_congestion(&mut self, congestion: &Congestion, _paths: &[Path], _me: usize) {
        self.window.halve(congestion);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Duration;

    fn view(cwnd: f64, rtt_ms: u64) -> Path {
        Path { established: true, cwnd, srtt: Duration::from_millis(rtt_ms), ..Path::default() }
    }

    /// On one path alpha is 1: the connection is a plain TCP.
    #[test]
    fn alpha_on_one_path_is_one() {
        let (a, total) = alpha(&[view(28_000.0, 80)]).unwrap();
        assert!((a - 1.0).abs() < 1e-12 && total == 28_000.0);
    }

    /// Two equal paths: alpha = 2w * (w/r^2) / (2w/r)^2 = 1/2, so each grows by half of what 1/w_total gives.
    #[test]
    fn alpha_on_two_equal_paths_is_a_half() {
        let (a, _) = alpha(&[view(14_000.0, 50), view(14_000.0, 50)]).unwrap();
        assert!((a - 0.5).abs() < 1e-12);
    }

    /// A subflow that is not established does not count, however large its window or short its round-trip time; nor does one
    /// without a sample.
    #[test]
    fn alpha_counts_established_subflows_with_a_sample_only() {
        let (joining, unmeasured) = (Path { established: false, ..view(90_000.0, 1) }, view(90_000.0, 0));
        let of = |paths: &[Path]| alpha(paths).unwrap();
        assert_eq!(of(&[view(28_000.0, 80), joining, unmeasured]), of(&[view(28_000.0, 80)]));
        assert_eq!(alpha(&[joining, unmeasured]), None);
    }

    /// Windows 10 and 20 segments, round trips 10 ms and 100 ms, by hand: total 30, best 10/100 = 0.1 per ms^2,
    /// sum 1 + 0.2 = 1.2, alpha = 30 * 0.1 / 1.44 = 25/12.
    #[test]
    fn alpha_on_unlike_paths_by_hand() {
        let (a, _) = alpha(&[view(10.0, 10), view(20.0, 100)]).unwrap();
        // units cancel: segments instead of octets, ns instead of ms
        assert!((a - 25.0 / 12.0).abs() < 1e-12, "{a}");
    }
}
