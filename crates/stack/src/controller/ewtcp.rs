//! `ewtcp`: equally weighted TCP (Honda et al., PFLDNeT 2009): each of n subflows takes the n-th part of what a TCP takes.
//!
//! A TCP whose window grows by d segments per round trip and halves on loss with probability p has an average window of about
//! sqrt(2 d / p) segments. For the n-th part of a TCP's window, d = 1/n^2. n counts the established subflows.
//!
//! The four goals: it does no harm on a shared bottleneck if round-trip times are equal (n parts of one TCP). Throughput is not
//! improved as much as possible: on disjoint paths, each subflow gets only its n-th part against competing traffic. Congestion is
//! not balanced at all: every path is used alike. It does not flap, since subflows are independent.

use super::{AckSample, Adjust, Congestion, Controller, Path, Window};
use crate::registry::{Builtin, Fairness, Info};

pub(crate) static BUILTIN: Builtin<dyn Controller> = Builtin {
    info: Info::new(
        "ewtcp",
        "each of n subflows takes 1/n of one TCP's share: increase 1/n^2 per window, decrease by half",
    )
    .source("Honda et al., PFLDNeT 2009")
    .fairness(Fairness::Connection)
    .validated("hand-computed examples; two subflows take one TCP's share of a bottleneck")
    .label("EWTCP"),
    make: |setup, _| Box::new(Ewtcp { window: Window::new(setup) }),
};

#[derive(Clone, Debug)]
struct Ewtcp {
    window: Window,
}

impl Controller for Ewtcp {
    fn window(&self) -> &Window {
        &self.window
    }

    fn adjust(&mut self, adjust: Adjust) {
        self.window.adjust(adjust);
    }

    fn on_ack(&mut self, ack: &AckSample, paths: &[Path], _me: usize) {
        if !self.window.grow_in_slow_start(ack) {
            let w = &mut self.window;
            let n = paths.iter().filter(|v| v.established).count().max(1) as f64;
            w.cwnd += ack.growth as f64 * w.mss / (n * n * w.cwnd);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion, _paths: &[Path], _me: usize) {
        self.window.halve(congestion);
    }
}
