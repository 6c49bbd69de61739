//! Subflows: opening, accepting and refusing them.

use super::Connection;
use crate::event::{EndReason, SubflowId};
use crate::mptcp::handshake::{Join, Member};
use crate::mptcp::negotiation::JoinRefusal;
use crate::mptcp::recv_stream::window_shift;
use crate::segment::{Mptcp, ResetReason, Segment, TcpRst};
use crate::tcp::subflow::Subflow;

impl Connection {
    /// Returns why [`Connection::open_subflow`] to the peer's address `remote_id` would open
    /// nothing now; `None` if it would open a subflow. Without `remote_id`, the address is left out
    /// of account.
    pub fn join_refusal(&self, remote_id: Option<u8>) -> Option<JoinRefusal> {
        self.negotiation
            .join_refusal(remote_id)
            .or_else(|| self.paths.are_full(self.config.subflow_limit).then_some(JoinRefusal::Full))
    }

    /// Opens a further subflow from our address `local_id` to the peer's address `remote_id`, as a backup if `backup`. Returns
    /// `None` unless the connection is multipath, has received a DSS (RFC 8684 3.1) and is below its limit of subflows, and the peer takes subflows there.
    pub fn open_subflow(&mut self, local_id: u8, remote_id: u8, backup: bool) -> Option<SubflowId> {
        if self.join_refusal(Some(remote_id)).is_some() {
            return None;
        }
        let (iss, nonce) = self.paths.draw();
        let id = self.paths.next_number();
        let subflow = Subflow::connect(id, &self.config, iss, window_shift(&self.config));
        let member = Member { remote_id, backup, ..Member::new(Join::SynSent { nonce }, local_id) };
        Some(self.paths.add(subflow, member, &mut self.fast))
    }

    /// Answers a SYN with MP_JOIN that arrived at our address `local_id`. The subflow is a backup if the peer or `backup` says
    /// so.
    ///
    /// # Errors
    /// If the SYN cannot join: the reason to put into the reset (see [`refusal`](super::refusal)).
    pub fn accept_join(&mut self, syn: &Segment, local_id: u8, backup: bool) -> Result<SubflowId, TcpRst> {
        let refused = |transient, reason| Err(TcpRst { transient, reason });
        let Mptcp::JoinSyn { nonce: peer_nonce, token, address_id, backup: peer_backup } = syn.options.mptcp else {
            return refused(false, ResetReason::MPTCP);
        };
        // RFC 8684 3.2, 3.7: the token is unknown, or belongs to a connection that is plain TCP.
        if self.token() != Some(token) || self.negotiation.is_over() {
            return refused(false, ResetReason::MPTCP);
        }
        // Either the keys are not known yet, or the connection is about to fall back to plain TCP (3.7).
        if !self.negotiation.is_multipath() || self.fallback.is_failing() {
            return refused(true, ResetReason::MPTCP);
        }
        if self.paths.are_full(self.config.subflow_limit) {
            return refused(true, ResetReason::RESOURCES);
        }
        if let Some(oldest) = self.paths.crowded_out() {
            // Its peer is not told, since it may not exist.
            self.paths.subflows[oldest].end(EndReason::Refused);
            self.on_subflow_end(oldest, EndReason::Refused);
        }
        let (iss, nonce) = self.paths.draw();
        let id = self.paths.next_number();
        let subflow = Subflow::accept(id, &self.config, iss, window_shift(&self.config), syn);
        let join = Join::SynReceived { nonce, peer_nonce };
        let member = Member { remote_id: address_id, backup, peer_backup, ..Member::new(join, local_id) };
        Ok(self.paths.add(subflow, member, &mut self.fast))
    }

    /// Adds `offset`, in milliseconds, to the timestamps that subflow `id` sends (RFC 7323 5.4).
    /// Call it right after the subflow was opened, before its first segment.
    /// [`crate::host::Endpoint`] derives the offset from the 4-tuple and a secret.
    pub fn shift_timestamps(&mut self, id: SubflowId, offset: u32) {
        self.paths.subflows[id].shift_timestamps(offset);
    }
}
