//! Arriving segments, in the order of RFC 9293 3.10.7: the subflow's checks, the handshakes, the ACK field, the data level, the
//! payload, the FIN.

use super::ending::permanent;
use super::{Connection, Predicted, SUBFLOW_WINDOW};
use crate::event::{EndReason, Event, FallbackCause, SubflowId};
use crate::mptcp::handshake::{Join, Keys};
use crate::mptcp::negotiation::Mode;
use crate::mptcp::receiving::{Refusal, is_intact};
use crate::segment::{Dss, Mapping, Mptcp, ResetReason, Segment, Signal};
use crate::seq::Seq;
use crate::tcp::subflow::{Check, State};
use crate::time::Instant;

impl Connection {
    /// A segment arrives on subflow `id`.
    #[inline(always)]
    pub fn handle_segment(&mut self, now: Instant, id: SubflowId, seg: &Segment) {
        let before = self.recv.nxt();
        match self.handle_predicted(now, id, seg) {
            None => self.handle_in_full(now, id, seg),
            Some(Predicted::Data { data, len, fresh, kind, intact }) => {
                self.events.push_back(Event::Arrived { subflow: id, data, len, fresh, kind, intact });
                if self.recv.nxt() > before {
                    self.events.note_readable();
                }
            }
            Some(Predicted::Ack { window: Some((cwnd, ssthresh)) }) => {
                self.events.push_back(Event::Window { subflow: id, cwnd, ssthresh });
            }
            Some(Predicted::Ack { window: None }) => {}
        }
    }

    /// A segment that was not predicted.
    #[inline(never)]
    fn handle_in_full(&mut self, now: Instant, id: SubflowId, seg: &Segment) {
        self.paths.count_arrival(id, seg, &mut self.fast);
        if self.liveness.is_on() {
            self.paths.note_sign_of_life(now, id);
        }
        let before = self.send.una();
        self.receive(now, id, seg);
        if self.config.stale_after > 0 {
            self.paths.note_heard(now, id);
            let advanced = self.send.una() > before;
            self.sending().1.arm_idle_timer(now, advanced);
        }
        self.progress(now);
        let (distribution, mut w) = self.sending();
        distribution.refresh(&mut w, id);
        if seg.payload.len == 0 {
            self.fast.set_steady(self.is_steady());
        }
    }

    pub(super) fn receive(&mut self, now: Instant, id: SubflowId, seg: &Segment) {
        self.paths.members[id].probes_unanswered = 0;
        let multipath = !self.negotiation.is_plain();
        let window = if multipath { SUBFLOW_WINDOW } else { self.recv.window() };
        if self.negotiation.is_unanswered() && self.paths.is_plain_again(id, seg) {
            self.never_multipath(id, FallbackCause::Syn);
        }
        let s = &mut self.paths.subflows[id];
        let (check, ended) = match s.state {
            State::Closed => return,
            State::SynSent => {
                let (check, ended) = s.on_segment_in_syn_sent(now, seg);
                if check == Check::Accept {
                    self.on_syn_ack(now, id, seg);
                    if let Some(rest) = self.paths.subflows[id].behind_syn(seg).filter(|_| self.negotiation.is_plain())
                    {
                        self.receive(now, id, &rest);
                    }
                }
                // Everything below needs a synchronized state and a segment other than the SYN.
                (Check::Drop, ended)
            }
            _ => s.check(now, seg, window),
        };
        if let Some(reason) = ended {
            self.on_reset(id, seg, reason);
        }
        if check == Check::Drop {
            return; // RFC 8684 3: TCP's checks come before any signal.
        }
        self.work_in(now, id, seg);
    }

    /// RFC 9293 3.10.7.4, fifth to eighth check, of a segment that has passed the earlier ones.
    fn work_in(&mut self, now: Instant, id: SubflowId, seg: &Segment) {
        self.paths.members[id].suspicion = None;
        if let (Some(_), Mode::Mptcp(k), Signal::Fastclose { key }) =
            (self.negotiation.fast_close(), *self.negotiation.mode(), seg.options.signal)
        {
            // Both sides have sent MP_FASTCLOSE.
            self.take_fastclose(id, &k, key);
        }
        if self.negotiation.fast_close().is_some()
            || self.paths.subflows[id].state == State::Closed
            || !self.authenticate(now, id, seg)
        {
            return;
        }
        let multipath = !self.negotiation.is_plain();
        let s = &mut self.paths.subflows[id];
        let (check, result) = s.on_ack(now, seg, &self.paths.rows, &mut self.events, multipath);
        if check == Check::Drop {
            return;
        }
        self.distribution.on_progress(&self.fast, now, id, result.acked, result.lost);
        if result.established && self.paths.members[id].join == Join::First && !self.paths.members[id].ready {
            self.paths.connect(id, &mut self.events);
        }
        if self.paths.subflows[id].state == State::Closed {
            self.take_data_level(now, id, seg, result.window_is_new);
            self.on_subflow_end(id, EndReason::Finished);
            return;
        }
        // RFC 3168 6.1.5, 6.1.6: marks count of segments in the window, of a probe of a closed one, too.
        self.paths.subflows[id].on_ecn_marks(seg);
        self.take_data_level(now, id, seg, result.window_is_new);
        if self.paths.subflows[id].state == State::Closed {
            return;
        }
        if seg.payload.len > 0 {
            self.take_payload(now, id, seg);
            if self.paths.subflows[id].state == State::Closed {
                return;
            }
        }
        if self.paths.subflows[id].on_fin(now, seg) && self.negotiation.is_plain() {
            self.recv.end_here();
        }
    }

    /// The peer has reset a subflow, or the whole connection (RFC 8684 3.5).
    fn on_reset(&mut self, id: SubflowId, seg: &Segment, reason: EndReason) {
        if let Some(tcp_rst) = seg.options.tcp_rst {
            self.events.push_back(Event::ResetReason { subflow: id, tcp_rst });
        }
        match (*self.negotiation.mode(), seg.options.signal) {
            (Mode::Mptcp(_), Signal::Fail { .. }) => {
                // 3.7: the peer discarded the data whose checksum failed. Reinject it on other subflows.
                self.on_subflow_end(id, EndReason::Middlebox);
                self.sending().1.reinject_missing();
            }
            (Mode::Mptcp(k), Signal::Fastclose { key })
                if key == k.own && self.negotiation.fast_close().is_none() && !self.negotiation.is_over() =>
            {
                self.on_subflow_end(id, EndReason::FastClosed);
                self.take_fastclose(id, &k, key);
            }
            _ if self.negotiation.fast_close().is_some_and(|f| f.subflow == id) => {
                self.on_subflow_end(id, EndReason::FastClosed);
            }
            _ => {
                self.on_subflow_end(id, reason);
                if self.config.checksum {
                    // The peer had acknowledged data there that waited for the rest of its mapping, and has now discarded it.
                    self.sending().1.reinject_missing();
                }
            }
        }
    }

    /// Processes the data level of a segment: DATA_ACK, window, DATA_FIN, address signals.
    pub(super) fn take_data_level(&mut self, now: Instant, id: SubflowId, seg: &Segment, window_is_new: bool) {
        let window = u64::from(seg.window) << self.paths.subflows[id].peer_window.shift;
        let Mode::Mptcp(k) = *self.negotiation.mode() else {
            if let Signal::Fail { .. } = seg.options.signal {
                let s = &mut self.paths.subflows[id];
                let ack = Seq::unwrap(seg.ack, s.sender.una);
                if self.fallback.repeat_answer(now, id, ack, s.sender.rtt.rto()) {
                    s.acks.now();
                }
            }
            // In plain TCP the subflow's cumulative ACK acknowledges data; SYN and FIN are not data.
            let s = &self.paths.subflows[self.fallback.subflow()];
            let (iss, una) = (s.iss, s.sender.una);
            self.send.acknowledge_plain(self.fallback.tx(iss, una));
            if window_is_new {
                let edge = self.fallback.tx(iss, Seq::unwrap(seg.ack, una)) + window;
                self.paths.move_edge(edge, &mut self.send, &mut self.timers);
            }
            // RFC 9293 3.10.7.4: a retransmission tells of no window, as it is older than the last one that did. What it acknowledges lay
            // within the window even so: a probe that the peer has taken.
            let edge = self.send.edge().max(self.send.una());
            self.paths.move_edge(edge, &mut self.send, &mut self.timers);
            return;
        };
        // RFC 8684 3.3.1, 3.3.2: the window counts from the DATA_ACK. For a segment without DATA_ACK it is unknown how much had arrived when it
        // was sent, and a DATA_ACK may have overtaken it. Its window therefore counts from the start of our data.
        let ack = match seg.options.mptcp {
            Mptcp::Dss(dss) => self.take_dss(now, id, &k, seg, &dss),
            // 3.1: the mapping in MP_CAPABLE stands for one with a 64-bit data sequence number. Beside TCP-DOOR's numbers there
            // is no room for 64 bits.
            Mptcp::CapableAck { data: Some(_), .. } => {
                let long = !self.paths.subflows[id].door.on;
                self.negotiation.set_long_dsn(long);
                Some(0)
            }
            _ => Some(0),
        };
        let Some(ack) = ack else { return };
        if !seg.options.signal.is_empty() {
            self.take_signal(now, id, &k, &seg.options.signal);
        }
        if ack <= self.send.max_ack() {
            let edge = self.send.edge().max(ack + window);
            self.paths.move_edge(edge, &mut self.send, &mut self.timers);
        }
    }

    /// Processes a DSS: DATA_ACK, infinite mapping, DATA_FIN. Returns the data offset acknowledged (0 without DATA_ACK), or
    /// `None` if the connection has fallen back to plain TCP.
    fn take_dss(&mut self, now: Instant, id: SubflowId, k: &Keys, seg: &Segment, dss: &Dss) -> Option<u64> {
        self.negotiation.confirm_by_dss();
        let mut ack = 0;
        if let Some(data_ack) = dss.data_ack {
            ack = k.acknowledged_offset(data_ack, self.send.una());
            self.send.acknowledge(ack);
            // 3.7: the path is confirmed by a DATA_ACK together with an acknowledgement of data, at both levels: a box that is ahead of
            // its peer raises that of the subflow alone.
            let acks_data =
                Seq::unwrap(seg.ack, self.paths.subflows[id].sender.una) > self.paths.subflows[id].first_own();
            self.paths.members[id].dss_confirmed |= acks_data && self.send.una() > 0;
        }
        // 3.3.2: "If data is received with a 64-bit DSN".
        let short = self.config.deviations.short_ack_of_data_fin;
        let counts = |m: &Mapping| m.len > u16::from(dss.data_fin) || (dss.data_fin && !short);
        if let Some(m) = dss.mapping.filter(counts) {
            self.negotiation.set_long_dsn(!m.short);
        }
        // 3.7: an infinite mapping is "on the first new packet". Without payload, a mapping of no octets maps nothing.
        if let Some(m) = dss.mapping.filter(|m| m.len == 0 && !dss.data_fin && seg.payload.len > 0) {
            let s = &self.paths.subflows[id];
            let seq = Seq::unwrap(s.mapped_seq(m.ssn), s.receiver.rcv_nxt);
            let data = k.mapped_offset(&m, self.recv.nxt());
            if data > self.recv.nxt() || self.fallback.contradicts((seq, data)) {
                // RFC 8684 3.7: reset if the infinite mapping begins beyond a gap, because the
                // missing data would never arrive, or elsewhere than the mapping that failed.
                self.reset(id, EndReason::Middlebox, Signal::None, permanent(ResetReason::MIDDLEBOX));
            } else {
                // RFC 8684 3.7: the peer sends an infinite mapping, which maps all further octets of
                // the subflow. The connection continues as plain TCP.
                self.fallback.begin_rx((seq, data));
                self.fall_back(id, FallbackCause::InfiniteMapping);
            }
            return None;
        }
        if let Some(m) = dss.mapping.filter(|m| dss.data_fin && is_intact(&self.config, k, &self.recv, seg, m)) {
            // 3.3.3: the DATA_FIN occupies one octet after the last.
            let start = k.mapped_offset(&m, self.recv.nxt());
            let end = u64::from(m.len).checked_sub(1).and_then(|octets| start.checked_add(octets));
            let repeated = self.recv.end().is_some();
            end.into_iter().for_each(|end| self.recv.end_at(end));
            let on_all = self.config.deviations.data_fin_on_all;
            if on_all && self.recv.end().is_some() && !repeated {
                self.paths.acknowledge_on_all(&mut self.fast);
            }
            // Linux's acknowledgements all carry the DATA_FIN, so answers would be answered: only one that ends this is sent.
            let asked = !repeated || (self.recv.has_ended() || !on_all) && self.paths.subflows[id].may_repeat(now);
            if seg.payload.len == 0 && asked {
                self.paths.subflows[id].acks.now();
            }
        }
        Some(ack)
    }

    /// Takes the payload of `seg`, and ends what has to end because of it.
    pub(super) fn take_payload(&mut self, now: Instant, id: SubflowId, seg: &Segment) {
        let failing = self.fallback.is_failing();
        let taken = self.receiving().take_payload(now, id, seg);
        if self.fallback.is_failing() && !failing {
            // What leaves until the answer comes, a window probe say, must continue what was sent:
            // the peer may be plain TCP by then.
            self.paths.forget_assigned(&mut self.send);
        }
        match taken {
            Ok(()) => {}
            Err(Refusal::Reset { signal, reason }) => {
                self.reset(id, EndReason::Middlebox, signal, permanent(reason));
            }
            Err(Refusal::Unread) => {
                self.abort();
                self.events.push_back(Event::Aborted(EndReason::Unread));
            }
        }
    }
}
