//! `min-rtt`: the lowest smoothed round-trip time among the subflows that have room; Linux's former default.
//!
//! It fills the window of the fast path before it uses the slow one. It never waits for the fast path, so the last data of a
//! transfer may arrive late on the slow one.

use super::{Assignment, Decision, Offer, Scheduler};
use crate::registry::{Builtin, Info};

pub(crate) static BUILTIN: Builtin<dyn Scheduler> = Builtin {
    info: Info::new("min-rtt", "the subflow with the lowest smoothed round-trip time whose window has room")
        .label("minRTT")
        .source("Raiciu et al., NSDI 2012, section 4.2")
        .validated("6.2 Mbit/s or more over links of 5 Mbit/s with 100 ms and 2 Mbit/s with 10 ms"),
    make: |_, _| Box::new(MinRtt),
};

#[derive(Debug)]
struct MinRtt;

impl Scheduler for MinRtt {
    fn pick(&mut self, offer: &Offer<'_>) -> Decision {
        let best = offer.paths.iter().enumerate().filter(|(_, p)| p.can_send).min_by_key(|(_, p)| p.srtt);
        best.map_or(Decision::Wait(None), |(i, _)| Decision::Send(i))
    }

    fn on_sent(&mut self, _assignment: &Assignment) {}

    fn remembers(&self) -> bool {
        false
    }
}
