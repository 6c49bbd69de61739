//! Delivery-rate samples (draft-cheng-iccrg-delivery-rate-estimation, sections 3.1 to 3.3; also draft-ietf-ccwg-bbr 4.1): how
//! many octets reached the peer between the departure of a segment and its acknowledgement, and in what time. Samples are taken
//! beside the scoreboard, and only if an algorithm asks for them.

use std::collections::VecDeque;

use super::Sender;
use crate::sample::{AckSample, LostSegment, RateSample};
use crate::scoreboard::SackHistory;
use crate::segment::Segment;
use crate::seq::Seq;
use crate::time::{Duration, Instant};

/// State recorded when a segment is sent (draft 3.2).
#[derive(Clone, Copy, Debug)]
struct PacketState {
    seq: Seq,
    at: Instant,
    /// C.delivered, C.delivered_time and C.first_sent_time at departure.
    delivered: u64,
    delivered_at: Instant,
    first_sent_at: Instant,
    in_flight: u64,
    app_limited: bool,
    /// The segment has been acknowledged or SACKed.
    done: bool,
    /// C.lost at departure, and whether the segment has been counted there since.
    lost: u64,
    is_lost: bool,
}

/// The estimator of one subflow.
#[derive(Debug, Default)]
pub struct Rates {
    packets: VecDeque<PacketState>,
    /// SACK blocks all of whose segments are [`PacketState::done`].
    known: SackHistory,
    /// Octets delivered since the subflow was established.
    delivered: u64,
    delivered_at: Instant,
    first_sent_at: Instant,
    /// Octets marked lost since the subflow was established.
    lost: u64,
    /// Samples are application-limited until this many octets are delivered; zero if they are not application-limited.
    app_limited_until: u64,
    newest: f64,
}

impl Rates {
    /// The newest rate, in octets per second, whose sample was not application-limited or exceeded the rate before.
    pub fn newest(&self) -> f64 {
        self.newest
    }

    /// The sender has room in its window and no data to send, with `in_flight` octets in flight (draft 3.4).
    pub fn on_idle(&mut self, in_flight: u64) {
        self.app_limited_until = (self.delivered + in_flight).max(1);
    }

    /// The segment at `seq` is sent; `in_flight` includes it.
    pub(super) fn on_sent(&mut self, now: Instant, seq: Seq, again: bool, in_flight: u64, len: u64) {
        if in_flight <= len {
            // Nothing else is in flight: restart the interval here.
            (self.first_sent_at, self.delivered_at) = (now, now);
        }
        let state = PacketState {
            seq,
            at: now,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            in_flight,
            app_limited: self.app_limited_until > 0,
            done: false,
            lost: self.lost,
            is_lost: false,
        };
        match self.packets.binary_search_by(|l| l.seq.cmp(&seq)) {
            Ok(i) if again => {
                self.packets[i] = state;
                // RFC 2018 8: a receiver that discarded SACKed data can report the same block
                // again.
                self.known.forget(seq);
            }
            Ok(i) | Err(i) => self.packets.insert(i, state),
        }
    }

    /// Marks the segments in `[start, end)` as delivered; `newest` becomes the one among them that was sent last.
    fn take(&mut self, start: Seq, end: Seq, newest: &mut Option<PacketState>) {
        let from = self.packets.partition_point(|l| l.seq < start);
        for l in self.packets.range_mut(from..).take_while(|l| l.seq < end) {
            if !std::mem::replace(&mut l.done, true)
                && newest.is_none_or(|n| (l.delivered, l.at) >= (n.delivered, n.at))
            {
                *newest = Some(*l);
            }
        }
    }

    /// The segment at `seq` of `len` octets was marked lost at `now`. `None` if that is known.
    fn on_lost(&mut self, now: Instant, seq: Seq, len: u64, sack: bool) -> Option<LostSegment> {
        let i = self.packets.binary_search_by(|l| l.seq.cmp(&seq)).ok()?;
        let packet = &mut self.packets[i];
        if std::mem::replace(&mut packet.is_lost, true) {
            return None;
        }
        self.lost += len;
        let (tx_in_flight, lost, app_limited) = (packet.in_flight, self.lost - packet.lost, packet.app_limited);
        Some(LostSegment { now, seq, len, tx_in_flight, lost, app_limited, sack })
    }

    /// An acknowledgement delivers octets. Returns a sample if any of them was not known before; its interval is valid if it is not shorter
    /// than the minimum round-trip time (draft 3.3).
    fn sample(&mut self, sample: &AckSample, blocks: &[(Seq, Seq)]) -> Option<RateSample> {
        let mut newest = None;
        self.take(sample.una_before, sample.snd_una, &mut newest);
        for &(start, end) in blocks.iter().filter(|(start, end)| start < end) {
            if let Some(from) = self.known.add(start, end) {
                self.take(from, end, &mut newest);
            }
        }
        while self.packets.front().is_some_and(|l| l.seq < sample.snd_una) {
            self.packets.pop_front();
        }
        let delivered = sample.delivered();
        if delivered > 0 {
            self.delivered += delivered;
            self.delivered_at = sample.now;
        }
        if self.app_limited_until > 0 && self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        let newest = newest?;
        self.first_sent_at = newest.at;
        let sent_in = newest.at.since(newest.first_sent_at);
        let acked_in = self.delivered_at.since(newest.delivered_at);
        let interval = sent_in.max(acked_in);
        let rate = RateSample {
            delivered: self.delivered - newest.delivered,
            interval,
            prior_delivered: newest.delivered,
            tx_in_flight: newest.in_flight,
            app_limited: newest.app_limited,
            lost: self.lost - newest.lost,
            in_flight: 0,
        };
        if interval < sample.min_rtt || interval.0 == 0 {
            return Some(RateSample { interval: Duration::ZERO, ..rate });
        }
        if !rate.app_limited || rate.rate() > self.newest {
            self.newest = rate.rate();
        }
        Some(rate)
    }
}

impl Sender {
    /// Adds the delivery rate to a sample.
    pub(super) fn take_rate(&mut self, seg: &Segment, sample: &mut AckSample) {
        sample.min_rtt = self.least_rtt();
        let una = sample.snd_una;
        let mut blocks = [(una, una); 4];
        for (to, from) in blocks.iter_mut().zip(seg.options.sack.as_slice()) {
            *to = (Seq::unwrap(from.0, una), Seq::unwrap(from.1, una));
        }
        if let Some(rates) = &mut self.rates {
            sample.rate = rates.sample(sample, &blocks);
        }
    }

    /// Segments were marked lost at `now`: tells the controller of each, if samples are taken.
    pub(super) fn note_lost_segments(&mut self, now: Instant) {
        let Some(rates) = &mut self.rates else { return };
        for s in self.board.iter().filter(|s| s.waits()) {
            if let Some(segment) = rates.on_lost(now, s.seq, u64::from(s.len), self.selective) {
                self.controller.on_lost_segment(&segment);
            }
        }
    }

    /// The connection has no data for this subflow, although the subflow may send.
    pub fn note_idle(&mut self) {
        let in_flight = self.in_flight();
        if let Some(rates) = &mut self.rates {
            rates.on_idle(in_flight);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// draft-cheng-iccrg-delivery-rate-estimation 3.4: what is sent is limited by the application until all that was delivered or in flight when
    /// it had nothing to send has been delivered.
    #[test]
    fn an_idle_sender_is_limited_until_its_flight_has_arrived() {
        for (delivered, in_flight, until) in [(0, 0, 1), (0, 3000, 3000), (5000, 3000, 8000), (5000, 0, 5000)] {
            let mut rates = Rates { delivered, ..Rates::default() };
            rates.on_idle(in_flight);
            assert_eq!(rates.app_limited_until, until);
        }
    }

    /// Segments of 1000 octets, one per millisecond, acknowledged 20 ms later: the rate is a megabyte per second from the first
    /// full round trip on.
    #[test]
    fn a_steady_flow_has_its_rate() {
        let mut rates = Rates::default();
        let seq = |n: u64| Seq(1000 * n);
        let mut found = Vec::new();
        for t in 0..60_u64 {
            let now = Instant(t * MS);
            if t >= 20 {
                let n = t - 20;
                let (una_before, snd_una) = (seq(n), seq(n + 1));
                let min_rtt = Duration::from_millis(20);
                let sample = AckSample { now, una_before, snd_una, acked: 1000, min_rtt, ..AckSample::default() };
                found.extend(rates.sample(&sample, &[]).map(|r| r.rate()));
            }
            rates.on_sent(now, seq(t), false, 1000 * t.clamp(1, 20), 1000);
        }
        // The first twenty segments were sent before anything was delivered, so their rates increase with the amount delivered.
        assert_eq!(found.len(), 40);
        assert!((found[0] - 1000.0 / 0.02).abs() < 1.0, "{found:?}");
        assert!(found[20..].iter().all(|r| (r - 1e6).abs() < 1.0), "{found:?}");
        assert_eq!(rates.newest(), 1e6);
    }

    /// After a sender had nothing to send, its samples are application-limited until everything in flight then is delivered.
    #[test]
    fn what_leaves_of_an_idle_sender_is_marked() {
        let mut rates = Rates::default();
        let sample = |n: u64, t: u64| AckSample {
            now: Instant(t * MS),
            una_before: Seq(1000 * n),
            snd_una: Seq(1000 * (n + 1)),
            acked: 1000,
            ..AckSample::default()
        };
        rates.on_sent(Instant(0), Seq(0), false, 1000, 1000);
        rates.on_idle(1000);
        rates.on_sent(Instant(MS), Seq(1000), false, 2000, 1000);
        let limited = |r: Option<RateSample>| r.map(|r| r.app_limited);
        assert_eq!(limited(rates.sample(&sample(0, 10), &[])), Some(false));
        assert_eq!(limited(rates.sample(&sample(1, 11), &[])), Some(true));
        rates.on_sent(Instant(12 * MS), Seq(2000), false, 1000, 1000);
        assert_eq!(limited(rates.sample(&sample(2, 20), &[])), Some(false));
    }

    /// draft-ietf-ccwg-bbr 4.1.2.5 of the rate that is reported (`tcpi_delivery_rate`): one that the application limits counts only if it is higher.
    #[test]
    fn a_limited_rate_is_reported_if_it_is_higher() {
        let reported = |times: [u64; 2]| {
            let mut rates = Rates::default();
            let sample = |n: u64, t: u64| AckSample {
                now: Instant(t * MS),
                una_before: Seq(1000 * n),
                snd_una: Seq(1000 * (n + 1)),
                acked: 1000,
                ..AckSample::default()
            };
            rates.on_sent(Instant(0), Seq(0), false, 1000, 1000);
            rates.sample(&sample(0, 10), &[]);
            let before = rates.newest();
            rates.on_idle(0);
            rates.on_sent(Instant(times[0] * MS), Seq(1000), false, 1000, 1000);
            assert!(rates.sample(&sample(1, times[1]), &[]).is_some_and(|r| r.app_limited));
            (before, rates.newest())
        };
        assert_eq!(reported([11, 16]), (1e5, 2e5));
        assert_eq!(reported([11, 31]), (1e5, 1e5));
    }
}
