//! Steering modes of ATSSS (3GPP TS 23.501, 5.32.8), in which an operator's policy says which access carries the traffic: `active-standby`,
//! `smallest-delay`, `load-balancing`, `priority`; and `cheapest-path-first`, which Amend et al. proposed for it. (The mode "redundant" is
//! the scheduler of that name.) The policy comes with the paths: their `priority`, `weight` and `cost`.
//!
//! The first three use the access that the policy names and wait while its window is full, as long as it works; the others fill one access
//! and overflow to the next.

use super::{Assignment, Decision, Offer, Path, Scheduler};
use crate::registry::{Builtin, Info};

const TS: &str = "3GPP TS 23.501 5.32.8";

pub(crate) static ACTIVE_STANDBY: Builtin<dyn Scheduler> = Builtin {
    info: Info::new("active-standby", "only the subflow with the lowest priority number, and the next one if it fails")
        .label("Active standby")
        .source(TS)
        .validated("the standby subflow carries no data while the active one works"),
    make: |_, _| Box::new(Only { least: |p| f64::from(p.policy.priority) }),
};

pub(crate) static SMALLEST_DELAY: Builtin<dyn Scheduler> = Builtin {
    info: Info::new("smallest-delay", "only the subflow with the lowest smoothed round-trip time")
        .label("Smallest delay")
        .source(TS)
        .validated("never uses the slower of two working subflows"),
    make: |_, _| Box::new(Only { least: |p| p.srtt.as_secs_f64() }),
};

pub(crate) static PRIORITY: Builtin<dyn Scheduler> = Builtin {
    info: Info::new("priority", "the subflow with the lowest priority number whose window has room, then the next one")
        .label("Priority")
        .source(TS)
        .validated("data overflow to the next subflow in the order of priorities"),
    make: |_, _| Box::new(First { least: |p| f64::from(p.policy.priority) }),
};

pub(crate) static CHEAPEST_PATH_FIRST: Builtin<dyn Scheduler> = Builtin {
    info: Info::new("cheapest-path-first", "the subflow with the lowest cost whose window has room, then the next one")
        .label("Cheapest path first")
        .source("Amend, Rakocevic et al., \"Cost optimized multipath scheduling in 5G for Video-on-Demand traffic\", CCNC 2021")
        .validated("data overflow to the next subflow in the order of costs"),
    make: |_, _| Box::new(First { least: |p| p.policy.cost }),
};

pub(crate) static LOAD_BALANCING: Builtin<dyn Scheduler> = Builtin {
    info: Info::new(
        "load-balancing",
        "octets in proportion to the weights of the paths; waits for the subflow whose turn it is",
    )
    .source(TS)
    .validated("weights of 3 and 1 give shares of 3 to 1")
    .label("Load balancing"),
    make: |_, _| Box::<LoadBalancing>::default(),
};

/// Of the subflows for which `eligible` holds, the one with the least `key`, the first of equals.
fn least(paths: &[Path], key: impl Fn(usize) -> f64, eligible: impl Fn(usize) -> bool) -> Option<usize> {
    (0..paths.len()).filter(|&i| eligible(i)).min_by(|&a, &b| key(a).total_cmp(&key(b)))
}

/// The least of those that work alone: waits while its window is full. If nothing would end the wait, the least with room.
fn only(offer: &Offer<'_>, key: impl Fn(usize) -> f64) -> Decision {
    match least(offer.paths, &key, |i| offer.works(i)) {
        Some(i) if offer.paths[i].can_send => Decision::Send(i),
        Some(i) if offer.awaits(i) => Decision::Wait(None),
        _ => first(offer, key),
    }
}

/// The least of those with room.
fn first(offer: &Offer<'_>, key: impl Fn(usize) -> f64) -> Decision {
    least(offer.paths, key, |i| offer.paths[i].can_send).map_or(Decision::Wait(None), Decision::Send)
}

#[derive(Debug)]
struct Only {
    least: fn(&Path) -> f64,
}

impl Scheduler for Only {
    fn pick(&mut self, offer: &Offer<'_>) -> Decision {
        only(offer, |i| (self.least)(&offer.paths[i]))
    }

    fn on_sent(&mut self, _assignment: &Assignment) {}
}

#[derive(Debug)]
struct First {
    least: fn(&Path) -> f64,
}

impl Scheduler for First {
    fn pick(&mut self, offer: &Offer<'_>) -> Decision {
        first(offer, |i| (self.least)(&offer.paths[i]))
    }

    fn on_sent(&mut self, _assignment: &Assignment) {}
}

/// The next octets go where the fewest are in proportion to the weight.
#[derive(Debug, Default)]
struct LoadBalancing {
    /// By subflow: octets sent over the weight.
    loads: Vec<f64>,
    weights: Vec<f64>,
}

impl Scheduler for LoadBalancing {
    fn pick(&mut self, offer: &Offer<'_>) -> Decision {
        let n = offer.paths.len();
        // Who is new does not catch up either: it may have come in a pause.
        let old = 0..self.loads.len().min(n);
        let begin = least(offer.paths, |i| self.loads[i], |i| old.contains(&i) && offer.works(i));
        let begin = begin.or_else(|| least(offer.paths, |i| self.loads[i], |i| old.contains(&i)));
        self.loads.resize(n, begin.map_or(0.0, |i| self.loads[i]));
        self.weights.clear();
        self.weights.extend(offer.paths.iter().map(|p| p.policy.weight));
        // Who was away does not catch up.
        let least = (0..n).filter(|&i| offer.works(i)).map(|i| self.loads[i]).fold(f64::INFINITY, f64::min);
        for i in (0..n).filter(|&i| least.is_finite() && !offer.works(i)) {
            self.loads[i] = self.loads[i].max(least);
        }
        only(offer, |i| self.loads[i])
    }

    fn on_sent(&mut self, assignment: &Assignment) {
        if let (false, Some(load)) = (assignment.again, self.loads.get_mut(assignment.subflow)) {
            *load += f64::from(assignment.len) / self.weights[assignment.subflow];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::Policy;
    use crate::time::{Duration, Instant};

    fn path(cost: f64, priority: u32, ms: u64) -> Path {
        let policy = Policy { cost, priority, weight: 1.0 };
        Path { policy, established: true, can_send: true, srtt: Duration::from_millis(ms), ..Path::default() }
    }

    fn full(path: Path) -> Path {
        Path { can_send: false, in_flight: 1000, ..path }
    }

    fn pick(name: &str, paths: &[Path]) -> Decision {
        let choice: crate::registry::Choice<dyn Scheduler> = name.parse().unwrap();
        choice.make(&crate::registry::Setup::new(1000, 10)).pick(&Offer::new(Instant(1), paths, 9000))
    }

    #[test]
    fn the_policy_names_the_access() {
        let paths = [path(3.0, 1, 10), path(1.0, 2, 20), path(2.0, 0, 30)];
        let picks = ["active-standby", "smallest-delay", "priority", "cheapest-path-first"].map(|n| pick(n, &paths));
        assert_eq!(picks, [2, 0, 2, 1].map(Decision::Send));
        // Equals: the first.
        assert_eq!(pick("priority", &[path(1.0, 0, 20), path(1.0, 0, 10)]), Decision::Send(0));
    }

    #[test]
    fn a_full_access_is_waited_for_or_overflows() {
        let paths = [full(path(1.0, 0, 10)), path(2.0, 1, 20)];
        let picks = ["active-standby", "smallest-delay", "priority", "cheapest-path-first"].map(|n| pick(n, &paths));
        let (wait, next) = (Decision::Wait(None), Decision::Send(1));
        assert_eq!(picks, [wait, wait, next, next]);
        let failed = [Path { stale: true, ..paths[0] }, paths[1]];
        assert_eq!([pick("active-standby", &failed), pick("smallest-delay", &failed)], [next, next]);
    }

    #[test]
    fn loads_are_in_proportion_to_weights() {
        let mut paths = [path(1.0, 0, 10), path(1.0, 0, 20)];
        paths[0].policy.weight = 3.0;
        let mut balancing = LoadBalancing::default();
        let mut sent = [0, 0];
        for _ in 0..400 {
            let Decision::Send(i) = balancing.pick(&Offer::new(Instant(1), &paths, 9000)) else { panic!() };
            balancing.on_sent(&Assignment::new(i, 0, 1000));
            sent[i] += 1;
        }
        assert_eq!(sent, [300, 100]);
        // The second one is away for a while and does not catch up.
        paths[1].stale = true;
        for _ in 0..100 {
            balancing.pick(&Offer::new(Instant(1), &paths, 9000));
            balancing.on_sent(&Assignment::new(0, 0, 1000));
        }
        paths[1].stale = false;
        let picks: Vec<_> = (0..8)
            .map(|_| {
                let decision = balancing.pick(&Offer::new(Instant(1), &paths, 9000));
                if let Decision::Send(i) = decision {
                    balancing.on_sent(&Assignment::new(i, 0, 1000));
                }
                decision
            })
            .collect();
        assert!(picks.iter().filter(|&&p| p == Decision::Send(1)).count() <= 3, "{picks:?}");
    }

    /// A third path comes in a pause, ready at the first question: it gets its share, not what the others have had before.
    #[test]
    fn a_new_path_does_not_catch_up() {
        let paths = [path(1.0, 0, 10), path(1.0, 0, 20), path(1.0, 0, 20)];
        let mut balancing = LoadBalancing::default();
        let mut send = |paths: &[Path]| {
            let Decision::Send(i) = balancing.pick(&Offer::new(Instant(1), paths, 9000)) else { panic!() };
            balancing.on_sent(&Assignment::new(i, 0, 1000));
            i
        };
        (0..100).for_each(|_| assert!(send(&paths[..2]) < 2));
        let picks: Vec<_> = (0..9).map(|_| send(&paths)).collect();
        assert_eq!(picks, [0, 1, 2, 0, 1, 2, 0, 1, 2]);
    }
}
