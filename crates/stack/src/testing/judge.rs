//! Judges by themselves.

use super::{Rng, lives};
use crate::controller::Cause;
use crate::judge::{AckSample, Episode, Judge, Verdict};
use crate::registry::{Choice, Setup};
use crate::seq::Seq;
use crate::time::{Duration, Instant};

const MSS: u64 = 1400;

/// Checks that a judge calls no more episodes spurious than there were, gives no verdict before the first episode, and gives
/// the same verdicts for the same evidence. Progress without blocks or duplicates means nothing to one that says so.
///
/// # Panics
/// If one of that does not hold.
pub fn judge(choice: &Choice<dyn Judge>) {
    lives(choice, |choice, seed| {
        let [first, second] = [(); 2].map(|()| live(&mut *choice.make(&Setup::new(1400, 10)), &mut Rng::new(seed)));
        assert_eq!(first, second, "the same evidence, another verdict");
    });
}

/// A random life. Returns the verdicts.
fn live(judge: &mut dyn Judge, rng: &mut Rng) -> Vec<Verdict> {
    let mut sender = Sender { now: Instant(1_000_000_000), una: 1000, nxt: 1000 + 10 * MSS, clock: 1000 };
    let (mut episodes, mut spurious) = (0, 0);
    let mut verdicts = Vec::new();
    for _ in 0..500 {
        sender.now += Duration::from_millis(1 + rng.below(100));
        sender.clock += 1 + rng.below(100) as u32;
        if rng.percent(10) {
            episodes += 1;
            judge.on_episode(&sender.episode(rng));
            for _ in 0..rng.below(4) {
                let start = sender.una + MSS * rng.below(1 + (sender.nxt - sender.una) / MSS);
                judge.on_retransmit(Seq(start), Seq(start + MSS));
            }
        }
        let evidence = sender.evidence(rng);
        let progress = evidence.acked > 0 && evidence.dsack.is_none() && evidence.sacked_original.is_none();
        let verdict = judge.on_ack(&evidence);
        let ignored = judge.ignores_progress() && progress;
        assert!(!ignored || verdict == Verdict::Pending, "{verdict:?} of what it ignores: {evidence:?}");
        spurious += u64::from(verdict == Verdict::Spurious);
        assert!(spurious <= episodes, "{spurious} verdicts \"spurious\", {episodes} episodes");
        let of_nothing = matches!(verdict, Verdict::Genuine | Verdict::Probe) && episodes == 0;
        assert!(!of_nothing, "{verdict:?} before the first episode");
        verdicts.push(verdict);
    }
    verdicts
}

/// What the sender of a subflow knows.
struct Sender {
    now: Instant,
    una: u64,
    nxt: u64,
    clock: u32,
}

impl Sender {
    fn episode(&self, rng: &mut Rng) -> Episode {
        let cause = rng.pick(&[Cause::FastRetransmit, Cause::Timeout, Cause::Ecn]);
        Episode {
            now: self.now,
            cause,
            snd_una: Seq(self.una),
            snd_nxt: Seq(self.nxt),
            timestamp: self.clock,
            nested: cause == Cause::Timeout && rng.percent(30),
        }
    }

    /// An acknowledgement of some segments, of none, or of fewer than before; new data follow what is acknowledged.
    fn evidence(&mut self, rng: &mut Rng) -> AckSample {
        let before = self.una;
        let acked = if rng.percent(60) { MSS * rng.below(1 + (self.nxt - self.una) / MSS) } else { 0 };
        let old = acked == 0 && rng.percent(10);
        self.una += acked;
        self.nxt = self.nxt.max(self.una) + MSS * rng.below(3);
        let reported = self.una.saturating_sub(MSS * (1 + rng.below(4)));
        AckSample {
            now: self.now,
            ack: Seq(if old { before.saturating_sub(MSS) } else { self.una }),
            una_before: Seq(before),
            snd_una: Seq(self.una),
            snd_nxt: Seq(self.nxt),
            acked,
            duplicate: acked == 0 && !old,
            old,
            ts_ecr: rng.percent(70).then(|| self.clock - rng.below(200) as u32),
            dsack: rng.percent(20).then(|| (Seq(reported), Seq(reported + MSS))),
            sacked_before: rng.percent(50),
            sacked_original: rng.percent(30).then_some(Seq(self.nxt)),
            sack: rng.percent(80),
            srtt: Duration::from_millis(1 + rng.below(300)),
            data_reordered: rng.percent(5),
            duplicate_number: rng.percent(30).then(|| rng.below(256) as u8),
            ..AckSample::default()
        }
    }
}
