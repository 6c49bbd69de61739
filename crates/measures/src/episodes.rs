//! Loss episodes and their verdicts: what a recovery algorithm judged, against what the simulator knows.
//!
//! An episode was genuine if it retransmitted at least one segment whose earlier copies were all lost ([`super::fates`]).
//! An episode without a verdict counts as judged genuine, because the sender treats it so.

/// One loss episode.
#[derive(Clone, Copy, Debug)]
struct Episode {
    began: u64,
    retransmissions: u32,
    genuine: bool,
    judged_spurious: bool,
}

/// The episodes of one subflow, in order.
#[derive(Clone, Debug, Default)]
pub struct Episodes {
    all: Vec<Episode>,
    detection: u64,
    restored: u64,
}

/// Counts by truth and verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Confusion {
    /// Spurious episodes judged spurious.
    pub spurious_judged_spurious: u64,
    /// Spurious episodes judged genuine, or not judged.
    pub spurious_judged_genuine: u64,
    /// Genuine episodes judged spurious.
    pub genuine_judged_spurious: u64,
    /// Genuine episodes judged genuine, or not judged.
    pub genuine_judged_genuine: u64,
}

impl Episodes {
    /// An episode begins at `now` (nanoseconds).
    pub fn begin(&mut self, now: u64) {
        self.all.push(Episode { began: now, retransmissions: 0, genuine: false, judged_spurious: false });
    }

    /// A segment is retransmitted in the latest episode; returns the episode's number.
    pub fn retransmit(&mut self) -> u32 {
        match self.all.last_mut() {
            Some(episode) => {
                episode.retransmissions += 1;
                (self.all.len() - 1) as u32
            }
            None => u32::MAX,
        }
    }

    /// A retransmission of episode `number` was needed.
    pub fn was_needed(&mut self, number: u32) {
        if let Some(episode) = self.all.get_mut(number as usize) {
            episode.genuine = true;
        }
    }

    /// The latest episode was judged at `now`.
    pub fn judge(&mut self, now: u64, spurious: bool, restored: bool) {
        if let (Some(episode), true) = (self.all.last_mut(), spurious) {
            self.detection += now - episode.began;
            episode.judged_spurious = true;
        }
        self.restored += u64::from(restored);
    }

    /// The confusion matrix of episodes in which something was retransmitted.
    pub fn confusion(&self) -> Confusion {
        let mut c = Confusion::default();
        for e in self.all.iter().filter(|e| e.retransmissions > 0) {
            match (e.genuine, e.judged_spurious) {
                (false, true) => c.spurious_judged_spurious += 1,
                (false, false) => c.spurious_judged_genuine += 1,
                (true, true) => c.genuine_judged_spurious += 1,
                (true, false) => c.genuine_judged_genuine += 1,
            }
        }
        c
    }

    /// The sum of the times from the beginning of an episode to its verdict "spurious", in nanoseconds; then the number of such
    /// verdicts.
    pub fn detection(&self) -> (u64, u64) {
        (self.detection, self.all.iter().filter(|e| e.judged_spurious).count() as u64)
    }

    /// How many verdicts restored the window.
    pub fn restored(&self) -> u64 {
        self.restored
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The judge calls the first two loss episodes spurious, 30 ns and 5 ns after each began, and
    /// restores the window after the second one. Detection times count spurious verdicts only:
    /// 35 ns in two episodes. The third episode is judged genuine but has no retransmission, so no
    /// cell of the confusion table counts it.
    #[test]
    fn verdicts_are_timed_from_the_beginning_of_their_episode() {
        let mut e = Episodes::default();
        e.begin(100);
        assert_eq!(e.retransmit(), 0);
        e.judge(130, true, false);
        e.begin(1000);
        assert_eq!((e.retransmit(), e.retransmit()), (1, 1));
        e.was_needed(1);
        e.judge(1005, true, true);
        e.begin(2000);
        e.judge(2009, false, false);
        assert_eq!((e.detection(), e.restored()), ((35, 2), 1));
        let c = e.confusion();
        let cells = [
            c.spurious_judged_spurious,
            c.spurious_judged_genuine,
            c.genuine_judged_spurious,
            c.genuine_judged_genuine,
        ];
        assert_eq!(cells, [1, 0, 1, 0]);
    }
}
