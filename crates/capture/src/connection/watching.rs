//! Packets for the account of what each subflow waits for, on the time of the sender of the data.
//!
//! At the sender that is the time of the capture. At the receiver, a segment was sent when its timestamp says (RFC 7323 3.2), by a
//! clock of milliseconds that is set by the segment that was fastest so far, and an acknowledgement arrives a shortest round trip
//! later. Half of that is taken off both, so that subflows of unlike length stay in step.

use anabranch_pcap::packet::Packet;
use anabranch_stack::segment::Flags;
use anabranch_stack::seq::Seq;

use super::super::subflow::{Half, Opening, Subflow};
use super::super::waiting::{Event, Segment, What};
use super::{Connection, View};

/// A tick of the timestamps' clock, nanoseconds (RFC 7323 5.4: 1 ms to 1 s; most have a millisecond).
const TICK: i64 = 1_000_000;

/// Timestamps that wait for their echo.
const TOLD: usize = 1 << 14;

/// How far both clocks together may be off, nanoseconds.
const BLUR: u64 = 3 * TICK as u64;

impl Connection {
    /// A packet that was worked in: `place` is the data offset of its payload.
    pub(super) fn watch(&mut self, v: View, p: &Packet<'_>, seq: Seq, place: u64) {
        let View { i, s, near_sender, near_receiver } = v;
        let o = 1 - s;
        let sub = &mut self.subflows[i];
        let syn = p.flags.has(Flags::SYN);
        if syn {
            let (at, displaced) = sub.heard_at(s, p.time);
            for side in [s, o] {
                self.tell(side, Event { at, seen: p.time, displaced, flow: i, what: What::Opening });
            }
        }
        if near_sender && !syn {
            self.watch_departure(v, p, seq, place);
        }
        if near_receiver {
            self.watch_arrival(v, p);
        }
    }

    /// What its sender does.
    fn watch_departure(&mut self, v: View, p: &Packet<'_>, seq: Seq, place: u64) {
        let (View { i, s, .. }, probe) = (v, self.probing);
        let sub = &mut self.subflows[i];
        if sub.is_far_from(s) && !sub.halves[s].may_send {
            // From the receiver, a sender shows that it is ready by its first segment.
            sub.halves[s].may_send = true;
            let ((at, displaced), rtt) = (sub.sent_at(s, p), sub.round_trip(s));
            let answered = sub.is_far_from(sub.opener);
            self.tell(s, Event { at, seen: p.time, displaced, flow: i, what: What::Up { rtt, answered } });
        }
        let sub = &mut self.subflows[i];
        if p.len > 0 {
            let (at, displaced) = sub.sent_at(s, p);
            // RFC 6691 2: the MSS counts neither the IP nor the TCP header, but options take their room from the payload.
            let most = u32::from(sub.mss[1 - s].unwrap_or(1460)).saturating_sub(p.options_len()).max(1);
            let what = What::Sent(Segment {
                seq,
                len: p.len,
                data: place,
                overhead: p.headers(),
                mss: p.len.min(most),
                probe,
                push: p.flags.has(Flags::PSH),
                stamp: p.timestamps.filter(|_| !displaced).map(|t| t.val),
            });
            self.tell(s, Event { at, seen: p.time, displaced, flow: i, what });
        }
        if p.flags.has(Flags::FIN) || p.flags.has(Flags::RST) {
            let (at, displaced) = self.subflows[i].sent_at(s, p);
            self.tell(s, Event { at, seen: p.time, displaced, flow: i, what: What::Down });
        }
    }

    /// What the other side hears.
    fn watch_arrival(&mut self, v: View, p: &Packet<'_>) {
        let View { i, s, .. } = v;
        let (o, syn) = (1 - s, p.flags.has(Flags::SYN));
        let sub = &mut self.subflows[i];
        let (at, displaced) = sub.heard_at(o, p.time);
        if let (true, Some(stamp)) = (displaced, p.timestamps) {
            sub.halves[o].tell(stamp.val, p.time);
        }
        let event = |what| Event { at, seen: p.time, displaced, flow: i, what };
        if p.flags.has(Flags::RST) {
            return self.tell(o, event(What::Down));
        }
        // The opener of a join may send when the peer has answered its third segment (RFC 8684 3.2).
        let ready = p.flags.has(Flags::ACK) && !(syn && (sub.opening == Opening::Join || s == sub.opener));
        if !ready {
            return;
        }
        if !sub.halves[o].may_send && !displaced {
            sub.halves[o].may_send = true;
            let (rtt, answered) = (sub.round_trip(o), sub.is_far_from(sub.opener));
            self.tell(o, event(What::Up { rtt, answered }));
        }
        let half = &mut self.subflows[i].halves[o];
        let (ack, pure) = (half.unwrap(p.ack), p.len == 0 && p.seq_len() == 0);
        let (data_ack, window) = self.told.unwrap_or_default();
        let edge = window.map_or(0, |window| data_ack.saturating_add(window));
        let echo = p.timestamps.map(|t| t.ecr);
        let congestion = p.flags.has(Flags::ECE) && !syn;
        self.tell(o, event(What::Ack { ack, sack: p.sack, echo, pure, congestion, data_ack, edge }));
    }

    fn tell(&mut self, s: usize, event: Event) {
        if let Some(waiting) = &mut self.waiting {
            waiting[s].add(event);
        }
    }
}

impl Half {
    /// The receiver sends the timestamp `val` at `now`.
    fn tell(&mut self, val: u32, now: u64) {
        if self.told.back().is_none_or(|(last, _)| *last != val) {
            if self.told.len() == TOLD {
                self.told.pop_front();
            }
            self.told.push_back((val, now));
        }
    }

    /// When the receiver first sent the timestamp `val`. Earlier ones are forgotten.
    fn echoed(&mut self, val: u32) -> Option<u64> {
        while self.told.front().is_some_and(|(told, _)| (val.wrapping_sub(*told) as i32) > 0) {
            self.told.pop_front();
        }
        self.told.front().filter(|(told, _)| *told == val).map(|(_, at)| *at)
    }
}

impl Subflow {
    /// The capture stands at the receiver of what `s` sends, not at `s`.
    pub fn is_far_from(&self, s: usize) -> bool {
        !self.is_at(s) && self.is_at(1 - s)
    }

    /// The shortest time from `s` to the other side and back, as far as it was seen.
    pub fn round_trip(&self, s: usize) -> Option<u64> {
        self.response(self.near[s], if self.is_far_from(s) { s } else { 1 - s })
    }

    /// When `s` sent the packet `p`, and whether that is another time than that of the capture.
    fn sent_at(&mut self, s: usize, p: &Packet<'_>) -> (u64, bool) {
        if !self.is_far_from(s) {
            return (p.time, false);
        }
        let half_way = self.round_trip(s).unwrap_or(0) / 2;
        let Some(stamp) = p.timestamps else { return (p.time.saturating_sub(half_way), true) };
        // Both clocks wrap after 50 days: differences of them do not.
        let behind = p.time as i64 - i64::from(stamp.val) * TICK;
        let clock = &mut self.halves[s].clock;
        let least = clock.map_or(behind, |least| least.min(behind));
        *clock = Some(least);
        // Without its time in queues it came so long after the acknowledgement that it echoes. The shortest such time is that of a
        // segment that was sent in answer; one that took no longer was, too, and was sent when the acknowledgement arrived.
        let alone = p.time.saturating_sub((behind - least) as u64);
        let Some(told) = self.halves[s].echoed(stamp.ecr) else { return (alone.saturating_sub(half_way), true) };
        let took = alone.saturating_sub(told);
        let shortest = self.halves[s].answer.map_or(took, |shortest| shortest.min(took));
        self.halves[s].answer = Some(shortest);
        let late = took - shortest;
        let at = told + half_way + if late <= BLUR { 0 } else { late };
        // What is later in the sequence was not sent earlier.
        let at = at.max(self.halves[s].latest.filter(|_| p.len > 0).unwrap_or(0)).min(p.time);
        self.halves[s].latest = Some(at);
        (at, true)
    }

    /// When `o` heard a packet captured at `now`, and whether that is another time.
    fn heard_at(&self, o: usize, now: u64) -> (u64, bool) {
        if !self.is_far_from(o) {
            return (now, false);
        }
        (now + self.round_trip(o).unwrap_or(0) / 2, true)
    }
}
