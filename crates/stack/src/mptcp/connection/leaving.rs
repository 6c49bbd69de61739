//! Segments to send: handshakes, retransmissions, reinjected and new data, acknowledgements, and the signals they carry.

use super::{CAPABLE_SYNS, Connection, FIN_BACKOFF, FIN_TRIES, Outgoing, Transmit};
use crate::config::DSS_ROOM;
use crate::event::{FallbackCause, SendBlock, SendKind, SubflowId};
use crate::mptcp::distribution::Choice;
use crate::mptcp::handshake::{Join, join_option};
use crate::mptcp::negotiation::Mode;
use crate::mptcp::send_stream::Fin;
use crate::mptcp::timers::Timer;
use crate::scheduler::Assignment;
use crate::segment::{Mptcp, Segment, Signal};
use crate::shortcut::Shortcut;
use crate::tcp::subflow::State;
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

    /// A segment without payload.
    pub(super) fn control(&mut self, subflow: SubflowId, segment: Segment) -> Outgoing {
        self.out = segment;
        Outgoing { subflow, kind: SendKind::Control, transmissions: 0, choices: 0, wire_len: segment.wire_len() }
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
            return self.poll_quiet(now);
        }
        self.timers.stop(Timer::Schedule);
        if self.timers.take_expired(Timer::Pacing, now) {
            // What was held back may leave: every row is looked at again.
            self.fast.flow(None);
        }
        match self.fast.flowing() {
            Some(id) if self.fast.spend() => {
                Shortcut::BudgetedPoll.note();
                Some(self.send_full(now, id))
            }
            Some(id) => self.poll_flowing(now, id),
            None => self.poll_in_full(now),
        }
    }

    #[inline(never)]
    fn poll_in_full(&mut self, now: Instant) -> Option<Outgoing> {
        self.fast.look_again();
        if self.negotiation.fast_close().is_some() {
            return self.poll_closing(now);
        }
        let state = match self.poll_each(now) {
            Ok(state) => state,
            Err(own) => return Some(own),
        };
        let alone = self.config.deviations.third_ack_alone && self.negotiation.is_client();
        if alone && self.paths.subflows.first().is_some_and(|s| s.owes_third_ack(self.send.nxt())) {
            return Some(self.acknowledgement(now, 0, self.control_option(0)));
        }
        self.distribution.set_limit(SendBlock::Application);
        // RFC 6675 4, NextSeg rule (2): what is lost goes first, then new data, then rescues.
        let (distribution, w) = self.sending();
        if distribution.has_data(&w) {
            let data = self.poll_data(now, false);
            if data.is_some() {
                let flows =
                    |&id: &SubflowId| self.fast.is_on() && state.are_idle() && !self.paths.subflows[id].ack_is_due();
                let flowing = self.fast.flowing().filter(flows);
                self.fast.flow(flowing);
                return data;
            }
        }
        let rescue = if state.quiescent { None } else { self.poll_rescue(now) };
        if rescue.is_some() {
            return rescue;
        }
        let control = self.poll_rest(now, !state.are_idle());
        if control.is_none() {
            self.rest(now, state.quiescent);
        }
        control
    }

    /// There is no data to send: what else there is. `some`: a subflow has something to send on its own.
    #[inline(always)]
    pub(super) fn poll_rest(&mut self, now: Instant, some: bool) -> Option<Outgoing> {
        if self.distribution.limit() == SendBlock::Application {
            let (distribution, w) = self.sending();
            let limit = distribution.nothing_to_send(&w);
            distribution.set_limit(limit);
        }
        let control = self.poll_control(now, some);
        if control.is_none() {
            self.note_idle();
            let (distribution, mut w) = self.sending();
            distribution.grow_buffers(&mut w);
            self.distribution.note_limit(now, self.send.is_outstanding());
        }
        control
    }

    /// There is nothing to send. A subflow may have gone without an input that would see it, at the call of `withdraw`: if it was the last one, or
    /// had the last data in flight, a timer begins.
    fn rest(&mut self, now: Instant, quiescent: bool) {
        if self.paths.removal_due || !self.paths.is_alive() {
            self.progress(now);
        }
        if quiescent {
            self.settle();
        }
    }

    /// What the subflows have to send on their own: the first such segment, or else what may follow.
    fn poll_each(&mut self, now: Instant) -> Result<Own, Outgoing> {
        let mut state = Own { quiescent: true, acks: false };
        for k in 0..self.paths.active.len() {
            let id = self.paths.active[k];
            let s = &self.paths.subflows[id];
            state.acks |= s.ack_is_due();
            if !s.is_quiescent() {
                state.quiescent = false;
                if let Some(own) = self.poll_own(now, id) {
                    return Err(own);
                }
            }
        }
        Ok(state)
    }

    /// What a subflow has to send on its own: a RST, a segment of the handshake, or a retransmission.
    fn poll_own(&mut self, now: Instant, id: SubflowId) -> Option<Outgoing> {
        let s = &mut self.paths.subflows[id];
        if let Some(segment) = s.poll_reset(now) {
            return Some(self.control(id, segment));
        }
        match s.state {
            State::Closed => None,
            State::SynSent | State::SynReceived => self.poll_syn(now, id),
            _ if s.sender.takes_tail_probe() => self.tail_probe(now, id),
            _ => {
                let Some((sent, kind)) = s.sender.next_retransmission(now) else {
                    let paced = s.sender.paced_until(now).filter(|_| s.sender.board.has_lost());
                    paced.into_iter().for_each(|until| self.timers.hasten(Timer::Pacing, until));
                    return None;
                };
                Some(self.retransmission(now, id, &sent, kind))
            }
        }
    }

    /// A tail loss probe on `id` (RFC 8985 7.3): new data if there is some and the peer's window takes it, whatever the congestion window
    /// and the scheduler say, or else the last segment again.
    fn tail_probe(&mut self, now: Instant, id: SubflowId) -> Option<Outgoing> {
        let usable = self.send.usable();
        let (distribution, w) = self.sending();
        let assigns = distribution.assigns(&w);
        let s = &mut self.paths.subflows[id];
        if let Some((data, len)) = self.paths.members[id].ahead.front(s.sender.mss).filter(|_| s.may_send()) {
            self.paths.members[id].ahead.advance(len);
            let transmit = self.send(now, Choice { id, data, len, kind: SendKind::TailProbe, choices: 0 });
            self.paths.subflows[id].sender.tail_probe_sent();
            return Some(transmit);
        }
        if usable > 0 && self.paths.members[id].ready && s.may_send() && !assigns {
            let len = usable.min(u64::from(s.sender.mss)) as u32;
            let data = self.send.advance(u64::from(len));
            // Who keeps a place in the stream for each subflow has to know, or it would have the same octets sent again there.
            self.distribution.on_sent(&Assignment::new(id, data, len));
            let transmit = self.send(now, Choice { id, data, len, kind: SendKind::TailProbe, choices: 0 });
            self.paths.subflows[id].sender.tail_probe_sent();
            return Some(transmit);
        }
        let (sent, kind) = s.sender.resend_last(now)?;
        Some(self.retransmission(now, id, &sent, kind))
    }

    /// Subflows with room in their windows have no data to send: their delivery rates are application-limited.
    pub(super) fn note_idle(&mut self) {
        if self.distribution.limits_rates() {
            for &id in &self.paths.active {
                let s = &mut self.paths.subflows[id];
                if s.sender.has_room(s.sender.mss) {
                    s.sender.note_idle();
                }
            }
        }
    }

    /// Rescue retransmissions, when there is no new data to send.
    fn poll_rescue(&mut self, now: Instant) -> Option<Outgoing> {
        for k in 0..self.paths.active.len() {
            let id = self.paths.active[k];
            if self.paths.subflows[id].state == State::Closed {
                continue;
            }
            if self.paths.subflows[id].sender.lacks_probe(now) {
                self.paths.subflows[id].sender.stop_probing();
                if let Some((sent, kind)) = self.paths.subflows[id].sender.next_retransmission(now) {
                    return Some(self.retransmission(now, id, &sent, kind));
                }
            }
            if let Some((sent, kind)) = self.paths.subflows[id].sender.next_rescue(now) {
                return Some(self.retransmission(now, id, &sent, kind));
            }
        }
        None
    }

    /// FASTCLOSE_WAIT: sends the RSTs and MP_FASTCLOSE (RFC 8684 3.5).
    fn poll_closing(&mut self, now: Instant) -> Option<Outgoing> {
        let reset = self.paths.active.iter().find_map(|&id| Some((id, self.paths.subflows[id].poll_reset(now)?)));
        match reset {
            Some((id, segment)) => Some(self.control(id, segment)),
            None => self.poll_fast_close(now),
        }
    }

    /// The next segment with reinjected or new data. `looked`: all rows are up to date.
    #[inline(always)]
    pub(super) fn poll_data(&mut self, now: Instant, looked: bool) -> Option<Outgoing> {
        let (distribution, mut w) = self.sending();
        let choice = distribution.choose(&mut w, now, looked)?;
        Some(self.send(now, choice))
    }

    pub(super) fn poll_syn(&mut self, now: Instant, id: SubflowId) -> Option<Outgoing> {
        let s = &self.paths.subflows[id];
        let tried =
            s.state == State::SynSent && s.sender.retries >= CAPABLE_SYNS && self.paths.members[id].join == Join::First;
        if tried && matches!(self.negotiation.mode(), Mode::Negotiating { .. }) {
            // RFC 8684 3.1, 3.9.3: after how many unanswered SYNs with MP_CAPABLE one is sent without it is local policy.
            self.never_multipath(id, FallbackCause::Syn);
        }
        if !self.paths.subflows[id].syn_is_due() {
            return None;
        }
        let mptcp = self.syn_option(id);
        let segment = self.config.deviations.whole_segments_in_syn_window.then(|| {
            // A full segment, as large as without a DSS: in such segments Linux counts its windows.
            u64::from(self.config.mss) + if self.negotiation.is_plain() { 0 } else { DSS_ROOM }
        });
        let window = self.recv.syn_window(segment);
        let data = self.data_for_syn(id);
        self.out = self.paths.subflows[id].poll_syn(now, window, mptcp, &self.config, data)?;
        Some(self.note_syn(now, id))
    }

    /// The option of Multipath TCP on a SYN or SYN/ACK.
    pub(super) fn syn_option(&self, id: SubflowId) -> Mptcp {
        let checksum = self.config.checksum;
        match (self.paths.members[id].join, *self.negotiation.mode()) {
            (Join::First, Mode::Negotiating { own_key }) => match self.paths.subflows[id].state {
                State::SynSent => Mptcp::CapableSyn { no_join: false, checksum },
                _ => Mptcp::CapableSynAck { no_join: false, checksum, key: own_key },
            },
            (Join::First, _) => Mptcp::None,
            (_, Mode::Mptcp(k)) => join_option(&self.paths.members[id], &k),
            _ => Mptcp::None,
        }
    }

    /// Acknowledgements, FIN, DATA_FIN, window probes, address signals. `some`: a subflow has something to send on its own.
    #[inline(always)]
    pub(super) fn poll_control(&mut self, now: Instant, some: bool) -> Option<Outgoing> {
        if self.fast.is_steady() && !some && !self.timers.runs(Timer::Persist) {
            return None;
        }
        if self.timers.has_expired(Timer::Persist, now) {
            if let Some(t) = self.probe(now) {
                return Some(t);
            }
        }
        if self.liveness.is_on() {
            let keepalive = self.poll_keepalives(now);
            if keepalive.is_some() {
                return keepalive;
            }
        }
        let rare = self.poll_data_fin(now).or_else(|| self.poll_signals(now));
        if rare.is_some() {
            return rare;
        }
        if self.negotiation.is_plain() {
            self.paths.subflows[self.fallback.subflow()].close |=
                self.send.is_closed() && self.send.nxt() == self.send.written();
        } else if !some && !self.fallback.is_failing() {
            return None;
        }
        for k in 0..self.paths.active.len() {
            let id = self.paths.active[k];
            let s = &self.paths.subflows[id];
            if s.state == State::Closed {
                continue;
            }
            if s.close {
                let window = self.paths.advertise(id, &mut self.recv, self.negotiation.is_plain());
                if let Some(segment) = self.paths.subflows[id].poll_fin(now, window) {
                    self.out = segment;
                    return Some(self.complete(id, self.control_option(id), Signal::None));
                }
            }
            let failed = self.fallback.is_due(id, self.timers.has_expired(Timer::Fail, now));
            if failed || self.paths.subflows[id].ack_is_due() {
                let option = if failed { self.signal_option(id) } else { self.control_option(id) };
                return Some(self.acknowledgement(now, id, option));
            }
        }
        None
    }

    /// Sends as much as a small window takes, or one octet beyond a closed window.
    pub(super) fn probe(&mut self, now: Instant) -> Option<Outgoing> {
        self.timers.stop(Timer::Persist);
        if self.send.nxt() == self.send.written() {
            return None;
        }
        if self.send.nxt() > self.send.edge() {
            // RFC 9293 3.8.6.1: new data or a retransmission asks for the window. One octet beyond it is enough for all subflows.
            let (_, w) = self.sending();
            let id = w.repeater()?;
            let (data, kind) = (self.send.edge(), SendKind::Reinjection);
            return Some(self.send(now, Choice { id, data, len: 1, kind, choices: 0 }));
        }
        let id = self.paths.prober(None)?;
        let (data, mss) = (self.send.nxt(), u64::from(self.paths.subflows[id].sender.mss));
        let usable = self.send.usable().min(mss);
        let (len, kind) = if usable == 0 { (1, SendKind::Probe) } else { (usable, SendKind::New) };
        if kind == SendKind::New && !self.paths.subflows[id].sender.has_room(len as u32) {
            // The congestion window is full. Once the data in flight is acknowledged or lost, the probe is tried again.
            self.timers.set(Timer::Persist, now + self.paths.subflows[id].rto());
            return None;
        }
        self.send.advance(len);
        self.distribution.on_sent(&Assignment::new(id, data, len as u32));
        Some(self.send(now, Choice { id, data, len: len as u32, kind, choices: 0 }))
    }

    /// A DATA_FIN without data (RFC 8684 3.3.3): its mapping has subflow sequence number 0 and length 1.
    pub(super) fn poll_data_fin(&mut self, now: Instant) -> Option<Outgoing> {
        let Mode::Mptcp(k) = *self.negotiation.mode() else { return None };
        if !self.send.is_closed()
            || self.send.nxt() < self.send.written()
            || (self.send.fin() == Fin::Open && self.distribution.has_assigned(&self.paths))
        {
            return None;
        }
        // 3.1: the third ACK with the keys goes first. Without it the server cannot use a DSS.
        if self.negotiation.is_client() && !self.negotiation.is_confirmed() && self.paths.subflows[0].ack_is_due() {
            return None;
        }
        let tries = match self.send.fin() {
            Fin::Open => 0,
            Fin::Sent { tries } if self.timers.has_expired(Timer::DataFin, now) => tries,
            _ => return None,
        };
        let open = |&id: &usize| self.paths.members[id].ready && self.paths.subflows[id].is_open();
        // Retransmit the DATA_FIN on each subflow in turn, since a subflow may have failed.
        let n = self.paths.active.iter().copied().filter(open).count();
        let id = self.paths.active.iter().copied().filter(open).nth(tries as usize % n.max(1))?;
        // With all data acknowledged, nothing else detects that the peer is gone.
        if tries > FIN_TRIES * self.config.max_retransmissions && self.send.una() == self.send.written() {
            self.give_up();
            return None;
        }
        let patience = if self.config.deviations.data_fin_after_min_rto {
            // Linux, `mptcp_set_datafin_timeout`: from the least timeout up to the largest.
            let most = (self.config.max_rto.0 / self.config.min_rto.0.max(1)).max(1).ilog2();
            self.config.min_rto.saturating_mul(1 << tries.saturating_sub(1).min(most))
        } else {
            self.paths.longest_rto().unwrap_or(self.config.initial_rto).saturating_mul(1 << tries.min(FIN_BACKOFF))
        };
        self.send.fin_sent();
        self.timers.set(Timer::DataFin, now + patience);
        if tries == 0 && self.config.deviations.data_fin_on_all {
            self.paths.acknowledge_on_all(&mut self.fast);
        }
        let mut dss = self.dss(&k, id, None);
        dss.data_fin = true;
        dss.mapping = Some(self.mapping(&k, id, self.send.written(), 0, 1));
        Some(self.acknowledgement(now, id, Mptcp::Dss(dss)))
    }
}
