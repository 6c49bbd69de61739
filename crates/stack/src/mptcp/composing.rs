//! Composes segments: the window, the MPTCP option, a signal, and the other options that fit beside
//! them.
//!
//! A subflow makes a segment with its own numbers, flags and timestamps. This module adds the rest,
//! in the order in which option space is allotted: the MPTCP option, a signal, TCP-DOOR's number,
//! SACK blocks ([`budget`]).

mod control;
mod data;
mod options;
mod own;

pub(crate) use control::Unanswered;

use super::distribution::{Distribution, Sending};
use super::outgoing::Outgoing;
use super::recv_stream::RecvStream;
use crate::event::{SendKind, SubflowId};
use crate::segment::{Dss, Flags, Mptcp, OPTION_SPACE, Segment, Signal};
use crate::time::Instant;
use crate::wire::budget;

/// The parts of a connection from which a segment is composed, and that count what leaves. What is
/// announced to the peer, how long it may be silent and which protocol is spoken is not changed
/// here.
pub(crate) struct Composing<'a> {
    pub w: Sending<'a>,
    pub distribution: &'a mut Distribution,
    /// Says what has arrived, and keeps the window that a segment advertises.
    pub recv: &'a mut RecvStream,
    /// The segment, composed in place.
    pub out: &'a mut Segment,
}

impl Composing<'_> {
    /// The window field of a segment on `id`. Records the right edge that it advertises.
    #[inline(always)]
    pub fn window(&mut self, id: SubflowId) -> u16 {
        let plain = self.w.negotiation.is_plain();
        self.w.paths.advertise(id, self.recv, plain)
    }

    /// A segment without payload.
    pub fn control(&mut self, subflow: SubflowId, segment: Segment) -> Outgoing {
        *self.out = segment;
        Outgoing { subflow, kind: SendKind::Control, transmissions: 0, choices: 0, wire_len: segment.wire_len() }
    }

    /// The segment that is about to be sent on `id` has its MPTCP option: adds the others. Returns
    /// its [`Segment::wire_len`]. (What composes data segments is in line: that saves 50
    /// instructions for each.)
    #[inline(always)]
    fn add_options(&mut self, id: SubflowId) -> u32 {
        let (s, segment) = (&self.w.paths.subflows[id], &*self.out);
        // Nearly all segments have timestamps and an MPTCP option at most.
        if s.door.on || !segment.options.signal.is_empty() || (segment.payload.len == 0 && s.reports()) {
            return self.add_rare_options(id);
        }
        40 + s.timestamp_len() + segment.options.mptcp.len().next_multiple_of(4) + segment.payload.len
    }

    fn add_rare_options(&mut self, id: SubflowId) -> u32 {
        let (s, segment) = (&mut self.w.paths.subflows[id], &mut *self.out);
        // RFC 2018 4: blocks leave in every pure acknowledgement. Segments with data or FIN
        // acknowledge too, but do not report duplicates or held segments.
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
    fn complete(&mut self, id: SubflowId, mptcp: Mptcp, signal: Signal) -> Outgoing {
        self.out.options.mptcp = mptcp;
        if !signal.is_empty() {
            self.out.options.signal = signal;
        }
        let wire_len = self.add_options(id);
        Outgoing { subflow: id, kind: SendKind::Control, transmissions: 0, choices: 0, wire_len }
    }

    /// A pure acknowledgement on `id` with this option and signal.
    pub fn signalling(&mut self, now: Instant, id: SubflowId, option: Mptcp, signal: Signal) -> Outgoing {
        let window = self.window(id);
        self.w.paths.subflows[id].make_ack(now, window, self.out);
        self.complete(id, option, signal)
    }

    /// A pure acknowledgement on `id` with this option, and with MP_FAIL if it is due.
    pub fn acknowledgement(&mut self, now: Instant, id: SubflowId, option: Mptcp) -> Outgoing {
        // MP_FAIL does not fit beside timestamps and a mapping: it waits for the next
        // acknowledgement. It does not fit beside the keys (MP_CAPABLE) or the HMAC (MP_JOIN)
        // either. The peer has those already if its data failed a checksum, so they are left out.
        let mapping = matches!(option, Mptcp::Dss(Dss { mapping: Some(_), .. }));
        let signal = if mapping {
            Signal::None
        } else {
            self.w.fallback.signal(now, id, self.w.paths.subflows[id].rto(), self.w.timers)
        };
        let handshake = matches!(option, Mptcp::CapableAck { .. } | Mptcp::JoinAck { .. });
        let option = if handshake && !signal.is_empty() { Mptcp::None } else { option };
        self.signalling(now, id, option, signal)
    }

    /// How many address identifiers fit into a REMOVE_ADDR beside `option` on `id` (RFC 8684
    /// 3.4.2).
    pub fn removal_room(&self, id: SubflowId, option: &Mptcp) -> usize {
        let timestamps = self.w.paths.subflows[id].timestamp_len();
        (OPTION_SPACE - timestamps - option.len().next_multiple_of(4) - 3) as usize
    }

    /// An acknowledgement that carries only `signal`. If an acknowledgement was due, another one
    /// follows, because this one carries no DATA_ACK.
    pub fn about_address(&mut self, now: Instant, id: SubflowId, signal: Signal) -> Outgoing {
        let waits = self.w.paths.subflows[id].acks.are_owed();
        let sent = self.signalling(now, id, Mptcp::None, signal);
        if waits {
            self.w.paths.subflows[id].acks.now();
        }
        sent
    }
}

#[cfg(test)]
mod tests;
