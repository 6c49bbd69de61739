//! `redundant`: a new segment is sent on a subflow with room, and a copy of it at once on every other one that has room.
//!
//! Best effort, as in the scheduler `redundant` of the out-of-tree kernel: where there is no room when the copy's turn comes, it is dropped.
//! That repeats what leaves while the windows have room. In a transfer that keeps them full they seldom open together: most copies are
//! dropped, and the goodput is nearly the sum of the paths'. Who wants everything twice takes `remp` or `duplicate`.

use super::{Assignment, Decision, Offer, Scheduler, Subflows};
use crate::registry::{Builtin, Info};

pub(crate) static BUILTIN: Builtin<dyn Scheduler> = Builtin {
    info: Info::new("redundant", "each segment on every subflow whose window has room for it now")
        .label("Redundant")
        .source("out-of-tree Linux: mptcp_redundant.c; ATSSS steering \"redundant\", 3GPP TS 23.501 5.32.8")
        .validated("a loss on one path causes no timeout of a flow with little data"),
    make: |_, _| Box::new(Redundant),
};

#[derive(Debug)]
struct Redundant;

impl Scheduler for Redundant {
    fn pick(&mut self, offer: &Offer<'_>) -> Decision {
        let open = offer.paths.iter().enumerate().filter(|(_, p)| p.can_send);
        Decision::SendAll(open.fold(Subflows::default(), |all, (i, _)| all.with(i)))
    }

    fn on_sent(&mut self, _assignment: &Assignment) {}
}
