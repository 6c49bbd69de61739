//! `energy-linked`: linked increases that spare costly paths. Inspired by the energy-aware controller of Le et al., whose formula it does
//! not claim: the increase of RFC 6356 on each path is multiplied by (least cost / its cost)^k, with the cost of an octet that the
//! scenario gives the path (energy, money).
//!
//! ```text
//! d_r = min((c_min / c_r)^k * alpha / w_total, 1 / w_r)
//! ```
//!
//! At equal costs it is `coupled`, bit for bit. Windows go as the weight over the loss rate, so that doubling a path's cost halves its window
//! against the others' where losses are alike. It never grows faster than `coupled`, so it does no more harm; what it leaves on a costly path
//! the cheap ones take up as their shares of w_total rise. Throughput is given up for cost where a costly path is the only good one.

use super::coupled::alpha;
use super::{AckSample, Adjust, Congestion, Controller, Path, Window};
use crate::registry::{Builtin, Fairness, Info, Parameter, Unit};

const K: Parameter =
    Parameter::new("k", Unit::Whole, 1.0, (0.0, 8.0), "exponent of the cost; with 0 it is the same as `coupled`");

pub(crate) static BUILTIN: Builtin<dyn Controller> = Builtin {
    info: Info::new("energy-linked", "linked increases, each weighted by the lowest cost of all paths divided by the path's own cost")
        .label("Energy-linked")
        .source("RFC 6356 with weights; inspired by Le et al., IEEE Communications Letters 16(2), 2012, whose formula it is not")
        .fairness(Fairness::Connection)
        .validated("at equal costs the same trace as `coupled`; a path's share falls with its cost; no harm")
        .parameters(const { &[K] }),
    make: |setup, values| Box::new(EnergyLinked { window: Window::new(setup), k: values.get("k") as u32 }),
};

#[derive(Clone, Debug)]
struct EnergyLinked {
    window: Window,
    k: u32,
}

impl EnergyLinked {
    /// The weight of subflow `me`: 1 on the cheapest path.
    fn weight(&self, paths: &[Path], me: usize) -> f64 {
        let costs = paths.iter().filter(|p| p.established).map(|p| p.policy.cost);
        let own = paths[me].policy.cost;
        let ratio = costs.fold(own, f64::min) / own;
        (0..self.k).fold(1.0, |weight, _| weight * ratio)
    }
}

impl Controller for EnergyLinked {
    fn window(&self) -> &Window {
        &self.window
    }

    fn adjust(&mut self, adjust: Adjust) {
        self.window.adjust(adjust);
    }

    fn on_ack(&mut self, ack: &AckSample, paths: &[Path], me: usize) {
        if self.window.grow_in_slow_start(ack) {
            return;
        }
        let weight = self.weight(paths, me);
        let w = &mut self.window;
        let (alpha, total) = alpha(paths).unwrap_or((1.0, w.cwnd));
        let gain = ack.growth as f64 * w.mss;
        w.cwnd += (weight * (alpha * gain / total)).min(gain / w.cwnd);
    }

    fn on_congestion(&mut self, congestion: &Congestion, _paths: &[Path], _me: usize) {
        self.window.halve(congestion);
    }
}

#[cfg(test)]
mod tests {
    use super::super::worked::{MSS, after_loss, close, first_of, gain, rows};
    use super::*;

    /// The gain of the first of two paths of 10 segments and 50 ms whose costs these are, in segments.
    fn weighted(name: &str, costs: [f64; 2]) -> f64 {
        let (mut c, mut paths) = first_of(name, &[(10.0, 50), (10.0, 50)]);
        for (path, cost) in paths.iter_mut().zip(costs) {
            path.policy.cost = cost;
        }
        c.on_ack(&AckSample { growth: 1000, cwnd_limited: true, ..AckSample::default() }, &paths, 0);
        c.window().cwnd / MSS - 10.0
    }

    /// Two equal paths: alpha = 1/2, alpha / 20 = 1/40 for each segment acknowledged. At twice the cost half of it, with k = 2 a quarter.
    #[test]
    fn the_increase_falls_with_the_cost() {
        close(weighted("energy-linked", [1.0, 1.0]), 1.0 / 40.0);
        close(weighted("energy-linked", [2.0, 1.0]), 1.0 / 80.0);
        close(weighted("energy-linked k=2", [2.0, 1.0]), 1.0 / 160.0);
        close(weighted("energy-linked", [1.0, 2.0]), 1.0 / 40.0);
    }

    /// The same numbers, not nearly the same: costs that are equal, or of no account.
    #[test]
    fn equal_costs_are_coupled_bit_for_bit() {
        for paths in [[(10.0, 10), (60.0, 200)], [(7.3, 33), (20.0, 50)]] {
            assert_eq!(gain("energy-linked", &paths, 2), gain("coupled", &paths, 2));
            assert_eq!(after_loss("energy-linked", &paths), after_loss("coupled", &paths));
        }
        assert_eq!(weighted("energy-linked", [3.0, 3.0]), weighted("energy-linked", [1.0, 1.0]));
        assert_eq!(weighted("energy-linked k=0", [3.0, 1.0]), weighted("energy-linked", [1.0, 1.0]));
    }

    /// A path that is not established sets no price.
    #[test]
    fn only_established_paths_are_compared() {
        let (c, mut paths) = (
            EnergyLinked { window: *first_of("coupled", &[(10.0, 50)]).0.window(), k: 1 },
            rows(&[(10.0, 50), (5.0, 50)]),
        );
        (paths[0].policy.cost, paths[1].policy.cost) = (4.0, 1.0);
        assert_eq!(c.weight(&paths, 0), 0.25);
        paths[1].established = false;
        assert_eq!(c.weight(&paths, 0), 1.0);
    }
}
