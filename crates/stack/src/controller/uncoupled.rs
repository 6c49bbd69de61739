//! `uncoupled`: NewReno's window on each subflow independently.
//!
//! Additive increase of one segment per window and multiplicative decrease by half (RFC 5681), counted in acknowledged octets
//! (RFC 3465). On independent subflows it improves throughput, but does harm where subflows share a bottleneck: n subflows take n
//! shares. It is the baseline for the coupled controllers.

use super::counter::Counter;
use super::linux;
use super::{AckSample, Adjust, Congestion, Controller, Path, Window};
use crate::registry::{Builtin, Fairness, Info, Setup};

pub(crate) static BUILTIN: Builtin<dyn Controller> = Builtin {
    info: Info::new("uncoupled", "NewReno on each subflow separately")
        .label("Uncoupled")
        .source("RFC 5681, RFC 3465")
        .fairness(Fairness::Subflow)
        .validated(
            "Padhye model; hand-computed examples of RFC 3465; two subflows take two shares of a shared bottleneck",
        )
        .parameters(const { &[linux::LINUX] }),
    make: |setup, values| {
        if values.get("linux") > 0.0 {
            return Box::new(linux::Reno::new(Window::new(setup)));
        }
        Box::new(Uncoupled::new(setup))
    },
};

/// NewReno's window.
#[derive(Clone, Debug)]
pub struct Uncoupled {
    window: Window,
    /// RFC 3465 2.1 `bytes_acked`.
    counter: Counter,
}

impl Uncoupled {
    /// The initial window.
    pub fn new(setup: &Setup) -> Self {
        Self { window: Window::new(setup), counter: Counter::default() }
    }
}

impl Controller for Uncoupled {
    fn window(&self) -> &Window {
        &self.window
    }

    fn adjust(&mut self, adjust: Adjust) {
        self.window.adjust(adjust);
    }

    fn on_ack(&mut self, ack: &AckSample, _paths: &[Path], _me: usize) {
        if !self.window.grow_in_slow_start(ack) {
            // RFC 3465 2.1: one SMSS for each full window acknowledged. RFC 5681 3.1: at most a segment a window.
            self.counter.count(&mut self.window, ack.growth as f64);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion, _paths: &[Path], _me: usize) {
        self.counter.reset();
        self.window.halve(congestion);
    }
}
