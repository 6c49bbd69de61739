//! The user timeout: how long a connection waits for a silent peer (RFC 9293 3.10.8, RFC 5482 1).
//!
//! The timeout belongs to the connection: with several subflows the connection lives as long as one
//! of them delivers. The timeout runs while something that was sent is not acknowledged at data
//! level (data, the SYN, the FIN), window probes included (RFC 6429 3: an application may end a
//! connection whose peer keeps its window closed). It starts again whenever an acknowledgement
//! advances.

use super::fast_path::FastPath;
use crate::config::Config;
use crate::time::{Duration, Instant};

/// Progress of the peer: the DATA_ACK, and whether the first handshake is still open.
pub(crate) type Mark = (u64, bool);

/// Data, a SYN or a FIN is unacknowledged.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    since: Instant,
    mark: Mark,
}

/// The user timeout of a connection, and whether short paths must be off because of it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Liveness {
    on: bool,
    waiting: Option<Waiting>,
}

impl Liveness {
    /// Nothing was sent yet.
    pub fn new(config: &Config) -> Self {
        Self { on: config.user_timeout.is_some() || config.keepalive.is_some(), waiting: None }
    }

    /// The user timeout or the keep-alives of `config` have changed. With `restart`, the user
    /// timeout counts from now on.
    pub fn configure(&mut self, config: &Config, restart: bool, fast: &mut FastPath) {
        fast.invalidate();
        let waiting = self.waiting.filter(|_| !restart);
        *self = Self { waiting, ..Self::new(config) };
    }

    /// Returns true if the connection has a user timeout or keep-alives: every segment then passes
    /// the general path.
    #[inline(always)]
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// Starts the timeout again if an acknowledgement has advanced. `owed`: how far the
    /// acknowledgements have come; `None` if nothing waits for one, or there is no user timeout.
    pub fn watch(&mut self, now: Instant, owed: Option<Mark>) {
        let same = self.waiting.filter(|w| Some(w.mark) == owed);
        self.waiting = same.or(owed.map(|mark| Waiting { since: now, mark }));
    }

    /// When a user timeout of this length expires; [`Instant::FAR_FUTURE`] if it does not run.
    pub fn deadline(&self, timeout: Option<Duration>) -> Instant {
        match (self.waiting, timeout) {
            (Some(waiting), Some(timeout)) => waiting.since + timeout,
            _ => Instant::FAR_FUTURE,
        }
    }

    /// Stops the user timeout if it has expired at `now`. Returns whether it had.
    pub fn take_expired(&mut self, now: Instant, timeout: Option<Duration>) -> bool {
        let at = self.deadline(timeout);
        let expired = at < Instant::FAR_FUTURE && at <= now;
        if expired {
            self.waiting = None;
        }
        expired
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timeout_starts_again_when_an_acknowledgement_advances() {
        let mut l = Liveness::default();
        let timeout = Some(Duration(100));
        l.watch(Instant(1), Some((0, false)));
        l.watch(Instant(50), Some((0, false)));
        assert_eq!((l.deadline(timeout), l.deadline(None)), (Instant(101), Instant::FAR_FUTURE));
        l.watch(Instant(60), Some((1, false)));
        assert!(!l.take_expired(Instant(159), timeout) && l.take_expired(Instant(160), timeout));
        assert!(!l.take_expired(Instant(160), timeout), "it has stopped");
        l.watch(Instant(200), Some((1, false)));
        l.watch(Instant(210), None);
        assert_eq!(l.deadline(timeout), Instant::FAR_FUTURE);
    }

    #[test]
    fn a_changed_setting_counts_from_now() {
        let config = Config { user_timeout: Some(Duration(100)), ..Config::classic() };
        let (mut l, mut fast) = (Liveness::default(), FastPath::for_tests());
        l.watch(Instant(1), Some((0, false)));
        l.configure(&config, false, &mut fast);
        assert!(l.is_on() && l.deadline(config.user_timeout) == Instant(101));
        l.configure(&config, true, &mut fast);
        assert_eq!(l.deadline(config.user_timeout), Instant::FAR_FUTURE);
    }
}
