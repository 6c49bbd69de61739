//! The application's CLOSE, and ends that are not orderly: resets of one subflow with their reason (RFC 8684 3.6), and of the
//! whole connection at once (3.5).
//!
//! CLOSE is of an application that will not read either (RFC 9293 3.6.1). Data that nobody will read are lost to the peer, which a
//! reset tells it (RFC 1122 4.2.2.13), of the whole connection.
//!
//! A connection is closed at once in one of two ways. [`Connection::abort`] resets every subflow with MP_FASTCLOSE and forgets
//! the connection (option R). [`Connection::fast_close`] sends MP_FASTCLOSE on an acknowledgement of one subflow, resets the
//! others, and waits for the peer's reset (option A).

use super::*;

/// 3.5: "a RECOMMENDED number is 3".
const FASTCLOSE_RETRIES: u32 = 3;

/// FASTCLOSE_WAIT: MP_FASTCLOSE is out on a subflow.
#[derive(Clone, Copy, Debug)]
pub(super) struct FastClose {
    pub subflow: SubflowId,
    pub at: Instant,
    pub sent: u32,
}

/// What CLOSE does about our data that are not delivered yet: the socket option SO_LINGER.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linger {
    /// They are delivered after the call.
    Deliver,
    /// They are lost, the connection is aborted: a linger time of zero.
    Abort,
}

impl Connection {
    /// CLOSE (RFC 9293 3.10.4): nothing more will be written or read. A connection that the peer has not answered is deleted. What
    /// was written is delivered, unless `linger` says otherwise. Where data wait to be read, or come later, the connection is
    /// reset and [`Event::Aborted`] follows.
    pub fn close(&mut self, linger: Linger) {
        self.disturb();
        if self.closed {
            return;
        }
        if self.paths.active().all(|(s, _)| s.state == State::SynSent) {
            self.abort();
            self.events.push_back(Event::Closed);
        } else if linger == Linger::Abort {
            self.abort();
        } else if self.readable() > 0 {
            self.abort_unread();
        } else {
            self.shutdown_write();
            self.read_closed = true;
        }
    }

    /// RFC 1122 4.2.2.13: "its TCP SHOULD send a RST to show that data was lost".
    pub(super) fn abort_unread(&mut self) {
        self.abort();
        self.events.push_back(Event::Aborted(EndReason::Unread));
    }

    /// Ends `id` with a RST, if the peer has heard of it and does not wait for its end anyway (RFC 9293 3.10.5).
    pub(super) fn reset(&mut self, id: SubflowId, end: EndReason, signal: Signal, tcp_rst: Option<TcpRst>) {
        self.send_reset(id, signal, tcp_rst);
        self.paths.subflows[id].end(end);
        self.on_subflow_end(id, end);
    }

    fn send_reset(&mut self, id: SubflowId, signal: Signal, tcp_rst: Option<TcpRst>) {
        let s = &mut self.paths.subflows[id];
        if matches!(s.state, State::Closed | State::SynSent | State::Closing | State::LastAck | State::TimeWait) {
            return;
        }
        let flags = Flags::RST.with(Flags::ACK);
        let (seq, ack) = (s.sender.nxt.wire(), s.receiver.rcv_nxt.wire());
        let options = Options { signal, tcp_rst, ..Options::default() };
        s.set_reset(Segment { seq, ack, flags, options, ..Segment::default() });
    }

    /// RFC 8684 3.2: a join that does not authenticate is reset, without any other effect.
    pub(super) fn refuse(&mut self, id: SubflowId, reason: ResetReason) {
        self.reset(id, EndReason::Refused, Signal::None, Some(TcpRst { transient: false, reason }));
    }

    /// Ends the connection at once: a RST on every subflow (RFC 9293 3.10.5) that the peer has answered and not closed, with
    /// MP_FASTCLOSE (RFC 8684 3.5, option R).
    pub fn abort(&mut self) {
        self.disturb();
        let signal = match self.mode {
            Mode::Mptcp(k) => Signal::Fastclose { key: k.peer },
            _ => Signal::None,
        };
        self.paths.removal_due = true;
        for k in 0..self.paths.active.len() {
            let id = self.paths.active[k];
            if self.paths.subflows[id].state != State::Closed {
                self.send_reset(id, signal, None);
                self.paths.subflows[id].end(EndReason::Reset);
            }
        }
        self.fast_close = None;
        self.end_timers();
    }

    /// The connection is over: nothing more is asked, repeated or waited for.
    pub(super) fn end_timers(&mut self) {
        self.closed = true;
        self.persist_at = None;
        self.orphaned_until = None;
        self.data_timer = None;
        self.paths.members.iter_mut().for_each(|m| m.suspicion = None);
    }

    /// Ends the connection at once, with an answer (RFC 8684 3.5, option A): MP_FASTCLOSE on an acknowledgement of one subflow,
    /// a RST on the others; repeated until the peer resets the one. Without a subflow that works, and in plain TCP, as
    /// [`Connection::abort`].
    pub fn fast_close(&mut self) {
        self.disturb();
        let Some(id) = self.ready_subflow().filter(|_| matches!(self.mode, Mode::Mptcp(_)) && !self.closed) else {
            self.abort();
            return;
        };
        self.end_timers();
        for k in 0..self.paths.active.len() {
            let other = self.paths.active[k];
            if other != id && self.paths.subflows[other].state != State::Closed {
                self.reset(other, EndReason::FastClosed, Signal::None, None);
            }
        }
        self.paths.subflows[id].stop();
        self.fast_close = Some(FastClose { subflow: id, at: Instant::ZERO, sent: 0 });
    }

    /// MP_FASTCLOSE on an acknowledgement, first or again.
    pub(super) fn poll_fast_close(&mut self, now: Instant) -> Option<(SubflowId, Segment)> {
        let (Mode::Mptcp(k), Some(FastClose { subflow, at, sent })) = (self.mode, self.fast_close) else { return None };
        if at > now || sent > FASTCLOSE_RETRIES {
            return None;
        }
        // 3.5: again after one retransmission timeout.
        let at = now + self.paths.subflows[subflow].rto();
        self.fast_close = Some(FastClose { subflow, at, sent: sent + 1 });
        Some((subflow, self.signalling(now, subflow, Mptcp::None, Signal::Fastclose { key: k.peer })))
    }

    /// 3.5: no answer to any: a RST with MP_FASTCLOSE, for the middleboxes.
    pub(super) fn end_fast_close(&mut self, now: Instant) {
        let (Mode::Mptcp(k), Some(FastClose { subflow, at, sent })) = (self.mode, self.fast_close) else { return };
        if at <= now && sent > FASTCLOSE_RETRIES {
            self.fast_close = None;
            self.reset(subflow, EndReason::FastClosed, Signal::Fastclose { key: k.peer }, None);
        }
    }

    /// 3.5: the peer closes the whole connection: every subflow is reset. Without our key it means nothing.
    pub(super) fn take_fastclose(&mut self, by: SubflowId, k: &Keys, key: u64) {
        if key != k.own || (self.closed && self.fast_close.is_none()) {
            return;
        }
        let ours = self.fast_close.take().is_some();
        self.end_timers();
        // The subflow it came by first; it may have ended with it.
        let mut all = self.paths.active.clone();
        all.sort_by_key(|&id| id != by);
        for id in all {
            if self.paths.subflows[id].state != State::Closed {
                self.reset(id, EndReason::FastClosed, Signal::None, None);
            }
        }
        if !ours {
            self.events.push_back(Event::Aborted(EndReason::FastClosed));
        }
    }
}
