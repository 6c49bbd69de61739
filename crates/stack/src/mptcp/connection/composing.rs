//! Composes segments: the window, the MPTCP option, a signal, and the other options that fit beside them.
//!
//! A subflow makes a segment with its own numbers, flags and timestamps. This module adds the rest, in the order in which option
//! space is allotted: the MPTCP option, a signal, TCP-DOOR's number, SACK blocks ([`budget`]).

use super::{Connection, Outgoing};
use crate::config::DsnOctets;
use crate::event::{SendKind, SubflowId};
use crate::mptcp::distribution::Choice;
use crate::mptcp::handshake::{Join, Keys};
use crate::mptcp::negotiation::Mode;
use crate::mptcp::receiving::checksum_of;
use crate::mptcp::send_stream::Fin;
use crate::mptcp::template::Basis;
use crate::mptcp::timers::Timer;
use crate::scoreboard::Sent;
use crate::segment::{DataAck, Dss, Flags, Mapping, Mptcp, OPTION_SPACE, Payload, Signal};
use crate::seq::Seq;
use crate::shortcut::Shortcut;
use crate::time::Instant;
use crate::wire::budget;

impl Connection {
    /// The segment that is about to be sent on `id` has its MPTCP option: adds the others. Returns its [`Segment::wire_len`]. (What
    /// composes data segments is in line: that saves 50 instructions for each.)
    #[inline(always)]
    fn add_options(&mut self, id: SubflowId) -> u32 {
        let (s, segment) = (&self.paths.subflows[id], &self.out);
        // Nearly all segments have timestamps and an MPTCP option at most.
        if s.door.on || !segment.options.signal.is_empty() || (segment.payload.len == 0 && s.reports()) {
            return self.add_rare_options(id);
        }
        40 + s.timestamp_len() + segment.options.mptcp.len().next_multiple_of(4) + segment.payload.len
    }

    fn add_rare_options(&mut self, id: SubflowId) -> u32 {
        let (s, segment) = (&mut self.paths.subflows[id], &mut self.out);
        // RFC 2018 4: blocks leave in every pure acknowledgement. Segments with data or FIN acknowledge too, but do not report duplicates or held segments.
        let pure = segment.payload.len == 0 && !segment.flags.has(Flags::FIN);
        if s.door.on && !segment.flags.has(Flags::FIN) {
            s.door.number(segment);
            budget::fit(&mut segment.options);
            s.door.note_fitted(segment);
        }
        if pure && s.sack {
            segment.options.sack = s.report(budget::sack_room(&segment.options));
        }
        segment.wire_len()
    }

    /// Adds the options to a segment without payload.
    pub(super) fn complete(&mut self, id: SubflowId, mptcp: Mptcp, signal: Signal) -> Outgoing {
        self.out.options.mptcp = mptcp;
        if !signal.is_empty() {
            self.out.options.signal = signal;
        }
        let wire_len = self.add_options(id);
        Outgoing { subflow: id, kind: SendKind::Control, transmissions: 0, choices: 0, wire_len }
    }

    /// The DSS option of a segment, with a DATA_ACK in each (RFC 8684 3.3.2); with a mapping if it carries `data`.
    #[inline(always)]
    pub(super) fn dss(&self, k: &Keys, id: SubflowId, data: Option<(u64, u32, Seq)>) -> Dss {
        let fin_received = u64::from(self.recv.has_ended());
        let ack = k.peer_first_dsn.wrapping_add(self.recv.nxt() + fin_received);
        // 3.3.2: a 64-bit data sequence number MUST be acknowledged with 64 bits.
        let ack = if self.negotiation.has_long_dsn() { DataAck::Eight(ack) } else { DataAck::Four(ack as u32) };
        let mut dss = Dss { data_ack: Some(ack), ..Dss::default() };
        if let Some((data, len, seq)) = data {
            let last =
                data + u64::from(len) == self.send.written() && self.send.is_closed() && self.send.fin() != Fin::Open;
            dss.data_fin = last;
            let ssn = (seq.0 - self.paths.subflows[id].first_own().0 + 1) as u32;
            dss.mapping = Some(self.mapping(k, id, data, ssn, (len + u32::from(last)) as u16));
        }
        dss
    }

    /// A mapping of `len` octets from data offset `data` on, for a segment on `id`: of the same octets always the same mapping (RFC 8684 3.3.1). Beside TCP-DOOR's number there is room for a
    /// 32-bit data sequence number only.
    pub(super) fn mapping(&self, k: &Keys, id: SubflowId, data: u64, ssn: u32, len: u16) -> Mapping {
        let dsn = k.own_first_dsn.wrapping_add(data);
        // 3.3.1: the checksum covers all 64 bits of the data sequence number, even if only 32 are sent.
        let checksum = checksum_of(&self.config, dsn, ssn, len);
        let short = self.config.dsn_octets == DsnOctets::Four || self.paths.subflows[id].door.on;
        Mapping { dsn: if short { dsn & u64::from(u32::MAX) } else { dsn }, short, ssn, len, checksum }
    }

    /// The MPTCP option of a segment with payload. RFC 8684 3.7 wants a mapping until a DATA_ACK has come: every data segment carries one.
    #[inline(always)]
    fn data_option(&mut self, id: SubflowId, sent: &Sent) -> Mptcp {
        match self.negotiation.mode() {
            Mode::Mptcp(k) => {
                // 3.1: the first data carries the keys, whether or not the third ACK arrived. The option implies the first
                // subflow sequence number: a copy of this data later on the subflow needs a DSS.
                let s = &self.paths.subflows[id];
                let first = sent.seq == s.first_own() && sent.data == u64::from(s.fast_open.tx);
                let keys_are_known = self.config.deviations.first_data_with_dss && self.negotiation.is_confirmed();
                if self.negotiation.is_client()
                    && !keys_are_known
                    && first
                    && self.paths.members[id].join == Join::First
                {
                    return Mptcp::CapableAck {
                        checksum: self.config.checksum,
                        sender_key: k.own,
                        receiver_key: k.peer,
                        data: Some((
                            sent.len as u16,
                            checksum_of(&self.config, k.own_first_dsn.wrapping_add(sent.data), 1, sent.len as u16),
                        )),
                    };
                }
                Mptcp::Dss(self.dss(k, id, Some((sent.data, sent.len, sent.seq))))
            }
            _ => self.fallback.infinite_option(sent.seq),
        }
    }

    /// The MPTCP option of a pure acknowledgement on `id` that also carries a signal. The DATA_FIN that Linux repeats on each
    /// acknowledgement stays away: its mapping and a signal do not both fit (RFC 9293 3.1: options have 40 octets).
    pub(super) fn signal_option(&self, id: SubflowId) -> Mptcp {
        match self.control_option(id) {
            Mptcp::Dss(dss) => Mptcp::Dss(Dss { mapping: None, data_fin: false, ..dss }),
            other => other,
        }
    }

    /// The MPTCP option of a pure acknowledgement on `id`.
    #[inline]
    pub(super) fn control_option(&self, id: SubflowId) -> Mptcp {
        let Mode::Mptcp(k) = self.negotiation.mode() else { return Mptcp::None };
        match self.paths.members[id].join {
            Join::AwaitAck { hmac, .. } => Mptcp::JoinAck { hmac },
            // 3.1: the third ACK carries the keys until the peer has shown that it has them.
            Join::First
                if self.negotiation.is_client()
                    && !self.negotiation.is_confirmed()
                    && self.send.nxt() == u64::from(self.paths.subflows[id].fast_open.tx) =>
            {
                Mptcp::CapableAck {
                    checksum: self.config.checksum,
                    sender_key: k.own,
                    receiver_key: k.peer,
                    data: None,
                }
            }
            _ => {
                let mut dss = self.dss(k, id, None);
                let pending = matches!(self.send.fin(), Fin::Sent { .. }) && self.send.nxt() == self.send.written();
                if self.config.deviations.data_fin_on_all && pending && !self.distribution.has_assigned(&self.paths) {
                    (dss.data_fin, dss.mapping) = (true, Some(self.mapping(k, id, self.send.written(), 0, 1)));
                }
                Mptcp::Dss(dss)
            }
        }
    }

    pub(super) fn retransmission(&mut self, now: Instant, id: SubflowId, sent: &Sent, kind: SendKind) -> Outgoing {
        let window = self.paths.advertise(id, &mut self.recv, self.negotiation.is_plain());
        let owed_ack = self.paths.subflows[id].acks.are_owed();
        // PSH as in `send`: the first transmission of the last segment may never arrive.
        let last = sent.data_end() == self.send.written();
        self.out = self.paths.subflows[id].resend(now, sent, last, window);
        if sent.data_len() == 0 {
            return self.complete(id, self.control_option(id), Signal::None);
        }
        let wire_len = self.add_data_options(id, sent, owed_ack);
        Outgoing { subflow: id, kind, transmissions: sent.transmissions, choices: 0, wire_len }
    }

    /// Adds the options to a segment with payload. Returns its [`Segment::wire_len`]. `owed`: an acknowledgement was.
    fn add_data_options(&mut self, id: SubflowId, sent: &Sent, owed: bool) -> u32 {
        self.out.options.mptcp = self.data_option(id, sent);
        // A segment with keys and data acknowledges on the subflow only: there is no room for a DATA_ACK beside the keys (RFC 8684 3.1).
        // If an acknowledgement of data was owed, a pure one follows.
        if owed && matches!(self.out.options.mptcp, Mptcp::CapableAck { .. }) && self.recv.nxt() > 0 {
            self.paths.subflows[id].acks.now();
        }
        self.add_options(id)
    }

    /// Sends the data of `choice` on its subflow for the first time.
    pub(super) fn send(&mut self, now: Instant, choice: Choice) -> Outgoing {
        let Choice { id, data, len, kind, choices } = choice;
        self.timers.stop(Timer::Persist);
        // RFC 9293 3.9.1.2, MUST-61: PSH on the last of what is written.
        let last = data + u64::from(len) == self.send.written();
        if last && self.send.is_closed() && self.send.fin() == Fin::Open && self.negotiation.is_multipath() && data > 0
        {
            // The last data carries the DATA_FIN (3.3.3), except beside MP_CAPABLE, which has no room for it.
            self.send.fin_sent();
            self.timers.set(Timer::DataFin, now + self.paths.longest_rto().unwrap_or(self.config.initial_rto));
        }
        if kind == SendKind::New {
            if let Some(outgoing) = self.send_from_template(now, id, data, len) {
                return Outgoing { choices, ..outgoing };
            }
        }
        let basis = self.data_basis(id);
        let wire_len = self.send_in_full(now, id, (data, len), kind, last);
        if kind == SendKind::New && self.has_templates() {
            self.paths.members[id].template.keep(&self.out, wire_len, basis);
        }
        Outgoing { subflow: id, kind, transmissions: 1, choices, wire_len }
    }

    /// [`Connection::send`] of new data that is not the last written, if the segment can be made from the one before.
    #[inline(always)]
    pub(super) fn send_from_template(&mut self, now: Instant, id: SubflowId, data: u64, len: u32) -> Option<Outgoing> {
        let basis = self.data_basis(id);
        let (s, m) = (&mut self.paths.subflows[id], &mut self.paths.members[id]);
        if data + u64::from(len) == self.send.written() || !m.template.holds(basis, true) || s.sender.cwr {
            return None;
        }
        Shortcut::DataTemplate.note();
        self.timers.stop(Timer::Persist);
        let sent = s.sender.send_new(now, data, len);
        let timestamps = s.data_as_before(now);
        s.counts.note_out(len);
        let wire_len = m.template.next_data(sent.seq, Payload::new(data, len), timestamps);
        self.fast.send_template(id);
        self.send.note_run(&sent, id);
        Some(Outgoing { subflow: id, kind: SendKind::New, transmissions: 1, choices: 1, wire_len })
    }

    /// What the fields of data segments on `id` depend on that are the same in each.
    #[inline(always)]
    fn data_basis(&self, id: SubflowId) -> Basis {
        let received = self.recv.progress();
        Basis { revision: self.fast.revision(), other: self.paths.subflows[id].receiver.rcv_nxt, received }
    }

    /// Sends data in a segment that is composed from nothing. `push`: it has PSH. Returns its [`Segment::wire_len`].
    #[inline(never)]
    fn send_in_full(
        &mut self,
        now: Instant,
        id: SubflowId,
        (data, len): (u64, u32),
        kind: SendKind,
        push: bool,
    ) -> u32 {
        let window = self.paths.advertise(id, &mut self.recv, self.negotiation.is_plain());
        let s = &mut self.paths.subflows[id];
        let owed_ack = s.acks.are_owed();
        let sent = s.sender.send_new(now, data, len);
        let ends = self.distribution.counts_bursts() && self.ends_burst(now, id, len);
        let push = push || ends;
        if self.config.window_validation {
            let more = self.send.written() > self.send.nxt()
                || self.distribution.has_stopped_writer()
                || self.paths.members[id].ahead.octets() > 0;
            self.paths.subflows[id].sender.validate_window(now, more);
        }
        let s = &mut self.paths.subflows[id];
        s.data_segment(now, &sent, push, window, &mut self.out);
        if kind == SendKind::Probe {
            s.make_probe(&mut self.out);
        } else if self.config.deviations.fin_on_last_data
            && self.negotiation.is_plain()
            && self.send.is_closed()
            && data + u64::from(len) == self.send.written()
        {
            s.add_fin(&mut self.out);
        }
        self.send.note_run(&sent, id);
        if self.config.stale_after > 0 {
            self.arm_idle_timer(now, false);
        }
        if kind == SendKind::Reinjection {
            self.send.note_repeated(data + u64::from(len));
        }
        self.add_data_options(id, &sent, owed_ack)
    }

    /// Segments may be made from the ones before: their windows follow from what has arrived and was read, and no segment ends a
    /// burst.
    #[inline]
    pub(super) fn has_templates(&self) -> bool {
        let validated = self.config.window_validation || self.config.stale_after > 0;
        self.fast.is_on() && self.recv.has_fixed_buffer() && !self.distribution.counts_bursts() && !validated
    }

    /// An acknowledgement on `id` of a quiet connection. What it says beside numbers does not change while nothing but predicted segments
    /// arrives: they leave no hole, are no duplicates, and are marked as those before ([`Subflow::expects`]).
    #[inline(always)]
    pub(super) fn next_acknowledgement(&mut self, now: Instant, id: SubflowId) -> Outgoing {
        let basis = Basis { revision: self.fast.revision(), other: self.paths.subflows[id].sender.nxt, received: 0 };
        if self.paths.members[id].template.holds(basis, false) {
            Shortcut::AckTemplate.note();
            let window = self.paths.advertise(id, &mut self.recv, self.negotiation.is_plain());
            let data_ack = match self.negotiation.mode() {
                Mode::Mptcp(k) => k.peer_first_dsn.wrapping_add(self.recv.nxt()),
                _ => 0,
            };
            let s = &mut self.paths.subflows[id];
            let timestamps = s.ack_as_before(now);
            s.counts.note_out(0);
            let ack = s.receiver.rcv_nxt;
            let wire_len = self.paths.members[id].template.next_ack(ack, data_ack, window, timestamps);
            self.fast.send_template(id);
            return Outgoing { subflow: id, kind: SendKind::Control, transmissions: 0, choices: 0, wire_len };
        }
        let option = self.control_option(id);
        let outgoing = self.signalling(now, id, option, Signal::None);
        if self.has_templates() {
            self.paths.members[id].template.keep(&self.out, outgoing.wire_len, basis);
        }
        outgoing
    }

    /// A segment of `len` octets was sent on `id`. Whether it ends a burst of several, and is to say so: the burst is as long as Linux makes a packet for segmentation
    /// offload (`tcp_tso_autosize`: what is paced in a millisecond, two segments at least), or the window has no room for another.
    #[cold]
    fn ends_burst(&mut self, now: Instant, id: SubflowId, len: u32) -> bool {
        let queued = self.paths.members[id].ahead.octets() > 0;
        let more = queued || (self.send.written() > self.send.nxt() && self.send.edge() > self.send.nxt());
        self.paths.subflows[id].sender.ends_burst(now, more, len) && self.config.push_acks
    }

    pub(super) fn acknowledgement(&mut self, now: Instant, id: SubflowId, option: Mptcp) -> Outgoing {
        // Beside timestamps and a mapping there is no room for MP_FAIL: it waits for the next acknowledgement. Nor is there room
        // beside keys or an HMAC, but a peer whose data failed its checksum has already received those.
        let mapping = matches!(option, Mptcp::Dss(Dss { mapping: Some(_), .. }));
        let signal = if mapping {
            Signal::None
        } else {
            self.fallback.signal(now, id, self.paths.subflows[id].rto(), &mut self.timers)
        };
        let handshake = matches!(option, Mptcp::CapableAck { .. } | Mptcp::JoinAck { .. });
        let option = if handshake && !signal.is_empty() { Mptcp::None } else { option };
        self.signalling(now, id, option, signal)
    }

    /// A pure acknowledgement with a signal.
    pub(super) fn signalling(&mut self, now: Instant, id: SubflowId, option: Mptcp, signal: Signal) -> Outgoing {
        let window = self.paths.advertise(id, &mut self.recv, self.negotiation.is_plain());
        self.paths.subflows[id].make_ack(now, window, &mut self.out);
        self.complete(id, option, signal)
    }

    /// How many address identifiers fit into a REMOVE_ADDR beside `option` on `id` (RFC 8684 3.4.2).
    pub(super) fn removal_room(&self, id: SubflowId, option: &Mptcp) -> usize {
        let timestamps = self.paths.subflows[id].timestamp_len();
        (OPTION_SPACE - timestamps - option.len().next_multiple_of(4) - 3) as usize
    }
}
