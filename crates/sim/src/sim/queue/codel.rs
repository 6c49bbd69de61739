//! Controlled Delay (RFC 8289): drop at the head when packets have waited longer than `target` for a whole `interval`.
//!
//! State is of four numbers: when the sojourn time went above target (plus an interval), whether packets are being dropped,
//! when the next one is, and how many were since. While dropping, the gap between drops is interval / sqrt(count) (RFC 8289
//! 4.3): for a TCP that answers each drop with half its window this lowers the rate linearly. A queue of at most one full
//! packet is never dropped from. ECN-capable packets are marked instead of dropped (RFC 8289 3: "drop or mark").

use super::Waiting;
use crate::sim::packet::PacketId;
use anabranch_scenario::CodelParameters;

/// Octets of a full packet: CoDel leaves a queue alone that holds no more (RFC 8289 4.4, MAXPACKET).
const MAX_PACKET: u64 = 1514;

/// The state of one queue.
#[derive(Clone, Debug)]
pub struct Codel {
    target: u64,
    interval: u64,
    /// When a sojourn time above target will have lasted an interval; zero: it is below.
    first_above: u64,
    dropping: bool,
    drop_next: u64,
    /// Drops since dropping began, and their number when it began last.
    count: u32,
    last_count: u32,
}

impl Codel {
    /// With these parameters.
    pub fn new(p: CodelParameters) -> Self {
        Self {
            target: p.target.0,
            interval: p.interval.0,
            first_above: 0,
            dropping: false,
            drop_next: 0,
            count: 0,
            last_count: 0,
        }
    }

    /// RFC 8289 5.5 `control_law`. The square root is exact IEEE arithmetic, alike on every machine.
    fn control_law(&self, t: u64) -> u64 {
        t + (self.interval as f64 / f64::from(self.count).sqrt()) as u64
    }

    /// RFC 8289 5.4 `dodequeue`: the head packet, and whether it may be dropped.
    fn head(&mut self, now: u64, take: &mut impl FnMut() -> Option<(Waiting, u64)>) -> (Option<Waiting>, bool) {
        let Some((w, left)) = take() else {
            self.first_above = 0;
            return (None, false);
        };
        let sojourn = now - w.since;
        if sojourn < self.target || left <= MAX_PACKET {
            self.first_above = 0;
        } else if self.first_above == 0 {
            self.first_above = now + self.interval;
        } else if now >= self.first_above {
            return (Some(w), true);
        }
        (Some(w), false)
    }

    /// RFC 8289 5.6 `deque`: the packet to transmit and whether to mark it; dropped ones go on `dropped`. `take` gives the
    /// head of the queue and the octets left behind it.
    #[inline]
    pub fn pop(
        &mut self,
        now: u64,
        mut take: impl FnMut() -> Option<(Waiting, u64)>,
        dropped: &mut Vec<PacketId>,
    ) -> Option<(Waiting, bool)> {
        let (mut head, mut may_drop) = self.head(now, &mut take);
        if self.dropping {
            if !may_drop {
                self.dropping = false;
            }
            while self.dropping && now >= self.drop_next {
                let w = head.expect("what may be dropped is there");
                self.count += 1;
                if w.packet.ect {
                    self.drop_next = self.control_law(self.drop_next);
                    return Some((w, true));
                }
                dropped.push(w.packet.id);
                (head, may_drop) = self.head(now, &mut take);
                if may_drop {
                    self.drop_next = self.control_law(self.drop_next);
                } else {
                    self.dropping = false;
                }
            }
        } else if may_drop {
            let w = head.expect("what may be dropped is there");
            self.dropping = true;
            // RFC 8289 5.6: a queue that was dropped from recently goes on near the rate that controlled it.
            let delta = self.count - self.last_count;
            let recently = now.saturating_sub(self.drop_next) < 16 * self.interval;
            self.count = if delta > 1 && recently { delta } else { 1 };
            self.drop_next = self.control_law(now);
            self.last_count = self.count;
            if w.packet.ect {
                return Some((w, true));
            }
            dropped.push(w.packet.id);
            (head, _) = self.head(now, &mut take);
        }
        head.map(|w| (w, false))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use anabranch_stack::time::Duration;

    use super::*;
    use crate::sim::packet::Transit;

    const MS: u64 = 1_000_000;

    /// A queue that always holds `depth` packets, each of which has waited `sojourn`; one is taken every `gap`.
    /// Returns the times of drops (or marks).
    fn overloaded(gap: u64, sojourn: u64, ect: bool, until: u64) -> Vec<u64> {
        let p = CodelParameters { target: Duration(5 * MS), interval: Duration(100 * MS) };
        let mut codel = Codel::new(p);
        let mut times = Vec::new();
        let mut now = 1000 * MS;
        while now < until {
            let mut dropped = Vec::new();
            let take = || {
                Some((
                    Waiting {
                        packet: Transit { ect, ..Transit::default() },
                        octets: 1500,
                        since: now - sojourn,
                        flow: 0,
                    },
                    100_000,
                ))
            };
            let (_, mark) = codel.pop(now, take, &mut dropped).unwrap();
            assert!(!ect || dropped.is_empty(), "an ECN-capable packet is marked, not dropped");
            times.extend(std::iter::repeat_n(now, dropped.len() + usize::from(mark)));
            now += gap;
        }
        times
    }

    /// ```text
    /// above target from 1000 ms on; first drop one interval later; then 100 / sqrt(n) ms apart
    /// ```
    #[test]
    fn drops_follow_the_control_law() {
        for ect in [false, true] {
            let times = overloaded(MS / 10, 20 * MS, ect, 2000 * MS);
            let mut expected = 1100.0;
            assert_eq!(times[0], 1100 * MS);
            for (n, t) in times.iter().enumerate().skip(1) {
                expected += 100.0 / (n as f64).sqrt();
                let at = *t as f64 / MS as f64;
                // Packets leave each 0.1 ms.
                assert!((0.0..=0.1001).contains(&(at - expected)), "drop {n} at {at} ms, by the law {expected}");
            }
            assert!(times.len() > 20);
        }
    }

    #[test]
    fn a_sojourn_below_target_is_left_alone() {
        assert!(overloaded(MS, 5 * MS - 1, false, 5000 * MS).is_empty());
        assert!(!overloaded(MS, 5 * MS, false, 5000 * MS).is_empty());
    }

    /// RFC 8289 4.4: with no more than a full packet behind the head there is no standing queue, however slow the link.
    #[test]
    fn a_single_packet_behind_the_head_is_no_standing_queue() {
        let p = CodelParameters { target: Duration(5 * MS), interval: Duration(100 * MS) };
        let mut codel = Codel::new(p);
        for i in 0..1000 {
            let now = (1000 + i) * MS;
            let mut dropped = Vec::new();
            let take =
                || Some((Waiting { packet: Transit::default(), octets: 1500, since: now - 50 * MS, flow: 0 }, 1514));
            assert!(codel.pop(now, take, &mut dropped).is_some() && dropped.is_empty());
        }
    }

    #[test]
    fn an_empty_queue_gives_nothing_and_forgets_the_delay() {
        let p = CodelParameters { target: Duration(5 * MS), interval: Duration(100 * MS) };
        let mut codel = Codel::new(p);
        let mut q: VecDeque<Waiting> = VecDeque::new();
        assert!(codel.pop(MS, || q.pop_front().map(|w| (w, 0)), &mut Vec::new()).is_none());
        assert_eq!(codel.first_above, 0);
    }
}
