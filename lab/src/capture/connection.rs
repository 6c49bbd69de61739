//! One MPTCP connection (or one that fell back to TCP): its subflows, its two data streams, its keys.
//!
//! Each packet of a subflow is looked at in two roles: as what its sender sent, at the place nearest to the sender, and as
//! what its receiver got, at the place nearest to the receiver. With a single capture both are the same place. Its
//! acknowledgement, likewise, is news to the sender of the other direction and a statement of that direction's receiver.

use anabranch_stack::mptcp::dss::Placed;
use anabranch_stack::segment::{DataAck, Dss, Flags, Mapping};
use anabranch_stack::seq::Seq;
use anabranch_stack::tcp::receiver::Piece;
use anabranch_stack::wire::mptcp::MptcpOption;

use super::crossing::{Copy, Crossing};
use super::handshake::{Fallback, Joins, Signals};
use super::mapping::Summed;
use super::order::{LATE, Place};
use super::packet::Packet;
use super::sender::{Kind, Sent, UNMAPPED};
use super::sequence::Sort;
use super::stream::{Arrival, Stream};
use super::subflow::{CLIENT, Opening, SERVER, Subflow};
use crate::metrics::series::Sample;

/// Subflows without data that a connection keeps beside its first: joins may fail, or be tried, by the hundred thousand.
const SPARE: usize = 32;

/// One connection.
#[derive(Debug)]
pub struct Connection {
    /// Running number, in order of first packets.
    pub number: u64,
    /// First packet, and last.
    pub began: u64,
    pub last: u64,
    /// First packet of the whole capture.
    origin: u64,
    /// It is known which connection the subflows belong to.
    pub matched: bool,
    /// It is TCP and never was anything else.
    pub tcp: bool,
    /// Keys of client and server.
    pub keys: [Option<u64>; 2],
    /// Flag A of a handshake: DSS checksums are required.
    pub checksum: bool,
    /// Why it is not multipath.
    pub fallback: Option<Fallback>,
    /// Data sequence signals have come to a receiver.
    pub(super) dss_seen: bool,
    /// Subflows in order of first packets.
    pub subflows: Vec<Subflow>,
    /// Data of the client, data of the server.
    pub streams: [Stream; 2],
    /// Signals.
    pub signals: Signals,
    /// Subflows without data that had to make room for others, and their joins.
    pub dropped: u64,
    pub dropped_joins: Joins,
    /// Tokens that became known and are to be registered.
    pub tokens: Vec<u32>,
    pieces: Vec<Piece>,
    arrived: Vec<Sent>,
}

impl Connection {
    /// A connection whose first packet is seen at `now`, in a capture that began at `origin`.
    pub fn new(number: u64, now: u64, origin: u64, matched: bool, tcp: bool) -> Self {
        let stream = || Stream::starting(now - origin, tcp);
        Self {
            number,
            began: now,
            last: now,
            origin,
            matched,
            tcp,
            keys: [None; 2],
            checksum: false,
            fallback: None,
            dss_seen: false,
            subflows: Vec::new(),
            streams: [stream(), stream()],
            signals: Signals::default(),
            dropped: 0,
            dropped_joins: Joins::default(),
            tokens: Vec::new(),
            pieces: Vec::new(),
            arrived: Vec::new(),
        }
    }

    /// Every subflow is closed; joins that came to nothing do not count.
    pub fn is_closed(&self) -> bool {
        self.subflows.iter().all(|f| f.is_closed() || (f.opening == Opening::Join && f.is_half_open()))
    }

    /// No data have been seen, in either direction.
    pub fn is_empty(&self) -> bool {
        self.streams.iter().all(|s| s.sent == 0)
    }

    /// Adds a subflow and returns its number. One more without data than [`SPARE`] takes the place of another such, which is
    /// returned.
    pub fn add(&mut self, subflow: Subflow) -> (usize, Option<Subflow>) {
        let spare = || self.subflows.iter().enumerate().skip(1).filter(|(_, f)| f.is_empty());
        if self.subflows.len() <= SPARE || spare().count() < SPARE {
            self.subflows.push(subflow);
            return (self.subflows.len() - 1, None);
        }
        // Rather one that was never answered or is over; of these the one that was heard of least recently.
        let (i, _) =
            spare().min_by_key(|(_, f)| (!f.is_half_open() && !f.is_closed(), f.last)).expect("there are some");
        let before = std::mem::replace(&mut self.subflows[i], subflow);
        self.dropped += 1;
        self.dropped_joins.add(&before, self.keys);
        (i, Some(before))
    }

    /// Both sides closed in order: by DATA_FINs that were acknowledged or, in TCP, by FINs.
    pub fn is_complete(&self) -> bool {
        let by_data = self.streams.iter().all(|s| s.end_acked);
        let by_fins = || self.subflows.iter().any(|s| s.halves.iter().all(|h| h.fin_acked));
        by_data || ((self.tcp || self.fallback.is_some()) && by_fins())
    }

    /// A packet of subflow `i`.
    pub fn on_packet(&mut self, i: usize, p: &Packet<'_>) {
        let sub = &mut self.subflows[i];
        let (s, now) = (sub.side(p), p.time);
        let o = 1 - s;
        let place = sub.place(p.tap, s);
        sub.measure(place, s, p);
        let (near_s, near_o) = (sub.near[s] == place, sub.near[o] == place);
        if !near_s && !near_o {
            return;
        }
        // Its receiver takes nothing from a damaged packet, neither data nor acknowledgement nor key: it is as good as lost.
        if near_o && !(near_s && sub.is_at(s)) && sub.halves[s].is_damaged(p) {
            return;
        }
        if let (true, Some(ts)) = (near_o, p.timestamps) {
            sub.halves[s].note_timestamp(p.seq, p.seq_len(), ts.val);
        }
        if near_s && p.flags.has(Flags::ACK) {
            (sub.halves[o].last_ack, sub.halves[o].acked_since) = (p.ack, true);
        }
        if sub.opening == Opening::Capable && s == sub.opener && near_o && !sub.halves[s].key_shown {
            sub.halves[s].key_shown = p.signals().any(|option| matches!(option, MptcpOption::CapableAck { .. }));
        }
        self.last = self.last.max(now);
        sub.last = self.last;
        let syn = p.flags.has(Flags::SYN);
        let seq = sub.halves[s].unwrap(p.seq);
        if near_s {
            sub.packets += 1;
            sub.cut += u64::from(p.cut);
            sub.malformed += u64::from(p.malformed);
        }
        if syn {
            sub.syn[s] = true;
            (sub.scales[s], sub.mss[s]) = (p.scale, p.mss);
            let half = &mut sub.halves[s];
            half.mapper.iss = Some(seq);
            half.sender.begin(seq + 1);
            half.order.begin(seq + 1);
        }
        if self.tcp {
            // Of a connection that began before the capture the first number seen counts as the first.
            sub.halves[s].mapper.iss.get_or_insert(Seq(seq.0 - 1));
        }
        sub.halves[s].seen(seq + u64::from(p.seq_len()));
        let first_data = if p.signals { self.on_signals(i, s, p, near_s) } else { None };
        if near_o {
            self.dss_seen |= p.dss.is_some() || first_data.is_some();
            self.note_fallback(i, s, p);
        }
        if p.flags.has(Flags::ACK) {
            self.on_ack(i, s, p, near_s, near_o);
        }
        let mapping = self.on_dss(i, s, p).or(first_data);
        if p.len > 0 && !syn {
            self.on_data(i, s, p, seq, mapping, near_s, near_o);
        }
        let sub = &mut self.subflows[i];
        if p.flags.has(Flags::FIN) {
            sub.halves[s].fin.get_or_insert(seq + u64::from(p.len));
        }
        if p.flags.has(Flags::RST) {
            sub.reset.get_or_insert(s);
            // Who sends a reset takes no more data; who gets one neither, if it is exactly next (RFC 5961 3.2).
            let next = sub.halves[s].order.nxt().is_none_or(|nxt| nxt == seq);
            for (half, over) in [(o, near_s), (s, near_o && next)] {
                if over {
                    sub.halves[half].ended = true;
                    let held = sub.halves[half].order.drop_held();
                    self.streams[half].hold(held, (0, 0));
                }
            }
        }
        self.go_on(i, now);
    }

    /// Lets pass what is due by `now`: estimates, what the capture lacks, samples.
    #[inline]
    fn go_on(&mut self, i: usize, now: u64) {
        for s in [CLIENT, SERVER] {
            let mut until = now;
            if self.streams[s].estimated {
                until = now.saturating_sub(self.longest_way(s));
                while let Some(a) = self.streams[s].release(until) {
                    self.arrive(s, a);
                }
            }
            let late = until.saturating_sub(LATE);
            if self.subflows[i].halves[s].order.is_ahead(late) {
                self.settle_subflow(i, s, until, late);
            }
            self.streams[s].settle(until, late);
            self.sample(s, until);
        }
    }

    fn longest_way(&self, s: usize) -> u64 {
        self.subflows.iter().map(|f| f.half_way(s)).max().unwrap_or(0)
    }

    /// The capture is over, or the connection: nothing waits any more.
    pub fn finish(&mut self) {
        for s in [CLIENT, SERVER] {
            for i in 0..self.subflows.len() {
                // Acknowledgements that nobody saw: what was sent has to count as arrived.
                if !self.subflows[i].halves[s].sender.is_acknowledged() {
                    self.flush(i, s, self.last, None);
                }
            }
            while let Some(a) = self.streams[s].release(u64::MAX) {
                self.arrive(s, a);
            }
            for i in 0..self.subflows.len() {
                self.settle_subflow(i, s, self.last, u64::MAX);
            }
            self.streams[s].settle_all(self.last);
            self.sample(s, self.last);
        }
    }

    /// The data stream is the subflow's, as in TCP.
    fn is_plain(&self) -> bool {
        self.tcp || matches!(self.fallback, Some(Fallback::SynAck | Fallback::FirstData))
    }

    // ---- the data level ----------------------------------------------------------------------------------------

    /// The data sequence signal: acknowledgement, DATA_FIN; returns the mapping.
    #[inline]
    fn on_dss(&mut self, i: usize, s: usize, p: &Packet<'_>) -> Option<(Mapping, bool)> {
        let dss: Dss = p.dss?;
        let o = 1 - s;
        if let (Some(ack), Some(first)) = (dss.data_ack, self.streams[o].first_dsn) {
            let near = first.wrapping_add(self.streams[o].data_ack);
            let ahead = match ack {
                DataAck::Eight(dsn) => dsn.wrapping_sub(near) as i64,
                DataAck::Four(low) => i64::from(low.wrapping_sub(near as u32) as i32),
            };
            let window = self.subflows[i].window(s, p);
            if let Some(ack) = self.streams[o].data_ack.checked_add_signed(ahead) {
                self.streams[o].on_data_ack(p.time, ack, window);
            }
        }
        let m = dss.mapping?;
        if dss.data_fin {
            // RFC 8684 3.3.3: it is the mapping's last octet.
            let stream = &mut self.streams[s];
            if let Some(end) = stream.offset(&m).and_then(|at| at.checked_add(u64::from(m.len).checked_sub(1)?)) {
                stream.on_data_fin(end);
            }
        }
        if m.len == 0 {
            self.fallback.get_or_insert(Fallback::InfiniteMapping);
        }
        Some((m, dss.data_fin))
    }

    fn on_ack(&mut self, i: usize, s: usize, p: &Packet<'_>, near_s: bool, near_o: bool) {
        let (o, now) = (1 - s, p.time);
        let plain = self.is_plain();
        let sub = &mut self.subflows[i];
        let half = &mut sub.halves[o];
        let ack = half.unwrap(p.ack);
        half.seen(ack);
        if half.fin.is_some_and(|fin| ack > fin) {
            half.fin_acked = true;
        }
        if (half.exact && near_s) || (!half.exact && near_o) {
            half.order.on_ack(now, ack);
        }
        if plain {
            let first = half.mapper.iss.map_or(ack, |iss| iss + 1);
            let octets = (ack - first).saturating_sub(u64::from(half.fin_acked));
            let window = sub.window(s, p);
            self.streams[o].on_data_ack(now, octets, window);
        }
        if near_o {
            self.arrived.clear();
            let half = &mut sub.halves[o];
            let pure = p.len == 0 && p.seq_len() == 0;
            half.sender.on_ack(now, ack, &p.sack, p.timestamps.map(|t| t.ecr), pure, &mut self.arrived);
            if !half.exact && !self.arrived.is_empty() {
                let time = now - sub.half_way(o).min(now);
                for sent in &self.arrived {
                    let a = arrival(time, i, sent);
                    self.streams[o].estimate(a);
                }
            }
            let half = &mut self.subflows[i].halves[o];
            if let (Some(una), Some(nxt)) = (half.sender.una(), half.order.nxt()) {
                half.mapper.forget_below(una.min(nxt));
                if !half.reinjected.is_empty() {
                    half.reinjected.remove_below(una.min(nxt).0);
                }
            }
        }
    }

    #[allow(clippy::too_many_arguments)] // one packet's facts, each used once
    fn on_data(
        &mut self,
        i: usize,
        s: usize,
        p: &Packet<'_>,
        seq: Seq,
        mapping: Option<(Mapping, bool)>,
        near_s: bool,
        near_o: bool,
    ) {
        let (now, o) = (p.time, 1 - s);
        let plain = self.is_plain();
        let sub = &mut self.subflows[i];
        let at_receiver = sub.halves[s].exact || sub.is_at(o);
        let two_places = sub.near[s] != sub.near[o];
        let stream = &mut self.streams[s];
        let half = &mut sub.halves[s];
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
        let end = data.and_then(|d| d.checked_add(p.len.into()));
        let data = data.filter(|_| end.is_some());
        let probe = data.is_some_and(|d| stream.edge > 0 && d >= stream.edge);
        if near_s {
            stream.count_sent(p.len);
            let kind = half.sender.on_data(now, seq, p.len, place, stamp, probe);
            if kind == Kind::New {
                if let Some((m, fin)) = &mapping {
                    let dsn = if m.short { stream.offset(m).and_then(|at| stream.dsn(at)) } else { Some(m.dsn) };
                    if let (Some(iss), Some(dsn)) = (half.mapper.iss, dsn) {
                        let start = Seq::unwrap(iss.wire().wrapping_add(m.ssn), seq);
                        if let Some(summed) = Summed::new(start, dsn, m, *fin) {
                            half.checksums.add(seq, p.len, p.payload(), summed);
                        }
                    }
                }
            }
            if let (Some(data), Some(end)) = (data, end) {
                let reinjection = kind == Kind::New && stream.note_sent(data, end, i as u32);
                if reinjection {
                    half.reinjections += 1;
                    half.reinjected.insert(seq.0, seq.0 + u64::from(p.len));
                }
                let sort = match (kind, reinjection) {
                    (Kind::New, false) => Sort::New,
                    (Kind::New, true) => Sort::Reinjection,
                    _ => Sort::Retransmission,
                };
                stream.sequence.get_or_insert_default().send(now, i as u32, sort, data, end);
            }
            if two_places {
                let number = match kind {
                    Kind::Again(number) => number,
                    _ => 1,
                };
                let una = half.sender.una().map_or(p.seq, Seq::wire);
                half.crossing.get_or_insert_with(Box::<Crossing>::default).depart(now, copy, number, una);
            }
            if half.sender.is_one_way() {
                self.flush(i, s, now, None);
            }
        }
        if near_o {
            let half = &mut self.subflows[i].halves[s];
            // RFC 9293 3.8.6.1: the octet of a probe is refused while the window is closed.
            let refused = at_receiver && (half.refuses(stamp, p.seq) || (probe && p.len == 1));
            half.refused += u64::from(refused);
            if let (true, Some(crossing)) = (two_places, &mut half.crossing) {
                crossing.arrive(now, copy, refused);
            }
            if at_receiver {
                if !half.exact {
                    // What was sent before it was clear that this is the receiver's side has arrived, too.
                    half.exact = true;
                    if near_s {
                        self.flush(i, s, now, Some(seq));
                    }
                }
                if !refused {
                    let a = Arrival { time: now, number: 0, subflow: i as u32, seq, len: p.len, data: place };
                    self.take(s, a);
                }
            }
        }
    }

    /// Everything in flight has arrived, `but` what begins there, which will.
    fn flush(&mut self, i: usize, s: usize, now: u64, but: Option<Seq>) {
        let mut waiting = Vec::new();
        for sent in self.subflows[i].halves[s].sender.queue().iter_mut().filter(|sent| !sent.arrived) {
            sent.arrived = true;
            if but != Some(sent.seq) {
                waiting.push(arrival(now, i, sent));
            }
        }
        waiting.into_iter().for_each(|a| self.take(s, a));
    }

    /// A segment arrives: now, or after estimates that may come before it.
    #[inline]
    fn take(&mut self, s: usize, a: Arrival) {
        if self.streams[s].estimated {
            self.streams[s].estimate(a);
        } else {
            self.sample(s, a.time);
            self.arrive(s, a);
        }
    }

    // ---- the receiver ------------------------------------------------------------------------------------------

    /// The same steps, in the same order, as the engine's receiver takes (`stack::mptcp::connection`).
    #[inline]
    fn arrive(&mut self, s: usize, a: Arrival) {
        self.sample(s, a.time);
        let (i, now) = (a.subflow as usize, a.time);
        let stream = &mut self.streams[s];
        let half = &mut self.subflows[i].halves[s];
        let held = half.order.held();
        let before = stream.nxt();
        self.pieces.clear();
        if a.data == UNMAPPED {
            stream.unmapped += if self.tcp { 0 } else { u64::from(a.len) };
            half.order.pass(a.seq, a.len, &mut self.pieces);
            self.place_pieces(i, s, now, held, before);
            return;
        }
        let fresh = stream.arrive(now, a.data, a.len);
        let placed = half.order.accept(a.seq, a.data, a.len, &mut self.pieces);
        half.order.give_up_first();
        let mut ahead = placed == Place::Held;
        for (k, piece) in self.pieces.iter().enumerate() {
            let placed = stream.place(piece.data, piece.len, a.subflow);
            ahead |= k == 0 && placed == Placed::Ahead;
        }
        stream.hold(held, half.order.held());
        half.acked_since &= self.pieces.is_empty();
        half.fresh += fresh;
        half.duplicates += u64::from(fresh == 0);
        if fresh > 0 && !half.reinjected.is_empty() && half.reinjected.containing(a.seq.0).is_some() {
            half.useful += 1;
        }
        stream.account(now, a.data, fresh, ahead, before);
    }

    /// What the subflow's receiver acknowledged not after `late` has arrived, seen or not.
    fn settle_subflow(&mut self, i: usize, s: usize, now: u64, late: u64) {
        let stream = &mut self.streams[s];
        let order = &mut self.subflows[i].halves[s].order;
        let (held, before) = (order.held(), stream.nxt());
        self.pieces.clear();
        order.settle(late, &mut self.pieces);
        if !self.pieces.is_empty() {
            self.place_pieces(i, s, now, held, before);
        }
    }

    fn place_pieces(&mut self, i: usize, s: usize, now: u64, held: (u64, u64), before: u64) {
        let stream = &mut self.streams[s];
        for piece in &self.pieces {
            stream.place(piece.data, piece.len, i as u32);
        }
        stream.hold(held, self.subflows[i].halves[s].order.held());
        stream.account(now, 0, 0, false, before);
    }

    // ---- over time ---------------------------------------------------------------------------------------------

    #[inline]
    fn sample(&mut self, s: usize, until: u64) {
        let until = until.saturating_sub(self.origin);
        let stream = &mut self.streams[s];
        if stream.series.as_ref().is_some_and(|series| series.due() <= until) {
            self.take_samples(s, until);
        }
    }

    fn take_samples(&mut self, s: usize, until: u64) {
        let Some(mut series) = self.streams[s].series.take() else { return };
        let stream = &self.streams[s];
        while series.due() <= until {
            series.take(|at, out| {
                for (i, sub) in self.subflows.iter().enumerate() {
                    let half = &sub.halves[s];
                    let (own, held) = (half.order.held(), stream.held_by(i));
                    out.push(Sample {
                        at,
                        connection: 0,
                        subflow: i as u32,
                        cwnd: f64::NAN,
                        ssthresh: f64::NAN,
                        srtt: half.sender.srtt_now(),
                        rtt_samples: half.sender.rtt_samples(),
                        rto: f64::NAN,
                        in_flight: half.sender.in_flight(),
                        delivered: half.fresh,
                        ooo_buffer: own.0 + held.0,
                        ooo_buffer_bytes: own.1 + held.1,
                    });
                }
            });
        }
        self.streams[s].series = Some(series);
    }
}

fn arrival(time: u64, i: usize, sent: &Sent) -> Arrival {
    Arrival { time, number: 0, subflow: i as u32, seq: sent.seq, len: (sent.end - sent.seq) as u32, data: sent.data }
}
