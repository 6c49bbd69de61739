//! Segments with data: first transmissions, retransmissions, probes of a closed window.

use anabranch_stack::seq::Seq;

use super::{Kind, ONE_WAY, OVERTAKEN, REMEMBERED, Retransmission, Sender, Sent, UNMAPPED};

impl Sender {
    /// `len` octets at `seq` pass at `now`. `probe`: they are beyond the peer's window.
    pub fn on_data(&mut self, now: u64, seq: Seq, len: u32, data: u64, stamp: Option<u32>, probe: bool) -> Kind {
        let end = seq + u64::from(len);
        if self.segments == 0 && !self.begun && self.una < Some(seq) {
            // What was in flight before is not in the capture.
            (self.una, self.max) = (Some(seq), seq);
        }
        let una = *self.una.get_or_insert(seq);
        if self.max.0 == 0 {
            self.max = seq;
        }
        let sent = Sent { probe, ..Sent::new((seq, end), data, now, stamp) };
        if seq >= self.max {
            if seq > self.max {
                self.hole_at = now;
            }
            return self.append(sent, len);
        }
        let acknowledged = self.unseen.covers(seq, end);
        if len <= 1 && end <= una && !acknowledged {
            return Kind::Nothing;
        }
        self.count(len);
        if acknowledged {
            self.unseen.take(seq, end);
            return Kind::Late;
        }
        let i = self.queue.partition_point(|s| s.end <= seq);
        let fills = seq >= una && self.queue.get(i).is_none_or(|s| end <= s.seq);
        if fills && self.is_first(now, &sent, i) {
            // The receiver may have reported its arrival before it was seen.
            let arrived = self.sacked.containing(seq.0).is_some_and(|(_, known)| known >= end.0);
            self.queue.insert(i, Sent { arrived, ..sent });
            return if arrived { Kind::Late } else { Kind::New };
        }
        if let Some(kind) = self.supersede(i, &sent) {
            return kind;
        }
        if self.probed == Some(seq) && seq < una && end > self.max {
            // The receiver took the octet of a probe, and the sender does not know it yet.
            self.max = end;
            self.queue.push_back(sent);
            return Kind::New;
        }
        self.infer(now, seq, i);
        let copies = self.mark_again(i, fills, &sent);
        if self.retransmissions.len() == REMEMBERED {
            self.retransmissions.pop_front();
        }
        self.retransmissions.push_back(Retransmission { seq, end, spurious: false });
        Kind::Again(copies)
    }

    /// A segment with octets beyond all that were sent before.
    fn append(&mut self, sent: Sent, len: u32) -> Kind {
        self.max = sent.end;
        self.count(len);
        self.note_probe(&sent);
        if self.queue.len() > 2 * ONE_WAY {
            self.queue.pop_front();
        }
        self.queue.push_back(sent);
        Kind::New
    }

    /// The octets of `sent`, which would be number `i` in the queue, were not seen before, and are not retransmitted: they were reordered on
    /// the way here, or the receiver has reported that they arrived.
    fn is_first(&self, now: u64, sent: &Sent, i: usize) -> bool {
        // A hole was seen when what lies behind it passed.
        let behind = self.queue.get(i);
        let opened = behind.map_or(self.hole_at, |behind| behind.at);
        let overtaken = behind.is_some_and(|behind| behind.is_later_than(sent.stamp));
        let soon = now.saturating_sub(opened) < OVERTAKEN.max(self.rtt_range.map_or(0, |r| r.0 / 2));
        let reported = || self.sacked.containing(sent.seq.0).is_some_and(|(_, known)| known >= sent.end.0);
        soon || overtaken || reported()
    }

    /// `sent` has octets that only probes of a closed window had before: it is another probe or, if the window has opened, their first
    /// transmission.
    fn supersede(&mut self, i: usize, sent: &Sent) -> Option<Kind> {
        let Sent { seq, end, last: now, .. } = *sent;
        let before = self.queue.iter().skip(i).take_while(|s| s.seq < end);
        let count = before.clone().count();
        if count == 0 || !before.clone().all(|s| s.probe && s.seq >= seq) {
            return None;
        }
        self.note_probe(sent);
        if sent.probe && end <= self.max {
            let first = self.queue.get_mut(i)?;
            (first.copies, first.last) = (first.copies.saturating_add(1), now);
            return Some(Kind::Probe(first.copies));
        }
        self.queue.drain(i..i + count);
        self.queue.insert(i, *sent);
        self.max = self.max.max(end);
        Some(Kind::New)
    }

    fn note_probe(&mut self, sent: &Sent) {
        if sent.probe {
            self.probes += 1;
            self.probed = Some(sent.seq);
        }
    }

    /// Notes a retransmission, from number `i` in the queue on; returns which copy of its segment it is. If it `fills` a hole, its first copy
    /// is missing from the capture.
    fn mark_again(&mut self, i: usize, fills: bool, sent: &Sent) -> u16 {
        let (mut copies, mut known) = (2, false);
        for s in self.queue.iter_mut().skip(i).take_while(|s| s.seq < sent.end) {
            s.copies = s.copies.saturating_add(1);
            s.last = sent.at;
            s.again = s.again.or(sent.stamp);
            (copies, known) = (s.copies, true);
        }
        let inserted = fills && !known;
        if inserted {
            self.queue.insert(i, Sent { copies, again: sent.stamp, stamp: None, ..*sent });
        }
        if sent.end > self.max && !inserted {
            // Octets not sent before follow on those that were.
            let data = if sent.data == UNMAPPED { UNMAPPED } else { sent.data.saturating_add(self.max - sent.seq) };
            self.queue.push_back(Sent { seq: self.max, data, ..*sent });
        }
        self.max = self.max.max(sent.end);
        copies
    }

    fn count(&mut self, len: u32) {
        self.segments += 1;
        self.octets += u64::from(len);
        self.largest = self.largest.max(len);
    }

    /// Was the retransmission of `seq` (number `i` in the queue) fast or after a timeout?
    fn infer(&mut self, now: u64, seq: Seq, i: usize) {
        let una = self.una.unwrap_or(seq);
        let silent_since = self.queue.get(i).map_or(0, |s| s.last).max(self.advanced_at);
        // RFC 6298 5.3: the timer counts from the last acknowledgement of new data, or from the transmission.
        let expired = seq <= una && now.saturating_sub(silent_since) >= self.rtt.rto().0 / 20 * 19;
        let after_timeout = self.timeout_recover.is_some_and(|r| seq < r);
        if expired || after_timeout {
            if expired {
                self.timeout_recover = Some(self.max);
                self.expired += 1;
            }
            self.timeout += 1;
            return;
        }
        // RFC 6675, RFC 6582: duplicate ACKs or SACK information begin fast recovery; it ends when everything sent by then is
        // acknowledged.
        let evidence = self.has_evidence();
        let recovering = self.recover.is_some_and(|r| una < r);
        if evidence || recovering {
            if !recovering {
                self.recover = Some(self.max);
            }
            self.fast += 1;
        } else {
            self.timeout += 1;
        }
    }
}
