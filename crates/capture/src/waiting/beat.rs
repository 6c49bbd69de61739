//! Do new data answer acknowledgements, or do they only follow them by chance, since these come all the time?

use super::AT_ONCE;

/// Weight of the latest event in the means.
const RECENT: f64 = 1.0 / 16.0;

/// The part of the time between two acknowledgements in which an answer leaves.
const PROMPT: f64 = 0.25;

/// If less than this share of the data leaves in that part, it is chance.
const ANSWERS: f64 = 0.6;

/// How soon new data leave after acknowledgements ("news"), and how often these come.
#[derive(Clone, Copy, Debug)]
pub struct Beat {
    /// Mean time from one piece of news to the next, nanoseconds.
    interval: f64,
    /// Share of the latest new data that left in the first part of such an interval.
    prompt: f64,
}

impl Default for Beat {
    fn default() -> Self {
        Self { interval: f64::INFINITY, prompt: 1.0 }
    }
}

impl Beat {
    /// An acknowledgement comes at `now`; the one before came at `last`. Times are in nanoseconds.
    pub fn on_news(&mut self, now: u64, last: u64) {
        let time = now.saturating_sub(last) as f64;
        self.interval = if self.interval.is_finite() { self.interval + RECENT * (time - self.interval) } else { time };
    }

    /// New data leave at `now` after a gap; the latest news came at `news`.
    pub fn on_data(&mut self, now: u64, news: u64) {
        let prompt = now.saturating_sub(news) as f64 <= PROMPT * self.interval;
        self.prompt += RECENT * (f64::from(u8::from(prompt)) - self.prompt);
    }

    /// News comes so often that data seem to answer it at any time, and most of them do not.
    pub fn is_chance(&self) -> bool {
        PROMPT * self.interval < AT_ONCE as f64 && self.prompt < ANSWERS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Acknowledgements every 180 us, data 88 us apart whatever these do, or at once after each.
    #[test]
    fn data_at_any_time_between_acknowledgements_follow_them_by_chance() {
        for (answers, chance) in [(false, true), (true, false)] {
            let mut beat = Beat::default();
            let mut news = 0;
            for i in 1..500_u64 {
                let now = i * 88_000;
                while news + 180_000 <= now {
                    beat.on_news(news + 180_000, news);
                    news += 180_000;
                }
                beat.on_data(if answers { news } else { now }, news);
            }
            assert_eq!(beat.is_chance(), chance);
        }
    }

    /// Acknowledgements that come rarely are not met by chance.
    #[test]
    fn rare_acknowledgements_are_answered() {
        let mut beat = Beat::default();
        for i in 1..100_u64 {
            beat.on_news(i * 10_000_000, (i - 1) * 10_000_000);
            beat.on_data(i * 10_000_000 + 5_000_000, i * 10_000_000);
        }
        assert!(!beat.is_chance());
    }
}
