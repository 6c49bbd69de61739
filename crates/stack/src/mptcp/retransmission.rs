//! Data-level retransmission (RFC 8684 3.3.6): when the oldest data without a DATA_ACK is sent
//! again, and how much of it. `connection/retransmit.rs` says why.

use super::timers::{Timer, Timers};
use crate::time::{Duration, Instant};

/// Doublings of the interval between data-level retransmissions.
const BACKOFF: u32 = 6;

/// Data-level retransmission in progress: the oldest data without a DATA_ACK is sent again when
/// [`Timer::Data`] expires.
#[derive(Clone, Copy, Debug)]
pub(super) struct Retransmission {
    tries: u32,
    una: u64,
    /// Length of the next retransmission in segments.
    segments: u32,
    /// End of the last retransmission.
    end: u64,
}

impl Retransmission {
    /// Starts, keeps or moves [`Timer::Data`]; `una` is the oldest octet without a DATA_ACK. The
    /// first retransmission follows after `patience`.
    pub fn arm(state: &mut Option<Self>, una: u64, now: Instant, patience: Duration, timers: &mut Timers) {
        let first = Self { tries: 0, una, segments: 1, end: 0 };
        let (at, next) = match *state {
            None => (now + patience, first),
            // The retransmission advanced the DATA_ACK.
            Some(r) if r.tries > 0 && r.una < una => {
                let segments = if r.end == una { r.segments.saturating_mul(2) } else { 1 };
                (now, Self { segments, ..first })
            }
            Some(r) if r.una < una => (now + patience, first),
            Some(_) if timers.runs(Timer::Data) => return,
            Some(r) => {
                let backoff = patience.saturating_mul(1 << r.tries.min(BACKOFF));
                (now + backoff, Self { segments: 1, ..r })
            }
        };
        *state = Some(next);
        timers.set(Timer::Data, at);
    }

    /// The end of the next retransmission, which begins at `una` and ends at `limit` at the latest;
    /// `None` after `most` retransmissions.
    pub fn next_end(&mut self, mss: u32, most: u32, una: u64, limit: u64) -> Option<u64> {
        self.tries += 1;
        let octets = u64::from(self.segments) * u64::from(mss);
        self.end = (una + octets).min(limit);
        (self.tries <= most).then_some(self.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// If the DATA_ACK moves exactly to the end of a retransmission, the data after it is lost,
    /// too: the next retransmission is twice as long and starts at once.
    #[test]
    fn a_retransmission_grows_while_each_one_fills_a_gap() {
        let (mut state, mut timers) = (None, Timers::default());
        let arm = |state: &mut Option<Retransmission>, una, now, timers: &mut Timers| {
            Retransmission::arm(state, una, Instant(now), Duration(9), timers);
            timers.at(Timer::Data)
        };
        assert_eq!(arm(&mut state, 0, 0, &mut timers), Instant(9));
        assert_eq!(arm(&mut state, 0, 5, &mut timers), Instant(9), "the timer runs");
        timers.stop(Timer::Data);
        assert_eq!(state.as_mut().unwrap().next_end(10, 3, 0, 100), Some(10));
        assert_eq!(arm(&mut state, 0, 9, &mut timers), Instant(9 + 2 * 9), "the interval doubles");
        assert_eq!(arm(&mut state, 10, 20, &mut timers), Instant(20));
        let r = state.as_mut().unwrap();
        assert_eq!((r.next_end(10, 2, 10, 100), r.next_end(10, 2, 10, 25)), (Some(30), Some(25)));
        assert_eq!(r.next_end(10, 2, 10, 100), None, "two are the limit");
    }
}
