//! Timestamps (RFC 7323): what is echoed, and what an old one means.

use crate::segment::{self, Segment};
use crate::seq::Seq;
use crate::time::{Duration, Instant};

/// RFC 7323 5.5: how long TS.Recent is good for.
const TS_RECENT_VALID: Duration = Duration::from_secs(24 * 86_400);

/// The timestamp clock: milliseconds (RFC 7323 5.4).
pub fn clock(now: Instant) -> u32 {
    (now.0 / 1_000_000) as u32
}

/// Time since the clock showed `echoed`, at least one tick; `None` for a time to come.
pub fn elapsed(now: Instant, echoed: u32) -> Option<Duration> {
    let elapsed = clock(now).wrapping_sub(echoed);
    (elapsed < 1 << 31).then(|| Duration::from_millis(u64::from(elapsed).max(1)))
}

/// What the timestamp of an arriving segment says (RFC 7323 5.3 R1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Age {
    /// It is new enough, or timestamps are off.
    Timely,
    /// There is none although there should be (3.2: dropped silently).
    Missing,
    /// The segment is older than one that came before, by so much on the peer's clock.
    Old(Duration),
}

/// The timestamps of one subflow.
#[derive(Clone, Copy, Debug)]
pub struct Timestamps {
    /// Permitted on both sides (so far as is known).
    pub on: bool,
    /// TS.Recent.
    recent: u32,
    recent_at: Instant,
    /// Last.ACK.sent.
    pub last_ack_sent: Seq,
}

impl Timestamps {
    /// Before the handshake.
    pub fn new(on: bool) -> Self {
        Self { on, recent: 0, recent_at: Instant::ZERO, last_ack_sent: Seq(0) }
    }

    /// The peer's SYN: what it lacks is off.
    pub fn take_syn(&mut self, syn: &Segment, irs: Seq) {
        self.last_ack_sent = irs + 1;
        self.on &= syn.options.timestamps.is_some();
        if let Some(ts) = syn.options.timestamps {
            self.recent = ts.val;
        }
    }

    /// The option of a segment that leaves at `now`.
    #[inline]
    pub fn option(&self, now: Instant) -> Option<segment::Timestamps> {
        self.on.then(|| segment::Timestamps { val: clock(now), ecr: self.recent })
    }

    /// PAWS (RFC 7323 5.3 R1), for anything but a RST. 5.5: nothing is old after 24 days of silence, in which the peer's clock may
    /// have come round by half.
    pub fn age(&self, now: Instant, seg: &Segment) -> Age {
        match seg.options.timestamps {
            _ if !self.on => Age::Timely,
            None => Age::Missing,
            Some(ts) => {
                let old = (ts.val.wrapping_sub(self.recent) as i32) < 0;
                if old && now.since(self.recent_at) <= TS_RECENT_VALID {
                    Age::Old(Duration::from_millis(u64::from(self.recent.wrapping_sub(ts.val))))
                } else {
                    Age::Timely
                }
            }
        }
    }

    /// The segment is not older than any that came before.
    #[inline]
    pub fn in_order(&self, seg: &Segment) -> bool {
        !self.on || seg.options.timestamps.is_some_and(|ts| ts.val.wrapping_sub(self.recent) as i32 >= 0)
    }

    /// RFC 7323 4.3 (2), 5.3 R3, once the acknowledgement is accepted, too: what the peer has not sent moves no clock of its.
    #[inline]
    pub fn note(&mut self, now: Instant, seg: &Segment, seq: Seq) {
        if let (true, Some(ts)) = (self.on && seq <= self.last_ack_sent, seg.options.timestamps) {
            self.recent = ts.val;
            self.recent_at = now;
        }
    }

    /// The timestamp that `seg` echoes.
    #[inline]
    pub fn echo(&self, seg: &Segment) -> Option<u32> {
        seg.options.timestamps.filter(|_| self.on).map(|ts| ts.ecr)
    }
}
