//! `otias`: out-of-order transmission for in-order arrival. Each segment goes to the subflow where it would arrive first, counted in round
//! trips of what waits there already, and waits there if the window is full.
//!
//! ```text
//! must_wait = queued - (cwnd - in flight)
//! T = srtt (rounds + 1/2)       rounds: must_wait / cwnd, none if must_wait is negative
//! ```
//!
//! By default `rounds` are whole, rounded down, as in the implementation in MP-DCCP: behind a full window with nothing queued a segment costs
//! nothing more. With `real` they are not rounded. Of equals the subflow with the least queued takes the segment, then the first.

use super::{Assignment, Decision, Offer, Path, Reach, Scheduler};
use crate::registry::{Builtin, Info, Need, Parameter, Unit};

pub(crate) static BUILTIN: Builtin<dyn Scheduler> = Builtin {
    info: Info::new(
        "otias",
        "the subflow on which the segment arrives first, by the queued data and its round-trip time; sends ahead of the window",
    )
    .label("OTIAS")
    .source("Yang, Wang, Amer, AINA workshops 2014; MP-DCCP's OTIAS module")
    .validated("hand-computed examples")
    .needs(&[Need::Backlog])
    .parameters(const { &[Parameter::new("real", Unit::Whole, 0.0, (0.0, 1.0), "1: the number of rounds is not rounded down")] }),
    make: |_, values| Box::new(Otias { real: values.get("real") == 1.0 }),
};

#[derive(Debug)]
struct Otias {
    real: bool,
}

impl Otias {
    /// When a segment assigned now would arrive, in seconds from now.
    fn arrival(&self, p: &Path) -> f64 {
        let must_wait = p.queued as f64 - (p.cwnd - p.in_flight as f64);
        let rounds = (must_wait / p.cwnd).max(0.0);
        p.srtt.as_secs_f64() * (0.5 + if self.real { rounds } else { rounds.floor() })
    }
}

impl Scheduler for Otias {
    fn reach(&self) -> Reach {
        Reach::Windows
    }

    fn pick(&mut self, offer: &Offer<'_>) -> Decision {
        offer.cheapest(|p| self.arrival(p)).map_or(Decision::Wait(None), |on| offer.queue(on))
    }

    fn on_sent(&mut self, _assignment: &Assignment) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{Duration, Instant};

    fn path(ms: u64, in_flight: u64) -> Path {
        let (mss, srtt) = (1000, Duration::from_millis(ms));
        Path { established: true, can_send: true, mss, cwnd: 10_000.0, in_flight, srtt, ..Path::default() }
    }

    /// 40 ms with a full window of ten: 20, 60, 100, 140 ms with 0, 10, 20, 30 segments queued. 200 ms and idle: 100 ms.
    #[test]
    fn a_segment_arrives_after_the_rounds_of_what_waits() {
        let fast = path(40, 10_000);
        let t = |real: bool, queued: u64| (1000.0 * Otias { real }.arrival(&Path { queued, ..fast })).round();
        assert_eq!([0, 10_000, 20_000, 30_000].map(|q| t(false, q)), [20.0, 60.0, 100.0, 140.0]);
        assert_eq!([5000, 9999].map(|q| t(false, q)), [20.0, 20.0]);
        assert_eq!([0, 5000, 10_000].map(|q| t(true, q)), [20.0, 40.0, 60.0]);
    }

    /// The fast one takes segments until twenty are queued: then both are equal, and the slow one gets one.
    #[test]
    fn the_slow_subflow_gets_a_segment_when_the_queue_is_as_long() {
        let mut paths = [path(40, 10_000), path(200, 0)];
        let mut taken = [0, 0];
        while taken[1] == 0 {
            let decision = Otias { real: false }.pick(&Offer::new(Instant(1), &paths, 100_000));
            let Decision::Queue { on, octets: 1000 } = decision else { panic!("{decision:?}") };
            paths[on].queued += 1000;
            taken[on] += 1;
        }
        assert_eq!(taken, [20, 1]);
    }
}
