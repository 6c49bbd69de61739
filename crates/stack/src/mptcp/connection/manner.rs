//! What the application may change of a connection's manner at run time: when small segments leave, and how long it has patience.

use super::Connection;
use super::info::Spent;
use super::patience::Patience;
use crate::config::{Config, KeepAlive};
use crate::mptcp::handshake::Member;
use crate::mptcp::timers::Timer;
use crate::tcp::subflow::Subflow;
use crate::time::{Duration, Instant};

/// What holds small segments back.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cork {
    pub on: bool,
    /// Up to this data offset they may leave all the same.
    pub pushed_to: u64,
}

/// What the application and the peer have said, and what came of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Manner {
    pub cork: Cork,
    pub patience: Patience,
    pub spent: Spent,
    /// The peer takes no further subflows at its first address (RFC 8684 3.1, flag C).
    pub no_join: bool,
    /// The application has filled the send buffer ([`Reach::Memory`]).
    pub writer_stopped: bool,
    /// Somebody asks how segments leave in bursts ([`Config::counts_bursts`]).
    pub counts_bursts: bool,
}

impl Manner {
    pub fn of(config: &Config) -> Self {
        Self { patience: Patience::of(config), counts_bursts: config.counts_bursts(), ..Self::default() }
    }
}

impl Connection {
    /// Switches Nagle's algorithm off or on (RFC 9293 3.7.4: "MUST be a way for an application to disable the Nagle algorithm on an
    /// individual connection"). What is written already leaves at once when it is switched off, even if the connection is corked.
    pub fn set_no_delay(&mut self, on: bool) {
        self.fast.look_again();
        self.config.nagle = !on;
        if on {
            self.manner.cork.pushed_to = self.send.written();
        }
    }

    /// While `on`, a segment that is not full-sized waits for more data or for the end of the cork, whatever
    /// [`Connection::set_no_delay`] says. It does not wait if nothing can follow it (after [`Connection::shutdown_write`]), nor, with
    /// nothing in flight, for longer than a retransmission timeout: that is the override timeout of RFC 9293 3.8.6.2.1. Afterwards
    /// what is left goes by Nagle's algorithm.
    pub fn set_cork(&mut self, on: bool) {
        self.fast.look_again();
        self.manner.cork.on = on;
        if !on {
            self.timers.stop(Timer::Persist);
            if !self.config.nagle {
                self.manner.cork.pushed_to = self.send.written();
            }
        }
    }

    /// Sets [`Config::user_timeout`]. For what is unacknowledged already it counts from `now`.
    pub fn set_user_timeout(&mut self, now: Instant, timeout: Option<Duration>) {
        self.fast.invalidate();
        self.config.user_timeout = timeout;
        self.manner.patience = Patience::of(&self.config);
        self.watch(now);
    }

    /// Sets [`Config::syn_retries`]. Those that went out before count.
    pub fn set_syn_retries(&mut self, most: Option<u32>) {
        self.config.syn_retries = most;
    }

    /// Sets [`Config::keepalive`]. What was silence before `now` does not count.
    pub fn set_keepalive(&mut self, now: Instant, keepalive: Option<KeepAlive>) {
        self.fast.invalidate();
        self.config.keepalive = keepalive;
        for m in &mut self.paths.members {
            (m.heard, m.keepalives) = (now, 0);
        }
        self.watch(now);
    }

    /// Nothing holds back less than a full segment: nothing is unacknowledged (`idle`), or for Linux nothing as small (`tcp_nagle_check`,
    /// after Minshall).
    pub(super) fn passes_nagle(&self, idle: bool) -> bool {
        let has_small = |(s, _): (&Subflow, &Member)| s.sender.has_small();
        idle || (self.config.deviations.minshall && !self.paths.active().any(has_small))
    }

    /// Whether the last octets before `end`, less than a full segment, may leave although more may follow: RFC 9293 3.7.4 if nothing is
    /// unacknowledged (`idle`) or Nagle's algorithm is off; and no cork holds them.
    pub(super) fn may_send_small(&self, end: u64, idle: bool) -> bool {
        end <= self.manner.cork.pushed_to || (!self.manner.cork.on && (idle || !self.config.nagle))
    }

    /// The override timeout has passed for what the cork holds.
    pub(super) fn override_cork(&mut self, now: Instant) {
        if self.manner.cork.on && self.timers.has_expired(Timer::Persist, now) {
            self.manner.cork.pushed_to = self.send.written();
        }
    }
}
