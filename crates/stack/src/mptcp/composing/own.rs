//! Composes the segments that a subflow sends without the scheduler: RST, handshake segments and
//! retransmissions.

use super::Composing;
use crate::config::DSS_ROOM;
use crate::event::{SendKind, SubflowId};
use crate::mptcp::handshake::Join;
use crate::mptcp::outgoing::Outgoing;
use crate::mptcp::timers::Timer;
use crate::scoreboard::Sent;
use crate::segment::Signal;
use crate::tcp::subflow::State;
use crate::time::Instant;

impl Composing<'_> {
    /// Returns the next segment that subflow `id` sends without the scheduler: a RST, a handshake
    /// segment or a retransmission. `None` if there is none.
    pub fn poll_own(&mut self, now: Instant, id: SubflowId) -> Option<Outgoing> {
        let s = &mut self.w.paths.subflows[id];
        if let Some(segment) = s.poll_reset(now) {
            return Some(self.control(id, segment));
        }
        match s.state {
            State::Closed => None,
            State::SynSent | State::SynReceived => self.poll_syn(now, id),
            _ if s.sender.takes_tail_probe() => self.tail_probe(now, id),
            _ => {
                let Some((sent, kind)) = s.sender.next_retransmission(now) else {
                    let paced = s.sender.paced_until(now).filter(|_| s.sender.board.has_lost());
                    paced.into_iter().for_each(|until| self.w.timers.hasten(Timer::Pacing, until));
                    return None;
                };
                Some(self.retransmission(now, id, &sent, kind))
            }
        }
    }

    /// The RSTs that are due, and nothing else.
    pub fn poll_resets(&mut self, now: Instant) -> Option<Outgoing> {
        let paths = &mut *self.w.paths;
        let (id, segment) = paths.active.iter().find_map(|&id| Some((id, paths.subflows[id].poll_reset(now)?)))?;
        Some(self.control(id, segment))
    }

    /// A SYN or SYN/ACK on `id`, perhaps with data.
    fn poll_syn(&mut self, now: Instant, id: SubflowId) -> Option<Outgoing> {
        if !self.w.paths.subflows[id].syn_is_due() {
            return None;
        }
        let mptcp = self.w.paths.syn_option(id, self.w.negotiation, self.w.config);
        let segment = self.w.config.deviations.whole_segments_in_syn_window.then(|| {
            // A full segment, as large as without a DSS: in such segments Linux counts its windows.
            u64::from(self.w.config.mss) + if self.w.negotiation.is_plain() { 0 } else { DSS_ROOM }
        });
        let window = self.recv.syn_window(segment);
        let first = self.w.send.nxt() == 0 && self.w.paths.members[id].join == Join::First;
        let data = if first { self.w.send.written() } else { 0 };
        *self.out = self.w.paths.subflows[id].poll_syn(now, window, mptcp, self.w.config, data)?;
        let segment = *self.out;
        let len = segment.payload.len;
        let control = self.control(id, segment);
        if len == 0 {
            return Some(control);
        }
        self.w.send.sent_with_syn(len);
        let first = self.w.paths.subflows[id].iss + 1;
        self.w.send.note_run(&Sent::first(first, 0, len, now), id);
        Some(Outgoing { kind: SendKind::New, transmissions: 1, ..control })
    }

    /// Sends `sent` again on `id`.
    fn retransmission(&mut self, now: Instant, id: SubflowId, sent: &Sent, kind: SendKind) -> Outgoing {
        let window = self.window(id);
        let owed_ack = self.w.paths.subflows[id].acks.are_owed();
        // PSH as in `send`: the first transmission of the last segment may never arrive.
        let last = sent.data_end() == self.w.send.written();
        *self.out = self.w.paths.subflows[id].resend(now, sent, last, window);
        if sent.data_len() == 0 {
            return self.complete(id, self.control_option(id), Signal::None);
        }
        let wire_len = self.add_data_options(id, sent, owed_ack);
        Outgoing { subflow: id, kind, transmissions: sent.transmissions, choices: 0, wire_len }
    }

    /// A tail loss probe on `id` (RFC 8985 7.3): new data, or else the last segment again.
    fn tail_probe(&mut self, now: Instant, id: SubflowId) -> Option<Outgoing> {
        if let Some(choice) = self.distribution.choose_tail_probe(&mut self.w, id) {
            let outgoing = self.send(now, choice);
            self.w.paths.subflows[id].sender.tail_probe_sent();
            return Some(outgoing);
        }
        let (sent, kind) = self.w.paths.subflows[id].sender.resend_last(now)?;
        Some(self.retransmission(now, id, &sent, kind))
    }

    /// Rescue retransmissions, when there is no new data to send.
    pub fn poll_rescue(&mut self, now: Instant) -> Option<Outgoing> {
        for k in 0..self.w.paths.active.len() {
            let id = self.w.paths.active[k];
            if self.w.paths.subflows[id].state == State::Closed {
                continue;
            }
            if self.w.paths.subflows[id].sender.lacks_probe(now) {
                self.w.paths.subflows[id].sender.stop_probing();
                if let Some((sent, kind)) = self.w.paths.subflows[id].sender.next_retransmission(now) {
                    return Some(self.retransmission(now, id, &sent, kind));
                }
            }
            if let Some((sent, kind)) = self.w.paths.subflows[id].sender.next_rescue(now) {
                return Some(self.retransmission(now, id, &sent, kind));
            }
        }
        None
    }
}
