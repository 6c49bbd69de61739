//! `round-robin`: the next subflow in turn that has room, one segment each.

use super::{Assignment, Decision, Offer, Scheduler};
use crate::registry::{Builtin, Info};

pub(crate) static BUILTIN: Builtin<dyn Scheduler> = Builtin {
    info: Info::new("round-robin", "one segment to each subflow whose window has room, in turn")
        .label("Round robin")
        .source("the papers' scheduler")
        .validated("alternates while both windows have room"),
    make: |_, _| Box::new(RoundRobin { next: 0, subflows: 1 }),
};

#[derive(Debug)]
struct RoundRobin {
    next: usize,
    /// Number of subflows at the last decision.
    subflows: usize,
}

impl Scheduler for RoundRobin {
    fn pick(&mut self, offer: &Offer<'_>) -> Decision {
        let n = offer.paths.len();
        self.subflows = n;
        for k in 0..n {
            let i = (self.next + k) % n;
            if offer.paths[i].can_send {
                return Decision::Send(i);
            }
        }
        Decision::Wait(None)
    }

    fn on_sent(&mut self, assignment: &Assignment) {
        self.next = (assignment.subflow + 1) % self.subflows;
    }
}
