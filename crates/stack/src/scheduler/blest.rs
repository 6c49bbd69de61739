//! `blest`: blocking estimation. Before data goes to a slow subflow, it is estimated what the fastest one will want to send during the slow
//! one's round trip. If that no longer fits into the send window beside what the slow subflow has, the slow data would block it, and the
//! scheduler waits for the fastest subflow.
//!
//! The paper's rule (equations 1 and 2), F the fastest subflow and S the one that the lowest round-trip time would choose, F being full:
//!
//! ```text
//! rtts = RTT_S / RTT_F
//! X = MSS_F (cwnd_F + (rtts - 1) / 2) rtts                    windows in segments
//! wait if X delta > W - MSS_S (segments in flight on S + 1)   W: the peer's window from the oldest unacknowledged octet on
//! ```
//!
//! `delta` begins at 1 and moves by `lambda` once in a round-trip time of F: up if the window was found full while another subflow had the
//! head of the line, else down, never below zero. The default is the least step that the paper tries: since the steps are as large either way,
//! with larger ones a few seconds of calm bring `delta` down to where nothing blocks any more.
//!
//! With `linux` the rule is that of the out-of-tree kernel, `mptcp_blest.c`: the rounds of F are counted in whole ones against the time that S
//! lingers, slow start and the threshold are taken into account, and the factor runs from 1.0 to 1.3, starting at 1.2, by 0.04 up and 0.01 down
//! once in a minimum round-trip time of S.

use super::{Assignment, Decision, Offer, Path, Scheduler};
use crate::registry::{Builtin, Info, Parameter, Unit};
use crate::time::Instant;

/// `linux-blest`: `blest` with `linux = 1`.
pub(crate) static LINUX: Builtin<dyn Scheduler> = Builtin {
    info: Info::new("linux-blest", "BLEST as in the out-of-tree kernel: counts whole rounds of the fast subflow")
        .label("Linux BLEST")
        .source("out-of-tree Linux: mptcp_blest.c")
        .validated("the same trace as `blest` with linux = 1; hand-computed examples")
        .variant_of("blest"),
    make: |_, _| Box::new(Blest::of_the_kernel()),
};

pub(crate) static BUILTIN: Builtin<dyn Scheduler> = Builtin {
    info: Info::new("blest", "waits for the fast subflow if data on the slow one would block the send window")
        .label("BLEST")
        .source("Ferlin et al., IFIP Networking 2016; linux: mptcp_blest.c")
        .validated("hand-computed examples of the paper's rule and of the kernel's rule")
        .parameters(
            const {
                &[
                    Parameter::new(
                        "delta",
                        Unit::Number,
                        1.0,
                        (0.0, 10.0),
                        "initial value of the correction factor of the estimate",
                    ),
                    Parameter::new(
                        "lambda",
                        Unit::Number,
                        0.001,
                        (0.0, 1.0),
                        "step of the correction factor: up after blocking, else down",
                    ),
                    Parameter::new(
                        "linux",
                        Unit::Whole,
                        0.0,
                        (0.0, 1.0),
                        "1: the rule of the out-of-tree kernel, which does not use delta and lambda",
                    ),
                ]
            },
        ),
    make: |_, values| {
        if values.get("linux") == 1.0 {
            return Box::new(Blest::of_the_kernel());
        }
        Box::new(Blest { factor: values.get("delta"), step: values.get("lambda"), ..Blest::default() })
    },
};

#[derive(Debug, Default)]
struct Blest {
    linux: bool,
    /// delta of the paper, lambda of the kernel.
    factor: f64,
    step: f64,
    /// The window was full because of another subflow than the fastest, since `factor` last moved.
    blocked: bool,
    moved: Instant,
    /// Least and largest smoothed round-trip time seen, by subflow, in seconds; kept for the kernel's rule.
    spans: Vec<(f64, f64)>,
}

fn segments(octets: f64, path: &Path) -> f64 {
    octets / f64::from(path.mss)
}

impl Blest {
    /// The rule of the out-of-tree kernel.
    fn of_the_kernel() -> Self {
        Self { linux: true, factor: 1.2, ..Self::default() }
    }

    /// Moves the factor if its time has come.
    fn adapt(&mut self, now: Instant, fast: &Path, slow: &Path) {
        let interval = if self.linux { slow.min_rtt } else { fast.srtt };
        if now.since(self.moved) < interval {
            return;
        }
        self.moved = now;
        let blocked = std::mem::take(&mut self.blocked);
        self.factor = match (self.linux, blocked) {
            (false, true) => self.factor + self.step,
            (false, false) => (self.factor - self.step).max(0.0),
            (true, true) => (self.factor + 0.04).min(1.3),
            (true, false) => (self.factor - 0.01).max(1.0),
        };
    }

    /// Octets that `fast` will want to send while a segment of `slow` is under way, by the paper.
    fn wanted(fast: &Path, slow: &Path) -> f64 {
        let rtts = slow.srtt.as_secs_f64() / fast.srtt.as_secs_f64();
        f64::from(fast.mss) * (segments(fast.cwnd, fast) + (rtts - 1.0) / 2.0) * rtts
    }

    /// The same by the kernel.
    fn wanted_linux(&self, (fast, f): (usize, &Path), (slow, s): (usize, &Path)) -> f64 {
        let (least, most) = self.spans[fast];
        let average = (least + most) / 2.0;
        let rounds = (self.linger(slow, s) / average).floor() + 1.0;
        let cwnd = segments(f.cwnd, f).floor();
        let packets = if f.ssthresh == f64::INFINITY {
            // The first slow start doubles the window each round.
            cwnd * (f64::from(1 << (rounds.min(16.0) as u32)) - 1.0)
        } else {
            let threshold = segments(f.ssthresh, f).floor();
            (cwnd.max(threshold + 1.0) + ((rounds - 1.0) / 2.0).floor()) * rounds
        };
        packets * f64::from(f.mss)
    }

    /// How long a segment handed to `slow` now will be there, in seconds, by the kernel.
    fn linger(&self, slow: usize, s: &Path) -> f64 {
        let (least, most) = self.spans[slow];
        let queue = (segments(s.in_flight as f64, s).ceil() + 1.0) / segments(s.cwnd, s).floor();
        if queue >= 1.0 { most } else { s.srtt.as_secs_f64().max(least + (most - least) * queue) }
    }

    fn note_spans(&mut self, paths: &[Path]) {
        self.spans.resize(paths.len(), (f64::INFINITY, 0.0));
        for (span, p) in self.spans.iter_mut().zip(paths) {
            let srtt = p.srtt.as_secs_f64();
            if srtt > 0.0 {
                *span = (span.0.min(srtt), span.1.max(srtt));
            }
        }
    }
}

impl Scheduler for Blest {
    fn pick(&mut self, offer: &Offer<'_>) -> Decision {
        let (Some(slow), Some(fast)) = (offer.open(), offer.fastest_at_work()) else {
            return offer.open().map_or(Decision::Wait(None), Decision::Send);
        };
        if self.linux {
            self.note_spans(offer.paths);
        }
        let (f, s) = (&offer.paths[fast], &offer.paths[slow]);
        if slow == fast || !offer.awaits(fast) || f.srtt.0 == 0 || s.srtt.0 == 0 {
            return Decision::Send(slow);
        }
        self.adapt(offer.now, f, s);
        let window = (offer.edge - offer.data_una) as f64;
        let (wanted, taken) = if self.linux {
            let len = offer.room().min(u64::from(s.mss));
            (self.wanted_linux((fast, f), (slow, s)), (s.in_flight + len) as f64)
        } else {
            (Self::wanted(f, s), f64::from(s.mss) * (segments(s.in_flight as f64, s) + 1.0))
        };
        let blocks = wanted * self.factor > (window - taken).max(0.0);
        if blocks { Decision::Wait(None) } else { Decision::Send(slow) }
    }

    fn resends(&self) -> bool {
        // Nothing is sent again; so it is heard when the window is full.
        true
    }

    fn pick_again(&mut self, offer: &Offer<'_>) -> Decision {
        let head = offer.head();
        self.blocked |= offer.unsent > 0 && head.is_some() && head != offer.fastest_at_work();
        Decision::Wait(None)
    }

    fn on_sent(&mut self, _assignment: &Assignment) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Duration;

    /// 130 and 50 ms, windows of 20 and 30 segments of 1400 octets; the fast one is full, ten segments of the slow one are in flight.
    fn two() -> [Path; 2] {
        let (mss, srtt) = (1400, Duration::from_millis(50));
        let fast = Path { established: true, mss, cwnd: 42_000.0, in_flight: 42_000, srtt, ..Path::default() };
        let srtt = Duration::from_millis(130);
        let slow = Path { can_send: true, cwnd: 28_000.0, in_flight: 14_000, srtt, min_rtt: srtt, ..fast };
        [fast, slow]
    }

    fn decide(blest: &mut Blest, paths: &[Path], window: u64) -> Decision {
        let mut offer = Offer::new(Instant(1), paths, 1_000_000);
        offer.edge = window;
        blest.pick(&offer)
    }

    #[test]
    fn the_papers_rule_waits_if_the_estimate_does_not_fit() {
        let [fast, slow] = two();
        assert_eq!(Blest::wanted(&fast, &slow).round(), 112_112.0);
        let with = |factor, window| decide(&mut Blest { factor, ..Blest::default() }, &[fast, slow], window);
        assert_eq!(with(1.0, 262_144), Decision::Send(1));
        // Room for 115,672 octets; 1.04 times the estimate is 116,596.
        assert_eq!(with(1.0, 131_072), Decision::Send(1));
        assert_eq!(with(1.04, 131_072), Decision::Wait(None));
    }

    /// 93 segments of the fast subflow and a factor of 1.2, 156,240 octets, beside the 14,000 in flight on the slow one and the 1400 that
    /// would join them: 171,640 are needed.
    #[test]
    fn the_kernels_rule_takes_what_is_in_flight_and_the_next_segment() {
        let [mut fast, slow] = two();
        fast.ssthresh = 15.0 * 1400.0;
        let blest = || Blest { linux: true, factor: 1.2, ..Blest::default() };
        assert_eq!(decide(&mut blest(), &[fast, slow], 171_700), Decision::Send(1));
        assert_eq!(decide(&mut blest(), &[fast, slow], 171_600), Decision::Wait(None));
    }

    #[test]
    fn the_kernels_rule_counts_whole_rounds() {
        let [mut fast, slow] = two();
        let spans = vec![(0.05, 0.05), (0.13, 0.13)];
        let blest = Blest { linux: true, factor: 1.2, spans, ..Blest::default() };
        fast.ssthresh = 15.0 * 1400.0;
        assert_eq!(blest.wanted_linux((0, &fast), (1, &slow)), 93.0 * 1400.0);
        assert_eq!((93.0 * 1400.0_f64 * 1.2).round(), 156_240.0);
        (fast.ssthresh, fast.cwnd) = (f64::INFINITY, 14_000.0);
        assert_eq!(blest.wanted_linux((0, &fast), (1, &slow)), 70.0 * 1400.0);
    }

    /// Ten of twenty segments with the new one: half way from 100 to 160 ms; a full window: all of it.
    #[test]
    fn a_segment_lingers_the_longer_the_more_there_are() {
        let mut slow = Path { srtt: Duration::from_millis(100), in_flight: 9 * 1400, ..two()[1] };
        let blest = Blest { linux: true, spans: vec![(0.05, 0.05), (0.1, 0.16)], ..Blest::default() };
        assert_eq!(blest.linger(1, &slow), 0.13);
        slow.in_flight = 19 * 1400;
        assert_eq!(blest.linger(1, &slow), 0.16);
    }

    #[test]
    fn the_factor_moves_once_in_a_round_trip() {
        let [fast, slow] = two();
        let ms = |ms: u64| Instant(1_000_000 * ms);
        let mut blest = Blest { factor: 1.0, step: 0.01, blocked: true, ..Blest::default() };
        blest.adapt(ms(50), &fast, &slow);
        blest.adapt(ms(99), &fast, &slow);
        assert_eq!(blest.factor, 1.01);
        blest.adapt(ms(100), &fast, &slow);
        assert_eq!(blest.factor, 1.0);
        let mut linux = Blest { linux: true, factor: 1.2, blocked: true, ..Blest::default() };
        linux.adapt(ms(130), &fast, &slow);
        assert_eq!(linux.factor, 1.24);
        (2..60).for_each(|i| linux.adapt(ms(130 * i), &fast, &slow));
        assert_eq!(linux.factor, 1.0);
    }

    /// With nothing in flight on the fast subflow nothing would end the wait.
    #[test]
    fn it_waits_only_for_what_comes() {
        let [mut fast, slow] = two();
        fast.in_flight = 0;
        assert_eq!(decide(&mut Blest { factor: 1.0, ..Blest::default() }, &[fast, slow], 20_000), Decision::Send(1));
        (fast.in_flight, fast.stale) = (42_000, true);
        assert_eq!(decide(&mut Blest { factor: 1.0, ..Blest::default() }, &[fast, slow], 20_000), Decision::Send(1));
    }
}
