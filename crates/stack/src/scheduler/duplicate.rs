//! `duplicate`: every segment on every subflow that works. The slowest sets the pace: while it is full, the others wait for it.

use super::{Assignment, Decision, Offer, Scheduler, Subflows};
use crate::registry::{Builtin, Info};

pub(crate) static BUILTIN: Builtin<dyn Scheduler> = Builtin {
    info: Info::new("duplicate", "each segment on every working subflow, at the rate of the slowest")
        .label("Duplicate")
        .source("full duplication")
        .validated("the goodput is that of the slowest path"),
    make: |_, _| Box::new(Duplicate),
};

#[derive(Debug)]
struct Duplicate;

impl Scheduler for Duplicate {
    fn pick(&mut self, offer: &Offer<'_>) -> Decision {
        if (0..offer.paths.len()).any(|i| !offer.paths[i].can_send && offer.awaits(i)) {
            return Decision::Wait(None);
        }
        let open = offer.paths.iter().enumerate().filter(|(_, p)| p.can_send);
        Decision::SendAll(open.fold(Subflows::default(), |all, (i, _)| all.with(i)))
    }

    fn on_sent(&mut self, _assignment: &Assignment) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::Path;
    use crate::time::Instant;

    #[test]
    fn all_or_none() {
        let open = Path { established: true, can_send: true, ..Path::default() };
        let full = Path { can_send: false, in_flight: 1000, ..open };
        let pick = |paths: &[Path]| Duplicate.pick(&Offer::new(Instant(1), paths, 9000));
        assert_eq!(pick(&[open, open]), Decision::SendAll(Subflows::default().with(0).with(1)));
        assert_eq!(pick(&[open, full]), Decision::Wait(None));
        // Who does not work, is not waited for.
        assert_eq!(pick(&[open, Path { stale: true, ..full }]), Decision::SendAll(Subflows::default().with(0)));
    }
}
