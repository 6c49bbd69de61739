//! `daps`: delay-aware packet scheduling. For one period it is fixed which subflow takes the next segments, in data order, so that they
//! arrive in order if the delays hold.
//!
//! ```text
//! plan: D_i = srtt_i / 2 in milliseconds, rounded to multiples of `round_delay`, at least one; W_i the smoothed window; E = lcm(D_1 .. D_n)
//! run:  for t = 1 .. E, for each subflow in the order of srtt: if D_i divides t, it takes the next W_i segments
//! ```
//!
//! `t` orders the assignment and does not pass with the clock; whoever's turn it is takes the segments whether its window is open or not.
//! When the connection's window is full, the oldest segment is repeated on the fastest other subflow with room.
//!
//! The plan stands for a whole period however the paths change meanwhile, and what waits on a subflow already is not counted: what it was given
//! too much in one period it still has in the next. That is the known fault of the scheme.

use super::{Assignment, Decision, Offer, Reach, Scheduler};
use crate::registry::{Builtin, Info, Need, Parameter, Unit};

pub(crate) static BUILTIN: Builtin<dyn Scheduler> = Builtin {
    info: Info::new(
        "daps",
        "a fixed sequence of subflows for a period, so that segments arrive in order; sends ahead of the window",
    )
    .source("Kuhn et al., ICC 2014; the implementation in out-of-tree Linux")
    .validated("hand-computed sequences")
    .needs(&[Need::Backlog])
    .parameters(
        const {
            &[Parameter::new(
                "round_delay",
                Unit::Time,
                0.004,
                (0.001, 0.1),
                "one-way delays are rounded (half up) to multiples of this, in whole milliseconds",
            )]
        },
    )
    .label("DAPS"),
    make: |_, values| {
        Box::new(Daps { grain: (1000.0 * values.get("round_delay")).round().max(1.0) as u64, ..Daps::default() })
    },
};

/// A subflow in the plan.
#[derive(Clone, Copy, Debug)]
struct Turn {
    subflow: usize,
    /// D: its turn comes at every multiple.
    every: u64,
    /// W: the segments of a turn.
    segments: u64,
}

#[derive(Debug, Default)]
struct Daps {
    /// Delays are multiples of so many milliseconds.
    grain: u64,
    /// Smoothed windows in octets, by subflow; zero before the first plan.
    windows: Vec<f64>,
    /// In the order of round-trip times.
    plan: Vec<Turn>,
    period: u64,
    t: u64,
    /// Whose turn it is at `t`, and the segments it still takes.
    at: usize,
    left: u64,
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl Daps {
    fn plan(&mut self, offer: &Offer<'_>) {
        self.windows.resize(offer.paths.len(), 0.0);
        self.plan.clear();
        for (subflow, p) in offer.paths.iter().enumerate().filter(|(_, p)| p.can_send && p.srtt.0 > 0) {
            let window = &mut self.windows[subflow];
            *window = if *window == 0.0 { p.cwnd } else { 0.875 * *window + 0.125 * p.cwnd };
            let ms = p.srtt.0 / 2_000_000;
            let every = ((ms + self.grain / 2) / self.grain * self.grain).max(1);
            let segments = (*window / f64::from(p.mss)) as u64;
            self.plan.push(Turn { subflow, every, segments: segments.max(1) });
        }
        self.plan.sort_by_key(|turn| offer.paths[turn.subflow].srtt);
        self.period = self.plan.iter().fold(1, |lcm: u64, turn| lcm.saturating_mul(turn.every / gcd(lcm, turn.every)));
        // The first turn is the first after time zero.
        (self.t, self.at, self.left) = (0, self.plan.len(), 0);
    }

    /// Goes on to the next turn of the plan; false at its end.
    fn advance(&mut self) -> bool {
        let next = (self.at + 1..self.plan.len()).find(|&i| self.t % self.plan[i].every == 0);
        if let Some(i) = next {
            self.at = i;
        } else {
            let after = |turn: &Turn| (self.t / turn.every + 1) * turn.every;
            let Some(t) = self.plan.iter().map(after).min().filter(|&t| t <= self.period) else { return false };
            self.t = t;
            self.at = self.plan.iter().position(|turn| t % turn.every == 0).unwrap_or(0);
        }
        self.left = self.plan[self.at].segments;
        true
    }

    /// The subflow that takes the next segment.
    fn next(&mut self, offer: &Offer<'_>) -> Option<usize> {
        let mut planned = false;
        let can_send = |turn: &Turn| offer.paths.get(turn.subflow).is_some_and(|p| p.can_send);
        // Every subflow of a plan has its turn before the period ends, so that one that can send is found. If none can, the period ends: its
        // length is a common multiple, which may be billions of turns.
        loop {
            if !self.plan.iter().any(can_send) || (self.left == 0 && !self.advance()) {
                if planned {
                    return None;
                }
                self.plan(offer);
                planned = true;
                continue;
            }
            if can_send(&self.plan[self.at]) {
                self.left -= 1;
                return Some(self.plan[self.at].subflow);
            }
            self.left = 0;
        }
    }
}

impl Scheduler for Daps {
    fn reach(&self) -> Reach {
        Reach::Windows
    }

    fn pick(&mut self, offer: &Offer<'_>) -> Decision {
        // Without a round-trip sample there is nothing to plan.
        let on = self.next(offer).or_else(|| offer.open());
        on.map_or(Decision::Wait(None), |on| offer.queue(on))
    }

    fn resends(&self) -> bool {
        true
    }

    fn pick_again(&mut self, offer: &Offer<'_>) -> Decision {
        if offer.unsent == 0 || offer.room() > 0 { Decision::Wait(None) } else { offer.repeat_head() }
    }

    fn on_sent(&mut self, _assignment: &Assignment) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::Path;
    use crate::time::{Duration, Instant};

    /// Which of the first `n` segments go to the slow subflow, counted from one: 20 and 100 ms, windows of 10 and 4 segments.
    fn on_slow(grain: u64, n: u64) -> Vec<u64> {
        let path = |ms: u64, cwnd: f64| {
            let srtt = Duration::from_millis(ms);
            Path { established: true, can_send: true, mss: 1000, cwnd, srtt, ..Path::default() }
        };
        let paths = [path(20, 10_000.0), path(100, 4000.0)];
        let mut daps = Daps { grain, ..Daps::default() };
        let offer = Offer::new(Instant(1), &paths, 1_000_000);
        (1..=n).filter(|_| matches!(daps.pick(&offer), Decision::Queue { on: 1, octets: 1000 })).collect()
    }

    #[test]
    fn the_sequence_is_that_of_the_delays() {
        // D is 10 and 50, E 50: five windows of the fast one, then one of the slow one, and so on.
        assert_eq!(on_slow(1, 108), [51, 52, 53, 54, 105, 106, 107, 108]);
        // D is 12 and 52, E 156.
        assert_eq!(on_slow(4, 142), [41, 42, 43, 44, 85, 86, 87, 88, 139, 140, 141, 142]);
    }

    /// Delays of 99,991 and 100,003 ms have a period of 10^10 turns. It ends when neither path can send.
    #[test]
    fn a_period_ends_when_nobody_in_it_can_send() {
        let path = |ms: u64, can_send: bool| {
            let srtt = Duration::from_millis(2 * ms);
            Path { established: true, can_send, mss: 1000, cwnd: 1000.0, srtt, ..Path::default() }
        };
        let mut daps = Daps { grain: 1, ..Daps::default() };
        let mut pick = |open: [bool; 3]| {
            let paths = [path(99_991, open[0]), path(100_003, open[1]), path(7, open[2])];
            daps.pick(&Offer::new(Instant(1), &paths, 1_000_000))
        };
        let queue = |on| Decision::Queue { on, octets: 1000 };
        assert_eq!(pick([true, true, false]), queue(0));
        assert_eq!(pick([false, false, true]), queue(2));
    }

    /// Half of no round-trip time is no delay: it would be the shortest.
    #[test]
    fn a_subflow_without_a_sample_has_no_turn() {
        let path = |ms: u64| {
            let srtt = Duration::from_millis(ms);
            Path { established: true, can_send: true, mss: 1000, cwnd: 4000.0, srtt, ..Path::default() }
        };
        let paths = [path(0), path(20)];
        let mut daps = Daps { grain: 1, ..Daps::default() };
        for _ in 0..20 {
            let decision = daps.pick(&Offer::new(Instant(1), &paths, 1_000_000));
            assert_eq!(decision, Decision::Queue { on: 1, octets: 1000 });
        }
    }

    #[test]
    fn without_a_sample_the_lowest_round_trip_time_decides() {
        let path = Path { established: true, can_send: true, mss: 1000, cwnd: 10_000.0, ..Path::default() };
        let offer = [path, path];
        let decision = Daps { grain: 4, ..Daps::default() }.pick(&Offer::new(Instant(1), &offer, 9000));
        assert_eq!(decision, Decision::Queue { on: 0, octets: 1000 });
    }
}
