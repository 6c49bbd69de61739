//! Segments to send: handshakes, retransmissions, reinjected and new data, acknowledgements, and the signals they carry.

use super::{Connection, Outgoing, Transmit};
use crate::event::{FallbackCause, SendBlock, SubflowId};
use crate::mptcp::composing::Unanswered;
use crate::mptcp::timers::Timer;
use crate::segment::Segment;
use crate::shortcut::Shortcut;
use crate::time::Instant;

/// What subflows have to send on their own.
#[derive(Clone, Copy)]
struct Own {
    /// Nothing but acknowledgements.
    quiescent: bool,
    /// Acknowledgements.
    acks: bool,
}

impl Own {
    /// Nothing.
    fn are_idle(self) -> bool {
        self.quiescent && !self.acks
    }
}

impl Connection {
    /// The next segment to send at `now`.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        let Outgoing { subflow, kind, transmissions, choices, .. } = self.poll_outgoing(now)?;
        Some(Transmit { subflow, kind, transmissions, choices, segment: *self.outgoing() })
    }

    /// The segment that [`Connection::poll_outgoing`] told of last.
    #[inline]
    pub fn outgoing(&self) -> &Segment {
        match self.fast.template() {
            Some(id) => &self.paths.members[id].template.segment,
            None => &self.out,
        }
    }

    /// Like [`Connection::poll_transmit`], for a driver that takes the segment from [`Connection::outgoing`]: it is not copied in between.
    #[inline(always)]
    pub fn poll_outgoing(&mut self, now: Instant) -> Option<Outgoing> {
        self.fast.begin_poll();
        let outgoing = self.poll_next(now);
        if let (Some(outgoing), None) = (&outgoing, self.fast.template()) {
            let len = self.out.payload.len;
            let counts = &mut self.paths.subflows[outgoing.subflow].counts;
            counts.note_out(len);
        }
        if self.liveness.is_on() && outgoing.is_some() {
            self.watch(now);
        }
        outgoing
    }

    #[inline(always)]
    fn poll_next(&mut self, now: Instant) -> Option<Outgoing> {
        if self.fast.quiet_until().is_some_and(|until| now < until) {
            // The connection is quiet: nothing is due but the acknowledgement of the data that has
            // arrived.
            Shortcut::QuietPoll.note();
            let id = self.fast.take_ack()?;
            return Some(self.composing().next_acknowledgement(now, id));
        }
        self.timers.stop(Timer::Schedule);
        if self.timers.take_expired(Timer::Pacing, now) {
            // What was held back may leave: every row is looked at again.
            self.fast.flow(None);
        }
        match self.fast.flowing() {
            Some(id) if self.fast.spend() => {
                Shortcut::BudgetedPoll.note();
                Some(self.composing().send_full(now, id))
            }
            Some(id) => {
                Shortcut::FlowingPoll.note();
                let data = self.composing().poll_flowing(now, id);
                if data.is_some() {
                    return data;
                }
                let control = self.poll_rest(now, false);
                if control.is_some() || self.send.is_closed() {
                    self.fast.look_again();
                }
                control
            }
            None => self.poll_in_full(now),
        }
    }

    #[inline(never)]
    fn poll_in_full(&mut self, now: Instant) -> Option<Outgoing> {
        self.fast.look_again();
        if self.negotiation.fast_close().is_some() {
            return self.poll_fast_close(now);
        }
        // What the subflows have to send on their own comes first.
        let mut state = Own { quiescent: true, acks: false };
        for k in 0..self.paths.active.len() {
            let id = self.paths.active[k];
            let s = &self.paths.subflows[id];
            state.acks |= s.ack_is_due();
            if s.is_quiescent() {
                continue;
            }
            state.quiescent = false;
            if self.paths.has_tried_capable(id) && self.negotiation.is_unanswered() {
                self.never_multipath(id, FallbackCause::Syn);
            }
            let own = self.composing().poll_own(now, id);
            if own.is_some() {
                return own;
            }
        }
        let alone = self.config.deviations.third_ack_alone && self.negotiation.is_client();
        if alone && self.paths.subflows.first().is_some_and(|s| s.owes_third_ack(self.send.nxt())) {
            let mut composing = self.composing();
            return Some(composing.acknowledgement(now, 0, composing.control_option(0)));
        }
        self.distribution.set_limit(SendBlock::Application);
        // RFC 6675 4, NextSeg rule (2): what is lost goes first, then new data, then rescues.
        let mut composing = self.composing();
        if composing.distribution.has_data(&composing.w) {
            let data = composing.poll_data(now, false);
            if data.is_some() {
                let flows =
                    |&id: &SubflowId| self.fast.is_on() && state.are_idle() && !self.paths.subflows[id].ack_is_due();
                let flowing = self.fast.flowing().filter(flows);
                self.fast.flow(flowing);
                return data;
            }
        }
        let rescue = if state.quiescent { None } else { self.composing().poll_rescue(now) };
        if rescue.is_some() {
            return rescue;
        }
        let control = self.poll_rest(now, !state.are_idle());
        if control.is_none() {
            // A subflow may have gone without an input that would see it, at the call of
            // `withdraw`: if it was the last one, or had the last data in flight, a timer begins.
            if self.paths.removal_due || !self.paths.is_alive() {
                self.progress(now);
            }
            if state.quiescent {
                self.settle();
            }
        }
        control
    }

    /// There is no data to send: acknowledgements, FIN, DATA_FIN, window probes, address signals.
    /// `some`: a subflow has something to send on its own.
    #[inline(always)]
    pub(super) fn poll_rest(&mut self, now: Instant, some: bool) -> Option<Outgoing> {
        if self.distribution.limit() == SendBlock::Application {
            let (distribution, w) = self.sending();
            let limit = distribution.nothing_to_send(&w);
            distribution.set_limit(limit);
        }
        let nothing = self.fast.is_steady() && !some && !self.timers.runs(Timer::Persist);
        let control = if nothing { None } else { self.poll_control(now, some) };
        if control.is_none() {
            let (distribution, mut w) = self.sending();
            if distribution.limits_rates() {
                w.paths.note_idle();
            }
            distribution.grow_buffers(&mut w);
            self.distribution.note_limit(now, self.send.is_outstanding());
        }
        control
    }

    /// Acknowledgements, FIN, DATA_FIN, window probes, address signals. `some`: a subflow has something to send on its own.
    fn poll_control(&mut self, now: Instant, some: bool) -> Option<Outgoing> {
        if self.timers.has_expired(Timer::Persist, now) {
            if let Some(probe) = self.composing().probe(now) {
                return Some(probe);
            }
        }
        if self.liveness.is_on() {
            let keep = self.paths.keepalive(&self.config, &self.negotiation, &self.timers);
            if let Some(id) = keep.and_then(|keep| self.paths.next_keepalive(now, &keep, &self.config)) {
                return Some(self.composing().keepalive(now, id));
            }
        }
        let fin = match self.composing().poll_data_fin(now) {
            Ok(fin) => fin,
            Err(Unanswered) => {
                self.give_up();
                None
            }
        };
        let rare = fin.or_else(|| self.poll_signals(now));
        if rare.is_some() {
            return rare;
        }
        if self.negotiation.is_plain() {
            self.paths.subflows[self.fallback.subflow()].close |=
                self.send.is_closed() && self.send.nxt() == self.send.written();
        } else if !some && !self.fallback.is_failing() {
            return None;
        }
        self.composing().poll_acknowledgement(now)
    }
}
