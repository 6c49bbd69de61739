//! Detectors by themselves, over a scoreboard.

use super::{Rng, lives};
use crate::detector::{AckSample, Detector, Due, Finding, Outstanding, Scoreboard, Sent};
use crate::registry::{Choice, Setup};
use crate::seq::Seq;
use crate::time::{Duration, Instant};

const MSS: u64 = 1400;

/// That a detector begins recovery only while something is outstanding, marks the oldest segment lost when the retransmission timer
/// expires (unless it is SACKed), lets a bounded number of segments leave for duplicates, does not stand still at a deadline, and finds
/// nothing in what it says it ignores.
///
/// # Panics
/// If one of that does not hold.
pub fn detector(choice: &Choice<dyn Detector>) {
    lives(choice, |choice, seed| {
        let rng = &mut Rng::new(seed);
        let sack = rng.percent(70);
        let mut life = Life { board: Scoreboard::default(), now: Instant(1_000_000_000), una: 1000, nxt: 1000, sack };
        life.live(&mut *choice.make(&Setup::new(1400, 10)), rng);
    });
}

/// The sender of a subflow, as far as a detector can see it.
struct Life {
    board: Scoreboard,
    now: Instant,
    una: u64,
    nxt: u64,
    sack: bool,
}

impl Life {
    fn outstanding(&self, duplicates: u32) -> Outstanding {
        Outstanding {
            snd_una: Seq(self.una),
            snd_nxt: Seq(self.nxt),
            recover: Seq(self.una - 1),
            duplicates,
            sack: self.sack,
            mss: MSS as u32,
            srtt: Duration::from_millis(50),
            min_rtt: Duration::from_millis(40),
            ..Outstanding::default()
        }
    }

    fn live(&mut self, detector: &mut dyn Detector, rng: &mut Rng) {
        let mut duplicates = 0;
        for _ in 0..400 {
            self.now += Duration::from_millis(rng.below(20));
            for _ in 0..rng.below(4) {
                self.send(detector);
            }
            self.run_deadline(detector, duplicates);
            if rng.percent(2) && !self.board.is_empty() {
                let outstanding = self.outstanding(duplicates);
                detector.on_timeout(self.now, &mut self.board, &outstanding);
                let front = self.board.front().expect("not empty");
                assert!(
                    self.board.front_is_lost() || front.is_sacked(),
                    "after a timeout the oldest segment is not lost"
                );
                self.now += Duration::from_millis(1);
            }
            duplicates = self.acknowledge(detector, rng, duplicates);
            let most = detector.limited_transmit(duplicates);
            assert!(most <= duplicates, "{most} segments leave for {duplicates} duplicates");
        }
    }

    fn send(&mut self, detector: &mut dyn Detector) {
        let (seq, data) = (Seq(self.nxt), self.nxt - 1000);
        self.board.push(seq, MSS as u32, data, self.now, false);
        let sent = Sent::first(seq, data, MSS as u32, self.now);
        detector.on_sent(self.now, &sent, Duration::from_millis(50));
        self.nxt += MSS;
    }

    fn run_deadline(&mut self, detector: &mut dyn Detector, duplicates: u32) {
        if detector.deadline().is_some_and(|at| at <= self.now) {
            let outstanding = self.outstanding(duplicates);
            let due = detector.on_deadline(self.now, &mut self.board, &outstanding);
            assert!(due == Due::Nothing || self.una < self.nxt, "{due:?} with nothing outstanding");
            let next = detector.deadline();
            assert!(next.is_none_or(|at| at > self.now), "at {} the next deadline is {next:?}", self.now);
        }
    }

    /// An acknowledgement of some segments or, with SACK, of some behind the oldest. Returns how many duplicates there are now.
    fn acknowledge(&mut self, detector: &mut dyn Detector, rng: &mut Rng, duplicates: u32) -> u32 {
        let segments = (self.nxt - self.una) / MSS;
        let una_before = Seq(self.una);
        let acked = if rng.percent(50) { rng.below(1 + segments) * MSS } else { 0 };
        self.una += acked;
        let left = segments - acked / MSS;
        let marks = self.board.acknowledge(Seq(self.una));
        let mut sacked = 0;
        if self.sack && left > 1 && rng.percent(70) {
            let from = self.una + MSS * (1 + rng.below(left - 1));
            sacked = self.board.sack(Seq(from), Seq(from + MSS)).octets;
        }
        let duplicate = if self.sack { sacked > 0 } else { acked == 0 && left > 0 };
        let duplicates = if acked > 0 { 0 } else { duplicates } + u32::from(duplicate);
        let sample = AckSample {
            now: self.now,
            ack: Seq(self.una),
            una_before,
            snd_una: Seq(self.una),
            snd_nxt: Seq(self.nxt),
            acked,
            acked_sacked: marks.sacked,
            sacked,
            duplicate,
            sack: self.sack,
            ..AckSample::default()
        };
        let outstanding = self.outstanding(duplicates);
        let (marked, progress) = (self.board.marked(), acked > 0 && duplicates == 0 && self.board.is_unsacked());
        detector.on_ack(&sample, &mut self.board, &outstanding);
        let finding = detector.finding(&sample, &self.board, &outstanding);
        assert!(finding != Finding::Loss || left > 0, "recovery begins with nothing outstanding");
        let heeded = self.board.marked() > marked || finding != Finding::Nothing;
        assert!(!(heeded && progress && detector.ignores_progress()), "{finding:?} of what it ignores: {sample:?}");
        duplicates
    }
}
