//! The timers of a connection in one table. Those of its subflows are in `tcp`.

use crate::time::Instant;

/// A timer of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timer {
    /// A window probe is due (RFC 9293 3.8.6.1), or the override timeout of a corked segment
    /// passes.
    Persist,
    /// The scheduler waits: ask it again.
    Schedule,
    /// Pacing holds data or retransmissions back until then.
    Pacing,
    /// The oldest data without a DATA_ACK is retransmitted.
    Data,
    /// Subflows without progress are counted.
    Idle,
    /// All subflows are closed but the connection is not: it ends (RFC 8684 3.3.3).
    Orphaned,
    /// The DATA_FIN is retransmitted. It needs a subflow to carry it.
    DataFin,
    /// MP_FASTCLOSE is sent, or repeated (RFC 8684 3.5).
    FastClose,
    /// MP_FAIL is repeated (RFC 8684 3.7).
    Fail,
}

/// Number of timers.
const TIMERS: usize = Timer::Fail as usize + 1;

/// When each timer expires; [`Instant::FAR_FUTURE`] if it does not run.
#[derive(Debug)]
pub(crate) struct Timers([Instant; TIMERS]);

impl Default for Timers {
    fn default() -> Self {
        Self([Instant::FAR_FUTURE; TIMERS])
    }
}

impl Timers {
    /// Starts a timer, or moves it.
    #[inline(always)]
    pub fn set(&mut self, timer: Timer, at: Instant) {
        self.0[timer as usize] = at;
    }

    /// Starts a timer, unless it runs and expires earlier.
    #[inline]
    pub fn hasten(&mut self, timer: Timer, at: Instant) {
        let running = &mut self.0[timer as usize];
        *running = at.min(*running);
    }

    /// Stops a timer.
    #[inline(always)]
    pub fn stop(&mut self, timer: Timer) {
        self.set(timer, Instant::FAR_FUTURE);
    }

    /// Stops all timers.
    pub fn stop_all(&mut self) {
        *self = Self::default();
    }

    /// The timer runs.
    #[inline(always)]
    pub fn runs(&self, timer: Timer) -> bool {
        self.0[timer as usize] < Instant::FAR_FUTURE
    }

    /// The timer has expired at `now` and was not stopped.
    #[inline(always)]
    pub fn has_expired(&self, timer: Timer, now: Instant) -> bool {
        // Without a timer nothing is due at the end of time.
        self.runs(timer) && self.0[timer as usize] <= now
    }

    /// Stops a timer that has expired at `now`. Returns whether it had.
    #[inline(always)]
    pub fn take_expired(&mut self, timer: Timer, now: Instant) -> bool {
        let expired = self.has_expired(timer, now);
        if expired {
            self.stop(timer);
        }
        expired
    }

    /// When `timer` expires; [`Instant::FAR_FUTURE`] if it does not run.
    #[inline]
    pub fn at(&self, timer: Timer) -> Instant {
        self.0[timer as usize]
    }

    /// When the first timer expires, without that of the DATA_FIN, which waits for a subflow;
    /// [`Instant::FAR_FUTURE`] if none runs.
    #[inline(always)]
    pub fn next(&self) -> Instant {
        let others = self.0.iter().enumerate().filter(|&(i, _)| i != Timer::DataFin as usize);
        others.map(|(_, &at)| at).fold(Instant::FAR_FUTURE, Instant::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_timer_is_next_and_the_data_fin_waits() {
        let mut timers = Timers::default();
        assert_eq!(timers.next(), Instant::FAR_FUTURE);
        timers.set(Timer::Persist, Instant(30));
        timers.set(Timer::Fail, Instant(20));
        timers.set(Timer::DataFin, Instant(10));
        assert_eq!((timers.next(), timers.at(Timer::DataFin)), (Instant(20), Instant(10)));
        timers.stop(Timer::Fail);
        assert_eq!(timers.next(), Instant(30));
        timers.stop_all();
        assert!(!timers.runs(Timer::Persist) && timers.next() == Instant::FAR_FUTURE);
    }

    #[test]
    fn a_timer_expires_at_its_time_and_is_taken_once() {
        let mut timers = Timers::default();
        timers.hasten(Timer::Pacing, Instant(20));
        timers.hasten(Timer::Pacing, Instant(30));
        assert!(!timers.take_expired(Timer::Pacing, Instant(19)));
        assert!(timers.take_expired(Timer::Pacing, Instant(20)));
        assert!(!timers.has_expired(Timer::Pacing, Instant::FAR_FUTURE));
    }
}
