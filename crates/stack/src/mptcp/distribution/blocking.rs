//! Opportunistic retransmission and penalisation (Raiciu et al., NSDI 2012, 4.2), by the rules of
//! the out-of-tree kernel (`mptcp_rcv_buf_optimization`): data in flight on a slow subflow must not
//! keep a fast one from sending.
//!
//! If there is data to send and the peer's window takes none, or the application waits for room in
//! the send buffer, the oldest segment without a DATA_ACK blocks. Let f be the fastest subflow with
//! room:
//!
//! - *Penalisation*, once in a round-trip time of f: the first other subflow that carries the
//!   segment, if it is slower and not in recovery, has its window halved. It then takes less of the
//!   shared window in future.
//! - *Opportunistic retransmission*: the segment is sent on f, too, if f never carried it and each
//!   carrier is more than four times as slow as f, up to the first carrier whose window has four
//!   segments or less.
//!
//! Under a scheduler that assigns ahead, the subflow on which a segment waits counts as a carrier.
//! The segment is then taken from its queue.

use super::Distribution;
use super::sending::{Choice, Sending};
use crate::controller::Adjust;
use crate::event::{SendBlock, SendKind, SubflowId};
use crate::path::Recovery;
use crate::time::Instant;

impl Distribution {
    /// Nothing could be sent, and the rows are those of a scheduler that sends only where a window
    /// has room: penalises the carrier of the blocking segment, or sends the segment again.
    pub(super) fn unblock(&mut self, w: &mut Sending, now: Instant) -> Option<Choice> {
        if !w.may_unblock() || !self.is_blocked(w) {
            return None;
        }
        let rows = &w.paths.rows;
        let regular = rows.iter().any(|row| row.established && !row.stale && !row.backup);
        let open = rows.iter().enumerate().filter(|(_, row)| row.can_send && !(row.backup && regular));
        let fast = open.min_by_key(|(_, row)| row.srtt).map(|(id, _)| id)?;
        self.penalise_carrier(w, now, fast);
        let data = w.send.una();
        // Once only: if the peer has acknowledged a segment on f without a DATA_ACK, sending it on
        // f did not help.
        let again = w.paths.members[fast].resent_to > data;
        if !w.config.opportunistic_retransmission || again || w.paths.carried(fast, data).is_some() {
            return None;
        }
        let end = w.paths.worth_repeating(fast, data)?;
        let len = (end - data).min(u64::from(w.paths.subflows[fast].sender.mss)) as u32;
        w.paths.members[fast].resent_to = data + u64::from(len);
        for m in &mut w.paths.members {
            m.ahead.remove_front(data, data + u64::from(len));
        }
        Some(self.assign(w, fast, (data, len), SendKind::Reinjection))
    }

    /// Returns true if the peer's window does not take another segment of the unassigned data, or
    /// if there is no such data because the send buffer is full.
    fn is_blocked(&self, w: &Sending) -> bool {
        let (left, room) = (w.send.unassigned(), w.send.window_left());
        let full = room < left && room < u64::from(w.config.mss);
        if left > 0 { full } else { self.nothing_to_send(w) == SendBlock::SendBuffer }
    }

    /// Halves the window of the first carrier of the blocking segment, at most once per RTT of
    /// `fast`.
    fn penalise_carrier(&mut self, w: &mut Sending, now: Instant, fast: SubflowId) {
        let srtt = w.paths.rows[fast].srtt;
        if !w.config.penalisation || now.since(self.penalised) < srtt {
            return;
        }
        let Some((slow, _)) = w.paths.carriers(fast, w.send.una()).next() else { return };
        let row = &w.paths.rows[slow];
        if srtt < row.srtt && row.recovery == Recovery::Open {
            self.penalised = now;
            self.penalise(w, slow);
        }
    }

    /// Lets the controller of `id` reduce its window.
    pub(super) fn penalise(&mut self, w: &mut Sending, id: SubflowId) {
        w.paths.subflows[id].sender.controller.adjust(Adjust::Penalise);
        self.refresh(w, id);
    }
}
