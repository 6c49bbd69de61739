//! A video player that fetches a film in segments, each in one of several qualities (a ladder of bit rates), and plays it
//! meanwhile: on-off traffic whose size depends on what it gets.
//!
//! The rule that chooses the quality, before each request:
//! 1. Without a measurement, or while less than one segment is buffered: the lowest.
//! 2. Otherwise the highest whose bit rate is at most 0.9 of the throughput, but at most one step above the last.
//!
//! The throughput is the harmonic mean of the last five segments' (octets / time from the request to the last octet), as in X. Yin
//! et al., "A Control-Theoretic Approach for Dynamic Adaptive Video Streaming over HTTP", SIGCOMM 2015, section 5; 0.9 is the safety
//! factor of dash.js; going up step by step is from J. Jiang, V. Sekar, H. Zhang, "Improving Fairness, Efficiency, and Stability in
//! HTTP-based Adaptive Video Streaming with FESTIVE", CoNEXT 2012, section 4.

use std::collections::VecDeque;
use std::sync::Arc;

use anabranch_measures::items::{Item, Items};
use anabranch_measures::playback::Playback;

use super::NEVER;
use anabranch_scenario::application::Video;

/// Segments whose throughput counts.
const MEMORY: usize = 5;
/// Share of the throughput that is relied on.
const SAFETY: f64 = 0.9;

/// A player.
#[derive(Debug)]
pub struct Player {
    video: Arc<Video>,
    pub(super) playback: Playback,
    /// Seconds a bit of the last segments.
    pace: VecDeque<f64>,
    /// Place in the ladder of what was asked for last.
    rung: usize,
    /// Segments asked for.
    asked: u64,
}

impl Player {
    /// At the beginning of `video`.
    pub fn new(video: Arc<Video>) -> Self {
        let playback = Playback::new(video.segment.0, video.count, video.startup.0);
        Self { video, playback, pace: VecDeque::with_capacity(MEMORY + 1), rung: 0, asked: 0 }
    }

    /// A segment is there.
    pub fn arrive(&mut self, now: u64, segment: &Item) {
        self.playback.arrive(now, self.video.ladder[self.rung]);
        self.pace.push_back((now - segment.asked) as f64 / 1e9 / (segment.bytes * 8) as f64);
        if self.pace.len() > MEMORY {
            self.pace.pop_front();
        }
    }

    /// Asks for the next segment, if it is time; returns octets of the request, and when to look again.
    pub fn ask(&mut self, now: u64, items: &mut Items) -> (u64, u64) {
        if items.open() > 0 || self.asked == self.video.count {
            return (0, NEVER);
        }
        let buffered = self.playback.advance(now);
        let room = self.playback.room(self.video.buffer.0);
        if room > now {
            return (0, room);
        }
        self.rung = self.choose(buffered);
        items.ask(now, self.asked as u32, self.video.octets(self.rung));
        self.asked += 1;
        (self.video.request, NEVER)
    }

    /// Octets of a request.
    pub fn request(&self) -> u64 {
        self.video.request
    }

    /// All of the film is there.
    pub fn is_over(&self, items: &Items) -> bool {
        self.asked == self.video.count && items.open() == 0
    }

    fn choose(&self, buffered: u64) -> usize {
        if self.pace.is_empty() || buffered < self.video.segment.0 {
            return 0;
        }
        let throughput = self.pace.len() as f64 / self.pace.iter().sum::<f64>();
        let fitting = self.video.ladder.iter().filter(|rate| **rate as f64 <= SAFETY * throughput).count();
        fitting.saturating_sub(1).min(self.rung + 1)
    }
}

#[cfg(test)]
mod tests {
    use anabranch_measures::items::Kind;
    use anabranch_stack::time::Duration;

    use super::*;

    const S: u64 = 1_000_000_000;

    fn player() -> (Player, Items) {
        let seconds = Duration::from_secs;
        let video = Video {
            ladder: vec![1_000_000, 2_000_000, 4_000_000],
            segment: seconds(4),
            count: 100,
            buffer: seconds(16),
            startup: seconds(4),
            request: 400,
        };
        (Player::new(Arc::new(video)), Items::new(Kind::Segment, None))
    }

    /// Asks at `now`; what is asked for arrives after `takes`. Returns its bit rate and when it is there.
    fn fetch(p: &mut Player, items: &mut Items, now: u64, takes: u64) -> (u64, u64) {
        let (octets, wake) = p.ask(now, items);
        assert_eq!((octets, wake), (400, NEVER));
        let there = now + takes;
        let segment = items.arrive(there, u64::MAX)[0];
        p.arrive(there, &segment);
        (segment.bytes * 8 / 4, there)
    }

    /// Segments of 4, 8 and 16 Mbit. The first, lowest, takes 1 s: 4 Mbit/s, of which 3.6 are relied on: 2 Mbit/s. That takes 1 s,
    /// too: the harmonic mean of 4 and 8 Mbit/s is 5.33, of which 4.8: 4 Mbit/s. When that takes 8 s (2 Mbit/s), the mean is
    /// 3 / (1/4 + 1/8 + 1/2) = 3.43 Mbit/s, of which 3.09: back to 2 Mbit/s.
    #[test]
    fn the_quality_follows_the_throughput_one_step_up_at_a_time() {
        let (mut p, mut items) = player();
        let (first, now) = fetch(&mut p, &mut items, 0, S);
        let (second, now) = fetch(&mut p, &mut items, now, S);
        let (third, now) = fetch(&mut p, &mut items, now, 8 * S);
        let (fourth, _) = fetch(&mut p, &mut items, now, S);
        assert_eq!([first, second, third, fourth], [1_000_000, 2_000_000, 4_000_000, 2_000_000]);
    }

    /// A fast path would allow the highest at once; it takes two steps.
    #[test]
    fn it_goes_up_step_by_step() {
        let (mut p, mut items) = player();
        let mut now = 0;
        let mut next = || {
            let (rate, there) = fetch(&mut p, &mut items, now, S / 100);
            now = there;
            rate
        };
        let rates = [next(), next(), next()];
        assert_eq!(rates, [1_000_000, 2_000_000, 4_000_000]);
    }

    /// Four segments fill the buffer of 16 s: at 0.04 s there are 16 s less what was shown since 0.01 s. There is room for the next
    /// when 12 s are left: 4 s after the beginning of the film.
    #[test]
    fn a_full_buffer_is_left_alone() {
        let (mut p, mut items) = player();
        for i in 0..4 {
            fetch(&mut p, &mut items, i * S / 100, S / 100);
        }
        assert_eq!(p.ask(S / 25, &mut items), (0, S / 100 + 4 * S));
        assert_eq!(p.ask(S / 100 + 4 * S, &mut items).0, 400);
    }

    /// The second segment takes 7.5 s of which 4 are buffered: after it there is one segment, but the third is asked for half a
    /// second after that, with 3.5 s left.
    #[test]
    fn with_little_in_the_buffer_it_takes_the_lowest() {
        let (mut p, mut items) = player();
        let (_, now) = fetch(&mut p, &mut items, 0, S / 10);
        let (rate, now) = fetch(&mut p, &mut items, now, 7 * S + S / 2);
        assert_eq!(rate, 2_000_000);
        let (rate, _) = fetch(&mut p, &mut items, now + S / 2, S);
        assert_eq!(rate, 1_000_000);
    }
}
