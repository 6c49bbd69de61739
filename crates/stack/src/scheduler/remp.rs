//! `remp`: ReMP TCP. Each subflow sends the whole stream at its own pace: it has a place of its own in it, which jumps forward to the oldest
//! octet without a DATA_ACK if it falls behind that. So a slow subflow always works on the oldest unacknowledged data. The subflows take
//! turns.

use super::{Assignment, Decision, Offer, Scheduler};
use crate::registry::{Builtin, Info};

pub(crate) static BUILTIN: Builtin<dyn Scheduler> = Builtin {
    info: Info::new("remp", "the whole data stream on every subflow, each at its own rate")
        .label("ReMP")
        .source("Erbshaeusser, Froemmgen et al., ICC 2016; out-of-tree Linux: mptcp_remp.c")
        .validated("a loss on one path causes no timeout; goodput of the faster path"),
    make: |_, _| Box::<Remp>::default(),
};

#[derive(Debug, Default)]
struct Remp {
    /// Each subflow's place in the stream: the octet after what it sent last.
    places: Vec<u64>,
    /// The subflow that is asked first.
    next: usize,
}

impl Remp {
    /// The next subflow in turn with room that has not sent everything yet, and where it is; without one, `None`.
    fn behind(&self, offer: &Offer<'_>) -> Option<(usize, u64)> {
        let n = offer.paths.len();
        let turn = (0..n).map(|k| (self.next + k) % n).filter(|&i| offer.paths[i].can_send);
        let place = |i: usize| self.places.get(i).copied().unwrap_or(0).max(offer.data_una);
        turn.map(|i| (i, place(i))).find(|&(_, place)| place < offer.data_nxt)
    }
}

impl Scheduler for Remp {
    fn pick(&mut self, offer: &Offer<'_>) -> Decision {
        let n = offer.paths.len();
        let Some(on) = (0..n).map(|k| (self.next + k) % n).find(|&i| offer.paths[i].can_send) else {
            return Decision::Wait(None);
        };
        match self.behind(offer) {
            Some((i, start)) if i == on => Decision::Resend { start, end: offer.data_nxt, on },
            _ => Decision::Send(on),
        }
    }

    fn resends(&self) -> bool {
        true
    }

    fn pick_again(&mut self, offer: &Offer<'_>) -> Decision {
        let behind = self.behind(offer);
        behind.map_or(Decision::Wait(None), |(on, start)| Decision::Resend { start, end: offer.data_nxt, on })
    }

    fn on_sent(&mut self, assignment: &Assignment) {
        let (i, end) = (assignment.subflow, assignment.data + u64::from(assignment.len));
        self.places.resize(self.places.len().max(i + 1), 0);
        self.places[i] = self.places[i].max(end);
        self.next = i + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::Path;
    use crate::time::Instant;

    #[test]
    fn each_subflow_has_its_place_in_the_stream() {
        let open = Path { established: true, can_send: true, mss: 1000, ..Path::default() };
        let paths = [open, open];
        let mut remp = Remp::default();
        let mut offer = Offer::new(Instant(1), &paths, 9000);
        assert_eq!(remp.pick(&offer), Decision::Send(0));
        remp.on_sent(&Assignment::new(0, 0, 1000));
        (offer.data_nxt, offer.edge) = (1000, 10_000);
        assert_eq!(remp.pick(&offer), Decision::Resend { start: 0, end: 1000, on: 1 });
        // Three segments later, two of them acknowledged: subflow 1 goes on with the oldest that is not.
        remp.next = 0;
        remp.on_sent(&Assignment::new(0, 1000, 2000));
        (offer.data_una, offer.data_nxt) = (2000, 3000);
        assert_eq!(remp.pick(&offer), Decision::Resend { start: 2000, end: 3000, on: 1 });
        remp.on_sent(&Assignment { again: true, ..Assignment::new(1, 2000, 1000) });
        assert_eq!(remp.pick_again(&offer), Decision::Wait(None), "both have sent all");
    }
}
