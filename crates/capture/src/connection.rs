//! One MPTCP connection (or one that fell back to TCP): its subflows, its two data streams, its keys.
//!
//! Each packet of a subflow counts twice: at the place nearest to its sender as a packet sent, and at the place nearest to its
//! receiver as a packet received. With a single capture both are the same place. The acknowledgement in it, likewise, is
//! received by the sender of the other direction, and sent by that direction's receiver.

use anabranch_pcap::packet::Packet;
use anabranch_stack::segment::Flags;
use anabranch_stack::seq::Seq;
use anabranch_stack::tcp::receiver::Piece;
use anabranch_stack::wire::mptcp::MptcpOption;

use super::handshake::{Fallback, Joins, Signals};
use super::order::LATE;
use super::sender::{Sent, UNMAPPED};
use super::sequence::Sort;
use super::stream::{Arrival, Stream};
use super::subflow::{CLIENT, Integrity, Opening, SERVER, Subflow};
use super::version0::Version;
use super::waiting::Waiting;
use admission::Admission;
use doubt::Doubts;

mod acknowledging;
mod admission;
mod data;
mod doubt;
mod receiving;
mod signals;
mod watching;

/// The same as [`LATE`] for the account of waiting.
const LATE_HERE: u64 = 1_000_000;

/// How many subflows without data a connection keeps beside its first: a capture may have hundreds of thousands of failed joins.
const SPARE: usize = 32;

/// Where a packet was seen.
#[derive(Clone, Copy, Debug)]
struct View {
    /// Number of the subflow.
    i: usize,
    /// The side that sent it.
    s: usize,
    /// The place of the capture is the nearest one to the packet's sender.
    near_sender: bool,
    /// The place of the capture is the nearest one to the packet's receiver.
    near_receiver: bool,
}

/// One connection.
#[derive(Clone, Debug)]
pub struct Connection {
    /// Running number, in order of first packets.
    pub number: u64,
    /// Times of the first packet and of the last.
    pub began: u64,
    pub last: u64,
    /// Time of the first packet of the whole capture.
    origin: u64,
    /// It is known which connection the subflows belong to.
    pub matched: bool,
    /// It is TCP and never was anything else, as far as options show that are not cut.
    pub tcp: bool,
    /// The options of its data are cut: whether it is MPTCP cannot be told, or where the data belong. It is measured as TCP.
    pub opaque: bool,
    /// A mapping was seen.
    mapped: bool,
    /// The version of MPTCP, if an MP_CAPABLE was seen.
    pub version: Option<Version>,
    /// Keys of client and server.
    pub keys: [Option<u64>; 2],
    /// Flag A of a handshake: DSS checksums are required.
    pub checksum: bool,
    /// Why it fell back to TCP, if it did.
    pub fallback: Option<Fallback>,
    /// Data sequence signals have come to a receiver.
    pub(super) dss_seen: bool,
    /// Subflows in order of first packets.
    pub subflows: Vec<Subflow>,
    /// Data of the client, data of the server.
    pub streams: [Stream; 2],
    /// Signals.
    pub signals: Signals,
    /// How many subflows without data were dropped to make room for others, and counts of their joins.
    pub dropped: u64,
    pub dropped_joins: Joins,
    /// Tokens that have become known and are not yet in the analysis's table.
    pub tokens: Vec<u32>,
    /// What each side's subflows wait for, if that was asked for.
    pub waiting: Option<Box<[Waiting; 2]>>,
    /// Packets that wait until it is clear whether the first of them was damaged.
    doubts: Option<Box<Doubts>>,
    /// The present packet is a probe of a closed window.
    probing: bool,
    /// What the present packet says of the data: DATA_ACK as a data offset, and the window.
    told: Option<(u64, Option<u64>)>,
    /// Where in the data stream the octets are that the present packet's sender sends, and why.
    pub noted: Option<(u64, Sort)>,
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
            opaque: false,
            mapped: false,
            version: None,
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
            waiting: None,
            doubts: None,
            probing: false,
            told: None,
            noted: None,
            pieces: Vec::new(),
            arrived: Vec::new(),
        }
    }

    /// Every subflow is closed, apart from joins that were never answered.
    pub fn is_closed(&self) -> bool {
        self.subflows.iter().all(|f| f.is_closed() || (f.opening == Opening::Join && f.is_half_open()))
    }

    /// No data have been seen, in either direction.
    pub fn is_empty(&self) -> bool {
        self.streams.iter().all(|s| s.sent == 0)
    }

    /// Notes that the options of the data in `p` are cut; returns whether the connection seemed to be one of MPTCP.
    #[cold]
    pub fn note_cut_data(&mut self) -> bool {
        if self.mapped || self.subflows.len() > 1 {
            return false;
        }
        self.opaque = true;
        self.matched = true;
        !std::mem::replace(&mut self.tcp, true)
    }

    /// It began before the capture, and no data have been seen.
    pub fn is_idle(&self) -> bool {
        self.is_empty() && self.subflows.iter().all(|f| f.opening == Opening::Unseen)
    }

    /// It was taken for TCP because it began before the capture, or its SYN was cut.
    pub fn seemed_tcp(&self) -> bool {
        let unknown = |f: &Subflow| f.opening == Opening::Unseen || f.cut_syn != [false; 2];
        self.tcp && !self.opaque && self.subflows.iter().all(unknown)
    }

    /// Adds a subflow and returns its number. If more than [`SPARE`] subflows have no data, it takes the place of one of them,
    /// which is returned, too.
    pub fn add(&mut self, subflow: Subflow) -> (usize, Option<Subflow>) {
        let spare = || self.subflows.iter().enumerate().skip(1).filter(|(_, f)| f.is_empty());
        if self.subflows.len() <= SPARE || spare().count() < SPARE {
            self.subflows.push(subflow);
            return (self.subflows.len() - 1, None);
        }
        // Preferably one that was never answered or is closed; among equals the one with the oldest last packet.
        let (i, _) =
            spare().min_by_key(|(_, f)| (!f.is_half_open() && !f.is_closed(), f.last)).expect("there are some");
        let before = std::mem::replace(&mut self.subflows[i], subflow);
        self.dropped += 1;
        self.dropped_joins.add(&before, self.key_tokens());
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
        self.noted = None;
        if p.flags.has(Flags::SYN) {
            if p.flags.has(Flags::ACK) && self.keeps_answer(i, p) {
                return;
            }
        } else if !self.subflows[i].answers.is_empty() {
            self.choose_answer(i, Some(p));
        }
        if self.doubts.is_some() {
            return self.wait(i, p);
        }
        match self.integrity(i, p) {
            Integrity::Whole => self.work_in(i, p),
            Integrity::Damaged => {}
            Integrity::Doubtful => self.wait(i, p),
        }
    }

    /// Works in a packet of subflow `i` that was not damaged.
    fn work_in(&mut self, i: usize, p: &Packet<'_>) {
        self.noted = None;
        let sub = &mut self.subflows[i];
        let s = sub.side(p);
        match sub.admit(s, p) {
            Admission::Whole => self.work_in_admitted(i, s, p),
            Admission::WithoutAck => self.work_in_admitted(i, s, &p.without_ack()),
            Admission::Following(before) => {
                if let Some(before) = before.packet() {
                    self.work_in_admitted(i, s, &before);
                }
                self.work_in_admitted(i, s, p);
            }
            Admission::Stray => {}
        }
    }

    fn work_in_admitted(&mut self, i: usize, s: usize, p: &Packet<'_>) {
        let sub = &mut self.subflows[i];
        let place = sub.place(p, s);
        sub.measure(place, s, p);
        let v = View { i, s, near_sender: sub.near[s] == place, near_receiver: sub.near[1 - s] == place };
        if !v.near_sender && !v.near_receiver {
            return;
        }
        (self.told, self.probing) = (None, false);
        self.last = self.last.max(p.time);
        sub.last = self.last;
        let seq = sub.note_header(v, p);
        let known = sub.halves[s].near().is_some();
        if self.tcp && known {
            sub.expect_first_octet(s, seq, p.len);
        }
        if known {
            sub.halves[s].seen(seq + u64::from(p.seq_len()));
        }
        let first_data = if p.signals { self.on_signals(i, s, p, v.near_sender) } else { None };
        if v.near_receiver {
            self.dss_seen |= p.dss.is_some() || first_data.is_some();
            self.note_fallback(i, s, p);
        }
        if p.flags.has(Flags::ACK) {
            if p.flags.has(Flags::SYN) && v.near_sender {
                let ack = self.subflows[i].halves[1 - s].unwrap(p.ack);
                self.on_syn_acknowledged(i, 1 - s, ack);
            }
            self.on_ack(v, p);
        }
        let mapping = self.on_dss(v, p).or(first_data);
        self.mapped |= mapping.is_some();
        let mut place = UNMAPPED;
        if p.len > 0 {
            place = match p.flags.has(Flags::SYN) {
                true => self.on_syn_data(v, p, seq),
                false => self.on_data(v, p, seq, mapping),
            };
        }
        if self.waiting.is_some() {
            self.watch(v, p, seq, place);
        }
        if p.flags.has(Flags::FIN) {
            let plain = self.is_plain();
            let half = &mut self.subflows[i].halves[s];
            let fin = *half.fin.get_or_insert(seq + u64::from(p.len));
            half.sender.on_fin(fin);
            half.order.find(fin, fin + 1);
            if let (true, Some(iss)) = (plain, half.mapper.iss) {
                self.streams[s].fin.get_or_insert(fin - (iss + 1));
            }
            let half = &mut self.subflows[i].halves[s];
            half.fin_acked |= half.sender.una() > Some(fin);
        }
        if p.flags.has(Flags::RST) {
            self.on_reset(v, seq);
        }
        self.go_on(i, p.time);
    }

    /// The sender of a RST accepts no more data. Its receiver accepts none either, if the RST's sequence number is exactly the
    /// next expected one (RFC 5961 3.2).
    fn on_reset(&mut self, v: View, seq: Seq) {
        let View { s, near_sender, near_receiver, .. } = v;
        let sub = &mut self.subflows[v.i];
        sub.reset.get_or_insert(s);
        let next = sub.halves[s].order.nxt().is_none_or(|nxt| nxt == seq);
        for (half, over) in [(1 - s, near_sender), (s, near_receiver && next)] {
            if over {
                sub.halves[half].ended = true;
                let held = sub.halves[half].order.drop_held();
                self.streams[half].hold(held, (0, 0));
            }
        }
    }

    /// Does what is due by `now`: estimated arrivals, octets that the capture lacks, samples.
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
            // Whether a window is closed for a gap depends on the moment: what the receiver has acknowledged it has.
            let late = until.saturating_sub(if self.waiting.is_some() { LATE_HERE } else { LATE });
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

    /// The capture or the connection is over: everything that waits counts as due.
    pub fn finish(&mut self) {
        (0..self.subflows.len()).for_each(|i| self.choose_answer(i, None));
        self.settle_doubts(true);
        for s in [CLIENT, SERVER] {
            for i in 0..self.subflows.len() {
                // Few acknowledgements were captured, or none: everything sent counts as arrived.
                if !self.subflows[i].halves[s].sender.is_acknowledged() || self.subflows[i].lacks_pure_acks(s) {
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
        self.waiting.iter_mut().flat_map(|w| w.iter_mut()).for_each(Waiting::finish);
    }

    /// The subflow's sequence numbers are the data stream, as in TCP.
    fn is_plain(&self) -> bool {
        self.tcp || matches!(self.fallback, Some(Fallback::SynAck | Fallback::FirstData))
    }
}

impl Subflow {
    /// Works in timestamps, key and SYN of a packet; returns its sequence number, unwrapped.
    fn note_header(&mut self, v: View, p: &Packet<'_>) -> Seq {
        let View { s, near_sender, near_receiver, .. } = v;
        let o = 1 - s;
        if let (true, Some(ts)) = (near_receiver, p.timestamps) {
            self.halves[s].note_timestamp(p.seq, p.seq_len(), ts.val);
        }
        if near_sender && p.flags.has(Flags::ACK) {
            (self.halves[o].last_ack, self.halves[o].acked_since) = (p.ack, true);
        }
        if self.opening == Opening::Capable && s == self.opener && near_receiver && !self.halves[s].key_shown {
            // The opener's third ACK, or in version 0 its SYN.
            self.halves[s].key_shown = p
                .signals()
                .any(|option| matches!(option, MptcpOption::CapableAck { .. } | MptcpOption::CapableSynAck { .. }));
        }
        // RFC 9293 3.10.7.1: the number of a reset that refuses a SYN is zero.
        let refuses = p.flags.has(Flags::RST) && self.halves[s].near().is_none();
        let seq = if refuses { Seq::initial(p.seq) } else { self.halves[s].unwrap(p.seq) };
        if near_sender {
            self.packets += 1;
            self.cut += u64::from(p.cut);
            self.malformed += u64::from(p.malformed);
        }
        let offered = &mut self.offered[s];
        if p.flags.has(Flags::SYN) {
            self.syn[s] = true;
            self.syns += u64::from(near_sender && s == self.opener);
            offered.0 = offered.0.max(p.window);
            (self.scales[s], self.mss[s]) = (p.scale, p.mss);
            self.cut_syn[s] = p.cut && p.scale.is_none();
            let half = &mut self.halves[s];
            half.mapper.iss = Some(seq);
            half.sender.begin(seq + 1);
            half.order.begin(seq + 1);
        } else {
            offered.1 = offered.1.max(p.window);
        }
        seq
    }

    /// TCP: if the connection began before the capture, the first sequence number seen, `seq` with `len` octets, counts as that of the
    /// first octet. A single octet may be that of a keep-alive (RFC 9293 3.8.4), which is none of the data.
    fn expect_first_octet(&mut self, s: usize, seq: Seq, len: u32) {
        let half = &mut self.halves[s];
        if half.mapper.iss.is_none() {
            let first = if len == 1 { seq + 1 } else { seq };
            half.mapper.iss = Some(Seq(first.0 - 1));
            if len == 1 {
                half.sender.begin(first);
                half.order.begin(first);
            }
        }
    }
}

fn arrival(time: u64, i: usize, sent: &Sent) -> Arrival {
    Arrival { time, number: 0, subflow: i as u32, seq: sent.seq, len: (sent.end - sent.seq) as u32, data: sent.data }
}
