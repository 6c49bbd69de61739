//! How long the connection waits for a peer that is silent: the user timeout, and keep-alives.
//!
//! The *user timeout* (RFC 9293 3.10.8, RFC 5482 1) is the connection's: with several subflows it lives as long as one of them delivers.
//! It runs while something sent is not acknowledged at data level (data, the SYN, the FIN), window probes included (RFC 6429 3: an
//! application may end a connection whose peer keeps its window closed), and starts again whenever an acknowledgement advances.
//!
//! *Keep-alives* (RFC 9293 3.8.4) are a subflow's. They are sent only if nothing is outstanding there and nothing has arrived for a time
//! (MUST-26), without data (SHLD-12). A subflow on which several of them remain unanswered is reset.
//!
//! All of this costs only a connection that asks for it: header prediction is off there, so that every segment passes here.

use super::{Connection, Outgoing};
use crate::config::Config;
use crate::event::{EndReason, SubflowId};
use crate::mptcp::negotiation::Mode;
use crate::mptcp::send_stream::Fin;
use crate::mptcp::timers::Timer;
use crate::segment::Signal;
use crate::tcp::subflow::State;
use crate::time::Instant;

/// Something sent waits for its acknowledgement.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    since: Instant,
    /// How far the acknowledgements had come.
    mark: (u64, bool),
}

/// Whether anybody asks for a user timeout or for keep-alives, and what the former waits for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Patience {
    pub on: bool,
    waiting: Option<Waiting>,
}

impl Patience {
    pub fn of(config: &Config) -> Self {
        Self { on: config.user_timeout.is_some() || config.keepalive.is_some(), waiting: None }
    }
}

impl Connection {
    /// Something was sent, acknowledged, or set.
    pub(super) fn watch(&mut self, now: Instant) {
        self.manner.patience.on = Patience::of(&self.config).on;
        if self.config.user_timeout.is_none() || self.closed || !self.is_owed_an_answer() {
            self.manner.patience.waiting = None;
            return;
        }
        let mark = (self.send.una(), self.paths.is_handshaking());
        if self.manner.patience.waiting.is_none_or(|w| w.mark != mark) {
            self.manner.patience.waiting = Some(Waiting { since: now, mark });
        }
    }

    /// Something sent is not acknowledged: data, the SYN of the connection, or the end of the stream.
    fn is_owed_an_answer(&self) -> bool {
        let ending = match *self.negotiation.mode() {
            Mode::Tcp => {
                let state = self.paths.subflows[self.plain.subflow].state;
                matches!(state, State::FinWait1 | State::Closing | State::LastAck)
            }
            _ => matches!(self.send.fin(), Fin::Sent { .. }),
        };
        let s = &self.paths.subflows[0];
        let syn = self.paths.is_handshaking() && s.sender.nxt > s.iss;
        self.send.una() < self.send.nxt() || ending || syn
    }

    /// Retransmissions are not counted on a connection's last subflow if there is a user timeout: that says when to give up.
    pub(super) fn has_patience(&self) -> bool {
        self.config.user_timeout.is_some() && self.paths.active().filter(|(s, _)| s.state != State::Closed).count() <= 1
    }

    /// When the user timeout expires, or a keep-alive or the end of their patience is due.
    pub(super) fn watch_deadline(&self) -> Instant {
        let mut first = match (self.manner.patience.waiting, self.config.user_timeout) {
            (Some(waiting), Some(timeout)) => waiting.since + timeout,
            _ => Instant::FAR_FUTURE,
        };
        for (s, _) in self.paths.active() {
            first = first.min(self.keepalive_at(s.id).unwrap_or(Instant::FAR_FUTURE));
        }
        first
    }

    /// When the next keep-alive on `id` is due; `None` if it sends none now. MUST-26: none while something is outstanding, nor while
    /// a closed window is probed.
    fn keepalive_at(&self, id: SubflowId) -> Option<Instant> {
        let keep = self.config.keepalive?;
        let (s, m) = (&self.paths.subflows[id], &self.paths.members[id]);
        let probing = self.timers.runs(Timer::Persist) && self.paths.active.len() == 1;
        let may = m.ready && s.is_open() && s.state != State::TimeWait && s.sender.board.is_empty();
        if !may || probing || self.closed || self.fast_close.is_some() {
            return None;
        }
        Some(if m.keepalives == 0 { m.heard + keep.idle } else { m.keepalive_sent + keep.interval })
    }

    /// Keep-alives on `id` have been sent in vain, and the last one's interval is over. With a user timeout that decides how long the
    /// silence may last.
    fn is_given_up(&self, now: Instant, id: SubflowId) -> bool {
        let (Some(keep), m) = (self.config.keepalive, &self.paths.members[id]) else { return false };
        match self.config.user_timeout {
            Some(timeout) if self.has_patience() => m.keepalives > 0 && now.since(m.heard) >= timeout,
            _ => m.keepalives >= keep.probes,
        }
    }

    /// A keep-alive, if one is due (RFC 9293 3.8.4).
    pub(super) fn poll_keepalives(&mut self, now: Instant) -> Option<Outgoing> {
        let due = |&&id: &&SubflowId| self.keepalive_at(id).is_some_and(|at| at <= now) && !self.is_given_up(now, id);
        let id = *self.paths.active.iter().find(due)?;
        let m = &mut self.paths.members[id];
        m.keepalives = m.keepalives.saturating_add(1);
        m.keepalive_sent = now;
        let window = self.window(id);
        self.out = self.paths.subflows[id].make_keepalive(now, window);
        Some(self.complete(id, self.control_option(id), Signal::None))
    }

    /// Runs what is due: the user timeout, and the end of subflows whose peer does not answer keep-alives.
    pub(super) fn on_watch_timer(&mut self, now: Instant) {
        if let (Some(waiting), Some(timeout)) = (self.manner.patience.waiting, self.config.user_timeout) {
            if waiting.since + timeout <= now && !self.closed {
                // RFC 9293 3.10.8: "connection aborted due to user timeout".
                self.manner.patience.waiting = None;
                return self.give_up();
            }
        }
        for k in 0..self.paths.active.len() {
            let id = self.paths.active[k];
            if self.keepalive_at(id).is_some_and(|at| at <= now) && self.is_given_up(now, id) {
                self.reset(id, EndReason::TimedOut, Signal::None, None);
            }
        }
    }
}
