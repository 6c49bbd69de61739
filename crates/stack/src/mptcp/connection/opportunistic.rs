//! Opportunistic retransmission and penalisation (Raiciu et al., NSDI 2012, 4.2), by the rules of the out-of-tree kernel
//! (`mptcp_rcv_buf_optimization`): what a slow subflow has in flight must not keep a fast one from sending.
//!
//! When there is data to send and the peer's window takes none, or the application waits for room in the send buffer, the oldest segment
//! without a DATA_ACK blocks. The fastest subflow with room, f, could send:
//!
//! - *Penalisation*, once in a round-trip time of f: the first other subflow that carries the segment, if it is slower and not in recovery, has
//!   its window halved, so that it takes less of the shared window in future.
//! - *Opportunistic retransmission*: the segment goes out on f, too, if f never carried it and each subflow that does is more than four times as
//!   slow, up to the first one whose window is four segments or less.
//!
//! For a scheduler that assigns ahead a segment is carried by the subflow it waits on, too. It is then taken from there.

use super::{Connection, Outgoing};
use crate::controller::Adjust;
use crate::event::{SendBlock, SendKind, SubflowId};
use crate::path::Recovery;
use crate::tcp::subflow::State;
use crate::time::Instant;

/// How much slower than f a carrier must be for the segment to be sent again.
const FACTOR: u64 = 4;
/// A carrier's window of so many segments permits it in any case.
const SMALL: f64 = 4.0;

impl Connection {
    /// The scheduler's blocked data is looked at ([`Config::opportunistic_retransmission`], [`Config::penalisation`]).
    pub(super) fn may_unblock(&self) -> bool {
        self.fast.unblocks() && self.send.una() < self.send.nxt() && self.may_duplicate()
    }

    /// Nothing could be sent, and the rows are those of a scheduler gated by the windows: penalises who blocks, sends again what blocks.
    pub(super) fn poll_blocking(&mut self, now: Instant) -> Option<Outgoing> {
        if !self.may_unblock() || !self.is_blocked() {
            return None;
        }
        let regular = self.paths.rows.iter().any(|row| row.established && !row.stale && !row.backup);
        let open = self.paths.rows.iter().enumerate().filter(|(_, row)| row.can_send && !(row.backup && regular));
        let fast = open.min_by_key(|(_, row)| row.srtt).map(|(id, _)| id)?;
        self.penalise(now, fast);
        // Once: what f has carried and its peer has acknowledged there, without a DATA_ACK, did not help.
        let again = self.paths.members[fast].resent_to > self.send.una();
        if !self.config.opportunistic_retransmission || again || self.carried(fast).is_some() {
            return None;
        }
        let end = self.worth_repeating(fast)?;
        let len = (end - self.send.una()).min(u64::from(self.paths.subflows[fast].sender.mss)) as u32;
        let data = self.send.una();
        self.paths.members[fast].resent_to = data + u64::from(len);
        for m in &mut self.paths.members {
            m.ahead.remove_front(data, data + u64::from(len));
        }
        Some(self.assign(now, fast, (data, len), SendKind::Reinjection))
    }

    /// The peer's window does not take another segment of what is left, or there is nothing left because the send buffer is full.
    fn is_blocked(&self) -> bool {
        let (left, room) = (self.send.unassigned(), self.send.window_left());
        let full = room < left && room < u64::from(self.config.mss);
        if left > 0 { full } else { self.nothing_to_send() == SendBlock::SendBuffer }
    }

    /// The end of the segment with the oldest octet, if `id` has it in flight or waiting.
    fn carried(&self, id: SubflowId) -> Option<u64> {
        let una = self.send.una();
        let (s, m) = (&self.paths.subflows[id], &self.paths.members[id]);
        if s.state == State::Closed {
            return None;
        }
        let sent = s.sender.board.iter().filter(|s| s.data_len() > 0).map(|s| (s.data, s.data_end()));
        let waits = m.ahead.front(s.sender.mss).map(|(start, len)| (start, start + u64::from(len)));
        sent.chain(waits).find(|&(start, end)| start <= una && una < end).map(|(_, end)| end)
    }

    fn carriers(&self, fast: SubflowId) -> impl Iterator<Item = (SubflowId, u64)> + '_ {
        let others = self.paths.active.iter().copied().filter(move |&id| id != fast);
        others.filter_map(|id| Some((id, self.carried(id)?)))
    }

    fn penalise(&mut self, now: Instant, fast: SubflowId) {
        let srtt = self.paths.rows[fast].srtt;
        if !self.config.penalisation || !self.distribution.may_penalise(now, srtt) {
            return;
        }
        let Some((slow, _)) = self.carriers(fast).next() else { return };
        let row = &self.paths.rows[slow];
        if srtt < row.srtt && row.recovery == Recovery::Open {
            self.distribution.note_penalty(now);
            self.paths.subflows[slow].sender.controller.adjust(Adjust::Penalise);
            self.refresh(slow);
        }
    }

    /// The end of the oldest segment, if its carriers are slow enough for it to be sent again on `fast`.
    fn worth_repeating(&self, fast: SubflowId) -> Option<u64> {
        let srtt = self.paths.rows[fast].srtt;
        let mut found = None;
        for (id, end) in self.carriers(fast) {
            let row = &self.paths.rows[id];
            if row.cwnd <= SMALL * f64::from(row.mss) {
                return Some(end);
            }
            if srtt.saturating_mul(FACTOR) >= row.srtt {
                return None;
            }
            found = Some(end);
        }
        found
    }
}
