//! `after-stms`: slide together, after Shi and others. The head of the stream stays on the fastest path; a slower one takes data that is ahead
//! by a gap, so that both meet in order at the receiver.
//!
//! ```text
//! G = (owd_s - owd_f) rate_f        octets that the fast path delivers in the difference of the delays; owd = srtt / 2, rate = cwnd / srtt
//! ```
//!
//! The gap is what is assigned to the fastest path and waits there: before a slow path with room is given a segment, `G` octets wait on the fast
//! one. If there is no more data than that, the slow path gets none. The gap adapts: if a segment of a slow path is acknowledged before what
//! precedes it in the stream, it was too large and falls by `step` segments, else it grows by as many.

use std::collections::VecDeque;

use super::{Assignment, Decision, Offer, Path, Reach, Scheduler};
use crate::registry::{Builtin, Info, Need, Parameter, Unit};
use crate::time::Instant;

pub(crate) static BUILTIN: Builtin<dyn Scheduler> = Builtin {
    info: Info::new(
        "after-stms",
        "slow paths take data from further ahead in the stream, so that all arrive in order; sends ahead of the window",
    )
    .label("STMS")
    .source("after Shi et al., USENIX ATC 2018")
    .validated("a hand-computed example; less data wait at the receiver than with `min-rtt`")
    .needs(&[Need::Backlog])
    .parameters(
        const {
            &[Parameter::new(
                "step",
                Unit::Number,
                0.25,
                (0.0, 10.0),
                "segments by which the distance ahead in the stream adapts",
            )]
        },
    ),
    make: |_, values| Box::new(Stms { step: values.get("step"), ..Stms::default() }),
};

/// A subflow while it is not the fastest.
#[derive(Debug, Default)]
struct Slow {
    /// Octets added to the gap.
    adapted: f64,
    /// Length and end of each segment sent and not acknowledged.
    sent: VecDeque<(u64, u64)>,
    /// Ends of segments just acknowledged.
    arrived: Vec<u64>,
}

#[derive(Debug, Default)]
struct Stms {
    step: f64,
    slow: Vec<Slow>,
}

/// Octets that `fast` delivers while a segment on `slow` is longer under way.
fn gap(fast: &Path, slow: &Path) -> f64 {
    let (f, s) = (fast.srtt.as_secs_f64(), slow.srtt.as_secs_f64());
    if f > 0.0 { (s - f) / 2.0 * fast.cwnd / f } else { 0.0 }
}

impl Stms {
    fn adapt(&mut self, data_una: u64, paths: &[Path]) {
        for (slow, p) in self.slow.iter_mut().zip(paths) {
            for end in slow.arrived.drain(..) {
                let too_large = data_una < end;
                slow.adapted += self.step * f64::from(p.mss) * if too_large { -1.0 } else { 1.0 };
            }
        }
    }
}

impl Scheduler for Stms {
    fn reach(&self) -> Reach {
        Reach::Windows
    }

    fn pick(&mut self, offer: &Offer<'_>) -> Decision {
        self.slow.resize_with(self.slow.len().max(offer.paths.len()), Slow::default);
        self.adapt(offer.data_una, offer.paths);
        let Some(fast) = offer.open() else { return Decision::Wait(None) };
        let f = &offer.paths[fast];
        let slow =
            (0..offer.paths.len()).filter(|&i| i != fast && offer.paths[i].can_send && offer.paths[i].has_room());
        if let Some(slow) = slow.min_by_key(|&i| offer.paths[i].srtt) {
            let full = gap(f, &offer.paths[slow]);
            // It adapts from nothing to twice of what the delays say.
            let adapted = self.slow[slow].adapted.clamp(-full, full);
            self.slow[slow].adapted = adapted;
            return offer.queue(if f.backlog() < full + adapted { fast } else { slow });
        }
        // Without room one segment waits, for a tail probe to take.
        if f.has_room() || f.backlog() == 0.0 { offer.queue(fast) } else { Decision::Wait(None) }
    }

    fn on_sent(&mut self, assignment: &Assignment) {
        let len = u64::from(assignment.len);
        if let Some(slow) = self.slow.get_mut(assignment.subflow) {
            slow.sent.push_back((len, assignment.data + len));
        }
    }

    fn on_acked(&mut self, _now: Instant, subflow: usize, mut octets: u64) {
        let Some(slow) = self.slow.get_mut(subflow) else { return };
        while let Some(first) = slow.sent.front_mut() {
            if first.0 > octets {
                first.0 -= octets;
                return;
            }
            octets -= first.0;
            slow.arrived.push(first.1);
            slow.sent.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Duration;

    /// 25 Mbit/s and one way 25 ms, full; and one way 65 ms, idle.
    fn two() -> [Path; 2] {
        let base = Path { established: true, takes_data: true, can_send: true, mss: 1400, ..Path::default() };
        let (cwnd, srtt) = (156_250.0, Duration::from_millis(50));
        let fast = Path { cwnd, in_flight: 156_250, srtt, ..base };
        [fast, Path { cwnd: 28_000.0, srtt: Duration::from_millis(130), ..base }]
    }

    /// The gap is 125,000 octets: 90 segments wait on the fast path before the slow one gets the next.
    #[test]
    fn the_slow_path_takes_what_is_a_gap_ahead() {
        let mut paths = two();
        assert_eq!(gap(&paths[0], &paths[1]).round(), 125_000.0);
        let mut stms = Stms::default();
        let mut ahead = 0;
        while let Decision::Queue { on: 0, octets } = stms.pick(&Offer::new(Instant(1), &paths, 1_000_000)) {
            paths[0].queued += octets;
            ahead += 1;
        }
        assert_eq!(ahead, 90);
        // No slow path with room, and none on the fast one: it waits.
        paths[1].in_flight = 28_000;
        assert_eq!(stms.pick(&Offer::new(Instant(1), &paths, 1_000_000)), Decision::Wait(None));
    }

    /// A segment of the slow path, acknowledged before or after what precedes it.
    #[test]
    fn the_gap_goes_by_what_arrived_first() {
        let paths = two();
        let adapted = |data_una: u64| {
            let mut stms = Stms { step: 1.0, ..Stms::default() };
            stms.pick(&Offer::new(Instant(1), &paths, 9000));
            stms.on_sent(&Assignment::new(1, 50_000, 1400));
            stms.on_acked(Instant(2), 1, 1400);
            let offer = Offer { data_una, data_nxt: 90_000, edge: 99_000, ..Offer::new(Instant(3), &paths, 9000) };
            stms.pick(&offer);
            stms.slow[1].adapted
        };
        assert_eq!([adapted(49_000), adapted(51_400)], [-1400.0, 1400.0]);
    }
}
