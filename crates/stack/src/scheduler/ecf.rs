//! `ecf`: earliest completion first. While the fastest subflow is full, a slow one is used only if what is left to send would take longer on
//! the fast one alone, with waiting for it, than a round trip of the slow one.
//!
//! ```text
//! n = 1 + k / cwnd_f      k: what the connection has not sent yet
//! delta = max(deviation of RTT_f, of RTT_s)
//! if n RTT_f < (1 + waiting beta) (RTT_s + delta):
//!     wait, and waiting = 1, if k / cwnd_s RTT_s >= 2 RTT_f + delta; else the slow one
//! else: waiting = 0; the slow one
//! ```
//!
//! `waiting` makes it stay with its decision (hysteresis). With `linux`, that of the out-of-tree kernel (`mptcp_ecf.c`), `k` is at least a
//! window in either condition, so that one further round of the fast subflow is always assumed. That matters for the end of a transfer: by the paper's rule the last
//! segment goes to the slow subflow, since it is but a small part of a round trip there.

use super::{Assignment, Decision, Offer, Scheduler};
use crate::registry::{Builtin, Info, Need, Parameter, Unit};

const BETA: Parameter = Parameter::new(
    "beta",
    Unit::Number,
    0.25,
    (0.0, 10.0),
    "hysteresis: how much longer it waits once it has begun to wait",
);

/// `linux-ecf`: `ecf` with `linux = 1`.
pub(crate) static LINUX: Builtin<dyn Scheduler> = Builtin {
    info: Info::new("linux-ecf", "ECF as in the out-of-tree kernel: assumes one further round of the fast subflow")
        .label("Linux ECF")
        .source("out-of-tree Linux: mptcp_ecf.c")
        .validated("the same trace as `ecf` with linux = 1; hand-computed examples")
        .needs(&[Need::Backlog])
        .parameters(const { &[BETA] })
        .variant_of("ecf"),
    make: |_, values| Box::new(Ecf { beta: values.get("beta"), linux: true, waiting: false }),
};

pub(crate) static BUILTIN: Builtin<dyn Scheduler> = Builtin {
    info:
        Info::new("ecf", "waits for the fast subflow if this delivers the remaining data earlier")
            .label("ECF")
            .source("Lim et al., CoNEXT 2017; linux: mptcp_ecf.c")
            .validated("hand-computed examples of the paper's rule and of the kernel's rule")
            .needs(&[Need::Backlog])
            .parameters(
                const {
                    &[
                        BETA,
                        Parameter::new("linux", Unit::Whole, 0.0, (0.0, 1.0), "1: the rule of the out-of-tree kernel"),
                    ]
                },
            ),
    make: |_, values| Box::new(Ecf { beta: values.get("beta"), linux: values.get("linux") == 1.0, waiting: false }),
};

#[derive(Debug)]
struct Ecf {
    beta: f64,
    linux: bool,
    waiting: bool,
}

impl Scheduler for Ecf {
    fn pick(&mut self, offer: &Offer<'_>) -> Decision {
        let Some(slow) = offer.open() else { return Decision::Wait(None) };
        let Some(fast) = offer.fastest_at_work().filter(|&f| f != slow && offer.awaits(f)) else {
            return Decision::Send(slow);
        };
        let (f, s) = (&offer.paths[fast], &offer.paths[slow]);
        let k = |cwnd: f64| if self.linux { (offer.unsent as f64).max(cwnd) } else { offer.unsent as f64 };
        let (rtt_f, rtt_s) = (f.srtt.as_secs_f64(), s.srtt.as_secs_f64());
        let delta = f.rttvar.max(s.rttvar).as_secs_f64();
        let hysteresis = if self.waiting { 1.0 + self.beta } else { 1.0 };
        if (1.0 + k(f.cwnd) / f.cwnd) * rtt_f >= hysteresis * (rtt_s + delta) {
            self.waiting = false;
        } else if k(s.cwnd) / s.cwnd * rtt_s >= 2.0 * rtt_f + delta {
            self.waiting = true;
            return Decision::Wait(None);
        }
        Decision::Send(slow)
    }

    fn on_sent(&mut self, _assignment: &Assignment) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::Path;
    use crate::time::{Duration, Instant};

    /// What it decides and whether it waits then: 40 and 200 ms, windows of 20 and 10 segments, a deviation of 10 ms, `k` segments left.
    fn decide(k: u64, waiting: bool, linux: bool) -> (Decision, bool) {
        let (srtt, rttvar) = (Duration::from_millis(40), Duration::from_millis(10));
        let base = Path { established: true, mss: 1000, rttvar, ..Path::default() };
        let fast = Path { cwnd: 20_000.0, in_flight: 20_000, srtt, ..base };
        let slow = Path { can_send: true, cwnd: 10_000.0, srtt: Duration::from_millis(200), ..base };
        let mut ecf = Ecf { beta: 0.25, linux, waiting };
        (ecf.pick(&Offer::new(Instant(1), &[fast, slow], 1000 * k)), ecf.waiting)
    }

    #[test]
    fn it_waits_if_the_fast_subflow_completes_earlier() {
        assert_eq!(decide(10, false, false), (Decision::Wait(None), true));
        assert_eq!(decide(100, false, false), (Decision::Send(1), false));
        for k in [90, 110] {
            assert_eq!(decide(k, false, false), (Decision::Send(1), false), "{k}");
            assert_eq!(decide(k, true, false), (Decision::Wait(None), true), "{k}: stays with its decision");
        }
    }

    /// One segment: a fifth of a round trip of the slow subflow is no reason to wait, by the paper. The kernel counts a window.
    #[test]
    fn the_kernel_assumes_a_further_round() {
        assert_eq!(decide(1, false, false), (Decision::Send(1), false));
        assert_eq!(decide(1, true, false), (Decision::Send(1), true), "what it waits for stays");
        assert_eq!(decide(1, false, true), (Decision::Wait(None), true));
    }
}
