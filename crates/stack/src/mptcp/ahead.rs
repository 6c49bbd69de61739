//! Data queued on a subflow ahead of its window, for schedulers that assign it so ([`Reach`](crate::scheduler::Reach)):
//! the ranges that wait there, and how much memory the subflow's send buffer has for them.
//!
//! For a scheduler whose reach is the memory of send buffers, the buffer is counted as Linux counts it: a segment in flight is charged with
//! the overhead of its buffer, and the limit is twice the window in segments of 2304 octets each (`tcp_sndbuf_expand`). It grows only when
//! the subflow has room in its window and nothing to send.

use std::collections::VecDeque;

use super::skb::{HEADERS, OVERHEAD};

/// Memory of a segment in `tcp_sndbuf_expand`: a buffer of 2048 octets and its descriptor.
const SEGMENT_MEMORY: u64 = 2304;
/// Octets that a buffer holds at most.
const LARGEST: u64 = 1 << 16;
/// The least window, in segments, for which the buffer is made.
const LEAST: u64 = 10;

/// Memory of the first send buffer.
pub(crate) const LEAST_MEMORY: u64 = 2 * SEGMENT_MEMORY * LEAST;

/// What waits on one subflow.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    /// Start and end of each range, in the order of the data. For a scheduler whose reach is memory a range is a buffer, which is filled
    /// before the next one, unless a part of it has been sent (`mptcp_skb_can_collapse_to`).
    ranges: VecDeque<(u64, u64)>,
    octets: u64,
    /// Octets of a buffer; zero if that is nobody's concern.
    buffer: u64,
    /// A part of the first range has been sent.
    begun: bool,
    /// Memory of the send buffer; zero before the first assignment.
    memory: u64,
    /// A segment has arrived or left since the size of the send buffer was looked at.
    due: bool,
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
        (self.octets, self.begun) = (0, false);
    }

    /// Buffers hold half of the peer's largest window, `window`, and at most 64 kB less headers, in whole segments (`tcp_xmit_size_goal`).
    pub fn set_buffer(&mut self, window: u64, mss: u32) {
        let mss = u64::from(mss);
        self.buffer = ((window / 2).min(LARGEST - 1 - HEADERS) / mss).max(1) * mss;
    }

    /// Octets that the last buffer has room for, if `at` of the stream comes next; zero if a new one begins.
    fn room(&self, at: u64) -> u64 {
        match self.ranges.back() {
            Some(last) if last.1 == at && self.buffer == 0 => u64::MAX,
            Some(last) if last.1 == at && !(self.begun && self.ranges.len() == 1) => {
                self.buffer.saturating_sub(last.1 - last.0)
            }
            _ => 0,
        }
    }

    /// Octets that are put in a buffer at a time, if `at` of the stream comes next.
    pub fn fill(&self, at: u64) -> u64 {
        match self.room(at) {
            0 if self.buffer == 0 => u64::MAX,
            0 => self.buffer,
            room => room,
        }
    }

    /// `[start, end)` waits here now.
    pub fn push(&mut self, start: u64, end: u64) {
        self.octets += end - start;
        let fits = self.room(start) > 0;
        match self.ranges.back_mut() {
            Some(last) if last.1 == start && fits => last.1 = end,
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

    /// Octets of the range that leaves next.
    pub fn stretch(&self) -> u64 {
        self.ranges.front().map_or(0, |(start, end)| end - start)
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
            self.begun = first.0 < first.1;
            if !self.begun {
                self.ranges.pop_front();
            }
        }
    }

    /// Memory in use with `flight` octets outstanding, of which `burst` were one buffer.
    pub fn used(&self, flight: u64, burst: u64) -> u64 {
        self.octets + flight + (flight.div_ceil(burst) + self.ranges.len() as u64) * OVERHEAD
    }

    /// Memory of the send buffer.
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// Marks that a segment arrived or left: the send buffer is reconsidered after the last
    /// segment.
    pub fn look_at_memory(&mut self) {
        self.due = true;
    }

    /// Returns true if the send buffer is to be reconsidered, and clears the mark.
    pub fn take_due(&mut self) -> bool {
        std::mem::take(&mut self.due)
    }

    /// Returns true if no buffer has been sent in part: the previous one was sent completely.
    pub fn has_ended(&self) -> bool {
        !self.begun
    }

    /// Returns true if only one range waits.
    pub fn is_last(&self) -> bool {
        self.ranges.len() == 1
    }

    /// Enlarges the send buffer to suit a window of `cwnd` segments; never shrinks it.
    pub fn expand(&mut self, cwnd: u64) {
        self.memory = self.memory.max(2 * SEGMENT_MEMORY * cwnd.max(LEAST));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What begins where the first range ends is none of it.
    #[test]
    fn what_was_sent_elsewhere_is_taken_from_the_front_alone() {
        let mut a = Ahead::default();
        a.push(0, 1000);
        a.push(2000, 3000);
        a.remove_front(1000, 2000);
        assert_eq!((a.front(1000), a.octets()), (Some((0, 1000)), 2000));
        a.remove_front(0, 1000);
        assert_eq!((a.front(1000), a.octets()), (Some((2000, 1000)), 1000));
    }

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

    /// With half of a window of 65,160 octets a buffer has 22 segments of 1424. It is filled before the next one, unless a part of it has
    /// been sent.
    #[test]
    fn a_buffer_is_filled_before_the_next_unless_it_has_begun_to_leave() {
        let mut a = Ahead::default();
        a.set_buffer(65_160, 1424);
        assert_eq!(a.fill(0), 31_328);
        a.push(0, 20_000);
        assert_eq!(a.fill(20_000), 11_328);
        a.push(20_000, 31_328);
        assert_eq!(a.fill(31_328), 31_328);
        a.push(31_328, 32_728);
        assert!(a.ranges().eq([(0, 31_328), (31_328, 32_728)]));
        assert_eq!((a.fill(32_728), a.fill(40_000)), (29_928, 31_328));
        for _ in 0..22 {
            a.advance(1424);
        }
        assert_eq!((a.fill(32_728), a.stretch()), (29_928, 1400));
        a.advance(1000);
        assert_eq!(a.fill(32_728), 31_328);
        a.push(32_728, 40_000);
        assert_eq!(a.front(1424), Some((32_328, 400)));
        a.set_buffer(4_000_000, 1424);
        assert_eq!(a.fill(50_000), 45 * 1424);
    }

    /// Ten segments in flight in five buffers take 18,080 octets of memory, another buffer 1768, and the first send buffer has 46,080.
    #[test]
    fn memory_is_counted_with_its_overhead() {
        let mut a = Ahead::default();
        a.expand(4);
        a.push(0, 1000);
        assert_eq!((a.memory(), a.used(14_240, 2848)), (46_080, 1000 + 768 + 14_240 + 3840));
        a.expand(3);
        assert_eq!(a.memory(), 46_080, "it never shrinks");
    }
}
