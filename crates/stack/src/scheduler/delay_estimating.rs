//! `delay-estimating`: earliest delivery first, after the works on dissimilar paths by Dreibholz, Becke, Adhari and others (CMT-SCTP) and by
//! Tsai and others. A segment goes where it is estimated to arrive first, and waits there if the window is full:
//!
//! ```text
//! T = queue / rate + L / rate + owd       rate = cwnd / srtt, owd = srtt / 2, queue: what waits for the window there
//! ```
//!
//! Losses are not accounted for. Two options against blocking: with `split` a subflow holds at most its share of the send buffer and of the
//! peer's window, in equal parts (buffer splitting); with `reschedule` the oldest segment is sent again on another subflow when more than half of
//! the buffer is taken by what was acknowledged on a subflow and waits at the receiver for what is before it (chunk rescheduling).

use super::{Assignment, Decision, Offer, Path, Reach, Scheduler};
use crate::registry::{Builtin, Info, Need, Parameter, Unit};

pub(crate) static BUILTIN: Builtin<dyn Scheduler> = Builtin {
    info: Info::new("delay-estimating", "the subflow with the earliest estimated delivery; sends ahead of the window")
        .label("Delay estimating")
        .source("after Dreibholz et al., GLOBECOM 2010, Adhari et al. 2011, Tsai et al., IET Communications 2010")
        .validated("hand-computed examples")
        .needs(&[Need::Backlog])
        .parameters(
            const {
                &[
                    Parameter::new(
                        "split",
                        Unit::Whole,
                        0.0,
                        (0.0, 1.0),
                        "1: each subflow has an equal share of the buffers",
                    ),
                    Parameter::new(
                        "reschedule",
                        Unit::Whole,
                        0.0,
                        (0.0, 1.0),
                        "1: data that block half of the buffer are sent again",
                    ),
                ]
            },
        ),
    make: |_, values| {
        Box::new(Estimating { splits: values.get("split") == 1.0, reschedules: values.get("reschedule") == 1.0 })
    },
};

#[derive(Debug)]
struct Estimating {
    splits: bool,
    reschedules: bool,
}

/// When a segment assigned now would be delivered, in seconds from now.
fn delivery(p: &Path) -> f64 {
    let srtt = p.srtt.as_secs_f64();
    (p.backlog() + f64::from(p.mss)) / p.cwnd * srtt + srtt / 2.0
}

/// What the send buffer and the peer's window hold from the oldest octet without a DATA_ACK on.
fn capacity(offer: &Offer<'_>) -> u64 {
    (offer.edge - offer.data_una).min(offer.buffer)
}

impl Scheduler for Estimating {
    fn reach(&self) -> Reach {
        Reach::Windows
    }

    fn pick(&mut self, offer: &Offer<'_>) -> Decision {
        let share = if self.splits {
            capacity(offer) / (offer.paths.iter().filter(|p| p.can_send).count() as u64).max(1)
        } else {
            u64::MAX
        };
        let beyond = |p: &Path| {
            let holds = p.in_flight + p.queued;
            holds > 0 && holds + u64::from(p.mss) > share
        };
        let cost = |p: &Path| if beyond(p) { f64::INFINITY } else { delivery(p) };
        match offer.cheapest(cost).filter(|&on| !beyond(&offer.paths[on])) {
            Some(on) => offer.queue(on),
            None => Decision::Wait(None),
        }
    }

    fn resends(&self) -> bool {
        self.reschedules
    }

    fn pick_again(&mut self, offer: &Offer<'_>) -> Decision {
        let outstanding = offer.paths.iter().map(|p| p.in_flight + p.queued).sum::<u64>();
        let waits_there = (offer.data_nxt - offer.data_una).saturating_sub(outstanding);
        if waits_there > capacity(offer) / 2 { offer.repeat_head() } else { Decision::Wait(None) }
    }

    fn on_sent(&mut self, _assignment: &Assignment) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{Duration, Instant};

    /// A full window of a round trip at `mbps`, twice `ms`.
    fn path(mbps: f64, ms: u64, queued: u64) -> Path {
        let srtt = Duration::from_millis(2 * ms);
        let cwnd = mbps * 125_000.0 * srtt.as_secs_f64();
        let in_flight = cwnd as u64;
        Path { established: true, can_send: true, mss: 1400, cwnd, in_flight, queued, srtt, ..Path::default() }
    }

    /// 10 Mbit/s and 10 ms against 5 Mbit/s and 50 ms, segments of 1400 octets.
    #[test]
    fn a_segment_is_delivered_after_queue_transmission_and_delay() {
        let ms = |p: &Path| (1e5 * delivery(p)).round() / 100.0;
        let fast = [0, 14_000, 28_000, 42_000, 56_000].map(|queued| ms(&path(10.0, 10, queued)));
        assert_eq!(fast, [11.12, 22.32, 33.52, 44.72, 55.92]);
        assert_eq!(ms(&path(5.0, 50, 0)), 52.24);
        let pick = |queued| {
            let paths = [path(10.0, 10, queued), path(5.0, 50, 0)];
            Estimating { splits: false, reschedules: false }.pick(&Offer::new(Instant(1), &paths, 9000))
        };
        assert_eq!(pick(51_300), Decision::Queue { on: 0, octets: 1400 });
        assert_eq!(pick(51_500), Decision::Queue { on: 1, octets: 1400 });
    }

    /// 256 KiB and two subflows: 131,072 octets each.
    #[test]
    fn split_buffers_have_equal_shares() {
        let decide = |holds: u64| {
            let full = Path { in_flight: holds, ..path(10.0, 10, 0) };
            let paths = [full, Path { in_flight: 131_072, ..path(5.0, 50, 0) }];
            let offer = Offer { buffer: 262_144, ..Offer::new(Instant(1), &paths, 1_000_000) };
            Estimating { splits: true, reschedules: false }.pick(&offer)
        };
        assert_eq!(decide(131_072 - 1400), Decision::Queue { on: 0, octets: 1400 });
        assert_eq!(decide(131_072 - 1399), Decision::Wait(None));
    }

    /// 64 kB window: 40 kB were acknowledged and wait at the receiver for what the slow subflow has.
    #[test]
    fn what_blocks_half_of_the_buffer_is_sent_again() {
        let mut paths = [Path { in_flight: 0, ..path(10.0, 10, 0) }, path(5.0, 50, 0)];
        (paths[1].in_flight, paths[1].oldest) = (20_000, (100_000, 101_400));
        let decide = |data_nxt: u64| {
            let (data_una, edge) = (100_000, 164_000);
            let offer = Offer { data_una, data_nxt, edge, ..Offer::new(Instant(1), &paths, 0) };
            Estimating { splits: false, reschedules: true }.pick_again(&offer)
        };
        assert_eq!(decide(160_000), Decision::Resend { start: 100_000, end: 101_400, on: 0 });
        assert_eq!(decide(152_000), Decision::Wait(None));
    }
}
