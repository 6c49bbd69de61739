//! When acknowledgements leave (RFC 5681 4.2, RFC 1122 4.2.3.2), and what those of coupled acknowledgement say.

use std::collections::VecDeque;

use crate::config::{Acknowledgement, Config, DelayedAck};
use crate::seq::Seq;
use crate::time::Instant;

/// Time of a pure acknowledgement that leaves with the next poll.
const NOW: Instant = Instant::ZERO;
/// Time of an acknowledgement that is not due.
const OFF: Instant = Instant::FAR_FUTURE;

/// The acknowledgements of one subflow.
#[derive(Debug)]
pub(crate) struct Acknowledgements {
    /// When the next pure one leaves: [`NOW`], [`OFF`], or the end of its delay.
    at: Instant,
    delay: DelayedAck,
    /// The papers' model: a segment that is freed is acknowledged by itself.
    pub coupled_ack: bool,
    /// Largest payload seen: what counts as a full segment.
    full: u32,
    /// Octets received since the last one left.
    unacked: u64,
    /// Numbers still to be sent one by one (coupled acknowledgement).
    owed: VecDeque<Seq>,
}

impl Acknowledgements {
    pub fn new(config: &Config) -> Self {
        let coupled_ack = config.acknowledgement == Acknowledgement::Coupled;
        Self { at: OFF, delay: config.delayed_ack, coupled_ack, full: 1, unacked: 0, owed: VecDeque::new() }
    }

    /// A payload of `len` octets was accepted or refused; `at_once` if it leaves or fills a hole, or is a duplicate.
    #[inline]
    pub fn on_payload(&mut self, now: Instant, len: u32, at_once: bool) {
        self.full = self.full.max(len);
        self.unacked += u64::from(len);
        let due = match self.delay {
            _ if at_once => NOW,
            DelayedAck::Off => NOW,
            // At least every second full-sized segment.
            DelayedAck::After(_) if self.unacked >= 2 * u64::from(self.full) => NOW,
            DelayedAck::After(delay) => now + delay,
        };
        self.at = self.at.min(due);
    }

    /// One leaves with the next poll.
    #[inline]
    pub fn now(&mut self) {
        self.at = NOW;
    }

    /// None is due.
    #[inline]
    pub fn off(&mut self) {
        self.at = OFF;
    }

    /// What has come is acknowledged by a segment that leaves.
    #[inline]
    pub fn done(&mut self) {
        self.at = OFF;
        self.unacked = 0;
    }

    /// A pure one is due now.
    #[inline]
    pub fn are_due(&self) -> bool {
        self.at == NOW || (self.coupled_ack && !self.owed.is_empty())
    }

    /// A pure one is due, now or later.
    #[inline]
    pub fn are_owed(&self) -> bool {
        self.at != OFF
    }

    /// When a delayed one is due; [`Instant::FAR_FUTURE`] if none is delayed.
    #[inline]
    pub fn deadline(&self) -> Instant {
        if self.at == NOW { OFF } else { self.at }
    }

    /// A delay is over by `now`.
    #[inline]
    pub fn on_timer(&mut self, now: Instant) {
        if self.at <= now {
            self.at = NOW;
        }
    }

    /// Coupled acknowledgement: one with number `seq` for the segment just freed.
    pub fn owe(&mut self, seq: Seq) {
        self.owed.push_back(seq);
    }

    /// The number of the pure one that leaves, if it is not the next expected; the last one is.
    #[inline]
    pub fn take(&mut self) -> Option<Seq> {
        let owed = self.owed.pop_front();
        if owed.is_none() {
            self.done();
        }
        owed
    }
}
