//! New data that flows from one poll to the next on one subflow (see [`predicted`]): what a poll need not look at.

use super::{Connection, Outgoing};
use crate::event::{SendBlock, SendKind, SubflowId};
use crate::mptcp::distribution::Choice;
use crate::shortcut::Shortcut;
use crate::time::Instant;

impl Connection {
    /// The next segment while new data flows, last on `id`.
    #[inline(always)]
    pub(super) fn poll_flowing(&mut self, now: Instant, id: SubflowId) -> Option<Outgoing> {
        Shortcut::FlowingPoll.note();
        self.distribution.set_limit(SendBlock::Application);
        let (distribution, w) = self.sending();
        if distribution.has_data(&w) {
            // As the general path, only where there is data: a look notes until when pacing holds data back.
            if self.paths.rows[id].can_send {
                self.paths.look(now, id, &mut self.timers);
            }
            let data = if self.flows_simply() { self.flow_on(now, id) } else { self.poll_data(now, true) };
            if data.is_some() {
                return data;
            }
        }
        let control = self.poll_rest(now, false);
        if control.is_some() || self.send.is_closed() {
            self.fast.look_again();
        }
        control
    }

    /// Nobody but the flowing subflow can send, the scheduler need not be asked then, and nothing is sent again.
    #[inline(always)]
    fn flows_simply(&self) -> bool {
        self.fast.flows_simply() && self.send.reinjections().is_empty() && !self.send.has_copies()
    }

    /// [`Connection::poll_data`] where it comes to the next new segment on `id`, or to nothing.
    #[inline(always)]
    fn flow_on(&mut self, now: Instant, id: SubflowId) -> Option<Outgoing> {
        if !self.paths.rows[id].can_send {
            self.distribution.set_limit(SendBlock::Cwnd);
            return None;
        }
        let sender = &self.paths.subflows[id].sender;
        let end = self.send.written().min(self.send.edge());
        let segments = end.saturating_sub(self.send.nxt()).min(sender.free()) / u64::from(sender.mss);
        if segments == 0 {
            return self.poll_data(now, true);
        }
        // Until the next input these may follow without another look. After an idle period the window may restart with this one (RFC 5681 4.1).
        let looks = sender.is_metered() || sender.board.is_empty();
        self.fast.set_budget(if looks { 0 } else { (segments - 1).min(64) as u32 });
        Some(self.send_full(now, id))
    }

    /// Sends the next full-sized segment of new data on `id`, which nobody else can.
    #[inline(always)]
    pub(super) fn send_full(&mut self, now: Instant, id: SubflowId) -> Outgoing {
        let mss = self.paths.subflows[id].sender.mss;
        let data = self.send.advance(u64::from(mss));
        match self.send_from_template(now, id, data, mss) {
            Some(outgoing) => outgoing,
            None => self.send(now, Choice { id, data, len: mss, kind: SendKind::New, choices: 1 }),
        }
    }
}
