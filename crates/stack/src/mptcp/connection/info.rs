//! The state of a connection in figures, as `struct tcp_info` of other stacks has it: for inspection, not for control.

use super::Connection;
use crate::event::SubflowId;
pub use crate::tcp::info::{Info, Times};
use crate::time::Instant;

impl Connection {
    /// The state of subflow `id` and of the connection in figures, at `now`.
    ///
    /// # Panics
    /// If the connection has given no such number.
    pub fn info(&self, now: Instant, id: SubflowId) -> Info {
        let mut info = self.paths.subflows[id].info();
        info.times = self.distribution.times(now);
        info.unsent = self.outbound().unsent();
        info.unread = self.inbound().readable();
        info.peer_window = self.send.edge().saturating_sub(self.send.una());
        info.keepalives = self.paths.members[id].keepalives;
        info.last_heard = self.liveness.is_on().then(|| now.since(self.paths.members[id].heard));
        info
    }
}
