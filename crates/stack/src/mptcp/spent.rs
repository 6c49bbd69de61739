//! Busy and limited times of a sender, as in `struct tcp_info` of Linux.

use crate::event::SendBlock;
use crate::tcp::info::Times;
use crate::time::Instant;

/// Times accumulated so far, and what limits the sender since `since`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    times: Times,
    limit: Limit,
    since: Instant,
}

/// What limits the sender at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Limit {
    #[default]
    Idle,
    Busy,
    ReceiveWindow,
    SendBuffer,
}

impl Spent {
    /// The times up to `now`.
    pub fn until(&self, now: Instant) -> Times {
        let (mut times, passed) = (self.times, now.since(self.since));
        let limited = match self.limit {
            Limit::Idle => return times,
            Limit::Busy => None,
            Limit::ReceiveWindow => Some(&mut times.receive_window_limited),
            Limit::SendBuffer => Some(&mut times.send_buffer_limited),
        };
        limited.into_iter().for_each(|limited| limited.0 += passed.0);
        times.busy.0 += passed.0;
        times
    }

    /// Records what limits the sender from `now` on. `outstanding`: some data has no DATA_ACK yet.
    #[inline]
    pub fn note(&mut self, now: Instant, limit: SendBlock, outstanding: bool) {
        let new = match limit {
            SendBlock::ReceiveWindow => Limit::ReceiveWindow,
            SendBlock::SendBuffer => Limit::SendBuffer,
            _ if outstanding => Limit::Busy,
            _ => Limit::Idle,
        };
        if new != self.limit {
            *self = Self { times: self.until(now), limit: new, since: now };
        }
    }
}
