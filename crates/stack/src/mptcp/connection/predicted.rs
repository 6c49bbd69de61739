//! Header prediction (Van Jacobson, "4BSD Header Prediction", ACM CCR 20(2), 1990): a segment that
//! arrives in order in a one-way transfer skips nearly all checks of the general path.
//!
//! A connection is *quiet* if a poll has found nothing to send, none of our data is in flight, no
//! handshake, close, fallback or signal is in progress, and there has been no other input since.
//! Only arriving data can then change its state. A segment that is next on its subflow and carries
//! nothing else is therefore taken without the general path, and a poll has nothing to send but its
//! acknowledgement. Any other input ends the quiet state ([`FastPath::invalidate`]), and the
//! general path processes it. The general path would do the same with the predicted segments, step
//! by step: prediction saves work and changes nothing else.
//!
//! A connection is *steady* if no handshake, close, fallback or signal is in progress. A pure
//! acknowledgement can then change nothing but its subflow's sender, DATA_ACK and window, so that
//! the rest of the general path is skipped. Any other input ends this state, and the general path
//! looks at each acknowledgement that it takes whether the state has begun.
//!
//! New data *flows* from one poll to the next if every subflow was quiescent, no acknowledgement
//! was due and new data was sent. The next poll then looks only at the subflow that sent: sending
//! changes nothing else that a poll depends on. A predicted acknowledgement changes nothing but its
//! own subflow either, so that data flows on, and the next poll looks at that one.

use super::Connection;
use crate::config::Acknowledgement;
use crate::config::DSS_ROOM;
use crate::event::{ArrivalKind, SubflowId};
use crate::mptcp::handshake::{Join, Member};
use crate::mptcp::negotiation::Mode;
use crate::mptcp::send_stream::Fin;
use crate::mptcp::timers::Timer;
use crate::segment::{Dss, Mptcp, Segment};
use crate::shortcut::Shortcut;
use crate::tcp::subflow::{State, Subflow};
use crate::time::Instant;

/// What a predicted segment did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Predicted {
    /// Data arrived: the fields of [`Event::Arrived`](crate::Event::Arrived).
    Data {
        /// First octet in the peer's data stream.
        data: u64,
        /// Octets.
        len: u32,
        /// Octets that had not arrived on any subflow before.
        fresh: u32,
        /// Where it stands in its subflow and in the data stream.
        kind: ArrivalKind,
        /// The payload is the part of the stream that its mapping names.
        intact: bool,
    },
    /// An acknowledgement arrived.
    Ack {
        /// The fields of [`Event::Window`](crate::Event::Window), if the congestion window has
        /// changed: window and threshold in octets.
        window: Option<(f64, f64)>,
    },
}

impl Connection {
    /// The connection is quiet, and no acknowledgement is due: a poll would find nothing to send.
    #[inline(always)]
    pub fn rests(&self, now: Instant) -> bool {
        self.fast.rests(now)
    }

    /// A poll has found nothing to send and every subflow quiescent: the connection becomes quiet if nothing else is in progress.
    pub(super) fn settle(&mut self) {
        let negotiated = self.negotiation.is_settled();
        let all_acked = self.send.unacknowledged() == 0 && self.send.reinjections().is_empty();
        let open = self.send.fin() == Fin::Open
            && self.recv.end().is_none()
            && !self.recv.is_abandoned()
            && !self.negotiation.is_over();
        let no_signals = self.addresses.are_settled() && !self.paths.removal_due;
        // With all data acknowledged the only timer of data that may run is that of pacing, which ends the quiet state.
        let no_failure = !self.fallback.is_failing()
            && self.negotiation.fast_close().is_none()
            && !self.timers.runs(Timer::Orphaned)
            && self.fallback.has_told();
        // Checksums and coupled acknowledgement have rules of their own for data in order.
        let predictable = self.fast.is_on()
            && !self.liveness.is_on()
            && !self.config.checksum
            && self.config.acknowledgement != Acknowledgement::Coupled;
        if negotiated && all_acked && open && no_signals && no_failure && predictable && self.paths.are_settled() {
            let no_holes = self.paths.active().all(|(s, _)| !s.receiver.has_holes());
            let plain = no_holes && self.paths.active().all(|(s, _)| s.expects_plain_data());
            self.fast.settle(self.other_deadline(), no_holes, plain);
        }
    }

    /// Processes `seg` if it is predicted, as [`Connection::handle_segment`] would, but for the
    /// events [`Event::Arrived`](crate::Event::Arrived) and [`Event::Window`](crate::Event::Window)
    /// that it would have queued last: what they would say is returned. Returns `None`, having done
    /// nothing, if `seg` is not predicted; it then has to be handed to `handle_segment`.
    ///
    /// For drivers that have polled all events and look at what a segment did at once.
    #[inline(always)]
    pub fn handle_predicted(&mut self, now: Instant, id: SubflowId, seg: &Segment) -> Option<Predicted> {
        if self.fast.is_quiet() {
            return self.take_predicted(now, id, seg);
        }
        if self.fast.is_steady() { self.take_predicted_ack(now, id, seg) } else { None }
    }

    /// Processes `seg` if it is what a quiet connection expects.
    #[inline(always)]
    fn take_predicted(&mut self, now: Instant, id: SubflowId, seg: &Segment) -> Option<Predicted> {
        let (s, m) = (&mut self.paths.subflows[id], &mut self.paths.members[id]);
        if !s.expects(seg, self.fast.expects_plain_data()) {
            return None;
        }
        // In plain TCP a segment has no option of Multipath TCP. Else it has a DSS with the same DATA_ACK as before, and a mapping of
        // exactly this payload with a data sequence number as long as before.
        let multipath = !self.negotiation.is_plain();
        let data = match (self.negotiation.mode(), &seg.options.mptcp) {
            (Mode::Tcp, Mptcp::None) if id == self.fallback.subflow() => self.fallback.rx(s.irs, s.receiver.rcv_nxt)?,
            (Mode::Mptcp(k), Mptcp::Dss(Dss { data_ack: Some(ack), mapping: Some(map), data_fin: false })) => {
                let acknowledged = k.repeats(*ack, self.send.una());
                let here = s.mapped_seq(map.ssn) == seg.seq && u32::from(map.len) == seg.payload.len;
                if !(acknowledged && here && self.negotiation.has_long_dsn() != map.short) {
                    return None;
                }
                k.mapped_offset(map, self.recv.nxt())
            }
            _ => return None,
        };
        let len = seg.payload.len;
        if data.checked_add(u64::from(len)).is_none_or(|end| !self.recv.accepts(end)) {
            return None;
        }
        Shortcut::PredictedData.note();
        if let Some(size) = self.recv.tune(now, len) {
            let options = if multipath { DSS_ROOM } else { 0 };
            s.acks.open_window(size, u64::from(len) + options);
        }
        s.counts.segments_in += 1;
        s.counts.data_segments_in += 1;
        m.probes_unanswered = 0;
        let window_is_new = s.take_expected(now, seg);
        let window = s.peer_window.of(seg);
        s.on_payload_done(now, len, false);
        let ack_is_due = s.ack_is_due();
        if multipath {
            m.dss_confirmed |= self.send.una() > 0 && s.sender.una > s.first_own();
            m.mapping_received = true;
            m.mappings.forget_below(s.receiver.rcv_nxt);
            // An edge that does not move says nothing new: none of our data is in flight.
            if self.send.una() + window > self.send.edge() {
                let edge = self.send.una() + window;
                self.paths.move_edge(edge, &mut self.send, &mut self.timers);
            }
        } else if window_is_new {
            let edge = self.fallback.tx(s.iss, s.sender.una) + window;
            if edge != self.send.edge() {
                self.paths.move_edge(edge, &mut self.send, &mut self.timers);
            }
        }
        let intact = seg.payload.offset == data;
        let (fresh, kind) = self.recv.take(data, len, id);
        if ack_is_due {
            self.fast.owe_ack(id);
        }
        Some(Predicted::Data { data, len, fresh: fresh as u32, kind, intact })
    }

    /// No handshake, close, fallback or signal is in progress, so that an acknowledgement cannot end one; and there is no backup, which it
    /// might put into use or out of it.
    pub(super) fn is_steady(&self) -> bool {
        let negotiated = self.negotiation.is_settled();
        let open = self.send.fin() == Fin::Open
            && !self.send.is_closed()
            && self.recv.end().is_none()
            && !self.negotiation.is_over();
        let no_failure = !self.fallback.is_failing()
            && self.negotiation.fast_close().is_none()
            && !self.timers.runs(Timer::Orphaned);
        let no_signals = self.addresses.are_settled() && !self.fallback.answer_is_due();
        let works = |(s, m): (&Subflow, &Member)| {
            let joined = matches!(m.join, Join::First | Join::Done) && !m.has_signal() && !m.is_backup();
            joined && s.state == State::Established && !s.close
        };
        self.fast.is_on()
            && !self.liveness.is_on()
            && negotiated
            && open
            && no_failure
            && no_signals
            && !self.paths.removal_due
            && self.paths.active().all(works)
    }

    /// Processes `seg` if it is a pure acknowledgement on a steady connection, with what it acknowledges of the data: in plain TCP by
    /// itself, with Multipath TCP in a DSS without a mapping.
    #[inline(always)]
    fn take_predicted_ack(&mut self, now: Instant, id: SubflowId, seg: &Segment) -> Option<Predicted> {
        let (s, m) = (&mut self.paths.subflows[id], &mut self.paths.members[id]);
        if !s.expects_ack(seg) {
            return None;
        }
        let data_ack = match (self.negotiation.mode(), &seg.options.mptcp) {
            (Mode::Tcp, Mptcp::None) if id == self.fallback.subflow() => None,
            (Mode::Mptcp(k), Mptcp::Dss(Dss { data_ack: Some(ack), mapping: None, data_fin: false })) => {
                Some(k.acknowledged_offset(*ack, self.send.una()))
            }
            _ => return None,
        };
        Shortcut::PredictedAck.note();
        let flowing = self.fast.take_flowing();
        let before = self.send.una();
        s.counts.segments_in += 1;
        m.probes_unanswered = 0;
        let result = s.take_expected_ack(now, seg, &self.paths.rows, &mut self.events, data_ack.is_some());
        let window = s.peer_window.of(seg);
        let idle = s.sender.board.is_empty();
        if let Some(ack) = data_ack {
            let acks_data = s.sender.una > s.first_own();
            if ack > self.send.una() {
                self.send.acknowledge(ack);
            }
            self.paths.members[id].dss_confirmed |= acks_data && self.send.una() > 0;
            if ack <= self.send.max_ack() && ack + window > self.send.edge() {
                self.paths.move_edge(ack + window, &mut self.send, &mut self.timers);
            }
        } else {
            let ack = self.fallback.tx(s.iss, s.sender.una);
            self.send.acknowledge_plain(ack);
            if result.window_is_new {
                self.paths.move_edge(ack + window, &mut self.send, &mut self.timers);
            }
        }
        self.distribution.on_progress(&self.fast, now, id, result.acked, result.lost);
        if self.config.stale_after > 0 {
            self.paths.note_heard(now, id);
            let advanced = self.send.una() > before;
            self.sending().1.arm_idle_timer(now, advanced);
        }
        if idle || self.send.is_retransmitting() {
            self.sending().1.arm_data_timer(now);
        }
        let (distribution, mut w) = self.sending();
        let window = distribution.renew(&mut w, id);
        // Penalisation may have cut the window of a third subflow meanwhile.
        if let Some(last) = flowing.filter(|_| !self.config.penalisation) {
            self.paths.keep_flowing(now, last, id, &mut self.timers, &mut self.fast);
        }
        Some(Predicted::Ack { window })
    }
}
