//! Subflows opened, accepted and refused.

use super::*;

/// Joins of the peer's that wait for its third ACK at once: as many as there may be subflows at most.
const HALF_OPEN: usize = 255;

impl Connection {
    /// Opens a further subflow from our address `local_id` to the peer's address `remote_id`, as a backup if so wanted. `None`
    /// unless the connection is multipath, has had a DSS from the peer (RFC 8684 3.1) and is below its limit of subflows.
    pub fn open_subflow(&mut self, local_id: u8, remote_id: u8, backup: bool) -> Option<SubflowId> {
        if !self.dss_came || !matches!(self.mode, Mode::Mptcp(_)) || self.closed || self.is_full() {
            return None;
        }
        self.disturb();
        let (iss, nonce) = (self.entropy.next_u32(), self.entropy.next_u32());
        let id = self.paths.next_number();
        let subflow = Subflow::connect(id, &self.config, iss, self.window_shift());
        let member = Member { remote_id, backup, ..Member::new(Join::SynSent { nonce }, local_id) };
        Some(self.paths.add(subflow, member))
    }

    /// Answers a SYN with MP_JOIN; it arrived at our address `local_id`, and the subflow is a backup if the peer or
    /// `backup` says so.
    ///
    /// # Errors
    /// If the SYN cannot join: what a reset is to say of it (see [`refusal`]).
    pub fn accept_join(&mut self, syn: &Segment, local_id: u8, backup: bool) -> Result<SubflowId, TcpRst> {
        let refused = |transient, reason| Err(TcpRst { transient, reason });
        let Mptcp::JoinSyn { nonce: peer_nonce, token, address_id, backup: peer_backup } = syn.options.mptcp else {
            return refused(false, ResetReason::MPTCP);
        };
        // 3.2: the token is unknown, or of a connection that speaks plain TCP.
        if self.token() != Some(token) || self.closed {
            return refused(false, ResetReason::MPTCP);
        }
        // The keys are not known yet; or the connection is about to be plain TCP (3.7).
        if !matches!(self.mode, Mode::Mptcp(_)) || self.failing.is_some() {
            return refused(true, ResetReason::MPTCP);
        }
        if self.is_full() {
            return refused(true, ResetReason::RESOURCES);
        }
        self.make_room();
        self.disturb();
        let (iss, nonce) = (self.entropy.next_u32(), self.entropy.next_u32());
        let id = self.paths.next_number();
        let subflow = Subflow::accept(id, &self.config, iss, self.window_shift(), syn);
        let join = Join::SynReceived { nonce, peer_nonce };
        let member = Member { remote_id: address_id, backup, peer_backup, ..Member::new(join, local_id) };
        Ok(self.paths.add(subflow, member))
    }

    /// No further subflow may be opened now. Half-open ones do not count.
    pub(super) fn is_full(&self) -> bool {
        let open = self.paths.active().filter(|(s, m)| s.state != State::Closed && !m.is_half_open());
        open.count() >= self.config.subflow_limit
    }

    /// Room for one more half-open join: the oldest of too many yields. It is not told, for it may be nobody.
    pub(super) fn make_room(&mut self) {
        // Who yielded before; whoever yields now keeps its number until the driver has heard of it.
        self.paths.remove_closed();
        let half_open = self.paths.active().filter(|(s, m)| s.state != State::Closed && m.is_half_open());
        let crowded = half_open.clone().count() >= HALF_OPEN;
        let oldest = half_open.map(|(s, _)| s.id).next();
        if let Some(oldest) = oldest.filter(|_| crowded) {
            self.paths.subflows[oldest].end(EndReason::Refused);
            self.on_subflow_end(oldest, EndReason::Refused);
        }
    }
}
