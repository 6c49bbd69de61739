//! `rtt-compensator`: min(alpha/W, 1/w) per ACK; the papers' "Coupled".
//!
//! Equations (5) and (6) of the AINA paper. This is RFC 6356 counted per ACK in segments, where [`super::coupled`] counts
//! acknowledged octets. With one ACK per segment both grow alike. With delayed acknowledgements (one ACK for two segments) this
//! one grows half as fast. Everything else (slow start, halving) is the same.
//!
//! The four goals are met as by `coupled`: it improves throughput, does no harm (the cap 1/w is a TCP's increase), balances
//! congestion in part, and does not flap.

use super::coupled::alpha;
use super::{AckSample, Adjust, Congestion, Controller, Path, Window};
use crate::registry::{Builtin, Fairness, Info};

pub(crate) static BUILTIN: Builtin<dyn Controller> = Builtin {
    info: Info::new("rtt-compensator", "increase min(alpha/W, 1/w) per ACK, decrease by half: the papers' Coupled")
        .label("RTT Compensator")
        .source("Alheid et al. 2014 (AINA), equations (5) and (6)")
        .fairness(Fairness::Connection)
        .validated(
            "hand-computed examples; equals `coupled` if each segment is acknowledged; throughput, no harm, balance",
        ),
    make: |setup, _| Box::new(RttCompensator { window: Window::new(setup) }),
};

#[derive(Clone, Debug)]
struct RttCompensator {
    window: Window,
}

impl Controller for RttCompensator {
    fn window(&self) -> &Window {
        &self.window
    }

    fn adjust(&mut self, adjust: Adjust) {
        self.window.adjust(adjust);
    }

    fn on_ack(&mut self, ack: &AckSample, paths: &[Path], _me: usize) {
        if !self.window.grow_in_slow_start(ack) {
            let w = &mut self.window;
            let (alpha, total) = alpha(paths).unwrap_or((1.0, w.cwnd));
            let segment = w.mss * w.mss;
            w.cwnd += (alpha * segment / total).min(segment / w.cwnd);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion, _paths: &[Path], _me: usize) {
        self.window.halve(congestion);
    }
}
