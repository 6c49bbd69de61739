//! `after-sttf`: shortest transfer time first, after Hurtig and others. Each segment goes to the subflow where it would be delivered first,
//! counting how the window there will grow while what waits before it leaves:
//!
//! ```text
//! need = segments unsent there + 1, free = window - in flight
//! need <= free: srtt / 2
//! else: as long as need - free > 0, one round: the window doubles below ssthresh, then grows by one, and leaves; (rounds + 1/2) srtt
//! ```
//!
//! Where the round-trip times differ by less than `alpha` of the least, the lowest one with room takes the segment. Of equals the subflow with the
//! least queued takes it, then the first. After an acknowledgement or a loss what waits is assigned anew in thought; what differs by more than a
//! segment is moved (rescheduling). The authors' kernel takes the latest round-trip sample; here it is the smoothed one.

use super::{Assignment, Decision, Offer, Path, Reach, Scheduler};
use crate::registry::{Builtin, Info, Need, Parameter, Unit};
use crate::time::Instant;

pub(crate) static BUILTIN: Builtin<dyn Scheduler> = Builtin {
    info: Info::new(
        "after-sttf",
        "the subflow with the earliest delivery, including the growth of its window; sends ahead of the window",
    )
    .source("after Hurtig et al., IEEE/ACM Transactions on Networking 27(1), 2019; the authors' kernel")
    .validated("hand-computed examples")
    .needs(&[Need::Backlog])
    .parameters(
        const {
            &[Parameter::new(
                "alpha",
                Unit::Share,
                0.1,
                (0.0, 1.0),
                "round-trip times that differ by less than this share of the lowest one count as equal",
            )]
        },
    )
    .label("STTF"),
    make: |_, values| Box::new(Sttf { alpha: values.get("alpha"), ..Sttf::default() }),
};

#[derive(Debug, Default)]
struct Sttf {
    alpha: f64,
    /// Something has changed since what waits was looked at.
    changed: bool,
    /// Buffer: segments that wait on each subflow, if they were assigned anew.
    anew: Vec<u64>,
    /// Buffer: how these leave.
    leaving: Vec<Leaving>,
}

/// How the window of a subflow grows while what waits there leaves.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    cwnd: f64,
    ssthresh: f64,
    /// Segments that still wait; below zero, those for which the window has room.
    left: f64,
    rounds: f64,
}

impl Leaving {
    fn new(p: &Path) -> Self {
        let mss = f64::from(p.mss);
        let cwnd = (p.cwnd / mss).floor().max(1.0);
        let free = (cwnd - p.in_flight as f64 / mss).floor().max(0.0);
        Self { cwnd, ssthresh: p.ssthresh / mss, left: -free, rounds: 0.0 }
    }

    /// After as many rounds as `segments` more need.
    fn after(mut self, segments: f64) -> Self {
        self.left += segments;
        while self.left > 0.0 {
            self.cwnd = if 2.0 * self.cwnd <= self.ssthresh {
                2.0 * self.cwnd
            } else if self.cwnd < self.ssthresh {
                self.ssthresh
            } else {
                self.cwnd + 1.0
            };
            self.left -= self.cwnd;
            self.rounds += 1.0;
        }
        self
    }

    /// When its last segment is delivered, in seconds from now.
    fn time(&self, p: &Path) -> f64 {
        (self.rounds + 0.5) * p.srtt.as_secs_f64()
    }
}

/// When the segment behind `queued` segments is delivered, in seconds from now.
fn transfer_time(p: &Path, queued: u64) -> f64 {
    Leaving::new(p).after(queued as f64 + 1.0).time(p)
}

fn waiting(p: &Path) -> u64 {
    p.queued.div_ceil(u64::from(p.mss.max(1)))
}

impl Sttf {
    /// The round-trip times of the subflows that can send count as equal.
    fn are_alike(&self, offer: &Offer<'_>) -> bool {
        let srtts = offer.paths.iter().filter(|p| p.can_send).map(|p| p.srtt.as_secs_f64());
        let (least, most) = srtts.fold((f64::INFINITY, 0.0), |(a, b): (f64, f64), s| (a.min(s), b.max(s)));
        most - least < self.alpha * least
    }

    /// Assigns what waits anew, in thought, and moves what differs.
    fn reschedule(&mut self, offer: &Offer<'_>) -> Option<Decision> {
        if !std::mem::take(&mut self.changed) || self.are_alike(offer) {
            return None;
        }
        self.anew.clear();
        self.anew.resize(offer.paths.len(), 0);
        let usable = || offer.paths.iter().enumerate().filter(|(_, p)| p.can_send);
        self.leaving.clear();
        self.leaving.extend(offer.paths.iter().map(Leaving::new));
        let mut rest = usable().map(|(_, p)| waiting(p)).sum::<u64>();
        while rest > 0 {
            let mut best: Option<(usize, f64)> = None;
            let mut tie = false;
            for (i, p) in usable() {
                let time = self.leaving[i].after(1.0).time(p);
                tie |= best.is_some_and(|(_, least)| time == least);
                if best.is_none_or(|(b, least)| (time, self.anew[i]) < (least, self.anew[b])) {
                    tie &= best.is_some_and(|(_, least)| time == least);
                    best = Some((i, time));
                }
            }
            let on = best?.0;
            let next = self.leaving[on].after(1.0);
            // All that leave in the same round are delivered at the same time: without an equal one they go there together.
            let count = if tie { 1 } else { (1 + (-next.left) as u64).min(rest) };
            self.leaving[on] = next.after((count - 1) as f64);
            self.anew[on] += count;
            rest -= count;
        }
        let surplus = |i: usize, p: &Path| waiting(p) as i64 - self.anew[i] as i64;
        let (from, most) = usable().map(|(i, p)| (i, surplus(i, p))).max_by_key(|s| s.1)?;
        let (to, least) = usable().map(|(i, p)| (i, surplus(i, p))).min_by_key(|s| s.1)?;
        let segments = most.min(-least);
        // With three there may be more to move.
        self.changed = segments > 1;
        (segments > 1).then(|| {
            let octets = segments as u64 * u64::from(offer.paths[from].mss);
            Decision::Move { from, to, octets }
        })
    }
}

impl Scheduler for Sttf {
    fn reach(&self) -> Reach {
        Reach::Windows
    }

    fn pick(&mut self, offer: &Offer<'_>) -> Decision {
        if let Some(decision) = self.reschedule(offer) {
            return decision;
        }
        if self.are_alike(offer) {
            // Without room one segment waits, for a tail probe to take.
            let open = |i: usize| offer.paths[i].has_room();
            let on = (0..offer.paths.len()).filter(|&i| offer.paths[i].can_send);
            let on = on.min_by_key(|&i| (!open(i), offer.paths[i].srtt));
            let on = on.filter(|&i| open(i) || offer.paths[i].backlog() == 0.0);
            return on.map_or(Decision::Wait(None), |on| offer.queue(on));
        }
        let on = offer.cheapest(|p| transfer_time(p, waiting(p)));
        on.map_or(Decision::Wait(None), |on| offer.queue(on))
    }

    fn resends(&self) -> bool {
        true
    }

    fn pick_again(&mut self, offer: &Offer<'_>) -> Decision {
        self.reschedule(offer).unwrap_or(Decision::Wait(None))
    }

    fn on_sent(&mut self, _assignment: &Assignment) {}

    fn on_acked(&mut self, _now: Instant, _subflow: usize, _octets: u64) {
        self.changed = true;
    }

    fn on_lost(&mut self, _now: Instant, _subflow: usize, _octets: u64) {
        self.changed = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Duration;

    fn path(ms: u64, in_flight: u64, ssthresh: f64) -> Path {
        let (mss, srtt) = (1000, Duration::from_millis(ms));
        Path {
            established: true,
            takes_data: true,
            can_send: true,
            mss,
            cwnd: 10_000.0,
            ssthresh,
            in_flight,
            srtt,
            ..Path::default()
        }
    }

    /// 40 ms, a full window of ten.
    #[test]
    fn the_window_grows_while_what_waits_leaves() {
        let slow_start = path(40, 10_000, f64::INFINITY);
        let ms = |p: &Path, need: u64| (1000.0 * transfer_time(p, need - 1)).round();
        assert_eq!([11, 25].map(|need| ms(&slow_start, need)), [60.0, 100.0]);
        assert_eq!(ms(&path(40, 10_000, 5000.0), 25), 140.0, "11, 12 and 13 in congestion avoidance");
        assert_eq!(ms(&path(40, 0, 5000.0), 10), 20.0, "what fits now");
        assert_eq!(ms(&path(40, 10_000, 15_000.0), 16), 100.0, "15 at the threshold, then 16");
    }

    /// Twenty segments queue on the fast path before the slow one, idle with 200 ms, gets one.
    #[test]
    fn twenty_wait_before_the_slow_path_is_used() {
        let mut paths = [path(40, 10_000, f64::INFINITY), path(200, 0, f64::INFINITY)];
        let mut taken = 0;
        while let Decision::Queue { on: 0, octets } = Sttf::default().pick(&Offer::new(Instant(1), &paths, 100_000)) {
            paths[0].queued += octets;
            taken += 1;
        }
        assert_eq!(taken, 20);
    }

    /// The fast path's window falls to two segments: of twenty that wait there most go to the slow one.
    #[test]
    fn what_waits_is_moved_when_the_window_falls() {
        let mut paths = [path(40, 2000, 2000.0), path(200, 0, f64::INFINITY)];
        (paths[0].cwnd, paths[0].queued) = (2000.0, 20_000);
        let mut sttf = Sttf { changed: true, ..Sttf::default() };
        // 3 after one round at 60 ms, 4 more after two at 100 ms as the slow one's ten: of equals the one with the least.
        let decision = sttf.pick_again(&Offer::new(Instant(1), &paths, 0));
        let Decision::Move { from: 0, to: 1, octets } = decision else { panic!("{decision:?}") };
        assert!((10_000..=14_000).contains(&octets), "{octets}");
        sttf.changed = false;
        assert_eq!(sttf.pick_again(&Offer::new(Instant(1), &paths, 0)), Decision::Wait(None));
    }

    /// What is assigned anew together is what one segment after the other would be, where each goes to the earliest.
    #[test]
    fn a_round_at_once_is_its_segments_one_by_one() {
        for (other, cwnd, ssthresh, queued) in
            [(200, 2000.0, 2000.0, 20_000), (120, 10_000.0, 13_500.0, 400_000), (40, 4000.0, 5000.0, 90_000)]
        {
            let mut paths = [path(40, 2000, ssthresh), path(other, 5000, f64::INFINITY), path(300, 0, 1000.0)];
            (paths[0].cwnd, paths[0].queued) = (cwnd, queued);
            let mut sttf = Sttf { changed: true, ..Sttf::default() };
            sttf.pick_again(&Offer::new(Instant(1), &paths, 0));
            let mut each = [0; 3];
            for _ in 0..queued / 1000 {
                let time = |i: usize| transfer_time(&paths[i], each[i]);
                let on = (0..3).min_by(|&a, &b| (time(a), each[a]).partial_cmp(&(time(b), each[b])).unwrap()).unwrap();
                each[on] += 1;
            }
            assert_eq!(sttf.anew, each);
        }
    }

    /// The same with two slow paths that are equal: of thirteen segments the first one gets seven.
    #[test]
    fn the_first_of_equal_paths_is_the_best() {
        let mut paths = [path(40, 2000, 2000.0), path(200, 0, f64::INFINITY), path(200, 0, f64::INFINITY)];
        (paths[0].cwnd, paths[0].queued) = (2000.0, 20_000);
        let mut sttf = Sttf { changed: true, ..Sttf::default() };
        sttf.pick_again(&Offer::new(Instant(1), &paths, 0));
        assert_eq!((sttf.anew.iter().sum::<u64>(), sttf.anew[1] - sttf.anew[2]), (20, 1), "{:?}", sttf.anew);
    }

    /// They are moved one path after the other: what the second is to have, too, without another acknowledgement or loss.
    #[test]
    fn what_differs_is_moved_to_one_path_after_the_other() {
        let mut paths = [path(40, 2000, 2000.0), path(200, 0, f64::INFINITY), path(200, 0, f64::INFINITY)];
        (paths[0].cwnd, paths[0].queued) = (2000.0, 20_000);
        let mut sttf = Sttf { changed: true, ..Sttf::default() };
        let mut moved = [0; 3];
        while let Decision::Move { from: 0, to, octets } = sttf.pick_again(&Offer::new(Instant(1), &paths, 0)) {
            moved[to] += octets;
            paths[0].queued -= octets;
            paths[to].queued += octets;
        }
        assert_eq!(moved, [0, 7000, 6000]);
        assert_eq!(paths.map(|p| p.queued / 1000).as_slice(), sttf.anew);
    }

    #[test]
    fn alike_paths_are_used_by_the_lowest_round_trip_time_with_room() {
        let mut paths = [path(42, 10_000, 5000.0), path(41, 10_000, 5000.0), path(43, 0, 5000.0)];
        let mut sttf = Sttf { alpha: 0.1, ..Sttf::default() };
        assert_eq!(sttf.pick(&Offer::new(Instant(1), &paths, 9000)), Decision::Queue { on: 2, octets: 1000 });
        // Without room one segment waits.
        assert_eq!(sttf.pick(&Offer::new(Instant(1), &paths[..2], 9000)), Decision::Queue { on: 1, octets: 1000 });
        paths[1].queued = 1000;
        assert_eq!(sttf.pick(&Offer::new(Instant(1), &paths[..2], 9000)), Decision::Wait(None));
    }
}
