//! `aimd`: additive increase, multiplicative decrease, with parameters: the window grows by `a` segments a round trip, and a loss leaves
//! the part `b` of it. Each subflow is by itself.
//!
//! With losses at even distances, at a rate p, the window is sqrt((a / 2) (1 + b) / ((1 - b) p)) segments on average, in NewReno
//! sqrt(3 / (2 p)). The two are equal if a = 3 (1 - b) / (1 + b) (Floyd, Handley and Padhye 2000; RFC 9438 4.3 uses the same). That is what `a`
//! is by default: the controller then takes a TCP's share for any `b`, and a `b` nearer to one makes it steadier and slower. b = 0.5 is
//! NewReno. Where losses fall by chance the window rests at sqrt(a / ((1 - b) p)), and with that a it is sqrt(3 / (2 (1 + b))) of a TCP's.
//!
//! The four goals are those of `uncoupled`: subflows that share a bottleneck take a share each.

use super::counter::Counter;
use super::{AckSample, Adjust, Congestion, Controller, Path, Window};
use crate::registry::{Builtin, Fairness, Info, Parameter, Unit};

const A: Parameter = Parameter::new(
    "a",
    Unit::Number,
    0.0,
    (0.0, 10.0),
    "segments by which the window grows per round trip; 0: 3 (1 - b) / (1 + b), which gives one TCP's share",
);
const B: Parameter =
    Parameter::new("b", Unit::Share, 0.5, (0.1, 0.99), "share of the window that remains after a loss");

pub(crate) static BUILTIN: Builtin<dyn Controller> = Builtin {
    info: Info::new("aimd", "increase by a segments per round trip, decrease to b times the window, on each subflow separately")
        .label("AIMD")
        .source("RFC 5681 with parameters; a from b: Floyd, Handley and Padhye 2000, RFC 9438 4.3")
        .fairness(Fairness::Subflow)
        .validated("hand-computed examples; with b = 0.5 the same trace as `uncoupled`; windows under random loss for several parameters")
        .parameters(const { &[A, B] }),
    make: |setup, values| {
        let b = values.get("b");
        let a = if values.get("a") > 0.0 { values.get("a") } else { friendly(b) };
        Box::new(Aimd { window: Window::new(setup), counter: Counter::default(), a, b })
    },
};

/// The increase with which a decrease to `b` takes a TCP's share.
fn friendly(b: f64) -> f64 {
    3.0 * (1.0 - b) / (1.0 + b)
}

#[derive(Clone, Debug)]
struct Aimd {
    window: Window,
    counter: Counter,
    a: f64,
    b: f64,
}

impl Controller for Aimd {
    fn window(&self) -> &Window {
        &self.window
    }

    fn adjust(&mut self, adjust: Adjust) {
        self.window.adjust(adjust);
    }

    fn on_ack(&mut self, ack: &AckSample, _paths: &[Path], _me: usize) {
        if !self.window.grow_in_slow_start(ack) {
            self.counter.count(&mut self.window, ack.growth as f64 * self.a);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion, _paths: &[Path], _me: usize) {
        self.counter.reset();
        self.window.cut(congestion, congestion.flight_size as f64 * self.b, 2.0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::worked::{after_loss, changes, close};
    use super::friendly;

    /// b = 0.5: 1 segment; 0.7: 0.529; 0.875: 0.2.
    #[test]
    fn the_increase_of_a_tcp_friendly_decrease() {
        assert_eq!(friendly(0.5), 1.0);
        close(friendly(0.7), 0.9 / 1.7);
        close(friendly(0.875), 0.2);
    }

    /// A window of 20 segments. a = 2: one segment for each 10 acknowledged, then another for 10.5.
    #[test]
    fn the_window_grows_by_a_segments_a_round_trip() {
        let path = [(20.0, 50)];
        assert_eq!(changes("aimd a=2", &path, 21), [(10, 21.0), (21, 22.0)]);
        assert_eq!(changes("aimd", &path, 41), [(20, 21.0), (41, 22.0)]);
        // a = 0.2: 100 acknowledgements for a segment.
        assert_eq!(changes("aimd b=0.875", &path, 101)[0].1, 21.0);
        close(after_loss("aimd", &path), 10.0);
        close(after_loss("aimd b=0.875", &path), 17.5);
    }
}
