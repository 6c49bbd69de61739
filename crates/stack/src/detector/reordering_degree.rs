//! `reordering-degree`: the threshold of three duplicates grows with the reordering that is seen (Blanton and Allman, "On Making TCP More
//! Robust to Packet Reordering", CCR 32(1), 2002). Each retransmission that a D-SACK report shows to be needless moves it, by the length of
//! the reordering N: how many segments above it had arrived when the original did.
//!
//! `variant` says how: 0 adds one, 1 adds `k`, 2 takes the mean of the threshold and N, 3 moves a quarter of the way to N, each not below
//! three. 4 is Linux's (`tcp_check_sack_reordering`): any segment that fills a hole without having been retransmitted raises the threshold to N, at
//! most 300, without a report; a timeout resets it. While the sender waits, each duplicate lets a new segment go (limited transmit,
//! extended).
//!
//! Without SACK the duplicates are counted, and N is their number.

use std::collections::VecDeque;

use super::rfc6675::Rfc6675;
use super::{AckSample, DUP_THRESH, Detector, Finding, Outstanding, Scoreboard, Sent};
use crate::registry::{Builtin, Info, Need, Parameter, Unit};
use crate::seq::Seq;
use crate::time::{Duration, Instant};

pub(crate) static BUILTIN: Builtin<dyn Detector> = Builtin {
    info: Info::new(
        "reordering-degree",
        "the threshold of duplicate acknowledgements grows with the reordering seen so far",
    )
    .source("after Blanton and Allman 2002; Linux 6.1: tcp_check_sack_reordering")
    .needs(&[Need::Departures])
    .validated("hand-computed examples of each variant; scripts: reordering within a subflow")
    .parameters(const { &[
        Parameter::new(
            "variant",
            Unit::Whole,
            3.0,
            (0.0, 4.0),
            "how the threshold grows: 0 by one, 1 by k, 2 to the mean, 3 by a quarter of the difference, 4 as in Linux",
        ),
        Parameter::new("k", Unit::Whole, 50.0, (1.0, 1000.0), "duplicate acknowledgements that variant 1 adds"),
    ] })
    .label("Reordering degree"),
    make: |_, values| Box::new(Degree::new(values.get("variant") as u32, values.get("k"))),
};

/// The largest threshold (Linux: `tcp_max_reordering`).
const MOST: f64 = 300.0;
/// Retransmissions that are remembered until they are reported.
const REMEMBERED: usize = 1000;

#[derive(Debug)]
struct Degree {
    variant: u32,
    k: f64,
    /// The threshold, in segments.
    threshold: f64,
    /// Retransmissions: start, end, and N once the segment has arrived.
    sent: VecDeque<(Seq, Seq, Option<f64>)>,
    /// Highest octet that has arrived, plus one.
    fack: Seq,
    /// Duplicates before the acknowledgement that is being processed.
    duplicates: u32,
}

impl Degree {
    fn new(variant: u32, k: f64) -> Self {
        Self {
            variant,
            k,
            threshold: f64::from(DUP_THRESH),
            sent: VecDeque::new(),
            fack: Seq::default(),
            duplicates: 0,
        }
    }

    /// A needless retransmission, by reordering of length `n`.
    fn learn(&mut self, n: f64) {
        let t = self.threshold;
        let next = match self.variant {
            0 => t + 1.0,
            1 => t + self.k,
            2 => f64::midpoint(t, n),
            3 => t + (n - t) / 4.0,
            _ => t.max(n),
        };
        self.threshold = next.clamp(f64::from(DUP_THRESH), MOST);
    }

    fn whole(&self) -> u32 {
        self.threshold.round() as u32
    }

    /// Notes which retransmitted segments have arrived, and how much had arrived above them.
    fn note_arrivals(&mut self, ack: &AckSample, board: &Scoreboard, sender: &Outstanding) {
        let mss = f64::from(sender.mss);
        let top = self.fack.max(board.high_sacked());
        for s in self.sent.iter_mut().filter(|s| s.2.is_none()) {
            if s.1 <= ack.snd_una || board.from(s.0).next().is_some_and(|b| b.seq == s.0 && b.is_sacked()) {
                let above =
                    if sender.sack { (top.0.saturating_sub(s.1.0)) as f64 / mss } else { f64::from(self.duplicates) };
                s.2 = Some(above.ceil());
            }
        }
        if let (4, Some((end, _))) = (self.variant, ack.arrivals.lowest) {
            if end < self.fack {
                self.learn(((self.fack - end) as f64 / mss).ceil());
            }
        }
        self.fack = top.max(ack.snd_una);
    }
}

impl Detector for Degree {
    fn on_sent(&mut self, _now: Instant, sent: &Sent, _srtt: Duration) {
        if sent.transmissions > 1 {
            if self.sent.len() == REMEMBERED {
                self.sent.pop_front();
            }
            self.sent.push_back((sent.seq, sent.end(), None));
        }
    }

    fn on_ack(&mut self, ack: &AckSample, board: &mut Scoreboard, sender: &Outstanding) {
        if !self.sent.is_empty() || self.variant == 4 {
            self.note_arrivals(ack, board, sender);
        }
        self.duplicates = sender.duplicates;
        if let (Some((start, end)), true) = (ack.dsack, self.variant < 4) {
            // The report may come before the arrival of the original was noted: then N is not known.
            if let Some(i) = self.sent.iter().position(|s| start <= s.0 && s.1 <= end) {
                let (_, _, n) = self.sent.remove(i).expect("found it");
                self.learn(n.unwrap_or(self.threshold));
            }
        }
        if sender.sack {
            let threshold = u64::from(self.whole());
            board.update_lost((threshold - 1) * u64::from(sender.mss), self.whole());
        }
    }

    fn finding(&mut self, ack: &AckSample, board: &Scoreboard, sender: &Outstanding) -> Finding {
        let enough = sender.duplicates >= self.whole();
        let missing =
            if sender.sack { enough || board.front_is_lost() } else { enough && ack.snd_una > sender.recover };
        if ack.duplicate && missing { Finding::Loss } else { Finding::Nothing }
    }

    fn on_timeout(&mut self, now: Instant, board: &mut Scoreboard, sender: &Outstanding) {
        if self.variant == 4 {
            self.threshold = f64::from(DUP_THRESH);
        }
        self.sent.clear();
        Rfc6675.on_timeout(now, board, sender);
    }

    fn limited_transmit(&self, duplicates: u32) -> u32 {
        duplicates.min(self.whole() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From three, a reordering of eleven, twice: +1, +K, the mean, a quarter of the way, the largest.
    #[test]
    fn each_variant_follows_in_its_way() {
        for (variant, wanted) in
            [(0, [4.0, 5.0]), (1, [53.0, 103.0]), (2, [7.0, 9.0]), (3, [5.0, 6.5]), (4, [11.0, 11.0])]
        {
            let mut d = Degree::new(variant, 50.0);
            let found = [11.0, 11.0].map(|n| {
                d.learn(n);
                d.threshold
            });
            assert_eq!(found, wanted, "variant {variant}");
        }
    }

    /// A duplicate that is reported of what was sent once is the network's: nothing was retransmitted needlessly.
    #[test]
    fn a_duplicate_of_what_was_sent_once_teaches_nothing() {
        let (now, srtt, start) = (Instant::ZERO, Duration::from_millis(10), Seq(1000));
        let sender =
            Outstanding { snd_una: Seq(2000), snd_nxt: Seq(2000), sack: true, mss: 1000, ..Outstanding::default() };
        let ack = AckSample { snd_una: Seq(2000), dsack: Some((start, Seq(2000))), ..AckSample::default() };
        for (transmissions, wanted) in [(1, 3.0), (2, 4.0)] {
            let mut d = Degree::new(0, 50.0);
            let mut sent = Sent::first(start, 0, 1000, now);
            sent.transmissions = transmissions;
            d.on_sent(now, &sent, srtt);
            d.on_ack(&ack, &mut Scoreboard::default(), &sender);
            assert_eq!(d.threshold, wanted, "sent {transmissions} times");
        }
    }

    #[test]
    fn the_threshold_stays_within_its_bounds() {
        let mut d = Degree::new(3, 50.0);
        d.learn(0.0);
        assert_eq!(d.threshold, 3.0);
        d.variant = 1;
        (0..10).for_each(|_| d.learn(1.0));
        assert_eq!(d.threshold, 300.0);
    }
}
