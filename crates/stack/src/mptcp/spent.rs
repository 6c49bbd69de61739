//! For how long a sender was limited by what, as `struct tcp_info` of Linux has it.

use crate::event::SendBlock;
use crate::tcp::info::Times;
use crate::time::Instant;

/// What the sender was limited by, and for how long each.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
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
    pub fn until(&self, now: Instant) -> Times {
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

    /// From `now` on the sender is limited by `limit`. `outstanding`: sent data has no DATA_ACK yet.
    #[inline]
    pub fn note(&mut self, now: Instant, limit: SendBlock, outstanding: bool) {
        let kind = match limit {
            SendBlock::ReceiveWindow => Kind::ReceiveWindow,
            SendBlock::SendBuffer => Kind::SendBuffer,
            _ if outstanding => Kind::Busy,
            _ => Kind::Idle,
        };
        if kind != self.now {
            *self = Self { times: self.until(now), now: kind, since: now };
        }
    }
}
