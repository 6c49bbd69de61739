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
use super::ending::permanent;
use crate::event::{EndReason, Event, FallbackCause, SubflowId};
use crate::mptcp::negotiation::Mode;
use crate::segment::{Mapping, ResetReason, Signal};
use crate::tcp::subflow::State;
use crate::time::Instant;

impl Connection {
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
        let (Some(tx), true) = (self.paths.contiguous(id, &self.send), in_order) else {
            let dsn = k.peer_first_dsn.wrapping_add(self.recv.nxt());
            self.reset(id, EndReason::Middlebox, Signal::Fail { dsn }, permanent(ResetReason::MIDDLEBOX));
            return false;
        };
        for k in 0..self.paths.active.len() {
            let other = self.paths.active[k];
            if other != id && self.paths.subflows[other].state != State::Closed {
                self.reset(other, EndReason::Middlebox, Signal::None, permanent(ResetReason::MIDDLEBOX));
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
        let edge = self.send.edge().max(self.send.una());
        self.paths.move_edge(edge, &mut self.send, &mut self.timers);
        self.receiving().deliver_all(id);
        if self.paths.subflows[id].state.peer_has_closed() && self.recv.end().is_none() {
            // A FIN that has already arrived now ends the stream.
            self.recv.end_here();
        }
        true
    }

    // ---- lost options ---------------------------------------------------------------------------

    // ---- checksums ------------------------------------------------------------------------------

    /// RFC 8684 3.7: MP_FAIL arrived: our data was changed on the path.
    pub(super) fn take_fail(&mut self, now: Instant, id: SubflowId) {
        let Mode::Mptcp(k) = *self.negotiation.mode() else { return };
        // "the receiver of an MP_FAIL MUST also respond with an MP_FAIL in the reverse direction"
        let ours = self.fallback.failure();
        let dsn = ours.map_or(k.peer_first_dsn.wrapping_add(self.recv.nxt()), |(dsn, _)| dsn);
        if !self.paths.is_alone(id) {
            // The peer should have sent it on a RST: other subflows carried data too, or a join completed meanwhile. The peer did
            // not take the failed data, even if it acknowledged it on the subflow.
            self.reset(id, EndReason::Middlebox, Signal::Fail { dsn }, permanent(ResetReason::MIDDLEBOX));
            self.sending().1.reinject_missing();
            return;
        }
        // One MP_FAIL in each direction is enough; ours may already have been sent.
        let was_sent = ours.is_some_and(|(_, was_sent)| was_sent);
        if self.fall_back(id, FallbackCause::Checksum) {
            self.fallback.answer(now, dsn, was_sent);
        }
    }
}
