//! `linux`: the scheduler of Linux 6.1 (`mptcp_subflow_get_send`). New data goes to the subflow whose send buffer will be empty first: its
//! octets, sent or not, over its pacing rate, averaged over the octets assigned ("linger time"). A burst of 64 kB goes there before the
//! next choice. Data is assigned ahead of the windows as far as the subflow's send buffer has room, and the scheduler waits while the
//! chosen subflow's buffer is full, even if another one has room.

use super::{Assignment, Decision, Offer, Reach, Scheduler};
use crate::registry::{Builtin, Info, Need};

pub(crate) static BUILTIN: Builtin<dyn Scheduler> = Builtin {
    info: Info::new("linux", "a burst of 64 kB to the subflow whose queue empties first, even if its window is full")
        .label("Linux")
        .source("Linux 6.1: mptcp_subflow_get_send")
        .needs(&[Need::Blocks])
        .validated("hand-computed examples; comparison with Linux in virtual time"),
    make: |_, _| Box::<Linux>::default(),
};

/// `MPTCP_SEND_BURST_SIZE`: 64 KiB less a TCP header.
const BURST: u64 = (1 << 16) - 20;

/// What an application writes at a time ([`Need::Blocks`]), in octets.
pub const BLOCK: u64 = 1 << 16;

#[derive(Debug, Default)]
struct Linux {
    /// Of each subflow, the average of its pacing rate, in octets per second; zero before the first choice.
    average: Vec<f64>,
    /// The subflow of the current burst, and what is left of the burst in octets.
    burst: Option<(usize, u64)>,
}

impl Scheduler for Linux {
    fn reach(&self) -> Reach {
        Reach::Memory
    }

    fn pick(&mut self, offer: &Offer<'_>) -> Decision {
        let paths = offer.paths;
        if !paths.iter().any(|p| p.takes_data) {
            // Plain TCP, or the peer has not shown that it has our key: gated by the window.
            return paths.iter().position(|p| p.can_send).map_or(Decision::Wait(None), Decision::Send);
        }
        self.average.resize(paths.len(), 0.0);
        let share = |on: usize, left: u64| {
            let octets = paths[on].fill.min(offer.room());
            (Some((on, left.saturating_sub(octets))).filter(|b| b.1 > 0), Decision::Queue { on, octets })
        };
        let decision;
        if let Some((on, left)) = self.burst.filter(|&(on, _)| paths.get(on).is_some_and(|p| p.can_send)) {
            (self.burst, decision) = share(on, left);
            return decision;
        }
        let mut best: Option<(usize, f64)> = None;
        for (i, p) in paths.iter().enumerate().filter(|(_, p)| p.takes_data) {
            let average = &mut self.average[i];
            if *average == 0.0 {
                *average = p.pacing_rate;
            }
            if *average > 0.0 {
                let linger = p.buffered as f64 / *average;
                if best.is_none_or(|(_, least)| linger < least) {
                    best = Some((i, linger));
                }
            }
        }
        let Some((on, _)) = best.filter(|&(i, _)| paths[i].can_send) else { return Decision::Wait(None) };
        let burst = BURST.min(if offer.ahead_of_writer { offer.window() } else { offer.room() });
        let (old, new) = (paths[on].buffered as f64, burst as f64);
        self.average[on] = (self.average[on] * old + paths[on].pacing_rate * new) / (old + new);
        (self.burst, decision) = share(on, burst);
        decision
    }

    fn on_sent(&mut self, _assignment: &Assignment) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::Path;
    use crate::time::Instant;

    fn path(buffered: u64, pacing_rate: f64) -> Path {
        Path {
            established: true,
            takes_data: true,
            can_send: true,
            mss: 1000,
            buffered,
            fill: 32_728,
            pacing_rate,
            ..Path::default()
        }
    }

    fn pick(s: &mut Linux, paths: &[Path], unsent: u64) -> Option<usize> {
        match s.pick(&Offer::new(Instant::ZERO, paths, unsent)) {
            Decision::Queue { on, .. } => Some(on),
            _ => None,
        }
    }

    /// 30 kB at 1 MB/s linger 30 ms, 50 kB at 2 MB/s 25 ms.
    #[test]
    fn the_queue_that_empties_first_gets_the_burst() {
        let mut s = Linux::default();
        let mut paths = [path(30_000, 1e6), path(50_000, 2e6)];
        assert_eq!(pick(&mut s, &paths, 1_000_000), Some(1));
        // The burst stays there, though the other lingers less now: two pieces of memory, and 60 octets of a third.
        paths[0].buffered = 1;
        assert!((1..3).all(|_| pick(&mut s, &paths, 1_000_000) == Some(1)));
        assert_eq!(pick(&mut s, &paths, 1_000_000), Some(0));
    }

    #[test]
    fn a_full_buffer_of_the_best_subflow_is_waited_for() {
        let mut s = Linux::default();
        let full = Path { can_send: false, ..path(10, 1e6) };
        assert_eq!(pick(&mut s, &[full, path(50_000, 1e6)], 9000), None);
    }

    /// A burst that is as long as the window goes on when more is written; one of what was written
    /// ends with that.
    #[test]
    fn a_burst_may_be_longer_than_what_is_written() {
        let paths = [path(0, 1e6), path(1, 1e6)];
        let next = |ahead_of_writer| {
            let mut s = Linux::default();
            let offer = Offer { edge: 100_000, ahead_of_writer, ..Offer::new(Instant::ZERO, &paths, 3000) };
            s.pick(&offer);
            s.burst
        };
        assert_eq!((next(false), next(true)), (None, Some((0, BURST - 3000))));
    }

    /// The average moves by what is assigned: with 65,516 octets in the buffer and as many assigned it is the mean.
    #[test]
    fn the_rate_is_averaged_over_octets() {
        let mut s = Linux::default();
        pick(&mut s, &[path(BURST, 1e6)], 1_000_000);
        s.burst = None;
        pick(&mut s, &[path(BURST, 3e6)], 1_000_000);
        assert_eq!(s.average, [2e6]);
    }
}
