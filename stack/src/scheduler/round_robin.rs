//! `round-robin`: the next subflow in turn that has room, one segment each.

use super::{Candidate, Decision, Make, Scheduler};
use crate::registry::Entry;
use crate::time::Instant;

pub(super) const ENTRY: Entry<Make> = Entry {
    name: "round-robin",
    summary: "one segment to each subflow with room, in turn",
    source: "the papers' scheduler",
    needs: "",
    validated: "alternates while both have room",
    make: |_| Box::new(RoundRobin { next: 0 }),
};

#[derive(Debug)]
struct RoundRobin {
    next: usize,
}

impl Scheduler for RoundRobin {
    fn pick(&mut self, _now: Instant, candidates: &[Candidate]) -> Decision {
        let n = candidates.len();
        for k in 0..n {
            let i = (self.next + k) % n;
            if candidates[i].can_send {
                self.next = (i + 1) % n;
                return Decision::Send(i);
            }
        }
        Decision::Wait(None)
    }
}
