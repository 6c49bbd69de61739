//! When acknowledgements are sent (RFC 5681 4.2, RFC 1122 4.2.3.2), and the acknowledgement numbers of coupled acknowledgement.

use std::collections::VecDeque;

use crate::config::{Acknowledgement, Config, DelayedAck};
use crate::seq::Seq;
use crate::time::Instant;

/// Deadline of a pure acknowledgement that is sent with the next poll.
const NOW: Instant = Instant::ZERO;
/// Deadline when no acknowledgement is due.
const OFF: Instant = Instant::FAR_FUTURE;

/// The acknowledgements of one subflow.
#[derive(Debug)]
pub(crate) struct Acknowledgements {
    /// Deadline of the next pure acknowledgement: [`NOW`], [`OFF`], or the end of its delay.
    at: Instant,
    delay: DelayedAck,
    /// Coupled acknowledgement (the papers' model): each released segment has an acknowledgement of its own.
    pub coupled_ack: bool,
    /// Largest payload received: counts as full-sized.
    full: u32,
    /// Octets received since the last acknowledgement was sent.
    unacked: u64,
    /// Coupled acknowledgement: acknowledgement numbers still to be sent, one ACK each.
    owed: VecDeque<Seq>,
}

impl Acknowledgements {
    pub fn new(config: &Config) -> Self {
        let coupled_ack = config.acknowledgement == Acknowledgement::Coupled;
        Self { at: OFF, delay: config.delayed_ack, coupled_ack, full: 1, unacked: 0, owed: VecDeque::new() }
    }

    /// A payload of `len` octets was accepted or refused. `at_once`: it leaves or fills a hole, or is a duplicate.
    #[inline]
    pub fn on_payload(&mut self, now: Instant, len: u32, at_once: bool) {
        self.full = self.full.max(len);
        self.unacked += u64::from(len);
        let due = match self.delay {
            _ if at_once => NOW,
            DelayedAck::Off => NOW,
            // RFC 5681 4.2: at least every second full-sized segment.
            DelayedAck::After(_) if self.unacked >= 2 * u64::from(self.full) => NOW,
            DelayedAck::After(delay) => now + delay,
        };
        self.at = self.at.min(due);
    }

    /// A pure acknowledgement is sent with the next poll.
    #[inline]
    pub fn now(&mut self) {
        self.at = NOW;
    }

    /// Cancels the pure acknowledgement.
    #[inline]
    pub fn off(&mut self) {
        self.at = OFF;
    }

    /// A segment that acknowledges everything received so far is sent.
    #[inline]
    pub fn done(&mut self) {
        self.at = OFF;
        self.unacked = 0;
    }

    /// A pure acknowledgement is due now.
    #[inline]
    pub fn are_due(&self) -> bool {
        self.at == NOW || (self.coupled_ack && !self.owed.is_empty())
    }

    /// A pure acknowledgement is due, now or after its delay.
    #[inline]
    pub fn are_owed(&self) -> bool {
        self.at != OFF
    }

    /// Deadline of the delayed acknowledgement; [`Instant::FAR_FUTURE`] if none is delayed.
    #[inline]
    pub fn deadline(&self) -> Instant {
        if self.at == NOW { OFF } else { self.at }
    }

    /// A delayed acknowledgement is due once its delay has ended.
    #[inline]
    pub fn on_timer(&mut self, now: Instant) {
        if self.at <= now {
            self.at = NOW;
        }
    }

    /// Coupled acknowledgement: queues an ACK with number `seq` for the segment just released.
    pub fn owe(&mut self, seq: Seq) {
        self.owed.push_back(seq);
    }

    /// The acknowledgement number of the pure ACK being sent, if it is a queued one; `None` means RCV.NXT, and nothing more is
    /// due.
    #[inline]
    pub fn take(&mut self) -> Option<Seq> {
        let owed = self.owed.pop_front();
        if owed.is_none() {
            self.done();
        }
        owed
    }
}
