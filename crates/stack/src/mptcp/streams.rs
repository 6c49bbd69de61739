//! The two directions of the data stream, as a driver sees them. The engine itself calls none of
//! this.

use super::distribution::Distribution;
use super::fast_path::FastPath;
use super::negotiation::Negotiation;
use super::paths::Paths;
use super::recv_stream::RecvStream;
use super::send_stream::{Fin, SendStream};
use crate::config::Config;
use crate::event::{SendBlock, SubflowId};
use crate::time::Instant;

/// Our direction of the data stream: what the application has written, and what has become of it.
/// [`Connection::outbound`](crate::Connection::outbound) gives it.
#[derive(Clone, Copy, Debug)]
pub struct Outbound<'a> {
    pub(super) paths: &'a Paths,
    pub(super) send: &'a SendStream,
    pub(super) distribution: &'a Distribution,
    pub(super) negotiation: &'a Negotiation,
    pub(super) config: &'a Config,
}

impl Outbound<'_> {
    /// Octets that [`Connection::write`](crate::Connection::write) accepts now: the room in the
    /// send buffer, or 0 if the connection has ended (RFC 9293 3.10.2).
    #[inline]
    pub(super) fn writable(&self) -> u64 {
        if self.negotiation.is_over() {
            return 0;
        }
        self.distribution.writable(self.paths, self.send, self.config, self.negotiation.is_multipath())
    }

    /// Octets of our stream that the peer has acknowledged at data level.
    #[inline]
    pub fn acknowledged(&self) -> u64 {
        self.send.una()
    }

    /// Octets written and not yet acknowledged at data level.
    #[inline]
    pub fn unacknowledged(&self) -> u64 {
        self.send.unacknowledged()
    }

    /// Octets written and neither sent nor assigned to a subflow.
    #[inline]
    pub fn unassigned(&self) -> u64 {
        self.send.unassigned()
    }

    /// Octets written and not yet sent.
    #[inline]
    pub fn unsent(&self) -> u64 {
        self.send.unassigned() + self.distribution.assigned(self.paths)
    }

    /// The end of our stream has been sent, as a DATA_FIN or in plain TCP a FIN, and was
    /// acknowledged or not. `None`: it has not.
    pub fn is_end_acknowledged(&self) -> Option<bool> {
        match self.send.fin() {
            Fin::Open => None,
            Fin::Sent { .. } => Some(false),
            Fin::Acked => Some(true),
        }
    }

    /// Why the last poll did not send more data.
    #[inline]
    pub fn limit(&self) -> SendBlock {
        self.distribution.limit()
    }

    /// What keeps subflow `id` from sending new data at `now`, after everything that could be sent
    /// was.
    pub fn send_block(&self, id: SubflowId, now: Instant) -> SendBlock {
        let (s, m) = (&self.paths.subflows[id], &self.paths.members[id]);
        if !s.may_send() || !m.ready {
            return SendBlock::NotUp;
        }
        let sender = &s.sender;
        match sender.retries {
            0 => {}
            1 => return SendBlock::Recovery,
            _ => return SendBlock::Failed,
        }
        if sender.is_repairing() {
            return SendBlock::Recovery;
        }
        let mss = u64::from(sender.mss);
        // What is written and cannot be sent at all; less than a segment waits for more (RFC 9293
        // 3.7.4).
        let left = self.send.unassigned();
        let usable = self.send.window_left();
        let full = !self.send.is_closed() && self.writable() < mss;
        // What was assigned to it before lies within the peer's window.
        let has_data = self.distribution.queues() && m.ahead.octets() > 0;
        if !has_data && usable < mss && (left > usable || full) {
            return SendBlock::ReceiveWindow;
        }
        // A burst that waits until more of the window is open (`Config::defer_bursts`) waits for
        // the window.
        let deferred = sender.has_deferred() && (has_data || !self.distribution.queues());
        if deferred || !sender.has_room(sender.mss) || sender.paced_until(now).is_some() {
            return SendBlock::Cwnd;
        }
        if left >= mss || self.distribution.waits_for_window(self.paths, self.send) {
            return SendBlock::Scheduler;
        }
        if full { SendBlock::SendBuffer } else { SendBlock::Application }
    }
}

/// The peer's direction of the data stream: what has arrived, and what waits.
/// [`Connection::inbound`](crate::Connection::inbound) gives it.
#[derive(Clone, Copy, Debug)]
pub struct Inbound<'a> {
    pub(super) paths: &'a Paths,
    pub(super) recv: &'a RecvStream,
    pub(super) fast: &'a FastPath,
}

impl Inbound<'_> {
    /// Octets of the peer's stream that have arrived in order.
    #[inline]
    pub fn received(&self) -> u64 {
        self.recv.nxt()
    }

    /// Octets that can be read now.
    #[inline]
    pub fn readable(&self) -> u64 {
        self.recv.readable()
    }

    /// Segments and octets that this host holds for reordering, because of holes in a subflow or in
    /// the data stream. If several subflows hold a copy of an octet, it counts for each of them.
    /// The sum can therefore exceed the receive buffer, which bounds the number of distinct octets.
    #[inline]
    pub fn held(&self) -> (u64, u64) {
        let (packets, octets) = self.recv.held();
        if self.fast.has_no_holes() {
            return (packets, octets);
        }
        let (p, o) = self.paths.held();
        (packets + p, octets + o)
    }

    /// The part of [`Inbound::held`] that arrived on `subflow`.
    pub fn held_by(&self, subflow: SubflowId) -> (u64, u64) {
        let (packets, octets) = self.paths.subflows[subflow].held();
        let (p, o) = self.recv.held_by(subflow);
        (packets + p, octets + o)
    }
}
