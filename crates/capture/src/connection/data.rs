//! Segments with data: what their sender's account says of them, and what their receiver takes.

use anabranch_pcap::packet::Packet;
use anabranch_stack::segment::Mapping;
use anabranch_stack::seq::Seq;

use super::super::crossing::{Copy, Crossing};
use super::super::mapping::Summed;
use super::super::sender::{Kind, UNMAPPED};
use super::super::sequence::Sort;
use super::super::stream::Arrival;
use super::{Connection, View, arrival};

/// A segment with data, and what was found out about it.
struct Data {
    seq: Seq,
    /// Offset in the data stream, or [`UNMAPPED`].
    place: u64,
    /// First octet and the one after the last, if the mapping is known and the numbers do not overflow.
    data: Option<(u64, u64)>,
    copy: Copy,
    /// TSval.
    stamp: Option<u32>,
    /// It is sent beyond the receiver's window: a zero-window probe.
    probe: bool,
    /// Sender and receiver are seen at different places.
    two_places: bool,
}

impl Connection {
    /// A segment with data passes: at its sender, at its receiver, or at the one place that is both. Returns its place in the data
    /// stream.
    pub(super) fn on_data(&mut self, v: View, p: &Packet<'_>, seq: Seq, mapping: Option<(Mapping, bool)>) -> u64 {
        let plain = self.is_plain();
        let sub = &mut self.subflows[v.i];
        let two_places = sub.near[v.s] != sub.near[1 - v.s];
        let stream = &mut self.streams[v.s];
        let half = &mut sub.halves[v.s];
        half.key_shown |= plain;
        let data = match (plain, half.mapper.iss) {
            (true, Some(iss)) => (seq > iss).then(|| seq - (iss + 1)),
            (true, None) => None,
            _ => {
                let (m, fin) = mapping.as_ref().map_or((None, false), |(m, fin)| (Some(m), *fin));
                half.mapper.resolve(seq, p.len, m, fin, |m| stream.offset(m))
            }
        };
        let place = data.unwrap_or(UNMAPPED);
        let stamp = p.timestamps.map(|t| t.val);
        let copy = Copy { seq: p.seq, len: p.len, id: p.id, stamp: stamp.unwrap_or(0) };
        let data = data.and_then(|d| Some((d, d.checked_add(p.len.into())?)));
        let probe = data.is_some_and(|(d, _)| stream.is_probe(d));
        self.probing = probe;
        let segment = Data { seq, place, data, copy, stamp, probe, two_places };
        let mut kind = None;
        if v.near_sender {
            kind = Some(self.on_departure(v, p, mapping, &segment));
        }
        if v.near_receiver && kind != Some(Kind::Nothing) {
            self.on_arrival(v, p, &segment);
        }
        place
    }

    /// A SYN has data (RFC 7413). Whether the receiver took them, its acknowledgement will tell.
    pub(super) fn on_syn_data(&mut self, v: View, p: &Packet<'_>, syn: Seq) -> u64 {
        let View { i, s, near_sender, near_receiver } = v;
        let seq = syn + 1;
        let half = &mut self.subflows[i].halves[s];
        if near_receiver {
            half.syn_data.get_or_insert((p.time, p.len));
        }
        if near_sender {
            let stamp = p.timestamps.map(|t| t.val);
            let copy = Copy { seq: seq.wire(), len: p.len, id: p.id, stamp: stamp.unwrap_or(0) };
            let end = u64::from(p.len);
            let d = Data { seq, place: 0, data: Some((0, end)), copy, stamp, probe: false, two_places: false };
            self.on_departure(v, p, None, &d);
        }
        0
    }

    /// The SYN of side `s` was acknowledged, up to `ack`, perhaps with data in it.
    pub(super) fn on_syn_acknowledged(&mut self, i: usize, s: usize, ack: Seq) {
        let plain = self.is_plain();
        let half = &mut self.subflows[i].halves[s];
        let (Some((time, len)), Some(iss)) = (half.syn_data.take(), half.mapper.iss) else { return };
        let taken = (ack - (iss + 1)).min(len.into());
        if taken == 0 {
            return;
        }
        if !plain {
            // RFC 8684 appendix B: the numbers of the data, and those of mappings, begin behind those in the SYN.
            half.mapper.in_syn = taken;
            self.streams[s].begin_behind(taken);
        }
        let sub = &mut self.subflows[i];
        if sub.halves[s].exact || sub.is_at(1 - s) {
            let half = &mut sub.halves[s];
            half.exact = true;
            half.sender.queue().iter_mut().for_each(|sent| sent.arrived = true);
            self.take(s, Arrival { time, number: 0, subflow: i as u32, seq: iss + 1, len: taken as u32, data: 0 });
        }
    }

    /// The sender's account of a segment.
    fn on_departure(&mut self, v: View, p: &Packet<'_>, mapping: Option<(Mapping, bool)>, d: &Data) -> Kind {
        let View { i, s, .. } = v;
        let stream = &mut self.streams[s];
        let half = &mut self.subflows[i].halves[s];
        let kind = half.sender.on_data(p.time, d.seq, p.len, d.place, d.stamp, d.probe);
        if kind == Kind::Nothing {
            return kind;
        }
        stream.count_sent(p.len);
        if half.sender.segments == 1 {
            half.order.begin_late(d.seq);
        }
        let first = matches!(kind, Kind::New | Kind::Late);
        if let (true, Some((m, fin))) = (first, &mapping) {
            let dsn = if m.short { stream.offset(m).and_then(|at| stream.dsn(at)) } else { Some(m.dsn) };
            if let (Some(base), Some(dsn)) = (half.mapper.base(), dsn) {
                let start = Seq::unwrap(base.wire().wrapping_add(m.ssn), d.seq);
                if let Some(summed) = Summed::new(start, dsn, m, *fin) {
                    half.checksums.add(d.seq, p.len, p.payload(), summed);
                }
            }
        }
        if let Some((start, end)) = d.data {
            let reinjection = first && stream.note_sent(start, end, i as u32);
            if reinjection {
                half.reinjections += 1;
                half.reinjected.insert(d.seq.0, d.seq.0 + u64::from(p.len));
            }
            let sort = match (first, reinjection) {
                (true, true) => Sort::Reinjection,
                (false, _) if matches!(kind, Kind::Again(_)) => Sort::Retransmission,
                _ => Sort::New,
            };
            self.noted = Some((start, sort));
            stream.sequence.get_or_insert_default().send(p.time, i as u32, sort, start, end);
        }
        if d.two_places {
            let number = match kind {
                Kind::Again(number) | Kind::Probe(number) => number,
                _ => 1,
            };
            let una = half.sender.una().map_or(p.seq, Seq::wire);
            half.crossing.get_or_insert_with(Box::<Crossing>::default).depart(p.time, d.copy, number, una);
        }
        if half.sender.is_one_way() {
            self.flush(i, s, p.time, None);
        }
        if kind == Kind::Late {
            self.on_late(v, p, d);
        }
        kind
    }

    /// A segment is recorded after the acknowledgement of its octets: if they counted as missing, they do no longer.
    fn on_late(&mut self, v: View, p: &Packet<'_>, d: &Data) {
        let View { i, s, .. } = v;
        let sub = &mut self.subflows[i];
        let half = &mut sub.halves[s];
        let missed = half.order.find(d.seq, d.seq + u64::from(p.len));
        let found = self.streams[s].find(d.place, p.len);
        half.fresh += found;
        if half.exact || (v.near_receiver && sub.is_at(1 - s)) {
            return;
        }
        let time = p.time - sub.half_way(s).min(p.time);
        let a = Arrival { time, number: 0, subflow: i as u32, seq: d.seq, len: p.len, data: d.place };
        if found == 0 {
            self.streams[s].estimate(a);
        } else if missed == 0 {
            self.arrive_found(s, &a);
        }
    }

    /// The receiver's account of a segment.
    fn on_arrival(&mut self, v: View, p: &Packet<'_>, d: &Data) {
        let View { i, s, near_sender, .. } = v;
        let sub = &mut self.subflows[i];
        let at_receiver = sub.halves[s].exact || sub.is_at(1 - s);
        let half = &mut sub.halves[s];
        // RFC 9293 3.8.6.1: a probe is refused while the window is closed.
        let closed = d.probe && (p.len == 1 || self.streams[s].is_closed(d.place));
        let refused = at_receiver && (half.refuses(d.stamp, p.seq) || closed);
        half.refused += u64::from(refused);
        let arrival = Arrival { time: p.time, number: 0, subflow: i as u32, seq: d.seq, len: p.len, data: d.place };
        half.probed = Some(arrival).filter(|_| refused && closed && !half.ended);
        if let (true, Some(crossing)) = (d.two_places, &mut half.crossing) {
            crossing.arrive(p.time, d.copy, refused);
        }
        if !at_receiver {
            return;
        }
        if !half.exact {
            // Only now is it clear that this is the receiver's side: what was sent before has arrived, too.
            half.exact = true;
            if near_sender {
                self.flush(i, s, p.time, Some(d.seq));
            }
        }
        if !refused {
            self.take(s, arrival);
        }
    }

    /// Everything in flight counts as arrived, except the segment that begins at `but`, which arrives by itself.
    pub(super) fn flush(&mut self, i: usize, s: usize, now: u64, but: Option<Seq>) {
        let mut waiting = Vec::new();
        for sent in self.subflows[i].halves[s].sender.queue().iter_mut().filter(|sent| !sent.arrived) {
            sent.arrived = true;
            if but != Some(sent.seq) {
                waiting.push(arrival(now, i, sent));
            }
        }
        waiting.into_iter().for_each(|a| self.take(s, a));
    }

    /// A segment arrives: at once or, where arrivals of other subflows are estimated, in order with those.
    #[inline]
    pub(super) fn take(&mut self, s: usize, a: Arrival) {
        if self.streams[s].estimated {
            self.streams[s].estimate(a);
        } else {
            self.sample(s, a.time);
            self.arrive(s, a);
        }
    }
}
