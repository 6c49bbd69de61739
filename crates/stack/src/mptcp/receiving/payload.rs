//! The payload of an arriving segment: its place in the stream, and what becomes of it on its
//! subflow.

use super::{Receiving, Refusal};
use crate::config::Acknowledgement;
use crate::event::{ArrivalKind, Event, SubflowId};
use crate::mptcp::dss::Placed;
use crate::mptcp::negotiation::Mode;
use crate::segment::{Dss, Mapping, Mptcp, Payload, Segment};
use crate::seq::Seq;
use crate::tcp::receiver::reassembly::{Arrival, Piece};
use crate::time::Instant;
use crate::wire::checksum::Sum;

impl Receiving<'_> {
    /// Takes the payload of `seg` as far as it is new, mapped and intact.
    pub fn take_payload(&mut self, now: Instant, id: SubflowId, seg: &Segment) -> Result<(), Refusal> {
        let s = &self.paths.subflows[id];
        let start = Seq::unwrap(seg.seq, s.receiver.rcv_nxt);
        if s.room_before_fin(start) == 0 {
            return Ok(());
        }
        let place = self.data_offset(id, seg, start)?;
        let place = place.map(|(data, octets)| (data, octets.min(self.room_before_end(id, start, data))));
        if place.is_some_and(|(_, octets)| octets == 0) {
            return Ok(());
        }
        let Some((data, payload)) = place.and_then(|(data, octets)| Some((data, self.mapped_part(id, seg, octets)?)))
        else {
            // Without a mapping the octets have no place in the stream. They are not acknowledged,
            // so the peer retransmits them.
            return self.on_unmapped(id, start);
        };
        let partial = payload.len < seg.payload.len;
        let len = payload.len;
        let Some(end) = data.checked_add(u64::from(len)).filter(|&end| self.recv.accepts(end)) else {
            // Beyond the window we advertised (RFC 8684 3.3.4; RFC 9293 3.10.7.4, first check).
            self.paths.subflows[id].acks.now();
            return Ok(());
        };
        if start > self.paths.subflows[id].receiver.rcv_nxt
            && self.paths.would_hoard(id, len, self.config.receive_buffer)
        {
            self.paths.subflows[id].acks.now();
            return Ok(());
        }
        if !self.verify(id, seg, payload, start, data)? {
            return Ok(());
        }
        let fresh = self.recv.arrive(data, end);
        if self.recv.is_abandoned() && fresh > 0 {
            return Err(Refusal::Unread);
        }
        let before = self.recv.nxt();
        let kind = if self.config.acknowledgement == Acknowledgement::Coupled {
            self.take_coupled(now, id, start, data, len)
        } else {
            self.take_independent(now, id, Piece { data, len }, start, partial)
        };
        let rcv_nxt = self.paths.subflows[id].receiver.rcv_nxt;
        self.paths.members[id].mappings.forget_below(rcv_nxt);
        self.paths.members[id].checks.forget_below(rcv_nxt);
        if kind == ArrivalKind::HeldInSubflow {
            self.paths.members[id].unmapped.1 = 0;
        }
        let intact = payload.offset == data;
        // All of it had arrived before; this copy waits for a hole or the rest of its mapping.
        let again = fresh == 0 && matches!(kind, ArrivalKind::HeldInSubflow | ArrivalKind::AheadInData);
        let kind = if again { ArrivalKind::DuplicateInData } else { kind };
        self.events.push_back(Event::Arrived { subflow: id, data, len, fresh: fresh as u32, kind, intact });
        if self.recv.nxt() > before {
            self.events.note_readable();
        }
        Ok(())
    }

    /// Number of octets before the end of the peer's stream for a payload at sequence number
    /// `start` and data offset `data`; `u64::MAX` if neither a DATA_FIN nor a FIN has arrived.
    /// Octets behind a DATA_FIN (RFC 8684 3.3.3) are ignored like octets behind a FIN. After a
    /// fallback to TCP only the FIN ends the stream.
    fn room_before_end(&self, id: SubflowId, start: Seq, data: u64) -> u64 {
        let end = self.recv.end().filter(|_| !self.negotiation.is_plain());
        let room = end.map_or(u64::MAX, |end| end.saturating_sub(data));
        room.min(self.paths.subflows[id].room_before_fin(start))
    }

    /// Puts a mapped payload into the data stream if a subflow acknowledges a segment only once its
    /// data is next in the data stream, too (coupled acknowledgement).
    fn take_coupled(&mut self, now: Instant, id: SubflowId, start: Seq, data: u64, len: u32) -> ArrivalKind {
        let (kind, at_once) = self.place_coupled(id, start, data, len);
        if kind != ArrivalKind::AheadInData {
            self.paths.subflows[id].on_payload_done(now, len, at_once);
        }
        kind
    }

    /// Puts a mapped payload into the data stream if subflow and data are acknowledged
    /// independently (RFC 8684 3.3.2). `piece`: the range of data that begins at subflow sequence
    /// number `start`. `partial`: the receive window takes only the first part of the payload.
    fn take_independent(
        &mut self,
        now: Instant,
        id: SubflowId,
        piece: Piece,
        start: Seq,
        partial: bool,
    ) -> ArrivalKind {
        let s = &mut self.paths.subflows[id];
        let held_before = s.receiver.has_holes();
        let next = s.receiver.rcv_nxt;
        let arrival = s.receiver.accept(start, piece.data, piece.len, self.recv.delivered());
        let m = &self.paths.members[id];
        let unverified = self.fallback.has_failed(id) || !m.checks.is_empty() || !m.unverified.is_empty();
        if unverified {
            self.paths.hold_unverified(id, next, self.recv.delivered());
            self.release(id);
        }
        let first = self.recv.place_delivered(id);
        let kind = match arrival {
            Arrival::Duplicate => ArrivalKind::DuplicateInSubflow,
            Arrival::Held => ArrivalKind::HeldInSubflow,
            // In order on its subflow, but its checksum cannot be verified yet.
            Arrival::InOrder if first.is_none() => ArrivalKind::AheadInData,
            Arrival::InOrder => ArrivalKind::InOrder,
        };
        let kind = match first {
            None | Some(Placed::InOrder) => kind,
            Some(Placed::Ahead) => ArrivalKind::AheadInData,
            Some(Placed::Duplicate) => ArrivalKind::DuplicateInData,
        };
        let at_once = arrival != Arrival::InOrder || held_before || partial;
        self.tune(now, id, piece.len);
        self.paths.subflows[id].on_payload_done(now, piece.len, at_once);
        kind
    }

    /// The part of the payload that can be taken if its first `octets` octets are mapped. With
    /// checksums, the sum of a part is known only if the segment's own mapping ends with that part.
    fn mapped_part(&self, id: SubflowId, seg: &Segment, octets: u64) -> Option<Payload> {
        let payload = seg.payload;
        let whole = octets >= u64::from(payload.len);
        if !self.config.checksum || self.fallback.has_failed(id) || self.negotiation.is_plain() {
            return Some(if whole { payload } else { Payload { len: octets as u32, ..payload } });
        }
        let (ssn, len) = match seg.options.mptcp {
            Mptcp::Dss(Dss { mapping: Some(m), data_fin, .. }) => {
                (m.ssn, u32::from(m.len).saturating_sub(data_fin.into()))
            }
            Mptcp::CapableAck { data: Some((len, _)), .. } => (1, u32::from(len)),
            _ => return whole.then_some(payload),
        };
        // What follows the segment's own mapping may be mapped, too, from before. Its checksum is
        // not here, and its octets' sum is in that of the whole.
        if len > 0 && len < payload.len && self.paths.subflows[id].mapped_seq(ssn) == seg.seq {
            let sum = if payload.rest == 0 { payload.sum } else { Sum(payload.sum).plus(Sum(!payload.rest)).0 };
            return Some(Payload { len, sum, rest: 0, ..payload });
        }
        whole.then_some(payload)
    }

    /// The data offset of the payload of `seg`, and how many octets from there on are mapped
    /// contiguously.
    fn data_offset(&mut self, id: SubflowId, seg: &Segment, start: Seq) -> Result<Option<(u64, u64)>, Refusal> {
        let all = u64::from(seg.payload.len);
        let Mode::Mptcp(k) = *self.negotiation.mode() else {
            let s = &self.paths.subflows[id];
            let infinite = match (self.fallback.untold_keys(), seg.options.mptcp) {
                (Some(keys), Mptcp::Dss(Dss { mapping: Some(m @ Mapping { len: 0, .. }), .. })) => Some((
                    Seq::unwrap(s.mapped_seq(m.ssn), s.receiver.rcv_nxt),
                    keys.mapped_offset(&m, self.recv.nxt()),
                )),
                _ => None,
            };
            let told = self.fallback.is_told(Seq::unwrap(seg.ack, s.sender.una), infinite, self.recv.nxt());
            return Ok(if told { self.plain_place(start, all) } else { None });
        };
        if self.fallback.has_failed(id) {
            // 3.7: after a fallback, one infinite mapping covers everything, whatever mappings say.
            return Ok(self.plain_place(start, all));
        }
        let s = &self.paths.subflows[id];
        let noted = match seg.options.mptcp {
            Mptcp::Dss(Dss { mapping: Some(m), data_fin, .. }) => {
                self.paths.members[id].mapping_received = true;
                let data = k.mapped_offset(&m, self.recv.nxt());
                let octets = u64::from(m.len).saturating_sub(u64::from(data_fin));
                let at = Seq::unwrap(s.mapped_seq(m.ssn), s.receiver.rcv_nxt);
                if at == start && octets == all {
                    return Ok(Some((data, all)));
                }
                octets == 0 || self.note_mapping(id, &k, seg, at, data, octets)?
            }
            // 3.1: the first data after the handshake maps to the first data sequence number.
            Mptcp::CapableAck { data: Some((octets, _)), .. } => {
                self.paths.members[id].mapping_received = true;
                let (first, data) = (s.first_peers(), u64::from(s.fast_open.rx));
                if start == first && u64::from(octets) == all {
                    return Ok(Some((data, all)));
                }
                self.note_mapping(id, &k, seg, first, data, octets.into())?
            }
            _ => true,
        };
        Ok(if noted { self.paths.members[id].mappings.find(start) } else { None })
    }

    /// Plain TCP: the data offset of the sequence number `start`, with `all` octets mapped.
    fn plain_place(&self, start: Seq, all: u64) -> Option<(u64, u64)> {
        let irs = self.paths.subflows[self.fallback.subflow()].irs;
        self.fallback.rx(irs, start).map(|data| (data, all))
    }
}
