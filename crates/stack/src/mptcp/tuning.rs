//! A receive buffer that tunes itself, as Linux does (`tcp_rcv_space_adjust`, `tcp_grow_window`): it begins small and follows what the
//! application reads in a round trip, up to the size configured.
//!
//! The window that each subflow advertises then opens by twice each segment that arrives, until it is as large as the buffer. While it
//! opens, each segment is acknowledged at once (`icsk_ack.quick`), so that a sender in slow start hears of every segment.

use crate::time::{Duration, Instant};

/// What the receiver assumes of the application's first round trip: an initial window (`TCP_INIT_CWND`).
const FIRST: u64 = 10;

/// The size of the buffer, in octets of payload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tuning {
    /// The size now.
    pub size: u64,
    first: u64,
    most: u64,
    mss: u64,
    /// The most that was read in a round trip.
    space: u64,
    /// When the current round trip began, and what had been read then.
    began: Option<(Instant, u64)>,
    /// When the last data arrived.
    arrived: Instant,
}

impl Tuning {
    /// A buffer that begins with `initial` octets and grows to `most`.
    pub fn new(initial: u64, most: u64, mss: u32) -> Self {
        let mss = u64::from(mss);
        Self {
            size: initial.min(most),
            first: initial.min(most),
            most,
            mss,
            space: initial.min(FIRST * mss),
            began: None,
            arrived: Instant::ZERO,
        }
    }

    /// Octets that are kept back: a segment, until the buffer has grown (`tcp_init_buffer_space`).
    pub fn reserve(&self) -> u64 {
        if self.size == self.first && self.size > 2 * self.mss { self.mss } else { 0 }
    }

    /// Data arrives at `now`, when `read` octets have been read.
    pub fn on_arrival(&mut self, now: Instant, read: u64) {
        self.arrived = now;
        self.began.get_or_insert((now, read));
    }

    /// The application has read `read` octets in all; `rtt` is the round-trip time.
    pub fn on_read(&mut self, read: u64, rtt: Duration) {
        let Some((began, before)) = self.began else { return };
        if self.arrived.since(began) < rtt || self.size == self.most {
            return;
        }
        let copied = read - before;
        self.began = Some((self.arrived, read));
        if copied <= self.space {
            return;
        }
        // Twice what was read, for a window that doubles, and room for what slow start adds meanwhile.
        let window = 2 * copied + 16 * self.mss;
        let grow = window * (copied - self.space) / self.space.max(1);
        self.size = self.size.max((window + 2 * grow).min(self.most));
        self.space = copied;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten, twenty, forty segments in round trips of 50 ms. The first is what is expected of a sender; the second is twice as much: 2 x
    /// 20 + 16 = 56 segments, and as many again twice, 168.
    #[test]
    fn it_follows_what_is_read() {
        let mut t = Tuning::new(65_535, 2_000_000, 1000);
        let rtt = Duration::from_millis(50);
        let mut sizes = Vec::new();
        for (n, read) in [0, 10, 30, 70, 110, 150].into_iter().enumerate() {
            t.on_arrival(Instant(50_000_000 * n as u64), 0);
            t.on_read(1000 * read, rtt);
            sizes.push(t.size / 1000);
        }
        assert_eq!(sizes, [65, 65, 168, 288, 288, 288]);
    }

    /// `tcp_init_buffer_space`: a segment is kept back of a buffer of more than two, until it has grown.
    #[test]
    fn a_segment_is_kept_back_at_first() {
        let reserve = |initial| Tuning::new(initial, 100_000, 1000).reserve();
        assert_eq!([1999, 2000, 2001, 65_535].map(reserve), [0, 0, 1000, 1000]);
        let grown = Tuning { size: 65_536, ..Tuning::new(65_535, 100_000, 1000) };
        assert_eq!(grown.reserve(), 0);
    }

    #[test]
    fn it_stays_within_its_bounds() {
        let mut t = Tuning::new(65_535, 100_000, 1000);
        t.on_arrival(Instant(0), 0);
        t.on_arrival(Instant(1_000_000), 0);
        t.on_read(60_000, Duration::from_millis(1));
        assert_eq!(t.size, 100_000);
        assert_eq!(Tuning::new(65_535, 32_768, 1000).size, 32_768);
    }
}
