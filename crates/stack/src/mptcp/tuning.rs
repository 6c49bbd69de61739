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
    /// Octets of receive window that one segment takes, where the buffer grows by the memory of
    /// whole segments.
    unit: Option<u64>,
    /// The most that was read in a round trip.
    space: u64,
    /// When the current round trip began, and what had been read then.
    began: Option<(Instant, u64)>,
    /// When the last data arrived.
    arrived: Instant,
    /// The first round trip begins behind the first read.
    skips_first_read: bool,
}

impl Tuning {
    /// A buffer that begins with `initial` octets and grows to `most`; `by_memory`:
    /// [`Deviations::tunes_by_memory`](crate::config::Deviations::tunes_by_memory).
    pub fn new(initial: u64, most: u64, mss: u32, by_memory: bool) -> Self {
        let mss = u64::from(mss);
        let unit = by_memory.then(|| window_of_a_segment(mss));
        Self {
            size: initial.min(most),
            first: initial.min(most),
            most,
            mss,
            unit,
            space: initial.min(FIRST * mss),
            began: None,
            arrived: Instant::ZERO,
            skips_first_read: false,
        }
    }

    /// The same, but the first round trip begins behind the first read, which does not count
    /// ([`Deviations::skips_first_read`](crate::config::Deviations::skips_first_read)).
    #[must_use]
    pub fn skipping_first_read(mut self, skips: bool) -> Self {
        self.skips_first_read = skips;
        self
    }

    /// Octets that are kept back: a segment, until the buffer has grown (`tcp_init_buffer_space`).
    pub fn reserve(&self) -> u64 {
        if self.size == self.first && self.size > 2 * self.mss { self.mss } else { 0 }
    }

    /// Data arrives at `now`, when `read` octets have been read.
    pub fn on_arrival(&mut self, now: Instant, read: u64) {
        self.arrived = now;
        if !self.skips_first_read {
            self.began.get_or_insert((now, read));
        }
    }

    /// The application has read `read` octets in all; `rtt` is the round-trip time.
    pub fn on_read(&mut self, read: u64, rtt: Duration) {
        let Some((began, before)) = self.began else {
            self.began = Some((self.arrived, read));
            return;
        };
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
        let wanted = window + 2 * grow;
        let size = self.unit.map_or(wanted, |unit| wanted / self.mss * unit);
        self.size = self.size.max(size.min(self.most));
        self.space = copied;
    }
}

/// Octets of window that Linux 6.1 counts for a segment of `mss` octets: half of its memory, which
/// grows in steps of 128 octets until the half holds the segment (`rcvmem` in
/// `tcp_rcv_space_adjust`). The memory is the segment, room for headers (`MAX_TCP_HEADER`, 192
/// octets) and two descriptors (`SKB_TRUESIZE`, 576 octets).
fn window_of_a_segment(mss: u64) -> u64 {
    let memory = mss + 192 + 576;
    (memory + (2 * mss).saturating_sub(memory).next_multiple_of(128)) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A segment of 1448 octets: 2216 octets of memory and six steps of 128 are 2984, of which half
    /// is window.
    #[test]
    fn a_segment_counts_with_half_of_its_memory() {
        assert_eq!([1448, 1460, 536, 100].map(window_of_a_segment), [1492, 1498, 652, 434]);
        let mut t = Tuning::new(65_535, 2_000_000, 1448, true);
        t.on_arrival(Instant(0), 0);
        t.on_arrival(Instant(50_000_000), 0);
        t.on_read(20 * 1448, Duration::from_millis(50));
        // 2 x 20 + 16 = 56 segments, and as many again twice.
        assert_eq!(t.size, 168 * 1492);
    }

    /// Ten, twenty, forty segments in round trips of 50 ms. The first is what is expected of a sender; the second is twice as much: 2 x
    /// 20 + 16 = 56 segments, and as many again twice, 168.
    #[test]
    fn it_follows_what_is_read() {
        let mut t = Tuning::new(65_535, 2_000_000, 1000, false);
        let rtt = Duration::from_millis(50);
        let mut sizes = Vec::new();
        for (n, read) in [0, 10, 30, 70, 110, 150].into_iter().enumerate() {
            t.on_arrival(Instant(50_000_000 * n as u64), 0);
            t.on_read(1000 * read, rtt);
            sizes.push(t.size / 1000);
        }
        assert_eq!(sizes, [65, 65, 168, 288, 288, 288]);
    }

    /// The first of twelve segments does not count.
    #[test]
    fn the_first_read_may_begin_the_first_round_trip() {
        let mut t = Tuning::new(30_000, 2_000_000, 1000, false).skipping_first_read(true);
        let rtt = Duration::from_millis(40);
        for (n, at) in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 39, 40, 40].into_iter().enumerate() {
            t.on_arrival(Instant(1_000_000 * at), 1000 * n as u64);
            t.on_read(1000 * (n as u64 + 1), rtt);
        }
        // The twelfth segment arrives 40 ms after the first: 11 are 38, and 38 / 10 twice.
        assert_eq!(t.size, 38_000 + 2 * 3_800);
    }

    /// `tcp_init_buffer_space`: a segment is kept back of a buffer of more than two, until it has grown.
    #[test]
    fn a_segment_is_kept_back_at_first() {
        let reserve = |initial| Tuning::new(initial, 100_000, 1000, false).reserve();
        assert_eq!([1999, 2000, 2001, 65_535].map(reserve), [0, 0, 1000, 1000]);
        let grown = Tuning { size: 65_536, ..Tuning::new(65_535, 100_000, 1000, false) };
        assert_eq!(grown.reserve(), 0);
    }

    #[test]
    fn it_stays_within_its_bounds() {
        let mut t = Tuning::new(65_535, 100_000, 1000, false);
        t.on_arrival(Instant(0), 0);
        t.on_arrival(Instant(1_000_000), 0);
        t.on_read(60_000, Duration::from_millis(1));
        assert_eq!(t.size, 100_000);
        assert_eq!(Tuning::new(65_535, 32_768, 1000, false).size, 32_768);
    }
}
