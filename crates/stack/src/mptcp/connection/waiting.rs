//! What each subflow waits for, for who asks: the accounts of a run by cause. Nothing here is called by the engine itself.

use super::Connection;
use crate::event::{SendBlock, SubflowId};
use crate::time::Instant;

impl Connection {
    /// Octets of our stream that the peer has acknowledged at data level.
    pub fn acknowledged(&self) -> u64 {
        self.send.una()
    }

    /// What keeps subflow `id` from sending new data at `now`, after everything that could be sent was.
    pub fn send_block(&self, id: SubflowId, now: Instant) -> SendBlock {
        let (s, m) = (&self.paths.subflows[id], &self.paths.members[id]);
        if !s.may_send() || !m.ready {
            return SendBlock::NotUp;
        }
        let sender = &s.sender;
        match sender.retries {
            0 => {}
            1 => return SendBlock::Recovery,
            _ => return SendBlock::Failed,
        }
        if sender.is_repairing() {
            return SendBlock::Recovery;
        }
        let mss = u64::from(sender.mss);
        // What is written and cannot be sent at all; less than a segment waits for more (RFC 9293 3.7.4).
        let left = self.send.unassigned();
        let usable = self.send.window_left();
        let full = !self.send.is_closed() && self.writable() < mss;
        // What was assigned to it before lies within the peer's window.
        let has_data = self.distribution.queues() && m.ahead.octets() > 0;
        if !has_data && usable < mss && (left > usable || full) {
            return SendBlock::ReceiveWindow;
        }
        // A burst that waits until more of the window is open (`Config::defer_bursts`) waits for the window.
        let deferred = sender.has_deferred() && (has_data || !self.distribution.queues());
        if deferred || !sender.has_room(sender.mss) || sender.paced_until(now).is_some() {
            return SendBlock::Cwnd;
        }
        if left >= mss || self.distribution.waits_for_window(&self.paths, &self.send) {
            return SendBlock::Scheduler;
        }
        if full { SendBlock::SendBuffer } else { SendBlock::Application }
    }
}
