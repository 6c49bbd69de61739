//! Segments with new data, and the acknowledgements of a quiet connection: composed in full, or
//! made from the one before.

use super::Composing;
use crate::event::{SendBlock, SendKind, SubflowId};
use crate::mptcp::distribution::Choice;
use crate::mptcp::negotiation::Mode;
use crate::mptcp::outgoing::Outgoing;
use crate::mptcp::send_stream::Fin;
use crate::mptcp::template::Basis;
use crate::mptcp::timers::Timer;
use crate::scoreboard::Sent;
use crate::segment::{Mptcp, Payload, Signal};
use crate::shortcut::Shortcut;
use crate::time::Instant;

impl Composing<'_> {
    /// The next segment with reinjected or new data. `looked`: all rows are up to date.
    #[inline(always)]
    pub fn poll_data(&mut self, now: Instant, looked: bool) -> Option<Outgoing> {
        let choice = self.distribution.choose(&mut self.w, now, looked)?;
        Some(self.send(now, choice))
    }

    /// The next segment with data while new data flows, last on `id` (`connection/predicted.rs`).
    #[inline(always)]
    pub fn poll_flowing(&mut self, now: Instant, id: SubflowId) -> Option<Outgoing> {
        self.distribution.set_limit(SendBlock::Application);
        if !self.distribution.has_data(&self.w) {
            return None;
        }
        // As the general path, only where there is data: a look notes until when pacing holds data
        // back.
        let w = &mut self.w;
        if w.paths.rows[id].can_send {
            w.paths.look(now, id, w.timers);
        }
        // Only one subflow can send, and no data has to be sent again: the scheduler has no choice.
        let simply = w.fast.flows_simply() && w.send.reinjections().is_empty() && !w.send.has_copies();
        if simply { self.flow_on(now, id) } else { self.poll_data(now, true) }
    }

    /// Sends the data of `choice` on its subflow for the first time.
    pub fn send(&mut self, now: Instant, choice: Choice) -> Outgoing {
        let Choice { id, data, len, kind, choices } = choice;
        self.w.timers.stop(Timer::Persist);
        // RFC 9293 3.9.1.2, MUST-61: PSH on the last of what is written.
        let last = data + u64::from(len) == self.w.send.written();
        if last
            && self.w.send.is_closed()
            && self.w.send.fin() == Fin::Open
            && self.w.negotiation.is_multipath()
            && data > 0
        {
            // The last data carries the DATA_FIN (3.3.3), except beside MP_CAPABLE, which has no
            // room for it.
            self.w.send.fin_sent();
            self.w.timers.set(Timer::DataFin, now + self.w.paths.longest_rto().unwrap_or(self.w.config.initial_rto));
        }
        if kind == SendKind::New {
            if let Some(outgoing) = self.send_from_template(now, id, data, len) {
                return Outgoing { choices, ..outgoing };
            }
        }
        let basis = self.data_basis(id);
        let wire_len = self.send_in_full(now, id, (data, len), kind, last);
        if kind == SendKind::New && self.has_templates() {
            self.w.paths.members[id].template.keep(self.out, wire_len, basis);
        }
        Outgoing { subflow: id, kind, transmissions: 1, choices, wire_len }
    }

    /// [`Composing::send`] of new data that is not the last written, if the segment can be made
    /// from the one before.
    #[inline(always)]
    fn send_from_template(&mut self, now: Instant, id: SubflowId, data: u64, len: u32) -> Option<Outgoing> {
        let basis = self.data_basis(id);
        let (s, m) = (&mut self.w.paths.subflows[id], &mut self.w.paths.members[id]);
        if data + u64::from(len) == self.w.send.written() || !m.template.holds(basis, true) || s.sender.cwr {
            return None;
        }
        Shortcut::DataTemplate.note();
        self.w.timers.stop(Timer::Persist);
        let sent = s.sender.send_new(now, data, len);
        let timestamps = s.data_as_before(now);
        s.counts.note_out(len);
        let wire_len = m.template.next_data(sent.seq, Payload::new(data, len), timestamps);
        self.w.fast.send_template(id);
        self.w.send.note_run(&sent, id);
        Some(Outgoing { subflow: id, kind: SendKind::New, transmissions: 1, choices: 1, wire_len })
    }

    /// What the fields of data segments on `id` depend on that are the same in each.
    #[inline(always)]
    fn data_basis(&self, id: SubflowId) -> Basis {
        let received = self.recv.progress();
        Basis { revision: self.w.fast.revision(), other: self.w.paths.subflows[id].receiver.rcv_nxt, received }
    }

    /// Sends data in a segment that is composed from nothing. `push`: it has PSH. Returns its
    /// [`Segment::wire_len`].
    #[inline(never)]
    fn send_in_full(
        &mut self,
        now: Instant,
        id: SubflowId,
        (data, len): (u64, u32),
        kind: SendKind,
        push: bool,
    ) -> u32 {
        let window = self.window(id);
        let s = &mut self.w.paths.subflows[id];
        let owed_ack = s.acks.are_owed();
        let sent = s.sender.send_new(now, data, len);
        let ends = self.distribution.counts_bursts() && self.ends_burst(now, id, len);
        let push = push || ends;
        if self.w.config.window_validation {
            let more = self.w.send.written() > self.w.send.nxt()
                || self.distribution.has_stopped_writer()
                || self.w.paths.members[id].ahead.octets() > 0;
            self.w.paths.subflows[id].sender.validate_window(now, more);
        }
        let s = &mut self.w.paths.subflows[id];
        s.data_segment(now, &sent, push, window, self.out);
        if kind == SendKind::Probe {
            s.make_probe(self.out);
        } else if self.w.config.deviations.fin_on_last_data
            && self.w.negotiation.is_plain()
            && self.w.send.is_closed()
            && data + u64::from(len) == self.w.send.written()
        {
            s.add_fin(self.out);
        }
        self.w.send.note_run(&sent, id);
        if self.w.config.stale_after > 0 {
            self.w.arm_idle_timer(now, false);
        }
        if kind == SendKind::Reinjection {
            self.w.send.note_repeated(data + u64::from(len));
        }
        self.add_data_options(id, &sent, owed_ack)
    }

    /// Segments may be made from the ones before: their windows follow from what has arrived and
    /// was read, and no segment ends a burst.
    #[inline]
    fn has_templates(&self) -> bool {
        let validated = self.w.config.window_validation || self.w.config.stale_after > 0;
        self.w.fast.is_on() && self.recv.has_fixed_buffer() && !self.distribution.counts_bursts() && !validated
    }

    /// Builds a pure ACK on the subflow `id` from the template of the subflow's last ACK. The
    /// template holds while only predicted segments (`Subflow::expects`) arrive: these leave no
    /// hole, are no duplicates and carry equal ECN marks, so two ACKs differ in their numbers only.
    #[inline(always)]
    pub fn next_acknowledgement(&mut self, now: Instant, id: SubflowId) -> Outgoing {
        let basis =
            Basis { revision: self.w.fast.revision(), other: self.w.paths.subflows[id].sender.nxt, received: 0 };
        if self.w.paths.members[id].template.holds(basis, false) {
            Shortcut::AckTemplate.note();
            let window = self.window(id);
            let data_ack = match self.w.negotiation.mode() {
                Mode::Mptcp(k) => k.peer_first_dsn.wrapping_add(self.recv.nxt()),
                _ => 0,
            };
            let s = &mut self.w.paths.subflows[id];
            let timestamps = s.ack_as_before(now);
            s.counts.note_out(0);
            let ack = s.receiver.rcv_nxt;
            let wire_len = self.w.paths.members[id].template.next_ack(ack, data_ack, window, timestamps);
            self.w.fast.send_template(id);
            return Outgoing { subflow: id, kind: SendKind::Control, transmissions: 0, choices: 0, wire_len };
        }
        let option = self.control_option(id);
        let outgoing = self.signalling(now, id, option, Signal::None);
        if self.has_templates() {
            self.w.paths.members[id].template.keep(self.out, outgoing.wire_len, basis);
        }
        outgoing
    }

    /// Counts a segment of `len` octets that was sent on the subflow `id`. Returns true if the
    /// segment ends a burst and must carry PSH (only with `push_acks`). A burst ends when it is as
    /// long as a packet that Linux hands to segmentation offload (`tcp_tso_autosize`: the octets
    /// paced in one millisecond, at least two segments), or when no segment can follow.
    #[cold]
    fn ends_burst(&mut self, now: Instant, id: SubflowId, len: u32) -> bool {
        let queued = self.w.paths.members[id].ahead.octets() > 0;
        let more = queued || (self.w.send.written() > self.w.send.nxt() && self.w.send.edge() > self.w.send.nxt());
        self.w.paths.subflows[id].sender.ends_burst(now, more, len) && self.w.config.push_acks
    }

    /// Adds the MPTCP option and the other options to a segment with payload. `owed`: a delayed ACK
    /// was due before this segment. Returns the [`Segment::wire_len`] of the segment.
    pub(super) fn add_data_options(&mut self, id: SubflowId, sent: &Sent, owed: bool) -> u32 {
        self.out.options.mptcp = self.data_option(id, sent);
        // A segment with keys and data acknowledges on the subflow only: there is no room for a
        // DATA_ACK beside the keys (RFC 8684 3.1). If an acknowledgement of data was owed, a pure
        // one follows.
        if owed && matches!(self.out.options.mptcp, Mptcp::CapableAck { .. }) && self.recv.nxt() > 0 {
            self.w.paths.subflows[id].acks.now();
        }
        self.add_options(id)
    }

    /// [`Composing::poll_data`] where it comes to the next new segment on `id`, or to nothing.
    #[inline(always)]
    fn flow_on(&mut self, now: Instant, id: SubflowId) -> Option<Outgoing> {
        if !self.w.paths.rows[id].can_send {
            self.distribution.set_limit(SendBlock::Cwnd);
            return None;
        }
        let sender = &self.w.paths.subflows[id].sender;
        let end = self.w.send.written().min(self.w.send.edge());
        let segments = end.saturating_sub(self.w.send.nxt()).min(sender.free()) / u64::from(sender.mss);
        if segments == 0 {
            return self.poll_data(now, true);
        }
        // Until the next input these may follow without another look. After an idle period the
        // window may restart with this one (RFC 5681 4.1).
        let looks = sender.is_metered() || sender.board.is_empty();
        self.w.fast.set_budget(if looks { 0 } else { (segments - 1).min(64) as u32 });
        Some(self.send_full(now, id))
    }

    /// Sends the next full-sized segment of new data on `id`, which nobody else can.
    #[inline(always)]
    pub fn send_full(&mut self, now: Instant, id: SubflowId) -> Outgoing {
        let mss = self.w.paths.subflows[id].sender.mss;
        let data = self.w.send.advance(u64::from(mss));
        match self.send_from_template(now, id, data, mss) {
            Some(outgoing) => outgoing,
            None => self.send(now, Choice { id, data, len: mss, kind: SendKind::New, choices: 1 }),
        }
    }
}
