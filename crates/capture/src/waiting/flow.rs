//! One subflow: is its congestion window full, does it repair a loss, does it work at all?

use std::collections::VecDeque;

use anabranch_measures::causes::{Cause, Times};
use anabranch_stack::ranges::RangeSet;
use anabranch_stack::segment::SackBlocks;
use anabranch_stack::seq::Seq;

use super::capacity::Capacity;
use super::departures::Departures;
use super::peak::Peak;
use super::queue::{Prompt, Queue};
use super::{AT_ONCE, ROUNDS, Segment};
use crate::sender::{Kind, Sender, Sent};

mod account;
mod limits;

/// RFC 6928 2: the initial window.
const INITIAL: u64 = 10;

/// Segments by which what is in flight may seem to be more than it is, where the capture lacks packets.
const LACKING: u64 = 5;

/// Octets of TCP options at most (RFC 9293 3.1).
const OPTIONS: u64 = 40;

/// A sender that sends again within this time (nanoseconds) has not paused.
const SHORTEST: u64 = 10_000_000;

/// Weight of the latest change of the round-trip time in the mean.
const VARIATION: f64 = 0.125;

/// How much the latest acknowledgement counts of those that were answered at once or were not.
const RECENT: f64 = 0.25;

/// A subflow as its sender sees it.
#[derive(Clone, Debug)]
pub struct Flow {
    pub sender: Sender,
    /// It is established.
    pub up: bool,
    /// Payload of the largest segment on the wire.
    pub mss: u64,
    /// The largest segment that is one on the wire, and what the MSS leaves to those that an offload merged.
    single: u64,
    offloaded: u64,
    /// What it waits for; the data in flight are at their ceiling.
    pub cause: Cause,
    pub plateau: bool,
    since: u64,
    /// Time by cause until the connection moved last, and since then.
    pub times: Times,
    open: Times,
    /// The part of either that was spent at the ceiling, which may be a send buffer.
    held: Times,
    held_open: Times,
    /// The least that the congestion window can be, when that grew last by a segment, and what it was then.
    window: (u64, u64, u64),
    /// It was reduced at least once, so that it may be smaller than an initial one.
    cut: bool,
    /// The receiver acknowledges selectively.
    sacks: bool,
    /// Everything before this must be acknowledged for recovery to end.
    recover: Option<Seq>,
    /// Expirations of the retransmission timer since the last acknowledgement.
    expired: u64,
    /// The path was silent for more than one timeout, and what was lost then is being sent again; when it was heard of again.
    outage: bool,
    resumed: u64,
    /// Copies of what another subflow sent before, by sequence number.
    copies: RangeSet,
    /// Share of the latest acknowledgements that were answered at once; the last one was not (yet).
    clocked: f64,
    unanswered: Option<u64>,
    /// The most that was in flight lately.
    peak: Peak,
    /// The controller reduces the window in answer to ECE: until it sends again, less is in flight than before.
    reducing: bool,
    departures: Departures,
    /// When it sent new data last, and when the receiver last acknowledged some.
    fresh_at: u64,
    delivered_at: u64,
    /// The latest round-trip time, and the mean change from one to the next, nanoseconds.
    last_rtt: Option<u64>,
    variation: f64,
    /// Share of the latest time in which packets waited before its slowest link.
    busy: f64,
    /// When packets waited before that link last, longer than a burst takes.
    pressed_at: Option<u64>,
    /// Most new data of the connection leave when an acknowledgement has come.
    answers: bool,
    /// It counts as limited by its window because it sends, not because its window is known to be full: until when, and what
    /// counts after that.
    streaming: Option<(u64, Cause)>,
    /// Time that counts as `cwnd` only because new data kept leaving, with no sign that the path was busy.
    pub unproven: u64,
    /// Time that counts as `cwnd` since packets wait on the sender's own host, where what limits their number cannot be seen.
    pub shaped: u64,
    /// What waits there may reach to the right edge of the receiver's window; the part of that time in which it may.
    pub may_meet_window: bool,
    pub near_window: u64,
    /// It waits for the scheduler only if the window of another subflow, which is not proven to be full, is; for how long that was so.
    pub follows: bool,
    pub unproven_choice: u64,
    /// The length of the gap that was resolved last, and of all gaps that an acknowledgement may have ended by chance.
    latest_gap: u64,
    pub by_chance: u64,
    /// Its segments say again and again that all written data was sent.
    pub sent_all: bool,
    /// When it sent or heard of its data last; when it sent; its window was full then.
    active: u64,
    sent_at: u64,
    was_full: bool,
    /// Round-trip times, and what was lost; the end of the highest segment that is known to have arrived.
    pub queue: Queue,
    top: Seq,
    /// Time since new data left on any subflow by cause; of `Cwnd` only what is not known to be so.
    gap_times: Times,
    /// When the receiver's window was closed, in order, as far as the cause of that is open.
    pub closed: VecDeque<(u64, u64)>,
    /// Of the time with a closed window, what the receiver spent with data behind a gap.
    pub gap: u64,
    /// Time for which other data waited for what this subflow had in flight.
    pub blocked: u64,
    pub capacity: Capacity,
    overhead: u32,
}

impl Flow {
    /// A subflow of a connection that began at `began`.
    pub fn new(began: u64) -> Self {
        Self {
            sender: Sender::default(),
            up: false,
            mss: 0,
            single: 0,
            offloaded: 0,
            cause: Cause::NotUp,
            plateau: false,
            since: began,
            times: Times::default(),
            open: Times::default(),
            held: Times::default(),
            held_open: Times::default(),
            window: (0, began, 0),
            cut: false,
            sacks: false,
            recover: None,
            expired: 0,
            outage: false,
            resumed: 0,
            copies: RangeSet::default(),
            clocked: 1.0,
            unanswered: None,
            peak: Peak::default(),
            reducing: false,
            departures: Departures::default(),
            fresh_at: 0,
            delivered_at: began,
            last_rtt: None,
            variation: 0.0,
            busy: 0.0,
            pressed_at: None,
            answers: true,
            streaming: None,
            unproven: 0,
            shaped: 0,
            may_meet_window: false,
            near_window: 0,
            follows: false,
            unproven_choice: 0,
            latest_gap: 0,
            by_chance: 0,
            sent_all: false,
            active: began,
            sent_at: began,
            was_full: false,
            queue: Queue::default(),
            top: Seq::default(),
            gap_times: Times::default(),
            closed: VecDeque::new(),
            gap: 0,
            blocked: 0,
            capacity: Capacity::default(),
            overhead: 0,
        }
    }

    /// The latest segment was acknowledged after `rtt` nanoseconds.
    fn note_variation(&mut self, rtt: u64) {
        let change = self.last_rtt.replace(rtt).map_or(0, |last| last.abs_diff(rtt));
        self.variation += VARIATION * (change as f64 - self.variation);
    }

    /// Its latest acknowledgement was answered at once with new data on it, or was not.
    fn note_answer(&mut self, answered: bool) {
        if answered || !self.reducing {
            self.clocked += RECENT * (f64::from(u8::from(answered)) - self.clocked);
        }
    }

    /// An acknowledgement has ECE (RFC 3168 6.1.2): the window may be smaller from now on.
    pub fn on_congestion(&mut self) {
        self.reducing = true;
    }

    /// The new `segment` leaves; returns whether it ends what was written.
    pub fn on_departure(&mut self, now: u64, segment: &Segment) -> bool {
        let time = now.saturating_sub(std::mem::replace(&mut self.fresh_at, now));
        let alone =
            self.sender.in_flight() <= u64::from(segment.len) + self.mss && self.round() < self.departures.pause();
        let held = self.cause == Cause::Cwnd && self.clocked < 0.5 && !self.departures.have_ended();
        let even = alone && self.departures.are_even(now);
        let ended = self.departures.on_new(now, (u64::from(segment.len), self.mss), segment.push, segment.stamp);
        // All was acknowledged, more was written, and still the segment left at its time in an even row; or it was in its host's queue
        // already when the one before it left: its host held it back.
        if held && (even || self.departures.wait() > time) {
            let octets =
                u64::from(segment.len) + u64::from(segment.overhead) * u64::from(segment.len).div_ceil(self.mss.max(1));
            self.capacity.on_shaped(octets, time);
        }
        ended
    }

    /// Its round-trip time, nanoseconds.
    pub fn round(&self) -> u64 {
        let srtt = self.sender.srtt_now();
        if srtt.is_finite() { (srtt * 1e9) as u64 } else { 0 }
    }

    /// It is established; its handshake took `rtt`.
    pub fn on_up(&mut self, rtt: Option<u64>) {
        self.up = true;
        if let Some(rtt) = rtt {
            self.queue.on_handshake(rtt);
            self.sender.on_handshake(rtt);
        }
    }

    /// A segment is sent: a `probe` of a closed window, a `copy` of what was sent before on another subflow, `clocked` by news.
    pub fn on_sent(
        &mut self,
        now: u64,
        &Segment { seq, len, data, overhead, mss, .. }: &Segment,
        (probe, copy, clocked): (bool, bool, bool),
        blur: u64,
    ) -> Kind {
        self.overhead = overhead;
        self.measure(len, mss);
        self.up = true;
        let idle = self.sender.in_flight() == 0 && now.saturating_sub(self.sent_at) > self.sender.rto();
        if idle && self.recover.is_none() {
            // RFC 5681 4.1: a sender that has been idle may begin with a small window again.
            self.window = (0, now, 0);
        }
        (self.active, self.sent_at) = (now, now);
        let expired = self.sender.expired;
        let kind = self.sender.on_data(now, seq, len, data, None, probe);
        match kind {
            Kind::New => {
                if copy {
                    self.copies.insert(seq.0, seq.0 + u64::from(len));
                }
                if let Some(heard) = self.unanswered.take() {
                    let answers = clocked && now.saturating_sub(heard) <= AT_ONCE + blur;
                    self.note_answer(answers);
                }
                if std::mem::take(&mut self.reducing) {
                    let flight = self.sender.in_flight();
                    (self.cut, self.window) = (true, (flight, now, flight));
                }
                self.widen(now);
                self.capacity.on_sent(now, self.sender.in_flight() <= u64::from(len));
            }
            Kind::Again(_) if !probe => self.on_again(now, seq, len, self.sender.expired > expired),
            Kind::Again(_) | Kind::Probe(_) | Kind::Late | Kind::Nothing => {}
        }
        kind
    }

    /// A segment of `len` octets, of which one on the wire has `mss` at most: more were merged by an offload. One that was not tells how
    /// long they are, since options take more or less of what the MSS allows.
    fn measure(&mut self, len: u32, mss: u32) {
        let seen = if len > mss { &mut self.offloaded } else { &mut self.single };
        *seen = (*seen).max(u64::from(mss));
        self.mss = if self.single + OPTIONS >= self.offloaded { self.single } else { self.offloaded };
    }

    /// What is in flight fits into the congestion window.
    fn widen(&mut self, now: u64) {
        let flight = self.sender.in_flight();
        self.peak.add(now, flight, self.round().saturating_mul(ROUNDS));
        if flight > self.window.0 {
            // Less than a segment is rounding.
            if flight >= self.window.2 + self.grain() {
                (self.window.1, self.window.2) = (now, flight);
            }
            self.window.0 = flight;
        }
    }

    /// A segment is sent again.
    fn on_again(&mut self, now: u64, seq: Seq, len: u32, expired: bool) {
        if expired {
            self.expired += 1;
            self.outage |= self.expired > 1;
        }
        let end = seq + u64::from(len);
        // RFC 8985 7.3: a probe sends the last segment again.
        let probe = end == self.sender.max() && !self.sender.has_evidence() && !expired;
        if self.recover.is_none() && !probe {
            self.recover = Some(self.sender.max());
            let mss = self.mss.max(1);
            let rate = self.capacity.rate() / mss as f64;
            self.queue.on_episode(now, (self.round(), rate), !self.cut, self.sender.in_flight() / mss);
        }
        // What is lost while a path is silent says nothing of its queue or its errors.
        if self.recover.is_some() && !self.outage {
            self.queue.on_lost();
        }
    }

    /// Notes the round-trip times that the acknowledgement at `now` gives. It tells of `octets` more in order, and of what has `arrived`.
    fn time(&mut self, now: u64, octets: u64, arrived: &[Sent]) {
        let (una, next) = (self.sender.una(), self.sender.queue().front().map(|next| next.at));
        // What was sent before a silence has waited for its end, not in a queue.
        if let Some(rtt) = self.sender.latest.take().filter(|rtt| now - rtt >= self.resumed) {
            // RFC 9293 3.8.6.3: an acknowledgement of two full segments is not delayed.
            let prompt = if octets >= 2 * self.mss { Prompt::Yes } else { Prompt::Unless(next) };
            self.queue.on_round_trip(now, rtt, prompt);
        }
        // RFC 5681 4.2: nor is one of a segment out of order. It is the highest one so far: a SACK block that grows downwards may tell
        // late of what arrived before.
        if let Some(last) = arrived.iter().max_by_key(|s| s.end).filter(|s| s.end > self.top) {
            self.top = last.end;
            if last.copies == 1 && una.is_some_and(|una| last.seq > una) && last.at >= self.resumed {
                self.queue.on_round_trip(now, now.saturating_sub(last.at), Prompt::Yes);
            }
        }
    }

    /// `octets` more have arrived, the last of them sent at `sent`.
    fn on_delivered(&mut self, now: u64, octets: u64, sent: u64, blur: u64) {
        let least = self.queue.rtt.map(|rtt| rtt[0]);
        self.note_variation(now.saturating_sub(sent));
        // Delays that vary look like a queue as long as they vary.
        let blur = blur + 2 * self.variation as u64;
        let packet = self.mss.max(1) + u64::from(self.overhead);
        let busy = self.capacity.on_delivered(now, (octets, packet), sent, (least, blur));
        if self.capacity.is_pressed(self.departures.burst()) {
            self.pressed_at = Some(now);
        }
        let time = now.saturating_sub(std::mem::replace(&mut self.delivered_at, now));
        let weight = (time as f64 / (4.0 * self.round().max(1) as f64)).min(1.0);
        self.busy += weight * (f64::from(u8::from(busy)) - self.busy);
    }

    /// An acknowledgement arrives, at a time that may be wrong by `blur`.
    #[expect(clippy::too_many_arguments, reason = "all of them stand in one packet")]
    pub fn on_ack(
        &mut self,
        now: u64,
        ack: Seq,
        sack: &SackBlocks,
        echo: Option<u32>,
        pure: bool,
        blur: u64,
        arrived: &mut Vec<Sent>,
    ) {
        let before = self.sender.una();
        let next = self.sender.queue().front().map(|next| next.copies);
        self.sender.on_ack(now, ack, sack, echo, pure, arrived);
        let una = self.sender.una();
        if una > before {
            self.queue.on_next(next == Some(1));
            if self.expired > 1 {
                self.resumed = now;
            }
            (self.expired, self.active) = (0, now);
            // Where times are blurred, data may answer any of several acknowledgements.
            let since = *self.unanswered.get_or_insert(now);
            if now > since + blur {
                self.unanswered = Some(now);
                self.note_answer(false);
            }
            if !self.copies.is_empty() {
                self.copies.remove_below(ack.0);
            }
        }
        self.time(now, una.zip(before).map_or(0, |(una, before)| una - before), arrived);
        let mss = self.mss.max(1);
        let octets = |s: &Sent| {
            let len = s.end - s.seq;
            len + len.div_ceil(mss) * u64::from(self.overhead)
        };
        let more: u64 = arrived.iter().map(octets).sum();
        self.sacks |= self.sender.has_sacked();
        if self.recover.is_some() && !self.sacks {
            self.capacity.restart();
        }
        if more > 0 {
            self.on_delivered(now, more, arrived.iter().map(|s| s.last).max().unwrap_or(now), blur);
        }
        if self.recover.is_some_and(|recover| una.is_some_and(|una| una >= recover)) {
            (self.recover, self.outage) = (None, false);
            self.cut = true;
            let flight = self.sender.in_flight();
            self.window = (flight, now, flight);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(lens: &[u32]) -> u64 {
        let mut flow = Flow::new(0);
        lens.iter().for_each(|&len| flow.measure(len, len.min(1408)));
        flow.mss
    }

    #[test]
    fn segments_are_as_long_as_the_longest_that_no_offload_merged() {
        assert_eq!(measured(&[1400, 12_600, 300]), 1400);
        assert_eq!(measured(&[12_600, 1400]), 1400);
        assert_eq!(measured(&[300]), 300);
        // A request of 300 octets says nothing of full segments.
        assert_eq!(measured(&[300, 64_000]), 1408);
    }
    /// A flow that was full is silent once more time than three retransmission timeouts has passed.
    #[test]
    fn silence_is_longer_than_its_timeouts() {
        let mut flow = Flow::new(0);
        let limit = 3 * flow.sender.rto();
        assert!(!flow.is_silent(limit + 1, 3), "it was not full");
        flow.was_full = true;
        assert!(!flow.is_silent(limit, 3));
        assert!(flow.is_silent(limit + 1, 3));
    }
}
