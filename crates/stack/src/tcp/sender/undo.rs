//! The undo ledger: one copy of the controller per loss episode, taken before the window is reduced.
//!
//! When a judge ([`crate::judge`]) finds an episode spurious, the copy is restored. This works for every controller, because the
//! whole state of a controller is a value.

use std::collections::VecDeque;

use crate::controller::{Adjust, Cause, Controller};
use crate::time::Instant;

/// Episodes kept. Verdicts concern only the latest ones.
const KEPT: usize = 8;

/// One loss episode.
#[derive(Debug)]
pub struct Entry {
    /// When the episode began.
    pub at: Instant,
    /// Why the window was reduced.
    pub cause: Cause,
    /// The controller before the reduction.
    pub before: Box<dyn Controller>,
    /// RFC 4015 3.2 step (0): pipe_prev, the larger of FlightSize and ssthresh.
    pub pipe_prev: f64,
    /// RFC 4015 3.2 step (0): SRTT_prev and RTTVAR_prev in nanoseconds.
    pub rtt_prev: (u64, u64),
}

/// The episodes of one subflow, newest last.
#[derive(Debug, Default)]
pub struct Ledger {
    entries: VecDeque<Entry>,
    undone: u64,
}

impl Ledger {
    /// Records a new episode.
    pub fn begin(&mut self, entry: Entry) {
        if self.entries.len() == KEPT {
            self.entries.pop_front();
        }
        self.entries.push_back(entry);
    }

    /// Removes and returns the latest episode, if it began at `since` or later.
    pub fn take(&mut self, since: Instant) -> Option<Entry> {
        if self.entries.back()?.at < since {
            return None;
        }
        self.entries.pop_back()
    }

    /// A change of the windows as they are, which those to be restored share.
    pub fn adjust(&mut self, adjust: Adjust) {
        for entry in &mut self.entries {
            entry.before.adjust(adjust);
        }
    }

    /// Forgets all episodes: none of them can be undone.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// Counts an episode whose window was restored.
    pub fn count_undone(&mut self) {
        self.undone += 1;
    }

    /// Number of episodes undone.
    pub fn undone(&self) -> u64 {
        self.undone
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::config::Config;
    use crate::controller::Path;
    use crate::event::{Event, Events};
    use crate::judge::{AckSample, Episode, Judge, Response, Verdict};
    use crate::registry::{Choice, Registry};
    use crate::segment::{Flags, Mptcp, Options, Segment};
    use crate::seq::Seq;
    use crate::tcp::subflow::Subflow;
    use crate::time::Duration;

    /// A judge that finds the latest episode spurious when the test says so.
    #[derive(Debug)]
    struct Told(Arc<AtomicBool>);

    impl Judge for Told {
        fn on_episode(&mut self, _: &Episode) {}
        fn on_retransmit(&mut self, _: Seq, _: Seq) {}
        fn on_ack(&mut self, _: &AckSample) -> Verdict {
            if self.0.swap(false, Ordering::Relaxed) { Verdict::Spurious } else { Verdict::Pending }
        }
        fn default_response(&self) -> Response {
            Response::Restore
        }
    }

    const MSS: u64 = 1000;

    /// A subflow whose peer sends the acknowledgements that the test asks for.
    pub struct Bench {
        config: Config,
        pub subflow: Subflow,
        verdict: Arc<AtomicBool>,
        pub now: Instant,
        pub paths: [Path; 1],
        events: Events,
    }

    impl Bench {
        /// An established subflow after some round trips in which the window grew and was reduced.
        pub fn lived(controller: Choice<dyn Controller>, sack: bool) -> Self {
            let config = Config { controller, sack, timestamps: false, mss: MSS as u32, ..Config::classic() };
            let mut subflow = Subflow::connect(0, &config, 100, 0);
            let verdict = Arc::new(AtomicBool::new(false));
            subflow.sender.judge = Box::new(Told(verdict.clone()));
            subflow.poll_syn(Instant(0), 65_535, Mptcp::None, &config, 0).unwrap();
            let options = Options { mss: Some(1040), sack_permitted: sack, ..Options::default() };
            let flags = Flags::SYN.with(Flags::ACK);
            let syn_ack = Segment { seq: 500, ack: 101, window: 65_535, flags, options, ..Segment::default() };
            let now = Instant(100_000_000);
            subflow.on_segment_in_syn_sent(now, &syn_ack);
            let paths =
                [Path { established: true, cwnd: subflow.cwnd(), srtt: Duration::from_millis(100), ..Path::default() }];
            let mut b = Self { config, subflow, verdict, now, paths, events: Events::new() };
            for round in 0..12 {
                b.fill();
                if round == 4 {
                    b.lose();
                }
                b.now += Duration::from_millis(100);
                while b.subflow.sender.flight_size() > 0 {
                    b.ack(MSS, 0);
                }
            }
            b.fill();
            b
        }

        /// Sends new data until the window is full.
        pub fn fill(&mut self) {
            while self.subflow.sender.has_room(MSS as u32) {
                let data = self.subflow.sender.nxt - self.subflow.iss - 1;
                self.subflow.sender.send_new(self.now, data, MSS as u32);
            }
        }

        /// Acknowledges `octets` more, and SACKs `sacked` segments after the next one.
        fn ack(&mut self, octets: u64, sacked: u64) {
            let s = &mut self.subflow;
            let ack = s.sender.una + octets;
            let mut options = Options::default();
            if sacked > 0 && s.sack {
                options.sack.push((ack + MSS).wire(), (ack + MSS * (1 + sacked)).wire());
            }
            let (seq, ack) = (501, ack.wire());
            let seg = Segment { seq, ack, window: 65_535, flags: Flags::ACK, options, ..Segment::default() };
            s.on_ack(self.now, &seg, &self.paths, &mut self.events, false);
            self.paths[0].cwnd = s.cwnd();
        }

        /// Three duplicate acknowledgements: fast retransmit.
        pub fn lose(&mut self) {
            for n in 1..=3 {
                self.ack(0, n);
            }
            self.subflow.sender.next_retransmission(self.now).unwrap();
        }

        /// Lets the timer expire.
        pub fn time_out(&mut self) {
            self.now = self.subflow.acks.deadline().min(self.subflow.other_deadline(self.config.time_wait));
            let (ended, timed_out) =
                self.subflow.on_timers(self.now, &self.config, (false, false), &self.paths, &mut self.events);
            assert!(ended.is_none() && timed_out);
        }

        /// The retransmission after a timeout, when pacing permits it.
        fn resend(&mut self) {
            self.now = self.subflow.sender.paced_until(self.now).unwrap_or(self.now);
            self.subflow.sender.next_retransmission(self.now).unwrap();
        }

        /// Gives the verdict with the next acknowledgement. That one acknowledges nothing, so the window does not grow.
        fn judge(&mut self) {
            self.verdict.store(true, Ordering::Relaxed);
            self.ack(0, 0);
        }

        /// The whole state of the controller, in its debug form.
        fn state(&self) -> String {
            format!("{:?}", self.subflow.sender.controller)
        }

        /// The state that the newest episode will restore. It is what it was `before`, when the first of its duplicates came: none but a
        /// model of the path learns from these.
        fn saved(&self, before: &str) -> String {
            let entry = self.subflow.sender.ledger.entries.back().expect("an episode has begun");
            let saved = format!("{:?}", entry.before);
            assert!(saved == before || entry.before.pacing().is_some(), "{saved} {before}");
            saved
        }

        /// The window that it will restore.
        fn saved_cwnd(&self) -> f64 {
            self.subflow.sender.ledger.entries.back().expect("an episode has begun").before.window().cwnd
        }
    }

    fn over_all(test: impl Fn(&mut Bench)) {
        for entry in Registry::<dyn Controller>::default().iter() {
            for sack in [true, false] {
                println!("{entry:?} sack {sack}");
                test(&mut Bench::lived(entry.clone(), sack));
            }
        }
    }

    #[test]
    fn a_spurious_fast_retransmit_restores_any_controller_exactly() {
        over_all(|b| {
            let (before, undone) = (b.state(), b.subflow.undone());
            let flight = b.subflow.sender.flight_size();
            b.lose();
            let before = b.saved(&before);
            assert_ne!(b.state(), before);
            b.judge();
            assert_eq!(b.state(), before);
            assert_eq!(b.subflow.undone(), undone + 1);
            // Segments that were not SACKed are in flight again, and no recovery is in progress.
            assert_eq!(b.subflow.sender.flight_size(), flight);
            assert!(b.subflow.sender.next_retransmission(b.now).is_none());
        });
    }

    #[test]
    fn a_spurious_timeout_restores_any_controller_exactly() {
        over_all(|b| {
            let before = b.state();
            b.time_out();
            let before = b.saved(&before);
            assert_eq!(b.subflow.cwnd(), MSS as f64);
            b.resend();
            b.judge();
            assert_eq!(b.state(), before);
            assert!(b.subflow.sender.next_retransmission(b.now).is_none());
        });
    }

    /// RFC 9438 4.9.2: if the window is larger than the saved one when the verdict comes, it stays with all its state. If it is
    /// at or below the saved one, the saved one is restored. A model of the path is restored in any case.
    #[test]
    fn a_window_that_has_outgrown_the_saved_one_keeps_its_state() {
        over_all(|b| {
            let models = b.subflow.sender.controller.reduces_itself();
            let before = b.state();
            b.lose();
            let (before, saved) = (b.saved(&before), b.saved_cwnd());
            let ssthresh = b.subflow.ssthresh();
            b.subflow.sender.controller.adjust(Adjust::Cached { cwnd: saved + 1.0, ssthresh });
            let newer = b.state();
            b.judge();
            assert_eq!(b.state(), if models { before.clone() } else { newer.clone() });
            assert_ne!(newer, before);
        });
        over_all(|b| {
            let before = b.state();
            b.lose();
            let (before, saved) = (b.saved(&before), b.saved_cwnd());
            let ssthresh = b.subflow.ssthresh();
            b.subflow.sender.controller.adjust(Adjust::Cached { cwnd: saved, ssthresh });
            b.judge();
            assert_eq!(b.state(), before);
        });
    }

    /// Fast retransmit, then a timeout in the same window: each verdict undoes the newest remaining episode.
    #[test]
    fn episodes_are_undone_newest_first() {
        over_all(|b| {
            let before = b.state();
            b.lose();
            let before = b.saved(&before);
            let between = b.state();
            b.time_out();
            b.judge();
            assert_eq!(b.state(), between);
            b.judge();
            assert_eq!(b.state(), before);
            // Nothing in this flight is left to undo, only the much earlier loss that the ledger still holds.
            assert_eq!(b.subflow.undone(), 2);
        });
    }

    /// A second timeout of the same segment belongs to the same episode: one verdict undoes both.
    #[test]
    fn a_repeated_timeout_is_one_episode() {
        over_all(|b| {
            let before = b.state();
            b.time_out();
            let before = b.saved(&before);
            b.resend();
            b.time_out();
            b.judge();
            assert_eq!(b.state(), before);
            let episodes = std::iter::from_fn(|| b.events.pop_front())
                .filter(|e| matches!(e, Event::Congestion { cause: Cause::Timeout, .. }));
            assert_eq!(episodes.count(), 1);
        });
    }

    /// RFC 5681 3.1: with smaller segments cwnd is "reduced by the ratio of the old segment size to the new segment size", and so is the one that a
    /// verdict restores.
    #[test]
    fn a_window_is_restored_in_segments_of_the_size_that_is_used_now() {
        over_all(|b| {
            b.lose();
            while b.subflow.sender.flight_size() > 0 {
                b.ack(MSS, 0);
            }
            let (saved, undone) = (b.saved_cwnd(), b.subflow.undone());
            b.subflow.sender.lower_mss(b.now, 500);
            assert_eq!(b.saved_cwnd(), saved / 2.0);
            let grown = b.subflow.cwnd();
            b.fill();
            b.judge();
            assert_eq!(b.subflow.undone(), undone + 1);
            let models = b.subflow.sender.controller.reduces_itself();
            assert_eq!(b.subflow.cwnd(), if models { saved / 2.0 } else { grown.max(saved / 2.0) });
            assert_eq!(b.subflow.sender.controller.window().mss, 500.0);
        });
    }

    /// RFC 8201 5.4: what was larger "was dropped by the node that sent" the message: it is lost, whatever an earlier episode was.
    #[test]
    fn what_was_too_large_stays_lost_when_an_episode_is_found_spurious() {
        over_all(|b| {
            let undone = b.subflow.undone();
            b.lose();
            b.subflow.sender.lower_mss(b.now, 500);
            let cwnd = b.subflow.cwnd();
            assert!(b.subflow.sender.board.has_lost());
            b.judge();
            assert_eq!((b.subflow.undone(), b.subflow.cwnd()), (undone, cwnd));
            assert!(b.subflow.sender.board.has_lost());
            b.resend();
        });
    }

    /// The ledger keeps the last eight episodes.
    #[test]
    fn old_episodes_are_forgotten() {
        let config = Config::classic();
        let mut ledger = Ledger::default();
        for at in 0..10 {
            let before = config.controller.make(&config.setup());
            let at = Instant(at);
            ledger.begin(Entry { at, cause: Cause::Timeout, before, pipe_prev: 0.0, rtt_prev: (0, 0) });
        }
        assert!(ledger.take(Instant(10)).is_none());
        let times: Vec<_> = std::iter::from_fn(|| ledger.take(Instant::ZERO)).map(|e| e.at.0).collect();
        assert_eq!(times, [9, 8, 7, 6, 5, 4, 3, 2]);
    }
}
