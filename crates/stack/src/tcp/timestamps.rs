//! Timestamps (RFC 7323): which value is echoed, and what an old value means.

use crate::config::Deviations;
use crate::segment::{self, Segment};
use crate::seq::Seq;
use crate::time::{Duration, Instant};

/// RFC 7323 5.5: how long TS.Recent stays valid.
const TS_RECENT_VALID: Duration = Duration::from_secs(24 * 86_400);

/// The timestamp clock: ticks of a millisecond (RFC 7323 4.1, 5.4).
pub fn clock(now: Instant) -> u32 {
    (now.0 / 1_000_000) as u32
}

/// Time since the clock showed `echoed`, at least one tick; `None` if `echoed` lies in the future.
pub fn elapsed(now: Instant, echoed: u32) -> Option<Duration> {
    let elapsed = clock(now).wrapping_sub(echoed);
    (elapsed < 1 << 31).then(|| Duration::from_millis(u64::from(elapsed).max(1)))
}

/// Age of an arriving segment by its timestamp (RFC 7323 5.3 R1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Age {
    /// The timestamp is not older than TS.Recent, or timestamps are off.
    Timely,
    /// The timestamp is missing although timestamps were negotiated (RFC 7323 3.2: drop silently).
    Missing,
    /// The timestamp is older than TS.Recent by this much of the peer's clock.
    Old(Duration),
}

/// The timestamps of one subflow.
#[derive(Clone, Copy, Debug)]
pub struct Timestamps {
    /// Negotiated; before the handshake completes: offered.
    pub on: bool,
    /// A segment without a timestamp is taken all the same
    /// ([`Deviations::accepts_missing_timestamps`]).
    accepts_missing: bool,
    /// The timestamp of a repeated segment is echoed ([`Deviations::echoes_repeated_timestamps`]).
    echoes_repeated: bool,
    /// TS.Recent.
    recent: u32,
    recent_at: Instant,
    /// Last.ACK.sent.
    pub last_ack_sent: Seq,
    /// Offset of the timestamps that we send from [`clock`], in milliseconds (RFC 7323 5.4: random
    /// for each connection).
    offset: u32,
}

impl Timestamps {
    /// State before the handshake.
    pub fn new(on: bool, deviations: &Deviations) -> Self {
        Self {
            on,
            accepts_missing: deviations.accepts_missing_timestamps,
            echoes_repeated: deviations.echoes_repeated_timestamps,
            recent: 0,
            recent_at: Instant::ZERO,
            last_ack_sent: Seq(0),
            offset: 0,
        }
    }

    /// Takes the peer's SYN. If it has no timestamp, timestamps are off (RFC 7323 3.2).
    pub fn take_syn(&mut self, syn: &Segment, irs: Seq) {
        self.last_ack_sent = irs + 1;
        self.on &= syn.options.timestamps.is_some();
        if let Some(ts) = syn.options.timestamps {
            self.recent = ts.val;
        }
    }

    /// Sets the offset of the timestamps that we send. Call it before the first segment.
    pub fn shift(&mut self, offset: u32) {
        self.offset = offset;
    }

    /// Timestamp (TSval) of a segment sent at `now`.
    #[inline]
    pub fn val(&self, now: Instant) -> u32 {
        clock(now).wrapping_add(self.offset)
    }

    /// The timestamps option of a segment sent at `now`; its echo is zero before there is anything to echo (RFC 7323 3.2).
    #[inline]
    pub fn option(&self, now: Instant) -> Option<segment::Timestamps> {
        self.on.then(|| segment::Timestamps { val: self.val(now), ecr: self.recent })
    }

    /// PAWS (RFC 7323 5.2, 5.3 R1), for any segment but a RST. After 24 days of silence no timestamp counts as old, since the peer's
    /// clock may have wrapped (5.5).
    pub fn age(&self, now: Instant, seg: &Segment) -> Age {
        match seg.options.timestamps {
            _ if !self.on => Age::Timely,
            None if self.accepts_missing => Age::Timely,
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

    /// By how much a timestamp is newer than TS.Recent; `None` if timestamps are off.
    pub fn age_of(&self, val: u32) -> Option<i32> {
        self.on.then(|| val.wrapping_sub(self.recent) as i32)
    }

    /// The timestamp of the segment is not older than TS.Recent.
    #[inline]
    pub fn in_order(&self, seg: &Segment) -> bool {
        !self.on || seg.options.timestamps.is_some_and(|ts| ts.val.wrapping_sub(self.recent) as i32 >= 0)
    }

    /// RFC 7323 4.3 (2), 5.3 R3: updates TS.Recent. Called only after the ACK field was accepted too, so that a forged segment
    /// does not move TS.Recent.
    #[inline]
    pub fn note(&mut self, now: Instant, seg: &Segment, seq: Seq) {
        if let (true, Some(ts)) = (self.on && seq <= self.last_ack_sent, seg.options.timestamps) {
            self.recent = ts.val;
            self.recent_at = now;
        }
    }

    /// A segment of octets that came before. RFC 7323 5.3 rejects it (R2) before its timestamp would be taken (R3), so that where the
    /// acknowledgement was lost, the sender measures the time since it sent the first copy. Linux takes one that ends where the last
    /// acknowledgement did for acceptable (`tcp_sequence`), and echoes its timestamp (`tcp_replace_ts_recent`).
    pub fn note_again(&mut self, now: Instant, seg: &Segment, seq: Seq) {
        if self.echoes_repeated && seq + seg.seq_len() >= self.last_ack_sent {
            self.note(now, seg, seq);
        }
    }

    /// Value of [`clock`] when we sent the timestamp that `seg` echoes (TSecr); `None` without
    /// timestamps (RFC 7323 3.2).
    #[inline]
    pub fn echo(&self, seg: &Segment) -> Option<u32> {
        seg.options.timestamps.filter(|_| self.on).map(|ts| ts.ecr.wrapping_sub(self.offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7323 3.2: a segment without the timestamp that was agreed on is dropped; Linux takes it.
    #[test]
    fn a_missing_timestamp_is_taken_as_linux_does_it() {
        let accepting = Deviations::NONE.and("accepts_missing_timestamps");
        let with = |linux| if linux { accepting } else { Deviations::NONE };
        let age = |on, linux| Timestamps::new(on, &with(linux)).age(Instant::ZERO, &Segment::default());
        let ages = [(true, false), (true, true), (false, false)].map(|(on, linux)| age(on, linux));
        assert_eq!(ages, [Age::Missing, Age::Timely, Age::Timely]);
    }

    /// The acknowledgement of octets 500 to 999 was lost: they come again, later, and so do earlier ones.
    #[test]
    fn a_duplicate_is_echoed_as_linux_does_it_if_it_ends_where_the_last_acknowledgement_did() {
        let at = |seq: u32, len: u32, val: u32| {
            let mut segment = Segment { seq, ..Segment::default() };
            segment.payload.len = len;
            segment.options.timestamps = Some(segment::Timestamps { val, ecr: 0 });
            segment
        };
        for (linux, last, earlier) in [(true, 7, 5), (false, 5, 5)] {
            let echoed = |segment: &Segment| {
                let echoing = Deviations::NONE.and("echoes_repeated_timestamps");
                let mut timestamps = Timestamps::new(true, if linux { &echoing } else { &Deviations::NONE });
                timestamps.last_ack_sent = Seq(500);
                timestamps.note(Instant::ZERO, &at(500, 500, 5), Seq(500));
                timestamps.last_ack_sent = Seq(1000);
                timestamps.note_again(Instant::ZERO, segment, Seq(u64::from(segment.seq)));
                timestamps.option(Instant::ZERO).unwrap().ecr
            };
            assert_eq!((echoed(&at(500, 500, 7)), echoed(&at(0, 500, 7))), (last, earlier));
        }
    }
}
