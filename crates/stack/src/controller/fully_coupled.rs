//! `fully-coupled`: one window shared by all paths.
//!
//! Per ACK the window of the path grows by 1/W segments, W being the sum of all windows. On a loss it shrinks by W/2, not by w/2
//! (the papers' equations (3) and (4); Kelly and Voice 2005, Han et al. 2006). In equilibrium the whole connection behaves like
//! one TCP, and all of its traffic is on the path with the lowest loss rate.
//!
//! The four goals: throughput is improved only if some path is better than the rest (or loss rates are equal); no harm is done;
//! congestion is balanced perfectly, in theory. The fourth goal, not to oscillate, is missed: with equal loss rates any split is
//! an equilibrium, so chance moves the traffic from one path to the other for long times ("flappiness"; Raiciu, Wischik and
//! Handley 2009). A window smaller than W/2 is reduced to one segment by a loss, and its path then takes long to recover.
//!
//! Increases are per ACK, as in the papers, so with delayed acknowledgements windows grow half as fast.

use super::{AckSample, Adjust, Congestion, Controller, Path, Window, total_window};
use crate::registry::{Builtin, Fairness, Info};

pub(crate) static BUILTIN: Builtin<dyn Controller> = Builtin {
    info: Info::new("fully-coupled", "increase 1/W per ACK, decrease by W/2: one window W over all paths")
        .label("Fully Coupled")
        .source("Alheid et al. 2014 (AINA), equations (3) and (4)")
        .fairness(Fairness::Connection)
        .validated("hand-computed examples; leaves the more congested path; moves its traffic back and forth between equal paths"),
    make: |setup, _| Box::new(FullyCoupled { window: Window::new(setup) }),
};

#[derive(Clone, Debug)]
struct FullyCoupled {
    window: Window,
}

impl Controller for FullyCoupled {
    fn window(&self) -> &Window {
        &self.window
    }

    fn adjust(&mut self, adjust: Adjust) {
        self.window.adjust(adjust);
    }

    fn on_ack(&mut self, ack: &AckSample, paths: &[Path], _me: usize) {
        if !self.window.grow_in_slow_start(ack) {
            let w = &mut self.window;
            // (3), in octets: one segment squared over the octets of all windows.
            w.cwnd += w.mss * w.mss / total_window(paths, w.cwnd);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion, paths: &[Path], _me: usize) {
        let w = &mut self.window;
        // (4): the new window, and ssthresh with it, may fall to one segment.
        let target = w.cwnd - total_window(paths, w.cwnd) / 2.0;
        w.cut(congestion, target, 1.0);
    }
}
