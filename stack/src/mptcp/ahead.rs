//! Data queued on a subflow ahead of its window, for schedulers that assign it so ([`Reach`](crate::scheduler::Reach)):
//! the ranges that wait there, and how much memory the subflow's send buffer has for them.
//!
//! For a scheduler whose reach is the memory of send buffers, the buffer is counted as Linux counts it: a segment in flight is charged with
//! the overhead of its buffer, and the limit is twice the window in segments of 2304 octets each (`tcp_sndbuf_expand`). It grows only when
//! the subflow has room in its window and nothing to send.

use std::collections::VecDeque;

/// Memory of a segment in `tcp_sndbuf_expand`: a buffer of 2048 octets and its descriptor.
const SEGMENT_MEMORY: u64 = 2304;
/// Memory that a segment in flight takes beside its payload: half of a buffer that holds two.
const OVERHEAD: u64 = 640;
/// The least window, in segments, for which the buffer is made.
const LEAST: u64 = 10;

/// Memory of the first send buffer.
pub(crate) const LEAST_MEMORY: u64 = 2 * SEGMENT_MEMORY * LEAST;

/// What waits on one subflow.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    /// Start and end of each range, in the order of the data.
    ranges: VecDeque<(u64, u64)>,
    octets: u64,
    /// Memory of the send buffer; zero before the first assignment.
    memory: u64,
}

impl Ahead {
    /// Octets that wait.
    #[inline]
    pub fn octets(&self) -> u64 {
        self.octets
    }

    /// The ranges that wait.
    pub fn ranges(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.ranges.iter().copied()
    }

    /// Forgets what waits.
    pub fn clear(&mut self) {
        self.ranges.clear();
        self.octets = 0;
    }

    /// `[start, end)` waits here now.
    pub fn push(&mut self, start: u64, end: u64) {
        self.octets += end - start;
        match self.ranges.back_mut() {
            Some(last) if last.1 == start => last.1 = end,
            Some(last) if last.0 > start => {
                let before = self.ranges.partition_point(|range| range.0 < start);
                self.ranges.insert(before, (start, end));
            }
            _ => self.ranges.push_back((start, end)),
        }
    }

    /// The range that leaves next: its start, and at most `mss` octets of it.
    pub fn front(&self, mss: u32) -> Option<(u64, u32)> {
        let &(start, end) = self.ranges.front()?;
        Some((start, (end - start).min(u64::from(mss)) as u32))
    }

    /// The range that leaves next ends at `end` of the stream, so it may still grow.
    pub fn may_grow(&self, end: u64) -> bool {
        self.ranges.len() == 1 && self.ranges[0].1 == end
    }

    /// `[start, end)` was sent elsewhere; taken away if it is what leaves next.
    pub fn remove_front(&mut self, start: u64, end: u64) {
        if let Some(first) = self.ranges.front().filter(|first| first.0 <= start && start < first.1) {
            let taken = end.min(first.1) - first.0;
            self.advance(taken as u32);
        }
    }

    /// Takes back the last range, at most the last `octets` octets of it.
    pub fn take_back(&mut self, octets: u64) -> Option<(u64, u64)> {
        let last = self.ranges.back_mut().filter(|_| octets > 0)?;
        let (start, end) = (last.0.max(last.1.saturating_sub(octets)), last.1);
        last.1 = start;
        if last.0 == last.1 {
            self.ranges.pop_back();
        }
        self.octets -= end - start;
        Some((start, end))
    }

    /// `len` octets have left.
    pub fn advance(&mut self, len: u32) {
        self.octets -= u64::from(len);
        if let Some(first) = self.ranges.front_mut() {
            first.0 += u64::from(len);
            if first.0 == first.1 {
                self.ranges.pop_front();
            }
        }
    }

    /// Memory in use with `flight` octets outstanding in segments of `mss`.
    pub fn used(&self, flight: u64, mss: u32) -> u64 {
        self.octets + flight + flight.div_ceil(u64::from(mss)) * OVERHEAD
    }

    /// Memory of the send buffer.
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// The subflow could send and has nothing to: the buffer is made for a window of `cwnd` segments.
    pub fn expand(&mut self, cwnd: u64) {
        self.memory = self.memory.max(2 * SEGMENT_MEMORY * cwnd.max(LEAST));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_leave_in_order_and_in_segments() {
        let mut a = Ahead::default();
        a.push(0, 2500);
        a.push(2500, 3000);
        a.push(5000, 5400);
        let mut left = Vec::new();
        while let Some((start, len)) = a.front(1000) {
            left.push((start, len));
            a.advance(len);
        }
        assert_eq!(left, [(0, 1000), (1000, 1000), (2000, 1000), (5000, 400)]);
        assert_eq!(a.octets(), 0);
    }

    #[test]
    fn what_comes_earlier_in_the_stream_leaves_earlier() {
        let mut a = Ahead::default();
        a.push(5000, 6000);
        a.push(1000, 2000);
        a.push(3000, 4000);
        assert!(a.ranges().eq([(1000, 2000), (3000, 4000), (5000, 6000)]));
    }

    #[test]
    fn what_was_sent_elsewhere_is_taken_away() {
        let mut a = Ahead::default();
        a.push(1000, 3000);
        a.remove_front(1000, 2000);
        assert_eq!((a.front(1400), a.octets()), (Some((2000, 1000)), 1000));
        a.remove_front(5000, 6000);
        a.remove_front(2000, 9000);
        assert_eq!((a.front(1400), a.octets()), (None, 0));
    }

    #[test]
    fn what_came_last_is_taken_back_first() {
        let mut a = Ahead::default();
        a.push(0, 3000);
        a.push(5000, 6000);
        assert_eq!((a.take_back(400), a.take_back(9000)), (Some((5600, 6000)), Some((5000, 5600))));
        assert_eq!((a.take_back(1000), a.octets(), a.take_back(0)), (Some((2000, 3000)), 2000, None));
        assert_eq!((a.take_back(2000), a.take_back(1)), (Some((0, 2000)), None));
    }

    /// Ten segments in flight take 20,640 octets of memory, and the first buffer has 46,080.
    #[test]
    fn memory_is_counted_with_its_overhead() {
        let mut a = Ahead::default();
        a.expand(4);
        a.push(0, 1000);
        assert_eq!((a.memory(), a.used(14_240, 1424)), (46_080, 1000 + 14_240 + 6400));
        a.expand(3);
        assert_eq!(a.memory(), 46_080, "it never shrinks");
    }
}
