//! Window validation over a round trip, as RFC 2861 proposed and Linux has it: whether the congestion window was used, and what becomes of
//! one that was not.
//!
//! Functions in the kernel: `tcp_cwnd_validate`, `tcp_is_cwnd_limited`, `tcp_cwnd_application_limited`.

use super::Sender;
use crate::controller::Adjust;
use crate::sample::AckSample;
use crate::seq::Seq;
use crate::time::Instant;

/// How far the window was used in the round trip that ends when `end` is acknowledged.
#[derive(Debug)]
pub(super) struct Usage {
    end: Seq,
    /// The window was full.
    full: bool,
    /// Most octets outstanding, while it was not.
    most: u64,
    /// RFC 2861 3.2, `W_used`: most octets outstanding since the window was last used, and when that was.
    used: u64,
    used_at: Instant,
    /// Further data waited as the last segment left.
    more: bool,
}

impl Usage {
    pub fn new(end: Seq) -> Self {
        Self { end, full: false, most: 0, used: 0, used_at: Instant::ZERO, more: false }
    }

    /// The window begins anew after an idle period.
    pub fn restart(&mut self, now: Instant) {
        (self.used, self.used_at) = (0, now);
    }

    /// The window of `cwnd` octets counts as used.
    fn counts(&self, cwnd: u64, slow_start: bool) -> bool {
        self.full || (slow_start && cwnd < 2 * self.most)
    }
}

impl Sender {
    /// A segment of new data has left. `more`: further data wait, for this subflow or another, so that it is not the application that limits
    /// the sender.
    pub fn validate_window(&mut self, now: Instant, more: bool) {
        self.note_usage(now, more, !self.has_room(self.mss));
    }

    /// `full`: the window was, or had no room for what waited.
    pub fn note_usage(&mut self, now: Instant, more: bool, full: bool) {
        let outstanding = if self.rules.counts_segments {
            self.board.outstanding() * u64::from(self.mss)
        } else {
            self.flight_size()
        };
        let (cwnd, slow_start) = (self.controller.octets(), self.controller.window().in_slow_start());
        let (una, nxt) = (self.una, self.nxt);
        let Some(usage) = &mut self.usage else { return };
        if una >= usage.end || full || (!usage.full && outstanding > usage.most) {
            (usage.full, usage.most, usage.end) = (full, outstanding, nxt);
        }
        usage.more = more;
        if usage.counts(cwnd, slow_start) || usage.used_at == Instant::ZERO {
            usage.restart(now);
        } else {
            usage.used = usage.used.max(outstanding);
        }
    }

    /// An acknowledgement arrives, which may let the window grow: what was not used is taken away first, and the window counts as used if
    /// it was full, or more than half full in slow start, at some time of the round trip. Returns the segments delivered so far.
    #[inline(never)]
    pub(super) fn before_growth(&mut self, sample: &mut AckSample) -> u64 {
        self.shrink_if_unused(sample.now);
        if let Some(usage) = &self.usage {
            sample.cwnd_limited = usage.counts(self.controller.octets(), self.controller.window().in_slow_start());
        }
        // A burst that waits for room has filled the window.
        sample.cwnd_limited |= self.pacer.has_deferred() && self.usage.is_none();
        self.board.delivered()
    }

    /// If the application has not used the window for a retransmission timeout, the window comes down half way to what was used (RFC 2861
    /// 3.2).
    fn shrink_if_unused(&mut self, now: Instant) {
        let (cwnd, slow_start) = (self.controller.octets(), self.controller.window().in_slow_start());
        let (rto, quiet) = (self.rtt.rto(), self.is_quiescent());
        let Some(usage) = &mut self.usage else { return };
        if usage.used > 0 && !usage.counts(cwnd, slow_start) && now.since(usage.used_at) >= rto {
            let (used, more) = (usage.used, usage.more);
            usage.restart(now);
            if quiet && !more {
                self.controller.adjust(Adjust::Unused { used });
            }
        }
    }
}
