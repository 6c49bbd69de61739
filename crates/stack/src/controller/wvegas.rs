//! `wvegas`: weighted Vegas, which goes by delay. Each subflow keeps a few segments of its own in the queue of its bottleneck; over all
//! subflows they are `total_alpha`, shared in proportion to the rates. A path with a longer queueing delay loses rate and with it a part
//! of its share, so that congestion is balanced before anything is lost.
//!
//! Once a round trip, with rtt the mean of its samples and base their minimum ever, diff = cwnd (rtt - base) / rtt is what stands in the
//! queue. If it is at least alpha, there is a queue to share: the subflow publishes its rate cwnd / rtt, and its alpha becomes its part of
//! all published rates times `total_alpha`, at least 2. Above alpha the window shrinks by a segment, below it grows by one. Slow start ends
//! when more than `gamma` segments are queued. A queueing delay of twice the least one seen makes the window give way, to
//! cwnd base / (2 rtt), so that everybody can see the true minimum; then the least is forgotten.
//!
//! In loss episodes the subflow is a NewReno (RFC 5681); afterwards it begins again with alpha = 2. As in the authors' module for Linux
//! (`mptcp_wvegas.c`), windows, diff and alpha are whole segments, so that the window rests while diff equals alpha.
//!
//! The four goals: throughput as long as nobody else fills the queue, no harm (a loss-based flow in the same drop-tail queue takes nearly
//! everything), and a fine balance. Restarting from idle forgets the minimum.

use super::counter::Counter;
use super::{AckSample, Adjust, Congestion, Controller, Path, Window};
use crate::registry::{Builtin, Fairness, Info, Parameter, Unit};
use crate::time::Duration;

const TOTAL_ALPHA: Parameter = Parameter::new(
    "total_alpha",
    Unit::Whole,
    10.0,
    (2.0, 1000.0),
    "segments that all subflows together keep in queues",
);
const GAMMA: Parameter = Parameter::new(
    "gamma",
    Unit::Whole,
    1.0,
    (0.0, 1000.0),
    "slow start ends above this number of segments in the queue",
);

/// The least alpha, also the first, and the least window, in segments.
const LEAST: f64 = 2.0;
/// A round trip with no more samples than that says nothing about the delay.
const FEW_SAMPLES: u32 = 2;

const DRAIN: Parameter = Parameter::new(
    "drain",
    Unit::Whole,
    1.0,
    (0.0, 1.0),
    "1: the window shrinks when the queueing delay has doubled, as in the authors' module; 0: it does not",
);

pub(crate) static BUILTIN: Builtin<dyn Controller> = Builtin {
    info: Info::new(
        "wvegas",
        "keeps ten segments in the queues of all paths together, in proportion to the paths' rates",
    )
    .source("Cao, Xu and Fu, ICNP 2012, as in the authors' module for Linux (mptcp_wvegas.c)")
    .fairness(Fairness::Connection)
    .validated("hand-computed examples; length of the queue on one path and on two paths")
    .parameters(const { &[TOTAL_ALPHA, GAMMA, DRAIN] })
    .label("wVegas"),
    make: |setup, values| {
        let options = Options {
            total_alpha: values.get("total_alpha"),
            gamma: values.get("gamma"),
            drains: values.get("drain") > 0.0,
        };
        Box::new(Wvegas::new(Window::new(setup), options))
    },
};

#[derive(Clone, Copy, Debug)]
struct Options {
    total_alpha: f64,
    gamma: f64,
    drains: bool,
}

#[derive(Clone, Debug)]
struct Wvegas {
    window: Window,
    counter: Counter,
    options: Options,
    /// Minimum round-trip time ever.
    base: Option<Duration>,
    /// Sum and number of the samples of this round trip.
    sum: Duration,
    samples: u32,
    alpha: f64,
    /// Part of the published rates that is this subflow's.
    weight: f64,
    /// The least queueing delay since the window last gave way.
    least_queueing: Option<Duration>,
    /// No loss episode.
    open: bool,
}

impl Wvegas {
    fn new(window: Window, options: Options) -> Self {
        Self {
            window,
            counter: Counter::default(),
            options,
            base: None,
            sum: Duration::ZERO,
            samples: 0,
            alpha: LEAST,
            weight: 1.0,
            least_queueing: None,
            open: true,
        }
    }

    /// Delay counts again: everything but the minimum of the round-trip time is forgotten.
    fn enable(&mut self) {
        let fresh = Self::new(self.window, self.options);
        *self = Self { base: self.base, ..fresh };
        self.window.vegas_rate = 0.0;
    }

    /// RFC 5681.
    fn newreno(&mut self, ack: &AckSample) {
        match () {
            () if !ack.cwnd_limited => {}
            () if self.window.in_slow_start() => self.window.slow_start(ack),
            () => self.counter.count(&mut self.window, ack.growth as f64),
        }
    }

    /// A round trip has ended in which the round-trip time was `rtt` on average, and `base` is its minimum.
    fn on_round(&mut self, ack: &AckSample, rtt: Duration, base: Duration, paths: &[Path], me: usize) {
        let w = &mut self.window;
        let segments = w.cwnd / w.mss;
        let part = |of: Duration| (segments * of.0 as f64 / rtt.0 as f64).floor();
        let diff = part(Duration(rtt.0 - base.0));
        if w.in_slow_start() {
            if diff > self.options.gamma {
                w.cwnd = w.cwnd.min((part(base) + 1.0) * w.mss);
                w.ssthresh = w.ssthresh.min(w.cwnd - w.mss);
            } else if ack.cwnd_limited {
                w.slow_start(ack);
            }
        } else {
            if diff >= self.alpha {
                self.share(rtt, paths, me);
            }
            self.step(ack, diff);
            if self.options.drains {
                self.give_way(rtt, base);
            }
        }
        let w = &mut self.window;
        w.cwnd = w.cwnd.max(LEAST * w.mss);
        w.ssthresh = w.ssthresh.max(LEAST * w.mss);
    }

    /// Publishes the rate, and takes this subflow's share of the segments in queues.
    fn share(&mut self, rtt: Duration, paths: &[Path], me: usize) {
        let w = &mut self.window;
        w.vegas_rate = w.cwnd / rtt.as_secs_f64();
        let others = paths.iter().enumerate().filter(|(i, p)| *i != me && p.established);
        self.weight = w.vegas_rate / (w.vegas_rate + others.map(|(_, p)| p.vegas_rate).sum::<f64>());
        self.alpha = (self.weight * self.options.total_alpha).floor().max(LEAST);
    }

    fn step(&mut self, ack: &AckSample, diff: f64) {
        let w = &mut self.window;
        if diff > self.alpha {
            w.cwnd -= w.mss;
            w.ssthresh = w.ssthresh.min(w.cwnd - w.mss);
        } else if diff < self.alpha && ack.cwnd_limited {
            w.cwnd += w.mss;
        }
    }

    /// Drains the queue once it has doubled.
    fn give_way(&mut self, rtt: Duration, base: Duration) {
        let queueing = Duration(rtt.0 - base.0);
        let least = self.least_queueing.filter(|&least| least < queueing && least.0 > 0).unwrap_or(queueing);
        self.least_queueing = Some(least);
        if queueing.0 >= 2 * least.0 && queueing.0 > 0 {
            let w = &mut self.window;
            w.cwnd = (w.cwnd / w.mss * base.0 as f64 / (2 * rtt.0) as f64).floor() * w.mss;
            self.least_queueing = None;
        }
    }
}

impl Controller for Wvegas {
    fn window(&self) -> &Window {
        &self.window
    }

    fn adjust(&mut self, adjust: Adjust) {
        self.window.adjust(adjust);
        if matches!(adjust, Adjust::Idle { .. }) {
            self.enable();
            self.base = None;
        }
    }

    fn on_ack(&mut self, ack: &AckSample, paths: &[Path], me: usize) {
        if ack.after_timeout {
            return self.newreno(ack);
        }
        if !self.open {
            self.enable();
        }
        if let Some(rtt) = ack.rtt.filter(|rtt| rtt.0 > 0) {
            self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
            self.sum = self.sum + rtt;
            self.samples += 1;
        }
        if !ack.round {
            if self.window.in_slow_start() && ack.cwnd_limited {
                self.window.slow_start(ack);
            }
            return;
        }
        match self.base {
            Some(base) if self.samples > FEW_SAMPLES => {
                self.on_round(ack, Duration(self.sum.0 / u64::from(self.samples)), base, paths, me);
            }
            _ => self.newreno(ack),
        }
        (self.sum, self.samples) = (Duration::ZERO, 0);
    }

    fn on_congestion(&mut self, congestion: &Congestion, _paths: &[Path], _me: usize) {
        self.open = false;
        self.counter.reset();
        self.window.vegas_rate = 0.0;
        self.window.halve(congestion);
    }
}

#[cfg(test)]
mod tests {
    use super::super::worked::{MSS, after_loss, close, first_of, rows};
    use super::*;

    const OPTIONS: Options = Options { total_alpha: 10.0, gamma: 1.0, drains: true };

    /// A controller with a window of `cwnd` segments and that alpha after a round trip of `rtt` ms over a minimum of `base` ms; siblings
    /// publish `others` segments a second.
    fn round(cwnd: f64, ssthresh: f64, (base, rtt): (u64, u64), alpha: f64, others: f64) -> Wvegas {
        let mut window = *first_of("wvegas", &[(cwnd, rtt)]).0.window();
        window.ssthresh = ssthresh * MSS;
        let mut c = Wvegas { alpha, ..Wvegas::new(window, OPTIONS) };
        c.base = Some(Duration::from_millis(base));
        let mut paths = rows(&[(cwnd, rtt), (10.0, 100)]);
        paths[1].vegas_rate = others * MSS;
        for n in 0..cwnd as u64 {
            let round = n + 1 == cwnd as u64;
            let rtt = Some(Duration::from_millis(rtt));
            c.on_ack(&AckSample { growth: 1000, cwnd_limited: true, rtt, round, ..AckSample::default() }, &paths, 0);
        }
        c
    }

    /// 60 segments at 48 ms over 40 ms: 10 are queued. The rates are 1250 and 363.64 segments a second, the weight 0.77465, alpha 7: one
    /// segment less.
    #[test]
    fn ten_segments_are_shared_in_proportion_to_the_rates() {
        let c = round(60.0, 2.0, (40, 48), 2.0, 40.0 / 0.11);
        assert!((c.weight - 0.774_65).abs() < 1e-5, "{}", c.weight);
        assert_eq!((c.alpha, c.window.cwnd / MSS), (7.0, 59.0));
        close(c.window.vegas_rate, 1250.0 * MSS);
        // The other path: 40 segments at 110 ms over 100 ms, 3.6 queued, weight 0.22535.
        let c = round(40.0, 2.0, (100, 110), 2.0, 1250.0);
        assert!((c.weight - 0.225_35).abs() < 1e-5, "{}", c.weight);
        assert_eq!((c.alpha, c.window.cwnd / MSS), (2.0, 39.0));
    }

    /// 10 segments are queued and alpha is 10: the window rests. With 9 queued it grows.
    #[test]
    fn the_window_rests_at_alpha() {
        assert_eq!(round(60.0, 2.0, (40, 48), 10.0, 0.0).window.cwnd / MSS, 60.0);
        assert_eq!(round(59.0, 2.0, (40, 48), 10.0, 0.0).window.cwnd / MSS, 60.0);
    }

    /// 32 segments at 44 ms over 40 ms: 29 fit, 2.9 are queued, more than one. The window becomes 30.
    #[test]
    fn slow_start_ends_with_two_segments_in_the_queue() {
        let mut window = *first_of("wvegas", &[(32.0, 44)]).0.window();
        window.ssthresh = f64::INFINITY;
        let mut c = Wvegas::new(window, OPTIONS);
        let (rtt, base) = (Duration::from_millis(44), Duration::from_millis(40));
        c.on_round(&AckSample::default(), rtt, base, &rows(&[(32.0, 44)]), 0);
        assert_eq!((c.window.cwnd / MSS, c.window.ssthresh / MSS), (30.0, 29.0));
    }

    /// 60 segments; the queueing delay was 8 ms and is 16 ms: 60 * 40 / 112 = 21.43. At 15 ms it has not doubled.
    #[test]
    fn a_queue_that_has_doubled_is_drained() {
        let ms = Duration::from_millis;
        let drained = |rtt| {
            let mut c = Wvegas::new(*first_of("wvegas", &[(60.0, 50)]).0.window(), OPTIONS);
            c.give_way(ms(48), ms(40));
            c.give_way(ms(rtt), ms(40));
            (c.window.cwnd / MSS, c.least_queueing)
        };
        assert_eq!(drained(56), (21.0, None));
        assert_eq!(drained(55), (60.0, Some(ms(8))));
    }

    /// Four segments at 400 ms over 40 ms: 3.6 are queued, more than alpha, and the queue has doubled; the window would be less than one. Two are left, and the
    /// threshold of one becomes two.
    #[test]
    fn two_segments_are_left_whatever_the_queue_is() {
        let ms = Duration::from_millis;
        let mut c = Wvegas::new(*first_of("wvegas", &[(4.0, 400)]).0.window(), OPTIONS);
        c.least_queueing = Some(ms(1));
        let mut paths = rows(&[(4.0, 400), (10.0, 100)]);
        paths[1].vegas_rate = 1e9;
        c.on_round(&AckSample::default(), ms(400), ms(40), &paths, 0);
        assert_eq!((c.window.cwnd / MSS, c.window.ssthresh / MSS), (2.0, 2.0));
    }

    /// Two samples of a round trip say nothing of the queue: as NewReno, nothing is published. Three do.
    #[test]
    fn a_round_of_two_samples_is_newrenos() {
        assert_eq!(round(2.0, 1.0, (40, 400), 0.5, 0.0).window.vegas_rate, 0.0);
        assert!(round(3.0, 1.0, (40, 400), 0.5, 0.0).window.vegas_rate > 0.0);
    }

    #[test]
    fn a_loss_halves_and_withdraws_the_rate() {
        close(after_loss("wvegas", &[(20.0, 50)]), 10.0);
        let mut c = round(60.0, 2.0, (40, 48), 2.0, 0.0);
        assert!(c.window.vegas_rate > 0.0);
        let cause = super::super::Cause::FastRetransmit;
        let now = crate::time::Instant::ZERO;
        c.on_congestion(&Congestion { now, cause, flight_size: 60_000, repeated: false, nested: false }, &[], 0);
        assert_eq!((c.window.vegas_rate, c.open), (0.0, false));
        c.on_ack(&AckSample { growth: 1000, ..AckSample::default() }, &rows(&[(30.0, 48)]), 0);
        assert_eq!((c.alpha, c.open, c.base), (2.0, true, Some(Duration::from_millis(40))));
    }
}
