//! HyStart++ (RFC 9406): leaving slow start before the queue overflows.
//!
//! A round is one window of data; its smallest round-trip time is compared with that of the round before. When it has
//! grown by an eighth (at least 4, at most 16 ms), slow start goes on at a quarter of its speed for up to five rounds
//! (conservative slow start), and ends in congestion avoidance unless the round-trip time falls again. Used by CUBIC, as
//! RFC 9438 4.10 recommends: its mild decrease is not enough after an overshoot by half.

use super::{Ack, Window};
use crate::seq::Seq;
use crate::time::Duration;

/// RFC 9406 4.3: constants.
const MIN_RTT_THRESH: Duration = Duration::from_millis(4);
const MAX_RTT_THRESH: Duration = Duration::from_millis(16);
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: f64 = 4.0;
const CSS_ROUNDS: u32 = 5;
/// Segments an ACK may add, without pacing.
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
    /// Conservative slow start: its baseline and the rounds it has lasted.
    css: Option<(Duration, u32)>,
}

impl Default for HyStart {
    fn default() -> Self {
        Self { window_end: Seq(0), last_min: INFINITE, current_min: INFINITE, samples: 0, css: None }
    }
}

impl HyStart {
    /// One acknowledgement in slow start.
    pub fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if ack.snd_una > self.window_end && self.begin_round(ack.snd_nxt) {
            window.ssthresh = window.cwnd;
            return;
        }
        let growth = (ack.acked as f64).min(L * window.mss);
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
            // The queue was a passing one: back to slow start.
            Some((baseline, _)) if self.current_min < baseline => self.css = None,
            Some(_) => {}
        }
    }

    /// 4.2: the round is over, since windowEnd is acknowledged, and with it what was sent before the round began; another begins. True
    /// if it was the last one of conservative slow start (the round it began in counts, too).
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
