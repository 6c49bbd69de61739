//! The application's CLOSE, and abortive ends: resets of one subflow with a reason (RFC 8684 3.6), and of the whole connection
//! (3.5).
//!
//! After CLOSE the application does not read either (RFC 9293 3.6.1). Unread data is lost to the peer, so the whole connection is
//! reset to tell it (RFC 1122 4.2.2.13).
//!
//! A connection is ended at once in one of two ways. [`Connection::abort`] resets every subflow with MP_FASTCLOSE and deletes the
//! connection (option R). [`Connection::fast_close`] sends MP_FASTCLOSE on an acknowledgement of one subflow, resets the others,
//! and waits for the peer's RST (option A).

use super::{Connection, Outgoing};
use crate::event::{EndReason, Event, SubflowId};
use crate::mptcp::handshake::{FastClose, Keys};
use crate::mptcp::negotiation::{FASTCLOSE_RETRIES, Mode};
use crate::mptcp::timers::Timer;
use crate::segment::{Mptcp, ResetReason, Signal, TcpRst};
use crate::tcp::subflow::State;
use crate::time::Instant;

/// What CLOSE does with our data that is not delivered yet: the socket option SO_LINGER.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linger {
    /// Deliver the data after the call.
    Deliver,
    /// Discard the data and abort the connection: a linger time of zero.
    Abort,
}

/// A reset with this reason: trying again would not help.
pub(super) fn permanent(reason: ResetReason) -> Option<TcpRst> {
    Some(TcpRst { transient: false, reason })
}

impl Connection {
    /// CLOSE (RFC 9293 3.10.4): the application will neither write nor read any more. A connection that the peer has not answered
    /// is deleted. Written data is delivered, unless `linger` says otherwise. If unread data is waiting, or arrives later, the
    /// connection is reset and [`Event::Aborted`] follows.
    pub fn close(&mut self, linger: Linger) {
        if self.negotiation.is_over() {
            return;
        }
        if self.paths.active().all(|(s, _)| s.state == State::SynSent) {
            self.abort();
            self.events.push_back(Event::Closed);
        } else if linger == Linger::Abort {
            self.abort();
        } else if self.inbound().readable() > 0 {
            // RFC 1122 4.2.2.13: "its TCP SHOULD send a RST to show that data was lost".
            self.abort();
            self.events.push_back(Event::Aborted(EndReason::Unread));
        } else {
            self.shutdown_write();
            self.recv.abandon(&mut self.fast);
        }
    }

    /// Ends `id` with a RST, unless the peer has never heard of the subflow or expects its end anyway (RFC 9293 3.10.5).
    pub(super) fn reset(&mut self, id: SubflowId, end: EndReason, signal: Signal, tcp_rst: Option<TcpRst>) {
        self.paths.send_reset(id, signal, tcp_rst);
        self.paths.subflows[id].end(end);
        self.on_subflow_end(id, end);
    }

    /// Ends the connection at once (RFC 9293 3.10.5): a RST with MP_FASTCLOSE (RFC 8684 3.5, option R) on every subflow that the
    /// peer has answered and not closed.
    pub fn abort(&mut self) {
        let signal = match *self.negotiation.mode() {
            Mode::Mptcp(k) => Signal::Fastclose { key: k.peer },
            _ => Signal::None,
        };
        self.paths.removal_due = true;
        for k in 0..self.paths.active.len() {
            let id = self.paths.active[k];
            if self.paths.subflows[id].state != State::Closed {
                self.paths.send_reset(id, signal, None);
                self.paths.subflows[id].end(EndReason::Reset);
                self.paths.end(id, &mut self.fast);
            }
        }
        self.negotiation.end_fast_close(&mut self.timers);
        self.negotiation.end(&mut self.fast);
        self.sending().1.stop_timers();
    }

    /// Ends the connection at once, with confirmation (RFC 8684 3.5, option A): MP_FASTCLOSE on an acknowledgement of one
    /// subflow, repeated until the peer resets that subflow, and a RST on the others. In plain TCP, or without a working subflow,
    /// like [`Connection::abort`].
    pub fn fast_close(&mut self) {
        let Some(id) =
            self.paths.ready_subflow().filter(|_| self.negotiation.is_multipath() && !self.negotiation.is_over())
        else {
            self.abort();
            return;
        };
        self.negotiation.end(&mut self.fast);
        self.sending().1.stop_timers();
        for k in 0..self.paths.active.len() {
            let other = self.paths.active[k];
            if other != id && self.paths.subflows[other].state != State::Closed {
                self.reset(other, EndReason::FastClosed, Signal::None, None);
            }
        }
        self.paths.subflows[id].stop();
        self.negotiation.begin_fast_close(id, &mut self.fast);
        self.timers.set(Timer::FastClose, Instant::ZERO);
    }

    /// FASTCLOSE_WAIT: the RSTs of the other subflows, and MP_FASTCLOSE on an acknowledgement, for
    /// the first time or repeated.
    pub(super) fn poll_fast_close(&mut self, now: Instant) -> Option<Outgoing> {
        let reset = self.composing().poll_resets(now);
        if reset.is_some() {
            return reset;
        }
        let (Mode::Mptcp(k), Some(FastClose { subflow, sent })) =
            (*self.negotiation.mode(), self.negotiation.fast_close())
        else {
            return None;
        };
        if !self.timers.has_expired(Timer::FastClose, now) || sent > FASTCLOSE_RETRIES {
            return None;
        }
        // 3.5: repeat after one RTO.
        self.timers.set(Timer::FastClose, now + self.paths.subflows[subflow].rto());
        self.negotiation.fast_close_sent();
        Some(self.composing().signalling(now, subflow, Mptcp::None, Signal::Fastclose { key: k.peer }))
    }

    /// 3.5: the peer closes the whole connection: reset every subflow. Without our key the signal is ignored.
    pub(super) fn take_fastclose(&mut self, by: SubflowId, k: &Keys, key: u64) {
        if key != k.own || (self.negotiation.is_over() && self.negotiation.fast_close().is_none()) {
            return;
        }
        let ours = self.negotiation.end_fast_close(&mut self.timers);
        self.negotiation.end(&mut self.fast);
        self.sending().1.stop_timers();
        let explains = self.config.deviations.reason_after_fast_close;
        // The subflow that carried the signal comes first. It may already have ended.
        let mut all = self.paths.active.clone();
        all.sort_by_key(|&id| id != by);
        for id in all {
            if self.paths.subflows[id].state != State::Closed {
                let tcp_rst = TcpRst { transient: false, reason: ResetReason::UNSPECIFIED };
                self.reset(id, EndReason::FastClosed, Signal::None, explains.then_some(tcp_rst));
            }
        }
        if !ours {
            self.events.push_back(Event::Aborted(EndReason::FastClosed));
        }
    }
}
