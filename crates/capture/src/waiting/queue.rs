//! The queue of a path, from round-trip times: how long it was at most, and whether it was full when segments were lost.
//!
//! A drop-tail queue drops segments while it is full. The segments that were sent just before went through that queue, so their round
//! trips are among the longest. A random loss comes at any length of the queue.

use super::history::History;

/// No receiver delays an acknowledgement by less (Linux begins at 40 ms; RFC 1122 4.2.3.2 allows up to 500), nanoseconds.
const DELAYED: u64 = 20_000_000;

/// Segments that the shortest queue holds: fewer are those of a burst, or of a link on which each takes long.
const LEAST: f64 = 4.0;

/// Slow start overshoots by up to a window: an episode of at least so many losses, and of one in so many of the segments in flight.
const OVERSHOOT: (u64, u64) = (4, 20);

/// Whether the receiver sent an acknowledgement at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prompt {
    Yes,
    /// It may have waited for the next segment, which was sent at this time, if at all.
    Unless(Option<u64>),
}

/// Round-trip times of one subflow, and its losses.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    /// Smallest and largest round-trip time, nanoseconds. A delayed acknowledgement does not count for the largest.
    pub rtt: Option<[u64; 2]>,
    /// Round-trip times over time.
    pub history: History,
    /// The longest ones, in descending order. The last counts as the largest: an acknowledgement without its SACK block, or one that
    /// was lost, makes single ones longer than they were.
    longest: [u64; 3],
    /// Segments sent again: those lost with a full queue, and those lost with a short one.
    pub lost: [u64; 2],
    /// A round-trip time and when it was seen: it counts if the segment that follows is not lost.
    open: Option<(u64, u64)>,
    /// When the queue was long for the last time, and the round-trip time that says so: one in the upper half of the range.
    full: Option<(u64, u64)>,
    /// The present loss episode, or the last one.
    episode: Episode,
}

/// A loss episode, from the first retransmission until all that was sent before is acknowledged.
#[derive(Clone, Copy, Debug, Default)]
struct Episode {
    /// The queue was full.
    full: bool,
    /// The congestion window has not been reduced before.
    first: bool,
    /// Segments in flight in the beginning; those sent again since.
    flight: u64,
    lost: u64,
}

impl Episode {
    /// Slow start doubles the window in a round trip, so that it may exceed what the path holds by as much. With a policer no queue
    /// is seen before.
    fn is_overshoot(&self) -> bool {
        !self.full && self.first && self.lost >= OVERSHOOT.0.max(self.flight / OVERSHOOT.1)
    }
}

impl Queue {
    /// The handshake took `rtt`.
    pub fn on_handshake(&mut self, rtt: u64) {
        self.rtt.get_or_insert([rtt; 2]);
    }

    /// A round-trip time of `rtt` was seen at `now`.
    pub fn on_round_trip(&mut self, now: u64, rtt: u64, prompt: Prompt) {
        let [low, high] = self.rtt.unwrap_or([rtt; 2]);
        let low = low.min(rtt);
        self.rtt = Some([low, high.max(low)]);
        self.history.add(now, rtt);
        match prompt {
            Prompt::Yes => self.lengthen(now, rtt),
            Prompt::Unless(next) => self.open = next.filter(|next| next + rtt <= now + DELAYED).map(|_| (now, rtt)),
        }
    }

    /// The next acknowledgement in order arrives, of a segment that was sent `once` or more often. If once, it was not lost, so the
    /// acknowledgement before did not wait for it.
    pub fn on_next(&mut self, once: bool) {
        if let Some((at, rtt)) = self.open.take().filter(|_| once) {
            self.lengthen(at, rtt);
        }
    }

    /// The queue was as long at `now` as the round-trip time `rtt` says.
    fn lengthen(&mut self, now: u64, rtt: u64) {
        let place = self.longest.partition_point(|longer| *longer >= rtt);
        if place < self.longest.len() {
            self.longest[place..].rotate_right(1);
            self.longest[place] = rtt;
        }
        let [low, high] = self.rtt.unwrap_or([rtt; 2]);
        let high = high.max(self.longest[self.longest.len() - 1]);
        self.rtt = Some([low, high]);
        if high > low && 2 * rtt.saturating_sub(low) >= high - low {
            self.full = self.full.max(Some((now, rtt)));
        }
    }

    /// A loss episode begins at `now`, with so many segments in `flight`. `round`: the smoothed round-trip time; `rate`: segments that
    /// the path is known to carry in a second; `first`: the congestion window has not been reduced before.
    pub fn on_episode(&mut self, now: u64, (round, rate): (u64, f64), first: bool, flight: u64) {
        // The queue that was full within the last round trip may have dropped the segment.
        let low = self.rtt.map_or(0, |rtt| rtt[0]);
        let long = |rtt: u64| (rtt - low) as f64 / 1e9 * rate >= LEAST;
        let full = self.full.is_some_and(|(at, rtt)| at + round >= now && long(rtt));
        self.episode = Episode { full, first, flight, lost: 0 };
    }

    /// A segment of the episode is sent again.
    pub fn on_lost(&mut self) {
        self.lost[usize::from(!self.episode.full)] += 1;
        self.episode.lost += 1;
        if self.episode.is_overshoot() {
            self.lost[0] += self.episode.lost;
            self.lost[1] -= self.episode.lost;
            self.episode.full = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Round trips of 20 to 60 ms, the last of `latest` at 1,000 ms; then `count` losses `late` ms after it, 100 segments in flight.
    fn lost(latest: u64, late: u64, count: u64, first: bool) -> [u64; 2] {
        lost_of(1000.0, latest, late, count, first)
    }

    fn lost_of(rate: f64, latest: u64, late: u64, count: u64, first: bool) -> [u64; 2] {
        let mut queue = Queue::default();
        queue.on_handshake(20 * MS);
        (0..3).for_each(|i| queue.on_round_trip((500 + i) * MS, 60 * MS, Prompt::Yes));
        queue.on_round_trip(1_000 * MS, latest * MS, Prompt::Yes);
        queue.on_episode((1_000 + late) * MS, (50 * MS, rate), first, 100);
        (0..count).for_each(|_| queue.on_lost());
        queue.lost
    }

    #[test]
    fn losses_within_a_round_trip_of_a_full_queue_are_its_drops() {
        assert_eq!(lost(58, 0, 3, false), [3, 0]);
        assert_eq!(lost(58, 50, 3, false), [3, 0]);
        assert_eq!(lost(58, 51, 3, false), [0, 3]);
        assert_eq!(lost(30, 0, 3, false), [0, 3]);
    }

    /// In 40 ms a link of 100 segments a second sends four.
    #[test]
    fn a_queue_of_three_segments_is_not_full() {
        assert_eq!(lost_of(100.0, 60, 0, 1, false), [1, 0]);
        assert_eq!(lost_of(99.0, 60, 0, 1, false), [0, 1]);
    }

    /// One segment in twenty of those in flight, at least: a random loss of one in a hundred loses one.
    #[test]
    fn a_burst_of_losses_at_the_end_of_slow_start_is_its_overshoot() {
        assert_eq!(lost(30, 0, 4, true), [0, 4]);
        assert_eq!(lost(30, 0, 5, true), [5, 0]);
        assert_eq!(lost(30, 0, 40, true), [40, 0]);
        assert_eq!(lost(30, 0, 40, false), [0, 40]);
    }

    /// The receiver held back the acknowledgement of 20 ms for 40 more: the segment that follows was sent late, or lost.
    #[test]
    fn a_delayed_acknowledgement_is_no_queue() {
        for (next, once, most) in
            [(None, true, 20), (Some(145), true, 20), (Some(101), false, 20), (Some(101), true, 60)]
        {
            let mut queue = Queue::default();
            queue.on_round_trip(20 * MS, 20 * MS, Prompt::Yes);
            for _ in 0..3 {
                queue.on_round_trip(160 * MS, 60 * MS, Prompt::Unless(next.map(|at| at * MS)));
                queue.on_next(once);
            }
            assert_eq!(queue.rtt, Some([20 * MS, most * MS]), "{next:?} {once}");
            assert_eq!(queue.full.is_some(), most == 60);
        }
    }

    #[test]
    fn two_round_trips_that_are_too_long_do_not_count() {
        let mut queue = Queue::default();
        for rtt in [20, 60, 390, 380, 59, 58, 57] {
            queue.on_round_trip(1_000 * MS, rtt * MS, Prompt::Yes);
        }
        assert_eq!(queue.rtt, Some([20 * MS, 60 * MS]));
    }
}
