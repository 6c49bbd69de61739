//! `dctcp`: Data Center TCP. Switches mark packets as soon as a short queue stands; the receiver echoes each mark exactly, and the sender
//! reduces its window by how many of its octets were marked, not by half for a single mark. Queues stay at the marking threshold.
//!
//! Once a window of data, alpha becomes (1 - g) alpha + g M, with M the part of the octets acknowledged in it that was marked. The first mark
//! of a window makes cwnd (1 - alpha / 2) of it. A loss halves the window, and everything else is NewReno (RFC 8257 3.3, 3.4). alpha is
//! 1 at first, so that the first mark halves the window as in RFC 3168.
//!
//! It needs ECN, with queues that mark at a threshold (`ecn_threshold`) and a receiver that echoes exactly (RFC 8257 3.2), which an endpoint
//! with this controller is. Beside TCPs that are not marked it starves or starves them, as the threshold has it: for networks of its own only
//! (RFC 8257 6). Each subflow is by itself.

use super::counter::Counter;
use super::{AckSample, Adjust, Cause, Congestion, Controller, Path, Window};
use crate::registry::{Builtin, Fairness, Info, Need, Parameter, Unit};
use crate::seq::Seq;

const G: Parameter = Parameter::new(
    "g",
    Unit::Share,
    0.0625,
    (0.0001, 1.0),
    "weight of the last window in the estimated share of marked octets",
);

pub(crate) static BUILTIN: Builtin<dyn Controller> = Builtin {
    info: Info::new(
        "dctcp",
        "reduces the window in proportion to the octets marked by ECN, on each subflow separately",
    )
    .label("DCTCP")
    .source("RFC 8257")
    .needs(&[Need::Ecn, Need::ExactEcho])
    .fairness(Fairness::Subflow)
    .validated("hand-computed examples; scripted receiver; queue length as in the paper's analysis; two flows get equal shares")
    .parameters(const { &[G] }),
    make: |setup, values| {
        let (window, g) = (Window::new(setup), values.get("g"));
        Box::new(Dctcp { window, counter: Counter::default(), g, alpha: 1.0, acked: 0, marked: 0, window_end: None })
    },
};

#[derive(Clone, Debug)]
struct Dctcp {
    window: Window,
    counter: Counter,
    g: f64,
    /// DCTCP.Alpha.
    alpha: f64,
    /// DCTCP.BytesAcked and DCTCP.BytesMarked.
    acked: u64,
    marked: u64,
    /// DCTCP.WindowEnd.
    window_end: Option<Seq>,
}

impl Dctcp {
    /// RFC 8257 3.3, steps 1 to 9: the sums of this window of data, and the estimate at its end.
    fn observe(&mut self, ack: &AckSample) {
        self.acked += ack.acked;
        self.marked += if ack.ece { ack.acked } else { 0 };
        let end = *self.window_end.get_or_insert(ack.una_before);
        if ack.snd_una > end && self.acked > 0 {
            let part = self.marked as f64 / self.acked as f64;
            self.alpha = self.alpha * (1.0 - self.g) + self.g * part;
            (self.acked, self.marked) = (0, 0);
            self.window_end = Some(ack.snd_nxt);
        }
    }
}

impl Controller for Dctcp {
    fn window(&self) -> &Window {
        &self.window
    }

    fn adjust(&mut self, adjust: Adjust) {
        self.window.adjust(adjust);
    }

    fn on_ack(&mut self, ack: &AckSample, _paths: &[Path], _me: usize) {
        self.observe(ack);
        match () {
            () if !ack.cwnd_limited => {}
            () if self.window.in_slow_start() => self.window.slow_start(ack),
            () => self.counter.count(&mut self.window, ack.growth as f64),
        }
    }

    fn on_other_ack(&mut self, ack: &AckSample, _paths: &[Path], _me: usize) {
        self.observe(ack);
    }

    fn on_congestion(&mut self, congestion: &Congestion, _paths: &[Path], _me: usize) {
        self.counter.reset();
        if congestion.cause == Cause::Ecn {
            let target = self.window.cwnd * (1.0 - self.alpha / 2.0);
            self.window.cut(congestion, target, 2.0);
        } else {
            // RFC 8257 3.4.
            self.window.halve(congestion);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::worked::{MSS, after_loss, close};
    use super::*;
    use crate::registry::Setup;
    use crate::time::Instant;

    fn dctcp(segments: f64) -> Dctcp {
        let mut window = Window::new(&Setup::new(MSS as u32, 10));
        (window.cwnd, window.ssthresh) = (segments * MSS, MSS);
        Dctcp { window, counter: Counter::default(), g: 1.0 / 16.0, alpha: 1.0, acked: 0, marked: 0, window_end: None }
    }

    /// Ten segments in flight: acknowledges them one by one, the first `marked` with ECE, from sequence number `from` on.
    fn window(c: &mut Dctcp, from: u64, marked: u64) {
        for n in 0..10 {
            let (before, una) = (Seq(from + n * 1000), Seq(from + (n + 1) * 1000));
            let (snd_nxt, ece) = (una + 10_000, n < marked);
            let ack = AckSample { una_before: before, snd_una: una, snd_nxt, acked: 1000, ece, ..AckSample::default() };
            c.on_other_ack(&ack, &[], 0);
        }
    }

    /// RFC 8257 3.3: alpha = 1 at first. The first acknowledgement ends the window before; then ten segments a window: the estimate moves
    /// at the first one above the end, by what was marked among the ten before it and it.
    #[test]
    fn alpha_follows_the_part_that_is_marked() {
        let mut c = dctcp(10.0);
        window(&mut c, 0, 0);
        close(c.alpha, 15.0 / 16.0);
        assert_eq!(c.window_end, Some(Seq(11_000)));
        // The ninth segment of the first window to the first of the second: 10 acknowledged, of them the first marked; the end is 11 000, so
        // it is the second one that ends the window: 11 acknowledged, 1 + 1 marked.
        window(&mut c, 10_000, 4);
        close(c.alpha, 15.0 / 16.0 * 15.0 / 16.0 + 2.0 / 11.0 / 16.0);
    }

    /// RFC 8257 3.3: M is a part of what was acknowledged. An acknowledgement of a FIN alone, which is no data, has none to tell, and leaves
    /// alpha as it was.
    #[test]
    fn what_acknowledges_no_data_says_nothing_of_marks() {
        let mut c = dctcp(10.0);
        let fin = AckSample { una_before: Seq(1000), snd_una: Seq(1001), snd_nxt: Seq(1001), ..AckSample::default() };
        c.on_other_ack(&fin, &[], 0);
        assert_eq!(c.alpha, 1.0);
    }

    /// RFC 8257 3.3: cwnd (1 - alpha / 2). With alpha = 1 half, with 0.1 a twentieth.
    #[test]
    fn a_mark_takes_half_of_alpha() {
        for (alpha, left) in [(1.0, 10.0), (0.1, 19.0), (0.5, 15.0)] {
            let mut c = dctcp(20.0);
            c.alpha = alpha;
            let (now, cause) = (Instant::ZERO, Cause::Ecn);
            c.on_congestion(&Congestion { now, cause, flight_size: 5000, repeated: false, nested: false }, &[], 0);
            close(c.window.cwnd / MSS, left);
        }
    }

    #[test]
    fn a_loss_halves() {
        close(after_loss("dctcp", &[(20.0, 50)]), 10.0);
    }
}
