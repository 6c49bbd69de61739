//! New data that flows from one poll to the next on one subflow (see [`predicted`]): what a poll need not look at.

use super::{Connection, Outgoing};
use crate::event::{SendBlock, SubflowId};
use crate::shortcut::Shortcut;
use crate::time::Instant;

impl Connection {
    /// The next segment while new data flows, last on `id`.
    #[inline(always)]
    pub(super) fn poll_flowing(&mut self, now: Instant, id: SubflowId) -> Option<Outgoing> {
        Shortcut::FlowingPoll.note();
        self.distribution.set_limit(SendBlock::Application);
        let mut composing = self.composing();
        if composing.distribution.has_data(&composing.w) {
            // As the general path, only where there is data: a look notes until when pacing holds data back.
            let w = &mut composing.w;
            if w.paths.rows[id].can_send {
                w.paths.look(now, id, w.timers);
            }
            // Nobody but the flowing subflow can send, the scheduler need not be asked then, and nothing is sent again.
            let simply = w.fast.flows_simply() && w.send.reinjections().is_empty() && !w.send.has_copies();
            let data = if simply { composing.flow_on(now, id) } else { composing.poll_data(now, true) };
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
}
