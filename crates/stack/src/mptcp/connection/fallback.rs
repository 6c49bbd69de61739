//! Fallback (RFC 8684 3.7): what happens if a path removes MPTCP options or changes the payload.
//!
//! Plain TCP is the same data stream on one subflow without signals. As long as one subflow alone has carried all data that is
//! not yet acknowledged, sequence numbers and data offsets advance together, and the connection can fall back to plain TCP at any
//! moment. Each direction is then one infinite mapping from a point that both sides agree on. Otherwise the subflow is reset and
//! its data is reinjected on others.
//!
//! - Options lost in the handshake, with the first data, or with its acknowledgement: plain TCP (here and in `handshakes`).
//! - Options lost on a further subflow, or later: that subflow is reset with the reason "middlebox interference".
//! - A checksum fails. On one of several subflows: RST with MP_FAIL. On the only subflow: an acknowledgement with MP_FAIL. The
//!   peer answers with MP_FAIL and an infinite mapping, and both sides become plain TCP. RFC 8684 3.7: data from the failed mapping on waits for that answer,
//!   and is not acknowledged at data level before.

use super::Connection;
use crate::event::{EndReason, Event, FallbackCause, SubflowId};
use crate::mptcp::handshake::{Join, Keys, Member};
use crate::mptcp::negotiation::Mode;
use crate::mptcp::timers::Timer;
use crate::mptcp::verify::Broken;
use crate::segment::{Dss, Mapping, Mptcp, Payload, ResetReason, Segment, Signal, TcpRst};
use crate::seq::Seq;
use crate::tcp::subflow::State;
use crate::time::Instant;
use crate::wire::checksum::{Sum, dss_pseudo_header};

/// The mapping of `seg` that maps payload, if it does, and whether its last octet is a DATA_FIN. That of the third ACK is of the first data (3.1).
fn own_mapping(seg: &Segment) -> Option<(Mapping, bool)> {
    match seg.options.mptcp {
        Mptcp::Dss(Dss { mapping: Some(m), data_fin, .. }) if m.len >= u16::from(data_fin) => Some((m, data_fin)),
        Mptcp::CapableAck { data: Some((len, checksum)), .. } => {
            Some((Mapping { dsn: 0, short: false, ssn: 1, len, checksum }, false))
        }
        _ => None,
    }
}

fn middlebox() -> Option<TcpRst> {
    Some(TcpRst { transient: false, reason: ResetReason::MIDDLEBOX })
}

impl Connection {
    /// The sequence number on `id` and the data offset where our unacknowledged data begins, if `id` alone carries it
    /// contiguously.
    fn contiguous(&self, id: SubflowId) -> Option<(Seq, u64)> {
        let s = &self.paths.subflows[id];
        let next = s.sender.board.is_empty().then_some(s.sender.nxt);
        self.send.contiguous(id, (s.first_own(), u64::from(s.fast_open.tx)), next)
    }

    // ---- becoming plain TCP ---------------------------------------------------------------------

    /// The handshake has shown that the peer, or the path, does not support MPTCP.
    pub(super) fn never_multipath(&mut self, subflow: SubflowId, cause: FallbackCause) {
        self.negotiation.fall_back(&mut self.fast);
        if let Some(s) = self.paths.subflows.get_mut(subflow) {
            s.release_dss_room(&self.config);
        }
        self.addresses.clear();
        self.events.push_back(Event::Fallback { subflow, cause });
    }

    /// RFC 8684 3.7: continues as plain TCP on `id` alone. If that is impossible because other subflows carried data, resets `id` and returns
    /// false.
    pub(super) fn fall_back(&mut self, id: SubflowId, cause: FallbackCause) -> bool {
        let Mode::Mptcp(k) = *self.negotiation.mode() else { return false };
        let in_order = self.recv.held().1 == 0;
        let (Some(tx), true) = (self.contiguous(id), in_order) else {
            let dsn = k.peer_first_dsn.wrapping_add(self.recv.nxt());
            self.reset(id, EndReason::Middlebox, Signal::Fail { dsn }, middlebox());
            return false;
        };
        for k in 0..self.paths.active.len() {
            let other = self.paths.active[k];
            if other != id && self.paths.subflows[other].state != State::Closed {
                self.reset(other, EndReason::Middlebox, Signal::None, middlebox());
            }
        }
        // Data in order on the subflow but not yet verified begins here. If there is none, RCV.NXT
        // maps to the next expected data.
        self.fallback.begin_rx(match self.paths.members[id].unverified.front() {
            Some(&(seq, piece)) => (seq, piece.data),
            None => (self.paths.subflows[id].receiver.rcv_nxt, self.recv.nxt()),
        });
        let s = &self.paths.subflows[id];
        let ssn = (tx.0.0.wrapping_sub(s.first_own().0) as u32).wrapping_add(1);
        let dsn = k.own_first_dsn.wrapping_add(tx.1);
        // 3.7: the infinite mapping applies retroactively, from the last data known to have been delivered intact. Its checksum
        // is zero.
        let infinite = Mapping { dsn, short: false, ssn, len: 0, checksum: self.config.checksum.then_some(0) };
        self.fallback.begin(id, tx, infinite);
        if cause == FallbackCause::Options && self.paths.members[id].mapping_received {
            self.fallback.peer_is_untold(s.sender.nxt, k);
        }
        self.never_multipath(id, cause);
        self.fallback.forget_failing(&mut self.timers);
        self.send.forget_repetitions();
        self.paths.forget_assigned(&mut self.send);
        self.send.stop_retransmission(&mut self.timers);
        // 3.7: from now on only the subflow's cumulative ACK counts.
        let s = &self.paths.subflows[id];
        self.send.acknowledge_plain(self.fallback.tx(s.iss, s.sender.una));
        // What it acknowledges lay within the window: a probe, whose acknowledgement may have been the last segment that could be taken.
        self.move_peer_edge(self.send.edge().max(self.send.una()));
        self.recv.delivered().clear();
        self.release(id);
        self.place_delivered(id);
        if self.paths.subflows[id].state.peer_has_closed() && self.recv.end().is_none() {
            // A FIN that has already arrived now ends the stream.
            self.recv.end_here();
        }
        true
    }

    /// RFC 8684 3.7: the peer sends an infinite mapping: all data that follows is mapped at once.
    pub(super) fn take_infinite(&mut self, id: SubflowId, k: &Keys, m: &Mapping) {
        let s = &self.paths.subflows[id];
        let seq = Seq::unwrap(s.mapped_seq(m.ssn), s.receiver.rcv_nxt);
        let data = k.mapped_offset(m, self.recv.nxt());
        if data > self.recv.nxt() || self.fallback.contradicts((seq, data)) {
            // The data before the infinite mapping would never arrive, or it is not where the checksum failed.
            self.reset(id, EndReason::Middlebox, Signal::None, middlebox());
            return;
        }
        self.fallback.begin_rx((seq, data));
        self.fall_back(id, FallbackCause::InfiniteMapping);
    }

    // ---- lost options ---------------------------------------------------------------------------

    /// 3.7: the segment acknowledges data without a DSS, or carries data without a mapping, on a path that has never been shown
    /// to pass the options. Returns false if the segment must be dropped.
    pub(super) fn check_options(&mut self, id: SubflowId, seg: &Segment) -> bool {
        let s = &self.paths.subflows[id];
        if self.paths.members[id].dss_confirmed {
            return true;
        }
        // Only acknowledgements of data in flight count. (RFC 8684 3.3.2: a DATA_ACK may be left out where it says nothing new.)
        let ack = Seq::unwrap(seg.ack, s.sender.una);
        let acks_data = ack > s.first_own() && ack > s.sender.una && ack <= s.sender.nxt;
        let acks_data = acks_data && s.sender.board.front().is_some_and(|front| front.data_len() > 0);
        if !matches!(seg.options.mptcp, Mptcp::None) || !seg.options.signal.is_empty() {
            self.paths.members[id].acked_bare |=
                acks_data && matches!(seg.options.mptcp, Mptcp::CapableAck { data: None, .. });
            return true;
        }
        // Before any DATA_ACK those without payload count again, of data that a box ahead of its peer has acknowledged already.
        let unheard = seg.payload.len == 0 && self.send.una() == 0 && self.send.nxt() > 0;
        let bare_data = seg.payload.len > 0 && !self.paths.members[id].mapping_received;
        // No other path has been shown to pass them either: a join that has not been answered is given up.
        let joined = |m: &Member| m.join == Join::Done || (m.join != Join::First && m.ready);
        let alone = self.paths.members[id].join == Join::First && !self.paths.members.iter().any(joined);
        let lost = acks_data || bare_data || (unheard && ack > s.first_own() && ack == s.sender.una && alone);
        if lost && alone {
            return self.fall_back(id, FallbackCause::Options);
        }
        if acks_data {
            self.reset(id, EndReason::Middlebox, Signal::None, middlebox());
        }
        !acks_data
    }

    /// RFC 8684 3.3.1, 3.7: data arrived without a mapping. If the next expected octet arrives so repeatedly, and nothing else does, the subflow is
    /// reset.
    pub(super) fn on_unmapped(&mut self, id: SubflowId, start: Seq) {
        if self.paths.comes_repeatedly(id, start) {
            self.reset(id, EndReason::Middlebox, Signal::None, middlebox());
        }
    }

    // ---- checksums ------------------------------------------------------------------------------

    /// The checksum of our mapping, for a payload that sums to zero.
    pub(super) fn checksum_of(&self, dsn: u64, ssn: u32, len: u16) -> Option<u16> {
        self.config.checksum.then(|| dss_pseudo_header(dsn, ssn, len).checksum())
    }

    /// Notes the mapping of `seg`, which is of more than its payload: `octets` from `at` on are data from `data` on. Its checksum is noted
    /// as well, since its octets may come in segments without (3.3.1). Returns false if too many mappings wait for their octets.
    pub(super) fn note_mapping(
        &mut self,
        id: SubflowId,
        k: &Keys,
        seg: &Segment,
        at: Seq,
        data: u64,
        octets: u64,
    ) -> bool {
        if !self.is_as_negotiated(id, seg) {
            return false;
        }
        let end = at + octets;
        if let Some((Mapping { ssn, len, checksum: Some(c), .. }, _)) = own_mapping(seg) {
            let pseudo = dss_pseudo_header(k.peer_first_dsn.wrapping_add(data), ssn, len);
            let expected = self.paths.subflows[id].receiver.rcv_nxt;
            let checks = &mut self.paths.members[id].checks;
            if end > expected && !checks.promise((at, end), data, pseudo.plus(Sum(c)), expected) {
                return false;
            }
        }
        self.paths.members[id].mappings.add(at, data, octets);
        true
    }

    /// Records a segment whose octets are all mapped, the first of them to `data`. Returns false if a checksum has failed and the
    /// segment must not be taken.
    pub(super) fn verify(&mut self, id: SubflowId, seg: &Segment, payload: Payload, start: Seq, data: u64) -> bool {
        let Mode::Mptcp(k) = *self.negotiation.mode() else { return true };
        if let Some(dsn) = self.fallback.renew_failure(id) {
            return self.is_contiguous(id, &k, seg, dsn);
        }
        if !self.is_as_negotiated(id, seg) {
            return false;
        }
        if !self.config.checksum {
            return true;
        }
        let end = start + u64::from(payload.len);
        let sum = Sum(payload.sum);
        let mut broken = None;
        if let Some((m, data_fin)) = own_mapping(seg) {
            let s = &self.paths.subflows[id];
            let at = Seq::unwrap(s.mapped_seq(m.ssn), s.receiver.rcv_nxt);
            let mapped_end = at + (u64::from(m.len) - u64::from(data_fin));
            let mapped = data.wrapping_sub(start.0.wrapping_sub(at.0));
            let dsn = k.peer_first_dsn.wrapping_add(mapped);
            let pseudo = dss_pseudo_header(dsn, m.ssn, m.len);
            // Others are noted with the mapping.
            if let Some(c) = m.checksum.filter(|_| at == start && mapped_end == end) {
                let valid = pseudo.plus(Sum(c)).plus(sum).is_valid();
                broken = (!valid).then_some(Broken { seq: at, data: mapped });
            }
        }
        // Its boundaries are not those of what has arrived before. The peer sends it again, perhaps
        // with other boundaries.
        if !self.paths.members[id].checks.can_tell(start, end) && !self.paths.comes_repeatedly(id, start) {
            return false;
        }
        let checks = &mut self.paths.members[id].checks;
        if broken.is_none() && !checks.is_empty() {
            checks.arrive(start, end, sum);
            broken = checks.verify(start, end);
        }
        match broken {
            None => true,
            Some(broken) => self.on_broken(id, &k, broken),
        }
    }

    /// After a checksum has failed: returns false, and resets the subflow, if the mapping of `seg` does not continue the one that failed,
    /// as it must if the peer is to fall back. Data that it sends once more have a second place in the sequence space.
    fn is_contiguous(&mut self, id: SubflowId, k: &Keys, seg: &Segment, failed: u64) -> bool {
        let Mptcp::Dss(Dss { mapping: Some(m), .. }) = seg.options.mptcp else { return true };
        let s = &self.paths.subflows[id];
        let at = Seq::unwrap(s.mapped_seq(m.ssn), s.receiver.rcv_nxt);
        let (from, _) = self.fallback.rx_base().unwrap_or((at, 0));
        // By the numbers of the mapping: a box that changes lengths changes those of the segments.
        let contiguous = at < from || self.fallback.rx(s.irs, at) == Some(k.mapped_offset(&m, self.recv.nxt()));
        if !contiguous {
            // 3.7: "In the rare case that the data is not contiguous [...], the receiver MUST close the subflow with a RST with MP_FAIL."
            self.reset(id, EndReason::Middlebox, Signal::Fail { dsn: failed }, middlebox());
        }
        contiguous
    }

    /// Returns false, and resets the subflow, if the mapping of `seg` has a checksum although none were agreed on, or has none although they were.
    fn is_as_negotiated(&mut self, id: SubflowId, seg: &Segment) -> bool {
        let Some((Mapping { len, checksum, .. }, _)) = own_mapping(seg) else { return true };
        // RFC 8684 3.3: in both cases "the receiver MUST close the subflow with a RST". An infinite mapping has none (3.7).
        let right = if self.config.checksum { checksum.is_some() || len == 0 } else { checksum.is_none() };
        if !right {
            self.reset_unnegotiated(id);
        }
        right
    }

    fn reset_unnegotiated(&mut self, id: SubflowId) {
        let tcp_rst = TcpRst { transient: false, reason: ResetReason::MPTCP };
        self.reset(id, EndReason::Middlebox, Signal::None, Some(tcp_rst));
    }

    /// 3.7: a checksum has failed. Returns false if the subflow is reset.
    fn on_broken(&mut self, id: SubflowId, k: &Keys, broken: Broken) -> bool {
        self.events.push_back(Event::ChecksumFailed { subflow: id, data: broken.data });
        let dsn = k.peer_first_dsn.wrapping_add(broken.data);
        if !self.paths.is_alone(id) || self.recv.held().1 > 0 || broken.data < self.recv.nxt() {
            self.reset(id, EndReason::Middlebox, Signal::Fail { dsn }, middlebox());
            return false;
        }
        self.fallback.fail(id, dsn, (broken.seq, broken.data), &mut self.fast);
        // What leaves until the answer comes, a window probe say, must continue what was sent: the peer may be plain TCP by then.
        self.paths.forget_assigned(&mut self.send);
        true
    }

    /// MP_FAIL has had no answer for long enough: whether the peer is plain TCP cannot be known, and nothing can be delivered.
    pub(super) fn give_up_failing(&mut self, now: Instant) {
        if self.timers.has_expired(Timer::Fail, now) {
            if let Some((subflow, dsn)) = self.fallback.unanswered() {
                self.reset(subflow, EndReason::Middlebox, Signal::Fail { dsn }, middlebox());
            }
        }
    }

    /// RFC 8684 3.7: MP_FAIL arrived: our data was changed on the path.
    pub(super) fn take_fail(&mut self, now: Instant, id: SubflowId) {
        let Mode::Mptcp(k) = *self.negotiation.mode() else { return };
        // "the receiver of an MP_FAIL MUST also respond with an MP_FAIL in the reverse direction"
        let ours = self.fallback.failure();
        let dsn = ours.map_or(k.peer_first_dsn.wrapping_add(self.recv.nxt()), |(dsn, _)| dsn);
        if !self.paths.is_alone(id) {
            // The peer should have sent it on a RST: other subflows carried data too, or a join completed meanwhile. The peer did
            // not take the failed data, even if it acknowledged it on the subflow.
            self.reset(id, EndReason::Middlebox, Signal::Fail { dsn }, middlebox());
            self.reinject_missing();
            return;
        }
        // One MP_FAIL in each direction is enough; ours may already have been sent.
        let was_sent = ours.is_some_and(|(_, was_sent)| was_sent);
        if self.fall_back(id, FallbackCause::Checksum) {
            self.fallback.answer(now, dsn, was_sent);
        }
    }

    // ---- data waiting for verification ----------------------------------------------------------

    /// Delivers verified data, in order.
    pub(super) fn release(&mut self, id: SubflowId) {
        if !self.fallback.has_failed(id) {
            self.paths.release_verified(id, self.negotiation.is_plain(), self.recv.delivered());
        }
    }
}
