//! Which subflows OLIA favours at the cost of which others: the formulas that both of its forms share
//! ([`olia`](super::olia) has them in full).

use super::Path;

/// The established subflows with a round-trip time.
pub(super) fn measured(paths: &[Path]) -> impl Iterator<Item = &Path> {
    paths.iter().filter(|p| p.established && p.srtt.0 > 0)
}

/// l / rtt^2: the square of the rate that the path would give a TCP, but for a constant.
fn quality(p: &Path) -> f64 {
    let rtt = p.srtt.0 as f64;
    p.acked_since_loss[0].max(p.acked_since_loss[1]) as f64 / (rtt * rtt)
}

/// a_r of a subflow, as a fraction: -1, 0 or 1 over a number of paths.
pub(super) fn favour(paths: &[Path], r: &Path) -> (f64, f64) {
    let best = measured(paths).map(quality).fold(0.0, f64::max);
    let largest = measured(paths).map(|p| p.cwnd).fold(0.0, f64::max);
    let (is_best, is_largest) = (|p: &Path| quality(p) == best, |p: &Path| p.cwnd == largest);
    let n = measured(paths).count() as f64;
    let collected = measured(paths).filter(|p| is_best(p) && !is_largest(p)).count() as f64;
    match () {
        () if collected == 0.0 => (0.0, 1.0),
        () if is_largest(r) => (-1.0, n * measured(paths).filter(|p| is_largest(p)).count() as f64),
        () if is_best(r) => (1.0, n * collected),
        () => (0.0, 1.0),
    }
}
