//! All timers of a connection in one table. The timers of a subflow are in `tcp`.

use super::fast_path::FastPath;
use crate::time::Instant;

/// A timer of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timer {
    /// A window probe is due (RFC 9293 3.8.6.1), or the override timeout of a corked segment
    /// passes.
    Persist,
    /// The scheduler has asked to wait; it is asked again.
    Schedule,
    /// Pacing permits the next segment.
    Pacing,
    /// The oldest data without a DATA_ACK is retransmitted.
    Data,
    /// The subflows that make no progress are counted, as Linux does.
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
    /// The driver says that time has passed: any timer may have expired.
    pub fn wake(&self, fast: &mut FastPath) {
        fast.invalidate();
    }

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

    /// Returns true if the timer runs.
    #[inline(always)]
    pub fn runs(&self, timer: Timer) -> bool {
        self.0[timer as usize] < Instant::FAR_FUTURE
    }

    /// Returns true if the timer runs and its time has come at `now`.
    #[inline(always)]
    pub fn has_expired(&self, timer: Timer, now: Instant) -> bool {
        // A stopped timer has the time FAR_FUTURE, which is no deadline even if `now` is
        // FAR_FUTURE.
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

    /// Returns the earliest time of all running timers except [`Timer::DataFin`], which counts only
    /// while a subflow can carry the DATA_FIN; [`Instant::FAR_FUTURE`] if no timer runs.
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
