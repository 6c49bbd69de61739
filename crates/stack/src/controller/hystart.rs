//! HyStart++ (RFC 9406 4.2, 4.3): leaves slow start before the queue overflows.
//!
//! A round is one window of data. Its minimum round-trip time is compared with that of the previous round. If it has grown by an
//! eighth (at least 4 ms, at most 16 ms), slow start continues at a quarter of its speed for up to five rounds (conservative slow
//! start). It then ends in congestion avoidance, unless the round-trip time has decreased again. CUBIC uses it, as RFC 9438 4.10
//! recommends: CUBIC's mild decrease is not enough after an overshoot by half.

use super::{AckSample, Window};
use crate::seq::Seq;
use crate::time::Duration;

/// RFC 9406 4.3: constants.
const MIN_RTT_THRESH: Duration = Duration::from_millis(4);
const MAX_RTT_THRESH: Duration = Duration::from_millis(16);
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: f64 = 4.0;
const CSS_ROUNDS: u32 = 5;
/// Maximum increase per ACK in segments, without pacing.
const L: f64 = 8.0;

const INFINITE: Duration = Duration(u64::MAX);

/// State of one slow start.
#[derive(Clone, Debug)]
pub struct HyStart {
    /// 4.2 windowEnd: SND.NXT at the start of the round.
    window_end: Seq,
    last_min: Duration,
    current_min: Duration,
    samples: u32,
    /// Conservative slow start: its baseline round-trip time, and its rounds so far.
    css: Option<(Duration, u32)>,
}

impl Default for HyStart {
    fn default() -> Self {
        Self { window_end: Seq(0), last_min: INFINITE, current_min: INFINITE, samples: 0, css: None }
    }
}

impl HyStart {
    /// Processes one acknowledgement in slow start.
    pub fn on_ack(&mut self, ack: &AckSample, window: &mut Window) {
        if ack.snd_una > self.window_end && self.begin_round(ack.snd_nxt) {
            window.ssthresh = window.cwnd;
            return;
        }
        let growth = (ack.growth as f64).min(L * window.mss);
        window.cwnd += if self.css.is_some() { growth / CSS_GROWTH_DIVISOR } else { growth };
        window.cwnd = window.cwnd.min(window.ssthresh);
        let Some(rtt) = ack.rtt else { return };
        self.current_min = self.current_min.min(rtt);
        self.samples += 1;
        if self.samples < N_RTT_SAMPLE || self.last_min == INFINITE {
            return;
        }
        match self.css {
            None => {
                let step = Duration(self.last_min.0 / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH);
                if self.current_min >= self.last_min + step {
                    self.css = Some((self.current_min, 0));
                }
            }
            // The queue was transient: back to slow start.
            Some((baseline, _)) if self.current_min < baseline => self.css = None,
            Some(_) => {}
        }
    }

    /// 4.2: windowEnd is acknowledged, so the round is over, and with it all data sent before the round began. The next round
    /// begins. Returns true if this was the last round of conservative slow start; the round in which it began counts too.
    fn begin_round(&mut self, snd_nxt: Seq) -> bool {
        self.window_end = snd_nxt;
        self.last_min = self.current_min;
        self.current_min = INFINITE;
        self.samples = 0;
        self.css.as_mut().is_some_and(|(_, rounds)| {
            *rounds += 1;
            *rounds >= CSS_ROUNDS
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Setup;
    use crate::time::Instant;

    const MSS: u64 = 1000;

    /// A sender that always fills its window.
    struct Bench {
        hystart: HyStart,
        window: Window,
        una: u64,
        nxt: u64,
    }

    impl Bench {
        fn new(segments: u32) -> Self {
            let window = Window::new(&Setup::new(MSS as u32, segments));
            Self { hystart: HyStart::default(), window, una: 0, nxt: MSS * u64::from(segments) }
        }

        /// Acknowledges all outstanding data, one segment at a time, with these round-trip times (the last one repeated). Each
        /// acknowledgement releases new data. Returns the growth in segments.
        fn round(&mut self, ms: &[u64]) -> f64 {
            let (before, end) = (self.window.cwnd, self.nxt);
            let mut n = 0;
            while self.una < end {
                self.una += MSS;
                let rtt = ms[n.min(ms.len() - 1)];
                n += 1;
                let ack = AckSample {
                    // All at the same time: rounds are counted in sequence numbers, not in time.
                    now: Instant(1),
                    growth: MSS,
                    rtt: (rtt > 0).then(|| Duration::from_millis(rtt)),
                    cwnd_limited: true,
                    snd_una: Seq(self.una),
                    snd_nxt: Seq(self.nxt),
                    ..AckSample::default()
                };
                self.hystart.on_ack(&ack, &mut self.window);
                self.nxt = self.una + self.window.octets();
            }
            (self.window.cwnd - before) / MSS as f64
        }
    }

    /// Rounds of 50 ms double the window. Then 58 ms, more than 50 + 50/8: the first eight samples of that round still double it.
    /// The other samples add a quarter, as do the next rounds; slow start ends with the fifth round.
    #[test]
    fn a_longer_round_trip_leads_through_five_slower_rounds_into_avoidance() {
        let mut b = Bench::new(16);
        assert_eq!(b.round(&[50]), 16.0);
        assert_eq!(b.round(&[50]), 32.0);
        assert_eq!(b.round(&[58]), 8.0 + (64.0 - 8.0) / 4.0);
        for _ in 0..3 {
            let cwnd = b.window.cwnd;
            assert!((b.round(&[60]) * 1000.0 / cwnd - 0.25).abs() < 0.02 && b.window.ssthresh.is_infinite());
        }
        b.round(&[60]);
        assert_eq!(b.window.ssthresh, b.window.cwnd);
    }

    /// The round-trip time was long because of a transient queue: below the baseline slow start continues.
    #[test]
    fn a_passing_queue_does_not_end_slow_start() {
        let mut b = Bench::new(16);
        b.round(&[50]);
        b.round(&[50]);
        b.round(&[58]);
        let cwnd = b.window.octets() / MSS;
        let growth = b.round(&[50]);
        // Eight samples decide.
        assert!(growth > cwnd as f64 - 10.0, "{growth} of {cwnd}");
    }

    /// Acknowledgements without a valid sample count for rounds and growth, not for round-trip times.
    #[test]
    fn acknowledgements_without_a_sample_make_rounds_all_the_same() {
        let mut b = Bench::new(16);
        b.round(&[50]);
        assert_eq!(b.round(&[0]), 32.0);
        assert_eq!(b.round(&[58]), 64.0, "there is no round before to compare with");
        assert!(b.round(&[70]) < 64.0);
    }
}
