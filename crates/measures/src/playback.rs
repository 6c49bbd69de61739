//! What a viewer sees of a film that is fetched in segments: when it begins, how often and how long it stands still, how good
//! it looks.
//!
//! The player begins when `startup` of the film is there. When what is there has been shown and there is more to come it stands
//! still, until `startup` is there again or the rest of the film.

/// The state of a player.
#[derive(Clone, Debug)]
pub struct Playback {
    /// Playing time of a segment, and what has to be there before it plays, in nanoseconds.
    segment: u64,
    startup: u64,
    /// Segments of the film, and how many are there.
    count: u64,
    there: u64,
    /// Playing time that is there and not shown, at `at`.
    buffered: u64,
    at: u64,
    /// Since when it stands still; `None` while it plays.
    still: Option<u64>,
    /// When it began.
    pub started: Option<u64>,
    /// Time that it stood still after it had begun.
    pub rebuffering: u64,
    /// How often it did.
    pub stalls: u64,
    /// Sum of the bit rates of the segments that are there.
    bitrates: f64,
    last: Option<u64>,
    /// How often the bit rate changed from one segment to the next.
    pub switches: u64,
}

impl Playback {
    /// Of a film of `count` segments, at its beginning.
    pub fn new(segment: u64, count: u64, startup: u64) -> Self {
        Self {
            segment,
            startup,
            count,
            there: 0,
            buffered: 0,
            at: 0,
            still: Some(0),
            started: None,
            rebuffering: 0,
            stalls: 0,
            bitrates: 0.0,
            last: None,
            switches: 0,
        }
    }

    /// Shows what is to be shown until `now`; returns what is left of the film that is there, in nanoseconds.
    pub fn advance(&mut self, now: u64) -> u64 {
        let passed = now - self.at;
        self.at = now;
        if self.still.is_none() {
            if passed > self.buffered && self.there < self.count {
                self.still = Some(now - (passed - self.buffered));
                self.stalls += 1;
            }
            self.buffered = self.buffered.saturating_sub(passed);
        }
        self.buffered
    }

    /// A segment of `bitrate` is there.
    pub fn arrive(&mut self, now: u64, bitrate: u64) {
        self.advance(now);
        self.buffered += self.segment;
        self.there += 1;
        self.bitrates += bitrate as f64;
        self.switches += u64::from(self.last.is_some_and(|last| last != bitrate));
        self.last = Some(bitrate);
        let Some(since) = self.still else { return };
        if self.buffered >= self.startup || self.there == self.count {
            self.still = None;
            match self.started {
                None => self.started = Some(now),
                Some(_) => self.rebuffering += now - since,
            }
        }
    }

    /// When there is room for one more segment in a buffer of `most`, if nothing arrives until then.
    pub fn room(&self, most: u64) -> u64 {
        self.at + (self.buffered + self.segment).saturating_sub(most)
    }

    /// It is over at `now`, or nobody looks any more.
    pub fn finish(&mut self, now: u64) {
        self.advance(now);
        if let (Some(since), Some(_)) = (self.still, self.started) {
            self.rebuffering += now - since;
        }
    }

    /// Segments that are there, and the sum of their bit rates.
    pub fn bitrates(&self) -> (u64, f64) {
        (self.there, self.bitrates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments of 4 s that take 5 s each: the first is there at 5 s, and after each the player waits for one second.
    #[test]
    fn a_film_that_comes_too_slowly_stands_still_after_each_segment() {
        let mut p = Playback::new(4, 3, 4);
        for i in 1..=3 {
            p.arrive(5 * i, 100);
        }
        assert_eq!((p.started, p.stalls, p.rebuffering), (Some(5), 2, 2));
        p.finish(100);
        assert_eq!((p.stalls, p.rebuffering, p.switches, p.bitrates()), (2, 2, 0, (3, 300.0)));
    }

    /// Two segments of 4 s are wanted to begin with, and again after a stall. They are there at 1, 2 and 12 s: shown from 2 to
    /// 10 s; the third is the last, so it plays as soon as it is there.
    #[test]
    fn the_player_waits_for_what_it_wants_to_have() {
        let mut p = Playback::new(4, 4, 8);
        p.arrive(1, 100);
        assert_eq!(p.started, None);
        p.arrive(2, 200);
        assert_eq!((p.started, p.advance(5), p.room(8)), (Some(2), 5, 6));
        p.arrive(12, 200);
        assert_eq!((p.stalls, p.rebuffering), (1, 0));
        p.arrive(13, 100);
        assert_eq!((p.stalls, p.rebuffering, p.switches), (1, 3, 2));
        p.finish(50);
        assert_eq!((p.stalls, p.rebuffering), (1, 3));
    }

    #[test]
    fn a_film_that_breaks_off_stands_still_to_the_end() {
        let mut p = Playback::new(4, 3, 4);
        p.arrive(1, 100);
        p.finish(20);
        assert_eq!((p.stalls, p.rebuffering), (1, 15));
        let mut never = Playback::new(4, 3, 4);
        never.finish(20);
        assert_eq!((never.started, never.stalls, never.rebuffering), (None, 0, 0));
    }

    /// What arrives just when the last of it has been shown is in time.
    #[test]
    fn just_in_time_is_in_time() {
        let mut p = Playback::new(4, 2, 4);
        p.arrive(1, 100);
        p.arrive(5, 100);
        assert_eq!((p.stalls, p.rebuffering), (0, 0));
    }
}
