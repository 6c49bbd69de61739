//! What the application may change of a connection's manner at run time: when small segments leave, and how long it has patience.

use super::*;
use crate::config::KeepAlive;

impl Connection {
    /// Switches Nagle's algorithm off or on (RFC 9293 3.7.4: "MUST be a way for an application to disable the Nagle algorithm on an
    /// individual connection"). What is written already leaves at once when it is switched off, even if the connection is corked.
    pub fn set_no_delay(&mut self, on: bool) {
        self.unsettle();
        self.config.nagle = !on;
        if on {
            self.pushed_to = self.written;
        }
    }

    /// While `on`, a segment that is not full-sized waits for more data or for the end of the cork, whatever
    /// [`Connection::set_no_delay`] says. It does not wait if nothing can follow it (after [`Connection::shutdown_write`]), nor, with
    /// nothing in flight, for longer than a retransmission timeout: that is the override timeout of RFC 9293 3.8.6.2.1. Afterwards
    /// what is left goes by Nagle's algorithm.
    pub fn set_cork(&mut self, on: bool) {
        self.unsettle();
        self.corked = on;
        if !on {
            self.persist_at = None;
            if !self.config.nagle {
                self.pushed_to = self.written;
            }
        }
    }

    /// Sets [`Config::user_timeout`]. For what is unacknowledged already it counts from `now`.
    pub fn set_user_timeout(&mut self, now: Instant, timeout: Option<Duration>) {
        self.disturb();
        self.config.user_timeout = timeout;
        self.waiting = None;
        self.watch(now);
    }

    /// Sets [`Config::keepalive`]. What was silence before `now` does not count.
    pub fn set_keepalive(&mut self, now: Instant, keepalive: Option<KeepAlive>) {
        self.disturb();
        self.config.keepalive = keepalive;
        for m in &mut self.paths.members {
            (m.heard, m.keepalives) = (now, 0);
        }
        self.watch(now);
    }

    /// Whether the last octets before `end`, less than a full segment, may leave although more may follow: RFC 9293 3.7.4 if nothing is
    /// unacknowledged (`idle`) or Nagle's algorithm is off; and no cork holds them.
    pub(super) fn may_send_small(&self, end: u64, idle: bool) -> bool {
        end <= self.pushed_to || (!self.corked && (idle || !self.config.nagle))
    }

    /// The override timeout has passed for what the cork holds.
    pub(super) fn override_cork(&mut self, now: Instant) {
        if self.corked && self.persist_at.is_some_and(|at| at <= now) {
            self.pushed_to = self.written;
        }
    }
}
