//! Retransmissions: zero-window probes, segments that loss recovery marked lost (RFC 6675 4 NextSeg, 5 (C.1), RFC 6582 3.2), and rescue
//! retransmissions.

use super::Sender;
use super::recovery::{Phase, Probe};
use crate::event::SendKind;
use crate::scoreboard::Sent;
use crate::time::Instant;

impl Sender {
    /// The next segment to retransmit, if the window permits it.
    pub fn next_retransmission(&mut self, now: Instant) -> Option<(Sent, SendKind)> {
        if core::mem::take(&mut self.due.probe) {
            if self.board.is_empty() {
                return None;
            }
            self.rto_at = now + self.rtt.rto_after(self.probes);
            return Some((self.resend(0, now), SendKind::Probe));
        }
        if core::mem::take(&mut self.due.held_timeout) && !self.board.is_empty() {
            return Some((self.board.retransmit(0, now), SendKind::Timeout));
        }
        if core::mem::take(&mut self.due.timeout) && self.board.front_is_lost() {
            return Some((self.resend(0, now), SendKind::Timeout));
        }
        let una = self.una;
        // RFC 8985 9.3: what is marked lost waits until the window has room.
        let wanted = self.board.has_lost() && self.has_room(self.mss) && self.paced_until(now).is_none();
        let (i, kind) = match self.recovery.phase_mut() {
            Phase::Fast { retransmit_first, .. } if *retransmit_first => {
                *retransmit_first = false;
                (0, SendKind::Fast)
            }
            Phase::Fast { .. } if wanted => (self.board.next_lost()?, SendKind::Fast),
            Phase::Loss { probe: Probe::No, .. } if wanted => (self.board.next_lost()?, SendKind::Timeout),
            _ => return None,
        };
        if self.board.is_empty() {
            return None;
        }
        let sent = self.resend(i, now);
        // RFC 6298 5.3 restarts the timer only for acknowledgements. RFC 6675 6 permits a restart when the head segment is
        // retransmitted, so that the timer does not expire before that retransmission could be acknowledged. The same holds when
        // F-RTO finds a timeout genuine after it waited a round trip. Partial acknowledgements have their own rule (RFC 6582 3.2
        // step 3).
        let partial = !self.selective && matches!(self.recovery.phase(), Phase::Fast { partial: true, .. });
        if sent.seq == una && !partial {
            self.rto_at = now + self.rtt.rto();
        }
        Some((sent, kind))
    }

    /// NextSeg rules (3) and (4) of RFC 6675 4: no segment is marked lost, there is no new data, and the window has room.
    pub fn next_rescue(&mut self, now: Instant) -> Option<(Sent, SendKind)> {
        if !self.selective || !self.recovery.is_fast() || !self.has_room(self.mss) || !self.detector.rescues() {
            return None;
        }
        let Phase::Fast { rescued, .. } = self.recovery.phase_mut() else { return None };
        if let Some(i) = self.board.next_below_sacked() {
            return Some((self.resend(i, now), SendKind::Fast));
        }
        if *rescued {
            return None;
        }
        *rescued = true;
        let i = self.board.last_unsacked()?;
        let sent = self.board.rescue(i, now);
        self.note_copy(now, &sent);
        Some((sent, SendKind::Fast))
    }

    /// Retransmits the segment at index `i` of the scoreboard.
    fn resend(&mut self, i: usize, now: Instant) -> Sent {
        let sent = self.board.retransmit(i, now);
        self.note_copy(now, &sent);
        sent
    }

    fn note_copy(&mut self, now: Instant, sent: &Sent) {
        self.judge.on_retransmit(sent.seq, sent.end());
        self.note_departure(now, sent);
    }

    /// A tail loss probe is to be sent now.
    pub fn takes_tail_probe(&mut self) -> bool {
        core::mem::take(&mut self.due.tail_probe) && !self.board.is_empty()
    }

    /// New data was sent as the tail loss probe.
    pub fn tail_probe_sent(&mut self) {
        self.detector.on_probe(self.nxt, false);
    }

    /// The tail loss probe without new data: the last segment again (RFC 8985 7.3).
    pub fn resend_last(&mut self, now: Instant) -> Option<(Sent, SendKind)> {
        let i = self.board.last_unsacked()?;
        let sent = self.board.rescue(i, now);
        self.note_copy(now, &sent);
        self.detector.on_probe(self.nxt, true);
        Some((sent, SendKind::TailProbe))
    }

    /// The peer's window has opened. If the head segment lies in `[closed_at, edge)`, the peer had refused it: retransmit it at
    /// once.
    pub fn reopen(&mut self, closed_at: u64, edge: u64) {
        if self.board.front().is_some_and(|f| f.data >= closed_at && f.data < edge && f.data_len() > 0) {
            self.due.probe = true;
            // It is no longer a window probe, whose intervals grow (RFC 9293 3.8.6.1).
            self.probes = 0;
        }
    }
}
