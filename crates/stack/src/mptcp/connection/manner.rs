//! What the application may change of a connection's manner at run time: when small segments leave, and how long it has patience.

use super::Connection;
use crate::config::KeepAlive;
use crate::mptcp::timers::Timer;
use crate::time::{Duration, Instant};

/// What the application may change at run time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Setting {
    /// Switches Nagle's algorithm off (`true`) or on (RFC 9293 3.7.4: "MUST be a way for an
    /// application to disable the Nagle algorithm on an individual connection"). What is written
    /// already leaves at once when it is switched off, even if the connection is corked.
    NoDelay(bool),
    /// While `true`, a segment that is not full-sized waits for more data or for the end of the
    /// cork, whatever [`Setting::NoDelay`] says. It does not wait if nothing can follow it (after
    /// [`Connection::shutdown_write`]), nor, with nothing in flight, for longer than a
    /// retransmission timeout: that is the override timeout of RFC 9293 3.8.6.2.1. Afterwards what
    /// is left goes by Nagle's algorithm.
    Cork(bool),
    /// Sets [`user_timeout`](crate::config::Config::user_timeout). If data is unacknowledged, the
    /// timeout starts anew.
    UserTimeout(Option<Duration>),
    /// Sets [`syn_retries`](crate::config::Config::syn_retries). The new limit also
    /// counts the SYNs that were retransmitted before the change.
    SynRetries(Option<u32>),
    /// Sets [`keepalive`](crate::config::Config::keepalive). The idle time of every subflow starts
    /// anew.
    KeepAlive(Option<KeepAlive>),
}

impl Connection {
    /// Changes a setting at `now`.
    pub fn set(&mut self, now: Instant, setting: Setting) {
        match setting {
            Setting::NoDelay(on) => {
                self.config.nagle = !on;
                self.distribution.cork_mut().push(if on { self.send.written() } else { 0 }, &mut self.fast);
            }
            Setting::Cork(on) => {
                self.distribution.cork_mut().set(on, &mut self.fast);
                if !on {
                    self.timers.stop(Timer::Persist);
                    if !self.config.nagle {
                        self.distribution.cork_mut().push(self.send.written(), &mut self.fast);
                    }
                }
            }
            Setting::UserTimeout(timeout) => {
                self.config.user_timeout = timeout;
                self.liveness.configure(&self.config, true, &mut self.fast);
                self.watch(now);
            }
            Setting::SynRetries(most) => self.config.syn_retries = most,
            Setting::KeepAlive(keepalive) => {
                self.config.keepalive = keepalive;
                self.liveness.configure(&self.config, false, &mut self.fast);
                self.paths.restart_keepalives(now, &mut self.fast);
                self.watch(now);
            }
        }
    }
}
