//! `linked-increases`: alpha/W per ACK, without the cap of `rtt-compensator`.
//!
//! The increase is coupled by alpha (the papers' equation (6), the same as RFC 6356's); the decrease is that of RFC 5681. On a
//! path whose window is large because of a long round-trip time, the increase can exceed that of a TCP. Example: with windows of
//! 10 and 60 segments and round-trip times of 10 and 200 ms, alpha/W is 1/17, but a TCP's increase on the second path is 1/60.
//! That is why RFC 6356 and the papers' "Coupled" cap the increase at 1/w.
//!
//! The four goals: it improves throughput and shifts traffic towards the less congested path, but does harm on a path with a long
//! round-trip time. It does not flap, since the window of every path continues to grow.
//!
//! Another of the papers (Arabi et al. 2014) prints an alpha without the total window in front and with rtt^2 in both places.
//! That alpha is not dimensionless and does not reduce to one TCP on one path. It is not used here.

use super::coupled::alpha;
use super::{AckSample, Adjust, Congestion, Controller, Path, Window};
use crate::registry::{Builtin, Fairness, Info};

pub(crate) static BUILTIN: Builtin<dyn Controller> = Builtin {
    info: Info::new("linked-increases", "increase alpha/W per ACK, decrease by half")
        .label("Linked Increases")
        .source("Alheid et al. 2014 (AINA), equation (6); Raiciu et al. 2009")
        .fairness(Fairness::Connection)
        .validated(
            "hand-computed examples; leaves the more congested path; takes more of a long path than one TCP connection",
        ),
    make: |setup, _| Box::new(LinkedIncreases { window: Window::new(setup) }),
};

#[derive(Clone, Debug)]
struct LinkedIncreases {
    window: Window,
}

impl Controller for LinkedIncreases {
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
            w.cwnd += alpha * w.mss * w.mss / total;
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion, _paths: &[Path], _me: usize) {
        self.window.halve(congestion);
    }
}
