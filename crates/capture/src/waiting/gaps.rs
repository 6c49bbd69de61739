//! When the receiver held data behind a gap. A closed window is then the fault of that gap.
//!
//! The sender learns of it half a round trip late, and so does a capture at the sender. So both are written down, when the window
//! was closed at the sender and when the receiver held something, by arrivals seen or estimated, and compared afterwards.

use std::collections::VecDeque;

/// So many times are kept before those that are over are compared and forgotten.
pub const MANY: usize = 4096;

/// Times with a gap, in order.
#[derive(Clone, Debug, Default)]
pub struct Gaps {
    spans: VecDeque<(u64, u64)>,
    since: Option<u64>,
}

impl Gaps {
    /// From `now` on there is a gap, or none.
    pub fn set(&mut self, now: u64, held: bool) {
        match (held, self.since) {
            (true, None) => self.since = Some(now),
            (false, Some(_)) => self.end(now),
            _ => {}
        }
    }

    /// The present gap ends.
    pub fn end(&mut self, now: u64) {
        if let Some(since) = self.since.take().filter(|since| *since < now) {
            self.spans.push_back((since, now));
        }
    }

    /// How many are kept.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Time before `until` that is in `spans`, too, which are taken out.
    pub fn common(&self, spans: &mut VecDeque<(u64, u64)>, until: u64) -> u64 {
        let (mut sum, mut i) = (0, 0);
        while let Some(span) = spans.front_mut() {
            let (from, to) = (span.0, span.1.min(until));
            if from >= to {
                break;
            }
            while self.spans.get(i).is_some_and(|gap| gap.1 <= from) {
                i += 1;
            }
            let gaps = self.spans.iter().skip(i).take_while(|gap| gap.0 < to);
            sum += gaps.map(|gap| gap.1.min(to) - gap.0.max(from)).sum::<u64>();
            span.0 = to;
            if span.0 < span.1 {
                break;
            }
            spans.pop_front();
        }
        sum
    }

    /// Those before `until` are not needed any more.
    pub fn forget(&mut self, until: u64) {
        while self.spans.front().is_some_and(|gap| gap.1 <= until) {
            self.spans.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Closed from 10 to 20 and from 30 to 40; gaps from 5 to 12, 15 to 18, 35 to 50.
    #[test]
    fn a_closed_window_is_the_fault_of_a_gap_where_both_are_at_once() {
        let mut gaps = Gaps::default();
        for (at, held) in
            [(5, true), (12, false), (15, true), (18, false), (18, false), (35, true), (36, true), (50, false)]
        {
            gaps.set(at, held);
        }
        let closed = VecDeque::from([(10, 20), (30, 40)]);
        assert_eq!(gaps.common(&mut closed.clone(), 100), 2 + 3 + 5);
        // In two steps it is the same.
        let mut rest = closed;
        assert_eq!(gaps.common(&mut rest, 16), 2 + 1);
        gaps.forget(16);
        assert_eq!((rest.front(), gaps.len()), (Some(&(16, 20)), 2));
        assert_eq!(gaps.common(&mut rest, 100), 2 + 5);
        assert!(rest.is_empty());
    }
}
