//! The state of a connection in figures, as `struct tcp_info` of other stacks has it: for inspection, not for control.

use super::Connection;
use crate::event::{SendBlock, SubflowId};
pub use crate::tcp::info::{Info, Times};
use crate::time::Instant;

/// What the sender was limited by, and for how long each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    times: Times,
    now: Kind,
    since: Instant,
}

/// What a moment counts for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Idle,
    Busy,
    ReceiveWindow,
    SendBuffer,
}

impl Spent {
    /// The times up to `now`.
    fn until(&self, now: Instant) -> Times {
        let (mut times, passed) = (self.times, now.since(self.since));
        let of_kind = match self.now {
            Kind::Idle => return times,
            Kind::Busy => None,
            Kind::ReceiveWindow => Some(&mut times.receive_window_limited),
            Kind::SendBuffer => Some(&mut times.send_buffer_limited),
        };
        of_kind.into_iter().for_each(|of_kind| of_kind.0 += passed.0);
        times.busy.0 += passed.0;
        times
    }
}

impl Connection {
    /// A poll has ended: what limits the sender from now on.
    #[inline]
    pub(super) fn note_limit(&mut self, now: Instant) {
        let kind = match self.distribution.limit() {
            SendBlock::ReceiveWindow => Kind::ReceiveWindow,
            SendBlock::SendBuffer => Kind::SendBuffer,
            _ if self.send.una() < self.send.nxt() => Kind::Busy,
            _ => Kind::Idle,
        };
        if kind != self.manner.spent.now {
            self.manner.spent = Spent { times: self.manner.spent.until(now), now: kind, since: now };
        }
    }

    /// The state of subflow `id` and of the connection in figures, at `now`.
    ///
    /// # Panics
    /// If the connection has given no such number.
    pub fn info(&self, now: Instant, id: SubflowId) -> Info {
        let mut info = self.paths.subflows[id].info();
        info.times = self.manner.spent.until(now);
        info.unsent = self.unsent();
        info.unread = self.readable();
        info.peer_window = self.send.edge().saturating_sub(self.send.una());
        info.keepalives = self.paths.members[id].keepalives;
        info.last_heard = self.manner.patience.on.then(|| now.since(self.paths.members[id].heard));
        info
    }
}
